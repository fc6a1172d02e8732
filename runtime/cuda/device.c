#include "runtime/cuda/device.h"

#include "base/home.h"
#include "runtime/memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    STAGES = 2,
    STAGE_BYTES = 4 << 20,
};

/* Copies from and to memory of the program go through pages that the device can read by itself, two
 * in turn. */
typedef struct stage {
    void *bytes;
    void *done; /* event: the last copy that used it */
    bool busy;
} stage;

struct gn_cuda_device {
    const gn_cuda_driver *driver;
    gn_cuda_info info;
    int handle; /* the driver's, which need not be the ordinal */
    void *context, *stream;
    void *mark[2];
    stage stage[STAGES];
    int next_stage;
    gn_home home;
    int lost;    /* the result that ended it; 0: none */
    void **node; /* [nodes] of what is being recorded; NULL: nothing is, or they are not known */
    int64_t nodes, room; /* of which that many are there, and fit */
};

struct gn_cuda_module {
    gn_cuda_device *device;
    void *module;
};

/* Errors --------------------------------------------------------------------------------------- */

/* After these the context takes no more work: the driver API's reference says so of them
 * (CUresult). */
static bool is_fatal(int result)
{
    switch (result) {
    case GN_CUDA_ECC:
    case GN_CUDA_ILLEGAL_ADDRESS:
    case GN_CUDA_LAUNCH_TIMEOUT:
    case GN_CUDA_CONTEXT_IS_DESTROYED:
    case GN_CUDA_ASSERT:
    case GN_CUDA_STACK_ERROR:
    case GN_CUDA_ILLEGAL_INSTRUCTION:
    case GN_CUDA_MISALIGNED_ADDRESS:
    case GN_CUDA_INVALID_ADDRESS_SPACE:
    case GN_CUDA_INVALID_PC:
    case GN_CUDA_LAUNCH_FAILED:
    case GN_CUDA_TENSOR_MEMORY_LEAK:
    case GN_CUDA_CONTAINED:
    case GN_CUDA_MPS_CLIENT_TERMINATED:
    case GN_CUDA_EXTERNAL_DEVICE: return true;
    default: return false;
    }
}

static gn_status *lost(const gn_cuda_device *d)
{
    const char *name = NULL;
    if (d->driver->cuGetErrorName(d->lost, &name) || !name) name = "an error";
    GN_FAIL(
        GN_ERR_BACKEND,
        "device %d (%s) is lost to this process since %s (%d): what it held is gone; start anew",
        d->info.ordinal, d->info.name, name, d->lost);
}

static gn_status *check(gn_cuda_device *d, int result, const char *doing)
{
    if (result == GN_CUDA_OK) return NULL;
    if (is_fatal(result)) d->lost = result;
    return gn_cuda_error(d->driver, result, doing);
}

/* A call with the device's context current on this thread.  Another library's context, if it had
 * one, is current again afterwards. */
static gn_status *enter(gn_cuda_device *d)
{
    if (gn_home_left(&d->home))
        GN_FAIL(
            GN_ERR_BACKEND,
            "device %d (%s) was opened before a fork, and stays with the process that opened it",
            d->info.ordinal, d->info.name);
    if (d->lost) return lost(d);
    return check(d, d->driver->cuCtxPushCurrent_v2(d->context), "entering the device's context");
}

/* What was done stays done where the context cannot be left, so that its maker can end it; a device
 * that is lost by that says so from the next call on. */
static gn_status *leave(gn_cuda_device *d, int result, const char *doing)
{
    void *context;
    int popped = d->driver->cuCtxPopCurrent_v2(&context);
    if (is_fatal(popped)) d->lost = popped;
    return check(d, result, doing);
}

/* Life ----------------------------------------------------------------------------------------- */

gn_status *gn_cuda_device_count(const gn_cuda_driver *d, int *n)
{
    *n = 0;
    int result = d->cuDeviceGetCount(n);
    return result == GN_CUDA_NO_DEVICE ? NULL : gn_cuda_error(d, result, "counting devices");
}

