/* What is made of a graph when somebody asks: the transposed arrays and the facts. */
#include "runtime/graph/graph_sort.h"
#include "runtime/memory.h"

#include <string.h>

static int64_t get(const gn_graph *g, gn_graph_array k, int64_t i)
{
    return gn_index_get(g->array[k], g->index, i);
}

/* Arrays on demand ----------------------------------------------------------------------------- */

static void drop(gn_graph *g, gn_graph_array k)
{
    gn_block_free(g->array[k]);
    g->array[k] = NULL;
}

/* Up to so many edges a graph is compared with its transpose before that is sorted, beyond
 * afterwards. */
enum { MATCHED_FIRST = 1 << 22 };

static void share_by_source(gn_graph *g)
{
    g->symmetric = true;
    g->array[GN_GRAPH_COL_PTR] = g->array[GN_GRAPH_ROW_PTR];
    g->array[GN_GRAPH_CSC_ROW] = g->array[GN_GRAPH_COL];
}

/* COL_PTR, CSC_ROW and, where it is given, what is in CSC_EDGE. */
static gn_status *make_csc(gn_graph *g, void *edge)
{
    size_t size = gn_elem_size(g->index);
    void *ptr = NULL, *row = NULL;
    bool symmetric = false, first = g->n_edge <= MATCHED_FIRST && !g->changes;
    if (first) GN_TRY(gn_graph_match_transpose(g, edge, &symmetric));
    if (symmetric) {
        share_by_source(g);
        return NULL;
    }
    gn_status *s = gn_block_zeroed(g->n_src + 1, size, "column pointers", &ptr);
    if (!s) s = gn_block_new(g->n_edge, size, "destinations by source", &row);
    if (!s) s = gn_sort_by_source(g, ptr, row, edge);
    if (!s && !first && !g->changes) symmetric = gn_graph_is_transpose(g, ptr, row, edge);
    if (s || symmetric) {
        gn_block_free(ptr);
        gn_block_free(row);
        if (!s) share_by_source(g);
        return s;
    }
    g->array[GN_GRAPH_COL_PTR] = ptr;
    g->array[GN_GRAPH_CSC_ROW] = row;
    return NULL;
}

/* CSC_EDGE of a graph whose other arrays by source are there. */
static gn_status *fill_edges(const gn_graph *g, void *edge)
{
    bool symmetric;
    void *ptr;
    if (g->symmetric) return gn_graph_match_transpose(g, edge, &symmetric);
    GN_TRY(gn_block_zeroed(g->n_src + 1, gn_elem_size(g->index), "column pointers", &ptr));
    gn_status *s = gn_sort_by_source(g, ptr, NULL, edge);
    gn_block_free(ptr);
    return s;
}

/* COL_PTR, CSC_ROW and, with `edges`, CSC_EDGE, where they are not there. */
static gn_status *require_csc(gn_graph *g, bool edges)
{
    bool fresh = edges && !g->array[GN_GRAPH_CSC_EDGE];
    if (fresh) GN_TRY(gn_graph_array_new(g, GN_GRAPH_CSC_EDGE));
    gn_status *s = NULL;
    void *edge = g->array[GN_GRAPH_CSC_EDGE];
    if (!g->array[GN_GRAPH_COL_PTR])
        s = make_csc(g, edge);
    else if (fresh)
        s = fill_edges(g, edge);
    if (s && fresh) drop(g, GN_GRAPH_CSC_EDGE);
    return s;
}

static gn_status *make_row(gn_graph *g)
{
    GN_TRY(gn_graph_array_new(g, GN_GRAPH_ROW));
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t end = get(g, GN_GRAPH_ROW_PTR, v + 1);
        for (int64_t e = get(g, GN_GRAPH_ROW_PTR, v); e < end; e++)
            gn_index_set(g->array[GN_GRAPH_ROW], g->index, e, v);
    }
    return NULL;
}

