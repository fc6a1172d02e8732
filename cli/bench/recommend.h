/* Recommend: which cell for which use. */
#ifndef GN_CLI_BENCH_RECOMMEND_H
#define GN_CLI_BENCH_RECOMMEND_H

#include "cli/bench/bench.h"

/* The fastest by a figure: of those that are slower within noise alone, or are the same program (or
 * as fast as most cells of that program), the one whose mode does least (the first in the table of
 * modes).  -1: none. */
int gn_best_of(int n, const gn_cell *const *cells, bool infer);
/* Is `c` as fast as `best` within noise, or the same program? */
bool gn_as_fast(const gn_cell *c, const gn_cell *best, bool infer);

/* Which cell is cheapest for how many steps, where its compilation counts: from[0] = 1 < from[1] <
 * ...; pick[k] is the cheapest from from[k] on, up to from[k + 1] - 1.  Each is faster than the one
 * before it beyond noise, and of what costs the first step within a quarter of the least
 * (compilation is timed once), the one whose mode does least is the first.  Both have room for n;
 * how many there are. */
int gn_cheapest(int n, const gn_cell *const *cells, bool infer, double *from, int *pick);

/* Of one model, on one dataset, with one number of threads? */
bool gn_are_peers(const gn_cell *a, const gn_cell *b);
/* The cells that ended well and are peers of `like`; room for b->n_cells. */
int gn_peers_of(const gn_bench *b, const gn_cell *like, const gn_cell **out);
/* of all its peers, whatever their end */
bool gn_first_of_peers(const gn_bench *b, const gn_cell *c);

/* "gcn on cora, 2 threads"; model and threads only where there are several of them. */
const char *gn_peers_title(const gn_bench *b, const gn_cell *c);
/* The same without the model. */
const char *gn_group_title(const gn_bench *b, const gn_cell *c);

#endif
