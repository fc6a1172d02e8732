/* tile: elements of tiles, and reductions over the lanes of a group. */
#include "codegen/cuda/emit_cuda.h"

#include <string.h>

/* A sum over constants and variables of loops that are unrolled, divided by what divides each
 * term. */
static const char *quotient(const cu *c, const kir_sum *s, int64_t by)
{
    gn_buf b = {.arena = c->arena};
    for (int i = 0; i < s->n; i++) {
        int64_t coef = s->t[i].coef / by;
        if (coef == 1)
            gn_buf_printf(&b, "%s%s", b.n ? " + " : "", cu_ref(c, s->t[i].v, 0));
        else
            gn_buf_printf(&b, "%s%s * %s", b.n ? " + " : "", cu_ref(c, s->t[i].v, 0),
                          cu_integer(c, coef));
    }
    if (s->c / by || !b.n) gn_buf_printf(&b, "%s%lld", b.n ? " + " : "", (long long)(s->c / by));
    return b.p;
}

/* Element (chunk * width + lane) * vec + q of a group lies in lane `lane`, register chunk * vec +
 * q. */
static const char *spread_element(const cu *c, const kir_inst *in, kir_id loop, int copy)
{
    int vec = loop ? cu_vec(c, loop) : c->vec;
    int64_t coef, all = (int64_t)c->width * vec;
    kir_sum rest;
    cu_affine(c, in->a, &coef, &rest);
    if (c->block) return gn_arena_printf(c->arena, "tile%u[%s]", in->ref, quotient(c, &rest, 1));
    int64_t trips = cu_trips(c->k, kir_at(c->k, loop));
    gn_buf b = {.arena = c->arena};
    gn_buf_printf(&b, "tile%u[", in->ref);
    size_t begin = b.n;
    if (trips > all) gn_buf_printf(&b, vec > 1 ? "c%u * %d" : "c%u", loop, vec);
    if (rest.n || rest.c)
        gn_buf_printf(&b, "%s%s", b.n > begin ? " + " : "", quotient(c, &rest, c->width));
    if (vec > 1 && !c->wide) gn_buf_printf(&b, "%sq%u", b.n > begin ? " + " : "", loop);
    if (c->wide && copy) gn_buf_printf(&b, "%s%d", b.n > begin ? " + " : "", copy);
    if (b.n == begin) gn_buf_add(&b, "0");
    gn_buf_add(&b, "]");
    return b.p;
}

const char *cu_element(const cu *c, kir_id inst, int copy)
{
    const kir_inst *in = kir_at(c->k, inst);
    if (!c->loop_of[in->ref] && c->tile[in->ref].place == CU_SPREAD)
        return spread_element(c, in, c->loop_of[inst], copy);
    return gn_arena_printf(c->arena, "tile%u[%s]", in->ref, cu_ref(c, in->a, copy));
}

const char *cu_tile_value(const cu *c, kir_id inst, int copy)
{
    gn_elem e = (gn_elem)kir_at(c->k, kir_at(c->k, inst)->ref)->elem;
    const char *x = cu_element(c, inst, copy);
    return kir_is_narrow(e) ? cu_widened(c, e, x) : x;
}

static const char *const red_name[] = {
    [KIR_SUM] = "sum", [KIR_RED_MAX] = "max", [KIR_RED_MIN] = "min"};

static const char *bits_name(gn_elem e)
{
    return e == GN_F32 ? "f32" : e == GN_F64 ? "f64" : "i64";
}

static int red_of(const kir_inst *in) { return in->op == KIR_TFMA ? KIR_SUM : (int)in->imm; }

static void accumulate(cu *c, const char *to, const kir_inst *in, int copy)
{
    gn_elem e = (gn_elem)kir_at(c->k, in->ref)->elem;
    const char *x = cu_ref(c, in->b, copy);
    if (in->op == KIR_TFMA)
        cu_line(c, "%s = fma%s(%s, %s, %s);", to, e == GN_F32 ? "f" : "", x, cu_ref(c, in->c, copy),
                to);
    else if (red_of(in) == KIR_SUM)
        cu_line(c, "%s = %s + %s;", to, to, x);
    else
        cu_line(c, "%s = gn_%s_%s(%s, %s);", to, red_name[red_of(in)], bits_name(e), x, to);
}

