/* charts: bars and samples.  Costs are in charts_cost.c. */
#include "cli/bench/charts.h"

#include "cli/bench/recommend.h"
#include "cli/svg.h"
#include "cli/text.h"

#include "compile/mode.h"

#include <math.h>
#include <string.h>

/* Pixels. */
static const double WIDTH = 920, RIGHT = 110 /* figures */, TOP = 26 /* the axis */,
                    ROW = 24 /* a cell */, TITLE = 30 /* of a group */;
enum { TICKS = 32 };

/* Where names end: the longest mode, and its dynamic setting where there are several. */
static double left_of(const gn_bench *b) { return b->grid.dynamic.n > 1 ? 324 : 210; }

const char *gn_mode_class(const char *mode)
{
    static const char *const classes[] = {"m0", "m1", "m2", "m3", "m4"};
    gn_mode m = gn_mode_by_name(mode);
    return (size_t)m < sizeof classes / sizeof *classes ? classes[m] : "m0";
}

/* Bars ----------------------------------------------------------------------------------------- */

typedef struct bar {
    double value, low, high; /* the bar, its whisker; NaN: none */
    double second;           /* a mark: of compiling the cached time, of memory the plan */
} bar;

static bar bar_of(const gn_cell *c, gn_bar_chart what)
{
    bar b = {NAN, NAN, NAN, NAN};
    const gn_stats *s = what == GN_BARS_STEP ? &c->step : &c->infer;
    if (c->end != GN_CELL_OK) return b;
    switch (what) {
    case GN_BARS_STEP:
    case GN_BARS_INFER:
        if (s->n) b = (bar){s->median, s->p10, s->p90, NAN};
        break;
    case GN_BARS_COMPILE:
        b = (bar){c->cold.compile_ms * 1e3, NAN, NAN, c->warm.compile_ms * 1e3};
        break;
    case GN_BARS_MEMORY:
        if (c->warm.rss_bytes > 0) b.value = (double)c->warm.rss_bytes;
        if (c->warm.plan_bytes > 0) b.second = (double)c->warm.plan_bytes;
        break;
    }
    return b;
}

static bool range_of(const gn_bench *b, gn_bar_chart what, double *least, double *most)
{
    *least = INFINITY;
    *most = 0;
    for (int k = 0; k < b->n_cells; k++) {
        bar x = bar_of(&b->cells[k], what);
        double all[] = {x.value, x.low, x.high, x.second};
        for (int i = 0; i < 4; i++) {
            if (!(all[i] > 0) || isinf(all[i])) continue;
            *least = fmin(*least, all[i]);
            *most = fmax(*most, all[i]);
        }
    }
    return *most > 0;
}

static double height_of(const gn_bench *b)
{
    double h = TOP + 6;
    for (int k = 0; k < b->n_cells; k++)
        h += ROW + (gn_first_of_peers(b, &b->cells[k]) ? TITLE : 0);
    return h;
}

static void draw_axis(gn_bench *b, FILE *to, const gn_scale *x, gn_unit_of_axis unit, double bottom)
{
    double at[TICKS];
    int n = gn_scale_ticks(x, TICKS, at);
    for (int k = 0; k < n; k++) {
        double px = gn_scale_at(x, at[k]);
        gn_svg_line(to, "grid", px, TOP - 6, px, bottom);
        gn_svg_text(to, "tick middle", px, TOP - 12, gn_tick_text(b->arena, unit, at[k]));
    }
}

/* The rows of a chart: titles of groups, names, and what each cell draws. */
static void draw_rows(gn_bench *b, FILE *to,
                      void (*row)(gn_bench *, FILE *, const gn_cell *, double y, const void *),
                      const void *ctx)
{
    double y = TOP;
    for (int k = 0; k < b->n_cells; k++) {
        const gn_cell *c = &b->cells[k];
        if (!gn_first_of_peers(b, c)) continue;
        gn_svg_text(to, "group", 0, y + TITLE - 10, gn_peers_title(b, c));
        y += TITLE;
        for (int i = k; i < b->n_cells; i++) {
            const gn_cell *o = &b->cells[i];
            if (o->threads != c->threads || strcmp(o->data, c->data) != 0) continue;
            gn_svg_text(to, "name", left_of(b) - 10, y + ROW - 8, gn_cell_variant(b, o));
            row(b, to, o, y, ctx);
            y += ROW;
        }
    }
}

typedef struct bars {
    gn_bar_chart what;
    gn_scale x;
} bars;

static const char *amount(gn_arena *a, gn_bar_chart what, double v)
{
    return what == GN_BARS_MEMORY ? gn_text_bytes(a, v) : gn_text_time(a, v);
}

