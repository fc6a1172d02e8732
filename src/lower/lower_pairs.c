/* lower_pairs: products whose operands are rounded to BF16, for lanes that multiply two terms at
 * once (TDOT).
 *
 * Of rows with a matrix: a block's rows are rounded to a tile once, before its panels, each to an
 * even number of terms.  B is packed as for two terms side by side (lower_terms.c): terms 2 t and 2
 * t + 1 of a column are neighbours, which is a lane's pair. Of contractions over rows both operands
 * lie like that, two rows side by side, as many as a block has. The register tile holds float32
 * sums, a column a lane, and is what it is without pairs; so is all that is done to it. */
#include "lower/lower_dense.h"

int64_t low_pair_length(int64_t depth) { return depth + depth % 2; }

kir_id low_round_rows(lower *L, matrix a, int64_t depth, kir_id begin, kir_id end, int64_t rows)
{
    int64_t length = low_pair_length(depth);
    kir_id tile = kir_tile(L->k, low_at(L), GN_BF16, rows * length);
    kir_id i = low_open(L, begin, end, 1, KIR_SERIAL, KIR_NONE);
    kir_id to = low_times(L, low_int(L, KIR_ISUB, i, begin), length);
    kir_id s = low_open_n(L, depth, KIR_VECTOR, KIR_NONE);
    kir_id at = low_int(L, KIR_IADD, to, s), x = dense_element(L, a, i, s);
    kir_tstore(L->k, low_at(L), tile, at, x);
    low_close(L);
    if (length > depth) {
        kir_id last = low_int(L, KIR_IADD, to, low_iconst(L, depth));
        kir_tstore(L->k, low_at(L), tile, last, low_fconst(L, GN_F32, 0));
    }
    low_close(L);
    return tile;
}

void low_multiply_pairs(lower *L, const tile_job *t, int64_t depth, kir_id begin)
{
    int64_t length = low_pair_length(depth);
    kir_id s = low_open(L, low_iconst(L, 0), low_iconst(L, length), 2, KIR_SERIAL, KIR_REDUCE);
    kir_id r = low_open_unrolled(L, t->rows);
    kir_id row = low_int(L, KIR_IADD, low_int(L, KIR_ISUB, t->i0, begin), r);
    kir_place left = {t->a.tile, low_scaled_add(L, row, length, s)};
    kir_id j = low_open_n(L, t->stride, KIR_VECTOR, KIR_NONE);
    kir_id term = low_scaled_add(L, s, t->stride, t->b.at);
    kir_place right = {t->b.tile, low_scaled_add(L, j, 2, term)},
              to = {t->tile, low_scaled_add(L, r, t->stride, j)};
    kir_tdot(L->k, low_at(L), to, left, right);
    low_close(L);
    low_close(L);
    low_close(L);
}

/* Two rows from `row` on, the second of zeros where there is one alone, side by side from tile[at]
 * on. */
static void pair_rows(lower *L, matrix x, kir_id row, bool alone, int64_t cols, kir_id tile,
                      kir_id at)
{
    kir_id two = low_iconst(L, 2), l = low_open_n(L, 2 * cols, KIR_VECTOR, KIR_NONE);
    kir_id second = low_int(L, KIR_IMOD, l, two), col = low_int(L, KIR_IDIV, l, two);
    kir_id value = dense_element(L, x, alone ? row : low_int(L, KIR_IADD, row, second), col);
    if (alone) {
        kir_id first = kir_bin(L->k, low_at(L), KIR_IEQ, second, low_iconst(L, 0));
        value = kir_select(L->k, low_at(L), first, value, low_fconst(L, GN_F32, 0));
    }
    kir_tstore(L->k, low_at(L), tile, low_int(L, KIR_IADD, at, l), value);
    low_close(L);
}

kir_id low_round_pairs(lower *L, matrix x, int64_t cols, kir_id lo, kir_id hi, int64_t rows)
{
    int64_t each = 2 * low_stride(L, cols);
    kir_id tile = kir_tile(L->k, low_at(L), GN_BF16, low_pair_length(rows) / 2 * each),
           two = low_iconst(L, 2);
    kir_id whole = low_int(L, KIR_IDIV, low_int(L, KIR_ISUB, hi, lo), two);
    kir_id q = low_open(L, low_iconst(L, 0), whole, 1, KIR_SERIAL, KIR_NONE);
    kir_id first = low_scaled_add(L, q, 2, lo), at = low_times(L, q, each);
    pair_rows(L, x, first, false, cols, tile, at);
    low_close(L);
    kir_id last = low_scaled_add(L, whole, 2, lo);
    low_open_if(L, kir_bin(L->k, low_at(L), KIR_ILT, last, hi));
    pair_rows(L, x, last, true, cols, tile, low_times(L, whole, each));
    low_close(L);
    return tile;
}

void low_contract_pairs(lower *L, const tile_job *t)
{
    kir_id rows = low_int(L, KIR_ISUB, t->hi, t->lo), two = low_iconst(L, 2);
    kir_id half = low_int(L, KIR_IDIV, low_int(L, KIR_IADD, rows, low_iconst(L, 1)), two);
    kir_id s = low_open(L, low_iconst(L, 0), half, 1, KIR_SERIAL, KIR_REDUCE);
    kir_id r = low_open_unrolled(L, t->rows);
    kir_id i = low_int(L, KIR_IADD, t->i0, r);
    kir_place left = {t->a.tile, low_scaled_add(L, i, 2, low_times(L, s, t->a.si))};
    kir_id j = low_open_n(L, t->cols, KIR_VECTOR, KIR_NONE);
    kir_id col = low_int(L, KIR_IADD, t->j0, j);
    kir_place right = {t->b.tile, low_scaled_add(L, col, 2, low_times(L, s, t->b.si))};
    kir_place to = {t->tile, low_scaled_add(L, r, t->stride, j)};
    kir_tdot(L->k, low_at(L), to, left, right);
    low_close(L);
    low_close(L);
    low_close(L);
}
