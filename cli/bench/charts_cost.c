/* charts_cost: what compiling costs, and after how many steps it has come back. */
#include "cli/bench/charts.h"

#include "cli/bench/recommend.h"
#include "cli/bench/rows.h"
#include "cli/svg.h"
#include "cli/text.h"

#include <math.h>
#include <string.h>

/* Pixels. */
static const double WIDTH = 450, HEIGHT = 300, LEFT = 58, RIGHT = 16, TOP = 32, BOTTOM = 44;
enum { POINTS = 64, TICKS = 24 };

typedef struct plot {
    gn_bench *b;
    FILE *to;
    gn_scale x, y;
    bool infer; /* of runs of inference, where nothing was trained */
} plot;

static const gn_stats *figure(const plot *p, const gn_cell *c)
{
    return p->infer ? &c->infer : &c->step;
}

static void draw_curve(const plot *p, const char *class, double begin_us, double us,
                       const char *title)
{
    fprintf(p->to, "<polyline class=\"%s\" points=\"", class);
    const double points = POINTS;
    for (int k = 0; k <= POINTS; k++) {
        double n = p->x.low * pow(p->x.high / p->x.low, k / points);
        fprintf(p->to, "%s%.1f,%.1f", k ? " " : "", gn_scale_at(&p->x, n),
                gn_scale_at(&p->y, begin_us + n * us));
    }
    fputs("\"><title>", p->to);
    gn_text_html(p->to, title);
    fputs("</title></polyline>\n", p->to);
}

const char *gn_curve_class(const gn_bench *b, const gn_cell *c)
{
    uint32_t k = 0;
    while (k + 1 < b->grid.dynamic.n && strcmp(b->grid.dynamic.p[k], c->dynamic) != 0) k++;
    return gn_arena_printf(b->arena, "%s d%u", gn_mode_class(c->mode), k);
}

static void draw_axes(const plot *p)
{
    double at[TICKS];
    gn_arena *a = p->b->arena;
    int n = gn_scale_ticks(&p->x, TICKS, at);
    for (int k = 0; k < n; k++) {
        double x = gn_scale_at(&p->x, at[k]);
        gn_svg_line(p->to, "grid", x, TOP, x, HEIGHT - BOTTOM);
        gn_svg_text(p->to, "tick middle", x, HEIGHT - BOTTOM + 16,
                    gn_tick_text(a, GN_AXIS_COUNT, at[k]));
    }
    n = gn_scale_ticks(&p->y, TICKS, at);
    for (int k = 0; k < n; k++) {
        double y = gn_scale_at(&p->y, at[k]);
        gn_svg_line(p->to, "grid", LEFT, y, WIDTH - RIGHT, y);
        gn_svg_text(p->to, "tick end", LEFT - 6, y + 4, gn_tick_text(a, GN_AXIS_TIME, at[k]));
    }
    gn_svg_text(p->to, "tick middle", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8,
                p->infer ? "runs of inference (logarithmic)" : "training steps (logarithmic)");
    gn_svg_text(p->to, "tick", 0, TOP - 16, "time in all, compilation and steps (logarithmic)");
}

static void draw_cell(const plot *p, const gn_cell *c)
{
    gn_arena *a = p->b->arena;
    const gn_cell *base = c->baseline;
    double us = figure(p, c)->median, compile = c->cold.compile_ms * 1e3;
    double even = p->infer ? c->break_even_infer : c->break_even_step;
    const char *unit = p->infer ? "run" : "step", *name = gn_cell_variant(p->b, c);
    if (c == base)
        draw_curve(p, "curve dashed m0", 0, us,
                   gn_arena_printf(a, "%s, %ss alone: %s each", name, unit, gn_text_time(a, us)));
    draw_curve(p, gn_arena_printf(a, "curve %s", gn_curve_class(p->b, c)), compile, us,
               gn_arena_printf(a, "%s: compiles in %s, then %s a %s", name,
                               gn_text_time(a, compile), gn_text_time(a, us), unit));
    if (!base || !isfinite(even) || even > p->x.high) return;
    double x = gn_scale_at(&p->x, even), y = gn_scale_at(&p->y, even * figure(p, base)->median);
    gn_svg_dot(
        p->to, gn_arena_printf(a, "even %s", gn_mode_class(c->mode)), x, y, 5,
        gn_arena_printf(a, "%s: break-even after %s %ss", name, gn_text_steps(a, even), unit));
}

