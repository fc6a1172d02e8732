/* A model without gnnc: compiled ahead of time, it answers for graphs of any size and learns from
 * one.
 *
 *     gnnc ../gcn.gnn -o gcn.o --header gcn.h && cc ahead.c gcn.o -lm -o ahead && ./ahead
 *
 * gcn.h says what there is.  Without --data the model has the shapes of the built-in graph;
 * --weights FILE.safetensors puts trained weights into gcn.o, --inference leaves the training step
 * out, --cpu x86-64-v3 makes it run elsewhere. */
#include "gcn.h"

#include <stdio.h>
#include <stdlib.h>

static void must(gcn_model *m, int code)
{
    if (!code) return;
    fprintf(stderr, "%s\n", gcn_message(m));
    exit(1);
}

/* A ring of n nodes, edges both ways. */
static void bind_ring(gcn_model *m, int64_t n)
{
    int64_t *src = malloc(4 * (size_t)n * sizeof *src), *dst = src + 2 * n;
    for (int64_t v = 0; v < n; v++) {
        src[2 * v] = dst[2 * v + 1] = v;
        dst[2 * v] = src[2 * v + 1] = (v + 1) % n;
    }
    must(m, gcn_graph_coo(m, n, 2 * n, src, dst)); /* copies */
    free(src);
}

/* The ring's quarters are the classes, and show in every fourth feature. */
static int quarter(int64_t v, int64_t n) { return (int)(v * GCN_OUT_COLUMNS / n); }

static float *features(int64_t n)
{
    float *x = malloc((size_t)n * GCN_X_COLUMNS * sizeof *x);
    for (int64_t v = 0; v < n; v++)
        for (int c = 0; c < GCN_X_COLUMNS; c++)
            x[v * GCN_X_COLUMNS + c] = c % GCN_OUT_COLUMNS == quarter(v, n);
    return x;
}

static void answer(gcn_model *m, int64_t n)
{
    float *x = features(n);
    bind_ring(m, n);
    must(m, gcn_bind_x(m, n, x)); /* borrows */
    must(m, gcn_infer(m));
    const float *scores = gcn_output_out(m, NULL);
    printf("%6lld nodes: node 0 scores", (long long)n);
    for (int c = 0; c < GCN_OUT_COLUMNS; c++) printf(" %8.4f", (double)scores[c]);
    printf("\n");
    free(x);
}

static void learn(gcn_model *m, int64_t n, int steps)
{
    float *x = features(n);
    int32_t *y = malloc((size_t)n * sizeof *y);
    uint8_t *mask = malloc((size_t)n);
    double loss = 0;
    for (int64_t v = 0; v < n; v++) {
        y[v] = quarter(v, n);
        mask[v] = v % 3 == 0;
    }
    bind_ring(m, n);
    must(m, gcn_bind_x(m, n, x));
    must(m, gcn_bind_y(m, n, y));
    must(m, gcn_bind_train_mask(m, n, mask));
    for (int k = 1; k <= steps; k++) {
        must(m, gcn_train_step(m, &loss));
        if (k == 1 || k == steps) printf("step %3d: loss %.4f\n", k, loss);
    }
    free(x);
    free(y);
    free(mask);
}

int main(void)
{
    gcn_model *m;
    int code = gcn_new(1, 0, &m); /* one thread, seed 0 */
    must(m, code);                /* GCN_ERROR_CPU: not on this processor */
    learn(m, 60, 100);
    for (int64_t n = 3; n < 100000; n *= 7) answer(m, n);
    gcn_free(m);
    return 0;
}
