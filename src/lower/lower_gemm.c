/* lower_gemm: products of rows with a matrix.
 *
 * out[i, j] = sum_k A[i, k] B[k, j].  A worker takes blocks of rows; in a block, panels of
 * tile_cols columns one after another; in a panel, tiles of tile_rows rows that stay in registers
 * over the whole sum.  Elementwise members of the region are applied to a tile before it is stored.
 *
 * Sums over the space ride along: what a block adds to them is a partial sum, and those are added
 * in order.
 *
 * A region may have several products, the sum of which is what the others read: each goes on with
 * the tile where the one before left it.
 *
 * B may be packed: panel after panel, each contiguous, and columns that do not fill a vector filled
 * up with zeros.  Every worker packs for itself, all of B before its rows or a panel in each block.
 * Where there are few columns, several terms of a sum may be side by side (lower_terms.c).  Where
 * less precision is asked for lanes may multiply two terms at once (lower_pairs.c). */
#include "lower/lower_dense.h"

typedef struct gemm {
    gir_id product; /* what the tile holds: the product, or the sum of all */
    factors f[FU_MOST_PRODUCTS];
    int products;
    int64_t n;
    gn_elem elem;
    kir_id begin, end; /* rows of the block */
    kir_id i0;
    int64_t rows;
    GN_VEC(gir_id) sink; /* sums over the space */
    GN_VEC(int) part;    /* low_buffer of each one's partial sums */
    GN_VEC(kir_id) acc;  /* its tile */
} gemm;

/* Stored row by row? */
static bool stores(const lower *L, gir_id v)
{
    return L->f->stored[v] && gir_at(L->p, v)->op != GIR_SPACE_REDUCE;
}

static void add_to_sums(lower *L, const gemm *g, kir_id at)
{
    for (uint32_t s = 0; s < g->sink.n; s++) {
        gir_id v = g->sink.p[s], o = gir_in(L->p, v, 0);
        low_ix x = low_index(gir_type_of(L->p, o), at);
        kir_id value = low_value(L, o, &L->row, &x);
        kir_tacc(L->k, low_at(L), (kir_red)gir_at(L->p, v)->attr.i[0], g->acc.p[s], at, value);
    }
}

static void store_tile(lower *L, const gemm *g, kir_id tile, kir_id j0, int64_t cols)
{
    const region *reg = L->r;
    kir_id *value = GN_NEW_N(L->arena, kir_id, reg->members.n);
    kir_id r = low_open_n(L, g->rows, KIR_UNROLL, g->sink.n ? KIR_REDUCE : KIR_NONE);
    kir_id row = low_int(L, KIR_IADD, g->i0, r);
    L->row = (where){.space = reg->space, .row = row, .level = L->depth};
    kir_id j = low_open_n(L, cols, KIR_VECTOR, KIR_NONE);
    if (g->n == 1)
        L->row.level = L->depth; /* what has one element a row reads the product, which is known
                                    here */
    kir_id at = low_int(L, KIR_IADD, j0, j);
    if (reg->space == 0) { /* a row of a plain matrix */
        int b = low_kernel_buffer(L, low_buffer_of_value(L, g->product), KIR_WRITE);
        kir_id to = low_scaled_add(L, row, g->n, at);
        low_store_from(L, b, to, tile, low_scaled_add(L, r, low_stride(L, cols), j));
    } else {
        L->product = g->product;
        L->product_tile = tile;
        L->product_at = low_scaled_add(L, r, low_stride(L, cols), j);
        for (uint32_t m = 0; m < reg->members.n; m++) {
            gir_id v = reg->members.p[m];
            if (!stores(L, v)) continue;
            low_ix x = low_index(gir_type_of(L->p, v), at);
            value[m] = low_value(L, v, &L->row, &x);
        }
        for (uint32_t m = 0; m < reg->members.n; m++)
            if (stores(L, reg->members.p[m]))
                low_store_value(L, reg->members.p[m], &L->row, at, value[m]);
        add_to_sums(L, g, at);
        L->product = 0;
    }
    low_close(L);
    low_close(L);
}

