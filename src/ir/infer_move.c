/* Inference: views, reductions, edges, matrix products. */
#include "base/draw.h"
#include "ir/infer.h"

static bool wanted(gir_rule *r)
{
    if (r->want && !r->want->is_graph) return true;
    return gir_misfit(r, "needs a tensor type");
}

static bool number(gir_rule *r, int k)
{
    if (gir_rule_in(r, k)->elem != GN_BOOL) return true;
    return gir_misfit(r, "operand %d is bool, not a number", k + 1);
}

static bool within(gir_rule *r, const char *what, int64_t value, int64_t limit)
{
    if (value >= 0 && value < limit) return true;
    return gir_misfit(r, "%s is %lld, out of 0..%lld", what, (long long)value,
                      (long long)limit - 1);
}

/* Same element type and space as the operand. */
static bool same_rows(gir_rule *r)
{
    const gir_type *a = gir_rule_in(r, 0), *w = r->want;
    if (a->elem == w->elem && a->space == w->space) return true;
    return gir_misfit(r, "%s cannot become %s", gir_rule_text(r, 0), gir_type_text(r->p, w));
}

/* views ---------------------------------------------------------------------------------------- */

bool gir_infer_BROADCAST(gir_rule *r)
{
    if (!wanted(r)) return false;
    const gir_type *a = gir_rule_in(r, 0), *w = r->want;
    bool fits = a->elem == w->elem && (a->space == 0 || a->space == w->space) && a->rank <= w->rank;
    for (int k = 1; fits && k <= a->rank; k++) {
        int64_t d = a->dim[a->rank - k];
        fits = d == 1 || d == w->dim[w->rank - k];
    }
    if (!fits)
        return gir_misfit(r, "%s cannot be repeated to %s", gir_rule_text(r, 0),
                          gir_type_text(r->p, w));
    *r->out = *w;
    return true;
}

bool gir_infer_RESHAPE(gir_rule *r)
{
    if (!wanted(r) || !same_rows(r)) return false;
    if (gir_row_elems(gir_rule_in(r, 0)) != gir_row_elems(r->want))
        return gir_misfit(r, "%s has not as many elements as %s", gir_rule_text(r, 0),
                          gir_type_text(r->p, r->want));
    *r->out = *r->want;
    return true;
}

bool gir_infer_TO_ROWS(gir_rule *r)
{
    const gir_type *a = gir_rule_in(r, 0);
    if (!r->want) return gir_misfit(r, "its type must be given");
    *r->out = gir_tensor((gn_elem)a->elem, r->want->space, a->rank - 1, a->dim + 1);
    if (a->space != 0 || a->rank < 1 || r->want->space == 0)
        return gir_misfit(r, "%s cannot become rows", gir_rule_text(r, 0));
    if (r->p->spaces.p[r->want->space].size != a->dim[0])
        return gir_misfit(r, "%s has not as many rows as space %s", gir_rule_text(r, 0),
                          r->p->spaces.p[r->want->space].name);
    return true;
}

bool gir_infer_FROM_ROWS(gir_rule *r)
{
    const gir_type *a = gir_rule_in(r, 0);
    int64_t dim[GIR_MAX_RANK] = {0};
    if (a->space == 0 || r->p->spaces.p[a->space].size < 0)
        return gir_misfit(r, "%s is over no space of known size", gir_rule_text(r, 0));
    if (a->rank == GIR_MAX_RANK)
        return gir_misfit(r, "%s has no room for another axis", gir_rule_text(r, 0));
    dim[0] = r->p->spaces.p[a->space].size;
    for (int k = 0; k < a->rank; k++) dim[k + 1] = a->dim[k];
    *r->out = gir_tensor((gn_elem)a->elem, 0, a->rank + 1, dim);
    return true;
}

bool gir_infer_TRANSPOSE(gir_rule *r)
{
    const gir_type *a = gir_rule_in(r, 0);
    int64_t perm = r->attr->i[0];
    unsigned seen = 0;
    *r->out = *a;
    for (int k = 0; k < a->rank; k++, perm >>= 4) {
        unsigned axis = (unsigned)(perm & 15);
        if (axis >= a->rank || (seen & 1u << axis)) break;
        seen |= 1u << axis;
        r->out->dim[k] = a->dim[axis];
    }
    if (seen + 1 != 1u << a->rank || perm != 0)
        return gir_misfit(r, "perm %#llx is not a permutation of the %d axes of %s",
                          (unsigned long long)r->attr->i[0], a->rank, gir_rule_text(r, 0));
    return true;
}

