/* The fake driver's streams, events and graphs, and what is put on them. */
#include "fake_objects.h"

#include "runtime/cuda/driver.h"

#include <stdlib.h>
#include <string.h>

/* Streams -------------------------------------------------------------------------------------- */

static double cost_of(const fake_node *w)
{
    const fake_image *m = w->what == LAUNCH ? &w->function->image : NULL;
    double own = m && m->cost ? m->cost(m->code, w->function->kernel) : 0;
    return own > 0 ? own : fake.cost[w->what];
}

static int run(const fake_node *w)
{
    if (w->what == LAUNCH && !w->function) {
        fake_note("a graph launches what was unloaded");
        return INVALID_HANDLE;
    }
    fake.clock += cost_of(w);
    if (w->what == COPY) {
        memcpy(w->to, w->from, w->bytes);
    } else if (w->what == CALL) {
        return w->call(w->value);
    } else {
        const fake_image *m = &w->function->image;
        return m->launch(m->code, w->function->kernel, w->blocks, w->threads, w->together,
                         w->value);
    }
    return OK;
}

static int put(void *stream, const fake_node *w)
{
    fake_object *s = fake_find(stream, STREAM, "work on a stream that is none");
    if (!s) return INVALID_HANDLE;
    if (!s->recording) return run(w);
    static uintptr_t names;
    fake_object *g = s->graph;
    g->nodes = realloc(g->nodes, (size_t)(g->n + 1) * sizeof *g->nodes);
    g->nodes[g->n] = *w;
    g->nodes[g->n++].name = (void *)++names;
    return OK;
}

static int copy(void *to, const void *from, size_t n, void *stream, bool device_to,
                bool device_from)
{
    if ((device_to && !fake_lies_within(to, n)) || (device_from && !fake_lies_within(from, n))) {
        fake_note("a copy outside of what is allocated");
        return INVALID_VALUE;
    }
    return put(stream, &(fake_node){.what = COPY, .to = to, .from = from, .bytes = n});
}

