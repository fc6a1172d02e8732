/* fill_matrix: initial values that are a whole matrix's, not an element's. */
#include "runtime/fill.h"

#include "base/philox.h"
#include "runtime/memory.h"

#include <math.h>

static void eye(int64_t rows, int64_t cols, double *to)
{
    for (int64_t i = 0; i < rows && i < cols; i++) to[i * cols + i] = 1;
}

/* Vectors of `size` numbers that lie one behind another, made orthonormal: Gram and Schmidt, twice
 * over, which leaves no more than rounding.  What is left of each is along itself, so that they are
 * distributed as torch's, which give the diagonal of R its signs. */
static void make_orthonormal(double *v, int64_t n, int64_t size)
{
    for (int64_t k = 0; k < n; k++) {
        double *a = v + k * size, length = 0;
        for (int64_t j = 0; j < 2 * k; j++) {
            const double *b = v + j % k * size;
            double dot = 0;
            for (int64_t i = 0; i < size; i++) dot += a[i] * b[i];
            for (int64_t i = 0; i < size; i++) a[i] -= dot * b[i];
        }
        for (int64_t i = 0; i < size; i++) length += a[i] * a[i];
        length = sqrt(length);
        for (int64_t i = 0; i < size; i++) a[i] = length > 0 ? a[i] / length : 0;
    }
}

static gn_status *orthogonal(const gn_fill *f, const gn_draws *d, int64_t cols, double *to)
{
    int64_t rows = f->rows, n = rows * cols;
    void *block;
    for (int64_t i = 0; i < n; i++) to[i] = gn_draw_normal(d, (uint64_t)i);
    if (rows <= cols)
        make_orthonormal(to, rows, cols);
    else { /* its columns, one behind another */
        GN_TRY(gn_block_zeroed(n, sizeof(double), "initial values", &block));
        double *turned = block;
        for (int64_t i = 0; i < n; i++) turned[i % cols * rows + i / cols] = to[i];
        make_orthonormal(turned, cols, rows);
        for (int64_t i = 0; i < n; i++) to[i] = turned[i % cols * rows + i / cols];
        gn_block_free(block);
    }
    for (int64_t i = 0; i < n; i++) to[i] *= f->a;
    return NULL;
}

/* Of each column as many rows as the part asks for, rounded up, are drawn to be 0. */
static gn_status *sparse(const gn_fill *f, const gn_draws *d, int64_t cols, double *to)
{
    int64_t rows = f->rows, n = rows * cols, zeros = (int64_t)ceil(f->a * (double)rows);
    void *block;
    GN_TRY(gn_block_new(rows, sizeof(int64_t), "initial values", &block));
    int64_t *row = block;
    for (int64_t i = 0; i < n; i++) to[i] = f->b * gn_draw_normal(d, (uint64_t)i);
    uint64_t at = (uint64_t)n + (uint64_t)(n & 1); /* draws behind those */
    for (int64_t c = 0; c < cols; c++) {
        for (int64_t r = 0; r < rows; r++) row[r] = r;
        for (int64_t k = 0; k < zeros && k < rows; k++) {
            uint64_t of = (uint64_t)(rows - k), u = gn_random_u32(d->key, d->site, at++);
            int64_t other = k + (int64_t)(u * of >> 32), taken = row[other];
            row[other] = row[k];
            to[taken * cols + c] = 0;
        }
    }
    gn_block_free(block);
    return NULL;
}

gn_status *gn_fill_matrix(const gn_fill *f, const gn_draws *d, int64_t n, double *to)
{
    if (f->rows < 1 || n % f->rows)
        GN_FAIL(GN_ERR_USAGE, "%lld numbers are no matrix of %lld rows", (long long)n,
                (long long)f->rows);
    int64_t cols = n / f->rows;
    if (f->kind == GN_FILL_ORTHOGONAL) return orthogonal(f, d, cols, to);
    if (f->kind == GN_FILL_SPARSE) return sparse(f, d, cols, to);
    eye(f->rows, cols, to);
    return NULL;
}
