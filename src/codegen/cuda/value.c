/* value: instructions that have a value, as expressions.
 *
 * Integers of the loop IR have 64 bits; what its facts say to fit in 32 is an int.  Nothing is
 * contracted or reordered: the compiler runs without --fmad, and FMA is fmaf.  The functions are
 * CUDA's own, which keep the bounds of kir.def: at most 2 ulp for expf, sinf, cosf, erff and tanhf,
 * 1 for logf, log1pf and expm1f (CUDA C++ Programming Guide, "Mathematical Functions"). */
#include "codegen/cuda/emit_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

static bool fits_int(kir_range r) { return r.lo >= INT32_MIN && r.hi <= INT32_MAX; }

bool cu_is_int(const cu *c, kir_id v)
{
    const kir_inst *in = kir_at(c->k, v);
    if (in->elem != GN_I64) return false;
    if (!fits_int(c->facts.range.p[v])) return false;
    if (in->op != KIR_FOR) return true;
    /* the variable passes its bound by up to a step */
    kir_range hi = c->facts.range.p[in->b];
    return hi.hi <= INT32_MAX - in->imm && fits_int(c->facts.range.p[in->a]);
}

const char *cu_elem_type(gn_elem e)
{
    return e == GN_F32 ? "float" : e == GN_F64 ? "double" : e == GN_BOOL ? "bool" : "gn_i64";
}

const char *cu_type(const cu *c, kir_id v)
{
    return cu_is_int(c, v) ? "int" : cu_elem_type((gn_elem)kir_at(c->k, v)->elem);
}

const char *cu_storage_type(gn_elem e)
{
    static const char *const name[GN_ELEM_COUNT] = {
        [GN_F32] = "float",  [GN_F64] = "double", [GN_BF16] = "gn_u16",
        [GN_F16] = "gn_u16", [GN_I32] = "int",    [GN_I64] = "gn_i64",
        [GN_U32] = "gn_u32", [GN_U8] = "gn_u8",   [GN_BOOL] = "gn_u8"};
    return name[e];
}

const char *cu_vector(gn_elem e)
{
    static const char *const name[GN_ELEM_COUNT] = {
        [GN_F32] = "float4", [GN_BF16] = "ushort4", [GN_F16] = "ushort4", [GN_BOOL] = "uchar4"};
    return name[e];
}

/* Leaves --------------------------------------------------------------------------------------- */

const char *cu_integer(const cu *c, int64_t i)
{
    if (i == INT64_MIN) return "(-0x7fffffffffffffffLL - 1)";
    if (i >= INT32_MIN && i <= INT32_MAX)
        return gn_arena_printf(c->arena, i < 0 ? "(%lld)" : "%lld", (long long)i);
    return gn_arena_printf(c->arena, i < 0 ? "(%lldLL)" : "%lldLL", (long long)i);
}

const char *cu_number(const cu *c, gn_elem e, double f)
{
    bool wide = e == GN_F64;
    if (!wide) f = (double)(float)f;
    if (isnan(f)) return wide ? "GN_NAN64" : "GN_NAN";
    if (isinf(f))
        return gn_arena_printf(c->arena, f < 0 ? "(-%s)" : "%s", wide ? "GN_INF64" : "GN_INF");
    char text[48];
    snprintf(text, sizeof text, wide ? "%.17g" : "%.9g", f);
    for (int digits = 1; digits < (wide ? 17 : 9); digits++) { /* the shortest that reads back */
        char shorter[48];
        snprintf(shorter, sizeof shorter, "%.*g", digits < 17 ? digits : 17, f);
        double back = wide ? strtod(shorter, NULL) : (double)strtof(shorter, NULL);
        if (back != f) continue;
        memcpy(text, shorter, sizeof text);
        break;
    }
    const char *point = strpbrk(text, ".e") ? "" : ".0";
    return gn_arena_printf(c->arena, signbit(f) ? "(%s%s%s)" : "%s%s%s", text, point,
                           wide ? "" : "f");
}

