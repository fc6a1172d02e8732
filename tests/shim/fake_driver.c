/* A CUDA driver for machines without a GPU: the functions of runtime/cuda/driver.h over memory of the process.
 *
 * Strict where the real one is lenient: a copy outside of what is allocated, a handle that is none, a context that is not
 * current, work on a stream that records where that is not allowed are noted as faults, which tests look at.  Work runs at
 * once.  Fresh memory holds 0xA5.  A module's image says who runs its kernels (fake_image). */
#include "fake_driver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum {
    OK = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    CAPTURE_UNSUPPORTED = 900,
    GRAPH_UPDATE_FAILURE = 910,
};

/* Objects ----------------------------------------------------------------------------------------------------------- */

typedef enum kind { MEMORY, PINNED, STREAM, EVENT, MODULE, FUNCTION, GRAPH, EXEC } kind;

typedef struct node node;

typedef struct object {
    kind kind;
    struct object *next;
    void *at; /* MEMORY, PINNED: the bytes */
    size_t bytes;
    node *nodes; /* GRAPH, EXEC */
    int n;
    bool recording; /* STREAM */
    struct object *graph;
    struct object *module; /* FUNCTION */
    fake_image image;      /* MODULE, FUNCTION */
    int kernel;            /* FUNCTION */
} object;

struct node { /* of a graph */
    enum { COPY, FILL, LAUNCH } what;
    void *to;
    const void *from;
    size_t bytes;
    int byte;
    object *function;
    unsigned blocks, threads;
    unsigned long long value[512];
    int n;
};

static object *objects;
static int devices = 1, contexts, pushed;
static size_t total = (size_t)1 << 30, used;
static char fault[256];
static const char *fail_function;
static int fail_nth, fail_result, calls;
static const char *counted;
static int counted_calls;

static void note(const char *what)
{
    if (!*fault) (void)snprintf(fault, sizeof fault, "%s", what);
}

static object *make(kind k)
{
    object *o = calloc(1, sizeof *o);
    o->kind = k;
    o->next = objects;
    objects = o;
    return o;
}

static object *find(const void *handle, kind k, const char *who)
{
    for (object *o = objects; o; o = o->next)
        if (o == handle && o->kind == k) return o;
    note(who);
    return NULL;
}

static void drop(object *o)
{
    object **p = &objects;
    while (*p != o) p = &(*p)->next;
    *p = o->next;
    free(o->nodes);
    free(o);
}

static bool lies_within(const void *p, size_t n)
{
    for (object *o = objects; o; o = o->next)
        if (o->kind == MEMORY && (const char *)p >= (char *)o->at && (const char *)p + n <= (char *)o->at + o->bytes)
            return true;
    return false;
}

/* Faults to order --------------------------------------------------------------------------------------------------- */

EXPORT void fake_fail(const char *function, int nth, int result);
EXPORT void fake_fail(const char *function, int nth, int result)
{
    fail_function = function;
    fail_nth = nth;
    fail_result = result;
    calls = 0;
}

EXPORT int fake_calls(const char *function);
EXPORT int fake_calls(const char *function)
{
    if (!function) return calls;
    int n = counted && !strcmp(counted, function) ? counted_calls : 0;
    counted = function;
    counted_calls = 0;
    return n;
}

EXPORT int fake_alive(void);
EXPORT int fake_alive(void)
{
    int n = contexts + pushed;
    for (object *o = objects; o; o = o->next) n += o->kind != FUNCTION;
    return n;
}

EXPORT const char *fake_fault(void);
EXPORT const char *fake_fault(void) { return *fault ? fault : NULL; }

EXPORT void fake_devices(int n, unsigned long long bytes);
EXPORT void fake_devices(int n, unsigned long long bytes)
{
    devices = n;
    total = (size_t)bytes;
}

static int ordered(const char *function)
{
    calls++;
    if (counted && !strcmp(counted, function)) counted_calls++;
    /* What cannot enter the context cannot free what it holds: that call fails where it is named alone. */
    bool meant = fail_function ? !strcmp(fail_function, function) : strcmp(function, "cuCtxPushCurrent_v2") != 0;
    if (fail_nth && meant && --fail_nth == 0) return fail_result;
    return OK;
}

#define ENTER()                                                                                                        \
    do {                                                                                                               \
        int ordered_ = ordered(__func__);                                                                              \
        if (ordered_) return ordered_;                                                                                 \
    } while (0)
