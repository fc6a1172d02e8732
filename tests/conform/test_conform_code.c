/* labels: long */
/* timeout: 900 */
/* links: tune codegen lower passes frontend ir runtime base */
/* Every recorded case through compiled code: outputs and losses to 1e-5, gradients to 1e-4 of what
 * PyTorch Geometric computed, in default and eager mode, with dense and sparse features; training
 * loops step by step, with the weights that they end with, and in double to those of torch's
 * doubles. */
#include "base/sanitized.h"
#include "runtime/fill.h"
#include "session/session_impl.h"
#include "support/conform_suite.h"
#include "support/run_compiled.h"
#include "support/run_data.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double OUT_TOLERANCE = 1e-5, GRAD_TOLERANCE = 1e-4, WIDE_TOLERANCE = 1e-11;

static void need(gn_status *s, const char *what)
{
    if (s) ck_abort_msg("%s: %s (%s:%d)", what, gn_status_message(s), s->file, s->line);
}

/* Bindings ------------------------------------------------------------------------------------- */

typedef struct bindings {
    GN_VEC(const char *) names;
    GN_VEC(gir_value) values;
} bindings;

static void bind(gn_arena *a, bindings *b, const char *name, gir_value v)
{
    for (uint32_t k = 0; k < b->names.n; k++)
        if (strcmp(b->names.p[k], name) == 0) return;
    GN_PUSH(a, b->names, name);
    GN_PUSH(a, b->values, v);
}

/* Edge values between the user's order and CSR order. */
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

/* Graph, inputs and parameters of the case; other states, such as moments and counters, start at
 * 0. */
static gir_env environment(conform_case *c, const gir_program *p, const gir_coo *g)
{
    bindings b = {0};
    bind(c->arena, &b, "g", (gir_value){.graph = g});
    for (int i = 0; i < c->model->n_params; i++) {
        const gn_param *param = &c->model->params[i];
        double *v = conform_param(c, "param", param);
        ck_assert_msg(v != NULL, "the case has no parameter `%s`", param->file_name);
        bind(c->arena, &b, param->name,
             (gir_value){.rows = 1, .cols = gir_row_elems(&param->type), .v = v});
    }
    for (gir_id id = 1; id < p->nodes.n; id++) {
        const gir_node *node = gir_at(p, id);
        int64_t rows = 1, cols = node->type.is_graph ? 1 : gir_row_elems(&node->type);
        double *v = node->op == GIR_STATE ? GN_NEW_N(c->arena, double, cols + 1) : NULL;
        if (node->op == GIR_INPUT) {
            v = conform_input(c, node->attr.name, &rows, &cols);
            ck_assert_msg(v != NULL, "the case has no input `%s`", node->attr.name);
            if (p->spaces.p[node->type.space].kind == GIR_EDGE)
                v = reorder(c->arena, v, g, cols, false);
        }
        if (v) bind(c->arena, &b, node->attr.name, (gir_value){.rows = rows, .cols = cols, .v = v});
    }
    return (gir_env){
        .arena = c->arena, .n = (int)b.names.n, .name = b.names.p, .value = b.values.p};
}

/* What is recorded ----------------------------------------------------------------------------- */

typedef struct recorded {
    uint32_t output;
    const char *what;
    const double *want;
    int64_t n;
    double tolerance;
    int64_t edge_cols; /* > 0: recorded in the user's order of edges, so many a row */
} recorded;

typedef struct records {
    GN_VEC(recorded) r;
} records;

static bool find_output(const gir_program *p, gir_output_kind kind, const char *name, uint32_t *k)
{
    for (*k = 0; *k < p->outputs.n; ++*k)
        if (p->outputs.p[*k].kind == kind && strcmp(p->outputs.p[*k].name, name) == 0) return true;
    return false;
}

static void add_record(conform_case *c, const gir_program *p, records *r, gir_output_kind kind,
                       const char *name, const double *want, int64_t n, double tolerance)
{
    recorded x = {.what = name, .want = want, .n = n, .tolerance = tolerance};
    if (!want) return;
    ck_assert_msg(find_output(p, kind, name, &x.output), "the program has no output `%s`", name);
    const gir_type *t = gir_type_of(p, p->outputs.p[x.output].value);
    if (p->spaces.p[t->space].kind == GIR_EDGE) x.edge_cols = gir_row_elems(t);
    GN_PUSH(c->arena, r->r, x);
}

