/* links: runtime base */
/* Drivers and devices, over the fake driver: memory, recording, every error in turn.  With
 * GNNC_TEST_DEVICE in the environment, over the machine's driver, what needs no driver that obeys:
 * memory and recording. */
/* forks: yes */
#include "runtime/cuda/device.h"

#include "fake_driver.h"
#include "support/suite.h"

#include <check.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static fake_fail_fn *order;
static fake_alive_fn *alive;
static fake_calls_fn *calls;
static fake_fails_fn *fails_yet;
static fake_fault_fn *fault;
static fake_devices_fn *set_devices;
static gn_cuda_driver *driver;
static bool real; /* the machine's driver, which counts nothing */

static const char *fake_path(void)
{
    const char *path = getenv("GNNC_FAKE_CUDA");
    ck_assert_msg(path != NULL, "GNNC_FAKE_CUDA names the fake driver");
    return path;
}

static void find(const char *name, void *out)
{
    void *at = dlsym(driver->library, name);
    ck_assert_ptr_nonnull(at);
    memcpy(out, &at, sizeof at);
}

static void succeeds(gn_status *s) { ck_assert_msg(!s, "%s", gn_status_message(s)); }

static void fails(gn_status *s, gn_code code, const char *words)
{
    ck_assert_msg(s != NULL, "no error, expected: %s", words);
    ck_assert_int_eq(gn_status_code(s), code);
    ck_assert_msg(strstr(gn_status_message(s), words) != NULL, "'%s' lacks '%s'",
                  gn_status_message(s), words);
    gn_status_free(s);
}

static void setup(void)
{
    succeeds(gn_cuda_driver_open(fake_path(), &driver));
    find("fake_fail", &order);
    find("fake_alive", &alive);
    find("fake_calls", &calls);
    find("fake_fails", &fails_yet);
    find("fake_fault", &fault);
    find("fake_devices", &set_devices);
    order(NULL, 0, 0);
    set_devices(1, 1 << 30);
}

static void setup_real(void) { succeeds(gn_cuda_driver_open(NULL, &driver)); }

static void leave(void) { gn_cuda_driver_close(driver); }

static void teardown(void)
{
    ck_assert_int_eq(alive(), 0);
    ck_assert_msg(!fault(), "%s", fault());
    gn_cuda_driver_close(driver);
}

/* Drivers -------------------------------------------------------------------------------------- */

START_TEST(missing)
{
    gn_cuda_driver *d;
    fails(gn_cuda_driver_open("/nowhere/libcuda.so.1", &d), GN_ERR_BACKEND,
          "/nowhere/libcuda.so.1");
    ck_assert_ptr_null(d);
    fails(gn_cuda_driver_open("libm.so.6", &d), GN_ERR_BACKEND, "libm.so.6 has no cuInit");
    setenv("GNNC_CUDA_DRIVER", "/elsewhere/libcuda.so", 1);
    fails(gn_cuda_driver_open(NULL, &d), GN_ERR_BACKEND, "/elsewhere/libcuda.so");
    setenv("GNNC_CUDA_DRIVER", fake_path(), 1);
    succeeds(gn_cuda_driver_open(NULL, &d));
    ck_assert_str_eq(d->path, fake_path());
    ck_assert_int_eq(d->version, 13000);
    gn_cuda_driver_close(d);
    setenv("GNNC_CUDA_DRIVER", "", 1); /* as if it were not there; a machine may have a driver */
    gn_status *s = gn_cuda_driver_open(NULL, &d);
    ck_assert_msg(!s || !strstr(gn_status_message(s), " has no cuInit"), "%s",
                  gn_status_message(s));
    gn_status_free(s);
    gn_cuda_driver_close(d);
    unsetenv("GNNC_CUDA_DRIVER");
}
END_TEST

