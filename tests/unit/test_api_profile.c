/* Profiles by the public API: rows of layers, lines and kernels of the calls that were timed, which
 * add up to the same; results are the same bits. */
#include "unit/api_world.h"

static const char model[] = "model M() (g: graph, x: node[F]) -> node[C] {\n"
                            "  first = GCNConv(4)\n  second = SAGEConv(C)\n"
                            "  return second(g, tanh(first(g, x)))\n}\n"
                            "train M {\n  loss = cross_entropy(M(g, x), y) over train_mask\n"
                            "  optimizer = sgd(lr = 0.1)\n}\n";

enum { N = 60, EDGES = 300 };

/* Microseconds of all rows; *found: one whose name begins so, of that part. */
static double sum_of(gnnc_run *r, const char *program, const char *by, const char *name,
                     const char *part, bool *found)
{
    double sum = 0, last = 1e300;
    *found = false;
    for (int k = 0;; k++) {
        gnnc_profile_row row = {.size = sizeof row};
        gnnc_status *s = gnnc_run_profile_row(r, program, by, k, &row);
        if (s) {
            refused(s, GNNC_ERROR_USAGE, "there are");
            ck_assert_int_gt(k, 0);
            return sum;
        }
        ck_assert_double_le(row.us, last);
        ck_assert(row.wait_us >= 0 && row.wait_us <= row.us * 1.000001);
        ck_assert(row.calls > 0 && row.kernels > 0 && row.bound_us >= 0 && *row.bound_by);
        *found = *found || (!strncmp(row.name, name, strlen(name)) && !strcmp(row.part, part));
        last = row.us;
        sum += row.us;
    }
}

static void check_rows(gnnc_run *r, const char *program, bool step)
{
    bool found;
    double layers = sum_of(r, program, "layer", "first", "forward", &found);
    ck_assert(found && layers > 0);
    (void)sum_of(r, program, "layer", "first", "backward", &found);
    ck_assert(found == step);
    double lines = sum_of(r, program, "line", "m.gnn:4", "forward", &found);
    ck_assert(found);
    double kernels = sum_of(r, program, "kernel", "", "", &found);
    ck_assert_double_eq_tol(lines, layers, 1e-6 * layers);
    ck_assert_double_eq_tol(kernels, layers, 1e-6 * layers);
}

START_TEST(rows_add_up)
{
    bench usual = set_up(model, (gnnc_compile_options){.train = true}, _i),
          timed = set_up(model, (gnnc_compile_options){.train = true}, _i);
    world w = make_world(3, N, EDGES);
    gnnc_profile_row row = {.size = sizeof row};
    bind_world(usual.run, &w, true);
    bind_world(timed.run, &w, true);
    refused(gnnc_run_profile_row(timed.run, "step", "layer", 0, &row), GNNC_ERROR_USAGE,
            "no call of 'step' was timed");
    ok(gnnc_run_profile(timed.run, true));
    for (int k = 0; k < 4; k++) {
        double a, b;
        ok(gnnc_run_step(usual.run, &a));
        ok(gnnc_run_step(timed.run, &b));
        ck_assert(a == b);
    }
    float *a = infer(usual.run, N), *b = infer(timed.run, N);
    ck_assert(!memcmp(a, b, N * C * sizeof *a));
    check_rows(timed.run, "step", true);
    check_rows(timed.run, "infer", false);
    refused(gnnc_run_profile_row(timed.run, "steps", "layer", 0, &row), GNNC_ERROR_USAGE,
            "program: unknown 'steps'");
    refused(gnnc_run_profile_row(timed.run, "step", "layers", 0, &row), GNNC_ERROR_USAGE,
            "by: unknown 'layers'");
    refused(gnnc_run_profile_row(timed.run, "step", "layer", -1, &row), GNNC_ERROR_USAGE, "row -1");
    ok(gnnc_run_profile(timed.run, false));
    ok(gnnc_run_step(timed.run, NULL));
    refused(gnnc_run_profile_row(timed.run, "step", "layer", 0, &row), GNNC_ERROR_USAGE,
            "no call of 'step' was timed");
    free(a);
    free(b);
    end_world(&w);
    tear_down(&usual);
    tear_down(&timed);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    if (GNNC_HAVE_LLVM) tcase_add_loop_test(t, rows_add_up, 1, 3);
    tcase_set_timeout(t, 100);
    return RUN_CASES("api_profile", t);
}
