#include "cli/train_plot.h"

#include "base/outfile.h"
#include "cli/svg.h"
#include "cli/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 }; /* points that are kept, and drawn */

gn_status *gn_train_plot_check(const char *path)
{
    if (!path || gn_text_ends(path, ".svg") || gn_text_ends(path, ".html")) return NULL;
    GN_FAIL(GN_ERR_USAGE, "--plot %s: expected a name that ends in .svg or .html", path);
}

/* Epochs --------------------------------------------------------------------------------------- */

/* The first epoch, every so-manieth after it, and a seed's last one. */
static bool is_kept(const gn_train_plot *t, const gn_epoch *e)
{
    return (e->epoch - 1) % t->stride == 0 || e->epoch == e->epochs;
}

void gn_train_plot_epoch(gn_train_plot *t, uint64_t seed, const gn_epoch *e)
{
    if (!t->path) return;
    if (!t->p) {
        t->p = GN_NEW_N(t->arena, gn_train_point, MOST);
        t->stride = 1;
    }
    if (t->n && t->p[t->n - 1].seed != seed) t->best = 0;
    if (e->best) t->best = e->epoch;
    if (!is_kept(t, e)) return;
    if (t->n == MOST) {
        t->stride *= 2;
        t->n = 0;
        for (int64_t k = 0; k < MOST; k++)
            if (is_kept(t, &t->p[k].e) && t->n < MOST - 1) t->p[t->n++] = t->p[k];
    }
    t->p[t->n++] = (gn_train_point){seed, *e};
}

/* Drawing -------------------------------------------------------------------------------------- */

/* Pixels. */
static const double WIDTH = 860, LEFT = 70, RIGHT = 24, TOP = 44, PANEL = 220, GAP = 64,
                    BOTTOM = 52;

static const char style
    [] = "svg{color-scheme:light "
         "dark;--paper:#fff;--ink:#1b1f24;--soft:#5b6470;--line:#dde1e6;--c0:#2563c9;--c1:#b45309;"
         "--c2:#047857;background:var(--paper);max-width:100%;height:auto}\n"
         "@media(prefers-color-scheme:dark){svg{--paper:#14171b;--ink:#e6e9ed;--soft:#9aa4b0;--"
         "line:#333a43;--c0:#6ea4ff;"
         "--c1:#f3a54a;--c2:#3fc7a9}}\n"
         ".paper{fill:var(--paper)}text{font:13px system-ui,-apple-system,'Segoe "
         "UI',Roboto,'DejaVu Sans',sans-serif;"
         "fill:var(--ink)}\n"
         ".title{font-weight:600;font-size:15px}.panel{font-weight:600}.tick{fill:var(--soft);font-"
         "size:12px}\n"
         ".end{text-anchor:end}.middle{text-anchor:middle}.grid{stroke:var(--line)}\n"
         ".best{stroke:var(--soft);stroke-dasharray:2 "
         "3}.curve{fill:none;stroke-width:1.8;stroke-linejoin:round}\n"
         ".key{stroke-width:3}.c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2);"
         "stroke-dasharray:7 3}\n";

typedef struct curve {
    const char *name;
    size_t offset; /* of its double in gn_epoch */
} curve;

typedef struct panel {
    const char *title;
    bool fraction; /* from 0 to 1 */
    int n;
    curve curves[3];
} panel;

#define AT(member) offsetof(gn_epoch, member)
static const panel panels[] = {
    {"loss", false, 2, {{"train", AT(loss)}, {"validation", AT(val_loss)}}},
    {"accuracy",
     true,
     3,
     {{"train", AT(train_acc)}, {"validation", AT(val_acc)}, {"test", AT(test_acc)}}},
    {"area under the ROC curve",
     true,
     3,
     {{"train", AT(train_auc)}, {"validation", AT(val_auc)}, {"test", AT(test_auc)}}},
};
enum { PANELS = sizeof panels / sizeof *panels };

static double value_of(const gn_train_point *p, const curve *c)
{
    return *(const double *)(const void *)((const char *)&p->e + c->offset);
}

static bool has_curve(const gn_train_plot *t, const curve *c)
{
    for (int64_t k = 0; k < t->n; k++)
        if (isfinite(value_of(&t->p[k], c))) return true;
    return false;
}

static bool has_panel(const gn_train_plot *t, const panel *p)
{
    for (int k = 0; k < p->n; k++)
        if (has_curve(t, &p->curves[k])) return true;
    return false;
}

/* Logarithmic where a loss falls by more than thirty times. */
static gn_scale scale_of(const gn_train_plot *t, const panel *p, double from, double to)
{
    double least = INFINITY, most = -INFINITY;
    for (int c = 0; c < p->n; c++)
        for (int64_t k = 0; k < t->n; k++) {
            double v = value_of(&t->p[k], &p->curves[c]);
            if (!isfinite(v)) continue;
            least = fmin(least, v);
            most = fmax(most, v);
        }
    if (p->fraction) return gn_scale_linear(fmin(least, 0), fmax(most, 1), from, to);
    if (least > 0 && most > 30 * least) return gn_scale_for(least, most, from, to);
    return gn_scale_linear(fmin(least, 0), most, from, to);
}

