/* Tiles: padded arrays on the stack.  Where every index is a constant after writing out, LLVM's
 * SROA takes them apart into registers; nothing here has to know.  A tile declared inside a vector
 * loop has a copy a lane, lanes innermost. */
#include "codegen/cpu/emit_llvm.h"

enum { STACK_LIMIT = 256 * 1024 };

void cg_tile_declare(cg *c, kir_id id)
{
    const kir_inst *in = kir_at(c->k, id);
    cg_tile *t = &c->tile[id];
    if (t->ptr && t->lanes == c->lanes) return; /* the same in every pass */
    int64_t copies = c->lanes, all = in->imm * copies;
    all = (all + 2 * CG_MAX_LANES - 1) / CG_MAX_LANES * CG_MAX_LANES;
    LLVMTypeRef storage = cg_storage(c, (gn_elem)in->elem);
    c->stack_bytes += all * (int64_t)gn_elem_size((gn_elem)in->elem);
    if (in->imm <= 0 || all > STACK_LIMIT || c->stack_bytes > STACK_LIMIT) {
        cg_fail(c, "tiles of more than %d bytes", STACK_LIMIT);
        all = CG_MAX_LANES;
    }
    t->ptr = cg_alloca(c, LLVMArrayType2(storage, (uint64_t)all), 64);
    t->elems = in->imm;
    t->lanes = c->lanes;
}

cg_mem cg_tile_mem(cg *c, kir_id tile, cg_val *index)
{
    cg_tile *t = &c->tile[tile];
    cg_mem m = {.ptr = t->ptr,
                .elem = (gn_elem)kir_at(c->k, tile)->elem,
                .tile = true,
                .elems = t->elems * t->lanes};
    if (t->lanes > 1 && t->lanes == c->lanes) {
        int64_t lane[CG_MAX_LANES];
        for (int l = 0; l < c->lanes; l++) lane[l] = l;
        cg_val width = cg_int(c->lanes), own = cg_lanes_const(c, GN_I64, lane);
        cg_val scaled = cg_imul(c, index, &width);
        *index = cg_iadd(c, &scaled, &own);
    }
    return m;
}

cg_val cg_tile_load(cg *c, const kir_inst *in)
{
    cg_val index = c->val[in->a];
    cg_mem m = cg_tile_mem(c, in->ref, &index);
    return cg_load(c, &m, &index);
}

void cg_tile_store(cg *c, const kir_inst *in)
{
    cg_val index = c->val[in->a];
    cg_mem m = cg_tile_mem(c, in->ref, &index);
    cg_store(c, &m, &index, &c->val[in->b]);
}

/* Do the running lanes name different elements? */
static bool distinct(const cg *c, const cg_val *index)
{
    if (c->lanes == 1) return true;
    if (index->kind != CG_INT || !index->off) return false;
    for (int l = 0; l < c->lanes; l++)
        for (int i = 0; i < l; i++)
            if (cg_lane_runs(c, l) && cg_lane_runs(c, i) && cg_lane(index, l) == cg_lane(index, i))
                return false;
    return true;
}

/* Each lane has its own element: read, combine, write. */
static void acc_each(cg *c, const cg_mem *m, const kir_inst *in, const cg_val *index)
{
    gn_elem e = cg_value_elem(m->elem);
    cg_val old = cg_load(c, m, index);
    LLVMValueRef t = cg_as_vector(c, &old), b = cg_as_vector(c, &c->val[in->b]), r;
    if (in->op == KIR_TFMA)
        r = cg_fma(c, b, cg_as_vector(c, &c->val[in->c]), t);
    else
        r = cg_combine(c, e, (int)in->imm, t, b);
    cg_val v = cg_result(c, e, false, r);
    cg_store(c, m, index, &v);
}

void cg_tile_acc(cg *c, kir_id id)
{
    const kir_inst *in = kir_at(c->k, id);
    cg_val index = c->val[in->a];
    cg_mem m = cg_tile_mem(c, in->ref, &index);
    /* the last iteration, left over from chunks */
    bool alone = c->lanes == 1 && c->reduce.loop && !c->varies[in->a];
    if (distinct(c, &index) && !(alone && cg_defer_acc(c, id, &index))) {
        acc_each(c, &m, in, &index);
        return;
    }
    if (alone) return;
    if (cg_defer_acc(c, id, &index)) return;
    gn_elem e = cg_value_elem(m.elem);
    int red = in->op == KIR_TFMA ? 0 : (int)in->imm;
    LLVMValueRef v = cg_as_vector(c, &c->val[in->b]), mask = cg_mask_vector(c);
    if (in->op == KIR_TFMA) v = LLVMBuildFMul(c->b, v, cg_as_vector(c, &c->val[in->c]), "");
    if (mask) v = cg_sel(c, mask, v, cg_identity(LLVMTypeOf(v), e, red));
    cg_reduce_into(c, &m, &index, red, v);
}

