/* Evaluator: graphs, as sorted edge lists.  An implementation of its own, independent of the runtime's. */
#include "ir/eval_impl.h"

#include <string.h>

/* Edges in the user's order to a graph; from[k] (may be NULL) goes along. */
static gir_coo *sort_edges(gn_arena *a, int64_t n_src, int64_t n_dst, int64_t n, const int64_t *src, const int64_t *dst,
                           const int64_t *from)
{
    gir_coo *g = GN_NEW(a, gir_coo);
    *g = (gir_coo){.n_src = n_src, .n_dst = n_dst, .n_edge = n};
    g->src = GN_NEW_N(a, int64_t, n);
    g->dst = GN_NEW_N(a, int64_t, n);
    g->pos = GN_NEW_N(a, int64_t, n);
    if (from) g->from = GN_NEW_N(a, int64_t, n);
    int64_t *next = GN_NEW_N(a, int64_t, n_dst + 1);
    for (int64_t k = 0; k < n; k++) next[dst[k] + 1]++;
    for (int64_t v = 0; v < n_dst; v++) next[v + 1] += next[v];
    for (int64_t k = 0; k < n; k++) {
        int64_t at = next[dst[k]]++;
        g->src[at] = src[k];
        g->dst[at] = dst[k];
        g->pos[at] = k;
        if (from) g->from[at] = from[k];
    }
    return g;
}

gir_coo *gir_coo_new(gn_arena *a, int64_t n_src, int64_t n_dst, int64_t n_edge, const int64_t *src, const int64_t *dst)
{
    return sort_edges(a, n_src, n_dst, n_edge, src, dst, NULL);
}

/* An edge list in the user's order, being made. */
typedef struct edge_list {
    int64_t n, *src, *dst, *from;
} edge_list;

static edge_list list_new(gn_arena *a, int64_t capacity)
{
    return (edge_list){0, GN_NEW_N(a, int64_t, capacity), GN_NEW_N(a, int64_t, capacity),
                       GN_NEW_N(a, int64_t, capacity)};
}

static void list_add(edge_list *l, int64_t src, int64_t dst, int64_t from)
{
    l->src[l->n] = src;
    l->dst[l->n] = dst;
    l->from[l->n++] = from;
}

/* The parent's edges in the user's order. */
static int64_t *user_order(gn_arena *a, const gir_coo *g)
{
    int64_t *order = GN_NEW_N(a, int64_t, g->n_edge);
    for (int64_t e = 0; e < g->n_edge; e++) order[g->pos[e]] = e;
    return order;
}

/* The parent's list without loops where `drop`, then a loop at every node where `add`.  A loop that was dropped gives its place to the
 * new one at its node: the last does where there are several. */
static gn_status *with_loops(gir_eval_t *e, bool drop, bool add)
{
    const gir_coo *g = gir_arg(e, 0)->graph;
    const int64_t *order = user_order(e->arena, g);
    edge_list l = list_new(e->arena, g->n_edge + g->n_dst);
    int64_t *dropped = GN_NEW_N(e->arena, int64_t, g->n_dst);
    memset(dropped, -1, (size_t)g->n_dst * sizeof *dropped);
    for (int64_t k = 0; k < g->n_edge; k++) {
        int64_t at = order[k];
        if (drop && g->src[at] == g->dst[at])
            dropped[g->dst[at]] = at;
        else
            list_add(&l, g->src[at], g->dst[at], at);
    }
    for (int64_t v = 0; add && v < g->n_dst; v++) list_add(&l, v, v, dropped[v]);
    e->out->graph = sort_edges(e->arena, g->n_src, g->n_dst, l.n, l.src, l.dst, l.from);
    return NULL;
}

gn_status *gir_eval_SELF_LOOPS(gir_eval_t *e) { return with_loops(e, false, true); }
gn_status *gir_eval_REMOVE_LOOPS(gir_eval_t *e) { return with_loops(e, true, false); }
gn_status *gir_eval_REMAINING_LOOPS(gir_eval_t *e) { return with_loops(e, true, true); }

gn_status *gir_eval_REVERSE(gir_eval_t *e)
{
    const gir_coo *g = gir_arg(e, 0)->graph;
    const int64_t *order = user_order(e->arena, g);
    edge_list l = list_new(e->arena, g->n_edge);
    for (int64_t k = 0; k < g->n_edge; k++) list_add(&l, g->dst[order[k]], g->src[order[k]], order[k]);
    e->out->graph = sort_edges(e->arena, g->n_dst, g->n_src, l.n, l.src, l.dst, l.from);
    return NULL;
}

gn_status *gir_eval_PATTERN(gir_eval_t *e)
{
    const gir_value *x = gir_arg(e, 0);
    edge_list l = list_new(e->arena, gir_count(x));
    for (int64_t i = 0; i < gir_count(x); i++)
        if (x->v[i] != 0) list_add(&l, i % x->cols, i / x->cols, -1);
    e->out->graph = sort_edges(e->arena, x->cols, x->rows, l.n, l.src, l.dst, NULL);
    return NULL;
}
