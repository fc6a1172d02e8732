/* links: runtime base */
/* Instances on a device, over the fake driver with kernels written in C: launches, copies, recorded graphs that are kept for
 * shapes that come again, programs in one kernel. */
#include "runtime/cuda/instance.h"
#include "runtime/cuda/keep.h"
#include "runtime/memory.h"

#include "fake_driver.h"
#include "support/suite.h"

#include <check.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static fake_alive_fn *alive;
static fake_calls_fn *calls;
static fake_fault_fn *fault;
static fake_fail_fn *order;
static fake_devices_fn *set_devices;
static gn_cuda_driver *driver;
static gn_cuda_device *device;
static gn_cuda_memory *memory;
static gn_cuda_module *module;
static gn_pool *pool;

static void succeeds(gn_status *s) { ck_assert_msg(!s, "%s", gn_status_message(s)); }

/* Kernels ----------------------------------------------------------------------------------------------------------- */

/* 0: y = 2 x; 1: y = x + 1; both (x, y, n) with 4 iterations a block.  2: a program in one kernel, whose arguments are kept, of
 * the last launches. */
enum { ARGUMENTS = 12, LAST = 8 };
static unsigned long long seen[LAST][ARGUMENTS];
static unsigned seen_blocks;
static int n_seen;

static int find(void *code, const char *name)
{
    (void)code;
    return name[0] - '0';
}

static int arguments(void *code, int kernel)
{
    (void)code;
    return kernel == 2 ? ARGUMENTS : 3;
}

static int launch(void *code, int kernel, unsigned blocks, unsigned threads, int together,
                  const unsigned long long *value)
{
    const float *x = (const float *)(uintptr_t)value[0];
    float *y = (float *)(uintptr_t)value[1];
    (void)code;
    if (threads != 4 || together != (kernel == 2)) return 1;
    if (kernel == 2) {
        memcpy(seen[n_seen++ % LAST], value, sizeof *seen);
        seen_blocks = blocks;
        return 0;
    }
    if (blocks != (value[2] + 3) / 4) return 1;
    for (unsigned long long k = 0; k < value[2]; k++) y[k] = kernel ? x[k] + 1 : 2 * x[k];
    return 0;
}

static const fake_image image = {"fakegpu", NULL, find, arguments, launch};

/* z = 2 x + 1 by way of t; w, a copy of t; u = x + 1, which waits for nobody. */
enum { X, T, Z, W, U, SLOTS };
static gn_sym syms[] = {{.name = "n", .kind = GN_SYM_ROWS, .graph = -1, .of = X}};
#define ROWS {.coef = 1, .sym = 0}
#define SLOT(k, n, ...)                                                                                                \
    {.kind = k,                                                                                                        \
     .name = n,                                                                                                        \
     .elem = GN_F32,                                                                                                   \
     .elems = ROWS,                                                                                                    \
     .row_elems = 1,                                                                                                   \
     .graph = -1,                                                                                                      \
     .alias = -1,                                                                                                      \
     .edge_graph = -1,                                                                                                 \
     __VA_ARGS__}
static gn_slot slots[] = {
    SLOT(GN_SLOT_INPUT, "x", .first = -1, .last = -1), SLOT(GN_SLOT_TEMP, NULL, .first = 0, .last = 2),
    SLOT(GN_SLOT_OUTPUT, "z", .first = -1, .last = -1), SLOT(GN_SLOT_OUTPUT, "w", .first = -1, .last = -1),
    SLOT(GN_SLOT_OUTPUT, "u", .first = -1, .last = -1)};
static int of_0[] = {X, T}, of_1[] = {T, Z}, of_2[] = {W, T}, of_3[] = {X, U}, sym_0[] = {0};
static const uint8_t reads_writes[] = {GN_READS, GN_WRITES}, writes_reads[] = {GN_WRITES, GN_READS};
#define KERNEL(name_, number, bufs)                                                                                    \
    {.name = name_,                                                                                                    \
     .kernel = number,                                                                                                 \
     .n_buf = 2,                                                                                                       \
     .n_sym = 1,                                                                                                       \
     .buf = bufs,                                                                                                      \
     .sym = sym_0,                                                                                                     \
     .access = reads_writes,                                                                                           \
     .trip = ROWS,                                                                                                     \
     .step = 1,                                                                                                        \
     .parallel = true,                                                                                                 \
     .balance_graph = -1}
