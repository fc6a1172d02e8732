/* The loop IR's rules, as far as they show without running the kernel: links, dominance, types,
 * buffers, units. Needs nothing; keeps everything. */
#include "ir/kir.h"

#include <setjmp.h>
#include <string.h>

typedef enum scope { UNSEEN, OPEN, CLOSED } scope;

typedef struct verifier {
    const kir_kernel *k;
    gn_arena *arena;
    uint8_t *scope;        /* of an instruction */
    bool *varies;          /* differs from lane to lane of the vector loop around it */
    uint8_t *inside;       /* of a tile: declared in the vector loop */
    uint8_t *stored;       /* of a buffer */
    kir_id thread, vector; /* the loop that closes the kernel; the vector loop around, 0 = none */
    bool masked;           /* in an if that only some lanes of it may enter */
    bool straight;         /* in a vector loop whose bounds are not constants */
    bool block, warp, lane;
    bool parallel; /* in the loop that closes the kernel */
    int depth;
} verifier;

/* Errors --------------------------------------------------------------------------------------- */

static gn_status *bad(const verifier *v, kir_id i, const char *rule)
{
    gn_buf text = {.arena = v->arena};
    kir_print_inst(v->k, i, &text);
    return GN_ERROR(GN_ERR_INTERNAL, "kernel @%s: instruction %u, \"%s\": %s", v->k->name, i,
                    text.p, rule);
}

#define RULE(holds, rule)                                                                          \
    do {                                                                                           \
        if (!(holds)) return bad(v, i, rule);                                                      \
    } while (0)

/* Operands and types --------------------------------------------------------------------------- */

static bool is_value_elem(unsigned e)
{
    return e == GN_F32 || e == GN_F64 || e == GN_I64 || e == GN_BOOL;
}
static bool is_float(unsigned e) { return e == GN_F32 || e == GN_F64; }

static gn_status *check_operand(const verifier *v, kir_id i, kir_id in)
{
    RULE(in && in < v->k->insts.n, "an operand is missing");
    RULE(v->scope[in] != UNSEEN, "an operand is used before it is computed");
    RULE(v->scope[in] == OPEN, "an operand was computed in a block that has ended");
    RULE(kir_has_value(kir_at(v->k, in)), "an operand has no value");
    return NULL;
}

/* The type that a letter of the signature stands for; GN_ELEM_COUNT where another rule says. */
static unsigned letter_elem(const kir_kernel *k, const kir_inst *in, char letter)
{
    switch (letter) {
    case 'i': return GN_I64;
    case 'b': return GN_BOOL;
    case 's': return GN_F32;
    case 'f': return kir_at(k, in->a)->elem;
    case 't': return kir_at(k, in->b)->elem;
    default: return GN_ELEM_COUNT;
    }
}

static gn_status *check_types(const verifier *v, kir_id i)
{
    const kir_inst *in = kir_at(v->k, i);
    const kir_op_info *info = &kir_ops[in->op];
    const kir_id operand[] = {in->a, in->b, in->c};
    for (int n = 0; n < 3; n++) {
        if (n >= info->n_in) {
            RULE(operand[n] == 0, "an operand too many");
            continue;
        }
        GN_TRY(check_operand(v, i, operand[n]));
    }
    for (int n = 0; n < info->n_in; n++) {
        unsigned want = letter_elem(v->k, in, info->sig[2 + n]);
        if (want != GN_ELEM_COUNT)
            RULE(kir_at(v->k, operand[n])->elem == want, "an operand has the wrong type");
    }
    if (info->n_in && info->sig[2] == 'f')
        RULE(is_float(kir_at(v->k, in->a)->elem), "the operands are not floats");
    unsigned want = letter_elem(v->k, in, info->sig[0]);
    if (want != GN_ELEM_COUNT) RULE(in->elem == want, "the result has the wrong type");
    if (info->sig[0] == '*')
        RULE(is_value_elem(in->elem), "the result's type is not f32, f64, i64 or bool");
    return NULL;
}

static gn_status *check_const(const verifier *v, kir_id i)
{
    const kir_inst *in = kir_at(v->k, i);
    if (in->elem == GN_BOOL) RULE(in->imm == 0 || in->imm == 1, "a bool is 0 or 1");
    return NULL;
}

