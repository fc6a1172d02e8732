/* both_ends: finds edge values that a loop over either end's edges sums, and that come of long dot
 * products.
 *
 * Such is the gradient of an attention's scores, s[src] + t[dst]: of a head one number an edge, and
 * behind each a dot product of a row of one end with a row of the other. */
#include "fuse/both_ends.h"

#include "fuse/fuse.h"

typedef struct finder {
    const gir_program *p;
    uint32_t *seen, walk; /* by value: last walk that came by */
    int64_t elems;
} finder;

/* The first dot product on the way down from v; 0. */
static gir_id find_dot(finder *z, gir_id v)
{
    const gir_node *n = gir_at(z->p, v);
    if (z->seen[v] == z->walk || !n->type.space || !fu_is_edge_space(z->p, n->type.space)) return 0;
    z->seen[v] = z->walk;
    if (n->op == GIR_REDUCE && n->attr.i[0] == GIR_SUM) {
        int64_t outs = fu_elems(z->p, v);
        return outs == z->elems && fu_elems(z->p, gir_in(z->p, v, 0)) / outs >= GN_LONG_DOT ? v : 0;
    }
    if (gir_ops[n->op].cls != GIR_CLASS_MAP && !fu_is_identity_view(z->p, v)) return 0;
    gir_id dot = 0;
    for (int k = 0; k < n->n_in && !dot; k++) dot = find_dot(z, gir_in(z->p, v, k));
    return dot;
}

gn_both_ends *gn_find_both_ends(gn_arena *a, const gir_program *p)
{
    uint32_t n = p->nodes.n;
    gn_both_ends *all = GN_NEW_N(a, gn_both_ends, n);
    gir_id *sum[2] = {GN_NEW_N(a, gir_id, n), GN_NEW_N(a, gir_id, n)};
    finder z = {.p = p, .seen = GN_NEW_N(a, uint32_t, n)};
    for (gir_id v = n; v-- > 1;) {
        const gir_node *s = gir_at(p, v);
        if (s->op == GIR_SCATTER && s->attr.i[1] == GIR_SUM)
            sum[s->attr.i[0] == GIR_DST][gir_in(p, v, 1)] = v;
    }
    for (gir_id v = 1; v < n; v++) {
        if (!sum[0][v] || !sum[1][v] || gir_in(p, sum[0][v], 0) != gir_in(p, sum[1][v], 0))
            continue;
        if (gir_ops[gir_at(p, v)->op].cls != GIR_CLASS_MAP ||
            !gn_elem_is_float((gn_elem)gir_type_of(p, v)->elem))
            continue;
        z.walk++;
        z.elems = fu_elems(p, v);
        gir_id dot = find_dot(&z, v);
        if (dot) all[v] = (gn_both_ends){sum[0][v], dot};
    }
    return all;
}
