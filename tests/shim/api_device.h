/* What tests of the public API on a device share: the fake driver, with kernels that the host runs,
 * and contexts on it. */
#ifndef TESTS_SHIM_API_DEVICE_H
#define TESTS_SHIM_API_DEVICE_H

#include "api/api.h"
#include "shim/fake_target.h"
#include "support/api_life.h"

#include <dlfcn.h>
#include <math.h>
#include <unistd.h>

static fake_target fake; /* whose modules outlive contexts: what is in the cache points to them */
static char dir[32];
static fake_alive_fn *alive;
static fake_fault_fn *fault;
static fake_fail_fn *order;
static fake_fails_fn *fails_yet;
static fake_devices_fn *devices;
static void *driver;

static inline const char *gpu(void) { return getenv("GNNC_TEST_DEVICE"); }

static inline void look_up(void *to, const char *name)
{
    void *at = dlsym(driver, name);
    ck_assert(at != NULL);
    memcpy(to, &at, sizeof at);
}

static inline void enter(void)
{
    strcpy(dir, "/tmp/gnnc-cuda-api-XXXXXX");
    ck_assert(mkdtemp(dir) != NULL);
    fake_target_begin(&fake);
    if (gpu()) return;
    setenv("GNNC_CUDA_DRIVER", getenv("GNNC_FAKE_CUDA"), 1);
    driver = dlopen(getenv("GNNC_FAKE_CUDA"), RTLD_NOW);
    ck_assert_msg(driver != NULL, "%s", dlerror());
    look_up(&alive, "fake_alive");
    look_up(&fault, "fake_fault");
    look_up(&order, "fake_fail");
    look_up(&fails_yet, "fake_fails");
    look_up(&devices, "fake_devices");
}

static inline void leave(void)
{
    remove_all(dir);
    if (driver) {
        ck_assert_msg(!fault(), "%s", fault());
        ck_assert_int_eq(alive(), 0);
        dlclose(driver);
    }
    fake_target_end(&fake);
}

/* A context on the device; kernels are compiled once a test. */
static inline gnnc_status *open_device(gnnc_context_options o, gnnc_context **out)
{
    o.size = sizeof o;
    o.cache_dir = dir;
    o.device = gpu() ? gpu() : "cuda";
    gnnc_status *s = gnnc_context_new(&o, out);
    if (!s && !gpu()) fake_target_equip(&fake, (*out)->target);
    return s;
}

static inline gnnc_context *device_context(void)
{
    gnnc_context *c;
    ok(open_device((gnnc_context_options){0}, &c));
    return c;
}

#endif
