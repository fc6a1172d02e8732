/* A counting sort writes to as many places at once as there are nodes: on a large graph every write
 * misses caches and TLB.  So edges are first dealt into a few hundred buckets of neighbouring
 * nodes, each written from front to back, and then sorted bucket by bucket, where all that is
 * touched fits a cache.  Both steps are stable. */
#include "runtime/graph/graph_sort.h"
#include "runtime/memory.h"

enum {
    BUCKETS = 256,
    DIRECT = 1 << 15, /* with fewer edges than this everything fits a cache anyway */
};

typedef struct edge {
    int64_t key, other, pos, from; /* sorted by; the other end; what else goes along */
} edge;

/* Edges that are read from front to back: of a list, or of a graph in CSR order. */
typedef struct source {
    const void *src, *dst; /* of a list, both of this element: */
    gn_elem ends;
    const gn_graph *graph;
    int64_t row; /* of the edge last read */
    const void *other, *key, *from;
} source;

/* Where they go: arrays [n], NULL where nobody asks.  ptr [keys + 1] is zeroed; without it keys are
 * places. */
typedef struct sorted {
    int64_t keys, n;
    void *ptr, *other, *pos, *from;
} sorted;

/* Ways to read edge i -------------------------------------------------------------------------- */

typedef edge read_fn(source *s, gn_elem index, int64_t i);

GN_INLINE edge list_by_destination(source *s, const gn_elem index, int64_t i)
{
    (void)index;
    return (edge){gn_index_get(s->dst, s->ends, i), gn_index_get(s->src, s->ends, i), i, 0};
}

GN_INLINE edge csr_by_source(source *s, const gn_elem index, int64_t i)
{
    const gn_graph *g = s->graph;
    if (i == 0) s->row = 0;
    while (gn_index_get(g->array[GN_GRAPH_ROW_PTR], index, s->row + 1) <= i) s->row++;
    return (edge){gn_index_get(g->array[GN_GRAPH_COL], index, i), s->row, i, 0};
}

GN_INLINE edge csr_by_position(source *s, const gn_elem index, int64_t i)
{
    edge e = csr_by_source(s, index, i);
    return (edge){gn_index_get(s->graph->array[GN_GRAPH_POS], index, i), e.key, e.other, i};
}

GN_INLINE edge list_by_source(source *s, const gn_elem index, int64_t i)
{
    return (edge){gn_index_get(s->key, index, i), gn_index_get(s->other, index, i), i,
                  gn_index_get(s->from, index, i)};
}

/* The sort ------------------------------------------------------------------------------------- */

/* ptr[k + 1] holds the number of edges of key k; makes it the first place of key k, for keys in
 * [lo, hi), the first of which starts at `at`.  The scatter takes places by ptr[k + 1]++ and so
 * leaves it where key k + 1 starts. */
GN_INLINE void starts(void *ptr, const gn_elem index, int64_t lo, int64_t hi, int64_t at)
{
    for (int64_t k = lo; k < hi; k++) {
        int64_t n = gn_index_get(ptr, index, k + 1);
        gn_index_set(ptr, index, k + 1, at);
        at += n;
    }
}

GN_INLINE void tally(const sorted *to, const gn_elem index, int64_t key)
{
    gn_index_set(to->ptr, index, key + 1, gn_index_get(to->ptr, index, key + 1) + 1);
}

GN_INLINE void put(const sorted *to, const gn_elem index, const bool wide, edge e)
{
    int64_t at = e.key;
    if (to->ptr) {
        at = gn_index_get(to->ptr, index, e.key + 1);
        gn_index_set(to->ptr, index, e.key + 1, at + 1);
    }
    if (to->other) gn_index_set(to->other, index, at, e.other);
    if (to->pos) gn_index_set(to->pos, index, at, e.pos);
    if (wide) gn_index_set(to->from, index, at, e.from);
}

GN_INLINE void sort_directly(source *from, read_fn *read, const gn_elem index, const bool wide,
                             const sorted *to)
{
    if (to->ptr) {
        for (int64_t i = 0; i < to->n; i++) tally(to, index, read(from, index, i).key);
        starts(to->ptr, index, 0, to->keys, 0);
    }
    for (int64_t i = 0; i < to->n; i++) put(to, index, wide, read(from, index, i));
}

/* Edge `at` among those dealt, which are `words` indices each. */
GN_INLINE void deal(void *dealt, const gn_elem index, const bool wide, int64_t at, edge e)
{
    const int words = wide ? 4 : 3;
    gn_index_set(dealt, index, words * at, e.key);
    gn_index_set(dealt, index, words * at + 1, e.other);
    gn_index_set(dealt, index, words * at + 2, e.pos);
    if (wide) gn_index_set(dealt, index, words * at + 3, e.from);
}

