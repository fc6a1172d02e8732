#include "runtime/region.h"

#include "runtime/memory.h"

#include <string.h>

typedef struct step { /* a launch that does something */
    const gn_ready *launch;
    const int64_t *bound; /* [threads + 1]: a range a thread; NULL: the caller's alone */
    int64_t all, first;   /* points that all others, or the caller, must have reached before; 0: none */
    bool reach;           /* somebody waits for the end of it: its point is its number and one */
} step;

struct gn_region {
    int threads, n;
    step *step;
    int64_t *bounds;
};

/* What touches what ------------------------------------------------------------------------------------------------ */

typedef struct touched { /* a slot's memory: steps, counted from 1, that did so last */
    int64_t written_by_all, written_by_first, read_by_all, read_by_first;
} touched;

typedef struct planner {
    const gn_instance *in;
    gn_region *r;
    touched *slot; /* by root */
    /* What is known by waits before: every thread knows that all have reached `all`, and the caller `first`; the caller
     * knows that all have reached `one`. */
    int64_t all, first, one;
} planner;

static bool is_named(const gn_slot *s)
{
    return s->kind == GN_SLOT_INPUT || s->kind == GN_SLOT_STATE || s->kind == GN_SLOT_OUTPUT;
}

/* May two slots, which are roots, lie in the same memory?  What is bound under different names lies apart (bind.c). */
static bool meet(const gn_instance *in, int a, int b)
{
    const gn_slot *x = &in->artifact->slots[a], *y = &in->artifact->slots[b];
    const gn_plan *p = &in->plan;
    if (a == b) return true;
    if (x->kind == GN_SLOT_TEMP && y->kind == GN_SLOT_TEMP)
        return p->offset[a] < p->offset[b] + p->size[b] && p->offset[b] < p->offset[a] + p->size[a];
    return is_named(x) && is_named(y) && strcmp(x->name, y->name) == 0;
}

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

/* Points that must have been reached before step k touches the root. */
static void need(const planner *z, int root, bool writes, step *s)
{
    for (int q = 0; q < z->in->artifact->n_slots; q++) {
        const touched *t = &z->slot[q];
        if (z->in->plan.root[q] != q || !(t->written_by_all | t->written_by_first | t->read_by_all | t->read_by_first))
            continue;
        if (!meet(z->in, root, q)) continue;
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

static unsigned access_of(const gn_launch *l, int b) { return l->access ? l->access[b] : GN_READS | GN_WRITES; }

/* Which points step k waits for, but for those that have been waited for before. */
static void plan_waits(planner *z, int k, const gn_launch *l)
{
    step *s = &z->r->step[k];
    bool shared = s->bound != NULL;
    for (int b = 0; b < l->n_buf; b++) need(z, z->in->plan.root[l->buf[b]], (access_of(l, b) & GN_WRITES) != 0, s);
    for (int b = 0; b < l->n_buf; b++) touch(z, z->in->plan.root[l->buf[b]], access_of(l, b), k + 1, shared);
    if (!shared || s->first <= later(z->all, later(z->first, s->all))) s->first = 0;
    if (s->all <= (shared ? z->all : z->one)) s->all = 0;
    z->one = later(z->one, s->all);
    if (shared) {
        z->all = later(z->all, s->all);
        z->first = later(z->first, s->first);
    }
    if (s->all) z->r->step[s->all - 1].reach = true;
    if (s->first) z->r->step[s->first - 1].reach = true;
}

/* Making ----------------------------------------------------------------------------------------------------------- */

static bool is_shared(const gn_ready *l) { return l->n_ranges > 1 || (!l->n_ranges && l->trip > l->grain); }

/* A range a thread: from the ranges that edges balance, as many each, or as many iterations. */
static void deal(const gn_ready *l, int threads, int64_t *bound)
{
    for (int t = 0; t <= threads; t++)
        bound[t] =
            l->n_ranges ? l->bound[l->n_ranges * t / threads] : l->trip / threads * t + l->trip % threads * t / threads;
}

static gn_status *make_plan(planner *z)
{
    const gn_instance *in = z->in;
    gn_region *r = z->r;
    int64_t *bound = r->bounds;
    for (int k = 0; k < in->artifact->n_launches; k++) {
        const gn_ready *l = &in->ready[k];
        if (l->trip <= 0) continue;
        step *s = &r->step[r->n];
        *s = (step){.launch = l};
        if (is_shared(l)) {
            deal(l, r->threads, bound);
            s->bound = bound;
            bound += r->threads + 1;
        }
        plan_waits(z, r->n++, &in->artifact->launches[k]);
    }
    return NULL;
}

gn_status *gn_region_new(const gn_instance *in, gn_region **out)
{
    int threads = gn_pool_threads(in->pool), shared = 0, n = in->artifact->n_launches;
    void *block, *slots = NULL;
    *out = NULL;
    for (int k = 0; k < n; k++) shared += is_shared(&in->ready[k]);
    if (threads == 1 || !shared) return NULL;
    GN_TRY(gn_block_zeroed(1, sizeof(gn_region), "a region", &block));
    gn_region *r = block;
    r->threads = threads;
    gn_status *s = gn_block_zeroed(n, sizeof(step), "a region", &block);
    if (!s) {
        r->step = block;
        s = gn_block_zeroed((int64_t)shared * (threads + 1), sizeof(int64_t), "a region", &block);
    }
    if (!s) {
        r->bounds = block;
        s = gn_block_zeroed(in->artifact->n_slots, sizeof(touched), "a region", &slots);
    }
    if (!s) s = make_plan(&(planner){.in = in, .r = r, .slot = slots});
    gn_block_free(slots);
    if (s)
        gn_region_free(r);
    else
        *out = r;
    return s;
}

void gn_region_free(gn_region *r)
{
    if (!r) return;
    gn_block_free(r->step);
    gn_block_free(r->bounds);
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

/* Running ---------------------------------------------------------------------------------------------------------- */

static void wait_for(gn_pool *pool, const gn_region *r, const step *s, int me)
{
    if (s->all)
        for (int t = 0; t < r->threads; t++)
            if (t != me) gn_team_wait(pool, t, s->all);
    if (s->first && me) gn_team_wait(pool, 0, s->first);
}

static void part_of(void *ctx, int me)
{
    const gn_instance *in = ctx;
    const gn_region *r = in->region;
    gn_pool *pool = in->pool;
    for (int k = 0; k < r->n; k++) {
        const step *s = &r->step[k];
        const gn_ready *l = s->launch;
        if (!s->bound) {
            if (me) continue;
            wait_for(pool, r, s, me);
            l->fn(l->buf, l->sym, 0, l->trip);
        } else {
            wait_for(pool, r, s, me);
            if (s->bound[me] < s->bound[me + 1]) l->fn(l->buf, l->sym, s->bound[me], s->bound[me + 1]);
        }
        if (s->reach) gn_team_reach(pool, me, k + 1);
    }
}

void gn_region_run(gn_instance *in) { gn_pool_team(in->pool, part_of, in); }
