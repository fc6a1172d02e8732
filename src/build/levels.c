/* levels: how far from a mask it pays to leave rows out. */
#include "base/alloc.h"
#include "build/build.h"

#include <string.h>

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

typedef struct typed_levels {
    const gn_typed_rows *of;
    uint8_t **marked, **next; /* by space: rows that are needed, and those of the level after */
    uint8_t *seen;            /* sources of a walk */
    int64_t *rows[GN_MOST_LEVELS + 1]; /* how many, by space */
} typed_levels;

/* Marks what the edges of a walk lead from into marked rows; which ends they join. */
static gn_ends walk_back(typed_levels *z, const gn_level_walk *w)
{
    const gn_graph *g = w->graph;
    const void *ptr = g->array[GN_GRAPH_ROW_PTR], *col = g->array[GN_GRAPH_COL];
    int from = w->back ? w->dst : w->src, into = w->back ? w->src : w->dst;
    gn_ends ends = {
        .name = w->name, .picked = true, .back = w->back, .column = w->column, .value = w->value};
    enum { SOURCE = 1, ROW = 2 };
    memset(z->seen, 0, (size_t)z->of->most_rows);
    for (int64_t v = 0; v < g->n_dst; v++) {
        if (!w->back && !z->marked[into][v]) continue;
        int64_t end = gn_index_get(ptr, g->index, v + 1);
        for (int64_t e = gn_index_get(ptr, g->index, v); e < end; e++) {
            int64_t u = gn_index_get(col, g->index, e), source = w->back ? v : u,
                    row = w->back ? u : v;
            if (!z->marked[into][row] || (w->column && w->values[e] != w->value)) continue;
            z->next[from][source] = 1;
            ends.joined_src += !(z->seen[source] & SOURCE);
            z->seen[source] |= SOURCE;
            ends.joined_dst += !(z->seen[row] & ROW);
            z->seen[row] |= ROW;
        }
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
    typed_levels z = {.of = t, .seen = gn_allocate_zeroed((size_t)t->most_rows)};
    uint8_t *bytes = gn_allocate_zeroed(2 * (size_t)all), *at = bytes;
    gn_status *s = NULL;
    if (bytes && z.seen) {
        z.marked = GN_NEW_N(a, uint8_t *, 2 * (size_t)t->n_spaces);
        z.next = z.marked + t->n_spaces;
        for (int k = 0; k < 2 * t->n_spaces; at += t->rows[k % t->n_spaces], k++) z.marked[k] = at;
        for (int64_t v = 0; v < t->rows[t->labelled]; v++) z.next[t->labelled][v] = mask[v] != 0;
        count_typed(&z, a, all, most < GN_MOST_LEVELS ? most : GN_MOST_LEVELS, out);
    } else
        s = GN_ERROR(GN_ERR_NOMEM, "out of memory: %lld rows to be picked", (long long)all);
    gn_release(bytes);
    gn_release(z.seen);
    return s;
}
