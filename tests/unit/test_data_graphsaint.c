/* GraphSAINT folders: what a reading in Python has of them, and what is refused. */
/* links: runtime base */
#include "data_arrays.h"

#include <math.h>

static const gn_data_options plain = {.normalize_rows = -1, .undirected = -1};

enum { DATA, INDICES, INDPTR, SHAPE, FORMAT, ARRAYS };

/* Node 0 has the edges to 2 and 1, in that order, and 2 has two to itself. */
static const array matrix[ARRAYS] = {
    [DATA] = {"data", "|b1", "(4,)", 4, {1, 1, 1, 1}},
    [INDICES] = {"indices", "<i4", "(4,)", 4, {2, 1, 2, 2}},
    [INDPTR] = {"indptr", "<i4", "(4,)", 4, {0, 2, 2, 4}},
    [SHAPE] = {"shape", "<i8", "(2,)", 2, {3, 3}},
    [FORMAT] = {"format", "|S3", "()", 3, {'c', 's', 'r'}},
};
static const array features = {NULL, "<f8", "(3, 2)", 6, {1, 2, 3, 4, 5, 6}};
static const char classes[] = "{\"0\": 2,\n \"2\": 0}",
                  roles[] = "{\"tr\": [0],\n\"va\": [], \"te\": [2, 1]}";

typedef struct files {
    array matrix[ARRAYS], features;
    const char *classes, *roles;
} files;

static files good(void)
{
    files f = {.features = features, .classes = classes, .roles = roles};
    memcpy(f.matrix, matrix, sizeof matrix);
    return f;
}

static gn_status *parse(const files *f, gn_dataset **out)
{
    static const char *const name[] = {"adj_full.npz", "feats.npy", "class_map.json", "role.json"};
    blob adj = npz_of(f->matrix, ARRAYS), x = npy_of(&f->features);
    const void *bytes[] = {adj.p, x.p, f->classes, f->roles};
    const size_t size[] = {adj.n, x.n, strlen(f->classes), strlen(f->roles)};
    gn_input part[GN_SAINT_PARTS];
    gn_reading r = {.opt = &plain, .origin = "saint"};
    *out = NULL;
    for (int k = 0; k < GN_SAINT_PARTS; k++)
        part[k] = (gn_input){exact(bytes[k], size[k]), size[k], name[k]};
    gn_status *s = gn_saint_parse(part, &r, out);
    for (int k = 0; k < GN_SAINT_PARTS; k++) free((void *)part[k].bytes);
    return s ? s : gn_dataset_check(*out);
}

START_TEST(classes_and_roles)
{
    static const int64_t src[] = {0, 0, 2, 2}, dst[] = {2, 1, 2, 2};
    static const int32_t y[] = {2, -1, 0};
    files f = good();
    gn_dataset *d;
    must(parse(&f, &d));
    ck_assert(d->n_nodes == 3 && d->n_edges == 4 && !d->edge_weight && d->n_classes == 3);
    ck_assert_mem_eq(d->src, src, sizeof src);
    ck_assert_mem_eq(d->dst, dst, sizeof dst);
    ck_assert_mem_eq(d->y, y, sizeof y);
    ck_assert(d->n_features == 2 && d->x[5] == 6);
    ck_assert(d->train_mask[0] && !d->train_mask[1] && d->test_mask[1] && d->test_mask[2]);
    ck_assert_int_eq(count_mask(d->val_mask, 3), 0);
    gn_dataset_free(d);
}
END_TEST

START_TEST(values_are_weights)
{
    static const float weight[] = {1, 0.5, 0, 2};
    files f = good();
    gn_dataset *d;
    f.matrix[DATA] = (array){"data", "<f4", "(4,)", 4, {1, 0.5, 0, 2}};
    f.matrix[FORMAT].name = NULL;
    must(parse(&f, &d));
    ck_assert_int_eq(d->n_edges, 4);
    ck_assert_mem_eq(d->edge_weight, weight, sizeof weight);
    gn_dataset_free(d);
}
END_TEST

