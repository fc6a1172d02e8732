/* links: base ir frontend */
/* Elaboration: every layer of stdlib with its parameters, names and initial values; sharing; spaces
 * and shapes; dropout; compile-time values; the train block; the samples. */
#include "frontend_test.h"

#include <math.h>
#include <stdio.h>

static gn_arena arena;
static void setup(void) { gn_arena_init(&arena); }
static void teardown(void) { gn_arena_free(&arena); }

/* A model of one layer, six features in. */
static gn_model *layer(const char *made, const char *applied)
{
    static const gn_data_shape shape = {.n_features = 6, .edge_dim = 3, .has_edge_weight = true};
    const char *text = gn_arena_printf(
        &arena,
        "model M() (g: graph, x: node[F]) -> any[...] {\n  l = %s as \"\"\n  return l(%s)\n}\n",
        made, applied);
    return frontend_model(&arena, text, &shape, 0, NULL);
}

static void has_type(const gir_program *p, const char *text)
{
    gir_type t = *gir_type_of(p, frontend_output(p, "out"));
    ck_assert_str_eq(gir_type_text(p, &t), text);
}

/* stdlib --------------------------------------------------------------------------------------- */

static const struct layer_case {
    const char *made, *applied, *type;
    const char *params; /* name in files and shape there */
} layers[] = {
    {"Linear(5)", "x", "node f32[5]", "weight[5, 6] bias[5]"},
    {"Linear(5, bias = false)", "x", "node f32[5]", "weight[5, 6]"},
    {"MLP([8, 5])", "x", "node f32[5]",
     "lins.0.weight[8, 6] lins.0.bias[8] norms.0.module.running_mean[8] "
     "norms.0.module.running_var[8] "
     "norms.0.module.weight[8] norms.0.module.bias[8] lins.1.weight[5, 8] lins.1.bias[5]"},
    {"MLP([5], norm = false)", "x", "node f32[5]", "lins.0.weight[5, 6] lins.0.bias[5]"},
    {"BatchNorm()", "x", "node f32[6]",
     "module.running_mean[6] module.running_var[6] module.weight[6] module.bias[6]"},
    {"BatchNorm(affine = false)", "edge(u -> v in g: x[u])", "edge f32[6]",
     "module.running_mean[6] module.running_var[6]"},
    {"LayerNorm()", "x", "node f32[6]", "weight[6] bias[6]"},
    {"LayerNorm()", "g.attr", "edge f32[3]", "weight[3] bias[3]"},
    {"LayerNorm(affine = false, mode = \"node\")", "x", "node f32[6]", ""},
    {"GCNConv(5)", "g, x", "node f32[5]", "lin.weight[5, 6] bias[5]"},
    {"GCNConv(5, bias = false)", "g, x", "node f32[5]", "lin.weight[5, 6]"},
    {"SAGEConv(5)", "g, x", "node f32[5]", "lin_l.weight[5, 6] lin_l.bias[5] lin_r.weight[5, 6]"},
    {"SAGEConv(5, aggr = \"min\", root = false, normalized = true)", "g, x", "node f32[5]",
     "lin_l.weight[5, 6] lin_l.bias[5]"},
    {"GATConv(4, heads = 3)", "g, x", "node f32[12]",
     "lin.weight[12, 6] att_src[1, 3, 4] att_dst[1, 3, 4] bias[12]"},
    {"GATConv(4, heads = 3, concat = false)", "g, x, g.attr", "node f32[4]",
     "lin.weight[12, 6] att_src[1, 3, 4] att_dst[1, 3, 4] lin_edge.weight[12, 3] att_edge[1, 3, 4] "
     "bias[4]"},
    {"GATConv(4, loops = false)", "g, x, g.attr", "node f32[4]",
     "lin.weight[4, 6] att_src[1, 1, 4] att_dst[1, 1, 4] lin_edge.weight[4, 3] att_edge[1, 1, 4] "
     "bias[4]"},
    {"GATv2Conv(4, heads = 3)", "g, x", "node f32[12]",
     "lin_l.weight[12, 6] att[1, 3, 4] lin_l.bias[12] lin_r.weight[12, 6] lin_r.bias[12] bias[12]"},
    {"GATv2Conv(4, shared = true)", "g, x", "node f32[4]",
     "lin_l.weight[4, 6] att[1, 1, 4] lin_l.bias[4] bias[4]"},
    {"GINConv(5, 8)", "g, x", "node f32[5]",
     "eps[1] nn.0.weight[8, 6] nn.0.bias[8] nn.2.weight[5, 8] nn.2.bias[5]"},
    {"GINConv(nn = MLP([8, 5], norm = false))", "g, x", "node f32[5]",
     "eps[1] nn.lins.0.weight[8, 6] nn.lins.0.bias[8] nn.lins.1.weight[5, 8] nn.lins.1.bias[5]"},
    {"GraphConv(5)", "g, x", "node f32[5]",
     "lin_rel.weight[5, 6] lin_rel.bias[5] lin_root.weight[5, 6]"},
    {"SGConv(5, K = 2)", "g, x", "node f32[5]", "lin.weight[5, 6] lin.bias[5]"},
    {"APPNP(3, 0.1)", "g, x", "node f32[6]", ""},
};

