/* charts: bars and samples.  Costs are in charts_cost.c. */
#include "cli/bench/charts.h"

#include "cli/bench/recommend.h"
#include "cli/bench/rows.h"
#include "cli/svg.h"
#include "cli/text.h"

#include "compile/mode.h"

#include <math.h>
#include <string.h>

/* Pixels, of a row; x is in percent of what the chart is wide. */
static const double AXIS = 18, BAR = 16, STRIP = 24;
static const double LINEAR_TO = 12; /* times that an axis from 0 still shows */
enum { TICKS = 32 };

const char *gn_mode_class(const char *mode)
{
    static const char *const classes[] = {"m0", "m1", "m2", "m3", "m4"};
    gn_mode m = gn_mode_by_name(mode);
    return (size_t)m < sizeof classes / sizeof *classes ? classes[m] : "m0";
}

static bool is_infer(gn_chart_of w) { return w == GN_CHART_INFER || w == GN_CHART_INFER_SAMPLES; }
static bool is_strip(gn_chart_of w)
{
    return w == GN_CHART_STEP_SAMPLES || w == GN_CHART_INFER_SAMPLES;
}

static bool is_eager(const gn_cell *c) { return !strcmp(c->mode, "eager"); }

static bool is_drawn(const gn_chart *d, const gn_cell *c)
{
    return !(d->model && strcmp(c->model, d->model) != 0) && !(d->no_eager && is_eager(c));
}

/* Values --------------------------------------------------------------------------------------- */

typedef struct bar {
    double value, low, high; /* the bar, its whisker; NaN: none */
    double second;           /* a mark: of compiling the cached time, of memory the plan */
} bar;

static bar bar_of(const gn_cell *c, gn_chart_of what)
{
    bar b = {NAN, NAN, NAN, NAN};
    const gn_stats *s = is_infer(what) ? &c->infer : &c->step;
    if (c->end != GN_CELL_OK) return b;
    switch (what) {
    case GN_CHART_STEP:
    case GN_CHART_INFER:
        if (s->n) b = (bar){s->median, s->p10, s->p90, NAN};
        break;
    case GN_CHART_STEP_SAMPLES:
    case GN_CHART_INFER_SAMPLES:
        if (s->n) b = (bar){s->median, s->min, s->max, NAN};
        break;
    case GN_CHART_COMPILE:
        b = (bar){c->cold.compile_ms * 1e3, NAN, NAN, c->warm.compile_ms * 1e3};
        break;
    case GN_CHART_MEMORY:
        if (c->warm.rss_bytes > 0) b.value = (double)c->warm.rss_bytes;
        if (c->warm.plan_bytes > 0) b.second = (double)c->warm.plan_bytes;
        break;
    }
    return b;
}

static bool range_of(const gn_bench *b, const gn_chart *d, double *least, double *most)
{
    *least = INFINITY;
    *most = 0;
    for (int k = 0; k < b->n_cells; k++) {
        if (!is_drawn(d, &b->cells[k])) continue;
        bar x = bar_of(&b->cells[k], d->what);
        double all[] = {x.value, x.low, x.high, x.second};
        for (int i = 0; i < 4; i++) {
            if (!(all[i] > 0) || isinf(all[i])) continue;
            *least = fmin(*least, all[i]);
            *most = fmax(*most, all[i]);
        }
    }
    return *most > 0;
}

bool gn_eager_hides(const gn_bench *b, const char *model, bool infer)
{
    for (int k = 0; k < b->n_cells; k++) {
        const gn_cell *e = &b->cells[k];
        const gn_stats *s = infer ? &e->infer : &e->step;
        if (!is_eager(e) || e->end != GN_CELL_OK || !s->n) continue;
        if (model && strcmp(e->model, model) != 0) continue;
        for (int i = 0; i < b->n_cells; i++) {
            const gn_cell *o = &b->cells[i];
            const gn_stats *t = infer ? &o->infer : &o->step;
            if (!is_eager(o) && o->end == GN_CELL_OK && t->n && gn_are_peers(o, e) &&
                s->median > 2 * t->median)
                return true;
        }
    }
    return false;
}

