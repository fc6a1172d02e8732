/* Leaves and bits: Intel, Software Developer's Manual, volume 2A, CPUID; AMD, Architecture
 * Programmer's Manual, volume 3, appendix E.  Levels: System V ABI, AMD64 supplement, table 3.1. */
#include "runtime/load/cpu.h"

#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

_Static_assert(GN_CPU_FEATURE_COUNT <= 64, "sets of features are 64 bits");

typedef struct feature {
    const char *name;
    uint32_t leaf, sub;
    uint8_t reg, bit, keeps;
} feature;

static const feature features[GN_CPU_FEATURE_COUNT] = {
#define X(id, name, leaf, sub, reg, bit, keeps) {name, leaf, sub, reg, bit, keeps},
    GN_CPU_FEATURES(X)
#undef X
};

#if defined(__x86_64__)

typedef struct leaf {
    uint32_t number, sub;
    uint32_t r[4]; /* 0 where the processor does not have it */
} leaf;

/* Each once: under a hypervisor a question takes ten microseconds. */
static void ask(leaf *all, int n)
{
    uint32_t most = __get_cpuid_max(0, NULL), most_extended = __get_cpuid_max(0x80000000, NULL),
             subs = 0;
    for (int k = 0; k < n; k++) {
        leaf *l = &all[k];
        if (l->number > (l->number < 0x80000000 ? most : most_extended) || l->sub > subs) continue;
        __cpuid_count(l->number, l->sub, l->r[0], l->r[1], l->r[2], l->r[3]);
        if (l->number == 7 && !l->sub) subs = l->r[0];
    }
}

/* Which registers the system saves: 0 xmm alone, 1 ymm too, 2 zmm and masks too. */
static int kept_registers(const leaf *one)
{
    uint32_t low, high;
    if (!(one->r[2] >> 27 & 1)) return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & 0x6) != 0x6 ? 0 : (low & 0xe0) != 0xe0 ? 1 : 2;
}

uint64_t gn_cpu_features(void)
{
    leaf all[] = {{1, 0, {0}}, {7, 0, {0}}, {7, 1, {0}}, {0x80000001, 0, {0}}};
    enum { LEAVES = sizeof all / sizeof *all };
    uint64_t has = 0;
    ask(all, LEAVES);
    int kept = kept_registers(&all[0]);
    for (int k = 0; k < GN_CPU_FEATURE_COUNT; k++) {
        const feature *f = &features[k];
        for (int i = 0; i < LEAVES; i++)
            if (all[i].number == f->leaf && all[i].sub == f->sub && f->keeps <= kept &&
                all[i].r[f->reg] >> f->bit & 1)
                has |= (uint64_t)1 << k;
    }
    return has;
}

#else
uint64_t gn_cpu_features(void) { return 0; }
#endif

#define HAS(id) ((uint64_t)1 << GN_CPU_##id)

bool gn_cpu_level(const char *name, uint64_t *out)
{
    const uint64_t v2 = HAS(SSE3) | HAS(SSSE3) | HAS(SSE41) | HAS(SSE42) | HAS(POPCNT);
    const uint64_t v3 = v2 | HAS(AVX) | HAS(AVX2) | HAS(BMI) | HAS(BMI2) | HAS(F16C) | HAS(FMA) |
                        HAS(LZCNT) | HAS(MOVBE);
    const uint64_t v4 = v3 | HAS(AVX512F) | HAS(AVX512BW) | HAS(AVX512CD) | HAS(AVX512DQ) |
                        HAS(AVX512VL);
    if (!strcmp(name, "native"))
        *out = gn_cpu_features();
    else if (!strcmp(name, "x86-64-v2"))
        *out = v2;
    else if (!strcmp(name, "x86-64-v3"))
        *out = v3;
    else if (!strcmp(name, "x86-64-v4"))
        *out = v4;
    else
        return false;
    return true;
}

gn_status *gn_cpu_check(const char *made_for, uint64_t needs, uint64_t has)
{
    char missing[512] = "";
    uint64_t lacks = needs & ~has;
    size_t n = 0;
    if (!lacks) return NULL;
    for (int k = 0; k < GN_CPU_FEATURE_COUNT; k++) {
        size_t length = strlen(features[k].name);
        if (!(lacks >> k & 1) || n + length + 3 > sizeof missing) continue;
        if (n) n += (size_t)2, memcpy(missing + n - 2, ", ", 2);
        memcpy(missing + n, features[k].name, length + 1);
        n += length;
    }
    GN_FAIL(GN_ERR_BACKEND, "compiled for %s: this processor lacks %s", made_for, missing);
}
