/* Training steps of the rows that their loss reads (gnnc_compile_options.rows): the losses and
 * weights of steps of all rows, whatever graph and mask are bound, in whatever order; which
 * programs are compiled for that, and where none is. */
/* labels: long */
/* timeout: 600 */
#include "base/sanitized.h"
#include "unit/api_memory.h"
#define API_KEEPS_CODE
#include "unit/api_world.h"

#include <math.h>
#include <pthread.h>
#include <unistd.h>

/* Three layers: of more levels than most of these graphs leave rows out.  Without Adam, which makes
 * steps of noise. */
static const char
    deep[] = "model D(p = 0.0) (g: graph, x: node[F]) -> node[C] {\n"
             "  a = GATConv(3, heads = 2, p = p)\n  b = SAGEConv(4)\n  c = GCNConv(C)\n"
             "  return c(g, relu(b(g, elu(a(g, dropout(x, p))))))\n}\n"
             "train D {\n  loss = cross_entropy(D(g, x), y) over train_mask\n"
             "  optimizer = sgd(lr = 0.1)\n}\n";
enum { PLAIN = 3, DEEP = 4 }; /* levels of rows that the models have */
static const gnnc_define drops[] = {{"p", "0.5"}};

static gnnc_run_info run_of(gnnc_run *r)
{
    gnnc_run_info i = {.size = sizeof i};
    gnnc_run_describe(r, &i);
    return i;
}

static int first_levels(const bench *b)
{
    gnnc_program_info p = {.size = sizeof p};
    ok(gnnc_executable_program(b->exe, 0, &p));
    return p.levels;
}

/* Of the program that the run ran last. */
static int levels_of(const bench *b, gnnc_run *r)
{
    gnnc_program_info p = {.size = sizeof p};
    ok(gnnc_executable_program(b->exe, run_of(r).program, &p));
    return p.levels;
}

/* Marks one row of so many: 0 none, 1 all, -1 one row, -k one of k but the other way round. */
static void mark(world *w, int every)
{
    for (int v = 0; v < w->n; v++)
        w->mask[v] = every > 0     ? v % every == 0
                     : every == -1 ? v == w->n / 2
                                   : every && v % -every != 0;
}

static void bind_mask(gnnc_run *r, world *w)
{
    DLTensor m = tensor(w->mask, 1, w->rows, kDLBool, 8);
    ok(gnnc_run_bind(r, "train_mask", &m));
}

static bool near(double a, double b, double within)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= within * (1 + fabs(b));
}

static void same_weights(const bench *a, const bench *b, const char *what)
{
    for (int k = 0; k < info_of(a).parameters; k++) {
        int64_t numbers[16];
        const char *name;
        DLTensor v, w;
        ok(gnnc_state_weight(a->state, k, &name, &v, numbers));
        int64_t n = 1;
        for (int d = 0; d < v.ndim; d++) n *= v.shape[d];
        ok(gnnc_state_weight(b->state, k, NULL, &w, numbers));
        for (int64_t i = 0; i < n; i++)
            ck_assert_msg(near((double)((float *)v.data)[i], (double)((float *)w.data)[i], 1e-4),
                          "%s: %s[%d] is %g, not %g", what, name, (int)i,
                          (double)((float *)v.data)[i], (double)((float *)w.data)[i]);
    }
}

/* The same model twice: with the rows that are asked for, and with all of them; trained side by
 * side. */
typedef struct two {
    bench picked, all;
} two;

static two set_up_two(const char *text, gnnc_compile_options o)
{
    two t;
    t.picked = set_up(text, o, 1);
    o.rows = "all";
    t.all = set_up(text, o, 1);
    return t;
}

static void tear_down_two(two *t)
{
    tear_down(&t->picked);
    tear_down(&t->all);
}

static void bind_both(two *t, world *w)
{
    bind_world(t->picked.run, w, true);
    bind_world(t->all.run, w, true);
}

