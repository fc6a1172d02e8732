/* restrict_rows: rows that no masked sum reads are not computed. Needs: gradients not yet taken
 * (they then are of the picked rows only); sparsify before it, so that sparse features are a
 * relation: a training step runs the two before it takes gradients (build/step.c). Keeps: all
 * outputs, as long as the rows left out are finite (they were multiplied by a mask's 0).  Random
 * draws keep their index among all rows, so a mask drawn is the same either way.  Off unless
 * options.levels > 0.
 *
 * A loss over a mask is a sum over nodes of what is 0 outside of it, so it is a sum over the picked
 * rows.  What it is computed from row by row is needed on those rows; an aggregation needs its
 * operand on their in-neighbours too.  So there are levels: level 0 is the mask's rows, level k + 1
 * those of level k and the sources of edges into them (blocks, in sampling systems: Hamilton, Ying,
 * Leskovec 2017).  Where rows are of several spaces, each level has picks of those that relations
 * lead to.  Every value over nodes is computed once, at the highest level that anyone needs; who
 * needs fewer of its rows takes them.  Values over edges are computed again for each level of their
 * destinations.  What is not known to work row by row gets all rows, as
 * does what would need a level beyond the limit: levels pay while they leave rows out, which the
 * caller knows from the graph (gn_count_levels). */
#include "passes/restricter.h"

#include <string.h>

/* Does v sum edges up into rows of which some can be picked?  Of edges that are drawn anew at every
 * run as many must be left, so all are. */
static bool sums_up(const restricter *z, gir_id v)
{
    const gir_node *n = gir_at(z->from, v);
    return n->op == GIR_SCATTER && n->attr.i[0] == GIR_DST &&
           !gir_is_drawn(z->from, gir_in(z->from, v, 0));
}

/* Masked sums ---------------------------------------------------------------------------------- */

/* The mask outside of which `v` is 0 (false, if it is bool), from what is known of its operands; 0
 * where there is none to be seen. */
static gir_id zero_outside(const gir_program *p, gir_id v, const gir_id *zero)
{
    const gir_node *n = gir_at(p, v);
    switch ((gir_op)n->op) {
    case GIR_INPUT: {
        bool mask = n->type.elem == GN_BOOL && n->type.rank == 0 &&
                    p->spaces.p[n->type.space].kind == GIR_NODE;
        return mask && n->type.space ? v : 0;
    }
    case GIR_SELECT: return gir_is_zero(p, gir_in(p, v, 2)) ? zero[gir_in(p, v, 0)] : 0;
    case GIR_AND:
    case GIR_MUL: return zero[gir_in(p, v, 0)] ? zero[gir_in(p, v, 0)] : zero[gir_in(p, v, 1)];
    case GIR_DIV:
    case GIR_NEG:
    case GIR_CAST:
    case GIR_RESHAPE:
    case GIR_BROADCAST:
    case GIR_DETACH: return zero[gir_in(p, v, 0)];
    case GIR_REDUCE: return n->attr.i[0] == GIR_SUM ? zero[gir_in(p, v, 0)] : 0;
    default: return 0;
    }
}

/* The masks of sums over nodes, by value; `first` is the first of them. */
static gir_id *masks_of_sums(gn_arena *a, const gir_program *p, gir_id *first)
{
    gir_id *zero = GN_NEW_N(a, gir_id, p->nodes.n), *mask = GN_NEW_N(a, gir_id, p->nodes.n);
    *first = 0;
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        zero[v] = zero_outside(p, v, zero);
        if (n->op != GIR_SPACE_REDUCE || n->attr.i[0] != GIR_SUM) continue;
        mask[v] = zero[gir_in(p, v, 0)];
        if (mask[v] && !*first) *first = mask[v];
    }
    return mask;
}

/* Needs: from the outputs back ----------------------------------------------------------------- */

/* Are these the non-zeros of a matrix at its own pattern, which are there for picked rows too? */
static bool own_values(const gir_program *p, gir_id v)
{
    const gir_node *g = gir_at(p, gir_in(p, v, 0));
    return g->op == GIR_PATTERN && gir_in(p, gir_in(p, v, 0), 0) == gir_in(p, v, 1);
}

