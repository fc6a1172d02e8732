#include "session/subgraphs.h"

#include "base/alloc.h"
#include "base/draw.h"
#include "base/philox.h"
#include "session/clusters.h"

#include <math.h>
#include <string.h>

enum {
    NODES_SITE = 1 << 28, /* of draws */
    COVERAGE = 50         /* how often a node is in a batch, in the mean, where that is counted */
};
static const double most_share = 1e4; /* as GraphSAINT's code has it */

struct gn_subgraphs {
    gn_graph *g;
    gn_batch_spec how;
    int64_t *first; /* CLUSTER: [parts + 1], of each part, in */
    int64_t *node;  /* [nodes] those by part */
    double *sum;    /* SAINT_NODE [nodes + 1], SAINT_EDGE [edges + 1]: running sums of chances */
};

static int64_t get(const gn_graph *g, gn_graph_array k, int64_t i)
{
    return gn_index_get(g->array[k], g->index, i);
}

static int64_t degree(const gn_graph *g, int64_t v)
{
    return get(g, GN_GRAPH_ROW_PTR, v + 1) - get(g, GN_GRAPH_ROW_PTR, v);
}

/* What is drawn ----------------------------------------------------------------------------------
 */

/* A node by the squares of what it gives to others' means, column u of D^-1 A (GraphSAINT, section
 * 3.3). */
static void sum_of_nodes(const gn_graph *g, double *sum)
{
    memset(sum, 0, (size_t)(g->n_dst + 1) * sizeof *sum);
    for (int64_t v = 0, e = 0; v < g->n_dst; v++) {
        double mean = degree(g, v) ? 1 / (double)degree(g, v) : 0;
        for (int64_t end = get(g, GN_GRAPH_ROW_PTR, v + 1); e < end; e++)
            sum[get(g, GN_GRAPH_COL, e) + 1] += mean * mean;
    }
    for (int64_t v = 0; v < g->n_dst; v++) sum[v + 1] += sum[v];
}

/* An edge u -> v by 1 / deg(u) + 1 / deg(v), theorem 2 there. */
static void sum_of_edges(const gn_graph *g, double *sum)
{
    sum[0] = 0;
    for (int64_t v = 0, e = 0; v < g->n_dst; v++)
        for (int64_t end = get(g, GN_GRAPH_ROW_PTR, v + 1); e < end; e++) {
            int64_t from = degree(g, get(g, GN_GRAPH_COL, e));
            sum[e + 1] = sum[e] + 1 / (double)(from ? from : 1) + 1 / (double)degree(g, v);
        }
}

/* The place of which the running sum of chances holds this draw. */
static int64_t find(const double *sum, int64_t n, uint64_t bits)
{
    double at = (double)(bits >> 11) * 0x1p-53 * sum[n];
    int64_t low = 0, high = n; /* sum[low] <= at < sum[high] */
    while (high - low > 1) {
        int64_t mid = low + (high - low) / 2;
        if (sum[mid] <= at)
            low = mid;
        else
            high = mid;
    }
    return low;
}

static int64_t row_of_edge(const gn_graph *g, int64_t e)
{
    int64_t low = 0, high = g->n_dst;
    while (high - low > 1) {
        int64_t mid = low + (high - low) / 2;
        if (get(g, GN_GRAPH_ROW_PTR, mid) <= e)
            low = mid;
        else
            high = mid;
    }
    return low;
}

static void put(gn_picked *out, int64_t v)
{
    if (!out->mask[v]) out->node[out->n++] = v;
    out->mask[v] = 1;
}

