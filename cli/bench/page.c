/* page: one HTML file with everything in it: no script, no font, no picture from elsewhere. */
#include "cli/bench/charts.h"
#include "cli/bench/tables.h"
#include "cli/text.h"

#include <stdlib.h>
#include <string.h>

static const char style
    [] = ":root{color-scheme:light "
         "dark;--paper:#fff;--ink:#1c2024;--soft:#60646c;--line:#dfe3e8;--panel:#f6f7f9;--bad:#"
         "c22f2f;\n"
         "--m0:#80868f;--m1:#2f6fde;--m2:#12957c;--m3:#d9730d;--m4:#8d4fd3}\n"
         "@media(prefers-color-scheme:dark){:root{--paper:#14171a;--ink:#e8eaed;--soft:#a2a9b3;--"
         "line:#30363d;--panel:#"
         "1d2126;\n"
         "--bad:#ff7b72;--m0:#9aa1ab;--m1:#6ea4ff;--m2:#3fc7a9;--m3:#f39b45;--m4:#bb8cf2}}\n"
         "@media print{:root{--paper:#fff;--ink:#000}}\n"
         "body{margin:0 auto;max-width:980px;padding:24px 20px "
         "60px;background:var(--paper);color:var(--ink);\n"
         "font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\n"
         "h1{font-size:26px;margin:0 0 4px}h2{font-size:19px;margin:44px 0 4px}p{margin:4px 0 "
         "12px}\n"
         ".verdict{font-size:19px;font-weight:600;white-space:pre-line}\n"
         ".soft,figcaption{color:var(--soft)}.warn{color:var(--bad);font-weight:600}\n"
         "code,pre{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,'DejaVu Sans "
         "Mono',monospace}code{overflow-wrap:anywhere}\n"
         "pre{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:14px "
         "16px;overflow-x:auto;white-space:pre-wrap}\n"
         ".wide{overflow-x:auto}.wide>svg{min-width:640px}svg{display:block;width:100%;height:auto}"
         "\n"
         "table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13.5px}\n"
         "th,td{padding:5px 10px;border-bottom:1px solid "
         "var(--line);text-align:left;vertical-align:top}\n"
         "td{white-space:nowrap}td.long{white-space:normal;min-width:220px;overflow-wrap:anywhere}"
         "th{color:var(--soft);font-"
         "weight:600;vertical-"
         "align:bottom}th.n,td.n{text-align:right}th.n{max-width:100px}\n"
         "tr.bad td{color:var(--bad)}tr.base td{color:var(--soft)}\n"
         ".legend{display:flex;flex-wrap:wrap;gap:6px 18px;margin:10px "
         "0;color:var(--soft);font-size:13.5px}\n"
         ".legend "
         "i{display:inline-block;width:12px;height:12px;border-radius:3px;margin-right:6px;"
         "vertical-align:-1px}\n"
         ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(420px,100%),1fr));"
         "gap:18px}figure{margin:0;"
         "max-width:620px}\n"
         "figcaption{font-weight:600}\n"
         "text{font-size:12.5px;fill:var(--ink)}.tick,.none{fill:var(--soft);font-size:11.5px}."
         "group{font-weight:600}\n"
         ".name,.end{text-anchor:end}.middle{text-anchor:middle}.bad{fill:var(--bad)}.figure{font-"
         "size:12px}\n"
         ".grid{stroke:var(--line)}.whisker{stroke:var(--ink);stroke-width:1.5}.mark{stroke:var(--"
         "ink);stroke-width:2}\n"
         ".median{stroke:var(--ink);stroke-width:2}.box{fill-opacity:.22}.dot{fill-opacity:.75}\n"
         ".curve{fill:none;stroke-width:2}.dashed{stroke-dasharray:5 "
         "4}.even{stroke:var(--paper);stroke-width:1.5}\n"
         "rect.m0,circle.m0{fill:var(--m0)}rect.m1,circle.m1{fill:var(--m1)}rect.m2,circle.m2{fill:"
         "var(--m2)}\n"
         "rect.m3,circle.m3{fill:var(--m3)}rect.m4,circle.m4{fill:var(--m4)}\n"
         "polyline.m0{stroke:var(--m0)}polyline.m1{stroke:var(--m1)}polyline.m2{stroke:var(--m2)}"
         "polyline.m3{stroke:var(--"
         "m3)}\n"
         "polyline.m4{stroke:var(--m4)}i.m0{background:var(--m0)}i.m1{background:var(--m1)}i.m2{"
         "background:var(--m2)}\n"
         "i.m3{background:var(--m3)}i.m4{background:var(--m4)}\n";

static void head(gn_bench *b, FILE *to)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
          to);
    gn_text_html(to, b->model);
    fprintf(to, " - gnnc bench</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
    gn_text_html(to, b->model);
    fputs("</h1>\n<p class=\"soft\">", to);
    gn_text_html(to, gn_arena_printf(b->arena, "gnnc %s, %s, %s, %s", GNNC_VERSION, b->cpu,
                                     b->system, b->started));
    fputs("<br><code>", to);
    gn_text_html(to, b->command);
    fputs("</code></p>\n", to);
    if (b->partial) fputs("<p class=\"warn\">Interrupted: some cells were not run.</p>\n", to);
}

