/* lower_value: a value of the tensor IR at one row and element, as instructions.
 *
 * low_value is demand-driven: it looks through everything that is INLINE or belongs to the region
 * at hand, and stops at what lies in memory or in a tile.  Each instruction lands at the outermost
 * level where its operands are known: a scalar of a row outside the loop over columns, a scalar of
 * the program outside all loops. */
#include "lower/lower_impl.h"

#include <string.h>

/* Memory --------------------------------------------------------------------------------------- */

gn_elem low_elem(gn_elem e)
{
    if (e == GN_F64) return GN_F64;
    if (gn_elem_is_float(e)) return GN_F32;
    return e == GN_BOOL ? GN_BOOL : GN_I64;
}

kir_id low_load(lower *L, int buffer, kir_id at)
{
    int b = low_kernel_buffer(L, buffer, KIR_READ);
    return kir_load(L->k, low_at(L), b, at);
}

void low_note_far_read(lower *L, gir_id v, const where *w, int64_t elems)
{
    bool at_edge = L->far_edge && w->row == L->far_edge,
         known = !at_edge && (!L->far || w->row != L->far);
    for (uint32_t k = 0; k < L->far_reads.n && !known; k++) known = L->far_reads.p[k].value == v;
    if (!known) GN_PUSH(L->arena, L->far_reads, ((far_read){v, elems, at_edge}));
}

static kir_id row_offset(lower *L, gir_id v, const where *w, kir_id lin)
{
    if (gir_type_of(L->p, v)->space == 0) return lin;
    return low_scaled_add(L, w->row, fu_elems(L->p, v), lin);
}

void low_store_from(lower *L, int b, kir_id at, kir_id tile, kir_id j)
{
    kir_store(L->k, low_at(L), b, at, kir_tload(L->k, low_at(L), tile, j));
}

where low_node_at(lower *L, gir_space_id s, kir_id row)
{
    return (where){.space = s, .row = row, .level = L->depth};
}

where low_end_of(lower *L, gir_id g, const where *w, int end)
{
    const gir_type *t = gir_type_of(L->p, g);
    gir_space_id s = end == GIR_SRC ? t->src : t->dst;
    kir_id known = w->graph != g ? 0 : end == GIR_SRC ? w->src : w->dst;
    if (known && known == L->row.row && s == L->row.space) return L->row;
    where n = {.space = s, .row = known, .level = w->level};
    if (known) return n;
    int array = low_buffer_of_graph(L, g, end == GIR_SRC ? GN_GRAPH_COL : GN_GRAPH_ROW);
    int save = L->depth;
    L->depth = w->level;
    for (uint32_t i = L->int_memos.n; i-- > 0 && !n.row;) {
        const int_memo *m = &L->int_memos.p[i];
        if (m->op == KIR_LOAD && m->a == w->row && m->b == (kir_id)array &&
            low_visible(L, m->level, m->owner))
            n.row = m->result;
    }
    if (!n.row) {
        n.row = low_load(L, array, w->row);
        GN_PUSH(L->arena, L->int_memos,
                ((int_memo){KIR_LOAD, w->row, (kir_id)array, n.row, L->depth, low_at(L)->owner}));
    }
    L->depth = save;
    return n;
}

void low_store_value(lower *L, gir_id v, const where *w, kir_id lin, kir_id value)
{
    if (L->put[v]) {
        low_store_put(L, v, w, lin, value);
        return;
    }
    gir_id of = low_of(L, v);
    int b = low_kernel_buffer(L, low_buffer_of_value(L, v), KIR_WRITE);
    kir_id at = row_offset(L, v, w, lin);
    kir_store(L->k, low_at(L), b, at, value);
    low_of(L, of);
}

/* The row's number in the user's order: what random draws and iota count by. */
static kir_id user_row(lower *L, const where *w)
{
    if (w->space == 0) return low_iconst(L, 0);
    const gir_space *s = &L->p->spaces.p[w->space];
    if (s->graph == 0) return w->row;
    gn_graph_array array = s->kind == GIR_EDGE ? GN_GRAPH_POS : GN_GRAPH_COL;
    return low_load(L, low_buffer_of_graph(L, s->graph, array), w->row);
}

/* Cost: of one element from what is stored, in about the time of an addition. ------------------ */

