/* Graphs that grow: a run sees edges and nodes that were appended as if all had been given at once,
 * trains on, and goes on with its programs; other runs go on with the graph of before. */
#include "unit/api_world.h"

enum { N = 40, E = 200, PARTS = 5, MORE = 6 };

static const char model[] = "model M(p = 0.3) (g: graph, x: node[F]) -> node[C] {\n"
                            "  a = GCNConv(4)\n  b = GATConv(3, heads = 2)\n  c = SAGEConv(C)\n"
                            "  return c(g, elu(b(g, dropout(a(g, x), p))))\n}\n"
                            "train M {\n  loss = cross_entropy(M(g, x), y) over train_mask\n"
                            "  optimizer = sgd(lr = 0.1)\n}\n";

/* Nodes and edges that there are after `part` parts. */
static int nodes(int part) { return N - MORE * (PARTS - 1 - part); }

/* No edge has an end that is not there yet. */
static world growing(uint32_t seed)
{
    world w = make_world(seed, N, E);
    for (int e = 0; e < E; e++) {
        int n = nodes(e * PARTS / E);
        w.src[e] %= n;
        w.dst[e] %= n;
    }
    gnnc_graph_free(w.g);
    w.g = NULL;
    return w;
}

static void first(world *w, int part, bool all, gnnc_graph **g)
{
    int had = part * E / PARTS, end = (part + 1) * E / PARTS;
    int64_t src[E], dst[E];
    for (int e = 0; e < end; e++) {
        src[e] = w->src[e];
        dst[e] = w->dst[e];
    }
    gnnc_graph *before = *g;
    if (all || !before)
        ok(gnnc_graph_from_coo(NULL, nodes(part), end, GNNC_INT64, src, dst, g));
    else if (part % 2)
        ok(gnnc_graph_append(before, MORE, end - had, GNNC_INT64, src + had, dst + had, g));
    else
        ok(gnnc_relation_append(before, MORE, MORE, end - had, GNNC_INT32, w->src + had,
                                w->dst + had, g));
    gnnc_graph_free(before);
}

static void bind_part(gnnc_run *r, world *w, int part, bool all, gnnc_graph **g)
{
    world some = *w;
    first(w, part, all, g);
    some.n = nodes(part);
    some.rows[0] = some.n;
    some.g = *g;
    bind_world(r, &some, true);
}

START_TEST(as_if_given_at_once)
{
    gnnc_compile_options o = {.train = true};
    world w = growing(3);
    bench grows = set_up(model, o, 1), whole = set_up(model, o, 1);
    gnnc_graph *g[2] = {NULL, NULL};
    for (int part = 0; part < PARTS; part++) {
        DLTensor out[2];
        double loss[2];
        bind_part(grows.run, &w, part, false, &g[0]);
        bind_part(whole.run, &w, part, true, &g[1]);
        ck_assert_int_eq(gnnc_graph_nodes(g[0]), nodes(part));
        ck_assert_int_eq(gnnc_graph_edges(g[0]), (part + 1) * E / PARTS);
        for (int k = 0; k < 2; k++) {
            gnnc_run *r = k ? whole.run : grows.run;
            ok(gnnc_run_step(r, &loss[k]));
            ok(gnnc_run_infer(r));
            ok(gnnc_run_output(r, "out", &out[k]));
        }
        ck_assert(loss[0] == loss[1]);
        ck_assert(!memcmp(out[0].data, out[1].data, (size_t)nodes(part) * C * sizeof(float)));
    }
    gnnc_executable_info info = {.size = sizeof info};
    gnnc_executable_describe(grows.exe, &info);
    ck_assert_int_eq(info.recompiles, 0);
    gnnc_graph_free(g[0]);
    gnnc_graph_free(g[1]);
    tear_down(&grows);
    tear_down(&whole);
    end_world(&w);
}
END_TEST

START_TEST(what_was_there_stays)
{
    world w = make_world(5, 20, 60);
    bench b = set_up(plain, (gnnc_compile_options){0}, 1);
    int32_t src[] = {3, 19}, dst[] = {0, 0};
    gnnc_graph *more;
    DLTensor out;
    float before[20 * C];
    bind_world(b.run, &w, false);
    ok(gnnc_run_infer(b.run));
    ok(gnnc_run_output(b.run, "out", &out));
    memcpy(before, out.data, sizeof before);
    ok(gnnc_graph_append(w.g, 0, 2, GNNC_INT32, src, dst, &more));
    ok(gnnc_run_infer(b.run));
    ok(gnnc_run_output(b.run, "out", &out));
    ck_assert(!memcmp(before, out.data, sizeof before));
    ok(gnnc_run_bind_graph(b.run, more));
    ok(gnnc_run_infer(b.run));
    ok(gnnc_run_output(b.run, "out", &out));
    ck_assert(memcmp(before, out.data, sizeof before));
    gnnc_graph_free(more);
    tear_down(&b);
    end_world(&w);
}
END_TEST

START_TEST(bad_appends)
{
    world w = make_world(5, 20, 60);
    int32_t end[] = {3, 20};
    gnnc_graph *g = w.g, *relation;
    refused(gnnc_graph_append(w.g, 0, 2, GNNC_INT32, end, end, &g), GNNC_ERROR_DATA, "edge 1");
    ck_assert_ptr_null(g);
    refused(gnnc_graph_append(w.g, 0, 2, (gnnc_index)7, end, end, &g), GNNC_ERROR_USAGE, "7");
    refused(gnnc_graph_append(NULL, 0, 2, GNNC_INT32, end, end, &g), GNNC_ERROR_USAGE, "`g`");
    refused(gnnc_graph_append(w.g, 0, 2, GNNC_INT32, NULL, end, &g), GNNC_ERROR_USAGE, "`src`");
    refused(gnnc_relation_append(w.g, 0, 0, 2, GNNC_INT32, end, NULL, &g), GNNC_ERROR_USAGE,
            "`dst`");
    refused(gnnc_graph_append(w.g, -1, 0, GNNC_INT32, NULL, NULL, &g), GNNC_ERROR_USAGE, "-1");
    ok(gnnc_relation_from_coo(NULL, 4, 9, 1, GNNC_INT32, end, end, &relation));
    refused(gnnc_graph_append(relation, 1, 0, GNNC_INT32, NULL, NULL, &g), GNNC_ERROR_USAGE,
            "gnnc_relation_append");
    ok(gnnc_relation_append(relation, 1, 0, 1, GNNC_INT32, end, end, &g));
    ck_assert_int_eq(gnnc_graph_edges(g), 2);
    gnnc_graph_free(g);
    gnnc_graph_free(relation);
    end_world(&w);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    if (GNNC_HAVE_LLVM) tcase_add_test(t, as_if_given_at_once);
    if (GNNC_HAVE_LLVM) tcase_add_test(t, what_was_there_stays);
    tcase_add_test(t, bad_appends);
    tcase_set_timeout(t, 100);
    return RUN_CASES("api_append", t);
}
