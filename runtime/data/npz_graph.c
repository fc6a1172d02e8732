/* Graphs in .npz files, in six layouts:
 *
 * gnn-benchmark  adj_{data,indices,indptr,shape}, attr_{...}, labels: as
 *                torch_geometric.io.read_npz reads it: loops removed, both directions, features
 *                above 0 become 1.  Without attr_* and labels it is a bare adjacency matrix:
 *                direction, loops and weights are kept.
 * heterophilous  node_features, node_labels, edges, {train,val,test}_masks [splits, nodes]: both
 *                directions.
 * plain          edge_index [2, E] or edges [E, 2], or src and dst, or row and col, and any of x,
 *                y, edge_weight, edge_attr, num_nodes and {train,val,test}_mask or
 *                {train,valid,test}_idx: kept as stored.
 * matrix         adj_matrix, adjacency, adj or A, dense or a pickled matrix of scipy, and what
 *                plain has: kept as stored.
 * scipy          indices, indptr, shape, format (csr, csc), or row, col, shape, and data: what
 *                scipy.sparse.save_npz writes, as a bare adjacency matrix.
 *
 * typed          NAME.edge_index and others, of types of nodes: npz_typed.c.
 *
 * Arrays of other names are kept as they are.  With graph_of_node, or batch, nodes are those of
 * many small graphs, and labels may be of these.
 *
 * https://github.com/shchur/gnn-benchmark,
 * https://github.com/yandex-research/heterophilous-graphs */
#include "runtime/data/csr.h"
#include "runtime/data/mem.h"
#include "runtime/data/npz.h"
#include "runtime/data/npz_more.h"
#include "runtime/data/npz_names.h"
#include "runtime/data/npz_split.h"
#include "runtime/data/npz_typed.h"
#include "runtime/data/npz_values.h"
#include "runtime/data/readers.h"
#include "runtime/data/lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct loader {
    gn_npz *zip;
    gn_reading *r;
    gn_dataset *d;
    gn_edges edges;
    gn_npz_choice x, y;  /* features and labels */
    const char *graph;   /* an array of others' that says the graph of each node; NULL: none */
    const char *counted; /* the array that said how many nodes there are, for who reads it next;
                            NULL: none */
    gn_ndarray rows;
} loader;

static gn_status *read_array(loader *l, const char *key, gn_ndarray *out)
{
    if (l->counted && !strcmp(key, l->counted)) {
        *out = l->rows;
        l->counted = NULL;
        return NULL;
    }
    return gn_npz_array(l->zip, key, out);
}

static gn_status *bad_shape(const loader *l, const char *key, const gn_ndarray *a,
                            const char *expected)
{
    return gn_npz_bad_shape(l->zip, key, a, expected);
}

static gn_status *read_vector(loader *l, const char *key, int64_t length, gn_ndarray *a)
{
    GN_TRY(read_array(l, key, a));
    if (a->rank == 1 && (length < 0 || a->dim[0] == length)) return NULL;
    char expected[48];
    snprintf(expected, sizeof expected, length < 0 ? "a vector" : "[%lld]", (long long)length);
    gn_status *s = bad_shape(l, key, a, expected);
    gn_ndarray_free(a);
    return s;
}

/* ---- labels, features ---- */

static gn_status *read_labels(loader *l, const char *key)
{
    gn_ndarray a;
    if (!key) return NULL;
    GN_TRY(read_array(l, key, &a));
    bool of_graphs = l->d->n_tables && a.rank > 0 && a.dim[0] == gn_dataset_rows(l->d, 1);
    if (of_graphs) l->d->labelled = 1;
    gn_status *s = gn_npz_labels(l->zip, key, &a, l->d);
    gn_ndarray_free(&a);
    return s;
}

static gn_status *read_floats(loader *l, const char *key, int64_t rows, float **out, int64_t *cols)
{
    gn_ndarray a;
    GN_TRY(read_array(l, key, &a));
    gn_status *s = gn_npz_floats(l->zip, key, &a, rows, out, cols);
    gn_ndarray_free(&a);
    return s;
}

