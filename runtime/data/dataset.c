/* A dataset, whichever format it was read from: making and freeing one, the drawn split, checks. */
#include "runtime/data/dataset.h"

#include "base/data_name.h"
#include "base/philox.h"
#include "runtime/data/blockfile.h"
#include "runtime/data/csr.h"
#include "runtime/data/lent.h"
#include "runtime/data/mem.h"
#include "runtime/data/readers.h"
#include "runtime/data/splits.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

gn_status *gn_dataset_new(const char *name, gn_dataset **out)
{
    gn_dataset *d;
    GN_MEM(d, 1);
    if (name && !(d->name = strdup(name))) {
        free(d);
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %zu bytes for a name", strlen(name));
    }
    *out = d;
    return NULL;
}

void gn_dataset_forget_names(gn_dataset *d)
{
    for (int64_t f = 0; d->feature_name && f < d->n_features; f++) free(d->feature_name[f]);
    free(d->feature_name);
    d->feature_name = NULL;
}

void gn_dataset_free(gn_dataset *d)
{
    if (!d) return;
    gn_dataset_forget_names(d);
    free(d->name);
    void *const all[] = {d->src,       d->dst,        d->edge_weight, d->edge_attr, d->x,
                         d->y,         d->train_mask, d->val_mask,    d->test_mask, d->train_times,
                         d->val_times, d->test_times, d->row_of};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) gn_dataset_release(d, all[k]);
    gn_codes_release(d, &d->x_codes);
    gn_csr_free(d->x_csr);
    for (int k = 0; k < d->n_more; k++) {
        gn_data_array_drop(&d->more[k]);
        free(d->more[k].name);
    }
    free(d->more);
    for (int k = 0; k < d->n_remarks; k++) free(d->remark[k]);
    free(d->remark);
    gn_tables_free(d);
    gn_block_file_free(d->file);
    free(d);
}

gn_status *gn_dataset_remark(gn_dataset *d, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    char **all = realloc(d->remark, ((size_t)d->n_remarks + 1) * sizeof *all);
    if (all) d->remark = all;
    char *copy = all ? strdup(text) : NULL;
    if (!copy) GN_FAIL(GN_ERR_NOMEM, "out of memory: a remark");
    d->remark[d->n_remarks++] = copy;
    return NULL;
}

void gn_data_array_drop(gn_data_array *a)
{
    if (!a->lent) free(a->data);
    a->data = NULL;
}

void gn_dataset_drop_edges(gn_dataset *d, bool features)
{
    void *gone[] = {d->src, d->dst, d->edge_weight, d->edge_attr};
    for (size_t k = 0; k < sizeof gone / sizeof *gone; k++) gn_dataset_release(d, gone[k]);
    d->src = d->dst = NULL;
    d->by_dst = (gn_by_dst){0};
    d->edge_weight = d->edge_attr = NULL;
    for (int k = 0; k < d->n_more; k++)
        if (d->more[k].on_edges) gn_data_array_drop(&d->more[k]);
    for (int k = 0; k < d->n_relations; k++) {
        free(d->relations[k].from);
        free(d->relations[k].to);
        d->relations[k].from = d->relations[k].to = NULL;
        d->relations[k].by_dst = (gn_by_dst){0};
    }
    for (int k = 0; k < d->n_columns; k++) {
        gn_table_column *c = &d->columns[k];
        if (!c->on_edges) continue;
        gn_dataset_release(d, c->data);
        gn_csr_free(c->csr);
        c->data = NULL;
        c->csr = NULL;
    }
    if (!features) return;
    gn_csr_free(d->x_csr);
    d->x_csr = NULL;
}

gn_status *gn_dataset_labels(gn_dataset *d)
{
    int64_t rows = gn_dataset_labelled(d);
    GN_MEM(d->y, rows);
    for (int64_t i = 0; i < rows; i++) d->y[i] = -1;
    GN_MEM(d->train_mask, rows);
    GN_MEM(d->val_mask, rows);
    GN_MEM(d->test_mask, rows);
    return NULL;
}

/* ---- the drawn split ---- */

enum { TRAIN_A_CLASS = 20, VAL_A_CLASS = 30, SPLIT_SITE = 0x5917 };

/* `node` holds one class's nodes: shuffled, then cut in three. */
static void draw_class(gn_dataset *d, int64_t *node, int64_t n, uint32_t key, uint64_t *drawn)
{
    int64_t train = TRAIN_A_CLASS, val = VAL_A_CLASS;
    if (n < TRAIN_A_CLASS + VAL_A_CLASS + 10) {
        train = (n + 2) / 3;
        val = n / 3;
    }
    gn_shuffle(node, n, key, SPLIT_SITE, drawn);
    for (int64_t i = 0; i < n; i++) {
        uint8_t *mask = i < train ? d->train_mask : i < train + val ? d->val_mask : d->test_mask;
        mask[node[i]] = 1;
    }
}

