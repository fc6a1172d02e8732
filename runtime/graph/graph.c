/* Graphs from what users have: edge lists and sparse or dense matrices.  */
#include "runtime/graph/graph_sort.h"
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
    [GN_GRAPH_ROW_VALUE] = "values of rows",
};

gn_elem gn_graph_index_for(int64_t n_src, int64_t n_dst, int64_t n_edge)
{
    return n_src > INT32_MAX || n_dst > INT32_MAX || n_edge > INT32_MAX ? GN_I64 : GN_I32;
}

/* Of PART_ROW: as many as PART_PTR says, or, before that is made, as there may be. */
static int64_t part_array_count(const gn_graph *g, gn_graph_array k)
{
    gn_part_array kind = gn_part_array_kind(k);
    bool by_dst = kind == GN_PART_PTR || kind == GN_PART_ROW;
    int64_t rows = by_dst ? g->n_dst : g->n_src;
    if (kind == GN_PART_PTR || kind == GN_CSC_PART_PTR) return rows + 1;
    const void *ptr = g->array[k - 1];
    return ptr ? gn_index_get(ptr, g->index, rows) : g->n_edge / gn_part_array_edges(k);
}

int64_t gn_graph_array_count(const gn_graph *g, gn_graph_array k)
{
    if (gn_is_part_array(k)) return part_array_count(g, k);
    if (k == GN_GRAPH_ROW_PTR) return g->n_dst + 1;
    if (k == GN_GRAPH_COL_PTR) return g->n_src + 1;
    if (k == GN_GRAPH_MATRIX_ROW || k == GN_GRAPH_ROW_VALUE) return g->n_dst;
    if (k != GN_GRAPH_IMAGE) return g->n_edge;
    return g->copies ? g->n_edge : g->n_parent_edge;
}

gn_elem gn_graph_array_elem(const gn_graph *g, gn_graph_array k)
{
    if (k == GN_GRAPH_VALUE || k == GN_GRAPH_CSC_VALUE || k == GN_GRAPH_ROW_VALUE) return GN_F32;
    return k == GN_GRAPH_CELL || k == GN_GRAPH_CSC_CELL ? GN_I64 : g->index;
}

/* Does another array own this one's memory? */
static bool is_shared(const gn_graph *g, int k)
{
    return g->symmetric && (int)gn_graph_array_by_dst((gn_graph_array)k) != k;
}

/* Of those of these arrays that exist. */
static int64_t bytes_of(const gn_graph *g, gn_graph_arrays arrays, bool shared)
{
    gn_mutex *lock = &((gn_graph_box *)(uintptr_t)g)->lock;
    int64_t bytes = 0;
    gn_mutex_take(lock);
    for (int k = 0; k < GN_GRAPH_ARRAY_COUNT; k++)
        if (arrays >> k & 1 && g->array[k] && !(g->lent >> k & 1) && is_shared(g, k) == shared) {
            gn_graph_array a = (gn_graph_array)k;
            bytes += gn_graph_array_count(g, a) * (int64_t)gn_elem_size(gn_graph_array_elem(g, a));
        }
    gn_mutex_leave(lock);
    if (g->groups && !shared)
        bytes += (1 + (g->groups->until != NULL)) * g->groups->n * (int64_t)sizeof(int64_t);
    if (g->listed && !shared) bytes += 2 * (g->n_listed + 1) * (int64_t)gn_elem_size(g->index);
    return bytes;
}

int64_t gn_graph_bytes(const gn_graph *g) { return bytes_of(g, ~(gn_graph_arrays)0, false); }
int64_t gn_graph_shared_bytes(const gn_graph *g) { return bytes_of(g, ~(gn_graph_arrays)0, true); }

/* Arrays that stay where others, which they own, do. */
static gn_graph_arrays with_owners(const gn_graph *g, gn_graph_arrays arrays)
{
    for (int k = 0; k < GN_GRAPH_ARRAY_COUNT; k++)
        if (arrays >> k & 1 && is_shared(g, k))
            arrays |= GN_ARRAY(gn_graph_array_by_dst((gn_graph_array)k));
    return arrays;
}

int64_t gn_graph_trimmed_bytes(const gn_graph *g, gn_graph_arrays arrays)
{
    return bytes_of(g, with_owners(g, arrays), false);
}

gn_status *gn_graph_array_new(gn_graph *g, gn_graph_array k)
{
    return gn_block_new(gn_graph_array_count(g, k), gn_elem_size(gn_graph_array_elem(g, k)),
                        array_name[k], &g->array[k]);
}

