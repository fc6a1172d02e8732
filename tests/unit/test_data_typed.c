/* Data with types: what synthetic:typed draws, and .npz of types and of graphs. */
/* links: runtime base */
#include "data_parts.h"

#include "runtime/data/summary.h"
#include "runtime/data/tensorfile.h"

enum { PAPER = 1, AUTHOR, INSTITUTION, FIELD };

static gn_dataset *make(const char *path, uint64_t seed)
{
    return read_with(
        (gn_data_options){.path = path, .seed = seed, .normalize_rows = -1, .undirected = -1});
}

static const gn_relation *relation(const gn_dataset *d, const char *name)
{
    for (int k = 0; k < d->n_relations; k++)
        if (!strcmp(d->relations[k].name, name)) return &d->relations[k];
    ck_abort_msg("no relation %s", name);
}

START_TEST(it_has_the_types_of_mag)
{
    static const struct {
        const char *name;
        int src, dst;
        int64_t edges;
    } links[] = {{"affiliated_with", AUTHOR, INSTITUTION, 1044},
                 {"writes", AUTHOR, PAPER, 7146},
                 {"cites", PAPER, PAPER, 5416},
                 {"has_topic", PAPER, FIELD, 7505}};
    static const int64_t rows[] = {736, 1135, 9, 60};
    static const char *const name[] = {"paper", "author", "institution", "field_of_study"};
    gn_dataset *d = make("synthetic:typed,scale=0.001", 0);
    ck_assert(d->typed && d->n_nodes == 0 && d->n_edges == 0 && d->n_features == 0);
    ck_assert(d->n_tables == 4 && d->n_relations == 4 && d->labelled == PAPER);
    for (int k = 0; k < 4; k++) {
        ck_assert_str_eq(d->tables[k].name, name[k]);
        ck_assert_int_eq(d->tables[k].rows, rows[k]);
    }
    for (int k = 0; k < 4; k++) {
        const gn_relation *r = relation(d, links[k].name);
        /* few institutions and fields: half of the pairs at most */
        int64_t half = rows[links[k].src - 1] * rows[links[k].dst - 1] / 2;
        ck_assert(r->src == links[k].src && r->dst == links[k].dst);
        ck_assert_int_eq(r->n_edges, links[k].edges < half ? links[k].edges : half);
        for (int64_t e = 1; e < r->n_edges; e++)
            ck_assert(r->from[e - 1] < r->from[e] ||
                      (r->from[e - 1] == r->from[e] && r->to[e - 1] < r->to[e]));
    }
    const gn_table_column *x = column(d, "paper.x");
    ck_assert(!x->on_edges && x->over == PAPER && x->elem == GN_F32 && x->rank == 1 &&
              x->dim[0] == 128);
    ck_assert_int_eq(d->n_classes, 349);
    gn_dataset_free(d);
}
END_TEST

START_TEST(years_split_papers)
{
    gn_dataset *d = make("synthetic:typed,scale=0.01", 0);
    const int32_t *year = column(d, "paper.year")->data;
    int64_t n = gn_dataset_labelled(d), train = count_mask(d->train_mask, n);
    for (int64_t i = 0; i < n; i++) {
        ck_assert(year[i] >= 2010 && year[i] <= 2019);
        ck_assert(d->train_mask[i] == (year[i] <= 2017) && d->val_mask[i] == (year[i] == 2018) &&
                  d->test_mask[i] == (year[i] == 2019));
    }
    ck_assert(train > n * 83 / 100 && train < n * 88 / 100);
    gn_dataset_free(d);
}
END_TEST

