#include "support/cuda_host.h"

#include "base/map.h"
#include "base/sanitized.h"
#include "runtime/cuda/device.h"
#include "support/cuda_run.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct built {
    gn_cuda_geometry geometry;
    int entry; /* of the kernel that has the same text */
} built;

/* What was compiled last, by its text: sessions in turn make the same kernels. */
typedef struct kept {
    char *text;
    void *object;
    int users;
} kept;

enum { KEPT = 16 };

struct cuda_host {
    kept *kept; /* whose object this is */
    void *object;
    int n;
    built *kernel;
    cuda_entry *fn;
    int *n_buffers, *n_syms;
    bool **writes;          /* each kernel each buffer */
    gn_shim_host **shim;    /* the object's variable */
    gn_cuda_module *module; /* on a GPU */
    void **function;
};

/* Compiling ------------------------------------------------------------------------------------ */

/* void gn_call_<k>(void **args): what a driver does with an array of arguments: pointers, and
 * addresses of integers. */
static void add_entry(gn_buf *text, const kir_kernel *k, int number)
{
    gn_buf_printf(text, "void gn_call_%d(void **a) { (void)a; gn_kernel_%d(", number, number);
    for (uint32_t b = 0; b < k->buffers.n; b++) gn_buf_printf(text, "%sa[%u]", b ? ", " : "", b);
    for (uint32_t s = 0; s < k->syms.n; s++)
        gn_buf_printf(text, "%s*(gn_i64 *)a[%u]", s || k->buffers.n ? ", " : "", k->buffers.n + s);
    gn_buf_add(text, "); }\n");
}

static gn_status *write_file(const char *path, const char *text, size_t n)
{
    FILE *f = fopen(path, "w");
    if (!f || fwrite(text, 1, n, f) != n) {
        if (f) fclose(f);
        GN_FAIL(GN_ERR_IO, "%s cannot be written", path);
    }
    fclose(f);
    return NULL;
}

/* Without optimisation, which takes longer than kernels then run; by TinyCC where there is one,
 * which takes a tenth of the time that others take.  On failure the C compiler's first words. */
static gn_status *run_compiler(const char *folder)
{
    char command[1024], said[600] = "";
    const char *quick = getenv("GNNC_SHIM_CC"), *cc = quick && *quick ? quick : getenv("CC"),
               *source = getenv("GNNC_SOURCE_DIR"), *more = "";
    if (GN_UNDER_ASAN && cc != quick) more = "-fsanitize=address";
    snprintf(command, sizeof command,
             "%s -std=gnu11 -O0 -w -fPIC -shared -ffp-contract=off -fno-strict-aliasing %s "
             "-DGN_SHIM_KERNELS "
             "-include '%s/tests/support/cuda_shim.h' -fcommon -o %s/k.so %s/k*.c -lm 2>&1",
             cc && *cc ? cc : "cc", more, source ? source : ".", folder, folder);
    FILE *p = popen(command, "r");
    if (!p) GN_FAIL(GN_ERR_IO, "no C compiler: %s", command);
    size_t n = fread(said, 1, sizeof said - 1, p);
    while (!feof(p) && fgetc(p) != EOF) {}
    said[n] = 0;
    if (pclose(p) != 0) GN_FAIL(GN_ERR_INTERNAL, "generated CUDA does not compile: %s", said);
    return NULL;
}

static gn_status *find_functions(cuda_host *h)
{
    char name[32];
    h->shim = dlsym(h->object, "gn_shim");
    for (int k = 0; k < h->n; k++) {
        snprintf(name, sizeof name, "gn_call_%d", h->kernel[k].entry);
        void *at = dlsym(h->object, name);
        if (!at || !h->shim) GN_FAIL(GN_ERR_INTERNAL, "no %s in what was compiled", name);
        memcpy(&h->fn[k], &at, sizeof at);
    }
    return NULL;
}

static gn_status *load(cuda_host *h, const char *folder)
{
    char path[128];
    snprintf(path, sizeof path, "%s/k.so", folder);
    h->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!h->object) GN_FAIL(GN_ERR_INTERNAL, "%s", dlerror());
    return NULL;
}

