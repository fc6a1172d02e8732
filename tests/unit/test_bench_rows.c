/* Rows of a report: which cells are one, what they show, what they are beside others, and the
 * answers. */
#include "cli/bench/across.h"
#include "cli/bench/answers.h"
#include "cli/bench/charts.h"
#include "cli/bench/columns.h"
#include "cli/bench/recommend.h"
#include "cli/bench/relate.h"
#include "cli/bench/rows.h"
#include "cli/bench/tables.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static gn_arena arena;
static gn_cli cli;
static gn_bench bench;

static void grid(const char *modes, const char *dynamic, const char *threads, const char *data)
{
    gn_grid_text t = {.modes = modes, .dynamic = dynamic, .threads = threads, .data = data};
    ck_assert_ptr_null(gn_grid_parse(&arena, &t, &bench.grid));
    GN_PUSH(&arena, bench.grid.models, "a/gcn.gnn");
}

static void setup(void)
{
    gn_arena_init(&arena);
    cli = (gn_cli){.arena = &arena};
    gn_cli_options_init(&cli.opt);
    bench = (gn_bench){.cli = &cli,
                       .arena = &arena,
                       .model = "a/gcn.gnn",
                       .tolerance = GN_BENCH_TOLERANCE,
                       .cpu = "a processor",
                       .system = "a system",
                       .started = "now",
                       .command = "gnnc bench"};
    grid("eager,default,reduce-overhead,max-autotune", "true", "1", NULL);
    bench.cells = GN_NEW_N(&arena, gn_cell, 16);
}
static void teardown(void) { gn_arena_free(&arena); }

static gn_samples about(double us, int n)
{
    gn_samples s = {.n = n, .x = GN_NEW_N(&arena, double, n + 1)};
    for (int k = 0; k < n; k++) s.x[k] = us * (1 + 0.0005 * k);
    return s;
}

static void time_cell(gn_cell *c, double step_us)
{
    c->warm.step_us = about(step_us, 20);
    c->warm.infer_us = about(step_us / 2, 30);
    c->step = gn_stats_of(&arena, c->warm.step_us.x, 20);
    c->infer = gn_stats_of(&arena, c->warm.infer_us.x, 30);
}

static gn_cell *add(const char *mode, double step_us, const char *program)
{
    gn_cell *c = &bench.cells[bench.n_cells++];
    gn_cell_init(c);
    c->model = "a/gcn.gnn";
    c->mode = mode;
    c->dynamic = "true";
    c->threads = 1;
    c->key = c->id = gn_arena_printf(&arena, "cell %d", bench.n_cells);
    c->is_baseline = !strcmp(mode, bench.grid.baseline);
    c->end = GN_CELL_OK;
    c->cold.compile_ms = 100;
    c->cold.tune_ms = 0;
    c->warm.compile_ms = 10;
    c->warm.program = program;
    c->warm.nodes = 10;
    c->warm.edges = 1000;
    c->warm.rss_bytes = 20000000;
    c->warm.plan_bytes = 1000000;
    c->warm.step_launches = 4;
    c->warm.step_operators = 12;
    c->logits_diff = c->is_baseline ? NAN : 1e-7;
    time_cell(c, step_us);
    return c;
}

static gn_bench *rows(gn_apart apart)
{
    gn_bench_compare(&bench);
    return gn_bench_rows(&bench, apart);
}

static char *text_of(void (*write)(gn_bench *, FILE *))
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    write(&bench, f);
    fclose(f);
    char *copy = gn_arena_strndup(&arena, text, n);
    free(text);
    return copy;
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (; (text = strstr(text, what)); text += strlen(what)) n++;
    return n;
}

/* What runs the same program is one row, in the place of its first cell; its times are pooled, all
 * else is the simplest mode's. */