/* Most cited papers have the class of who cites them, and few papers have most of the citations. */
START_TEST(neighbours_tell_classes)
{
    gn_dataset *d = make("synthetic:typed,nodes=20000,classes=8,features=4", 3);
    const gn_relation *cites = relation(d, "cites");
    int64_t same = 0, papers = gn_dataset_rows(d, PAPER), most = 0;
    int64_t *cited = calloc((size_t)papers, sizeof *cited);
    ck_assert_ptr_nonnull(cited);
    for (int64_t e = 0; e < cites->n_edges; e++) {
        int64_t n = ++cited[cites->to[e]];
        same += d->y[cites->from[e]] == d->y[cites->to[e]];
        if (n > most) most = n;
        ck_assert(cites->from[e] != cites->to[e]);
    }
    ck_assert(same > cites->n_edges / 2 && same < cites->n_edges * 8 / 10);
    ck_assert(most > 10 * cites->n_edges / papers);
    free(cited);
    gn_dataset_free(d);
}
END_TEST

START_TEST(seeds_decide)
{
    gn_dataset *a = make("synthetic:typed,scale=0.001", 1),
               *b = make("synthetic:typed,scale=0.001,seed=1", 2),
               *c = make("synthetic:typed,scale=0.001", 2);
    size_t bytes = (size_t)relation(a, "cites")->n_edges * sizeof(int64_t);
    ck_assert_mem_eq(relation(a, "cites")->to, relation(b, "cites")->to, bytes);
    ck_assert(memcmp(relation(a, "cites")->to, relation(c, "cites")->to, bytes) != 0);
    gn_dataset_free(a);
    gn_dataset_free(b);
    gn_dataset_free(c);
}
END_TEST

START_TEST(usage_errors)
{
    static const char *const bad[][2] = {
        {"synthetic:typed", "expected typed,scale=S or typed,nodes=N"},
        {"synthetic:typed,scale=1,nodes=5", "expected typed,scale=S or typed,nodes=N"},
        {"synthetic:typed,scale=1e9", "scale=1e9: expected a number from 1e-06 to 100"},
        {"synthetic:typed,scael=1", "unknown key 'scael' (did you mean 'scale'?): expected scale, "
                                    "nodes, classes, features or seed"},
        {"synthetic:typedd,scale=1", "unknown key 'typedd'"},
    };
    gn_dataset *d;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gn_data_options opt = {.path = bad[i][0], .normalize_rows = -1, .undirected = -1};
        must_fail(gn_dataset_read(&opt, &d), GN_ERR_USAGE, bad[i][1], (int)i);
    }
    gn_data_options opt = {.path = "synthetic:typed,nodes=9", .undirected = 1};
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_USAGE,
              "edges with types cannot be made undirected");
    opt.undirected = -1;
    opt.features = GN_FEATURES_ONES;
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_USAGE, "--features ones makes those of nodes");
    opt.features = 0;
}
END_TEST

/* Rows of features add up to 1 in all, or to less where they did before. */
START_TEST(features_of_types_are_normalised)
{
    gn_dataset *d = read_with((gn_data_options){
        .path = "synthetic:typed,nodes=900", .normalize_rows = 1, .undirected = -1});
    const gn_table_column *x = gn_dataset_column(d, "paper.x");
    ck_assert(d->normalized);
    for (int64_t v = 0; v < gn_dataset_rows(d, x->over); v++) {
        double sum = 0;
        for (int64_t k = 0; k < x->dim[0]; k++) {
            float at = ((const float *)x->data)[v * x->dim[0] + k];
            ck_assert(at >= 0);
            sum += (double)at;
        }
        ck_assert_double_eq_tol(sum, 1, 1e-4);
    }
    gn_dataset_free(d);
}
END_TEST

START_TEST(summary_has_a_line_a_type)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    gn_dataset *d = make("synthetic:typed,scale=0.001,classes=5,features=3", 0);
    ck_assert_ptr_nonnull(f);
    gn_dataset_summary(d, f);
    fclose(f);
    ck_assert_str_eq(
        text, "paper: 736 rows, labelled, 5 classes, x[3], year; writes: author -> paper, 7146 "
              "edges; cites: paper -> paper, 5416 edges\n"
              "author: 1135 rows\n"
              "institution: 9 rows; affiliated_with: author -> institution, 1044 edges\n"
              "field_of_study: 60 rows; has_topic: paper -> field_of_study, 7505 edges\n");
    ck_assert_str_eq(gn_dataset_rows_name(d).s, "rows of paper");
    free(text);
    gn_dataset_free(d);
}
END_TEST

