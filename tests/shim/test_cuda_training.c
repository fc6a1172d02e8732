/* labels: long */
/* links: tune codegen lower passes frontend ir runtime cache base */
/* sources: fake_target.c */
/* kernels: unchecked */
/* timeout: 600 */
/* Optimizers, schedules and importance of features on a device, as they are on the processor: the
 * fake driver, with kernels that the host runs. */
#include "session/importance.h"
#include "tune/start.h"
#include "shim/trained.h"
#include "support/suite.h"

static const char model
    [] = "model M(hidden = 6) (g: graph, x: node[F]) -> node[C] {\n"
         "  param shift: [hidden] = [0.1, -0.2, 0.3, 0, 0.5, 1]\n"
         "  return GCNConv(C)(g, tanh(GCNConv(hidden)(g, x) + shift))\n}\n"
         "train M {\n  loss = cross_entropy(M(g, x), y, weight = \"balanced\") over train_mask\n"
         "  epochs = 12\n  %s\n}\n";

static const char *const settings[] = {
    "optimizer = rmsprop(lr = 0.01, momentum = 0.5, centered = true)\n  schedule = one_cycle",
    "optimizer = adamax(lr = 0.02, weight_decay = 1e-3)\n  warmup = 5",
    "optimizer = lion(lr = 1e-3, weight_decay = 0.1)",
    ("optimizer = adam(lr = 0.02, amsgrad = true)\n"
     "  schedule = plateau(factor = 0.5, patience = 0, threshold = 0.02)\n  warmup = 2"),
};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* What training gave; and what came of asking which features matter, by both methods. */
typedef struct story {
    const char *setting;
    gn_mode mode;
    trained fit;
    int64_t drops, n;
    double score[2];
    float part[2][4096];
} story;

static void ask(gn_session *s, gn_importance_method method, story *out)
{
    const int64_t rows[] = {3, 30};
    gn_importance i;
    succeeds(gn_session_importance(
        s, &(gn_importance_options){.method = method, .chosen = rows, .n_chosen = 2}, &i));
    ck_assert_int_eq(i.n, 1);
    const gn_importance_table *t = &i.tables[0];
    const float *part = t->part ? t->part : t->value;
    out->n = t->part ? t->n_nodes * t->n_features : t->nnz;
    ck_assert_int_le(out->n, 4096);
    memcpy(out->part[method], part, (size_t)out->n * sizeof *part);
    out->score[method] = i.score;
}

static gn_status *tell(void *ctx, gn_target *target)
{
    story *out = ctx;
    gn_arena a;
    gn_arena_init(&a);
    gn_session_options o = trained_options(&a, "gcn", out->mode, target);
    o.text = gn_arena_printf(&a, model, out->setting);
    o.epochs = -1;
    o.binds_again = true;
    gn_session *s;
    gn_status *status = gn_session_new(&a, &o, &s);
    if (!status) {
        status = trained_fit(s, &out->fit);
        out->drops = gn_plateau_drops(&s->state);
        if (!status) ask(s, GN_IMPORTANCE_GRADIENT, out);
        if (!status) ask(s, GN_IMPORTANCE_INTEGRATED, out);
        gn_session_free(s);
    }
    gn_arena_free(&a);
    return status;
}

static void same_story(const story *a, const story *b)
{
    close_to(&a->fit, &b->fit, 1);
    ck_assert_int_eq(a->drops, b->drops);
    ck_assert_int_eq(a->n, b->n);
    for (int m = 0; m < 2; m++) {
        float most = 0;
        ck_assert_msg(fabs(a->score[m] - b->score[m]) < 1e-3, "%g and %g", a->score[m],
                      b->score[m]);
        for (int64_t k = 0; k < a->n; k++) {
            most = fmaxf(most, fabsf(a->part[m][k]));
            ck_assert_msg(fabsf(a->part[m][k] - b->part[m][k]) < 1e-3F, "%lld: %g and %g",
                          (long long)k, (double)a->part[m][k], (double)b->part[m][k]);
        }
        ck_assert(most > 0.01F);
    }
}

START_TEST(as_on_the_processor)
{
    story plain = {settings[_i], GN_MODE_DEFAULT}, whole = {settings[_i], GN_MODE_REDUCE_OVERHEAD};
    with_device(tell, &plain);
    with_device(tell, &whole);
    ck_assert(same_bits(&plain.fit, &whole.fit));
    same_story(&plain, &whole);
    ck_assert((plain.drops > 0) == (_i == SETTINGS - 1));
#if GNNC_HAVE_LLVM
    story here = {settings[_i], GN_MODE_DEFAULT};
    succeeds(tell(&here, NULL));
    same_story(&plain, &here);
#endif
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("training");
    tcase_set_timeout(t, 600);
    tcase_add_loop_test(t, as_on_the_processor, 0, SETTINGS);
    return RUN_CASES("cuda_training", t);
}
