/* workbook: the tables as an .xlsx, a sheet a question, through libxlsxwriter.  Its headers are
 * wanted where gnnc is built, the library is loaded where a workbook is written. */
#include "cli/bench/answers.h"
#include "cli/bench/output.h"
#include "cli/bench/recommend.h"
#include "cli/bench/rows.h"
#include "cli/bench/tables.h"
#include "cli/text.h"

#if GNNC_HAVE_XLSX

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xlsxwriter.h>

#define FUNCTIONS(X)                                                                               \
    X(workbook_new)                                                                                \
    X(workbook_close)                                                                              \
    X(workbook_add_worksheet)                                                                      \
    X(workbook_add_format)                                                                         \
    X(workbook_add_chart)                                                                          \
    X(worksheet_write_string)                                                                      \
    X(worksheet_write_number)                                                                      \
    X(worksheet_set_column)                                                                        \
    X(worksheet_freeze_panes)                                                                      \
    X(worksheet_autofilter)                                                                        \
    X(worksheet_insert_chart_opt)                                                                  \
    X(worksheet_set_landscape)                                                                     \
    X(worksheet_fit_to_pages)                                                                      \
    X(format_set_bold)                                                                             \
    X(format_set_text_wrap)                                                                        \
    X(format_set_align)                                                                            \
    X(format_set_bottom)                                                                           \
    X(format_set_num_format)                                                                       \
    X(format_set_font_color)                                                                       \
    X(format_set_font_size)                                                                        \
    X(chart_add_series)                                                                            \
    X(chart_series_set_categories)                                                                 \
    X(chart_series_set_values)                                                                     \
    X(chart_title_set_name)                                                                        \
    X(chart_legend_set_position)                                                                   \
    X(chart_axis_set_log_base)                                                                     \
    X(chart_axis_set_name)                                                                         \
    X(chart_axis_set_reverse)                                                                      \
    X(lxw_strerror)

/* What the library is called: the version of its interface that the headers are of. */
#define LIBRARY "libxlsxwriter.so." LXW_SOVERSION

typedef struct library {
    void *handle;
#define X(name) __typeof__(name) *name;
    FUNCTIONS(X)
#undef X
} library;

/* From the system once a process; NULL where it is not there. */
static const library *loaded(void)
{
    static library l;
    static bool tried;
    if (tried) return l.handle ? &l : NULL;
    tried = true;
    l.handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!l.handle) return NULL;
    struct {
        const char *name;
        void *at;
    } all[] = {
#define X(name) {#name, &l.name},
        FUNCTIONS(X)
#undef X
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        void *f = dlsym(l.handle, all[k].name);
        if (!f) {
            dlclose(l.handle);
            l.handle = NULL;
            return NULL;
        }
        memcpy(all[k].at, &f, sizeof f);
    }
    return &l;
}

typedef struct writer {
    gn_bench *b;
    const library *lib;
    lxw_workbook *book;
    lxw_format *title, *answer, *about, *head, *number, *count, *bad, *lines;
} writer;

static void make_formats(writer *w)
{
    const library *l = w->lib;
    w->title = l->workbook_add_format(w->book);
    l->format_set_bold(w->title);
    l->format_set_font_size(w->title, 14);
    w->answer = l->workbook_add_format(w->book);
    l->format_set_bold(w->answer);
    w->lines = l->workbook_add_format(w->book);
    l->format_set_text_wrap(w->lines);
    l->format_set_align(w->lines, LXW_ALIGN_VERTICAL_TOP);
    w->about = l->workbook_add_format(w->book);
    l->format_set_font_color(w->about, 0x666666);
    w->head = l->workbook_add_format(w->book);
    l->format_set_bold(w->head);
    l->format_set_text_wrap(w->head);
    l->format_set_align(w->head, LXW_ALIGN_VERTICAL_BOTTOM);
    l->format_set_bottom(w->head, LXW_BORDER_THIN);
    w->number = l->workbook_add_format(w->book);
    l->format_set_num_format(w->number, "General");
    w->count = l->workbook_add_format(w->book);
    l->format_set_num_format(w->count, "#,##0");
    w->bad = l->workbook_add_format(w->book);
    l->format_set_font_color(w->bad, 0xC22F2F);
}

