#include "runtime/data/edges.h"

#include "runtime/data/mem.h"

#include <string.h>

gn_status *gn_edges_reserve(gn_edges *e, int64_t cap, bool weighted)
{
    if (cap > e->cap) {
        if (cap > PTRDIFF_MAX / 8)
            GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld edges", (long long)cap);
        int64_t *src = realloc(e->src, (size_t)cap * sizeof *src);
        if (src) e->src = src;
        int64_t *dst = realloc(e->dst, (size_t)cap * sizeof *dst);
        if (dst) e->dst = dst;
        float *weight = e->weight ? realloc(e->weight, (size_t)cap * sizeof *weight) : NULL;
        if (weight) e->weight = weight;
        if (!src || !dst || (e->weight && !weight))
            GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld edges", (long long)cap);
        e->cap = cap;
    }
    if (weighted && !e->weight) {
        GN_MEM(e->weight, e->cap);
        for (int64_t i = 0; i < e->n; i++) e->weight[i] = 1.0f;
    }
    return NULL;
}

gn_status *gn_edges_push(gn_edges *e, int64_t src, int64_t dst)
{
    if (e->n == e->cap) GN_TRY(gn_edges_reserve(e, e->cap ? e->cap * 2 : 64, e->weight != NULL));
    e->src[e->n] = src;
    e->dst[e->n] = dst;
    if (e->weight) e->weight[e->n] = 1.0f;
    e->n++;
    return NULL;
}

gn_status *gn_edges_push_weighted(gn_edges *e, int64_t src, int64_t dst, float weight)
{
    if (!e->weight) GN_TRY(gn_edges_reserve(e, e->cap ? e->cap : 64, true));
    GN_TRY(gn_edges_push(e, src, dst));
    e->weight[e->n - 1] = weight;
    return NULL;
}

void gn_edges_free(gn_edges *e)
{
    free(e->src);
    free(e->dst);
    free(e->weight);
    *e = (gn_edges){0};
}

void gn_edges_remove_loops(gn_edges *e)
{
    int64_t n = 0;
    for (int64_t i = 0; i < e->n; i++) {
        if (e->src[i] == e->dst[i]) continue;
        e->src[n] = e->src[i];
        e->dst[n] = e->dst[i];
        if (e->weight) e->weight[n] = e->weight[i];
        n++;
    }
    e->remade |= n != e->n;
    e->n = n;
}

enum { DIGIT = 11, BUCKETS = 1 << DIGIT };

/* One pass of a least-significant-digit radix sort. */
static void scatter(const uint64_t *key, const float *load, uint64_t *key_to, float *load_to,
                    int64_t n, int shift)
{
    int64_t at[BUCKETS] = {0}, sum = 0;
    for (int64_t i = 0; i < n; i++) at[key[i] >> shift & (BUCKETS - 1)]++;
    for (int b = 0; b < BUCKETS; b++) {
        int64_t here = at[b];
        at[b] = sum;
        sum += here;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t to = at[key[i] >> shift & (BUCKETS - 1)]++;
        key_to[to] = key[i];
        if (load) load_to[to] = load[i];
    }
}

gn_status *gn_sort_keys(uint64_t *key, float *load, int64_t n)
{
    uint64_t *key2, used = 0;
    float *load2 = NULL;
    bool sorted = true;
    for (int64_t i = 0; i < n; i++) {
        used |= key[i];
        if (i && key[i] < key[i - 1]) sorted = false;
    }
    if (sorted) return NULL;
    GN_MEM(key2, n);
    if (load) load2 = gn_mem_alloc(n, sizeof *load2);
    if (load && !load2) {
        free(key2);
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld edge weights", (long long)n);
    }
    uint64_t *from = key, *to = key2;
    float *load_from = load, *load_to = load2;
    for (int shift = 0; shift < 64 && used >> shift; shift += DIGIT) {
        scatter(from, load_from, to, load_to, n, shift);
        uint64_t *k = from;
        from = to;
        to = k;
        float *l = load_from;
        load_from = load_to;
        load_to = l;
    }
    if (from != key) {
        memcpy(key, from, (size_t)n * sizeof *key);
        if (load) memcpy(load, load_from, (size_t)n * sizeof *load);
    }
    free(key2);
    free(load2);
    return NULL;
}

