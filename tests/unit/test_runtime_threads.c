/* The thread pool: every iteration once, for any number of threads, awake or asleep. */
/* links: base runtime */
#include "base/clock.h"
#include "runtime/run/threads.h"
#include "runtime_check.h"

#include <signal.h>
#include <stdatomic.h>
#include <time.h>

enum { MOST = 5000 };

typedef struct probe {
    atomic_int hits[MOST];
    atomic_int calls;
    atomic_llong longest;
    int64_t plain[MOST]; /* written without care: the loop's end must publish it */
} probe;

static void touch(void *ctx, int64_t lo, int64_t hi)
{
    probe *p = ctx;
    atomic_fetch_add(&p->calls, 1);
    long long longest = atomic_load(&p->longest);
    while (hi - lo > longest && !atomic_compare_exchange_weak(&p->longest, &longest, hi - lo))
        continue;
    for (int64_t i = lo; i < hi; i++) {
        atomic_fetch_add(&p->hits[i], 1);
        p->plain[i] = i * 3 + 1;
    }
}

static gn_pool *pool_of(int threads)
{
    gn_pool *p;
    ok(gn_pool_new(threads, &p));
    ck_assert_int_eq(gn_pool_threads(p), threads);
    return p;
}

static void check_once(const probe *p, int64_t lo, int64_t hi)
{
    for (int64_t i = 0; i < MOST; i++) {
        bool in = lo <= i && i < hi;
        SAME(atomic_load(&p->hits[i]), in);
        SAME(p->plain[i], in ? i * 3 + 1 : 0);
    }
}

START_TEST(every_iteration_once)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 7, 8, 100, 1001, MOST},
                         grains[] = {-3, 0, 1, 2, 3, 64, 1000, MOST, INT64_MAX};
    for (int threads = 1; threads <= 5; threads++) {
        gn_pool *pool = pool_of(threads);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t k = 0; k < sizeof grains / sizeof *grains; k++) {
                int64_t n = sizes[s], grain = grains[k] < 1 ? 1 : grains[k];
                probe *p = calloc(1, sizeof *p);
                gn_pool_run(pool, n, grains[k], touch, p);
                check_once(p, 0, n);
                int want = n == 0                       ? 0
                           : threads == 1 || n <= grain ? 1
                                                        : (int)((n + grain - 1) / grain);
                ck_assert_int_eq(atomic_load(&p->calls), want);
                if (want > 1) ck_assert_int_le(atomic_load(&p->longest), grain);
                free(p);
            }
        gn_pool_free(pool);
    }
}
END_TEST

START_TEST(given_ranges)
{
    static const int64_t bound[] = {3, 3, 10, 11, 500, 500, 4000};
    for (int threads = 1; threads <= 4; threads++) {
        gn_pool *pool = pool_of(threads);
        for (int64_t n = 0; n <= 6; n++) {
            probe *p = calloc(1, sizeof *p);
            gn_pool_run_ranges(pool, n, bound, touch, p);
            check_once(p, bound[0], bound[n]);
            ck_assert_int_eq(atomic_load(&p->calls), n == 0 ? 0 : threads == 1 ? 1 : n);
            free(p);
        }
        gn_pool_free(pool);
    }
}
END_TEST

static void bump(void *ctx, int64_t lo, int64_t hi)
{
    int64_t *count = ctx;
    for (int64_t i = lo; i < hi; i++) count[i]++;
}

/* Loops that follow each other at once, so that late workers of one meet the next; a busy machine
 * may do with fewer. */
static void stress(int threads, int64_t spin_ns, int loops)
{
    gn_pool *pool = pool_of(threads);
    if (spin_ns >= 0) gn_pool_set_spin(pool, spin_ns);
    int64_t count[7] = {0}, want[7] = {0}, end = gn_now_ns() + 4000000000;
    for (int k = 0; k < loops && (k % 64 || gn_now_ns() < end); k++) {
        int64_t n = 1 + k % 7;
        gn_pool_run(pool, n, 1 + k % 3, bump, count);
        for (int64_t i = 0; i < n; i++) want[i]++;
        if (k % 64 == 0) ck_assert_mem_eq(count, want, sizeof want);
    }
    ck_assert_mem_eq(count, want, sizeof want);
    gn_pool_free(pool);
}

