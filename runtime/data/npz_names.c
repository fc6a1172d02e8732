#include "runtime/data/npz_names.h"

const char *gn_npz_first_of(const gn_npz *z, const char *const *keys)
{
    for (; *keys; keys++)
        if (gn_npz_has(z, *keys)) return *keys;
    return NULL;
}

static const char *const x_keys[] = {"node_features", "x", "features", "node_feat", NULL};
static const char *const y_keys[] = {"node_labels", "y", "labels", "node_label", NULL};
/* What other libraries call them, and somebody's model may call otherwise: taken where the array
 * can be nothing else. */
static const char *const x_others[] = {"feat",      "feats",   "X", "attr_matrix",
                                       "node_attr", "feature", NULL};
static const char *const y_others[] = {"label", "Y", NULL};

static bool is_node_matrix(const gn_ndarray *a) { return a->rank == 2; }

static bool is_classes(const gn_ndarray *a)
{
    bool whole = a->kind == 'i' || a->kind == 'u',
         vector = a->rank == 1 || (a->rank == 2 && a->dim[1] == 1);
    for (int64_t i = 0; whole && vector && i < a->count; i++) {
        int64_t c;
        if (!gn_ndarray_i64(a, i, &c) || c < -1 || c >= 1 << 24) return false;
    }
    return whole && vector;
}

static bool may_have(const gn_npz_rows *r, int64_t n)
{
    if (r->exact >= 0) return n == r->exact;
    return n >= r->least && (n <= r->named || n != r->edges);
}

static gn_status *try_other(gn_npz *z, const char *key, bool fits(const gn_ndarray *),
                            const gn_npz_rows *r, bool *good)
{
    gn_ndarray a;
    *good = gn_npz_is_sparse(z, key) && fits == is_node_matrix;
    if (*good) return NULL;
    gn_status *s = gn_npz_array(z, key, &a);
    gn_npz_know(z, key, false);
    if (s && gn_status_code(s) == GN_ERR_NOMEM) return s;
    *good = !s && fits(&a) && may_have(r, a.dim[0]);
    if (!s) gn_ndarray_free(&a);
    gn_status_free(s);
    return NULL;
}

/* The array of the keys, or of the others where it fits. */
static gn_status *choose(gn_npz *z, const char *const *keys, const char *const *others,
                         bool fits(const gn_ndarray *), const gn_npz_rows *r, gn_npz_choice *out)
{
    *out = (gn_npz_choice){gn_npz_first_of(z, keys), false};
    for (; !out->key && *others; others++) {
        bool good = false;
        if (gn_npz_has(z, *others)) GN_TRY(try_other(z, *others, fits, r, &good));
        if (good) *out = (gn_npz_choice){*others, true};
    }
    return NULL;
}

gn_status *gn_npz_choose_x(gn_npz *z, const gn_npz_rows *rows, gn_npz_choice *out)
{
    return choose(z, x_keys, x_others, is_node_matrix, rows, out);
}

gn_status *gn_npz_choose_y(gn_npz *z, const gn_npz_rows *rows, gn_npz_choice *out)
{
    return choose(z, y_keys, y_others, is_classes, rows, out);
}
