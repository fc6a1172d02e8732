/* lower_drawn: sums of rows by the source of edges that a mask which is drawn for each has left
 * (`drawn-rows`), which is what dropout on sparse features makes of the gradient of the weights:
 *
 *   sum over e of  (mask[e] ? c : 0) * rows[dst(e)]   =   c * (sum over e of rows[mask[e] ? dst(e)
 *                  : n])
 *
 * where rows has a row of zeros behind its last, number n.  The mask is drawn in the order in which
 * the sums go through the edges, as numbers of rows, some edges ahead of the sums: so that an edge
 * is a number and an addition that loads, where it was its place in the other order, what is there,
 * and a product.  A draw is a dozen instructions for a whole vector of edges, so that each sum has
 * its own.  Terms 0 * row are left out, as those of the zeros of a sparse matrix are: a row that is
 * not finite is not felt where nothing of it is left.
 *
 * Declines where the mask is in memory anyway or not drawn by places in a sparse matrix, where
 * values are more than a mask and a constant, where rows are longer than four vectors (their sums
 * then wait for memory), are an output, or not float32, and where vectors are shorter than 8. */
#include "lower/lower_impl.h"

enum { BLOCK = 256, AHEAD = 128 }; /* rows a worker takes, and edges that are drawn ahead */
enum { LANES = 8, VECTORS = 4 };   /* of the shortest vectors, and in the longest rows */

bool low_draws_rows(const gn_limits *limits)
{
    return !limits->shared_bytes && limits->lanes >= LANES;
}

static gir_id through_views(const gir_program *p, gir_id v)
{
    while (gir_at(p, v)->op == GIR_BROADCAST || gir_at(p, v)->op == GIR_RESHAPE)
        v = gir_in(p, v, 0);
    return v;
}

/* Is `v` a draw by the place of a non-zero of g, compared with a constant, that no loop leaves in
 * memory? */
static bool is_drawn(const lower *L, gir_id v, gir_id g)
{
    const gir_program *p = L->p;
    gir_op op = (gir_op)gir_at(p, v)->op;
    if (op != GIR_GE && op != GIR_GT && op != GIR_NLE) return false;
    gir_id u = gir_in(p, v, 0), pattern = g;
    if (L->f->place[v] != FU_INLINE || gir_at(p, gir_in(p, v, 1))->op != GIR_CONST) return false;
    if (gir_at(p, u)->op != GIR_CELL || gir_in(p, u, 0) != g || L->f->place[u] != FU_INLINE)
        return false;
    gir_id drawn = gir_in(p, u, 1);
    if (gir_at(p, drawn)->op != GIR_RANDOM || fu_is_edge_space(p, gir_type_of(p, drawn)->space))
        return false;
    while (gir_at(p, pattern)->op == GIR_RESTRICT) pattern = gir_in(p, pattern, 0);
    return gir_at(p, pattern)->op == GIR_PATTERN;
}

/* Are these rows a temporary of their own, so that a row of zeros can lie behind them? */
static bool has_room(const lower *L, gir_id v)
{
    if (L->f->place[v] != FU_REAL || !L->f->stored[v] || L->value_buffer[v] >= 0) return false;
    for (uint32_t k = 0; k < L->p->outputs.n; k++)
        if (fu_left_by(L->f, k) == v) return false;
    return true;
}

/* Are they those of a parameter, which are copied to where a row of zeros is? */
static bool is_parameter(const lower *L, gir_id v)
{
    return gir_at(L->p, v)->op == GIR_TO_ROWS && L->f->place[v] == FU_INLINE &&
           gir_at(L->p, gir_in(L->p, v, 0))->op == GIR_STATE;
}

static bool are_rows(const lower *L, gir_id v)
{
    const gir_type *t = gir_type_of(L->p, v);
    return t->elem == GN_F32 && gir_row_elems(t) <= VECTORS * L->opt->limits.lanes &&
           (has_room(L, v) || is_parameter(L, v));
}