static gn_status *blank_arrays(gn_graph *g, int64_t n_listed)
{
    size_t size = gn_elem_size(g->index);
    const char *what = array_name[GN_GRAPH_ROW_PTR];
    g->n_listed = n_listed;
    if (n_listed < 0) {
        g->n_listed = 0;
        GN_TRY(gn_block_zeroed(g->n_dst + 1, size, what, &g->array[GN_GRAPH_ROW_PTR]));
    } else {
        GN_TRY(gn_block_new(n_listed + 1, size, what, &g->listed));
        GN_TRY(gn_block_new(n_listed + 1, size, what, &g->listed_ptr));
        gn_index_set(g->listed_ptr, g->index, 0, 0);
    }
    GN_TRY(gn_graph_array_new(g, GN_GRAPH_COL));
    return gn_graph_array_new(g, GN_GRAPH_POS);
}

/* Without arrays. */
static gn_status *empty(int64_t n_src, int64_t n_dst, int64_t n_edge, gn_elem index, gn_graph **out)
{
    *out = NULL;
    if (n_src < 0 || n_dst < 0 || n_edge < 0)
        GN_FAIL(GN_ERR_DATA,
                "a graph of %lld sources, %lld destinations and %lld edges: a count is negative",
                (long long)n_src, (long long)n_dst, (long long)n_edge);
    if (n_src == INT64_MAX || n_dst == INT64_MAX)
        GN_FAIL(GN_ERR_NOMEM, "a graph of %lld sources and %lld destinations cannot be addressed",
                (long long)n_src, (long long)n_dst);
    void *p;
    GN_TRY(gn_block_zeroed(1, sizeof(gn_graph_box), "graph", &p));
    gn_graph_box *box = p;
    gn_status *s = gn_mutex_init(&box->lock, GN_MUTEX_BRIEF);
    if (s) {
        gn_block_free(box);
        return s;
    }
    gn_graph *g = &box->graph;
    g->n_src = n_src;
    g->n_dst = n_dst;
    g->n_edge = n_edge;
    g->index = index;
    *out = g;
    return NULL;
}

static gn_status *blank(int64_t n_src, int64_t n_dst, int64_t n_edge, gn_elem index,
                        int64_t n_listed, gn_graph **out)
{
    gn_graph *g;
    *out = NULL;
    GN_TRY(empty(n_src, n_dst, n_edge, index, &g));
    gn_status *s = blank_arrays(g, n_listed);
    if (s) {
        gn_graph_free(g);
        return s;
    }
    *out = g;
    return NULL;
}

gn_status *gn_graph_blank(int64_t n_src, int64_t n_dst, int64_t n_edge, gn_elem index,
                          gn_graph **out)
{
    return blank(n_src, n_dst, n_edge, index, -1, out);
}

/* Of edges that come from those of g. */
static gn_status *derived_blank(const gn_graph *g, int64_t n_src, int64_t n_dst, int64_t n_edge,
                                int64_t n_listed, gn_graph **out)
{
    gn_elem index = gn_graph_index_for(n_src, n_dst, n_edge);
    if (g->index == GN_I64) index = GN_I64;
    GN_TRY(blank(n_src, n_dst, n_edge, index, n_listed, out));
    (*out)->n_parent_edge = g->n_edge;
    (*out)->changes = g->changes;
    (*out)->derived = true;
    gn_status *s = gn_graph_array_new(*out, GN_GRAPH_FROM);
    if (s) {
        gn_graph_free(*out);
        *out = NULL;
    }
    return s;
}

gn_status *gn_graph_derived_blank(const gn_graph *g, int64_t n_src, int64_t n_dst, int64_t n_edge,
                                  gn_graph **out)
{
    return derived_blank(g, n_src, n_dst, n_edge, -1, out);
}

gn_status *gn_graph_listed_blank(const gn_graph *g, int64_t n_listed, int64_t n_edge,
                                 gn_graph **out)
{
    return derived_blank(g, g->n_src, g->n_dst, n_edge, n_listed, out);
}

gn_status *gn_graph_lent(gn_elem index, int64_t n_src, int64_t n_dst, int64_t n_edge,
                         const void *const arrays[3], gn_graph **out)
{
    static const gn_graph_array which[] = {GN_GRAPH_ROW_PTR, GN_GRAPH_COL, GN_GRAPH_POS};
    GN_TRY(empty(n_src, n_dst, n_edge, index, out));
    for (int k = 0; k < 3; k++) {
        (*out)->array[which[k]] = (void *)(uintptr_t)arrays[k];
        (*out)->lent |= GN_ARRAY(which[k]);
    }
    return NULL;
}

