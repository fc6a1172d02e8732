/* Schedules in the public API: searched for by the first call, on its data; what is wrong is not
 * taken; kept, locked, refused. Nothing here depends on which candidate is faster, but where the
 * default is made slow. */
/* labels: long */
/* timeout: 600 */
#include "api/api.h"
#include "support/api_life.h"

#include <math.h>
#include <stdatomic.h>
#include <unistd.h>

static char dir[32];

static void enter(void)
{
    strcpy(dir, "/tmp/gnnc-api-tune-XXXXXX");
    ck_assert(mkdtemp(dir) != NULL);
}

static void leave(void) { remove_all(dir); }

static const char *in_dir(const char *name)
{
    static char path[2][80];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", dir, name);
    return path[turn];
}

/* What a search makes, and what is done to it. */
typedef struct spy {
    atomic_int defaults, candidates;
    bool slow, spoil;
    int most;         /* candidates of a search; 0: any number */
    atomic_bool over; /* they were seen */
} spy;

static gn_kernel_fn usual;
static atomic_int slow_runs;
static void slowly(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    usual(buf, sym, lo, hi);
    slow_runs++;
    usleep(20000); /* beside which what a busy machine takes is nothing */
}

static void nothing(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    (void)buf, (void)sym, (void)lo, (void)hi;
}

static void watch(void *ctx, const char *candidate, gn_unit *u)
{
    spy *z = ctx;
    gn_artifact *a = u->code->artifact;
    bool first = !strcmp(candidate, "the default");
    first ? z->defaults++ : z->candidates++;
    z->over = !first && z->most && z->candidates % z->most == 0;
    if (first && z->slow) {
        usual = a->code[0];
        a->code[0] = slowly;
    }
    for (int k = 0; !first && z->spoil && k < a->n_code; k++) a->code[k] = nothing;
}

enum { LONG = 100000 }; /* milliseconds, of a search that ends after so many candidates */

static bench searching(const gnnc_context *c, gnnc_compile_options o, spy *z)
{
    if (!o.mode) o.mode = "max-autotune";
    bench b = set_up_in(c, plain, o, 1);
    b.exe->tune_made = watch;
    b.exe->tune_ctx = z;
    b.exe->tune_over = &z->over;
    return b;
}

static gnnc_context *open_context(const char *folder)
{
    gnnc_context *c;
    gnnc_context_options o = {.size = sizeof o,
                              .cache = folder ? GNNC_CACHE_ENVIRONMENT : GNNC_CACHE_NONE};
    o.cache_dir = folder;
    ok(gnnc_context_new(&o, &c));
    return c;
}

static gnnc_tuning_info tuning_of(const bench *b, bool step)
{
    gnnc_run_info r = {.size = sizeof r};
    gnnc_tuning_info t = {.size = sizeof t};
    gnnc_run_describe(b->run, &r);
    ok(gnnc_executable_tuning(b->exe, r.program, step, &t));
    return t;
}

/* Scores of the world, as they are without tuning; and the loss, where that is wanted. */
static float *by_rules(uint32_t seed, int n, int e, double *loss)
{
    bench b = set_up(plain, (gnnc_compile_options){.train = loss != NULL}, 1);
    world w = make_world(seed, n, e);
    bind_world(b.run, &w, loss != NULL);
    float *x = infer(b.run, n);
    if (loss) ok(gnnc_run_step(b.run, loss));
    end_world(&w);
    tear_down(&b);
    return x;
}

static void close_to(const float *got, const float *want, int n)
{
    for (int k = 0; k < n * C; k++)
        ck_assert_msg(fabsf(got[k] - want[k]) <= 1e-4f * (1 + fabsf(want[k])),
                      "score %d: %g, not %g", k, (double)got[k], (double)want[k]);
}

/* The default takes its time: what is not the default is faster, and is taken; the state stays what
 * it was. */
