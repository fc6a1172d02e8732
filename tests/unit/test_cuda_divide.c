/* links: tune codegen lower passes frontend ir runtime cache base */
/* How kernels are divided among objects: evenly, equal ones once, and inference's by themselves. */
#include "cache/cache.h"
#include "target/cuda_code.h"
#include "kir_test.h"

#include <pthread.h>

enum { MOST = 64, ARCH = 90 };

/* Of what several threads make. */
static pthread_mutex_t tallied = PTHREAD_MUTEX_INITIALIZER;

typedef struct tally { /* of what was made */
    int objects, kernels;
    uint32_t least, most; /* instructions of an object */
    uint32_t work[MOST];  /* of each */
    int wholes, pieces, linked;
    int in[MOST];         /* a phase's piece */
    uint32_t of_piece[2]; /* its phases' instructions */
    int made_by;          /* NVRTC's version */
    int borrows;          /* phases that another program has */
    bool no_linker;       /* what is asked of it */
    int piece_fails;      /* this one does; -1: none */
    bool kernels_fail;
    int awaits, before_linker; /* milliseconds at most that the linker is loaded for an object;
                                  which were made by then */
} tally;

static gn_status *make(void *ctx, int n, const kir_kernel *const *kernels, int arch,
                       gn_code_object *out)
{
    tally *t = ctx;
    uint32_t work = 0;
    gn_cuda_geometry g[MOST];
    for (int k = 0; k < n; k++) {
        work += kernels[k]->insts.n;
        g[k] = (gn_cuda_geometry){.threads = 32, .group = 1, .per_block = 32};
    }
    if (t->kernels_fail) GN_FAIL(GN_ERR_BACKEND, "no kernels");
    pthread_mutex_lock(&tallied);
    t->least = t->objects == 0 || work < t->least ? work : t->least;
    t->most = work > t->most ? work : t->most;
    t->work[t->objects++] = work;
    t->kernels += n;
    pthread_mutex_unlock(&tallied);
    return gn_cuda_object_pack(n, arch, t->made_by, g, "code", 4, NULL, out);
}

static gn_status *whole(void *ctx, const gn_cuda_whole *w, int arch, gn_code_object *out)
{
    tally *t = ctx;
    gn_cuda_geometry g[MOST];
    for (int k = 0; k <= w->n; k++)
        g[k] = (gn_cuda_geometry){.threads = 256, .group = 1, .per_block = 32};
    t->wholes++;
    return gn_cuda_object_pack(w->n + 1, arch, 0, g, "whole", 5, NULL, out);
}

static gn_status *piece(void *ctx, const gn_cuda_whole *w, const gn_cuda_division *d, int which,
                        int arch, gn_code_object *out)
{
    tally *t = ctx;
    (void)arch;
    ck_assert_int_eq(d->n, 2);
    if (which == t->piece_fails) GN_FAIL(GN_ERR_BACKEND, "no piece %d", which);
    pthread_mutex_lock(&tallied);
    for (int k = 0; k < w->n; k++) {
        if (!w->phase[k].kernel || w->phase[k].same != k) continue;
        t->borrows += d->name && d->of[k];
        if (d->name) continue;
        t->in[k] = d->of[k];
        if (d->of[k] == which) t->of_piece[which] += w->phase[k].kernel->insts.n;
    }
    t->pieces++;
    pthread_mutex_unlock(&tallied);
    *out = (gn_code_object){(unsigned char *)strdup(which ? "1" : "0"), 1};
    return NULL;
}

