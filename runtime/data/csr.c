#include "runtime/data/csr.h"

#include "runtime/data/edges.h"
#include "runtime/data/mem.h"

#include <math.h>
#include <string.h>

gn_status *gn_csr_new(int64_t rows, int64_t cols, int64_t nnz, gn_csr **out)
{
    gn_csr *m = gn_mem_alloc(1, sizeof *m);
    if (m) {
        *m = (gn_csr){.rows = rows, .cols = cols, .nnz = nnz};
        m->ptr = rows < INT64_MAX ? gn_mem_alloc(rows + 1, sizeof *m->ptr) : NULL;
        m->col = gn_mem_alloc(nnz, sizeof *m->col);
        m->val = gn_mem_alloc(nnz, sizeof *m->val);
        if (m->ptr && m->col && m->val) {
            *out = m;
            return NULL;
        }
        gn_csr_free(m);
    }
    GN_FAIL(GN_ERR_NOMEM, "out of memory: sparse matrix of %lld rows and %lld entries",
            (long long)rows, (long long)nnz);
}

void gn_csr_free(gn_csr *m)
{
    if (!m) return;
    if (m->lent) {
        free(m);
        return;
    }
    free(m->ptr);
    free(m->col);
    free(m->val);
    free(m);
}

/* Row pointers first: they say what may be looked at. */
gn_status *gn_csr_check(const gn_csr *m, int64_t rows, int64_t cols, const char *data,
                        const char *what)
{
    if (m->rows != rows || m->cols != cols)
        GN_FAIL(GN_ERR_DATA, "%s: %s: %lld x %lld, expected %lld x %lld", data, what,
                (long long)m->rows, (long long)m->cols, (long long)rows, (long long)cols);
    bool ascend = m->ptr[0] == 0 && m->ptr[rows] == m->nnz;
    for (int64_t r = 0; ascend && r < rows; r++) ascend = m->ptr[r] <= m->ptr[r + 1];
    if (!ascend)
        GN_FAIL(GN_ERR_DATA, "%s: %s: rows do not ascend from 0 to the %lld entries there are",
                data, what, (long long)m->nnz);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = m->ptr[r]; i < m->ptr[r + 1]; i++) {
            int32_t col = m->col[i];
            if (col < 0 || col >= cols || (i > m->ptr[r] && col <= m->col[i - 1]))
                GN_FAIL(GN_ERR_DATA, "%s: %s: row %lld: column %d is out of range or order", data,
                        what, (long long)r, col);
            if (!isfinite(m->val[i]))
                GN_FAIL(GN_ERR_DATA, "%s: %s: row %lld, column %d is %g: expected a finite number",
                        data, what, (long long)r, col, (double)m->val[i]);
        }
    return NULL;
}

static gn_status *check_arrays(const gn_csr_arrays *a, const char *what)
{
    if (a->rows < 0 || a->cols < 0 || a->rows > GN_MAX_NODES || a->cols > INT32_MAX)
        GN_FAIL(GN_ERR_DATA, "%s: shape %lld x %lld: expected 0 to 2^31-1 rows and columns", what,
                (long long)a->rows, (long long)a->cols);
    if (a->indptr.rank != 1 || a->indices.rank != 1 || a->data.rank != 1)
        GN_FAIL(GN_ERR_DATA, "%s: indptr, indices and data should be vectors", what);
    if (a->indptr.count != a->rows + 1)
        GN_FAIL(GN_ERR_DATA, "%s: indptr has %lld entries, expected rows + 1 = %lld", what,
                (long long)a->indptr.count, (long long)a->rows + 1);
    if (a->indices.count != a->data.count)
        GN_FAIL(GN_ERR_DATA, "%s: %lld indices but %lld values", what, (long long)a->indices.count,
                (long long)a->data.count);
    int64_t before = 0;
    for (int64_t r = 0; r <= a->rows; r++) {
        int64_t p;
        bool first = r == 0;
        if (!gn_ndarray_i64(&a->indptr, r, &p) || p < before || (first && p != 0) ||
            p > a->indices.count)
            GN_FAIL(GN_ERR_DATA,
                    "%s: indptr[%lld] does not rise from 0 to the %lld entries there are", what,
                    (long long)r, (long long)a->indices.count);
        before = p;
    }
    return NULL;
}

/* Insertion sort: rows are sorted already in nearly every file, and short; long unsorted ones go
 * through keys. */
