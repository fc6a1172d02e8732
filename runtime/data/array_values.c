#include "runtime/data/array_values.h"

#include "runtime/data/mem.h"
#include "runtime/data/npz.h"

#include <math.h>
#include <stdio.h>

gn_status *gn_array_bad_shape(const char *what, const gn_ndarray *a, const char *expected)
{
    return GN_ERROR(GN_ERR_DATA, "%s: shape %s: expected %s", what,
                    gn_shape_show(a->rank, a->dim).s, expected);
}

static gn_status *check_matrix(const char *what, const gn_ndarray *a, int64_t rows)
{
    char want[32];
    if ((a->rank == 2 || a->rank == 1) && a->dim[0] == rows) return NULL;
    snprintf(want, sizeof want, "%lld rows", (long long)rows);
    return gn_array_bad_shape(what, a, want);
}

gn_status *gn_array_floats(const char *what, const gn_ndarray *a, int64_t rows, float **out,
                           int64_t *cols)
{
    float *v;
    int64_t bad = 0, first = 0;
    GN_TRY(check_matrix(what, a, rows));
    *cols = a->rank == 2 ? a->dim[1] : 1;
    GN_MEM(v, a->count);
    *out = v;
    for (int64_t i = 0; i < a->count; i++) {
        v[i] = (float)gn_ndarray_f64(a, i);
        if (isfinite(v[i])) continue;
        if (!bad++) first = i;
    }
    if (bad)
        GN_FAIL(GN_ERR_DATA,
                "%s: row %lld, column %lld is %g: expected finite numbers, and %lld of %lld are "
                "not",
                what, (long long)(first / *cols), (long long)(first % *cols),
                gn_ndarray_f64(a, first), (long long)bad, (long long)a->count);
    return NULL;
}

gn_status *gn_array_floats_or_none(const char *what, const gn_ndarray *a, int64_t rows,
                                   gn_float_rows *out)
{
    *out = (gn_float_rows){.rows = rows};
    GN_TRY(check_matrix(what, a, rows));
    out->cols = a->rank == 2 ? a->dim[1] : 1;
    GN_MEM(out->v, a->count);
    for (int64_t i = 0; i < a->count; i++) {
        out->v[i] = (float)gn_ndarray_f64(a, i);
        if (isinf(out->v[i]))
            GN_FAIL(GN_ERR_DATA,
                    "%s: row %lld, column %lld is %g: expected a finite number, or NaN where it is "
                    "missing",
                    what, (long long)(i / out->cols), (long long)(i % out->cols),
                    gn_ndarray_f64(a, i));
    }
    return NULL;
}

/* ---- columns ---- */

/* Of 32 bits where those hold all of them, else of 64. */
static gn_status *fill_ints(const char *what, const gn_ndarray *a, gn_table_column *c)
{
    int64_t least = 0, most = -1, n;
    for (int64_t i = 0; i < a->count; i++) {
        if (!gn_ndarray_i64(a, i, &n))
            GN_FAIL(GN_ERR_DATA, "%s: number %lld is %g: expected at most %lld", what, (long long)i,
                    gn_ndarray_f64(a, i), (long long)INT64_MAX);
        if (n < least) least = n;
        if (n > most) most = n;
    }
    bool narrow = least >= INT32_MIN && most <= INT32_MAX;
    c->elem = narrow ? GN_I32 : GN_I64;
    c->data = gn_mem_alloc(a->count, gn_elem_size(c->elem));
    if (!c->data) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld numbers", (long long)a->count);
    for (int64_t i = 0; i < a->count; i++) {
        (void)gn_ndarray_i64(a, i, &n);
        if (narrow)
            ((int32_t *)c->data)[i] = (int32_t)n;
        else
            ((int64_t *)c->data)[i] = n;
    }
    if (least == 0 && narrow && most < INT32_MAX) c->classes = most + 1;
    return NULL;
}

static gn_status *fill_others(const char *what, const gn_ndarray *a, bool floats,
                              gn_table_column *c)
{
    if (!floats && (a->kind == 'i' || a->kind == 'u')) return fill_ints(what, a, c);
    c->elem = !floats && a->kind == 'b' ? GN_BOOL : GN_F32;
    c->data = gn_mem_alloc(a->count, gn_elem_size(c->elem));
    if (!c->data) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld numbers", (long long)a->count);
    for (int64_t i = 0; i < a->count; i++) {
        double v = gn_ndarray_f64(a, i);
        if (c->elem == GN_BOOL)
            ((uint8_t *)c->data)[i] = v != 0;
        else if (!isfinite(((float *)c->data)[i] = (float)v))
            GN_FAIL(GN_ERR_DATA, "%s: number %lld is %g: expected finite numbers", what,
                    (long long)i, v);
    }
    return NULL;
}

gn_status *gn_array_column(const char *what, const gn_ndarray *a, int64_t rows, bool floats,
                           bool flat, gn_table_column *c)
{
    char want[64];
    snprintf(want, sizeof want, "%lld rows%s", (long long)rows, flat ? " of one number" : "");
    bool matrix = floats && a->rank > 2;
    if (a->rank < 1 || a->dim[0] != rows || matrix || (flat && rows != a->count))
        return gn_array_bad_shape(what, a, want);
    c->rank = flat ? 0 : a->rank - 1;
    for (int k = 0; k < c->rank; k++) c->dim[k] = a->dim[k + 1];
    if (floats && !flat && c->rank == 0) c->dim[c->rank++] = 1;
    for (int k = 0; k < c->rank; k++)
        if (c->dim[k] == 0) return gn_array_bad_shape(what, a, want);
    return fill_others(what, a, floats, c);
}

/* ---- numbers of rows ---- */

gn_status *gn_array_ends(const char *what, const gn_ndarray *a, const int64_t rows[2],
                         int64_t **from, int64_t **to)
{
    int64_t **const end[2] = {from, to};
    if (a->rank != 2 || a->dim[0] != 2) return gn_array_bad_shape(what, a, "[2, edges]");
    int64_t n = a->dim[1];
    for (int k = 0; k < 2; k++) {
        int64_t *v;
        GN_MEM(v, n);
        *end[k] = v;
        for (int64_t e = 0; e < n; e++)
            if (!gn_ndarray_i64(a, k * n + e, &v[e]) || v[e] < 0 || v[e] >= rows[k])
                GN_FAIL(GN_ERR_DATA, "%s: edge %lld ends at %g: expected a row from 0 to %lld",
                        what, (long long)e, gn_ndarray_f64(a, k * n + e), (long long)rows[k] - 1);
    }
    return NULL;
}

gn_status *gn_array_mark(const char *what, const gn_ndarray *a, int64_t rows, uint8_t *mask)
{
    if (a->rank < 1 || a->rank > 2 || a->dim[0] != a->count || a->kind == 'b')
        return gn_array_bad_shape(what, a, "a vector of numbers of rows");
    for (int64_t i = 0; i < a->count; i++) {
        int64_t v;
        if (!gn_ndarray_i64(a, i, &v) || v < 0 || v >= rows)
            GN_FAIL(GN_ERR_DATA, "%s: number %lld is %g: expected a row from 0 to %lld", what,
                    (long long)i, gn_ndarray_f64(a, i), (long long)rows - 1);
        mask[v] = 1;
    }
    return NULL;
}
