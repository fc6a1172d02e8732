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
    return m->n_buffers[k] + m->n_syms[k];
}

static int launch(void *code, int k, unsigned blocks, unsigned threads, const unsigned long long *value)
{
    fake_module *m = code;
    void *buffer[256];
    int64_t sym[256];
    const gn_cuda_geometry *g = cuda_host_geometry(m->host, k);
    if ((int)threads != g->threads) return 1;
    for (int b = 0; b < m->n_buffers[k]; b++) buffer[b] = (void *)(uintptr_t)value[b];
    for (int s = 0; s < m->n_syms[k]; s++) sym[s] = (int64_t)value[m->n_buffers[k] + s];
    gn_status *s = cuda_host_launch(m->host, k, buffer, sym, (int64_t)blocks * g->per_block, CUDA_SEEDED, 11);
    if (!s) return 0;
    fprintf(stderr, "%s\n", gn_status_message(s));
    gn_status_free(s);
    return GN_CUDA_ILLEGAL_ADDRESS;
}

static fake_module *module_new(int n, const kir_kernel *const *kernels)
{
    fake_module *m = calloc(1, sizeof *m);
    m->n = n;
    m->n_buffers = calloc((size_t)n, sizeof *m->n_buffers);
    m->n_syms = calloc((size_t)n, sizeof *m->n_syms);
    for (int k = 0; k < n; k++) {
        m->n_buffers[k] = (int)kernels[k]->buffers.n;
        m->n_syms[k] = (int)kernels[k]->syms.n;
    }
    m->image = (fake_image){"fakegpu", m, find, arguments, launch};
    return m;
}

void fake_module_free(fake_module *m)
{
    gn_cuda_module_free(m->module);
    cuda_host_free(m->host);
    free(m->n_buffers);
    free(m->n_syms);
    free(m);
}

static gn_status *load(gn_target *target, int n, const kir_kernel *const *kernels, const gn_cuda_geometry *geometry,
                       const char *text, void **function)
{
    fake_target *t = (fake_target *)(void *)target;
    fake_module *m = module_new(n, kernels);
    gn_status *s = cuda_host_text(n, kernels, text, geometry, &m->host);
    if (!s) s = gn_cuda_module_load(t->device, m, &m->module);
    for (int k = 0; !s && k < n; k++) {
        char name[32];
        snprintf(name, sizeof name, "gn_kernel_%d", k);
        s = gn_cuda_module_function(m->module, name, &function[k]);
    }
    if (s)
        fake_module_free(m);
    else
        t->module[t->n_modules++] = m;
    return s;
}

void *fake_symbol(const fake_target *t, const char *name) { return dlsym(t->driver->library, name); }

gn_status *fake_target_open(fake_target *t)
{
    *t = (fake_target){.target = {.limits = gn_cuda_limits(), .load = load}};
    GN_TRY(gn_cuda_driver_open(getenv("GNNC_FAKE_CUDA"), &t->driver));
    GN_TRY(gn_cuda_device_open(t->driver, 0, &t->device));
    GN_TRY(gn_cuda_memory_new(t->device, &t->memory));
    t->target.remote = gn_cuda_memory_remote(t->memory);
    return NULL;
}

void fake_target_close(fake_target *t)
{
    for (int k = 0; k < t->n_modules; k++) fake_module_free(t->module[k]);
    gn_cuda_memory_free(t->memory);
    gn_cuda_device_close(t->device);
    gn_cuda_driver_close(t->driver);
}
