#include "runtime/data/svd.h"

#include "base/philox.h"
#include "runtime/data/csr.h"
#include "runtime/data/mem.h"

#include <math.h>
#include <string.h>

const char *const gn_reduction_name[] = {
#define X(id, name) name,
    GN_REDUCTIONS(X)
#undef X
};

/* Vectors beside those that are asked for, and how often they go through the features. */
enum { MORE = 10, ROUNDS = 7 };
/* Rows at a time; vectors are padded to a multiple of PACK. */
enum { BLOCK = 8, PACK = 4 };
enum { SITE = 0x737664 };
#define SEED 0x5eed5eedu
/* Squares of singular values below this share of the largest are those of rounding. */
#define NOTHING 1e-13

/* A matrix is row-major, [rows, width]: a row has a number for each vector. */
typedef struct work {
    const gn_dataset *d;
    int64_t n, width;            /* vectors, without and with what pads them */
    double *basis, *next, *flat; /* [features, width]; the last [n, features] */
    double *gram, *turn;         /* [n, n] */
    double *mean;                /* [features]; NULL: none is taken off */
    double *shift;               /* [width]: of the mean, in the basis */
} work;

static void work_free(work *w)
{
    free(w->basis);
    free(w->next);
    free(w->flat);
    free(w->gram);
    free(w->turn);
    free(w->mean);
    free(w->shift);
}

static gn_status *work_new(work *w, const gn_dataset *d, int64_t components, bool centred)
{
    int64_t most = d->n_nodes < d->n_features ? d->n_nodes : d->n_features;
    *w = (work){.d = d, .n = components + MORE < most ? components + MORE : most};
    w->width = (w->n + PACK - 1) / PACK * PACK;
    GN_MEM(w->basis, d->n_features * w->width);
    GN_MEM(w->next, d->n_features * w->width);
    GN_MEM(w->flat, d->n_features * w->n);
    GN_MEM(w->gram, w->n * w->n);
    GN_MEM(w->turn, w->n * w->n);
    GN_MEM(w->shift, w->width);
    if (centred) GN_MEM(w->mean, d->n_features);
    return NULL;
}

/* Rows of features ----------------------------------------------------------------------------- */

typedef struct row {
    int64_t n;
    const int32_t *col; /* NULL: all of them */
    const float *val;
} row;

static row row_of(const gn_dataset *d, int64_t r)
{
    const gn_csr *m = d->x_csr;
    if (!m) return (row){d->n_features, NULL, d->x + r * d->n_features};
    return (row){m->ptr[r + 1] - m->ptr[r], m->col + m->ptr[r], m->val + m->ptr[r]};
}

static gn_status *check_finite(const gn_dataset *d)
{
    for (int64_t r = 0; r < d->n_nodes; r++) {
        row x = row_of(d, r);
        for (int64_t k = 0; k < x.n; k++)
            if (!isfinite(x.val[k]))
                GN_FAIL(GN_ERR_DATA,
                        "%s: feature %lld of node %lld is %g: only finite ones are decomposed",
                        d->name ? d->name : "data", (long long)(x.col ? x.col[k] : k), (long long)r,
                        (double)x.val[k]);
    }
    return NULL;
}

static void add_scaled(double *restrict to, const double *restrict from, double by, int64_t n)
{
    for (int64_t j = 0; j < n; j += PACK) {
        to[j] += by * from[j];
        to[j + 1] += by * from[j + 1];
        to[j + 2] += by * from[j + 2];
        to[j + 3] += by * from[j + 3];
    }
}

/* y[r] = row `first + r` of the features times the matrix m, less the shift. */
static void times(const work *w, const double *m, int64_t first, int64_t rows, double *y)
{
    int64_t f = w->d->n_features, width = w->width;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < width; j++) y[r * width + j] = w->mean ? -w->shift[j] : 0;
    if (!w->d->x_csr) {
        const float *x = w->d->x + first * f;
        for (int64_t c = 0; c < f; c++)
            for (int64_t r = 0; r < rows; r++)
                if (x[r * f + c] != 0)
                    add_scaled(y + r * width, m + c * width, (double)x[r * f + c], width);
        return;
    }
    for (int64_t r = 0; r < rows; r++) {
        row x = row_of(w->d, first + r);
        for (int64_t k = 0; k < x.n; k++)
            add_scaled(y + r * width, m + x.col[k] * width, (double)x.val[k], width);
    }
}

