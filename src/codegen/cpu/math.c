/* Elementary functions of f32, as straight-line IR for scalars and vectors of any length.
 *
 * The schemes are the classic ones: reduction by multiples of ln 2 and of pi/2 in parts (Cody and
 * Waite, "Software Manual for the Elementary Functions", 1980), a short polynomial, and the
 * exponent put back by integer arithmetic; log1p's correction term is fdlibm's.  sin and cos are in
 * math_trig.c, pow in math_pow.c.  Coefficients are Chebyshev fits of the functions named beside
 * them, made for this file with mpmath at 40 digits.  tests/unit/test_codegen_math.c measures the
 * errors.  f64 goes to libm, lane by lane. */
#include "codegen/cpu/emit_llvm.h"

#include <stdio.h>
#include <string.h>

#define ADD(p_, q_) LLVMBuildFAdd(c->b, p_, q_, "")
#define SUB(p_, q_) LLVMBuildFSub(c->b, p_, q_, "")
#define MUL(p_, q_) LLVMBuildFMul(c->b, p_, q_, "")
#define DIV(p_, q_) LLVMBuildFDiv(c->b, p_, q_, "")
#define LESS(p_, q_) LLVMBuildFCmp(c->b, LLVMRealOLT, p_, q_, "")
#define CONST(x) cg_const_f(LLVMTypeOf(x_), x)
#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

LLVMValueRef cg_poly(cg *c, LLVMValueRef x, const double *coef, int n)
{
    LLVMValueRef y = cg_const_f(LLVMTypeOf(x), coef[0]);
    for (int i = 1; i < n; i++) y = cg_muladd(c, y, x, cg_const_f(LLVMTypeOf(x), coef[i]));
    return y;
}

LLVMValueRef cg_libm(cg *c, const char *name, gn_elem e, LLVMValueRef *args, unsigned n)
{
    char full[24];
    LLVMTypeRef s = cg_type(c, e), params[] = {s, s}, type = LLVMFunctionType(s, params, n, false);
    snprintf(full, sizeof full, "%s%s", name, e == GN_F32 ? "f" : "");
    LLVMValueRef f = LLVMGetNamedFunction(c->mod, full);
    if (!f) {
        f = LLVMAddFunction(c->mod, full, type);
        /* nobuiltin: or LLVM makes calls of others, pow(0.5, x) of exp2, sin and cos of sincos,
         * that no loader knows. */
        static const char *const attributes[] = {"memory", "nounwind", "nobuiltin"};
        for (int k = 0; k < COUNT(attributes); k++) {
            unsigned kind = LLVMGetEnumAttributeKindForName(attributes[k], strlen(attributes[k]));
            LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
                                    LLVMCreateEnumAttribute(c->ctx, kind, 0));
        }
    }
    int lanes = cg_width(args[0]);
    LLVMValueRef r = LLVMGetPoison(LLVMTypeOf(args[0]));
    for (int l = 0; l < lanes; l++) {
        LLVMValueRef one[2];
        for (unsigned i = 0; i < n; i++) one[i] = cg_extract(c, args[i], l);
        LLVMValueRef y = LLVMBuildCall2(c->b, type, f, one, n, "");
        r = lanes == 1 ? y : LLVMBuildInsertElement(c->b, r, y, cg_i32(c, l), "");
    }
    return r;
}

static LLVMValueRef bits(cg *c, LLVMValueRef x)
{
    return LLVMBuildBitCast(c->b, x, cg_like(c->i32, x), "");
}
static LLVMValueRef from_bits(cg *c, LLVMValueRef x)
{
    return LLVMBuildBitCast(c->b, x, cg_like(c->f32, x), "");
}

/* 2^n for an integer vector n within the normal range */
static LLVMValueRef power_of_two(cg *c, LLVMValueRef n)
{
    LLVMTypeRef t = LLVMTypeOf(n);
    n = LLVMBuildAdd(c->b, n, cg_const_i(t, 127), "");
    return from_bits(c, LLVMBuildShl(c->b, n, cg_const_i(t, 23), ""));
}

/* The bound on the side that keeps a NaN: c < x ? c : x. */
static LLVMValueRef at_most(cg *c, LLVMValueRef x, double top)
{
    LLVMValueRef t = cg_const_f(LLVMTypeOf(x), top);
    return cg_sel(c, LESS(t, x), t, x);
}

