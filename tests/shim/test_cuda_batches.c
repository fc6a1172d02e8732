/* labels: long */
/* links: tune codegen lower passes frontend ir runtime cache base */
/* sources: fake_target.c */
/* kernels: unchecked */
/* timeout: 600 */
/* Batches on a device, as they are on the processor: graphs are drawn there and sent, step by step.
 * The fake driver, with kernels that the host runs. */
#include "tune/start.h"
#include "shim/fake_target.h"
#include "shim/trained.h"
#include "support/suite.h"

static const char
    model[] = "model M(hidden = 6) (g: graph, x: node[F]) -> node[C] {\n"
              "  return SAGEConv(C)(g, relu(GCNConv(hidden)(g, x)))\n}\n"
              "train M {\n  loss = cross_entropy(M(g, x), y) over train_mask\n"
              "  optimizer = adam(lr = 0.02)\n  epochs = 6\n  %s\n}\n",
    links[] = "model L(hidden = 6) (g: graph, x: node[F], links: node -> node) -> edge.links {\n"
              "  h = GCNConv(hidden)(g, x)\n"
              "  return edge(u -> v in links: sum(h[u] * h[v], axis = -1))\n}\n"
              "train L {\n  loss = bce_with_logits(L(g, x, links), 1) + "
              "bce_with_logits(L(g, x, corrupt(links)), 0)\n  optimizer = adam(lr = 0.02)\n"
              "  epochs = 6\n  %s\n}\n";

static const struct {
    const char *model, *setting;
} cases[] = {
    {model, "batch = rows(3)\n  fanout = [3, 2]"},
    {model, "batch = rows(2)\n  accumulate = 2\n  draw = labor\n  fanout = [2, 2]"},
    {model, "sampler = saint_walk(roots = 6, length = 2, steps = 3)"},
    {links, "batch = edges(20) of links\n  fanout = [3]\n  exclude = reverse"},
};
enum { CASES = sizeof cases / sizeof *cases };

static gn_status *run(int k, gn_mode mode, gn_target *target, trained *out)
{
    gn_arena a;
    gn_arena_init(&a);
    gn_session_options o = trained_options(&a, "gcn", mode, target);
    o.text = gn_arena_printf(&a, cases[k].model, cases[k].setting);
    o.epochs = -1;
    o.ahead = -1; /* which is none on a device */
    gn_session *s;
    gn_status *status = gn_session_new(&a, &o, &s);
    if (!status) {
        if (cases[k].model == model) {
            status = trained_fit(s, out);
        } else {
            gn_fit fit;
            status = gn_session_fit(s, 3, NULL, NULL, &fit);
            out->loss = status ? 0 : fit.loss;
            out->n = 1;
        }
        gn_session_free(s);
    }
    gn_arena_free(&a);
    return status;
}

static trained on_device(int k, gn_mode mode)
{
    fake_target t;
    trained r = {0};
    succeeds(fake_target_open(&t));
    fake_alive_fn *alive;
    void *at = fake_symbol(&t, "fake_alive");
    memcpy(&alive, &at, sizeof alive);
    succeeds(run(k, mode, t.target, &r));
    fake_target_close(&t);
    if (alive) ck_assert_int_eq(alive(), 0);
    return r;
}

START_TEST(as_on_the_processor)
{
    trained host = {0};
    succeeds(run(_i, GN_MODE_DEFAULT, NULL, &host));
    trained plain = on_device(_i, GN_MODE_DEFAULT),
            replayed = on_device(_i, GN_MODE_REDUCE_OVERHEAD);
    ck_assert_msg(fabs(plain.loss - host.loss) <= 1e-4 * (1 + fabs(host.loss)), "%.9g, not %.9g",
                  plain.loss, host.loss);
    ck_assert_msg(fabs(replayed.loss - host.loss) <= 1e-4 * (1 + fabs(host.loss)),
                  "replayed %.9g, not %.9g", replayed.loss, host.loss);
    if (cases[_i].model != model) return;
    close_to(&plain, &host, 1);
    close_to(&replayed, &host, 1);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("batches");
    tcase_set_timeout(t, 500);
    tcase_add_loop_test(t, as_on_the_processor, 0, CASES);
    return RUN_CASES("CUDA batches", t);
}
