#include "runtime/data/targets.h"

#include "runtime/data/mem.h"

#include <math.h>

static bool are_classes(const gn_float_rows *a)
{
    if (a->cols != 1) return false;
    for (int64_t i = 0; i < a->rows; i++) {
        float v = a->v[i];
        if (!isnan(v) && (v < 0 || v >= 0x1p24f || v != floorf(v))) return false;
    }
    return true;
}

static gn_status *fill_classes(const char *origin, const gn_float_rows *a, gn_dataset *d)
{
    GN_MEM(d->y, a->rows);
    for (int64_t i = 0; i < a->rows; i++) {
        d->y[i] = isnan(a->v[i]) ? -1 : (int32_t)a->v[i];
        if (d->y[i] >= d->n_classes) d->n_classes = d->y[i] + 1;
    }
    if (d->n_classes > a->rows + 1024)
        GN_FAIL(GN_ERR_DATA, "%s: %lld classes for %lld rows", origin, (long long)d->n_classes,
                (long long)a->rows);
    return NULL;
}

/* Missing numbers are 0, and not known. */
gn_status *gn_targets_add(const gn_float_rows *a, int space, gn_dataset *d)
{
    int64_t n = a->rows * a->cols, missing = 0;
    d->labelled = space;
    gn_table_column c = {.over = space, .elem = GN_F32, .rank = 1, .dim = {a->cols}};
    float *v;
    uint8_t *known;
    for (int64_t i = 0; i < n; i++) missing += isnan(a->v[i]);
    GN_MEM(v, n);
    for (int64_t i = 0; i < n; i++) v[i] = isnan(a->v[i]) ? 0 : a->v[i];
    c.data = v;
    GN_TRY(gn_dataset_add_column(d, "target", &c));
    if (!missing) return NULL;
    GN_MEM(known, n);
    for (int64_t i = 0; i < n; i++) known[i] = (uint8_t)!isnan(a->v[i]);
    c.elem = GN_BOOL;
    c.data = known;
    return gn_dataset_add_column(d, "target_known", &c);
}

gn_status *gn_targets_take(const char *origin, const gn_float_rows *a, int space, gn_dataset *d)
{
    d->labelled = space;
    if (a->rows != gn_dataset_rows(d, space))
        GN_FAIL(GN_ERR_DATA, "%s: %lld rows: expected %lld, one for each %s", origin,
                (long long)a->rows, (long long)gn_dataset_rows(d, space),
                gn_dataset_space(d, space));
    return are_classes(a) ? fill_classes(origin, a, d) : gn_targets_add(a, space, d);
}