/* In words: dots may lie on each other. */
static void say_break_even(const plot *p, int n, const gn_cell *const *cells)
{
    bool any = false;
    for (int k = 0; k < n; k++) {
        double even = p->infer ? cells[k]->break_even_infer : cells[k]->break_even_step;
        if (isnan(even)) continue;
        if (any)
            fputs("; ", p->to);
        else
            fprintf(p->to, "<p class=\"soft\">Break-even, in %s: ", p->infer ? "runs" : "steps");
        gn_text_html(p->to, gn_cell_variant(p->b, cells[k]));
        fprintf(p->to, " %s", gn_text_steps(p->b->arena, even));
        any = true;
    }
    if (any) fputs("</p>\n", p->to);
}

/* Steps until the dearest compilation is a hundredth of all, or break-even is well in sight. */
static double most_steps(const plot *p, int n, const gn_cell *const *cells)
{
    double most = 1e3;
    for (int k = 0; k < n; k++) {
        double even = p->infer ? cells[k]->break_even_infer : cells[k]->break_even_step;
        if (isfinite(even)) most = fmax(most, even * 5);
        most = fmax(most, cells[k]->cold.compile_ms * 1e3 / figure(p, cells[k])->median * 5);
    }
    return fmin(pow(10, ceil(log10(most))), 1e9);
}

static bool draw_plot(gn_bench *b, FILE *to, const gn_cell *first, int n,
                      const gn_cell *const *cells)
{
    plot p = {.b = b, .to = to, .infer = true};
    int m = 0;
    const gn_cell **with = GN_NEW_N(b->arena, const gn_cell *, n + 1);
    for (int k = 0; k < n; k++) p.infer = p.infer && cells[k]->step.n == 0;
    for (int k = 0; k < n; k++)
        if (figure(&p, cells[k])->n && figure(&p, cells[k])->median > 0 &&
            cells[k]->cold.compile_ms > 0)
            with[m++] = cells[k];
    if (!m) return false;
    double least = INFINITY, most = 0;
    p.x = (gn_scale){1, most_steps(&p, m, with), LEFT, WIDTH - RIGHT};
    for (int k = 0; k < m; k++) {
        double us = figure(&p, with[k])->median, compile = with[k]->cold.compile_ms * 1e3;
        least = fmin(least, with[k] == with[k]->baseline ? us : compile + us);
        most = fmax(most, compile + p.x.high * us);
    }
    p.y = gn_scale_for(least, most, HEIGHT - BOTTOM, TOP);
    const char *title = gn_peers_title(b, first);
    fputs("<figure><figcaption>", to);
    gn_text_html(to, title);
    fputs("</figcaption>\n", to);
    gn_svg_begin(to, WIDTH, HEIGHT,
                 gn_arena_printf(b->arena, "Time in all against steps, %s", title));
    draw_axes(&p);
    for (int k = 0; k < m; k++) draw_cell(&p, with[k]);
    gn_svg_end(to);
    say_break_even(&p, m, with);
    fputs("</figure>\n", to);
    return true;
}

bool gn_draw_costs(gn_bench *b, FILE *to)
{
    const gn_cell **cells = GN_NEW_N(b->arena, const gn_cell *, b->n_cells + 1);
    int drawn = 0;
    for (int k = 0; k < b->n_cells && drawn < GN_COST_CHARTS; k++)
        if (gn_first_of_peers(b, &b->cells[k]))
            drawn += draw_plot(b, to, &b->cells[k], gn_peers_of(b, &b->cells[k], cells), cells);
    return drawn > 0;
}