#define IN_CONTEXT()                                                                                                   \
    do {                                                                                                               \
        if (!pushed) {                                                                                                 \
            note("a call without a current context");                                                                  \
            return INVALID_CONTEXT;                                                                                    \
        }                                                                                                              \
    } while (0)
#define API(name, ...)                                                                                                 \
    EXPORT int name(__VA_ARGS__);                                                                                      \
    EXPORT int name(__VA_ARGS__)

/* Devices ----------------------------------------------------------------------------------------------------------- */

API(cuInit, unsigned flags)
{
    (void)flags;
    ENTER();
    return OK;
}

API(cuDriverGetVersion, int *version)
{
    ENTER();
    *version = 13000;
    return OK;
}

API(cuGetErrorName, int result, const char **name)
{
    *name = result == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_THE_FAKE_DRIVER";
    return OK;
}

API(cuGetErrorString, int result, const char **text)
{
    (void)result;
    *text = "ordered by a test";
    return OK;
}

API(cuDeviceGetCount, int *n)
{
    ENTER();
    *n = devices;
    return devices ? OK : NO_DEVICE;
}

API(cuDeviceGet, int *device, int ordinal)
{
    ENTER();
    *device = ordinal;
    return ordinal >= 0 && ordinal < devices ? OK : INVALID_DEVICE;
}

API(cuDeviceGetName, char *name, int n, int device)
{
    ENTER();
    (void)snprintf(name, (size_t)n, "Fake GPU %d", device);
    return OK;
}

API(cuDeviceGetAttribute, int *value, int attribute, int device)
{
    (void)device;
    ENTER();
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : 4;
    return OK;
}

API(cuDeviceTotalMem_v2, size_t *bytes, int device)
{
    (void)device;
    ENTER();
    *bytes = total;
    return OK;
}

API(cuDevicePrimaryCtxRetain, void **context, int device)
{
    (void)device;
    ENTER();
    contexts++;
    *context = &contexts;
    return OK;
}

API(cuDevicePrimaryCtxRelease_v2, int device)
{
    (void)device;
    if (--contexts < 0) note("a context released too often");
    return OK;
}

API(cuCtxPushCurrent_v2, void *context)
{
    ENTER();
    if (context != &contexts || !contexts) {
        note("a context that is none");
        return INVALID_CONTEXT;
    }
    pushed++;
    return OK;
}

API(cuCtxPopCurrent_v2, void **context)
{
    *context = &contexts;
    if (--pushed < 0) note("a context popped too often");
    return OK;
}

/* Memory ------------------------------------------------------------------------------------------------------------ */

API(cuMemGetInfo_v2, size_t *free_bytes, size_t *all)
{
    ENTER();
    IN_CONTEXT();
    *free_bytes = total - used;
    *all = total;
    return OK;
}

API(cuMemAlloc_v2, uint64_t *p, size_t bytes)
{
    ENTER();
    IN_CONTEXT();
    if (!bytes) return INVALID_VALUE;
    if (bytes > total - used) return OUT_OF_MEMORY;
    object *o = make(MEMORY);
    o->at = aligned_alloc(256, (bytes + 255) / 256 * 256);
    o->bytes = bytes;
    memset(o->at, 0xA5, bytes);
    used += bytes;
    *p = (uint64_t)(uintptr_t)o->at;
    return OK;
}

static int release(void *at, kind k)
{
    for (object *o = objects; o; o = o->next) {
        if (o->kind != k || o->at != at) continue;
        if (k == MEMORY) used -= o->bytes;
        free(o->at);
        drop(o);
        return OK;
    }
    note("memory freed that was not allocated");
    return INVALID_VALUE;
}

API(cuMemFree_v2, uint64_t p)
{
    IN_CONTEXT();
    return release((void *)(uintptr_t)p, MEMORY);
}

API(cuMemAllocHost_v2, void **p, size_t bytes)
{
    ENTER();
    IN_CONTEXT();
    object *o = make(PINNED);
    o->at = *p = malloc(bytes);
    o->bytes = bytes;
    return OK;
}

API(cuMemFreeHost, void *p)
{
    IN_CONTEXT();
    return release(p, PINNED);
}

/* Streams ----------------------------------------------------------------------------------------------------------- */

static int run(const node *w)
{
    if (w->what == COPY) {
        memcpy(w->to, w->from, w->bytes);
    } else if (w->what == FILL) {
        memset(w->to, w->byte, w->bytes);
    } else {
        const fake_image *m = &w->function->image;
        return m->launch(m->code, w->function->kernel, w->blocks, w->threads, w->value);
    }
    return OK;
}