/* Is the edge value computed for a level from operands at that level (and sources one level up)?
 * Else its edges are carried over from all of them. */
static bool by_edges(const restricter *z, gir_id v)
{
    const gir_node *n = gir_at(z->from, v);
    /* graphs between rows that ends name (touch_rows.c) have the same edges and other rows */
    if (n->op == GIR_GATHER) return gir_in(z->from, v, 0) == over_edges(z, v);
    if (n->op == GIR_CELL)
        return own_values(z->from, v) || gn_is_made_up(z->from, gir_in(z->from, v, 1));
    return gn_is_by_rows(z->from, v);
}

static void need_operands_of_edges(restricter *z, gir_id v, gir_id g)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    for (int level = 0; level < z->levels; level++) {
        if (!(z->need[v] >> level & 1)) continue;
        if (!by_edges(z, v) || (level && in_batch(z, g))) {
            want(z, v, z->levels);
        } else if (n->op == GIR_GATHER && in_batch(z, g)) {
            z->of_batch[g] = (uint8_t)(1 + ((z->of_batch[g] - 1) | 1 << n->attr.i[0]));
            want(z, gir_in(p, v, 1), over_nodes(z, gir_in(p, v, 1)) ? 0 : z->levels);
        } else if (n->op == GIR_GATHER) {
            bool up = n->attr.i[0] == GIR_SRC;
            gir_id x = gir_in(p, v, 1);
            want(z, x, !up ? level : from_here(z, g) ? source_level(z, level) : z->levels);
            if (up && from_here(z, g)) z->through[g] = 1;
        } else if (n->op == GIR_CELL) {
            want(z, gir_in(p, v, 1), level);
        } else {
            for (int k = 0; k < n->n_in; k++) want(z, gir_in(p, v, k), level);
        }
    }
}

static void need_operands(restricter *z, gir_id v)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    gir_id g = over_edges(z, v);
    if (!z->need[v] || gn_sum_of_batch(z, v)) return;
    if (gn_sums_level(z, v) < z->levels) {
        gn_need_some(z, v);
        return;
    }
    if (g) need_operands_of_edges(z, v, g);
    int level = top(z->need[v]);
    bool sums = sums_up(z, v);
    if (level < z->levels && over_nodes(z, v) && (gn_is_by_rows(p, v) || sums)) {
        if (z->counted[v]) level = z->levels; /* of numbers that all edges have */
        for (int k = sums ? 1 : 0; k < n->n_in; k++) want(z, gir_in(p, v, k), level);
        if (sums) want(z, gir_in(p, v, 0), z->levels);
        return;
    }
    if (level < z->levels && g) return;
    bool masked = !z->support && z->sum_of[v] == z->mask;
    for (int k = 0; k < n->n_in; k++) want(z, gir_in(p, v, k), masked ? 0 : z->levels);
}

enum { NARROW = 4 }; /* numbers a row: as many are kept for all rows without a thought, of edges */

/* What has no rows of the mask's space, or cannot be had by rows, is there once and whole. */
static void whole_where_no_rows(restricter *z, gir_id v)
{
    bool rows = over_nodes(z, v) || over_edges(z, v), sums = sums_up(z, v);
    /* degrees and the like, and sums into rows that no messages of a batch go into: of all edges,
     * once */
    bool fixed = z->trained && !z->trained[v] && !z->random[v] && !z->induced && !is_shadow(z);
    bool narrow = fixed && !z->features[v] && gir_row_elems(gir_type_of(z->from, v)) <= NARROW;
    if (fixed && sums && z->need[v] && (narrow || z->need[v] >> (z->levels - 1) & 1)) {
        bool counted = narrow && gn_sums_some(z, v);
        if (counted) z->counted[v] = true;
        if (!counted) want(z, v, z->levels);
    }
    if (z->need[v] && (!rows || (over_nodes(z, v) && !gn_is_by_rows(z->from, v) && !sums &&
                                 gn_sums_level(z, v) == z->levels)))
        want(z, v, z->levels);
}

/* The new program: level by level -------------------------------------------------------------- */

enum { FIRST_SITE = 1 << 30 }; /* behind those of the model */

