/* Folders of the TU collection: graphs side by side, their nodes in a relation to them, ten folds.
 */
/* links: runtime base */
#include "data_parts.h"

#include "runtime/data/summary.h"

static const gn_data_options plain = {.normalize_rows = -1, .undirected = -1};

/* Three graphs of 3, 2 and 1 nodes; labels from 2 to 4, two attributes. */
static const char *const good[GN_TU_PARTS] = {
    [GN_TU_A] = "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n5, 4\n6, 6\n",
    [GN_TU_INDICATOR] = "1\n1\n1\n2\n2\n3\n",
    [GN_TU_GRAPH_LABELS] = "7\n-1\n7\n",
    [GN_TU_GRAPH_ATTRIBUTES] = "0.5\n1.5\n-2\n",
    [GN_TU_NODE_LABELS] = "2\n4\n2\n3\n2\n4\n",
    [GN_TU_NODE_ATTRIBUTES] = "1, 2\n3, 4\n5, 6\n7, 8\n9, 10\n11, 12\n",
    [GN_TU_EDGE_LABELS] = "0\n0\n1\n1\n0\n0\n1\n0\n",
    [GN_TU_EDGE_ATTRIBUTES] = "1\n2\n3\n4\n5\n6\n7\n8\n",
};

static gn_dataset *parse(const char *const *text, const gn_data_options *opt)
{
    gn_dataset *d;
    must(parse_parts(gn_tu_parse, text, GN_TU_PARTS, opt, &d));
    return d;
}

START_TEST(attributes_come_before_labels)
{
    static const int64_t src[] = {0, 1, 1, 2, 3, 4, 4, 5}, dst[] = {1, 0, 2, 1, 4, 3, 3, 5};
    static const float x[6][5] = {{1, 2, 1, 0, 0}, {3, 4, 0, 0, 1},  {5, 6, 1, 0, 0},
                                  {7, 8, 0, 1, 0}, {9, 10, 1, 0, 0}, {11, 12, 0, 0, 1}};
    static const float attr[8][3] = {{1, 1, 0}, {2, 1, 0}, {3, 0, 1}, {4, 0, 1},
                                     {5, 1, 0}, {6, 1, 0}, {7, 0, 1}, {8, 1, 0}};
    gn_dataset *d = parse(good, &plain);
    ck_assert_int_eq(d->n_nodes, 6);
    ck_assert_int_eq(d->n_edges, 8);
    ck_assert_mem_eq(d->src, src, sizeof src);
    ck_assert_mem_eq(d->dst, dst, sizeof dst);
    ck_assert_int_eq(d->n_features, 5);
    ck_assert_mem_eq(d->x, x, sizeof x);
    ck_assert_int_eq(d->edge_dim, 3);
    ck_assert_mem_eq(d->edge_attr, attr, sizeof attr);
    gn_dataset_free(d);
}
END_TEST

START_TEST(graphs_are_a_table)
{
    static const int64_t from[] = {0, 1, 2, 3, 4, 5}, to[] = {0, 0, 0, 1, 1, 2};
    static const int32_t y[] = {1, 0, 1};
    static const float target[] = {0.5f, 1.5f, -2};
    gn_dataset *d = parse(good, &plain);
    ck_assert(d->n_tables == 1 && d->n_relations == 1 && d->labelled == 1 && !d->typed);
    ck_assert_str_eq(d->tables[0].name, "graph");
    ck_assert_int_eq(gn_dataset_rows(d, 1), 3);
    const gn_relation *r = &d->relations[0];
    ck_assert_str_eq(r->name, "member");
    ck_assert(r->src == 0 && r->dst == 1 && r->n_edges == 6);
    ck_assert_mem_eq(r->from, from, sizeof from);
    ck_assert_mem_eq(r->to, to, sizeof to);
    ck_assert_int_eq(d->n_classes, 2);
    ck_assert_mem_eq(d->y, y, sizeof y);
    const gn_table_column *c = column(d, "graph.attr");
    ck_assert(c->elem == GN_F32 && c->rank == 1 && c->dim[0] == 1 && c->over == 1);
    ck_assert_mem_eq(c->data, target, sizeof target);
    gn_dataset_free(d);
}
END_TEST

START_TEST(only_edges_and_graphs_are_needed)
{
    const char *const two[GN_TU_PARTS] = {"1 2\n\n2 1\n", "1\n1\n3\n"};
    gn_dataset *d = parse(two, &plain);
    ck_assert(d->n_features == 0 && !d->x && !d->edge_attr && !d->y && !d->train_mask);
    ck_assert_int_eq(gn_dataset_rows(d, 1), 3); /* the second has no nodes */
    ck_assert_int_eq(d->n_edges, 2);
    gn_dataset_free(d);
}
END_TEST

