#include "runtime/data/datafile.h"

#include "base/data_name.h"
#include "runtime/data/mem.h"
#include "runtime/graph/graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Features ------------------------------------------------------------------------------------- */

static gn_status *put_scale(gn_feature_writer *w)
{
    char name[GN_ARRAY_NAME];
    gn_status *s = gn_codes_scale(w->cols, w->least, w->largest, w->step);
    if (s) return gn_status_annotate(s, "%s", w->name);
    snprintf(name, sizeof name, "%s/step", w->name);
    GN_TRY(gn_block_writer_whole(w->out, name, GN_F32, 1, &w->cols, w->step));
    snprintf(name, sizeof name, "%s/least", w->name);
    w->scaled = true;
    return gn_block_writer_whole(w->out, name, GN_F32, 1, &w->cols, w->least);
}

gn_status *gn_feature_writer_new(gn_block_writer *out, const char *name, gn_elem elem, int64_t rows,
                                 int64_t cols, gn_feature_writer *w)
{
    *w = (gn_feature_writer){.out = out, .name = name, .elem = elem, .rows = rows, .cols = cols};
    const int64_t dim[] = {rows, cols};
    GN_TRY(gn_block_writer_add(out, name, elem, 2, dim, &w->array));
    if (elem == GN_F32) return NULL;
    GN_MEM(w->least, cols);
    GN_MEM(w->largest, cols);
    GN_MEM(w->step, cols);
    for (int64_t c = 0; c < cols; c++) {
        w->least[c] = INFINITY;
        w->largest[c] = -INFINITY;
    }
    w->codes = gn_mem_alloc(GN_FEATURE_PART > cols ? GN_FEATURE_PART : cols, gn_elem_size(elem));
    if (!w->codes) GN_FAIL(GN_ERR_NOMEM, "out of memory: features of %lld", (long long)cols);
    return gn_feature_writer_again(w) && rows * cols == 0 ? put_scale(w) : NULL;
}

void gn_feature_writer_free(gn_feature_writer *w)
{
    free(w->least);
    free(w->largest);
    free(w->step);
    free(w->codes);
    *w = (gn_feature_writer){0};
}

gn_status *gn_feature_writer_put(gn_feature_writer *w, const float *x, int64_t n)
{
    if (w->elem == GN_F32) return gn_block_writer_put(w->out, w->array, x, (size_t)n * sizeof *x);
    if (gn_feature_writer_again(w)) {
        gn_codes_range(w->cols, n, x, w->least, w->largest);
        w->done += n;
        return w->done == w->rows * w->cols ? put_scale(w) : NULL;
    }
    gn_status *s = gn_codes_encode(w->elem, w->step, w->least, w->cols, n, x, w->codes);
    if (s) return gn_status_annotate(s, "%s", w->name);
    return gn_block_writer_put(w->out, w->array, w->codes, (size_t)n * gn_elem_size(w->elem));
}

/* Rows that lie in memory, or in another file, as float32 or as codes: a part at a time. */
typedef struct rows_of {
    const gn_dataset *d;
    const char *name;
    int64_t rows, cols;
    const float *x;
    const gn_codes *codes; /* where x is NULL */
} rows_of;

static gn_status *put_parts(const rows_of *r, float *part, gn_feature_writer *w)
{
    int64_t all = r->rows * r->cols, most = GN_FEATURE_PART / r->cols * r->cols;
    if (most < r->cols) most = r->cols;
    for (int64_t at = 0; at < all; at += most) {
        int64_t n = all - at < most ? all - at : most;
        size_t size = r->x ? sizeof *r->x : gn_elem_size(r->codes->elem);
        const char *from = r->x ? (const char *)r->x : r->codes->data;
        GN_TRY(gn_dataset_check_lent(r->d, from + (size_t)at * size, n * (int64_t)size));
        if (!r->x) gn_codes_decode(r->codes, r->cols, at, n, part);
        GN_TRY(gn_feature_writer_put(w, r->x ? r->x + at : part, n));
    }
    return NULL;
}

/* Codes that stay what they are. */
static gn_status *put_codes(gn_block_writer *w, const rows_of *r)
{
    char name[GN_ARRAY_NAME];
    const int64_t dim[] = {r->rows, r->cols};
    const gn_codes *c = r->codes;
    GN_TRY(
        gn_dataset_check_lent(r->d, c->data, r->rows * r->cols * (int64_t)gn_elem_size(c->elem)));
    GN_TRY(gn_block_writer_whole(w, r->name, c->elem, 2, dim, c->data));
    if (c->elem != GN_U8) return NULL;
    snprintf(name, sizeof name, "%s/step", r->name);
    GN_TRY(gn_block_writer_whole(w, name, GN_F32, 1, &r->cols, c->step));
    snprintf(name, sizeof name, "%s/least", r->name);
    return gn_block_writer_whole(w, name, GN_F32, 1, &r->cols, c->least);
}