float low_cost(lower *L, gir_id v)
{
    if (L->cost[v] >= 0) return L->cost[v];
    const gir_node *n = gir_at(L->p, v);
    bool here = L->f->place[v] == FU_INLINE ||
                (L->f->place[v] == FU_REAL && L->f->region_of[v] == L->region);
    float c = 0;
    if (n->op == GIR_CONST || n->op == GIR_IOTA || n->op == GIR_SIZE) return L->cost[v] = 0;
    if (!here || n->op == GIR_REDUCE || n->op == GIR_SCATTER)
        return L->cost[v] = 1; /* stored, or in a tile */
    if (low_supposed(L, v)) return L->cost[v] = low_cost(L, gir_in(L->p, v, 1));
    for (int k = 0; k < n->n_in; k++) c += low_cost(L, gir_in(L->p, v, k));
    switch ((gir_op)n->op) {
    case GIR_EXP:
    case GIR_EXPM1:
    case GIR_LOG:
    case GIR_LOG1P:
    case GIR_SIGMOID: c += 12; break;
    case GIR_SIN:
    case GIR_COS:
    case GIR_TANH:
    case GIR_ERF:
    case GIR_POW: c += 20; break;
    case GIR_DIV:
    case GIR_RECIP:
    case GIR_SQRT:
    case GIR_RSQRT: c += 6; break;
    case GIR_RANDOM:
    case GIR_RNG_KEY: c += 20; break;
    case GIR_GATHER:
    case GIR_TAKE: c += 2; break;
    default: c += gir_ops[n->op].cls == GIR_CLASS_MAP ? 1 : 0; break;
    }
    return L->cost[v] = c < 1e6f ? c : 1e6f;
}

/* Tiles ---------------------------------------------------------------------------------------- */

void low_hold(lower *L, gir_id v, const where *w, kir_id tile, int lev)
{
    GN_PUSH(L->arena, L->tiles, ((held){v, w->row, tile, 0, lev, L->levels[lev].at.owner}));
}

void low_hold_block(lower *L, gir_id v, kir_id tile)
{
    int lev = L->block.level;
    GN_PUSH(L->arena, L->tiles,
            ((held){v, 0, tile, low_stride(L, fu_elems(L->p, v)), lev, L->levels[lev].at.owner}));
}

static const held *find_tile(const lower *L, gir_id v, const where *w)
{
    for (uint32_t i = L->tiles.n; i-- > 0;) {
        const held *h = &L->tiles.p[i];
        bool row = h->stride ? w->in_block && w->row == L->row.row : h->row == w->row;
        if (h->value == v && row && low_visible(L, h->level, h->owner)) return h;
    }
    return NULL;
}

static kir_id load_tile(lower *L, const held *h, const where *w, kir_id lin)
{
    kir_id tile = h->tile, off = h->stride ? low_times(L, w->in_block, h->stride) : 0;
    return kir_tload(L->k, low_at(L), tile, low_in_tile(L, off, lin));
}

/* Where the reduced element is, given the loop over the results and the one over what is
 * reduced. */
static low_ix reduced_index(lower *L, const gir_type *t, int64_t axes, kir_id out, kir_id in)
{
    low_ix kept = {.lin = out}, gone = {.lin = in}, x = {.rank = t->rank, .has_comp = true};
    for (int i = 0; i < t->rank; i++) {
        low_ix *to = axes >> i & 1 ? &gone : &kept;
        to->dim[to->rank++] = t->dim[i];
        x.dim[i] = t->dim[i];
    }
    low_ix_comp(L, &kept);
    low_ix_comp(L, &gone);
    for (int i = 0, a = 0, b = 0; i < t->rank; i++)
        x.comp[i] = axes >> i & 1 ? gone.comp[b++] : kept.comp[a++];
    return x;
}

/* Short sums along a row are taken at once, not one after another: lanes run over all elements, and
 * those that hold the elements of one result add them up. In the lanes of a group they meet; in
 * vectors, halves of several sums are added by one instruction, as long as the row is a few
 * vectors. */
