/* Constants and identities. needs: gradients have been taken (detach is dropped) keeps: every
 * result, up to a rounding of constants and the sign of a zero; NaN and infinity stay what they
 * are:
 *        x * 0, x - x and x / x are left alone for floats
 * breaks: nothing.  One walk in order: operands are simple when their user is looked at.  Equal
 * values are shared on the
 *         way, and what is dead is dropped at the end. */
#include "passes/simplify.h"

#include "ir/eval.h"
#include "passes/passes.h"
#include "passes/rewrite.h"

#include <math.h>
#include <string.h>

/* A value being looked at: its operands are in the new program. */
typedef struct site {
    gn_rewrite *r;
    gir_op op;
    int n;
    const gir_id *in;
    const gir_attr *attr;
    gir_type type;
} site;

static const gir_node *def(const site *s, gir_id v) { return gir_at(s->r->to, v); }
static gir_id operand(const site *s, gir_id v, int k) { return gir_in(s->r->to, v, k); }

static bool is_const(const site *s, gir_id v, double *x)
{
    if (def(s, v)->op != GIR_CONST) return false;
    *x = def(s, v)->attr.f;
    return true;
}

static bool equals(const site *s, gir_id v, double x)
{
    double c;
    return is_const(s, v, &c) && c == x;
}

static gir_id constant(const site *s, double x)
{
    return gn_rewrite_share(s->r, GIR_CONST, 0, NULL, &(gir_attr){.f = x}, &s->type);
}

/* A value of the site's type by another operator. */
static gir_id instead(const site *s, gir_op op, int n, gir_id a, gir_id b)
{
    return gn_rewrite_share(s->r, op, n, (const gir_id[]){a, b}, NULL, &s->type);
}

static gir_id view(const site *s, gir_op op, gir_id a, const gir_attr *attr)
{
    return gn_rewrite_share(s->r, op, 1, &a, attr, &s->type);
}

/* elementwise ---------------------------------------------------------------------------------- */

static gir_id fold(const site *s)
{
    double x[3];
    if (s->n > 3) return 0;
    for (int k = 0; k < s->n; k++) {
        if (!is_const(s, s->in[k], &x[k])) return 0;
        x[k] = gir_round((gn_elem)def(s, s->in[k])->type.elem, x[k]);
    }
    gn_elem from = (gn_elem)def(s, s->in[s->n - 1])->type.elem;
    return constant(s, gir_scalar(s->op, from, (gn_elem)s->type.elem, x));
}

/* select(c, x, 0) + select(c, 0, y): what is chosen. */
static gir_id choose(const site *s, gir_id a, gir_id b)
{
    if (def(s, a)->op != GIR_SELECT || def(s, b)->op != GIR_SELECT ||
        operand(s, a, 0) != operand(s, b, 0))
        return 0;
    for (int k = 1; k < 3; k++) {
        if (!equals(s, operand(s, a, 3 - k), 0) || !equals(s, operand(s, b, k), 0)) continue;
        gir_id in[3] = {operand(s, a, 0)};
        in[k] = operand(s, a, k);
        in[3 - k] = operand(s, b, 3 - k);
        return in[1] == in[2] ? in[1] : gn_rewrite_share(s->r, GIR_SELECT, 3, in, NULL, &s->type);
    }
    return 0;
}

enum {
    MOST_PARTS = 1024
}; /* of what is put together: each is copied to where the next is joined */

static int parts_of(const site *s, gir_id v, int64_t axis)
{
    bool apart = def(s, v)->op == GIR_CONCAT && def(s, v)->attr.i[0] == axis;
    return apart ? def(s, v)->n_in : 1;
}

/* x and y along an axis, and what each is put together of. */
static gir_id joined(const site *s, gir_id x, gir_id y, int64_t axis, const gir_type *type)
{
    int m = parts_of(s, x, axis), n = parts_of(s, y, axis);
    gir_id *in = GN_NEW_N(s->r->to->arena, gir_id, m + n);
    for (int k = 0; k < m; k++) in[k] = m > 1 ? operand(s, x, k) : x;
    for (int k = 0; k < n; k++) in[m + k] = n > 1 ? operand(s, y, k) : y;
    return gn_rewrite_share(s->r, GIR_CONCAT, m + n, in, &(gir_attr){.i = {axis}}, type);
}

/* What lies side by side, with zeros around, as gradients of slices of one value do.  0: they do
 * not. */
