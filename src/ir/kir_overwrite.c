/* What a kernel stores may lie where it reads something for the last time.
 *
 * Needs: a kernel that verifies, and stores no element twice of what it only writes
 * (kir_eval_options.once checks that). Then a load sees what was there before if one of these
 * holds.
 *   - A store to the same element follows it in its block.  No other store names that element,
 *     whatever runs in between.
 *   - It comes before all stores to the elements of its row, and no other row's: one loop has an
 *     iteration for each row, in which all loads and stores name elements of that row alone; loads
 *     stand in front of stores there, and no loop inside runs both.  Of two branches by a condition
 *     and its opposite one is run.
 * Lanes that share a row go their own ways: for them the first alone counts. */
#include "ir/kir_overwrite.h"

#include "ir/kir_facts.h"

typedef struct id_list {
    kir_id *p;
    uint32_t n, cap;
} id_list;

struct kir_accesses {
    const kir_kernel *k; /* instructions in the order of the text */
    kir_facts facts;
    kir_id *owner;           /* the FOR or IF around an instruction */
    id_list *loads, *stores; /* by buffer */
};

typedef struct overwriting { /* of one buffer by another */
    const kir_kernel *k;
    const kir_accesses *all;
    id_list loads, stores;
} overwriting;

static void survey(kir_accesses *z, kir_id at, kir_id owner)
{
    for (; at; at = kir_at(z->k, at)->next) {
        const kir_inst *i = kir_at(z->k, at);
        z->owner[at] = owner;
        if (i->op == KIR_LOAD) GN_PUSH(z->k->arena, z->loads[i->imm], at);
        if (i->op == KIR_STORE) GN_PUSH(z->k->arena, z->stores[i->imm], at);
        survey(z, i->body, at);
    }
}

static bool is_inside(const overwriting *z, kir_id i, kir_id block)
{
    for (i = z->all->owner[i]; i; i = z->all->owner[i])
        if (i == block) return true;
    return false;
}

static bool same_index(const overwriting *z, kir_id a, kir_id b)
{
    kir_sum d;
    kir_id x = kir_at(z->k, a)->a, y = kir_at(z->k, b)->a;
    return x == y || (kir_sum_add(&z->all->facts.sum.p[x], &z->all->facts.sum.p[y], -1, &d) &&
                      d.n == 0 && d.c == 0);
}

/* Does a store to what it reads follow the load? */
static bool is_followed(const overwriting *z, kir_id load)
{
    for (uint32_t s = 0; s < z->stores.n; s++) {
        kir_id store = z->stores.p[s];
        if (z->all->owner[store] == z->all->owner[load] && store > load &&
            same_index(z, load, store))
            return true;
    }
    return false;
}

/* Rows ----------------------------------------------------------------------------------------- */

static bool runs_in_turn(const kir_inst *loop)
{
    return loop->unit == KIR_SERIAL || loop->unit == KIR_UNROLL || loop->unit == KIR_THREAD ||
           loop->unit == KIR_BLOCK;
}

/* Is hi no more than `most` above lo? */
static bool is_near(const overwriting *z, kir_id hi, kir_id lo, int64_t most)
{
    const kir_inst *in = kir_at(z->k, hi);
    if (kir_facts_difference(&z->all->facts, hi, lo).hi <= most) return true;
    return in->op == KIR_IMIN && (is_near(z, in->a, lo, most) || is_near(z, in->b, lo, most));
}

/* Has the loop each iteration once in the whole kernel?  Where it stands in others, they take their
 * turns with it: an iteration of them is where it begins, and it ends before the next. */
static bool runs_once(const overwriting *z, kir_id loop)
{
    const kir_inst *inner = kir_at(z->k, loop);
    if (!runs_in_turn(inner)) return false;
    for (kir_id i = z->all->owner[loop]; i; i = z->all->owner[i]) {
        const kir_inst *outer = kir_at(z->k, i);
        if (outer->op != KIR_FOR) continue;
        if (!runs_in_turn(outer) || inner->a != i || outer->imm % inner->imm != 0 ||
            !is_near(z, inner->b, inner->a, outer->imm))
            return false;
        inner = outer;
    }
    return true;
}

/* The access as loop * *width + rest, rest within [0, width * step of the loop). */
static bool is_in_row(const overwriting *z, kir_id access, kir_id loop, int64_t *width)
{
    kir_sum s = z->all->facts.sum.p[kir_at(z->k, access)->a];
    int at = 0;
    int64_t most;
    while (at < s.n && s.t[at].v != loop) at++;
    if (at == s.n || s.t[at].coef <= 0 || (*width && *width != s.t[at].coef)) return false;
    *width = s.t[at].coef;
    if (__builtin_mul_overflow(*width, kir_at(z->k, loop)->imm, &most)) return false;
    s.t[at] = s.t[--s.n];
    kir_range r = kir_sum_range(&z->all->facts, &s);
    return r.lo >= 0 && r.hi < most;
}

/* Does a loop inside `row` run both? */
static bool share_loop(const overwriting *z, kir_id a, kir_id b, kir_id row)
{
    for (a = z->all->owner[a]; a && a != row; a = z->all->owner[a])
        if (kir_at(z->k, a)->op == KIR_FOR && is_inside(z, b, a)) return true;
    return false;
}