gn_status *gn_cuda_device_info(const gn_cuda_driver *d, int ordinal, gn_cuda_info *out)
{
    int n, device, together;
    size_t bytes;
    *out = (gn_cuda_info){.ordinal = ordinal};
    GN_TRY(gn_cuda_device_count(d, &n));
    if (ordinal < 0 || ordinal >= n)
        GN_FAIL(GN_ERR_USAGE, "there is no device cuda:%d: the driver shows %d%s", ordinal, n,
                n ? "" : " (see nvidia-smi and CUDA_VISIBLE_DEVICES)");
    GN_TRY(gn_cuda_error(d, d->cuDeviceGet(&device, ordinal), "finding the device"));
    GN_TRY(gn_cuda_error(d, d->cuDeviceGetName(out->name, (int)sizeof out->name - 1, device),
                         "asking its name"));
    GN_TRY(gn_cuda_error(d, d->cuDeviceGetAttribute(&out->major, GN_CUDA_ATTRIBUTE_MAJOR, device),
                         "asking its capability"));
    GN_TRY(gn_cuda_error(d, d->cuDeviceGetAttribute(&out->minor, GN_CUDA_ATTRIBUTE_MINOR, device),
                         "asking its capability"));
    GN_TRY(gn_cuda_error(
        d,
        d->cuDeviceGetAttribute(&out->multiprocessors, GN_CUDA_ATTRIBUTE_MULTIPROCESSORS, device),
        "asking its size"));
    GN_TRY(gn_cuda_error(d, d->cuDeviceTotalMem_v2(&bytes, device), "asking its memory"));
    GN_TRY(gn_cuda_error(d,
                         d->cuDeviceGetAttribute(&together, GN_CUDA_ATTRIBUTE_COOPERATIVE, device),
                         "asking its launches"));
    out->total_bytes = (int64_t)bytes;
    out->cooperative = together != 0;
    return NULL;
}

static gn_status *open_stream(gn_cuda_device *d)
{
    const gn_cuda_driver *c = d->driver;
    GN_TRY(enter(d));
    int result = c->cuStreamCreate(&d->stream, GN_CUDA_STREAM_NON_BLOCKING);
    for (int k = 0; !result && k < 2; k++) result = c->cuEventCreate(&d->mark[k], 0);
    return leave(d, result, "making a stream");
}

gn_status *gn_cuda_device_open(const gn_cuda_driver *driver, int ordinal, gn_cuda_device **out)
{
    void *block;
    *out = NULL;
    gn_cuda_info info;
    GN_TRY(gn_cuda_device_info(driver, ordinal, &info));
    GN_TRY(gn_block_zeroed(1, sizeof(gn_cuda_device), "the device", &block));
    gn_cuda_device *d = block;
    gn_home_init(&d->home);
    d->driver = driver;
    d->info = info;
    gn_status *s = check(d, driver->cuDeviceGet(&d->handle, ordinal), "finding the device");
    if (!s)
        s = check(d, driver->cuDevicePrimaryCtxRetain(&d->context, d->handle),
                  "opening the device");
    if (s) d->context = NULL;
    if (!s) s = open_stream(d);
    if (s) {
        gn_cuda_device_close(d);
        return s;
    }
    *out = d;
    return NULL;
}

void gn_cuda_device_close(gn_cuda_device *d)
{
    if (!d) return;
    const gn_cuda_driver *c = d->driver;
    void *context;
    if (gn_home_left(&d->home)) d->context = NULL; /* the parent's */
    if (d->context && !c->cuCtxPushCurrent_v2(d->context)) {
        for (int k = 0; k < STAGES; k++) {
            if (d->stage[k].done) (void)c->cuEventDestroy_v2(d->stage[k].done);
            if (d->stage[k].bytes) (void)c->cuMemFreeHost(d->stage[k].bytes);
        }
        for (int k = 0; k < 2; k++)
            if (d->mark[k]) (void)c->cuEventDestroy_v2(d->mark[k]);
        if (d->stream) (void)c->cuStreamDestroy_v2(d->stream);
        (void)c->cuCtxPopCurrent_v2(&context);
    }
    if (d->context) (void)c->cuDevicePrimaryCtxRelease_v2(d->handle);
    gn_home_end(&d->home);
    gn_block_free(d->node);
    gn_block_free(d);
}

const gn_cuda_info *gn_cuda_device_about(const gn_cuda_device *d) { return &d->info; }

