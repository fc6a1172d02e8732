/* program: several kernels to one text, to PTX, or to an object: a cubin with what a launch
 * needs. */
#include "codegen/cuda/cuda.h"
#include "codegen/cuda/emit_cuda.h"
#include "codegen/cuda/nvjitlink.h"
#include "codegen/cuda/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gn_cuda_arch(const char *name)
{
    if (!strncmp(name, "sm_", 3)) name += 3;
    char *end;
    long v = strtol(name, &end, 10);
    return *name >= '0' && *name <= '9' && !*end && v >= 80 && v < 1000 ? (int)v : 0;
}

gn_status *gn_cuda_source(int n, const kir_kernel *const *kernels, const char *const *origin,
                          gn_buf *out, gn_cuda_geometry *geometry)
{
    char symbol[32];
    gn_buf_add(out, gn_cuda_prelude());
    for (int k = 0; k < n; k++) {
        snprintf(symbol, sizeof symbol, "gn_kernel_%d", k);
        GN_TRY(gn_cuda_kernel(kernels[k], symbol, origin ? origin[k] : NULL, out, &geometry[k]));
    }
    return NULL;
}

/* Objects -------------------------------------------------------------------------------------- */

typedef struct header {
    char magic[8];
    int32_t n, arch, made_by, spare;
    int64_t cubin_bytes;
} header;

struct gn_cuda_entry {
    int64_t per_block, shared_bytes;
    int32_t threads, group;
    int32_t registers, stack, spill_stores, spill_loads;
    int32_t assembled_shared, spare;
};

static const char magic[8] = "GNCUDA2";

/* What functions keep in memory of their own, all that the assembler speaks of. */
static void add_frames(const char *log, struct gn_cuda_entry *e)
{
    for (const char *p = log; (p = strstr(p, " bytes stack frame")); p++) {
        const char *line = p;
        int stack = 0, stores = 0, loads = 0;
        while (line > log && line[-1] != ' ') line--;
        sscanf(line, "%d bytes stack frame, %d bytes spill stores, %d bytes spill loads", &stack,
               &stores, &loads);
        e->stack += stack;
        e->spill_stores += stores;
        e->spill_loads += loads;
    }
}

/* The figures behind "Compiling entry function 'gn_kernel_<k>'" in what the assembler says. */
static void read_usage(const char *log, int k, struct gn_cuda_entry *e)
{
    char name[64];
    snprintf(name, sizeof name, "entry function 'gn_kernel_%d'", k);
    const char *at = log ? strstr(log, name) : NULL;
    if (!at) return;
    const char *next = strstr(at + 1, "entry function"), *p;
    size_t n = next ? (size_t)(next - at) : strlen(at);
    char *part = malloc(n + 1);
    if (!part) return;
    memcpy(part, at, n);
    part[n] = 0; /* of the kernel, and of functions that it calls */
    add_frames(part, e);
    if ((p = strstr(part, "Used "))) sscanf(p, "Used %d registers", &e->registers);
    if ((p = strstr(part, " bytes smem"))) {
        while (p > part && p[-1] != ' ') p--;
        e->assembled_shared = atoi(p);
    }
    free(part);
}

gn_status *gn_cuda_object_pack(int n, int arch, int made_by, const gn_cuda_geometry *g,
                               const void *cubin, size_t bytes, const char *log,
                               gn_code_object *out)
{
    size_t table = (size_t)n * sizeof(struct gn_cuda_entry);
    header h = {.n = n, .arch = arch, .made_by = made_by, .cubin_bytes = (int64_t)bytes};
    memcpy(h.magic, magic, sizeof magic);
    out->n = sizeof h + table + bytes;
    out->bytes = calloc(out->n, 1);
    if (!out->bytes) GN_FAIL(GN_ERR_NOMEM, "no memory for %zu bytes of code", out->n);
    memcpy(out->bytes, &h, sizeof h);
    for (int k = 0; k < n; k++) {
        struct gn_cuda_entry e = {.per_block = g[k].per_block,
                                  .shared_bytes = g[k].shared_bytes,
                                  .threads = g[k].threads,
                                  .group = g[k].group};
        read_usage(log, k, &e);
        memcpy(out->bytes + sizeof h + (size_t)k * sizeof e, &e, sizeof e);
    }
    memcpy(out->bytes + sizeof h + table, cubin, bytes);
    return NULL;
}

