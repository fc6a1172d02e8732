/* OGB folders in binary form: one graph, many graphs, types; splits as .csv and .pt. */
/* links: runtime base */
#include "data_arrays.h"

#include <math.h>

static const gn_data_options plain = {.normalize_rows = -1, .undirected = -1};

/* ---- one type ---- */

enum { EDGES, NODES, COUNTS, FEATURES, YEARS, KINDS, ARRAYS };

/* Two graphs of 3 and 2 nodes. */
static const array graphs[ARRAYS] = {
    [EDGES] = {"edge_index", "<i8", "(2, 3)", 6, {0, 2, 1, 1, 0, 0}},
    [NODES] = {"num_nodes_list", "<i8", "(2,)", 2, {3, 2}},
    [COUNTS] = {"num_edges_list", "<i8", "(2,)", 2, {2, 1}},
    [FEATURES] = {"node_feat", "<f4", "(5, 2)", 10, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
    [YEARS] = {"node_year", "<i8", "(5, 1)", 5, {2010, 2011, 2012, 2013, 2014}},
    [KINDS] = {"edge_kind", "<i4", "(3,)", 3, {1, 0, 1}},
};
static const array classes = {"graph_label", "<f4", "(2, 1)", 2, {1, 0}};

typedef struct files {
    array data[ARRAYS], nodes, graphs;
    const char *split[3]; /* .csv */
    const char *dict;     /* a file of tests/data/torch */
} files;

static files good(void)
{
    files f = {.graphs = classes, .split = {"0\n", "1\n", "1\n"}};
    memcpy(f.data, graphs, sizeof graphs);
    return f;
}

/* One graph of three nodes, of which one has no class. */
static files one(void)
{
    files f = {.nodes = {"node_label", "<f4", "(3, 1)", 3, {4, (double)NAN, 0}},
               .dict = "split.pt"};
    f.data[EDGES] = (array){"edge_index", "<i8", "(2, 1)", 2, {0, 2}};
    f.data[NODES] = (array){"num_nodes_list", "<i8", "(1,)", 1, {3}};
    f.data[COUNTS] = (array){"num_edges_list", "<i8", "(1,)", 1, {1}};
    return f;
}

static gn_status *parse(const files *f, gn_dataset **out)
{
    gn_input part[GN_OGB_BINARY_PARTS] = {{0}};
    gn_reading r = {.opt = &plain, .origin = "ogb"};
    blob data = npz_of(f->data, ARRAYS), nodes = npz_of(&f->nodes, 1), all = npz_of(&f->graphs, 1);
    gn_bytes dict = {0};
    char path[128];
    *out = NULL;
    part[GN_OGB_BINARY_DATA] = (gn_input){exact(data.p, data.n), data.n, "data.npz"};
    if (f->nodes.name) part[1] = (gn_input){exact(nodes.p, nodes.n), nodes.n, "node-label.npz"};
    if (f->graphs.name) part[2] = (gn_input){exact(all.p, all.n), all.n, "graph-label.npz"};
    for (int k = 0; k < 3; k++) {
        static const char *const name[] = {"train.csv", "valid.csv", "test.csv"};
        size_t n = f->split[k] ? strlen(f->split[k]) : 0;
        if (f->split[k])
            part[GN_OGB_BINARY_TRAIN + k] = (gn_input){exact(f->split[k], n), n, name[k]};
    }
    snprintf(path, sizeof path, "tests/data/torch/%s", f->dict ? f->dict : "");
    if (f->dict) must(gn_file_read(source_path(path), &dict));
    if (f->dict) part[GN_OGB_BINARY_SPLIT_DICT] = (gn_input){dict.p, dict.n, "split_dict.pt"};
    gn_status *s = gn_ogb_binary_parse(part, &r, out);
    for (int k = 0; k < GN_OGB_BINARY_PARTS; k++) free((void *)part[k].bytes);
    return s ? s : gn_dataset_check(*out);
}

START_TEST(many_graphs)
{
    static const int64_t src[] = {0, 2, 4}, dst[] = {1, 0, 3}, to[] = {0, 0, 0, 1, 1};
    static const int32_t year[] = {2010, 2011, 2012, 2013, 2014}, kind[] = {1, 0, 1};
    files f = good();
    gn_dataset *d;
    must(parse(&f, &d));
    ck_assert(d->n_nodes == 5 && d->n_edges == 3 && d->n_features == 2 && d->x[9] == 10);
    ck_assert_mem_eq(d->src, src, sizeof src);
    ck_assert_mem_eq(d->dst, dst, sizeof dst);
    ck_assert(d->n_tables == 1 && d->labelled == 1 && gn_dataset_rows(d, 1) == 2);
    ck_assert_mem_eq(d->relations[0].to, to, sizeof to);
    ck_assert_mem_eq(column(d, "node.year")->data, year, sizeof year);
    ck_assert_mem_eq(column(d, "g.kind")->data, kind, sizeof kind);
    ck_assert_int_eq(column(d, "g.kind")->classes, 2);
    ck_assert(d->y[0] == 1 && d->y[1] == 0 && d->n_classes == 2);
    ck_assert(d->train_mask[0] && d->val_mask[1] && d->test_mask[1] && !d->train_mask[1]);
    gn_dataset_free(d);
}
END_TEST

START_TEST(one_graph)
{
    files f = one();
    gn_dataset *d;
    must(parse(&f, &d));
    ck_assert(d->n_nodes == 3 && d->n_edges == 1 && d->n_tables == 0 && d->labelled == 0);
    ck_assert(d->y[0] == 4 && d->y[1] == -1 && d->y[2] == 0 && d->n_classes == 5);
    ck_assert(d->train_mask[0] && !d->train_mask[1] && d->train_mask[2] && d->val_mask[1]);
    ck_assert_int_eq(count_mask(d->test_mask, 3), 0);
    gn_dataset_free(d);
    f.nodes = (array){"node_label", "<i8", "(3, 2)", 6, {1, 0, 1, 0, 0, 1}};
    f.data[FEATURES] = (array){"edge_feat", "<i8", "(1,)", 1, {7}};
    must(parse(&f, &d));
    ck_assert(!d->y && column(d, "node.target")->dim[0] == 2 && d->train_mask[2]);
    ck_assert(d->edge_dim == 1 && d->edge_attr[0] == 7);
    gn_dataset_free(d);
}
END_TEST

static void bad(files f, const char *words, int line)
{
    gn_dataset *d;
    must_fail(parse(&f, &d), GN_ERR_DATA, words, line);
}
#define BAD(of, change, words)                                                                     \
    do {                                                                                           \
        files f = of();                                                                            \
        f.change;                                                                                  \
        bad(f, (words), __LINE__);                                                                 \
    } while (0)

START_TEST(files_that_are_wrong)
{
    BAD(good, data[NODES].name = NULL, "data.npz: no num_nodes_list, which OGB's");
    BAD(good, data[EDGES].name = NULL, "data.npz: no array 'edge_index'");
    BAD(good, data[EDGES].v[1] = 3, "edge_index: edge 1 ends at 3: expected a node from 0 to 2");
    BAD(good, data[EDGES].v[5] = 2, "edge_index: edge 2 ends at 2: expected a node from 0 to 1");
    BAD(good, data[EDGES].v[0] = -1, "edge_index: edge 0 ends at -1: expected a node");
    BAD(good, data[EDGES].shape = "(3, 2)", "edge_index: shape [3, 2]: expected [2, 3], as num");
    BAD(good, data[COUNTS].v[0] = 3, "edge_index: shape [2, 3]: expected [2, 4], as num_edges");
    BAD(good, data[COUNTS].v[0] = -2, "num_edges_list[0] is -2: expected how many there are");
    BAD(good, data[COUNTS].v[0] = 0x1p62, "num_edges_list[0] is 4.61169e+18: expected how many");
    BAD(good, data[COUNTS] = ((array){"num_edges_list", "<i8", "(1,)", 1, {3}}),
        "num_edges_list: shape [1]: expected [2]");
    BAD(good, data[NODES].v[0] = 0x1p31, "num_nodes_list: 2147483650 nodes: expected at most");
    BAD(good, data[NODES].v[0] = 2e9, "data.npz: 3 edges, and a node 2000000001");
    BAD(good, data[NODES] = ((array){"num_nodes_list", "<i8", "(0,)", 0, {0}}),
        "num_nodes_list: shape [0]: expected a number for each graph");
    BAD(good, data[FEATURES].shape = "(2, 5)", "node_feat: shape [2, 5]: expected 5 rows");
    BAD(good, data[FEATURES].v[3] = (double)NAN, "node_feat: row 1, column 1 is nan: expected fin");
    BAD(good, data[KINDS].shape = "(1, 3)", "edge_kind: shape [1, 3]: expected 3 rows");
    BAD(good, data[KINDS].name = "kind", "kind: expected names that begin with node_ or edge_");
    BAD(good, graphs.name = "label", "graph-label.npz: no array 'graph_label'");
    BAD(good, graphs.shape = "(1, 2)", "graph_label: shape [1, 2]: expected 2 rows");
    BAD(good, graphs.v[0] = 4000, "graph_label: 4001 classes for 2 rows");
    BAD(good, graphs.v[0] = (double)INFINITY, "graph_label: row 0, column 0 is inf: expected");
    BAD(good, split[0] = "2\n", "train.csv:1: '2': expected a row from 0 to 1");
    BAD(good, split[1] = NULL, "expected train.csv, valid.csv and test.csv beside each other");
    BAD(good, dict = "split.pt", "split_dict.pt: train: number 1 is 2: expected a row from 0 to 1");
    BAD(good, dict = "types.pt", "split_dict.pt: train: expected an array of numbers of rows");
    BAD(good, dict = "strided.pt", "split_dict.pt: byte 145: tensor: a view with strides");
}
END_TEST

/* ---- folders ---- */

static void make_folder(const char *root, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void put(const char *root, const char *name, const array *a, int n)
{
    blob b = npz_of(a, n);
    write_part(root, name, b.p, b.n);
}

static void put_torch(const char *root, const char *to, const char *name)
{
    char path[128];
    gn_bytes b;
    snprintf(path, sizeof path, "tests/data/torch/%s", name);
    must(gn_file_read(source_path(path), &b));
    write_part(root, to, b.p, b.n);
    gn_bytes_free(&b);
}

START_TEST(folders_have_raw_and_split)
{
    char root[] = "/tmp/gnnc-ogb-XXXXXX";
    files f = one();
    ck_assert_ptr_nonnull(mkdtemp(root));
    make_folder(root, "raw");
    make_folder(root, "split");
    make_folder(root, "split/time");
    put(root, "raw/data.npz", f.data, ARRAYS);
    put(root, "raw/node-label.npz", &f.nodes, 1);
    put_torch(root, "split/time/split_dict.pt", "old-split.pt");
    gn_dataset *d = read_path(root);
    ck_assert(d->n_edges == 1 && d->train_mask[2] && d->val_mask[1] && !d->split_drawn);
    gn_dataset_free(d);
    remove_folder(root);
}
END_TEST

/* ---- links ---- */

/* A folder of three nodes with these files as its split. */
static void fill_links(const char *root, const char *const file[3])
{
    static const char *const name[] = {"split/a/train.pt", "split/a/valid.pt", "split/a/test.pt"};
    files f = one();
    make_folder(root, "raw");
    make_folder(root, "split");
    make_folder(root, "split/a");
    put(root, "raw/data.npz", f.data, FEATURES);
    for (int k = 0; k < 3; k++)
        if (file[k]) put_torch(root, name[k], file[k]);
}

static void check_mask(const gn_dataset *d, const char *name, const char *yes)
{
    const uint8_t *mask = column(d, name)->data;
    for (size_t e = 0; yes[e]; e++) ck_assert_int_eq(mask[e], yes[e] == '1');
}

/* edge and edge_neg of one file, source_node and target_node of another. */
START_TEST(links_are_a_relation)
{
    char root[] = "/tmp/gnnc-ogb-XXXXXX";
    static const char *const file[] = {"ends.pt", "edges.pt", "edges.pt"};
    static const int64_t from[] = {0, 1, 2, 0, 1, 0, 1}, to[] = {1, 2, 0, 2, 1, 2, 1};
    static const float labels[] = {1, 1, 1, 1, 0, 1, 0};
    ck_assert_ptr_nonnull(mkdtemp(root));
    fill_links(root, file);
    gn_dataset *d = read_path(root);
    const gn_relation *r = &d->relations[0];
    ck_assert(d->n_edges == 1 && d->n_relations == 1 && r->n_edges == 7 && d->n_remarks == 0);
    ck_assert_str_eq(r->name, "seeds");
    ck_assert_mem_eq(r->from, from, sizeof from);
    ck_assert_mem_eq(r->to, to, sizeof to);
    ck_assert_mem_eq(column(d, "seeds.labels")->data, labels, sizeof labels);
    check_mask(d, "seeds.train_mask", "1110000");
    check_mask(d, "seeds.val_mask", "0001100");
    check_mask(d, "seeds.test_mask", "0000011");
    gn_dataset_free(d);
    remove_folder(root);
}
END_TEST

START_TEST(facts_are_edges)
{
    char root[] = "/tmp/gnnc-ogb-XXXXXX";
    static const char *const file[] = {"facts.pt", "facts.pt", "facts.pt"};
    static const int64_t from[] = {0, 2, 0, 2, 0, 2};
    static const int32_t kind[] = {1, 0, 1, 0, 1, 0};
    ck_assert_ptr_nonnull(mkdtemp(root));
    fill_links(root, file);
    gn_dataset *d = read_path(root);
    ck_assert(d->n_edges == 6 && d->n_relations == 0 && column(d, "g.kind")->classes == 2);
    ck_assert_mem_eq(d->src, from, sizeof from);
    ck_assert_mem_eq(column(d, "g.kind")->data, kind, sizeof kind);
    check_mask(d, "g.val_mask", "001100");
    gn_dataset_free(d);
    remove_folder(root);
}
END_TEST

START_TEST(links_that_are_wrong)
{
    static const struct {
        const char *train, *valid, *words;
    } bad[] = {{"split.pt", "edges.pt", "train.pt: expected `edge`, or `source_node` and"},
               {"tensors.pt", "edges.pt", "train.pt: expected `edge`"},
               {"edges.pt", "facts.pt", "valid.pt: expected what train.pt has: facts or edges"},
               {"edges.pt", "far.pt", "valid.pt: edge_neg: edge 0 ends at 3: expected a node"},
               {"short.pt", "edges.pt", "train.pt: sources, targets and kinds are not as many"},
               {"flat.pt", "edges.pt", "train.pt: edge: shape [2]: expected [edges, 2]"},
               {"seeds.pt", "edges.pt", "train.pt: expected `edge`"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char root[] = "/tmp/gnnc-ogb-XXXXXX";
        const char *const file[] = {bad[k].train, bad[k].valid, "edges.pt"};
        gn_dataset *d;
        ck_assert_ptr_nonnull(mkdtemp(root));
        fill_links(root, file);
        gn_data_options opt = {.path = root, .normalize_rows = -1, .undirected = -1};
        must_fail(gn_dataset_read(&opt, &d), GN_ERR_DATA, bad[k].words, (int)k);
        remove_folder(root);
    }
}
END_TEST

enum { TYPED_NODES, TYPED_COUNTS, TYPED_EDGES, TYPED_FEATURES, TYPED_YEARS, TYPED_ATTR, LABELS };
enum { TYPED_FILES = LABELS + 1, MOST = 3 };
static const char *const typed_name[TYPED_FILES] = {
    "num_nodes_dict.npz", "num_edges_dict.npz", "edge_index_dict.npz", "node_feat_dict.npz",
    "node_year.npz",      "edge_feat_dict.npz", "node-label.npz"};
static const array typed[TYPED_FILES][MOST] = {
    [TYPED_NODES] = {{"paper", "<i8", "(1,)", 1, {3}}, {"author", "<i8", "(1,)", 1, {2}}},
    [TYPED_COUNTS] = {{"paper___cites___paper", "<i8", "(1,)", 1, {1}},
                      {"author___writes___paper", "<i8", "(1,)", 1, {2}},
                      {"author___cites___author", "<i8", "(1,)", 1, {1}}},
    [TYPED_EDGES] = {{"author___writes___paper", "<i8", "(2, 2)", 4, {0, 1, 2, 0}},
                     {"author___cites___author", "<i8", "(2, 1)", 2, {1, 1}},
                     {"paper___cites___paper", "<i8", "(2, 1)", 2, {0, 1}}},
    [TYPED_FEATURES] = {{"paper", "<f4", "(3, 2)", 6, {1, 2, 3, 4, 5, 6}}},
    [TYPED_YEARS] = {{"paper", "<i8", "(3, 1)", 3, {2010, 2011, 2012}}},
    [TYPED_ATTR] = {{"author___writes___paper", "<f4", "(2, 1)", 2, {0.5, 1}}},
    [LABELS] = {{"paper", "<f4", "(3, 1)", 3, {2, 0, 1}}},
};

/* `changed`: the file that has `a` in the place of its first array; -1: none. */
static void fill_typed(const char *root, int changed, const array *a)
{
    make_folder(root, "raw");
    make_folder(root, "split");
    make_folder(root, "split/time");
    for (int k = 0; k < TYPED_FILES; k++) {
        char name[64];
        array own[MOST];
        memcpy(own, typed[k], sizeof own);
        if (k == changed) own[0] = *a;
        snprintf(name, sizeof name, "raw/%s", typed_name[k]);
        put(root, name, own, MOST);
    }
    put_torch(root, "split/time/split_dict.pt", "types.pt");
}

START_TEST(folders_of_types)
{
    char root[] = "/tmp/gnnc-ogb-XXXXXX";
    static const char *const name[] = {"cites", "writes", "paper__cites__paper"};
    static const int src[] = {1, 1, 2}, dst[] = {1, 2, 2};
    ck_assert_ptr_nonnull(mkdtemp(root));
    fill_typed(root, -1, NULL);
    gn_dataset *d = read_path(root);
    ck_assert(d->typed && d->n_tables == 2 && d->n_relations == 3 && d->labelled == 2);
    ck_assert_str_eq(d->tables[0].name, "author");
    ck_assert(d->tables[0].rows == 2 && d->tables[1].rows == 3);
    for (int k = 0; k < 3; k++) {
        ck_assert_str_eq(d->relations[k].name, name[k]);
        ck_assert(d->relations[k].src == src[k] && d->relations[k].dst == dst[k]);
    }
    ck_assert(d->relations[1].from[1] == 1 && d->relations[1].to[0] == 2);
    ck_assert(((float *)column(d, "paper.x")->data)[5] == 6);
    ck_assert(((int32_t *)column(d, "paper.year")->data)[1] == 2011);
    ck_assert_int_eq(column(d, "paper.year")->rank, 0);
    ck_assert(((float *)column(d, "writes.attr")->data)[0] == 0.5f);
    ck_assert(d->y[0] == 2 && d->n_classes == 3 && d->train_mask[0] && d->train_mask[2]);
    gn_dataset_free(d);
    remove_folder(root);
}
END_TEST

START_TEST(folders_of_types_that_are_wrong)
{
    static const struct {
        int file;
        array a;
        const char *words;
    } bad[] = {
        {TYPED_NODES, {"paper", "<i8", "(2,)", 2, {3, 3}}, "paper: many graphs of several types"},
        {TYPED_NODES, {"paper", "<i8", "(1,)", 1, {-3}}, "paper: expected how many there are"},
        {TYPED_NODES, {"venue", "<i8", "(1,)", 1, {3}}, "num_nodes_dict.npz has no type 'paper'"},
        {TYPED_COUNTS, {"paper__cites", "<i8", "(1,)", 1, {1}}, "expected source___relation___tar"},
        {TYPED_COUNTS, {"a___b___c___d", "<i8", "(1,)", 1, {1}}, "expected source___relation___ta"},
        {TYPED_COUNTS,
         {"paper___cites___paper", "<i8", "(1,)", 1, {2}},
         "paper___cites___paper: 2: expected 1, the edges in edge_index_dict.npz"},
        {TYPED_COUNTS, {NULL, "", "", 0, {0}}, "edge_index_dict.npz: 3 relations: expected 2"},
        {TYPED_EDGES,
         {"author___writes___paper", "<i8", "(2, 2)", 4, {0, 2, 2, 0}},
         "author___writes___paper: edge 1 ends at 2: expected a row from 0 to 1"},
        {TYPED_EDGES,
         {"author___writes___paper", "<i8", "(4,)", 4, {0, 1, 2, 0}},
         "author___writes___paper: shape [4]: expected [2, edges]"},
        {TYPED_EDGES, {NULL, "", "", 0, {0}}, "no array 'author___writes___paper'"},
        {TYPED_FEATURES,
         {"venue", "<f4", "(3, 2)", 6, {0}},
         "venue: there is no such type of node"},
        {TYPED_FEATURES,
         {"paper", "<f4", "(2, 3)", 6, {0}},
         "paper: shape [2, 3]: expected 3 rows"},
        {TYPED_ATTR,
         {"a___b___c", "<f4", "(2, 1)", 2, {0}},
         "a___b___c: there is no such relation"},
        {LABELS, {"venue", "<f4", "(3, 1)", 3, {0}}, "node-label.npz: expected one array"},
        {LABELS, {"paper", "<f4", "(2, 1)", 2, {0}}, "paper: shape [2, 1]: expected 3 rows"},
        {LABELS,
         {"author", "<f4", "(2, 1)", 2, {0}},
         "split_dict.pt: train of author: expected an"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char root[] = "/tmp/gnnc-ogb-XXXXXX";
        gn_dataset *d;
        ck_assert_ptr_nonnull(mkdtemp(root));
        fill_typed(root, bad[k].file, &bad[k].a);
        gn_data_options opt = {.path = root, .normalize_rows = -1, .undirected = -1};
        must_fail(gn_dataset_read(&opt, &d), GN_ERR_DATA, bad[k].words, (int)k);
        remove_folder(root);
    }
}
END_TEST

START_TEST(folders_of_types_name_their_files)
{
    char root[] = "/tmp/gnnc-ogb-XXXXXX";
    gn_dataset *d;
    ck_assert_ptr_nonnull(mkdtemp(root));
    fill_typed(root, -1, NULL);
    put(root, "raw/other.npz", typed[TYPED_YEARS], 1);
    gn_data_options opt = {.path = root, .normalize_rows = -1, .undirected = -1};
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_DATA, "raw/other.npz: expected names that begin");
    remove_folder(root);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ogb_binary");
    TCase *t = tcase_create("ogb_binary");
    tcase_add_test(t, many_graphs);
    tcase_add_test(t, one_graph);
    tcase_add_test(t, files_that_are_wrong);
    tcase_add_test(t, folders_have_raw_and_split);
    tcase_add_test(t, links_are_a_relation);
    tcase_add_test(t, facts_are_edges);
    tcase_add_test(t, links_that_are_wrong);
    tcase_add_test(t, folders_of_types);
    tcase_add_test(t, folders_of_types_that_are_wrong);
    tcase_add_test(t, folders_of_types_name_their_files);
    suite_add_tcase(s, t);
    return suite_run(s);
}
