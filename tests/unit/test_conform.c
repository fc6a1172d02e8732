/* links: base ir frontend runtime */
/* timeout: 120 */
/* Every recorded case through the front end and the evaluator of the tensor IR in double: outputs,
 * losses, gradients of parameters and inputs, running statistics. */
#include "support/conform_suite.h"

#include "ir/eval.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double OUT_TOLERANCE = 1e-10, GRAD_TOLERANCE = 1e-9;

static void need(gn_status *s, const char *what)
{
    if (s) ck_abort_msg("%s: %s", what, gn_status_message(s));
}

/* evaluation ----------------------------------------------------------------------------------- */

typedef struct bindings {
    GN_VEC(const char *) names;
    GN_VEC(gir_value) values;
} bindings;

static void bind(gn_arena *a, bindings *b, const char *name, gir_value v)
{
    GN_PUSH(a, b->names, name);
    GN_PUSH(a, b->values, v);
}

/* To CSR order and back. */
static double *reorder(gn_arena *a, const double *v, const gir_coo *g, int64_t cols, bool back)
{
    double *out = GN_NEW_N(a, double, g->n_edge *cols + 1);
    for (int64_t e = 0; e < g->n_edge; e++)
        for (int64_t k = 0; k < cols; k++) {
            int64_t user = g->pos[e] * cols + k, csr = e * cols + k;
            out[back ? user : csr] = v[back ? csr : user];
        }
    return out;
}

static void bind_inputs(conform_case *c, const gir_program *p, const gir_coo *g, bindings *b)
{
    for (gir_id id = 1; id < p->nodes.n; id++) {
        const gir_node *node = gir_at(p, id);
        if (node->op != GIR_INPUT) continue;
        int64_t rows = 0, cols = 0;
        double *v = conform_input(c, node->attr.name, &rows, &cols);
        ck_assert_msg(v != NULL, "the case has no input `%s`", node->attr.name);
        if (p->spaces.p[node->type.space].kind == GIR_EDGE)
            v = reorder(c->arena, v, g, cols, false);
        bind(c->arena, b, node->attr.name, (gir_value){.rows = rows, .cols = cols, .v = v});
    }
}

static void bind_params(conform_case *c, bindings *b)
{
    for (int i = 0; i < c->model->n_params; i++) {
        const gn_param *p = &c->model->params[i];
        double *v = conform_param(c, "param", p);
        ck_assert_msg(v != NULL, "the case has no parameter `%s`", p->file_name);
        bind(c->arena, b, p->name, (gir_value){.rows = 1, .cols = gir_row_elems(&p->type), .v = v});
    }
}

static gir_value *evaluate(conform_case *c, const gir_program *p, const gir_coo *g)
{
    bindings b = {0};
    gir_value *values;
    bind(c->arena, &b, "g", (gir_value){.graph = g});
    bind_inputs(c, p, g, &b);
    bind_params(c, &b);
    gir_env env = {.arena = c->arena,
                   .precision = GIR_EVAL_F64,
                   .n = (int)b.names.n,
                   .name = b.names.p,
                   .value = b.values.p};
    need(gir_verify(p), p->name);
    need(gir_eval(p, &env, &values), p->name);
    return values;
}

static gir_id output(const gir_program *p, gir_output_kind kind, const char *name)
{
    for (uint32_t i = 0; i < p->outputs.n; i++)
        if (p->outputs.p[i].kind == kind && strcmp(p->outputs.p[i].name, name) == 0)
            return p->outputs.p[i].value;
    return 0;
}

/* comparison ----------------------------------------------------------------------------------- */

static void same(const char *path, const char *what, const gir_value *v, const double *want,
                 int64_t n, double tolerance)
{
    double worst;
    ck_assert_msg(v->v != NULL && v->rows * v->cols == n, "%s: %s has %lld elements, not %lld",
                  path, what, (long long)(v->rows * v->cols), (long long)n);
    ck_assert_msg(conform_close_to(v->v, want, n, tolerance, &worst), "%s: %s differs by %g", path,
                  what, worst);
}