static const char *constant(const cu *c, const kir_inst *in)
{
    if (in->elem == GN_BOOL) return in->imm ? "true" : "false";
    return in->elem == GN_I64 ? cu_integer(c, in->imm) : cu_number(c, (gn_elem)in->elem, in->fimm);
}

const char *cu_ref(const cu *c, kir_id v, int copy)
{
    const kir_inst *in = kir_at(c->k, v);
    if (in->op == KIR_CONST) return constant(c, in);
    if (in->op == KIR_SYM) return c->sym[in->imm];
    bool copies = c->wide && c->varies[v] && (v == c->spread || c->loop_of[v] == c->spread);
    if (in->op == KIR_FOR) {
        if (!copies || copy == 0) return gn_arena_printf(c->arena, "i%u", v);
        return gn_arena_printf(c->arena, "(i%u + %d)", v, copy);
    }
    if (!copies) return gn_arena_printf(c->arena, "x%u", v);
    if (in->op == KIR_LOAD && in->elem == GN_F32 && c->k->buffers.p[in->imm].elem == GN_F32 &&
        cu_is_vector_access(c, v))
        return gn_arena_printf(c->arena, "x%u.%c", v, "xyzw"[copy]);
    return gn_arena_printf(c->arena, "x%u_%d", v, copy);
}

/* Memory --------------------------------------------------------------------------------------- */

const char *cu_widened(const cu *c, gn_elem e, const char *x)
{
    switch (e) {
    case GN_BF16: return gn_arena_printf(c->arena, "gn_from_bf16(%s)", x);
    case GN_F16: return gn_arena_printf(c->arena, "gn_from_f16(%s)", x);
    case GN_U32: return gn_arena_printf(c->arena, "(gn_i64)%s", x);
    default: return x;
    }
}

const char *cu_loaded(const cu *c, gn_elem e, const char *x)
{
    return e == GN_BOOL ? gn_arena_printf(c->arena, "%s != 0", x) : cu_widened(c, e, x);
}

static const char *load(const cu *c, const kir_inst *in, int copy)
{
    const char *x = gn_arena_printf(c->arena, "%s[%s]", c->buffer[in->imm], cu_ref(c, in->a, copy));
    return cu_loaded(c, c->k->buffers.p[in->imm].elem, x);
}

const char *cu_narrowed(const cu *c, gn_elem e, const char *x)
{
    if (e == GN_BF16) return gn_arena_printf(c->arena, "gn_to_bf16(%s)", x);
    return e == GN_F16 ? gn_arena_printf(c->arena, "gn_to_f16(%s)", x) : x;
}

const char *cu_stored(const cu *c, int buffer, kir_id v, int copy)
{
    gn_elem e = c->k->buffers.p[buffer].elem;
    const char *x = cu_ref(c, v, copy);
    switch (e) {
    case GN_BOOL: return gn_arena_printf(c->arena, "(%s) ? 1 : 0", x);
    case GN_I32: return cu_is_int(c, v) ? x : gn_arena_printf(c->arena, "(int)%s", x);
    case GN_U32:
    case GN_U8: return gn_arena_printf(c->arena, "(%s)%s", cu_storage_type(e), x);
    default: return cu_narrowed(c, e, x);
    }
}

/* Arithmetic ----------------------------------------------------------------------------------- */

/* The operation is done in 64 bits where its operands or its result need them. */
static const char *sum(const cu *c, kir_id v, char op, int copy)
{
    const kir_inst *in = kir_at(c->k, v);
    const char *a = cu_ref(c, in->a, copy), *b = cu_ref(c, in->b, copy);
    bool narrow = cu_is_int(c, in->a) && cu_is_int(c, in->b);
    if (cu_is_int(c, v) && !narrow) return gn_arena_printf(c->arena, "(int)(%s %c %s)", a, op, b);
    return gn_arena_printf(c->arena, "%s%s %c %s", narrow && !cu_is_int(c, v) ? "(gn_i64)" : "", a,
                           op, b);
}

