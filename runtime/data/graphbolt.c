/* Folders of DGL's GraphBolt (OnDiskDataset): metadata.yaml names files of edges, features and
 * tasks.
 *
 * dataset_name: NAME
 * graph:
 *   nodes: a list of `type`, `num`
 *   edges: a list of `type` (source:relation:target), `format` (csv, numpy), `path`
 *   feature_data: as below
 * feature_data: a list of `domain` (node, edge), `type`, `name`, `format` (numpy, torch), `path`
 * tasks: graphbolt_tasks.c
 *
 * One list item of nodes and one of edges without types are data without types.  The feature `feat`
 * of nodes is x, of edges attr; others are columns of their names.  Types and relations are
 * numbered in the order of their names.
 *
 * https://www.dgl.ai/dgl_docs/stochastic_training/ondisk-dataset-specification.html */
#include "runtime/data/graphbolt.h"

#include "runtime/data/array_values.h"
#include "runtime/data/mem.h"
#include "runtime/data/npy.h"

#include <stdio.h>
#include <string.h>

/* ---- edges ---- */

/* `source,target` a line. */
static gn_status *parse_csv(const gn_input *f, const int64_t rows[2], int64_t **from, int64_t **to,
                            int64_t *n)
{
    int64_t **const end[2] = {from, to};
    gn_int_rows r;
    gn_status *s = NULL;
    GN_TRY(gn_rows_ints(f, 2, &r));
    *n = r.rows;
    for (int k = 0; k < 2 && !s; k++) {
        int64_t *v = *end[k] = gn_mem_alloc(r.rows, sizeof *v);
        if (!v) s = GN_ERROR(GN_ERR_NOMEM, "out of memory: %lld edges", (long long)r.rows);
        for (int64_t e = 0; !s && e < r.rows; e++) {
            v[e] = r.v[2 * e + k];
            if (v[e] < 0 || v[e] >= rows[k])
                s = gn_rows_error(__FILE__, __LINE__, f, e, "'%lld': expected a row from 0 to %lld",
                                  (long long)v[e], (long long)rows[k] - 1);
        }
    }
    free(r.v);
    return s;
}

/* *from and *to are the caller's, on failure too. */
static gn_status *read_ends(const gn_bolt *b, int item, const int64_t rows[2], int64_t **from,
                            int64_t **to, int64_t *n)
{
    const char *format;
    gn_folder_file file;
    gn_ndarray a;
    GN_TRY(gn_yaml_word(b->yaml, item, "format", true, &format));
    bool csv = !strcmp(format, "csv");
    if (!csv && strcmp(format, "numpy") != 0)
        GN_YAML_FAIL(b->yaml, gn_yaml_get(b->yaml, item, "format"),
                     "format: '%s': expected csv or numpy", format);
    gn_status *s = gn_bolt_file(b, item, &file);
    gn_input f = gn_folder_input(&file);
    if (!s && csv) s = parse_csv(&f, rows, from, to, n);
    if (!s && !csv) s = gn_npy_parse(f.bytes, f.n, f.origin, &a);
    if (!s && !csv) s = gn_array_ends(f.origin, &a, rows, from, to);
    if (!s && !csv) *n = a.dim[1];
    gn_folder_free(&file);
    return s;
}

static gn_status *read_plain(gn_bolt *b, int nodes, int edges)
{
    gn_dataset *d = b->d;
    GN_TRY(gn_yaml_number(b->yaml, nodes, "num", true, &d->n_nodes));
    if (d->n_nodes > GN_MAX_NODES)
        GN_YAML_FAIL(b->yaml, nodes, "num: expected at most %lld nodes", (long long)GN_MAX_NODES);
    const int64_t rows[2] = {d->n_nodes, d->n_nodes};
    GN_TRY(read_ends(b, edges, rows, &d->src, &d->dst, &d->n_edges));
    return gn_edges_check_gaps(b->r->origin, d->n_nodes, d->n_edges);
}

/* ---- types ---- */

typedef struct node_type {
    const char *name;
    int64_t rows;
} node_type;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const node_type *)a)->name, ((const node_type *)b)->name);
}

static gn_status *fill_types(const gn_bolt *b, int list, int n, node_type *types)
{
    for (int k = 0; k < n; k++) {
        int item = gn_yaml_item(b->yaml, list, k);
        GN_TRY(gn_yaml_word(b->yaml, item, "type", true, &types[k].name));
        GN_TRY(gn_yaml_number(b->yaml, item, "num", true, &types[k].rows));
        if (strlen(types[k].name) >= GN_TRIPLET_NAME || types[k].rows > GN_MAX_NODES)
            GN_YAML_FAIL(b->yaml, item, "expected a name of at most %d letters and %lld nodes",
                         GN_TRIPLET_NAME - 1, (long long)GN_MAX_NODES);
    }
    return NULL;
}