static gn_launch launches[] = {KERNEL("double", 0, of_0),
                               KERNEL("next", 1, of_1),
                               {.kind = GN_LAUNCH_COPY,
                                .name = "copy",
                                .kernel = -1,
                                .n_buf = 2,
                                .buf = of_2,
                                .access = writes_reads,
                                .trip = {.coef = 1, .sym = -1},
                                .step = 1,
                                .balance_graph = -1},
                               KERNEL("apart", 2, of_3)};
static gn_kernel_fn none[3];
static gn_cuda_code code[3];
static gn_cuda_program program;

static gn_artifact artifact(void)
{
    return (gn_artifact){.name = "test",
                         .n_syms = 1,
                         .n_slots = SLOTS,
                         .n_launches = 4,
                         .n_code = 3,
                         .syms = syms,
                         .slots = slots,
                         .launches = launches,
                         .code = none,
                         .remote = gn_cuda_memory_remote(memory),
                         .remote_code = &program};
}

static void find_fake(const char *name, void *out)
{
    void *at = dlsym(driver->library, name);
    ck_assert_ptr_nonnull(at);
    memcpy(out, &at, sizeof at);
}

static void setup(void)
{
    static const int function[] = {0, 1, 1};
    succeeds(gn_cuda_driver_open(getenv("GNNC_FAKE_CUDA"), &driver));
    find_fake("fake_alive", &alive);
    find_fake("fake_calls", &calls);
    find_fake("fake_fault", &fault);
    find_fake("fake_fail", &order);
    find_fake("fake_devices", &set_devices);
    set_devices(1, 1 << 30);
    succeeds(gn_cuda_device_open(driver, 0, &device));
    succeeds(gn_cuda_memory_new(device, &memory));
    succeeds(gn_cuda_module_load(device, &image, &module));
    succeeds(gn_pool_new(1, &pool));
    for (int k = 0; k < 3; k++) {
        const char name[] = {(char)('0' + function[k]), 0};
        code[k] = (gn_cuda_code){.threads = 4, .per_block = 4};
        succeeds(gn_cuda_module_function(module, name, &code[k].function));
    }
    program = (gn_cuda_program){.kernels = code};
}

static void teardown(void)
{
    gn_pool_free(pool);
    gn_cuda_memory_free(memory);
    gn_cuda_module_free(module);
    gn_cuda_device_close(device);
    ck_assert_int_eq(alive(), 0);
    ck_assert_msg(!fault(), "%s", fault());
    gn_cuda_driver_close(driver);
}

/* Running ----------------------------------------------------------------------------------------------------------- */

static gn_instance *bind(const gn_artifact *a, float *x, int64_t n)
{
    gn_instance *in;
    for (int64_t k = 0; k < n; k++) x[k] = (float)k + 0.5f;
    gn_binding b = {"x", GN_F32, n, 1, x};
    succeeds(gn_instance_new(a, 0, NULL, 1, &b, pool, NULL, &in));
    return in;
}

static void holds(gn_instance *in, const char *name, int64_t n, float times, float plus)
{
    succeeds(gn_instance_fetch(in, name));
    const float *got = gn_instance_output(in, name, NULL);
    for (int64_t k = 0; k < n; k++)
        ck_assert_msg(got[k] == times * ((float)k + 0.5f) + plus, "%s[%d] is %g", name, (int)k, (double)got[k]);
}

static void is_right(gn_instance *in, int64_t n)
{
    gn_instance_run(in);
    holds(in, "z", n, 2, 1);
    holds(in, "w", n, 2, 0);
    holds(in, "u", n, 1, 1);
}

