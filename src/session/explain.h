/* Explain: a unit of a session as data, kernel by kernel: what was fused and why no more, what it
 * moves and computes, what the machine allows and what was measured. */
#ifndef GN_SESSION_EXPLAIN_H
#define GN_SESSION_EXPLAIN_H

#include "session/ceilings.h"
#include "compile/cost.h"
#include "session/session.h"

typedef enum gn_bound_by {
    GN_BY_MEMORY,
    GN_BY_GATHER,
    GN_BY_FLOPS,
    GN_BY_FUNCTIONS,
    GN_BY_NOTHING
} gn_bound_by;
extern const char *const gn_bound_text[];

typedef struct gn_kernel_report {
    const char *name;
    int region;      /* -1: a copy */
    double us;       /* least of the runs; NaN: it was not run */
    double bound_us; /* the least that the ceilings allow; 0: they are not known */
    double gbytes;   /* GB/s: what was gathered, repeats counted, and all else once, in that time;
                        NaN: it was not run */
    double memory_us, gather_us, flops_us, functions_us;
    gn_bound_by by;
    gn_cost cost;
} gn_kernel_report;

typedef struct gn_unit_report {
    const char *name;
    const gn_unit *unit;
    const gn_compiled *code;
    int n; /* launches */
    gn_kernel_report *kernels;
    double us, bound_us; /* sums over kernels */
    int64_t runs;
} gn_unit_report;

/* Runs the unit for about `ms` milliseconds, at least twice, and counts what it does.  A training
 * step trains. c NULL: ceilings are not known, as those of a GPU; ms 0: it is not run, and what is
 * bound may have no code. */
GN_NODISCARD gn_status *gn_explain_unit(gn_arena *a, const char *name, const gn_unit *u,
                                        const gn_ceilings *c, double ms, gn_unit_report *out);

/* What launch k does and the least that ceilings allow for it (c NULL: not known), without its
 * time: us is NaN. */
void gn_explain_kernel(gn_arena *a, const gn_unit *u, const gn_ceilings *c, int k,
                       gn_kernel_report *out);

/* nanoseconds that looking at guards takes: a median */
double gn_guards_ns(const gn_guards *g, const gn_sizes *s);

/* Operations as costly as so many additions: a function, a random number. */
enum { GN_FUNCTION_FLOPS = 8, GN_DRAW_FLOPS = 8 };

#endif
