/* attribution: gradients by features, of an evaluation whose weights stay.
 *
 * Where features are sparse the products with them become sums over non-zeros first, as in any
 * program, and the gradient is taken by the values at those: it is one number a non-zero, which an
 * edge of the pattern computes by itself, and nothing has a row of all features.  What reads them
 * otherwise gives a dense gradient, of which those cells are read. */
#include "build/attribution.h"

#include "base/data_name.h"
#include "passes/passes.h"
#include "passes/rewrite.h"

#include <string.h>

/* x is multiplied by `part` wherever it is read; *x: the input itself. */
static gir_program *scaled(gn_arena *a, const gir_program *p, gir_id x)
{
    gn_rewrite r = gn_rewrite_new(a, p);
    gir_type scalar = gir_tensor(GN_F32, 0, 0, NULL);
    for (gir_id v = 1; v < p->nodes.n; v++) {
        gn_rewrite_copy(&r, v);
        if (v != x) continue;
        gir_type t = *gir_type_of(r.to, r.map[v]);
        gir_id part = gir_leaf(r.to, GIR_INPUT, GN_ATTRIBUTION_PART, &scalar);
        part = gir_broadcast(r.to, part, &t);
        r.map[v] = gir_op2(r.to, GIR_MUL, r.map[v], part);
    }
    gn_rewrite_outputs(&r);
    return r.to;
}

static bool is_of(const gir_program *p, gir_id v, gir_op op, gir_id x)
{
    return gir_at(p, v)->op == op && gir_in(p, v, op == GIR_CELL) == x;
}

/* The program over non-zeros, where no gradient goes from those to x; *cells: their values, 0 where
 * no product has x. */
static gir_program *apart(gn_arena *a, const gir_program *p, gir_id *cells)
{
    gn_rewrite r = gn_rewrite_new(a, p);
    gir_id x = gir_leaf_by_name(p, GIR_INPUT, GN_NAME_X);
    *cells = 0;
    for (gir_id v = 1; v < p->nodes.n; v++) {
        gir_id in = gir_at(p, v)->op == GIR_CELL ? gir_in(p, v, 1) : 0;
        bool spread = in && gir_at(p, in)->op == GIR_BROADCAST &&
                      !gir_type_of(p, gir_in(p, in, 0))->space;
        gn_rewrite_copy(&r, v);
        if (spread) { /* the part, which is the same in all cells */
            gir_type t = gn_rewrite_type(&r, v);
            r.map[v] = gir_broadcast(r.to, r.map[gir_in(p, in, 0)], &t);
        }
        if (is_of(p, v, GIR_CELL, x)) *cells = r.map[v] = gir_op1(r.to, GIR_DETACH, r.map[v]);
    }
    gn_rewrite_outputs(&r);
    return r.to;
}

static gir_id score_of(gir_program *p, const char *result)
{
    const gir_output *o = NULL;
    for (int k = 0; (o = gir_result(p, k)) && strcmp(o->name, result) != 0; k++) continue;
    gir_type t = *gir_type_of(p, o->value);
    gir_id of = gir_leaf(p, GIR_INPUT, GN_ATTRIBUTION_OF, &t);
    gir_id sum = gir_op2(p, GIR_MUL, o->value, of);
    if (t.rank) sum = gir_reduce(p, sum, GIR_SUM, ((int64_t)1 << t.rank) - 1);
    return t.space ? gir_space_reduce(p, sum, GIR_SUM) : sum;
}

static gn_status *attribute(gir_program *p, const char *result, gir_id cells)
{
    gir_id x = gir_leaf_by_name(p, GIR_INPUT, GN_NAME_X), wrt[2] = {x, cells}, grad[2];
    GN_TRY(gir_grad(p, score_of(p, result), cells ? 2 : 1, wrt, grad));
    gir_id of = cells ? cells : x, by = cells ? grad[1] : grad[0];
    const gir_node *dense = gir_at(p, grad[0]);
    if (cells && !(dense->op == GIR_CONST && dense->attr.f == 0)) {
        gir_id pattern = gir_in(p, gir_in(p, cells, 0), 0);
        by = gir_op2(p, GIR_ADD, by, gir_op2(p, GIR_CELL, pattern, grad[0]));
    }
    p->outputs.n = 0;
    gir_output_add(p, GIR_OUTPUT, GN_ATTRIBUTION, gir_op2(p, GIR_MUL, of, by));
    return NULL;
}

gn_status *gn_attribution_make(gn_arena *a, const gn_model *m, const char *result, bool sparse,
                               gn_attribution *out)
{
    static const char *const inputs[] = {GN_NAME_X};
    const gn_nonzeros any = GN_NONZEROS_ANY;
    const gn_pass_options o = {.n_sparse = sparse, .sparse = inputs, .nonzeros = &any, .limit = -1};
    gir_id x = gir_leaf_by_name(m->eval, GIR_INPUT, GN_NAME_X), cells = 0;
    const gir_type *t = x ? gir_type_of(m->eval, x) : NULL;
    if (!x || t->rank != 1 || t->elem != GN_F32)
        GN_FAIL(GN_ERR_MODEL, "model %s reads no features `x` that something could come of",
                m->name);
    gir_program *p = scaled(a, m->eval, x);
    GN_TRY(gn_run_sparsify(a, p, &o, &p));
    if (sparse) p = apart(a, p, &cells);
    if (!sparse || !cells) p = gir_clone(a, p);
    p->name = "attribution";
    gn_status *s = attribute(p, result, cells);
    if (s) return gn_status_annotate(s, "the result `%s` of model %s", result, m->name);
    *out = (gn_attribution){.model = *m, .at_nonzeros = cells != 0};
    out->model.eval = p;
    out->model.loss = out->model.validate = NULL;
    return NULL;
}
