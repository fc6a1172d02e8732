/* Datasets as mapped files: the same after a round trip, and refused in words when they are
 * damaged. */
/* links: runtime base */
#include "store_fixture.h"

#include "base/half.h"
#include "runtime/data/tensorfile.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <zlib.h>

static void comes_back(const char *from)
{
    gn_dataset *d = undrawn(from), *e;
    int64_t blocks;
    write_as(d, -1);
    e = read_store();
    must(gn_datafile_check(e, &blocks));
    ck_assert(!e->src && (d->typed || e->by_dst.row_ptr));
    must(gn_dataset_list_edges(e));
    same_data(d, e);
    gn_dataset_free(e);
    e = undrawn(path); /* as --data reads it */
    ck_assert(gn_dataset_lends(e, d->typed ? e->relations[0].by_dst.col : e->by_dst.col));
    gn_dataset_free(e);
    gn_dataset_free(d);
}

START_TEST(all_kinds_come_back)
{
    static const char *const drawn[] = {
        "synthetic:nodes=300,edges=2000,features=7,classes=3",
        "synthetic:nodes=300,edges=2000,features=40,classes=3,density=0.1,train=0.3",
        "synthetic:nodes=9000,edges=300000,features=40,classes=3", /* buffers are full often */
        "synthetic:nodes=5,edges=0",
        "synthetic:typed,scale=0.0005",
    };
    for (size_t k = 0; k < sizeof drawn / sizeof *drawn; k++) comes_back(drawn[k]);
    comes_back(source_path("samples/karate.graph"));
}
END_TEST

static void write_text(const char *to, const char *text)
{
    FILE *f = fopen(to, "w");
    ck_assert(f && fputs(text, f) != EOF && !fclose(f));
}

START_TEST(no_features_come_back)
{
    char graph[4200];
    snprintf(graph, sizeof graph, "%s.graph", path);
    write_text(graph, "gnnc graph 1\nnodes 3\nclasses 2\nfeatures 0\nnode 0 1\nedge 0 1\n");
    comes_back(graph);
    gn_dataset *d = undrawn(graph);
    ck_assert(d->x && d->n_features == 0);
    for (int code = 0; code < GN_CODE_COUNT; code++) {
        write_as(d, code);
        gn_dataset *e = read_store();
        ck_assert(!e->x && !e->x_codes.data && e->n_features == 0);
        gn_dataset_free(e);
    }
    gn_dataset_free(d);
    unlink(graph);
}
END_TEST

/* A .npz with what else there is: weights, attributes, repeats of a split, an array of one's
 * own. */
static void write_npz(const char *to)
{
    gn_tensor_file *f;
    void *p;
    const int64_t two[] = {2, 5}, edges[] = {5, 2}, n[] = {4, 3}, five = 5, four = 4, three = 3,
                  one = 1;
    static const int32_t ends[] = {0, 1, 2, 3, 3, 1, 2, 3, 0, 0}, y[] = {0, 1, -1, 1},
                         train[] = {0, 0, 1}, val[] = {3}, test[] = {2};
    must(gn_tensor_file_new(&f));
    must(gn_tensor_file_add(f, "edge_index", GN_I32, 2, two, &p));
    memcpy(p, ends, sizeof ends);
    must(gn_tensor_file_add(f, "edge_weight", GN_F32, 1, &five, &p));
    for (int k = 0; k < 5; k++) ((float *)p)[k] = 0.5f * (float)k;
    must(gn_tensor_file_add(f, "edge_attr", GN_F32, 2, edges, &p));
    for (int k = 0; k < 10; k++) ((float *)p)[k] = (float)k;
    must(gn_tensor_file_add(f, "x", GN_F32, 2, n, &p));
    for (int k = 0; k < 12; k++) ((float *)p)[k] = (float)k - 5.25f;
    must(gn_tensor_file_add(f, "y", GN_I32, 1, &four, &p));
    memcpy(p, y, sizeof y);
    must(gn_tensor_file_add(f, "target", GN_F32, 2, n, &p));
    for (int k = 0; k < 12; k++) ((float *)p)[k] = (float)(k * k);
    must(gn_tensor_file_add(f, "train_idx", GN_I32, 1, &three, &p));
    memcpy(p, train, sizeof train);
    must(gn_tensor_file_add(f, "valid_idx", GN_I32, 1, &one, &p));
    memcpy(p, val, sizeof val);
    must(gn_tensor_file_add(f, "test_idx", GN_I32, 1, &one, &p));
    memcpy(p, test, sizeof test);
    must(gn_npz_write(to, f));
    gn_tensor_file_free(f);
}

