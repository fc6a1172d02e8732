/* Serving: a model compiled once answers for graphs of any size.
 *
 *     cc serve.c $(pkg-config --cflags --libs gnnc) -o serve && ./serve gcn.gnn
 *     [weights.safetensors] */
#include <gnnc/gnnc.h>

#include <stdio.h>
#include <stdlib.h>

enum { FEATURES = 8, CLASSES = 3 };

static void must(gnnc_status *s)
{
    if (!s) return;
    fprintf(stderr, "%s\n", gnnc_status_message(s));
    gnnc_status_free(s);
    exit(1);
}

/* A ring of n nodes, edges both ways. */
static gnnc_graph *ring(int n)
{
    int32_t *ends = malloc(4 * (size_t)n * sizeof *ends), *src = ends, *dst = ends + 2 * n;
    gnnc_graph *g;
    for (int v = 0; v < n; v++) {
        src[2 * v] = dst[2 * v + 1] = v;
        dst[2 * v] = src[2 * v + 1] = (v + 1) % n;
    }
    must(gnnc_graph_from_coo(NULL, n, 2 * n, GNNC_INT32, src, dst, &g));
    free(ends);
    return g;
}

static void answer(gnnc_run *run, int n)
{
    gnnc_graph *g = ring(n);
    float *x = malloc((size_t)n * FEATURES * sizeof *x);
    for (int k = 0; k < n * FEATURES; k++) x[k] = (float)(k % 7) / 7;
    int64_t shape[2] = {n, FEATURES};
    DLTensor features = {x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0}, out;
    must(gnnc_run_bind_graph(run, g));
    must(gnnc_run_bind(run, "x", &features));
    must(gnnc_run_infer(run));
    must(gnnc_run_output(run, "out", &out));
    const float *row = out.data;
    printf("%6d nodes: node 0 scores", n);
    for (int64_t c = 0; c < out.shape[1]; c++) printf(" %8.4f", (double)row[c]);
    printf("\n");
    gnnc_graph_free(g);
    free(x);
}

int main(int argc, char **argv)
{
    if (argc < 2) return fprintf(stderr, "usage: serve model.gnn [weights.safetensors]\n"), 2;
    gnnc_module *module;
    gnnc_executable *exe;
    gnnc_state *state;
    gnnc_run *run;
    gnnc_compile_options options = {
        .size = sizeof options, .features = FEATURES, .classes = CLASSES};
    gnnc_executable_info info = {.size = sizeof info};
    must(gnnc_module_read(NULL, argv[1], &module));
    must(gnnc_compile(module, &options, &exe));
    must(gnnc_state_new(exe, 0, &state));
    if (argc > 2) must(gnnc_state_load_weights(state, argv[2]));
    must(gnnc_run_new(exe, state, NULL, &run));
    gnnc_executable_describe(exe, &info);
    printf("%s: %d kernels in %.1f ms\n", info.model, info.kernels, info.compile_ms);
    for (int n = 3; n < 100000; n *= 7) answer(run, n);
    gnnc_run_free(run);
    gnnc_state_free(state);
    gnnc_executable_free(exe);
    gnnc_module_free(module);
    return 0;
}
