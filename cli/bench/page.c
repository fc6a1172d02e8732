/* page: one HTML file with everything in it: no script, no font, no picture from elsewhere. */
#include "cli/bench/answers.h"
#include "cli/bench/charts.h"
#include "cli/bench/recommend.h"
#include "cli/bench/rows.h"
#include "cli/bench/tables.h"
#include "cli/text.h"

#include <stdlib.h>
#include <string.h>

static const char style
    [] = ":root{color-scheme:light dark;--paper:#fff;--ink:#1c2024;--soft:#5a5f68;"
         "--line:#dfe3e8;--panel:#f6f7f9;--bad:#c22f2f;\n"
         "--m0:#7b818a;--m1:#2f6fde;--m2:#0f8a72;--m3:#d9730d;--m4:#8d4fd3}\n"
         "@media(prefers-color-scheme:dark){:root{--paper:#14171a;--ink:#e8eaed;"
         "--soft:#a8aeb8;--line:#343b42;--panel:#1d2126;\n"
         "--bad:#ff7b72;--m0:#9aa1ab;--m1:#6ea4ff;--m2:#3fc7a9;--m3:#f39b45;--m4:#bb8cf2}}\n"
         "@media print{:root{--paper:#fff;--ink:#000}}\n"
         "*{box-sizing:border-box}\n"
         "body{margin:0 auto;max-width:1240px;padding:24px 20px 60px;background:var(--paper);"
         "color:var(--ink);\n"
         "font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;"
         "overflow-wrap:anywhere}\n"
         "h1{font-size:26px;line-height:1.25;margin:0 0 4px}h2{font-size:19px;line-height:1.3;"
         "margin:44px 0 4px}\n"
         "h3{font-size:16px;margin:20px 0 4px}p{margin:4px 0 12px;max-width:900px}\n"
         ".verdict{font-size:19px;line-height:1.4;font-weight:600;white-space:pre-line;"
         "margin-top:18px}\n"
         ".answer{font-weight:600}.soft,figcaption,.axis{color:var(--soft)}.warn{"
         "color:var(--bad);font-weight:600}\n"
         "code,pre{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,'DejaVu Sans Mono',"
         "monospace}\n"
         "pre{background:var(--panel);border:1px solid var(--line);border-radius:8px;"
         "padding:14px 16px;margin:8px 0;\n"
         "white-space:pre-wrap;overflow-wrap:anywhere}\n"
         ".wide{overflow-x:auto;max-width:100%}svg{display:block;overflow:visible}figure svg{"
         "width:100%;height:auto}\n"
         "details{margin:4px 0 10px}summary{cursor:pointer;color:var(--soft);padding:6px 0}\n"
         "table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13.5px;"
         "overflow-wrap:normal}\n"
         "th,td{padding:5px 10px;border-bottom:1px solid var(--line);text-align:left;"
         "vertical-align:top}\n"
         "td{white-space:nowrap}td.long{white-space:normal;min-width:220px;"
         "overflow-wrap:anywhere}\n"
         "th{color:var(--soft);font-weight:600;vertical-align:bottom;min-width:64px}\n"
         "th.n,td.n{text-align:right}th.n{max-width:120px}th small{font-weight:400}\n"
         "tr.bad td{color:var(--bad)}tr.base td{color:var(--soft)}\n"
         ".legend{display:flex;flex-wrap:wrap;gap:6px 18px;margin:10px 0;color:var(--soft);"
         "font-size:13.5px}\n"
         "i{display:inline-block;width:11px;height:11px;border-radius:3px;margin-right:7px}\n"
         ".pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(440px,100%),"
         "1fr));gap:20px 44px;padding-right:8px}\n"
         ".pairs>*{margin-bottom:30px}.pair "
         "h3{margin-top:8px}.chart{max-width:700px;min-width:0}.axis{font-size:13px;"
         "margin-bottom:2px}\n"
         ".group{font-weight:600;font-size:14px;margin:12px 0 2px}\n"
         ".label{display:flex;align-items:flex-end;justify-content:space-between;gap:0 14px;"
         "font-size:13px;line-height:1.35;margin-top:6px}\n"
         ".label .figure{font-weight:600;margin-left:auto;white-space:nowrap;"
         "font-variant-numeric:tabular-nums}\n"
         ".label .none{color:var(--soft);font-weight:400}.label .bad{color:var(--bad)}\n"
         ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(380px,100%),"
         "1fr));gap:18px 28px}\n"
         "figure{margin:0;max-width:620px;min-width:0}figcaption{font-weight:600}\n"
         "text{font-size:13px;fill:var(--ink)}.tick{fill:var(--soft);font-size:12px}\n"
         ".end{text-anchor:end}.middle{text-anchor:middle}\n"
         ".grid{stroke:var(--line)}.whisker{stroke:var(--ink);stroke-width:1.5}.mark{"
         "stroke:var(--ink);stroke-width:2.5}\n"
         ".median{stroke:var(--ink);stroke-width:2}.box{fill-opacity:.28}.dot{fill-opacity:.8}\n"
         ".curve{fill:none;stroke-width:2}.d1{stroke-dasharray:10 "
         "3;opacity:.75}.d2{stroke-dasharray:2 3;opacity:.6}"
         ".dashed{stroke-dasharray:5 4}.even{"
         "stroke:var(--paper);stroke-width:1.5}\n"
         "rect.m0,circle.m0{fill:var(--m0)}polyline.m0{stroke:var(--m0)}i.m0{"
         "background:var(--m0)}\n"
         "rect.m1,circle.m1{fill:var(--m1)}polyline.m1{stroke:var(--m1)}i.m1{"
         "background:var(--m1)}\n"
         "rect.m2,circle.m2{fill:var(--m2)}polyline.m2{stroke:var(--m2)}i.m2{"
         "background:var(--m2)}\n"
         "rect.m3,circle.m3{fill:var(--m3)}polyline.m3{stroke:var(--m3)}i.m3{"
         "background:var(--m3)}\n"
         "rect.m4,circle.m4{fill:var(--m4)}polyline.m4{stroke:var(--m4)}i.m4{"
         "background:var(--m4)}\n";

static void head(gn_bench *b, FILE *to)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
          to);
    gn_text_html(to, b->model);
    fprintf(to, " - gnnc bench</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
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
    fputs("</body>\n</html>\n", to);
}
