/* levels: how far from a mask it pays to leave rows out. */
#include "base/alloc.h"
#include "build/build.h"

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

/* Marks what edges lead from into marked rows, beside those; all that are marked in the end. */
static void walk_back(const gn_level_walk *w, uint8_t *const *marked, uint8_t *const *next)
{
    const gn_graph *g = w->graph;
    const void *ptr = g->array[GN_GRAPH_ROW_PTR], *col = g->array[GN_GRAPH_COL];
    for (int64_t v = 0; v < g->n_dst; v++) {
        if (!w->back && !marked[w->dst][v]) continue;
        int64_t end = gn_index_get(ptr, g->index, v + 1);
        for (int64_t e = gn_index_get(ptr, g->index, v); e < end; e++) {
            int64_t u = gn_index_get(col, g->index, e);
            if (!w->back)
                next[w->src][u] = 1;
            else if (marked[w->src][u])
                next[w->dst][v] = 1;
        }
    }
}

/* Copies what is marked of all spaces; how many rows that is. */
static int64_t settle(int n, const int64_t *rows, uint8_t *const *from, uint8_t *const *to)
{
    int64_t marked = 0;
    for (int s = 0; s < n; s++)
        for (int64_t v = 0; v < rows[s]; v++) marked += to[s][v] = from[s][v];
    return marked;
}

gn_status *gn_count_typed_levels(int n_spaces, const int64_t *rows, int n_walks,
                                 const gn_level_walk *walk, int labelled, const uint8_t *mask,
                                 int most, int *levels)
{
    int64_t all = 0, n = 0;
    *levels = 0;
    for (int s = 0; s < n_spaces; s++)
        if (__builtin_add_overflow(all, rows[s], &all)) return NULL;
    if (!mask || !all) return NULL;
    uint8_t *bytes = gn_allocate_zeroed(2 * (size_t)all);
    uint8_t **marked = gn_allocate_zeroed(2 * (size_t)n_spaces * sizeof *marked);
    if (!bytes || !marked) {
        gn_release(bytes);
        gn_release(marked);
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld rows to be picked", (long long)all);
    }
    uint8_t **next = marked + n_spaces, *at = bytes;
    for (int s = 0; s < 2 * n_spaces; at += rows[s % n_spaces], s++) marked[s] = at;
    for (int64_t v = 0; v < rows[labelled]; v++) n += next[labelled][v] = mask[v] != 0;
    settle(n_spaces, rows, next, marked);
    bool grows = true;
    while (*levels < most && (double)n <= (1 - worth) * (double)all) {
        ++*levels;
        for (int w = 0; w < n_walks && grows; w++) walk_back(&walk[w], marked, next);
        int64_t reached = grows ? settle(n_spaces, rows, next, marked) : n;
        grows = reached > n;
        n = reached;
    }
    gn_release(marked);
    gn_release(bytes);
    return NULL;
}