/* Launch by launch, recorded, replayed. */
START_TEST(one_by_one)
{
    gn_artifact a = artifact();
    float x[9];
    gn_instance *in = bind(&a, x, 9);
    is_right(in, 9);
    succeeds(gn_instance_one_region(in));
    is_right(in, 9);
    is_right(in, 9);
    gn_instance_free(in);
}
END_TEST

/* What has no room is told with what the program takes in all, and leaves nothing. x, z, w and u have 4,000 bytes each, t is the
 * arena's 4,032. */
START_TEST(no_room)
{
    enum { N = 1000 };
    static float x[N];
    gn_artifact a = artifact();
    gn_instance *in = NULL;
    gn_binding b = {"x", GN_F32, N, 1, x};
    static const struct {
        unsigned long long room;
        bool held; /* x is there, for something else */
        const char *what, *there;
    } devices[] = {
        {4000, false, "the arena of temporaries of test takes 4032 bytes, 4000 of 4000 are free", "0 are there"},
        {10000, false, "z takes 4000 bytes, 1968 of 10000 are free", "4032 are there"},
        {10000, true, "z takes 4000 bytes, 1968 of 10000 are free", "8032 are there"}};
    set_devices(1, devices[_i].room);
    if (devices[_i].held) succeeds(gn_cuda_memory_hold(memory, x, sizeof x, "x"));
    gn_status *s = gn_instance_new(&a, 0, NULL, 1, &b, pool, NULL, &in);
    ck_assert_int_eq(gn_status_code(s), GN_ERR_NOMEM);
    ck_assert_msg(strstr(gn_status_message(s), devices[_i].what) != NULL, "%s", gn_status_message(s));
    ck_assert_msg(strstr(gn_status_message(s),
                         "test takes 20032 bytes there in all: 4032 of temporaries, 16000 of data, graphs "
                         "and results; ") != NULL,
                  "%s", gn_status_message(s));
    ck_assert_msg(strstr(gn_status_message(s), devices[_i].there) != NULL, "%s", gn_status_message(s));
    gn_status_free(s);
    if (devices[_i].held) gn_cuda_memory_drop(memory, x);
    set_devices(1, 1 << 30);
    in = bind(&a, x, N); /* and it goes on */
    is_right(in, N);
    gn_instance_free(in);
}
END_TEST

/* Graphs that are kept ---------------------------------------------------------------------------------------------- */

static const char made[] = "cuGraphInstantiateWithFlags", updated[] = "cuGraphExecUpdate_v2";

/* A new instance for n rows runs twice; how many graphs it made. */
static int meets(const gn_artifact *a, int64_t n, float *x)
{
    gn_instance *in = bind(a, x, n);
    succeeds(gn_instance_one_region(in));
    (void)calls(made);
    is_right(in, n);
    is_right(in, n);
    int count = calls(made);
    gn_instance_free(in);
    return count;
}

/* One graph for all sizes of as many blocks, and one for each other number. */
START_TEST(shapes_again)
{
    gn_artifact a = artifact();
    static float x[64];
    int64_t bytes;
    ck_assert_int_eq(meets(&a, 5, x), 1);
    ck_assert_int_eq(meets(&a, 40, x), 1);
    for (int round = 0; round < 3; round++) {
        ck_assert_int_eq(meets(&a, 5, x), 0);
        ck_assert_int_eq(meets(&a, 40, x), 0);
    }
    ck_assert_int_eq(gn_cuda_memory_graphs(memory, &bytes), 2);
    ck_assert_int_gt(bytes, 2 * 4 * 1024);
    ck_assert_int_lt(bytes, 1 << 20);
}
END_TEST

