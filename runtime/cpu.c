/* Leaves and bits: Intel, Software Developer's Manual, volume 2A, CPUID; AMD, Architecture Programmer's Manual, volume 3,
 * appendix E.  Levels: System V ABI, AMD64 supplement, table 3.1. */
#include "runtime/cpu.h"

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

/* Which registers the system saves: 0 xmm alone, 1 ymm too, 2 zmm and masks too. */
static int kept_registers(void)
{
    uint32_t a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & 0x6) != 0x6 ? 0 : (low & 0xe0) != 0xe0 ? 1 : 2;
}

uint64_t gn_cpu_features(void)
{
    uint64_t has = 0;
    int kept = kept_registers();
    for (int k = 0; k < GN_CPU_FEATURE_COUNT; k++) {
        const feature *f = &features[k];
        uint32_t r[4], subleaves = 0;
        if (f->sub && __get_cpuid_count(f->leaf, 0, &r[0], &r[1], &r[2], &r[3])) subleaves = r[0];
        if (f->keeps > kept || f->sub > subleaves) continue;
        if (!__get_cpuid_count(f->leaf, f->sub, &r[0], &r[1], &r[2], &r[3])) continue;
        if (r[f->reg] >> f->bit & 1) has |= (uint64_t)1 << k;
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
    const uint64_t v3 =
        v2 | HAS(AVX) | HAS(AVX2) | HAS(BMI) | HAS(BMI2) | HAS(F16C) | HAS(FMA) | HAS(LZCNT) | HAS(MOVBE);
    const uint64_t v4 = v3 | HAS(AVX512F) | HAS(AVX512BW) | HAS(AVX512CD) | HAS(AVX512DQ) | HAS(AVX512VL);
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
