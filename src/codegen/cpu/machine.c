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

/* Names that --cpu takes besides the host's. Lanes follow from the widest registers that a name
 * promises. */
static const struct {
    const char *name;
    int lanes;
    bool pairs; /* products of two bf16 at a time */
} named[] = {
    {"x86-64-v2", 4, false},  {"x86-64-v3", 8, false},       {"x86-64-v4", 16, false},
    {"nehalem", 4, false},    {"haswell", 8, false},         {"broadwell", 8, false},
    {"skylake", 8, false},    {"alderlake", 8, false},       {"znver1", 8, false},
    {"znver2", 8, false},     {"znver3", 8, false},          {"znver4", 16, true},
    {"znver5", 16, true},     {"skylake-avx512", 16, false}, {"cascadelake", 16, false},
    {"cooperlake", 16, true}, {"icelake-server", 16, false}, {"sapphirerapids", 16, true},
};

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

static bool has(const char *features, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = features; (p = strstr(p, name)) != NULL; p += n)
        if ((p == features || p[-1] == ',') && (p[n] == ',' || !p[n])) return true;
    return false;
}

/* LLVM lists some ninety features, each of which costs time whenever a machine is made. Those that
 * decide about our instructions stay. */
static char *relevant(const char *all)
{
    static const char *const kept[] = {"sse",   "avx",    "fma",   "f16c",   "bmi",
                                       "lzcnt", "popcnt", "movbe", "evex512"};
    char *out = strdup(all), *to = out;
    if (!out) return NULL;
    for (const char *p = all; *p;) {
        size_t n = strcspn(p, ",");
        bool keep = false;
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
            keep = keep || !strncmp(p + 1, kept[i], strlen(kept[i]));
        if (keep) {
            if (to != out) *to++ = ',';
            memcpy(to, p, n);
            to += n;
        }
        p += n + (p[n] == ',');
    }
    *to = 0;
    return out;
}

/* Zen 4 multiplies, loads and permutes 32 bytes at a time; names that several machines share say
 * nothing. */
static bool takes_halves(const char *cpu, int lanes)
{
    return lanes == 16 && !strcmp(cpu, "znver4");
}

static void find_host(void)
{
    cg_target *t = &host.target;
    t->cpu = LLVMGetHostCPUName();
    char *all = LLVMGetHostCPUFeatures(), *few = relevant(all);
    t->features = few ? few : "";
    LLVMDisposeMessage(all);
    const char *f = t->features;
    t->masks = has(f, "+avx512f") && has(f, "+avx512vl") && has(f, "+avx512dq") &&
               has(f, "+avx512bw");
    t->fma = has(f, "+fma");
    t->f16c = has(f, "+f16c");
    t->pairs = t->masks && has(f, "+avx512bf16");
    t->lanes = t->masks ? 16 : has(f, "+avx2") && t->fma ? 8 : 4;
    t->halves = takes_halves(t->cpu, t->lanes);
    snprintf(host.name, sizeof host.name, "%s %s", t->cpu,
             t->masks        ? "+avx512"
             : t->lanes == 8 ? "+avx2"
                             : "+sse4.2");
#if !defined(__x86_64__)
    host.error = "the back end loads code for x86-64 only";
#else
    if (!has(f, "+sse4.2")) host.error = "SSE 4.2 is needed (x86-64-v2)";
#endif
}

gn_status *cg_target_find(const char *cpu, cg_target *out)
{
    pthread_once(&host.once, find_host);
    if (host.error) GN_FAIL(GN_ERR_BACKEND, "no CPU back end: %s", host.error);
    if (!cpu || !strcmp(cpu, "native") || !strcmp(cpu, host.target.cpu)) {
        *out = host.target;
        return NULL;
    }
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (strcmp(cpu, named[i].name) != 0) continue;
        int lanes = named[i].lanes;
        *out = (cg_target){.lanes = lanes,
                           .halves = takes_halves(cpu, lanes),
                           .fma = lanes > 4,
                           .masks = lanes == 16,
                           .f16c = lanes > 4,
                           .pairs = named[i].pairs,
                           .cpu = named[i].name,
                           .features = ""};
        return NULL;
    }
    GN_FAIL(
        GN_ERR_BACKEND,
        "unknown cpu '%s': x86-64-v2, x86-64-v3, x86-64-v4, native, or one of LLVM's names such as "
        "skylake-avx512",
        cpu);
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
    cg_target t = {.lanes = 4};
    gn_status_free(cg_target_find(cpu, &t));
    long units = sysconf(_SC_NPROCESSORS_ONLN);
    return (gn_limits){
        .lanes = t.lanes,
        .whole_lanes = t.halves ? t.lanes / 2 : t.lanes,
        .vector_registers = t.masks ? 32 : 16,
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
