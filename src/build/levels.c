/* levels: how far from a mask it pays to leave rows out. */
#include "base/alloc.h"
#include "build/build.h"

#include <stdlib.h>

/* A level that leaves out less than this part of the rows is not worth graphs of its own. */
static const double worth = 0.25;

/* Marks the sources of edges into marked rows; how many rows are marked then. *edges: into those
 * that were before. */
static int64_t grow(const gn_graph *g, uint8_t *marked, uint8_t *next, int64_t *edges)
{
    const void *ptr = g->array[GN_GRAPH_ROW_PTR], *col = g->array[GN_GRAPH_COL];
    int64_t n = 0;
    *edges = 0;
    for (int64_t v = 0; v < g->n_dst; v++) next[v] = marked[v];
    for (int64_t v = 0; v < g->n_dst; v++) {
        if (!marked[v]) continue;
        int64_t begin = gn_index_get(ptr, g->index, v), end = gn_index_get(ptr, g->index, v + 1);
        *edges += end - begin;
        for (int64_t e = begin; e < end; e++) next[gn_index_get(col, g->index, e)] = 1;
    }
    for (int64_t v = 0; v < g->n_dst; v++) n += marked[v] = next[v];
    return n;
}

gn_status *gn_count_levels(const gn_graph *g, const uint8_t *mask, int most, gn_loss_rows *out)
{
    int64_t n = 0;
    *out = (gn_loss_rows){.facts.all = {g->n_dst, g->n_edge}};
    if (!mask || g->n_src != g->n_dst || g->n_dst == 0) return NULL;
    uint8_t *marked = gn_allocate_zeroed(2 * (size_t)g->n_dst);
    if (!marked)
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld rows to be picked", (long long)g->n_dst);
    for (int64_t v = 0; v < g->n_dst; v++) n += marked[v] = mask[v] != 0;
    while (out->levels < most && (double)n <= (1 - worth) * (double)g->n_dst) {
        gn_row_count *level = &out->facts.level[out->levels++];
        level->rows = n;
        n = grow(g, marked, marked + g->n_dst, &level->edges);
        for (; n == level->rows && out->levels < most; out->levels++) /* all that can be reached */
            out->facts.level[out->levels] = *level;
    }
    gn_release(marked);
    return NULL;
}

/* The edges of a graph that have one value in a column. */
typedef struct own_edges {
    const gn_graph *graph;
    const int32_t *values;
    int64_t value, n;
    int64_t (*end)[2]; /* [n] destination and source */
} own_edges;

typedef struct typed_levels {
    const gn_typed_rows *of;
    uint8_t **marked, **next; /* by space: rows that are needed, and those of the level after */
    uint32_t *seen[2];        /* by end: the walk that came by the row last, from 1 */
    uint32_t walks;           /* so far */
    own_edges *own;           /* in their order */
    int n_own;
    int64_t *rows[GN_MOST_LEVELS + 1]; /* how many, by space */
} typed_levels;

static int order(const void *x, const void *y)
{
    const own_edges *a = x, *b = y;
    uintptr_t p = (uintptr_t)a->values, q = (uintptr_t)b->values;
    if (p != q) return p < q ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

static own_edges *own_edges_of(const typed_levels *z, const int32_t *values, int64_t value)
{
    const own_edges key = {.values = values, .value = value};
    return bsearch(&key, z->own, (size_t)z->n_own, sizeof *z->own, order);
}

/* Over the edges of the graph whose values are these: counts those of each value that is walked,
 * and keeps them where there is room for them. */
static void sort_edges(typed_levels *z, const gn_graph *g, const int32_t *values)
{
    const void *ptr = g->array[GN_GRAPH_ROW_PTR], *col = g->array[GN_GRAPH_COL];
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t end = gn_index_get(ptr, g->index, v + 1);
        for (int64_t e = gn_index_get(ptr, g->index, v); e < end; e++) {
            own_edges *o = own_edges_of(z, values, values[e]);
            if (o && o->end) {
                o->end[o->n][0] = v;
                o->end[o->n][1] = gn_index_get(col, g->index, e);
            }
            if (o) o->n++;
        }
    }
}

/* Sorts the edges of graphs of which walks take those of one value, so that a walk goes along its
 * own alone: kinds may be many. */
static bool find_own_edges(typed_levels *z, gn_arena *a)
{
    const gn_typed_rows *t = z->of;
    z->own = GN_NEW_N(a, own_edges, (size_t)t->n_walks + 1);
    for (int w = 0; w < t->n_walks; w++)
        if (t->walk[w].column)
            z->own[z->n_own++] = (own_edges){t->walk[w].graph, t->walk[w].values, t->walk[w].value,
                                             0, NULL};
    if (z->n_own) qsort(z->own, (size_t)z->n_own, sizeof *z->own, order);
    int n = 0;
    for (int k = 0; k < z->n_own; k++)
        if (k == 0 || order(&z->own[k], &z->own[n - 1])) z->own[n++] = z->own[k];
    z->n_own = n;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < n; k++)
            if (k == 0 || z->own[k].values != z->own[k - 1].values)
                sort_edges(z, z->own[k].graph, z->own[k].values);
        for (int k = 0; pass == 0 && k < n; k++) {
            z->own[k].end = gn_allocate_zeroed((size_t)(z->own[k].n + 1) * sizeof *z->own[k].end);
            if (!z->own[k].end) return false;
            z->own[k].n = 0;
        }
    }
    return true;
}