/* So many steps of both; levels that were picked. */
static int step_both(two *t, int steps, const char *what)
{
    for (int k = 0; k < steps; k++) {
        double got, want;
        ok(gnnc_run_step(t->picked.run, &got));
        ok(gnnc_run_step(t->all.run, &want));
        ck_assert_msg(near(got, want, 1e-5), "%s: loss %d is %.9g, not %.9g", what, k, got, want);
    }
    ck_assert_int_eq(levels_of(&t->all, t->all.run), 0);
    return levels_of(&t->picked, t->picked.run);
}

static void renew(bench *b)
{
    gnnc_run_free(b->run);
    gnnc_state_free(b->state);
    ok(gnnc_state_new(b->exe, 7, &b->state));
    ok(gnnc_run_new(b->exe, b->state, NULL, &b->run));
}

/* Masks of none, few, most and all; x dense and by its non-zeros, with dropout and without; data
 * that stays, or may change, or is said to be the same in every run, though it is not. */
static const struct {
    int every, levels; /* least */
} masks[] = {{0, 2}, {-1, 2}, {40, 2}, {7, 1}, {2, 1}, {-5, 0}, {1, 0}};

START_TEST(same_as_all_rows)
{
    if (suite_leaves_out(_i, GN_UNDER_ASAN ? 4 : 2)) return; /* each compiles */
    world w = make_world(9, 300, 330);
    gnnc_compile_options o = {.train = true,
                              .sparse = _i & 1,
                              .defines = drops,
                              .n_defines = _i & 2 ? 1 : 0,
                              .fixed = true};
    if (_i & 4) o.fixed = false;
    if (_i & 4) o.rows = "needed";
    if (_i & 8) o.same_data = o.fixed = true;
    bool is_deep = (_i ^ _i >> 1 ^ _i >> 2) & 1;
    two t = set_up_two(is_deep ? deep : plain, o);
    int kinds = 1, most = is_deep ? DEEP : PLAIN;
    bool seen[8] = {false};
    seen[most] = !o.same_data; /* what is counted is another program */
    ck_assert_int_eq(first_levels(&t.picked), most);
    for (size_t k = 0; k < sizeof masks / sizeof *masks; k++) {
        char what[40];
        snprintf(what, sizeof what, "mask %d", masks[k].every);
        mark(&w, masks[k].every);
        renew(&t.picked);
        renew(&t.all);
        bind_both(&t, &w);
        int levels = step_both(&t, 8, what);
        ck_assert_msg(masks[k].levels ? levels >= masks[k].levels : levels == 0, "%s: %d levels",
                      what, levels);
        kinds += !seen[levels];
        seen[levels] = true;
        same_weights(&t.picked, &t.all, what);
        free(infer(t.picked.run, w.n));
        ck_assert_int_eq(run_of(t.picked.run).program, 0);
    }
    gnnc_executable_info i = info_of(&t.picked);
    ck_assert(i.programs == kinds && kinds > 1 && i.recompiles == 0 &&
              info_of(&t.all).programs == 1);
    tear_down_two(&t);
    end_world(&w);
}
END_TEST

/* One executable, graphs of all sizes and masks of all kinds in turn, and an inference now and
 * then: a program for each number of levels at most, however sizes are compiled in. */
static const char *const dynamics[] = {"true", "auto", "false"};

START_TEST(graphs_and_masks_in_turn)
{
    if (GN_UNDER_ASAN && _i == 1) return; /* each compiles */
    static const int every[] = {3, 1, 20, 0, -1, 2, -4, 9};
    two t = set_up_two(
        deep, (gnnc_compile_options){
                  .train = true, .fixed = true, .dynamic = dynamics[_i], .recompile_limit = 99});
    bool seen[8] = {[DEEP] = true};
    int kinds = 1, steps = _i == 2 ? 8 : 60;
    for (int k = 0; k < steps; k++) {
        int n = k < 2 ? k : 20 + k * 37 % 200;
        world w = make_world((uint32_t)k, n, n * (1 + k % 3) / 2);
        char what[40];
        if (every[k % 8]) mark(&w, every[k % 8]); /* a step over no rows has no loss to compare */
        if (n) w.mask[n / 2] = 1;
        snprintf(what, sizeof what, "step %d, %d nodes", k, n);
        bind_both(&t, &w);
        if (n) {
            int levels = step_both(&t, 2, what);
            kinds += !seen[levels];
            seen[levels] = true;
        }
        if (k % 5 == 0) {
            float *got = infer(t.picked.run, n), *want = infer(t.all.run, n);
            for (int v = 0; v < n * C; v++) ck_assert(near((double)got[v], (double)want[v], 1e-4));
            free(got);
            free(want);
        }
        end_world(&w);
    }
    same_weights(&t.picked, &t.all, "at the end");
    gnnc_executable_info i = info_of(&t.picked), all = info_of(&t.all);
    ck_assert_msg(kinds >= 3 && i.recompiles == all.recompiles, "%d kinds, %d recompilations",
                  kinds, i.recompiles);
    if (_i == 0) ck_assert_int_eq(i.programs, kinds);
    if (_i == 1) ck_assert(i.programs > all.programs && i.programs <= all.programs * (kinds + 1));
    if (_i == 2) ck_assert(i.programs > all.programs && i.programs <= 2 * all.programs);
    tear_down_two(&t);
}
END_TEST

