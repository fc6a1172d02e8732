/* GraphSAINT folders: adj_full.npz is what scipy.sparse.save_npz writes of a CSR matrix, feats.npy
 * has the features, class_map.json the class of each node, or a list of 0 and 1, one for each
 * class, and role.json the nodes to train on (`tr`), for validation (`va`) and test (`te`).
 *
 * As torch_geometric.datasets.Flickr and Yelp read them: entry (i, j) is the edge i -> j, in the
 * order of the file, repeats too.  Values that are not all 1 are weights.  adj_train.npz, which is
 * adj_full without the edges of the other nodes, is not read.
 *
 * https://github.com/GraphSAINT/GraphSAINT */
#include "runtime/data/array_values.h"
#include "runtime/data/folder.h"
#include "runtime/data/json_entries.h"
#include "runtime/data/lines.h"
#include "runtime/data/mem.h"
#include "runtime/data/npy.h"
#include "runtime/data/npz.h"
#include "runtime/data/targets.h"

#include <math.h>
#include <string.h>

typedef struct work {
    const gn_input *file;
    gn_npz *zip;
    gn_ndarray ptr, col, val; /* of the matrix */
    gn_float_rows labels;     /* NaN: unknown */
    bool lists;               /* of 0 and 1 */
    bool seen[3];             /* roles */
    gn_dataset *d;
} work;

#define LINE_FAIL(f, line, ...)                                                                    \
    return gn_text_error(__FILE__, __LINE__, (f)->origin, (line), __VA_ARGS__)

/* ---- the matrix ---- */

static gn_status *read_vector(work *w, const char *key, int64_t length, gn_ndarray *a)
{
    char want[32];
    GN_TRY(gn_npz_array(w->zip, key, a));
    if (a->rank == 1 && (length < 0 || a->count == length)) return NULL;
    snprintf(want, sizeof want, length < 0 ? "a vector" : "[%lld]", (long long)length);
    return gn_npz_bad_shape(w->zip, key, a, want);
}

static gn_status *check_format(work *w)
{
    char format[16] = "csr";
    if (gn_npz_has(w->zip, "format")) GN_TRY(gn_npz_text(w->zip, "format", format, sizeof format));
    if (!strcmp(format, "csr")) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: a matrix of scipy in the format '%s': expected csr",
            gn_npz_origin(w->zip), gn_span_show((gn_span){format, format + strlen(format)}).s);
}

static gn_status *read_shape(work *w)
{
    gn_ndarray a = {0};
    int64_t rows = -1, cols = -1;
    gn_status *s = read_vector(w, "shape", 2, &a);
    bool good = !s && gn_ndarray_i64(&a, 0, &rows) && gn_ndarray_i64(&a, 1, &cols) &&
                rows == cols && rows >= 0 && rows <= GN_MAX_NODES;
    gn_ndarray_free(&a);
    GN_TRY(s);
    w->d->n_nodes = rows;
    if (good) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: shape: %lld x %lld: expected a row and a column for each node",
            gn_npz_origin(w->zip), (long long)rows, (long long)cols);
}

/* The edges of a row, which are those from `from` to `to` of all. */
static gn_status *fill_row(work *w, int64_t row, int64_t from, int64_t to)
{
    gn_dataset *d = w->d;
    for (int64_t e = from; e < to; e++) {
        d->src[e] = row;
        if (!gn_ndarray_i64(&w->col, e, &d->dst[e]) || d->dst[e] < 0 || d->dst[e] >= d->n_nodes)
            GN_FAIL(GN_ERR_DATA, "%s: indices[%lld] is %g: expected a node from 0 to %lld",
                    gn_npz_origin(w->zip), (long long)e, gn_ndarray_f64(&w->col, e),
                    (long long)d->n_nodes - 1);
    }
    return NULL;
}

static gn_status *fill_edges(work *w)
{
    gn_dataset *d = w->d;
    int64_t at = 0, next;
    GN_MEM(d->src, w->col.count);
    GN_MEM(d->dst, w->col.count);
    for (int64_t row = 0; row <= d->n_nodes; row++, at = next) {
        bool whole = gn_ndarray_i64(&w->ptr, row, &next);
        bool last = row == d->n_nodes;
        if (!whole || next < at || next > w->col.count || (row == 0 && next != 0) ||
            (last && next != w->col.count))
            GN_FAIL(GN_ERR_DATA,
                    "%s: indptr[%lld] is %g: expected numbers from 0 up to the %lld indices",
                    gn_npz_origin(w->zip), (long long)row, gn_ndarray_f64(&w->ptr, row),
                    (long long)w->col.count);
        if (row > 0) GN_TRY(fill_row(w, row - 1, at, next));
    }
    d->n_edges = w->col.count;
    return NULL;
}