START_TEST(lists_are_targets)
{
    static const float target[] = {0, 1, 1, 0, 0, 0};
    static const uint8_t known[] = {1, 1, 1, 1, 0, 0};
    files f = good();
    gn_dataset *d;
    f.classes = "{\"1\":[1,0],\"0\":[0,1.0]}";
    must(parse(&f, &d));
    const gn_table_column *c = column(d, "node.target");
    ck_assert(!d->y && d->n_classes == 0 && c->elem == GN_F32 && c->rank == 1 && c->dim[0] == 2);
    ck_assert_mem_eq(c->data, target, sizeof target);
    ck_assert_mem_eq(column(d, "node.target_known")->data, known, sizeof known);
    ck_assert(d->train_mask[0]);
    gn_dataset_free(d);
    f.classes = "{\"1\":[1],\"0\":[0],\"2\":[1]}";
    must(parse(&f, &d));
    ck_assert(!d->y && column(d, "node.target")->dim[0] == 1);
    ck_assert_ptr_null(gn_dataset_column(d, "node.target_known"));
    gn_dataset_free(d);
}
END_TEST

static void bad(files f, const char *words, int line)
{
    gn_dataset *d;
    must_fail(parse(&f, &d), GN_ERR_DATA, words, line);
}
#define BAD(change, words)                                                                         \
    do {                                                                                           \
        files f = good();                                                                          \
        f.change;                                                                                  \
        bad(f, (words), __LINE__);                                                                 \
    } while (0)

START_TEST(matrices_that_are_wrong)
{
    BAD(matrix[DATA].name = NULL, "adj_full.npz: no array 'data'");
    BAD(matrix[FORMAT].v[2] = 'c', "adj_full.npz: a matrix of scipy in the format 'csc'");
    BAD(matrix[SHAPE].v[1] = 4, "adj_full.npz: shape: 3 x 4: expected a row and a column");
    BAD(matrix[SHAPE].v[0] = -1, "adj_full.npz: shape: -1 x 3");
    BAD(matrix[INDICES].v[1] = 3, "indices[1] is 3: expected a node from 0 to 2");
    BAD(matrix[INDICES].v[1] = -1, "indices[1] is -1: expected a node from 0 to 2");
    BAD(matrix[INDPTR].v[0] = 1, "indptr[0] is 1: expected numbers from 0 up to the 4 indices");
    BAD(matrix[INDPTR].v[1] = 3, "indptr[2] is 2: expected");
    BAD(matrix[INDPTR].v[3] = 3, "indptr[3] is 3: expected");
    BAD(matrix[INDPTR].v[3] = 5, "indptr[3] is 5: expected");
    BAD(matrix[INDPTR] = matrix[SHAPE], "adj_full.npz: ");
    BAD(matrix[DATA] = ((array){"data", "<f4", "(3,)", 3, {1}}), "data: shape [3]: expected [4]");
    BAD(matrix[DATA] = ((array){"data", "<f4", "(4,)", 4, {1, (double)INFINITY}}),
        "adj_full.npz: data[1] is inf: expected finite");
    BAD(features.shape = "(2, 3)", "feats.npy: shape [2, 3]: expected 3 rows");
    BAD(features.v[3] = (double)NAN, "feats.npy: row 1, column 1 is nan: expected finite");
    BAD(features.n = 5, "feats.npy: 40 bytes of data: expected 6 elements");
}
END_TEST