static LLVMValueRef at_least(cg *c, LLVMValueRef x, double low)
{
    LLVMValueRef t = cg_const_f(LLVMTypeOf(x), low);
    return cg_sel(c, LESS(x, t), t, x);
}

/* x = k ln 2 + r, |r| <= ln 2 / 2; returns expm1(r) and k, an integer */
static LLVMValueRef reduced_expm1(cg *c, LLVMValueRef x, LLVMValueRef *whole)
{
    static const double p[] = {0.001392620336, 0.008363194882, 0.0416665545, 0.1666657689,
                               0.5}; /* (e^r - 1 - r) / r^2 */
    LLVMValueRef x_ = x, k = cg_unary(c, "llvm.roundeven", MUL(x, CONST(1.4426950408889634)));
    LLVMValueRef r = cg_muladd(c, k, CONST(-0.693145751953125), x);
    r = cg_muladd(c, k, CONST(-1.42860682030941723e-6), r);
    *whole = k;
    LLVMValueRef q = cg_poly(c, r, p, COUNT(p));
    return cg_muladd(c, MUL(r, r), q, r);
}

static LLVMValueRef as_int(cg *c, LLVMValueRef k)
{
    return LLVMBuildFPToSI(c->b, k, cg_like(c->i32, k), "");
}

/* The first n lanes of v, or v and lanes of no value. */
static LLVMValueRef with_lanes(cg *c, LLVMValueRef v, int n)
{
    int map[CG_MAX_LANES], have = cg_width(v);
    if (have == 1)
        return LLVMBuildInsertElement(c->b, LLVMGetPoison(LLVMVectorType(c->f32, (unsigned)n)), v,
                                      cg_i32(c, 0), "");
    for (int l = 0; l < n; l++) map[l] = l < have ? l : 0;
    return cg_shuffle(c, v, NULL, map, n);
}

/* y 2^k, rounded once, with one instruction (AVX-512); NULL where there is none. */
static LLVMValueRef scale_by_power(cg *c, LLVMValueRef y, LLVMValueRef k)
{
    int have = cg_width(y), n = have <= 4 ? 4 : have <= 8 ? 8 : 16;
    if (!c->target->masks || have > 16) return NULL;
    LLVMValueRef a = have == n ? y : with_lanes(c, y, n), b = have == n ? k : with_lanes(c, k, n);
    LLVMTypeRef v = LLVMTypeOf(a), mask = LLVMIntTypeInContext(c->ctx, n == 16 ? 16 : 8);
    LLVMTypeRef params[] = {v, v, v, mask, c->i32},
                type = LLVMFunctionType(v, params, n == 16 ? 5 : 4, false);
    const char *name = n == 16  ? "llvm.x86.avx512.mask.scalef.ps.512"
                       : n == 8 ? "llvm.x86.avx512.mask.scalef.ps.256"
                                : "llvm.x86.avx512.mask.scalef.ps.128";
    LLVMValueRef f = LLVMGetNamedFunction(c->mod, name);
    if (!f) f = LLVMAddFunction(c->mod, name, type);
    LLVMValueRef in[] = {a, b, a, LLVMConstAllOnes(mask), cg_i32(c, 4)}; /* 4: round as usual */
    LLVMValueRef r = LLVMBuildCall2(c->b, type, f, in, n == 16 ? 5 : 4, "");
    if (have == n) return r;
    return have == 1 ? LLVMBuildExtractElement(c->b, r, cg_i32(c, 0), "") : with_lanes(c, r, have);
}

static LLVMValueRef emit_exp(cg *c, LLVMValueRef x_)
{
    LLVMValueRef x = at_least(c, at_most(c, x_, 89.0), -104.0), k;
    LLVMValueRef y = ADD(reduced_expm1(c, x, &k), CONST(1.0)), scaled = scale_by_power(c, y, k);
    if (scaled) return scaled;
    LLVMValueRef n = as_int(c, k);
    /* two steps: 2^n may be subnormal */
    LLVMValueRef half = LLVMBuildAShr(c->b, n, cg_const_i(LLVMTypeOf(n), 1), "");
    y = MUL(y, power_of_two(c, half));
    return MUL(y, power_of_two(c, LLVMBuildSub(c->b, n, half, "")));
}