/* Drawing -------------------------------------------------------------------------------------- */

typedef struct drawing {
    gn_bench *b;
    FILE *to;
    const gn_chart *chart;
    gn_scale x;
    int n;
    double at[TICKS];
} drawing;

static const char *amount(const drawing *d, double v)
{
    return d->chart->what == GN_CHART_MEMORY ? gn_text_bytes(d->b->arena, v)
                                             : gn_text_time(d->b->arena, v);
}

static void begin_row(const drawing *d, double height, const char *label)
{
    gn_svg_begin_wide(d->to, "plot", height, label);
    for (int k = 0; k < d->n; k++) {
        double x = gn_scale_at(&d->x, d->at[k]);
        gn_svg_line_wide(d->to, "grid", x, 0, x, height);
    }
}

static void end_row(const drawing *d) { gn_svg_end(d->to); }

static void draw_axis(const drawing *d)
{
    static const char *const names[] = {"time of a training step, median",
                                        "time of a run of inference, median",
                                        "time to compile",
                                        "memory",
                                        "time of each training step",
                                        "time of each run of inference"};
    gn_unit_of_axis unit = d->chart->what == GN_CHART_MEMORY ? GN_AXIS_BYTES : GN_AXIS_TIME;
    fprintf(d->to, "<div class=\"axis\">%s (axis %s)</div>\n", names[d->chart->what],
            d->x.linear ? "from 0" : "logarithmic");
    gn_svg_begin_wide(d->to, "plot", AXIS, NULL);
    int each = d->x.linear && d->n > 6 ? 2 : 1; /* a narrow screen has no room for more */
    for (int k = 0; k < d->n; k += each) {
        double x = gn_scale_at(&d->x, d->at[k]);
        const char *class = x < 4 ? "tick" : x > 94 ? "tick end" : "tick middle";
        const char *text = d->at[k] == 0 ? "0" : gn_tick_text(d->b->arena, unit, d->at[k]);
        gn_svg_text_wide(d->to, class, x, AXIS - 6, text);
    }
    end_row(d);
}

static void label_row(const drawing *d, const gn_cell *c, const char *figure, const char *class)
{
    fprintf(d->to, "<div class=\"label\"><span><i class=\"%s\"></i>", gn_mode_class(c->mode));
    gn_text_html(d->to, gn_cell_label(d->b, c));
    fprintf(d->to, "</span> <span class=\"%s\">", class);
    gn_text_html(d->to, figure);
    fputs("</span></div>\n", d->to);
}

static void draw_bar(const drawing *d, const gn_cell *c)
{
    gn_arena *a = d->b->arena;
    bar v = bar_of(c, d->chart->what);
    const char *title = amount(d, v.value), *second = amount(d, v.second);
    double end = gn_scale_at(&d->x, v.value);
    if (!isnan(v.second))
        title = gn_arena_printf(a, "%s, %s %s", title,
                                d->chart->what == GN_CHART_MEMORY ? "planned" : "cached", second);
    label_row(d, c, title, "figure");
    title = gn_arena_printf(a, "%s, %s: %s", gn_peers_title(d->b, c), gn_cell_label(d->b, c),
                            title);
    if (!isnan(v.low)) {
        const char *low = amount(d, v.low), *high = amount(d, v.high);
        title = gn_arena_printf(a, "%s (a tenth below %s, a tenth above %s)", title, low, high);
    }
    begin_row(d, BAR, title);
    gn_svg_rect_wide(d->to, gn_arena_printf(a, "bar %s", gn_mode_class(c->mode)), 0, 2,
                     fmax(end, 0.2), BAR - 5, title);
    if (!isnan(v.low)) {
        double from = gn_scale_at(&d->x, v.low), to = gn_scale_at(&d->x, v.high);
        gn_svg_line_wide(d->to, "whisker", from, (BAR - 1) / 2, to, (BAR - 1) / 2);
        gn_svg_line_wide(d->to, "whisker", from, 4, from, BAR - 5);
        gn_svg_line_wide(d->to, "whisker", to, 4, to, BAR - 5);
    }
    if (!isnan(v.second)) {
        double x = gn_scale_at(&d->x, v.second);
        gn_svg_line_wide(d->to, "mark", x, 0, x, BAR - 1);
    }
    end_row(d);
}

