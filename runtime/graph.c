/* Graphs from what users have: edge lists and sparse or dense matrices.  */
#include "runtime/graph_sort.h"
#include "runtime/memory.h"

#include <string.h>

static const char *const array_name[GN_GRAPH_ARRAY_COUNT] = {
    [GN_GRAPH_ROW_PTR] = "row pointers",       [GN_GRAPH_COL] = "sources",
    [GN_GRAPH_ROW] = "destinations",           [GN_GRAPH_POS] = "edge positions",
    [GN_GRAPH_COL_PTR] = "column pointers",    [GN_GRAPH_CSC_ROW] = "destinations by source",
    [GN_GRAPH_CSC_EDGE] = "edges by source",   [GN_GRAPH_FROM] = "origins of derived edges",
    [GN_GRAPH_IMAGE] = "images of edges",      [GN_GRAPH_VALUE] = "values of a pattern",
    [GN_GRAPH_CSC_VALUE] = "values by source", [GN_GRAPH_CELL] = "places in a matrix",
    [GN_GRAPH_CSC_CELL] = "places by source",  [GN_GRAPH_MATRIX_ROW] = "rows of a matrix",
};

gn_elem gn_graph_index_for(int64_t n_src, int64_t n_dst, int64_t n_edge)
{
    return n_src > INT32_MAX || n_dst > INT32_MAX || n_edge > INT32_MAX ? GN_I64 : GN_I32;
}

int64_t gn_graph_array_count(const gn_graph *g, gn_graph_array k)
{
    if (k == GN_GRAPH_ROW_PTR) return g->n_dst + 1;
    if (k == GN_GRAPH_COL_PTR) return g->n_src + 1;
    if (k == GN_GRAPH_MATRIX_ROW) return g->n_dst;
    return k == GN_GRAPH_IMAGE ? g->n_parent_edge : g->n_edge;
}

gn_elem gn_graph_array_elem(const gn_graph *g, gn_graph_array k)
{
    if (k == GN_GRAPH_VALUE || k == GN_GRAPH_CSC_VALUE) return GN_F32;
    return k == GN_GRAPH_CELL || k == GN_GRAPH_CSC_CELL ? GN_I64 : g->index;
}

int64_t gn_graph_bytes(const gn_graph *g)
{
    pthread_mutex_t *lock = &((gn_graph_box *)(uintptr_t)g)->lock;
    int64_t bytes = 0;
    pthread_mutex_lock(lock);
    for (int k = 0; k < GN_GRAPH_ARRAY_COUNT; k++)
        if (g->array[k]) {
            gn_graph_array a = (gn_graph_array)k;
            bytes += gn_graph_array_count(g, a) * (int64_t)gn_elem_size(gn_graph_array_elem(g, a));
        }
    pthread_mutex_unlock(lock);
    return bytes;
}

gn_status *gn_graph_array_new(gn_graph *g, gn_graph_array k)
{
    return gn_block_new(gn_graph_array_count(g, k), gn_elem_size(gn_graph_array_elem(g, k)), array_name[k],
                        &g->array[k]);
}

static gn_status *blank_arrays(gn_graph *g)
{
    GN_TRY(gn_block_zeroed(g->n_dst + 1, gn_elem_size(g->index), array_name[GN_GRAPH_ROW_PTR],
                           &g->array[GN_GRAPH_ROW_PTR]));
    GN_TRY(gn_graph_array_new(g, GN_GRAPH_COL));
    return gn_graph_array_new(g, GN_GRAPH_POS);
}

