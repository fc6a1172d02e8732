/* Edges by destination, where lists of them do not fit memory: counted once, put aside in heaps of
 * neighbouring destinations, sorted heap by heap into the arrays of a block file
 * (datafile.h).  In memory there are three numbers a row, and one heap. */
#ifndef GN_RUNTIME_DATA_EDGE_SORT_H
#define GN_RUNTIME_DATA_EDGE_SORT_H

#include "runtime/data/blockfile.h"
#include "runtime/data/spill.h"

typedef struct gn_edge_sort {
    gn_block_writer *out;
    const char *name; /* of the relation */
    int64_t n_dst, n_edges;
    int64_t heap_bytes; /* in memory at a time, about */
    bool mirrored; /* each edge has its reverse and no repeat, and places are by source: they come
                      in any order */
    gn_elem index;
    int64_t *first;  /* [n_dst + 1] counts at first, then the first edge of each */
    int32_t *cursor; /* [n_dst] of the mirrored: edges out of a row so far */
    gn_spill spill;
    int64_t *begin; /* [spill.n + 1] first destination of a heap */
} gn_edge_sort;

/* `heap_bytes` 0: as many as are usual.  gn_edge_sort_free, on failure too. */
GN_NODISCARD gn_status *gn_edge_sort_new(gn_block_writer *out, const char *name, int64_t n_dst,
                                         int64_t heap_bytes, bool mirrored, gn_edge_sort *s);
/* All edges are counted first, */
static inline void gn_edge_sort_count(gn_edge_sort *s, int64_t dst) { s->first[dst + 1]++; }
/* then, once counts are complete, put; `index` is I64 where other graphs of the file ask for it; */
GN_NODISCARD gn_status *gn_edge_sort_begin(gn_edge_sort *s, gn_elem index, const char *beside);
GN_NODISCARD gn_status *gn_edge_sort_put(gn_edge_sort *s, int64_t src, int64_t dst, int64_t pos);
/* and in the end written. */
GN_NODISCARD gn_status *gn_edge_sort_end(gn_edge_sort *s);
void gn_edge_sort_free(gn_edge_sort *s);

#endif
