/* scale_free: does a softmax's numerator matter up to a factor a row alone?
 *
 * Every value has a degree in the factor: 1 for w itself and for what is linear in it, -1 for what
 * is divided by that, 0 for what does not see it, such as w over its sum.  Beside the degree goes
 * which element of w's row each element belongs to, since each has a factor of its own.  Degrees
 * are carried through the program; whatever has no degree (a sum of different ones, a function of a
 * scaled value, a sum that crosses rows) says no. */
#include "passes/scale_free.h"

#include <math.h>

typedef struct scaled {
    int degree;
    const int32_t *of; /* [elements of a row]: element of w's row; NULL where the degree is 0 */
} scaled;

typedef struct scaling {
    gn_arena *arena;
    const gir_program *p;
    gir_id w, g;
    scaled *at; /* by value */
    bool *eps;
} scaling;

static bool same(const scaling *z, gir_id v, gir_id u)
{
    const scaled *a = &z->at[v], *b = &z->at[u];
    int64_t n = gir_row_elems(gir_type_of(z->p, v));
    if (a->degree != b->degree) return false;
    for (int64_t k = 0; a->of && k < n; k++)
        if (a->of[k] != b->of[k]) return false;
    return true;
}

static bool take(scaling *z, gir_id v, gir_id from, int times)
{
    z->at[v] = z->at[from];
    z->at[v].degree *= times;
    return true;
}

/* A constant that does not change a number of 1 or more. */
static bool vanishes(const gir_program *p, gir_id c)
{
    const gir_node *n = gir_at(p, c);
    double least = n->type.elem == GN_F64 ? 0x1p-53 : 0x1p-25;
    return n->op == GIR_CONST && n->attr.f >= 0 && n->attr.f < least &&
           (n->type.elem == GN_F32 || n->type.elem == GN_F64);
}

static bool is_sum_of_w(const scaling *z, gir_id v)
{
    const gir_node *n = gir_at(z->p, v);
    return n->op == GIR_SCATTER && n->attr.i[1] == GIR_SUM && gir_in(z->p, v, 0) == z->g &&
           gir_in(z->p, v, 1) == z->w;
}

static bool sum(scaling *z, gir_id v, gir_id a, gir_id b)
{
    if (gir_at(z->p, v)->op == GIR_ADD && is_sum_of_w(z, b)) {
        gir_id t = a;
        a = b;
        b = t;
    }
    if (gir_at(z->p, v)->op == GIR_ADD && is_sum_of_w(z, a) && vanishes(z->p, b)) {
        z->eps[v] = true;
        return take(z, v, a, 1);
    }
    if (gir_is_zero(z->p, a)) return take(z, v, b, 1);
    if (gir_is_zero(z->p, b)) return take(z, v, a, 1);
    return same(z, a, b) && take(z, v, a, 1);
}

static bool product(scaling *z, gir_id v, gir_id a, gir_id b, int sign)
{
    scaled *x = &z->at[a], *y = &z->at[b];
    int64_t n = gir_row_elems(gir_type_of(z->p, v));
    for (int64_t k = 0; x->degree && y->degree && k < n; k++)
        if (x->of[k] != y->of[k]) return false;
    int degree = x->degree + sign * y->degree;
    if (degree) z->at[v] = (scaled){degree, x->degree ? x->of : y->of};
    return degree >= -2 && degree <= 2;
}

/* Which element of the operand's row an element of a broadcast's is. */
static int64_t repeated(const gir_type *to, const gir_type *from, int64_t k)
{
    int64_t at = 0, stride = 1;
    for (int i = to->rank - 1, j = from->rank - 1; j >= 0; i--, j--) {
        if (from->dim[j] > 1) at += k % to->dim[i] * stride;
        k /= to->dim[i];
        stride *= from->dim[j];
    }
    return at;
}

static bool spread(scaling *z, gir_id v, gir_id a)
{
    const gir_type *to = gir_type_of(z->p, v), *from = gir_type_of(z->p, a);
    int64_t n = gir_row_elems(to);
    int32_t *of = GN_NEW_N(z->arena, int32_t, n ? n : 1);
    if (to->space != from->space) return false;
    for (int64_t k = 0; k < n; k++) of[k] = z->at[a].of[repeated(to, from, k)];
    z->at[v] = (scaled){z->at[a].degree, of};
    return true;
}

static bool slice(scaling *z, gir_id v, gir_id a)
{
    const gir_node *n = gir_at(z->p, v);
    const gir_type *from = gir_type_of(z->p, a);
    int64_t elems = gir_row_elems(&n->type), inner = 1, axis = n->attr.i[0];
    int32_t *of = GN_NEW_N(z->arena, int32_t, elems ? elems : 1);
    for (int i = from->rank - 1; i > axis; i--) inner *= from->dim[i];
    for (int64_t k = 0; k < elems; k++) {
        int64_t wide = n->type.dim[axis] * inner;
        of[k] = z->at[a].of[k / wide * from->dim[axis] * inner + n->attr.i[1] * inner + k % wide];
    }
    z->at[v] = (scaled){z->at[a].degree, of};
    return true;
}