START_TEST(many_tiny_loops)
{
    stress(2, 50000, 100000);
    stress(2, -1, 20000);
    stress(4, -1, 20000);
    stress(3, 0, 20000);
}
END_TEST

START_TEST(sleeping_workers_wake)
{
    gn_pool *pool = pool_of(3);
    gn_pool_set_spin(pool, 1000);
    for (int k = 0; k < 30; k++) {
        probe *p = calloc(1, sizeof *p);
        nanosleep(&(struct timespec){0, 300000 * (k % 4)}, NULL);
        gn_pool_run(pool, 200, 7, touch, p);
        check_once(p, 0, 200);
        free(p);
    }
    gn_pool_free(pool);
}
END_TEST

static void slow(void *ctx, int64_t lo, int64_t hi)
{
    (void)hi;
    if (lo == 0) nanosleep(&(struct timespec){0, 3000000}, NULL);
    atomic_fetch_add((atomic_int *)ctx, 1);
}

START_TEST(a_caller_that_waits_long_sleeps)
{
    gn_pool *pool = pool_of(2);
    gn_pool_set_spin(pool, 10000);
    atomic_int n = 0;
    for (int k = 0; k < 10; k++) gn_pool_run(pool, 2, 1, slow, &n);
    ck_assert_int_eq(n, 20);
    gn_pool_free(pool);
}
END_TEST

START_TEST(idle_workers_take_no_time)
{
    gn_pool *pool = pool_of(4);
    int64_t count[8] = {0};
    gn_pool_run(pool, 8, 1, bump, count);
    nanosleep(&(struct timespec){0, 20000000}, NULL); /* asleep by now */
    struct timespec before, after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    nanosleep(&(struct timespec){0, 100000000}, NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    int64_t ns = (int64_t)(after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec -
                 before.tv_nsec;
    ck_assert_msg(ns < 20000000, "idle for 100 ms, they took %lld ns", (long long)ns);
    gn_pool_free(pool);
}
END_TEST

START_TEST(pools_of_their_own)
{
    gn_pool *a = pool_of(2), *b = pool_of(3);
    int64_t x[10] = {0}, y[10] = {0};
    for (int k = 0; k < 1000; k++) {
        gn_pool_run(a, 10, 1, bump, x);
        gn_pool_run(b, 10, 2, bump, y);
    }
    for (int i = 0; i < 10; i++) ck_assert_int_eq(x[i] + y[i], 2000);
    gn_pool_free(b);
    gn_pool_free(a);
    gn_pool_free(NULL);
}
END_TEST

static void signals_are_blocked(void *ctx, int64_t lo, int64_t hi)
{
    (void)lo;
    (void)hi;
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    if (!pthread_equal(pthread_self(), *(pthread_t *)ctx))
        ck_assert(sigismember(&set, SIGINT) == 1);
    nanosleep(&(struct timespec){0, 100000}, NULL);
}

START_TEST(workers_leave_signals_to_the_program)
{
    gn_pool *pool = pool_of(3);
    pthread_t self = pthread_self();
    gn_pool_run(pool, 30, 1, signals_are_blocked, &self);
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    ck_assert(sigismember(&set, SIGINT) == 0);
    gn_pool_free(pool);
}
END_TEST

START_TEST(refusals)
{
    gn_pool *p = (gn_pool *)&p;
    refused(gn_pool_new(0, &p), GN_ERR_USAGE, "a pool of 0 threads");
    ck_assert_ptr_null(p);
    refused(gn_pool_new(-1, &p), GN_ERR_USAGE, "at least 1");
    ck_assert_int_ge(gn_cores(), 1);
    OUT_OF_MEMORY_SWEEP(gn_pool_new(3, &p));
    gn_pool_free(p);
}
END_TEST

RUN_SUITE("runtime threads", every_iteration_once, given_ranges, many_tiny_loops,
          sleeping_workers_wake, a_caller_that_waits_long_sleeps, idle_workers_take_no_time,
          pools_of_their_own, workers_leave_signals_to_the_program, refusals)