static void draw_bar(gn_bench *b, FILE *to, const gn_cell *c, double y, const void *ctx)
{
    const bars *d = ctx;
    gn_arena *a = b->arena;
    bar v = bar_of(c, d->what);
    double middle = y + ROW / 2, left = d->x.from, end = gn_scale_at(&d->x, v.value);
    if (isnan(v.value)) {
        bool ended = c->end == GN_CELL_OK;
        gn_svg_text(to, ended ? "none" : "bad", left + 4, y + ROW - 8,
                    ended ? "not measured" : gn_cell_end_name[c->end]);
        return;
    }
    const char *title = gn_arena_printf(a, "%s, %s: %s", gn_peers_title(b, c),
                                        gn_cell_variant(b, c), amount(a, d->what, v.value));
    if (!isnan(v.low))
        title = gn_arena_printf(a, "%s (a tenth below %s, a tenth above %s)", title,
                                amount(a, d->what, v.low), amount(a, d->what, v.high));
    if (!isnan(v.second))
        title = gn_arena_printf(a, "%s, %s %s", title,
                                d->what == GN_BARS_MEMORY ? "planned" : "cached",
                                amount(a, d->what, v.second));
    gn_svg_rect(to, gn_arena_printf(a, "bar %s", gn_mode_class(c->mode)), left, y + 4,
                fmax(end - left, 1), ROW - 8, title);
    double right = end;
    if (!isnan(v.low)) {
        right = fmax(right, gn_scale_at(&d->x, v.high));
        gn_svg_line(to, "whisker", gn_scale_at(&d->x, v.low), middle, gn_scale_at(&d->x, v.high),
                    middle);
    }
    if (!isnan(v.second)) {
        double px = gn_scale_at(&d->x, v.second);
        right = fmax(right, px);
        gn_svg_line(to, "mark", px, y + 2, px, y + ROW - 2);
    }
    gn_svg_text(to, "figure", right + 6, y + ROW - 8, amount(a, d->what, v.value));
}

bool gn_draw_bars(gn_bench *b, FILE *to, gn_bar_chart what)
{
    static const char *const names[] = {"Time of a training step", "Time of inference",
                                        "Time to compile", "Resident memory"};
    double least, most, height = height_of(b);
    if (!range_of(b, what, &least, &most)) return false;
    bars d = {what, gn_scale_for(least, most, left_of(b), WIDTH - RIGHT)};
    gn_svg_begin(to, WIDTH, height, names[what]);
    draw_axis(b, to, &d.x, what == GN_BARS_MEMORY ? GN_AXIS_BYTES : GN_AXIS_TIME, height - 4);
    draw_rows(b, to, draw_bar, &d);
    gn_svg_end(to);
    return true;
}

/* Samples -------------------------------------------------------------------------------------- */

typedef struct strips {
    bool infer;
    gn_scale x;
} strips;

static void draw_strip(gn_bench *b, FILE *to, const gn_cell *c, double y, const void *ctx)
{
    enum { MOST = 400 }; /* dots; of more samples every so-manieth is drawn */
    const strips *d = ctx;
    gn_arena *a = b->arena;
    const gn_samples *s = d->infer ? &c->warm.infer_us : &c->warm.step_us;
    const gn_stats *t = d->infer ? &c->infer : &c->step;
    const char *m = gn_mode_class(c->mode);
    bool ended = c->end == GN_CELL_OK;
    if (!ended || !t->n) {
        gn_svg_text(to, ended ? "none" : "bad", d->x.from + 4, y + ROW - 8,
                    ended ? "not measured" : gn_cell_end_name[c->end]);
        return;
    }
    double x1 = gn_scale_at(&d->x, t->p25), x2 = gn_scale_at(&d->x, t->p75),
           at = gn_scale_at(&d->x, t->median), y0 = y + 4;
    gn_svg_rect(to, gn_arena_printf(a, "box %s", m), x1, y0, fmax(x2 - x1, 1), ROW - 8,
                gn_arena_printf(a, "%s: median %s, half of all between %s and %s",
                                gn_cell_variant(b, c), gn_text_time(a, t->median),
                                gn_text_time(a, t->p25), gn_text_time(a, t->p75)));
    for (int64_t k = 0; k < s->n; k += 1 + s->n / MOST) {
        double turn = (double)k * 0.6180339887498949; /* spread evenly, the same way every time */
        gn_svg_dot(to, gn_arena_printf(a, "dot %s", m), gn_scale_at(&d->x, s->x[k]),
                   y0 + 2 + (ROW - 12) * (turn - floor(turn)), 2.2, NULL);
    }
    gn_svg_line(to, "median", at, y0 - 2, at, y0 + ROW - 6);
    gn_svg_text(to, "figure end", WIDTH - 20, y + ROW - 8, gn_text_time(a, t->median));
}

bool gn_draw_samples(gn_bench *b, FILE *to, bool infer)
{
    double least = INFINITY, most = 0, height = height_of(b);
    for (int k = 0; k < b->n_cells; k++) {
        const gn_stats *t = infer ? &b->cells[k].infer : &b->cells[k].step;
        if (b->cells[k].end != GN_CELL_OK || !t->n || !(t->min > 0)) continue;
        least = fmin(least, t->min);
        most = fmax(most, t->max);
    }
    if (!(most > 0)) return false;
    strips d = {infer, gn_scale_for(least, most, left_of(b), WIDTH - RIGHT)};
    gn_svg_begin(to, WIDTH, height, infer ? "Samples of inference" : "Samples of training steps");
    draw_axis(b, to, &d.x, GN_AXIS_TIME, height - 4);
    gn_svg_text(to, "tick end", WIDTH - 20, TOP - 12, "median");
    draw_rows(b, to, draw_strip, &d);
    gn_svg_end(to);
    return true;
}
