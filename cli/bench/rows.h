/* Rows: what reports show of the cells.  Those of one model on one dataset with as many threads
 * that run the same program are one row: its times are of all their samples, all else is of the
 * first one that it names. */
#ifndef GN_CLI_BENCH_ROWS_H
#define GN_CLI_BENCH_ROWS_H

#include "cli/bench/bench.h"

/* The same bench with rows for cells, compared with each other; made once, until the cells are
 * compared again.  Of rows it gives the rows of the cells that those are of. */
gn_bench *gn_bench_rows(gn_bench *b, gn_apart apart);

/* Says of each cell which row it is part of, as people read it. */
void gn_bench_group(gn_bench *b);

/* Is it, or does it stand for, a cell of this mode and setting of dynamic shapes?  NULL: any. */
bool gn_cell_covers(const gn_cell *c, const char *mode, const char *dynamic);

/* "default = reduce-overhead", and " (dynamic=true)" where there are several settings. */
const char *gn_cell_variant(const gn_bench *b, const gn_cell *c);
/* The one of them that does least: "default". */
const char *gn_cell_lead(const gn_bench *b, const gn_cell *c);
/* All of them, for who has not read what eager is. */
const char *gn_cell_label(const gn_bench *b, const gn_cell *c);
/* Of it the modes alone, and the settings of dynamic shapes; where not every mode has every
 * setting, all is said by the modes. */
const char *gn_cell_modes(const gn_bench *b, const gn_cell *c);
const char *gn_cell_dynamics(const gn_bench *b, const gn_cell *c);

#define GN_EAGER_LABEL "gnnc's eager mode: operator by operator"
#define GN_EAGER_SHORT "gnnc's eager"
#define GN_EAGER_SENTENCE                                                                          \
    "eager is gnnc's own mode: operator by operator, a kernel each. It is not PyTorch's."

#endif
