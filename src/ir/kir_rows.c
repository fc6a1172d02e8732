/* Is what an iteration of the THREAD loop touches of a buffer its own rows?
 *
 * An index is taken apart by kir_facts into a sum of values.  Terms that are multiples of a row's
 * width make the row, the others, within [0, width), the column.  A value is known as a multiple of
 * the THREAD loop's variable and a range beside it: an inner loop over the rows of an iteration is
 * [0, step) beside it, through the bounds from which and to which it runs. */
#include "ir/kir_rows.h"

#include "ir/kir_facts.h"
#include "ir/kir_fold.h"

typedef struct span { /* track * the THREAD loop's variable + [lo, hi] */
    int64_t track, lo, hi;
} span;

typedef struct surveyor {
    kir_kernel *k; /* instructions in the order of the text */
    kir_facts facts;
    kir_id thread;
    bool *own; /* by buffer */
} surveyor;

static const int64_t far = INT64_C(1) << 61; /* and beyond: no bound */

/* a + coef * b, no further than `far`. */
static int64_t along(int64_t a, int64_t coef, int64_t b)
{
    int64_t r;
    bool up = (coef < 0) == (b < 0);
    if (__builtin_mul_overflow(coef, b, &r) || __builtin_add_overflow(a, r, &r))
        return up ? far : -far;
    return r > far ? far : r < -far ? -far : r;
}

static span plus(span a, int64_t coef, span b)
{
    int64_t lo = coef < 0 ? b.hi : b.lo, hi = coef < 0 ? b.lo : b.hi;
    bool no_lo = a.lo <= -far || lo <= -far || lo >= far,
         no_hi = a.hi >= far || hi >= far || hi <= -far;
    return (span){along(a.track, coef, b.track), no_lo ? -far : along(a.lo, coef, lo),
                  no_hi ? far : along(a.hi, coef, hi)};
}

static span span_of(const surveyor *z, kir_id v);

static span span_of_sum(const surveyor *z, const kir_sum *s)
{
    span r = {0, s->c, s->c};
    for (int k = 0; k < s->n; k++) r = plus(r, s->t[k].coef, span_of(z, s->t[k].v));
    return r;
}

/* Are all bounds from which the loop starts whole steps away from where it ends? */
static bool ends_on_step(const surveyor *z, const kir_inst *loop)
{
    kir_sum d;
    if (!kir_sum_add(&z->facts.sum.p[loop->b], &z->facts.sum.p[loop->a], -1, &d)) return false;
    bool whole = d.c % loop->imm == 0;
    for (int k = 0; k < d.n; k++) whole = whole && d.t[k].coef % loop->imm == 0;
    return whole;
}

static span of_loop(const surveyor *z, const kir_inst *loop)
{
    span from = span_of(z, loop->a), to = span_of(z, loop->b);
    if (from.track != to.track) return (span){0, -far, far};
    return (span){from.track, from.lo,
                  to.hi >= far ? far : to.hi - (ends_on_step(z, loop) ? loop->imm : 1)};
}

/* The THREAD loop has an iteration, so it ends after where that begins. */
static span of_bound(const surveyor *z, kir_id v)
{
    kir_id end = kir_at(z->k, z->thread)->b;
    const kir_inst *a = kir_at(z->k, v), *b = kir_at(z->k, end);
    bool same = v == end || (a->op == KIR_SYM && b->op == KIR_SYM && a->imm == b->imm);
    return same ? (span){1, 1, far} : span_of(z, v);
}

static span of_least(const surveyor *z, const kir_inst *in)
{
    span a = of_bound(z, in->a), b = of_bound(z, in->b);
    if (a.track != b.track) return (span){0, -far, far};
    return (span){a.track, a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
}

static span of_quotient(const surveyor *z, const kir_inst *in)
{
    span n = span_of(z, in->a);
    int64_t d;
    if (n.track || n.lo < 0 || !kir_is_iconst(z->k, in->b, &d) || d < 1)
        return (span){0, -far, far};
    return (span){0, n.lo / d, n.hi >= far ? far : n.hi / d};
}

static span tighter(span a, kir_range r)
{
    if (a.track) return a;
    if (r.lo > a.lo) a.lo = r.lo < far ? r.lo : far;
    if (r.hi < a.hi) a.hi = r.hi > -far ? r.hi : -far;
    return a;
}

/* Of a value that is no sum of others. */
static span of_term(const surveyor *z, kir_id v)
{
    const kir_inst *in = kir_at(z->k, v);
    if (v == z->thread) return (span){1, 0, 0};
    span all = {0, -far, far};
    switch ((kir_op)in->op) {
    case KIR_FOR: all = of_loop(z, in); break;
    case KIR_IMIN: all = of_least(z, in); break;
    case KIR_IDIV: all = of_quotient(z, in); break;
    default: break;
    }
    return tighter(all, z->facts.range.p[v]);
}

static span span_of(const surveyor *z, kir_id v)
{
    const kir_sum *s = &z->facts.sum.p[v];
    if (s->n == 1 && s->t[0].v == v && s->t[0].coef == 1 && s->c == 0) return of_term(z, v);
    return span_of_sum(z, s);
}

static bool is_own(const surveyor *z, kir_id access)
{
    const kir_inst *in = kir_at(z->k, access);
    int64_t width = z->k->buffers.p[in->imm].size.coef;
    const kir_sum *s = &z->facts.sum.p[in->a];
    kir_sum row = {0}, col = {0};
    if (width < 1) return false;
    for (int k = 0; k < s->n; k++) {
        kir_sum *to = s->t[k].coef % width == 0 ? &row : &col;
        to->t[to->n] = s->t[k];
        if (to == &row) to->t[to->n].coef /= width;
        to->n++;
    }
    col.c = (s->c % width + width) % width;
    row.c = (s->c - col.c) / width;
    span r = span_of_sum(z, &row), c = span_of_sum(z, &col);
    return r.track == 1 && r.lo >= 0 && r.hi < kir_at(z->k, z->thread)->imm && c.track == 0 &&
           c.lo >= 0 && c.hi < width;
}

static void survey(surveyor *z, kir_id at)
{
    for (; at; at = kir_at(z->k, at)->next) {
        const kir_inst *in = kir_at(z->k, at);
        if ((in->op == KIR_LOAD || in->op == KIR_STORE) && z->own[in->imm])
            z->own[in->imm] = is_own(z, at);
        survey(z, in->body);
    }
}

bool *kir_own_rows(gn_arena *arena, const kir_kernel *k)
{
    surveyor z = {.k = kir_clone(arena, k, NULL), .own = GN_NEW_N(arena, bool, k->buffers.n + 1)};
    z.thread = kir_thread_loop(z.k);
    if (!z.thread) return z.own;
    for (uint32_t b = 0; b < k->buffers.n; b++) z.own[b] = true;
    z.facts.k = z.k;
    for (kir_id i = 0; i < z.k->insts.n; i++) kir_facts_add(&z.facts, i);
    survey(&z, z.k->top);
    return z.own;
}
