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

static int trailing_zeros(uint64_t x) { return gn_ones((x & (~x + 1)) - 1); }

/* The pick of the rows of a set. */
static gn_status *pick(int64_t n, gn_row_set *rows, gn_elem index, gn_graph **out)
{
    int64_t m = gn_row_set_count(rows), k = 0;
    if (index == GN_I32) index = gn_graph_index_for(n, m, m);
    GN_TRY(gn_graph_blank(n, m, m, index, out));
    gn_graph *g = *out;
    for (int64_t w = 0; w < rows->words; w++)
        for (uint64_t left = rows->bit[w]; left; left &= left - 1, k++) {
            set(g, GN_GRAPH_COL, k, 64 * w + trailing_zeros(left));
            set(g, GN_GRAPH_POS, k, k);
            set(g, GN_GRAPH_ROW_PTR, k + 1, k + 1);
        }
    g->picks = true;
    return NULL;
}

gn_status *gn_graph_subset(int64_t n, const uint8_t *mask, gn_elem index, gn_graph **out)
{
    gn_row_set rows;
    *out = NULL;
    if (n < 0) GN_FAIL(GN_ERR_DATA, "subset: a mask of %lld rows", (long long)n);
    GN_TRY(gn_row_set_new(n, &rows));
    for (int64_t v = 0; v < n; v++)
        if (mask[v]) gn_row_set_add(&rows, v);
    gn_status *s = pick(n, &rows, index, out);
    gn_row_set_free(&rows);
    return s;
}

