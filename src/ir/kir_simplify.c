/* Clean-up of loop IR (kir_simplify.h): rebuilds the kernel instruction by instruction, each value
 * at the outermost level that it may stand at, unless it is there already. */
#include "ir/kir_simplify.h"
#include "ir/kir_avail.h"
#include "ir/kir_facts.h"
#include "ir/kir_fold.h"

#include "base/map.h"

#include <string.h>

typedef struct entry { /* of the table of values that may be used again */
    kir_id id;         /* 0: its block has ended */
    uint32_t same_hash, same_level;
} entry;

typedef struct level { /* an open block */
    kir_cursor at;     /* where the next instruction goes */
    kir_cursor before; /* in front of the FOR or IF that is open in it */
    bool is_if;        /* the body of an if */
    bool sure;         /* the body of a loop that runs at least once wherever it stands */
    uint32_t entries;  /* of its block */
} level;

typedef struct simplifier {
    const kir_kernel *old;
    kir_kernel *k;
    gn_arena *arena;
    kir_facts facts;
    kir_avail avail;
    kir_id *map;              /* old -> new */
    bool *stored;             /* buffers that the kernel writes */
    GN_VEC(uint8_t) level_of; /* new */
    level levels[KIR_MAX_DEPTH + 2];
    int depth; /* innermost open level */
    GN_VEC(entry) entries;
    uint32_t *buckets, mask;
} simplifier;

/* Placing -------------------------------------------------------------------------------------- */

static kir_id place(simplifier *s, int at, const kir_inst *i)
{
    level *l = &s->levels[at];
    kir_id id = kir_emit(s->k, at == s->depth ? &l->at : &l->before, i);
    uint8_t where = (uint8_t)at;
    while (s->level_of.n <= id) GN_PUSH(s->arena, s->level_of, where);
    kir_facts_add(&s->facts, id);
    return id;
}

/* The part of the type that op and operands leave open. */
static unsigned own_elem(const kir_inst *i)
{
    return i->op == KIR_CONST || i->op == KIR_CAST ? i->elem : 0;
}

static bool equal(const kir_inst *x, const kir_inst *y)
{
    return x->op == y->op && own_elem(x) == own_elem(y) && x->a == y->a && x->b == y->b &&
           x->c == y->c && x->imm == y->imm && !memcmp(&x->fimm, &y->fimm, sizeof x->fimm);
}

static uint32_t *bucket_of(simplifier *s, const kir_inst *i)
{
    uint64_t key[5] = {(uint64_t)i->op << 8 | own_elem(i), (uint64_t)i->a << 32 | i->b, i->c,
                       (uint64_t)i->imm};
    memcpy(&key[4], &i->fimm, sizeof i->fimm);
    return &s->buckets[gn_hash_bytes(key, sizeof key, 0) & s->mask];
}

/* The value of `i` at that level, or from where it is known already. */
static kir_id shared(simplifier *s, int at, const kir_inst *i)
{
    uint32_t *bucket = bucket_of(s, i);
    for (uint32_t n = *bucket; n; n = s->entries.p[n].same_hash) {
        kir_id there = s->entries.p[n].id;
        if (there && equal(kir_at(s->k, there), i)) return there;
    }
    entry e = {.id = place(s, at, i), .same_hash = *bucket, .same_level = s->levels[at].entries};
    *bucket = s->levels[at].entries = s->entries.n;
    GN_PUSH(s->arena, s->entries, e);
    return e.id;
}

/* The outermost level where `i` may stand: inside the blocks of its operands; values stay in an if,
 * what may fault stays where it is not certain to be computed. */
static int outermost(const simplifier *s, const kir_inst *i, bool faults)
{
    int at = s->depth;
    while (at > 0 && (faults ? s->levels[at].sure : !s->levels[at].is_if)) at--;
    const kir_id in[] = {i->a, i->b, i->c};
    for (int n = 0; n < 3; n++)
        if (in[n] && s->level_of.p[in[n]] > at) at = s->level_of.p[in[n]];
    return at;
}

static kir_id hoisted(simplifier *s, const kir_inst *i)
{
    int64_t d;
    bool faults = i->op == KIR_LOAD;
    if (i->op == KIR_IDIV || i->op == KIR_IMOD)
        faults = !kir_is_iconst(s->k, i->b, &d) || d <= 0 || s->facts.range.p[i->a].lo < 0;
    return shared(s, outermost(s, i, faults), i);
}

static kir_id iconst(simplifier *s, int64_t v)
{
    return shared(s, 0, &(kir_inst){.op = KIR_CONST, .elem = GN_I64, .imm = v});
}

static kir_id bconst(simplifier *s, bool v)
{
    return shared(s, 0, &(kir_inst){.op = KIR_CONST, .elem = GN_BOOL, .imm = v});
}

