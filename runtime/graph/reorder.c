#include "runtime/graph/reorder.h"
#include "runtime/memory.h"

#include <string.h>

const char *const gn_order_name[GN_ORDER_COUNT] = {
#define X(id, name, doc) [GN_ORDER_##id] = name,
    GN_ORDERS(X)
#undef X
};

typedef struct edge_list { /* of a merged node: roots of its neighbours when it was visited, and how
                              many edges go there */
    int64_t n;
    int32_t *to;
    float *weight;
} edge_list;

typedef struct orderer {
    const gn_graph *g;
    int64_t n;
    int64_t *degree;
    int32_t *by_degree; /* nodes, fewest edges first */
    /* Rabbit Order */
    int32_t *root;         /* union-find: the node that this one was merged into, or itself */
    int32_t *child, *next; /* nodes merged into one: the last of them, and the one before */
    double *volume;        /* of a root's community: sum of degrees */
    edge_list *edges;
    float *weight; /* by root: edges of the node at hand that go there */
    int32_t *touched;
    int64_t n_touched;
} orderer;

static int64_t get(const gn_graph *g, gn_graph_array k, int64_t i)
{
    return gn_index_get(g->array[k], g->index, i);
}

/* Calls for every neighbour u of v, by edges in and out. */
#define FOR_NEIGHBOURS(z, v, u, ...)                                                               \
    for (int side_ = 0; side_ < 2; side_++) {                                                      \
        gn_graph_array ptr_ = side_ ? GN_GRAPH_COL_PTR : GN_GRAPH_ROW_PTR;                         \
        gn_graph_array end_ = side_ ? GN_GRAPH_CSC_ROW : GN_GRAPH_COL;                             \
        int64_t last_ = get((z)->g, ptr_, (v) + 1);                                                \
        for (int64_t e_ = get((z)->g, ptr_, (v)); e_ < last_; e_++) {                              \
            int64_t u = get((z)->g, end_, e_);                                                     \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

/* Degree --------------------------------------------------------------------------------------- */

/* A counting sort. */
gn_status *gn_order_by_degree(const int64_t *degree, int64_t n, int64_t *to)
{
    int64_t most = 0, before = 0;
    void *p;
    for (int64_t v = 0; v < n; v++) most = degree[v] > most ? degree[v] : most;
    GN_TRY(gn_block_zeroed(most + 1, sizeof(int64_t), "degrees", &p));
    int64_t *at = p;
    for (int64_t v = 0; v < n; v++) at[degree[v]]++;
    for (int64_t k = most; k >= 0; k--) {
        int64_t here = at[k];
        at[k] = before;
        before += here;
    }
    for (int64_t v = n - 1; v >= 0; v--) to[v] = at[degree[v]]++;
    gn_block_free(p);
    return NULL;
}

/* Edges in and out are counted, and `to` is the order by them. */
static gn_status *sort_by_degree(orderer *z, int64_t *to)
{
    for (int64_t v = 0; v < z->n; v++)
        z->degree[v] = get(z->g, GN_GRAPH_ROW_PTR, v + 1) - get(z->g, GN_GRAPH_ROW_PTR, v) +
                       get(z->g, GN_GRAPH_COL_PTR, v + 1) - get(z->g, GN_GRAPH_COL_PTR, v);
    GN_TRY(gn_order_by_degree(z->degree, z->n, to));
    for (int64_t v = 0; v < z->n; v++) z->by_degree[z->n - 1 - to[v]] = (int32_t)v;
    return NULL;
}

/* Reverse Cuthill-McKee ------------------------------------------------------------------------ */

/* Neighbours of every node in order of their degrees: nodes in that order enter themselves at their
 * neighbours. */
static gn_status *sorted_neighbours(const orderer *z, int64_t **ptr, int32_t **list)
{
    void *p, *l;
    GN_TRY(gn_block_zeroed(z->n + 2, sizeof(int64_t), "neighbours", &p));
    gn_status *s = gn_block_new(2 * z->g->n_edge + 1, sizeof(int32_t), "neighbours", &l);
    if (s) {
        gn_block_free(p);
        return s;
    }
    *ptr = p;
    *list = l;
    int64_t *at = *ptr + 1; /* at[v]: where v's next neighbour goes, and in the end where v + 1's
                               begin */
    for (int64_t v = 0; v + 1 < z->n; v++) at[v + 1] = at[v] + z->degree[v];
    for (int64_t k = 0; k < z->n; k++) {
        int64_t v = z->by_degree[k];
        FOR_NEIGHBOURS(z, v, u, (*list)[at[u]++] = (int32_t)v;)
    }
    return NULL;
}

static gn_status *order_rcm(orderer *z, int64_t *to)
{
    int64_t *ptr, done = 0, head = 0;
    int32_t *list;
    void *q;
    GN_TRY(gn_block_new(z->n, sizeof(int32_t), "a queue", &q));
    gn_status *s = sorted_neighbours(z, &ptr, &list);
    if (s) {
        gn_block_free(q);
        return s;
    }
    int32_t *queue = q;
    for (int64_t v = 0; v < z->n; v++) to[v] = -1;
    for (int64_t k = 0; k < z->n; k++) {
        int32_t start = z->by_degree[k];
        if (to[start] >= 0) continue;
        to[start] = done;
        queue[done++] = start;
        for (; head < done; head++)
            for (int64_t e = ptr[queue[head]]; e < ptr[queue[head] + 1]; e++) {
                if (to[list[e]] >= 0) continue;
                to[list[e]] = done;
                queue[done++] = list[e];
            }
    }
    for (int64_t v = 0; v < z->n; v++) to[v] = z->n - 1 - to[v];
    gn_block_free(ptr);
    gn_block_free(list);
    gn_block_free(q);
    return NULL;
}

/* Rabbit Order ---------------------------------------------------------------------------------
 * J. Arai et al., "Rabbit Order: Just-in-time Parallel Reordering for Fast Graph Analysis", IPDPS
 * 2016, by one thread: nodes, fewest edges first, are merged into the neighbouring community where
 * modularity gains most; a node's edges are summed up by community when it is visited, out of those
 * of the nodes that were merged into it.  The tree of merges, gone through in depth, is the order:
 * communities of communities lie side by side, at every level. */

static int32_t find(orderer *z, int32_t v)
{
    while (z->root[v] != v) {
        z->root[v] = z->root[z->root[v]];
        v = z->root[v];
    }
    return v;
}

static void add_edge(orderer *z, int32_t v, int32_t u, float weight)
{
    u = find(z, u);
    if (u == v) return;
    if (z->weight[u] == 0) z->touched[z->n_touched++] = u;
    z->weight[u] += weight;
}

static void free_edges(edge_list *l)
{
    gn_block_free(l->to);
    *l = (edge_list){0};
}

/* Edges of v by the community they go to: its own, and those of what was merged into it. */
static void gather_edges(orderer *z, int32_t v)
{
    z->n_touched = 0;
    FOR_NEIGHBOURS(z, v, u, add_edge(z, v, (int32_t)u, 1);)
    for (int32_t c = z->child[v]; c >= 0; c = z->next[c]) {
        edge_list *l = &z->edges[c];
        for (int64_t k = 0; k < l->n; k++) add_edge(z, v, l->to[k], l->weight[k]);
        free_edges(l);
    }
}

static gn_status *keep_edges(orderer *z, int32_t v)
{
    void *p;
    GN_TRY(gn_block_new(2 * z->n_touched, sizeof(float), "edges of a community", &p));
    edge_list *l = &z->edges[v];
    *l = (edge_list){z->n_touched, p, (float *)p + z->n_touched};
    for (int64_t k = 0; k < z->n_touched; k++) {
        l->to[k] = z->touched[k];
        l->weight[k] = z->weight[z->touched[k]];
    }
    return NULL;
}

/* The community that v is merged into, or -1: the one with the largest gain in modularity. */
static int32_t best_community(const orderer *z, int32_t v)
{
    double all = 2.0 * (double)z->g->n_edge, best = 0; /* every edge is seen from both ends */
    int32_t pick = -1;
    for (int64_t k = 0; k < z->n_touched; k++) {
        int32_t u = z->touched[k];
        double gain = (double)z->weight[u] - z->volume[v] * z->volume[u] / all;
        if (gain > best || (gain == best && pick >= 0 && u < pick)) {
            best = gain;
            pick = u;
        }
    }
    return pick;
}

static gn_status *merge_all(orderer *z)
{
    for (int64_t k = 0; k < z->n; k++) {
        int32_t v = z->by_degree[k];
        gather_edges(z, v);
        int32_t to = best_community(z, v);
        gn_status *s = to >= 0 ? keep_edges(z, v) : NULL;
        for (int64_t j = 0; j < z->n_touched; j++) z->weight[z->touched[j]] = 0;
        if (s) return s;
        if (to < 0) continue;
        z->root[v] = to;
        z->volume[to] += z->volume[v];
        z->next[v] = z->child[to];
        z->child[to] = v;
    }
    return NULL;
}

/* Depth first through the trees, without recursion: `touched` is the stack. */
static void number_trees(orderer *z, int64_t *to)
{
    int64_t done = 0;
    for (int64_t k = z->n; k-- > 0;) {
        int32_t v = z->by_degree[k];
        if (z->root[v] != v) continue;
        int64_t depth = 0;
        z->touched[depth++] = v;
        while (depth) {
            int32_t at = z->touched[--depth];
            to[at] = done++;
            for (int32_t c = z->child[at]; c >= 0; c = z->next[c]) z->touched[depth++] = c;
        }
    }
}

static gn_status *order_communities(orderer *z, int64_t *to)
{
    void *p;
    int64_t words = 2 * sizeof(double) + sizeof(edge_list) + 5 * sizeof(int32_t);
    GN_TRY(gn_block_zeroed(z->n + 1, (size_t)words + 8, "communities", &p));
    int64_t n = z->n + 1;
    z->edges = p;
    z->volume = (double *)(z->edges + n);
    z->root = (int32_t *)(z->volume + n);
    z->child = z->root + n;
    z->next = z->child + n;
    z->touched = z->next + n;
    z->weight = (float *)(z->touched + n);
    for (int64_t v = 0; v < z->n; v++) {
        z->root[v] = (int32_t)v;
        z->child[v] = z->next[v] = -1;
        z->volume[v] = (double)z->degree[v];
    }
    gn_status *s = merge_all(z);
    if (!s) number_trees(z, to);
    for (int64_t v = 0; v < z->n; v++) free_edges(&z->edges[v]);
    gn_block_free(p);
    return s;
}

gn_status *gn_graph_order(gn_graph *g, gn_order how, int64_t *to)
{
    orderer z = {.g = g, .n = g->n_dst};
    if (g->n_src != g->n_dst || g->n_dst > INT32_MAX)
        GN_FAIL(GN_ERR_DATA, "nodes of a graph from %lld to %lld nodes cannot be reordered",
                (long long)g->n_src, (long long)g->n_dst);
    for (int64_t v = 0; v < z.n; v++) to[v] = v;
    if (how == GN_ORDER_NONE) return NULL;
    GN_TRY(gn_graph_require(g, GN_ARRAY(GN_GRAPH_COL_PTR)));
    void *degree, *nodes;
    GN_TRY(gn_block_new(z.n, sizeof(int64_t), "degrees", &degree));
    gn_status *s = gn_block_new(z.n, sizeof(int32_t), "degrees", &nodes);
    if (s) {
        gn_block_free(degree);
        return s;
    }
    z.degree = degree;
    z.by_degree = nodes;
    s = sort_by_degree(&z, to);
    if (!s && how == GN_ORDER_RCM) s = order_rcm(&z, to);
    if (!s && how == GN_ORDER_COMMUNITIES) s = order_communities(&z, to);
    gn_block_free(degree);
    gn_block_free(nodes);
    return s;
}