static bool in_segments(const lower *L, const gir_node *n, const gir_type *t, int64_t outs,
                        int64_t ins)
{
    enum { SHORTEST = 4, MOST_VECTORS = 16 };
    int64_t lanes = L->opt->limits.lanes;
    bool last = n->attr.i[1] == (int64_t)1 << (t->rank - 1), power = (ins & (ins - 1)) == 0;
    bool few = L->opt->limits.shared_bytes ? ins <= lanes : ins <= MOST_VECTORS * lanes / outs;
    return last && power && outs > 1 && ins >= SHORTEST && few &&
           gn_is_on(L->opt->off, GN_DO_SEGMENTS);
}

static void reduce_segments(lower *L, gir_id v, const where *w, kir_id tile, int64_t ins)
{
    gir_id o = gir_in(L->p, v, 0);
    kir_id j = low_open_n(L, fu_elems(L->p, o), KIR_VECTOR, KIR_REDUCE);
    low_ix x = low_index(gir_type_of(L->p, o), j);
    kir_id value = low_value(L, o, w, &x);
    kir_id out = low_int(L, KIR_IDIV, j, low_iconst(L, ins));
    kir_tacc(L->k, low_at(L), (kir_red)gir_at(L->p, v)->attr.i[0], tile, out, value);
    low_close(L);
}

/* Lanes run along the reduced axis where that is the last one and not tiny, else along the results.
 * The results are the tile's elements from `off` on. */
static void reduce_into(lower *L, gir_id v, const where *w, kir_id tile, kir_id off)
{
    const gir_node *n = gir_at(L->p, v);
    gir_id o = gir_in(L->p, v, 0);
    const gir_type *t = gir_type_of(L->p, o);
    int64_t outs = fu_elems(L->p, v), ins = fu_elems(L->p, o) / outs;
    bool along = (n->attr.i[1] >> (t->rank - 1) & 1) && (ins > 4 || outs == 1);
    gn_elem e = low_elem((gn_elem)n->type.elem);
    low_of(L, v);
    kir_id j = low_open_n(L, outs, KIR_VECTOR, KIR_NONE);
    kir_tstore(L->k, low_at(L), tile, low_in_tile(L, off, j), low_start(L, e, (int)n->attr.i[0]));
    low_close(L);
    if (off == 0 && in_segments(L, n, t, outs, ins)) {
        reduce_segments(L, v, w, tile, ins);
        return;
    }
    kir_id out, in;
    int64_t outer = along ? outs : ins, lanes = along ? ins : outs;
    bool loop = outer > 1;
    kir_unit unit = outer * ((lanes + L->opt->limits.lanes - 1) / L->opt->limits.lanes) <= 16
                        ? KIR_UNROLL
                        : KIR_SERIAL;
    kir_id a = loop ? low_open_n(L, outer, unit, along ? KIR_NONE : KIR_REDUCE) : low_iconst(L, 0);
    kir_id b = low_open_n(L, lanes, KIR_VECTOR, along ? KIR_REDUCE : KIR_NONE);
    out = along ? a : b;
    in = along ? b : a;
    low_ix x = reduced_index(L, t, n->attr.i[1], out, in);
    kir_id value = low_value(L, o, w, &x);
    kir_tacc(L->k, low_at(L), (kir_red)n->attr.i[0], tile, low_in_tile(L, off, out), value);
    low_close(L);
    if (loop) low_close(L);
}

static void fill(lower *L, gir_id v, const where *w, kir_id tile, kir_id off, kir_id j)
{
    low_ix x = low_index(gir_type_of(L->p, v), j);
    gir_id outer = L->filling;
    L->filling = v;
    kir_id value = low_value(L, v, w, &x);
    L->filling = outer;
    kir_tstore(L->k, low_at(L), tile, low_in_tile(L, off, j), value);
}

static bool computed_here(const lower *L, gir_id v, const where *w)
{
    if (L->f->place[v] == FU_INLINE) return true;
    kir_id row = L->f->walk[v] ? L->edge.row : L->row.row;
    return L->f->place[v] == FU_REAL && L->f->region_of[v] == L->region && w->row == row &&
           gir_at(L->p, v)->op != GIR_SPACE_REDUCE;
}

