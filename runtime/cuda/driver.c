#include "runtime/cuda/driver.h"

#include "base/processor.h"
#include "runtime/memory.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const places[] = {
    "libcuda.so.1",
    "libcuda.so",
    "/usr/lib/" GN_MULTIARCH "/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1", /* where containers have the driver mounted */
    "/usr/local/cuda/compat/libcuda.so.1",
};
enum { PLACES = sizeof places / sizeof *places };

static gn_status *not_found(void)
{
    char all[512] = "";
    for (int k = 0; k < PLACES; k++) {
        size_t n = strlen(all);
        (void)snprintf(all + n, sizeof all - n, "%s%s", k ? ", " : "", places[k]);
    }
    GN_FAIL(
        GN_ERR_BACKEND,
        "no CUDA driver was found: looked for %s\n"
        "install NVIDIA's driver (Debian: nvidia-driver), or name its libcuda in GNNC_CUDA_DRIVER",
        all);
}

static gn_status *load(gn_cuda_driver *d, const char *path)
{
    const char *asked = path ? path : getenv("GNNC_CUDA_DRIVER");
    if (asked && !*asked) asked = NULL;
    for (int k = 0; !d->library && k < (asked ? 1 : PLACES); k++) {
        const char *name = asked ? asked : places[k];
        d->library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (d->library && !(d->path = strdup(name))) GN_FAIL(GN_ERR_NOMEM, "out of memory: a path");
    }
    if (d->library) return NULL;
    if (asked) GN_FAIL(GN_ERR_BACKEND, "the CUDA driver cannot be loaded: %s", dlerror());
    return not_found();
}

static gn_status *find_symbols(gn_cuda_driver *d)
{
    const char *name;
    void *at;
#define X(function, args)                                                                          \
    name = #function;                                                                              \
    at = dlsym(d->library, name);                                                                  \
    if (!at) goto missing;                                                                         \
    _Static_assert(sizeof at == sizeof d->function, "functions are pointers");                     \
    memcpy(&d->function, &at, sizeof at);
    GN_CUDA_DRIVER(X)
#undef X
    return NULL;
missing:
    GN_FAIL(GN_ERR_BACKEND, "%s has no %s: a driver for CUDA 12.0 or newer is needed", d->path,
            name);
}

gn_status *gn_cuda_error(const gn_cuda_driver *d, int result, const char *doing)
{
    if (result == GN_CUDA_OK) return NULL;
    const char *name = NULL, *text = NULL, *hint = "";
    if (d->cuGetErrorName(result, &name) || !name) name = "unknown error";
    if (d->cuGetErrorString(result, &text) || !text) text = "the driver has no words for it";
    switch (result) {
    case GN_CUDA_STUB_LIBRARY:
        hint = "\nthis libcuda is the toolkit's stub for linking: put the driver's before it";
        break;
    case GN_CUDA_NO_DEVICE:
        hint = "\nno GPU is visible: see nvidia-smi and CUDA_VISIBLE_DEVICES";
        break;
    case GN_CUDA_INVALID_IMAGE:
    case GN_CUDA_NO_BINARY:
        hint = "\nthe code was compiled for another architecture than the device has, or for newer "
               "drivers";
        break;
    case GN_CUDA_DRIVER_MISMATCH:
        hint = "\nlibcuda and the kernel's driver differ in version: restart the machine";
        break;
    default: break;
    }
    gn_code code = result == GN_CUDA_OUT_OF_MEMORY ? GN_ERR_NOMEM : GN_ERR_BACKEND;
    GN_FAIL(code, "%s: %s (%d): %s%s", doing, name, result, text, hint);
}

static gn_status *start(gn_cuda_driver *d, const char *path)
{
    GN_TRY(load(d, path));
    GN_TRY(find_symbols(d));
    GN_TRY(gn_cuda_error(d, d->cuInit(0), "starting the CUDA driver"));
    return gn_cuda_error(d, d->cuDriverGetVersion(&d->version),
                         "asking the CUDA driver for its version");
}

gn_status *gn_cuda_driver_open(const char *path, gn_cuda_driver **out)
{
    void *block;
    *out = NULL;
    GN_TRY(gn_block_zeroed(1, sizeof(gn_cuda_driver), "the driver's table", &block));
    gn_cuda_driver *d = block;
    gn_status *s = start(d, path);
    if (s) {
        gn_cuda_driver_close(d);
        return s;
    }
    *out = d;
    return NULL;
}

void gn_cuda_driver_close(gn_cuda_driver *d)
{
    if (!d) return;
    if (d->library)
        (void)dlclose(d->library); /* it stays in memory: a driver has threads of its own */
    free(d->path);
    gn_block_free(d);
}
