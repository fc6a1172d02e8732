/* OGB folders of one type of nodes in binary form (ogbn-papers100M), as
 * ogb.io.read_binary_graph_raw reads them: data.npz has edge_index [2, edges], num_nodes_list and
 * num_edges_list [graphs], node_feat, edge_feat, and further arrays of nodes (node_year) and edges
 * under names that begin with node_ and edge_; node-label.npz or graph-label.npz has the labels.
 * The split is as with .csv.gz.
 *
 * Nodes count from 0 in each graph.  No edges are reversed: OGB does not do it for these either.
 *
 * https://github.com/snap-stanford/ogb */
#include "runtime/data/array_values.h"
#include "runtime/data/mem.h"
#include "runtime/data/npz.h"
#include "runtime/data/ogb.h"
#include "runtime/data/targets.h"

#include <stdio.h>
#include <string.h>

typedef struct work {
    const gn_input *file;
    gn_npz *zip;
    int64_t graphs, *nodes, *edges; /* [graphs] of each */
    gn_dataset *d;
} work;

/* ---- counts ---- */

static gn_status *fill_counts(const work *w, const char *key, const gn_ndarray *a, int64_t *v,
                              int64_t *sum)
{
    for (int64_t k = 0; k < a->count; k++)
        if (!gn_ndarray_i64(a, k, &v[k]) || v[k] < 0 || __builtin_add_overflow(*sum, v[k], sum) ||
            *sum >= (int64_t)1 << 48)
            GN_FAIL(GN_ERR_DATA, "%s: %s[%lld] is %g: expected how many there are of a graph",
                    gn_npz_origin(w->zip), key, (long long)k, gn_ndarray_f64(a, k));
    return NULL;
}

/* A number for each graph; the first of the two lists says how many there are. */
static gn_status *read_counts(work *w, const char *key, int64_t **out, int64_t *sum)
{
    gn_ndarray a;
    gn_status *s;
    char want[48] = "a number for each graph";
    GN_TRY(gn_npz_array(w->zip, key, &a));
    if (w->graphs >= 0) snprintf(want, sizeof want, "[%lld]", (long long)w->graphs);
    *sum = 0;
    if (a.rank != 1 || a.count == 0 || (w->graphs >= 0 && a.count != w->graphs)) {
        s = gn_npz_bad_shape(w->zip, key, &a, want);
    } else {
        w->graphs = a.count;
        *out = gn_mem_alloc(a.count, sizeof **out);
        s = *out ? fill_counts(w, key, &a, *out, sum)
                 : GN_ERROR(GN_ERR_NOMEM, "out of memory: %lld graphs", (long long)a.count);
    }
    gn_ndarray_free(&a);
    return s;
}

/* ---- edges ---- */

static gn_status *check_edges(const work *w, const gn_ndarray *a)
{
    int64_t e = 0;
    for (int64_t g = 0; g < w->graphs; g++) {
        for (int64_t i = 0; i < w->edges[g]; i++, e++) {
            for (int k = 0; k < 2; k++) {
                int64_t v;
                if (gn_ndarray_i64(a, k * w->d->n_edges + e, &v) && v >= 0 && v < w->nodes[g])
                    continue;
                GN_FAIL(GN_ERR_DATA,
                        "%s: edge_index: edge %lld ends at %g: expected a node from 0 to %lld",
                        gn_npz_origin(w->zip), (long long)e,
                        gn_ndarray_f64(a, k * w->d->n_edges + e), (long long)w->nodes[g] - 1);
            }
        }
    }
    return NULL;
}

static gn_status *fill_edges(work *w, const gn_ndarray *a)
{
    gn_dataset *d = w->d;
    GN_TRY(check_edges(w, a));
    GN_MEM(d->src, d->n_edges);
    GN_MEM(d->dst, d->n_edges);
    int64_t e = 0, first = 0;
    for (int64_t g = 0; g < w->graphs; first += w->nodes[g++]) {
        for (int64_t i = 0; i < w->edges[g]; i++, e++) {
            gn_ndarray_i64(a, e, &d->src[e]);
            gn_ndarray_i64(a, d->n_edges + e, &d->dst[e]);
            d->src[e] += first;
            d->dst[e] += first;
        }
    }
    return NULL;
}

static gn_status *read_edges(work *w)
{
    gn_dataset *d = w->d;
    gn_ndarray a;
    char want[64];
    if (!gn_npz_has(w->zip, "num_nodes_list"))
        GN_FAIL(GN_ERR_DATA,
                "%s: no num_nodes_list, which OGB's data.npz has; other .npz are read where --data "
                "names the file and not its folder",
                gn_npz_origin(w->zip));
    GN_TRY(read_counts(w, "num_nodes_list", &w->nodes, &d->n_nodes));
    GN_TRY(read_counts(w, "num_edges_list", &w->edges, &d->n_edges));
    if (d->n_nodes > GN_MAX_NODES)
        GN_FAIL(GN_ERR_DATA, "%s: num_nodes_list: %lld nodes: expected at most %lld",
                gn_npz_origin(w->zip), (long long)d->n_nodes, (long long)GN_MAX_NODES);
    GN_TRY(gn_edges_check_gaps(gn_npz_origin(w->zip), d->n_nodes, d->n_edges));
    GN_TRY(gn_npz_array(w->zip, "edge_index", &a));
    snprintf(want, sizeof want, "[2, %lld], as num_edges_list says", (long long)d->n_edges);
    gn_status *s = a.rank == 2 && a.dim[0] == 2 && a.dim[1] == d->n_edges
                       ? fill_edges(w, &a)
                       : gn_npz_bad_shape(w->zip, "edge_index", &a, want);
    gn_ndarray_free(&a);
    return s;
}

/* ---- what lies on nodes and edges ---- */