static gn_status *compile_text(cuda_host *h, const char *text, size_t n)
{
    char folder[64] = "/tmp/gnnc-shim-XXXXXX", path[128];
    if (!mkdtemp(folder)) GN_FAIL(GN_ERR_IO, "no temporary folder");
    gn_status *s = NULL;
    const char *end = text + n, *next;
    int files = 0;
    for (const char *at = text; at && !s; at = next, files++) {
        next = memchr(at, CUDA_HOST_PIECE, (size_t)(end - at));
        snprintf(path, sizeof path, "%s/k%d.c", folder, files);
        s = write_file(path, at, (size_t)((next ? next : end) - at));
        if (next) next++;
    }
    if (!s) s = run_compiler(folder);
    if (!s) s = load(h, folder);
    bool keep = s && getenv("GNNC_KEEP");
    for (int k = 0; k < files && !keep; k++) {
        snprintf(path, sizeof path, "%s/k%d.c", folder, k);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/k.so", folder);
    unlink(path);
    if (!keep) rmdir(folder);
    return s;
}

static gn_status *build(cuda_host *h, const char *text, size_t n)
{
    static kept all[KEPT];
    static int next;
    for (int k = 0; k < KEPT && !h->kept; k++)
        if (all[k].text && !strcmp(all[k].text, text)) h->kept = &all[k];
    if (h->kept) {
        h->object = h->kept->object;
        h->kept->users++;
        return find_functions(h);
    }
    GN_TRY(compile_text(h, text, n));
    kept *place = &all[next++ % KEPT];
    if (!place->users) {
        if (place->object) dlclose(place->object);
        free(place->text);
        *place = (kept){strdup(text), h->object, 1};
        h->kept = place;
    }
    return find_functions(h);
}

/* On a GPU ------------------------------------------------------------------------------------- */

/* The device that GNNC_TEST_DEVICE names, for the life of the process; NULL: none is wanted. */
static gn_status *find_device(gn_cuda_device **out)
{
    static gn_cuda_device *device;
    static gn_cuda_driver *driver;
    const char *name = getenv("GNNC_TEST_DEVICE");
    int n = 0;
    *out = NULL;
    if (!name || !*name) return NULL;
    if (sscanf(name, "cuda:%d", &n) != 1)
        GN_FAIL(GN_ERR_USAGE, "GNNC_TEST_DEVICE=%s: expected cuda:N", name);
    if (!driver) GN_TRY(gn_cuda_driver_open(NULL, &driver));
    if (!device) GN_TRY(gn_cuda_device_open(driver, n, &device));
    *out = device;
    return NULL;
}

static gn_status *load_on(gn_cuda_device *d, cuda_host *h, const gn_code_object *object)
{
    gn_cuda_view v;
    GN_TRY(gn_cuda_object_view(object, &v));
    GN_TRY(gn_cuda_module_load(d, v.cubin, &h->module));
    for (int k = 0; k < h->n; k++) {
        char name[32];
        gn_cuda_usage u;
        snprintf(name, sizeof name, "gn_kernel_%d", k);
        gn_cuda_view_kernel(&v, k, &h->kernel[k].geometry, &u);
        GN_TRY(gn_cuda_module_function(h->module, name, &h->function[k]));
    }
    return NULL;
}

static gn_status *compile_on(gn_cuda_device *d, cuda_host *h, const kir_kernel *const *kernels)
{
    const gn_cuda_info *about = gn_cuda_device_about(d);
    gn_code_object object;
    GN_TRY(gn_cuda_object(h->n, kernels, 10 * about->major + about->minor, false, &object));
    gn_status *s = load_on(d, h, &object);
    free(object.bytes);
    return s;
}

static gn_status *launch_on(gn_cuda_device *d, const cuda_host *h, int k, void *const *buffers,
                            const size_t *bytes, const int64_t *syms, int64_t trips)
{
    const gn_cuda_geometry *g = &h->kernel[k].geometry;
    gn_device_ptr at[256] = {0};
    void *args[256];
    gn_status *s = NULL;
    int n = h->n_buffers[k];
    for (int b = 0; b < n && !s; b++) {
        s = gn_cuda_alloc(d, (int64_t)bytes[b], "a buffer", &at[b]);
        if (!s) s = gn_cuda_upload(d, at[b], buffers[b], (int64_t)bytes[b]);
        args[b] = &at[b];
    }
    for (int i = 0; i < h->n_syms[k]; i++) args[n + i] = (void *)(uintptr_t)&syms[i];
    int64_t blocks = (trips + g->per_block - 1) / g->per_block;
    if (!s && blocks) s = gn_cuda_launch(d, h->function[k], blocks, g->threads, args);
    for (int b = 0; b < n && !s; b++) s = gn_cuda_download(d, buffers[b], at[b], (int64_t)bytes[b]);
    for (int b = 0; b < n; b++) gn_cuda_free(d, at[b]);
    return s;
}

static cuda_host *host_new(int n, const kir_kernel *const *kernels)
{
    size_t room = (size_t)n + 1;
    cuda_host *h = calloc(1, sizeof *h);
    h->n = n;
    h->kernel = calloc(room, sizeof *h->kernel);
    h->fn = calloc(room, sizeof *h->fn);
    h->n_buffers = calloc(room, sizeof *h->n_buffers);
    h->n_syms = calloc(room, sizeof *h->n_syms);
    h->function = calloc(room, sizeof *h->function);
    h->writes = calloc(room, sizeof *h->writes);
    for (int k = 0; k < n; k++) {
        h->n_buffers[k] = (int)kernels[k]->buffers.n;
        h->writes[k] = calloc(kernels[k]->buffers.n + 1, sizeof **h->writes);
        for (uint32_t b = 0; b < kernels[k]->buffers.n; b++)
            h->writes[k][b] = (kernels[k]->buffers.p[b].access & KIR_WRITE) != 0;
        h->n_syms[k] = (int)kernels[k]->syms.n;
    }
    return h;
}

gn_status *cuda_host_text(int n, const kir_kernel *const *kernels, const char *text,
                          const gn_cuda_geometry *geometry, cuda_host **out)
{
    gn_arena a;
    cuda_host *h = *out = host_new(n, kernels);
    gn_arena_init(&a);
    gn_buf all = {.arena = &a};
    gn_buf_add(&all, text);
    for (int k = 0; k < n; k++) {
        h->kernel[k] = (built){geometry[k], k};
        add_entry(&all, kernels[k], k);
    }
    gn_status *s = build(h, all.p, all.n);
    gn_arena_free(&a);
    return s;
}

static gn_status *compile_in(gn_arena *a, cuda_host *h, int n, const kir_kernel *const *kernels)
{
    gn_buf all = {.arena = a};
    gn_map seen;
    gn_map_init(&seen, a);
    gn_buf_add(&all, gn_cuda_prelude());
    for (int k = 0; k < n; k++) {
        gn_buf one = {.arena = a};
        GN_TRY(gn_cuda_kernel(kernels[k], "gn_kernel_@", NULL, &one, &h->kernel[k].geometry));
        /* without the name in the comment above it */
        const char *body = strstr(one.p, "GN_KERNEL");
        const uint32_t *same = gn_map_find(&seen, body);
        h->kernel[k].entry = same ? (int)*same : k;
        if (same) continue;
        gn_map_put(&seen, body, (uint32_t)k);
        const char *at = strchr(body, '@');
        gn_buf_addn(&all, one.p, (size_t)(at - one.p));
        gn_buf_printf(&all, "%d%s", k, at + 1);
        add_entry(&all, kernels[k], k);
    }
    return build(h, all.p, all.n);
}

gn_status *cuda_host_compile(int n, const kir_kernel *const *kernels, cuda_host **out)
{
    gn_arena a;
    gn_cuda_device *device;
    *out = host_new(n, kernels);
    GN_TRY(find_device(&device));
    if (device) return compile_on(device, *out, kernels);
    gn_arena_init(&a);
    gn_status *s = compile_in(&a, *out, n, kernels);
    gn_arena_free(&a);
    return s;
}

void cuda_host_free(cuda_host *h)
{
    if (!h) return;
    if (h->kept)
        h->kept->users--;
    else if (h->object)
        dlclose(h->object);
    gn_cuda_module_free(h->module);
    for (int k = 0; k < h->n; k++) free(h->writes[k]);
    free(h->writes);
    free(h->function);
    free(h->kernel);
    free(h->fn);
    free(h->n_buffers);
    free(h->n_syms);
    free(h);
}

const gn_cuda_geometry *cuda_host_geometry(const cuda_host *h, int k)
{
    return &h->kernel[k].geometry;
}

/* Programs in one kernel ----------------------------------------------------------------------- */

static void add_entry_of_whole(gn_buf *text, const gn_cuda_whole *w)
{
    int gate = w->n_buffers + w->n_values + w->n;
    gn_buf_printf(
        text,
        "void gn_call_0(void **a)\n{\n    gn_all all;\n    for (int k = 0; k <= %d; k++)\n"
        "        all.of[k] = k < %d || k == %d ? (gn_u64)a[k] : *(gn_u64 *)a[k];\n    "
        "gn_kernel_0(all);\n}\n",
        gate, w->n_buffers, gate);
}

gn_status *cuda_host_whole_text(const gn_cuda_whole *w, const char *text,
                                const gn_cuda_geometry *geometry, cuda_host **out)
{
    gn_arena a;
    cuda_host *h = *out = host_new(1, &(const kir_kernel *){&(const kir_kernel){0}});
    gn_arena_init(&a);
    gn_buf all = {.arena = &a};
    /* the kernel is in the first piece */
    const char *others = strchr(text, CUDA_HOST_PIECE);
    gn_buf_addn(&all, text, others ? (size_t)(others - text) : strlen(text));
    add_entry_of_whole(&all, w);
    if (others) gn_buf_add(&all, others);
    h->kernel[0] = (built){*geometry, 0};
    h->n_buffers[0] = w->n_buffers;
    h->n_syms[0] = w->n_values + w->n;
    gn_status *s = build(h, all.p, all.n);
    gn_arena_free(&a);
    return s;
}

gn_status *cuda_host_launch_whole(cuda_host *h, void *const *buffers, const int64_t *integers,
                                  uint32_t *gate, int64_t blocks, cuda_order order, uint64_t seed)
{
    void *args[GN_CUDA_MOST_ARGUMENTS];
    int n = 0;
    for (int b = 0; b < h->n_buffers[0]; b++) args[n++] = buffers[b];
    for (int k = 0; k < h->n_syms[0]; k++) args[n++] = (void *)(uintptr_t)&integers[k];
    args[n] = gate;
    const gn_cuda_geometry *g = &h->kernel[0].geometry;
    return cuda_run(&(cuda_work){.fn = h->fn[0],
                                 .args = args,
                                 .shim = h->shim,
                                 .threads = g->threads,
                                 .blocks = blocks,
                                 .shared_bytes = (size_t)g->shared_bytes,
                                 .together = true,
                                 .order = order,
                                 .seed = seed});
}

/* Kernels -------------------------------------------------------------------------------------- */

/* Buffers are __restrict__, and what is only read may be read by a cache that no write
 * reaches: none that is written may overlap another one.  Where nobody says how large
 * they are (kernels that are equal but for sizes share code) they begin apart. */
static gn_status *check_apart(const cuda_host *h, int k, void *const *buffers, const size_t *bytes)
{
    for (int b = 0; b < h->n_buffers[k]; b++)
        for (int o = 0; o < h->n_buffers[k]; o++) {
            uintptr_t x = (uintptr_t)buffers[b], y = (uintptr_t)buffers[o];
            bool apart = bytes ? x + bytes[b] <= y || y + bytes[o] <= x : x != y;
            if (o != b && h->writes[k][b] && !apart)
                GN_FAIL(GN_ERR_INTERNAL,
                        "kernel %d: buffer %d, which is written, overlaps buffer %d", k, b, o);
        }
    return NULL;
}

gn_status *cuda_host_launch(cuda_host *h, int k, void *const *buffers, const size_t *bytes,
                            const int64_t *syms, int64_t trips, cuda_order order, uint64_t seed)
{
    GN_TRY(check_apart(h, k, buffers, bytes));
    if (h->module) {
        gn_cuda_device *device;
        GN_TRY(find_device(&device));
        return launch_on(device, h, k, buffers, bytes, syms, trips);
    }
    const gn_cuda_geometry *g = &h->kernel[k].geometry;
    void *args[256];
    int n = 0;
    for (int b = 0; b < h->n_buffers[k]; b++) args[n++] = buffers[b];
    for (int s = 0; s < h->n_syms[k]; s++) args[n++] = (void *)(uintptr_t)&syms[s];
    return cuda_run(&(cuda_work){.fn = h->fn[k],
                                 .args = args,
                                 .shim = h->shim,
                                 .threads = g->threads,
                                 .blocks = (trips + g->per_block - 1) / g->per_block,
                                 .shared_bytes = (size_t)g->shared_bytes,
                                 .alone = g->group == 1,
                                 .order = order,
                                 .seed = seed});
}
