/* lower_inner: products that contract over the rows of a space, as gradients of weights are.
 *
 * out[i, j] = sum_r A[r, i] B[r, j].  A worker takes a chunk of rows and makes a partial product of
 * it; the partial products are added in order.  Within a chunk, rows go block by block: a block of
 * both operands stays in cache while every register tile of the partial product is loaded, added to
 * and stored again.
 *
 * Lanes run over the columns of B, or, where that fills them better (`swap`), over those of A: the
 * partial products are then transposed, and turned round as they are added. */
#include "lower/lower_dense.h"

typedef struct inner {
    matrix a, b; /* a(i, row), b(row, j) */
    int64_t m, n;
    kir_id lo, hi, base; /* rows at hand; where the partial product begins */
    kir_id i0, j0;
    int64_t rows, cols;
    gn_elem elem;
    int part;
    bool blocks; /* a chunk takes several passes */
} inner;

static void inner_tile(lower *L, kir_id i0, int64_t rows, void *ctx)
{
    inner *g = ctx;
    tile_job t = {.a = g->a,
                  .b = g->b,
                  .i0 = i0,
                  .j0 = g->j0,
                  .rows = rows,
                  .cols = g->cols,
                  .stride = low_stride(L, g->cols),
                  .lo = g->lo,
                  .hi = g->hi,
                  .elem = g->elem};
    kir_id at = low_scaled_add(L, i0, g->n, low_int(L, KIR_IADD, g->base, g->j0));
    if (g->blocks)
        dense_load(L, &t, g->part, at, g->n);
    else
        dense_zero(L, &t);
    if (L->sched.pairs)
        low_contract_pairs(L, &t);
    else
        dense_multiply(L, &t);
    dense_store(L, &t, g->part, at, g->n);
}

static void inner_panel(lower *L, kir_id j0, int64_t cols, void *ctx)
{
    inner *g = ctx;
    g->j0 = j0;
    g->cols = cols;
    dense_tiles(L, g->m, L->sched.tile_rows, inner_tile, g);
}

static matrix turned(matrix x) { return (matrix){x.buffer, x.sj, x.si, x.tile, x.at}; }

/* Rows [lo, hi) of a chunk. */
static void inner_chunk(lower *L, inner *g, kir_id lo, kir_id hi)
{
    int64_t block = L->sched.block_rows;
    g->lo = lo;
    g->hi = hi;
    g->blocks = block < L->sched.chunk_rows;
    if (g->blocks) {
        int b = low_kernel_buffer(L, g->part, KIR_WRITE);
        kir_id z = low_open_n(L, g->m * g->n, KIR_VECTOR, KIR_NONE);
        kir_store(L->k, low_at(L), b, low_int(L, KIR_IADD, g->base, z), low_fconst(L, g->elem, 0));
        low_close(L);
        g->lo = low_open(L, lo, hi, block, KIR_SERIAL, KIR_ORDERED);
        g->hi = low_int(L, KIR_IMIN, low_int(L, KIR_IADD, g->lo, low_iconst(L, block)), hi);
    }
    matrix a = g->a, b = g->b;
    if (L->sched.pairs) {
        kir_id left = low_round_pairs(L, turned(a), g->m, g->lo, g->hi, block);
        kir_id right = low_round_pairs(L, b, g->n, g->lo, g->hi, block);
        g->a = (matrix){.tile = left, .si = 2 * low_stride(L, g->m)};
        g->b = (matrix){.tile = right, .si = 2 * low_stride(L, g->n)};
    }
    dense_tiles(L, g->n, L->sched.tile_cols, inner_panel, g);
    g->a = a;
    g->b = b;
    if (g->blocks) low_close(L);
}

