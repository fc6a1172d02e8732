/* OGB folders: one graph, many graphs, types; splits, labels that are missing, files as .gz. */
/* links: runtime base */
#include "data_parts.h"

#include <zlib.h>

static const gn_data_options plain = {.normalize_rows = -1, .undirected = -1};

/* Two graphs of 3 and 2 nodes. */
static const char *const graphs[GN_OGB_PARTS] = {
    [GN_OGB_EDGES] = "0,1\n2,0\n1,0\n",
    [GN_OGB_NODE_COUNTS] = "3\n2\n",
    [GN_OGB_EDGE_COUNTS] = "2\n1\n",
    [GN_OGB_NODE_FEATURES] = "1,2\n3,4\n5,6\n7,8\n9,10\n",
    [GN_OGB_EDGE_FEATURES] = "1\n2\n3\n",
    [GN_OGB_GRAPH_LABELS] = "1\n0\n",
    [GN_OGB_TRAIN] = "0\n",
    [GN_OGB_VALID] = "1\n",
    [GN_OGB_TEST] = "1\n",
};

static gn_dataset *parse(const char *const *text)
{
    gn_dataset *d;
    must(parse_parts(gn_ogb_parse, text, GN_OGB_PARTS, &plain, &d));
    return d;
}

START_TEST(many_graphs)
{
    static const int64_t src[] = {0, 2, 4}, dst[] = {1, 0, 3}, to[] = {0, 0, 0, 1, 1};
    gn_dataset *d = parse(graphs);
    ck_assert(d->n_nodes == 5 && d->n_edges == 3 && d->n_features == 2 && d->edge_dim == 1);
    ck_assert_mem_eq(d->src, src, sizeof src);
    ck_assert_mem_eq(d->dst, dst, sizeof dst);
    ck_assert(d->n_tables == 1 && d->labelled == 1 && gn_dataset_rows(d, 1) == 2);
    ck_assert_str_eq(d->relations[0].name, "member");
    ck_assert_mem_eq(d->relations[0].to, to, sizeof to);
    ck_assert(d->y[0] == 1 && d->y[1] == 0 && d->n_classes == 2);
    ck_assert(d->train_mask[0] && d->val_mask[1] && d->test_mask[1] && !d->train_mask[1]);
    ck_assert(d->x[9] == 10 && d->edge_attr[2] == 3);
    gn_dataset_free(d);
}
END_TEST

START_TEST(one_graph)
{
    const char *const text[GN_OGB_PARTS] = {[GN_OGB_EDGES] = "0,1\n",
                                            [GN_OGB_NODE_COUNTS] = "3\n",
                                            [GN_OGB_EDGE_COUNTS] = "1\n",
                                            [GN_OGB_NODE_LABELS] = "4.0\nnan\n0.0\n"};
    gn_dataset *d = parse(text);
    ck_assert(d->n_nodes == 3 && d->n_tables == 0 && d->labelled == 0 && d->n_classes == 5);
    ck_assert(d->y[0] == 4 && d->y[1] == -1 && d->y[2] == 0 && !d->train_mask);
    gn_dataset_free(d);
}
END_TEST

/* Several tasks, or other numbers than classes, are targets; some may be missing. */
START_TEST(labels_of_several_tasks)
{
    static const float target[] = {1, 0, 0, 0};
    static const uint8_t known[] = {1, 0, 0, 1};
    const char *text[GN_OGB_PARTS];
    memcpy(text, graphs, sizeof text);
    text[GN_OGB_GRAPH_LABELS] = "1,\n,0\n";
    gn_dataset *d = parse(text);
    const gn_table_column *c = column(d, "graph.target"), *k = column(d, "graph.target_known");
    ck_assert(!d->y && d->labelled == 1 && d->train_mask[0]);
    ck_assert(c->over == 1 && c->elem == GN_F32 && c->rank == 1 && c->dim[0] == 2);
    ck_assert_mem_eq(c->data, target, sizeof target);
    ck_assert_mem_eq(k->data, known, sizeof known);
    gn_dataset_free(d);
    static const char *const numbers[] = {"0.5\n1\n", "1\n-1\n"};
    for (int i = 0; i < 2; i++) {
        text[GN_OGB_GRAPH_LABELS] = numbers[i];
        d = parse(text);
        ck_assert(!d->y && column(d, "graph.target")->dim[0] == 1);
        ck_assert_ptr_null(gn_dataset_column(d, "graph.target_known"));
        gn_dataset_free(d);
    }
}
END_TEST