gn_status *gn_dataset_draw_split(gn_dataset *d, uint64_t seed)
{
    int64_t rows = gn_dataset_labelled(d), *start = gn_mem_alloc(d->n_classes + 2, sizeof *start),
            *node = gn_mem_alloc(rows, sizeof *node);
    if (!start || !node) {
        free(start);
        free(node);
        GN_FAIL(GN_ERR_NOMEM, "out of memory: a split of %lld nodes", (long long)rows);
    }
    for (int64_t i = 0; i < rows; i++)
        if (d->y[i] >= 0) start[d->y[i] + 2]++;
    for (int64_t c = 0; c < d->n_classes; c++) start[c + 2] += start[c + 1];
    for (int64_t i = 0; i < rows; i++)
        if (d->y[i] >= 0) node[start[d->y[i] + 1]++] = i;
    uint32_t key = gn_rng_key(seed, 0);
    uint64_t drawn = 0;
    for (int64_t c = 0; c < d->n_classes; c++)
        draw_class(d, node + start[c], start[c + 1] - start[c], key, &drawn);
    free(start);
    free(node);
    d->split_drawn = true;
    return NULL;
}

/* ---- checks ---- */

static const char *name_of(const gn_dataset *d) { return d->name ? d->name : "dataset"; }

static gn_status *check_edges(const gn_dataset *d)
{
    bool listed = !d->by_dst.row_ptr;
    if (!listed)
        GN_TRY(gn_by_dst_check(&d->by_dst, d->n_nodes, d->n_nodes, d->n_edges, name_of(d)));
    if (d->n_nodes < 0 || d->n_edges < 0 || (listed && d->n_edges > 0 && (!d->src || !d->dst)))
        GN_FAIL(GN_ERR_DATA, "%s: no edge arrays for %lld edges", name_of(d),
                (long long)d->n_edges);
    for (int64_t e = 0; listed && e < d->n_edges; e++)
        if (d->src[e] < 0 || d->src[e] >= d->n_nodes || d->dst[e] < 0 || d->dst[e] >= d->n_nodes)
            GN_FAIL(GN_ERR_DATA, "%s: edge %lld is %lld -> %lld, but there are %lld nodes",
                    name_of(d), (long long)e, (long long)d->src[e], (long long)d->dst[e],
                    (long long)d->n_nodes);
    for (int64_t e = 0; d->edge_weight && e < d->n_edges; e++)
        if (!isfinite(d->edge_weight[e]))
            GN_FAIL(GN_ERR_DATA, "%s: the weight of edge %lld is %g: expected a finite number",
                    name_of(d), (long long)e, (double)d->edge_weight[e]);
    for (int64_t i = 0; d->edge_attr && i < d->n_edges * d->edge_dim; i++)
        if (!isfinite(d->edge_attr[i]))
            GN_FAIL(GN_ERR_DATA, "%s: attribute %lld of edge %lld is %g: expected a finite number",
                    name_of(d), (long long)(i % d->edge_dim), (long long)(i / d->edge_dim),
                    (double)d->edge_attr[i]);
    return NULL;
}

static gn_status *check_features(const gn_dataset *d)
{
    int kinds = (d->x != NULL) + (d->x_csr != NULL) + (d->x_codes.data != NULL);
    if (d->n_features < 0 || (d->n_features > 0 && kinds != 1))
        GN_FAIL(GN_ERR_DATA, "%s: expected features dense or sparse, and not both", name_of(d));
    if (d->x_csr) return gn_csr_check(d->x_csr, d->n_nodes, d->n_features, name_of(d), GN_NAME_X);
    if (gn_dataset_lends(d, d->x)) return NULL; /* it was checked before it was written */
    for (int64_t i = 0; d->x && i < d->n_nodes * d->n_features; i++)
        if (!isfinite(d->x[i]))
            GN_FAIL(GN_ERR_DATA,
                    "%s: feature row %lld, column %lld is %g: expected a finite number", name_of(d),
                    (long long)(i / d->n_features), (long long)(i % d->n_features),
                    (double)d->x[i]);
    return NULL;
}

static gn_status *check_mask(const gn_dataset *d, const uint8_t *mask)
{
    for (int64_t i = 0; mask && i < gn_dataset_labelled(d); i++)
        if (mask[i] > 1)
            GN_FAIL(GN_ERR_DATA, "%s: a mask has %d for node %lld: expected 0 or 1", name_of(d),
                    mask[i], (long long)i);
    return NULL;
}

gn_status *gn_dataset_check(const gn_dataset *d)
{
    GN_TRY(check_edges(d));
    GN_TRY(check_features(d));
    for (int64_t i = 0; d->y && i < gn_dataset_labelled(d); i++)
        if (d->y[i] < -1 || d->y[i] >= d->n_classes)
            GN_FAIL(GN_ERR_DATA, "%s: node %lld has class %d, but there are %lld classes",
                    name_of(d), (long long)i, d->y[i], (long long)d->n_classes);
    GN_TRY(check_mask(d, d->train_mask));
    GN_TRY(check_mask(d, d->val_mask));
    GN_TRY(check_mask(d, d->test_mask));
    return gn_tables_check(d);
}

gn_status *gn_reading_check_split(const gn_reading *r)
{
    int64_t splits = r->splits > 1 ? r->splits : 1;
    if (r->opt->split < 0 || r->opt->split >= splits)
        GN_FAIL(GN_ERR_USAGE, "%s: split %d: there %s %lld", r->origin, r->opt->split,
                splits == 1 ? "is only" : "are", (long long)splits);
    return NULL;
}