static gn_status *fill_weights(work *w)
{
    bool weighted = false;
    for (int64_t e = 0; e < w->val.count && !weighted; e++)
        weighted = gn_ndarray_f64(&w->val, e) != 1;
    if (!weighted) return NULL;
    GN_MEM(w->d->edge_weight, w->val.count);
    for (int64_t e = 0; e < w->val.count; e++) {
        float v = w->d->edge_weight[e] = (float)gn_ndarray_f64(&w->val, e);
        if (!isfinite(v))
            GN_FAIL(GN_ERR_DATA, "%s: data[%lld] is %g: expected finite numbers",
                    gn_npz_origin(w->zip), (long long)e, gn_ndarray_f64(&w->val, e));
    }
    return NULL;
}

static gn_status *read_matrix(work *w)
{
    const gn_input *f = &w->file[GN_SAINT_EDGES];
    GN_TRY(gn_npz_open(f->bytes, f->n, f->origin, &w->zip));
    GN_TRY(check_format(w));
    GN_TRY(read_shape(w));
    GN_TRY(read_vector(w, "indptr", w->d->n_nodes + 1, &w->ptr));
    GN_TRY(read_vector(w, "indices", -1, &w->col));
    GN_TRY(read_vector(w, "data", w->col.count, &w->val));
    GN_TRY(fill_edges(w));
    return fill_weights(w);
}

static gn_status *read_features(work *w)
{
    const gn_input *f = &w->file[GN_SAINT_FEATURES];
    gn_dataset *d = w->d;
    gn_ndarray a;
    GN_TRY(gn_npy_parse(f->bytes, f->n, f->origin, &a));
    return gn_array_floats(f->origin, &a, d->n_nodes, &d->x, &d->n_features);
}

/* ---- classes ---- */

/* Of a key, which is text. */
static gn_status *node_named(const work *w, const gn_input *f, const gn_json_entry *e,
                             int64_t *node)
{
    const char *text = json_string_value(e->key);
    gn_span s = {text, text + json_string_length(e->key)};
    if (!gn_span_int(s, node) || *node < 0 || *node >= w->d->n_nodes)
        LINE_FAIL(f, e->line, "'%s': expected a node from 0 to %lld", gn_span_show(s).s,
                  (long long)w->d->n_nodes - 1);
    return NULL;
}

/* The first entry says whether nodes have a class or a list, and how long it is. */
static gn_status *begin_labels(work *w, const gn_input *f, const gn_json_entry *e)
{
    int64_t all;
    gn_float_rows *l = &w->labels;
    w->lists = json_is_array(e->value);
    l->rows = w->d->n_nodes;
    l->cols = w->lists ? (int64_t)json_array_size(e->value) : 1;
    if (l->cols == 0) LINE_FAIL(f, e->line, "an empty list: expected 0 or 1 for each class");
    if (__builtin_mul_overflow(l->rows, l->cols, &all)) all = INT64_MAX;
    GN_MEM(l->v, all);
    for (int64_t i = 0; i < all; i++) l->v[i] = NAN;
    return NULL;
}

static gn_status *put_class(const gn_input *f, const gn_json_entry *e, float *to)
{
    json_int_t c = json_integer_value(e->value);
    if (!json_is_integer(e->value) || c < 0 || c >= 1 << 24)
        LINE_FAIL(f, e->line, "expected a class, a whole number from 0 on, as the first node has");
    *to = (float)c;
    return NULL;
}

static gn_status *put_list(const gn_input *f, const gn_json_entry *e, int64_t n, float *to)
{
    size_t k;
    json_t *is;
    if (!json_is_array(e->value) || json_array_size(e->value) != (size_t)n)
        LINE_FAIL(f, e->line, "expected a list of %lld numbers, as the first node has",
                  (long long)n);
    json_array_foreach(e->value, k, is)
    {
        double v = json_number_value(is);
        if (!json_is_number(is) || (v != 0 && v != 1))
            LINE_FAIL(f, e->line, "class %zu of the list: expected 0 or 1", k);
        to[k] = (float)v;
    }
    return NULL;
}

