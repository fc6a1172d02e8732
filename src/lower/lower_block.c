/* lower_block: products whose tiles a block of lanes shares, for machines with memory for that
 * (limits.shared_bytes).
 *
 * A block makes block_rows x block_cols elements of a product, block_depth terms at a time: its
 * lanes bring that much of both operands into shared tiles, meet, and each adds to a tile of
 * tile_rows x tile_cols of its own; they meet again before the next terms come.  What lies beyond
 * an operand's end is read as its last row or column and counts as zero.  The sum of an element is
 * taken in order, term by term.
 *
 * With fragments warps multiply what was brought (lower_fragments.c).
 *
 * GEMM: a block takes rows, and panels of columns one after another; elementwise members of the
 * region are applied before a lane stores.  INNER: a block takes one tile of a chunk's partial
 * product.  The schedule declines products that are too small to share, and leaves those that sums
 * ride on to the loops of lower_gemm.c (low_schedule_dense). */
#include "lower/lower_block.h"

bool low_is_along_depth(const matrix *m, bool is_left)
{
    return (is_left ? m->sj : m->si) == 1 && (is_left ? m->si : m->sj) != 1;
}

/* So that lanes that store one column hit other banks. */
int64_t low_shared_stride(const lower *L) { return L->sched.block_cols + LOW_SHARED_APART; }

static void declare_tiles(lower *L, block_job *j)
{
    const low_schedule *s = &L->sched;
    int64_t parts = s->block_rows / s->tile_rows * (s->block_cols / s->tile_cols);
    int64_t a_stride = s->block_rows + LOW_SHARED_APART;
    j->lanes = s->fragments ? parts * KIR_WARP_LANES : parts;
    j->each = s->block_rows * s->block_cols / j->lanes;
    j->acc = kir_tile(L->k, low_at(L), j->elem, s->block_rows * s->block_cols);
    if (s->fragments) return;
    j->a_part = (panel){kir_tile(L->k, low_at(L), j->elem, s->block_depth * a_stride), 0, 1,
                        a_stride};
    j->b_part = (panel){kir_tile(L->k, low_at(L), j->elem, s->block_depth * s->block_cols), 0, 1,
                        s->block_cols};
}

static void clear(lower *L, const block_job *j)
{
    kir_id lane = low_open_n(L, j->lanes, KIR_LANE, KIR_NONE);
    kir_id e = low_open_unrolled(L, j->each);
    kir_tstore(L->k, low_at(L), j->acc, low_scaled_add(L, lane, j->each, e),
               low_fconst(L, j->elem, 0));
    low_close(L);
    low_close(L);
}

/* One operand's part of the terms from s0 on: `width` rows of A or columns of B.  Lanes run along
 * the direction in which memory does. */
static void bring(lower *L, const block_job *j, bool is_a, kir_id s0, int64_t width)
{
    const matrix m = is_a ? j->a : j->b;
    const panel *to = is_a ? &j->a_part : &j->b_part;
    int64_t depth = L->sched.block_depth;
    bool along_depth = low_is_along_depth(&m, is_a);
    kir_id lane = low_open_n(L, j->lanes, KIR_LANE, KIR_NONE);
    kir_id part = low_open_n(L, width * depth / j->lanes, KIR_SERIAL, KIR_NONE);
    kir_id e = low_scaled_add(L, part, j->lanes, lane),
           by = low_iconst(L, along_depth ? depth : width);
    kir_id fast = low_int(L, KIR_IMOD, e, by), slow = low_int(L, KIR_IDIV, e, by);
    kir_id s = along_depth ? fast : slow, w = along_depth ? slow : fast, one = low_iconst(L, 1);
    kir_id term = low_int(L, KIR_IADD, s0, s), last = low_int(L, KIR_ISUB, j->hi, one);
    kir_id at = low_int(L, KIR_IADD, is_a ? j->i0 : j->j0, w);
    at = low_int(L, KIR_IMIN, at, low_int(L, KIR_ISUB, is_a ? j->rows : j->cols, one));
    kir_id known = j->whole_depth ? term : low_int(L, KIR_IMIN, term, last);
    kir_id x = is_a ? dense_element(L, m, at, known) : dense_element(L, m, known, at);
    if (!j->whole_depth) {
        kir_id there = kir_bin(L->k, low_at(L), KIR_ILT, term, j->hi);
        x = kir_select(L->k, low_at(L), there, x, low_fconst(L, j->elem, 0));
    }
    /* where storing does not */
    bool rounded = L->sched.fragments && kir_kinds[L->sched.kind].elem == GN_F32;
    if (rounded) x = kir_round(L->k, low_at(L), x, L->sched.kind);
    kir_id place = low_scaled_add(L, s, to->term, low_times(L, w, to->outer));
    kir_tstore(L->k, low_at(L), to->tile, low_int(L, KIR_IADD, place, low_iconst(L, to->from)), x);
    low_close(L);
    low_close(L);
}

