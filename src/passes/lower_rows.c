/* lower_rows: regions whose loop runs over rows (ROWS) or over the elements of parameters (FLAT).
 *
 * A row of a ROWS region is computed in this order: passes over its edges, one a level (a sum that another sum's
 * operand depends on comes a level before it); then everything that is stored; then what it adds to sums over the space.
 * Sums over a space are made chunk by chunk into partial sums, and those are added in order by a second kernel: the
 * shape of the tree depends on the number of rows alone. */
#include "passes/lower_impl.h"

#include <math.h>
#include <stdlib.h>

typedef struct rows_plan {
    bool lanes; /* rows are the lanes: every value has one element a row, and there are no edges */
    int passes;
    int *pass;  /* by member: of a SCATTER, the pass that computes it (from 1); else 0 */
    bool sinks; /* sums over the space */
    GN_VEC(gir_id) sink;
    GN_VEC(int) part;   /* low_buffer of each sink's partial sums */
    GN_VEC(kir_id) acc; /* its tile */
} rows_plan;

/* Planning ---------------------------------------------------------------------------------------------------------- */

typedef struct levels_of {
    const lower *L;
    int *level; /* by value; -1 unknown */
} levels_of;

/* The number of edge passes that must be over before `v` is known in this region. */
static int pass_level(levels_of *z, gir_id v)
{
    const lower *L = z->L;
    if (L->f->place[v] == FU_LEAF || (L->f->place[v] == FU_REAL && L->f->region_of[v] != L->region)) return 0;
    if (z->level[v] >= 0) return z->level[v];
    int most = 0;
    const gir_node *n = gir_at(L->p, v);
    for (int k = 0; k < n->n_in; k++) {
        int l = pass_level(z, gir_in(L->p, v, k));
        if (l > most) most = l;
    }
    return z->level[v] = most + (n->op == GIR_SCATTER);
}

/* Is every value that this row needs a scalar, so that rows can be lanes? */
static bool scalars_only(lower *L, gir_id v, bool *seen)
{
    if (seen[v]) return true;
    seen[v] = true;
    const gir_node *n = gir_at(L->p, v);
    bool here = L->f->place[v] == FU_INLINE || (L->f->place[v] == FU_REAL && L->f->region_of[v] == L->region);
    if (n->op == GIR_SPACE_REDUCE) return scalars_only(L, gir_in(L->p, v, 0), seen) && fu_elems(L->p, v) == 1;
    if (n->op == GIR_SAMPLE) return true;
    if (fu_elems(L->p, v) != 1) return false;
    if (!here) return true;
    if (n->op == GIR_REDUCE || n->op == GIR_SCATTER) return false;
    for (int k = n->op == GIR_GATHER ? 1 : 0; k < n->n_in; k++)
        if (!scalars_only(L, gir_in(L->p, v, k), seen)) return false;
    return true;
}

static rows_plan plan_rows(lower *L)
{
    const region *r = L->r;
    rows_plan z = {.lanes = r->space != 0 && !r->graph};
    levels_of lv = {L, GN_NEW_N(L->arena, int, L->p->nodes.n)};
    bool *seen = GN_NEW_N(L->arena, bool, L->p->nodes.n);
    for (uint32_t v = 0; v < L->p->nodes.n; v++) lv.level[v] = -1;
    z.pass = GN_NEW_N(L->arena, int, r->members.n);
    for (uint32_t m = 0; m < r->members.n; m++) {
        gir_id v = r->members.p[m];
        gir_op op = (gir_op)gir_at(L->p, v)->op;
        if (op == GIR_SCATTER) {
            z.pass[m] = pass_level(&lv, v);
            if (z.pass[m] > z.passes) z.passes = z.pass[m];
        }
        if (op == GIR_SPACE_REDUCE) {
            z.sinks = true;
            GN_PUSH(L->arena, z.sink, v);
        }
        z.lanes = z.lanes && scalars_only(L, v, seen);
    }
    return z;
}