/* Two instances at once have a graph each; a third takes over what the first leaves, with other addresses. */
START_TEST(two_alive)
{
    gn_artifact a = artifact();
    static float x[8], y[8];
    gn_instance *one = bind(&a, x, 8), *two = bind(&a, y, 8);
    succeeds(gn_instance_one_region(one));
    succeeds(gn_instance_one_region(two));
    (void)calls(made);
    is_right(one, 8);
    is_right(two, 8);
    is_right(one, 8);
    ck_assert_int_eq(calls(made), 2);
    gn_instance_free(one);
    float z[8];
    (void)calls(updated);
    gn_instance *three = bind(&a, z, 8);
    succeeds(gn_instance_one_region(three));
    is_right(three, 8);
    ck_assert_int_eq(calls(updated), 1);
    is_right(two, 8);
    gn_instance_free(three);
    gn_instance_free(two);
    ck_assert_int_eq(gn_cuda_memory_graphs(memory, NULL), 2);
}
END_TEST

/* A graph in which nothing is launched is one like others. */
START_TEST(no_rows)
{
    gn_artifact a = artifact();
    static float x[1];
    int64_t bytes;
    ck_assert_int_eq(meets(&a, 0, x), 1);
    ck_assert_int_eq(gn_cuda_memory_graphs(memory, &bytes), 1);
    ck_assert_int_ge(bytes, GN_CUDA_NODE_BYTES);
    ck_assert_int_eq(meets(&a, 0, x), 0);
    ck_assert_int_eq(gn_cuda_memory_graphs(memory, NULL), 1);
}
END_TEST

/* Before a module goes no graph may launch what is in it; what comes later is kept again. */
START_TEST(forgotten)
{
    gn_artifact a = artifact();
    static float x[64];
    int64_t bytes;
    ck_assert_int_eq(meets(&a, 4, x), 1);
    ck_assert_int_eq(meets(&a, 8, x), 1);
    gn_cuda_memory_forget_graphs(memory);
    ck_assert_int_eq(gn_cuda_memory_graphs(memory, &bytes), 0);
    ck_assert_int_eq(bytes, 0);
    ck_assert_int_eq(meets(&a, 4, x), 1);
    ck_assert_int_eq(gn_cuda_memory_graphs(memory, NULL), 1);
    ck_assert_int_eq(meets(&a, 4, x), 0);
}
END_TEST

static gn_cuda_graph *recorded(void)
{
    gn_cuda_graph *g = NULL;
    succeeds(gn_cuda_record_begin(device));
    succeeds(gn_cuda_record_end(device, NULL, &g));
    return g;
}

/* One node, with as many blocks and that value. */
static gn_cuda_work *work_of(gn_cuda_graph *g, uint64_t blocks, uint64_t value)
{
    gn_cuda_work *w;
    succeeds(gn_cuda_work_new(4, &w));
    memcpy(w->word, ((const uint64_t[]){7, blocks, 1, value}), 4 * sizeof(uint64_t));
    w->n = 4;
    w->nodes = 1;
    w->graph = g;
    return w;
}

static gn_cuda_graph *take(gn_cuda_keep *k, uint64_t blocks, uint64_t value, bool *same)
{
    gn_cuda_work *w = work_of(NULL, blocks, value);
    gn_cuda_graph *g = gn_cuda_keep_take(k, w, same);
    gn_block_free(w);
    return g;
}

static bool is_kept(gn_cuda_keep *k, uint64_t blocks)
{
    bool same;
    gn_cuda_graph *g = take(k, blocks, 1, &same);
    if (g) gn_cuda_keep_put(k, work_of(g, blocks, 1));
    return g != NULL;
}

/* Above the cap the one that was used longest ago goes. */
START_TEST(longest_ago)
{
    gn_cuda_keep k;
    gn_cuda_keep_init(&k);
    gn_cuda_keep_put(&k, work_of(recorded(), 1, 1));
    int64_t one = k.bytes;
    gn_cuda_keep_put(&k, work_of(recorded(), 2, 1));
    ck_assert_int_eq(k.bytes, 2 * one);
    gn_cuda_keep_limit(&k, 2 * one);
    ck_assert_int_eq(k.n, 2);
    ck_assert(is_kept(&k, 1));
    gn_cuda_keep_put(&k, work_of(recorded(), 3, 1)); /* that of 2 blocks goes */
    ck_assert(k.n == 2 && is_kept(&k, 3) && is_kept(&k, 1) && !is_kept(&k, 2));
    gn_cuda_keep_limit(&k, one);
    ck_assert(k.n == 1 && k.bytes == one && is_kept(&k, 1));
    gn_cuda_keep_limit(&k, one - 1);
    ck_assert(k.n == 0 && k.bytes == 0);
    gn_cuda_keep_put(&k, work_of(recorded(), 1, 1)); /* not one fits */
    ck_assert(k.n == 0 && k.bytes == 0);
}
END_TEST

