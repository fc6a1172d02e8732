/* pow of f32, computed in f64: log of the magnitude, times y, exp.  A series for each is enough,
 * since f64 has 29 bits more than the result: 2 atanh(s) with s = (m - 1) / (m + 1) for log m,
 * Taylor's for e^r. */
#include "codegen/cpu/emit_llvm.h"

#define CONST(x) cg_const_f(td, x)
#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

static LLVMValueRef as(cg *c, LLVMValueRef x, LLVMTypeRef scalar)
{
    return LLVMBuildBitCast(c->b, x, cg_like(scalar, x), "");
}

/* log of a positive finite f64 that is not subnormal (an f32 widened never is) */
static LLVMValueRef log64(cg *c, LLVMValueRef x)
{
    static const double series[] = {1 / 17.0, 1 / 15.0, 1 / 13.0, 1 / 11.0, 1 / 9.0,
                                    1 / 7.0,  1 / 5.0,  1 / 3.0,  1.0};
    LLVMTypeRef td = LLVMTypeOf(x);
    LLVMValueRef b = as(c, x, c->i64);
    LLVMTypeRef ti = LLVMTypeOf(b);
    LLVMValueRef up = LLVMBuildSub(c->b, b, cg_const_i(ti, 0x3fe6a09e667f3bcdll), "");
    LLVMValueRef high = LLVMBuildTrunc(c->b, LLVMBuildLShr(c->b, up, cg_const_i(ti, 32), ""),
                                       cg_like(c->i32, x), "");
    LLVMValueRef k = LLVMBuildAShr(c->b, high, cg_const_i(LLVMTypeOf(high), 20), "");
    LLVMValueRef wide = LLVMBuildShl(c->b, LLVMBuildSExt(c->b, k, ti, ""), cg_const_i(ti, 52), "");
    LLVMValueRef m = as(c, LLVMBuildSub(c->b, b, wide, ""), c->f64), one = CONST(1.0);
    LLVMValueRef sum = LLVMBuildFAdd(c->b, m, one, "");
    LLVMValueRef s = LLVMBuildFDiv(c->b, LLVMBuildFSub(c->b, m, one, ""), sum, "");
    LLVMValueRef z = LLVMBuildFMul(c->b, s, s, "");
    LLVMValueRef l = cg_poly(c, z, series, COUNT(series));
    l = LLVMBuildFMul(c->b, LLVMBuildFAdd(c->b, s, s, ""), l, "");
    return cg_muladd(c, LLVMBuildSIToFP(c->b, k, td, ""), CONST(0.69314718055994530942), l);
}

/* e^x for |x| < 700, or NaN */
static LLVMValueRef exp64(cg *c, LLVMValueRef x)
{
    static const double taylor[] = {1 / 362880.0, 1 / 40320.0, 1 / 5040.0, 1 / 720.0, 1 / 120.0,
                                    1 / 24.0,     1 / 6.0,     0.5,        1.0,       1.0};
    LLVMTypeRef td = LLVMTypeOf(x), t32 = cg_like(c->i32, x), t64 = cg_like(c->i64, x);
    LLVMValueRef nan = LLVMBuildFCmp(c->b, LLVMRealUNO, x, x, "");
    LLVMValueRef k = cg_unary(c, "llvm.roundeven",
                              LLVMBuildFMul(c->b, x, CONST(1.4426950408889634074), ""));
    LLVMValueRef r = cg_muladd(c, k, CONST(-0.693147180369123816490), x);
    r = cg_muladd(c, k, CONST(-1.90821492927058770002e-10), r);
    LLVMValueRef n = LLVMBuildFPToSI(c->b, cg_sel(c, nan, LLVMConstNull(td), k), t32, "");
    n = LLVMBuildAdd(c->b, n, cg_const_i(t32, 1023), "");
    LLVMValueRef scale = LLVMBuildShl(c->b, LLVMBuildZExt(c->b, n, t64, ""), cg_const_i(t64, 52),
                                      "");
    scale = as(c, scale, c->f64);
    return LLVMBuildFMul(c->b, cg_poly(c, r, taylor, COUNT(taylor)), scale, "");
}