/* Integers ------------------------------------------------------------------------------------- */

static kir_id integer(simplifier *s, kir_op op, kir_id a, kir_id b);

/* A sum as instructions, what is known outermost first. */
static kir_id build(simplifier *s, const kir_sum *sum)
{
    kir_sum x = *sum;
    for (int i = 1; i < x.n; i++)
        for (int j = i; j > 0 && s->level_of.p[x.t[j].v] < s->level_of.p[x.t[j - 1].v]; j--) {
            kir_term t = x.t[j];
            x.t[j] = x.t[j - 1];
            x.t[j - 1] = t;
        }
    if (!x.n) return iconst(s, x.c);
    kir_id v = integer(s, KIR_IMUL, x.t[0].v, iconst(s, x.t[0].coef));
    for (int i = 1; i < x.n; i++)
        v = integer(s, KIR_IADD, v, integer(s, KIR_IMUL, x.t[i].v, iconst(s, x.t[i].coef)));
    return integer(s, KIR_IADD, v, iconst(s, x.c));
}

/* x = d * quotient + rest, term by term. */
static void split(const kir_sum *x, int64_t d, kir_sum *quotient, kir_sum *rest)
{
    *quotient = *rest = (kir_sum){0};
    rest->c = x->c % d < 0 ? x->c % d + d : x->c % d;
    quotient->c = x->c / d - (x->c % d < 0);
    for (int i = 0; i < x->n; i++) {
        if (x->t[i].coef % d)
            rest->t[rest->n++] = x->t[i];
        else
            quotient->t[quotient->n++] = (kir_term){x->t[i].v, x->t[i].coef / d};
    }
}

/* a / d or a % d for a constant d > 0; a is not negative, says the IR.  0: nothing is known. */
static kir_id divide(simplifier *s, kir_op op, kir_id a, int64_t d)
{
    const kir_inst in = *kir_at(s->k, a);
    int64_t inner, both;
    if (in.op == op && kir_is_iconst(s->k, in.b, &inner) && inner > 0) {
        if (op == KIR_IDIV && !__builtin_mul_overflow(inner, d, &both))
            return integer(s, op, in.a, iconst(s, both));
        if (op == KIR_IMOD && inner % d == 0) return integer(s, op, in.a, iconst(s, d));
    }
    kir_sum quotient, rest;
    split(&s->facts.sum.p[a], d, &quotient, &rest);
    kir_range r = kir_sum_range(&s->facts, &rest), whole = s->facts.range.p[a];
    if (whole.hi < d) return op == KIR_IDIV ? iconst(s, 0) : a;
    if (r.lo < 0) return 0;
    bool small = r.hi < d, splits = quotient.n || quotient.c;
    if (!small && !splits) return 0;
    kir_id low = small && op == KIR_IDIV ? iconst(s, 0) : build(s, &rest);
    if (!small) low = integer(s, op, low, iconst(s, d));
    return op == KIR_IMOD ? low : integer(s, KIR_IADD, build(s, &quotient), low);
}

/* What ranges decide; 0 = nothing. */
static kir_id decided(simplifier *s, kir_op op, kir_id a, kir_id b)
{
    kir_range d = kir_facts_difference(&s->facts, a, b);
    switch (op) {
    case KIR_IMIN: return d.hi <= 0 ? a : d.lo >= 0 ? b : 0;
    case KIR_IMAX: return d.lo >= 0 ? a : d.hi <= 0 ? b : 0;
    case KIR_ILT: return d.hi < 0 ? bconst(s, true) : d.lo >= 0 ? bconst(s, false) : 0;
    case KIR_ILE: return d.hi <= 0 ? bconst(s, true) : d.lo > 0 ? bconst(s, false) : 0;
    case KIR_IEQ:
        return d.lo > 0 || d.hi < 0     ? bconst(s, false)
               : d.lo == 0 && d.hi == 0 ? bconst(s, true)
                                        : 0;
    default: return 0;
    }
}

/* A sum that comes to one value or a constant; 0 = it does not. */
static kir_id cancelled(simplifier *s, kir_op op, kir_id a, kir_id b)
{
    kir_sum x;
    if (!kir_sum_add(&s->facts.sum.p[a], &s->facts.sum.p[b], op == KIR_IADD ? 1 : -1, &x)) return 0;
    if (x.n == 0) return iconst(s, x.c);
    return x.n == 1 && x.t[0].coef == 1 && x.c == 0 ? x.t[0].v : 0;
}