/* ---- .npz ---- */

START_TEST(npz_has_types_and_relations)
{
    static const float x[] = {0, 1, 2, 3, 4, 5}, weight[] = {0.5f, 2}, attr[] = {1.5f, 2.5f, 3.5f};
    static const int32_t y[] = {2, 0, -1}, year[] = {2010, 2012, 2011};
    static const uint8_t open[] = {1, 0, 1};
    static const int64_t from[] = {0, 1, 4}, to[] = {0, 2, 1};
    gn_dataset *d = read_path(source_path("tests/data/npz/typed.npz"));
    ck_assert(d->typed && d->n_tables == 3 && d->n_relations == 3 && d->n_more == 0);
    ck_assert_str_eq(d->tables[0].name, "author");
    ck_assert_str_eq(d->tables[1].name, "paper");
    ck_assert_str_eq(d->tables[2].name, "venue");
    ck_assert(d->tables[0].rows == 5 && d->tables[1].rows == 3 && d->tables[2].rows == 2);
    const gn_relation *r = relation(d, "writes");
    ck_assert(r->src == 1 && r->dst == 2 && r->n_edges == 3);
    ck_assert_mem_eq(r->from, from, sizeof from);
    ck_assert_mem_eq(r->to, to, sizeof to);
    r = relation(d, "cites");
    ck_assert(r->src == 2 && r->dst == 2 && r->n_edges == 2);
    r = relation(d, "paper__writes__venue"); /* the second of its name */
    ck_assert(r->src == 2 && r->dst == 3 && r->n_edges == 1);
    ck_assert_mem_eq(column(d, "paper.x")->data, x, sizeof x);
    ck_assert_mem_eq(column(d, "cites.weight")->data, weight, sizeof weight);
    ck_assert_int_eq(column(d, "cites.weight")->rank, 0);
    ck_assert_mem_eq(column(d, "writes.attr")->data, attr, sizeof attr);
    ck_assert(column(d, "writes.attr")->rank == 1 && column(d, "writes.attr")->dim[0] == 1);
    ck_assert_mem_eq(column(d, "paper.year")->data, year, sizeof year);
    ck_assert(column(d, "paper.year")->classes == 2013);
    ck_assert_mem_eq(column(d, "paper.open")->data, open, sizeof open);
    ck_assert_int_eq(column(d, "paper.open")->elem, GN_BOOL);
    ck_assert(d->labelled == 2 && d->n_classes == 3);
    ck_assert_mem_eq(d->y, y, sizeof y);
    ck_assert(d->train_times[0] == 2 && d->val_mask[1] && d->test_mask[2]);
    gn_dataset_free(d);
}
END_TEST

START_TEST(dropped_edges_take_their_columns)
{
    gn_dataset *d = read_path(source_path("tests/data/npz/typed.npz"));
    gn_dataset_drop_edges(d, true);
    ck_assert_ptr_null(relation(d, "writes")->from);
    ck_assert_ptr_null(column(d, "writes.attr")->data);
    ck_assert_ptr_null(column(d, "cites.weight")->data);
    ck_assert_ptr_nonnull(column(d, "paper.x")->data);
    ck_assert_int_eq(relation(d, "writes")->n_edges, 3);
    gn_dataset_free(d);
}
END_TEST

START_TEST(npz_has_graphs_of_nodes)
{
    static const int64_t to[] = {0, 0, 1, 1};
    gn_dataset *d = read_path(source_path("tests/data/npz/graphs.npz"));
    ck_assert(!d->typed && d->n_nodes == 4 && d->n_edges == 3 && d->n_tables == 1);
    ck_assert(d->labelled == 1 && gn_dataset_rows(d, 1) == 2 && d->n_classes == 2);
    ck_assert(d->y[0] == 1 && d->train_mask[0] && d->val_mask[1] && !d->test_mask[1]);
    ck_assert_mem_eq(relation(d, "member")->to, to, sizeof to);
    gn_dataset_free(d);
}
END_TEST

