/* Leaves and bits: Intel, Software Developer's Manual, volume 2A, CPUID; AMD, Architecture
 * Programmer's Manual, volume 3, appendix E.  Arm: Linux, Documentation/arch/arm64/elf_hwcaps. */
#include "runtime/load/cpu.h"

#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

_Static_assert(GN_CPU_FEATURE_COUNT <= 64, "sets of features are 64 bits");

#if defined(__aarch64__)

static const struct {
    const char *name;
    uint8_t word, bit;
} features[GN_CPU_FEATURE_COUNT] = {
#define X(id, name, word, bit) {name, word, bit},
    GN_CPU_FEATURES(X)
#undef X
};

uint64_t gn_cpu_features(void)
{
    const uint64_t words[] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
    uint64_t has = 0;
    for (int k = 0; k < GN_CPU_FEATURE_COUNT; k++)
        has |= (words[features[k].word] >> features[k].bit & 1) << k;
    return has;
}

#else

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

#endif

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

#elif !defined(__aarch64__)
uint64_t gn_cpu_features(void) { return 0; }
#endif

const char *const gn_cpu_levels[] = {"native",
#define X(name, features) name,
                                     GN_CPU_LEVELS(X)
#undef X
                                         NULL};

bool gn_cpu_level(const char *name, uint64_t *out)
{
    static const struct {
        const char *name;
        uint64_t features;
    } levels[] = {
#define X(name, features) {name, features},
        GN_CPU_LEVELS(X)
#undef X
    };
    if (!strcmp(name, "native")) {
        *out = gn_cpu_features();
        return true;
    }
    for (size_t k = 0; k < sizeof levels / sizeof *levels; k++) {
        if (strcmp(name, levels[k].name) != 0) continue;
        *out = levels[k].features;
        return true;
    }
    return false;
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
