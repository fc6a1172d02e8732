/* whole: a program as one kernel, its launches functions that the grid calls in order. */
#include "codegen/cuda/emit_cuda.h"
#include "codegen/cuda/nvrtc.h"

#include <stdlib.h>

extern const unsigned char gn_embedded_phases_cuh[];

static gn_cuda_geometry of_copy(void)
{
    return (gn_cuda_geometry){
        .threads = CU_PHASE_THREADS, .group = 1, .per_block = CU_PHASE_THREADS};
}

static gn_status *check(const gn_cuda_whole *w)
{
    int64_t n = (int64_t)w->n_buffers + w->n_values + w->n + 1;
    if (n <= GN_CUDA_MOST_ARGUMENTS) return NULL;
    GN_FAIL(GN_ERR_BACKEND, "a kernel has at most %d arguments, not %lld", GN_CUDA_MOST_ARGUMENTS,
            (long long)n);
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

int64_t gn_cuda_whole_shared(gn_arena *a, const gn_cuda_whole *w)
{
    gn_cuda_geometry *g = GN_NEW_N(a, gn_cuda_geometry, w->n + 1);
    gn_status *s = gn_cuda_whole_geometry(a, w, g);
    int64_t most = s ? -1 : 0;
    gn_status_free(s);
    for (int k = 0; k < w->n && most >= 0; k++)
        if (g[k].shared_bytes > most) most = g[k].shared_bytes;
    return most;
}

/* Text ----------------------------------------------------------------------------------------- */

/* Has phase k a function of its own? */
static bool is_own(const gn_cuda_whole *w, int k)
{
    return w->phase[k].kernel && w->phase[k].same == k;
}

/* What phase k's function is called.  Where piece 1 is another program's, by its numbers, of which
 * this one's keep clear. */
static const char *function_of(gn_arena *a, const gn_cuda_division *d, int k)
{
    if (!d || !d->name) return gn_arena_printf(a, "gn_phase_%d", k);
    return d->of[k] ? gn_arena_printf(a, "gn_phase_%d", d->name[k])
                    : gn_arena_printf(a, "gn_own_phase_%d", k);
}

static gn_status *write_phase(const gn_cuda_whole *w, const gn_cuda_division *d, int k, gn_buf *out,
                              const gn_cuda_geometry *g)
{
    gn_cuda_geometry same; /* as gn_cuda_whole_geometry said */
    const char *name = function_of(out->arena, d, k);
    return cu_function(w->phase[k].kernel, name, w->phase[k].origin, g->threads, out, &same);
}

static int first_turn(const gn_cuda_whole *w) { return w->n_buffers + w->n_values; }

static void write_call(const gn_cuda_whole *w, const gn_cuda_division *d, int k, gn_buf *out)
{
    const gn_cuda_phase *p = &w->phase[k];
    uint32_t syms = p->kernel->syms.n;
    gn_buf_printf(out, "    if ((block = gn_begins(all.of[%d], gate)) >= 0) %s(block",
                  first_turn(w) + k, function_of(out->arena, d, p->same));
    for (uint32_t b = 0; b < p->kernel->buffers.n; b++)
        gn_buf_printf(out, ", (%s *)all.of[%d]", cu_storage_type(p->kernel->buffers.p[b].elem),
                      p->buf[b]);
    for (uint32_t s = 0; s < syms; s++)
        gn_buf_printf(out, ", (gn_i64)all.of[%d]", w->n_buffers + p->sym[s]);
    gn_buf_printf(out, "); // %s\n", p->kernel->name);
}

/* Copies from k on, one after the other: a loop, since calls take long to compile. */
static int write_copies(const gn_cuda_whole *w, int k, int before, gn_buf *out)
{
    int end = k;
    while (end < w->n && !w->phase[end].kernel) end++;
    gn_buf_printf(out, "    GN_ROLL\n    for (int k = 0; k < %d; k++)\n", end - k);
    gn_buf_printf(out, "        if ((block = gn_begins(all.of[%d + k], gate)) >= 0)\n",
                  first_turn(w) + k);
    gn_buf_add(out, "            gn_copy(block");
    for (int i = 0; i < 3; i++)
        gn_buf_printf(out, ", %sall.of[gn_copied[%d + 3 * k]]", i < 2 ? "(void *)" : "(gn_i64)",
                      3 * before + i);
    gn_buf_add(out, ");\n");
    return end;
}

/* Which arguments each copy takes: to where, from where, how many bytes. */
static void write_table(const gn_cuda_whole *w, gn_buf *out)
{
    const char *before = "\nGN_TABLE gn_copied[] = {\n";
    const char *after = "";
    for (int k = 0; k < w->n; k++) {
        const gn_cuda_phase *p = &w->phase[k];
        if (p->kernel) continue;
        gn_buf_printf(out, "%s    %d, %d, %d,\n", before, p->buf[0], p->buf[1],
                      w->n_buffers + p->sym[0]);
        before = "";
        after = "};\n";
    }
    gn_buf_add(out, after);
}

static void write_kernel(const gn_cuda_whole *w, const gn_cuda_division *d, gn_buf *out,
                         const gn_cuda_geometry *g)
{
    int gate = first_turn(w) + w->n, copies = 0;
    write_table(w, out);
    gn_buf_printf(
        out,
        "\n/* Addresses of buffers, %d values, turns of %d phases, and where blocks meet. */\n",
        w->n_values, w->n);
    gn_buf_printf(out, "typedef struct gn_all {\n    gn_u64 of[%d];\n} gn_all;\n", gate + 1);
    gn_buf_printf(out, "\nGN_KERNEL(%d) gn_kernel_0(GN_OF_GRID gn_all all)\n{\n", g->threads);
    gn_buf_printf(out, "    gn_u32 *const gate = (gn_u32 *)all.of[%d];\n    int block;\n", gate);
    for (int k = 0; k < w->n;) {
        if (w->phase[k].kernel) {
            write_call(w, d, k++, out);
            continue;
        }
        int end = write_copies(w, k, copies, out);
        copies += end - k;
        k = end;
    }
    gn_buf_add(out, "}\n");
}

/* What a function of another piece is called with; addresses are all alike to the linker. */
static void write_prototype(const gn_cuda_whole *w, const gn_cuda_division *d, int k, gn_buf *out)
{
    const kir_kernel *of = w->phase[k].kernel;
    gn_buf_printf(out, "GN_PHASE %s(const int", function_of(out->arena, d, k));
    for (uint32_t b = 0; b < of->buffers.n; b++) gn_buf_add(out, ", void *");
    for (uint32_t s = 0; s < of->syms.n; s++) gn_buf_add(out, ", const gn_i64");
    gn_buf_add(out, ");\n");
}

/* d NULL: all of it. */
static gn_status *write_text(const gn_cuda_whole *w, const gn_cuda_division *d, int piece,
                             gn_buf *out, gn_cuda_geometry *geometry)
{
    gn_cuda_geometry *g = geometry;
    GN_TRY(gn_cuda_whole_geometry(out->arena, w, g + 1));
    *g = (gn_cuda_geometry){.threads = CU_PHASE_THREADS, .group = CU_PHASE_THREADS, .per_block = 1};
    for (int k = 1; k <= w->n; k++)
        if (g[k].shared_bytes > g->shared_bytes) g->shared_bytes = g[k].shared_bytes;
    gn_buf_add(out, d ? "#define GN_PHASES\n#define GN_PIECE\n" : "#define GN_PHASES\n");
    gn_buf_add(out, gn_cuda_prelude());
    gn_buf_add(out, (const char *)gn_embedded_phases_cuh);
    if (g->shared_bytes)
        gn_buf_printf(out, "GN_SHARED_OF_%s(%lld);\n", piece ? "OTHERS" : "ALL",
                      (long long)g->shared_bytes);
    for (int k = 0; k < w->n && d && !piece; k++)
        if (is_own(w, k) && d->of[k] != piece) write_prototype(w, d, k, out);
    for (int k = 0; k < w->n; k++)
        if (is_own(w, k) && (!d || d->of[k] == piece)) GN_TRY(write_phase(w, d, k, out, g));
    if (!piece) write_kernel(w, d, out, g);
    return NULL;
}

gn_status *gn_cuda_whole_source(const gn_cuda_whole *w, gn_buf *out, gn_cuda_geometry *geometry)
{
    return write_text(w, NULL, 0, out, geometry);
}

gn_status *gn_cuda_piece_source(const gn_cuda_whole *w, const gn_cuda_division *d, int piece,
                                gn_buf *out, gn_cuda_geometry *geometry)
{
    return write_text(w, d, piece, out, geometry);
}

/* Objects -------------------------------------------------------------------------------------- */

static gn_status *write_whole(const void *of, gn_buf *text, gn_cuda_geometry *g)
{
    return gn_cuda_whole_source(of, text, g);
}

gn_status *gn_cuda_whole_object(const gn_cuda_whole *w, int arch, bool quick, gn_code_object *out)
{
    return cu_object(&(cu_source){w, w->n + 1, write_whole}, arch,
                     quick ? GN_NVRTC_QUICK_CUBIN : GN_NVRTC_CUBIN, out);
}

bool gn_cuda_divides(int arch) { return arch >= 90; }

typedef struct piece_of {
    const gn_cuda_whole *whole;
    const gn_cuda_division *division;
    int piece;
} piece_of;

static gn_status *write_piece(const void *of, gn_buf *text, gn_cuda_geometry *g)
{
    const piece_of *p = of;
    return gn_cuda_piece_source(p->whole, p->division, p->piece, text, g);
}

gn_status *gn_cuda_piece(const gn_cuda_whole *w, const gn_cuda_division *d, int piece, int arch,
                         gn_code_object *out)
{
    return cu_object(&(cu_source){&(piece_of){w, d, piece}, w->n + 1, write_piece}, arch,
                     GN_NVRTC_QUICK_PIECE, out);
}

gn_status *gn_cuda_whole_ptx(const gn_cuda_whole *w, int arch, bool quick, gn_buf *out)
{
    return cu_ptx(&(cu_source){w, w->n + 1, write_whole}, arch, quick, out);
}
