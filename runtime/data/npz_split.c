/* Which nodes of an .npz are for training, validation and test: masks, or numbers of nodes. */
#include "runtime/data/npz_split.h"

#include "runtime/data/mem.h"

#include <stdio.h>
#include <string.h>

typedef struct reader {
    gn_npz *zip;
    gn_reading *r;
    int64_t nodes; /* rows that have labels */
} reader;

enum {
    PARTS = 3,
    NAMES = 4,
    KEY = 320
}; /* train, validation, test; the names that each may have, NULL at the end */
typedef const char *const names[PARTS][NAMES];

static names mask_keys = {{"train_masks", "train_mask", NULL},
                          {"val_masks", "val_mask", "valid_mask", NULL},
                          {"test_masks", "test_mask", NULL}};
static names index_keys = {{"train_idx", "idx_train", NULL},
                           {"valid_idx", "val_idx", "idx_val", NULL},
                           {"test_idx", "idx_test", NULL}};

/* What is read for one of the three. */
typedef struct part {
    uint8_t *mask;
    float *times;
} part;

/* The split `--split` of a mask. */
static gn_status *take_mask(reader *l, const char *key, const gn_ndarray *a, uint8_t *mask)
{
    int64_t n = l->nodes, splits = 1, step = 1, split = l->r->opt->split, at;
    bool rows = a->rank == 2 && a->dim[1] == n, columns = !rows && a->rank == 2 && a->dim[0] == n;
    if (!rows && !columns && (a->rank != 1 || a->dim[0] != n))
        return gn_npz_bad_shape(
            l->zip, key, a,
            "[nodes], [splits, nodes] or [nodes, splits]; numbers of nodes are read under "
            "`train_idx`, `valid_idx` and `test_idx`");
    if (a->rank == 2) splits = a->dim[rows ? 0 : 1];
    l->r->splits = splits;
    GN_TRY(gn_reading_check_split(l->r));
    at = columns ? split : split * n;
    if (columns) step = splits;
    for (int64_t i = 0; i < n; i++) mask[i] = gn_ndarray_f64(a, at + i * step) != 0;
    return NULL;
}

/* A node that is listed again counts again, as a row of out[train_idx] does. */
static gn_status *take_numbers(reader *l, const char *key, const gn_ndarray *a, part *p)
{
    float *times;
    bool again = false;
    if (a->rank != 1) return gn_npz_bad_shape(l->zip, key, a, "a vector of numbers of nodes");
    if (a->kind == 'b')
        GN_FAIL(GN_ERR_DATA,
                "%s: %s is of booleans: expected numbers of nodes; masks are `train_mask`, ...",
                l->r->origin, key);
    for (int64_t i = 0; i < a->count; i++) {
        int64_t v;
        if (!gn_ndarray_i64(a, i, &v) || v < 0 || v >= l->nodes)
            GN_FAIL(GN_ERR_DATA, "%s: %s[%lld] is %g: expected a node from 0 to %lld", l->r->origin,
                    key, (long long)i, gn_ndarray_f64(a, i), (long long)l->nodes - 1);
        again |= p->mask[v];
        p->mask[v] = 1;
    }
    l->r->splits = 1;
    if (!again) return NULL;
    GN_MEM(times, l->nodes);
    p->times = times;
    for (int64_t i = 0; i < a->count; i++) {
        int64_t v;
        if (gn_ndarray_i64(a, i, &v)) times[v] += 1;
    }
    return NULL;
}

static gn_status *read_part(reader *l, const char *key, bool numbers, part *p)
{
    gn_ndarray a;
    GN_TRY(gn_npz_array(l->zip, key, &a));
    gn_status *s = NULL;
    if (!(p->mask = gn_mem_alloc(l->nodes, 1))) s = GN_ERROR(GN_ERR_NOMEM, "out of memory: a mask");
    if (!s) s = numbers ? take_numbers(l, key, &a, p) : take_mask(l, key, &a, p->mask);
    gn_ndarray_free(&a);
    return s;
}

/* How many of the three are there, under which names. */
static int look_up(const gn_npz *z, const char *prefix, names of, char key[PARTS][KEY])
{
    int found = 0;
    for (int k = 0; k < PARTS; k++) {
        bool there = false;
        for (const char *const *name = of[k]; *name && !there; name++) {
            snprintf(key[k], KEY, "%s%s", prefix, *name);
            there = gn_npz_has(z, key[k]);
        }
        found += there;
    }
    return found;
}

bool gn_npz_is_split(const char *name)
{
    for (int k = 0; k < PARTS; k++)
        for (int i = 0; i < NAMES; i++)
            if ((mask_keys[k][i] && !strcmp(mask_keys[k][i], name)) ||
                (index_keys[k][i] && !strcmp(index_keys[k][i], name)))
                return true;
    return false;
}

bool gn_npz_has_split(const gn_npz *z, const char *prefix)
{
    char key[PARTS][KEY];
    return look_up(z, prefix, mask_keys, key) + look_up(z, prefix, index_keys, key) > 0;
}

gn_status *gn_npz_read_split(gn_npz *z, const char *prefix, gn_reading *r, gn_dataset *d)
{
    reader l = {z, r, gn_dataset_labelled(d)};
    uint8_t **const mask[PARTS] = {&d->train_mask, &d->val_mask, &d->test_mask};
    float **const times[PARTS] = {&d->train_times, &d->val_times, &d->test_times};
    char key[PARTS][KEY];
    int found = look_up(z, prefix, mask_keys, key);
    bool numbers = found == 0;
    if (numbers) found = look_up(z, prefix, index_keys, key);
    if (found == 0) return NULL;
    if (found < PARTS)
        GN_FAIL(GN_ERR_DATA, "%s: expected %s for train, %s and test, or none", r->origin,
                numbers ? "numbers of nodes" : "masks", numbers ? "valid" : "val");
    for (int k = 0; k < PARTS; k++) {
        part p = {0};
        gn_status *s = read_part(&l, key[k], numbers, &p);
        *mask[k] = p.mask;
        *times[k] = p.times;
        GN_TRY(s);
    }
    return NULL;
}
