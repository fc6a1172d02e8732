/* block: loops, conditions and the order of things. */
#include "codegen/cuda/emit_cuda.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void cu_line(cu *c, const char *fmt, ...)
{
    char small[256], *text = small;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    if (n >= (int)sizeof small) {
        text = gn_arena_alloc(c->arena, (size_t)n + 1, 1);
        va_start(ap, fmt);
        vsnprintf(text, (size_t)n + 1, fmt, ap);
        va_end(ap);
    }
    gn_buf_printf(c->out, "%*s%s\n", 4 * c->indent, "", text);
}

static void open_brace(cu *c, const char *head)
{
    cu_line(c, *head ? "%s {" : "%s{", head);
    c->indent++;
}

static void close_brace(cu *c)
{
    c->indent--;
    cu_line(c, "}");
}

/* Barriers ------------------------------------------------------------------------------------- */

static void barrier(cu *c)
{
    bool warp = c->width <= CU_WARP && !c->block;
    if (c->width > 1 && !warp && c->phase)
        cu_line(c, "GN_SYNC(%d);", c->width);
    else if (c->width > 1)
        cu_line(c, warp ? "__syncwarp(mask);" : "__syncthreads();");
    c->lanes = c->alone = (cu_touched){0, 0};
}

static cu_touched both(cu_touched a, cu_touched b)
{
    return (cu_touched){a.read | b.read, a.written | b.written};
}

/* Lanes of a group run ahead of each other.  What one writes another may read, and the reverse,
 * only when they have met. Among the LANE loops of a block the loop IR says where that is. */
void cu_meet(cu *c, cu_touched now, bool spread)
{
    cu_touched before = both(c->block && spread ? (cu_touched){0, 0} : c->lanes, c->alone);
    uint64_t writers = spread ? before.written : c->lanes.written; /* the first lane is one lane */
    if ((now.read & before.written) || (now.written & (writers | before.read))) barrier(c);
    cu_touched *t = spread ? &c->lanes : &c->alone;
    *t = both(*t, now);
}

/* Straight-line code --------------------------------------------------------------------------- */

/* Four neighbours at once; those of narrow types are widened one by one. */
static void four_loaded(cu *c, kir_id i)
{
    const kir_inst *in = kir_at(c->k, i);
    gn_elem e = c->k->buffers.p[in->imm].elem;
    const char *type = cu_vector(e), *name = e == GN_F32 ? "x" : "four";
    cu_line(c, "const %s %s%u = gn_load_%s(%s + %s);", type, name, i, type, c->buffer[in->imm],
            cu_ref(c, in->a, 0));
    for (int q = 0; q < 4 && e != GN_F32; q++)
        cu_line(c, "const %s x%u_%d = %s;", cu_type(c, i), i, q,
                cu_loaded(c, e, gn_arena_printf(c->arena, "four%u.%c", i, "xyzw"[q])));
}

static void one_value(cu *c, kir_id i)
{
    const kir_inst *in = kir_at(c->k, i);
    bool tile = in->op == KIR_TLOAD;
    if (!(c->wide && c->varies[i])) {
        cu_line(c, "const %s x%u = %s;", cu_type(c, i), i,
                tile ? cu_tile_value(c, i, 0) : cu_value(c, i, 0));
        return;
    }
    if (in->op == KIR_LOAD && cu_is_vector_access(c, i)) {
        four_loaded(c, i);
        return;
    }
    for (int q = 0; q < (c->once[i] ? 1 : c->vec); q++)
        cu_line(c, "const %s x%u_%d = %s;", cu_type(c, i), i, q,
                tile ? cu_tile_value(c, i, q) : cu_value(c, i, q));
}

static void store(cu *c, kir_id i)
{
    const kir_inst *in = kir_at(c->k, i);
    const char *name = c->buffer[in->imm];
    int b = (int)in->imm;
    if (c->wide && cu_is_vector_access(c, i)) {
        const char *type = cu_vector(c->k->buffers.p[in->imm].elem);
        cu_line(c, "gn_store_%s(%s + %s, %s, %s, %s, %s);", type, name, cu_ref(c, in->a, 0),
                cu_stored(c, b, in->b, 0), cu_stored(c, b, in->b, 1), cu_stored(c, b, in->b, 2),
                cu_stored(c, b, in->b, 3));
        return;
    }
    const char *one = !c->spread && c->width > 1 ? "if (lane == 0) " : "";
    for (int q = 0; q < (c->wide ? c->vec : 1); q++)
        cu_line(c, "%s%s[%s] = %s;", one, name, cu_ref(c, in->a, q), cu_stored(c, b, in->b, q));
}

