/* Who changes data of a store takes copies, and has what it would have of the source. */
/* links: runtime base */
#include "store_fixture.h"

/* Whoever changes data has the same of a store as of what it was made of. */
static void changes_are_the_same(const char *store, const char *source)
{
    static const gn_data_options how[] = {
        {.normalize_rows = 1, .undirected = -1},
        {.normalize_rows = -1, .undirected = 1},
        {.normalize_rows = -1, .undirected = -1, .features = GN_FEATURES_DEGREE},
        {.normalize_rows = -1, .undirected = -1, .features = GN_FEATURES_IDENTITY},
        {.normalize_rows = -1, .undirected = -1, .reduce = GN_REDUCTION_SVD, .components = 2},
    };
    for (size_t k = 0; k < sizeof how / sizeof *how; k++) {
        gn_data_options opt = how[k];
        opt.path = source;
        gn_dataset *d = read_with(opt), *e;
        opt.path = store;
        e = read_with(opt);
        must(gn_dataset_list_edges(d));
        must(gn_dataset_list_edges(e));
        must(gn_dataset_own_features(e)); /* that nobody changed */
        free(e->name);
        e->name = strdup(d->name);
        same_data(d, e);
        gn_dataset_free(e);
        gn_dataset_free(d);
    }
}

static void write_at(const char *to, const char *from, int features)
{
    gn_dataset *d = undrawn(from);
    must(gn_datafile_write(d, &(gn_datafile_options){features, NULL}, to));
    gn_dataset_free(d);
}

START_TEST(what_changes_data_takes_copies)
{
    static const char *const source[] = {
        "synthetic:nodes=300,edges=2000,features=7,classes=3",
        "synthetic:nodes=300,edges=2000,features=70,classes=3,density=0.1"};
    char wide[4200];
    snprintf(wide, sizeof wide, "%s.wide", path);
    for (int k = 0; k < 2; k++) {
        write_at(path, source[k], -1);
        changes_are_the_same(path, source[k]);
    }
    for (int code = GN_CODE_BFLOAT16; code < GN_CODE_COUNT; code++) {
        write_at(path, source[0], code);
        write_at(wide, path, GN_CODE_FLOAT32);
        changes_are_the_same(path, wide);
    }
    unlink(wide);
}
END_TEST

START_TEST(nodes_of_a_store_get_other_numbers)
{
    write_at(path, "synthetic:nodes=300,edges=2000,features=7,classes=3", GN_CODE_BFLOAT16);
    gn_dataset *d = undrawn(path), *e = undrawn(path);
    int64_t *to = calloc(300, sizeof *to);
    for (int64_t v = 0; v < 300; v++) to[v] = 299 - v;
    must(gn_dataset_renumber(d, &to));
    free(to);
    must(gn_dataset_check(d));
    must(gn_dataset_list_edges(e));
    const uint16_t *moved = d->x_codes.data, *was = e->x_codes.data;
    for (int64_t v = 0; v < 300; v++) {
        ck_assert_int_eq(d->y[299 - v], e->y[v]);
        ck_assert(!memcmp(moved + (299 - v) * 7, was + v * 7, 7 * sizeof *was));
    }
    for (int64_t k = 0; k < d->n_edges; k++)
        ck_assert(d->src[k] == 299 - e->src[k] && d->dst[k] == 299 - e->dst[k]);
    gn_dataset_drop_edges(d, true);
    gn_dataset_free(d);
    gn_dataset_free(e);
}
END_TEST

START_TEST(normalised_features_are_known_as_such)
{
    gn_data_options opt = {.path = "synthetic:nodes=300,edges=2000,features=7,classes=3",
                           .normalize_rows = 1,
                           .undirected = -1};
    gn_dataset *d = read_with(opt), *e;
    write_as(d, -1);
    opt.path = path;
    e = read_with(opt);
    ck_assert(e->normalized && gn_dataset_lends(e, e->x));
    same(d->x, e->x, 300 * 7, sizeof *d->x, "x");
    gn_dataset_free(e);
    opt.normalize_rows = 0;
    MUST_FAIL(gn_dataset_read(&opt, &e), GN_ERR_USAGE, "--normalize-features off");
    gn_dataset_free(d);
}
END_TEST