static void lane_place(lower *L, kir_id lane, kir_id *row, kir_id *col)
{
    const low_schedule *s = &L->sched;
    kir_id across = low_iconst(L, s->block_cols / s->tile_cols);
    *row = low_times(L, low_int(L, KIR_IDIV, lane, across), s->tile_rows);
    *col = low_times(L, low_int(L, KIR_IMOD, lane, across), s->tile_cols);
}

/* `n` neighbours of a term of what was brought, from `first` on, to a tile of the lane's own. */
static kir_id take(lower *L, const block_job *j, const panel *from, kir_id k, kir_id first,
                   int64_t n)
{
    kir_id tile = kir_tile(L->k, low_at(L), j->elem, n), e = low_open_unrolled(L, n);
    kir_id at = low_scaled_add(L, k, from->term, low_int(L, KIR_IADD, first, e));
    kir_tstore(L->k, low_at(L), tile, e, kir_tload(L->k, low_at(L), from->tile, at));
    low_close(L);
    return tile;
}

static void add_terms(lower *L, const block_job *j)
{
    const low_schedule *s = &L->sched;
    kir_id lane = low_open_n(L, j->lanes, KIR_LANE, KIR_NONE), row, col;
    lane_place(L, lane, &row, &col);
    kir_id k = low_open_n(L, s->block_depth, KIR_SERIAL, KIR_REDUCE);
    kir_id a = take(L, j, &j->a_part, k, row, s->tile_rows),
           b = take(L, j, &j->b_part, k, col, s->tile_cols);
    kir_id r = low_open_unrolled(L, s->tile_rows), x = kir_tload(L->k, low_at(L), a, r);
    kir_id c = low_open_unrolled(L, s->tile_cols), y = kir_tload(L->k, low_at(L), b, c);
    kir_tfma(L->k, low_at(L), j->acc,
             low_scaled_add(L, lane, j->each, low_scaled_add(L, r, s->tile_cols, c)), x, y);
    for (int d = 0; d < 4; d++) low_close(L);
}

/* a and b over [lo, hi), added to what the lanes have. */
static void add_product(lower *L, block_job *j)
{
    kir_id s0 = low_open(L, j->lo, j->hi, L->sched.block_depth, KIR_SERIAL, KIR_ORDERED);
    kir_barrier(L->k, low_at(L)); /* nobody reads what was brought before */
    if (L->sched.fragments) low_fragment_parts(L, j);
    bring(L, j, true, s0, L->sched.block_rows);
    bring(L, j, false, s0, L->sched.block_cols);
    kir_barrier(L->k, low_at(L));
    if (L->sched.fragments)
        low_fragment_multiply(L, j);
    else
        add_terms(L, j);
    low_close(L);
}

