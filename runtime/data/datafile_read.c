#include "runtime/data/datafile.h"

#include "base/data_name.h"
#include "runtime/data/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What is no array ----------------------------------------------------------------------------- */

static gn_status *bad_meta(const gn_block_file *f, const char *key)
{
    return GN_ERROR(GN_ERR_DATA, "%s: directory: `%.64s` of `meta` is missing, or no such value",
                    f->origin, key);
}

/* A number of `of` from least to most. */
static gn_status *number(const gn_block_file *f, const json_t *of, const char *key, int64_t least,
                         int64_t most, int64_t *out)
{
    const json_t *v = json_object_get(of, key);
    *out = json_integer_value(v);
    return json_is_integer(v) && *out >= least && *out <= most ? NULL : bad_meta(f, key);
}

static gn_status *text(const gn_block_file *f, const json_t *of, const char *key, const char **out)
{
    *out = json_string_value(json_object_get(of, key));
    return *out ? NULL : bad_meta(f, key);
}

static bool truth(const json_t *of, const char *key)
{
    return json_is_true(json_object_get(of, key));
}

/* [n] texts, or NULL where one is null; *n is -1: as many as there are. */
static gn_status *texts(const gn_block_file *f, const json_t *all, int64_t *n, char ***out)
{
    int64_t have = (int64_t)json_array_size(all);
    if (!json_is_array(all) || (*n >= 0 && have != *n)) return bad_meta(f, "names");
    *n = have;
    GN_MEM(*out, have);
    for (int64_t k = 0; k < have; k++) {
        const json_t *v = json_array_get(all, (size_t)k);
        if (!json_is_string(v) && !json_is_null(v)) return bad_meta(f, "names");
        if (json_is_string(v) && !((*out)[k] = strdup(json_string_value(v))))
            GN_FAIL(GN_ERR_NOMEM, "out of memory: names of '%s'", f->origin);
    }
    return NULL;
}

/* Arrays --------------------------------------------------------------------------------------- */

typedef struct wanted {
    const char *name;
    gn_elem elem;
    int rank;
    int64_t dim[1 + GN_COLUMN_RANK];
    bool later; /* who reads it checks its blocks */
} wanted;

/* *out: where it lies; NULL: there is none.  GN_ERR_DATA: it is another, or damaged. */
static gn_status *find(gn_block_file *f, const wanted *w, void *out)
{
    const gn_block_array *a = gn_block_file_find(f, w->name);
    const void *data = NULL;
    if (a) {
        bool same = a->elem == w->elem && a->rank == w->rank &&
                    !memcmp(a->dim, w->dim, (size_t)w->rank * sizeof *a->dim);
        if (!same)
            GN_FAIL(GN_ERR_DATA, "%s: %s: its element or shape does not fit what `meta` says",
                    f->origin, w->name);
        data = gn_block_data(f, a);
        if (!w->later) GN_TRY(gn_block_file_check(f, data, a->bytes));
    }
    memcpy(out, &data, sizeof data);
    return NULL;
}

static gn_status *need(gn_block_file *f, const wanted *w, void *out)
{
    const void *data;
    GN_TRY(find(f, w, &data));
    memcpy(out, &data, sizeof data);
    if (!data) GN_FAIL(GN_ERR_DATA, "%s: %s: there is no such array", f->origin, w->name);
    return NULL;
}

static gn_status *read_edges(gn_dataset *d, const char *of, int src, int dst, int64_t n_edges,
                             gn_by_dst *g)
{
    gn_block_file *f = d->file;
    char name[GN_ARRAY_NAME];
    gn_edges_array_name(of, GN_EDGES_ROW_PTR, name);
    const gn_block_array *a = gn_block_file_find(f, name);
    g->index = a && a->elem == GN_I64 ? GN_I64 : GN_I32;
    int64_t n_dst = gn_dataset_rows(d, dst), n_src = gn_dataset_rows(d, src);
    if (g->index == GN_I32 && (n_edges > INT32_MAX || n_dst > INT32_MAX || n_src > INT32_MAX))
        GN_FAIL(GN_ERR_DATA, "%s: %s: more rows or edges than its elements count", f->origin, name);
    GN_TRY(need(f, &(wanted){name, g->index, 1, {n_dst + 1}, false}, &g->row_ptr));
    gn_edges_array_name(of, GN_EDGES_COL, name);
    GN_TRY(need(f, &(wanted){name, g->index, 1, {n_edges}, false}, &g->col));
    gn_edges_array_name(of, GN_EDGES_POS, name);
    return need(f, &(wanted){name, g->index, 1, {n_edges}, false}, &g->pos);
}