START_TEST(what_is_faster_is_taken)
{
    spy z = {.slow = true, .most = 2};
    gnnc_context *c = open_context(NULL);
    bench b = searching(c, (gnnc_compile_options){.tune_budget_ms = LONG, .train = true}, &z);
    world w = make_world_in(c, 3, 60, 200);
    double loss, want_loss;
    float *want = by_rules(3, 60, 200, &want_loss);
    ok(gnnc_state_save(b.state, in_dir("before")));
    bind_world(b.run, &w, true);
    float *got = infer(b.run, w.n);
    close_to(got, want, w.n);
    gnnc_tuning_info t = tuning_of(&b, false), s = tuning_of(&b, true);
    ck_assert(t.known && *t.choices && !s.known && t.best_us < t.default_us && t.seconds > 0 &&
              t.noise >= 0);
    ck_assert(z.defaults == 1 && z.candidates == 2);
    gnnc_executable_info i = {.size = sizeof i};
    gnnc_executable_describe(b.exe, &i);
    ck_assert(i.programs == 2 && i.recompiles == 0);
    ok(gnnc_state_save(b.state, in_dir("after")));
    ok(gnnc_run_step(b.run, &loss));
    ck_assert_msg(fabs(loss - want_loss) <= 1e-4 * want_loss, "the loss is %g, not %g", loss,
                  want_loss);
    ck_assert(z.defaults == 2 && z.candidates == 4);
    s = tuning_of(&b, true);
    t = tuning_of(&b, false);
    ck_assert(s.known && *s.choices && t.known && *t.choices);
    char *text;
    ok(gnnc_executable_explain(b.exe, &text));
    ck_assert(strstr(text, "tuned eval: ") && strstr(text, "tuned step: "));
    gnnc_text_free(text);
    free(infer(b.run, w.n)); /* chosen for good */
    ok(gnnc_run_step(b.run, &loss));
    ck_assert(z.defaults == 2 && z.candidates == 4);
    char line[160];
    snprintf(line, sizeof line, "cmp -s '%s' '%s'", in_dir("before"), in_dir("after"));
    ck_assert_int_eq(system(line), 0);
    free(want);
    free(got);
    end_world(&w);
    tear_down(&b);
    gnnc_context_free(c);
}
END_TEST

START_TEST(what_is_wrong_is_not)
{
    spy z = {.slow = true, .spoil = true, .most = 3};
    bench b = searching(NULL, (gnnc_compile_options){.tune_budget_ms = LONG}, &z);
    world w = make_world(3, 60, 200);
    bind_world(b.run, &w, false);
    float *got = infer(b.run, w.n), *want = by_rules(3, 60, 200, NULL);
    ck_assert_mem_eq(got, want, sizeof *got * 60 * C);
    gnnc_tuning_info t = tuning_of(&b, false);
    ck_assert_int_eq(z.candidates, 3);
    ck_assert_int_eq(t.rejected, 3);
    ck_assert(t.known && !*t.choices);
    free(got);
    free(want);
    end_world(&w);
    tear_down(&b);
}
END_TEST

/* Another context with the same cache searches no more, and computes the same bits; more time goes
 * on. */
START_TEST(what_was_found_is_kept)
{
    float *first = NULL;
    char choices[400] = "";
    for (int k = 0; k < 3; k++) {
        spy z = {.slow = k == 0, .most = 2};
        gnnc_context *c = open_context(dir);
        bench b = searching(c, (gnnc_compile_options){.tune_budget_ms = k == 1 ? 1 : LONG}, &z);
        world w = make_world_in(c, 3, 60, 200);
        bind_world(b.run, &w, false);
        float *got = infer(b.run, w.n);
        gnnc_tuning_info t = tuning_of(&b, false);
        ck_assert(t.known);
        if (k == 0) snprintf(choices, sizeof choices, "%s", t.choices);
        if (k == 0) ck_assert(*choices && z.candidates == 2);
        if (k == 1) ck_assert(z.defaults == 0 && z.candidates == 0 && !strcmp(t.choices, choices));
        if (k == 1) ck_assert_mem_eq(got, first, sizeof *got * 60 * C);
        if (k == 2) ck_assert(z.defaults == 1 && z.candidates == 2);
        if (k)
            free(got);
        else
            first = got;
        end_world(&w);
        tear_down(&b);
        gnnc_context_free(c);
    }
    free(first);
}
END_TEST

