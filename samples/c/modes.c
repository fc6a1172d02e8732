/* Modes compared: what compiling and a call cost; graphs change, and results must agree.
 *
 *     cc modes.c $(pkg-config --cflags --libs gnnc) -o modes && ./modes gcn.gnn */
#include <gnnc/gnnc.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FEATURES = 32, CLASSES = 4, GRAPHS = 6, MOST = 4000, CALLS = 20 };

static void must(gnnc_status *s)
{
    if (s) exit((fprintf(stderr, "%s\n", gnnc_status_message(s)), 1));
}

static double now_us(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* A ring of n nodes with a chord from each. */
static gnnc_graph *ring(const gnnc_context *context, int n)
{
    static int32_t src[2 * MOST], dst[2 * MOST];
    gnnc_graph *g;
    for (int v = 0; v < n; v++) {
        dst[2 * v] = dst[2 * v + 1] = v;
        src[2 * v] = (v + 1) % n;
        src[2 * v + 1] = v * 7 % n;
    }
    must(gnnc_graph_from_coo(context, n, 2 * n, GNNC_INT32, src, dst, &g));
    return g;
}

/* Runs on all graphs: the fastest call for the largest of them, and its scores of node 0. */
static double run_all(gnnc_run *run, gnnc_graph *const *g, float *x, float *scores)
{
    double best = INFINITY;
    for (int k = 0; k < GRAPHS; k++) {
        int64_t shape[2] = {gnnc_graph_nodes(g[k]), FEATURES};
        DLTensor features = {x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0}, out;
        must(gnnc_run_bind_graph(run, g[k]));
        must(gnnc_run_bind(run, "x", &features));
        for (int i = 0; i < CALLS; i++) {
            double t0 = now_us();
            must(gnnc_run_infer(run));
            if (k == GRAPHS - 1) best = fmin(best, now_us() - t0);
        }
        must(gnnc_run_output(run, "out", &out));
        for (int c = 0; c < CLASSES; c++) scores[c] = ((float *)out.data)[c];
    }
    return best;
}

int main(int argc, char **argv)
{
    static const char *const modes[] = {"eager", "default", "reduce-overhead"};
    static const char *const dynamic[] = {"true", "auto", "false"};
    static float x[MOST * FEATURES];
    gnnc_context_options options = {.size = sizeof options, .cache = GNNC_CACHE_NONE};
    gnnc_context *context;
    gnnc_module *module;
    gnnc_graph *g[GRAPHS];
    float first[CLASSES], scores[CLASSES], apart = 0;
    if (argc < 2) return fprintf(stderr, "usage: modes model.gnn\n"), 2;
    must(gnnc_context_new(&options, &context));
    must(gnnc_module_read(context, argv[1], &module));
    for (int k = 0; k < GRAPHS; k++) g[k] = ring(context, MOST * (k + 1) / GRAPHS);
    for (int k = 0; k < MOST * FEATURES; k++) x[k] = (float)(k % 13) / 13;
    printf("%-16s %-8s %9s %11s %11s %9s\n", "mode", "dynamic", "programs", "recompiles",
           "compile ms", "call us");
    for (int k = 0; k < 9; k++) {
        gnnc_compile_options o = {.size = sizeof o, .features = FEATURES, .classes = CLASSES};
        o.mode = modes[k / 3];
        o.dynamic = dynamic[k % 3];
        gnnc_executable_info info = {.size = sizeof info};
        gnnc_executable *exe;
        gnnc_state *state;
        gnnc_run *run;
        must(gnnc_compile(module, &o, &exe));
        must(gnnc_state_new(exe, 0, &state));
        must(gnnc_run_new(exe, state, NULL, &run));
        double us = run_all(run, g, x, k ? scores : first);
        for (int c = 0; k && c < CLASSES; c++) {
            float d = fabsf(scores[c] - first[c]);
            if (isnan(d) || d > apart) apart = d; /* what is no number stays so */
        }
        gnnc_executable_describe(exe, &info);
        printf("%-16s %-8s %9d %11d", o.mode, o.dynamic, info.programs, info.recompiles);
        printf(" %11.1f %9.1f\n", info.all_compile_ms, us);
        gnnc_run_free(run);
        gnnc_state_free(state);
        gnnc_executable_free(exe);
    }
    printf("results are at most %g apart\n", (double)apart);
    for (int k = 0; k < GRAPHS; k++) gnnc_graph_free(g[k]);
    gnnc_module_free(module);
    gnnc_context_free(context);
    return !(apart <= 1e-5f);
}
