/* A model compiled ahead of time, in a child of the process that opened it: first_*, of inputs x
 * alone. */
#include "first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NODES = 5000, EDGES = 60000 };

static int fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    return 1;
}

static int same(first_model *m, const float *want)
{
    int64_t rows = 0;
    if (first_infer(m)) return 0;
    const float *out = first_output_out(m, &rows);
    return out && !memcmp(out, want, NODES * FIRST_OUT_COLUMNS * sizeof *out);
}

int main(void)
{
    int64_t *src = malloc(EDGES * sizeof *src), *dst = malloc(EDGES * sizeof *dst);
    float *x = calloc((size_t)NODES * FIRST_X_COLUMNS, sizeof *x), *want;
    for (int k = 0; k < EDGES; k++) src[k] = k * 7919ll % NODES, dst[k] = k * 31ll % NODES;
    for (int k = 0; k < NODES; k++) x[k * FIRST_X_COLUMNS] = (float)(k % 7);
    want = malloc(NODES * FIRST_OUT_COLUMNS * sizeof *want);
    for (int threads = 1; threads <= 3; threads++) {
        first_model *m, *own;
        int status = 0;
        if (first_new(threads, 0, &m) || first_graph_coo(m, NODES, EDGES, src, dst) ||
            first_bind_x(m, NODES, x) || first_infer(m))
            return fail(first_message(m));
        memcpy(want, first_output_out(m, NULL), NODES * FIRST_OUT_COLUMNS * sizeof *want);
        for (int frees = 0; frees < 2; frees++) {
            pid_t child = fork();
            if (!child) {
                alarm(60);
                if (!frees && (!same(m, want) || !same(m, want))) _exit(2);
                if (!frees && (first_share(m, threads, &own) ||
                               first_graph_coo(own, NODES, EDGES, src, dst) ||
                               first_bind_x(own, NODES, x) || !same(own, want)))
                    _exit(3);
                if (!frees) first_free(own);
                first_free(m);
                _exit(0);
            }
            if (waitpid(child, &status, 0) != child || status)
                return fail("the child did not end well");
        }
        if (!same(m, want)) return fail("the parent's results are others after a fork");
        first_free(m);
    }
    puts("forks");
    return 0;
}
