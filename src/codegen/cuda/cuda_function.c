/* kernel: one kernel to one function, and how it is launched. */
#include "codegen/cuda/emit_cuda.h"

#include <ctype.h>
#include <string.h>

extern const unsigned char gn_embedded_prelude_cuh[];

const char *gn_cuda_prelude(void) { return (const char *)gn_embedded_prelude_cuh; }

gn_limits gn_cuda_limits(void)
{
    return (gn_limits){.lanes = CU_WARP,
                       .vector_registers = 24, /* of a lane: more accumulators than that fill its
                                                  registers */
                       .l1_bytes = 32 * 1024,
                       .l2_bytes = 1024 * 1024,
                       .shared_bytes = CU_SHARED,
                       .max_threads = CU_MAX_THREADS,
                       .blocks = CU_PROCESSORS,
                       .fast_functions = true,
                       .units = 1 << KIR_SERIAL | 1 << KIR_UNROLL | 1 << KIR_VECTOR |
                                1 << KIR_THREAD | 1 << KIR_BLOCK | 1 << KIR_WARP | 1 << KIR_LANE,
                       .fragments = 1 << KIR_KIND_TF32 | 1 << KIR_KIND_BF16 |
                                    1 << KIR_KIND_F16}; /* of every architecture that there is code
                                                           for */
}

/* Support -------------------------------------------------------------------------------------- */

/* Warps make products of fragments, and what that needs. */
static bool only_fragments(const kir_kernel *k, kir_id first)
{
    for (kir_id i = first; i; i = kir_at(k, i)->next) {
        const kir_inst *in = kir_at(k, i);
        bool loop = in->op == KIR_FOR && in->unit <= KIR_UNROLL,
             value = kir_ops[in->op].cls == KIR_CLASS_VALUE;
        if (!loop && !value && in->op != KIR_MMA) return false;
        if (loop && !only_fragments(k, in->body)) return false;
    }
    return true;
}

static bool is_warp_loop(const kir_kernel *k, const kir_inst *in)
{
    int64_t trips = cu_trips(k, in);
    bool plain = trips > 0 && trips <= CU_MAX_THREADS / CU_WARP && kir_at(k, in->a)->imm == 0 &&
                 in->imm == 1;
    return plain && only_fragments(k, in->body);
}

static const char *unsupported(const kir_kernel *k, kir_id i, int64_t *bytes)
{
    const kir_inst *in = kir_at(k, i);
    if (in->op == KIR_INVALID || in->op >= KIR_OP_COUNT)
        return "an instruction that is not in the table";
    if (in->op == KIR_FOR && in->unit == KIR_WARP && !is_warp_loop(k, in))
        return "loops over warps that do more than multiply fragments";
    if (in->op == KIR_TDOT) return "products of pairs";
    if (in->op != KIR_TILE) return NULL;
    *bytes += in->imm * (int64_t)gn_elem_size((gn_elem)in->elem);
    return *bytes > 384 * 1024 ? "tiles of more than 384 KB" : NULL;
}

static const char *check_block(const kir_kernel *k, kir_id first, int64_t *bytes)
{
    for (kir_id i = first; i; i = kir_at(k, i)->next) {
        const char *why = unsupported(k, i, bytes);
        if (!why) why = check_block(k, kir_at(k, i)->body, bytes);
        if (why) return why;
    }
    return NULL;
}

static const char *prepare(cu *c, gn_arena *a, const kir_kernel *k, int phase)
{
    int64_t bytes = 0;
    const char *why = check_block(k, k->top, &bytes);
    if (!why && k->buffers.n + k->syms.n > 200) why = "more than 200 buffers and symbols";
    if (why) return why;
    k = kir_clone(a, k, NULL);
    uint32_t n = k->insts.n;
    *c = (cu){.arena = a, .k = k, .facts = {.k = k}, .phase = phase};
    for (kir_id i = 0; i < n; i++) kir_facts_add(&c->facts, i);
    c->thread = kir_thread_loop(k);
    c->block = c->thread && kir_at(k, c->thread)->unit == KIR_BLOCK;
    c->loop_of = GN_NEW_N(a, kir_id, n);
    c->varies = GN_NEW_N(a, bool, n);
    c->simple = GN_NEW_N(a, bool, n);
    c->used = GN_NEW_N(a, bool, n);
    c->once = GN_NEW_N(a, bool, n);
    c->tile = GN_NEW_N(a, cu_tile, n);
    c->buffer_bit = GN_NEW_N(a, int, k->buffers.n + 1);
    return cu_plan(c);
}