static void tile_write(cu *c, kir_id i)
{
    const kir_inst *in = kir_at(c->k, i);
    bool one = !c->spread && c->width > 1 && cu_is_shared(c, in->ref);
    if (one) open_brace(c, "if (lane == 0)");
    for (int q = 0; q < (c->wide ? c->vec : 1); q++) cu_tile_write(c, i, q);
    if (one) close_brace(c);
}

/* A tile that begins where another one lay: nobody touches that any more.  The loop IR does not
 * know of it. */
static void take_over(cu *c, const cu_tile *t)
{
    uint64_t others = 0,
             touched = c->lanes.read | c->lanes.written | c->alone.read | c->alone.written;
    for (kir_id i = 1; i < c->k->insts.n; i++) {
        const cu_tile *o = &c->tile[i];
        if (kir_at(c->k, i)->op != KIR_TILE || o == t || !cu_is_shared(c, i)) continue;
        if (o->offset < t->offset + t->bytes && t->offset < o->offset + o->bytes)
            others |= UINT64_C(1) << o->bit;
    }
    if (touched & others) barrier(c);
}

static void declare_tile(cu *c, kir_id i)
{
    const kir_inst *in = kir_at(c->k, i);
    const cu_tile *t = &c->tile[i];
    gn_elem e = (gn_elem)in->elem;
    const char *type = kir_is_narrow(e) ? cu_storage_type(e) : cu_elem_type(e);
    if (t->place == CU_SHARED_TILE) take_over(c, t);
    if (t->place == CU_SHARED_TILE)
        cu_line(c, "%s *const tile%u = (%s *)(shared + %lld); /* %lld elements */", type, i, type,
                (long long)t->offset, (long long)in->imm);
    else
        cu_line(c, "%s tile%u[%lld];", type, i, (long long)t->regs);
}

/* Loops ---------------------------------------------------------------------------------------- */

static void statement(cu *c, kir_id i);

enum { UNROLL_MOST = 32, ENOUGH = 8 };

static bool has_branch(const cu *c, kir_id first)
{
    for (kir_id i = first; i; i = kir_at(c->k, i)->next)
        if (kir_at(c->k, i)->op == KIR_IF || has_branch(c, kir_at(c->k, i)->body)) return true;
    return false;
}

/* Products that a round of the block adds up. */
static int64_t products(const cu *c, kir_id first)
{
    int64_t n = 0;
    for (kir_id i = first; i; i = kir_at(c->k, i)->next) {
        const kir_inst *in = kir_at(c->k, i);
        int64_t trips = in->op == KIR_FOR ? cu_trips(c->k, in) : 1;
        n += (in->op == KIR_TFMA) + (trips > 0 ? trips : 1) * products(c, in->body);
    }
    return n;
}

/* Four neighbours at a time. */
static void copy_loop(cu *c, kir_id i, kir_id store)
{
    const kir_inst *in = kir_at(c->k, i);
    int64_t trips = cu_trips(c->k, in);
    if (trips > 4) cu_line(c, "GN_UNROLL");
    const char *head = gn_arena_printf(c->arena, "for (int i%u = 0; i%u < %lld; i%u += 4)", i, i,
                                       (long long)trips, i);
    open_brace(c, trips > 4 ? head : "");
    if (trips == 4) cu_line(c, "const int i%u = 0;", i);
    for (kir_id v = in->body; v != store; v = kir_at(c->k, v)->next)
        if (kir_at(c->k, v)->op != KIR_TLOAD) statement(c, v);
    cu_copy(c, store);
    close_brace(c);
}

/* What a round of a loop outside of spread ones takes. */
typedef struct round_cost {
    int64_t all, gathered; /* elements that lanes load for themselves; of which in spread loops */
    int instructions;
    bool sums, more; /* more: stores, conditions, loops that are not spread */
} round_cost;

