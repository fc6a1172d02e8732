/* Runs as one parallel region: the same bits as launch by launch, whatever meets whatever; waits
 * where launches meet and nowhere else; teams. */
/* links: base runtime */
#include "runtime/run/region.h"
#include "runtime_check.h"

#include <time.h>

enum { ROWS = 20000, FEW = 16, MOST = 40, STATES = 2 };

/* Kernels that take their time at odd places, so that who does not wait comes too early. ------- */

static void dawdle(int64_t lo)
{
    uint64_t turns = gn_random_u32(77, 3, (uint64_t)lo) % 64;
    for (volatile uint64_t k = 0; k < turns * turns; k++) continue;
}

/* out, in (rows of elsewhere), few */
static void mix(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    float *out = buf[0];
    const float *in = buf[1], *few = buf[2];
    dawdle(lo);
    for (int64_t i = lo; i < hi; i++)
        out[i] = 0.5F * in[(i * 7 + 3) % sym[0]] + few[i % FEW] + 0.25F * (float)(i % 3);
}

/* few, in: sums, by one */
static void gather_few(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    float *few = buf[0];
    const float *in = buf[1];
    HOLDS(lo == 0 && hi == 1);
    dawdle(sym[0]);
    for (int j = 0; j < FEW; j++) few[j] = 0.125F * (in[j] + in[sym[0] - 1 - j]);
}

/* few, few, state: state changes in place */
static void update(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    float *few = buf[0], *state = buf[2];
    const float *in = buf[1];
    (void)sym;
    HOLDS(lo == 0 && hi == 1);
    for (int j = 0; j < FEW; j++) {
        few[j] = 0.5F * in[j] + state[j];
        state[j] = 0.75F * state[j] + 0.5F;
    }
}

static gn_kernel_fn code[] = {mix, gather_few, update};

/* Random programs ------------------------------------------------------------------------------ */

static gn_sym syms[] = {{.name = "rows", .kind = GN_SYM_CONST, .value = ROWS}};

typedef struct program {
    gn_slot slot[MOST + STATES + 3];
    gn_launch launch[MOST];
    int buf[MOST][3], sym[1], large[MOST + 1], small[MOST + STATES + 1], n_large, n_small;
    uint8_t access[MOST][3];
    bool out[MOST];
    gn_artifact a;
} program;

static int add_slot(program *p, gn_slot_kind kind, const char *name, int64_t elems, int launch)
{
    gn_slot *s = &p->slot[p->a.n_slots];
    *s = (gn_slot){.kind = kind,
                   .name = name,
                   .elem = GN_F32,
                   .elems = {elems, -1, 0},
                   .row_elems = elems,
                   .graph = -1,
                   .alias = -1,
                   .first = launch,
                   .last = launch,
                   .edge_graph = -1};
    return p->a.n_slots++;
}

/* One of the latest few: what is older is dead, and its memory somebody else's. */
static int recent(program *p, const int *of, int n, int launch)
{
    int64_t back = random_below(n < 3 ? n : 3);
    int s = of[n - 1 - back];
    if (p->slot[s].kind == GN_SLOT_TEMP) p->slot[s].last = launch;
    return s;
}

static void add_launch(program *p, int k, bool spoken)
{
    static const int n_buf[] = {3, 2, 3};
    static const uint8_t access[3][3] = {{GN_WRITES, GN_READS, GN_READS},
                                         {GN_WRITES, GN_READS},
                                         {GN_WRITES, GN_READS, GN_READS | GN_WRITES}};
    int what = (int)random_below(3), *b = p->buf[k];
    b[1] = what == 2 ? recent(p, p->small, p->n_small, k) : recent(p, p->large, p->n_large, k);
    if (what == 0) b[2] = recent(p, p->small, p->n_small, k);
    if (what == 2) b[2] = 1 + (int)random_below(STATES); /* slots 1, 2 */
    if (what == 2 && b[1] == b[2]) b[1] = p->small[0];
    b[0] = add_slot(p, GN_SLOT_TEMP, NULL, what == 0 ? ROWS : FEW, k);
    if (what == 0)
        p->large[p->n_large++] = b[0];
    else
        p->small[p->n_small++] = b[0];
    memcpy(p->access[k], access[what], 3);
    p->launch[k] = (gn_launch){.name = "launch",
                               .kernel = what,
                               .n_buf = n_buf[what],
                               .n_sym = 1,
                               .buf = b,
                               .sym = p->sym,
                               .access = spoken ? p->access[k] : NULL,
                               .step = 1};
    p->launch[k].parallel = what == 0;
    p->launch[k].trip = (gn_term){what == 0 ? ROWS : 1, -1, 0};
}

