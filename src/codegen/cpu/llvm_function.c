/* A kernel as one function of type gn_kernel_fn. */
#include "codegen/cpu/emit_llvm.h"

#include <stdio.h>
#include <string.h>

static void attribute(cg *c, LLVMValueRef f, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(c->ctx, kind, 0));
}

static void text_attribute(cg *c, LLVMValueRef f, const char *key, const char *value)
{
    LLVMAttributeRef a = LLVMCreateStringAttribute(c->ctx, key, (unsigned)strlen(key), value,
                                                   (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, a);
}

static void attributes(cg *c, LLVMValueRef f)
{
    attribute(c, f, "nounwind");
    /* cpu and features are the target machine's */
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

static LLVMMetadataRef text_node(cg *c, const char *s)
{
    return LLVMMDStringInContext2(c->ctx, s, strlen(s));
}

static LLVMMetadataRef node(cg *c, LLVMMetadataRef *of, unsigned n)
{
    return LLVMMDNodeInContext2(c->ctx, of, n);
}

/* "Two buffers never overlap" in LLVM's words: each has a scope, and what is in one scope is in no
 * other. */
static void alias_scopes(cg *c)
{
    unsigned n = c->k->buffers.n;
    LLVMMetadataRef domain = text_node(c, "buffers"),
                    *scope = GN_NEW_N(c->arena, LLVMMetadataRef, n + 1),
                    *others = GN_NEW_N(c->arena, LLVMMetadataRef, n + 1);
    c->scope_kind = LLVMGetMDKindIDInContext(c->ctx, "alias.scope", 11);
    c->noalias_kind = LLVMGetMDKindIDInContext(c->ctx, "noalias", 7);
    domain = node(c, &domain, 1);
    for (unsigned i = 0; i < n; i++) {
        char name[24];
        snprintf(name, sizeof name, "buffer %u", i);
        LLVMMetadataRef of[] = {text_node(c, name), domain};
        scope[i] = node(c, of, 2);
    }
    for (unsigned i = 0; i < n; i++) {
        unsigned m = 0;
        for (unsigned j = 0; j < n; j++)
            if (j != i) others[m++] = scope[j];
        c->buffer[i].scope = LLVMMetadataAsValue(c->ctx, node(c, &scope[i], 1));
        c->buffer[i].others = LLVMMetadataAsValue(c->ctx, node(c, others, m));
    }
}

static LLVMValueRef load_argument(cg *c, unsigned param, unsigned i, LLVMTypeRef t)
{
    LLVMValueRef at = cg_i64(c, i),
                 p = LLVMBuildGEP2(c->entry, t, LLVMGetParam(c->fn, param), &at, 1, "");
    LLVMValueRef v = LLVMBuildLoad2(c->entry, t, p, "");
    LLVMSetMetadata(v, c->invariant_kind, c->empty_node);
    return v;
}

/* void symbol(ptr buf, ptr sym, i64 lo, i64 hi): gn_kernel_fn.  Pointers and symbols are loaded on
 * entry. */
static void begin_function(cg *c, const char *symbol)
{
    LLVMTypeRef params[] = {c->ptr, c->ptr, c->i64, c->i64};
    c->fn = LLVMAddFunction(c->mod, symbol,
                            LLVMFunctionType(LLVMVoidTypeInContext(c->ctx), params, 4, false));
    attributes(c, c->fn);
    LLVMPositionBuilderAtEnd(c->entry, LLVMAppendBasicBlockInContext(c->ctx, c->fn, "entry"));
    LLVMPositionBuilderAtEnd(c->b, cg_new_block(c, "body"));
    c->buffer = GN_NEW_N(c->arena, cg_pointer, c->k->buffers.n + 1);
    c->sym = GN_NEW_N(c->arena, LLVMValueRef, c->k->syms.n + 1);
    for (unsigned i = 0; i < c->k->buffers.n; i++)
        c->buffer[i].ptr = load_argument(c, 0, i, c->ptr);
    for (unsigned i = 0; i < c->k->syms.n; i++) c->sym[i] = load_argument(c, 1, i, c->i64);
    alias_scopes(c);
    cg_watch_arguments(c);
}

/* The builders are no arena's: where memory runs out they end before its owner hears of it. */
static void write_function(cg *c, const char *symbol)
{
    jmp_buf oom, *owner = c->arena->oom;
    c->b = LLVMCreateBuilderInContext(c->ctx);
    c->entry = LLVMCreateBuilderInContext(c->ctx);
    if (owner) c->arena->oom = &oom;
    if (setjmp(oom)) {
        LLVMDisposeBuilder(c->b);
        LLVMDisposeBuilder(c->entry);
        c->arena->oom = owner;
        longjmp(*owner, 1);
    }
    begin_function(c, symbol);
    if (c->place) cg_begin_lines(c);
    LLVMBasicBlockRef first = LLVMGetInsertBlock(c->b);
    cg_block(c, c->k->top);
    LLVMBuildRetVoid(c->b);
    LLVMBuildBr(c->entry, first);
    LLVMDisposeBuilder(c->b);
    LLVMDisposeBuilder(c->entry);
    c->arena->oom = owner;
}

const char *cg_kernel(gn_arena *a, LLVMModuleRef mod, const cg_target *t, const kir_kernel *k,
                      const char *symbol, const gn_codegen_options *opt)
{
    cg *c = GN_NEW(a, cg);
    c->arena = a;
    c->k = k;
    c->target = t;
    c->sanitize = opt->sanitize;
    c->watch = opt->watch;
    if (opt->lines) c->place = kir_places(a, k);
    c->off = opt->off & GN_CODE_DECISIONS;
    c->mod = mod;
    c->ctx = LLVMGetModuleContext(mod);
    c->lanes = 1;
    const char *why = cg_analyse(c);
    if (why) return why;
    init_types(c);
    c->val = GN_NEW_N(a, cg_val, k->insts.n);
    c->word = GN_NEW_N(a, LLVMValueRef, k->insts.n);
    c->tile = GN_NEW_N(a, cg_tile, k->insts.n);
    write_function(c, symbol);
    return c->fail;
}
