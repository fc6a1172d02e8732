/* Graphs of a few of the edges into each of some rows. */
#include "runtime/graph/draw_row.h"
#include "runtime/graph/graph_internal.h"
#include "runtime/memory.h"

/* The edges into a row, and how many of them are kept. */
typedef struct row_edges {
    int64_t row, first, end, loops, drawn;
    bool some; /* which of those that are no loops are kept is drawn */
} row_edges;

enum { AHEAD = 16 }; /* rows whose memory is asked for before it is read */

GN_INLINE int64_t at(const gn_graph *g, const gn_elem index, gn_graph_array k, int64_t i)
{
    return gn_index_get(g->array[k], index, i);
}

GN_INLINE void ask_for(const gn_graph *g, const gn_elem index, gn_graph_array k, int64_t i)
{
    const char *p = g->array[k];
    __builtin_prefetch(p + i * (index == GN_I64 ? 8 : 4));
}

GN_INLINE bool is_loop(const gn_graph *g, const gn_elem index, const row_edges *r, int64_t e)
{
    return r->loops && at(g, index, GN_GRAPH_COL, e) == r->row;
}

static float weight_of(const gn_drawing *how, int64_t e)
{
    for (int k = 0; k < how->n_way && e >= 0; k++)
        e = gn_index_get(how->way[k]->array[GN_GRAPH_FROM], how->way[k]->index, e);
    return e < 0 ? 1 : how->weight[e];
}

/* Weights of those that are no loops.  GN_ERR_DATA: one is negative. */
static gn_status *find_weights(const gn_graph *g, const row_edges *r, const gn_drawing *how,
                               float *weight)
{
    int64_t n = 0;
    for (int64_t e = r->first; e < r->end; e++) {
        if (is_loop(g, g->index, r, e)) continue;
        weight[n] = weight_of(how, e);
        if (!(weight[n] >= 0)) GN_FAIL(GN_ERR_DATA, "draw: an edge weighs %g", (double)weight[n]);
        n++;
    }
    return NULL;
}

/* Which are drawn of those that are no loops. */
GN_INLINE void choose(const gn_graph *g, const gn_elem index, const row_edges *r,
                      const gn_drawing *how, const gn_draw_room *z)
{
    int64_t others = r->end - r->first - r->loops, n = 0;
    bool again = how->how == GN_DRAW_REPLACE;
    gn_graph_array owner = how->how == GN_DRAW_LABOR ? GN_GRAPH_COL : GN_GRAPH_POS;
    for (int64_t e = r->first; e < r->end && !again && (how->weight || owner == GN_GRAPH_COL); e++)
        if (!is_loop(g, index, r, e)) z->owner[n++] = at(g, index, owner, e);
    gn_draw_choose(how, gn_draw_key(how->key, how->site), r->row, r->drawn, others, z);
}

GN_INLINE int64_t put(const gn_graph *g, bool unplaced, gn_graph *d, const gn_elem index, int64_t k,
                      int64_t e)
{
    gn_index_set(d->array[GN_GRAPH_COL], index, k, at(g, index, GN_GRAPH_COL, e));
    gn_index_set(d->array[GN_GRAPH_POS], index, k, unplaced ? e : at(g, index, GN_GRAPH_POS, e));
    gn_index_set(d->array[GN_GRAPH_FROM], index, k, e);
    return k + 1;
}

/* Those that are kept, from edge k of d on; where they end. */
GN_INLINE int64_t draw_row(const gn_graph *g, bool unplaced, const gn_elem index,
                           const row_edges *r, const int64_t *few, gn_graph *d, int64_t k)
{
    int64_t next = 0, number = 0, most = r->drawn;
    if (r->some && !r->loops) { /* those alone are looked at */
        for (int64_t i = 0; i < most; i++) k = put(g, unplaced, d, index, k, r->first + few[i]);
        return k;
    }
    for (int64_t e = r->first; e < r->end; e++) {
        if (!r->some || is_loop(g, index, r, e)) {
            k = put(g, unplaced, d, index, k, e);
            continue;
        }
        for (; next < most && few[next] == number; next++) k = put(g, unplaced, d, index, k, e);
        number++;
    }
    return k;
}

