/* page: one HTML file with everything in it: no script, no font, no picture from elsewhere. */
#include "cli/bench/answers.h"
#include "cli/bench/charts.h"
#include "cli/bench/recommend.h"
#include "cli/bench/rows.h"
#include "cli/bench/tables.h"
#include "cli/html.h"
#include "cli/text.h"

#include <stdlib.h>
#include <string.h>

static void head(gn_bench *b, FILE *to)
{
    gn_html_begin(to, gn_arena_printf(b->arena, "%s - gnnc bench", b->model), NULL);
    fputs("<h1>", to);
    gn_text_html(to, b->model);
    fputs("</h1>\n<p class=\"soft\">", to);
    gn_text_html(to, gn_arena_printf(b->arena, "gnnc %s, %s, %s, %s; %s", GNNC_VERSION, b->cpu,
                                     b->system, b->started,
                                     b->compilers ? b->compilers : "unknown compilers"));
    fputs("<br><code>", to);
    gn_text_html(to, b->command);
    fputs("</code></p>\n", to);
    if (b->partial) fputs("<p class=\"warn\">Interrupted: some cells were not run.</p>\n", to);
}

/* Every name of a row once, with the colour that it has everywhere. */
static void legend(gn_bench *b, FILE *to)
{
    fputs("<div class=\"legend\">", to);
    for (int k = 0; k < b->n_cells; k++) {
        const char *name = gn_cell_label(b, &b->cells[k]);
        bool said = b->cells[k].end != GN_CELL_OK;
        for (int i = 0; i < k && !said; i++)
            said = b->cells[i].end == GN_CELL_OK && !strcmp(gn_cell_label(b, &b->cells[i]), name);
        if (said) continue;
        fprintf(to, "<span><i class=\"%s\"></i>", gn_curve_class(b, &b->cells[k]));
        gn_text_html(to, name);
        fputs("</span>", to);
    }
    fputs("</div>\n", to);
}

/* What `write` writes as text, between two pieces of the page; neither where it writes nothing. */
static void written(gn_bench *b, FILE *to, void (*write)(gn_bench *, FILE *), const char *before,
                    const char *after)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (!f) return;
    write(b, f);
    if (!fclose(f) && n) {
        fputs(before, to);
        gn_text_html(to, text);
        fputs(after, to);
    }
    free(text);
}

static bool has_eager(const gn_bench *b)
{
    for (uint32_t k = 0; k < b->grid.modes.n; k++)
        if (!strcmp(b->grid.modes.p[k], "eager")) return true;
    return false;
}

/* What to use comes first, and why further down. */
static void verdict(gn_bench *b, FILE *to)
{
    bool merged = false;
    written(b, to, gn_write_verdict, "<p class=\"verdict\">", "</p>\n");
    if (has_eager(b)) fputs("<p class=\"soft\">" GN_EAGER_SENTENCE "</p>\n", to);
    for (int k = 0; k < b->n_cells; k++) merged = merged || b->cells[k].n_same > 1;
    if (merged)
        fputs(
            "<p class=\"soft\">Names with = between them are settings that run the same kernels in "
            "the same way, and one row. Its times are of the samples of all of them together; "
            "all else is of the first that it names. results.csv has each by itself.</p>\n",
            to);
}

/* Of many comparisons it is long, and is opened by who wants to read it. */
static void advice(gn_bench *b, FILE *to)
{
    enum { MANY = 4 };
    int comparisons = 0;
    for (int k = 0; k < b->n_cells; k++) comparisons += gn_first_of_peers(b, &b->cells[k]);
    fprintf(to, "<h2>Recommendations</h2>\n<details%s><summary>For each use, and why</summary>\n",
            comparisons > MANY ? "" : " open");
    written(b, to, gn_write_reasons, "<pre>", "</pre>\n");
    fputs("</details>\n", to);
}

/* Charts --------------------------------------------------------------------------------------- */

/* Several models have charts of their own, each under its name. */
static void chart(gn_bench *b, FILE *to, gn_chart c, const char *title)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (!f) return;
    bool any = gn_draw_chart(b, f, &c);
    if (!fclose(f) && any) {
        fputs("<div>", to);
        if (*title) {
            fputs("<h3>", to);
            gn_text_html(to, title);
            fputs("</h3>\n", to);
        }
        fprintf(to, "%s</div>\n", text);
    }
    free(text);
}

static const char *model_title(gn_bench *b, const char *model, const char *what)
{
    if (!model) return what;
    const gn_cell like = {.model = model};
    const char *label = gn_bench_model_label(b, &like);
    return *what ? gn_arena_printf(b->arena, "%s, %s", label, what) : label;
}

/* The charts of one figure: with eager, and beside it without where it hides the rest. */
static void charts_of(gn_bench *b, FILE *to, gn_chart_of what, const char *model)
{
    bool infer = what == GN_CHART_INFER, timed = infer || what == GN_CHART_STEP;
    bool two = timed && gn_eager_hides(b, model, infer);
    if (two) fputs("<div class=\"pair\">\n", to);
    chart(b, to, (gn_chart){.what = what, .model = model},
          model_title(b, model, two ? "with " GN_EAGER_SHORT : ""));
    if (!two) return;
    chart(b, to, (gn_chart){.what = what, .model = model, .no_eager = true},
          model_title(b, model, "without " GN_EAGER_SHORT));
    fputs("</div>\n", to);
}

