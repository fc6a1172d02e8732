/* Lane reductions.  The order is fixed by the width of the machine alone: every lane combines its
 * own iterations in order, the lanes are combined as a binary tree (lane l with lane l + n/2), the
 * result goes into the tile. */
#include "codegen/cpu/emit_llvm.h"

#include <math.h>

LLVMValueRef cg_identity(LLVMTypeRef t, gn_elem e, int red)
{
    if (e == GN_I64) return cg_const_i(t, red == 0 ? 0 : red == 1 ? INT64_MIN : INT64_MAX);
    return cg_const_f(t, red == 0 ? -0.0 : red == 1 ? -(double)INFINITY : (double)INFINITY);
}

LLVMValueRef cg_combine(cg *c, gn_elem e, int red, LLVMValueRef a, LLVMValueRef b)
{
    if (e == GN_I64)
        return red == 0 ? LLVMBuildAdd(c->b, a, b, "")
                        : cg_binary(c, red == 1 ? "llvm.smax" : "llvm.smin", a, b);
    /* What is new comes first: it alone is asked whether it is a NaN, which the chain of maxima
     * does not wait for. */
    return red == 0 ? LLVMBuildFAdd(c->b, a, b, "") : cg_fminmax(c, b, a, red == 1);
}

LLVMValueRef cg_tree(cg *c, gn_elem e, int red, LLVMValueRef v)
{
    int map[CG_MAX_LANES];
    for (int n = cg_width(v); n > 1; n /= 2) {
        for (int i = 0; i < n / 2; i++) map[i] = i;
        LLVMValueRef low = cg_shuffle(c, v, NULL, map, n / 2);
        for (int i = 0; i < n / 2; i++) map[i] = n / 2 + i;
        v = cg_combine(c, e, red, low, cg_shuffle(c, v, NULL, map, n / 2));
    }
    return v;
}

static void acc_scalar(cg *c, const cg_mem *m, LLVMValueRef p, int red, LLVMValueRef x)
{
    gn_elem e = cg_value_elem(m->elem);
    LLVMValueRef old = cg_widen(c, m->elem, cg_load_raw(c, m, p, 1));
    cg_store_raw(c, m, p, cg_narrow(c, m->elem, cg_combine(c, e, red, old, x)));
}

/* Runs of g lanes, g a power of two, that name one element each: the length, or 0. */
static int run_length(const cg *c, const cg_val *index)
{
    int g = 1;
    while (g < c->lanes && cg_lane(index, g) == cg_lane(index, 0)) g++;
    if (g & (g - 1) || c->lanes % g) return 0;
    for (int l = 0; l < c->lanes; l++)
        if (cg_lane(index, l) != cg_lane(index, l / g * g)) return 0;
    return g;
}

/* Halves of the runs are combined until every lane holds the result of its run. */
static void reduce_runs(cg *c, const cg_mem *m, const cg_val *index, int red, LLVMValueRef v, int g)
{
    gn_elem e = cg_value_elem(m->elem);
    int map[CG_MAX_LANES];
    for (int d = g / 2; d > 0; d /= 2) {
        for (int l = 0; l < c->lanes; l++) map[l] = l ^ d;
        v = cg_combine(c, e, red, v, cg_shuffle(c, v, NULL, map, c->lanes));
    }
    for (int l = 0; l < c->lanes; l += g) {
        LLVMValueRef x = cg_extract(c, v, l);
        acc_scalar(c, m, cg_address(c, m, index->v, cg_lane(index, l)), red, x);
    }
}

void cg_reduce_into(cg *c, const cg_mem *m, const cg_val *index, int red, LLVMValueRef v)
{
    gn_elem e = cg_value_elem(m->elem);
    if (cg_flat(index)) {
        v = cg_tree(c, e, red, v);
        acc_scalar(c, m, cg_address(c, m, index->v, index->c), red, v);
        return;
    }
    int g = index->kind == CG_INT ? run_length(c, index) : 0;
    if (g > 1) {
        reduce_runs(c, m, index, red, v, g);
        return;
    }
    LLVMValueRef at = index->kind == CG_VECTOR ? index->v : NULL;
    LLVMValueRef mask = c->mask.kind == CG_VECTOR ? c->mask.v : NULL;
    if (at && mask) at = cg_sel(c, mask, at, LLVMConstNull(LLVMTypeOf(at)));
    for (int l = 0; l < c->lanes; l++) {
        if (!cg_lane_runs(c, l)) continue;
        LLVMValueRef p = at ? cg_address(c, m, cg_extract(c, at, l), 0)
                            : cg_address(c, m, index->v, cg_lane(index, l));
        acc_scalar(c, m, p, red, cg_extract(c, v, l));
    }
}

/* Reductions carried through a loop ------------------------------------------------------------ */

