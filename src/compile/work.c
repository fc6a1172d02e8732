#include "compile/work.h"

/* A kernel before its first instruction; what the prelude or CUDA has lines of its own for. */
enum { KERNEL = 12, RANDOM = 50, POWER = 45, FUNCTION = 20, MOST = 1 << 20 };

static int64_t trips_of(const kir_kernel *k, const kir_inst *in)
{
    const kir_inst *a = kir_at(k, in->a), *b = kir_at(k, in->b);
    return a->op == KIR_CONST && b->op == KIR_CONST && in->imm > 0
               ? (b->imm - a->imm + in->imm - 1) / in->imm
               : -1;
}

/* Rows that lanes unroll are compiled one by one, at half of what the first one takes.  Of blocks
 * not: a block's lanes have few instructions a round.  Four neighbours that a lane has are written
 * out, and many of their instructions put together again. */
static uint32_t times(const kir_kernel *k, const kir_inst *loop, uint32_t body, bool block)
{
    enum { ROWS = 32, FOURS = 16 };
    int64_t n = trips_of(k, loop), rows = n < 1 ? 1 : n > ROWS ? ROWS : n;
    if (loop->unit == KIR_UNROLL && !block) return body + (uint32_t)(rows - 1) * body / 2;
    return loop->unit == KIR_VECTOR && n >= FOURS && n % 4 == 0 ? 2 * body : body;
}

static uint32_t of_inst(const kir_inst *in)
{
    if (in->op == KIR_RANDOM) return RANDOM;
    if (in->op == KIR_FPOW) return POWER;
    return kir_is_function((kir_op)in->op) ? FUNCTION : 0;
}

static uint32_t work_of(const kir_kernel *k, kir_id first, bool block)
{
    uint32_t n = 0;
    for (kir_id i = first; i; i = kir_at(k, i)->next) {
        const kir_inst *in = kir_at(k, i);
        n += 1 + of_inst(in) + (in->body ? times(k, in, work_of(k, in->body, block), block) : 0);
        if (n > MOST) n = MOST;
    }
    return n;
}

uint32_t gn_cuda_work(const kir_kernel *k)
{
    kir_id thread = kir_thread_loop(k);
    return KERNEL + work_of(k, k->top, thread && kir_at(k, thread)->unit == KIR_BLOCK);
}
