#include "session/ceilings.h"

#include "base/mutex.h"
#include "runtime/memory.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

const char *const gn_level_name[GN_LEVELS] = {"L1", "L2", "L3", "DRAM"};

enum { ROW = 8, TRIES = 4 };

/* Sums `row` numbers at a time; each thread has a stretch of its own, which it goes through `reps`
 * times. */
static const char
    read_text[] = "kernel @read (\n"
                  "  sym threads, sym blocks, sym reps, sym all,\n"
                  "  %%x: f32[all] read,\n  %%out: f32[threads * %d] write\n) {\n"
                  "  for %%1 in 0 .. threads step 1 thread none {\n"
                  "    %%2 = tile f32 %d\n"
                  "    for %%3 in 0 .. %d step 1 vector none {\n      tstore %%2[%%3], 0.0\n    }\n"
                  "    %%4 = imul %%1, blocks\n    %%5 = iadd %%4, blocks\n"
                  "    for %%6 in 0 .. reps step 1 serial reduce {\n"
                  "      for %%7 in %%4 .. %%5 step 1 serial reduce {\n"
                  "        %%8 = imul %%7, %d\n"
                  "        for %%9 in 0 .. %d step 1 vector none {\n"
                  "          %%10 = iadd %%8, %%9\n          %%11 = load f32 %%x[%%10]\n"
                  "          tacc sum %%2[%%9], %%11\n        }\n      }\n    }\n"
                  "    %%12 = imul %%1, %d\n"
                  "    for %%13 in 0 .. %d step 1 vector none {\n"
                  "      %%14 = tload f32 %%2[%%13]\n      %%15 = iadd %%12, %%13\n"
                  "      store %%out[%%15], %%14\n    }\n  }\n}\n";

/* Independent chains of fused multiply-adds in registers. */
static const char
    peak_text[] = "kernel @peak (\n"
                  "  sym threads, sym reps,\n"
                  "  %%x: f32[2] read,\n  %%out: f32[threads * %d] write\n) {\n"
                  "  %%1 = load f32 %%x[0]\n  %%2 = load f32 %%x[1]\n"
                  "  for %%3 in 0 .. threads step 1 thread none {\n"
                  "    %%4 = tile f32 %d\n"
                  "    for %%5 in 0 .. %d step 1 vector none {\n      tstore %%4[%%5], 0.0\n    }\n"
                  "    for %%6 in 0 .. reps step 1 serial reduce {\n"
                  "      for %%7 in 0 .. %d step 1 vector none {\n"
                  "        tfma %%4[%%7], %%1, %%2\n      }\n    }\n"
                  "    %%8 = imul %%3, %d\n"
                  "    for %%9 in 0 .. %d step 1 vector none {\n"
                  "      %%10 = tload f32 %%4[%%9]\n      %%11 = iadd %%8, %%9\n"
                  "      store %%out[%%11], %%10\n    }\n  }\n}\n";

/* The same of products of pairs. */
static const char pair_text
    [] = "kernel @pairs (\n"
         "  sym threads, sym reps,\n"
         "  %%x: f32[2] read,\n  %%out: f32[threads * %d] write\n) {\n"
         "  for %%1 in 0 .. threads step 1 thread none {\n"
         "    %%2 = tile f32 %d\n    %%3 = tile bf16 2\n    %%4 = tile bf16 %d\n"
         "    %%5 = load f32 %%x[0]\n    tstore %%3[0], %%5\n    tstore %%3[1], %%5\n"
         "    for %%6 in 0 .. %d step 1 vector none {\n      tstore %%4[%%6], %%5\n    }\n"
         "    for %%7 in 0 .. %d step 1 vector none {\n      tstore %%2[%%7], 0.0\n    }\n"
         "    for %%8 in 0 .. reps step 1 serial reduce {\n"
         "      for %%9 in 0 .. %d step 1 vector none {\n        %%10 = imod %%9, %d\n"
         "        %%11 = imul %%10, 2\n        tdot %%2[%%9], %%3[0], %%4[%%11]\n      }\n    }\n"
         "    %%12 = imul %%1, %d\n"
         "    for %%13 in 0 .. %d step 1 vector none {\n"
         "      %%14 = tload f32 %%2[%%13]\n      %%15 = iadd %%12, %%13\n"
         "      store %%out[%%15], %%14\n    }\n  }\n}\n";