/* As many columns as the numbers span; many are stored sparse. */
START_TEST(wide_labels_are_sparse)
{
    const char *text[GN_TU_PARTS];
    memcpy(text, good, sizeof text);
    text[GN_TU_NODE_LABELS] = "0 5\n100 6\n1 5\n2 5\n3 5\n4 7\n";
    gn_dataset *d = parse(text, &plain);
    ck_assert_int_eq(d->n_features, 2 + 101 + 3);
    ck_assert_ptr_null(d->x);
    const gn_csr *m = d->x_csr;
    ck_assert_int_eq(m->nnz, 6 * 4);
    static const int32_t col[] = {0, 1, 102, 104};
    static const float val[] = {3, 4, 1, 1};
    ck_assert_mem_eq(m->col + m->ptr[1], col, sizeof col);
    ck_assert_mem_eq(m->val + m->ptr[1], val, sizeof val);
    gn_dataset_free(d);
}
END_TEST

/* 40 graphs of class 0, 20 of class 1. */
static gn_dataset *folds(int split, uint64_t seed)
{
    char indicator[400] = "", labels[400] = "";
    const char *text[GN_TU_PARTS] = {"1 1\n", indicator, labels};
    gn_data_options opt = {.split = split, .seed = seed, .normalize_rows = -1, .undirected = -1};
    for (int i = 0; i < 60; i++) {
        sprintf(indicator + strlen(indicator), "%d\n", i + 1);
        strcat(labels, i % 3 ? "0\n" : "1\n");
    }
    return parse(text, &opt);
}

START_TEST(folds_part_the_graphs)
{
    int tested[60] = {0};
    for (int split = 0; split < 10; split++) {
        gn_dataset *d = folds(split, 1), *next = folds((split + 1) % 10, 1);
        int of_class[2] = {0, 0};
        ck_assert(d->split_drawn);
        for (int i = 0; i < 60; i++) {
            ck_assert_int_eq(d->train_mask[i] + d->val_mask[i] + d->test_mask[i], 1);
            ck_assert_int_eq(d->val_mask[i], next->test_mask[i]);
            tested[i] += d->test_mask[i];
            of_class[d->y[i]] += d->test_mask[i];
        }
        ck_assert(of_class[0] == 4 && of_class[1] == 2);
        gn_dataset_free(d);
        gn_dataset_free(next);
    }
    for (int i = 0; i < 60; i++) ck_assert_int_eq(tested[i], 1);
    gn_dataset *a = folds(0, 1), *b = folds(0, 2);
    ck_assert(memcmp(a->test_mask, b->test_mask, 60) != 0);
    gn_dataset_free(a);
    gn_dataset_free(b);
}
END_TEST

START_TEST(there_are_ten_folds)
{
    gn_data_options opt = {.split = 10, .normalize_rows = -1, .undirected = -1};
    const char *text[GN_TU_PARTS] = {"1 1\n", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n",
                                     "1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n"};
    gn_dataset *d;
    MUST_FAIL(parse_parts(gn_tu_parse, text, GN_TU_PARTS, &opt, &d), GN_ERR_USAGE,
              "split 10: there are 10");
    d = parse(good, &plain); /* fewer graphs than folds */
    ck_assert(d->split_drawn && count_mask(d->train_mask, 3) == 2);
    gn_dataset_free(d);
}
END_TEST