/* Of all rows of the block. */
static kir_id block_tile(lower *L, gir_id v)
{
    const gir_node *n = gir_at(L->p, v);
    int64_t elems = fu_elems(L->p, v), stride = low_stride(L, elems);
    bool reduce = n->op == GIR_REDUCE && computed_here(L, v, &L->row);
    where row = L->row;
    kir_id tile = kir_tile(L->k, low_at(L), low_elem((gn_elem)n->type.elem),
                           stride * L->sched.rows_at_once);
    if (reduce) { /* loops over what is reduced stand in it, so rows are not lanes */
        kir_id r = low_open(L, low_iconst(L, 0), L->block.rows, 1, KIR_SERIAL, KIR_NONE);
        low_row_of_block(L, r);
        reduce_into(L, v, &L->row, tile, low_times(L, r, stride));
        low_close(L);
    } else {
        kir_id j = low_open_row(L, elems, KIR_NONE);
        fill(L, v, &L->row, tile, low_times(L, L->row.in_block, stride), j);
        low_close_row(L, elems);
    }
    L->row = row;
    low_hold_block(L, v, tile);
    return tile;
}

void low_tile_of(lower *L, gir_id v, const where *w)
{
    if (find_tile(L, v, w)) return;
    const gir_node *n = gir_at(L->p, v);
    gir_id of = L->k->of;
    level saved[MAX_LEVELS];
    bool block = L->block.on && w->in_block && w->row == L->row.row;
    int depth = L->depth, at = block ? L->block.level : w->level;
    memcpy(saved, L->levels, sizeof saved);
    L->depth = at;
    if (block) {
        block_tile(L, v);
    } else {
        kir_id tile = kir_tile(L->k, low_at(L), low_elem((gn_elem)n->type.elem), fu_elems(L->p, v));
        if (n->op == GIR_REDUCE && computed_here(L, v, w)) {
            reduce_into(L, v, w, tile, 0);
        } else {
            fill(L, v, w, tile, 0, low_open_n(L, fu_elems(L->p, v), KIR_VECTOR, KIR_NONE));
            low_close(L);
        }
        low_hold(L, v, w, tile, at);
    }
    memcpy(&L->levels[at + 1], &saved[at + 1], sizeof(level) * (size_t)(MAX_LEVELS - at - 1));
    L->levels[at].after = saved[at].after;
    L->depth = depth;
    low_of(L, of);
}

/* Values --------------------------------------------------------------------------------------- */

static kir_id random_value(lower *L, gir_id v, const where *w, low_ix *x)
{
    kir_id row = user_row(L, w);
    return low_random_at(L, v, w, low_scaled_add(L, row, fu_elems(L->p, v), low_ix_lin(L, x)));
}

static kir_id leaf_value(lower *L, gir_id v, const where *w, low_ix *x)
{
    const gir_node *n = gir_at(L->p, v);
    gn_elem e = low_elem((gn_elem)n->type.elem);
    kir_id i;
    switch ((gir_op)n->op) {
    case GIR_CONST: return low_const(L, e, n->attr.f);
    case GIR_IOTA:
        if (n->attr.i[0] >= 0) low_ix_comp(L, x);
        i = n->attr.i[0] < 0 ? user_row(L, w) : x->comp[n->attr.i[0]];
        return kir_cast(L->k, low_at(L), i, e);
    default: return kir_cast(L->k, low_at(L), low_sym_value(L, (gir_space_id)n->attr.i[0], 1), e);
    }
}

static kir_id load_at_edge(lower *L, gir_id g, const where *w, gn_graph_array plain,
                           gn_graph_array by_source)
{
    return w->by_source ? low_load(L, low_buffer_of_graph(L, g, by_source), w->by_source)
                        : low_load(L, low_buffer_of_graph(L, g, plain), w->row);
}

static bool is_picked(const lower *L, gir_id v)
{
    return gir_at(L->p, v)->op == GIR_TAKE && gir_picks_once(L->p, gir_in(L->p, v, 0));
}

/* cell(g, v): v at the edge's destination row and source column.  Of the matrix that g is the
 * pattern of, picked rows or all, the runtime keeps the values; and the places of its elements,
 * which random numbers are drawn by. */