/* From a root on to those that send it messages. */
static void walk(const gn_subgraphs *z, uint64_t stream, int64_t k, gn_picked *out)
{
    const gn_graph *g = z->g;
    uint64_t at = (uint64_t)k * (uint64_t)(z->how.sampled[1] + 1);
    int64_t v = gn_draw_row(gn_draw_long(stream, at), g->n_dst);
    put(out, v);
    for (int64_t step = 1; step <= z->how.sampled[1] && degree(g, v); step++) {
        int64_t e = gn_draw_row(gn_draw_long(stream, at + (uint64_t)step), degree(g, v));
        v = get(g, GN_GRAPH_COL, get(g, GN_GRAPH_ROW_PTR, v) + e);
        put(out, v);
    }
}

static void draw(const gn_subgraphs *z, uint64_t stream, int64_t k, gn_picked *out)
{
    const gn_graph *g = z->g;
    uint64_t bits = gn_draw_long(stream, (uint64_t)k);
    if (z->how.sampler == GN_SAMPLER_SAINT_NODE) {
        put(out, find(z->sum, g->n_dst, bits));
    } else if (z->how.sampler == GN_SAMPLER_SAINT_EDGE) {
        int64_t e = find(z->sum, g->n_edge, bits);
        put(out, get(g, GN_GRAPH_COL, e));
        put(out, row_of_edge(g, e));
    } else {
        walk(z, stream, k, out);
    }
}

void gn_subgraphs_pick(const gn_subgraphs *z, int64_t n, const int64_t *part, uint64_t key,
                       gn_picked *out)
{
    uint64_t stream = gn_draw_key(key, NODES_SITE);
    bool drawn = z->how.sampler != GN_SAMPLER_CLUSTER;
    while (out->n > 0) out->mask[out->node[--out->n]] = 0;
    for (int64_t k = 0; k < z->how.sampled[0] && drawn; k++) draw(z, stream, k, out);
    for (int64_t k = 0; k < n && !drawn; k++)
        for (int64_t i = z->first[part[k]]; i < z->first[part[k] + 1]; i++) put(out, z->node[i]);
}

/* As a whole -------------------------------------------------------------------------------------
 */

/* Nodes by their parts. */
static gn_status *cluster(gn_subgraphs *z)
{
    int64_t nodes = z->g->n_dst, parts = z->how.sampled[0];
    int32_t *part = gn_allocate_zeroed((size_t)(nodes + 1) * sizeof *part);
    z->first = gn_allocate_zeroed((size_t)(parts + 2) * sizeof *z->first);
    z->node = gn_allocate_zeroed((size_t)(nodes + 1) * sizeof *z->node);
    gn_status *s = part && z->first && z->node
                       ? gn_cluster_nodes(z->g, parts, part)
                       : GN_ERROR(GN_ERR_NOMEM, "out of memory: parts of %lld nodes",
                                  (long long)nodes);
    if (!s) {
        int64_t *at = z->first + 1; /* where the next one of a part goes */
        for (int64_t v = 0; v < nodes; v++) at[part[v] + 1]++;
        for (int64_t k = 0; k < parts; k++) at[k + 1] += at[k];
        for (int64_t v = 0; v < nodes; v++) z->node[at[part[v]]++] = v;
    }
    gn_release(part);
    return s;
}

static gn_status *prepare(gn_subgraphs *z)
{
    gn_graph *g = z->g;
    bool nodes = z->how.sampler == GN_SAMPLER_SAINT_NODE;
    if (z->how.sampler == GN_SAMPLER_CLUSTER) return cluster(z);
    if (z->how.sampler == GN_SAMPLER_SAINT_WALK) return NULL;
    int64_t n = nodes ? g->n_dst : g->n_edge;
    if (!g->n_edge) GN_FAIL(GN_ERR_DATA, "`sampler`: the graph has no edges to draw from");
    z->sum = gn_allocate_zeroed((size_t)(n + 1) * sizeof *z->sum);
    if (!z->sum) GN_FAIL(GN_ERR_NOMEM, "out of memory: chances of %lld rows", (long long)n);
    if (nodes)
        sum_of_nodes(g, z->sum);
    else
        sum_of_edges(g, z->sum);
    return NULL;
}

