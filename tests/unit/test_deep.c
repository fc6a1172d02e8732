/* Programs of sixty steps, each of which reads the one before twice: whoever follows every way
 * through them instead of every value never ends. */
/* links: tune codegen lower passes frontend ir runtime base */
#include "gir_test.h"

#include "compile/compile.h"

enum { STEPS = 60, WIDTH = 8, SECONDS = 20 };

static gir_id constant(gir_program *p, gir_id like, double x)
{
    return gir_const(p, gir_type_of(p, like), x);
}

static gir_id swish(gir_program *p, gir_id e)
{
    return gir_op2(p, GIR_MUL, e, gir_op1(p, GIR_SIGMOID, e));
}
static gir_id square(gir_program *p, gir_id e) { return gir_op2(p, GIR_MUL, e, e); }
static gir_id negated(gir_program *p, gir_id e)
{
    return gir_op2(p, GIR_MUL, e, gir_op1(p, GIR_NEG, e));
}

static gir_id logistic(gir_program *p, gir_id e)
{
    return gir_op2(p, GIR_MUL, e, gir_op2(p, GIR_SUB, constant(p, e, 1), e));
}

static gir_id residual(gir_program *p, gir_id e)
{
    return gir_op2(p, GIR_ADD, e, gir_op2(p, GIR_MUL, constant(p, e, 0.5), e));
}

static gir_id gated(gir_program *p, gir_id e)
{
    gir_id zero = constant(p, e, 0);
    return gir_op2(p, GIR_MUL, e, gir_op3(p, GIR_SELECT, gir_op2(p, GIR_GT, e, zero), e, zero));
}

/* All but the first number of a row, and the first one behind them. */
static gir_id rolled(gir_program *p, gir_id e)
{
    gir_type most = *gir_type_of(p, e), one = most;
    most.dim[0] = WIDTH - 1;
    one.dim[0] = 1;
    gir_id in[2] = {gir_make(p, GIR_SLICE, 1, &e, &(gir_attr){.i = {0, 1}}, &most, NULL),
                    gir_make(p, GIR_SLICE, 1, &e, &(gir_attr){.i = {0, 0}}, &one, NULL)};
    return gir_make(p, GIR_CONCAT, 2, in, &(gir_attr){.i = {0}}, NULL, NULL);
}

static gir_id shifted(gir_program *p, gir_id e) { return gir_op2(p, GIR_ADD, e, rolled(p, e)); }

/* With a sum over edges in every step, through which a product could be moved. */
static gir_id layer(gir_program *p, gir_id h)
{
    gir_id g = gir_leaf_by_name(p, GIR_GRAPH, "g"), x = gir_leaf_by_name(p, GIR_INPUT, "x");
    gir_id sum = gir_scatter(p, g, gir_gather(p, g, x, GIR_SRC), GIR_DST, GIR_SUM);
    return gir_op2(p, GIR_ADD, gir_op2(p, GIR_ADD, h, h), sum);
}

/* Steps on the input, on what is computed of it row by row, on edges, on one number. */
enum { ON_INPUT = 1, ON_NODES = 2, ON_EDGES = 4, ON_NUMBERS = 8, ANYWHERE = 15, IN_ROWS = 7 };

static const struct {
    const char *what;
    int places;
    gir_id (*step)(gir_program *p, gir_id v);
} steps[] = {{"swish", ANYWHERE, swish},     {"square", ANYWHERE, square},
             {"negated", ANYWHERE, negated}, {"logistic", ANYWHERE, logistic},
             {"gated", ANYWHERE, gated},     {"residual", ANYWHERE, residual},
             {"rolled", IN_ROWS, rolled},    {"shifted", IN_ROWS, shifted},
             {"layer", ON_NODES, layer}};
enum { FORMS = sizeof steps / sizeof *steps };

/* The steps between two products, and beside them a sum over edges that could take over what the
 * second one reads. */
