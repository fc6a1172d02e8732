/* Clusters: a graph's nodes in parts of about one size with few edges between them, by METIS
 * (Karypis and Kumar, "A fast and high quality multilevel scheme for partitioning irregular
 * graphs", SIAM J. Sci. Comput. 20, 1998), libmetis.so.5 of its package, found at run time. */
#ifndef GN_SESSION_CLUSTERS_H
#define GN_SESSION_CLUSTERS_H

#include "runtime/graph/graph.h"

/* part: [nodes], from 0 to `parts` - 1.  More parts than nodes leave some empty.  Directions and
 * repeats of edges do not matter.  Deterministic.  GN_ERR_NOMEM; GN_ERR_IO: there is no METIS;
 * GN_ERR_DATA: more than its 32-bit numbers count, or it failed. */
GN_NODISCARD gn_status *gn_cluster_nodes(gn_graph *g, int64_t parts, int32_t *part);

#endif