/* Sparse ones, of a pickle, stay sparse. */
static gn_status *read_features(loader *l, const char *key)
{
    gn_dataset *d = l->d;
    if (!key) return NULL;
    if (!gn_npz_is_sparse(l->zip, key))
        return read_floats(l, key, d->n_nodes, &d->x, &d->n_features);
    if (!d->x_csr)
        GN_TRY(gn_npz_matrix(l->zip, key, &d->x_csr)); /* it may have said how many nodes there are
                                                        */
    d->n_features = d->x_csr->cols;
    if (d->x_csr->rows == d->n_nodes) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: %s: %lld rows, but there are %lld nodes", l->r->origin, key,
            (long long)d->x_csr->rows, (long long)d->n_nodes);
}

/* ---- gnn-benchmark ---- */

static gn_status *check_square(const loader *l, int64_t rows, int64_t cols)
{
    if (rows == cols && rows >= 0 && rows <= GN_MAX_NODES) return NULL;
    GN_FAIL(GN_ERR_DATA,
            "%s: %lld x %lld: expected a square matrix, one row and column a node, at most %lld",
            l->r->origin, (long long)rows, (long long)cols, (long long)GN_MAX_NODES);
}

static gn_status *read_shape(loader *l, const char *prefix, gn_csr_arrays *m)
{
    char key[32];
    gn_ndarray a;
    snprintf(key, sizeof key, "%sshape", prefix);
    GN_TRY(read_vector(l, key, 2, &a));
    bool good = gn_ndarray_i64(&a, 0, &m->rows) && gn_ndarray_i64(&a, 1, &m->cols);
    gn_ndarray_free(&a);
    if (!good) GN_FAIL(GN_ERR_DATA, "%s: %s: expected rows and columns", l->r->origin, key);
    return NULL;
}

/* PREFIX{data,indices,indptr,shape} as a matrix; repeated entries are added and zeros dropped, as
 * scipy does. */
static gn_status *read_matrix(loader *l, const char *prefix, bool square, gn_csr **out)
{
    gn_csr_arrays m = {0};
    gn_ndarray *const part[] = {&m.data, &m.indices, &m.indptr};
    static const char *const names[] = {"data", "indices", "indptr"};
    char key[32], what[512];
    gn_status *s = read_shape(l, prefix, &m);
    if (!s && square) s = check_square(l, m.rows, m.cols);
    for (int k = 0; k < 3 && !s; k++) {
        snprintf(key, sizeof key, "%s%s", prefix, names[k]);
        s = read_vector(l, key, -1, part[k]);
    }
    snprintf(what, sizeof what, "%s: %s", l->r->origin, *prefix ? prefix : "matrix");
    if (!s) s = gn_csr_from_arrays(&m, what, out);
    for (int k = 0; k < 3; k++) gn_ndarray_free(part[k]);
    return s;
}

static gn_status *push_entry(loader *l, int64_t src, int64_t dst, bool weighted, float weight)
{
    return weighted ? gn_edges_push_weighted(&l->edges, src, dst, weight)
                    : gn_edges_push(&l->edges, src, dst);
}

/* Entry (i, j) is the edge i -> j; `by_columns`: columns were read as rows, so `adj` is the
 * transpose. */
static gn_status *edges_of(loader *l, const gn_csr *adj, bool bare, bool by_columns)
{
    bool weighted = false;
    for (int64_t i = 0; bare && i < adj->nnz && !weighted; i++) weighted = adj->val[i] != 1;
    GN_TRY(gn_edges_reserve(&l->edges, adj->nnz, weighted));
    for (int64_t r = 0; r < adj->rows; r++) {
        for (int64_t i = adj->ptr[r]; i < adj->ptr[r + 1]; i++) {
            int64_t c = adj->col[i];
            GN_TRY(push_entry(l, by_columns ? c : r, by_columns ? r : c, weighted, adj->val[i]));
        }
    }
    return NULL;
}

