/* VECTOR loops: chunks of the machine's lanes.  Constant bounds are written out chunk after chunk
 * while that is short; the rest below a chunk is one chunk of the next power of two under a
 * constant mask, or without masks in the instruction set, chunks of falling powers of two.  Other
 * bounds are a loop over whole chunks, then one masked chunk, or a loop over masked chunks. */
#include "codegen/cpu/emit_llvm.h"

enum { MAX_CHUNKS = 32, LONG_LOOP = 16, TWICE_LIMIT = 64 };

typedef struct vloop {
    kir_id id;
    const kir_inst *in;
    cg_val lo;
    int width;
    int emitted;     /* chunks so far whose code dominates what follows */
    kir_id *scratch; /* tiles from outside of which every iteration has a copy (race private) */
    int n_scratch;
    cg_wide *wide;
} vloop;

static bool uses_f64(const cg *c, kir_id first)
{
    for (kir_id i = first; i; i = kir_at(c->k, i)->next) {
        const kir_inst *in = kir_at(c->k, i);
        if (in->elem == GN_F64 && in->op != KIR_FOR && in->op != KIR_IF) return true;
        if (in->body && uses_f64(c, in->body)) return true;
    }
    return false;
}

static bool writes_tile(kir_op op)
{
    return op == KIR_TSTORE || op == KIR_TACC || op == KIR_TFMA || op == KIR_TDOT;
}

static void find_scratch(const cg *c, vloop *v, kir_id first)
{
    for (kir_id i = first; i; i = kir_at(c->k, i)->next) {
        const kir_inst *in = kir_at(c->k, i);
        if (in->body) find_scratch(c, v, in->body);
        if (!writes_tile((kir_op)in->op) || c->loop_of[in->ref]) continue;
        int n = 0;
        while (n < v->n_scratch && v->scratch[n] != in->ref) n++;
        if (n == v->n_scratch) v->scratch[v->n_scratch++] = in->ref;
    }
}

/* Gives every lane a copy of the tile, with what it held before the loop. */
static void copy_tile(cg *c, kir_id tile, cg_tile own)
{
    enum { COPY_LIMIT = 256 };
    if (own.elems > COPY_LIMIT) {
        cg_fail(c, "private tile of more than %d elements in a vector loop", COPY_LIMIT);
        return;
    }
    c->tile[tile] = (cg_tile){0};
    cg_tile_declare(c, tile);
    cg_mem from = {.ptr = own.ptr,
                   .elem = (gn_elem)kir_at(c->k, tile)->elem,
                   .tile = true,
                   .elems = own.elems};
    cg_mem to = from;
    to.ptr = c->tile[tile].ptr;
    for (int64_t i = 0; i < own.elems; i++) {
        LLVMValueRef x = cg_load_raw(c, &from, cg_address(c, &from, NULL, i), 1);
        x = cg_splat(c, x, c->lanes);
        cg_store_raw(c, &to, cg_address(c, &to, NULL, i * c->lanes), x);
    }
}

/* One chunk: iterations first, first + step, ... of `lanes` lanes, of which `run` run. */
static void chunk(cg *c, vloop *v, const cg_val *first, int lanes, int run)
{
    int64_t off[CG_MAX_LANES], on[CG_MAX_LANES];
    for (int l = 0; l < lanes; l++) {
        off[l] = l * v->in->imm;
        on[l] = l < run;
    }
    c->lanes = lanes;
    cg_val steps = cg_lanes_const(c, GN_I64, off);
    c->val[v->id] = cg_iadd(c, first, &steps);
    if (run < lanes) {
        c->mask = cg_lanes_const(c, GN_BOOL, on);
        c->mask_tail = true;
    }
    cg_tile *own = GN_NEW_N(c->arena, cg_tile, v->n_scratch + 1);
    for (int i = 0; i < v->n_scratch && lanes > 1; i++) {
        own[i] = c->tile[v->scratch[i]];
        copy_tile(c, v->scratch[i], own[i]);
    }
    if (v->wide) cg_wide_chunk(v->wide, v->emitted > 0);
    for (kir_id i = v->in->body; i && !c->fail; i = kir_at(c->k, i)->next) {
        bool same = v->emitted && !c->varies[i] && c->val[i].kind != CG_NONE;
        if (!same && !(v->wide && cg_wide_inst(c, v->wide, i))) cg_inst(c, i);
    }
    for (int i = 0; i < v->n_scratch && lanes > 1; i++) c->tile[v->scratch[i]] = own[i];
    c->lanes = 1;
    c->mask = (cg_val){0};
    c->mask_tail = false;
}

