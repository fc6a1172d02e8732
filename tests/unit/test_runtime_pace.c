/* Pace: with a clock of the test's own it finds the faster way, keeps it, sees that it changed, and
 * spends little on looking; an instance that goes both ways computes the same. */
/* links: base runtime */
#include "runtime/run/exec.h"
#include "runtime/run/pace.h"
#include "runtime_check.h"

typedef struct machine { /* what a run takes, nanoseconds */
    gn_pace pace;
    int64_t now, all, alone;
    int64_t spent, alone_runs;
} machine;

static void run_for(machine *m, int64_t runs)
{
    for (int64_t k = 0; k < runs; k++) {
        bool alone = gn_pace_alone(&m->pace);
        int64_t took = alone ? m->alone : m->all;
        m->now += took;
        m->spent += took;
        m->alone_runs += alone;
        gn_pace_ran(&m->pace, m->now, took);
    }
}

static machine machine_of(int64_t all, int64_t alone)
{
    machine m = {.all = all, .alone = alone, .now = 1};
    gn_pace_start(&m.pace);
    return m;
}

START_TEST(finds_the_faster_way)
{
    machine m = machine_of(300000, 400000);
    run_for(&m, 100);
    ck_assert(!m.pace.alone);
    ck_assert_int_eq(m.pace.ns[0], 300000);
    ck_assert_int_eq(m.pace.ns[1], 400000);
    m = machine_of(800000, 400000);
    run_for(&m, 100);
    ck_assert(m.pace.alone);
    ck_assert_int_gt(m.alone_runs, 75);
}
END_TEST

/* A gain of less than 3 per cent is none. */
START_TEST(keeps_to_what_it_has)
{
    machine m = machine_of(400000, 395000);
    run_for(&m, 1000);
    ck_assert(!m.pace.alone);
    m.alone = 300000;
    run_for(&m, 5000);
    ck_assert(m.pace.alone);
    m.all = 295000;
    run_for(&m, 50000);
    ck_assert(m.pace.alone);
}
END_TEST

START_TEST(sees_that_it_changed)
{
    machine m = machine_of(300000, 400000);
    run_for(&m, 5000);
    ck_assert(!m.pace.alone);
    m.all = 900000; /* a core has gone elsewhere: at once */
    run_for(&m, 200);
    ck_assert(m.pace.alone);
    m.all = 250000; /* it is back: at the next trial */
    run_for(&m, 60000);
    ck_assert(!m.pace.alone);
}
END_TEST

/* Looking costs less than two per cent, even where the other way takes three times as long. */
START_TEST(looking_is_cheap)
{
    enum { RUNS = 200000 };
    machine m = machine_of(300000, 900000);
    run_for(&m, RUNS);
    ck_assert_int_gt(m.alone_runs, 20);
    ck_assert_int_lt(m.spent, (int64_t)306000 * RUNS);
    m = machine_of(900000, 300000);
    run_for(&m, RUNS);
    ck_assert_int_lt(m.spent, (int64_t)306000 * RUNS);
}
END_TEST

/* With many threads one alone takes many times as long, and is run a few times only. */
START_TEST(hopeless_trials_are_short)
{
    machine m = machine_of(15000000, 300000000);
    run_for(&m, 100);
    ck_assert(!m.pace.alone);
    ck_assert_int_eq(m.alone_runs, 3);
    ck_assert_int_eq(m.pace.ns[1], 300000000);
}
END_TEST

START_TEST(one_interruption_is_nothing)
{
    machine m = machine_of(300000, 400000);
    run_for(&m, 5);
    m.all = 3000000;
    run_for(&m, 1);
    m.all = 300000;
    run_for(&m, 100);
    ck_assert(!m.pace.alone);
    ck_assert_int_eq(m.pace.ns[0], 300000);
}
END_TEST

