/* RANDOM: draws of base/draw.h in 32-bit lanes.  RNGKEY: Philox of base/philox.h. */
#include "base/draw.h"
#include "base/philox.h"
#include "codegen/cpu/emit_llvm.h"

#include <math.h>

static LLVMValueRef low32(cg *c, LLVMValueRef x)
{
    return LLVMBuildAnd(c->b, x, cg_const_i(LLVMTypeOf(x), 0xFFFFFFFFll), "");
}

static LLVMValueRef shift(cg *c, LLVMValueRef x, int n)
{
    return LLVMBuildLShr(c->b, x, cg_const_i(LLVMTypeOf(x), n), "");
}

static LLVMValueRef times(cg *c, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildMul(c->b, a, b, "");
}
static LLVMValueRef plus(cg *c, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildAdd(c->b, a, b, "");
}

/* z ^ z >> n */
static LLVMValueRef folded(cg *c, LLVMValueRef z, int n)
{
    return LLVMBuildXor(c->b, z, shift(c, z, n), "");
}

/* (z ^ z >> n) * m */
static LLVMValueRef round_of(cg *c, LLVMValueRef z, int n, uint64_t m)
{
    return times(c, folded(c, z, n), cg_const_i(LLVMTypeOf(z), (int64_t)m));
}

/* gn_draw_key */
static LLVMValueRef draw_key(cg *c, LLVMValueRef key, int64_t site)
{
    LLVMTypeRef t = LLVMTypeOf(key);
    LLVMValueRef z = plus(c, key, cg_const_i(t, (int64_t)(((uint64_t)site + 1) * GN_DRAW_WEYL)));
    return folded(c, round_of(c, round_of(c, z, 30, GN_DRAW_MIX1), 27, GN_DRAW_MIX2), 31);
}

/* A half of 64-bit lanes, in as many lanes as `like` has. */
static LLVMValueRef half(cg *c, LLVMValueRef x, bool upper, LLVMValueRef like)
{
    LLVMValueRef h = LLVMBuildTrunc(c->b, upper ? shift(c, x, 32) : x, cg_like(c->i32, x), "");
    return cg_width(h) < cg_width(like) ? cg_splat(c, h, cg_width(like)) : h;
}

/* gn_draw_word: 32-bit lanes throughout, where `narrow` says that elements fit. */
static LLVMValueRef words(cg *c, LLVMValueRef key, LLVMValueRef element, bool narrow)
{
    LLVMValueRef x = half(c, element, false, element), outer = half(c, key, false, element);
    LLVMValueRef inner = half(c, key, true, element);
    x = plus(c, x, outer);
    if (!narrow) {
        LLVMValueRef high = half(c, element, true, element);
        high = times(c, high, cg_const_i(LLVMTypeOf(high), (int64_t)GN_DRAW_HIGH));
        inner = plus(c, inner, high);
        x = plus(c, x, round_of(c, high, 16, GN_DRAW_HIGH2));
    }
    LLVMValueRef first = round_of(c, x, 17, GN_DRAW_M1),
                 last = plus(c, round_of(c, first, 11, GN_DRAW_M2), inner);
    return plus(c, folded(c, round_of(c, last, 15, GN_DRAW_M3), 14), first);
}

static LLVMValueRef to_uniform(cg *c, LLVMValueRef bits)
{
    LLVMValueRef w = LLVMBuildLShr(c->b, bits, cg_const_i(LLVMTypeOf(bits), 8), "");
    LLVMTypeRef f = cg_like(c->f32, w);
    return LLVMBuildFMul(c->b, LLVMBuildSIToFP(c->b, w, f, ""), cg_const_f(f, 0x1p-24), "");
}

cg_val cg_random(cg *c, kir_id inst)
{
    const kir_inst *in = kir_at(c->k, inst);
    const cg_val *key = &c->val[in->a], *element = &c->val[in->b];
    bool flat = cg_flat(key) && cg_flat(element);
    LLVMValueRef k = draw_key(c, cg_flat(key) ? cg_scalar(c, key) : cg_as_vector(c, key), in->imm);
    LLVMValueRef e = cg_operand(c, element, flat);
    c->word[inst] = words(c, k, e, in->narrow);
    return cg_result(c, GN_F32, flat, to_uniform(c, c->word[inst]));
}

static bool is_draw(const cg *c, kir_id i) { return kir_at(c->k, i)->op == KIR_RANDOM; }
static bool is_number(const cg *c, kir_id i)
{
    return kir_at(c->k, i)->op == KIR_CONST && !isnan(kir_at(c->k, i)->fimm);
}

