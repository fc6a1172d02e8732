/* Graphs of a few of the edges into each of some rows. */
#include "base/draw_weighted.h"
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

/* Room for the edges into a row that are no loops, [most of a row]. */
typedef struct row_room {
    int64_t *few;   /* those that are drawn [most] */
    int64_t *owner; /* whose draws they are: sources, or places in the user's list */
    float *weight;  /* NULL: alike */
    double *key;
} row_room;

/* The edges into a row, and how many of them are kept. */
typedef struct row_edges {
    int64_t row, first, end, loops, drawn;
    bool some; /* which of those that are no loops are kept is drawn */
} row_edges;

static bool is_loop(const gn_graph *g, const row_edges *r, int64_t e)
{
    return r->loops && get(g, GN_GRAPH_COL, e) == r->row;
}

static float weight_of(const gn_drawing *how, int64_t e)
{
    for (int k = 0; k < how->n_way && e >= 0; k++) e = get(how->way[k], GN_GRAPH_FROM, e);
    return e < 0 ? 1 : how->weight[e];
}

/* Weights of those that are no loops; how many there are. */
static int64_t find_weights(const gn_graph *g, const row_edges *r, const gn_drawing *how,
                            float *weight)
{
    int64_t n = 0;
    for (int64_t e = r->first; e < r->end; e++)
        if (!is_loop(g, r, e)) weight[n++] = weight_of(how, e);
    return n;
}

static row_edges edges_into(const gn_graph *g, int64_t row, const gn_drawing *how,
                            const row_room *z)
{
    row_edges r = {row, get(g, GN_GRAPH_ROW_PTR, row), get(g, GN_GRAPH_ROW_PTR, row + 1)};
    for (int64_t e = r.first; e < r.end && how->loops; e++)
        r.loops += get(g, GN_GRAPH_COL, e) == row;
    int64_t others = r.end - r.first - r.loops, positive = others;
    if (how->weight) {
        (void)find_weights(g, &r, how, z->weight);
        r.drawn = gn_draw_count(how->how, how->most, others, z->weight, &positive);
        r.some = how->how == GN_DRAW_REPLACE || r.drawn < others;
        return r;
    }
    r.some = how->how == GN_DRAW_REPLACE ? others > 0 : others > how->most;
    r.drawn = r.some ? how->most : others;
    return r;
}

static int64_t put(const gn_graph *g, bool unplaced, gn_graph *d, int64_t k, int64_t e)
{
    set(d, GN_GRAPH_COL, k, get(g, GN_GRAPH_COL, e));
    set(d, GN_GRAPH_POS, k, unplaced ? e : get(g, GN_GRAPH_POS, e));
    set(d, GN_GRAPH_FROM, k, e);
    return k + 1;
}

/* Which are drawn of those that are no loops. */
static void choose(const gn_graph *g, const row_edges *r, const gn_drawing *how, const row_room *z)
{
    uint64_t stream = gn_draw_key(how->key, how->site);
    int64_t others = r->end - r->first - r->loops, n = 0;
    bool again = how->how == GN_DRAW_REPLACE;
    gn_graph_array owner = how->how == GN_DRAW_LABOR ? GN_GRAPH_COL : GN_GRAPH_POS;
    for (int64_t e = r->first; e < r->end && !again && (how->weight || owner == GN_GRAPH_COL); e++)
        if (!is_loop(g, r, e)) z->owner[n++] = get(g, owner, e);
    if (how->weight && again)
        gn_draw_weighted_again(stream, r->row, r->drawn, others, z->weight, z->key, z->few);
    else if (how->weight)
        gn_draw_weighted_few(stream, r->drawn, others, z->owner, z->weight, z->key, z->few);
    else if (again)
        gn_draw_again(stream, r->row, how->most, others, z->few);
    else if (how->how == GN_DRAW_LABOR)
        gn_draw_shared(stream, how->most, others, z->owner, z->few);
    else
        gn_draw_few(stream, r->row, how->most, others, z->few);
}

/* Those that are kept, from edge k of d on; where they end. */
static int64_t draw_row(const gn_graph *g, bool unplaced, const row_edges *r, const int64_t *few,
                        gn_graph *d, int64_t k)
{
    int64_t next = 0, number = 0, most = r->drawn;
    if (r->some && !r->loops) { /* those alone are looked at */
        for (int64_t i = 0; i < most; i++) k = put(g, unplaced, d, k, r->first + few[i]);
        return k;
    }
    for (int64_t e = r->first; e < r->end; e++) {
        if (!r->some || is_loop(g, r, e)) {
            k = put(g, unplaced, d, k, e);
            continue;
        }
        for (; next < most && few[next] == number; next++) k = put(g, unplaced, d, k, e);
        number++;
    }
    return k;
}

/* How many edges the row has that has most. */
static int64_t most_into(const gn_graph *g, const gn_graph *r)
{
    int64_t most = 0;
    for (int64_t i = 0; i < r->n_edge; i++) {
        int64_t v = get(r, GN_GRAPH_COL, i);
        int64_t n = get(g, GN_GRAPH_ROW_PTR, v + 1) - get(g, GN_GRAPH_ROW_PTR, v);
        if (n > most) most = n;
    }
    return most;
}

static gn_status *room_new(const gn_drawing *how, int64_t into, row_room *z, void **block)
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

/* How many edges are kept.  GN_ERR_DATA: of a negative weight. */
static gn_status *count(const gn_graph *g, const gn_graph *r, const gn_drawing *how,
                        const row_room *z, int64_t *n)
{
    *n = 0;
    for (int64_t i = 0; i < r->n_edge; i++) {
        row_edges e = edges_into(g, get(r, GN_GRAPH_COL, i), how, z);
        for (int64_t k = 0; how->weight && k < e.end - e.first - e.loops; k++)
            if (!(z->weight[k] >= 0))
                GN_FAIL(GN_ERR_DATA, "draw: an edge weighs %g", (double)z->weight[k]);
        if (__builtin_add_overflow(*n, e.loops + e.drawn, n))
            GN_FAIL(GN_ERR_NOMEM, "draw: %lld edges of each of %lld rows cannot be counted",
                    (long long)how->most, (long long)r->n_edge);
    }
    return NULL;
}

gn_status *gn_graph_draw(const gn_graph *g, const gn_graph *r, const gn_drawing *how,
                         gn_graph **out)
{
    int64_t edges = 0, k = 0;
    row_room z;
    void *block;
    *out = NULL;
    if (!r->picks || r->n_src != g->n_dst || how->most < 0)
        GN_FAIL(GN_ERR_DATA, "draw: %lld edges of each of %lld rows, of which others are picked",
                (long long)how->most, (long long)g->n_dst);
    GN_TRY(room_new(how, most_into(g, r), &z, &block));
    gn_status *s = count(g, r, how, &z, &edges);
    if (!s) s = gn_graph_listed_blank(g, r->n_edge, edges, out);
    for (int64_t i = 0; !s && i < r->n_edge; i++) {
        row_edges e = edges_into(g, get(r, GN_GRAPH_COL, i), how, &z);
        if (e.some) choose(g, &e, how, &z);
        k = draw_row(g, how->unplaced, &e, z.few, *out, k);
        gn_index_set((*out)->listed, (*out)->index, i, e.row);
        gn_index_set((*out)->listed_ptr, (*out)->index, i + 1, k);
    }
    gn_block_free(block);
    return s;
}
