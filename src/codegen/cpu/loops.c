/* Blocks, serial loops and IF. */
#include "codegen/cpu/emit.h"

#include <stdio.h>

enum { UNROLL_LIMIT = 256 };

void cg_fail(cg *c, const char *fmt, ...)
{
    char text[200];
    va_list ap;
    if (c->fail) return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    c->fail = gn_arena_strdup(c->arena, text);
}

LLVMBasicBlockRef cg_new_block(cg *c, const char *name) { return LLVMAppendBasicBlockInContext(c->ctx, c->fn, name); }

void cg_goto(cg *c, LLVMBasicBlockRef to)
{
    LLVMBuildBr(c->b, to);
    LLVMPositionBuilderAtEnd(c->b, to);
}

LLVMValueRef cg_alloca(cg *c, LLVMTypeRef type, unsigned align)
{
    LLVMValueRef p = LLVMBuildAlloca(c->entry, type, "");
    LLVMSetAlignment(p, align);
    return p;
}

void cg_block(cg *c, kir_id first)
{
    for (kir_id i = first; i && !c->fail; i = kir_at(c->k, i)->next) cg_inst(c, i);
}

LLVMValueRef cg_any(cg *c, LLVMValueRef mask)
{
    return cg_width(mask) == 1 ? mask : cg_unary(c, "llvm.vector.reduce.or", mask);
}

static int64_t known_factor(const cg_val *v) { return cg_gcd(v->v ? v->mult : 0, v->c); }

