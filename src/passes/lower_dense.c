/* lower_dense: matrix products.
 *
 * GEMM    out[i, j] = sum_k A[i, k] B[k, j], rows i in blocks of tile_rows, columns in tiles of tile_cols that stay in
 *         registers over the whole sum; elementwise members of the region are applied to the tile before it is stored.
 * INNER   out[i, j] = sum_r A[r, i] B[r, j] over the rows r of a space, in chunks of rows: each chunk gives a partial
 *         product, and the partial products are added in order.                                                       */
#include "passes/lower_impl.h"

static gir_id strip(const gir_program *p, gir_id v)
{
    while (fu_is_identity_view(p, v)) v = gir_in(p, v, 0);
    return v;
}

typedef struct matrix { /* element (i, j) at i * si + j * sj of a buffer */
    int buffer;
    int64_t si, sj;
} matrix;

static kir_id element(lower *L, matrix m, kir_id i, kir_id j)
{
    kir_id at = low_int(L, KIR_IADD, low_int(L, KIR_IMUL, i, low_iconst(L, m.si)),
                        low_int(L, KIR_IMUL, j, low_iconst(L, m.sj)));
    return low_load(L, m.buffer, at);
}

static kir_id times_plus(lower *L, kir_id a, int64_t times, kir_id b)
{
    return low_int(L, KIR_IADD, low_int(L, KIR_IMUL, a, low_iconst(L, times)), b);
}

/* A register tile of `rows` x `cols` starting at (i0, j0), summed over s in [lo, hi). */
typedef struct tile_job {
    matrix a, b; /* a(i, s), b(s, j) */
    kir_id i0, j0;
    int64_t rows, cols;
    int64_t stride; /* of the tile's rows: whole vectors */
    kir_id lo, hi;
    gn_elem elem;
} tile_job;

static int64_t tile_stride(const lower *L, int64_t cols)
{
    int64_t lanes = L->opt->limits.lanes > 0 ? L->opt->limits.lanes : 1, s = 1;
    if (cols >= lanes) return (cols + lanes - 1) / lanes * lanes;
    while (s < cols) s *= 2;
    return s;
}

static kir_id multiply_tile(lower *L, const tile_job *t)
{
    kir_id tile = kir_tile(L->k, low_at(L), t->elem, t->rows * t->stride);
    kir_id z = low_open_n(L, t->rows * t->stride, KIR_VECTOR, KIR_NONE);
    kir_tstore(L->k, low_at(L), tile, z, low_fconst(L, t->elem, 0));
    low_close(L);
    kir_id s = low_open(L, t->lo, t->hi, 1, KIR_SERIAL, KIR_REDUCE);
    kir_id r = low_open_n(L, t->rows, KIR_UNROLL, KIR_NONE);
    kir_id a = element(L, t->a, low_int(L, KIR_IADD, t->i0, r), s);
    kir_id j = low_open_n(L, t->cols, KIR_VECTOR, KIR_NONE);
    kir_id b = element(L, t->b, s, low_int(L, KIR_IADD, t->j0, j));
    kir_tfma(L->k, low_at(L), tile, times_plus(L, r, t->stride, j), a, b);
    low_close(L);
    low_close(L);
    low_close(L);
    return tile;
}

/* Calls `body` with the start and the width of each column tile: a loop over the full ones, then what is left. */
static void for_tiles(lower *L, int64_t n, int64_t tile, void (*body)(lower *, kir_id, int64_t, void *), void *ctx)
{
    int64_t full = n / tile;
    if (full == 1) {
        body(L, low_iconst(L, 0), tile, ctx);
    } else if (full > 1) {
        kir_id at = low_open(L, low_iconst(L, 0), low_iconst(L, full * tile), tile, KIR_SERIAL, KIR_NONE);
        body(L, at, tile, ctx);
        low_close(L);
    }
    if (n % tile) body(L, low_iconst(L, full * tile), n % tile, ctx);
}

/* GEMM -------------------------------------------------------------------------------------------------------------- */

typedef struct gemm {
    gir_id product;
    matrix a, b;
    int64_t n, depth;
    kir_id i0;
    int64_t rows;
} gemm;

