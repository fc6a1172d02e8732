/* Tasks of GraphBolt: `tasks` is a list of `name`, `num_classes`, `train_set`, `validation_set` and
 * `test_set`; each set is a list of `type` and `data`, which is a list of `name`, `format`, `path`.
 *
 * `seeds` [k] are nodes: they are the masks, and `labels` [k] or [k, K] are classes or targets.
 * `seeds` [k, 2] are edges: they are the relation `seeds`, those of the sets one behind another,
 * with masks, and `labels` and `indexes` are columns of it. */
#include "runtime/data/graphbolt.h"

#include "runtime/data/array_values.h"
#include "runtime/data/mem.h"
#include "runtime/data/targets.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SETS = 3, DATA = 3 };
enum { SEEDS, LABELS, INDEXES }; /* of a set's data */
static const char *const set_name[SETS] = {"train_set", "validation_set", "test_set"};
static const char *const data_name[DATA] = {"seeds", "labels", "indexes"};

typedef struct set {
    int item;     /* that has its type; 0: there is no such set */
    int at[DATA]; /* items; 0: there is none */
    gn_bolt_array data[DATA];
} set;

typedef struct work {
    gn_bolt *b;
    int64_t classes; /* -1: the task does not say */
    set sets[SETS];
} work;

static gn_status *open_data(work *w, set *s, int item)
{
    const gn_yaml *y = w->b->yaml;
    const char *name;
    int is = 0;
    GN_TRY(gn_yaml_word(y, item, "name", true, &name));
    while (is < DATA && strcmp(name, data_name[is]) != 0) is++;
    if (is == DATA) GN_YAML_FAIL(y, item, "name: '%s': expected seeds, labels or indexes", name);
    if (s->at[is]) GN_YAML_FAIL(y, item, "two %s of one set", name);
    s->at[is] = item;
    return gn_bolt_open(w->b, item, &s->data[is]);
}

static gn_status *open_set(work *w, int task, int k)
{
    const gn_yaml *y = w->b->yaml;
    set *s = &w->sets[k];
    int list = gn_yaml_get(y, task, set_name[k]), n, data;
    GN_TRY(gn_yaml_count(y, list, set_name[k], &n));
    if (n == 0) return NULL;
    if (n > 1)
        GN_YAML_FAIL(y, gn_yaml_item(y, list, 1),
                     "%s: expected one type that has seeds, and there are %d", set_name[k], n);
    s->item = gn_yaml_item(y, list, 0);
    data = gn_yaml_get(y, s->item, "data");
    GN_TRY(gn_yaml_count(y, data, "data", &n));
    for (int i = 0; i < n; i++) GN_TRY(open_data(w, s, gn_yaml_item(y, data, i)));
    if (!s->at[SEEDS]) GN_YAML_FAIL(y, s->item, "%s: expected `data:` with seeds", set_name[k]);
    return NULL;
}

/* Where the sets have a type, they have the same. */
static gn_status *owner_of(work *w, bool edges, int *owner)
{
    *owner = -1;
    for (int k = 0; k < SETS; k++) {
        const set *s = &w->sets[k];
        int is;
        if (!s->item) continue;
        GN_TRY(edges ? gn_bolt_relation(w->b, s->item, &is) : gn_bolt_space(w->b, s->item, &is));
        if (*owner >= 0 && is != *owner)
            GN_YAML_FAIL(w->b->yaml, s->item, "%s: expected the type of the other sets",
                         set_name[k]);
        *owner = is;
    }
    return NULL;
}

/* ---- labels of both ---- */