START_TEST(one_row)
{
    add("eager", 1000, "e");
    gn_cell *r = add("reduce-overhead", 102, "p"), *d = add("default", 98, "p");
    add("max-autotune", 50, "m");
    r->cold.compile_ms = 300;
    gn_bench *b = rows(GN_APART_NOTHING);
    ck_assert_int_eq(b->n_cells, 3);
    const gn_cell *row = &b->cells[1];
    ck_assert_str_eq(gn_cell_variant(b, row), "default = reduce-overhead");
    ck_assert_str_eq(row->mode, "default");
    ck_assert_int_eq(row->step.n, 40);
    ck_assert_double_gt(row->step.median, d->step.median);
    ck_assert_double_lt(row->step.median, r->step.median);
    ck_assert_double_eq(row->cold.compile_ms, 100);
    ck_assert_double_eq_tol(row->step_gain, b->cells[0].step.median / row->step.median, 1e-9);
    ck_assert_ptr_eq(row->baseline, &b->cells[0]);
    ck_assert_str_eq(gn_cell_variant(b, &b->cells[2]), "max-autotune");
    ck_assert_ptr_eq(gn_bench_rows(b, GN_APART_NOTHING), b); /* rows of rows are those rows */
    ck_assert_int_eq(bench.n_cells, 4);
    ck_assert_int_eq(bench.cells[1].step.n, 20); /* cells stay as they were */
}
END_TEST

/* The baseline gives its row what is not pooled, whatever its mode does. */
START_TEST(baseline_leads)
{
    grid("max-autotune,default,reduce-overhead", "true", "1", NULL);
    add("max-autotune", 100, "p")->cold.compile_ms = 5000;
    add("default", 100, "p");
    add("reduce-overhead", 50, "q");
    gn_bench *b = rows(GN_APART_NOTHING);
    ck_assert_int_eq(b->n_cells, 2);
    ck_assert_str_eq(gn_cell_variant(b, &b->cells[0]), "max-autotune = default");
    ck_assert(b->cells[0].is_baseline);
    ck_assert_double_eq(b->cells[0].cold.compile_ms, 5000);
    ck_assert_ptr_eq(b->cells[1].baseline, &b->cells[0]);
}
END_TEST

/* Another program, another number of threads, another dataset or model, an end that was no good:
 * other rows. */
START_TEST(other_rows)
{
    add("eager", 1000, "e");
    add("default", 100, "p");
    gn_cell *c[5];
    for (int k = 0; k < 5; k++) c[k] = add("reduce-overhead", 100, "p");
    c[0]->threads = 2;
    c[1]->data = "cora";
    c[2]->model = "gat.gnn";
    c[3]->end = GN_CELL_CRASH;
    c[4]->warm.program = "q";
    ck_assert_int_eq(rows(GN_APART_NOTHING)->n_cells, 7);
    c[4]->warm.program = "p";
    ck_assert_int_eq(rows(GN_APART_NOTHING)->n_cells, 6);
}
END_TEST

/* A search compiles otherwise, so tables of compiling tell it apart. */
START_TEST(search_apart)
{
    add("eager", 1000, "e");
    add("default", 100, "p");
    add("max-autotune", 101, "p")->cold.tune_ms = 5000;
    ck_assert_int_eq(rows(GN_APART_NOTHING)->n_cells, 2);
    gn_bench *b = rows(GN_APART_SEARCH);
    ck_assert_int_eq(b->n_cells, 3);
    ck_assert(isinf(gn_search_pays(b, &b->cells[2], false))); /* the same program: nothing gained */
    ck_assert_int_eq(gn_table_rows(&bench, GN_TABLE_COMPILING)->n_cells, 3);
    ck_assert_int_eq(gn_table_rows(&bench, GN_TABLE_TRAINING)->n_cells, 2);
    ck_assert_ptr_nonnull(strstr(gn_answer(&bench, GN_TABLE_SEARCH), "never pays"));
}
END_TEST

