/* The generator: along the edges into a row, in their order. */
#include "support/random_gir_impl.h"

/* A body of one state or two, bounded whatever the edges bring along. */
static int64_t body_for(gen *z, gn_elem elem, int64_t states, int64_t products, bool consts)
{
    gir_program *b = gir_program_new(z->a, "step");
    gir_type t = gir_tensor(elem, 0, 0, NULL);
    gir_id x = gir_leaf(b, GIR_INPUT, "x0", &t), s = gir_leaf(b, GIR_INPUT, "s0", &t);
    gir_id sum = gir_op2(b, chance(z, 50) ? GIR_MAX : GIR_ADD, gir_op1(b, GIR_TANH, x), s);
    if (products)
        sum = gir_op2(b, GIR_ADD, sum, gir_op1(b, GIR_SIN, gir_leaf(b, GIR_INPUT, "p0", &t)));
    if (consts) sum = gir_op2(b, GIR_SUB, sum, gir_leaf(b, GIR_INPUT, "c0", &t));
    gir_id next = gir_op1(b, GIR_SIGMOID, sum);
    gir_output_add(b, GIR_OUTPUT, "s0", next);
    if (states > 1) {
        gir_id keep = gir_op2(b, GIR_MUL, gir_op1(b, GIR_TANH, gir_leaf(b, GIR_INPUT, "s1", &t)),
                              next);
        gir_output_add(b, GIR_OUTPUT, "s1",
                       products > 1 ? gir_op2(b, GIR_ADD, keep,
                                              gir_op1(b, GIR_COS, gir_leaf(b, GIR_INPUT, "p1", &t)))
                                    : keep);
    }
    return gir_body(z->p, b);
}

/* A graph between nodes for `must`, which is the graph, of its edges or of its destinations; 0. */
static gir_id graph_along(gen *z, gir_id must)
{
    gir_id g = !must ? any_graph(z) : gir_type_of(z->p, must)->is_graph ? must : 0;
    gir_space_id s = g ? 0 : gir_type_of(z->p, must)->space;
    if (!g && z->p->spaces.p[s].kind == GIR_EDGE) g = z->p->spaces.p[s].graph;
    for (gir_id v = 1; v < z->p->nodes.n && !g && s; v++)
        if (gir_type_of(z->p, v)->is_graph && gir_type_of(z->p, v)->dst == s) g = v;
    return g && z->p->spaces.p[gir_type_of(z->p, g)->dst].kind == GIR_NODE ? g : 0;
}

/* Of one state, or two, that begin as s or go along x where those are given. */
static gir_id make_scan(gen *z, gir_id g, gir_id s, gir_id x)
{
    const gir_type gt = *gir_type_of(z->p, g);
    gir_type t = s || x ? *gir_type_of(z->p, s ? s : x) : over(z, gt.edge, FLOATS);
    gn_elem e = (gn_elem)t.elem;
    if ((s || x) && t.rank != 2) return 0;
    if ((e != GN_F32 && e != GN_F64) || (s && t.dim[0] > 2)) return 0;
    int64_t d = s || x ? t.dim[1] : 1 + rnd(z, 3), states = s ? t.dim[0] : 1 + rnd(z, 2);
    int64_t q = rnd(z, (uint32_t)states + 1), consts = chance(z, 40);
    const gir_type begin = gir_tensor(e, gt.dst, 2, (const int64_t[]){states, d}),
                   w = gir_tensor(e, 0, 2, (const int64_t[]){d, q ? q * d : 1}),
                   one = gir_tensor(e, 0, 2, (const int64_t[]){1, d});
    gir_type edge = one;
    edge.space = gt.edge;
    gir_id in[5] = {g, s ? s : like(z, begin)};
    int n = 2;
    if (q) in[n++] = like(z, w);
    if (consts) in[n++] = like(z, one);
    in[n++] = x ? x : like(z, edge);
    int64_t body = body_for(z, e, states, q, consts), reverse = rnd(z, 2);
    return make(z, GIR_SCAN, n, in, (gir_attr){.i = {body, reverse, q > 0, consts}}, NULL);
}

gir_id make_recurrence(gen *z, gir_op op, gir_id must)
{
    gir_id g = graph_along(z, must), x = 0, f = 0;
    if (!g) return 0;
    const gir_type gt = *gir_type_of(z->p, g);
    if (must && must != g && gir_type_of(z->p, must)->space == gt.dst)
        f = must;
    else if (must && must != g)
        x = must;
    if (op == GIR_SCAN) return make_scan(z, g, f, x);
    gir_type t = must && must != g ? *gir_type_of(z->p, must) : over(z, gt.edge, TENSORS);
    t.space = gt.edge;
    if (!x) x = like(z, t);
    t.space = gt.dst;
    if (!f) f = like(z, t);
    return make(z, op, 3, (const gir_id[]){g, x, f}, (gir_attr){.i = {rnd(z, 2)}}, NULL);
}
