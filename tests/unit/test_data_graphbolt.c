/* Folders of DGL's GraphBolt: graphs with and without types, features, tasks of nodes and of edges,
 * and what is refused. */
/* links: runtime base */
#include "data_arrays.h"

#include "runtime/data/folder.h"

#include <math.h>

/* ---- a folder in memory ---- */

typedef struct entry {
    const char *path, *text; /* NULL: `a` is the file */
    array a;
    const char *torch; /* a file of tests/data/torch */
} entry;

typedef struct folder {
    int n;
    entry entries[24];
} folder;

static gn_status *read_entry(void *context, const char *path, gn_folder_file *out)
{
    const folder *f = context;
    char name[128];
    *out = (gn_folder_file){.path = strdup(path)};
    for (int k = f->n - 1; k >= 0; k--) {
        const entry *e = &f->entries[k];
        if (strcmp(e->path, path) != 0) continue;
        snprintf(name, sizeof name, "tests/data/torch/%s", e->torch ? e->torch : "");
        if (e->torch) return gn_file_read(source_path(name), &out->bytes);
        blob b = {0};
        if (e->text)
            blob_put(&b, e->text, strlen(e->text));
        else
            b = npy_of(&e->a);
        out->bytes = (gn_bytes){exact(b.p, b.n), b.n};
        return NULL;
    }
    GN_FAIL(GN_ERR_IO, "cannot open '%s'", path);
}

static gn_status *parse(const char *yaml, folder *f, int split, gn_dataset **out)
{
    const gn_data_options opt = {.split = split, .normalize_rows = -1, .undirected = -1};
    const gn_graphbolt_files files = {f, read_entry};
    gn_reading r = {.opt = &opt, .origin = "folder"};
    size_t n = strlen(yaml);
    gn_input metadata = {exact(yaml, n), n, "metadata.yaml"};
    *out = NULL;
    gn_status *s = gn_graphbolt_parse(&metadata, &files, &r, out);
    free((void *)metadata.bytes);
    return s ? s : gn_dataset_check(*out);
}

/* ---- without types ---- */

#define GRAPH                                                                                      \
    "dataset_name: tiny\n"                                                                         \
    "graph:\n"                                                                                     \
    "  nodes:\n"                                                                                   \
    "    - num: 3\n"                                                                               \
    "  edges:\n"                                                                                   \
    "    - format: csv\n"                                                                          \
    "      path: edges.csv\n"
#define FEATURES                                                                                   \
    "feature_data:\n"                                                                              \
    "  - domain: node\n"                                                                           \
    "    name: feat\n"                                                                             \
    "    format: numpy\n"                                                                          \
    "    in_memory: false\n"                                                                       \
    "    path: x.npy\n"                                                                            \
    "  - {domain: node, type: null, name: year, format: numpy, path: year.npy}\n"                  \
    "  - {domain: edge, name: feat, format: numpy, path: edge.npy}\n"                              \
    "  - {domain: edge, name: kind, format: numpy, path: kind.npy}\n"
#define SET(name, seeds, more)                                                                     \
    "    " name ":\n"                                                                              \
    "      - data:\n"                                                                              \
    "          - {name: seeds, format: numpy, path: " seeds "}\n" more
#define LABELS(path) "          - {name: labels, format: numpy, path: " path "}\n"
#define INDEXES(path) "          - {name: indexes, format: numpy, path: " path "}\n"
#define NODES                                                                                      \
    "tasks:\n"                                                                                     \
    "  - name: node_classification\n"                                                              \
    "    num_classes: 5\n" SET("train_set", "train.npy", LABELS("train_y.npy"))                    \
        SET("validation_set", "val.npy", LABELS("val_y.npy")) SET("test_set", "test.npy", "")
#define LINKS                                                                                      \
    "  - name: link_prediction\n" SET("train_set", "pairs.npy", "")                                \
        SET("test_set", "test_pairs.npy", LABELS("test_true.npy") INDEXES("index.npy"))
