/* The Planetoid layout on a tiny dataset with a gap in its test index, in every pickle protocol.
 * The figures are torch_geometric.io.read_planetoid_data's (PyG 2.8) for the same files named
 * citeseer, whose gaps it fills. */
/* links: runtime base */
#include "data_parts.h"

#include <zlib.h>

static void check_tiny(const gn_dataset *d)
{
    static const int64_t src[] = {1, 2, 0, 0, 7, 5, 11, 4, 10, 2, 8, 7, 6, 4};
    static const int64_t dst[] = {0, 0, 1, 2, 2, 4, 4, 5, 6, 7, 7, 8, 10, 11};
    static const float x[12][5] = {{1, 0, 0, 1, 0}, {0, 1, 0, 0, 0}, {0, 0, 2, 0, 0},
                                   {1, 1, 0, 0, 0}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, 0},
                                   {0, 1, 1, 1, 0}, {3, 0, 0, 0, 0}, {0, 0, 0, 4, 4},
                                   {0, 0, 0, 0, 0}, {0, 0, 0, 0, 7}, {0, 0.5, 0, 0, 0}};
    static const int32_t y[] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 2, 0};
    static const uint8_t test[] = {0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 1};
    ck_assert_str_eq(d->name, "tiny");
    ck_assert_int_eq(d->n_nodes, 12);
    ck_assert_int_eq(d->n_edges, 14);
    ck_assert_int_eq(d->n_features, 5);
    ck_assert_int_eq(d->n_classes, 3);
    ck_assert_mem_eq(d->src, src, sizeof src);
    ck_assert_mem_eq(d->dst, dst, sizeof dst);
    ck_assert_mem_eq(d->y, y, sizeof y);
    ck_assert_mem_eq(d->test_mask, test, sizeof test);
    ck_assert_ptr_null(d->x);
    for (int r = 0; r < 12; r++) {
        float row[5] = {0};
        for (int64_t i = d->x_csr->ptr[r]; i < d->x_csr->ptr[r + 1]; i++)
            row[d->x_csr->col[i]] = d->x_csr->val[i];
        ck_assert_mem_eq(row, x[r], sizeof row);
    }
    for (int i = 0; i < 12; i++) {
        ck_assert_int_eq(d->train_mask[i], i < 3);
        ck_assert_int_eq(d->val_mask[i], i >= 3 && i < 7);
    }
}

START_TEST(reads_every_protocol)
{
    char path[64];
    snprintf(path, sizeof path, "tests/data/planetoid/p%d", _i);
    gn_dataset *d = read_with(
        (gn_data_options){.path = source_path(path), .normalize_rows = 0, .undirected = -1});
    check_tiny(d);
    gn_dataset_free(d);
}
END_TEST

/* NormalizeFeatures divides by max(sum, 1): rows that sum to less are left. */
START_TEST(rows_are_normalised_by_default)
{
    gn_dataset *d = read_path(source_path("tests/data/planetoid/p2"));
    const gn_csr *m = d->x_csr;
    ck_assert(m->val[m->ptr[0]] == 0.5f && m->val[m->ptr[2]] == 1 && m->val[m->ptr[6]] == 1 / 3.0f);
    ck_assert(m->val[m->ptr[11]] == 0.5f && m->val[m->ptr[10]] == 1 &&
              m->val[m->ptr[8] + 1] == 0.5f);
    gn_dataset_free(d);
}
END_TEST

/* A folder of links to the tiny files, one of them replaced. */
static void with_replaced(const char *part, const void *bytes, size_t n, const char *words)
{
    static const char *const parts[] = {"x",  "tx",   "allx",  "y",
                                        "ty", "ally", "graph", "test.index"};
    char folder[] = "/tmp/gnnc-planetoid-XXXXXX", raw[64], from[4200], to[128], here[4096];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_ptr_nonnull(realpath(source_path("tests/data/planetoid/p2"), here));
    snprintf(raw, sizeof raw, "%s/raw", folder);
    ck_assert_int_eq(mkdir(raw, 0700), 0);
    for (int k = 0; k < 8; k++) {
        snprintf(from, sizeof from, "%s/ind.tiny.%s", here, parts[k]);
        snprintf(to, sizeof to, "%s/ind.tiny.%s", raw, parts[k]);
        if (strcmp(part, parts[k]) != 0) {
            ck_assert_int_eq(symlink(from, to), 0);
            continue;
        }
        if (!bytes) continue;
        FILE *f = fopen(to, "wb");
        ck_assert_ptr_nonnull(f);
        fwrite(bytes, 1, n, f);
        fclose(f);
    }
    gn_data_options opt = {.path = folder, .normalize_rows = -1, .undirected = -1};
    gn_dataset *d = NULL;
    gn_status *s = gn_dataset_read(&opt, &d);
    if (words)
        must_fail(s, bytes ? GN_ERR_DATA : GN_ERR_IO, words, __LINE__);
    else
        must(s);
    gn_dataset_free(d);
    for (int k = 0; k < 8; k++) {
        snprintf(to, sizeof to, "%s/ind.tiny.%s", raw, parts[k]);
        unlink(to);
    }
    rmdir(raw);
    rmdir(folder);
}
#define REPLACED(part, text, words) with_replaced((part), (text), sizeof(text) - 1, (words))

