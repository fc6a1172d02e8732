/* labels: long */
/* links: tune cache codegen lower passes frontend ir runtime base */
/* All modes agree to 1e-5: logits of fresh weights, the losses of a few training steps, and the
 * logits after them.  Where training goes by the loss over the validation nodes, it is the
 * cross-entropy of the logits. */
#include "cache/cache.h"
#include "tune/tune.h"
#include "support/suite.h"
#include "tune/start.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 4, THREADS = 2 };

static const char *const models[] = {"gcn", "sage", "gat", "gin"};
enum { MODELS = 4 };

typedef struct result {
    double loss[STEPS];
    int64_t n;
    float *before, *after; /* [n] logits */
} result;

static void need(gn_status *s, const char *model, gn_mode mode)
{
    if (s)
        ck_abort_msg("%s, %s: %s (%s:%d)", model, gn_mode_name[mode], gn_status_message(s), s->file,
                     s->line);
}

static double cross_entropy(const gn_session *s, const float *logits, int64_t classes,
                            const uint8_t *mask)
{
    double sum = 0;
    int64_t n = 0;
    for (int64_t v = 0; v < s->data->n_nodes; v++) {
        const float *row = logits + v * classes;
        double e = 0;
        if (!mask[v]) continue;
        for (int64_t c = 0; c < classes; c++) e += exp((double)row[c]);
        sum += log(e) - (double)row[s->data->y[v]];
        n++;
    }
    return sum / (double)n;
}

static void check_validation(const gn_session *s, const float *logits, int64_t classes)
{
    const float *loss = gn_instance_output(s->build.eval.instance, "loss", NULL);
    bool monitors = s->model->train.monitor_loss;
    ck_assert_msg(monitors == (loss != NULL), "a loss %s",
                  loss ? "that nobody asks for" : "is missing");
    if (!loss) return;
    double want = cross_entropy(s, logits, classes, s->data->val_mask);
    ck_assert_double_eq_tol(*loss, want, 1e-5 * fabs(want));
}

static float *logits(gn_session *s, int64_t *n)
{
    int64_t classes;
    ck_assert(!gn_session_eval(s));
    const float *p = gn_session_logits(s, &classes);
    check_validation(s, p, classes);
    *n = s->data->n_nodes * classes;
    float *copy = malloc((size_t)*n * sizeof *copy);
    ck_assert(copy != NULL);
    memcpy(copy, p, (size_t)*n * sizeof *copy);
    return copy;
}

static result run(const char *model, gn_mode mode, gn_cache *cache)
{
    const char *root = getenv("GNNC_SOURCE_DIR");
    char path[4096];
    gn_arena a;
    gn_session *s;
    result r;
    snprintf(path, sizeof path, "%s/samples/%s.gnn", root ? root : ".", model);
    gn_session_options o = {
        .path = path, .mode = mode, .threads = THREADS, .seed = 7, .epochs = STEPS};
    o.pass_limit = -1;
    o.train = o.keep_static = true;
    o.tune_seconds = 0.05; /* where the mode searches: what comes of the first few candidates, if
                              there is time for any */
    o.cache = cache;
    o.data = (gn_data_options){.seed = 1, .normalize_rows = -1, .undirected = -1};
    gn_arena_init(&a);
    need(gn_session_new(&a, &o, &s), model, mode);
    ck_assert((s->tuned[GN_UNIT_STEP] != NULL) == gn_modes[mode].tune);
    need(gn_session_reset(s, 7), model, mode);
    r.before = logits(s, &r.n);
    for (int k = 0; k < STEPS; k++) need(gn_session_step(s, &r.loss[k]), model, mode);
    r.after = logits(s, &r.n);
    gn_session_free(s);
    gn_arena_free(&a);
    return r;
}

/* The largest difference, of the largest element. */
static double distance(const float *x, const float *y, int64_t n)
{
    double scale = 0, worst = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i])) return INFINITY;
        scale = fmax(scale, fabs((double)x[i]));
        worst = fmax(worst, fabs((double)x[i] - (double)y[i]));
    }
    return worst / scale;
}

START_TEST(agree)
{
    const char *model = models[_i];
    gn_cache *cache;
    need(gn_cache_new(&(gn_cache_options){0}, &cache), model, GN_MODE_DEFAULT); /* in memory */
    result want = run(model, GN_MODE_DEFAULT, cache);
    double moved = distance(want.before, want.after, want.n);
    ck_assert_msg(moved > 1e-3, "%s: training changed nothing", model);
    for (int m = 0; m < GN_MODE_COUNT; m++) {
        if (m == GN_MODE_DEFAULT) continue;
        result got = run(model, (gn_mode)m, cache);
        double first = distance(want.before, got.before, want.n),
               last = distance(want.after, got.after, want.n);
        if (getenv("GNNC_SHOW")) printf("%s %s %g %g\n", model, gn_mode_name[m], first, last);
        ck_assert_msg(first <= 1e-5 && last <= 1e-5,
                      "%s, %s: logits differ by %g, after %d steps by %g", model, gn_mode_name[m],
                      first, STEPS, last);
        for (int k = 0; k < STEPS; k++)
            ck_assert_msg(fabs(got.loss[k] - want.loss[k]) <= 1e-5 * fabs(want.loss[k]),
                          "%s, %s: the loss of step %d is %.9g, not %.9g", model, gn_mode_name[m],
                          k, got.loss[k], want.loss[k]);
        free(got.before);
        free(got.after);
    }
    free(want.before);
    free(want.after);
    gn_cache_free(cache);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("modes");
    tcase_set_timeout(c, 280);
    if (GNNC_HAVE_LLVM) tcase_add_loop_test(c, agree, 0, MODELS);
    return RUN_CASES("modes", c);
}
