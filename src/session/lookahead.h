/* Lookahead: a thread that makes what comes next while its owner uses what there is.
 *
 * Things are numbered, made in order, and taken in order.  While the owner has the one that it took
 * last, no more than `depth` others are made or being made: who wants room for all has depth + 1
 * places.  Depth 0 is no thread, and each is made where it is taken.  One owner, on one thread. */
#ifndef GN_SESSION_LOOKAHEAD_H
#define GN_SESSION_LOOKAHEAD_H

#include "base/status.h"

#include <stdint.h>

typedef struct gn_lookahead gn_lookahead;
typedef gn_status *gn_make_fn(void *ctx, int64_t k);

/* `make` makes thing k, with the allocator of the thread that calls this.  GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_lookahead_new(int depth, gn_make_fn *make, void *ctx,
                                         gn_lookahead **out);
void gn_lookahead_free(gn_lookahead *l); /* stopped; NULL is fine */

/* From now on first ... end - 1 are made; what was made before was taken or is stopped. */
void gn_lookahead_begin(gn_lookahead *l, int64_t first, int64_t end);
/* The next one in order, which is the caller's then, and the one before is no more; what went wrong
 * as it was made, after which no more are.  *wait_ns: for so long nothing was done but making it.
 */
GN_NODISCARD gn_status *gn_lookahead_take(gn_lookahead *l, int64_t *wait_ns);
/* Nothing is being made any more.  How many were that nobody took. */
int64_t gn_lookahead_stop(gn_lookahead *l);

#endif
