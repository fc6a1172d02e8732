/* The algebra of lane values: integers stay `base + c + off[lane]` as long as that is possible, so
 * that what depends on the induction variable alone is known at compile time and addresses are
 * scalar. */
#include "codegen/cpu/emit_llvm.h"

#include <string.h>

/* Makers --------------------------------------------------------------------------------------- */

cg_val cg_int(int64_t imm) { return (cg_val){.kind = CG_INT, .elem = GN_I64, .c = imm}; }

cg_val cg_int_value(LLVMValueRef base, int64_t mult)
{
    if (LLVMIsAConstantInt(base)) return cg_int(LLVMConstIntGetSExtValue(base));
    return (cg_val){.kind = CG_INT, .elem = GN_I64, .v = base, .mult = mult};
}

cg_val cg_uniform(gn_elem e, LLVMValueRef v)
{
    if (e == GN_I64) return cg_int_value(v, 1);
    if (e == GN_BOOL && LLVMIsAConstantInt(v)) {
        cg_val x = cg_int(LLVMConstIntGetZExtValue(v) != 0);
        x.elem = GN_BOOL;
        return x;
    }
    return (cg_val){.kind = CG_UNIFORM, .elem = (uint8_t)e, .v = v};
}

cg_val cg_vector(gn_elem e, LLVMValueRef v)
{
    return (cg_val){.kind = CG_VECTOR, .elem = (uint8_t)e, .v = v};
}

cg_val cg_result(cg *c, gn_elem e, bool flat, LLVMValueRef v)
{
    return flat || c->lanes == 1 ? cg_uniform(e, v) : cg_vector(e, v);
}

/* `per_lane` may be a temporary. */
cg_val cg_lanes_const(cg *c, gn_elem e, const int64_t *per_lane)
{
    cg_val v = {.kind = CG_INT, .elem = (uint8_t)e, .c = per_lane[0]};
    bool flat = true;
    for (int l = 1; l < c->lanes; l++) flat = flat && per_lane[l] == per_lane[0];
    if (flat) return v;
    int64_t *off = GN_NEW_N(c->arena, int64_t, c->lanes);
    for (int l = 0; l < c->lanes; l++) off[l] = per_lane[l] - v.c;
    v.off = off;
    return v;
}

/* Questions ------------------------------------------------------------------------------------ */

bool cg_flat(const cg_val *v) { return v->kind == CG_UNIFORM || (v->kind == CG_INT && !v->off); }
bool cg_const(const cg_val *v) { return v->kind == CG_INT && !v->v; }
int64_t cg_lane(const cg_val *v, int lane) { return v->c + (v->off ? v->off[lane] : 0); }

const int64_t *cg_offsets(cg *c, const cg_val *v)
{
    int64_t *o = GN_NEW_N(c->arena, int64_t, CG_MAX_LANES);
    for (int l = 0; l < c->lanes; l++) o[l] = cg_lane(v, l);
    return o;
}

static LLVMValueRef nsw_add(cg *c, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildNSWAdd(c->b, a, b, "");
}

LLVMValueRef cg_scalar(cg *c, const cg_val *v)
{
    if (v->kind != CG_INT) return v->v;
    if (v->elem == GN_BOOL) return LLVMConstInt(c->i1, v->c != 0, false);
    if (!v->v) return cg_i64(c, v->c);
    return v->c ? nsw_add(c, v->v, cg_i64(c, v->c)) : v->v;
}

LLVMValueRef cg_as_vector(cg *c, const cg_val *v)
{
    if (v->kind == CG_VECTOR) return v->v;
    if (cg_flat(v)) return cg_splat(c, cg_scalar(c, v), c->lanes);
    const int64_t *o = cg_offsets(c, v);
    LLVMValueRef off = cg_const_lanes(v->elem == GN_BOOL ? c->i1 : c->i64, o, c->lanes);
    return v->v ? nsw_add(c, cg_splat(c, v->v, c->lanes), off) : off;
}

LLVMValueRef cg_operand(cg *c, const cg_val *v, bool flat)
{
    return flat ? cg_scalar(c, v) : cg_as_vector(c, v);
}

/* Integers ------------------------------------------------------------------------------------- */

int64_t cg_gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a < 0 ? -a : a;
}

static int64_t mul_cap(int64_t a, int64_t b)
{
    int64_t r;
    return __builtin_mul_overflow(a, b, &r) || r > ((int64_t)1 << 40) ? 1 : r < 0 ? -r : r;
}

