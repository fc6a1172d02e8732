/* What the tests of searches share: a cache in a folder of its own, and sessions of samples on a
 * small graph.  Nothing depends on how fast the machine is: searches end when all was tried, after
 * so many candidates, or before the first.
 */
#ifndef GN_TESTS_TUNE_TEST_H
#define GN_TESTS_TUNE_TEST_H

#include "cache/cache.h"
#include "session/session_impl.h"
#include "tune/start.h"
#include "tune/tune_impl.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALL 1000.0   /* seconds: more than a search needs */
#define NO_TIME 1e-9 /* what rules make is what is kept */

static gn_arena arena;
static gn_cache *cache;
static char folder[64], lock_path[96];

static inline void ok(gn_status *s) { ck_assert_msg(!s, "%s", gn_status_message(s)); }

static inline void refused(gn_status *s, gn_code code, const char *words)
{
    ck_assert_msg(s != NULL, "accepted; expected: %s", words);
    ck_assert_msg(gn_status_code(s) == code, "%s: %s", gn_code_name(gn_status_code(s)),
                  gn_status_message(s));
    ck_assert_msg(strstr(gn_status_message(s), words) != NULL, "'%s' is not in: %s", words,
                  gn_status_message(s));
    gn_status_free(s);
}

static inline void setup(void)
{
    strcpy(folder, "/tmp/gnnc-tune-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(lock_path, sizeof lock_path, "%s/lock", folder);
    gn_arena_init(&arena);
    ok(gn_cache_new(&(gn_cache_options){.dir = folder}, &cache));
}

static inline void teardown(void)
{
    char line[256];
    gn_cache_free(cache);
    gn_arena_free(&arena);
    snprintf(line, sizeof line, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(line), 0);
}

static inline gn_session_options options(const char *model, bool train)
{
    static char path[4096];
    const char *root = getenv("GNNC_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/samples/%s.gnn", root ? root : ".", model);
    gn_session_options o = {
        .path = path, .mode = GN_MODE_MAX_AUTOTUNE, .threads = 2, .seed = 7, .epochs = 3};
    o.pass_limit = -1;
    o.train = o.keep_static = train;
    o.data = (gn_data_options){
        .path = "synthetic:nodes=300,edges=1500,features=24,classes=4,density=0.2,seed=3",
        .seed = 1,
        .normalize_rows = -1,
        .undirected = -1};
    o.cache = cache;
    o.tune_seconds = ALL;
    return o;
}

static inline gn_session *open_session(const gn_session_options *o)
{
    gn_session *s = NULL;
    ok(gn_session_new(&arena, o, &s));
    return s;
}

/* Scores of a session beside the default's. */
static inline void same_scores(gn_session *s)
{
    gn_session_options o = s->opt;
    o.mode = GN_MODE_DEFAULT;
    o.tune_lock = NULL;
    o.tune_on = false;
    o.reorder = GN_ORDER_NONE;
    gn_session *d = open_session(&o);
    int64_t n, m;
    ok(gn_session_eval(s));
    ok(gn_session_eval(d));
    const float *x = gn_session_logits(s, &n), *y = gn_session_logits(d, &m);
    ck_assert_int_eq(n, m);
    for (int64_t i = 0; i < n * s->data->n_nodes; i++) {
        float got = x[gn_session_row(s, i / n) * n + i % n],
              want = y[gn_session_row(d, i / n) * n + i % n];
        if (!(fabsf(got - want) <= 1e-4F * (1 + fabsf(want))))
            ck_abort_msg("score %lld: %g, not %g", (long long)i, (double)got, (double)want);
    }
    gn_session_free(d);
}

static inline TCase *named(Suite *s, const char *name)
{
    TCase *t = tcase_create(name);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 0);
    suite_add_tcase(s, t);
    return t;
}

#endif
