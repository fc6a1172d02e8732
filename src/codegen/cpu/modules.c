/* Kernels to modules, modules to object code: one LLVM context a worker.  Its kernels are one
 * module, and the workers' objects are put one after another (runtime/load/loader.h takes them so);
 * or each kernel is a module and an object of its own, to be kept. */
#include "base/clock.h"
#include "base/mutex.h"
#include "codegen/backend.h"
#include "codegen/cpu/emit_llvm.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 64, OBJECT_ALIGN = 64 };

/* sroa takes tiles apart into registers; early-cse shares addresses and loads; licm brings
 * invariant ones out of loops; instcombine folds shuffles and conversions. The rest of LLVM's
 * pipelines costs more time than it gives back. */
#define COMBINE "instcombine<no-verify-fixpoint>"
static const char *const pipeline[3] = {
    "function(sroa,early-cse)",
    "function(sroa,early-cse," COMBINE ",simplifycfg,loop-mssa(licm),early-cse<memssa>)",
    "function(sroa,early-cse<memssa>," COMBINE ",simplifycfg,loop-mssa(licm),gvn," COMBINE
    ",loop-mssa(licm))",
};

typedef struct job {
    const kir_kernel *const *kernels;
    int n, first, stride;    /* kernels first, first + stride, ... */
    gn_code_object *objects; /* not NULL: an object a kernel, by its number; `next` says whose turn
                                it is */
    atomic_int *next;
    const gn_codegen_options *opt;
    gn_emit what;
    const cg_target *target;
    gn_status *error;
    char *out; /* malloc'd */
    size_t out_n;
    gn_codegen_stats stats;
    char message[256]; /* LLVM's last error */
} job;

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *ctx)
{
    job *j = ctx;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError) return;
    char *text = LLVMGetDiagInfoDescription(info);
    snprintf(j->message, sizeof j->message, "%s", text);
    LLVMDisposeMessage(text);
}

static gn_status *build_one(job *j, gn_arena *a, LLVMModuleRef mod, int k, int number)
{
    char symbol[32];
    snprintf(symbol, sizeof symbol, "gn_kernel_%d", number);
    const char *why = cg_kernel(a, mod, j->target, j->kernels[k], symbol, j->opt);
    if (why)
        GN_FAIL(GN_ERR_BACKEND, "kernel %s: the CPU back end has no %s", j->kernels[k]->name, why);
    return NULL;
}

static gn_status *build(job *j, gn_arena *a, LLVMModuleRef mod, int only)
{
    if (only >= 0) return build_one(j, a, mod, only, 0);
    for (int k = j->first; k < j->n; k += j->stride) GN_TRY(build_one(j, a, mod, k, k));
    return NULL;
}

static gn_status *verify(LLVMModuleRef mod)
{
    char *text = NULL;
    gn_status *s = NULL;
    if (LLVMVerifyModule(mod, LLVMReturnStatusAction, &text))
        s = GN_ERROR(GN_ERR_INTERNAL, "invalid LLVM IR: %.400s", text);
    LLVMDisposeMessage(text);
    return s;
}

static gn_status *optimise(job *j, LLVMModuleRef mod, LLVMTargetMachineRef machine)
{
    int level = j->opt->opt_level < 0 ? 0 : j->opt->opt_level > 2 ? 2 : j->opt->opt_level;
    LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
    LLVMErrorRef e = LLVMRunPasses(mod, pipeline[level], machine, o);
    LLVMDisposePassBuilderOptions(o);
    if (!e) return NULL;
    char *text = LLVMGetErrorMessage(e);
    gn_status *s = GN_ERROR(GN_ERR_INTERNAL, "LLVM's passes: %s", text);
    LLVMDisposeErrorMessage(text);
    return s;
}

static gn_status *keep(job *j, const char *p, size_t n)
{
    j->out = malloc(n + 1);
    if (!j->out) GN_FAIL(GN_ERR_NOMEM, "no memory for %zu bytes of code", n);
    memcpy(j->out, p, n);
    j->out_n = n;
    return NULL;
}