gn_status *gn_cuda_object_view(const gn_code_object *object, gn_cuda_view *out)
{
    header h;
    *out = (gn_cuda_view){0};
    if (object->n < sizeof h) GN_FAIL(GN_ERR_DATA, "%zu bytes are no CUDA object", object->n);
    memcpy(&h, object->bytes, sizeof h);
    size_t rest = object->n - sizeof h;
    if (memcmp(h.magic, magic, sizeof magic) || h.n < 0 ||
        (size_t)h.n > rest / sizeof(struct gn_cuda_entry))
        GN_FAIL(GN_ERR_DATA, "no CUDA object");
    rest -= (size_t)h.n * sizeof(struct gn_cuda_entry);
    if (h.cubin_bytes < 0 || (uint64_t)h.cubin_bytes != rest)
        GN_FAIL(GN_ERR_DATA, "a CUDA object of %zu bytes of code says %lld", rest,
                (long long)h.cubin_bytes);
    *out = (gn_cuda_view){.n = h.n,
                          .arch = h.arch,
                          .made_by = h.made_by,
                          .cubin = object->bytes + (object->n - rest),
                          .cubin_bytes = rest};
    out->entry = (const struct gn_cuda_entry *)(const void *)(object->bytes + sizeof h);
    for (int k = 0; k < h.n; k++) {
        gn_cuda_geometry g;
        gn_cuda_usage u;
        gn_cuda_view_kernel(out, k, &g, &u);
        bool fair = g.threads >= 1 && g.threads <= 1024 && g.group >= 1 && g.group <= g.threads &&
                    g.per_block >= 1 && g.per_block <= g.threads && g.shared_bytes >= 0 &&
                    g.shared_bytes <= 256 * 1024;
        if (!fair) GN_FAIL(GN_ERR_DATA, "a CUDA object whose kernel %d cannot be launched", k);
    }
    return NULL;
}

void gn_cuda_view_kernel(const gn_cuda_view *v, int k, gn_cuda_geometry *g, gn_cuda_usage *u)
{
    struct gn_cuda_entry e;
    memcpy(&e, (const unsigned char *)v->entry + (size_t)k * sizeof e, sizeof e);
    *g = (gn_cuda_geometry){.threads = e.threads,
                            .group = e.group,
                            .per_block = e.per_block,
                            .shared_bytes = e.shared_bytes};
    *u = (gn_cuda_usage){.registers = e.registers,
                         .stack = e.stack,
                         .spill_stores = e.spill_stores,
                         .spill_loads = e.spill_loads,
                         .shared_bytes = e.assembled_shared};
}

/* Pieces --------------------------------------------------------------------------------------- */

/* An object's entries are as it was packed: of one that was, entry 0. */
static struct gn_cuda_entry first_entry(const gn_code_object *o)
{
    struct gn_cuda_entry e;
    memcpy(&e, o->bytes + sizeof(header), sizeof e);
    return e;
}

static void set_first_entry(gn_code_object *o, const struct gn_cuda_entry *e)
{
    memcpy(o->bytes + sizeof(header), e, sizeof *e);
}

/* Of a piece its functions' frames alone are known: how many registers a kernel takes the linker
 * says. */
static void set_usage_of_piece(gn_code_object *piece, const char *log)
{
    struct gn_cuda_entry e = first_entry(piece);
    e.registers = e.stack = e.spill_stores = e.spill_loads = 0;
    add_frames(log ? log : "", &e);
    set_first_entry(piece, &e);
}

/* "used 244 registers, used 2 barriers, 376 stack, ..." */
static void read_linked(const char *log, struct gn_cuda_entry *e)
{
    const char *at = log ? strstr(log, "'gn_kernel_0'") : NULL,
               *used = at ? strstr(at, "used ") : NULL;
    const char *stack = used ? strstr(used, " stack") : NULL;
    if (used) sscanf(used, "used %d registers", &e->registers);
    while (stack && stack > used && stack[-1] != ' ') stack--;
    if (stack) sscanf(stack, "%d stack", &e->stack);
}

