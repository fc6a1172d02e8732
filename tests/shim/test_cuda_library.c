/* labels: long */
/* links: tune codegen lower passes frontend ir cache runtime base */
/* sources: fake_target.c */
/* kernels: unchecked */
/* timeout: 600 */
/* Products by cuBLASLt: the library found and refused, products of every layout over a fake one,
 * and models trained with it: chosen, timed, remembered, recorded; every call of it failing in
 * turn. */
#include "cache/cache.h"
#include "shim/fake_cublaslt.h"
#include "shim/fake_target.h"
#include "shim/trained.h"
#include "support/suite.h"
#include "tune/start.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EPOCHS = 3 };

static fake_lt_fail_fn *lt_fail;
static fake_lt_count_fn *lt_alive, *lt_products;
static fake_lt_order_fn *lt_order;
static fake_costs_fn *costs;
static fake_alive_fn *alive;
static fake_fault_fn *fault;
static fake_fail_fn *order;
static fake_calls_fn *calls;

static void find(void *library, const char *name, void *out)
{
    void *at = dlsym(library, name);
    ck_assert_msg(at != NULL, "%s", name);
    memcpy(out, &at, sizeof at);
}

static void setup(void)
{
    const char *path = getenv("GNNC_CUBLASLT"), *driver_path = getenv("GNNC_FAKE_CUDA");
    ck_assert_msg(path && driver_path, "GNNC_CUBLASLT and GNNC_FAKE_CUDA name the fake ones");
    void *library = dlopen(path, RTLD_NOW), *driver = dlopen(driver_path, RTLD_NOW);
    ck_assert_msg(library && driver, "%s", dlerror());
    find(library, "fake_lt_fail", &lt_fail);
    find(library, "fake_lt_alive", &lt_alive);
    find(library, "fake_lt_products", &lt_products);
    find(library, "fake_lt_order", &lt_order);
    find(driver, "fake_costs", &costs);
    find(driver, "fake_alive", &alive);
    find(driver, "fake_fault", &fault);
    find(driver, "fake_fail", &order);
    find(driver, "fake_calls", &calls);
}

static void nothing_left(void)
{
    ck_assert_msg(!fault(), "%s", fault());
    ck_assert_int_eq(alive(), 0);
    ck_assert_int_eq(lt_alive(), 0);
}

/* Finding it ----------------------------------------------------------------------------------- */

START_TEST(finding)
{
    gn_cublaslt l;
    char *path = strdup(getenv("GNNC_CUBLASLT"));
    succeeds(gn_cublaslt_open(&l));
    ck_assert_int_eq(l.version, 130100);
    ck_assert_str_eq(l.path, path);
    setenv("FAKE_CUBLASLT_VERSION", "111103", 1);
    fails(gn_cublaslt_open(&l), GN_ERR_BACKEND, "older than 12");
    unsetenv("FAKE_CUBLASLT_VERSION");
    setenv("GNNC_CUBLASLT", "/nowhere/libcublasLt.so.13", 1);
    fails(gn_cublaslt_open(&l), GN_ERR_BACKEND, "/nowhere/libcublasLt.so.13");
    setenv("GNNC_CUBLASLT", "libm.so.6", 1);
    fails(gn_cublaslt_open(&l), GN_ERR_BACKEND, "no symbol cublasLtGetVersion");
    fails(gn_cublaslt_open(&l), GN_ERR_BACKEND, "pip install nvidia-cublas");
    setenv("GNNC_CUBLASLT", path, 1);
    free(path);
}
END_TEST

/* Products ------------------------------------------------------------------------------------- */

enum { ROWS = 7, COLS = 5, DEPTH = 40 };

typedef struct world {
    gn_cuda_driver *driver;
    gn_cuda_device *device;
    gn_cublaslt library;
    gn_cuda_blas *blas;
    gn_device_ptr at[4]; /* out, a, b, bias */
} world;

static gn_status *open_world(world *w)
{
    static const int64_t elems[] = {ROWS * COLS, ROWS * DEPTH, DEPTH * COLS, COLS};
    *w = (world){0};
    GN_TRY(gn_cuda_driver_open(getenv("GNNC_FAKE_CUDA"), &w->driver));
    GN_TRY(gn_cuda_device_open(w->driver, 0, &w->device));
    GN_TRY(gn_cublaslt_open(&w->library));
    for (int k = 0; k < 4; k++)
        GN_TRY(gn_cuda_alloc(w->device, elems[k] * 4, "a matrix", &w->at[k]));
    return gn_cuda_blas_open(&w->library, w->device, &w->blas);
}