static gn_status *write_code(job *j, LLVMModuleRef mod, LLVMTargetMachineRef machine)
{
    if (j->what == GN_EMIT_LLVM) {
        char *text = LLVMPrintModuleToString(mod);
        gn_status *s = keep(j, text, strlen(text));
        LLVMDisposeMessage(text);
        return s;
    }
    LLVMMemoryBufferRef buffer = NULL;
    char *error = NULL;
    LLVMCodeGenFileType type = j->what == GN_EMIT_ASM ? LLVMAssemblyFile : LLVMObjectFile;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, mod, type, &error, &buffer)) {
        gn_status *s = GN_ERROR(GN_ERR_INTERNAL, "LLVM's code generation: %s", error);
        LLVMDisposeMessage(error);
        return s;
    }
    gn_status *s = keep(j, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
    LLVMDisposeMemoryBuffer(buffer);
    if (!s && j->message[0]) s = GN_ERROR(GN_ERR_INTERNAL, "LLVM: %s", j->message);
    return s;
}

/* All kernels of the job in one module, or kernel `only`. */
static gn_status *steps(job *j, gn_arena *a, LLVMModuleRef mod, LLVMTargetMachineRef machine,
                        int only)
{
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    char *triple = LLVMGetTargetMachineTriple(machine);
    LLVMSetModuleDataLayout(mod, layout);
    LLVMSetTarget(mod, triple);
    LLVMDisposeTargetData(layout);
    LLVMDisposeMessage(triple);
    double t0 = gn_now_ms();
    GN_TRY(build(j, a, mod, only));
    double t1 = gn_now_ms();
    GN_TRY(verify(mod));
    double t2 = gn_now_ms();
    GN_TRY(optimise(j, mod, machine));
    double t3 = gn_now_ms();
    GN_TRY(write_code(j, mod, machine));
    j->stats.build_ms += t1 - t0;
    j->stats.optimise_ms += t3 - t2;
    j->stats.emit_ms += gn_now_ms() - t3;
    return NULL;
}

static gn_status *module(job *j, gn_arena *a, LLVMContextRef ctx, LLVMTargetMachineRef machine,
                         int only)
{
    LLVMModuleRef mod = LLVMModuleCreateWithNameInContext("gnnc", ctx);
    jmp_buf oom;
    gn_status *s;
    gn_arena_init(a);
    a->oom = &oom;
    if (setjmp(oom))
        s = GN_ERROR(GN_ERR_NOMEM, "no memory to emit code (%zu bytes)", a->wanted);
    else
        s = steps(j, a, mod, machine, only);
    gn_arena_free(a);
    LLVMDisposeModule(mod);
    return s;
}

/* LLVM has locks of its own, which a fork is to find open. */
static gn_status *whole_module(job *j, gn_arena *a, LLVMContextRef ctx,
                               LLVMTargetMachineRef machine, int only)
{
    gn_brief_begin();
    gn_status *s = module(j, a, ctx, machine, only);
    gn_brief_end();
    return s;
}

static gn_status *modules(job *j, gn_arena *a, LLVMContextRef ctx, LLVMTargetMachineRef machine)
{
    if (!j->objects) return whole_module(j, a, ctx, machine, -1);
    for (int k; (k = atomic_fetch_add(j->next, 1)) < j->n;) {
        GN_TRY(whole_module(j, a, ctx, machine, k));
        j->objects[k] = (gn_code_object){(unsigned char *)j->out, j->out_n};
        j->out = NULL;
    }
    return NULL;
}

static void *run(void *arg)
{
    job *j = arg;
    gn_arena arena;
    LLVMTargetMachineRef machine = NULL;
    gn_brief_begin();
    j->error = cg_target_machine(j->target, j->opt->opt_level, &machine);
    LLVMContextRef ctx = j->error ? NULL : LLVMContextCreate();
    gn_brief_end();
    if (j->error) return NULL;
    LLVMContextSetDiscardValueNames(ctx, j->what != GN_EMIT_LLVM);
    LLVMContextSetDiagnosticHandler(ctx, on_diagnostic, j);
    j->error = modules(j, &arena, ctx, machine);
    gn_brief_begin();
    LLVMContextDispose(ctx);
    LLVMDisposeTargetMachine(machine);
    gn_brief_end();
    return NULL;
}

/* Runs `n` jobs, the first on this thread. */
static gn_status *run_jobs(job *jobs, int n)
{
    pthread_t thread[MAX_THREADS];
    bool started[MAX_THREADS] = {false};
    for (int i = 1; i < n; i++) started[i] = pthread_create(&thread[i], NULL, run, &jobs[i]) == 0;
    run(&jobs[0]);
    gn_status *s = jobs[0].error;
    for (int i = 1; i < n; i++) {
        if (started[i])
            pthread_join(thread[i], NULL);
        else
            run(&jobs[i]);
        if (!s)
            s = jobs[i].error;
        else
            gn_status_free(jobs[i].error);
    }
    return s;
}

