/* Training steps that have their gradients already, as torch gives them: what a gradient is made of
 * is 0 outside of the rows that the loss reads and of the sources of edges into those, as long as
 * what it is multiplied by is finite.  So each value has a level outside of which it is 0, its
 * support, and is computed there; sums over rows and over edges are of those rows and edges.
 *
 * Level 0 has the rows of a mask, or else those that relations name: of those whose first use is to
 * read rows at their destinations, as a list of rows is one from places in it. */
#include "passes/restricter.h"

#include <string.h>

enum { NOWHERE = -1 };

static int least(int a, int b) { return a < b ? a : b; }

static int most(int a, int b) { return a > b ? a : b; }

/* Outside of which level an operand of v is 0; one without rows is 0 nowhere or everywhere. */
static int support_of(const restricter *z, gir_id v, int k)
{
    gir_id o = gir_in(z->from, v, k);
    if (gir_is_zero(z->from, o)) return NOWHERE;
    if (o == z->mask) return 0;
    return space_of(z, o) == space_of(z, v) ? z->support[o] : z->levels;
}

static int support_of_map(const restricter *z, gir_id v)
{
    const gir_node *n = gir_at(z->from, v);
    int s = NOWHERE;
    switch ((gir_op)n->op) {
    case GIR_MUL:
    case GIR_AND: return least(support_of(z, v, 0), support_of(z, v, 1));
    case GIR_SELECT:
        s = most(support_of(z, v, 1), support_of(z, v, 2));
        return support_of(z, v, 2) == NOWHERE ? least(s, support_of(z, v, 0)) : s;
    case GIR_ADD:
    case GIR_SUB:
    case GIR_CONCAT:
        for (int k = 0; k < n->n_in; k++) s = most(s, support_of(z, v, k));
        return s;
    case GIR_MATMUL: return space_of(z, gir_in(z->from, v, 1)) ? z->levels : support_of(z, v, 0);
    case GIR_DIV:
    case GIR_NEG:
    case GIR_ABS:
    case GIR_CAST:
    case GIR_DETACH:
    case GIR_BROADCAST:
    case GIR_RESHAPE:
    case GIR_TRANSPOSE:
    case GIR_SLICE:
    case GIR_PAD:
    case GIR_REDUCE: return support_of(z, v, 0);
    default: return z->levels;
    }
}

static int support_of_edges(const restricter *z, gir_id v)
{
    const gir_node *n = gir_at(z->from, v);
    gir_id x = n->n_in > 1 ? gir_in(z->from, v, 1) : 0;
    if (in_batch(z, over_edges(z, v))) return 0;
    if (n->op != GIR_GATHER) return support_of_map(z, v);
    return n->attr.i[0] == GIR_DST && x != z->mask ? z->support[x] : z->levels;
}

static int support_of_rows(const restricter *z, gir_id v)
{
    const gir_node *n = gir_at(z->from, v);
    if (n->op != GIR_SCATTER) return support_of_map(z, v);
    gir_id e = gir_in(z->from, v, 1);
    if (!over_edges(z, e)) return z->levels;
    if (n->attr.i[0] == GIR_DST) return z->support[e];
    return n->attr.i[1] == GIR_SUM ? least(z->support[e] + 1, z->levels) : z->levels;
}

/* Which rows are picked ------------------------------------------------------------------------ */

/* Relations whose first use is to read rows at their destinations name rows; between two kinds. */
static void find_lists(gn_arena *a, restricter *z)
{
    const gir_program *p = z->from;
    bool *used = GN_NEW_N(a, bool, p->nodes.n);
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        if (n->op != GIR_GATHER && n->op != GIR_SCATTER) continue;
        gir_id g = gir_in(p, v, 0);
        const gir_type *t = gir_type_of(p, g);
        bool list = n->op == GIR_GATHER && n->attr.i[0] == GIR_DST && t->src != t->dst &&
                    gir_at(p, g)->op == GIR_GRAPH && can_pick(z, t->dst);
        if (!used[g] && list) {
            if (!z->of_batch) z->of_batch = GN_NEW_N(a, uint8_t, p->nodes.n);
            z->of_batch[g] = 1 + (1 << GIR_DST);
            z->unpicked[t->src] = true;
        }
        used[g] = true;
    }
}

/* Spaces that no rows are picked of: those whose size is known, which columns have. */
static void find_unpicked(gn_arena *a, restricter *z)
{
    const gir_program *p = z->from;
    z->unpicked = GN_NEW_N(a, bool, p->spaces.n);
    for (uint32_t s = 1; s < p->spaces.n; s++) z->unpicked[s] = p->spaces.p[s].size >= 0;
}

