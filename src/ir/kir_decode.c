/* A kernel as a flat list of steps: needs a verified kernel. */
#include "ir/kir_exec.h"

#include <string.h>

#define NONE UINT32_MAX

typedef struct decoder {
    gn_arena *arena;
    const kir_kernel *k;
    const kir_eval_options *opt;
    kx_code *out;
    uint32_t *tile;  /* instruction -> memory */
    uint32_t levels; /* checked loops around */
    uint32_t loop;   /* innermost loop around */
} decoder;

static void access(decoder *d, kx_step *s, uint32_t mem)
{
    kx_memory *m = &d->out->memory.p[mem];
    s->mem = mem;
    if (d->levels > m->levels) m->levels = d->levels;
    if (s->op != KIR_LOAD && s->op != KIR_TLOAD) m->written = true;
}

/* Of an operand that is a tile. */
static uint32_t operand(decoder *d, kir_id tile)
{
    kx_memory *m = &d->out->memory.p[d->tile[tile]];
    if (d->levels > m->levels) m->levels = d->levels;
    return d->tile[tile];
}

static void declare_tile(decoder *d, kx_step *s, kir_id i)
{
    const kir_inst *in = kir_at(d->k, i);
    kx_memory m = {
        .n = in->imm, .elem = in->elem, .tile = true, .base = d->levels, .levels = d->levels};
    s->mem = d->out->memory.n;
    d->tile[i] = s->mem;
    GN_PUSH(d->arena, d->out->memory, m);
}

static void block(decoder *d, kir_id at);

static void loop(decoder *d, kir_id i)
{
    const kir_inst *in = kir_at(d->k, i);
    kx_code *out = d->out;
    decoder outer = *d;
    bool checked = in->race != KIR_ORDERED, turns = in->race == KIR_NONE || in->race == KIR_PRIVATE;
    kx_loop l = {.step = in->imm,
                 .unit = in->unit,
                 .race = in->race,
                 .iv = i,
                 .outer = d->loop,
                 .first = out->steps.n};
    l.level = checked ? (int)d->levels : -1;
    l.reverse = d->opt->reverse && turns && in->unit >= KIR_VECTOR;
    d->loop = out->loops.n;
    d->levels += checked;
    if (d->levels > out->levels) out->levels = d->levels;
    GN_PUSH(d->arena, out->loops, l);
    GN_PUSH(
        d->arena, out->steps,
        ((kx_step){
            .op = KIR_FOR, .a = in->a, .b = in->b, .loop = d->loop, .imm = in->imm, .inst = i}));
    block(d, in->body);
    GN_PUSH(d->arena, out->steps, ((kx_step){.op = KX_END, .loop = d->loop, .inst = i}));
    out->steps.p[l.first].target = out->steps.n;
    d->loop = outer.loop;
    d->levels = outer.levels;
}

static void constant(decoder *d, kir_id i)
{
    const kir_inst *in = kir_at(d->k, i);
    kx_cell *c = &d->out->cells[i];
    if (in->elem == GN_F32 || in->elem == GN_F64)
        c->f = in->elem == GN_F32 && !d->opt->f64 ? (double)(float)in->fimm : in->fimm;
    else
        c->i = in->imm;
}

static void instruction(decoder *d, kir_id i)
{
    const kir_inst *in = kir_at(d->k, i);
    kx_step s = {.op = in->op,
                 .dst = i,
                 .a = in->a,
                 .b = in->b,
                 .c = in->c,
                 .imm = in->imm,
                 .inst = i,
                 .narrow = in->narrow};
    s.levels = d->levels;
    s.loop = d->loop;
    s.round = in->elem == GN_F32 && !d->opt->f64;
    s.to = in->elem;
    uint32_t here = d->out->steps.n;
    switch (in->op) {
    case KIR_CONST: constant(d, i); return;
    case KIR_SYM: /* filled in by the caller of decode */
    case KIR_BARRIER:
    case KIR_PREFETCH: break;
    case KIR_FOR: loop(d, i); return;
    case KIR_TILE: declare_tile(d, &s, i); break;
    case KIR_LOAD:
    case KIR_STORE: access(d, &s, (uint32_t)in->imm); break;
    case KIR_TLOAD:
    case KIR_TSTORE:
    case KIR_TACC:
    case KIR_TFMA:
        access(d, &s, d->tile[in->ref]);
        s.round = kir_widen((gn_elem)kir_at(d->k, in->ref)->elem) == GN_F32 && !d->opt->f64;
        break;
    case KIR_TDOT:
    case KIR_MMA:
        access(d, &s, d->tile[in->ref]);
        s.round = !d->opt->f64;
        s.left = operand(d, in->left);
        s.right = operand(d, in->right);
        break;
    case KIR_CAST: s.from = kir_at(d->k, in->a)->elem; break;
    default: break;
    }
    if (in->op == KIR_PREFETCH || in->op == KIR_SYM) return;
    GN_PUSH(d->arena, d->out->steps, s);
    if (in->op != KIR_IF) return;
    block(d, in->body);
    d->out->steps.p[here].target = d->out->steps.n;
}