static gn_status *read_square(loader *l, const char *prefix, bool bare, bool by_columns)
{
    gn_csr *adj;
    GN_TRY(read_matrix(l, prefix, true, &adj));
    l->d->n_nodes = adj->rows;
    gn_status *s = edges_of(l, adj, bare, by_columns);
    gn_csr_free(adj);
    return s;
}

static gn_status *read_adjacency(loader *l, bool bare)
{
    GN_TRY(read_square(l, "adj_", bare, false));
    if (bare) return NULL;
    gn_edges_remove_loops(&l->edges);
    l->r->undirected = l->r->opt->undirected != 0;
    return l->r->undirected ? gn_edges_to_undirected(&l->edges) : NULL;
}

static gn_status *read_benchmark(loader *l)
{
    bool attr = gn_npz_has(l->zip, "attr_shape"), labels = gn_npz_has(l->zip, "labels");
    bool matrix = !attr && gn_npz_has(l->zip, "attr_matrix");
    gn_dataset *d = l->d;
    GN_TRY(read_adjacency(l, !attr && !matrix && !labels));
    if (matrix) GN_TRY(read_features(l, "attr_matrix"));
    if (attr) {
        GN_TRY(read_matrix(l, "attr_", false, &d->x_csr));
        d->n_features = d->x_csr->cols;
        if (d->x_csr->rows != d->n_nodes)
            GN_FAIL(GN_ERR_DATA, "%s: attr: %lld rows, but there are %lld nodes", l->r->origin,
                    (long long)d->x_csr->rows, (long long)d->n_nodes);
        for (int64_t i = 0; i < d->x_csr->nnz; i++)
            if (d->x_csr->val[i] > 0) d->x_csr->val[i] = 1;
    }
    return labels ? read_labels(l, "labels") : NULL;
}

/* ---- scipy.sparse.save_npz ---- */

static gn_status *push_coo(loader *l, const gn_ndarray *row, const gn_ndarray *col,
                           const gn_ndarray *val)
{
    bool weighted = false;
    for (int64_t e = 0; e < row->count && !weighted; e++) weighted = gn_ndarray_f64(val, e) != 1;
    GN_TRY(gn_edges_reserve(&l->edges, row->count, weighted));
    for (int64_t e = 0; e < row->count; e++) {
        int64_t i, j;
        if (!gn_ndarray_i64(row, e, &i) || !gn_ndarray_i64(col, e, &j) || i < 0 || j < 0 ||
            i >= l->d->n_nodes || j >= l->d->n_nodes)
            GN_FAIL(GN_ERR_DATA, "%s: entry %lld is (%g, %g): expected rows and columns below %lld",
                    l->r->origin, (long long)e, gn_ndarray_f64(row, e), gn_ndarray_f64(col, e),
                    (long long)l->d->n_nodes);
        GN_TRY(push_entry(l, i, j, weighted, (float)gn_ndarray_f64(val, e)));
    }
    return NULL;
}

/* row, col, data, shape: entries in their order, repeats too. */
static gn_status *read_coo(loader *l)
{
    gn_csr_arrays m = {0};
    gn_ndarray row = {0}, col = {0}, val = {0};
    GN_TRY(read_shape(l, "", &m));
    GN_TRY(check_square(l, m.rows, m.cols));
    l->d->n_nodes = m.rows;
    gn_status *s = read_vector(l, "row", -1, &row);
    if (!s) s = read_vector(l, "col", row.count, &col);
    if (!s) s = read_vector(l, "data", row.count, &val);
    if (!s) s = push_coo(l, &row, &col, &val);
    gn_ndarray_free(&row);
    gn_ndarray_free(&col);
    gn_ndarray_free(&val);
    return s;
}