START_TEST(devices)
{
    gn_cuda_info info;
    gn_cuda_device *d;
    int n;
    succeeds(gn_cuda_device_info(driver, 0, &info));
    ck_assert_str_eq(info.name, "Fake GPU 0");
    ck_assert_int_eq(info.major * 10 + info.minor, 90);
    ck_assert_int_eq(info.multiprocessors, 4);
    ck_assert_int_eq(info.total_bytes, 1 << 30);
    fails(gn_cuda_device_open(driver, 1, &d), GN_ERR_USAGE, "no device cuda:1: the driver shows 1");
    fails(gn_cuda_device_open(driver, -1, &d), GN_ERR_USAGE, "no device cuda:-1");
    set_devices(0, 0);
    succeeds(gn_cuda_device_count(driver, &n));
    ck_assert_int_eq(n, 0);
    fails(gn_cuda_device_open(driver, 0, &d), GN_ERR_USAGE, "CUDA_VISIBLE_DEVICES");
    ck_assert_ptr_null(d);
}
END_TEST

/* Memory --------------------------------------------------------------------------------------- */

START_TEST(round_trip)
{
    static const int64_t sizes[] = {0, 1, 63, (4 << 20) - 1, 4 << 20, (4 << 20) + 1, (9 << 20) + 5};
    gn_cuda_device *d;
    succeeds(gn_cuda_device_open(driver, 0, &d));
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        int64_t n = sizes[k];
        unsigned char *from = malloc((size_t)n + 1), *to = malloc((size_t)n + 1),
                      *zero = calloc(1, (size_t)n + 1);
        gn_device_ptr a, b;
        for (int64_t i = 0; i < n; i++) from[i] = (unsigned char)(i * 7 + i / 251);
        succeeds(gn_cuda_alloc(d, n, "a", &a));
        succeeds(gn_cuda_alloc(d, n, "b", &b));
        succeeds(gn_cuda_upload(d, a, from, n));
        succeeds(gn_cuda_copy(d, b, a, n));
        succeeds(gn_cuda_upload(d, a, zero, n)); /* after the copy */
        memset(to, 1, (size_t)n + 1);
        succeeds(gn_cuda_download(d, to, b, n));
        ck_assert_mem_eq(to, from, (size_t)n);
        ck_assert_int_eq(to[n], 1);
        succeeds(gn_cuda_download(d, to, a, n));
        ck_assert_mem_eq(to, zero, (size_t)n);
        gn_cuda_free(d, a);
        gn_cuda_free(d, b);
        free(from);
        free(to);
        free(zero);
    }
    gn_cuda_device_close(d);
}
END_TEST

START_TEST(too_much)
{
    gn_cuda_device *d;
    gn_device_ptr p, q;
    set_devices(1, 1 << 20);
    succeeds(gn_cuda_device_open(driver, 0, &d));
    succeeds(gn_cuda_alloc(d, 1 << 19, "half", &p));
    fails(gn_cuda_alloc(d, (1 << 19) + 1, "the arena", &q), GN_ERR_NOMEM,
          "the arena takes 524289 bytes, 524288 of 1048576 are free");
    fails(gn_cuda_alloc(d, -1, "the arena", &q), GN_ERR_NOMEM, "cannot be counted");
    gn_cuda_free(d, p);
    gn_cuda_device_close(d);
}
END_TEST

/* Two buffers of an eighth of what is free, copied four times between two marks, which the fake
 * driver has a millisecond apart; where there is no room for what no cache would hold it is not
 * known. */
START_TEST(copy_rate)
{
    static const int64_t megabytes[] = {1024, 128, 127};
    gn_cuda_device *d;
    for (int k = 0; k < 3; k++) {
        double gbytes = -1;
        if (!real) set_devices(1, (unsigned long long)megabytes[k] << 20);
        succeeds(gn_cuda_device_open(driver, 0, &d));
        succeeds(gn_cuda_copy_rate(d, &gbytes));
        if (real)
            ck_assert_double_gt(gbytes, 1);
        else
            ck_assert_double_eq_tol(gbytes, k < 2 ? 2e-6 * 4 * (double)(megabytes[k] << 17) : 0,
                                    1e-9);
        gn_cuda_device_close(d);
    }
}
END_TEST

