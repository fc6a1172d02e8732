/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* timeout: 300 */
/* Random losses with their gradients of which 16 bits are kept between loops (passes/narrow.c):
 * evaluators, the loop IR, compiled code and CUDA agree within bounds that allow for the
 * rounding. */
#include "base/sanitized.h"
#include "passes/passes.h"
#include "support/random_gir.h"
#include "support/run_compiled.h"
#include "support/suite.h"

#include <stdlib.h>

enum { SEEDS = GN_UNDER_ASAN ? 12 : 48 };

static void need(gn_status *s, int seed, const char *what)
{
    ck_assert_msg(!s, "seed %d: %s: %s", seed, what, gn_status_message(s));
}

static int count_narrowed(gn_arena *a, const gir_program *p)
{
    gn_pass_options o = {.limit = -1, .kept = GN_STORAGE_BFLOAT16, .kept_least = 1};
    gir_program *q;
    int n = 0;
    need(gn_run_narrow(a, p, &o, &q), -1, "narrow");
    for (gir_id v = 1; v < q->nodes.n; v++) n += gir_at(q, v)->op == GIR_CAST;
    for (gir_id v = 1; v < p->nodes.n; v++) n -= gir_at(p, v)->op == GIR_CAST;
    return n / 2;
}

START_TEST(random_loss)
{
    random_gir_options options = {.backward = true, .one_type = true, .values = 12};
    run_tally tally = {0};
    int narrowed = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        gn_arena a;
        gn_arena_init(&a);
        uint64_t number = 5000 + (uint64_t)(seed * RUN_KEPT_MODES + _i);
        gir_program *p = random_gir(&a, number, &options);
        gir_env env = random_gir_env(&a, p, number, &options);
        unsigned mode = 1u << (RUN_KEPT + _i);
        gn_status *s = run_every_way(p, &env, mode, seed % 4 ? 0 : mode, &tally);
        need(s, seed, run_modes[RUN_KEPT + _i].name);
        narrowed += count_narrowed(&a, p);
        gn_arena_free(&a);
    }
    ck_assert_msg(narrowed > SEEDS, "%d values of %d programs are narrowed", narrowed, SEEDS);
    ck_assert_msg(tally.skipped * 2 < tally.elements, "%lld of %lld elements have no bound",
                  (long long)tally.skipped, (long long)tally.elements);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("kept");
    tcase_add_loop_test(t, random_loss, 0, RUN_KEPT_MODES);
    tcase_set_timeout(t, 300);
    return RUN_CASES("kept", t);
}
