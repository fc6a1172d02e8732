/* Links: edges of a graph held out, for models that are to tell true edges from false ones.
 *
 * As PyTorch Geometric's RandomLinkSplit does by default (train_test_split_edges before it): pairs
 * of nodes are drawn for validation and test, the graph keeps those of training, in both
 * directions where it had them, and as many false edges as true ones are drawn to test against. */
#ifndef GN_RUNTIME_DATA_LINKS_H
#define GN_RUNTIME_DATA_LINKS_H

#include "base/status.h"

#include <stdint.h>

typedef struct gn_dataset gn_dataset;

#define GN_NAME_LINKS "links" /* the relation that training has its true edges in */

/* Edges to be judged: the true ones first. */
typedef struct gn_judged {
    int64_t n, n_true;
    int64_t *src, *dst; /* [n] */
} gn_judged;

typedef struct gn_links {
    gn_judged val, test;
} gn_links;

/* Takes 5 % of the pairs of different nodes that g relates for validation and 10 % for test, by
 * seed, and adds the relation `links`: a pair of the rest once each.  All edges of a pair go with
 * it, and what lies on edges goes with them; loops stay, and no false edge is one.  GN_ERR_DATA:
 * fewer than 20 pairs, or no false ones; GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_links_hold_out(gn_dataset *d, uint64_t seed, gn_links *out);
/* Node v has become to[v]; NULL: all have their numbers. */
void gn_links_renumber(gn_links *l, const int64_t *to);
void gn_links_free(gn_links *l);

#endif
