/* .npz: the layouts, the zip around them and the .npy within, whole and damaged. */
/* links: runtime base */
#include "data_fixture.h"

#include "runtime/data/npy.h"
#include "runtime/data/readers.h"

#include <zlib.h>

static gn_status *parse(const void *bytes, size_t n, gn_dataset **out)
{
    static const gn_data_options defaults = {.normalize_rows = -1, .undirected = -1};
    gn_reading r = {.opt = &defaults, .origin = "test"};
    void *copy = exact(bytes, n);
    gn_status *s = gn_npz_parse(copy, n, &r, out);
    free(copy);
    return s;
}

static void check_edges(const gn_dataset *d, int64_t n, const int64_t *src, const int64_t *dst)
{
    ck_assert_int_eq(d->n_edges, n);
    ck_assert_mem_eq(d->src, src, (size_t)n * sizeof *src);
    ck_assert_mem_eq(d->dst, dst, (size_t)n * sizeof *dst);
}
#define EDGES(d, n, src, dst) check_edges((d), (n), (const int64_t[])src, (const int64_t[])dst)
#define L(...) {__VA_ARGS__}

START_TEST(benchmark_layout)
{
    gn_dataset *d = read_path(source_path("tests/data/npz/benchmark.npz"));
    /* the loop is gone, the rest goes both ways */
    EDGES(d, 6, L(0, 0, 1, 1, 2, 3), L(1, 3, 0, 2, 1, 0));
    ck_assert(d->n_nodes == 4 && d->n_features == 3 && d->n_classes == 3 && d->split_drawn &&
              !d->edge_weight);
    const gn_csr *m = d->x_csr;
    ck_assert(m->nnz == 4 && m->val[0] == 1 && m->val[1] == 1 && m->val[2] == 1 && m->val[3] == -1);
    gn_dataset_free(d);
    d = read_with((gn_data_options){
        .path = source_path("tests/data/npz/benchmark.npz"), .normalize_rows = 0, .undirected = 0});
    EDGES(d, 3, L(0, 1, 3), L(1, 2, 0));
    gn_dataset_free(d);
    d = read_path(source_path("tests/data/npz/bare.npz"));
    EDGES(d, 4, L(0, 1, 1, 3), L(1, 1, 2, 0));
    ck_assert(d->n_nodes == 4 && d->n_features == 0 && !d->y && !d->x && !d->x_csr &&
              !d->edge_weight);
    gn_dataset_free(d);
}
END_TEST

START_TEST(heterophilous_layout)
{
    gn_data_options opt = {.path = source_path("tests/data/npz/heterophilous.npz"),
                           .split = 1,
                           .normalize_rows = -1,
                           .undirected = -1};
    gn_dataset *d = read_with(opt);
    EDGES(d, 5, L(0, 1, 1, 2, 3), L(1, 0, 3, 2, 1));
    ck_assert(d->n_nodes == 4 && d->n_features == 2 && d->n_classes == 2 && !d->split_drawn &&
              d->x[5] == 5);
    ck_assert(d->train_mask[1] && d->val_mask[2] && d->test_mask[3]);
    ck_assert_int_eq(count_mask(d->train_mask, 4), 1);
    gn_dataset_free(d);
    opt.split = 2;
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_USAGE, "split 2: there are 2");
    opt.split = -1;
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_USAGE, "split -1");
}
END_TEST

