/* SVG: what charts are drawn with. Colours and fonts are classes of a style sheet that the page
 * has. */
#ifndef GN_CLI_SVG_H
#define GN_CLI_SVG_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* From values to pixels. */
typedef struct gn_scale {
    double low, high; /* values, low < high; 0 < low where it is logarithmic */
    double from, to;  /* pixels */
    bool linear;      /* else logarithmic */
} gn_scale;

/* A scale that holds [least, most] with some room below: a bar has a length, however short the
 * time. Both positive. */
gn_scale gn_scale_for(double least, double most, double from, double to);
/* A linear one that holds [least, most], with ends at round numbers. */
gn_scale gn_scale_linear(double least, double most, double from, double to);
double gn_scale_at(const gn_scale *s, double value); /* values outside are moved to the ends */

/* 1, 10, 100, ... of the scale, with 2 and 5 between where it is short; of a linear one about
 * six round numbers. At most `room`; how many. */
int gn_scale_ticks(const gn_scale *s, int room, double *at);

typedef enum gn_unit_of_axis {
    GN_AXIS_TIME, /* microseconds */
    GN_AXIS_BYTES,
    GN_AXIS_COUNT,
} gn_unit_of_axis;
const char *gn_tick_text(gn_arena *a, gn_unit_of_axis unit, double value);

/* label: for those who do not see it */
void gn_svg_begin(FILE *to, double width, double height, const char *label);
/* The same as a document of its own, with a style sheet. */
void gn_svg_begin_alone(FILE *to, double width, double height, const char *label,
                        const char *style);
void gn_svg_end(FILE *to);
void gn_svg_line(FILE *to, const char *class, double x1, double y1, double x2, double y2);
void gn_svg_text(FILE *to, const char *class, double x, double y, const char *text);
void gn_svg_rect(FILE *to, const char *class, double x, double y, double w, double h,
                 const char *title); /* title: NULL */
void gn_svg_dot(FILE *to, const char *class, double x, double y, double r, const char *title);
/* The same as wide as the page lets it be: x and widths in percent of that, y in pixels; text keeps
 * its size. */
void gn_svg_begin_wide(FILE *to, const char *class, double height, const char *label);
void gn_svg_line_wide(FILE *to, const char *class, double x1, double y1, double x2, double y2);
void gn_svg_text_wide(FILE *to, const char *class, double x, double y, const char *text);
void gn_svg_rect_wide(FILE *to, const char *class, double x, double y, double w, double h,
                      const char *title);
void gn_svg_dot_wide(FILE *to, const char *class, double x, double y, double r);

void gn_svg_curve(FILE *to, const char *class, int64_t n, const double *xy); /* [n, 2] pixels */

#endif