START_TEST(stdlib_layer)
{
    const struct layer_case *c = &layers[_i];
    gn_model *m = layer(c->made, c->applied);
    gn_buf b = {.arena = &arena};
    gn_buf_add(&b, "");
    for (int i = 0; i < m->n_params; i++) {
        const gn_param *p = &m->params[i];
        gn_buf_printf(&b, "%s%s[", i ? " " : "", p->file_name);
        for (int k = 0; k < p->file_rank; k++)
            gn_buf_printf(&b, "%s%lld", k ? ", " : "", (long long)p->file_dim[k]);
        gn_buf_add(&b, "]");
    }
    ck_assert_str_eq(b.p, c->params);
    has_type(m->eval, c->type);
}
END_TEST

static void uniform_within(const gn_model *m, const char *name, double bound)
{
    const gn_param *p = frontend_param(m, name);
    ck_assert_int_eq(p->init, GN_INIT_UNIFORM);
    ck_assert_double_eq_tol(p->b, bound, 1e-15);
    ck_assert_double_eq_tol(p->a, -bound, 1e-15);
}

/* PyTorch Geometric counts fans over the shape in files. */
START_TEST(fans)
{
    gn_model *m = layer("GATConv(4, heads = 3)", "g, x, g.attr");
    uniform_within(m, "lin.weight", sqrt(6.0 / (12 + 6)));
    uniform_within(m, "att_src", sqrt(6.0 / (3 + 4)));
    uniform_within(m, "lin_edge.weight", sqrt(6.0 / (12 + 3)));
    ck_assert_int_eq(frontend_param(m, "bias")->init, GN_INIT_ZEROS);
    m = layer("SAGEConv(5)", "g, x");
    uniform_within(m, "lin_l.weight", 1 / sqrt(6));
    uniform_within(m, "lin_l.bias", 1 / sqrt(6));
    m = layer("GATv2Conv(4, heads = 3)", "g, x");
    uniform_within(m, "lin_r.bias", 1 / sqrt(6));
    m = layer("GCNConv(5)", "g, x");
    uniform_within(m, "lin.weight", sqrt(6.0 / 11));
    ck_assert(frontend_param(m, "lin.weight")->transposed);
    m = layer("BatchNorm()", "x");
    ck_assert_int_eq(frontend_param(m, "module.running_var")->init, GN_INIT_ONES);
    ck_assert(!frontend_param(m, "module.running_var")->trainable);
    ck_assert(frontend_param(m, "module.weight")->trainable);
}
END_TEST

static const struct init_case {
    const char *text;
    gn_init_kind kind;
    double a, b;
} inits[] = {
    {"zeros", GN_INIT_ZEROS, 0, 0},
    {"ones", GN_INIT_ONES, 1, 0},
    {"constant(2)", GN_INIT_CONSTANT, 2, 0},
    {"-0.5", GN_INIT_CONSTANT, -0.5, 0},
    {"uniform(0.5)", GN_INIT_UNIFORM, -0.5, 0.5},
    {"uniform(1, 2)", GN_INIT_UNIFORM, 1, 2},
    {"normal", GN_INIT_NORMAL, 0, 1},
    {"normal(std = 0.02)", GN_INIT_NORMAL, 0, 0.02},
    {"glorot_uniform(gain = 2)", GN_INIT_UNIFORM, -2 * 0.92582009977255142,
     2 * 0.92582009977255142},
    {"glorot_normal", GN_INIT_NORMAL, 0, 0.53452248382484875},
    {"kaiming_uniform", GN_INIT_UNIFORM, -1.0954451150103321, 1.0954451150103321},
    {"kaiming_normal", GN_INIT_NORMAL, 0, 0.63245553203367588},
    {"uniform", GN_INIT_UNIFORM, 0, 1},
    {"trunc_normal(1, 3)", GN_INIT_TRUNC_NORMAL, 1, 3},
    {"eye", GN_INIT_EYE, 0, 0},
    {"orthogonal", GN_INIT_ORTHOGONAL, 1, 0},
    {"orthogonal(gain = 3)", GN_INIT_ORTHOGONAL, 3, 0},
    {"sparse(0.4)", GN_INIT_SPARSE, 0.4, 0.01},
    {"xavier_uniform", GN_INIT_UNIFORM, -0.92582009977255142, 0.92582009977255142},
    {"xavier_normal(gain = 2)", GN_INIT_NORMAL, 0, 2 * 0.53452248382484875},
    /* by torch.nn.init: of [2, 5], fans 5 and 2 */
    {"kaiming_normal(mode = \"fan_out\")", GN_INIT_NORMAL, 0, 1},
    {"kaiming_uniform(nonlinearity = \"tanh\")", GN_INIT_UNIFORM, -1.2909944487358056,
     1.2909944487358056},
    {"kaiming_normal(1, \"fan_out\", \"leaky_relu\")", GN_INIT_NORMAL, 0, 0.70710678118654746},
    {"kaiming_normal(nonlinearity = \"selu\")", GN_INIT_NORMAL, 0, 0.33541019662496846},
    {"glorot_normal(gain = gain_of(\"relu\"))", GN_INIT_NORMAL, 0, 0.7559289460184544},
    {"constant(gain_of(\"leaky_relu\", 0.2))", GN_INIT_CONSTANT, 1.3867504905630728, 0},
    {"constant(gain_of(\"sigmoid\"))", GN_INIT_CONSTANT, 1, 0},
};

