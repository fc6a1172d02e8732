/* What the back ends' tests share: a kernel from text is compiled for every width that this machine
 * runs, called on buffers that end at a page that cannot be read, and compared with the loop IR's
 * evaluator.  With CODEGEN_CUDA it is what the CUDA back end writes that runs, on the CPU, threads
 * in all orders. */
#ifndef GN_TEST_CODEGEN_TEST_H
#define GN_TEST_CODEGEN_TEST_H

#include "base/half.h"
#include "codegen/backend.h"
#include "kir_test.h"
#ifdef CODEGEN_CUDA
#include "support/cuda_host.h"
#endif

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_BUFFERS = 8 };

/* `n` bytes whose end (or whose beginning) borders on a page that faults. */
typedef struct fenced {
    unsigned char *map, *p;
    size_t map_size, n;
} fenced;

static inline fenced fenced_new(size_t n, bool at_end)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (n + page - 1) / page * page;
    fenced f = {.map_size = size + 2 * page, .n = n};
    void *map = mmap(NULL, f.map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(map != MAP_FAILED);
    f.map = map;
    if (size) ck_assert(!mprotect(f.map + page, size, PROT_READ | PROT_WRITE));
    f.p = f.map + page + (at_end ? size - n : 0);
    return f;
}

static inline void fenced_free(fenced *f) { munmap(f->map, f->map_size); }

static inline uint32_t test_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Small numbers that every type holds; integers in [0, limit). */
static inline void fill(void *p, gn_elem e, int64_t n, int64_t limit, uint32_t *state)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t r = test_random(state);
        float x = (float)(r % 2001) * 0.001f - 1.0f;
        int64_t k = limit > 0 ? (int64_t)(r % (uint32_t)limit) : 0;
        switch (e) {
        case GN_F32: ((float *)p)[i] = x; break;
        case GN_F64: ((double *)p)[i] = x; break;
        case GN_BF16: ((uint16_t *)p)[i] = gn_f32_to_bf16(x); break;
        case GN_F16: ((uint16_t *)p)[i] = gn_f32_to_f16(x); break;
        case GN_I32:
        case GN_U32: ((uint32_t *)p)[i] = (uint32_t)k; break;
        case GN_I64: ((int64_t *)p)[i] = k; break;
        case GN_U8: ((uint8_t *)p)[i] = (uint8_t)k; break;
        default: ((uint8_t *)p)[i] = r & 1; break;
        }
    }
}

static inline double element(const void *p, gn_elem e, int64_t i)
{
    switch (e) {
    case GN_F32: return (double)((const float *)p)[i];
    case GN_F64: return ((const double *)p)[i];
    case GN_BF16: return (double)gn_bf16_to_f32(((const uint16_t *)p)[i]);
    case GN_F16: return (double)gn_f16_to_f32(((const uint16_t *)p)[i]);
    case GN_I32: return ((const int32_t *)p)[i];
    case GN_U32: return ((const uint32_t *)p)[i];
    case GN_I64: return (double)((const int64_t *)p)[i];
    default: return ((const uint8_t *)p)[i];
    }
}

static inline int64_t buffer_elems(const kir_kernel *k, int b, const int64_t *syms)
{
    kir_size s = k->buffers.p[b].size;
    return (s.sym < 0 ? s.coef : s.coef * syms[s.sym]) + s.plus;
}

#if defined(__aarch64__)
static const char *const test_cpus[] = {NULL, "armv8-a", "neoverse-n1"};
#else
static const char *const test_cpus[] = {NULL, "x86-64-v3", "x86-64-v2"};
#endif
enum { TEST_CPUS = 3 };

static inline bool test_cpu_runs(int i)
{
#if defined(__x86_64__)
    if (i == 1) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return true;
#else
    return i < 2;
#endif
}

typedef struct check_options {
    int64_t syms[4];
    int64_t limit;                 /* of integers in buffers that are read */
    double tolerance;              /* relative to 1 + |x|; 0: the same bits */
    const void *data[MAX_BUFFERS]; /* instead of random numbers */
    int64_t lo, hi;                /* of the thread loop, when hi > 0 */
    int64_t split;                 /* called in ranges of that many iterations */
    int cpus;                      /* how many of test_cpus; 0: all */
    uint32_t seed;
    bool sanitize, watch;
    gn_switches off;
} check_options;