EXPORT int fake_call(void *stream, int (*run)(const void *), const void *values, int n);
EXPORT int fake_call(void *stream, int (*call)(const void *), const void *values, int n)
{
    fake_node w = {.what = CALL, .call = call, .n = n};
    if (n > (int)(sizeof w.value / sizeof *w.value)) return INVALID_VALUE;
    memcpy(w.value, values, (size_t)n * sizeof *w.value);
    return put(stream, &w);
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

API(cuMemsetD8Async, uint64_t to, unsigned char value, size_t n, void *stream)
{
    ENTER();
    IN_CONTEXT();
    NOT_WHILE_RECORDING();
    if (!fake_find(stream, STREAM, "work on a stream that is none")) return INVALID_HANDLE;
    if (!fake_lies_within((void *)(uintptr_t)to, n)) {
        fake_note("memory filled outside of what is allocated");
        return INVALID_VALUE;
    }
    memset((void *)(uintptr_t)to, value, n);
    fake.filled += (long)n;
    return OK;
}

API(cuStreamCreate, void **stream, unsigned flags)
{
    (void)flags;
    ENTER();
    IN_CONTEXT();
    NOT_WHILE_RECORDING();
    *stream = fake_make(STREAM);
    return OK;
}

API(cuStreamDestroy_v2, void *stream)
{
    IN_CONTEXT();
    fake_object *s = fake_find(stream, STREAM, "a stream that is none");
    if (s && s->recording) fake_drop(s->graph);
    if (s) fake_drop(s);
    return s ? fake_ended(__func__) : INVALID_HANDLE;
}

static int wait_for(fake_object *s)
{
    if (!s) return INVALID_HANDLE;
    if (!s->recording) return OK;
    fake_note("waiting for a stream that records");
    return CAPTURE_UNSUPPORTED;
}

API(cuStreamSynchronize, void *stream)
{
    ENTER();
    IN_CONTEXT();
    return wait_for(fake_find(stream, STREAM, "a stream that is none"));
}

/* Events: work is over at once; they tell what it is said to cost (fake_costs). */
API(cuEventCreate, void **event, unsigned flags)
{
    (void)flags;
    ENTER();
    IN_CONTEXT();
    NOT_WHILE_RECORDING();
    *event = fake_make(EVENT);
    return OK;
}

API(cuEventDestroy_v2, void *event)
{
    IN_CONTEXT();
    fake_object *e = fake_find(event, EVENT, "an event that is none");
    if (e) fake_drop(e);
    return e ? fake_ended(__func__) : INVALID_HANDLE;
}

API(cuEventRecord, void *event, void *stream)
{
    ENTER();
    IN_CONTEXT();
    NOT_WHILE_RECORDING();
    fake_object *e = fake_find(event, EVENT, "an event that is none");
    if (e) e->at_clock = fake.clock;
    return e && fake_find(stream, STREAM, "a stream that is none") ? OK : INVALID_HANDLE;
}

API(cuEventSynchronize, void *event)
{
    ENTER();
    IN_CONTEXT();
    NOT_WHILE_RECORDING();
    return fake_find(event, EVENT, "an event that is none") ? OK : INVALID_HANDLE;
}

API(cuEventElapsedTime, float *ms, void *begin, void *end)
{
    ENTER();
    IN_CONTEXT();
    NOT_WHILE_RECORDING();
    fake_object *from = fake_find(begin, EVENT, "an event that is none"),
                *to = fake_find(end, EVENT, "an event that is none");
    *ms = 1;
    if (!from || !to) return INVALID_HANDLE;
    if (fake.cost[LAUNCH] > 0) *ms = (float)(to->at_clock - from->at_clock);
    return OK;
}

static int launch_node(void *function, const unsigned *grid, const unsigned *block, unsigned shared,
                       void **arguments, fake_node *w)
{
    fake_object *f = fake_find(function, FUNCTION, "a function that is none");
    if (!f) return INVALID_HANDLE;
    if (!grid[0] || !block[0] || block[0] > 1024 || grid[1] != 1 || grid[2] != 1 || block[1] != 1 ||
        block[2] != 1 || shared)
        return INVALID_VALUE;
    *w = (fake_node){.what = LAUNCH, .function = f, .blocks = grid[0], .threads = block[0]};
    w->n = f->image.arguments(f->image.code, f->kernel);
    bool one = w->n < 0;
    if (one) w->n = -w->n;
    if (w->n > (int)(sizeof w->value / sizeof *w->value)) return INVALID_VALUE;
    for (int k = 0; k < w->n; k++)
        memcpy(&w->value[k], one ? (unsigned long long *)arguments[0] + k : arguments[k],
               sizeof w->value[k]);
    return OK;
}

static int launch(void *function, const unsigned *grid, const unsigned *block, unsigned shared,
                  void *stream, void **arguments, int together)
{
    fake_node w;
    int result = launch_node(function, grid, block, shared, arguments, &w);
    if (result) return result;
    w.together = together;
    return put(stream, &w);
}

API(cuLaunchKernel, void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, void *stream,
    void **arguments, void **extra)
{
    const unsigned grid[] = {grid_x, grid_y, grid_z}, block[] = {block_x, block_y, block_z};
    ENTER();
    IN_CONTEXT();
    return extra ? INVALID_VALUE : launch(function, grid, block, shared, stream, arguments, 0);
}

API(cuLaunchCooperativeKernel, void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, void *stream,
    void **arguments)
{
    const unsigned grid[] = {grid_x, grid_y, grid_z}, block[] = {block_x, block_y, block_z};
    ENTER();
    IN_CONTEXT();
    if (!fake.cooperative || grid_x > MULTIPROCESSORS) return TOO_MANY_BLOCKS;
    return launch(function, grid, block, shared, stream, arguments, 1);
}

/* Graphs --------------------------------------------------------------------------------------- */

API(cuStreamBeginCapture_v2, void *stream, int mode)
{
    (void)mode;
    ENTER();
    IN_CONTEXT();
    fake_object *s = fake_find(stream, STREAM, "a stream that is none");
    if (!s || s->recording) return INVALID_VALUE;
    s->recording = true;
    s->graph = fake_make(GRAPH);
    s->graph->recording = true;
    return OK;
}

API(cuStreamGetCaptureInfo_v2, void *stream, int *status, uint64_t *id, void **graph,
    void *const **last, size_t *n)
{
    static void *name;
    ENTER();
    IN_CONTEXT();
    fake_object *s = fake_find(stream, STREAM, "a stream that is none");
    if (!s || id || graph) return INVALID_VALUE;
    *status = s->recording;
    if (!s->recording) return OK; /* and nothing else is valid */
    *n = s->graph->n > 0;
    name = *n ? s->graph->nodes[s->graph->n - 1].name : NULL;
    *last = &name;
    return OK;
}

API(cuStreamEndCapture, void *stream, void **graph)
{
    IN_CONTEXT();
    fake_object *s = fake_find(stream, STREAM, "a stream that is none");
    *graph = NULL;
    if (!s || !s->recording) return INVALID_VALUE;
    s->recording = s->graph->recording = false;
    int result = fake_ordered(__func__);
    if (result) { /* an error during the recording: it is thrown away */
        fake_drop(s->graph);
        return result;
    }
    *graph = s->graph;
    return OK;
}

static fake_node *find_node(fake_object *o, const void *name)
{
    for (int k = 0; k < o->n; k++)
        if (o->nodes[k].name == name) return &o->nodes[k];
    return NULL;
}

/* The node of an executable graph that has the name of a node of the graph that it was made of,
 * which has to be there. */
static fake_node *node_of(void *exec, void *name, int what)
{
    fake_object *e = fake_find(exec, EXEC, "a graph that is none");
    fake_node *w = e ? find_node(e, name) : NULL;
    bool there = false;
    for (fake_object *o = fake.objects; o; o = o->next)
        there = there || (o->kind == GRAPH && find_node(o, name));
    if (!w) fake_note("a node of another graph is set");
    if (!there) fake_note("a node is set of a graph that is gone");
    if (w && w->what != (unsigned)what) fake_note("a node of another kind is set");
    return w && there && w->what == (unsigned)what ? w : NULL;
}

/* Only one that waits for no others, of a function of the module that the node's own is of: nothing
 * here asks for more. */
API(cuGraphExecKernelNodeSetParams_v2, void *exec, void *node, const gn_cuda_kernel_params *p)
{
    const unsigned grid[] = {p->grid_x, p->grid_y, p->grid_z},
                   block[] = {p->block_x, p->block_y, p->block_z};
    fake_node now;
    ENTER();
    IN_CONTEXT();
    NOT_WHILE_RECORDING();
    fake_node *w = node_of(exec, node, LAUNCH);
    if (!w || w->together || p->extra || p->kernel) return INVALID_VALUE;
    int result = launch_node(p->function, grid, block, p->shared_bytes, p->arguments, &now);
    if (result) return result;
    if (now.function->module != w->function->module) {
        fake_note("a node gets a function of another module");
        return INVALID_VALUE;
    }
    now.name = node;
    *w = now;
    return OK;
}

/* "If specified" (cuMemcpy3D): none, or a row's bytes and at most CU_DEVICE_ATTRIBUTE_MAX_PITCH,
 * lowered as tests have little memory. */
static bool may_be_pitch(size_t pitch, size_t width)
{
    enum { MAX_PITCH = 64 };
    return !pitch || (pitch >= width && pitch <= MAX_PITCH);
}

API(cuGraphExecMemcpyNodeSetParams, void *exec, void *node, const gn_cuda_copy_params *p,
    void *context)
{
    void *to = (void *)(uintptr_t)p->to;
    const void *from = (const void *)(uintptr_t)p->from;
    ENTER();
    IN_CONTEXT();
    NOT_WHILE_RECORDING();
    fake_node *w = node_of(exec, node, COPY);
    if (!w || context != &fake.contexts) return INVALID_VALUE;
    if (!p->width || p->height != 1 || p->depth != 1 || !may_be_pitch(p->from_pitch, p->width) ||
        !may_be_pitch(p->to_pitch, p->width) || p->from_x || p->from_y || p->from_z || p->to_x ||
        p->to_y || p->to_z || p->from_type != GN_CUDA_MEMORY_DEVICE ||
        p->to_type != GN_CUDA_MEMORY_DEVICE || p->reserved0 || p->reserved1)
        return INVALID_VALUE;
    if (!fake_lies_within(to, p->width) || !fake_lies_within(from, p->width)) {
        fake_note("a copy outside of what is allocated");
        return INVALID_VALUE;
    }
    *w = (fake_node){.what = COPY, .name = node, .to = to, .from = from, .bytes = p->width};
    return OK;
}

static void take_nodes(fake_object *to, const fake_object *from)
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
    fake_object *g = fake_find(graph, GRAPH, "a graph that is none");
    if (!g) return INVALID_HANDLE;
    fake_object *e = fake_make(EXEC);
    take_nodes(e, g);
    *exec = e;
    return OK;
}

