/* TU folders: NAME_A.txt, NAME_graph_indicator.txt and others, many graphs side by side, counted
 * from 1, as torch_geometric.io.read_tu_data reads them with use_node_attr and use_edge_attr: of
 * nodes and edges the attributes come first, then the labels one-hot, a column for each number from
 * the least to the largest; labels of graphs become 0, 1, ... in their order.  Edges are kept as
 * they are stored, repeats and loops too.
 *
 * https://chrsmrrs.github.io/datasets/docs/format */
#include "runtime/data/csr.h"
#include "runtime/data/folder.h"
#include "runtime/data/mem.h"
#include "runtime/data/rows.h"

#include <stdio.h>
#include <string.h>

enum { WIDE = 64 }; /* more columns of one-hot labels are stored sparse */

/* What lies on the rows of one kind: attributes, then labels. */
typedef struct side {
    const gn_input *label_file, *attr_file;
    const char *what;
    gn_int_rows labels;
    gn_float_rows attrs;
    int64_t *least; /* [labels.cols] */
    int64_t *start; /* [labels.cols] first column of a label's */
    int64_t width;  /* 0: there is nothing */
} side;

typedef struct work {
    const gn_input *file;
    gn_int_rows edges, indicator, graph_labels;
    int64_t *of_node, *node; /* the relation `member` */
    int64_t graphs;
    int space; /* of graphs */
    side nodes, arcs;
    gn_dataset *d;
} work;

static void free_side(side *s)
{
    free(s->labels.v);
    free(s->attrs.v);
    free(s->least);
    free(s->start);
}

/* ---- graphs ---- */

static gn_status *check_rows(const gn_input *f, int64_t rows, int64_t expected, const char *what)
{
    if (rows == expected) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: %lld rows: expected %lld, one for each %s", f->origin,
            (long long)rows, (long long)expected, what);
}

/* How many graphs there are, and of which each node is. */
static gn_status *read_indicator(work *w)
{
    const gn_input *f = &w->file[GN_TU_INDICATOR], *labels = &w->file[GN_TU_GRAPH_LABELS];
    GN_TRY(gn_rows_ints(f, 1, &w->indicator));
    if (labels->bytes) GN_TRY(gn_rows_ints(labels, 1, &w->graph_labels));
    int64_t nodes = w->indicator.rows, last = 0;
    if (nodes == 0 || nodes > GN_MAX_NODES)
        GN_FAIL(GN_ERR_DATA, "%s: %lld nodes: expected a graph's number for each of 1 to %lld",
                f->origin, (long long)nodes, (long long)GN_MAX_NODES);
    for (int64_t i = 0; i < nodes; i++)
        if (w->indicator.v[i] > last) last = w->indicator.v[i];
    w->graphs = labels->bytes ? w->graph_labels.rows : last;
    if (!labels->bytes && w->graphs > nodes)
        GN_FAIL(GN_ERR_DATA, "%s: %lld graphs, and %lld nodes: expected graphs numbered from 1",
                f->origin, (long long)last, (long long)nodes);
    GN_MEM(w->of_node, nodes);
    GN_MEM(w->node, nodes);
    for (int64_t i = 0; i < nodes; i++) {
        int64_t g = w->indicator.v[i];
        if (g < 1 || g > w->graphs)
            GN_ROW_FAIL(f, i, "'%lld': expected a graph from 1 to %lld", (long long)g,
                        (long long)w->graphs);
        w->node[i] = i;
        w->of_node[i] = g - 1;
    }
    return NULL;
}

static gn_status *add_graphs(work *w)
{
    gn_dataset *d = w->d;
    d->n_nodes = w->indicator.rows;
    GN_TRY(gn_dataset_add_table(d, "graph", w->graphs, &w->space));
    int64_t *from = w->node, *to = w->of_node;
    w->node = w->of_node = NULL;
    return gn_dataset_add_relation(d, "member", 0, w->space, d->n_nodes, from, to, NULL);
}