/* The inverse of FROM. */
static gn_status *make_image(gn_graph *g)
{
    GN_TRY(gn_graph_array_new(g, GN_GRAPH_IMAGE));
    void *image = g->array[GN_GRAPH_IMAGE];
    int64_t images = gn_graph_array_count(g, GN_GRAPH_IMAGE);
    memset(image, 0xff, (size_t)images * gn_elem_size(g->index)); /* -1 */
    for (int64_t e = 0; e < g->n_edge; e++) {
        int64_t from = get(g, GN_GRAPH_FROM, e);
        if (g->copies) from = from * g->copies + get(g, GN_GRAPH_POS, e) % g->copies;
        if (from >= 0) gn_index_set(image, g->index, from, e);
    }
    return NULL;
}

static gn_status *make_cell(gn_graph *g)
{
    int64_t rows = g->n_dst, cells;
    const void *row = g->array[GN_GRAPH_MATRIX_ROW];
    if (row && rows) rows = get(g, GN_GRAPH_MATRIX_ROW, rows - 1) + 1; /* they ascend */
    if (__builtin_mul_overflow(rows, g->n_src, &cells))
        GN_FAIL(GN_ERR_NOMEM, "a matrix of %lld rows and %lld columns cannot be addressed",
                (long long)rows, (long long)g->n_src);
    GN_TRY(gn_graph_array_new(g, GN_GRAPH_CELL));
    int64_t *cell = g->array[GN_GRAPH_CELL];
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t end = get(g, GN_GRAPH_ROW_PTR, v + 1), r = row ? get(g, GN_GRAPH_MATRIX_ROW, v) : v;
        for (int64_t e = get(g, GN_GRAPH_ROW_PTR, v); e < end; e++)
            cell[e] = r * g->n_src + get(g, GN_GRAPH_COL, e);
    }
    return NULL;
}

static gn_status *make_csc_cell(gn_graph *g)
{
    GN_TRY(gn_graph_array_new(g, GN_GRAPH_CSC_CELL));
    const int64_t *cell = g->array[GN_GRAPH_CELL];
    int64_t *by_source = g->array[GN_GRAPH_CSC_CELL];
    for (int64_t k = 0; k < g->n_edge; k++) by_source[k] = cell[get(g, GN_GRAPH_CSC_EDGE, k)];
    return NULL;
}

static gn_status *make_csc_value(gn_graph *g)
{
    GN_TRY(gn_graph_array_new(g, GN_GRAPH_CSC_VALUE));
    const float *value = g->array[GN_GRAPH_VALUE];
    float *by_source = g->array[GN_GRAPH_CSC_VALUE];
    for (int64_t k = 0; k < g->n_edge; k++) by_source[k] = value[get(g, GN_GRAPH_CSC_EDGE, k)];
    return NULL;
}

static gn_status *make_row_value(gn_graph *g)
{
    GN_TRY(gn_graph_array_new(g, GN_GRAPH_ROW_VALUE));
    const float *value = g->array[GN_GRAPH_VALUE];
    float *of_row = g->array[GN_GRAPH_ROW_VALUE];
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t first = get(g, GN_GRAPH_ROW_PTR, v);
        of_row[v] = first < get(g, GN_GRAPH_ROW_PTR, v + 1) ? value[first] : 0;
    }
    return NULL;
}

/* Parts of rows of many edges, by either end: PART_PTR and the array after it. */
static gn_status *make_parts(gn_graph *g, gn_graph_array ptr)
{
    gn_graph_array from = gn_part_array_kind(ptr) == GN_PART_PTR ? GN_GRAPH_ROW_PTR
                                                                 : GN_GRAPH_COL_PTR;
    int64_t rows = gn_graph_array_count(g, ptr) - 1, parts = 0, edges = gn_part_array_edges(ptr);
    void *first = NULL, *of = NULL;
    size_t size = gn_elem_size(g->index);
    GN_TRY(gn_block_new(rows + 1, size, "part pointers", &first));
    for (int64_t v = 0; v < rows; v++) {
        int64_t n = (get(g, from, v + 1) - get(g, from, v)) / edges;
        gn_index_set(first, g->index, v, parts);
        if (n >= 2) parts += n;
    }
    gn_index_set(first, g->index, rows, parts);
    gn_status *s = gn_block_new(parts, size, "rows of parts", &of);
    if (s) {
        gn_block_free(first);
        return s;
    }
    for (int64_t v = 0; v < rows; v++)
        for (int64_t k = gn_index_get(first, g->index, v); k < gn_index_get(first, g->index, v + 1);
             k++)
            gn_index_set(of, g->index, k, v);
    g->array[ptr] = first;
    g->array[ptr + 1] = of;
    return NULL;
}