/* A budget in which nothing can be tried: what rules make is run ten times at most, to know how
 * slow it is. */
START_TEST(a_budget_of_nothing)
{
    spy z = {.slow = true};
    bench b = searching(NULL, (gnnc_compile_options){.tune_budget_ms = 1}, &z);
    world w = make_world(3, 60, 200);
    bind_world(b.run, &w, false);
    slow_runs = 0;
    free(infer(b.run, w.n));
    gnnc_tuning_info t = tuning_of(&b, false);
    ck_assert(z.defaults == 1 && z.candidates == 0);
    ck_assert_msg(slow_runs > 0 && slow_runs <= 10, "%d runs", slow_runs);
    ck_assert(t.known && !*t.choices && !t.finished && t.best_us > 0 && t.best_us == t.default_us &&
              t.noise >= 0);
    end_world(&w);
    tear_down(&b);
}
END_TEST

/* A program is chosen for once, whatever sizes are in it; other programs have choices of their
 * own. */
static const struct {
    const char *dynamic;
    int searches, programs;
} shapes[] = {{"true", 1, 1}, {"auto", 2, 2}, {"false", 3, 3}};

START_TEST(programs_of_sizes)
{
    spy z = {0};
    bench b = searching(
        NULL, (gnnc_compile_options){.tune_budget_ms = 1, .dynamic = shapes[_i].dynamic}, &z);
    for (int k = 0; k < 5; k++) {
        int n = 30 + 10 * (k % 3);
        world w = make_world((uint32_t)k, n, 2 * n);
        bind_world(b.run, &w, false);
        float *got = infer(b.run, n), *want = by_rules((uint32_t)k, n, 2 * n, NULL);
        close_to(got, want, n);
        ck_assert(tuning_of(&b, false).known);
        free(got);
        free(want);
        end_world(&w);
    }
    gnnc_executable_info i = {.size = sizeof i};
    gnnc_executable_describe(b.exe, &i);
    ck_assert_int_eq(z.defaults, shapes[_i].searches);
    ck_assert_int_eq(i.programs, shapes[_i].programs);
    tear_down(&b);
}
END_TEST

/* Nothing is chosen by eager programs, nor where nothing may be compiled; nor searched for without
 * a budget. */
START_TEST(where_nothing_is_chosen)
{
    static const gnnc_compile_options all[] = {{.mode = "eager"},
                                               {.mode = "reduce-overhead"},
                                               {.mode = "max-autotune"},
                                               {.tune_budget_ms = 50},
                                               {.mode = "max-autotune"}};
    for (size_t k = 0; k < 5; k++) {
        spy z = {0};
        gnnc_context *c = k == 4 ? open_context(in_dir("empty")) : NULL;
        bench b = searching(c, all[k], &z);
        gnnc_run *r = b.run, *other = NULL;
        gnnc_run_options ro = {.size = sizeof ro, .stance = "run-what-is-compiled"};
        if (k == 3) {
            ok(gnnc_run_new(b.exe, b.state, &ro, &other));
            b.run = other;
        }
        world w = make_world_in(c, 3, 40, 90);
        bind_world(b.run, &w, false);
        free(infer(b.run, w.n));
        ck_assert(!tuning_of(&b, false).known && z.defaults == 0);
        refused(gnnc_executable_lock(b.exe, in_dir("lock")), GNNC_ERROR_USAGE,
                "no schedules were chosen yet");
        char *text;
        ok(gnnc_executable_explain(b.exe, &text));
        ck_assert_ptr_null(strstr(text, "tuned"));
        gnnc_text_free(text);
        b.run = r;
        gnnc_run_free(other);
        end_world(&w);
        tear_down(&b);
        gnnc_context_free(c);
    }
}
END_TEST

/* Threads that want the same choice wait for one search, and take the same program. */
START_TEST(callers_at_once)
{
    spy z = {.slow = true, .most = 1};
    bench b = searching(NULL, (gnnc_compile_options){.tune_budget_ms = LONG}, &z);
    world w = make_world(3, 60, 200);
    callers_agree(&b, &w, 1);
    ck_assert_int_eq(z.defaults, 1);
    end_world(&w);
    tear_down(&b);
}
END_TEST

