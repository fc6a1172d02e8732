/* The loop IR's tables. */
#include "ir/kir.h"

const kir_op_info kir_ops[KIR_OP_COUNT] = {
    [KIR_INVALID] = {"invalid", 0, KIR_CLASS_STMT, "-:", ""},
#define KOP(id, text, n_in, cls, sig, doc) [KIR_##id] = {text, n_in, KIR_CLASS_##cls, sig, doc},
#include "ir/kir.def"
#undef KOP
};

#define KOP(id, text, n_in, cls, sig, doc)                                                         \
    _Static_assert(sizeof sig == (n_in) + 3, text ": as many operands in the signature as it "     \
                                                  "says");
#include "ir/kir.def"
#undef KOP

bool kir_is_function(kir_op op)
{
    switch (op) {
    case KIR_EXP:
    case KIR_EXPM1:
    case KIR_LOG:
    case KIR_LOG1P:
    case KIR_SIN:
    case KIR_COS:
    case KIR_TANH:
    case KIR_ERF: return true;
    default: return false;
    }
}

const char *const kir_unit_name[KIR_UNIT_COUNT] = {"serial", "unroll", "vector", "thread",
                                                   "block",  "warp",   "lane"};
const char *const kir_race_name[KIR_RACE_COUNT] = {"none", "private", "reduce", "ordered"};
const char *const kir_red_name[KIR_RED_COUNT] = {"sum", "max", "min"};

const kir_kind_info kir_kinds[KIR_KIND_COUNT] = {
#define X(id, text, rows, cols, depth, elem) {text, rows, cols, depth, elem},
    KIR_KINDS(X)
#undef X
};

enum { STRIDE_BITS = 12 };
_Static_assert(KIR_MAX_STRIDE == (1 << STRIDE_BITS) - 1 && KIR_KIND_COUNT <= 8,
               "five strides and a kind fill 63 bits");

int64_t kir_mma_pack(const kir_mma *m)
{
    const int stride[] = {m->lane, m->left_row, m->left_term, m->right_col, m->right_term};
    int64_t imm = (int64_t)m->kind;
    for (int k = 0; k < 5; k++) imm = imm << STRIDE_BITS | (stride[k] & KIR_MAX_STRIDE);
    return imm;
}

kir_mma kir_mma_of(int64_t imm)
{
    int stride[5];
    uint64_t bits = (uint64_t)imm;
    for (int k = 5; k-- > 0; bits >>= STRIDE_BITS) stride[k] = (int)(bits & KIR_MAX_STRIDE);
    return (kir_mma){(kir_kind)bits, stride[0], stride[1], stride[2], stride[3], stride[4]};
}

int64_t kir_mma_place(const kir_mma *m, int row, int col)
{
    return (int64_t)(4 * (row % 8) + col / 2) * m->lane + 2 * (row / 8) + col % 2;
}

kir_id kir_thread_loop(const kir_kernel *k)
{
    kir_id last = 0;
    for (kir_id i = k->top; i; i = kir_at(k, i)->next) last = i;
    const kir_inst *in = kir_at(k, last);
    return last && in->op == KIR_FOR && (in->unit == KIR_THREAD || in->unit == KIR_BLOCK) ? last
                                                                                          : 0;
}