START_TEST(initial_value)
{
    const struct init_case *c = &inits[_i];
    const char *text = gn_arena_printf(
        &arena,
        "model M() (x: node[F]) -> node[F] {\n  param w: [5, 2] = %s transposed\n  return x\n}\n",
        c->text);
    const gn_param *p = frontend_param(frontend_model(&arena, text, NULL, 0, NULL), "w"); /* [2, 5]
                                                                                             in
                                                                                             files
                                                                                           */
    ck_assert_int_eq(p->init, c->kind);
    ck_assert_double_eq_tol(p->a, c->a, 1e-15);
    ck_assert_double_eq_tol(p->b, c->b, 1e-15);
}
END_TEST

/* instances ------------------------------------------------------------------------------------ */

/* Fans of torch's and of PyTorch Geometric's differ where a shape in files has more dimensions. */
START_TEST(initial_values_of_more)
{
    static const char text
        [] = "model M() (x: node[F]) -> node[F] {\n  param a: [2, 3, 4] = xavier_normal\n"
             "  param b: [2, 3, 4] = glorot_normal\n  param c: [2, 3, 4] = kaiming_normal(mode = "
             "\"fan_out\", nonlinearity = \"linear\")\n"
             "  param d: [2, 3] = [[1, 2, 3], [4.5, -5, 6]] transposed\n"
             "  param e: [2] = trunc_normal(low = -1, high = 3)\n  param f: [2] = trunc_normal\n"
             "  return x\n}\n";
    gn_model *m = frontend_model(&arena, text, NULL, 0, NULL);
    ck_assert_double_eq_tol(frontend_param(m, "a")->b, sqrt(2.0 / (3 * 4 + 2 * 4)), 1e-15);
    ck_assert_double_eq_tol(frontend_param(m, "b")->b, sqrt(2.0 / (3 + 4)), 1e-15);
    ck_assert_double_eq_tol(frontend_param(m, "c")->b, 1 / sqrt(2 * 4), 1e-15);
    static const float numbers[] = {1, 2, 3, 4.5F, -5, 6};
    ck_assert_mem_eq(frontend_param(m, "d")->list, numbers, sizeof numbers);
    ck_assert(frontend_param(m, "e")->low == -1 && frontend_param(m, "e")->high == 3);
    ck_assert(frontend_param(m, "f")->low == -2 && frontend_param(m, "f")->high == 2);
}
END_TEST

START_TEST(applying_twice_shares)
{
    gn_model *m = frontend_model(
        &arena,
        "model M() (x: node[F]) -> node[F] {\n"
        "  l = Linear(F)\n  y = l(l(x))\n  z = Linear(3)(Linear(F)(y))\n  return l(y)\n}\n",
        NULL, 0, NULL);
    ck_assert_int_eq(m->n_params, 6);
    frontend_param(m, "l.weight");
    frontend_param(m, "Linear.weight");
    frontend_param(m, "Linear_1.weight");
}
END_TEST

START_TEST(layers_within_layers_share)
{
    gn_model *m = frontend_model(&arena,
                                 "layer Twice(n: dim) (x: node[in]) -> node[in] {\n"
                                 "  a = [Linear(n), Linear(in)]\n  return a[1](a[0](x))\n}\n"
                                 "model M() (x: node[F]) -> node[F] {\n"
                                 "  ls = [[Twice(4)], [Twice(5)]]\n  y = x\n"
                                 "  for l in ls { for k in 0..3 { y = l[0](y) } }\n  return y\n}\n",
                                 NULL, 0, NULL);
    ck_assert_int_eq(m->n_params, 8);
    ck_assert_int_eq(frontend_param(m, "ls.1.0.a.0.weight")->file_dim[0], 5);
    ck_assert_int_eq(frontend_count(m->eval, GIR_STATE), 8);
}
END_TEST

/* values --------------------------------------------------------------------------------------- */

/* What is known at compile time, all in one assertion each. */
static const char *const truths[] = {
    "7 // 2 == 3 and -7 // 2 == -4 and 7 % 3 == 1 and -7 % 3 == 2 and 7 / 2 == 3.5",
    "2 ^ 10 == 1024 and 2 ^ -1 == 0.5 and 1e3 == 1000",
    "sum([1, 2, 3]) == 6 and mean([1, 2]) == 1.5 and max([3, 1]) == 3 and min(2, 5) == 2 and "
    "len(0..4) == 4",
    "[i * i for i in 0..3] == [0, 1, 4] and [1] + [2] == [1, 2] and [1, 2][-1] == 2",
    "sqrt(4) == 2 and abs(-3) == 3 and floor(2.5) == 2 and exp(0) == 1",
    "(1 > 2 ? 1 / 0 : 5) == 5 and (false and 1 / 0 == 0) == false",
    "none == none and x != none and \"a\" != \"b\" and float(true) == 1 and int(2.9) == 2 and "
    "bool(0) == false",
    "rank(x) == 1 and dim(x) == F and dim(reshape(x, [-1, 1]), 0) == F",
    "len([]) == 0 and sum([]) == 0 and sigmoid(0) == 0.5 and not g.weighted",
    "max(1, 2.5) == 2.5 and sign(-2) == -1 and -2 ^ 2 == -4",
};

START_TEST(compile_time)
{
    const char *text = gn_arena_printf(
        &arena,
        "model M() (g: graph, x: node[F]) -> node[F] {\n  assert %s, \"false\"\n  return x\n}\n",
        truths[_i]);
    frontend_model(&arena, text, NULL, 0, NULL);
}
END_TEST

