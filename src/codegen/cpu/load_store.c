/* Loads and stores of a lane index: contiguous lanes become one vector access, equal lanes a scalar
 * one; the other shapes are in gather.c.  Buffers are never touched outside the elements that
 * running lanes name.  Tiles are padded, so a tile may be read past its elements and, where nothing
 * lives behind them, written. */
#include "codegen/cpu/emit_llvm.h"

cg_mem cg_buffer(cg *c, int number)
{
    const kir_buffer *b = &c->k->buffers.p[number];
    return (cg_mem){.ptr = c->buffer[number].ptr,
                    .elem = b->elem,
                    .invariant = !c->written[number],
                    .number = number};
}

bool cg_lane_runs(const cg *c, int lane)
{
    return c->mask.kind != CG_INT || cg_lane(&c->mask, lane) != 0;
}

LLVMValueRef cg_mask_vector(cg *c)
{
    return c->mask.kind == CG_NONE ? NULL : cg_as_vector(c, &c->mask);
}

LLVMValueRef cg_address(cg *c, const cg_mem *m, LLVMValueRef base, int64_t offset)
{
    LLVMTypeRef t = cg_storage(c, m->elem);
    LLVMValueRef p = m->ptr, at;
    if (base) p = LLVMBuildGEP2(c->b, t, p, &base, 1, "");
    if (!offset) return p;
    at = cg_i64(c, offset);
    return LLVMBuildGEP2(c->b, t, p, &at, 1, "");
}

/* What is known of the alignment of element base + offset.  Buffers promise no more than their
 * elements' own. */
static unsigned alignment(const cg_mem *m, int64_t mult, int64_t offset)
{
    unsigned size = (unsigned)gn_elem_size(m->elem);
    if (!m->tile) return size;
    unsigned a = 64;
    while (a > size && ((uint64_t)mult * size % a || (uint64_t)offset * size % a)) a /= 2;
    return a;
}

LLVMValueRef cg_mark(cg *c, const cg_mem *m, LLVMValueRef access)
{
    if (m->tile) return access;
    LLVMSetMetadata(access, c->scope_kind, c->buffer[m->number].scope);
    LLVMSetMetadata(access, c->noalias_kind, c->buffer[m->number].others);
    if (m->invariant) LLVMSetMetadata(access, c->invariant_kind, c->empty_node);
    return access;
}

LLVMValueRef cg_load_raw(cg *c, const cg_mem *m, LLVMValueRef ptr, int lanes)
{
    cg_watch(c, m, ptr, lanes, false);
    LLVMValueRef v = LLVMBuildLoad2(c->b, cg_vec(cg_storage(c, m->elem), lanes), ptr, "");
    LLVMSetAlignment(v, (unsigned)gn_elem_size(m->elem));
    return cg_mark(c, m, v);
}

void cg_store_raw(cg *c, const cg_mem *m, LLVMValueRef ptr, LLVMValueRef v)
{
    cg_watch(c, m, ptr, cg_width(v), true);
    LLVMSetAlignment(cg_mark(c, m, LLVMBuildStore(c->b, v, ptr)), (unsigned)gn_elem_size(m->elem));
}

static LLVMValueRef masked_load(cg *c, const cg_mem *m, LLVMValueRef ptr, LLVMValueRef mask)
{
    LLVMTypeRef t = cg_like(cg_storage(c, m->elem), mask), over[] = {t, c->ptr};
    LLVMValueRef args[] = {ptr, cg_i32(c, (int64_t)gn_elem_size(m->elem)), mask, LLVMConstNull(t)};
    cg_watch_lanes(c, m, ptr, mask, false);
    return cg_mark(c, m, cg_intrinsic(c, "llvm.masked.load", over, 2, args, 4));
}

static void masked_store(cg *c, const cg_mem *m, LLVMValueRef ptr, LLVMValueRef mask,
                         LLVMValueRef v)
{
    LLVMTypeRef over[] = {LLVMTypeOf(v), c->ptr};
    LLVMValueRef args[] = {v, ptr, cg_i32(c, (int64_t)gn_elem_size(m->elem)), mask};
    cg_watch_lanes(c, m, ptr, mask, true);
    cg_mark(c, m, cg_intrinsic(c, "llvm.masked.store", over, 2, args, 4));
}

/* Do the running lanes name consecutive elements?  *start: the element of lane 0, whether it runs
 * or not. */
static bool contiguous(const cg *c, const cg_val *index, int64_t *start)
{
    int first = -1;
    if (index->kind != CG_INT || !index->off) return false;
    for (int l = 0; l < c->lanes; l++) {
        if (!cg_lane_runs(c, l)) continue;
        if (first < 0) {
            first = l;
            *start = cg_lane(index, l) - l;
        } else if (cg_lane(index, l) != *start + l) {
            return false;
        }
    }
    return first >= 0;
}

/* May all lanes of a tile be touched although some do not run?  Not below its start. */
static bool tile_open(const cg *c, const cg_mem *m, const cg_val *index, int64_t start)
{
    return m->tile && ((!index->v && start >= 0) || c->mask_tail);
}

static LLVMValueRef load_contiguous(cg *c, const cg_mem *m, const cg_val *index, int64_t start)
{
    LLVMValueRef p = cg_address(c, m, index->v, start), mask = cg_mask_vector(c);
    if (mask && !tile_open(c, m, index, start)) return masked_load(c, m, p, mask);
    LLVMValueRef v = cg_load_raw(c, m, p, c->lanes);
    LLVMSetAlignment(v, alignment(m, index->mult, start));
    return v;
}