START_TEST(plain_layout)
{
    gn_data_options opt = {
        .path = source_path("tests/data/npz/plain.npz"), .normalize_rows = -1, .undirected = -1};
    gn_dataset *d = read_with(opt);
    EDGES(d, 3, L(0, 2, 2), L(1, 1, 0));
    ck_assert(d->edge_weight[0] == .5f && d->edge_weight[2] == 2 && d->edge_dim == 2 &&
              d->edge_attr[3] == 4);
    for (int i = 0; i < 6; i++)
        ck_assert(d->x[i] == (float)(i + 1)); /* from big-endian, column-major */
    ck_assert(d->y[0] == 1 && d->y[1] == -1 && d->y[2] == 0);
    ck_assert(!d->train_mask[1] && !d->val_mask[1] && !d->test_mask[1]);
    gn_dataset_free(d);
    opt.undirected = 1;
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_USAGE, "cannot be made undirected");
    opt.path = source_path("tests/data/npz/object.npz");
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_DATA,
              "edge_index: .npy header: descr: expected a plain number");
}
END_TEST

/* Pickled matrices under names of their own, and a dict of all (tests/data/make.py). */
START_TEST(pickled_layouts)
{
    static const char *const files[] = {"tests/data/npz/graphdata.npz", "tests/data/npz/dict.npz"};
    for (int k = 0; k < 2; k++) {
        gn_dataset *d = read_path(source_path(files[k]));
        EDGES(d, 2, L(0, 1), L(1, 2));
        ck_assert(d->n_nodes == 3 && d->edge_weight[0] == 1 && d->edge_weight[1] == 2 &&
                  !d->edge_attr);
        ck_assert(d->n_features == 3 && d->n_classes == 2 && d->y[1] == 1);
        ck_assert(k == 0 ? d->x_csr->nnz == 3 && d->x_csr->val[2] == 3
                         : d->x[4] == 1 && d->x[5] == 0);
        /* names of others may be inputs of a model, too */
        ck_assert_int_eq(d->n_more, k == 0 ? 1 : 2);
        for (int i = 0; i < d->n_more; i++)
            ck_assert(d->more[i].also && !d->more[i].data == (k == 0));
        gn_dataset_free(d);
    }
}
END_TEST

/* ---- .npy headers ---- */

static gn_status *npy(const char *dict, size_t data, gn_ndarray *a)
{
    char bytes[512] = "\x93NUMPY\1";
    size_t n = strlen(dict);
    bytes[8] = (char)(n & 255);
    bytes[9] = (char)(n >> 8);
    memcpy(bytes + 10, dict, n);
    void *copy = exact(bytes, 10 + n + data);
    gn_status *s = gn_npy_parse(copy, 10 + n + data, "test", a);
    free(copy);
    return s;
}