/* Gradients of parameters and inputs as further outputs of the loss. */
static void add_gradients(conform_case *c, gir_program *p, records *r)
{
    static const char *const inputs[][2] = {
        {"x", "grad.x"}, {"g.weight", "grad.edge_weight"}, {"g.attr", "grad.edge_attr"}};
    GN_VEC(gir_id) leaf = {0};
    GN_VEC(recorded) of = {0};
    for (int i = 0; i < c->model->n_params; i++) {
        const gn_param *param = &c->model->params[i];
        const double *v = conform_param(c, "grad", param);
        if (v) GN_PUSH(c->arena, leaf, gir_leaf_by_name(p, GIR_STATE, param->name));
        if (v)
            GN_PUSH(c->arena, of,
                    ((recorded){.what = param->name, .want = v, .n = gir_row_elems(&param->type)}));
    }
    for (size_t k = 0; k < 3; k++) {
        recorded x = {.what = inputs[k][0]};
        x.want = conform_tensor(c, inputs[k][1], &x.n);
        if (x.want) GN_PUSH(c->arena, leaf, gir_leaf_by_name(p, GIR_INPUT, inputs[k][0]));
        if (x.want) GN_PUSH(c->arena, of, x);
    }
    uint32_t loss;
    gir_id *grad = GN_NEW_N(c->arena, gir_id, leaf.n + 1);
    ck_assert(find_output(p, GIR_OUTPUT, "loss", &loss));
    need(gir_grad(p, p->outputs.p[loss].value, (int)leaf.n, leaf.p, grad), "gradients");
    for (uint32_t k = 0; k < leaf.n; k++) {
        const char *name = gn_arena_printf(c->arena, "grad.%s", of.p[k].what);
        gir_output_add(p, GIR_OUTPUT, name, grad[k]);
        add_record(c, p, r, GIR_OUTPUT, name, of.p[k].want, of.p[k].n, GRAD_TOLERANCE);
    }
}

static gir_program *program_of(conform_case *c, records *r)
{
    int64_t n;
    gir_program *p = c->training ? c->model->loss : c->model->eval;
    const double *out = conform_tensor(c, "out", &n), *loss;
    add_record(c, p, r, GIR_OUTPUT, "out", out, n, OUT_TOLERANCE);
    if (!c->training) return p;
    loss = conform_tensor(c, "loss", &n);
    add_record(c, p, r, GIR_OUTPUT, "loss", loss, 1, OUT_TOLERANCE);
    for (int i = 0; i < c->model->n_params && c->kind == CONFORM_LAYER; i++) {
        const gn_param *param = &c->model->params[i];
        if (param->trainable) continue;
        const double *after = conform_param(c, "after", param);
        add_record(c, p, r, GIR_UPDATE, param->name, after, gir_row_elems(&param->type),
                   OUT_TOLERANCE);
    }
    add_gradients(c, p, r);
    return p;
}

static void compare(conform_case *c, const char *path, const gir_coo *g, const run_case *z,
                    int mode, const records *r)
{
    for (uint32_t k = 0; k < r->r.n; k++) {
        const recorded *x = &r->r.p[k];
        const double *got = run_case_output(z, mode, x->output);
        double worst;
        if (x->edge_cols) got = reorder(c->arena, got, g, x->edge_cols, true);
        ck_assert_msg(conform_close_to(got, x->want, x->n, x->tolerance, &worst),
                      "%s, %s: %s differs by %g", path, run_modes[mode].name, x->what, worst);
    }
}

static void run_and_compare(conform_case *c, const char *path, const gir_coo *g,
                            const gir_program *p, const gir_env *env, unsigned modes,
                            unsigned code_modes, const records *r)
{
    run_case *z = NULL;
    run_code *code = NULL;
    run_tally tally = {0};
    need(run_case_new(c->arena, p, env, modes, code_modes, &z), path);
    need(run_compile(c->arena, 1, &z, &code), path);
    need(run_case_check(z, &tally), path);
    for (int mode = 0; mode < RUN_ALL_MODES; mode++)
        if (modes >> mode & 1) compare(c, path, g, z, mode, r);
    if (getenv("GNNC_TEST_VERBOSE"))
        printf("%s: %lld elements, %lld without a bound\n", path, (long long)tally.elements,
               (long long)tally.skipped);
    run_case_free(z);
    run_code_free(code);
}

/* Training ------------------------------------------------------------------------------------- */

