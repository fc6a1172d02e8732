/* Arrays of files as values of rows.  `what` names the array in errors: "own.npz: paper.x". */
#ifndef GN_RUNTIME_DATA_ARRAY_VALUES_H
#define GN_RUNTIME_DATA_ARRAY_VALUES_H

#include "runtime/data/dataset.h"
#include "runtime/data/ndarray.h"
#include "runtime/data/rows.h"

/* GN_ERR_DATA "what: shape [3, 2]: expected ..." */
gn_status *gn_array_bad_shape(const char *what, const gn_ndarray *a, const char *expected);

/* Finite numbers [rows] or [rows, cols]; the caller frees *out, on failure too. */
GN_NODISCARD gn_status *gn_array_floats(const char *what, const gn_ndarray *a, int64_t rows,
                                        float **out, int64_t *cols);

/* The same with NaN where a number is missing; the caller frees out->v. */
GN_NODISCARD gn_status *gn_array_floats_or_none(const char *what, const gn_ndarray *a, int64_t rows,
                                                gn_float_rows *out);

/* Element, rank, dimensions and data of a column with a row of the array each: whole numbers are
 * I32, truths BOOL, others F32.  `flat`: one number a row, in a vector or a matrix of one column.
 * `floats`: F32 whatever they are, in a matrix.  The caller frees c->data, on failure too. */
GN_NODISCARD gn_status *gn_array_column(const char *what, const gn_ndarray *a, int64_t rows,
                                        bool floats, bool flat, gn_table_column *c);

/* [2, edges]: rows from 0 to rows[0] - 1 in *from, to rows[1] - 1 in *to; of both, the caller frees
 * them, on failure too. */
GN_NODISCARD gn_status *gn_array_ends(const char *what, const gn_ndarray *a, const int64_t rows[2],
                                      int64_t **from, int64_t **to);

/* Marks the rows that a vector, or a matrix of one column, lists. */
GN_NODISCARD gn_status *gn_array_mark(const char *what, const gn_ndarray *a, int64_t rows,
                                      uint8_t *mask);

#endif