/* Passes over edges ------------------------------------------------------------------------------------------------- */

static gn_elem member_elem(const lower *L, gir_id v) { return low_elem((gn_elem)gir_type_of(L->p, v)->elem); }

static void fill_tile(lower *L, kir_id tile, int64_t n, kir_id value)
{
    kir_id j = low_open_n(L, n, KIR_VECTOR, KIR_NONE);
    kir_tstore(L->k, low_at(L), tile, j, value);
    low_close(L);
}

/* The same value for every edge: its sum is a product with the number of edges, without a loop. */
static bool edge_constant(const lower *L, gir_id v) { return gir_at(L->p, v)->op == GIR_CONST; }

static void scatter_constant(lower *L, gir_id v, kir_id count)
{
    const gir_node *n = gir_at(L->p, v);
    gn_elem e = member_elem(L, v);
    double c = gir_at(L->p, gir_in(L->p, v, 1))->attr.f;
    kir_id tile = kir_tile(L->k, low_at(L), e, fu_elems(L->p, v)), value;
    if (n->attr.i[1] == GIR_SUM)
        value = kir_bin(L->k, low_at(L), gn_elem_is_float(e) ? KIR_FMUL : KIR_IMUL, kir_cast(L->k, low_at(L), count, e),
                        low_const(L, e, c));
    else
        value = kir_select(L->k, low_at(L), kir_bin(L->k, low_at(L), KIR_ILT, low_iconst(L, 0), count),
                           low_const(L, e, c), low_const(L, e, 0));
    fill_tile(L, tile, fu_elems(L->p, v), value);
    low_hold(L, v, &L->row, tile, L->depth);
}

/* tile[j] (+)= message at j, for one lane or all. A product is added with one rounding. */
static void accumulate(lower *L, gir_id v, kir_id tile, kir_id j)
{
    gir_id e = gir_in(L->p, v, 1);
    int red = (int)gir_at(L->p, v)->attr.i[1];
    const gir_node *n = gir_at(L->p, e);
    low_ix x = low_index(&n->type, j), y = x;
    if (red == GIR_SUM && n->op == GIR_MUL && L->f->place[e] == FU_INLINE && gn_elem_is_float((gn_elem)n->type.elem)) {
        kir_id a = low_value(L, gir_in(L->p, e, 0), &L->edge, &x);
        kir_id b = low_value(L, gir_in(L->p, e, 1), &L->edge, &y);
        kir_tfma(L->k, low_at(L), tile, j, a, b);
        return;
    }
    kir_id value = low_value(L, e, &L->edge, &x);
    kir_tacc(L->k, low_at(L), (kir_red)red, tile, j, value);
}

static kir_id *begin_accumulators(lower *L, const rows_plan *z, int pass)
{
    const region *r = L->r;
    kir_id *tile = GN_NEW_N(L->arena, kir_id, r->members.n);
    for (uint32_t m = 0; m < r->members.n; m++) {
        gir_id v = r->members.p[m];
        if (z->pass[m] != pass || edge_constant(L, gir_in(L->p, v, 1))) continue;
        tile[m] = kir_tile(L->k, low_at(L), member_elem(L, v), fu_elems(L->p, v));
        fill_tile(L, tile[m], fu_elems(L->p, v), low_start(L, member_elem(L, v), (int)gir_at(L->p, v)->attr.i[1]));
    }
    return tile;
}

/* All sums of one width share a loop over the lanes.  Wide ones first: they keep in tiles what they spread over their
 * lanes, and narrow ones read it there. */
