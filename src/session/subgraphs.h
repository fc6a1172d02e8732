/* Subgraphs: which rows a batch has that is a part of the graph, and how likely rows and edges are
 * in one.  Functions of the seed and the number of the batch alone. */
#ifndef GN_SESSION_SUBGRAPHS_H
#define GN_SESSION_SUBGRAPHS_H

#include "ir/train_spec.h"
#include "runtime/graph/graph.h"

typedef struct gn_subgraphs gn_subgraphs;

/* Of a graph from nodes to themselves, which is borrowed and gets what arrays it needs.  METIS is
 * loaded for clusters.  GN_ERR_NOMEM; GN_ERR_DATA: it has no edges to draw; GN_ERR_IO: there is no
 * METIS. */
GN_NODISCARD gn_status *gn_subgraphs_new(gn_graph *g, const gn_batch_spec *how, gn_subgraphs **out);
void gn_subgraphs_free(gn_subgraphs *z); /* NULL is fine */

/* How many an epoch goes over: parts, of which a batch has `sampled[1]`, or batches. */
int64_t gn_subgraphs_count(const gn_subgraphs *z);

/* Nodes of a batch, each once. */
typedef struct gn_picked {
    uint8_t *mask; /* [nodes] 1 where it is one of them */
    int64_t *node; /* [n], of room for all; in no order */
    int64_t n;
} gn_picked;

/* Forgets those that there were.  The parts `part` [n] of CLUSTER, or what is drawn by `key`. */
void gn_subgraphs_pick(const gn_subgraphs *z, int64_t n, const int64_t *part, uint64_t key,
                       gn_picked *out);

/* By what sums count a node, and an edge (in CSR order) into a node of the batch: one over how
 * often they are in it, of as many batches by `seed` as have each node 50 times in the mean, and 1
 * for what is in none.  node: [nodes], of which their mean is 1; edge: [edges].  GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_subgraphs_shares(gn_subgraphs *z, uint64_t seed, float *node,
                                            float *edge);

#endif