/* How many numbers a label has: the same in all sets that have labels; 0: none has. */
static gn_status *label_width(const work *w, int64_t *cols)
{
    *cols = 0;
    for (int k = 0; k < SETS; k++) {
        const gn_bolt_array *labels = &w->sets[k].data[LABELS];
        const gn_ndarray *a = &labels->a;
        int64_t rows = w->sets[k].data[SEEDS].a.dim[0];
        char want[64];
        if (!w->sets[k].at[LABELS]) continue;
        bool good = (a->rank == 1 || a->rank == 2) && a->dim[0] == rows;
        int64_t is = good && a->rank == 2 ? a->dim[1] : 1;
        snprintf(want, sizeof want, "%lld rows, one for each seed", (long long)rows);
        if (!good) return gn_array_bad_shape(labels->file.path, a, want);
        snprintf(want, sizeof want, "%lld numbers a row, as in the other sets", (long long)*cols);
        if (is == 0 || (*cols && is != *cols))
            return gn_array_bad_shape(labels->file.path, a, *cols ? want : "labels");
        *cols = is;
    }
    return NULL;
}

static gn_status *label_at(const gn_bolt_array *labels, int64_t i, float *v)
{
    *v = (float)gn_ndarray_f64(&labels->a, i);
    if (isfinite(*v)) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: number %lld is %g: expected a finite number", labels->file.path,
            (long long)i, (double)*v);
}

/* ---- nodes ---- */

static gn_status *put_labels(const set *s, gn_float_rows *to)
{
    for (int64_t i = 0; i < s->data[SEEDS].a.count; i++) {
        int64_t node;
        if (!gn_ndarray_i64(&s->data[SEEDS].a, i, &node)) continue; /* they were looked at */
        for (int64_t c = 0; c < to->cols; c++) {
            float v, *old = &to->v[node * to->cols + c];
            GN_TRY(label_at(&s->data[LABELS], i * to->cols + c, &v));
            if (!isnan(*old) && *old != v)
                GN_FAIL(GN_ERR_DATA, "%s: seed %lld is node %lld, which has another label already",
                        s->data[LABELS].file.path, (long long)i, (long long)node);
            *old = v;
        }
    }
    return NULL;
}

static gn_status *take_labels(work *w, int space, int64_t cols)
{
    gn_dataset *d = w->b->d;
    gn_float_rows all = {.rows = gn_dataset_rows(d, space), .cols = cols};
    int64_t n;
    gn_status *s = NULL;
    if (__builtin_mul_overflow(all.rows, cols, &n)) n = INT64_MAX;
    GN_MEM(all.v, n);
    for (int64_t i = 0; i < n; i++) all.v[i] = NAN;
    for (int k = 0; k < SETS && !s; k++)
        if (w->sets[k].at[LABELS]) s = put_labels(&w->sets[k], &all);
    if (!s) s = gn_targets_take(w->b->r->origin, &all, space, d);
    free(all.v);
    if (s || !d->y || w->classes < 0) return s;
    if (d->n_classes > w->classes)
        GN_FAIL(GN_ERR_DATA, "%s: num_classes is %lld, and a label is %lld", w->b->r->origin,
                (long long)w->classes, (long long)d->n_classes - 1);
    d->n_classes = w->classes;
    return NULL;
}

static gn_status *take_nodes(work *w)
{
    gn_dataset *d = w->b->d;
    uint8_t **const masks[SETS] = {&d->train_mask, &d->val_mask, &d->test_mask};
    int64_t cols;
    int space;
    GN_TRY(owner_of(w, false, &space));
    d->labelled = space;
    for (int k = 0; k < SETS; k++) {
        const gn_bolt_array *seeds = &w->sets[k].data[SEEDS];
        uint8_t *mask;
        GN_MEM(mask, gn_dataset_labelled(d));
        *masks[k] = mask;
        if (w->sets[k].item)
            GN_TRY(gn_array_mark(seeds->file.path, &seeds->a, gn_dataset_labelled(d), mask));
    }
    GN_TRY(label_width(w, &cols));
    return cols ? take_labels(w, space, cols) : NULL;
}

/* ---- edges ---- */