static gn_status *read_scipy(loader *l)
{
    char format[16]; /* "csr", "csc", ... */
    GN_TRY(gn_npz_text(l->zip, "format", format, sizeof format));
    gn_npz_know(l->zip, "_is_array", true); /* of sparse arrays, as apart from matrices */
    if (!strcmp(format, "coo")) return read_coo(l);
    bool by_columns = !strcmp(format, "csc");
    if (!by_columns && strcmp(format, "csr") != 0)
        GN_FAIL(GN_ERR_DATA, "%s: a matrix of scipy in the format '%s': expected csr, csc or coo",
                l->r->origin, gn_span_show((gn_span){format, format + strlen(format)}).s);
    return read_square(l, "", true, by_columns);
}

/* ---- edges as pairs ---- */

static gn_status *push_pairs(loader *l, const char *key, const gn_ndarray *a, bool columns)
{
    int64_t n = columns ? a->dim[1] : a->dim[0];
    GN_TRY(gn_edges_reserve(&l->edges, n, false));
    for (int64_t e = 0; e < n; e++) {
        int64_t end[2];
        for (int k = 0; k < 2; k++) {
            int64_t at = columns ? k * n + e : e * 2 + k;
            if (!gn_ndarray_i64(a, at, &end[k]) || end[k] < 0 || end[k] >= GN_MAX_NODES)
                GN_FAIL(GN_ERR_DATA, "%s: %s: edge %lld ends at %g: expected a node from 0 to %lld",
                        l->r->origin, key, (long long)e, gn_ndarray_f64(a, at),
                        (long long)GN_MAX_NODES - 1);
        }
        GN_TRY(gn_edges_push(&l->edges, end[0], end[1]));
    }
    return NULL;
}

static gn_status *read_pairs(loader *l, const char *key)
{
    gn_ndarray a;
    GN_TRY(read_array(l, key, &a));
    bool columns = strcmp(key, "edge_index") == 0;
    gn_status *s = a.rank == 2 && a.dim[columns ? 0 : 1] == 2
                       ? push_pairs(l, key, &a, columns)
                       : bad_shape(l, key, &a,
                                   columns ? "[2, edges]; [edges, 2] is read under `edges`"
                                           : "[edges, 2]");
    gn_ndarray_free(&a);
    return s;
}

/* Sources and targets apart. */
static gn_status *push_ends(loader *l, const char *const key[2], const gn_ndarray end[2])
{
    GN_TRY(gn_edges_reserve(&l->edges, end[0].count, false));
    for (int64_t e = 0; e < end[0].count; e++) {
        int64_t v[2];
        for (int k = 0; k < 2; k++)
            if (!gn_ndarray_i64(&end[k], e, &v[k]) || v[k] < 0 || v[k] >= GN_MAX_NODES)
                GN_FAIL(GN_ERR_DATA, "%s: %s[%lld] is %g: expected a node from 0 to %lld",
                        l->r->origin, key[k], (long long)e, gn_ndarray_f64(&end[k], e),
                        (long long)GN_MAX_NODES - 1);
        GN_TRY(gn_edges_push(&l->edges, v[0], v[1]));
    }
    return NULL;
}

static gn_status *read_ends(loader *l, const char *const key[2])
{
    gn_ndarray end[2] = {0};
    gn_status *s = read_vector(l, key[0], -1, &end[0]);
    if (!s) s = read_vector(l, key[1], end[0].count, &end[1]);
    if (!s) s = push_ends(l, key, end);
    gn_ndarray_free(&end[0]);
    gn_ndarray_free(&end[1]);
    return s;
}

/* ---- how many nodes ---- */

static int64_t named_nodes(const gn_edges *e)
{
    int64_t n = 0;
    for (int64_t i = 0; i < e->n; i++) {
        if (e->src[i] >= n) n = e->src[i] + 1;
        if (e->dst[i] >= n) n = e->dst[i] + 1;
    }
    return n;
}

static bool names_node_0(const gn_edges *e)
{
    for (int64_t i = 0; i < e->n; i++)
        if (e->src[i] == 0 || e->dst[i] == 0) return true;
    return false;
}

