/* Places of instructions in the text of a kernel: the same for all kernels of one text. */
#include "ir/kir.h"

static uint32_t place_block(const kir_kernel *k, kir_id at, uint32_t last, uint32_t *place)
{
    for (; at; at = kir_at(k, at)->next) {
        const kir_inst *i = kir_at(k, at);
        if (i->op != KIR_CONST && i->op != KIR_SYM) place[at] = ++last;
        if (i->body) last = place_block(k, i->body, last, place);
    }
    return last;
}

uint32_t *kir_places(gn_arena *a, const kir_kernel *k)
{
    uint32_t *place = GN_NEW_N(a, uint32_t, k->insts.n + 1u);
    place_block(k, k->top, 0, place);
    return place;
}
