/* lower_gemm: products of rows with a matrix.
 *
 * out[i, j] = sum_k A[i, k] B[k, j], rows i in blocks of tile_rows, columns in tiles of tile_cols that stay in registers
 * over the whole sum; elementwise members of the region are applied to the tile before it is stored. */
#include "passes/lower_dense.h"

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
        kir_store(L->k, low_at(L), b, dense_at(L, row, g->n, at),
                  kir_tload(L->k, low_at(L), tile, dense_at(L, r, dense_stride(L, cols), j)));
    } else {
        L->product = g->product;
        L->product_tile = tile;
        L->product_at = dense_at(L, r, dense_stride(L, cols), j);
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
                  .stride = dense_stride(L, cols),
                  .elem = low_elem((gn_elem)gir_type_of(L->p, g->product)->elem)};
    t.lo = low_iconst(L, 0);
    t.hi = low_iconst(L, g->depth);
    dense_zero(L, &t);
    dense_multiply(L, &t);
    store_tile(L, g, t.tile, j0, cols);
}

static void gemm_rows(lower *L, gemm *g, kir_id i0, int64_t rows)
{
    g->i0 = i0;
    g->rows = rows;
    dense_tiles(L, g->n, L->sched.tile_cols, gemm_columns, g);
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
    g.a = (matrix){low_buffer_of_value(L, dense_operand(L->p, a)), at ? 1 : acols, at ? acols : 1};
    g.b = (matrix){low_buffer_of_value(L, dense_operand(L->p, b)), bt ? 1 : bcols, bt ? bcols : 1};
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
