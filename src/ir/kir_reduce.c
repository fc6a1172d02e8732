/* Reduction of failing kernels: greedy, one edit at a time, over instructions in textual order,
 * until none holds. */
#include "ir/kir_reduce.h"
#include "ir/kir_simplify.h"

#include <setjmp.h>

typedef enum edit_kind {
    EDIT_DROP,    /* unlink it, with its body */
    EDIT_UNWRAP,  /* its body in its place; a loop's variable becomes the lower bound */
    EDIT_BOUND,   /* loop: the upper bound becomes the constant arg */
    EDIT_SERIAL,  /* loop: serial, ordered */
    EDIT_OPERAND, /* uses take operand number arg instead */
    EDIT_CONST,   /* it becomes the constant arg */
    EDIT_DEAD,    /* what is dead goes, all of it */
    EDIT_KINDS
} edit_kind;

typedef struct edit {
    edit_kind kind;
    kir_id at;
    int64_t arg;
} edit;

typedef struct reducer {
    gn_arena *arena;
    kir_kernel *best;
    kir_predicate fails;
    void *user;
    int tries;
} reducer;

/* Edits of a clone ----------------------------------------------------------------------------- */

static kir_id *link_in(kir_kernel *k, kir_id *link, kir_id at)
{
    for (; *link; link = &kir_at(k, *link)->next) {
        if (*link == at) return link;
        kir_id *inside = link_in(k, &kir_at(k, *link)->body, at);
        if (inside) return inside;
    }
    return NULL;
}

/* What leads to `at`; every instruction of a clone is linked. */
static kir_id *link_to(kir_kernel *k, kir_id at) { return link_in(k, &k->top, at); }

static void substitute(kir_kernel *k, kir_id from, kir_id to)
{
    for (kir_id i = 1; i < k->insts.n; i++) {
        kir_inst *in = kir_at(k, i);
        if (in->a == from) in->a = to;
        if (in->b == from) in->b = to;
        if (in->c == from) in->c = to;
    }
}

static void unlink_inst(kir_kernel *k, kir_id at) { *link_to(k, at) = kir_at(k, at)->next; }

static bool unwrap(kir_kernel *k, kir_id at)
{
    kir_inst i = *kir_at(k, at);
    kir_id *link = link_to(k, at);
    if (i.op == KIR_FOR) substitute(k, at, i.a);
    *link = i.body;
    while (*link) link = &kir_at(k, *link)->next;
    *link = i.next;
    return true;
}

static bool bound(kir_kernel *k, kir_id at, int64_t hi)
{
    const kir_inst *old = kir_at(k, kir_at(k, at)->b);
    if (old->op == KIR_CONST && old->imm <= hi) return false;
    kir_inst c = {.op = KIR_CONST, .elem = GN_I64, .imm = hi, .next = at};
    GN_PUSH(k->arena, k->insts, c);
    *link_to(k, at) = k->insts.n - 1;
    kir_at(k, at)->b = k->insts.n - 1;
    return true;
}

static bool operand(kir_kernel *k, kir_id at, int64_t n)
{
    const kir_inst *i = kir_at(k, at);
    kir_id v = n == 0 ? i->a : n == 1 ? i->b : i->c;
    if (!v || kir_at(k, v)->elem != i->elem || !kir_has_value(kir_at(k, v))) return false;
    substitute(k, at, v);
    unlink_inst(k, at);
    return true;
}

static bool constant(kir_kernel *k, kir_id at, int64_t v)
{
    kir_inst *i = kir_at(k, at);
    if (i->op == KIR_CONST) return false;
    *i = (kir_inst){.op = KIR_CONST, .elem = i->elem, .imm = v, .fimm = (double)v, .next = i->next};
    return true;
}

static bool serial(kir_inst *i)
{
    if (i->unit == KIR_SERIAL && i->race == KIR_ORDERED) return false;
    i->unit = KIR_SERIAL;
    i->race = KIR_ORDERED;
    return true;
}

/* False where the edit does not apply. */
static bool apply(kir_kernel *k, const edit *e)
{
    kir_inst *i = kir_at(k, e->at);
    bool block = i->op == KIR_FOR || i->op == KIR_IF, value = kir_has_value(i) && i->op != KIR_FOR;
    switch (e->kind) {
    case EDIT_DROP:
        if (!value) unlink_inst(k, e->at);
        return !value;
    case EDIT_UNWRAP: return block && unwrap(k, e->at);
    case EDIT_BOUND: return i->op == KIR_FOR && bound(k, e->at, e->arg);
    case EDIT_SERIAL: return i->op == KIR_FOR && serial(i);
    case EDIT_OPERAND: return value && operand(k, e->at, e->arg);
    case EDIT_CONST: return value && constant(k, e->at, e->arg);
    case EDIT_DEAD: kir_remove_dead(k); return true;
    default: return false;
    }
}

/* Trying --------------------------------------------------------------------------------------- */

static uint32_t linked(const kir_kernel *k) { return k->insts.n; /* a clone holds nothing else */ }

static bool holds(reducer *r, const edit *e, gn_arena *scratch)
{
    kir_kernel *k = kir_clone(scratch, r->best, NULL);
    if (!apply(k, e)) return false;
    gn_status *s = kir_verify(k);
    bool fits = !s;
    gn_status_free(s);
    if (!fits) return false;
    if (e->kind == EDIT_DEAD && linked(kir_clone(scratch, k, NULL)) == linked(r->best))
        return false;
    r->tries--;
    return r->fails(r->user, k);
}

/* In an arena that dies with it. */
static bool shows(reducer *r, const edit *e)
{
    gn_arena scratch;
    jmp_buf oom;
    gn_arena_init(&scratch);
    scratch.oom = &oom;
    bool yes = false;
    if (!setjmp(oom)) yes = holds(r, e, &scratch);
    gn_arena_free(&scratch);
    return yes;
}

/* Makes the edit when the failure shows with it. */
static bool attempt(reducer *r, edit e)
{
    if (r->tries <= 0 || e.at >= r->best->insts.n || !shows(r, &e)) return false;
    kir_kernel *k = kir_clone(r->arena, r->best, NULL);
    apply(k, &e);
    r->best = kir_clone(r->arena, k, NULL);
    return true;
}

/* All edits of one kind, outer instructions first. */
static bool sweep(reducer *r, edit_kind kind)
{
    static const int64_t args[EDIT_KINDS][4] = {
        [EDIT_BOUND] = {1, 2, 4, 8}, [EDIT_OPERAND] = {0, 1, 2}, [EDIT_CONST] = {0, 1}};
    static const int n_args[EDIT_KINDS] = {1, 1, 4, 1, 3, 2, 1};
    bool any = false;
    for (kir_id at = 1; at < r->best->insts.n; at++) {
        uint32_t before = r->best->insts.n;
        bool done = false;
        for (int n = 0; n < n_args[kind] && !done; n++)
            done = attempt(r, (edit){kind, at, args[kind][n]});
        any |= done;
        if (kind == EDIT_DEAD) break;
        if (done && r->best->insts.n < before) at--; /* something else has this number now */
    }
    return any;
}

kir_kernel *kir_reduce(gn_arena *a, const kir_kernel *k, kir_predicate fails, void *user,
                       int max_tries)
{
    reducer r = {.arena = a, .best = kir_clone(a, k, NULL), .fails = fails, .user = user};
    r.tries = max_tries ? max_tries : 10000;
    for (bool again = true; again && r.tries > 0;) {
        again = false;
        for (int kind = 0; kind < EDIT_KINDS; kind++) again |= sweep(&r, (edit_kind)kind);
    }
    return r.best;
}