static bool concat(scaling *z, gir_id v)
{
    const gir_node *n = gir_at(z->p, v);
    int64_t elems = gir_row_elems(&n->type), inner = 1, axis = n->attr.i[0], at = 0;
    int32_t *of = GN_NEW_N(z->arena, int32_t, elems ? elems : 1);
    for (int i = n->type.rank - 1; i > axis; i--) inner *= n->type.dim[i];
    int64_t wide = n->type.dim[axis] * inner;
    for (int k = 0; k < n->n_in; k++) {
        const scaled *o = &z->at[gir_in(z->p, v, k)];
        if (!o->degree || o->degree != z->at[gir_in(z->p, v, 0)].degree) return false;
        int64_t part = gir_type_of(z->p, gir_in(z->p, v, k))->dim[axis] * inner;
        for (int64_t i = 0; i < elems / wide * part; i++)
            of[i / part * wide + at + i % part] = o->of[i];
        at += part;
    }
    z->at[v] = (scaled){z->at[gir_in(z->p, v, 0)].degree, of};
    return true;
}

/* All elements of a row have one factor, as those of *of; 0: they have several. */
static bool is_uniform(const scaling *z, gir_id v, int32_t *of)
{
    int64_t n = gir_row_elems(gir_type_of(z->p, v));
    for (int64_t k = 0; k < n; k++)
        if (z->at[v].of[k] != z->at[v].of[0]) return false;
    if (n > 0) *of = z->at[v].of[0];
    return n > 0;
}

/* Rows by a matrix are scaled as the rows are; a sum over rows is of products that have no
 * factor. */
static bool matmul(scaling *z, gir_id v, gir_id a, gir_id b)
{
    const gir_node *n = gir_at(z->p, v);
    int32_t of = 0, of_b = 0;
    if (!n->type.space) {
        bool rows = gir_type_of(z->p, a)->space && n->attr.i[0];
        return rows && z->at[a].degree == -z->at[b].degree && is_uniform(z, a, &of) &&
               is_uniform(z, b, &of_b) && of == of_b;
    }
    if (z->at[b].degree || !is_uniform(z, a, &of)) return false;
    int64_t elems = gir_row_elems(&n->type);
    int32_t *all = GN_NEW_N(z->arena, int32_t, elems ? elems : 1);
    for (int64_t k = 0; k < elems; k++) all[k] = of;
    z->at[v] = (scaled){z->at[a].degree, all};
    return true;
}

/* All that is reduced to one element must have one factor. */
static bool reduce(scaling *z, gir_id v, gir_id a)
{
    const gir_type *from = gir_type_of(z->p, a);
    int64_t axes = gir_at(z->p, v)->attr.i[1], n = gir_row_elems(from),
            outs = gir_row_elems(gir_type_of(z->p, v));
    int32_t *of = GN_NEW_N(z->arena, int32_t, outs ? outs : 1);
    bool *seen = GN_NEW_N(z->arena, bool, outs ? outs : 1);
    for (int64_t k = 0; k < n; k++) {
        int64_t at = 0, stride = 1, rest = k;
        for (int i = from->rank; i-- > 0; rest /= from->dim[i]) {
            if (axes >> i & 1) continue;
            at += rest % from->dim[i] * stride;
            stride *= from->dim[i];
        }
        if (seen[at] && of[at] != z->at[a].of[k]) return false;
        of[at] = z->at[a].of[k];
        seen[at] = true;
    }
    z->at[v] = (scaled){z->at[a].degree, of};
    return true;
}

/* v has an operand with a degree. False: v has none. */
static bool carry(scaling *z, gir_id v)
{
    const gir_program *p = z->p;
    const gir_node *n = gir_at(p, v);
    gir_id a = gir_in(p, v, 0), b = n->n_in > 1 ? gir_in(p, v, 1) : 0;
    switch ((gir_op)n->op) {
    case GIR_NEG:
    case GIR_DETACH:
    case GIR_RESHAPE: return take(z, v, a, 1);
    case GIR_RECIP: return take(z, v, a, -1);
    case GIR_MUL: return product(z, v, a, b, 1);
    case GIR_DIV: return product(z, v, a, b, -1);
    case GIR_ADD:
    case GIR_SUB: return sum(z, v, a, b);
    case GIR_SELECT: return z->at[a].degree == 0 && sum(z, v, b, gir_in(p, v, 2));
    case GIR_BROADCAST: return spread(z, v, a);
    case GIR_SLICE: return slice(z, v, a);
    case GIR_CONCAT: return concat(z, v);
    case GIR_REDUCE: return reduce(z, v, a);
    case GIR_MATMUL: return matmul(z, v, a, b);
    case GIR_GATHER:
    case GIR_SCATTER: return a == z->g && n->attr.i[0] == GIR_DST && take(z, v, b, 1);
    default: return false;
    }
}

bool gn_is_scale_free(gn_arena *a, const gir_program *p, gir_id w, gir_id g, bool **eps)
{
    scaling z = {a, p, w, g, GN_NEW_N(a, scaled, p->nodes.n), GN_NEW_N(a, bool, p->nodes.n)};
    int64_t n = gir_row_elems(gir_type_of(p, w));
    int32_t *own = GN_NEW_N(a, int32_t, n ? n : 1);
    for (int64_t k = 0; k < n; k++) own[k] = (int32_t)k;
    z.at[w] = (scaled){1, own};
    for (gir_id v = w + 1; v < p->nodes.n; v++) {
        bool any = false;
        for (int k = 0; k < gir_at(p, v)->n_in; k++) any = any || z.at[gir_in(p, v, k)].degree != 0;
        if (any && !carry(&z, v)) return false;
    }
    for (uint32_t k = 0; k < p->outputs.n; k++)
        if (z.at[p->outputs.p[k].value].degree) return false;
    *eps = z.eps;
    return true;
}
