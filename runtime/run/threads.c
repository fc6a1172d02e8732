/* Each thread is dealt a stretch of the ranges, so that loops that follow each other meet the same
 * data on the same core; who is done with its own takes from the others.
 *
 * A stretch is published as `left`, the number of its ranges that nobody has taken.  Who takes one
 * by left-- owns it, and the loop's description stays as it is until all owned ranges are reported
 * in `open`: so it is read without a lock, and only after a range was taken.  A thread that finds
 * nothing left touches nothing.  left goes below zero by at most one a thread; the next loop
 * overwrites it.
 *
 * To a team each worker is `called` for itself; whoever takes the call back has it, the worker to
 * come or the caller to go.
 *
 * In the child of a fork no worker is there, and what they left is anybody's guess: the next loop
 * makes all of it anew.
 *
 * Sleeping: a worker counts itself in `asleep` and looks at `loops` once more; the caller counts
 * `loops` up and then looks at `asleep`.  Both in the one order of sequentially consistent
 * operations, so one of them sees the other. */
#include "runtime/run/threads.h"

#include "base/clock.h"
#include "base/home.h"
#include "runtime/memory.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { SPIN_NS = 50000, SPINS_A_LOOK = 32 /* pauses between two looks at the clock */ };

typedef struct loop {
    gn_loop_fn *fn;
    void *ctx;
    const int64_t *bound; /* NULL: ranges of `grain` in [0, n) */
    int64_t n, grain, ranges;
    int64_t each, more; /* a stretch has `each` ranges, one of the first `more` has one more */
} loop;

typedef struct part {
    _Alignas(64) _Atomic int64_t left;
    atomic_bool called; /* to a team */
    gn_pool *pool;
    pthread_t thread;
} part;

struct gn_pool {
    int threads, started; /* started: workers that exist, threads - 1 once the pool is up */
    gn_home home;         /* of the workers; one thread has none */
    part *part;           /* [threads]; the caller's is the first */
    _Atomic int64_t spin_ns;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    loop loop;
    gn_team_fn *team; /* of the team that parts are called to */
    void *team_ctx;
    pthread_cond_t step;               /* somebody has counted a point up */
    _Alignas(64) _Atomic int64_t open; /* ranges not yet reported as run */
    _Alignas(64) _Atomic uint64_t loops;
    atomic_int asleep;
    atomic_int dozing;   /* of a team, that sleep until somebody has counted a point up */
    atomic_bool waiting; /* the caller sleeps until open is 0 */
    atomic_bool stop;
};

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

int gn_cores(void)
{
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
#endif
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

static void run_range(const loop *l, int64_t k)
{
    if (l->bound) {
        l->fn(l->ctx, l->bound[k], l->bound[k + 1]);
        return;
    }
    int64_t lo = k * l->grain, hi = l->n - lo > l->grain ? lo + l->grain : l->n;
    l->fn(l->ctx, lo, hi);
}

/* First range of thread t's stretch. */
static int64_t stretch(const gn_pool *p, int t)
{
    return p->loop.each * t + (t < p->loop.more ? t : p->loop.more);
}

/* Takes ranges of one stretch and runs them until none is left; says how many. */
static int64_t run_stretch(gn_pool *p, int t)
{
    int64_t ran = 0;
    while (atomic_load_explicit(&p->part[t].left, memory_order_relaxed) > 0) {
        int64_t left = atomic_fetch_sub_explicit(&p->part[t].left, 1, memory_order_acquire);
        if (left <= 0) break;
        run_range(&p->loop, stretch(p, t + 1) - left);
        ran++;
    }
    return ran;
}

static void report(gn_pool *p, int64_t ran)
{
    if (!ran || atomic_fetch_sub(&p->open, ran) != ran) return;
    if (!atomic_load(&p->waiting)) return;
    pthread_mutex_lock(&p->lock);
    pthread_cond_signal(&p->done);
    pthread_mutex_unlock(&p->lock);
}

static void take_part(gn_pool *p, int me)
{
    int64_t ran = 0;
    for (int t = me; t < p->threads; t++) ran += run_stretch(p, t);
    for (int t = 0; t < me; t++) ran += run_stretch(p, t);
    report(p, ran);
}

static bool has_work(const part *m)
{
    return atomic_load_explicit(&m->left, memory_order_relaxed) > 0 ||
           atomic_load_explicit(&m->called, memory_order_relaxed) ||
           atomic_load_explicit(&m->pool->stop, memory_order_relaxed);
}

static bool has_ended(const part *m)
{
    return atomic_load_explicit(&m->pool->open, memory_order_acquire) == 0;
}

/* Spins until `ready` or the time is up; says whether it is ready. */
static inline bool spin(const part *m, bool (*ready)(const part *))
{
    int64_t ns = atomic_load_explicit(&m->pool->spin_ns, memory_order_relaxed), end = 0;
    if (ready(m)) return true;
    if (ns <= 0) return false;
    for (;;) {
        for (int i = 0; i < SPINS_A_LOOK; i++) {
            if (ready(m)) return true;
            relax();
        }
        int64_t now = gn_now_ns();
        if (!end) end = now + ns;
        if (now >= end) return false;
    }
}

/* Until a loop comes that is not yet over, or the end. */
static void sleep_until_called(gn_pool *p, const part *m)
{
    uint64_t seen = atomic_load(&p->loops);
    if (has_work(m)) return;
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->asleep, 1);
    while (atomic_load(&p->loops) == seen && !atomic_load(&p->stop))
        pthread_cond_wait(&p->work, &p->lock);
    atomic_fetch_sub(&p->asleep, 1);
    pthread_mutex_unlock(&p->lock);
}

