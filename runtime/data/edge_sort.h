/* Edges by destination, where lists of them do not fit memory: counted once, put aside in heaps of
 * neighbouring destinations, sorted heap by heap into the arrays of a block file (datafile.h).  In
 * memory are 12 bytes a node, and the sources of one heap.
 *
 * Each edge has its reverse and no repeat, so edges come in any order: places are by source. */
#ifndef GN_RUNTIME_DATA_EDGE_SORT_H
#define GN_RUNTIME_DATA_EDGE_SORT_H

#include "runtime/data/blockfile.h"
#include "runtime/data/spill.h"

typedef struct gn_edge_sort {
    gn_block_writer *out;
    const char *name; /* of the relation */
    int64_t n_nodes, n_edges;
    int64_t heap_bytes; /* in memory at a time, about */
    gn_elem index;
    int64_t *first;  /* [n_nodes + 1] counts at first, then the first edge of each */
    int32_t *cursor; /* [n_nodes] edges out of a node so far */
    gn_spill spill;
    int64_t *begin; /* [spill.n + 1] first destination of a heap */
} gn_edge_sort;

/* `heap_bytes` 0: as many as are usual.  gn_edge_sort_free, on failure too. */
GN_NODISCARD gn_status *gn_edge_sort_new(gn_block_writer *out, const char *name, int64_t n_nodes,
                                         int64_t heap_bytes, gn_edge_sort *s);
/* All edges are counted first, */
static inline void gn_edge_sort_count(gn_edge_sort *s, int64_t dst) { s->first[dst + 1]++; }
/* then, once counts are complete, put; */
GN_NODISCARD gn_status *gn_edge_sort_begin(gn_edge_sort *s, const char *beside);
GN_NODISCARD gn_status *gn_edge_sort_put(gn_edge_sort *s, int64_t src, int64_t dst);
/* and in the end written. */
GN_NODISCARD gn_status *gn_edge_sort_end(gn_edge_sort *s);
void gn_edge_sort_free(gn_edge_sort *s);

#endif