enum { HEAD_ROW = 4, TEXT_WIDTH = 24, NUMBER_WIDTH = 13, LABEL_WIDTH = 36, MOST_TEXT = 32767 };

/* A cell of a sheet holds so many characters at most, and XML no other bytes. */
static const char *fit(const writer *w, const char *text)
{
    return gn_text_fit(w->b->arena, text, MOST_TEXT);
}

/* Three digits, as everywhere that people read; results.csv has more. */
static double three(double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.3g", x);
    return strtod(text, NULL);
}

static void write_value(writer *w, lxw_worksheet *s, lxw_row_t row, lxw_col_t col,
                        const gn_column *c, const gn_cell *cell)
{
    const library *l = w->lib;
    gn_value v = c->of(w->b, cell);
    lxw_format *bad = cell->end == GN_CELL_OK ? NULL : w->bad;
    if (c->kind == GN_VALUE_TEXT)
        l->worksheet_write_string(s, row, col, fit(w, v.text), bad);
    else if (isinf(v.number))
        l->worksheet_write_string(s, row, col, "never", NULL);
    else if (!isnan(v.number))
        l->worksheet_write_number(s, row, col,
                                  c->kind == GN_VALUE_NUMBER ? three(v.number) : v.number,
                                  c->kind == GN_VALUE_NUMBER ? w->number : w->count);
}

/* Bars of one column of a sheet, on a logarithmic axis. */
static void add_chart(writer *w, lxw_worksheet *s, const char *sheet, const gn_column *c,
                      lxw_col_t values, lxw_col_t labels, lxw_row_t last)
{
    const library *l = w->lib;
    lxw_chart *chart = l->workbook_add_chart(w->book, LXW_CHART_BAR);
    if (!chart || last <= HEAD_ROW) return;
    lxw_chart_series *series = l->chart_add_series(chart, NULL, NULL);
    l->chart_series_set_categories(series, sheet, HEAD_ROW + 1, labels, last, labels);
    l->chart_series_set_values(series, sheet, HEAD_ROW + 1, values, last, values);
    l->chart_title_set_name(chart, gn_arena_printf(w->b->arena, "%s, %s", c->title, c->unit));
    l->chart_legend_set_position(chart, LXW_CHART_LEGEND_NONE);
    l->chart_axis_set_log_base(chart->x_axis, 10); /* of bars, the one of values */
    l->chart_axis_set_name(chart->x_axis, gn_arena_printf(w->b->arena, "%s, logarithmic", c->unit));
    l->chart_axis_set_reverse(chart->y_axis); /* the first row on top */
    lxw_chart_options size = {.x_scale = 1.8,
                              .y_scale = fmin(6, 0.5 + 0.08 * (double)(last - HEAD_ROW))};
    l->worksheet_insert_chart_opt(s, last + 2, 0, chart, &size);
}

/* The figure that a sheet draws. */
static bool is_drawn(const gn_question *q, const gn_column *c)
{
    const char *name = q->table == GN_TABLE_TRAINING    ? "step_us"
                       : q->table == GN_TABLE_INFERENCE ? "infer_us"
                       : q->table == GN_TABLE_COMPILING ? "compile_ms"
                       : q->table == GN_TABLE_MEMORY    ? "peak_rss_mb"
                                                        : "";
    return !strcmp(c->name, name);
}

