/* Dynamic shapes: what is compiled for which sizes, when it is compiled again and why, and that
 * results do not tell. */
/* labels: long */
/* forks: yes */
/* timeout: 300 */
#include "base/sanitized.h"
#include "runtime/load/loader.h"
#include "unit/api_world.h"
#include "support/suite.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static _Atomic int64_t held; /* bytes of contexts below */

static void *take(void *user, size_t bytes, size_t alignment)
{
    (void)user;
    if (alignment < 64) alignment = 64;
    char *block = aligned_alloc(alignment,
                                (bytes + 64 + alignment - 1) / alignment * alignment + alignment);
    if (!block) return NULL;
    *(size_t *)(void *)(block + alignment - 16) = bytes;
    *(size_t *)(void *)(block + alignment - 8) = alignment;
    held += (int64_t)bytes;
    return block + alignment;
}

static void give(void *user, void *p)
{
    (void)user;
    char *block = p;
    held -= (int64_t)*(size_t *)(void *)(block - 16);
    free(block - *(size_t *)(void *)(block - 8));
}

/* Ten thousand shapes through one executable that three threads share, each with a run of its own:
 * one compilation, no more memory at the end than after the first hundred; of two hundred of them
 * what a program gives that has the sizes in it: the same bits.  A tenth of them under
 * AddressSanitizer. */
enum { SHAPES = GN_UNDER_ASAN ? 400 : 10000, EARLY = 101, EACH = 50, MOST = 120, CALLERS = 3 };

typedef struct caller {
    pthread_t thread;
    const gnnc_context *context;
    const gnnc_compile_options *options;
    gnnc_run *run;
    int from, to, sampled;
} caller;

static void shape_of(int k, int *n, int *e)
{
    uint32_t seed = (uint32_t)k * 2654435761u;
    *n = k < 2 ? k : (int)(draw(&seed) % MOST);
    *e = k < 4 ? k % 2 : (int)(draw(&seed) % (3 * MOST));
}

static void compare_with_fresh(caller *z, int k, const float *got)
{
    gnnc_compile_options so = *z->options;
    int n, e;
    shape_of(k, &n, &e);
    so.dynamic = "false";
    bench fresh = set_up_in(z->context, plain, so, 1);
    float *want = infer_on(fresh.run, z->context, (uint32_t)k, n, e, NULL);
    ck_assert_msg(memcmp(got, want, (size_t)n * C * sizeof *got) == 0, "%d nodes, %d edges", n, e);
    gnnc_program_info p = program(&fresh, n == so.expect_nodes && e == so.expect_edges ? 0 : 1);
    ck_assert(p.nodes_least == n && p.nodes_most == n && p.edges_least == (n ? e : 0));
    free(want);
    tear_down(&fresh);
    z->sampled++;
}

static void *call_each(void *p)
{
    caller *z = p;
    for (int k = z->from; k < z->to; k += CALLERS) {
        int n, e;
        shape_of(k, &n, &e);
        float *got = infer_on(z->run, z->context, (uint32_t)k, n, e, NULL);
        if (k % EACH == 0) compare_with_fresh(z, k, got);
        free(got);
    }
    return NULL;
}

/* Shapes [from, to), dealt out; then each run holds what one shape takes.  Bytes that are held. */
static int64_t call_all(caller *z, int from, int to)
{
    for (int t = 0; t < CALLERS; t++) {
        z[t].from = from + t;
        z[t].to = to;
        ck_assert(pthread_create(&z[t].thread, NULL, call_each, &z[t]) == 0);
    }
    for (int t = 0; t < CALLERS; t++) pthread_join(z[t].thread, NULL);
    for (int t = 0; t < CALLERS; t++) free(infer_on(z[t].run, z[t].context, 5, 50, 150, NULL));
    return held;
}

