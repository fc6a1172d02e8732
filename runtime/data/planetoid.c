/* Planetoid's raw files (ind.NAME.x, tx, allx, y, ty, ally, graph, test.index) with the meaning
 * that torch_geometric.io.read_planetoid_data gives them, split "public": the rows of x are for
 * training, the next 500 for validation, the test index for test.  A test index with gaps
 * (CiteSeer) has nodes without features in them. */
#include "runtime/data/csr.h"
#include "runtime/data/folder.h"
#include "runtime/data/mem.h"
#include "runtime/data/pickle.h"
#include "runtime/data/readers.h"
#include "runtime/data/lines.h"

#include <stdio.h>
#include <string.h>

typedef struct labels {
    int64_t rows, classes;
    const gn_ndarray *array;
    const char *origin;
} labels;

/* Everything that must be given back, whatever happens. */
typedef struct work {
    gn_arena arena;
    gn_csr *allx, *tx, *x;
    int64_t *test; /* as the file orders it */
    int64_t n_test, first, span;
    int64_t *from; /* [n_nodes] row of allx over tx that a node's data come from, -1 for none */
    const gn_pickle_value **neighbours;
    gn_edges edges;
    gn_dataset *d;
} work;

static gn_status *to_csr(gn_arena *a, const gn_input *f, gn_csr **out)
{
    const char *origin = f->origin;
    gn_pickle_value *v;
    GN_TRY(gn_pickle_parse(a, f->bytes, f->n, origin, &v));
    return gn_pickle_matrix(v, origin, out);
}

/* x itself repeats allx's first rows: only its shape matters, and that it is there. */
static gn_status *check_x(work *w, const gn_input *f, int64_t train)
{
    gn_csr *x;
    GN_TRY(to_csr(&w->arena, &f[GN_PLANETOID_X], &x));
    int64_t rows = x->rows, cols = x->cols;
    gn_csr_free(x);
    if (rows != train || cols != w->allx->cols)
        GN_FAIL(GN_ERR_DATA,
                "%s: %lld x %lld: expected %lld rows as in y and %lld columns as in allx",
                f[GN_PLANETOID_X].origin, (long long)rows, (long long)cols, (long long)train,
                (long long)w->allx->cols);
    return NULL;
}

static gn_status *to_labels(gn_arena *a, const gn_input *f, labels *out)
{
    const char *origin = f->origin;
    gn_pickle_value *v;
    GN_TRY(gn_pickle_parse(a, f->bytes, f->n, origin, &v));
    if (v->kind != GN_PICKLE_ARRAY || v->u.array->rank != 2 || v->u.array->dim[1] < 1)
        GN_FAIL(GN_ERR_DATA, "%s: expected a matrix of one-hot labels, found %s", origin,
                gn_pickle_kind_name(v->kind));
    *out = (labels){v->u.array->dim[0], v->u.array->dim[1], v->u.array, origin};
    return NULL;
}

static gn_status *read_test_index(work *w, const gn_input *f)
{
    const char *origin = f->origin;
    gn_text t = {f->bytes, (const char *)f->bytes + f->n, 0};
    gn_span line, word, rest;
    GN_MEM(w->test, f->n / 2 + 1);
    int64_t last = -1;
    while (gn_text_line(&t, &line)) {
        int64_t v;
        if (!gn_text_word(&line, &word)) continue;
        if (!gn_span_int(word, &v) || v < 0 || v > GN_MAX_NODES || gn_text_word(&line, &rest))
            GN_FAIL(GN_ERR_DATA, "%s:%lld: '%s': expected one node a line", origin,
                    (long long)t.line, gn_span_show(word).s);
        if (w->n_test == 0 || v < w->first) w->first = v;
        if (v > last) last = v;
        w->test[w->n_test++] = v;
    }
    if (w->n_test == 0) GN_FAIL(GN_ERR_DATA, "%s: expected one node a line, found none", origin);
    w->span = last - w->first + 1;
    if (w->span > w->n_test * 8 + 1000)
        GN_FAIL(GN_ERR_DATA, "%s: %lld nodes spread over %lld: expected a test index with few gaps",
                origin, (long long)w->n_test, (long long)w->span);
    return NULL;
}

/* Row i of tx belongs to node test[i]; nodes in gaps have none. */
static gn_status *map_rows(work *w, int64_t before, const char *origin)
{
    int64_t n = before + w->span;
    if (w->first != before)
        GN_FAIL(GN_ERR_DATA,
                "%s: the least node is %lld, expected %lld, the number of rows in allx", origin,
                (long long)w->first, (long long)before);
    GN_MEM(w->from, n);
    for (int64_t i = 0; i < n; i++) w->from[i] = i < before ? i : -1;
    for (int64_t i = 0; i < w->n_test; i++) {
        if (w->from[w->test[i]] != -1)
            GN_FAIL(GN_ERR_DATA, "%s: node %lld is listed twice", origin, (long long)w->test[i]);
        w->from[w->test[i]] = before + i;
    }
    return NULL;
}