START_TEST(what_lies_on_edges_comes_back)
{
    char npz[4200];
    snprintf(npz, sizeof npz, "%s.npz", path);
    write_npz(npz);
    comes_back(npz);
    unlink(npz);
}
END_TEST

START_TEST(what_features_are_made_of_comes_back)
{
    gn_dataset *d = read_with((gn_data_options){
        .path = "synthetic:nodes=300,edges=2000,features=7,classes=3",
        .normalize_rows = -1,
        .undirected = -1,
        .reduce = GN_REDUCTION_PCA,
        .components = 3,
    });
    static const char *const name[] = {"age", "H\303\266he", ""};
    d->feature_name = calloc(3, sizeof *d->feature_name);
    for (int k = 0; k < 3; k++) d->feature_name[k] = strdup(name[k]);
    write_as(d, -1);
    gn_dataset *e = read_store();
    must(gn_dataset_list_edges(e));
    same_data(d, e);
    ck_assert(e->reduced == GN_REDUCTION_PCA && e->n_features_read == 7);
    gn_dataset_free(e);
    gn_dataset_free(d);
}
END_TEST

START_TEST(a_store_of_a_store_is_the_same_bytes)
{
    gn_dataset *d = undrawn("synthetic:nodes=300,edges=2000,features=7,classes=3"), *e;
    char other[4200];
    gn_bytes a, b;
    write_as(d, GN_CODE_INT8);
    e = read_store();
    snprintf(other, sizeof other, "%s.2", path);
    must(gn_datafile_write(e, &(gn_datafile_options){-1, "a test"}, other));
    must(gn_file_read(path, &a));
    must(gn_file_read(other, &b));
    ck_assert(a.n == b.n && !memcmp(a.p, b.p, a.n));
    gn_bytes_free(&a);
    gn_bytes_free(&b);
    gn_dataset_free(e);
    gn_dataset_free(d);
    unlink(other);
}
END_TEST

/* Codes -------------------------------------------------------------------------------------- */

/* Parts of them, and of the file's buffer, end within the rows. */
static void codes_are_near(int features)
{
    gn_dataset *d = undrawn("synthetic:nodes=9000,edges=2000,features=33,classes=3"), *e;
    write_as(d, features);
    e = read_store();
    const gn_codes c = e->x_codes;
    ck_assert(!e->x && c.data && c.elem == gn_feature_code_elem[features]);
    float *step = calloc(33, sizeof *step);
    for (int k = 0; k < 33 && c.elem == GN_U8; k++) step[k] = c.step[k];
    must(gn_dataset_own_features(e));
    ck_assert(e->x && !e->x_codes.data);
    for (int64_t i = 0; i < 9000 * 33; i++) {
        double off = fabs((double)e->x[i] - (double)d->x[i]),
               most = c.elem == GN_U8 ? 0.5 * (double)step[i % 33] * 1.0001
                                      : fabs((double)d->x[i]) * 0x1p-8;
        ck_assert_msg(off <= most, "number %lld is off by %g", (long long)i, off);
    }
    free(step);
    gn_dataset_free(e);
    gn_dataset_free(d);
}

START_TEST(codes_round_as_little_as_they_say)
{
    codes_are_near(GN_CODE_BFLOAT16);
    codes_are_near(GN_CODE_INT8);
}
END_TEST

