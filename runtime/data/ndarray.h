/* A numpy array as a file holds it: numbers of some type and byte order, in C or Fortran order.
 * Pickles and .npy files both come to this; consumers read elements through the accessors and never
 * cast the data. */
#ifndef GN_RUNTIME_DATA_NDARRAY_H
#define GN_RUNTIME_DATA_NDARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GN_NDARRAY_RANK = 8 };

typedef struct gn_ndarray {
    char kind;    /* 'b' bool, 'i', 'u', 'f'; 0 before gn_ndarray_dtype */
    uint8_t size; /* bytes an element */
    bool swap;    /* byte order is not the machine's */
    bool fortran; /* column-major */
    int rank;
    int64_t dim[GN_NDARRAY_RANK];
    int64_t count; /* product of dim */
    const unsigned char *data;
    void *owned; /* data's allocation, or NULL where it points into something else */
} gn_ndarray;

/* "<f4", "|b1", "i8"; false for a type that is not a plain number. */
bool gn_ndarray_dtype(gn_ndarray *a, const char *descr, size_t n);
bool gn_ndarray_order(gn_ndarray *a, char order); /* '<' '>' '|' '='; false for another */

/* Sets rank, dim, count; false when a dimension is negative, the rank too large, or the bytes
 * overflow. */
bool gn_ndarray_shape(gn_ndarray *a, int rank, const int64_t *dim);

/* Element by logical (row-major) index, 0 <= i < count. */
double gn_ndarray_f64(const gn_ndarray *a, int64_t i);
/* false: not an integer that fits */
bool gn_ndarray_i64(const gn_ndarray *a, int64_t i, int64_t *out);

void gn_ndarray_free(gn_ndarray *a);

#endif