static void close_world(world *w)
{
    gn_cuda_blas_close(w->blas);
    for (int k = 0; k < 4; k++) gn_cuda_free(w->device, w->at[k]);
    gn_cuda_device_close(w->device);
    gn_cuda_driver_close(w->driver);
}

static float number(int k) { return (float)(k % 13 - 6) / 8; }

/* Each layout of both operands, each epilogue: bits of `way`; above them the precision, which tells
 * no difference for these numbers. */
static gn_status *multiply(world *w, int way)
{
    static const int compute[] = {GN_CUBLASLT_COMPUTE_F32, GN_CUBLASLT_COMPUTE_TF32,
                                  GN_CUBLASLT_COMPUTE_BF16};
    bool at = way & 1, bt = way >> 1 & 1, bias = way >> 2 & 1, relu = way >> 3 & 1;
    gn_cuda_product_shape s = {
        ROWS,          COLS,           DEPTH, at ? 1 : DEPTH, at ? ROWS : 1,
        bt ? 1 : COLS, bt ? DEPTH : 1, bias,  relu,           compute[way >> 4]};
    float a[ROWS * DEPTH], b[DEPTH * COLS], add[COLS], out[ROWS * COLS];
    gn_cuda_product *p;
    for (int k = 0; k < ROWS * DEPTH; k++) a[k] = number(7 * k);
    for (int k = 0; k < DEPTH * COLS; k++) b[k] = number(5 * k + 3);
    for (int k = 0; k < COLS; k++) add[k] = number(k);
    GN_TRY(gn_cuda_upload(w->device, w->at[1], a, sizeof a));
    GN_TRY(gn_cuda_upload(w->device, w->at[2], b, sizeof b));
    GN_TRY(gn_cuda_upload(w->device, w->at[3], add, sizeof add));
    GN_TRY(gn_cuda_product_new(w->blas, &s, w->at[3], &p));
    gn_status *failed = gn_cuda_product_run(p, w->at[0], w->at[1], w->at[2], bias ? w->at[3] : 0);
    gn_cuda_product_free(p);
    GN_TRY(failed);
    GN_TRY(gn_cuda_download(w->device, out, w->at[0], sizeof out));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) {
            double sum = bias ? (double)add[j] : 0;
            for (int k = 0; k < DEPTH; k++)
                sum += (double)a[i * s.a_row + k * s.a_term] *
                       (double)b[k * s.b_term + j * s.b_col];
            if (relu && sum < 0) sum = 0;
            ck_assert_msg(fabs((double)out[i * COLS + j] - sum) < 1e-4,
                          "way %d: (%d, %d) is %g, not %g", way, i, j, (double)out[i * COLS + j],
                          sum);
        }
    return NULL;
}

/* With and without a relu: is the result of a NaN one? */
static bool keeps_nan(world *w, bool relu)
{
    gn_cuda_product_shape s = {ROWS, COLS, DEPTH, DEPTH, 1,
                               COLS, 1,    true,  relu,  GN_CUBLASLT_COMPUTE_F32};
    gn_cuda_product *p;
    bool keeps = false;
    succeeds(gn_cuda_product_new(w->blas, &s, w->at[3], &p));
    succeeds(gn_cuda_product_keeps_nan(p, w->at[0], w->at[1], w->at[2], w->at[3], &keeps));
    gn_cuda_product_free(p);
    return keeps;
}

START_TEST(products)
{
    world w;
    succeeds(open_world(&w));
    for (int way = 0; way < 48; way++) succeeds(multiply(&w, way));
    ck_assert_int_eq(lt_products(), 48);
    ck_assert(keeps_nan(&w, false) && keeps_nan(&w, true));
    lt_order(FAKE_LT_NO_NAN);
    ck_assert(keeps_nan(&w, false) && !keeps_nan(&w, true));
    lt_order(FAKE_LT_NOTHING);
    fails(multiply(&w, 0), GN_ERR_BACKEND, "no algorithm for a product of 7 x 40 by 40 x 5");
    lt_order(FAKE_LT_RIGHT);
    close_world(&w);
    nothing_left();
}
END_TEST

