/* Training with a loss and an optimizer of one's own: weights in memory of the program's, gradients
 * from gnnc.
 *
 *     cc gradients.c $(pkg-config --cflags --libs gnnc) -lm -o gradients && ./gradients gcn.gnn */
#include <gnnc/gnnc.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 400, FEATURES = 4, CLASSES = 2, EDGES = 8 * NODES, STEPS = 200, MOST = 16 };

static void must(gnnc_status *s)
{
    if (!s) return;
    fprintf(stderr, "%s\n", gnnc_status_message(s));
    gnnc_status_free(s);
    exit(1);
}

static uint32_t next(uint32_t *state) { return (*state = *state * 1664525u + 1013904223u) >> 8; }

static float x[NODES * FEATURES];
static int y[NODES];
static int32_t src[EDGES], dst[EDGES];

/* Two communities: edges inside of them, features that tell them apart a little. */
static void draw(void)
{
    uint32_t seed = 1;
    for (int v = 0; v < NODES; v++) {
        y[v] = v % 2;
        for (int k = 0; k < FEATURES; k++)
            x[v * FEATURES + k] = (float)(next(&seed) % 1000) / 1000 +
                                  (k == 0 ? 0.2f * (float)y[v] : 0);
        for (int k = 0; k < 8; k++) {
            src[8 * v + k] = (int32_t)(next(&seed) % (NODES / 2)) * 2 + y[v];
            dst[8 * v + k] = v;
        }
    }
}

/* A parameter, its shape and strides, and what momentum keeps of its gradients. */
typedef struct weight {
    const char *name;
    DLTensor t;
    int64_t numbers[16], n;
    float *speed;
} weight;

/* Copies of the state's weights, as they lie there, take its place. */
static int own_weights(gnnc_executable *exe, gnnc_state *state, gnnc_run *run, weight *w)
{
    gnnc_executable_info info = {.size = sizeof info};
    gnnc_executable_describe(exe, &info);
    for (int k = 0; k < info.parameters && k < MOST; k++) {
        must(gnnc_state_weight(state, k, &w[k].name, &w[k].t, w[k].numbers));
        w[k].n = 1;
        for (int d = 0; d < w[k].t.ndim; d++) w[k].n *= w[k].t.shape[d];
        void *mine = malloc(sizeof(float) * (size_t)w[k].n);
        w[k].speed = calloc((size_t)w[k].n, sizeof(float));
        if (!mine || !w[k].speed) exit(1);
        memcpy(mine, w[k].t.data, sizeof(float) * (size_t)w[k].n);
        w[k].t.data = mine;
        must(gnnc_run_bind_weight(run, w[k].name, &w[k].t));
    }
    return info.parameters < MOST ? info.parameters : MOST;
}

/* The mean of -log softmax at each node's class; its gradient is the scores' cotangent. */
static double cross_entropy(const float *scores, float *cotangent, int *right)
{
    double loss = 0;
    *right = 0;
    for (int v = 0; v < NODES; v++) {
        double a = (double)scores[2 * v], b = (double)scores[2 * v + 1], p = 1 / (1 + exp(a - b));
        double of_class = y[v] ? p : 1 - p;
        loss -= log(of_class) / NODES;
        *right += of_class > 0.5;
        cotangent[2 * v + 1] = (float)((p - y[v]) / NODES);
        cotangent[2 * v] = -cotangent[2 * v + 1];
    }
    return loss;
}

int main(int argc, char **argv)
{
    static float scores[NODES * CLASSES], cotangent[NODES * CLASSES];
    int64_t rows[] = {NODES, FEATURES}, of_nodes[] = {NODES, CLASSES};
    DLTensor tx = {x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, rows, NULL, 0},
             out = {scores, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, of_nodes, NULL, 0}, ct = out;
    const DLTensor *cotangents[] = {&ct};
    gnnc_compile_options options = {
        .size = sizeof options, .features = FEATURES, .classes = CLASSES, .gradients = "weights"};
    gnnc_module *module;
    gnnc_executable *exe;
    gnnc_state *state;
    gnnc_run *run;
    gnnc_graph *graph;
    weight w[MOST];
    double first = 0, loss = 0;
    int right = 0;
    ct.data = cotangent;
    draw();
    must(gnnc_module_read(NULL, argc > 1 ? argv[1] : "gcn.gnn", &module));
    must(gnnc_compile(module, &options, &exe));
    must(gnnc_state_new(exe, 0, &state));
    must(gnnc_run_new(exe, state, NULL, &run));
    must(gnnc_graph_from_coo(NULL, NODES, EDGES, GNNC_INT32, src, dst, &graph));
    must(gnnc_run_bind_graph(run, graph));
    must(gnnc_run_bind(run, "x", &tx));
    must(gnnc_run_bind_output(run, "out", &out));
    int n = own_weights(exe, state, run, w);
    for (int step = 0; step < STEPS; step++) {
        must(gnnc_run_forward(run));
        loss = cross_entropy(scores, cotangent, &right);
        if (step == 0) first = loss;
        must(gnnc_run_backward(run, 1, cotangents));
        for (int k = 0; k < n; k++) { /* which lies as the weight does */
            DLTensor g;
            must(gnnc_run_gradient(run, w[k].name, &g));
            for (int64_t i = 0; i < w[k].n; i++) {
                w[k].speed[i] = 0.9f * w[k].speed[i] + ((const float *)g.data)[i];
                ((float *)w[k].t.data)[i] -= 0.2f * w[k].speed[i];
            }
        }
    }
    must(gnnc_run_infer(run)); /* without dropout */
    loss = cross_entropy(scores, cotangent, &right);
    printf("%d steps: loss %.3f, at first %.3f; %d of %d right\n", STEPS, loss, first, right,
           NODES);
    gnnc_run_free(run);
    for (int k = 0; k < n; k++) free(w[k].t.data), free(w[k].speed);
    gnnc_graph_free(graph);
    gnnc_state_free(state);
    gnnc_executable_free(exe);
    gnnc_module_free(module);
    return 0;
}
