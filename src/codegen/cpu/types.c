/* LLVM types, constants and small patterns. */
#include "codegen/cpu/emit_llvm.h"

#include <string.h>

LLVMTypeRef cg_type(cg *c, gn_elem e)
{
    switch (e) {
    case GN_F64: return c->f64;
    case GN_BOOL: return c->i1;
    case GN_F32:
    case GN_BF16:
    case GN_F16: return c->f32;
    default: return c->i64;
    }
}

LLVMTypeRef cg_storage(cg *c, gn_elem e)
{
    switch (e) {
    case GN_F32: return c->f32;
    case GN_F64: return c->f64;
    case GN_BF16:
    case GN_F16: return c->i16;
    case GN_I32:
    case GN_U32: return c->i32;
    case GN_U8:
    case GN_BOOL: return c->i8;
    default: return c->i64;
    }
}

gn_elem cg_value_elem(gn_elem stored)
{
    switch (stored) {
    case GN_F32:
    case GN_BF16:
    case GN_F16: return GN_F32;
    case GN_F64: return GN_F64;
    case GN_BOOL: return GN_BOOL;
    default: return GN_I64;
    }
}

LLVMTypeRef cg_vec(LLVMTypeRef t, int lanes)
{
    return lanes == 1 ? t : LLVMVectorType(t, (unsigned)lanes);
}

static int type_width(LLVMTypeRef t)
{
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? (int)LLVMGetVectorSize(t) : 1;
}

static LLVMTypeRef scalar_type(LLVMTypeRef t)
{
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t;
}

int cg_width(LLVMValueRef v) { return type_width(LLVMTypeOf(v)); }
LLVMTypeRef cg_like(LLVMTypeRef scalar, LLVMValueRef shape)
{
    return cg_vec(scalar, cg_width(shape));
}

LLVMValueRef cg_i64(cg *c, int64_t x) { return LLVMConstInt(c->i64, (unsigned long long)x, true); }
LLVMValueRef cg_i32(cg *c, int64_t x) { return LLVMConstInt(c->i32, (unsigned long long)x, true); }

static LLVMValueRef const_splat(LLVMValueRef x, int n)
{
    LLVMValueRef all[CG_MAX_LANES];
    if (n == 1) return x;
    for (int i = 0; i < n; i++) all[i] = x;
    return LLVMConstVector(all, (unsigned)n);
}

LLVMValueRef cg_const_f(LLVMTypeRef t, double x)
{
    return const_splat(LLVMConstReal(scalar_type(t), x), type_width(t));
}

LLVMValueRef cg_const_i(LLVMTypeRef t, int64_t x)
{
    return const_splat(LLVMConstInt(scalar_type(t), (unsigned long long)x, true), type_width(t));
}

LLVMValueRef cg_const_lanes(LLVMTypeRef scalar, const int64_t *x, int n)
{
    LLVMValueRef all[CG_MAX_LANES];
    for (int i = 0; i < n; i++) all[i] = LLVMConstInt(scalar, (unsigned long long)x[i], true);
    return n == 1 ? all[0] : LLVMConstVector(all, (unsigned)n);
}

LLVMValueRef cg_splat(cg *c, LLVMValueRef scalar, int lanes)
{
    if (lanes == 1) return scalar;
    if (LLVMIsConstant(scalar)) return const_splat(scalar, lanes);
    LLVMValueRef none = LLVMGetPoison(cg_vec(LLVMTypeOf(scalar), lanes));
    LLVMValueRef one = LLVMBuildInsertElement(c->b, none, scalar, cg_i32(c, 0), "");
    return LLVMBuildShuffleVector(c->b, one, none, LLVMConstNull(cg_vec(c->i32, lanes)), "");
}

LLVMValueRef cg_extract(cg *c, LLVMValueRef v, int lane)
{
    return cg_width(v) == 1 ? v : LLVMBuildExtractElement(c->b, v, cg_i32(c, lane), "");
}