/* Names ---------------------------------------------------------------------------------------- */

/* Of temporaries, inputs, states and arrays of graphs, which are made by the lowering; others might
 * be anything. */
static bool is_made(const char *name)
{
    static const char *const prefix[] = {"in.", "state.", "partial_", "old."};
    for (size_t k = 0; k < sizeof prefix / sizeof *prefix; k++)
        if (!strncmp(name, prefix[k], strlen(prefix[k]))) return true;
    return (name[0] == 'v' || name[0] == 'g') && isdigit((unsigned char)name[1]);
}

static const char *plain(cu *c, const char *prefix, const char *name, const char **earlier,
                         uint32_t n)
{
    char *word = gn_arena_printf(c->arena, "%s%s", prefix, name);
    for (char *p = word; *p; p++)
        if (!isalnum((unsigned char)*p)) *p = '_';
    for (uint32_t k = 0; k < n; k++)
        if (!strcmp(earlier[k], word)) return gn_arena_printf(c->arena, "%s_%u_", word, n);
    return word;
}

static void name_all(cu *c)
{
    c->buffer = GN_NEW_N(c->arena, const char *, c->k->buffers.n + 1);
    c->sym = GN_NEW_N(c->arena, const char *, c->k->syms.n + 1);
    for (uint32_t b = 0; b < c->k->buffers.n; b++) {
        const char *name = c->k->buffers.p[b].name;
        c->buffer[b] = plain(c, is_made(name) ? "" : "out_", name, c->buffer, b);
    }
    for (uint32_t s = 0; s < c->k->syms.n; s++)
        c->sym[s] = plain(c, "n_", c->k->syms.p[s], c->sym, s);
}

/* Text ----------------------------------------------------------------------------------------- */

static void write_comment(gn_buf *out, const char *text)
{
    for (; text && *text;) {
        size_t n = strcspn(text, "\n");
        gn_buf_add(out, "// ");
        gn_buf_addn(out, text, n);
        while (out->n && out->p[out->n - 1] == '\\')
            out->n--; /* a backslash would continue the line */
        gn_buf_add(out, "\n");
        text += n + (text[n] == '\n');
    }
}

static void write_signature(cu *c, const char *symbol, int threads)
{
    const kir_kernel *k = c->k;
    const char *comma = c->phase ? ", " : "";
    if (c->phase)
        gn_buf_printf(c->out, "GN_PHASE %s(const int block", symbol);
    else
        gn_buf_printf(c->out, "GN_KERNEL(%d) %s(", threads, symbol);
    for (uint32_t b = 0; b < k->buffers.n; b++) {
        bool read_only = k->buffers.p[b].access == KIR_READ;
        gn_buf_printf(c->out, "%s%s%s *__restrict__ %s", comma, read_only ? "const " : "",
                      cu_storage_type(k->buffers.p[b].elem), c->buffer[b]);
        comma = ", ";
    }
    for (uint32_t s = 0; s < k->syms.n; s++) {
        gn_buf_printf(c->out, "%sconst gn_i64 %s", comma, c->sym[s]);
        comma = ", ";
    }
    gn_buf_add(c->out, *comma ? ")\n{\n" : "void)\n{\n");
}

