/* labels: long */
/* sources: fake_target.c */
/* kernels: unchecked */
/* timeout: 600 */
/* Gradients, and weights and results in memory of the caller's, on a device: the fake driver, with
 * kernels that the host runs.  What the CPU gives, but for the order of sums. */
#include "shim/api_device.h"

enum { NODES = 30, EDGES = 90, GRADIENTS = 11, MOST = 256, TIMES = 3 };

static const char model[] = "model G(p = 0.5) (g: graph, x: node[F]) -> (node[C], edge) {\n"
                            "  h = BatchNorm1d()(GCNConv(4)(g, dropout(x, p)))\n"
                            "  z = GATConv(C)(g, relu(h))\n"
                            "  e = edge(u -> v in g: sum(z[u] * z[v], axis = -1))\n"
                            "  return z, e\n}\n"
                            "train G {\n  loss = cross_entropy(G(g, x)[0], y) over train_mask\n"
                            "  optimizer = sgd(lr = 0.1)\n}\n";

typedef struct story {
    float z[NODES * C], e[EDGES], gradient[GRADIENTS][MOST], mean[4];
    double wide[NODES * C];
    int n;
    double loss;
} story;

static int64_t elements(const DLTensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->ndim; d++) n *= t->shape[d];
    return n;
}

/* In the order of memory, which is the same here and there. */
static void look(gnnc_run *r, story *s)
{
    DLTensor t;
    ok(gnnc_run_output(r, "z", &t));
    memcpy(s->z, t.data, sizeof s->z);
    ok(gnnc_run_output(r, "e", &t));
    memcpy(s->e, t.data, sizeof s->e);
    for (int k = 0; k < s->n; k++) {
        ok(gnnc_run_gradient_at(r, k, NULL, &t));
        ck_assert_int_le(elements(&t), MOST);
        memcpy(s->gradient[k], t.data, (size_t)elements(&t) * sizeof(float));
    }
}

/* Forward and backward in turn, with a weight of the caller's in rows and a mean in its place. */
static story tell(const gnnc_context *c, bool recorded)
{
    story s = {0};
    gnnc_compile_options o = {.train = true,
                              .gradients = "weights,x,g.weight",
                              .edge_weights = true,
                              .rate_changes = true,
                              .mode = recorded ? "reduce-overhead" : NULL};
    bench b = set_up_in(c, model, o, 1);
    world w = make_world_in(c, 3, NODES, EDGES);
    float ct[2][NODES * C + EDGES], mine[4 * F];
    int64_t shape[] = {NODES, C}, edges[] = {EDGES}, weight[] = {4, F}, four[] = {4};
    for (int k = 0; k < NODES * C + EDGES; k++) ct[0][k] = ct[1][k] = (float)(k % 7) / 3 - 1;
    for (int k = 0; k < 4 * F; k++) mine[k] = (float)(k % 5) / 4 - 0.5f;
    DLTensor of_z = tensor(ct[0], 2, shape, kDLFloat, 32),
             of_e = tensor(ct[1], 1, edges, kDLFloat, 32),
             edge_weight = tensor(w.w, 1, w.edges, kDLFloat, 32),
             lin = tensor(mine, 2, weight, kDLFloat, 32),
             mean = tensor(s.mean, 1, four, kDLFloat, 32),
             to = tensor(s.wide, 2, shape, kDLFloat, 64);
    const DLTensor *all[] = {&of_z, &of_e};
    bind_world(b.run, &w, true);
    ok(gnnc_run_bind(b.run, "g.weight", &edge_weight));
    ok(gnnc_run_bind_weight(b.run, "GCNConv.lin.weight", &lin));
    ok(gnnc_run_bind_weight(b.run, "BatchNorm1d.running_mean", &mean));
    ok(gnnc_run_bind_output(b.run, "z", &to));
    s.n = info_of(&b).gradients;
    ck_assert_int_le(s.n, GRADIENTS);
    for (int k = 0; k < TIMES; k++) {
        if (k == 2) ok(gnnc_state_set_seed(b.state, 12));
        ok(gnnc_run_forward(b.run));
        for (int i = 0; i < NODES * C; i++) ct[0][i] += 0.25f;
        ok(gnnc_run_backward(b.run, 1 + k % 2, all));
        for (int i = 0; i < 4 * F; i++) mine[i] *= 0.75f; /* by the caller's optimizer */
        ok(gnnc_run_infer(b.run));
    }
    ok(gnnc_run_forward(b.run));
    ok(gnnc_run_backward(b.run, 2, all));
    look(b.run, &s);
    for (int k = 0; k < NODES * C; k++) ck_assert(s.wide[k] == (double)s.z[k]);
    ok(gnnc_run_step(b.run, NULL)); /* trains the caller's, too */
    ok(gnnc_state_set_rate(b.state, 0.4));
    ok(gnnc_run_step(b.run, NULL));
    ok(gnnc_run_step(b.run, &s.loss));
    memcpy(s.gradient[GRADIENTS - 1] + MOST / 2, mine, sizeof mine);
    tear_down(&b);
    end_world(&w);
    return s;
}

#if GNNC_HAVE_LLVM
static void alike(const float *a, const float *b, int n, const char *what)
{
    for (int k = 0; k < n; k++)
        ck_assert_msg(fabsf(a[k] - b[k]) <= 2e-3f * (1 + fabsf(b[k])), "%s[%d]: %g and %g", what, k,
                      (double)a[k], (double)b[k]);
}

static void close_to(const story *a, const story *b)
{
    alike(a->z, b->z, NODES * C, "z");
    alike(a->e, b->e, EDGES, "e");
    alike(a->mean, b->mean, 4, "mean");
    for (int k = 0; k < GRADIENTS; k++) alike(a->gradient[k], b->gradient[k], MOST, "gradient");
    ck_assert_double_eq_tol(a->loss, b->loss, 1e-3 * (1 + b->loss));
}
#endif

START_TEST(on_a_device)
{
    gnnc_context *c = device_context();
    story there = tell(c, _i);
    gnnc_context_free(c);
    ck_assert(there.mean[0] != 0 && there.gradient[0][0] != 0);
#if GNNC_HAVE_LLVM
    story here = tell(NULL, false);
    close_to(&there, &here);
#endif
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, enter, leave);
    tcase_add_loop_test(t, on_a_device, 0, 2);
    tcase_set_timeout(t, 500);
    return RUN_CASES("cuda_api_bound", t);
}
