/* lower_level: nesting levels, integers and indices of the kernel that is being written.
 *
 * A level is an open block and a place in it.  While a deeper loop is open, the place is just
 * before that loop, so that what does not depend on the loop can still be put outside of it.
 * Integer arithmetic is folded and shared as it is made, for as long as the block that holds it is
 * open. */
#include "lower/lower_impl.h"

#include <math.h>
#include <string.h>

/* Levels --------------------------------------------------------------------------------------- */

kir_cursor *low_at(lower *L) { return &L->levels[L->depth].at; }

static void open_block(lower *L, kir_cursor after, kir_cursor body)
{
    L->levels[L->depth].after = after;
    if (L->depth + 1 == MAX_LEVELS) {
        low_fail(L, 0, "loops nest deeper than %d", MAX_LEVELS);
        return;
    }
    L->levels[++L->depth] = (level){.at = body};
}

kir_id low_open(lower *L, kir_id lo, kir_id hi, int64_t step, kir_unit unit, kir_race race)
{
    kir_cursor after = *low_at(L), body;
    kir_id loop = kir_for(L->k, &after, &body, lo, hi, step, unit, race);
    open_block(L, after, body);
    return loop;
}

kir_id low_open_n(lower *L, int64_t n, kir_unit unit, kir_race race)
{
    return low_open(L, low_iconst(L, 0), low_iconst(L, n), 1, unit, race);
}

kir_id low_open_unrolled(lower *L, int64_t n) { return low_open_n(L, n, KIR_UNROLL, KIR_NONE); }

kir_id low_open_if(lower *L, kir_id cond)
{
    kir_cursor after = *low_at(L), body;
    kir_id id = kir_if(L->k, &after, &body, cond);
    open_block(L, after, body);
    return id;
}

void low_close(lower *L)
{
    L->depth--;
    L->levels[L->depth].at = L->levels[L->depth].after;
    uint32_t n = 0;
    for (uint32_t i = 0; i < L->memos.n; i++)
        if (L->memos.p[i].level <= L->depth) L->memos.p[n++] = L->memos.p[i];
    L->memos.n = n;
    n = 0;
    for (uint32_t i = 0; i < L->int_memos.n; i++)
        if (L->int_memos.p[i].level <= L->depth) L->int_memos.p[n++] = L->int_memos.p[i];
    L->int_memos.n = n;
    n = 0;
    for (uint32_t i = 0; i < L->tiles.n; i++)
        if (L->tiles.p[i].level <= L->depth) L->tiles.p[n++] = L->tiles.p[i];
    L->tiles.n = n;
}

/* Rows ----------------------------------------------------------------------------------------- */

void low_row_of_block(lower *L, kir_id r)
{
    L->row = (where){.space = L->r->space, .level = L->depth, .in_block = r};
    L->row.row = low_int(L, KIR_IADD, L->block.base, r);
}

kir_id low_open_row(lower *L, int64_t n, kir_race rows)
{
    if (L->block.on) {
        kir_unit unit = n > 1 ? KIR_SERIAL : KIR_VECTOR;
        low_row_of_block(L, low_open(L, low_iconst(L, 0), L->block.rows, 1, unit, rows));
    }
    return n > 1 ? low_open_n(L, n, KIR_VECTOR, KIR_NONE) : low_iconst(L, 0);
}

void low_close_row(lower *L, int64_t n)
{
    if (n > 1) low_close(L);
    if (L->block.on) low_close(L);
}

int64_t low_stride(const lower *L, int64_t n) { return low_padded(&L->opt->limits, n); }

kir_id low_in_tile(lower *L, kir_id off, kir_id j)
{
    return off ? low_int(L, KIR_IADD, off, j) : j;
}

bool low_visible(const lower *L, int lev, kir_id owner)
{
    return lev <= L->depth && L->levels[lev].at.owner == owner;
}

/* Integers ------------------------------------------------------------------------------------- */

/* Constants are all made at the top, once a value. */
kir_id low_iconst(lower *L, int64_t v)
{
    for (uint32_t i = 0; i < L->int_memos.n; i++) {
        const int_memo *m = &L->int_memos.p[i];
        if (m->op == KIR_CONST && kir_at(L->k, m->result)->imm == v) return m->result;
    }
    kir_id c = kir_iconst(L->k, &L->levels[0].at, v);
    GN_PUSH(L->arena, L->int_memos, ((int_memo){KIR_CONST, 0, 0, c, 0, 0}));
    return c;
}

