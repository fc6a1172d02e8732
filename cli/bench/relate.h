/* Relate: what a cell is beside others: the fastest on its data, itself on fewer threads, what
 * needs no search. */
#ifndef GN_CLI_BENCH_RELATE_H
#define GN_CLI_BENCH_RELATE_H

#include "cli/bench/bench.h"

bool gn_searches(const gn_cell *c); /* does its mode? */

/* Against the fastest of one model and dataset with as many threads. */
typedef enum gn_standing {
    GN_STANDS_NONE, /* not timed, or alone */
    GN_STANDS_FASTEST,
    GN_STANDS_AS_FAST, /* no slower beyond noise */
    GN_STANDS_SLOWER
} gn_standing;
gn_standing gn_standing_of(const gn_bench *b, const gn_cell *c, bool infer);
const char *gn_standing_text(gn_standing r);
/* How much longer its median is than the fastest's, in percent; NaN: not timed, or alone. */
double gn_behind(const gn_bench *b, const gn_cell *c, bool infer);

/* Times faster than the same mode and setting with the fewest threads of the grid; NaN: not timed,
 * or one number of threads alone. */
double gn_thread_gain(const gn_bench *b, const gn_cell *c, bool infer);

/* Of a mode that searches: times faster than the fastest that does not, and after how many steps
 * the search, which comes once, has paid; infinite where it gains nothing beyond noise.  NaN: of
 * another mode, or there is nothing to compare with. */
double gn_search_gain(const gn_bench *b, const gn_cell *c, bool infer);
double gn_search_pays(const gn_bench *b, const gn_cell *c, bool infer);

#endif