#define BAD(part, text, words)                                                                     \
    parts_fail(gn_tu_parse, good, GN_TU_PARTS, GN_TU_##part, (text), (words), __LINE__)

START_TEST(refuses_what_does_not_fit)
{
    BAD(A, "1, 2\n2, 7\n", "a:2: '7': expected a node from 1 to 6");
    BAD(A, "1, 2\n\n0, 2\n", "a:3: '0': expected a node from 1 to 6");
    BAD(A, "1, 2\n3, 4\n", "a:2: an edge from graph 1 to graph 2: expected one graph");
    BAD(A, "1, 2, 3\n", "a:1: '3' is too much: expected 2 numbers a line");
    BAD(A, "1\n", "a:1: 1 number: expected 2 a line");
    BAD(A, "1, x\n", "a:1: 'x': expected a whole number");
    BAD(INDICATOR, "", "b: 0 nodes");
    BAD(INDICATOR, "1\n1\n1\n2\n2\n4\n", "b:6: '4': expected a graph from 1 to 3");
    BAD(INDICATOR, "1\n1\n1\n2\n2\n0\n", "b:6: '0': expected a graph from 1 to 3");
    BAD(GRAPH_LABELS, "1\n0.5\n1\n", "c:2: '0.5': expected a whole number");
    BAD(GRAPH_LABELS, "1\n2\n", "b:6: '3': expected a graph from 1 to 2");
    BAD(GRAPH_ATTRIBUTES, "1\n2\n", "d: 2 rows: expected 3, one for each graph");
    BAD(NODE_LABELS, "1\n2\n", "e: 2 rows: expected 6, one for each node");
    BAD(NODE_LABELS, "0\n0\n0\n0\n0\n2000\n", "e: labels from 0 to 2000: expected at most 1029");
    BAD(NODE_LABELS, "-9223372036854775808\n0\n0\n0\n0\n9223372036854775807\n", "e: labels from");
    BAD(NODE_ATTRIBUTES, "1, 2\n3\n", "f:2: 1 number: expected 2 a line");
    BAD(NODE_ATTRIBUTES, "1, nan\n", "f:1: 'nan': expected a finite number");
    BAD(EDGE_LABELS, "1\n", "g: 1 rows: expected 8, one for each edge");
    BAD(EDGE_ATTRIBUTES, "1e99\n", "h:1: '1e99': expected a finite number");
}
END_TEST

START_TEST(graphs_without_labels_are_counted_with_sense)
{
    const char *const two[GN_TU_PARTS] = {"1 2\n", "1\n900000000\n"};
    gn_dataset *d;
    MUST_FAIL(parse_parts(gn_tu_parse, two, GN_TU_PARTS, &plain, &d), GN_ERR_DATA,
              "b: 900000000 graphs, and 2 nodes: expected graphs numbered from 1");
}
END_TEST

START_TEST(survives_changes) { parts_survive(gn_tu_parse, good, GN_TU_PARTS); }
END_TEST

/* Nodes under other numbers keep their graphs; labels are of graphs and stay. */
START_TEST(renumbers_members)
{
    static const int64_t from[] = {5, 4, 3, 2, 1, 0};
    int64_t turned[] = {5, 4, 3, 2, 1, 0}, *to[] = {turned, NULL};
    gn_dataset *d = parse(good, &plain);
    must(gn_dataset_renumber(d, to));
    ck_assert_mem_eq(d->relations[0].from, from, sizeof from);
    ck_assert(d->relations[0].to[0] == 0 && d->y[0] == 1 && d->x[0] == 11 && d->src[0] == 5);
    must(gn_dataset_check(d));
    gn_dataset_free(d);
}
END_TEST

START_TEST(folders_are_recognised)
{
    char folder[] = "/tmp/gnnc-tu-XXXXXX", raw[64];
    gn_dataset *d;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(raw, sizeof raw, "%s/raw", folder);
    gn_data_options opt = {.path = folder, .normalize_rows = -1, .undirected = -1};
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_DATA,
              "no data in this folder or its raw/: looked for ind.NAME.graph of Planetoid, "
              "NAME_A.txt of the TU collection");
    ck_assert_int_eq(mkdir(raw, 0700), 0);
    write_part(raw, "tiny_A.txt", "1 2\n", 4);
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_IO, "tiny_graph_indicator.txt': No such file");
    write_part(raw, "tiny_graph_indicator.txt", "1\n1\n", 4);
    d = read_path(folder);
    ck_assert_str_eq(d->name, "tiny");
    ck_assert(d->n_nodes == 2 && d->n_edges == 1 && d->n_tables == 1);
    gn_dataset_free(d);
    write_part(raw, "other_A.txt", "1 2\n", 4);
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_DATA,
              "expected one dataset in this folder, and 2 have NAME_A.txt");
    remove_folder(folder);
}
END_TEST

START_TEST(features_of_edges_stay_directed)
{
    char folder[] = "/tmp/gnnc-tu-XXXXXX";
    gn_dataset *d;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    write_part(folder, "t_A.txt", "1 2\n", 4);
    write_part(folder, "t_graph_indicator.txt", "1\n1\n", 4);
    write_part(folder, "t_edge_labels.txt", "3\n", 2);
    gn_data_options opt = {
        .path = folder, .normalize_rows = -1, .undirected = 1, .features = GN_FEATURES_ONES};
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_USAGE,
              "edges with attributes cannot be made undirected");
    opt.undirected = -1;
    d = read_with(opt);
    ck_assert(d->n_features == 1 && d->edge_dim == 1 && d->edge_attr[0] == 1);
    gn_dataset_free(d);
    remove_folder(folder);
}
END_TEST

START_TEST(summary_names_graphs)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    gn_dataset *d = parse(good, &plain);
    ck_assert_ptr_nonnull(f);
    gn_dataset_summary(d, f);
    fclose(f);
    ck_assert_str_eq(text, "graph: 3 rows, labelled, 2 classes, attr[1]; member: node -> graph, 6 "
                           "edges\n");
    ck_assert_str_eq(gn_dataset_rows_name(d).s, "graphs");
    free(text);
    gn_dataset_free(d);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tu");
    TCase *t = tcase_create("tu");
    tcase_add_test(t, attributes_come_before_labels);
    tcase_add_test(t, graphs_are_a_table);
    tcase_add_test(t, only_edges_and_graphs_are_needed);
    tcase_add_test(t, wide_labels_are_sparse);
    tcase_add_test(t, folds_part_the_graphs);
    tcase_add_test(t, there_are_ten_folds);
    tcase_add_test(t, refuses_what_does_not_fit);
    tcase_add_test(t, graphs_without_labels_are_counted_with_sense);
    tcase_add_test(t, survives_changes);
    tcase_add_test(t, summary_names_graphs);
    tcase_add_test(t, renumbers_members);
    tcase_add_test(t, folders_are_recognised);
    tcase_add_test(t, features_of_edges_stay_directed);
    suite_add_tcase(s, t);
    return suite_run(s);
}
