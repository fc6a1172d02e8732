/* Evaluator: between edges and the nodes at their ends, and between the edges of a graph and of one
 * derived from it. */
#include "ir/eval_impl.h"

#include <math.h>
#include <string.h>

static const int64_t *ends(const gir_coo *g, int64_t end)
{
    return end == GIR_SRC ? g->src : g->dst;
}

gn_status *gir_eval_GATHER(gir_eval_t *e)
{
    const int64_t *end = ends(gir_arg(e, 0)->graph, gir_node_at_hand(e)->attr.i[0]);
    int64_t cols = e->out->cols, *from = GN_NEW_N(e->arena, int64_t, gir_count(e->out));
    for (int64_t i = 0; i < gir_count(e->out); i++) from[i] = end[i / cols] * cols + i % cols;
    gir_move(e, gir_in(e->p, e->v, 1), from);
    return NULL;
}

gn_status *gir_eval_SCATTER(gir_eval_t *e)
{
    const gir_attr *attr = &gir_node_at_hand(e)->attr;
    const int64_t *end = ends(gir_arg(e, 0)->graph, attr->i[0]);
    const gir_value *x = gir_arg(e, 1);
    int64_t *to = GN_NEW_N(e->arena, int64_t, gir_count(x));
    for (int64_t i = 0; i < gir_count(x); i++) to[i] = end[i / x->cols] * x->cols + i % x->cols;
    gir_reduce_by(e, gir_in(e->p, e->v, 1), to, (int)attr->i[1]);
    return NULL;
}

static void copy_row(gir_eval_t *e, int64_t row, const gir_value *x, int64_t from)
{
    for (int64_t c = 0; c < x->cols; c++) {
        e->out->v[row * x->cols + c] = x->v[from * x->cols + c];
        if (e->out->err) e->out->err[row * x->cols + c] = gir_err(x, from * x->cols + c);
    }
}

gn_status *gir_eval_CARRY(gir_eval_t *e)
{
    const gir_coo *derived = gir_arg(e, 0)->graph;
    for (int64_t k = 0; k < derived->n_edge; k++) {
        int64_t from = derived->from[k];
        copy_row(e, k, gir_arg(e, from < 0 ? 3 : 2), from < 0 ? derived->dst[k] : from);
    }
    return NULL;
}

gn_status *gir_eval_UNCARRY(gir_eval_t *e)
{
    const gir_coo *derived = gir_arg(e, 1)->graph;
    if (gir_at(e->p, gir_in(e->p, e->v, 1))->op == GIR_CORRUPT) { /* several images */
        int64_t cols = e->out->cols, *to = GN_NEW_N(e->arena, int64_t, derived->n_edge *cols);
        for (int64_t i = 0; i < derived->n_edge * cols; i++)
            to[i] = derived->from[i / cols] * cols + i % cols;
        gir_reduce_by(e, gir_in(e->p, e->v, 2), to, GIR_SUM);
        return NULL;
    }
    for (int64_t k = 0; k < derived->n_edge; k++)
        if (derived->from[k] >= 0) copy_row(e, derived->from[k], gir_arg(e, 2), k);
    return NULL;
}

gn_status *gir_eval_TAKE(gir_eval_t *e)
{
    const gir_coo *pick = gir_arg(e, 0)->graph;
    int64_t cols = e->out->cols, *from = GN_NEW_N(e->arena, int64_t, gir_count(e->out));
    for (int64_t k = 0; k < pick->n_edge; k++)
        for (int64_t c = 0; c < cols; c++) from[pick->dst[k] * cols + c] = pick->src[k] * cols + c;
    gir_move(e, gir_in(e->p, e->v, 1), from);
    return NULL;
}

gn_status *gir_eval_PUT(gir_eval_t *e)
{
    const gir_coo *pick = gir_arg(e, 0)->graph;
    for (int64_t v = 0; v < e->out->rows; v++) copy_row(e, v, gir_arg(e, 1), v);
    for (int64_t k = 0; k < pick->n_edge; k++)
        if (!pick->from || pick->from[k] >= 0)
            copy_row(e, pick->src[k], gir_arg(e, 2), pick->dst[k]);
    return NULL;
}

gn_status *gir_eval_CELL(gir_eval_t *e)
{
    const gir_coo *g = gir_arg(e, 0)->graph;
    int64_t *from = GN_NEW_N(e->arena, int64_t, g->n_edge);
    for (int64_t k = 0; k < g->n_edge; k++) from[k] = g->dst[k] * gir_arg(e, 1)->cols + g->src[k];
    gir_move(e, gir_in(e->p, e->v, 1), from);
    return NULL;
}

gn_status *gir_eval_ROW_VALUE(gir_eval_t *e)
{
    gir_id g = gir_in(e->p, e->v, 0), x = gir_in(e->p, g, 0);
    const gir_coo *edges = gir_arg(e, 0)->graph;
    int64_t *from = GN_NEW_N(e->arena, int64_t, gir_count(e->out));
    for (int64_t v = 0; v < gir_count(e->out); v++) from[v] = -1;
    for (int64_t k = edges->n_edge - 1; k >= 0; k--)
        from[edges->dst[k]] = edges->dst[k] * e->values[x].cols + edges->src[k];
    gir_move(e, x, from);
    return NULL;
}

/* Rows of the same group, nearest first; what is no number is no distance. */
gn_status *gir_eval_NEAREST(gir_eval_t *e)
{
    const gir_value *x = gir_arg(e, 0), *g = gir_node_at_hand(e)->n_in > 1 ? gir_arg(e, 1) : NULL;
    int64_t k = e->out->cols;
    double *best = GN_NEW_N(e->arena, double, k);
    for (int64_t i = 0; i < x->rows; i++) {
        double *row = e->out->v + i * k;
        for (int64_t j = 0; j < k; j++) best[j] = (double)INFINITY, row[j] = -1;
        for (int64_t u = 0; u < x->rows; u++) {
            double d = 0;
            if (g && g->v[i] != g->v[u]) continue;
            for (int64_t c = 0; c < x->cols; c++) {
                double off = x->v[i * x->cols + c] - x->v[u * x->cols + c];
                d += off * off;
            }
            int64_t j = k;
            while (j > 0 && d < best[j - 1]) j--;
            for (int64_t m = k - 1; m > j; m--) best[m] = best[m - 1], row[m] = row[m - 1];
            if (j < k) best[j] = d, row[j] = (double)u;
        }
    }
    return NULL;
}

gn_status *gir_eval_ROWS_AT(gir_eval_t *e)
{
    const gir_value *i = gir_arg(e, 0);
    int64_t width = e->out->cols / i->cols, *from = GN_NEW_N(e->arena, int64_t, gir_count(e->out));
    for (int64_t n = 0; n < gir_count(e->out); n++) {
        double row = i->v[n / width];
        from[n] = row < 0 ? -1 : (int64_t)row * width + n % width;
    }
    gir_move(e, gir_in(e->p, e->v, 1), from);
    return NULL;
}

gn_status *gir_eval_SUM_AT(gir_eval_t *e)
{
    const gir_value *i = gir_arg(e, 0), *y = gir_arg(e, 1);
    int64_t width = e->out->cols, *to = GN_NEW_N(e->arena, int64_t, gir_count(y));
    for (int64_t n = 0; n < gir_count(y); n++) {
        double row = i->v[n / width];
        to[n] = row < 0 ? -1 : (int64_t)row * width + n % width;
    }
    gir_reduce_by(e, gir_in(e->p, e->v, 1), to, GIR_SUM);
    return NULL;
}
