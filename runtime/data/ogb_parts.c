#include "runtime/data/array_values.h"
#include "runtime/data/lines.h"
#include "runtime/data/mem.h"
#include "runtime/data/ogb.h"
#include "runtime/data/targets.h"
#include "runtime/data/torchfile.h"

#include <stdio.h>
#include <string.h>

/* ---- splits ---- */

gn_status *gn_ogb_find_split(const char *raw, gn_reading *r, gn_ogb_split *out)
{
    char all[GN_PATH_SIZE], name[256];
    int count;
    *out->folder = 0;
    out->of_links = false;
    const char *where = gn_folder_has_folder(raw, "split") ? "split" : "../split";
    if (!gn_folder_has_folder(raw, where)) return NULL;
    GN_TRY(gn_folder_path(raw, where, all));
    GN_TRY(gn_folder_nth(all, r->opt->split, name, sizeof name, &count));
    if (count == 0) return NULL;
    r->splits = count;
    GN_TRY(gn_reading_check_split(r));
    GN_TRY(gn_folder_path(all, name, out->folder));
    out->of_links = gn_folder_has(out->folder, "train.pt");
    return NULL;
}

static gn_status *take_rows(const gn_input *f, int64_t rows, uint8_t **mask)
{
    gn_int_rows r;
    gn_status *s = NULL;
    GN_MEM(*mask, rows);
    GN_TRY(gn_rows_ints(f, 1, &r));
    for (int64_t i = 0; !s && i < r.rows; i++) {
        if (r.v[i] < 0 || r.v[i] >= rows)
            s = gn_rows_error(__FILE__, __LINE__, f, i, "'%lld': expected a row from 0 to %lld",
                              (long long)r.v[i], (long long)rows - 1);
        else
            (*mask)[r.v[i]] = 1;
    }
    free(r.v);
    return s;
}

gn_status *gn_ogb_take_split(const gn_input part[3], gn_dataset *d)
{
    uint8_t **const mask[] = {&d->train_mask, &d->val_mask, &d->test_mask};
    int there = 0, given = -1;
    for (int k = 0; k < 3; k++) {
        there += part[k].bytes != NULL;
        if (part[k].bytes) given = k;
    }
    if (there == 0) return NULL;
    if (there < 3)
        GN_FAIL(GN_ERR_DATA, "%s: expected train.csv, valid.csv and test.csv beside each other",
                part[given].origin);
    for (int k = 0; k < 3; k++) GN_TRY(take_rows(&part[k], gn_dataset_labelled(d), mask[k]));
    return NULL;
}

static gn_status *take_arrays(const gn_input *f, const gn_pickle_value *all, const char *type,
                              gn_dataset *d)
{
    static const char *const name[] = {"train", "valid", "test"};
    uint8_t **const masks[] = {&d->train_mask, &d->val_mask, &d->test_mask};
    for (int k = 0; k < 3; k++) {
        char what[GN_PATH_SIZE + 256];
        uint8_t *mask;
        const gn_pickle_value *v = gn_pickle_get(all, name[k]);
        if (v && type) v = gn_pickle_get(v, type);
        snprintf(what, sizeof what, "%s: %s%s%s", f->origin, name[k], type ? " of " : "",
                 type ? type : "");
        if (!v || v->kind != GN_PICKLE_ARRAY)
            GN_FAIL(GN_ERR_DATA, "%s: expected an array of numbers of rows", what);
        GN_MEM(mask, gn_dataset_labelled(d));
        *masks[k] = mask;
        GN_TRY(gn_array_mark(what, v->u.array, gn_dataset_labelled(d), mask));
    }
    return NULL;
}

gn_status *gn_ogb_take_split_dict(const gn_input *f, const char *type, gn_dataset *d)
{
    gn_torch *t;
    GN_TRY(gn_torch_open(f->bytes, f->n, f->origin, &t));
    gn_status *s = take_arrays(f, gn_torch_value(t), type, d);
    gn_torch_close(t);
    return s;
}

gn_status *gn_ogb_remark_links(const gn_ogb_split *split, gn_dataset *d)
{
    if (!split->of_links) return NULL;
    return gn_dataset_remark(d, "the split's train.pt is not read: the graph alone is");
}

static gn_status *read_split_dict(const gn_ogb_split *split, const char *type, gn_dataset *d)
{
    gn_folder_file part;
    gn_status *s = gn_folder_read(split->folder, "split_dict.pt", true, &part);
    gn_input f = gn_folder_input(&part);
    if (!s) s = gn_ogb_take_split_dict(&f, type, d);
    gn_folder_free(&part);
    return s;
}

gn_status *gn_ogb_read_split(const gn_ogb_split *split, const char *type, gn_dataset *d)
{
    static const char *const file[] = {"train.csv", "valid.csv", "test.csv"};
    char folder[GN_PATH_SIZE];
    gn_folder_file part[3] = {0};
    gn_input input[3];
    gn_status *s = NULL;
    if (!*split->folder) return NULL;
    if (gn_folder_has(split->folder, "split_dict.pt")) return read_split_dict(split, type, d);
    GN_TRY(gn_folder_path(split->folder, type, folder));
    for (int k = 0; k < 3 && !s; k++) s = gn_folder_read(folder, file[k], false, &part[k]);
    for (int k = 0; k < 3; k++) input[k] = gn_folder_input(&part[k]);
    if (!s) s = gn_ogb_take_split(input, d);
    for (int k = 0; k < 3; k++) gn_folder_free(&part[k]);
    return s;
}

/* ---- graphs ---- */

static void fill_members(const int64_t *nodes, int64_t graphs, int64_t *from, int64_t *to)
{
    int64_t node = 0;
    for (int64_t g = 0; g < graphs; g++) {
        for (int64_t i = 0; i < nodes[g]; i++, node++) {
            from[node] = node;
            to[node] = g;
        }
    }
}

gn_status *gn_ogb_add_graphs(gn_dataset *d, const int64_t *nodes, int64_t graphs, int *space)
{
    int64_t *from, *to;
    GN_TRY(gn_dataset_add_table(d, "graph", graphs, space));
    GN_MEM(from, d->n_nodes);
    to = gn_mem_alloc(d->n_nodes, sizeof *to);
    if (!to) free(from);
    if (!to) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld nodes", (long long)d->n_nodes);
    fill_members(nodes, graphs, from, to);
    return gn_dataset_add_relation(d, "member", 0, *space, d->n_nodes, from, to, NULL);
}

/* ---- labels ---- */

gn_status *gn_ogb_take_labels(const gn_input *f, int space, gn_dataset *d)
{
    gn_float_rows a;
    GN_TRY(gn_rows_floats_or_none(f, &a));
    gn_status *s = gn_targets_take(f->origin, &a, space, d);
    free(a.v);
    return s;
}

gn_status *gn_ogb_take_column(const gn_input *f, bool on_edges, int over, const char *name,
                              gn_dataset *d)
{
    gn_float_rows a;
    int64_t rows = on_edges ? gn_dataset_edges(d, over) : gn_dataset_rows(d, over);
    GN_TRY(gn_rows_floats(f, 0, &a));
    gn_table_column c = {.on_edges = on_edges,
                         .over = over,
                         .elem = GN_F32,
                         .rank = 1,
                         .dim = {a.cols},
                         .data = a.v};
    if (a.rows == rows && a.cols > 0) return gn_dataset_add_column(d, name, &c);
    free(a.v);
    GN_FAIL(GN_ERR_DATA, "%s: %lld rows: expected %lld", f->origin, (long long)a.rows,
            (long long)rows);
}