void gn_graph_trim(gn_graph *g, gn_graph_arrays arrays)
{
    arrays = with_owners(g, arrays);
    for (int k = 0; k < GN_GRAPH_ARRAY_COUNT; k++) {
        if (arrays >> k & 1) continue;
        if (!is_shared(g, k) && !(g->lent >> k & 1)) gn_block_free(g->array[k]);
        g->array[k] = NULL;
    }
}

void gn_graph_free(gn_graph *g)
{
    if (!g) return;
    gn_graph_box *box = (gn_graph_box *)(void *)g;
    gn_graph_trim(g, 0);
    gn_block_free(g->listed);
    gn_block_free(g->listed_ptr);
    if (g->groups) gn_block_free(g->groups->group);
    if (g->groups) gn_block_free(g->groups->until);
    gn_block_free(g->groups);
    gn_mutex_end(&box->lock);
    gn_block_free(box);
}

/* Edge lists ----------------------------------------------------------------------------------- */

static gn_elem wider(gn_elem index, int64_t n_src, int64_t n_dst, int64_t n_edge)
{
    return index == GN_I64 ? GN_I64 : gn_graph_index_for(n_src, n_dst, n_edge);
}

/* The first edge that is out of range, or -1. */
static int64_t find_bad(const gn_graph *g, gn_elem ends, const void *src, const void *dst)
{
    uint64_t n_src = (uint64_t)g->n_src, n_dst = (uint64_t)g->n_dst;
    for (int64_t e = 0; e < g->n_edge; e++)
        if ((uint64_t)gn_index_get(src, ends, e) >= n_src ||
            (uint64_t)gn_index_get(dst, ends, e) >= n_dst)
            return e;
    return -1;
}

static gn_status *out_of_range(const gn_graph *g, int64_t e, int64_t src, int64_t dst)
{
    bool is_src = src < 0 || src >= g->n_src;
    int64_t value = is_src ? src : dst, n = is_src ? g->n_src : g->n_dst;
    return GN_ERROR(GN_ERR_DATA, "edge %lld: %s %lld is out of range: there are %lld %s nodes",
                    (long long)e, is_src ? "source" : "destination", (long long)value, (long long)n,
                    is_src ? "source" : "destination");
}

static gn_status *check_list(int64_t n_src, int64_t n_dst, int64_t n_edge, const void *src,
                             const void *dst)
{
    if (n_src == n_dst && (n_src < 0 || n_edge < 0))
        GN_FAIL(GN_ERR_USAGE, "a graph of %lld nodes and %lld edges", (long long)n_src,
                (long long)n_edge);
    if (n_src < 0 || n_dst < 0 || n_edge < 0)
        GN_FAIL(GN_ERR_USAGE, "a graph of %lld sources, %lld destinations and %lld edges",
                (long long)n_src, (long long)n_dst, (long long)n_edge);
    if (n_edge && (!src || !dst))
        GN_FAIL(GN_ERR_USAGE, "a graph of %lld edges without their ends", (long long)n_edge);
    return NULL;
}

gn_status *gn_graph_from_coo(gn_elem index, int64_t n_src, int64_t n_dst, int64_t n_edge,
                             gn_elem ends, const void *src, const void *dst, gn_graph **out)
{
    *out = NULL;
    GN_TRY(check_list(n_src, n_dst, n_edge, src, dst));
    GN_TRY(gn_graph_blank(n_src, n_dst, n_edge, wider(index, n_src, n_dst, n_edge), out));
    gn_graph *g = *out;
    int64_t bad = find_bad(g, ends, src, dst);
    gn_status *s = bad >= 0 ? out_of_range(g, bad, gn_index_get(src, ends, bad),
                                           gn_index_get(dst, ends, bad))
                            : gn_sort_list(g, ends, src, dst);
    if (s) {
        gn_graph_free(g);
        *out = NULL;
    }
    return s;
}

/* Rows ----------------------------------------------------------------------------------------- */

/* Row pointers ascend from 0.  `of` is said in front, `entry` is what they count. */
static gn_status *check_rows(int64_t rows, gn_elem index, const void *ptr, const char *of,
                             const char *entry)
{
    if (gn_index_get(ptr, index, 0) != 0)
        GN_FAIL(GN_ERR_DATA, "%srow 0 begins at %s %lld, not 0", of, entry,
                (long long)gn_index_get(ptr, index, 0));
    for (int64_t r = 0; r < rows; r++) {
        int64_t begin = gn_index_get(ptr, index, r), end = gn_index_get(ptr, index, r + 1);
        if (end < begin)
            GN_FAIL(GN_ERR_DATA, "%srow %lld ends at %s %lld, before it begins at %lld", of,
                    (long long)r, entry, (long long)end, (long long)begin);
    }
    return NULL;
}

