/* Chains: blocks of rows through several launches give the bits of launches one after another, in
 * less memory. */
/* links: base runtime */
#include "runtime/run/chain.h"
#include "runtime_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WIDE = 5, NARROW = 3, MOST = 5000 };

/* t[i] = sums of rows of x from elsewhere */
static void gather(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    const float *x = buf[0];
    float *t = buf[1];
    for (int64_t i = lo; i < hi; i++)
        for (int j = 0; j < WIDE; j++)
            t[i * WIDE + j] = x[(i * 7 + 3) % sym[0] * WIDE + j] +
                              0.25F * x[(i * 3) % sym[0] * WIDE + j];
}

/* u[i] from t[i], six rows an iteration */
static void narrow(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    const float *t = buf[0];
    float *u = buf[1];
    for (int64_t i = lo * 6; i < hi * 6 && i < sym[0]; i++)
        for (int j = 0; j < NARROW; j++)
            u[i * NARROW + j] = t[i * WIDE + j] * t[i * WIDE + j + 1] + (float)(i % 6);
}

/* out[i] from u[i], t[i] and x[i], four rows an iteration */
static void finish(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    const float *u = buf[0], *t = buf[1], *x = buf[2];
    float *out = buf[3];
    for (int64_t i = lo * 4; i < hi * 4 && i < sym[0]; i++)
        out[i] = u[i * NARROW] - u[i * NARROW + 2] + t[i * WIDE + 4] + x[i * WIDE];
}

static gn_kernel_fn code[] = {gather, narrow, finish};
static int rows_sym[] = {0}, bufs[3][4] = {{0, 1}, {1, 2}, {2, 1, 0, 3}};
static const uint8_t accesses[3][4] = {
    {GN_READS, GN_WRITES}, {GN_READS, GN_WRITES}, {GN_READS, GN_READS, GN_READS, GN_WRITES}};

typedef struct program {
    gn_sym sym;
    gn_slot slot[4];
    gn_launch launch[3];
    gn_artifact a;
} program;

static program *make(int64_t rows, int64_t bytes)
{
    static program p;
    const int64_t width[] = {WIDE, WIDE, NARROW, 1}, step[] = {1, 6, 4};
    const int n_buf[] = {2, 2, 4};
    const gn_slot_kind kind[] = {GN_SLOT_INPUT, GN_SLOT_TEMP, GN_SLOT_TEMP, GN_SLOT_OUTPUT};
    static const char *const name[] = {"x", NULL, NULL, "out"};
    p = (program){.sym = {.name = "rows", .kind = GN_SYM_CONST, .value = rows},
                  .a = {.name = "chain", .n_syms = 1, .n_slots = 4, .n_launches = 3, .n_code = 3}};
    for (int k = 0; k < 4; k++)
        p.slot[k] = (gn_slot){.kind = kind[k],
                              .name = name[k],
                              .elem = GN_F32,
                              .elems = {width[k], 0, 0},
                              .row_elems = width[k],
                              .graph = -1,
                              .alias = -1,
                              .first = k == 2 ? 1 : 0,
                              .last = 2,
                              .passed_on = kind[k] == GN_SLOT_TEMP,
                              .edge_graph = -1};
    for (int k = 0; k < 3; k++)
        p.launch[k] = (gn_launch){.name = "launch",
                                  .kernel = k,
                                  .n_buf = n_buf[k],
                                  .n_sym = 1,
                                  .buf = bufs[k],
                                  .sym = rows_sym,
                                  .access = accesses[k],
                                  .trip = {1, 0, 0},
                                  .step = step[k],
                                  .parallel = true};
    p.launch[0].chain = 3;
    p.launch[0].chain_row = (WIDE + NARROW) * (int64_t)sizeof(float);
    p.a.syms = &p.sym;
    p.a.slots = p.slot;
    p.a.launches = p.launch;
    p.a.code = code;
    p.a.chain_bytes = bytes;
    return &p;
}

static float x[MOST * WIDE + 8];

static gn_instance *bound(program *p, gn_pool *pool)
{
    gn_instance *in;
    const gn_binding b[] = {{"x", GN_F32, p->sym.value, WIDE, x}};
    for (int k = 0; k < MOST * WIDE; k++) x[k] = 0.125F * (float)(k * 11 % 97);
    ok(gn_instance_new(&p->a, 0, NULL, 1, b, pool, NULL, &in));
    return in;
}

static int64_t run(program *p, gn_pool *pool, bool region, bool timed, float *out)
{
    int64_t elems, bytes;
    gn_instance *in = bound(p, pool);
    if (region) ok(gn_instance_one_region(in));
    gn_instance_profile(in, timed);
    for (int k = 0; k < 3; k++) {
        gn_instance_poison(in);
        gn_instance_run(in);
    }
    memcpy(out, gn_instance_output(in, "out", &elems), (size_t)p->sym.value * sizeof *out);
    bytes = gn_instance_arena_bytes(in);
    gn_instance_free(in);
    return bytes;
}

