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
