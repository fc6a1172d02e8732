/* Algebra on integers and bools that looks at two operands and no further. */
#ifndef GN_IR_KIR_FOLD_H
#define GN_IR_KIR_FOLD_H

#include "ir/kir.h"

typedef enum kir_fold_kind {
    KIR_FOLD_NOTHING, /* op(a, b) stays, with a and b possibly exchanged */
    KIR_FOLD_VALUE,   /* it is the value a */
    KIR_FOLD_INT,     /* it is the i64 imm */
    KIR_FOLD_BOOL,    /* it is the bool imm */
    KIR_FOLD_IMM,     /* it is op(a, the i64 imm), another op on another value */
} kir_fold_kind;

typedef struct kir_fold {
    kir_fold_kind kind;
    kir_op op;
    kir_id a, b;
    int64_t imm;
} kir_fold;

/* Two integers or bools. Constants that stay come second. */
kir_fold kir_fold_bin(const kir_kernel *k, kir_op op, kir_id a, kir_id b);

/* an i64 CONST; value may be NULL */
bool kir_is_iconst(const kir_kernel *k, kir_id v, int64_t *value);
bool kir_is_bconst(const kir_kernel *k, kir_id v, bool *value);

#endif