/* num_nodes, or the rows of an array, which is kept for who reads it next. */
static gn_status *read_count(loader *l, const char *key, int64_t *out)
{
    gn_ndarray a;
    bool number = strcmp(key, "num_nodes") == 0;
    if (key == l->x.key && gn_npz_is_sparse(l->zip, key)) {
        GN_TRY(gn_npz_matrix(l->zip, key, &l->d->x_csr));
        *out = l->d->x_csr->rows;
        return NULL;
    }
    GN_TRY(read_array(l, key, &a));
    bool good = number ? a.count == 1 && gn_ndarray_i64(&a, 0, out) : a.rank >= 1;
    if (good && !number) {
        *out = a.dim[0];
        l->counted = key;
        l->rows = a;
    } else {
        gn_ndarray_free(&a);
    }
    if (good) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: %s: expected %s", l->r->origin, key,
            number ? "one whole number" : "a row a node");
}

static const char of_graph[] = "graph_of_node";

/* As many nodes as num_nodes says, or the features, or the labels, or the largest end. */
static gn_status *count_nodes(loader *l)
{
    int64_t n = named_nodes(&l->edges);
    const char *key = gn_npz_has(l->zip, "num_nodes") ? "num_nodes"
                      : l->x.key                      ? l->x.key
                      : gn_npz_has(l->zip, of_graph)  ? of_graph
                                                      : l->y.key;
    l->d->n_nodes = n;
    if (!key) {
        GN_TRY(gn_edges_check_gaps(l->r->origin, n, l->edges.n));
        return gn_edges_remark_gaps(&l->edges, n, l->d);
    }
    GN_TRY(read_count(l, key, &l->d->n_nodes));
    if (l->d->n_nodes < n || l->d->n_nodes > GN_MAX_NODES)
        GN_FAIL(GN_ERR_DATA, "%s: %s: says %lld nodes: expected %lld, as the edges name, to %lld%s",
                l->r->origin, key, (long long)l->d->n_nodes, (long long)n, (long long)GN_MAX_NODES,
                l->d->n_nodes == n - 1 && !names_node_0(&l->edges)
                    ? "; no edge names node 0: nodes count from 0, and these from 1"
                    : "");
    return NULL;
}

static gn_status *read_edge_values(loader *l, bool reversed)
{
    static const char *const attr_keys[] = {"edge_attr", "edge_feat", NULL};
    const char *attr = gn_npz_first_of(l->zip, attr_keys);
    gn_dataset *d = l->d;
    int64_t one;
    if (gn_npz_has(l->zip, "edge_weight")) {
        GN_TRY(read_floats(l, "edge_weight", l->edges.n, &l->edges.weight, &one));
        if (one != 1)
            GN_FAIL(GN_ERR_DATA, "%s: edge_weight: expected one number an edge", l->r->origin);
    }
    if (!attr) return NULL;
    if (reversed)
        GN_FAIL(
            GN_ERR_USAGE,
            "%s: edges with attributes cannot be made undirected; --undirected off leaves them as "
            "they are stored",
            l->r->origin);
    return read_floats(l, attr, l->edges.n, &d->edge_attr, &d->edge_dim);
}

/* Many small graphs: nodes are in relation to theirs.  `batch` may be an input of a model, too, and
 * is nothing but that where its numbers are others. */
static gn_status *read_graphs(loader *l)
{
    static const char batch[] = "batch";
    gn_ndarray a;
    bool named = gn_npz_has(l->zip, of_graph), good = false;
    if (!named && !gn_npz_has(l->zip, batch)) return NULL;
    gn_status *s = read_array(l, named ? of_graph : batch, &a);
    if (!named) gn_npz_know(l->zip, batch, false);
    if (s && (named || gn_status_code(s) == GN_ERR_NOMEM)) return s;
    if (!s) good = named || gn_npz_is_batch(&a, l->d->n_nodes);
    if (good) s = gn_npz_graphs(l->zip, named ? of_graph : batch, &a, l->d);
    if (good && !named) l->graph = batch;
    if (!good) gn_status_free(s);
    if (!good && s) return NULL;
    gn_ndarray_free(&a);
    return s;
}

