/* lower_dense: what the matrix products share: register tiles, and sums of partial results. */
#include "lower/lower_dense.h"

gir_id dense_operand(const gir_program *p, gir_id v)
{
    while (fu_is_identity_view(p, v)) v = gir_in(p, v, 0);
    return v;
}

kir_id dense_element(lower *L, matrix m, kir_id i, kir_id j)
{
    kir_id down = low_times(L, i, m.si), at = low_int(L, KIR_IADD, down, low_times(L, j, m.sj));
    if (m.tile) return kir_tload(L->k, low_at(L), m.tile, low_int(L, KIR_IADD, m.at, at));
    return low_load(L, m.buffer, at);
}

/* Tiles ---------------------------------------------------------------------------------------- */

/* Row by row: a vector never covers parts of two rows, which would tie their registers together. */
void dense_zero(lower *L, tile_job *t)
{
    t->tile = kir_tile(L->k, low_at(L), t->elem, t->rows * t->stride);
    kir_id zero = low_fconst(L, t->elem, 0);
    kir_id r = low_open_unrolled(L, t->rows);
    kir_id j = low_open_n(L, t->stride, KIR_VECTOR, KIR_NONE);
    kir_tstore(L->k, low_at(L), t->tile, low_scaled_add(L, r, t->stride, j), zero);
    low_close(L);
    low_close(L);
}

void dense_load(lower *L, tile_job *t, int buffer, kir_id at, int64_t n)
{
    t->tile = kir_tile(L->k, low_at(L), t->elem, t->rows * t->stride);
    kir_id r = low_open_unrolled(L, t->rows);
    kir_id row = low_scaled_add(L, r, n, at);
    kir_id j = low_open_n(L, t->cols, KIR_VECTOR, KIR_NONE);
    kir_id x = low_load(L, buffer, low_int(L, KIR_IADD, row, j));
    kir_tstore(L->k, low_at(L), t->tile, low_scaled_add(L, r, t->stride, j), x);
    low_close(L);
    low_close(L);
}

void dense_store(lower *L, const tile_job *t, int buffer, kir_id at, int64_t n)
{
    int b = low_kernel_buffer(L, buffer, KIR_WRITE);
    kir_id r = low_open_unrolled(L, t->rows);
    kir_id row = low_scaled_add(L, r, n, at);
    kir_id j = low_open_n(L, t->cols, KIR_VECTOR, KIR_NONE);
    kir_id x = kir_tload(L->k, low_at(L), t->tile, low_scaled_add(L, r, t->stride, j));
    kir_store(L->k, low_at(L), b, low_int(L, KIR_IADD, row, j), x);
    low_close(L);
    low_close(L);
}

void dense_multiply(lower *L, const tile_job *t)
{
    kir_id s = low_open(L, t->lo, t->hi, 1, KIR_SERIAL, KIR_REDUCE);
    kir_id r = low_open_unrolled(L, t->rows);
    kir_id a = dense_element(L, t->a, low_int(L, KIR_IADD, t->i0, r), s);
    kir_id j = low_open_n(L, t->padded ? t->stride : t->cols, KIR_VECTOR, KIR_NONE);
    kir_id b = dense_element(L, t->b, s, low_int(L, KIR_IADD, t->j0, j));
    kir_tfma(L->k, low_at(L), t->tile, low_scaled_add(L, r, t->stride, j), a, b);
    low_close(L);
    low_close(L);
    low_close(L);
}

void dense_tiles(lower *L, int64_t n, int64_t tile, void (*body)(lower *, kir_id, int64_t, void *),
                 void *ctx)
{
    int64_t full = n / tile;
    if (full == 1) {
        body(L, low_iconst(L, 0), tile, ctx);
    } else if (full > 1) {
        kir_id at = low_open(L, low_iconst(L, 0), low_iconst(L, full * tile), tile, KIR_SERIAL,
                             KIR_NONE);
        body(L, at, tile, ctx);
        low_close(L);
    }
    if (n % tile) body(L, low_iconst(L, full * tile), n % tile, ctx);
}

/* Partial sums --------------------------------------------------------------------------------- */