static const struct shape_case {
    const char *value, *type;
} shapes[] = {
    {"concat(x, x)", "node f32[12]"},
    {"concat([reshape(x, [2, 3]), reshape(x, [2, 3])], axis = 0)", "node f32[4, 3]"},
    {"transpose(reshape(x, [2, 3]))", "node f32[3, 2]"},
    {"transpose(reshape(x, [1, 2, 3]), [1, 2, 0])", "node f32[2, 3, 1]"},
    {"flatten(reshape(x, [2, 3]))", "node f32[6]"},
    {"slice(x, 1, -1)", "node f32[4]"},
    {"x[0]", "node f32[]"},
    {"reshape(x, [2, 3])[1]", "node f32[3]"},
    {"unsqueeze(x, 0)", "node f32[1, 6]"},
    {"sum(reshape(x, [2, 3]), axis = 0)", "node f32[3]"},
    {"max(reshape(x, [2, 3]), axis = [0, 1])", "node f32[]"},
    {"mean(x, axis = -1, keep = true)", "node f32[1]"},
    {"sum(x, over = node)", "f32[6]"},
    {"mean(x)", "f32[]"},
    {"x + sum(x, over = node)", "node f32[6]"},
    {"x > 0 ? x : -x", "node f32[6]"},
    {"sum(u -> v in g: 1)", "node f32[]"},
    {"sum(u -> v in g: x[u] * g.weight)", "node f32[6]"},
    {"mean(u -> v in g: sum(x[u] * x[v], axis = -1))", "node f32[]"},
    {"max(u -> v in reverse(g): x[u])", "node f32[6]"},
    {"edge(u -> v in g: x[u] - x[v])", "edge f32[6]"},
    {"softmax(edge(u -> v in g: x[u]), over = dst)", "edge f32[6]"},
    {"degree(g) + in_degree(g) + out_degree(g)", "node f32[]"},
    {"degree(weighted(g, edge(u -> v in g: sum(x[u]) * 1.0)))", "node f32[]"},
    {"sum(u -> v in self_loops(g): carry(g.weight, self_loops(g), fill = 1) * x[u])",
     "node f32[6]"},
    {"one_hot(int(x[0]), 4)", "node f32[4]"},
    {"x @ tensor([[1, 2]])", NULL},
    {"reshape(x, [2, 3]) @ tensor([[1, 2], [3, 4], [5, 6]])", "node f32[2, 2]"},
    {"tensor([1, 2, 3]) @ tensor([[1], [2], [3]])", "f32[1]"},
    {"x @ tensor([1, 2, 3, 4, 5, 6])", "node f32[]"},
    {"reshape(x, [2, 3]) @ tensor([1, 2, 3])", "node f32[2]"},
    {"tensor([1, 2]) @ tensor([3, 4])", "f32[]"},
    {"x @ tensor(6)", NULL},
    {"float(x > 0) * 2", "node f32[6]"},
    {"log_softmax(x) + softmax(x) + elu(x) + gelu(x) + silu(x) + softplus(x) + selu(x) + clamp(x, "
     "0, 1)",
     "node f32[6]"},
    {"normalize(x)", "node f32[6]"},
    {"fill(x, 2) ^ 3", "node f32[6]"},
    {"Linear(4)(reshape(x, [2, 3]))", "node f32[2, 4]"},
    {"Linear(4)(sum(reshape(x, [2, 3]), over = node))", "f32[2, 4]"},
    {"MLP([5, 4], norm = false)(reshape(x, [2, 3]))", "node f32[2, 4]"},
    {"Linear(4)(x[0])", NULL},
};

START_TEST(shape_of_value)
{
    static const gn_data_shape data = {.n_features = 6, .has_edge_weight = true};
    gn_model *m;
    const char *text = gn_arena_printf(&arena, "model M() (g: graph, x: node[F]) { return %s }\n",
                                       shapes[_i].value);
    const char *message = frontend_try(&arena, text, &data, 0, NULL, NULL, &m);
    if (!shapes[_i].type) {
        ck_assert_ptr_nonnull(message);
        return;
    }
    ck_assert_msg(message == NULL, "%s", message);
    has_type(m->eval, shapes[_i].type);
}
END_TEST

/* Fewer axes go with more by their names, at the right without. */
START_TEST(axes_by_name)
{
    gn_model *m = frontend_model(
        &arena,
        "layer L(heads: dim, out: dim) (x: node[in]) -> node[...] {\n"
        "  param w: [in, heads, out] = zeros\n  param a: [heads] = ones\n  param b: [out] = ones\n"
        "  h = x @ w\n  return mean(h * a + b, axis = heads)\n}\n"
        "model M() (x: node[F]) -> node[5] {\n  l = L(5, 5)\n  return l(x)\n}\n",
        NULL, 0, NULL);
    has_type(m->eval, "node f32[5]");
    for (gir_id v = 1; v < m->eval->nodes.n; v++) /* a became [5, 1], b stayed at the right */
        if (gir_at(m->eval, v)->op == GIR_RESHAPE &&
            gir_at(m->eval, gir_in(m->eval, v, 0))->op == GIR_STATE &&
            gir_at(m->eval, v)->type.rank == 2 && gir_row_elems(gir_type_of(m->eval, v)) == 5) {
            ck_assert_int_eq(gir_type_of(m->eval, v)->dim[0], 5);
            return;
        }
    ck_abort_msg("the axis was not placed by its name");
}
END_TEST

