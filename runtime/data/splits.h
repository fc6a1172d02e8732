/* Splits of edges and rows by seed, and false edges.
 *
 * All are drawn by Philox (base/philox.h) and depend on nothing but their arguments: one seed gives
 * one split on every machine.  Nothing here keeps state. */
#ifndef GN_RUNTIME_DATA_SPLITS_H
#define GN_RUNTIME_DATA_SPLITS_H

#include "runtime/data/known.h"

/* Fisher and Yates: every order of item [n] is as likely as another.
 * `drawn` counts the numbers of the stream (key, site) that were used, from 0. */
void gn_shuffle(int64_t *item, int64_t n, uint32_t key, uint32_t site, uint64_t *drawn);

typedef enum gn_part { GN_PART_TRAIN, GN_PART_VAL, GN_PART_TEST, GN_PART_COUNT } gn_part;

typedef struct gn_edge_split {
    double val, test; /* shares; training has the rest.  0.05 and 0.1 are usual */
    bool undirected;  /* all edges of a pair of nodes, either way, are one and go together */
    uint64_t seed;
} gn_edge_split;

/* The part of each edge in `part` [n], a gn_part.  What is drawn are edges, or where `undirected`
 * pairs of nodes; as in PyTorch Geometric's RandomLinkSplit `val` and `test` have the whole part of
 * their share of them, training what is left, and that has to be one at least.  An edge that comes
 * twice is drawn twice where edges are directed.  O(n log n).  GN_ERR_USAGE: n below 0, shares that
 * are none, or that leave nothing to train on; GN_ERR_DATA: an end below 0 or above GN_MAX_NODES;
 * GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_split_edges(const int64_t *src, const int64_t *dst, int64_t n,
                                       const gn_edge_split *how, uint8_t *part);

/* Stratified folds: in fold_of [n] the fold, from 0, of each row, -1 where y is below 0.  Rows of a
 * class are shuffled and dealt out in turn, each class from where the last one ended, so that folds
 * differ by one row at most, and by one of each class; as many as scikit-learn's StratifiedKFold
 * deals.  y NULL: all are of one class.  O(n + classes).  GN_ERR_USAGE: fewer than two folds, or
 * fewer rows with a label than folds, sizes below 0, a label that is not below `classes`;
 * GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_folds(const int32_t *y, int64_t n, int64_t classes, int32_t folds,
                                 uint64_t seed, int32_t *fold_of);

/* Which ends of an edge are drawn anew to make it false. */
typedef enum gn_drawn { GN_DRAWN_BOTH, GN_DRAWN_TAIL, GN_DRAWN_HEAD, GN_DRAWN_COUNT } gn_drawn;

typedef struct gn_false_edges {
    int64_t heads, tails; /* how many nodes there are on either side */
    int64_t times;        /* false edges for each edge */
    gn_drawn drawn;
    const gn_known *known; /* NULL: a false edge may be true by chance */
    uint64_t seed, step;   /* an epoch or a batch; other steps draw others */
} gn_false_edges;

/* Ends of false edges, in head and tail [of->n * times]: those of edge i from i * times on, of its
 * kind.  Uniform over all nodes; with `known` over all edges of the kind that are not known (of
 * that head or that tail, where one end is kept), drawn without trying again, so that each false
 * edge depends on its number alone and time is O(log n) each however dense the graph.  (The
 * remainder of 64 bits: of m edges to choose from none is more than m / 2^64 too likely.)  Repeats
 * may come. Loops are drawn as others are, unless they are among those known. GN_ERR_USAGE: sizes
 * below 0 or that do not fit; GN_ERR_DATA: an end or kind out of range, an edge that has nothing
 * false to draw. */
GN_NODISCARD gn_status *gn_draw_false(const gn_triples *of, const gn_false_edges *how,
                                      int64_t *head, int64_t *tail);

#endif