/* Where edges are, into each row of the pick, how many are loops, and the most of a row. */
GN_INLINE int64_t find_rows(const gn_graph *g, const gn_graph *r, const gn_elem index, bool loops,
                            row_edges *rows)
{
    int64_t most = 0, n = r->n_edge;
    for (int64_t i = 0; i < n; i++) {
        int64_t v = gn_index_get(r->array[GN_GRAPH_COL], r->index, i);
        if (i + AHEAD < n)
            ask_for(g, index, GN_GRAPH_ROW_PTR,
                    gn_index_get(r->array[GN_GRAPH_COL], r->index, i + AHEAD));
        rows[i] = (row_edges){.row = v,
                              .first = at(g, index, GN_GRAPH_ROW_PTR, v),
                              .end = at(g, index, GN_GRAPH_ROW_PTR, v + 1)};
        if (rows[i].end - rows[i].first > most) most = rows[i].end - rows[i].first;
    }
    for (int64_t i = 0; i < n && loops; i++) {
        if (i + AHEAD < n) ask_for(g, index, GN_GRAPH_COL, rows[i + AHEAD].first);
        for (int64_t e = rows[i].first; e < rows[i].end; e++)
            rows[i].loops += at(g, index, GN_GRAPH_COL, e) == rows[i].row;
    }
    return most;
}

/* How many edges are kept of each, and in all. */
static gn_status *count(const gn_graph *g, const gn_drawing *how, int64_t n, row_edges *rows,
                        const gn_draw_room *z, int64_t *edges)
{
    *edges = 0;
    for (int64_t i = 0; i < n; i++) {
        row_edges *r = &rows[i];
        int64_t others = r->end - r->first - r->loops;
        if (how->weight) GN_TRY(find_weights(g, r, how, z->weight));
        r->drawn = gn_draw_number(how, others, z->weight);
        r->some = !gn_draws_all(how, r->drawn, others);
        if (__builtin_add_overflow(*edges, r->loops + r->drawn, edges))
            GN_FAIL(GN_ERR_NOMEM, "draw: %lld edges of each of %lld rows cannot be counted",
                    (long long)how->most, (long long)n);
    }
    return NULL;
}

static gn_status *room_new(const gn_drawing *how, int64_t into, gn_draw_room *z, void **block)
{
    int64_t few = how->most, all;
    if (how->how != GN_DRAW_REPLACE && few > into) few = into;
    /* few, owners, keys and weights, as words */
    if (__builtin_add_overflow(few, 3 * into + 4, &all)) all = INT64_MAX;
    GN_TRY(gn_block_new(all, sizeof(int64_t), "drawn edges", block));
    z->few = *block;
    z->owner = z->few + few + 1;
    z->key = (double *)(void *)(z->owner + into + 1);
    z->weight = (float *)(void *)(z->key + into + 1);
    return NULL;
}

GN_INLINE void fill(const gn_graph *g, const gn_elem index, const gn_drawing *how, int64_t n,
                    const row_edges *rows, const gn_draw_room *z, gn_graph *d)
{
    int64_t k = 0;
    for (int64_t i = 0; i < n; i++) {
        const row_edges *r = &rows[i];
        if (i + AHEAD < n) {
            ask_for(g, index, GN_GRAPH_COL, rows[i + AHEAD].first);
            if (!how->unplaced) ask_for(g, index, GN_GRAPH_POS, rows[i + AHEAD].first);
        }
        if (how->weight) gn_status_free(find_weights(g, r, how, z->weight)); /* they were counted */
        if (r->some) choose(g, index, r, how, z);
        k = draw_row(g, how->unplaced, index, r, z->few, d, k);
        gn_index_set(d->listed, index, i, r->row);
        gn_index_set(d->listed_ptr, index, i + 1, k);
    }
}

gn_status *gn_graph_draw(const gn_graph *g, const gn_graph *r, const gn_drawing *how,
                         gn_graph **out)
{
    int64_t edges = 0, n = r->n_edge;
    gn_draw_room z;
    void *block = NULL, *table;
    bool wide = g->index == GN_I64;
    *out = NULL;
    if (!r->picks || r->n_src != g->n_dst || how->most < 0)
        GN_FAIL(GN_ERR_DATA, "draw: %lld edges of each of %lld rows, of which others are picked",
                (long long)how->most, (long long)g->n_dst);
    if (r->groups) return gn_graph_draw_apart(g, r, how, out);
    GN_TRY(gn_block_new(n + 1, sizeof(row_edges), "rows whose edges are drawn", &table));
    row_edges *rows = table;
    int64_t into = wide ? find_rows(g, r, GN_I64, how->loops, rows)
                        : find_rows(g, r, GN_I32, how->loops, rows);
    gn_status *s = room_new(how, into, &z, &block);
    if (!s) s = count(g, how, n, rows, &z, &edges);
    if (!s) s = gn_graph_listed_blank(g, n, edges, out);
    if (!s && (*out)->index != g->index)
        s = GN_ERROR(GN_ERR_NOMEM, "draw: %lld edges ask for wider indices", (long long)edges);
    if (!s && wide)
        fill(g, GN_I64, how, n, rows, &z, *out);
    else if (!s)
        fill(g, GN_I32, how, n, rows, &z, *out);
    if (s) {
        gn_graph_free(*out);
        *out = NULL;
    }
    gn_block_free(block);
    gn_block_free(table);
    return s;
}