/* `[..., b]`: the last axes are looked at and named, those before keep their names. */
START_TEST(dims_at_the_end)
{
    gn_model *m = frontend_model(
        &arena,
        "layer L() (x: any[..., a, b]) -> any[..., b] { return sum(x, axis = a) + 0 * b }\n"
        "model M(heads = 4) (x: node[F]) -> node[4, 3] {\n"
        "  param w: [F, heads, 2, 3] = zeros\n  param scale: [heads] = ones\n"
        "  l = L()\n  return l(x @ w) * scale\n}\n",
        NULL, 0, NULL);
    has_type(m->eval, "node f32[4, 3]");
}
END_TEST

/* names ---------------------------------------------------------------------------------------- */

static const char *printed(const gn_model *m)
{
    gn_buf b = {.arena = &arena};
    gir_print(m->eval, &b);
    gir_print(m->loss, &b);
    return b.p;
}

/* Names that stdlib calls, its own and built-in ones, as those of functions and layers of the file.
 */
static const char *const own_names[] = {
    "aggregate",   "cross_entropy", "gcn_norm", "inv_sqrt", "labelled", "leaky_relu",
    "log_softmax", "nll",           "one_hot",  "ratio",    "relu",     "softmax",
    "count",       "degree",        "detach",   "dropout",  "max",      "sum",
    "rsqrt",       "self_loops",    "repeats",  "times"};

START_TEST(stdlib_sees_its_own_names)
{
    static const char
        text[] = "model M() (g: graph, x: node[F]) -> node[C] {\n"
                 "  a = GCNConv(8)\n  b = GATConv(8)\n  c = SAGEConv(8)\n  d = GINConv(8)\n"
                 "  e = MLP([8, C])\n  return e(d(g, c(g, b(g, a(g, x)))))\n}\n";
    const char *plain = printed(frontend_model(&arena, text, NULL, 0, NULL));
    const char *fn = gn_arena_printf(&arena, "%sfn %s(x, y = 1, z = 2) = 0 * x\n", text,
                                     own_names[_i]);
    ck_assert_str_eq(printed(frontend_model(&arena, fn, NULL, 0, NULL)), plain);
    const char *layer = gn_arena_printf(&arena,
                                        "%slayer %s() (x: any[in]) -> any[in] { return 0 * x }\n"
                                        "layer Linear(out) (x: any[in]) -> any[in] { return x }\n",
                                        text, own_names[_i]);
    ck_assert_str_eq(printed(frontend_model(&arena, layer, NULL, 0, NULL)), plain);
}
END_TEST

/* The file's code sees the file's declaration, also as a value that a layer of stdlib is given. */
START_TEST(own_names_hide)
{
    static const char *const used[] = {"relu(x)", "sum(x)", "m(x)"};
    for (size_t k = 0; k < sizeof used / sizeof *used; k++) {
        const char *text = gn_arena_printf(
            &arena,
            "fn relu(x) = sin(x)\nfn sum(x) = sin(x)\n"
            "model M() (x: node[F]) -> node[...] {\n"
            "  m = MLP([F, F], norm = false, act = relu)\n  return %s\n}\n",
            used[k]);
        gn_model *m = frontend_model(&arena, text, NULL, 0, NULL);
        ck_assert_int_eq(frontend_count(m->eval, GIR_SIN), 1);
        ck_assert_int_eq(frontend_count(m->eval, GIR_SELECT), 0);
    }
}
END_TEST

/* programs ------------------------------------------------------------------------------------- */

static const char *sample(const char *name)
{
    const char *root = getenv("GNNC_SOURCE_DIR");
    FILE *f = fopen(gn_arena_printf(&arena, "%s/samples/%s.gnn", root ? root : ".", name), "rb");
    ck_assert_msg(f != NULL, "no sample %s", name);
    gn_buf b = {.arena = &arena};
    char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) gn_buf_addn(&b, part, n);
    fclose(f);
    return b.p;
}

START_TEST(dropout_sites)
{
    const char *text = sample("gat");
    gn_model *m = frontend_model(&arena, text, NULL, 0, NULL);
    int64_t next = 0;
    for (gir_id v = 1; v < m->loss->nodes.n; v++)
        if (gir_at(m->loss, v)->op == GIR_RANDOM)
            ck_assert_int_eq(gir_at(m->loss, v)->attr.i[0], next++);
    ck_assert_int_eq(next, 4);
    ck_assert_int_eq(frontend_count(m->loss, GIR_RNG_KEY), 1);
    ck_assert_int_eq(frontend_count(m->eval, GIR_RANDOM), 0);
    gn_define p = {"p", "0.0"};
    m = frontend_model(&arena, text, NULL, 1, &p);
    ck_assert_int_eq(frontend_count(m->loss, GIR_RANDOM) + frontend_count(m->loss, GIR_RNG_KEY), 0);
}
END_TEST

START_TEST(running_statistics)
{
    gn_define norm = {"norm", "true"};
    gn_model *m = frontend_model(&arena, sample("gin"), NULL, 1, &norm);
    int updates = 0;
    for (uint32_t i = 0; i < m->loss->outputs.n; i++)
        updates += m->loss->outputs.p[i].kind == GIR_UPDATE;
    ck_assert_int_eq(updates, 2);
    for (uint32_t i = 0; i < m->eval->outputs.n; i++)
        ck_assert_int_eq(m->eval->outputs.p[i].kind, GIR_OUTPUT);
}
END_TEST