static size_t round_up(size_t n) { return (n + OBJECT_ALIGN - 1) / OBJECT_ALIGN * OBJECT_ALIGN; }

/* What the jobs wrote in one piece: objects begin at multiples of OBJECT_ALIGN; nothing follows the
 * last. */
static gn_status *join(job *jobs, int n, unsigned char **out, size_t *out_n)
{
    size_t total = 0, at = 0;
    for (int i = 0; i < n; i++) total = round_up(total) + jobs[i].out_n;
    unsigned char *all = calloc(1, total ? total : 1);
    if (!all) GN_FAIL(GN_ERR_NOMEM, "no memory for %zu bytes of code", total);
    for (int i = 0; i < n; i++) {
        memcpy(all + at, jobs[i].out, jobs[i].out_n);
        at = round_up(at + jobs[i].out_n);
    }
    *out = all;
    *out_n = total;
    return NULL;
}

static int workers(const gn_codegen_options *opt, int n)
{
    int threads = opt->threads < 1 ? 1 : opt->threads > MAX_THREADS ? MAX_THREADS : opt->threads;
    return threads <= n ? threads : n > 0 ? n : 1;
}

static void finish(job *jobs, int n, gn_codegen_stats *stats)
{
    for (int i = 0; i < n; i++) {
        free(jobs[i].out);
        if (!stats) continue;
        stats->build_ms += jobs[i].stats.build_ms;
        stats->optimise_ms += jobs[i].stats.optimise_ms;
        stats->emit_ms += jobs[i].stats.emit_ms;
    }
}

static gn_status *generate(const kir_kernel *const *kernels, int n, const gn_codegen_options *opt,
                           gn_emit what, unsigned char **out, size_t *out_n,
                           gn_codegen_stats *stats)
{
    job jobs[MAX_THREADS];
    cg_target target;
    GN_TRY(cg_target_find(opt->cpu, &target));
    int threads = what == GN_EMIT_OBJ ? workers(opt, n) : 1; /* texts do not join */
    for (int i = 0; i < threads; i++)
        jobs[i] = (job){.kernels = kernels,
                        .n = n,
                        .first = i,
                        .stride = threads,
                        .opt = opt,
                        .what = what,
                        .target = &target};
    gn_status *s = run_jobs(jobs, threads);
    if (!s) s = join(jobs, threads, out, out_n);
    finish(jobs, threads, stats);
    return s;
}

gn_status *gn_cpu_objects(const kir_kernel *const *kernels, int n, const gn_codegen_options *opt,
                          gn_code_object *out, gn_codegen_stats *stats)
{
    job jobs[MAX_THREADS];
    cg_target target;
    atomic_int next = 0;
    GN_TRY(cg_target_find(opt->cpu, &target));
    int threads = workers(opt, n);
    for (int k = 0; k < n; k++) out[k] = (gn_code_object){0};
    for (int i = 0; i < threads; i++)
        jobs[i] = (job){.kernels = kernels,
                        .n = n,
                        .objects = out,
                        .next = &next,
                        .opt = opt,
                        .what = GN_EMIT_OBJ,
                        .target = &target};
    gn_status *s = run_jobs(jobs, threads);
    finish(jobs, threads, stats);
    for (int k = 0; s && k < n; k++) {
        free(out[k].bytes);
        out[k] = (gn_code_object){0};
    }
    return s;
}

gn_status *gn_cpu_compile(const kir_kernel *const *kernels, int n, const gn_codegen_options *opt,
                          gn_image **out, gn_codegen_stats *stats)
{
    static const gn_codegen_options usual = {.opt_level = 1};
    gn_codegen_stats own = {0};
    gn_code_object object = {0};
    *out = NULL;
    GN_TRY(generate(kernels, n, opt ? opt : &usual, GN_EMIT_OBJ, &object.bytes, &object.n, &own));
    GN_TRY(gn_image_take(object, out, &own));
    if (stats) *stats = own;
    return NULL;
}

gn_status *gn_cpu_emit(const kir_kernel *const *kernels, int n, const gn_codegen_options *opt,
                       gn_emit what, gn_buf *out)
{
    static const gn_codegen_options usual = {.opt_level = 1};
    unsigned char *bytes = NULL;
    size_t size = 0;
    if (what == GN_EMIT_NONE) return NULL;
    GN_TRY(generate(kernels, n, opt ? opt : &usual, what, &bytes, &size, NULL));
    /* the caller's arena may jump when memory is out; the bytes would stay behind */
    gn_buf_addn(out, (const char *)bytes, size);
    free(bytes);
    return NULL;
}