static inline int64_t trips(const kir_kernel *k, const int64_t *syms)
{
    kir_id t = kir_thread_loop(k);
    if (!t) return 1;
    const kir_inst *in = kir_at(k, t), *b = kir_at(k, in->b);
    int64_t end = b->op == KIR_SYM ? syms[b->imm] : b->imm;
    return end <= 0 ? 0 : (end + in->imm - 1) / in->imm;
}

#ifndef CODEGEN_CUDA
static inline void call(const kir_kernel *k, gn_kernel_fn fn, void **buf, const check_options *o)
{
    int64_t n = trips(k, o->syms), step = o->split ? o->split : n ? n : 1;
    for (int64_t lo = 0; lo < n; lo += step) fn(buf, o->syms, lo, lo + step < n ? lo + step : n);
}

#endif

static inline void compare(const kir_kernel *k, int b, const void *got, const void *want, int64_t n,
                           double tolerance, const char *cpu, const char *text)
{
    gn_elem e = k->buffers.p[b].elem;
    for (int64_t i = 0; i < n; i++) {
        double x = element(got, e, i), y = element(want, e, i);
        bool same = x == y || (isfinite(y) && fabs(x - y) <= tolerance * (1 + fabs(y)));
        ck_assert_msg(same || (isnan(x) && isnan(y)), "%s: %s[%lld] is %.9g, not %.9g\n%s",
                      cpu ? cpu : "host", k->buffers.p[b].name, (long long)i, x, y, text);
    }
}

#ifdef CODEGEN_CUDA
typedef struct test_code {
    kir_kernel *k;
    const char *text;
    cuda_host *host;
    int number; /* of the host's kernels */
} test_code;

static inline test_code test_compile(const char *text, const check_options *o)
{
    test_code t = {.k = verified(text), .text = text};
    (void)o;
    succeeded(cuda_host_compile(1, (const kir_kernel *const *)&t.k, &t.host), text);
    return t;
}

static inline void test_code_free(test_code *t) { cuda_host_free(t->host); }

/* At the end of a page where that is an address that a GPU could have given, else at the beginning
 * of one. */
static inline void test_ways(const test_code *t, const kir_bound_buffer *start,
                             const kir_bound_buffer *want, const check_options *o)
{
    static const char *const name[] = {"ascending", "descending", "seeded order"};
    for (int order = 0; order < 3; order++) {
        fenced f[MAX_BUFFERS];
        void *buf[MAX_BUFFERS];
        size_t bytes[MAX_BUFFERS];
        int n = (int)t->k->buffers.n;
        for (int b = 0; b < n; b++) {
            bytes[b] = (size_t)start[b].elems * gn_elem_size(t->k->buffers.p[b].elem);
            f[b] = fenced_new(bytes[b], bytes[b] % 16 == 0);
            if (bytes[b]) memcpy(f[b].p, start[b].data, bytes[b]);
            buf[b] = f[b].p;
        }
        succeeded(cuda_host_launch(t->host, t->number, buf, bytes, o->syms, trips(t->k, o->syms),
                                   (cuda_order)order, o->seed),
                  t->text);
        for (int b = 0; b < n; b++) {
            compare(t->k, b, buf[b], want[b].data, start[b].elems, o->tolerance, name[order],
                    t->text);
            fenced_free(&f[b]);
        }
    }
}
#else
static inline void run_one(const kir_kernel *k, gn_kernel_fn fn, const kir_bound_buffer *start,
                           const kir_bound_buffer *want, bool at_end, const check_options *o,
                           const char *cpu, const char *text)
{
    fenced f[MAX_BUFFERS];
    void *buf[MAX_BUFFERS];
    int n = (int)k->buffers.n;
    for (int b = 0; b < n; b++) {
        size_t bytes = (size_t)start[b].elems * gn_elem_size(k->buffers.p[b].elem);
        f[b] = fenced_new(bytes, at_end);
        if (bytes) memcpy(f[b].p, start[b].data, bytes);
        buf[b] = f[b].p;
    }
    call(k, fn, buf, o);
    for (int b = 0; b < n; b++) {
        compare(k, b, buf[b], want[b].data, start[b].elems, o->tolerance, cpu, text);
        fenced_free(&f[b]);
    }
}