static const char *integers(const cu *c, kir_id v, int copy)
{
    const kir_inst *in = kir_at(c->k, v);
    const char *a = cu_ref(c, in->a, copy), *b = cu_ref(c, in->b, copy);
    bool narrow = cu_is_int(c, in->a) && cu_is_int(c, in->b);
    const char *to = cu_is_int(c, v) && !narrow ? "(int)" : "",
               *sign = narrow ? "gn_u32" : "gn_u64";
    switch (in->op) {
    case KIR_IADD: return sum(c, v, '+', copy);
    case KIR_ISUB: return sum(c, v, '-', copy);
    case KIR_IMUL: return sum(c, v, '*', copy);
    case KIR_IDIV:
        return gn_arena_printf(c->arena, "(%s)((%s)%s / (%s)%s)", cu_type(c, v), sign, a, sign, b);
    case KIR_IMOD:
        return gn_arena_printf(c->arena, "(%s)((%s)%s %% (%s)%s)", cu_type(c, v), sign, a, sign, b);
    case KIR_IMIN: return gn_arena_printf(c->arena, "%s(%s < %s ? %s : %s)", to, a, b, a, b);
    case KIR_IMAX: return gn_arena_printf(c->arena, "%s(%s > %s ? %s : %s)", to, a, b, a, b);
    case KIR_ILT: return gn_arena_printf(c->arena, "%s < %s", a, b);
    case KIR_ILE: return gn_arena_printf(c->arena, "%s <= %s", a, b);
    default: return gn_arena_printf(c->arena, "%s == %s", a, b);
    }
}

static const char *cast(const cu *c, kir_id v, int copy)
{
    const kir_inst *in = kir_at(c->k, v);
    gn_elem from = (gn_elem)kir_at(c->k, in->a)->elem, to = (gn_elem)in->elem;
    const char *x = cu_ref(c, in->a, copy);
    if (from == to) return x;
    if (to == GN_BOOL) return gn_arena_printf(c->arena, "%s != 0", x);
    if (from == GN_BOOL)
        return gn_arena_printf(c->arena, "%s ? %s : %s", x,
                               to == GN_I64 ? "1" : cu_number(c, to, 1),
                               to == GN_I64 ? "0" : cu_number(c, to, 0));
    if (to == GN_I64) return gn_arena_printf(c->arena, "gn_to_i64(%s)", x);
    return gn_arena_printf(c->arena, "(%s)%s", cu_elem_type(to), x);
}

static const char *function_name(kir_op op)
{
    switch (op) {
    case KIR_FPOW: return "pow";
    case KIR_FABS: return "fabs";
    case KIR_SQRT: return "sqrt";
    case KIR_EXP: return "exp";
    case KIR_EXPM1: return "expm1";
    case KIR_LOG: return "log";
    case KIR_LOG1P: return "log1p";
    case KIR_SIN: return "sin";
    case KIR_COS: return "cos";
    case KIR_TANH: return "tanh";
    case KIR_ERF: return "erf";
    case KIR_FLOOR: return "floor";
    default: return NULL;
    }
}

/* A double's power of a constant is 2^(x log2 a), a fifth of the code of pow; NULL: it is not such
 * a one.  The logarithm goes with 64 digits, as two doubles. */
static const char *power_of_constant(const cu *c, const kir_inst *in, const char *x)
{
    const kir_inst *base = kir_at(c->k, in->a);
    bool fits = in->elem == GN_F64 && base->op == KIR_CONST && base->fimm > 0 &&
                isfinite(base->fimm);
    if (!fits || base->fimm == 1) return NULL;
    long double log = log2l((long double)base->fimm);
    double high = (double)log, low = (double)(log - (long double)high);
    return gn_arena_printf(c->arena, "gn_power(%s, %s, %s)", cu_number(c, GN_F64, high),
                           cu_number(c, GN_F64, low), x);
}