/* A mask that is written to counts once it is bound again: for few rows after all, all after few,
 * other rows. */
START_TEST(masks_that_change)
{
    gnnc_compile_options o = {.train = true, .fixed = _i, .rows = "needed"};
    two t = set_up_two(plain, o);
    world w = make_world(5, 200, 260);
    static const int every[] = {1, 30, -1, 2, 1, 50, 49};
    mark(&w, 1);
    bind_both(&t, &w);
    for (int k = 0; k < 7; k++) {
        char what[20];
        double before, after, all;
        snprintf(what, sizeof what, "mask %d", every[k]);
        mark(&w, every[k]);
        ok(gnnc_state_save(t.picked.state, "api-rows.before"));
        ok(gnnc_run_step(t.picked.run, &before)); /* as it was bound */
        ok(gnnc_run_step(t.all.run, &all));
        ck_assert_msg(near(before, all, 1e-5), "%s: %.9g, not %.9g", what, before, all);
        bind_mask(t.picked.run, &w);
        bind_mask(t.all.run, &w);
        ok(gnnc_state_load(t.picked.state, "api-rows.before"));
        ok(gnnc_state_load(t.all.state, "api-rows.before"));
        ok(gnnc_run_step(t.picked.run, &after));
        ok(gnnc_run_step(t.all.run, &all));
        ck_assert_msg(near(after, all, 1e-5), "%s: %.9g, not %.9g", what, after, all);
        ck_assert_msg(k == 0 || fabs(after - before) > 1e-4, "%s is that before", what);
        ck_assert_int_eq(levels_of(&t.picked, t.picked.run) > 0, every[k] != 1);
    }
    same_weights(&t.picked, &t.all, "at the end");
    unlink("api-rows.before");
    end_world(&w);
    tear_down_two(&t);
}
END_TEST

/* Another graph under the same mask: other levels, the same program where their number is. */
START_TEST(graphs_that_change)
{
    two t = set_up_two(plain, (gnnc_compile_options){.train = true, .fixed = true});
    static const int edges[] = {10, 2000, 100, 0, 400};
    for (int k = 0; k < 5; k++) {
        world w = make_world((uint32_t)k, 150, edges[k]);
        mark(&w, 20);
        if (k == 0) bind_both(&t, &w);
        ok(gnnc_run_bind_graph(t.picked.run, w.g));
        ok(gnnc_run_bind_graph(t.all.run, w.g));
        DLTensor x = x_of(&w), y = tensor(w.y, 1, w.rows, kDLInt, 32);
        for (int r = 0; r < 2; r++) {
            ok(gnnc_run_bind(r ? t.picked.run : t.all.run, "x", &x));
            ok(gnnc_run_bind(r ? t.picked.run : t.all.run, "y", &y));
        }
        int levels = step_both(&t, 3, "a graph");
        ck_assert_msg(edges[k] == 2000 ? levels == 2 : levels == 3, "%d edges: %d levels", edges[k],
                      levels);
        end_world(&w);
    }
    same_weights(&t.picked, &t.all, "at the end");
    ck_assert_int_eq(info_of(&t.picked).programs, 2);
    tear_down_two(&t);
}
END_TEST

