/* The helpers of kir_ops.h, and the folding of integers as they are built. */
#include "ir/kir_ops.h"

bool kir_is_iconst(const kir_kernel *k, kir_id v, int64_t *value)
{
    const kir_inst *i = kir_at(k, v);
    if (i->op != KIR_CONST || i->elem != GN_I64) return false;
    if (value) *value = i->imm;
    return true;
}

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

kir_id kir_sym(kir_kernel *k, kir_cursor *c, int sym) { return emit(k, c, (kir_inst){.op = KIR_SYM, .imm = sym}); }

kir_id kir_size_value(kir_kernel *k, kir_cursor *c, kir_size s)
{
    if (s.sym < 0) return kir_iconst(k, c, s.coef + s.plus);
    kir_id v = kir_bin_imm(k, c, KIR_IMUL, kir_sym(k, c, s.sym), s.coef);
    return kir_bin_imm(k, c, KIR_IADD, v, s.plus);
}

/* Folding ---------------------------------------------------------------------------------------------------------- */

/* op(x, y) of constants; false where it has no value. */
static bool fold_consts(kir_op op, int64_t x, int64_t y, int64_t *r)
{
    switch (op) {
    case KIR_IADD: return !__builtin_add_overflow(x, y, r);
    case KIR_ISUB: return !__builtin_sub_overflow(x, y, r);
    case KIR_IMUL: return !__builtin_mul_overflow(x, y, r);
    case KIR_IDIV: return x >= 0 && y > 0 ? (*r = x / y, true) : false;
    case KIR_IMOD: return x >= 0 && y > 0 ? (*r = x % y, true) : false;
    case KIR_IMIN: *r = x < y ? x : y; return true;
    case KIR_IMAX: *r = x > y ? x : y; return true;
    case KIR_ILT: *r = x < y; return true;
    case KIR_ILE: *r = x <= y; return true;
    case KIR_IEQ: *r = x == y; return true;
    default: return false;
    }
}

/* op(a, y): an operand or a constant, 0 where there is nothing to fold. */
static kir_id fold_right(kir_kernel *k, kir_cursor *c, kir_op op, kir_id a, int64_t y)
{
    const kir_inst *x = kir_at(k, a);
    int64_t cx, sum;
    switch (op) {
    case KIR_IADD:
    case KIR_ISUB:
        if (y == 0) return a;
        if (x->op == KIR_IADD && kir_is_iconst(k, x->b, &cx) &&
            !(op == KIR_IADD ? __builtin_add_overflow(cx, y, &sum) : __builtin_sub_overflow(cx, y, &sum)))
            return kir_bin_imm(k, c, KIR_IADD, x->a, sum);
        return 0;
    case KIR_IMUL:
        if (y == 1) return a;
        if (y == 0) return kir_iconst(k, c, 0);
        if (x->op == KIR_IMUL && kir_is_iconst(k, x->b, &cx) && !__builtin_mul_overflow(cx, y, &sum))
            return kir_bin_imm(k, c, KIR_IMUL, x->a, sum);
        return 0;
    case KIR_IDIV:
        if (y == 1) return a;
        if (x->op == KIR_IMUL && kir_is_iconst(k, x->b, &cx) && y > 0 && cx > 0 && cx % y == 0)
            return kir_bin_imm(k, c, KIR_IMUL, x->a, cx / y);
        return 0;
    case KIR_IMOD:
        if (y == 1) return kir_iconst(k, c, 0);
        if (x->op == KIR_IMUL && kir_is_iconst(k, x->b, &cx) && y > 0 && cx > 0 && cx % y == 0)
            return kir_iconst(k, c, 0);
        return 0;
    default: return 0;
    }
}

static bool commutes(kir_op op)
{
    return op == KIR_IADD || op == KIR_IMUL || op == KIR_IMIN || op == KIR_IMAX || op == KIR_IEQ || op == KIR_AND ||
           op == KIR_OR;
}

static bool is_bconst(const kir_kernel *k, kir_id v, bool *value)
{
    const kir_inst *i = kir_at(k, v);
    if (i->op != KIR_CONST || i->elem != GN_BOOL) return false;
    *value = i->imm != 0;
    return true;
}

