/* Gradient rules of views, reductions, edges and matrix products: most are each other's
 * transposes. */
#include "ir/vjp.h"

/* views ---------------------------------------------------------------------------------------- */

bool gir_vjp_BROADCAST(gir_vjp *g)
{
    gir_type a = gir_vjp_type(g, gir_vjp_in(g, 0)), t = gir_vjp_type(g, g->v);
    int64_t axes = 0;
    for (int k = 0; k < t.rank; k++) {
        int of = k - (t.rank - a.rank);
        if (of < 0 || (a.dim[of] == 1 && t.dim[k] != 1)) axes |= (int64_t)1 << k;
    }
    gir_id ct = gir_reduce(g->p, g->ct, GIR_SUM, axes);
    if (t.space != a.space) ct = gir_space_reduce(g->p, ct, GIR_SUM);
    g->ct_in[0] = gir_reshape(g->p, ct, a.rank, a.dim);
    return true;
}

bool gir_vjp_RESHAPE(gir_vjp *g)
{
    gir_type a = gir_vjp_type(g, gir_vjp_in(g, 0));
    g->ct_in[0] = gir_reshape(g->p, g->ct, a.rank, a.dim);
    return true;
}

bool gir_vjp_TO_ROWS(gir_vjp *g)
{
    g->ct_in[0] = gir_op1(g->p, GIR_FROM_ROWS, g->ct);
    return true;
}

bool gir_vjp_FROM_ROWS(gir_vjp *g)
{
    gir_type rows = gir_vjp_type(g, gir_vjp_in(g, 0));
    g->ct_in[0] = gir_make(g->p, GIR_TO_ROWS, 1, &g->ct, NULL, &rows, NULL);
    return true;
}

bool gir_vjp_TRANSPOSE(gir_vjp *g)
{
    int64_t perm = gir_vjp_attr(g)->i[0], inverse = 0;
    for (int k = 0; k < gir_type_of(g->p, g->v)->rank; k++)
        inverse |= (int64_t)k << 4 * (perm >> 4 * k & 15);
    g->ct_in[0] = gir_make(g->p, GIR_TRANSPOSE, 1, &g->ct, &(gir_attr){.i = {inverse}}, NULL, NULL);
    return true;
}

/* Elements from `start` on along an axis, as many as `to` has; or the other way round. */
static gir_id along(gir_vjp *g, gir_op op, int64_t axis, int64_t start, gir_type to)
{
    return gir_make(g->p, op, 1, &g->ct, &(gir_attr){.i = {axis, start}}, &to, NULL);
}

bool gir_vjp_SLICE(gir_vjp *g)
{
    gir_attr attr = *gir_vjp_attr(g);
    g->ct_in[0] = along(g, GIR_PAD, attr.i[0], attr.i[1], gir_vjp_type(g, gir_vjp_in(g, 0)));
    return true;
}

bool gir_vjp_PAD(gir_vjp *g)
{
    gir_attr attr = *gir_vjp_attr(g);
    g->ct_in[0] = along(g, GIR_SLICE, attr.i[0], attr.i[1], gir_vjp_type(g, gir_vjp_in(g, 0)));
    return true;
}

bool gir_vjp_CONCAT(gir_vjp *g)
{
    int64_t axis = gir_vjp_attr(g)->i[0], start = 0;
    int n = gir_at(g->p, g->v)->n_in;
    for (int k = 0; k < n; k++) {
        gir_type t = gir_vjp_type(g, gir_vjp_in(g, k));
        if (gir_vjp_needs(g, k)) g->ct_in[k] = n == 1 ? g->ct : along(g, GIR_SLICE, axis, start, t);
        start += t.dim[axis];
    }
    return true;
}

/* reductions ----------------------------------------------------------------------------------- */

/* The cotangent of a maximum or minimum to those that are equal to it: `most`, `share` have the
 * operand's type. */
static gir_id to_equals(gir_vjp *g, gir_id x, gir_id mask, gir_id share)
{
    return gir_op3(g->p, GIR_SELECT, mask, share, gir_vjp_const(g, x, 0));
}

/* The equality mask as numbers, to be counted. */
static gir_id ones(gir_vjp *g, gir_id mask)
{
    return gir_cast(g->p, mask, (gn_elem)gir_type_of(g->p, g->v)->elem);
}