/* Elements of a row of the register tile. */
static int64_t tile_stride(const lower *L, int64_t cols)
{
    return low_stride(L, cols * L->sched.terms);
}

/* Terms of a column that are neighbours in a packed B. */
static int64_t neighbours(const lower *L) { return L->sched.pairs ? 2 : L->sched.terms; }

/* Elements of those terms of all columns of a packed panel. */
static int64_t packed_stride(const lower *L, int64_t cols)
{
    return tile_stride(L, cols) * (L->sched.pairs ? 2 : 1);
}

/* Columns [j0, j0 + cols) of B to the tile, from `at` on. */
static void pack_panel(lower *L, const gemm *g, const factors *f, kir_id tile, kir_id at, kir_id j0,
                       int64_t cols)
{
    int64_t stride = packed_stride(L, cols), terms = neighbours(L);
    if (terms > 1) {
        tile_job to = {.b = {.tile = tile, .at = at},
                       .j0 = j0,
                       .cols = cols,
                       .stride = stride,
                       .elem = g->elem};
        low_pack_terms(L, f->b, f->depth, &to, terms);
        return;
    }
    kir_id k = low_open_n(L, f->depth, KIR_SERIAL, KIR_NONE);
    kir_id row = low_scaled_add(L, k, stride, at);
    if (stride != cols) {
        kir_id z = low_open_n(L, stride, KIR_VECTOR, KIR_NONE);
        kir_tstore(L->k, low_at(L), tile, low_int(L, KIR_IADD, row, z), low_fconst(L, g->elem, 0));
        low_close(L);
    }
    kir_id j = low_open_n(L, cols, KIR_VECTOR, KIR_NONE);
    kir_id b = dense_element(L, f->b, k, low_int(L, KIR_IADD, j0, j));
    kir_tstore(L->k, low_at(L), tile, low_int(L, KIR_IADD, row, j), b);
    low_close(L);
    low_close(L);
}

/* Elements of a packed panel that is `stride` wide, of all its terms. */
static int64_t panel_size(const lower *L, int64_t depth, int64_t stride)
{
    int64_t terms = neighbours(L);
    return (depth + terms - 1) / terms * stride;
}

/* Full panels have no padding, so panel j0 begins at j0 times the terms, rounded up. */
static void pack_before(lower *L, kir_id j0, int64_t cols, void *ctx)
{
    gemm *g = ctx;
    for (int p = 0; p < g->products; p++) {
        const factors *f = &g->f[p];
        int64_t each = panel_size(L, f->depth, neighbours(L));
        pack_panel(L, g, f, f->packed, low_scaled_add(L, j0, each, low_iconst(L, 0)), j0, cols);
    }
}

static void gemm_tile(lower *L, const gemm *g, tile_job *t, kir_id j0)
{
    for (int p = 0; p < g->products; p++) {
        t[p].i0 = g->i0;
        t[p].rows = g->rows;
    }
    dense_zero(L, &t[0]);
    for (int p = 1; p < g->products; p++) t[p].tile = t[0].tile;
    for (int p = 0; p < g->products; p++) {
        low_of(L, g->f[p].value);
        if (L->sched.pairs)
            low_multiply_pairs(L, &t[p], g->f[p].depth, g->begin);
        else if (L->sched.terms > 1)
            low_multiply_terms(L, &t[p], g->f[p].depth);
        else
            dense_multiply(L, &t[p]);
    }
    low_of(L, g->product);
    store_tile(L, g, L->sched.terms > 1 ? low_sum_terms(L, &t[0]) : t[0].tile, j0, t[0].cols);
}

static gn_elem packed_elem(const lower *L, const gemm *g)
{
    return L->sched.pairs ? GN_BF16 : g->elem;
}

