/* Evaluator: rows in order. */
#include "ir/eval_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* < 0, 0, > 0; NaN is above all, and no two are told apart. */
static int compare(double a, double b)
{
    if (isnan(a) || isnan(b)) return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

gn_status *gir_eval_RANK(gir_eval_t *e)
{
    bool grouped = gir_node_at_hand(e)->n_in > 1;
    const gir_value *x = gir_arg(e, grouped);
    const int64_t *group = grouped ? gir_arg(e, 0)->graph->dst : NULL;
    for (int64_t i = 0; i < gir_count(x); i++) {
        int64_t row = i / x->cols, below = 0;
        for (int64_t u = 0; u < x->rows; u++) {
            if (group && group[u] != group[row]) continue;
            int c = compare(x->v[u * x->cols + i % x->cols], x->v[i]);
            below += c < 0 || (c == 0 && u < row);
        }
        e->out->v[i] = (double)below;
    }
    return NULL;
}

static int compare_numbers(const void *a, const void *b)
{
    return compare(*(const double *)a, *(const double *)b);
}

/* Of each row of out: what comes along its edges, in order; *n by row. */
static double **sorted_edges(gir_eval_t *e, int64_t *n)
{
    const gir_coo *g = gir_arg(e, 2)->graph;
    double **list = GN_NEW_N(e->arena, double *, e->out->rows);
    for (int64_t k = 0; k < g->n_edge; k++) n[g->dst[k]]++;
    for (int64_t v = 0; v < e->out->rows; v++) {
        list[v] = GN_NEW_N(e->arena, double, n[v]);
        n[v] = 0;
    }
    for (int64_t k = 0; k < g->n_edge; k++) list[g->dst[k]][n[g->dst[k]]++] = gir_arg(e, 3)->v[k];
    for (int64_t v = 0; v < e->out->rows; v++)
        qsort(list[v], (size_t)n[v], sizeof *list[v], compare_numbers);
    return list;
}

gn_status *gir_eval_DISTINCT(gir_eval_t *e)
{
    const gir_value *x = gir_arg(e, 0), *o = gir_arg(e, 1);
    int64_t rows = e->out->rows, *edges = GN_NEW_N(e->arena, int64_t, rows), found = 0;
    double **list = gir_node_at_hand(e)->n_in > 2 ? sorted_edges(e, edges) : NULL;
    bool *done = GN_NEW_N(e->arena, bool, rows);
    for (;;) { /* the first of those that have no number yet, and all that equal it */
        int64_t first = -1;
        for (int64_t v = 0; v < rows; v++)
            if (!done[v] && (first < 0 || o->v[v] < o->v[first])) first = v;
        if (first < 0) return NULL;
        for (int64_t v = 0; v < rows; v++) {
            bool same = edges[v] == edges[first];
            for (int64_t c = 0; c < x->cols && same; c++)
                same = !compare(x->v[v * x->cols + c], x->v[first * x->cols + c]);
            for (int64_t k = 0; list && k < edges[v] && same; k++)
                same = !compare(list[v][k], list[first][k]);
            if (!same || done[v]) continue;
            done[v] = true;
            e->out->v[v] = (double)found;
        }
        found++;
    }
}