/* In the team, where this part was called to one. */
static bool join_team(gn_pool *p, part *m)
{
    if (!atomic_load_explicit(&m->called, memory_order_relaxed) ||
        !atomic_exchange(&m->called, false))
        return false;
    p->team(p->team_ctx, (int)(m - p->part));
    report(p, 1);
    return true;
}

static void *worker(void *arg)
{
    part *m = arg;
    gn_pool *p = m->pool;
    for (;;) {
        if (!spin(m, has_work)) sleep_until_called(p, m);
        if (atomic_load_explicit(&p->stop, memory_order_acquire)) return NULL;
        if (!join_team(p, m)) take_part(p, (int)(m - p->part));
    }
}

/* Workers -------------------------------------------------------------------------------------- */

static int start_workers(gn_pool *p)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's handlers run in its own threads */
    int e = 0;
    while (!e && p->started < p->threads - 1) {
        part *m = &p->part[p->started + 1];
        e = pthread_create(&m->thread, NULL, worker, m);
        if (!e) p->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return e;
}

static int make_locks(gn_pool *p)
{
    int e = pthread_mutex_init(&p->lock, NULL);
    if (!e) e = pthread_cond_init(&p->work, NULL);
    if (!e) e = pthread_cond_init(&p->done, NULL);
    return e ? e : pthread_cond_init(&p->step, NULL);
}

/* In a child the workers are started anew, as many as can be: those that are not there are not
 * waited for. */
static void come_home(gn_pool *p)
{
    if (!gn_home_left(&p->home)) return;
    for (int t = 0; t < p->threads; t++) {
        atomic_store(&p->part[t].left, 0);
        atomic_store(&p->part[t].called, false);
    }
    atomic_store(&p->open, 0);
    atomic_store(&p->asleep, 0);
    atomic_store(&p->dozing, 0);
    atomic_store(&p->waiting, false);
    p->started = 0;
    gn_home_settle(&p->home);
    if (!make_locks(p)) (void)start_workers(p);
}

/* Loops ---------------------------------------------------------------------------------------- */

static void wait_for_end(gn_pool *p)
{
    if (spin(&p->part[0], has_ended)) return;
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->waiting, true);
    while (atomic_load(&p->open) != 0) pthread_cond_wait(&p->done, &p->lock);
    atomic_store(&p->waiting, false);
    pthread_mutex_unlock(&p->lock);
}

static void wake(gn_pool *p, int64_t wanted)
{
    int asleep = atomic_load(&p->asleep);
    if (asleep == 0 || wanted <= 0) return;
    pthread_mutex_lock(&p->lock);
    if (wanted >= asleep)
        pthread_cond_broadcast(&p->work);
    else
        for (int64_t k = 0; k < wanted; k++) pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
}

static void run(gn_pool *p, const loop *l)
{
    come_home(p);
    p->loop = *l;
    p->loop.each = l->ranges / p->threads;
    p->loop.more = l->ranges % p->threads;
    atomic_store_explicit(&p->open, l->ranges, memory_order_relaxed);
    for (int t = p->threads - 1; t >= 0; t--)
        atomic_store_explicit(&p->part[t].left, stretch(p, t + 1) - stretch(p, t),
                              memory_order_release);
    atomic_fetch_add(&p->loops, 1);
    wake(p, l->ranges - 1);
    take_part(p, 0);
    wait_for_end(p);
}

void gn_pool_run(gn_pool *p, int64_t n, int64_t grain, gn_loop_fn *fn, void *ctx)
{
    if (n <= 0) return;
    if (grain < 1) grain = 1;
    if (p->threads == 1 || n <= grain)
        fn(ctx, 0, n);
    else
        run(p, &(loop){.fn = fn,
                       .ctx = ctx,
                       .n = n,
                       .grain = grain,
                       .ranges = n / grain + (n % grain != 0)});
}

void gn_pool_run_ranges(gn_pool *p, int64_t n_ranges, const int64_t *bound, gn_loop_fn *fn,
                        void *ctx)
{
    if (n_ranges <= 0) return;
    if (p->threads == 1 || n_ranges == 1)
        fn(ctx, bound[0], bound[n_ranges]);
    else
        run(p, &(loop){.fn = fn, .ctx = ctx, .bound = bound, .ranges = n_ranges});
}

