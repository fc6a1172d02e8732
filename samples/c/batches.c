/* Batches: a large graph, trained a few nodes and edges at a time, and one node of it served.
 *
 *     cc batches.c $(pkg-config --cflags --libs gnnc) -o batches && ./batches sage.gnn */
#include <gnnc/gnnc.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { NODES = 40000, DEGREE = 12, FEATURES = 16, CLASSES = 4, BATCH = 256, STEPS = 120 };

static void must(gnnc_status *s)
{
    if (!s) return;
    fprintf(stderr, "%s\n", gnnc_status_message(s));
    gnnc_status_free(s);
    exit(1);
}

static uint32_t next(uint32_t *state) { return (*state = *state * 1664525u + 1013904223u) >> 8; }

static double now_ms(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static float x[NODES * FEATURES];
static int32_t y[NODES], src[NODES * DEGREE], dst[NODES * DEGREE];

/* Four communities, whose features tell them apart a little. */
static gnnc_graph *draw(void)
{
    uint32_t seed = 1;
    gnnc_graph *g;
    for (int v = 0; v < NODES; v++) {
        y[v] = v % CLASSES;
        for (int k = 0; k < FEATURES; k++)
            x[v * FEATURES + k] = (float)(next(&seed) % 1000) / 1000 + (k == y[v] ? 0.1f : 0.0f);
        for (int k = 0; k < DEGREE; k++) {
            int u = (int)(next(&seed) % NODES);
            src[v * DEGREE + k] = next(&seed) % 4 ? u - u % CLASSES + y[v] : u;
            dst[v * DEGREE + k] = v;
        }
    }
    must(gnnc_graph_from_coo(NULL, NODES, NODES * DEGREE, GNNC_INT32, src, dst, &g));
    return g;
}

static void bind(gnnc_run *run, const gnnc_graph *g)
{
    int64_t rows[2] = {NODES, FEATURES};
    DLTensor tx = {x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, rows, NULL, 0};
    DLTensor ty = {y, {kDLCPU, 0}, 1, {kDLInt, 32, 1}, rows, NULL, 0};
    must(gnnc_run_bind_graph(run, g));
    must(gnnc_run_bind(run, "x", &tx));
    must(gnnc_run_bind(run, "y", &ty));
}

static int best(const float *score)
{
    int k = 0;
    for (int c = 1; c < CLASSES; c++) k = score[c] > score[k] ? c : k;
    return k;
}

/* What it says of some nodes, and how long it takes. */
static void serve(gnnc_run *run, int64_t n, const int64_t *node)
{
    DLTensor out;
    double begun = now_ms();
    int right = 0;
    must(gnnc_run_rows(run, n, node));
    must(gnnc_run_infer(run));
    must(gnnc_run_output(run, "out", &out));
    double ms = now_ms() - begun;
    for (int64_t k = 0; k < n; k++) right += best((float *)out.data + k * CLASSES) == y[node[k]];
    printf("%lld nodes served in %.2f ms, %d of them right\n", (long long)n, ms, right);
}

int main(int argc, char **argv)
{
    if (argc < 2) return fprintf(stderr, "usage: batches model.gnn\n"), 2;
    const int64_t fanout[] = {10, 5};
    gnnc_compile_options options = {.size = sizeof options,
                                    .features = FEATURES,
                                    .classes = CLASSES,
                                    .train = true,
                                    .by_rows = true,
                                    .fanout = fanout,
                                    .n_fanout = 2};
    gnnc_module *module;
    gnnc_executable *exe;
    gnnc_state *state;
    gnnc_run *run;
    gnnc_graph *g = draw();
    uint32_t seed = 7;
    must(gnnc_module_read(NULL, argv[1], &module));
    must(gnnc_compile(module, &options, &exe));
    must(gnnc_state_new(exe, 0, &state));
    must(gnnc_run_new(exe, state, NULL, &run));
    bind(run, g);
    double begun = now_ms(), sum = 0;
    int64_t batch[2][BATCH]; /* while one is trained on the next is prepared */
    for (int k = 0; k < BATCH; k++) batch[0][k] = (int64_t)(next(&seed) % NODES);
    for (int step = 0; step < STEPS; step++) {
        int64_t *now = batch[step % 2], *then = batch[(step + 1) % 2];
        double loss;
        for (int k = 0; k < BATCH; k++) then[k] = (int64_t)(next(&seed) % NODES);
        must(gnnc_run_rows(run, BATCH, now));
        must(gnnc_run_ahead(run, BATCH, then));
        must(gnnc_run_step(run, &loss));
        sum += loss;
        if (step % 30 == 29) {
            printf("loss %.3f\n", sum / 30);
            sum = 0;
        }
    }
    printf("%d batches of %d nodes, %.1f ms each\n", STEPS, BATCH, (now_ms() - begun) / STEPS);
    int64_t node[200];
    for (int k = 0; k < 200; k++) node[k] = (int64_t)(next(&seed) % NODES);
    serve(run, 1, node);
    serve(run, 1, node + 1);
    serve(run, 200, node);
    gnnc_run_free(run);
    gnnc_graph_free(g);
    gnnc_state_free(state);
    gnnc_executable_free(exe);
    gnnc_module_free(module);
    return 0;
}