static kir_id integer(simplifier *s, kir_op op, kir_id a, kir_id b)
{
    kir_fold f = kir_fold_bin(s->k, op, a, b);
    kir_id v = 0;
    int64_t c;
    switch (f.kind) {
    case KIR_FOLD_VALUE: return f.a;
    case KIR_FOLD_INT: return iconst(s, f.imm);
    case KIR_FOLD_BOOL: return bconst(s, f.imm != 0);
    case KIR_FOLD_IMM: return integer(s, f.op, f.a, iconst(s, f.imm));
    default: break;
    }
    if (op == KIR_ISUB && kir_is_iconst(s->k, b, &c) && c != INT64_MIN)
        return integer(s, KIR_IADD, a, iconst(s, -c));
    if (op == KIR_IADD || op == KIR_ISUB)
        v = cancelled(s, op, a, b);
    else if (op == KIR_IDIV || op == KIR_IMOD)
        v = kir_is_iconst(s->k, b, &c) && c > 0 ? divide(s, op, a, c) : 0;
    else
        v = decided(s, op, a, b);
    return v ? v : hoisted(s, &(kir_inst){.op = (uint8_t)op, .a = f.a, .b = f.b});
}

/* Floats: only what keeps every bit. ----------------------------------------------------------- */

static bool is_fconst(const simplifier *s, kir_id v, double is)
{
    const kir_inst *i = kir_at(s->k, v);
    return i->op == KIR_CONST && (i->elem == GN_F32 || i->elem == GN_F64) &&
           !memcmp(&i->fimm, &is, sizeof is);
}

/* The operand that `i` is equal to, 0 = none. */
static kir_id same_float(const simplifier *s, const kir_inst *i)
{
    switch (i->op) {
    case KIR_FMUL: return is_fconst(s, i->b, 1.0) ? i->a : is_fconst(s, i->a, 1.0) ? i->b : 0;
    case KIR_FADD: return is_fconst(s, i->b, -0.0) ? i->a : is_fconst(s, i->a, -0.0) ? i->b : 0;
    case KIR_FDIV: return is_fconst(s, i->b, 1.0) ? i->a : 0;
    case KIR_FSUB: return is_fconst(s, i->b, 0.0) ? i->a : 0;
    case KIR_FNEG: return kir_at(s->k, i->a)->op == KIR_FNEG ? kir_at(s->k, i->a)->a : 0;
    default: return 0;
    }
}

/* Values --------------------------------------------------------------------------------------- */

static kir_id value(simplifier *s, const kir_inst *i)
{
    bool c;
    switch (i->op) {
    case KIR_CONST:
    case KIR_SYM: return shared(s, 0, i);
    case KIR_NOT:
        if (kir_is_bconst(s->k, i->a, &c)) return bconst(s, !c);
        if (kir_at(s->k, i->a)->op == KIR_NOT) return kir_at(s->k, i->a)->a;
        break;
    case KIR_SELECT:
        if (i->b == i->c) return i->b;
        if (kir_is_bconst(s->k, i->a, &c)) return c ? i->b : i->c;
        break;
    case KIR_CAST:
        if (kir_at(s->k, i->a)->elem == i->elem) return i->a;
        break;
    case KIR_AND:
    case KIR_OR: return integer(s, (kir_op)i->op, i->a, i->b);
    default:
        if (i->op >= KIR_IADD && i->op <= KIR_IEQ) return integer(s, (kir_op)i->op, i->a, i->b);
        break;
    }
    kir_id operand = same_float(s, i);
    return operand ? operand : hoisted(s, i);
}

/* Blocks --------------------------------------------------------------------------------------- */

static void block(simplifier *s, kir_id at);

/* Tiles that a loop writes hold nothing that is known when an iteration begins. */
static void forget_written(simplifier *s, kir_id at)
{
    for (; at; at = kir_at(s->old, at)->next) {
        const kir_inst *i = kir_at(s->old, at);
        if (i->op == KIR_TSTORE || i->op == KIR_TACC || i->op == KIR_TFMA || i->op == KIR_TDOT ||
            i->op == KIR_MMA)
            kir_avail_write(&s->avail, s->map[i->ref], 0);
        if (i->op == KIR_BARRIER) kir_avail_clear(&s->avail);
        forget_written(s, i->body);
    }
}

static kir_id tile_access(simplifier *s, const kir_inst *i)
{
    kir_id known = i->op == KIR_TLOAD ? kir_avail_find(&s->avail, i->ref, i->a) : 0;
    if (known) return known;
    kir_id id = place(s, s->depth, i);
    if (i->op != KIR_TLOAD) kir_avail_write(&s->avail, i->ref, i->a);
    if (i->op == KIR_TLOAD) kir_avail_put(&s->avail, i->ref, i->a, id, s->depth);
    bool as_it_is = i->op == KIR_TSTORE &&
                    !kir_is_narrow((gn_elem)kir_at(s->k, i->ref)->elem); /* not rounded there */
    if (as_it_is) kir_avail_put(&s->avail, i->ref, i->a, i->b, s->depth);
    return id;
}