/* TSTORE, TACC, TFMA. */
void cu_tile_write(cu *c, kir_id inst, int copy)
{
    const kir_inst *in = kir_at(c->k, inst);
    if (cu_is_deferred(c, inst) || cu_segment(c, inst)) {
        accumulate(c, gn_arena_printf(c->arena, "r%u", inst), in, copy);
        return;
    }
    const char *to = cu_element(c, inst, copy);
    if (in->op == KIR_TSTORE)
        cu_line(c, "%s = %s;", to,
                cu_narrowed(c, (gn_elem)kir_at(c->k, in->ref)->elem, cu_ref(c, in->b, copy)));
    else
        accumulate(c, to, in, copy);
}

/* Copies --------------------------------------------------------------------------------------- */

/* Is the index the loop's variable and what `by` divides? */
static bool runs_along(const cu *c, kir_id index, kir_id loop, int64_t by)
{
    const kir_sum *s = &c->facts.sum.p[index];
    bool along = false;
    for (int i = 0; i < s->n; i++) {
        if (s->t[i].v == loop && s->t[i].coef == 1)
            along = true;
        else if (s->t[i].coef % by)
            return false;
    }
    return along && s->c % by == 0;
}

kir_id cu_copied(const cu *c, kir_id loop)
{
    const kir_inst *l = kir_at(c->k, loop);
    kir_id load = 0, store = 0;
    int64_t trips = cu_trips(c->k, l);
    if (!c->block || !c->spread || l->unit != KIR_UNROLL || trips <= 0 || trips % 4) return 0;
    if (kir_at(c->k, l->a)->imm != 0 || l->imm != 1) return 0;
    for (kir_id i = l->body; i; i = kir_at(c->k, i)->next) {
        const kir_inst *in = kir_at(c->k, i);
        if (store || in->op == KIR_LOAD || (in->op == KIR_TLOAD && load)) return 0;
        if (in->op == KIR_TLOAD) load = i;
        if (in->op == KIR_TSTORE) store = i;
        if (!store && kir_ops[in->op].cls != KIR_CLASS_VALUE && in->op != KIR_TLOAD) return 0;
    }
    if (!load || !store || kir_at(c->k, store)->b != load) return 0;
    const kir_inst *from = kir_at(c->k, load), *to = kir_at(c->k, store);
    bool out = cu_is_shared(c, to->ref), in = cu_is_shared(c, from->ref);
    bool floats = kir_at(c->k, from->ref)->elem == GN_F32 && kir_at(c->k, to->ref)->elem == GN_F32;
    if (out == in || !floats) return 0;
    return runs_along(c, from->a, loop, in ? 4 : 1) && runs_along(c, to->a, loop, out ? 4 : 1)
               ? store
               : 0;
}

/* The q'th element after the one that inst names. */
static const char *after(const cu *c, kir_id inst, int q)
{
    const char *first = cu_element(c, inst, 0);
    return gn_arena_printf(c->arena, "%.*s + %d]", (int)strlen(first) - 1, first, q);
}

void cu_copy(cu *c, kir_id store)
{
    const kir_inst *to = kir_at(c->k, store), *from = kir_at(c->k, to->b);
    if (cu_is_shared(c, to->ref)) {
        cu_line(c, "gn_store_float4(tile%u + %s, %s, %s, %s, %s);", to->ref, cu_ref(c, to->a, 0),
                cu_element(c, to->b, 0), after(c, to->b, 1), after(c, to->b, 2),
                after(c, to->b, 3));
        return;
    }
    cu_line(c, "const float4 x%u = gn_load_float4(tile%u + %s);", to->b, from->ref,
            cu_ref(c, from->a, 0));
    for (int q = 0; q < 4; q++) cu_line(c, "%s = x%u.%c;", after(c, store, q), to->b, "xyzw"[q]);
}

/* The lane's accumulators lie together, in registers or not. */
void cu_fragments(cu *c, kir_id inst)
{
    const kir_inst *in = kir_at(c->k, inst);
    kir_mma m = kir_mma_of(in->imm);
    const char *to;
    if (c->tile[in->ref].place == CU_SPREAD)
        to = gn_arena_printf(c->arena, "&%s", cu_element(c, inst, 0));
    else
        to = gn_arena_printf(c->arena, "tile%u + %s + lane %% %d * %d", in->ref,
                             cu_ref(c, in->a, 0), CU_WARP, m.lane);
    cu_line(c, "gn_mma_%s(%s, tile%u + %s, %d, %d, tile%u + %s, %d, %d);", kir_kinds[m.kind].text,
            to, in->left, cu_ref(c, in->b, 0), m.left_row, m.left_term, in->right,
            cu_ref(c, in->c, 0), m.right_col, m.right_term);
}

