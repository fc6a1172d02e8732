/* Processors of x86-64. */
#include "codegen/cpu/machine.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <string.h>

#if !defined(__aarch64__)

/* Names that a CPU may have besides the host's. Lanes follow from the widest registers that a name
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

const char *cg_host_target(cg_target *t)
{
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
    t->registers = t->masks ? 32 : 16;
    t->halves = takes_halves(t->cpu, t->lanes);
    t->said = t->masks ? "+avx512" : t->lanes == 8 ? "+avx2" : "+sse4.2";
#if !defined(__x86_64__)
    return "the back end loads code for x86-64 and 64-bit Arm only";
#else
    return has(f, "+sse4.2") ? NULL : "SSE 4.2 is needed (x86-64-v2)";
#endif
}

bool cg_named_target(const char *cpu, cg_target *out)
{
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (strcmp(cpu, named[i].name) != 0) continue;
        int lanes = named[i].lanes;
        *out = (cg_target){.lanes = lanes,
                           .halves = takes_halves(cpu, lanes),
                           .fma = lanes > 4,
                           .masks = lanes == 16,
                           .f16c = lanes > 4,
                           .pairs = named[i].pairs,
                           .registers = lanes == 16 ? 32 : 16,
                           .cpu = named[i].name,
                           .features = ""};
        return true;
    }
    return false;
}

const char cg_named_said
    [] = "x86-64-v2, x86-64-v3, x86-64-v4, native, or one of LLVM's names such as skylake-avx512";

#else
typedef int not_this_machine; /* a file is not empty */
#endif
