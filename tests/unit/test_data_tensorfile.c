/* safetensors, .npz and CSV: what is written comes back, what is malformed is refused, what fails
 * leaves no trace. */
/* links: runtime base */
#include "data_fixture.h"

#include "runtime/data/npz.h"
#include "runtime/data/tensorfile.h"

#include <dirent.h>
#include <math.h>
#include <unistd.h>

static float floats[6] = {1, -2.5f, 3e-20f, INFINITY, 0, 1.0f / 3};
static int64_t longs[2] = {INT64_MIN, 7};
static uint8_t bools[3] = {1, 0, 1};
static uint16_t halves[2] = {0x3c00, 0xc100};
static uint16_t brains[2] = {0x3f80, 0xc020};
static double doubles[1] = {0.1};
#define TEXT(literal) ((char[]){literal}) /* names are not const in the structures */
static gn_named_tensor tensors[] = {
    {.name = TEXT("convs.0.weight"), .elem = GN_F32, .rank = 2, .dim = {3, 2}, .data = floats},
    {.name = TEXT("flags"), .elem = GN_BOOL, .rank = 1, .dim = {3}, .data = bools},
    {.name = TEXT("step"), .elem = GN_I64, .rank = 1, .dim = {2}, .data = longs},
    {.name = TEXT("empty"), .elem = GN_F32, .rank = 2, .dim = {0, 4}, .data = NULL},
    {.name = TEXT("h\xc3\xa9"), .elem = GN_F16, .rank = 1, .dim = {2}, .data = halves},
    {.name = TEXT("b"), .elem = GN_BF16, .rank = 1, .dim = {2}, .data = brains},
    {.name = TEXT("scalar"), .elem = GN_F64, .rank = 0, .data = doubles},
};
enum { TENSORS = sizeof tensors / sizeof *tensors };
static char *meta_key[] = {TEXT("format"), TEXT("note")},
            *meta_value[] = {TEXT("gnnc"), TEXT("\"quoted\"\n")};
static const gn_tensor_file file = {TENSORS, tensors, 2, meta_key, meta_value};

static char folder[32];

