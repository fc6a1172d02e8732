/* lower_fragments: the inner part of a product whose tiles a block of lanes shares (lower_block.c),
 * made by warps that multiply fragments: 16 x 8 elements at a time, of operands that were rounded
 * when they were brought.
 *
 * A warp makes tile_rows x tile_cols elements, which lie in its lanes' registers in the order of
 * the fragments (kir.h).  Operands lie as they are brought, so that neighbours in memory are
 * neighbours there, and so that what a warp reads at a time lies in different banks, or in one
 * word: term by term, rows are 16 bytes longer than the terms they hold, which keeps 16 bytes
 * aligned, too; row by row, terms are 8 or 24 elements apart, modulo 32.  That is so for elements
 * of four bytes and of two. The tile of the operands is one of the loop over terms: when all have
 * been added, the finished elements may take its memory. */
#include "lower/lower_block.h"

/* `width` elements of a term, and a gap. */
static int64_t apart(int64_t width)
{
    while (width % 32 != 8 && width % 32 != 24) width += 8;
    return width;
}

/* The terms of a row, and a gap. */
static int64_t row_length(const low_schedule *s)
{
    return s->block_depth + 16 / (int64_t)gn_elem_size(kir_kinds[s->kind].elem);
}

static panel panel_at(const low_schedule *s, int64_t from, int64_t width, bool along_depth)
{
    if (along_depth) return (panel){0, from, row_length(s), 1};
    return (panel){0, from, 1, apart(width)};
}

static int64_t elems_of(const low_schedule *s, const panel *p, int64_t width)
{
    return p->term == 1 ? width * p->outer : s->block_depth * p->term;
}

void low_fragment_parts(lower *L, block_job *j)
{
    const low_schedule *s = &L->sched;
    j->a_part = panel_at(s, 0, s->block_rows, low_is_along_depth(&j->a, true));
    int64_t left = elems_of(s, &j->a_part, s->block_rows);
    j->b_part = panel_at(s, left, s->block_cols, low_is_along_depth(&j->b, false));
    int64_t all = left + elems_of(s, &j->b_part, s->block_cols);
    j->a_part.tile = j->b_part.tile = kir_tile(L->k, low_at(L), kir_kinds[s->kind].elem, all);
}

/* Where the elements of a warp begin. */
static void warp_place(lower *L, kir_id warp, kir_id *row, kir_id *col)
{
    const low_schedule *s = &L->sched;
    kir_id across = low_iconst(L, s->block_cols / s->tile_cols);
    *row = low_times(L, low_int(L, KIR_IDIV, warp, across), s->tile_rows);
    *col = low_times(L, low_int(L, KIR_IMOD, warp, across), s->tile_cols);
}

/* Of element (w, s) of what was brought. */
static kir_place place_in(lower *L, const panel *p, kir_id w, kir_id s)
{
    kir_id at = low_scaled_add(L, w, p->outer, low_times(L, s, p->term));
    return (kir_place){p->tile, low_int(L, KIR_IADD, at, low_iconst(L, p->from))};
}

static kir_id plus(lower *L, kir_id base, kir_id times, int64_t step)
{
    return low_int(L, KIR_IADD, base, low_times(L, times, step));
}

void low_fragment_multiply(lower *L, const block_job *j)
{
    const low_schedule *s = &L->sched;
    const kir_kind_info *k = &kir_kinds[s->kind];
    int64_t across = s->tile_cols / k->cols;
    kir_mma m = {s->kind,
                 (int)j->each,
                 (int)j->a_part.outer,
                 (int)j->a_part.term,
                 (int)j->b_part.outer,
                 (int)j->b_part.term};
    kir_id row, col, warp = low_open_n(L, j->lanes / KIR_WARP_LANES, KIR_WARP, KIR_NONE);
    warp_place(L, warp, &row, &col);
    kir_id depth = low_iconst(L, s->block_depth);
    kir_id term = low_open(L, low_iconst(L, 0), depth, k->depth, KIR_UNROLL, KIR_REDUCE);
    kir_id r = low_open_unrolled(L, s->tile_rows / k->rows), c = low_open_unrolled(L, across);
    kir_id first = low_scaled_add(L, warp, KIR_WARP_LANES * j->each,
                                  plus(L, plus(L, low_iconst(L, 0), r, 4 * across), c, 4));
    kir_place left = place_in(L, &j->a_part, plus(L, row, r, k->rows), term);
    kir_place right = place_in(L, &j->b_part, plus(L, col, c, k->cols), term);
    kir_mma_add(L->k, low_at(L), &m, (kir_place){j->acc, first}, left, right);
    for (int d = 0; d < 4; d++) low_close(L);
}

/* Element (r, c) of a fragment, of the two by two that a lane has: eight rows and one column
 * apart. */
void low_fragment_leave(lower *L, block_job *j)
{
    const low_schedule *s = &L->sched;
    const kir_kind_info *k = &kir_kinds[s->kind];
    int64_t across = s->tile_cols / k->cols, stride = low_shared_stride(L);
    j->shared = kir_tile(L->k, low_at(L), j->elem, s->block_rows * stride);
    kir_id lane = low_open_n(L, j->lanes, KIR_LANE, KIR_NONE), row, col;
    kir_id lanes = low_iconst(L, KIR_WARP_LANES), four = low_iconst(L, 4);
    kir_id in_warp = low_int(L, KIR_IMOD, lane, lanes);
    warp_place(L, low_int(L, KIR_IDIV, lane, lanes), &row, &col);
    row = low_int(L, KIR_IADD, row, low_int(L, KIR_IDIV, in_warp, four));
    col = plus(L, col, low_int(L, KIR_IMOD, in_warp, four), 2);
    kir_id down = low_open_unrolled(L, s->tile_rows / k->rows),
           right = low_open_unrolled(L, across);
    kir_id half = low_open_unrolled(L, 2), next = low_open_unrolled(L, 2);
    kir_id number = plus(L, plus(L, plus(L, next, half, 2), right, 4), down, 4 * across);
    kir_id x = kir_tload(L->k, low_at(L), j->acc, low_scaled_add(L, lane, j->each, number));
    kir_id at_row = plus(L, plus(L, row, down, k->rows), half, 8);
    kir_id at_col = low_int(L, KIR_IADD, plus(L, col, right, k->cols), next);
    kir_tstore(L->k, low_at(L), j->shared, low_scaled_add(L, at_row, stride, at_col), x);
    for (int d = 0; d < 5; d++) low_close(L);
}
