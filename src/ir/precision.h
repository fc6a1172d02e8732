/* Words for what may be rounded: the only lists of them.
 *
 * How exact products of float32 matrices are, in the words of torch.set_float32_matmul_precision:
 *   highest  float32 throughout
 *   high     operands may be rounded to TF32 (10 bits of mantissa) where a machine multiplies those
 *            faster; sums stay float32
 *   medium   the same to BF16 (7 bits), and where a machine has no such products as high
 *
 * How what a loop leaves for others lies in memory, in torch's names of types:
 *   float32   as it was computed
 *   bfloat16  rounded to 7 bits of mantissa (to nearest, ties to even), half the bytes
 *   float16   rounded to 10, up to 65,504; what may be beyond that as bfloat16
 *
 * What a program computes with:
 *   float32    that
 *   float64    that; data are float32, and results are rounded to it in the end
 *   mixed      float32, of which what is kept lies as bfloat16; products `medium`
 *   mixed-f16  the same as float16; the loss is scaled (passes/train.c) */
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

#define GN_STORAGES(X)                                                                             \
    X(FLOAT32, "float32")                                                                          \
    X(BFLOAT16, "bfloat16")                                                                        \
    X(FLOAT16, "float16")

typedef enum gn_storage {
#define X(id, name) GN_STORAGE_##id,
    GN_STORAGES(X)
#undef X
        GN_STORAGE_COUNT
} gn_storage;

extern const char *const gn_storage_name[GN_STORAGE_COUNT];
/* NULL: float32.  GN_ERR_USAGE: no such word; with the nearest. */
GN_NODISCARD gn_status *gn_storage_by_name(const char *name, gn_storage *out);

#define GN_NUMBERS(X)                                                                              \
    X(FLOAT32, "float32", GN_STORAGE_FLOAT32, GN_PRECISION_HIGHEST)                                \
    X(FLOAT64, "float64", GN_STORAGE_FLOAT32, GN_PRECISION_HIGHEST)                                \
    X(MIXED, "mixed", GN_STORAGE_BFLOAT16, GN_PRECISION_MEDIUM)                                    \
    X(MIXED_F16, "mixed-f16", GN_STORAGE_FLOAT16, GN_PRECISION_HIGHEST)

typedef enum gn_numbers {
#define X(id, name, kept, products) GN_NUMBERS_##id,
    GN_NUMBERS(X)
#undef X
        GN_NUMBERS_COUNT
} gn_numbers;

extern const char *const gn_numbers_name[GN_NUMBERS_COUNT];
extern const gn_storage gn_numbers_kept[GN_NUMBERS_COUNT];
/* Of products, where nothing else was said of them. */
extern const gn_precision gn_numbers_products[GN_NUMBERS_COUNT];
/* NULL: float32.  GN_ERR_USAGE: no such word; with the nearest. */
GN_NODISCARD gn_status *gn_numbers_by_name(const char *name, gn_numbers *out);

#endif