START_TEST(an_order_is_kept_with_the_data)
{
    gn_dataset *d = undrawn("synthetic:nodes=300,edges=2000,features=7,classes=3"),
               *e = undrawn("synthetic:nodes=300,edges=2000,features=7,classes=3");
    must(gn_dataset_order(d, GN_ORDER_DEGREE));
    write_as(d, -1);
    gn_dataset_free(d);
    d = read_store();
    ck_assert_ptr_nonnull(d->row_of);
    for (int64_t v = 0; v < 300; v++) {
        int64_t row = d->row_of[v];
        ck_assert(!memcmp(d->x + row * 7, e->x + v * 7, 7 * sizeof *d->x));
        ck_assert_int_eq(d->y[row], e->y[v]);
    }
    must(gn_dataset_list_edges(d));
    for (int64_t k = 0; k < d->n_edges; k++)
        ck_assert(d->src[k] == d->row_of[e->src[k]] && d->dst[k] == d->row_of[e->dst[k]]);
    gn_dataset_free(d);
    gn_dataset_free(e);
}
END_TEST

START_TEST(types_keep_their_orders)
{
    gn_dataset *d = undrawn("synthetic:typed,scale=0.0005");
    must(gn_dataset_order(d, GN_ORDER_DEGREE));
    write_as(d, -1);
    gn_dataset *e = read_store();
    for (int k = 1; k <= d->n_tables; k++) {
        ck_assert_ptr_nonnull(gn_dataset_row_of(e, k));
        ck_assert(gn_dataset_lends(e, gn_dataset_row_of(e, k)));
        same(gn_dataset_row_of(d, k), gn_dataset_row_of(e, k), gn_dataset_rows(d, k),
             sizeof(int64_t), gn_dataset_space(d, k));
    }
    gn_dataset_free(e);
    gn_dataset_free(d);
    d = undrawn("synthetic:typed,scale=0.0005");
    must(gn_dataset_order(d, GN_ORDER_DEGREE));
    d->tables[1].row_of[0] = d->tables[1].row_of[1];
    write_as(d, -1);
    MUST_FAIL(gn_datafile_read(path, &e), GN_ERR_DATA, "row_of/author: expected each row once");
    gn_dataset_free(d);
}
END_TEST

/* In memory, too: as bfloat16 whatever that holds, as float16 what loses no digits but the last. */
START_TEST(dense_features_take_half_the_memory)
{
    static const struct {
        float x;
        bool f16, bf16;
    } of[] = {{0.3f, true, true},     {-65504, true, true},   {65505, false, true},
              {0x1p-14f, true, true}, {1e-5f, false, true},   {-0.0f, true, true},
              {3.3e38f, false, true}, {3.4e38f, false, false}};
    static const gn_elem elems[] = {GN_F16, GN_BF16};
    for (size_t k = 0; k < 2 * sizeof of / sizeof *of; k++) {
        gn_elem elem = elems[k % 2];
        bool held = k % 2 ? of[k / 2].bf16 : of[k / 2].f16;
        gn_dataset *d = undrawn("synthetic:nodes=300,edges=2000,features=17,classes=3");
        for (int64_t i = 0; i < 300 * 17; i++) d->x[i] = d->x[i] < 0 ? -0.25f : 0.5f;
        d->x[1234] = of[k / 2].x;
        ck_assert_int_eq(gn_dataset_code_x(d, elem), held ? elem : GN_F32);
        ck_assert_int_eq(d->x == NULL, held);
        ck_assert_int_eq(d->x_codes.data != NULL, held);
        must(gn_dataset_own_features(d));
        for (int64_t i = 0; i < 300 * 17; i++) {
            float want = i == 1234 ? of[k / 2].x : d->x[i] < 0 ? -0.25f : 0.5f;
            ck_assert(fabsf(d->x[i] - want) <= (held ? fabsf(want) / 256 : 0));
        }
        gn_dataset_free(d);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("store_changes");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, what_changes_data_takes_copies);
    tcase_add_test(t, nodes_of_a_store_get_other_numbers);
    tcase_add_test(t, an_order_is_kept_with_the_data);
    tcase_add_test(t, types_keep_their_orders);
    tcase_add_test(t, dense_features_take_half_the_memory);
    tcase_add_test(t, normalised_features_are_known_as_such);
    return RUN_CASES("store_changes", t);
}
