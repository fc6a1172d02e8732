/* OGB folders of one type of nodes, as ogb.io.read_graph_raw reads the .csv.gz: edge,
 * num-node-list, num-edge-list, node-feat, edge-feat, node-label or graph-label in raw/ or the
 * folder itself, and train, valid and test, or split_dict.pt, in split/NAME.
 *
 * A folder with graph-label, or with more than one number of nodes, has many graphs: nodes count
 * from 0 in each, the graphs are the table `graph`, and nodes have the relation `member` to theirs.
 * Datasets whose edges OGB reverses on reading, which it says in its list of datasets and not in
 * the folder, are known by the folder's name; --undirected on and off say it of others.  Each edge
 * is followed by its reverse, with the same features.
 *
 * https://github.com/snap-stanford/ogb */
#include "runtime/data/mem.h"
#include "runtime/data/lines.h"
#include "runtime/data/ogb.h"

#include <string.h>

typedef struct work {
    const gn_input *file;
    gn_int_rows node_counts, edge_counts, edges;
    bool reversed;
    int space; /* of graphs; 0: there is one */
    gn_dataset *d;
} work;

static gn_status *check_rows(const gn_input *f, int64_t rows, int64_t expected, const char *of)
{
    if (rows == expected) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: %lld rows: expected %lld, as %s says", f->origin, (long long)rows,
            (long long)expected, of);
}

static gn_status *sum_counts(const gn_input *f, const gn_int_rows *r, int64_t *sum)
{
    *sum = 0;
    for (int64_t i = 0; i < r->rows; i++)
        if (r->v[i] < 0 || __builtin_add_overflow(*sum, r->v[i], sum) || *sum >= (int64_t)1 << 48)
            GN_ROW_FAIL(f, i, "'%lld': expected how many there are of a graph", (long long)r->v[i]);
    return NULL;
}

static gn_status *read_counts(work *w, int64_t *edges)
{
    const gn_input *nodes = &w->file[GN_OGB_NODE_COUNTS], *arcs = &w->file[GN_OGB_EDGE_COUNTS];
    GN_TRY(gn_rows_ints(nodes, 1, &w->node_counts));
    GN_TRY(gn_rows_ints(arcs, 1, &w->edge_counts));
    if (w->node_counts.rows == 0) GN_FAIL(GN_ERR_DATA, "%s: no graph", nodes->origin);
    GN_TRY(check_rows(arcs, w->edge_counts.rows, w->node_counts.rows, "num-node-list"));
    GN_TRY(sum_counts(nodes, &w->node_counts, &w->d->n_nodes));
    GN_TRY(sum_counts(arcs, &w->edge_counts, edges));
    if (w->d->n_nodes <= GN_MAX_NODES) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: %lld nodes: expected at most %lld", nodes->origin,
            (long long)w->d->n_nodes, (long long)GN_MAX_NODES);
}

static gn_status *add_graphs(work *w, int64_t edges)
{
    int64_t graphs = w->node_counts.rows;
    GN_TRY(gn_edges_check_gaps(w->file[GN_OGB_NODE_COUNTS].origin, w->d->n_nodes, edges));
    if (graphs <= 1 && !w->file[GN_OGB_GRAPH_LABELS].bytes) return NULL;
    return gn_ogb_add_graphs(w->d, w->node_counts.v, graphs, &w->space);
}

static gn_status *fill_edges(work *w)
{
    const gn_input *f = &w->file[GN_OGB_EDGES];
    gn_dataset *d = w->d;
    int64_t e = 0, first = 0, at = 0;
    for (int64_t g = 0; g < w->node_counts.rows; g++) {
        int64_t n = w->node_counts.v[g];
        for (int64_t i = 0; i < w->edge_counts.v[g]; i++, e++) {
            const int64_t *end = &w->edges.v[2 * e];
            if (end[0] < 0 || end[0] >= n || end[1] < 0 || end[1] >= n)
                GN_ROW_FAIL(f, e, "%lld, %lld: expected nodes from 0 to %lld", (long long)end[0],
                            (long long)end[1], (long long)n - 1);
            for (int back = 0; back <= w->reversed; back++, at++) {
                d->src[at] = first + end[back];
                d->dst[at] = first + end[1 - back];
            }
        }
        first += n;
    }
    d->n_edges = at;
    return NULL;
}

static gn_status *read_edges(work *w, int64_t edges)
{
    const gn_input *f = &w->file[GN_OGB_EDGES];
    int64_t n = edges * (w->reversed ? 2 : 1);
    GN_TRY(gn_rows_ints(f, 2, &w->edges));
    GN_TRY(check_rows(f, w->edges.rows, edges, "num-edge-list"));
    GN_MEM(w->d->src, n);
    GN_MEM(w->d->dst, n);
    GN_TRY(fill_edges(w));
    free(w->edges.v);
    w->edges.v = NULL;
    return NULL;
}

static gn_status *read_edge_features(work *w)
{
    const gn_input *f = &w->file[GN_OGB_EDGE_FEATURES];
    gn_dataset *d = w->d;
    gn_float_rows a;
    int64_t times = w->reversed ? 2 : 1, total;
    if (!f->bytes) return NULL;
    GN_TRY(gn_rows_floats(f, 0, &a));
    gn_status *s = check_rows(f, a.rows, d->n_edges / times, "num-edge-list");
    if (__builtin_mul_overflow(d->n_edges, a.cols, &total)) total = INT64_MAX;
    if (!s && !(d->edge_attr = gn_mem_alloc(total, sizeof(float))))
        s = GN_ERROR(GN_ERR_NOMEM, "out of memory: features of %lld edges", (long long)d->n_edges);
    for (int64_t e = 0; !s && e < d->n_edges; e++)
        memcpy(d->edge_attr + e * a.cols, a.v + e / times * a.cols, (size_t)a.cols * sizeof *a.v);
    if (!s) d->edge_dim = a.cols;
    free(a.v);
    return s;
}