static LLVMValueRef equal(cg *c, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildFCmp(c->b, LLVMRealOEQ, a, b, "");
}

/* |x|^y, edges included, before signs. */
static LLVMValueRef magnitude(cg *c, LLVMValueRef a, LLVMValueRef y)
{
    LLVMTypeRef td = LLVMTypeOf(a);
    LLVMValueRef inf = CONST(__builtin_inf()), l = log64(c, a), zero = LLVMConstNull(td),
                 one = CONST(1.0);
    l = cg_sel(c, equal(c, a, zero), CONST(-__builtin_inf()), l);
    l = cg_sel(c, LLVMBuildFCmp(c->b, LLVMRealUEQ, a, inf, ""), a, l);
    LLVMValueRef p = LLVMBuildFMul(c->b, y, l, "");
    p = cg_sel(c, LLVMBuildFCmp(c->b, LLVMRealOLT, p, CONST(-200.0), ""), CONST(-200.0), p);
    p = cg_sel(c, LLVMBuildFCmp(c->b, LLVMRealOGT, p, CONST(200.0), ""), CONST(200.0), p);
    LLVMValueRef r = exp64(c, p);
    LLVMValueRef number = LLVMBuildFCmp(c->b, LLVMRealORD, y, y, "");
    LLVMValueRef ones = LLVMBuildAnd(c->b, equal(c, a, one), number, "");
    ones = LLVMBuildOr(c->b, equal(c, y, zero), ones, "");
    return cg_sel(c, ones, one, r);
}

LLVMValueRef cg_pow(cg *c, gn_elem e, LLVMValueRef x, LLVMValueRef y)
{
    if (e == GN_F64) return cg_libm(c, "pow", e, (LLVMValueRef[]){x, y}, 2);
    LLVMTypeRef td = cg_like(c->f64, x), tf = LLVMTypeOf(x);
    LLVMValueRef xd = LLVMBuildFPExt(c->b, x, td, ""), yd = LLVMBuildFPExt(c->b, y, td, "");
    LLVMValueRef r = LLVMBuildFPTrunc(c->b, magnitude(c, cg_unary(c, "llvm.fabs", xd), yd), tf, "");
    LLVMValueRef whole = equal(c, cg_unary(c, "llvm.floor", y), y);
    LLVMValueRef half = LLVMBuildFMul(c->b, y, cg_const_f(tf, 0.5), "");
    LLVMValueRef even = equal(c, cg_unary(c, "llvm.floor", half), half);
    LLVMValueRef odd = LLVMBuildAnd(c->b, whole, LLVMBuildNot(c->b, even, ""), "");
    LLVMValueRef sign = cg_sel(c, odd, x, cg_const_f(tf, 1.0));
    LLVMValueRef zero = LLVMConstNull(tf), below = LLVMBuildFCmp(c->b, LLVMRealOLT, x, zero, "");
    LLVMValueRef finite = LLVMBuildFCmp(c->b, LLVMRealOGT, x, cg_const_f(tf, -__builtin_inf()), "");
    LLVMValueRef broken = LLVMBuildNot(c->b, whole, "");
    LLVMValueRef bad = LLVMBuildAnd(c->b, LLVMBuildAnd(c->b, below, finite, ""), broken, "");
    bad = LLVMBuildAnd(c->b, bad, LLVMBuildFCmp(c->b, LLVMRealORD, y, y, ""), "");
    LLVMValueRef one = cg_const_f(tf, 1.0), is_one = equal(c, x, one), y_zero = equal(c, y, zero);
    r = cg_binary(c, "llvm.copysign", r, sign);
    r = cg_sel(c, bad, cg_const_f(tf, __builtin_nan("")), r);
    return cg_sel(c, LLVMBuildOr(c->b, is_one, y_zero, ""), one, r);
}
