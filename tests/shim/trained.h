/* Samples trained on the built-in graph by sessions on a device: how, what came of it, and
 * comparing that. */
#ifndef TESTS_SHIM_TRAINED_H
#define TESTS_SHIM_TRAINED_H

#include "session/session.h"
#include "shim/fake_target.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRAINED_MOST = 1024 };

typedef struct trained {
    double loss;
    int64_t n;
    float logits[TRAINED_MOST];
} trained;

static const char *const samples[] = {"gcn", "gat", "sage", "gin"};
enum { SAMPLES = sizeof samples / sizeof *samples };

static const gn_switches by_launches = (gn_switches)1 << GN_DO_ONE_KERNEL;

static inline void succeeds(gn_status *s) { ck_assert_msg(!s, "%s", gn_status_message(s)); }

static inline void fails(gn_status *s, gn_code code, const char *words)
{
    ck_assert_msg(s != NULL, "no error, expected: %s", words);
    ck_assert_int_eq(gn_status_code(s), code);
    ck_assert_msg(strstr(gn_status_message(s), words) != NULL, "'%s' lacks '%s'",
                  gn_status_message(s), words);
    gn_status_free(s);
}

static inline gn_session_options trained_options(gn_arena *a, const char *name, gn_mode mode,
                                                 gn_target *target)
{
    const char *root = getenv("GNNC_SOURCE_DIR");
    return (gn_session_options){
        .path = gn_arena_printf(a, "%s/samples/%s.gnn", root ? root : ".", name),
        .mode = mode,
        .threads = 1,
        .seed = 3,
        .pass_limit = -1,
        .train = true,
        .keep_static = true,
        .target = target};
}

/* Work on a device that is opened for it, on which nothing is left. */
static inline void with_device(gn_status *(*work)(void *ctx, gn_target *target), void *ctx)
{
    fake_target t;
    fake_alive_fn *alive;
    succeeds(fake_target_open(&t));
    void *at = fake_symbol(&t, "fake_alive");
    memcpy(&alive, &at, sizeof alive);
    succeeds(work(ctx, t.target));
    fake_target_close(&t);
    if (alive) ck_assert_int_eq(alive(), 0);
}

/* Trains, and runs forward with what was learnt. */
static inline gn_status *trained_fit(gn_session *s, trained *out)
{
    gn_fit fit;
    int64_t classes;
    GN_TRY(gn_session_fit(s, 3, NULL, NULL, &fit));
    GN_TRY(gn_session_eval(s));
    GN_TRY(gn_session_fetch(s));
    const float *logits = gn_session_logits(s, &classes);
    out->loss = fit.loss;
    out->n = s->data->n_nodes * classes;
    ck_assert_int_le(out->n, TRAINED_MOST);
    memcpy(out->logits, logits, (size_t)out->n * sizeof *logits);
    return NULL;
}

static inline bool same_bits(const trained *a, const trained *b)
{
    return a->loss == b->loss && a->n == b->n &&
           !memcmp(a->logits, b->logits, (size_t)a->n * sizeof *a->logits);
}

static inline void close_to(const trained *a, const trained *b, double slack)
{
    ck_assert_int_eq(a->n, b->n);
    ck_assert_int_gt(a->n, 0);
    ck_assert_msg(a->loss > 0 && a->logits[0] != a->logits[a->n - 1], "nothing was computed");
    ck_assert_msg(fabs(a->loss - b->loss) <= 1e-4 * slack * (1 + fabs(b->loss)), "losses %g and %g",
                  a->loss, b->loss);
    for (int64_t k = 0; k < a->n; k++)
        ck_assert_msg(fabs((double)(a->logits[k] - b->logits[k])) <=
                          1e-3 * slack * (1 + fabs((double)b->logits[k])),
                      "logit %lld: %g and %g", (long long)k, (double)a->logits[k],
                      (double)b->logits[k]);
}

#endif