/* Memory --------------------------------------------------------------------------------------- */

static gn_status *check_buffer(const verifier *v, kir_id i)
{
    const kir_inst *in = kir_at(v->k, i);
    RULE(in->imm >= 0 && in->imm < v->k->buffers.n, "no such buffer");
    const kir_buffer *b = &v->k->buffers.p[in->imm];
    if (in->op == KIR_PREFETCH) return NULL;
    if (in->op == KIR_LOAD) {
        RULE(b->access & KIR_READ, "the buffer may not be read");
        RULE(in->elem == kir_widen(b->elem), "the result has not the buffer's type");
        if (v->thread && !v->parallel)
            RULE(!v->stored[in->imm],
                 "what stands before the thread loop loads what the kernel writes");
        return NULL;
    }
    RULE(b->access & KIR_WRITE, "the buffer may not be written");
    RULE(kir_at(v->k, in->b)->elem == kir_widen(b->elem), "the value has not the buffer's type");
    RULE(!v->thread || v->parallel, "what stands before the thread loop stores to a buffer");
    return NULL;
}

static gn_status *check_tile_use(const verifier *v, kir_id i)
{
    const kir_inst *in = kir_at(v->k, i);
    RULE(in->ref && in->ref < v->k->insts.n && kir_at(v->k, in->ref)->op == KIR_TILE,
         "no such tile");
    RULE(v->scope[in->ref] == OPEN, "the tile is not in scope");
    unsigned e = kir_at(v->k, in->ref)->elem;
    gn_elem value = kir_widen((gn_elem)e);
    if (in->op != KIR_TLOAD && in->op != KIR_TSTORE)
        RULE(value == e, "what is narrow does not accumulate");
    switch (in->op) {
    case KIR_TLOAD: RULE(in->elem == value, "the result has not the tile's type"); return NULL;
    case KIR_TACC:
        RULE(in->imm >= 0 && in->imm < KIR_RED_COUNT, "no such reduction");
        RULE(e != GN_BOOL, "bools do not accumulate");
        break;
    case KIR_TFMA:
        RULE(is_float(e), "the tile is not of floats");
        RULE(kir_at(v->k, in->c)->elem == e, "the value has not the tile's type");
        break;
    default: break;
    }
    RULE(kir_at(v->k, in->b)->elem == value, "the value has not the tile's type");
    return NULL;
}

static bool is_kind(int64_t kind) { return kind >= 0 && kind < KIR_KIND_COUNT; }

/* Of products: three tiles, sums in f32 and both operands of that element type. */
static gn_status *check_operands(const verifier *v, kir_id i, gn_elem elem)
{
    const kir_inst *in = kir_at(v->k, i);
    const kir_id tile[] = {in->ref, in->left, in->right};
    for (int n = 0; n < 3; n++) {
        RULE(tile[n] && tile[n] < v->k->insts.n && kir_at(v->k, tile[n])->op == KIR_TILE,
             "no such tile");
        RULE(v->scope[tile[n]] == OPEN, "the tile is not in scope");
    }
    RULE(in->ref != in->left && in->ref != in->right, "it reads what it adds to");
    RULE(kir_at(v->k, in->ref)->elem == GN_F32, "the tile is not of f32");
    RULE(kir_at(v->k, in->left)->elem == elem && kir_at(v->k, in->right)->elem == elem,
         "operands of this kind do not lie in such a tile");
    return NULL;
}

static gn_status *check_fragments(const verifier *v, kir_id i)
{
    const kir_inst *in = kir_at(v->k, i);
    kir_mma m = kir_mma_of(in->imm);
    RULE(in->imm >= 0 && is_kind((int64_t)m.kind), "no such kind of operands");
    gn_elem elem = kir_kinds[m.kind].elem;
    GN_TRY(check_operands(v, i, elem));
    bool strides = m.lane && m.left_row && m.left_term && m.right_col && m.right_term;
    RULE(strides, "a stride of 0");
    bool left = m.left_term == 1 && m.left_row % 2, right = m.right_term == 1 && m.right_col % 2;
    RULE(!kir_is_narrow(elem) || (!left && !right), "terms side by side, and an odd stride");
    RULE(v->warp && !v->lane && !v->vector,
         "a product of fragments stands in a warp loop and in no lane loop");
    return NULL;
}

