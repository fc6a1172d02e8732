/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* timeout: 900 */
/* The samples give the same bits whatever the number of threads and in every run: all states after
 * five steps, and the loss; with what is static computed at every step, and computed ahead. */
#include "base/sanitized.h"
#include "cache/cache.h"
#include "session/session.h"
#include "tune/start.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 5 };

static const char *const models[] = {"gcn", "sage", "gat", "gin"};
static const char *const data[] = {
    NULL, "synthetic:nodes=5000,edges=30000,features=40,classes=5,density=0.1,seed=3",
    "synthetic:nodes=700,edges=20000,features=24,classes=3,density=0.9,seed=4"};
static const gn_mode modes[] = {GN_MODE_DEFAULT, GN_MODE_REDUCE_OVERHEAD, GN_MODE_EAGER};
enum { MODELS = 4, DATA = GN_UNDER_ASAN ? 1 : 3, MODES = GN_UNDER_ASAN ? 2 : 3 };

typedef struct setup {
    const char *model, *data;
    gn_mode mode;
    int threads;
    bool keep_static;
} setup;

static void need(gn_status *s, const setup *c)
{
    if (s)
        ck_abort_msg("%s on %s, %s: %s (%s:%d)", c->model, c->data ? c->data : "karate",
                     gn_mode_name[c->mode], gn_status_message(s), s->file, s->line);
}

/* The bytes of every state, and of the loss. */
typedef struct bits {
    unsigned char *p;
    size_t n;
} bits;

static void add(bits *b, const void *data_, size_t n)
{
    b->p = realloc(b->p, b->n + n + 1);
    ck_assert(b->p != NULL);
    memcpy(b->p + b->n, data_, n);
    b->n += n;
}

static bits train(gn_session *s)
{
    bits b = {NULL, 0};
    for (int k = 0; k < STEPS; k++) gn_instance_run(s->build.step.instance);
    for (int k = 0; k < s->state.n; k++) {
        const gn_state_tensor *t = &s->state.tensors[k];
        add(&b, t->data, (size_t)(t->rows * t->row_elems) * gn_elem_size(t->elem));
    }
    add(&b, gn_instance_output(s->build.step.instance, "loss", NULL), sizeof(float));
    return b;
}

static bool same(bits a, bits b) { return a.n == b.n && a.n > 100 && memcmp(a.p, b.p, a.n) == 0; }

static double loss_of(bits b)
{
    float loss;
    memcpy(&loss, b.p + b.n - sizeof loss, sizeof loss);
    return (double)loss;
}

/* Trains twice in one session, the second time in an arena full of what is no number. */
static bits run(const setup *c, gn_cache *cache)
{
    const char *root = getenv("GNNC_SOURCE_DIR");
    char path[4096];
    gn_arena a;
    gn_session *s;
    snprintf(path, sizeof path, "%s/samples/%s.gnn", root ? root : ".", c->model);
    gn_session_options o = {
        .path = path, .mode = c->mode, .threads = c->threads, .seed = 7, .epochs = STEPS};
    o.pass_limit = -1;
    o.train = true;
    o.keep_static = c->keep_static;
    o.cache = cache;
    o.data = (gn_data_options){.path = c->data, .seed = 1, .normalize_rows = -1, .undirected = -1};
    gn_arena_init(&a);
    need(gn_session_new(&a, &o, &s), c);
    bits first = train(s);
    need(gn_session_reset(s, 7), c);
    gn_instance_poison(s->build.step.instance);
    bits second = train(s);
    ck_assert_msg(same(first, second), "%s on %s, %s: two runs differ", c->model,
                  c->data ? c->data : "karate", gn_mode_name[c->mode]);
    free(second.p);
    gn_session_free(s);
    gn_arena_free(&a);
    return first;
}

START_TEST(threads)
{
    setup c = {.model = models[_i % MODELS],
               .data = data[_i / MODELS % DATA],
               .mode = modes[_i / MODELS / DATA]};
    bits want[2];
    gn_cache *cache; /* threads share kernels */
    need(gn_cache_new(&(gn_cache_options){0}, &cache), &c);
    for (int k = 0; k < 6; k++) {
        c.threads = k % 3 + 1;
        if (GN_UNDER_ASAN && c.threads == 2) continue;
        c.keep_static = k >= 3;
        bits got = run(&c, cache);
        if (c.threads == 1) {
            want[c.keep_static] = got;
            continue;
        }
        ck_assert_msg(same(want[c.keep_static], got),
                      "%s on %s, %s%s: %d threads give other bits than one", c.model,
                      c.data ? c.data : "karate", gn_mode_name[c.mode],
                      c.keep_static ? ", static" : "", c.threads);
        free(got.p);
    }
    double a = loss_of(want[0]), b = loss_of(want[1]);
    ck_assert_msg(fabs(a - b) <= 1e-4 * fabs(a),
                  "%s on %s, %s: a loss of %g, and %g where static is computed ahead", c.model,
                  c.data ? c.data : "karate", gn_mode_name[c.mode], a, b);
    free(want[0].p);
    free(want[1].p);
    gn_cache_free(cache);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("threads");
    if (!GNNC_HAVE_LLVM) return 0;
    tcase_add_loop_test(t, threads, 0, MODELS * DATA * MODES);
    tcase_set_timeout(t, 900);
    return RUN_CASES("bits", t);
}
