/* Copies of kernels. */
#include "ir/kir.h"

static void clone_block(const kir_kernel *k, kir_kernel *to, kir_cursor c, kir_id at, kir_id *map)
{
    for (; at; at = kir_at(k, at)->next) {
        kir_inst i = *kir_at(k, at);
        kir_id body = i.body;
        i.body = i.next = 0;
        i.a = map[i.a];
        i.b = map[i.b];
        i.c = map[i.c];
        i.ref = map[i.ref];
        i.left = map[i.left];
        i.right = map[i.right];
        map[at] = kir_emit(to, &c, &i);
        clone_block(k, to, (kir_cursor){.owner = map[at]}, body, map);
    }
}

kir_kernel *kir_clone(gn_arena *a, const kir_kernel *k, kir_id *map)
{
    kir_kernel *to = kir_kernel_new(a, k->name);
    if (k->comment) to->comment = gn_arena_strdup(a, k->comment);
    to->lanes = k->lanes;
    to->threads = k->threads;
    for (uint32_t i = 0; i < k->syms.n; i++) {
        const char *copy = gn_arena_strdup(a, k->syms.p[i]);
        GN_PUSH(a, to->syms, copy);
    }
    for (uint32_t i = 0; i < k->buffers.n; i++) {
        const kir_buffer *b = &k->buffers.p[i];
        kir_buffer_add(to, b->name, b->elem, b->access, b->size);
    }
    if (!map) map = GN_NEW_N(a, kir_id, k->insts.n);
    for (uint32_t i = 0; i < k->insts.n; i++) map[i] = 0;
    clone_block(k, to, (kir_cursor){0}, k->top, map);
    return to;
}