static gn_status *fill_ends(const work *w, int relation, int64_t *end[2])
{
    const gn_dataset *d = w->b->d;
    const gn_relation *r = relation ? &d->relations[relation - 1] : NULL;
    const int64_t rows[2] = {gn_dataset_rows(d, r ? r->src : 0),
                             gn_dataset_rows(d, r ? r->dst : 0)};
    int64_t at = 0;
    for (int k = 0; k < SETS; k++) {
        const gn_bolt_array *seeds = &w->sets[k].data[SEEDS];
        for (int64_t i = 0; w->sets[k].item && i < seeds->a.count; i++) {
            int64_t *v = &end[i % 2][at + i / 2];
            if (!gn_ndarray_i64(&seeds->a, i, v) || *v < 0 || *v >= rows[i % 2])
                GN_FAIL(GN_ERR_DATA, "%s: edge %lld ends at %g: expected a row from 0 to %lld",
                        seeds->file.path, (long long)(i / 2), gn_ndarray_f64(&seeds->a, i),
                        (long long)rows[i % 2] - 1);
        }
        if (w->sets[k].item) at += seeds->a.dim[0];
    }
    return NULL;
}

/* The relation's edges, and how many of them the sets have. */
static gn_status *add_seeds(work *w, int relation, int64_t n, int *seeds)
{
    gn_dataset *d = w->b->d;
    int64_t *end[2];
    int src = relation ? d->relations[relation - 1].src : 0,
        dst = relation ? d->relations[relation - 1].dst : 0;
    for (int k = 0; k < 2; k++) end[k] = gn_mem_alloc(n, sizeof *end[k]);
    gn_status *s = end[0] && end[1]
                       ? fill_ends(w, relation, end)
                       : GN_ERROR(GN_ERR_NOMEM, "out of memory: %lld edges", (long long)n);
    if (!s) return gn_dataset_add_relation(d, "seeds", src, dst, n, end[0], end[1], seeds);
    free(end[0]);
    free(end[1]);
    return s;
}

static gn_status *add_masks(work *w, int seeds)
{
    int64_t count[SETS] = {0};
    for (int k = 0; k < SETS; k++)
        if (w->sets[k].item) count[k] = w->sets[k].data[SEEDS].a.dim[0];
    return gn_dataset_add_split(w->b->d, seeds, count);
}

static gn_status *put_number(const work *w, const gn_bolt_array *from, int64_t i, int64_t most,
                             gn_table_column *c, int64_t at)
{
    int64_t v;
    if (c->elem == GN_F32) return label_at(from, i, &((float *)c->data)[at]);
    if (!gn_ndarray_i64(&from->a, i, &v) || v < 0 || v >= most)
        GN_FAIL(GN_ERR_DATA, "%s: number %lld is %g: expected whole numbers from 0 to %lld%s",
                from->file.path, (long long)i, gn_ndarray_f64(&from->a, i), (long long)most - 1,
                w->classes == most ? ", as num_classes says" : "");
    ((int32_t *)c->data)[at] = (int32_t)v;
    return NULL;
}

/* Numbers of seeds; a set that has none has `otherwise`. */
static gn_status *fill_column(const work *w, int which, int64_t cols, int otherwise, int64_t most,
                              gn_table_column *c)
{
    int64_t at = 0;
    for (int k = 0; k < SETS; k++) {
        int64_t n = w->sets[k].item ? w->sets[k].data[SEEDS].a.dim[0] * cols : 0;
        for (int64_t i = 0; i < n; i++, at++) {
            if (w->sets[k].at[which])
                GN_TRY(put_number(w, &w->sets[k].data[which], i, most, c, at));
            else if (c->elem == GN_F32)
                ((float *)c->data)[at] = (float)otherwise;
            else
                ((int32_t *)c->data)[at] = otherwise;
        }
    }
    return NULL;
}

static gn_status *add_numbers(work *w, int seeds, int which, int64_t cols, int otherwise,
                              int64_t most)
{
    gn_table_column c = {.on_edges = true, .over = seeds, .elem = most ? GN_I32 : GN_F32};
    int64_t n;
    if (cols > 1) c.dim[c.rank++] = cols;
    if (which == LABELS) c.classes = most;
    if (__builtin_mul_overflow(gn_dataset_edges(w->b->d, seeds), cols, &n)) n = INT64_MAX;
    c.data = gn_mem_alloc(n, gn_elem_size(c.elem));
    gn_status *s = c.data ? fill_column(w, which, cols, otherwise, most, &c)
                          : GN_ERROR(GN_ERR_NOMEM, "out of memory: %lld numbers", (long long)n);
    if (!s) return gn_dataset_add_column(w->b->d, data_name[which], &c);
    free(c.data);
    return s;
}