/* Teams ---------------------------------------------------------------------------------------- */

void gn_pool_team(gn_pool *p, gn_team_fn *fn, void *ctx)
{
    if (p->threads == 1) {
        fn(ctx, 0);
        return;
    }
    come_home(p);
    p->team = fn;
    p->team_ctx = ctx;
    atomic_store_explicit(&p->open, p->threads - 1, memory_order_relaxed);
    for (int t = p->threads - 1; t > 0; t--)
        atomic_store_explicit(&p->part[t].called, true, memory_order_release);
    atomic_fetch_add(&p->loops, 1);
    wake(p, p->threads - 1);
    fn(ctx, 0);
    for (int t = 1; t < p->threads; t++)
        if (atomic_exchange(&p->part[t].called, false)) atomic_fetch_sub(&p->open, 1);
    wait_for_end(p);
}

/* Who waits counts itself in `dozing` and looks once more; who counts a point up looks at `dozing`
 * afterwards: as with `asleep`, one of them sees the other. */
void gn_team_count(gn_pool *p, gn_point *at)
{
    atomic_fetch_add(&at->n, 1);
    if (atomic_load(&p->dozing) == 0) return;
    pthread_mutex_lock(&p->lock);
    pthread_cond_broadcast(&p->step);
    pthread_mutex_unlock(&p->lock);
}

bool gn_team_wait(gn_pool *p, gn_point *at, int64_t n, int64_t ns)
{
    int64_t most = ns < 0 ? gn_pool_spin(p) : ns, end = 0;
    if (atomic_load_explicit(&at->n, memory_order_acquire) >= n) return true;
    while (most > 0) {
        for (int i = 0; i < SPINS_A_LOOK; i++) {
            if (atomic_load_explicit(&at->n, memory_order_acquire) >= n) return true;
            relax();
        }
        int64_t now = gn_now_ns();
        if (!end) end = now + most;
        if (now >= end) break;
    }
    if (ns >= 0) return false;
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->dozing, 1);
    while (atomic_load(&at->n) < n) pthread_cond_wait(&p->step, &p->lock);
    atomic_fetch_sub(&p->dozing, 1);
    pthread_mutex_unlock(&p->lock);
    return true;
}

int64_t gn_pool_spin(const gn_pool *p)
{
    return atomic_load_explicit(&((gn_pool *)(uintptr_t)p)->spin_ns, memory_order_relaxed);
}

void gn_pool_set_spin(gn_pool *p, int64_t ns) { atomic_store(&p->spin_ns, ns); }
int gn_pool_threads(const gn_pool *p) { return p->threads; }

int gn_pool_thread(const gn_pool *p)
{
    pthread_t self = pthread_self();
    for (int t = 1; t <= p->started; t++)
        if (pthread_equal(p->part[t].thread, self)) return t;
    return 0;
}

/* Life ----------------------------------------------------------------------------------------- */

static gn_status *start(gn_pool *p)
{
    void *block;
    GN_TRY(gn_block_zeroed(p->threads, sizeof(part), "threads", &block));
    p->part = block;
    for (int t = 0; t < p->threads; t++) p->part[t].pool = p;
    if (p->threads > 1) gn_home_init(&p->home);
    int e = start_workers(p);
    if (e)
        GN_FAIL(GN_ERR_NOMEM, "cannot start thread %d of %d: %s", p->started + 2, p->threads,
                strerror(e));
    return NULL;
}

gn_status *gn_pool_new(int threads, gn_pool **out)
{
    *out = NULL;
    if (threads < 1) GN_FAIL(GN_ERR_USAGE, "a pool of %d threads: at least 1 is needed", threads);
    void *block;
    GN_TRY(gn_block_zeroed(1, sizeof(gn_pool), "thread pool", &block));
    gn_pool *p = block;
    p->threads = threads;
    atomic_init(&p->spin_ns, threads > gn_cores() ? 0 : SPIN_NS);
    if (make_locks(p)) {
        gn_block_free(p);
        GN_FAIL(GN_ERR_NOMEM, "cannot make a thread pool: no mutex");
    }
    gn_status *s = start(p);
    if (s) {
        gn_pool_free(p);
        return s;
    }
    *out = p;
    return NULL;
}

static void end_workers(gn_pool *p)
{
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->stop, true);
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int t = 1; t <= p->started; t++) pthread_join(p->part[t].thread, NULL);
    pthread_cond_destroy(&p->step);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
}

void gn_pool_free(gn_pool *p)
{
    if (!p) return;
    /* A child has nobody to wait for, and destroying a condition waits for who waits on it. */
    if (!p->started || !gn_home_left(&p->home)) end_workers(p);
    gn_home_end(&p->home);
    gn_block_free(p->part);
    gn_block_free(p);
}
