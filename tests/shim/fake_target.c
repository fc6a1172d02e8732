#include "shim/fake_target.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int find(void *code, const char *name)
{
    const fake_module *m = code;
    int k = -1;
    return sscanf(name, "gn_kernel_%d", &k) == 1 && k < m->n ? k : -1;
}

static int arguments(void *code, int k)
{
    const fake_module *m = code;
    int n = m->n_buffers[k] + m->n_syms[k];
    return m->whole ? -(n + 1) : n;
}

static int says(gn_status *s)
{
    if (!s) return 0;
    fprintf(stderr, "%s\n", gn_status_message(s));
    gn_status_free(s);
    return GN_CUDA_ILLEGAL_ADDRESS;
}

static double cost(void *code, int k)
{
    const fake_module *m = code;
    (void)k;
    return m->cost_ms;
}

static int launch(void *code, int k, unsigned blocks, unsigned threads, int together,
                  const unsigned long long *value)
{
    fake_module *m = code;
    void *buffer[GN_CUDA_MOST_ARGUMENTS];
    int64_t sym[GN_CUDA_MOST_ARGUMENTS];
    const gn_cuda_geometry *g = cuda_host_geometry(m->host, k);
    if ((int)threads != g->threads || (together != 0) != m->whole) return 1;
    if (m->result || m->idle >> k & 1) return m->result;
    for (int b = 0; b < m->n_buffers[k]; b++) buffer[b] = (void *)(uintptr_t)value[b];
    for (int s = 0; s < m->n_syms[k]; s++) sym[s] = (int64_t)value[m->n_buffers[k] + s];
    uint32_t *gate = m->whole ? (uint32_t *)(uintptr_t)value[m->n_buffers[k] + m->n_syms[k]] : NULL;
    if (m->whole)
        return says(
            cuda_host_launch_whole(m->host, buffer, sym, gate, blocks, CUDA_SEEDED, m->runs++));
    return says(cuda_host_launch(m->host, k, buffer, NULL, sym, (int64_t)blocks * g->per_block,
                                 CUDA_SEEDED, 11));
}

static fake_module *module_new(int n)
{
    fake_module *m = calloc(1, sizeof *m);
    m->n = n;
    m->n_buffers = calloc((size_t)n, sizeof *m->n_buffers);
    m->n_syms = calloc((size_t)n, sizeof *m->n_syms);
    m->image = (fake_image){"fakegpu", m, find, arguments, launch, cost};
    return m;
}

static fake_module *module_of_kernels(int n, const kir_kernel *const *kernels)
{
    fake_module *m = module_new(n);
    for (int k = 0; k < n; k++) {
        m->n_buffers[k] = (int)kernels[k]->buffers.n;
        m->n_syms[k] = (int)kernels[k]->syms.n;
    }
    return m;
}

static void fake_module_free(fake_module *m)
{
    cuda_host_free(m->host);
    free(m->n_buffers);
    free(m->n_syms);
    free(m);
}

/* An object whose code is the fake driver's. Compilers run one at a time: their kernels are
 * compiled in the same folder. */
static gn_status *make(void *ctx, int n, const kir_kernel *const *kernels, int arch,
                       gn_code_object *out)
{
    fake_target *t = ctx;
    pthread_mutex_lock(&t->lock);
    fake_module *m = t->n_modules < FAKE_MODULES ? module_of_kernels(n, kernels) : NULL;
    gn_status *s = m ? cuda_host_compile(n, kernels, &m->host)
                     : GN_ERROR(GN_ERR_INTERNAL, "too many modules");
    if (m) t->module[t->n_modules++] = m;
    if (!s) {
        gn_cuda_geometry *g = calloc((size_t)n, sizeof *g);
        for (int k = 0; k < n; k++) g[k] = *cuda_host_geometry(m->host, k);
        s = gn_cuda_object_pack(n, arch, FAKE_NVRTC, g, &m->image, sizeof m->image, NULL, out);
        free(g);
    }
    pthread_mutex_unlock(&t->lock);
    return s;
}

static fake_module *module_of_whole(const gn_cuda_whole *w)
{
    fake_module *m = module_new(1);
    m->whole = true;
    m->n_buffers[0] = w->n_buffers;
    m->n_syms[0] = w->n_values + w->n;
    return m;
}