static const struct sample_case {
    const char *name;
    int params;
    double lr, first_decay, last_decay;
    int64_t epochs, patience;
} samples[] = {
    {"gcn", 4, 0.01, 5e-4, 0, 200, 0},         {"sage", 6, 0.01, 5e-4, 5e-4, 200, 0},
    {"gat", 8, 0.005, 5e-4, 5e-4, 1000, 100},  {"gin", 10, 0.01, 5e-4, 5e-4, 200, 0},
    {"own_layer", 18, 0.005, 0.01, 0, 100, 0},
};

START_TEST(sample_elaborates)
{
    const struct sample_case *c = &samples[_i];
    const char *text = sample(c->name);
    gn_model *m = frontend_model(&arena, text, NULL, 0, NULL);
    ck_assert_int_eq(m->n_params, c->params);
    ck_assert_double_eq_tol(m->train.lr, c->lr, 1e-12);
    ck_assert_int_eq(m->train.epochs, c->epochs);
    ck_assert_int_eq(m->train.patience, c->patience);
    ck_assert(m->train.select_best);
    const gn_param *first = &m->params[0], *last = &m->params[m->n_params - 1];
    ck_assert_double_eq_tol(first->trainable ? first->weight_decay : c->first_decay, c->first_decay,
                            1e-12);
    ck_assert_double_eq_tol(last->weight_decay, c->last_decay, 1e-12);
    has_type(m->eval, "node f32[7]");
    gn_define deeper[] = {{"hidden", "12"}, {"layers", "3"}, {"p", "0"}};
    m = frontend_model(&arena, text, NULL, 3, deeper);
    has_type(m->eval, "node f32[7]");
    gn_data_shape unlabelled = {.n_features = 5, .n_classes = 0};
    gn_model *none;
    ck_assert_ptr_nonnull(frontend_try(&arena, text, &unlabelled, 0, NULL, NULL, &none)); /* needs C
                                                                                           */
}
END_TEST

static const char settings
    [] = "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(8)\n  norm = BatchNorm()\n  head = Linear(C)\n  return "
         "head(norm(conv(g, x)))\n}\n"
         "train M(base = 0.1) {\n"
         "  loss = cross_entropy(M(g, x), y, weight = [1, 2, 3, 4, 5, 6, 7]) over train_mask\n"
         "  optimizer = sgd(lr = base / 2, momentum = 0.9, nesterov = true, weight_decay = 1e-3)\n"
         "  weight_decay = 2e-3 on \"head\", \"*.lin.weight\"\n"
         "  weight_decay = 0 on \"head.bias\"\n"
         "  schedule = step(period = 10, gamma = 0.5)\n"
         "  clip_norm = 1\n  clip_value = 0.5\n  epochs = 3\n  patience = 2\n"
         "  monitor = val_loss\n  select = best\n}\n";

START_TEST(train_settings)
{
    gn_define base = {"base", "0.2"};
    gn_model *m = frontend_model(&arena, settings, NULL, 1, &base);
    const gn_train_spec *t = &m->train;
    ck_assert_int_eq(t->optimizer, GN_SGD);
    ck_assert_double_eq_tol(t->lr, 0.1, 1e-15);
    ck_assert_double_eq_tol(t->momentum, 0.9, 1e-15);
    ck_assert(t->nesterov && t->select_best && t->monitor_loss && !t->monitor_accuracy);
    ck_assert_int_eq(t->schedule, GN_LR_STEP);
    ck_assert_int_eq(t->period, 10);
    ck_assert_double_eq_tol(t->gamma, 0.5, 1e-15);
    ck_assert_double_eq_tol(t->clip_norm, 1, 1e-15);
    ck_assert_double_eq_tol(t->clip_value, 0.5, 1e-15);
    ck_assert_int_eq(t->epochs, 3);
    ck_assert_int_eq(t->patience, 2);
    ck_assert_double_eq_tol(frontend_param(m, "conv.lin.weight")->weight_decay, 2e-3, 1e-15);
    ck_assert_double_eq_tol(frontend_param(m, "conv.bias")->weight_decay, 1e-3, 1e-15);
    ck_assert_double_eq_tol(frontend_param(m, "head.weight")->weight_decay, 2e-3, 1e-15);
    ck_assert_double_eq_tol(frontend_param(m, "head.bias")->weight_decay, 0, 1e-15);
    ck_assert_double_eq_tol(frontend_param(m, "norm.module.running_mean")->weight_decay, 0, 1e-15);
    ck_assert_ptr_nonnull(m->validate);
    ck_assert_uint_eq(m->validate->outputs.n, m->eval->outputs.n + 1);
    ck_assert(gir_leaf_by_name(m->validate, GIR_INPUT, "val_mask") &&
              !gir_leaf_by_name(m->validate, GIR_INPUT, "train_mask"));
}
END_TEST

START_TEST(train_by_default)
{
    static const char text[] = "model M() (g: graph, x: node[F]) -> node[C] {\n  conv = "
                               "GCNConv(C)\n  return conv(g, x)\n}\n";
    gn_model *m = frontend_model(&arena, text, NULL, 0, NULL);
    ck_assert_ptr_nonnull(m->loss);
    ck_assert_ptr_null(m->validate);
    ck_assert_int_eq(m->train.optimizer, GN_ADAM);
    static const char plain[] = "model M() (x: node[F]) -> node[F] { return x }\n";
    m = frontend_model(&arena, plain, NULL, 0, NULL);
    ck_assert_ptr_null(m->loss); /* nothing like classes comes out */
}
END_TEST

