/* schedule_dense: register tiles, blocks and chunks of matrix products, from a back end's limits
 * (schedule.c). */
#include "lower/lower.h"

/* Sums of fewer terms are not worth bringing operands to where lanes share them.  Each group of
 * lanes takes a row then: several at once would be code for each, and there are groups enough to
 * wait for each other's loads. */
enum { SHORT = 8 };
enum { BLOCK = 192 }; /* rows that are multiplied at a time, at most, where B is packed */

static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
static int64_t ceil_div(int64_t n, int64_t by) { return (n + by - 1) / by; }
static int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max(int64_t a, int64_t b) { return a > b ? a : b; }

int64_t low_padded(const gn_limits *limits, int64_t n)
{
    int64_t lanes = limits->lanes > 0 ? limits->lanes : 4, s = 1;
    if (n >= lanes) return round_up(n, lanes);
    while (s < n) s *= 2;
    return s;
}

static int64_t terms_of(const gir_program *p, gir_id product)
{
    const gir_type *a = gir_type_of(p, gir_in(p, product, 0));
    return a->rank == 0 ? 1 : a->dim[gir_at(p, product)->attr.i[0] ? 0 : a->rank - 1];
}

/* Terms of the sums of a GEMM, of all its products. */
static int64_t depth_of(const gir_program *p, const region *r)
{
    gir_id product[FU_MOST_PRODUCTS];
    int64_t n = fu_products(p, r, product), depth = 0;
    for (int k = 0; k < n; k++) depth += terms_of(p, product[k]);
    return depth;
}

/* The same as pairs, each product's filled up to whole ones. */
static int64_t pair_depth(const gir_program *p, const region *r)
{
    gir_id product[FU_MOST_PRODUCTS];
    int64_t n = fu_products(p, r, product), depth = 0;
    for (int k = 0; k < n; k++) depth += round_up(terms_of(p, product[k]), 2);
    return depth;
}

/* Sums over the space that ride on a product. */
static int sums_of(const gir_program *p, const region *r)
{
    int n = 0;
    for (uint32_t m = 0; m < r->members.n; m++)
        n += gir_at(p, r->members.p[m])->op == GIR_SPACE_REDUCE;
    return n;
}

/* Bytes of an element of a register tile. */
static int64_t size_of(const gir_program *p, const region *r)
{
    return max(4, (int64_t)gn_elem_size((gn_elem)gir_type_of(p, r->members.p[0])->elem));
}

/* A panel and what is left of the columns have tiles of their own.  Panels that are packed before
 * the rows follow each other without gaps. */
bool low_pack_fits(const low_options *opt, const gir_program *p, const region *r,
                   const low_schedule *s)
{
    int64_t n = max(1, r->n), rest = n % s->tile_cols, size = size_of(p, r), terms = s->terms;
    int64_t packed_size = s->pairs ? (int64_t)gn_elem_size(GN_BF16) : size,
            depth = s->pairs ? pair_depth(p, r) : depth_of(p, r);
    int64_t one = low_padded(&opt->limits, s->tile_cols * terms);
    int64_t left = rest ? low_padded(&opt->limits, rest * terms) : 0;
    bool all = s->pack == LOW_PACK_ALL;
    if (s->pack == LOW_PACK_NOT) return true;
    if (all && n > s->tile_cols && one != s->tile_cols * terms) return false;
    int64_t cols = all ? n / s->tile_cols * one + left : one;
    int64_t sums = terms > 1 ? 3 : 1; /* halves of a tile's terms, quarters and so on, filled up,
                                         have tiles of their own */
    double term = (double)(packed_size * (depth + 2 * (terms - 1))) / (double)terms;
    double packed = term * (double)(all ? cols : one + left);
    double tiles = (double)(size * ((s->tile_rows * sums + 1) * (one + left) + sums_of(p, r) * n));
    if (s->pairs) tiles += (double)(packed_size * depth) * (double)s->block_rows;
    return term * (double)cols <= (double)LOW_PACK_BYTES &&
           packed + tiles <= (double)LOW_STACK_BYTES;
}