gir_id gn_key_of_draws(restricter *z)
{
    gir_type t = gir_tensor(GN_I64, 0, 0, NULL);
    if (z->key) return z->key;
    gir_id seed = gir_leaf(z->to, GIR_STATE, "rng.seed", &t);
    gir_id step = gir_leaf(z->to, GIR_STATE, "rng.step", &t);
    return z->key = gir_op2(z->to, GIR_RNG_KEY, seed, step);
}

bool gn_is_relation(const gir_program *p, gir_id g)
{
    while (gir_at(p, g)->op != GIR_GRAPH) {
        if (!gir_at(p, g)->n_in || !gir_type_of(p, gir_in(p, g, 0))->is_graph) return false;
        g = gir_in(p, g, 0);
    }
    return true;
}

/* Has a loop been added to every row, in the place of those that there were? */
static gn_draw_loops loops_of(const gir_program *p, gir_id g)
{
    for (; gir_at(p, g)->op != GIR_GRAPH; g = gir_in(p, g, 0)) {
        if (gir_at(p, g)->op == GIR_REMAINING_LOOPS) return GN_LOOPS_ALWAYS;
        if (gir_at(p, g)->op == GIR_SELF_LOOPS) return GN_LOOPS_KEPT;
    }
    return GN_LOOPS_DRAWN;
}

/* Those of g's edges into rows of the level that are drawn. */
static gir_id draw(restricter *z, gir_id g, int level, bool all)
{
    const gn_batch_spec *b = z->batches;
    gir_id rows = gn_pick_of(z, level, gir_type_of(z->from, g)->dst), key = gn_key_of_draws(z);
    const gir_drawing how = {.most = all ? INT64_MAX : b->fanout[level],
                             .site = FIRST_SITE + z->sites++,
                             .loops = loops_of(z->from, g),
                             .how = all ? GN_DRAW_UNIFORM : (int)b->draw,
                             .weight = all ? 0 : gn_draw_weights(z, g),
                             .time = b->apart ? gn_draw_times(z, g) : 0};
    return gir_draw(z->to, z->map[z->levels][g], key, rows, &how);
}

static bool draws_all(const gn_batch_spec *b, int level)
{
    return !b || level >= b->n_fanout || b->fanout[level] < 0;
}

/* The graph g of the whole, or those of its edges into rows of the level that are drawn. */
static gir_id edges_of(restricter *z, gir_id g, int level)
{
    gir_id whole = z->map[z->levels][g];
    bool all = draws_all(z->batches, level);
    gir_id *slot = &z->drawn[level][g];
    if (*slot) return *slot;
    if (in_batch(z, g) || !gn_is_relation(z->from, g)) return whole;
    if (is_apart(z) && all) return *slot = gn_edges_that_count(z, g, level);
    return *slot = gn_leave_batch_out(z, g, all ? whole : draw(z, g, level, false));
}

gir_id gn_edges_that_count(restricter *z, gir_id g, int level)
{
    gir_id *slot = &z->counting[level][g];
    if (*slot) return *slot;
    *slot = draw(z, g, level, true);
    if (is_apart(z)) return *slot; /* which ends in the rows */
    const gir_id in[2] = {gn_leave_batch_out(z, g, *slot),
                          gn_pick_of(z, level, gir_type_of(z->from, g)->dst)};
    return *slot = gir_make(z->to, GIR_RESTRICT, 2, in, &(gir_attr){.i = {2}}, NULL, NULL);
}

/* 0: no rows of the space are needed at this level. */
gir_id gn_pick_of(restricter *z, int level, gir_space_id s)
{
    gir_id *slot = &z->pick[level][s];
    if (*slot) return *slot;
    if (level == 0 && z->of_batch) return *slot = gn_pick_ends(z, s);
    if (level == 0) return s != space_of(z, z->mask) ? 0 : (*slot = gn_rows_of_batch(z));
    if (is_shadow(z)) {
        gn_pick_shadow(z);
        return *slot;
    }
    gir_id r = gn_pick_of(z, level - 1, s);
    for (gir_id g = 1; g < z->from->nodes.n; g++) {
        const gir_type *t = gir_type_of(z->from, g);
        if (!z->through[g] || t->src != s) continue;
        gir_id into = gn_pick_of(z, level - 1, t->dst);
        gir_id edges = into ? edges_of(z, g, level - 1) : 0;
        if (into) r = gir_grow(z->to, into, edges, r, GIR_SRC);
    }
    return *slot = r;
}