static bool has_pos(const void *ctx, const char *name)
{
    (void)ctx;
    return !strcmp(name, "pos");
}

/* The default train block gives a model what it is given without one: each input its own data. */
START_TEST(train_by_default_on_own_inputs)
{
    static const char text[] = "model M(k = 3) (g: graph, h: node[F], s: [F] = none, pos: node[k] "
                               "= none, e: edge[D] = none) -> node[C] {\n"
                               "  return Linear(C)(concat(s == none ? h : h * s, pos))\n}\n";
    gn_data_shape shape = {.n_features = 6, .n_classes = 2, .has_input = has_pos};
    gn_model *m = frontend_model(&arena, text, &shape, 0, NULL);
    const gir_program *programs[] = {m->eval, m->loss};
    for (int k = 0; k < 2; k++) {
        ck_assert_ptr_nonnull(programs[k]);
        ck_assert(gir_leaf_by_name(programs[k], GIR_INPUT, "h") &&
                  gir_leaf_by_name(programs[k], GIR_INPUT, "pos"));
        ck_assert(!gir_leaf_by_name(programs[k], GIR_INPUT, "x") &&
                  !gir_leaf_by_name(programs[k], GIR_INPUT, "s"));
    }
    static const char labels[] = "model M() (x: node[F], y: node[C]) -> node[C] { return y }\n";
    m = frontend_model(&arena, labels, NULL, 0, NULL);
    ck_assert_ptr_null(m->loss); /* y is no labels here */
}
END_TEST

START_TEST(own_inputs)
{
    static const char
        text[] = "model M() (g: graph, x: node[F], pos: node[3], scale: []) -> node[...] { return "
                 "concat(x, pos) * scale }\n"
                 "train M {\n  input target: node[9]\n  input s: []\n  input pos: node[3]\n"
                 "  loss = mse(M(g, x, pos, s), target)\n}\n";
    gn_data_shape shape = {.n_features = 6};
    gn_model *m = frontend_model(&arena, text, &shape, 0, NULL);
    ck_assert(gir_leaf_by_name(m->eval, GIR_INPUT, "pos") &&
              gir_leaf_by_name(m->eval, GIR_INPUT, "scale"));
    ck_assert(gir_leaf_by_name(m->loss, GIR_INPUT, "target") &&
              gir_leaf_by_name(m->loss, GIR_INPUT, "s"));
}
END_TEST

/* The only input of edges is attr; of several the one of that name is, and a train block's are what
 * they are called. */
START_TEST(own_inputs_of_edges)
{
    static const char
        text[] = "model M() (g: graph, x: node[F], %s: edge[D]%s) -> edge[D] { return %s }\n"
                 "train M {\n  input w: edge\n  loss = mse(sum(M(g, x, %s), axis = -1), w)\n}\n";
    const gn_data_shape shape = {.n_features = 6, .edge_dim = 3};
    gn_model *m = frontend_model(&arena, gn_arena_printf(&arena, text, "e", "", "e", "attr"),
                                 &shape, 0, NULL);
    ck_assert(gir_leaf_by_name(m->eval, GIR_INPUT, "g.attr") &&
              !gir_leaf_by_name(m->eval, GIR_INPUT, "e"));
    ck_assert_uint_ne(gir_leaf_by_name(m->loss, GIR_INPUT, "w"), 0);
    ck_assert_int_eq(gir_type_of(m->loss, gir_leaf_by_name(m->loss, GIR_INPUT, "w"))->rank, 0);
    m = frontend_model(
        &arena,
        gn_arena_printf(&arena, text, "attr", ", z: edge", "attr * unsqueeze(z, -1)", "attr, w"),
        &shape, 0, NULL);
    ck_assert(gir_leaf_by_name(m->eval, GIR_INPUT, "g.attr") &&
              gir_leaf_by_name(m->eval, GIR_INPUT, "z"));
}
END_TEST

/* Losses over edges, a network of their values, and a string of -D written as in the language or
 * bare. */
START_TEST(values_of_edges)
{
    static const char
        text[] = "model M(aggr = \"max\") (g: graph, x: node[F]) -> edge[1] {\n"
                 "  score = MLP([8, 1], norm = false)\n  assert aggr == \"sum\", aggr\n"
                 "  return score(edge(u -> v in g: x[u] * x[v]))\n}\n"
                 "train M { loss = %s(M(g, x), attr) }\n";
    static const char *const losses[] = {"bce_with_logits", "mse", "l1"};
    const gn_data_shape shape = {.n_features = 6, .n_classes = 2, .edge_dim = 1};
    for (size_t k = 0; k < 6; k++) {
        const gn_define sum = {"aggr", k % 2 ? "sum" : "\"sum\""};
        gn_model *m = frontend_model(&arena, gn_arena_printf(&arena, text, losses[k / 2]), &shape,
                                     1, &sum);
        has_type(m->eval, "edge f32[1]");
        ck_assert_int_eq(frontend_count(m->loss, GIR_SPACE_REDUCE), 1);
    }
}
END_TEST