static gn_status *read_types(gn_bolt *b, int list, int n)
{
    node_type *types;
    int space;
    GN_MEM(types, n);
    gn_status *s = fill_types(b, list, n, types);
    if (!s) qsort(types, (size_t)n, sizeof *types, by_name);
    for (int k = 0; k < n && !s; k++)
        s = gn_dataset_add_table(b->d, types[k].name, types[k].rows, &space);
    free(types);
    return s;
}

static gn_status *name_edges(const gn_bolt *b, int item, gn_bolt_edges *e)
{
    const char *type;
    e->node = item;
    GN_TRY(gn_yaml_word(b->yaml, item, "type", true, &type));
    int at = gn_yaml_get(b->yaml, item, "type");
    if (!gn_triplet_cut(type, ":", &e->is))
        GN_YAML_FAIL(b->yaml, at, "type: '%s': expected source:relation:target", type);
    snprintf(e->name, sizeof e->name, "%s", type);
    for (int k = 0; k < 3; k += 2)
        if (!gn_dataset_find_space(b->d, e->is.part[k]))
            GN_YAML_FAIL(b->yaml, at, "type: '%s': there are no nodes of the type '%s'", type,
                         e->is.part[k]);
    return NULL;
}

static gn_status *read_relation(gn_bolt *b, const gn_bolt_edges *e)
{
    const int src = gn_dataset_find_space(b->d, e->is.part[0]);
    const int dst = gn_dataset_find_space(b->d, e->is.part[2]);
    const int64_t rows[2] = {gn_dataset_rows(b->d, src), gn_dataset_rows(b->d, dst)};
    int64_t *from = NULL, *to = NULL, n;
    gn_triplet_text name = gn_triplet_name(b->d, &e->is);
    gn_status *s = read_ends(b, e->node, rows, &from, &to, &n);
    if (!s) return gn_dataset_add_relation(b->d, name.s, src, dst, n, from, to, NULL);
    free(from);
    free(to);
    return s;
}

static gn_status *read_typed(gn_bolt *b, int nodes, int n_nodes, int edges, int n_edges)
{
    b->d->typed = true;
    GN_TRY(read_types(b, nodes, n_nodes));
    GN_MEM(b->edges, n_edges);
    for (; b->n_edges < n_edges; b->n_edges++)
        GN_TRY(name_edges(b, gn_yaml_item(b->yaml, edges, b->n_edges), &b->edges[b->n_edges]));
    qsort(b->edges, (size_t)n_edges, sizeof *b->edges, gn_triplet_order);
    for (int k = 0; k < n_edges; k++) {
        const gn_bolt_edges *e = &b->edges[k];
        if (k > 0 && !strcmp(e->name, e[-1].name))
            GN_YAML_FAIL(b->yaml, e->node, "two lists of edges have the type '%s'", e->name);
        GN_TRY(read_relation(b, e));
    }
    return NULL;
}

static gn_status *read_graph(gn_bolt *b)
{
    const gn_yaml *y = b->yaml;
    int graph = gn_yaml_get(y, gn_yaml_root(y), "graph"), nodes = gn_yaml_get(y, graph, "nodes"),
        edges = gn_yaml_get(y, graph, "edges"), n_nodes, n_edges;
    if (!graph && gn_yaml_get(y, gn_yaml_root(y), "graph_topology"))
        GN_FAIL(GN_ERR_DATA,
                "%s: this is what DGL has preprocessed: give the folder around `preprocessed`, "
                "whose metadata.yaml has `graph`",
                b->r->origin);
    if (!graph) GN_YAML_FAIL(y, gn_yaml_root(y), "expected `graph:` with `nodes:` and `edges:`");
    GN_TRY(gn_yaml_count(y, nodes, "nodes", &n_nodes));
    GN_TRY(gn_yaml_count(y, edges, "edges", &n_edges));
    if (n_nodes == 0 || n_edges == 0)
        GN_YAML_FAIL(y, graph, "graph: expected lists `nodes:` and `edges:`");
    int first = gn_yaml_item(y, nodes, 0), first_edges = gn_yaml_item(y, edges, 0);
    bool plain = n_nodes == 1 && n_edges == 1 && !gn_yaml_get(y, first, "type") &&
                 !gn_yaml_get(y, first_edges, "type");
    return plain ? read_plain(b, first, first_edges)
                 : read_typed(b, nodes, n_nodes, edges, n_edges);
}

/* ---- features ---- */

static gn_status *take_plain_feature(gn_bolt *b, const gn_bolt_array *from, bool of_edges)
{
    gn_dataset *d = b->d;
    if (of_edges ? d->edge_attr != NULL : d->x != NULL)
        GN_FAIL(GN_ERR_DATA, "%s: two features of %s are named feat", from->file.path,
                of_edges ? "edges" : "nodes");
    return of_edges
               ? gn_array_floats(from->file.path, &from->a, d->n_edges, &d->edge_attr, &d->edge_dim)
               : gn_array_floats(from->file.path, &from->a, d->n_nodes, &d->x, &d->n_features);
}