/* What does just the same is taken before what would have to be updated, and said to. */
START_TEST(same_work)
{
    gn_cuda_keep k;
    gn_cuda_graph *a = recorded(), *b = recorded();
    bool same;
    gn_cuda_keep_init(&k);
    gn_cuda_keep_put(&k, work_of(a, 1, 100));
    gn_cuda_keep_put(&k, work_of(b, 1, 101));
    ck_assert_ptr_null(take(&k, 2, 100, &same));
    ck_assert_ptr_eq(take(&k, 1, 101, &same), b);
    ck_assert(same);
    ck_assert_ptr_eq(take(&k, 1, 101, &same), a);
    ck_assert(!same);
    ck_assert_ptr_null(take(&k, 1, 100, &same));
    gn_cuda_graph_free(a);
    gn_cuda_keep_put(&k, work_of(b, 1, 100));
    gn_cuda_keep_limit(&k, 0);
    ck_assert_int_eq(k.n, 0);
    ck_assert_int_eq(k.bytes, 0);
}
END_TEST

/* Programs in one kernel -------------------------------------------------------------------------------------------- */

static const int64_t four[] = {4, 4, 4, 4};

/* The values of the launch before the last `ago` ones. */
static const unsigned long long *launched(int ago) { return seen[(n_seen - 1 - ago) % LAST]; }

static void turns_are(const unsigned long long *value, const int64_t *turn)
{
    for (int k = 0; k < 4; k++)
        ck_assert_msg((int64_t)value[SLOTS + 2 + k] == turn[k], "turn %d is %d, not %d", k, (int)value[SLOTS + 2 + k],
                      (int)turn[k]);
}

/* Timed launch by launch, each has a turn alone, from the first block on; the next run is as the one before. */
static void timed_alone(gn_instance *in, const int64_t *turn)
{
    int64_t ns[4] = {0}, runs;
    int before = n_seen;
    gn_instance_profile(in, true);
    gn_instance_run(in);
    succeeds(gn_instance_check(in));
    gn_instance_times(in, ns, &runs);
    ck_assert_int_eq(n_seen - before, 4);
    for (int k = 0; k < 4; k++) {
        int64_t alone[4] = {0};
        alone[k] = turn[k] & 1;
        turns_are(launched(3 - k), alone);
        ck_assert_int_eq(ns[k], 1000000); /* what the fake driver's events say of everything */
    }
    gn_instance_profile(in, false);
    gn_instance_run(in);
    succeeds(gn_instance_wait(in));
    turns_are(launched(0), turn);
}

/* The program is the one kernel. */
static gn_artifact in_one(gn_cuda_whole_code *whole, int64_t resident)
{
    void *function;
    succeeds(gn_cuda_module_function(module, "2", &function));
    *whole = (gn_cuda_whole_code){.function = function, .threads = 4, .resident = resident, .per_block = four};
    program = (gn_cuda_program){.whole = whole};
    return artifact();
}

/* Blocks meet before what waits for others, alone; what waits for nobody begins where the others end. */
static void turns_of(int64_t resident, int64_t rows, unsigned blocks, const int64_t *turn)
{
    static float x[64];
    gn_cuda_whole_code whole;
    gn_artifact a = in_one(&whole, resident);
    gn_instance *in = bind(&a, x, rows);
    gn_instance_run(in);
    succeeds(gn_instance_wait(in));
    const unsigned long long *value = launched(0);
    ck_assert_uint_eq(seen_blocks, blocks);
    ck_assert_uint_eq(value[SLOTS], (unsigned)rows);         /* the symbol */
    ck_assert_uint_eq(value[SLOTS + 1], 4 * (unsigned)rows); /* bytes of the copy */
    turns_are(value, turn);
    for (int k = 0; k < SLOTS; k++) ck_assert_uint_ne(value[k], 0);
    timed_alone(in, turn);
    gn_instance_free(in);
}

