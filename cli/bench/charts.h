/* Charts: what the page shows of the results, as SVG. */
#ifndef GN_CLI_BENCH_CHARTS_H
#define GN_CLI_BENCH_CHARTS_H

#include "cli/bench/bench.h"

/* Bars on a logarithmic axis, a group of them for each dataset and number of threads; what did not
 * end well is named in its bar's place.  Each draws nothing, and returns false, where no cell has
 * its figure. */
typedef enum gn_bar_chart {
    GN_BARS_STEP,
    GN_BARS_INFER,
    GN_BARS_COMPILE,
    GN_BARS_MEMORY
} gn_bar_chart;
bool gn_draw_bars(gn_bench *b, FILE *to, gn_bar_chart what);

/* Every sample as a dot, the middle half as a box, the median as a line. */
bool gn_draw_samples(gn_bench *b, FILE *to, bool infer);

/* Time in all against steps, both logarithmic: compilation is where a line begins, break-even where
 * it meets the line of the baseline's steps alone.  A chart for each dataset and number of threads,
 * at most GN_COST_CHARTS. */
enum { GN_COST_CHARTS = 24 };
bool gn_draw_costs(gn_bench *b, FILE *to);

const char *gn_mode_class(const char *mode); /* of the style sheet: the same colour in every chart
                                              */

#endif