gn_status *gn_graph_blank(int64_t n_src, int64_t n_dst, int64_t n_edge, gn_elem index, gn_graph **out)
{
    *out = NULL;
    if (n_src < 0 || n_dst < 0 || n_edge < 0)
        GN_FAIL(GN_ERR_DATA, "a graph of %lld sources, %lld destinations and %lld edges: a count is negative",
                (long long)n_src, (long long)n_dst, (long long)n_edge);
    if (n_src == INT64_MAX || n_dst == INT64_MAX)
        GN_FAIL(GN_ERR_NOMEM, "a graph of %lld sources and %lld destinations cannot be addressed", (long long)n_src,
                (long long)n_dst);
    void *p;
    GN_TRY(gn_block_zeroed(1, sizeof(gn_graph_box), "graph", &p));
    gn_graph_box *box = p;
    if (pthread_mutex_init(&box->lock, NULL)) {
        gn_block_free(box);
        GN_FAIL(GN_ERR_NOMEM, "out of memory: no mutex");
    }
    gn_graph *g = &box->graph;
    g->n_src = n_src;
    g->n_dst = n_dst;
    g->n_edge = n_edge;
    g->index = index;
    gn_status *s = blank_arrays(g);
    if (s) {
        gn_graph_free(g);
        return s;
    }
    *out = g;
    return NULL;
}

void gn_graph_trim(gn_graph *g, unsigned arrays)
{
    for (int k = 0; k < GN_GRAPH_ARRAY_COUNT; k++) {
        if (arrays >> k & 1) continue;
        gn_block_free(g->array[k]);
        g->array[k] = NULL;
    }
}

void gn_graph_free(gn_graph *g)
{
    if (!g) return;
    gn_graph_box *box = (gn_graph_box *)(void *)g;
    for (int k = 0; k < GN_GRAPH_ARRAY_COUNT; k++) gn_block_free(g->array[k]);
    pthread_mutex_destroy(&box->lock);
    gn_block_free(box);
}

/* Edge lists ------------------------------------------------------------------------------------------------------- */

/* The first edge that is out of range, or -1. */
static int64_t find_bad(const gn_graph *g, const int64_t *src, const int64_t *dst)
{
    uint64_t n_src = (uint64_t)g->n_src, n_dst = (uint64_t)g->n_dst;
    for (int64_t e = 0; e < g->n_edge; e++)
        if ((uint64_t)src[e] >= n_src || (uint64_t)dst[e] >= n_dst) return e;
    return -1;
}

static gn_status *out_of_range(const gn_graph *g, int64_t e, int64_t src, int64_t dst)
{
    bool is_src = src < 0 || src >= g->n_src;
    int64_t value = is_src ? src : dst, n = is_src ? g->n_src : g->n_dst;
    return GN_ERROR(GN_ERR_DATA, "edge %lld: %s %lld is out of range: there are %lld %s nodes", (long long)e,
                    is_src ? "source" : "destination", (long long)value, (long long)n,
                    is_src ? "source" : "destination");
}

gn_status *gn_graph_from_coo_as(gn_elem index, int64_t n_src, int64_t n_dst, int64_t n_edge, const int64_t *src,
                                const int64_t *dst, gn_graph **out)
{
    GN_TRY(gn_graph_blank(n_src, n_dst, n_edge, index, out));
    gn_graph *g = *out;
    int64_t bad = find_bad(g, src, dst);
    gn_status *s = bad >= 0 ? out_of_range(g, bad, src[bad], dst[bad]) : gn_sort_list(g, src, dst);
    if (s) {
        gn_graph_free(g);
        *out = NULL;
    }
    return s;
}

gn_status *gn_graph_from_coo(int64_t n_src, int64_t n_dst, int64_t n_edge, const int64_t *src, const int64_t *dst,
                             gn_graph **out)
{
    return gn_graph_from_coo_as(gn_graph_index_for(n_src, n_dst, n_edge), n_src, n_dst, n_edge, src, dst, out);
}

/* Patterns --------------------------------------------------------------------------------------------------------- */

static gn_status *pattern_blank(int64_t rows, int64_t cols, int64_t nnz, gn_graph **out)
{
    GN_TRY(gn_graph_blank(cols, rows, nnz, gn_graph_index_for(cols, rows, nnz), out));
    gn_status *s = gn_graph_array_new(*out, GN_GRAPH_VALUE);
    if (s) {
        gn_graph_free(*out);
        *out = NULL;
    }
    return s;
}

