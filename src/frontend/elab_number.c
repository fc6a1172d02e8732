/* Arithmetic of numbers at compile time: integers stay integers, and one that does not fit is an
 * error. */
#include "frontend/elab.h"

#include <math.h>

static value overflow(elab *E, gn_span at)
{
    return el_error(E, at, "this does not fit an integer of 64 bits");
}

value el_number_unary(elab *E, gn_span at, gir_op op, value a)
{
    double f = val_number(&a);
    if (a.kind == VAL_INT && (op == GIR_NEG || op == GIR_ABS)) {
        int64_t r = a.u.i;
        if ((op == GIR_NEG || r < 0) && __builtin_sub_overflow((int64_t)0, r, &r))
            return overflow(E, at);
        return val_int(r);
    }
    switch (op) {
    case GIR_NEG: return val_float(-f);
    case GIR_ABS: return val_float(fabs(f));
    case GIR_SIGN:
        return a.kind == VAL_INT ? val_int((f > 0) - (f < 0)) : val_float((f > 0) - (f < 0));
    case GIR_EXP: return val_float(exp(f));
    case GIR_EXPM1: return val_float(expm1(f));
    case GIR_LOG: return val_float(log(f));
    case GIR_LOG1P: return val_float(log1p(f));
    case GIR_SQRT: return val_float(sqrt(f));
    case GIR_RSQRT: return val_float(1 / sqrt(f));
    case GIR_RECIP: return val_float(1 / f);
    case GIR_SIN: return val_float(sin(f));
    case GIR_COS: return val_float(cos(f));
    case GIR_TANH: return val_float(tanh(f));
    case GIR_SIGMOID: return val_float(1 / (1 + exp(-f)));
    case GIR_ERF: return val_float(erf(f));
    case GIR_FLOOR: return a.kind == VAL_INT ? a : val_float(floor(f));
    case GIR_DETACH: return a;
    default: return el_error(E, at, "`%s` is for tensors", gir_ops[op].text);
    }
}

static bool compare(ast_binary op, double a, double b, int64_t i, int64_t j, bool ints, bool *out)
{
    int order = ints ? (i > j) - (i < j) : (a > b) - (a < b);
    bool ordered = ints || (a == a && b == b);
    switch (op) {
    case BIN_LT: *out = ordered && order < 0; return true;
    case BIN_LE: *out = ordered && order <= 0; return true;
    case BIN_GT: *out = ordered && order > 0; return true;
    case BIN_GE: *out = ordered && order >= 0; return true;
    case BIN_EQ: *out = ordered && order == 0; return true;
    case BIN_NE: *out = !(ordered && order == 0); return true;
    default: return false;
    }
}

static bool power(int64_t base, int64_t exponent, int64_t *out)
{
    int64_t r = 1;
    while (exponent) {
        if (exponent & 1 && __builtin_mul_overflow(r, base, &r)) return false;
        exponent >>= 1;
        if (exponent && __builtin_mul_overflow(base, base, &base)) return false;
    }
    *out = r;
    return true;
}

/* Whole numbers round towards minus infinity, so that a == (a // b) * b + a % b with a % b of b's
 * sign. */
static value divide(elab *E, gn_span at, ast_binary op, int64_t a, int64_t b)
{
    if (b == 0) return el_error(E, at, "division by zero");
    if (b == -1) return op == BIN_MOD ? val_int(0) : el_number_unary(E, at, GIR_NEG, val_int(a));
    int64_t q = a / b, r = a % b;
    if (r && (r < 0) != (b < 0)) {
        q--;
        r += b;
    }
    return val_int(op == BIN_MOD ? r : q);
}

static value int_binary(elab *E, gn_span at, ast_binary op, int64_t a, int64_t b)
{
    int64_t r = 0;
    switch (op) {
    case BIN_ADD: return __builtin_add_overflow(a, b, &r) ? overflow(E, at) : val_int(r);
    case BIN_SUB: return __builtin_sub_overflow(a, b, &r) ? overflow(E, at) : val_int(r);
    case BIN_MUL: return __builtin_mul_overflow(a, b, &r) ? overflow(E, at) : val_int(r);
    case BIN_DIV: return b ? val_float((double)a / (double)b) : el_error(E, at, "division by zero");
    case BIN_FLOORDIV:
    case BIN_MOD: return divide(E, at, op, a, b);
    case BIN_POW:
        if (b < 0) return val_float(pow((double)a, (double)b));
        return power(a, b, &r) ? val_int(r) : overflow(E, at);
    default: return el_error(E, at, "`%s` does not take numbers", ast_binary_text[op]);
    }
}

value el_number_binary(elab *E, gn_span at, ast_binary op, value a, value b)
{
    bool ints = a.kind == VAL_INT && b.kind == VAL_INT, truth;
    double f = val_number(&a), g = val_number(&b);
    if (compare(op, f, g, a.u.i, b.u.i, ints, &truth)) return val_bool(truth);
    if (ints) return int_binary(E, at, op, a.u.i, b.u.i);
    switch (op) {
    case BIN_ADD: return val_float(f + g);
    case BIN_SUB: return val_float(f - g);
    case BIN_MUL: return val_float(f * g);
    case BIN_DIV: return g == 0 ? el_error(E, at, "division by zero") : val_float(f / g);
    case BIN_FLOORDIV:
        return g == 0 ? el_error(E, at, "division by zero") : val_float(floor(f / g));
    case BIN_MOD:
        return g == 0 ? el_error(E, at, "division by zero") : val_float(f - g * floor(f / g));
    case BIN_POW: return val_float(pow(f, g));
    default: return el_error(E, at, "`%s` does not take numbers", ast_binary_text[op]);
    }
}
