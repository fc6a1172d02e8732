/* Tuning: the first calls search for schedules that suit the graph, and a lock file pins what they
 * found.
 *
 *     cc tune.c $(pkg-config --cflags --libs gnnc) -o tune && ./tune gcn.gnn */
#include <gnnc/gnnc.h>

#include <stdio.h>
#include <stdlib.h>

enum { NODES = 3000, EDGES = 30000, FEATURES = 64, CLASSES = 8 };

static void must(gnnc_status *s)
{
    if (!s) return;
    fprintf(stderr, "%s\n", gnnc_status_message(s));
    gnnc_status_free(s);
    exit(1);
}

static void say(void *user, gnnc_log_level level, const char *topic, const char *text)
{
    (void)user, (void)level;
    printf("  %s: %s\n", topic, text);
}

/* Infers and takes a training step with schedules as the options say; what was chosen. */
static void run(const gnnc_context *context, const char *path, gnnc_compile_options o,
                const char *save)
{
    static int32_t src[EDGES], dst[EDGES], y[NODES];
    static uint8_t mask[NODES];
    static float x[NODES * FEATURES];
    uint32_t draw = 7;
    for (int k = 0; k < EDGES; k++) {
        src[k] = (int32_t)((draw = draw * 1664525u + 1013904223u) % NODES);
        dst[k] = k % NODES;
    }
    for (int k = 0; k < NODES * FEATURES; k++)
        x[k] = (float)((draw = draw * 1664525u + 1013904223u) >> 8) * 0x1p-24f;
    for (int v = 0; v < NODES; v++) y[v] = v % CLASSES;
    for (int v = 0; v < NODES; v++) mask[v] = v % 10 == 0;
    gnnc_module *module;
    gnnc_executable *exe;
    gnnc_state *state;
    gnnc_run *r;
    gnnc_graph *g;
    double loss;
    int64_t shape[2] = {NODES, FEATURES};
    DLTensor tx = {x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0};
    DLTensor ty = {y, {kDLCPU, 0}, 1, {kDLInt, 32, 1}, shape, NULL, 0};
    DLTensor tm = {mask, {kDLCPU, 0}, 1, {kDLBool, 8, 1}, shape, NULL, 0};
    o.size = sizeof o;
    o.features = FEATURES;
    o.classes = CLASSES;
    o.train = true;
    must(gnnc_module_read(context, path, &module));
    must(gnnc_compile(module, &o, &exe));
    must(gnnc_state_new(exe, 0, &state));
    must(gnnc_run_new(exe, state, NULL, &r));
    must(gnnc_graph_from_coo(context, NODES, EDGES, GNNC_INT32, src, dst, &g));
    must(gnnc_run_bind_graph(r, g));
    must(gnnc_run_bind(r, "x", &tx));
    must(gnnc_run_bind(r, "y", &ty));
    must(gnnc_run_bind(r, "train_mask", &tm));
    must(gnnc_run_infer(r));       /* chooses for inference, */
    must(gnnc_run_step(r, &loss)); /* and for training: later calls only compute */
    gnnc_run_info about = {.size = sizeof about};
    gnnc_run_describe(r, &about);
    for (int step = 0; step < 2; step++) {
        gnnc_tuning_info t = {.size = sizeof t};
        must(gnnc_executable_tuning(exe, about.program, step, &t));
        printf("%-9s %8.1f us, the default %8.1f us: %s\n", step ? "step" : "inference", t.best_us,
               t.default_us, *t.choices ? t.choices : "as rules say");
    }
    if (save) must(gnnc_executable_lock(exe, save));
    gnnc_graph_free(g);
    gnnc_run_free(r);
    gnnc_state_free(state);
    gnnc_executable_free(exe);
    gnnc_module_free(module);
}

int main(int argc, char **argv)
{
    gnnc_context *context;
    gnnc_context_options options = {
        .size = sizeof options, .cache = GNNC_CACHE_NONE, .topics = "tuning", .log = say};
    if (argc < 2) return fprintf(stderr, "usage: tune model.gnn\n"), 2;
    must(gnnc_context_new(&options, &context));
    run(context, argv[1], (gnnc_compile_options){.mode = "max-autotune", .tune_budget_ms = 300},
        "tune.lock");
    printf("the same from the lock:\n");
    run(context, argv[1], (gnnc_compile_options){.tune_lock = "tune.lock"}, NULL);
    remove("tune.lock");
    gnnc_context_free(context);
    return 0;
}