static gn_status *check_indexes(const work *w, bool *any)
{
    *any = false;
    for (int k = 0; k < SETS; k++) {
        const set *s = &w->sets[k];
        if (!s->at[INDEXES]) continue;
        *any = true;
        if (s->data[INDEXES].a.rank != 1 || s->data[INDEXES].a.count != s->data[SEEDS].a.dim[0])
            return gn_array_bad_shape(s->data[INDEXES].file.path, &s->data[INDEXES].a,
                                      "one number for each seed");
    }
    return NULL;
}

static gn_status *take_edges(work *w)
{
    int64_t n = 0, cols;
    int relation, seeds;
    bool indexes;
    GN_TRY(owner_of(w, true, &relation));
    for (int k = 0; k < SETS; k++) n += w->sets[k].item ? w->sets[k].data[SEEDS].a.dim[0] : 0;
    GN_TRY(add_seeds(w, relation, n, &seeds));
    GN_TRY(add_masks(w, seeds));
    GN_TRY(label_width(w, &cols));
    if (cols) /* seeds without labels are true edges */
        GN_TRY(
            add_numbers(w, seeds, LABELS, cols, 1, w->classes > 1 && cols == 1 ? w->classes : 0));
    GN_TRY(check_indexes(w, &indexes));
    return indexes ? add_numbers(w, seeds, INDEXES, 1, -1, INT32_MAX) : NULL;
}

/* ---- both ---- */

/* *rank: of the seeds of all sets; 0: there are none. */
static gn_status *seeds_rank(const work *w, int *rank)
{
    *rank = 0;
    for (int k = 0; k < SETS; k++) {
        const gn_bolt_array *s = &w->sets[k].data[SEEDS];
        if (!w->sets[k].item) continue;
        bool good = s->a.rank == 1 || (s->a.rank == 2 && s->a.dim[1] == 2);
        if (!good || (*rank && s->a.rank != *rank))
            return gn_array_bad_shape(s->file.path, &s->a,
                                      !*rank      ? "seeds [k], which are nodes, or [k, 2], edges"
                                      : *rank > 1 ? "seeds [k, 2], as in the other sets"
                                                  : "seeds [k], as in the other sets");
        *rank = s->a.rank;
    }
    return NULL;
}

static gn_status *read_task(work *w, int task)
{
    int rank;
    GN_TRY(gn_yaml_number(w->b->yaml, task, "num_classes", false, &w->classes));
    if (w->classes > 1 << 24)
        GN_YAML_FAIL(w->b->yaml, gn_yaml_get(w->b->yaml, task, "num_classes"),
                     "num_classes: expected at most %d", 1 << 24);
    for (int k = 0; k < SETS; k++) GN_TRY(open_set(w, task, k));
    GN_TRY(seeds_rank(w, &rank));
    if (rank == 0) return NULL;
    return rank == 1 ? take_nodes(w) : take_edges(w);
}

gn_status *gn_bolt_read_tasks(gn_bolt *b)
{
    int tasks = gn_yaml_get(b->yaml, gn_yaml_root(b->yaml), "tasks"), n;
    work *w;
    GN_TRY(gn_yaml_count(b->yaml, tasks, "tasks", &n));
    b->r->splits = n;
    GN_TRY(gn_reading_check_split(b->r));
    if (n == 0) return NULL;
    GN_MEM(w, 1);
    w->b = b;
    gn_status *s = read_task(w, gn_yaml_item(b->yaml, tasks, b->r->opt->split));
    for (int k = 0; k < SETS; k++)
        for (int i = 0; i < DATA; i++) gn_bolt_close(&w->sets[k].data[i]);
    free(w);
    return s;
}