#if !defined(CONFORM_CUDA) && !defined(CONFORM_HALF)
static void run_steps(conform_case *c, const char *path, const gir_program *p, const gir_env *env,
                      bool eager, double tolerance)
{
    run_table table = run_table_new(c->arena, p, env, false);
    run_graphs graphs;
    gn_compiled *code;
    gn_instance *in;
    gn_pool *pool;
    gn_compile_options o = {.index = GN_I32, .pass = {.limit = -1, .eager = eager, .verify = true}};
    int64_t steps, n;
    const double *loss = conform_tensor(c, "loss", &steps);
    o.code.opt_level = eager ? 0 : SUITE_OPT_LEVEL;
    gn_binding *b = GN_NEW_N(c->arena, gn_binding, table.t.n + 1);
    for (uint32_t k = 0; k < table.t.n; k++) {
        const run_tensor *t = &table.t.p[k];
        b[k] = (gn_binding){t->name, t->elem, t->rows, t->cols, t->data};
    }
    need(run_graphs_new(c->arena, p, env, &graphs), path);
    need(gn_compile(c->arena, p, &o, NULL, &code), path);
    gn_image *image;
    gn_code_report report;
    need(gn_compile_code(c->arena, 1, &code, &o.code, &image, &report), path);
    need(gn_pool_new(2, &pool), path);
    need(gn_instance_new(code->artifact, (int)graphs.g.n, graphs.g.p, (int)table.t.n, b, pool, NULL,
                         &in),
         path);
    for (int64_t k = 0; k < steps; k++) {
        gn_instance_run(in);
        double worst, got = (double)*(const float *)gn_instance_output(in, "loss", &n);
        ck_assert_msg(conform_close_to(&got, &loss[k], 1, OUT_TOLERANCE, &worst),
                      "%s: loss of step %lld differs by %g", path, (long long)k + 1, worst);
    }
    for (int i = 0; i < c->model->n_params; i++) {
        const gn_param *param = &c->model->params[i];
        const double *after = conform_param(c, "after", param);
        const run_tensor *t = run_table_find(&table, param->name);
        double worst;
        if (!after || !t) continue;
        n = t->rows * t->cols;
        double *got = GN_NEW_N(c->arena, double, n + 1);
        for (int64_t k = 0; k < n; k++) got[k] = gn_fill_load(t->data, t->elem, k);
        ck_assert_msg(conform_close_to(got, after, n, tolerance, &worst), "%s: %s ends %g off",
                      path, param->name, worst);
    }
    gn_instance_free(in);
    gn_pool_free(pool);
    gn_image_free(image);
    run_graphs_free(&graphs);
}

#endif

#ifdef CONFORM_CUDA
/* The first step with its optimizer: against the evaluator, and its loss against what is recorded;
 * steps in a row are the CPU's to check. */
static void check_training(conform_case *c, const char *path, const gir_coo *g, int number)
{
    gir_program *p;
    (void)number;
    gn_pass_options opt = {.limit = -1};
    records r = {0};
    int64_t steps;
    if (c->kind != CONFORM_TRAIN) return;
    need(gn_training_step(c->arena, c->model, &opt, &p), path);
    gir_env env = environment(c, p, g);
    add_record(c, p, &r, GIR_OUTPUT, "loss", conform_tensor(c, "loss", &steps), 1, OUT_TOLERANCE);
    ck_assert_int_eq(r.r.n, 1);
    run_and_compare(c, path, g, p, &env, CONFORM_CUDA, CONFORM_CUDA, &r);
}
#elif !defined(CONFORM_HALF)
static void check_training(conform_case *c, const char *path, const gir_coo *g, int number)
{
    enum { EAGER = 1, FIXED, WIDE, WAYS };
    static const char *const data[] = {"x", "y", "train_mask"};
    for (int how = 0; GNNC_HAVE_LLVM && c->kind == CONFORM_TRAIN && how < WAYS; how++) {
        gir_program *p;
        bool eager = how == EAGER;
        if (GN_UNDER_ASAN && how != number % WAYS) continue;
        gn_pass_options opt = {
            .limit = -1, .eager = eager, .fixed = data, .n_fixed = how == FIXED ? 3 : 0};
        gn_model m = *c->model;
        m.params = GN_NEW_N(c->arena, gn_param, m.n_params + 1);
        for (int k = 0; k < m.n_params; k++) m.params[k] = c->model->params[k];
        if (how == WIDE) need(gn_model_widen(c->arena, &m), path);
        need(gn_training_step(c->arena, &m, &opt, &p), path);
        gir_env env = environment(c, p, g);
        run_steps(c, path, p, &env, eager, how == WIDE ? WIDE_TOLERANCE : GRAD_TOLERANCE);
    }
}