START_TEST(search_pays)
{
    add("eager", 1000, "e");
    add("default", 100, "p");
    gn_cell *m = add("max-autotune", 50, "m");
    m->cold.tune_ms = 5000;
    gn_bench *b = rows(GN_APART_SEARCH);
    double gain = b->cells[1].step.median - b->cells[2].step.median;
    ck_assert_double_eq(gn_search_pays(b, &b->cells[2], false), ceil(5000e3 / gain));
    ck_assert_double_eq_tol(gn_search_gain(b, &b->cells[2], false), 2, 1e-9);
    ck_assert(isnan(gn_search_pays(b, &b->cells[1], false))); /* it searches nothing */
    ck_assert_ptr_nonnull(strstr(gn_answer(&bench, GN_TABLE_SEARCH), "In 1 of 1 rows it pays"));
    time_cell(m, 99.5); /* faster, within noise */
    b = rows(GN_APART_SEARCH);
    ck_assert(isinf(gn_search_pays(b, &b->cells[2], false)));
}
END_TEST

/* Settings of dynamic shapes that make one program are one row, but where graphs change. */
START_TEST(settings)
{
    grid("eager,default", "true,auto,false", "1", NULL);
    static const char *const set[] = {"true", "auto", "false"};
    for (int k = 0; k < 3; k++) {
        add("eager", 1000, k ? "e1" : "e0")->dynamic = set[k];
        add("default", 100, k ? "p1" : "p0")->dynamic = set[k];
    }
    gn_bench *b = rows(GN_APART_NOTHING);
    ck_assert_int_eq(b->n_cells, 4);
    ck_assert_str_eq(gn_cell_variant(b, &b->cells[3]), "default (dynamic=auto = false)");
    ck_assert_str_eq(gn_cell_lead(b, &b->cells[3]), "default (dynamic=auto)");
    ck_assert_str_eq(gn_cell_modes(b, &b->cells[3]), "default");
    ck_assert_str_eq(gn_cell_dynamics(b, &b->cells[3]), "auto = false");
    ck_assert_ptr_eq(b->cells[3].baseline, &b->cells[2]);
    ck_assert(gn_cell_covers(&b->cells[3], "default", "false"));
    ck_assert(!gn_cell_covers(&b->cells[3], "default", "true"));
    ck_assert(!gn_cell_covers(&b->cells[3], "eager", "false"));
    ck_assert_int_eq(rows(GN_APART_DYNAMIC)->n_cells, 6);
    /* not every mode with every setting: each is named */
    bench.cells[4].warm.program = "p1";
    b = rows(GN_APART_NOTHING);
    const char *name = gn_cell_variant(b, &b->cells[3]);
    ck_assert_str_eq(name,
                     "eager (dynamic=false) = default (dynamic=auto) = default (dynamic=false)");
}
END_TEST

/* results.csv and results.json keep every cell, and say which row it is part of. */
START_TEST(groups)
{
    add("eager", 1000, "e");
    add("default", 100, "p");
    add("reduce-overhead", 101, "p");
    gn_bench_compare(&bench);
    const char *csv = text_of(gn_write_csv), *json = text_of(gn_write_results);
    ck_assert_int_eq(count(csv, "\r\n"), 4);
    ck_assert_int_eq(count(csv, "default = reduce-overhead"), 2);
    ck_assert_int_eq(count(json, "\"group\": \"default = reduce-overhead\""), 2);
    ck_assert_int_eq(count(json, "\"group\": \"eager\""), 1);
    ck_assert_str_eq(bench.cells[1].mode, "default");
    const char *page = text_of(gn_write_page), *advice = text_of(gn_write_recommendations);
    ck_assert_ptr_nonnull(strstr(page, "<td>default = reduce-overhead</td>"));
    ck_assert_ptr_null(strstr(page, "<td>reduce-overhead</td>"));
    ck_assert_ptr_nonnull(strstr(page, "samples of all of them together"));
    ck_assert_ptr_nonnull(strstr(advice, "Use default: "));
    ck_assert_ptr_nonnull(strstr(advice, "Long training: default = reduce-overhead\n"));
}
END_TEST