START_TEST(same_bits_in_less_memory)
{
    static float want[MOST], got[MOST];
    static const int64_t rows[] = {1, 5, 11, 12, 13, 96, 1000, 4999, MOST},
                         bytes[] = {1, 1600, 3200, 9000};
    for (int threads = 1; threads < 4; threads++) {
        gn_pool *pool;
        ok(gn_pool_new(threads, &pool));
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
            program *p = make(rows[r], 1);
            int64_t plain = run(p, pool, false, false, want);
            for (size_t b = 1; b < sizeof bytes / sizeof *bytes; b++)
                for (int how = 0; how < 4; how++) {
                    p = make(rows[r], bytes[b]);
                    int64_t room = run(p, pool, how & 1, how & 2, got);
                    ck_assert_msg(!memcmp(want, got, (size_t)rows[r] * sizeof *got),
                                  "%lld rows, %lld bytes", (long long)rows[r], (long long)bytes[b]);
                    if (rows[r] == MOST && bytes[b] < 9000) HOLDS(4 * room < plain);
                }
        }
        gn_pool_free(pool);
    }
}
END_TEST

/* An empty file, which goes when it is closed. */
static int empty_file(void)
{
    char name[] = "gnnc-pages-XXXXXX";
    int fd = mkstemp(name);
    ck_assert(fd >= 0);
    ck_assert(unlink(name) == 0);
    return fd;
}

/* Temporaries in a file are let go after every few iterations, or never, and have the same bits. */
START_TEST(same_bits_in_a_file)
{
    static float want[MOST], got[MOST];
    enum { ROWS = 700 };
    static const int64_t window[] = {1, 1 << 14, 1 << 30}, bytes[] = {1, 3200};
    for (int threads = 1; threads < 4; threads += 2)
        for (size_t w = 0; w < 3 * sizeof bytes / sizeof *bytes; w++) {
            gn_pool *pool;
            gn_pages *pages;
            int64_t room;
            ok(gn_pool_new(threads, &pool));
            int64_t need = run(make(ROWS, bytes[w / 3]), pool, false, false, want);
            ok(gn_pages_new(empty_file(), need, window[w % 3], &pages));
            HOLDS(gn_pages_memory(pages, &room) && room == need);
            for (int how = 0; how < 3; how++) {
                program *p = make(ROWS, bytes[w / 3]);
                p->a.pages = pages;
                run(p, pool, how & 1, how & 2, got);
                HOLDS(!memcmp(want, got, ROWS * sizeof *got));
            }
            gn_pages_free(pages);
            gn_pool_free(pool);
        }
}
END_TEST

/* More than a window of what others lend is mapped by a kernel of few rows, and has gone after it:
 * its pages are touched by one iteration each. */
static int64_t touched;
static void touch(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    const volatile char *p = buf[0];
    for (int64_t i = lo; i < hi; i++) touched += p[i * sym[0]];
}

static int64_t resident(const void *from, int64_t bytes)
{
    char line[256];
    unsigned long long begin = 0, end;
    int64_t kb = -1;
    FILE *f = fopen("/proc/self/smaps", "r");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%llx-%llx ", &begin, &end) == 2 && strchr(line, '-') < line + 20)
            continue;
        if (begin == (uintptr_t)from && sscanf(line, "Rss: %" SCNd64, &kb) == 1) break;
    }
    if (f) fclose(f);
    return kb < 0 ? bytes : kb << 10;
}

START_TEST(lent_pages_go)
{
    enum { BYTES = 64 << 20, PAGE = 4096 };
    gn_pages *pages;
    int fd = empty_file();
    ck_assert(ftruncate(fd, BYTES) == 0);
    void *at = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
    ck_assert(at != MAP_FAILED);
    ok(gn_pages_new(-1, 0, 4 << 20, &pages));
    gn_pages_lend(pages, at, BYTES);
    int64_t row = PAGE;
    touched = 0;
    gn_pages_call(pages, touch, &at, &row, 0, BYTES / PAGE);
    SAME(touched, 0);
#ifdef __linux__
    HOLDS(resident(at, BYTES) <= 12 << 20);
#endif
    gn_pages_free(pages);
    munmap(at, BYTES);
    close(fd);
}
END_TEST

START_TEST(no_room_in_a_file)
{
    gn_pages *pages;
    gn_status *s = gn_pages_new(empty_file(), INT64_MAX / 2, 1, &pages);
    HOLDS(s && gn_status_code(s) == GN_ERR_IO && !pages);
    gn_status_free(s);
}
END_TEST

/* Blocks are of whole iterations of all, there are four a thread, and rows begin at multiples of 64
 * bytes. */
