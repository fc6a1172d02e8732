/* Statistics of bench, against figures of R and of the papers' formulas worked out by hand. */
/* links: base */
/* sources: ../../cli/stats.c */
#include "cli/stats.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static gn_arena arena;

static gn_stats of(const double *x, int n) { return gn_stats_of(&arena, x, n); }
#define OF(...)                                                                                    \
    of((const double[]){__VA_ARGS__}, (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)))

/* R: quantile(c(15, 20, 35, 40, 50), c(.1, .25, .5, .75, .9, .95, .99)); sd() */
START_TEST(known_quantiles)
{
    gn_stats s = OF(40, 15, 50, 20, 35);
    ck_assert_int_eq(s.n, 5);
    ck_assert_double_eq_tol(s.min, 15, 1e-12);
    ck_assert_double_eq_tol(s.p10, 17, 1e-12);
    ck_assert_double_eq_tol(s.p25, 20, 1e-12);
    ck_assert_double_eq_tol(s.median, 35, 1e-12);
    ck_assert_double_eq_tol(s.p75, 40, 1e-12);
    ck_assert_double_eq_tol(s.p90, 46, 1e-12);
    ck_assert_double_eq_tol(s.p95, 48, 1e-12);
    ck_assert_double_eq_tol(s.p99, 49.6, 1e-12);
    ck_assert_double_eq_tol(s.max, 50, 1e-12);
    ck_assert_double_eq_tol(s.mean, 32, 1e-12);
    /* 17^2 + 12^2 + 3^2 + 8^2 + 18^2, over n - 1 */
    ck_assert_double_eq_tol(s.std, sqrt(830.0 / 4), 1e-12);
    for (int k = 1; k < 5; k++) ck_assert(s.sorted[k - 1] <= s.sorted[k]);
}
END_TEST

START_TEST(small_samples)
{
    gn_stats none = of(NULL, 0), one = OF(3), two = OF(4, 2);
    ck_assert_int_eq(none.n, 0);
    ck_assert(isnan(none.median) && isnan(none.mean) && isnan(none.std) && isnan(none.max));
    ck_assert_double_eq(one.median, 3);
    ck_assert_double_eq(one.p99, 3);
    ck_assert_double_eq(one.std, 0);
    ck_assert_double_eq(two.median, 3);
    ck_assert_double_eq_tol(two.std, sqrt(2), 1e-12);
}
END_TEST

START_TEST(input_stays)
{
    double x[] = {3, 1, 2};
    gn_stats_of(&arena, x, 3);
    ck_assert(x[0] == 3 && x[1] == 1 && x[2] == 2);
}
END_TEST

/* U = 0, its mean 12.5, its variance 25 * 11 / 12. */
START_TEST(rank_score_of_separate_samples)
{
    gn_stats a = OF(1, 2, 3, 4, 5), b = OF(10, 9, 8, 7, 6);
    ck_assert_double_eq_tol(gn_rank_score(&a, &b), -12.5 / sqrt(275.0 / 12), 1e-12);
    ck_assert_double_eq_tol(gn_rank_score(&b, &a), 12.5 / sqrt(275.0 / 12), 1e-12);
    ck_assert(gn_stats_differ(&a, &b));
}
END_TEST

/* Ranks 2, 2, 5 against 2, 5, 5: U = 3, mean 4.5, variance 9 / 12 * (7 - 48 / 30). */
START_TEST(rank_score_with_ties)
{
    gn_stats a = OF(1, 1, 2), b = OF(1, 2, 2), c = OF(7, 7, 7), d = OF(7, 7), none = of(NULL, 0);
    ck_assert_double_eq_tol(gn_rank_score(&a, &b), -1.5 / sqrt(4.05), 1e-12);
    ck_assert_double_eq(gn_rank_score(&c, &d), 0);
    ck_assert(isnan(gn_rank_score(&a, &none)) && isnan(gn_rank_score(&none, &a)));
}
END_TEST

/* Outliers, however far, do not hide that one is faster. */
START_TEST(outliers)
{
    gn_stats fast = OF(100, 101, 102, 103, 104, 105, 106, 107, 108, 9900);
    gn_stats slow = OF(600, 601, 602, 603, 604, 605, 606, 607, 20000, 30000);
    ck_assert(gn_stats_differ(&fast, &slow));
    ck_assert(gn_stats_differ(&slow, &fast));
}
END_TEST

START_TEST(what_does_not_differ)
{
    gn_stats a = OF(10, 11, 12, 13, 14, 15), b = OF(10, 11, 12, 14, 15, 16);
    ck_assert(!gn_stats_differ(&a, &b)); /* chance */
    gn_stats c = OF(100, 100.1, 100.2, 100.3, 100.4, 100.5),
             d = OF(101, 101.1, 101.2, 101.3, 101.4, 101.5);
    ck_assert(!gn_stats_differ(&c, &d)); /* surely apart, by 1 % */
    gn_stats few = OF(1, 2, 3, 4), many = OF(100, 101, 102, 103, 104);
    ck_assert(!gn_stats_differ(&few, &many));
    ck_assert(!gn_stats_spread(&few) && gn_stats_spread(&many));
}
END_TEST

START_TEST(break_even)
{
    ck_assert_double_eq(gn_break_even(10, 300, 100), 50);      /* 10 ms at 200 us a step */
    ck_assert_double_eq(gn_break_even(10.0001, 300, 100), 51); /* not quite after 50 */
    ck_assert_double_eq(gn_break_even(0.001, 300, 100), 1);
    ck_assert_double_eq(gn_break_even(0, 300, 100), 0);
    /* nothing was paid, whatever a step takes */
    ck_assert_double_eq(gn_break_even(-5, 300, 400), 0);
    ck_assert(isinf(gn_break_even(10, 100, 100)));
    ck_assert(isinf(gn_break_even(10, 100, 101)));
    ck_assert(isnan(gn_break_even(NAN, 300, 100)) && isnan(gn_break_even(1, NAN, 100)));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("stats");
    tcase_add_test(t, known_quantiles);
    tcase_add_test(t, small_samples);
    tcase_add_test(t, input_stays);
    tcase_add_test(t, rank_score_of_separate_samples);
    tcase_add_test(t, rank_score_with_ties);
    tcase_add_test(t, outliers);
    tcase_add_test(t, what_does_not_differ);
    tcase_add_test(t, break_even);
    gn_arena_init(&arena);
    int failed = RUN_CASES("bench_stats", t);
    gn_arena_free(&arena);
    return failed;
}
