/* Instructions one by one. */
#include "codegen/cpu/emit_llvm.h"

typedef LLVMValueRef (*build_binary)(LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *);

static cg_val float_op(cg *c, const kir_inst *in, const cg_val *a, const cg_val *b)
{
    static const build_binary build[KIR_OP_COUNT] = {[KIR_FADD] = LLVMBuildFAdd,
                                                     [KIR_FSUB] = LLVMBuildFSub,
                                                     [KIR_FMUL] = LLVMBuildFMul,
                                                     [KIR_FDIV] = LLVMBuildFDiv};
    bool flat = cg_flat(a) && cg_flat(b);
    LLVMValueRef x = cg_operand(c, a, flat), y = cg_operand(c, b, flat), v;
    if (in->op == KIR_FPOW)
        v = cg_pow(c, (gn_elem)in->elem, x, y);
    else if (in->op == KIR_FMIN || in->op == KIR_FMAX)
        v = cg_fminmax(c, x, y, in->op == KIR_FMAX);
    else
        v = build[in->op](c->b, x, y, "");
    return cg_result(c, (gn_elem)in->elem, flat, v);
}

static cg_val float_fma(cg *c, const cg_val *a, const cg_val *b, const cg_val *d)
{
    bool flat = cg_flat(a) && cg_flat(b) && cg_flat(d);
    LLVMValueRef z = cg_operand(c, d, flat), y = cg_operand(c, b, flat), x = cg_operand(c, a, flat);
    return cg_result(c, (gn_elem)a->elem, flat, cg_fma(c, x, y, z));
}

static cg_val float_unary(cg *c, const kir_inst *in, const cg_val *a)
{
    bool flat = cg_flat(a);
    LLVMValueRef x = cg_operand(c, a, flat), v;
    switch (in->op) {
    case KIR_FNEG: v = LLVMBuildFNeg(c->b, x, ""); break;
    case KIR_FABS: v = cg_unary(c, "llvm.fabs", x); break;
    case KIR_SQRT: v = cg_unary(c, "llvm.sqrt", x); break;
    case KIR_FLOOR: v = cg_unary(c, "llvm.floor", x); break;
    default: v = cg_math(c, (kir_op)in->op, (gn_elem)in->elem, x); break;
    }
    return cg_result(c, (gn_elem)in->elem, flat, v);
}

static cg_val float_compare(cg *c, kir_op op, const cg_val *a, const cg_val *b)
{
    LLVMRealPredicate how = op == KIR_FLT ? LLVMRealOLT : op == KIR_FLE ? LLVMRealOLE : LLVMRealOEQ;
    bool flat = cg_flat(a) && cg_flat(b);
    LLVMValueRef x = cg_operand(c, a, flat), y = cg_operand(c, b, flat);
    return cg_result(c, GN_BOOL, flat, LLVMBuildFCmp(c->b, how, x, y, ""));
}

static cg_val constant(cg *c, const kir_inst *in)
{
    if (in->elem == GN_I64) return cg_int(in->imm);
    if (in->elem == GN_BOOL) {
        cg_val v = cg_int(in->imm != 0);
        v.elem = GN_BOOL;
        return v;
    }
    return cg_uniform((gn_elem)in->elem, LLVMConstReal(cg_type(c, (gn_elem)in->elem), in->fimm));
}

static cg_val value(cg *c, kir_id id)
{
    const kir_inst *in = kir_at(c->k, id);
    const cg_val *a = &c->val[in->a], *b = &c->val[in->b], *d = &c->val[in->c];
    switch (in->op) {
    case KIR_CONST: return constant(c, in);
    case KIR_SYM: return cg_int_value(c->sym[in->imm], 1);
    case KIR_TLOAD: return cg_tile_load(c, in);
    case KIR_LOAD: {
        cg_mem m = cg_buffer(c, (int)in->imm);
        return cg_load(c, &m, a);
    }
    case KIR_IADD: return cg_iadd(c, a, b);
    case KIR_ISUB: return cg_isub(c, a, b);
    case KIR_IMUL: return cg_imul(c, a, b);
    case KIR_IDIV:
    case KIR_IMOD: return cg_idivmod(c, a, b, in->op == KIR_IMOD);
    case KIR_IMIN:
    case KIR_IMAX: return cg_iminmax(c, a, b, in->op == KIR_IMAX);
    case KIR_ILT:
    case KIR_ILE:
    case KIR_IEQ: return cg_icompare(c, (kir_op)in->op, a, b);
    case KIR_FADD:
    case KIR_FSUB:
    case KIR_FMUL:
    case KIR_FDIV:
    case KIR_FMIN:
    case KIR_FMAX:
    case KIR_FPOW: return float_op(c, in, a, b);
    case KIR_FMA: return float_fma(c, a, b, d);
    case KIR_FLT:
    case KIR_FLE:
        if (cg_compares_draw(c, in)) return cg_compare_draw(c, in);
        return float_compare(c, (kir_op)in->op, a, b);
    case KIR_FEQ: return float_compare(c, (kir_op)in->op, a, b);
    case KIR_NOT: return cg_logic(c, KIR_NOT, a, a);
    case KIR_AND:
    case KIR_OR: return cg_logic(c, (kir_op)in->op, a, b);
    case KIR_SELECT: return cg_select(c, a, b, d);
    case KIR_CAST: return cg_cast(c, (gn_elem)in->elem, a);
    case KIR_RANDOM: return cg_random(c, id);
    case KIR_RNGKEY: return cg_rng_key(c, a, b);
    default: return float_unary(c, in, a);
    }
}

void cg_inst(cg *c, kir_id id)
{
    const kir_inst *in = kir_at(c->k, id);
    switch (in->op) {
    case KIR_FOR: cg_for(c, id); break;
    case KIR_IF: cg_if(c, id); break;
    case KIR_BARRIER: break; /* a worker is one lane of its own */
    case KIR_PREFETCH: cg_prefetch(c, (int)in->imm, &c->val[in->a]); break;
    case KIR_TILE: cg_tile_declare(c, id); break;
    case KIR_TSTORE: cg_tile_store(c, in); break;
    case KIR_TACC:
    case KIR_TFMA: cg_tile_acc(c, id); break;
    case KIR_TDOT: cg_tile_dot(c, id); break;
    case KIR_STORE: {
        if (cg_late_store(c, (int)in->imm, &c->val[in->a], &c->val[in->b])) break;
        cg_mem m = cg_buffer(c, (int)in->imm);
        cg_store(c, &m, &c->val[in->a], &c->val[in->b]);
        break;
    }
    default: c->val[id] = value(c, id); break;
    }
}
