/* What can be emitted, and what depends on the lanes of a vector loop. */
#include "codegen/backend.h"
#include "codegen/cpu/emit_llvm.h"

static bool unit_known(int unit)
{
    return unit == KIR_SERIAL || unit == KIR_UNROLL || unit == KIR_VECTOR || unit == KIR_THREAD;
}

static bool value_type(int e) { return e == GN_F32 || e == GN_F64 || e == GN_I64 || e == GN_BOOL; }

static const char *check_inst(const kir_kernel *k, kir_id id, int64_t *stack)
{
    const kir_inst *in = kir_at(k, id);
    if (in->op == KIR_INVALID || in->op >= KIR_OP_COUNT)
        return "an instruction that is not in the table";
    if (in->op == KIR_MMA || in->op == KIR_ROUND) return "a product of fragments";
    if (in->op == KIR_FOR) {
        if (!unit_known(in->unit)) return "a loop over blocks, warps or lanes";
        if (in->unit == KIR_THREAD && id != kir_thread_loop(k))
            return "a thread loop that does not close the kernel";
        if (in->imm <= 0) return "a loop whose step is not positive";
    }
    if (in->op == KIR_TILE) {
        if (!value_type(in->elem) && !kir_is_narrow((gn_elem)in->elem))
            return "tiles of a type that exists in buffers only";
        *stack += in->imm * (int64_t)gn_elem_size((gn_elem)in->elem);
        if (in->imm <= 0 || in->imm > 64 * 1024 || *stack > 256 * 1024)
            return "tiles of more than 256 KB";
    }
    bool is_value = kir_ops[in->op].cls != KIR_CLASS_STMT;
    if (is_value && in->op != KIR_CONST && !value_type(in->elem))
        return "a value of a type that exists in memory only";
    if ((in->op == KIR_LOAD || in->op == KIR_STORE || in->op == KIR_PREFETCH) &&
        (in->imm < 0 || in->imm >= (int64_t)k->buffers.n))
        return "a buffer that is not there";
    return NULL;
}

static const char *check_block(const kir_kernel *k, kir_id first, int64_t *stack)
{
    for (kir_id i = first; i; i = kir_at(k, i)->next) {
        const char *why = check_inst(k, i, stack);
        if (!why && kir_at(k, i)->body) why = check_block(k, kir_at(k, i)->body, stack);
        if (why) return why;
    }
    return NULL;
}

bool gn_cpu_supports(const kir_kernel *k, const char **why)
{
    int64_t stack = 0;
    const char *what = check_block(k, k->top, &stack);
    if (!what && k->buffers.n + k->syms.n > 200) what = "more than 200 buffers and symbols";
    if (why) *why = what;
    return !what;
}

static void find_stores(cg *c, kir_id first)
{
    for (kir_id i = first; i; i = kir_at(c->k, i)->next) {
        const kir_inst *in = kir_at(c->k, i);
        if (in->op == KIR_STORE) c->written[in->imm] = true;
        if (in->body) find_stores(c, in->body);
    }
}

static bool any_of(const bool *flag, const kir_inst *in)
{
    int n = kir_ops[in->op].n_in;
    return (n > 0 && flag[in->a]) || (n > 1 && flag[in->b]) || (n > 2 && flag[in->c]);
}

static void analyse_block(cg *c, kir_id first, kir_id loop)
{
    for (kir_id i = first; i; i = kir_at(c->k, i)->next) {
        const kir_inst *in = kir_at(c->k, i);
        bool opens = in->op == KIR_FOR && in->unit == KIR_VECTOR && !loop;
        c->loop_of[i] = loop;
        c->varies[i] = opens || (loop && any_of(c->varies, in));
        if (loop && in->op == KIR_TLOAD) c->varies[i] = true;
        if (loop && in->op == KIR_LOAD) c->varies[i] = c->varies[i] || c->written[in->imm];
        if (loop && kir_ops[in->op].cls == KIR_CLASS_STMT) c->varies[i] = true;
        if (in->body) analyse_block(c, in->body, opens ? i : loop);
    }
}

const char *cg_analyse(cg *c)
{
    const char *why = NULL;
    if (!gn_cpu_supports(c->k, &why)) return why;
    uint32_t n = c->k->insts.n;
    c->varies = GN_NEW_N(c->arena, bool, n);
    c->loop_of = GN_NEW_N(c->arena, kir_id, n);
    c->written = GN_NEW_N(c->arena, bool, c->k->buffers.n + 1);
    find_stores(c, c->k->top);
    analyse_block(c, c->k->top, 0);
    return NULL;
}