#define BAD(part, text, words)                                                                     \
    parts_fail(gn_ogb_parse, graphs, GN_OGB_PARTS, GN_OGB_##part, (text), (words), __LINE__)

START_TEST(refuses_what_does_not_fit)
{
    BAD(EDGES, "0,1\n2,3\n1,0\n", "a:2: 2, 3: expected nodes from 0 to 2");
    BAD(EDGES, "0,1\n2,0\n-1,0\n", "a:3: -1, 0: expected nodes from 0 to 1");
    BAD(EDGES, "0,1\n", "a: 1 rows: expected 3, as num-edge-list says");
    BAD(NODE_COUNTS, "", "b: no graph");
    BAD(NODE_COUNTS, "3\n-2\n", "b:2: '-2': expected how many there are of a graph");
    BAD(NODE_COUNTS, "3\n2\n1\n", "c: 2 rows: expected 3, as num-node-list says");
    BAD(NODE_COUNTS, "3\n9999999999\n", "b: 10000000002 nodes: expected at most");
    BAD(NODE_COUNTS, "3\n2000000000\n", "b: 3 edges, and a node 2000000002");
    BAD(EDGE_COUNTS, "2\n9223372036854775807\n", "c:2: '9223372036854775807': expected how many");
    BAD(NODE_FEATURES, "1\n2\n", "d: 2 rows: expected 5, as num-node-list says");
    BAD(NODE_FEATURES, "1\n2\n3\n4\ninf\n", "d:5: 'inf': expected a finite number");
    BAD(EDGE_FEATURES, "1\n", "e: 1 rows: expected 3, as num-edge-list says");
    BAD(GRAPH_LABELS, "1\n", "g: 1 rows: expected 2, one for each graph");
    BAD(GRAPH_LABELS, "1\n4000\n", "g: 4001 classes for 2 rows");
    BAD(GRAPH_LABELS, "a b\nc\n", "g:1: 'a': expected a finite number");
    BAD(TRAIN, "2\n", "h:1: '2': expected a row from 0 to 1");
    BAD(VALID, NULL, "j: expected train.csv, valid.csv and test.csv beside each other");
}
END_TEST

START_TEST(survives_changes) { parts_survive(gn_ogb_parse, graphs, GN_OGB_PARTS); }
END_TEST

/* ---- folders ---- */

static void make_folder(const char *root, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void zip(const char *root, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.csv.gz", root, name);
    gzFile f = gzopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    gzputs(f, text);
    gzclose(f);
}

START_TEST(folders_have_raw_and_split)
{
    char root[] = "/tmp/gnnc-ogb-XXXXXX";
    gn_dataset *d;
    ck_assert_ptr_nonnull(mkdtemp(root));
    make_folder(root, "raw");
    make_folder(root, "split");
    make_folder(root, "split/time");
    make_folder(root, "split/random");
    zip(root, "raw/edge", "0,1\n1,2\n");
    zip(root, "raw/num-node-list", "3\n");
    zip(root, "raw/num-edge-list", "2\n");
    zip(root, "raw/node-label", "0\n1\n0\n");
    zip(root, "raw/edge-feat", "5,6\n7,8\n");
    for (int k = 0; k < 3; k++) {
        static const char *const part[] = {"train", "valid", "test"};
        static const char *const row[] = {"0\n", "1\n", "2\n"};
        char name[64];
        snprintf(name, sizeof name, "split/random/%s", part[k]);
        zip(root, name, row[k]);
        snprintf(name, sizeof name, "split/time/%s", part[k]);
        zip(root, name, row[2 - k]);
    }
    d = read_path(root);
    ck_assert(d->n_edges == 2 && d->train_mask[0] && d->test_mask[2] && !d->split_drawn);
    gn_dataset_free(d);
    d = read_with(
        (gn_data_options){.path = root, .split = 1, .normalize_rows = -1, .undirected = 1});
    static const int64_t src[] = {0, 1, 1, 2};
    static const float attr[] = {5, 6, 5, 6, 7, 8, 7, 8};
    ck_assert(d->n_edges == 4 && d->train_mask[2] && d->test_mask[0]);
    ck_assert_mem_eq(d->src, src, sizeof src);
    ck_assert_mem_eq(d->edge_attr, attr, sizeof attr);
    gn_dataset_free(d);
    gn_data_options opt = {.path = root, .split = 2, .normalize_rows = -1, .undirected = -1};
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_USAGE, "split 2: there are 2");
    remove_folder(root);
}
END_TEST

/* OGB's list of datasets, not the folder, says which have their edges reversed. */
START_TEST(some_names_are_undirected)
{
    static const struct {
        const char *name;
        int64_t edges;
    } all[] = {{"ogbg_molhiv", 2}, {"ogbn-products", 2}, {"ogbn_arxiv", 1}};
    char root[] = "/tmp/gnnc-ogb-XXXXXX", folder[64];
    ck_assert_ptr_nonnull(mkdtemp(root));
    for (int k = 0; k < 3; k++) {
        make_folder(root, all[k].name);
        snprintf(folder, sizeof folder, "%s/%s", root, all[k].name);
        zip(folder, "edge", "0,1\n");
        zip(folder, "num-node-list", "2\n");
        zip(folder, "num-edge-list", "1\n");
        gn_dataset *d = read_path(folder);
        ck_assert_int_eq(d->n_edges, all[k].edges);
        ck_assert_str_eq(d->name, all[k].name);
        gn_dataset_free(d);
    }
    make_folder(folder, "split");
    make_folder(folder, "split/target");
    write_part(folder, "split/target/train.pt", "x", 1);
    gn_dataset *d;
    gn_data_options opt = {.path = folder, .normalize_rows = -1, .undirected = -1};
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_DATA, "train.pt: expected a file of torch.save");
    for (int k = 0; k < 3; k++) {
        static const char *const name[] = {"split/target/train.pt", "split/target/valid.pt",
                                           "split/target/test.pt"};
        gn_bytes b;
        must(gn_file_read(source_path("tests/data/torch/loops.pt"), &b));
        write_part(folder, name[k], b.p, b.n);
        gn_bytes_free(&b);
    }
    d = read_path(folder);
    ck_assert(d->n_edges == 3 && column(d, "g.kind")->classes == 1);
    gn_dataset_free(d);
    opt.undirected = 1;
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_USAGE, "facts have a direction: --undirected off");
    remove_folder(root);
}
END_TEST

