/* sin and cos of f32 (math.c says how functions are made).
 *
 * Arguments are reduced by pi/2 in f64, in three parts.  Where a lane's is too large for that, all
 * lanes go another way besides: x is m 2^e, m of 24 bits, and of 2/pi only the 96 bits from those
 * on that m 2^e does not make whole turns of are multiplied by m (Payne and Hanek, "Radian
 * reduction for trigonometric functions", SIGNUM Newsletter 18, 1983).  What is between 2^-62 and
 * 2^-94 of a quarter turn is lost; no float32 is nearer than 2^-29 to a multiple of pi/2 but 0. */
#include "codegen/cpu/emit_llvm.h"

#define MUL(p_, q_) LLVMBuildFMul(c->b, p_, q_, "")
#define CONST(x) cg_const_f(LLVMTypeOf(x_), x)
#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

/* How many quarter turns, modulo 4, and the rest, between -pi/4 and pi/4, in f64. */
typedef struct turns {
    LLVMValueRef n, rest; /* i32, f64 */
} turns;

/* Up to which |x| three parts of pi/2 are enough: their products with the number of turns are
 * exact, or rounded once. */
static double most_in_parts(const cg *c) { return c->target->fma ? 0x1p30 : 0x1p19; }

static turns by_parts(cg *c, LLVMValueRef x, LLVMValueRef large)
{
    static const double part[] = {1.57079632673412561417e+00, 6.07710050630396597660e-11,
                                  2.02226624879595063154e-21};
    LLVMValueRef none = LLVMConstNull(LLVMTypeOf(x));
    LLVMValueRef d = LLVMBuildFPExt(c->b, cg_sel(c, large, none, x), cg_like(c->f64, x), ""),
                 x_ = d;
    LLVMValueRef q = cg_unary(c, "llvm.roundeven", MUL(d, CONST(0.63661977236758134308))), r = d;
    for (int i = 0; i < 3; i++) r = cg_muladd(c, q, CONST(-part[i]), r);
    return (turns){LLVMBuildFPToSI(c->b, q, cg_like(c->i32, x), ""), r};
}

/* 32 bits of 2/pi from the bit that `index` words and `shift` bits lie behind the first, in the
 * lower half of 64. */
static LLVMValueRef word_of_two_over_pi(cg *c, LLVMValueRef index, LLVMValueRef shift, int ahead)
{
    static const uint32_t bits[] = {0,          /* what is above the point */ 0xa2f9836e,
                                    0x4e441529, 0xfc2757d1,
                                    0xf534ddc0, 0xdb629599,
                                    0x3c439041, 0xfe5163ab,
                                    0};
    enum { INDICES = 5 }; /* that a float32 may have */
    LLVMTypeRef t64 = LLVMTypeOf(shift), t32 = LLVMTypeOf(index);
    LLVMValueRef pair = NULL;
    for (int k = 0; k < INDICES; k++) {
        uint64_t both = (uint64_t)bits[k + ahead] << 32 | bits[k + ahead + 1];
        LLVMValueRef word = cg_const_i(t64, (int64_t)both);
        LLVMValueRef here = LLVMBuildICmp(c->b, LLVMIntEQ, index, cg_const_i(t32, k), "");
        pair = pair ? cg_sel(c, here, word, pair) : word;
    }
    return LLVMBuildLShr(c->b, LLVMBuildShl(c->b, pair, shift, ""), cg_const_i(t64, 32), "");
}

static turns by_bits(cg *c, LLVMValueRef x)
{
    LLVMTypeRef t = cg_like(c->i32, x), w = cg_like(c->i64, x), f64 = cg_like(c->f64, x);
    LLVMValueRef b = LLVMBuildBitCast(c->b, x, t, ""), field = cg_const_i(t, 0x7f800000);
    LLVMValueRef exponent = LLVMBuildLShr(c->b, LLVMBuildAnd(c->b, b, field, ""), cg_const_i(t, 23),
                                          "");
    LLVMValueRef m = LLVMBuildOr(c->b, LLVMBuildAnd(c->b, b, cg_const_i(t, 0x7fffff), ""),
                                 cg_const_i(t, 0x800000), "");
    /* |x| = m 2^(exponent - 150); the two bits above the point of the product with 2/pi are the
     * first that count */
    LLVMValueRef at = LLVMBuildSub(c->b, exponent, cg_const_i(t, 150 + 2 - 32), "");
    LLVMValueRef index = LLVMBuildAShr(c->b, at, cg_const_i(t, 5), "");
    LLVMValueRef shift = LLVMBuildZExt(c->b, LLVMBuildAnd(c->b, at, cg_const_i(t, 31), ""), w, "");
    LLVMValueRef wide = LLVMBuildZExt(c->b, m, w, ""), half = cg_const_i(w, 32), sum = NULL;
    for (int k = 0; k < 3; k++) { /* modulo 2^64, in units of 2^-62 quarter turns */
        LLVMValueRef p = LLVMBuildMul(c->b, wide, word_of_two_over_pi(c, index, shift, k), "");
        if (k == 0) p = LLVMBuildShl(c->b, p, half, "");
        if (k == 2) p = LLVMBuildLShr(c->b, p, half, "");
        sum = sum ? LLVMBuildAdd(c->b, sum, p, "") : p;
    }
    LLVMValueRef up = LLVMBuildAdd(c->b, sum, cg_const_i(w, INT64_C(1) << 61), "");
    LLVMValueRef n = LLVMBuildTrunc(c->b, LLVMBuildLShr(c->b, up, cg_const_i(w, 62), ""), t, "");
    LLVMValueRef part = LLVMBuildAnd(c->b, up, cg_const_i(w, (INT64_C(1) << 62) - 1), "");
    part = LLVMBuildSub(c->b, part, cg_const_i(w, INT64_C(1) << 61), "");
    LLVMValueRef x_ = LLVMBuildSIToFP(c->b, part, f64, ""),
                 r = MUL(x_, CONST(0x1p-62 * 1.57079632679489661923));
    LLVMValueRef minus = LLVMBuildICmp(c->b, LLVMIntSLT, b, LLVMConstNull(t), "");
    LLVMValueRef no_number = LLVMBuildICmp(c->b, LLVMIntEQ, exponent, cg_const_i(t, 255), "");
    r = cg_sel(c, no_number, CONST(__builtin_nan("")), r);
    r = cg_sel(c, minus, LLVMBuildFNeg(c->b, r, ""), r);
    return (turns){cg_sel(c, minus, LLVMBuildNeg(c->b, n, ""), n), r};
}