/* One product's part in the tiles of a panel. */
static tile_job panel_job(lower *L, const gemm *g, const factors *f, kir_id j0, int64_t cols)
{
    kir_id zero = low_iconst(L, 0);
    tile_job t = {.a = f->a,
                  .b = f->b,
                  .j0 = j0,
                  .cols = cols,
                  .stride = tile_stride(L, cols),
                  .elem = g->elem};
    t.lo = zero;
    t.hi = low_iconst(L, f->depth);
    if (L->sched.pack == LOW_PACK_NOT) return t;
    t.b = (matrix){.si = t.stride, .sj = 1, .tile = f->packed, .at = zero};
    t.padded = true;
    t.j0 = zero;
    if (f->rows) t.a = (matrix){.tile = f->rows};
    if (f->packed) {
        t.b.at = low_scaled_add(L, j0, panel_size(L, f->depth, neighbours(L)), zero);
    } else {
        t.b.tile = kir_tile(L->k, low_at(L), packed_elem(L, g),
                            panel_size(L, f->depth, packed_stride(L, cols)));
        pack_panel(L, g, f, t.b.tile, zero, j0, cols);
    }
    return t;
}

/* The rows of the block: whole tiles, then row by row. */
static void gemm_panel(lower *L, kir_id j0, int64_t cols, void *ctx)
{
    gemm *g = ctx;
    int64_t rows = L->sched.tile_rows;
    kir_id each = low_iconst(L, rows);
    tile_job t[FU_MOST_PRODUCTS] = {0};
    for (int p = 0; p < g->products; p++) {
        low_of(L, g->f[p].value);
        t[p] = panel_job(L, g, &g->f[p], j0, cols);
    }
    kir_id whole = low_int(L, KIR_IDIV, low_int(L, KIR_ISUB, g->end, g->begin), each);
    kir_id rest = low_scaled_add(L, whole, rows, g->begin);
    g->rows = rows;
    kir_race race = g->sink.n ? KIR_REDUCE : KIR_NONE;
    g->i0 = low_open(L, g->begin, rest, rows, KIR_SERIAL, race);
    gemm_tile(L, g, t, j0);
    low_close(L);
    if (rows == 1) return;
    g->rows = 1;
    g->i0 = low_open(L, rest, g->end, 1, KIR_SERIAL, race);
    gemm_tile(L, g, t, j0);
    low_close(L);
}

static factors factors_of(lower *L, gir_id v)
{
    const gir_node *n = gir_at(L->p, v);
    gir_id a = gir_in(L->p, v, 0), b = gir_in(L->p, v, 1);
    const gir_type *ta = gir_type_of(L->p, a), *tb = gir_type_of(L->p, b);
    bool at = n->attr.i[0] != 0, bt = n->attr.i[1] != 0;
    int64_t acols = ta->dim[ta->rank - 1], bcols = tb->dim[tb->rank - 1];
    factors f = {.value = v, .depth = at ? ta->dim[0] : acols};
    f.a = (matrix){low_buffer_read(L, a), at ? 1 : acols, at ? acols : 1, 0, 0};
    f.b = (matrix){low_buffer_read(L, b), bt ? 1 : bcols, bt ? bcols : 1, 0, 0};
    return f;
}

/* The member that adds the products. */
static gir_id sum_of(const lower *L, gir_id a, gir_id b)
{
    gir_id sum = 0;
    for (uint32_t m = 0; m < L->r->members.n; m++) {
        gir_id u = L->r->members.p[m];
        if (gir_at(L->p, u)->op != GIR_ADD) continue;
        gir_id x = gir_in(L->p, u, 0), y = gir_in(L->p, u, 1);
        if ((x == a && y == b) || (x == b && y == a)) sum = u;
    }
    return sum;
}

/* The region's product, or all of them and what they come to. */
static gemm gemm_of(lower *L)
{
    gir_id v = L->r->members.p[0];
    const gir_type *t = gir_type_of(L->p, v);
    gemm g = {.product = v, .n = t->dim[t->rank - 1], .elem = low_elem((gn_elem)t->elem)};
    gir_id product[FU_MOST_PRODUCTS];
    g.products = fu_products(L->p, L->r, product);
    for (int k = 0; k < g.products; k++) g.f[k] = factors_of(L, product[k]);
    for (int k = 1; k < g.products; k++) g.product = sum_of(L, g.product, product[k]);
    return g;
}

