/* Cells against their baseline, what is recommended, and cells as files. */
#include "cli/bench/bench.h"
#include "cli/bench/recommend.h"
#include "cli/bench/tables.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static gn_arena arena;
static gn_cli cli;
static gn_bench bench;

static void setup(void)
{
    gn_arena_init(&arena);
    cli = (gn_cli){.arena = &arena};
    gn_cli_options_init(&cli.opt);
    gn_grid_text t = {.modes = "eager,default,max-autotune", .threads = "1"};
    bench = (gn_bench){
        .cli = &cli, .arena = &arena, .model = "m.gnn", .tolerance = GN_BENCH_TOLERANCE};
    ck_assert_ptr_null(gn_grid_parse(&arena, &t, &bench.grid));
    bench.cells = GN_NEW_N(&arena, gn_cell, 8);
}
static void teardown(void) { gn_arena_free(&arena); }

/* n samples about `us`, without chance. */
static gn_samples about(double us, int n)
{
    gn_samples s = {.n = n, .x = GN_NEW_N(&arena, double, n + 1)};
    for (int k = 0; k < n; k++) s.x[k] = us * (1 + 0.0005 * k);
    return s;
}

static gn_cell *add(const char *mode, double compile_ms, double step_us, const char *code)
{
    gn_cell *c = &bench.cells[bench.n_cells++];
    gn_cell_init(c);
    c->mode = mode;
    c->dynamic = "auto";
    c->threads = 1;
    c->key = c->id = gn_arena_printf(&arena, "key of %s", mode);
    c->is_baseline = !strcmp(mode, bench.grid.baseline);
    c->end = GN_CELL_OK;
    c->cold.compile_ms = compile_ms;
    c->warm.compile_ms = compile_ms / 10;
    c->warm.code = code;
    c->warm.step_us = about(step_us, 20);
    c->warm.infer_us = about(step_us / 2, 20);
    c->warm.losses = (gn_samples){3, GN_NEW_N(&arena, double, 3)};
    for (int k = 0; k < 3; k++) c->warm.losses.x[k] = 2.0 - 0.25 * k;
    c->step = gn_stats_of(&arena, c->warm.step_us.x, c->warm.step_us.n);
    c->infer = gn_stats_of(&arena, c->warm.infer_us.x, c->warm.infer_us.n);
    c->logits_diff = c->is_baseline ? NAN : 1e-7;
    return c;
}

START_TEST(gains_and_break_even)
{
    const gn_cell *e = add("eager", 20, 1000, "e"), *d = add("default", 90, 100, "d");
    gn_bench_compare(&bench);
    ck_assert_ptr_eq(d->baseline, e);
    ck_assert_double_eq_tol(d->step_gain, 10, 1e-9);
    ck_assert(d->step_differs && d->infer_differs);
    double gain = e->step.median - d->step.median;
    ck_assert_double_eq(d->break_even_step, ceil(90e3 / gain));
    ck_assert_double_eq(d->break_even_step_cached, ceil(9e3 / gain));
    ck_assert_double_eq(d->break_even_step_extra, ceil(70e3 / gain));
    ck_assert_double_eq(e->step_gain, 1);
    ck_assert(isnan(e->break_even_step));
}
END_TEST

START_TEST(slower_never_comes_back)
{
    add("eager", 20, 100, "e");
    const gn_cell *d = add("default", 90, 200, "d");
    gn_bench_compare(&bench);
    ck_assert(isinf(d->break_even_step));
    ck_assert_double_eq_tol(d->step_gain, 0.5, 1e-9);
}
END_TEST

/* Outputs or early losses that differ make an error of a row; late losses, which rounding has
 * carried off, do not. */
START_TEST(disagreement)
{
    add("eager", 20, 1000, "e");
    gn_cell *outputs = add("default", 90, 100, "d"), *losses = add("max-autotune", 90, 100, "m");
    gn_cell *late = add("reduce-overhead", 90, 100, "r");
    outputs->logits_diff = 2e-5;
    losses->warm.losses.x[1] *= 1 + 2e-5;
    late->warm.losses.x[2] *= 1.01;
    gn_bench_compare(&bench);
    ck_assert_int_eq(outputs->end, GN_CELL_DISAGREES);
    ck_assert_ptr_nonnull(strstr(outputs->reason, "outputs differ from those of eager by 2e-05"));
    ck_assert_int_eq(losses->end, GN_CELL_DISAGREES);
    ck_assert_ptr_nonnull(strstr(losses->reason, "losses"));
    ck_assert(isnan(outputs->step_gain) && isnan(losses->step_gain));
    ck_assert_int_eq(late->end, GN_CELL_OK);
    ck_assert_double_eq_tol(late->end_loss_diff, 0.01, 1e-9);
}
END_TEST