gir_id gn_among(restricter *z, gir_space_id s, int of, int level)
{
    gir_id *slot = &z->among[s][level * z->levels + of];
    const gir_id in[2] = {gn_pick_of(z, level, s), gn_pick_of(z, of, s)};
    if (!*slot) *slot = gir_make(z->to, GIR_RESTRICT, 2, in, &(gir_attr){.i = {1}}, NULL, NULL);
    return *slot;
}

/* The rows of `level` picked from those of level `of`. */
static gir_id take(restricter *z, gir_id x, gir_space_id s, int of, int level)
{
    gir_id rows = gn_pick_of(z, level, s);
    if (of == z->levels) return gir_op2(z->to, GIR_TAKE, rows, x);
    if (rows == gn_pick_of(z, of, s)) return x;
    return gir_op2(z->to, GIR_TAKE, gn_among(z, s, of, level), x);
}

gir_id gn_graph_at(restricter *z, gir_id g, int level)
{
    gir_id *slot = &z->map[level][g];
    if (*slot) return *slot;
    gir_id in[3] = {edges_of(z, g, level)};
    int n = 1, up = in_batch(z, g) ? level : source_level(z, level),
        read = in_batch(z, g) ? z->of_batch[g] - 1 : 0;
    bool sources = from_here(z, g) && (read & 1 || (z->through[g] && up < z->levels));
    bool rows = in_batch(z, g) ? read & 2 : !is_apart(z) || in[0] == z->map[z->levels][g];
    const gir_type *t = gir_type_of(z->from, g);
    if (sources) in[n++] = gn_pick_of(z, up, t->src);
    if (rows) in[n++] = gn_pick_of(z, level, t->dst);
    gir_attr ends = {.i = {(sources ? 1 : 0) | (rows ? 2 : 0)}};
    if (n == 1) return *slot = in[0];
    return *slot = gir_make(z->to, GIR_RESTRICT, n, in, &ends, NULL, NULL);
}

/* Operand `o` on the rows of `level`: as it was built there, or taken from where it is. */
gir_id gn_at_level(restricter *z, gir_id o, int level)
{
    if (z->counts[o]) return gn_count_at(z, o, level);
    if (!over_nodes(z, o) && !over_edges(z, o)) return z->map[z->levels][o];
    if (z->map[level][o]) return z->map[level][o];
    int of = top(z->need[o]);
    gir_id x = z->map[of][o];
    if (of < level) return z->map[level][o] = gn_put(z, o, x, of, level);
    return z->map[level][o] = take(z, x, space_of(z, o), of, level);
}

static gir_id build(restricter *z, gir_id v, int level, gir_space_id space)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    gir_id *in = GN_NEW_N(z->to->arena, gir_id, n->n_in);
    gir_type t = n->type;
    t.space = space;
    for (int k = 0; k < n->n_in; k++) in[k] = gn_at_level(z, gir_in(p, v, k), level);
    return gir_append(z->to, (gir_op)n->op, n->n_in, in, &n->attr, &t);
}

static gir_id node_value(restricter *z, gir_id v, int level)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    gir_space_id space = gir_type_of(z->to, gn_pick_of(z, level, space_of(z, v)))->dst;
    if (v == z->mask && level == 0) {
        gir_type t = gir_tensor(GN_BOOL, space, 0, NULL);
        return gir_const(z->to, &t, 1);
    }
    if (gn_is_made_up(p, v)) return build(z, v, level, space);
    int of = top(z->need[v]);
    if (level < of) return take(z, z->map[of][v], space_of(z, v), of, level);
    if (n->op != GIR_SCATTER) return build(z, v, level, space);
    if (n->attr.i[0] == GIR_SRC) return gn_sum_of_some(z, v);
    gir_id g = gir_in(p, v, 0);
    if (z->counted[v]) return gn_counted_at(z, v, level);
    gir_id h = gn_graph_at(z, g, level), e = z->map[level][gir_in(p, v, 1)];
    bool sum = n->attr.i[1] == GIR_SUM;
    if (sum) e = gn_weigh_edges(z, gn_share_edges(z, e, g, h), g, level);
    gir_id rows = gir_scatter(z->to, h, e, GIR_DST, (int)n->attr.i[1]);
    return sum ? gn_weigh_rows(z, rows, g, level) : rows;
}

