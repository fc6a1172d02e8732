/* The files of bench, of cells with names and messages that every format could trip over. */
#include "cli/bench/bench.h"
#include "cli/bench/output.h"
#include "cli/bench/tables.h"
#include "support/suite.h"

#include <check.h>
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gn_arena arena;
static gn_cli cli;
static gn_bench bench;
static char folder[64];

/* What formats trip over. */
static const char nasty
    [] = "a & b < c > \"d\" 'e' | f_g % $h # {i} ~ ^ \\ , \n; \xC3\xA9 \xFF \x1B[31m </script>]]>";

static gn_samples samples(double us, int n)
{
    gn_samples s = {.n = n, .x = GN_NEW_N(&arena, double, n + 1)};
    for (int k = 0; k < n; k++) s.x[k] = us + k;
    return s;
}

static void fill(gn_cell *c, const char *mode, double us)
{
    gn_cell_init(c);
    c->model = c->data = nasty;
    c->mode = mode;
    c->dynamic = "auto";
    c->threads = 2;
    c->id = c->key = mode;
    c->is_baseline = !strcmp(mode, "eager");
    c->end = GN_CELL_OK;
    c->warm.model = c->warm.data = nasty;
    c->warm.nodes = 10;
    c->warm.edges = 20;
    c->cold.compile_ms = 100;
    c->warm.compile_ms = 10;
    c->warm.rss_bytes = 50000000;
    c->warm.plan_bytes = 1000000;
    c->warm.step_us = samples(us, 20);
    c->warm.infer_us = samples(us / 2, 30);
    c->warm.losses = samples(1, 3);
    c->step = gn_stats_of(&arena, c->warm.step_us.x, 20);
    c->infer = gn_stats_of(&arena, c->warm.infer_us.x, 30);
}

static void setup(void)
{
    gn_arena_init(&arena);
    cli = (gn_cli){.arena = &arena};
    gn_cli_options_init(&cli.opt);
    GN_PUSH(&arena, cli.opt.defines, "hidden=64");
    strcpy(folder, "/tmp/gnnc-bench-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    gn_grid_text t = {.modes = "eager,default,max-autotune,reduce-overhead", .threads = "2"};
    bench = (gn_bench){.cli = &cli,
                       .arena = &arena,
                       .model = nasty,
                       .out = folder,
                       .command = nasty,
                       .cpu = nasty,
                       .system = "Linux",
                       .compilers = nasty,
                       .started = "2026-01-31T12:00:00Z",
                       .timeout_s = 5};
    ck_assert_ptr_null(gn_grid_parse(&arena, &t, &bench.grid));
    GN_PUSH(&arena, bench.grid.models, nasty);
    bench.n_cells = 4;
    bench.cells = GN_NEW_N(&arena, gn_cell, 4);
    fill(&bench.cells[0], "eager", 1000);
    fill(&bench.cells[1], "default", 100);
    fill(&bench.cells[2], "max-autotune", 50);
    fill(&bench.cells[3], "reduce-overhead", 5000);
    bench.cells[2].end = GN_CELL_CRASH;
    bench.cells[2].reason = bench.cells[2].last_line = nasty;
    gn_bench_compare(&bench);
}

static void teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
    gn_arena_free(&arena);
}

static char *text_of(void (*write)(gn_bench *, FILE *))
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    write(&bench, f);
    fclose(f);
    char *copy = gn_arena_strndup(&arena, text, n);
    ck_assert_uint_eq(strlen(copy), n);
    free(text);
    return copy;
}

START_TEST(json)
{
    json_error_t e;
    json_t *o = json_loads(text_of(gn_write_results), 0, &e);
    ck_assert_msg(o != NULL, "%d: %s", e.line, e.text);
    const json_t *cells = json_object_get(o, "cells"), *c = json_array_get(cells, 1);
    ck_assert_uint_eq(json_array_size(cells), 4);
    ck_assert(json_is_true(json_object_get(o, "complete")));
    ck_assert_str_eq(json_string_value(json_object_get(c, "status")), "ok");
    ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(c, "warm"), "infer_us")), 30);
    ck_assert_double_eq_tol(
        json_number_value(json_object_get(json_object_get(c, "step_us"), "median")), 109.5, 1e-9);
    const json_t *slow = json_object_get(json_array_get(cells, 3), "against");
    ck_assert(json_is_null(json_object_get(slow, "break_even_step")));
    ck_assert_double_lt(json_number_value(json_object_get(slow, "step_times_faster")), 1);
    c = json_array_get(cells, 2);
    ck_assert_str_eq(json_string_value(json_object_get(c, "status")), "crash");
    ck_assert(json_is_null(json_object_get(c, "against")));
    json_decref(o);
    o = json_loads(text_of(gn_write_config), 0, &e);
    ck_assert_msg(o != NULL, "%d: %s", e.line, e.text);
    ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(o, "grid"), "modes")), 4);
    ck_assert_str_eq(json_string_value(json_array_get(json_object_get(o, "define"), 0)),
                     "hidden=64");
    json_decref(o);
}
END_TEST