/* 2^n p + 2^n - 1 by integer arithmetic */
static LLVMValueRef expm1_of_parts(cg *c, LLVMValueRef p, LLVMValueRef n)
{
    LLVMValueRef x_ = p, one = cg_const_i(LLVMTypeOf(n), 1);
    /* 2^(n-1): 2^128 has no f32 */
    LLVMValueRef s = power_of_two(c, LLVMBuildSub(c->b, n, one, ""));
    LLVMValueRef y = cg_muladd(c, s, p, SUB(s, CONST(0.5)));
    y = ADD(y, y);
    return cg_sel(c, LLVMBuildICmp(c->b, LLVMIntEQ, n, LLVMConstNull(LLVMTypeOf(n)), ""), p, y);
}

/* 2^k (p + (1 - 2^-k)), of which 1 - 2^-k is exact from k = -24 to 24; p alone where k is 0. */
static LLVMValueRef emit_expm1(cg *c, LLVMValueRef x_)
{
    LLVMValueRef x = at_least(c, at_most(c, x_, 89.0), -18.0), k;
    LLVMValueRef p = reduced_expm1(c, x, &k), one = CONST(1.0),
                 t = scale_by_power(c, one, LLVMBuildFNeg(c->b, k, ""));
    if (t) return scale_by_power(c, ADD(p, SUB(one, t)), k);
    return expm1_of_parts(c, p, as_int(c, k));
}

/* x = 2^e m with m in [sqrt(1/2), sqrt(2)); x positive and finite. Returns m - 1 and e as a
 * float. */
static LLVMValueRef split(cg *c, LLVMValueRef x_, LLVMValueRef *e)
{
    LLVMValueRef tiny = LESS(x_, CONST(0x1p-126));
    LLVMValueRef x = cg_sel(c, tiny, MUL(x_, CONST(0x1p23)), x_);
    LLVMValueRef b = bits(c, x);
    LLVMTypeRef t = LLVMTypeOf(b);
    /* bits of sqrt(1/2) */
    LLVMValueRef up = LLVMBuildSub(c->b, b, cg_const_i(t, 0x3f3504f3), "");
    LLVMValueRef k = LLVMBuildAShr(c->b, up, cg_const_i(t, 23), "");
    LLVMValueRef m = from_bits(
        c, LLVMBuildSub(c->b, b, LLVMBuildShl(c->b, k, cg_const_i(t, 23), ""), ""));
    LLVMValueRef scaled = cg_sel(c, tiny, CONST(23.0), CONST(0.0));
    *e = SUB(LLVMBuildSIToFP(c->b, k, LLVMTypeOf(x_), ""), scaled);
    return SUB(m, CONST(1.0));
}

/* log(1 + f) + e ln 2 + small, from f - f^2/2 + f^3 q(f) */
static LLVMValueRef log_sum(cg *c, LLVMValueRef x_, LLVMValueRef e, LLVMValueRef small)
{
    static const double q[] = {0.06972518634, -0.1148121206, 0.1168578472,
                               -0.1242552336, 0.1424900724,  -0.1666780713,
                               0.2000071721,  -0.2499999693, 0.3333333117};
    LLVMValueRef f = x_, z = MUL(f, f);
    LLVMValueRef y = cg_poly(c, f, q, COUNT(q));
    y = MUL(MUL(z, f), y);
    y = cg_muladd(c, e, CONST(-2.12194440e-4), y);
    if (small) y = ADD(y, small);
    y = cg_muladd(c, z, CONST(-0.5), y);
    return cg_muladd(c, e, CONST(0.693359375), ADD(f, y));
}

/* What log's argument decides alone: -inf at 0, NaN below, inf and NaN themselves. */
static LLVMValueRef log_edges(cg *c, LLVMValueRef x_, LLVMValueRef y)
{
    LLVMValueRef inf = CONST(__builtin_inf()), zero = LLVMConstNull(LLVMTypeOf(x_));
    /* inf; true for a NaN, which y is already */
    y = cg_sel(c, LLVMBuildFCmp(c->b, LLVMRealULT, x_, inf, ""), y, x_);
    y = cg_sel(c, LLVMBuildFCmp(c->b, LLVMRealOEQ, x_, zero, ""), CONST(-__builtin_inf()), y);
    return cg_sel(c, LLVMBuildFCmp(c->b, LLVMRealUGE, x_, zero, ""), y, CONST(__builtin_nan("")));
}