START_TEST(many_shapes)
{
    gnnc_context *c;
    gnnc_context_options o = {
        .size = sizeof o, .cache = GNNC_CACHE_MEMORY, .allocate = take, .release = give};
    ok(gnnc_context_new(&o, &c));
    gnnc_compile_options co = {
        .dynamic = "true", .sparse = _i, .expect_nodes = 50, .expect_edges = 150};
    bench b = set_up_in(c, plain, co, 1);
    caller z[CALLERS] = {{0}};
    int sampled = 0;
    for (int t = 0; t < CALLERS; t++) {
        gnnc_run_options ro = {.size = sizeof ro, .threads = 1 + t % 2};
        z[t] = (caller){.context = c, .options = &co};
        ok(gnnc_run_new(b.exe, b.state, &ro, &z[t].run));
        /* the largest there is, for what is kept */
        free(infer_on(z[t].run, c, 1, MOST, 3 * MOST, NULL));
    }
    int64_t early = call_all(z, 0, EARLY), late = call_all(z, EARLY, SHAPES);
    ck_assert_msg(late == early, "%lld bytes, after %d shapes %lld", (long long)late, EARLY,
                  (long long)early);
    gnnc_executable_info i = info_of(&b);
    ck_assert(i.programs == 1 && i.recompiles == 0);
    for (int t = 0; t < CALLERS; t++) {
        sampled += z[t].sampled;
        gnnc_run_free(z[t].run);
    }
    ck_assert(sampled == SHAPES / EACH);
    tear_down(&b);
    gnnc_context_free(c);
    ck_assert(held == 0);
}
END_TEST

/* auto: a recompilation for each size that changes, one where both do at once; then none. */
START_TEST(automatic)
{
    bench b = set_up(plain, (gnnc_compile_options){.dynamic = "auto", .train = true}, 1);
    ck_assert(info_of(&b).programs == 0 && info_of(&b).parameters > 3);
    visit(b.run, 30, 80);
    visit(b.run, 30, 80);
    gnnc_program_info p = program(&b, 0);
    ck_assert(p.nodes_least == 30 && p.nodes_most == 30 && p.edges_least == 80 &&
              p.edges_most == 80);
    ck_assert(p.guard == NULL && !*p.reason && info_of(&b).recompiles == 0);
    visit(b.run, 30, 81);
    p = program(&b, 1);
    ck_assert(p.nodes_most == 30 && p.edges_least == 0 && p.edges_most == INT64_MAX);
    ck_assert(!strcmp(p.guard, "edges") && p.guard_was == 80 && p.guard_is == 81);
    ck_assert_msg(strstr(p.reason, "edges == 80") && strstr(p.reason, "81"), "%s", p.reason);
    visit(b.run, 30, 0);
    visit(b.run, 30, 80);
    ck_assert(info_of(&b).recompiles == 1);
    visit(b.run, 31, 80);
    p = program(&b, 2);
    ck_assert(!strcmp(p.guard, "nodes") && p.guard_was == 30 && p.guard_is == 31);
    for (int n = 0; n < 50; n++) visit(b.run, n, n * n % 90);
    ck_assert(info_of(&b).recompiles == 2 && info_of(&b).programs == 3);
    gnnc_program_info none = {.size = sizeof none};
    refused(gnnc_executable_program(b.exe, 3, &none), GNNC_ERROR_USAGE, "no program 3");
    char *text;
    ok(gnnc_executable_explain(b.exe, &text));
    ck_assert(strstr(text, "nodes == 30, edges == 80") &&
              strstr(text, "because: guard nodes == 30"));
    gnnc_text_free(text);
    tear_down(&b);

    b = set_up(plain, (gnnc_compile_options){.dynamic = "auto"}, 1);
    visit(b.run, 30, 80);
    visit(b.run, 40, 90);
    visit(b.run, 0, 0);
    ck_assert(info_of(&b).recompiles == 1);
    tear_down(&b);
}
END_TEST

/* All programs of one executable, and executables of one schedule, give the same bits; the eager
 * one agrees. */
START_TEST(same_bits)
{
    /* The second time what comes first is the schedule's: a graph of few edges, before one of
     * many. */
    gnnc_compile_options o = {
        .expect_nodes = _i ? 0 : 40, .expect_edges = _i ? 0 : 400, .train = true};
    static const char *const how[] = {"true", "auto", "false"};
    char name[3][32];
    double loss[3];
    for (int k = _i; k < 3; k++) {
        o.dynamic = how[k];
        bench b = set_up(plain, o, 1 + k);
        for (uint32_t i = 0; i < 6; i++) {
            world w = make_world(i, 30 + 7 * (int)(i % 3),
                                 (_i ? 100 : 300) + (_i ? 800 : 11) * (int)(i % 2));
            bind_world(b.run, &w, true);
            ok(gnnc_run_step(b.run, &loss[k]));
            end_world(&w);
        }
        ck_assert(loss[k] == loss[_i]);
        snprintf(name[k], sizeof name[k], "api-bits.XXXXXX");
        close(mkstemp(name[k]));
        ok(gnnc_state_save(b.state, name[k]));
        ck_assert(info_of(&b).programs == (k == 0 ? 1 : k == 1 ? 2 : 7 - _i));
        tear_down(&b);
    }
    for (int k = _i + 1; k < 3; k++) {
        FILE *a = fopen(name[_i], "rb"), *z = fopen(name[k], "rb");
        for (int x = 0; x != EOF;) ck_assert((x = fgetc(a)) == fgetc(z));
        fclose(a);
        fclose(z);
    }
    for (int k = _i; k < 3; k++) unlink(name[k]);
}
END_TEST