START_TEST(size_of_blocks)
{
    gn_pool *pool;
    int head;
    ok(gn_pool_new(2, &pool));
    const struct {
        int64_t rows, bytes, block;
    } c[] = {{MOST, 48 * 32, 48}, {MOST, 48 * 32 - 1, 0}, {MOST, 96 * 32 - 1, 48},
             {MOST, 96 * 32, 96}, {48 * 8, 48 * 32, 48},  {48 * 8 - 1, 48 * 32, 0}};
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        gn_instance *in = bound(make(c[k].rows, c[k].bytes), pool);
        SAME(gn_instance_chain(in, 1, &head), c[k].block);
        if (c[k].block) {
            SAME(head, 0);
            SAME(gn_instance_slot_room(in, 1), 2 * c[k].block * WIDE * 4);
            SAME(gn_instance_slot_bytes(in, 1), c[k].rows * WIDE * 4);
            SAME(gn_instance_launch(in, 1).trips, (c[k].rows + 5) / 6);
        }
        gn_instance_free(in);
    }
    gn_pool_free(pool);
}
END_TEST

/* Where much memory is saved a block may be larger than a cache, as long as there are eight a
 * thread. */
START_TEST(large_blocks)
{
    enum { LARGE_FROM = 1 << 21 }; /* rows of 32 bytes: 64 MB */
    const struct {
        int64_t rows;
        int threads;
        bool chain;
    } c[] = {{LARGE_FROM, 1, true},
             {LARGE_FROM, LARGE_FROM / 8 / 48, true},
             {LARGE_FROM, LARGE_FROM / 8 / 48 + 1, false},
             {LARGE_FROM - 1, 1, false}};
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        int64_t bytes, both = c[k].rows * WIDE * 4 + c[k].rows * NARROW * 4;
        ok(gn_plan_bytes(&make(c[k].rows, 1)->a, &c[k].rows, c[k].threads, &bytes));
        HOLDS(c[k].chain ? bytes == c[k].threads * (int64_t)48 * 32 : bytes >= both);
        ok(gn_plan_bytes(&make(c[k].rows, 96 * 32)->a, &c[k].rows, 1, &bytes));
        SAME(bytes, 96 * 32); /* what a cache has room for is taken first */
    }
}
END_TEST

START_TEST(times_are_shared_out)
{
    gn_pool *pool;
    int64_t ns[3], runs;
    ok(gn_pool_new(1, &pool));
    gn_instance *in = bound(make(MOST, 4000), pool);
    gn_instance_profile(in, true);
    for (int k = 0; k < 20; k++) gn_instance_run(in);
    gn_instance_times(in, ns, &runs);
    SAME(runs, 20);
    for (int k = 0; k < 3; k++) HOLDS(ns[k] > 0);
    gn_instance_free(in);
    gn_pool_free(pool);
}
END_TEST

static gn_status *check(program *p) { return gn_artifact_check(&p->a); }

START_TEST(what_is_no_chain)
{
    program *p = make(MOST, 4000);
    ok(check(p));
    p->launch[0].chain = 4;
    refused(check(p), GN_ERR_INTERNAL, "launch 0 begins a chain of 4");
    p = make(MOST, 0);
    refused(check(p), GN_ERR_INTERNAL, "launch 0 begins a chain of 3");
    p = make(MOST, 4000);
    p->launch[2].parallel = false;
    refused(check(p), GN_ERR_INTERNAL, "launch 2 is in a chain");
    p = make(MOST, 4000);
    p->launch[1].trip = (gn_term){1, 0, 1};
    refused(check(p), GN_ERR_INTERNAL, "launch 1 is in a chain");
    p = make(MOST, 4000);
    p->launch[0].chain = 2; /* the last launch reads what is passed on */
    refused(check(p), GN_ERR_INTERNAL, "slot 1 is passed on by no chain");
    p = make(MOST, 4000);
    p->slot[3].passed_on = true;
    refused(check(p), GN_ERR_INTERNAL, "slot 3 is passed on by no chain");
}
END_TEST

START_TEST(out_of_memory)
{
    gn_pool *pool;
    gn_instance *in;
    program *p = make(MOST, 4000);
    const gn_binding b[] = {{"x", GN_F32, MOST, WIDE, x}};
    ok(gn_pool_new(2, &pool));
    OUT_OF_MEMORY_SWEEP(gn_instance_new(&p->a, 0, NULL, 1, b, pool, NULL, &in));
    gn_instance_free(in);
    gn_pool_free(pool);
}
END_TEST

RUN_SUITE("chain", same_bits_in_less_memory, same_bits_in_a_file, lent_pages_go, no_room_in_a_file,
          size_of_blocks, large_blocks, times_are_shared_out, what_is_no_chain, out_of_memory)
