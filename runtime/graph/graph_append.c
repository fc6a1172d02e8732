/* append: a graph with more edges, and rows, than another one: what was sorted stays so. */
#include "runtime/graph/graph_internal.h"

#include <string.h>

typedef struct merger {
    const gn_graph *g, *more;
    gn_graph *to;
} merger;

/* n edges of g, from number `from` on, lie behind `before` of the others. */
static void copy_edges(const merger *z, int64_t from, int64_t n, int64_t before)
{
    static const gn_graph_array arrays[] = {GN_GRAPH_COL, GN_GRAPH_POS};
    gn_elem index = z->g->index, wide = z->to->index;
    for (int k = 0; k < 2; k++) {
        const char *p = z->g->array[arrays[k]];
        char *to = z->to->array[arrays[k]];
        size_t size = gn_elem_size(index);
        if (index == wide)
            memcpy(to + (size_t)(from + before) * size, p + (size_t)from * size, (size_t)n * size);
        for (int64_t e = from; index != wide && e < from + n; e++)
            gn_index_set(to, wide, e + before, gn_index_get(p, index, e));
    }
}

/* Edges [from, end) of the others, behind `before` of g's; their places are behind all of those. */
static void add_edges(const merger *z, int64_t from, int64_t end, int64_t before)
{
    gn_elem index = z->to->index;
    for (int64_t e = from; e < end; e++) {
        int64_t col = gn_index_get(z->more->array[GN_GRAPH_COL], index, e),
                pos = gn_index_get(z->more->array[GN_GRAPH_POS], index, e);
        gn_index_set(z->to->array[GN_GRAPH_COL], index, e + before, col);
        gn_index_set(z->to->array[GN_GRAPH_POS], index, e + before, pos + z->g->n_edge);
    }
}

/* A row has its edges of g, then those of the others; what lies between two rows that have some of
 * these is copied at once. */
static void merge(const merger *z)
{
    const gn_graph *g = z->g;
    int64_t begin = 0, copied = 0, had = 0;
    for (int64_t v = 0; v < z->to->n_dst; v++) {
        int64_t end = v < g->n_dst ? gn_index_get(g->array[GN_GRAPH_ROW_PTR], g->index, v + 1)
                                   : g->n_edge,
                has = gn_index_get(z->more->array[GN_GRAPH_ROW_PTR], z->to->index, v + 1);
        gn_index_set(z->to->array[GN_GRAPH_ROW_PTR], z->to->index, v, begin + had);
        if (has > had) {
            copy_edges(z, copied, end - copied, had);
            add_edges(z, had, has, end);
            copied = end;
        }
        begin = end;
        had = has;
    }
    copy_edges(z, copied, g->n_edge - copied, had);
    gn_index_set(z->to->array[GN_GRAPH_ROW_PTR], z->to->index, z->to->n_dst, z->to->n_edge);
}

gn_status *gn_graph_append(const gn_graph *g, const gn_more *more, gn_graph **out)
{
    int64_t n_src, n_dst, n_edge;
    gn_graph *list;
    *out = NULL;
    if (g->derived || g->array[GN_GRAPH_VALUE])
        GN_FAIL(GN_ERR_INTERNAL, "edges are appended to what a caller has made of edges alone");
    if (more->src_rows < 0 || more->dst_rows < 0 || more->n < 0)
        GN_FAIL(GN_ERR_USAGE, "%lld edges and %lld and %lld rows more", (long long)more->n,
                (long long)more->src_rows, (long long)more->dst_rows);
    if (__builtin_add_overflow(g->n_src, more->src_rows, &n_src) ||
        __builtin_add_overflow(g->n_dst, more->dst_rows, &n_dst) ||
        __builtin_add_overflow(g->n_edge, more->n, &n_edge))
        GN_FAIL(GN_ERR_NOMEM, "a graph of %lld edges and %lld more cannot be addressed",
                (long long)g->n_edge, (long long)more->n);
    gn_elem index = gn_graph_index_for(n_src, n_dst, n_edge);
    if (g->index == GN_I64) index = GN_I64;
    GN_TRY(
        gn_graph_from_coo(index, n_src, n_dst, more->n, more->ends, more->src, more->dst, &list));
    gn_status *s = gn_graph_blank(n_src, n_dst, n_edge, index, out);
    if (!s) merge(&(merger){g, list, *out});
    gn_graph_free(list);
    return s;
}
