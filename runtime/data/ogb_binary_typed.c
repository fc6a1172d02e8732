/* OGB folders of several types of nodes in binary form, as ogb.io.read_binary_heterograph_raw reads
 * them: num_nodes_dict.npz and num_edges_dict.npz have [graphs] numbers under the name of each type
 * and relation, edge_index_dict.npz [2, edges]; relations are source___relation___target.  Any
 * other .npz that begins with node_ or edge_ has an array for each of some types or relations:
 * node_feat_dict, node_year_dict; node-label.npz has the labels of one type.
 *
 * https://github.com/snap-stanford/ogb */
#include "runtime/data/array_values.h"
#include "runtime/data/mem.h"
#include "runtime/data/npz.h"
#include "runtime/data/ogb.h"
#include "runtime/data/targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct relation {
    gn_triplet is; /* first: sorted by it */
    char key[3 * GN_TRIPLET_NAME + 8];
} relation;

typedef struct work {
    const char *folder;
    gn_ogb_split split;
    int n_types, n_relations;
    char (*type)[GN_TRIPLET_NAME];
    relation *relations;
    gn_dataset *d;
} work;

/* A file of the folder with the arrays in it. */
typedef struct arrays {
    gn_folder_file file;
    gn_npz *zip;
} arrays;

static gn_status *open_arrays(const work *w, const char *name, bool needed, arrays *out)
{
    *out = (arrays){0};
    GN_TRY(gn_folder_read(w->folder, name, needed, &out->file));
    gn_input f = gn_folder_input(&out->file);
    return f.bytes ? gn_npz_open(f.bytes, f.n, f.origin, &out->zip) : NULL;
}

static void close_arrays(arrays *a)
{
    gn_npz_close(a->zip);
    gn_folder_free(&a->file);
}

typedef gn_status *user(work *w, arrays *a);

static gn_status *with_arrays(work *w, const char *name, bool needed, user *use)
{
    arrays a;
    gn_status *s = open_arrays(w, name, needed, &a);
    if (!s && a.zip) s = use(w, &a);
    close_arrays(&a);
    return s;
}

/* ---- types ---- */

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

/* How many there are; several numbers are of several graphs. */
static gn_status *read_count(arrays *a, const char *key, int64_t most, int64_t *out)
{
    gn_ndarray n;
    GN_TRY(gn_npz_array(a->zip, key, &n));
    bool one = n.count == 1, good = one && gn_ndarray_i64(&n, 0, out) && *out >= 0 && *out <= most;
    gn_ndarray_free(&n);
    if (good) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: %s: %s", a->file.path, key,
            one ? "expected how many there are" : "many graphs of several types are not read");
}

static gn_status *read_types(work *w, arrays *a)
{
    int n = gn_npz_count(a->zip), space;
    if (n == 0) GN_FAIL(GN_ERR_DATA, "%s: no types of nodes", a->file.path);
    GN_MEM(w->type, n);
    for (; w->n_types < n; w->n_types++) {
        const char *key = gn_npz_name(a->zip, w->n_types);
        if (snprintf(w->type[w->n_types], GN_TRIPLET_NAME, "%s", key) >= GN_TRIPLET_NAME)
            GN_FAIL(GN_ERR_DATA, "%s: '%.40s...': expected a name of at most %d letters",
                    a->file.path, key, GN_TRIPLET_NAME - 1);
    }
    qsort(w->type, (size_t)n, sizeof *w->type, by_name);
    for (int t = 0; t < n; t++) {
        int64_t rows;
        GN_TRY(read_count(a, w->type[t], GN_MAX_NODES, &rows));
        GN_TRY(gn_dataset_add_table(w->d, w->type[t], rows, &space));
    }
    return NULL;
}

static int type_of(const work *w, const char *name)
{
    for (int t = 0; t < w->n_types; t++)
        if (!strcmp(w->type[t], name)) return t + 1;
    return 0;
}

/* ---- relations ---- */

static gn_status *cut_key(const arrays *a, const char *key, relation *r)
{
    if (!gn_triplet_cut(key, "___", &r->is))
        GN_FAIL(GN_ERR_DATA, "%s: '%.200s': expected source___relation___target", a->file.path,
                key);
    snprintf(r->key, sizeof r->key, "%s", key);
    return NULL;
}

