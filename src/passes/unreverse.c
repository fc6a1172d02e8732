/* unreverse: messages along a reversed graph are sent along the graph itself, from the other ends,
 * where values of its edges go back to those of the graph.
 * Needs: nothing.  Keeps: all outputs, up to the order of summation; draws, which go by an edge's
 * place in the user's list, are the same.
 *
 * The edges of a reversed graph are those of the graph in another order.  So values of them are
 * made as values of the graph's own edges, sums at one end are sums at the other, and carrying
 * there and back is nothing: a sum over out-edges needs no second graph, and shares a loop with one
 * over in-edges.  A graph from which others are derived, reversed
 * ones too, is left alone, and one of whose edges there is an output. */
#include "passes/passes.h"
#include "passes/rewrite.h"
#include "passes/simplify.h"

/* [n] by value: the graph that a reversed one is replaced by, of `in`; 0: none */
static gir_id *find_turned(gn_arena *a, const gir_program *in)
{
    gir_id *turned = GN_NEW_N(a, gir_id, in->nodes.n);
    for (gir_id v = 1; v < in->nodes.n; v++) /* back from its edges to those of the graph */
        if (gir_at(in, v)->op == GIR_UNCARRY) {
            gir_id from = gir_in(in, v, 1);
            if (gir_at(in, from)->op == GIR_REVERSE) turned[from] = gir_in(in, from, 0);
        }
    for (gir_id v = 1; v < in->nodes.n; v++) {
        const gir_node *n = gir_at(in, v);
        if (n->op == GIR_REVERSE && gir_at(in, gir_in(in, v, 0))->op == GIR_REVERSE)
            turned[v] = turned[gir_in(in, v, 0)] = 0; /* one way is enough for either */
        if (gir_is_alone(n))                          /* by the order of its edges */
            for (int k = 0; k < n->n_in; k++) turned[gir_in(in, v, k)] = 0;
        if (n->op == GIR_REVERSE || !n->type.is_graph) continue;
        for (int k = 0; k < n->n_in; k++) {
            const gir_type *t = gir_type_of(in, gir_in(in, v, k));
            if (t->is_graph) turned[gir_in(in, v, k)] = 0;
            gir_id of = in->spaces.p[t->space].graph; /* a mask of edges */
            if (!t->is_graph && of) turned[of] = 0;
        }
    }
    for (uint32_t k = 0; k < in->outputs.n; k++) /* their order is that of the space they are of */
        turned[in->spaces.p[gir_type_of(in, in->outputs.p[k].value)->space].graph] = 0;
    return turned;
}

/* The value that `v` becomes where it has to do with a reversed graph; 0: it is copied. */
static gir_id turn(gn_rewrite *r, const gir_id *turned, gir_id v)
{
    const gir_program *in = r->from;
    const gir_node *n = gir_at(in, v);
    gir_id g = n->n_in ? gir_in(in, v, 0) : 0;
    switch (n->op) {
    case GIR_REVERSE:
        if (!turned[v]) return 0;
        r->space[n->type.edge] = r->space[gir_type_of(in, g)->edge];
        return r->map[g];
    case GIR_GATHER:
    case GIR_SCATTER: {
        if (!turned[g]) return 0;
        gir_id operands[2] = {r->map[g], r->map[gir_in(in, v, 1)]};
        gir_attr attr = n->attr;
        attr.i[0] = attr.i[0] == GIR_SRC ? GIR_DST : GIR_SRC;
        gir_type type = gn_rewrite_type(r, v);
        return gn_rewrite_share(r, (gir_op)n->op, 2, operands, &attr, &type);
    }
    case GIR_CARRY: return turned[g] ? r->map[gir_in(in, v, 2)] : 0;
    case GIR_UNCARRY: return turned[gir_in(in, v, 1)] ? r->map[gir_in(in, v, 2)] : 0;
    default: return 0;
    }
}

gn_status *gn_run_unreverse(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                            gir_program **out)
{
    gn_rewrite r = gn_rewrite_new(a, in);
    gir_id *turned = find_turned(a, in);
    (void)opt;
    for (gir_id v = 1; v < in->nodes.n; v++) {
        r.to->loc = gir_at(in, v)->loc;
        gir_id to = turn(&r, turned, v);
        if (to)
            r.map[v] = to;
        else
            gn_rewrite_copy(&r, v);
    }
    gn_rewrite_outputs(&r);
    return gn_pass_dce(a, r.to, out);
}
