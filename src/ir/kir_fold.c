/* Folding of single integer operations (kir_fold.h). */
#include "ir/kir_fold.h"

bool kir_is_iconst(const kir_kernel *k, kir_id v, int64_t *value)
{
    const kir_inst *i = kir_at(k, v);
    if (i->op != KIR_CONST || i->elem != GN_I64) return false;
    if (value) *value = i->imm;
    return true;
}

bool kir_is_bconst(const kir_kernel *k, kir_id v, bool *value)
{
    const kir_inst *i = kir_at(k, v);
    if (i->op != KIR_CONST || i->elem != GN_BOOL) return false;
    if (value) *value = i->imm != 0;
    return true;
}

static kir_fold is_value(kir_id a) { return (kir_fold){.kind = KIR_FOLD_VALUE, .a = a}; }
static kir_fold is_int(int64_t v) { return (kir_fold){.kind = KIR_FOLD_INT, .imm = v}; }
static kir_fold is_bool(bool v) { return (kir_fold){.kind = KIR_FOLD_BOOL, .imm = v}; }
static kir_fold is_imm(kir_op op, kir_id a, int64_t v)
{
    return (kir_fold){.kind = KIR_FOLD_IMM, .op = op, .a = a, .imm = v};
}

static bool commutes(kir_op op)
{
    return op == KIR_IADD || op == KIR_IMUL || op == KIR_IMIN || op == KIR_IMAX || op == KIR_IEQ ||
           op == KIR_AND || op == KIR_OR;
}

/* op(x, y) of constants; false where it has no value. */
static bool constants(kir_op op, int64_t x, int64_t y, int64_t *r)
{
    switch (op) {
    case KIR_IADD: return !__builtin_add_overflow(x, y, r);
    case KIR_ISUB: return !__builtin_sub_overflow(x, y, r);
    case KIR_IMUL: return !__builtin_mul_overflow(x, y, r);
    case KIR_IDIV:
        if (x < 0 || y <= 0) return false;
        *r = x / y;
        return true;
    case KIR_IMOD:
        if (x < 0 || y <= 0) return false;
        *r = x % y;
        return true;
    case KIR_IMIN: *r = x < y ? x : y; return true;
    case KIR_IMAX: *r = x > y ? x : y; return true;
    case KIR_ILT: *r = x < y; return true;
    case KIR_ILE: *r = x <= y; return true;
    case KIR_IEQ: *r = x == y; return true;
    default: return false;
    }
}

/* op(a, y) with a constant on the right. */
static kir_fold right(const kir_kernel *k, kir_op op, kir_id a, int64_t y)
{
    const kir_fold nothing = {0};
    const kir_inst *x = kir_at(k, a);
    int64_t cx, r;
    bool mul = x->op == KIR_IMUL && kir_is_iconst(k, x->b, &cx),
         divides = mul && y > 0 && cx > 0 && cx % y == 0;
    switch (op) {
    case KIR_IADD:
    case KIR_ISUB:
        if (y == 0) return is_value(a);
        if (x->op != KIR_IADD || !kir_is_iconst(k, x->b, &cx)) return nothing;
        return constants(op, cx, y, &r) ? is_imm(KIR_IADD, x->a, r) : nothing;
    case KIR_IMUL:
        if (y == 1) return is_value(a);
        if (y == 0) return is_int(0);
        return mul && constants(op, cx, y, &r) ? is_imm(KIR_IMUL, x->a, r) : nothing;
    case KIR_IDIV:
        if (y == 1) return is_value(a);
        return divides ? is_imm(KIR_IMUL, x->a, cx / y) : nothing;
    case KIR_IMOD: return y == 1 || divides ? is_int(0) : nothing;
    default: return nothing;
    }
}

static kir_fold same(kir_op op, kir_id a)
{
    switch (op) {
    case KIR_IMIN:
    case KIR_IMAX:
    case KIR_AND:
    case KIR_OR: return is_value(a);
    case KIR_ISUB: return is_int(0);
    case KIR_ILE:
    case KIR_IEQ: return is_bool(true);
    case KIR_ILT: return is_bool(false);
    default: return (kir_fold){0};
    }
}

kir_fold kir_fold_bin(const kir_kernel *k, kir_op op, kir_id a, kir_id b)
{
    if (commutes(op) && kir_at(k, a)->op == KIR_CONST) {
        kir_id t = a;
        a = b;
        b = t;
    }
    kir_fold f = {0};
    int64_t x, y, r;
    bool v;
    if (a == b) {
        f = same(op, a);
    } else if (kir_is_bconst(k, b, &v) && (op == KIR_AND || op == KIR_OR)) {
        f = is_value(v == (op == KIR_AND) ? a : b);
    } else if (kir_is_iconst(k, b, &y)) {
        if (kir_is_iconst(k, a, &x) && constants(op, x, y, &r))
            f = kir_ops[op].sig[0] == 'b' ? is_bool(r != 0) : is_int(r);
        else
            f = right(k, op, a, y);
    }
    return f.kind ? f : (kir_fold){.op = op, .a = a, .b = b};
}
