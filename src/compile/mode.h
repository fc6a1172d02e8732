/* Compile modes: torch.compile's names and numbers.  What each switches on stands here, and only
 * here. */
#ifndef GN_COMPILE_MODE_H
#define GN_COMPILE_MODE_H

#include <stdbool.h>

/*    number  id      name        eager  region tune; the last one has no short form */
#define GN_NUMBERED_MODES(X)                                                                       \
    X(0, EAGER, "eager", true, false, false)                                                       \
    X(1, DEFAULT, "default", false, false, false)                                                  \
    X(2, REDUCE_OVERHEAD, "reduce-overhead", false, true, false)                                   \
    X(3, MAX_AUTOTUNE, "max-autotune", false, true, true)
#define GN_MODES(X)                                                                                \
    GN_NUMBERED_MODES(X)                                                                           \
    X(4, MAX_AUTOTUNE_NO_CUDAGRAPHS, "max-autotune-no-cudagraphs", false, false, true)

typedef enum gn_mode {
#define X(number, id, name, eager, region, tune) GN_MODE_##id = number,
    GN_MODES(X)
#undef X
        GN_MODE_COUNT
} gn_mode;

typedef struct gn_mode_spec {
    bool eager;      /* an operator a kernel, code unoptimised */
    bool one_region; /* a run is one parallel region (runtime/run/region.h) */
    bool tune; /* schedules and decisions are searched for on the data at hand (tune/tune.h) */
} gn_mode_spec;
extern const gn_mode_spec gn_modes[GN_MODE_COUNT];
extern const char *const gn_mode_name[GN_MODE_COUNT];

/* A name, or "0" to "3".  GN_MODE_COUNT when there is none. */
gn_mode gn_mode_by_name(const char *name);

#endif
