/* Graph: a relation from source nodes to destination nodes, in CSR (by destination) and CSC (by source).
 *
 * Edge values live in stable CSR order: sorted by destination, ties in the user's order.  Built once, immutable
 * afterwards; any number of threads may read.  Indices are 32 bits wide unless a count needs 64. */
#ifndef GN_RUNTIME_GRAPH_H
#define GN_RUNTIME_GRAPH_H

#include "base/elem.h"
#include "base/graph_array.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct gn_graph {
    int64_t n_src, n_dst, n_edge, n_parent_edge;
    gn_elem index;                        /* I32 or I64: of all arrays but VALUE */
    void *array[GN_GRAPH_ARRAY_COUNT];    /* 64-byte aligned; CSC arrays and ROW are made when first asked for */
    /* facts, computed when first asked for (gn_graph_facts) */
    int symmetric;                        /* -1 unknown; 1: CSC of it equals its CSR and both are sorted by neighbour */
    int64_t max_in_degree;
} gn_graph;

/* From an edge list, checked: every index in range (the error names edge, value and limit), counts fit. Copies. */
GN_NODISCARD gn_status *gn_graph_from_coo(int64_t n_src, int64_t n_dst, int64_t n_edge, const int64_t *src,
                                          const int64_t *dst, gn_graph **out);

/* The pattern of a sparse matrix given by rows (ptr [rows+1], col [nnz], val [nnz] or NULL): edges col -> row, VALUE set.
 * Zero values are kept as edges: the pattern is what the caller says it is. */
GN_NODISCARD gn_status *gn_graph_from_csr(int64_t rows, int64_t cols, const int64_t *ptr, const int32_t *col,
                                          const float *val, gn_graph **out);

/* GN_ERR_DATA when loops are asked of a graph whose ends differ in size. Order of edges as ops.def says: the derived
 * graph's user list is the parent's user list with edges dropped and loops 0..n-1 appended. Reverse keeps the list. */
GN_NODISCARD gn_status *gn_graph_derived(const gn_graph *g, gn_graph_derive how, gn_graph **out);

/* Makes sure arrays in the bit set (1 << gn_graph_array) exist. Not safe against concurrent calls on one graph. */
GN_NODISCARD gn_status *gn_graph_require(gn_graph *g, unsigned arrays);
GN_NODISCARD gn_status *gn_graph_facts(gn_graph *g);
void gn_graph_free(gn_graph *g); /* NULL is fine */

#endif