/* Products of pairs ---------------------------------------------------------------------------- */

/* Two bf16 of each lane, in 32 bits: the even one in the lower half. */
static LLVMValueRef pairs(cg *c, kir_id tile, cg_val index)
{
    const cg_tile *t = &c->tile[tile];
    if (t->lanes > 1 || index.kind != CG_INT) { /* they lie apart, or who knows where */
        LLVMValueRef half[2];
        for (int k = 0; k < 2; k++) {
            cg_val ahead = cg_int(k), at = cg_iadd(c, &index, &ahead);
            cg_mem m = cg_tile_mem(c, tile, &at);
            half[k] = cg_load_stored(c, &m, &at);
            half[k] = LLVMBuildZExt(c->b, half[k], cg_like(c->i32, half[k]), "");
            if (cg_width(half[k]) != c->lanes) half[k] = cg_splat(c, half[k], c->lanes);
        }
        LLVMValueRef upper = LLVMBuildShl(c->b, half[1], cg_const_i(LLVMTypeOf(half[1]), 16), "");
        return LLVMBuildOr(c->b, upper, half[0], "");
    }
    cg_val two = cg_int(2), at = cg_idivmod(c, &index, &two, false);
    cg_mem m = {.ptr = t->ptr, .elem = GN_U32, .tile = true, .elems = t->elems / 2};
    LLVMValueRef words = cg_load_stored(c, &m, &at);
    return cg_width(words) == c->lanes ? words : cg_splat(c, words, c->lanes);
}

/* One of the halves as f32. */
static LLVMValueRef half_of(cg *c, LLVMValueRef words, bool upper)
{
    LLVMTypeRef t = LLVMTypeOf(words);
    LLVMValueRef bits = upper ? LLVMBuildAnd(c->b, words, cg_const_i(t, 0xFFFF0000ll), "")
                              : LLVMBuildShl(c->b, words, cg_const_i(t, 16), "");
    return LLVMBuildBitCast(c->b, bits, cg_like(c->f32, words), "");
}

/* The instruction adds as TDOT says (AVX512-BF16; measured: bit for bit), so without it two
 * multiply-adds do the same. */
static LLVMValueRef dot(cg *c, LLVMValueRef sum, LLVMValueRef x, LLVMValueRef y)
{
    const char *name = c->lanes == 16  ? "llvm.x86.avx512bf16.dpbf16ps.512"
                       : c->lanes == 8 ? "llvm.x86.avx512bf16.dpbf16ps.256"
                                       : "llvm.x86.avx512bf16.dpbf16ps.128";
    if (c->target->pairs && c->lanes >= 4) {
        LLVMTypeRef t = LLVMVectorType(LLVMBFloatTypeInContext(c->ctx), 2 * (unsigned)c->lanes);
        x = LLVMBuildBitCast(c->b, x, t, "");
        y = LLVMBuildBitCast(c->b, y, t, "");
        return cg_intrinsic(c, name, NULL, 0, (LLVMValueRef[]){sum, x, y}, 3);
    }
    LLVMValueRef x1 = half_of(c, x, true), y1 = half_of(c, y, true);
    LLVMValueRef x0 = half_of(c, x, false), y0 = half_of(c, y, false);
    return cg_fma(c, x0, y0, cg_fma(c, x1, y1, sum));
}

void cg_tile_dot(cg *c, kir_id id)
{
    const kir_inst *in = kir_at(c->k, id);
    cg_val index = c->val[in->a];
    cg_mem m = cg_tile_mem(c, in->ref, &index);
    LLVMValueRef x = pairs(c, in->left, c->val[in->b]), y = pairs(c, in->right, c->val[in->c]);
    cg_val old = cg_load(c, &m, &index);
    cg_val sum = cg_result(c, GN_F32, false, dot(c, cg_as_vector(c, &old), x, y));
    cg_store(c, &m, &index, &sum);
}
