/* lower_map: an elementwise operator of the tensor IR, of operands that are there, as
 * instructions. */
#include "lower/lower_impl.h"

static kir_id un(lower *L, kir_op op, kir_id a) { return kir_un(L->k, low_at(L), op, a); }
static kir_id bin(lower *L, kir_op op, kir_id a, kir_id b)
{
    return kir_bin(L->k, low_at(L), op, a, b);
}

static kir_id sigmoid(lower *L, gn_elem e, kir_id a)
{
    kir_id one = low_fconst(L, e, 1), zero = low_fconst(L, e, 0);
    kir_id s = un(L, KIR_EXP, un(L, KIR_FNEG, un(L, KIR_FABS, a))); /* e^-|a|: never overflows */
    kir_id up = bin(L, KIR_FDIV, one, bin(L, KIR_FADD, one, s));
    kir_id down = bin(L, KIR_FMUL, s, up);
    return kir_select(L->k, low_at(L), bin(L, KIR_FLE, zero, a), up, down);
}

static kir_id float_unary(lower *L, gir_id v, gir_op op, gn_elem e, kir_id a)
{
    kir_id one = low_fconst(L, e, 1), zero = low_fconst(L, e, 0);
    switch (op) {
    case GIR_NEG: return un(L, KIR_FNEG, a);
    case GIR_ABS: return un(L, KIR_FABS, a);
    case GIR_SIGN: {
        kir_id minus = kir_select(L->k, low_at(L), bin(L, KIR_FLT, a, zero), low_fconst(L, e, -1),
                                  zero);
        return kir_select(L->k, low_at(L), bin(L, KIR_FLT, zero, a), one, minus);
    }
    case GIR_EXP: return un(L, KIR_EXP, a);
    case GIR_EXPM1: return un(L, KIR_EXPM1, a);
    case GIR_LOG: return un(L, KIR_LOG, a);
    case GIR_LOG1P: return un(L, KIR_LOG1P, a);
    case GIR_SQRT: return un(L, KIR_SQRT, a);
    case GIR_RSQRT: return bin(L, KIR_FDIV, one, un(L, KIR_SQRT, a));
    case GIR_RECIP: return bin(L, KIR_FDIV, one, a);
    case GIR_SIN: return un(L, KIR_SIN, a);
    case GIR_COS: return un(L, KIR_COS, a);
    case GIR_TANH: return un(L, KIR_TANH, a);
    case GIR_SIGMOID: return sigmoid(L, e, a);
    case GIR_ERF: return un(L, KIR_ERF, a);
    case GIR_FLOOR: return un(L, KIR_FLOOR, a);
    case GIR_DETACH: return a;
    default: break;
    }
    low_fail(L, v, "'%s' of a float cannot be lowered", gir_ops[op].text);
    return a;
}

static kir_id int_unary(lower *L, gir_id v, gir_op op, kir_id a)
{
    kir_id zero = low_iconst(L, 0);
    switch (op) {
    case GIR_NEG: return low_int(L, KIR_ISUB, zero, a);
    case GIR_ABS: return low_int(L, KIR_IMAX, a, low_int(L, KIR_ISUB, zero, a));
    case GIR_SIGN:
        return low_int(L, KIR_IMAX, low_iconst(L, -1), low_int(L, KIR_IMIN, low_iconst(L, 1), a));
    case GIR_FLOOR:
    case GIR_DETACH: return a;
    default: break;
    }
    low_fail(L, v, "'%s' of an integer cannot be lowered", gir_ops[op].text);
    return a;
}

static kir_id compare(lower *L, gir_op op, bool fl, kir_id a, kir_id b)
{
    kir_op lt = fl ? KIR_FLT : KIR_ILT, le = fl ? KIR_FLE : KIR_ILE, eq = fl ? KIR_FEQ : KIR_IEQ;
    switch (op) {
    case GIR_LT: return bin(L, lt, a, b);
    case GIR_LE: return bin(L, le, a, b);
    case GIR_GT: return bin(L, lt, b, a);
    case GIR_GE: return bin(L, le, b, a);
    case GIR_NLE: return un(L, KIR_NOT, bin(L, le, a, b));
    case GIR_EQ: return bin(L, eq, a, b);
    default: return un(L, KIR_NOT, bin(L, eq, a, b));
    }
}