static gn_status *links(void *ctx)
{
    tally *t = ctx;
    for (int ms = 0; ms < t->awaits; ms++) { /* kernels that need no linker are made meanwhile */
        pthread_mutex_lock(&tallied);
        bool made = t->objects > 0;
        pthread_mutex_unlock(&tallied);
        if (made) break;
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    t->before_linker = t->objects;
    if (t->no_linker) GN_FAIL(GN_ERR_BACKEND, "no linker");
    return NULL;
}

static gn_status *link_all(void *ctx, const gn_cuda_whole *w, int n, const gn_code_object *pieces,
                           int arch, gn_code_object *out)
{
    tally *t = ctx;
    for (int k = 0; k < n; k++) ck_assert_int_eq(*pieces[k].bytes, '0' + k); /* in order */
    t->linked++;
    t->wholes--;
    return whole(ctx, w, arch, out);
}

/* Adds `n` numbers, and `step`: kernels of one length differ in it. */
static const kir_kernel *sum(const char *name, int n, int step)
{
    gn_buf b = {.arena = &arena};
    gn_buf_printf(
        &b,
        "kernel @%s (sym n, %%x: f32[n] read_write) {\nfor %%1 in 0 .. n step 1 thread none {\n",
        name);
    gn_buf_printf(&b, "%%2 = load f32 %%x[%%1]\n");
    for (int k = 0; k < n; k++)
        gn_buf_printf(&b, "%%%d = fadd f32 %%%d, %d.5\n", 3 + k, 2 + k, step + k);
    gn_buf_printf(&b, "store %%x[%%1], %%%d\n}\n}\n", 2 + n);
    return verified(b.p);
}

/* Of each number the sum of n products with itself, in a loop that is unrolled. */
static const kir_kernel *unrolled(int n, int step)
{
    return verified(gn_arena_printf(&arena,
                                    "kernel @u (sym n, %%x: f32[n] read_write) {\n"
                                    "for %%1 in 0 .. n step 1 thread none {\n"
                                    "%%2 = tile f32 1\ntstore %%2[0], %d.5\n"
                                    "for %%3 in 0 .. %d step 1 unroll ordered {\n"
                                    "%%4 = load f32 %%x[%%1]\ntfma %%2[0], %%4, %%4\n}\n"
                                    "%%5 = tload f32 %%2[0]\nstore %%x[%%1], %%5\n}\n}\n",
                                    step, n));
}

static gn_compiled *program(int set, int n, const kir_kernel *const *kernels)
{
    gn_compiled *c = GN_NEW(&arena, gn_compiled);
    c->set = set;
    c->kernels = GN_NEW_N(&arena, const kir_kernel *, n + 1);
    for (int k = 0; k < n; k++) c->kernels[c->n_kernels++] = kernels[k];
    return c;
}

static gn_cuda_objects compiled(int n, gn_compiled *const *programs, gn_cache *cache, tally *t,
                                gn_code_report *r)
{
    gn_cuda_objects out;
    gn_codegen_options o = {.threads = 1, .cache = cache};
    gn_cuda_maker maker = {make, whole, piece, links, link_all, t};
    *t = (tally){.piece_fails = -1};
    succeeded(gn_compile_cuda(&arena, n, programs, ARCH, &o, &maker, &out, r), "gn_compile_cuda");
    return out;
}

static bool same(gn_cuda_place a, gn_cuda_place b)
{
    return a.object == b.object && a.kernel == b.kernel;
}

/* Forty kernels of very different length; no object is much larger than another, and every kernel
 * has a place of its own. */
START_TEST(even)
{
    const kir_kernel *k[40];
    tally t;
    gn_code_report r;
    for (int i = 0; i < 40; i++) k[i] = sum("k", 5 + i * i / 8, i);
    gn_compiled *p = program(0, 40, k);
    gn_cuda_objects o = compiled(1, &p, NULL, &t, &r);
    ck_assert_int_eq(t.kernels, 40);
    ck_assert_int_eq(t.objects, o.n_objects);
    ck_assert_int_ge(t.objects, 4);
    ck_assert_msg(t.least * 10 >= t.most * 9, "objects of %u to %u instructions", t.least, t.most);
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < i; j++) ck_assert(!same(o.place[0][i], o.place[0][j]));
    gn_cuda_objects_free(&o);
}
END_TEST

/* One kernel is one object, however long; none is none. */
START_TEST(few)
{
    const kir_kernel *k = sum("k", 2000, 1);
    tally t;
    gn_code_report r;
    gn_compiled *p[] = {program(0, 1, &k), program(1, 0, &k)};
    gn_cuda_objects o = compiled(2, p, NULL, &t, &r);
    ck_assert_int_eq(o.n_objects, 1);
    ck_assert_int_eq(t.kernels, 1);
    gn_cuda_objects_free(&o);
}
END_TEST

/* Two threads that take the largest object first, and then what is there, end together: objects of
 * training are as large as what inference leaves a thread to do. */
START_TEST(together)
{
    const kir_kernel *a[6], *b[36];
    tally t;
    gn_code_report r;
    uint32_t busy[2] = {0};
    for (int i = 0; i < 6; i++) a[i] = sum("a", 46, i);
    for (int i = 0; i < 36; i++) b[i] = sum("b", 21, 100 + i);
    gn_compiled *p[] = {program(0, 6, a), program(1, 36, b)};
    gn_cuda_objects o = compiled(2, p, NULL, &t, &r);
    ck_assert_int_eq(t.objects, 4);
    for (int i = 0; i < t.objects; i++)
        busy[busy[1] < busy[0]] += t.work[i]; /* one thread makes them in that order */
    ck_assert_msg(busy[0] * 20 < busy[1] * 21 && busy[1] * 20 < busy[0] * 21,
                  "%u and %u instructions", busy[0], busy[1]);
    gn_cuda_objects_free(&o);
}
END_TEST