/* The wanted type differs from the operand's along `axis` only. */
static bool along(gir_rule *r, int64_t axis)
{
    if (!wanted(r) || !within(r, "the axis", axis, gir_rule_in(r, 0)->rank) || !same_rows(r))
        return false;
    gir_type t = *gir_rule_in(r, 0);
    if (t.rank == r->want->rank) t.dim[axis] = r->want->dim[axis];
    *r->out = *r->want;
    if (gir_type_eq(&t, r->want)) return true;
    return gir_misfit(r, "%s and %s differ in more than axis %lld", gir_rule_text(r, 0),
                      gir_type_text(r->p, r->want), (long long)axis);
}

bool gir_infer_SLICE(gir_rule *r)
{
    int64_t axis = r->attr->i[0], start = r->attr->i[1];
    if (!along(r, axis)) return false;
    int64_t have = gir_rule_in(r, 0)->dim[axis], take = r->out->dim[axis];
    if (start >= 0 && take <= have && start <= have - take) return true;
    return gir_misfit(r, "%lld from %lld is past the end of axis %lld, which has %lld",
                      (long long)take, (long long)start, (long long)axis, (long long)have);
}

bool gir_infer_PAD(gir_rule *r)
{
    int64_t axis = r->attr->i[0], before = r->attr->i[1];
    if (!along(r, axis) || !number(r, 0)) return false;
    int64_t have = gir_rule_in(r, 0)->dim[axis], size = r->out->dim[axis];
    if (before >= 0 && have <= size && before <= size - have) return true;
    return gir_misfit(r, "%lld after %lld do not fit in %lld", (long long)have, (long long)before,
                      (long long)size);
}

bool gir_infer_CONCAT(gir_rule *r)
{
    int64_t axis = r->attr->i[0], sum = 0;
    if (!within(r, "the axis", axis, gir_rule_in(r, 0)->rank)) return false;
    *r->out = *gir_rule_in(r, 0);
    for (int k = 0; k < r->n; k++) {
        gir_type t = *gir_rule_in(r, k);
        if (axis < t.rank) sum += t.dim[axis];
        t.dim[axis] = r->out->dim[axis];
        if (!gir_type_eq(&t, r->out))
            return gir_misfit(r, "%s and %s differ in more than axis %lld", gir_rule_text(r, 0),
                              gir_rule_text(r, k), (long long)axis);
    }
    r->out->dim[axis] = sum;
    return true;
}

/* reductions ----------------------------------------------------------------------------------- */

bool gir_infer_REDUCE(gir_rule *r)
{
    const gir_type *a = gir_rule_in(r, 0);
    int64_t axes = r->attr->i[1];
    if (!within(r, "red", r->attr->i[0], 3) || !number(r, 0)) return false;
    if (axes <= 0 || axes >> a->rank != 0)
        return gir_misfit(r, "axes %#llx are not axes of %s", (unsigned long long)axes,
                          gir_rule_text(r, 0));
    *r->out = gir_tensor((gn_elem)a->elem, a->space, 0, NULL);
    for (int k = 0; k < a->rank; k++)
        if (!(axes >> k & 1)) r->out->dim[r->out->rank++] = a->dim[k];
    return true;
}

bool gir_infer_SPACE_REDUCE(gir_rule *r)
{
    if (!within(r, "red", r->attr->i[0], 3) || !number(r, 0)) return false;
    *r->out = *gir_rule_in(r, 0);
    if (r->out->space == 0)
        return gir_misfit(r, "%s has no rows to reduce over", gir_rule_text(r, 0));
    r->out->space = 0;
    return true;
}

/* edges ---------------------------------------------------------------------------------------- */

static bool graph_at(gir_rule *r, int k)
{
    if (gir_rule_in(r, k)->is_graph) return true;
    return gir_misfit(r, "operand %d is %s, a graph is needed", k + 1, gir_rule_text(r, k));
}