/* Do two instructions name different elements of their tile for certain? */
static bool apart(const cg *c, const kir_inst *a, const kir_inst *b)
{
    const kir_inst *x = kir_at(c->k, a->a), *y = kir_at(c->k, b->a);
    return x->op == KIR_CONST && y->op == KIR_CONST && x->imm != y->imm;
}

/* Is everything that the block does to what `acc` names a reduction of the same kind? */
static bool only_reduced(const cg *c, kir_id first, const kir_inst *acc, int red)
{
    for (kir_id i = first; i; i = kir_at(c->k, i)->next) {
        const kir_inst *in = kir_at(c->k, i);
        if (in->body && !only_reduced(c, in->body, acc, red)) return false;
        bool tile_op = in->op == KIR_TLOAD || in->op == KIR_TSTORE || in->op == KIR_TACC ||
                       in->op == KIR_TFMA || in->op == KIR_TDOT;
        if (!tile_op || in->ref != acc->ref || apart(c, in, acc)) continue;
        bool same = (in->op == KIR_TACC && (int)in->imm == red) || (in->op == KIR_TFMA && red == 0);
        if (!same) return false;
    }
    return true;
}

static int red_of(const kir_inst *in) { return in->op == KIR_TFMA ? 0 : (int)in->imm; }

static bool can_defer(const cg *c, kir_id loop, const kir_inst *in)
{
    if (in->op != KIR_TACC && in->op != KIR_TFMA) return false;
    if (c->loop_of[in->ref] || kir_at(c->k, loop)->race == KIR_PRIVATE)
        return false; /* a copy a lane */
    return only_reduced(c, kir_at(c->k, loop)->body, in, red_of(in));
}

static gn_elem tile_elem(const cg *c, const kir_inst *in)
{
    return cg_value_elem((gn_elem)kir_at(c->k, in->ref)->elem);
}

static cg_defer *defer_new(cg *c, kir_id inst, const cg_val *index)
{
    cg_defer *d = GN_NEW(c->arena, cg_defer);
    d->inst = inst;
    d->index = *index;
    d->run = cg_flat(index) ? 0 : run_length(c, index);
    d->acc = cg_alloca(c, cg_vec(cg_type(c, tile_elem(c, kir_at(c->k, inst))), c->reduce.lanes),
                       64);
    d->next = c->reduce.list;
    c->reduce.list = d;
    return d;
}

/* Called before the loop. Where the loop is written out, accumulators are made at their first use;
 * a loop that stays a loop needs them before, so their index must be known there. */
void cg_defer_begin(cg *c, kir_id loop, bool written_out, int lanes)
{
    c->reduce = (cg_reduce_loop){.loop = loop, .written_out = written_out, .lanes = lanes};
    if (written_out) return;
    for (kir_id i = kir_at(c->k, loop)->body; i; i = kir_at(c->k, i)->next) {
        const kir_inst *in = kir_at(c->k, i);
        if (!can_defer(c, loop, in)) continue;
        const kir_inst *at = kir_at(c->k, in->a);
        cg_val index = c->val[in->a];
        if (c->loop_of[in->a]) {
            if (at->op != KIR_CONST) continue;
            index = cg_int(at->imm);
        }
        cg_defer *d = defer_new(c, i, &index);
        gn_elem e = tile_elem(c, in);
        LLVMBuildStore(c->b, cg_identity(cg_vec(cg_type(c, e), lanes), e, red_of(in)), d->acc);
    }
}

/* v in the lanes of the accumulators that its iterations belong to, `rest` in the others. */
static LLVMValueRef place(cg *c, LLVMValueRef v, LLVMValueRef rest)
{
    int n = cg_width(v), lanes = c->reduce.lanes, at = c->reduce.first_lane, map[CG_MAX_LANES];
    if (n == lanes) return v;
    if (n == 1) return LLVMBuildInsertElement(c->b, rest, v, cg_i32(c, at), "");
    for (int i = 0; i < lanes; i++) map[i] = i >= at && i < at + n ? i - at : -1;
    LLVMValueRef wide = cg_shuffle(c, v, NULL, map, lanes);
    for (int i = 0; i < lanes; i++) map[i] = i >= at && i < at + n ? i : lanes + i;
    return cg_shuffle(c, wide, rest, map, lanes);
}

/* The accumulator of this instruction and index; a loop that is written out may make it here. */
static cg_defer *accumulator(cg *c, kir_id id, const cg_val *index, bool *first)
{
    const kir_inst *in = kir_at(c->k, id);
    cg_defer *d = c->reduce.list;
    *first = false;
    if (!c->reduce.written_out) {
        while (d && d->inst != id) d = d->next;
        return d;
    }
    if (!cg_const(index) && c->loop_of[in->a]) return NULL;
    int run = cg_flat(index) ? 0 : run_length(c, index);
    while (d &&
           (d->inst != id || d->index.c != index->c || d->index.v != index->v || d->run != run))
        d = d->next;
    if (d) return d;
    bool own = false; /* directly in the loop's body */
    for (kir_id i = kir_at(c->k, c->reduce.loop)->body; i && !own; i = kir_at(c->k, i)->next)
        own = i == id;
    if (!own || !can_defer(c, c->reduce.loop, in)) return NULL;
    *first = true;
    return defer_new(c, id, index);
}