/* One field after another, by RFC 4180; *end: what ended it. */
static char *field(char **at, char *end)
{
    char *from = *at, *to = from, *out = from;
    if (*from == '"') {
        for (from++; *from != '"' || from[1] == '"'; from++) {
            ck_assert(*from);
            if (*from == '"') from++;
            *to++ = *from;
        }
        from++;
    } else {
        for (; *from && *from != ',' && *from != '\r'; from++) {
            ck_assert_msg(*from != '"' && *from != '\n', "at %s", from);
            *to++ = *from;
        }
    }
    *end = *from;
    ck_assert_msg(*end == ',' || (*end == '\r' && from[1] == '\n'), "at %s", from);
    *at = from + (*end == ',' ? 1 : 2);
    *to = 0;
    return out;
}

START_TEST(csv)
{
    char *at = text_of(gn_write_csv), end;
    enum { MOST = 128 };
    const char *names[MOST];
    int columns = 0, rows = 0, status = -1, reason = -1, even = -1, step = -1;
    do {
        ck_assert_int_lt(columns, MOST);
        names[columns] = field(&at, &end);
        if (!strcmp(names[columns], "status")) status = columns;
        if (!strcmp(names[columns], "reason")) reason = columns;
        if (!strcmp(names[columns], "break_even_steps")) even = columns;
        if (!strcmp(names[columns], "step_us")) step = columns;
        columns++;
    } while (end == ',');
    ck_assert(status >= 0 && reason >= 0 && even >= 0 && step >= 0);
    static const char *const evens[] = {"", "112", "", "inf"}; /* 100 ms over 900 us, rounded up */
    for (; *at; rows++) {
        int n = 0;
        do {
            const char *v = field(&at, &end);
            if (n == status) ck_assert_str_eq(v, rows == 2 ? "crash" : "ok");
            if (n == even) ck_assert_str_eq(v, evens[rows]);
            if (n == step && rows == 1) ck_assert_double_eq_tol(strtod(v, NULL), 109.5, 1e-6);
            if (n == step && rows == 2) ck_assert_str_eq(v, "");
            if (n == reason && rows == 2)
                ck_assert_ptr_nonnull(strstr(v, "a & b < c > \"d\" 'e' | f_g"));
            n++;
        } while (end == ',');
        ck_assert_int_eq(n, columns);
    }
    ck_assert_int_eq(rows, 4);
}
END_TEST

static int count(const char *text, const char *what)
{
    int n = 0;
    for (; (text = strstr(text, what)); text += strlen(what)) n++;
    return n;
}

START_TEST(latex)
{
    const char *t = text_of(gn_write_latex);
    ck_assert_int_eq(count(t, "\\begin{table}"), count(t, "\\end{table}"));
    ck_assert_int_eq(count(t, "\\begin{tabular}"), count(t, "\\end{tabular}"));
    ck_assert_int_ge(count(t, "\\begin{table}"), 6);
    int depth = 0; /* braces that are not escaped are balanced; no character that means something is
                      left bare */
    for (const char *c = t; *c; c++) {
        if (*c == '\\' && c[1]) {
            c++;
            continue;
        }
        depth += *c == '{' ? 1 : *c == '}' ? -1 : 0;
        ck_assert_int_ge(depth, 0);
        ck_assert(*c != '#' && *c != '$' && *c != '~' && *c != '^' && (*c != '_' || c == t));
        ck_assert(*c != '%' || c == t); /* the comment of the first line */
    }
    ck_assert_int_eq(depth, 0);
    /* In every row of a table as many columns as the table has. */
    for (const char *p = strstr(t, "\\begin{tabular}{"); p; p = strstr(p, "\\begin{tabular}{")) {
        p += strlen("\\begin{tabular}{");
        int columns = (int)strcspn(p, "}"), seen = 1;
        const char *stop = strstr(p, "\\bottomrule");
        for (const char *c = strstr(p, "\\toprule") + strlen("\\toprule"); c < stop; c++) {
            if (!strncmp(c, " & ", 3) && c[-1] != '\\') seen++;
            if (!strncmp(c, " \\\\\n", 4)) {
                ck_assert_int_eq(seen, columns);
                seen = 1;
            }
        }
    }
}
END_TEST