/* out[i0 + i, j] = the sum over chunks c of part[c, j, i0 + i], i in [0, cols) */
static void turn_columns(lower *L, kir_id i0, int64_t cols, void *ctx)
{
    const inner *g = ctx;
    gir_id v = L->r->members.p[0];
    kir_id chunks = low_sym_value(L, L->r->space, L->sched.chunk_rows), j = g->j0;
    tile_job t = {.rows = 1, .cols = cols, .stride = cols, .elem = g->elem};
    dense_zero(L, &t);
    kir_id c = low_open(L, low_iconst(L, 0), chunks, 1, KIR_SERIAL, KIR_REDUCE);
    kir_id base = low_scaled_add(L, low_scaled_add(L, c, g->m, j), g->n, i0);
    kir_id i = low_open_n(L, cols, KIR_VECTOR, KIR_NONE);
    kir_id x = low_load(L, g->part, low_int(L, KIR_IADD, base, i));
    kir_tacc(L->k, low_at(L), KIR_SUM, t.tile, i, x);
    low_close(L);
    low_close(L);
    int b = low_kernel_buffer(L, low_buffer_of_value(L, v), KIR_WRITE);
    kir_id o = low_open_n(L, cols, KIR_VECTOR, KIR_NONE);
    kir_id sum = kir_tload(L->k, low_at(L), t.tile, o);
    kir_store(L->k, low_at(L), b, low_scaled_add(L, low_int(L, KIR_IADD, i0, o), g->m, j), sum);
    low_close(L);
}

static void finish_turned(lower *L, inner *g)
{
    enum { WIDTH = 128 };
    low_begin(L, "finish");
    L->launch.trip = (low_size){.coef = g->m, .sym = -1};
    g->j0 = low_open(L, low_iconst(L, 0), low_iconst(L, g->m), 1, KIR_THREAD, KIR_NONE);
    dense_tiles(L, g->n, WIDTH, turn_columns, g);
    low_close(L);
    low_end(L);
}

static inner inner_of(lower *L, gir_id v)
{
    const gir_type *t = gir_type_of(L->p, v);
    int64_t m = t->dim[0], n = t->dim[1];
    matrix a = {low_buffer_read(L, gir_in(L->p, v, 0)), 1, m, 0, 0};
    matrix b = {low_buffer_read(L, gir_in(L->p, v, 1)), n, 1, 0, 0};
    inner g = {.a = a, .b = b, .m = m, .n = n, .elem = low_elem((gn_elem)t->elem)};
    if (L->sched.swap) {
        g.a = (matrix){b.buffer, 1, n, 0, 0};
        g.b = (matrix){a.buffer, m, 1, 0, 0};
        g.m = n;
        g.n = m;
    }
    return g;
}

void low_inner(lower *L)
{
    gir_id v = L->r->members.p[0];
    gir_space_id s = L->r->space;
    int64_t chunk = L->sched.chunk_rows;
    inner g = inner_of(L, v);
    low_size size = {.coef = g.m * g.n, .sym = low_sym_of(L, s, chunk)};
    g.part = low_temp(L, gn_arena_printf(L->arena, "partial_%u", v), g.elem, size);
    if (L->sched.block_depth) {
        low_inner_block(L, g.a, g.b, g.m, g.n, g.part);
        low_finish_partials(L, v, g.part, GIR_SUM, s, chunk);
        return;
    }
    low_begin(L, "inner");
    low_note_precision(L);
    L->launch.trip = (low_size){.coef = 1, .sym = low_sym_of(L, s, 1)};
    L->launch.step = chunk;
    kir_id n = low_sym_value(L, s, 1);
    kir_id at = low_open(L, low_iconst(L, 0), n, chunk, KIR_THREAD, KIR_NONE);
    kir_id end = low_int(L, KIR_IMIN, low_int(L, KIR_IADD, at, low_iconst(L, chunk)), n);
    g.base = low_times(L, low_int(L, KIR_IDIV, at, low_iconst(L, chunk)), g.m * g.n);
    inner_chunk(L, &g, at, end);
    low_close(L);
    low_end(L);
    if (L->sched.swap)
        finish_turned(L, &g);
    else
        low_finish_partials(L, v, g.part, GIR_SUM, s, chunk);
}
