/* Decompositions of features against a plain one in double precision: one-sided Jacobi on the whole
 * matrix. */
/* links: runtime base */
#include "data_fixture.h"

#include "runtime/data/csr.h"
#include "runtime/data/svd.h"

#include <math.h>

enum { MOST = 80 };
static double a[MOST][MOST], v[MOST][MOST], size[MOST];
static int place[MOST];

static double random_sign(uint64_t *s)
{
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (double)(*s >> 11) * 0x1p-52 - 1;
}

/* A dataset of n nodes with f features, of which about one in `every` is not 0; column c is
 * smaller by 0.7^c where they fade. */
static gn_dataset *features(int64_t n, int64_t f, int every, bool fade, bool sparse)
{
    gn_dataset *d = calloc(1, sizeof *d);
    uint64_t seed = (uint64_t)(n * 1000 + f * 10 + every);
    d->n_nodes = n;
    d->n_features = f;
    d->x = calloc((size_t)(n * f), sizeof *d->x);
    for (int64_t i = 0; i < n * f; i++) {
        bool there = fabs(random_sign(&seed)) < 1.0 / every;
        double x = random_sign(&seed) + 0.3;
        if (there) d->x[i] = (float)(fade ? x * pow(0.7, (double)(i % f)) : x);
    }
    if (!sparse) return d;
    gn_csr *m;
    must(gn_csr_new(n, f, n * f, &m));
    m->nnz = 0;
    for (int64_t i = 0; i < n * f; i++) {
        if (d->x[i] != 0) {
            m->col[m->nnz] = (int32_t)(i % f);
            m->val[m->nnz++] = d->x[i];
        }
        m->ptr[i / f + 1] = m->nnz;
    }
    free(d->x);
    d->x = NULL;
    d->x_csr = m;
    return d;
}

static void read_dense(const gn_dataset *d, bool centred)
{
    memset(a, 0, sizeof a);
    const gn_csr *m = d->x_csr;
    for (int64_t r = 0; r < d->n_nodes; r++) {
        for (int64_t c = 0; !m && c < d->n_features; c++)
            a[r][c] = (double)d->x[r * d->n_features + c];
        for (int64_t k = m ? m->ptr[r] : 0; m && k < m->ptr[r + 1]; k++)
            a[r][m->col[k]] = (double)m->val[k];
    }
    for (int64_t c = 0; centred && c < d->n_features; c++) {
        double mean = 0;
        for (int64_t r = 0; r < d->n_nodes; r++) mean += a[r][c] / (double)d->n_nodes;
        for (int64_t r = 0; r < d->n_nodes; r++) a[r][c] -= mean;
    }
}

/* Columns p and q of a, made orthogonal; true where they were not. */
static bool turn(int64_t n, int64_t f, int64_t p, int64_t q)
{
    double x = 0, y = 0, z = 0;
    for (int64_t r = 0; r < n; r++) {
        x += a[r][p] * a[r][p];
        y += a[r][q] * a[r][q];
        z += a[r][p] * a[r][q];
    }
    if (fabs(z) <= 1e-14 * sqrt(x * y) + 1e-28) return false;
    double w = (y - x) / (2 * z), t = (w < 0 ? -1 : 1) / (fabs(w) + sqrt(1 + w * w));
    double c = 1 / sqrt(1 + t * t), s = c * t;
    for (int64_t r = 0; r < (n > f ? n : f); r++) {
        double u = a[r][p], k = v[r][p];
        a[r][p] = c * u - s * a[r][q];
        a[r][q] = s * u + c * a[r][q];
        v[r][p] = c * k - s * v[r][q];
        v[r][q] = s * k + c * v[r][q];
    }
    return true;
}

/* a becomes U S, with `place` the order of its columns and the largest entries of V positive. */
static void plain_svd(int64_t n, int64_t f)
{
    memset(v, 0, sizeof v);
    for (int64_t c = 0; c < f; c++) v[c][c] = 1;
    for (bool more = true; more;) {
        more = false;
        for (int64_t p = 0; p < f; p++)
            for (int64_t q = p + 1; q < f; q++) more |= turn(n, f, p, q);
    }
    for (int64_t c = 0; c < f; c++) {
        double top = 0;
        size[c] = 0;
        for (int64_t r = 0; r < n; r++) size[c] += a[r][c] * a[r][c];
        for (int64_t r = 0; r < f; r++)
            if (fabs(v[r][c]) > fabs(top)) top = v[r][c];
        for (int64_t r = 0; r < n && top < 0; r++) a[r][c] = -a[r][c];
        place[c] = 0;
    }
    for (int64_t c = 0; c < f; c++)
        for (int64_t k = 0; k < f; k++)
            place[c] += size[k] > size[c] || (size[k] == size[c] && k < c);
}