/* One array: its name, its numbers as int64 or float, its shape. */
typedef struct array {
    const char *name;
    int rank;
    int64_t dim[3];
    const char *numbers; /* NULL: the end of the list */
    bool real;
} array;

static void add_array(gn_tensor_file *f, const array *a)
{
    void *data;
    const char *at = a->numbers;
    char *end;
    must(gn_tensor_file_add(f, a->name, a->real ? GN_F32 : GN_I64, a->rank, a->dim, &data));
    for (int64_t i = 0; *at; i++, at = end) {
        double v = strtod(at, &end);
        if (a->real)
            ((float *)data)[i] = (float)v;
        else
            ((int64_t *)data)[i] = (int64_t)v;
    }
}

static gn_status *read_arrays(const array *a, gn_dataset **out)
{
    char path[] = "/tmp/gnnc-typed-XXXXXX";
    static const gn_data_options opt = {.normalize_rows = -1, .undirected = -1};
    gn_reading r = {.opt = &opt, .origin = "t"};
    gn_tensor_file *f;
    gn_bytes b;
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    must(gn_tensor_file_new(&f));
    for (; a->numbers; a++) add_array(f, a);
    must(gn_npz_write(path, f));
    gn_tensor_file_free(f);
    must(gn_file_read(path, &b));
    unlink(path);
    *out = NULL;
    gn_status *s = gn_npz_parse(b.p, b.n, &r, out);
    gn_bytes_free(&b);
    if (!s) s = gn_dataset_check(*out);
    return s;
}

/* A relation's column under its name, and a type's of that name. */
START_TEST(npz_columns_by_the_name_of_a_relation)
{
    static const array by_name[] = {{"a__w__b.edge_index", 2, {2, 2}, "0 1 1 0", false},
                                    {"w.kind", 1, {2}, "3 1", false},
                                    {0}},
                       of_type[] = {{"a__w__w.edge_index", 2, {2, 2}, "0 1 1 0", false},
                                    {"w.kind", 1, {2}, "3 1", false},
                                    {0}};
    gn_dataset *d;
    must(read_arrays(by_name, &d));
    ck_assert(d->n_tables == 2 && column(d, "w.kind")->on_edges);
    gn_dataset_free(d);
    must(read_arrays(of_type, &d));
    ck_assert(d->n_tables == 2 && !column(d, "w.kind")->on_edges);
    gn_dataset_free(d);
}
END_TEST

#define WRITES {"a__writes__b.edge_index", 2, {2, 2}, "0 1 2 1", false}