START_TEST(refuses_what_does_not_fit)
{
    REPLACED("none", "", NULL);
    with_replaced("ty", NULL, 0, "ind.tiny.ty': No such file");
    REPLACED("test.index", "10\n7\n11\n", "4 rows, but the test index has 3 nodes");
    REPLACED("test.index", "10\n7\n11\n11\n", "node 11 is listed twice");
    REPLACED("test.index", "10\n8\n11\n9\n", "the least node is 8, expected 7");
    REPLACED("test.index", "10\n7\n11\n2000000000\n", "few gaps");
    REPLACED("test.index", "10\n7\nx\n8\n", "ind.tiny.test.index:3: 'x': expected one node a line");
    REPLACED("test.index", "", "found none");
    REPLACED("graph", "].", "expected a dict of neighbours, found list");
    REPLACED("graph", "}K\x0c]s.", "expected a node below 12");
    REPLACED("graph",
             "}K\x01](K\x63"
             "es.",
             "node 1, neighbour 0: expected a node below 12");
    REPLACED("graph", "}K\x01K\x02s.", "node 1: expected a list of neighbours, found int");
    REPLACED("y", "K\x01.", "expected a matrix of one-hot labels, found int");
    REPLACED("allx", "N.", "expected a sparse matrix or a matrix, found None");
    REPLACED("allx", "cscipy.sparse.csr\ncsr_matrix\n)\x81.",
             "expected a sparse matrix or a matrix, found sparse");
    REPLACED("x", "cos\nsystem\n.", "global os.system is refused");
}
END_TEST

/* One list of neighbours under every key: quadratic if it were believed. */
START_TEST(shared_lists_are_refused)
{
    char text[4096];
    size_t n = 0;
    text[n++] = '}';
    text[n++] = '(';
    for (char k = 0; k < 12; k++) {
        text[n++] = 'K';
        text[n++] = k;
        if (k) {
            text[n++] = 'h';
            text[n++] = 1;
            continue;
        }
        text[n++] = ']';
        text[n++] = 'q';
        text[n++] = 1;
        text[n++] = '(';
        for (int i = 0; i < 1000; i++) {
            text[n++] = 'K';
            text[n++] = 1;
        }
        text[n++] = 'e';
    }
    text[n++] = 'u';
    text[n++] = '.';
    with_replaced("graph", text, n, "12000 neighbours in 2055 bytes");
}
END_TEST

/* A tiny file as it is, and `zipped` bytes of it as .gz; 0: none. */
static void put(const char *folder, const char *part, bool plain, size_t zipped)
{
    char path[128];
    gn_bytes b;
    snprintf(path, sizeof path, "tests/data/planetoid/p2/ind.tiny.%s", part);
    must(gn_file_read(source_path(path), &b));
    snprintf(path, sizeof path, "%s/ind.tiny.%s", folder, part);
    unlink(path);
    snprintf(path, sizeof path, "ind.tiny.%s", part);
    if (plain) write_part(folder, path, b.p, b.n);
    snprintf(path, sizeof path, "%s/ind.tiny.%s.gz", folder, part);
    gzFile f = zipped ? gzopen(path, "wb") : NULL;
    size_t n = zipped < b.n ? zipped : b.n;
    if (f) ck_assert_int_eq(gzwrite(f, b.p, (unsigned)n), (int)n);
    if (f) gzclose(f);
    gn_bytes_free(&b);
}

/* Beside the file itself a .gz is not read. */
START_TEST(parts_may_be_zipped)
{
    static const char *const part[] = {"x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"};
    char folder[] = "/tmp/gnnc-planetoid-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    for (int beside = 1; beside >= 0; beside--) {
        for (size_t k = 0; k < sizeof part / sizeof *part; k++)
            put(folder, part[k], beside, beside ? 1 : SIZE_MAX);
        gn_dataset *d = read_with(
            (gn_data_options){.path = folder, .normalize_rows = 0, .undirected = -1});
        check_tiny(d);
        gn_dataset_free(d);
    }
    remove_folder(folder);
}
END_TEST

START_TEST(refuses_folders_without_files)
{
    gn_data_options opt = {
        .path = source_path("tests/data"), .normalize_rows = -1, .undirected = -1};
    gn_dataset *d;
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_DATA,
              "no data in this folder or its raw/: looked for ind.NAME.graph of Planetoid");
    opt.path = "/nonexistent/cora";
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_IO, "No such file");
    ck_assert_ptr_null(d);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("planetoid");
    TCase *t = tcase_create("planetoid");
    tcase_add_loop_test(t, reads_every_protocol, 0, 6);
    tcase_add_test(t, rows_are_normalised_by_default);
    tcase_add_test(t, refuses_what_does_not_fit);
    tcase_add_test(t, shared_lists_are_refused);
    tcase_add_test(t, parts_may_be_zipped);
    tcase_add_test(t, refuses_folders_without_files);
    suite_add_tcase(s, t);
    return suite_run(s);
}