#endif

/* Half ----------------------------------------------------------------------------------------- */

#ifdef CONFORM_HALF
/* What PyTorch Geometric is off by under autocast to bfloat16: of outputs, of gradients. */
static bool find_half(const char *path, double *out, double *grad)
{
    char file[4096], line[256], name[128], as[32];
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    snprintf(file, sizeof file, "%s/tests/conform/half.txt", conform_root());
    FILE *f = fopen(file, "r");
    bool found = false;
    ck_assert_msg(f != NULL, "%s cannot be read", file);
    while (!found && fgets(line, sizeof line, f))
        found = sscanf(line, "%127s %31s %lf %lf", name, as, out, grad) == 4 &&
                !strcmp(as, "bfloat16") && !strncmp(base, name, strlen(name)) &&
                base[strlen(name)] == '.';
    fclose(f);
    return found;
}

/* No farther off than twice what autocast is, or a few roundings to bfloat16: of what it keeps as
 * float32 and what is kept in 16 bits here.  Of float16, too, whose sums over edges, where nothing
 * divides them, are bfloat16, and so is what comes of those. */
static void run_half(const char *path, int number)
{
    enum { TIMES = 2, ROUNDINGS = 3 };
    for (int type = 0; type < 2; type++) {
        double out, grad;
        gn_arena a;
        conform_case *c;
        records r = {0};
        unsigned mode = 1u << (RUN_KEPT + type);
        (void)number;
        if (!find_half(path, &out, &grad)) return;
        gn_arena_init(&a);
        need(conform_open(&a, conform_root(), path, &c), path);
        const gir_coo *g = gir_coo_new(&a, c->n_nodes, c->n_nodes, c->n_edges, c->src, c->dst);
        gir_program *p = program_of(c, &r);
        for (uint32_t k = 0; k < r.r.n; k++) {
            double off = strncmp(r.r.p[k].what, "grad.", 5) ? out : grad;
            r.r.p[k].tolerance = fmax((double)TIMES * off, (double)ROUNDINGS * 0x1p-9);
        }
        gir_env env = environment(c, p, g);
        run_and_compare(c, path, g, p, &env, mode, mode, &r);
        conform_close(c);
        gn_arena_free(&a);
    }
}

int main(void) { return conform_main("conform, in 16 bits", 60, run_half); }
#else

/* Cases ---------------------------------------------------------------------------------------- */

static void run_recorded(const char *path, int number)
{
#ifdef CONFORM_CUDA
    /* Most of the time goes into the C compiler: one of two in turn, and a case in two. */
    const unsigned modes = CONFORM_CUDA, in_turn = CONFORM_ONE(suite_long() ? number : number / 2);
    const unsigned code_modes = suite_long() || number % 2 == 0 ? in_turn : 0;
#else
    const unsigned modes = 0x2f; /* default, eager, sparse, split; eager with sparse features */
    /* Code of the default or, every second case, of one of eager, sparse and both with 4 lanes, in
     * turn: most of the time goes into that.  All of it: of the default, and of one. */
    static const unsigned others[] = {1u << 1, 1u << 2, 1u << 5};
    const unsigned in_turn = others[number % 3];
    const unsigned code_modes = suite_long() ? in_turn | 1 : number % 2 ? in_turn : 1;
#endif
    gn_arena a;
    conform_case *c;
    records r = {0};
    if (GN_UNDER_ASAN && !suite_long() && number % 2) return; /* they go the same ways */
    gn_arena_init(&a);
    need(conform_open(&a, conform_root(), path, &c), path);
    const gir_coo *g = gir_coo_new(&a, c->n_nodes, c->n_nodes, c->n_edges, c->src, c->dst);
    check_training(c, path, g, number);
    gir_program *p = program_of(c, &r);
    gir_env env = environment(c, p, g);
    run_and_compare(c, path, g, p, &env, modes, code_modes, &r);
    conform_close(c);
    gn_arena_free(&a);
}

int main(void) { return conform_main("conform, compiled", 120, run_recorded); }
#endif
