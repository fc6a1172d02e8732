/* A kernel as two functions: the body, whose arguments are buffers (noalias: two of them never overlap) and symbols, and
 * the wrapper that everybody calls. */
#include "codegen/cpu/emit.h"

#include <stdio.h>
#include <string.h>

static void attribute(cg *c, LLVMValueRef f, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(c->ctx, kind, 0));
}

static void text_attribute(cg *c, LLVMValueRef f, const char *key, const char *value)
{
    LLVMAttributeRef a = LLVMCreateStringAttribute(c->ctx, key, (unsigned)strlen(key), value, (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, a);
}

static void attributes(cg *c, LLVMValueRef f)
{
    attribute(c, f, "nounwind");
    text_attribute(c, f, "target-cpu", c->target->cpu);
    if (c->target->features[0]) text_attribute(c, f, "target-features", c->target->features);
    if (c->target->masks) text_attribute(c, f, "prefer-vector-width", "512");
}

static void init_types(cg *c)
{
    c->i1 = LLVMInt1TypeInContext(c->ctx);
    c->i8 = LLVMInt8TypeInContext(c->ctx);
    c->i16 = LLVMInt16TypeInContext(c->ctx);
    c->i32 = LLVMInt32TypeInContext(c->ctx);
    c->i64 = LLVMInt64TypeInContext(c->ctx);
    c->f32 = LLVMFloatTypeInContext(c->ctx);
    c->f64 = LLVMDoubleTypeInContext(c->ctx);
    c->ptr = LLVMPointerTypeInContext(c->ctx, 0);
    c->invariant_kind = LLVMGetMDKindIDInContext(c->ctx, "invariant.load", 14);
    c->empty_node = LLVMMetadataAsValue(c->ctx, LLVMMDNodeInContext2(c->ctx, NULL, 0));
}

/* void body(ptr noalias..., i64 sym..., i64 lo, i64 hi) */
static LLVMTypeRef declare_body(cg *c, const char *symbol)
{
    char name[80];
    unsigned n_buf = c->k->buffers.n, n_sym = c->k->syms.n, n = n_buf + n_sym + 2;
    LLVMTypeRef *t = GN_NEW_N(c->arena, LLVMTypeRef, n);
    for (unsigned i = 0; i < n; i++) t[i] = i < n_buf ? c->ptr : c->i64;
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(c->ctx), t, n, false);
    snprintf(name, sizeof name, "%s.body", symbol);
    c->fn = LLVMAddFunction(c->mod, name, type);
    LLVMSetLinkage(c->fn, LLVMInternalLinkage);
    attributes(c, c->fn);
    attribute(c, c->fn, "noinline");
    static const char *const promises[] = {"noalias", "nocapture", "nonnull"};
    for (unsigned i = 0; i < n_buf; i++)
        for (int p = 0; p < 3; p++) {
            unsigned kind = LLVMGetEnumAttributeKindForName(promises[p], strlen(promises[p]));
            LLVMAddAttributeAtIndex(c->fn, i + 1, LLVMCreateEnumAttribute(c->ctx, kind, 0));
        }
    return type;
}

/* void symbol(ptr buf, ptr sym, i64 lo, i64 hi): gn_kernel_fn */
static void wrapper(cg *c, const char *symbol, LLVMTypeRef body)
{
    LLVMTypeRef params[] = {c->ptr, c->ptr, c->i64, c->i64};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(c->ctx), params, 4, false);
    LLVMValueRef f = LLVMAddFunction(c->mod, symbol, type);
    attributes(c, f);
    LLVMPositionBuilderAtEnd(c->b, LLVMAppendBasicBlockInContext(c->ctx, f, "entry"));
    unsigned n_buf = c->k->buffers.n, n_sym = c->k->syms.n, n = n_buf + n_sym;
    LLVMValueRef *args = GN_NEW_N(c->arena, LLVMValueRef, n + 2);
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef at = cg_i64(c, i < n_buf ? i : i - n_buf);
        LLVMTypeRef t = i < n_buf ? c->ptr : c->i64;
        LLVMValueRef p = LLVMBuildGEP2(c->b, t, LLVMGetParam(f, i < n_buf ? 0 : 1), &at, 1, "");
        args[i] = LLVMBuildLoad2(c->b, t, p, "");
    }
    args[n] = LLVMGetParam(f, 2);
    args[n + 1] = LLVMGetParam(f, 3);
    LLVMBuildCall2(c->b, body, c->fn, args, n + 2, "");
    LLVMBuildRetVoid(c->b);
}

const char *cg_kernel(gn_arena *a, LLVMModuleRef mod, const cg_target *t, const kir_kernel *k, const char *symbol,
                      bool sanitize)
{
    cg *c = GN_NEW(a, cg);
    c->arena = a;
    c->k = k;
    c->target = t;
    c->sanitize = sanitize;
    c->mod = mod;
    c->ctx = LLVMGetModuleContext(mod);
    c->lanes = 1;
    const char *why = cg_analyse(c);
    if (why) return why;
    init_types(c);
    c->val = GN_NEW_N(a, cg_val, k->insts.n);
    c->tile = GN_NEW_N(a, cg_tile, k->insts.n);
    LLVMTypeRef type = declare_body(c, symbol);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(c->ctx, c->fn, "entry"), first = cg_new_block(c, "body");
    c->b = LLVMCreateBuilderInContext(c->ctx);
    c->entry = LLVMCreateBuilderInContext(c->ctx);
    LLVMPositionBuilderAtEnd(c->entry, entry);
    LLVMPositionBuilderAtEnd(c->b, first);
    cg_block(c, k->top);
    LLVMBuildRetVoid(c->b);
    LLVMBuildBr(c->entry, first);
    if (!c->fail) wrapper(c, symbol, type);
    LLVMDisposeBuilder(c->b);
    LLVMDisposeBuilder(c->entry);
    return c->fail;
}