static gn_status *take_array(work *w, const char *key, const gn_ndarray *a, bool of_edges)
{
    char what[GN_NPZ_WHAT];
    gn_dataset *d = w->d;
    const char *name = key + strlen("node_");
    int64_t rows = of_edges ? d->n_edges : d->n_nodes;
    snprintf(what, sizeof what, "%s: %s", gn_npz_origin(w->zip), key);
    if (!strcmp(name, "feat"))
        return of_edges ? gn_array_floats(what, a, rows, &d->edge_attr, &d->edge_dim)
                        : gn_array_floats(what, a, rows, &d->x, &d->n_features);
    gn_table_column c = {.on_edges = of_edges};
    bool flat = a->rank == 2 && a->dim[1] == 1;
    gn_status *s = gn_array_column(what, a, rows, false, flat, &c);
    if (!s) return gn_dataset_add_column(d, name, &c);
    free(c.data);
    return s;
}

static gn_status *read_arrays(work *w)
{
    static const char *const counts[] = {"edge_index", "num_nodes_list", "num_edges_list"};
    for (int k = 0; k < gn_npz_count(w->zip); k++) {
        const char *key = gn_npz_name(w->zip, k);
        gn_ndarray a;
        bool read = false, nodes = !strncmp(key, "node_", 5), edges = !strncmp(key, "edge_", 5);
        for (int i = 0; i < 3; i++) read = read || !strcmp(key, counts[i]);
        if (read) continue;
        if (!nodes && !edges)
            GN_FAIL(GN_ERR_DATA, "%s: %s: expected names that begin with node_ or edge_",
                    gn_npz_origin(w->zip), key);
        GN_TRY(gn_npz_array(w->zip, key, &a));
        gn_status *s = take_array(w, key, &a, edges);
        gn_ndarray_free(&a);
        GN_TRY(s);
    }
    return NULL;
}

/* ---- labels ---- */

static gn_status *read_labels(const gn_input *f, const char *key, int space, gn_dataset *d)
{
    char what[GN_NPZ_WHAT];
    gn_npz *zip;
    gn_ndarray a = {0};
    gn_float_rows rows = {0};
    snprintf(what, sizeof what, "%s: %s", f->origin, key);
    GN_TRY(gn_npz_open(f->bytes, f->n, f->origin, &zip));
    gn_status *s = gn_npz_array(zip, key, &a);
    if (!s) s = gn_array_floats_or_none(what, &a, gn_dataset_rows(d, space), &rows);
    if (!s) s = gn_targets_take(what, &rows, space, d);
    free(rows.v);
    gn_ndarray_free(&a);
    gn_npz_close(zip);
    return s;
}

static gn_status *read_all(work *w)
{
    const gn_input *file = w->file, *data = &file[GN_OGB_BINARY_DATA],
                   *nodes = &file[GN_OGB_BINARY_NODE_LABELS],
                   *graphs = &file[GN_OGB_BINARY_GRAPH_LABELS],
                   *dict = &file[GN_OGB_BINARY_SPLIT_DICT];
    int space = 0;
    GN_TRY(gn_dataset_new(NULL, &w->d));
    GN_TRY(gn_npz_open(data->bytes, data->n, data->origin, &w->zip));
    GN_TRY(read_edges(w));
    if (w->graphs > 1 || graphs->bytes)
        GN_TRY(gn_ogb_add_graphs(w->d, w->nodes, w->graphs, &space));
    GN_TRY(read_arrays(w));
    if (!nodes->bytes && !graphs->bytes) return NULL;
    GN_TRY(graphs->bytes ? read_labels(graphs, "graph_label", space, w->d)
                         : read_labels(nodes, "node_label", 0, w->d));
    return dict->bytes ? gn_ogb_take_split_dict(dict, NULL, w->d)
                       : gn_ogb_take_split(&file[GN_OGB_BINARY_TRAIN], w->d);
}

gn_status *gn_ogb_binary_parse(const gn_input *file, gn_reading *r, gn_dataset **out)
{
    work w = {.file = file, .graphs = -1};
    (void)r;
    gn_status *s = read_all(&w);
    gn_npz_close(w.zip);
    free(w.nodes);
    free(w.edges);
    if (s)
        gn_dataset_free(w.d);
    else
        *out = w.d;
    return s;
}

/* ---- the folder ---- */

gn_status *gn_ogb_binary_read(const char *folder, const char *name, gn_reading *r, gn_dataset **out)
{
    static const char *const file[GN_OGB_BINARY_PARTS] = {
        "data.npz",  "node-label.npz", "graph-label.npz", "train.csv",
        "valid.csv", "test.csv",       "split_dict.pt"};
    gn_folder_file part[GN_OGB_BINARY_PARTS] = {0};
    gn_input input[GN_OGB_BINARY_PARTS];
    gn_ogb_split split;
    gn_status *s = NULL;
    (void)name;
    GN_TRY(gn_ogb_find_split(folder, r, &split));
    for (int k = 0; k < GN_OGB_BINARY_PARTS && !s; k++) {
        bool of_split = k >= GN_OGB_BINARY_TRAIN;
        if (of_split && !*split.folder) break;
        s = gn_folder_read(of_split ? split.folder : folder, file[k], k == GN_OGB_BINARY_DATA,
                           &part[k]);
    }
    for (int k = 0; k < GN_OGB_BINARY_PARTS; k++) input[k] = gn_folder_input(&part[k]);
    if (!s) s = gn_ogb_binary_parse(input, r, out);
    for (int k = 0; k < GN_OGB_BINARY_PARTS; k++) gn_folder_free(&part[k]);
    if (s) return s;
    s = gn_ogb_read_links(&split, false, *out);
    if (s) gn_dataset_free(*out);
    return s;
}
