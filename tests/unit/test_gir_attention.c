/* Attention layers and their gradients mean the same after the passes: with ordinary and with
 * extreme logits, with nodes that no edge leads to, with one edge. */
/* links: ir lower passes base */
#include "gir_test.h"
#include "passes/passes.h"

/* Additive attention (GAT), two heads of three. */
static const char additive[] = "program @gat {\n"
                               "  space node node ?\n"
                               "  space edge edge ? of %1\n"
                               "  %1 = graph \"g\" : graph<node -> node, edge>\n"
                               "  %2 = state \"h\" : node f32[2, 3]\n"
                               "  %3 = state \"s\" : node f32[2]\n"
                               "  %4 = state \"t\" : node f32[2]\n"
                               "  %5 = gather %1, %3 {end = 0}\n"
                               "  %6 = gather %1, %4 {end = 1}\n"
                               "  %7 = add %5, %6\n"
                               "  %8 = const {value = 0} : edge f32[2]\n"
                               "  %9 = gt %7, %8\n"
                               "  %10 = const {value = 0.2} : edge f32[2]\n"
                               "  %11 = mul %10, %7\n"
                               "  %12 = select %9, %7, %11\n"
                               "  %13 = scatter %1, %12 {end = 1, red = 1}\n"
                               "  %14 = detach %13\n"
                               "  %15 = gather %1, %14 {end = 1}\n"
                               "  %16 = sub %12, %15\n"
                               "  %17 = exp %16\n"
                               "  %18 = scatter %1, %17 {end = 1, red = 0}\n"
                               "  %19 = const {value = 1e-16} : node f32[2]\n"
                               "  %20 = add %18, %19\n"
                               "  %21 = gather %1, %20 {end = 1}\n"
                               "  %22 = div %17, %21\n"
                               "  %23 = input \"keep\" : edge bool[2]\n"
                               "  %24 = select %23, %22, %8\n"
                               "  %25 = reshape %24 : edge f32[2, 1]\n"
                               "  %26 = broadcast %25 : edge f32[2, 3]\n"
                               "  %27 = gather %1, %2 {end = 0}\n"
                               "  %28 = mul %26, %27\n"
                               "  %29 = scatter %1, %28 {end = 1, red = 0}\n"
                               "  output \"out\" %29\n"
                               "  %30 = input \"ct\" : node f32[2, 3]\n"
                               "  %31 = mul %29, %30\n"
                               "  %32 = reduce %31 {red = 0, axes = 3}\n"
                               "  %33 = space_reduce %32 {red = 0}\n"
                               "  output \"loss\" %33\n"
                               "}\n";

/* Attention by dot products of queries and keys, one head of three. */
static const char products[] = "program @dot {\n"
                               "  space node node ?\n"
                               "  space edge edge ? of %1\n"
                               "  %1 = graph \"g\" : graph<node -> node, edge>\n"
                               "  %2 = state \"h\" : node f32[3]\n"
                               "  %3 = state \"s\" : node f32[3]\n"
                               "  %4 = state \"t\" : node f32[3]\n"
                               "  %5 = gather %1, %3 {end = 0}\n"
                               "  %6 = gather %1, %4 {end = 1}\n"
                               "  %7 = mul %5, %6\n"
                               "  %8 = reduce %7 {red = 0, axes = 1}\n"
                               "  %9 = scatter %1, %8 {end = 1, red = 1}\n"
                               "  %10 = detach %9\n"
                               "  %11 = gather %1, %10 {end = 1}\n"
                               "  %12 = sub %8, %11\n"
                               "  %13 = exp %12\n"
                               "  %14 = scatter %1, %13 {end = 1, red = 0}\n"
                               "  %15 = const {value = 1e-16} : node f32[]\n"
                               "  %16 = add %14, %15\n"
                               "  %17 = gather %1, %16 {end = 1}\n"
                               "  %18 = div %13, %17\n"
                               "  %19 = broadcast %18 : edge f32[3]\n"
                               "  %20 = gather %1, %2 {end = 0}\n"
                               "  %21 = mul %19, %20\n"
                               "  %22 = scatter %1, %21 {end = 1, red = 0}\n"
                               "  output \"out\" %22\n"
                               "  %23 = input \"ct\" : node f32[3]\n"
                               "  %24 = mul %22, %23\n"
                               "  %25 = reduce %24 {red = 0, axes = 1}\n"
                               "  %26 = space_reduce %25 {red = 0}\n"
                               "  output \"loss\" %26\n"
                               "}\n";

static uint32_t noise;
static double draw(void)
{
    noise = noise * 1664525 + 1013904223;
    return (double)(noise >> 8) / (double)(1 << 23) - 1;
}

static gir_value tensor(int64_t rows, int64_t cols, double size)
{
    gir_value x = {.rows = rows, .cols = cols, .v = GN_NEW_N(&arena, double, rows *cols + 1)};
    for (int64_t k = 0; k < rows * cols; k++) x.v[k] = (double)(float)(size * draw());
    return x;
}