static gn_status *put_rows(gn_block_writer *w, const rows_of *r, int features)
{
    gn_elem is = r->x ? GN_F32 : r->codes->elem;
    gn_elem elem = features < 0 ? is : gn_feature_code_elem[features];
    gn_feature_writer f = {0};
    float *part;
    if (!r->x && elem == is) return put_codes(w, r);
    GN_MEM(part, GN_FEATURE_PART > r->cols ? GN_FEATURE_PART : r->cols);
    gn_status *s = gn_feature_writer_new(w, r->name, elem, r->rows, r->cols, &f);
    bool again = !s && gn_feature_writer_again(&f);
    if (again) s = put_parts(r, part, &f);
    if (!s) s = put_parts(r, part, &f);
    gn_feature_writer_free(&f);
    free(part);
    return s;
}

static gn_status *put_csr(gn_block_writer *w, const char *of, const gn_csr *m)
{
    char name[GN_ARRAY_NAME];
    const int64_t ptr = m->rows + 1;
    snprintf(name, sizeof name, "%s/ptr", of);
    GN_TRY(gn_block_writer_whole(w, name, GN_I64, 1, &ptr, m->ptr));
    snprintf(name, sizeof name, "%s/col", of);
    GN_TRY(gn_block_writer_whole(w, name, GN_I32, 1, &m->nnz, m->col));
    snprintf(name, sizeof name, "%s/val", of);
    return gn_block_writer_whole(w, name, GN_F32, 1, &m->nnz, m->val);
}

static gn_status *put_features(gn_block_writer *w, const gn_dataset *d, int features)
{
    const rows_of r = {d, GN_NAME_X, d->n_nodes, d->n_features, d->x, &d->x_codes};
    if (d->n_features == 0) return NULL;
    return d->x_csr ? put_csr(w, GN_NAME_X, d->x_csr) : put_rows(w, &r, features);
}

/* Edges ---------------------------------------------------------------------------------------- */

void gn_edges_array_name(const char *relation, gn_edges_array k, char name[GN_ARRAY_NAME])
{
    static const char *const of[] = {"row_ptr", "col", "pos"};
    snprintf(name, GN_ARRAY_NAME, "edges/%s/%s", relation, of[k]);
}

void gn_row_of_array_name(const gn_dataset *d, int space, char name[GN_ARRAY_NAME])
{
    if (space)
        snprintf(name, GN_ARRAY_NAME, "row_of/%s", gn_dataset_space(d, space));
    else
        snprintf(name, GN_ARRAY_NAME, "row_of");
}

/* The narrowest width that all graphs of the data have room in. */
static gn_elem index_of(const gn_dataset *d)
{
    bool wide = gn_graph_index_for(d->n_nodes, d->n_nodes, d->n_edges) == GN_I64;
    if (d->x_csr) wide |= gn_graph_index_for(d->n_features, d->n_nodes, d->x_csr->nnz) == GN_I64;
    for (int k = 0; k < d->n_relations; k++) {
        const gn_relation *r = &d->relations[k];
        wide |= gn_graph_index_for(gn_dataset_rows(d, r->src), gn_dataset_rows(d, r->dst),
                                   r->n_edges) == GN_I64;
    }
    return wide ? GN_I64 : GN_I32;
}

static gn_status *put_arrays(gn_block_writer *w, const char *of, const gn_by_dst *g, int64_t n_dst,
                             int64_t n_edges)
{
    const void *const data[] = {g->row_ptr, g->col, g->pos};
    for (int k = 0; k < GN_EDGES_ARRAYS; k++) {
        char name[GN_ARRAY_NAME];
        const int64_t n = k == GN_EDGES_ROW_PTR ? n_dst + 1 : n_edges;
        gn_edges_array_name(of, k, name);
        GN_TRY(gn_block_writer_whole(w, name, g->index, 1, &n, data[k]));
    }
    return NULL;
}