static void check_outputs(conform_case *c, const char *path, const gir_coo *g)
{
    int64_t n;
    bool of_loss = c->training;
    const gir_program *p = of_loss ? c->model->loss : c->model->eval;
    const gir_value *v = evaluate(c, p, g);
    const double *want = conform_tensor(c, "out", &n);
    if (want) same(path, "out", &v[output(p, GIR_OUTPUT, "out")], want, n, OUT_TOLERANCE);
    const double *loss = conform_tensor(c, "loss", &n);
    if (loss) same(path, "loss", &v[output(p, GIR_OUTPUT, "loss")], loss, 1, OUT_TOLERANCE);
    for (int i = 0; i < c->model->n_params && c->kind == CONFORM_LAYER; i++) {
        const gn_param *param = &c->model->params[i];
        const double *after = conform_param(c, "after", param);
        gir_id id = output(p, GIR_UPDATE, param->name);
        ck_assert_msg(!after || param->trainable || id, "%s: `%s` is not updated", path,
                      param->name);
        if (after && id)
            same(path, param->name, &v[id], after, gir_row_elems(&param->type), OUT_TOLERANCE);
    }
}

/* What gradients are recorded of: parameters by their file names, and inputs. */
typedef struct wanted {
    const char *name;
    gir_id leaf;
    const double *value;
    int64_t n;
    bool edge;
} wanted;

static int wanted_of(conform_case *c, const gir_program *p, wanted *out, int max)
{
    static const char *const inputs[][2] = {
        {"x", "grad.x"}, {"g.weight", "grad.edge_weight"}, {"g.attr", "grad.edge_attr"}};
    int n = 0;
    for (int i = 0; i < c->model->n_params && n < max; i++) {
        const gn_param *param = &c->model->params[i];
        const double *v = conform_param(c, "grad", param);
        ck_assert_msg((v != NULL) == param->trainable, "%s: the case has no gradient of `%s`",
                      c->model->name, param->file_name);
        gir_id leaf = gir_leaf_by_name(p, GIR_STATE, param->name);
        if (v) out[n++] = (wanted){param->file_name, leaf, v, gir_row_elems(&param->type), false};
    }
    for (size_t k = 0; k < 3 && n < max; k++) {
        int64_t m;
        const double *v = conform_tensor(c, inputs[k][1], &m);
        gir_id leaf = gir_leaf_by_name(p, GIR_INPUT, inputs[k][0]);
        if (v) out[n++] = (wanted){inputs[k][0], leaf, v, m, k > 0};
    }
    return n;
}

static void check_gradients(conform_case *c, const char *path, const gir_coo *g)
{
    enum { MAX = 64 };
    wanted w[MAX];
    gir_id leaves[MAX], grads[MAX];
    if (!c->training) return; /* model->loss is in training mode */
    gir_program *p = c->model->loss;
    int n = wanted_of(c, p, w, MAX);
    for (int k = 0; k < n; k++) {
        leaves[k] = w[k].leaf;
        ck_assert_msg(leaves[k] != 0, "%s: the loss does not use `%s`", path, w[k].name);
    }
    need(gir_grad(p, output(p, GIR_OUTPUT, "loss"), n, leaves, grads), path);
    for (int k = 0; k < n; k++)
        gir_output_add(p, GIR_OUTPUT, gn_arena_printf(c->arena, "grad.%s", w[k].name), grads[k]);
    gir_value *v = evaluate(c, p, g);
    for (int k = 0; k < n; k++) {
        gir_value *grad = &v[grads[k]];
        if (w[k].edge) grad->v = reorder(c->arena, grad->v, g, grad->cols, true);
        same(path, gn_arena_printf(c->arena, "the gradient of `%s`", w[k].name), grad, w[k].value,
             w[k].n, GRAD_TOLERANCE);
    }
}

static void run_case(const char *path, int number)
{
    (void)number;
    gn_arena a;
    conform_case *c;
    gn_arena_init(&a);
    need(conform_open(&a, conform_root(), path, &c), path);
    const gir_coo *g = gir_coo_new(&a, c->n_nodes, c->n_nodes, c->n_edges, c->src, c->dst);
    check_outputs(c, path, g);
    check_gradients(c, path, g);
    conform_close(c);
    gn_arena_free(&a);
}

int main(void) { return conform_main("conform", 60, run_case); }
