/* Across: one mode and setting for many datasets, numbers of threads and models. */
#ifndef GN_CLI_BENCH_ACROSS_H
#define GN_CLI_BENCH_ACROSS_H

#include "cli/bench/bench.h"

typedef struct gn_across {
    const char *name; /* "default", with its setting where there are several */
    double mean;      /* of its times over the fastest's, geometric */
    double worst;     /* of those */
    int best, of;     /* comparisons in which it is the fastest or as fast; all of them */
    int there;        /* in which it was timed */
} gn_across;

/* Of what was timed in most comparisons the one with the least mean; of those within noise of it
 * the mode that does least.  model: of it alone; NULL: of all.  false: nothing was timed. */
bool gn_find_across(const gn_bench *rows, const char *model, bool infer, gn_across *out);

#endif