static void block(decoder *d, kir_id at)
{
    for (; at; at = kir_at(d->k, at)->next) instruction(d, at);
}

/* Memory --------------------------------------------------------------------------------------- */

static gn_status *bind(const kir_kernel *k, uint32_t b, const kir_eval_options *opt,
                       const kir_bound_buffer *to, const int64_t *syms, kx_memory *m)
{
    const kir_buffer *is = &k->buffers.p[b];
    int64_t n = is->size.coef;
    bool fits = is->size.sym < 0 || !__builtin_mul_overflow(n, syms[is->size.sym], &n);
    if (!fits || __builtin_add_overflow(n, is->size.plus, &n) || n < 0)
        GN_FAIL(GN_ERR_USAGE, "kernel @%s: the size of %%%s is not a number of elements", k->name,
                is->name);
    if (to->elems < n)
        GN_FAIL(GN_ERR_USAGE, "kernel @%s: %%%s needs %lld elements and has %lld", k->name,
                is->name, (long long)n, (long long)to->elems);
    *m = (kx_memory){.data = to->data,
                     .n = n,
                     .elem = (uint8_t)is->elem,
                     .wide = opt->f64 && gn_elem_is_float(is->elem)};
    return NULL;
}

/* After decoding: memory of tiles, marks where iterations could meet. */
static void allocate(decoder *d)
{
    bool private = false;
    for (uint32_t i = 0; i < d->out->loops.n; i++)
    private |= d->out->loops.p[i].race == KIR_PRIVATE;
    for (uint32_t i = 0; i < d->out->memory.n; i++) {
        kx_memory *m = &d->out->memory.p[i];
        uint64_t levels = m->levels - m->base;
        if (m->written && levels) m->marks = GN_NEW_N(d->arena, kx_mark, (uint64_t)m->n * levels);
        if (d->opt->once && !m->tile && d->k->buffers.p[i].access == KIR_WRITE)
            m->stored = GN_NEW_N(d->arena, uint8_t, m->n);
        if (!m->tile) continue;
        m->data = GN_NEW_N(d->arena, kx_cell, m->n);
        m->set = GN_NEW_N(d->arena, uint32_t, m->n);
        if (private) m->owner = GN_NEW_N(d->arena, uint64_t, m->n);
    }
}

gn_status *kx_decode(gn_arena *a, const kir_kernel *k, const kir_eval_options *opt,
                     const kir_bound_buffer *buffers, const int64_t *syms, kx_code *out)
{
    memset(out, 0, sizeof *out);
    decoder d = {.arena = a, .k = k, .opt = opt, .out = out, .loop = NONE};
    d.tile = GN_NEW_N(a, uint32_t, k->insts.n);
    out->cells = GN_NEW_N(a, kx_cell, k->insts.n);
    for (uint32_t b = 0; b < k->buffers.n; b++) {
        kx_memory m;
        GN_TRY(bind(k, b, opt, &buffers[b], syms, &m));
        GN_PUSH(a, out->memory, m);
    }
    block(&d, k->top);
    GN_PUSH(a, out->steps, ((kx_step){.op = KX_DONE}));
    for (uint32_t i = 1; i < k->insts.n; i++)
        if (kir_at(k, i)->op == KIR_SYM && (uint64_t)kir_at(k, i)->imm < k->syms.n)
            out->cells[i].i = syms[kir_at(k, i)->imm];
    allocate(&d);
    return NULL;
}