/* Rows of a register tile of so many vectors: as many as leave room for a row of B and one
 * broadcast. */
static int64_t rows_of(int64_t registers, int64_t vectors, int64_t most)
{
    return max(1, min(most, (registers - 4 - vectors) / vectors));
}

/* Vectors of a row of a register tile. */
static int64_t vectors_of(const low_options *opt, const low_schedule *s)
{
    return ceil_div(s->tile_cols * s->terms, max(1, opt->limits.lanes));
}

/* So many terms fill a vector, and not more than a fourth of the registers with a row. */
static bool have_terms(const low_options *opt, const gir_program *p, const region *r,
                       const low_schedule *s)
{
    gir_id product[FU_MOST_PRODUCTS];
    int n = fu_products(p, r, product);
    if (s->terms & (s->terms - 1) || s->terms > opt->limits.lanes || s->pack == LOW_PACK_NOT)
        return false;
    if (low_padded(&opt->limits, s->tile_cols * s->terms) < opt->limits.lanes) return false;
    if (4 * vectors_of(opt, s) > opt->limits.vector_registers) return false;
    if (opt->limits.shared_bytes || size_of(p, r) > 4) return false;
    for (int k = 0; k < n; k++)
        if (gir_at(p, product[k])->attr.i[0] || terms_of(p, product[k]) < s->terms) return false;
    return true;
}

void low_fit_terms(const low_options *opt, const gir_program *p, const region *r, low_schedule *s)
{
    if (!have_terms(opt, p, r, s)) s->terms = 1;
    if (s->terms > 1)
        s->tile_rows = rows_of(opt->limits.vector_registers, vectors_of(opt, s), s->tile_rows);
}

/* In how many goes the machine works on so many elements. */
static double goes(const gn_limits *limits, int64_t elements)
{
    int64_t whole = limits->whole_lanes > 0 ? limits->whole_lanes : max(1, limits->lanes);
    return (double)ceil_div(low_padded(limits, elements), whole);
}

/* What one row of a product costs in cycles of a machine that makes two multiplications of vectors
 * and two loads in each, with so many terms side by side.  At the end each level of sums is two
 * shuffles and an addition a vector. */
static double row_cost(const gn_limits *limits, int64_t cols, int64_t depth, int64_t rows,
                       int64_t terms)
{
    double vectors = goes(limits, cols * terms),
           loads = goes(limits, min(cols * terms, limits->lanes)), sums = 0;
    loads += vectors / (double)rows;
    for (int64_t n = terms / 2; n >= 1; n /= 2) sums += 2 * goes(limits, cols * n);
    return (vectors > loads ? vectors : loads) / 2 * (double)depth / (double)terms + sums;
}

/* Several terms of a sum side by side, where that is a twentieth less work: few columns leave lanes
 * idle, and a load for each term of each row takes as long as multiplying.  Fewer rows than
 * otherwise: the sums of one tile hide behind the next. */
static void terms_at_once(low_schedule *s, const low_options *opt, int64_t lanes,
                          const gir_program *p, const region *r)
{
    enum { ROWS = 12 };
    int64_t cols = max(1, r->n), depth = depth_of(p, r);
    double best = row_cost(&opt->limits, cols, depth, s->tile_rows, 1);
    if (!gn_is_on(opt->off, GN_DO_TERMS) || cols > s->tile_cols) return;
    for (int64_t terms = 2; terms <= lanes; terms *= 2) {
        low_schedule t = *s;
        t.terms = terms;
        t.tile_rows = ROWS;
        low_fit_terms(opt, p, r, &t);
        if (t.terms == 1 || !low_pack_fits(opt, p, r, &t)) continue;
        double cost = row_cost(&opt->limits, cols, depth, t.tile_rows, terms);
        if (cost >= best * 0.95) continue;
        t.block_rows = t.tile_rows;
        best = cost;
        *s = t;
    }
}