static void expect(int64_t n, int64_t f, int every, bool fade, bool sparse, gn_reduction how,
                   int64_t components)
{
    gn_dataset *d = features(n, f, every, fade, sparse);
    read_dense(d, how == GN_REDUCTION_PCA);
    plain_svd(n, f);
    must(gn_features_reduce(d, how, components));
    ck_assert(d->x && !d->x_csr);
    ck_assert_int_eq(d->n_features, components);
    ck_assert_int_eq(d->n_features_read, f);
    ck_assert_int_eq(d->reduced, how);
    double top = 0;
    for (int64_t c = 0; c < f; c++) top = fmax(top, sqrt(size[c]));
    for (int64_t c = 0; c < f; c++)
        for (int64_t r = 0; r < n && place[c] < components; r++) {
            double got = (double)d->x[r * components + place[c]];
            ck_assert_msg(fabs(got - a[r][c]) < 1e-6 * top,
                          "%lld x %lld, component %d of node %lld: %.9g, not %.9g", (long long)n,
                          (long long)f, place[c], (long long)r, got, a[r][c]);
        }
    gn_dataset_free(d);
}

START_TEST(as_a_plain_one)
{
    bool sparse = _i % 2;
    gn_reduction how = _i / 2 ? GN_REDUCTION_PCA : GN_REDUCTION_SVD;
    expect(70, 12, 2, false, sparse, how, 8); /* more nodes than features */
    expect(15, 40, 3, false, sparse, how, 6); /* fewer */
    expect(60, 50, 1, true, sparse, how, 7);  /* of many */
    expect(60, 50, 4, true, sparse, how, 12);
    expect(30, 30, 2, false, sparse, how, 29); /* nearly all */
    expect(9, 1, 1, false, sparse, how, 1);
    expect(1, 9, 1, false, sparse, GN_REDUCTION_SVD, 1);
}
END_TEST

/* What singular values of 0 belong to is 0, and not what rounding left. */
START_TEST(of_lower_rank)
{
    enum { N = 3000, WIDE = 70, K = 6 };
    gn_dataset *d = features(N, WIDE, 1, false, _i);
    for (int64_t r = 0; r < N; r++) {
        float *x = _i ? d->x_csr->val + d->x_csr->ptr[r] : d->x + r * WIDE;
        for (int64_t c = 3; c < WIDE; c++) x[c] = x[c % 3] + x[(c + 1) % 3] * (float)(1 << c % 5);
    }
    must(gn_features_reduce(d, GN_REDUCTION_SVD, K));
    for (int64_t k = 0; k < K; k++) {
        double sum = 0;
        for (int64_t r = 0; r < N; r++) sum += fabs((double)d->x[r * K + k]);
        ck_assert_msg(k < 3 ? sum > 1 : sum == 0, "component %d: %g", (int)k, sum);
    }
    gn_dataset_free(d);
    d = features(5, 4, 1, false, false);
    memset(d->x, 0, 20 * sizeof *d->x);
    must(gn_features_reduce(d, GN_REDUCTION_PCA, 4));
    for (int k = 0; k < 20; k++) ck_assert(d->x[k] == 0);
    gn_dataset_free(d);
}
END_TEST

/* Two decompositions of the same are the same bytes, and a sparse one is that of the dense. */
START_TEST(the_same_again)
{
    gn_dataset *d[3];
    for (int k = 0; k < 3; k++) {
        d[k] = features(64, 48, 3, false, k == 2);
        must(gn_features_reduce(d[k], GN_REDUCTION_PCA, 5));
    }
    ck_assert_mem_eq(d[0]->x, d[1]->x, 64 * 5 * sizeof(float));
    for (int i = 0; i < 64 * 5; i++) ck_assert_float_eq_tol(d[0]->x[i], d[2]->x[i], 1e-5f);
    for (int k = 0; k < 3; k++) gn_dataset_free(d[k]);
}
END_TEST

START_TEST(refused)
{
    gn_dataset *d = features(10, 6, 1, false, false);
    MUST_FAIL(gn_features_reduce(d, GN_REDUCTION_SVD, 7), GN_ERR_USAGE,
              "svd:7 of 10 nodes with 6 features: there are 6 components at most");
    d->x[8] = NAN;
    MUST_FAIL(gn_features_reduce(d, GN_REDUCTION_PCA, 2), GN_ERR_DATA,
              "feature 2 of node 1 is nan");
    ck_assert_int_eq(d->n_features, 6);
    gn_dataset_free(d);
    d = features(4, 6, 1, false, true);
    d->x_csr->val[7] = INFINITY;
    MUST_FAIL(gn_features_reduce(d, GN_REDUCTION_PCA, 2), GN_ERR_DATA,
              "feature 1 of node 1 is inf");
    MUST_FAIL(gn_features_reduce(d, GN_REDUCTION_SVD, 5), GN_ERR_USAGE, "4 components at most");
    gn_dataset_free(d);
    d = calloc(1, sizeof *d);
    d->n_nodes = 3;
    MUST_FAIL(gn_features_reduce(d, GN_REDUCTION_SVD, 1), GN_ERR_USAGE, "these data have none");
    gn_dataset_free(d);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("svd");
    tcase_add_loop_test(t, as_a_plain_one, 0, 4);
    tcase_add_loop_test(t, of_lower_rank, 0, 2);
    tcase_add_test(t, the_same_again);
    tcase_add_test(t, refused);
    return RUN_CASES("data, decompositions of features", t);
}