static void random_program(program *p, int n, bool spoken)
{
    *p = (program){.a = {.name = "random", .n_syms = 1, .syms = syms, .code = code, .n_code = 3}};
    p->large[p->n_large++] = add_slot(p, GN_SLOT_INPUT, "x", ROWS, -1);
    for (int s = 0; s < STATES; s++)
        p->small[p->n_small++] = add_slot(p, GN_SLOT_STATE, s ? "v" : "w", FEW, -1);
    for (int k = 0; k < n; k++) add_launch(p, k, spoken);
    int last = p->large[p->n_large - 1], few = p->small[p->n_small - 1];
    if (p->slot[last].kind == GN_SLOT_TEMP)
        p->slot[last].kind = GN_SLOT_OUTPUT, p->slot[last].name = "out";
    if (p->slot[few].kind == GN_SLOT_TEMP)
        p->slot[few].kind = GN_SLOT_OUTPUT, p->slot[few].name = "few";
    p->a.slots = p->slot;
    p->a.launches = p->launch;
    p->a.n_launches = n;
}

static float x[ROWS], state[STATES][FEW];

/* Runs it twice; out has room for what comes of it.  spin 0: who is late is waited for not at all.
 * Was a run one region? */
static bool run(const program *p, int threads, bool region, int64_t spin, float *out)
{
    gn_pool *pool;
    gn_instance *in;
    int launches, shared, waits;
    ok(gn_pool_new(threads, &pool));
    if (spin >= 0) gn_pool_set_spin(pool, spin);
    for (int64_t i = 0; i < ROWS; i++) x[i] = (float)gn_random_uniform(1, 2, (uint64_t)i);
    for (int j = 0; j < FEW; j++) state[0][j] = state[1][j] = (float)j;
    const gn_binding b[] = {{"x", GN_F32, 1, ROWS, x},
                            {"w", GN_F32, 1, FEW, state[0]},
                            {"v", GN_F32, 1, FEW, state[1]}};
    ok(gn_instance_new(&p->a, 0, NULL, 3, b, pool, NULL, &in));
    if (region) ok(gn_instance_one_region(in));
    bool one = gn_instance_in_region(in, &launches, &shared, &waits);
    for (int k = 0; k < 2; k++) {
        gn_instance_poison(in);
        gn_instance_run(in);
        const float *large = gn_instance_output(in, "out", NULL),
                    *few = gn_instance_output(in, "few", NULL);
        if (large) memcpy(out, large, ROWS * 4);
        if (few) memcpy(out + ROWS, few, FEW * 4);
        memcpy(out + ROWS + FEW, state, sizeof state);
        out += ROWS + FEW + STATES * FEW;
    }
    gn_instance_free(in);
    gn_pool_free(pool);
    return one;
}

START_TEST(same_bits_as_launch_by_launch)
{
    enum { ALL = 2 * (ROWS + FEW + STATES * FEW) };
    static program p;
    static float want[ALL], got[ALL];
    int regions = 0;
    for (int seed = 0; seed < 60; seed++) {
        random_program(&p, 1 + (int)random_below(MOST), seed % 5 != 0);
        memset(want, 0, sizeof want);
        memset(got, 0, sizeof got);
        HOLDS(!run(&p, 1, false, -1, want));
        for (int k = 0; k < 3; k++) {
            static const int64_t spin[] = {-1, 0, 1000000};
            regions += run(&p, 2 + (seed + k) % 3, true, spin[k], got);
            if (memcmp(want, got, sizeof want) != 0)
                ck_abort_msg("program %d, spinning %lld: other bits", seed, (long long)spin[k]);
        }
    }
    ck_assert_int_gt(regions, 100);
}
END_TEST

/* Waits ---------------------------------------------------------------------------------------- */