/* Locks ---------------------------------------------------------------------------------------- */

/* Infers, and takes a step where it can, on a graph of n nodes. */
static gnnc_status *run_locked(const char *lock, const char *mode, bool train, int n,
                               char choices[200])
{
    spy z = {0};
    bench b = searching(
        NULL, (gnnc_compile_options){.mode = mode, .train = train, .tune_lock = lock}, &z);
    world w = make_world(3, n, 3 * n);
    double loss;
    bind_world(b.run, &w, train);
    gnnc_status *s = gnnc_run_infer(b.run);
    if (!s) snprintf(choices, 200, "%s", tuning_of(&b, false).choices);
    if (!s && train) s = gnnc_run_step(b.run, &loss);
    ck_assert(z.defaults == 0);
    end_world(&w);
    tear_down(&b);
    return s;
}

START_TEST(locks)
{
    static const int sizes[] = {60, 50};
    spy z = {0};
    char choices[200];
    const char *path = in_dir("lock");
    bench b = searching(NULL, (gnnc_compile_options){.tune_budget_ms = 1, .dynamic = "false"}, &z);
    for (int k = 0; k < 2; k++) { /* a record of each program */
        world w = make_world(3, sizes[k], 3 * sizes[k]);
        bind_world(b.run, &w, false);
        free(infer(b.run, w.n));
        end_world(&w);
    }
    ok(gnnc_executable_lock(b.exe, path));
    refused(gnnc_executable_lock(b.exe, in_dir("no/such/folder")), GNNC_ERROR_IO, "No such file");
    tear_down(&b);
    refused(run_locked(path, "default", false, 60, choices), GNNC_ERROR_DATA,
            "the lock does not fit"); /* the IR */

    b = searching(NULL, (gnnc_compile_options){.tune_budget_ms = 1}, &z);
    world w = make_world(3, 60, 180);
    bind_world(b.run, &w, false);
    free(infer(b.run, w.n));
    ok(gnnc_executable_lock(b.exe, path));
    end_world(&w);
    tear_down(&b);
    edit(path, "one_region 0\n", "one_region 0\nwithout fuse\n");
    ok(run_locked(path, "default", false, 60, choices));
    ck_assert_str_eq(choices, "without fuse");
    ok(run_locked(path, "max-autotune", false, 60, choices));
    refused(run_locked(path, "default", false, 61, choices), GNNC_ERROR_DATA,
            "and this is\n  graph nodes 61");
    refused(run_locked(path, "default", true, 60, choices), GNNC_ERROR_DATA,
            "nothing for the program 'step'");
    edit(path, "gnnc tuning lock", "gnnc tuning look");
    refused(run_locked(path, "default", false, 60, choices), GNNC_ERROR_DATA,
            "this is no lock of tuning");
}
END_TEST

START_TEST(locks_of_several_graphs)
{
    spy z = {0};
    const char *path = in_dir("lock");
    for (int round = 0; round < 2; round++) {
        gnnc_compile_options o = {.dynamic = "false"};
        if (round)
            o.tune_lock = path;
        else
            o.tune_budget_ms = 1;
        bench b = searching(NULL, o, &z);
        for (int n = 50; n < 80; n += 10) {
            world w = make_world(3, n, 3 * n);
            bind_world(b.run, &w, false);
            if (n < 70 || !round) free(infer(b.run, n));
            if (n == 60 && !round) ok(gnnc_executable_lock(b.exe, path));
            if (n == 70 && round) refused(gnnc_run_infer(b.run), GNNC_ERROR_DATA, "does not fit");
            end_world(&w);
        }
        tear_down(&b);
    }
    ck_assert_int_eq(z.defaults, 3);
}
END_TEST