/* Digests tell shapes apart. */
START_TEST(digests)
{
    world w;
    uint64_t digest[3];
    succeeds(open_world(&w));
    for (int k = 0; k < 3; k++) {
        gn_cuda_product *p;
        gn_cuda_product_shape s = {ROWS, COLS, DEPTH, DEPTH,  1,
                                   COLS, 1,    false, k == 1, GN_CUBLASLT_COMPUTE_F32};
        succeeds(gn_cuda_product_new(w.blas, &s, 0, &p));
        digest[k] = gn_cuda_product_digest(p);
        gn_cuda_product_free(p);
    }
    ck_assert(digest[0] == digest[2] && digest[0] != digest[1]);
    close_world(&w);
    nothing_left();
}
END_TEST

/* Whatever call fails, of the library or of the driver: an error in its words, and nothing is
 * left. */
START_TEST(product_errors)
{
    int failed = 0;
    for (int nth = 1;; nth++) {
        world w;
        _i ? order(NULL, nth, 1) : lt_fail(nth, 13);
        gn_status *s = open_world(&w);
        for (int way = 4; way < 8 && !s; way++) s = multiply(&w, way);
        order(NULL, 0, 0);
        lt_fail(0, 0);
        bool over = !s;
        if (s)
            ck_assert_msg(strstr(gn_status_message(s), "ordered by a test"), "%s",
                          gn_status_message(s));
        gn_status_free(s);
        close_world(&w);
        nothing_left();
        if (over) break;
        failed++;
    }
    ck_assert_int_gt(failed, 30);
}
END_TEST

/* Models --------------------------------------------------------------------------------------- */

typedef struct result {
    trained made;
    int products, seen; /* by the library, of launches that have both forms */
    int losing;         /* of those, whose relu would lose a NaN */
    char form[96];      /* of one of them, in the training step */
} result;

typedef struct how {
    const char *model;
    gn_mode mode;
    gn_products products;
    gn_precision precision;
    gn_switches off;
    gn_cache *cache;
} how;

/* Sessions know what of their launches was chosen. */
static void look(const gn_session *s, result *out)
{
    const gn_unit *u = &s->build.step;
    for (int k = 0; k < u->code->artifact->n_launches; k++) {
        const char *form = gn_instance_form(u->instance, k);
        if (!form) continue;
        out->seen++;
        out->losing += !strcmp(form, "kernel: cuBLASLt's relu loses a NaN");
        (void)snprintf(out->form, sizeof out->form, "%s", form);
    }
}

static gn_status *train_on(fake_target *t, const how *h, result *out)
{
    gn_arena a;
    gn_session *s;
    int before = lt_products();
    memset(out, 0, sizeof *out);
    gn_arena_init(&a);
    gn_session_options o = trained_options(&a, h->model, h->mode, t->target);
    o.epochs = EPOCHS;
    o.products = h->products;
    o.precision = h->precision;
    o.cache = h->cache;
    o.without.decisions = h->off;
    gn_status *status = gn_session_new(&a, &o, &s);
    if (!status) {
        status = trained_fit(s, &out->made);
        if (!status) look(s, out);
        gn_session_free(s);
    }
    gn_arena_free(&a);
    out->products = lt_products() - before;
    return status;
}

static gn_status *train(const how *h, result *out)
{
    fake_target t;
    GN_TRY(fake_target_open(&t));
    gn_status *s = train_on(&t, h, out);
    fake_target_close(&t);
    return s;
}

static result result_of(how h)
{
    result r;
    succeeds(train(&h, &r));
    nothing_left();
    return r;
}

/* All products that it has by the library: near the kernels' figures, and the same bits recorded or
 * not. */
START_TEST(models)
{
    result kernels = result_of((how){.model = samples[_i], .mode = GN_MODE_DEFAULT});
    result plain = result_of(
        (how){.model = samples[_i], .mode = GN_MODE_DEFAULT, .products = GN_PRODUCTS_LIBRARY});
    result recorded = result_of((how){
        .model = samples[_i], .mode = GN_MODE_REDUCE_OVERHEAD, .products = GN_PRODUCTS_LIBRARY});
    ck_assert_int_eq(kernels.products, 0);
    ck_assert_int_ge(plain.products, EPOCHS);
    ck_assert_int_eq(plain.products, recorded.products);
    ck_assert(same_bits(&plain.made, &recorded.made));
    ck_assert(!same_bits(&plain.made, &kernels.made));
    close_to(&plain.made, &kernels.made, 1);
}
END_TEST