static gn_status *sort_row(int32_t *col, float *val, int64_t n)
{
    bool sorted = true;
    for (int64_t i = 1; i < n && sorted; i++) sorted = col[i - 1] <= col[i];
    if (sorted) return NULL;
    if (n > 32) {
        uint64_t *key;
        GN_MEM(key, n);
        for (int64_t i = 0; i < n; i++) key[i] = (uint64_t)col[i];
        gn_status *s = gn_sort_keys(key, val, n);
        for (int64_t i = 0; i < n; i++) col[i] = (int32_t)key[i];
        free(key);
        return s;
    }
    for (int64_t i = 1; i < n; i++) {
        int32_t c = col[i];
        float v = val[i];
        int64_t j = i;
        for (; j > 0 && col[j - 1] > c; j--) {
            col[j] = col[j - 1];
            val[j] = val[j - 1];
        }
        col[j] = c;
        val[j] = v;
    }
    return NULL;
}

/* Adds repeats and drops zeros in a row sorted by column; gives the new length. */
static int64_t squeeze(const int32_t *col, const float *val, int64_t n, int32_t *col_to,
                       float *val_to)
{
    int64_t k = 0;
    for (int64_t i = 0; i < n;) {
        int32_t c = col[i];
        float v = 0;
        for (; i < n && col[i] == c; i++) v += val[i];
        if (v == 0) continue;
        col_to[k] = c;
        val_to[k++] = v;
    }
    return k;
}

static gn_status *fill(const gn_csr_arrays *a, const char *what, gn_csr *m)
{
    int64_t from = 0, to, n = 0;
    for (int64_t r = 0; r < a->rows; r++, from = to) {
        gn_ndarray_i64(&a->indptr, r + 1, &to);
        for (int64_t i = from; i < to; i++) {
            int64_t c;
            double v = gn_ndarray_f64(&a->data, i);
            if (!gn_ndarray_i64(&a->indices, i, &c) || c < 0 || c >= a->cols)
                GN_FAIL(GN_ERR_DATA, "%s: indices[%lld] in row %lld is not a column below %lld",
                        what, (long long)i, (long long)r, (long long)a->cols);
            if (!isfinite((float)v))
                GN_FAIL(GN_ERR_DATA, "%s: row %lld, column %lld is %g: expected finite numbers",
                        what, (long long)r, (long long)c, v);
            m->col[i] = (int32_t)c;
            m->val[i] = (float)v;
        }
        GN_TRY(sort_row(m->col + from, m->val + from, to - from));
        n += squeeze(m->col + from, m->val + from, to - from, m->col + n, m->val + n);
        m->ptr[r + 1] = n;
    }
    m->nnz = n;
    return NULL;
}

gn_status *gn_csr_from_arrays(const gn_csr_arrays *a, const char *what, gn_csr **out)
{
    gn_csr *m;
    GN_TRY(check_arrays(a, what));
    GN_TRY(gn_csr_new(a->rows, a->cols, a->data.count, &m));
    gn_status *s = fill(a, what, m);
    if (s)
        gn_csr_free(m);
    else
        *out = m;
    return s;
}

gn_status *gn_csr_from_dense(const gn_ndarray *a, const char *what, gn_csr **out)
{
    if (a->rank != 2 || a->dim[0] > GN_MAX_NODES || a->dim[1] > INT32_MAX)
        GN_FAIL(GN_ERR_DATA,
                "%s: expected a matrix of at most 2^31-1 rows and columns, got rank %d", what,
                a->rank);
    int64_t nnz = 0;
    for (int64_t i = 0; i < a->count; i++) {
        double v = gn_ndarray_f64(a, i);
        if (!isfinite((float)v))
            GN_FAIL(GN_ERR_DATA, "%s: row %lld, column %lld is %g: expected finite numbers", what,
                    (long long)(i / a->dim[1]), (long long)(i % a->dim[1]), v);
        nnz += (float)v != 0;
    }
    gn_csr *m;
    GN_TRY(gn_csr_new(a->dim[0], a->dim[1], nnz, &m));
    int64_t n = 0, i = 0;
    for (int64_t r = 0; a->count > 0 && r < m->rows; r++) {
        for (int64_t c = 0; c < m->cols; c++, i++) {
            float v = (float)gn_ndarray_f64(a, i);
            if (v == 0) continue;
            m->col[n] = (int32_t)c;
            m->val[n++] = v;
        }
        m->ptr[r + 1] = n;
    }
    *out = m;
    return NULL;
}

