/* Gradients: reverse mode, from one program to the same program with cotangents appended.
 *
 * Goes back over the values that the loss depends on and that depend on what is asked for, and asks
 * each operator's rule for the cotangents of its operands.  Several cotangents of one value are
 * added, last use first. */
#include "ir/vjp.h"

typedef bool (*vjp_fn)(gir_vjp *);
static const vjp_fn vjps[GIR_OP_COUNT] = {
#define OP(id, text, arity, cls, attrs, doc) [GIR_##id] = gir_vjp_##id,
#include "ir/ops.def"
#undef OP
};

static bool is_float(const gir_program *p, gir_id v)
{
    const gir_type *t = gir_type_of(p, v);
    return !t->is_graph && gn_elem_is_float((gn_elem)t->elem);
}

static const char *where(const gir_program *p, gir_id v)
{
    const gir_loc *l = &gir_at(p, v)->loc;
    if (!l->line || l->file >= p->files.n) return gir_ops[gir_at(p, v)->op].text;
    return gn_arena_printf(p->arena, "%s:%u:%u: %s", p->files.p[l->file], l->line, l->col,
                           gir_ops[gir_at(p, v)->op].text);
}

/* Floats that `loss` depends on and that depend on one of wrt. */
static bool *find_needs(const gir_program *p, gir_id loss, int n, const gir_id *wrt)
{
    bool *reaches = GN_NEW_N(p->arena, bool, p->nodes.n),
         *needs = GN_NEW_N(p->arena, bool, p->nodes.n);
    for (int k = 0; k < n; k++) needs[wrt[k]] = true;
    for (gir_id v = 1; v <= loss; v++) {
        const gir_node *node = gir_at(p, v);
        for (int k = 0; k < node->n_in; k++) needs[v] |= needs[gir_in(p, v, k)];
        needs[v] = needs[v] && is_float(p, v);
    }
    reaches[loss] = true;
    for (gir_id v = loss; v > 0; v--)
        for (int k = 0; reaches[v] && k < gir_at(p, v)->n_in; k++) reaches[gir_in(p, v, k)] = true;
    for (gir_id v = 1; v <= loss; v++) needs[v] = needs[v] && reaches[v];
    return needs;
}

static gn_status *back_through(gir_program *p, gir_id v, gir_id *ct, const bool *needs)
{
    const gir_node node = *gir_at(p, v);
    gir_vjp g = {.p = p, .v = v, .ct = ct[v], .needs = needs};
    g.ct_in = GN_NEW_N(p->arena, gir_id, node.n_in);
    bool any = false;
    for (int k = 0; k < node.n_in; k++) any |= needs[gir_in(p, v, k)];
    if (!any) return NULL;
    p->loc = node.loc;
    if (!vjps[node.op](&g)) GN_FAIL(GN_ERR_MODEL, "%s has no gradient", where(p, v));
    for (int k = 0; k < node.n_in; k++) {
        gir_id in = gir_in(p, v, k);
        if (!g.ct_in[k] || !needs[in]) continue;
        ct[in] = ct[in] ? gir_op2(p, GIR_ADD, ct[in], g.ct_in[k]) : g.ct_in[k];
    }
    return NULL;
}

gn_status *gir_grad(gir_program *p, gir_id loss, int n, const gir_id *wrt, gir_id *grads)
{
    const gir_type *t = gir_type_of(p, loss);
    if (!is_float(p, loss) || t->space || t->rank)
        GN_FAIL(GN_ERR_MODEL, "%s: a gradient is taken of a single float, this is %s",
                where(p, loss), gir_type_text(p, t));
    for (int k = 0; k < n; k++)
        if (!is_float(p, wrt[k]))
            GN_FAIL(GN_ERR_MODEL, "%s: no gradient with respect to %s", where(p, wrt[k]),
                    gir_type_text(p, gir_type_of(p, wrt[k])));
    gir_loc loc = p->loc;
    bool *needs = find_needs(p, loss, n, wrt);
    gir_id *ct = GN_NEW_N(p->arena, gir_id, p->nodes.n);
    gir_type scalar = *t;
    ct[loss] = gir_const(p, &scalar, 1);
    gn_status *s = NULL;
    for (gir_id v = loss; v > 0 && !s; v--)
        if (needs[v] && ct[v]) s = back_through(p, v, ct, needs);
    p->loc = loc;
    GN_TRY(s);
    for (int k = 0; k < n; k++) {
        gir_type zero = *gir_type_of(p, wrt[k]);
        bool there = wrt[k] <= loss && ct[wrt[k]];
        grads[k] = there ? ct[wrt[k]] : gir_const(p, &zero, 0);
    }
    return NULL;
}