/* Sums of the region, and memory for a partial sum of each block. */
static void find_sums(lower *L, gemm *g)
{
    for (uint32_t m = 0; m < L->r->members.n; m++) {
        gir_id v = L->r->members.p[m];
        if (gir_at(L->p, v)->op != GIR_SPACE_REDUCE) continue;
        low_size size = {.coef = g->n, .sym = low_sym_of(L, L->r->space, L->sched.block_rows)};
        const char *name = gn_arena_printf(L->arena, "partial_%u", v);
        GN_PUSH(L->arena, g->sink, v);
        GN_PUSH(L->arena, g->part,
                low_temp(L, name, low_elem((gn_elem)gir_type_of(L->p, v)->elem), size));
    }
}

static void begin_sums(lower *L, gemm *g)
{
    g->acc.n = 0;
    for (uint32_t s = 0; s < g->sink.n; s++) {
        gir_id v = g->sink.p[s];
        gn_elem e = low_elem((gn_elem)gir_type_of(L->p, v)->elem);
        kir_id tile = kir_tile(L->k, low_at(L), e, g->n);
        GN_PUSH(L->arena, g->acc, tile);
        kir_id j = low_open_n(L, g->n, KIR_VECTOR, KIR_NONE);
        kir_tstore(L->k, low_at(L), tile, j, low_start(L, e, (int)gir_at(L->p, v)->attr.i[0]));
        low_close(L);
    }
}

static void store_sums(lower *L, const gemm *g)
{
    if (!g->sink.n) return;
    kir_id block = low_int(L, KIR_IDIV, g->begin, low_iconst(L, L->sched.block_rows));
    kir_id base = low_times(L, block, g->n);
    for (uint32_t s = 0; s < g->sink.n; s++) {
        int b = low_kernel_buffer(L, g->part.p[s], KIR_WRITE);
        kir_id j = low_open_n(L, g->n, KIR_VECTOR, KIR_NONE);
        low_store_from(L, b, low_int(L, KIR_IADD, base, j), g->acc.p[s], j);
        low_close(L);
    }
}

void low_gemm(lower *L)
{
    gemm g = gemm_of(L);
    gir_space_id s = L->r->space;
    int64_t block = L->sched.block_rows, cols = L->sched.tile_cols;
    const gir_type *t = gir_type_of(L->p, g.product);
    if (L->sched.block_depth) {
        low_gemm_block(L, g.product, g.products, g.f, g.n);
        low_note_product(L, g.product, g.products, g.f, g.n);
        return;
    }
    find_sums(L, &g);
    low_begin(L, "gemm");
    low_note_precision(L);
    kir_id n = s ? low_sym_value(L, s, 1) : low_iconst(L, t->dim[0]);
    L->launch.trip = s ? (low_size){.coef = 1, .sym = low_sym_of(L, s, 1)}
                       : (low_size){.coef = t->dim[0], .sym = -1};
    L->launch.step = block;
    if (L->sched.pack == LOW_PACK_ALL) {
        int64_t stride = g.n / cols * cols * neighbours(L) +
                         (g.n % cols ? packed_stride(L, g.n % cols) : 0);
        if (g.n == cols) stride = packed_stride(L, cols);
        for (int p = 0; p < g.products; p++)
            g.f[p].packed = kir_tile(L->k, low_at(L), packed_elem(L, &g),
                                     panel_size(L, g.f[p].depth, stride));
        dense_tiles(L, g.n, cols, pack_before, &g);
    }
    g.begin = low_open(L, low_iconst(L, 0), n, block, KIR_THREAD, KIR_NONE);
    g.end = low_int(L, KIR_IMIN, low_int(L, KIR_IADD, g.begin, low_iconst(L, block)), n);
    for (int p = 0; p < g.products && L->sched.pairs; p++)
        g.f[p].rows = low_round_rows(L, g.f[p].a, g.f[p].depth, g.begin, g.end, block);
    begin_sums(L, &g);
    dense_tiles(L, g.n, cols, gemm_panel, &g);
    store_sums(L, &g);
    low_close(L);
    low_end(L);
    for (uint32_t k = 0; k < g.sink.n; k++)
        low_finish_partials(L, g.sink.p[k], g.part.p[k], (int)gir_at(L->p, g.sink.p[k])->attr.i[0],
                            s, block);
}