/* Fills in a graph by rows, in the order in which its edges lie already. */
static void take_rows(gn_graph *g, gn_elem ptr_elem, const void *ptr, gn_elem col_elem,
                      const void *col)
{
    for (int64_t r = 0; r <= g->n_dst; r++)
        gn_index_set(g->array[GN_GRAPH_ROW_PTR], g->index, r, gn_index_get(ptr, ptr_elem, r));
    for (int64_t e = 0; e < g->n_edge; e++) {
        gn_index_set(g->array[GN_GRAPH_COL], g->index, e, gn_index_get(col, col_elem, e));
        gn_index_set(g->array[GN_GRAPH_POS], g->index, e, e);
    }
}

gn_status *gn_graph_from_rows(gn_elem index, int64_t n, gn_elem ends, const void *row,
                              const void *src, gn_graph **out)
{
    *out = NULL;
    if (n < 0) GN_FAIL(GN_ERR_USAGE, "a graph of %lld nodes", (long long)n);
    if (!row) GN_FAIL(GN_ERR_USAGE, "a graph without row pointers");
    GN_TRY(check_rows(n, ends, row, "", "edge"));
    int64_t n_edge = gn_index_get(row, ends, n);
    if (n_edge && !src)
        GN_FAIL(GN_ERR_USAGE, "a graph of %lld edges without their sources", (long long)n_edge);
    GN_TRY(gn_graph_blank(n, n, n_edge, wider(index, n, n, n_edge), out));
    gn_graph *g = *out;
    int64_t bad = find_bad(g, ends, src, src);
    if (bad < 0) {
        take_rows(g, ends, row, ends, src);
        return NULL;
    }
    gn_status *s = out_of_range(g, bad, gn_index_get(src, ends, bad), 0);
    gn_graph_free(g);
    *out = NULL;
    return s;
}

gn_status *gn_graph_widen(const gn_graph *g, gn_graph **out)
{
    *out = NULL;
    if (g->derived) GN_FAIL(GN_ERR_INTERNAL, "a derived graph is as wide as what it comes from");
    GN_TRY(gn_graph_blank(g->n_src, g->n_dst, g->n_edge, GN_I64, out));
    gn_graph *wide = *out;
    wide->picks = g->picks;
    take_rows(wide, g->index, g->array[GN_GRAPH_ROW_PTR], g->index, g->array[GN_GRAPH_COL]);
    for (int64_t e = 0; e < g->n_edge; e++)
        gn_index_set(wide->array[GN_GRAPH_POS], GN_I64, e,
                     gn_index_get(g->array[GN_GRAPH_POS], g->index, e));
    return NULL;
}

/* Patterns ------------------------------------------------------------------------------------- */

static gn_status *pattern_blank(gn_elem index, int64_t rows, int64_t cols, int64_t nnz,
                                gn_graph **out)
{
    GN_TRY(gn_graph_blank(cols, rows, nnz, wider(index, cols, rows, nnz), out));
    gn_status *s = gn_graph_array_new(*out, GN_GRAPH_VALUE);
    if (s) {
        gn_graph_free(*out);
        *out = NULL;
    }
    return s;
}

/* A matrix by rows, as a caller gives it. */
typedef struct rows_of_values {
    int64_t rows, cols;
    const int64_t *ptr;
    const int32_t *col;
    const float *val; /* NULL: all 1 */
} rows_of_values;

static gn_status *check_matrix(const rows_of_values *m)
{
    if (m->rows < 0) GN_FAIL(GN_ERR_USAGE, "a sparse matrix of %lld rows", (long long)m->rows);
    if (!m->ptr)
        GN_FAIL(GN_ERR_USAGE, "a sparse matrix of %lld rows at no address", (long long)m->rows);
    GN_TRY(check_rows(m->rows, GN_I64, m->ptr, "sparse matrix: ", "entry"));
    int64_t nnz = m->ptr[m->rows];
    if (nnz && !m->col)
        GN_FAIL(GN_ERR_USAGE, "a sparse matrix of %lld entries without their columns",
                (long long)nnz);
    for (int64_t e = 0; e < nnz; e++)
        if (m->col[e] < 0 || m->col[e] >= m->cols)
            GN_FAIL(GN_ERR_DATA,
                    "sparse matrix: entry %lld: column %d is out of range: there are %lld columns",
                    (long long)e, (int)m->col[e], (long long)m->cols);
    return NULL;
}

