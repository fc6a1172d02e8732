/* links: tune codegen lower passes frontend ir runtime cache base */
/* sources: fake_target.c */
/* timeout: 600 */
/* Facts with corrupted ones beside them, trained on a device: the fake driver, with kernels that
 * the host runs.  Each step's edges are drawn by the key that lies there, and go there. */
#include "support/facts_step.h"
#include "support/suite.h"
#include "shim/fake_target.h"

#include <check.h>
#include <string.h>

static void ok(gn_status *s)
{
    ck_assert_msg(!s, "%s (%s:%d)", s ? gn_status_message(s) : "", s ? s->file : "",
                  s ? s->line : 0);
}

enum { STEPS = 4, BATCH = 40, FEW = 4 }; /* of few, not all rows are touched */

/* The same steps again, of which nothing is fetched before the last: by a clock, and one by one. */
static void go_on(gn_instance *in, gn_remote *r, facts_data *d, gn_arena *a, const gir_program *p)
{
    enum { STATES = 3, MOST = sizeof d->emb };
    static char was[STATES][MOST], next[STATES][MOST];
    void *state[STATES] = {d->emb, d->rel, d->mom};
    const size_t bytes[STATES] = {sizeof d->emb, sizeof d->rel, sizeof d->mom};
    int n = gir_leaf_by_name(p, GIR_STATE, "mom") ? 3 : 2;
    for (int k = 0; k < n; k++) memcpy(was[k], state[k], bytes[k]);
    for (int k = 0; k < 2; k++) ok(facts_step_check(a, d, p, in, r));
    for (int k = 0; k < n; k++) memcpy(next[k], state[k], bytes[k]);
    for (int way = 0; way < 2; way++) {
        d->step = STEPS;
        ok(r->push(r, &d->step));
        for (int k = 0; k < n; k++) {
            memcpy(state[k], was[k], bytes[k]);
            ok(r->push(r, state[k]));
        }
        if (way) (void)gn_instance_clock(in, 2); /* which runs it twice */
        for (int k = 0; k < 2 && !way; k++) gn_instance_run(in);
        ok(gn_instance_wait(in));
        ok(r->fetch(r, &d->step));
        ck_assert_int_eq(d->step, STEPS + 2);
        for (int k = 0; k < n; k++) {
            ok(r->fetch(r, state[k]));
            ck_assert_mem_eq(state[k], next[k], bytes[k]);
        }
    }
}

START_TEST(trains)
{
    gn_arena a;
    fake_target t;
    facts_data data;
    gn_pool *pool;
    gir_program *p;
    gn_compiled *compiled;
    gn_target_code code;
    gn_code_report report;
    gn_instance *in;
    bool recorded = _i / 3 % 2, touched = _i >= 9;
    int batch = touched ? FEW : _i / 6 * BATCH;
    gn_arena_init(&a);
    ok(fake_target_open(&t));
    ok(facts_data_init(&data));
    ok(gn_pool_new(1, &pool));
    ok(facts_step_program(&a, _i % 3, batch, touched, &p));
    gn_compile_options o = {.index = GN_I32, .limits = &t.target->limits};
    o.pass = (gn_pass_options){.limit = -1, .verify = true};
    o.code = (gn_codegen_options){.opt_level = 1, .threads = 1};
    gn_products_rule kernels = {.way = GN_PRODUCTS_KERNEL};
    ok(gn_compile(&a, p, &o, NULL, &compiled));
    ok(gn_target_compile(t.target, &a, 1, &compiled, &o.code, &kernels, &code, &report));
    ok(facts_step_instance(&data, compiled->artifact, pool, &in));
    gn_remote *r = compiled->artifact->remote;
    if (recorded) ok(gn_instance_one_region(in));
    for (int k = 0; k < STEPS; k++) ok(facts_step_check(&a, &data, p, in, r));
    ck_assert_int_eq(data.step, STEPS);
    go_on(in, r, &data, &a, p);
    gn_instance_free(in);
    gn_target_unload(t.target, &code);
    gn_pool_free(pool);
    gn_graph_free(data.facts);
    fake_target_close(&t);
    gn_arena_free(&a);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("facts");
    tcase_add_loop_test(c, trains, 0, 15);
    tcase_set_timeout(c, 500);
    return RUN_CASES("facts, CUDA", c);
}