/* out[j0 + j] = red over chunks c of part[c * n + j0 + j], j in [0, cols) */
static void finish_columns(lower *L, gir_id v, int part, int red, kir_id chunks, kir_id j0,
                           int64_t cols)
{
    gn_elem e = low_elem((gn_elem)gir_type_of(L->p, v)->elem);
    int64_t n = fu_elems(L->p, v);
    kir_id tile = kir_tile(L->k, low_at(L), e, cols);
    kir_id z = low_open_n(L, cols, KIR_VECTOR, KIR_NONE);
    kir_tstore(L->k, low_at(L), tile, z, low_start(L, e, red));
    low_close(L);
    kir_id c = low_open(L, low_iconst(L, 0), chunks, 1, KIR_SERIAL, KIR_REDUCE);
    kir_id base = low_scaled_add(L, c, n, j0);
    kir_id j = low_open_n(L, cols, KIR_VECTOR, KIR_NONE);
    kir_id x = low_load(L, part, low_int(L, KIR_IADD, base, j));
    kir_tacc(L->k, low_at(L), (kir_red)red, tile, j, x);
    low_close(L);
    low_close(L);
    kir_id none = kir_bin(L->k, low_at(L), KIR_ILT, low_iconst(L, 0), chunks);
    kir_id o = low_open_n(L, cols, KIR_VECTOR, KIR_NONE);
    kir_id sum = kir_tload(L->k, low_at(L), tile, o);
    if (red != GIR_SUM) sum = kir_select(L->k, low_at(L), none, sum, low_const(L, e, 0));
    int b = low_kernel_buffer(L, low_buffer_of_value(L, v), KIR_WRITE);
    kir_store(L->k, low_at(L), b, low_int(L, KIR_IADD, j0, o), sum);
    low_close(L);
}

/* The same, each element by a worker: for machines with workers enough.  How many elements there
 * are is a symbol. */
static void finish_elements(lower *L, gir_id v, int part, int red, kir_id chunks)
{
    gn_elem e = low_elem((gn_elem)gir_type_of(L->p, v)->elem);
    int64_t n = fu_elems(L->p, v);
    bool shares = gn_is_on(L->opt->off, GN_DO_SHARE_SIZES);
    kir_id zero = low_iconst(L, 0), end = shares ? low_count(L, n) : low_iconst(L, n);
    L->launch.trip = shares ? (low_size){.coef = 1, .sym = low_sym_of(L, 0, n)}
                            : (low_size){.coef = n, .sym = -1};
    kir_id j = low_open(L, zero, end, 1, KIR_THREAD, KIR_NONE);
    kir_id tile = kir_tile(L->k, low_at(L), e, 1);
    kir_tstore(L->k, low_at(L), tile, zero, low_start(L, e, red));
    kir_id c = low_open(L, zero, chunks, 1, KIR_SERIAL, KIR_REDUCE);
    kir_id x = low_load(L, part, low_int(L, KIR_IADD, low_int(L, KIR_IMUL, c, end), j));
    kir_tacc(L->k, low_at(L), (kir_red)red, tile, zero, x);
    low_close(L);
    kir_id sum = kir_tload(L->k, low_at(L), tile, zero);
    kir_id some = kir_bin(L->k, low_at(L), KIR_ILT, zero, chunks);
    if (red != GIR_SUM) sum = kir_select(L->k, low_at(L), some, sum, low_const(L, e, 0));
    kir_store(L->k, low_at(L), low_kernel_buffer(L, low_buffer_of_value(L, v), KIR_WRITE), j, sum);
    low_close(L);
}

void low_finish_partials(lower *L, gir_id v, int part, int red, gir_space_id space, int64_t chunk)
{
    int64_t n = fu_elems(L->p, v), width = 128;
    low_begin(L, "finish");
    low_of(L, v);
    kir_id chunks = low_sym_value(L, space, chunk);
    if (L->opt->limits.shared_bytes) {
        finish_elements(L, v, part, red, chunks);
    } else if (n <= width) {
        finish_columns(L, v, part, red, chunks, low_iconst(L, 0), n);
    } else {
        kir_id end = low_iconst(L, n);
        L->launch.trip = (low_size){.coef = n, .sym = -1};
        L->launch.step = width;
        kir_id j0 = low_open(L, low_iconst(L, 0), end, width, KIR_THREAD, KIR_NONE);
        kir_id full = kir_bin(L->k, low_at(L), KIR_ILE,
                              low_int(L, KIR_IADD, j0, low_iconst(L, width)), end);
        kir_id rest = kir_un(L->k, low_at(L), KIR_NOT, full);
        low_open_if(L, full);
        finish_columns(L, v, part, red, chunks, j0, width);
        low_close(L);
        if (n % width) {
            low_open_if(L, rest);
            finish_columns(L, v, part, red, chunks, j0, n % width);
            low_close(L);
        }
        low_close(L);
    }
    low_end(L);
}
