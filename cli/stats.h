/* Statistics of samples, and what follows from two of them. */
#ifndef GN_CLI_STATS_H
#define GN_CLI_STATS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct gn_stats {
    int64_t n; /* 0: all figures are NaN */
    double min, p10, p25, median, p75, p90, p95, p99, max, mean;
    double std;           /* of the sample: n - 1; 0 of one */
    const double *sorted; /* [n], in the arena */
} gn_stats;

/* Of n numbers, none of them NaN, in any order; `x` stays as it is. */
gn_stats gn_stats_of(gn_arena *a, const double *x, int64_t n);

/* The q-th quantile of a sorted array, linear between neighbours (Hyndman and Fan's type 7, which
 * is R's and NumPy's); NaN of none. */
double gn_quantile(const double *sorted, int64_t n, double q);
void gn_sort(double *x, int64_t n);

/* Are a's samples smaller, or larger, than b's?  The rank-sum test of Mann and Whitney ("On a test
 * of whether one of two random variables is stochastically larger than the other", Annals of
 * Mathematical Statistics 18, 1947): the standard score of its U, normal approximation with ties
 * counted; below 0 where a's are smaller. NaN where one is empty, 0 where all are equal. */
double gn_rank_score(const gn_stats *a, const gn_stats *b);

/* Do they differ beyond noise?  A score that chance gives once in a hundred times, and medians more
 * than GN_NOISE apart: the same program run twice differs by about that much.  Fewer than five
 * samples have no spread, and never differ. */
#define GN_NOISE 0.02
bool gn_stats_differ(const gn_stats *a, const gn_stats *b);
bool gn_stats_spread(const gn_stats *s); /* are there five? */

/* After how many steps `cost_ms`, spent once, has come back from steps that take `us` rather than
 * `base_us`: a whole number, at least 1; infinite where a step gains nothing, NaN where a figure
 * is. 0 where there is no cost. */
double gn_break_even(double cost_ms, double base_us, double us);

#endif
