/* Thread pool: a fork-join of short loops, or of a team for many.  Workers spin for a moment after
 * a loop and then sleep.
 *
 * One loop at a time a pool, from one thread, which takes part; loops do not nest.  Ranges are
 * dealt out in order: the caller has the first, the last worker the last, so that the loops of a
 * program meet the same data on the same core; who is done takes from the others, and a worker that
 * comes late is not waited for.  Workers block all signals.
 *
 * A fork leaves the workers behind: in the child the next loop starts others, and freeing the pool
 * waits for nobody. */
#ifndef GN_RUNTIME_RUN_THREADS_H
#define GN_RUNTIME_RUN_THREADS_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct gn_pool gn_pool;
typedef void gn_loop_fn(void *ctx, int64_t lo, int64_t hi);

/* threads >= 1, the caller's included.  GN_ERR_USAGE for fewer, GN_ERR_NOMEM when the system gives
 * no more threads. */
GN_NODISCARD gn_status *gn_pool_new(int threads, gn_pool **out);
void gn_pool_free(gn_pool *p); /* NULL is fine */
int gn_pool_threads(const gn_pool *p);
/* Which of the pool's threads the calling one is, from a loop or a team; 0: the caller. */
int gn_pool_thread(const gn_pool *p);
int gn_cores(void); /* that this process may run on; at least 1 */

/* Calls fn(ctx, lo, hi) for ranges that cover [0, n) exactly once, each at most `grain` long (a
 * range is taken by whoever is free). With one thread or n <= grain it is a plain call fn(ctx, 0,
 * n); with n <= 0 there is none. Returns when all have ended; what they wrote is then visible to
 * the caller. */
void gn_pool_run(gn_pool *p, int64_t n, int64_t grain, gn_loop_fn *fn, void *ctx);

/* The same for the ranges [bound[k], bound[k + 1]), 0 <= k < n_ranges, bounds ascending.  Empty
 * ranges are called too. With one thread or range it is a plain call fn(ctx, bound[0],
 * bound[n_ranges]). */
void gn_pool_run_ranges(gn_pool *p, int64_t n_ranges, const int64_t *bound, gn_loop_fn *fn,
                        void *ctx);

/* A team: fn(ctx, 0) on the caller, and fn(ctx, t) on every worker t that comes before that is
 * over; returns when all that came have left.  A worker that comes late is not waited for.  None of
 * them may start a loop.
 *
 * They tell each other how far they are by points, which count up: what was done before a point was
 * counted up, whoever has waited for it sees.  gn_team_wait gives up, and says false, after `ns`
 * nanoseconds; negative: never, it sleeps. */
typedef struct gn_point {
    _Alignas(64) _Atomic int64_t n;
} gn_point;
typedef void gn_team_fn(void *ctx, int thread);
void gn_pool_team(gn_pool *p, gn_team_fn *fn, void *ctx);
void gn_team_count(gn_pool *p, gn_point *at);
bool gn_team_wait(gn_pool *p, gn_point *at, int64_t n, int64_t ns);

/* How long a worker, or a caller that waits, spins before it sleeps.  Default: 50 microseconds, and
 * 0 where the pool has more threads than the process has cores. */
void gn_pool_set_spin(gn_pool *p, int64_t ns);
int64_t gn_pool_spin(const gn_pool *p);

#endif