static void section(gn_bench *b, FILE *to, const char *title, const char *about, gn_chart_of what)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (!f) return;
    if (b->grid.models.n < 2)
        charts_of(b, f, what, NULL);
    else
        for (uint32_t k = 0; k < b->grid.models.n; k++) charts_of(b, f, what, b->grid.models.p[k]);
    if (!fclose(f) && n)
        fprintf(to, "<h2>%s</h2>\n<p class=\"soft\">%s</p>\n<div class=\"%s\">\n%s</div>\n", title,
                about, strstr(text, "class=\"pair\"") ? "pairs" : "pair", text);
    free(text);
}

static void costs(gn_bench *b, FILE *to)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (!f) return;
    bool any = gn_draw_costs(b, f);
    if (!fclose(f) && any) {
        fputs("<h2>What compiling costs, and when it has come back</h2>\n<p class=\"soft\">Time in "
              "all: compilation with an empty cache, then step after step. The dashed line is the "
              "baseline without its compilation; a dot says after how many steps a mode has caught "
              "up with it.</p>\n",
              to);
        legend(b, to);
        fprintf(to, "<div class=\"plots\">\n%s</div>\n", text);
    }
    free(text);
}

static void charts(gn_bench *b, FILE *to)
{
    section(b, to, "Training",
            "The bar ends at the median; the line over it reaches from what a tenth of the steps "
            "took less than to what a tenth took more than. On a logarithmic axis look at where a "
            "bar ends, not at its length.",
            GN_CHART_STEP);
    section(b, to, "Inference", "A forward pass over the whole graph, drawn the same way.",
            GN_CHART_INFER);
    section(b, to, "Compiling",
            "The bar is the time with an empty cache; the mark is the time with the kernels in it.",
            GN_CHART_COMPILE);
    costs(b, to);
    section(b, to, "Memory",
            "The bar is resident memory at its most, of the process that finds its kernels in the "
            "cache; the mark is what the plan says before anything runs.",
            GN_CHART_MEMORY);
    section(b, to, "Samples of training steps",
            "Every step that was timed; the box holds the middle half, the line is the median.",
            GN_CHART_STEP_SAMPLES);
    section(b, to, "Samples of inference", "The same of runs of inference.",
            GN_CHART_INFER_SAMPLES);
}

/* Questions ------------------------------------------------------------------------------------ */

static void table_row(gn_bench *b, FILE *to, const gn_question *q, const gn_cell *row)
{
    enum { LONG = 40 }; /* characters that may be broken into lines */
    fputs(row->end != GN_CELL_OK ? "<tr class=\"bad\">"
          : row->is_baseline     ? "<tr class=\"base\">"
                                 : "<tr>",
          to);
    for (int k = 0; k < gn_column_count; k++) {
        const gn_column *c = &gn_columns[k];
        if (!gn_column_shown(b, c, q->table)) continue;
        const char *text = gn_value_text(b->arena, c, c->of(b, row));
        bool words = c->kind == GN_VALUE_TEXT;
        fputs(!words                ? "<td class=\"n\">"
              : strlen(text) > LONG ? "<td class=\"long\">"
                                    : "<td>",
              to);
        gn_text_html(to, text);
        fputs("</td>", to);
    }
    fputs("</tr>\n", to);
}

static void table(gn_bench *b, FILE *to, const gn_question *q)
{
    b = gn_table_rows(b, q->table);
    fputs("<div class=\"wide\"><table>\n<thead><tr>", to);
    for (int k = 0; k < gn_column_count; k++) {
        const gn_column *c = &gn_columns[k];
        if (!gn_column_shown(b, c, q->table)) continue;
        fputs(c->kind == GN_VALUE_TEXT ? "<th>" : "<th class=\"n\">", to);
        gn_text_html(to, c->title);
        if (*c->unit) fprintf(to, "<br><small>%s</small>", c->unit);
        fputs("</th>", to);
    }
    fputs("</tr></thead>\n<tbody>\n", to);
    for (int i = 0; i < b->n_cells; i++)
        if (gn_cell_shown(&b->cells[i], q->table)) table_row(b, to, q, &b->cells[i]);
    fputs("</tbody></table></div>\n", to);
}

/* The question, its answer, and the table: shown at once where it is the first or tells of
 * errors. */
static void question(gn_bench *b, FILE *to, const gn_question *q)
{
    bool open = q->table == GN_TABLE_MODES || q->table == GN_TABLE_ERRORS;
    fprintf(to, "<h2>%s</h2>\n<p class=\"answer\">", q->title);
    gn_text_html(to, gn_answer(b, q->table));
    fprintf(to, "</p>\n<details%s><summary>The table</summary>\n<p class=\"soft\">%s</p>\n",
            open ? " open" : "", q->about);
    table(b, to, q);
    fputs("</details>\n", to);
}

void gn_write_page(gn_bench *b, FILE *to)
{
    b = gn_bench_rows(b, GN_APART_NOTHING);
    head(b, to);
    verdict(b, to);
    advice(b, to);
    charts(b, to);
    for (int k = 0; k < gn_question_count; k++)
        if (gn_question_shown(b, &gn_questions[k])) question(b, to, &gn_questions[k]);
    gn_html_end(to);
}