static gn_status *list_relations(work *w, arrays *a)
{
    int n = gn_npz_count(a->zip);
    if (n == 0) GN_FAIL(GN_ERR_DATA, "%s: no relations", a->file.path);
    GN_MEM(w->relations, n);
    for (; w->n_relations < n; w->n_relations++)
        GN_TRY(cut_key(a, gn_npz_name(a->zip, w->n_relations), &w->relations[w->n_relations]));
    qsort(w->relations, (size_t)n, sizeof *w->relations, gn_triplet_order);
    return NULL;
}

static gn_status *read_ends(work *w, arrays *a, const relation *r)
{
    char what[GN_NPZ_WHAT];
    const int type[2] = {type_of(w, r->is.part[0]), type_of(w, r->is.part[2])};
    int64_t *from = NULL, *to = NULL;
    gn_ndarray ends;
    snprintf(what, sizeof what, "%s: %s", a->file.path, r->key);
    for (int k = 0; k < 2; k++)
        if (!type[k])
            GN_FAIL(GN_ERR_DATA, "%s: num_nodes_dict.npz has no type '%s'", what,
                    r->is.part[2 * k]);
    const int64_t rows[2] = {gn_dataset_rows(w->d, type[0]), gn_dataset_rows(w->d, type[1])};
    gn_triplet_text name = gn_triplet_name(w->d, &r->is);
    GN_TRY(gn_npz_array(a->zip, r->key, &ends));
    int64_t n = ends.rank == 2 ? ends.dim[1] : 0;
    gn_status *s = gn_array_ends(what, &ends, rows, &from, &to);
    gn_ndarray_free(&ends);
    if (!s) return gn_dataset_add_relation(w->d, name.s, type[0], type[1], n, from, to, NULL);
    free(from);
    free(to);
    return s;
}

static gn_status *read_edges(work *w, arrays *a)
{
    for (int k = 0; k < w->n_relations; k++) GN_TRY(read_ends(w, a, &w->relations[k]));
    if (gn_npz_count(a->zip) == w->n_relations) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: %d relations: expected %d, as num_edges_dict.npz has", a->file.path,
            gn_npz_count(a->zip), w->n_relations);
}

static gn_status *check_counts(work *w, arrays *a)
{
    for (int k = 0; k < w->n_relations; k++) {
        int64_t n, is = gn_dataset_edges(w->d, k + 1);
        GN_TRY(read_count(a, w->relations[k].key, INT64_MAX, &n));
        if (n != is)
            GN_FAIL(GN_ERR_DATA, "%s: %s: %lld: expected %lld, the edges in edge_index_dict.npz",
                    a->file.path, w->relations[k].key, (long long)n, (long long)is);
    }
    return NULL;
}

/* ---- what lies on rows and edges ---- */

/* "node_feat_dict.npz" -> "x", "edge_feat_dict" -> "attr", "node_year" -> "year"; false: neither.
 */
static bool column_of(const char *file, char name[GN_TRIPLET_NAME], bool *of_edges)
{
    static const char dict[] = "_dict";
    const char *dot = strchr(file, '.');
    size_t n = dot ? (size_t)(dot - file) : 0;
    *of_edges = !strncmp(file, "edge_", 5);
    if (n <= 5 || n >= GN_TRIPLET_NAME || (!*of_edges && strncmp(file, "node_", 5) != 0))
        return false;
    memcpy(name, file + 5, n - 5);
    name[n - 5] = 0;
    n -= 5;
    if (n >= sizeof dict && !strcmp(name + n - (sizeof dict - 1), dict))
        name[n - (sizeof dict - 1)] = 0;
    if (!strcmp(name, "feat")) memcpy(name, *of_edges ? "attr" : "x", *of_edges ? 5 : 2);
    return true;
}