static gn_status *check_tile(const verifier *v, kir_id i)
{
    const kir_inst *in = kir_at(v->k, i);
    RULE(is_value_elem(in->elem) || kir_is_narrow((gn_elem)in->elem),
         "the tile's type is not f32, f64, i64 or bool, nor bf16 or f16");
    RULE(in->imm > 0 && in->imm <= KIR_MAX_TILE, "the size of the tile");
    RULE(!v->straight, "a tile in a vector loop whose bounds are not constants");
    v->inside[i] = v->vector != 0;
    return NULL;
}

/* Lanes ---------------------------------------------------------------------------------------- */

/* Does the value of instruction i, in a vector loop, differ from lane to lane? */
static bool lane_dependent(const verifier *v, const kir_inst *in)
{
    if (!v->vector) return false;
    if (in->op == KIR_TLOAD && v->inside[in->ref]) return true;
    return v->varies[in->a] || v->varies[in->b] || v->varies[in->c];
}

/* -1: bounds are not constants */
static int64_t const_trips(const kir_kernel *k, const kir_inst *loop)
{
    const kir_inst *lo = kir_at(k, loop->a), *hi = kir_at(k, loop->b);
    if (lo->op != KIR_CONST || hi->op != KIR_CONST) return -1;
    if (lo->imm >= hi->imm) return 0;
    uint64_t span = (uint64_t)hi->imm - (uint64_t)lo->imm;
    uint64_t n = (span - 1) / (uint64_t)loop->imm + 1;
    return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

/* Lanes that write one element meet: only TACC and TFMA may, and only where the loop says so. */
static gn_status *check_lane_write(const verifier *v, kir_id i)
{
    const kir_inst *in = kir_at(v->k, i), *loop = kir_at(v->k, v->vector);
    bool shared = in->op == KIR_STORE || (in->ref && !v->inside[in->ref]);
    if (!v->vector || v->masked || !shared || v->varies[in->a]) return NULL;
    int64_t trips = const_trips(v->k, loop);
    if (trips == 0 || trips == 1) return NULL;
    bool meets = in->op == KIR_TACC || in->op == KIR_TFMA;
    if (in->op == KIR_TSTORE && loop->race == KIR_PRIVATE) return NULL;
    RULE(meets && loop->race == KIR_REDUCE, "lanes of a vector loop write the same element");
    return NULL;
}

/* Control -------------------------------------------------------------------------------------- */

static gn_status *check_block(verifier *v, kir_id at);

static gn_status *check_unit(const verifier *v, kir_id i)
{
    const kir_inst *in = kir_at(v->k, i);
    bool constant = const_trips(v->k, in) >= 0;
    if (in->race == KIR_ORDERED)
        RULE(in->unit <= KIR_UNROLL, "an ordered loop is serial or unrolled");
    if (v->vector)
        RULE(in->unit <= KIR_UNROLL, "only serial and unrolled loops may stand in a vector loop");
    RULE(!v->straight, "a loop in a vector loop whose bounds are not constants");
    switch (in->unit) {
    case KIR_UNROLL: RULE(constant, "the bounds of an unrolled loop are constants"); break;
    case KIR_THREAD:
    case KIR_BLOCK: {
        RULE(i == v->thread, "the thread loop is the last instruction of the kernel's block");
        const kir_inst *lo = kir_at(v->k, in->a);
        RULE(lo->op == KIR_CONST && lo->imm == 0, "the thread loop runs from 0");
        break;
    }
    case KIR_WARP:
        RULE(v->block && !v->warp && !v->lane, "a warp loop stands in a block loop");
        break;
    case KIR_LANE: RULE(v->block && !v->lane, "a lane loop stands in a block or warp loop"); break;
    default: break;
    }
    return NULL;
}

static gn_status *check_for(verifier *v, kir_id i)
{
    const kir_inst *in = kir_at(v->k, i);
    RULE(in->unit < KIR_UNIT_COUNT, "no such unit");
    RULE(in->race < KIR_RACE_COUNT, "no such race");
    RULE(in->imm > 0, "the step is positive");
    GN_TRY(check_unit(v, i));
    RULE(!v->varies[in->a] && !v->varies[in->b], "bounds differ from lane to lane");
    verifier outer = *v;
    v->vector = in->unit == KIR_VECTOR ? i : v->vector;
    v->straight |= in->unit == KIR_VECTOR && const_trips(v->k, in) < 0;
    v->block |= in->unit == KIR_BLOCK;
    v->warp |= in->unit == KIR_WARP;
    v->lane |= in->unit == KIR_LANE;
    v->parallel |= i == v->thread;
    v->varies[i] = in->unit == KIR_VECTOR;
    v->scope[i] = OPEN; /* the induction variable, for the body */
    GN_TRY(check_block(v, in->body));
    *v = outer;
    return NULL;
}

static gn_status *check_if(verifier *v, kir_id i)
{
    const kir_inst *in = kir_at(v->k, i);
    RULE(!v->straight, "an if in a vector loop whose bounds are not constants");
    verifier outer = *v;
    v->masked |= v->varies[in->a];
    GN_TRY(check_block(v, in->body));
    *v = outer;
    return NULL;
}

static gn_status *check_inst(verifier *v, kir_id i)
{
    const kir_inst *in = kir_at(v->k, i);
    RULE(in->op > KIR_INVALID && in->op < KIR_OP_COUNT, "no such instruction");
    RULE(!in->body || in->op == KIR_FOR || in->op == KIR_IF, "it has a body");
    RULE((!in->left && !in->right) || in->op == KIR_TDOT || in->op == KIR_MMA,
         "it has operands that are tiles");
    GN_TRY(check_types(v, i));
    switch (in->op) {
    case KIR_CONST: return check_const(v, i);
    case KIR_SYM: RULE(in->imm >= 0 && in->imm < v->k->syms.n, "no such symbol"); break;
    case KIR_RANDOM: RULE(in->imm >= 0 && in->imm <= UINT32_MAX, "the site fits in 32 bits"); break;
    case KIR_CAST: RULE(is_value_elem(kir_at(v->k, in->a)->elem), "it casts no value"); break;
    case KIR_TILE: return check_tile(v, i);
    case KIR_LOAD:
    case KIR_STORE:
    case KIR_PREFETCH: GN_TRY(check_buffer(v, i)); break;
    case KIR_TLOAD:
    case KIR_TSTORE:
    case KIR_TACC:
    case KIR_TFMA: GN_TRY(check_tile_use(v, i)); break;
    case KIR_BARRIER:
        RULE(v->block && !v->warp && !v->lane && !v->vector,
             "a barrier stands in a block loop and in no warp or lane loop");
        break;
    case KIR_ROUND:
        RULE(is_kind(in->imm), "no such kind");
        RULE(kir_kinds[in->imm].elem == GN_F32,
             "operands of this kind are rounded where they are stored");
        break;
    case KIR_TDOT: GN_TRY(check_operands(v, i, GN_BF16)); break;
    case KIR_MMA: GN_TRY(check_fragments(v, i)); break;
    case KIR_FOR: return check_for(v, i);
    case KIR_IF: return check_if(v, i);
    default: break;
    }
    v->varies[i] = lane_dependent(v, in);
    if (in->op == KIR_STORE || in->op == KIR_TSTORE || in->op == KIR_TACC || in->op == KIR_TFMA ||
        in->op == KIR_TDOT)
        return check_lane_write(v, i);
    return NULL;
}

static gn_status *check_block(verifier *v, kir_id at)
{
    kir_id i = at;
    RULE(v->depth++ < KIR_MAX_DEPTH, "blocks are nested too deeply");
    for (; i; i = kir_at(v->k, i)->next) {
        if (i >= v->k->insts.n) return bad(v, i, "a link leads nowhere");
        RULE(v->scope[i] == UNSEEN, "it stands in two places");
        GN_TRY(check_inst(v, i));
        v->scope[i] = kir_at(v->k, i)->op == KIR_FOR ? CLOSED : OPEN;
    }
    for (i = at; i; i = kir_at(v->k, i)->next) v->scope[i] = CLOSED;
    v->depth--;
    return NULL;
}

/* Kernels -------------------------------------------------------------------------------------- */

static gn_status *check_signature(const kir_kernel *k)
{
#define HEAD(holds, what, who)                                                                     \
    do {                                                                                           \
        if (!(holds)) GN_FAIL(GN_ERR_INTERNAL, "kernel @%s: %s: %s", k->name, who, what);          \
    } while (0)
    if (!k->name) GN_FAIL(GN_ERR_INTERNAL, "a kernel without a name");
    HEAD(k->lanes >= 0 && k->lanes <= KIR_MAX_THREADS, "not so many lanes", "hints");
    HEAD(k->threads >= 0 && k->threads <= KIR_MAX_THREADS, "not so many threads", "hints");
    for (uint32_t i = 0; i < k->syms.n; i++) {
        HEAD(k->syms.p[i], "a symbol without a name", "");
        for (uint32_t j = 0; j < i; j++)
            HEAD(strcmp(k->syms.p[i], k->syms.p[j]) != 0, "two symbols have the name",
                 k->syms.p[i]);
    }
    for (uint32_t i = 0; i < k->buffers.n; i++) {
        const kir_buffer *b = &k->buffers.p[i];
        HEAD(b->name && *b->name, "a buffer without a name", "");
        for (uint32_t j = 0; j < i; j++)
            HEAD(strcmp(b->name, k->buffers.p[j].name) != 0, "two buffers have the name", b->name);
        HEAD((unsigned)b->elem < GN_ELEM_COUNT, "no such element type", b->name);
        HEAD(b->access >= KIR_READ && b->access <= KIR_READ_WRITE, "no such access", b->name);
        HEAD(b->size.coef >= 0 && b->size.sym < (int64_t)k->syms.n, "its size", b->name);
        HEAD(b->size.sym >= 0 || b->size.coef >= -(int64_t)b->size.plus, "its size is negative",
             b->name);
    }
    return NULL;
#undef HEAD
}

/* Buffers that the kernel stores to, and the loop that closes it; bounded whatever the links
 * are. */
static void survey(verifier *v)
{
    const kir_kernel *k = v->k;
    for (uint32_t i = 1; i < k->insts.n; i++) {
        const kir_inst *in = kir_at(k, i);
        if (in->op == KIR_STORE && in->imm >= 0 && in->imm < k->buffers.n) v->stored[in->imm] = 1;
    }
    kir_id last = 0;
    uint32_t steps = 0;
    for (kir_id i = k->top; i && i < k->insts.n && steps++ < k->insts.n; i = kir_at(k, i)->next)
        last = i;
    const kir_inst *in = kir_at(k, last);
    if (last && in->op == KIR_FOR && (in->unit == KIR_THREAD || in->unit == KIR_BLOCK))
        v->thread = last;
}

static gn_status *verify(const kir_kernel *k, gn_arena *arena)
{
    if (!k->insts.n) GN_FAIL(GN_ERR_INTERNAL, "a kernel without its placeholder instruction");
    GN_TRY(check_signature(k));
    verifier v = {.k = k, .arena = arena};
    v.scope = GN_NEW_N(arena, uint8_t, k->insts.n);
    v.varies = GN_NEW_N(arena, bool, k->insts.n);
    v.inside = GN_NEW_N(arena, uint8_t, k->insts.n);
    v.stored = GN_NEW_N(arena, uint8_t, k->buffers.n);
    survey(&v);
    return check_block(&v, k->top);
}

/* In an arena of its own: the kernel may be shared. */
gn_status *kir_verify(const kir_kernel *k)
{
    gn_arena arena;
    jmp_buf oom;
    gn_arena_init(&arena);
    arena.oom = &oom;
    gn_status *s;
    if (setjmp(oom))
        s = GN_ERROR(GN_ERR_NOMEM, "verifying a kernel: %zu bytes", arena.wanted);
    else
        s = verify(k, &arena);
    gn_arena_free(&arena);
    return s;
}
