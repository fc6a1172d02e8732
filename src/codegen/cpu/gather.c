/* Lane indices that are neither equal nor consecutive: windows and shuffles where the distances are
 * known, gathers and scatters where they are not; and the bounds checks of sanitized code. */
#include "codegen/cpu/emit_llvm.h"

typedef struct window {
    int64_t low, high;        /* of the running lanes */
    int64_t at[CG_MAX_LANES]; /* distinct elements, in order of first use */
    int which[CG_MAX_LANES];  /* lane -> distinct element, -1 when it does not run */
    int distinct;
} window;

static window look(const cg *c, const cg_val *index)
{
    window w = {.low = INT64_MAX, .high = INT64_MIN};
    for (int l = 0; l < c->lanes; l++) {
        w.which[l] = -1;
        if (!cg_lane_runs(c, l)) continue;
        int64_t o = cg_lane(index, l);
        int d = 0;
        while (d < w.distinct && w.at[d] != o) d++;
        if (d == w.distinct) w.at[w.distinct++] = o;
        w.which[l] = d;
        w.low = o < w.low ? o : w.low;
        w.high = o > w.high ? o : w.high;
    }
    return w;
}

static int pow2_above(int64_t n)
{
    int p = 1;
    while (p < n) p *= 2;
    return p;
}

/* Elements [at, at + n) of a buffer as `lanes` lanes, the rest zero. */
static LLVMValueRef load_prefix(cg *c, const cg_mem *m, LLVMValueRef base, int64_t at, int n,
                                int lanes)
{
    LLVMValueRef p = cg_address(c, m, base, at);
    if (m->tile || n == lanes) return cg_load_raw(c, m, p, lanes);
    cg_watch(c, m, p, n, false);
    int64_t on[CG_MAX_LANES];
    for (int i = 0; i < lanes; i++) on[i] = i < n;
    LLVMTypeRef t = cg_vec(cg_storage(c, m->elem), lanes), over[] = {t, c->ptr};
    LLVMValueRef args[] = {p, cg_i32(c, (int64_t)gn_elem_size(m->elem)),
                           cg_const_lanes(c->i1, on, lanes), LLVMConstNull(t)};
    return cg_mark(c, m, cg_intrinsic(c, "llvm.masked.load", over, 2, args, 4));
}

/* One or two vectors that hold all elements between the lowest and the highest, and a shuffle.
 * Everything between two elements of a buffer is in the buffer. */
static LLVMValueRef through_window(cg *c, const cg_mem *m, const cg_val *index, const window *w)
{
    int width = c->target->lanes, map[CG_MAX_LANES];
    int64_t low = w->low, span;
    if (m->tile) { /* tiles are cut at multiples of the width, like the chunks that wrote them */
        if (width > pow2_above(m->elems)) width = pow2_above(m->elems);
        if (!index->v || index->mult % width == 0) low -= low % width;
    }
    span = w->high - low + 1;
    if (span <= width && !m->tile) width = pow2_above(span);
    if (width < 2) width = 2;
    LLVMValueRef a = load_prefix(c, m, index->v, low, span < width ? (int)span : width, width),
                 b = NULL;
    if (span > width) b = load_prefix(c, m, index->v, low + width, (int)(span - width), width);
    for (int l = 0; l < c->lanes; l++)
        map[l] = w->which[l] < 0 ? -1 : (int)(w->at[w->which[l]] - low);
    return cg_shuffle(c, a, b, map, c->lanes);
}

static LLVMValueRef through_scalars(cg *c, const cg_mem *m, const cg_val *index, const window *w)
{
    int n = pow2_above(w->distinct), map[CG_MAX_LANES];
    LLVMValueRef v = LLVMGetPoison(cg_vec(cg_storage(c, m->elem), n));
    for (int d = 0; d < w->distinct; d++) {
        LLVMValueRef x = cg_load_raw(c, m, cg_address(c, m, index->v, w->at[d]), 1);
        v = LLVMBuildInsertElement(c->b, v, x, cg_i32(c, d), "");
    }
    for (int l = 0; l < c->lanes; l++) map[l] = w->which[l];
    return cg_shuffle(c, v, NULL, map, c->lanes);
}

/* Two stretches that lie apart, as neighbours of two rows: a vector each, and a shuffle; NULL: they
 * are no two such. */