/* Why lanes do not multiply two terms of a product at once; NULL: they may. */
static const char *why_no_pairs(const low_options *opt, int64_t lanes, const gir_program *p,
                                const region *r, int64_t cols)
{
    gir_id product[FU_MOST_PRODUCTS];
    int n = fu_products(p, r, product);
    if (!(opt->limits.pairs >> KIR_KIND_BF16 & 1)) return "this machine has no products of pairs";
    if (opt->precision != GN_PRECISION_MEDIUM)
        return "this machine's products of pairs are less precise";
    if (!gn_is_on(opt->off, GN_DO_PACK)) return "pack is left out";
    if (gir_type_of(p, r->members.p[0])->elem != GN_F32) return "its elements are not f32";
    if (cols < lanes) return "fewer columns than a vector has lanes";
    for (int k = 0; k < n; k++) {
        if (gir_at(p, product[k])->attr.i[0]) return "its left operand is turned";
        if (terms_of(p, product[k]) < SHORT) return "sums of fewer than eight terms";
    }
    return NULL;
}

/* Of rows with a matrix: blocks whose rounded rows leave the packed matrix most of the second-level
 * cache. */
static void pairs(low_schedule *s, const low_options *opt, int64_t lanes, const gir_program *p,
                  const region *r)
{
    low_schedule t = *s;
    int64_t size = (int64_t)gn_elem_size(GN_BF16), depth = pair_depth(p, r),
            cols = round_up(r->n, lanes);
    s->why_exact = why_no_pairs(opt, lanes, p, r, r->n);
    if (s->why_exact) return;
    t.pairs = true;
    t.kind = KIR_KIND_BF16;
    t.terms = 1;
    t.pack = size * depth * cols <= opt->limits.l2_bytes / 8 ? LOW_PACK_ALL : LOW_PACK_PANEL;
    t.block_rows = t.tile_rows * max(1, min(BLOCK, LOW_PAIR_BYTES / (size * depth)) / t.tile_rows);
    if (!low_pack_fits(opt, p, r, &t)) t.pack = LOW_PACK_PANEL;
    if (low_pack_fits(opt, p, r, &t))
        *s = t;
    else
        s->why_exact = "its operands have no room when they are rounded";
}

int64_t low_pair_rows(const low_options *opt, const gir_type *t)
{
    int64_t row = 2 * (low_padded(&opt->limits, t->dim[0]) + low_padded(&opt->limits, t->dim[1]));
    return LOW_PACK_BYTES / row / 2 * 2;
}

/* A contraction's: both operands of a block are rounded. */
static void inner_pairs(low_schedule *s, const low_options *opt, int64_t lanes,
                        const gir_program *p, const region *r)
{
    enum { LEAST = 16 };
    const gir_type *t = gir_type_of(p, r->members.p[0]);
    int64_t rows = low_pair_rows(opt, t);
    s->why_exact = why_no_pairs(opt, lanes, p, r, t->dim[s->swap ? 0 : 1]);
    if (!s->why_exact && rows < LEAST)
        s->why_exact = "its operands have no room when they are rounded";
    if (s->why_exact) return;
    s->pairs = true;
    s->kind = KIR_KIND_BF16;
    s->block_rows = min(s->block_rows, rows);
}

/* A register tile: columns in up to four vectors. */
static void gemm(low_schedule *s, const low_options *opt, int64_t lanes, int64_t registers,
                 const gir_program *p, const region *r)
{
    int64_t cols = max(1, r->n), depth = depth_of(p, r), size = size_of(p, r);
    s->tile_cols = min(cols, 4 * lanes);
    int64_t vectors = ceil_div(s->tile_cols, lanes);
    int64_t most = depth < 64 ? 12 : 24; /* a short sum is over before more rows pay; and it
                                            compiles faster */
    if (opt->limits.shared_bytes && depth < SHORT) most = 1;
    s->block_rows = s->tile_rows = rows_of(registers, vectors, most);
    if (!gn_is_on(opt->off, GN_DO_PACK) || opt->limits.shared_bytes) return;
    /* Odd columns are filled up; several panels would lie apart, row by row. */
    bool panels = cols > s->tile_cols;
    if (!panels && cols % lanes == 0) return;
    if (size * depth * round_up(cols, lanes) <= opt->limits.l2_bytes / 8)
        s->pack = LOW_PACK_ALL;
    else if (panels)
        s->pack = LOW_PACK_PANEL;
    if (s->pack == LOW_PACK_ALL && !low_pack_fits(opt, p, r, s))
        s->pack = panels ? LOW_PACK_PANEL : LOW_PACK_NOT;
    if (!low_pack_fits(opt, p, r, s)) s->pack = LOW_PACK_NOT;
    terms_at_once(s, opt, lanes, p, r);
    if (panels && s->pack != LOW_PACK_NOT)
        s->block_rows = s->tile_rows *
                        max(1,
                            min(BLOCK, opt->limits.l2_bytes / 4 / (size * depth)) / s->tile_rows);
}

