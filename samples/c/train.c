/* Training on graphs that change from call to call, as in sampling; then on from a saved state; and
 * on a graph that stays, where few labels are known.
 *
 *     cc train.c $(pkg-config --cflags --libs gnnc) -o train && ./train gcn.gnn [cuda] */
#include <gnnc/gnnc.h>

#include <stdio.h>
#include <stdlib.h>

enum { FEATURES = 4, CLASSES = 2, MOST = 400 };

static void must(gnnc_status *s)
{
    if (!s) return;
    fprintf(stderr, "%s\n", gnnc_status_message(s));
    gnnc_status_free(s);
    exit(1);
}

static uint32_t next(uint32_t *state) { return (*state = *state * 1664525u + 1013904223u) >> 8; }

/* Two communities: edges inside of them, features that tell them apart a little. */
static gnnc_graph *draw(const gnnc_context *context, uint32_t seed, int n, float *x, int32_t *y,
                        uint8_t *mask)
{
    static int32_t src[8 * MOST], dst[8 * MOST];
    gnnc_graph *g;
    for (int v = 0; v < n; v++) {
        y[v] = v % 2;
        mask[v] = 1;
        for (int k = 0; k < FEATURES; k++)
            x[v * FEATURES + k] = (float)(next(&seed) % 1000) / 1000 +
                                  (k == 0 ? 0.2f * (float)y[v] : 0);
        for (int k = 0; k < 8; k++) {
            src[8 * v + k] = (int32_t)(next(&seed) % (uint32_t)(n / 2)) * 2 + y[v];
            dst[8 * v + k] = v;
        }
    }
    must(gnnc_graph_from_coo(context, n, 8 * (int64_t)n, GNNC_INT32, src, dst, &g));
    return g;
}

static double step(const gnnc_context *context, gnnc_run *run, uint32_t seed)
{
    static float x[MOST * FEATURES];
    static int32_t y[MOST];
    static uint8_t mask[MOST];
    uint32_t draws = seed;
    int n = 100 + (int)(next(&draws) % 150) * 2;
    int64_t rows[2] = {n, FEATURES};
    gnnc_graph *g = draw(context, seed, n, x, y, mask);
    DLTensor tx = {x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, rows, NULL, 0};
    DLTensor ty = {y, {kDLCPU, 0}, 1, {kDLInt, 32, 1}, rows, NULL, 0};
    DLTensor tm = {mask, {kDLCPU, 0}, 1, {kDLBool, 8, 1}, rows, NULL, 0};
    double loss;
    must(gnnc_run_bind_graph(run, g));
    must(gnnc_run_bind(run, "x", &tx));
    must(gnnc_run_bind(run, "y", &ty));
    must(gnnc_run_bind(run, "train_mask", &tm));
    must(gnnc_run_step(run, &loss));
    gnnc_graph_free(g);
    return loss;
}

/* Data is bound once and said to stay: what depends on it alone is computed once, and a step
 * computes those rows alone that the labels which are known depend on. */
static void train_on_one(const gnnc_context *context, const gnnc_module *module)
{
    static float x[MOST * FEATURES];
    static int32_t y[MOST];
    static uint8_t mask[MOST];
    int64_t rows[2] = {MOST, FEATURES};
    gnnc_compile_options options = {.size = sizeof options,
                                    .features = FEATURES,
                                    .classes = CLASSES,
                                    .train = true,
                                    .fixed = true};
    gnnc_executable *exe;
    gnnc_state *state;
    gnnc_run *run;
    gnnc_run_info about = {.size = sizeof about};
    gnnc_program_info program = {.size = sizeof program};
    double loss;
    must(gnnc_compile(module, &options, &exe));
    must(gnnc_state_new(exe, 1, &state));
    must(gnnc_run_new(exe, state, NULL, &run));
    gnnc_graph *g = draw(context, 1, MOST, x, y, mask);
    for (int v = 0; v < MOST; v++) mask[v] = v % 100 < 2;
    DLTensor tx = {x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, rows, NULL, 0};
    DLTensor ty = {y, {kDLCPU, 0}, 1, {kDLInt, 32, 1}, rows, NULL, 0};
    DLTensor tm = {mask, {kDLCPU, 0}, 1, {kDLBool, 8, 1}, rows, NULL, 0};
    must(gnnc_run_bind_graph(run, g));
    must(gnnc_run_bind(run, "x", &tx));
    must(gnnc_run_bind(run, "y", &ty));
    must(gnnc_run_bind(run, "train_mask", &tm));
    for (int k = 0; k < 100; k++) must(gnnc_run_step(run, &loss));
    gnnc_run_describe(run, &about);
    must(gnnc_executable_program(exe, about.program, &program));
    printf("one graph, 8 labels of %d: loss %.4f, %d levels of picked rows\n", MOST, loss,
           program.levels);
    gnnc_graph_free(g);
    gnnc_run_free(run);
    gnnc_state_free(state);
    gnnc_executable_free(exe);
}

int main(int argc, char **argv)
{
    if (argc < 2) return fprintf(stderr, "usage: train model.gnn [cpu|cuda|cuda:N|auto]\n"), 2;
    gnnc_context *context;
    gnnc_context_options where = {.size = sizeof where, .device = argc > 2 ? argv[2] : "cpu"};
    gnnc_device_info device = {.size = sizeof device};
    gnnc_module *module;
    gnnc_executable *exe;
    gnnc_state *state, *again;
    gnnc_run *run, *rerun;
    gnnc_compile_options options = {
        .size = sizeof options, .features = FEATURES, .classes = CLASSES, .train = true};
    must(gnnc_context_new(&where, &context));
    gnnc_context_device(context, &device);
    printf("on %s\n", device.name);
    must(gnnc_module_read(context, argv[1], &module));
    must(gnnc_compile(module, &options, &exe));
    must(gnnc_state_new(exe, 1, &state));
    must(gnnc_run_new(exe, state, NULL, &run));
    for (uint32_t k = 0; k < 100; k++) {
        double loss = step(context, run, k);
        if (k % 20 == 0) printf("step %3u  loss %.4f\n", k, loss);
    }
    must(gnnc_state_save(state, "train.state"));
    must(gnnc_state_new(exe, 2, &again));
    must(gnnc_state_load(again, "train.state"));
    must(gnnc_run_new(exe, again, NULL, &rerun));
    double one = step(context, run, 100), other = step(context, rerun, 100);
    printf("step 100  loss %.9g, after a restart %.9g\n", one, other);
    remove("train.state");
    train_on_one(context, module);
    gnnc_run_free(rerun);
    gnnc_run_free(run);
    gnnc_state_free(again);
    gnnc_state_free(state);
    gnnc_executable_free(exe);
    gnnc_module_free(module);
    gnnc_context_free(context);
    return one != other;
}