/* Those of `arrays` that are of parts; the arrays that they come from are there. */
static gn_status *require_parts(gn_graph *g, gn_graph_arrays arrays)
{
    for (int k = GN_GRAPH_PARTS; k < GN_GRAPH_ARRAY_COUNT; k += 2) {
        if (!(arrays >> k & 3) || g->array[k]) continue;
        int at = g->symmetric ? (int)gn_graph_array_by_dst((gn_graph_array)k) : k;
        if (!g->array[at]) GN_TRY(make_parts(g, (gn_graph_array)at));
        for (int i = 0; i < 2; i++) g->array[k + i] = g->array[at + i];
    }
    return NULL;
}

int64_t gn_graph_part_groups(const gn_graph *g, gn_graph_array ptr, int64_t n)
{
    int64_t rows = gn_graph_array_count(g, ptr) - 1, parts = get(g, ptr, rows);
    bool any = n == 1;
    for (int64_t v = 0; v < rows && !any && parts / 2 >= n; v++)
        any = (get(g, ptr, v + 1) - get(g, ptr, v)) / 2 >= n;
    return any ? parts / n + (parts % n != 0) : 0;
}

gn_graph_arrays gn_graph_made(const gn_graph *g)
{
    gn_graph_arrays arrays = 0;
    for (int k = 0; k < GN_GRAPH_ARRAY_COUNT; k++)
        arrays |= (gn_graph_arrays)(g->array[k] != NULL) << k;
    return arrays;
}

/* Rows that are not listed have no edges. */
static gn_status *make_row_ptr(gn_graph *g)
{
    GN_TRY(gn_graph_array_new(g, GN_GRAPH_ROW_PTR));
    int64_t v = 0, k = 0;
    for (int64_t i = 0; i < g->n_listed; i++) {
        k = gn_index_get(g->listed_ptr, g->index, i);
        for (int64_t row = gn_index_get(g->listed, g->index, i); v <= row; v++)
            gn_index_set(g->array[GN_GRAPH_ROW_PTR], g->index, v, k);
    }
    for (; v <= g->n_dst; v++) gn_index_set(g->array[GN_GRAPH_ROW_PTR], g->index, v, g->n_edge);
    return NULL;
}