/* a + sign * b lane by lane on the constant parts */
static cg_val add_parts(cg *c, const cg_val *a, const cg_val *b, int64_t sign)
{
    cg_val r = {.kind = CG_INT, .elem = GN_I64, .c = a->c + sign * b->c};
    if (a->off || b->off) {
        int64_t *off = GN_NEW_N(c->arena, int64_t, c->lanes), any = 0;
        for (int l = 0; l < c->lanes; l++) {
            off[l] = (a->off ? a->off[l] : 0) + sign * (b->off ? b->off[l] : 0);
            any |= off[l] - off[0];
        }
        if (any)
            r.off = off;
        else
            r.c += off[0];
    }
    return r;
}

static cg_val vector_op(cg *c, LLVMOpcode op, const cg_val *a, const cg_val *b)
{
    LLVMValueRef x = cg_as_vector(c, a), y = cg_as_vector(c, b);
    LLVMValueRef v = LLVMBuildBinOp(c->b, op, x, y, "");
    return cg_result(c, GN_I64, false, v);
}

cg_val cg_iadd(cg *c, const cg_val *a, const cg_val *b)
{
    if (a->kind == CG_VECTOR || b->kind == CG_VECTOR) return vector_op(c, LLVMAdd, a, b);
    cg_val r = add_parts(c, a, b, 1);
    r.v = a->v && b->v ? nsw_add(c, a->v, b->v) : a->v ? a->v : b->v;
    r.mult = cg_gcd(a->mult, b->mult);
    return r;
}

cg_val cg_isub(cg *c, const cg_val *a, const cg_val *b)
{
    if (a->kind == CG_VECTOR || b->kind == CG_VECTOR) return vector_op(c, LLVMSub, a, b);
    cg_val r = add_parts(c, a, b, -1);
    if (a->v == b->v) return r;
    r.v = !b->v ? a->v : LLVMBuildNSWSub(c->b, a->v ? a->v : cg_i64(c, 0), b->v, "");
    r.mult = cg_gcd(a->mult, b->mult);
    return r;
}

static cg_val scale(cg *c, const cg_val *a, int64_t k)
{
    if (k == 1) return *a;
    cg_val r = {.kind = CG_INT, .elem = GN_I64, .c = a->c * k};
    if (k == 0) return r;
    if (a->off) {
        int64_t *off = GN_NEW_N(c->arena, int64_t, c->lanes);
        for (int l = 0; l < c->lanes; l++) off[l] = a->off[l] * k;
        r.off = off;
    }
    if (a->v) {
        r.v = LLVMBuildNSWMul(c->b, a->v, cg_i64(c, k), "");
        r.mult = mul_cap(a->mult, k);
    }
    return r;
}

cg_val cg_imul(cg *c, const cg_val *a, const cg_val *b)
{
    if (a->kind == CG_VECTOR || b->kind == CG_VECTOR) return vector_op(c, LLVMMul, a, b);
    if (cg_const(a) && !a->off) return scale(c, b, a->c);
    if (cg_const(b) && !b->off) return scale(c, a, b->c);
    if (cg_const(a) && cg_const(b)) {
        int64_t p[CG_MAX_LANES];
        for (int l = 0; l < c->lanes; l++) p[l] = cg_lane(a, l) * cg_lane(b, l);
        return cg_lanes_const(c, GN_I64, p);
    }
    if (!a->off && !b->off) {
        LLVMValueRef y = cg_scalar(c, b), v = LLVMBuildNSWMul(c->b, cg_scalar(c, a), y, "");
        return cg_int_value(v, mul_cap(cg_gcd(a->mult, a->c), cg_gcd(b->mult, b->c)));
    }
    return vector_op(c, LLVMMul, a, b);
}

static int64_t floor_div(int64_t a, int64_t d) { return a / d - (a % d != 0 && a < 0); }

/* A divisor d that divides the base: (base + o) / d = base / d + floor(o / d), and the remainder
 * forgets the base. */
static cg_val divmod_split(cg *c, const cg_val *a, int64_t d, bool mod)
{
    int64_t p[CG_MAX_LANES];
    for (int l = 0; l < c->lanes; l++) {
        int64_t o = cg_lane(a, l), q = floor_div(o, d);
        p[l] = mod ? o - q * d : q;
    }
    cg_val r = cg_lanes_const(c, GN_I64, p);
    if (mod || !a->v) return r;
    r.v = LLVMBuildExactSDiv(c->b, a->v, cg_i64(c, d), "");
    r.mult = a->mult / d;
    return r;
}