START_TEST(no_copy_rate)
{
    static const char *const functions[] = {"cuMemGetInfo_v2", "cuMemAlloc_v2", "cuEventRecord",
                                            "cuMemcpyDtoDAsync_v2", "cuEventElapsedTime"};
    gn_cuda_device *d;
    double gbytes;
    set_devices(1, 128 << 20);
    succeeds(gn_cuda_device_open(driver, 0, &d));
    int before = alive();
    order(functions[_i], _i ? 2 : 1, 1);
    fails(gn_cuda_copy_rate(d, &gbytes), GN_ERR_BACKEND, "CUDA_ERROR");
    ck_assert_int_eq(alive(), before);
    gn_cuda_device_close(d);
}
END_TEST

/* Recording ------------------------------------------------------------------------------------ */

static gn_status *fill(gn_cuda_device *d, gn_device_ptr p, int byte, int64_t n)
{
    unsigned char bytes[256];
    memset(bytes, byte, sizeof bytes);
    return gn_cuda_upload(d, p, bytes, n);
}

/* 2 n bytes of b's first n come to a. */
static gn_status *work(gn_cuda_device *d, gn_device_ptr a, gn_device_ptr b, int64_t n)
{
    GN_TRY(gn_cuda_copy(d, a, b, n));
    return gn_cuda_copy(d, a + (gn_device_ptr)n, b, n);
}

static gn_status *record(gn_cuda_device *d, gn_device_ptr a, gn_device_ptr b, int byte, int64_t n,
                         gn_cuda_graph **g)
{
    GN_TRY(fill(d, b, byte, n));
    GN_TRY(gn_cuda_record_begin(d, 2));
    return gn_cuda_record_end(d, work(d, a, b, n), g);
}

static void holds(gn_cuda_device *d, gn_device_ptr p, int byte, int64_t n)
{
    unsigned char bytes[64];
    succeeds(gn_cuda_download(d, bytes, p, n));
    for (int64_t k = 0; k < n; k++) ck_assert_int_eq(bytes[k], byte);
}

/* So many graphs were instantiated since this was last asked. */
static void has_made(int n)
{
    if (!real) ck_assert_int_eq(calls("cuGraphInstantiateWithFlags"), n);
}

START_TEST(replay)
{
    gn_cuda_device *d;
    gn_cuda_graph *g = NULL;
    gn_device_ptr a, b;
    succeeds(gn_cuda_device_open(driver, 0, &d));
    succeeds(gn_cuda_alloc(d, 64, "a", &a));
    succeeds(gn_cuda_alloc(d, 64, "b", &b));
    succeeds(fill(d, a, 9, 64));
    if (!real) (void)calls("cuGraphInstantiateWithFlags");
    succeeds(record(d, a, b, 3, 32, &g));
    holds(d, a, 9, 64); /* recorded, not run */
    succeeds(gn_cuda_graph_run(g));
    holds(d, a, 3, 64);
    has_made(1);
    succeeds(record(d, a, b, 4, 16, &g)); /* other sizes: updated in place */
    has_made(0);
    succeeds(gn_cuda_graph_run(g));
    holds(d, a, 4, 32);
    holds(d, a + 32, 3, 32);
    succeeds(fill(d, b, 5, 64));
    succeeds(gn_cuda_record_begin(d, 1)); /* other work: made anew */
    succeeds(gn_cuda_record_end(d, gn_cuda_copy(d, a, b, 64), &g));
    has_made(1);
    succeeds(gn_cuda_graph_run(g));
    holds(d, a, 5, 64);
    succeeds(gn_cuda_record_begin(d, 0)); /* what fails in between is handed on */
    fails(gn_cuda_record_end(d, GN_ERROR(GN_ERR_DATA, "in between"), &g), GN_ERR_DATA,
          "in between");
    succeeds(fill(d, a, 6, 64)); /* nothing records any more */
    holds(d, a, 6, 64);
    gn_cuda_graph_free(g);
    gn_cuda_free(d, a);
    gn_cuda_free(d, b);
    gn_cuda_device_close(d);
}
END_TEST

/* A copy is set to others, of the graph as it was made and when another recording has updated
 * it. */
