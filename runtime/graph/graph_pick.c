/* Picks of rows, and graphs between picked rows.
 *
 * A pick renumbers rows in their order, so the edges of a restricted graph come out of one pass
 * over the parent's in the order in which they must be. */
#include "runtime/graph/graph_internal.h"
#include "runtime/graph/graph_rows.h"
#include "runtime/memory.h"

static int64_t get(const gn_graph *g, gn_graph_array k, int64_t i)
{
    return gn_index_get(g->array[k], g->index, i);
}
static void set(gn_graph *g, gn_graph_array k, int64_t i, int64_t v)
{
    gn_index_set(g->array[k], g->index, i, v);
}

/* The pick of the rows that are marked. */
static gn_status *pick(int64_t n, const uint8_t *marked, gn_elem index, gn_graph **out)
{
    int64_t m = 0;
    for (int64_t v = 0; v < n; v++) m += marked[v] != 0;
    if (index == GN_I32) index = gn_graph_index_for(n, m, m);
    GN_TRY(gn_graph_blank(n, m, m, index, out));
    gn_graph *g = *out;
    int64_t k = 0;
    for (int64_t v = 0; v < n; v++) {
        if (!marked[v]) continue;
        set(g, GN_GRAPH_COL, k, v);
        set(g, GN_GRAPH_POS, k, k);
        k++;
        set(g, GN_GRAPH_ROW_PTR, k, k);
    }
    g->picks = true;
    return NULL;
}

gn_status *gn_graph_subset(int64_t n, const uint8_t *mask, gn_elem index, gn_graph **out)
{
    *out = NULL;
    if (n < 0) GN_FAIL(GN_ERR_DATA, "subset: a mask of %lld rows", (long long)n);
    return pick(n, mask, index, out);
}

static gn_status *check_grown(const gn_graph *g, int end, const gn_graph *r, const gn_graph *also)
{
    int64_t here = end ? g->n_dst : g->n_src, there = end ? g->n_src : g->n_dst;
    if ((r && !r->picks) || (also && !also->picks))
        GN_FAIL(GN_ERR_DATA, "grow: the %s graph is no pick of rows",
                r && !r->picks ? "first" : "last");
    if ((r && r->n_src != there) || (also && also->n_src != here))
        GN_FAIL(GN_ERR_DATA,
                "grow: rows are picked of %lld, the graph goes from %lld nodes to %lld",
                (long long)(r && r->n_src != there ? r : also)->n_src, (long long)g->n_src,
                (long long)g->n_dst);
    return NULL;
}

static void mark_picked(const gn_graph *r, uint8_t *marked)
{
    for (int64_t k = 0; r && k < r->n_edge; k++) marked[get(r, GN_GRAPH_COL, k)] = 1;
}

/* Sources of the edges into the rows of r, or of all. */
static void mark_sources(const gn_graph *g, const gn_graph *r, uint8_t *marked)
{
    int64_t rows = r ? r->n_edge : g->n_dst;
    for (int64_t k = 0; k < rows; k++) {
        int64_t v = r ? get(r, GN_GRAPH_COL, k) : k, end = get(g, GN_GRAPH_ROW_PTR, v + 1);
        for (int64_t e = get(g, GN_GRAPH_ROW_PTR, v); e < end; e++)
            marked[get(g, GN_GRAPH_COL, e)] = 1;
    }
}

/* Destinations of the edges out of rows of r, or of all. */
static gn_status *mark_destinations(const gn_graph *g, const gn_graph *r, uint8_t *marked)
{
    void *from = NULL;
    if (r) GN_TRY(gn_block_zeroed(g->n_src, 1, "picked rows", &from));
    mark_picked(r, from);
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t end = get(g, GN_GRAPH_ROW_PTR, v + 1);
        for (int64_t e = get(g, GN_GRAPH_ROW_PTR, v); e < end && !marked[v]; e++)
            marked[v] = r ? ((const uint8_t *)from)[get(g, GN_GRAPH_COL, e)] : 1;
    }
    gn_block_free(from);
    return NULL;
}

gn_status *gn_graph_grow(const gn_graph *g, int end, const gn_graph *r, const gn_graph *also,
                         gn_graph **out)
{
    *out = NULL;
    GN_TRY(check_grown(g, end, r, also));
    int64_t n = end ? g->n_dst : g->n_src;
    bool wide = g->index == GN_I64 || (r && r->index == GN_I64) || (also && also->index == GN_I64);
    void *block;
    GN_TRY(gn_block_zeroed(n, 1, "picked rows", &block));
    mark_picked(also, block);
    gn_status *s = NULL;
    if (end)
        s = mark_destinations(g, r, block);
    else
        mark_sources(g, r, block);
    if (!s) s = pick(n, block, wide ? GN_I64 : GN_I32, out);
    gn_block_free(block);
    return s;
}