/* base + off[lane] by a constant: one scalar division, then the lanes in 32 bits, where the
 * quotient is 0 or 1 when the lanes span less than the divisor. */
static cg_val divmod_lanes(cg *c, const cg_val *a, int64_t d, bool mod)
{
    int64_t o[CG_MAX_LANES], low = INT64_MAX, high = INT64_MIN;
    for (int l = 0; l < c->lanes; l++) {
        o[l] = a->off[l];
        low = o[l] < low ? o[l] : low;
        high = o[l] > high ? o[l] : high;
    }
    for (int l = 0; l < c->lanes; l++) o[l] -= low;
    cg_val first = *a;
    first.off = NULL;
    first.c += low;
    LLVMValueRef x = cg_scalar(c, &first), div = cg_i64(c, d);
    LLVMValueRef q, r;
    /* the lowest lane runs: x is not negative */
    if (c->mask.kind == CG_NONE || (c->mask_tail && a->off[0] == low)) {
        q = LLVMBuildUDiv(c->b, x, div, "");
        r = LLVMBuildURem(c->b, x, div, "");
    } else {
        q = LLVMBuildSDiv(c->b, x, div, "");
        r = LLVMBuildSRem(c->b, x, div, "");
        LLVMValueRef below = LLVMBuildICmp(c->b, LLVMIntSLT, r, cg_i64(c, 0), "");
        q = LLVMBuildAdd(c->b, q, LLVMBuildSExt(c->b, below, c->i64, ""), "");
        r = LLVMBuildAdd(c->b, r, cg_sel(c, below, div, cg_i64(c, 0)), "");
    }
    LLVMTypeRef v32 = cg_vec(c->i32, c->lanes), v64 = cg_vec(c->i64, c->lanes);
    LLVMValueRef t = LLVMBuildAdd(c->b, cg_splat(c, LLVMBuildTrunc(c->b, r, c->i32, ""), c->lanes),
                                  cg_const_lanes(c->i32, o, c->lanes), "");
    LLVMValueRef k, dv = cg_const_i(v32, d);
    if (high - low < d)
        k = LLVMBuildZExt(c->b, LLVMBuildICmp(c->b, LLVMIntUGE, t, dv, ""), v32, "");
    else
        k = LLVMBuildUDiv(c->b, t, dv, "");
    if (mod) k = LLVMBuildSub(c->b, t, LLVMBuildMul(c->b, k, dv, ""), "");
    LLVMValueRef v = LLVMBuildZExt(c->b, k, v64, "");
    if (!mod) v = LLVMBuildAdd(c->b, cg_splat(c, q, c->lanes), v, "");
    return cg_vector(GN_I64, v);
}

cg_val cg_idivmod(cg *c, const cg_val *a, const cg_val *b, bool mod)
{
    bool by_const = cg_const(b) && !b->off;
    if (by_const && b->c <= 0) { /* not a program that verifies; anything but a trap */
        return cg_int(0);
    }
    if (a->kind == CG_INT && by_const) {
        if (!a->v || a->mult % b->c == 0) return divmod_split(c, a, b->c, mod);
        if (a->off && b->c < ((int64_t)1 << 30)) return divmod_lanes(c, a, b->c, mod);
    }
    if (cg_const(a) && cg_const(b)) {
        int64_t p[CG_MAX_LANES];
        for (int l = 0; l < c->lanes; l++) {
            int64_t d = cg_lane(b, l) > 0 ? cg_lane(b, l) : 1;
            p[l] = mod ? cg_lane(a, l) % d : cg_lane(a, l) / d;
        }
        return cg_lanes_const(c, GN_I64, p);
    }
    if (cg_flat(a) && cg_flat(b)) {
        LLVMValueRef x = cg_scalar(c, a), y = cg_scalar(c, b);
        return cg_int_value(mod ? LLVMBuildURem(c->b, x, y, "") : LLVMBuildUDiv(c->b, x, y, ""), 1);
    }
    LLVMValueRef x = cg_as_vector(c, a), y = cg_as_vector(c, b),
                 run = by_const ? NULL : cg_mask_vector(c);
    if (run && c->lanes > 1)
        y = cg_sel(c, run, y, cg_const_i(LLVMTypeOf(y), 1)); /* lanes that do not run hold zeros */
    return cg_result(c, GN_I64, false,
                     mod ? LLVMBuildURem(c->b, x, y, "") : LLVMBuildUDiv(c->b, x, y, ""));
}