/* `k`: a relation, 0: g. */
static gn_status *put_edges(gn_block_writer *w, const gn_dataset *d, gn_elem index, int k)
{
    const gn_relation *r = k ? &d->relations[k - 1] : NULL;
    const gn_by_dst *by_dst = r ? &r->by_dst : &d->by_dst;
    int64_t n_src = gn_dataset_rows(d, r ? r->src : 0), n_dst = gn_dataset_rows(d, r ? r->dst : 0),
            n_edges = gn_dataset_edges(d, k);
    const char *name = gn_dataset_relation(d, k);
    if (by_dst->row_ptr && by_dst->index == index)
        return put_arrays(w, name, by_dst, n_dst, n_edges);
    gn_graph *g;
    if (by_dst->row_ptr)
        GN_FAIL(GN_ERR_INTERNAL, "%s: edges by destination of another width", name);
    GN_TRY(gn_graph_from_coo(index, n_src, n_dst, n_edges, GN_I64, r ? r->from : d->src,
                             r ? r->to : d->dst, &g));
    const gn_by_dst made = {g->index, g->array[GN_GRAPH_ROW_PTR], g->array[GN_GRAPH_COL],
                            g->array[GN_GRAPH_POS]};
    gn_status *s = put_arrays(w, name, &made, n_dst, n_edges);
    gn_graph_free(g);
    return s;
}

/* All else ------------------------------------------------------------------------------------- */

static gn_status *put_column(gn_block_writer *w, const gn_dataset *d, const gn_table_column *c,
                             int features)
{
    char name[GN_ARRAY_NAME];
    int64_t dim[1 + GN_COLUMN_RANK] = {c->on_edges ? gn_dataset_edges(d, c->over)
                                                   : gn_dataset_rows(d, c->over)};
    for (int k = 0; k < c->rank; k++) dim[k + 1] = c->dim[k];
    snprintf(name, sizeof name, "column/%s", c->name);
    if (c->csr) return put_csr(w, name, c->csr);
    bool rows = !c->on_edges && c->elem == GN_F32 && c->rank == 1;
    const rows_of r = {d, name, dim[0], c->dim[0], c->data, &c->codes};
    return rows ? put_rows(w, &r, features)
                : gn_block_writer_whole(w, name, c->elem, 1 + c->rank, dim, c->data);
}

static gn_status *put_labels(gn_block_writer *w, const gn_dataset *d)
{
    const struct {
        const char *name;
        gn_elem elem;
        const void *data;
    } of[] = {{GN_NAME_Y, GN_I32, d->y},
              {GN_NAME_TRAIN_MASK, GN_BOOL, d->train_mask},
              {GN_NAME_VAL_MASK, GN_BOOL, d->val_mask},
              {GN_NAME_TEST_MASK, GN_BOOL, d->test_mask},
              {GN_NAME_TRAIN_TIMES, GN_F32, d->train_times},
              {GN_NAME_VAL_TIMES, GN_F32, d->val_times},
              {GN_NAME_TEST_TIMES, GN_F32, d->test_times}};
    const int64_t rows = gn_dataset_labelled(d);
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        if (of[k].data)
            GN_TRY(gn_block_writer_whole(w, of[k].name, of[k].elem, 1, &rows, of[k].data));
    return NULL;
}

static gn_status *put_numbers(gn_block_writer *w, const gn_dataset *d)
{
    char name[GN_ARRAY_NAME];
    for (int k = 0; k <= d->n_tables; k++) {
        const int64_t rows = gn_dataset_rows(d, k), *row_of = gn_dataset_row_of(d, k);
        gn_row_of_array_name(d, k, name);
        if (row_of) GN_TRY(gn_block_writer_whole(w, name, GN_I64, 1, &rows, row_of));
    }
    return NULL;
}

gn_status *gn_datafile_put_rest(gn_block_writer *w, const gn_dataset *d, int features)
{
    const int64_t edges[] = {d->n_edges, d->edge_dim};
    char name[GN_ARRAY_NAME];
    GN_TRY(put_labels(w, d));
    GN_TRY(put_numbers(w, d));
    if (d->edge_weight)
        GN_TRY(gn_block_writer_whole(w, "weight", GN_F32, 1, edges, d->edge_weight));
    if (d->edge_attr) GN_TRY(gn_block_writer_whole(w, "attr", GN_F32, 2, edges, d->edge_attr));
    for (int k = 0; k < d->n_columns; k++) GN_TRY(put_column(w, d, &d->columns[k], features));
    for (int k = 0; k < d->n_more; k++) {
        const gn_data_array *a = &d->more[k];
        snprintf(name, sizeof name, "more/%d", k);
        if (a->data) GN_TRY(gn_block_writer_whole(w, name, GN_F32, a->rank, a->dim, a->data));
    }
    return NULL;
}

/* What are no arrays --------------------------------------------------------------------------- */

/* Bytes that are no UTF-8 become question marks. */
static json_t *text_of(const char *s)
{
    json_t *text = json_string(s);
    char *plain = text ? NULL : strdup(s);
    for (char *p = plain; p && *p; p++)
        if ((unsigned char)*p > 127) *p = '?';
    if (plain) text = json_string(plain);
    free(plain);
    return text;
}

