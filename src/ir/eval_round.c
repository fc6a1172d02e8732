/* Evaluator: element types, their roundings and how far those carry. */
#include "ir/eval_impl.h"

#include <math.h>

/* Significant bits, least exponent of a normal number, greatest exponent. */
static void float_format(gn_elem e, int *bits, int *low, int *high)
{
    switch (e) {
    case GN_F32: *bits = 24, *low = -126, *high = 127; break;
    case GN_BF16: *bits = 8, *low = -126, *high = 127; break;
    case GN_F16: *bits = 11, *low = -14, *high = 15; break;
    default: *bits = 53, *low = -1022, *high = 1023; break;
    }
}

static double round_float(gn_elem e, double x)
{
    if (e == GN_F64 || x == 0 || !isfinite(x)) return x;
    int bits, low, high, exponent;
    float_format(e, &bits, &low, &high);
    frexp(x, &exponent); /* |x| = m * 2^exponent, m in [0.5, 1) */
    if (exponent - 1 < low) exponent = low + 1;
    double y = ldexp(rint(ldexp(x, bits - exponent)), exponent - bits);
    return fabs(y) >= ldexp(1, high + 1) ? copysign(INFINITY, x) : y;
}

int64_t gir_to_i64(double x)
{
    if (isnan(x)) return 0;
    if (x >= 0x1p63) return INT64_MAX;
    if (x <= -0x1p63) return INT64_MIN;
    return (int64_t)x;
}

double gir_round(gn_elem e, double x)
{
    int64_t i = gn_elem_is_float(e) ? 0 : gir_to_i64(x);
    switch (e) {
    case GN_I64: return x >= 0x1p63 || x <= -0x1p63 || isnan(x) ? (double)i : trunc(x);
    case GN_I32: return (double)(int32_t)(uint32_t)(uint64_t)i;
    case GN_U32: return (double)(uint32_t)(uint64_t)i;
    case GN_U8: return (double)(uint8_t)(uint64_t)i;
    case GN_BOOL: return x != 0;
    default: return round_float(e, x);
    }
}

double gir_unit(gn_elem e)
{
    int bits, low, high;
    if (!gn_elem_is_float(e)) return 0;
    float_format(e, &bits, &low, &high);
    return ldexp(1, -bits);
}

double gir_tiny(gn_elem e)
{
    int bits, low, high;
    if (!gn_elem_is_float(e)) return 0;
    float_format(e, &bits, &low, &high);
    return ldexp(1, low);
}

double gir_unit_both(const gir_eval_t *e, gn_elem elem)
{
    if (!gn_elem_is_float(elem)) return 0;
    return gir_unit(elem) + 0x1p-53 + (e->env->precision == GIR_EVAL_ELEM ? gir_unit(elem) : 0);
}

static double gamma_n(double unit, int64_t n)
{
    double nu = (double)n * unit;
    return nu < 0.5 ? nu / (1 - nu) : INFINITY;
}

double gir_gamma_both(const gir_eval_t *e, gn_elem elem, int64_t n)
{
    if (!gn_elem_is_float(elem) || n <= 0) return 0;
    double own = gamma_n(0x1p-53, n) + (e->env->precision == GIR_EVAL_ELEM ? gir_unit(elem) : 0);
    return gamma_n(gir_unit(elem), n) + own;
}
