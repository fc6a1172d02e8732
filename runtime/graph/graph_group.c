/* Graphs whose edges are grouped by destination and a number that each has. */
#include "runtime/graph/graph_internal.h"
#include "runtime/memory.h"

static int64_t get(const gn_graph *g, gn_graph_array k, int64_t i)
{
    return gn_index_get(g->array[k], g->index, i);
}
static void set(gn_graph *g, gn_graph_array k, int64_t i, int64_t v)
{
    gn_index_set(g->array[k], g->index, i, v);
}

static int64_t number(gn_edge_numbers k, int64_t e) { return gn_index_get(k.p, k.elem, e); }

/* Sorts the edges at[lo .. hi) by number, those that agree in their order, by way of `other`. */
static void sort(gn_edge_numbers k, int64_t *at, int64_t *other, int64_t lo, int64_t hi)
{
    int64_t sorted = lo + 1;
    while (sorted < hi && number(k, at[sorted - 1]) <= number(k, at[sorted])) sorted++;
    if (sorted >= hi) return;
    int64_t mid = lo + (hi - lo) / 2, i = lo, j = mid;
    sort(k, at, other, lo, mid);
    sort(k, at, other, mid, hi);
    for (int64_t to = lo; to < hi; to++) {
        bool left = j == hi || (i < mid && number(k, at[i]) <= number(k, at[j]));
        other[to] = left ? at[i++] : at[j++];
    }
    for (int64_t to = lo; to < hi; to++) at[to] = other[to];
}

/* Edges in the order that they have in the group; how many rows those have. */
static int64_t order(const gn_graph *g, gn_edge_numbers k, int64_t *at, int64_t *other)
{
    int64_t rows = 0;
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t begin = get(g, GN_GRAPH_ROW_PTR, v), end = get(g, GN_GRAPH_ROW_PTR, v + 1);
        for (int64_t e = begin; e < end; e++) at[e] = e;
        sort(k, at, other, begin, end);
        for (int64_t e = begin; e < end; e++)
            rows += e == begin || number(k, at[e - 1]) != number(k, at[e]);
    }
    return rows;
}

static void fill(const gn_graph *g, gn_edge_numbers k, const int64_t *at, gn_graph *h)
{
    int64_t row = 0;
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t begin = get(g, GN_GRAPH_ROW_PTR, v), end = get(g, GN_GRAPH_ROW_PTR, v + 1);
        for (int64_t e = begin; e < end; e++) {
            row += e == begin || number(k, at[e - 1]) != number(k, at[e]);
            set(h, GN_GRAPH_COL, e, get(g, GN_GRAPH_COL, at[e]));
            set(h, GN_GRAPH_POS, e, get(g, GN_GRAPH_POS, at[e]));
            set(h, GN_GRAPH_FROM, e, at[e]);
            set(h, GN_GRAPH_ROW_PTR, row, e + 1);
        }
    }
}

gn_status *gn_graph_group(const gn_graph *g, gn_edge_numbers k, gn_graph **out)
{
    void *block;
    int64_t words;
    *out = NULL;
    if (k.n != g->n_edge)
        GN_FAIL(GN_ERR_DATA, "group: %lld numbers for %lld edges", (long long)k.n,
                (long long)g->n_edge);
    if (__builtin_mul_overflow(g->n_edge, 2, &words))
        GN_FAIL(GN_ERR_NOMEM, "group: %lld edges cannot be counted", (long long)g->n_edge);
    GN_TRY(gn_block_new(words, sizeof(int64_t), "edges in groups", &block));
    int64_t *at = block, rows = order(g, k, at, at + g->n_edge);
    gn_status *s = gn_graph_derived_blank(g, g->n_src, rows, g->n_edge, out);
    if (!s) fill(g, k, at, *out);
    gn_block_free(block);
    return s;
}

/* A pick of n rows for the rows of a group. */
static gn_status *pick(const gn_graph *h, int64_t n, gn_graph **out)
{
    gn_elem index = gn_graph_index_for(n, h->n_dst, h->n_dst);
    *out = NULL;
    GN_TRY(gn_graph_blank(n, h->n_dst, h->n_dst, h->index == GN_I64 ? GN_I64 : index, out));
    for (int64_t t = 0; t < h->n_dst; t++) {
        set(*out, GN_GRAPH_POS, t, t);
        set(*out, GN_GRAPH_ROW_PTR, t + 1, t + 1);
    }
    (*out)->picks = true;
    return NULL;
}

/* An edge, of the graph that was grouped, of a row of the group. */
static int64_t edge_of(const gn_graph *h, int64_t t)
{
    return get(h, GN_GRAPH_FROM, get(h, GN_GRAPH_ROW_PTR, t));
}

gn_status *gn_graph_group_rows(const gn_graph *h, const gn_graph *g, gn_graph **out)
{
    GN_TRY(pick(h, g->n_dst, out));
    int64_t t = 0;
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t end = get(g, GN_GRAPH_ROW_PTR, v + 1);
        for (; t < h->n_dst && edge_of(h, t) < end; t++) set(*out, GN_GRAPH_COL, t, v);
    }
    return NULL;
}

gn_status *gn_graph_group_numbers(const gn_graph *h, gn_edge_numbers k, int64_t rows,
                                  gn_graph **out)
{
    *out = NULL;
    for (int64_t t = 0; t < h->n_dst; t++) {
        int64_t e = edge_of(h, t), x = number(k, e);
        if (x < 0 || x >= rows)
            GN_FAIL(GN_ERR_DATA, "group: edge %lld has number %lld, out of range: there are %lld",
                    (long long)get(h, GN_GRAPH_POS, get(h, GN_GRAPH_ROW_PTR, t)), (long long)x,
                    (long long)rows);
    }
    GN_TRY(pick(h, rows, out));
    for (int64_t t = 0; t < h->n_dst; t++) set(*out, GN_GRAPH_COL, t, number(k, edge_of(h, t)));
    return NULL;
}