/* Lanes leave their elements in a tile that they share. */
static void leave(lower *L, block_job *j)
{
    const low_schedule *s = &L->sched;
    int64_t stride = low_shared_stride(L);
    kir_id row, col;
    j->shared = kir_tile(L->k, low_at(L), j->elem, s->block_rows * stride);
    kir_id lane = low_open_n(L, j->lanes, KIR_LANE, KIR_NONE);
    lane_place(L, lane, &row, &col);
    kir_id r = low_open_unrolled(L, s->tile_rows),
           to = low_scaled_add(L, low_int(L, KIR_IADD, row, r), stride, col);
    kir_id c = low_open_unrolled(L, s->tile_cols);
    kir_id x = kir_tload(L->k, low_at(L), j->acc,
                         low_scaled_add(L, lane, j->each, low_scaled_add(L, r, s->tile_cols, c)));
    kir_tstore(L->k, low_at(L), j->shared, low_int(L, KIR_IADD, to, c), x);
    for (int d = 0; d < 3; d++) low_close(L);
}

/* `element` at every element of the block that the product has.  Lanes leave theirs where all see
 * them, and take them as they lie in memory: the code for one of them is written once, and stores
 * of neighbours go together. */
static void each_element(lower *L, block_job *j,
                         void (*element)(lower *, const block_job *, kir_id, kir_id, kir_id))
{
    const low_schedule *s = &L->sched;
    int64_t stride = low_shared_stride(L);
    if (s->fragments) {
        kir_barrier(L->k, low_at(L)); /* lanes take what warps have added up */
        low_fragment_leave(L, j);
    } else {
        leave(L, j);
    }
    kir_barrier(L->k, low_at(L));
    kir_id lane = low_open_n(L, j->lanes, KIR_LANE, KIR_NONE);
    kir_id part = low_open_n(L, s->block_rows * s->block_cols / j->lanes, KIR_SERIAL, KIR_NONE);
    kir_id e = low_scaled_add(L, part, j->lanes, lane), width = low_iconst(L, s->block_cols);
    kir_id row = low_int(L, KIR_IDIV, e, width), col = low_int(L, KIR_IMOD, e, width);
    kir_id i = low_int(L, KIR_IADD, j->i0, row), at = low_int(L, KIR_IADD, j->j0, col);
    kir_id there = kir_bin(L->k, low_at(L), KIR_ILT, i, j->rows);
    if (!j->whole_cols)
        there = kir_bin(L->k, low_at(L), KIR_AND, there,
                        kir_bin(L->k, low_at(L), KIR_ILT, at, j->cols));
    low_open_if(L, there);
    L->row = (where){.space = L->r->space, .row = i, .level = L->depth};
    element(L, j, i, at, low_scaled_add(L, row, stride, col));
    for (int d = 0; d < 3; d++) low_close(L);
}

/* GEMM ----------------------------------------------------------------------------------------- */

static void finish_element(lower *L, const block_job *j, kir_id i, kir_id at, kir_id place)
{
    const region *r = L->r;
    if (r->space == 0) {
        int b = low_kernel_buffer(L, low_buffer_of_value(L, j->product), KIR_WRITE);
        int64_t n = fu_elems(L->p, j->product) / gir_type_of(L->p, j->product)->dim[0];
        low_store_from(L, b, low_scaled_add(L, i, n, at), j->shared, place);
        return;
    }
    kir_id *value = GN_NEW_N(L->arena, kir_id, r->members.n);
    L->product = j->product;
    L->product_tile = j->shared;
    L->product_at = place;
    for (uint32_t m = 0; m < r->members.n; m++) {
        low_ix x = low_index(gir_type_of(L->p, r->members.p[m]), at);
        if (L->f->stored[r->members.p[m]]) value[m] = low_value(L, r->members.p[m], &L->row, &x);
    }
    for (uint32_t m = 0; m < r->members.n; m++)
        if (L->f->stored[r->members.p[m]])
            low_store_value(L, r->members.p[m], &L->row, at, value[m]);
    L->product = 0;
}