static gir_id side_by_side(const site *s, gir_id a, gir_id b)
{
    if (def(s, a)->op != GIR_PAD || def(s, b)->op != GIR_PAD) return 0;
    int64_t axis = def(s, a)->attr.i[0], first = def(s, a)->attr.i[1];
    if (def(s, b)->attr.i[0] != axis) return 0;
    if (def(s, b)->attr.i[1] < first) return side_by_side(s, b, a);
    gir_id x = operand(s, a, 0), y = operand(s, b, 0);
    gir_type both = def(s, x)->type;
    if (first + both.dim[axis] != def(s, b)->attr.i[1]) return 0;
    both.dim[axis] += def(s, y)->type.dim[axis];
    if (parts_of(s, x, axis) + parts_of(s, y, axis) > MOST_PARTS) return 0;
    gir_id all = joined(s, x, y, axis, &both);
    if (gir_type_eq(&both, &s->type)) return all;
    return view(s, GIR_PAD, all, &(gir_attr){.i = {axis, first}});
}

static gir_id simplify_add(const site *s, gir_id a, gir_id b)
{
    if (equals(s, a, 0)) return b;
    if (equals(s, b, 0)) return a;
    gir_id beside = side_by_side(s, a, b);
    if (beside) return beside;
    gir_id chosen = choose(s, a, b);
    if (chosen) return chosen;
    if (def(s, b)->op == GIR_NEG) return instead(s, GIR_SUB, 2, a, operand(s, b, 0));
    if (def(s, a)->op == GIR_NEG) return instead(s, GIR_SUB, 2, b, operand(s, a, 0));
    return 0;
}

static gir_id simplify_sub(const site *s, gir_id a, gir_id b)
{
    if (equals(s, b, 0)) return a;
    bool negates = gn_elem_is_float((gn_elem)s->type.elem) || s->type.elem == GN_I32 ||
                   s->type.elem == GN_I64;
    if (equals(s, a, 0) && negates) return instead(s, GIR_NEG, 1, b, 0);
    if (def(s, b)->op == GIR_NEG) return instead(s, GIR_ADD, 2, a, operand(s, b, 0));
    return 0;
}

/* select(c, x, 0) * k: the zero stays, if k is a number. */
static gir_id scale_chosen(const site *s, gir_id a, gir_id k)
{
    double c;
    if (def(s, a)->op != GIR_SELECT || !is_const(s, k, &c) || !isfinite(c)) return 0;
    gir_id in[3] = {operand(s, a, 0), operand(s, a, 1), operand(s, a, 2)};
    if (!equals(s, in[1], 0) && !equals(s, in[2], 0)) return 0;
    for (int j = 1; j < 3; j++)
        if (!equals(s, in[j], 0)) in[j] = instead(s, GIR_MUL, 2, in[j], k);
    return gn_rewrite_share(s->r, GIR_SELECT, 3, in, NULL, &s->type);
}

static gir_id simplify_mul(const site *s, gir_id a, gir_id b)
{
    bool is_float = gn_elem_is_float((gn_elem)s->type.elem);
    for (int k = 0; k < 2; k++) {
        gir_id c = k ? a : b, x = k ? b : a;
        if (equals(s, c, 1)) return x;
        if (equals(s, c, -1)) return instead(s, GIR_NEG, 1, x, 0);
        if (equals(s, c, 0) && !is_float) return c;
    }
    gir_id chosen = scale_chosen(s, a, b);
    return chosen ? chosen : scale_chosen(s, b, a);
}

static gir_id simplify_div(const site *s, gir_id a, gir_id b)
{
    double c;
    int exponent;
    if (!is_const(s, b, &c)) return 0;
    if (c == 1) return a;
    if (c == -1) return instead(s, GIR_NEG, 1, a, 0);
    /* By a power of two it is exact as a product. */
    if (fabs(frexp(c, &exponent)) == 0.5 && exponent > -12 && exponent < 12)
        return instead(s, GIR_MUL, 2, a, constant(s, 1 / c));
    return 0;
}

static gir_id simplify_pow(const site *s, gir_id a, gir_id b)
{
    if (equals(s, b, 0)) return constant(s, 1);
    if (equals(s, b, 1)) return a;
    if (equals(s, b, 2)) return instead(s, GIR_MUL, 2, a, a);
    if (equals(s, b, 3)) return instead(s, GIR_MUL, 2, instead(s, GIR_MUL, 2, a, a), a);
    if (equals(s, b, -1)) return instead(s, GIR_RECIP, 1, a, 0);
    return 0;
}

