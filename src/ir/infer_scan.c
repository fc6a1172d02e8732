/* Inference: along the edges into a row, in their order. */
#include "ir/infer.h"

/* Is operand k a tensor of space s? */
static bool of_space(gir_rule *r, int k, gir_space_id s, const char *what)
{
    const gir_type *t = gir_rule_in(r, k);
    if (!t->is_graph && t->space == s) return true;
    return gir_misfit(r, "operand %d is %s, not of %s of %s", k + 1, gir_rule_text(r, k), what,
                      gir_rule_text(r, 0));
}

static bool beside(gir_rule *r)
{
    if (!gir_graph_operand(r, 0)) return false;
    const gir_type *g = gir_rule_in(r, 0), *e = gir_rule_in(r, 1), *f = gir_rule_in(r, 2);
    if (!of_space(r, 1, g->edge, "the edges") || !of_space(r, 2, g->dst, "the destinations"))
        return false;
    gir_type as_edge = *f;
    as_edge.space = e->space;
    if (!gir_type_eq(e, &as_edge))
        return gir_misfit(r, "%s and %s are of other elements", gir_rule_text(r, 1),
                          gir_rule_text(r, 2));
    if (r->attr->i[0] != 0 && r->attr->i[0] != 1)
        return gir_misfit(r, "the side is %lld, not 0 or 1", (long long)r->attr->i[0]);
    *r->out = *(r->op == GIR_OUTER ? f : e);
    return true;
}

bool gir_infer_BESIDE(gir_rule *r) { return beside(r); }
bool gir_infer_OUTER(gir_rule *r) { return beside(r); }

/* Is operand k of floats [n, d], or of that many columns where d is given? */
static bool channels(gir_rule *r, int k, int64_t d)
{
    const gir_type *t = gir_rule_in(r, k);
    bool floats = t->elem == gir_rule_in(r, 1)->elem && (t->elem == GN_F32 || t->elem == GN_F64);
    if (floats && t->rank == 2 && (!d || t->dim[1] == d)) return true;
    return gir_misfit(r, "operand %d is f32 or f64 in channels, [n, %s], not %s", k + 1,
                      d ? gn_arena_printf(r->p->arena, "%lld", (long long)d) : "d",
                      gir_rule_text(r, k));
}

/* Has the body what it reads, and are there as many states as it makes? */
static bool body_fits(gir_rule *r, int64_t states, int64_t products, int64_t consts, int64_t x)
{
    gir_body_shape b;
    const char *why = gir_body_misfit(r->p->arena, r->p->bodies.p[r->attr->i[0]], &b);
    if (why) return gir_misfit(r, "%s", why);
    if (b.states != states || b.s > states)
        return gir_misfit(r, "a body of %d states, where there are %lld", b.states,
                          (long long)states);
    if (b.elem != (gn_elem)gir_rule_in(r, 1)->elem)
        return gir_misfit(r, "a body of %s, where states are %s", gn_elem_name(b.elem),
                          gir_rule_text(r, 1));
    if (b.p <= products && b.c <= consts && b.x <= x) return true;
    return gir_misfit(r,
                      "a body of %d products, %d constants and %d values of the edge, where there "
                      "are %lld, %lld and %lld",
                      b.p, b.c, b.x, (long long)products, (long long)consts, (long long)x);
}

bool gir_infer_SCAN(gir_rule *r)
{
    const int64_t *flag = r->attr->i;
    for (int k = 1; k < 4; k++)
        if (flag[k] != 0 && flag[k] != 1)
            return gir_misfit(r, "attribute %d is %lld, not 0 or 1", k, (long long)flag[k]);
    int first = 2 + (int)flag[2] + (int)flag[3];
    if (r->n < first) return gir_misfit(r, "%d operands, takes %d or more", r->n, first);
    if (flag[0] < 0 || flag[0] >= r->p->bodies.n)
        return gir_misfit(r, "there is no body %lld", (long long)flag[0]);
    if (!gir_graph_operand(r, 0)) return false;
    const gir_type *g = gir_rule_in(r, 0), *s = gir_rule_in(r, 1);
    if (!of_space(r, 1, g->dst, "the destinations") || !channels(r, 1, 0)) return false;
    int64_t d = s->dim[1], products = 0, x = 0;
    if (flag[2]) {
        const gir_type *w = gir_rule_in(r, 2);
        if (w->is_graph || w->space || !channels(r, 2, 0))
            return gir_misfit(r, "operand 3 is no matrix");
        if (w->dim[0] % d || w->dim[1] % d || w->dim[0] > s->dim[0] * d)
            return gir_misfit(r, "%s does not go with %s", gir_rule_text(r, 2),
                              gir_rule_text(r, 1));
        products = w->dim[1] / d;
    }
    if (flag[3] && (!of_space(r, first - 1, 0, "no rows") || !channels(r, first - 1, d)))
        return false;
    for (int k = first; k < r->n; k++) {
        if (!of_space(r, k, g->edge, "the edges") || !channels(r, k, d)) return false;
        x += gir_rule_in(r, k)->dim[0];
    }
    if (!body_fits(r, s->dim[0], products, flag[3] ? gir_rule_in(r, first - 1)->dim[0] : 0, x))
        return false;
    *r->out = *s;
    r->out->space = g->edge;
    return true;
}