gn_status *gn_subgraphs_new(gn_graph *g, const gn_batch_spec *how, gn_subgraphs **out)
{
    *out = NULL;
    if (!g->n_dst) GN_FAIL(GN_ERR_DATA, "`sampler`: the graph has no nodes");
    gn_subgraphs *z = gn_allocate_zeroed(sizeof *z);
    if (!z) GN_FAIL(GN_ERR_NOMEM, "out of memory: subgraphs");
    *z = (gn_subgraphs){.g = g, .how = *how};
    gn_status *s = prepare(z);
    if (s)
        gn_subgraphs_free(z);
    else
        *out = z;
    return s;
}

void gn_subgraphs_free(gn_subgraphs *z)
{
    if (!z) return;
    gn_release(z->first);
    gn_release(z->node);
    gn_release(z->sum);
    gn_release(z);
}

int64_t gn_subgraphs_count(const gn_subgraphs *z)
{
    const gn_batch_spec *t = &z->how;
    if (t->sampler == GN_SAMPLER_CLUSTER) return t->sampled[0];
    if (t->steps) return t->steps;
    double each = (double)t->sampled[0]; /* draws of nodes, repeats too */
    if (t->sampler == GN_SAMPLER_SAINT_EDGE) each *= 2;
    if (t->sampler == GN_SAMPLER_SAINT_WALK) each *= (double)(t->sampled[1] + 1);
    double steps = ceil((double)z->g->n_dst / each);
    return steps > 1 ? (int64_t)steps : 1;
}

/* How often nodes, and edges between them, are in the batches that there are. */
static void count(const gn_graph *g, const gn_picked *of, float *node, float *edge)
{
    for (int64_t k = 0; k < of->n; k++) {
        int64_t v = of->node[k];
        node[v] += 1;
        for (int64_t e = get(g, GN_GRAPH_ROW_PTR, v); e < get(g, GN_GRAPH_ROW_PTR, v + 1); e++)
            if (of->mask[get(g, GN_GRAPH_COL, e)]) edge[e] += 1;
    }
}

static float share(double of, double times)
{
    double s = times > 0 && of > 0 ? of / times : 1;
    return (float)(s < most_share ? s : most_share);
}

gn_status *gn_subgraphs_shares(gn_subgraphs *z, uint64_t seed, float *node, float *edge)
{
    const gn_graph *g = z->g;
    gn_picked some = {gn_allocate_zeroed((size_t)g->n_dst + 1),
                      gn_allocate_zeroed((size_t)(g->n_dst + 1) * sizeof *some.node), 0};
    bool room = some.mask && some.node;
    memset(node, 0, (size_t)g->n_dst * sizeof *node);
    memset(edge, 0, (size_t)g->n_edge * sizeof *edge);
    double all = 0, met = 0, sum = 0;
    for (uint64_t k = 0; room && all < (double)COVERAGE * (double)g->n_dst; k++) {
        gn_subgraphs_pick(z, 0, NULL, gn_step_key(~seed, k), &some);
        count(g, &some, node, edge);
        all += (double)some.n;
    }
    gn_release(some.mask);
    gn_release(some.node);
    if (!room) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld nodes", (long long)g->n_dst);
    for (int64_t v = 0, e = 0; v < g->n_dst; v++)
        for (int64_t end = get(g, GN_GRAPH_ROW_PTR, v + 1); e < end; e++)
            edge[e] = share((double)node[v], (double)edge[e]);
    for (int64_t v = 0; v < g->n_dst; v++) met += node[v] > 0;
    for (int64_t v = 0; v < g->n_dst; v++) node[v] = share(all / met, (double)node[v]);
    for (int64_t v = 0; v < g->n_dst; v++) sum += (double)node[v];
    for (int64_t v = 0; v < g->n_dst; v++) node[v] *= (float)((double)g->n_dst / sum);
    return NULL;
}
