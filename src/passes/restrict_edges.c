/* Batches of edges: a loss over edges that a mask leaves (a FILTER), and over what comes of those,
 * is computed from the rows at their ends, which are level 0.  All edges of such graphs are needed,
 * and draws that they come of are made where data are bound, which a batch is before each step. */
#include "base/data_name.h"
#include "passes/restricter.h"

void gn_find_batch(gn_arena *a, restricter *z)
{
    const gir_program *p = z->from;
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        bool graph = n->type.is_graph && n->n_in > 0;
        gir_id mask = graph && n->op == GIR_FILTER ? gir_in(p, v, 1) : 0;
        bool is = mask && gir_at(p, mask)->op == GIR_INPUT &&
                  gn_is_batch_mask(gir_at(p, mask)->attr.name);
        if (is && !z->of_batch) z->of_batch = GN_NEW_N(a, uint8_t, p->nodes.n);
        if (is) z->mask = mask;
        if (graph && z->of_batch && (is || in_batch(z, gir_in(p, v, 0)))) z->of_batch[v] = 1;
    }
}

gir_id *gn_sums_of_batch(gn_arena *a, restricter *z)
{
    const gir_program *p = z->from;
    gir_id *mask = GN_NEW_N(a, gir_id, p->nodes.n);
    bool any = false;
    for (gir_id v = 1; v < p->nodes.n; v++) {
        if (gir_at(p, v)->op != GIR_SPACE_REDUCE) continue;
        gir_id g = over_edges(z, gir_in(p, v, 0));
        if (g && in_batch(z, g)) mask[v] = z->mask;
        any = any || mask[v];
    }
    if (!any) z->mask = 0;
    return mask;
}

gir_id gn_pick_ends(restricter *z, gir_space_id s)
{
    const gir_program *p = z->from;
    gir_id r = 0;
    for (gir_id g = 1; g < p->nodes.n; g++)
        for (int end = GIR_SRC; end <= GIR_DST; end++) {
            const gir_type *t = gir_type_of(p, g);
            bool read = in_batch(z, g) && (z->of_batch[g] - 1) >> end & 1;
            if (!read || (end == GIR_SRC ? t->src : t->dst) != s) continue;
            gir_id edges = z->map[z->levels][g];
            gir_id others = r ? gir_grow(z->to, 0, edges, 0, 1 - end) : 0;
            r = gir_grow(z->to, others, edges, r, end);
        }
    return r;
}

/* The batch's edges, as the mask leaves them. */
static gir_id batch_of(const restricter *z)
{
    const gir_program *p = z->from;
    for (gir_id g = 1; g < p->nodes.n; g++)
        if (in_batch(z, g) && gir_at(p, g)->op == GIR_FILTER && gir_in(p, g, 1) == z->mask)
            return g;
    return 0;
}

/* The batch whose edges are left out of g's, along which it goes or `back`; 0: none is. */
static gir_id left_out(const restricter *z, gir_id g, bool *along, bool *back)
{
    gn_exclude exclude = z->batches ? z->batches->exclude : GN_EXCLUDE_NONE;
    gir_id batch = exclude && z->of_batch ? batch_of(z) : 0;
    const gir_type *t = gir_type_of(z->from, g), *b = gir_type_of(z->from, batch);
    *along = batch && t->src == b->src && t->dst == b->dst;
    *back = batch && exclude == GN_EXCLUDE_REVERSE && t->src == b->dst && t->dst == b->src;
    return *along || *back ? batch : 0;
}

bool gn_leaves_out(const restricter *z, gir_id g)
{
    bool along, back;
    return left_out(z, g, &along, &back) != 0;
}

gir_id gn_leave_batch_out(restricter *z, gir_id g, gir_id edges)
{
    bool along, back, same = gir_type_of(z->from, g)->src == gir_type_of(z->from, g)->dst;
    gir_id batch = left_out(z, g, &along, &back), own = z->map[z->levels][batch];
    if (!batch) return edges;
    if (along) return gir_without(z->to, edges, own, back && same);
    return back ? gir_without(z->to, edges, gir_op1(z->to, GIR_REVERSE, own), false) : edges;
}