static gn_status *read_edges(work *w)
{
    const gn_input *f = &w->file[GN_TU_A];
    const int64_t *of = w->indicator.v;
    gn_dataset *d = w->d;
    GN_TRY(gn_rows_ints(f, 2, &w->edges));
    int64_t n = w->edges.rows;
    GN_MEM(d->src, n);
    GN_MEM(d->dst, n);
    for (int64_t e = 0; e < n; e++) {
        int64_t end[2] = {w->edges.v[2 * e], w->edges.v[2 * e + 1]};
        for (int k = 0; k < 2; k++)
            if (end[k] < 1 || end[k] > d->n_nodes)
                GN_ROW_FAIL(f, e, "'%lld': expected a node from 1 to %lld", (long long)end[k],
                            (long long)d->n_nodes);
        if (of[end[0] - 1] != of[end[1] - 1])
            GN_ROW_FAIL(f, e, "an edge from graph %lld to graph %lld: expected one graph",
                        (long long)of[end[0] - 1], (long long)of[end[1] - 1]);
        d->src[e] = end[0] - 1;
        d->dst[e] = end[1] - 1;
    }
    d->n_edges = n;
    return NULL;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static gn_status *read_classes(work *w, gn_reading *r)
{
    gn_dataset *d = w->d;
    int64_t *value, n = 0, graphs = w->graphs;
    d->labelled = w->space;
    GN_TRY(gn_dataset_labels(d));
    GN_MEM(value, graphs);
    memcpy(value, w->graph_labels.v, (size_t)graphs * sizeof *value);
    qsort(value, (size_t)graphs, sizeof *value, by_value);
    for (int64_t i = 0; i < graphs; i++)
        if (i == 0 || value[i] != value[n - 1]) value[n++] = value[i];
    for (int64_t i = 0; i < graphs; i++) {
        const int64_t *at = bsearch(&w->graph_labels.v[i], value, (size_t)n, sizeof *value,
                                    by_value);
        d->y[i] = (int32_t)(at - value);
    }
    free(value);
    d->n_classes = n;
    return gn_dataset_draw_folds(d, r);
}

static gn_status *read_targets(work *w)
{
    const gn_input *f = &w->file[GN_TU_GRAPH_ATTRIBUTES];
    gn_float_rows a;
    if (!f->bytes) return NULL;
    GN_TRY(gn_rows_floats(f, 0, &a));
    gn_table_column c = {.over = w->space, .elem = GN_F32, .rank = 1, .dim = {a.cols}, .data = a.v};
    gn_status *s = check_rows(f, a.rows, w->graphs, "graph");
    if (!s) return gn_dataset_add_column(w->d, "attr", &c);
    free(a.v);
    return s;
}

/* ---- what lies on nodes and edges ---- */

/* A column for each number from the least to the largest of each label. */
static gn_status *span_labels(side *s)
{
    const gn_int_rows *l = &s->labels;
    int64_t most;
    GN_MEM(s->least, l->cols);
    GN_MEM(s->start, l->cols);
    for (int64_t k = 0; k < l->cols; k++) {
        int64_t last = s->least[k] = l->v[k], columns;
        for (int64_t i = 0; i < l->rows; i++) {
            int64_t v = l->v[i * l->cols + k];
            if (v < s->least[k]) s->least[k] = v;
            if (v > last) last = v;
        }
        most = l->rows + 1024;
        if (__builtin_sub_overflow(last, s->least[k], &columns) || columns >= most)
            GN_FAIL(GN_ERR_DATA,
                    "%s: labels from %lld to %lld: expected at most %lld apart, as each number "
                    "gets a column",
                    s->label_file->origin, (long long)s->least[k], (long long)last,
                    (long long)most - 1);
        s->start[k] = s->width;
        s->width += columns + 1;
    }
    return NULL;
}

static gn_status *read_side(side *s, int64_t rows)
{
    if (s->attr_file->bytes) {
        GN_TRY(gn_rows_floats(s->attr_file, 0, &s->attrs));
        GN_TRY(check_rows(s->attr_file, s->attrs.rows, rows, s->what));
        s->width = s->attrs.cols;
    }
    if (!s->label_file->bytes) return NULL;
    GN_TRY(gn_rows_ints(s->label_file, 0, &s->labels));
    GN_TRY(check_rows(s->label_file, s->labels.rows, rows, s->what));
    return rows ? span_labels(s) : NULL;
}

static int64_t column_of(const side *s, int64_t row, int64_t label)
{
    return s->start[label] + s->labels.v[row * s->labels.cols + label] - s->least[label];
}

static gn_status *make_dense(const side *s, int64_t rows, float **out)
{
    int64_t total;
    float *x;
    if (__builtin_mul_overflow(rows, s->width, &total)) total = INT64_MAX;
    GN_MEM(x, total);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t k = 0; k < s->attrs.cols; k++)
            x[i * s->width + k] = s->attrs.v[i * s->attrs.cols + k];
        for (int64_t k = 0; k < s->labels.cols; k++) x[i * s->width + column_of(s, i, k)] = 1;
    }
    *out = x;
    return NULL;
}

