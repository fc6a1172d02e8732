/* lower_terms: products of rows with a matrix of few columns, several terms of a sum side by side.
 *
 * Of a vector of the machine a row of seven columns fills half, and each term of a row is a load.
 * Here element j of a row of the register tile is `terms` lanes from j * terms on, of which lane t
 * sums the terms s with s mod terms = t, in order: one load brings that many neighbours of a row,
 * repeated over the vector, and no lane is idle.  At the end neighbours are added: 0 and 1, 2 and
 * 3, then those sums, until one is left.  So the order depends on `terms` alone (schedule_dense.c).
 *
 * B is packed likewise, terms that are beyond the last of a sum as zeros; those of A are not
 * read. */
#include "lower/lower_dense.h"

/* Lane l's term of the group that begins at s0 and has `left` terms; where there are fewer than
 * lanes, the last one again. */
static kir_id term_of(lower *L, kir_id l, kir_id s0, int64_t left, int64_t terms)
{
    kir_id t = low_int(L, KIR_IMOD, l, low_iconst(L, terms));
    if (left < terms) t = low_int(L, KIR_IMIN, t, low_iconst(L, left - 1));
    return low_int(L, KIR_IADD, s0, t);
}

/* x, or 0 in lanes that have no term. */
static kir_id if_there(lower *L, kir_id l, int64_t left, int64_t terms, gn_elem e, kir_id x)
{
    if (left >= terms) return x;
    kir_id t = low_int(L, KIR_IMOD, l, low_iconst(L, terms));
    kir_id there = kir_bin(L->k, low_at(L), KIR_ILT, t, low_iconst(L, left));
    return kir_select(L->k, low_at(L), there, x, low_fconst(L, e, 0));
}

static void pack_group(lower *L, matrix b, const tile_job *to, kir_id s0, int64_t left,
                       int64_t terms)
{
    int64_t lanes = to->cols * terms;
    kir_id row = low_scaled_add(L, s0, to->stride / terms, to->b.at);
    if (to->stride != lanes) {
        kir_id z = low_open_n(L, to->stride, KIR_VECTOR, KIR_NONE);
        kir_tstore(L->k, low_at(L), to->b.tile, low_int(L, KIR_IADD, row, z),
                   low_fconst(L, to->elem, 0));
        low_close(L);
    }
    kir_id l = low_open_n(L, lanes, KIR_VECTOR, KIR_NONE);
    kir_id j = low_int(L, KIR_IADD, to->j0, low_int(L, KIR_IDIV, l, low_iconst(L, terms)));
    kir_id x = dense_element(L, b, term_of(L, l, s0, left, terms), j);
    kir_id at = low_int(L, KIR_IADD, row, l);
    kir_tstore(L->k, low_at(L), to->b.tile, at, if_there(L, l, left, terms, to->elem, x));
    low_close(L);
}

static void add_group(lower *L, const tile_job *t, kir_id s0, int64_t left)
{
    int64_t terms = L->sched.terms;
    kir_id r = low_open_unrolled(L, t->rows), l = low_open_n(L, t->stride, KIR_VECTOR, KIR_NONE);
    kir_id i = low_int(L, KIR_IADD, t->i0, r),
           a = dense_element(L, t->a, i, term_of(L, l, s0, left, terms));
    kir_id at = low_scaled_add(L, s0, t->stride / terms, t->b.at);
    kir_id b = kir_tload(L->k, low_at(L), t->b.tile, low_int(L, KIR_IADD, at, l));
    kir_id to = low_scaled_add(L, r, t->stride, l);
    kir_tfma(L->k, low_at(L), t->tile, to, if_there(L, l, left, terms, t->elem, a), b);
    low_close(L);
    low_close(L);
}

void low_pack_terms(lower *L, matrix b, int64_t depth, const tile_job *to, int64_t terms)
{
    int64_t whole = depth / terms * terms;
    if (whole) {
        kir_id s0 = low_open(L, low_iconst(L, 0), low_iconst(L, whole), terms, KIR_SERIAL,
                             KIR_NONE);
        pack_group(L, b, to, s0, terms, terms);
        low_close(L);
    }
    if (depth > whole) pack_group(L, b, to, low_iconst(L, whole), depth - whole, terms);
}

void low_multiply_terms(lower *L, const tile_job *t, int64_t depth)
{
    int64_t terms = L->sched.terms, whole = depth / terms * terms;
    if (whole) {
        kir_id s0 = low_open(L, low_iconst(L, 0), low_iconst(L, whole), terms, KIR_SERIAL,
                             KIR_REDUCE);
        add_group(L, t, s0, terms);
        low_close(L);
    }
    if (depth > whole) add_group(L, t, low_iconst(L, whole), depth - whole);
}

/* Neighbours are shuffled out of whole vectors, so that rows of what is added again are whole
 * vectors, too. */
kir_id low_sum_terms(lower *L, const tile_job *t)
{
    kir_id from = t->tile;
    int64_t wide = t->stride;
    for (int64_t n = L->sched.terms / 2; n >= 1; n /= 2) {
        int64_t stride = low_stride(L, t->cols * n);
        if (n > 1 && stride < L->opt->limits.lanes) stride = L->opt->limits.lanes;
        kir_id to = kir_tile(L->k, low_at(L), t->elem, t->rows * stride);
        kir_id r = low_open_unrolled(L, t->rows),
               l = low_open_n(L, t->cols * n, KIR_VECTOR, KIR_NONE);
        kir_id at = low_scaled_add(L, r, wide, low_times(L, l, 2));
        kir_id x = kir_tload(L->k, low_at(L), from, at);
        kir_id y = kir_tload(L->k, low_at(L), from, low_int(L, KIR_IADD, at, low_iconst(L, 1)));
        kir_id sum = kir_bin(L->k, low_at(L), KIR_FADD, x, y);
        kir_tstore(L->k, low_at(L), to, low_scaled_add(L, r, stride, l), sum);
        low_close(L);
        low_close(L);
        from = to;
        wide = stride;
    }
    return from;
}