static void store_tile(lower *L, const gemm *g, kir_id tile, kir_id j0, int64_t cols)
{
    const region *reg = L->r;
    kir_id *value = GN_NEW_N(L->arena, kir_id, reg->members.n);
    kir_id r = low_open_n(L, g->rows, KIR_UNROLL, KIR_NONE);
    kir_id row = low_int(L, KIR_IADD, g->i0, r);
    L->row = (where){.space = reg->space, .row = row, .level = L->depth};
    kir_id j = low_open_n(L, cols, KIR_VECTOR, KIR_NONE);
    if (g->n == 1) L->row.level = L->depth; /* what has one element a row reads the product, which is known here */
    kir_id at = low_int(L, KIR_IADD, j0, j);
    if (reg->space == 0) { /* a row of a plain matrix */
        int b = low_kernel_buffer(L, low_buffer_of_value(L, g->product), KIR_WRITE);
        kir_store(L->k, low_at(L), b, times_plus(L, row, g->n, at),
                  kir_tload(L->k, low_at(L), tile, times_plus(L, r, tile_stride(L, cols), j)));
    } else {
        L->product = g->product;
        L->product_tile = tile;
        L->product_at = times_plus(L, r, tile_stride(L, cols), j);
        for (uint32_t m = 0; m < reg->members.n; m++) {
            gir_id v = reg->members.p[m];
            if (!L->f->stored[v]) continue;
            low_ix x = low_index(gir_type_of(L->p, v), at);
            value[m] = low_value(L, v, &L->row, &x);
        }
        for (uint32_t m = 0; m < reg->members.n; m++)
            if (L->f->stored[reg->members.p[m]]) low_store_value(L, reg->members.p[m], &L->row, at, value[m]);
        L->product = 0;
    }
    low_close(L);
    low_close(L);
}

static void gemm_columns(lower *L, kir_id j0, int64_t cols, void *ctx)
{
    gemm *g = ctx;
    tile_job t = {.a = g->a,
                  .b = g->b,
                  .i0 = g->i0,
                  .j0 = j0,
                  .rows = g->rows,
                  .cols = cols,
                  .stride = tile_stride(L, cols),
                  .elem = low_elem((gn_elem)gir_type_of(L->p, g->product)->elem)};
    t.lo = low_iconst(L, 0);
    t.hi = low_iconst(L, g->depth);
    kir_id tile = multiply_tile(L, &t);
    store_tile(L, g, tile, j0, cols);
}

static void gemm_rows(lower *L, gemm *g, kir_id i0, int64_t rows)
{
    g->i0 = i0;
    g->rows = rows;
    for_tiles(L, g->n, L->sched.tile_cols, gemm_columns, g);
}

static gemm gemm_of(lower *L, gir_id v)
{
    const gir_node *n = gir_at(L->p, v);
    gir_id a = gir_in(L->p, v, 0), b = gir_in(L->p, v, 1);
    const gir_type *ta = gir_type_of(L->p, a), *tb = gir_type_of(L->p, b);
    bool at = n->attr.i[0] != 0, bt = n->attr.i[1] != 0;
    gemm g = {.product = v, .n = n->type.dim[n->type.rank - 1]};
    int64_t acols = ta->dim[ta->rank - 1], bcols = tb->dim[tb->rank - 1];
    g.depth = at ? ta->dim[0] : acols;
    g.a = (matrix){low_buffer_of_value(L, strip(L->p, a)), at ? 1 : acols, at ? acols : 1};
    g.b = (matrix){low_buffer_of_value(L, strip(L->p, b)), bt ? 1 : bcols, bt ? bcols : 1};
    return g;
}

void low_gemm(lower *L)
{
    gemm g = gemm_of(L, L->r->members.p[0]);
    gir_space_id s = L->r->space;
    int64_t block = L->sched.tile_rows;
    const gir_type *t = gir_type_of(L->p, g.product);
    low_begin(L, "gemm");
    kir_id n = s ? low_sym_value(L, s, 1) : low_iconst(L, t->dim[0]);
    L->launch.trip = s ? (low_size){.coef = 1, .sym = low_sym_of(L, s, 1)} : (low_size){.coef = t->dim[0], .sym = -1};
    L->launch.step = block;
    kir_id i0 = low_open(L, low_iconst(L, 0), n, block, KIR_THREAD, KIR_NONE);
    kir_id full = kir_bin(L->k, low_at(L), KIR_ILE, low_int(L, KIR_IADD, i0, low_iconst(L, block)), n);
    kir_id part = kir_un(L->k, low_at(L), KIR_NOT, full);
    low_open_if(L, full);
    gemm_rows(L, &g, i0, block);
    low_close(L);
    if (block > 1) {
        low_open_if(L, part);
        kir_id i = low_open(L, i0, n, 1, KIR_SERIAL, KIR_NONE);
        gemm_rows(L, &g, i, 1);
        low_close(L);
        low_close(L);
    }
    low_close(L);
    low_end(L);
}

/* INNER ------------------------------------------------------------------------------------------------------------- */

typedef struct inner {
    gir_id product;
    matrix a, b; /* a(i, row), b(row, j) */
    int64_t m, n;
    kir_id lo, hi, base; /* rows of the chunk; where its partial product begins */
    kir_id i0;
    int64_t rows;
    int part;
} inner;