bool cg_compares_draw(const cg *c, const kir_inst *in)
{
    if (!gn_is_on(c->off, GN_DO_DRAW_BITS)) return false;
    return (is_draw(c, in->a) && is_number(c, in->b)) || (is_number(c, in->a) && is_draw(c, in->b));
}

/* A draw is (word >> 8) 2^-24, so p <= draw where word >= ceil(p 2^24) 2^8, and p < draw where word
 * >= (floor(p 2^24) + 1) 2^8: exactly, and without the three instructions that make a float of the
 * word.  What is left is one or the other, or neither. */
cg_val cg_compare_draw(cg *c, const kir_inst *in)
{
    bool right = is_draw(c, in->b);
    kir_id draw = right ? in->b : in->a;
    double p = (double)(float)kir_at(c->k, right ? in->a : in->b)->fimm * 0x1p24;
    double least = (in->op == KIR_FLE) == right ? ceil(p) : floor(p) + 1;
    bool always = least <= 0, never = least >= 0x1p24;
    if (always || never) return cg_uniform(GN_BOOL, LLVMConstInt(c->i1, always == right, false));
    LLVMValueRef word = c->word[draw], bound = cg_const_i(LLVMTypeOf(word), (int64_t)least << 8);
    LLVMIntPredicate how = right ? LLVMIntUGE : LLVMIntULT;
    return cg_result(c, GN_BOOL, cg_flat(&c->val[draw]), LLVMBuildICmp(c->b, how, word, bound, ""));
}

typedef struct words_of { /* in the lower halves of 64-bit lanes; the upper halves hold anything */
    LLVMValueRef w0, w1;
} words_of;

/* The rounds as a loop: keys are made once a call, and ten rounds cost more to compile than to
 * run. */
static words_of philox_loop(cg *c, LLVMValueRef c0, LLVMValueRef c1, LLVMValueRef key)
{
    LLVMTypeRef t = LLVMTypeOf(c0);
    LLVMValueRef start[] = {c0, c1, low32(c, key), cg_i64(c, 0)}, at[4], next[4];
    LLVMBasicBlockRef before = LLVMGetInsertBlock(c->b), round = cg_new_block(c, "round"),
                      after = cg_new_block(c, "rounds");
    cg_goto(c, round);
    for (int i = 0; i < 4; i++) at[i] = LLVMBuildPhi(c->b, i < 3 ? t : c->i64, "");
    LLVMValueRef p = LLVMBuildMul(c->b, low32(c, at[0]), cg_const_i(t, GN_PHILOX_M), "");
    next[0] = LLVMBuildXor(c->b, LLVMBuildXor(c->b, shift(c, p, 32), at[2], ""), at[1], "");
    next[1] = p;
    next[2] = LLVMBuildAdd(c->b, at[2], cg_const_i(t, GN_PHILOX_W), "");
    next[3] = LLVMBuildAdd(c->b, at[3], cg_i64(c, 1), "");
    LLVMBuildCondBr(c->b, LLVMBuildICmp(c->b, LLVMIntULT, next[3], cg_i64(c, GN_PHILOX_ROUNDS), ""),
                    round, after);
    for (int i = 0; i < 4; i++)
        LLVMAddIncoming(at[i], (LLVMValueRef[]){start[i], next[i]},
                        (LLVMBasicBlockRef[]){before, round}, 2);
    LLVMPositionBuilderAtEnd(c->b, after);
    return (words_of){next[0], next[1]};
}

/* gn_step_key */
static LLVMValueRef key_of(cg *c, LLVMValueRef seed, LLVMValueRef step)
{
    words_of a = philox_loop(c, seed, shift(c, seed, 32), cg_const_i(LLVMTypeOf(seed), 0x5bd1e995));
    words_of b = philox_loop(c, step, shift(c, step, 32), a.w0);
    LLVMTypeRef t = LLVMTypeOf(seed);
    LLVMValueRef upper = LLVMBuildShl(c->b, b.w1, cg_const_i(t, 32), "");
    LLVMValueRef key = LLVMBuildOr(c->b, low32(c, LLVMBuildXor(c->b, b.w0, a.w1, "")), upper, "");
    return LLVMBuildAnd(c->b, key, cg_const_i(t, (int64_t)GN_STEP_KEY_MASK), "");
}

cg_val cg_rng_key(cg *c, const cg_val *seed, const cg_val *step)
{
    bool flat = cg_flat(seed) && cg_flat(step);
    LLVMValueRef a = cg_operand(c, seed, flat);
    LLVMValueRef b = cg_operand(c, step, flat);
    return cg_result(c, GN_I64, flat, key_of(c, a, b));
}
