#include "cli/svg.h"

#include "cli/text.h"

#include <math.h>

gn_scale gn_scale_for(double least, double most, double from, double to)
{
    gn_scale s = {.from = from, .to = to};
    s.low = pow(10, floor(log10(least) - 0.2));
    s.high = most * 1.08;
    if (s.high < s.low * 10) s.high = s.low * 10;
    return s;
}

/* 1, 2 or 5 times a power of ten: about a sixth of `range`. */
static double step_of(double range)
{
    double raw = range / 6, power = pow(10, floor(log10(raw)));
    return power * (raw <= 1.0001 * power   ? 1
                    : raw <= 2.0001 * power ? 2
                    : raw <= 5.0001 * power ? 5
                                            : 10);
}

gn_scale gn_scale_linear(double least, double most, double from, double to)
{
    double range = most - least;
    if (!(range > 0)) range = fabs(most) > 0 ? fabs(most) / 10 : 1;
    double step = step_of(range);
    gn_scale s = {.from = from, .to = to, .linear = true};
    s.low = floor(least / step + 1e-9) * step;
    s.high = ceil(most / step - 1e-9) * step;
    if (!(s.high > s.low)) s.high = s.low + step;
    return s;
}

double gn_scale_at(const gn_scale *s, double value)
{
    if (!(value > s->low)) return s->from;
    if (value > s->high) return s->to;
    if (s->linear) return s->from + (s->to - s->from) * ((value - s->low) / (s->high - s->low));
    return s->from + (s->to - s->from) * log(value / s->low) / log(s->high / s->low);
}

static int linear_ticks(const gn_scale *s, int room, double *at)
{
    double step = step_of(s->high - s->low);
    int n = 0;
    for (double k = ceil(s->low / step - 1e-9); k * step <= s->high + 1e-9 * step && n < room; k++)
        at[n++] = k * step + 0.0; /* no -0 */
    return n;
}

int gn_scale_ticks(const gn_scale *s, int room, double *at)
{
    if (s->linear) return linear_ticks(s, room, at);
    static const double few[] = {1}, many[] = {1, 2, 5};
    bool more = s->high / s->low < 150;
    int n = 0, of = more ? 3 : 1;
    for (double decade = s->low; decade <= s->high * 1.0001; decade *= 10)
        for (int k = 0; k < of; k++) {
            double v = decade * (more ? many : few)[k];
            if (v <= s->high * 1.0001 && n < room) at[n++] = v;
        }
    return n;
}

const char *gn_tick_text(gn_arena *a, gn_unit_of_axis unit, double value)
{
    static const char *const times[] = {"us", "ms", "s"},
                             *const bytes[] = {"B", "kB", "MB", "GB", "TB"},
                             *const counts[] = {"", "k", "M", "G", "T"};
    const char *const *names = unit == GN_AXIS_TIME    ? times
                               : unit == GN_AXIS_BYTES ? bytes
                                                       : counts;
    int most = unit == GN_AXIS_TIME ? 2 : 4, k = 0;
    while (value > 999.999 && k < most) {
        value /= 1000;
        k++;
    }
    return gn_arena_printf(a, unit == GN_AXIS_COUNT ? "%.6g%s" : "%.6g %s", value, names[k]);
}

void gn_svg_begin(FILE *to, double width, double height, const char *label)
{
    fprintf(to, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", width, height);
    gn_text_html(to, label);
    fputs("\">\n", to);
}

void gn_svg_begin_alone(FILE *to, double width, double height, const char *label, const char *style)
{
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
            "height=\"%.0f\" "
            "role=\"img\" aria-label=\"",
            width, height, width, height);
    gn_text_html(to, label);
    fprintf(to, "\">\n<style>\n%s</style>\n", style);
}

void gn_svg_end(FILE *to) { fputs("</svg>\n", to); }

void gn_svg_line(FILE *to, const char *class, double x1, double y1, double x2, double y2)
{
    fprintf(to, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class, x1,
            y1, x2, y2);
}

void gn_svg_text(FILE *to, const char *class, double x, double y, const char *text)
{
    fprintf(to, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
    gn_text_html(to, text);
    fputs("</text>\n", to);
}

static void close_with_title(FILE *to, const char *element, const char *title)
{
    if (!title) {
        fputs("/>\n", to);
        return;
    }
    fputs("><title>", to);
    gn_text_html(to, title);
    fprintf(to, "</title></%s>\n", element);
}

void gn_svg_rect(FILE *to, const char *class, double x, double y, double w, double h,
                 const char *title)
{
    fprintf(to, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"", class, x,
            y, w, h);
    close_with_title(to, "rect", title);
}

void gn_svg_dot(FILE *to, const char *class, double x, double y, double r, const char *title)
{
    fprintf(to, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"", class, x, y, r);
    close_with_title(to, "circle", title);
}

void gn_svg_curve(FILE *to, const char *class, int64_t n, const double *xy)
{
    fprintf(to, "<polyline class=\"%s\" points=\"", class);
    for (int64_t k = 0; k < n; k++)
        fprintf(to, "%s%.1f,%.1f", k ? " " : "", xy[2 * k], xy[2 * k + 1]);
    fputs("\"/>\n", to);
}

void gn_svg_begin_wide(FILE *to, const char *class, double height, const char *label)
{
    fprintf(to, "<svg class=\"%s\" width=\"100%%\" height=\"%.0f\" ", class, height);
    if (label) {
        fputs("role=\"img\" aria-label=\"", to);
        gn_text_html(to, label);
        fputs("\">", to);
    } else {
        fputs("aria-hidden=\"true\">", to);
    }
}

void gn_svg_line_wide(FILE *to, const char *class, double x1, double y1, double x2, double y2)
{
    fprintf(to, "<line class=\"%s\" x1=\"%.2f%%\" y1=\"%.1f\" x2=\"%.2f%%\" y2=\"%.1f\"/>", class,
            x1, y1, x2, y2);
}

void gn_svg_text_wide(FILE *to, const char *class, double x, double y, const char *text)
{
    fprintf(to, "<text class=\"%s\" x=\"%.2f%%\" y=\"%.1f\">", class, x, y);
    gn_text_html(to, text);
    fputs("</text>", to);
}

void gn_svg_rect_wide(FILE *to, const char *class, double x, double y, double w, double h,
                      const char *title)
{
    fprintf(to, "<rect class=\"%s\" x=\"%.2f%%\" y=\"%.1f\" width=\"%.2f%%\" height=\"%.1f\"",
            class, x, y, w, h);
    close_with_title(to, "rect", title);
}

void gn_svg_dot_wide(FILE *to, const char *class, double x, double y, double r)
{
    fprintf(to, "<circle class=\"%s\" cx=\"%.2f%%\" cy=\"%.1f\" r=\"%.1f\"/>", class, x, y, r);
}