kir_id low_fconst(lower *L, gn_elem e, double v)
{
    return kir_fconst(L->k, &L->levels[0].at, e, v);
}

kir_id low_const(lower *L, gn_elem e, double v)
{
    if (gn_elem_is_float(e)) return low_fconst(L, e, v);
    return e == GN_BOOL ? kir_bconst(L->k, &L->levels[0].at, v != 0) : low_iconst(L, (int64_t)v);
}

kir_id low_start(lower *L, gn_elem e, int red)
{
    if (red == GIR_SUM) return low_const(L, e, 0);
    if (gn_elem_is_float(e)) return low_fconst(L, e, red == GIR_RED_MAX ? -INFINITY : INFINITY);
    return low_iconst(L, red == GIR_RED_MAX ? INT64_MIN : INT64_MAX);
}

static kir_id symbol(lower *L, int number) /* a low_sym */
{
    int k = kir_sym_add(L->k, L->out->syms.p[number].name);
    for (uint32_t i = 0; i < L->int_memos.n; i++) {
        const int_memo *m = &L->int_memos.p[i];
        if (m->op == KIR_SYM && kir_at(L->k, m->result)->imm == k) return m->result;
    }
    kir_id v = kir_sym(L->k, &L->levels[0].at, k);
    GN_PUSH(L->arena, L->int_memos, ((int_memo){KIR_SYM, 0, 0, v, 0, 0}));
    return v;
}

kir_id low_sym_value(lower *L, gir_space_id s, int64_t per)
{
    if (s == 0) return low_iconst(L, 1);
    const gir_space *sp = &L->p->spaces.p[s];
    if (sp->size >= 0) return low_iconst(L, (sp->size + per - 1) / per);
    return symbol(L, low_sym_of(L, s, per));
}

kir_id low_parts_value(lower *L, gir_id g, gn_graph_array ptr, int64_t n)
{
    return symbol(L, low_sym_of_parts(L, g, ptr, n));
}

kir_id low_count(lower *L, int64_t n) { return symbol(L, low_sym_of(L, 0, n)); }

kir_id low_int(lower *L, kir_op op, kir_id a, kir_id b)
{
    for (uint32_t i = L->int_memos.n; i-- > 0;) {
        const int_memo *m = &L->int_memos.p[i];
        if (m->op == op && m->a == a && m->b == b && low_visible(L, m->level, m->owner))
            return m->result;
    }
    kir_id v = kir_bin(L->k, low_at(L), op, a, b);
    GN_PUSH(L->arena, L->int_memos, ((int_memo){(uint8_t)op, a, b, v, L->depth, low_at(L)->owner}));
    return v;
}

kir_id low_times(lower *L, kir_id a, int64_t n)
{
    return low_int(L, KIR_IMUL, a, low_iconst(L, n));
}

kir_id low_scaled_add(lower *L, kir_id a, int64_t scale, kir_id b)
{
    return low_int(L, KIR_IADD, low_times(L, a, scale), b);
}

/* Indices -------------------------------------------------------------------------------------- */

low_ix low_index(const gir_type *t, kir_id lin)
{
    low_ix x = {.rank = t->rank, .lin = lin};
    for (int i = 0; i < t->rank; i++) x.dim[i] = t->dim[i];
    return x;
}

kir_id low_ix_lin(lower *L, low_ix *x)
{
    if (x->lin) return x->lin;
    kir_id at = low_iconst(L, 0);
    for (int i = 0; i < x->rank; i++)
        if (x->dim[i] > 1) at = low_scaled_add(L, at, x->dim[i], x->comp[i]);
    return x->lin = at;
}

void low_ix_comp(lower *L, low_ix *x)
{
    if (x->has_comp) return;
    int64_t stride = 1;
    for (int i = x->rank; i-- > 0;) {
        kir_id q = low_int(L, KIR_IDIV, x->lin, low_iconst(L, stride));
        bool first = true;
        for (int j = 0; j < i; j++) first = first && x->dim[j] == 1;
        x->comp[i] = x->dim[i] == 1 ? low_iconst(L, 0)
                     : first        ? q
                                    : low_int(L, KIR_IMOD, q, low_iconst(L, x->dim[i]));
        stride *= x->dim[i];
    }
    x->has_comp = true;
}
