/* What a processor can do: which instructions code needs, and which this machine has. */
#ifndef GN_RUNTIME_LOAD_CPU_H
#define GN_RUNTIME_LOAD_CPU_H

#include "base/status.h"

/* GN_CPU_FEATURES(X): X(id, LLVM's name, where it is asked for); GN_CPU_LEVELS(X): X(name, set). */
#if defined(__aarch64__)
#include "runtime/load/cpu_arm.h"
#else
#include "runtime/load/cpu_x86.h"
#endif

typedef enum gn_cpu_feature {
#define X(id, ...) GN_CPU_##id,
    GN_CPU_FEATURES(X)
#undef X
        GN_CPU_FEATURE_COUNT
} gn_cpu_feature;

/* Bit sets of features, 1 << gn_cpu_feature. */

/* What this machine has and its system lets be used; empty on another architecture.
 * Thread-safe. */
uint64_t gn_cpu_features(void);

/* What the name of a level promises, or "native": all that this machine has.  False for any other
 * name. */
bool gn_cpu_level(const char *name, uint64_t *features);

/* "native" and the levels of this kind of processor, NULL behind the last. */
extern const char *const gn_cpu_levels[];

/* "native, x86-64-v2, x86-64-v3 or x86-64-v4", for people. */
#if defined(__aarch64__)
#define GN_CPU_LEVELS_SAID "native or armv8-a"
#else
#define GN_CPU_LEVELS_SAID "native, x86-64-v2, x86-64-v3 or x86-64-v4"
#endif

/* GN_ERR_BACKEND names `made_for` and what of `needs` is not in `has`. */
GN_NODISCARD gn_status *gn_cpu_check(const char *made_for, uint64_t needs, uint64_t has);

#endif