/* What is recorded has nodes that are not known. */
static void lose_nodes(gn_cuda_device *d)
{
    gn_block_free(d->node);
    d->node = NULL;
}

/* The stream has recorded something: its node is what the next one would wait for.  A driver that
 * does not tell is no error: the graph cannot be set node by node then. */
static int note_node(gn_cuda_device *d)
{
    int status = 0;
    void *const *last = NULL;
    size_t n = 0;
    if (!d->node) return GN_CUDA_OK;
    int result = d->driver->cuStreamGetCaptureInfo_v2(d->stream, &status, NULL, NULL, &last, &n);
    if (!result && status == GN_CUDA_CAPTURE_ACTIVE && n == 1 && d->nodes < d->room)
        d->node[d->nodes++] = last[0];
    else
        lose_nodes(d);
    return is_fatal(result) ? result : GN_CUDA_OK;
}

gn_status *gn_cuda_device_enter(gn_cuda_device *d, void **stream)
{
    lose_nodes(d); /* what a library records is not known */
    *stream = d->stream;
    return enter(d);
}

gn_status *gn_cuda_device_leave(gn_cuda_device *d)
{
    return leave(d, GN_CUDA_OK, "leaving the device's context");
}

/* Memory --------------------------------------------------------------------------------------- */

gn_status *gn_cuda_alloc(gn_cuda_device *d, int64_t bytes, const char *what, gn_device_ptr *out)
{
    *out = 0;
    if (bytes < 0) GN_FAIL(GN_ERR_NOMEM, "out of memory: the size of %s cannot be counted", what);
    GN_TRY(enter(d));
    size_t available = 0, total = 0;
    int result = d->driver->cuMemAlloc_v2(out, bytes ? (size_t)bytes : 1);
    if (result == GN_CUDA_OUT_OF_MEMORY) {
        (void)d->driver->cuMemGetInfo_v2(&available, &total);
        gn_status_free(leave(d, GN_CUDA_OK, ""));
        GN_FAIL(GN_ERR_NOMEM,
                "out of memory on device %d (%s): %s takes %lld bytes, %lld of %lld are free",
                d->info.ordinal, d->info.name, what, (long long)bytes, (long long)available,
                (long long)total);
    }
    return leave(d, result, "allocating memory on the device");
}

void gn_cuda_free(gn_cuda_device *d, gn_device_ptr p)
{
    void *context;
    if (!p) return;
    if (gn_home_left(&d->home) || d->driver->cuCtxPushCurrent_v2(d->context)) return;
    (void)d->driver->cuMemFree_v2(p);
    (void)d->driver->cuCtxPopCurrent_v2(&context);
}

gn_status *gn_cuda_room(gn_cuda_device *d, int64_t *bytes)
{
    size_t available = 0, total = 0;
    GN_TRY(enter(d));
    int result = d->driver->cuMemGetInfo_v2(&available, &total);
    *bytes = (int64_t)available;
    return leave(d, result, "asking how much memory is free");
}

/* The next stage, when the copy that used it is over. */
static int take_stage(gn_cuda_device *d, stage **out)
{
    const gn_cuda_driver *c = d->driver;
    stage *s = &d->stage[d->next_stage++ % STAGES];
    int result = GN_CUDA_OK;
    if (!s->bytes) result = c->cuMemAllocHost_v2(&s->bytes, STAGE_BYTES);
    if (result) s->bytes = NULL;
    if (!result && !s->done) result = c->cuEventCreate(&s->done, GN_CUDA_EVENT_NO_TIMING);
    if (!result && s->busy) result = c->cuEventSynchronize(s->done);
    s->busy = false;
    *out = s;
    return result;
}

gn_status *gn_cuda_upload(gn_cuda_device *d, gn_device_ptr to, const void *from, int64_t bytes)
{
    const gn_cuda_driver *c = d->driver;
    int result = GN_CUDA_OK;
    GN_TRY(enter(d));
    for (int64_t at = 0; !result && at < bytes; at += STAGE_BYTES) {
        size_t n = bytes - at < STAGE_BYTES ? (size_t)(bytes - at) : STAGE_BYTES;
        stage *s;
        result = take_stage(d, &s);
        if (result) break;
        memcpy(s->bytes, (const char *)from + at, n);
        result = c->cuMemcpyHtoDAsync_v2(to + (gn_device_ptr)at, s->bytes, n, d->stream);
        if (!result) result = c->cuEventRecord(s->done, d->stream);
        s->busy = !result;
    }
    return leave(d, result, "copying to the device");
}