START_TEST(npy_headers)
{
    gn_ndarray a;
#define D(descr, order, shape)                                                                     \
    "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }"
    must(npy(D("<f4", "False", "(2, 3)") "   \n", 24, &a));
    ck_assert(a.kind == 'f' && a.size == 4 && a.rank == 2 && a.dim[1] == 3 && a.count == 6 &&
              !a.fortran && !a.swap);
    must(npy(D(">i8", "True", "(2L,)"), 16, &a));
    ck_assert(a.swap && a.fortran && a.rank == 1);
    must(npy(D("|b1", "False", "()"), 1, &a));
    ck_assert(a.rank == 0 && a.count == 1);
    must(npy("{\"shape\":(0,),'fortran_order':False,\"descr\":'<u2'}", 0, &a));
    static const struct {
        const char *dict, *words;
    } bad[] = {
        {D("|O", "False", "(2,)"), "descr: expected a plain number"},
        {D("<V8", "False", "(2,)"), "descr"},
        {D("<c8", "False", "(2,)"), "descr"},
        {D("<U3", "False", "(2,)"), "descr"},
        {D("?f4", "False", "(2,)"), "descr"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", "descr"},
        {D("<f4", "Maybe", "(2,)"), "fortran_order: expected True or False"},
        {D("<f4", "False", "(2"), "shape: expected a tuple"},
        {D("<f4", "False", "(-2,)"), "shape"},
        {D("<f4", "False", "2"), "shape"},
        {D("<f4", "False", "(1,1,1,1,1,1,1,1,1)"), "shape"},
        {D("<f4", "False", "(99999999999999999999,)"), "shape"},
        {D("<f4", "False", "(4294967296, 4294967296)"), "shape"},
        {D("<f4", "False", "(3,)"), "8 bytes of data: expected 3 elements of 4 bytes"},
        {"{'descr': '<f4', 'shape': (2,), }", "expected descr, fortran_order and shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", "expected the keys"},
        {"{'descr': '<f4' 'shape': (2,)}", "expected , or }"},
        {"{'descr", "expected 'key': value"},
        {"[]", "expected a dict"},
        {"{}", "expected descr, fortran_order and shape"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        must_fail(npy(bad[i].dict, 8, &a), GN_ERR_DATA, bad[i].words, (int)i);
    MUST_FAIL(gn_npy_parse("\x93NUMPX\1\0\2\0{}..", 14, "t", &a), GN_ERR_DATA,
              "expected a .npy array");
    MUST_FAIL(gn_npy_parse("\x93NUMPY\x9\0\2\0{}..", 14, "t", &a), GN_ERR_DATA, "version 9");
    MUST_FAIL(gn_npy_parse("\x93NUMPY\1\0\xff\xff{}..", 14, "t", &a), GN_ERR_DATA, "truncated");
    MUST_FAIL(gn_npy_parse("\x93NUMPY\2\0\xff\xff\xff\xff{}", 14, "t", &a), GN_ERR_DATA,
              "header of 4294967295 bytes");
}
END_TEST

/* ---- hostile zips ---- */

static void put(unsigned char *p, size_t *n, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) p[(*n)++] = (unsigned char)(v >> (8 * i));
}

typedef struct claim {
    const char *name;
    unsigned flags, method;
    uint32_t crc, packed, size;
} claim;

/* A zip of one or two members whose directory says what the claims say; all share the same
 * bytes. */
static size_t make_zip(unsigned char *p, const claim *c, int members, const void *data,
                       size_t n_data)
{
    size_t n = 0, directory = 0;
    for (int local = 1; local >= 0; local--) {
        if (!local) directory = n;
        for (int i = 0; i < (local ? 1 : members); i++) {
            put(p, &n, local ? 0x04034b50 : 0x02014b50, 4);
            if (!local) put(p, &n, 20, 2);
            put(p, &n, 20, 2);
            put(p, &n, c[i].flags, 2);
            put(p, &n, c[i].method, 2);
            put(p, &n, 0, 4);
            put(p, &n, c[i].crc, 4);
            put(p, &n, c[i].packed, 4);
            put(p, &n, c[i].size, 4);
            put(p, &n, strlen(c[i].name), 2);
            put(p, &n, 0, 2);
            if (!local) put(p, &n, 0, 8);
            if (!local) put(p, &n, 0, 6);
            memcpy(p + n, c[i].name, strlen(c[i].name));
            n += strlen(c[i].name);
            if (!local) continue;
            memcpy(p + n, data, n_data);
            n += n_data;
        }
    }
    size_t end = n;
    put(p, &n, 0x06054b50, 4);
    put(p, &n, 0, 4);
    put(p, &n, (uint64_t)members, 2);
    put(p, &n, (uint64_t)members, 2);
    put(p, &n, end - directory, 4);
    put(p, &n, directory, 4);
    put(p, &n, 0, 2);
    return n;
}

/* An edge 0 -> 1 as bytes, under a header with this shape. */
static uint32_t make_array(unsigned char *to, const char *shape)
{
    char dict[128];
    int n = snprintf(dict, sizeof dict, "{'descr': '|u1', 'fortran_order': False, 'shape': %s, }\n",
                     shape);
    memcpy(to, "\x93NUMPY\1", 8);
    to[8] = (unsigned char)n;
    to[9] = 0;
    memcpy(to + 10, dict, (size_t)n);
    to[10 + n] = 0;
    to[11 + n] = 1;
    return (uint32_t)n + 12;
}

START_TEST(hostile_zips)
{
    unsigned char array[256];
    uint32_t n = make_array(array, "(2, 1)"), crc = (uint32_t)crc32(0, array, n);
    unsigned char zip[2048];
    gn_dataset *d;
    static const char name[] = "edge_index.npy";
    const struct {
        claim c[2];
        int members;
        const char *words;
    } cases[] = {
        {{{name, 0, 0, crc, n, n}}, 1, NULL},
        {{{name, 0, 0, crc ^ 1, n, n}}, 1, "the checksum does not match"},
        {{{name, 1, 0, crc, n, n}}, 1, "not encrypted"},
        {{{name, 0, 12, crc, n, n}}, 1, "method 12"},
        {{{name, 0, 0, crc, n, n + 1}}, 1, "edge_index"},
        {{{name, 0, 0, crc, n, n - 1}}, 1, "edge_index"},
        {{{name, 0, 0, crc, n, 0}}, 1, "edge_index"},
        {{{name, 0, 8, crc, n, n}}, 1, "edge_index"},
        {{{name, 0, 8, crc, n, 0xfffffff0}}, 1, "4294967280 bytes cannot come out of"},
        {{{name, 0, 0, crc, 0xfffffff0, 0xfffffff0}}, 1, "4294967280 compressed bytes reach past"},
        {{{name, 0, 0, crc, n, n}, {name, 0, 0, crc, n, n}}, 2, "two members are named"},
        {{{"other.npy", 0, 0, crc, n, n}}, 1, "no graph"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size = make_zip(zip, cases[i].c, cases[i].members, array, n);
        gn_status *s = parse(zip, size, &d);
        if (cases[i].words) {
            must_fail(s, GN_ERR_DATA, cases[i].words, (int)i);
            continue;
        }
        must(s);
        ck_assert(d->n_edges == 1 && d->src[0] == 0 && d->dst[0] == 1);
        gn_dataset_free(d);
    }
}
END_TEST

/* A header that asks for a gigabyte which the member does not have: refused before anything of the
 * size is allocated. */
START_TEST(sizes_agree_before_memory_is_taken)
{
    unsigned char array[256];
    unsigned char zip[2048];
    uint32_t n = make_array(array, "(2, 536870912)");
    claim c = {"edge_index.npy", 0, 0, (uint32_t)crc32(0, array, n), n, n};
    gn_dataset *d;
    MUST_FAIL(parse(zip, make_zip(zip, &c, 1, array, n), &d), GN_ERR_DATA,
              "expected 1073741824 elements of 1 bytes");
}
END_TEST

START_TEST(survives_damage)
{
    static const char *const files[] = {"benchmark", "bare", "heterophilous", "plain"};
    char path[64];
    gn_bytes b;
    gn_dataset *d;
    snprintf(path, sizeof path, "tests/data/npz/%s.npz", files[_i]);
    must(gn_file_read(source_path(path), &b));
    for (size_t n = 0; n < b.n; n++) MUST_FAIL(parse(b.p, n, &d), GN_ERR_DATA, "test: ");
    for (size_t bit = 0; bit < b.n * 8; bit++) {
        b.p[bit / 8] ^= (unsigned char)(1 << bit % 8);
        if (survives(parse(b.p, b.n, &d))) gn_dataset_free(d);
        b.p[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    gn_bytes_free(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("npz");
    TCase *t = tcase_create("npz");
    tcase_set_timeout(t, 240);
    tcase_add_test(t, benchmark_layout);
    tcase_add_test(t, heterophilous_layout);
    tcase_add_test(t, plain_layout);
    tcase_add_test(t, pickled_layouts);
    tcase_add_test(t, npy_headers);
    tcase_add_test(t, hostile_zips);
    tcase_add_test(t, sizes_agree_before_memory_is_taken);
    tcase_add_loop_test(t, survives_damage, 0, 4);
    suite_add_tcase(s, t);
    return suite_run(s);
}