static gir_program *deep(int form, int place, bool gradients)
{
    static const int64_t wide[2] = {WIDTH, WIDTH}, narrow[2] = {WIDTH, WIDTH / 2};
    gir_program *p = gir_program_new(&arena, "deep");
    gir_space_id node = gir_space_add(p, "node", GIR_NODE, -1);
    gir_type rows = gir_tensor(GN_F32, node, 1, wide), number = gir_tensor(GN_F32, 0, 0, NULL);
    gir_type square_matrix = gir_tensor(GN_F32, 0, 2, wide),
             matrix = gir_tensor(GN_F32, 0, 2, narrow);
    gir_id g = gir_graph(p, "g", node, node), x = gir_leaf(p, GIR_INPUT, "x", &rows);
    gir_id w = gir_leaf(p, GIR_STATE, "w", &matrix),
           u = gir_leaf(p, GIR_STATE, "u", &square_matrix);
    gir_id s = gir_leaf(p, GIR_STATE, "s", &number);
    gir_id v = x, h = gir_matmul(p, gir_op1(p, GIR_TANH, x), u, false, false),
           again = gir_op1(p, GIR_EXP, h);
    gir_id beside = gir_scatter(p, g, gir_gather(p, g, h, GIR_DST), GIR_SRC, GIR_SUM);
    if (place == ON_NODES) v = again;
    if (place == ON_EDGES) v = gir_gather(p, g, h, GIR_SRC);
    if (place == ON_NUMBERS) v = s;
    for (int k = 0; k < STEPS; k++) v = steps[form].step(p, v);
    if (place == ON_EDGES) v = gir_scatter(p, g, v, GIR_DST, GIR_SUM);
    if (place == ON_NUMBERS) v = gir_op2(p, GIR_MUL, h, gir_broadcast(p, v, &rows));
    gir_id y = gir_matmul(p, v, w, false, false);
    y = gir_scatter(p, g, gir_gather(p, g, y, GIR_SRC), GIR_DST, GIR_SUM);
    if (steps[form].step == layer || place == ON_NUMBERS)
        v = h; /* the second product alone reads the steps */
    gir_id total = gir_reduce(p, gir_op2(p, GIR_MUL, v, again), GIR_SUM, 1);
    gir_output_add(p, GIR_OUTPUT, "total", gir_space_reduce(p, total, GIR_SUM));
    gir_output_add(p, GIR_OUTPUT, "y", y);
    gir_output_add(p, GIR_OUTPUT, "h", h);
    gir_output_add(p, GIR_OUTPUT, "beside", beside);
    if (!gradients) return p;
    gir_id of[3] = {w, u, s}, grad[3];
    expect_ok(gir_grad(p, p->outputs.p[0].value, 3, of, grad));
    for (int k = 0; k < 3; k++) gir_output_add(p, GIR_OUTPUT, gir_at(p, of[k])->attr.name, grad[k]);
    return p;
}

static void compiles(int form, int place, bool gradients)
{
    static const char *const x[] = {"x"};
    gir_program *p = deep(form, place, gradients);
    expect_ok(gir_verify(p));
    for (int way = 0; way < 4; way++) {
        gn_compiled *c;
        gn_compile_options o = {.index = GN_I32, .pass = {.limit = -1, .eager = way == 1}};
        if (way == 2) o.pass.n_sparse = 1;
        if (way == 3) o.pass.n_fixed = 1;
        o.pass.sparse = o.pass.fixed = x;
        gn_status *s = gn_compile(&arena, p, &o, NULL, &c);
        ck_assert_msg(!s, "%s, at %d, way %d: %s", steps[form].what, place, way,
                      gn_status_message(s));
        ck_assert_int_gt(c->n_kernels, 1);
    }
}

START_TEST(steps_read_twice)
{
    for (int place = ON_INPUT; place <= ON_NUMBERS; place *= 2)
        for (int gradients = 0; gradients < 2; gradients++)
            if (steps[_i].places & place) compiles(_i, place, gradients != 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("deep");
    tcase_add_checked_fixture(t, arena_begin, arena_end);
    tcase_add_loop_test(t, steps_read_twice, 0, FORMS);
    tcase_set_timeout(t, SECONDS);
    return RUN_CASES("deep", t);
}