static bool rows_of(gir_rule *r, int k, gir_space_id s)
{
    const gir_type *t = gir_rule_in(r, k);
    if (t->is_graph) return gir_misfit(r, "operand %d is a graph, a tensor is needed", k + 1);
    if (t->space == s) return true;
    return gir_misfit(r, "operand %d is %s, a value of every %s is needed", k + 1,
                      gir_rule_text(r, k), r->p->spaces.p[s].name);
}

static gir_space_id end_space(const gir_type *g, int64_t end)
{
    return end == GIR_SRC ? g->src : g->dst;
}

bool gir_infer_GATHER(gir_rule *r)
{
    const gir_type *g = gir_rule_in(r, 0);
    if (!graph_at(r, 0) || !within(r, "end", r->attr->i[0], 2) ||
        !rows_of(r, 1, end_space(g, r->attr->i[0])))
        return false;
    *r->out = *gir_rule_in(r, 1);
    r->out->space = g->edge;
    return true;
}

bool gir_infer_SCATTER(gir_rule *r)
{
    const gir_type *g = gir_rule_in(r, 0);
    if (!graph_at(r, 0) || !within(r, "end", r->attr->i[0], 2) ||
        !within(r, "red", r->attr->i[1], 3) || !rows_of(r, 1, g->edge) || !number(r, 1))
        return false;
    *r->out = *gir_rule_in(r, 1);
    r->out->space = end_space(g, r->attr->i[0]);
    return true;
}

/* Is operand `derived` a graph made from the graph operand `parent`? */
static bool made_from(gir_rule *r, int derived, int parent)
{
    if (!graph_at(r, derived) || !graph_at(r, parent)) return false;
    const gir_node *d = gir_at(r->p, r->in[derived]);
    bool is = d->op == GIR_SELF_LOOPS || d->op == GIR_REMOVE_LOOPS ||
              d->op == GIR_REMAINING_LOOPS || d->op == GIR_REVERSE || d->op == GIR_RESTRICT ||
              d->op == GIR_FILTER || d->op == GIR_DRAW || d->op == GIR_WITHOUT ||
              d->op == GIR_GROUP || gir_draws_edges(d);
    if (is && gir_in(r->p, r->in[derived], 0) == r->in[parent]) return true;
    return gir_misfit(r, "operand %d is not a graph derived from operand %d", derived + 1,
                      parent + 1);
}

bool gir_infer_CARRY(gir_rule *r)
{
    if (!made_from(r, 0, 1) || !rows_of(r, 2, gir_rule_in(r, 1)->edge) ||
        !rows_of(r, 3, gir_rule_in(r, 0)->dst))
        return false;
    gir_type fill = *gir_rule_in(r, 3);
    fill.space = gir_rule_in(r, 2)->space;
    if (!gir_type_eq(&fill, gir_rule_in(r, 2)))
        return gir_misfit(r, "the edges have %s, the new loops %s", gir_rule_text(r, 2),
                          gir_rule_text(r, 3));
    *r->out = fill;
    r->out->space = gir_rule_in(r, 0)->edge;
    return true;
}

bool gir_infer_UNCARRY(gir_rule *r)
{
    if (!made_from(r, 1, 0) || !rows_of(r, 2, gir_rule_in(r, 1)->edge) || !number(r, 2))
        return false;
    const gir_node *d = gir_at(r->p, r->in[1]);
    if (d->op == GIR_DRAW && (d->attr.i[3] == GN_DRAW_REPLACE || gir_is_apart(r->p, r->in[1])))
        return gir_misfit(r, "operand 2 may have an edge of operand 1 several times");
    *r->out = *gir_rule_in(r, 2);
    r->out->space = gir_rule_in(r, 0)->edge;
    return true;
}

bool gir_infer_TAKE(gir_rule *r)
{
    if (!graph_at(r, 0)) return false;
    if (!gir_is_pick(r->p, r->in[0])) return gir_misfit(r, "operand 1 is no pick of rows");
    const gir_type *g = gir_rule_in(r, 0);
    if (!rows_of(r, 1, g->src)) return false;
    *r->out = *gir_rule_in(r, 1);
    r->out->space = g->dst;
    return true;
}