static void draw_curve(const gn_train_plot *t, FILE *to, const curve *c, int colour,
                       const gn_scale *x, const gn_scale *y)
{
    const char *class = gn_arena_printf(t->arena, "curve c%d", colour);
    double *xy = GN_NEW_N(t->arena, double, 2 * t->n + 2);
    int64_t n = 0;
    for (int64_t k = 0; k < t->n; k++) {
        double v = value_of(&t->p[k], c);
        bool other = k && t->p[k].seed != t->p[k - 1].seed;
        if (other && n) gn_svg_curve(to, class, n, xy);
        if (other) n = 0;
        if (!isfinite(v)) continue;
        xy[2 * n] = gn_scale_at(x, (double)t->p[k].e.epoch);
        xy[2 * n++ + 1] = gn_scale_at(y, v);
    }
    if (n) gn_svg_curve(to, class, n, xy);
}

static void draw_axes(const gn_train_plot *t, FILE *to, const panel *p, const gn_scale *x,
                      const gn_scale *y)
{
    double at[32];
    int n = gn_scale_ticks(y, 32, at);
    for (int k = 0; k < n; k++) {
        double py = gn_scale_at(y, at[k]);
        gn_svg_line(to, "grid", x->from, py, x->to, py);
        gn_svg_text(to, "tick end", x->from - 8, py + 4,
                    p->fraction ? gn_arena_printf(t->arena, "%.3g%%", 100 * at[k])
                                : gn_arena_printf(t->arena, "%.4g", at[k]));
    }
    n = gn_scale_ticks(x, 32, at);
    for (int k = 0; k < n; k++) {
        double px = gn_scale_at(x, at[k]);
        gn_svg_line(to, "grid", px, y->to, px, y->from);
        gn_svg_text(to, "tick middle", px, y->from + 18,
                    gn_tick_text(t->arena, GN_AXIS_COUNT, at[k]));
    }
}

static void draw_panel(const gn_train_plot *t, FILE *to, const panel *p, const gn_scale *x,
                       double top)
{
    gn_scale y = scale_of(t, p, top + PANEL, top);
    double key = LEFT + 220;
    gn_svg_text(to, "panel", LEFT, top - 12, p->title);
    draw_axes(t, to, p, x, &y);
    if (t->best)
        gn_svg_line(to, "best", gn_scale_at(x, (double)t->best), top,
                    gn_scale_at(x, (double)t->best), top + PANEL);
    for (int c = 0; c < p->n; c++) {
        if (!has_curve(t, &p->curves[c])) continue;
        draw_curve(t, to, &p->curves[c], c, x, &y);
        gn_svg_line(to, gn_arena_printf(t->arena, "key c%d", c), key, top - 16, key + 26, top - 16);
        gn_svg_text(to, "tick", key + 32, top - 12, p->curves[c].name);
        key += 120;
    }
}

static void draw(const gn_train_plot *t, FILE *to, const char *title)
{
    double last = 1, height = TOP + BOTTOM - GAP + 30, top = TOP + 30;
    for (int k = 0; k < PANELS; k++)
        if (has_panel(t, &panels[k])) height += PANEL + GAP;
    for (int64_t k = 0; k < t->n; k++) last = fmax(last, (double)t->p[k].e.epoch);
    gn_scale x = gn_scale_linear(0, last, LEFT, WIDTH - RIGHT);
    x.high = last;
    gn_svg_begin_alone(to, WIDTH, height, title, style);
    gn_svg_rect(to, "paper", 0, 0, WIDTH, height, NULL);
    gn_svg_text(to, "title", LEFT, 28, title);
    for (int k = 0; k < PANELS; k++) {
        if (!has_panel(t, &panels[k])) continue;
        draw_panel(t, to, &panels[k], &x, top);
        top += PANEL + GAP;
    }
    const char *note = "epoch";
    if (t->best)
        note = gn_arena_printf(t->arena, "epoch (the dotted line: %lld, the best)",
                               (long long)t->best);
    gn_svg_text(to, "tick middle", (LEFT + WIDTH - RIGHT) / 2, height - 12, note);
    gn_svg_end(to);
}

gn_status *gn_train_plot_write(const gn_train_plot *t, const char *title)
{
    gn_out o;
    if (!t->path || !t->n) return NULL;
    GN_TRY(gn_status_annotate(gn_out_open(&o, t->path), "--plot"));
    bool html = gn_text_ends(t->path, ".html");
    if (html) {
        fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
              "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
              o.f);
        gn_text_html(o.f, title);
        fputs("</title>\n<style>body{margin:16px auto;max-width:900px;padding:0 "
              "8px}</style>\n</head>\n<body>\n",
              o.f);
    }
    draw(t, o.f, title);
    if (html) fputs("</body>\n</html>\n", o.f);
    return gn_out_close(&o, NULL);
}
