/* terms: edge messages as sums of products, and products put together in one order. */
#include "passes/terms.h"

#include <math.h>
#include <string.h>

enum { DEEPEST = 64 };

typedef struct splitter {
    gn_rewrite *r;
    bool distribute;
} splitter;

/* building ------------------------------------------------------------------------------------- */

gir_id gn_terms_op(gn_rewrite *r, gir_op op, gir_id a, gir_id b)
{
    return gn_rewrite_make(r, op, b ? 2 : 1, (const gir_id[]){a, b}, NULL, NULL);
}

static gir_id constant(gn_rewrite *r, const gir_type *t, double x)
{
    return gn_rewrite_make(r, GIR_CONST, 0, NULL, &(gir_attr){.f = x}, t);
}

gir_id gn_terms_scaled(gn_rewrite *r, gir_id v, double scale)
{
    if (scale == 1) return v;
    if (scale == -1) return gn_terms_op(r, GIR_NEG, v, 0);
    gir_type t = *gir_type_of(r->to, v);
    return gn_terms_op(r, GIR_MUL, v, constant(r, &t, scale));
}

/* Do `to`'s dims only put ones in front of `from`'s?  Then a broadcast does it, too. */
static bool adds_leading_ones(const gir_type *from, const gir_type *to)
{
    int more = to->rank - from->rank;
    for (int k = 0; k < to->rank; k++)
        if (more < 0 || to->dim[k] != (k < more ? 1 : from->dim[k - more])) return false;
    return true;
}

static bool same_dims(const gir_type *a, const gir_type *b)
{
    bool same = a->rank == b->rank;
    for (int k = 0; same && k < a->rank; k++) same = a->dim[k] == b->dim[k];
    return same;
}

gir_id gn_terms_view(gn_rewrite *r, gir_id v, const gir_type *to, gir_space_id s, bool reshape)
{
    gir_type t = *to;
    t.space = s;
    if (gir_type_eq(gir_type_of(r->to, v), &t)) return v;
    return gn_rewrite_make(r, reshape ? GIR_RESHAPE : GIR_BROADCAST, 1, &v, NULL, &t);
}

/* The chain with views that say the same in fewer words: none that changes nothing, one reshape
 * instead of two, none before a broadcast that does it too. */
static const gn_view *push(gn_rewrite *r, const gir_type *from, bool reshape, const gir_type *to,
                           const gn_view *outer)
{
    if (same_dims(from, to) && from->space == to->space) return outer;
    if (outer && outer->reshape == reshape)
        return push(r, from, reshape, &outer->type, outer->outer);
    if (reshape && outer && adds_leading_ones(from, to))
        return push(r, from, false, &outer->type, outer->outer);
    gn_view *v = GN_NEW(r->to->arena, gn_view);
    *v = (gn_view){outer, *to, reshape};
    return v;
}

const gn_view *gn_views_add(gn_rewrite *r, const gir_type *from, const gn_view *views,
                            const gir_type *to, bool reshape)
{
    if (!views) return push(r, from, reshape, to, NULL);
    const gn_view *rest = gn_views_add(r, &views->type, views->outer, to, reshape);
    return push(r, from, views->reshape, &views->type, rest);
}

/* taking apart --------------------------------------------------------------------------------- */

static const gn_terms *expand(splitter *z, gir_id v, const gn_view *outer, bool inverse, int depth);

static const gn_terms *too_many(splitter *z) { return GN_NEW(z->r->to->arena, gn_terms); }

static gn_terms *one(splitter *z, double scale, gir_id v, const gn_view *outer, bool inverse)
{
    gn_terms *t = GN_NEW(z->r->to->arena, gn_terms);
    t->n = 1;
    t->t[0].scale = scale;
    if (v) t->t[0].f[t->t[0].n++] = (gn_factor){v, inverse, outer};
    return t;
}