static gn_status *read_codes(gn_block_file *f, const char *of, gn_elem elem, int64_t rows,
                             int64_t cols, gn_codes *c)
{
    char name[GN_ARRAY_NAME];
    c->elem = elem;
    GN_TRY(need(f, &(wanted){of, elem, 2, {rows, cols}, true}, &c->data));
    if (elem != GN_U8) return NULL;
    snprintf(name, sizeof name, "%s/step", of);
    GN_TRY(need(f, &(wanted){name, GN_F32, 1, {cols}, false}, &c->step));
    snprintf(name, sizeof name, "%s/least", of);
    return need(f, &(wanted){name, GN_F32, 1, {cols}, false}, &c->least);
}

static gn_status *read_csr(gn_block_file *f, const char *of, int64_t rows, int64_t cols,
                           gn_csr **out)
{
    char name[GN_ARRAY_NAME];
    snprintf(name, sizeof name, "%s/val", of);
    const gn_block_array *a = gn_block_file_find(f, name);
    if (!a) return NULL;
    gn_csr *m;
    GN_MEM(m, 1);
    *out = m;
    *m = (gn_csr){.rows = rows, .cols = cols, .nnz = a->dim[0], .lent = true};
    GN_TRY(need(f, &(wanted){name, GN_F32, 1, {m->nnz}, false}, &m->val));
    snprintf(name, sizeof name, "%s/col", of);
    GN_TRY(need(f, &(wanted){name, GN_I32, 1, {m->nnz}, false}, &m->col));
    snprintf(name, sizeof name, "%s/ptr", of);
    return need(f, &(wanted){name, GN_I64, 1, {rows + 1}, false}, &m->ptr);
}

/* Features of rows, as one of the three things that they may be. */
static gn_status *read_rows(gn_block_file *f, const char *of, int64_t rows, int64_t cols, float **x,
                            gn_codes *codes, gn_csr **csr)
{
    const gn_block_array *a = gn_block_file_find(f, of);
    if (!a) return read_csr(f, of, rows, cols, csr);
    if (a->elem == GN_BF16 || a->elem == GN_U8)
        return read_codes(f, of, a->elem, rows, cols, codes);
    return need(f, &(wanted){of, GN_F32, 2, {rows, cols}, true}, x);
}

static gn_status *read_labels(gn_dataset *d)
{
    const struct {
        const char *name;
        gn_elem elem;
        void *to;
    } of[] = {{GN_NAME_Y, GN_I32, &d->y},
              {GN_NAME_TRAIN_MASK, GN_BOOL, &d->train_mask},
              {GN_NAME_VAL_MASK, GN_BOOL, &d->val_mask},
              {GN_NAME_TEST_MASK, GN_BOOL, &d->test_mask},
              {GN_NAME_TRAIN_TIMES, GN_F32, &d->train_times},
              {GN_NAME_VAL_TIMES, GN_F32, &d->val_times},
              {GN_NAME_TEST_TIMES, GN_F32, &d->test_times}};
    int64_t rows = gn_dataset_labelled(d);
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        GN_TRY(find(d->file, &(wanted){of[k].name, of[k].elem, 1, {rows}, false}, of[k].to));
    if (!d->train_mask == !d->val_mask && !d->train_mask == !d->test_mask) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: expected three masks, or none", d->file->origin);
}

/* Rows of the source: a permutation. */
static gn_status *read_numbers_of(const gn_dataset *d, int space, int64_t **row_of)
{
    int64_t n = gn_dataset_rows(d, space);
    uint8_t *seen;
    char name[GN_ARRAY_NAME];
    gn_row_of_array_name(d, space, name);
    GN_TRY(find(d->file, &(wanted){name, GN_I64, 1, {n}, false}, row_of));
    if (!*row_of) return NULL;
    GN_MEM(seen, n);
    bool fine = true;
    for (int64_t v = 0; fine && v < n; v++) {
        int64_t row = (*row_of)[v];
        fine = row >= 0 && row < n && !seen[row];
        if (fine) seen[row] = 1;
    }
    free(seen);
    if (fine) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: %s: expected each row once", d->file->origin, name);
}