static const char *floats(const cu *c, kir_id v, int copy)
{
    const kir_inst *in = kir_at(c->k, v);
    int n = kir_ops[in->op].n_in;
    const char *a = cu_ref(c, in->a, copy), *b = n > 1 ? cu_ref(c, in->b, copy) : "";
    const char *f = in->elem == GN_F32 ? "f" : "", *bits = in->elem == GN_F32 ? "f32" : "f64";
    switch (in->op) {
    case KIR_FADD: return gn_arena_printf(c->arena, "%s + %s", a, b);
    case KIR_FSUB: return gn_arena_printf(c->arena, "%s - %s", a, b);
    case KIR_FMUL: return gn_arena_printf(c->arena, "%s * %s", a, b);
    case KIR_FDIV:
        return gn_arena_printf(c->arena, in->elem == GN_F32 ? "gn_div(%s, %s)" : "%s / %s", a, b);
    case KIR_FMA:
        return gn_arena_printf(c->arena, "fma%s(%s, %s, %s)", f, a, b, cu_ref(c, in->c, copy));
    case KIR_FMIN: return gn_arena_printf(c->arena, "gn_min_%s(%s, %s)", bits, a, b);
    case KIR_FMAX: return gn_arena_printf(c->arena, "gn_max_%s(%s, %s)", bits, a, b);
    case KIR_FNEG: return gn_arena_printf(c->arena, "-%s", a);
    case KIR_FLT: return gn_arena_printf(c->arena, "%s < %s", a, b);
    case KIR_FLE: return gn_arena_printf(c->arena, "%s <= %s", a, b);
    case KIR_FEQ: return gn_arena_printf(c->arena, "%s == %s", a, b);
    case KIR_ROUND: return gn_arena_printf(c->arena, "gn_round_%s(%s)", kir_kinds[in->imm].text, a);
    case KIR_FPOW: {
        const char *power = power_of_constant(c, in, b);
        return power ? power : gn_arena_printf(c->arena, "pow%s(%s, %s)", f, a, b);
    }
    default: return gn_arena_printf(c->arena, "%s%s(%s)", function_name((kir_op)in->op), f, a);
    }
}

const char *cu_value(const cu *c, kir_id v, int copy)
{
    const kir_inst *in = kir_at(c->k, v);
    switch (in->op) {
    case KIR_LOAD: return load(c, in, copy);
    case KIR_NOT: return gn_arena_printf(c->arena, "!%s", cu_ref(c, in->a, copy));
    case KIR_AND:
        return gn_arena_printf(c->arena, "%s && %s", cu_ref(c, in->a, copy),
                               cu_ref(c, in->b, copy));
    case KIR_OR:
        return gn_arena_printf(c->arena, "%s || %s", cu_ref(c, in->a, copy),
                               cu_ref(c, in->b, copy));
    case KIR_SELECT:
        return gn_arena_printf(c->arena, "%s ? %s : %s", cu_ref(c, in->a, copy),
                               cu_ref(c, in->b, copy), cu_ref(c, in->c, copy));
    case KIR_CAST: return cast(c, v, copy);
    case KIR_RANDOM:
        return gn_arena_printf(
            c->arena, in->narrow ? "gn_random(%s, (gn_u32)%s, %uu)" : "gn_random(%s, %s, %uu)",
            cu_ref(c, in->a, copy), cu_ref(c, in->b, copy), (unsigned)in->imm);
    case KIR_RNGKEY:
        return gn_arena_printf(c->arena, "gn_rng_key(%s, %s)", cu_ref(c, in->a, copy),
                               cu_ref(c, in->b, copy));
    default: break;
    }
    if (in->op >= KIR_IADD && in->op <= KIR_IEQ) return integers(c, v, copy);
    return floats(c, v, copy);
}
