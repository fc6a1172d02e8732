/* Dynamic shapes: graphs padded to buckets of sizes, and that results do not tell. */
/* labels: long */
/* timeout: 300 */
#include "base/sanitized.h"
#define API_KEEPS_CODE
#include "unit/api_world.h"
#include "support/suite.h"

#include <math.h>

/* Norms over all nodes, a softmax over edges, pools over nodes and edges, numbers of rows; losses
 * over a mask and over all. Plain gradient descent: what rounding changes stays small. */
static const char *const padded_models[] = {
    "model M() (g: graph, x: node[F]) -> node[C] {\n"
    "  a = GATConv(4, heads = 2)\n  n = BatchNorm()\n  l = LayerNorm()\n  b = GCNConv(C)\n"
    "  return b(g, relu(l(n(a(g, x)))))\n}\n"
    "train M {\n  input target: node[C]\n  loss = cross_entropy(M(g, x), y) over train_mask\n"
    "  optimizer = sgd(lr = 0.1)\n}\n",
    "model M() (g: graph, x: node[F]) -> node[C] {\n"
    "  a = SAGEConv(4, aggr = \"max\")\n  b = Linear(C)\n  h = a(g, x)\n"
    "  z = edge(u -> v in g: h[u] * h[v])\n"
    "  s = max(h, over = node) + min(h, over = node) + mean(h, over = node) + sum(z, over = edge) "
    "/ 100\n"
    "  return b(h + (s + max(z, over = edge)) / (1 + rows(x)))\n}\n"
    "train M {\n  input target: node[C]\n  loss = mse(M(g, x), target)\n  optimizer = sgd(lr = "
    "0.01)\n}\n",
    "model M() (g: graph, x: node[F]) -> node[C] {\n"
    "  a = GCNConv(8)\n  b = GINConv(C)\n  h = a(g, x)\n  return b(g, h * rsqrt(mean(h^2, over = "
    "node) + 0.1))\n}\n"
    "train M {\n  input target: node[C]\n  loss = mse(M(g, x), target) + mean(M(g, x)^2)\n"
    "  optimizer = sgd(lr = 0.01)\n}\n",
    "model M() (g: graph, x: node[F]) -> node[C] {\n"
    "  b = Linear(C)\n  a = self_loops(g)\n  z = edge(u -> v in a: x[u] * x[v])\n"
    "  return b(sum(u -> v in a: x[u]) + mean(z, over = edge))\n}\n"
    "train M {\n  input target: node[C]\n"
    "  loss = sum(max(M(g, x), over = node)) + sum((M(g, x) - target)^2) / 100\n"
    "  optimizer = sgd(lr = 0.001)\n}\n",
};

static void bind_all(gnnc_run *r, world *w, int model)
{
    static float rows[1000 * C];
    int64_t shape[2] = {w->n, C};
    bind_world(r, w, model == 0);
    if (model == 0) return;
    for (int k = 0; k < w->n * C; k++) rows[k] = (float)(k % 11) / 11;
    DLTensor t = tensor(rows, 2, shape, kDLFloat, 32);
    ok(gnnc_run_bind(r, "target", &t));
}

static bool near(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 2e-4 * (1 + fabs(a));
}

/* The same rows without padding, with masks but nothing added (multiples of 1), and padded.  The
 * last two run one program but for its sizes: the same bits.  The first is another program, and
 * agrees up to rounding. */