START_TEST(columns_have_codes_too)
{
    gn_dataset *d = undrawn("synthetic:typed,scale=0.0005"), *e;
    write_as(d, GN_CODE_BFLOAT16);
    e = read_store();
    const gn_table_column *x = gn_dataset_column(d, "paper.x"),
                          *c = gn_dataset_column(e, "paper.x");
    ck_assert(c->codes.elem == GN_BF16 && !c->data);
    for (int64_t i = 0; i < gn_dataset_rows(d, x->over) * x->dim[0]; i++)
        ck_assert_uint_eq(((const uint16_t *)c->codes.data)[i],
                          gn_f32_to_bf16(((const float *)x->data)[i]));
    gn_dataset_free(e);
    gn_dataset_free(d);
}
END_TEST

START_TEST(one_value_and_wide_ranges_have_codes)
{
    float x[] = {3, -8e37f, 3, 8e37f, 3, 0};
    float least[2] = {INFINITY, INFINITY}, largest[2] = {-INFINITY, -INFINITY}, step[2], back[6];
    uint8_t q[6];
    gn_codes_range(2, 6, x, least, largest);
    must(gn_codes_scale(2, least, largest, step));
    must(gn_codes_encode(GN_U8, step, least, 2, 6, x, q));
    gn_codes_decode(&(gn_codes){GN_U8, q, step, least}, 2, 0, 6, back);
    for (int i = 0; i < 6; i += 2) ck_assert(back[i] == 3);
    for (int i = 1; i < 6; i += 2) ck_assert(fabsf(back[i] - x[i]) <= step[1] * 0.51f);
    x[1] = -3e38f;
    gn_codes_range(2, 6, x, least, largest);
    MUST_FAIL(gn_codes_scale(2, least, largest, step), GN_ERR_DATA, "column 1 goes from -3e+38");
}
END_TEST

/* Parts that are checked end within rows: each number has the scale of its own column. */
START_TEST(codes_are_checked_by_their_own_columns)
{
    gn_dataset *d = undrawn("synthetic:nodes=500,edges=2000,features=3,classes=3");
    int64_t blocks;
    for (int64_t v = 0; v < 500; v++) {
        d->x[3 * v] = v % 2 ? 3e37f : -3e37f;
        d->x[3 * v + 1] = (float)(v % 7);
        d->x[3 * v + 2] = v == 400; /* the only code of its column that is not 0 */
    }
    write_as(d, GN_CODE_INT8);
    gn_dataset_free(d);
    d = read_store();
    must(gn_datafile_check(d, &blocks));
    const gn_codes lent = d->x_codes;
    const float step[] = {lent.step[0], lent.step[1], 0x1p123f};
    d->x_codes.step = step;
    MUST_FAIL(gn_datafile_check(d, &blocks), GN_ERR_DATA, "x: row 400, column 2 is inf");
    float wide[3 * 500], part[100];
    d->x_codes = lent;
    gn_codes_decode(&lent, 3, 0, 3 * 500, wide);
    for (int64_t first = 0; first + 100 <= 3 * 500; first += 49) {
        gn_codes_decode(&lent, 3, first, 100, part);
        ck_assert(!memcmp(part, wide + first, sizeof part));
    }
    gn_dataset_free(d);
}
END_TEST

START_TEST(what_bfloat16_does_not_hold_is_refused)
{
    gn_dataset *d = undrawn("synthetic:nodes=9,edges=4,features=3,classes=2");
    d->x[7] = 3.4e38f;
    MUST_FAIL(gn_datafile_write(d, &(gn_datafile_options){GN_CODE_BFLOAT16, NULL}, path),
              GN_ERR_DATA, "x: a feature is 3.4e+38");
    ck_assert_int_ne(access(path, F_OK), 0);
    gn_dataset_free(d);
}
END_TEST

/* Damage --------------------------------------------------------------------------------------- */

static gn_bytes store_bytes(int features)
{
    gn_bytes b;
    gn_dataset *d = undrawn("synthetic:nodes=300,edges=2000,features=7,classes=3,train=0.5");
    write_as(d, features);
    gn_dataset_free(d);
    must(gn_file_read(path, &b));
    return b;
}

static gn_status *parse_and_check(const void *p, size_t n)
{
    gn_dataset *d = NULL;
    int64_t blocks;
    gn_status *s = gn_datafile_parse(p, n, "bytes", &d);
    if (!s) s = gn_datafile_check(d, &blocks);
    gn_dataset_free(d);
    return s;
}

