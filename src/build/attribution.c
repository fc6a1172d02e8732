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

static bool is_among(const gir_program *p, gir_id v, int n, const char *const *inputs)
{
    const gir_node *node = gir_at(p, v);
    for (int k = 0; k < n && node->op == GIR_INPUT; k++)
        if (!strcmp(inputs[k], node->attr.name)) return true;
    return false;
}

/* Inputs are multiplied by `part` wherever they are read. */
static gir_program *scaled(gn_arena *a, const gir_program *p, int n, const char *const *inputs)
{
    gn_rewrite r = gn_rewrite_new(a, p);
    gir_type scalar = gir_tensor(GN_F32, 0, 0, NULL);
    gir_id part = 0;
    for (gir_id v = 1; v < p->nodes.n; v++) {
        gn_rewrite_copy(&r, v);
        if (!is_among(p, v, n, inputs)) continue;
        gir_type t = *gir_type_of(r.to, r.map[v]);
        if (!part) part = gir_leaf(r.to, GIR_INPUT, GN_ATTRIBUTION_PART, &scalar);
        r.map[v] = gir_op2(r.to, GIR_MUL, r.map[v], gir_broadcast(r.to, part, &t));
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

/* Of the values at non-zeros of x. */
static gir_id of_cells(gir_program *p, gir_id cells, const gir_id grad[2])
{
    const gir_node *dense = gir_at(p, grad[0]);
    gir_id by = grad[1];
    if (dense->op != GIR_CONST || dense->attr.f != 0) {
        gir_id pattern = gir_in(p, gir_in(p, cells, 0), 0);
        by = gir_op2(p, GIR_ADD, by, gir_op2(p, GIR_CELL, pattern, grad[0]));
    }
    return gir_op2(p, GIR_MUL, cells, by);
}

static gn_status *attribute(gir_program *p, const char *result, int n, const char *const *inputs,
                            gir_id cells, gn_attribution *out)
{
    gir_id *wrt = GN_NEW_N(p->arena, gir_id, n + 1), *grad = GN_NEW_N(p->arena, gir_id, n + 1);
    out->output = GN_NEW_N(p->arena, const char *, n);
    for (int k = 0; k < n; k++) wrt[k] = gir_leaf_by_name(p, GIR_INPUT, inputs[k]);
    wrt[n] = cells;
    GN_TRY(gir_grad(p, score_of(p, result), n + (cells != 0), wrt, grad));
    p->outputs.n = 0;
    for (int k = 0; k < n; k++) {
        gir_id v = cells ? of_cells(p, cells, grad) : gir_op2(p, GIR_MUL, wrt[k], grad[k]);
        out->output[k] = gn_arena_printf(p->arena, "attribution.%d", k);
        gir_output_add(p, GIR_OUTPUT, out->output[k], v);
    }
    return NULL;
}

gn_status *gn_attribution_make(gn_arena *a, const gn_model *m, const char *result, int n,
                               const char *const *inputs, bool sparse, gn_attribution *out)
{
    const gn_nonzeros any = GN_NONZEROS_ANY;
    const gn_pass_options o = {.n_sparse = sparse, .sparse = inputs, .nonzeros = &any, .limit = -1};
    gir_program *p = scaled(a, m->eval, n, inputs);
    gir_id cells = 0;
    GN_TRY(gn_run_sparsify(a, p, &o, &p));
    if (sparse) p = apart(a, p, &cells);
    p = gir_clone(a, p);
    p->name = "attribution";
    *out = (gn_attribution){.model = *m, .at_nonzeros = cells != 0};
    gn_status *s = attribute(p, result, n, inputs, cells, out);
    if (s) return gn_status_annotate(s, "the result `%s` of model %s", result, m->name);
    out->model.eval = p;
    out->model.loss = out->model.validate = NULL;
    return NULL;
}
