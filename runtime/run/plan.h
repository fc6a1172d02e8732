/* Plan: where every slot of an artifact lies, for given sizes.
 *
 * TEMP slots share one arena: two of them overlap in it only if no launch has both alive.  A slot
 * lives from its first launch to its last, and as long as a launch uses it or an alias of it,
 * whatever the artifact says. */
#ifndef GN_RUNTIME_RUN_PLAN_H
#define GN_RUNTIME_RUN_PLAN_H

#include "runtime/artifact.h"

typedef struct gn_plan {
    int64_t bytes;     /* of the arena */
    int64_t floor;     /* most bytes alive in one launch: no plan takes less */
    int64_t *elems;    /* [n_slots] */
    int64_t *size;     /* [n_slots] bytes, rounded up to 64 */
    int64_t *offset;   /* [n_slots] in the arena; -1: not in it */
    int *root;         /* [n_slots] the slot whose bytes it has: itself, or where its aliases end */
    int *first, *last; /* [n_slots] lifetime of roots */
    int64_t *block;    /* [n_launches] rows at a time of the chain that begins there (chain.h); 0:
                          there is none */
} gn_plan;

/* `a` must have passed gn_artifact_check; so many threads will run it.  GN_ERR_NOMEM when a size
 * overflows, GN_ERR_INTERNAL when an alias is larger than what it aliases.
 *
 * A chain is taken where there are many blocks for each thread, and where the plan is hardly larger
 * with it, and keeps to a->most_bytes if it does without.  Of what it passes on there is then room
 * for a block a thread, and what any of its launches touches is alive in all of it. */
GN_NODISCARD gn_status *gn_plan_new(const gn_artifact *a, const int64_t *sym, int threads,
                                    gn_plan *out);
void gn_plan_free(gn_plan *p);

/* Rows after which all launches of the chain that begins at `head` begin an iteration; 0: more than
 * `most`. */
int64_t gn_chain_unit(const gn_artifact *a, int head, int64_t most);
int64_t gn_slot_row_bytes(const gn_artifact *a, int slot); /* of a slot that has rows */

#endif