/* What lies on nodes and edges, behind the edges and the number of nodes. */
static gn_status *read_values(loader *l)
{
    bool heterophilous = gn_npz_has(l->zip, "train_masks") && gn_npz_has(l->zip, "edges");
    bool reversed = heterophilous && l->r->opt->undirected != 0;
    GN_TRY(read_edge_values(l, reversed || l->r->opt->undirected == 1));
    if (reversed) {
        GN_TRY(gn_edges_to_undirected(&l->edges));
        l->r->undirected = true;
    }
    GN_TRY(read_graphs(l));
    GN_TRY(read_features(l, l->x.key));
    GN_TRY(read_labels(l, l->y.key));
    return gn_npz_read_split(l->zip, "", l->r, l->d);
}

static gn_status *read_plain(loader *l)
{
    int64_t n = named_nodes(&l->edges);
    bool from_1 = !names_node_0(&l->edges); /* then one too few may be meant, which is said */
    gn_npz_rows r = {.exact = -1, .least = n - from_1, .named = n, .edges = l->edges.n};
    bool number = gn_npz_has(l->zip, "num_nodes");
    if (!number) GN_TRY(gn_npz_choose_x(l->zip, &r, &l->x));
    if (!number && !l->x.key) GN_TRY(gn_npz_choose_y(l->zip, &r, &l->y));
    GN_TRY(count_nodes(l));
    r.exact = l->d->n_nodes;
    if (number) GN_TRY(gn_npz_choose_x(l->zip, &r, &l->x));
    if (!l->y.key) GN_TRY(gn_npz_choose_y(l->zip, &r, &l->y));
    return read_values(l);
}

/* A matrix under a name of its own, sparse in a pickle or dense. */
static gn_status *read_own_matrix(loader *l, const char *key)
{
    gn_csr *adj;
    GN_TRY(gn_npz_matrix(l->zip, key, &adj));
    l->d->n_nodes = adj->rows;
    gn_status *s = check_square(l, adj->rows, adj->cols);
    if (!s) s = edges_of(l, adj, true, false);
    gn_csr_free(adj);
    gn_npz_rows r = {.exact = l->d->n_nodes};
    if (!s) s = gn_npz_choose_x(l->zip, &r, &l->x);
    if (!s) s = gn_npz_choose_y(l->zip, &r, &l->y);
    return s ? s : read_values(l);
}

/* What there is, for who looks for the name of something. */
static void list_arrays(const loader *l, char *text, size_t size)
{
    enum { SHOWN = 8 };
    size_t n = 0;
    int count = gn_npz_count(l->zip);
    *text = 0;
    for (int k = 0; k < count && k < SHOWN && n < size; k++)
        n += (size_t)snprintf(text + n, size - n, "%s`%.40s`", k ? ", " : "",
                              gn_npz_name(l->zip, k));
    if (count > SHOWN && n < size) snprintf(text + n, size - n, " and %d more", count - SHOWN);
}

static bool is_of_torch(const gn_npz *z)
{
    static const char pickle[] = "data.pkl";
    for (int k = 0; k < gn_npz_count(z); k++) {
        const char *name = gn_npz_name(z, k), *slash = strrchr(name, '/');
        if (!strcmp(slash ? slash + 1 : name, pickle)) return true;
    }
    return false;
}