static gn_status *check_rows(int64_t rows, const int64_t *ptr)
{
    if (rows < 0) GN_FAIL(GN_ERR_DATA, "a sparse matrix of %lld rows", (long long)rows);
    if (ptr[0] != 0) GN_FAIL(GN_ERR_DATA, "sparse matrix: row 0 starts at entry %lld, not 0", (long long)ptr[0]);
    for (int64_t r = 0; r < rows; r++)
        if (ptr[r + 1] < ptr[r])
            GN_FAIL(GN_ERR_DATA, "sparse matrix: row %lld ends at entry %lld, before it starts at %lld", (long long)r,
                    (long long)ptr[r + 1], (long long)ptr[r]);
    return NULL;
}

gn_status *gn_graph_from_csr(int64_t rows, int64_t cols, const int64_t *ptr, const int32_t *col, const float *val,
                             gn_graph **out)
{
    *out = NULL;
    GN_TRY(check_rows(rows, ptr));
    int64_t nnz = ptr[rows];
    for (int64_t e = 0; e < nnz; e++)
        if (col[e] < 0 || col[e] >= cols)
            GN_FAIL(GN_ERR_DATA, "sparse matrix: entry %lld: column %d is out of range: there are %lld columns",
                    (long long)e, (int)col[e], (long long)cols);
    GN_TRY(pattern_blank(rows, cols, nnz, out));
    gn_graph *g = *out;
    float *value = g->array[GN_GRAPH_VALUE];
    for (int64_t r = 0; r <= rows; r++) gn_index_set(g->array[GN_GRAPH_ROW_PTR], g->index, r, ptr[r]);
    for (int64_t e = 0; e < nnz; e++) {
        gn_index_set(g->array[GN_GRAPH_COL], g->index, e, col[e]);
        gn_index_set(g->array[GN_GRAPH_POS], g->index, e, e);
        value[e] = val ? val[e] : 1.0f;
    }
    return NULL;
}

gn_status *gn_graph_from_dense(int64_t rows, int64_t cols, const float *x, gn_graph **out)
{
    *out = NULL;
    int64_t n, nnz = 0;
    if (rows < 0 || cols < 0 || __builtin_mul_overflow(rows, cols, &n))
        GN_FAIL(GN_ERR_DATA, "a matrix of %lld rows and %lld columns", (long long)rows, (long long)cols);
    for (int64_t i = 0; i < n; i++) nnz += x[i] != 0;
    GN_TRY(pattern_blank(rows, cols, nnz, out));
    gn_graph *g = *out;
    float *value = g->array[GN_GRAPH_VALUE];
    int64_t e = 0;
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < cols; c++) {
            float v = x[r * cols + c];
            if (v == 0) continue;
            gn_index_set(g->array[GN_GRAPH_COL], g->index, e, c);
            gn_index_set(g->array[GN_GRAPH_POS], g->index, e, e);
            value[e++] = v;
        }
        gn_index_set(g->array[GN_GRAPH_ROW_PTR], g->index, r + 1, e);
    }
    return NULL;
}

/* Edge values ------------------------------------------------------------------------------------------------------ */

void gn_graph_edges_in(const gn_graph *g, int64_t row_bytes, const void *from, void *to)
{
    const void *pos = g->array[GN_GRAPH_POS];
    for (int64_t e = 0; e < g->n_edge; e++)
        memcpy((char *)to + e * row_bytes, (const char *)from + gn_index_get(pos, g->index, e) * row_bytes,
               (size_t)row_bytes);
}

void gn_graph_edges_out(const gn_graph *g, int64_t row_bytes, const void *from, void *to)
{
    const void *pos = g->array[GN_GRAPH_POS];
    for (int64_t e = 0; e < g->n_edge; e++)
        memcpy((char *)to + gn_index_get(pos, g->index, e) * row_bytes, (const char *)from + e * row_bytes,
               (size_t)row_bytes);
}