static void count_round(const cu *c, kir_id first, int64_t each, round_cost *r)
{
    for (kir_id i = first; i; i = kir_at(c->k, i)->next) {
        const kir_inst *in = kir_at(c->k, i);
        bool spread = cu_is_spread(c, i);
        int64_t trips = spread ? cu_trips(c->k, in) : 1;
        r->instructions++;
        r->sums = r->sums || in->op == KIR_TACC || in->op == KIR_TFMA;
        r->more = r->more || in->op == KIR_STORE || (in->body && !(spread && trips >= 0));
        if (in->op == KIR_LOAD) r->all += each;
        if (in->op == KIR_LOAD && c->loop_of[i]) r->gathered += each;
        count_round(c, in->body, trips > c->width ? (trips + c->width - 1) / c->width : 1, r);
    }
}

/* Sums over rows that edges gather, or a lane's over partial sums: loads of several rounds need not
 * wait for each other, and are added in order.  A multiprocessor of an H200 has to have some 40 KB
 * on their way, which one row a warp is not. */
static const char *rounds_of_sum(const cu *c, const kir_inst *loop)
{
    enum { FEW = 4, SOME = 12, SHORT = 40 };
    round_cost r = {0};
    count_round(c, loop->body, 1, &r);
    const kir_inst *lo = kir_at(c->k, loop->a);
    bool partial = c->width == 1 && r.all == 1 && lo->op == KIR_CONST;
    if (!r.sums || r.more || loop->imm != 1 || r.instructions > SHORT || r.gathered > SOME)
        return "GN_ROLL";
    if (partial) return "GN_UNROLL8";
    if (c->width == 1 ? r.all < 2 : !r.gathered || r.all == r.gathered)
        return "GN_ROLL"; /* nothing says which row */
    return r.gathered > FEW ? "GN_EDGES2" : "GN_EDGES4";
}

/* What lanes do serially for themselves is unrolled a little: the loads of several rounds are under
 * way at once.  Where a round has work enough to wait for the next one's loads, two of them are, in
 * fewer registers. */
static void serial_loop(cu *c, kir_id i)
{
    const kir_inst *in = kir_at(c->k, i);
    int64_t trips = cu_trips(c->k, in);
    cu_touched lanes = c->lanes, alone = c->alone;
    bool unroll = trips >= 0 &&
                  (in->unit == KIR_UNROLL || (in->unit == KIR_VECTOR && trips <= UNROLL_MOST));
    if (!c->spread) { /* what the last round left */
        cu_effects(c, in->body, true, &c->lanes);
        cu_effects(c, in->body, false, &c->alone);
    }
    bool some = !unroll && c->block && c->spread && trips > 4 && trips % 4 == 0 &&
                !has_branch(c, in->body);
    const char *rounds = !some                             ? "GN_ROLL"
                         : products(c, in->body) >= ENOUGH ? "GN_UNROLL2"
                                                           : "GN_UNROLL4";
    if (trips < 0 && !c->block && !c->spread) rounds = rounds_of_sum(c, in);
    if (trips != 1) cu_line(c, "%s", unroll ? "GN_UNROLL" : rounds);
    const char *t = cu_type(c, i);
    open_brace(c, gn_arena_printf(c->arena, "for (%s i%u = %s; i%u < %s; i%u += %s)", t, i,
                                  cu_ref(c, in->a, 0), i, cu_ref(c, in->b, 0), i,
                                  cu_integer(c, in->imm)));
    cu_block(c, in->body);
    close_brace(c);
    c->lanes = both(c->lanes, lanes);
    c->alone = both(c->alone, alone);
}

/* Of the copies of an index of vector accesses the first alone is needed. */
static void find_once(cu *c, kir_id loop)
{
    bool *many = GN_NEW_N(c->arena, bool, c->k->insts.n);
    for (kir_id i = c->k->insts.n; i-- > 1;) {
        const kir_inst *in = kir_at(c->k, i);
        if (c->loop_of[i] != loop) continue;
        bool access = (in->op == KIR_LOAD || in->op == KIR_STORE) && cu_is_vector_access(c, i);
        bool all = many[i] || kir_ops[in->op].cls == KIR_CLASS_STMT || in->op == KIR_LOAD ||
                   in->op == KIR_TLOAD;
        c->once[i] = !all;
        int n = kir_ops[in->op].n_in;
        if (n > 0 && all && !access) many[in->a] = true;
        if (n > 1 && all) many[in->b] = true;
        if (n > 2 && all) many[in->c] = true;
    }
}

