/* whole: a program as one kernel, its launches functions that the grid calls in order. */
#include "codegen/cuda/emit.h"
#include "codegen/cuda/nvrtc.h"

#include <stdlib.h>

extern const unsigned char gn_embedded_phases_cuh[];

static gn_cuda_geometry of_copy(void)
{
    return (gn_cuda_geometry){.threads = CU_PHASE_THREADS, .group = 1, .per_block = CU_PHASE_THREADS};
}

static gn_status *check(const gn_cuda_whole *w)
{
    int64_t n = (int64_t)w->n_buffers + w->n_values + w->n + 1;
    if (n <= GN_CUDA_MOST_ARGUMENTS) return NULL;
    GN_FAIL(GN_ERR_BACKEND, "a kernel has at most %d arguments, not %lld", GN_CUDA_MOST_ARGUMENTS, (long long)n);
}

gn_status *gn_cuda_whole_geometry(gn_arena *a, const gn_cuda_whole *w, gn_cuda_geometry *phases)
{
    GN_TRY(check(w));
    for (int k = 0; k < w->n; k++) {
        const gn_cuda_phase *p = &w->phase[k];
        if (!p->kernel)
            phases[k] = of_copy();
        else if (p->same != k)
            phases[k] = phases[p->same];
        else
            GN_TRY(cu_geometry(a, p->kernel, CU_PHASE_THREADS, &phases[k]));
    }
    return NULL;
}

/* Text ---------------------------------------------------------------------------------------------------------------- */

static gn_status *write_phases(const gn_cuda_whole *w, gn_buf *out, gn_cuda_geometry *g)
{
    for (int k = 0; k < w->n; k++) {
        const gn_cuda_phase *p = &w->phase[k];
        if (!p->kernel || p->same != k) continue;
        gn_cuda_geometry same; /* as gn_cuda_whole_geometry said */
        const char *name = gn_arena_printf(out->arena, "gn_phase_%d", k);
        GN_TRY(cu_function(p->kernel, name, p->origin, g->threads, out, &same));
    }
    return NULL;
}

static void write_call(const gn_cuda_whole *w, int k, gn_buf *out)
{
    const gn_cuda_phase *p = &w->phase[k];
    gn_buf_printf(out, "    if (gn_begins(turn%d, gate)) ", k);
    if (!p->kernel) {
        gn_buf_printf(out, "gn_copy(gn_block_of(turn%d), b%d, b%d, n%d);\n", k, p->buf[0], p->buf[1], p->sym[0]);
        return;
    }
    gn_buf_printf(out, "gn_phase_%d(gn_block_of(turn%d)", p->same, k);
    for (uint32_t b = 0; b < p->kernel->buffers.n; b++)
        gn_buf_printf(out, ", (%s *)b%d", cu_storage_type(p->kernel->buffers.p[b].elem), p->buf[b]);
    for (uint32_t s = 0; s < p->kernel->syms.n; s++) gn_buf_printf(out, ", n%d", p->sym[s]);
    gn_buf_printf(out, "); // %s\n", p->kernel->name);
}

static void write_kernel(const gn_cuda_whole *w, gn_buf *out, const gn_cuda_geometry *g)
{
    gn_buf_printf(out, "\nGN_KERNEL(%d) gn_kernel_0(", g->threads);
    for (int b = 0; b < w->n_buffers; b++) gn_buf_printf(out, "void *b%d, ", b);
    for (int s = 0; s < w->n_values; s++) gn_buf_printf(out, "const gn_i64 n%d, ", s);
    for (int k = 0; k < w->n; k++) gn_buf_printf(out, "const gn_i64 turn%d, ", k);
    gn_buf_add(out, "gn_u32 *gate)\n{\n");
    for (int k = 0; k < w->n; k++) write_call(w, k, out);
    gn_buf_add(out, "}\n");
}

gn_status *gn_cuda_whole_source(const gn_cuda_whole *w, gn_buf *out, gn_cuda_geometry *geometry)
{
    gn_cuda_geometry *g = geometry;
    GN_TRY(gn_cuda_whole_geometry(out->arena, w, g + 1));
    *g = (gn_cuda_geometry){.threads = CU_PHASE_THREADS, .group = CU_PHASE_THREADS, .per_block = 1};
    for (int k = 1; k <= w->n; k++)
        if (g[k].shared_bytes > g->shared_bytes) g->shared_bytes = g[k].shared_bytes;
    gn_buf_add(out, "#define GN_PHASES\n");
    gn_buf_add(out, gn_cuda_prelude());
    gn_buf_add(out, (const char *)gn_embedded_phases_cuh);
    if (g->shared_bytes) gn_buf_printf(out, "GN_SHARED_OF_ALL(%lld);\n", (long long)g->shared_bytes);
    GN_TRY(write_phases(w, out, g));
    write_kernel(w, out, g);
    return NULL;
}

/* Objects ------------------------------------------------------------------------------------------------------------- */

static gn_status *write_whole(const void *of, gn_buf *text, gn_cuda_geometry *g)
{
    return gn_cuda_whole_source(of, text, g);
}

gn_status *gn_cuda_whole_object(const gn_cuda_whole *w, int arch, bool quick, gn_code_object *out)
{
    return cu_object(&(cu_source){w, w->n + 1, write_whole}, arch, quick, out);
}

gn_status *gn_cuda_whole_ptx(const gn_cuda_whole *w, int arch, gn_buf *out)
{
    return cu_ptx(&(cu_source){w, w->n + 1, write_whole}, arch, out);
}
