/* labels: long */
/* sources: fake_target.c */
/* kernels: unchecked */
/* timeout: 900 */
/* The public API on a device: the fake driver, with kernels that the host runs. */
#include "shim/api_device.h"
#include "unit/api_plateau.h"

#include <sys/wait.h>
#include <unistd.h>

/* The sample, trained on graphs of two sizes in turn, which is what a session does not. */
enum { STEPS = 4, SMALL = 26, LARGE = 33, MOST = LARGE * C };
typedef struct story {
    double loss[STEPS];
    float scores[2][MOST];
    int levels; /* of rows that a step picked, at most */
} story;

static char *sample_text(const char *name)
{
    static char text[1 << 14];
    char path[4096];
    const char *root = getenv("GNNC_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/samples/%s.gnn", root ? root : ".", name);
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s", path);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

static story tell_of(const gnnc_context *c, const char *text, gnnc_compile_options o,
                     int large_edges)
{
    story s = {0};
    o.train = true;
    bench b = set_up_in(c, text, o, 1);
    world w[2] = {make_world_in(c, 3, SMALL, 3 * SMALL), make_world_in(c, 4, LARGE, large_edges)};
    for (int k = 0; k < STEPS; k++) {
        if (k % 2 == 0) bind_world(b.run, &w[k / 2 % 2], true);
        ok(gnnc_run_step(b.run, k == 1 ? NULL : &s.loss[k]));
        gnnc_run_info r = {.size = sizeof r};
        gnnc_program_info p = {.size = sizeof p};
        gnnc_run_describe(b.run, &r);
        ok(gnnc_executable_program(b.exe, r.program, &p));
        if (p.levels > s.levels) s.levels = p.levels;
    }
    for (int k = 0; k < 2; k++) {
        bind_world(b.run, &w[k], true);
        float *x = infer(b.run, w[k].n);
        memcpy(s.scores[k], x, sizeof *x * (size_t)w[k].n * C);
        free(x);
        end_world(&w[k]);
    }
    tear_down(&b);
    return s;
}

static story tell(const gnnc_context *c, const char *text, gnnc_compile_options o)
{
    return tell_of(c, text, o, 2 * LARGE);
}

static void close_to(const story *a, const story *b)
{
    for (int k = 0; k < STEPS; k++)
        ck_assert_msg(fabs(a->loss[k] - b->loss[k]) <= 1e-4 * (1 + fabs(b->loss[k])),
                      "step %d: losses %g and %g", k, a->loss[k], b->loss[k]);
    for (int k = 0; k < 2 * MOST; k++) {
        float x = a->scores[k / MOST][k % MOST], y = b->scores[k / MOST][k % MOST];
        ck_assert_msg(fabsf(x - y) <= 1e-3f * (1 + fabsf(y)), "score %d: %g and %g", k, (double)x,
                      (double)y);
    }
}

START_TEST(trains)
{
    gnnc_context *c = device_context();
    const char *gcn = sample_text("gcn");
    story one = tell(c, gcn, (gnnc_compile_options){0}),
          recorded = tell(c, gcn, (gnnc_compile_options){.mode = "reduce-overhead"});
    ck_assert(one.loss[0] > 0 && one.loss[0] != one.loss[2]);
    ck_assert_mem_eq(&one, &recorded, sizeof recorded);
    story picked = tell(c, gcn, (gnnc_compile_options){.fixed = true});
    ck_assert(picked.levels > 0 && one.levels == 0);
    close_to(&picked, &one);
    gnnc_context_free(c);
#if GNNC_HAVE_LLVM
    story here = tell(NULL, gcn, (gnnc_compile_options){0});
    close_to(&one, &here);
#endif
}
END_TEST

/* Rows of the second graph are long enough to be split, those of the first are not: compiled before
 * either is seen, launch by launch, recorded and in one kernel the same bits, and the CPU's
 * figures. */
START_TEST(long_rows)
{
    static const char *const texts[] = {plain, "model T() (g: graph, x: node[F]) -> node[C] {\n  a "
                                               "= GATConv(4, heads = 2)\n  b = GCNConv(C)\n"
                                               "  return b(g, elu(a(g, x)))\n}\n"};
    enum { EDGES = 70 * LARGE };
    gnnc_context *c = device_context();
    const char *text = texts[_i];
    const gnnc_compile_options recorded = {.mode = "reduce-overhead"},
                               apart = {.mode = "reduce-overhead",
                                        .expect_nodes = 50000000,
                                        .expect_edges = 900000000};
    story one = tell_of(c, text, (gnnc_compile_options){0}, EDGES),
          same = tell_of(c, text, recorded, EDGES), launched = tell_of(c, text, apart, EDGES);
    ck_assert_mem_eq(&one, &same, sizeof one);
    for (int k = 0; k < STEPS; k++) ck_assert_double_eq_tol(launched.loss[k], one.loss[k], 1e-4);
    gnnc_context_free(c);
#if GNNC_HAVE_LLVM
    story here = tell_of(NULL, text, (gnnc_compile_options){0}, EDGES);
    close_to(&one, &here);
#endif
}
END_TEST

/* What edges gather is rounded on a device as it is on a CPU; where it is not asked for it is
 * not. */
START_TEST(storage)
{
    static const char deep
        [] = "model D() (g: graph, x: node[F]) -> node[C] {\n  a = GCNConv(16)\n  b = GCNConv(16)\n"
             "  c = GCNConv(C)\n  return c(g, relu(b(g, relu(a(g, x)))))\n}\n";
    const gnnc_compile_options o = {.gather_storage = "bfloat16"};
    gnnc_context *c = device_context();
    story exact = tell(c, deep, (gnnc_compile_options){0}), rounded = tell(c, deep, o);
    ck_assert(memcmp(exact.scores, rounded.scores, sizeof exact.scores) != 0);
    gnnc_context_free(c);
#if GNNC_HAVE_LLVM
    story here = tell(NULL, deep, o);
    close_to(&rounded, &here);
#endif
}
END_TEST

/* Steps and inference on graphs of two sizes in turn; how many CUDA graphs are made, and recorded,
 * after the first time that each was met. */
static int rounds(const gnnc_context *c, const char *mode, float *scores)
{
    enum { ROUNDS = 4 };
    static const char recorded[] = "cuStreamBeginCapture_v2";
    fake_calls_fn *calls;
    gnnc_compile_options o = {
        .train = true, .mode = mode, .expect_nodes = 50000000, .expect_edges = 900000000};
    bench b = set_up_in(c, plain, o, 1);
    world w[2] = {make_world_in(c, 3, SMALL, 3 * SMALL), make_world_in(c, 4, LARGE, 2 * LARGE)};
    int count = 0, made;
    for (int k = 0; k < 2 * ROUNDS; k++) {
        if (driver) look_up(&calls, "fake_calls");
        if (driver && (k == 0 || k == 2))
            (void)(calls("cuGraphInstantiateWithFlags") + calls(recorded));
        bind_world(b.run, &w[k % 2], true);
        ok(gnnc_run_step(b.run, NULL));
        float *x = infer(b.run, w[k % 2].n);
        if (driver && k < 2 && !strcmp(mode, "reduce-overhead")) {
            made = calls("cuGraphInstantiateWithFlags");
            if (k == 1) ck_assert_int_gt(made, 0); /* that graphs are recorded at all */
        }
        if (k == 2 * ROUNDS - 1) memcpy(scores, x, sizeof *x * LARGE * C);
        free(x);
    }
    if (driver) count = calls("cuGraphInstantiateWithFlags") + calls(recorded);
    end_world(&w[0]);
    end_world(&w[1]);
    tear_down(&b);
    return count;
}

/* What was recorded for a size is there when it comes again.  (So many rows are expected that no
 * program is one kernel.) */
START_TEST(sizes_again)
{
    static float one[LARGE * C], other[LARGE * C];
    gnnc_context *c = device_context();
    ck_assert_int_eq(rounds(c, "default", one), 0);
    ck_assert_int_eq(rounds(c, "reduce-overhead", other), 0);
    ck_assert_mem_eq(one, other, sizeof one);
    gnnc_context_free(c);
}
END_TEST

/* A replayed step is one call of the driver, with the device's context made current for it, whether
 * as a graph (of so many rows that no program is one kernel) or as one kernel: nothing is copied,
 * nothing waits, and a loss comes back where it is asked for. */
START_TEST(one_call_a_step)
{
    enum { AGAIN = 5 };
    fake_calls_fn *calls;
    double losses[AGAIN];
    gnnc_compile_options o = {
        .train = true, .mode = "reduce-overhead", .expect_nodes = 100, .expect_edges = 300};
    if (!driver) return; /* a GPU */
    look_up(&calls, "fake_calls");
    if (_i) o.expect_nodes = 50000000, o.expect_edges = 900000000;
    gnnc_context *c = device_context();
    bench b = set_up_in(c, plain, o, 1);
    world w = make_world_in(c, 3, SMALL, 3 * SMALL);
    bind_world(b.run, &w, true);
    for (int k = 0; k < 2; k++) ok(gnnc_run_step(b.run, NULL));
    order(NULL, 0, 0);
    (void)calls(_i ? "cuGraphLaunch" : "cuLaunchCooperativeKernel");
    for (int k = 0; k < AGAIN; k++) ok(gnnc_run_step(b.run, NULL));
    ck_assert_int_eq(calls(NULL), 2 * AGAIN);
    ck_assert_int_eq(calls(_i ? "cuGraphLaunch" : "cuLaunchCooperativeKernel"), AGAIN);
    for (int k = 0; k < AGAIN; k++) ok(gnnc_run_step(b.run, &losses[k]));
    ck_assert_int_gt(calls(NULL), 5 * AGAIN);
    ck_assert(losses[0] > 0 && losses[0] != losses[AGAIN - 1]);
    end_world(&w);
    tear_down(&b);
    gnnc_context_free(c);
}
END_TEST

/* Whatever an executable is compiled for, there as here. */
static const gnnc_compile_options ways[] = {{.fixed = true, .mode = "reduce-overhead"},
                                            {.sparse = true},
                                            {.dynamic = "false", .buckets = "pow2"},
                                            {.wide = true}};

START_TEST(ways_to_compile)
{
    gnnc_context *c = device_context();
    story other = tell(c, plain, ways[_i]);
    gnnc_context_free(c);
#if GNNC_HAVE_LLVM
    story want = tell(NULL, plain, (gnnc_compile_options){0});
#else
    c = device_context();
    story want = tell(c, plain, (gnnc_compile_options){0});
    gnnc_context_free(c);
#endif
    close_to(&other, &want);
}
END_TEST

START_TEST(plateau)
{
    gnnc_context *c = device_context();
    plateau_story(c);
    gnnc_context_free(c);
}
END_TEST

/* Weights: looked at, written, saved and loaded, as on the processor. */
START_TEST(weights)
{
    gnnc_context *c = device_context();
    bench b = set_up_in(c, plain, (gnnc_compile_options){.train = true}, 1);
    world w = make_world_in(c, 3, SMALL, 60);
    char all[64], some[64];
    int64_t numbers[16];
    DLTensor view;
    double loss, again;
    snprintf(all, sizeof all, "%s/all", dir);
    snprintf(some, sizeof some, "%s/some", dir);
    bind_world(b.run, &w, true);
    ok(gnnc_state_weight(b.state, 0, NULL, &view, numbers));
    float fresh = ((float *)view.data)[0];
    ok(gnnc_run_step(b.run, NULL));
    ok(gnnc_state_weight(b.state, 0, NULL, &view, numbers));
    float stepped = ((float *)view.data)[0];
    ck_assert(fresh != stepped);
    ok(gnnc_state_save(b.state, all));
    float *before = infer(b.run, w.n);
    ok(gnnc_run_step(b.run, &loss));
    ok(gnnc_state_save_weights(b.state, some));
    float *moved = infer(b.run, w.n);
    ck_assert(memcmp(before, moved, sizeof *before * SMALL * C) != 0);

    ok(gnnc_state_load(b.state, all)); /* back by a step */
    float *back = infer(b.run, w.n);
    ck_assert_mem_eq(back, before, sizeof *before * SMALL * C);
    ok(gnnc_run_step(b.run, &again));
    ck_assert(loss == again);
    float *forth = infer(b.run, w.n);
    ck_assert_mem_eq(forth, moved, sizeof *before * SMALL * C);

    gnnc_state *other; /* weights alone, in a state that was never there */
    gnnc_run *r;
    ok(gnnc_state_new(b.exe, 99, &other));
    ok(gnnc_state_load_weights(other, some));
    ok(gnnc_run_new(b.exe, other, NULL, &r));
    bind_world(r, &w, false);
    float *same = infer(r, w.n);
    ck_assert_mem_eq(same, moved, sizeof *before * SMALL * C);

    ok(gnnc_state_weight(b.state, 0, NULL, &view, numbers)); /* written through a view */
    ((float *)view.data)[0] += 1;
    gnnc_state_changed(b.state);
    float *written = infer(b.run, w.n);
    ck_assert(memcmp(written, moved, sizeof *before * SMALL * C) != 0);
    ok(gnnc_run_step(b.run, NULL));
    ok(gnnc_state_weight(b.state, 0, NULL, &view, numbers));
    ck_assert(((float *)view.data)[0] > fresh + 0.5f);
    float *all_of[] = {before, moved, back, forth, same, written};
    for (int k = 0; k < 6; k++) free(all_of[k]);
    gnnc_run_free(r);
    gnnc_state_free(other);
    end_world(&w);
    tear_down(&b);
    gnnc_context_free(c);
}
END_TEST

/* Data that was bound may go or change: what counts is what it was, to each run that it was bound
 * to. */
START_TEST(data_is_copied)
{
    gnnc_context *c = device_context();
    bench b = set_up_in(c, plain, (gnnc_compile_options){0}, 1);
    world w = make_world_in(c, 3, SMALL, 60);
    gnnc_run *other;
    float *out[4];
    ok(gnnc_run_new(b.exe, b.state, NULL, &other));
    bind_world(b.run, &w, false);
    bind_world(other, &w, false);
    out[0] = infer(b.run, w.n);
    out[1] = infer(other, w.n);
    for (int k = 0; k < w.n * F; k++) w.x[k] += 1;
    out[2] = infer(b.run, w.n);
    bind_world(b.run, &w, false);
    out[3] = infer(b.run, w.n);
    ck_assert_mem_eq(out[0], out[1], sizeof(float) * SMALL * C);
    ck_assert_mem_eq(out[0], out[2], sizeof(float) * SMALL * C);
    ck_assert(memcmp(out[0], out[3], sizeof(float) * SMALL * C) != 0);
    for (int k = 0; k < 4; k++) free(out[k]);
    gnnc_run_free(other);
    end_world(&w);
    tear_down(&b);
    gnnc_context_free(c);
}
END_TEST

/* What executables, runs and states held there goes with them, code too, and graphs that launch it
 * (the driver sees to that; so many rows are expected that no program is one kernel). */
START_TEST(nothing_stays)
{
    gnnc_context *c = device_context();
    world w = make_world_in(c, 3, SMALL, 60);
    gnnc_compile_options o = {.train = true, .mode = _i ? "reduce-overhead" : "default"};
    o.expect_nodes = 50000000;
    o.expect_edges = 900000000;
    int held = 0;
    for (int k = 0; k < 4; k++) {
        bench b = set_up_in(c, plain, o, 1);
        bind_world(b.run, &w, true);
        ok(gnnc_run_step(b.run, NULL));
        free(infer(b.run, w.n));
        tear_down(&b);
        if (k == 1 && alive) held = alive();
    }
    if (alive) ck_assert_int_eq(alive(), held);
    end_world(&w);
    gnnc_context_free(c);
}
END_TEST

/* A graph of no nodes, between others, in every form of a run: nothing comes of it, and it spoils
 * nothing. */
static const gnnc_compile_options forms[] = {{.mode = "default"},
                                             {.mode = "reduce-overhead"},
                                             {.mode = "reduce-overhead", .expect_nodes = 20}};

START_TEST(no_nodes)
{
    gnnc_context *c = device_context();
    gnnc_compile_options o = forms[_i];
    o.train = true;
    bench b = set_up_in(c, plain, o, 1);
    world w[2] = {make_world_in(c, 3, SMALL, 60), make_world_in(c, 4, 0, 0)};
    float *scores[2];
    for (int k = 0; k < 2; k++) {
        bind_world(b.run, &w[0], true);
        scores[k] = infer(b.run, SMALL);
        for (int again = 0; again < 2; again++) {
            bind_world(b.run, &w[1], true);
            free(infer(b.run, 0));
        }
    }
    ck_assert_mem_eq(scores[0], scores[1], sizeof(float) * SMALL * C);
    free(scores[0]);
    free(scores[1]);
    end_world(&w[0]);
    end_world(&w[1]);
    tear_down(&b);
    gnnc_context_free(c);
}
END_TEST

START_TEST(callers_at_once)
{
    gnnc_context *c = device_context();
    bench b = set_up_in(c, plain, (gnnc_compile_options){.dynamic = "auto"}, 1);
    world w = make_world_in(c, 3, SMALL, 60);
    callers_agree(&b, &w, 4);
    end_world(&w);
    tear_down(&b);
    gnnc_context_free(c);
}
END_TEST

/* Errors --------------------------------------------------------------------------------------- */

static gnnc_status *live(gnnc_context_options co, world *w)
{
    life l = {0};
    char path[64];
    double loss;
    DLTensor out;
    snprintf(path, sizeof path, "%s/state", dir);
    gnnc_compile_options o = {.train = true, .fixed = true, .mode = "reduce-overhead"};
    gnnc_status *s = open_device(co, &l.context);
    if (!s) s = life_begin(&l, plain, o, w, true);
    for (int k = 0; k < 2 && !s; k++) s = gnnc_run_step(l.run, &loss);
    if (!s) s = gnnc_run_infer(l.run);
    if (!s) s = gnnc_run_output(l.run, "out", &out);
    if (!s) s = gnnc_state_save(l.state, path);
    if (!s) s = gnnc_state_load(l.state, path);
    if (!s) s = gnnc_run_infer(l.run);
    if (!s) s = gnnc_run_output(l.run, "out", &out);
    life_end(&l);
    return s;
}

/* Whatever call of the driver fails: a status that says so, and nothing is left there. */
START_TEST(every_call_of_the_driver)
{
    world w = make_world(3, SMALL, 60);
    int failed = 0;
    bool over = gpu() != NULL;
    ok(live((gnnc_context_options){0}, &w));
    for (int nth = 1; !over; nth += 1 + nth / 40) {
        order(NULL, nth, 1);
        gnnc_status *s = live((gnnc_context_options){0}, &w);
        over = fails_yet();
        order(NULL, 0, 0);
        failed += s != NULL;
        if (s)
            ck_assert_msg(strstr(gnnc_status_message(s), "CUDA_ERROR"), "%s",
                          gnnc_status_message(s));
        if (s)
            ck_assert_msg(gnnc_status_code(s) == GNNC_ERROR_BACKEND, "%s", gnnc_status_message(s));
        gnnc_status_free(s);
        ck_assert_msg(!fault(), "call %d: %s", nth, fault());
        ck_assert_msg(alive() == 0, "call %d leaves %d things there", nth, alive());
    }
    if (!gpu()) ck_assert_int_gt(failed, 50);
    end_world(&w);
}
END_TEST

typedef struct poor { /* who lives with a purse */
    purse p;
    world w;
} poor;

static gnnc_status *live_poorly(void *ctx)
{
    poor *z = ctx;
    gnnc_status *s = live((gnnc_context_options){.allocate = take, .release = give, .user = &z->p},
                          &z->w);
    if (driver) ck_assert_int_eq(alive(), 0);
    return s;
}

/* Whatever allocation of the host fails. */
START_TEST(memory_of_the_host)
{
    poor z = {.w = make_world(3, SMALL, 60)};
    ok(live_poorly(&z));
    ck_assert_msg(z.p.blocks == 0, "%lld blocks are left", (long long)z.p.blocks);
    ck_assert_int_gt(fail_allocations(&z.p, live_poorly, &z, 40, false), 50);
    end_world(&z.w);
}
END_TEST

START_TEST(memory_of_the_device)
{
    world w = make_world(3, SMALL, 60);
    if (gpu()) return;
    ok(live((gnnc_context_options){0}, &w));
    devices(1, 2000);
    gnnc_status *s = live((gnnc_context_options){0}, &w);
    devices(1, 1 << 30);
    ck_assert(s && gnnc_status_code(s) == GNNC_ERROR_MEMORY);
    ck_assert_msg(strstr(gnnc_status_message(s), "free"), "%s", gnnc_status_message(s));
    gnnc_status_free(s);
    end_world(&w);
}
END_TEST

static void no_context(const char *device, gnnc_code code, const char *words)
{
    gnnc_context *c;
    gnnc_context_options o = {.size = sizeof o, .cache = GNNC_CACHE_NONE, .device = device};
    refused(gnnc_context_new(&o, &c), code, words);
    ck_assert_ptr_null(c);
}

START_TEST(refusals)
{
    no_context("coda", GNNC_ERROR_USAGE, "did you mean 'cuda'");
    no_context("cuda:", GNNC_ERROR_USAGE, "cuda:N");
    no_context("cuda:1x", GNNC_ERROR_USAGE, "cuda:N");
    no_context("cuda:1000", GNNC_ERROR_USAGE, "1000");
    gnnc_device_info i = {.size = sizeof i};
    gnnc_context *c = device_context();
    gnnc_context_device(c, &i);
    ck_assert(i.gpu && i.arch >= 80 && i.bytes > 0 && *i.name && !*i.reason);
    bench b = set_up_in(c, plain,
                        (gnnc_compile_options){.mode = "max-autotune", .tune_budget_ms = 5}, 1);
    world w = make_world_in(c, 3, SMALL, 60);
    DLTensor x = x_of(&w);
    char *text;
    x.device = (DLDevice){kDLCUDA, 0};
    refused(gnnc_run_bind(b.run, "x", &x), GNNC_ERROR_DATA, "on CUDA device 0, not on the CPU");
    refused(gnnc_executable_emit(b.exe, "asm", &text), GNNC_ERROR_USAGE,
            "on a device there are ast, gir and kir");
    bind_world(b.run, &w, false);
    free(infer(b.run, w.n));
    gnnc_tuning_info t = {.size = sizeof t};
    ok(gnnc_executable_tuning(b.exe, 0, false, &t));
    ck_assert(t.known && t.default_us > 0);
    gnnc_executable *e;
    gnnc_compile_options o = {
        .size = sizeof o, .features = F, .classes = C, .tune_lock = "no/such/lock"};
    refused(gnnc_compile(b.module, &o, &e), GNNC_ERROR_IO, "no/such/lock");
    end_world(&w);
    tear_down(&b);
    gnnc_context_free(c);
    if (gpu()) return;
    ok(gnnc_doctor(&text));
    ck_assert_msg(strstr(text, "\n  cuda:0 Fake GPU 0, sm_90") && strstr(text, "CPU: "), "%s",
                  text);
    gnnc_text_free(text);
    setenv("GNNC_CUDA_DRIVER", "/no/such/driver.so", 1);
    ok(gnnc_doctor(&text));
    ck_assert_msg(strstr(text, "CUDA driver: ") && strstr(text, "/no/such/driver.so"), "%s", text);
    gnnc_text_free(text);
    no_context("cuda", GNNC_ERROR_BACKEND, "/no/such/driver.so");
    gnnc_context_options any = {.size = sizeof any, .cache = GNNC_CACHE_NONE, .device = "auto"};
    ok(gnnc_context_new(&any, &c));
    gnnc_context_device(c, &i);
    ck_assert(!i.gpu && !strcmp(i.name, "cpu") && strstr(i.reason, "/no/such/driver.so"));
    gnnc_context_free(c);
    gnnc_context_device(NULL, &i);
    ck_assert(!i.gpu && i.ordinal == -1 && !*i.reason);
}
END_TEST

/* Rows that are named, as on the processor. */
START_TEST(named_rows)
{
    gnnc_context *c = device_context();
    world w = make_world_in(c, 5, 30, 200);
    int64_t fanout[] = {3, 2}, rows[] = {7, 29, 7, 0};
    gnnc_compile_options o = {.train = true, .by_rows = true, .fanout = fanout, .n_fanout = 2};
    bench b = set_up_in(c, plain, o, 1), host = set_up(plain, o, 1);
    bench *const both[] = {&b, &host};
    gnnc_graph *g; /* of no context */
    ok(gnnc_graph_from_coo(NULL, 30, 200, GNNC_INT32, w.src, w.dst, &g));
    for (int k = 0; k < 2; k++) {
        DLTensor x = x_of(&w), y = tensor(w.y, 1, w.rows, kDLInt, 32);
        ok(gnnc_run_bind_graph(both[k]->run, k ? g : w.g));
        ok(gnnc_run_bind(both[k]->run, "x", &x));
        ok(gnnc_run_bind(both[k]->run, "y", &y));
    }
    for (int step = 0; step < 4; step++) {
        double loss[2];
        float *out[2];
        rows[1] = 29 - step;
        for (int k = 0; k < 2; k++) {
            ok(gnnc_run_rows(both[k]->run, 4, rows));
            ok(gnnc_run_step(both[k]->run, &loss[k]));
            out[k] = infer(both[k]->run, 4);
        }
        ck_assert_msg(fabs(loss[0] - loss[1]) < 1e-5, "%.9g, not %.9g", loss[0], loss[1]);
        for (int i = 0; i < 4 * C; i++) ck_assert(fabsf(out[0][i] - out[1][i]) < 1e-4f);
        free(out[0]);
        free(out[1]);
    }
    gnnc_graph_free(g);
    tear_down(&b);
    tear_down(&host);
    end_world(&w);
    gnnc_context_free(c);
}
END_TEST

/* What is on the device is the parent's: a child is told so, and frees everything. */
START_TEST(forks)
{
    gnnc_context *c = device_context();
    world w = make_world_in(c, 5, 30, 60);
    bench b = set_up_in(c, plain, (gnnc_compile_options){.train = true}, 1);
    bind_world(b.run, &w, true);
    ok(gnnc_run_step(b.run, NULL));
    free(infer(b.run, 30));
    pid_t child = fork();
    if (!child) {
        alarm(60);
        gnnc_status *s = gnnc_run_infer(b.run);
        if (gnnc_status_code(s) != GNNC_ERROR_BACKEND) _exit(2);
        if (!strstr(gnnc_status_message(s), "was opened before a fork")) _exit(3);
        gnnc_status_free(s);
        tear_down(&b);
        end_world(&w);
        gnnc_context_free(c);
        _exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    free(infer(b.run, 30));
    tear_down(&b);
    end_world(&w);
    gnnc_context_free(c);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, enter, leave);
    tcase_add_test(t, trains);
    tcase_add_loop_test(t, long_rows, 0, 2);
    tcase_add_test(t, storage);
    tcase_add_test(t, sizes_again);
    tcase_add_loop_test(t, one_call_a_step, 0, 2);
    tcase_add_loop_test(t, ways_to_compile, 0, sizeof ways / sizeof *ways);
    tcase_add_test(t, weights);
    tcase_add_test(t, plateau);
    tcase_add_test(t, data_is_copied);
    tcase_add_loop_test(t, nothing_stays, 0, 2);
    tcase_add_loop_test(t, no_nodes, 0, sizeof forms / sizeof *forms);
    tcase_add_test(t, callers_at_once);
    tcase_add_test(t, every_call_of_the_driver);
    tcase_add_test(t, memory_of_the_host);
    tcase_add_test(t, memory_of_the_device);
    tcase_add_test(t, refusals);
    tcase_add_test(t, named_rows);
    tcase_add_test(t, forks);
    tcase_set_timeout(t, 300);
    return RUN_CASES("cuda_api", t);
}
