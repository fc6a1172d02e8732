/* Built-in functions: rows that are compared with others. */
#include "frontend/builtin.h"

#include <string.h>

/* Whose groups are one integer a row of x. */
static bool group_of(elab *E, const builtin_call *c, gir_space_id s)
{
    const value *g = &c->arg[2];
    const gir_type *t = g->kind == VAL_TENSOR ? val_type(E, g) : NULL;
    bool whole = t && t->space == s && !t->rank && (t->elem == GN_I32 || t->elem == GN_I64);
    if (!whole)
        el_error(E, c->span[2], "`nearest` takes groups as one integer a row, not %s",
                 val_text(E, g));
    return whole;
}

/* The numbers of the rows that are nearest to each. */
value builtin_nearest(elab *E, const builtin_call *c)
{
    int64_t k;
    bool group = builtin_has(c, 2) && c->arg[2].kind != VAL_NONE;
    if (!builtin_tensor(E, c, 0) || !builtin_int(E, c, 1, 1, &k)) return POISON;
    gir_type x = *val_type(E, &c->arg[0]);
    bool rows = x.space && E->prog->spaces.p[x.space].kind == GIR_NODE;
    if (!rows || x.elem != GN_F32)
        return el_error(E, c->span[0], "`nearest` takes floats of nodes, not %s",
                        val_text(E, &c->arg[0]));
    if (k < 1 || k > GIR_MOST_NEAREST)
        return el_error(E, c->span[1], "`nearest` finds 1 to %d rows, not %lld",
                        (int)GIR_MOST_NEAREST, (long long)k);
    if (group && !group_of(E, c, x.space)) return POISON;
    int64_t width = gir_row_elems(&x);
    gir_id in[2] = {gir_reshape(E->prog, c->arg[0].id, 1, &width), group ? c->arg[2].id : 0};
    gir_id id = el_make(E, c->mark, GIR_NEAREST, group ? 2 : 1, in, &(gir_attr){.i = {k}}, NULL);
    return val_tensor(id, NULL);
}

/* Numbers, of nodes or of edges. */
static bool numbers_of(elab *E, const builtin_call *c, int k)
{
    if (!builtin_tensor(E, c, k)) return false;
    const gir_type *x = val_type(E, &c->arg[k]);
    if (x->space && x->elem != GN_BOOL) return true;
    el_error(E, c->span[k], "`%s` takes numbers of nodes or edges, not %s", c->b->name,
             val_text(E, &c->arg[k]));
    return false;
}

static bool is_edge(elab *E, const value *x)
{
    return E->prog->spaces.p[val_type(E, x)->space].kind == GIR_EDGE;
}

/* What place each element has among those of its column: of all nodes, or of the edges into the
 * same node. */
value builtin_ranked(elab *E, const builtin_call *c)
{
    const value *x = &c->arg[0], *over = &c->arg[1];
    if (!numbers_of(E, c, 0)) return POISON;
    bool dst = over->kind == VAL_SPACE && strcmp(over->u.s, "dst") == 0;
    if (builtin_has(c, 1) && !dst)
        return el_error(E, c->span[1],
                        "`ranked` goes over all nodes, or with `over = dst` over the edges into "
                        "each; for those out of it, over the edges of `reverse(g)`, to which "
                        "`carry` brings values");
    if (dst != is_edge(E, x))
        return el_error(E, c->span[0],
                        dst ? "`ranked` over `dst` takes a value of edges, not %s"
                            : "`ranked` without `over = dst` takes a value of nodes, not %s",
                        val_text(E, x));
    gir_id in[2] = {dst ? E->prog->spaces.p[val_type(E, x)->space].graph : x->id, x->id};
    return val_tensor(el_make(E, c->mark, GIR_RANK, dst ? 2 : 1, in, NULL, NULL), x->u.axes);
}

/* Numbers of classes of equal rows, and of rows to which equal messages come, in whatever order. */
value builtin_distinct(elab *E, const builtin_call *c)
{
    const value *x = &c->arg[0], *e = &c->arg[1];
    bool messages = builtin_has(c, 1);
    if (!numbers_of(E, c, 0) || (messages && !numbers_of(E, c, 1))) return POISON;
    gir_space_id s = val_type(E, x)->space;
    if (is_edge(E, x))
        return el_error(E, c->span[0], "`distinct` compares nodes, not %s", val_text(E, x));
    gir_id g = messages ? E->prog->spaces.p[val_type(E, e)->space].graph : 0;
    if (messages && (!g || gir_type_of(E->prog, g)->dst != s || val_type(E, e)->rank))
        return el_error(E, c->span[1],
                        "`distinct` takes one number for each edge into the nodes that it "
                        "compares, as `edge(u -> v in g: kind[u])`, not %s",
                        val_text(E, e));
    gir_type t = gir_tensor(GN_I32, s, 0, NULL);
    gir_id in[4] = {x->id, 0, g, e->id};
    in[1] = gir_make(E->prog, GIR_IOTA, 0, NULL, &(gir_attr){.i = {-1}}, &t, NULL);
    return val_tensor(el_make(E, c->mark, GIR_DISTINCT, messages ? 4 : 2, in, NULL, NULL), NULL);
}