/* How many objects 24 kernels are, each of which says `body` of a number of its own. */
static int objects_of(const char *body)
{
    const kir_kernel *k[24];
    tally t;
    gn_code_report r;
    for (int i = 0; i < 24; i++)
        k[i] = verified(
            gn_arena_printf(&arena,
                            "kernel @p (sym n, %%x: f32[n] read_write) {\n"
                            "for %%1 in 0 .. n step 1 thread none {\n%%2 = load f32 %%x[%%1]\n"
                            "%%3 = fadd f32 %%2, %d.5\n%s}\n}\n",
                            i, body));
    gn_compiled *p = program(0, 24, k);
    gn_cuda_objects o = compiled(1, &p, NULL, &t, &r);
    gn_cuda_objects_free(&o);
    return t.objects;
}

/* Sums that a vector loop of so many trips stores one after the other. */
static const char *vector(int trips)
{
    gn_buf b = {.arena = &arena};
    gn_buf_printf(&b, "%%4 = tile f32 %d\nfor %%5 in 0 .. %d step 1 vector none {\n", trips, trips);
    for (int k = 0; k < 8; k++)
        gn_buf_printf(&b, "%%%d = fadd f32 %%3, %d.5\ntstore %%4[%%5], %%%d\n", 6 + k, k, 6 + k);
    gn_buf_add(&b, "}\n%18 = tload f32 %4[0]\nstore %x[%1], %18\n");
    return b.p;
}

/* Rows that are unrolled count one by one, random numbers, powers and functions as some lines, and
 * what lanes have four of twice: short kernels make two objects a thread. */
START_TEST(long_ones)
{
    const kir_kernel *k[24];
    tally t;
    gn_code_report r;
    for (int i = 0; i < 24; i++) k[i] = unrolled(100, i);
    gn_compiled *p = program(0, 24, k);
    gn_cuda_objects o = compiled(1, &p, NULL, &t, &r);
    ck_assert_int_eq(t.objects, 2);
    gn_cuda_objects_free(&o);
    for (int i = 0; i < 24; i++) k[i] = unrolled(2, i);
    p = program(0, 24, k);
    o = compiled(1, &p, NULL, &t, &r);
    ck_assert_int_eq(t.objects, 1);
    gn_cuda_objects_free(&o);
    ck_assert_int_eq(objects_of("%4 = fadd f32 %3, %2\n%5 = fadd f32 %4, %2\nstore %x[%1], %5\n"),
                     1);
    ck_assert_int_eq(objects_of("%4 = fpow f32 %3, %2\n%5 = fadd f32 %4, %2\nstore %x[%1], %5\n"),
                     2);
    ck_assert_int_eq(objects_of("%4 = exp f32 %3\n%5 = log f32 %4\nstore %x[%1], %5\n"), 2);
    ck_assert_int_eq(objects_of(vector(15)), 1);
    ck_assert_int_eq(objects_of(vector(16)), 2);
}
END_TEST

/* Names do not tell kernels apart, neither in a program nor among programs, and places lead to the
 * one that was made. */
START_TEST(equal_ones)
{
    const kir_kernel *a[] = {sum("a", 10, 1), sum("b", 20, 2), sum("c", 10, 1)};
    const kir_kernel *b[] = {sum("d", 30, 3), sum("e", 20, 2)};
    tally t;
    gn_code_report r;
    gn_compiled *p[] = {program(1, 2, b), program(0, 3, a)};
    gn_cuda_objects o = compiled(2, p, NULL, &t, &r);
    ck_assert_int_eq(r.kernels, 5);
    ck_assert_int_eq(r.distinct, 3);
    ck_assert_int_eq(t.kernels, 3);
    ck_assert(same(o.place[1][0], o.place[1][2]));
    ck_assert(same(o.place[0][1], o.place[1][1]));
    ck_assert(!same(o.place[0][0], o.place[1][1]));
    gn_cuda_objects_free(&o);
}
END_TEST

