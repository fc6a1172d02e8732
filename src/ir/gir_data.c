/* What graphs are made of: data, which are known before a program runs, and draws. */
#include "ir/gir.h"

/* Has one whole number or bool a row. */
static bool whole(const gir_type *t)
{
    return !t->is_graph && t->rank == 0 && t->space && !gn_elem_is_float((gn_elem)t->elem);
}

static bool makes_data(const gir_program *p, gir_id v)
{
    const gir_node *n = gir_at(p, v);
    if (!whole(&n->type)) return false;
    switch ((gir_op)n->op) {
    case GIR_INPUT:
    case GIR_CONST:
    case GIR_CAST:
    case GIR_DETACH:
    case GIR_NOT:
    case GIR_AND:
    case GIR_OR:
    case GIR_LT:
    case GIR_LE:
    case GIR_GT:
    case GIR_GE:
    case GIR_NLE:
    case GIR_EQ:
    case GIR_NE:
    case GIR_GATHER:
    case GIR_CARRY: return true;
    default: return false;
    }
}

gir_id gir_not_data(const gir_program *p, gir_id v)
{
    bool *needed = GN_NEW_N(p->arena, bool, (size_t)v + 1);
    needed[v] = true;
    for (gir_id u = v; u > 0; u--) {
        if (!needed[u] || gir_type_of(p, u)->is_graph) continue;
        if (!makes_data(p, u)) return u;
        for (int k = 0; k < gir_at(p, u)->n_in; k++) needed[gir_in(p, u, k)] = true;
    }
    return 0;
}

bool gir_is_drawn(const gir_program *p, gir_id v)
{
    /* most graphs come of one, in a line */
    while (gir_at(p, v)->op == GIR_REVERSE || gir_at(p, v)->op == GIR_SELF_LOOPS)
        v = gir_in(p, v, 0);
    const gir_node *n = gir_at(p, v);
    if (gir_redraws_edges(n)) return true;
    bool named = n->op == GIR_ENDS || n->op == GIR_RESTRICT;
    for (int k = 0; named && k < n->n_in; k++) /* other picks are of what stays */
        if ((k == 0 || gir_at(p, gir_in(p, v, k))->op == GIR_ENDS) &&
            gir_is_drawn(p, gir_in(p, v, k)))
            return true;
    if (n->type.is_graph && n->op != GIR_INDEX) return false; /* inference sees to it */
    bool *needed = GN_NEW_N(p->arena, bool, (size_t)v + 1);
    needed[v] = true;
    for (gir_id u = v; u > 0; u--) {
        if (!needed[u]) continue;
        if (gir_redraws_edges(gir_at(p, u))) return true;
        for (int k = 0; k < gir_at(p, u)->n_in; k++) needed[gir_in(p, u, k)] = true;
    }
    return false;
}

bool gir_is_reordered(const gir_program *p, gir_id g)
{
    gir_id i = gir_in(p, g, 0);
    while (gir_at(p, i)->op == GIR_CAST || gir_at(p, i)->op == GIR_DETACH) i = gir_in(p, i, 0);
    if (gir_at(p, g)->op != GIR_INDEX || gir_at(p, i)->op != GIR_CARRY) return false;
    const gir_node *to = gir_at(p, gir_in(p, i, 0));
    return to->op == GIR_CORRUPT && !gir_is_drawn(p, gir_in(p, gir_in(p, i, 0), 0)) &&
           !gir_is_drawn(p, gir_in(p, i, 2));
}

bool gir_names_ends(const gir_program *p, gir_id r, gir_id g, int ends)
{
    for (; gir_at(p, r)->op == GIR_ENDS; r = gir_in(p, r, 1)) {
        if (gir_in(p, r, 0) == g) ends &= ~(int)gir_at(p, r)->attr.i[0];
        if (!ends || gir_at(p, r)->n_in == 1) break;
    }
    return !ends;
}

