/* Rerun: an order of steps, some of which run again, that keeps to a budget of memory.
 *
 * A step reads values and writes values.  What a value takes can be given back while it waits for
 * its next reader, if the step that wrote it runs again before that; what that one reads must be
 * there then, or comes again in turn.  A step that runs again does what it did, so every bit stays.
 *
 * The orders are those of dynamic rematerialization (Kirisame et al., "Dynamic Tensor
 * Rematerialization", 2021) with the readers known ahead: where memory runs out, the value goes
 * that costs least to make again for its bytes and for the time that it would wait.  Several
 * weights of the three are tried.  Then runs that the budget does not ask for are left out, and the
 * others come as late as they can. */
#ifndef GN_COMPILE_RERUN_H
#define GN_COMPILE_RERUN_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* What a step writes to number `out` of its values may lie where number `in` of those that it reads
 * was, if nobody reads that afterwards. */
typedef struct gn_rerun_pair {
    int in, out;
} gn_rerun_pair;

typedef struct gn_rerun_step {
    int n_reads, n_writes, n_pairs;
    const int *reads, *writes; /* values, each once */
    const gn_rerun_pair *pairs;
    double cost; /* of a run; any unit */
    bool once;   /* it may not run again */
    int until;   /* it may run again before this step has run; n_steps: at any time */
} gn_rerun_step;

typedef struct gn_rerun_problem {
    int n_values, n_steps;
    const int64_t *bytes;       /* [n_values] */
    const bool *stays;          /* [n_values] may not be given back before its last reader */
    const gn_rerun_step *steps; /* in an order in which they can run: a value is written first by
                                   the step before all that read it, by others only where it stays
                                 */
} gn_rerun_problem;

typedef struct gn_rerun_order {
    int n;
    int *step;    /* [n] which step runs */
    double cost;  /* of runs besides the first of each step */
    int64_t peak; /* bytes, at most, of values from where they are written to their last reader */
    int at;       /* the place in the order that has them */
} gn_rerun_order;

/* The steps in their order, each once. */
gn_rerun_order gn_rerun_plain(gn_arena *a, const gn_rerun_problem *p);
/* An order of a peak of `budget` bytes at most, the cheapest that was found; false: none was. */
bool gn_rerun_within(gn_arena *a, const gn_rerun_problem *p, int64_t budget, gn_rerun_order *out);
/* An order where values that `goes` [n_values] are given back after their last reader before step
 * `from`, and come again for those behind it.  kept [n_values]: those of them that cannot come
 * again, and so stay; false: none comes again. */
bool gn_rerun_from(gn_arena *a, const gn_rerun_problem *p, const bool *goes, int from, bool *kept,
                   gn_rerun_order *out);
/* The order of the least peak that was found. */
gn_rerun_order gn_rerun_least(gn_arena *a, const gn_rerun_problem *p);

/* Peak and cost of an order that has its steps. */
void gn_rerun_measure(gn_arena *a, const gn_rerun_problem *p, gn_rerun_order *o);

#endif