START_TEST(markdown)
{
    char *t = text_of(gn_write_markdown), *rest;
    int columns = 0, tables = 0;
    for (char *line = strtok_r(t, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        int bars = 0;
        if (*line != '|') {
            columns = 0;
            continue;
        }
        for (const char *c = line; *c; c++) bars += *c == '|' && (c == line || c[-1] != '\\');
        if (!columns) tables++;
        if (columns) ck_assert_int_eq(bars, columns);
        columns = bars;
    }
    ck_assert_int_ge(tables, 6);
}
END_TEST

START_TEST(page)
{
    static const char *const paired[] = {
        "html", "head", "body", "style", "table", "thead",   "tbody",  "tr",     "td",
        "th",   "svg",  "text", "title", "p",     "h2",      "pre",    "figure", "figcaption",
        "div",  "span", "code", "h3",    "i",     "details", "summary"};
    const char *t = text_of(gn_write_page);
    for (size_t k = 0; k < sizeof paired / sizeof *paired; k++) {
        char open[32], open_with[32], close[32];
        snprintf(open, sizeof open, "<%s>", paired[k]);
        snprintf(open_with, sizeof open_with, "<%s ", paired[k]);
        snprintf(close, sizeof close, "</%s>", paired[k]);
        ck_assert_msg(count(t, open) + count(t, open_with) == count(t, close), "<%s>: %d and %d",
                      paired[k], count(t, open) + count(t, open_with), count(t, close));
    }
    ck_assert_int_eq(count(t, "</script>"), 0); /* the nasty one's */
    ck_assert_ptr_null(strstr(t, "http:"));
    ck_assert_ptr_null(strstr(t, "https:"));
    ck_assert_ptr_null(strstr(t, "src="));
    ck_assert_ptr_null(strstr(t, "href="));
    ck_assert_ptr_null(strstr(t, "nan"));
    ck_assert_ptr_null(strstr(t, "inf\""));
    ck_assert_int_ge(count(t, "<svg "), 6);
    ck_assert_ptr_nonnull(strstr(t, "prefers-color-scheme:dark"));
    ck_assert_ptr_nonnull(strstr(t, ">crash</span>")); /* in its figure's place */
}
END_TEST

START_TEST(recommendations)
{
    const char *t = text_of(gn_write_recommendations);
    ck_assert_ptr_nonnull(strstr(t, "Long training: default\n"));
    ck_assert_ptr_nonnull(strstr(t, "Serving: default\n"));
    ck_assert_ptr_nonnull(strstr(t, "Not max-autotune: crash"));
    ck_assert_ptr_nonnull(strstr(t, "after 112 steps"));
}
END_TEST

static int files_in(const char *path)
{
    int n = 0;
    DIR *d = opendir(path);
    ck_assert_ptr_nonnull(d);
    for (const struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.' || !strcmp(e->d_name, ".new");
    closedir(d);
    return n;
}

static const char *in_folder(const char *name)
{
    return gn_arena_printf(&arena, "%s/%s", folder, name);
}

START_TEST(all_files)
{
    static const char *const names[] = {"config.json", "results.json", "results.csv",
                                        "tables.tex",  "tables.md",    "recommendations.txt",
                                        "report.html"};
    ck_assert_ptr_null(gn_bench_write(&bench));
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct stat s;
        ck_assert_int_eq(stat(in_folder(names[k]), &s), 0);
        ck_assert_int_gt((int)s.st_size, 100);
    }
    if (gn_has_workbook()) { /* a zip archive */
        char magic[4] = {0};
        FILE *f = fopen(in_folder("report.xlsx"), "r");
        ck_assert_ptr_nonnull(f);
        ck_assert_uint_eq(fread(magic, 1, 4, f), 4);
        fclose(f);
        ck_assert_mem_eq(magic, "PK\3\4", 4);
        ck_assert_ptr_null(gn_workbook_missing());
    } else {
        ck_assert_ptr_nonnull(gn_workbook_missing());
    }
    /* and nothing that was on its way */
    ck_assert_int_eq(files_in(folder), gn_has_workbook() ? 8 : 7);
}
END_TEST

/* A file that cannot be written leaves those of before as they were. */
START_TEST(nothing_by_half)
{
    char text[32] = {0};
    FILE *f = fopen(in_folder("results.json"), "w");
    fputs("the old one", f);
    fclose(f);
    ck_assert_int_eq(mkdir(in_folder(".new"), 0777), 0);
    ck_assert_int_eq(mkdir(in_folder(".new/report.html"), 0777), 0); /* in the way */
    gn_status *s = gn_bench_write(&bench);
    ck_assert_int_eq(gn_status_code(s), GN_ERR_IO);
    ck_assert_ptr_nonnull(strstr(gn_status_message(s), "report.html"));
    gn_status_free(s);
    f = fopen(in_folder("results.json"), "r");
    ck_assert_ptr_nonnull(fgets(text, sizeof text, f));
    fclose(f);
    ck_assert_str_eq(text, "the old one");
    ck_assert_int_ne(access(in_folder("results.csv"), F_OK), 0);
}
END_TEST

/* Nothing measured, nothing ended well, nothing there: files all the same. */
START_TEST(empty)
{
    for (int k = 0; k < bench.n_cells; k++) {
        gn_cell_init(&bench.cells[k]);
        bench.cells[k].id = bench.cells[k].key = "";
        bench.cells[k].mode = "eager";
    }
    bench.partial = true;
    ck_assert_ptr_null(gn_bench_write(&bench));
    ck_assert_ptr_nonnull(strstr(text_of(gn_write_recommendations), "--resume goes on"));
    ck_assert_ptr_nonnull(strstr(text_of(gn_write_page), "Interrupted"));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("writers");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, json);
    tcase_add_test(t, csv);
    tcase_add_test(t, latex);
    tcase_add_test(t, markdown);
    tcase_add_test(t, page);
    tcase_add_test(t, recommendations);
    tcase_add_test(t, all_files);
    tcase_add_test(t, nothing_by_half);
    tcase_add_test(t, empty);
    return RUN_CASES("bench_writers", t);
}
