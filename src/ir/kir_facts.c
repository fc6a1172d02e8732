/* Ranges and sums of integer values (kir_facts.h). */
#include "ir/kir_facts.h"
#include "ir/kir_fold.h"

/* Ranges: INT64_MIN as a low end and INT64_MAX as a high end mean that there is none, and stay.  */

static const kir_range all = {INT64_MIN, INT64_MAX};

/* The sum of two ends; `none` is what says that there is no end. */
static int64_t add(int64_t a, int64_t b, int64_t none)
{
    int64_t r;
    if (a == none || b == none) return none;
    return __builtin_add_overflow(a, b, &r) ? (b > 0 ? INT64_MAX : INT64_MIN) : r;
}

static int64_t negate(int64_t a)
{
    return a == INT64_MIN ? INT64_MAX : a == INT64_MAX ? INT64_MIN : -a;
}

static int64_t mul(int64_t a, int64_t b)
{
    int64_t r;
    bool endless = a == INT64_MIN || a == INT64_MAX || b == INT64_MIN || b == INT64_MAX;
    if (a == 0 || b == 0) return 0;
    return endless || __builtin_mul_overflow(a, b, &r)
               ? ((a < 0) == (b < 0) ? INT64_MAX : INT64_MIN)
               : r;
}

static kir_range sum(kir_range a, kir_range b)
{
    return (kir_range){add(a.lo, b.lo, INT64_MIN), add(a.hi, b.hi, INT64_MAX)};
}

static kir_range difference(kir_range a, kir_range b)
{
    return sum(a, (kir_range){negate(b.hi), negate(b.lo)});
}

static int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max(int64_t a, int64_t b) { return a > b ? a : b; }

static kir_range product(kir_range a, kir_range b)
{
    int64_t p = mul(a.lo, b.lo), q = mul(a.lo, b.hi), r = mul(a.hi, b.lo), s = mul(a.hi, b.hi);
    return (kir_range){min(min(p, q), min(r, s)), max(max(p, q), max(r, s))};
}

static kir_range of_elem(gn_elem e)
{
    switch (e) {
    case GN_I32: return (kir_range){INT32_MIN, INT32_MAX};
    case GN_U32: return (kir_range){0, UINT32_MAX};
    case GN_U8: return (kir_range){0, UINT8_MAX};
    default: return all;
    }
}

static kir_range loop_range(const kir_facts *f, const kir_inst *i)
{
    kir_range lo = f->range.p[i->a], hi = f->range.p[i->b];
    int64_t last = hi.hi == INT64_MIN ? hi.hi : hi.hi - 1;
    /* the last one that the step meets */
    if (lo.lo == lo.hi && last >= lo.lo && last < INT64_MAX - 1) {
        uint64_t span = (uint64_t)last - (uint64_t)lo.lo;
        last = (int64_t)((uint64_t)last - span % (uint64_t)i->imm);
    }
    return (kir_range){lo.lo, max(last, lo.lo)};
}

static kir_range range_of(const kir_facts *f, const kir_inst *i)
{
    kir_range a = i->a < f->range.n ? f->range.p[i->a] : all,
              b = i->b < f->range.n ? f->range.p[i->b] : all;
    if (i->elem != GN_I64) return all;
    switch (i->op) {
    case KIR_CONST: return (kir_range){i->imm, i->imm};
    case KIR_SYM: return (kir_range){0, INT64_MAX};
    case KIR_FOR: return loop_range(f, i);
    case KIR_LOAD: return of_elem(f->k->buffers.p[i->imm].elem);
    case KIR_IADD: return sum(a, b);
    case KIR_ISUB: return difference(a, b);
    case KIR_IMUL: return product(a, b);
    case KIR_IDIV: return (kir_range){max(a.lo, 0) / max(b.hi, 1), max(a.hi, 0) / max(b.lo, 1)};
    case KIR_IMOD: return (kir_range){0, min(max(a.hi, 0), max(b.hi, 1) - 1)};
    case KIR_IMIN: return (kir_range){min(a.lo, b.lo), min(a.hi, b.hi)};
    case KIR_IMAX: return (kir_range){max(a.lo, b.lo), max(a.hi, b.hi)};
    case KIR_SELECT: {
        kir_range c = f->range.p[i->c];
        return (kir_range){min(b.lo, c.lo), max(b.hi, c.hi)};
    }
    case KIR_CAST: return kir_at(f->k, i->a)->elem == GN_BOOL ? (kir_range){0, 1} : all;
    case KIR_RNGKEY: return (kir_range){0, UINT32_MAX};
    default: return all;
    }
}

