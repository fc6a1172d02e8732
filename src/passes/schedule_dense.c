/* schedule_dense: register tiles, blocks and chunks of matrix products, from a back end's limits (schedule.c). */
#include "passes/lower.h"

static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
static int64_t ceil_div(int64_t n, int64_t by) { return (n + by - 1) / by; }
static int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t terms_of(const gir_program *p, gir_id product)
{
    const gir_type *a = gir_type_of(p, gir_in(p, product, 0));
    return a->rank ? a->dim[a->rank - 1] : 1;
}

/* Terms of the sums of a GEMM. */
static int64_t depth_of(const gir_program *p, const region *r)
{
    gir_id second = fu_second_product(p, r);
    return terms_of(p, r->members.p[0]) + (second ? terms_of(p, second) : 0);
}

/* Sums over the space ride on a product: a block must be worth a partial sum. */
static bool has_sums(const gir_program *p, const region *r)
{
    for (uint32_t m = 0; m < r->members.n; m++)
        if (gir_at(p, r->members.p[m])->op == GIR_SPACE_REDUCE) return true;
    return false;
}

/* A register tile: columns in up to four vectors, and as many rows as leave room for a row of B and one broadcast. */
static void gemm(low_schedule *s, const low_options *opt, int64_t lanes, int64_t registers, int64_t cols, int64_t depth)
{
    enum { BLOCK = 192, TILE_BYTES = 128 * 1024 /* on a worker's stack */ };
    s->tile_cols = min(cols, 4 * lanes);
    int64_t vectors = ceil_div(s->tile_cols, lanes);
    int64_t most = depth < 64 ? 12 : 24; /* a short sum is over before more rows pay; and it compiles faster */
    s->block_rows = s->tile_rows = max(1, min(most, (registers - 4 - vectors) / vectors));
    if (!gn_is_on(opt->off, GN_DO_PACK) || opt->limits.shared_bytes) return;
    /* Odd columns are filled up; several panels would lie apart, row by row. */
    int64_t bytes = 4 * depth * round_up(cols, lanes), panel = 4 * depth * s->tile_cols;
    bool panels = cols > s->tile_cols;
    if (!panels && cols % lanes == 0) return;
    if (bytes <= min(TILE_BYTES, opt->limits.l2_bytes / 8))
        s->pack = LOW_PACK_ALL;
    else if (panels && panel <= TILE_BYTES)
        s->pack = LOW_PACK_PANEL;
    if (panels && s->pack != LOW_PACK_NOT)
        s->block_rows = s->tile_rows * max(1, min(BLOCK, opt->limits.l2_bytes / 4 / (4 * depth)) / s->tile_rows);
}

/* What one row costs with tiles of `rows` x `vectors`, in multiplications of vectors, of which at least eight must be under
 * way at a time; an odd tile at the end is code of its own. */
static double tile_cost(int64_t m, int64_t n, int64_t rows, int64_t vectors)
{
    double all = 0;
    int64_t bodies = 0;
    for (int k = 0; k < 4; k++) {
        int64_t r = k & 1 ? m % rows : rows, v = k & 2 ? n % vectors : vectors;
        int64_t times = (k & 1 ? 1 : m / rows) * (k & 2 ? 1 : n / vectors);
        if (!r || !v || !times) continue;
        double multiply = (double)(r * v), load = (double)r / 2 + (double)v;
        double one = multiply > load ? multiply : load;
        all += (double)times * (0.5 + (one > 8 ? one : 8));
        bodies++;
    }
    return all * (1 + 0.01 * (double)(bodies - 1));
}

/* The tile of an m x n product where it costs least; m and n are known. */
static double inner_tile(int64_t lanes, int64_t registers, int64_t m, int64_t n, int64_t *rows, int64_t *cols)
{
    double best = 0;
    for (int64_t v = min(4, ceil_div(n, lanes)); v >= 1; v--)
        for (int64_t r = min(m, (registers - 4 - v) / v); r >= 1; r--) {
            if (r > 24) continue;
            double cost = tile_cost(m, ceil_div(n, lanes), r, v);
            if (best > 0 && cost >= best * 0.99) continue;
            best = cost;
            *rows = r;
            *cols = min(n, v * lanes);
        }
    return best;
}

static void inner(low_schedule *s, const low_options *opt, int64_t lanes, int64_t registers, const gir_type *t)
{
    int64_t m = t->dim[0], n = t->dim[1], rows = 1, cols = 1, elems = m * n;
    double plain = inner_tile(lanes, registers, m, n, &s->tile_rows, &s->tile_cols);
    s->swap = gn_is_on(opt->off, GN_DO_TURN) && m > n && inner_tile(lanes, registers, n, m, &rows, &cols) <= plain;
    if (s->swap) {
        s->tile_rows = rows;
        s->tile_cols = cols;
    }
    /* Partial products must stay small beside what is summed. */
    int64_t least = s->chunk_rows;
    if (elems / 8 > least) s->chunk_rows = round_up(min(8192, elems / 8), 64);
    /* A block of both operands and the partial product share half of the cache. */
    int64_t room = opt->limits.l2_bytes / 2 / 4 - elems, block = room / (m + n) / 16 * 16;
    s->block_rows = max(min(32, (least + 1) / 2), block);
    if (s->block_rows * 2 > s->chunk_rows || !gn_is_on(opt->off, GN_DO_BLOCKS)) s->block_rows = s->chunk_rows;
}

/* A block's lanes share its tiles: each has tile_rows x tile_cols elements, and brings as many of both operands as the
 * others do. */
static void shared_tiles(low_schedule *s, const low_options *opt, const gir_program *p, const region *r)
{
    const gir_type *t = gir_type_of(p, r->members.p[0]);
    int64_t cols = t->rank ? t->dim[t->rank - 1] : 1;
    if (!opt->limits.shared_bytes || !gn_is_on(opt->off, GN_DO_SHARE_TILES) || has_sums(p, r)) return;
    if (t->elem != GN_F32 || cols < 4 || (r->kind == RG_GEMM && depth_of(p, r) < 8)) return;
    bool wide = cols > 32;
    s->block_cols = 8;
    while (s->block_cols < 64 && s->block_cols < cols) s->block_cols *= 2;
    s->tile_cols = 4;
    s->tile_rows = wide ? 8 : 4;
    s->block_rows = wide ? 128 : 64;
    s->block_depth = 16;
    s->pack = LOW_PACK_NOT;
    s->swap = false;
}

void low_schedule_dense(const low_options *opt, const gir_program *p, const region *r, low_schedule *s)
{
    int64_t lanes = opt->limits.lanes > 0 ? opt->limits.lanes : 4;
    int64_t registers = max(8, opt->limits.vector_registers);
    if (r->kind == RG_GEMM) {
        gemm(s, opt, lanes, registers, max(1, r->n), depth_of(p, r));
        if (has_sums(p, r)) s->block_rows = max(s->block_rows, round_up(s->chunk_rows / 2, s->tile_rows));
    }
    if (r->kind == RG_INNER) inner(s, opt, lanes, registers, gir_type_of(p, r->members.p[0]));
    shared_tiles(s, opt, p, r);
}
