/* Files of torch.save: tensors of every type and what holds them, damaged ones, and what is
 * refused. tests/data/torch_files.py makes them. */
/* links: runtime base */
#include "data_arrays.h"

#include "runtime/data/torchfile.h"

typedef struct file {
    gn_bytes bytes;
    gn_torch *torch;
    const gn_pickle_value *value;
} file;

static file open_file(const char *name)
{
    char path[128];
    file f = {0};
    snprintf(path, sizeof path, "tests/data/torch/%s", name);
    must(gn_file_read(source_path(path), &f.bytes));
    must(gn_torch_open(f.bytes.p, f.bytes.n, "t", &f.torch));
    f.value = gn_torch_value(f.torch);
    return f;
}

static void close_file(file *f)
{
    gn_torch_close(f->torch);
    gn_bytes_free(&f->bytes);
}

static const gn_ndarray *array_of(const gn_pickle_value *dict, const char *key)
{
    const gn_pickle_value *v = gn_pickle_get(dict, key);
    if (!v || v->kind != GN_PICKLE_ARRAY) ck_abort_msg("%s is no array", key);
    return v->u.array;
}

START_TEST(tensors_of_every_type)
{
    static const struct {
        const char *key;
        int rank;
        int64_t dim[2], n;
        double v[6];
    } all[] = {
        {"long", 2, {2, 3}, 6, {0, 1, 2, 3, 4, 5}},
        {"turned", 2, {3, 2}, 6, {0, 3, 1, 4, 2, 5}},
        {"tail", 1, {3}, 3, {7, 8, 9}},
        {"double", 1, {2}, 2, {0.5, -2}},
        {"float", 1, {1}, 1, {1.5}},
        {"half", 1, {2}, 2, {1, 1}},
        {"short", 1, {1}, 1, {-3}},
        {"char", 1, {1}, 1, {-4}},
        {"byte", 1, {1}, 1, {200}},
        {"bool", 1, {2}, 2, {1, 0}},
        {"one", 0, {0}, 1, {7}},
        {"none", 2, {0, 3}, 0, {0}},
        {"row", 1, {3}, 3, {3, 4, 5}},
    };
    file f = open_file("tensors.pt");
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        const gn_ndarray *a = array_of(f.value, all[k].key);
        ck_assert(a->rank == all[k].rank && a->count == all[k].n);
        for (int i = 0; i < a->rank; i++) ck_assert_int_eq(a->dim[i], all[k].dim[i]);
        for (int i = 0; i < a->count; i++) ck_assert(gn_ndarray_f64(a, i) == all[k].v[i]);
    }
    ck_assert_int_eq(gn_pickle_get(f.value, "number")->u.i, 3);
    ck_assert_int_eq(gn_pickle_get(f.value, "list")->n, 2);
    ck_assert_ptr_null(gn_pickle_get(f.value, "nothing"));
    close_file(&f);
}
END_TEST

START_TEST(arrays_old_and_new)
{
    static const char *const name[] = {"split.pt", "old-split.pt"};
    for (int k = 0; k < 2; k++) {
        file f = open_file(name[k]);
        const gn_ndarray *a = array_of(f.value, "train");
        ck_assert(a->count == 2 && gn_ndarray_f64(a, 1) == 2);
        ck_assert_int_eq(array_of(f.value, "test")->count, 0);
        close_file(&f);
    }
}
END_TEST

START_TEST(files_that_are_refused)
{
    static const struct {
        const char *name, *words;
    } all[] = {{"strided.pt", "tensor: a view with strides: expected one that is contiguous"},
               {"bfloat.pt", "global torch.BFloat16Storage is refused"},
               {"old-tensor.pt", "tensors of a file from before torch 1.6 are not read"}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        char path[128];
        gn_bytes b;
        gn_torch *t;
        snprintf(path, sizeof path, "tests/data/torch/%s", all[k].name);
        must(gn_file_read(source_path(path), &b));
        must_fail(gn_torch_open(b.p, b.n, "t", &t), GN_ERR_DATA, all[k].words, (int)k);
        gn_bytes_free(&b);
    }
}
END_TEST

/* ---- pickles that torch does not write ---- */

static gn_status *open_pickle(const char *pickle, size_t n, gn_torch **out)
{
    char name[2][64] = {"a/data.pkl", "a/data/0"};
    blob data[2] = {{0}, {.n = 16, .p = {1, 0, 0, 0, 0, 0, 0, 0, 2}}};
    blob_put(&data[0], pickle, n);
    blob zip = zip_of(2, name, data);
    void *copy = exact(zip.p, zip.n);
    gn_status *s = gn_torch_open(copy, zip.n, "t", out);
    if (!s) gn_torch_close(*out);
    free(copy);
    return s;
}