static cg_val iteration(cg *c, const vloop *v, int64_t n)
{
    cg_val at = cg_int(n * v->in->imm);
    return cg_iadd(c, &v->lo, &at);
}

/* Iterations [from, from + n) with n below the width. */
static void rest(cg *c, vloop *v, int64_t from, int n)
{
    while (n > 0) {
        int lanes = 1;
        while (lanes < n) lanes *= 2;
        if (lanes > n && !c->target->masks) lanes /= 2;
        int run = n < lanes ? n : lanes;
        cg_val first = iteration(c, v, from);
        c->reduce.first_lane = (int)(from % v->width);
        chunk(c, v, &first, lanes, run);
        v->emitted++;
        from += run;
        n -= run;
    }
}

/* A loop over whole chunks from iteration `from` up to `to`, a multiple of the chunks' width;
 * returns where it ended. */
static LLVMValueRef chunks_at_once(cg *c, vloop *v, LLVMValueRef from, LLVMValueRef to, int copies)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(c->b), body = cg_new_block(c, "chunk"),
                      after = cg_new_block(c, "chunks");
    LLVMBuildCondBr(c->b, LLVMBuildICmp(c->b, LLVMIntSLT, from, to, ""), body, after);
    LLVMPositionBuilderAtEnd(c->b, body);
    LLVMValueRef n = LLVMBuildPhi(c->b, c->i64, "");
    for (int i = 0; i < copies && !c->fail; i++) {
        cg_val at = cg_int_value(n, v->width), ahead = cg_int(i * v->width),
               step = cg_int(v->in->imm);
        at = cg_iadd(c, &at, &ahead);
        at = cg_imul(c, &at, &step);
        at = cg_iadd(c, &v->lo, &at);
        chunk(c, v, &at, v->width, v->width);
    }
    LLVMValueRef next = LLVMBuildNSWAdd(c->b, n, cg_i64(c, copies * v->width), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(c->b);
    LLVMBuildCondBr(c->b, LLVMBuildICmp(c->b, LLVMIntSLT, next, to, ""), body, after);
    LLVMAddIncoming(n, (LLVMValueRef[]){from, next}, (LLVMBasicBlockRef[]){before, latch}, 2);
    LLVMPositionBuilderAtEnd(c->b, after);
    LLVMValueRef end = LLVMBuildPhi(c->b, c->i64, "");
    LLVMAddIncoming(end, (LLVMValueRef[]){from, next}, (LLVMBasicBlockRef[]){before, latch}, 2);
    return end;
}

static void chunk_loop(cg *c, vloop *v, LLVMValueRef count)
{
    int copies = cg_copies(c, v->in->body);
    LLVMValueRef from = cg_i64(c, 0);
    if (copies > 1) {
        LLVMValueRef to = LLVMBuildNSWSub(c->b, count, cg_i64(c, (copies - 1) * v->width), "");
        from = chunks_at_once(c, v, from, to, copies);
    }
    chunks_at_once(c, v, from, count, 1);
}

static void constant_trip(cg *c, vloop *v, int64_t n)
{
    int64_t whole = n / v->width;
    if (whole > MAX_CHUNKS) {
        chunk_loop(c, v, cg_i64(c, whole * v->width));
    } else {
        for (int64_t i = 0; i < whole && !c->fail; i++) {
            cg_val first = iteration(c, v, i * v->width);
            chunk(c, v, &first, v->width, v->width);
            v->emitted++;
        }
    }
    rest(c, v, whole * v->width, (int)(n - whole * v->width));
}

/* The chunk from iteration `done` on, of which `left` iterations run. */
static void masked_chunk(cg *c, vloop *v, LLVMValueRef done, LLVMValueRef left)
{
    int64_t lane[CG_MAX_LANES];
    for (int l = 0; l < v->width; l++) lane[l] = l;
    if (v->width > 1) {
        LLVMValueRef most = cg_binary(c, "llvm.smin", left, cg_i64(c, v->width));
        LLVMValueRef n = cg_splat(c, LLVMBuildTrunc(c->b, most, c->i32, ""), v->width);
        LLVMValueRef lanes = cg_const_lanes(c->i32, lane, v->width);
        c->mask = cg_vector(GN_BOOL, LLVMBuildICmp(c->b, LLVMIntSGT, n, lanes, ""));
        c->mask_tail = true;
    }
    cg_val at = cg_int_value(done, v->width), step = cg_int(v->in->imm);
    at = cg_imul(c, &at, &step);
    at = cg_iadd(c, &v->lo, &at);
    chunk(c, v, &at, v->width, v->width);
}

