/* Blocks, serial loops and IF. */
#include "codegen/cpu/emit_llvm.h"

#include <stdio.h>

enum { UNROLL_LIMIT = 256, SHORT_LOOP = 16 };

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

LLVMBasicBlockRef cg_new_block(cg *c, const char *name)
{
    return LLVMAppendBasicBlockInContext(c->ctx, c->fn, name);
}

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
    for (kir_id i = first; i && !c->fail; i = kir_at(c->k, i)->next) {
        if (c->place) cg_locate(c, i);
        cg_inst(c, i);
    }
}

LLVMValueRef cg_any(cg *c, LLVMValueRef mask)
{
    return cg_width(mask) == 1 ? mask : cg_unary(c, "llvm.vector.reduce.or", mask);
}

static int64_t known_factor(const cg_val *v) { return cg_gcd(v->v ? v->mult : 0, v->c); }

int64_t cg_weight(const cg *c, kir_id first)
{
    int64_t sum = 0;
    for (kir_id i = first; i && sum < 1000; i = kir_at(c->k, i)->next) {
        const kir_inst *in = kir_at(c->k, i);
        int64_t times = 1;
        if (in->op == KIR_FOR) {
            const kir_inst *a = kir_at(c->k, in->a), *b = kir_at(c->k, in->b);
            if (a->op != KIR_CONST || b->op != KIR_CONST || in->unit == KIR_SERIAL) return 1000;
            times = (b->imm - a->imm + in->imm - 1) / in->imm;
            if (in->unit == KIR_VECTOR) times = (times + c->target->lanes - 1) / c->target->lanes;
            sum += times * cg_weight(c, in->body);
        } else if (in->op == KIR_IF) {
            sum += 4 + cg_weight(c, in->body);
        } else if (in->op != KIR_CONST && in->op != KIR_SYM && in->op != KIR_TILE) {
            bool function = in->op == KIR_FPOW || (in->op >= KIR_EXP && in->op <= KIR_ERF) ||
                            in->op == KIR_RANDOM;
            sum += function ? 30 : 1;
        }
    }
    return sum;
}

int cg_copies(const cg *c, kir_id body)
{
    int64_t w = cg_weight(c, body);
    return w <= 8 ? 4 : w <= 20 ? 2 : 1;
}

typedef struct counted {
    kir_id loop, body;
    LLVMValueRef lo, hi;
    int64_t step, mult, scale; /* of the counter; the induction variable is scale times as much */
} counted;

/* for i = lo; i < hi; i += copies * step, tested at the bottom behind a test before.  Returns where
 * i ended. */
static LLVMValueRef loop_of_copies(cg *c, const counted *l, LLVMValueRef hi, int copies)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(c->b), body = cg_new_block(c, "loop"),
                      after = cg_new_block(c, "end");
    LLVMBuildCondBr(c->b, LLVMBuildICmp(c->b, LLVMIntSLT, l->lo, hi, ""), body, after);
    LLVMPositionBuilderAtEnd(c->b, body);
    LLVMValueRef at = LLVMBuildPhi(c->b, c->i64, "");
    for (int n = 0; n < copies && !c->fail; n++) {
        cg_val iv = cg_int_value(at, l->mult), ahead = cg_int(n * l->step),
               scale = cg_int(l->scale);
        iv = cg_iadd(c, &iv, &ahead);
        c->val[l->loop] = cg_imul(c, &iv, &scale);
        cg_block(c, l->body);
    }
    LLVMValueRef next = LLVMBuildNSWAdd(c->b, at, cg_i64(c, copies * l->step), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(c->b);
    LLVMBuildCondBr(c->b, LLVMBuildICmp(c->b, LLVMIntSLT, next, hi, ""), body, after);
    LLVMAddIncoming(at, (LLVMValueRef[]){l->lo, next}, (LLVMBasicBlockRef[]){before, latch}, 2);
    LLVMPositionBuilderAtEnd(c->b, after);
    LLVMValueRef end = LLVMBuildPhi(c->b, c->i64, "");
    LLVMAddIncoming(end, (LLVMValueRef[]){l->lo, next}, (LLVMBasicBlockRef[]){before, latch}, 2);
    return end;
}