gn_status *gn_graph_subset_of(int64_t n, int64_t n_set, const int64_t *set, gn_elem index,
                              gn_graph **out)
{
    gn_row_set rows;
    *out = NULL;
    if (n < 0) GN_FAIL(GN_ERR_DATA, "subset: a mask of %lld rows", (long long)n);
    for (int64_t k = 0; k < n_set; k++)
        if (set[k] < 0 || set[k] >= n)
            GN_FAIL(GN_ERR_DATA, "subset: row %lld is listed, of %lld", (long long)set[k],
                    (long long)n);
    GN_TRY(gn_row_set_new(n, &rows));
    for (int64_t k = 0; k < n_set; k++) gn_row_set_add(&rows, set[k]);
    gn_status *s = pick(n, &rows, index, out);
    gn_row_set_free(&rows);
    return s;
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

/* A graph's rows, those of a pick one after another. */
typedef struct row_search {
    const gn_graph *g;
    bool listed; /* rows come in order, as the graph lists those that it has */
    int64_t at;  /* the place among them */
} row_search;

static bool ascends(const gn_graph *r) /* it is not filled up with others */
{
    for (int64_t k = 1; r && k < r->n_edge; k++)
        if (get(r, GN_GRAPH_COL, k) <= get(r, GN_GRAPH_COL, k - 1)) return false;
    return true;
}

/* Of a graph that lists few rows, a pick of rows out of order takes its ROW_PTR. */
static gn_status *search_of(const gn_graph *g, const gn_graph *r, row_search *out)
{
    *out = (row_search){g, g->listed && (!r || ascends(r)), 0};
    if (out->listed || g->array[GN_GRAPH_ROW_PTR]) return NULL;
    GN_FAIL(GN_ERR_INTERNAL, "rows out of order are picked, of a graph that lists its own");
}

/* The edges into a row: [*begin, *end). */
static void edges_into(row_search *z, int64_t row, int64_t *begin, int64_t *end)
{
    const gn_graph *g = z->g;
    *begin = *end = 0;
    if (!z->listed) {
        *begin = get(g, GN_GRAPH_ROW_PTR, row);
        *end = get(g, GN_GRAPH_ROW_PTR, row + 1);
        return;
    }
    while (z->at < g->n_listed && gn_graph_row(g, z->at) < row) z->at++;
    if (z->at == g->n_listed || gn_graph_row(g, z->at) != row) return;
    *begin = gn_graph_begin(g, z->at);
    *end = gn_graph_begin(g, z->at + 1);
}

/* Sources of the edges into the rows of r, or of all. */
static gn_status *add_sources(const gn_graph *g, const gn_graph *r, gn_row_set *rows)
{
    row_search z;
    GN_TRY(search_of(g, r, &z));
    for (int64_t e = 0; !r && e < g->n_edge; e++) gn_row_set_add(rows, get(g, GN_GRAPH_COL, e));
    for (int64_t k = 0; r && k < r->n_edge; k++) {
        int64_t e, end;
        edges_into(&z, get(r, GN_GRAPH_COL, k), &e, &end);
        for (; e < end; e++) gn_row_set_add(rows, get(g, GN_GRAPH_COL, e));
    }
    return NULL;
}

/* Destinations of the edges out of rows of r, or of all. */
static gn_status *add_destinations(const gn_graph *g, const gn_graph *r, gn_row_set *rows)
{
    gn_row_set from = {0};
    if (r) {
        GN_TRY(gn_row_set_new(g->n_src, &from));
        gn_row_set_add_picked(&from, r);
    }
    for (int64_t i = 0; i < gn_graph_n_rows(g); i++) {
        int64_t end = gn_graph_begin(g, i + 1);
        bool is = false;
        for (int64_t e = gn_graph_begin(g, i); e < end && !is; e++) {
            int64_t u = get(g, GN_GRAPH_COL, e);
            is = !r || from.bit[u / 64] >> u % 64 & 1;
        }
        if (is) gn_row_set_add(rows, gn_graph_row(g, i));
    }
    gn_row_set_free(&from);
    return NULL;
}

gn_status *gn_graph_grow(const gn_graph *g, int end, const gn_graph *r, const gn_graph *also,
                         gn_graph **out)
{
    *out = NULL;
    GN_TRY(check_grown(g, end, g->groups ? NULL : r, also));
    if (g->groups || (r && r->groups)) return gn_graph_grow_apart(g, end, also, out);
    int64_t n = end ? g->n_dst : g->n_src;
    bool wide = g->index == GN_I64 || (r && r->index == GN_I64) || (also && also->index == GN_I64);
    gn_row_set rows;
    GN_TRY(gn_row_set_new(n, &rows));
    for (int64_t k = 0; also && k < also->n_edge; k++)
        gn_row_set_add(&rows, get(also, GN_GRAPH_COL, k));
    gn_status *s = end ? add_destinations(g, r, &rows) : add_sources(g, r, &rows);
    if (!s) s = pick(n, &rows, wide ? GN_I64 : GN_I32, out);
    gn_row_set_free(&rows);
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

/* Walks the edges that stay, in order; fills `d`, whose indices are as wide as g's or `to`, where
 * it is given.  How many there are. */
GN_INLINE int64_t walk(row_search z, const gn_graph *dst, const gn_row_set *src_at, gn_graph *d,
                       const gn_elem index, const gn_elem to)
{
    const gn_graph *g = z.g;
    const void *cols = g->array[GN_GRAPH_COL], *pos = g->array[GN_GRAPH_POS];
    int64_t rows = dst ? dst->n_edge : g->n_dst, k = 0;
    for (int64_t i = 0; i < rows; i++) {
        int64_t e, end;
        edges_into(&z, dst ? get(dst, GN_GRAPH_COL, i) : i, &e, &end);
        for (; e < end; e++) {
            int64_t col = gn_index_get(cols, index, e);
            if (src_at->words) col = gn_row_set_find(src_at, col);
            if (col < 0) continue;
            if (d) {
                gn_index_set(d->array[GN_GRAPH_COL], to, k, col);
                gn_index_set(d->array[GN_GRAPH_POS], to, k, gn_index_get(pos, index, e));
                gn_index_set(d->array[GN_GRAPH_FROM], to, k, e);
            }
            k++;
        }
        if (d) gn_index_set(d->array[GN_GRAPH_ROW_PTR], to, i + 1, k);
    }
    return k;
}

static int64_t walk_edges(row_search z, const gn_graph *dst, const gn_row_set *src_at, gn_graph *d)
{
    bool narrow = z.g->index == GN_I32 && (!d || d->index == GN_I32);
    return narrow ? walk(z, dst, src_at, d, GN_I32, GN_I32)
                  : walk(z, dst, src_at, d, z.g->index, d ? d->index : GN_I64);
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
    if (src ? src->groups : g->groups) return gn_graph_restrict_apart(g, src, dst, out);
    row_search rows;
    GN_TRY(search_of(g, dst, &rows));
    gn_row_set src_at;
    GN_TRY(places(src, g->n_src, &src_at));
    int64_t kept = walk_edges(rows, dst, &src_at, NULL);
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
        walk_edges(rows, dst, &src_at, *out);
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