/* What training compiled of inference is there for inference alone, and the other way round. */
START_TEST(kept)
{
    const kir_kernel *a[12], *b[12];
    tally t;
    gn_code_report r;
    gn_cache *cache;
    gn_cache_options none = {0};
    for (int i = 0; i < 12; i++) {
        a[i] = sum("a", 40 + 7 * i, i);
        b[i] = i % 3 ? sum("b", 50 + 9 * i, 100 + i) : a[i];
    }
    gn_compiled *both[] = {program(1, 12, b), program(0, 12, a)};
    succeeded(gn_cache_new(&none, &cache), "cache");
    gn_cuda_objects o = compiled(1, both + 1, cache, &t, &r);
    ck_assert_int_eq(r.misses, 12);
    gn_cuda_objects_free(&o);
    o = compiled(2, both, cache, &t, &r);
    ck_assert_int_eq(r.hits, 12);
    ck_assert_int_eq(r.misses, 8);
    ck_assert_int_eq(t.kernels, 8);
    gn_cuda_objects_free(&o);
    gn_cache_free(cache);
    succeeded(gn_cache_new(&none, &cache), "cache");
    o = compiled(2, both, cache, &t, &r);
    ck_assert_int_eq(r.misses, 20);
    gn_cuda_objects_free(&o);
    o = compiled(1, both + 1, cache, &t, &r);
    ck_assert_int_eq(r.hits, 12);
    ck_assert_int_eq(t.objects, 0);
    gn_cuda_objects_free(&o);
    gn_cache_free(cache);
}
END_TEST

/* Code that was made quickly is no code for those who ask for all optimisations, nor the other way
 * round. */
START_TEST(quick)
{
    const kir_kernel *k[] = {sum("a", 10, 1), sum("b", 20, 2)};
    tally t;
    gn_code_report r;
    gn_cache *cache;
    gn_cache_options none = {0};
    gn_compiled *p = program(0, 2, k);
    succeeded(gn_cache_new(&none, &cache), "cache");
    for (int i = 0; i < 4; i++) {
        p->quick = i % 2;
        gn_cuda_objects o = compiled(1, &p, cache, &t, &r);
        ck_assert_int_eq(r.misses, i < 2 ? 2 : 0);
        ck_assert_int_eq(r.hits, i < 2 ? 0 : 2);
        gn_cuda_objects_free(&o);
    }
    gn_cache_free(cache);
}
END_TEST

/* What a newer NVRTC made than the driver takes is made anew, where the driver is known. */
START_TEST(too_new)
{
    const kir_kernel *k[] = {sum("a", 10, 1)};
    gn_code_report r;
    gn_cuda_objects o;
    gn_cache *cache;
    gn_cache_options none = {0};
    gn_compiled *p = program(0, 1, k);
    succeeded(gn_cache_new(&none, &cache), "cache");
    static const struct {
        int driver, made_by, made;
    } runs[] = {{0, 13000, 1},     {0, 12080, 0},     {13010, 12080, 0},
                {12080, 12080, 1}, {12010, 13000, 0}, {13000, 13000, 0}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        tally t = {.piece_fails = -1, .made_by = runs[i].made_by};
        gn_cuda_maker maker = {make, whole, piece, links, link_all, &t};
        gn_codegen_options opt = {.threads = 1, .cache = cache, .driver = runs[i].driver};
        succeeded(gn_compile_cuda(&arena, 1, &p, ARCH, &opt, &maker, &o, &r), "compile");
        ck_assert_int_eq(t.objects, runs[i].made);
        gn_cuda_objects_free(&o);
    }
    gn_cache_free(cache);
}
END_TEST

/* A program in one kernel, of n kernels that are launched twice, and a copy. */
static gn_compiled *in_one_kernel(int n, const kir_kernel *const *kernels)
{
    gn_compiled *c = program(0, n, kernels);
    gn_artifact *a = GN_NEW(&arena, gn_artifact);
    gn_launch *l = GN_NEW_N(&arena, gn_launch, 2 * n + 1);
    gn_cuda_phase *p = GN_NEW_N(&arena, gn_cuda_phase, 2 * n + 1);
    gn_cuda_whole *w = GN_NEW(&arena, gn_cuda_whole);
    static const int buffers[2];
    for (int k = 0; k < 2 * n; k++) {
        l[k] = (gn_launch){.kind = GN_LAUNCH_KERNEL, .kernel = k % n};
        p[k] = (gn_cuda_phase){kernels[k % n], NULL, k % n, buffers, buffers};
    }
    l[2 * n] = (gn_launch){.kind = GN_LAUNCH_COPY};
    p[2 * n] = (gn_cuda_phase){NULL, NULL, 2 * n, buffers, buffers};
    *a = (gn_artifact){.name = "whole", .launches = l, .n_launches = 2 * n + 1};
    *w = (gn_cuda_whole){.n = 2 * n + 1, .n_buffers = 1, .n_values = 1, .phase = p};
    c->artifact = a;
    c->whole = w;
    c->quick = true;
    return c;
}

