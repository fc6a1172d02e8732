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
    int64_t row, first, end, loops, kept;
} row_edges;

static row_edges edges_into(const gn_graph *g, int64_t row, const gn_drawing *how)
{
    row_edges r = {row, get(g, GN_GRAPH_ROW_PTR, row), get(g, GN_GRAPH_ROW_PTR, row + 1), 0, 0};
    for (int64_t e = r.first; e < r.end && how->loops; e++)
        r.loops += get(g, GN_GRAPH_COL, e) == row;
    int64_t others = r.end - r.first - r.loops;
    r.kept = r.loops + (others < how->most ? others : how->most);
    return r;
}

static int64_t put(const gn_graph *g, gn_graph *d, int64_t k, int64_t e)
{
    set(d, GN_GRAPH_COL, k, get(g, GN_GRAPH_COL, e));
    set(d, GN_GRAPH_POS, k, get(g, GN_GRAPH_POS, e));
    set(d, GN_GRAPH_FROM, k, e);
    return k + 1;
}

/* Those that are kept, from edge k of d on. few: [most] */
static void draw_row(const gn_graph *g, const row_edges *r, const gn_drawing *how, int64_t *few,
                     gn_graph *d, int64_t k)
{
    int64_t others = r->end - r->first - r->loops, next = 0, number = 0;
    bool some = others > how->most;
    if (some) gn_draw_few(gn_draw_key(how->key, how->site), r->row, how->most, others, few);
    if (some && !r->loops) { /* those alone are looked at */
        for (int64_t i = 0; i < how->most; i++) k = put(g, d, k, r->first + few[i]);
        return;
    }
    for (int64_t e = r->first; e < r->end; e++) {
        bool loop = r->loops && get(g, GN_GRAPH_COL, e) == r->row;
        bool drawn = !loop && (!some || (next < how->most && few[next] == number));
        number += !loop;
        next += drawn;
        if (loop || drawn) k = put(g, d, k, e);
    }
}

/* How many edges are kept; the row pointers of d, where it is given, which begins with zeros. */
static int64_t count(const gn_graph *g, const gn_graph *r, const gn_drawing *how, gn_graph *d)
{
    int64_t n = 0;
    for (int64_t i = 0; i < r->n_edge; i++) {
        int64_t row = get(r, GN_GRAPH_COL, i), kept = edges_into(g, row, how).kept;
        if (d) set(d, GN_GRAPH_ROW_PTR, row + 1, kept);
        n += kept;
    }
    for (int64_t v = 0; d && v < d->n_dst; v++)
        set(d, GN_GRAPH_ROW_PTR, v + 1,
            get(d, GN_GRAPH_ROW_PTR, v) + get(d, GN_GRAPH_ROW_PTR, v + 1));
    return n;
}

gn_status *gn_graph_draw(const gn_graph *g, const gn_graph *r, const gn_drawing *how,
                         gn_graph **out)
{
    void *few;
    *out = NULL;
    if (!r->picks || r->n_src != g->n_dst || how->most < 0)
        GN_FAIL(GN_ERR_DATA, "draw: %lld edges of each of %lld rows, of which others are picked",
                (long long)how->most, (long long)g->n_dst);
    GN_TRY(gn_block_new(how->most < g->n_edge ? how->most + 1 : g->n_edge + 1, sizeof(int64_t),
                        "drawn edges", &few));
    gn_status *s = gn_graph_derived_blank(g, g->n_src, g->n_dst, count(g, r, how, NULL), out);
    if (!s) {
        (void)count(g, r, how, *out);
        for (int64_t i = 0; i < r->n_edge; i++) {
            int64_t row = get(r, GN_GRAPH_COL, i);
            row_edges e = edges_into(g, row, how);
            draw_row(g, &e, how, few, *out, get(*out, GN_GRAPH_ROW_PTR, row));
        }
    }
    gn_block_free(few);
    return s;
}
