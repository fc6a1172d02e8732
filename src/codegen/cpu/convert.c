/* Between what is stored (bf16, i32, bytes, ...) and what is computed with (f32, f64, i64, bool),
 * and CAST. */
#include "codegen/cpu/emit_llvm.h"

static LLVMValueRef to_i(cg *c, LLVMValueRef v, LLVMTypeRef scalar)
{
    return LLVMBuildBitCast(c->b, v, cg_like(scalar, v), "");
}
static LLVMValueRef shift_left(cg *c, LLVMValueRef v, int n)
{
    return LLVMBuildShl(c->b, v, cg_const_i(LLVMTypeOf(v), n), "");
}
static LLVMValueRef shift_right(cg *c, LLVMValueRef v, int n)
{
    return LLVMBuildLShr(c->b, v, cg_const_i(LLVMTypeOf(v), n), "");
}
static LLVMValueRef mask_bits(cg *c, LLVMValueRef v, int64_t m)
{
    return LLVMBuildAnd(c->b, v, cg_const_i(LLVMTypeOf(v), m), "");
}
static LLVMValueRef add_i(cg *c, LLVMValueRef v, int64_t x)
{
    return LLVMBuildAdd(c->b, v, cg_const_i(LLVMTypeOf(v), x), "");
}
static LLVMValueRef or_i(cg *c, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildOr(c->b, a, b, "");
}

/* bf16: the upper half of an f32; rounded to nearest even, a NaN stays one. */
static LLVMValueRef from_bf16(cg *c, LLVMValueRef raw)
{
    LLVMValueRef w = LLVMBuildZExt(c->b, raw, cg_like(c->i32, raw), "");
    return to_i(c, shift_left(c, w, 16), c->f32);
}

static LLVMValueRef to_bf16(cg *c, LLVMValueRef v)
{
    LLVMValueRef w = to_i(c, v, c->i32), high = shift_right(c, w, 16);
    LLVMValueRef odd = mask_bits(c, high, 1);
    LLVMValueRef even = shift_right(c, LLVMBuildAdd(c->b, add_i(c, w, 0x7fff), odd, ""), 16);
    LLVMValueRef quiet = or_i(c, high, cg_const_i(LLVMTypeOf(high), 0x40));
    LLVMValueRef nan = LLVMBuildFCmp(c->b, LLVMRealUNO, v, v, "");
    return LLVMBuildTrunc(c->b, cg_sel(c, nan, quiet, even), cg_like(c->i16, v), "");
}

LLVMValueRef cg_narrow_tile(cg *c, gn_elem e, LLVMValueRef v)
{
    int lanes = cg_width(v);
    if (e != GN_BF16 || !c->target->pairs || lanes < 8) return cg_narrow(c, e, v);
    const char *name = lanes == 16 ? "llvm.x86.avx512bf16.cvtneps2bf16.512"
                                   : "llvm.x86.avx512bf16.cvtneps2bf16.256";
    return LLVMBuildBitCast(c->b, cg_intrinsic(c, name, NULL, 0, &v, 1), cg_like(c->i16, v), "");
}

/* f16 without instructions for it: scaling by powers of two does the exponent and the rounding (the
 * scheme of M. Dukhan's FP16 library). */
static LLVMValueRef from_f16_plain(cg *c, LLVMValueRef raw)
{
    LLVMValueRef w = shift_left(c, LLVMBuildZExt(c->b, raw, cg_like(c->i32, raw), ""), 16);
    LLVMValueRef sign = mask_bits(c, w, (int64_t)0x80000000), two = LLVMBuildAdd(c->b, w, w, "");
    LLVMValueRef big = to_i(c, add_i(c, shift_right(c, two, 4), (int64_t)0xE0 << 23), c->f32);
    LLVMTypeRef f = LLVMTypeOf(big);
    LLVMValueRef normal = LLVMBuildFMul(c->b, big, cg_const_f(f, 0x1p-112), "");
    LLVMValueRef low = or_i(c, shift_right(c, two, 17), cg_const_i(LLVMTypeOf(two), 126 << 23));
    LLVMValueRef denormal = LLVMBuildFSub(c->b, to_i(c, low, c->f32), cg_const_f(f, 0.5), "");
    LLVMValueRef small = LLVMBuildICmp(c->b, LLVMIntULT, two, cg_const_i(LLVMTypeOf(two), 1 << 27),
                                       "");
    LLVMValueRef usual = to_i(c, normal, c->i32),
                 bits = cg_sel(c, small, to_i(c, denormal, c->i32), usual);
    return to_i(c, or_i(c, sign, bits), c->f32);
}