static void pass_body(lower *L, const kir_id *tile)
{
    const region *r = L->r;
    bool *done = GN_NEW_N(L->arena, bool, r->members.n);
    for (;;) {
        int64_t n = 0;
        for (uint32_t m = 0; m < r->members.n; m++)
            if (tile[m] && !done[m] && fu_elems(L->p, r->members.p[m]) > n) n = fu_elems(L->p, r->members.p[m]);
        if (n == 0) return;
        kir_id j = n > 1 ? low_open_n(L, n, KIR_VECTOR, KIR_NONE) : low_iconst(L, 0);
        for (uint32_t m = 0; m < r->members.n; m++) {
            if (!tile[m] || done[m] || fu_elems(L->p, r->members.p[m]) != n) continue;
            accumulate(L, r->members.p[m], tile[m], j);
            done[m] = true;
        }
        if (n > 1) low_close(L);
    }
}

static void finish_accumulators(lower *L, const kir_id *tile, kir_id count)
{
    const region *r = L->r;
    for (uint32_t m = 0; m < r->members.n; m++) {
        gir_id v = r->members.p[m];
        if (!tile[m]) continue;
        if (gir_at(L->p, v)->attr.i[1] != GIR_SUM) { /* of no edges: 0 */
            kir_id some = kir_bin(L->k, low_at(L), KIR_ILT, low_iconst(L, 0), count);
            kir_id zero = low_const(L, member_elem(L, v), 0);
            kir_id j = low_open_n(L, fu_elems(L->p, v), KIR_VECTOR, KIR_NONE);
            kir_id now = kir_tload(L->k, low_at(L), tile[m], j);
            kir_tstore(L->k, low_at(L), tile[m], j, kir_select(L->k, low_at(L), some, now, zero));
            low_close(L);
        }
        low_hold(L, v, &L->row, tile[m], L->depth);
    }
}

static void edge_pass(lower *L, const rows_plan *z, int pass, kir_id lo, kir_id hi, kir_id count)
{
    const region *r = L->r;
    const gir_type *g = gir_type_of(L->p, r->graph);
    for (uint32_t m = 0; m < r->members.n; m++)
        if (z->pass[m] == pass && edge_constant(L, gir_in(L->p, r->members.p[m], 1)))
            scatter_constant(L, r->members.p[m], count);
    kir_id *tile = begin_accumulators(L, z, pass);
    bool any = false;
    for (uint32_t m = 0; m < r->members.n; m++) any = any || tile[m];
    if (!any) return;
    kir_id e = low_open(L, lo, hi, 1, KIR_SERIAL, KIR_REDUCE);
    L->edge = (where){.space = g->edge, .row = e, .level = L->depth};
    if (r->end == GIR_DST) {
        L->edge.dst = L->row.row;
        L->edge.src = low_load(L, low_buffer_of_graph(L, r->graph, GN_GRAPH_COL), e);
    } else {
        L->edge.src = L->row.row;
        L->edge.dst = low_load(L, low_buffer_of_graph(L, r->graph, GN_GRAPH_CSC_ROW), e);
        L->edge.row = low_load(L, low_buffer_of_graph(L, r->graph, GN_GRAPH_CSC_EDGE), e);
    }
    pass_body(L, tile);
    low_close(L);
    L->edge = (where){0};
    finish_accumulators(L, tile, count);
}

static void edge_passes(lower *L, const rows_plan *z)
{
    const region *r = L->r;
    if (!r->graph) return;
    int ptr = low_buffer_of_graph(L, r->graph, r->end == GIR_DST ? GN_GRAPH_ROW_PTR : GN_GRAPH_COL_PTR);
    kir_id lo = low_load(L, ptr, L->row.row);
    kir_id hi = low_load(L, ptr, low_int(L, KIR_IADD, L->row.row, low_iconst(L, 1)));
    kir_id count = low_int(L, KIR_ISUB, hi, lo);
    for (int pass = 1; pass <= z->passes; pass++) edge_pass(L, z, pass, lo, hi, count);
}

/* Rows -------------------------------------------------------------------------------------------------------------- */

