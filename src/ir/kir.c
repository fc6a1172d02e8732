/* The loop IR's tables. */
#include "ir/kir.h"

const kir_op_info kir_ops[KIR_OP_COUNT] = {
    [KIR_INVALID] = {"invalid", 0, KIR_CLASS_STMT, "-:", ""},
#define KOP(id, text, n_in, cls, sig, doc) [KIR_##id] = {text, n_in, KIR_CLASS_##cls, sig, doc},
#include "ir/kir.def"
#undef KOP
};

#define KOP(id, text, n_in, cls, sig, doc)                                                                             \
    _Static_assert(sizeof sig == (n_in) + 3, text ": as many operands in the signature as it says");
#include "ir/kir.def"
#undef KOP

const char *const kir_unit_name[KIR_UNIT_COUNT] = {"serial", "unroll", "vector", "thread", "block", "warp", "lane"};
const char *const kir_race_name[KIR_RACE_COUNT] = {"none", "private", "reduce", "ordered"};
const char *const kir_red_name[KIR_RED_COUNT] = {"sum", "max", "min"};

kir_id kir_thread_loop(const kir_kernel *k)
{
    kir_id last = 0;
    for (kir_id i = k->top; i; i = kir_at(k, i)->next) last = i;
    const kir_inst *in = kir_at(k, last);
    return last && in->op == KIR_FOR && (in->unit == KIR_THREAD || in->unit == KIR_BLOCK) ? last : 0;
}