/* What one row costs with tiles of `rows` x `vectors`, in multiplications of vectors, of which at
 * least eight must be under way at a time; an odd tile at the end is code of its own. */
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
static double inner_tile(int64_t lanes, int64_t registers, int64_t m, int64_t n, int64_t *rows,
                         int64_t *cols)
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

static void inner(low_schedule *s, const low_options *opt, int64_t lanes, int64_t registers,
                  const gir_type *t)
{
    int64_t m = t->dim[0], n = t->dim[1], rows = 1, cols = 1, elems = m * n;
    double plain = inner_tile(lanes, registers, m, n, &s->tile_rows, &s->tile_cols);
    /* Turned is not the faster where it is no less work: its panels take more of each row, rows
     * apart. */
    s->swap = gn_is_on(opt->off, GN_DO_TURN) && m > n &&
              inner_tile(lanes, registers, n, m, &rows, &cols) < 0.9 * plain;
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
    if (s->block_rows * 2 > s->chunk_rows || !gn_is_on(opt->off, GN_DO_BLOCKS))
        s->block_rows = s->chunk_rows;
}

static bool has(const low_options *opt, kir_kind kind) { return opt->limits.fragments >> kind & 1; }

/* What the operands of a product of such elements are for warps that make it of fragments: what
 * they are where that is a kind, in any precision; else what the precision that is asked for rounds
 * them to, of what the machine has.  False: it is exact. */
static bool find_kind(const low_options *opt, gn_elem e, kir_kind *out)
{
    *out = e == GN_BF16 ? KIR_KIND_BF16 : e == GN_F16 ? KIR_KIND_F16 : KIR_KIND_TF32;
    if (kir_is_narrow(e)) return has(opt, *out);
    if (opt->precision == GN_PRECISION_MEDIUM && has(opt, KIR_KIND_BF16)) *out = KIR_KIND_BF16;
    return e == GN_F32 && opt->precision != GN_PRECISION_HIGHEST && has(opt, *out);
}

/* Why lanes do not share the tiles of a product; NULL: they do. */
static const char *why_not_shared(const low_options *opt, const gir_program *p, const region *r)
{
    const gir_type *t = gir_type_of(p, r->members.p[0]);
    if (!opt->limits.shared_bytes) return "this machine's lanes share no memory";
    if (!gn_is_on(opt->off, GN_DO_SHARE_TILES)) return "share-tiles is left out";
    if (sums_of(p, r)) return "sums over its rows are made with it";
    kir_kind kind;
    if (t->elem != GN_F32 && !find_kind(opt, (gn_elem)t->elem, &kind))
        return "its elements are not f32";
    if ((t->rank ? t->dim[t->rank - 1] : 1) < 4) return "fewer than four columns";
    return r->kind == RG_GEMM && depth_of(p, r) < SHORT ? "sums of fewer than eight terms" : NULL;
}

/* Warps make products of fragments: of as many elements for each lane as lanes make by themselves.
 * A block takes the terms of four fragments at a time, 128 bytes of each row, since operands need
 * no room beside the result, or fewer where that leaves out a fifth of those that there are not. */