bool gir_infer_PUT(gir_rule *r)
{
    if (!graph_at(r, 0)) return false;
    if (!gir_picks_new(gir_at(r->p, r->in[0])))
        return gir_misfit(r, "operand 1 is no pick of rows, each once");
    const gir_type *g = gir_rule_in(r, 0);
    if (!rows_of(r, 1, g->src) || !rows_of(r, 2, g->dst)) return false;
    gir_type t = *gir_rule_in(r, 2);
    t.space = g->src;
    *r->out = *gir_rule_in(r, 1);
    if (gir_type_eq(&t, r->out)) return true;
    return gir_misfit(r, "%s cannot be rows of %s", gir_rule_text(r, 2), gir_rule_text(r, 1));
}

bool gir_infer_CELL(gir_rule *r)
{
    const gir_type *g = gir_rule_in(r, 0), *v = gir_rule_in(r, 1);
    if (!graph_at(r, 0) || !rows_of(r, 1, g->dst)) return false;
    const gir_space *src = &r->p->spaces.p[g->src];
    if (src->kind != GIR_FEATURE)
        return gir_misfit(r, "the graph does not come from features but from %s", src->name);
    if (v->rank != 1 || v->dim[0] != src->size)
        return gir_misfit(r, "%s has not the %lld features of the graph", gir_rule_text(r, 1),
                          (long long)src->size);
    *r->out = gir_tensor((gn_elem)v->elem, g->edge, 0, NULL);
    return true;
}

bool gir_infer_ROW_VALUE(gir_rule *r)
{
    if (!graph_at(r, 0)) return false;
    const gir_node *g = gir_at(r->p, r->in[0]);
    if (g->op != GIR_PATTERN) return gir_misfit(r, "the graph is not the pattern of a tensor");
    *r->out = gir_tensor((gn_elem)gir_type_of(r->p, gir_in(r->p, r->in[0], 0))->elem, g->type.dst,
                         0, NULL);
    return true;
}

/* dense ---------------------------------------------------------------------------------------- */

static bool no_product(gir_rule *r)
{
    return gir_misfit(r, "%s%s and %s%s do not multiply", gir_rule_text(r, 0),
                      r->attr->i[0] ? "^T" : "", gir_rule_text(r, 1), r->attr->i[1] ? "^T" : "");
}

bool gir_infer_MATMUL(gir_rule *r)
{
    const gir_type *a = gir_rule_in(r, 0), *b = gir_rule_in(r, 1);
    int64_t ta = r->attr->i[0], tb = r->attr->i[1];
    if (!within(r, "ta", ta, 2) || !within(r, "tb", tb, 2)) return false;
    if (!gn_elem_is_float((gn_elem)a->elem) || a->elem != b->elem) return no_product(r);
    int64_t dim[2];
    if (a->space && a->space == b->space) { /* S[k]^T @ S[n] */
        if (a->rank != 1 || b->rank != 1 || ta != 1 || tb != 0) return no_product(r);
        dim[0] = a->dim[0];
        dim[1] = b->dim[0];
        *r->out = gir_tensor((gn_elem)a->elem, 0, 2, dim);
        return true;
    }
    if (b->space || b->rank != 2 || a->rank != (a->space ? 1 : 2) || (a->space && ta))
        return no_product(r);
    int64_t inner_a = a->space ? a->dim[0] : a->dim[ta ? 0 : 1], inner_b = b->dim[tb ? 1 : 0];
    if (inner_a != inner_b) return no_product(r);
    dim[0] = a->dim[ta ? 1 : 0];
    dim[1] = b->dim[tb ? 0 : 1];
    *r->out = a->space ? gir_tensor((gn_elem)a->elem, a->space, 1, &dim[1])
                       : gir_tensor((gn_elem)a->elem, 0, 2, dim);
    return true;
}

/* rows by numbers ------------------------------------------------------------------------------ */