/* The region's only sum over edges; 0: none, or several. */
static gir_id only_sum(const lower *L, const region *r)
{
    gir_id sum = 0;
    for (uint32_t m = 0; m < r->members.n; m++) {
        gir_id v = r->members.p[m];
        gir_op op = (gir_op)gir_at(L->p, v)->op;
        if (L->f->walk[v] || op == GIR_SPACE_REDUCE || (op == GIR_SCATTER && sum)) return 0;
        if (op == GIR_SCATTER) sum = v;
    }
    return sum;
}

static low_drawn drawn_of(const lower *L, const region *r)
{
    const gir_program *p = L->p;
    low_drawn none = {0}, z = none;
    if (!gn_is_on(L->opt->off, GN_DO_DRAWN_ROWS) || !gn_is_on(L->opt->off, GN_DO_BY_SOURCE))
        return none;
    if (!low_draws_rows(&L->opt->limits)) return none;
    gir_id sum = r->kind == RG_ROWS && r->n_walks == 1 ? only_sum(L, r) : 0;
    if (!sum || gir_at(p, sum)->attr.i[1] != GIR_SUM) return none;
    gir_id message = gir_in(p, sum, 1);
    if (gir_at(p, message)->op != GIR_MUL || L->f->place[message] != FU_INLINE) return none;
    for (int k = 0; k < 2; k++) {
        gir_id value = through_views(p, gir_in(p, message, k)),
               gathered = gir_in(p, message, 1 - k);
        if (gir_at(p, value)->op != GIR_SELECT || gir_at(p, gathered)->op != GIR_GATHER) continue;
        if (gir_in(p, gathered, 0) != r->walk[0].graph ||
            gir_at(p, gathered)->attr.i[0] == r->walk[0].end)
            continue;
        bool two = gir_is_number(p, gir_in(p, value, 1), &z.scale) &&
                   gir_is_zero(p, gir_in(p, value, 2));
        if (!two || !is_drawn(L, gir_in(p, value, 0), r->walk[0].graph) || fu_elems(p, value) != 1)
            continue;
        z.mask = gir_in(p, value, 0);
        z.value = value;
        z.rows = gir_in(p, gathered, 1);
        return are_rows(L, z.rows) ? z : none;
    }
    return none;
}

/* Do all regions that read v draw it for themselves? */
static bool read_by_drawn(const lower *L, gir_id v)
{
    const fusion *f = L->f;
    for (uint32_t k = 0; k < f->readers.n; k++)
        if (f->readers.p[k].value == v && L->drawn_of[f->readers.p[k].region].value != v)
            return false;
    for (uint32_t k = 0; k < L->p->outputs.n; k++)
        if (fu_left_by(L->f, k) == v) return false;
    return true;
}

bool low_is_drawn_elsewhere(const lower *L, const region *r)
{
    if (r->kind != RG_ROWS || r->n_walks || !r->space) return false;
    for (uint32_t m = 0; m < r->members.n; m++) {
        gir_id v = r->members.p[m];
        bool drawn = false;
        for (uint32_t k = 0; k < L->f->regions.n; k++) drawn = drawn || L->drawn_of[k].value == v;
        if (!drawn || !read_by_drawn(L, v)) return false;
    }
    return true;
}

/* A sum by destination reads values in the order in which they lie: it draws where nobody leaves
 * them in memory then. */
static bool pays(const lower *L, uint32_t r)
{
    const low_drawn *z = &L->drawn_of[r];
    if (L->f->regions.p[r].walk[0].end == GIR_SRC) return true;
    int32_t by = L->f->region_of[z->value];
    return by < 0 || low_is_drawn_elsewhere(L, &L->f->regions.p[by]);
}

