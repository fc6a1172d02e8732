/* Evaluator: values made from the positions of their elements, in the user's order. */
#include "base/draw.h"
#include "ir/eval_impl.h"

#include <math.h>

/* Which row of the user's is this one? */
static int64_t user_row(const gir_eval_t *e, int64_t row)
{
    const gir_space *s = &e->p->spaces.p[gir_node_at_hand(e)->type.space];
    if (s->graph == 0) return row;
    const gir_coo *g = e->values[s->graph].graph;
    if (gir_at(e->p, s->graph)->op == GIR_GROUP) return row;
    return s->kind == GIR_EDGE ? g->pos[row] : g->src[row];
}

gn_status *gir_eval_IOTA(gir_eval_t *e)
{
    const gir_node *n = gir_node_at_hand(e);
    gn_elem elem = (gn_elem)n->type.elem;
    bool rounds = e->env->precision == GIR_EVAL_ELEM || !gn_elem_is_float(elem);
    int64_t axis = n->attr.i[0], inner = 1;
    for (int k = n->type.rank - 1; k > axis; k--) inner *= n->type.dim[k];
    for (int64_t r = 0; r < e->out->rows; r++)
        for (int64_t c = 0; c < e->out->cols; c++) {
            int64_t index = axis < 0 ? user_row(e, r) : c / inner % n->type.dim[axis];
            double v = (double)index, off = fabs(gir_round(elem, v) - v);
            e->out->v[r * e->out->cols + c] = v; /* rounded later where that is asked for */
            if (e->out->err) e->out->err[r * e->out->cols + c] = rounds ? 0 : off;
        }
    return NULL;
}

gn_status *gir_eval_RANDOM(gir_eval_t *e)
{
    uint64_t key = (uint64_t)gir_to_i64(gir_arg(e, 0)->v[0]);
    uint32_t site = (uint32_t)gir_node_at_hand(e)->attr.i[0];
    for (int64_t r = 0; r < e->out->rows; r++)
        for (int64_t c = 0; c < e->out->cols; c++) {
            uint64_t i = (uint64_t)(user_row(e, r) * e->out->cols + c);
            e->out->v[r * e->out->cols + c] = (double)gn_draw_uniform(key, site, i);
            if (e->out->err) e->out->err[r * e->out->cols + c] = gir_err(gir_arg(e, 0), 0) > 0;
        }
    return NULL;
}