/* Two pieces that take as long, the kernel's calls counted, with what the threads have besides;
 * from the cache none. */
START_TEST(pieces)
{
    enum { N = 24 };
    const kir_kernel *k[N], *other[] = {sum("o", 800, 3)};
    tally t;
    gn_code_report r;
    gn_cache *cache;
    gn_cache_options none = {0};
    succeeded(gn_cache_new(&none, &cache), "cache");
    for (int i = 0; i < N; i++) k[i] = sum("k", 40 + 7 * i, 1);
    gn_compiled *c = in_one_kernel(N, k), *both[] = {c, program(0, 1, other)};
    both[1]->quick = true;
    gn_cuda_objects o = compiled(1, &c, cache, &t, &r);
    ck_assert(t.pieces == 2 && t.linked == 1 && t.wholes == 0 && !r.undivided);
    ck_assert_int_eq(o.n_objects, 1);
    ck_assert_int_eq(r.misses, N);
    uint32_t calls = 14 * 2 * N, of_kernel = t.of_piece[0] + calls;
    ck_assert_uint_gt(t.of_piece[0], 0);
    ck_assert_uint_lt(
        of_kernel > t.of_piece[1] ? of_kernel - t.of_piece[1] : t.of_piece[1] - of_kernel, 220);
    gn_cuda_objects_free(&o);
    o = compiled(1, &c, cache, &t, &r);
    ck_assert(t.pieces == 0 && t.linked == 0 && r.hits == N);
    gn_cuda_objects_free(&o);
    o = compiled(2, both, NULL, &t, &r); /* which one thread has already */
    ck_assert(t.pieces == 2 && t.objects == 1);
    uint32_t with = t.of_piece[0] + calls, without = t.of_piece[1];
    ck_assert_uint_gt(with > without ? with - without : without - with, 500);
    gn_cuda_objects_free(&o);
    gn_cache_free(cache);
}
END_TEST

/* What writes and reads shared memory, which the others do not. */
static const kir_kernel *sharing(void)
{
    return verified(
        "kernel @twice (sym n, %x: f32[n] read_write) {\nfor %1 in 0 .. n step 1 thread none {\n"
        "%2 = tile f32 64 for %3 in 0 .. 64 step 1 vector none {\n"
        "%4 = load f32 %x[%1] %5 = fadd f32 %4, %4 tstore %2[%3], %5 }\n"
        "%6 = tload f32 %2[7] store %x[%1], %6 }}");
}

/* Of two programs in one kernel the one that is not divided has no functions of its own where the
 * other has them, but while the other is in the cache, or blocks of one take other shared
 * memory. */
START_TEST(lent)
{
    enum { N = 24 };
    static const int pieces_then[] = {3, 2, 0}, linked_then[] = {2, 1, 0};
    const kir_kernel *k[N], *small[3] = {sum("f", 30, 7), NULL, NULL};
    tally t;
    gn_code_report r;
    gn_cache *cache;
    gn_cache_options none = {0};
    for (int i = 0; i < N; i++) k[i] = sum("k", 40 + 7 * i, 1);
    small[1] = k[5], small[2] = k[N - 1];
    gn_compiled *step = in_one_kernel(N, k), *both[] = {in_one_kernel(3, small), step};
    for (int has = 0; has < 3; has++) {
        succeeded(gn_cache_new(&none, &cache), "cache");
        gn_cuda_objects o;
        if (has) {
            o = compiled(1, &both[has - 1], cache, &t, &r);
            gn_cuda_objects_free(&o);
        }
        o = compiled(2, both, cache, &t, &r);
        ck_assert_int_eq(t.pieces, pieces_then[has]);
        ck_assert_int_eq(t.linked, linked_then[has]);
        ck_assert_int_eq(t.wholes, has == 2);
        ck_assert(has || t.borrows == 2);
        ck_assert(has == 2 || (t.in[5] == 1 && t.in[N - 1] == 1));
        gn_cuda_objects_free(&o);
        gn_cache_free(cache);
    }
    small[0] = sharing();
    both[0] = in_one_kernel(3, small);
    gn_cuda_objects o = compiled(2, both, NULL, &t, &r);
    ck_assert(t.pieces == 2 && t.linked == 1 && t.wholes == 1);
    gn_cuda_objects_free(&o);
}
END_TEST