/* Chunk after chunk: while one is copied out of its stage, the device fills the other. */
gn_status *gn_cuda_download(gn_cuda_device *d, void *to, gn_device_ptr from, int64_t bytes)
{
    const gn_cuda_driver *c = d->driver;
    stage *before = NULL;
    int64_t before_at = 0;
    size_t before_n = 0;
    int result = GN_CUDA_OK;
    GN_TRY(enter(d));
    for (int64_t at = 0; !result && (at < bytes || before); at += STAGE_BYTES) {
        stage *s = NULL;
        size_t n = 0;
        if (at < bytes) {
            n = bytes - at < STAGE_BYTES ? (size_t)(bytes - at) : STAGE_BYTES;
            result = take_stage(d, &s);
            if (!result)
                result = c->cuMemcpyDtoHAsync_v2(s->bytes, from + (gn_device_ptr)at, n, d->stream);
            if (!result) result = c->cuEventRecord(s->done, d->stream);
            if (result) break;
            s->busy = true;
        }
        if (before) {
            result = c->cuEventSynchronize(before->done);
            before->busy = false;
            if (!result) memcpy((char *)to + before_at, before->bytes, before_n);
        }
        before = s;
        before_at = at;
        before_n = n;
    }
    return leave(d, result, "copying from the device");
}

gn_status *gn_cuda_copy(gn_cuda_device *d, gn_device_ptr to, gn_device_ptr from, int64_t bytes)
{
    if (bytes == 0 || to == from) return NULL;
    GN_TRY(enter(d));
    int result = d->driver->cuMemcpyDtoDAsync_v2(to, from, (size_t)bytes, d->stream);
    return leave(d, result ? result : note_node(d), "copying on the device");
}

gn_status *gn_cuda_fill(gn_cuda_device *d, gn_device_ptr to, unsigned char value, int64_t bytes)
{
    if (bytes == 0) return NULL;
    GN_TRY(enter(d));
    return leave(d, d->driver->cuMemsetD8Async(to, value, (size_t)bytes, d->stream),
                 "filling memory of the device");
}

gn_status *gn_cuda_wait(gn_cuda_device *d)
{
    GN_TRY(enter(d));
    return leave(d, d->driver->cuStreamSynchronize(d->stream), "waiting for the device");
}

/* Code ----------------------------------------------------------------------------------------- */

gn_status *gn_cuda_module_load(gn_cuda_device *d, const void *image, gn_cuda_module **out)
{
    void *block;
    *out = NULL;
    GN_TRY(gn_block_zeroed(1, sizeof(gn_cuda_module), "the module", &block));
    gn_cuda_module *m = block;
    m->device = d;
    gn_status *s = enter(d);
    if (!s)
        s = leave(d, d->driver->cuModuleLoadData(&m->module, image), "loading code on the device");
    if (s) {
        gn_block_free(m);
        return gn_status_annotate(s, "%s (sm_%d%d)", d->info.name, d->info.major, d->info.minor);
    }
    *out = m;
    return NULL;
}

void gn_cuda_module_free(gn_cuda_module *m)
{
    void *context;
    if (!m) return;
    const gn_cuda_driver *c = m->device->driver;
    if (!gn_home_left(&m->device->home) && !c->cuCtxPushCurrent_v2(m->device->context)) {
        (void)c->cuModuleUnload(m->module);
        (void)c->cuCtxPopCurrent_v2(&context);
    }
    gn_block_free(m);
}

gn_status *gn_cuda_module_function(const gn_cuda_module *m, const char *name, void **function)
{
    gn_cuda_device *d = m->device;
    *function = NULL;
    GN_TRY(enter(d));
    return gn_status_annotate(
        leave(d, d->driver->cuModuleGetFunction(function, m->module, name), "finding a function"),
        "%s", name);
}