gir_id gn_carried(restricter *z, gir_id h, gir_id g, gir_id x)
{
    if (h == g) return x;
    gir_type fill = *gir_type_of(z->to, x);
    fill.space = gir_type_of(z->to, h)->dst;
    gir_id in[4] = {h, g, x, gir_const(z->to, &fill, 0)};
    return gir_make(z->to, GIR_CARRY, 4, in, NULL, NULL, NULL);
}

gir_id gn_carried_to(restricter *z, gir_id some, gir_id g, gir_id x)
{
    gir_id of = some == g ? g : gir_in(z->to, some, 0);
    if (of != g) x = gn_carried_to(z, of, g, x);
    return gn_carried(z, some, of, x);
}

static gir_id edge_value(restricter *z, gir_id v, gir_id g, int level)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    gir_id h = gn_graph_at(z, g, level);
    if (!by_edges(z, v)) {
        gir_id whole = z->map[z->levels][g], some = edges_of(z, g, level), x = z->map[z->levels][v];
        return gn_carried(z, h, some, gn_carried_to(z, some, whole, x));
    }
    if (n->op == GIR_GATHER) {
        int end = (int)n->attr.i[0];
        int of = end == GIR_DST || in_batch(z, g) ? level : source_level(z, level);
        gir_id x = gir_in(p, v, 1);
        if (end == GIR_SRC && (!from_here(z, g) || of >= z->levels)) of = z->levels;
        return gir_gather(z->to, h, gn_at_level(z, x, of), end);
    }
    if (n->op == GIR_CELL) {
        gir_id in[2] = {h, gn_at_level(z, gir_in(p, v, 1), level)};
        return gir_make(z->to, GIR_CELL, 2, in, NULL, NULL, NULL);
    }
    return build(z, v, level, gir_type_of(z->to, h)->edge);
}

/* By value: is it data that graphs are made of? */
static bool *find_data(const restricter *z)
{
    const gir_program *p = z->from;
    bool *data = GN_NEW_N(z->to->arena, bool, p->nodes.n);
    for (gir_id v = p->nodes.n - 1; v > 0; v--)
        for (int k = 0; k < gir_at(p, v)->n_in && (data[v] || gir_reads_data(gir_at(p, v))); k++)
            if (!gir_type_of(p, gir_in(p, v, k))->is_graph) data[gir_in(p, v, k)] = true;
    return data;
}

/* Graphs that come from graphs and inputs alone, before all else: a pick may need one that stands
 * further down. */
static void clone_graphs(restricter *z)
{
    const gir_program *p = z->from;
    gir_id *whole = z->map[z->levels];
    const bool *data = find_data(z);
    if (!z->of_batch) whole[z->mask] = gir_clone_node(z->to, p, z->mask, whole);
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        bool known = n->type.is_graph || data[v];
        for (int k = 0; k < n->n_in; k++) {
            gir_id o = gir_in(p, v, k);
            known = known && whole[o] && (gir_type_of(p, o)->is_graph || data[o]);
        }
        if (!known || whole[v]) continue;
        bool apart = is_apart(z) && in_batch(z, v) && n->op == GIR_FILTER &&
                     gir_in(p, v, 1) == z->mask;
        whole[v] = apart ? gn_edges_of_batch(z, v) : gir_clone_node(z->to, p, v, whole);
    }
}

/* A sum over rows, of those of a level. */
static gir_id sum_of_rows(restricter *z, gir_id v, int level)
{
    int red = (int)gir_at(z->from, v)->attr.i[0];
    gir_id o = gir_in(z->from, v, 0), x = gn_at_level(z, o, level);
    if (z->masked && z->masked[v]) x = gn_share_rows(z, x, space_of(z, o));
    return gir_space_reduce(z->to, x, red);
}

