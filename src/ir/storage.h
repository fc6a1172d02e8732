/* How what edges gather from nodes lies in memory: torch's names of types.  The only list.
 *   float32   as it was computed
 *   bfloat16  rounded to 7 bits of mantissa (to nearest, ties to even), half the bytes; sums stay
 *             float32 */
#ifndef GN_IR_STORAGE_H
#define GN_IR_STORAGE_H

#include "base/status.h"

#define GN_STORAGES(X)                                                                             \
    X(FLOAT32, "float32")                                                                          \
    X(BFLOAT16, "bfloat16")

typedef enum gn_storage {
#define X(id, name) GN_STORAGE_##id,
    GN_STORAGES(X)
#undef X
        GN_STORAGE_COUNT
} gn_storage;

extern const char *const gn_storage_name[GN_STORAGE_COUNT];
/* NULL: float32.  GN_ERR_USAGE: no such word; with the nearest. */
GN_NODISCARD gn_status *gn_storage_by_name(const char *name, gn_storage *out);

#endif