/* Whole chunks, then the partial one. */
static void chunks_and_tail(cg *c, vloop *v, LLVMValueRef n)
{
    LLVMValueRef whole = LLVMBuildAnd(c->b, n, cg_i64(c, -(int64_t)v->width), "");
    chunk_loop(c, v, whole);
    if (v->width == 1) return;
    LLVMValueRef left = LLVMBuildSub(c->b, n, whole, "");
    LLVMBasicBlockRef tail = cg_new_block(c, "tail"), end = cg_new_block(c, "end");
    LLVMBuildCondBr(c->b, LLVMBuildICmp(c->b, LLVMIntSGT, left, cg_i64(c, 0), ""), tail, end);
    LLVMPositionBuilderAtEnd(c->b, tail);
    masked_chunk(c, v, whole, left);
    cg_goto(c, end);
}

/* Every chunk under a mask: the body is there once. */
static void masked_loop(cg *c, vloop *v, LLVMValueRef n)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(c->b), body = cg_new_block(c, "chunk"),
                      after = cg_new_block(c, "end");
    LLVMBuildCondBr(c->b, LLVMBuildICmp(c->b, LLVMIntSGT, n, cg_i64(c, 0), ""), body, after);
    LLVMPositionBuilderAtEnd(c->b, body);
    LLVMValueRef done = LLVMBuildPhi(c->b, c->i64, "");
    masked_chunk(c, v, done, LLVMBuildNSWSub(c->b, n, done, ""));
    LLVMValueRef next = LLVMBuildNSWAdd(c->b, done, cg_i64(c, v->width), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(c->b);
    LLVMBuildCondBr(c->b, LLVMBuildICmp(c->b, LLVMIntSLT, next, n, ""), body, after);
    LLVMAddIncoming(done, (LLVMValueRef[]){cg_i64(c, 0), next},
                    (LLVMBasicBlockRef[]){before, latch}, 2);
    LLVMPositionBuilderAtEnd(c->b, after);
}

/* A chunk of many iterations of a loop around it: all but the last of its vectors are whole. */
static bool is_long(const cg *c, const vloop *v)
{
    const kir_inst *from = kir_at(c->k, v->in->a);
    return from->op == KIR_FOR && from->imm >= LONG_LOOP * (int64_t)v->width * v->in->imm;
}

/* Masks cost little, so a long body is not written twice, which would take twice as long to
 * compile: unless the loop is long as well, and the body not all too long. */
static bool once(const cg *c, const vloop *v)
{
    if (!c->target->masks || cg_copies(c, v->in->body) > 1) return false;
    return !gn_is_on(c->off, GN_DO_WHOLE_CHUNKS) || !is_long(c, v) ||
           cg_weight(c, v->in->body) > TWICE_LIMIT;
}

static void runtime_trip(cg *c, vloop *v, const cg_val *hi)
{
    cg_val length = cg_isub(c, hi, &v->lo), up = cg_int(v->in->imm - 1);
    length = cg_iadd(c, &length, &up);
    LLVMValueRef n = cg_binary(c, "llvm.smax", cg_scalar(c, &length), cg_i64(c, 0));
    if (v->in->imm > 1) n = LLVMBuildUDiv(c->b, n, cg_i64(c, v->in->imm), "");
    if (c->target->masks && cg_most_iterations(c, v->in) <= v->width)
        masked_chunk(c, v, cg_i64(c, 0), n); /* nothing is stored where no lane runs */
    else if (once(c, v))
        masked_loop(c, v, n);
    else
        chunks_and_tail(c, v, n);
}

void cg_vector_loop(cg *c, kir_id id)
{
    const kir_inst *in = kir_at(c->k, id);
    vloop v = {.id = id,
               .in = in,
               .lo = c->val[in->a],
               .width = c->target->lanes,
               .wide = cg_wide_new(c, in->body)};
    cg_val hi = c->val[in->b];
    if (v.width > 2 && uses_f64(c, in->body)) v.width /= 2;
    cg_val length = cg_isub(c, &hi, &v.lo);
    bool known = cg_const(&length);
    int64_t n = known ? (length.c + in->imm - 1) / in->imm : 0;
    if (known && length.c <= 0) return;
    if (in->race == KIR_PRIVATE) {
        v.scratch = GN_NEW_N(c->arena, kir_id, c->k->insts.n);
        find_scratch(c, &v, in->body);
    }
    bool out = known && n / v.width <= MAX_CHUNKS;
    int lanes = 1;
    while (lanes < v.width && (!known || lanes < n)) lanes *= 2;
    cg_defer_begin(c, id, out, lanes);
    if (known)
        constant_trip(c, &v, n);
    else
        runtime_trip(c, &v, &hi);
    if (c->fail) return;
    cg_defer_end(c);
}