typedef struct bench {
    gn_pool *pool;
    gn_image *image;
    bool pairs;
    int threads, row, chains; /* floats a row of a read, and of a step of the chains */
    float *x, *out;
    int64_t n; /* floats at x */
} bench;

typedef struct task {
    gn_kernel_fn fn;
    void *buf[2];
    int64_t sym[4];
} task;

static void call(void *ctx, int64_t lo, int64_t hi)
{
    const task *t = ctx;
    t->fn(t->buf, t->sym, lo, hi);
}

static double time_of(const bench *b, task *t)
{
    double best = INFINITY;
    for (int k = 0; k < TRIES; k++) {
        double t0 = gn_now_ms();
        gn_pool_run(b->pool, b->threads, 1, call, t);
        double ms = gn_now_ms() - t0;
        if (ms < best) best = ms;
    }
    return best;
}

/* Of kernel `number`, whose lanes do so many operations a step of a chain. */
static double gflops(const bench *b, int number, double operations)
{
    int64_t reps = 200000;
    task t = {
        .fn = gn_image_kernel(b->image, number), .buf = {b->x, b->out}, .sym = {b->threads, reps}};
    return operations * (double)reps * b->chains * b->threads / time_of(b, &t) * 1e-6;
}

/* `bytes` a thread, gone through until some milliseconds have passed. */
static double gbytes(const bench *b, double bytes)
{
    int64_t blocks = (int64_t)(bytes / (4.0 * b->row)), most = b->n / b->row / b->threads;
    if (blocks > most) blocks = most;
    double each = (double)blocks * b->row * 4;
    int64_t reps = (int64_t)(8e7 / each) + 1;
    task t = {.fn = gn_image_kernel(b->image, 0),
              .buf = {b->x, b->out},
              .sym = {b->threads, blocks, reps, b->n}};
    return each * (double)reps * b->threads / time_of(b, &t) * 1e-6;
}

/* Size of a data cache of this core, as the kernel tells; `otherwise` where it does not. */
static double cache_bytes(int index, double otherwise)
{
    char path[96];
    double n = 0;
    char unit = 0;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    FILE *f = fopen(path, "r");
    if (!f) return otherwise;
    int got = fscanf(f, "%lf%c", &n, &unit);
    fclose(f);
    if (got < 1 || n <= 0) return otherwise;
    return got == 2 && unit == 'M' ? n * 0x1p20 : got == 2 && unit == 'K' ? n * 0x1p10 : n;
}

static gn_status *compile(gn_arena *a, bench *b)
{
    gn_limits limits = gn_cpu_limits(NULL);
    b->row = ROW * limits.lanes;
    b->chains = 12 * limits.lanes;
    b->pairs = limits.pairs >> KIR_KIND_BF16 & 1;
    int n = b->chains, lanes = limits.lanes;
    const char *text[] = {
        gn_arena_printf(a, read_text, b->row, b->row, b->row, b->row, b->row, b->row, b->row),
        gn_arena_printf(a, peak_text, n, n, n, n, n, n),
        gn_arena_printf(a, pair_text, n, n, 2 * lanes, 2 * lanes, n, n, lanes, n, n)};
    kir_kernel *k[3];
    for (int i = 0; i < 2 + b->pairs; i++) {
        GN_TRY(kir_parse(a, text[i], strlen(text[i]), "ceilings", &k[i]));
        GN_TRY(kir_verify(k[i]));
    }
    gn_codegen_options o = {.opt_level = 1, .threads = 1};
    gn_codegen_stats stats;
    return gn_cpu_compile((const kir_kernel *const *)k, 2 + b->pairs, &o, &b->image, &stats);
}