/* In another order of nodes there is other dropout: outputs are compared, losses are not. */
START_TEST(another_order)
{
    add("eager", 20, 1000, "e")->warm.order = "none";
    gn_cell *d = add("default", 90, 100, "d"), *m = add("max-autotune", 90, 100, "m");
    d->warm.order = m->warm.order = "rcm";
    d->warm.losses.x[0] *= 1.5;
    m->logits_diff = 1e-3;
    gn_bench_compare(&bench);
    ck_assert_int_eq(d->end, GN_CELL_OK);
    ck_assert(isnan(d->loss_diff) && d->step_gain > 1);
    ck_assert_int_eq(m->end, GN_CELL_DISAGREES);
}
END_TEST

/* Just within the tolerance is well. */
START_TEST(agreement)
{
    add("eager", 20, 1000, "e");
    gn_cell *d = add("default", 90, 100, "d");
    d->logits_diff = 0.9e-5;
    d->warm.losses.x[0] *= 1 + 0.9e-5;
    gn_bench_compare(&bench);
    ck_assert_int_eq(d->end, GN_CELL_OK);
}
END_TEST

START_TEST(no_baseline)
{
    gn_cell *e = add("eager", 20, 1000, "e");
    const gn_cell *d = add("default", 90, 100, "d");
    e->end = GN_CELL_CRASH;
    gn_bench_compare(&bench);
    ck_assert_ptr_null(d->baseline);
    ck_assert(isnan(d->step_gain) && isnan(d->break_even_step));
    ck_assert_int_eq(d->end, GN_CELL_OK);
}
END_TEST

static double diff_of(const float *x, size_t n, const float *y, size_t m)
{
    char a[] = "/tmp/gnnc-outputs-XXXXXX", b[] = "/tmp/gnnc-outputs-XXXXXX";
    int f = mkstemp(a), g = mkstemp(b);
    double diff;
    ck_assert_int_eq((int)write(f, x, n * sizeof *x), (int)(n * sizeof *x));
    ck_assert_int_eq((int)write(g, y, m * sizeof *y), (int)(m * sizeof *y));
    close(f);
    close(g);
    ck_assert_ptr_null(gn_bench_outputs_diff(a, b, &diff));
    unlink(a);
    unlink(b);
    return diff;
}

START_TEST(outputs)
{
    const float x[] = {1, -4, 2}, y[] = {1, -4, 2.5f}, bad[] = {1, NAN, 2}, zero[] = {0, 0, 0};
    ck_assert_double_eq(diff_of(x, 3, x, 3), 0);
    ck_assert_double_eq(diff_of(x, 3, y, 3), 0.125); /* 0.5 over 4 */
    ck_assert(isinf(diff_of(x, 3, y, 2)) && isinf(diff_of(x, 2, y, 3)));
    ck_assert(isinf(diff_of(x, 3, bad, 3)) && isinf(diff_of(bad, 3, bad, 3)));
    ck_assert_double_eq(diff_of(zero, 3, zero, 3), 0);
    ck_assert(isinf(diff_of(zero, 3, x, 3)));
    float long_x[10000], long_y[10000];
    for (int k = 0; k < 10000; k++) long_x[k] = long_y[k] = 1;
    long_y[9999] = 2;
    ck_assert_double_eq(diff_of(long_x, 10000, long_y, 10000), 1);
    double diff;
    gn_status *s = gn_bench_outputs_diff("/nowhere/a", "/nowhere/b", &diff);
    ck_assert_int_eq(gn_status_code(s), GN_ERR_IO);
    gn_status_free(s);
}
END_TEST

static int peers(const gn_cell **out) { return gn_peers_of(&bench, bench.cells, out); }

START_TEST(fastest)
{
    const gn_cell *p[8];
    add("eager", 20, 1000, "e");
    add("default", 90, 100, "d");
    add("max-autotune", 5000, 50, "m");
    gn_bench_compare(&bench);
    ck_assert_str_eq(p[gn_best_of(peers(p), p, false)]->mode, "max-autotune");
    ck_assert_int_eq(gn_best_of(0, p, false), -1);
}
END_TEST

