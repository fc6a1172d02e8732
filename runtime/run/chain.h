/* Chain: launches over the same rows that run together, block by block of rows.
 *
 * Each touches, of what another one of them writes, rows of its own iterations alone
 * (src/compile/chaining.c sees to that), so that a block may go through all of them before the next
 * begins.  What one passes on to the next is then still in a cache; where nobody else reads it,
 * there is only a block's room for it a thread: kernels are given an address from which the block's
 * rows come to lie there.  Bits are those of launches one after another. */
#ifndef GN_RUNTIME_RUN_CHAIN_H
#define GN_RUNTIME_RUN_CHAIN_H

#include "runtime/run/instance.h"
#include "runtime/run/paged.h"

/* Makes the chains of the plan; the first launch of each becomes it (bind.c).  gn_chains_free ends
 * them. */
GN_NODISCARD gn_status *gn_chains_new(gn_instance *in);
void gn_chains_free(gn_instance *in);

/* Iterations [lo, hi) of a chain, on any thread; not more at once than the pool has. */
void gn_chain_run(struct gn_chain *c, int64_t lo, int64_t hi);

/* From now on, or not, time is taken of each launch. */
void gn_chain_time(struct gn_chain *c, bool on);
/* Adds `ns` to those of the chain's launches, as they shared it since the last time. */
void gn_chain_split(struct gn_chain *c, int64_t ns, int64_t *to);

/* Calls a launch for a range of its iterations. */
static inline void gn_ready_call(const gn_ready *r, int64_t lo, int64_t hi)
{
    if (r->chain)
        gn_chain_run(r->chain, lo, hi);
    else
        gn_call_rows(r->pages, r->fn, r->buf, r->sym, lo, hi);
}

#endif