static int told;
static char last[600];
static void hear(void *user, gnnc_log_level level, const char *topic, const char *text)
{
    (void)user;
    ck_assert(level == GNNC_LOG_NOTE && !strcmp(topic, "recompiles"));
    told++;
    snprintf(last, sizeof last, "%s", text);
}

START_TEST(limits)
{
    gnnc_context *c;
    gnnc_context_options o = {
        .size = sizeof o, .cache = GNNC_CACHE_NONE, .topics = "recompiles", .log = hear};
    ok(gnnc_context_new(&o, &c));
    bench b = set_up_in(c, plain, (gnnc_compile_options){.dynamic = "false", .recompile_limit = 2},
                        1);
    gnnc_status *s;
    for (int n = 5; n < 8; n++) free(infer_on(b.run, c, 1, n, 9, NULL));
    ck_assert(told == 2);
    ck_assert_msg(strstr(last, "recompilation 2") &&
                      strstr(last, "guard nodes == 6 does not hold: it is 7") &&
                      strstr(last, "nodes == 7, edges == 9"),
                  "%s", last);
    ck_assert(infer_on(b.run, c, 1, 8, 9, &s) == NULL);
    refused(s, GNNC_ERROR_USAGE, "guard nodes == 7 does not hold: it is 8");
    free(infer_on(b.run, c, 1, 5, 9, NULL)); /* what there is goes on */
    ck_assert(told == 2 && info_of(&b).programs == 3);
    tear_down(&b);
    gnnc_context_free(c);
}
END_TEST

START_TEST(stances)
{
    bench b = set_up(plain,
                     (gnnc_compile_options){.dynamic = "false", .stance = "fail-on-recompile"}, 1);
    visit(b.run, 10, 20);
    refused_on(b.run, 11, 20, GNNC_ERROR_USAGE, "guard nodes == 10 does not hold: it is 11");
    visit(b.run, 10, 20);
    tear_down(&b);

    b = set_up(plain, (gnnc_compile_options){.dynamic = "auto", .stance = "run-what-is-compiled"},
               1);
    refused_on(b.run, 10, 20, GNNC_ERROR_USAGE, "nothing is compiled yet");
    gnnc_run_options ro = {.size = sizeof ro, .stance = "recompile"};
    gnnc_run *warm;
    ok(gnnc_run_new(b.exe, b.state, &ro, &warm));
    visit(warm, 10, 20);
    visit(b.run, 10, 20);
    refused_on(b.run, 10, 21, GNNC_ERROR_USAGE, "guard edges == 20 does not hold: it is 21");
    gnnc_run_free(warm);
    tear_down(&b);

    bench want = set_up(plain, (gnnc_compile_options){0}, 1);
    b = set_up(plain, (gnnc_compile_options){.dynamic = "false", .stance = "eager-on-recompile"},
               1);
    for (int k = 0; k < 5; k++) {
        float *x = infer_on(want.run, NULL, 3, 10 + k, 30, NULL),
              *y = infer_on(b.run, NULL, 3, 10 + k, 30, NULL);
        for (int i = 0; i < (10 + k) * C; i++)
            ck_assert(x[i] - y[i] < 1e-5f && y[i] - x[i] < 1e-5f);
        gnnc_run_info i = {.size = sizeof i};
        gnnc_run_describe(b.run, &i);
        ck_assert(i.eager == (k > 0) && i.program == (k > 0));
        free(x);
        free(y);
    }
    ck_assert(info_of(&b).programs == 2 && info_of(&b).recompiles == 0 && program(&b, 1).eager);
    ck_assert(program(&b, 1).guard_was == 10 && program(&b, 1).guard_is == 11);
    tear_down(&b);
    tear_down(&want);
}
END_TEST