static void spread_body(cu *c, kir_id i)
{
    const kir_inst *in = kir_at(c->k, i);
    c->spread = i;
    c->wide = cu_vec(c, i) > 1 && c->simple[i];
    if (c->wide) find_once(c, i);
    cu_block(c, in->body);
    c->wide = false;
    c->spread = 0;
}

/* Constant bounds: chunk by chunk, with registers of tiles that the compiler can name. */
static void spread_constant(cu *c, kir_id i, int64_t trips)
{
    const kir_inst *in = kir_at(c->k, i);
    int vec = cu_vec(c, i);
    int64_t all = (int64_t)c->width * vec, chunks = (trips + all - 1) / all,
            lo = kir_at(c->k, in->a)->imm;
    bool plain = lo == 0 && in->imm == 1, whole = trips % all == 0,
         quads = vec > 1 && !c->simple[i];
    int braces = 1;
    if (chunks > 1) {
        cu_line(c, chunks <= UNROLL_MOST ? "GN_UNROLL" : "GN_ROLL");
        open_brace(c, gn_arena_printf(c->arena, "for (int c%u = 0; c%u < %lld; c%u++)", i, i,
                                      (long long)chunks, i));
    } else {
        open_brace(c, "");
    }
    const char *lanes = chunks > 1 ? gn_arena_printf(c->arena, "c%u * %d + lane", i, c->width)
                                   : "lane";
    if (vec > 1)
        lanes = gn_arena_printf(c->arena, chunks > 1 ? "(%s) * %d" : "%s * %d", lanes, vec);
    cu_line(c, "const int %c%u = %s;", plain && !quads ? 'i' : 'm', i, lanes);
    cu_segments_begin(c, i);
    if (!whole) {
        open_brace(c, gn_arena_printf(c->arena, "if (%c%u < %lld)", plain && !quads ? 'i' : 'm', i,
                                      (long long)trips));
        braces++;
    }
    if (quads) {
        cu_line(c, "GN_UNROLL");
        open_brace(c,
                   gn_arena_printf(c->arena, "for (int q%u = 0; q%u < %d; q%u++)", i, i, vec, i));
        braces++;
    }
    if (!plain || quads) {
        const char *m = quads ? gn_arena_printf(c->arena, "(m%u + q%u)", i, i)
                              : gn_arena_printf(c->arena, "m%u", i);
        cu_line(c, "const gn_i64 i%u = %s + (gn_i64)%s * %s;", i, cu_integer(c, lo), m,
                cu_integer(c, in->imm));
    }
    spread_body(c, i);
    for (; braces > 1; braces--) close_brace(c);
    cu_segments_end(c, i, whole ? 0 : trips);
    close_brace(c);
}

static void spread_runtime(cu *c, kir_id i)
{
    const kir_inst *in = kir_at(c->k, i);
    const char *t = cu_is_int(c, i) &&
                            c->facts.range.p[in->b].hi < INT32_MAX - CU_MAX_THREADS * in->imm
                        ? "int"
                        : "gn_i64";
    const char *lane = in->imm == 1
                           ? "lane"
                           : gn_arena_printf(c->arena, "(gn_i64)lane * %s", cu_integer(c, in->imm));
    cu_line(c, "GN_ROLL");
    open_brace(c, gn_arena_printf(c->arena, "for (%s i%u = %s + %s; i%u < %s; i%u += %s)", t, i,
                                  cu_ref(c, in->a, 0), lane, i, cu_ref(c, in->b, 0), i,
                                  cu_integer(c, (int64_t)c->width * in->imm)));
    spread_body(c, i);
    close_brace(c);
}

static void spread_loop(cu *c, kir_id i)
{
    const kir_inst *in = kir_at(c->k, i);
    int64_t trips = cu_trips(c->k, in);
    cu_touched now = {0, 0};
    if (trips == 0) return;
    cu_effects(c, in->body, true, &now);
    cu_meet(c, now, true);
    cu_reduce_begin(c, i);
    if (trips > 0)
        spread_constant(c, i, trips);
    else
        spread_runtime(c, i);
    cu_reduce_end(c, i);
}