/* Launches over these operands, two threads: how many wait. */
static gn_region_info plan(program *p, int n)
{
    gn_pool *pool;
    gn_instance *in;
    gn_region_info i = {0};
    const gn_binding b[] = {{"x", GN_F32, 1, ROWS, x},
                            {"w", GN_F32, 1, FEW, state[0]},
                            {"v", GN_F32, 1, FEW, state[1]}};
    p->a.slots = p->slot;
    p->a.launches = p->launch;
    p->a.n_launches = n;
    ok(gn_pool_new(2, &pool));
    ok(gn_instance_new(&p->a, 0, NULL, 3, b, pool, NULL, &in));
    ok(gn_instance_one_region(in));
    ck_assert(gn_instance_in_region(in, &i.launches, &i.shared, &i.waits));
    gn_instance_free(in);
    gn_pool_free(pool);
    return i;
}

static void operands(program *p, int k, int what, int to, int from, int few)
{
    static const uint8_t access[3] = {GN_WRITES, GN_READS, GN_READS};
    memcpy(p->buf[k], (int[]){to, from, few}, sizeof p->buf[k]);
    memcpy(p->access[k], access, 3);
    p->launch[k] = (gn_launch){.name = "launch",
                               .kernel = what,
                               .n_buf = what == 1 ? 2 : 3,
                               .n_sym = 1,
                               .buf = p->buf[k],
                               .sym = p->sym,
                               .access = p->access[k],
                               .step = 1,
                               .parallel = what == 0,
                               .trip = {what == 0 ? ROWS : 1, -1, 0}};
}

START_TEST(no_wait_where_none_is_needed)
{
    static program p;
    p = (program){.a = {.name = "waits", .n_syms = 1, .syms = syms, .code = code, .n_code = 3}};
    add_slot(&p, GN_SLOT_INPUT, "x", ROWS, -1);
    add_slot(&p, GN_SLOT_STATE, "w", FEW, -1);
    add_slot(&p, GN_SLOT_STATE, "v", FEW, -1);
    int a = add_slot(&p, GN_SLOT_TEMP, NULL, ROWS, 0),
        b = add_slot(&p, GN_SLOT_TEMP, NULL, ROWS, 1);
    int f = add_slot(&p, GN_SLOT_TEMP, NULL, FEW, 2), g = add_slot(&p, GN_SLOT_TEMP, NULL, FEW, 3);
    int c = add_slot(&p, GN_SLOT_TEMP, NULL, ROWS, 4);
    p.slot[a].last = p.slot[b].last = p.slot[f].last = p.slot[g].last = p.slot[c].last = 5;
    operands(&p, 0, 0, a, 0, 1); /* two shared ones that have nothing to do with each other */
    operands(&p, 1, 0, b, 0, 1);
    SAME(plan(&p, 2).waits, 0);
    operands(&p, 2, 1, f, 0, 0); /* the caller's alone, of what nobody writes, */
    operands(&p, 3, 1, g, 0, 0); /* and another */
    SAME(plan(&p, 4).waits, 0);
    operands(&p, 3, 1, g, a, 0); /* of what all made */
    SAME(plan(&p, 4).waits, 1);
    operands(&p, 4, 0, c, b, f); /* of what all made and of what the caller made */
    SAME(plan(&p, 5).waits, 2);
    operands(&p, 5, 0, a, c, g); /* written again, and read once the caller is through */
    SAME(plan(&p, 6).waits, 3);
    operands(&p, 4, 0, c, b, 1); /* all know by 4 that b is there, the caller's f does not matter */
    SAME(plan(&p, 5).waits, 2);
    gn_region_info i = plan(&p, 5);
    SAME(i.launches, 5);
    SAME(i.shared, 3);
    operands(&p, 1, 1, f, 0, 0); /* who waited for the caller has not waited for all */
    operands(&p, 2, 0, b, 0, f);
    operands(&p, 3, 0, c, a, 1);
    SAME(plan(&p, 4).waits, 2);
}
END_TEST