/* Messages along the edge reach a row that is needed: so is where they come from. */
static void go_back(typed_levels *z, const gn_level_walk *w, int64_t v, int64_t u, gn_ends *ends)
{
    int64_t source = w->back ? v : u, row = w->back ? u : v;
    if (!z->marked[w->back ? w->src : w->dst][row]) return;
    z->next[w->back ? w->dst : w->src][source] = 1;
    ends->joined_src += z->seen[GIR_SRC][source] != z->walks;
    z->seen[GIR_SRC][source] = z->walks;
    ends->joined_dst += z->seen[GIR_DST][row] != z->walks;
    z->seen[GIR_DST][row] = z->walks;
}

/* Marks what the edges of a walk lead from into marked rows; which ends they join. */
static gn_ends walk_back(typed_levels *z, const gn_level_walk *w)
{
    const gn_graph *g = w->graph;
    const void *ptr = g->array[GN_GRAPH_ROW_PTR], *col = g->array[GN_GRAPH_COL];
    gn_ends ends = {
        .name = w->name, .picked = true, .back = w->back, .column = w->column, .value = w->value};
    z->walks++;
    if (w->column) {
        const own_edges *o = own_edges_of(z, w->values, w->value);
        for (int64_t k = 0; k < o->n; k++) go_back(z, w, o->end[k][0], o->end[k][1], &ends);
        return ends;
    }
    for (int64_t v = 0; v < g->n_dst; v++) {
        if (!w->back && !z->marked[w->dst][v]) continue;
        int64_t end = gn_index_get(ptr, g->index, v + 1);
        for (int64_t e = gn_index_get(ptr, g->index, v); e < end; e++)
            go_back(z, w, v, gn_index_get(col, g->index, e), &ends);
    }
    return ends;
}

/* The next level's rows are those that are marked. */
static int64_t settle(typed_levels *z, int level, gn_arena *a)
{
    int64_t marked = 0;
    z->rows[level] = GN_NEW_N(a, int64_t, z->of->n_spaces);
    for (int s = 0; s < z->of->n_spaces; s++) {
        for (int64_t v = 0; v < z->of->rows[s]; v++)
            z->rows[level][s] += z->marked[s][v] = z->next[s][v];
        marked += z->rows[level][s];
    }
    return marked;
}

/* How many rows the ends are among, once it is known how many levels there are. */
static void among(const typed_levels *z, int levels, gn_ends *e, const gn_level_walk *w)
{
    const int64_t *above = e->level + 1 < levels ? z->rows[e->level + 1] : z->of->rows;
    e->src = above[w->back ? w->dst : w->src];
    e->dst = z->rows[e->level][w->back ? w->src : w->dst];
}

static void count_typed(typed_levels *z, gn_arena *a, int64_t all, int most, gn_loss_rows *out)
{
    const gn_typed_rows *t = z->of;
    out->ends = GN_NEW_N(a, gn_ends, (size_t)t->n_walks * (size_t)most + 1);
    int64_t n = settle(z, 0, a);
    while (out->levels < most && (double)n <= (1 - worth) * (double)all) {
        for (int w = 0; w < t->n_walks; w++) {
            gn_ends *e = &out->ends[out->n_ends++];
            *e = walk_back(z, &t->walk[w]);
            e->level = out->levels;
        }
        n = settle(z, ++out->levels, a);
    }
    for (int k = 0; k < out->n_ends; k++)
        among(z, out->levels, &out->ends[k], &t->walk[k % t->n_walks]);
}

gn_status *gn_count_typed_levels(gn_arena *a, const gn_typed_rows *t, const uint8_t *mask, int most,
                                 gn_loss_rows *out)
{
    int64_t all = 0;
    *out = (gn_loss_rows){0};
    for (int s = 0; s < t->n_spaces; s++)
        if (__builtin_add_overflow(all, t->rows[s], &all)) return NULL;
    if (!mask || !all) return NULL;
    typed_levels z = {.of = t};
    uint8_t *bytes = gn_allocate_zeroed(2 * (size_t)all), *at = bytes;
    uint32_t *seen = gn_allocate_zeroed(2 * (size_t)t->most_rows * sizeof *seen);
    gn_status *s = NULL;
    if (bytes && seen && find_own_edges(&z, a)) {
        z.seen[0] = seen;
        z.seen[1] = seen + t->most_rows;
        z.marked = GN_NEW_N(a, uint8_t *, 2 * (size_t)t->n_spaces);
        z.next = z.marked + t->n_spaces;
        for (int k = 0; k < 2 * t->n_spaces; at += t->rows[k % t->n_spaces], k++) z.marked[k] = at;
        for (int64_t v = 0; v < t->rows[t->labelled]; v++) z.next[t->labelled][v] = mask[v] != 0;
        count_typed(&z, a, all, most < GN_MOST_LEVELS ? most : GN_MOST_LEVELS, out);
    } else
        s = GN_ERROR(GN_ERR_NOMEM, "out of memory: %lld rows to be picked", (long long)all);
    for (int k = 0; k < z.n_own; k++) gn_release(z.own[k].end);
    gn_release(bytes);
    gn_release(seen);
    return s;
}
