/* labels: long */
/* links: tune codegen lower passes frontend ir runtime cache base */
/* sources: fake_target.c */
/* kernels: unchecked */
/* timeout: 600 */
/* Batches on a device, as they are on the processor: graphs are drawn there and sent, step by step.
 * The fake driver, with kernels that the host runs. */
#include "tune/start.h"
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

typedef struct attempt { /* at case k */
    int k;
    gn_mode mode;
    trained out;
} attempt;

static gn_status *run(void *ctx, gn_target *target)
{
    attempt *z = ctx;
    gn_arena a;
    gn_arena_init(&a);
    gn_session_options o = trained_options(&a, "gcn", z->mode, target);
    o.text = gn_arena_printf(&a, cases[z->k].model, cases[z->k].setting);
    o.epochs = -1;
    o.ahead = -1; /* which is none on a device */
    gn_session *s;
    gn_status *status = gn_session_new(&a, &o, &s);
    if (!status) {
        if (cases[z->k].model == model) {
            status = trained_fit(s, &z->out);
        } else {
            gn_fit fit;
            status = gn_session_fit(s, 3, NULL, NULL, &fit);
            z->out.loss = status ? 0 : fit.loss;
            z->out.n = 1;
        }
        gn_session_free(s);
    }
    gn_arena_free(&a);
    return status;
}

START_TEST(as_on_the_processor)
{
    attempt host = {_i, GN_MODE_DEFAULT, {0}}, plain = host, replayed = host;
    replayed.mode = GN_MODE_REDUCE_OVERHEAD;
    succeeds(run(&host, NULL));
    with_device(run, &plain);
    with_device(run, &replayed);
    double loss = host.out.loss;
    ck_assert_msg(fabs(plain.out.loss - loss) <= 1e-4 * (1 + fabs(loss)), "%.9g, not %.9g",
                  plain.out.loss, loss);
    ck_assert_msg(fabs(replayed.out.loss - loss) <= 1e-4 * (1 + fabs(loss)),
                  "replayed %.9g, not %.9g", replayed.out.loss, loss);
    if (cases[_i].model != model) return;
    close_to(&plain.out, &host.out, 1);
    close_to(&replayed.out, &host.out, 1);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("batches");
    tcase_set_timeout(t, 500);
    if (GNNC_HAVE_LLVM) tcase_add_loop_test(t, as_on_the_processor, 0, CASES);
    return RUN_CASES("CUDA batches", t);
}
