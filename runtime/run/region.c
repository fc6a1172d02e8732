#include "runtime/run/region.h"

#include "runtime/run/chain.h"
#include "runtime/run/depend.h"
#include "runtime/memory.h"

/* Steps are counted from 1 in `all` and `first`; runs of the region too. */
typedef struct step { /* a launch that does something */
    const gn_ready *launch;
    const int64_t *bound; /* [threads + 1]: a range a thread; NULL: the caller's alone */
    gn_point *claim;      /* [threads]: the last run in which somebody has taken the range */
    gn_point *done; /* ranges that have been run in all runs; the caller's steps: of which somebody
                       waits */
    int64_t all, first; /* shared steps up to this one, or the caller's, must be over before; 0:
                           none */
    bool reach;         /* somebody waits for the end of it */
} step;

struct gn_region {
    int threads, n;
    int64_t run;
    step *step;
    int64_t *bounds;
    gn_point *points;
    gn_point *here; /* [threads] in points: the last run that the thread has come to */
};

/* What touches what ---------------------------------------------------------------------------- */

typedef struct touched { /* a slot's memory: steps, counted from 1, that did so last */
    int64_t written_by_all, written_by_first, read_by_all, read_by_first;
} touched;

typedef struct planner {
    const gn_instance *in;
    gn_region *r;
    touched *slot; /* by root */
    /* What is over by waits before: shared steps up to `all` and the caller's up to `first` before
     * any later shared step, shared steps up to `one` before any later one of the caller's. */
    int64_t all, first, one;
} planner;

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

/* Steps that must be over before step k touches the root. */
static void need(const planner *z, int root, bool writes, step *s)
{
    for (int q = 0; q < z->in->artifact->n_slots; q++) {
        const touched *t = &z->slot[q];
        if (z->in->plan.root[q] != q ||
            !(t->written_by_all | t->written_by_first | t->read_by_all | t->read_by_first))
            continue;
        if (!gn_slots_meet(z->in->artifact, &z->in->plan, root, q)) continue;
        s->all = later(s->all, t->written_by_all);
        s->first = later(s->first, t->written_by_first);
        if (!writes) continue;
        s->all = later(s->all, t->read_by_all);
        s->first = later(s->first, t->read_by_first);
    }
}

static void touch(planner *z, int root, unsigned access, int64_t point, bool shared)
{
    touched *t = &z->slot[root];
    if (access & GN_WRITES) *(shared ? &t->written_by_all : &t->written_by_first) = point;
    if (access & GN_READS) *(shared ? &t->read_by_all : &t->read_by_first) = point;
}

/* What step k waits for, but for what has been waited for before. */
static void plan_waits(planner *z, int k, const gn_launch *l)
{
    step *s = &z->r->step[k];
    bool shared = s->bound != NULL;
    const gn_launch *end = l + (s->launch->chain ? l->chain : 1);
    for (const gn_launch *m = l; m < end; m++)
        for (int b = 0; b < m->n_buf; b++)
            need(z, z->in->plan.root[m->buf[b]], (gn_access_of(m, b) & GN_WRITES) != 0, s);
    for (const gn_launch *m = l; m < end; m++)
        for (int b = 0; b < m->n_buf; b++)
            touch(z, z->in->plan.root[m->buf[b]], gn_access_of(m, b), k + 1, shared);
    if (!shared || s->first <= z->first)
        s->first = 0; /* shared steps may be over before what the caller does alone */
    if (s->all <= (shared ? z->all : z->one)) s->all = 0;
    z->one = later(z->one, s->all);
    if (shared) {
        z->all = later(z->all, s->all);
        z->first = later(z->first, s->first);
    }
    if (s->all) z->r->step[s->all - 1].reach = true;
    if (s->first) z->r->step[s->first - 1].reach = true;
}

/* Making --------------------------------------------------------------------------------------- */

/* A range a thread: from the ranges that edges balance, as many each, or as many iterations. */
static void deal(const gn_ready *l, int threads, int64_t *bound)
{
    for (int t = 0; t <= threads; t++)
        bound[t] = l->n_ranges ? l->bound[l->n_ranges * t / threads]
                               : l->trip / threads * t + l->trip % threads * t / threads;
}

static void make_plan(planner *z)
{
    const gn_instance *in = z->in;
    gn_region *r = z->r;
    int64_t *bound = r->bounds;
    gn_point *point = r->points + r->threads;
    r->here = r->points;
    for (int k = 0; k < in->artifact->n_launches; k++) {
        const gn_ready *l = &in->ready[k];
        if (l->trip <= 0) continue;
        step *s = &r->step[r->n];
        *s = (step){.launch = l, .done = point++};
        if (gn_is_shared(l)) {
            deal(l, r->threads, bound);
            s->bound = bound;
            s->claim = point;
            bound += r->threads + 1;
            point += r->threads;
        }
        plan_waits(z, r->n++, &in->artifact->launches[k]);
    }
}

static gn_status *make_room(gn_region *r, int64_t n, int64_t shared)
{
    void *block;
    GN_TRY(gn_block_zeroed(n, sizeof(step), "a region", &block));
    r->step = block;
    GN_TRY(gn_block_zeroed(shared * (r->threads + 1), sizeof(int64_t), "a region", &block));
    r->bounds = block;
    GN_TRY(gn_block_zeroed(n + (shared + 1) * r->threads, sizeof(gn_point), "a region", &block));
    r->points = block;
    return NULL;
}