static bool is_fixed_in(const overwriting *z, kir_id v, kir_id row)
{
    for (v = z->all->owner[v]; v && v != row; v = z->all->owner[v])
        if (kir_at(z->k, v)->op == KIR_FOR && is_inside(z, v, row)) return false;
    return true;
}

/* Do they stand under a condition and under its opposite, which hold for the whole row? */
static bool exclude(const overwriting *z, kir_id a, kir_id b, kir_id row)
{
    for (kir_id i = z->all->owner[a]; i && i != row; i = z->all->owner[i]) {
        for (kir_id j = z->all->owner[b]; j && j != row; j = z->all->owner[j]) {
            const kir_inst *p = kir_at(z->k, i), *q = kir_at(z->k, j);
            if (i == j || p->op != KIR_IF || q->op != KIR_IF) continue;
            const kir_inst *c = kir_at(z->k, p->a), *d = kir_at(z->k, q->a);
            bool opposite = (c->op == KIR_NOT && c->a == q->a) ||
                            (d->op == KIR_NOT && d->a == p->a);
            if (opposite && is_fixed_in(z, p->a, row) && is_fixed_in(z, q->a, row)) return true;
        }
    }
    return false;
}

static bool has_lanes(const overwriting *z, kir_id access, kir_id row)
{
    for (kir_id i = z->all->owner[access]; i && i != row; i = z->all->owner[i]) {
        const kir_inst *in = kir_at(z->k, i);
        if (in->op == KIR_FOR && (in->unit == KIR_WARP || in->unit == KIR_LANE)) return true;
    }
    return false;
}

static bool comes_first(const overwriting *z, kir_id load, kir_id row)
{
    if (is_followed(z, load)) return true;
    if (has_lanes(z, load, row)) return false;
    for (uint32_t s = 0; s < z->stores.n; s++) {
        kir_id store = z->stores.p[s];
        if (exclude(z, load, store, row)) continue;
        if (store < load || share_loop(z, load, store, row) || has_lanes(z, store, row))
            return false;
    }
    return true;
}

/* Are rows the iterations of that loop, each read before it is written? */
static bool is_row_by_row(const overwriting *z, kir_id row)
{
    int64_t width = 0;
    if (!runs_once(z, row)) return false;
    for (uint32_t s = 0; s < z->stores.n; s++)
        if (!is_inside(z, z->stores.p[s], row) || !is_in_row(z, z->stores.p[s], row, &width))
            return false;
    for (uint32_t l = 0; l < z->loads.n; l++) {
        kir_id load = z->loads.p[l];
        if (!is_inside(z, load, row) || !is_in_row(z, load, row, &width) ||
            !comes_first(z, load, row))
            return false;
    }
    return true;
}

/* Kernels -------------------------------------------------------------------------------------- */

kir_accesses *kir_accesses_of(gn_arena *arena, const kir_kernel *k)
{
    kir_accesses *z = GN_NEW(arena, kir_accesses);
    z->k = kir_clone(arena, k, NULL);
    z->facts.k = z->k;
    z->owner = GN_NEW_N(arena, kir_id, z->k->insts.n);
    z->loads = GN_NEW_N(arena, id_list, k->buffers.n + 1);
    z->stores = GN_NEW_N(arena, id_list, k->buffers.n + 1);
    for (kir_id i = 0; i < z->k->insts.n; i++) kir_facts_add(&z->facts, i);
    survey(z, z->k->top, 0);
    return z;
}

bool kir_same_shape(const kir_buffer *a, const kir_buffer *b)
{
    return a->elem == b->elem && a->size.coef == b->size.coef && a->size.sym == b->size.sym &&
           a->size.plus == b->size.plus;
}

bool kir_may_overwrite(const kir_accesses *all, int in, int out)
{
    const kir_buffer *from = &all->k->buffers.p[in], *to = &all->k->buffers.p[out];
    overwriting z = {.k = all->k, .all = all, .loads = all->loads[in], .stores = all->stores[out]};
    if (from->access != KIR_READ || to->access != KIR_WRITE || !kir_same_shape(from, to) ||
        !z.stores.n)
        return false;
    bool each = true;
    for (uint32_t l = 0; l < z.loads.n; l++) each = each && is_followed(&z, z.loads.p[l]);
    for (kir_id row = all->owner[z.stores.p[0]]; !each && row; row = all->owner[row])
        each = kir_at(z.k, row)->op == KIR_FOR && is_row_by_row(&z, row);
    return each;
}

kir_kernel *kir_overwrite(gn_arena *arena, const kir_kernel *k, const int *place)
{
    kir_kernel *to = kir_clone(arena, k, NULL);
    int *number = GN_NEW_N(arena, int, k->buffers.n + 1), n = 0;
    for (uint32_t b = 0; b < k->buffers.n; b++) {
        number[b] = n;
        if (place[b] < 0) to->buffers.p[n++] = k->buffers.p[b];
    }
    to->buffers.n = (uint32_t)n;
    for (uint32_t b = 0; b < k->buffers.n; b++) {
        if (place[b] < 0) continue;
        number[b] = number[place[b]];
        to->buffers.p[number[b]].access = KIR_READ_WRITE;
    }
    for (kir_id i = 1; i < to->insts.n; i++) {
        kir_inst *at = kir_at(to, i);
        if (at->op == KIR_LOAD || at->op == KIR_STORE || at->op == KIR_PREFETCH)
            at->imm = number[at->imm];
    }
    return to;
}