/* The transpose: to += row^T y[r]. */
static void times_back(const work *w, const double *y, int64_t first, int64_t rows, double *to)
{
    int64_t f = w->d->n_features, width = w->width;
    if (!w->d->x_csr) {
        const float *x = w->d->x + first * f;
        for (int64_t c = 0; c < f; c++)
            for (int64_t r = 0; r < rows; r++)
                if (x[r * f + c] != 0)
                    add_scaled(to + c * width, y + r * width, (double)x[r * f + c], width);
        return;
    }
    for (int64_t r = 0; r < rows; r++) {
        row x = row_of(w->d, first + r);
        for (int64_t k = 0; k < x.n; k++)
            add_scaled(to + x.col[k] * width, y + r * width, (double)x.val[k], width);
    }
}

static void find_mean(work *w)
{
    for (int64_t r = 0; r < w->d->n_nodes; r++) {
        row x = row_of(w->d, r);
        for (int64_t k = 0; k < x.n; k++) w->mean[x.col ? x.col[k] : k] += (double)x.val[k];
    }
    for (int64_t c = 0; c < w->d->n_features; c++) w->mean[c] /= (double)w->d->n_nodes;
}

/* What every row of the features has less, times the matrix m. */
static void find_shift(work *w, const double *m)
{
    memset(w->shift, 0, (size_t)w->width * sizeof *w->shift);
    for (int64_t c = 0; w->mean && c < w->d->n_features; c++)
        add_scaled(w->shift, m + c * w->width, w->mean[c], w->width);
}

/* next = X^T X basis, a block of rows at a time: of X less its mean, too, whose columns add up to
 * 0, so that it does not matter which of both X^T is of. */
static gn_status *advance(work *w)
{
    double *y;
    int64_t n = w->d->n_nodes;
    GN_MEM(y, BLOCK * w->width);
    memset(w->next, 0, (size_t)(w->d->n_features * w->width) * sizeof *w->next);
    find_shift(w, w->basis);
    for (int64_t r = 0; r < n; r += BLOCK) {
        int64_t rows = n - r < BLOCK ? n - r : BLOCK;
        times(w, w->basis, r, rows, y);
        times_back(w, y, r, rows, w->next);
    }
    free(y);
    return NULL;
}

/* Bases ---------------------------------------------------------------------------------------- */

static double dot(const double *a, const double *b, int64_t n)
{
    double s = 0;
    for (int64_t i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}

/* Normals, by Box and Muller. */
static void draw(work *w)
{
    uint32_t key = gn_rng_key(SEED, 0);
    for (int64_t c = 0; c < w->d->n_features; c++)
        for (int64_t j = 0; j < w->n; j++) {
            uint64_t at = (uint64_t)(c * w->n + j);
            double u = 1 - (double)gn_random_uniform(key, SITE, 2 * at);
            double v = (double)gn_random_uniform(key, SITE, 2 * at + 1);
            w->next[c * w->width + j] = sqrt(-2 * log(u)) * cos(2 * acos(-1.0) * v);
        }
}

/* basis = an orthonormal one of the columns of next: Gram and Schmidt, twice.  A column that
 * depends on others becomes 0. */
static void orthonormalise(work *w)
{
    int64_t f = w->d->n_features;
    for (int64_t j = 0; j < w->n; j++) {
        double *a = w->flat + j * f;
        for (int64_t c = 0; c < f; c++) a[c] = w->next[c * w->width + j];
        double was = sqrt(dot(a, a, f));
        for (int64_t i = 0; i < 2 * j; i++) {
            const double *b = w->flat + i % j * f;
            double by = dot(a, b, f);
            for (int64_t c = 0; c < f; c++) a[c] -= by * b[c];
        }
        double size = sqrt(dot(a, a, f)), scale = size > 1e-15 * was ? 1 / size : 0;
        for (int64_t c = 0; c < f; c++) w->basis[c * w->width + j] = a[c] *= scale;
    }
}

/* Rows i and j of a matrix [n, n], turned against each other. */
static void turn_rows(double *m, int64_t n, int64_t i, int64_t j, double c, double s)
{
    double *restrict a = m + i * n, *restrict b = m + j * n;
    for (int64_t k = 0; k < n; k++) {
        double x = a[k], y = b[k];
        a[k] = c * x - s * y;
        b[k] = s * x + c * y;
    }
}

static void turn_columns(double *m, int64_t n, int64_t i, int64_t j, double c, double s)
{
    for (int64_t k = 0; k < n; k++) {
        double x = m[k * n + i], y = m[k * n + j];
        m[k * n + i] = c * x - s * y;
        m[k * n + j] = s * x + c * y;
    }
}

/* Jacobi: eigenvalues on the diagonal of g, and the eigenvectors as the rows of v. */
static void eigen(double *g, double *v, int64_t n)
{
    enum { SWEEPS = 60 };
    for (int64_t i = 0; i < n * n; i++) v[i] = i % (n + 1) == 0;
    for (int sweep = 0, turned = 1; turned && sweep < SWEEPS; sweep++) {
        turned = 0;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++) {
                double off = g[i * n + j], a = g[i * n + i], b = g[j * n + j];
                if (fabs(off) <= 1e-16 * sqrt(fabs(a) * fabs(b)) || off == 0) continue;
                double z = (b - a) / (2 * off), t = 1 / (fabs(z) + sqrt(1 + z * z));
                if (z < 0) t = -t;
                double c = 1 / sqrt(1 + t * t), s = t * c;
                turn_rows(g, n, i, j, c, s);
                turn_columns(g, n, i, j, c, s);
                g[i * n + j] = g[j * n + i] = 0;
                turn_rows(v, n, i, j, c, s);
                turned = 1;
            }
    }
}