static kir_id cell_value(lower *L, gir_id v, const where *w)
{
    gir_id g = gir_in(L->p, v, 0), o = gir_in(L->p, v, 1), base = o, pattern = g;
    while (gir_at(L->p, base)->op == GIR_DETACH || is_picked(L, base))
        base = gir_in(L->p, base, gir_at(L->p, base)->op == GIR_TAKE);
    while (gir_at(L->p, pattern)->op == GIR_RESTRICT) pattern = gir_in(L->p, pattern, 0);
    if (gir_at(L->p, pattern)->op == GIR_PATTERN && gir_in(L->p, pattern, 0) == base)
        return load_at_edge(L, g, w, GN_GRAPH_VALUE, GN_GRAPH_CSC_VALUE);
    /* edges have places of their own */
    bool by_row = L->p->spaces.p[gir_type_of(L->p, o)->space].kind != GIR_EDGE;
    if (gir_at(L->p, pattern)->op == GIR_PATTERN && gir_at(L->p, o)->op == GIR_RANDOM && by_row)
        return low_random_at(L, o, w, load_at_edge(L, g, w, GN_GRAPH_CELL, GN_GRAPH_CSC_CELL));
    where col = low_end_of(L, g, w, GIR_SRC), row = low_end_of(L, g, w, GIR_DST);
    row.level = w->level;
    low_ix x = low_index(gir_type_of(L->p, o), col.row);
    return low_value(L, o, &row, &x);
}

static kir_id compute(lower *L, gir_id v, const where *w, low_ix *x)
{
    const gir_node *n = gir_at(L->p, v);
    kir_id a[3] = {0};
    switch (gir_ops[n->op].cls) {
    case GIR_CLASS_LEAF: return leaf_value(L, v, w, x);
    case GIR_CLASS_VIEW: return low_view_value(L, v, w, x);
    case GIR_CLASS_RANDOM: return random_value(L, v, w, x);
    case GIR_CLASS_MAP:
        if (low_supposed(L, v)) return low_value(L, gir_in(L->p, v, 1), w, x);
        for (int k = 0; k < n->n_in && k < 3; k++) {
            low_ix y = *x;
            a[k] = low_value(L, gir_in(L->p, v, k), w, &y);
            if (!x->lin && y.lin) x->lin = y.lin;
        }
        return low_map(L, v, a);
    default: break;
    }
    if (n->op == GIR_GATHER) {
        where there = low_end_of(L, gir_in(L->p, v, 0), w, (int)n->attr.i[0]);
        return low_value(L, gir_in(L->p, v, 1), &there, x);
    }
    if (n->op == GIR_TAKE) { /* edge k of a pick ends at row k */
        where edge = {
            .space = gir_type_of(L->p, gir_in(L->p, v, 0))->edge, .row = w->row, .level = w->level};
        where there = low_end_of(L, gir_in(L->p, v, 0), &edge, GIR_SRC);
        return low_value(L, gir_in(L->p, v, 1), &there, x);
    }
    if (n->op == GIR_CELL) return cell_value(L, v, w);
    if (n->op == GIR_ROW_VALUE)
        return low_load(L, low_buffer_of_graph(L, gir_in(L->p, v, 0), GN_GRAPH_ROW_VALUE), w->row);
    low_fail(L, v, "'%s' is not computed in a region of its kind", gir_ops[n->op].text);
    return low_iconst(L, 0);
}

/* Does one of it take as long as a vector of them? */
static bool is_slow(gir_op op)
{
    return op == GIR_DIV || op == GIR_RECIP || op == GIR_SQRT || op == GIR_RSQRT ||
           op == GIR_RANDOM || op == GIR_POW || (op >= GIR_EXP && op <= GIR_ERF);
}

/* Row vectors worth a tile: reductions always; work that would be repeated for every lane that
 * reads it.  Of a block, slow scalars of rows too: they are computed with rows as the lanes, if the
 * loop at hand is not that already. */
static bool wants_tile(lower *L, gir_id v, const where *w, bool here)
{
    const gir_node *n = gir_at(L->p, v);
    int64_t elems = fu_elems(L->p, v);
    if (!here || v == L->filling) return false;
    if (n->op == GIR_REDUCE) return true;
    if (elems == 1 && L->block.on && w->in_block && w->row == L->row.row)
        return is_slow((gir_op)n->op) && kir_at(L->k, w->in_block)->unit != KIR_VECTOR;
    if (elems == 1 || elems > L->sched.tile_max || L->r->kind != RG_ROWS) return false;
    if (L->f->place[v] != FU_REAL || w->row != L->row.row) return false;
    bool every_edge = L->edge.space != 0; /* which would compute it again */
    return (L->f->uses[v] > 1 || every_edge) && low_cost(L, v) >= 4;
}