LLVMValueRef cg_load_stored(cg *c, const cg_mem *m, const cg_val *index)
{
    int64_t start = 0;
    cg_check_bounds(c, m, index);
    if (cg_flat(index)) return cg_load_raw(c, m, cg_address(c, m, index->v, index->c), 1);
    if (contiguous(c, index, &start)) return load_contiguous(c, m, index, start);
    return index->kind == CG_INT ? cg_gather_const(c, m, index) : cg_gather(c, m, index);
}

cg_val cg_load(cg *c, const cg_mem *m, const cg_val *index)
{
    LLVMValueRef raw = cg_load_stored(c, m, index);
    bool flat = cg_flat(index) || cg_width(raw) != c->lanes;
    return cg_result(c, cg_value_elem(m->elem), flat, cg_widen(c, m->elem, raw));
}

static int last_lane(const cg *c)
{
    int l = c->lanes - 1;
    while (l > 0 && !cg_lane_runs(c, l)) l--;
    return l;
}

static int running_lanes(const cg *c)
{
    int n = 0;
    for (int l = 0; l < c->lanes; l++) n += cg_lane_runs(c, l);
    return n;
}

static void store_contiguous(cg *c, const cg_mem *m, const cg_val *index, int64_t start,
                             LLVMValueRef raw)
{
    LLVMValueRef p = cg_address(c, m, index->v, start), mask = cg_mask_vector(c);
    unsigned align = alignment(m, index->mult, start);
    if (mask && tile_open(c, m, index, start)) {
        bool behind = c->mask_tail && c->mask.kind == CG_INT && !index->v &&
                      start + running_lanes(c) >= m->elems;
        if (!behind) {
            LLVMValueRef old = cg_load_raw(c, m, p, c->lanes);
            LLVMSetAlignment(old, align);
            raw = cg_sel(c, mask, raw, old);
        }
        mask = NULL;
    }
    if (mask) {
        masked_store(c, m, p, mask, raw);
        return;
    }
    cg_watch(c, m, p, c->lanes, true);
    LLVMSetAlignment(cg_mark(c, m, LLVMBuildStore(c->b, raw, p)), align);
}

/* Lanes that are a permutation of consecutive elements: shuffled, then stored as one vector. */
static bool store_permuted(cg *c, const cg_mem *m, const cg_val *index, LLVMValueRef raw)
{
    int64_t low = cg_lane(index, 0);
    int map[CG_MAX_LANES];
    if (c->mask.kind != CG_NONE) return false;
    for (int l = 1; l < c->lanes; l++) low = cg_lane(index, l) < low ? cg_lane(index, l) : low;
    for (int l = 0; l < c->lanes; l++) map[l] = -1;
    for (int l = 0; l < c->lanes; l++) {
        int64_t at = cg_lane(index, l) - low;
        if (at >= c->lanes || map[at] >= 0) return false;
        map[at] = l;
    }
    raw = cg_shuffle(c, raw, NULL, map, c->lanes);
    LLVMValueRef p = cg_address(c, m, index->v, low);
    cg_watch(c, m, p, c->lanes, true);
    LLVMValueRef store = LLVMBuildStore(c->b, raw, p);
    LLVMSetAlignment(cg_mark(c, m, store), alignment(m, index->mult, low));
    return true;
}

void cg_store(cg *c, const cg_mem *m, const cg_val *index, const cg_val *value)
{
    int64_t start = 0;
    cg_check_bounds(c, m, index);
    if (cg_flat(index) && (cg_flat(value) || c->lanes == 1 || c->mask.kind != CG_VECTOR)) {
        LLVMValueRef v = cg_flat(value) ? cg_scalar(c, value)
                                        : cg_extract(c, cg_as_vector(c, value), last_lane(c));
        v = cg_narrow(c, m->elem, v);
        cg_store_raw(c, m, cg_address(c, m, index->v, index->c), v);
        return;
    }
    LLVMValueRef v = cg_as_vector(c, value),
                 raw = m->tile ? cg_narrow_tile(c, m->elem, v) : cg_narrow(c, m->elem, v);
    if (contiguous(c, index, &start)) {
        store_contiguous(c, m, index, start, raw);
        return;
    }
    bool known = index->kind == CG_INT && index->off && c->mask.kind != CG_VECTOR;
    if (known && store_permuted(c, m, index, raw)) return;
    if (known && (m->tile || !c->target->masks || c->lanes <= 4)) {
        for (int l = 0; l < c->lanes; l++) {
            if (!cg_lane_runs(c, l)) continue;
            LLVMValueRef x = cg_extract(c, raw, l);
            cg_store_raw(c, m, cg_address(c, m, index->v, cg_lane(index, l)), x);
        }
        return;
    }
    cg_scatter(c, m, index, raw);
}

/* To the second-level cache: the first has too few lines for what is asked for ahead, and too few
 * buffers for misses. */
void cg_prefetch(cg *c, int buffer, const cg_val *index)
{
    cg_mem m = cg_buffer(c, buffer);
    if (index->kind != CG_INT) return;
    int64_t size = (int64_t)gn_elem_size(m.elem), low = cg_lane(index, 0), high = low;
    for (int l = 1; l < c->lanes; l++) {
        low = cg_lane(index, l) < low ? cg_lane(index, l) : low;
        high = cg_lane(index, l) > high ? cg_lane(index, l) : high;
    }
    int lines = 0;
    for (int64_t at = low; at <= high && lines < 4; at += 64 / size, lines++) {
        LLVMValueRef args[] = {cg_address(c, &m, index->v, at), cg_i32(c, 0), cg_i32(c, 2),
                               cg_i32(c, 1)};
        cg_intrinsic(c, "llvm.prefetch", &c->ptr, 1, args, 4);
    }
}