/* Everything stored, one loop over lanes a width; all values first, then the stores. */
static void store_members(lower *L)
{
    const region *r = L->r;
    bool *done = GN_NEW_N(L->arena, bool, r->members.n);
    kir_id *value = GN_NEW_N(L->arena, kir_id, r->members.n);
    bool lane_rows = L->row.level == L->depth && L->depth > 0 && kir_at(L->k, low_at(L)->owner)->unit == KIR_VECTOR;
    for (uint32_t m = 0; m < r->members.n; m++) {
        gir_id first = r->members.p[m];
        if (done[m] || !L->f->stored[first] || gir_at(L->p, first)->op == GIR_SPACE_REDUCE) continue;
        int64_t n = fu_elems(L->p, first);
        bool loop = n > 1 && !lane_rows;
        kir_id j = loop ? low_open_n(L, n, KIR_VECTOR, KIR_NONE) : low_iconst(L, 0);
        for (int stage = 0; stage < 2; stage++) {
            for (uint32_t o = m; o < r->members.n; o++) {
                gir_id v = r->members.p[o];
                if (done[o] || !L->f->stored[v] || fu_elems(L->p, v) != n || gir_at(L->p, v)->op == GIR_SPACE_REDUCE)
                    continue;
                if (stage == 0) {
                    low_ix x = low_index(gir_type_of(L->p, v), j);
                    value[o] = low_value(L, v, &L->row, &x);
                } else {
                    low_store_value(L, v, &L->row, j, value[o]);
                    done[o] = true;
                }
            }
        }
        if (loop) low_close(L);
    }
}

static void add_to_sinks(lower *L, const rows_plan *z)
{
    for (uint32_t s = 0; s < z->sink.n; s++) {
        gir_id v = z->sink.p[s], o = gir_in(L->p, v, 0);
        int64_t n = fu_elems(L->p, v);
        kir_id j = n > 1 ? low_open_n(L, n, KIR_VECTOR, KIR_NONE) : low_iconst(L, 0);
        low_ix x = low_index(gir_type_of(L->p, o), j);
        kir_id value = low_value(L, o, &L->row, &x);
        kir_tacc(L->k, low_at(L), (kir_red)gir_at(L->p, v)->attr.i[0], z->acc.p[s], j, value);
        if (n > 1) low_close(L);
    }
}

static void row_body(lower *L, const rows_plan *z)
{
    edge_passes(L, z);
    store_members(L);
    add_to_sinks(L, z);
}

/* Rows [lo, hi) of one worker, one after another or as lanes. */
static void row_loop(lower *L, const rows_plan *z, kir_id lo, kir_id hi)
{
    kir_race race = z->sinks ? KIR_REDUCE : KIR_NONE;
    kir_id i = low_open(L, lo, hi, 1, z->lanes ? KIR_VECTOR : KIR_SERIAL, race);
    L->row = (where){.space = L->r->space, .row = i, .level = L->depth};
    row_body(L, z);
    low_close(L);
}

static void begin_sinks(lower *L, rows_plan *z)
{
    for (uint32_t s = 0; s < z->sink.n; s++) {
        gir_id v = z->sink.p[s];
        int64_t n = fu_elems(L->p, v);
        kir_id tile = kir_tile(L->k, low_at(L), member_elem(L, v), n);
        GN_PUSH(L->arena, z->acc, tile);
        fill_tile(L, tile, n, low_start(L, member_elem(L, v), (int)gir_at(L->p, v)->attr.i[0]));
    }
}

static void store_partials(lower *L, const rows_plan *z, kir_id chunk)
{
    for (uint32_t s = 0; s < z->sink.n; s++) {
        int64_t n = fu_elems(L->p, z->sink.p[s]);
        int b = low_kernel_buffer(L, z->part.p[s], KIR_WRITE);
        kir_id base = low_int(L, KIR_IMUL, chunk, low_iconst(L, n));
        kir_id j = low_open_n(L, n, KIR_VECTOR, KIR_NONE);
        kir_store(L->k, low_at(L), b, low_int(L, KIR_IADD, base, j), kir_tload(L->k, low_at(L), z->acc.p[s], j));
        low_close(L);
    }
}

