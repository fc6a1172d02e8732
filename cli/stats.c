#include "cli/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void gn_sort(double *x, int64_t n)
{
    if (n > 1) qsort(x, (size_t)n, sizeof *x, by_value);
}

double gn_quantile(const double *sorted, int64_t n, double q)
{
    if (n <= 0) return NAN;
    double at = q * (double)(n - 1);
    int64_t k = (int64_t)at;
    return k + 1 < n ? sorted[k] + (at - (double)k) * (sorted[k + 1] - sorted[k]) : sorted[n - 1];
}

gn_stats gn_stats_of(gn_arena *a, const double *x, int64_t n)
{
    gn_stats s = {.n = n > 0 ? n : 0};
    double *v = GN_NEW_N(a, double, s.n + 1), sum = 0, squares = 0;
    if (s.n) memcpy(v, x, (size_t)s.n * sizeof *v);
    gn_sort(v, s.n);
    for (int64_t k = 0; k < s.n; k++) sum += v[k];
    s.mean = s.n ? sum / (double)s.n : NAN;
    for (int64_t k = 0; k < s.n; k++) squares += (v[k] - s.mean) * (v[k] - s.mean);
    s.std = s.n > 1 ? sqrt(squares / (double)(s.n - 1)) : s.n ? 0 : NAN;
    s.min = gn_quantile(v, s.n, 0);
    s.p10 = gn_quantile(v, s.n, 0.10);
    s.p25 = gn_quantile(v, s.n, 0.25);
    s.median = gn_quantile(v, s.n, 0.50);
    s.p75 = gn_quantile(v, s.n, 0.75);
    s.p90 = gn_quantile(v, s.n, 0.90);
    s.p95 = gn_quantile(v, s.n, 0.95);
    s.p99 = gn_quantile(v, s.n, 0.99);
    s.max = gn_quantile(v, s.n, 1);
    s.sorted = v;
    return s;
}

bool gn_stats_spread(const gn_stats *s)
{
    enum { LEAST = 5 };
    return s->n >= LEAST;
}

double gn_rank_score(const gn_stats *a, const gn_stats *b)
{
    double n = (double)a->n, m = (double)b->n, rank = 1, sum = 0, ties = 0;
    if (!a->n || !b->n) return NAN;
    /* runs of equal values share the mean of their ranks */
    for (int64_t i = 0, k = 0; i < a->n || k < b->n;) {
        double x = k == b->n || (i < a->n && a->sorted[i] <= b->sorted[k]) ? a->sorted[i]
                                                                           : b->sorted[k];
        int64_t of_a = 0, of_b = 0;
        for (; i < a->n && a->sorted[i] == x; i++) of_a++;
        for (; k < b->n && b->sorted[k] == x; k++) of_b++;
        double t = (double)(of_a + of_b);
        sum += (double)of_a * (rank + (t - 1) / 2);
        ties += t * t * t - t;
        rank += t;
    }
    double u = sum - n * (n + 1) / 2, all = n + m;
    double variance = n * m / 12 * (all + 1 - ties / (all * (all - 1)));
    return variance > 0 ? (u - n * m / 2) / sqrt(variance) : 0;
}

bool gn_stats_differ(const gn_stats *a, const gn_stats *b)
{
    static const double one_in_a_hundred = 2.5758; /* either way */
    if (!gn_stats_spread(a) || !gn_stats_spread(b)) return false;
    if (fabs(a->median - b->median) <= GN_NOISE * fmin(a->median, b->median)) return false;
    return fabs(gn_rank_score(a, b)) > one_in_a_hundred;
}

double gn_break_even(double cost_ms, double base_us, double us)
{
    double gain_us = base_us - us;
    if (isnan(cost_ms) || isnan(gain_us)) return NAN;
    if (cost_ms <= 0) return 0;
    return gain_us > 0 ? ceil(cost_ms * 1e3 / gain_us) : INFINITY;
}