/* Sums ----------------------------------------------------------------------------------------- */

static bool add_term(kir_sum *s, kir_id v, int64_t coef)
{
    for (int i = 0; i < s->n; i++) {
        if (s->t[i].v != v) continue;
        if (__builtin_add_overflow(s->t[i].coef, coef, &s->t[i].coef)) return false;
        if (s->t[i].coef == 0) s->t[i] = s->t[--s->n];
        return true;
    }
    if (s->n == KIR_MAX_TERMS) return false;
    s->t[s->n++] = (kir_term){v, coef};
    return true;
}

bool kir_sum_add(const kir_sum *x, const kir_sum *y, int64_t scale, kir_sum *r)
{
    *r = *x;
    int64_t c;
    if (__builtin_mul_overflow(y->c, scale, &c) || __builtin_add_overflow(r->c, c, &r->c))
        return false;
    for (int i = 0; i < y->n; i++)
        if (__builtin_mul_overflow(y->t[i].coef, scale, &c) || !add_term(r, y->t[i].v, c))
            return false;
    return true;
}

static kir_sum sum_of(const kir_facts *f, kir_id v)
{
    const kir_inst *i = kir_at(f->k, v);
    const kir_sum none = {0};
    kir_sum r;
    int64_t c;
    switch (i->elem == GN_I64 ? i->op : KIR_INVALID) {
    case KIR_CONST: return (kir_sum){.c = i->imm};
    case KIR_IADD:
        if (kir_sum_add(&f->sum.p[i->a], &f->sum.p[i->b], 1, &r)) return r;
        break;
    case KIR_ISUB:
        if (kir_sum_add(&f->sum.p[i->a], &f->sum.p[i->b], -1, &r)) return r;
        break;
    case KIR_IMUL:
        if (kir_is_iconst(f->k, i->b, &c) && c != 0 && kir_sum_add(&none, &f->sum.p[i->a], c, &r))
            return r;
        break;
    default: break;
    }
    return (kir_sum){.n = 1, .t = {{v, 1}}};
}

kir_range kir_sum_range(const kir_facts *f, const kir_sum *s)
{
    kir_range r = {s->c, s->c};
    for (int i = 0; i < s->n; i++) {
        kir_range t = product(f->range.p[s->t[i].v], (kir_range){s->t[i].coef, s->t[i].coef});
        r = sum(r, t);
    }
    return r;
}

kir_range kir_facts_difference(const kir_facts *f, kir_id a, kir_id b)
{
    kir_sum d;
    kir_range direct = difference(f->range.p[a], f->range.p[b]);
    if (!kir_sum_add(&f->sum.p[a], &f->sum.p[b], -1, &d)) return direct;
    kir_range s = kir_sum_range(f, &d);
    return (kir_range){max(s.lo, direct.lo), min(s.hi, direct.hi)};
}

void kir_facts_add(kir_facts *f, kir_id v)
{
    gn_arena *a = f->k->arena;
    while (f->range.n <= v) {
        GN_PUSH(a, f->range, all);
        GN_PUSH(a, f->sum, ((kir_sum){0}));
    }
    f->range.p[v] = range_of(f, kir_at(f->k, v));
    f->sum.p[v] = sum_of(f, v);
    kir_range s = kir_sum_range(f, &f->sum.p[v]), *r = &f->range.p[v];
    if (f->sum.p[v].n != 1 || f->sum.p[v].t[0].v != v)
        *r = (kir_range){max(r->lo, s.lo), min(r->hi, s.hi)};
}