static kir_id fold_same(kir_kernel *k, kir_cursor *c, kir_op op, kir_id a)
{
    switch (op) {
    case KIR_IMIN:
    case KIR_IMAX:
    case KIR_AND:
    case KIR_OR: return a;
    case KIR_ISUB: return kir_iconst(k, c, 0);
    case KIR_ILE:
    case KIR_IEQ: return kir_bconst(k, c, true);
    case KIR_ILT: return kir_bconst(k, c, false);
    default: return 0;
    }
}

static kir_id fold_bin(kir_kernel *k, kir_cursor *c, kir_op op, kir_id a, kir_id b)
{
    int64_t x, y, r;
    bool v;
    if (a == b) return fold_same(k, c, op, a);
    if ((op == KIR_AND || op == KIR_OR) && is_bconst(k, b, &v)) return v == (op == KIR_AND) ? a : b;
    if (!kir_is_iconst(k, b, &y)) return 0;
    if (kir_is_iconst(k, a, &x) && fold_consts(op, x, y, &r))
        return kir_ops[op].sig[0] == 'b' ? kir_bconst(k, c, r != 0) : kir_iconst(k, c, r);
    return fold_right(k, c, op, a, y);
}

/* Operations --------------------------------------------------------------------------------------------------------- */

kir_id kir_bin(kir_kernel *k, kir_cursor *c, kir_op op, kir_id a, kir_id b)
{
    bool ignored;
    if (commutes(op) && (kir_is_iconst(k, a, NULL) || is_bconst(k, a, &ignored))) {
        kir_id t = a;
        a = b;
        b = t;
    }
    kir_id v = fold_bin(k, c, op, a, b);
    return v ? v : emit(k, c, (kir_inst){.op = (uint8_t)op, .a = a, .b = b});
}

kir_id kir_bin_imm(kir_kernel *k, kir_cursor *c, kir_op op, kir_id a, int64_t b)
{
    return kir_bin(k, c, op, a, kir_iconst(k, c, b));
}

kir_id kir_un(kir_kernel *k, kir_cursor *c, kir_op op, kir_id a)
{
    bool v;
    if (op == KIR_NOT && is_bconst(k, a, &v)) return kir_bconst(k, c, !v);
    if (op == KIR_NOT && kir_at(k, a)->op == KIR_NOT) return kir_at(k, a)->a;
    return emit(k, c, (kir_inst){.op = (uint8_t)op, .a = a});
}

kir_id kir_tri(kir_kernel *k, kir_cursor *c, kir_op op, kir_id a, kir_id b, kir_id x)
{
    bool v;
    if (op == KIR_SELECT && b == x) return b;
    if (op == KIR_SELECT && is_bconst(k, a, &v)) return v ? b : x;
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

kir_id kir_random(kir_kernel *k, kir_cursor *c, kir_id key, kir_id element, int64_t site)
{
    return emit(k, c, (kir_inst){.op = KIR_RANDOM, .a = key, .b = element, .imm = site});
}

kir_id kir_rngkey(kir_kernel *k, kir_cursor *c, kir_id seed, kir_id step)
{
    return emit(k, c, (kir_inst){.op = KIR_RNGKEY, .a = seed, .b = step});
}

/* Memory ------------------------------------------------------------------------------------------------------------- */

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

/* Control -------------------------------------------------------------------------------------------------------------- */

kir_id kir_for(kir_kernel *k, kir_cursor *c, kir_cursor *body, kir_id lo, kir_id hi, int64_t step, kir_unit unit,
               kir_race race)
{
    kir_id id = emit(
        k, c, (kir_inst){.op = KIR_FOR, .unit = (uint8_t)unit, .race = (uint8_t)race, .a = lo, .b = hi, .imm = step});
    *body = (kir_cursor){.owner = id};
    return id;
}

kir_id kir_for_n(kir_kernel *k, kir_cursor *c, kir_cursor *body, int64_t n, kir_unit unit, kir_race race)
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