static void write_begin(cu *c, const gn_cuda_geometry *g)
{
    int64_t idle = g->threads - g->per_block * g->group;
    if (g->shared_bytes && c->phase)
        cu_line(c, "GN_SHARED_OF_PHASE;");
    else if (g->shared_bytes)
        cu_line(c, "GN_SHARED(%lld);", (long long)g->shared_bytes);
    if (idle > 0) cu_line(c, "if (threadIdx.x >= %lld) return;", (long long)(g->threads - idle));
    if (c->width > 1) cu_line(c, "const int lane = GN_LANE(%d);", c->width);
    if (c->width > 1) cu_line(c, "const gn_u32 mask = GN_MASK(%d);", c->width);
    if (c->shared && g->per_block > 1)
        cu_line(c, "unsigned char *const shared = gn_shared + threadIdx.x / %d * %lld;", c->width,
                (long long)c->shared);
    else if (c->shared)
        cu_line(c, "unsigned char *const shared = gn_shared + %lld;", (long long)c->scratch);
    if (!c->phase)
        cu_line(c, "const gn_i64 iteration = GN_GROUP(%d);", c->width);
    else
        cu_line(c, "const gn_i64 iteration = (gn_i64)block * %lld + threadIdx.x / %d;",
                (long long)g->per_block, c->width);
    if (!c->thread) cu_line(c, "if (iteration > 0) return;");
    cu_line(c, "(void)iteration;");
}

/* Of a block of groups: what the kernel asks for, in whole warps. */
static int threads_of(const kir_kernel *k)
{
    int n = CU_WARP;
    while (2 * n <= k->threads && n < CU_MAX_THREADS) n *= 2;
    return k->threads ? n : CU_THREADS;
}

static gn_cuda_geometry geometry_of(const cu *c)
{
    gn_cuda_geometry g = {.group = c->width, .per_block = 1, .threads = c->width};
    if (c->thread && c->width <= CU_WARP && !c->block) {
        g.per_block = (c->phase ? c->phase : threads_of(c->k)) / c->width;
        while (g.per_block > 1 && g.per_block * c->shared > CU_SHARED) g.per_block /= 2;
        g.threads = (int)(g.per_block * c->width);
    }
    if (c->phase) g.threads = c->phase;
    g.shared_bytes = c->shared * g.per_block + c->scratch;
    return g;
}

static gn_status *plan(cu *c, gn_arena *a, const kir_kernel *k, int phase,
                       gn_cuda_geometry *geometry)
{
    const char *why = prepare(c, a, k, phase);
    if (!why && phase && c->width > phase) why = "phases of blocks that large";
    if (why) GN_FAIL(GN_ERR_BACKEND, "kernel %s: the CUDA back end has no %s", k->name, why);
    *geometry = geometry_of(c);
    c->per_block = geometry->per_block;
    return NULL;
}

gn_status *gn_cuda_launch_geometry(gn_arena *a, const kir_kernel *k, gn_cuda_geometry *geometry)
{
    return cu_geometry(a, k, 0, geometry);
}

gn_status *cu_geometry(gn_arena *a, const kir_kernel *k, int phase, gn_cuda_geometry *geometry)
{
    cu c;
    return plan(&c, a, k, phase, geometry);
}

gn_status *cu_function(const kir_kernel *k, const char *symbol, const char *origin, int phase,
                       gn_buf *out, gn_cuda_geometry *geometry)
{
    cu c;
    GN_TRY(plan(&c, out->arena, k, phase, geometry));
    c.out = out;
    name_all(&c);
    gn_buf_add(out, "\n");
    write_comment(out, k->name);
    write_comment(out, k->comment);
    write_comment(out, origin);
    write_signature(&c, symbol, geometry->threads);
    c.indent = 1;
    write_begin(&c, geometry);
    cu_block(&c, c.k->top);
    gn_buf_add(out, "}\n");
    return NULL;
}

gn_status *gn_cuda_kernel(const kir_kernel *k, const char *symbol, const char *origin, gn_buf *out,
                          gn_cuda_geometry *geometry)
{
    return cu_function(k, symbol, origin, 0, out, geometry);
}