static void write_rows(writer *w, lxw_worksheet *s, const gn_question *q)
{
    const library *l = w->lib;
    gn_bench *b = gn_table_rows(w->b, q->table);
    lxw_col_t col = 0, drawn = 0;
    const gn_column *figure = NULL;
    lxw_row_t row = HEAD_ROW;
    for (int k = 0; k < gn_column_count; k++) {
        const gn_column *c = &gn_columns[k];
        if (!gn_column_shown(b, c, q->table)) continue;
        if (is_drawn(q, c)) {
            figure = c;
            drawn = col;
        }
        const char *title = *c->unit ? gn_arena_printf(b->arena, "%s, %s", c->title, c->unit)
                                     : c->title;
        l->worksheet_write_string(s, HEAD_ROW, col, title, w->head);
        l->worksheet_set_column(s, col, col, c->kind == GN_VALUE_TEXT ? TEXT_WIDTH : NUMBER_WIDTH,
                                NULL);
        row = HEAD_ROW;
        for (int i = 0; i < b->n_cells; i++)
            if (gn_cell_shown(&b->cells[i], q->table))
                write_value(w, s, ++row, col, c, &b->cells[i]);
        col++;
    }
    l->worksheet_autofilter(s, HEAD_ROW, 0, row, (lxw_col_t)(col - 1));
    l->worksheet_freeze_panes(s, HEAD_ROW + 1, 0);
    if (!figure) return;
    l->worksheet_write_string(s, HEAD_ROW, col, "cell", w->head);
    l->worksheet_set_column(s, col, col, LABEL_WIDTH, NULL);
    row = HEAD_ROW;
    for (int i = 0; i < b->n_cells; i++) {
        const gn_cell *c = &b->cells[i];
        if (!gn_cell_shown(c, q->table)) continue;
        const char *label = gn_arena_printf(b->arena, "%s: %s", gn_peers_title(b, c),
                                            gn_cell_variant(b, c));
        l->worksheet_write_string(s, ++row, col, fit(w, label), NULL);
    }
    add_chart(w, s, q->name, figure, drawn, col, row);
}

static void write_sheet(writer *w, const gn_question *q)
{
    const library *l = w->lib;
    lxw_worksheet *s = l->workbook_add_worksheet(w->book, q->name);
    if (!s) return;
    l->worksheet_set_landscape(s);
    l->worksheet_fit_to_pages(s, 1, 0); /* as wide as a page, as long as it gets */
    l->worksheet_write_string(s, 0, 0, q->title, w->title);
    l->worksheet_write_string(s, 1, 0, fit(w, gn_answer(w->b, q->table)), w->answer);
    l->worksheet_write_string(s, 2, 0, q->about, w->about);
    if (gn_question_shown(w->b, q)) write_rows(w, s, q);
}

static const char environment[] = "Where and how was this measured?";

static const char *environment_answer(const gn_bench *b)
{
    return gn_arena_printf(b->arena, "By gnnc %s on %s, %lld cores, %s%s.", GNNC_VERSION, b->cpu,
                           (long long)b->cores, b->started,
                           b->partial ? "; interrupted: some cells were not run" : "");
}

/* All questions, their answers, and the sheets with the tables. */
static void write_answers(writer *w)
{
    const library *l = w->lib;
    lxw_worksheet *s = l->workbook_add_worksheet(w->book, "Answers");
    lxw_row_t row = HEAD_ROW;
    if (!s) return;
    l->worksheet_write_string(s, 0, 0, "What does this comparison say?", w->title);
    l->worksheet_write_string(s, 1, 0, fit(w, gn_answer(w->b, GN_TABLE_MODES)), w->answer);
    l->worksheet_write_string(
        s, 2, 0, "A line a question; each has a sheet of its own. " GN_EAGER_SENTENCE, w->about);
    l->worksheet_write_string(s, row, 0, "question", w->head);
    l->worksheet_write_string(s, row, 1, "answer", w->head);
    l->worksheet_write_string(s, row, 2, "sheet", w->head);
    for (int k = 0; k < gn_question_count; k++) {
        const gn_question *q = &gn_questions[k];
        l->worksheet_write_string(s, ++row, 0, q->title, w->lines);
        l->worksheet_write_string(s, row, 1, fit(w, gn_answer(w->b, q->table)), w->lines);
        l->worksheet_write_string(s, row, 2, q->name, w->lines);
    }
    l->worksheet_write_string(s, ++row, 0, environment, w->lines);
    l->worksheet_write_string(s, row, 1, fit(w, environment_answer(w->b)), w->lines);
    l->worksheet_write_string(s, row, 2, "Environment", w->lines);
    l->worksheet_set_column(s, 0, 0, 46, NULL);
    l->worksheet_set_column(s, 1, 1, 110, NULL);
    l->worksheet_set_column(s, 2, 2, 16, NULL);
    l->worksheet_freeze_panes(s, HEAD_ROW + 1, 0);
    l->worksheet_set_landscape(s);
    l->worksheet_fit_to_pages(s, 1, 0);
}