START_TEST(truncated_anywhere_it_is_refused)
{
    gn_bytes b = store_bytes(GN_CODE_INT8);
    must(parse_and_check(b.p, b.n));
    for (size_t n = 0; n < b.n; n += n < b.n - 300 ? 511 : 1) {
        void *p = exact(b.p, n);
        const char *words = n < 8 ? "no store" : "truncated";
        MUST_FAIL(parse_and_check(p, n), GN_ERR_DATA, words);
        free(p);
    }
    gn_bytes_free(&b);
}
END_TEST

START_TEST(a_flipped_byte_of_any_block_is_named)
{
    gn_bytes b = store_bytes(GN_CODE_INT8);
    size_t blocks = b.n / GN_BLOCK_SIZE;
    for (size_t k = 0; k <= blocks; k++)
        for (int turn = 0; turn < 3; turn++) {
            size_t in = turn == 0   ? 0
                        : turn == 1 ? GN_BLOCK_SIZE - 1
                                    : (k * 1237 + 77) % 4096,
                   at = k * GN_BLOCK_SIZE + in;
            if (at >= b.n) continue;
            b.p[at] ^= 0x10;
            gn_status *s = parse_and_check(b.p, b.n);
            ck_assert_msg(s && gn_status_code(s) == GN_ERR_DATA, "byte %zu", at);
            ck_assert_msg(strstr(gn_status_message(s), "damaged") ||
                              (k == 0 && (at < 20 || strstr(gn_status_message(s), "header"))),
                          "byte %zu: %s", at, gn_status_message(s));
            gn_status_free(s);
            b.p[at] ^= 0x10;
        }
    must(parse_and_check(b.p, b.n));
    gn_bytes_free(&b);
}
END_TEST

static void sign(unsigned char *p)
{
    uint32_t crc = (uint32_t)crc32(0, p, GN_BLOCK_SIZE - 4);
    for (int k = 0; k < 4; k++) p[GN_BLOCK_SIZE - 4 + k] = (unsigned char)(crc >> 8 * k);
}

START_TEST(another_version_or_byte_order_is_told)
{
    gn_bytes b = store_bytes(-1);
    b.p[8] = 2;
    sign(b.p);
    MUST_FAIL(parse_and_check(b.p, b.n), GN_ERR_DATA, "version 2 of the format: expected 1");
    b.p[8] = 1;
    memcpy(b.p + 12, "\1\2\3\4", 4);
    MUST_FAIL(parse_and_check(b.p, b.n), GN_ERR_DATA, "big-endian");
    memcpy(b.p + 12, "\4\3\2\1", 4);
    b.p[48] = 255; /* more blocks than there are */
    sign(b.p);
    MUST_FAIL(parse_and_check(b.p, b.n), GN_ERR_DATA, "no room");
    gn_bytes_free(&b);
}
END_TEST

/* Of what has no rows any number of columns has room in a file. */
START_TEST(dimensions_that_no_integer_holds_are_refused)
{
    const int64_t large = (int64_t)1 << 40;
    for (int more = 0; more < 2; more++) {
        gn_dataset *d, *e;
        int space;
        must(gn_dataset_new("crafted", &d));
        must(gn_dataset_add_table(d, "t", 0, &space));
        gn_table_column c = {.over = space, .elem = GN_F32, .rank = 2, .dim = {large, large}};
        c.data = calloc(1, 1);
        d->more = calloc(1, sizeof *d->more);
        d->more[0] = (gn_data_array){.rank = 3, .dim = {0, large, large}, .data = calloc(1, 4)};
        d->more[0].name = strdup("a");
        d->n_more = more;
        if (!more) must(gn_dataset_add_column(d, "v", &c));
        write_as(d, -1);
        MUST_FAIL(gn_datafile_read(path, &e), GN_ERR_DATA, "`dim` of `meta`");
        if (more) free(c.data);
        d->n_more = 1;
        gn_dataset_free(d);
    }
}
END_TEST