static gn_status *read_features(work *w, const gn_input *f)
{
    gn_csr *all = NULL;
    if (w->tx->cols != w->allx->cols)
        GN_FAIL(GN_ERR_DATA, "%s: %lld columns, but allx has %lld", f[GN_PLANETOID_TX].origin,
                (long long)w->tx->cols, (long long)w->allx->cols);
    if (w->tx->rows != w->n_test)
        GN_FAIL(GN_ERR_DATA, "%s: %lld rows, but the test index has %lld nodes",
                f[GN_PLANETOID_TX].origin, (long long)w->tx->rows, (long long)w->n_test);
    GN_TRY(map_rows(w, w->allx->rows, f[GN_PLANETOID_TEST_INDEX].origin));
    GN_TRY(gn_csr_stack(w->allx, w->tx, &all));
    gn_status *s = gn_csr_select_rows(all, w->from, w->allx->rows + w->span, &w->x);
    gn_csr_free(all);
    return s;
}

/* The first of the largest columns, as max(dim=1) gives; a row of zeros is class 0. */
static int32_t class_of(const labels *l, int64_t row)
{
    int64_t best = 0;
    double most = gn_ndarray_f64(l->array, row * l->classes);
    for (int64_t c = 1; c < l->classes; c++) {
        double v = gn_ndarray_f64(l->array, row * l->classes + c);
        if (v > most) {
            most = v;
            best = c;
        }
    }
    return (int32_t)best;
}

static gn_status *read_labels(work *w, const gn_input *f)
{
    labels y, ty, ally;
    GN_TRY(to_labels(&w->arena, &f[GN_PLANETOID_Y], &y));
    GN_TRY(to_labels(&w->arena, &f[GN_PLANETOID_TY], &ty));
    GN_TRY(to_labels(&w->arena, &f[GN_PLANETOID_ALLY], &ally));
    if (y.classes != ally.classes || ty.classes != ally.classes || ally.classes > INT32_MAX)
        GN_FAIL(GN_ERR_DATA,
                "%s: y, ty and ally have %lld, %lld and %lld classes: expected the same", y.origin,
                (long long)y.classes, (long long)ty.classes, (long long)ally.classes);
    if (ally.rows != w->allx->rows || ty.rows != w->tx->rows || y.rows > ally.rows)
        GN_FAIL(GN_ERR_DATA,
                "%s: %lld, %s: %lld, %s: %lld rows: expected as many as in x, tx and allx",
                y.origin, (long long)y.rows, ty.origin, (long long)ty.rows, ally.origin,
                (long long)ally.rows);
    GN_TRY(check_x(w, f, y.rows));
    gn_dataset *d = w->d;
    GN_TRY(gn_dataset_labels(d));
    d->n_classes = ally.classes;
    for (int64_t i = 0; i < d->n_nodes; i++) {
        int64_t row = w->from[i];
        d->y[i] = row < 0           ? 0
                  : row < ally.rows ? class_of(&ally, row)
                                    : class_of(&ty, row - ally.rows);
        if (i < y.rows) d->train_mask[i] = 1;
        if (i >= y.rows && i < y.rows + 500 && i < ally.rows) d->val_mask[i] = 1;
    }
    for (int64_t i = 0; i < w->n_test; i++) d->test_mask[w->test[i]] = 1;
    return NULL;
}

/* A later entry of a dict replaces an earlier one of the same key. */
static gn_status *by_node(work *w, const gn_pickle_value *dict, const char *origin)
{
    int64_t n = w->d->n_nodes;
    if (dict->kind != GN_PICKLE_DICT)
        GN_FAIL(GN_ERR_DATA, "%s: expected a dict of neighbours, found %s", origin,
                gn_pickle_kind_name(dict->kind));
    GN_MEM(w->neighbours, n);
    for (uint32_t i = 0; i < dict->n; i += 2) {
        const gn_pickle_value *key = dict->u.item[i], *list = dict->u.item[i + 1];
        if (key->kind != GN_PICKLE_INT || key->u.i < 0 || key->u.i >= n)
            GN_FAIL(GN_ERR_DATA, "%s: key %u: expected a node below %lld", origin, i / 2,
                    (long long)n);
        if (list->kind != GN_PICKLE_LIST && list->kind != GN_PICKLE_TUPLE)
            GN_FAIL(GN_ERR_DATA, "%s: node %lld: expected a list of neighbours, found %s", origin,
                    (long long)key->u.i, gn_pickle_kind_name(list->kind));
        w->neighbours[key->u.i] = list;
    }
    return NULL;
}