START_TEST(switched_off)
{
    result kernels = result_of((how){.model = "gcn", .mode = GN_MODE_DEFAULT});
    result off = result_of((how){.model = "gcn",
                                 .mode = GN_MODE_DEFAULT,
                                 .products = GN_PRODUCTS_LIBRARY,
                                 .off = (gn_switches)1 << GN_DO_LIBRARY});
    ck_assert_int_eq(off.products, 0);
    ck_assert(same_bits(&kernels.made, &off.made));
}
END_TEST

START_TEST(less_precision)
{
    result exact = result_of(
        (how){.model = "gcn", .mode = GN_MODE_DEFAULT, .products = GN_PRODUCTS_LIBRARY});
    result high = result_of((how){.model = "gcn",
                                  .mode = GN_MODE_DEFAULT,
                                  .products = GN_PRODUCTS_LIBRARY,
                                  .precision = GN_PRECISION_HIGH});
    result medium = result_of((how){.model = "gcn",
                                    .mode = GN_MODE_DEFAULT,
                                    .products = GN_PRODUCTS_LIBRARY,
                                    .precision = GN_PRECISION_MEDIUM});
    ck_assert(!same_bits(&exact.made, &high.made) && !same_bits(&medium.made, &high.made));
    close_to(&high.made, &exact.made, 10);
    close_to(&medium.made, &exact.made, 80);
}
END_TEST

/* max-autotune times both: what is slower, wrong or missing is not taken, and what is not leaves
 * the bits of its form. */
START_TEST(timed)
{
    how autotune = {.model = "gin", .mode = GN_MODE_MAX_AUTOTUNE, .off = by_launches},
        kernel = autotune, library = autotune;
    kernel.products = GN_PRODUCTS_KERNEL;
    library.products = GN_PRODUCTS_LIBRARY;
    result by_kernels = result_of(kernel), by_library = result_of(library);
    costs(1, 2);
    result slower = result_of(autotune);
    ck_assert_int_gt(slower.seen, 1);
    ck_assert_int_gt(slower.products, slower.seen);
    ck_assert_str_eq(slower.form, "kernel: kernel 1000.0 us, cuBLASLt 2000.0");
    ck_assert(same_bits(&slower.made, &by_kernels.made));
    costs(1, 0.98);
    result hardly = result_of(autotune);
    ck_assert(same_bits(&hardly.made, &by_kernels.made));
    costs(1, 0.5);
    result faster = result_of(autotune);
    ck_assert_str_eq(faster.form, "cuBLASLt: kernel 1000.0 us, cuBLASLt 500.0");
    ck_assert(same_bits(&faster.made, &by_library.made));
    lt_order(FAKE_LT_WRONG);
    result wrong = result_of(autotune);
    ck_assert_str_eq(wrong.form, "kernel: results differ");
    ck_assert(same_bits(&wrong.made, &by_kernels.made));
    lt_order(FAKE_LT_NOTHING);
    result none = result_of(autotune);
    ck_assert_str_eq(none.form, "kernel: cuBLASLt cannot");
    ck_assert(same_bits(&none.made, &by_kernels.made));
    lt_order(FAKE_LT_RIGHT);
    costs(0, 0);
}
END_TEST

/* A relu that loses a NaN is the kernel's, whatever is asked for, and however fast the library was
 * once. */
START_TEST(losing_relu)
{
    gn_cache *cache;
    fake_target t;
    result keeps, loses;
    how h = {.model = "gin",
             .mode = GN_MODE_MAX_AUTOTUNE,
             .off = by_launches,
             .products = GN_PRODUCTS_TIMED};
    succeeds(fake_target_open(&t));
    succeeds(gn_cache_new(&(gn_cache_options){0}, &cache));
    h.cache = cache;
    costs(1, 0.5);
    for (int way = 0; way < 3; way++) { /* timed and remembered; timed anew; asked for */
        if (way == 1) h.cache = NULL;
        if (way == 2) h.products = GN_PRODUCTS_LIBRARY;
        succeeds(train_on(&t, &h, &keeps));
        lt_order(FAKE_LT_NO_NAN);
        succeeds(train_on(&t, &h, &loses));
        lt_order(FAKE_LT_RIGHT);
        ck_assert_int_eq(keeps.losing, 0);
        ck_assert_int_gt(loses.losing, 1);
        ck_assert_int_gt(loses.seen, loses.losing); /* those without a relu stay */
        ck_assert_int_lt(loses.products, keeps.products);
        ck_assert(!same_bits(&keeps.made, &loses.made));
        close_to(&loses.made, &keeps.made, 1);
    }
    costs(0, 0);
    fake_target_close(&t);
    nothing_left();
    gn_cache_free(cache);
}
END_TEST