gn_status *gn_cuda_launch(gn_cuda_device *d, void *function, int64_t blocks, int threads,
                          void **arguments)
{
    if (blocks < 1 || blocks > INT_MAX || threads < 1)
        GN_FAIL(GN_ERR_INTERNAL, "a launch of %lld blocks of %d threads", (long long)blocks,
                threads);
    GN_TRY(enter(d));
    int result = d->driver->cuLaunchKernel(function, (unsigned)blocks, 1, 1, (unsigned)threads, 1,
                                           1, 0, d->stream, arguments, NULL);
    return leave(d, result ? result : note_node(d), "launching a kernel");
}

gn_status *gn_cuda_resident(gn_cuda_device *d, void *function, int threads, int64_t *blocks)
{
    int each = 0;
    *blocks = 0;
    GN_TRY(enter(d));
    int result = d->driver->cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, function, threads,
                                                                        0);
    GN_TRY(leave(d, result, "asking how many blocks a multiprocessor holds"));
    *blocks = (int64_t)each * d->info.multiprocessors;
    if (*blocks < 1)
        GN_FAIL(GN_ERR_BACKEND, "no block of %d threads fits a multiprocessor of %s", threads,
                d->info.name);
    return NULL;
}

gn_status *gn_cuda_launch_together(gn_cuda_device *d, void *function, int64_t blocks, int threads,
                                   void **arguments)
{
    if (blocks < 1 || blocks > INT_MAX || threads < 1)
        GN_FAIL(GN_ERR_INTERNAL, "a launch of %lld blocks of %d threads", (long long)blocks,
                threads);
    GN_TRY(enter(d));
    lose_nodes(d); /* what is cooperative is not set */
    int result = d->driver->cuLaunchCooperativeKernel(
        function, (unsigned)blocks, 1, 1, (unsigned)threads, 1, 1, 0, d->stream, arguments);
    return leave(d, result, "launching a program");
}

/* Graphs --------------------------------------------------------------------------------------- */

struct gn_cuda_graph {
    gn_cuda_device *device;
    void *exec, *recorded; /* recorded: what exec was made of, whose nodes are the names of exec's
                            */
    void **node;           /* [nodes]; NULL: they cannot be set */
    int64_t nodes;
};

/* With the context current. */
static void unmake(gn_cuda_graph *g)
{
    const gn_cuda_driver *c = g->device->driver;
    if (g->exec) (void)c->cuGraphExecDestroy(g->exec);
    if (g->recorded) (void)c->cuGraphDestroy(g->recorded);
    gn_block_free(g->node);
    *g = (gn_cuda_graph){.device = g->device};
}

gn_status *gn_cuda_record_begin(gn_cuda_device *d, int64_t nodes)
{
    void *block;
    GN_TRY(gn_block_new(nodes, sizeof *d->node, "nodes of a graph", &block));
    gn_status *s = enter(d);
    if (!s) {
        int result = d->driver->cuStreamBeginCapture_v2(d->stream, GN_CUDA_CAPTURE_THREAD_LOCAL);
        s = leave(d, result, "recording a graph");
    }
    if (s) {
        gn_block_free(block);
        return s;
    }
    d->node = block;
    d->nodes = 0;
    d->room = nodes;
    return NULL;
}

/* What was recorded is taken over where the graph is made of it; where one is updated by it the
 * nodes stay those of what it was made of. */
static int instantiate(gn_cuda_device *d, void **recorded, gn_cuda_graph *g)
{
    const gn_cuda_driver *c = d->driver;
    gn_cuda_update_info info = {0}; /* which node could not be updated: the driver wants room for it
                                     */
    if (g->exec) {
        int result = c->cuGraphExecUpdate_v2(g->exec, *recorded, &info);
        if (result != GN_CUDA_GRAPH_UPDATE_FAILURE) return result;
        unmake(g);
    }
    int result = c->cuGraphInstantiateWithFlags(&g->exec, *recorded, 0);
    if (result) return result;
    g->recorded = *recorded;
    g->node = d->node;
    g->nodes = d->nodes;
    *recorded = d->node = NULL;
    return GN_CUDA_OK;
}