START_TEST(sparse_features_are_checked_when_they_are_opened)
{
    static const struct {
        int64_t ptr; /* what is added to the pointer of row 7 */
        int32_t col; /* and to the first column of row 7 */
        float val;
        const char *what; /* NULL: the second column is the first again */
    } of[] = {{0, 0, 0, NULL},
              {1000, 0, 0, "rows do not ascend from 0 to the 900 entries"},
              {INT64_MIN, 0, 0, "rows do not ascend from 0 to the 900 entries"},
              {0, 40, 0, "row 7: column "},
              {0, -40, 0, "row 7: column "},
              {0, 0, INFINITY, "is inf: expected a finite number"}};
    for (size_t k = 0; k < 2 * sizeof of / sizeof *of; k++) {
        gn_dataset *d = undrawn("synthetic:nodes=300,edges=2000,features=40,density=0.075"), *e;
        gn_csr *m = d->x_csr;
        ck_assert_int_eq(m->nnz, 900);
        const char *what = of[k / 2].what ? of[k / 2].what : "row 7: column ";
        if (!of[k / 2].what) m->col[m->ptr[7] + 1] = m->col[m->ptr[7]];
        m->col[m->ptr[7]] += of[k / 2].col;
        m->val[m->ptr[7]] += of[k / 2].val;
        m->ptr[7] += of[k / 2].ptr;
        if (k % 2) { /* the same as a column */
            gn_table_column c = {.elem = GN_F32, .rank = 1, .dim = {40}, .csr = m};
            must(gn_dataset_add_column(d, "v", &c));
            d->x_csr = NULL;
            d->n_features = 0;
        }
        write_as(d, -1);
        MUST_FAIL(gn_datafile_read(path, &e), GN_ERR_DATA, what);
        gn_dataset_free(d);
    }
}
END_TEST

/* Of rows those blocks alone are looked at that hold them. */
START_TEST(rows_are_checked_when_they_are_read)
{
    gn_dataset *d = undrawn("synthetic:nodes=4000,edges=2000,features=16,classes=3");
    write_as(d, -1);
    gn_dataset_free(d);
    d = read_store();
    const gn_block_array *x = gn_block_file_find(d->file, "x");
    int64_t at = x->at + 1500 * 64 + 5; /* of row 1500 */
    gn_dataset_free(d);
    FILE *f = fopen(path, "r+b");
    ck_assert(f && !fseek(f, (long)at, SEEK_SET) && fputc(0x55, f) != EOF && !fclose(f));
    d = read_store();
    const int32_t others[] = {0, 1, 70, 1400, 1700, 3999}, hit[] = {3, 1499, 3998};
    gn_block_rows r = {d->x, 64, 6, GN_I32, others};
    must(gn_block_file_check_rows(d->file, &r));
    r = (gn_block_rows){d->x, 64, 3, GN_I32, hit};
    MUST_FAIL(gn_block_file_check_rows(d->file, &r), GN_ERR_DATA, ", of x) is damaged");
    const int64_t turned[] = {1500, 2, 1};
    r = (gn_block_rows){d->x, 64, 3, GN_I64, turned};
    MUST_FAIL(gn_block_file_check_rows(d->file, &r), GN_ERR_DATA, ", of x) is damaged");
    MUST_FAIL(gn_dataset_own_features(d), GN_ERR_DATA, ", of x) is damaged");
    gn_dataset_free(d);
}
END_TEST

/* No more is kept in memory than a quarter of it. */
START_TEST(little_is_kept)
{
    gn_dataset *d = undrawn("synthetic:nodes=300,edges=2000,features=7,classes=3");
    struct rlimit lock;
    write_as(d, -1);
    gn_dataset_free(d);
    d = read_store();
    getrlimit(RLIMIT_MEMLOCK, &lock);
    gn_block_file *f = d->file;
    int64_t bytes = 2000 * 4, all = lock.rlim_cur < 1 << 16 && geteuid() ? 0 : bytes;
    gn_block_file_keep(f, d->by_dst.col, bytes);
    ck_assert_int_eq(f->kept, all);
    f->kept = INT64_MAX - bytes; /* as if a large graph were kept */
    gn_block_file_keep(f, d->by_dst.pos, bytes);
    ck_assert_int_eq(f->kept, INT64_MAX - bytes);
    f->kept = 0;
    gn_block_file_keep(f, d->by_dst.pos, INT64_MAX / 2);
    ck_assert_int_eq(f->kept, 0);
    gn_dataset_free(d);
}
END_TEST