static inline gn_image *compiled(const kir_kernel *k, const char *cpu, const check_options *o,
                                 const char *text)
{
    gn_image *image = NULL;
    gn_codegen_options opt = {.opt_level = SUITE_OPT_LEVEL,
                              .cpu = cpu,
                              .sanitize = o->sanitize,
                              .watch = o->watch,
                              .off = o->off};
    succeeded(gn_cpu_compile(&k, 1, &opt, &image, NULL), text);
    return image;
}

typedef struct test_code {
    kir_kernel *k;
    const char *text;
    gn_image *image[TEST_CPUS]; /* NULL: this machine cannot run it, or it is not wanted */
} test_code;

static inline test_code test_compile(const char *text, const check_options *o)
{
    test_code t = {.k = verified(text), .text = text};
    ck_assert(t.k->buffers.n <= MAX_BUFFERS);
    for (int i = 0; i < TEST_CPUS && (!o->cpus || i < o->cpus); i++)
        if (test_cpu_runs(i)) t.image[i] = compiled(t.k, test_cpus[i], o, text);
    return t;
}

static inline void test_code_free(test_code *t)
{
    for (int i = 0; i < TEST_CPUS; i++) gn_image_free(t->image[i]);
}

static inline void test_ways(const test_code *t, const kir_bound_buffer *start,
                             const kir_bound_buffer *want, const check_options *o)
{
    for (int i = 0; i < TEST_CPUS; i++)
        for (int end = 0; end < 2 && t->image[i]; end++)
            run_one(t->k, gn_image_kernel(t->image[i], 0), start, want, end, o, test_cpus[i],
                    t->text);
}
#endif

/* Runs on every width and compares. */
static inline void test_run(const test_code *t, const check_options *o)
{
    const kir_kernel *k = t->k;
    kir_bound_buffer start[MAX_BUFFERS], want[MAX_BUFFERS];
    uint32_t seed = o->seed + 1;
    for (int b = 0; b < (int)k->buffers.n; b++) {
        gn_elem e = k->buffers.p[b].elem;
        int64_t n = buffer_elems(k, b, o->syms);
        size_t bytes = (size_t)n * gn_elem_size(e);
        start[b] = (kir_bound_buffer){gn_arena_alloc(&arena, bytes + 1, 1), n};
        want[b] = (kir_bound_buffer){gn_arena_alloc(&arena, bytes + 1, 1), n};
        if (o->data[b])
            memcpy(start[b].data, o->data[b], bytes);
        else
            fill(start[b].data, e, n, o->limit, &seed);
        if (bytes) memcpy(want[b].data, start[b].data, bytes);
    }
    succeeded(kir_eval(k, NULL, want, o->syms), t->text);
    test_ways(t, start, want, o);
}

static inline void checked(const char *text, const check_options *o)
{
    test_code t = test_compile(text, o);
    test_run(&t, o);
    test_code_free(&t);
}

/* Several texts, with options each; the C compiler, which takes long to start, gets the CUDA of all
 * of them at once. */
static inline void checked_all(int n, const char *const *text, const check_options *o)
{
#ifdef CODEGEN_CUDA
    const kir_kernel **k = GN_NEW_N(&arena, const kir_kernel *, n);
    test_code *t = GN_NEW_N(&arena, test_code, n);
    cuda_host *host;
    for (int i = 0; i < n; i++) {
        t[i] = (test_code){.k = verified(text[i]), .text = text[i], .number = i};
        k[i] = t[i].k;
    }
    succeeded(cuda_host_compile(n, k, &host), text[0]);
    for (int i = 0; i < n; i++) {
        t[i].host = host;
        test_run(&t[i], &o[i]);
    }
    cuda_host_free(host);
#else
    for (int i = 0; i < n; i++) checked(text[i], &o[i]);
#endif
}

/* The first symbol takes each of the lengths. */
static inline void checked_lengths(const char *text, const check_options *opt, const int *length,
                                   int n)
{
    check_options o = *opt;
    test_code t = test_compile(text, &o);
    for (int i = 0; i < n; i++) {
        o.syms[0] = length[i];
        o.seed++;
        test_run(&t, &o);
    }
    test_code_free(&t);
}

/* Replaces every `#` of the text by a number. */
static inline const char *with_number(const char *text, int64_t n)
{
    gn_buf b = {.arena = &arena};
    gn_buf_add(&b, "");
    for (; *text; text++) {
        if (*text == '#')
            gn_buf_printf(&b, "%lld", (long long)n);
        else
            gn_buf_addn(&b, text, 1);
    }
    return b.p;
}

#endif