LLVMValueRef cg_shuffle(cg *c, LLVMValueRef a, LLVMValueRef b, const int *map, int n)
{
    int w = cg_width(a);
    if (n == 1)
        return map[0] < w ? cg_extract(c, a, map[0] < 0 ? 0 : map[0])
                          : cg_extract(c, b, map[0] - w);
    if (w == 1) {
        LLVMValueRef v = cg_splat(c, a, n);
        for (int i = 0; i < n && b; i++)
            if (map[i] == 1) v = LLVMBuildInsertElement(c->b, v, b, cg_i32(c, i), "");
        return v;
    }
    bool same = n == w;
    for (int i = 0; i < n; i++) same = same && (map[i] == i || map[i] < 0);
    if (same) return a;
    LLVMValueRef m[CG_MAX_LANES];
    for (int i = 0; i < n; i++) m[i] = map[i] < 0 ? LLVMGetPoison(c->i32) : cg_i32(c, map[i]);
    return LLVMBuildShuffleVector(c->b, a, b ? b : LLVMGetPoison(LLVMTypeOf(a)),
                                  LLVMConstVector(m, (unsigned)n), "");
}

LLVMValueRef cg_intrinsic(cg *c, const char *name, LLVMTypeRef *over, unsigned n_over,
                          LLVMValueRef *args, unsigned n)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(c->mod, id, over, n_over);
    return LLVMBuildCall2(c->b, LLVMGlobalGetValueType(f), f, args, n, "");
}

LLVMValueRef cg_unary(cg *c, const char *name, LLVMValueRef a)
{
    LLVMTypeRef t = LLVMTypeOf(a);
    return cg_intrinsic(c, name, &t, 1, &a, 1);
}

LLVMValueRef cg_binary(cg *c, const char *name, LLVMValueRef a, LLVMValueRef b)
{
    LLVMTypeRef t = LLVMTypeOf(a);
    return cg_intrinsic(c, name, &t, 1, (LLVMValueRef[]){a, b}, 2);
}

LLVMValueRef cg_fma(cg *c, LLVMValueRef a, LLVMValueRef b, LLVMValueRef d)
{
    LLVMTypeRef t = LLVMTypeOf(a);
    return cg_intrinsic(c, "llvm.fma", &t, 1, (LLVMValueRef[]){a, b, d}, 3);
}

LLVMValueRef cg_muladd(cg *c, LLVMValueRef a, LLVMValueRef b, LLVMValueRef d)
{
    return c->target->fma ? cg_fma(c, a, b, d)
                          : LLVMBuildFAdd(c->b, LLVMBuildFMul(c->b, a, b, ""), d, "");
}

LLVMValueRef cg_sel(cg *c, LLVMValueRef cond, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildSelect(c->b, cond, a, b, "");
}

/* x86's max(a, b) is `a > b ? a : b`: the second when either is NaN.  With the operand that may be
 * NaN second, that is one instruction; otherwise a NaN in the first is put back. Which zero is the
 * larger is left open. */
LLVMValueRef cg_fminmax(cg *c, LLVMValueRef a, LLVMValueRef b, bool max)
{
    if (LLVMIsConstant(b)) {
        LLVMValueRef t = a;
        a = b;
        b = t;
    }
    if (LLVMIsConstant(a)) { /* constants come from numbers of the program; a NaN among them is not
                                worth a compare */
        LLVMValueRef one = cg_extract(c, a, 0);
        LLVMBool loses = 0;
        double x = LLVMIsAConstantFP(one) ? LLVMConstRealGetDouble(one, &loses) : 0.0;
        if (LLVMIsAConstantFP(one) && x == x)
            return cg_sel(c, LLVMBuildFCmp(c->b, max ? LLVMRealOGT : LLVMRealOLT, a, b, ""), a, b);
    }
    LLVMValueRef best = cg_binary(c, max ? "llvm.maximum" : "llvm.minimum", a, b);
    if (LLVMIsACallInst(best)) LLVMSetFastMathFlags(best, LLVMFastMathNoSignedZeros);
    return best;
}