/* for iv = lo; iv < hi; iv += step, tested at the bottom behind a test before. */
static void serial_loop(cg *c, kir_id loop, LLVMValueRef lo, LLVMValueRef hi, int64_t step, int64_t mult, int64_t scale)
{
    const kir_inst *in = kir_at(c->k, loop);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(c->b), body = cg_new_block(c, "loop"), after = cg_new_block(c, "end");
    LLVMBuildCondBr(c->b, LLVMBuildICmp(c->b, LLVMIntSLT, lo, hi, ""), body, after);
    LLVMPositionBuilderAtEnd(c->b, body);
    LLVMValueRef iv = LLVMBuildPhi(c->b, c->i64, "");
    c->val[loop] = cg_int_value(iv, mult);
    if (scale != 1) {
        cg_val k = cg_int(scale);
        c->val[loop] = cg_imul(c, &c->val[loop], &k);
    }
    cg_block(c, in->body);
    LLVMValueRef next = LLVMBuildNSWAdd(c->b, iv, cg_i64(c, step), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(c->b);
    LLVMBuildCondBr(c->b, LLVMBuildICmp(c->b, LLVMIntSLT, next, hi, ""), body, after);
    LLVMAddIncoming(iv, (LLVMValueRef[]){lo, next}, (LLVMBasicBlockRef[]){before, latch}, 2);
    LLVMPositionBuilderAtEnd(c->b, after);
}

static bool written_out(cg *c, kir_id loop, const cg_val *lo, const cg_val *hi)
{
    const kir_inst *in = kir_at(c->k, loop);
    if (in->unit != KIR_UNROLL && in->unit != KIR_VECTOR) return false;
    if (!cg_const(lo) || !cg_const(hi) || (hi->c - lo->c) / in->imm > UNROLL_LIMIT) return false;
    for (int64_t i = lo->c; i < hi->c && !c->fail; i += in->imm) {
        c->val[loop] = cg_int(i);
        cg_block(c, in->body);
    }
    return true;
}

/* Bounds that differ between lanes: the lanes go round together until the last has ended. */
static void divergent_loop(cg *c, kir_id loop, const cg_val *lo, const cg_val *hi)
{
    const kir_inst *in = kir_at(c->k, loop);
    cg_val outer = c->mask;
    bool tail = c->mask_tail;
    LLVMValueRef end = cg_as_vector(c, hi), run = cg_mask_vector(c), first = cg_as_vector(c, lo);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(c->b), head = cg_new_block(c, "lanes"),
                      body = cg_new_block(c, "loop"), after = cg_new_block(c, "end");
    cg_goto(c, head);
    LLVMValueRef iv = LLVMBuildPhi(c->b, LLVMTypeOf(end), "");
    LLVMValueRef on = LLVMBuildICmp(c->b, LLVMIntSLT, iv, end, "");
    if (run) on = LLVMBuildAnd(c->b, on, run, "");
    LLVMBuildCondBr(c->b, cg_any(c, on), body, after);
    LLVMPositionBuilderAtEnd(c->b, body);
    c->mask = cg_vector(GN_BOOL, on);
    c->mask_tail = false;
    c->val[loop] = cg_vector(GN_I64, iv);
    cg_block(c, in->body);
    LLVMValueRef next = LLVMBuildAdd(c->b, iv, cg_const_i(LLVMTypeOf(iv), in->imm), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(c->b);
    LLVMBuildBr(c->b, head);
    LLVMAddIncoming(iv, (LLVMValueRef[]){first, next}, (LLVMBasicBlockRef[]){before, latch}, 2);
    LLVMPositionBuilderAtEnd(c->b, after);
    c->mask = outer;
    c->mask_tail = tail;
}

void cg_for(cg *c, kir_id loop)
{
    const kir_inst *in = kir_at(c->k, loop);
    cg_val lo = c->val[in->a], hi = c->val[in->b];
    if (in->imm <= 0) {
        cg_fail(c, "a loop with step %lld", (long long)in->imm);
        return;
    }
    if (in->unit == KIR_THREAD) {
        serial_loop(c, loop, LLVMGetParam(c->fn, 2), LLVMGetParam(c->fn, 3), 1, 1, in->imm);
        return;
    }
    if (cg_const(&lo) && cg_const(&hi) && cg_flat(&lo) && cg_flat(&hi) && lo.c >= hi.c) return;
    if (in->unit == KIR_VECTOR && c->lanes == 1 && !c->reduce.loop) {
        cg_vector_loop(c, loop);
        return;
    }
    if (!cg_flat(&lo) || !cg_flat(&hi)) {
        divergent_loop(c, loop, &lo, &hi);
        return;
    }
    if (written_out(c, loop, &lo, &hi)) return;
    serial_loop(c, loop, cg_scalar(c, &lo), cg_scalar(c, &hi), in->imm, cg_gcd(known_factor(&lo), in->imm), 1);
}

static void masked_if(cg *c, kir_id id, const cg_val *cond)
{
    cg_val outer = c->mask;
    bool tail = c->mask_tail;
    cg_val both = outer.kind == CG_NONE ? *cond : cg_logic(c, KIR_AND, &outer, cond);
    if (cg_const(&both) && !both.off && !both.c) return;
    c->mask = both;
    c->mask_tail = false;
    LLVMBasicBlockRef after = NULL;
    if (!cg_const(&both)) {
        LLVMBasicBlockRef then = cg_new_block(c, "some");
        after = cg_new_block(c, "none");
        LLVMBuildCondBr(c->b, cg_any(c, cg_as_vector(c, &both)), then, after);
        LLVMPositionBuilderAtEnd(c->b, then);
    }
    cg_block(c, kir_at(c->k, id)->body);
    if (after) cg_goto(c, after);
    c->mask = outer;
    c->mask_tail = tail;
}

void cg_if(cg *c, kir_id id)
{
    const kir_inst *in = kir_at(c->k, id);
    cg_val cond = c->val[in->a];
    if (cg_const(&cond) && !cond.off) {
        if (cond.c) cg_block(c, in->body);
        return;
    }
    if (!cg_flat(&cond)) {
        masked_if(c, id, &cond);
        return;
    }
    LLVMBasicBlockRef then = cg_new_block(c, "then"), after = cg_new_block(c, "after");
    LLVMBuildCondBr(c->b, cg_scalar(c, &cond), then, after);
    LLVMPositionBuilderAtEnd(c->b, then);
    cg_block(c, in->body);
    cg_goto(c, after);
}