START_TEST(nodes)
{
    gn_cuda_device *d;
    gn_cuda_graph *g = NULL;
    gn_device_ptr a, b;
    succeeds(gn_cuda_device_open(driver, 0, &d));
    succeeds(gn_cuda_alloc(d, 64, "a", &a));
    succeeds(gn_cuda_alloc(d, 64, "b", &b));
    for (int k = 0; k < 2; k++) {
        succeeds(fill(d, a, 9, 64));
        succeeds(record(d, a, b, 3, 32, &g));
        ck_assert(gn_cuda_graph_has_nodes(g, 2) && !gn_cuda_graph_has_nodes(g, 1) &&
                  !gn_cuda_graph_has_nodes(g, 3));
        succeeds(gn_cuda_graph_set_copy(g, 1, a + 48, b + 8, 16));
        succeeds(gn_cuda_graph_run(g));
        holds(d, a, 3, 32);
        holds(d, a + 32, 9, 16);
        holds(d, a + 48, 3, 16);
    }
    succeeds(gn_cuda_graph_set_copy(g, 0, a + 32, b, 16));
    succeeds(gn_cuda_graph_run(g));
    holds(d, a + 32, 3, 16);
    gn_cuda_graph_free(g);
    gn_cuda_free(d, a);
    gn_cuda_free(d, b);
    gn_cuda_device_close(d);
}
END_TEST

/* Nodes are not known where there is no room for them, or a library records. */
START_TEST(no_nodes)
{
    gn_cuda_device *d;
    gn_device_ptr a, b;
    void *stream;
    succeeds(gn_cuda_device_open(driver, 0, &d));
    succeeds(gn_cuda_alloc(d, 64, "a", &a));
    succeeds(gn_cuda_alloc(d, 64, "b", &b));
    for (int k = 0; k < 3; k++) {
        gn_cuda_graph *g = NULL;
        succeeds(gn_cuda_record_begin(d, k == 0 ? 1 : 2));
        succeeds(gn_cuda_copy(d, a, b, 8));
        if (k == 1) {
            succeeds(gn_cuda_device_enter(d, &stream));
            succeeds(gn_cuda_device_leave(d));
        }
        succeeds(gn_cuda_record_end(d, gn_cuda_copy(d, b, a, 8), &g));
        for (int n = 0; n < 3; n++) ck_assert(gn_cuda_graph_has_nodes(g, n) == (k == 2 && n == 2));
        gn_cuda_graph_free(g);
    }
    gn_cuda_free(d, a);
    gn_cuda_free(d, b);
    gn_cuda_device_close(d);
}
END_TEST

/* Errors --------------------------------------------------------------------------------------- */

typedef struct held { /* by a scenario, when it failed somewhere */
    gn_cuda_driver *driver;
    gn_cuda_device *device;
    gn_cuda_module *module;
    gn_cuda_graph *graph;
    gn_device_ptr a, b;
} held;

/* Kernels that compute nothing. */
static int any_kernel(void *code, const char *name)
{
    (void)code;
    return (int)(strlen(name) & 1);
}

static int no_words(void *code, int kernel)
{
    (void)code;
    (void)kernel;
    return 0;
}

static int nothing(void *code, int kernel, unsigned blocks, unsigned threads, int together,
                   const unsigned long long *value)
{
    (void)code;
    (void)kernel;
    (void)blocks;
    (void)threads;
    (void)together;
    (void)value;
    return 0;
}

/* What is launched, alone, together and as a node that is set. */
static gn_status *launches(held *h)
{
    static const fake_image image = {"fakegpu", NULL, any_kernel, no_words, nothing, NULL};
    void *function;
    int64_t blocks;
    gn_cuda_graph *g = NULL;
    GN_TRY(gn_cuda_module_load(h->device, &image, &h->module));
    GN_TRY(gn_cuda_module_function(h->module, "k", &function));
    GN_TRY(gn_cuda_resident(h->device, function, 32, &blocks));
    GN_TRY(gn_cuda_launch_together(h->device, function, blocks, 32, NULL));
    GN_TRY(gn_cuda_room(h->device, &blocks));
    GN_TRY(gn_cuda_fill(h->device, h->a, 1, 8));
    GN_TRY(gn_cuda_record_begin(h->device, 1));
    GN_TRY(gn_cuda_record_end(h->device, gn_cuda_launch(h->device, function, 1, 32, NULL), &g));
    gn_status *s = gn_cuda_graph_has_nodes(g, 1)
                       ? gn_cuda_graph_set_launch(g, 0, function, 2, 32, NULL)
                       : NULL;
    if (!s) s = gn_cuda_graph_run(g);
    gn_cuda_graph_free(g);
    return s;
}

