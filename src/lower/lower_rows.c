/* lower_rows: regions whose loop runs over rows (ROWS) or over the elements of parameters (FLAT).
 *
 * A row of a ROWS region is computed in this order: passes over its edges, one a level (a sum that
 * another sum's operand depends on comes a level before it); then, width by width, what it adds to
 * sums over the space and what is stored. Sums over a space are made chunk by chunk into partial
 * sums, and those are added in order by a second kernel: the shape of the tree depends on the
 * number of rows alone. */
#include "lower/lower_impl.h"

#include <math.h>
#include <stdlib.h>

typedef struct rows_plan {
    bool lanes; /* rows are the lanes: every value has one element a row, and there are no edges */
    int passes;
    int *pass; /* by member: of a SCATTER or an edge value, the pass that computes it (from 1); else
                  0 */
    bool sinks; /* sums over the space */
    GN_VEC(gir_id) sink;
    GN_VEC(int) part;   /* low_buffer of each sink's partial sums */
    GN_VEC(kir_id) acc; /* its tile */
    int n_scalars;      /* what a first version supposes to hold */
    gir_id scalar[LOW_MOST_SCALARS];
    int first_passes, *first_pass; /* of that version */
} rows_plan;

/* Planning ------------------------------------------------------------------------------------- */

typedef struct levels_of {
    const lower *L;
    int *level; /* by value; -1 unknown */
} levels_of;