/* basis^T next, which is symmetric but for rounding. */
static void find_gram(work *w)
{
    int64_t n = w->n;
    for (int64_t c = 0; c < w->d->n_features; c++) {
        const double *a = w->basis + c * w->width, *b = w->next + c * w->width;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i; j < n; j++) w->gram[i * n + j] += 0.5 * (a[i] * b[j] + a[j] * b[i]);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) w->gram[i * n + j] = w->gram[j * n + i];
}

static int64_t largest(const double *g, int64_t n, const bool *taken)
{
    int64_t best = -1;
    for (int64_t i = 0; i < n; i++)
        if (!taken[i] && (best < 0 || g[i * n + i] > g[best * n + best])) best = i;
    return best;
}

/* Column k of `next` becomes the singular vector with the k-th largest value. */
static gn_status *find_vectors(work *w, int64_t components)
{
    int64_t f = w->d->n_features, n = w->n;
    bool *taken;
    GN_MEM(taken, n);
    double top = 0;
    for (int64_t k = 0; k < components; k++) {
        int64_t at = largest(w->gram, n, taken);
        double value = w->gram[at * n + at], most = 0;
        taken[at] = true;
        if (k == 0) top = value;
        double scale = value > NOTHING * top ? 1 : 0;
        for (int64_t c = 0; c < f; c++) {
            double v = dot(w->basis + c * w->width, w->turn + at * n, n);
            w->next[c * w->width + k] = v;
            if (fabs(v) > fabs(most)) most = v;
        }
        if (most < 0) scale = -scale;
        for (int64_t c = 0; c < f; c++) w->next[c * w->width + k] *= scale;
    }
    free(taken);
    return NULL;
}

static gn_status *decompose(work *w, int64_t components)
{
    if (w->mean) find_mean(w);
    draw(w);
    for (int k = 0; k < ROUNDS; k++) {
        orthonormalise(w);
        GN_TRY(advance(w));
    }
    find_gram(w);
    eigen(w->gram, w->turn, w->n);
    return find_vectors(w, components);
}

static gn_status *project(work *w, int64_t components, float *to)
{
    double *y;
    int64_t n = w->d->n_nodes;
    GN_MEM(y, BLOCK * w->width);
    find_shift(w, w->next);
    for (int64_t r = 0; r < n; r += BLOCK) {
        int64_t rows = n - r < BLOCK ? n - r : BLOCK;
        times(w, w->next, r, rows, y);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < components; j++)
                to[(r + i) * components + j] = (float)y[i * w->width + j];
    }
    free(y);
    return NULL;
}

gn_status *gn_features_reduce(gn_dataset *d, gn_reduction how, int64_t components)
{
    const char *name = d->name ? d->name : "data", *what = gn_reduction_name[how];
    int64_t most = d->n_nodes < d->n_features ? d->n_nodes : d->n_features;
    if (d->n_features == 0)
        GN_FAIL(GN_ERR_USAGE, "%s: --features %s is of features, and these data have none", name,
                what);
    if (components > most)
        GN_FAIL(GN_ERR_USAGE,
                "%s: --features %s:%lld of %lld nodes with %lld features: there are %lld "
                "components at most",
                name, what, (long long)components, (long long)d->n_nodes, (long long)d->n_features,
                (long long)most);
    GN_TRY(check_finite(d));
    work w;
    float *x = gn_mem_alloc(d->n_nodes * components, sizeof *x);
    gn_status *s = x ? work_new(&w, d, components, how == GN_REDUCTION_PCA) : NULL;
    if (!x)
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld features of %lld nodes", (long long)components,
                (long long)d->n_nodes);
    if (!s) s = decompose(&w, components);
    if (!s) s = project(&w, components, x);
    work_free(&w);
    if (s) {
        free(x);
        return s;
    }
    free(d->x);
    gn_csr_free(d->x_csr);
    d->x = x;
    d->x_csr = NULL;
    gn_dataset_forget_names(d); /* of the features that were read */
    d->reduced = how;
    d->n_features_read = d->n_features;
    d->n_features = components;
    return NULL;
}