/* The recommendations: a line a row. */
static void write_advice(writer *w, lxw_worksheet *s, lxw_row_t row)
{
    const library *l = w->lib;
    char *text = NULL, *rest, *line;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (!f) return;
    gn_write_recommendations(w->b, f);
    if (!fclose(f)) {
        l->worksheet_write_string(s, ++row, 0, "Recommendations", w->title);
        for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            l->worksheet_write_string(s, ++row, 1, fit(w, line), NULL);
    }
    free(text);
}

/* What was asked, where, and what is recommended. */
static void write_environment(writer *w)
{
    const library *l = w->lib;
    gn_bench *b = w->b;
    lxw_worksheet *s = l->workbook_add_worksheet(w->book, "Environment");
    lxw_row_t row = HEAD_ROW;
    if (!s) return;
    l->worksheet_write_string(s, 0, 0, environment, w->title);
    l->worksheet_write_string(s, 1, 0, fit(w, environment_answer(b)), w->answer);
    const char *memory = gn_text_bytes(b->arena, (double)b->memory_bytes);
    const char *counts = gn_arena_printf(
        b->arena, "%lld runs and steps before the clock, %lld runs, %lld steps; %lld s for a cell",
        (long long)b->warmup, (long long)b->repeat, (long long)b->epochs, (long long)b->timeout_s);
    const char *const facts[][2] = {
        {"models", b->model},
        {"command", b->command},
        {"gnnc", GNNC_VERSION},
        {"compilers", b->compilers ? b->compilers : ""},
        {"processor", b->cpu},
        {"cores", gn_arena_printf(b->arena, "%lld", (long long)b->cores)},
        {"memory", memory},
        {"system", b->system},
        {"started", b->started},
        {"measured", counts},
        {"complete", b->partial ? "no: some cells were not run" : "yes"}};
    for (size_t k = 0; k < sizeof facts / sizeof *facts; k++) {
        l->worksheet_write_string(s, row, 0, facts[k][0], w->about);
        l->worksheet_write_string(s, row++, 1, fit(w, facts[k][1]), NULL);
    }
    l->worksheet_set_column(s, 0, 0, 20, NULL);
    l->worksheet_set_column(s, 1, 1, 110, NULL);
    l->worksheet_set_landscape(s);
    l->worksheet_fit_to_pages(s, 1, 0);
    write_advice(w, s, row);
}

bool gn_has_workbook(void) { return loaded() != NULL; }

gn_status *gn_write_workbook(gn_bench *b, const char *path)
{
    writer w = {.b = b, .lib = loaded()};
    if (!w.lib) GN_FAIL(GN_ERR_BACKEND, "no workbook: " LIBRARY " is not installed");
    w.book = w.lib->workbook_new(path);
    if (!w.book) GN_FAIL(GN_ERR_NOMEM, "out of memory for %s", path);
    make_formats(&w);
    write_answers(&w);
    for (int k = 0; k < gn_question_count; k++) write_sheet(&w, &gn_questions[k]);
    write_environment(&w);
    lxw_error e = w.lib->workbook_close(w.book);
    if (e) GN_FAIL(GN_ERR_IO, "%s: %s", path, w.lib->lxw_strerror(e));
    return NULL;
}

const char *gn_workbook_missing(void) { return loaded() ? NULL : LIBRARY " is not installed"; }

#else

bool gn_has_workbook(void) { return false; }

gn_status *gn_write_workbook(gn_bench *b, const char *path)
{
    (void)b;
    GN_FAIL(GN_ERR_BACKEND, "%s: gnnc was built without libxlsxwriter", path);
}

const char *gn_workbook_missing(void) { return "gnnc was built without libxlsxwriter"; }

#endif
