/* How exact products of float32 matrices are: the words of torch.set_float32_matmul_precision.  The
 * only list.
 *   highest  float32 throughout
 *   high     operands may be rounded to TF32 (10 bits of mantissa) where a machine multiplies those
 *            faster; sums stay float32
 *   medium   the same to BF16 (7 bits), and where a machine has no such products as high */
#ifndef GN_IR_PRECISION_H
#define GN_IR_PRECISION_H

#include "base/status.h"

#define GN_PRECISIONS(X)                                                                           \
    X(HIGHEST, "highest")                                                                          \
    X(HIGH, "high")                                                                                \
    X(MEDIUM, "medium")

typedef enum gn_precision {
#define X(id, name) GN_PRECISION_##id,
    GN_PRECISIONS(X)
#undef X
        GN_PRECISION_COUNT
} gn_precision;

extern const char *const gn_precision_name[GN_PRECISION_COUNT];
/* NULL: highest.  GN_ERR_USAGE: no such word; with the nearest. */
GN_NODISCARD gn_status *gn_precision_by_name(const char *name, gn_precision *out);

#endif