START_TEST(none_for_one_thread_or_nothing_to_share)
{
    static program p;
    gn_pool *pool;
    gn_instance *in;
    int n;
    random_program(&p, 8, true);
    const gn_binding b[] = {{"x", GN_F32, 1, ROWS, x},
                            {"w", GN_F32, 1, FEW, state[0]},
                            {"v", GN_F32, 1, FEW, state[1]}};
    ok(gn_pool_new(1, &pool));
    ok(gn_instance_new(&p.a, 0, NULL, 3, b, pool, NULL, &in));
    ok(gn_instance_one_region(in));
    ck_assert(!gn_instance_in_region(in, &n, &n, &n));
    gn_instance_free(in);
    gn_pool_free(pool);
    for (int k = 0; k < p.a.n_launches; k++) p.launch[k].parallel = false;
    ok(gn_pool_new(2, &pool));
    ok(gn_instance_new(&p.a, 0, NULL, 3, b, pool, NULL, &in));
    ok(gn_instance_one_region(in));
    ck_assert(!gn_instance_in_region(in, &n, &n, &n));
    gn_instance_free(in);
    gn_pool_free(pool);
}
END_TEST

START_TEST(out_of_memory)
{
    static program p;
    gn_pool *pool;
    gn_instance *in;
    random_program(&p, 12, true);
    p.launch[0].parallel = true;
    const gn_binding b[] = {{"x", GN_F32, 1, ROWS, x},
                            {"w", GN_F32, 1, FEW, state[0]},
                            {"v", GN_F32, 1, FEW, state[1]}};
    ok(gn_pool_new(2, &pool));
    do random_program(&p, 12, true);
    while (p.n_large < 2);
    ok(gn_instance_new(&p.a, 0, NULL, 3, b, pool, NULL, &in));
    OUT_OF_MEMORY_SWEEP(gn_instance_one_region(in));
    gn_instance_free(in);
    gn_pool_free(pool);
}
END_TEST

/* Teams ---------------------------------------------------------------------------------------- */

typedef struct ring {
    gn_pool *pool;
    int threads, turns;
    int64_t at; /* written in turn, without care */
    gn_point point[5];
} ring;

/* Each waits for the one before it, turn after turn. */
static void pass_on(void *ctx, int me)
{
    ring *r = ctx;
    for (int64_t k = 0; k < r->turns; k++) {
        if (me)
            ck_assert(gn_team_wait(r->pool, &r->point[me - 1], k + 1, -1));
        else if (k)
            ck_assert(gn_team_wait(r->pool, &r->point[r->threads - 1], k, -1));
        if (r->at++ != k * r->threads + me)
            ck_abort_msg("turn %lld of thread %d", (long long)k, me);
        gn_team_count(r->pool, &r->point[me]);
    }
}

START_TEST(teams_wait_for_each_other)
{
    static const int64_t spin[] = {0, 2000, 1000000};
    for (int threads = 1; threads <= 5; threads++)
        for (int s = 0; s < 3; s++) {
            ring r = {.threads = threads, .turns = 40};
            ok(gn_pool_new(threads, &r.pool));
            gn_pool_set_spin(r.pool, spin[s]);
            for (int k = 0; k < 5; k++) {
                if (k == 3)
                    nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL); /* workers fall asleep
                                                                             */
                r.at = 0;
                memset(r.point, 0, sizeof r.point);
                gn_pool_team(r.pool, pass_on, &r);
                SAME(r.at, (int64_t)threads * r.turns);
            }
            gn_pool_free(r.pool);
        }
}
END_TEST

typedef struct count {
    int64_t seen[5];
} count;

static void note(void *ctx, int me) { ((count *)ctx)->seen[me]++; }

static void each(void *ctx, int64_t lo, int64_t hi)
{
    int64_t *x_ = ctx;
    for (int64_t i = lo; i < hi; i++) x_[i]++;
}

START_TEST(teams_and_loops_take_turns)
{
    int64_t items[100] = {0};
    count c = {{0}};
    gn_pool *pool;
    ok(gn_pool_new(4, &pool));
    for (int k = 0; k < 300; k++) {
        gn_pool_team(pool, note, &c);
        gn_pool_run(pool, 100, 3, each, items);
        if (k % 50 == 0) nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    SAME(c.seen[0], 300);
    for (int t = 1; t < 4; t++) HOLDS(c.seen[t] <= 300);
    for (int i = 0; i < 100; i++) SAME(items[i], 300);
    gn_pool_free(pool);
}
END_TEST

RUN_SUITE("region", same_bits_as_launch_by_launch, no_wait_where_none_is_needed,
          none_for_one_thread_or_nothing_to_share, out_of_memory, teams_wait_for_each_other,
          teams_and_loops_take_turns)
