/* Thread pool: a fork-join of short loops.  Workers spin for a moment after a loop and then sleep.
 * One loop at a time a pool; the calling thread takes part. */
#ifndef GN_RUNTIME_THREADS_H
#define GN_RUNTIME_THREADS_H

#include "base/status.h"

#include <stdint.h>

typedef struct gn_pool gn_pool;
GN_NODISCARD gn_status *gn_pool_new(int threads, gn_pool **out); /* threads >= 1, the caller's included */
void gn_pool_free(gn_pool *p);
int gn_pool_threads(const gn_pool *p);

/* Calls fn(ctx, lo, hi) for ranges that cover [0, n) exactly once, each at most `grain` long (a range is taken by
 * whoever is free). With one thread or n <= grain it is a plain call fn(ctx, 0, n). Returns when all have ended. */
void gn_pool_run(gn_pool *p, int64_t n, int64_t grain, void (*fn)(void *ctx, int64_t lo, int64_t hi), void *ctx);

#endif