static void rebuild(restricter *z, gir_id v)
{
    const gir_program *p = z->from;
    gir_id g = over_edges(z, v), *whole = z->map[z->levels];
    z->to->loc = gir_at(p, v)->loc;
    if (z->need[v] >> z->levels & 1 && !whole[v]) {
        bool sum = gir_at(p, v)->op == GIR_SPACE_REDUCE,
             of_mask = !z->support && z->sum_of[v] == z->mask;
        bool some = of_mask || (sum && z->summed[v]);
        int level = of_mask || !some ? 0 : z->summed[v] - 1;
        if (gn_sums_level(z, v) < z->levels)
            whole[v] = gn_sum_of_some(z, v);
        else
            whole[v] = some ? sum_of_rows(z, v, level) : gn_clone_whole(z, v);
    }
    if (!g && !over_nodes(z, v)) return;
    for (int level = z->levels - 1; level >= 0; level--)
        if (z->need[v] >> level & 1)
            z->map[level][v] = g ? edge_value(z, v, g, level) : node_value(z, v, level);
    if (z->support && z->spread[v] && z->need[v]) whole[v] = gn_at_level(z, v, z->levels);
}

/* Needs, from the outputs back. `read` (may be NULL): by value, the level that its readers need. */
static void find_needs(gn_arena *a, restricter *z, uint8_t *read)
{
    const gir_program *in = z->from;
    z->need = GN_NEW_N(a, uint32_t, in->nodes.n);
    z->through = GN_NEW_N(a, uint8_t, in->nodes.n);
    z->summed = GN_NEW_N(a, uint8_t, in->nodes.n);
    z->counts = GN_NEW_N(a, bool, in->nodes.n);
    z->counted = GN_NEW_N(a, bool, in->nodes.n);
    for (uint32_t k = 0; k < in->outputs.n; k++) {
        gir_id v = in->outputs.p[k].value;
        want(z, v, gn_is_some_result(z, v) ? 0 : z->levels);
    }
    want(z, z->mask, z->levels);
    for (gir_id v = in->nodes.n - 1; v > 0; v--) {
        if (gir_type_of(in, v)->is_graph) want(z, v, z->levels);
        if (read) read[v] = (uint8_t)(z->need[v] ? top(z->need[v]) : z->levels);
        whole_where_no_rows(z, v);
        if (read && z->need[v] && gir_at(in, v)->op != GIR_INPUT)
            read[v] = (uint8_t)top(z->need[v]);
        need_operands(z, v);
    }
    gn_find_counts(z);
}

/* Draws of a batch's program are made where it is bound. */
static const gir_program *draws_once(gn_arena *a, const gir_program *in)
{
    gir_program *p = NULL;
    for (gir_id v = 1; v < in->nodes.n; v++) {
        if (!gir_redraws_edges(gir_at(in, v))) continue;
        if (!p) p = gir_clone(a, in);
        *gir_once(gir_at(p, v)) = 1;
    }
    return p ? p : in;
}

/* The masked sums, and what else is known of a program before levels are. */
static restricter begin(gn_arena *a, const gir_program *in, int levels,
                        const gn_batch_spec *batches)
{
    restricter z = {.from = batches ? draws_once(a, in) : in,
                    .levels = levels < GN_MOST_LEVELS ? levels : GN_MOST_LEVELS,
                    .batches = batches};
    if (is_shadow(&z) && z.levels > 2) z.levels = 2;
    z.sum_of = masks_of_sums(a, z.from, &z.mask);
    if (!batches) return z;
    if (batches->results)
        gn_find_results(a, &z);
    else if (batches->sampler)
        gn_find_part(a, &z);
    else
        gn_find_batch(a, &z);
    if (z.of_batch && !batches->results) z.sum_of = gn_sums_of_batch(a, &z);
    gn_find_made_of(a, &z);
    return z;
}

const uint8_t *gn_find_row_levels(gn_arena *a, const gir_program *in, int *levels)
{
    restricter z = *levels > 0 ? begin(a, in, *levels, NULL) : (restricter){.from = in};
    uint8_t *read = GN_NEW_N(a, uint8_t, in->nodes.n);
    *levels = z.mask ? z.levels : 0;
    if (z.mask) find_needs(a, &z, read);
    return read;
}

/* Does a mask of edges hold where an input is one number? */
static void find_value(const gir_program *p, gir_id mask, gn_row_walk *w)
{
    double x;
    if (gir_at(p, mask)->op != GIR_EQ) return;
    for (int k = 0; k < 2; k++) {
        const gir_node *n = gir_at(p, gir_in(p, mask, k));
        if (n->op != GIR_INPUT || !gir_is_number(p, gir_in(p, mask, 1 - k), &x)) continue;
        w->column = n->attr.name;
        w->value = (int64_t)x;
    }
}