static gn_status *read_numbers(gn_dataset *d)
{
    GN_TRY(read_numbers_of(d, 0, &d->row_of));
    for (int k = 0; k < d->n_tables; k++) GN_TRY(read_numbers_of(d, k + 1, &d->tables[k].row_of));
    return NULL;
}

/* Tables --------------------------------------------------------------------------------------- */

static gn_status *read_tables(gn_dataset *d)
{
    const json_t *all = json_object_get(d->file->meta, "tables");
    for (size_t k = 0; k < json_array_size(all); k++) {
        const json_t *of = json_array_get(all, k);
        const char *name;
        int64_t rows;
        int space;
        GN_TRY(text(d->file, of, "name", &name));
        GN_TRY(number(d->file, of, "rows", 0, INT64_MAX / 64, &rows));
        GN_TRY(gn_dataset_add_table(d, name, rows, &space));
    }
    return NULL;
}

static gn_status *read_relations(gn_dataset *d)
{
    const json_t *all = json_object_get(d->file->meta, "relations");
    for (size_t k = 0; k < json_array_size(all); k++) {
        const json_t *of = json_array_get(all, k);
        const char *name;
        int64_t src, dst, edges;
        GN_TRY(text(d->file, of, "name", &name));
        GN_TRY(number(d->file, of, "src", d->typed, d->n_tables, &src));
        GN_TRY(number(d->file, of, "dst", d->typed, d->n_tables, &dst));
        GN_TRY(number(d->file, of, "edges", 0, INT64_MAX / 64, &edges));
        GN_TRY(gn_dataset_add_relation(d, name, (int)src, (int)dst, edges, NULL, NULL, NULL));
        GN_TRY(read_edges(d, name, (int)src, (int)dst, edges,
                          &d->relations[d->n_relations - 1].by_dst));
    }
    return NULL;
}

/* Any of them together are bytes that an int64 counts, where others are 0, too. */
static gn_status *read_dims(const gn_block_file *f, const json_t *of, int most, int *rank,
                            int64_t *dim)
{
    const json_t *all = json_object_get(of, "dim");
    int64_t bytes = sizeof(int64_t);
    *rank = (int)json_array_size(all);
    if (!json_is_array(all) || json_array_size(all) > (size_t)most) return bad_meta(f, "dim");
    for (int k = 0; k < *rank; k++) {
        const json_t *v = json_array_get(all, (size_t)k);
        dim[k] = json_integer_value(v);
        if (!json_is_integer(v) || dim[k] < 0 ||
            (dim[k] > 0 && __builtin_mul_overflow(bytes, dim[k], &bytes)))
            return bad_meta(f, "dim");
    }
    return NULL;
}

static gn_status *read_column(gn_dataset *d, const json_t *of)
{
    gn_block_file *f = d->file;
    const char *full, *elem;
    char name[GN_ARRAY_NAME];
    int64_t over;
    gn_table_column c = {.on_edges = truth(of, "on_edges")};
    GN_TRY(text(f, of, "name", &full));
    GN_TRY(text(f, of, "elem", &elem));
    static const gn_elem known[] = {GN_F32, GN_I32, GN_I64, GN_BOOL};
    int kind = 0;
    while (kind < 4 && strcmp(elem, gn_elem_name(known[kind])) != 0) kind++;
    if (kind == 4) return bad_meta(f, "elem");
    c.elem = known[kind];
    GN_TRY(number(f, of, "over", d->typed, c.on_edges ? d->n_relations : d->n_tables, &over));
    GN_TRY(number(f, of, "classes", 0, INT32_MAX, &c.classes));
    GN_TRY(read_dims(f, of, GN_COLUMN_RANK, &c.rank, c.dim));
    c.over = (int)over;
    const char *own = strchr(full, '.');
    int64_t rows = c.on_edges ? gn_dataset_edges(d, c.over) : gn_dataset_rows(d, c.over);
    if (!own || snprintf(name, sizeof name, "column/%s", full) >= GN_ARRAY_NAME)
        return bad_meta(f, "name");
    wanted w = {name, c.elem, 1 + c.rank, {rows}, false};
    memcpy(w.dim + 1, c.dim, (size_t)c.rank * sizeof *c.dim);
    gn_status *s = NULL;
    if (!c.on_edges && c.elem == GN_F32 && c.rank == 1) {
        float *x = NULL;
        s = read_rows(f, name, rows, c.dim[0], &x, &c.codes, &c.csr);
        c.data = x;
        if (!s && !x && !c.codes.data && !c.csr) s = bad_meta(f, "columns");
    } else {
        s = need(f, &w, &c.data);
    }
    const json_t *names = json_object_get(of, "names");
    if (!s && names) s = texts(f, names, &c.classes, &c.names);
    if (!s) return gn_dataset_add_column(d, own + 1, &c);
    for (int64_t k = 0; c.names && k < c.classes; k++) free(c.names[k]);
    free(c.names);
    free(c.csr);
    return s;
}