static gir_id simplify_logic(const site *s, gir_id a, gir_id b)
{
    double decides = s->op == GIR_OR, passes = 1 - decides;
    if (a == b || equals(s, b, passes) || equals(s, a, decides)) return a;
    if (equals(s, a, passes) || equals(s, b, decides)) return b;
    return 0;
}

/* A product where `cond` is known: factors that it makes 0 on the other side are what they are on
 * this one.  Gradients of selects are such products.  Looks at nothing else: what others read too
 * is not to be computed twice. */
static gir_id known(const site *s, gir_id v, gir_id cond, bool holds, int depth)
{
    const gir_node n = *def(s, v);
    if (n.op == GIR_SELECT && operand(s, v, 0) == cond &&
        equals(s, operand(s, v, holds ? 2 : 1), 0))
        return operand(s, v, holds ? 1 : 2);
    if ((n.op != GIR_MUL && n.op != GIR_NEG) || depth == 0) return v;
    gir_id in[2] = {0};
    bool same = true;
    for (int k = 0; k < n.n_in; k++) {
        in[k] = known(s, operand(s, v, k), cond, holds, depth - 1);
        same = same && in[k] == operand(s, v, k);
    }
    return same ? v : gn_rewrite_share(s->r, (gir_op)n.op, n.n_in, in, &n.attr, &n.type);
}

/* The opposite of a condition, where a select by that is the form that passes know: x <= 0 ? 0 : x
 * is a relu that keeps a NaN, and has its zero last, as x > 0 ? x : 0 has.  0: there is none. */
static gir_id opposite(const site *s, gir_id cond)
{
    const gir_node n = *def(s, cond);
    if (n.op == GIR_NOT) return operand(s, cond, 0);
    if (n.op != GIR_LE) return 0;
    const gir_id in[2] = {operand(s, cond, 0), operand(s, cond, 1)};
    return gn_rewrite_share(s->r, GIR_NLE, 2, in, NULL, &n.type);
}

static gir_id simplify_select(const site *s)
{
    double c;
    gir_id cond = s->in[0], a = s->in[1], b = s->in[2];
    if (is_const(s, cond, &c)) return c != 0 ? a : b;
    if (a == b) return a;
    gir_id yes = known(s, a, cond, true, 3), no = known(s, b, cond, false, 3);
    if (yes != a || no != b)
        return gn_rewrite_share(s->r, GIR_SELECT, 3, (const gir_id[]){cond, yes, no}, NULL,
                                &s->type);
    gir_id not = opposite(s, cond);
    return not ? gn_rewrite_share(s->r, GIR_SELECT, 3, (const gir_id[]){not, b, a}, NULL, &s->type)
               : 0;
}

/* Is every value of type a one of type b, and so comes back unchanged from there? */
static bool embeds(gn_elem a, gn_elem b)
{
    if (a == b || a == GN_BOOL) return true;
    bool narrow = a == GN_F32 || a == GN_BF16 || a == GN_F16;
    return (b == GN_F64 && (narrow || a == GN_I32 || a == GN_U32 || a == GN_U8)) ||
           (b == GN_F32 && (a == GN_BF16 || a == GN_F16 || a == GN_U8)) ||
           (b == GN_I64 && (a == GN_I32 || a == GN_U32 || a == GN_U8));
}

/* Through a type that holds all values of the first. */
static gir_id simplify_cast(const site *s)
{
    gir_id a = s->in[0];
    if (def(s, a)->type.elem == s->type.elem) return a;
    if (def(s, a)->op != GIR_CAST) return 0;
    gir_id x = operand(s, a, 0);
    if (!embeds((gn_elem)def(s, x)->type.elem, (gn_elem)def(s, a)->type.elem)) return 0;
    return def(s, x)->type.elem == s->type.elem ? x : instead(s, GIR_CAST, 1, x, 0);
}

/* (number of a bool) != 0 is the bool. */
static gir_id simplify_ne(const site *s, gir_id a, gir_id b)
{
    if (!equals(s, b, 0) || def(s, a)->op != GIR_CAST) return 0;
    gir_id x = operand(s, a, 0);
    return def(s, x)->type.elem == GN_BOOL ? x : 0;
}