/* An operand of a broadcast is read by several lanes: it is computed or loaded once, and spread
 * from registers. */
static bool broadcast_wants_tile(lower *L, gir_id v)
{
    const gir_node *n = gir_at(L->p, v);
    if (L->r->kind != RG_ROWS || n->op != GIR_BROADCAST) return false;
    gir_id o = gir_in(L->p, v, 0);
    while (fu_is_identity_view(L->p, o)) o = gir_in(L->p, o, 0);
    int64_t from = fu_elems(L->p, o);
    return from > 1 && from <= L->sched.tile_max && from < fu_elems(L->p, v) && low_cost(L, o) > 0;
}

/* An edge value that is sliced is read slice by slice: it is computed once, as a vector. */
static bool slice_wants_tile(lower *L, gir_id v)
{
    if (L->r->kind != RG_ROWS || gir_at(L->p, v)->op != GIR_SLICE) return false;
    gir_id o = gir_in(L->p, v, 0);
    if (!fu_is_edge_space(L->p, gir_type_of(L->p, o)->space)) return false;
    return fu_elems(L->p, o) > fu_elems(L->p, v) && fu_elems(L->p, o) <= L->sched.tile_max &&
           low_cost(L, o) > 0;
}

static kir_id value_now(lower *L, gir_id v, const where *w, low_ix *x)
{
    if (L->product == v) return kir_tload(L->k, low_at(L), L->product_tile, L->product_at);
    const held *tile = find_tile(L, v, w);
    bool here = computed_here(L, v, w);
    if (!tile && wants_tile(L, v, w, here)) {
        low_tile_of(L, v, w);
        tile = find_tile(L, v, w);
    }
    if (tile) return load_tile(L, tile, w, low_ix_lin(L, x));
    if (!here) {
        if (L->value_buffer[v] < 0 && L->f->place[v] == FU_REAL && !L->f->stored[v])
            low_fail(L, v, "is read by another loop but is not stored");
        low_note_far_read(L, v, w, fu_elems(L->p, v));
        int buffer = low_buffer_of_value(L, v);
        return low_load(L, buffer, row_offset(L, v, w, low_ix_lin(L, x)));
    }
    if (broadcast_wants_tile(L, v)) {
        gir_id o = gir_in(L->p, v, 0);
        while (fu_is_identity_view(L->p, o)) o = gir_in(L->p, o, 0);
        where at = gir_type_of(L->p, o)->space ? *w : (where){0};
        if (gir_type_of(L->p, o)->space) low_tile_of(L, o, &at);
    }
    if (slice_wants_tile(L, v)) low_tile_of(L, gir_in(L->p, v, 0), w);
    gir_id of = low_of(L, v);
    kir_id r = compute(L, v, w, x);
    low_of(L, of);
    return r;
}

kir_id low_value(lower *L, gir_id v, const where *w, low_ix *x)
{
    where none = {0};
    if (L->error) return low_iconst(L, 0);
    if (gir_type_of(L->p, v)->space == 0) w = L->r->space == 0 ? &L->row : &none;
    bool scalar = fu_elems(L->p, v) == 1;
    if (scalar) { /* wherever the reader's index is known, this one's is everywhere */
        *x = low_index(gir_type_of(L->p, v), low_iconst(L, 0));
        for (int k = 0; k < x->rank; k++) x->comp[k] = x->lin;
        x->has_comp = true;
    }
    kir_id lin = scalar ? x->lin : low_ix_lin(L, x);
    for (uint32_t i = L->memos.n; i-- > 0;) {
        const memo *m = &L->memos.p[i];
        if (m->value == v && m->row == w->row && m->lin == lin &&
            low_visible(L, m->level, m->owner))
            return m->result;
    }
    int depth = L->depth;
    bool outside = scalar && w->level < depth && L->product != v;
    if (outside) L->depth = w->level;
    kir_id r = value_now(L, v, w, x);
    GN_PUSH(L->arena, L->memos, ((memo){v, w->row, lin, r, L->depth, low_at(L)->owner}));
    L->depth = depth;
    return r;
}