static gn_status *read_more(gn_dataset *d)
{
    const json_t *all = json_object_get(d->file->meta, "more");
    int n = (int)json_array_size(all);
    GN_MEM(d->more, n);
    for (int k = 0; k < n; k++) {
        const json_t *of = json_array_get(all, (size_t)k);
        const char *name;
        char place[GN_ARRAY_NAME];
        gn_data_array *a = &d->more[k];
        GN_TRY(text(d->file, of, "name", &name));
        GN_TRY(read_dims(d->file, of, GN_BLOCK_RANK, &a->rank, a->dim));
        a->also = truth(of, "also");
        a->lent = true;
        a->name = strdup(name);
        if (!a->name) GN_FAIL(GN_ERR_NOMEM, "out of memory: an array of '%s'", d->file->origin);
        d->n_more++;
        wanted w = {place, GN_F32, a->rank, {0}, false};
        memcpy(w.dim, a->dim, sizeof w.dim);
        snprintf(place, sizeof place, "more/%d", k);
        GN_TRY(find(d->file, &w, &a->data));
    }
    return NULL;
}

/* All of it ------------------------------------------------------------------------------------ */

static gn_status *read_counts(gn_dataset *d)
{
    const json_t *m = d->file->meta;
    const char *kind = json_string_value(json_object_get(m, "kind"));
    const char *name = json_string_value(json_object_get(m, "name")),
               *reduced = json_string_value(json_object_get(m, "reduced"));
    int64_t most = INT64_MAX / 64;
    if (!kind || strcmp(kind, "dataset") != 0)
        GN_FAIL(GN_ERR_DATA, "%s: holds no dataset", d->file->origin);
    GN_TRY(number(d->file, m, "nodes", 0, most, &d->n_nodes));
    GN_TRY(number(d->file, m, "edges", 0, most, &d->n_edges));
    GN_TRY(number(d->file, m, "features", 0, INT32_MAX, &d->n_features));
    GN_TRY(number(d->file, m, "classes", 0, INT32_MAX, &d->n_classes));
    GN_TRY(number(d->file, m, "edge_dim", 0, INT32_MAX, &d->edge_dim));
    GN_TRY(number(d->file, m, "features_read", 0, most, &d->n_features_read));
    d->typed = truth(m, "typed");
    if (d->typed && (d->n_nodes || d->n_edges || d->n_features)) return bad_meta(d->file, "typed");
    d->edges_remade = truth(m, "edges_remade");
    d->normalized = truth(m, "normalized");
    for (int k = 0; reduced && k < GN_REDUCTION_COUNT; k++)
        if (!strcmp(reduced, gn_reduction_name[k])) d->reduced = k;
    if (name && !(d->name = strdup(name)))
        GN_FAIL(GN_ERR_NOMEM, "out of memory: a name of '%s'", d->file->origin);
    return NULL;
}

static gn_status *read_texts(gn_dataset *d)
{
    const json_t *names = json_object_get(d->file->meta, "feature_names"),
                 *remarks = json_object_get(d->file->meta, "remarks");
    int64_t n = d->n_features;
    if (names) GN_TRY(texts(d->file, names, &n, &d->feature_name));
    for (size_t k = 0; k < json_array_size(remarks); k++) {
        const char *one = json_string_value(json_array_get(remarks, k));
        if (one) GN_TRY(gn_dataset_remark(d, "%s", one));
    }
    return NULL;
}