static bool finite_weights(const bench *b)
{
    int64_t numbers[16];
    DLTensor v;
    bool finite = true;
    ok(gnnc_state_weight_named(b->state, "a.lin.weight", &v, numbers));
    for (int k = 0; k < 4 * F; k++) finite = finite && isfinite(((float *)v.data)[k]);
    return finite;
}

/* What is not finite where no loss reads it is in no gradient. */
START_TEST(rows_left_out)
{
    two t = set_up_two(plain, (gnnc_compile_options){.train = true, .fixed = true});
    world w = make_world(5, 100, 0);
    double loss;
    mark(&w, 10);
    for (int k = 0; k < F; k++) w.x[3 * F + k] = INFINITY;
    bind_both(&t, &w);
    ok(gnnc_run_step(t.picked.run, &loss));
    ck_assert(isfinite(loss) && finite_weights(&t.picked));
    ok(gnnc_run_step(t.all.run, NULL));
    ck_assert(!finite_weights(&t.all));
    end_world(&w);
    tear_down_two(&t);
}
END_TEST

/* A run that goes on from a saved state has the bytes of one that never stopped, in another
 * executable as well. */
START_TEST(restarts)
{
    gnnc_compile_options o = {.train = true, .fixed = true, .defines = drops, .n_defines = 1};
    bench b = set_up(plain, o, 1), again = set_up(plain, o, 2);
    world w = make_world(9, 200, 150);
    mark(&w, 20);
    bind_world(b.run, &w, true);
    for (int k = 0; k < 5; k++) ok(gnnc_run_step(b.run, NULL));
    ok(gnnc_state_save(b.state, "api-rows.middle"));
    ok(gnnc_state_load(again.state, "api-rows.middle"));
    bind_world(again.run, &w, true);
    for (int k = 0; k < 5; k++) {
        double one, other;
        ok(gnnc_run_step(b.run, &one));
        ok(gnnc_run_step(again.run, &other));
        ck_assert(one == other);
    }
    ck_assert_int_eq(levels_of(&b, b.run), levels_of(&again, again.run));
    ck_assert_int_gt(levels_of(&b, b.run), 0);
    unlink("api-rows.middle");
    end_world(&w);
    tear_down(&b);
    tear_down(&again);
}
END_TEST

/* Without leave to compile a step has the levels that there is a program for, which is as right. */
START_TEST(stances)
{
    gnnc_compile_options o = {.train = true, .fixed = true};
    bench b = set_up(plain, o, 1);
    o.rows = "all";
    bench all = set_up(plain, o, 1);
    gnnc_run_options ro = {.size = sizeof ro, .stance = "run-what-is-compiled"};
    gnnc_run *careful;
    double got, want;
    ok(gnnc_run_new(b.exe, b.state, &ro, &careful));
    world w = make_world(5, 200, 150);
    mark(&w, 1);
    bind_world(careful, &w, true);
    bind_world(all.run, &w, true);
    ok(gnnc_run_step(careful, &got));
    ok(gnnc_run_step(all.run, &want));
    ck_assert(levels_of(&b, careful) == PLAIN && info_of(&b).programs == 1 &&
              near(got, want, 1e-5));
    bind_world(b.run, &w, true);
    ok(gnnc_run_step(b.run, NULL));
    ck_assert(levels_of(&b, b.run) == 0 && info_of(&b).programs == 2);
    ok(gnnc_run_step(all.run, NULL));
    same_weights(&b, &all, "all rows, picked");
    bind_mask(careful, &w);
    ok(gnnc_run_step(careful, NULL));
    ck_assert(levels_of(&b, careful) == 0 && info_of(&b).programs == 2);
    gnnc_run_free(careful);
    tear_down(&b);
    tear_down(&all);
    mark(&w, -4);

    /* No recompilation; and an eager program has all rows. */
    b = set_up(plain,
               (gnnc_compile_options){
                   .train = true, .fixed = true, .dynamic = "false", .stance = "fail-on-recompile"},
               1);
    bind_world(b.run, &w, true);
    ok(gnnc_run_step(b.run, NULL));
    ck_assert(levels_of(&b, b.run) < PLAIN && info_of(&b).programs == 2 &&
              info_of(&b).recompiles == 0);
    ro.stance = "eager-on-recompile";
    world other = make_world(5, 201, 150);
    mark(&other, 20);
    ok(gnnc_run_new(b.exe, b.state, &ro, &careful));
    bind_world(careful, &other, true);
    ok(gnnc_run_step(careful, NULL));
    ck_assert(run_of(careful).eager && levels_of(&b, careful) == 0);
    gnnc_run_free(careful);
    tear_down(&b);
    end_world(&other);
    end_world(&w);
}
END_TEST

