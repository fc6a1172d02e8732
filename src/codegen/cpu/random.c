/* RANDOM and RNGKEY: Philox 2x32-10 of base/philox.h in 64-bit lanes, one 32 x 32 -> 64 multiplication a round.
 *
 * A counter gives two outputs, so lanes that draw consecutive elements share counters: n/2 of them where the first element
 * is even, which is often known; where it is not, one more counter and a shift by one lane, if the element turns out odd. */
#include "base/philox.h"
#include "codegen/cpu/emit.h"

static LLVMValueRef low32(cg *c, LLVMValueRef x)
{
    return LLVMBuildAnd(c->b, x, cg_const_i(LLVMTypeOf(x), 0xFFFFFFFFll), "");
}

static LLVMValueRef shift(cg *c, LLVMValueRef x, int n)
{
    return LLVMBuildLShr(c->b, x, cg_const_i(LLVMTypeOf(x), n), "");
}

/* The same value, but nobody can look through it.  LLVM asks for every operand of every round which bits are known, up to
 * six operations deep; that took more time than everything else about a kernel with random numbers. */
static LLVMValueRef opaque(cg *c, LLVMValueRef x)
{
    LLVMTypeRef t = LLVMTypeOf(x), f = LLVMFunctionType(t, &t, 1, false);
    if (cg_width(x) > c->target->lanes / 2) return x; /* more than a register */
    const char *where = cg_width(x) == 1 ? "=r,0" : c->target->masks ? "=v,0" : "=x,0";
    LLVMValueRef same = LLVMGetInlineAsm(f, "", 0, where, 4, false, false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(c->b, f, same, &x, 1, "");
}

typedef struct words {
    LLVMValueRef w0, w1; /* in the lower halves of 64-bit lanes; the upper halves hold anything */
} words;

static words philox(cg *c, LLVMValueRef c0, LLVMValueRef c1, LLVMValueRef key)
{
    LLVMTypeRef t = LLVMTypeOf(c0);
    for (int r = 0; r < GN_PHILOX_ROUNDS; r++) {
        LLVMValueRef p = LLVMBuildMul(c->b, low32(c, c0), cg_const_i(t, GN_PHILOX_M), "");
        LLVMValueRef k = LLVMBuildAdd(c->b, key, cg_const_i(LLVMTypeOf(key), (int64_t)((uint64_t)r * GN_PHILOX_W)), "");
        if (cg_width(key) != cg_width(c0)) k = cg_splat(c, k, cg_width(c0));
        c0 = opaque(c, LLVMBuildXor(c->b, LLVMBuildXor(c->b, shift(c, p, 32), k, ""), c1, ""));
        c1 = p;
    }
    return (words){c0, c1};
}

/* The block of counter `half` = element >> 1. */
static words block(cg *c, LLVMValueRef half, int64_t site, LLVMValueRef key)
{
    LLVMTypeRef t = LLVMTypeOf(half);
    int64_t spread = (uint32_t)((uint32_t)site * GN_PHILOX_W);
    LLVMValueRef c1 = LLVMBuildXor(c->b, shift(c, half, 32), cg_const_i(t, spread), "");
    return philox(c, half, c1, key);
}

static LLVMValueRef to_uniform(cg *c, LLVMValueRef bits)
{
    LLVMValueRef w = LLVMBuildLShr(c->b, bits, cg_const_i(LLVMTypeOf(bits), 8), "");
    LLVMTypeRef f = cg_like(c->f32, w);
    return LLVMBuildFMul(c->b, LLVMBuildSIToFP(c->b, w, f, ""), cg_const_f(f, 0x1p-24), "");
}

static LLVMValueRef one_each(cg *c, LLVMValueRef element, int64_t site, LLVMValueRef key)
{
    int n = cg_width(element), half = n / 2, map[CG_MAX_LANES];
    if (n > 2 && n > c->target->lanes / 2) { /* more than a register */
        LLVMValueRef part[2];
        for (int h = 0; h < 2; h++) {
            for (int l = 0; l < half; l++) map[l] = h * half + l;
            LLVMValueRef k = cg_width(key) == 1 ? key : cg_shuffle(c, key, NULL, map, half);
            part[h] = one_each(c, cg_shuffle(c, element, NULL, map, half), site, k);
        }
        for (int l = 0; l < n; l++) map[l] = l;
        return cg_shuffle(c, part[0], part[1], map, n);
    }
    LLVMTypeRef word = cg_like(c->i32, element);
    words w = block(c, shift(c, element, 1), site, key);
    LLVMValueRef odd = LLVMBuildTrunc(c->b, element, cg_like(c->i1, element), "");
    return cg_sel(c, odd, LLVMBuildTrunc(c->b, w.w1, word, ""), LLVMBuildTrunc(c->b, w.w0, word, ""));
}

/* The words of `lanes` consecutive elements from 2 * half on. */
static LLVMValueRef pairs(cg *c, LLVMValueRef half, int64_t site, LLVMValueRef key)
{
    int n = c->lanes / 2;
    int64_t step[CG_MAX_LANES];
    for (int i = 0; i < n; i++) step[i] = i;
    LLVMValueRef at = LLVMBuildAdd(c->b, cg_splat(c, half, n), cg_const_lanes(c->i64, step, n), "");
    words w = block(c, at, site, key);
    LLVMTypeRef halves = cg_vec(c->i32, c->lanes);
    int map[CG_MAX_LANES];
    for (int l = 0; l < c->lanes; l++) map[l] = l % 2 ? c->lanes + l - 1 : l;
    return cg_shuffle(c, LLVMBuildBitCast(c->b, w.w0, halves, ""), LLVMBuildBitCast(c->b, w.w1, halves, ""), map,
                      c->lanes);
}

static LLVMValueRef consecutive(cg *c, const cg_val *element, int64_t site, LLVMValueRef key)
{
    cg_val first = *element;
    first.c += element->off ? element->off[0] : 0;
    first.off = NULL;
    LLVMValueRef e = cg_scalar(c, &first), half = shift(c, e, 1), w = pairs(c, half, site, key);
    bool even_base = !first.v || first.mult % 2 == 0;
    if (even_base && first.c % 2 == 0) return w;
    int map[CG_MAX_LANES];
    for (int l = 0; l < c->lanes; l++) map[l] = l + 1;
    words beyond = block(c, LLVMBuildAdd(c->b, half, cg_i64(c, c->lanes / 2), ""), site, key);
    LLVMValueRef next = LLVMBuildInsertElement(c->b, LLVMGetPoison(LLVMTypeOf(w)),
                                               LLVMBuildTrunc(c->b, beyond.w0, c->i32, ""), cg_i32(c, 0), "");
    LLVMValueRef later = cg_shuffle(c, w, next, map, c->lanes);
    if (even_base) return later;
    return cg_sel(c, LLVMBuildTrunc(c->b, e, c->i1, ""), later, w);
}

static bool is_consecutive(const cg *c, const cg_val *v)
{
    if (v->kind != CG_INT || !v->off || c->lanes < 4) return false;
    for (int l = 1; l < c->lanes; l++)
        if (v->off[l] != v->off[0] + l) return false;
    return true;
}

cg_val cg_random(cg *c, int64_t site, const cg_val *key, const cg_val *element)
{
    if (cg_flat(key) && cg_flat(element))
        return cg_result(c, GN_F32, true, to_uniform(c, one_each(c, cg_scalar(c, element), site, cg_scalar(c, key))));
    LLVMValueRef bits;
    if (cg_flat(key) && is_consecutive(c, element))
        bits = consecutive(c, element, site, cg_scalar(c, key));
    else
        bits = one_each(c, cg_as_vector(c, element), site, cg_flat(key) ? cg_scalar(c, key) : cg_as_vector(c, key));
    return cg_result(c, GN_F32, false, to_uniform(c, bits));
}

/* The rounds as a loop: keys are made once a call, and ten rounds cost more to compile than to run. */
static words philox_loop(cg *c, LLVMValueRef c0, LLVMValueRef c1, LLVMValueRef key)
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
    LLVMBuildCondBr(c->b, LLVMBuildICmp(c->b, LLVMIntULT, next[3], cg_i64(c, GN_PHILOX_ROUNDS), ""), round, after);
    for (int i = 0; i < 4; i++)
        LLVMAddIncoming(at[i], (LLVMValueRef[]){start[i], next[i]}, (LLVMBasicBlockRef[]){before, round}, 2);
    LLVMPositionBuilderAtEnd(c->b, after);
    return (words){next[0], next[1]};
}

static LLVMValueRef key_of(cg *c, LLVMValueRef seed, LLVMValueRef step)
{
    words a = philox_loop(c, seed, shift(c, seed, 32), cg_const_i(LLVMTypeOf(seed), 0x5bd1e995));
    words b = philox_loop(c, step, shift(c, step, 32), a.w0);
    return low32(c, LLVMBuildXor(c->b, b.w0, a.w1, ""));
}

cg_val cg_rng_key(cg *c, const cg_val *seed, const cg_val *step)
{
    bool flat = cg_flat(seed) && cg_flat(step);
    LLVMValueRef a = flat ? cg_scalar(c, seed) : cg_as_vector(c, seed);
    LLVMValueRef b = flat ? cg_scalar(c, step) : cg_as_vector(c, step);
    return cg_result(c, GN_I64, flat, key_of(c, a, b));
}
