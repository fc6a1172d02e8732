/* The helpers of kir_ops.h. */
#include "ir/kir_ops.h"

static kir_id emit(kir_kernel *k, kir_cursor *c, kir_inst i) { return kir_emit(k, c, &i); }

kir_id kir_iconst(kir_kernel *k, kir_cursor *c, int64_t v)
{
    return emit(k, c, (kir_inst){.op = KIR_CONST, .elem = GN_I64, .imm = v});
}

kir_id kir_fconst(kir_kernel *k, kir_cursor *c, gn_elem e, double v)
{
    return emit(k, c, (kir_inst){.op = KIR_CONST, .elem = (uint8_t)e, .fimm = v});
}

kir_id kir_bconst(kir_kernel *k, kir_cursor *c, bool v)
{
    return emit(k, c, (kir_inst){.op = KIR_CONST, .elem = GN_BOOL, .imm = v});
}

kir_id kir_sym(kir_kernel *k, kir_cursor *c, int sym)
{
    return emit(k, c, (kir_inst){.op = KIR_SYM, .imm = sym});
}

kir_id kir_size_value(kir_kernel *k, kir_cursor *c, kir_size s)
{
    if (s.sym < 0) return kir_iconst(k, c, s.coef + s.plus);
    kir_id v = kir_bin_imm(k, c, KIR_IMUL, kir_sym(k, c, s.sym), s.coef);
    return kir_bin_imm(k, c, KIR_IADD, v, s.plus);
}

/* Operations ----------------------------------------------------------------------------------- */

kir_id kir_bin(kir_kernel *k, kir_cursor *c, kir_op op, kir_id a, kir_id b)
{
    kir_fold f = kir_fold_bin(k, op, a, b);
    switch (f.kind) {
    case KIR_FOLD_VALUE: return f.a;
    case KIR_FOLD_INT: return kir_iconst(k, c, f.imm);
    case KIR_FOLD_BOOL: return kir_bconst(k, c, f.imm != 0);
    case KIR_FOLD_IMM: return kir_bin_imm(k, c, f.op, f.a, f.imm);
    default: return emit(k, c, (kir_inst){.op = (uint8_t)op, .a = f.a, .b = f.b});
    }
}

kir_id kir_bin_imm(kir_kernel *k, kir_cursor *c, kir_op op, kir_id a, int64_t b)
{
    return kir_bin(k, c, op, a, kir_iconst(k, c, b));
}

kir_id kir_un(kir_kernel *k, kir_cursor *c, kir_op op, kir_id a)
{
    bool v;
    if (op == KIR_NOT && kir_is_bconst(k, a, &v)) return kir_bconst(k, c, !v);
    if (op == KIR_NOT && kir_at(k, a)->op == KIR_NOT) return kir_at(k, a)->a;
    return emit(k, c, (kir_inst){.op = (uint8_t)op, .a = a});
}

kir_id kir_tri(kir_kernel *k, kir_cursor *c, kir_op op, kir_id a, kir_id b, kir_id x)
{
    bool v;
    if (op == KIR_SELECT && b == x) return b;
    if (op == KIR_SELECT && kir_is_bconst(k, a, &v)) return v ? b : x;
    if (op == KIR_SELECT && kir_at(k, a)->op == KIR_NOT)
        return kir_tri(k, c, op, kir_at(k, a)->a, x, b);
    return emit(k, c, (kir_inst){.op = (uint8_t)op, .a = a, .b = b, .c = x});
}

kir_id kir_select(kir_kernel *k, kir_cursor *c, kir_id cond, kir_id yes, kir_id no)
{
    return kir_tri(k, c, KIR_SELECT, cond, yes, no);
}

kir_id kir_cast(kir_kernel *k, kir_cursor *c, kir_id a, gn_elem to)
{
    if (kir_at(k, a)->elem == to) return a;
    return emit(k, c, (kir_inst){.op = KIR_CAST, .elem = (uint8_t)to, .a = a});
}

kir_id kir_random(kir_kernel *k, kir_cursor *c, kir_id key, kir_id element, int64_t site,
                  bool narrow)
{
    return emit(
        k, c, (kir_inst){.op = KIR_RANDOM, .a = key, .b = element, .imm = site, .narrow = narrow});
}

kir_id kir_rngkey(kir_kernel *k, kir_cursor *c, kir_id seed, kir_id step)
{
    return emit(k, c, (kir_inst){.op = KIR_RNGKEY, .a = seed, .b = step});
}