bool gir_infer_NEAREST(gir_rule *r)
{
    const gir_type *x = gir_rule_in(r, 0);
    int64_t k = r->attr->i[0];
    if (r->n > 2) return gir_misfit(r, "%d operands, takes 1 or 2", r->n);
    bool floats = !x->is_graph && gn_elem_is_float((gn_elem)x->elem);
    if (!floats || !x->space || x->rank != 1)
        return gir_misfit(r, "distances are of floats [d] a row, not of %s", gir_rule_text(r, 0));
    if (k < 1 || k > GIR_MOST_NEAREST)
        return gir_misfit(r, "k is between 1 and %d, not %lld", (int)GIR_MOST_NEAREST,
                          (long long)k);
    if (r->n == 2) {
        const gir_type *g = gir_rule_in(r, 1);
        bool whole = !gn_elem_is_float((gn_elem)g->elem) && g->elem != GN_BOOL;
        if (g->is_graph || g->space != x->space || g->rank || !whole)
            return gir_misfit(r, "groups are one integer a row, not %s", gir_rule_text(r, 1));
    }
    *r->out = gir_tensor(GN_I32, x->space, 1, &k);
    return true;
}

/* Is operand k a tensor of numbers, of rows? */
static bool comparable(gir_rule *r, int k)
{
    const gir_type *x = gir_rule_in(r, k);
    if (!x->is_graph && x->space && x->elem != GN_BOOL) return true;
    return gir_misfit(r, "what is put in order are numbers of rows, not %s", gir_rule_text(r, k));
}

bool gir_infer_RANK(gir_rule *r)
{
    if (r->n > 2) return gir_misfit(r, "%d operands, takes 1 or 2", r->n);
    int x = r->n - 1;
    if (x && !graph_at(r, 0)) return false;
    if (!comparable(r, x) || (x && !rows_of(r, 1, gir_rule_in(r, 0)->edge))) return false;
    *r->out = *gir_rule_in(r, x);
    r->out->elem = GN_I32;
    return true;
}

bool gir_infer_DISTINCT(gir_rule *r)
{
    if (r->n != 2 && r->n != 4) return gir_misfit(r, "%d operands, takes 2 or 4", r->n);
    if (!comparable(r, 0)) return false;
    gir_space_id s = gir_rule_in(r, 0)->space;
    const gir_type *o = gir_rule_in(r, 1);
    if (!rows_of(r, 1, s)) return false;
    if (gn_elem_is_float((gn_elem)o->elem) || o->elem == GN_BOOL || o->rank)
        return gir_misfit(r, "the order is one integer a row, not %s", gir_rule_text(r, 1));
    if (r->n == 4) {
        if (!graph_at(r, 2) || !comparable(r, 3) || !rows_of(r, 3, gir_rule_in(r, 2)->edge))
            return false;
        if (gir_rule_in(r, 2)->dst != s)
            return gir_misfit(r, "the edges of %s end at other rows", gir_rule_text(r, 2));
        if (gir_rule_in(r, 3)->rank)
            return gir_misfit(r, "one number an edge is compared, not %s", gir_rule_text(r, 3));
    }
    *r->out = gir_tensor(GN_I32, s, 0, NULL);
    return true;
}

static bool numbers_of(gir_rule *r, gir_space_id *s, int64_t *k)
{
    if (gir_at(r->p, r->in[0])->op != GIR_NEAREST)
        return gir_misfit(r, "operand 1 is no nearest: other numbers may be of no row");
    *s = gir_rule_in(r, 0)->space;
    *k = gir_rule_in(r, 0)->dim[0];
    return true;
}

bool gir_infer_ROWS_AT(gir_rule *r)
{
    gir_space_id s;
    int64_t k;
    if (!numbers_of(r, &s, &k) || !rows_of(r, 1, s)) return false;
    const gir_type *x = gir_rule_in(r, 1);
    if (x->rank == GIR_MAX_RANK) return gir_misfit(r, "too many axes: %s", gir_rule_text(r, 1));
    *r->out = *x;
    r->out->rank++;
    r->out->dim[0] = k;
    for (int d = 0; d < x->rank; d++) r->out->dim[d + 1] = x->dim[d];
    return true;
}

bool gir_infer_SUM_AT(gir_rule *r)
{
    gir_space_id s;
    int64_t k;
    if (!numbers_of(r, &s, &k) || !rows_of(r, 1, s) || !number(r, 1)) return false;
    const gir_type *y = gir_rule_in(r, 1);
    if (!gn_elem_is_float((gn_elem)y->elem) || !y->rank || y->dim[0] != k)
        return gir_misfit(r, "%s has not %lld parts of floats a row", gir_rule_text(r, 1),
                          (long long)k);
    *r->out = gir_tensor((gn_elem)y->elem, s, y->rank - 1, y->dim + 1);
    return true;
}
