/* Evaluator: views, as maps from elements of the result to elements of the operand. */
#include "ir/eval_impl.h"

void gir_move(gir_eval_t *e, gir_id x, const int64_t *from)
{
    const gir_value *a = &e->values[x];
    int64_t n = gir_count(e->out);
    for (int64_t i = 0; i < n; i++) {
        e->out->v[i] = from[i] < 0 ? 0 : a->v[from[i]];
        if (e->out->err) e->out->err[i] = from[i] < 0 ? 0 : gir_err(a, from[i]);
    }
    gir_extremum *to = &e->extremum[e->v], *of = &e->extremum[x];
    if (!of->reduction) return;
    to->reduction = of->reduction;
    to->at = GN_NEW_N(e->arena, int64_t, n);
    for (int64_t i = 0; i < n; i++) to->at[i] = from[i] < 0 ? -1 : of->at[from[i]];
}

/* Moves by strides: result axis k steps through the operand's row by stride[k]. */
static void move_strided(gir_eval_t *e, const int64_t *stride, int64_t row_stride)
{
    const gir_type *t = &gir_node_at_hand(e)->type;
    int64_t *from = GN_NEW_N(e->arena, int64_t, gir_count(e->out));
    for (int64_t r = 0; r < e->out->rows; r++)
        for (int64_t c = 0; c < e->out->cols; c++) {
            int64_t rest = c, at = r * row_stride;
            for (int k = t->rank - 1; k >= 0; k--) {
                at += rest % t->dim[k] * stride[k];
                rest /= t->dim[k];
            }
            from[r * e->out->cols + c] = at;
        }
    gir_move(e, gir_in(e->p, e->v, 0), from);
}

/* Row-major strides of a row. */
static void strides(const gir_type *t, int64_t *stride)
{
    int64_t n = 1;
    for (int k = t->rank - 1; k >= 0; k--) {
        stride[k] = n;
        n *= t->dim[k];
    }
}

gn_status *gir_eval_BROADCAST(gir_eval_t *e)
{
    const gir_type *t = &gir_node_at_hand(e)->type, *a = gir_type_of(e->p, gir_in(e->p, e->v, 0));
    int64_t of[GIR_MAX_RANK], stride[GIR_MAX_RANK] = {0};
    strides(a, of);
    for (int k = 0; k < a->rank; k++) stride[t->rank - a->rank + k] = a->dim[k] == 1 ? 0 : of[k];
    move_strided(e, stride, a->space ? gir_row_elems(a) : 0);
    return NULL;
}

gn_status *gir_eval_TRANSPOSE(gir_eval_t *e)
{
    const gir_node *n = gir_node_at_hand(e);
    int64_t of[GIR_MAX_RANK], stride[GIR_MAX_RANK] = {0};
    strides(gir_type_of(e->p, gir_in(e->p, e->v, 0)), of);
    for (int k = 0; k < n->type.rank; k++) stride[k] = of[n->attr.i[0] >> 4 * k & 15];
    move_strided(e, stride, e->out->cols);
    return NULL;
}

/* The elements stay where they are, row-major. */
static gn_status *unmoved(gir_eval_t *e)
{
    int64_t *from = GN_NEW_N(e->arena, int64_t, gir_count(e->out));
    for (int64_t i = 0; i < gir_count(e->out); i++) from[i] = i;
    gir_move(e, gir_in(e->p, e->v, 0), from);
    return NULL;
}

gn_status *gir_eval_RESHAPE(gir_eval_t *e) { return unmoved(e); }
gn_status *gir_eval_TO_ROWS(gir_eval_t *e) { return unmoved(e); }
gn_status *gir_eval_FROM_ROWS(gir_eval_t *e) { return unmoved(e); }

/* A row as outer x axis x inner. */
typedef struct split {
    int64_t outer, axis, inner;
} split;

static split split_at(const gir_type *t, int64_t axis)
{
    split s = {1, t->dim[axis], 1};
    for (int k = 0; k < axis; k++) s.outer *= t->dim[k];
    for (int64_t k = axis + 1; k < t->rank; k++) s.inner *= t->dim[k];
    return s;
}

/* Result index j along the axis is operand index j + shift, 0 where that is outside. */
static gn_status *shifted(gir_eval_t *e, int64_t shift)
{
    const gir_node *n = gir_node_at_hand(e);
    split to = split_at(&n->type, n->attr.i[0]),
          of = split_at(gir_type_of(e->p, gir_in(e->p, e->v, 0)), n->attr.i[0]);
    int64_t *from = GN_NEW_N(e->arena, int64_t, gir_count(e->out)), k = 0;
    for (int64_t o = 0; o < e->out->rows * to.outer; o++)
        for (int64_t j = 0; j < to.axis; j++)
            for (int64_t i = 0; i < to.inner; i++) {
                int64_t at = j + shift;
                from[k++] = at < 0 || at >= of.axis ? -1 : (o * of.axis + at) * of.inner + i;
            }
    gir_move(e, gir_in(e->p, e->v, 0), from);
    return NULL;
}

gn_status *gir_eval_SLICE(gir_eval_t *e) { return shifted(e, gir_node_at_hand(e)->attr.i[1]); }
gn_status *gir_eval_PAD(gir_eval_t *e) { return shifted(e, -gir_node_at_hand(e)->attr.i[1]); }

gn_status *gir_eval_CONCAT(gir_eval_t *e)
{
    const gir_node *n = gir_node_at_hand(e);
    split to = split_at(&n->type, n->attr.i[0]);
    int64_t before = 0;
    for (int a = 0; a < n->n_in; a++) {
        const gir_value *x = gir_arg(e, a);
        split of = split_at(gir_type_of(e->p, gir_in(e->p, e->v, a)), n->attr.i[0]);
        for (int64_t o = 0; o < e->out->rows * to.outer; o++)
            for (int64_t k = 0; k < of.axis * of.inner; k++) {
                int64_t at = (o * to.axis + before) * to.inner + k;
                e->out->v[at] = x->v[o * of.axis * of.inner + k];
                if (e->out->err) e->out->err[at] = gir_err(x, o * of.axis * of.inner + k);
            }
        before += of.axis;
    }
    return NULL;
}
