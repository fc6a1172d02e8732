/* Graphs that are their own transpose and graphs that are not, in turn on one run: losses and
 * weights of a run whose graphs have the same edges in another order, in which nothing is shared.
 * Weights of edges differ by direction. */
#include "unit/api_world.h"

#include <math.h>

/* Sums by source with values of edges and without, of a graph and of what is derived from it. */
static const char model[] = "model M() (g: graph, x: node[F]) -> node[C] {\n"
                            "  a = GCNConv(4)\n  b = GATConv(3, heads = 2)\n  c = SAGEConv(C)\n"
                            "  return c(g, elu(b(g, tanh(a(g, x)))))\n}\n"
                            "train M {\n  loss = cross_entropy(M(g, x), y) over train_mask\n"
                            "  optimizer = sgd(lr = 0.1)\n}\n";

enum { N = 60, HALF = 150 };

static int by_ends(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
    return x[1] < y[1] ? -1 : x[1] > y[1];
}

/* The graph of a list, in its order or from its end. */
static void take_list(world *w, int32_t (*pair)[2], bool turned)
{
    for (int e = 0; e < w->e; e++) {
        int at = turned ? w->e - 1 - e : e;
        w->src[at] = pair[e][0];
        w->dst[at] = pair[e][1];
        /* of repeated loops the last stays */
        w->w[at] = pair[e][0] == pair[e][1] ? 1 : (float)(1 + e % 7) / 4;
    }
    gnnc_graph_free(w->g);
    ok(gnnc_graph_from_coo(NULL, w->n, w->e, GNNC_INT32, w->src, w->dst, &w->g));
}

/* Edges both ways, some twice, some of them loops; `changed` >= 0: that edge ends elsewhere. */
static void make_both(uint32_t seed, int changed, world *sorted, world *turned)
{
    int32_t pair[2 * HALF][2];
    *sorted = make_world(seed, N, 2 * HALF);
    *turned = make_world(seed, N, 2 * HALF);
    for (int k = 0; k < HALF; k++) {
        int32_t u = sorted->src[k], v = k % 16 ? sorted->dst[k] : u;
        pair[2 * k][0] = pair[2 * k + 1][1] = u;
        pair[2 * k][1] = pair[2 * k + 1][0] = v;
    }
    qsort(pair, 2 * HALF, sizeof *pair, by_ends);
    if (changed >= 0) pair[changed][1] = (pair[changed][1] + N / 2) % N;
    take_list(sorted, pair, false);
    take_list(turned, pair, true);
}

static void bind(gnnc_run *r, world *w)
{
    DLTensor weight = tensor(w->w, 1, w->edges, kDLFloat, 32);
    bind_world(r, w, true);
    ok(gnnc_run_bind(r, "g.weight", &weight));
}

static void same_weights(const bench *a, const bench *b, int turn)
{
    for (int k = 0; k < info_of(a).parameters; k++) {
        int64_t numbers[16];
        DLTensor v, w;
        ok(gnnc_state_weight(a->state, k, NULL, &v, numbers));
        int64_t n = 1;
        for (int d = 0; d < v.ndim; d++) n *= v.shape[d];
        ok(gnnc_state_weight(b->state, k, NULL, &w, numbers));
        for (int64_t i = 0; i < n; i++) {
            double got = (double)((float *)v.data)[i], want = (double)((float *)w.data)[i];
            ck_assert_msg(fabs(got - want) <= 1e-4 * (1 + fabs(want)),
                          "graph %d, weight %d: %g, not %g", turn, k, got, want);
        }
    }
}

START_TEST(graphs_in_turn)
{
    static const int changed[] = {-1, 0, -1, HALF, 2 * HALF - 1, -1};
    gnnc_compile_options o = {.train = true, .rows = "all", .edge_weights = true, .fixed = _i};
    bench shared = set_up(model, o, 1), other = set_up(model, o, 1);
    int64_t bytes[6];
    for (int k = 0; k < 6; k++) {
        world a, b;
        make_both(5, changed[k], &a, &b);
        bind(shared.run, &a);
        bind(other.run, &b);
        for (int step = 0; step < 3; step++) {
            double got, want;
            ok(gnnc_run_step(shared.run, &got));
            ok(gnnc_run_step(other.run, &want));
            ck_assert_msg(fabs(got - want) <= 1e-5 * (1 + fabs(want)), "graph %d: %.9g, not %.9g",
                          k, got, want);
        }
        bytes[k] = gnnc_run_bytes(shared.run);
        ck_assert_msg((bytes[k] < gnnc_run_bytes(other.run)) == (changed[k] < 0), "graph %d", k);
        same_weights(&shared, &other, k);
        float *got = infer(shared.run, N), *want = infer(other.run, N);
        for (int i = 0; i < N * C; i++)
            ck_assert_msg(fabsf(got[i] - want[i]) <= 1e-4f * (1 + fabsf(want[i])),
                          "graph %d, row %d: %g, not %g", k, i / C, (double)got[i],
                          (double)want[i]);
        free(got);
        free(want);
        end_world(&a); /* addresses come again with other graphs */
        end_world(&b);
    }
    ck_assert_int_eq(bytes[2], bytes[0]);
    ck_assert_int_gt(bytes[1], bytes[0]);
    tear_down(&shared);
    tear_down(&other);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    if (GNNC_HAVE_LLVM) tcase_add_loop_test(t, graphs_in_turn, 0, 2);
    tcase_set_timeout(t, 100);
    return RUN_CASES("api_symmetric", t);
}