/* What is not faster beyond noise is not worth a mode that does more. */
START_TEST(simplest_of_equals)
{
    const gn_cell *p[8];
    add("eager", 20, 1000, "e");
    add("max-autotune", 10, 100, "m");
    add("default", 90, 100.5, "d");
    gn_bench_compare(&bench);
    ck_assert_str_eq(p[gn_best_of(peers(p), p, false)]->mode, "default");
}
END_TEST

/* The same program: what was measured is noise, however large.  Another way to run the same kernels
 * is another program. */
START_TEST(same_program)
{
    const gn_cell *p[8];
    add("eager", 20, 1000, "e");
    const gn_cell *d = add("default", 90, 150, "same"),
                  *m = add("max-autotune-no-cudagraphs", 90, 100, "same");
    gn_bench_compare(&bench);
    ck_assert(gn_same_program(d, m));
    ck_assert_str_eq(p[gn_best_of(peers(p), p, false)]->mode, "default");
    bench.cells[2].warm.picked = "step: 1 thread";
    ck_assert(!gn_same_program(d, m));
    bench.cells[2].warm.picked = "";
    bench.cells[2].warm.order = "rcm"; /* the same kernels on nodes in another order: what was
                                          measured counts */
    ck_assert(!gn_same_program(d, m));
    ck_assert_str_eq(p[gn_best_of(peers(p), p, false)]->mode, "max-autotune-no-cudagraphs");
    bench.cells[1].warm.order = "rcm";
    ck_assert(gn_same_program(d, m));
    bench.cells[1].warm.order = "none"; /* as one of which it is not said */
    bench.cells[2].warm.order = NULL;
    ck_assert(gn_same_program(d, m));
    const gn_cell *r = add("reduce-overhead", 90, 50, "same");
    ck_assert(!gn_same_program(d, r));
    ck_assert_str_eq(p[gn_best_of(peers(p), p, false)]->mode, "reduce-overhead");
    bench.n_cells--;
    add("max-autotune", 90, 149, "other"); /* as fast as default, which is the program of the best
                                            */
    ck_assert_str_eq(p[gn_best_of(peers(p), p, false)]->mode, "default");
    const gn_cell *none = add("max-autotune", 90, 50, "");
    ck_assert(!gn_same_program(none, none));
    /* where it was recorded what runs and how, that alone counts */
    gn_cell *x = add("default", 90, 50, "k"), *y = add("reduce-overhead", 90, 50, "k");
    ck_assert(!gn_same_program(x, y));
    x->warm.program = y->warm.program = "p";
    ck_assert(gn_same_program(x, y));
    y->warm.program = "q";
    ck_assert(!gn_same_program(x, y));
}
END_TEST

/* A simple mode is not as fast as the best because one cell of the best's program was as slow: most
 * of them have to be. */
START_TEST(one_slow_cell)
{
    const gn_cell *p[8];
    add("eager", 20, 149, "e");
    add("reduce-overhead", 90, 150, "same");
    add("max-autotune", 90, 100, "same");
    gn_bench_compare(&bench);
    ck_assert_str_eq(p[gn_best_of(peers(p), p, false)]->mode, "reduce-overhead");
    const gn_cell *more = add("max-autotune", 90, 148, "same");
    ck_assert(gn_same_program(&bench.cells[2], more));
    ck_assert_str_eq(p[gn_best_of(peers(p), p, false)]->mode, "eager");
}
END_TEST

/* As programs go, so go gains: the baseline's own program is not told apart from it, whatever was
 * measured. */
START_TEST(same_as_the_baseline)
{
    gn_cell *e = add("eager", 20, 1000, "same");
    const gn_cell *d = add("default", 90, 100, "same"), *m = add("max-autotune", 90, 100, "other");
    gn_bench_compare(&bench);
    ck_assert(!d->step_differs && !d->infer_differs);
    ck_assert(m->step_differs && m->infer_differs);
    e->warm.order = "rcm";
    gn_bench_compare(&bench);
    ck_assert(d->step_differs && d->infer_differs);
}
END_TEST

START_TEST(cheapest_by_steps)
{
    const gn_cell *p[8];
    double from[8];
    int pick[8];
    add("eager", 10, 1000, "e");
    add("default", 100, 100, "d");
    add("max-autotune", 10000, 90, "m");
    gn_bench_compare(&bench);
    int n = peers(p), count = gn_cheapest(n, p, false, from, pick);
    ck_assert_int_eq(count, 3);
    ck_assert_str_eq(p[pick[0]]->mode, "eager");
    ck_assert_str_eq(p[pick[1]]->mode, "default");
    ck_assert_str_eq(p[pick[2]]->mode, "max-autotune");
    ck_assert_double_eq(from[0], 1);
    for (int k = 0; k + 1 < count; k++) { /* just before, and at the change */
        const gn_cell *a = p[pick[k]], *b = p[pick[k + 1]];
        double m = from[k + 1];
        ck_assert_double_ge(b->cold.compile_ms * 1e3 + (m - 1) * b->step.median,
                            a->cold.compile_ms * 1e3 + (m - 1) * a->step.median);
        ck_assert_double_lt(b->cold.compile_ms * 1e3 + m * b->step.median,
                            a->cold.compile_ms * 1e3 + m * a->step.median);
    }
}
END_TEST