static gn_status *take_column(work *w, arrays *a, const char *key, const char *name, bool of_edges)
{
    char what[GN_NPZ_WHAT];
    gn_table_column c = {.on_edges = of_edges};
    gn_ndarray values;
    snprintf(what, sizeof what, "%s: %s", a->file.path, key);
    if (!of_edges) c.over = type_of(w, key);
    for (int k = 0; of_edges && k < w->n_relations; k++)
        if (!strcmp(w->relations[k].key, key)) c.over = k + 1;
    if (!c.over)
        GN_FAIL(GN_ERR_DATA, "%s: there is no such %s", what,
                of_edges ? "relation" : "type of nodes");
    int64_t rows = of_edges ? gn_dataset_edges(w->d, c.over) : gn_dataset_rows(w->d, c.over);
    bool floats = !strcmp(name, of_edges ? "attr" : "x");
    GN_TRY(gn_npz_array(a->zip, key, &values));
    bool flat = !floats && values.rank == 2 && values.dim[1] == 1;
    gn_status *s = gn_array_column(what, &values, rows, floats, flat, &c);
    gn_ndarray_free(&values);
    if (!s) return gn_dataset_add_column(w->d, name, &c);
    free(c.data);
    return s;
}

static gn_status *read_columns(work *w, const char *file)
{
    char name[GN_TRIPLET_NAME];
    bool of_edges;
    arrays a;
    if (!column_of(file, name, &of_edges))
        GN_FAIL(GN_ERR_DATA, "%s/%s: expected names that begin with node_ or edge_", w->folder,
                file);
    gn_status *s = open_arrays(w, file, true, &a);
    for (int k = 0; !s && k < gn_npz_count(a.zip); k++)
        s = take_column(w, &a, gn_npz_name(a.zip, k), name, of_edges);
    close_arrays(&a);
    return s;
}

/* The other files, in the order of their names. */
static gn_status *read_others(work *w)
{
    static const char *const read[] = {"num_nodes_dict.npz", "num_edges_dict.npz",
                                       "edge_index_dict.npz"};
    static const char label[] = "-label.npz";
    char file[256];
    int count = 1;
    for (int k = 0; k < count; k++) {
        GN_TRY(gn_folder_nth_file(w->folder, ".npz", k, file, sizeof file, &count));
        size_t n = strlen(file);
        bool done = n >= sizeof label && !strcmp(file + n - (sizeof label - 1), label);
        for (int i = 0; i < 3; i++) done = done || !strcmp(file, read[i]);
        if (!done) GN_TRY(read_columns(w, file));
    }
    return NULL;
}

/* ---- labels ---- */

static gn_status *read_labels(work *w, arrays *a)
{
    char what[GN_NPZ_WHAT];
    const char *key = gn_npz_count(a->zip) == 1 ? gn_npz_name(a->zip, 0) : "";
    int space = type_of(w, key);
    gn_ndarray values;
    gn_float_rows rows = {0};
    if (!space)
        GN_FAIL(GN_ERR_DATA, "%s: expected one array, under the name of the type that has labels",
                a->file.path);
    snprintf(what, sizeof what, "%s: %s", a->file.path, key);
    GN_TRY(gn_npz_array(a->zip, key, &values));
    gn_status *s = gn_array_floats_or_none(what, &values, gn_dataset_rows(w->d, space), &rows);
    if (!s) s = gn_targets_take(what, &rows, space, w->d);
    free(rows.v);
    gn_ndarray_free(&values);
    return s ? s : gn_ogb_read_split(&w->split, key, w->d);
}

static gn_status *read_all(work *w, gn_reading *r)
{
    GN_TRY(gn_ogb_find_split(w->folder, r, &w->split));
    GN_TRY(gn_dataset_new_read(r, &w->d));
    w->d->typed = true;
    GN_TRY(with_arrays(w, "num_nodes_dict.npz", true, read_types));
    GN_TRY(with_arrays(w, "num_edges_dict.npz", true, list_relations));
    GN_TRY(with_arrays(w, "edge_index_dict.npz", true, read_edges));
    GN_TRY(with_arrays(w, "num_edges_dict.npz", true, check_counts));
    GN_TRY(read_others(w));
    GN_TRY(with_arrays(w, "node-label.npz", false, read_labels));
    return gn_ogb_remark_links(&w->split, w->d);
}

gn_status *gn_ogb_binary_typed_read(const char *folder, const char *name, gn_reading *r,
                                    gn_dataset **out)
{
    work *w;
    (void)name;
    GN_MEM(w, 1);
    w->folder = folder;
    gn_status *s = read_all(w, r);
    if (s)
        gn_dataset_free(w->d);
    else
        *out = w->d;
    free(w->type);
    free(w->relations);
    free(w);
    return s;
}