START_TEST(classes_that_are_wrong)
{
    BAD(classes = "", "class_map.json:1: expected an object");
    BAD(classes = "{}", "class_map.json: no node has a class");
    BAD(classes = "{\"0\": 1,\n\"3\": 1}", "class_map.json:2: '3': expected a node from 0 to 2");
    BAD(classes = "{\"x\": 1}", "class_map.json:1: 'x': expected a node from 0 to 2");
    BAD(classes = "{\"0\": 1,\n\n\"0\": 1}", "class_map.json:3: node 0 is given twice");
    BAD(classes = "{\"0\": -1}", "class_map.json:1: expected a class");
    BAD(classes = "{\"0\": 1.5}", "class_map.json:1: expected a class");
    BAD(classes = "{\"0\": 4000}", "class_map.json: 4001 classes for 3 rows");
    BAD(classes = "{\"0\": [], \"1\": []}", "class_map.json:1: an empty list");
    BAD(classes = "{\"0\": [1, 0],\n\"1\": [1]}", "class_map.json:2: expected a list of 2 numbers");
    BAD(classes = "{\"0\": [1, 0],\n\"1\": 1}", "class_map.json:2: expected a list of 2 numbers");
    BAD(classes = "{\"0\": [1, 2]}", "class_map.json:1: class 1 of the list: expected 0 or 1");
    BAD(classes = "{\"0\": [1, \"0\"]}", "class_map.json:1: class 1 of the list: expected 0 or 1");
    BAD(classes = "{\"0\": 1", "class_map.json:1: expected `,` or `}`");
    BAD(classes = "{\"0\": 1,\n\"1\"\n: [1,\n}", "class_map.json:4: JSON: ");
    BAD(classes = "{\"0\" 1}", "class_map.json:1: expected `:`");
    BAD(classes = "{0: 1}", "class_map.json:1: expected a name in quotes");
    BAD(classes = "{\"0\": 1}\n}", "class_map.json:2: expected the end behind `}`");
}
END_TEST

START_TEST(roles_that_are_wrong)
{
    BAD(roles = "{\"tr\": [0], \"te\": [1]}", "role.json: expected `tr`, `va` and `te`");
    BAD(roles = "{\"tr\": [0],\n\"tr\": [1]}", "role.json:2: expected `tr`, `va` and `te` once");
    BAD(roles = "{\"train\": [0]}", "role.json:1: expected `tr`, `va` and `te` once");
    BAD(roles = "{\"tr\": 0}", "role.json:1: expected `tr`, `va` and `te` once each, lists");
    BAD(roles = "{\"tr\": [0, 3]}", "role.json:1: tr[1]: expected nodes from 0 to 2");
    BAD(roles = "{\"va\": [-1]}", "role.json:1: va[0]: expected nodes from 0 to 2");
    BAD(roles = "{\"te\": [1, 0.5]}", "role.json:1: te[1]: expected nodes from 0 to 2");
}
END_TEST

START_TEST(folders)
{
    char root[] = "/tmp/gnnc-saint-XXXXXX";
    files f = good();
    blob adj = npz_of(f.matrix, ARRAYS), x = npy_of(&f.features);
    gn_dataset *d;
    ck_assert_ptr_nonnull(mkdtemp(root));
    ck_assert_int_eq(mkdir(strcat(strcpy((char[64]){0}, root), "/raw"), 0700), 0);
    write_part(root, "raw/adj_full.npz", adj.p, adj.n);
    write_part(root, "raw/feats.npy", x.p, x.n);
    write_part(root, "raw/class_map.json", classes, strlen(classes));
    gn_data_options opt = {.path = root, .normalize_rows = -1, .undirected = -1};
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_IO, "role.json");
    write_part(root, "raw/role.json", roles, strlen(roles));
    d = read_path(root);
    ck_assert(d->n_edges == 4 && !d->split_drawn && d->y[0] == 2);
    gn_dataset_free(d);
    opt.undirected = 1;
    d = read_with(opt);
    ck_assert_int_eq(d->n_edges, 5); /* 0-1 and 0-2 both ways, one loop */
    gn_dataset_free(d);
    remove_folder(root);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("graphsaint");
    TCase *t = tcase_create("graphsaint");
    tcase_add_test(t, classes_and_roles);
    tcase_add_test(t, values_are_weights);
    tcase_add_test(t, lists_are_targets);
    tcase_add_test(t, matrices_that_are_wrong);
    tcase_add_test(t, classes_that_are_wrong);
    tcase_add_test(t, roles_that_are_wrong);
    tcase_add_test(t, folders);
    suite_add_tcase(s, t);
    return suite_run(s);
}
