/* Code that tells ThreadSanitizer which elements of buffers it is about to touch, where it is asked
 * to: what LLVM's own pass does, which leaves vectors of more than 16 bytes, masked accesses and
 * gathers out.  It is said where an access is emitted, of all lanes that run, so what later passes
 * merge or take out of a loop has been told of. */
#include "codegen/cpu/emit_llvm.h"

static void tell(cg *c, const char *name, LLVMValueRef *args, unsigned n)
{
    LLVMTypeRef params[4];
    for (unsigned i = 0; i < n; i++) params[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef t = LLVMFunctionType(LLVMVoidTypeInContext(c->ctx), params, n, false);
    LLVMValueRef f = LLVMGetNamedFunction(c->mod, name);
    if (!f) f = LLVMAddFunction(c->mod, name, t);
    LLVMBuildCall2(c->b, t, f, args, n, "");
}

static void tell_bytes(cg *c, LLVMValueRef ptr, int64_t bytes, bool write)
{
    LLVMValueRef args[] = {ptr, cg_i64(c, bytes), cg_i64(c, write)};
    tell(c, "gn_kernel_touch", args, 3);
}

void cg_watch(cg *c, const cg_mem *m, LLVMValueRef ptr, int lanes, bool write)
{
    if (!c->watch || m->tile) return;
    tell_bytes(c, ptr, lanes * (int64_t)gn_elem_size(m->elem), write);
}

void cg_watch_lanes(cg *c, const cg_mem *m, LLVMValueRef ptr, LLVMValueRef mask, bool write)
{
    if (!c->watch || m->tile) return;
    int lanes = cg_width(mask);
    if (lanes > 1 && cg_width(ptr) == 1) { /* consecutive elements */
        int64_t at[CG_MAX_LANES];
        for (int l = 0; l < lanes; l++) at[l] = l;
        LLVMValueRef each = cg_const_lanes(c->i64, at, lanes);
        ptr = LLVMBuildGEP2(c->b, cg_storage(c, m->elem), ptr, &each, 1, "");
    }
    if (!c->watch_list) c->watch_list = cg_alloca(c, cg_vec(c->ptr, CG_MAX_LANES), 64);
    LLVMSetAlignment(LLVMBuildStore(c->b, ptr, c->watch_list), 8);
    LLVMValueRef bits = LLVMBuildBitCast(c->b, mask, LLVMIntTypeInContext(c->ctx, (unsigned)lanes),
                                         "");
    LLVMValueRef args[] = {c->watch_list, cg_i64(c, (int64_t)gn_elem_size(m->elem)),
                           LLVMBuildZExt(c->b, bits, c->i64, ""), cg_i64(c, write)};
    tell(c, "gn_kernel_touch_lanes", args, 4);
}

void cg_watch_arguments(cg *c)
{
    if (!c->watch) return;
    if (c->k->buffers.n)
        tell_bytes(c, LLVMGetParam(c->fn, 0), (int64_t)(c->k->buffers.n * sizeof(void *)), false);
    if (c->k->syms.n)
        tell_bytes(c, LLVMGetParam(c->fn, 1), (int64_t)(c->k->syms.n * sizeof(int64_t)), false);
}