void low_find_drawn(lower *L)
{
    const fusion *f = L->f;
    L->drawn_of = GN_NEW_N(L->arena, low_drawn, f->regions.n + 1);
    for (uint32_t r = 0; r < f->regions.n; r++) L->drawn_of[r] = drawn_of(L, &f->regions.p[r]);
    for (uint32_t r = 0; r < f->regions.n; r++)
        if (L->drawn_of[r].mask && !pays(L, r)) L->drawn_of[r] = (low_drawn){0};
    for (uint32_t r = 0; r < f->regions.n; r++)
        if (L->drawn_of[r].mask && has_room(L, L->drawn_of[r].rows))
            L->zeros_behind[L->drawn_of[r].rows] = true;
}

static void write_zeros(lower *L, int buffer, kir_id rows, int64_t elems)
{
    int b = low_kernel_buffer(L, buffer, KIR_WRITE);
    kir_id end = low_times(L, rows, elems);
    kir_id j = low_open_n(L, elems, KIR_VECTOR, KIR_NONE);
    kir_store(L->k, low_at(L), b, low_int(L, KIR_IADD, end, j), low_fconst(L, GN_F32, 0));
    low_close(L);
}

/* The rows of a parameter, and room for another. */
static int copy_rows(lower *L, gir_id v)
{
    enum { AT_ONCE = 4096 };
    int64_t elems = fu_elems(L->p, v), n = elems * L->p->spaces.p[gir_type_of(L->p, v)->space].size;
    low_size size = {.coef = n, .sym = -1, .plus = (int)elems};
    int from = low_buffer_of_value(L, gir_in(L->p, v, 0)),
        to = low_temp(L, gn_arena_printf(L->arena, "v%u", v), GN_F32, size);
    low_begin(L, "copy");
    L->launch.trip = (low_size){.coef = n, .sym = -1};
    L->launch.step = AT_ONCE;
    kir_id at = low_open(L, low_iconst(L, 0), low_iconst(L, n), AT_ONCE, KIR_THREAD, KIR_NONE);
    kir_id end = low_int(L, KIR_IMIN, low_int(L, KIR_IADD, at, low_iconst(L, AT_ONCE)),
                         low_iconst(L, n));
    kir_id i = low_open(L, at, end, 1, KIR_VECTOR, KIR_NONE);
    kir_id x = low_load(L, from, i);
    kir_store(L->k, low_at(L), low_kernel_buffer(L, to, KIR_WRITE), i, x);
    low_close(L);
    low_close(L);
    low_end(L);
    return to;
}

/* How many rows there can be that the region's edges end at: how many of them were picked is not
 * known when compiling, but they are some of the matrix's.  -1: not known. */
static int64_t most_rows(const lower *L)
{
    const gir_program *p = L->p;
    gir_id g = L->r->walk[0].graph;
    while (gir_at(p, g)->op == GIR_RESTRICT) g = gir_in(p, g, 0);
    const gir_type *t = gir_type_of(p, g);
    const low_hint *h = L->opt->hints_hold ? low_hint_of(L->opt, p, g) : NULL;
    if (h) return L->r->walk[0].end == GIR_SRC ? h->n_dst : h->n_src;
    return p->spaces.p[L->r->walk[0].end == GIR_SRC ? t->dst : t->src].size;
}

low_drawn *low_rows_and_zeros(lower *L)
{
    low_drawn *z = &L->drawn_of[L->region];
    if (!z->mask) return NULL;
    z->buffer = L->zeros_behind[z->rows] ? low_buffer_of_value(L, z->rows) : copy_rows(L, z->rows);
    low_begin(L, "zeros");
    write_zeros(L, z->buffer, low_sym_value(L, gir_type_of(L->p, z->rows)->space, 1),
                fu_elems(L->p, z->rows));
    low_end(L);
    int64_t n = most_rows(L);
    bool narrow = n >= 0 && n < UINT32_MAX / fu_elems(L->p, z->rows);
    low_size size = {.coef = 1,
                     .sym = low_sym_of(L, gir_type_of(L->p, L->r->walk[0].graph)->edge, 1)};
    z->places = low_temp(L, gn_arena_printf(L->arena, "rows_%u", z->mask), narrow ? GN_U32 : GN_I64,
                         size);
    return z;
}

