/* links: base ir frontend */
/* A wrong use of a layer of the library is said in the words of who typed it, and where they did.
 */
#include "frontend_test.h"

static gn_arena arena;
static void setup(void) { gn_arena_init(&arena); }
static void teardown(void) { gn_arena_free(&arena); }

static const gn_data_shape shape = {.n_features = 6, .n_classes = 3, .edge_dim = 3};

static const struct misuse {
    const char *call, *message;
} misuses[] = {
    {"GINEConv()(g, x, attr)", "`GINEConv` needs `out`, or a layer `nn`"},
    {"GINEConv(5, edge_dim = 4)(g, x, attr)", "`edge_dim` is the width of `attr`"},
    {"GINEConv(5)(g, x)", "`GINEConv` needs its input `attr`"},
    {"NNConv(5, Linear(7))(g, x, attr)", "`nn` gives a matrix: the width of the sources times"},
    {"NNConv(5, relu)(g, x, attr)", "`as` names a layer or a list of layers, not function `relu`"},
    {"CGConv(aggr = \"middle\")(g, x, attr)", "here `aggr` is \"middle\""},
    {"CGConv()(g, x, y = Linear(4)(x), attr = x)", "input `attr` of `CGConv` is `edge[...]`"},
    {"EdgeConv([Linear(8), relu])(g, x)", "a list of 2 cannot be called"},
    {"EdgeConv(Linear(8), aggr = \"middle\")(g, x)", "here `aggr` is \"middle\""},
    {"GMMConv(5, 0)(g, x, attr)", "0"},
    {"SplineConv(5, [4, 3])(g, x, attr)", "lists have an element for each column of `attr`"},
    {"SplineConv(5, 4, degree = 0)(g, x, attr)", "`degree` is 1 or more"},
    {"SplineConv(5, 3, degree = 3)(g, x, attr)", "`kernel_size` is more than `degree` where"},
    {"GENConv(5, \"middle\")(g, x)", "here `aggr` is \"middle\""},
    {"GENConv(5, norm = \"graph\")(g, x)", "`norm` is \"batch\", \"layer\", \"instance\" or"},
    {"GENConv(5, \"softmax_sg\", learn_t = true)(g, x)", "`semi_grad` goes with a temperature"},
    {"PNAConv(5, [\"mean\"], [\"linear\"], towers = 2)(g, x)", "`towers` divides `out`"},
    {"PNAConv(4, [\"mean\"], [\"linear\"], towers = 4, divide_input = true)(g, x)",
     "`towers` divides the width of the input"},
    {"PNAConv(4, [\"middle\"], [\"linear\"])(g, x)", "here `aggr` is \"middle\""},
    {"PNAConv(4, [\"mean\"], [\"cubic\"])(g, x)", "here `scaler` is \"cubic\""},
    {"PNAConv(4, [\"mean\"], [\"linear\"], [0, 0])(g, x)", "`deg` counts rows"},
    {"EGConv(5)(g, x)", "`heads` divides `out`"},
    {"EGConv(8, [\"sums\"])(g, x)", "here `aggr` is \"sums\""},
    {"GeneralConv(5, attention = true, attention_type = \"dot\")(g, x)",
     "`attention_type` is \"additive\" or \"dot_product\""},
    {"PointNetConv()(g, x)", "`PointNetConv` needs its input `pos`"},
    {"PPFConv()(g, x, slice(x, 0, 3), slice(x, 0, 2))", "input `normal` of `PPFConv` is `A[3]`"},
    {"PointGNNConv(Linear(2), Linear(5), Linear(6))(g, x, slice(x, 0, 3))",
     "`+` does not fit edge[3] and edge[2]"},
    {"XConv(5, 4)(g, pos = x, slot = int(attr[0]))", "`XConv` needs `hidden`"},
    {"XConv(5, 4)(g, x, x, attr[0])", "input `slot` of `XConv` is `edge of int`"},
    {"MeshCNNConv()(g, x, int(attr[0]))", "`MeshCNNConv` needs `out`, or five `kernels`"},
    {"MeshCNNConv(kernels = [Linear(3)])(g, x, int(attr[0]))", "`kernels` are five"},
    {"Sequential([Linear(8), \"relu\"])(x)", "\"relu\" cannot be called"},
    {"cross(x, x)", "`cross` takes three numbers"},
};

START_TEST(of_a_call)
{
    const struct misuse *u = &misuses[_i];
    const char *text = gn_arena_printf(
        &arena, "model M() (g: graph, x: node[F], attr: edge[D]) -> any[...] {\n  return %s\n}\n",
        u->call);
    gn_code code;
    gn_model *m;
    const char *message = frontend_try(&arena, text, &shape, 0, NULL, &code, &m);
    ck_assert_msg(message != NULL, "%s: no error", u->call);
    const char *end = strchr(message, '\n');
    ck_assert_msg(strstr(message, u->message) && strstr(message, u->message) < end, "%s:\n%s",
                  u->call, message);
    ck_assert_int_eq(code, GN_ERR_MODEL);
    ck_assert_msg(strstr(message, "m.gnn:2:") != NULL, "%s:\n%s", u->call, message);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("layers");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, of_a_call, 0, (int)(sizeof misuses / sizeof *misuses));
    return RUN_CASES("frontend, layers", t);
}