static gn_status *require(gn_graph *g, gn_graph_arrays arrays)
{
    gn_graph_arrays listed = GN_ARRAY(GN_GRAPH_COL) | GN_ARRAY(GN_GRAPH_POS) |
                             GN_ARRAY(GN_GRAPH_FROM);
    if (g->listed && !g->array[GN_GRAPH_ROW_PTR] && arrays & ~listed) GN_TRY(make_row_ptr(g));
    gn_graph_arrays csc_parts = 0;
    for (int k = (int)GN_GRAPH_PARTS + (int)GN_CSC_PART_PTR; k < GN_GRAPH_ARRAY_COUNT;
         k += GN_PART_ARRAYS)
        csc_parts |= (gn_graph_arrays)3 << k;
    gn_graph_arrays cells = GN_ARRAY(GN_GRAPH_CELL) | GN_ARRAY(GN_GRAPH_CSC_CELL);
    gn_graph_arrays values = GN_ARRAY(GN_GRAPH_VALUE) | GN_ARRAY(GN_GRAPH_CSC_VALUE) |
                             GN_ARRAY(GN_GRAPH_ROW_VALUE) | cells;
    if (!g->derived && arrays & (GN_ARRAY(GN_GRAPH_FROM) | GN_ARRAY(GN_GRAPH_IMAGE)))
        GN_FAIL(GN_ERR_DATA, "the graph is not derived from another: its edges have no origin");
    if (arrays & values && !g->array[GN_GRAPH_VALUE])
        GN_FAIL(GN_ERR_DATA, "the graph is not the pattern of a matrix: its edges have no values");
    if (arrays & GN_ARRAY(GN_GRAPH_MATRIX_ROW) && !g->array[GN_GRAPH_MATRIX_ROW])
        GN_FAIL(
            GN_ERR_DATA,
            "the graph is not the pattern of picked rows: there are no others that they stand for");
    gn_graph_arrays of_edges = GN_ARRAY(GN_GRAPH_CSC_EDGE) | GN_ARRAY(GN_GRAPH_CSC_VALUE) |
                               GN_ARRAY(GN_GRAPH_CSC_CELL);
    bool passing = !(arrays >> GN_GRAPH_CSC_EDGE & 1) && !g->array[GN_GRAPH_CSC_EDGE];
    gn_graph_arrays csc = of_edges | GN_ARRAY(GN_GRAPH_COL_PTR) | GN_ARRAY(GN_GRAPH_CSC_ROW) |
                          csc_parts;
    if (arrays & csc) GN_TRY(require_csc(g, (arrays & of_edges & ~gn_graph_made(g)) != 0));
    if (arrays & GN_ARRAY(GN_GRAPH_CSC_VALUE) && !g->array[GN_GRAPH_CSC_VALUE])
        GN_TRY(make_csc_value(g));
    if (arrays & GN_ARRAY(GN_GRAPH_ROW_VALUE) && !g->array[GN_GRAPH_ROW_VALUE])
        GN_TRY(make_row_value(g));
    if (arrays & cells && !g->array[GN_GRAPH_CELL]) GN_TRY(make_cell(g));
    if (arrays & GN_ARRAY(GN_GRAPH_CSC_CELL) && !g->array[GN_GRAPH_CSC_CELL])
        GN_TRY(make_csc_cell(g));
    if (passing) drop(g, GN_GRAPH_CSC_EDGE);
    if (arrays & GN_ARRAY(GN_GRAPH_ROW) && !g->array[GN_GRAPH_ROW]) GN_TRY(make_row(g));
    if (arrays & GN_ARRAY(GN_GRAPH_IMAGE) && !g->array[GN_GRAPH_IMAGE]) GN_TRY(make_image(g));
    return require_parts(g, arrays);
}

gn_status *gn_graph_require(gn_graph *g, gn_graph_arrays arrays)
{
    gn_graph_box *box = (gn_graph_box *)(void *)g;
    gn_mutex_take(&box->lock);
    gn_status *s = require(g, arrays);
    gn_mutex_leave(&box->lock);
    return s;
}

/* Facts ---------------------------------------------------------------------------------------- */

static gn_status *find_facts(const gn_graph *g, gn_graph_facts *f)
{
    void *block;
    GN_TRY(gn_block_zeroed(g->n_src, sizeof(int64_t), "degrees", &block));
    int64_t *out = block;
    *f = (gn_graph_facts){0};
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t in = get(g, GN_GRAPH_ROW_PTR, v + 1) - get(g, GN_GRAPH_ROW_PTR, v);
        gn_degree_add(in, &f->max_in_degree, f->in_class);
    }
    for (int64_t e = 0; e < g->n_edge; e++) out[get(g, GN_GRAPH_COL, e)]++;
    for (int64_t v = 0; v < g->n_src; v++) gn_degree_add(out[v], &f->max_out_degree, f->out_class);
    gn_block_free(block);
    return NULL;
}

gn_status *gn_graph_find_facts(gn_graph *g, gn_graph_facts *out)
{
    gn_graph_box *box = (gn_graph_box *)(void *)g;
    gn_status *s = NULL;
    gn_mutex_take(&box->lock);
    if (!box->has_facts) s = find_facts(g, &box->facts);
    if (!s) {
        box->has_facts = true;
        *out = box->facts;
    }
    gn_mutex_leave(&box->lock);
    return s;
}
