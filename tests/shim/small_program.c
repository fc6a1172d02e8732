#include "shim/small_program.h"

#include "support/suite.h"

#include <check.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

fake_alive_fn *alive;
fake_calls_fn *calls;
fake_fault_fn *fault;
fake_fail_fn *order;
fake_devices_fn *set_devices;
static gn_cuda_driver *driver;
gn_cuda_device *device;
gn_cuda_memory *memory;
gn_cuda_module *module;
gn_pool *pool;

void succeeds(gn_status *s) { ck_assert_msg(!s, "%s", gn_status_message(s)); }

/* Kernels -------------------------------------------------------------------------------------- */

unsigned long long seen[LAST][ARGUMENTS];
unsigned seen_blocks;
int n_seen;

static int find(void *code, const char *name)
{
    (void)code;
    return name[0] - '0';
}

static int arguments(void *code, int kernel)
{
    (void)code;
    return kernel == 2 ? -ARGUMENTS : 3;
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

static const fake_image image = {"fakegpu", NULL, find, arguments, launch, NULL};

static gn_sym syms[] = {{.name = "n", .kind = GN_SYM_ROWS, .graph = -1, .of = X}};
#define ROWS {.coef = 1, .sym = 0}
#define SLOT(k, n, ...)                                                                            \
    {.kind = k,                                                                                    \
     .name = n,                                                                                    \
     .elem = GN_F32,                                                                               \
     .elems = ROWS,                                                                                \
     .row_elems = 1,                                                                               \
     .graph = -1,                                                                                  \
     .alias = -1,                                                                                  \
     .edge_graph = -1,                                                                             \
     __VA_ARGS__}
static gn_slot slots[] = {SLOT(GN_SLOT_INPUT, "x", .first = -1, .last = -1),
                          SLOT(GN_SLOT_TEMP, NULL, .first = 0, .last = 2),
                          SLOT(GN_SLOT_OUTPUT, "z", .first = -1, .last = -1),
                          SLOT(GN_SLOT_OUTPUT, "w", .first = -1, .last = -1),
                          SLOT(GN_SLOT_OUTPUT, "u", .first = -1, .last = -1)};
static int of_0[] = {X, T}, of_1[] = {T, Z}, of_3[] = {X, U}, sym_0[] = {0};
int of_2[] = {W, T};
static const uint8_t reads_writes[] = {GN_READS, GN_WRITES}, writes_reads[] = {GN_WRITES, GN_READS};
#define KERNEL(name_, number, bufs)                                                                \
    {.name = name_,                                                                                \
     .kernel = number,                                                                             \
     .n_buf = 2,                                                                                   \
     .n_sym = 1,                                                                                   \
     .buf = bufs,                                                                                  \
     .sym = sym_0,                                                                                 \
     .access = reads_writes,                                                                       \
     .trip = ROWS,                                                                                 \
     .step = 1,                                                                                    \
     .parallel = true}
gn_launch launches[] = {KERNEL("double", 0, of_0),
                        KERNEL("next", 1, of_1),
                        {.kind = GN_LAUNCH_COPY,
                         .name = "copy",
                         .kernel = -1,
                         .n_buf = 2,
                         .buf = of_2,
                         .access = writes_reads,
                         .trip = {.coef = 1, .sym = -1},
                         .step = 1},
                        KERNEL("apart", 2, of_3)};
static gn_kernel_fn none[3];
static gn_cuda_code code[3];
gn_cuda_program program;

gn_artifact artifact(void)
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

void setup(void)
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

void teardown(void)
{
    gn_pool_free(pool);
    gn_cuda_memory_free(memory);
    gn_cuda_module_free(module);
    gn_cuda_device_close(device);
    ck_assert_int_eq(alive(), 0);
    ck_assert_msg(!fault(), "%s", fault());
    gn_cuda_driver_close(driver);
}

/* Running -------------------------------------------------------------------------------------- */

gn_instance *bind_rows(const gn_artifact *a, float *x, int64_t n)
{
    gn_instance *in;
    for (int64_t k = 0; k < n; k++) x[k] = (float)k + 0.5f;
    gn_binding b = {"x", GN_F32, n, 1, x};
    succeeds(gn_instance_new(a, 0, NULL, 1, &b, pool, NULL, &in));
    return in;
}

void holds(gn_instance *in, const char *name, int64_t n, float times, float plus)
{
    succeeds(gn_instance_fetch(in, name));
    const float *got = gn_instance_output(in, name, NULL);
    for (int64_t k = 0; k < n; k++)
        ck_assert_msg(got[k] == times * ((float)k + 0.5f) + plus, "%s[%d] is %g", name, (int)k,
                      (double)got[k]);
}

void is_right(gn_instance *in, int64_t n)
{
    gn_instance_run(in);
    holds(in, "z", n, 2, 1);
    holds(in, "w", n, 2, 0);
    holds(in, "u", n, 1, 1);
}