static gn_status *scenario(held *h, char *bytes)
{
    enum { N = (4 << 20) + 10 };
    float ms;
    GN_TRY(gn_cuda_driver_open(fake_path(), &h->driver));
    GN_TRY(gn_cuda_device_open(h->driver, 0, &h->device));
    GN_TRY(gn_cuda_alloc(h->device, N, "a", &h->a));
    GN_TRY(gn_cuda_alloc(h->device, N, "b", &h->b));
    GN_TRY(gn_cuda_upload(h->device, h->a, bytes, N));
    GN_TRY(gn_cuda_mark(h->device, 0));
    GN_TRY(record(h->device, h->a, h->b, 1, 100, &h->graph));
    GN_TRY(gn_cuda_graph_run(h->graph));
    GN_TRY(record(h->device, h->a, h->b, 2, 100, &h->graph));
    GN_TRY(gn_cuda_graph_run(h->graph));
    if (gn_cuda_graph_has_nodes(h->graph, 2))
        GN_TRY(gn_cuda_graph_set_copy(h->graph, 1, h->a, h->b, 50));
    GN_TRY(gn_cuda_graph_run(h->graph));
    GN_TRY(gn_cuda_mark(h->device, 1));
    GN_TRY(gn_cuda_between(h->device, &ms));
    GN_TRY(gn_cuda_wait(h->device));
    GN_TRY(launches(h));
    return gn_cuda_download(h->device, bytes, h->a, N);
}

static void let_go(held *h)
{
    if (h->device) {
        gn_cuda_graph_free(h->graph);
        gn_cuda_module_free(h->module);
        gn_cuda_free(h->device, h->a);
        gn_cuda_free(h->device, h->b);
    }
    gn_cuda_device_close(h->device);
    gn_cuda_driver_close(h->driver);
}

/* Whatever call of the driver fails, and whether or not the device is lost by it: an error, and
 * nothing is left. */
START_TEST(every_error)
{
    static const int results[] = {1, GN_CUDA_OUT_OF_MEMORY, GN_CUDA_ILLEGAL_ADDRESS,
                                  GN_CUDA_GRAPH_UPDATE_FAILURE};
    char *bytes = calloc(1, (4 << 20) + 10);
    for (size_t r = 0; r < sizeof results / sizeof *results; r++) {
        int failed = 0;
        for (int nth = 1;; nth++) {
            held h = {0};
            order(NULL, nth, results[r]);
            gn_status *s = scenario(&h, bytes);
            bool over = fails_yet();
            bool lost = s && results[r] == GN_CUDA_ILLEGAL_ADDRESS && h.device;
            if (lost) fails(gn_cuda_wait(h.device), GN_ERR_BACKEND, "is lost");
            order(NULL, 0, 0);
            let_go(&h);
            ck_assert_msg(alive() == 0, "call %d: %d objects are left", nth, alive());
            ck_assert_msg(!fault(), "call %d: %s", nth, fault());
            if (s) ck_assert(strlen(gn_status_message(s)) > 0);
            failed += s != NULL;
            gn_status_free(s);
            if (over) break;
        }
        ck_assert_int_gt(failed, 30);
    }
    order(NULL, 0, 0);
    free(bytes);
}
END_TEST

/* Each call of that function fails, one in a run: an error or none.  How often it is called; *left:
 * by what was held at the end. */
static int each_call(const char *name, int result, int *left)
{
    char *bytes = calloc(1, (4 << 20) + 10);
    int nth = 0;
    for (bool over = false; !over;) {
        held h = {0};
        order(name, ++nth, result);
        gn_status *s = scenario(&h, bytes);
        let_go(&h);
        over = fails_yet();
        order(NULL, 0, 0);
        ck_assert_msg(!over || !s, "%s: %s", name, s ? gn_status_message(s) : "");
        gn_status_free(s);
        *left += alive();
    }
    free(bytes);
    return nth - 1;
}

/* All functions of the driver that are used: nothing is left but what cannot be ended since the
 * context cannot be entered. */
