/* Graphs of a few of the edges into each of some rows. */
#include "base/draw.h"
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

/* The edges into a row, and how many of them are kept. */
typedef struct row_edges {
    int64_t row, first, end, loops, drawn;
    bool some; /* which of those that are no loops are kept is drawn */
} row_edges;

static row_edges edges_into(const gn_graph *g, int64_t row, const gn_drawing *how)
{
    row_edges r = {row, get(g, GN_GRAPH_ROW_PTR, row), get(g, GN_GRAPH_ROW_PTR, row + 1)};
    for (int64_t e = r.first; e < r.end && how->loops; e++)
        r.loops += get(g, GN_GRAPH_COL, e) == row;
    int64_t others = r.end - r.first - r.loops;
    r.some = how->how == GN_DRAW_REPLACE ? others > 0 : others > how->most;
    r.drawn = r.some ? how->most : others;
    return r;
}

static int64_t put(const gn_graph *g, gn_graph *d, int64_t k, int64_t e)
{
    set(d, GN_GRAPH_COL, k, get(g, GN_GRAPH_COL, e));
    set(d, GN_GRAPH_POS, k, get(g, GN_GRAPH_POS, e));
    set(d, GN_GRAPH_FROM, k, e);
    return k + 1;
}

static bool is_loop(const gn_graph *g, const row_edges *r, int64_t e)
{
    return r->loops && get(g, GN_GRAPH_COL, e) == r->row;
}

/* Which are drawn of those that are no loops: few [most]; of [edges into the row] is room. */
static void choose(const gn_graph *g, const row_edges *r, const gn_drawing *how, int64_t *few,
                   int64_t *of)
{
    uint64_t stream = gn_draw_key(how->key, how->site);
    int64_t others = r->end - r->first - r->loops, n = 0;
    if (how->how == GN_DRAW_REPLACE) {
        gn_draw_again(stream, r->row, how->most, others, few);
    } else if (how->how == GN_DRAW_LABOR) {
        for (int64_t e = r->first; e < r->end; e++)
            if (!is_loop(g, r, e)) of[n++] = get(g, GN_GRAPH_COL, e);
        gn_draw_shared(stream, how->most, others, of, few);
    } else {
        gn_draw_few(stream, r->row, how->most, others, few);
    }
}

/* Those that are kept, from edge k of d on; where they end. */
static int64_t draw_row(const gn_graph *g, const row_edges *r, int64_t most, const int64_t *few,
                        gn_graph *d, int64_t k)
{
    int64_t next = 0, number = 0;
    if (r->some && !r->loops) { /* those alone are looked at */
        for (int64_t i = 0; i < most; i++) k = put(g, d, k, r->first + few[i]);
        return k;
    }
    for (int64_t e = r->first; e < r->end; e++) {
        if (!r->some || is_loop(g, r, e)) {
            k = put(g, d, k, e);
            continue;
        }
        for (; next < most && few[next] == number; next++) k = put(g, d, k, e);
        number++;
    }
    return k;
}

/* How many edges are kept, and how many the row has that has most. */
static gn_status *count(const gn_graph *g, const gn_graph *r, const gn_drawing *how, int64_t *n,
                        int64_t *most_into)
{
    *n = *most_into = 0;
    for (int64_t i = 0; i < r->n_edge; i++) {
        row_edges e = edges_into(g, get(r, GN_GRAPH_COL, i), how);
        if (__builtin_add_overflow(*n, e.loops + e.drawn, n))
            GN_FAIL(GN_ERR_NOMEM, "draw: %lld edges of each of %lld rows cannot be counted",
                    (long long)how->most, (long long)r->n_edge);
        if (e.end - e.first > *most_into) *most_into = e.end - e.first;
    }
    return NULL;
}

gn_status *gn_graph_draw(const gn_graph *g, const gn_graph *r, const gn_drawing *how,
                         gn_graph **out)
{
    int64_t edges, into, few_n;
    void *room;
    *out = NULL;
    if (!r->picks || r->n_src != g->n_dst || how->most < 0)
        GN_FAIL(GN_ERR_DATA, "draw: %lld edges of each of %lld rows, of which others are picked",
                (long long)how->most, (long long)g->n_dst);
    GN_TRY(count(g, r, how, &edges, &into));
    few_n = how->most < edges ? how->most : edges;
    GN_TRY(gn_block_new(few_n + into + 1, sizeof(int64_t), "drawn edges", &room));
    int64_t *few = room, *of = few + few_n;
    gn_status *s = gn_graph_listed_blank(g, r->n_edge, edges, out);
    int64_t k = 0;
    for (int64_t i = 0; !s && i < r->n_edge; i++) {
        row_edges e = edges_into(g, get(r, GN_GRAPH_COL, i), how);
        if (e.some) choose(g, &e, how, few, of);
        k = draw_row(g, &e, how->most, few, *out, k);
        gn_index_set((*out)->listed, (*out)->index, i, e.row);
        gn_index_set((*out)->listed_ptr, (*out)->index, i + 1, k);
    }
    gn_block_free(room);
    return s;
}
