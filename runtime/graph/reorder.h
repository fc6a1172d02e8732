/* Orders of a graph's nodes that put what is read together close together.  Deterministic; linear
 * in nodes and edges but for the logarithm of finding roots. */
#ifndef GN_RUNTIME_GRAPH_REORDER_H
#define GN_RUNTIME_GRAPH_REORDER_H

#include "runtime/graph/graph.h"

/*      id           name           order */
#define GN_ORDERS(X)                                                                               \
    X(NONE, "none", "as they came")                                                                \
    X(DEGREE, "degree",                                                                            \
      "most edges first: rows of about one length side by side, what is read most often together") \
    X(RCM, "rcm", "reverse Cuthill-McKee: breadth first, a narrow band")                           \
    X(COMMUNITIES, "communities", "communities of communities, each side by side (Rabbit Order)")
typedef enum gn_order {
#define X(id, name, doc) GN_ORDER_##id,
    GN_ORDERS(X)
#undef X
        GN_ORDER_COUNT
} gn_order;
extern const char *const gn_order_name[GN_ORDER_COUNT];

/* to[v]: the new number of node v; to: [n].  The graph's ends are one space of n nodes; makes its
 * CSC arrays. GN_ERR_NOMEM; GN_ERR_DATA when the ends differ in size. */
GN_NODISCARD gn_status *gn_graph_order(gn_graph *g, gn_order how, int64_t *to);

/* GN_ORDER_DEGREE, of n nodes with so many edges each: most first, and of as many the last node
 * first.  GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_order_by_degree(const int64_t *degree, int64_t n, int64_t *to);

#endif