static const char plain[] = GRAPH FEATURES NODES LINKS;

static folder plain_folder(void)
{
    static const entry all[] = {
        {"edges.csv", "0,1\n2,1\n2,0\n", {0}, NULL},
        {"x.npy", NULL, {NULL, "<f8", "(3, 2)", 6, {1, 2, 3, 4, 5, 6}}, NULL},
        {"year.npy", NULL, {NULL, "<i8", "(3,)", 3, {2010, 2011, 2012}}, NULL},
        {"edge.npy", NULL, {NULL, "<f4", "(3,)", 3, {0.5, 1, 2}}, NULL},
        {"kind.npy", NULL, {NULL, "<i4", "(3, 1)", 3, {0, 1, 0}}, NULL},
        {"train.npy", NULL, {NULL, "<i4", "(1,)", 1, {2}}, NULL},
        {"train_y.npy", NULL, {NULL, "<i8", "(1,)", 1, {3}}, NULL},
        {"val.npy", NULL, {NULL, "<i4", "(1,)", 1, {0}}, NULL},
        {"val_y.npy", NULL, {NULL, "<f4", "(1, 1)", 1, {1}}, NULL},
        {"test.npy", NULL, {NULL, "<i4", "(1,)", 1, {1}}, NULL},
        {"pairs.npy", NULL, {NULL, "<i8", "(2, 2)", 4, {0, 1, 2, 1}}, NULL},
        {"test_pairs.npy", NULL, {NULL, "<i8", "(3, 2)", 6, {1, 2, 1, 0, 1, 1}}, NULL},
        {"test_true.npy", NULL, {NULL, "<i8", "(3,)", 3, {1, 0, 0}}, NULL},
        {"index.npy", NULL, {NULL, "<i8", "(3,)", 3, {7, 7, 7}}, NULL},
    };
    folder f = {.n = sizeof all / sizeof *all};
    memcpy(f.entries, all, sizeof all);
    return f;
}

START_TEST(graphs_without_types)
{
    static const int64_t src[] = {0, 2, 2}, dst[] = {1, 1, 0};
    static const int32_t y[] = {1, -1, 3}, year[] = {2010, 2011, 2012};
    folder f = plain_folder();
    gn_dataset *d;
    must(parse(plain, &f, 0, &d));
    ck_assert_str_eq(d->name, "tiny");
    ck_assert(!d->typed && d->n_nodes == 3 && d->n_edges == 3 && d->n_remarks == 0);
    ck_assert_mem_eq(d->src, src, sizeof src);
    ck_assert_mem_eq(d->dst, dst, sizeof dst);
    ck_assert(d->n_features == 2 && d->x[5] == 6 && d->edge_dim == 1 && d->edge_attr[0] == 0.5f);
    ck_assert_mem_eq(column(d, "node.year")->data, year, sizeof year);
    ck_assert(column(d, "g.kind")->rank == 1 && column(d, "g.kind")->dim[0] == 1);
    ck_assert(d->n_classes == 5 && d->n_relations == 0);
    ck_assert_mem_eq(d->y, y, sizeof y);
    ck_assert(d->train_mask[2] && d->val_mask[0] && d->test_mask[1] && !d->train_mask[0]);
    gn_dataset_free(d);
}
END_TEST

START_TEST(edges_and_seeds_of_other_formats)
{
    folder f = plain_folder();
    gn_dataset *d;
    f.entries[f.n++] = (entry){"ends.npy", NULL, {NULL, "<i4", "(2, 2)", 4, {0, 2, 1, 0}}, NULL};
    static const char yaml[] = "graph: {nodes: [{num: 3}], edges: [{format: numpy, path: "
                               "ends.npy}]}\nother: 1\n";
    must(parse(yaml, &f, 0, &d));
    ck_assert(d->n_edges == 2 && d->src[1] == 2 && d->dst[1] == 0 && !d->name && !d->train_mask);
    ck_assert(d->n_remarks == 1 && strstr(d->remark[0], "nothing reads `other`"));
    gn_dataset_free(d);
}
END_TEST

