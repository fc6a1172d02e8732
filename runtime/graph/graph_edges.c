/* Graphs of some of a graph's edges, of edges that data name, and of edges that are drawn. */
#include "runtime/graph/graph_rows.h"
#include "runtime/graph/graph_sort.h"
#include "runtime/memory.h"

#include "base/draw.h"

#include <string.h>

static int64_t get(const gn_graph *g, gn_graph_array k, int64_t i)
{
    return gn_index_get(g->array[k], g->index, i);
}
static void set(gn_graph *g, gn_graph_array k, int64_t i, int64_t v)
{
    gn_index_set(g->array[k], g->index, i, v);
}

/* Edges in ascending order --------------------------------------------------------------------- */

/* The row of edge e, which comes after row `from` begins: where ROW is not made, it is looked for
 * in steps that double, and then between the last two. */
static int64_t find_row(const gn_graph *g, int64_t from, int64_t e)
{
    int64_t step = 1, lo = from, hi = from;
    if (g->array[GN_GRAPH_ROW]) return get(g, GN_GRAPH_ROW, e);
    while (hi < g->n_dst && get(g, GN_GRAPH_ROW_PTR, hi + 1) <= e) {
        lo = hi + 1;
        hi = hi > g->n_dst - step ? g->n_dst : hi + step;
        step *= 2;
    }
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (get(g, GN_GRAPH_ROW_PTR, mid + 1) <= e)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Rows lo + 1 up to hi begin at edge i. */
static void begin_rows(gn_graph *d, int64_t lo, int64_t hi, int64_t i)
{
    if (d->index == GN_I32) {
        int32_t *ptr = d->array[GN_GRAPH_ROW_PTR];
        for (int64_t v = lo; v < hi; v++) ptr[v + 1] = (int32_t)i;
    } else {
        int64_t *ptr = d->array[GN_GRAPH_ROW_PTR];
        for (int64_t v = lo; v < hi; v++) ptr[v + 1] = i;
    }
}

/* What a graph has of the edges that it comes of, FROM, which ascend. */
static void take_edges(const gn_graph *g, gn_graph *d)
{
    int64_t row = 0;
    for (int64_t i = 0; i < d->n_edge; i++) {
        int64_t e = get(d, GN_GRAPH_FROM, i), before = row;
        row = find_row(g, row, e);
        set(d, GN_GRAPH_COL, i, get(g, GN_GRAPH_COL, e));
        set(d, GN_GRAPH_ROW, i, row);
        begin_rows(d, before, row, i);
    }
    begin_rows(d, row, d->n_dst, d->n_edge);
}

/* Edges of a mask ------------------------------------------------------------------------------ */

/* Places in the list of the edges that stay, by place among all; -1: is left out. */
static gn_status *find_places(const gn_graph *g, const uint8_t *mask, int64_t **out)
{
    void *block;
    GN_TRY(gn_block_new(g->n_edge, sizeof(int64_t), "places of edges", &block));
    int64_t *place = block, n = 0;
    for (int64_t e = 0; e < g->n_edge; e++) place[get(g, GN_GRAPH_POS, e)] = mask[e] ? 0 : -1;
    for (int64_t k = 0; k < g->n_edge; k++)
        if (place[k] == 0) place[k] = n++;
    *out = place;
    return NULL;
}

gn_status *gn_graph_filter(const gn_graph *g, const uint8_t *mask, gn_graph **out)
{
    int64_t kept = 0, k = 0, *place;
    *out = NULL;
    for (int64_t e = 0; e < g->n_edge; e++) kept += mask[e] != 0;
    GN_TRY(find_places(g, mask, &place));
    gn_status *s = gn_graph_derived_blank(g, g->n_src, g->n_dst, kept, out);
    for (int64_t v = 0; !s && v < g->n_dst; v++) {
        int64_t end = get(g, GN_GRAPH_ROW_PTR, v + 1);
        for (int64_t e = get(g, GN_GRAPH_ROW_PTR, v); e < end; e++) {
            if (!mask[e]) continue;
            set(*out, GN_GRAPH_COL, k, get(g, GN_GRAPH_COL, e));
            set(*out, GN_GRAPH_POS, k, place[get(g, GN_GRAPH_POS, e)]);
            set(*out, GN_GRAPH_FROM, k, e);
            k++;
        }
        set(*out, GN_GRAPH_ROW_PTR, v + 1, k);
    }
    gn_block_free(place);
    return s;
}

/* FROM and POS of the edges of a set. */
static gn_status *put_set(const gn_graph *g, const gn_row_set *edges, gn_graph *d)
{
    gn_row_set places;
    int64_t k = 0;
    GN_TRY(gn_row_set_new(g->n_edge, &places));
    for (int64_t w = 0; w < edges->words; w++)
        for (uint64_t left = edges->bit[w]; left; left &= left - 1, k++) {
            int64_t e = 64 * w + gn_ones((left & (~left + 1)) - 1);
            set(d, GN_GRAPH_FROM, k, e);
            gn_row_set_add(&places, get(g, GN_GRAPH_POS, e));
        }
    (void)gn_row_set_count(&places);
    for (k = 0; k < d->n_edge; k++) {
        int64_t place = get(g, GN_GRAPH_POS, get(d, GN_GRAPH_FROM, k));
        set(d, GN_GRAPH_POS, k, gn_row_set_find(&places, place));
    }
    gn_row_set_free(&places);
    return NULL;
}

static gn_status *filter_by(const gn_graph *g, gn_row_set *edges, gn_graph **out)
{
    int64_t n = gn_row_set_count(edges);
    GN_TRY(gn_graph_derived_blank(g, g->n_src, g->n_dst, n, out));
    GN_TRY(gn_graph_array_new(*out, GN_GRAPH_ROW));
    GN_TRY(put_set(g, edges, *out));
    take_edges(g, *out);
    return NULL;
}

gn_status *gn_graph_filter_of(const gn_graph *g, int64_t n_set, const int64_t *listed,
                              gn_graph **out)
{
    gn_row_set edges;
    *out = NULL;
    for (int64_t k = 0; k < n_set; k++)
        if (listed[k] < 0 || listed[k] >= g->n_edge)
            GN_FAIL(GN_ERR_DATA, "filter: edge %lld is listed, of %lld", (long long)listed[k],
                    (long long)g->n_edge);
    GN_TRY(gn_row_set_new(g->n_edge, &edges));
    for (int64_t k = 0; k < n_set; k++) gn_row_set_add(&edges, listed[k]);
    gn_status *s = filter_by(g, &edges, out);
    gn_row_set_free(&edges);
    if (!s) return NULL;
    gn_graph_free(*out);
    *out = NULL;
    return s;
}

/* Rows by number ------------------------------------------------------------------------------- */

gn_status *gn_graph_index(gn_elem index, int64_t n_src, int64_t n, gn_elem elem, const void *rows,
                          const gn_graph *of, gn_graph **out)
{
    *out = NULL;
    if (of && of->n_edge != n)
        GN_FAIL(GN_ERR_DATA, "index: %lld numbers for %lld edges", (long long)n,
                (long long)of->n_edge);
    for (int64_t k = 0; k < n; k++) {
        int64_t row = gn_index_get(rows, elem, k);
        if (row < 0 || row >= n_src)
            GN_FAIL(GN_ERR_DATA, "index: element %lld is %lld, out of range: there are %lld rows",
                    (long long)(of ? get(of, GN_GRAPH_POS, k) : k), (long long)row,
                    (long long)n_src);
    }
    if (index == GN_I32) index = gn_graph_index_for(n_src, n, n);
    GN_TRY(gn_graph_blank(n_src, n, n, index, out));
    gn_graph *g = *out;
    for (int64_t k = 0; k < n; k++) {
        set(g, GN_GRAPH_COL, k, gn_index_get(rows, elem, k));
        set(g, GN_GRAPH_POS, k, of ? get(of, GN_GRAPH_POS, k) : k);
        set(g, GN_GRAPH_ROW_PTR, k + 1, k + 1);
    }
    g->picks = true;
    return NULL;
}

/* Drawn edges ---------------------------------------------------------------------------------- */

/* The drawn list in the user's order: sources, destinations, and the parent's edges by place. */
typedef struct drawn_list {
    int64_t *src, *dst, *at;
} drawn_list;

static gn_status *list_new(const gn_graph *g, int64_t n, drawn_list *out)
{
    void *block;
    int64_t words;
    if (__builtin_mul_overflow(n, 2, &words) || __builtin_add_overflow(words, g->n_edge, &words))
        GN_FAIL(GN_ERR_NOMEM, "corrupt: %lld edges cannot be counted", (long long)n);
    GN_TRY(gn_block_new(words, sizeof(int64_t), "drawn edges", &block));
    *out = (drawn_list){block, (int64_t *)block + n, (int64_t *)block + 2 * n};
    return NULL;
}

static void draw(const gn_graph *g, const gn_corruption *c, drawn_list *l)
{
    uint64_t stream = gn_draw_key(c->key, c->site);
    gn_edge_walk w = {.g = g};
    for (int64_t e = 0; e < g->n_edge; e++) {
        int64_t pos = get(g, GN_GRAPH_POS, e), u = get(g, GN_GRAPH_COL, e), v = gn_edge_row(&w, e);
        l->at[pos] = e;
        for (int64_t k = pos * c->times; k < (pos + 1) * c->times; k++) {
            int64_t src = u, dst = v;
            gn_draw_end(stream, (uint64_t)k, c->end, g->n_src, g->n_dst, &src, &dst);
            l->src[k] = src;
            l->dst[k] = dst;
        }
    }
}

gn_status *gn_graph_corrupt(const gn_graph *g, const gn_corruption *c, gn_graph **out)
{
    int64_t n;
    drawn_list l;
    *out = NULL;
    if (c->times < 1 || __builtin_mul_overflow(g->n_edge, c->times, &n))
        GN_FAIL(GN_ERR_NOMEM, "corrupt: %lld times %lld edges cannot be counted",
                (long long)c->times, (long long)g->n_edge);
    GN_TRY(list_new(g, n, &l));
    draw(g, c, &l);
    gn_status *s = gn_graph_derived_blank(g, g->n_src, g->n_dst, n, out);
    if (!s) s = gn_sort_list(*out, GN_I64, l.src, l.dst);
    if (!s) s = gn_graph_array_new(*out, GN_GRAPH_ROW); /* which is at hand */
    for (int64_t e = 0; !s && e < n; e++) {
        int64_t pos = get(*out, GN_GRAPH_POS, e);
        set(*out, GN_GRAPH_FROM, e, l.at[pos / c->times]);
        set(*out, GN_GRAPH_ROW, e, l.dst[pos]);
    }
    gn_block_free(l.src);
    if (!s) {
        (*out)->copies = c->times;
        (*out)->changes = true;
        return NULL;
    }
    gn_graph_free(*out);
    *out = NULL;
    return s;
}

gn_status *gn_graph_list(const gn_graph *g, void **out)
{
    GN_TRY(gn_block_new(g->n_edge + 1, gn_elem_size(g->index), "places of edges", out));
    for (int64_t e = 0; e < g->n_edge; e++)
        gn_index_set(*out, g->index, get(g, GN_GRAPH_POS, e), e);
    return NULL;
}

static gn_status *sample(const gn_graph *g, uint64_t stream, const void *list, int64_t n,
                         gn_graph **out)
{
    gn_row_set drawn;
    GN_TRY(gn_row_set_new(g->n_edge, &drawn));
    for (int64_t k = 0; k < n; k++)
        gn_row_set_add(&drawn, gn_index_get(list, g->index, gn_draw_part(stream, k, n, g->n_edge)));
    (void)gn_row_set_count(&drawn);
    gn_status *s = gn_graph_derived_blank(g, g->n_src, g->n_dst, n, out);
    if (!s) s = gn_graph_array_new(*out, GN_GRAPH_ROW);
    for (int64_t k = 0; !s && k < n; k++) {
        int64_t e = gn_index_get(list, g->index, gn_draw_part(stream, k, n, g->n_edge)),
                i = gn_row_set_find(&drawn, e);
        set(*out, GN_GRAPH_POS, i, k);
        set(*out, GN_GRAPH_FROM, i, e);
    }
    if (!s) take_edges(g, *out);
    gn_row_set_free(&drawn);
    return s;
}

gn_status *gn_graph_sample(const gn_graph *g, uint64_t key, int64_t most, uint32_t site,
                           const void *list, gn_graph **out)
{
    int64_t n = most < g->n_edge ? most : g->n_edge;
    void *own = NULL;
    *out = NULL;
    if (!list) GN_TRY(gn_graph_list(g, &own));
    gn_status *s = sample(g, gn_draw_key(key, site), list ? list : own, n, out);
    gn_block_free(own);
    if (!s) {
        (*out)->changes = true;
        return NULL;
    }
    gn_graph_free(*out);
    *out = NULL;
    return s;
}

gn_status *gn_graph_refill(gn_graph *g, gn_graph *now)
{
    GN_TRY(gn_graph_require(now, gn_graph_made(g)));
    bool same = g->index == now->index && !g->symmetric && !now->symmetric;
    for (int k = 0; k < GN_GRAPH_ARRAY_COUNT; k++) {
        gn_graph_array a = (gn_graph_array)k;
        same = same && (!g->array[k] || gn_graph_array_count(g, a) == gn_graph_array_count(now, a));
    }
    if (!same) GN_FAIL(GN_ERR_INTERNAL, "a graph that is drawn anew has another shape");
    for (int k = 0; k < GN_GRAPH_ARRAY_COUNT; k++) {
        gn_graph_array a = (gn_graph_array)k;
        size_t bytes = gn_elem_size(gn_graph_array_elem(g, a));
        if (g->array[k])
            memcpy(g->array[k], now->array[k], (size_t)gn_graph_array_count(g, a) * bytes);
    }
    return NULL;
}