/* Repeats a value of the result's type over the axes that were reduced. */
static gir_id spread(gir_vjp *g, gir_id v, int64_t axes)
{
    gir_type to = gir_vjp_type(g, gir_vjp_in(g, 0)), kept = to;
    for (int k = 0; k < to.rank; k++)
        if (axes >> k & 1) kept.dim[k] = 1;
    return gir_broadcast(g->p, gir_reshape(g->p, v, kept.rank, kept.dim), &to);
}

bool gir_vjp_REDUCE(gir_vjp *g)
{
    gir_attr attr = *gir_vjp_attr(g);
    gir_id x = gir_vjp_in(g, 0), share = g->ct;
    if (attr.i[0] == GIR_SUM) {
        g->ct_in[0] = spread(g, share, attr.i[1]);
        return true;
    }
    gir_id mask = gir_op2(g->p, GIR_EQ, x, spread(g, g->v, attr.i[1]));
    gir_id count = gir_reduce(g->p, ones(g, mask), GIR_SUM, attr.i[1]);
    share = gir_op2(g->p, GIR_DIV, share, count);
    g->ct_in[0] = to_equals(g, x, mask, spread(g, share, attr.i[1]));
    return true;
}

bool gir_vjp_SPACE_REDUCE(gir_vjp *g)
{
    gir_id x = gir_vjp_in(g, 0);
    gir_type t = gir_vjp_type(g, x);
    if (gir_vjp_attr(g)->i[0] == GIR_SUM) {
        g->ct_in[0] = gir_broadcast(g->p, g->ct, &t);
        return true;
    }
    gir_id mask = gir_op2(g->p, GIR_EQ, x, gir_broadcast(g->p, g->v, &t));
    gir_id count = gir_space_reduce(g->p, ones(g, mask), GIR_SUM);
    /* there may be no rows */
    gir_id some = gir_op2(g->p, GIR_MAX, count, gir_vjp_const(g, count, 1));
    gir_id share = gir_op2(g->p, GIR_DIV, g->ct, some);
    g->ct_in[0] = to_equals(g, x, mask, gir_broadcast(g->p, share, &t));
    return true;
}

/* edges ---------------------------------------------------------------------------------------- */

bool gir_vjp_GATHER(gir_vjp *g)
{
    g->ct_in[1] = gir_scatter(g->p, gir_vjp_in(g, 0), g->ct, (int)gir_vjp_attr(g)->i[0], GIR_SUM);
    return true;
}

/* Of rows that were put the cotangent is y's, of the others x's. */
bool gir_vjp_PUT(gir_vjp *g)
{
    gir_id r = gir_vjp_in(g, 0), y = gir_vjp_in(g, 2);
    const gir_id in[3] = {r, g->ct, gir_vjp_const(g, y, 0)};
    gir_id rest = gir_make(g->p, GIR_PUT, 3, in, NULL, NULL, NULL);
    g->ct_in[1] = rest;
    if (gir_vjp_needs(g, 2))
        g->ct_in[2] = gir_op2(g->p, GIR_TAKE, r, gir_op2(g->p, GIR_SUB, g->ct, rest));
    return true;
}

bool gir_vjp_TAKE(gir_vjp *g)
{
    gir_id pick = gir_vjp_in(g, 0);
    g->ct_in[1] = gir_scatter(g->p, pick, gir_gather(g->p, pick, g->ct, GIR_DST), GIR_SRC, GIR_SUM);
    return true;
}

bool gir_vjp_ROWS_AT(gir_vjp *g)
{
    g->ct_in[1] = gir_op2(g->p, GIR_SUM_AT, gir_vjp_in(g, 0), g->ct);
    return true;
}

bool gir_vjp_SUM_AT(gir_vjp *g)
{
    g->ct_in[1] = gir_op2(g->p, GIR_ROWS_AT, gir_vjp_in(g, 0), g->ct);
    return true;
}

bool gir_vjp_SCATTER(gir_vjp *g)
{
    gir_id graph = gir_vjp_in(g, 0), x = gir_vjp_in(g, 1);
    int end = (int)gir_vjp_attr(g)->i[0];
    if (gir_vjp_attr(g)->i[1] == GIR_SUM) {
        g->ct_in[1] = gir_gather(g->p, graph, g->ct, end);
        return true;
    }
    gir_id mask = gir_op2(g->p, GIR_EQ, x, gir_gather(g->p, graph, g->v, end));
    gir_id count = gir_scatter(g->p, graph, ones(g, mask), end, GIR_SUM);
    /* nodes without edges */
    gir_id some = gir_op2(g->p, GIR_MAX, count, gir_vjp_const(g, count, 1));
    gir_id share = gir_op2(g->p, GIR_DIV, g->ct, some);
    g->ct_in[1] = to_equals(g, x, mask, gir_gather(g->p, graph, share, end));
    return true;
}

