/* Fills of a range of normal numbers, of lists, and of whole matrices. */
/* links: base runtime */
#include "runtime/fill.h"
#include "runtime_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int MANY = 40000;

static double *fill(gn_fill f, uint64_t seed, int64_t n)
{
    double *v = malloc((size_t)(n + 1) * sizeof *v);
    ok(gn_fill_tensor(f, seed, "w", GN_F64, n, v));
    return v;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The distribution function of a normal number that lies in [low, high]. */
static double share_below(const gn_fill *f, double x)
{
    double r = f->b * sqrt(2), from = erf((f->low - f->a) / r), to = erf((f->high - f->a) / r);
    return (erf((x - f->a) / r) - from) / (to - from);
}

/* Kolmogorov and Smirnov's distance to that, whose 0.1 % bound is 1.95 / sqrt(n): around the mean,
 * on one side of it, far out, and where nothing is cut off. */
static const gn_fill cut[] = {
    {.kind = GN_FILL_TRUNC_NORMAL, .a = 0, .b = 1, .low = -2, .high = 2},
    {.kind = GN_FILL_TRUNC_NORMAL, .a = 1, .b = 0.5, .low = 1.2, .high = 1.3},
    {.kind = GN_FILL_TRUNC_NORMAL, .a = 0, .b = 0.1, .low = 0.3, .high = 1},
    {.kind = GN_FILL_TRUNC_NORMAL, .a = -3, .b = 2, .low = -30, .high = 30},
};

START_TEST(truncated)
{
    const gn_fill *f = &cut[_i];
    double *v = fill(*f, 5, MANY), worst = 0, sum = 0, squares = 0;
    qsort(v, MANY, sizeof *v, ascending);
    ck_assert(v[0] >= f->low && v[MANY - 1] <= f->high);
    for (int i = 0; i < MANY; i++) {
        worst = fmax(worst, fabs(share_below(f, v[i]) - (i + 0.5) / MANY));
        sum += v[i] / MANY;
    }
    for (int i = 0; i < MANY; i++) squares += (v[i] - sum) * (v[i] - sum) / MANY;
    ck_assert_msg(worst < 1.95 / sqrt(MANY), "distance %g", worst);
    /* torch.nn.init.trunc_normal_ with its own bounds: deviation 0.8796 */
    if (_i == 0)
        ck_assert_msg(fabs(sum) < 0.015 && fabs(sqrt(squares) - 0.87963) < 0.01,
                      "mean %g, deviation %g", sum, sqrt(squares));
    free(v);
}
END_TEST

START_TEST(truncated_at_once)
{
    double *v = fill((gn_fill){.kind = GN_FILL_TRUNC_NORMAL, .a = 1, .low = 2, .high = 3}, 0, 5);
    for (int i = 0; i < 5; i++) ck_assert(v[i] == 2); /* no deviation: the nearest there is */
    free(v);
    gn_fill f = {.kind = GN_FILL_TRUNC_NORMAL, .b = 1, .low = 1, .high = -1};
    refused(gn_fill_tensor(f, 0, "w", GN_F64, 1, NULL), GN_ERR_USAGE, "from 1 up to -1");
    f = (gn_fill){.kind = GN_FILL_TRUNC_NORMAL, .b = -1, .low = -1, .high = 1};
    refused(gn_fill_tensor(f, 0, "w", GN_F64, 1, NULL), GN_ERR_USAGE, "deviation -1");
    int32_t whole;
    f.kind = GN_FILL_ORTHOGONAL;
    refused(gn_fill_tensor(f, 0, "w", GN_I32, 1, &whole), GN_ERR_USAGE, "no float");
    f.rows = 2;
    refused(gn_fill_tensor(f, 0, "w", GN_F64, 3, (double[3]){0}), GN_ERR_USAGE,
            "3 numbers are no matrix of 2 rows");
}
END_TEST

/* Element (i, j) of the matrix, which lies row by row, or turned. */
static double cell(const gn_fill *f, const double *v, int64_t n, int64_t i, int64_t j)
{
    int64_t cols = n / f->rows;
    return f->turned ? v[j * f->rows + i] : v[i * cols + j];
}

static const struct {
    int64_t rows, cols;
} sizes[] = {{1, 1}, {7, 7}, {3, 20}, {20, 3}, {64, 32}};
enum { SIZES = sizeof sizes / sizeof *sizes };

START_TEST(orthogonal)
{
    int64_t rows = sizes[_i / 2].rows, cols = sizes[_i / 2].cols, n = rows * cols;
    const gn_fill f = {
        .kind = GN_FILL_ORTHOGONAL, .a = 1.5, .rows = rows, .turned = _i % 2 ? cols : 0};
    double *v = fill(f, 3, n), *other = fill(f, 4, n);
    int64_t few = rows < cols ? rows : cols, most = rows < cols ? cols : rows;
    for (int64_t p = 0; p < few; p++)
        for (int64_t q = 0; q < few; q++) {
            double dot = 0;
            for (int64_t k = 0; k < most; k++)
                dot += rows < cols ? cell(&f, v, n, p, k) * cell(&f, v, n, q, k)
                                   : cell(&f, v, n, k, p) * cell(&f, v, n, k, q);
            HOLDS(fabs(dot - (p == q ? 2.25 : 0)) < 1e-13);
        }
    if (n > 1) ck_assert_mem_ne(v, other, (size_t)n * sizeof *v);
    free(v);
    free(other);
}
END_TEST

/* Turns of all directions alike: elements have the mean 0 and the variance 1 / n. */
START_TEST(orthogonal_ones_are_anyhow)
{
    enum { N = 4 };
    const int TIMES = 4000;
    const gn_fill f = {.kind = GN_FILL_ORTHOGONAL, .a = 1, .rows = N};
    double mean[N * N] = {0}, square[N * N] = {0};
    for (int t = 0; t < TIMES; t++) {
        double *v = fill(f, (uint64_t)t, N * N);
        for (int i = 0; i < N * N; i++) mean[i] += v[i] / TIMES;
        for (int i = 0; i < N * N; i++) square[i] += v[i] * v[i] / TIMES;
        free(v);
    }
    for (int i = 0; i < N * N; i++)
        ck_assert_msg(fabs(mean[i]) < 0.03 && fabs(square[i] - 0.25) < 0.02, "%d: %g, %g", i,
                      mean[i], square[i]);
}
END_TEST

START_TEST(sparse)
{
    enum { ROWS = 30 };
    const int COLS = 400;
    const gn_fill f = {
        .kind = GN_FILL_SPARSE, .a = 0.41, .b = 2, .rows = ROWS, .turned = _i ? COLS : 0};
    double *v = fill(f, 9, ROWS * COLS), squares = 0, most = 0;
    int in_row[ROWS] = {0};
    for (int j = 0; j < COLS; j++) {
        int zeros = 0;
        for (int i = 0; i < ROWS; i++) {
            double x = cell(&f, v, ROWS * COLS, i, j);
            zeros += x == 0;
            in_row[i] += x == 0;
            squares += x * x;
        }
        ck_assert_int_eq(zeros, 13); /* 12.3 of 30, rounded up */
    }
    ck_assert_msg(fabs(squares / (17 * COLS) - 4) < 0.25, "variance %g", squares / (17 * COLS));
    for (int i = 0; i < ROWS; i++) most = fmax(most, fabs(in_row[i] - COLS * 13.0 / 30));
    ck_assert_msg(most < 40, "a row is %g off", most); /* 4 deviations of 9.9 */
    free(v);
}
END_TEST

START_TEST(eye_and_list)
{
    static const float numbers[] = {1.5F, -2, 3, 4, 5, 6};
    gn_fill f = {.kind = GN_FILL_EYE, .rows = 2};
    double *v = fill(f, 0, 6), one[] = {1, 0, 0, 0, 1, 0};
    ck_assert_mem_eq(v, one, sizeof one);
    free(v);
    f.turned = 3;
    v = fill(f, 0, 6);
    double turned[] = {1, 0, 0, 1, 0, 0};
    ck_assert_mem_eq(v, turned, sizeof turned);
    free(v);
    v = fill((gn_fill){.kind = GN_FILL_LIST, .list = numbers, .turned = 3}, 0, 6);
    for (int i = 0; i < 6; i++) ck_assert(v[i] == (double)numbers[i]); /* as it lies in memory */
    free(v);
}
END_TEST

START_TEST(out_of_memory)
{
    double v[12];
    for (gn_fill_kind k = GN_FILL_EYE; k <= GN_FILL_SPARSE; k++)
        OUT_OF_MEMORY_SWEEP(gn_fill_tensor((gn_fill){.kind = k, .a = 0.5, .b = 1, .rows = 4}, 0,
                                           "w", GN_F64, 12, v));
}
END_TEST

static void fill_suite(TCase *c)
{
    tcase_add_loop_test(c, truncated, 0, sizeof cut / sizeof *cut);
    tcase_add_test(c, truncated_at_once);
    tcase_add_loop_test(c, orthogonal, 0, 2 * SIZES);
    tcase_add_test(c, orthogonal_ones_are_anyhow);
    tcase_add_loop_test(c, sparse, 0, 2);
    tcase_add_test(c, eye_and_list);
    tcase_add_test(c, out_of_memory);
}

int main(void)
{
    TCase *c = tcase_create("fill");
    fill_suite(c);
    return RUN_CASES("runtime fill", c);
}