void gn_find_support(gn_arena *a, restricter *z)
{
    const gir_program *p = z->from;
    find_unpicked(a, z);
    find_lists(a, z);
    for (gir_id g = 1; g < p->nodes.n && z->of_batch; g++) { /* a list of lists' places */
        if (z->of_batch[g] && z->unpicked[gir_type_of(p, g)->dst]) z->of_batch[g] = 0;
        if (z->of_batch[g]) z->mask = 0;
    }
    if (z->mask && !can_pick(z, space_of(z, z->mask))) z->mask = 0;
    z->support = GN_NEW_N(a, uint8_t, p->nodes.n);
    z->spread = GN_NEW_N(a, bool, p->nodes.n);
    for (gir_id v = 1; v < p->nodes.n; v++) {
        int elem = gir_type_of(p, v)->elem, s = z->levels;
        bool puts = elem == GN_BOOL || elem == GN_F32 || elem == GN_F64;
        if (over_edges(z, v))
            s = support_of_edges(z, v);
        else if (puts && over_nodes(z, v) && v != z->mask)
            s = support_of_rows(z, v);
        z->support[v] = (uint8_t)(s < 0 ? z->levels : s);
    }
}

/* Sums ----------------------------------------------------------------------------------------- */

/* Operand k of v, over whose rows or edges v sums; 0: v is no such sum. */
static gir_id summed(const restricter *z, gir_id v, int k)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    gir_id o = k < n->n_in ? gir_in(p, v, k) : 0;
    bool rows = o && (over_nodes(z, o) || over_edges(z, o));
    bool sum = (n->op == GIR_SPACE_REDUCE && n->attr.i[0] == GIR_SUM) ||
               (n->op == GIR_SCATTER && n->attr.i[0] == GIR_SRC && n->attr.i[1] == GIR_SUM) ||
               (n->op == GIR_MATMUL && !n->type.space);
    return rows && sum ? o : 0;
}

int gn_sums_level(const restricter *z, gir_id v)
{
    int level = z->levels;
    if (!z->support) return level;
    for (int k = 0; k < gir_at(z->from, v)->n_in; k++) {
        gir_id o = summed(z, v, k);
        if (o) level = least(level, z->support[o]);
    }
    return level;
}

void gn_need_some(restricter *z, gir_id v)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    int level = gn_sums_level(z, v);
    if (over_nodes(z, v)) want(z, v, level + 1); /* where it is computed, whoever reads it */
    if (n->op == GIR_SCATTER && from_here(z, gir_in(p, v, 0))) z->through[gir_in(p, v, 0)] = 1;
    for (int k = 0; k < n->n_in; k++) {
        gir_id o = gir_in(p, v, k);
        want(z, o, summed(z, v, k) ? level : z->levels);
    }
}

gir_id gn_sum_of_some(restricter *z, gir_id v)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    int level = gn_sums_level(z, v);
    gir_id in[2] = {0};
    for (int k = 0; k < n->n_in; k++) in[k] = gn_at_level(z, gir_in(p, v, k), level);
    if (n->op == GIR_SPACE_REDUCE) return gir_space_reduce(z->to, in[0], (int)n->attr.i[0]);
    if (n->op == GIR_MATMUL) return gir_append(z->to, GIR_MATMUL, 2, in, &n->attr, &n->type);
    gir_id h = gn_graph_at(z, gir_in(p, v, 0), level);
    return gir_scatter(z->to, h, in[1], GIR_SRC, (int)n->attr.i[1]);
}

/* As gradients of TAKE have it. */
gir_id gn_put(restricter *z, gir_id v, gir_id x, int of, int level)
{
    gir_space_id s = space_of(z, v);
    gir_id rows = gn_pick_of(z, of, s);
    gn_elem elem = (gn_elem)gir_type_of(z->from, v)->elem;
    if (level < z->levels && rows == gn_pick_of(z, level, s)) return x;
    if (level < z->levels) rows = gn_among(z, s, level, of);
    if (elem == GN_BOOL) x = gir_cast(z->to, x, GN_F32);
    x = gir_scatter(z->to, rows, gir_gather(z->to, rows, x, GIR_DST), GIR_SRC, GIR_SUM);
    return elem == GN_BOOL ? gir_cast(z->to, x, GN_BOOL) : x;
}