static int64_t edges_in(const char *root, const char *folder)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, folder);
    gn_dataset *d = read_path(path);
    int64_t n = d->n_edges;
    gn_dataset_free(d);
    return n;
}

/* Not of the folders around it, and not what stands within a name. */
START_TEST(names_are_those_of_the_folder)
{
    static const char *const raws[] = {"ogbn_products",
                                       "ogbn_products/ogbn_arxiv",
                                       "ogbn_products/ogbn_arxiv/raw",
                                       "not_ogbn_products",
                                       "ogbl_ppa",
                                       "ogbl_ppa/raw"};
    char root[] = "/tmp/gnnc-ogb-XXXXXX", folder[64];
    ck_assert_ptr_nonnull(mkdtemp(root));
    for (size_t k = 0; k < sizeof raws / sizeof *raws; k++) {
        make_folder(root, raws[k]);
        snprintf(folder, sizeof folder, "%s/%s", root, raws[k]);
        if (k != 2 && k != 3 && k != 5) continue;
        zip(folder, "edge", "0,1\n");
        zip(folder, "num-node-list", "2\n");
        zip(folder, "num-edge-list", "1\n");
    }
    ck_assert_int_eq(edges_in(root, "ogbn_products/ogbn_arxiv"), 1);
    ck_assert_int_eq(edges_in(root, "ogbn_products/ogbn_arxiv/raw"), 1);
    ck_assert_int_eq(edges_in(root, "not_ogbn_products"), 1);
    ck_assert_int_eq(edges_in(root, "ogbl_ppa"), 2);
    ck_assert_int_eq(edges_in(root, "ogbl_ppa/"), 2);
    ck_assert_int_eq(edges_in(root, "ogbl_ppa/raw//"), 2);
    remove_folder(root);
}
END_TEST

static void fill_typed(const char *root)
{
    static const char *const folders[] = {"raw",
                                          "raw/relations",
                                          "raw/relations/author___writes___paper",
                                          "raw/relations/paper___cites___paper",
                                          "raw/relations/author___cites___author",
                                          "raw/node-feat",
                                          "raw/node-feat/paper",
                                          "raw/node-label",
                                          "raw/node-label/paper",
                                          "split",
                                          "split/time",
                                          "split/time/paper"};
    for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) make_folder(root, folders[k]);
    zip(root, "raw/num-node-dict", "paper,author\n3,2\n");
    zip(root, "raw/triplet-type-list",
        "paper,cites,paper\nauthor,writes,paper\nauthor,cites,author\n");
    zip(root, "raw/relations/author___writes___paper/edge", "0,2\n1,0\n");
    zip(root, "raw/relations/author___writes___paper/edge-feat", "0.5\n1\n");
    zip(root, "raw/relations/paper___cites___paper/edge", "0,1\n");
    zip(root, "raw/relations/author___cites___author/edge", "1,1\n");
    zip(root, "raw/node-feat/paper/node-feat", "1,2\n3,4\n5,6\n");
    zip(root, "raw/node-label/paper/node-label", "2\n0\n1\n");
    zip(root, "split/time/paper/train", "0\n");
    zip(root, "split/time/paper/valid", "1\n");
    zip(root, "split/time/paper/test", "2\n");
}