static gn_status *link_pieces(const gn_nvjitlink *linker, int n, const gn_cuda_view *v,
                              const void *const *cubin, const size_t *bytes,
                              const gn_code_object *first, gn_code_object *out)
{
    unsigned char *code;
    size_t size, before = first->n - v[0].cubin_bytes;
    char *log;
    gn_status *s = gn_nvjitlink_link(linker, n, cubin, bytes, v[0].arch, &code, &size, &log);
    if (!s) {
        out->n = before + size;
        out->bytes = malloc(out->n);
        if (!out->bytes) s = GN_ERROR(GN_ERR_NOMEM, "no memory for %zu bytes of code", out->n);
    }
    if (!s) {
        header h;
        memcpy(&h, first->bytes, sizeof h);
        h.cubin_bytes = (int64_t)size;
        memcpy(out->bytes, first->bytes, before);
        memcpy(out->bytes, &h, sizeof h);
        memcpy(out->bytes + before, code, size);
        struct gn_cuda_entry e = first_entry(out);
        for (int k = 1; k < n; k++) {
            gn_cuda_geometry g;
            gn_cuda_usage u;
            gn_cuda_view_kernel(&v[k], 0, &g, &u);
            e.spill_stores += u.spill_stores;
            e.spill_loads += u.spill_loads;
        }
        read_linked(log, &e);
        e.assembled_shared = (int32_t)e.shared_bytes;
        set_first_entry(out, &e);
    }
    free(code);
    free(log);
    return s;
}

gn_status *gn_cuda_link(int n, const gn_code_object *pieces, gn_code_object *out)
{
    enum { MOST = 64 };
    gn_cuda_view v[MOST];
    const void *cubin[MOST];
    size_t bytes[MOST];
    gn_nvjitlink linker;
    *out = (gn_code_object){0};
    if (n < 1 || n > MOST) GN_FAIL(GN_ERR_INTERNAL, "a program of %d pieces", n);
    for (int k = 0; k < n; k++) {
        GN_TRY(gn_cuda_object_view(&pieces[k], &v[k]));
        cubin[k] = v[k].cubin;
        bytes[k] = v[k].cubin_bytes;
    }
    GN_TRY(gn_nvjitlink_open(v[0].made_by / 1000, v[0].made_by % 1000 / 10, &linker));
    return link_pieces(&linker, n, v, cubin, bytes, &pieces[0], out);
}

gn_status *gn_cuda_linker(gn_buf *out)
{
    gn_nvrtc n;
    gn_nvjitlink l;
    GN_TRY(gn_nvrtc_open(&n));
    GN_TRY(gn_nvjitlink_open(n.major, n.minor, &l));
    if (out) gn_buf_printf(out, "nvJitLink %u.%u (%s)", l.major, l.minor, l.path);
    return NULL;
}

/* Compiling ------------------------------------------------------------------------------------ */

typedef struct compiled { /* malloc'd */
    unsigned char *bytes;
    size_t size;
    char *log;
    int made_by;
} compiled;

static void drop(compiled *c)
{
    free(c->bytes);
    free(c->log);
}

static int version_of(const gn_nvrtc *n) { return 1000 * n->major + 10 * n->minor; }

/* The arena is asked for nothing any more when there is something to be freed: it would jump past
 * that. */
static gn_status *compile(gn_arena *a, const cu_source *s, int arch, gn_nvrtc_output what,
                          gn_cuda_geometry *g, compiled *out)
{
    gn_nvrtc nvrtc;
    gn_buf text = {.arena = a};
    GN_TRY(gn_nvrtc_open(&nvrtc));
    out->made_by = version_of(&nvrtc);
    GN_TRY(s->write(s->of, &text, g));
    return gn_nvrtc_compile(&nvrtc, text.p, arch, what, &out->bytes, &out->size, &out->log);
}

static gn_status *make_object(gn_arena *a, const cu_source *from, int arch, gn_nvrtc_output what,
                              gn_code_object *out)
{
    compiled c = {0};
    gn_cuda_geometry *g = GN_NEW_N(a, gn_cuda_geometry, from->n + 1);
    gn_status *s = compile(a, from, arch, what, g, &c);
    if (!s) s = gn_cuda_object_pack(from->n, arch, c.made_by, g, c.bytes, c.size, c.log, out);
    if (!s && what == GN_NVRTC_QUICK_PIECE) set_usage_of_piece(out, c.log);
    drop(&c);
    return s;
}