static gn_status *read_node_features(work *w)
{
    const gn_input *f = &w->file[GN_OGB_NODE_FEATURES];
    gn_float_rows a;
    if (!f->bytes) return NULL;
    GN_TRY(gn_rows_floats(f, 0, &a));
    w->d->x = a.v;
    w->d->n_features = a.cols;
    if (a.cols == 0) GN_FAIL(GN_ERR_DATA, "%s: expected numbers", f->origin);
    return check_rows(f, a.rows, w->d->n_nodes, "num-node-list");
}

static gn_status *parse(work *w)
{
    const gn_input *nodes = &w->file[GN_OGB_NODE_LABELS], *graphs = &w->file[GN_OGB_GRAPH_LABELS];
    int64_t edges;
    GN_TRY(gn_dataset_new(NULL, &w->d));
    GN_TRY(read_counts(w, &edges));
    GN_TRY(read_edges(w, edges));
    GN_TRY(add_graphs(w, edges));
    GN_TRY(read_node_features(w));
    GN_TRY(read_edge_features(w));
    if (graphs->bytes)
        GN_TRY(gn_ogb_take_labels(graphs, w->space, w->d));
    else if (nodes->bytes)
        GN_TRY(gn_ogb_take_labels(nodes, 0, w->d));
    if (!graphs->bytes && !nodes->bytes) return NULL;
    const gn_input *dict = &w->file[GN_OGB_SPLIT_DICT];
    return dict->bytes ? gn_ogb_take_split_dict(dict, NULL, w->d)
                       : gn_ogb_take_split(&w->file[GN_OGB_TRAIN], w->d);
}

gn_status *gn_ogb_parse(const gn_input *file, gn_reading *r, gn_dataset **out)
{
    work w = {.file = file, .reversed = r->undirected};
    gn_status *s = parse(&w);
    free(w.node_counts.v);
    free(w.edge_counts.v);
    free(w.edges.v);
    if (s)
        gn_dataset_free(w.d);
    else
        *out = w.d;
    return s;
}

/* ---- the folder ---- */

/* The folder of the dataset: the last part of the path, or the one before where that is raw. */
static gn_span dataset_of(const char *path)
{
    const char *end = path + strlen(path), *begin = end;
    for (int part = 0; part < 2; part++) {
        while (end > path && end[-1] == '/') end--;
        for (begin = end; begin > path && begin[-1] != '/';) begin--;
        if (end - begin != 3 || memcmp(begin, "raw", 3) != 0) break;
        if (part == 0) end = begin;
    }
    return (gn_span){begin, end};
}

/* Whether OGB reverses its edges, by the name that its folder has: OGB's, or with what was put
 * behind it.  "?" is _ or -. */
static bool is_reversed(const char *path)
{
    static const char *const names[] = {"ogbn?proteins", "ogbn?products", "ogbg?mol", "ogbg?ppa",
                                        "ogbl?ppa",      "ogbl?collab",   "ogbl?ddi"};
    gn_span is = dataset_of(path);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        size_t n = strlen(names[k]);
        if ((size_t)(is.end - is.p) >= n && !memcmp(is.p, names[k], 4) &&
            (is.p[4] == '_' || is.p[4] == '-') && !memcmp(is.p + 5, names[k] + 5, n - 5))
            return true;
    }
    return false;
}

static gn_status *read_parts(const char *folder, const gn_ogb_split *split, gn_folder_file *part)
{
    static const char *const file[GN_OGB_PARTS] = {
        "edge.csv",      "num-node-list.csv", "num-edge-list.csv", "node-feat.csv",
        "edge-feat.csv", "node-label.csv",    "graph-label.csv",   "train.csv",
        "valid.csv",     "test.csv",          "split_dict.pt"};
    for (int k = 0; k < GN_OGB_TRAIN; k++)
        GN_TRY(gn_folder_read(folder, file[k], k <= GN_OGB_EDGE_COUNTS, &part[k]));
    for (int k = GN_OGB_TRAIN; k < GN_OGB_PARTS && *split->folder; k++)
        GN_TRY(gn_folder_read(split->folder, file[k], false, &part[k]));
    return NULL;
}

gn_status *gn_ogb_read(const char *folder, const char *name, gn_reading *r, gn_dataset **out)
{
    gn_folder_file part[GN_OGB_PARTS] = {0};
    gn_input input[GN_OGB_PARTS];
    gn_ogb_split split;
    (void)name;
    GN_TRY(gn_ogb_find_split(folder, r, &split));
    int asked = r->opt->undirected;
    r->undirected = asked < 0 ? is_reversed(folder) : asked == 1;
    gn_status *s = read_parts(folder, &split, part);
    for (int k = 0; k < GN_OGB_PARTS; k++) input[k] = gn_folder_input(&part[k]);
    if (!s) s = gn_ogb_parse(input, r, out);
    for (int k = 0; k < GN_OGB_PARTS; k++) gn_folder_free(&part[k]);
    if (s) return s;
    s = gn_ogb_read_links(&split, r->undirected, *out);
    if (s) gn_dataset_free(*out);
    return s;
}