static kir_id binary(lower *L, gir_id v, gir_op op, gn_elem e, kir_id a, kir_id b)
{
    static const struct {
        gir_op op;
        kir_op f, i;
    } table[] = {
        {GIR_ADD, KIR_FADD, KIR_IADD},    {GIR_SUB, KIR_FSUB, KIR_ISUB},
        {GIR_MUL, KIR_FMUL, KIR_IMUL},    {GIR_DIV, KIR_FDIV, KIR_INVALID},
        {GIR_POW, KIR_FPOW, KIR_INVALID}, {GIR_MAX, KIR_FMAX, KIR_IMAX},
        {GIR_MIN, KIR_FMIN, KIR_IMIN},
    };
    if (op >= GIR_LT && op <= GIR_NE) {
        if (e == GN_BOOL) {
            a = kir_cast(L->k, low_at(L), a, GN_I64);
            b = kir_cast(L->k, low_at(L), b, GN_I64);
        }
        return compare(L, op, gn_elem_is_float(e), a, b);
    }
    if (op == GIR_AND) return bin(L, KIR_AND, a, b);
    if (op == GIR_OR) return bin(L, KIR_OR, a, b);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].op != op) continue;
        if (gn_elem_is_float(e)) return bin(L, table[i].f, a, b);
        if (table[i].i != KIR_INVALID && e == GN_I64) return low_int(L, table[i].i, a, b);
    }
    low_fail(L, v, "'%s' of %s cannot be lowered", gir_ops[op].text, gn_elem_name(e));
    return a;
}

/* Is the select v a relu that keeps a NaN: x where that is not at most 0? */
static bool keeps_nan(const gir_program *p, gir_id v)
{
    gir_id cond = gir_in(p, v, 0);
    return gir_at(p, cond)->op == GIR_NLE && gir_in(p, cond, 0) == gir_in(p, v, 1) &&
           gir_is_zero(p, gir_in(p, cond, 1)) && gir_is_zero(p, gir_in(p, v, 2));
}

/* x < 0 ? 0 : x for a relu is one instruction of x86, a maximum, where x <= 0 ? 0 : x is two.  Of
 * -0 it makes -0. */
static kir_id low_select(lower *L, gir_id v, bool fl, const kir_id *a)
{
    if (!fl || !keeps_nan(L->p, v)) return kir_select(L->k, low_at(L), a[0], a[1], a[2]);
    return kir_select(L->k, low_at(L), compare(L, GIR_LT, true, a[1], a[2]), a[2], a[1]);
}

kir_id low_map(lower *L, gir_id v, const kir_id *a)
{
    const gir_node *n = gir_at(L->p, v);
    gir_op op = (gir_op)n->op;
    gn_elem e = low_elem((gn_elem)gir_type_of(L->p, gir_in(L->p, v, 0))->elem);
    switch (op) {
    case GIR_CAST: {
        gn_elem to = (gn_elem)n->type.elem;
        kir_id r = kir_cast(L->k, low_at(L), a[0], low_elem(to));
        return r;
    }
    case GIR_NOT: return un(L, KIR_NOT, a[0]);
    case GIR_SELECT: return low_select(L, v, gn_elem_is_float((gn_elem)n->type.elem), a);
    case GIR_RNG_KEY: return kir_rngkey(L->k, low_at(L), a[0], a[1]);
    default: break;
    }
    if (n->n_in == 2) return binary(L, v, op, e, a[0], a[1]);
    if (op == GIR_DETACH) return a[0];
    return gn_elem_is_float(e) ? float_unary(L, v, op, e, a[0]) : int_unary(L, v, op, a[0]);
}