/* In an arena of its own: several threads compile at once. */
gn_status *cu_object(const cu_source *from, int arch, gn_nvrtc_output what, gn_code_object *out)
{
    gn_arena a;
    jmp_buf oom;
    *out = (gn_code_object){0};
    gn_arena_init(&a);
    a.oom = &oom;
    gn_status *s;
    if (setjmp(oom))
        s = GN_ERROR(GN_ERR_NOMEM, "no memory to compile kernels (%zu bytes)", a.wanted);
    else
        s = make_object(&a, from, arch, what, out);
    gn_arena_free(&a);
    return s;
}

/* Code is held meanwhile, so a failure is a status here. */
static gn_status *append(gn_buf *out, const char *text, size_t n)
{
    jmp_buf oom, *before = out->arena->oom;
    gn_status *s = NULL;
    out->arena->oom = &oom;
    if (setjmp(oom))
        s = GN_ERROR(GN_ERR_NOMEM, "no memory for %zu bytes of code", n);
    else
        gn_buf_addn(out, text, n);
    out->arena->oom = before;
    return s;
}

gn_status *cu_ptx(const cu_source *from, int arch, bool quick, gn_buf *out)
{
    compiled c = {0};
    gn_cuda_geometry *g = GN_NEW_N(out->arena, gn_cuda_geometry, from->n + 1);
    gn_status *s = compile(out->arena, from, arch, quick ? GN_NVRTC_QUICK_PTX : GN_NVRTC_PTX, g,
                           &c);
    size_t n = !s && c.size && !c.bytes[c.size - 1] ? c.size - 1 : c.size;
    if (!s) s = append(out, (const char *)c.bytes, n);
    drop(&c);
    return s;
}

typedef struct kernels {
    int n;
    const kir_kernel *const *of;
} kernels;

static gn_status *write_kernels(const void *of, gn_buf *text, gn_cuda_geometry *g)
{
    const kernels *k = of;
    return gn_cuda_source(k->n, k->of, NULL, text, g);
}

gn_status *gn_cuda_object(int n, const kir_kernel *const *of, int arch, bool quick,
                          gn_code_object *out)
{
    return cu_object(&(cu_source){&(kernels){n, of}, n, write_kernels}, arch,
                     quick ? GN_NVRTC_QUICK_CUBIN : GN_NVRTC_CUBIN, out);
}

gn_status *gn_cuda_ptx(int n, const kir_kernel *const *of, int arch, bool quick, gn_buf *out)
{
    return cu_ptx(&(cu_source){&(kernels){n, of}, n, write_kernels}, arch, quick, out);
}

gn_status *gn_cuda_describe(gn_buf *out)
{
    gn_nvrtc n;
    GN_TRY(gn_nvrtc_open(&n));
    gn_buf_printf(out, "NVRTC %d.%d (%s)", n.major, n.minor, n.path);
    return NULL;
}

int gn_cuda_nvrtc_version(void)
{
    gn_nvrtc n;
    gn_status *s = gn_nvrtc_open(&n);
    bool there = !s;
    gn_status_free(s);
    return there ? version_of(&n) : 0;
}

bool gn_cuda_too_new(int made_by, int driver, char why[GN_CUDA_WHY])
{
    int major = made_by / 1000, served = driver / 1000;
    (void)snprintf(why, GN_CUDA_WHY,
                   "the driver is for CUDA %d.%d and older, and NVRTC %d.%d makes code for drivers "
                   "of CUDA %d and newer: "
                   "update the driver, or name a libnvrtc.so.%d in GNNC_NVRTC (pip install "
                   "nvidia-cuda-nvrtc-cu%d)",
                   served, driver % 1000 / 10, major, made_by % 1000 / 10, major, served, served);
    return major > served;
}

gn_status *gn_cuda_archs(gn_buf *out)
{
    gn_nvrtc n;
    GN_TRY(gn_nvrtc_open(&n));
    gn_nvrtc_archs(&n, out);
    return NULL;
}
