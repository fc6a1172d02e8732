/* Graphs of the edges that another has not. */
#include "runtime/graph/graph_internal.h"
#include "runtime/graph/pair_map.h"

static int64_t get(const gn_graph *g, gn_graph_array k, int64_t i)
{
    return gn_index_get(g->array[k], g->index, i);
}
static void set(gn_graph *g, gn_graph_array k, int64_t i, int64_t v)
{
    gn_index_set(g->array[k], g->index, i, v);
}

static void add_edges(const gn_pair_map *z, const gn_graph *h, bool either)
{
    for (int64_t i = 0; i < gn_graph_n_rows(h); i++) {
        int64_t dst = gn_graph_row(h, i);
        for (int64_t e = gn_graph_begin(h, i); e < gn_graph_begin(h, i + 1); e++) {
            int64_t src = get(h, GN_GRAPH_COL, e);
            gn_pair_add(z, src, dst, 0);
            if (either) gn_pair_add(z, dst, src, 0);
        }
    }
}

/* The edges that are left, how many; in d, where it is given. */
static int64_t put(const gn_pair_map *z, const gn_graph *g, gn_graph *d)
{
    int64_t k = 0;
    for (int64_t i = 0; i < gn_graph_n_rows(g); i++) {
        int64_t v = gn_graph_row(g, i);
        for (int64_t e = gn_graph_begin(g, i); e < gn_graph_begin(g, i + 1); e++) {
            int64_t src = get(g, GN_GRAPH_COL, e);
            if (gn_pair_find(z, src, v)->a >= 0) continue;
            if (d) {
                set(d, GN_GRAPH_COL, k, src);
                set(d, GN_GRAPH_POS, k, get(g, GN_GRAPH_POS, e));
                set(d, GN_GRAPH_FROM, k, e);
            }
            k++;
        }
        if (d && d->listed) gn_index_set(d->listed, d->index, i, v);
        if (d)
            gn_index_set(d->listed ? d->listed_ptr : d->array[GN_GRAPH_ROW_PTR], d->index, i + 1,
                         k);
    }
    return k;
}

gn_status *gn_graph_without(const gn_graph *g, const gn_graph *h, bool either, gn_graph **out)
{
    gn_pair_map z;
    int64_t pairs;
    *out = NULL;
    if (g->n_src != h->n_src || g->n_dst != h->n_dst || (either && g->n_src != g->n_dst))
        GN_FAIL(GN_ERR_DATA, "without: %lld to %lld rows, and the other graph has %lld to %lld",
                (long long)g->n_src, (long long)g->n_dst, (long long)h->n_src, (long long)h->n_dst);
    if (__builtin_mul_overflow(h->n_edge, 2, &pairs)) pairs = INT64_MAX;
    GN_TRY(gn_pair_map_new(pairs, &z));
    add_edges(&z, h, either);
    int64_t left = put(&z, g, NULL);
    gn_status *s = g->listed ? gn_graph_listed_blank(g, g->n_listed, left, out)
                             : gn_graph_derived_blank(g, g->n_src, g->n_dst, left, out);
    if (!s) (void)put(&z, g, *out);
    gn_pair_map_free(&z);
    return s;
}