static void inner_columns(lower *L, kir_id j0, int64_t cols, void *ctx)
{
    inner *g = ctx;
    tile_job t = {.a = g->a,
                  .b = g->b,
                  .i0 = g->i0,
                  .j0 = j0,
                  .rows = g->rows,
                  .cols = cols,
                  .stride = tile_stride(L, cols),
                  .lo = g->lo,
                  .hi = g->hi,
                  .elem = low_elem((gn_elem)gir_type_of(L->p, g->product)->elem)};
    kir_id tile = multiply_tile(L, &t);
    int b = low_kernel_buffer(L, g->part, KIR_WRITE);
    kir_id r = low_open_n(L, g->rows, KIR_UNROLL, KIR_NONE);
    kir_id row = times_plus(L, low_int(L, KIR_IADD, g->i0, r), g->n, low_int(L, KIR_IADD, g->base, j0));
    kir_id j = low_open_n(L, cols, KIR_VECTOR, KIR_NONE);
    kir_store(L->k, low_at(L), b, low_int(L, KIR_IADD, row, j),
              kir_tload(L->k, low_at(L), tile, times_plus(L, r, tile_stride(L, cols), j)));
    low_close(L);
    low_close(L);
}

static void inner_rows(lower *L, kir_id i0, int64_t rows, void *ctx)
{
    inner *g = ctx;
    g->i0 = i0;
    g->rows = rows;
    for_tiles(L, g->n, L->sched.tile_cols, inner_columns, g);
}

void low_inner(lower *L)
{
    gir_id v = L->r->members.p[0];
    gir_id a = gir_in(L->p, v, 0), b = gir_in(L->p, v, 1);
    gir_space_id s = L->r->space;
    int64_t chunk = L->sched.chunk_rows;
    inner g = {.product = v, .m = gir_type_of(L->p, v)->dim[0], .n = gir_type_of(L->p, v)->dim[1]};
    g.a = (matrix){low_buffer_of_value(L, strip(L->p, a)), 1, g.m};
    g.b = (matrix){low_buffer_of_value(L, strip(L->p, b)), g.n, 1};
    low_size size = {.coef = g.m * g.n, .sym = low_sym_of(L, s, chunk)};
    g.part =
        low_temp(L, gn_arena_printf(L->arena, "partial_%u", v), low_elem((gn_elem)gir_type_of(L->p, v)->elem), size);
    low_begin(L, "inner");
    L->launch.trip = (low_size){.coef = 1, .sym = low_sym_of(L, s, 1)};
    L->launch.step = chunk;
    kir_id n = low_sym_value(L, s, 1);
    kir_id at = low_open(L, low_iconst(L, 0), n, chunk, KIR_THREAD, KIR_NONE);
    g.lo = at;
    g.hi = low_int(L, KIR_IMIN, low_int(L, KIR_IADD, at, low_iconst(L, chunk)), n);
    g.base = low_int(L, KIR_IMUL, low_int(L, KIR_IDIV, at, low_iconst(L, chunk)), low_iconst(L, g.m * g.n));
    for_tiles(L, g.m, L->sched.tile_rows, inner_rows, &g);
    low_close(L);
    low_end(L);
    low_finish_partials(L, v, g.part, GIR_SUM, s, chunk);
}

/* Partial sums ------------------------------------------------------------------------------------------------------ */

/* out[j0 + j] = red over chunks c of part[c * n + j0 + j], j in [0, cols) */
static void finish_columns(lower *L, gir_id v, int part, int red, kir_id chunks, kir_id j0, int64_t cols)
{
    gn_elem e = low_elem((gn_elem)gir_type_of(L->p, v)->elem);
    int64_t n = fu_elems(L->p, v);
    kir_id tile = kir_tile(L->k, low_at(L), e, cols);
    kir_id z = low_open_n(L, cols, KIR_VECTOR, KIR_NONE);
    kir_tstore(L->k, low_at(L), tile, z, low_start(L, e, red));
    low_close(L);
    kir_id c = low_open(L, low_iconst(L, 0), chunks, 1, KIR_SERIAL, KIR_REDUCE);
    kir_id base = times_plus(L, c, n, j0);
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

void low_finish_partials(lower *L, gir_id v, int part, int red, gir_space_id space, int64_t chunk)
{
    int64_t n = fu_elems(L->p, v), width = 128;
    low_begin(L, "finish");
    kir_id chunks = low_sym_value(L, space, chunk);
    if (n <= width) {
        finish_columns(L, v, part, red, chunks, low_iconst(L, 0), n);
    } else {
        kir_id end = low_iconst(L, n);
        L->launch.trip = (low_size){.coef = n, .sym = -1};
        L->launch.step = width;
        kir_id j0 = low_open(L, low_iconst(L, 0), end, width, KIR_THREAD, KIR_NONE);
        kir_id full = kir_bin(L->k, low_at(L), KIR_ILE, low_int(L, KIR_IADD, j0, low_iconst(L, width)), end);
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