int64_t low_drawn_block(void) { return BLOCK; }

/* The number of the row that edge e, by source, adds. */
static void draw_edge(lower *L, kir_id e)
{
    gir_id g = L->r->walk[0].graph;
    const low_drawn *z = L->drawn;
    bool by_source = L->r->walk[0].end == GIR_SRC;
    where edge = {.space = gir_type_of(L->p, g)->edge,
                  .row = e,
                  .level = L->depth,
                  .by_source = by_source ? e : 0};
    low_ix x = low_index(gir_type_of(L->p, z->mask), low_iconst(L, 0));
    kir_id left = low_value(L, z->mask, &edge, &x);
    kir_id row = low_load(L, low_buffer_of_graph(L, g, by_source ? GN_GRAPH_CSC_ROW : GN_GRAPH_COL),
                          e);
    kir_id elems = low_iconst(L, fu_elems(L->p, z->rows));
    kir_id none = low_sym_value(L, gir_type_of(L->p, z->rows)->space, 1);
    int b = low_kernel_buffer(L, z->places, KIR_WRITE);
    kir_id there = low_int(L, KIR_IMUL, row, elems), behind = low_int(L, KIR_IMUL, none, elems);
    kir_store(L->k, low_at(L), b, e, kir_select(L->k, low_at(L), left, there, behind));
}

/* Up to which edge is drawn when the sums are at edge e: whole vectors, or all of the block's
 * edges. */
static kir_id drawn_to(lower *L, kir_id e)
{
    int64_t lanes = L->opt->limits.lanes;
    kir_id k = low_int(L, KIR_IDIV, low_int(L, KIR_IADD, e, low_iconst(L, AHEAD)),
                       low_iconst(L, lanes));
    return low_int(L, KIR_IMIN, low_times(L, k, lanes), L->drawn->end);
}

void low_draw_block(lower *L, kir_id first, kir_id end)
{
    low_drawn *z = L->drawn;
    int ptr = low_buffer_of_graph(
        L, L->r->walk[0].graph, L->r->walk[0].end == GIR_SRC ? GN_GRAPH_COL_PTR : GN_GRAPH_ROW_PTR);
    z->end = low_load(L, ptr, end);
    z->first_row = first;
}

/* Vectors that are stored under a mask are no use to a load that comes soon after: only the block's
 * last one is. */
void low_draw_ahead(lower *L, kir_id lo, kir_id hi)
{
    const low_drawn *z = L->drawn;
    int64_t lanes = L->opt->limits.lanes;
    kir_id begins = kir_bin(L->k, low_at(L), KIR_ILE, L->row.row, z->first_row);
    kir_id from = kir_select(L->k, low_at(L), begins, lo, drawn_to(L, lo)), to = drawn_to(L, hi);
    kir_id n = low_int(L, KIR_ISUB, to, from), rest = low_int(L, KIR_IMOD, n, low_iconst(L, lanes));
    kir_id whole = low_int(L, KIR_ISUB, to, rest);
    kir_id at = low_open(L, from, whole, lanes, KIR_SERIAL, KIR_NONE);
    draw_edge(L, low_int(L, KIR_IADD, at, low_open_n(L, lanes, KIR_VECTOR, KIR_NONE)));
    low_close(L);
    low_close(L);
    draw_edge(L, low_open(L, whole, to, 1, KIR_VECTOR, KIR_NONE));
    low_close(L);
}

kir_id low_drawn_value(lower *L, kir_id e, kir_id j)
{
    const low_drawn *z = L->drawn;
    return low_load(L, z->buffer, low_int(L, KIR_IADD, low_load(L, z->places, e), j));
}