static gn_status *make_sparse(const side *s, int64_t rows, gn_csr **out)
{
    int64_t a = s->attrs.cols, l = s->labels.cols, total;
    gn_csr *m;
    if (__builtin_mul_overflow(rows, a + l, &total)) total = INT64_MAX;
    GN_TRY(gn_csr_new(rows, s->width, total, &m));
    for (int64_t i = 0, at = 0; i < rows; i++) {
        for (int64_t k = 0; k < a + l; k++, at++) {
            m->col[at] = (int32_t)(k < a ? k : column_of(s, i, k - a));
            m->val[at] = k < a ? s->attrs.v[i * a + k] : 1;
        }
        m->ptr[i + 1] = at;
    }
    *out = m;
    return NULL;
}

static gn_status *read_features(work *w)
{
    gn_dataset *d = w->d;
    GN_TRY(read_side(&w->nodes, d->n_nodes));
    GN_TRY(read_side(&w->arcs, d->n_edges));
    if (w->nodes.width > INT32_MAX)
        GN_FAIL(GN_ERR_DATA, "%s: %lld columns of features", w->nodes.label_file->origin,
                (long long)w->nodes.width);
    if (w->arcs.width && d->n_edges) {
        GN_TRY(make_dense(&w->arcs, d->n_edges, &d->edge_attr));
        d->edge_dim = w->arcs.width;
    }
    d->n_features = w->nodes.width;
    if (d->n_features == 0) return NULL;
    return w->nodes.width - w->nodes.attrs.cols > WIDE
               ? make_sparse(&w->nodes, d->n_nodes, &d->x_csr)
               : make_dense(&w->nodes, d->n_nodes, &d->x);
}

static gn_status *parse(work *w, gn_reading *r)
{
    GN_TRY(read_indicator(w));
    GN_TRY(gn_dataset_new(NULL, &w->d));
    GN_TRY(add_graphs(w));
    GN_TRY(read_edges(w));
    GN_TRY(read_features(w));
    GN_TRY(read_targets(w));
    return w->graph_labels.v ? read_classes(w, r) : NULL;
}

gn_status *gn_tu_parse(const gn_input *file, gn_reading *r, gn_dataset **out)
{
    work w = {.file = file,
              .nodes = {&file[GN_TU_NODE_LABELS], &file[GN_TU_NODE_ATTRIBUTES], "node"},
              .arcs = {&file[GN_TU_EDGE_LABELS], &file[GN_TU_EDGE_ATTRIBUTES], "edge"}};
    gn_status *s = parse(&w, r);
    free(w.edges.v);
    free(w.indicator.v);
    free(w.graph_labels.v);
    free(w.of_node);
    free(w.node);
    free_side(&w.nodes);
    free_side(&w.arcs);
    if (s)
        gn_dataset_free(w.d);
    else
        *out = w.d;
    return s;
}

/* ---- the folder ---- */

static const char *const part_name[GN_TU_PARTS] = {
#define X(id, name) name,
    GN_TU(X)
#undef X
};

gn_status *gn_tu_read(const char *folder, const char *name, gn_reading *r, gn_dataset **out)
{
    enum { MOST = 256 };
    char text[GN_TU_PARTS][MOST];
    const char *file[GN_TU_PARTS];
    for (int k = 0; k < GN_TU_PARTS; k++) {
        int n = snprintf(text[k], MOST, "%s_%s.txt", name, part_name[k]);
        if (n < 0 || n >= MOST) GN_FAIL(GN_ERR_IO, "the name '%.80s...' is too long", name);
        file[k] = text[k];
    }
    GN_TRY(gn_parts_parse(folder, file, GN_TU_PARTS, GN_TU_INDICATOR + 1, gn_tu_parse, r, out));
    (*out)->name = strdup(name);
    return NULL;
}