static LLVMValueRef through_two(cg *c, const cg_mem *m, const cg_val *index, const window *w)
{
    int64_t end = w->low, begin = w->high; /* the last of the first stretch, the first of the second
                                            */
    int width = c->target->lanes, map[CG_MAX_LANES];
    for (int d = 0; d < w->distinct; d++)
        if (w->at[d] - w->low < width && w->at[d] > end) end = w->at[d];
    for (int d = 0; d < w->distinct; d++)
        if (w->at[d] > end && w->at[d] < begin) begin = w->at[d];
    int64_t one = end - w->low + 1, other = w->high - begin + 1;
    if (begin <= end || other > width || w->distinct < (one + other) / 2) return NULL;
    int n = pow2_above(one > other ? one : other);
    LLVMValueRef a = load_prefix(c, m, index->v, w->low, (int)one, n);
    LLVMValueRef b = load_prefix(c, m, index->v, begin, (int)other, n);
    for (int l = 0; l < c->lanes; l++) {
        int64_t at = w->which[l] < 0 ? 0 : w->at[w->which[l]];
        map[l] = w->which[l] < 0 ? -1 : (int)(at >= begin ? n + at - begin : at - w->low);
    }
    return cg_shuffle(c, a, b, map, c->lanes);
}

LLVMValueRef cg_gather_const(cg *c, const cg_mem *m, const cg_val *index)
{
    if (c->mask.kind == CG_VECTOR && !c->mask_tail) return cg_gather(c, m, index);
    if (c->mask.kind == CG_VECTOR && !m->tile) return cg_gather(c, m, index);
    window w = look(c, index);
    if (w.distinct == 1) return cg_load_raw(c, m, cg_address(c, m, index->v, w.at[0]), 1);
    int width = c->target->lanes;
    int64_t low = w.low;
    if (m->tile) {
        if (width > pow2_above(m->elems)) width = pow2_above(m->elems);
        if (!index->v || index->mult % width == 0) low -= low % width;
    }
    bool fits = w.high - low < 2 * (int64_t)width && low >= 0;
    if (!m->tile && index->v) fits = w.high - low < 2 * (int64_t)width;
    if (m->tile && index->v && low < 0) fits = false;
    if (fits && (w.distinct > 2 || m->tile || w.high - w.low < 4))
        return through_window(c, m, index, &w);
    LLVMValueRef two = m->tile || w.distinct <= 4 ? NULL : through_two(c, m, index, &w);
    if (two) return two;
    if (w.distinct <= 4 || m->tile || !c->target->masks || gn_elem_size(m->elem) < 4)
        return through_scalars(c, m, index, &w);
    return cg_gather(c, m, index);
}

static LLVMValueRef lane_pointers(cg *c, const cg_mem *m, const cg_val *index)
{
    LLVMValueRef at, p = m->ptr;
    if (index->kind == CG_VECTOR) {
        at = index->v;
    } else {
        p = cg_address(c, m, index->v, 0);
        at = cg_const_lanes(c->i64, cg_offsets(c, index), c->lanes);
    }
    return LLVMBuildGEP2(c->b, cg_storage(c, m->elem), p, &at, 1, "");
}

static LLVMValueRef running(cg *c)
{
    LLVMValueRef mask = cg_mask_vector(c);
    return mask ? mask : cg_const_i(cg_vec(c->i1, c->lanes), 1);
}

LLVMValueRef cg_gather(cg *c, const cg_mem *m, const cg_val *index)
{
    LLVMValueRef p = lane_pointers(c, m, index);
    LLVMTypeRef t = cg_vec(cg_storage(c, m->elem), c->lanes), over[] = {t, LLVMTypeOf(p)};
    LLVMValueRef args[] = {p, cg_i32(c, (int64_t)gn_elem_size(m->elem)), running(c),
                           LLVMConstNull(t)};
    cg_watch_lanes(c, m, p, args[2], false);
    return cg_mark(c, m, cg_intrinsic(c, "llvm.masked.gather", over, 2, args, 4));
}