/* What is asked for, refused, and said. */
START_TEST(options)
{
    gnnc_module *m;
    gnnc_executable *e;
    ok(gnnc_module_parse(NULL, plain, strlen(plain), "m.gnn", &m));
    gnnc_compile_options o = {
        .size = sizeof o, .features = F, .classes = C, .train = true, .rows = "neded"};
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE, "did you mean 'needed'");
    o.rows = "needed";
    o.mode = "eager";
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE, "in mode eager all rows are computed");
    o.mode = NULL;
    o.dynamic = "false";
    o.buckets = "pow2";
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE, "with buckets all rows are computed");
    o = (gnnc_compile_options){
        .size = sizeof o, .features = F, .classes = C, .train = true, .same_data = true};
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE, "same_data goes with `train` and `fixed`");
    gnnc_module_free(m);
    const char batches[] = "model M() (g: graph, x: node[F]) -> node[C] {\n"
                           "  return SAGEConv(C)(g, x)\n}\n"
                           "train M {\n  loss = cross_entropy(M(g, x), y) over train_mask\n"
                           "  batch = rows(8)\n}\n";
    ok(gnnc_module_parse(NULL, batches, strlen(batches), "m.gnn", &m));
    o = (gnnc_compile_options){.size = sizeof o, .features = F, .classes = C, .train = true};
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE, "the train block of M takes batches");
    o.train = false;
    ok(gnnc_compile(m, &o, &e));
    gnnc_executable_free(e);
    gnnc_module_free(m);

    static const gnnc_compile_options none[] = {
        {.train = true},
        {.train = true, .fixed = true, .rows = "all"},
        {.train = true, .fixed = true, .mode = "eager"},
        {.train = true, .fixed = true, .dynamic = "false", .buckets = "64"}};
    world w = make_world(5, 200, 150);
    mark(&w, 20);
    for (int k = 0; k < 4; k++) {
        bench b = set_up(plain, none[k], 1);
        bind_world(b.run, &w, true);
        ok(gnnc_run_step(b.run, NULL));
        ck_assert(levels_of(&b, b.run) == 0 && info_of(&b).programs == 1);
        tear_down(&b);
    }
    bench b = set_up(plain, (gnnc_compile_options){.train = true, .fixed = true}, 1);
    int64_t rows[] = {199};
    DLTensor x = x_of(&w), y = tensor(w.y, 1, w.rows, kDLInt, 32),
             less = tensor(w.mask, 1, rows, kDLBool, 8);
    ok(gnnc_run_bind_graph(b.run, w.g));
    ok(gnnc_run_bind(b.run, "x", &x));
    ok(gnnc_run_bind(b.run, "y", &y));
    refused(gnnc_run_step(b.run, NULL), GNNC_ERROR_USAGE, "'train_mask' is not bound");
    ok(gnnc_run_bind(b.run, "train_mask", &less));
    refused(gnnc_run_step(b.run, NULL), GNNC_ERROR_DATA, "train_mask");
    mark(&w, 1);
    bind_mask(b.run, &w);
    ok(gnnc_run_step(b.run, NULL));
    gnnc_program_info p = {.size = sizeof p};
    char *text;
    ok(gnnc_executable_program(b.exe, 1, &p));
    ck_assert(p.levels == 0 && p.guard == NULL && p.nodes_most == INT64_MAX && !p.eager);
    ck_assert_str_eq(p.reason, "graph and mask leave rows out at 0 levels, not at 3");
    ok(gnnc_executable_explain(b.exe, &text));
    ck_assert(strstr(text, "because: graph and mask leave rows out") != NULL);
    gnnc_text_free(text);
    end_world(&w);
    tear_down(&b);
}
END_TEST