static int put(void *stream, const node *w)
{
    object *s = find(stream, STREAM, "work on a stream that is none");
    if (!s) return INVALID_HANDLE;
    if (!s->recording) return run(w);
    object *g = s->graph;
    g->nodes = realloc(g->nodes, (size_t)(g->n + 1) * sizeof *g->nodes);
    g->nodes[g->n++] = *w;
    return OK;
}

static int copy(void *to, const void *from, size_t n, void *stream, bool device_to, bool device_from)
{
    if ((device_to && !lies_within(to, n)) || (device_from && !lies_within(from, n))) {
        note("a copy outside of what is allocated");
        return INVALID_VALUE;
    }
    return put(stream, &(node){.what = COPY, .to = to, .from = from, .bytes = n});
}

API(cuMemcpyHtoDAsync_v2, uint64_t to, const void *from, size_t n, void *stream)
{
    ENTER();
    IN_CONTEXT();
    return copy((void *)(uintptr_t)to, from, n, stream, true, false);
}

API(cuMemcpyDtoHAsync_v2, void *to, uint64_t from, size_t n, void *stream)
{
    ENTER();
    IN_CONTEXT();
    return copy(to, (void *)(uintptr_t)from, n, stream, false, true);
}

API(cuMemcpyDtoDAsync_v2, uint64_t to, uint64_t from, size_t n, void *stream)
{
    ENTER();
    IN_CONTEXT();
    return copy((void *)(uintptr_t)to, (void *)(uintptr_t)from, n, stream, true, true);
}

API(cuMemsetD8Async, uint64_t p, unsigned char byte, size_t n, void *stream)
{
    ENTER();
    IN_CONTEXT();
    if (!lies_within((void *)(uintptr_t)p, n)) {
        note("memory filled outside of what is allocated");
        return INVALID_VALUE;
    }
    return put(stream, &(node){.what = FILL, .to = (void *)(uintptr_t)p, .byte = byte, .bytes = n});
}

API(cuStreamCreate, void **stream, unsigned flags)
{
    (void)flags;
    ENTER();
    IN_CONTEXT();
    *stream = make(STREAM);
    return OK;
}

API(cuStreamDestroy_v2, void *stream)
{
    IN_CONTEXT();
    object *s = find(stream, STREAM, "a stream that is none");
    if (s && s->recording) drop(s->graph);
    if (s) drop(s);
    return s ? OK : INVALID_HANDLE;
}

static int wait_for(object *s)
{
    if (!s) return INVALID_HANDLE;
    if (!s->recording) return OK;
    note("waiting for a stream that records");
    return CAPTURE_UNSUPPORTED;
}

API(cuStreamSynchronize, void *stream)
{
    ENTER();
    IN_CONTEXT();
    return wait_for(find(stream, STREAM, "a stream that is none"));
}

/* Events: work is over at once, so they have nothing to tell. */
API(cuEventCreate, void **event, unsigned flags)
{
    (void)flags;
    ENTER();
    IN_CONTEXT();
    *event = make(EVENT);
    return OK;
}

API(cuEventDestroy_v2, void *event)
{
    IN_CONTEXT();
    object *e = find(event, EVENT, "an event that is none");
    if (e) drop(e);
    return e ? OK : INVALID_HANDLE;
}

API(cuEventRecord, void *event, void *stream)
{
    ENTER();
    IN_CONTEXT();
    bool there = find(event, EVENT, "an event that is none") && find(stream, STREAM, "a stream that is none");
    return there ? OK : INVALID_HANDLE;
}

API(cuEventSynchronize, void *event)
{
    ENTER();
    IN_CONTEXT();
    return find(event, EVENT, "an event that is none") ? OK : INVALID_HANDLE;
}

API(cuEventElapsedTime, float *ms, void *begin, void *end)
{
    ENTER();
    IN_CONTEXT();
    *ms = 1;
    bool there = find(begin, EVENT, "an event that is none") && find(end, EVENT, "an event that is none");
    return there ? OK : INVALID_HANDLE;
}

/* Modules ----------------------------------------------------------------------------------------------------------- */

API(cuModuleLoadData, void **module, const void *image)
{
    ENTER();
    IN_CONTEXT();
    if (strncmp(image, "fakegpu", 8) != 0) return INVALID_IMAGE;
    object *o = make(MODULE);
    memcpy(&o->image, image, sizeof o->image);
    *module = o;
    return OK;
}

API(cuModuleUnload, void *module)
{
    IN_CONTEXT();
    object *m = find(module, MODULE, "a module that is none"), *next;
    if (!m) return INVALID_HANDLE;
    for (object *o = objects; o; o = next) {
        next = o->next;
        if (o->kind == FUNCTION && o->module == m) drop(o);
    }
    drop(m);
    return OK;
}