static void setup(void)
{
    strcpy(folder, "/tmp/gnnc-tensors-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static const char *in_folder(const char *name)
{
    static char text[2][320];
    static int turn;
    char *t = text[turn++ % 2];
    snprintf(t, sizeof text[0], "%s/%s", folder, name);
    return t;
}

/* Removes what is in the folder and says how many files there were: temporaries must not stay
 * behind. */
static int sweep(void)
{
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (*e->d_name == '.') continue;
        unlink(in_folder(e->d_name));
        n++;
    }
    closedir(d);
    rmdir(folder);
    return n;
}

START_TEST(safetensors_round_trip)
{
    gn_tensor_file *f;
    setup();
    must(gn_safetensors_write(in_folder("w"), &file));
    must(gn_safetensors_read(in_folder("w"), &f));
    ck_assert_int_eq(f->n, TENSORS);
    for (int i = 0; i < TENSORS; i++) {
        const gn_named_tensor *a = &tensors[i], *b = gn_tensor_file_find(f, a->name);
        ck_assert_ptr_nonnull(b);
        ck_assert(b->elem == a->elem && b->rank == a->rank);
        size_t n = gn_elem_size(a->elem);
        for (int k = 0; k < a->rank; k++) {
            ck_assert_int_eq(b->dim[k], a->dim[k]);
            n *= (size_t)a->dim[k];
        }
        if (n) ck_assert_mem_eq(b->data, a->data, n);
    }
    ck_assert_str_eq(gn_tensor_file_meta(f, "note"), "\"quoted\"\n");
    ck_assert_ptr_null(gn_tensor_file_meta(f, "nothing"));
    ck_assert_ptr_null(gn_tensor_file_find(f, "nothing"));
    gn_tensor_file_free(f);
    gn_bytes b;
    must(gn_file_read(in_folder("w"), &b));
    ck_assert_uint_eq(b.p[0] % 8, 0); /* data are aligned */
    gn_bytes_free(&b);
    ck_assert_int_eq(sweep(), 1);
}
END_TEST

static gn_status *parse(const char *header, size_t data, size_t extra)
{
    char bytes[2048] = {0};
    size_t n = strlen(header);
    for (int i = 0; i < 8; i++) bytes[i] = (char)((n + extra) >> (8 * i));
    memcpy(bytes + 8, header, n);
    void *copy = exact(bytes, 8 + n + data);
    gn_tensor_file *f;
    gn_status *s = gn_safetensors_parse(copy, 8 + n + data, "test", &f);
    free(copy);
    if (!s) gn_tensor_file_free(f);
    return s;
}

START_TEST(safetensors_refuses_malformed_files)
{
    static const struct {
        const char *header;
        size_t data;
        const char *words;
    } bad[] = {
#define T(name, dtype, shape, from, to)                                                            \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" #from "," #to \
    "]}"
        {"{" T("a", "F32", "2", 0, 8) "}", 9, "9 bytes of data, but the tensors have 8"},
        {"{" T("a", "F32", "2", 0, 8) "}", 7, "expected 8 bytes within the 7"},
        {"{" T("a", "F32", "2", 0, 4) "}", 8, "expected 8 bytes within"},
        {"{" T("a", "F32", "2", 8, 0) "}", 8, "expected data_offsets"},
        {"{" T("a", "F32", "2", -8, 0) "}", 8, "expected data_offsets"},
        {"{" T("a", "F32", "2", 0, 8) "," T("b", "F32", "1", 4, 8) "}", 8,
         "neither holes nor overlaps"},
        {"{" T("a", "F32", "1", 0, 4) "," T("b", "F32", "1", 8, 12) "}", 12,
         "neither holes nor overlaps"},
        {"{" T("a", "F32", "1", 4, 8) "}", 8, "neither holes nor overlaps"},
        {"{" T("a", "F32", "-1", 0, 4) "}", 4, "dimension 0 is negative"},
        {"{" T("a", "F32", "4294967296,4294967296", 0, 4) "}", 4,
         "dimension 1 is negative or too large"},
        {"{" T("a", "F32", "9223372036854775807", 0, 4) "}", 4, "too large"},
        {"{" T("a", "F32", "1.5", 0, 4) "}", 4, "dimension 0"},
        {"{" T("a", "F32", "1,1,1,1,1,1,1,1,1", 0, 4) "}", 4, "at most 8 dimensions"},
        {"{" T("a", "F8_E4M3", "4", 0, 4) "}", 4, "dtype F8_E4M3"},
        {"{" T("a", "BOOL", "4", 0, 4) "}", 4, NULL},
        {"{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "dtype is missing"},
        {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, "expected a shape"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "expected data_offsets"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", 4,
         "expected data_offsets"},
        {"{\"a\":5}", 4, "dtype is missing"},
        {"{" T("a", "F32", "1", 0, 4) "," T("a", "F32", "1", 0, 4) "}", 4, "duplicate"},
        {"{\"__metadata__\":{\"a\":1}}", 0, "__metadata__.a: expected a string"},
        {"{\"__metadata__\":[]}", 0, "__metadata__: expected an object"},
        {"{\"a\\u0000\":{}}", 0, "byte "},
        {"{\"\xff\":{}}", 0, "byte "},
        {"[]", 0, "expected the {"},
        {"{", 0, "byte 9"},
        {"{}x", 0, "byte "},
        {"{}  ", 0, NULL},
        {"{}", 1, "1 bytes of data, but the tensors have 0"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (bad[i].words)
            must_fail(parse(bad[i].header, bad[i].data, 0), GN_ERR_DATA, bad[i].words, (int)i);
        else
            must(parse(bad[i].header, bad[i].data, 0));
    }
    MUST_FAIL(parse("{}", 0, 1), GN_ERR_DATA, "a header of 3 bytes in a file of 10");
    MUST_FAIL(parse("{}", 0, (size_t)-1), GN_ERR_DATA, "expected");
    gn_tensor_file *f;
    MUST_FAIL(gn_safetensors_parse("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10, "test", &f),
              GN_ERR_DATA, "a header of");
    MUST_FAIL(gn_safetensors_parse("", 0, "test", &f), GN_ERR_DATA, "0 bytes");
    char two[256] = {0};
    size_t header = (size_t)sprintf(two + 8, "{" T("a", "BOOL", "4", 0, 4) "}");
    two[0] = (char)header;
    two[8 + header] = 1;
    two[8 + header + 1] = 2;
    char *copy = exact(two, 8 + header + 4);
    MUST_FAIL(gn_safetensors_parse(copy, 8 + header + 4, "test", &f), GN_ERR_DATA,
              "element 1 is no boolean");
    free(copy);
}
END_TEST

START_TEST(safetensors_survive_damage)
{
    gn_bytes b;
    gn_tensor_file *f;
    setup();
    must(gn_safetensors_write(in_folder("w"), &file));
    must(gn_file_read(in_folder("w"), &b));
    for (size_t n = 0; n < b.n; n++) {
        void *copy = exact(b.p, n);
        MUST_FAIL(gn_safetensors_parse(copy, n, "test", &f), GN_ERR_DATA, "test: ");
        free(copy);
    }
    for (size_t bit = 0; bit < b.n * 8; bit++) {
        b.p[bit / 8] ^= (unsigned char)(1 << bit % 8);
        if (survives(gn_safetensors_parse(b.p, b.n, "test", &f))) gn_tensor_file_free(f);
        b.p[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    gn_bytes_free(&b);
    sweep();
}
END_TEST

START_TEST(npz_round_trip)
{
    gn_bytes b;
    gn_npz *z;
    gn_ndarray a;
    setup();
    must(gn_npz_write(in_folder("w.npz"), &file));
    must(gn_file_read(in_folder("w.npz"), &b));
    must(gn_npz_open(b.p, b.n, "test", &z));
    for (int i = 0; i < TENSORS; i++) {
        const gn_named_tensor *t = &tensors[i];
        must(gn_npz_array(z, t->name, &a));
        ck_assert_int_eq(a.rank, t->rank);
        for (int k = 0; k < a.rank; k++) ck_assert_int_eq(a.dim[k], t->dim[k]);
        if (t->elem == GN_BF16) {
            ck_assert(a.size == 4 && gn_ndarray_f64(&a, 0) == 1 && gn_ndarray_f64(&a, 1) == -2.5);
        } else {
            ck_assert_uint_eq(a.size, gn_elem_size(t->elem));
            if (a.count) ck_assert_mem_eq(a.data, t->data, (size_t)a.count * a.size);
        }
        gn_ndarray_free(&a);
    }
    gn_npz_close(z);
    gn_bytes_free(&b);
    ck_assert_int_eq(sweep(), 1);
}
END_TEST

static void wrote(const char *header, const gn_named_tensor *t, const char *text)
{
    gn_bytes b;
    must(gn_csv_write(in_folder("w.csv"), header, t));
    must(gn_file_read(in_folder("w.csv"), &b));
    ck_assert_str_eq((char *)b.p, text);
    gn_bytes_free(&b);
}

START_TEST(csv)
{
    setup();
    wrote("a,b", &tensors[0], "a,b\n1,-2.5\n2.9999999e-20,inf\n0,0.333333343\n");
    wrote(NULL, &tensors[1], "1\n0\n1\n");
    wrote(NULL, &tensors[2], "-9223372036854775808\n7\n");
    wrote("x", &tensors[3], "x\n");
    wrote(NULL, &tensors[4], "1\n-2.5\n");
    wrote(NULL, &tensors[5], "1\n-2.5\n");
    MUST_FAIL(gn_csv_write(in_folder("w.csv"), NULL, &tensors[6]), GN_ERR_USAGE, "rank 0");
    ck_assert_int_eq(sweep(), 1);
}
END_TEST

START_TEST(names_are_checked)
{
    gn_named_tensor twice[] = {tensors[0], tensors[0]}, strange = tensors[0];
    gn_tensor_file f = {2, twice, 0, NULL, NULL}, g = {1, &strange, 0, NULL, NULL};
    setup();
    MUST_FAIL(gn_safetensors_write(in_folder("w"), &f), GN_ERR_USAGE,
              "two tensors are named 'convs.0.weight'");
    MUST_FAIL(gn_npz_write(in_folder("w"), &f), GN_ERR_USAGE, "two tensors are named");
    strange.name = TEXT("\xff");
    MUST_FAIL(gn_safetensors_write(in_folder("w"), &g), GN_ERR_USAGE, "not UTF-8");
    ck_assert_int_eq(sweep(), 0);
}
END_TEST

START_TEST(a_failed_write_leaves_the_old_file)
{
    gn_bytes b;
    struct stat st;
    setup();
    /* A device is written in place and stays a device. */
    MUST_FAIL(gn_safetensors_write("/dev/full", &file), GN_ERR_IO,
              "cannot write '/dev/full': No space left");
    MUST_FAIL(gn_npz_write("/dev/full", &file), GN_ERR_IO, "No space left");
    MUST_FAIL(gn_csv_write("/dev/full", NULL, &tensors[0]), GN_ERR_IO, "No space left");
    ck_assert(stat("/dev/full", &st) == 0 && S_ISCHR(st.st_mode));
    must(gn_csv_write("/dev/null", NULL, &tensors[0]));
    MUST_FAIL(gn_csv_write(in_folder("no/such"), NULL, &tensors[0]), GN_ERR_IO, "cannot create");
    MUST_FAIL(gn_csv_write(folder, NULL, &tensors[0]), GN_ERR_IO, "directory");
    /* An error before the end: the old file is what it was, and no temporary stays. */
    gn_out o;
    must(gn_csv_write(in_folder("w"), NULL, &tensors[1]));
    must(gn_out_open(&o, in_folder("w")));
    fputs("half", o.f);
    MUST_FAIL(gn_out_close(&o, GN_ERROR(GN_ERR_USAGE, "changed my mind")), GN_ERR_USAGE,
              "changed my mind");
    must(gn_file_read(in_folder("w"), &b));
    ck_assert_str_eq((char *)b.p, "1\n0\n1\n");
    gn_bytes_free(&b);
    /* A link stays a link, and a mode stays a mode. */
    ck_assert_int_eq(symlink(in_folder("w"), in_folder("link")), 0);
    ck_assert_int_eq(chmod(in_folder("w"), 0640), 0);
    must(gn_csv_write(in_folder("link"), NULL, &tensors[2]));
    ck_assert(lstat(in_folder("link"), &st) == 0 && S_ISLNK(st.st_mode));
    ck_assert(stat(in_folder("w"), &st) == 0 && (st.st_mode & 0777) == 0640);
    ck_assert_int_eq(sweep(), 2);
}
END_TEST

/* What cannot be written is said before the work, and looking leaves no trace. */
START_TEST(looking_leaves_nothing)
{
    gn_bytes b;
    struct stat st;
    setup();
    must(gn_out_check(in_folder("w")));
    must(gn_out_check("/dev/null"));
    must(gn_out_check("/dev/full"));
    ck_assert_int_eq(sweep(), 0);
    setup();
    MUST_FAIL(gn_out_check(in_folder("no/such")), GN_ERR_IO, "No such file");
    MUST_FAIL(gn_out_check(folder), GN_ERR_IO, "directory");
    MUST_FAIL(gn_out_check("/proc/nothing"), GN_ERR_IO, "cannot create");
    MUST_FAIL(gn_out_check(""), GN_ERR_IO, "No such file");
    ck_assert_int_eq(mkfifo(in_folder("pipe"), 0600), 0); /* opening it would wait for a reader */
    must(gn_out_check(in_folder("pipe")));
    must(gn_csv_write(in_folder("w"), NULL, &tensors[1]));
    must(gn_out_check(in_folder("w")));
    must(gn_file_read(in_folder("w"), &b));
    ck_assert_str_eq((char *)b.p, "1\n0\n1\n");
    gn_bytes_free(&b);
    /* A link to nothing, through another: what would be there is written. */
    ck_assert_int_eq(symlink("two", in_folder("one")), 0);
    ck_assert_int_eq(symlink("three", in_folder("two")), 0);
    must(gn_out_check(in_folder("one")));
    ck_assert(stat(in_folder("three"), &st) != 0);
    must(gn_csv_write(in_folder("one"), NULL, &tensors[2]));
    ck_assert(lstat(in_folder("one"), &st) == 0 && S_ISLNK(st.st_mode));
    ck_assert(lstat(in_folder("two"), &st) == 0 && S_ISLNK(st.st_mode));
    ck_assert(lstat(in_folder("three"), &st) == 0 && S_ISREG(st.st_mode));
    ck_assert_int_eq(symlink("round", in_folder("round")), 0);
    MUST_FAIL(gn_out_check(in_folder("round")), GN_ERR_IO, "cannot write");
    ck_assert_int_eq(sweep(), 6);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tensorfile");
    TCase *t = tcase_create("tensorfile");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, safetensors_round_trip);
    tcase_add_test(t, safetensors_refuses_malformed_files);
    tcase_add_test(t, safetensors_survive_damage);
    tcase_add_test(t, npz_round_trip);
    tcase_add_test(t, csv);
    tcase_add_test(t, names_are_checked);
    tcase_add_test(t, a_failed_write_leaves_the_old_file);
    tcase_add_test(t, looking_leaves_nothing);
    suite_add_tcase(s, t);
    return suite_run(s);
}