static void draw_strip(const drawing *d, const gn_cell *c)
{
    enum { MOST = 400 }; /* dots; of more samples every so-manieth is drawn */
    gn_arena *a = d->b->arena;
    bool infer = is_infer(d->chart->what);
    const gn_samples *s = infer ? &c->warm.infer_us : &c->warm.step_us;
    const gn_stats *t = infer ? &c->infer : &c->step;
    const char *m = gn_mode_class(c->mode), *dot = gn_arena_printf(a, "dot %s", m);
    const char *median = amount(d, t->median), *low = amount(d, t->p25), *high = amount(d, t->p75);
    double x1 = gn_scale_at(&d->x, t->p25), x2 = gn_scale_at(&d->x, t->p75),
           at = gn_scale_at(&d->x, t->median);
    label_row(d, c, gn_arena_printf(a, "median %s", median), "figure");
    const char *title = gn_arena_printf(a, "%s: median %s, half of all between %s and %s",
                                        gn_cell_label(d->b, c), median, low, high);
    begin_row(d, STRIP, title);
    gn_svg_rect_wide(d->to, gn_arena_printf(a, "box %s", m), x1, 3, fmax(x2 - x1, 0.2), STRIP - 8,
                     title);
    for (int64_t k = 0; k < s->n; k += 1 + s->n / MOST) {
        double turn = (double)k * 0.6180339887498949; /* spread evenly, the same way every time */
        gn_svg_dot_wide(d->to, dot, gn_scale_at(&d->x, s->x[k]),
                        5 + (STRIP - 12) * (turn - floor(turn)), 2.2);
    }
    gn_svg_line_wide(d->to, "median", at, 1, at, STRIP - 3);
    end_row(d);
}

static void draw_row(const drawing *d, const gn_cell *c)
{
    bool ended = c->end == GN_CELL_OK;
    if (isnan(bar_of(c, d->chart->what).value))
        label_row(d, c, ended ? "not measured" : gn_cell_end_name[c->end],
                  ended ? "figure none" : "figure bad");
    else if (is_strip(d->chart->what))
        draw_strip(d, c);
    else
        draw_bar(d, c);
}

/* The groups of a chart: their titles, and what each row draws. */
static void draw_groups(const drawing *d)
{
    const gn_bench *b = d->b;
    for (int k = 0; k < b->n_cells; k++) {
        const gn_cell *c = &b->cells[k];
        bool titled = false;
        if (!gn_first_of_peers(b, c)) continue;
        for (int i = k; i < b->n_cells; i++) {
            const gn_cell *o = &b->cells[i];
            if (!gn_are_peers(o, c) || !is_drawn(d->chart, o)) continue;
            if (!titled) {
                fputs("<div class=\"group\">", d->to);
                gn_text_html(d->to, gn_group_title(b, c));
                fputs("</div>\n", d->to);
            }
            titled = true;
            draw_row(d, o);
        }
    }
}

bool gn_draw_chart(gn_bench *b, FILE *to, const gn_chart *c)
{
    drawing d = {.b = b, .to = to, .chart = c};
    double least, most;
    if (!range_of(b, c, &least, &most)) return false;
    d.x = most < LINEAR_TO * least ? gn_scale_linear(0, most, 0, 100)
                                   : gn_scale_for(least, most, 0, 100);
    d.n = gn_scale_ticks(&d.x, TICKS, d.at);
    fputs("<div class=\"chart\">\n", to);
    draw_axis(&d);
    draw_groups(&d);
    fputs("</div>\n", to);
    return true;
}