/* A second session finds what the first has timed. */
START_TEST(remembered)
{
    gn_cache *cache;
    fake_target t; /* what it has compiled lives as long */
    result first, second, other;
    succeeds(fake_target_open(&t));
    succeeds(gn_cache_new(&(gn_cache_options){0}, &cache));
    how h = {.model = "gin", .mode = GN_MODE_MAX_AUTOTUNE, .off = by_launches, .cache = cache},
        high = h;
    high.precision = GN_PRECISION_HIGH;
    costs(1, 0.5);
    succeeds(train_on(&t, &h, &first));
    costs(1, 4); /* would be found otherwise now */
    succeeds(train_on(&t, &h, &second));
    succeeds(train_on(&t, &high, &other));
    costs(0, 0);
    fake_target_close(&t);
    nothing_left();
    ck_assert_str_eq(second.form, "cuBLASLt: kernel 1000.0 us, cuBLASLt 500.0, as found before");
    ck_assert_str_eq(other.form, "kernel: kernel 1000.0 us, cuBLASLt 4000.0");
    ck_assert(same_bits(&first.made, &second.made));
    ck_assert_int_lt(second.products, first.products);
    gn_cache_free(cache);
}
END_TEST

/* Without it kernels make all; who asks for it is told. */
START_TEST(missing)
{
    result r;
    char *path = strdup(getenv("GNNC_CUBLASLT"));
    how h = {.model = "gcn", .mode = GN_MODE_MAX_AUTOTUNE, .off = by_launches};
    setenv("GNNC_CUBLASLT", "/nowhere/libcublasLt.so.13", 1);
    r = result_of(h);
    ck_assert_int_eq(r.products + r.seen, 0);
    h.products = GN_PRODUCTS_LIBRARY;
    fails(train(&h, &r), GN_ERR_BACKEND, "GNNC_CUBLASLT=FILE names it");
    setenv("GNNC_CUBLASLT", path, 1);
    free(path);
    nothing_left();
}
END_TEST

/* Whatever call of the library fails: an error, or kernels; and nothing is left. */
START_TEST(model_errors)
{
    how h = {.model = "gcn", .mode = GN_MODE_REDUCE_OVERHEAD, .off = by_launches};
    h.products = _i ? GN_PRODUCTS_TIMED : GN_PRODUCTS_LIBRARY;
    int failed = 0, stayed = 0;
    for (int nth = 1; nth < 80; nth += 1 + nth / 6) {
        result r;
        lt_fail(nth, 13);
        gn_status *s = train(&h, &r);
        lt_fail(0, 0);
        failed += s != NULL;
        stayed += !s;
        if (s) ck_assert_msg(strstr(gn_status_message(s), "cuBLASLt"), "%s", gn_status_message(s));
        gn_status_free(s);
        nothing_left();
    }
    ck_assert_int_gt(failed, 2);
    ck_assert(_i == 0 || stayed > 2);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("library"), *m = tcase_create("models"), *e = tcase_create("errors");
    TCase *all[] = {t, m, e};
    for (int k = 0; k < 3; k++) tcase_add_checked_fixture(all[k], setup, NULL);
    tcase_set_timeout(t, 60);
    tcase_set_timeout(m, 600);
    tcase_set_timeout(e, 600);
    tcase_add_test(t, finding);
    tcase_add_test(t, products);
    tcase_add_test(t, digests);
    tcase_add_loop_test(t, product_errors, 0, 2);
    tcase_add_loop_test(m, models, 0, SAMPLES);
    tcase_add_test(m, switched_off);
    tcase_add_test(m, less_precision);
    tcase_add_test(m, timed);
    tcase_add_test(m, losing_relu);
    tcase_add_test(m, remembered);
    tcase_add_test(m, missing);
    tcase_add_loop_test(e, model_errors, 0, 2);
    return RUN_CASES("cuda_library", t, m, e);
}