START_TEST(dearer_is_never_cheapest)
{
    const gn_cell *p[8];
    double from[8];
    int pick[8];
    add("eager", 500, 1000, "e"); /* compiles longer, and is slower */
    add("default", 100, 100, "d");
    gn_bench_compare(&bench);
    int n = peers(p);
    ck_assert_int_eq(gn_cheapest(n, p, false, from, pick), 1);
    ck_assert_str_eq(p[pick[0]]->mode, "default");
}
END_TEST

/* A cell as a file reads back as it was, but for another key it is not this one. */
START_TEST(files)
{
    char path[] = "/tmp/gnnc-cell-XXXXXX";
    int fd = mkstemp(path);
    gn_cell *e = add("eager", 20, 1000, "e"), *d = add("default", 90, 100, "d");
    d->warm.model = "GCN";
    d->warm.nodes = 34;
    d->warm.program = "p";
    d->warm.step_launches = 12;
    d->cold.tune_ms = 1500.5;
    d->cold.rss_bytes = 1234567890123;
    d->wall_ms = 12.5;
    d->timeout_s = 7;
    d->logits_diff = 2e-5;
    gn_bench_compare(&bench);
    FILE *f = fdopen(fd, "w");
    gn_json j;
    gn_json_init(&j, f, true);
    gn_cell_json(&j, d);
    fclose(f);
    gn_cell back;
    bool same;
    gn_cell_init(&back);
    back.key = d->key;
    ck_assert_ptr_null(gn_cell_read(&arena, path, &back, &same));
    ck_assert(same);
    ck_assert_int_eq(back.end, GN_CELL_DISAGREES);
    ck_assert_str_eq(back.reason, d->reason);
    ck_assert_str_eq(back.warm.model, "GCN");
    ck_assert_str_eq(back.warm.code, "d");
    ck_assert_int_eq(back.warm.nodes, 34);
    ck_assert_str_eq(back.warm.program, "p");
    ck_assert_int_eq(back.warm.step_launches, 12);
    ck_assert_int_eq(back.warm.eval_launches, -1);
    ck_assert_double_eq(back.cold.tune_ms, 1500.5);
    ck_assert_int_eq(back.warm.edges, -1);
    ck_assert_int_eq(back.cold.rss_bytes, 1234567890123);
    ck_assert_int_eq(back.timeout_s, 7);
    ck_assert_double_eq(back.wall_ms, 12.5);
    ck_assert_int_eq(back.warm.step_us.n, 20);
    ck_assert_double_eq(back.step.median, d->step.median);
    ck_assert_int_eq(back.warm.losses.n, 3);
    gn_cell_init(&back);
    back.key = e->key;
    ck_assert_ptr_null(gn_cell_read(&arena, path, &back, &same));
    ck_assert(!same && back.end == GN_CELL_OPEN);
    f = fopen(path, "w");
    fputs("{\"key\": ", f);
    fclose(f);
    gn_status *s = gn_cell_read(&arena, path, &back, &same);
    ck_assert_int_eq(gn_status_code(s), GN_ERR_DATA);
    gn_status_free(s);
    unlink(path);
    ck_assert_ptr_null(gn_cell_read(&arena, path, &back, &same));
    ck_assert(!same);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("compare");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, gains_and_break_even);
    tcase_add_test(t, slower_never_comes_back);
    tcase_add_test(t, disagreement);
    tcase_add_test(t, another_order);
    tcase_add_test(t, agreement);
    tcase_add_test(t, no_baseline);
    tcase_add_test(t, outputs);
    tcase_add_test(t, fastest);
    tcase_add_test(t, simplest_of_equals);
    tcase_add_test(t, same_program);
    tcase_add_test(t, one_slow_cell);
    tcase_add_test(t, same_as_the_baseline);
    tcase_add_test(t, cheapest_by_steps);
    tcase_add_test(t, dearer_is_never_cheapest);
    tcase_add_test(t, files);
    return RUN_CASES("bench_compare", t);
}