gn_status *gn_region_new(const gn_instance *in, gn_region **out)
{
    int threads = gn_pool_threads(in->pool), shared = 0, n = in->artifact->n_launches;
    void *block, *slots = NULL;
    *out = NULL;
    for (int k = 0; k < n; k++) shared += gn_is_shared(&in->ready[k]);
    if (threads == 1 || !shared) return NULL;
    GN_TRY(gn_block_zeroed(1, sizeof(gn_region), "a region", &block));
    gn_region *r = block;
    r->threads = threads;
    gn_status *s = make_room(r, n, shared);
    if (!s) s = gn_block_zeroed(in->artifact->n_slots, sizeof(touched), "a region", &slots);
    if (s) {
        gn_region_free(r);
        return s;
    }
    make_plan(&(planner){.in = in, .r = r, .slot = slots});
    gn_block_free(slots);
    *out = r;
    return NULL;
}

void gn_region_free(gn_region *r)
{
    if (!r) return;
    gn_block_free(r->step);
    gn_block_free(r->bounds);
    gn_block_free(r->points);
    gn_block_free(r);
}

gn_region_info gn_region_describe(const gn_region *r)
{
    gn_region_info i = {.launches = r->n};
    for (int k = 0; k < r->n; k++) {
        i.shared += r->step[k].bound != NULL;
        i.waits += r->step[k].all || r->step[k].first;
    }
    return i;
}

/* Running -------------------------------------------------------------------------------------- */

static const int64_t patience_ns = 2000; /* with who is late, before its range is taken from it */

typedef struct member { /* one thread of a run */
    gn_pool *pool;
    gn_region *r;
    int me;
    int over;              /* steps before this one that are shared are over */
    uint64_t late;         /* threads that were waited for in vain */
    gn_trace *trace;       /* NULL: nobody asks */
    const gn_ready *ready; /* the instance's first */
} member;

/* The caller's part of a step, or a range of it. */
static void run_part(const member *m, const step *s, int64_t lo, int64_t hi)
{
    if (!m->trace) {
        gn_ready_call(s->launch, lo, hi);
        return;
    }
    int64_t before = gn_trace_now(m->trace);
    gn_ready_call(s->launch, lo, hi);
    gn_trace_note(m->trace, m->me, (int)(s->launch - m->ready), false, before,
                  gn_trace_now(m->trace));
}

/* gn_team_wait for the step. */
static bool await(const member *m, const step *s, int64_t n, int64_t ns)
{
    if (!m->trace || atomic_load_explicit(&s->done->n, memory_order_acquire) >= n)
        return gn_team_wait(m->pool, s->done, n, ns);
    int64_t before = gn_trace_now(m->trace);
    bool over = gn_team_wait(m->pool, s->done, n, ns);
    gn_trace_note(m->trace, m->me, (int)(s->launch - m->ready), true, before,
                  gn_trace_now(m->trace));
    return over;
}

/* Runs the range, unless somebody has taken it. What its launch waits for is over. */
static void run_range(const member *m, const step *s, int t)
{
    int64_t run = m->r->run;
    if (atomic_load_explicit(&s->claim[t].n, memory_order_acquire) == run ||
        atomic_exchange(&s->claim[t].n, run) == run)
        return;
    if (s->bound[t] < s->bound[t + 1]) run_part(m, s, s->bound[t], s->bound[t + 1]);
    gn_team_count(m->pool, s->done);
}

static bool is_late(const member *m, const step *s, int t)
{
    int64_t run = m->r->run;
    bool known = t < 64 && m->late >> t & 1;
    return (known || atomic_load_explicit(&m->r->here[t].n, memory_order_relaxed) != run) &&
           atomic_load_explicit(&s->claim[t].n, memory_order_relaxed) != run;
}

static void take_from_late(const member *m, const step *s)
{
    for (int t = 0; t < m->r->threads; t++)
        if (is_late(m, s, t)) run_range(m, s, t);
}

/* Until all ranges of the step have been run.  Who has not come to its own yet is waited for a
 * moment, once a run, and then does not get it any more. */
static void end_step(member *m, const step *s)
{
    int64_t want = m->r->run * m->r->threads;
    if (await(m, s, want, 0)) return;
    take_from_late(m, s);
    if (await(m, s, want, gn_pool_spin(m->pool) > patience_ns ? patience_ns : 0)) return;
    for (int t = 0; t < m->r->threads && t < 64; t++)
        if (atomic_load_explicit(&s->claim[t].n, memory_order_relaxed) != m->r->run)
            m->late |= UINT64_C(1) << t;
    for (int t = 0; t < m->r->threads; t++) run_range(m, s, t);
    (void)await(m, s, want, -1);
}

static void end_steps(member *m, int64_t all)
{
    for (; m->over < all; m->over++)
        if (m->r->step[m->over].bound) end_step(m, &m->r->step[m->over]);
}

static void wait_before(member *m, const step *s)
{
    end_steps(m, s->all);
    if (s->first && m->me) (void)await(m, &m->r->step[s->first - 1], m->r->run, -1);
}

static void part_of(void *ctx, int me)
{
    const gn_instance *in = ctx;
    member m = {
        .pool = in->pool, .r = in->region, .me = me, .trace = in->trace, .ready = in->ready};
    atomic_store_explicit(&m.r->here[me].n, m.r->run, memory_order_relaxed);
    for (int k = 0; k < m.r->n; k++) {
        const step *s = &m.r->step[k];
        if (s->bound) {
            if (atomic_load_explicit(&s->claim[me].n, memory_order_acquire) == m.r->run) continue;
            wait_before(&m, s);
            run_range(&m, s, me);
        } else if (!me) {
            wait_before(&m, s);
            run_part(&m, s, 0, s->launch->trip);
            if (s->reach) gn_team_count(m.pool, s->done);
        }
    }
    if (!me) end_steps(&m, m.r->n);
}

void gn_region_run(gn_instance *in)
{
    in->region->run++;
    gn_pool_team(in->pool, part_of, in);
}
