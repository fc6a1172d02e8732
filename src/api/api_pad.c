/* Padding: a graph as large as its bucket, with rows and edges that no result depends on.
 *
 * Nodes are added behind the user's, edges are loops of those, so nothing flows between the two;
 * what sums over all rows reads the mask GN_VALID_ROWS (passes/mask_rows.c). */
#include "api/api.h"

#include "runtime/memory.h"

#include <string.h>

void api_drop_padding(gnnc_run *r)
{
    gn_graph_free(r->padded);
    gn_graph_free(r->padded_pattern);
    gn_release(r->valid);
    r->padded = r->padded_pattern = NULL;
    r->valid = NULL;
    for (int k = 0; k < r->n_data; k++) {
        gn_release(r->data[k].padded);
        r->data[k].padded = NULL;
        if (!r->exe->bucket || !r->data[k].on_edges) continue;
        gn_release(r->data[k].sorted);
        r->data[k].sorted = NULL;
    }
}

/* The user's list of edges, and loops of the nodes that are added in turn. */
static gn_status *pad_graph(const gn_graph *g, gn_sizes to, gn_graph **out)
{
    int64_t nodes = to.n[GN_DIM_NODES], edges = to.n[GN_DIM_EDGES], more = nodes - g->n_dst, *src;
    void *block;
    GN_TRY(gn_block_new(edges, 2 * sizeof *src, "padded edges", &block));
    src = block;
    const void *row = g->array[GN_GRAPH_ROW_PTR], *col = g->array[GN_GRAPH_COL],
               *at = g->array[GN_GRAPH_POS];
    for (int64_t v = 0; v < g->n_dst; v++)
        for (int64_t e = gn_index_get(row, g->index, v); e < gn_index_get(row, g->index, v + 1);
             e++) {
            int64_t k = gn_index_get(at, g->index, e);
            src[k] = gn_index_get(col, g->index, e);
            src[edges + k] = v;
        }
    for (int64_t e = g->n_edge; e < edges; e++)
        src[e] = src[edges + e] = g->n_dst + (e - g->n_edge) % more;
    gn_status *s = gn_graph_from_coo(g->index, nodes, nodes, edges, GN_I64, src, src + edges, out);
    gn_block_free(block);
    return s;
}

/* Rows without non-zeros, behind those that there are. */
static gn_status *pad_pattern(const gn_graph *g, int64_t nodes, gn_graph **out)
{
    void *ptr, *col;
    GN_TRY(gn_block_new(nodes + 1, sizeof(int64_t), "padded rows", &ptr));
    gn_status *s = gn_block_new(g->n_edge, sizeof(int32_t), "padded columns", &col);
    for (int64_t v = 0; v <= nodes && !s; v++)
        ((int64_t *)ptr)[v] = gn_index_get(g->array[GN_GRAPH_ROW_PTR], g->index,
                                           v < g->n_dst ? v : g->n_dst);
    for (int64_t e = 0; e < g->n_edge && !s; e++)
        ((int32_t *)col)[e] = (int32_t)gn_index_get(g->array[GN_GRAPH_COL], g->index, e);
    if (!s)
        s = gn_graph_from_csr(g->index, nodes, g->n_src, ptr, col, g->array[GN_GRAPH_VALUE], out);
    gn_block_free(col);
    gn_block_free(ptr);
    return s;
}

static gn_status *make(gnnc_run *r, gn_sizes to)
{
    const gn_graph *g = r->graph->graph;
    int64_t nodes = to.n[GN_DIM_NODES];
    GN_TRY(pad_graph(g, to, &r->padded));
    if (r->pattern) {
        if (r->pattern->n_dst != g->n_dst)
            GN_FAIL(GN_ERR_DATA, "x: %lld rows, the graph has %lld nodes",
                    (long long)r->pattern->n_dst, (long long)g->n_dst);
        GN_TRY(pad_pattern(r->pattern, nodes, &r->padded_pattern));
    }
    r->valid = gn_allocate_zeroed((size_t)nodes + 1);
    if (!r->valid) GN_FAIL(GN_ERR_NOMEM, "out of memory: a mask of %lld rows", (long long)nodes);
    memset(r->valid, 1, (size_t)g->n_dst);
    return NULL;
}

gn_status *api_pad(gnnc_run *r, gn_sizes *sizes)
{
    if (!r->exe->bucket) return NULL;
    gn_sizes to = gn_bucket_of(r->exe->bucket, *sizes);
    *sizes = to;
    if (r->padded) return NULL;
    if ((to.n[GN_DIM_NODES] > INT32_MAX || to.n[GN_DIM_EDGES] > INT32_MAX) &&
        r->exe->opt.index != GN_I64)
        GN_FAIL(GN_ERR_USAGE,
                "the bucket has %lld nodes and %lld edges, more than 2^31 - 1: compile with `wide`",
                (long long)to.n[GN_DIM_NODES], (long long)to.n[GN_DIM_EDGES]);
    gn_status *s = make(r, to);
    if (s) api_drop_padding(r);
    return s;
}

/* A row for each node.  Data that the run owns stays as it was. */
static gn_status *pad_nodes(const gnnc_run *r, api_data *d)
{
    int64_t rows = r->padded->n_dst, row = d->row_elems * (int64_t)gn_elem_size(d->elem);
    if (d->rows != r->graph->graph->n_dst)
        GN_FAIL(GN_ERR_DATA, "%s: %lld rows, the graph has %lld nodes", d->name, (long long)d->rows,
                (long long)r->graph->graph->n_dst);
    if (d->padded && d->own) return NULL;
    if (!d->padded) GN_TRY(gn_block_zeroed(rows, (size_t)row, d->name, &d->padded));
    if (d->rows) memcpy(d->padded, d->data, (size_t)(d->rows * row));
    return NULL;
}

/* Always owned: sorted once, into the place of what was there. */
static gn_status *sort_edges(const gnnc_run *r, api_data *d)
{
    const gn_graph *of = api_relation(r, d->relation), *g = r->padded ? r->padded : of;
    int64_t row = d->row_elems * (int64_t)gn_elem_size(d->elem);
    void *all = NULL, *sorted = NULL;
    if (!of) return NULL; /* nobody reads it */
    if (d->rows != of->n_edge)
        GN_FAIL(GN_ERR_DATA, "%s: %lld rows, the %s has %lld edges", d->name, (long long)d->rows,
                d->relation ? "relation" : "graph", (long long)of->n_edge);
    if (d->sorted && d->stale) gn_graph_edges_in(g, row, d->data, d->sorted);
    d->stale = false;
    if (d->sorted) return NULL;
    if (r->padded) GN_TRY(gn_block_zeroed(g->n_edge, (size_t)row, d->name, &all));
    if (all && d->rows) memcpy(all, d->data, (size_t)(d->rows * row));
    gn_status *s = gn_block_new(g->n_edge, (size_t)row, d->name, &sorted);
    if (!s) gn_graph_edges_in(g, row, all ? all : d->data, sorted);
    gn_block_free(all);
    d->sorted = sorted;
    return s;
}

gn_status *api_arrange(gnnc_run *r)
{
    for (int k = 0; k < r->n_data; k++) {
        api_data *d = &r->data[k];
        if (d->data && d->on_nodes && r->padded) GN_TRY(pad_nodes(r, d));
        if (d->data && d->on_edges) GN_TRY(sort_edges(r, d));
    }
    return NULL;
}