static gn_status *take_class(work *w, const gn_input *f, const gn_json_entry *e)
{
    int64_t node;
    if (!w->labels.v) GN_TRY(begin_labels(w, f, e));
    GN_TRY(node_named(w, f, e, &node));
    float *to = w->labels.v + node * w->labels.cols;
    if (!isnan(*to)) LINE_FAIL(f, e->line, "node %lld is given twice", (long long)node);
    return w->lists ? put_list(f, e, w->labels.cols, to) : put_class(f, e, to);
}

/* ---- roles ---- */

static gn_status *take_role(work *w, const gn_input *f, const gn_json_entry *e)
{
    static const char *const role[] = {"tr", "va", "te"};
    uint8_t **const masks[] = {&w->d->train_mask, &w->d->val_mask, &w->d->test_mask};
    int is = 0;
    size_t i;
    json_t *number;
    while (is < 3 && strcmp(role[is], json_string_value(e->key)) != 0) is++;
    if (is == 3 || w->seen[is] || !json_is_array(e->value))
        LINE_FAIL(f, e->line, "expected `tr`, `va` and `te` once each, lists of nodes");
    w->seen[is] = true;
    uint8_t *mask;
    GN_MEM(mask, w->d->n_nodes);
    *masks[is] = mask;
    json_array_foreach(e->value, i, number)
    {
        json_int_t node = json_integer_value(number);
        if (!json_is_integer(number) || node < 0 || node >= w->d->n_nodes)
            LINE_FAIL(f, e->line, "%s[%zu]: expected nodes from 0 to %lld", role[is], i,
                      (long long)w->d->n_nodes - 1);
        mask[node] = 1;
    }
    return NULL;
}

static gn_status *walk(work *w, const gn_input *f,
                       gn_status *take(work *, const gn_input *, const gn_json_entry *))
{
    gn_json_entries in = gn_json_entries_of(f->bytes, f->n, f->origin);
    gn_json_entry e;
    gn_status *s;
    do {
        s = gn_json_next(&in, &e);
        bool end = !s && !e.key;
        if (end) return NULL;
        if (!s) s = take(w, f, &e);
        gn_json_entry_free(&e);
    } while (!s);
    return s;
}

/* ---- all of it ---- */

static gn_status *parse(work *w)
{
    const gn_input *classes = &w->file[GN_SAINT_CLASSES], *roles = &w->file[GN_SAINT_ROLES];
    GN_TRY(gn_dataset_new(NULL, &w->d));
    GN_TRY(read_matrix(w));
    GN_TRY(read_features(w));
    GN_TRY(walk(w, classes, take_class));
    if (!w->labels.v) GN_FAIL(GN_ERR_DATA, "%s: no node has a class", classes->origin);
    GN_TRY(w->lists ? gn_targets_add(&w->labels, 0, w->d)
                    : gn_targets_take(classes->origin, &w->labels, 0, w->d));
    GN_TRY(walk(w, roles, take_role));
    if (w->seen[0] && w->seen[1] && w->seen[2]) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: expected `tr`, `va` and `te`, lists of nodes", roles->origin);
}

gn_status *gn_saint_parse(const gn_input *file, gn_reading *r, gn_dataset **out)
{
    work w = {.file = file};
    (void)r;
    gn_status *s = parse(&w);
    gn_ndarray_free(&w.ptr);
    gn_ndarray_free(&w.col);
    gn_ndarray_free(&w.val);
    gn_npz_close(w.zip);
    free(w.labels.v);
    if (s)
        gn_dataset_free(w.d);
    else
        *out = w.d;
    return s;
}

gn_status *gn_saint_read(const char *folder, const char *name, gn_reading *r, gn_dataset **out)
{
    static const char *const file[GN_SAINT_PARTS] = {"adj_full.npz", "feats.npy", "class_map.json",
                                                     "role.json"};
    (void)name;
    return gn_folder_parse(folder, file, GN_SAINT_PARTS, GN_SAINT_PARTS, gn_saint_parse, r, out);
}