static const gn_terms *product(splitter *z, const gn_terms *a, const gn_terms *b)
{
    gn_terms *t = GN_NEW(z->r->to->arena, gn_terms);
    if (a->n * b->n > TERM_MOST) return t;
    for (int i = 0; i < a->n; i++) {
        for (int j = 0; j < b->n; j++) {
            gn_term *to = &t->t[t->n++];
            *to = a->t[i];
            to->scale *= b->t[j].scale;
            if (to->n + b->t[j].n > TERM_FACTORS) return too_many(z);
            for (int k = 0; k < b->t[j].n; k++) to->f[to->n++] = b->t[j].f[k];
        }
    }
    return t;
}

static const gn_terms *sum(splitter *z, const gn_terms *a, const gn_terms *b, double sign)
{
    gn_terms *t = GN_NEW(z->r->to->arena, gn_terms);
    if (!a->n || !b->n || a->n + b->n > TERM_MOST) return t;
    *t = *a;
    for (int j = 0; j < b->n; j++) {
        t->t[t->n] = b->t[j];
        t->t[t->n++].scale *= sign;
    }
    return t;
}

/* v as a multiple of another value: that value. */
static gir_id multiple(const gir_program *p, gir_id v, double *times)
{
    *times = 1;
    for (int depth = 0; depth < DEEPEST; depth++) {
        double c;
        const gir_node *n = gir_at(p, v);
        if (n->op == GIR_NEG) {
            *times = -*times;
            v = gir_in(p, v, 0);
        } else if (n->op == GIR_MUL && gir_is_number(p, gir_in(p, v, 0), &c) && isfinite(c)) {
            *times *= c;
            v = gir_in(p, v, 1);
        } else if (n->op == GIR_MUL && gir_is_number(p, gir_in(p, v, 1), &c) && isfinite(c)) {
            *times *= c;
            v = gir_in(p, v, 0);
        } else {
            break;
        }
    }
    return v;
}

/* select(c, x * a, x * b) is x * select(c, a, b); a or b may be 0. */
static const gn_terms *split_select(splitter *z, gir_id v, const gn_view *outer, bool inverse,
                                    int depth)
{
    const gir_program *p = z->r->to;
    gir_type t = gir_at(p, v)->type;
    gir_id cond = gir_in(p, v, 0), yes = gir_in(p, v, 1), no = gir_in(p, v, 2);
    double a, b, c;
    gir_id x = multiple(p, yes, &a), y = multiple(p, no, &b);
    if (gir_is_number(p, yes, &c) && gir_is_number(p, no, &b)) return NULL;
    if (gir_is_zero(p, no)) {
        y = x;
        b = 0;
    } else if (gir_is_zero(p, yes)) {
        x = y;
        a = 0;
    }
    if (x != y || inverse) return NULL;
    gir_id first = constant(z->r, &t, a), second = constant(z->r, &t, b);
    const gir_id in[] = {cond, first, second};
    gir_id which = gn_rewrite_make(z->r, GIR_SELECT, 3, in, NULL, NULL);
    return product(z, expand(z, x, outer, false, depth + 1), one(z, 1, which, outer, false));
}

/* Of both operands.  Too many of one are too many, and the other is not looked into: where every
 * step reads the one before twice that would take as long as there are ways through them. */
static const gn_terms *both(splitter *z, gir_id v, const gn_view *outer, bool first, bool second,
                            int depth)
{
    gir_id a = gir_in(z->r->to, v, 0), b = gir_in(z->r->to, v, 1);
    gir_op op = (gir_op)gir_at(z->r->to, v)->op;
    const gn_terms *x = expand(z, a, outer, first, depth + 1);
    if (!x->n) return x;
    const gn_terms *y = expand(z, b, outer, second, depth + 1);
    if (op == GIR_MUL || op == GIR_DIV) return product(z, x, y);
    return sum(z, x, y, op == GIR_ADD ? 1 : -1);
}