/* What is counted decides: products stay in front of an aggregation whose few rows have many edges,
 * and where they have few they do not.  Later data find the program that is there; who must not
 * compile, one that was made for any data. */
START_TEST(counted_data)
{
    gnnc_run_options ro = {.size = sizeof ro, .stance = "run-what-is-compiled"};
    static const gnnc_define wide[] = {{"hidden", "64"}};
    gnnc_compile_options o = {
        .train = true, .fixed = true, .rows = "needed", .defines = wide, .n_defines = 1};
    world many = make_world(5, 400, 12000), few = make_world(5, 400, 300);
    mark(&many, 200);
    mark(&few, 200);
    bench any = set_up(plain, o, 1), all;
    o.same_data = true;
    bench b[2] = {set_up(plain, o, 1), set_up(plain, o, 1)};
    o.same_data = false;
    o.rows = "all";
    all = set_up(plain, o, 1);
    gnnc_run *careful;
    ok(gnnc_run_new(b[0].exe, b[0].state, &ro, &careful));
    bind_world(careful, &many, true);
    double loss[2], want;
    ok(gnnc_run_step(careful, &want));
    ck_assert_int_eq(run_of(careful).program, 0);
    gnnc_run_free(careful);
    renew(&b[0]);
    for (int k = 0; k < 2; k++) {
        bind_world(b[k].run, k ? &few : &many, true);
        ok(gnnc_run_step(b[k].run, &loss[k]));
        gnnc_program_info p = {.size = sizeof p};
        ck_assert_int_eq(run_of(b[k].run).program, 1);
        ok(gnnc_executable_program(b[k].exe, 1, &p));
        ck_assert_msg(strstr(p.reason, "every run has the same data") && !p.guard &&
                          info_of(&b[k]).recompiles == 0,
                      "because: %s", p.reason);
    }
    ck_assert(near(loss[0], want, 1e-5));
    bind_world(any.run, &many, true);
    ok(gnnc_run_step(any.run, &want));
    ck_assert(near(loss[0], want, 1e-5));
    char *of_any, *of_many, *of_few;
    ok(gnnc_executable_emit(any.exe, "gir", &of_any));
    ok(gnnc_executable_emit(b[0].exe, "gir", &of_many));
    ok(gnnc_executable_emit(b[1].exe, "gir", &of_few));
    ck_assert_str_ne(of_many, of_few);
    ck_assert(strcmp(strstr(of_any, "step"), strstr(of_many, "step")) != 0);
    gnnc_text_free(of_any);
    gnnc_text_free(of_many);
    gnnc_text_free(of_few);
    bind_world(all.run, &few, true);
    bind_world(b[0].run, &few, true);
    renew(&b[0]);
    bind_world(b[0].run, &few, true);
    ok(gnnc_run_step(b[0].run, &loss[0]));
    ok(gnnc_run_step(all.run, &want));
    ck_assert(near(loss[0], want, 1e-5) && near(loss[1], want, 1e-5));
    ck_assert(levels_of(&b[0], b[0].run) > 0 && info_of(&b[0]).programs <= 3);
    for (int k = 0; k < 2; k++) tear_down(&b[k]);
    tear_down(&any);
    tear_down(&all);
    end_world(&many);
    end_world(&few);
}
END_TEST

/* Threads that share an executable, each with a state: a program for each number of levels, and the
 * losses of one alone. */
enum { CALLERS = 3, EACH = 24 };
typedef struct caller {
    pthread_t thread;
    bench *b;
    double loss[EACH];
} caller;

static void *train_each(void *p)
{
    caller *z = p;
    gnnc_state *s;
    gnnc_run *r;
    ok(gnnc_state_new(z->b->exe, 7, &s));
    ok(gnnc_run_new(z->b->exe, s, NULL, &r));
    for (int k = 0; k < EACH; k++) {
        world w = make_world((uint32_t)k, 80 + k, 60 + 150 * (k % 4));
        mark(&w, 1 + 7 * (k % 5));
        bind_world(r, &w, true);
        ok(gnnc_run_step(r, &z->loss[k]));
        end_world(&w);
    }
    gnnc_run_free(r);
    gnnc_state_free(s);
    return NULL;
}