API(cuGraphExecUpdate_v2, void *exec, void *graph, void *info)
{
    (void)info;
    ENTER();
    IN_CONTEXT();
    fake_object *g = fake_find(graph, GRAPH, "a graph that is none"),
                *e = fake_find(exec, EXEC, "a graph that is none");
    if (!g || !e) return INVALID_HANDLE;
    bool same = g->n == e->n;
    for (int k = 0; same && k < g->n; k++)
        same = g->nodes[k].what == e->nodes[k].what &&
               g->nodes[k].function == e->nodes[k].function && g->nodes[k].call == e->nodes[k].call;
    for (int k = 0; same && k < g->n; k++) {
        void *name = e->nodes[k].name; /* stays */
        e->nodes[k] = g->nodes[k];
        e->nodes[k].name = name;
    }
    return same ? OK : GRAPH_UPDATE_FAILURE;
}

API(cuGraphLaunch, void *exec, void *stream)
{
    ENTER();
    IN_CONTEXT();
    NOT_WHILE_RECORDING();
    fake_object *e = fake_find(exec, EXEC, "a graph that is none"),
                *s = fake_find(stream, STREAM, "a stream that is none");
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
    fake_object *g = fake_find(graph, GRAPH, "a graph that is none");
    if (g) fake_drop(g);
    return g ? fake_ended(__func__) : INVALID_HANDLE;
}

API(cuGraphExecDestroy, void *exec)
{
    IN_CONTEXT();
    fake_object *e = fake_find(exec, EXEC, "a graph that is none");
    if (e) fake_drop(e);
    return e ? fake_ended(__func__) : INVALID_HANDLE;
}