START_TEST(ranges)
{
    bench b = set_up(
        plain, (gnnc_compile_options){.dynamic = "auto", .ranges = "N in 1..100, E in ..500"}, 1);
    ck_assert(info_of(&b).programs == 1); /* nothing to wait for */
    for (int n = 1; n < 100; n += 9) visit(b.run, n, 5 * n);
    refused_on(b.run, 101, 10, GNNC_ERROR_DATA, "nodes is 101, declared to be in 1..100");
    refused_on(b.run, 0, 0, GNNC_ERROR_DATA, "nodes is 0");
    refused_on(b.run, 10, 501, GNNC_ERROR_DATA, "edges is 501");
    ck_assert(info_of(&b).recompiles == 0 && program(&b, 0).nodes_most == 100 &&
              program(&b, 0).edges_most == 500);
    tear_down(&b);
    b = set_up(plain, (gnnc_compile_options){.dynamic = "auto", .ranges = "nodes in 5.."}, 1);
    visit(b.run, 5, 10);
    visit(b.run, 9, 10);
    ck_assert(info_of(&b).programs == 1 && program(&b, 0).edges_most == 10);
    tear_down(&b);

    static const struct {
        gnnc_compile_options o;
        const char *words;
    } wrong[] = {
        {{.dynamic = "tru"}, "did you mean 'true'"},
        {{.stance = "fail-on-recompil"}, "did you mean 'fail-on-recompile'"},
        {{.ranges = "M in 1..2"}, "'M in 1..2' is no range"},
        {{.ranges = "N in 1..2 E in 1..2"}, "no range"},
        {{.ranges = "N in 99999999999999999999..2"}, "no range"},
        {{.ranges = "N in 5..2"}, "ends before it begins"},
        {{.buckets = "pow3", .dynamic = "false"}, "'pow3' are no buckets"},
        {{.buckets = "0", .dynamic = "false"}, "no buckets"},
        {{.buckets = "pow2"}, "dynamic 'false'"},
        {{.recompile_limit = -1}, "recompile_limit -1"},
    };
    gnnc_module *m;
    ok(gnnc_module_parse(NULL, plain, strlen(plain), NULL, &m));
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        gnnc_compile_options o = wrong[k].o;
        gnnc_executable *e;
        o.size = sizeof o;
        o.features = F;
        o.classes = C;
        refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE, wrong[k].words);
    }
    gnnc_module_free(m);
}
END_TEST

/* Several threads share an executable: each size is compiled once, and what they compute is what
 * one computes. */
typedef struct worker {
    pthread_t thread;
    const bench *shared;
    float *const *want;
    bool right;
} worker;

enum { TURNS = 24 };

static void *work(void *p)
{
    worker *z = p;
    gnnc_run *r;
    gnnc_status *s = gnnc_run_new(z->shared->exe, z->shared->state, NULL, &r);
    z->right = !s;
    for (uint32_t k = 0; k < TURNS && z->right; k++) {
        float *got = infer_on(r, NULL, k, 20 + (int)(k % 4), 60, &s);
        z->right = got && !memcmp(got, z->want[k], (size_t)(20 + k % 4) * C * sizeof *got);
        free(got);
    }
    gnnc_status_free(s);
    gnnc_run_free(r);
    return NULL;
}

START_TEST(threads)
{
    static const char *const how[] = {"true", "auto", "false"};
    gnnc_compile_options o = {.dynamic = how[_i], .expect_nodes = 20, .expect_edges = 60};
    bench one = set_up(plain, o, 1), b = set_up(plain, o, 1);
    float *want[TURNS];
    worker all[4] = {0};
    for (uint32_t k = 0; k < TURNS; k++)
        want[k] = infer_on(one.run, NULL, k, 20 + (int)(k % 4), 60, NULL);
    for (int k = 0; k < 4; k++) {
        all[k].shared = &b;
        all[k].want = want;
        ck_assert(pthread_create(&all[k].thread, NULL, work, &all[k]) == 0);
    }
    for (int k = 0; k < 4; k++) {
        pthread_join(all[k].thread, NULL);
        ck_assert(all[k].right);
    }
    ck_assert(info_of(&b).programs == info_of(&one).programs);
    ck_assert(info_of(&b).programs == (_i == 0 ? 1 : _i == 1 ? 2 : 4));
    for (uint32_t k = 0; k < TURNS; k++) free(want[k]);
    tear_down(&one);
    tear_down(&b);
}
END_TEST