/* As it is: where there is no linker, of all optimisations, where it is little. */
START_TEST(undivided)
{
    enum { N = 24 };
    const kir_kernel *k[N];
    tally t = {.no_linker = true, .piece_fails = -1};
    gn_code_report r;
    gn_cuda_objects o;
    gn_codegen_options opt = {.threads = 2};
    gn_cuda_maker maker = {make, whole, piece, links, link_all, &t};
    for (int i = 0; i < N; i++) k[i] = sum("k", 40 + 7 * i, 1);
    gn_compiled *c = in_one_kernel(N, k);
    succeeded(gn_compile_cuda(&arena, 1, &c, ARCH, &opt, &maker, &o, &r), "no linker");
    ck_assert(t.wholes == 1 && t.pieces == 0 && r.undivided);
    gn_cuda_objects_free(&o);
    t.no_linker = false;
    t.wholes = 0;
    succeeded(gn_compile_cuda(&arena, 1, &c, 86, &opt, &maker, &o, &r), "sm_86");
    ck_assert(t.wholes == 1 && t.pieces == 0 && !r.undivided);
    gn_cuda_objects_free(&o);
    c->quick = false;
    o = compiled(1, &c, NULL, &t, &r);
    ck_assert(t.wholes == 1 && t.pieces == 0 && !r.undivided);
    gn_cuda_objects_free(&o);
    c = in_one_kernel(3, k);
    o = compiled(1, &c, NULL, &t, &r);
    ck_assert(t.wholes == 1 && t.pieces == 0 && !r.undivided);
    gn_cuda_objects_free(&o);
    for (int fails = 0; fails < 2; fails++) { /* nothing of the other piece stays */
        t = (tally){.piece_fails = fails};
        c = in_one_kernel(N, k);
        refused(gn_compile_cuda(&arena, 1, &c, ARCH, &opt, &maker, &o, &r), GN_ERR_BACKEND,
                fails ? "no piece 1" : "no piece 0", "a piece");
        ck_assert(t.linked == 0);
        gn_cuda_objects_free(&o);
    }
}
END_TEST

/* Kernels that need no linker are made while it is loaded, once, whether there is one or not; what
 * fails of them is told. */
START_TEST(early)
{
    enum { N = 24 };
    const kir_kernel *k[N], *other[] = {sum("o", 100, 3)};
    gn_code_report r;
    gn_cuda_objects o;
    for (int i = 0; i < N; i++) k[i] = sum("k", 40 + 7 * i, 1);
    gn_compiled *both[] = {in_one_kernel(N, k), program(0, 1, other)};
    both[1]->quick = true;
    for (int run = 0; run < 4; run++) {
        gn_codegen_options opt = {.threads = 1 + (run > 0)};
        tally t = {.piece_fails = -1,
                   .no_linker = run == 2,
                   .kernels_fail = run == 3,
                   .awaits = run % 3 ? 10000 : 0};
        gn_cuda_maker maker = {make, whole, piece, links, link_all, &t};
        gn_status *s = gn_compile_cuda(&arena, 2, both, ARCH, &opt, &maker, &o, &r);
        if (run == 3) {
            refused(s, GN_ERR_BACKEND, "no kernels", "early");
        } else {
            succeeded(s, "early");
            ck_assert_int_eq(t.objects, 1);
            ck_assert_int_eq(t.before_linker, run > 0);
            ck_assert(run == 2 ? t.wholes == 1 && t.pieces == 0 : t.pieces == 2 && t.linked == 1);
        }
        gn_cuda_objects_free(&o);
    }
}
END_TEST

int main(void)
{
    TCase *c = arena_case("divide", 30);
    tcase_add_test(c, even);
    tcase_add_test(c, few);
    tcase_add_test(c, together);
    tcase_add_test(c, long_ones);
    tcase_add_test(c, equal_ones);
    tcase_add_test(c, kept);
    tcase_add_test(c, quick);
    tcase_add_test(c, too_new);
    tcase_add_test(c, pieces);
    tcase_add_test(c, lent);
    tcase_add_test(c, undivided);
    tcase_add_test(c, early);
    return run_tests(c, "CUDA objects, divided");
}