START_TEST(refusals)
{
    static const struct {
        gnnc_compile_options o;
        gnnc_code code;
        const char *words;
    } bad[] = {
        {{.tune_budget_ms = -1}, GNNC_ERROR_USAGE, "tune_budget_ms is -1"},
        {{.compile_threads = -1}, GNNC_ERROR_USAGE, "compile_threads is -1"},
        {{.tune_budget_ms = 5}, GNNC_ERROR_USAGE, "mode default does not search"},
        {{.tune_budget_ms = 5, .mode = "reduce-overhead"},
         GNNC_ERROR_USAGE,
         "mode reduce-overhead does not search"},
        {{.tune_lock = "no/such/lock"}, GNNC_ERROR_IO, "no/such/lock: No such file"},
        {{.tune_lock = "no/such/lock", .mode = "eager"},
         GNNC_ERROR_USAGE,
         "eager has no schedules"},
    };
    gnnc_module *m;
    gnnc_executable *e;
    ok(gnnc_module_parse(NULL, plain, strlen(plain), "m.gnn", &m));
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        gnnc_compile_options o = bad[k].o;
        o.size = sizeof o;
        o.features = F;
        o.classes = C;
        refused(gnnc_compile(m, &o, &e), bad[k].code, bad[k].words);
        ck_assert_ptr_null(e);
    }
    gnnc_compile_options old = {
        .size = offsetof(gnnc_compile_options, tune_budget_ms), .features = F, .classes = C};
    old.tune_budget_ms = -1; /* behind the end of an older program's structure */
    ok(gnnc_compile(m, &old, &e));
    gnnc_tuning_info t = {.size = sizeof t};
    refused(gnnc_executable_tuning(e, 1, false, &t), GNNC_ERROR_USAGE, "no program 1");
    gnnc_executable_free(e);
    gnnc_module_free(m);
}
END_TEST

/* Memory --------------------------------------------------------------------------------------- */

typedef struct poor { /* who lives with a purse */
    purse p;
    gnnc_context_options context;
    gnnc_compile_options how;
    world w;
} poor;

static gnnc_status *live(void *ctx)
{
    poor *z = ctx;
    life l = {0};
    gnnc_status *s = gnnc_context_new(&z->context, &l.context);
    if (!s) s = life_begin(&l, weighted, z->how, &z->w, false);
    if (!s) s = gnnc_run_infer(l.run);
    if (!s && !z->how.tune_lock) s = gnnc_executable_lock(l.exe, in_dir("lock"));
    life_end(&l);
    return s;
}

/* Allocations fail in turn: a status that says so, or a search that does without, and nothing is
 * left behind.  With a lock it is all of them; a search has more than can be waited for. */
START_TEST(memory)
{
    poor z = {.w = make_world(4, 25, 60), .how = {.mode = "max-autotune", .tune_budget_ms = 1}};
    z.context = (gnnc_context_options){.size = sizeof z.context,
                                       .cache = GNNC_CACHE_NONE,
                                       .allocate = take,
                                       .release = give,
                                       .user = &z.p};
    ok(live(&z));
    edit(in_dir("lock"), "one_region 0\n", "one_region 0\nwithout prefetch\n");
    z.how.tune_budget_ms = 40;
    if (_i) { /* kernels are there, so that each life is short */
        z.how = (gnnc_compile_options){.tune_lock = in_dir("lock")};
        z.context.cache = GNNC_CACHE_ENVIRONMENT;
        z.context.cache_dir = dir;
        ok(live(&z));
    }
    ck_assert_int_gt(fail_allocations(&z.p, live, &z, _i ? 0 : 2, !_i), 5);
    end_world(&z.w);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, enter, leave);
    if (GNNC_HAVE_LLVM) {
        tcase_add_test(t, what_is_faster_is_taken);
        tcase_add_test(t, what_is_wrong_is_not);
        tcase_add_test(t, what_was_found_is_kept);
        tcase_add_test(t, a_budget_of_nothing);
        tcase_add_loop_test(t, programs_of_sizes, 0, 3);
        tcase_add_test(t, where_nothing_is_chosen);
        tcase_add_test(t, callers_at_once);
        tcase_add_test(t, locks);
        tcase_add_test(t, locks_of_several_graphs);
        tcase_add_test(t, refusals);
        tcase_add_loop_test(t, memory, 0, 2);
    }
    tcase_set_timeout(t, 200);
    return RUN_CASES("api_tune", t);
}