void low_gemm_block(lower *L, gir_id product, int products, const factors *f, int64_t n)
{
    const region *r = L->r;
    const gir_type *t = gir_type_of(L->p, product);
    block_job j = {.elem = low_elem((gn_elem)t->elem), .product = product};
    int64_t rows = L->sched.block_rows, cols = L->sched.block_cols;
    low_begin(L, "gemm");
    low_note_precision(L);
    j.rows = r->space ? low_sym_value(L, r->space, 1) : low_iconst(L, t->dim[0]);
    L->launch.trip = r->space ? (low_size){.coef = 1, .sym = low_sym_of(L, r->space, 1)}
                              : (low_size){.coef = t->dim[0], .sym = -1};
    L->launch.step = rows;
    j.cols = low_iconst(L, n);
    j.lo = low_iconst(L, 0);
    j.whole_cols = n % cols == 0;
    j.i0 = low_open(L, low_iconst(L, 0), j.rows, rows, KIR_BLOCK, KIR_NONE);
    j.j0 = low_iconst(L, 0);
    if (n > cols) j.j0 = low_open(L, low_iconst(L, 0), j.cols, cols, KIR_SERIAL, KIR_NONE);
    declare_tiles(L, &j);
    clear(L, &j);
    for (int k = 0; k < products; k++) {
        low_of(L, f[k].value);
        j.a = f[k].a;
        j.b = f[k].b;
        j.hi = low_iconst(L, f[k].depth);
        j.whole_depth = f[k].depth % L->sched.block_depth == 0;
        add_product(L, &j);
    }
    low_of(L, product);
    each_element(L, &j, finish_element);
    if (n > cols) low_close(L);
    low_close(L);
    low_end(L);
}

/* INNER ---------------------------------------------------------------------------------------- */

typedef struct partial {
    block_job j; /* first: each_element hands it on */
    int buffer;
    kir_id base;
    int64_t n;
} partial;

static void store_partial(lower *L, const block_job *j, kir_id i, kir_id at, kir_id place)
{
    const partial *p = (const partial *)(const void *)j;
    int b = low_kernel_buffer(L, p->buffer, KIR_WRITE);
    kir_id to = low_int(L, KIR_IADD, p->base, low_scaled_add(L, i, p->n, at));
    low_store_from(L, b, to, j->shared, place);
}

void low_inner_block(lower *L, matrix a, matrix b, int64_t m, int64_t n, int part)
{
    gir_space_id s = L->r->space;
    int64_t chunk = L->sched.chunk_rows, rows = L->sched.block_rows, cols = L->sched.block_cols;
    int64_t down = (m + rows - 1) / rows, across = (n + cols - 1) / cols;
    partial p = {.j = {.a = a, .b = b, .elem = GN_F32, .product = L->r->members.p[0]},
                 .buffer = part,
                 .n = n};
    block_job *j = &p.j;
    low_begin(L, "inner");
    low_note_precision(L);
    L->launch.trip = (low_size){.coef = down * across, .sym = low_sym_of(L, s, chunk)};
    L->launch.step = 1;
    kir_id end = low_sym_value(L, s, 1), tiles = low_iconst(L, down * across),
           wide = low_iconst(L, across);
    kir_id blocks = low_int(L, KIR_IMUL, low_sym_value(L, s, chunk), tiles);
    kir_id block = low_open(L, low_iconst(L, 0), blocks, 1, KIR_BLOCK, KIR_NONE);
    kir_id number = low_int(L, KIR_IDIV, block, tiles), tile = low_int(L, KIR_IMOD, block, tiles);
    j->rows = low_iconst(L, m);
    j->cols = low_iconst(L, n);
    j->i0 = low_times(L, low_int(L, KIR_IDIV, tile, wide), rows);
    j->j0 = low_times(L, low_int(L, KIR_IMOD, tile, wide), cols);
    j->lo = low_times(L, number, chunk);
    j->hi = low_int(L, KIR_IMIN, low_int(L, KIR_IADD, j->lo, low_iconst(L, chunk)), end);
    j->whole_cols = n % cols == 0;
    p.base = low_times(L, number, m * n);
    declare_tiles(L, j);
    clear(L, j);
    add_product(L, j);
    each_element(L, j, store_partial);
    low_close(L);
    low_end(L);
}