/* Several numbers a label are targets, which all nodes need not have. */
START_TEST(labels_of_several_numbers)
{
    static const float target[] = {0, 0, 0, 0, 1, 0};
    folder f = plain_folder();
    gn_dataset *d;
    f.entries[6].a = (array){NULL, "<f4", "(1, 2)", 2, {1, 0}};
    f.entries[8].a = (array){NULL, "<f4", "(1, 2)", 2, {0, 0}};
    must(parse(plain, &f, 0, &d));
    ck_assert(!d->y && d->train_mask[2] && column(d, "node.target")->dim[0] == 2);
    ck_assert_mem_eq(column(d, "node.target")->data, target, sizeof target);
    ck_assert(((uint8_t *)column(d, "node.target_known")->data)[2] == 0);
    gn_dataset_free(d);
}
END_TEST

/* --split 1 takes the second task. */
START_TEST(links_are_a_relation)
{
    static const int64_t from[] = {0, 2, 1, 1, 1}, to[] = {1, 1, 2, 0, 1};
    static const float labels[] = {1, 1, 1, 0, 0};
    static const int32_t index[] = {-1, -1, 7, 7, 7};
    static const uint8_t test[] = {0, 0, 1, 1, 1}, none[5];
    folder f = plain_folder();
    gn_dataset *d;
    must(parse(plain, &f, 1, &d));
    ck_assert(d->n_relations == 1 && d->relations[0].n_edges == 5 && !d->y && !d->train_mask);
    ck_assert_str_eq(d->relations[0].name, "seeds");
    ck_assert_mem_eq(d->relations[0].from, from, sizeof from);
    ck_assert_mem_eq(d->relations[0].to, to, sizeof to);
    ck_assert_mem_eq(column(d, "seeds.labels")->data, labels, sizeof labels);
    ck_assert_mem_eq(column(d, "seeds.indexes")->data, index, sizeof index);
    ck_assert_mem_eq(column(d, "seeds.test_mask")->data, test, sizeof test);
    ck_assert_mem_eq(column(d, "seeds.val_mask")->data, none, sizeof none);
    ck_assert(((uint8_t *)column(d, "seeds.train_mask")->data)[1] == 1);
    gn_dataset_free(d);
    MUST_FAIL(parse(plain, &f, 2, &d), GN_ERR_USAGE, "split 2: there are 2");
}
END_TEST

START_TEST(classes_of_edges)
{
    static const char yaml[] = GRAPH
        "tasks:\n  - num_classes: 3\n" SET("train_set", "pairs.npy", LABELS("two.npy"));
    folder f = plain_folder();
    gn_dataset *d;
    f.entries[f.n++] = (entry){"two.npy", NULL, {NULL, "<i8", "(2,)", 2, {2, 0}}, NULL};
    must(parse(yaml, &f, 0, &d));
    const gn_table_column *c = column(d, "seeds.labels");
    ck_assert(c->elem == GN_I32 && c->classes == 3 && ((int32_t *)c->data)[0] == 2);
    gn_dataset_free(d);
    f.entries[f.n - 1].a.v[1] = 3;
    MUST_FAIL(parse(yaml, &f, 0, &d), GN_ERR_DATA,
              "two.npy: number 1 is 3: expected whole numbers from 0 to 2, as num_classes says");
}
END_TEST

/* ---- with types ---- */