void cg_scatter(cg *c, const cg_mem *m, const cg_val *index, LLVMValueRef raw)
{
    cg_val flat = *index;
    if (cg_flat(index)) flat = cg_vector(GN_I64, cg_as_vector(c, index));
    LLVMValueRef p = lane_pointers(c, m, &flat);
    LLVMTypeRef over[] = {LLVMTypeOf(raw), LLVMTypeOf(p)};
    LLVMValueRef args[] = {raw, p, cg_i32(c, (int64_t)gn_elem_size(m->elem)), running(c)};
    cg_watch_lanes(c, m, p, args[3], true);
    cg_mark(c, m, cg_intrinsic(c, "llvm.masked.scatter", over, 2, args, 4));
}

/* Bounds --------------------------------------------------------------------------------------- */

static LLVMValueRef buffer_size(cg *c, const kir_buffer *b)
{
    LLVMValueRef n = cg_i64(c, b->size.coef);
    if (b->size.sym >= 0) n = LLVMBuildMul(c->b, n, c->sym[b->size.sym], "");
    return LLVMBuildAdd(c->b, n, cg_i64(c, b->size.plus), "");
}

static LLVMValueRef string(cg *c, const char *s)
{
    return LLVMBuildGlobalStringPtr(c->b, s, "name");
}

static void fault_unless(cg *c, LLVMValueRef bad, const kir_buffer *b, LLVMValueRef index,
                         LLVMValueRef size)
{
    LLVMBasicBlockRef fault = cg_new_block(c, "fault"), fine = cg_new_block(c, "fine");
    LLVMBuildCondBr(c->b, bad, fault, fine);
    LLVMPositionBuilderAtEnd(c->b, fault);
    LLVMTypeRef params[] = {c->ptr, c->ptr, c->i64, c->i64};
    LLVMTypeRef t = LLVMFunctionType(LLVMVoidTypeInContext(c->ctx), params, 4, false);
    LLVMValueRef f = LLVMGetNamedFunction(c->mod, "gn_kernel_fault");
    if (!f) f = LLVMAddFunction(c->mod, "gn_kernel_fault", t);
    if (!c->fault_name) c->fault_name = string(c, c->k->name ? c->k->name : "?");
    LLVMBuildCall2(c->b, t, f, (LLVMValueRef[]){c->fault_name, string(c, b->name), index, size}, 4,
                   "");
    LLVMBuildBr(c->b, fine);
    LLVMPositionBuilderAtEnd(c->b, fine);
}

static void check_scalar(cg *c, const kir_buffer *b, LLVMValueRef size, LLVMValueRef index)
{
    fault_unless(c, LLVMBuildICmp(c->b, LLVMIntUGE, index, size, ""), b, index, size);
}

void cg_check_bounds(cg *c, const cg_mem *m, const cg_val *index)
{
    if (!c->sanitize || m->tile) return;
    const kir_buffer *b = &c->k->buffers.p[m->number];
    LLVMValueRef size = buffer_size(c, b);
    if (cg_flat(index)) {
        check_scalar(c, b, size, cg_scalar(c, index));
        return;
    }
    if (index->kind == CG_INT && c->mask.kind != CG_VECTOR) {
        window w = look(c, index);
        for (int i = 0; i < 2; i++) {
            cg_val end = {.kind = CG_INT,
                          .elem = GN_I64,
                          .v = index->v,
                          .mult = index->mult,
                          .c = i ? w.high : w.low};
            check_scalar(c, b, size, cg_scalar(c, &end));
        }
        return;
    }
    LLVMValueRef at = cg_as_vector(c, index), mask = cg_mask_vector(c);
    LLVMValueRef bad = LLVMBuildICmp(c->b, LLVMIntUGE, at, cg_splat(c, size, c->lanes), "");
    if (mask) bad = LLVMBuildAnd(c->b, bad, mask, "");
    LLVMTypeRef bits = LLVMIntTypeInContext(c->ctx, (unsigned)c->lanes), over[] = {bits};
    LLVMValueRef set = LLVMBuildBitCast(c->b, bad, bits, "");
    LLVMValueRef args[] = {set, LLVMConstInt(c->i1, 0, false)};
    LLVMValueRef lane = cg_intrinsic(c, "llvm.cttz", over, 1, args, 2);
    lane = LLVMBuildURem(c->b, LLVMBuildZExt(c->b, lane, c->i32, ""), cg_i32(c, c->lanes), "");
    LLVMValueRef worst = LLVMBuildExtractElement(c->b, at, lane, "");
    fault_unless(c, LLVMBuildICmp(c->b, LLVMIntNE, set, LLVMConstNull(bits), ""), b, worst, size);
}