static json_t *texts(int64_t n, char *const *text)
{
    json_t *all = json_array();
    for (int64_t k = 0; k < n; k++)
        json_array_append_new(all, text[k] ? text_of(text[k]) : json_null());
    return all;
}

static json_t *dims(int rank, const int64_t *dim)
{
    json_t *all = json_array();
    for (int k = 0; k < rank; k++) json_array_append_new(all, json_integer(dim[k]));
    return all;
}

static json_t *columns(const gn_dataset *d)
{
    json_t *all = json_array();
    for (int k = 0; k < d->n_columns; k++) {
        const gn_table_column *c = &d->columns[k];
        json_t *one = json_pack("{s:s, s:b, s:i, s:s, s:o, s:I}", "name", c->name, "on_edges",
                                (int)c->on_edges, "over", c->over, "elem", gn_elem_name(c->elem),
                                "dim", dims(c->rank, c->dim), "classes", (json_int_t)c->classes);
        if (c->names) json_object_set_new(one, "names", texts(c->classes, c->names));
        json_array_append_new(all, one);
    }
    return all;
}

static json_t *tables(const gn_dataset *d)
{
    json_t *all = json_array();
    for (int k = 0; k < d->n_tables; k++)
        json_array_append_new(all, json_pack("{s:s, s:I}", "name", d->tables[k].name, "rows",
                                             (json_int_t)d->tables[k].rows));
    return all;
}

static json_t *relations(const gn_dataset *d)
{
    json_t *all = json_array();
    for (int k = 0; k < d->n_relations; k++) {
        const gn_relation *r = &d->relations[k];
        json_array_append_new(all, json_pack("{s:s, s:i, s:i, s:I}", "name", r->name, "src", r->src,
                                             "dst", r->dst, "edges", (json_int_t)r->n_edges));
    }
    return all;
}

static json_t *more(const gn_dataset *d)
{
    json_t *all = json_array();
    for (int k = 0; k < d->n_more; k++) {
        const gn_data_array *a = &d->more[k];
        json_t *one = json_object();
        json_object_set_new(one, "name", text_of(a->name));
        json_object_set_new(one, "dim", dims(a->rank, a->dim));
        json_object_set_new(one, "also", json_boolean(a->also));
        json_array_append_new(all, one);
    }
    return all;
}

gn_status *gn_datafile_meta(const gn_dataset *d, const char *source, json_t **out)
{
    json_t *m = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:i, s:b, s:b, s:b, s:I}", "kind",
                          "dataset", "nodes", (json_int_t)d->n_nodes, "edges",
                          (json_int_t)d->n_edges, "features", (json_int_t)d->n_features, "classes",
                          (json_int_t)d->n_classes, "edge_dim", (json_int_t)d->edge_dim, "labelled",
                          d->labelled, "typed", (int)d->typed, "edges_remade", (int)d->edges_remade,
                          "normalized", (int)d->normalized, "features_read",
                          (json_int_t)d->n_features_read);
    *out = m;
    if (!m) GN_FAIL(GN_ERR_NOMEM, "out of memory: a directory");
    if (d->name) json_object_set_new(m, "name", text_of(d->name));
    if (source) json_object_set_new(m, "source", text_of(source));
    json_object_set_new(m, "reduced", json_string(gn_reduction_name[d->reduced]));
    json_object_set_new(m, "tables", tables(d));
    json_object_set_new(m, "relations", relations(d));
    json_object_set_new(m, "columns", columns(d));
    json_object_set_new(m, "more", more(d));
    json_object_set_new(m, "remarks", texts(d->n_remarks, d->remark));
    if (d->feature_name)
        json_object_set_new(m, "feature_names", texts(d->n_features, d->feature_name));
    return NULL;
}

static gn_status *put_all(gn_block_writer *w, const gn_dataset *d, const gn_datafile_options *o)
{
    gn_elem index = index_of(d);
    for (int k = d->typed; k <= d->n_relations; k++) GN_TRY(put_edges(w, d, index, k));
    GN_TRY(put_features(w, d, o->features));
    return gn_datafile_put_rest(w, d, o->features);
}

gn_status *gn_datafile_write(const gn_dataset *d, const gn_datafile_options *o, const char *path)
{
    gn_block_writer *w;
    json_t *meta = NULL;
    GN_TRY(gn_block_writer_new(path, &w));
    gn_status *s = put_all(w, d, o);
    if (!s) s = gn_datafile_meta(d, o->source, &meta);
    s = gn_block_writer_close(w, meta, s);
    json_decref(meta);
    return s;
}