/* Beside a chart with eager one without it, where eager takes more than twice as much. */
START_TEST(without_eager)
{
    add("eager", 1000, "e");
    add("default", 100, "p");
    gn_bench *b = rows(GN_APART_NOTHING);
    ck_assert(gn_eager_hides(b, NULL, false) && gn_eager_hides(b, NULL, true));
    const char *page = text_of(gn_write_page);
    ck_assert_int_eq(count(page, "without gnnc&#39;s eager</h3>"), 2); /* training, inference */
    ck_assert_int_eq(count(page, "with gnnc&#39;s eager</h3>"), 2);
    for (int k = 0; k < 2; k++) {
        const gn_chart chart = {.what = GN_CHART_STEP, .no_eager = k};
        char *text;
        size_t n;
        FILE *f = open_memstream(&text, &n);
        ck_assert(gn_draw_chart(b, f, &chart));
        fclose(f);
        ck_assert_int_eq(strstr(text, "eager mode") == NULL, k);
        ck_assert_ptr_nonnull(strstr(text, "default"));
        free(text);
    }
    time_cell(&bench.cells[0], 190);
    b = rows(GN_APART_NOTHING);
    ck_assert(!gn_eager_hides(b, NULL, false));
    page = text_of(gn_write_page);
    ck_assert_ptr_null(strstr(page, "without gnnc&#39;s eager"));
    bench.cells[0].mode = "default";
    time_cell(&bench.cells[0], 1000);
    ck_assert(!gn_eager_hides(rows(GN_APART_NOTHING), NULL, false)); /* slow, and not eager */
}
END_TEST

/* Whose eager it is stands at every bar of it; every figure has its unit. */
START_TEST(labels)
{
    add("eager", 1000, "e");
    add("default", 100, "p");
    gn_bench_compare(&bench);
    const char *page = text_of(gn_write_page);
    ck_assert_ptr_null(strstr(page, "</i>eager"));
    ck_assert_ptr_null(strstr(page, "<td>eager</td>"));
    ck_assert_int_ge(count(page, "</i>gnnc&#39;s eager mode: operator by operator"), 5);
    ck_assert_ptr_nonnull(strstr(page, "time of a training step, median (axis "));
    ck_assert_ptr_nonnull(strstr(page, "training step, median<br><small>us</small>"));
    for (int k = 0; k < gn_column_count; k++) {
        const gn_column *c = &gn_columns[k];
        bool number = c->kind == GN_VALUE_NUMBER || c->kind == GN_VALUE_STEPS;
        bool ratio = strstr(c->name, "_fused") != NULL;
        ck_assert_msg(!number || ratio || *c->unit, "%s has no unit", c->name);
    }
}
END_TEST

START_TEST(ranks)
{
    add("eager", 1000, "e");
    add("default", 100, "p");
    add("reduce-overhead", 100.5, "q");
    gn_bench *b = rows(GN_APART_NOTHING);
    ck_assert_int_eq(gn_standing_of(b, &b->cells[0], false), GN_STANDS_SLOWER);
    ck_assert_int_eq(gn_standing_of(b, &b->cells[1], false), GN_STANDS_FASTEST);
    ck_assert_int_eq(gn_standing_of(b, &b->cells[2], false), GN_STANDS_AS_FAST);
    ck_assert_double_eq_tol(gn_behind(b, &b->cells[0], false), 900, 1e-6);
    ck_assert_str_eq(
        gn_answer(&bench, GN_TABLE_NOISE),
        "Training: 1 of 2 rows are slower than the fastest beyond noise. Inference: 1 of "
        "2 rows are slower than the fastest beyond noise.");
    add("default", 1, "p")->data = "other"; /* nobody's rival here */
    b = rows(GN_APART_NOTHING);
    ck_assert_int_eq(gn_standing_of(b, &b->cells[1], false), GN_STANDS_FASTEST);
    bench.n_cells = 1;
    b = rows(GN_APART_NOTHING);
    ck_assert_int_eq(gn_standing_of(b, &b->cells[0], false), GN_STANDS_NONE);
}
END_TEST

