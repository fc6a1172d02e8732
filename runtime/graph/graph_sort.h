/* Stable sorts of edges by one of their ends, in linear time. */
#ifndef GN_RUNTIME_GRAPH_GRAPH_SORT_H
#define GN_RUNTIME_GRAPH_GRAPH_SORT_H

#include "runtime/graph/graph_internal.h"

/* Fills a blank graph's ROW_PTR, COL and POS from the user's list, whose ends (I32 or I64) must be
 * in range. */
GN_NODISCARD gn_status *gn_sort_list(gn_graph *g, gn_elem ends, const void *src, const void *dst);

/* col_ptr (zeroed), csc_row and csc_edge from a graph's CSR; the last two may be NULL. */
GN_NODISCARD gn_status *gn_sort_by_source(const gn_graph *g, void *col_ptr, void *csc_row,
                                          void *csc_edge);

/* Fills a blank graph, `to`, with the reverse of `g`: ROW_PTR, COL, POS and FROM.  Both have the
 * same index width. */
GN_NODISCARD gn_status *gn_sort_reversed(const gn_graph *g, gn_graph *to);

#endif