int gir_new_ends(const gir_program *p, gir_id v)
{
    const gir_node *n = gir_at(p, v), *g = gir_at(p, gir_in(p, v, 0));
    int ends = (int)n->attr.i[0], all = (ends & 1) + (ends >> 1);
    if (g->op != GIR_CORRUPT || n->n_in == 1) return all;
    gir_id of = gir_in(p, gir_in(p, v, 0), 0), s = gir_in(p, v, 1);
    if (g->attr.i[1] == 2) return gir_names_ends(p, s, of, ends) ? 1 : all;
    int kept = ends & (g->attr.i[1] == GIR_SRC ? 2 : 1); /* the end that is not drawn */
    return all - (kept && gir_names_ends(p, s, of, kept));
}

bool gir_keeps_edges(const gir_program *p, int n, const gir_id *in, int64_t ends)
{
    return (!(ends & 1) || gir_names_ends(p, in[1], in[0], 1)) &&
           (!(ends & 2) || gir_names_ends(p, in[n - 1], in[0], 2));
}

static gir_id draw_operand(const gir_program *p, gir_id v, bool weight)
{
    for (int k = 3; k < gir_at(p, v)->n_in; k++)
        if ((gir_type_of(p, gir_in(p, v, k))->elem == GN_F32) == weight) return gir_in(p, v, k);
    return 0;
}

gir_id gir_draw_weight(const gir_program *p, gir_id v) { return draw_operand(p, v, true); }
gir_id gir_draw_time(const gir_program *p, gir_id v) { return draw_operand(p, v, false); }

gir_id gir_bound_graph(const gir_program *p, gir_id g)
{
    for (;;) {
        switch ((gir_op)gir_at(p, g)->op) {
        case GIR_GRAPH: return g;
        case GIR_SELF_LOOPS:
        case GIR_REMOVE_LOOPS:
        case GIR_REMAINING_LOOPS:
        case GIR_FILTER:
        case GIR_REVERSE: g = gir_in(p, g, 0); break;
        default: return 0;
        }
    }
}

bool gir_is_apart(const gir_program *p, gir_id g)
{
    for (;;) {
        const gir_node *n = gir_at(p, g);
        if ((n->op == GIR_SUBSET || n->op == GIR_FILTER) && n->attr.i[0]) return true;
        int of = n->op == GIR_DRAW ? 2 : 0; /* GROW: its pick, or the graph that stands there */
        if (n->op == GIR_INDEX || n->n_in <= of || !gir_type_of(p, gir_in(p, g, of))->is_graph)
            return false;
        g = gir_in(p, g, of);
    }
}

bool gir_picks_once(const gir_program *p, gir_id g)
{
    bool apart = gir_is_apart(p, g); /* of picks of all rows, but not of those among others */
    for (; gir_at(p, g)->op == GIR_RESTRICT; g = gir_in(p, g, 0)) apart = false;
    return gir_picks_new(gir_at(p, g)) && !apart;
}

bool gir_is_pick(const gir_program *p, gir_id g)
{
    while (gir_at(p, g)->op == GIR_RESTRICT && gir_at(p, g)->attr.i[0] == 1) g = gir_in(p, g, 0);
    return gir_picks_new(gir_at(p, g)) || gir_picks_named(gir_at(p, g));
}

int64_t gir_known_edges(const gir_program *p, gir_id g)
{
    const gir_node *n = gir_at(p, g);
    int64_t known = p->spaces.p[n->type.edge].size, all;
    if (known >= 0 || n->n_in == 0 || !gir_type_of(p, gir_in(p, g, 0))->is_graph) return known;
    const gir_type *from = gir_type_of(p, gir_in(p, g, 0));
    int64_t edges = p->spaces.p[from->edge].size, nodes = p->spaces.p[from->dst].size;
    if (edges < 0) return -1;
    switch ((gir_op)n->op) {
    case GIR_REVERSE: return edges;
    case GIR_SELF_LOOPS: return nodes < 0 || __builtin_add_overflow(edges, nodes, &all) ? -1 : all;
    case GIR_SAMPLE: return edges < n->attr.i[0] ? edges : n->attr.i[0];
    case GIR_CORRUPT: return __builtin_mul_overflow(edges, n->attr.i[0], &all) ? -1 : all;
    default: return -1;
    }
}