/* A program in one kernel, of a text of its own (linked pieces) or, where that is NULL, of the one
 * that it has. */
static gn_status *add_whole(fake_target *t, const gn_cuda_whole *w, const char *text, int arch,
                            gn_code_object *out)
{
    gn_arena a;
    gn_arena_init(&a);
    gn_buf own = {.arena = &a};
    gn_cuda_geometry *g = GN_NEW_N(&a, gn_cuda_geometry, w->n + 1);
    pthread_mutex_lock(&t->lock);
    fake_module *m = t->n_modules < FAKE_MODULES ? module_of_whole(w) : NULL;
    gn_status *s = m ? gn_cuda_whole_source(w, &own, g)
                     : GN_ERROR(GN_ERR_INTERNAL, "too many modules");
    if (m) t->module[t->n_modules++] = m;
    if (!s) s = cuda_host_whole_text(w, text ? text : own.p, g, &m->host);
    if (!s)
        s = gn_cuda_object_pack(w->n + 1, arch, FAKE_NVRTC, g, &m->image, sizeof m->image, NULL,
                                out);
    pthread_mutex_unlock(&t->lock);
    gn_arena_free(&a);
    return s;
}

static gn_status *make_whole(void *ctx, const gn_cuda_whole *w, int arch, gn_code_object *out)
{
    return add_whole(ctx, w, NULL, arch, out);
}

/* A piece is its text: they are compiled when they are linked. */
static gn_status *make_piece(void *ctx, const gn_cuda_whole *w, const gn_cuda_division *d,
                             int piece, int arch, gn_code_object *out)
{
    gn_arena a;
    gn_arena_init(&a);
    gn_buf text = {.arena = &a};
    gn_cuda_geometry *g = GN_NEW_N(&a, gn_cuda_geometry, w->n + 1);
    gn_status *s = gn_cuda_piece_source(w, d, piece, &text, g);
    (void)ctx, (void)arch;
    if (!s) *out = (gn_code_object){(unsigned char *)strdup(text.p), text.n};
    gn_arena_free(&a);
    return s;
}

static gn_status *can_link(void *ctx)
{
    (void)ctx;
    return NULL;
}

static gn_status *link_pieces(void *ctx, const gn_cuda_whole *w, int n,
                              const gn_code_object *pieces, int arch, gn_code_object *out)
{
    fake_target *t = ctx;
    gn_arena a;
    gn_arena_init(&a);
    gn_buf text = {.arena = &a};
    for (int k = 0; k < n; k++)
        gn_buf_printf(&text, "%s%.*s", k ? (char[]){CUDA_HOST_PIECE, 0} : "", (int)pieces[k].n,
                      (const char *)pieces[k].bytes);
    gn_status *s = add_whole(t, w, text.p, arch, out);
    t->linked += !s;
    gn_arena_free(&a);
    return s;
}

void *fake_symbol(const fake_target *t, const char *name)
{
    return dlsym(t->target->driver->library, name);
}

void fake_target_begin(fake_target *t)
{
    memset(t, 0, sizeof *t);
    pthread_mutex_init(&t->lock, NULL);
}

void fake_target_equip(fake_target *t, gn_target *target)
{
    t->target = target;
    target->maker = (gn_cuda_maker){make, make_whole, make_piece, can_link, link_pieces, t};
}

gn_status *fake_target_open(fake_target *t)
{
    const char *name = getenv("GNNC_TEST_DEVICE");
    gn_target *target;
    int n = 0;
    fake_target_begin(t);
    if (name && sscanf(name, "cuda:%d", &n) == 1) return gn_target_open(NULL, n, &t->target);
    GN_TRY(gn_target_open(getenv("GNNC_FAKE_CUDA"), 0, &target));
    fake_target_equip(t, target);
    return NULL;
}

void fake_target_end(fake_target *t)
{
    for (int k = 0; k < t->n_modules; k++) fake_module_free(t->module[k]);
    pthread_mutex_destroy(&t->lock);
}

void fake_target_close(fake_target *t)
{
    gn_target_close(t->target);
    fake_target_end(t);
}
