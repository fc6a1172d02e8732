#include "runtime/data/npz_values.h"

#include "runtime/data/array_values.h"
#include "runtime/data/mem.h"

#include <stdio.h>

static gn_status *fill_labels(const gn_npz *z, const char *key, const gn_ndarray *a, gn_dataset *d)
{
    int64_t rows = gn_dataset_labelled(d);
    GN_MEM(d->y, rows);
    for (int64_t i = 0; i < rows; i++) {
        int64_t c;
        if (!gn_ndarray_i64(a, i, &c) || c < -1 || c >= 1 << 24)
            GN_FAIL(GN_ERR_DATA,
                    "%s: %s[%lld] is %g: expected a class, or -1; other numbers to learn go under "
                    "a name of their own, which the train block declares: `input NAME: node`",
                    gn_npz_origin(z), key, (long long)i, gn_ndarray_f64(a, i));
        d->y[i] = (int32_t)c;
        if (c >= d->n_classes) d->n_classes = c + 1;
    }
    if (d->n_classes > rows + 1024)
        GN_FAIL(GN_ERR_DATA, "%s: %s: %lld classes for %lld %s", gn_npz_origin(z), key,
                (long long)d->n_classes, (long long)rows, d->labelled ? "rows" : "nodes");
    return NULL;
}

gn_status *gn_npz_labels(const gn_npz *z, const char *key, const gn_ndarray *a, gn_dataset *d)
{
    static const char of_nodes[] = "one label a node; several numbers a node to learn go under a "
                                   "name of their own, which the "
                                   "train block declares: `input NAME: node[K]`";
    bool column = a->rank == 2 && a->dim[1] == 1;
    if ((a->rank == 1 || column) && a->dim[0] == gn_dataset_labelled(d))
        return fill_labels(z, key, a, d);
    return gn_npz_bad_shape(z, key, a, d->labelled ? "one label a row" : of_nodes);
}

gn_status *gn_npz_floats(const gn_npz *z, const char *key, const gn_ndarray *a, int64_t rows,
                         float **out, int64_t *cols)
{
    char what[GN_NPZ_WHAT];
    snprintf(what, sizeof what, "%s: %s", gn_npz_origin(z), key);
    return gn_array_floats(what, a, rows, out, cols);
}

/* ---- graphs ---- */

bool gn_npz_is_batch(const gn_ndarray *a, int64_t nodes)
{
    int64_t last = -1;
    if (a->rank != 1 || a->dim[0] != nodes || (a->kind != 'i' && a->kind != 'u')) return false;
    for (int64_t i = 0; i < a->count; i++) {
        int64_t g;
        if (!gn_ndarray_i64(a, i, &g) || g < last || g > last + 1) return false;
        last = g;
    }
    return nodes > 0;
}

static gn_status *count_graphs(gn_npz *z, const char *key, const gn_ndarray *a, int64_t *graphs)
{
    static const char number[] = "num_graphs";
    gn_ndarray n;
    int64_t last = -1;
    for (int64_t i = 0; i < a->count; i++) {
        int64_t g;
        if (!gn_ndarray_i64(a, i, &g) || g < 0 || g >= INT32_MAX)
            GN_FAIL(GN_ERR_DATA, "%s: %s[%lld] is %g: expected a graph from 0 on", gn_npz_origin(z),
                    key, (long long)i, gn_ndarray_f64(a, i));
        if (g > last) last = g;
    }
    *graphs = last + 1;
    if (!gn_npz_has(z, number)) {
        if (*graphs <= a->count + 1024) return NULL;
        GN_FAIL(GN_ERR_DATA, "%s: %s: %lld graphs of %lld nodes: expected numbers without gaps",
                gn_npz_origin(z), key, (long long)*graphs, (long long)a->count);
    }
    GN_TRY(gn_npz_array(z, number, &n));
    bool good = n.count == 1 && gn_ndarray_i64(&n, 0, graphs) && *graphs > last &&
                *graphs <= INT32_MAX;
    gn_ndarray_free(&n);
    if (good) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: %s: expected one number, %lld or more", gn_npz_origin(z), number,
            (long long)last + 1);
}

static gn_status *fill_members(const gn_ndarray *a, int64_t **from, int64_t **to)
{
    GN_MEM(*from, a->count);
    GN_MEM(*to, a->count);
    for (int64_t i = 0; i < a->count; i++) {
        (*from)[i] = i;
        gn_ndarray_i64(a, i, &(*to)[i]);
    }
    return NULL;
}

gn_status *gn_npz_graphs(gn_npz *z, const char *key, const gn_ndarray *a, gn_dataset *d)
{
    int64_t graphs, *from = NULL, *to = NULL;
    int space;
    if (a->rank != 1 || a->dim[0] != d->n_nodes)
        return gn_npz_bad_shape(z, key, a, "the number of each node's graph");
    GN_TRY(count_graphs(z, key, a, &graphs));
    GN_TRY(gn_dataset_add_table(d, "graph", graphs, &space));
    gn_status *s = fill_members(a, &from, &to);
    if (!s) return gn_dataset_add_relation(d, "member", 0, space, d->n_nodes, from, to, NULL);
    free(from);
    free(to);
    return s;
}