START_TEST(padding)
{
    if (suite_leaves_out(_i, GN_UNDER_ASAN ? 3 : 2)) return; /* a program for each size */
    static const int sizes[][2] = {{33, 100}, {40, 130},  {64, 128},  {64, 100}, {1, 0}, {5, 0},
                                   {17, 31},  {129, 800}, {600, 900}, {1, 1},    {0, 0}};
    enum { SIZES = sizeof sizes / sizeof *sizes, HOW = 3, MODELS = 4 };
    int model = _i % MODELS, added = 0;
    gnnc_compile_options o = {.train = true,
                              .sparse = _i >= MODELS,
                              .expect_nodes = 40,
                              .expect_edges = 130,
                              .recompile_limit = 20};
    static const char *const buckets[HOW] = {NULL, "1", "pow2"};
    bench b[HOW];
    for (int k = 0; k < HOW; k++) {
        o.dynamic = buckets[k] ? "false" : NULL;
        o.buckets = k == 2 && _i >= MODELS ? "48" : buckets[k];
        b[k] = set_up(padded_models[model], o, 1 + k % 2);
    }
    for (int k = 0; k < SIZES; k++) {
        world w = make_world((uint32_t)k + 1, sizes[k][0], sizes[k][1]);
        gnnc_run_info i = {.size = sizeof i};
        double loss[HOW];
        float *out[HOW];
        for (int step = 0; step < 2; step++) {
            for (int j = 0; j < HOW; j++) {
                bind_all(b[j].run, &w, model);
                ok(gnnc_run_step(b[j].run, &loss[j]));
                out[j] = infer(b[j].run, w.n);
            }
            ck_assert_msg(memcmp(&loss[1], &loss[2], sizeof *loss) == 0,
                          "loss %.9g, padded %.9g (%d nodes, %d edges)", loss[1], loss[2], w.n,
                          w.e);
            ck_assert_msg(near(loss[0], loss[2]), "loss %.9g, padded %.9g (%d nodes, %d edges)",
                          loss[0], loss[2], w.n, w.e);
            ck_assert(memcmp(out[1], out[2], (size_t)(w.n * C) * sizeof(float)) == 0);
            for (int c = 0; c < w.n * C; c++)
                ck_assert_msg(near((double)out[0][c], (double)out[2][c]),
                              "%g, padded %g (%d nodes, %d edges)", (double)out[0][c],
                              (double)out[2][c], w.n, w.e);
            for (int j = 0; j < HOW; j++) free(out[j]);
        }
        gnnc_run_describe(b[1].run, &i);
        ck_assert(i.padded_nodes == 0 && i.padded_edges == 0);
        gnnc_run_describe(b[2].run, &i);
        added += i.padded_nodes > 0 && i.padded_edges > 0;
        end_world(&w);
    }
    ck_assert(added >= 4);
    for (int k = 0; k < HOW; k++) tear_down(&b[k]);
}
END_TEST

/* It is the graph as it comes that has to be in its range. */
START_TEST(padding_and_ranges)
{
    gnnc_compile_options o = {
        .dynamic = "false", .buckets = "pow2", .ranges = "N in 40..100, E in ..300"};
    bench b = set_up(plain, o, 1);
    visit(b.run, 70, 299);
    visit(b.run, 100, 257);
    ck_assert(info_of(&b).programs == 1 && program(&b, 0).nodes_most == 128 &&
              program(&b, 0).edges_least == 512);
    refused_on(b.run, 39, 200, GNNC_ERROR_DATA, "nodes is 39, declared to be in 40..100");
    refused_on(b.run, 101, 200, GNNC_ERROR_DATA, "nodes is 101, declared to be in 40..100");
    refused_on(b.run, 90, 301, GNNC_ERROR_DATA, "edges is 301, declared to be in 0..300");
    tear_down(&b);
    o.expect_nodes = 70;
    o.expect_edges = 300;
    b = set_up(plain, o, 1);
    ck_assert(info_of(&b).programs == 1);
    gnnc_executable *e;
    o.size = sizeof o;
    o.features = F;
    o.classes = C;
    o.expect_nodes = 39;
    refused(gnnc_compile(b.module, &o, &e), GNNC_ERROR_DATA, "nodes is 39");
    tear_down(&b);
}
END_TEST

/* Buckets that no memory holds, and those whose sizes are no numbers. */
START_TEST(huge_buckets)
{
    static const char *const text[] = {"9223372036854775807", "9223372036854775806",
                                       "4611686018427387905", "4294967296"};
    for (int k = 0; k < 7; k++) {
        gnnc_compile_options o = {.dynamic = "false", .buckets = text[k / 2], .wide = k % 2};
        bench b = set_up(plain, o, 1);
        for (int e = 0; e < 2; e++)
            refused_on(b.run, 3, e, o.wide ? GNNC_ERROR_MEMORY : GNNC_ERROR_USAGE,
                       o.wide ? "cannot be addressed" : "compile with `wide`");
        ck_assert(info_of(&b).programs == 0);
        tear_down(&b);
    }
    gnnc_compile_options most = {.dynamic = "false",
                                 .buckets = "pow2",
                                 .expect_nodes = INT64_MAX,
                                 .expect_edges = 5,
                                 .wide = true};
    bench b = set_up(plain, most, 1);
    ck_assert(program(&b, 0).nodes_most == INT64_MAX && program(&b, 0).edges_most == 8);
    tear_down(&b);
}
END_TEST

int main(void)
{
    TCase *pads = tcase_create("padding"), *buckets = tcase_create("buckets");
    tcase_set_timeout(pads, 280);
    tcase_set_timeout(buckets, 280);
    if (GNNC_HAVE_LLVM) {
        tcase_add_loop_test(pads, padding, 0, 8);
        tcase_add_test(buckets, padding_and_ranges);
        tcase_add_test(buckets, huge_buckets);
    }
    return RUN_CASES("api_padding", pads, buckets);
}