/* Fills go to new loops: those where a carry of 0 with fill 1 gives 1. */
bool gir_vjp_CARRY(gir_vjp *g)
{
    gir_id derived = gir_vjp_in(g, 0), graph = gir_vjp_in(g, 1), edge = gir_vjp_in(g, 2),
           fill = gir_vjp_in(g, 3);
    if (gir_vjp_needs(g, 2)) g->ct_in[2] = gir_op3(g->p, GIR_UNCARRY, graph, derived, g->ct);
    if (!gir_vjp_needs(g, 3)) return true;
    gir_id none = gir_vjp_const(g, edge, 0), one = gir_vjp_const(g, fill, 1);
    const gir_id in[4] = {derived, graph, none, one};
    gir_id is_new = gir_make(g->p, GIR_CARRY, 4, in, NULL, NULL, NULL);
    gir_id zero = gir_vjp_const(g, g->ct, 0), mask = gir_op2(g->p, GIR_NE, is_new, zero);
    g->ct_in[3] = gir_scatter(g->p, derived, gir_op3(g->p, GIR_SELECT, mask, g->ct, zero), GIR_DST,
                              GIR_SUM);
    return true;
}

bool gir_vjp_UNCARRY(gir_vjp *g)
{
    gir_id graph = gir_vjp_in(g, 0), derived = gir_vjp_in(g, 1);
    gir_type fill = gir_vjp_type(g, g->v);
    fill.space = gir_type_of(g->p, derived)->dst;
    const gir_id in[4] = {derived, graph, g->ct, gir_const(g->p, &fill, 0)};
    g->ct_in[2] = gir_make(g->p, GIR_CARRY, 4, in, NULL, NULL, NULL);
    return true;
}

/* Every edge adds its cotangent at its feature of its row: the cotangent where the feature
 * is the edge's source. */
bool gir_vjp_CELL(gir_vjp *g)
{
    gir_id graph = gir_vjp_in(g, 0);
    gir_type at = gir_vjp_type(g, gir_vjp_in(g, 1)), gt = gir_vjp_type(g, graph), index;
    at.space = gt.edge;
    index = at;
    index.elem = GN_I64;
    gir_type row = gir_tensor(GN_I64, gt.src, 0, NULL);
    gir_id source = gir_make(g->p, GIR_IOTA, 0, NULL, &(gir_attr){.i = {-1}}, &row, NULL);
    gir_id feature = gir_make(g->p, GIR_IOTA, 0, NULL, &(gir_attr){.i = {0}}, &index, NULL);
    gir_id mine = gir_op2(g->p, GIR_EQ, feature,
                          gir_broadcast(g->p, gir_gather(g->p, graph, source, GIR_SRC), &index));
    gir_id zero = gir_const(g->p, &at, 0);
    gir_id spread_ct = gir_op3(g->p, GIR_SELECT, mine, gir_broadcast(g->p, g->ct, &at), zero);
    g->ct_in[1] = gir_scatter(g->p, graph, spread_ct, GIR_DST, GIR_SUM);
    return true;
}

/* dense ---------------------------------------------------------------------------------------- */

/* C = op(A) op(B).  The same four products serve matrices with rows in a space. */
bool gir_vjp_MATMUL(gir_vjp *g)
{
    gir_id a = gir_vjp_in(g, 0), b = gir_vjp_in(g, 1), c = g->ct;
    bool ta = gir_vjp_attr(g)->i[0], tb = gir_vjp_attr(g)->i[1];
    if (gir_vjp_needs(g, 0))
        g->ct_in[0] = ta ? gir_matmul(g->p, b, c, tb, true) : gir_matmul(g->p, c, b, false, !tb);
    if (gir_vjp_needs(g, 1))
        g->ct_in[1] = tb ? gir_matmul(g->p, c, a, true, ta) : gir_matmul(g->p, a, c, !ta, false);
    return true;
}