static gn_status *allocate(bench *b, double largest)
{
    void *x, *out;
    b->n = (int64_t)(largest / 4) * b->threads;
    GN_TRY(gn_block_zeroed(b->n, sizeof(float), "ceilings", &x));
    b->x = x;
    GN_TRY(gn_block_zeroed((int64_t)b->threads * b->chains, sizeof(float), "ceilings", &out));
    b->out = out;
    return NULL;
}

static gn_status *measure(gn_arena *a, bench *b, gn_ceilings *c)
{
    c->level_bytes[0] = cache_bytes(0, 32 * 1024);
    c->level_bytes[1] = cache_bytes(2, 1024 * 1024);
    c->level_bytes[2] = cache_bytes(3, 32 * 1024 * 1024);
    c->level_bytes[3] = INFINITY;
    double l3 = c->level_bytes[2], far = l3 * 2 / b->threads;
    if (far > 0x1p28) far = 0x1p28;
    if (far < 0x1p25) far = 0x1p25;
    GN_TRY(compile(a, b));
    GN_TRY(allocate(b, far));
    double third = l3 / 3 / b->threads, twice = 2 * c->level_bytes[1];
    c->gflops = gflops(b, 1, 2);
    if (b->pairs) c->pair_gflops = gflops(b, 2, 4);
    c->gbytes[0] = gbytes(b, c->level_bytes[0] / 2);
    c->gbytes[1] = gbytes(b, c->level_bytes[1] / 2);
    c->gbytes[2] = gbytes(b, third > twice ? third : twice);
    c->gbytes[3] = gbytes(b, far);
    return NULL;
}

/* Of the process: one thread measures at a time, so that none slows another's. */
static struct {
    pthread_once_t once;
    gn_mutex lock;
    gn_status *failed; /* to make the lock; it stays */
    gn_ceilings ceilings;
} known = {.once = PTHREAD_ONCE_INIT};

static void make_lock(void) { known.failed = gn_mutex_init(&known.lock, GN_MUTEX_LONG); }

static gn_status *find(gn_arena *a, gn_pool *pool, gn_ceilings *out)
{
    if (known.ceilings.threads == gn_pool_threads(pool)) {
        *out = known.ceilings;
        return NULL;
    }
    double t0 = gn_now_ms();
    bench b = {.pool = pool, .threads = gn_pool_threads(pool)};
    gn_ceilings c = {.threads = b.threads};
    gn_status *s = measure(a, &b, &c);
    gn_block_free(b.x);
    gn_block_free(b.out);
    gn_image_free(b.image);
    if (s) return s;
    c.ms = gn_now_ms() - t0;
    gn_brief_begin(); /* a fork's child finds all of them or none */
    known.ceilings = c;
    gn_brief_end();
    *out = c;
    return NULL;
}

gn_status *gn_ceilings_measure(gn_arena *a, gn_pool *pool, gn_ceilings *out)
{
    jmp_buf oom, *was = a->oom;
    gn_status *s;
    pthread_once(&known.once, make_lock);
    if (known.failed) GN_FAIL(GN_ERR_NOMEM, "out of memory: a lock");
    gn_mutex_take(&known.lock);
    a->oom = &oom; /* the lock opens in any case */
    if (setjmp(oom))
        s = GN_ERROR(GN_ERR_NOMEM, "out of memory: what the machine can");
    else
        s = find(a, pool, out);
    a->oom = was;
    gn_mutex_leave(&known.lock);
    return s;
}

double gn_ceilings_rate(const gn_ceilings *c, double bytes)
{
    double seconds = 0, before = 0; /* of one byte each, by share of the levels */
    if (bytes <= 0) return c->gbytes[0];
    for (int k = 0; k < GN_LEVELS; k++) {
        double size = c->level_bytes[k];
        if (k < 2) size *= c->threads;
        double share = fmin(bytes, size) - before;
        if (share <= 0) continue;
        seconds += share / bytes / c->gbytes[k];
        before += share;
    }
    return 1 / seconds;
}
