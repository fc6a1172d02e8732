/* LLVM's target for this machine or for a named one. */
#include "codegen/cpu/machine.h"
#include "base/sanitized.h"
#include "codegen/backend.h"

#include <llvm-c/Core.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Set once, then read only: what the host is, which asks the processor and does not start LLVM. */
static struct {
    pthread_once_t once;
    const char *error;
    cg_target target;
    char name[96];
} host = {.once = PTHREAD_ONCE_INIT};

/* LLVM's registration of the target is global too. */
static struct {
    pthread_once_t once;
    bool failed;
} registered = {.once = PTHREAD_ONCE_INIT};

/* LLVM 19's fastest selection of instructions, which level None has, makes one of a load of 4 bytes
 * and a choice that reads 16; the other one does not. Only builds with sanitizers take that level,
 * so that no program that links gnnc has LLVM's options changed. */
static void register_target(void)
{
    static const char *const options[] = {"gnnc", "-fast-isel=false"};
    if (GN_UNDER_ASAN || GN_UNDER_TSAN) LLVMParseCommandLineOptions(2, options, NULL);
    registered.failed = LLVMInitializeNativeTarget() || LLVMInitializeNativeAsmPrinter();
}

static void find_host(void)
{
    cg_target *t = &host.target;
    host.error = cg_host_target(t);
    snprintf(host.name, sizeof host.name, "%s %s", t->cpu, t->said);
}

gn_status *cg_target_find(const char *cpu, cg_target *out)
{
    pthread_once(&host.once, find_host);
    if (host.error) GN_FAIL(GN_ERR_BACKEND, "no CPU back end: %s", host.error);
    if (!cpu || !strcmp(cpu, "native") || !strcmp(cpu, host.target.cpu)) {
        *out = host.target;
        return NULL;
    }
    if (cg_named_target(cpu, out)) return NULL;
    GN_FAIL(GN_ERR_BACKEND, "unknown cpu '%s': %s", cpu, cg_named_said);
}

gn_status *cg_target_machine(const cg_target *t, int opt_level, LLVMTargetMachineRef *out)
{
    pthread_once(&registered.once, register_target);
    if (registered.failed)
        GN_FAIL(GN_ERR_BACKEND, "no CPU back end: LLVM was built without this machine's target");
    char *triple = LLVMGetDefaultTargetTriple(), *error = NULL;
    LLVMTargetRef target = NULL;
    if (LLVMGetTargetFromTriple(triple, &target, &error)) {
        gn_status *s = GN_ERROR(GN_ERR_BACKEND, "no LLVM target for %s: %s", triple, error);
        LLVMDisposeMessage(error);
        LLVMDisposeMessage(triple);
        return s;
    }
    LLVMCodeGenOptLevel level = opt_level < 0    ? LLVMCodeGenLevelNone
                                : opt_level == 0 ? LLVMCodeGenLevelLess
                                : opt_level == 1 ? LLVMCodeGenLevelDefault
                                                 : LLVMCodeGenLevelAggressive;
    *out = LLVMCreateTargetMachine(target, triple, t->cpu, t->features, level, LLVMRelocPIC,
                                   LLVMCodeModelSmall);
    LLVMDisposeMessage(triple);
    if (!*out) GN_FAIL(GN_ERR_BACKEND, "LLVM has no machine for cpu '%s'", t->cpu);
    return NULL;
}

static int64_t cache_bytes(int name, int64_t usual)
{
    long n = sysconf(name);
    return n > 0 ? n : usual;
}

gn_limits gn_cpu_limits(const char *cpu)
{
    cg_target t = {.lanes = 4, .registers = 16};
    gn_status_free(cg_target_find(cpu, &t));
    long units = sysconf(_SC_NPROCESSORS_ONLN);
    return (gn_limits){
        .lanes = t.lanes,
        .whole_lanes = t.halves ? t.lanes / 2 : t.lanes,
        .vector_registers = t.registers,
        .l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, 32 * 1024),
        .l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, 1024 * 1024),
        .max_threads = units > 0 ? (int)units : 1,
        .pairs = t.pairs ? 1 << KIR_KIND_BF16 : 0,
        .units = 1 << KIR_SERIAL | 1 << KIR_UNROLL | 1 << KIR_VECTOR | 1 << KIR_THREAD,
    };
}

const char *gn_cpu_name(void)
{
    pthread_once(&host.once, find_host);
    return host.error ? "none" : host.name;
}

gn_status *gn_cpu_describe(const char *cpu, gn_buf *out)
{
    cg_target t;
    GN_TRY(cg_target_find(cpu, &t));
    unsigned v[3]; /* a shared LLVM may be newer than its headers */
    LLVMGetVersion(&v[0], &v[1], &v[2]);
    char *triple = LLVMGetDefaultTargetTriple();
    gn_buf_printf(
        out, "%s cpu %s features %s lanes %d fma %d masks %d f16c %d pairs %d LLVM %u.%u.%u",
        triple, t.cpu, t.features, t.lanes, t.fma, t.masks, t.f16c, t.pairs, v[0], v[1], v[2]);
    LLVMDisposeMessage(triple);
    return NULL;
}
