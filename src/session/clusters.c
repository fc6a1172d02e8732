#include "session/clusters.h"

#include "base/alloc.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* METIS 5 with numbers of 32 bits (idx_t, real_t), as Debian builds it: metis.h. */
typedef int metis_kway(int32_t *nodes, int32_t *constraints, int32_t *row_ptr, int32_t *col,
                       int32_t *node_weight, int32_t *node_size, int32_t *edge_weight,
                       int32_t *parts, float *part_weight, float *imbalance, int32_t *options,
                       int32_t *cut, int32_t *part);
enum { METIS_OK = 1 };

static gn_status *find(metis_kway **out)
{
    static const char *const names[] = {"libmetis.so.5", "libmetis.so"};
    const char *said = getenv("GNNC_METIS");
    void *lib = NULL;
    for (size_t k = 0; k < sizeof names / sizeof *names && !lib; k++)
        lib = dlopen(said && *said ? said : names[k], RTLD_NOW | RTLD_LOCAL);
    void *f = lib ? dlsym(lib, "METIS_PartGraphKway") : NULL;
    if (!f)
        GN_FAIL(GN_ERR_IO,
                "`sampler = cluster(...)` needs METIS: libmetis.so.5 is not found (Debian: `apt "
                "install libmetis5`; GNNC_METIS names a file)");
    memcpy(out, &f, sizeof f);
    return NULL;
}

static int64_t get(const gn_graph *g, gn_graph_array k, int64_t i)
{
    return gn_index_get(g->array[k], g->index, i);
}

/* Both directions of every edge but loops: how many each node has, or those themselves. */
static void put_edges(const gn_graph *g, int32_t *ptr, int32_t *col)
{
    for (int64_t v = 0, e = 0; v < g->n_dst; v++)
        for (int64_t end = get(g, GN_GRAPH_ROW_PTR, v + 1); e < end; e++) {
            int64_t u = get(g, GN_GRAPH_COL, e);
            if (u == v) continue;
            if (col) {
                col[ptr[u]] = (int32_t)v;
                col[ptr[v]] = (int32_t)u;
            }
            ptr[u]++;
            ptr[v]++;
        }
}

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Each neighbour once. */
static void drop_repeats(int64_t n, int32_t *ptr, int32_t *col)
{
    int32_t kept = 0, first = 0;
    for (int64_t v = 0; v < n; v++) {
        int32_t end = ptr[v + 1], begin = kept;
        qsort(col + first, (size_t)(end - first), sizeof *col, ascending);
        for (int32_t e = first; e < end; e++)
            if (kept == begin || col[kept - 1] != col[e]) col[kept++] = col[e];
        first = end;
        ptr[v + 1] = kept;
    }
}

/* The adjacency of METIS. */
static void fill(const gn_graph *g, int32_t *ptr, int32_t *col)
{
    int64_t n = g->n_dst;
    put_edges(g, ptr, NULL);
    for (int64_t v = 0, sum = 0; v <= n; v++) {
        int64_t degree = v < n ? ptr[v] : 0;
        ptr[v] = (int32_t)sum;
        sum += degree;
    }
    put_edges(g, ptr, col); /* moves each pointer to the next one */
    memmove(ptr + 1, ptr, (size_t)n * sizeof *ptr);
    ptr[0] = 0;
    drop_repeats(n, ptr, col);
}

gn_status *gn_cluster_nodes(gn_graph *g, int64_t parts, int32_t *part)
{
    metis_kway *kway;
    int32_t n = (int32_t)g->n_dst, one = 1, k = (int32_t)parts, cut;
    if (g->n_dst > INT32_MAX - 1 || g->n_edge > INT32_MAX / 2 - 1)
        GN_FAIL(GN_ERR_DATA, "`sampler = cluster(...)`: METIS counts up to 2^31 ends of edges");
    memset(part, 0, (size_t)g->n_dst * sizeof *part);
    if (parts < 2) return NULL;
    if (parts >= g->n_dst) {
        for (int32_t v = 0; v < n; v++) part[v] = v;
        return NULL;
    }
    GN_TRY(find(&kway));
    int32_t *ptr = gn_allocate_zeroed((size_t)(g->n_dst + 2) * sizeof *ptr),
            *col = gn_allocate_zeroed((size_t)(2 * g->n_edge + 1) * sizeof *col);
    int status = METIS_OK;
    if (ptr && col) {
        fill(g, ptr, col);
        status = kway(&n, &one, ptr, col, NULL, NULL, NULL, &k, NULL, NULL, NULL, &cut, part);
    }
    bool room = ptr && col;
    gn_release(ptr);
    gn_release(col);
    if (!room) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld edges for METIS", (long long)g->n_edge);
    if (status != METIS_OK)
        GN_FAIL(GN_ERR_DATA, "METIS could not make %lld parts of %lld nodes (it says %d)",
                (long long)parts, (long long)g->n_dst, status);
    return NULL;
}