START_TEST(threads)
{
    bench b = set_up(plain, (gnnc_compile_options){.train = true, .fixed = true}, 1),
          lone = set_up(plain, (gnnc_compile_options){.train = true, .fixed = true}, 1);
    caller z[CALLERS], want = {.b = &lone};
    train_each(&want);
    for (int k = 0; k < CALLERS; k++) {
        z[k].b = &b;
        ck_assert_int_eq(pthread_create(&z[k].thread, NULL, train_each, &z[k]), 0);
    }
    for (int k = 0; k < CALLERS; k++) pthread_join(z[k].thread, NULL);
    for (int k = 0; k < CALLERS; k++) ck_assert_mem_eq(z[k].loss, want.loss, sizeof want.loss);
    ck_assert_int_gt(info_of(&lone).programs, 2);
    ck_assert_int_eq(info_of(&b).programs, info_of(&lone).programs);
    tear_down(&b);
    tear_down(&lone);
}
END_TEST

/* Schedules are chosen for the step that picks rows, under its own name; a lock has them. */
START_TEST(tuned)
{
    char lock[] = "api-rows-lock.XXXXXX";
    close(mkstemp(lock));
    gnnc_compile_options o = {
        .train = true, .fixed = true, .mode = "max-autotune", .tune_budget_ms = 1};
    bench b = set_up(plain, o, 1);
    world w = make_world(5, 200, 150);
    double loss, again;
    mark(&w, -4);
    bind_world(b.run, &w, true);
    ok(gnnc_run_step(b.run, &loss));
    gnnc_tuning_info t = {.size = sizeof t};
    int k = run_of(b.run).program;
    ck_assert(levels_of(&b, b.run) > 0 && levels_of(&b, b.run) < PLAIN);
    ok(gnnc_executable_tuning(b.exe, k, true, &t));
    ck_assert(t.known);
    ok(gnnc_executable_tuning(b.exe, 0, true, &t));
    ck_assert(!t.known);
    ok(gnnc_executable_lock(b.exe, lock));
    o = (gnnc_compile_options){.train = true, .fixed = true, .tune_lock = lock};
    bench locked = set_up(plain, o, 1);
    bind_world(locked.run, &w, true);
    ok(gnnc_run_step(locked.run, &again));
    ck_assert(loss == again);
    edit(lock, "one_region 0\n", "one_region 0\nwithout fuse\n");
    bench other = set_up(plain, o, 1); /* other schedules of a step make no program with a guard */
    gnnc_program_info p = {.size = sizeof p};
    bind_world(other.run, &w, true);
    ok(gnnc_run_step(other.run, &again));
    ck_assert(fabs(loss - again) < 1e-5);
    ok(gnnc_executable_program(other.exe, run_of(other.run).program, &p));
    ck_assert(p.levels > 0 && p.levels < PLAIN && !p.guard);
    tear_down(&other);
    o.rows = "all"; /* another program */
    bench all = set_up(plain, o, 1);
    bind_world(all.run, &w, true);
    refused(gnnc_run_step(all.run, NULL), GNNC_ERROR_DATA, "picked");
    unlink(lock);
    end_world(&w);
    tear_down(&b);
    tear_down(&locked);
    tear_down(&all);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    if (GNNC_HAVE_LLVM) {
        tcase_add_loop_test(t, same_as_all_rows, 0, 16);
        tcase_add_loop_test(t, graphs_and_masks_in_turn, 0, 3);
        tcase_add_loop_test(t, masks_that_change, 0, 2);
        tcase_add_test(t, graphs_that_change);
        tcase_add_test(t, rows_left_out);
        tcase_add_test(t, restarts);
        tcase_add_test(t, stances);
        tcase_add_test(t, options);
        tcase_add_test(t, counted_data);
        tcase_add_test(t, threads);
        tcase_add_test(t, tuned);
    }
    tcase_set_timeout(t, 250);
    return RUN_CASES("api_rows", t);
}
