/* Batches that are a part of the graph: rows that an input tells, and all edges between them. Every
 * value over those rows is computed of them, at level 0, and sums over rows are of theirs.
 *
 * Where rows and edges are in a part by chance, sums over rows of a mask and sums over edges count
 * each by one over its probability, an edge's given the row that it goes into, so that in the mean
 * they are those of the whole graph (GraphSAINT's lambda and alpha, section 3.2). */
#include "base/data_name.h"
#include "passes/restricter.h"

#include <string.h>

/* The rows that a loss is over: its mask's, or else the first that there are. */
static gir_space_id rows_of(const restricter *z)
{
    if (z->mask) return space_of(z, z->mask);
    for (uint32_t s = 1; s < z->from->spaces.n; s++)
        if (can_pick(z, (gir_space_id)s)) return (gir_space_id)s;
    return 0;
}

static const char *named(const restricter *z, const char *of, const char *what)
{
    return gn_arena_printf(z->from->arena, "%s%s", of, what);
}

void gn_find_part(gn_arena *a, restricter *z)
{
    gir_program *p = gir_clone(a, z->from);
    z->from = p;
    gir_space_id s = rows_of(z);
    gir_type t = gir_tensor(GN_BOOL, s, 0, NULL);
    z->masked = z->sum_of;
    z->mask = 0;
    if (!s) return;
    z->induced = true;
    z->mask = gir_leaf(p, GIR_INPUT, named(z, p->spaces.p[s].name, GN_BATCH_MASK), &t);
    gir_id *mask = GN_NEW_N(a, gir_id, p->nodes.n);
    for (gir_id v = 1; v < p->nodes.n; v++)
        if (gir_at(p, v)->op == GIR_SPACE_REDUCE) {
            gir_id o = gir_in(p, v, 0);
            bool edges = over_edges(z, o) != 0;
            if (edges || (over_nodes(z, o) && space_of(z, o) == s)) mask[v] = z->mask;
        }
    z->sum_of = mask;
}

static bool counts_by_chance(const restricter *z, gir_id x)
{
    return z->induced && z->batches && gn_has_shares(z->batches) &&
           gn_elem_is_float((gn_elem)gir_type_of(z->to, x)->elem);
}

gir_id gn_share_rows(restricter *z, gir_id x, gir_space_id s)
{
    if (!counts_by_chance(z, x)) return x;
    gir_type t = gir_tensor(GN_F32, s, 0, NULL);
    const char *name = named(z, z->from->spaces.p[s].name, GN_BATCH_SHARE);
    gir_id all = gir_leaf_by_name(z->to, GIR_INPUT, name);
    if (!all) all = gir_leaf(z->to, GIR_INPUT, name, &t);
    return gn_times(z, x, gir_op2(z->to, GIR_TAKE, gn_pick_of(z, 0, s), all));
}

/* The share of each edge of g, a new loop's 1. */
static gir_id share_of(restricter *z, gir_id g)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, g);
    gir_id *whole = z->map[z->levels], of;
    if (n->op != GIR_GRAPH) {
        if (!n->n_in || !gir_type_of(p, gir_in(p, g, 0))->is_graph) return 0;
        if (!(of = share_of(z, gir_in(p, g, 0)))) return 0;
        gir_type fill = *gir_type_of(z->to, of);
        fill.space = gir_type_of(z->to, whole[g])->dst;
        gir_id in[4] = {whole[g], whole[gir_in(p, g, 0)], of, gir_const(z->to, &fill, 1)};
        return gir_make(z->to, GIR_CARRY, 4, in, NULL, NULL, NULL);
    }
    const char *name = named(z, n->attr.name, GN_BATCH_SHARE);
    gir_type t = gir_tensor(GN_F32, gir_type_of(z->to, whole[g])->edge, 0, NULL);
    of = gir_leaf_by_name(z->to, GIR_INPUT, name);
    return of ? of : gir_leaf(z->to, GIR_INPUT, name, &t);
}

gir_id gn_share_edges(restricter *z, gir_id x, gir_id g, gir_id h)
{
    gir_id share = counts_by_chance(z, x) ? share_of(z, g) : 0;
    return share ? gn_times(z, x, gn_carried(z, h, z->map[z->levels][g], share)) : x;
}