gn_status *gn_cuda_record_end(gn_cuda_device *d, gn_status *failed, gn_cuda_graph **graph)
{
    void *recorded = NULL, *block = NULL;
    gn_status *s = failed, *e = enter(d);
    if (e) { /* the recording goes on, and cannot be ended */
        if (!d->lost) d->lost = GN_CUDA_CAPTURE_INVALIDATED;
        gn_status_free(s ? e : NULL);
        return s ? s : e;
    }
    int result = d->driver->cuStreamEndCapture(d->stream, &recorded);
    gn_cuda_graph *g = *graph;
    if (!s && !g) {
        s = gn_block_zeroed(1, sizeof *g, "a graph", &block);
        g = block;
        if (g) g->device = d;
    }
    if (!s && !result) result = instantiate(d, &recorded, g);
    if (recorded) (void)d->driver->cuGraphDestroy(recorded);
    lose_nodes(d);
    e = leave(d, s ? GN_CUDA_OK : result, "recording a graph");
    if (s)
        gn_status_free(e);
    else
        s = e;
    if (!s)
        *graph = g;
    else if (block)
        gn_cuda_graph_free(block);
    return s;
}

gn_status *gn_cuda_graph_run(gn_cuda_graph *g)
{
    gn_cuda_device *d = g->device;
    if (!g->exec) GN_FAIL(GN_ERR_INTERNAL, "a graph that could not be made is run");
    GN_TRY(enter(d));
    return leave(d, d->driver->cuGraphLaunch(g->exec, d->stream), "launching a graph");
}

bool gn_cuda_graph_has_nodes(const gn_cuda_graph *g, int64_t n) { return g->node && g->nodes == n; }

static gn_status *end_set(gn_cuda_graph *g, int result)
{
    if (result) {
        gn_block_free(g->node);
        g->node = NULL;
    }
    return leave(g->device, result, "setting a node of a graph");
}

gn_status *gn_cuda_graph_set_launch(gn_cuda_graph *g, int64_t node, void *function, int64_t blocks,
                                    int threads, void **arguments)
{
    if (blocks < 1 || blocks > INT_MAX || threads < 1)
        GN_FAIL(GN_ERR_INTERNAL, "a launch of %lld blocks of %d threads", (long long)blocks,
                threads);
    GN_TRY(enter(g->device));
    gn_cuda_kernel_params p = {.function = function,
                               .grid_x = (unsigned)blocks,
                               .grid_y = 1,
                               .grid_z = 1,
                               .block_x = (unsigned)threads,
                               .block_y = 1,
                               .block_z = 1,
                               .arguments = arguments};
    return end_set(
        g, g->device->driver->cuGraphExecKernelNodeSetParams_v2(g->exec, g->node[node], &p));
}

gn_status *gn_cuda_graph_set_copy(gn_cuda_graph *g, int64_t node, gn_device_ptr to,
                                  gn_device_ptr from, int64_t bytes)
{
    size_t n = (size_t)bytes;
    gn_cuda_device *d = g->device;
    GN_TRY(enter(d));
    /* one row, of which no pitch is said: the largest that a device takes is 2 GB, which a copy may
     * pass */
    gn_cuda_copy_params p = {.from_type = GN_CUDA_MEMORY_DEVICE,
                             .from = from,
                             .to_type = GN_CUDA_MEMORY_DEVICE,
                             .to = to,
                             .width = n,
                             .height = 1,
                             .depth = 1};
    return end_set(
        g, d->driver->cuGraphExecMemcpyNodeSetParams(g->exec, g->node[node], &p, d->context));
}

void gn_cuda_graph_free(gn_cuda_graph *g)
{
    void *context;
    if (!g) return;
    const gn_cuda_driver *c = g->device->driver;
    if (g->exec && !gn_home_left(&g->device->home) && !c->cuCtxPushCurrent_v2(g->device->context)) {
        unmake(g);
        (void)c->cuCtxPopCurrent_v2(&context);
    }
    gn_block_free(g->node);
    gn_block_free(g);
}

/* Time ----------------------------------------------------------------------------------------- */

gn_status *gn_cuda_mark(gn_cuda_device *d, int number)
{
    GN_TRY(enter(d));
    return leave(d, d->driver->cuEventRecord(d->mark[number], d->stream), "marking the time");
}

gn_status *gn_cuda_between(gn_cuda_device *d, float *ms)
{
    GN_TRY(enter(d));
    int result = d->driver->cuEventSynchronize(d->mark[1]);
    if (!result) result = d->driver->cuEventElapsedTime(ms, d->mark[0], d->mark[1]);
    return leave(d, result, "asking for the time");
}