/* Reductions ----------------------------------------------------------------------------------- */

static const char *identity(const cu *c, gn_elem e, int red)
{
    if (e == GN_I64)
        return cu_integer(c, red == KIR_SUM ? 0 : red == KIR_RED_MAX ? INT64_MIN : INT64_MAX);
    return cu_number(c, e,
                     red == KIR_SUM       ? -0.0
                     : red == KIR_RED_MAX ? -__builtin_inf()
                                          : __builtin_inf());
}

static void each_deferred(cu *c, kir_id first, void (*f)(cu *, kir_id))
{
    for (kir_id i = first; i; i = kir_at(c->k, i)->next) {
        if (cu_is_deferred(c, i)) f(c, i);
        each_deferred(c, kir_at(c->k, i)->body, f);
    }
}

static void begin(cu *c, kir_id i)
{
    const kir_inst *in = kir_at(c->k, i);
    gn_elem e = (gn_elem)kir_at(c->k, in->ref)->elem;
    cu_line(c, "%s r%u = %s;", cu_elem_type(e), i, identity(c, e, red_of(in)));
}

/* Every lane's part to every lane, and what came of it to the tile. */
static void end(cu *c, kir_id i)
{
    const kir_inst *in = kir_at(c->k, i);
    gn_elem e = (gn_elem)kir_at(c->k, in->ref)->elem;
    bool shared = cu_is_shared(c, in->ref);
    cu_touched now = {0, 0};
    const char *name = red_name[red_of(in)], *bits = bits_name(e);
    cu_line(c, "r%u = gn_reduce_%s_%s(r%u, %d, mask, %s);", i, name, bits, i, c->width,
            c->scratch ? "gn_shared" : "0");
    cu_effect(c, i, &now);
    cu_meet(c, now, false);
    const char *to = gn_arena_printf(c->arena, "tile%u[%s]", in->ref, cu_ref(c, in->a, 0));
    const char *one = shared ? "if (lane == 0) " : "";
    if (red_of(in) == KIR_SUM)
        cu_line(c, "%s%s = %s + r%u;", one, to, to, i);
    else
        cu_line(c, "%s%s = gn_%s_%s(r%u, %s);", one, to, name, bits, i, to);
}

void cu_reduce_begin(cu *c, kir_id loop) { each_deferred(c, kir_at(c->k, loop)->body, begin); }
void cu_reduce_end(cu *c, kir_id loop) { each_deferred(c, kir_at(c->k, loop)->body, end); }

/* Segments ------------------------------------------------------------------------------------- */

void cu_segments_begin(cu *c, kir_id loop)
{
    for (kir_id i = kir_at(c->k, loop)->body; i; i = kir_at(c->k, i)->next)
        if (cu_segment(c, i)) begin(c, i);
}

/* The first lane of those that hold a segment adds what it came to. */
static void end_segment(cu *c, kir_id i, kir_id loop, int64_t n, int64_t limit)
{
    const kir_inst *in = kir_at(c->k, i);
    gn_elem e = (gn_elem)kir_at(c->k, in->ref)->elem;
    const char *name = red_name[red_of(in)], *bits = bits_name(e);
    long long lanes = n / cu_vec(c, loop);
    const char *first = lanes > 1 ? gn_arena_printf(c->arena, "lane %% %lld == 0", lanes) : "";
    const char *within = limit ? gn_arena_printf(c->arena, "i%u < %lld", loop, (long long)limit)
                               : "";
    if (lanes > 1)
        cu_line(c, "r%u = gn_reduce_%s_%s(r%u, %lld, mask, 0);", i, name, bits, i, lanes);
    const char *to = gn_arena_printf(c->arena, "tile%u[(gn_u32)i%u / %lld]", in->ref, loop,
                                     (long long)n);
    if (*first || *within)
        cu_line(c, "if (%s%s%s)", first, *first && *within ? " && " : "", within);
    if (red_of(in) == KIR_SUM)
        cu_line(c, "%s%s = %s + r%u;", *first || *within ? "    " : "", to, to, i);
    else
        cu_line(c, "%s%s = gn_%s_%s(r%u, %s);", *first || *within ? "    " : "", to, name, bits, i,
                to);
}

void cu_segments_end(cu *c, kir_id loop, int64_t limit)
{
    for (kir_id i = kir_at(c->k, loop)->body; i; i = kir_at(c->k, i)->next)
        if (cu_segment(c, i)) end_segment(c, i, loop, cu_segment(c, i), limit);
}