static LLVMValueRef any_lane(cg *c, LLVMValueRef mask)
{
    int lanes = cg_width(mask);
    if (lanes == 1) return mask;
    LLVMTypeRef whole = LLVMIntTypeInContext(c->ctx, (unsigned)lanes);
    return LLVMBuildICmp(c->b, LLVMIntNE, LLVMBuildBitCast(c->b, mask, whole, ""),
                         LLVMConstNull(whole), "");
}

static LLVMValueRef joined(cg *c, LLVMValueRef one, LLVMBasicBlockRef from, LLVMValueRef other,
                           LLVMBasicBlockRef otherwise)
{
    LLVMValueRef phi = LLVMBuildPhi(c->b, LLVMTypeOf(one), "");
    LLVMAddIncoming(phi, (LLVMValueRef[]){one, other}, (LLVMBasicBlockRef[]){from, otherwise}, 2);
    return phi;
}

static turns reduced(cg *c, LLVMValueRef x)
{
    LLVMValueRef x_ = x, size = cg_unary(c, "llvm.fabs", x);
    LLVMValueRef large = LLVMBuildFCmp(c->b, LLVMRealUGT, size, CONST(most_in_parts(c)),
                                       ""); /* or
                                               no
                                               number
                                             */
    turns few = by_parts(c, x, large);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(c->b), many = cg_new_block(c, "turns"),
                      after = cg_new_block(c, "turned");
    LLVMBuildCondBr(c->b, any_lane(c, large), many, after);
    LLVMPositionBuilderAtEnd(c->b, many);
    turns all = by_bits(c, x);
    all.n = cg_sel(c, large, all.n, few.n);
    all.rest = cg_sel(c, large, all.rest, few.rest);
    LLVMBuildBr(c->b, after);
    LLVMPositionBuilderAtEnd(c->b, after);
    few.n = joined(c, few.n, before, all.n, many);
    few.rest = joined(c, few.rest, before, all.rest, many);
    return few;
}

LLVMValueRef cg_sincos(cg *c, LLVMValueRef x, bool is_cos)
{
    static const double s_[] = {2.724931405e-6, -0.0001984008201, 0.008333331866, -0.1666666666};
    static const double c_[] = {-2.730044862e-7, 2.480059644e-5, -0.001388888766, 0.04166666666};
    LLVMTypeRef t = LLVMTypeOf(x), ti = cg_like(c->i32, x);
    turns q = reduced(c, x);
    LLVMValueRef n = is_cos ? LLVMBuildAdd(c->b, q.n, cg_const_i(ti, 1), "") : q.n;
    LLVMValueRef r = LLVMBuildFPTrunc(c->b, q.rest, t, ""), x_ = r;
    LLVMValueRef z = MUL(r, r), one = CONST(1.0);
    LLVMValueRef sine = cg_muladd(c, MUL(z, cg_poly(c, z, s_, COUNT(s_))), r, r);
    LLVMValueRef cosine = cg_muladd(c, z, CONST(-0.5), one), quartic = cg_poly(c, z, c_, COUNT(c_));
    cosine = cg_muladd(c, MUL(z, z), quartic, cosine);
    LLVMValueRef odd = LLVMBuildTrunc(c->b, n, cg_like(c->i1, x), "");
    LLVMValueRef y = LLVMBuildBitCast(c->b, cg_sel(c, odd, cosine, sine), ti, "");
    LLVMValueRef minus = LLVMBuildAnd(c->b, LLVMBuildShl(c->b, n, cg_const_i(ti, 30), ""),
                                      cg_const_i(ti, INT32_MIN), "");
    y = LLVMBuildBitCast(c->b, LLVMBuildXor(c->b, y, minus, ""), t, "");
    if (is_cos) return y;
    return cg_sel(c, LLVMBuildFCmp(c->b, LLVMRealOEQ, x, LLVMConstNull(t), ""), x, y); /* -0 */
}