gn_status *gn_csr_select_rows(const gn_csr *m, const int64_t *from, int64_t rows, gn_csr **out)
{
    int64_t nnz = 0;
    for (int64_t r = 0; r < rows; r++) {
        int64_t row = 0;
        if (from[r] >= 0) row = m->ptr[from[r] + 1] - m->ptr[from[r]];
        if (__builtin_add_overflow(nnz, row, &nnz)) nnz = INT64_MAX;
    }
    gn_csr *t;
    GN_TRY(gn_csr_new(rows, m->cols, nnz, &t));
    for (int64_t r = 0; r < rows; r++) {
        t->ptr[r + 1] = t->ptr[r];
        if (from[r] < 0) continue;
        int64_t n = m->ptr[from[r] + 1] - m->ptr[from[r]];
        if (n > 0) memcpy(t->col + t->ptr[r], m->col + m->ptr[from[r]], (size_t)n * sizeof *t->col);
        if (n > 0) memcpy(t->val + t->ptr[r], m->val + m->ptr[from[r]], (size_t)n * sizeof *t->val);
        t->ptr[r + 1] += n;
    }
    *out = t;
    return NULL;
}

gn_status *gn_csr_stack(const gn_csr *a, const gn_csr *b, gn_csr **out)
{
    gn_csr *t;
    GN_TRY(gn_csr_new(a->rows + b->rows, a->cols, a->nnz + b->nnz, &t));
    memcpy(t->ptr, a->ptr, (size_t)(a->rows + 1) * sizeof *t->ptr);
    for (int64_t r = 1; r <= b->rows; r++) t->ptr[a->rows + r] = a->nnz + b->ptr[r];
    if (a->nnz) memcpy(t->col, a->col, (size_t)a->nnz * sizeof *t->col);
    if (a->nnz) memcpy(t->val, a->val, (size_t)a->nnz * sizeof *t->val);
    if (b->nnz) memcpy(t->col + a->nnz, b->col, (size_t)b->nnz * sizeof *t->col);
    if (b->nnz) memcpy(t->val + a->nnz, b->val, (size_t)b->nnz * sizeof *t->val);
    *out = t;
    return NULL;
}

static void normalize_row(float *v, int64_t n, float least)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        v[i] -= least;
        sum += (double)v[i];
    }
    float by = sum > 1 ? (float)sum : 1.0f;
    for (int64_t i = 0; i < n; i++) v[i] /= by;
}

/* Rows of features, dense or sparse. */
static gn_status *normalize(const gn_dataset *d, const gn_csr *m, float *v, int64_t rows,
                            int64_t cols)
{
    int64_t n = m ? m->nnz : rows * cols;
    if (m) v = m->val;
    if (n == 0 || !v) return NULL;
    bool full = !m || m->nnz == m->rows * m->cols;
    float least = full ? v[0] : 0;
    for (int64_t i = 0; i < n; i++)
        if (v[i] < least) least = v[i];
    if (!full && least < 0)
        GN_FAIL(GN_ERR_DATA,
                "%s: sparse features with negative values (down to %g) cannot be row-normalised: "
                "subtracting the least value would make them dense",
                d->name ? d->name : "dataset", (double)least);
    for (int64_t r = 0; r < rows; r++) {
        if (m)
            normalize_row(v + m->ptr[r], m->ptr[r + 1] - m->ptr[r], least);
        else
            normalize_row(v + r * cols, cols, least);
    }
    return NULL;
}

bool gn_dataset_has_features(const gn_dataset *d)
{
    bool any = d->n_features > 0;
    for (int k = 0; k < d->n_columns; k++) any |= gn_column_is_features(&d->columns[k]);
    return any;
}

gn_status *gn_features_normalize(gn_dataset *d)
{
    GN_TRY(normalize(d, d->x_csr, d->x, d->n_nodes, d->n_features));
    for (int k = 0; k < d->n_columns; k++) {
        const gn_table_column *c = &d->columns[k];
        int64_t rows = gn_column_is_features(c) ? gn_dataset_rows(d, c->over) : 0;
        GN_TRY(normalize(d, rows ? c->csr : NULL, c->data, rows, c->dim[0]));
    }
    return NULL;
}
