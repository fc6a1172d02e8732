/* Output: the files of a report, put in their places when all of them are written. */
#ifndef GN_CLI_BENCH_OUTPUT_H
#define GN_CLI_BENCH_OUTPUT_H

#include "cli/bench/bench.h"

/* Is there a report, or a part of one, in the folder? */
bool gn_bench_has_results(gn_arena *a, const char *out);

/* Writes every file beside its place first; an error leaves those that were there. GN_ERR_IO. */
GN_NODISCARD gn_status *gn_bench_write(gn_bench *b);

/* workbook.c: an .xlsx with a sheet a question.  GN_ERR_IO; GN_ERR_BACKEND where gnnc was built
 * without libxlsxwriter. */
GN_NODISCARD gn_status *gn_write_workbook(gn_bench *b, const char *path);
bool gn_has_workbook(void);
const char *gn_workbook_missing(void); /* why there is none; NULL: there is one */

#endif
