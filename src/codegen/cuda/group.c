/* plan: how many lanes run an iteration, and where its tiles live (emit.h).
 *
 * Widths are tried from the one that fits the kernel's vector loops best to one lane, which can run
 * anything: its tiles are arrays of its own, its loops serial.  A width is refused where lanes
 * would have to meet in the middle of a loop, or where tiles do not fit in shared memory. */
#include "codegen/cuda/emit_cuda.h"

#include <string.h>

int64_t cu_trips(const kir_kernel *k, const kir_inst *loop)
{
    const kir_inst *lo = kir_at(k, loop->a), *hi = kir_at(k, loop->b);
    if (lo->op != KIR_CONST || hi->op != KIR_CONST) return -1;
    if (lo->imm >= hi->imm) return 0;
    uint64_t n = ((uint64_t)hi->imm - (uint64_t)lo->imm - 1) / (uint64_t)loop->imm + 1;
    return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

bool cu_is_spread(const cu *c, kir_id loop)
{
    const kir_inst *in = kir_at(c->k, loop);
    if (in->op != KIR_FOR || c->width == 1) return false;
    if (c->block && in->unit == KIR_WARP) return true;
    return in->unit == (c->block ? KIR_LANE : KIR_VECTOR) && cu_trips(c->k, in) != 1;
}

int cu_vec(const cu *c, kir_id loop)
{
    int64_t trips = cu_trips(c->k, kir_at(c->k, loop));
    return trips >= 0 && trips <= c->width ? 1 : c->vec;
}

static bool is_tile_access(const kir_inst *in)
{
    return in->op == KIR_TLOAD || in->op == KIR_TSTORE || in->op == KIR_TACC ||
           in->op == KIR_TFMA || in->op == KIR_MMA;
}

static bool is_operand(const kir_inst *in, kir_id tile)
{
    return in->op == KIR_MMA && (in->left == tile || in->right == tile);
}

static bool any_varies(const cu *c, const kir_inst *in)
{
    int n = kir_ops[in->op].n_in;
    return (n > 0 && c->varies[in->a]) || (n > 1 && c->varies[in->b]) ||
           (n > 2 && c->varies[in->c]);
}

/* What varies, and what stands in which spread loop. */
static void analyse(cu *c, kir_id first, kir_id loop)
{
    for (kir_id i = first; i; i = kir_at(c->k, i)->next) {
        const kir_inst *in = kir_at(c->k, i);
        bool opens = !loop && cu_is_spread(c, i);
        c->loop_of[i] = loop;
        c->varies[i] = opens || (loop && any_varies(c, in));
        if (loop && in->op == KIR_FOR) c->varies[i] = false; /* bounds are the same for all lanes */
        if (loop && (in->op == KIR_TLOAD || in->op == KIR_LOAD || in->op == KIR_TILE))
            c->varies[i] = true;
        if (loop && (in->body || in->op == KIR_TILE)) c->simple[loop] = false;
        /* copies of a private loop's instructions would share the lane's scratch */
        if (opens)
            c->simple[i] = in->imm == 1 && cu_trips(c->k, in) >= 0 && in->race != KIR_PRIVATE;
        if (in->body) analyse(c, in->body, opens ? i : loop);
    }
}

bool cu_affine(const cu *c, kir_id index, int64_t *coef, kir_sum *rest)
{
    const kir_sum *s = &c->facts.sum.p[index];
    *coef = 0;
    *rest = (kir_sum){.c = s->c};
    for (int i = 0; i < s->n; i++) {
        kir_id v = s->t[i].v;
        if (cu_is_spread(c, v) && kir_at(c->k, v)->op == KIR_FOR && c->varies[v])
            *coef = s->t[i].coef;
        else if (c->varies[v])
            return false;
        else
            rest->t[rest->n++] = s->t[i];
    }
    return true;
}

static bool divides(const kir_sum *s, int64_t by)
{
    if (s->c % by) return false;
    for (int i = 0; i < s->n; i++)
        if (s->t[i].coef % by) return false;
    return true;
}

/* Is the value a constant once the compiler has unrolled? */
static bool is_unrolled(const cu *c, const kir_sum *s)
{
    for (int i = 0; i < s->n; i++) {
        const kir_inst *in = kir_at(c->k, s->t[i].v);
        if (in->op != KIR_FOR || (in->unit != KIR_UNROLL && in->unit != KIR_VECTOR) ||
            cu_trips(c->k, in) < 0)
            return false;
    }
    return true;
}

bool cu_is_deferred(const cu *c, kir_id inst)
{
    const kir_inst *in = kir_at(c->k, inst);
    return (in->op == KIR_TACC || in->op == KIR_TFMA) && c->loop_of[inst] && !c->loop_of[in->ref] &&
           !c->varies[in->a] && kir_at(c->k, c->loop_of[inst])->race == KIR_REDUCE;
}

/* Side by side in a chunk, so that a butterfly over them is one over the lanes that hold them. */
int64_t cu_segment(const cu *c, kir_id inst)
{
    const kir_inst *in = kir_at(c->k, inst);
    kir_id loop = c->loop_of[inst];
    if ((in->op != KIR_TACC && in->op != KIR_TFMA) || !loop || c->block || c->loop_of[in->ref])
        return 0;
    const kir_inst *l = kir_at(c->k, loop), *lo = kir_at(c->k, l->a), *at = kir_at(c->k, in->a);
    if (l->race != KIR_REDUCE || !c->simple[loop] || lo->op != KIR_CONST || lo->imm != 0) return 0;
    if (at->op != KIR_IDIV || at->a != loop || kir_at(c->k, at->b)->op != KIR_CONST) return 0;
    int64_t vec = cu_vec(c, loop), n = kir_at(c->k, at->b)->imm, lanes = n / vec;
    bool fits = n % vec == 0 && lanes <= CU_WARP && (lanes & (lanes - 1)) == 0;
    return fits && c->width * vec % n == 0 && cu_trips(c->k, l) % n == 0 ? n : 0;
}

bool cu_is_shared(const cu *c, kir_id tile) { return c->tile[tile].place == CU_SHARED_TILE; }

/* Tiles ---------------------------------------------------------------------------------------- */

/* Are the fragments that warps add to those that their lanes hold? */
static bool fragments_are_held(const cu *c, kir_id i, const cu_tile *t)
{
    const kir_inst *in = kir_at(c->k, i), *loop = kir_at(c->k, c->loop_of[i]);
    int64_t coef, held = KIR_WARP_LANES * t->stride;
    kir_sum rest;
    if (kir_mma_of(in->imm).lane != t->stride || !cu_affine(c, in->a, &coef, &rest) ||
        !is_unrolled(c, &rest))
        return false;
    kir_range r = kir_sum_range(&c->facts, &rest);
    bool lone = cu_trips(c->k, loop) == 1;
    return (coef == held || (lone && !coef)) && r.lo >= 0 && r.hi <= t->stride - 4;
}

/* Does the access come from the lane that holds the element, wherever it stands in the group? */
static bool comes_from_holder(const cu *c, kir_id i, const cu_tile *t)
{
    const kir_inst *in = kir_at(c->k, i);
    kir_id loop = c->loop_of[i];
    int64_t coef;
    kir_sum rest;
    if (in->op == KIR_MMA) return loop && fragments_are_held(c, i, t);
    if (!loop || !cu_affine(c, in->a, &coef, &rest) || !is_unrolled(c, &rest)) return false;
    const kir_inst *l = kir_at(c->k, loop), *lo = kir_at(c->k, l->a);
    if (lo->op != KIR_CONST || lo->imm != 0 || l->imm != 1) return false;
    int64_t vec = cu_vec(c, loop);
    if (!c->block)
        return coef == 1 && cu_trips(c->k, l) >= 0 && vec == t->stride &&
               divides(&rest, c->width * vec);
    kir_range r = kir_sum_range(&c->facts, &rest);
    int64_t trips = cu_trips(c->k, l);
    return coef == t->stride && r.lo >= 0 && r.hi < coef && trips >= 0 && trips <= c->width;
}

/* Is what the access writes the same in every lane, or scratch of the lane alone? */
static bool same_in_all(const cu *c, kir_id i)
{
    const kir_inst *in = kir_at(c->k, i);
    if (in->op == KIR_MMA) return false;
    if (in->op == KIR_TLOAD || !c->loop_of[i] || cu_is_deferred(c, i)) return true;
    return kir_at(c->k, c->loop_of[i])->race == KIR_PRIVATE;
}

/* Elements of a lane in a LANE loop: what its variable is multiplied with. */
static int64_t lane_stride(const cu *c, kir_id tile)
{
    for (kir_id i = 1; i < c->k->insts.n; i++) {
        int64_t coef;
        kir_sum rest;
        const kir_inst *in = kir_at(c->k, i);
        bool by_lane = is_tile_access(in) && in->op != KIR_MMA;
        if (by_lane && in->ref == tile && cu_affine(c, in->a, &coef, &rest) && coef > 0)
            return coef;
    }
    return 1;
}

/* Neighbouring elements that lie in one lane: as many as loops over the tile take at a time. */
static int64_t row_stride(const cu *c, kir_id tile)
{
    for (kir_id i = 1; i < c->k->insts.n; i++) {
        const kir_inst *in = kir_at(c->k, i);
        if (is_tile_access(in) && in->ref == tile && c->loop_of[i]) return cu_vec(c, c->loop_of[i]);
    }
    return c->vec;
}

enum { MOST_LOCAL = 64 };

static void place_tile(cu *c, kir_id tile)
{
    const kir_inst *decl = kir_at(c->k, tile);
    cu_tile *t = &c->tile[tile];
    bool local = true, spread = true;
    *t = (cu_tile){.place = CU_LOCAL,
                   .regs = decl->imm,
                   .stride = c->block ? lane_stride(c, tile) : row_stride(c, tile)};
    if (c->width == 1 || c->loop_of[tile]) return;
    for (kir_id i = 1; i < c->k->insts.n; i++) {
        const kir_inst *in = kir_at(c->k, i);
        if (is_operand(in, tile)) local = spread = false;
        if (!is_tile_access(in) || in->ref != tile) continue;
        local = local && same_in_all(c, i);
        spread = spread && comes_from_holder(c, i, t);
    }
    int64_t all = (int64_t)c->width * t->stride, regs = (decl->imm + all - 1) / all * t->stride;
    if (local && decl->imm <= MOST_LOCAL) return;
    if (spread && (!c->block || regs == t->stride)) {
        t->place = CU_SPREAD;
        t->regs = regs;
        return;
    }
    t->place = CU_SHARED_TILE;
    t->bytes = (decl->imm * (int64_t)gn_elem_size((gn_elem)decl->elem) + 15) / 16 * 16;
}

/* The instruction from which on nobody touches a tile of a block that ends before `end`: behind the
 * statement of its block with the last access.  Instructions are numbered as they stand. */
static kir_id end_of_life(const cu *c, kir_id tile, kir_id end)
{
    kir_id last = tile, at = tile;
    for (kir_id i = tile; i < c->k->insts.n; i++)
        if ((is_tile_access(kir_at(c->k, i)) && kir_at(c->k, i)->ref == tile) ||
            is_operand(kir_at(c->k, i), tile))
            last = i;
    while (kir_at(c->k, at)->next && kir_at(c->k, at)->next <= last) at = kir_at(c->k, at)->next;
    return kir_at(c->k, at)->next ? kir_at(c->k, at)->next : end;
}

/* May a tile take over the memory of one before it?  Where nobody touches that any more, and lanes
 * meet in between anyway. */
static bool may_take_over(const cu *c, kir_id tile, kir_id before)
{
    kir_id end = c->tile[before].end;
    while (end < tile && kir_at(c->k, end)->op != KIR_BARRIER) end++;
    return end < tile;
}

static int64_t find_room(const cu *c, kir_id tile)
{
    int64_t at = 0, was;
    do {
        was = at;
        for (kir_id i = 1; i < tile; i++) {
            const cu_tile *o = &c->tile[i];
            if (kir_at(c->k, i)->op != KIR_TILE || !cu_is_shared(c, i) || may_take_over(c, tile, i))
                continue;
            if (at < o->offset + o->bytes && o->offset < at + c->tile[tile].bytes)
                at = o->offset + o->bytes;
        }
    } while (at != was);
    return at;
}

/* The tiles of a block and of the blocks in it; groups of a kernel without blocks have one behind
 * the other. */
static void lay_out(cu *c, kir_id first, kir_id end)
{
    for (kir_id i = first; i; i = kir_at(c->k, i)->next) {
        const kir_inst *in = kir_at(c->k, i);
        cu_tile *t = &c->tile[i];
        if (in->op == KIR_TILE && t->place == CU_SHARED_TILE) {
            t->end = end_of_life(c, i, end);
            t->offset = c->block ? find_room(c, i) : c->shared;
            if (t->offset + t->bytes > c->shared) c->shared = t->offset + t->bytes;
        }
        lay_out(c, in->body, in->next ? in->next : end);
    }
}

/* Would lanes have to meet in the middle of a spread loop?  Then the width is refused. */
static bool lanes_meet(const cu *c, kir_id i)
{
    const kir_inst *in = kir_at(c->k, i);
    kir_id loop = c->loop_of[i];
    if (!loop || !is_tile_access(in) || c->loop_of[in->ref]) return false;
    bool lone = kir_at(c->k, loop)->race == KIR_PRIVATE;
    if (lone && in->op != KIR_TLOAD) return c->tile[in->ref].place != CU_LOCAL;
    if (in->op != KIR_TACC && in->op != KIR_TFMA) return false;
    if (cu_is_deferred(c, i)) {
        /* the index is used after the loop */
        const kir_inst *at = kir_at(c->k, in->a);
        return c->block || (c->loop_of[in->a] == loop && at->op != KIR_CONST && at->op != KIR_SYM);
    }
    if (cu_segment(c, i)) return false;
    int64_t coef;
    kir_sum rest;
    bool apart = cu_affine(c, in->a, &coef, &rest) && coef != 0;
    return kir_at(c->k, loop)->race == KIR_REDUCE && !apart;
}

/* Memories ------------------------------------------------------------------------------------- */

/* How often an element of each buffer may be written, and not by one lane: 2 stands for more. */
static void count_stores(const cu *c, kir_id first, int each, int *stores)
{
    for (kir_id i = first; i; i = kir_at(c->k, i)->next) {
        const kir_inst *in = kir_at(c->k, i);
        bool rounds = in->op == KIR_FOR && i != c->thread && !cu_is_spread(c, i) && !c->loop_of[i];
        if (in->op == KIR_STORE) stores[in->imm] += each;
        count_stores(c, in->body, rounds && in->race == KIR_ORDERED ? 2 : each, stores);
    }
}

static void number_memories(cu *c)
{
    int n = 0, *stores = GN_NEW_N(c->arena, int, c->k->buffers.n + 1);
    bool *read = GN_NEW_N(c->arena, bool, c->k->buffers.n + 1);
    count_stores(c, c->k->top, 1, stores);
    for (kir_id i = 1; i < c->k->insts.n; i++) {
        const kir_inst *in = kir_at(c->k, i);
        if (in->op == KIR_LOAD) read[in->imm] = true;
        if (in->op == KIR_TILE && cu_is_shared(c, i)) {
            c->tile[i].bit = n;
            if (n < 63) n++; /* the last bit stands for all others */
        }
    }
    for (uint32_t b = 0; b < c->k->buffers.n; b++) {
        c->buffer_bit[b] = stores[b] > 1 || (read[b] && stores[b]) ? n : -1;
        if (c->buffer_bit[b] >= 0 && n < 63) n++;
    }
}

void cu_effect(const cu *c, kir_id i, cu_touched *t)
{
    const kir_inst *in = kir_at(c->k, i);
    if (in->op == KIR_LOAD && c->buffer_bit[in->imm] >= 0)
        t->read |= UINT64_C(1) << c->buffer_bit[in->imm];
    if (in->op == KIR_STORE && c->buffer_bit[in->imm] >= 0)
        t->written |= UINT64_C(1) << c->buffer_bit[in->imm];
    if (in->op == KIR_MMA)
        t->read |= UINT64_C(1) << c->tile[in->left].bit | UINT64_C(1) << c->tile[in->right].bit;
    if (!is_tile_access(in) || !cu_is_shared(c, in->ref)) return;
    uint64_t bit = UINT64_C(1) << c->tile[in->ref].bit;
    *(in->op == KIR_TLOAD ? &t->read : &t->written) |= bit;
}

/* A reduction over lanes is made when its loop is over. */
void cu_effects(const cu *c, kir_id first, bool spread, cu_touched *t)
{
    for (kir_id i = first; i; i = kir_at(c->k, i)->next) {
        bool inside = c->loop_of[i] && !cu_is_deferred(c, i);
        if (inside == spread) cu_effect(c, i, t);
        cu_effects(c, kir_at(c->k, i)->body, spread, t);
    }
}

/* Values whose only readers are indices that became registers, or hints, are not written. */
static void find_used(cu *c)
{
    memset(c->used, 0, c->k->insts.n * sizeof *c->used);
    for (kir_id i = c->k->insts.n; i-- > 1;) {
        const kir_inst *in = kir_at(c->k, i);
        int n = kir_ops[in->op].n_in;
        bool needed = c->used[i] || kir_ops[in->op].cls == KIR_CLASS_STMT;
        if (!needed || in->op == KIR_PREFETCH) continue;
        bool register_index = is_tile_access(in) && !c->loop_of[in->ref] &&
                              c->tile[in->ref].place == CU_SPREAD;
        if (n > 0 && !register_index && !cu_segment(c, i)) c->used[in->a] = true;
        if (n > 1) c->used[in->b] = true;
        if (n > 2) c->used[in->c] = true;
    }
}

/* Widths --------------------------------------------------------------------------------------- */

bool cu_is_vector_access(const cu *c, kir_id i)
{
    const kir_inst *in = kir_at(c->k, i);
    kir_id loop = c->loop_of[i];
    int64_t coef;
    kir_sum rest;
    if ((in->op != KIR_LOAD && in->op != KIR_STORE) || !loop || !c->simple[loop] ||
        cu_vec(c, loop) != 4)
        return false;
    if (!cu_vector((gn_elem)c->k->buffers.p[in->imm].elem)) return false;
    if (!cu_affine(c, in->a, &coef, &rest)) return false;
    return coef == 1 && divides(&rest, 4) && kir_at(c->k, kir_at(c->k, loop)->a)->imm % 4 == 0;
}

/* Is the kernel right with this width?  Leaves the number of tiles in shared memory. */
static bool try_width(cu *c, int width, int vec, int *shared_tiles)
{
    uint32_t n = c->k->insts.n;
    c->width = width;
    c->vec = vec;
    c->shared = 0;
    /* tiles behind it are aligned */
    c->scratch = width > CU_WARP ? (8 * width / CU_WARP + 15) / 16 * 16 : 0;
    memset(c->varies, 0, n * sizeof *c->varies);
    memset(c->simple, 0, n * sizeof *c->simple);
    analyse(c, c->k->top, 0);
    *shared_tiles = 0;
    for (kir_id i = 1; i < n; i++) {
        if (kir_at(c->k, i)->op != KIR_TILE) continue;
        place_tile(c, i);
        *shared_tiles += c->tile[i].place == CU_SHARED_TILE;
    }
    lay_out(c, c->k->top, n);
    if (c->shared + c->scratch > CU_SHARED) return false;
    for (kir_id i = 1; i < n; i++)
        if (lanes_meet(c, i)) return false;
    number_memories(c);
    find_used(c);
    return true;
}

static int power_up(int64_t n)
{
    int p = 1;
    while (p < n && p < CU_WARP) p *= 2;
    return p;
}

typedef struct shape { /* of the kernel's vector loops */
    int64_t widest;    /* trips of the widest with constant bounds */
    bool runtime;      /* there is one whose bounds are not constants */
    bool fours;        /* trips of all are multiples of four */
} shape;

static shape shape_of(const cu *c)
{
    shape s = {.fours = true};
    for (kir_id i = 1; i < c->k->insts.n; i++) {
        const kir_inst *in = kir_at(c->k, i);
        if (in->op != KIR_FOR || in->unit != KIR_VECTOR) continue;
        int64_t n = cu_trips(c->k, in);
        if (n < 0) s.runtime = true;
        if (n > s.widest) s.widest = n;
        if (n > 1 && n % 4) s.fours = false;
    }
    return s;
}

static int64_t lanes_of_block(const cu *c)
{
    int64_t most = 1;
    for (kir_id i = 1; i < c->k->insts.n; i++) {
        const kir_inst *in = kir_at(c->k, i);
        if (in->op != KIR_FOR || (in->unit != KIR_LANE && in->unit != KIR_WARP)) continue;
        int64_t n = cu_trips(c->k, in);
        if (n < 0) n = 4 * CU_WARP;
        if (in->unit == KIR_WARP) n *= CU_WARP;
        if (n > most) most = n;
    }
    most = (most + CU_WARP - 1) / CU_WARP * CU_WARP;
    return most < CU_MAX_THREADS ? most : CU_MAX_THREADS;
}

/* Groups whose lanes run over rows are as large as a block of rows allows. */
static int runtime_width(const cu *c)
{
    enum { MOST = 256 };
    int64_t step = c->thread ? kir_at(c->k, c->thread)->imm : MOST, w = 1;
    while (w < MOST && w * 2 <= step) w *= 2;
    return (int)w;
}

/* The width that the kernel asks for, where it can have that: for rows that share blocks, and lanes
 * over columns. */
static bool choose_hint(cu *c, const shape *s)
{
    int width = 1, shared;
    while (2 * width <= c->k->lanes && width < CU_WARP) width *= 2;
    if (width < 2 || s->runtime || s->widest < 2 || !c->thread) return false;
    for (int vec = s->fours ? 4 : 1; vec >= 1; vec -= 3)
        if (try_width(c, width, vec, &shared)) return true;
    return false;
}

/* Tiles in registers before tiles in shared memory, vectors of four before single elements, wide
 * before narrow. */
static const char *choose(cu *c)
{
    shape s = shape_of(c);
    int best_width = 1, best_vec = 1, fewest = INT32_MAX, shared;
    int widths[4], n = 0;
    if (choose_hint(c, &s)) return NULL;
    if (s.runtime) widths[n++] = runtime_width(c);
    if (s.runtime && widths[0] > CU_WARP) widths[n++] = CU_WARP;
    if (!s.runtime && s.widest > 1) widths[n++] = power_up(s.fours ? s.widest / 4 : s.widest);
    if (!s.runtime && s.widest > 1 && s.fours && power_up(s.widest) > widths[n - 1])
        widths[n++] = power_up(s.widest);
    /* one row: nothing but its own lanes hides what it waits for */
    if (!s.runtime && !c->thread && s.widest > CU_WARP) {
        widths[n++] = s.widest > 4 * CU_WARP   ? 8 * CU_WARP
                      : s.widest > 2 * CU_WARP ? 4 * CU_WARP
                                               : 2 * CU_WARP;
        s.fours = false;
        widths[0] = widths[n - 1];
    }
    for (int k = 0; k < n; k++)
        for (int vec = s.fours && !s.runtime ? 4 : 1; vec >= 1; vec -= 3) {
            if (widths[k] < 2 || !try_width(c, widths[k], vec, &shared) || shared >= fewest)
                continue;
            fewest = shared;
            best_width = widths[k];
            best_vec = vec;
        }
    return try_width(c, best_width, best_vec, &shared) ? NULL : "tiles of that size";
}

const char *cu_plan(cu *c)
{
    int shared;
    if (!c->block) return choose(c);
    if (try_width(c, (int)lanes_of_block(c), 1, &shared)) return NULL;
    return "lanes that meet in a reduction, or more shared memory than a block has";
}