static gn_status *check_pick(const gn_graph *r, int64_t n, const char *end)
{
    if (!r || (r->picks && r->n_src == n)) return NULL;
    GN_FAIL(GN_ERR_DATA, "restrict: the graph has %lld %s, the %s of %lld rows", (long long)n, end,
            r->picks ? "pick is" : "other graph is no pick", (long long)r->n_src);
}

/* Which row of a pick is which?  Of no rows for no pick.  Rows that fill it up have no edges. */
static gn_status *places(const gn_graph *r, int64_t n, gn_row_set *out)
{
    *out = (gn_row_set){0};
    if (!r) return NULL;
    GN_TRY(gn_row_set_new(n, out));
    gn_row_set_add_picked(out, r);
    (void)gn_row_set_count(out);
    return NULL;
}

/* Walks the edges that stay, in order; fills `d` where it is given.  How many there are. */
static int64_t walk(const gn_graph *g, const gn_graph *dst, const gn_row_set *src_at, gn_graph *d)
{
    int64_t rows = dst ? dst->n_edge : g->n_dst, k = 0;
    for (int64_t i = 0; i < rows; i++) {
        int64_t v = dst ? get(dst, GN_GRAPH_COL, i) : i, end = get(g, GN_GRAPH_ROW_PTR, v + 1);
        for (int64_t e = get(g, GN_GRAPH_ROW_PTR, v); e < end; e++) {
            int64_t col = get(g, GN_GRAPH_COL, e);
            if (src_at->words) col = gn_row_set_find(src_at, col);
            if (col < 0) continue;
            if (d) {
                set(d, GN_GRAPH_COL, k, col);
                set(d, GN_GRAPH_POS, k, get(g, GN_GRAPH_POS, e));
                set(d, GN_GRAPH_FROM, k, e);
            }
            k++;
        }
        if (d) set(d, GN_GRAPH_ROW_PTR, i + 1, k);
    }
    return k;
}

/* `d`: rows `dst` (NULL: all) of the pattern g. */
static gn_status *rows_of_pattern(const gn_graph *g, const gn_graph *dst, gn_graph *d)
{
    GN_TRY(gn_graph_array_new(d, GN_GRAPH_VALUE));
    GN_TRY(gn_graph_array_new(d, GN_GRAPH_MATRIX_ROW));
    const float *from = g->array[GN_GRAPH_VALUE];
    float *value = d->array[GN_GRAPH_VALUE];
    for (int64_t e = 0; e < d->n_edge; e++) value[e] = from[get(d, GN_GRAPH_FROM, e)];
    for (int64_t v = 0; v < d->n_dst; v++) {
        int64_t row = dst ? get(dst, GN_GRAPH_COL, v) : v;
        set(d, GN_GRAPH_MATRIX_ROW, v,
            g->array[GN_GRAPH_MATRIX_ROW] ? get(g, GN_GRAPH_MATRIX_ROW, row) : row);
    }
    return NULL;
}

gn_status *gn_graph_restrict(const gn_graph *g, const gn_graph *src, const gn_graph *dst,
                             gn_graph **out)
{
    *out = NULL;
    GN_TRY(check_pick(src, g->n_src, "sources"));
    GN_TRY(check_pick(dst, g->n_dst, "destinations"));
    gn_row_set src_at;
    GN_TRY(places(src, g->n_src, &src_at));
    int64_t kept = walk(g, dst, &src_at, NULL);
    bool picks = g->picks && !dst;
    gn_status *s = NULL;
    if (picks && kept != g->n_edge)
        s = GN_ERROR(GN_ERR_DATA,
                     "restrict: %lld of %lld picked rows are not among those of the other pick",
                     (long long)(g->n_edge - kept), (long long)g->n_edge);
    if (!s)
        s = gn_graph_derived_blank(g, src ? src->n_edge : g->n_src, dst ? dst->n_edge : g->n_dst,
                                   kept, out);
    if (!s) {
        walk(g, dst, &src_at, *out);
        (*out)->picks = picks;
        if (!src && g->array[GN_GRAPH_VALUE]) s = rows_of_pattern(g, dst, *out);
    }
    gn_row_set_free(&src_at);
    if (s) {
        gn_graph_free(*out);
        *out = NULL;
    }
    return s;
}