/* Each warp has an iteration. */
static void warp_loop(cu *c, kir_id i)
{
    const kir_inst *in = kir_at(c->k, i);
    int64_t lanes = cu_trips(c->k, in) * CU_WARP;
    cu_touched now = {0, 0};
    cu_effects(c, in->body, true, &now);
    cu_meet(c, now, true);
    open_brace(c, lanes < c->width ? gn_arena_printf(c->arena, "if (lane < %lld)", (long long)lanes)
                                   : "");
    cu_line(c, "const int i%u = lane / %d;", i, CU_WARP);
    spread_body(c, i);
    close_brace(c);
}

static void condition(cu *c, kir_id i)
{
    const kir_inst *in = kir_at(c->k, i);
    cu_touched lanes = c->lanes, alone = c->alone;
    open_brace(c, gn_arena_printf(c->arena, "if (%s)", cu_ref(c, in->a, 0)));
    cu_block(c, in->body);
    close_brace(c);
    c->lanes = both(c->lanes, lanes);
    c->alone = both(c->alone, alone);
}

/* Blocks of a phase are fewer than it has iterations for: each takes every so many'th. */
static void phase_loop(cu *c, kir_id i)
{
    const kir_inst *in = kir_at(c->k, i);
    if (!c->block) { /* what the last round left */
        cu_effects(c, in->body, true, &c->lanes);
        cu_effects(c, in->body, false, &c->alone);
    }
    cu_line(c, "GN_ROLL");
    const char *first = in->imm == 1 ? ""
                                     : gn_arena_printf(c->arena, " * %s", cu_integer(c, in->imm));
    open_brace(c, gn_arena_printf(
                      c->arena,
                      "for (gn_i64 i%u = iteration%s; i%u < %s; i%u += (gn_i64)gridDim.x * %s)", i,
                      first, i, cu_ref(c, in->b, 0), i, cu_integer(c, c->per_block * in->imm)));
    cu_block(c, in->body);
    if (c->block)
        barrier(c); /* its LANE loops wait for each other where the loop IR says, which knows of one
                       round */
    close_brace(c);
}

static void thread_loop(cu *c, kir_id i)
{
    const kir_inst *in = kir_at(c->k, i);
    if (c->phase) {
        phase_loop(c, i);
        return;
    }
    if (in->imm == 1)
        cu_line(c, "const gn_i64 i%u = iteration;", i);
    else
        cu_line(c, "const gn_i64 i%u = iteration * %s;", i, cu_integer(c, in->imm));
    cu_line(c, "if (i%u >= %s) return;", i, cu_ref(c, in->b, 0));
    cu_block(c, in->body);
}

static void statement(cu *c, kir_id i)
{
    const kir_inst *in = kir_at(c->k, i);
    if (!c->spread && !(in->op == KIR_FOR || in->op == KIR_IF)) {
        cu_touched now = {0, 0};
        cu_effect(c, i, &now);
        cu_meet(c, now, false);
    }
    switch (in->op) {
    case KIR_CONST:
    case KIR_SYM:
    case KIR_PREFETCH: break;
    case KIR_TILE: declare_tile(c, i); break;
    case KIR_STORE: store(c, i); break;
    case KIR_TSTORE:
    case KIR_TACC:
    case KIR_TFMA: tile_write(c, i); break;
    case KIR_MMA: cu_fragments(c, i); break;
    case KIR_BARRIER: barrier(c); break;
    case KIR_IF: condition(c, i); break;
    case KIR_FOR:
        if (i == c->thread)
            thread_loop(c, i);
        else if (in->unit == KIR_WARP)
            warp_loop(c, i);
        else if (!c->spread && cu_is_spread(c, i))
            spread_loop(c, i);
        else if (cu_copied(c, i))
            copy_loop(c, i, cu_copied(c, i));
        else
            serial_loop(c, i);
        break;
    default:
        if (c->used[i]) one_value(c, i);
        break;
    }
}

void cu_block(cu *c, kir_id first)
{
    for (kir_id i = first; i; i = kir_at(c->k, i)->next) statement(c, i);
}