static const char
    typed[] = "graph:\n"
              "  nodes: [{type: paper, num: 3}, {type: author, num: 2}]\n"
              "  edges:\n"
              "    - {type: \"paper:cites:paper\", format: csv, path: cites.csv}\n"
              "    - {type: author:writes:paper, format: numpy, path: writes.npy}\n"
              "    - {type: author:cites:author, format: csv, path: knows.csv}\n"
              "feature_data:\n"
              "  - {domain: node, type: paper, name: feat, format: numpy, path: x.npy}\n"
              "  - {domain: edge, type: author:writes:paper, name: feat, format: numpy, path: "
              "attr.npy}\n"
              "  - {domain: node, type: author, name: age, format: numpy, path: age.npy}\n"
              "tasks:\n"
              "  - train_set: [{type: paper, data: [{name: seeds, format: torch, path: seeds.pt},\n"
              "                                     {name: labels, format: numpy, path: y.npy}]}]\n"
              "  - train_set: [{type: author:writes:paper,\n"
              "                 data: [{name: seeds, format: numpy, path: pairs.npy}]}]\n";

static folder typed_folder(void)
{
    static const entry all[] = {
        {"cites.csv", "0,1\n", {0}, NULL},
        {"writes.npy", NULL, {NULL, "<i8", "(2, 2)", 4, {0, 1, 2, 0}}, NULL},
        {"knows.csv", "1,1\n", {0}, NULL},
        {"x.npy", NULL, {NULL, "<f4", "(3, 2)", 6, {1, 2, 3, 4, 5, 6}}, NULL},
        {"attr.npy", NULL, {NULL, "<f4", "(2, 1)", 2, {0.5, 1}}, NULL},
        {"age.npy", NULL, {NULL, "<i8", "(2,)", 2, {30, 40}}, NULL},
        {"seeds.pt", NULL, {0}, "seeds.pt"},
        {"y.npy", NULL, {NULL, "<i8", "(2,)", 2, {1, 0}}, NULL},
        {"pairs.npy", NULL, {NULL, "<i8", "(1, 2)", 2, {1, 2}}, NULL},
    };
    folder f = {.n = sizeof all / sizeof *all};
    memcpy(f.entries, all, sizeof all);
    return f;
}

START_TEST(graphs_with_types)
{
    static const char *const name[] = {"cites", "writes", "paper__cites__paper"};
    static const int src[] = {1, 1, 2}, dst[] = {1, 2, 2};
    static const int32_t y[] = {1, -1, 0};
    folder f = typed_folder();
    gn_dataset *d;
    must(parse(typed, &f, 0, &d));
    ck_assert(d->typed && d->n_tables == 2 && d->n_relations == 3 && d->labelled == 2);
    ck_assert_str_eq(d->tables[0].name, "author");
    for (int k = 0; k < 3; k++) {
        ck_assert_str_eq(d->relations[k].name, name[k]);
        ck_assert(d->relations[k].src == src[k] && d->relations[k].dst == dst[k]);
    }
    ck_assert(d->relations[1].from[1] == 1 && d->relations[1].to[0] == 2);
    ck_assert(((float *)column(d, "paper.x")->data)[5] == 6);
    ck_assert(((float *)column(d, "writes.attr")->data)[0] == 0.5f);
    ck_assert(((int32_t *)column(d, "author.age")->data)[1] == 40);
    ck_assert_mem_eq(d->y, y, sizeof y);
    ck_assert(d->train_mask[0] && d->train_mask[2] && d->n_classes == 2);
    gn_dataset_free(d);
    must(parse(typed, &f, 1, &d));
    const gn_relation *r = &d->relations[3];
    ck_assert(d->n_relations == 4 && r->src == 1 && r->dst == 2 && r->from[0] == 1);
    gn_dataset_free(d);
}
END_TEST

/* ---- what is refused ---- */

