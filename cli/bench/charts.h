/* Charts: what the page shows of the results, as HTML with SVG in it.  They take rows (rows.h). */
#ifndef GN_CLI_BENCH_CHARTS_H
#define GN_CLI_BENCH_CHARTS_H

#include "cli/bench/bench.h"

typedef enum gn_chart_of {
    GN_CHART_STEP,
    GN_CHART_INFER,
    GN_CHART_COMPILE,
    GN_CHART_MEMORY,
    GN_CHART_STEP_SAMPLES, /* every sample as a dot, the middle half as a box, the median as a line
                            */
    GN_CHART_INFER_SAMPLES,
} gn_chart_of;

typedef struct gn_chart {
    gn_chart_of what;
    const char *model; /* of it alone; NULL: of all */
    bool no_eager;     /* what eager takes is left out: it is many times the others */
} gn_chart;

/* Bars or samples, a group of them for each dataset and number of threads, names and figures above
 * them; what did not end well is named in its bar's place.  The axis says its unit, and whether it
 * begins at 0 or is logarithmic.  Draws nothing, and returns false, where no row has the figure. */
bool gn_draw_chart(gn_bench *b, FILE *to, const gn_chart *c);

/* Does eager take more than twice what the fastest other one takes, so that a chart without it
 * shows more? */
bool gn_eager_hides(const gn_bench *b, const char *model, bool infer);

/* Time in all against steps, both logarithmic: compilation is where a line begins, break-even where
 * it meets the line of the baseline's steps alone.  A chart for each model, dataset and number of
 * threads, at most GN_COST_CHARTS. */
enum { GN_COST_CHARTS = 24 };
bool gn_draw_costs(gn_bench *b, FILE *to);

/* The same and a dash, which tells settings of dynamic shapes apart. */
const char *gn_curve_class(const gn_bench *b, const gn_cell *c);
const char *gn_mode_class(const char *mode); /* of the style sheet: the same colour in every chart
                                              */

#endif