#define STORAGE(key, numbers)                                                                      \
    "(X\7\0\0\0storagectorch\nLongStorage\nX\1\0\0\0" key "X\3\0\0\0cpuK" numbers "tQ"
#define TENSOR "ctorch._utils\n_rebuild_tensor_v2\n("
#define REFUSE(pickle, words)                                                                      \
    do {                                                                                           \
        gn_torch *none;                                                                            \
        must_fail(open_pickle(pickle, sizeof(pickle) - 1, &none), GN_ERR_DATA, (words), __LINE__); \
    } while (0)

START_TEST(pickles_that_are_refused)
{
    gn_torch *t;
    static const char good[] = "\x80\2" TENSOR STORAGE("0", "\2") "K\1K\1\x85K\1\x85tR.";
    must(open_pickle(good, sizeof good - 1, &t));
    REFUSE("\x80\2cos\nsystem\nX\2\0\0\0id\x85R.", "global os.system is refused");
    REFUSE("\x80\2" TENSOR STORAGE("0", "\2") "K\1K\2\x85K\1\x85tR.", "reaches beyond its storage");
    REFUSE("\x80\2" TENSOR STORAGE("0", "\2") "J\xff\xff\xff\xffK\2\x85K\1\x85tR.",
           "reaches beyond");
    REFUSE("\x80\2" TENSOR STORAGE("0", "\2") "K\0J\xff\xff\xff\xff\x85K\1\x85tR.",
           "reaches beyond");
    REFUSE("\x80\2" TENSOR STORAGE("0", "\2") "K\0K\2\x85K\2\x85tR.", "a view with strides");
    REFUSE("\x80\2" TENSOR STORAGE("0", "\2") "K\0K\2\x85)tR.", "expected (storage, offset");
    REFUSE("\x80\2" TENSOR "K\1K\1K\1\x85K\1\x85tR.", "expected (storage, offset");
    REFUSE("\x80\2" STORAGE("0", "\3") ".", "storage 0: 16 bytes: expected 3 numbers of 8 bytes");
    REFUSE("\x80\2" STORAGE("1", "\2") ".", "byte 51: there is no storage '1' in the file");
    REFUSE("\x80\2" STORAGE(".", "\2") ".", "there is no storage '.'");
    REFUSE("\x80\2K\1Q.", "persistent id: expected ('storage', type, key, place, numbers)");
    REFUSE("\x80\2ctorch\nLongStorage\n)R.", "expected a global and a tuple");
    REFUSE("\x80\2ctorch\nload\n)R.", "global torch.load is refused");
}
END_TEST

START_TEST(other_files_are_refused)
{
    char name[1][64] = {"a/other"};
    blob data[1] = {{0}};
    blob zip = zip_of(1, name, data);
    gn_torch *t;
    MUST_FAIL(gn_torch_open(zip.p, zip.n, "t", &t), GN_ERR_DATA, "there is no data.pkl in it");
    MUST_FAIL(gn_torch_open("x", 1, "t", &t), GN_ERR_DATA, "t: expected a file of torch.save");
    MUST_FAIL(gn_torch_open("", 0, "t", &t), GN_ERR_DATA, "t: expected a file of torch.save");
}
END_TEST

START_TEST(survives_changes)
{
    static const char *const name[] = {"old-split.pt", "tensors.pt"};
    for (int k = 0; k < 2; k++) {
        file f = open_file(name[k]);
        for (size_t at = 0; at < f.bytes.n; at += k ? 3 : 1) {
            unsigned char *changed = exact(f.bytes.p, f.bytes.n);
            gn_torch *t;
            changed[at] ^= (unsigned char)(1u << at % 8);
            if (survives(gn_torch_open(changed, f.bytes.n, "t", &t))) gn_torch_close(t);
            free(changed);
            changed = exact(f.bytes.p, at);
            if (survives(gn_torch_open(changed, at, "t", &t))) gn_torch_close(t);
            free(changed);
        }
        close_file(&f);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("torch");
    TCase *t = tcase_create("torch");
    tcase_add_test(t, tensors_of_every_type);
    tcase_add_test(t, arrays_old_and_new);
    tcase_add_test(t, files_that_are_refused);
    tcase_add_test(t, pickles_that_are_refused);
    tcase_add_test(t, other_files_are_refused);
    tcase_add_test(t, survives_changes);
    suite_add_tcase(s, t);
    return suite_run(s);
}