START_TEST(threads)
{
    grid("eager,default", "true", "1,2", NULL);
    add("eager", 1000, "e");
    add("default", 100, "p");
    gn_cell *e = add("eager", 800, "e2"), *d = add("default", 40, "p2");
    e->threads = d->threads = 2;
    gn_bench *b = rows(GN_APART_NOTHING);
    ck_assert_double_eq_tol(gn_thread_gain(b, &b->cells[3], false), 2.5, 1e-9);
    ck_assert_double_eq_tol(gn_thread_gain(b, &b->cells[0], false), 1, 1e-9);
    ck_assert_str_eq(
        gn_answer(&bench, GN_TABLE_THREADS),
        "At best 2.50 times faster than on 1 thread: default, built-in graph, 2 threads.");
}
END_TEST

static void two_models(double of_second)
{
    grid("eager,default,reduce-overhead", "true", "1", NULL);
    GN_PUSH(&arena, bench.grid.models, "b/gat.gnn");
    for (int k = 0; k < 2; k++) {
        const char *model = bench.grid.models.p[k];
        add("eager", 1000, "e")->model = model;
        add("default", 100, "p")->model = model;
        add("reduce-overhead", k ? of_second : 120, "q")->model = model;
    }
    gn_bench_compare(&bench);
}

/* A line a model, and one across them. */
START_TEST(several_models)
{
    two_models(60);
    const char *text = text_of(gn_write_verdict);
    ck_assert_int_eq(count(text, "\n"), 3);
    ck_assert_ptr_eq(strstr(text, "gcn: Use default: a training step takes 100 us"), text);
    ck_assert_ptr_nonnull(
        strstr(text, "\ngat: Use reduce-overhead: a training step takes 60.3 us"));
    ck_assert_ptr_nonnull(strstr(text,
                                 "\nAll models: Use reduce-overhead: the fastest, or as fast, "
                                 "in 1 of 2 comparisons of training steps; at most 1.20 "));
    for (int k = 0; k < bench.n_cells; k++)
        ck_assert_ptr_eq(bench.cells[k].baseline, &bench.cells[k / 3 * 3]);
    const char *page = text_of(gn_write_page), *csv = text_of(gn_write_csv);
    ck_assert_ptr_nonnull(strstr(page, "<h3>gcn, with gnnc&#39;s eager</h3>"));
    ck_assert_ptr_nonnull(strstr(page, "<h3>gat, without gnnc&#39;s eager</h3>"));
    ck_assert_ptr_nonnull(strstr(page, "<td>gat</td>"));
    ck_assert_int_eq(count(csv, "\r\ngcn,"), 3);
    ck_assert_int_eq(count(csv, "\r\ngat,"), 3);
    ck_assert_ptr_nonnull(strstr(text_of(gn_write_reasons), "gat on built-in graph"));
}
END_TEST

START_TEST(across)
{
    gn_across a;
    two_models(90); /* 1.2 * 1 against 1 * 1.11 */
    ck_assert(gn_find_across(gn_bench_rows(&bench, GN_APART_NOTHING), NULL, false, &a));
    ck_assert_str_eq(a.name, "default");
    ck_assert_int_eq(a.best, 1);
    ck_assert_int_eq(a.of, 2);
    ck_assert_double_eq_tol(a.mean, sqrt(100 / 90.0), 1e-6);
    ck_assert_double_eq_tol(a.worst, 100 / 90.0, 1e-6);
    ck_assert(gn_find_across(gn_bench_rows(&bench, GN_APART_NOTHING), "b/gat.gnn", false, &a));
    ck_assert_str_eq(a.name, "reduce-overhead");
    ck_assert_int_eq(a.of, 1);
    bench.cells[4].end = GN_CELL_CRASH; /* what is not there everywhere is not for all */
    gn_bench_compare(&bench);
    ck_assert(gn_find_across(gn_bench_rows(&bench, GN_APART_NOTHING), NULL, false, &a));
    ck_assert_str_eq(a.name, "reduce-overhead");
    for (int k = 0; k < bench.n_cells; k++) bench.cells[k].end = GN_CELL_CRASH;
    gn_bench_compare(&bench);
    ck_assert(!gn_find_across(gn_bench_rows(&bench, GN_APART_NOTHING), NULL, false, &a));
}
END_TEST