/* The number of edge passes that must be over before `v` is known in this region. */
static int pass_level(levels_of *z, gir_id v)
{
    const lower *L = z->L;
    if (L->f->place[v] == FU_LEAF || (L->f->place[v] == FU_REAL && L->f->region_of[v] != L->region))
        return 0;
    if (z->level[v] >= 0) return z->level[v];
    int most = 0;
    const gir_node *n = gir_at(L->p, v);
    bool first = low_supposed(L, v);
    for (int k = 0; k < n->n_in; k++) {
        if (first && k != 1) continue;
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
    bool here = L->f->place[v] == FU_INLINE ||
                (L->f->place[v] == FU_REAL && L->f->region_of[v] == L->region);
    if (n->op == GIR_SPACE_REDUCE)
        return scalars_only(L, gir_in(L->p, v, 0), seen) && fu_elems(L->p, v) == 1;
    if (n->op == GIR_CELL || n->op == GIR_ROW_VALUE) return true;
    if (fu_elems(L->p, v) != 1) return false;
    if (!here) return true;
    if (n->op == GIR_REDUCE || n->op == GIR_SCATTER) return false;
    for (int k = n->op == GIR_GATHER || n->op == GIR_TAKE ? 1 : 0; k < n->n_in; k++)
        if (!scalars_only(L, gir_in(L->p, v, k), seen)) return false;
    return true;
}

/* The passes of the region's sums over edges, by member; returns how many. */
static int plan_passes(lower *L, int **pass)
{
    const region *r = L->r;
    int passes = 0;
    levels_of lv = {L, GN_NEW_N(L->arena, int, L->p->nodes.n)};
    for (uint32_t v = 0; v < L->p->nodes.n; v++) lv.level[v] = -1;
    *pass = GN_NEW_N(L->arena, int, r->members.n);
    for (uint32_t m = 0; m < r->members.n; m++) {
        gir_id v = r->members.p[m];
        if ((gir_at(L->p, v)->op != GIR_SCATTER && !L->f->walk[v]) || (L->alive && !L->alive[v]))
            continue;
        (*pass)[m] = low_pass_of(L, v, pass_level(&lv, v) + (L->f->walk[v] != 0));
        if ((*pass)[m] > passes) passes = (*pass)[m];
    }
    return passes;
}

static rows_plan plan_rows(lower *L)
{
    const region *r = L->r;
    rows_plan z = {.lanes = r->space != 0 && !r->n_walks};
    bool *seen = GN_NEW_N(L->arena, bool, L->p->nodes.n);
    for (uint32_t m = 0; m < r->members.n; m++) {
        gir_id v = r->members.p[m];
        if (gir_at(L->p, v)->op == GIR_SPACE_REDUCE) {
            z.sinks = true;
            GN_PUSH(L->arena, z.sink, v);
        }
        z.lanes = z.lanes && scalars_only(L, v, seen);
    }
    z.passes = plan_passes(L, &z.pass);
    z.n_scalars = low_version_scalars(L, z.scalar);
    if (z.n_scalars) {
        low_suppose(L, z.n_scalars, z.scalar);
        z.first_passes = plan_passes(L, &z.first_pass);
        low_suppose(L, 0, NULL);
    }
    return z;
}

/* Rows ----------------------------------------------------------------------------------------- */

static bool is_stored(const lower *L, gir_id v, int64_t n)
{
    return L->f->stored[v] && (!L->alive || L->alive[v]) && fu_elems(L->p, v) == n &&
           !L->f->walk[v] && gir_at(L->p, v)->op != GIR_SPACE_REDUCE;
}

static void add_to_sink(lower *L, const rows_plan *z, uint32_t s, kir_id j)
{
    gir_id v = z->sink.p[s], o = gir_in(L->p, v, 0);
    low_ix x = low_index(gir_type_of(L->p, o), j);
    low_of(L, v);
    kir_id value = low_value(L, o, &L->row, &x);
    kir_tacc(L->k, low_at(L), (kir_red)gir_at(L->p, v)->attr.i[0], z->acc.p[s], j, value);
}

static bool is_added(const lower *L, gir_id v, int64_t n)
{
    return (!L->alive || L->alive[v]) && fu_elems(L->p, v) == n;
}

/* What has n elements a row: all values, then what is added to sums over the space, then the
 * stores. */
static void rows_of_width(lower *L, const rows_plan *z, int64_t n)
{
    const region *r = L->r;
    bool sums = false;
    kir_id *value = GN_NEW_N(L->arena, kir_id, r->members.n);
    for (uint32_t s = 0; s < z->sink.n; s++) sums = sums || is_added(L, z->sink.p[s], n);
    kir_id j = low_open_row(L, n, sums ? KIR_REDUCE : KIR_NONE);
    for (uint32_t m = 0; m < r->members.n; m++) {
        low_ix x = low_index(gir_type_of(L->p, r->members.p[m]), j);
        if (is_stored(L, r->members.p[m], n)) value[m] = low_value(L, r->members.p[m], &L->row, &x);
    }
    for (uint32_t s = 0; s < z->sink.n; s++)
        if (is_added(L, z->sink.p[s], n)) add_to_sink(L, z, s, j);
    for (uint32_t m = 0; m < r->members.n; m++)
        if (is_stored(L, r->members.p[m], n))
            low_store_value(L, r->members.p[m], &L->row, j, value[m]);
    low_close_row(L, n);
}

static int by_width(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Everything that is stored or added up, one loop a width, the narrowest first: what is narrow may
 * be sums of wide rows that are read for it, over which a wide store may then be put
 * (ir/kir_overwrite.h). */
static void row_work(lower *L, const rows_plan *z)
{
    const region *r = L->r;
    GN_VEC(int64_t) widths = {0};
    for (uint32_t m = 0; m < r->members.n; m++) {
        gir_id v = r->members.p[m];
        if (!L->f->stored[v] && gir_at(L->p, v)->op != GIR_SPACE_REDUCE) continue;
        if (L->f->walk[v] || (L->alive && !L->alive[v])) continue;
        int64_t n = fu_elems(L->p, v);
        uint32_t k = 0;
        while (k < widths.n && widths.p[k] != n) k++;
        if (k == widths.n) GN_PUSH(L->arena, widths, n);
    }
    if (widths.n) qsort(widths.p, widths.n, sizeof *widths.p, by_width);
    for (uint32_t k = 0; k < widths.n; k++) rows_of_width(L, z, widths.p[k]);
}

/* Sums over the edges of each row of the block. */
static void edges_of_block(lower *L, const rows_plan *z)
{
    const region *r = L->r;
    if (!r->n_walks) return;
    kir_id *tile = GN_NEW_N(L->arena, kir_id, r->members.n);
    for (uint32_t m = 0; m < r->members.n; m++) {
        gir_id v = r->members.p[m];
        int64_t all = low_stride(L, fu_elems(L->p, v)) * L->sched.rows_at_once;
        if (z->pass[m] && !L->f->walk[v])
            tile[m] = kir_tile(L->k, low_at(L), low_member_elem(L, v), all);
    }
    kir_id i = low_open(L, low_iconst(L, 0), L->block.rows, 1, KIR_SERIAL, KIR_NONE);
    low_row_of_block(L, i);
    L->row.in_block = 0;
    low_edge_passes(L, z->pass, z->passes);
    for (uint32_t m = 0; m < r->members.n; m++) {
        if (!tile[m]) continue;
        gir_id v = r->members.p[m];
        int64_t n = fu_elems(L->p, v);
        kir_id j = n > 1 ? low_open_n(L, n, KIR_VECTOR, KIR_NONE) : low_iconst(L, 0);
        kir_id off = low_times(L, i, low_stride(L, n));
        low_ix x = low_index(gir_type_of(L->p, v), j);
        kir_id value = low_value(L, v, &L->row, &x);
        kir_tstore(L->k, low_at(L), tile[m], low_in_tile(L, off, j), value);
        if (n > 1) low_close(L);
    }
    low_close(L);
    for (uint32_t m = 0; m < r->members.n; m++)
        if (tile[m]) low_hold_block(L, r->members.p[m], tile[m]);
}

/* The rows from `base` up to `end`, of which there are rows_at_once at most. */
static void block_body(lower *L, const rows_plan *z, kir_id base, kir_id end)
{
    L->block = (row_block){.level = L->depth, .base = base};
    L->block.rows = low_int(L, KIR_IMIN, low_int(L, KIR_ISUB, end, base),
                            low_iconst(L, L->sched.rows_at_once));
    edges_of_block(L, z);
    L->block.on = true;
    row_work(L, z);
    L->block.on = false;
}

/* Row i, or the block of rows from there up to `end`. */
static void row_body(lower *L, const rows_plan *z, kir_id i, kir_id end)
{
    L->row = (where){.space = L->r->space, .row = i, .level = L->depth};
    if (!z->lanes && L->sched.rows_at_once > 1) {
        block_body(L, z, i, end);
        return;
    }
    low_edge_passes(L, z->pass, z->passes);
    row_work(L, z);
}

static void row_versions(lower *L, const rows_plan *z, kir_id i, kir_id end)
{
    if (!z->n_scalars) {
        row_body(L, z, i, end);
        return;
    }
    rows_plan first = *z;
    first.pass = z->first_pass;
    first.passes = z->first_passes;
    kir_id hold = low_all_hold(L, z->n_scalars, z->scalar),
           not = kir_un(L->k, low_at(L), KIR_NOT, hold);
    low_open_if(L, hold);
    low_suppose(L, z->n_scalars, z->scalar);
    row_body(L, &first, i, end);
    low_suppose(L, 0, NULL);
    low_close(L);
    low_open_if(L, not);
    row_body(L, z, i, end);
    low_close(L);
}

/* Rows [lo, hi) of one worker: one after another, as lanes, or some together. */
static void row_loop(lower *L, const rows_plan *z, kir_id lo, kir_id hi)
{
    kir_race race = L->drawn ? KIR_ORDERED : z->sinks ? KIR_REDUCE : KIR_NONE;
    int64_t together = z->lanes ? 1 : L->sched.rows_at_once;
    kir_id i = low_open(L, lo, hi, together, z->lanes ? KIR_VECTOR : KIR_SERIAL, race);
    row_versions(L, z, i, hi);
    low_close(L);
}

static void begin_sinks(lower *L, rows_plan *z)
{
    for (uint32_t s = 0; s < z->sink.n; s++) {
        gir_id v = z->sink.p[s];
        int64_t n = fu_elems(L->p, v);
        low_of(L, v);
        kir_id tile = kir_tile(L->k, low_at(L), low_member_elem(L, v), n);
        GN_PUSH(L->arena, z->acc, tile);
        low_fill_tile(L, tile, n,
                      low_start(L, low_member_elem(L, v), (int)gir_at(L->p, v)->attr.i[0]));
    }
}

static void store_partials(lower *L, const rows_plan *z, kir_id chunk)
{
    for (uint32_t s = 0; s < z->sink.n; s++) {
        int64_t n = fu_elems(L->p, z->sink.p[s]);
        low_of(L, z->sink.p[s]);
        int b = low_kernel_buffer(L, z->part.p[s], KIR_WRITE);
        kir_id base = low_times(L, chunk, n);
        kir_id j = low_open_n(L, n, KIR_VECTOR, KIR_NONE);
        low_store_from(L, b, low_int(L, KIR_IADD, base, j), z->acc.p[s], j);
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
    if (L->drawn) low_draw_block(L, at, end);
    row_loop(L, z, at, end);
    if (z->sinks) store_partials(L, z, low_int(L, KIR_IDIV, at, low_iconst(L, block)));
    low_close(L);
    L->launch.step = block;
}

static void make_partials(lower *L, rows_plan *z)
{
    for (uint32_t s = 0; s < z->sink.n; s++) {
        gir_id v = z->sink.p[s];
        low_size size = {.coef = fu_elems(L->p, v),
                         .sym = low_sym_of(L, L->r->space, L->sched.chunk_rows)};
        const char *name = gn_arena_printf(L->arena, "partial_%u", v);
        GN_PUSH(L->arena, z->part, low_temp(L, name, low_member_elem(L, v), size));
    }
}

void low_rows(lower *L)
{
    const region *r = L->r;
    rows_plan z = plan_rows(L);
    low_parts(L,
              &(low_passes){z.pass, z.passes, z.n_scalars, z.scalar, z.first_pass, z.first_passes});
    low_drawn *drawn = low_rows_and_zeros(L);
    low_begin(L, "rows");
    L->drawn = drawn;
    if (drawn) L->sched.rows_at_once = 1;
    if (r->space == 0) {
        L->row = (where){.space = 0, .row = low_iconst(L, 0), .level = 0};
        row_work(L, &z);
    } else {
        /* lanes that are rows take a worker's rows side by side */
        if (z.lanes && L->opt->limits.shared_bytes && L->sched.chunk_rows < L->sched.row_block)
            L->sched.chunk_rows = L->sched.row_block;
        make_partials(L, &z);
        low_size n = {.coef = 1, .sym = low_sym_of(L, r->space, 1)};
        L->launch.trip = n;
        if (z.sinks) {
            blocked_rows(L, &z, L->sched.chunk_rows);
        } else if (z.lanes) {
            blocked_rows(L, &z, L->sched.row_block);
        } else if (L->drawn) {
            blocked_rows(L, &z, low_drawn_block());
        } else {
            kir_id end = low_sym_value(L, r->space, 1);
            kir_id i = low_open(L, low_iconst(L, 0), end, L->sched.rows_at_once, KIR_THREAD,
                                KIR_NONE);
            row_versions(L, &z, i, end);
            low_close(L);
            L->launch.step = L->sched.rows_at_once;
        }
        L->launch.n_balance = r->n_walks;
        for (int w = 0; w < r->n_walks; w++) L->launch.balance[w] = r->walk[w];
        L->launch.edges = low_parts_said(L);
    }
    low_end(L);
    for (uint32_t s = 0; s < z.sink.n; s++)
        low_finish_partials(L, z.sink.p[s], z.part.p[s], (int)gir_at(L->p, z.sink.p[s])->attr.i[0],
                            r->space, L->sched.chunk_rows);
}

/* Elements ------------------------------------------------------------------------------------- */

/* Is the element's number nothing to v but where it lies in memory?  Then the loop is the same for
 * any number of elements. */
static bool is_elementwise(const lower *L, gir_id v, bool *seen)
{
    const gir_program *p = L->p;
    const gir_node *n = gir_at(p, v);
    if (seen[v]) return true; /* or what reads it is none already */
    seen[v] = true;
    bool here = L->f->place[v] == FU_INLINE ||
                (L->f->place[v] == FU_REAL && L->f->region_of[v] == L->region);
    if (fu_elems(p, v) == 1) return true;
    if (!here) return fu_elems(p, v) == L->r->n;
    if (n->op == GIR_BROADCAST && !fu_is_identity_view(p, v))
        return fu_elems(p, gir_in(p, v, 0)) == 1;
    if (n->op != GIR_CONST && gir_ops[n->op].cls != GIR_CLASS_MAP && !fu_is_identity_view(p, v))
        return false;
    for (int k = 0; k < n->n_in; k++)
        if (!is_elementwise(L, gir_in(p, v, k), seen)) return false;
    return true;
}

/* How many elements there are is a symbol of the kernel's: updates of parameters of any size share
 * code.  Declines where the number says which element of something else is meant. */
static bool shares_sizes(const lower *L)
{
    bool all = gn_is_on(L->opt->off, GN_DO_SHARE_SIZES),
         *seen = GN_NEW_N(L->arena, bool, L->p->nodes.n);
    for (uint32_t m = 0; m < L->r->members.n; m++)
        all = all && is_elementwise(L, L->r->members.p[m], seen);
    return all;
}

static void sizes_of_elements(lower *L, int64_t n)
{
    for (uint32_t b = 0; b < L->k->buffers.n; b++) {
        kir_size *s = &L->k->buffers.p[b].size;
        if (s->sym < 0 && s->coef == n) *s = (kir_size){.coef = 1, .sym = 0};
    }
}

void low_flat(lower *L)
{
    int64_t n = L->r->n, block = L->sched.row_block;
    bool shares = shares_sizes(L);
    low_begin(L, "flat");
    kir_id end = shares ? low_count(L, n) : low_iconst(L, n);
    L->launch.trip = shares ? (low_size){.coef = 1, .sym = low_sym_of(L, 0, n)}
                            : (low_size){.coef = n, .sym = -1};
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
        if (L->f->stored[r->members.p[m]])
            low_store_value(L, r->members.p[m], &L->row, f, value[m]);
    low_close(L);
    low_close(L);
    if (shares) sizes_of_elements(L, n);
    low_end(L);
}
