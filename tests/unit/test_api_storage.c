/* What edges gather, kept as BF16 (gather_storage): against sums of rounded numbers in C.  And what
 * lies between loops, kept in 16 bits (precision). */
/* timeout: 120 */
#include "unit/api_world.h"

#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 50, E = 400, WIDE = 16 };

static float rounded(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A sum over in-edges of x with so many columns, plus x itself; whole numbers, so that no order of
 * the sums matters. */
static void sums(int columns, const char *mode, const char *storage, const int32_t *src,
                 const int32_t *dst, const float *x, float *got)
{
    static const char text[] = "model S() (g: graph, x: node[F]) -> node[F] {\n  return sum(u -> v "
                               "in g: x[u]) + x\n}\n";
    gnnc_module *m;
    gnnc_executable *exe;
    gnnc_state *state;
    gnnc_run *run;
    gnnc_graph *g;
    DLTensor out, in = tensor((void *)(uintptr_t)x, 2, (int64_t[]){N, columns}, kDLFloat, 32);
    ok(gnnc_module_parse(NULL, text, strlen(text), "s.gnn", &m));
    ok(gnnc_compile(m,
                    &(gnnc_compile_options){.size = sizeof(gnnc_compile_options),
                                            .features = columns,
                                            .classes = 2,
                                            .mode = mode,
                                            .gather_storage = storage},
                    &exe));
    ok(gnnc_state_new(exe, 0, &state));
    ok(gnnc_run_new(exe, state, NULL, &run));
    ok(gnnc_graph_from_coo(NULL, N, E, GNNC_INT32, src, dst, &g));
    ok(gnnc_run_bind_graph(run, g));
    ok(gnnc_run_bind(run, "x", &in));
    ok(gnnc_run_infer(run));
    ok(gnnc_run_output(run, "out", &out));
    memcpy(got, out.data, (size_t)N * (size_t)columns * sizeof *got);
    gnnc_run_free(run);
    gnnc_graph_free(g);
    gnnc_state_free(state);
    gnnc_executable_free(exe);
    gnnc_module_free(m);
}

/* In every mode what is gathered is rounded, and nothing else: not x where it is added as it is,
 * nor rows of less than a line. */
START_TEST(rounds)
{
    static const char *const modes[] = {"eager", "default", "reduce-overhead",
                                        "max-autotune-no-cudagraphs"};
    int columns = _i / 4 ? WIDE - 1 : WIDE;
    int32_t src[E], dst[E];
    float x[N * WIDE], want[N * WIDE], got[N * WIDE];
    uint32_t seed = 7;
    int differ = 0;
    for (int e = 0; e < E; e++) {
        src[e] = (int32_t)(draw(&seed) % N);
        dst[e] = (int32_t)(draw(&seed) % N);
    }
    for (int k = 0; k < N * columns; k++) {
        x[k] = want[k] = (float)((int)(draw(&seed) % 8192) - 4096);
        differ += rounded(x[k]) != x[k];
    }
    ck_assert_int_gt(differ, N);
    for (int e = 0; e < E; e++)
        for (int k = 0; k < columns; k++) {
            float one = x[src[e] * columns + k];
            want[dst[e] * columns + k] += columns < WIDE ? one : rounded(one);
        }
    sums(columns, modes[_i % 4], "bfloat16", src, dst, x, got);
    for (int k = 0; k < N * columns; k++)
        ck_assert_msg(got[k] == want[k], "%d: %g, not %g", k, got[k], want[k]);
}
END_TEST

/* Steps go where those of float32 go, but not to the same bits; they take less memory. */
START_TEST(trains)
{
    static const char text
        [] = "model M() (g: graph, x: node[F]) -> node[C] {\n  a = GCNConv(64)\n  b = GCNConv(64)\n"
             "  c = GCNConv(C)\n  return c(g, relu(b(g, relu(a(g, x)))))\n}\n";
    static const struct {
        const char *gathers, *precision;
    } rounded[] = {{"bfloat16", NULL}, {NULL, "mixed"}, {NULL, "mixed-f16"}};
    double loss[2][10];
    int64_t bytes[2];
    for (int k = 0; k < 2; k++) {
        gnnc_compile_options o = {.train = true};
        if (k) o.gather_storage = rounded[_i].gathers, o.precision = rounded[_i].precision;
        bench b = set_up(text, o, 1);
        world w = make_world(5, 2000, 8000);
        bind_world(b.run, &w, true);
        for (int step = 0; step < 10; step++) ok(gnnc_run_step(b.run, &loss[k][step]));
        bytes[k] = gnnc_run_bytes(b.run);
        end_world(&w);
        tear_down(&b);
    }
    ck_assert(memcmp(loss[0], loss[1], sizeof loss[0]) != 0);
    for (int step = 0; step < 10; step++)
        ck_assert_msg(fabs(loss[0][step] - loss[1][step]) < 0.01 * loss[0][step],
                      "step %d: %g, not %g", step, loss[1][step], loss[0][step]);
    ck_assert(loss[1][9] < loss[1][0]);
    int64_t most = _i ? bytes[0] * 7 / 10 : bytes[0];
    ck_assert_msg(bytes[1] < most, "%lld bytes, not less than %lld", (long long)bytes[1],
                  (long long)bytes[0]);
}
END_TEST

/* A state says what it was computed with, and what was computed with another thing refuses it.  A
 * lock may say it, as `gnnc tune --tolerance` writes one. */
START_TEST(states_know_their_precision)
{
    char path[] = "api-precision.XXXXXX", lock[] = "api-lock.XXXXXX";
    FILE *f = fdopen(mkstemp(lock), "w");
    ck_assert(f != NULL);
    fputs("gnnc tuning lock 1\nprecision mixed highest b of M\n", f);
    ck_assert_int_eq(fclose(f), 0);
    close(mkstemp(path));
    const gnnc_compile_options of[] = {
        {.train = true}, {.train = true, .precision = "mixed"}, {.train = true, .tune_lock = lock}};
    static const char *const words[] = {"float32", "mixed", "mixed, b in float32"};
    bench b[3];
    for (int k = 0; k < 3; k++) b[k] = set_up(plain, of[k], 1);
    for (int k = 0; k < 9; k++) {
        char says[128];
        ok(gnnc_state_save(b[k / 3].state, path));
        snprintf(says, sizeof says, "is of precision %s, not of %s", words[k / 3], words[k % 3]);
        if (k / 3 == k % 3)
            ok(gnnc_state_load(b[k % 3].state, path));
        else
            refused(gnnc_state_load(b[k % 3].state, path), GNNC_ERROR_DATA, says);
    }
    for (int k = 0; k < 3; k++) tear_down(&b[k]);
    gnnc_module *m;
    gnnc_executable *e;
    ok(gnnc_module_parse(NULL, plain, strlen(plain), NULL, &m));
    gnnc_compile_options o = {.size = sizeof o, .features = F, .classes = C, .tune_lock = lock};
    o.precision = "float32";
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE, "is for 'mixed'");
    o.precision = NULL;
    o.matmul_precision = "medium";
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE, "is for 'highest'");
    o.matmul_precision = NULL;
    f = fopen(lock, "w");
    ck_assert(f != NULL);
    fputs("gnnc tuning lock 1\nprecision mixed highest b of N\n", f);
    ck_assert_int_eq(fclose(f), 0);
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_DATA, ":2: is of model N, not of M");
    f = fopen(lock, "w");
    ck_assert(f != NULL);
    fputs("gnnc tuning lock 1\nprecision mixed highest convs.7 of M\n", f);
    ck_assert_int_eq(fclose(f), 0);
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE, "no layer 'convs.7'");
    f = fopen(lock, "w");
    ck_assert(f != NULL);
    fputs("gnnc tuning lock 1\nprecision mixed\n", f);
    ck_assert_int_eq(fclose(f), 0);
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_DATA, ":2");
    gnnc_module_free(m);
    unlink(lock);
    unlink(path);
}
END_TEST

START_TEST(refuses)
{
    gnnc_module *m;
    gnnc_executable *e;
    ok(gnnc_module_parse(NULL, plain, strlen(plain), NULL, &m));
    gnnc_compile_options o = {
        .size = sizeof o, .features = F, .classes = C, .gather_storage = "bfloat"};
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE,
            "there is no storage 'bfloat': float32, bfloat16 or float16; did you mean 'bfloat16'");
    o.gather_storage = NULL;
    o.precision = "mixed-f32";
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE,
            "there is no precision 'mixed-f32': float32, float64, mixed or mixed-f16; did you mean "
            "'mixed-f16'");
    gnnc_module_free(m);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    if (GNNC_HAVE_LLVM) {
        tcase_add_loop_test(t, rounds, 0, 8);
        tcase_add_loop_test(t, trains, 0, 3);
        tcase_add_test(t, states_know_their_precision);
    }
    tcase_add_test(t, refuses);
    tcase_set_timeout(t, 120);
    return RUN_CASES("api_storage", t);
}