static gir_program *with_gradients(const char *text, bool optimised)
{
    static const char *const of[] = {"h", "s", "t"};
    gir_program *p = read_program(text);
    gir_id wrt[3], grads[3], loss = p->outputs.p[1].value;
    for (int k = 0; k < 3; k++) wrt[k] = gir_leaf_by_name(p, GIR_STATE, of[k]);
    expect_ok(gir_grad(p, loss, 3, wrt, grads));
    for (int k = 0; k < 3; k++)
        gir_output_add(p, GIR_OUTPUT, gn_arena_printf(&arena, "d%s", of[k]), grads[k]);
    gn_pass_options opt = {.limit = -1, .verify = true};
    if (optimised) expect_ok(gn_passes_run(&arena, p, &opt, NULL, &p));
    expect_ok(gir_verify(p));
    return p;
}

/* The first node and the last have no edge that leads to them. */
static gir_coo *graph(int64_t nodes, int64_t edges)
{
    int64_t *src = GN_NEW_N(&arena, int64_t, edges + 1),
            *dst = GN_NEW_N(&arena, int64_t, edges + 1);
    for (int64_t e = 0; e < edges; e++) {
        src[e] = (int64_t)((draw() + 1) / 2 * (double)nodes) % nodes;
        dst[e] = (int64_t)((draw() + 1) / 2 * (double)(nodes - 2)) % (nodes - 2) + 1;
    }
    return gir_coo_new(&arena, nodes, nodes, edges, src, dst);
}

static void compare(const char *text, int64_t heads, int64_t cols, int64_t nodes, int64_t edges,
                    double size)
{
    static const char *names[] = {"g", "h", "s", "t", "keep", "ct"};
    int64_t logits = heads > 1 ? heads : cols;
    gir_value values[] = {{.graph = graph(nodes, edges)}, tensor(nodes, heads * cols, 1),
                          tensor(nodes, logits, size),    tensor(nodes, logits, size),
                          tensor(edges, heads, 1),        tensor(nodes, heads * cols, 1)};
    for (int64_t k = 0; k < edges * heads; k++) values[4].v[k] = values[4].v[k] > -0.5;
    gir_env env = {
        .arena = &arena, .precision = GIR_EVAL_F64, .n = 6, .name = names, .value = values};
    gir_program *p = with_gradients(text, false), *q = with_gradients(text, true);
    gir_value *x = NULL, *y = NULL;
    expect_ok(gir_eval(p, &env, &x));
    expect_ok(gir_eval(q, &env, &y));
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        gir_value a = x[p->outputs.p[k].value], b = y[q->outputs.p[k].value];
        double most = 1e-3;
        for (int64_t i = 0; i < a.rows * a.cols; i++) most = fmax(most, fabs(a.v[i]));
        for (int64_t i = 0; i < a.rows * a.cols; i++)
            ck_assert_msg(fabs(a.v[i] - b.v[i]) <= 1e-11 * most,
                          "%s[%d], logits up to %g: %.17g and %.17g\n%s", p->outputs.p[k].name,
                          (int)i, size, a.v[i], b.v[i], program_text(q));
    }
}

static void all_sizes(const char *text, int64_t heads, int64_t cols)
{
    static const double sizes[] = {0, 0.1, 1, 20, 60, 100, 1e3, 1e4};
    for (int k = 0; k < 8; k++) {
        noise = (uint32_t)k;
        compare(text, heads, cols, 9, 30, sizes[k]);
        compare(text, heads, cols, 4, 1, sizes[k]);
        compare(text, heads, cols, 4, 0, sizes[k]);
        compare(text, heads, cols, 3, 5, sizes[k]);
    }
}

START_TEST(additive_attention) { all_sizes(additive, 2, 3); }
END_TEST

START_TEST(product_attention) { all_sizes(products, 1, 3); }
END_TEST

/* How often edges are walked for a vector a row is what the passes are for. */
START_TEST(sums_on_edges)
{
    gir_program *p = with_gradients(additive, true);
    int wide = 0, dots = 0;
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        bool on_edges = n->n_in &&
                        p->spaces.p[gir_type_of(p, gir_in(p, v, n->n_in - 1))->space].kind ==
                            GIR_EDGE;
        wide += n->op == GIR_SCATTER && gir_row_elems(&n->type) == 6;
        dots += n->op == GIR_REDUCE && on_edges;
    }
    ck_assert_int_eq(dots, 0);
    ck_assert_int_eq(wide, 4); /* forward, and weighted by the slope of the leaky ReLU; the same two
                                  back */
}
END_TEST

static void fill(TCase *c)
{
    tcase_add_test(c, additive_attention);
    tcase_add_test(c, product_attention);
    tcase_add_test(c, sums_on_edges);
}

int main(void) { return run_suite("gir_attention", fill); }