START_TEST(npz_refuses_what_does_not_fit)
{
    static const struct {
        array a[4];
        const char *words;
    } bad[] = {
        {{{"w.edge_index", 2, {2, 1}, "0 1", false}}, "t: w.src: expected a string, the type of"},
        {{{"w.edge_index", 2, {2, 1}, "0 1", false}, {"w.src", 1, {1}, "1", false}},
         "t: w.src: expected a string"},
        {{{"a__w__b.edge_index", 2, {1, 2}, "0 1", false}},
         "t: a__w__b.edge_index: shape [1, 2]: expected [2, edges]"},
        {{{"a__w__b.edge_index", 2, {2, 1}, "0 -1", false}}, "edge 0 ends at -1"},
        {{{"a__w__b.edge_index", 2, {2, 1}, "0 2000000000", false}}, "t: 1 edges, and a node"},
        {{{"__w__b.edge_index", 2, {2, 1}, "0 1", false}}, "expected a name of 1 to 127"},
        {{{"9__w__b.edge_index", 2, {2, 1}, "0 1", false}}, "a type of nodes '9': expected a name"},
        {{WRITES, {"num_nodes.a", 1, {2}, "1 2", false}}, "num_nodes.a: expected one whole number"},
        {{WRITES, {"num_nodes.a", 1, {1}, "1", false}}, "edge 1 is 1 -> 1, but there are 1 rows"},
        {{WRITES, {"a.x", 2, {1, 2}, "1 2", true}}, "edge 1 is 1 -> 1, but there are 1 rows of a"},
        {{WRITES, {"a.x", 2, {2, 1}, "1 2", true}, {"a.z", 1, {3}, "1 2 3", true}},
         "t: a.z: shape [3]: expected 2 rows"},
        {{WRITES, {"a.x", 2, {2, 1}, "1 nan", true}}, "a.x: number 1 is nan"},
        {{WRITES, {"a.x", 2, {2, 0}, "", true}}, "t: a.x: shape [2, 0]"},
        {{WRITES, {"a__writes__b.edge_weight", 2, {2, 2}, "1 2 3 4", true}},
         "expected 2 rows of one number"},
        {{WRITES, {"a__writes__b.weight", 2, {2, 2}, "1 2 3 4", true}},
         "t: a__writes__b.weight: shape [2, 2]: expected 2 rows of one number"},
        {{WRITES, {"a.b", 1, {3}, "1 2 3", true}, {"a.x", 2, {2, 1}, "1 2", true}},
         "t: a.b: shape [3]: expected 2 rows"},
        {{WRITES, {"a.b", 1, {3}, "1 2 3", true}, {"a.y", 1, {2}, "0 1", false}},
         "t: a.b: shape [3]: expected 2 rows"},
        {{{"node__w__b.edge_index", 2, {2, 1}, "0 1", false}},
         "a type of nodes is named 'node': expected another name"},
        {{{"a__g__b.edge_index", 2, {2, 1}, "0 1", false}},
         "a relation is named 'g': expected another name"},
        {{WRITES, {"a.y", 1, {2}, "0 1", false}, {"b.y", 1, {3}, "0 1 0", false}},
         "t: a and b have labels or a split: expected one type"},
        {{WRITES, {"a.y", 1, {1}, "0", false}}, "edge 1 is 1 -> 1, but there are 1 rows"},
        {{WRITES, {"a.y", 2, {2, 2}, "0 1 0 1", false}},
         "t: a.y: shape [2, 2]: expected one label"},
        {{WRITES, {"a.train_mask", 1, {2}, "0 1", false}},
         "expected masks for train, val and test"},
        {{{"edge_index", 2, {2, 1}, "0 1", false}, {"graph_of_node", 1, {3}, "0 0 -1", false}},
         "t: graph_of_node[2] is -1: expected a graph"},
        {{{"edge_index", 2, {2, 1}, "0 1", false}, {"graph_of_node", 1, {2}, "0 9999", false}},
         "10000 graphs of 2 nodes: expected numbers without gaps"},
        {{{"edge_index", 2, {2, 1}, "0 1", false},
          {"graph_of_node", 1, {2}, "0 1", false},
          {"num_graphs", 1, {1}, "1", false}},
         "t: num_graphs: expected one number, 2 or more"},
        {{{"edge_index", 2, {2, 1}, "0 2", false}, {"graph_of_node", 1, {2}, "0 1", false}},
         "t: graph_of_node: says 2 nodes: expected 3"},
    };
    gn_dataset *d;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gn_status *s = read_arrays(bad[i].a, &d);
        must_fail(s, GN_ERR_DATA, bad[i].words, (int)i);
        gn_dataset_free(d);
    }
}
END_TEST

/* One number an edge, whatever the type of the numbers. */
START_TEST(npz_weights_are_floats)
{
    static const array a[] = {WRITES,
                              {"a__writes__b.weight", 2, {2, 1}, "3 4", false},
                              {NULL, 0, {0}, NULL, false}},
                       twice[] = {WRITES,
                                  {"a__writes__b.weight", 1, {2}, "3 4", false},
                                  {"a__writes__b.edge_weight", 1, {2}, "3 4", false},
                                  {NULL, 0, {0}, NULL, false}};
    gn_dataset *d;
    must(read_arrays(a, &d));
    const gn_table_column *w = column(d, "writes.weight");
    ck_assert(w->on_edges && w->elem == GN_F32 && w->rank == 0);
    ck_assert(((const float *)w->data)[0] == 3 && ((const float *)w->data)[1] == 4);
    gn_dataset_free(d);
    MUST_FAIL(read_arrays(twice, &d), GN_ERR_DATA, "two columns are named 'writes.weight'");
    gn_dataset_free(d);
}
END_TEST