/* `text` with the first `from` in it as `to`. */
static char *replaced(const char *text, const char *from, const char *to)
{
    static char all[4096];
    const char *at = strstr(text, from);
    if (!at) ck_abort_msg("no '%s'", from);
    snprintf(all, sizeof all, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return all;
}

static void bad_yaml(const char *text, folder f, const char *from, const char *to,
                     const char *words, int line)
{
    gn_dataset *d;
    must_fail(parse(replaced(text, from, to), &f, 0, &d), GN_ERR_DATA, words, line);
}
#define BAD(from, to, words) bad_yaml(plain, plain_folder(), (from), (to), (words), __LINE__)
#define BAD_TYPED(from, to, words) bad_yaml(typed, typed_folder(), (from), (to), (words), __LINE__)

START_TEST(yaml_that_is_wrong)
{
    BAD("    - num: 3\n", "    - num: {3\n", "metadata.yaml:");
    BAD("graph:\n", "graph2:\n", "metadata.yaml:1: expected `graph:` with `nodes:` and `edges:`");
    BAD("dataset_name: tiny", "graph: 1", "metadata.yaml:2: `graph` is given twice");
    BAD("dataset_name: tiny", "dataset_name: [tiny]",
        "metadata.yaml:1: dataset_name: expected a w");
    BAD("dataset_name: tiny", "dataset_name: \"\\e[31m\"", "dataset_name: expected a word");
    BAD("name: tiny", "name: *tiny", "metadata.yaml:1: anchors and aliases");
    BAD("dataset_name: tiny", "[a]: b", "metadata.yaml:1: expected a word before `:`");
    BAD("  nodes:\n    - num: 3\n", "  nodes: 3\n", "metadata.yaml:3: nodes: expected a list");
    BAD("  nodes:\n    - num: 3\n", "", "metadata.yaml:3: graph: expected lists `nodes:`");
    BAD("    - num: 3", "    - num: three",
        "metadata.yaml:4: num: 'three': expected a whole number");
    BAD("    - num: 3", "    - num: -3", "metadata.yaml:4: num: '-3': expected a whole number");
    BAD("    - num: 3", "    - num: 3000000000", "metadata.yaml:4: num: expected at most");
    BAD("    - num: 3", "    - count: 3", "metadata.yaml:4: expected `num:` here");
    BAD("    - num: 3", "    - {num: 3, type: paper}", "metadata.yaml:6: expected `type:` here");
    BAD("format: csv", "format: torch", "metadata.yaml:6: format: 'torch': expected csv or numpy");
    BAD("path: edges.csv", "paths: edges.csv", "metadata.yaml:6: expected `path:` here");
    BAD("path: edges.csv", "path: ../edges.csv", "metadata.yaml:7: path: '../edges.csv': expected");
    BAD("path: edges.csv", "path: /edges.csv", "expected a file within the folder");
    BAD("path: edges.csv", "path: a/..", "expected a file within the folder");
    BAD("domain: node", "domain: graph", "metadata.yaml:9: domain: 'graph': expected node or edge");
    BAD("format: numpy", "format: csv", "metadata.yaml:11: format: 'csv': expected numpy or torch");
    BAD("type: null", "type: paper",
        "metadata.yaml:14: type: 'paper': expected none, as the graph");
    BAD("name: year", "name: 2year", "a column '2year': expected a name of letters");
    BAD("name: kind", "name: feat", "kind.npy: two features of edges are named feat");
    BAD("num_classes: 5", "num_classes: 3", "metadata.yaml: num_classes is 3, and a label is 3");
    BAD("{name: seeds", "{name: node_pairs",
        "name: 'node_pairs': expected seeds, labels or indexes");
    BAD("{name: labels", "{name: seeds", "two seeds of one set");
    BAD("- {name: seeds, format: numpy, path: val.npy}", "",
        "metadata.yaml:25: validation_set: exp");
    BAD("      - data:\n", "      - {}\n      - data:\n", "train_set: expected one type that has");
}
END_TEST

/* What libyaml would take long for, too. */
START_TEST(aliases_and_depth_are_refused)
{
    folder f = plain_folder();
    gn_dataset *d;
    char deep[1000];
    memset(deep, '[', sizeof deep);
    deep[sizeof deep - 1] = 0;
    MUST_FAIL(parse(deep, &f, 0, &d), GN_ERR_DATA, "metadata.yaml:1: lists and mappings more than");
    MUST_FAIL(parse("a:\n  - &a [1]\nb: *a\n", &f, 0, &d), GN_ERR_DATA,
              "metadata.yaml:2: anchors and aliases (`&`, `*`) are not read");
    MUST_FAIL(parse("a: *a\n", &f, 0, &d), GN_ERR_DATA, "metadata.yaml:1: anchors and aliases");
    MUST_FAIL(parse("", &f, 0, &d), GN_ERR_DATA, "metadata.yaml:1: expected `graph:`");
    MUST_FAIL(parse("graph_topology: {}\n", &f, 0, &d), GN_ERR_DATA,
              "metadata.yaml: this is what DGL has preprocessed: give the folder around");
}
END_TEST

START_TEST(types_that_are_wrong)
{
    BAD_TYPED("type: paper", "type: venue", "type: 'paper:cites:paper': there are no nodes of");
    BAD_TYPED("\"paper:cites:paper\"", "cites",
              "metadata.yaml:4: type: 'cites': expected source:r");
    BAD_TYPED("author:cites:author", "author:writes:paper", "two lists of edges have the type");
    BAD_TYPED("type: author, num", "type: paper, num", "two types of nodes are named 'paper'");
    BAD_TYPED("type: paper, name", "type: venue, name", "the graph has no nodes of this type");
    BAD_TYPED("type: paper, name", "name", "metadata.yaml:8: expected `type:` here");
    BAD_TYPED("author:writes:paper, name", "a:b:c, name", "the graph has no edges of this type");
    BAD_TYPED("[{type: paper, data", "[{type: venue, data", "the graph has no nodes of this type");
}
END_TEST

static void bad_file(const char *path, array a, const char *words, int line)
{
    folder f = plain_folder();
    gn_dataset *d;
    f.entries[f.n++] = (entry){path, NULL, a, NULL};
    bool links = strstr(path, "pairs") || strstr(path, "test_true") || strstr(path, "index");
    must_fail(parse(plain, &f, links, &d), GN_ERR_DATA, words, line);
}
START_TEST(files_that_are_wrong)
{
    static const struct {
        const char *path;
        array a;
        const char *words;
    } all[] = {
        {"x.npy", {NULL, "<f4", "(2, 3)", 6, {0}}, "x.npy: shape [2, 3]: expected 3 rows"},
        {"year.npy", {NULL, "<i8", "(2,)", 2, {0}}, "year.npy: shape [2]: expected 3 rows"},
        {"train.npy", {NULL, "<i8", "(1,)", 1, {3}}, "train.npy: number 0 is 3: expected a row"},
        {"train.npy",
         {NULL, "<i8", "(1, 3)", 3, {0}},
         "train.npy: shape [1, 3]: expected seeds [k]"},
        {"val.npy",
         {NULL, "<i8", "(1, 2)", 2, {0}},
         "val.npy: shape [1, 2]: expected seeds [k], as"},
        {"train_y.npy",
         {NULL, "<i8", "(2,)", 2, {0}},
         "train_y.npy: shape [2]: expected 1 rows, one"},
        {"val_y.npy",
         {NULL, "<i8", "(1, 2)", 2, {0}},
         "val_y.npy: shape [1, 2]: expected 1 numbers"},
        {"val_y.npy",
         {NULL, "<f4", "(1,)", 1, {(double)NAN}},
         "val_y.npy: number 0 is nan: expected"},
        {"val.npy",
         {NULL, "<i8", "(1,)", 1, {2}},
         "val_y.npy: seed 0 is node 2, which has another"},
        {"pairs.npy",
         {NULL, "<i8", "(1, 2)", 2, {0, 3}},
         "pairs.npy: edge 0 ends at 3: expected a"},
        {"pairs.npy",
         {NULL, "<i8", "(2,)", 2, {0, 3}},
         "test_pairs.npy: shape [3, 2]: expected see"},
        {"test_true.npy",
         {NULL, "<i8", "(2,)", 2, {0}},
         "test_true.npy: shape [2]: expected 3 rows"},
        {"index.npy",
         {NULL, "<i8", "(3, 1)", 3, {0}},
         "index.npy: shape [3, 1]: expected one number"},
        {"index.npy", {NULL, "<i8", "(3,)", 3, {-1}}, "index.npy: number 0 is -1: expected whole"},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        bad_file(all[k].path, all[k].a, all[k].words, (int)k);
}
END_TEST

START_TEST(edges_that_are_wrong)
{
    folder f = plain_folder();
    gn_dataset *d;
    f.entries[0].text = "0,1\n0,3\n";
    MUST_FAIL(parse(plain, &f, 0, &d), GN_ERR_DATA, "edges.csv:2: '3': expected a row from 0 to 2");
    f.entries[0].text = "src,dst\n0,1\n";
    MUST_FAIL(parse(plain, &f, 0, &d), GN_ERR_DATA, "edges.csv:1: 'src': expected a whole number");
    f = typed_folder();
    f.entries[6].torch = "split.pt";
    MUST_FAIL(parse(typed, &f, 0, &d), GN_ERR_DATA,
              "seeds.pt: expected a tensor, and it is a dict");
    f.n = 1;
    MUST_FAIL(parse(typed, &f, 0, &d), GN_ERR_IO, "metadata.yaml:6: ");
}
END_TEST

START_TEST(folders)
{
    char root[] = "/tmp/gnnc-bolt-XXXXXX", path[128];
    static const char yaml[] = "graph: {nodes: [{num: 3}], edges: [{format: csv, path: "
                               "edges/all.csv}]}\n";
    gn_dataset *d;
    ck_assert_ptr_nonnull(mkdtemp(root));
    snprintf(path, sizeof path, "%s/edges", root);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    write_part(root, "edges/all.csv", "0,1\n1,2\n", 8);
    snprintf(path, sizeof path, "%s/preprocessed", root);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    write_part(root, "preprocessed/metadata.yaml", "graph_topology: {type: x}\n", 26);
    gn_data_options opt = {.path = root, .normalize_rows = -1, .undirected = -1};
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_DATA, "expected the metadata.yaml from which DGL");
    opt.path = path;
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_DATA, "give the folder around `preprocessed`");
    write_part(root, "metadata.yaml", yaml, sizeof yaml - 1);
    d = read_path(root);
    ck_assert(d->n_edges == 2 && d->n_nodes == 3);
    ck_assert_int_eq(strncmp(d->name, "gnnc-bolt-", 10), 0);
    gn_dataset_free(d);
    snprintf(path, sizeof path, "%s/metadata.yaml", root);
    d = read_path(path);
    ck_assert_int_eq(d->n_edges, 2);
    gn_dataset_free(d);
    remove_folder(root);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("graphbolt");
    TCase *t = tcase_create("graphbolt");
    tcase_add_test(t, graphs_without_types);
    tcase_add_test(t, edges_and_seeds_of_other_formats);
    tcase_add_test(t, labels_of_several_numbers);
    tcase_add_test(t, links_are_a_relation);
    tcase_add_test(t, classes_of_edges);
    tcase_add_test(t, graphs_with_types);
    tcase_add_test(t, yaml_that_is_wrong);
    tcase_add_test(t, aliases_and_depth_are_refused);
    tcase_add_test(t, types_that_are_wrong);
    tcase_add_test(t, files_that_are_wrong);
    tcase_add_test(t, edges_that_are_wrong);
    tcase_add_test(t, folders);
    suite_add_tcase(s, t);
    return suite_run(s);
}