/* Emits `i`, a FOR or IF, with that old body. */
static kir_id open(simplifier *s, const kir_inst *i, bool sure, kir_id old, kir_id body)
{
    level *outer = &s->levels[s->depth];
    outer->before = outer->at;
    kir_id id = place(s, s->depth, i);
    s->map[old] = id;
    s->levels[++s->depth] = (level){.at = {.owner = id}, .is_if = i->op == KIR_IF, .sure = sure};
    s->level_of.p[id] = (uint8_t)s->depth; /* the induction variable */
    if (i->op == KIR_FOR) forget_written(s, body);
    block(s, body);
    kir_avail_close(&s->avail, s->depth);
    for (uint32_t e = s->levels[s->depth].entries; e; e = s->entries.p[e].same_level)
        s->entries.p[e].id = 0;
    s->depth--;
    return id;
}

static void loop(simplifier *s, kir_id old, const kir_inst *i, kir_id body)
{
    kir_range trips = kir_facts_difference(&s->facts, i->b, i->a);
    bool kept = i->unit == KIR_THREAD || i->unit == KIR_BLOCK; /* the caller knows of it */
    if (!kept && trips.hi <= 0) return;
    if (i->unit <= KIR_VECTOR && trips.lo > 0 && trips.hi <= i->imm) {
        s->map[old] = i->a;
        block(s, body);
        return;
    }
    open(s, i, !kept && trips.lo > 0, old, body);
}

static void branch(simplifier *s, kir_id old, const kir_inst *i, kir_id body)
{
    bool c;
    if (!kir_is_bconst(s->k, i->a, &c))
        open(s, i, false, old, body);
    else if (c)
        block(s, body);
}

static void instruction(simplifier *s, kir_id old)
{
    kir_inst i = *kir_at(s->old, old);
    kir_id body = i.body;
    i.next = i.body = 0;
    i.a = s->map[i.a];
    i.b = s->map[i.b];
    i.c = s->map[i.c];
    i.ref = s->map[i.ref];
    i.left = s->map[i.left];
    i.right = s->map[i.right];
    s->k->of = i.of;
    switch (i.op) {
    case KIR_FOR: loop(s, old, &i, body); return;
    case KIR_IF: branch(s, old, &i, body); return;
    case KIR_TLOAD:
    case KIR_TSTORE:
    case KIR_TACC:
    case KIR_TFMA: s->map[old] = tile_access(s, &i); return;
    case KIR_TDOT:
    case KIR_MMA: kir_avail_write(&s->avail, i.ref, 0); break;
    case KIR_BARRIER: kir_avail_clear(&s->avail); break;
    case KIR_LOAD: s->map[old] = s->stored[i.imm] ? place(s, s->depth, &i) : hoisted(s, &i); return;
    default: break;
    }
    s->map[old] = kir_ops[i.op].cls == KIR_CLASS_VALUE ? value(s, &i) : place(s, s->depth, &i);
}

static void block(simplifier *s, kir_id at)
{
    for (; at; at = kir_at(s->old, at)->next) instruction(s, at);
}

/* Kernels -------------------------------------------------------------------------------------- */

static kir_kernel *same_signature(const kir_kernel *k)
{
    kir_kernel *to = kir_kernel_new(k->arena, k->name);
    to->buffers = k->buffers;
    to->syms = k->syms;
    return to;
}

gn_status *kir_simplify(kir_kernel *k)
{
    kir_remove_dead(k);
    simplifier s = {.old = k, .arena = k->arena, .k = same_signature(k)};
    s.facts.k = s.avail.k = s.k;
    kir_facts_add(&s.facts, 0);
    s.map = GN_NEW_N(k->arena, kir_id, k->insts.n);
    s.stored = GN_NEW_N(k->arena, bool, k->buffers.n);
    for (uint32_t i = 1; i < k->insts.n; i++)
        if (kir_at(k, i)->op == KIR_STORE) s.stored[kir_at(k, i)->imm] = true;
    for (s.mask = 64; s.mask < k->insts.n; s.mask *= 2) continue;
    s.buckets = GN_NEW_N(k->arena, uint32_t, s.mask--);
    GN_PUSH(k->arena, s.entries, (entry){0});
    GN_PUSH(k->arena, s.level_of, 0);
    block(&s, k->top);
    kir_remove_dead(s.k);
    kir_kernel *compact = kir_clone(k->arena, s.k, NULL);
    k->insts = compact->insts;
    k->top = compact->top;
    return NULL;
}