START_TEST(every_function)
{
    static const char *const names[] = {
#define X(name, args) #name,
        GN_CUDA_DRIVER(X)
#undef X
    };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        bool words = !strncmp(names[k], "cuGetError", 10); /* called where another has failed */
        int left = 0;
        if (!strcmp(names[k], "cuCtxPushCurrent_v2")) continue;
        int n = each_call(names[k], _i ? GN_CUDA_LAUNCH_FAILED : 1, &left);
        ck_assert_msg(n > 0 || words, "%s was never called", names[k]);
        ck_assert_msg(!left, "%s: %d objects are left", names[k], left);
        ck_assert_msg(!fault(), "%s: %s", names[k], fault());
    }
}
END_TEST

START_TEST(entering)
{
    int left = 0;
    ck_assert_int_gt(each_call("cuCtxPushCurrent_v2", _i ? GN_CUDA_LAUNCH_FAILED : 1, &left), 20);
}
END_TEST

/* Without words for an error it is told by its number. */
START_TEST(speechless)
{
    gn_cuda_device *d;
    succeeds(gn_cuda_device_open(driver, 0, &d));
    order("cuGetErrorName", 1, 1);
    fails(gn_cuda_error(driver, 1, "trying"), GN_ERR_BACKEND,
          "trying: unknown error (1): ordered by a test");
    order("cuGetErrorString", 1, 1);
    fails(gn_cuda_error(driver, 1, "trying"), GN_ERR_BACKEND,
          "(1): the driver has no words for it");
    gn_cuda_device_close(d);
}
END_TEST

/* A context that cannot be left undoes nothing; where the device is lost by that the next call says
 * so. */
START_TEST(leaving)
{
    gn_cuda_device *d;
    gn_device_ptr p;
    succeeds(gn_cuda_device_open(driver, 0, &d));
    order("cuCtxPopCurrent_v2", 1, _i ? GN_CUDA_LAUNCH_FAILED : 1);
    succeeds(gn_cuda_alloc(d, 8, "a", &p));
    if (_i)
        fails(gn_cuda_wait(d), GN_ERR_BACKEND, "is lost");
    else
        succeeds(gn_cuda_wait(d));
    gn_cuda_free(d, p);
    gn_cuda_device_close(d);
}
END_TEST

/* A recording that cannot be ended takes the device with it. */
START_TEST(endless)
{
    gn_cuda_device *d;
    gn_cuda_graph *g = NULL;
    succeeds(gn_cuda_device_open(driver, 0, &d));
    succeeds(gn_cuda_record_begin(d, 1));
    order("cuCtxPushCurrent_v2", 1, 1);
    fails(gn_cuda_record_end(d, NULL, &g), GN_ERR_BACKEND, "entering");
    ck_assert_ptr_null(g);
    fails(gn_cuda_wait(d), GN_ERR_BACKEND, "is lost");
    gn_cuda_device_close(d);
}
END_TEST

START_TEST(words)
{
    gn_cuda_device *d;
    gn_cuda_module *m;
    succeeds(gn_cuda_device_open(driver, 0, &d));
    fails(gn_cuda_module_load(d, "no image", &m), GN_ERR_BACKEND, "another architecture");
    ck_assert_ptr_null(m);
    fails(gn_cuda_launch(d, d, 0, 32, NULL), GN_ERR_INTERNAL, "0 blocks");
    order("cuStreamSynchronize", 1, GN_CUDA_OUT_OF_MEMORY);
    fails(gn_cuda_wait(d), GN_ERR_NOMEM, "waiting for the device: CUDA_ERROR_OUT_OF_MEMORY (2)");
    order("cuStreamSynchronize", 1, GN_CUDA_LAUNCH_FAILED);
    fails(gn_cuda_wait(d), GN_ERR_BACKEND, "waiting for the device");
    fails(gn_cuda_wait(d), GN_ERR_BACKEND, "device 0 (Fake GPU 0) is lost to this process");
    fails(gn_cuda_copy(d, 1, 2, 1), GN_ERR_BACKEND, "is lost");
    gn_cuda_device_close(d);
}
END_TEST

/* Results after which the driver takes no more work of this process, and some after which it
 * does. */