static gn_status *take_feature(gn_bolt *b, const char *name, const gn_bolt_array *from,
                               gn_table_column c)
{
    bool feat = !strcmp(name, "feat");
    int64_t rows = c.on_edges ? gn_dataset_edges(b->d, c.over) : gn_dataset_rows(b->d, c.over);
    if (feat && !b->d->typed) return take_plain_feature(b, from, c.on_edges);
    if (feat) name = c.on_edges ? "attr" : "x";
    gn_status *s = gn_array_column(from->file.path, &from->a, rows, feat, false, &c);
    if (!s) return gn_dataset_add_column(b->d, name, &c);
    free(c.data);
    return s;
}

static gn_status *read_feature(gn_bolt *b, int item)
{
    const char *domain, *name;
    gn_bolt_array from;
    GN_TRY(gn_yaml_word(b->yaml, item, "domain", true, &domain));
    GN_TRY(gn_yaml_word(b->yaml, item, "name", true, &name));
    gn_table_column c = {.on_edges = !strcmp(domain, "edge")};
    if (!c.on_edges && strcmp(domain, "node") != 0)
        GN_YAML_FAIL(b->yaml, gn_yaml_get(b->yaml, item, "domain"),
                     "domain: '%s': expected node or edge", domain);
    GN_TRY(c.on_edges ? gn_bolt_relation(b, item, &c.over) : gn_bolt_space(b, item, &c.over));
    gn_status *s = gn_bolt_open(b, item, &from);
    if (!s) s = take_feature(b, name, &from, c);
    gn_bolt_close(&from);
    return s;
}

static gn_status *read_features(gn_bolt *b, int mapping)
{
    int list = gn_yaml_get(b->yaml, mapping, "feature_data"), n;
    GN_TRY(gn_yaml_count(b->yaml, list, "feature_data", &n));
    for (int k = 0; k < n; k++) GN_TRY(read_feature(b, gn_yaml_item(b->yaml, list, k)));
    return NULL;
}

/* ---- all of it ---- */

/* A key that nothing here has read may be misspelt. */
static gn_status *remark_keys(gn_bolt *b)
{
    static const char *const known[] = {"dataset_name", "graph", "feature_data", "tasks",
                                        "include_original_edge_id"};
    const char *key;
    int value;
    for (int k = 0; gn_yaml_entry(b->yaml, gn_yaml_root(b->yaml), k, &key, &value); k++) {
        bool is = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) is = is || !strcmp(key, known[i]);
        if (!is) GN_TRY(gn_dataset_remark(b->d, "%s: nothing reads `%s`", b->r->origin, key));
    }
    return NULL;
}

static gn_status *parse(gn_bolt *b, const gn_input *metadata)
{
    const char *name;
    GN_TRY(gn_dataset_new(NULL, &b->d));
    GN_TRY(gn_yaml_parse(metadata->bytes, metadata->n, metadata->origin, &b->yaml));
    int root = gn_yaml_root(b->yaml);
    GN_TRY(gn_yaml_word(b->yaml, root, "dataset_name", false, &name));
    GN_TRY(read_graph(b));
    GN_TRY(read_features(b, gn_yaml_get(b->yaml, root, "graph")));
    GN_TRY(read_features(b, root));
    GN_TRY(gn_bolt_read_tasks(b));
    if (name && !(b->d->name = strdup(name))) GN_FAIL(GN_ERR_NOMEM, "out of memory: a name");
    return remark_keys(b);
}

gn_status *gn_graphbolt_parse(const gn_input *metadata, const gn_graphbolt_files *files,
                              gn_reading *r, gn_dataset **out)
{
    gn_reading own = *r;
    gn_bolt b = {.files = files, .r = &own};
    own.origin = metadata->origin;
    gn_status *s = parse(&b, metadata);
    r->splits = own.splits;
    gn_yaml_free(b.yaml);
    free(b.edges);
    if (s)
        gn_dataset_free(b.d);
    else
        *out = b.d;
    return s;
}

static gn_status *read_of_folder(void *context, const char *path, gn_folder_file *out)
{
    return gn_folder_read(context, path, true, out);
}

gn_status *gn_graphbolt_read(const char *folder, const char *name, gn_reading *r, gn_dataset **out)
{
    char path[GN_PATH_SIZE];
    const gn_graphbolt_files files = {path, read_of_folder};
    gn_folder_file metadata;
    (void)name;
    snprintf(path, sizeof path, "%s", folder);
    gn_status *s = gn_folder_read(folder, "metadata.yaml", true, &metadata);
    gn_input f = gn_folder_input(&metadata);
    if (!s) s = gn_graphbolt_parse(&f, &files, r, out);
    gn_folder_free(&metadata);
    return s;
}

gn_status *gn_graphbolt_refuse(const char *folder, const char *name, gn_reading *r,
                               gn_dataset **out)
{
    (void)name;
    (void)r;
    *out = NULL;
    GN_FAIL(GN_ERR_DATA,
            "'%s': expected the metadata.yaml from which DGL made preprocessed/metadata.yaml: that "
            "one, with fused_csc_sampling_graph.pt, is not read",
            folder);
}