gn_status *gn_edges_coalesce(gn_edges *e, bool by_dst)
{
    e->remade = true;
    uint64_t *key;
    int64_t *major = by_dst ? e->dst : e->src, *minor = by_dst ? e->src : e->dst;
    uint64_t ends = 0;
    int bits = 0; /* of the largest end: fewer bits are fewer passes */
    GN_MEM(key, e->n);
    for (int64_t i = 0; i < e->n; i++) ends |= (uint64_t)minor[i];
    while (ends >> bits) bits++;
    for (int64_t i = 0; i < e->n; i++) key[i] = (uint64_t)major[i] << bits | (uint64_t)minor[i];
    gn_status *s = gn_sort_keys(key, e->weight, e->n);
    if (!s) {
        int64_t n = 0;
        for (int64_t i = 0; i < e->n; i++) {
            if (i && key[i] == key[i - 1]) {
                if (e->weight) e->weight[n - 1] += e->weight[i];
                continue;
            }
            major[n] = (int64_t)(key[i] >> bits);
            minor[n] = (int64_t)(key[i] & (((uint64_t)1 << bits) - 1));
            if (e->weight) e->weight[n] = e->weight[i];
            n++;
        }
        e->n = n;
    }
    free(key);
    return s;
}

gn_status *gn_edges_to_undirected(gn_edges *e)
{
    int64_t n = e->n;
    GN_TRY(gn_edges_reserve(e, n * 2, e->weight != NULL));
    if (n) {
        memcpy(e->src + n, e->dst, (size_t)n * sizeof *e->src);
        memcpy(e->dst + n, e->src, (size_t)n * sizeof *e->dst);
        if (e->weight) memcpy(e->weight + n, e->weight, (size_t)n * sizeof *e->weight);
    }
    e->n = n * 2;
    return gn_edges_coalesce(e, false);
}

void gn_edges_take(gn_edges *e, gn_dataset *d)
{
    *e = (gn_edges){.n = d->n_edges,
                    .cap = d->n_edges,
                    .src = d->src,
                    .dst = d->dst,
                    .weight = d->edge_weight,
                    .remade = d->edges_remade};
    d->n_edges = 0;
    d->src = d->dst = NULL;
    d->edge_weight = NULL;
}

void gn_edges_give(gn_edges *e, gn_dataset *d)
{
    d->n_edges = e->n;
    d->src = e->src;
    d->dst = e->dst;
    d->edge_weight = e->weight;
    d->edges_remade = e->remade;
    *e = (gn_edges){0};
}

gn_status *gn_edges_check_gaps(const char *origin, int64_t nodes, int64_t edges)
{
    enum {
        FEW = 1 << 24,
        TIMES = 64
    }; /* fewer nodes burden no memory; an edge has two at most that no other has */
    if (nodes <= FEW || nodes / TIMES <= edges) return NULL;
    GN_FAIL(GN_ERR_DATA,
            "%s: %lld edges, and a node %lld: nodes are numbered from 0 without such gaps "
            "(numpy.unique with "
            "return_inverse numbers any names)",
            origin, (long long)edges, (long long)nodes - 1);
}

gn_status *gn_edges_remark_gaps(const gn_edges *e, int64_t nodes, gn_dataset *d)
{
    bool *named;
    int64_t gaps = 0;
    GN_MEM(named, nodes);
    for (int64_t i = 0; i < e->n; i++) named[e->src[i]] = named[e->dst[i]] = true;
    for (int64_t v = 0; v < nodes; v++) gaps += !named[v];
    bool from_1 = nodes > 1 && !named[0] && named[1];
    free(named);
    if (from_1)
        GN_TRY(gn_dataset_remark(
            d, "no edge names node 0, as if nodes were counted from 1: there is one too many, and "
               "row 0 is nobody's; subtract 1 from the numbers"));
    gaps -= from_1;
    if (gaps == 0) return NULL;
    return gn_dataset_remark(
        d,
        "%lld of %lld nodes have no edge, as the largest number says how many there are; numbers "
        "that are names become numbers without gaps by numpy.unique(..., return_inverse=True)",
        (long long)gaps, (long long)nodes);
}