START_TEST(fatal)
{
    static const int lost[] = {214, 226, 700, 702, 709, 710, 714, 715,
                               716, 717, 718, 719, 721, 810, 911};
    static const int other[] = {1, 46, 400, 600, 701, 720, 809, 900, 999};
    for (size_t k = 0; k < sizeof lost / sizeof *lost + sizeof other / sizeof *other; k++) {
        size_t n = sizeof lost / sizeof *lost;
        gn_cuda_device *d;
        succeeds(gn_cuda_device_open(driver, 0, &d));
        order("cuStreamSynchronize", 1, k < n ? lost[k] : other[k - n]);
        fails(gn_cuda_wait(d), GN_ERR_BACKEND, "waiting for the device");
        if (k < n)
            fails(gn_cuda_wait(d), GN_ERR_BACKEND, "is lost");
        else
            succeeds(gn_cuda_wait(d));
        gn_cuda_device_close(d);
    }
}
END_TEST

/* What must not be done while this thread's stream records, and what the driver's function for it
 * is: the fake driver refuses it and notes it, so the fault stays. */
START_TEST(while_recording)
{
    static const char *const refused[] = {"cuMemAlloc_v2",     "cuEventRecord",
                                          "cuModuleLoadData",  "cuGraphLaunch",
                                          "cuMemAllocHost_v2", "cuGraphExecMemcpyNodeSetParams"};
    gn_cuda_device *d;
    gn_cuda_graph *g = NULL, *other = NULL;
    gn_cuda_module *m;
    gn_device_ptr p, memory;
    succeeds(gn_cuda_device_open(driver, 0, &d));
    succeeds(gn_cuda_alloc(d, 64, "memory", &memory));
    succeeds(gn_cuda_record_begin(d, 1));
    succeeds(gn_cuda_record_end(d, gn_cuda_copy(d, memory, memory + 8, 8), &other));
    succeeds(gn_cuda_record_begin(d, 0));
    gn_status *s = _i == 0   ? gn_cuda_alloc(d, 8, "a", &p)
                   : _i == 1 ? gn_cuda_mark(d, 0)
                   : _i == 2 ? gn_cuda_module_load(d, "fakegpu", &m)
                   : _i == 3 ? gn_cuda_graph_run(other)
                   : _i == 5 ? gn_cuda_graph_set_copy(other, 0, memory + 16, memory, 8)
                             : gn_cuda_upload(d, 0, "x", 1);
    fails(s, GN_ERR_BACKEND, "(900)");
    ck_assert_str_eq(fault(), refused[_i]);
    succeeds(gn_cuda_record_end(d, NULL, &g));
    gn_cuda_graph_free(g);
    gn_cuda_graph_free(other);
    gn_cuda_free(d, memory);
    gn_cuda_device_close(d);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("device"), *misuse = tcase_create("misuse");
    const char *device = getenv("GNNC_TEST_DEVICE");
    tcase_set_timeout(t, 60);
    real = device && *device;
    if (real) {
        tcase_add_checked_fixture(t, setup_real, leave);
        tcase_add_test(t, round_trip);
        tcase_add_test(t, replay);
        tcase_add_test(t, nodes);
        tcase_add_test(t, no_nodes);
        tcase_add_test(t, copy_rate);
        return RUN_CASES("cuda_device", t, misuse);
    }
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, missing);
    tcase_add_test(t, devices);
    tcase_add_test(t, round_trip);
    tcase_add_test(t, too_much);
    tcase_add_test(t, copy_rate);
    tcase_add_loop_test(t, no_copy_rate, 0, 5);
    tcase_add_test(t, replay);
    tcase_add_test(t, nodes);
    tcase_add_test(t, no_nodes);
    tcase_add_test(t, every_error);
    tcase_add_loop_test(t, every_function, 0, 2);
    tcase_add_loop_test(t, leaving, 0, 2);
    tcase_add_test(t, speechless);
    tcase_add_test(t, endless);
    tcase_add_test(t, words);
    tcase_add_test(t, fatal);
    tcase_add_checked_fixture(misuse, setup, leave);
    tcase_add_loop_test(misuse, entering, 0, 2);
    tcase_add_loop_test(misuse, while_recording, 0, 6);
    return RUN_CASES("cuda_device", t, misuse);
}
