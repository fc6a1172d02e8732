/* Evaluator: what is needed, sizes, bindings, one operator after another. */
#include "ir/eval_impl.h"

#include <math.h>
#include <string.h>

typedef gn_status *(*eval_fn)(gir_eval_t *);
static const eval_fn evals[GIR_OP_COUNT] = {
#define OP(id, text, arity, cls, attrs, doc) [GIR_##id] = gir_eval_##id,
#include "ir/ops.def"
#undef OP
};

/* bindings and sizes --------------------------------------------------------------------------- */

static const gir_value *bound(const gir_env *env, const char *name)
{
    for (int k = 0; k < env->n; k++)
        if (strcmp(env->name[k], name) == 0) return &env->value[k];
    return NULL;
}

static gn_status *set_rows(gir_eval_t *e, gir_space_id s, int64_t n, const char *who)
{
    if (e->rows[s] >= 0 && e->rows[s] != n)
        GN_FAIL(GN_ERR_DATA, "%s: %lld rows of space %s, where there are %lld", who, (long long)n,
                e->p->spaces.p[s].name, (long long)e->rows[s]);
    e->rows[s] = n;
    return NULL;
}

static gn_status *graph_rows(gir_eval_t *e, const gir_type *t, const gir_coo *g, const char *who)
{
    GN_TRY(set_rows(e, t->src, g->n_src, who));
    GN_TRY(set_rows(e, t->dst, g->n_dst, who));
    return set_rows(e, t->edge, g->n_edge, who);
}

/* Sizes of spaces: those that the program pins, then those that graphs and inputs give. */
static gn_status *find_sizes(gir_eval_t *e)
{
    const gir_program *p = e->p;
    e->rows = GN_NEW_N(e->arena, int64_t, p->spaces.n);
    for (uint32_t s = 0; s < p->spaces.n; s++) e->rows[s] = s ? p->spaces.p[s].size : 1;
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        const gir_value *x = n->op == GIR_GRAPH || n->op == GIR_INPUT ? bound(e->env, n->attr.name)
                                                                      : NULL;
        if (!x) continue;
        if (n->op == GIR_INPUT)
            GN_TRY(set_rows(e, n->type.space, x->rows, n->attr.name));
        else if (!x->graph)
            GN_FAIL(GN_ERR_DATA, "graph '%s' is bound to a tensor", n->attr.name);
        else
            GN_TRY(graph_rows(e, &n->type, x->graph, n->attr.name));
    }
    return NULL;
}

static bool *find_needed(const gir_program *p, gn_arena *a)
{
    bool *need = GN_NEW_N(a, bool, p->nodes.n);
    for (uint32_t k = 0; k < p->outputs.n; k++) need[p->outputs.p[k].value] = true;
    for (gir_id v = p->nodes.n - 1; v > 0; v--) {
        if (!need[v]) continue;
        const gir_node *n = gir_at(p, v);
        for (int k = 0; k < n->n_in; k++) need[gir_in(p, v, k)] = true;
        if (!n->type.is_graph && n->type.space) need[gir_space_source(p, n->type.space)] = true;
        if (gir_named_space(n)) need[gir_space_source(p, gir_named_space(n))] = true;
    }
    need[0] = false;
    return need;
}

/* leaves --------------------------------------------------------------------------------------- */

/* How far what code has is from a given number that is held as it is. */
static double given(const gir_eval_t *e, gn_elem elem, double x)
{
    return e->env->precision == GIR_EVAL_F64 && gn_elem_is_float(elem)
               ? fabs(gir_round(elem, x) - x)
               : 0;
}

static gn_status *bound_tensor(gir_eval_t *e)
{
    const gir_node *n = gir_node_at_hand(e);
    const gir_value *x = bound(e->env, n->attr.name);
    if (!x) GN_FAIL(GN_ERR_DATA, "%s '%s' is not bound", gir_ops[n->op].text, n->attr.name);
    if (x->graph || x->rows != e->out->rows || x->cols != e->out->cols)
        GN_FAIL(GN_ERR_DATA, "%s '%s': %lld rows of %lld, where %lld rows of %lld are needed",
                gir_ops[n->op].text, n->attr.name, (long long)x->rows, (long long)x->cols,
                (long long)e->out->rows, (long long)e->out->cols);
    for (int64_t i = 0; i < gir_count(e->out); i++) {
        e->out->v[i] = x->v[i];
        if (e->out->err) e->out->err[i] = given(e, (gn_elem)n->type.elem, x->v[i]);
    }
    return NULL;
}

gn_status *gir_eval_INPUT(gir_eval_t *e) { return bound_tensor(e); }
gn_status *gir_eval_STATE(gir_eval_t *e) { return bound_tensor(e); }

gn_status *gir_eval_GRAPH(gir_eval_t *e)
{
    const gir_node *n = gir_node_at_hand(e);
    const gir_value *x = bound(e->env, n->attr.name);
    if (!x) GN_FAIL(GN_ERR_DATA, "graph '%s' is not bound", n->attr.name);
    e->out->graph = x->graph;
    return NULL;
}

gn_status *gir_eval_CONST(gir_eval_t *e)
{
    const gir_node *n = gir_node_at_hand(e);
    for (int64_t i = 0; i < gir_count(e->out); i++) {
        e->out->v[i] = n->attr.f;
        if (e->out->err) e->out->err[i] = given(e, (gn_elem)n->type.elem, n->attr.f);
    }
    return NULL;
}