cg_val cg_iminmax(cg *c, const cg_val *a, const cg_val *b, bool max)
{
    if (a->kind == CG_INT && b->kind == CG_INT && a->v == b->v) { /* one base: the offsets decide */
        int64_t p[CG_MAX_LANES];
        for (int l = 0; l < c->lanes; l++) {
            int64_t x = cg_lane(a, l), y = cg_lane(b, l);
            p[l] = (x > y) == max ? x : y;
        }
        cg_val r = cg_lanes_const(c, GN_I64, p);
        r.v = a->v;
        r.mult = a->mult;
        return r;
    }
    const char *name = max ? "llvm.smax" : "llvm.smin";
    bool flat = cg_flat(a) && cg_flat(b);
    LLVMValueRef x = cg_operand(c, a, flat), y = cg_operand(c, b, flat);
    return cg_result(c, GN_I64, flat, cg_binary(c, name, x, y));
}

static bool compare(kir_op op, int64_t x, int64_t y)
{
    return op == KIR_ILT ? x < y : op == KIR_ILE ? x <= y : x == y;
}

cg_val cg_icompare(cg *c, kir_op op, const cg_val *a, const cg_val *b)
{
    if (a->kind == CG_INT && b->kind == CG_INT && a->v == b->v) {
        int64_t p[CG_MAX_LANES];
        for (int l = 0; l < c->lanes; l++) p[l] = compare(op, cg_lane(a, l), cg_lane(b, l));
        return cg_lanes_const(c, GN_BOOL, p);
    }
    LLVMIntPredicate how = op == KIR_ILT ? LLVMIntSLT : op == KIR_ILE ? LLVMIntSLE : LLVMIntEQ;
    bool flat = cg_flat(a) && cg_flat(b);
    LLVMValueRef y = cg_operand(c, b, flat), x = cg_operand(c, a, flat);
    return cg_result(c, GN_BOOL, flat, LLVMBuildICmp(c->b, how, x, y, ""));
}

/* Choices and bools ---------------------------------------------------------------------------- */

cg_val cg_select(cg *c, const cg_val *cond, const cg_val *a, const cg_val *b)
{
    if (cg_const(cond) && !cond->off) return cond->c ? *a : *b;
    if (cg_const(cond) && a->kind == CG_INT && b->kind == CG_INT && a->v == b->v) {
        int64_t p[CG_MAX_LANES];
        for (int l = 0; l < c->lanes; l++) p[l] = cg_lane(cond, l) ? cg_lane(a, l) : cg_lane(b, l);
        cg_val r = cg_lanes_const(c, a->elem, p);
        r.v = a->v;
        r.mult = a->mult;
        return r;
    }
    if (cond->kind == CG_UNIFORM) {
        bool flat = cg_flat(a) && cg_flat(b);
        LLVMValueRef x = cg_operand(c, a, flat), y = cg_operand(c, b, flat);
        return cg_result(c, a->elem, flat, cg_sel(c, cond->v, x, y));
    }
    LLVMValueRef y = cg_as_vector(c, b), x = cg_as_vector(c, a);
    return cg_result(c, a->elem, false, cg_sel(c, cg_as_vector(c, cond), x, y));
}

static bool logic(kir_op op, bool x, bool y)
{
    return op == KIR_NOT ? !x : op == KIR_AND ? x && y : x || y;
}

cg_val cg_logic(cg *c, kir_op op, const cg_val *a, const cg_val *b)
{
    if (cg_const(a) && cg_const(b)) {
        int64_t p[CG_MAX_LANES];
        for (int l = 0; l < c->lanes; l++) p[l] = logic(op, cg_lane(a, l) != 0, cg_lane(b, l) != 0);
        return cg_lanes_const(c, GN_BOOL, p);
    }
    bool flat = cg_flat(a) && cg_flat(b);
    LLVMValueRef x = cg_operand(c, a, flat), y = cg_operand(c, b, flat), v;
    if (op == KIR_NOT)
        v = LLVMBuildNot(c->b, x, "");
    else
        v = op == KIR_AND ? LLVMBuildAnd(c->b, x, y, "") : LLVMBuildOr(c->b, x, y, "");
    return cg_result(c, GN_BOOL, flat, v);
}
