/* One row a line; the point is a point whatever the locale says. */
#include "base/outfile.h"
#include "runtime/data/ndarray.h"
#include "runtime/data/tensorfile.h"

#include <stdio.h>
#include <string.h>

/* Native arrays by element type; a bfloat16 is read as the upper half of a float32. */
static const char *const descr[GN_ELEM_COUNT] = {
    [GN_F32] = "f4", [GN_F64] = "f8", [GN_BF16] = "u2", [GN_F16] = "f2",  [GN_I32] = "i4",
    [GN_I64] = "i8", [GN_U32] = "u4", [GN_U8] = "u1",   [GN_BOOL] = "b1",
};

static void put_number(FILE *f, const gn_named_tensor *t, const gn_ndarray *a, int64_t i)
{
    char text[64];
    int64_t v = 0;
    if (t->elem == GN_BF16) {
        float x;
        gn_ndarray_i64(a, i, &v);
        uint32_t bits = (uint32_t)v << 16;
        memcpy(&x, &bits, sizeof x);
        snprintf(text, sizeof text, "%.9g", (double)x);
    } else if (gn_elem_is_float(t->elem)) {
        snprintf(text, sizeof text, t->elem == GN_F64 ? "%.17g" : "%.9g", gn_ndarray_f64(a, i));
    } else {
        gn_ndarray_i64(a, i, &v);
        snprintf(text, sizeof text, "%lld", (long long)v);
    }
    char *comma = strchr(text, ',');
    if (comma) *comma = '.';
    fputs(text, f);
}

enum { SIDE_BY_SIDE = 8 };

static gn_status *view(const gn_named_tensor *t, int64_t rows, gn_ndarray *a)
{
    if (t->rank < 1 || t->rank > 2)
        GN_FAIL(GN_ERR_USAGE, "tensor %s has rank %d: CSV takes vectors and matrices", t->name,
                t->rank);
    if (t->dim[0] != rows)
        GN_FAIL(GN_ERR_USAGE, "tensor %s has %lld rows, expected %lld", t->name,
                (long long)t->dim[0], (long long)rows);
    gn_ndarray_dtype(a, descr[t->elem], 2);
    if (!gn_ndarray_shape(a, t->rank, t->dim))
        GN_FAIL(GN_ERR_USAGE, "tensor %s has an impossible shape", t->name);
    a->data = t->data;
    return NULL;
}

gn_status *gn_csv_write_columns(const char *path, const char *header, int n,
                                const gn_named_tensor *t)
{
    gn_out o;
    gn_ndarray a[SIDE_BY_SIDE] = {0};
    if (n < 1 || n > SIDE_BY_SIDE)
        GN_FAIL(GN_ERR_USAGE, "%d tensors: expected 1 to %d", n, SIDE_BY_SIDE);
    for (int k = 0; k < n; k++) GN_TRY(view(&t[k], t[0].dim[0], &a[k]));
    GN_TRY(gn_out_open(&o, path));
    if (header) fprintf(o.f, "%s\n", header);
    for (int64_t r = 0; r < t[0].dim[0] && !ferror(o.f); r++) {
        for (int k = 0; k < n; k++) {
            int64_t cols = t[k].rank == 2 ? t[k].dim[1] : 1;
            for (int64_t c = 0; c < cols; c++) {
                if (k + c) fputc(',', o.f);
                put_number(o.f, &t[k], &a[k], r * cols + c);
            }
        }
        fputc('\n', o.f);
    }
    return gn_out_close(&o, NULL);
}

gn_status *gn_csv_write(const char *path, const char *header, const gn_named_tensor *t)
{
    return gn_csv_write_columns(path, header, 1, t);
}