static LLVMValueRef to_f16_plain(cg *c, LLVMValueRef v)
{
    LLVMTypeRef f = LLVMTypeOf(v);
    LLVMValueRef w = to_i(c, v, c->i32), two = LLVMBuildAdd(c->b, w, w, "");
    LLVMTypeRef i = LLVMTypeOf(w);
    LLVMValueRef sign = mask_bits(c, w, (int64_t)0x80000000);
    LLVMValueRef base = LLVMBuildFMul(c->b, cg_unary(c, "llvm.fabs", v), cg_const_f(f, 0x1p+112),
                                      "");
    base = LLVMBuildFMul(c->b, base, cg_const_f(f, 0x1p-110), "");
    LLVMValueRef bias = cg_binary(c, "llvm.umax", mask_bits(c, two, (int64_t)0xFF000000),
                                  cg_const_i(i, 0x71000000));
    LLVMValueRef add = to_i(c, add_i(c, shift_right(c, bias, 1), 0x07800000), c->f32);
    LLVMValueRef bits = to_i(c, LLVMBuildFAdd(c->b, add, base, ""), c->i32);
    LLVMValueRef exponent = mask_bits(c, shift_right(c, bits, 13), 0x7C00);
    LLVMValueRef number = LLVMBuildAdd(c->b, exponent, mask_bits(c, bits, 0xFFF), "");
    LLVMValueRef nan = LLVMBuildICmp(c->b, LLVMIntUGT, two, cg_const_i(i, (int64_t)0xFF000000), "");
    number = cg_sel(c, nan, cg_const_i(i, 0x7E00), number);
    return LLVMBuildTrunc(c->b, or_i(c, shift_right(c, sign, 16), number), cg_like(c->i16, v), "");
}

LLVMValueRef cg_widen(cg *c, gn_elem e, LLVMValueRef raw)
{
    switch (e) {
    case GN_I32: return LLVMBuildSExt(c->b, raw, cg_like(c->i64, raw), "");
    case GN_U32:
    case GN_U8: return LLVMBuildZExt(c->b, raw, cg_like(c->i64, raw), "");
    case GN_BOOL: return LLVMBuildICmp(c->b, LLVMIntNE, raw, LLVMConstNull(LLVMTypeOf(raw)), "");
    case GN_BF16: return from_bf16(c, raw);
    case GN_F16:
        if (!c->target->f16c) return from_f16_plain(c, raw);
        return LLVMBuildFPExt(c->b, to_i(c, raw, LLVMHalfTypeInContext(c->ctx)),
                              cg_like(c->f32, raw), "");
    default: return raw;
    }
}

/* Of two values the one is chosen when both are narrow: LLVM leaves vectors wide. */
static LLVMValueRef narrow_integer(cg *c, gn_elem e, LLVMValueRef v)
{
    LLVMTypeRef t = cg_like(cg_storage(c, e), v);
    if (!LLVMIsASelectInst(v)) return LLVMBuildTrunc(c->b, v, t, "");
    LLVMValueRef yes = LLVMBuildTrunc(c->b, LLVMGetOperand(v, 1), t, ""),
                 no = LLVMBuildTrunc(c->b, LLVMGetOperand(v, 2), t, "");
    return LLVMBuildSelect(c->b, LLVMGetOperand(v, 0), yes, no, "");
}

LLVMValueRef cg_narrow(cg *c, gn_elem e, LLVMValueRef v)
{
    switch (e) {
    case GN_I32:
    case GN_U32:
    case GN_U8: return narrow_integer(c, e, v);
    case GN_BOOL: return LLVMBuildZExt(c->b, v, cg_like(c->i8, v), "");
    case GN_BF16: return to_bf16(c, v);
    case GN_F16:
        if (!c->target->f16c) return to_f16_plain(c, v);
        return to_i(c, LLVMBuildFPTrunc(c->b, v, cg_like(LLVMHalfTypeInContext(c->ctx), v), ""),
                    c->i16);
    default: return v;
    }
}

static LLVMValueRef cast(cg *c, gn_elem to, gn_elem from, LLVMValueRef x)
{
    LLVMTypeRef t = cg_like(cg_type(c, to), x);
    bool float_to = gn_elem_is_float(to), float_from = gn_elem_is_float(from);
    if (to == GN_BOOL) {
        LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(x));
        return float_from ? LLVMBuildFCmp(c->b, LLVMRealUNE, x, zero, "")
                          : LLVMBuildICmp(c->b, LLVMIntNE, x, zero, "");
    }
    if (from == GN_BOOL)
        return float_to ? LLVMBuildUIToFP(c->b, x, t, "") : LLVMBuildZExt(c->b, x, t, "");
    if (float_to && float_from)
        return to == GN_F64 ? LLVMBuildFPExt(c->b, x, t, "") : LLVMBuildFPTrunc(c->b, x, t, "");
    if (float_to) return LLVMBuildSIToFP(c->b, x, t, "");
    LLVMTypeRef over[] = {t, LLVMTypeOf(x)};
    /* the nearest end of the range, NaN to 0 */
    return cg_intrinsic(c, "llvm.fptosi.sat", over, 2, &x, 1);
}

cg_val cg_cast(cg *c, gn_elem to, const cg_val *v)
{
    gn_elem from = (gn_elem)v->elem;
    cg_val r = *v;
    if (from == to) return r;
    if (cg_const(v) && (to == GN_I64 || to == GN_BOOL)) {
        int64_t p[CG_MAX_LANES];
        for (int l = 0; l < c->lanes; l++)
            p[l] = to == GN_BOOL ? cg_lane(v, l) != 0 : cg_lane(v, l);
        return cg_lanes_const(c, to, p);
    }
    bool flat = cg_flat(v);
    return cg_result(c, to, flat, cast(c, to, from, cg_operand(c, v, flat)));
}