static gn_status *load(loader *l)
{
    static const char *const edge_keys[] = {"edge_index", "edges", "edge_list", NULL};
    static const char *const matrix_keys[] = {"adj_matrix", "adjacency", "adj", "A", NULL};
    static const char *const ends[][2] = {{"src", "dst"}, {"row", "col"}};
    char text[512];
    if (gn_npz_is_typed(l->zip)) return gn_npz_read_typed(l->zip, l->r, l->d);
    if (gn_npz_has(l->zip, "adj_indptr")) return read_benchmark(l);
    const char *edges = gn_npz_first_of(l->zip, edge_keys),
               *matrix = gn_npz_first_of(l->zip, matrix_keys);
    if (edges) {
        GN_TRY(read_pairs(l, edges));
        return read_plain(l);
    }
    if (matrix) return read_own_matrix(l, matrix);
    if (gn_npz_has(l->zip, "format") && gn_npz_has(l->zip, "shape")) return read_scipy(l);
    for (int k = 0; k < 2; k++) {
        if (!gn_npz_has(l->zip, ends[k][0]) || !gn_npz_has(l->zip, ends[k][1])) continue;
        GN_TRY(read_ends(l, ends[k]));
        return read_plain(l);
    }
    if (is_of_torch(l->zip))
        GN_FAIL(GN_ERR_DATA,
                "%s: a file of torch.save: expected .npz; in Python: d = torch.load(FILE, "
                "weights_only=False); "
                "numpy.savez(\"own.npz\", edge_index=d.edge_index, x=d.x, y=d.y, "
                "train_mask=d.train_mask, "
                "val_mask=d.val_mask, test_mask=d.test_mask)",
                l->r->origin);
    list_arrays(l, text, sizeof text);
    GN_FAIL(GN_ERR_DATA,
            "%s: no graph: expected arrays edge_index or edges, or adj_indptr, adj_indices, ..., "
            "or a sparse matrix of "
            "scipy; it has %s",
            l->r->origin, *text ? text : "none");
}

/* Under the names of others, features, labels and graphs are arrays of the user's as well. */
static gn_status *read_more(loader *l)
{
    enum { ALSO = 3 };
    const char *also[ALSO] = {l->x.also ? l->x.key : NULL, l->y.also ? l->y.key : NULL, l->graph};
    for (int k = 0; k < ALSO; k++)
        if (also[k]) gn_npz_know(l->zip, also[k], false);
    GN_TRY(gn_npz_read_more(l->zip, l->d));
    for (int k = 0; k < ALSO; k++)
        for (int i = 0; also[k] && i < l->d->n_more; i++)
            if (!strcmp(l->d->more[i].name, also[k])) l->d->more[i].also = true;
    return NULL;
}

/* What features are called; under the name of gnn-benchmark only where it fits. */
static gn_status *read_names(loader *l)
{
    static const char *const keys[] = {"feature_names", "attr_names"};
    gn_dataset *d = l->d;
    for (int k = 0; k < 2 && !d->feature_name && d->n_features; k++) {
        int64_t n;
        char **all;
        if (!gn_npz_has(l->zip, keys[k])) continue;
        GN_TRY(gn_npz_texts(l->zip, keys[k], &n, &all));
        if (all && n == d->n_features) {
            d->feature_name = all;
            return NULL;
        }
        for (int64_t i = 0; all && i < n; i++) free(all[i]);
        free(all);
        if (k == 0)
            GN_FAIL(GN_ERR_DATA, "%s: %s: expected %lld strings, one for each feature, found %lld",
                    l->r->origin, keys[k], (long long)d->n_features, (long long)n);
    }
    return NULL;
}

gn_status *gn_npz_parse(const void *bytes, size_t n, gn_reading *r, gn_dataset **out)
{
    loader l = {.r = r};
    gn_status *s = gn_npz_open(bytes, n, r->origin, &l.zip);
    if (!s) s = gn_dataset_new_read(r, &l.d);
    if (!s) s = load(&l);
    if (!s) s = read_names(&l);
    if (!s) s = read_more(&l);
    if (l.counted) gn_ndarray_free(&l.rows);
    gn_npz_close(l.zip);
    if (!s) gn_edges_give(&l.edges, l.d);
    gn_edges_free(&l.edges);
    if (s)
        gn_dataset_free(l.d);
    else
        *out = l.d;
    return s;
}