static const gn_terms *expand(splitter *z, gir_id v, const gn_view *outer, bool inverse, int depth)
{
    const gir_program *p = z->r->to;
    const gir_node n = *gir_at(p, v);
    gir_id a = n.n_in > 0 ? gir_in(p, v, 0) : 0;
    const gn_terms *t = NULL;
    double c;
    if (depth == DEEPEST) return one(z, 1, v, outer, inverse);
    switch ((gir_op)n.op) {
    case GIR_MUL: return both(z, v, outer, inverse, inverse, depth);
    case GIR_DIV: return both(z, v, outer, inverse, !inverse, depth);
    case GIR_NEG:
        return product(z, one(z, -1, 0, NULL, false), expand(z, a, outer, inverse, depth + 1));
    case GIR_ADD:
    case GIR_SUB:
        if (!z->distribute || inverse) break;
        return both(z, v, outer, false, false, depth);
    case GIR_BROADCAST:
    case GIR_RESHAPE:
        if (gir_type_of(p, a)->space != n.type.space) break;
        outer = push(z->r, gir_type_of(p, a), n.op == GIR_RESHAPE, &n.type, outer);
        return expand(z, a, outer, inverse, depth + 1);
    case GIR_SELECT: t = split_select(z, v, outer, inverse, depth); break;
    case GIR_CONST:
        (void)gir_is_number(p, v, &c);
        if (isfinite(c) && c != 0) return one(z, inverse ? 1 / c : c, 0, NULL, false);
        break;
    default: break;
    }
    return t ? t : one(z, 1, v, outer, inverse);
}

const gn_terms *gn_terms_of(gn_rewrite *r, gir_id v, bool distribute)
{
    splitter z = {r, distribute};
    return expand(&z, v, NULL, false, 0);
}

/* putting together ----------------------------------------------------------------------------- */

static bool same_views(const gn_view *a, const gn_view *b)
{
    while (a && b && a != b && a->reshape == b->reshape && same_dims(&a->type, &b->type)) {
        a = a->outer;
        b = b->outer;
    }
    return a == b;
}

static bool before(const gn_factor *a, const gn_factor *b)
{
    return a->inverse != b->inverse ? b->inverse : a->value < b->value;
}

/* What divides comes last. */
static void sort(int n, gn_factor *f)
{
    for (int k = 1; k < n; k++) {
        gn_factor x = f[k];
        int at = k;
        for (; at > 0 && before(&x, &f[at - 1]); at--) f[at] = f[at - 1];
        f[at] = x;
    }
}

/* The product of those that pass through the views of f[first], where they are still narrow; marks
 * them as done. */
static gir_id group(gn_rewrite *r, int n, const gn_factor *f, int first, bool *done)
{
    gir_id v = f[first].value;
    if (f[first].inverse) return gn_terms_op(r, GIR_RECIP, v, 0);
    for (int k = first + 1; k < n; k++) {
        const gir_type *t = gir_type_of(r->to, f[first].value), *u = gir_type_of(r->to, f[k].value);
        if (f[k].inverse || !same_views(f[k].views, f[first].views) || !same_dims(t, u) ||
            t->space != u->space)
            continue;
        done[k] = true;
        v = gn_terms_op(r, GIR_MUL, v, f[k].value);
    }
    return v;
}

gir_id gn_terms_product(gn_rewrite *r, gir_id start, int n, gn_factor *f, const gir_type *full,
                        gir_space_id s)
{
    bool done[TERM_FACTORS] = {0};
    gir_id all = start;
    sort(n, f);
    for (int k = 0; k < n; k++) {
        if (done[k]) continue;
        gir_id v = group(r, n, f, k, done);
        for (const gn_view *w = f[k].views; w; w = w->outer)
            v = gn_terms_view(r, v, &w->type, s, w->reshape);
        v = gn_terms_view(r, v, full, s, false); /* what has no space */
        all = all ? gn_terms_op(r, GIR_MUL, all, v) : v;
    }
    return all;
}
