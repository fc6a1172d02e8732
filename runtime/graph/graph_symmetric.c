/* Is a graph its own transpose?  Then its CSR is a CSC too: pointers and ends are the same arrays,
 * which are kept once.
 *
 * A CSC is sorted, so a row of the CSR must be: but for a loop at its end, as derived graphs append
 * them, which is its own image.  Decided edge by edge, up to the first that differs, in one of two
 * ways.  Walking edges by destination with a cursor in every row, edge u -> v takes the next place
 * of row u, which must hold v: a counting sort with a comparison in place of the write, and nothing
 * else need be sorted.  On graphs beyond the caches a sort that deals edges out first is faster
 * than that; there what it has sorted is compared from front to back. */
#include "runtime/graph/graph_internal.h"
#include "runtime/memory.h"

#include <string.h>

enum {
    NEAR = 16,
    FAR = 32
}; /* edges ahead: on a large graph cursors and what they point at are out of the caches */

/* Is edge end - 1, the last of row v, a loop? */
GN_INLINE bool ends_with_loop(const void *col, const gn_elem index, int64_t v, int64_t begin,
                              int64_t end)
{
    return end > begin && gn_index_get(col, index, end - 1) == v;
}

/* The first row with edges comes first wherever it comes: most graphs that are not symmetric end
 * here. */
static bool first_row_matches(const gn_graph *g)
{
    const void *row = g->array[GN_GRAPH_ROW_PTR], *col = g->array[GN_GRAPH_COL];
    int64_t v = 0, e = 0;
    if (g->n_edge == 0) return true;
    while (gn_index_get(row, g->index, v + 1) == 0) v++;
    for (; e < gn_index_get(row, g->index, v + 1); e++) {
        int64_t u = gn_index_get(col, g->index, e), at = gn_index_get(row, g->index, u);
        if (at >= g->n_edge || (u != v && gn_index_get(col, g->index, at) != v)) return false;
    }
    return true;
}

GN_INLINE bool walk(const gn_graph *g, const gn_elem index, void *next, void *image)
{
    const void *row = g->array[GN_GRAPH_ROW_PTR], *col = g->array[GN_GRAPH_COL];
    const int64_t last = g->n_edge - 1;
    const size_t size = index == GN_I32 ? 4 : 8;
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t e = gn_index_get(row, index, v), end = gn_index_get(row, index, v + 1);
        bool loop = ends_with_loop(col, index, v, e, end);
        for (; e < end - loop; e++) {
            int64_t far = gn_index_get(col, index, e + FAR < last ? e + FAR : last);
            int64_t near = gn_index_get(
                next, index, gn_index_get(col, index, e + NEAR < last ? e + NEAR : last));
            __builtin_prefetch((char *)next + (size_t)far * size, 1);
            __builtin_prefetch((const char *)col + (size_t)near * size);
            int64_t u = gn_index_get(col, index, e), at = gn_index_get(next, index, u);
            if (at > last || gn_index_get(col, index, at) != v) return false;
            if (image) gn_index_set(image, index, at, e);
            gn_index_set(next, index, u, at + 1);
        }
        if (loop && image) gn_index_set(image, index, e, e);
    }
    /* No cursor has left its row, for then another would not have come to the end of its own. */
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t begin = gn_index_get(row, index, v), end = gn_index_get(row, index, v + 1);
        if (gn_index_get(next, index, v) != end - ends_with_loop(col, index, v, begin, end))
            return false;
    }
    return true;
}

gn_status *gn_graph_match_transpose(const gn_graph *g, void *image, bool *symmetric)
{
    *symmetric = false;
    if (g->n_src != g->n_dst || !first_row_matches(g)) return NULL;
    void *next;
    size_t size = gn_elem_size(g->index);
    GN_TRY(gn_block_new(g->n_dst, size, "places of edges", &next));
    memcpy(next, g->array[GN_GRAPH_ROW_PTR], (size_t)g->n_dst * size);
    *symmetric = g->index == GN_I32 ? walk(g, GN_I32, next, image) : walk(g, GN_I64, next, image);
    gn_block_free(next);
    return NULL;
}

/* Where the loop at the end of row v lies in a sorted column. */
GN_INLINE int64_t loop_place(const void *csc_row, const gn_elem index, int64_t v, int64_t end)
{
    do end--;
    while (gn_index_get(csc_row, index, end) != v);
    return end;
}

GN_INLINE bool same_rows(const gn_graph *g, const gn_elem index, const void *csc_row)
{
    const void *row = g->array[GN_GRAPH_ROW_PTR], *col = g->array[GN_GRAPH_COL];
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t begin = gn_index_get(row, index, v), end = gn_index_get(row, index, v + 1),
                at = end;
        bool loop = ends_with_loop(col, index, v, begin, end);
        if (loop) at = loop_place(csc_row, index, v, end);
        for (int64_t e = begin; e < end - loop; e++)
            if (gn_index_get(col, index, e) != gn_index_get(csc_row, index, e + (e >= at)))
                return false;
    }
    return true;
}

GN_INLINE void loops_last(const gn_graph *g, const gn_elem index, const void *csc_row,
                          void *csc_edge)
{
    const void *row = g->array[GN_GRAPH_ROW_PTR], *col = g->array[GN_GRAPH_COL];
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t begin = gn_index_get(row, index, v), end = gn_index_get(row, index, v + 1);
        if (!ends_with_loop(col, index, v, begin, end)) continue;
        for (int64_t k = loop_place(csc_row, index, v, end); k + 1 < end; k++)
            gn_index_set(csc_edge, index, k, gn_index_get(csc_edge, index, k + 1));
        gn_index_set(csc_edge, index, end - 1, end - 1);
    }
}

bool gn_graph_is_transpose(const gn_graph *g, const void *col_ptr, const void *csc_row,
                           void *csc_edge)
{
    if (g->n_src != g->n_dst) return false;
    bool wide = g->index == GN_I64;
    if (memcmp(col_ptr, g->array[GN_GRAPH_ROW_PTR],
               (size_t)(g->n_dst + 1) * gn_elem_size(g->index)) != 0)
        return false;
    if (wide ? !same_rows(g, GN_I64, csc_row) : !same_rows(g, GN_I32, csc_row)) return false;
    if (csc_edge && wide) loops_last(g, GN_I64, csc_row, csc_edge);
    if (csc_edge && !wide) loops_last(g, GN_I32, csc_row, csc_edge);
    return true;
}