START_TEST(long_runs_are_not_tried)
{
    machine m = machine_of(50000000, 1000);
    run_for(&m, 1000);
    ck_assert_int_eq(m.alone_runs, 0);
    m.all = 1000000;
    run_for(&m, 1000);
    ck_assert(m.pace.alone);
}
END_TEST

/* An instance ---------------------------------------------------------------------------------- */

enum { ROWS = 20000 };
static atomic_int calls;

static void count_up(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    float *x = buf[0];
    (void)sym;
    atomic_fetch_add(&calls, 1);
    for (int64_t i = lo; i < hi; i++) x[i] += (float)(i % 5);
}

/* Enough runs for a trial, with and without one region: each row is counted up once a run, and some
 * runs were one call. */
START_TEST(an_instance_goes_both_ways)
{
    static gn_sym syms[] = {{.name = "n", .kind = GN_SYM_CONST, .value = ROWS}};
    static gn_kernel_fn code[] = {count_up};
    static int zero[] = {0};
    static uint8_t access[] = {GN_READS | GN_WRITES};
    static gn_slot slot = {.kind = GN_SLOT_STATE,
                           .name = "w",
                           .elem = GN_F32,
                           .elems = {ROWS, -1, 0},
                           .row_elems = ROWS,
                           .graph = -1,
                           .alias = -1,
                           .edge_graph = -1};
    static gn_launch launch = {.name = "count",
                               .n_buf = 1,
                               .n_sym = 1,
                               .buf = zero,
                               .sym = zero,
                               .access = access,
                               .step = 1,
                               .parallel = true,
                               .trip = {ROWS, -1, 0}};
    static const gn_artifact a = {.name = "counter",
                                  .n_syms = 1,
                                  .syms = syms,
                                  .code = code,
                                  .n_code = 1,
                                  .n_slots = 1,
                                  .slots = &slot,
                                  .n_launches = 1,
                                  .launches = &launch};
    enum { RUNS = 60 };
    for (int region = 0; region < 2; region++) {
        static float w[ROWS];
        gn_pool *pool;
        gn_instance *in;
        memset(w, 0, sizeof w);
        ok(gn_pool_new(3, &pool));
        ok(gn_instance_new(&a, 0, NULL, 1, &(gn_binding){"w", GN_F32, 1, ROWS, w}, pool, NULL,
                           &in));
        if (region) ok(gn_instance_one_region(in));
        bool alone;
        int64_t all_ns, alone_ns;
        HOLDS(!gn_instance_paced(in, &alone, &all_ns, &alone_ns));
        gn_instance_pace(in, true);
        int single = 0;
        for (int k = 0; k < RUNS; k++) {
            atomic_store(&calls, 0);
            gn_instance_run(in);
            single += atomic_load(&calls) == 1;
        }
        HOLDS(single > 0 && single < RUNS); /* one, where it took far longer */
        HOLDS(gn_instance_paced(in, &alone, &all_ns, &alone_ns) && all_ns > 0 && alone_ns > 0);
        gn_instance *next;
        ok(gn_instance_next(in, 0, NULL, 1, &(gn_binding){"w", GN_F32, 1, ROWS, w}, NULL, &next));
        ok(gn_instance_follow(&in, &next)); /* which knows what was found */
        HOLDS(gn_instance_paced(in, &alone, &all_ns, &alone_ns) && all_ns > 0 && alone_ns > 0);
        gn_instance_pace(in, false);
        HOLDS(!gn_instance_paced(in, &alone, &all_ns, &alone_ns) && !alone);
        for (int64_t i = 0; i < ROWS; i++) HOLDS(w[i] == (float)(i % 5 * RUNS));
        gn_instance_free(in);
        gn_pool_free(pool);
    }
}
END_TEST

RUN_SUITE("pace", finds_the_faster_way, keeps_to_what_it_has, sees_that_it_changed,
          looking_is_cheap, hopeless_trials_are_short, one_interruption_is_nothing,
          long_runs_are_not_tried, an_instance_goes_both_ways)
