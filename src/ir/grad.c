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

/* Floats that one of `of` depends on and that depend on one of wrt; `last` is the last of `of`. */
static bool *find_needs(const gir_program *p, int n_of, const gir_id *of, gir_id last, int n,
                        const gir_id *wrt)
{
    bool *reaches = GN_NEW_N(p->arena, bool, p->nodes.n),
         *needs = GN_NEW_N(p->arena, bool, p->nodes.n);
    for (int k = 0; k < n; k++) needs[wrt[k]] = true;
    for (gir_id v = 1; v <= last; v++) {
        const gir_node *node = gir_at(p, v);
        for (int k = 0; k < node->n_in; k++) needs[v] |= needs[gir_in(p, v, k)];
        needs[v] = needs[v] && is_float(p, v);
    }
    for (int k = 0; k < n_of; k++) reaches[of[k]] = true;
    for (gir_id v = last; v > 0; v--)
        for (int k = 0; reaches[v] && k < gir_at(p, v)->n_in; k++) reaches[gir_in(p, v, k)] = true;
    for (gir_id v = 1; v <= last; v++) needs[v] = needs[v] && reaches[v];
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
    if (p->loc.way == GIR_FORWARD) p->loc.way = GIR_BACKWARD;
    p->loc.again = false;
    if (!vjps[node.op](&g)) GN_FAIL(GN_ERR_MODEL, "%s has no gradient", where(p, v));
    for (int k = 0; k < node.n_in; k++) {
        gir_id in = gir_in(p, v, k);
        if (!g.ct_in[k] || !needs[in]) continue;
        ct[in] = ct[in] ? gir_op2(p, GIR_ADD, ct[in], g.ct_in[k]) : g.ct_in[k];
    }
    return NULL;
}

static gn_status *check_wrt(const gir_program *p, int n, const gir_id *wrt)
{
    for (int k = 0; k < n; k++)
        if (!is_float(p, wrt[k]))
            GN_FAIL(GN_ERR_MODEL, "%s: no gradient with respect to %s", where(p, wrt[k]),
                    gir_type_text(p, gir_type_of(p, wrt[k])));
    return NULL;
}

gn_status *gir_pull(gir_program *p, int n_of, const gir_id *of, const gir_id *ct_of, int n,
                    const gir_id *wrt, gir_id *grads)
{
    gir_id last = 0;
    GN_TRY(check_wrt(p, n, wrt));
    for (int k = 0; k < n_of; k++) {
        if (!is_float(p, of[k]) || !gir_type_eq(gir_type_of(p, of[k]), gir_type_of(p, ct_of[k])))
            GN_FAIL(GN_ERR_INTERNAL, "%s: a cotangent is of another type", where(p, of[k]));
        if (of[k] > last) last = of[k];
    }
    gir_loc loc = p->loc;
    bool *needs = find_needs(p, n_of, of, last, n, wrt);
    gir_id *ct = GN_NEW_N(p->arena, gir_id, p->nodes.n);
    p->loc.way = GIR_BACKWARD;
    for (int k = 0; k < n_of; k++)
        ct[of[k]] = ct[of[k]] ? gir_op2(p, GIR_ADD, ct[of[k]], ct_of[k]) : ct_of[k];
    gn_status *s = NULL;
    for (gir_id v = last; v > 0 && !s; v--)
        if (needs[v] && ct[v]) s = back_through(p, v, ct, needs);
    p->loc = loc;
    GN_TRY(s);
    for (int k = 0; k < n; k++) {
        gir_type zero = *gir_type_of(p, wrt[k]);
        bool there = wrt[k] <= last && ct[wrt[k]];
        grads[k] = there ? ct[wrt[k]] : gir_const(p, &zero, 0);
    }
    return NULL;
}

gn_status *gir_grad(gir_program *p, gir_id loss, int n, const gir_id *wrt, gir_id *grads)
{
    gir_type scalar = *gir_type_of(p, loss);
    if (!is_float(p, loss) || scalar.space || scalar.rank)
        GN_FAIL(GN_ERR_MODEL, "%s: a gradient is taken of a single float, this is %s",
                where(p, loss), gir_type_text(p, &scalar));
    GN_TRY(check_wrt(p, n, wrt));
    gir_id one = gir_const(p, &scalar, 1);
    return gir_pull(p, 1, &loss, &one, n, wrt, grads);
}
