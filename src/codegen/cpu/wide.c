/* Functions of short vectors, several at once.  A row with eight numbers fills half of a register
 * of sixteen lanes, and an exponential of it takes as many instructions as one of sixteen.  Where
 * the body of a vector loop takes one function of several values that do not depend on each other,
 * their lanes are put side by side and it is evaluated once.  Every lane is computed as it was, so
 * bits do not change.
 *
 * What the later ones are functions of is emitted before its place in the body.  Declines where
 * that cannot be: it depends on the first one or on another function, or reads memory that
 * something in between may write. */
#include "codegen/cpu/emit_llvm.h"

struct cg_wide {
    int *place;  /* [instructions] number in the body, from 1; 0: not in it */
    int *writes; /* [instructions] how many instructions before it in the body may write memory */
    int *chunk;  /* [instructions] the last chunk that it was emitted in */
    int *seen;   /* [instructions] the last question that it was asked in */
    int at, question;
    bool again; /* a chunk before has left what does not vary */
};

static bool is_function(const kir_inst *in)
{
    return in->elem == GN_F32 && in->op >= KIR_EXP && in->op <= KIR_ERF;
}

cg_wide *cg_wide_new(cg *c, kir_id body)
{
    int functions = 0, place = 0, writes = 0;
    if (!gn_is_on(c->off, GN_DO_WIDE_FUNCTIONS)) return NULL;
    for (kir_id i = body; i; i = kir_at(c->k, i)->next) functions += is_function(kir_at(c->k, i));
    if (functions < 2) return NULL;
    cg_wide *w = GN_NEW(c->arena, cg_wide);
    *w = (cg_wide){.place = GN_NEW_N(c->arena, int, c->k->insts.n),
                   .writes = GN_NEW_N(c->arena, int, c->k->insts.n),
                   .chunk = GN_NEW_N(c->arena, int, c->k->insts.n),
                   .seen = GN_NEW_N(c->arena, int, c->k->insts.n)};
    for (kir_id i = body; i; i = kir_at(c->k, i)->next) {
        w->place[i] = ++place;
        w->writes[i] = writes;
        writes += kir_ops[kir_at(c->k, i)->op].cls == KIR_CLASS_STMT;
    }
    return w;
}

void cg_wide_chunk(cg_wide *w, bool again)
{
    w->at++;
    w->again = again;
}

static bool is_there(const cg *c, const cg_wide *w, kir_id id)
{
    if (!w->place[id] || w->chunk[id] == w->at) return true;
    return w->again && !c->varies[id] && c->val[id].kind != CG_NONE;
}

/* Can the value be emitted now, before instruction `now`?  Where one answer is no, it is the
 * last. */
static bool can_come(const cg *c, cg_wide *w, kir_id id, kir_id now)
{
    if (is_there(c, w, id) || w->seen[id] == w->question) return true;
    w->seen[id] = w->question;
    const kir_inst *in = kir_at(c->k, id);
    const kir_id of[] = {in->a, in->b, in->c};
    bool reads = in->op == KIR_TLOAD || (in->op == KIR_LOAD && c->written[in->imm]);
    if (is_function(in) || kir_ops[in->op].cls == KIR_CLASS_STMT) return false;
    if (reads && w->writes[id] != w->writes[now]) return false;
    for (int k = 0; k < kir_ops[in->op].n_in; k++)
        if (!can_come(c, w, of[k], now)) return false;
    return true;
}

static void come(cg *c, cg_wide *w, kir_id id)
{
    if (is_there(c, w, id)) return;
    const kir_inst *in = kir_at(c->k, id);
    const kir_id of[] = {in->a, in->b, in->c};
    for (int k = 0; k < kir_ops[in->op].n_in; k++) come(c, w, of[k]);
    cg_inst(c, id);
    w->chunk[id] = w->at;
}

/* The function and those behind it that can be evaluated with it, at most `most`. */
static int find(cg *c, cg_wide *w, kir_id first, int most, kir_id *found)
{
    int n = 0;
    for (kir_id i = first; i && n < most; i = kir_at(c->k, i)->next) {
        const kir_inst *in = kir_at(c->k, i);
        if (in->op != kir_at(c->k, first)->op || !is_function(in) || is_there(c, w, i)) continue;
        w->question++;
        if (!can_come(c, w, in->a, first)) continue;
        come(c, w, in->a);
        if (!cg_flat(&c->val[in->a])) found[n++] = i;
    }
    return n;
}

/* Lane l of value k is lane k * lanes + l; where n is no power of two the rest is filled with the
 * first. */
static LLVMValueRef side_by_side(cg *c, const kir_id *found, int n, int all)
{
    LLVMValueRef v[CG_MAX_LANES];
    int map[CG_MAX_LANES];
    for (int k = 0; k < all; k++)
        v[k] = cg_as_vector(c, &c->val[kir_at(c->k, found[k < n ? k : 0])->a]);
    for (int lanes = c->lanes; all > 1; lanes *= 2, all /= 2) {
        for (int l = 0; l < 2 * lanes; l++) map[l] = l;
        for (int k = 0; k < all / 2; k++)
            v[k] = cg_shuffle(c, v[2 * k], v[2 * k + 1], map, 2 * lanes);
    }
    return v[0];
}

static bool together(cg *c, cg_wide *w, kir_id id)
{
    const kir_inst *in = kir_at(c->k, id);
    kir_id found[CG_MAX_LANES];
    int map[CG_MAX_LANES], all = 1;
    if (!is_function(in) || c->lanes < 2 || c->target->lanes < 2 * c->lanes) return false;
    if (cg_flat(&c->val[in->a])) return false;
    int n = find(c, w, id, c->target->lanes / c->lanes, found);
    if (n < 2) return false;
    while (all < n) all *= 2;
    LLVMValueRef v = cg_math(c, (kir_op)in->op, GN_F32, side_by_side(c, found, n, all));
    for (int k = 0; k < n; k++) {
        for (int l = 0; l < c->lanes; l++) map[l] = k * c->lanes + l;
        c->val[found[k]] = cg_result(c, GN_F32, false, cg_shuffle(c, v, NULL, map, c->lanes));
        w->chunk[found[k]] = w->at;
    }
    return true;
}

bool cg_wide_inst(cg *c, cg_wide *w, kir_id id)
{
    if (w->chunk[id] == w->at || together(c, w, id)) return true;
    w->chunk[id] = w->at; /* emitted now, as it comes */
    return false;
}
