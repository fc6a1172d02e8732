/* Building a kernel: buffers, symbols, instructions at a cursor. */
#include "ir/kir.h"

#include <string.h>

kir_kernel *kir_kernel_new(gn_arena *a, const char *name)
{
    kir_kernel *k = GN_NEW(a, kir_kernel);
    k->arena = a;
    k->name = gn_arena_strdup(a, name);
    GN_PUSH(a, k->insts, ((kir_inst){.op = KIR_INVALID}));
    return k;
}

int kir_buffer_add(kir_kernel *k, const char *name, gn_elem e, kir_access access, kir_size size)
{
    kir_buffer b = {
        .name = gn_arena_strdup(k->arena, name), .elem = e, .access = access, .size = size};
    GN_PUSH(k->arena, k->buffers, b);
    return (int)k->buffers.n - 1;
}

int kir_sym_add(kir_kernel *k, const char *name)
{
    for (uint32_t i = 0; i < k->syms.n; i++)
        if (!strcmp(k->syms.p[i], name)) return (int)i;
    const char *copy = gn_arena_strdup(k->arena, name);
    GN_PUSH(k->arena, k->syms, copy);
    return (int)k->syms.n - 1;
}

static gn_elem elem_of(const kir_kernel *k, kir_id v)
{
    return v < k->insts.n ? kir_at(k, v)->elem : GN_F32;
}

/* The type that the operands determine; what the instruction says where they do not. */
static gn_elem result_elem(const kir_kernel *k, const kir_inst *i)
{
    switch (kir_ops[i->op].sig[0]) {
    case 'i': return GN_I64;
    case 'b': return GN_BOOL;
    case 's': return GN_F32;
    case 'f': return elem_of(k, i->a);
    case 't': return elem_of(k, i->b);
    default: break;
    }
    if (i->op == KIR_LOAD && i->imm >= 0 && i->imm < k->buffers.n)
        return kir_widen(k->buffers.p[i->imm].elem);
    if (i->op == KIR_TLOAD) return kir_widen(elem_of(k, i->ref));
    return i->elem;
}

kir_id kir_emit(kir_kernel *k, kir_cursor *c, const kir_inst *inst)
{
    kir_inst i = *inst;
    if (i.op < KIR_OP_COUNT) i.elem = (uint8_t)result_elem(k, &i);
    if (!i.of) i.of = k->of;
    kir_id id = k->insts.n;
    kir_id *link = c->last    ? &kir_at(k, c->last)->next
                   : c->owner ? &kir_at(k, c->owner)->body
                              : &k->top;
    i.next = *link;
    *link = id;
    GN_PUSH(k->arena, k->insts, i);
    c->last = id;
    return id;
}