bool gn_is_walk(const gir_program *p, gir_id g, gn_row_walk *w)
{
    int filters = 0;
    *w = (gn_row_walk){0};
    while (gir_at(p, g)->op != GIR_GRAPH) {
        const gir_node *n = gir_at(p, g);
        if (!n->n_in || !gir_type_of(p, gir_in(p, g, 0))->is_graph) return false;
        w->back ^= n->op == GIR_REVERSE;
        if (n->op == GIR_FILTER && !filters++) find_value(p, gir_in(p, g, 1), w);
        g = gir_in(p, g, 0);
    }
    if (filters > 1) w->column = NULL;
    w->graph = gir_at(p, g)->attr.name;
    return true;
}

/* Along which bound graphs messages are passed between picked rows. */
static void find_walks(gn_arena *a, const restricter *z, gn_row_needs *out)
{
    const gir_program *p = z->from;
    out->walk = GN_NEW_N(a, gn_row_walk, p->nodes.n);
    for (gir_id g = 1; g < p->nodes.n; g++)
        if (z->through[g] && gn_is_walk(p, g, &out->walk[out->n_walks])) out->n_walks++;
}

gn_row_needs gn_find_row_needs(gn_arena *a, const gir_program *in, const gn_batch_spec *batches)
{
    restricter z = begin(a, in, GN_MOST_LEVELS, batches);
    in = z.from;
    gn_row_needs r = {0};
    uint32_t picked = 0;
    if (!z.mask) return r;
    r.mask = gir_at(in, z.mask)->attr.name;
    find_needs(a, &z, NULL);
    for (gir_id v = 1; v < in->nodes.n; v++) picked |= z.need[v] & ~((uint32_t)1 << z.levels);
    r.levels = picked ? top(picked) + 1 : 0;
    find_walks(a, &z, &r);
    return r;
}

gn_status *gn_run_restrict_rows(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                                gir_program **out)
{
    *out = (gir_program *)in;
    if (opt->levels <= 0) return NULL;
    restricter z = begin(a, in, opt->levels, opt->batches);
    in = z.from;
    if (opt->has_gradients) gn_find_support(a, &z);
    if (!z.mask && !z.of_batch) return NULL;
    find_needs(a, &z, NULL);
    if (opt->batches) GN_TRY(gn_check_batch(a, &z));
    if (opt->batches) GN_TRY(gn_check_apart(a, &z));
    GN_TRY(gn_check_shadow(a, &z));
    z.to = gir_program_new(a, in->name);
    z.map = GN_NEW_N(a, gir_id *, z.levels + 1);
    uint32_t spaces = in->spaces.n;
    z.pick = GN_NEW_N(a, gir_id *, z.levels + 1);
    z.drawn = GN_NEW_N(a, gir_id *, z.levels + 1);
    z.counting = GN_NEW_N(a, gir_id *, z.levels + 1);
    z.among = GN_NEW_N(a, gir_id *, spaces);
    for (int k = 0; k <= z.levels; k++) {
        z.map[k] = GN_NEW_N(a, gir_id, in->nodes.n);
        z.pick[k] = GN_NEW_N(a, gir_id, spaces);
        z.drawn[k] = GN_NEW_N(a, gir_id, in->nodes.n);
        z.counting[k] = GN_NEW_N(a, gir_id, in->nodes.n);
    }
    for (uint32_t s = 0; s < spaces; s++) z.among[s] = GN_NEW_N(a, gir_id, z.levels * z.levels);
    gir_clone_frame(z.to, in);
    clone_graphs(&z);
    for (gir_id v = 1; v < in->nodes.n; v++) rebuild(&z, v);
    for (uint32_t k = 0; k < in->outputs.n; k++) {
        const gir_output *o = &in->outputs.p[k];
        gir_id v = gn_is_some_result(&z, o->value) ? gn_at_level(&z, o->value, 0)
                                                   : z.map[z.levels][o->value];
        gir_output_add(z.to, o->kind, o->name, v);
    }
    *out = z.to;
    return NULL;
}