gn_status *gir_eval_SIZE(gir_eval_t *e)
{
    gir_space_id s = (gir_space_id)gir_node_at_hand(e)->attr.i[0];
    if (e->rows[s] < 0)
        GN_FAIL(GN_ERR_DATA, "no input tells how many rows %s has", e->p->spaces.p[s].name);
    e->out->v[0] = (double)e->rows[s];
    return NULL;
}

/* bounds --------------------------------------------------------------------------------------- */

/* Is what code computes for this value never negative, whatever its rounding? */
static bool never_negative(const gir_eval_t *e)
{
    const gir_node *n = gir_node_at_hand(e);
    int all = 1, first = n->op == GIR_SELECT;
    for (int k = first; k < n->n_in; k++) all &= e->nonneg[gir_in(e->p, e->v, k)];
    if (n->type.elem == GN_BOOL) return true;
    switch (n->op) {
    case GIR_INPUT:
    case GIR_STATE:
    case GIR_CONST:
        for (int64_t i = 0; i < gir_count(e->out); i++)
            if (!(e->out->v[i] >= 0)) return false;
        return true;
    case GIR_MUL: return all || gir_in(e->p, e->v, 0) == gir_in(e->p, e->v, 1);
    case GIR_MAX: return e->nonneg[gir_in(e->p, e->v, 0)] || e->nonneg[gir_in(e->p, e->v, 1)];
    case GIR_POW: return e->nonneg[gir_in(e->p, e->v, 0)];
    case GIR_IOTA:
    case GIR_SIZE:
    case GIR_RANDOM:
    case GIR_RNG_KEY:
    case GIR_ABS:
    case GIR_EXP:
    case GIR_SQRT:
    case GIR_RSQRT:
    case GIR_SIGMOID: return true;
    case GIR_NEG:
    case GIR_SUB:
    case GIR_LOG:
    case GIR_SIN:
    case GIR_COS: return false;
    default: return n->n_in > 0 && all;
    }
}

static double greatest(gn_elem e)
{
    switch (e) {
    case GN_F32: return 0x1.fffffep127;
    case GN_BF16: return 0x1.fep127;
    case GN_F16: return 65504;
    default: return 0x1.fffffffffffffp1023;
    }
}

/* Rounds to the element type where that is asked for, and makes every bound a number or
 * INFINITY. */
static void finish(gir_eval_t *e)
{
    gn_elem elem = (gn_elem)gir_node_at_hand(e)->type.elem;
    bool is_float = gn_elem_is_float(elem);
    gir_value *out = e->out;
    for (int64_t i = 0; i < gir_count(out); i++) {
        if (!is_float || e->env->precision == GIR_EVAL_ELEM) out->v[i] = gir_round(elem, out->v[i]);
        if (!out->err) continue;
        double err = out->err[i] * (1 + 1e-9); /* for what is of second order */
        bool finite = isfinite(out->v[i]) && (!is_float || fabs(out->v[i]) + err <= greatest(elem));
        out->err[i] = isnan(err) || !finite ? INFINITY : elem == GN_BOOL ? (err > 0) : err;
    }
    if (e->nonneg) e->nonneg[e->v] = never_negative(e);
}

/* the run -------------------------------------------------------------------------------------- */

static gn_status *eval_graph(gir_eval_t *e)
{
    const gir_node *n = gir_node_at_hand(e);
    GN_TRY(evals[n->op](e));
    if (e->nonneg) e->nonneg[e->v] = true; /* says nothing of those that use it */
    return graph_rows(e, &n->type, e->out->graph, gir_ops[n->op].text);
}

static gn_status *eval_tensor(gir_eval_t *e)
{
    const gir_node *n = gir_node_at_hand(e);
    gir_value *out = e->out;
    int64_t count;
    out->rows = e->rows[n->type.space];
    out->cols = gir_row_elems(&n->type);
    if (out->rows < 0)
        GN_FAIL(GN_ERR_DATA, "%%%u: no input tells how many rows %s has", e->v,
                e->p->spaces.p[n->type.space].name);
    if (__builtin_mul_overflow(out->rows, out->cols, &count))
        GN_FAIL(GN_ERR_DATA, "%%%u: %lld rows of %lld", e->v, (long long)out->rows,
                (long long)out->cols);
    out->v = GN_NEW_N(e->arena, double, count);
    if (e->env->bounds) out->err = GN_NEW_N(e->arena, double, count);
    GN_TRY(evals[n->op](e));
    finish(e);
    return NULL;
}

gn_status *gir_eval(const gir_program *p, const gir_env *env, gir_value **values)
{
    gir_eval_t e = {.p = p, .env = env, .arena = env->arena};
    bool *need = find_needed(p, e.arena);
    e.values = GN_NEW_N(e.arena, gir_value, p->nodes.n);
    e.to = GN_NEW_N(e.arena, int64_t *, p->nodes.n);
    e.sure = GN_NEW_N(e.arena, uint8_t *, p->nodes.n);
    e.extremum = GN_NEW_N(e.arena, gir_extremum, p->nodes.n);
    if (env->bounds) e.nonneg = GN_NEW_N(e.arena, bool, p->nodes.n);
    GN_TRY(find_sizes(&e));
    for (gir_id v = 1; v < p->nodes.n; v++) {
        if (!need[v]) continue;
        e.v = v;
        e.out = &e.values[v];
        GN_TRY(gir_at(p, v)->type.is_graph ? eval_graph(&e) : eval_tensor(&e));
    }
    *values = e.values;
    return NULL;
}