static gir_id simplify_map(const site *s)
{
    gir_id a = s->in[0], b = s->n > 1 ? s->in[1] : 0;
    gir_id folded = s->op == GIR_DETACH ? a : fold(s);
    if (folded) return folded;
    switch (s->op) {
    case GIR_ADD: return simplify_add(s, a, b);
    case GIR_SUB: return simplify_sub(s, a, b);
    case GIR_MUL: return simplify_mul(s, a, b);
    case GIR_DIV: return simplify_div(s, a, b);
    case GIR_POW: return simplify_pow(s, a, b);
    case GIR_MAX:
    case GIR_MIN: return a == b ? a : 0;
    case GIR_AND:
    case GIR_OR: return simplify_logic(s, a, b);
    case GIR_NE: return simplify_ne(s, a, b);
    case GIR_NEG:
    case GIR_NOT: return def(s, a)->op == s->op ? operand(s, a, 0) : 0;
    case GIR_ABS:
        if (def(s, a)->op == GIR_ABS) return a;
        return def(s, a)->op == GIR_NEG ? instead(s, GIR_ABS, 1, operand(s, a, 0), 0) : 0;
    case GIR_SELECT: return simplify_select(s);
    case GIR_CAST: return simplify_cast(s);
    default: return 0;
    }
}

/* views ---------------------------------------------------------------------------------------- */

/* The site's type by a reshape, of what was reshaped before. */
static gir_id reshaped(const site *s, gir_id a)
{
    return view(s, GIR_RESHAPE, def(s, a)->op == GIR_RESHAPE ? operand(s, a, 0) : a, NULL);
}

/* Does a reshape only put ones in front?  Then a broadcast does it, too. */
static bool adds_leading_ones(const gir_type *from, const gir_type *to)
{
    int more = to->rank - from->rank;
    for (int k = 0; k < to->rank; k++)
        if (more < 0 || to->dim[k] != (k < more ? 1 : from->dim[k - more])) return false;
    return more >= 0;
}

static gir_id simplify_broadcast(const site *s)
{
    gir_id a = s->in[0];
    if (def(s, a)->op == GIR_BROADCAST) return view(s, GIR_BROADCAST, operand(s, a, 0), NULL);
    if (def(s, a)->op != GIR_RESHAPE) return 0;
    gir_id x = operand(s, a, 0);
    if (!adds_leading_ones(&def(s, x)->type, &def(s, a)->type)) return 0;
    return gir_type_eq(&def(s, x)->type, &s->type) ? x : view(s, GIR_BROADCAST, x, NULL);
}

static gir_id simplify_transpose(const site *s)
{
    gir_id a = s->in[0];
    int64_t perm = s->attr->i[0], identity = 0, both = 0;
    for (int k = 0; k < s->type.rank; k++) identity |= (int64_t)k << 4 * k;
    if (perm == identity) return a;
    if (def(s, a)->op != GIR_TRANSPOSE) return 0;
    for (int k = 0; k < s->type.rank; k++)
        both |= (def(s, a)->attr.i[0] >> 4 * (perm >> 4 * k & 15) & 15) << 4 * k;
    return both == identity ? operand(s, a, 0)
                            : view(s, GIR_TRANSPOSE, operand(s, a, 0), &(gir_attr){.i = {both}});
}

/* A slice of a slice, or of what was put together. */
static gir_id simplify_slice(const site *s)
{
    gir_id a = s->in[0];
    int64_t axis = s->attr->i[0], start = s->attr->i[1], length = s->type.dim[axis], at = 0;
    const gir_node *n = def(s, a);
    if (n->op == GIR_SLICE && n->attr.i[0] == axis)
        return view(s, GIR_SLICE, operand(s, a, 0), &(gir_attr){.i = {axis, n->attr.i[1] + start}});
    if (n->op != GIR_CONCAT || n->attr.i[0] != axis) return 0;
    for (int k = 0; k < n->n_in; k++) {
        gir_id part = operand(s, a, k);
        if (at == start && def(s, part)->type.dim[axis] == length) return part;
        at += def(s, part)->type.dim[axis];
    }
    return 0;
}