/* Does a whole vector name elements that follow each other, known now, each by a run of lanes? */
static bool in_runs(const cg *c, const cg_val *index)
{
    int g = cg_const(index) ? run_length(c, index) : 0;
    if (g < 2 || c->lanes < c->reduce.lanes || !c->reduce.written_out) return false;
    for (int l = 0; l < c->lanes; l++)
        if (cg_lane(index, l) != index->c + l / g) return false;
    return true;
}

bool cg_defer_acc(cg *c, kir_id id, const cg_val *index)
{
    const kir_inst *in = kir_at(c->k, id);
    bool first;
    if (!c->reduce.loop || (!cg_flat(index) && !in_runs(c, index)) ||
        (c->lanes == 1 && c->varies[in->a]))
        return false;
    cg_defer *d = accumulator(c, id, index, &first);
    if (!d) return false;
    gn_elem e = tile_elem(c, in);
    int red = red_of(in);
    LLVMTypeRef t = cg_vec(cg_type(c, e), c->reduce.lanes);
    LLVMValueRef v = cg_as_vector(c, &c->val[in->b]), mask = cg_mask_vector(c);
    LLVMValueRef acc = first ? NULL : LLVMBuildLoad2(c->b, t, d->acc, "");
    if (in->op == KIR_TFMA && !first) {
        LLVMValueRef none = LLVMConstNull(t), w = place(c, cg_as_vector(c, &c->val[in->c]), none);
        LLVMValueRef sum = cg_fma(c, place(c, v, none), w, acc);
        if (!mask && c->lanes < c->reduce.lanes) mask = cg_const_i(cg_vec(c->i1, c->lanes), 1);
        if (mask)
            sum = cg_sel(c, place(c, mask, LLVMConstNull(cg_vec(c->i1, c->reduce.lanes))), sum,
                         acc);
        LLVMBuildStore(c->b, sum, d->acc);
        return true;
    }
    if (in->op == KIR_TFMA) v = LLVMBuildFMul(c->b, v, cg_as_vector(c, &c->val[in->c]), "");
    if (mask) v = cg_sel(c, mask, v, cg_identity(LLVMTypeOf(v), e, red));
    v = place(c, v, cg_identity(t, e, red));
    LLVMBuildStore(c->b, first ? v : cg_combine(c, e, red, acc, v), d->acc);
    return true;
}

static int elements(const cg *c, const cg_defer *d)
{
    return d->run ? c->reduce.lanes / d->run : 1;
}

/* How many accumulators from this one on end in one vector of elements that follow each other: a
 * power of two. */
static int together(const cg *c, const cg_defer *first)
{
    int length = first->run ? first->run : c->reduce.lanes, n = 0, all = 1;
    for (const cg_defer *d = first; d && n < length; d = d->next, n++)
        if (d->inst != first->inst || d->run != first->run || d->index.v != first->index.v ||
            d->index.c != first->index.c + n * elements(c, first))
            break;
    while (2 * all <= n) all *= 2;
    return all;
}

/* Adds accumulators to their elements of the tile; returns the first that is left. */
static cg_defer *end_together(cg *c, cg_defer *first)
{
    const kir_inst *in = kir_at(c->k, first->inst);
    cg_val index = first->index;
    cg_mem m = cg_tile_mem(c, in->ref, &index);
    gn_elem e = cg_value_elem(m.elem);
    int n = together(c, first), lanes = c->reduce.lanes, red = red_of(in);
    LLVMValueRef v[CG_MAX_LANES], at = cg_address(c, &m, index.v, index.c);
    cg_defer *d = first;
    for (int i = 0; i < n; i++, d = d->next)
        v[i] = LLVMBuildLoad2(c->b, cg_vec(cg_type(c, e), lanes), d->acc, "");
    int width = n * elements(c, first);
    if (width == 1) {
        acc_scalar(c, &m, at, red, cg_tree(c, e, red, v[0]));
        return d;
    }
    LLVMValueRef sum = cg_trees(c, e, red, v, n, first->run ? first->run : lanes);
    LLVMValueRef old = cg_widen(c, m.elem, cg_load_raw(c, &m, at, width));
    cg_store_raw(c, &m, at, cg_narrow(c, m.elem, cg_combine(c, e, red, old, sum)));
    return d;
}

/* Called after the loop, outside of it. */
void cg_defer_end(cg *c)
{
    cg_defer *list = c->reduce.list, *turned = NULL;
    while (list) { /* in the order of their making */
        cg_defer *next = list->next;
        list->next = turned;
        turned = list;
        list = next;
    }
    while (turned) turned = end_together(c, turned);
    c->reduce = (cg_reduce_loop){0};
}