/* What has no order in Python, and what has one in a dict. */
START_TEST(npz_order_of_keys_says_nothing)
{
    gn_dataset *d = read_path(source_path("tests/data/npz/typed-dict.npz"));
    ck_assert(d->n_tables == 2 && d->n_relations == 2);
    ck_assert_str_eq(d->tables[0].name, "a");
    ck_assert_str_eq(d->tables[1].name, "b");
    ck_assert_str_eq(d->relations[0].name, "cites");
    ck_assert_str_eq(d->relations[1].name, "writes");
    ck_assert(d->tables[0].rows == 2 && d->tables[1].rows == 3);
    ck_assert_ptr_nonnull(column(d, "a.x")->csr);
    gn_dataset_free(d);
}
END_TEST

START_TEST(npz_edges_have_no_sparse_columns)
{
    gn_dataset *d;
    gn_data_options opt = {.path = source_path("tests/data/npz/typed-sparse.npz"),
                           .normalize_rows = -1,
                           .undirected = -1};
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_DATA,
              "a__cites__a.edge_attr: a sparse matrix: expected an array with a row for each of 2 "
              "edges");
}
END_TEST

/* A copy of a column may be added while the array of columns grows. */
START_TEST(columns_may_be_added_from_columns)
{
    gn_dataset *d;
    gn_table_column c = {.elem = GN_F32};
    char name[8];
    must(gn_dataset_new("d", &d));
    must(gn_dataset_add_column(d, "c0", &c));
    for (int k = 1; k < 200; k++) {
        snprintf(name, sizeof name, "c%d", k);
        must(gn_dataset_add_column(d, name, &d->columns[0]));
        ck_assert(d->columns[k].elem == GN_F32 && !d->columns[k].on_edges);
    }
    gn_dataset_free(d);
}
END_TEST

/* Numbers of graphs as others call them are taken where they can be nothing else. */
START_TEST(npz_takes_batch_for_graphs)
{
    static const array rising[] = {{"edge_index", 2, {2, 1}, "0 2", false},
                                   {"batch", 1, {3}, "0 0 1", false},
                                   {NULL, 0, {0}, NULL, false}},
                       other[] = {{"edge_index", 2, {2, 1}, "0 2", false},
                                  {"batch", 1, {3}, "0 5 1", false},
                                  {NULL, 0, {0}, NULL, false}};
    gn_dataset *d;
    must(read_arrays(rising, &d));
    ck_assert(d->n_tables == 1 && gn_dataset_rows(d, 1) == 2 && d->labelled == 0);
    ck_assert(d->n_more == 1 && d->more[0].also && d->more[0].data[2] == 1);
    gn_dataset_free(d);
    must(read_arrays(other, &d));
    ck_assert(d->n_tables == 0 && d->n_more == 1 && !d->more[0].also);
    gn_dataset_free(d);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("typed");
    TCase *t = tcase_create("typed");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, it_has_the_types_of_mag);
    tcase_add_test(t, years_split_papers);
    tcase_add_test(t, neighbours_tell_classes);
    tcase_add_test(t, seeds_decide);
    tcase_add_test(t, usage_errors);
    tcase_add_test(t, features_of_types_are_normalised);
    tcase_add_test(t, summary_has_a_line_a_type);
    tcase_add_test(t, npz_has_types_and_relations);
    tcase_add_test(t, dropped_edges_take_their_columns);
    tcase_add_test(t, npz_has_graphs_of_nodes);
    tcase_add_test(t, npz_columns_by_the_name_of_a_relation);
    tcase_add_test(t, npz_refuses_what_does_not_fit);
    tcase_add_test(t, npz_weights_are_floats);
    tcase_add_test(t, npz_order_of_keys_says_nothing);
    tcase_add_test(t, npz_edges_have_no_sparse_columns);
    tcase_add_test(t, columns_may_be_added_from_columns);
    tcase_add_test(t, npz_takes_batch_for_graphs);
    suite_add_tcase(s, t);
    return suite_run(s);
}
