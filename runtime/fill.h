/* Filling tensors with numbers: constants and reproducible random draws, in any element type. */
#ifndef GN_RUNTIME_FILL_H
#define GN_RUNTIME_FILL_H

#include "base/elem.h"
#include "base/status.h"

#include <stdint.h>

typedef enum gn_fill_kind {
    GN_FILL_ZEROS,
    GN_FILL_ONES,
    GN_FILL_CONSTANT, /* a */
    GN_FILL_UNIFORM,  /* [a, b) */
    GN_FILL_NORMAL,   /* mean a, deviation b */
} gn_fill_kind;

typedef struct gn_fill {
    gn_fill_kind kind;
    double a, b;
} gn_fill;

/* Element i depends on seed, name, kind, a, b and i alone; element types differ by rounding only.
 * GN_ERR_USAGE: random integers, or no number to fill with (a NaN, b < a, a negative deviation). */
GN_NODISCARD gn_status *gn_fill_tensor(gn_fill fill, uint64_t seed, const char *name, gn_elem elem,
                                       int64_t n, void *data);

/* Element i as a double; and the double nearest in the element type (integers: truncated, held to
 * their range). */
double gn_fill_load(const void *data, gn_elem elem, int64_t i);
void gn_fill_store(void *data, gn_elem elem, int64_t i, double value);

#endif