static gn_status *read_graph(work *w, const gn_input *f)
{
    const char *origin = f->origin;
    gn_pickle_value *dict;
    int64_t n = w->d->n_nodes, total = 0;
    GN_TRY(gn_pickle_parse(&w->arena, f->bytes, f->n, origin, &dict));
    GN_TRY(by_node(w, dict, origin));
    for (int64_t i = 0; i < n; i++) total += w->neighbours[i] ? w->neighbours[i]->n : 0;
    if ((uint64_t)total > f->n) /* one list under many keys */
        GN_FAIL(GN_ERR_DATA, "%s: %lld neighbours in %zu bytes: lists are shared, refused", origin,
                (long long)total, f->n);
    GN_TRY(gn_edges_reserve(&w->edges, total, false));
    for (int64_t i = 0; i < n; i++) {
        for (uint32_t k = 0; w->neighbours[i] && k < w->neighbours[i]->n; k++) {
            const gn_pickle_value *v = w->neighbours[i]->u.item[k];
            if (v->kind != GN_PICKLE_INT || v->u.i < 0 || v->u.i >= n)
                GN_FAIL(GN_ERR_DATA, "%s: node %lld, neighbour %u: expected a node below %lld",
                        origin, (long long)i, k, (long long)n);
            GN_TRY(gn_edges_push(&w->edges, i, v->u.i));
        }
    }
    gn_edges_remove_loops(&w->edges);
    GN_TRY(gn_edges_coalesce(&w->edges, true));
    gn_edges_give(&w->edges, w->d);
    return NULL;
}

static gn_status *parse(work *w, const gn_input *f)
{
    GN_TRY(read_test_index(w, &f[GN_PLANETOID_TEST_INDEX]));
    GN_TRY(to_csr(&w->arena, &f[GN_PLANETOID_ALLX], &w->allx));
    GN_TRY(to_csr(&w->arena, &f[GN_PLANETOID_TX], &w->tx));
    GN_TRY(read_features(w, f));
    GN_TRY(gn_dataset_new(NULL, &w->d));
    w->d->n_nodes = w->x->rows;
    w->d->n_features = w->x->cols;
    w->d->x_csr = w->x;
    w->x = NULL;
    GN_TRY(read_labels(w, f));
    return read_graph(w, &f[GN_PLANETOID_GRAPH]);
}

gn_status *gn_planetoid_parse(const gn_input *f, gn_dataset **out)
{
    work w = {0};
    gn_arena_init(&w.arena);
    gn_status *s = parse(&w, f);
    gn_arena_free(&w.arena);
    gn_csr_free(w.allx);
    gn_csr_free(w.tx);
    gn_csr_free(w.x);
    gn_edges_free(&w.edges);
    free(w.test);
    free(w.from);
    free(w.neighbours);
    if (s)
        gn_dataset_free(w.d);
    else
        *out = w.d;
    return s;
}

/* ---- the folder ---- */

static gn_status *read_parts(const char *folder, const char *name, gn_folder_file *part)
{
    static const char *const suffix[GN_PLANETOID_PARTS] = {"x",  "tx",   "allx",  "y",
                                                           "ty", "ally", "graph", "test.index"};
    for (int i = 0; i < GN_PLANETOID_PARTS; i++) {
        char file[256];
        int n = snprintf(file, sizeof file, "ind.%s.%s", name, suffix[i]);
        if (n < 0 || (size_t)n >= sizeof file)
            GN_FAIL(GN_ERR_IO, "the name '%.200s...' is too long", name);
        GN_TRY(gn_folder_read(folder, file, true, &part[i]));
    }
    return NULL;
}

static gn_status *read_named(const char *folder, const char *name, gn_dataset **out)
{
    gn_folder_file part[GN_PLANETOID_PARTS] = {0};
    gn_input input[GN_PLANETOID_PARTS];
    gn_status *s = read_parts(folder, name, part);
    for (int i = 0; i < GN_PLANETOID_PARTS; i++) input[i] = gn_folder_input(&part[i]);
    if (!s) s = gn_planetoid_parse(input, out);
    for (int i = 0; i < GN_PLANETOID_PARTS; i++) gn_folder_free(&part[i]);
    return s;
}

gn_status *gn_planetoid_read(const char *folder, const char *name, gn_reading *r, gn_dataset **out)
{
    if (strncmp(name, "nell", 4) == 0)
        GN_FAIL(GN_ERR_DATA, "'%s': NELL's variant of the Planetoid layout is not read", r->origin);
    GN_TRY(read_named(folder, name, out));
    free((*out)->name);
    (*out)->name = strdup(name);
    r->normalize_default = true;
    return NULL;
}
