/* by_rows: which values can be had of some rows alone, and which take long. */
#include "passes/passes.h"

bool gn_is_by_rows(const gir_program *p, gir_id v)
{
    const gir_node *n = gir_at(p, v);
    switch (gir_ops[n->op].cls) {
    case GIR_CLASS_MAP:
    case GIR_CLASS_REDUCE:
    case GIR_CLASS_RANDOM: return true;
    case GIR_CLASS_VIEW: return n->op != GIR_TO_ROWS && n->op != GIR_FROM_ROWS;
    case GIR_CLASS_DENSE: return n->type.space != 0;
    default: return n->op == GIR_CONST || n->op == GIR_IOTA;
    }
}

bool gn_is_made_up(const gir_program *p, gir_id v)
{
    const gir_node *n = gir_at(p, v);
    if (n->op == GIR_BROADCAST) return gir_type_of(p, gir_in(p, v, 0))->space == 0;
    return n->op == GIR_CONST || n->op == GIR_IOTA || n->op == GIR_RANDOM;
}

bool gn_is_function(gir_op op)
{
    switch (op) {
    case GIR_DIV:
    case GIR_RECIP:
    case GIR_SQRT:
    case GIR_RSQRT:
    case GIR_POW:
    case GIR_EXP:
    case GIR_EXPM1:
    case GIR_LOG:
    case GIR_LOG1P:
    case GIR_SIN:
    case GIR_COS:
    case GIR_TANH:
    case GIR_SIGMOID:
    case GIR_ERF: return true;
    default: return false;
    }
}