/* In every row: so no column stands there twice. */
static bool columns_ascend(const rows_of_values *m)
{
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t e = m->ptr[r] + 1; e < m->ptr[r + 1]; e++)
            if (m->col[e] <= m->col[e - 1]) return false;
    return true;
}

/* How many elements the matrix has; fills the graph with them where it is given.  `seen` [cols],
 * zeros: a column's last edge and one more; NULL: none stands twice in a row. */
static int64_t take_values(const rows_of_values *m, int64_t *seen, gn_graph *g)
{
    int64_t at = 0;
    for (int64_t r = 0; r < m->rows; r++) {
        int64_t begin = at;
        for (int64_t e = m->ptr[r]; e < m->ptr[r + 1]; e++) {
            float v = m->val ? m->val[e] : 1.0f;
            bool again = seen && seen[m->col[e]] > begin;
            if (again && g) ((float *)g->array[GN_GRAPH_VALUE])[seen[m->col[e]] - 1] += v;
            if (again) continue;
            if (g) {
                gn_index_set(g->array[GN_GRAPH_COL], g->index, at, m->col[e]);
                gn_index_set(g->array[GN_GRAPH_POS], g->index, at, at);
                ((float *)g->array[GN_GRAPH_VALUE])[at] = v;
            }
            at++;
            if (seen) seen[m->col[e]] = at;
        }
        if (g) gn_index_set(g->array[GN_GRAPH_ROW_PTR], g->index, r + 1, at);
    }
    return at;
}

gn_status *gn_graph_from_csr(gn_elem index, int64_t rows, int64_t cols, const int64_t *ptr,
                             const int32_t *col, const float *val, gn_graph **out)
{
    rows_of_values m = {rows, cols, ptr, col, val};
    void *seen = NULL;
    *out = NULL;
    GN_TRY(check_matrix(&m));
    if (!columns_ascend(&m)) GN_TRY(gn_block_zeroed(cols, sizeof(int64_t), "columns", &seen));
    int64_t nnz = seen ? take_values(&m, seen, NULL) : ptr[rows];
    if (seen) memset(seen, 0, (size_t)cols * sizeof(int64_t));
    gn_status *s = pattern_blank(index, rows, cols, nnz, out);
    if (!s) (void)take_values(&m, seen, *out);
    gn_block_free(seen);
    return s;
}

gn_status *gn_graph_from_dense(gn_elem index, int64_t rows, int64_t cols, const float *x,
                               gn_graph **out)
{
    *out = NULL;
    int64_t n, nnz = 0;
    if (rows < 0 || cols < 0 || __builtin_mul_overflow(rows, cols, &n))
        GN_FAIL(GN_ERR_DATA, "a matrix of %lld rows and %lld columns", (long long)rows,
                (long long)cols);
    for (int64_t i = 0; i < n; i++) nnz += x[i] != 0;
    GN_TRY(pattern_blank(index, rows, cols, nnz, out));
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

void gn_graph_to_dense(const gn_graph *pattern, float *to)
{
    const float *value = pattern->array[GN_GRAPH_VALUE];
    const void *row = pattern->array[GN_GRAPH_ROW_PTR], *col = pattern->array[GN_GRAPH_COL];
    int64_t cols = pattern->n_src;
    gn_elem index = pattern->index;
    memset(to, 0, (size_t)(pattern->n_dst * cols) * sizeof *to);
    for (int64_t v = 0; v < pattern->n_dst; v++) {
        int64_t end = gn_index_get(row, index, v + 1);
        for (int64_t e = gn_index_get(row, index, v); e < end; e++)
            to[v * cols + gn_index_get(col, index, e)] = value[e];
    }
}

/* Edge values ---------------------------------------------------------------------------------- */

void gn_graph_edges_in(const gn_graph *g, int64_t row_bytes, const void *from, void *to)
{
    const void *pos = g->array[GN_GRAPH_POS];
    for (int64_t e = 0; e < g->n_edge; e++)
        memcpy((char *)to + e * row_bytes,
               (const char *)from + gn_index_get(pos, g->index, e) * row_bytes, (size_t)row_bytes);
}

void gn_graph_edges_out(const gn_graph *g, int64_t row_bytes, const void *from, void *to)
{
    const void *pos = g->array[GN_GRAPH_POS];
    for (int64_t e = 0; e < g->n_edge; e++)
        memcpy((char *)to + gn_index_get(pos, g->index, e) * row_bytes,
               (const char *)from + e * row_bytes, (size_t)row_bytes);
}