START_TEST(folders_of_types)
{
    char root[] = "/tmp/gnnc-ogb-XXXXXX";
    static const char *const name[] = {"cites", "writes", "paper__cites__paper"};
    static const int src[] = {1, 1, 2}, dst[] = {1, 2, 2};
    ck_assert_ptr_nonnull(mkdtemp(root));
    fill_typed(root);
    gn_dataset *d = read_path(root);
    ck_assert(d->typed && d->n_tables == 2 && d->n_relations == 3 && d->labelled == 2);
    ck_assert_str_eq(d->tables[0].name, "author");
    ck_assert_str_eq(d->tables[1].name, "paper");
    ck_assert(d->tables[0].rows == 2 && d->tables[1].rows == 3);
    for (int k = 0; k < 3; k++) {
        ck_assert_str_eq(d->relations[k].name, name[k]);
        ck_assert(d->relations[k].src == src[k] && d->relations[k].dst == dst[k]);
    }
    ck_assert(d->relations[1].from[1] == 1 && d->relations[1].to[0] == 2);
    ck_assert(((float *)column(d, "paper.x")->data)[5] == 6);
    ck_assert(((float *)column(d, "writes.attr")->data)[0] == 0.5f);
    ck_assert(d->y[0] == 2 && d->n_classes == 3 && d->train_mask[0] && d->test_mask[2]);
    gn_dataset_free(d);
    remove_folder(root);
}
END_TEST

START_TEST(folders_of_types_that_are_wrong)
{
    static const struct {
        const char *file, *text, *words;
    } bad[] = {
        {"raw/num-node-dict", "", "num-node-dict.csv.gz: expected types of nodes"},
        {"raw/num-node-dict", "paper,author\n3\n", ":2: expected a line of 2 numbers of nodes"},
        {"raw/num-node-dict", "paper,author\n3,x\n", ":2: 'x': expected a number of nodes"},
        {"raw/num-node-dict", "paper,author\n3,2\n3,2\n", ":3: many graphs of several types"},
        {"raw/num-node-dict", "paper,paper\n3,2\n", "two types of nodes are named 'paper'"},
        {"raw/num-node-dict", "paper,venue\n3,2\n", "num-node-dict has no type 'author'"},
        {"raw/triplet-type-list", "a,b\n", ":1: expected `source,relation,target`"},
        {"raw/triplet-type-list", "", "triplet-type-list.csv.gz: no relations"},
        {"raw/relations/author___writes___paper/edge", "0,3\n",
         "edge.csv.gz:1: '3': expected a row"},
        {"raw/relations/author___writes___paper/edge-feat", "1\n", "1 rows: expected 2"},
        {"raw/node-feat/paper/node-feat", "1,2\n3\n", "node-feat.csv.gz:2: 1 number: expected 2"},
        {"split/time/paper/train", "5\n", "train.csv.gz:1: '5': expected a row from 0 to 2"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char root[] = "/tmp/gnnc-ogb-XXXXXX";
        gn_dataset *d;
        ck_assert_ptr_nonnull(mkdtemp(root));
        fill_typed(root);
        zip(root, bad[k].file, bad[k].text);
        gn_data_options opt = {.path = root, .normalize_rows = -1, .undirected = -1};
        must_fail(gn_dataset_read(&opt, &d), GN_ERR_DATA, bad[k].words, (int)k);
        remove_folder(root);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ogb");
    TCase *t = tcase_create("ogb");
    tcase_add_test(t, many_graphs);
    tcase_add_test(t, one_graph);
    tcase_add_test(t, labels_of_several_tasks);
    tcase_add_test(t, refuses_what_does_not_fit);
    tcase_add_test(t, survives_changes);
    tcase_add_test(t, folders_have_raw_and_split);
    tcase_add_test(t, some_names_are_undirected);
    tcase_add_test(t, names_are_those_of_the_folder);
    tcase_add_test(t, folders_of_types);
    tcase_add_test(t, folders_of_types_that_are_wrong);
    suite_add_tcase(s, t);
    return suite_run(s);
}
