/* Text files of numbers: a row a line, cut at commas where the line has one, else at blanks.  Lines
 * of nothing do not count. */
#ifndef GN_RUNTIME_DATA_ROWS_H
#define GN_RUNTIME_DATA_ROWS_H

#include "runtime/data/readers.h"

typedef struct gn_int_rows {
    int64_t rows, cols;
    int64_t *v; /* [rows, cols] */
} gn_int_rows;

typedef struct gn_float_rows {
    int64_t rows, cols;
    float *v; /* finite, but for NaN where it is missing */
} gn_float_rows;

/* `cols`: numbers a row; 0: as many as the first has.  Freed by the caller: v.  GN_ERR_DATA with
 * the line, GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_rows_ints(const gn_input *f, int64_t cols, gn_int_rows *out);
GN_NODISCARD gn_status *gn_rows_floats(const gn_input *f, int64_t cols, gn_float_rows *out);
/* Empty fields and `nan` are missing numbers; each comma has a field behind it. */
GN_NODISCARD gn_status *gn_rows_floats_or_none(const gn_input *f, gn_float_rows *out);

/* The line that row `row` stands in, for messages. */
int64_t gn_rows_line(const gn_input *f, int64_t row);

/* GN_ERR_DATA "file:line: ..." of a row. */
gn_status *gn_rows_error(const char *file, int at, const gn_input *f, int64_t row, const char *fmt,
                         ...) GN_PRINTF(5, 6);
#define GN_ROW_FAIL(f, row, ...) return gn_rows_error(__FILE__, __LINE__, (f), (row), __VA_ARGS__)

#endif