static gir_id simplify_view(const site *s)
{
    double c, other;
    gir_id a = s->in[0];
    bool all = is_const(s, a, &c);
    for (int k = 1; all && k < s->n; k++)
        all = is_const(s, s->in[k], &other) && memcmp(&c, &other, sizeof c) == 0;
    if (all && (s->op != GIR_PAD || c == 0)) return constant(s, c);
    if (s->n == 1 && s->op != GIR_TRANSPOSE && gir_type_eq(&def(s, a)->type, &s->type)) return a;
    switch (s->op) {
    case GIR_BROADCAST: return simplify_broadcast(s);
    case GIR_RESHAPE: return def(s, a)->op == GIR_RESHAPE ? reshaped(s, a) : 0;
    case GIR_TO_ROWS:
    case GIR_FROM_ROWS: {
        bool back = def(s, a)->op == (s->op == GIR_TO_ROWS ? GIR_FROM_ROWS : GIR_TO_ROWS);
        return back && gir_type_eq(&def(s, operand(s, a, 0))->type, &s->type) ? operand(s, a, 0)
                                                                              : 0;
    }
    case GIR_TRANSPOSE: return simplify_transpose(s);
    case GIR_SLICE: return simplify_slice(s);
    default: return 0;
    }
}

/* reductions, edges ---------------------------------------------------------------------------- */

static gir_id simplify_reduce(const site *s)
{
    double c;
    const gir_type *t = &def(s, s->in[0])->type;
    int64_t n = gir_row_elems(t) / gir_row_elems(&s->type);
    if (n == 1) return reshaped(s, s->in[0]);
    if (!is_const(s, s->in[0], &c)) return 0;
    if (s->attr->i[0] != GIR_SUM) return constant(s, c);
    return constant(
        s, gir_round((gn_elem)s->type.elem, gir_round((gn_elem)s->type.elem, c) * (double)n));
}

static gir_id simplify_edge(const site *s)
{
    double a, b;
    int last = s->n - 1;
    if (!is_const(s, s->in[last], &a)) return 0;
    switch (s->op) {
    case GIR_GATHER:
    case GIR_TAKE:
    case GIR_CELL: return constant(s, a);
    case GIR_SCATTER:
    case GIR_UNCARRY: return a == 0 ? constant(s, 0) : 0;
    case GIR_CARRY: return is_const(s, s->in[last - 1], &b) && a == b ? constant(s, a) : 0;
    default: return 0;
    }
}

static gir_id simplify(const site *s)
{
    switch (gir_ops[s->op].cls) {
    case GIR_CLASS_MAP: return simplify_map(s);
    case GIR_CLASS_VIEW: return simplify_view(s);
    case GIR_CLASS_REDUCE: return simplify_reduce(s);
    case GIR_CLASS_SPACE: return equals(s, s->in[0], 0) ? constant(s, 0) : 0;
    case GIR_CLASS_EDGE: return simplify_edge(s);
    default: return 0;
    }
}

/* A value that came of a rule may be the site of another: a reshape of a reshape back to its own
 * type. */
static gir_id settle(gn_rewrite *r, gir_id v)
{
    const gir_node *n = gir_at(r->to, v);
    bool back = n->op == GIR_RESHAPE || n->op == GIR_BROADCAST || n->op == GIR_SLICE;
    return back && gir_type_eq(gir_type_of(r->to, gir_in(r->to, v, 0)), &n->type)
               ? gir_in(r->to, v, 0)
               : v;
}

gn_status *gn_pass_simplify(gn_arena *a, const gir_program *in, gir_program **out)
{
    gn_rewrite r = gn_rewrite_new(a, in);
    for (gir_id v = 1; v < in->nodes.n; v++) {
        const gir_node *n = gir_at(in, v);
        gir_id *operands = GN_NEW_N(a, gir_id, n->n_in);
        for (int k = 0; k < n->n_in; k++) operands[k] = r.map[gir_in(in, v, k)];
        site s = {&r, (gir_op)n->op, n->n_in, operands, &n->attr, gn_rewrite_type(&r, v)};
        r.to->loc = n->loc;
        gir_id to = n->n_in && !n->type.is_graph ? simplify(&s) : 0;
        if (to)
            r.map[v] = settle(&r, to);
        else
            gn_rewrite_copy(&r, v);
    }
    gn_rewrite_outputs(&r);
    return gn_pass_dce(a, r.to, out);
}

gn_status *gn_run_simplify(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                           gir_program **out)
{
    (void)opt;
    return gn_pass_simplify(a, in, out);
}

gn_status *gn_run_clean(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                        gir_program **out)
{
    return gn_run_simplify(a, in, opt, out);
}
