/* A growing list of edges, and what readers do with one before it becomes a dataset's. */
#ifndef GN_RUNTIME_DATA_EDGES_H
#define GN_RUNTIME_DATA_EDGES_H

#include "runtime/data/dataset.h"

/* More nodes than this are refused: sort keys pack a pair of nodes into 62 bits, CSR columns are
 * 32-bit. */
#define GN_MAX_NODES INT32_MAX

typedef struct gn_edges {
    int64_t n, cap;
    int64_t *src, *dst;
    float *weight; /* NULL, or as long as src */
    bool remade; /* others than came: some were added, merged or dropped, so rows of edges elsewhere
                    are not theirs */
} gn_edges;

GN_NODISCARD gn_status *gn_edges_reserve(gn_edges *e, int64_t cap, bool weighted);
GN_NODISCARD gn_status *gn_edges_push(gn_edges *e, int64_t src, int64_t dst); /* unweighted */
GN_NODISCARD gn_status *gn_edges_push_weighted(gn_edges *e, int64_t src, int64_t dst, float weight);
void gn_edges_free(gn_edges *e);

void gn_edges_remove_loops(gn_edges *e);

/* Sorts by (src, dst), or by (dst, src), and merges repeats, adding their weights in the order they
 * came. All ends must lie in [0, GN_MAX_NODES]. */
GN_NODISCARD gn_status *gn_edges_coalesce(gn_edges *e, bool by_dst);

/* GN_ERR_DATA where edges end at so few of the nodes up to the largest that these are no numbers of
 * nodes but names, as identifiers of users are: nothing would be left of memory.  For data that
 * says no number of nodes. */
GN_NODISCARD gn_status *gn_edges_check_gaps(const char *origin, int64_t nodes, int64_t edges);

/* Remarks for data where nothing but the edges says how many nodes there are: nodes that no edge
 * names, and numbers that begin at 1. */
GN_NODISCARD gn_status *gn_edges_remark_gaps(const gn_edges *e, int64_t nodes, gn_dataset *d);

/* Adds every edge's reverse and coalesces by (src, dst): torch_geometric.utils.to_undirected. */
GN_NODISCARD gn_status *gn_edges_to_undirected(gn_edges *e);

/* The dataset's edges become a list and back; ownership moves, the source is left empty. */
void gn_edges_take(gn_edges *e, gn_dataset *d);
void gn_edges_give(gn_edges *e, gn_dataset *d);

/* Sorts n keys ascending, carrying `load` (may be NULL) along; stable; linear time. */
GN_NODISCARD gn_status *gn_sort_keys(uint64_t *key, float *load, int64_t n);

#endif