/* Results, and the names of outputs. */
static const struct {
    const char *returns, *names;
} results[] = {
    {"return x", "out"},
    {"return x, h", "x h"},
    {"return [x, h]", "x h"},
    {"return h, h", "out0 out1"},
    {"return h, x + 1", "out0 out1"},
    {"loss = h; return x, loss", "out0 out1"},
    {"both = [x, h]; return both", "out0 out1"},
    {"a, b = split(x)\n  return a, b", "a b"},
    {"a, b = Split()(x)\n  return a, b, Split()(x)[1]", "out0 out1 out2"},
};

START_TEST(names_of_results)
{
    const char *text = gn_arena_printf(&arena,
                                       "fn split(x) { return x, 2 * x }\n"
                                       "layer Split() (x: node[in]) -> (node[in], node) "
                                       "{ return x, x[0] }\n"
                                       "model M() (g: graph, x: node[F]) {\n"
                                       "  h = relu(x)\n  %s\n}\n",
                                       results[_i].returns);
    gn_model *m = frontend_model(&arena, text, NULL, 0, NULL);
    gn_buf b = {.arena = &arena};
    for (uint32_t k = 0; k < m->eval->outputs.n; k++)
        gn_buf_printf(&b, "%s%s", k ? " " : "", m->eval->outputs.p[k].name);
    ck_assert_str_eq(b.p, results[_i].names);
}
END_TEST

/* The first that is node[C] is trained; a loss that is written sees a list, and outputs are the
 * same in both programs. */
START_TEST(losses_of_results)
{
    static const char two[] = "model M() (g: graph, x: node[F]) -> (node, node[C], node[C]) {\n"
                              "  a = Linear(C)(x)\n  b = Linear(C)(x)\n  return x[0], a, b\n}\n";
    gn_model *m = frontend_model(&arena, two, NULL, 0, NULL);
    ck_assert_ptr_nonnull(m->loss);
    ck_assert_uint_eq(m->loss->outputs.n, 4);
    ck_assert_str_eq(m->loss->outputs.p[0].name, "loss");
    for (int k = 0; k < 3; k++)
        ck_assert_str_eq(m->loss->outputs.p[k + 1].name, m->eval->outputs.p[k].name);
    const char *text = gn_arena_printf(&arena,
                                       "%sfn two(r, y, mask) {\n  s, a, b = r\n"
                                       "  return cross_entropy(a, y, mask) + "
                                       "cross_entropy(b, y, mask)\n}\n"
                                       "train M { loss = two(M(g, x), y) over train_mask\n"
                                       "  monitor = val_loss\n  select = best }\n",
                                       two);
    gn_model *both = frontend_model(&arena, text, NULL, 0, NULL);
    ck_assert_int_eq(frontend_count(both->eval, GIR_MATMUL), 2);
    ck_assert_int_eq(frontend_count(both->loss, GIR_MATMUL), 2);
    ck_assert_uint_eq(both->validate->outputs.n, 4);
}
END_TEST

START_TEST(values_know_their_lines)
{
    gn_model *m = frontend_model(
        &arena, "model M() (x: node[F]) -> node[F] {\n  y = x * 2\n  return y\n}\n", NULL, 0, NULL);
    const gir_node *n = gir_at(m->eval, frontend_output(m->eval, "out"));
    ck_assert_int_eq(n->loc.line, 2);
    ck_assert_int_eq(n->loc.col, 9);
    ck_assert_str_eq(m->eval->files.p[n->loc.file], "m.gnn");
}
END_TEST

START_TEST(defaults_are_reported)
{
    gn_define hidden = {"hidden", "32"};
    gn_model *m = frontend_model(&arena, sample("gcn"), NULL, 1, &hidden);
    ck_assert_int_eq(m->n_defaults, 2);
    ck_assert_str_eq(m->defaults_used[0], "layers = 2");
    ck_assert_str_eq(m->defaults_used[1], "p = 0.5");
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

int main(void)
{
    TCase *t = tcase_create("elab");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, stdlib_layer, 0, COUNT(layers));
    tcase_add_test(t, fans);
    tcase_add_loop_test(t, initial_value, 0, COUNT(inits));
    tcase_add_test(t, initial_values_of_more);
    tcase_add_test(t, applying_twice_shares);
    tcase_add_test(t, layers_within_layers_share);
    tcase_add_loop_test(t, compile_time, 0, COUNT(truths));
    tcase_add_loop_test(t, shape_of_value, 0, COUNT(shapes));
    tcase_add_test(t, axes_by_name);
    tcase_add_test(t, dims_at_the_end);
    tcase_add_loop_test(t, stdlib_sees_its_own_names, 0, COUNT(own_names));
    tcase_add_test(t, own_names_hide);
    tcase_add_test(t, dropout_sites);
    tcase_add_test(t, running_statistics);
    tcase_add_loop_test(t, sample_elaborates, 0, COUNT(samples));
    tcase_add_test(t, train_settings);
    tcase_add_test(t, train_by_default);
    tcase_add_test(t, train_by_default_on_own_inputs);
    tcase_add_test(t, own_inputs);
    tcase_add_test(t, own_inputs_of_edges);
    tcase_add_test(t, values_of_edges);
    tcase_add_loop_test(t, names_of_results, 0, COUNT(results));
    tcase_add_test(t, losses_of_results);
    tcase_add_test(t, values_know_their_lines);
    tcase_add_test(t, defaults_are_reported);
    return RUN_CASES("frontend elaboration", t);
}