API(cuModuleGetFunction, void **function, void *module, const char *name)
{
    ENTER();
    IN_CONTEXT();
    object *m = find(module, MODULE, "a module that is none");
    if (!m) return INVALID_HANDLE;
    int kernel = m->image.find(m->image.code, name);
    if (kernel < 0) return NOT_FOUND;
    object *o = make(FUNCTION);
    o->image = m->image;
    o->kernel = kernel;
    o->module = m;
    *function = o;
    return OK;
}

API(cuLaunchKernel, void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
    unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **arguments, void **extra)
{
    ENTER();
    IN_CONTEXT();
    object *f = find(function, FUNCTION, "a function that is none");
    if (!f) return INVALID_HANDLE;
    if (!grid_x || !block_x || block_x > 1024 || grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1 || shared ||
        extra)
        return INVALID_VALUE;
    node w = {.what = LAUNCH, .function = f, .blocks = grid_x, .threads = block_x};
    w.n = f->image.arguments(f->image.code, f->kernel);
    if (w.n < 0 || w.n > (int)(sizeof w.value / sizeof *w.value)) return INVALID_VALUE;
    for (int k = 0; k < w.n; k++) memcpy(&w.value[k], arguments[k], sizeof w.value[k]);
    return put(stream, &w);
}

/* Graphs ------------------------------------------------------------------------------------------------------------ */

API(cuStreamBeginCapture_v2, void *stream, int mode)
{
    (void)mode;
    ENTER();
    IN_CONTEXT();
    object *s = find(stream, STREAM, "a stream that is none");
    if (!s || s->recording) return INVALID_VALUE;
    s->recording = true;
    s->graph = make(GRAPH);
    return OK;
}

API(cuStreamEndCapture, void *stream, void **graph)
{
    IN_CONTEXT();
    object *s = find(stream, STREAM, "a stream that is none");
    *graph = NULL;
    if (!s || !s->recording) return INVALID_VALUE;
    s->recording = false;
    int result = ordered(__func__);
    if (result) { /* an error during the recording: it is thrown away */
        drop(s->graph);
        return result;
    }
    *graph = s->graph;
    return OK;
}

static void take_nodes(object *to, const object *from)
{
    free(to->nodes);
    to->nodes = malloc((size_t)(from->n + 1) * sizeof *from->nodes);
    if (from->n) memcpy(to->nodes, from->nodes, (size_t)from->n * sizeof *from->nodes);
    to->n = from->n;
}

API(cuGraphInstantiateWithFlags, void **exec, void *graph, unsigned long long flags)
{
    (void)flags;
    ENTER();
    IN_CONTEXT();
    object *g = find(graph, GRAPH, "a graph that is none");
    if (!g) return INVALID_HANDLE;
    object *e = make(EXEC);
    take_nodes(e, g);
    *exec = e;
    return OK;
}

API(cuGraphExecUpdate_v2, void *exec, void *graph, void *info)
{
    (void)info;
    ENTER();
    IN_CONTEXT();
    object *g = find(graph, GRAPH, "a graph that is none"), *e = find(exec, EXEC, "a graph that is none");
    if (!g || !e) return INVALID_HANDLE;
    bool same = g->n == e->n;
    for (int k = 0; same && k < g->n; k++)
        same = g->nodes[k].what == e->nodes[k].what && g->nodes[k].function == e->nodes[k].function;
    if (same) take_nodes(e, g);
    return same ? OK : GRAPH_UPDATE_FAILURE;
}

API(cuGraphLaunch, void *exec, void *stream)
{
    ENTER();
    IN_CONTEXT();
    object *e = find(exec, EXEC, "a graph that is none"), *s = find(stream, STREAM, "a stream that is none");
    if (!e || !s || s->recording) return INVALID_HANDLE;
    for (int k = 0; k < e->n; k++) {
        int result = run(&e->nodes[k]);
        if (result) return result;
    }
    return OK;
}

API(cuGraphDestroy, void *graph)
{
    IN_CONTEXT();
    object *g = find(graph, GRAPH, "a graph that is none");
    if (g) drop(g);
    return g ? OK : INVALID_HANDLE;
}

API(cuGraphExecDestroy, void *exec)
{
    IN_CONTEXT();
    object *e = find(exec, EXEC, "a graph that is none");
    if (e) drop(e);
    return e ? OK : INVALID_HANDLE;
}
