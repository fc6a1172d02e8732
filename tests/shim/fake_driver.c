/* A CUDA driver for machines without a GPU: the functions of runtime/cuda/driver.h over memory of
 * the process.
 *
 * Strict where the real one is lenient: a copy outside of what is allocated, a handle that is none,
 * a context that is not current, calls that a thread whose stream records must not make, a module
 * unloaded that a graph launches are noted as faults, which tests look at.  Work runs at once
 * (fake_work.c).  Fresh memory holds 0xA5.  A module's image says who runs its kernels
 * (fake_image). */
#include "fake_objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Devices -------------------------------------------------------------------------------------- */

API(cuInit, unsigned flags)
{
    (void)flags;
    ENTER();
    return OK;
}

API(cuDriverGetVersion, int *version)
{
    ENTER();
    const char *asked = getenv("FAKE_CUDA_VERSION"); /* for programs that are run */
    *version = asked ? atoi(asked) : 13000;
    return OK;
}

API(cuGetErrorName, int result, const char **name)
{
    *name = result == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_THE_FAKE_DRIVER";
    return fake_ended(__func__);
}

API(cuGetErrorString, int result, const char **text)
{
    (void)result;
    *text = "ordered by a test";
    return fake_ended(__func__);
}

API(cuDeviceGetCount, int *n)
{
    ENTER();
    *n = fake.devices;
    return fake.devices ? OK : NO_DEVICE;
}

API(cuDeviceGet, int *device, int ordinal)
{
    ENTER();
    *device = HANDLE + ordinal;
    return ordinal >= 0 && ordinal < fake.devices ? OK : INVALID_DEVICE;
}

/* A handle is what cuDeviceGet said, which is not the ordinal here. */
static bool is_device(int device)
{
    if (device >= HANDLE && device < HANDLE + fake.devices) return true;
    fake_note("a device that is none");
    return false;
}

API(cuDeviceGetName, char *name, int n, int device)
{
    ENTER();
    if (!is_device(device)) return INVALID_DEVICE;
    (void)snprintf(name, (size_t)n, "Fake GPU %d", device - HANDLE);
    return OK;
}

API(cuDeviceGetAttribute, int *value, int attribute, int device)
{
    const char *asked = getenv("FAKE_CUDA_ARCH"); /* for programs that are run */
    int arch = asked ? atoi(asked) : 90;
    ENTER();
    if (!is_device(device)) return INVALID_DEVICE;
    *value = attribute == 75   ? arch / 10
             : attribute == 76 ? arch % 10
             : attribute == 95 ? fake.cooperative
                               : MULTIPROCESSORS;
    return OK;
}

API(cuDeviceTotalMem_v2, size_t *bytes, int device)
{
    ENTER();
    if (!is_device(device)) return INVALID_DEVICE;
    *bytes = fake.total;
    return OK;
}

API(cuDevicePrimaryCtxRetain, void **context, int device)
{
    ENTER();
    if (!is_device(device)) return INVALID_DEVICE;
    fake.contexts++;
    *context = &fake.contexts;
    return OK;
}

API(cuDevicePrimaryCtxRelease_v2, int device)
{
    if (device < HANDLE)
        fake_note("a device that is none"); /* tests take devices away that are open */
    if (--fake.contexts < 0) fake_note("a context released too often");
    return fake_ended(__func__);
}

API(cuCtxPushCurrent_v2, void *context)
{
    ENTER();
    if (context != &fake.contexts || !fake.contexts) {
        fake_note("a context that is none");
        return INVALID_CONTEXT;
    }
    fake.pushed++;
    return OK;
}

API(cuCtxPopCurrent_v2, void **context)
{
    *context = &fake.contexts;
    if (--fake.pushed < 0) fake_note("a context popped too often");
    return fake_ended(__func__);
}

/* Memory --------------------------------------------------------------------------------------- */

API(cuMemGetInfo_v2, size_t *free_bytes, size_t *all)
{
    ENTER();
    IN_CONTEXT();
    *free_bytes = fake.total - fake.used;
    *all = fake.total;
    return OK;
}

API(cuMemAlloc_v2, uint64_t *p, size_t bytes)
{
    ENTER();
    IN_CONTEXT();
    NOT_WHILE_RECORDING();
    if (!bytes) return INVALID_VALUE;
    if (bytes > fake.total - fake.used) return OUT_OF_MEMORY;
    fake_object *o = fake_make(MEMORY);
    o->at = aligned_alloc(256, (bytes + 255) / 256 * 256);
    o->bytes = bytes;
    memset(o->at, 0xA5, bytes);
    fake.used += bytes;
    *p = (uint64_t)(uintptr_t)o->at;
    return OK;
}