static gn_status *read_all(gn_dataset *d)
{
    gn_block_file *f = d->file;
    int64_t labelled;
    GN_TRY(read_counts(d));
    GN_TRY(read_tables(d));
    GN_TRY(number(f, f->meta, "labelled", 0, d->n_tables, &labelled));
    d->labelled = (int)labelled;
    if (!d->typed) GN_TRY(read_edges(d, GN_NAME_G, 0, 0, d->n_edges, &d->by_dst));
    GN_TRY(read_relations(d));
    GN_TRY(read_rows(f, GN_NAME_X, d->n_nodes, d->n_features, &d->x, &d->x_codes, &d->x_csr));
    GN_TRY(read_labels(d));
    GN_TRY(read_numbers(d));
    GN_TRY(find(f, &(wanted){"weight", GN_F32, 1, {d->n_edges}, false}, &d->edge_weight));
    GN_TRY(find(f, &(wanted){"attr", GN_F32, 2, {d->n_edges, d->edge_dim}, false}, &d->edge_attr));
    const json_t *columns = json_object_get(f->meta, "columns");
    for (size_t k = 0; k < json_array_size(columns); k++)
        GN_TRY(read_column(d, json_array_get(columns, k)));
    GN_TRY(read_more(d));
    return read_texts(d);
}

static gn_status *read_file(gn_block_file *f, gn_dataset **out)
{
    gn_dataset *d;
    gn_status *s = gn_dataset_new(NULL, &d);
    if (s) {
        gn_block_file_free(f);
        return s;
    }
    d->file = f;
    s = read_all(d);
    if (!s) s = gn_dataset_check(d);
    if (s)
        gn_dataset_free(d);
    else
        *out = d;
    return s;
}

gn_status *gn_datafile_read(const char *path, gn_dataset **out)
{
    gn_block_file *f;
    GN_TRY(gn_block_file_open(path, &f));
    return read_file(f, out);
}

gn_status *gn_datafile_parse(const void *bytes, size_t n, const char *origin, gn_dataset **out)
{
    gn_block_file *f;
    GN_TRY(gn_block_file_parse(bytes, n, origin, &f));
    return read_file(f, out);
}

bool gn_datafile_is(const char *path)
{
    unsigned char magic[8];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is = fd >= 0 && pread(fd, magic, 8, 0) == 8 && gn_block_file_is(magic, 8);
    if (fd >= 0) close(fd);
    return is;
}

/* Everything ----------------------------------------------------------------------------------- */

static gn_status *check_finite(const gn_dataset *d, const char *name, const float *x,
                               const gn_codes *c, int64_t rows, int64_t cols)
{
    float part[1024];
    for (int64_t at = 0, n; at < rows * cols; at += n) {
        n = rows * cols - at < 1024 ? rows * cols - at : 1024;
        if (!x) gn_codes_decode(c, cols, at, n, part);
        for (int64_t i = 0; i < n; i++) {
            float v = x ? x[at + i] : part[i];
            if (!isfinite(v))
                GN_FAIL(GN_ERR_DATA,
                        "%s: %s: row %lld, column %lld is %g: expected a finite number",
                        d->file->origin, name, (long long)((at + i) / cols),
                        (long long)((at + i) % cols), (double)v);
        }
    }
    return NULL;
}

gn_status *gn_datafile_check(const gn_dataset *d, int64_t *blocks)
{
    gn_block_file *f = d->file;
    *blocks = f->n_blocks;
    GN_TRY(gn_block_file_check(f, f->p + GN_BLOCK_SIZE, f->n_blocks * GN_BLOCK_SIZE));
    if (d->x || d->x_codes.data)
        GN_TRY(check_finite(d, GN_NAME_X, d->x, &d->x_codes, d->n_nodes, d->n_features));
    for (int k = 0; k < d->n_columns; k++) {
        const gn_table_column *c = &d->columns[k];
        bool rows = !c->on_edges && c->elem == GN_F32 && (c->data || c->codes.data);
        int64_t cols = 1;
        for (int i = 0; i < c->rank; i++) cols *= c->dim[i];
        if (rows)
            GN_TRY(check_finite(d, c->name, c->data, &c->codes, gn_dataset_rows(d, c->over), cols));
    }
    return NULL;
}