/* Blocks of rows: what a worker takes where rows are lanes, or what one partial sum covers. */
static void blocked_rows(lower *L, rows_plan *z, int64_t block)
{
    gir_space_id s = L->r->space;
    kir_id n = low_sym_value(L, s, 1);
    kir_id at = low_open(L, low_iconst(L, 0), n, block, KIR_THREAD, KIR_NONE);
    kir_id end = low_int(L, KIR_IMIN, low_int(L, KIR_IADD, at, low_iconst(L, block)), n);
    begin_sinks(L, z);
    row_loop(L, z, at, end);
    if (z->sinks) store_partials(L, z, low_int(L, KIR_IDIV, at, low_iconst(L, block)));
    low_close(L);
    L->launch.step = block;
}

static void make_partials(lower *L, rows_plan *z)
{
    for (uint32_t s = 0; s < z->sink.n; s++) {
        gir_id v = z->sink.p[s];
        low_size size = {.coef = fu_elems(L->p, v), .sym = low_sym_of(L, L->r->space, L->sched.chunk_rows)};
        const char *name = gn_arena_printf(L->arena, "partial_%u", v);
        GN_PUSH(L->arena, z->part, low_temp(L, name, member_elem(L, v), size));
    }
}

void low_rows(lower *L)
{
    const region *r = L->r;
    rows_plan z = plan_rows(L);
    low_begin(L, "rows");
    if (r->space == 0) {
        L->row = (where){.space = 0, .row = low_iconst(L, 0), .level = 0};
        store_members(L);
    } else {
        make_partials(L, &z);
        low_size n = {.coef = 1, .sym = low_sym_of(L, r->space, 1)};
        L->launch.trip = n;
        if (z.sinks) {
            blocked_rows(L, &z, L->sched.chunk_rows);
        } else if (z.lanes) {
            blocked_rows(L, &z, L->sched.row_block);
        } else {
            kir_id i = low_open(L, low_iconst(L, 0), low_sym_value(L, r->space, 1), 1, KIR_THREAD, KIR_NONE);
            L->row = (where){.space = r->space, .row = i, .level = L->depth};
            row_body(L, &z);
            low_close(L);
            L->launch.step = 1;
        }
        L->launch.balance = r->graph;
        L->launch.balance_end = r->end;
    }
    low_end(L);
    for (uint32_t s = 0; s < z.sink.n; s++)
        low_finish_partials(L, z.sink.p[s], z.part.p[s], (int)gir_at(L->p, z.sink.p[s])->attr.i[0], r->space,
                            L->sched.chunk_rows);
}

/* Elements ---------------------------------------------------------------------------------------------------------- */

void low_flat(lower *L)
{
    int64_t n = L->r->n, block = L->sched.row_block;
    low_begin(L, "flat");
    kir_id end = low_iconst(L, n);
    L->launch.trip = (low_size){.coef = n, .sym = -1};
    L->launch.step = block;
    L->row = (where){.space = 0, .row = low_iconst(L, 0), .level = 0};
    kir_id at = low_open(L, low_iconst(L, 0), end, block, KIR_THREAD, KIR_NONE);
    kir_id hi = low_int(L, KIR_IMIN, low_int(L, KIR_IADD, at, low_iconst(L, block)), end);
    kir_id f = low_open(L, at, hi, 1, KIR_VECTOR, KIR_NONE);
    const region *r = L->r;
    kir_id *value = GN_NEW_N(L->arena, kir_id, r->members.n);
    for (uint32_t m = 0; m < r->members.n; m++) {
        if (!L->f->stored[r->members.p[m]]) continue;
        low_ix x = low_index(gir_type_of(L->p, r->members.p[m]), f);
        value[m] = low_value(L, r->members.p[m], &L->row, &x);
    }
    for (uint32_t m = 0; m < r->members.n; m++)
        if (L->f->stored[r->members.p[m]]) low_store_value(L, r->members.p[m], &L->row, f, value[m]);
    low_close(L);
    low_close(L);
    low_end(L);
}