static LLVMValueRef emit_log(cg *c, LLVMValueRef x)
{
    LLVMValueRef e, f = split(c, x, &e), y = log_sum(c, f, e, NULL);
    y = cg_sel(c, LLVMBuildFCmp(c->b, LLVMRealUNO, x, x, ""), x, y);
    return log_edges(c, x, y);
}

static LLVMValueRef emit_log1p(cg *c, LLVMValueRef x_)
{
    LLVMValueRef x = x_, one = CONST(1.0), u = ADD(x, one), e, f = split(c, u, &e),
                 zero = LLVMConstNull(LLVMTypeOf(x_));
    LLVMValueRef near = LLVMBuildFCmp(c->b, LLVMRealOEQ, e, zero, "");
    /* what 1 + x lost; the larger of the two summands is subtracted first */
    LLVMValueRef big = LESS(one, x);
    LLVMValueRef rest = SUB(u, cg_sel(c, big, x, one)), lost = SUB(cg_sel(c, big, one, x), rest);
    f = cg_sel(c, near, x, f);
    LLVMValueRef y = log_sum(c, f, e, cg_sel(c, near, zero, DIV(lost, u)));
    y = cg_sel(c, LLVMBuildFCmp(c->b, LLVMRealUNO, x, x, ""), x, y);
    y = log_edges(c, u, y);
    return cg_sel(c, LLVMBuildFCmp(c->b, LLVMRealOEQ, x, zero, ""), x, y); /* -0 */
}

static LLVMValueRef copy_sign(cg *c, LLVMValueRef size, LLVMValueRef sign)
{
    return cg_binary(c, "llvm.copysign", size, sign);
}

/* tanh |x| = -t / (t + 2), t = expm1(-2 |x|): no cancellation, no overflow */
static LLVMValueRef emit_tanh(cg *c, LLVMValueRef x_)
{
    LLVMValueRef t = emit_expm1(c, MUL(cg_unary(c, "llvm.fabs", x_), CONST(-2.0)));
    LLVMValueRef y = DIV(t, ADD(t, CONST(2.0)));
    return copy_sign(c, y, x_);
}

static LLVMValueRef emit_erf(cg *c, LLVMValueRef x_)
{
    static const double near[] = {7.875875063e-5, -0.0008016864287, 0.005189087423, -0.02685421201,
                                  0.1128359472,   -0.3761262667,    0.1283791658}; /* erf(x)/x - 1
                                                                                      in x^2, x <= 1
                                                                                    */
    static const double far[] = {1.638637325e-6, -4.608744729e-5, 0.0005970529461, -0.004760747711,
                                 0.02642437093,  -0.1100856803,   -0.6318202468,   -1.130236723,
                                 0.000320914383}; /* log erfc, 1 ..
                                                   * 4
                                                   */
    LLVMValueRef t = cg_unary(c, "llvm.fabs", x_), s = MUL(x_, x_);
    LLVMValueRef low = cg_muladd(c, cg_poly(c, s, near, COUNT(near)), x_, x_);
    LLVMValueRef high = SUB(CONST(1.0),
                            emit_exp(c, cg_poly(c, at_most(c, t, 4.0), far, COUNT(far))));
    high = copy_sign(c, high, x_);
    return cg_sel(c, LESS(CONST(1.0), t), high, low);
}

LLVMValueRef cg_math(cg *c, kir_op op, gn_elem e, LLVMValueRef x)
{
    static const char *const libm[KIR_OP_COUNT] = {
        [KIR_EXP] = "exp", [KIR_EXPM1] = "expm1", [KIR_LOG] = "log",   [KIR_LOG1P] = "log1p",
        [KIR_SIN] = "sin", [KIR_COS] = "cos",     [KIR_TANH] = "tanh", [KIR_ERF] = "erf"};
    if (!libm[op]) {
        cg_fail(c, "%s", kir_ops[op].text);
        return x;
    }
    if (e == GN_F64) return cg_libm(c, libm[op], e, &x, 1);
    switch (op) {
    case KIR_EXP: return emit_exp(c, x);
    case KIR_EXPM1: return emit_expm1(c, x);
    case KIR_LOG: return emit_log(c, x);
    case KIR_LOG1P: return emit_log1p(c, x);
    case KIR_TANH: return emit_tanh(c, x);
    case KIR_ERF: return emit_erf(c, x);
    default: return cg_sincos(c, x, op == KIR_COS);
    }
}
