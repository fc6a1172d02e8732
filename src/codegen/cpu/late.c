/* Stores of loops that are written out, behind their loads.
 *
 * A vector that is stored under a mask is a whole one to the processor's buffer of stores: a load
 * of what lies behind it, the next row where rows are no whole vectors, waits until the store has
 * reached the cache, twenty cycles, though they share no element. Rows that are written over what
 * they are made of (compile/reuse.c) would do so one after another.  Iterations of a loop whose
 * race is `none` or `reduce` meet in no buffer, so all may load before the first one stores.
 *
 * Declines where a buffer is loaded behind its store, where what is stored fills vectors, where not
 * all is one straight line of code, and for machines without masks, which store a part of a vector
 * as parts that are whole. */
#include "codegen/cpu/emit_llvm.h"

enum { MAX_VECTORS = 8 }; /* of a vector loop */

typedef struct finding {
    bool *loaded, *stored; /* [buffers] */
    bool odd;              /* in a vector loop that ends in a part of a vector */
    bool declined;
} finding;

/* Iterations of a loop with constant bounds; 0 where they are not. */
static int64_t trips(const cg *c, const kir_inst *loop)
{
    const kir_inst *lo = kir_at(c->k, loop->a), *hi = kir_at(c->k, loop->b);
    if (lo->op != KIR_CONST || hi->op != KIR_CONST || hi->imm <= lo->imm || loop->imm <= 0)
        return 0;
    return (hi->imm - lo->imm + loop->imm - 1) / loop->imm;
}

/* Do its iterations meet in no buffer, and in no tile but to add to it? */
static bool is_free(const kir_inst *loop)
{
    return loop->race == KIR_NONE || loop->race == KIR_REDUCE;
}

static void look(cg *c, finding *f, kir_id first)
{
    for (kir_id i = first; i && !f->declined; i = kir_at(c->k, i)->next) {
        const kir_inst *in = kir_at(c->k, i);
        if (in->op == KIR_LOAD) {
            f->loaded[in->imm] = true;
            f->declined = f->stored[in->imm];
        } else if (in->op == KIR_STORE) {
            f->stored[in->imm] = true;
            if (f->loaded[in->imm] && f->odd) c->late.buffer[in->imm] = true;
        } else if (in->op == KIR_IF) {
            f->declined = true;
        } else if (in->op == KIR_FOR) {
            int64_t n = trips(c, in), lanes = c->target->lanes;
            bool straight = in->unit == KIR_VECTOR && n > 0 && n <= MAX_VECTORS * lanes &&
                            is_free(in);
            finding inner = *f;
            inner.odd = n % lanes != 0;
            inner.declined = !straight;
            look(c, &inner, in->body);
            f->declined = inner.declined;
        }
    }
}

void cg_late_begin(cg *c, kir_id loop)
{
    const kir_inst *in = kir_at(c->k, loop);
    if (c->late.loop || c->lanes > 1 || c->reduce.loop || in->unit != KIR_UNROLL) return;
    if (!gn_is_on(c->off, GN_DO_LATE_STORES) || !is_free(in) || !c->target->masks) return;
    finding f = {.loaded = GN_NEW_N(c->arena, bool, c->k->buffers.n + 1),
                 .stored = GN_NEW_N(c->arena, bool, c->k->buffers.n + 1)};
    c->late = (cg_late){.loop = loop, .buffer = GN_NEW_N(c->arena, bool, c->k->buffers.n + 1)};
    c->late.end = &c->late.first;
    look(c, &f, in->body);
    if (f.declined) c->late.loop = 0;
}

bool cg_late_store(cg *c, int buffer, const cg_val *index, const cg_val *value)
{
    if (!c->late.loop || !c->late.buffer[buffer]) return false;
    cg_waiting *w = GN_NEW(c->arena, cg_waiting);
    *w = (cg_waiting){
        .buffer = buffer, .index = *index, .value = *value, .lanes = c->lanes, .mask = c->mask};
    w->mask_tail = c->mask_tail;
    *c->late.end = w;
    c->late.end = &w->next;
    return true;
}

void cg_late_end(cg *c, kir_id loop)
{
    if (c->late.loop != loop) return;
    c->late.loop = 0;
    for (const cg_waiting *w = c->late.first; w && !c->fail; w = w->next) {
        cg_mem m = cg_buffer(c, w->buffer);
        c->lanes = w->lanes;
        c->mask = w->mask;
        c->mask_tail = w->mask_tail;
        cg_store(c, &m, &w->index, &w->value);
    }
    c->lanes = 1;
    c->mask = (cg_val){0};
    c->mask_tail = false;
}