GN_INLINE edge read_dealt(const void *dealt, const gn_elem index, const bool wide, int64_t at)
{
    const int words = wide ? 4 : 3;
    return (edge){gn_index_get(dealt, index, words * at),
                  gn_index_get(dealt, index, words * at + 1),
                  gn_index_get(dealt, index, words * at + 2),
                  wide ? gn_index_get(dealt, index, words * at + 3) : 0};
}

GN_INLINE void sort_dealt(source *from, read_fn *read, const gn_elem index, const bool wide,
                          const sorted *to, int shift, void *dealt)
{
    const int words = wide ? 4 : 3;
    int64_t begin[BUCKETS + 1] = {0};
    for (int64_t i = 0; i < to->n; i++) begin[(read(from, index, i).key >> shift) + 1]++;
    starts(begin, GN_I64, 0, BUCKETS, 0);
    for (int64_t i = 0; i < to->n; i++) {
        edge e = read(from, index, i);
        deal(dealt, index, wide, begin[(e.key >> shift) + 1]++, e);
    }
    for (int64_t b = 0; b < BUCKETS && b << shift < to->keys; b++) {
        int64_t lo = b << shift, hi = lo + ((int64_t)1 << shift);
        if (to->ptr) {
            for (int64_t i = begin[b]; i < begin[b + 1]; i++)
                tally(to, index, gn_index_get(dealt, index, words * i));
            starts(to->ptr, index, lo, hi < to->keys ? hi : to->keys, begin[b]);
        }
        for (int64_t i = begin[b]; i < begin[b + 1]; i++)
            put(to, index, wide, read_dealt(dealt, index, wide, i));
    }
}

GN_INLINE gn_status *sort(source *from, read_fn *read, const gn_elem index, const bool wide,
                          const sorted *to)
{
    int shift = 0;
    while (to->keys >> shift >= BUCKETS) shift++;
    if (to->n < DIRECT || shift == 0) {
        sort_directly(from, read, index, wide, to);
        return NULL;
    }
    void *dealt;
    GN_TRY(gn_block_new(to->n, (wide ? 4 : 3) * gn_elem_size(index), "edges to sort", &dealt));
    sort_dealt(from, read, index, wide, to, shift, dealt);
    gn_block_free(dealt);
    return NULL;
}

/* What is sorted ------------------------------------------------------------------------------- */

gn_status *gn_sort_list(gn_graph *g, gn_elem ends, const void *src, const void *dst)
{
    source from = {.src = src, .dst = dst, .ends = ends};
    sorted to = {g->n_dst,
                 g->n_edge,
                 g->array[GN_GRAPH_ROW_PTR],
                 g->array[GN_GRAPH_COL],
                 g->array[GN_GRAPH_POS],
                 NULL};
    return g->index == GN_I32 ? sort(&from, list_by_destination, GN_I32, false, &to)
                              : sort(&from, list_by_destination, GN_I64, false, &to);
}

gn_status *gn_sort_by_source(const gn_graph *g, void *col_ptr, void *csc_row, void *csc_edge)
{
    source from = {.graph = g};
    sorted to = {g->n_src, g->n_edge, col_ptr, csc_row, csc_edge, NULL};
    return g->index == GN_I32 ? sort(&from, csr_by_source, GN_I32, false, &to)
                              : sort(&from, csr_by_source, GN_I64, false, &to);
}

/* First the user's list out of the CSR -- sources, destinations, places in the CSR -- then that
 * list by its sources. */
gn_status *gn_sort_reversed(const gn_graph *g, gn_graph *to)
{
    void *list;
    int64_t bytes = g->n_edge * (int64_t)gn_elem_size(g->index);
    GN_TRY(gn_block_new(g->n_edge, 3 * gn_elem_size(g->index), "edge list", &list));
    void *src = list, *dst = (char *)list + bytes, *place = (char *)list + 2 * bytes;
    source from = {.graph = g};
    sorted users = {g->n_edge, g->n_edge, NULL, src, dst, place};
    gn_status *s = g->index == GN_I32 ? sort(&from, csr_by_position, GN_I32, true, &users)
                                      : sort(&from, csr_by_position, GN_I64, true, &users);
    from = (source){.key = src, .other = dst, .from = place};
    sorted into = {to->n_dst,
                   to->n_edge,
                   to->array[GN_GRAPH_ROW_PTR],
                   to->array[GN_GRAPH_COL],
                   to->array[GN_GRAPH_POS],
                   to->array[GN_GRAPH_FROM]};
    if (!s)
        s = g->index == GN_I32 ? sort(&from, list_by_source, GN_I32, true, &into)
                               : sort(&from, list_by_source, GN_I64, true, &into);
    gn_block_free(list);
    return s;
}
