/* Pair: a program and what was split off it to be computed ahead, bound to the same data. */
#ifndef GN_RUNTIME_RUN_PAIR_H
#define GN_RUNTIME_RUN_PAIR_H

#include "runtime/run/exec.h"

typedef struct gn_pair {
    gn_instance *instance, *ahead; /* ahead: NULL where nothing is computed ahead */
    double ahead_ms;               /* that it took */
} gn_pair;

/* How many values are computed ahead, at most; 0 for NULL. */
int gn_pair_kept(const gn_artifact *ahead);

/* Binds outputs of `in`, of which `ahead` is the code, behind the n tensors that there are; how
 * many there are then. */
int gn_pair_bind_kept(const gn_artifact *ahead, const gn_instance *in, int n, gn_binding *tensors);

/* Makes the instances, and runs once what can be computed ahead.  `tensors` has room for
 * gn_pair_kept behind its n.  `like` (may be NULL): a live instance to share derived graphs with.
 * Errors as gn_instance_new; then the pair has none. */
GN_NODISCARD gn_status *gn_pair_new(const gn_artifact *code, const gn_artifact *ahead, int n_graphs,
                                    const gn_graph_binding *graphs, int n, gn_binding *tensors,
                                    gn_pool *pool, const gn_instance *like, gn_pair *out);
/* What follows `before`, an instance of the pair's program, on other data of which nothing was
 * computed ahead: gn_instance_next. */
GN_NODISCARD gn_status *gn_pair_next(const gn_pair *p, const gn_artifact *ahead,
                                     const gn_instance *before, int n_graphs,
                                     const gn_graph_binding *graphs, int n, gn_binding *tensors,
                                     const gn_instance *like, gn_instance **out);
void gn_pair_free(gn_pair *p); /* instances alone; idempotent */

/* Does the program read data of this kind and name, or (as graphs) pick rows by it?  a may be
 * NULL. */
bool gn_artifact_reads(const gn_artifact *a, gn_slot_kind kind, const char *name);
bool gn_artifact_picks(const gn_artifact *a, const char *mask);
bool gn_artifact_reads_pattern(const gn_artifact *a); /* of any input */

#endif