/* Every question has an answer: of a full grid, and where nothing ended well. */
START_TEST(answers)
{
    add("eager", 1000, "e");
    add("default", 100, "p");
    gn_bench_compare(&bench);
    static const char *const want[] = {
        "Use default: ",
        "default: 100 us a step",
        "default: 50.4 us a run",
        "Training: 1 of 1",
        "99 % of the runs of ",
        "100 ms with an empty cache, 10.0 ms",
        "Against gnnc's eager: after 111 steps",
        "No mode searched.",
        "20.0 MB resident at most; planned are 1.00 MB.",
        "eager: 4 launches a training step for 12 operators; default: 4 for 12",
        "One number of threads alone",
        "One setting of dynamic shapes alone",
        "One dataset alone",
        "Yes: outputs differ by 1e-07",
        "Every cell ended well."};
    ck_assert_int_eq(gn_question_count, (int)(sizeof want / sizeof *want));
    for (int k = 0; k < gn_question_count; k++) {
        const char *said = gn_answer(&bench, gn_questions[k].table);
        ck_assert_msg(strstr(said, want[k]) != NULL, "%s: %s", gn_questions[k].name, said);
        ck_assert_int_eq(said[strlen(said) - 1], '.');
    }
    for (int k = 0; k < 2; k++) {
        bench.cells[k].end = GN_CELL_TIMEOUT;
        bench.cells[k].reason = "not done after 5 s";
    }
    gn_bench_compare(&bench);
    for (int k = 0; k < gn_question_count; k++) {
        const char *said = gn_answer(&bench, gn_questions[k].table);
        ck_assert_msg(*said && !strstr(said, "nan") && !strstr(said, "(null)"), "%s: %s",
                      gn_questions[k].name, said);
    }
    ck_assert_ptr_nonnull(strstr(gn_answer(&bench, GN_TABLE_ERRORS),
                                 "2 of 2 rows did not; the first, eager: timeout: not done after"));
}
END_TEST

START_TEST(sizes)
{
    grid("eager,default", "true", "1", "small,large");
    for (int k = 0; k < 2; k++) {
        gn_cell *e = add("eager", 1000, "e"), *d = add("default", k ? 400 : 100, "p");
        e->data = d->data = k ? "large" : "small";
        if (k) e->warm.edges = d->warm.edges = 2000;
    }
    gn_bench_compare(&bench);
    ck_assert_str_eq(gn_answer(&bench, GN_TABLE_SIZES),
                     "From small to large a training step of default takes 4.00 times as long, for "
                     "2.00 times the edges.");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("rows");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, one_row);
    tcase_add_test(t, baseline_leads);
    tcase_add_test(t, other_rows);
    tcase_add_test(t, search_apart);
    tcase_add_test(t, search_pays);
    tcase_add_test(t, settings);
    tcase_add_test(t, groups);
    tcase_add_test(t, without_eager);
    tcase_add_test(t, labels);
    tcase_add_test(t, ranks);
    tcase_add_test(t, threads);
    tcase_add_test(t, several_models);
    tcase_add_test(t, across);
    tcase_add_test(t, answers);
    tcase_add_test(t, sizes);
    return RUN_CASES("bench_rows", t);
}