#define TURN(run, meet, first) ((first) << 2 | (meet) << 1 | (run))

START_TEST(in_one_kernel)
{
    /* each takes as many blocks; next and copy wait for double; apart does not, and begins after them */
    turns_of(4, 4, 3, (const int64_t[]){TURN(1, 0, 0), TURN(1, 1, 0), TURN(1, 0, 1), TURN(1, 0, 2)});
    turns_of(4, 9, 4, (const int64_t[]){TURN(1, 0, 0), TURN(1, 1, 0), TURN(1, 0, 3), TURN(1, 0, 2)});
    turns_of(1, 9, 1, (const int64_t[]){TURN(1, 0, 0), TURN(1, 1, 0), TURN(1, 0, 0), TURN(1, 0, 0)});
    turns_of(4, 0, 1, (const int64_t[]){0, 0, 0, 0});
    static int from_w[] = {W, U};
    of_2[0] = T; /* a copy to where it is: as if it were not there */
    launches[3].buf = from_w;
    turns_of(4, 4, 2, (const int64_t[]){TURN(1, 0, 0), TURN(1, 1, 0), TURN(0, 0, 1), TURN(1, 0, 1)});
    of_2[0] = W;
    static int to_t[] = {U, T}; /* written when next and copy have read it */
    launches[3].buf = to_t;
    turns_of(4, 4, 2, (const int64_t[]){TURN(1, 0, 0), TURN(1, 1, 0), TURN(1, 0, 1), TURN(1, 1, 0)});
}
END_TEST

/* Where blocks meet is made for the first program of that form: where that fails the next one makes it, and it is 0. */
START_TEST(gate)
{
    static const char *const calls_that_fail[] = {"cuMemAlloc_v2", "cuMemcpyHtoDAsync_v2"};
    gn_cuda_whole_code whole;
    gn_artifact a = in_one(&whole, 4);
    float x[4] = {0};
    gn_instance *in = NULL;
    gn_binding b = {"x", GN_F32, 4, 1, x};
    for (int k = 0; k < 2; k++) { /* both stages that copies take turns in are there from now on */
        succeeds(gn_cuda_memory_hold(memory, x, sizeof x, "x"));
        gn_cuda_memory_drop(memory, x);
    }
    int before = alive();
    order(calls_that_fail[_i], 1, 1);
    gn_status *s = gn_instance_new(&a, 0, NULL, 1, &b, pool, NULL, &in);
    order(NULL, 0, 0);
    ck_assert_msg(s && strstr(gn_status_message(s), "CUDA_ERROR"), "%s", gn_status_message(s));
    gn_status_free(s);
    ck_assert_int_eq(alive(), before);
    for (int k = 0; k < 2; k++) { /* and it is there for good */
        in = bind(&a, x, 4);
        gn_instance_run(in);
        succeeds(gn_instance_wait(in));
        uint32_t *at = (uint32_t *)(uintptr_t)launched(0)[ARGUMENTS - 1];
        ck_assert_msg(at && *at == (k ? 7 : 0), "%u", at ? (unsigned)*at : 0);
        *at = 7;
        gn_instance_free(in);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("instances");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, one_by_one);
    tcase_add_loop_test(t, no_room, 0, 3);
    tcase_add_test(t, shapes_again);
    tcase_add_test(t, two_alive);
    tcase_add_test(t, no_rows);
    tcase_add_test(t, forgotten);
    tcase_add_test(t, same_work);
    tcase_add_test(t, longest_ago);
    tcase_add_test(t, in_one_kernel);
    tcase_add_loop_test(t, gate, 0, 2);
    return RUN_CASES("cuda_instance", t);
}