/* Writers that end --------------------------------------------------------------------------- */

static void remove_leftovers(void)
{
    char command[5000];
    snprintf(command, sizeof command, "rm -f '%s'.*.tmp", path);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(a_killed_writer_leaves_no_store_that_is_wrong)
{
    gn_dataset *d = undrawn("synthetic:nodes=3000,edges=60000,features=40,classes=3");
    useconds_t wait = 300;
    bool whole = false;
    for (int k = 0; k < 40 || !whole; k++) { /* however busy the disk is */
        pid_t child = fork();
        if (child == 0) {
            for (;;)
                gn_status_free(
                    gn_datafile_write(d, &(gn_datafile_options){GN_CODE_BFLOAT16, NULL}, path));
        }
        usleep(wait);
        wait = k < 40 ? wait + 400 : 2 * wait;
        ck_assert_int_lt(wait, 60000000);
        kill(child, SIGKILL);
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
        if (access(path, F_OK) != 0) continue;
        gn_dataset *e = read_store();
        int64_t blocks;
        must(gn_datafile_check(e, &blocks));
        ck_assert_int_eq(e->n_edges, d->n_edges);
        gn_dataset_free(e);
        whole = true;
    }
    remove_leftovers();
    gn_dataset_free(d);
}
END_TEST

START_TEST(a_full_disk_is_told_and_leaves_nothing)
{
    gn_dataset *d = undrawn("synthetic:nodes=3000,edges=60000,features=40,classes=3");
    struct rlimit was, small;
    getrlimit(RLIMIT_FSIZE, &was);
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t most = 0; most < 1000000; most += 150000) {
        small = (struct rlimit){most, was.rlim_max};
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
        gn_status *s = gn_datafile_write(d, &(gn_datafile_options){-1, NULL}, path);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &was), 0);
        MUST_FAIL(s, GN_ERR_IO, "cannot write '");
        ck_assert_int_ne(access(path, F_OK), 0);
    }
    signal(SIGXFSZ, SIG_DFL);
    gn_dataset_free(d);
}
END_TEST

START_TEST(it_is_no_pipe)
{
    MUST_FAIL(gn_datafile_write(NULL, NULL, "/dev/null"), GN_ERR_IO, "expected a file");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("store");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, all_kinds_come_back);
    tcase_add_test(t, no_features_come_back);
    tcase_add_test(t, what_lies_on_edges_comes_back);
    tcase_add_test(t, what_features_are_made_of_comes_back);
    tcase_add_test(t, a_store_of_a_store_is_the_same_bytes);
    tcase_add_test(t, codes_round_as_little_as_they_say);
    tcase_add_test(t, columns_have_codes_too);
    tcase_add_test(t, one_value_and_wide_ranges_have_codes);
    tcase_add_test(t, codes_are_checked_by_their_own_columns);
    tcase_add_test(t, what_bfloat16_does_not_hold_is_refused);
    tcase_add_test(t, truncated_anywhere_it_is_refused);
    tcase_add_test(t, a_flipped_byte_of_any_block_is_named);
    tcase_add_test(t, another_version_or_byte_order_is_told);
    tcase_add_test(t, dimensions_that_no_integer_holds_are_refused);
    tcase_add_test(t, sparse_features_are_checked_when_they_are_opened);
    tcase_add_test(t, rows_are_checked_when_they_are_read);
    tcase_add_test(t, little_is_kept);
    tcase_add_test(t, a_killed_writer_leaves_no_store_that_is_wrong);
    tcase_add_test(t, a_full_disk_is_told_and_leaves_nothing);
    tcase_add_test(t, it_is_no_pipe);
    return RUN_CASES("store", t);
}