/* What the header forbids: two threads train one state.  ThreadSanitizer sees the weights, which
 * generated code alone touches. */
static void *steps(void *p)
{
    for (int k = 0; k < 200; k++) ok(gnnc_run_step(p, NULL));
    return NULL;
}

START_TEST(forbidden)
{
    bench b = set_up(
        plain, (gnnc_compile_options){.train = true, .expect_nodes = 20, .expect_edges = 60}, 1);
    world w = make_world(1, 20, 60);
    gnnc_run *more;
    pthread_t other;
    ok(gnnc_run_new(b.exe, b.state, NULL, &more));
    bind_world(b.run, &w, true);
    bind_world(more, &w, true);
    ck_assert(pthread_create(&other, NULL, steps, more) == 0);
    steps(b.run);
    pthread_join(other, NULL);
    gnnc_run_free(more);
    end_world(&w);
    tear_down(&b);
}
END_TEST

/* What a run says that it holds is what it holds, but for some small change. */
START_TEST(bytes_of_runs)
{
    static const char
        model[] = "model M() (g: graph, x: node[F]) -> edge[C] {\n  a = Linear(C)\n  h = a(x)\n"
                  "  return edge(u -> v in g: h[u] * h[v] * g.weight)\n}\n";
    enum { N = 5000, E = 20000, CHANGE = 16384 };
    gnnc_context *c;
    gnnc_context_options o = {
        .size = sizeof o, .cache = GNNC_CACHE_NONE, .allocate = take, .release = give};
    ok(gnnc_context_new(&o, &c));
    for (int k = 0; k < 4; k++) {
        gnnc_compile_options co = {.dynamic = k % 2 ? "false" : "true",
                                   .buckets = k % 2 ? "pow2" : NULL,
                                   .sparse = k > 1,
                                   .wide = k == 1 || k == 2,
                                   .edge_weights = true};
        bench b = set_up_in(c, model, co, 1);
        world w = make_world_in(c, 1, N, E);
        DLTensor weight = tensor(w.w, 1, w.edges, kDLFloat, 32), out;
        /* the second time the program is there, and what the graph derives */
        for (int again = 0; again < 2; again++) {
            int64_t before = held;
            gnnc_run *r;
            ok(gnnc_run_new(b.exe, b.state, NULL, &r));
            bind_world(r, &w, false);
            ok(gnnc_run_bind(r, "g.weight", &weight));
            ok(gnnc_run_infer(r));
            ok(gnnc_run_output(r, "out", &out));
            ck_assert(out.shape[0] == E);
            int64_t bytes = gnnc_run_bytes(r);
            ck_assert_msg(!again || (held - before >= bytes && held - before < bytes + CHANGE),
                          "it holds %lld bytes, and says %lld (%d)", (long long)(held - before),
                          (long long)bytes, k);
            gnnc_run_free(r);
            ck_assert(!again || held == before);
        }
        end_world(&w);
        tear_down(&b);
    }
    gnnc_context_free(c);
    ck_assert(held == 0);
}
END_TEST

static TCase *named(Suite *s, const char *name)
{
    TCase *t = tcase_create(name);
    tcase_set_timeout(t, 280);
    suite_add_tcase(s, t);
    return t;
}

int main(void)
{
    Suite *s = suite_create("api_dynamic");
    TCase *shapes = named(s, "shapes"), *rules = named(s, "rules"), *shared = named(s, "threads"),
          *held_by = named(s, "bytes");
    if (GNNC_HAVE_LLVM) {
        tcase_add_loop_test(shapes, many_shapes, 0, 2);
        tcase_add_test(rules, automatic);
        tcase_add_loop_test(rules, same_bits, 0, 2);
        tcase_add_test(rules, limits);
        tcase_add_test(rules, stances);
        tcase_add_test(rules, ranges);
        tcase_add_loop_test(shared, threads, 0, 3);
        if (gn_watched) tcase_add_exit_test(shared, forbidden, 66);
        tcase_add_test(held_by, bytes_of_runs);
    }
    return suite_run(s);
}
