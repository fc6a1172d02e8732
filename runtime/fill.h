/* Filling tensors with numbers: constants and reproducible random draws, in any element type. */
#ifndef GN_RUNTIME_FILL_H
#define GN_RUNTIME_FILL_H

#include "base/elem.h"
#include "base/status.h"

#include <stdint.h>

typedef enum gn_fill_kind {
    GN_FILL_ZEROS,
    GN_FILL_ONES,
    GN_FILL_CONSTANT,     /* a */
    GN_FILL_UNIFORM,      /* [a, b) */
    GN_FILL_NORMAL,       /* mean a, deviation b */
    GN_FILL_TRUNC_NORMAL, /* the same, of what lies in [low, high] */
    GN_FILL_LIST,         /* `list`, as it lies in memory */
    /* matrices [rows, rest]: */
    GN_FILL_EYE,        /* 1 on the diagonal */
    GN_FILL_ORTHOGONAL, /* a times orthonormal rows, or columns where those are fewer */
    GN_FILL_SPARSE,     /* normal with deviation b; of each column the part a is 0 */
} gn_fill_kind;

typedef struct gn_fill {
    gn_fill_kind kind;
    double a, b, low, high;
    int64_t rows; /* of a matrix */
    /* 0: it lies row by row; else it lies in memory as [turned, rest], each of whose columns is a
     * row of the matrix [rest, turned]. */
    int64_t turned;
    const float *list; /* [n] */
} gn_fill;

/* Element i depends on seed, name, kind, a, b and i alone, of matrices on their shape as well;
 * element types differ by rounding only.  GN_ERR_USAGE: random integers, or no number to fill with
 * (a NaN, b < a, a negative deviation).  GN_ERR_NOMEM: a matrix. */
GN_NODISCARD gn_status *gn_fill_tensor(gn_fill fill, uint64_t seed, const char *name, gn_elem elem,
                                       int64_t n, void *data);

/* fill_matrix.c: what a matrix of `n` elements is made of, [n] row by row; `normal` draws element
 * i. */
typedef struct gn_draws {
    uint32_t key, site;
} gn_draws;
double gn_draw_normal(const gn_draws *d, uint64_t i);
GN_NODISCARD gn_status *gn_fill_matrix(const gn_fill *f, const gn_draws *d, int64_t n, double *to);

/* Element i as a double; and the double nearest in the element type (integers: truncated, held to
 * their range). */
double gn_fill_load(const void *data, gn_elem elem, int64_t i);
void gn_fill_store(void *data, gn_elem elem, int64_t i, double value);

#endif
