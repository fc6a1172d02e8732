/* Runs within a bound of memory (memory_bytes): the same bits in fewer bytes, or a message. */
/* timeout: 120 */
#define API_KEEPS_CODE
#include "unit/api_world.h"

#include "support/suite.h"

#include <check.h>
#include <string.h>

enum { N = 1500, E = 9000, STEPS = 3 };

static const char deep[] = "model M() (g: graph, x: node[F]) -> node[C] {\n"
                           "  convs = [SAGEConv(i < 7 ? 48 : C) for i in 0..8]\n  h = x\n"
                           "  for i in 0..8 { h = convs[i](g, relu(dropout(h, 0.2))) }\n"
                           "  return h\n}\n";

typedef struct outcome {
    double loss[2][STEPS]; /* by graph */
    int64_t bytes;         /* after the first one's */
    gnnc_status *failed;   /* of the first step */
} outcome;

/* On graphs of 1,500 and of 1,000 nodes. */
static outcome train(int64_t memory, int threads)
{
    outcome o = {.failed = NULL};
    bench b = set_up(deep, (gnnc_compile_options){.train = true, .memory_bytes = memory}, threads);
    for (int k = 0; k < 2 && !o.failed; k++) {
        world w = make_world(5, N - 500 * k, E);
        bind_world(b.run, &w, true);
        for (int step = 0; step < STEPS && !o.failed; step++)
            o.failed = gnnc_run_step(b.run, &o.loss[k][step]);
        if (!k && !o.failed) o.bytes = gnnc_run_bytes(b.run);
        end_world(&w);
    }
    tear_down(&b);
    return o;
}

/* Half of what a step takes by itself, on one and two threads, and on graphs of other sizes. */
START_TEST(the_same_bits_in_less)
{
    outcome all = train(0, 1);
    ck_assert_ptr_null(all.failed);
    for (int threads = 1; threads <= 2; threads++) {
        int64_t bound = all.bytes * 6 / 10;
        outcome less = train(bound, threads);
        ck_assert_msg(!less.failed, "%s", gnnc_status_message(less.failed));
        ck_assert(!memcmp(less.loss, all.loss, sizeof all.loss));
        ck_assert_msg(less.bytes < bound, "%lld of %lld", (long long)less.bytes, (long long)bound);
    }
}
END_TEST

/* What fits is left alone; what does not is refused, again and again, and by what takes it. */
START_TEST(refuses)
{
    outcome all = train(0, 1), fits = train(INT64_C(1) << 30, 1);
    ck_assert_ptr_null(fits.failed);
    ck_assert(!memcmp(fits.loss, all.loss, sizeof all.loss) && fits.bytes == all.bytes);
    outcome o = train(all.bytes / 20, 1);
    refused(o.failed, GNNC_ERROR_MEMORY, "bytes at the least that was found");
    bench b = set_up(deep, (gnnc_compile_options){.train = true, .memory_bytes = 1000}, 1);
    world w = make_world(5, N, E);
    bind_world(b.run, &w, true);
    refused(gnnc_run_step(b.run, NULL), GNNC_ERROR_MEMORY, "data that are bound");
    refused(gnnc_run_infer(b.run), GNNC_ERROR_MEMORY, "which is above 1000");
    refused(gnnc_run_step(b.run, NULL), GNNC_ERROR_MEMORY, "weights and moments");
    end_world(&w);
    tear_down(&b);
    gnnc_module *m;
    gnnc_executable *e;
    ok(gnnc_module_parse(NULL, plain, strlen(plain), "m.gnn", &m));
    gnnc_compile_options co = {.size = sizeof co, .features = F, .classes = C, .memory_bytes = -1};
    refused(gnnc_compile(m, &co, &e), GNNC_ERROR_USAGE, "memory_bytes: -1 bytes");
    co.memory_bytes = 1 << 20;
    co.by_rows = true;
    refused(gnnc_compile(m, &co, &e), GNNC_ERROR_USAGE, "not with by_rows");
    gnnc_module_free(m);
}
END_TEST

/* What the run does not hold, and a bound counts: the graph, in both directions, and the state. */
static int64_t beside_run(void)
{
    static const char words[] = "weights and moments ";
    gnnc_status *s = train(1000, 1).failed;
    ck_assert_ptr_nonnull(s);
    const char *at = strstr(gnnc_status_message(s), words);
    ck_assert_ptr_nonnull(at);
    int64_t states = strtoll(at + strlen(words), NULL, 10);
    gnnc_status_free(s);
    return states + 3 * 4 * (int64_t)E + 2 * 4 * (int64_t)(N + 1);
}

/* Data that stay: what is computed once is outlined beside the program, and outlined again where
 * that is compiled again.  What two programs derive of a graph counts once: what both were seen to
 * take is enough for both; and less for a step alone, whose launches run again. */
START_TEST(both_programs)
{
    int64_t bytes = INT64_C(1) << 30;
    for (int k = 0; k < 3; k++) {
        gnnc_compile_options o = {.train = true, .fixed = true, .memory_bytes = bytes};
        bench b = set_up(deep, o, 1);
        for (int turn = 0; turn < 2; turn++) {
            world w = make_world(5, N - 500 * turn, E);
            bind_world(b.run, &w, true);
            gnnc_status *s = gnnc_run_step(b.run, NULL);
            if (!s && k < 2) s = gnnc_run_infer(b.run);
            ck_assert_msg(!s, "bound %lld: %s", (long long)bytes, gnnc_status_message(s));
            if (!k && !turn) bytes = gnnc_run_bytes(b.run) + beside_run();
            end_world(&w);
        }
        if (k == 1) bytes = bytes * 6 / 10;
        tear_down(&b);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, the_same_bits_in_less);
    tcase_add_test(t, refuses);
    tcase_add_test(t, both_programs);
    return RUN_CASES("api_cap", t);
}