static int release(const char *function, void *at, fake_kind k)
{
    for (fake_object *o = fake.objects; o; o = o->next) {
        if (o->kind != k || o->at != at) continue;
        if (k == MEMORY) fake.used -= o->bytes;
        free(o->at);
        fake_drop(o);
        return fake_ended(function);
    }
    fake_note("memory freed that was not allocated");
    return INVALID_VALUE;
}

API(cuMemFree_v2, uint64_t p)
{
    IN_CONTEXT();
    return release(__func__, (void *)(uintptr_t)p, MEMORY);
}

API(cuMemAllocHost_v2, void **p, size_t bytes)
{
    ENTER();
    IN_CONTEXT();
    NOT_WHILE_RECORDING();
    fake_object *o = fake_make(PINNED);
    o->at = *p = malloc(bytes);
    o->bytes = bytes;
    return OK;
}

API(cuMemFreeHost, void *p)
{
    IN_CONTEXT();
    return release(__func__, p, PINNED);
}

/* Modules -------------------------------------------------------------------------------------- */

/* For programs that are run with FAKE_CUDA_KERNELS=nothing: a GPU's own code, whose kernels do
 * nothing. */
static int find_any(void *code, const char *name)
{
    (void)code;
    (void)name;
    return 0;
}

static int no_arguments(void *code, int kernel)
{
    (void)code;
    return kernel;
}

static int do_nothing(void *code, int kernel, unsigned blocks, unsigned threads, int together,
                      const unsigned long long *value)
{
    (void)code;
    (void)blocks;
    (void)threads;
    (void)together;
    (void)value;
    return kernel;
}

static bool is_cubin(const void *image)
{
    const char *kernels = getenv("FAKE_CUDA_KERNELS");
    return kernels && !strcmp(kernels, "nothing") && !memcmp(image, "\177ELF", 4);
}

API(cuModuleLoadData, void **module, const void *image)
{
    static const fake_image idle = {"fakegpu", NULL, find_any, no_arguments, do_nothing, NULL};
    ENTER();
    IN_CONTEXT();
    NOT_WHILE_RECORDING();
    if (is_cubin(image)) image = &idle;
    if (strncmp(image, "fakegpu", 8) != 0) return INVALID_IMAGE;
    fake_object *o = fake_make(MODULE);
    memcpy(&o->image, image, sizeof o->image);
    *module = o;
    return OK;
}

/* Such a graph would launch what is no longer there, or be updated by a node that only looks the
 * same.  One that nobody could end stays, and cannot be launched from now on. */
static bool let_go_of(fake_object *graph, const fake_object *module)
{
    bool any = false;
    for (int k = 0; k < graph->n; k++) {
        fake_node *node = &graph->nodes[k];
        if (node->what != LAUNCH || !node->function || node->function->module != module) continue;
        node->function = NULL;
        any = true;
    }
    return any;
}

API(cuModuleUnload, void *module)
{
    IN_CONTEXT();
    fake_object *m = fake_find(module, MODULE, "a module that is none"), *next;
    if (!m) return INVALID_HANDLE;
    for (fake_object *o = fake.objects; o; o = o->next)
        if ((o->kind == EXEC || (o->kind == GRAPH && !o->recording)) && let_go_of(o, m))
            fake_note("a module unloaded whose kernels a graph launches");
    for (fake_object *o = fake.objects; o; o = next) {
        next = o->next;
        if (o->kind == FUNCTION && o->module == m) fake_drop(o);
    }
    fake_drop(m);
    return fake_ended(__func__);
}

API(cuModuleGetFunction, void **function, void *module, const char *name)
{
    ENTER();
    IN_CONTEXT();
    NOT_WHILE_RECORDING();
    fake_object *m = fake_find(module, MODULE, "a module that is none");
    if (!m) return INVALID_HANDLE;
    int kernel = m->image.find(m->image.code, name);
    if (kernel < 0) return NOT_FOUND;
    fake_object *o = fake_make(FUNCTION);
    o->image = m->image;
    o->kernel = kernel;
    o->module = m;
    *function = o;
    return OK;
}

API(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *blocks, void *function, int threads,
    size_t shared)
{
    ENTER();
    IN_CONTEXT();
    if (!fake_find(function, FUNCTION, "a function that is none")) return INVALID_HANDLE;
    *blocks = threads >= 1 && threads <= 1024 && !shared;
    return OK;
}