static void fragments(low_schedule *s, kir_kind kind, const gir_program *p, const region *r)
{
    int64_t depth = r->kind == RG_GEMM ? depth_of(p, r) : s->chunk_rows,
            least = kir_kinds[kind].depth;
    s->fragments = true;
    s->kind = kind;
    s->tile_cols = s->block_cols > 32 ? 32 : min(16, s->block_cols);
    s->tile_rows = s->tile_cols == 8 ? 64 : 32;
    s->block_depth = 4 * least;
    while (s->block_depth > least &&
           4 * round_up(depth, s->block_depth) > 5 * round_up(depth, s->block_depth / 2))
        s->block_depth /= 2;
}

/* How many blocks of lanes a product is made by; 0: not known. */
static int64_t blocks_of(const low_options *opt, const gir_program *p, const region *r,
                         const low_schedule *s)
{
    const gir_type *t = gir_type_of(p, r->members.p[0]);
    int64_t rows = r->space ? low_rows_hint(opt, p, r->space) : t->dim[0];
    if (r->kind == RG_GEMM) return ceil_div(rows, s->block_rows);
    return ceil_div(rows, s->chunk_rows) * ceil_div(t->dim[0], s->block_rows) *
           ceil_div(t->dim[1], s->block_cols);
}

/* Where blocks are fewer than run at once, a quarter or half as large ones: more of the machine has
 * something to do, a lane brings and multiplies less between two meetings, and there is less of it
 * to compile. */
static void smaller_tiles(low_schedule *s, const low_options *opt, const gir_program *p,
                          const region *r)
{
    int64_t blocks = blocks_of(opt, p, r, s);
    if (!blocks || blocks >= opt->limits.blocks || !gn_is_on(opt->off, GN_DO_SMALL_TILES)) return;
    s->tile_rows = 2;
    s->block_rows = 32;
}

/* A block's lanes share its tiles: each has tile_rows x tile_cols elements, and brings as many of
 * both operands as the others do. */
static void shared_tiles(low_schedule *s, const low_options *opt, const gir_program *p,
                         const region *r)
{
    const gir_type *t = gir_type_of(p, r->members.p[0]);
    int64_t cols = t->rank ? t->dim[t->rank - 1] : 1;
    const char *why = why_not_shared(opt, p, r);
    kir_kind kind;
    bool less = opt->precision != GN_PRECISION_HIGHEST;
    if (less && opt->limits.shared_bytes) s->why_exact = why;
    if (why) return;
    bool wide = cols > 32;
    s->block_cols = 8;
    while (s->block_cols < 64 && s->block_cols < cols) s->block_cols *= 2;
    s->tile_cols = 4;
    s->tile_rows = wide ? 8 : 4;
    s->block_rows = wide ? 128 : 64;
    s->block_depth = 16;
    s->pack = LOW_PACK_NOT;
    s->swap = false;
    if (find_kind(opt, (gn_elem)t->elem, &kind))
        fragments(s, kind, p, r);
    else
        smaller_tiles(s, opt, p, r);
    if (less && !s->fragments) s->why_exact = "this machine has no products of fragments";
}

void low_schedule_dense(const low_options *opt, const gir_program *p, const region *r,
                        low_schedule *s)
{
    int64_t lanes = opt->limits.lanes > 0 ? opt->limits.lanes : 4;
    int64_t registers = max(8, opt->limits.vector_registers);
    bool less = opt->precision != GN_PRECISION_HIGHEST && !opt->limits.shared_bytes;
    if (r->kind == RG_GEMM) {
        gemm(s, opt, lanes, registers, p, r);
        if (less) pairs(s, opt, lanes, p, r);
        /* A block must be worth a partial sum. */
        if (sums_of(p, r) && !s->pairs)
            s->block_rows = max(s->block_rows, round_up(s->chunk_rows / 2, s->tile_rows));
    }
    if (r->kind == RG_INNER) {
        inner(s, opt, lanes, registers, gir_type_of(p, r->members.p[0]));
        if (less) inner_pairs(s, opt, lanes, p, r);
    }
    shared_tiles(s, opt, p, r);
}