static void legend(gn_bench *b, FILE *to)
{
    fputs("<div class=\"legend\">", to);
    for (uint32_t k = 0; k < b->grid.modes.n; k++) {
        fprintf(to, "<span><i class=\"%s\"></i>", gn_mode_class(b->grid.modes.p[k]));
        gn_text_html(to, b->grid.modes.p[k]);
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

/* What to use comes first, and why further down. */
static void verdict(gn_bench *b, FILE *to)
{
    written(b, to, gn_write_verdict, "<p class=\"verdict\">", "</p>\n");
    for (uint32_t k = 0; k < b->grid.modes.n; k++)
        if (!strcmp(b->grid.modes.p[k], "eager"))
            fputs("<p class=\"soft\">eager is gnnc's own mode of an operator a kernel, not "
                  "PyTorch's.</p>\n",
                  to);
}

static void advice(gn_bench *b, FILE *to)
{
    written(b, to, gn_write_reasons, "<h2>Recommendations</h2>\n<pre>", "</pre>\n");
}

/* A chart under a title, with neither where there is nothing to draw. */
static void section(gn_bench *b, FILE *to, const char *title, const char *about,
                    bool (*draw)(gn_bench *, FILE *, int), int which, const char *class)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (!f) return;
    bool any = draw(b, f, which);
    if (!fclose(f) && any) {
        fprintf(to, "<h2>%s</h2>\n<p class=\"soft\">%s</p>\n", title, about);
        legend(b, to);
        fprintf(to, "<div class=\"%s\">\n%s</div>\n", class, text);
    }
    free(text);
}

static bool bars(gn_bench *b, FILE *to, int which)
{
    return gn_draw_bars(b, to, (gn_bar_chart)which);
}
static bool samples(gn_bench *b, FILE *to, int infer) { return gn_draw_samples(b, to, infer); }
static bool costs(gn_bench *b, FILE *to, int which)
{
    (void)which;
    return gn_draw_costs(b, to);
}

static void charts(gn_bench *b, FILE *to)
{
    section(b, to, "Training",
            "Time of a training step: median; the line reaches from what a tenth of the steps "
            "stayed below to "
            "what a tenth stayed above. All axes are logarithmic: look at where a bar ends, not at "
            "its length.",
            bars, GN_BARS_STEP, "wide");
    section(b, to, "Inference", "Time of a forward pass, drawn the same way.", bars, GN_BARS_INFER,
            "wide");
    section(
        b, to, "Compiling",
        "Time to compile with an empty cache; the mark is the time with the kernels in the cache.",
        bars, GN_BARS_COMPILE, "wide");
    section(b, to, "What compiling costs, and when it has come back",
            "Time in all: compilation with an empty cache, then step after step. The dashed line "
            "is the baseline without "
            "its compilation; a dot says after how many steps a mode has caught up with it.",
            costs, 0, "plots");
    section(b, to, "Memory",
            "Resident memory at its most, of the process that finds its kernels in the cache; the "
            "mark is what "
            "the plan says before anything runs.",
            bars, GN_BARS_MEMORY, "wide");
    section(b, to, "Samples of inference",
            "Every run that was timed; the box holds the middle half, the line is the median.",
            samples, 1, "wide");
    section(b, to, "Samples of training steps", "The same of training steps.", samples, 0, "wide");
}

static void table(gn_bench *b, FILE *to, const gn_question *q)
{
    enum { LONG = 40 }; /* characters that may be broken into lines */
    fputs("<div class=\"wide\"><table>\n<thead><tr>", to);
    for (int k = 0; k < gn_column_count; k++) {
        const gn_column *c = &gn_columns[k];
        if (!gn_column_shown(b, c, q->table)) continue;
        fputs(c->kind == GN_VALUE_TEXT ? "<th>" : "<th class=\"n\">", to);
        gn_text_html(to, c->title);
        if (*c->unit) fprintf(to, "<br>%s", c->unit);
        fputs("</th>", to);
    }
    fputs("</tr></thead>\n<tbody>\n", to);
    for (int i = 0; i < b->n_cells; i++) {
        const gn_cell *row = &b->cells[i];
        if (!gn_cell_shown(row, q->table)) continue;
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
    fputs("</tbody></table></div>\n", to);
}

void gn_write_page(gn_bench *b, FILE *to)
{
    head(b, to);
    verdict(b, to);
    advice(b, to);
    charts(b, to);
    for (int k = 0; k < gn_question_count; k++) {
        const gn_question *q = &gn_questions[k];
        if (!gn_question_shown(b, q)) continue;
        fprintf(to, "<h2>%s</h2>\n<p class=\"soft\">%s</p>\n", q->title, q->about);
        table(b, to, q);
    }
    fputs("</body>\n</html>\n", to);
}
