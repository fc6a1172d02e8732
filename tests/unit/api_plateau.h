/* A schedule that goes by validation results, by way of the public API, here and on a device. */
#ifndef GN_TESTS_UNIT_API_PLATEAU_H
#define GN_TESTS_UNIT_API_PLATEAU_H

#include "unit/api_world.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char
    plateau_model[] = "model M() (g: graph, x: node[F]) -> node[C] { return GCNConv(C)(g, x) }\n"
                      "train M(lr = 0.5) {\n  loss = cross_entropy(M(g, x), y) over train_mask\n"
                      "  optimizer = sgd(lr = lr)\n";

/* A step, and the weights after it. */
static inline float *plateau_step(bench *b, world *w)
{
    DLTensor view;
    int64_t numbers[16], n = 1;
    bind_world(b->run, w, true);
    ok(gnnc_run_step(b->run, NULL));
    ok(gnnc_state_weight(b->state, 0, NULL, &view, numbers));
    for (int d = 0; d < view.ndim; d++) n *= numbers[d];
    float *copy = malloc((size_t)(n + 1) * sizeof *copy);
    for (int64_t i = 0; i < n; i++) copy[i + 1] = ((float *)view.data)[i];
    copy[0] = (float)n;
    return copy;
}

/* Two results, of which the second is no better: the rate is half of what it was, in a state that
 * takes it along to a file and to another, and to a step that was compiled for that rate. */
static inline void plateau_story(const gnnc_context *c)
{
    static const gnnc_define half[] = {{"lr", "0.25"}};
    char text[1024], path[] = "api-plateau.XXXXXX";
    gnnc_compile_options o = {.train = true};
    close(mkstemp(path));
    snprintf(text, sizeof text, "%s  schedule = plateau(factor = 0.5, patience = 0)\n}\n",
             plateau_model);
    bench b = set_up_in(c, text, o, 1), other = set_up_in(c, text, o, 2);
    snprintf(text, sizeof text, "%s}\n", plateau_model);
    o.defines = half;
    o.n_defines = 1;
    bench slower = set_up_in(c, text, o, 3);
    world w = make_world_in(c, 9, 26, 78);
    for (int k = 0; k < 2; k++) {
        free(plateau_step(&b, &w));
        ok(gnnc_state_validated(b.state, 1));
    }
    ok(gnnc_state_save(b.state, path));
    ok(gnnc_state_load(other.state, path));
    ok(gnnc_state_load_weights(slower.state, path));
    float *after[] = {plateau_step(&b, &w), plateau_step(&other, &w), plateau_step(&slower, &w)};
    for (int k = 1; k < 3; k++)
        ck_assert(!memcmp(after[0], after[k], (size_t)(after[0][0] + 1) * sizeof **after));
    /* the next result is bad, too: what was loaded counts on */
    ok(gnnc_state_validated(b.state, 0.5));
    ok(gnnc_state_validated(other.state, 2));
    float *last[] = {plateau_step(&b, &w), plateau_step(&other, &w)};
    ck_assert(memcmp(last[0], last[1], (size_t)(last[0][0] + 1) * sizeof **last) != 0);
    refused(gnnc_state_validated(slower.state, 1), GNNC_ERROR_USAGE,
            "the schedule of M goes by no validation results");
    for (int k = 0; k < 3; k++) free(after[k]);
    for (int k = 0; k < 2; k++) free(last[k]);
    unlink(path);
    end_world(&w);
    tear_down(&b);
    tear_down(&other);
    tear_down(&slower);
}

#endif