/* Memory --------------------------------------------------------------------------------------- */

kir_id kir_load(kir_kernel *k, kir_cursor *c, int buffer, kir_id at)
{
    return emit(k, c, (kir_inst){.op = KIR_LOAD, .imm = buffer, .a = at});
}

void kir_store(kir_kernel *k, kir_cursor *c, int buffer, kir_id at, kir_id value)
{
    emit(k, c, (kir_inst){.op = KIR_STORE, .imm = buffer, .a = at, .b = value});
}

void kir_prefetch(kir_kernel *k, kir_cursor *c, int buffer, kir_id at)
{
    emit(k, c, (kir_inst){.op = KIR_PREFETCH, .imm = buffer, .a = at});
}

kir_id kir_tile(kir_kernel *k, kir_cursor *c, gn_elem e, int64_t n)
{
    return emit(k, c, (kir_inst){.op = KIR_TILE, .elem = (uint8_t)e, .imm = n});
}

kir_id kir_tload(kir_kernel *k, kir_cursor *c, kir_id tile, kir_id at)
{
    return emit(k, c, (kir_inst){.op = KIR_TLOAD, .ref = tile, .a = at});
}

void kir_tstore(kir_kernel *k, kir_cursor *c, kir_id tile, kir_id at, kir_id value)
{
    emit(k, c, (kir_inst){.op = KIR_TSTORE, .ref = tile, .a = at, .b = value});
}

void kir_tacc(kir_kernel *k, kir_cursor *c, kir_red red, kir_id tile, kir_id at, kir_id value)
{
    emit(k, c, (kir_inst){.op = KIR_TACC, .imm = red, .ref = tile, .a = at, .b = value});
}

void kir_tfma(kir_kernel *k, kir_cursor *c, kir_id tile, kir_id at, kir_id a, kir_id b)
{
    emit(k, c, (kir_inst){.op = KIR_TFMA, .ref = tile, .a = at, .b = a, .c = b});
}

static kir_inst product(kir_op op, int64_t imm, kir_place to, kir_place left, kir_place right)
{
    return (kir_inst){.op = (uint8_t)op,
                      .imm = imm,
                      .ref = to.tile,
                      .a = to.at,
                      .left = left.tile,
                      .b = left.at,
                      .right = right.tile,
                      .c = right.at};
}

void kir_tdot(kir_kernel *k, kir_cursor *c, kir_place to, kir_place left, kir_place right)
{
    emit(k, c, product(KIR_TDOT, 0, to, left, right));
}

kir_id kir_round(kir_kernel *k, kir_cursor *c, kir_id a, kir_kind kind)
{
    return emit(k, c, (kir_inst){.op = KIR_ROUND, .a = a, .imm = kind});
}

void kir_mma_add(kir_kernel *k, kir_cursor *c, const kir_mma *m, kir_place to, kir_place left,
                 kir_place right)
{
    emit(k, c, product(KIR_MMA, kir_mma_pack(m), to, left, right));
}

/* Control -------------------------------------------------------------------------------------- */

kir_id kir_for(kir_kernel *k, kir_cursor *c, kir_cursor *body, kir_id lo, kir_id hi, int64_t step,
               kir_unit unit, kir_race race)
{
    kir_id id = emit(k, c,
                     (kir_inst){.op = KIR_FOR,
                                .unit = (uint8_t)unit,
                                .race = (uint8_t)race,
                                .a = lo,
                                .b = hi,
                                .imm = step});
    *body = (kir_cursor){.owner = id};
    return id;
}

kir_id kir_for_n(kir_kernel *k, kir_cursor *c, kir_cursor *body, int64_t n, kir_unit unit,
                 kir_race race)
{
    kir_id lo = kir_iconst(k, c, 0);
    return kir_for(k, c, body, lo, kir_iconst(k, c, n), 1, unit, race);
}

kir_id kir_if(kir_kernel *k, kir_cursor *c, kir_cursor *body, kir_id cond)
{
    kir_id id = emit(k, c, (kir_inst){.op = KIR_IF, .a = cond});
    *body = (kir_cursor){.owner = id};
    return id;
}

void kir_barrier(kir_kernel *k, kir_cursor *c) { emit(k, c, (kir_inst){.op = KIR_BARRIER}); }
