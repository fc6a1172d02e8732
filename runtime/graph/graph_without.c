/* Graphs of the edges that another has not. */
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

/* Pairs of rows, open addressing. */
typedef struct pair_set {
    uint64_t mask;
    int64_t (*pair)[2]; /* [mask + 1], src -1 where there is none */
} pair_set;

static gn_status *set_new(int64_t pairs, pair_set *out)
{
    int64_t room = 8;
    void *p;
    while (room / 2 < pairs) room *= 2;
    GN_TRY(gn_block_new(room, sizeof *out->pair, "pairs of rows", &p));
    *out = (pair_set){.mask = (uint64_t)room - 1, .pair = p};
    for (int64_t k = 0; k < room; k++) out->pair[k][0] = -1;
    return NULL;
}

/* Where the pair is, or would be. */
static int64_t *find(const pair_set *z, int64_t src, int64_t dst)
{
    uint64_t at = ((uint64_t)src * 0x9E3779B97F4A7C15u ^ (uint64_t)dst) * 0xD6E8FEB86659FD93u;
    for (at ^= at >> 32;; at++) {
        int64_t *pair = z->pair[at & z->mask];
        if (pair[0] < 0 || (pair[0] == src && pair[1] == dst)) return pair;
    }
}

static void add(const pair_set *z, int64_t src, int64_t dst)
{
    int64_t *pair = find(z, src, dst);
    pair[0] = src;
    pair[1] = dst;
}

static void add_edges(const pair_set *z, const gn_graph *h, bool either)
{
    for (int64_t i = 0; i < gn_graph_n_rows(h); i++) {
        int64_t dst = gn_graph_row(h, i);
        for (int64_t e = gn_graph_begin(h, i); e < gn_graph_begin(h, i + 1); e++) {
            int64_t src = get(h, GN_GRAPH_COL, e);
            add(z, src, dst);
            if (either) add(z, dst, src);
        }
    }
}

/* The edges that are left, how many; in d, where it is given. */
static int64_t put(const pair_set *z, const gn_graph *g, gn_graph *d)
{
    int64_t k = 0;
    for (int64_t i = 0; i < gn_graph_n_rows(g); i++) {
        int64_t v = gn_graph_row(g, i);
        for (int64_t e = gn_graph_begin(g, i); e < gn_graph_begin(g, i + 1); e++) {
            int64_t src = get(g, GN_GRAPH_COL, e);
            if (find(z, src, v)[0] >= 0) continue;
            if (d) {
                set(d, GN_GRAPH_COL, k, src);
                set(d, GN_GRAPH_POS, k, get(g, GN_GRAPH_POS, e));
                set(d, GN_GRAPH_FROM, k, e);
            }
            k++;
        }
        if (d && d->listed) gn_index_set(d->listed, d->index, i, v);
        if (d)
            gn_index_set(d->listed ? d->listed_ptr : d->array[GN_GRAPH_ROW_PTR], d->index, i + 1,
                         k);
    }
    return k;
}

gn_status *gn_graph_without(const gn_graph *g, const gn_graph *h, bool either, gn_graph **out)
{
    pair_set z;
    int64_t pairs;
    *out = NULL;
    if (g->n_src != h->n_src || g->n_dst != h->n_dst || (either && g->n_src != g->n_dst))
        GN_FAIL(GN_ERR_DATA, "without: %lld to %lld rows, and the other graph has %lld to %lld",
                (long long)g->n_src, (long long)g->n_dst, (long long)h->n_src, (long long)h->n_dst);
    if (__builtin_mul_overflow(h->n_edge, 2, &pairs) || pairs > INT64_MAX / 64)
        GN_FAIL(GN_ERR_NOMEM, "without: %lld edges are too many", (long long)h->n_edge);
    GN_TRY(set_new(pairs, &z));
    add_edges(&z, h, either);
    int64_t left = put(&z, g, NULL);
    gn_status *s = g->listed ? gn_graph_listed_blank(g, g->n_listed, left, out)
                             : gn_graph_derived_blank(g, g->n_src, g->n_dst, left, out);
    if (!s) (void)put(&z, g, *out);
    gn_block_free(z.pair);
    return s;
}