/* The most iterations of a loop from 0 that ends at a remainder, or at a minimum with a
 * constant. */
int64_t cg_most_iterations(const cg *c, const kir_inst *loop)
{
    const kir_inst *end = kir_at(c->k, loop->b), *x = kir_at(c->k, end->a),
                   *y = kir_at(c->k, end->b);
    if (kir_at(c->k, loop->a)->op != KIR_CONST || kir_at(c->k, loop->a)->imm != 0 || loop->imm != 1)
        return INT64_MAX;
    if (end->op == KIR_IMOD && y->op == KIR_CONST) return y->imm - 1;
    if (end->op == KIR_IMIN && y->op == KIR_CONST) return y->imm;
    if (end->op == KIR_IMIN && x->op == KIR_CONST) return x->imm;
    return INT64_MAX;
}

/* Loops with a short body go round several iterations at a time: fewer branches, and the rows of a
 * sparse matrix end in fewer places that have to be predicted. */
static void serial_loop(cg *c, counted l)
{
    const kir_inst *in = kir_at(c->k, l.loop);
    int copies = in->unit == KIR_THREAD ? 1 : cg_copies(c, l.body);
    if (cg_most_iterations(c, in) <= SHORT_LOOP) copies = 1;
    if (copies > 1)
        l.lo = loop_of_copies(
            c, &l, LLVMBuildNSWSub(c->b, l.hi, cg_i64(c, (copies - 1) * l.step), ""), copies);
    loop_of_copies(c, &l, l.hi, 1);
}

static bool written_out(cg *c, kir_id loop, const cg_val *lo, const cg_val *hi)
{
    const kir_inst *in = kir_at(c->k, loop);
    if (in->unit != KIR_UNROLL && in->unit != KIR_VECTOR) return false;
    if (!cg_const(lo) || !cg_const(hi) || (hi->c - lo->c) / in->imm > UNROLL_LIMIT) return false;
    cg_late_begin(c, loop);
    for (int64_t i = lo->c; i < hi->c && !c->fail; i += in->imm) {
        c->val[loop] = cg_int(i);
        cg_block(c, in->body);
    }
    cg_late_end(c, loop);
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

/* Is all that an iteration does behind tests of what no iteration changes? */
static bool only_tests(const cg *c, kir_id loop)
{
    const kir_inst *in = kir_at(c->k, loop);
    if (!gn_is_on(c->off, GN_DO_HOIST_TESTS) || in->race != KIR_NONE || !in->body) return false;
    for (kir_id i = in->body; i; i = kir_at(c->k, i)->next)
        if (kir_at(c->k, i)->op != KIR_IF || c->val[kir_at(c->k, i)->a].kind != CG_UNIFORM)
            return false;
    return true;
}

/* Iterations have nothing to do with each other, so each test may have a loop of its own: no row
 * asks what is known before all of them, and what one of them holds in registers the others' does
 * not drive out. */
static void thread_loop(cg *c, kir_id loop)
{
    const kir_inst *in = kir_at(c->k, loop);
    counted l = {loop, in->body, LLVMGetParam(c->fn, 2), LLVMGetParam(c->fn, 3), 1, 1, in->imm};
    if (!only_tests(c, loop)) {
        serial_loop(c, l);
        return;
    }
    for (kir_id i = in->body; i && !c->fail; i = kir_at(c->k, i)->next) {
        LLVMBasicBlockRef then = cg_new_block(c, "then"), after = cg_new_block(c, "after");
        LLVMBuildCondBr(c->b, c->val[kir_at(c->k, i)->a].v, then, after);
        LLVMPositionBuilderAtEnd(c->b, then);
        l.body = kir_at(c->k, i)->body;
        serial_loop(c, l);
        cg_goto(c, after);
    }
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
        thread_loop(c, loop);
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
    int64_t mult = cg_gcd(known_factor(&lo), in->imm);
    LLVMValueRef from = cg_scalar(c, &lo), to = cg_scalar(c, &hi);
    serial_loop(c, (counted){loop, in->body, from, to, in->imm, mult, 1});
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
