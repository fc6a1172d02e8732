/* What do relations cost?  The same edges, dealt out to more and more relations between the same
 * rows: y = the sum over relations of the sums of x over their edges.  The fastest tenth of the
 * times; prints a line a number of relations.
 *
 *   relations [ROWS [EDGES [COLUMNS [THREADS [WITHOUT]]]]]
 *
 * WITHOUT: decisions that are switched off, as `gnnc --without` has them. */
#include "base/clock.h"
#include "compile/compile.h"
#include "runtime/graph/graph.h"
#include "runtime/run/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 200, RUNS = 60 };

typedef struct setup {
    int64_t rows, edges, columns;
    int threads, relations;
    gn_without without;
} setup;

static void stop(gn_status *s)
{
    if (!s) return;
    fprintf(stderr, "%s\n", gn_status_message(s));
    exit(1);
}

static uint32_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static gir_program *program(gn_arena *a, const setup *s)
{
    gir_program *p = gir_program_new(a, "relations");
    gir_space_id node = gir_space_add(p, "node", GIR_NODE, -1);
    gir_id g[MOST], sum = 0;
    for (int k = 0; k < s->relations; k++)
        g[k] = gir_graph(p, gn_arena_printf(a, "r%d", k), node, node);
    gir_type t = gir_tensor(GN_F32, node, 1, &s->columns);
    gir_attr name = {.name = "x"};
    gir_id x = gir_make(p, GIR_INPUT, 0, NULL, &name, &t, NULL);
    for (int k = 0; k < s->relations; k++) {
        gir_attr src = {.i = {GIR_SRC}}, dst = {.i = {GIR_DST, GIR_SUM}};
        gir_id m = gir_make(p, GIR_GATHER, 2, (const gir_id[]){g[k], x}, &src, NULL, NULL);
        gir_id v = gir_make(p, GIR_SCATTER, 2, (const gir_id[]){g[k], m}, &dst, NULL, NULL);
        sum = sum ? gir_op2(p, GIR_ADD, sum, v) : v;
    }
    gir_output_add(p, GIR_OUTPUT, "y", sum);
    return p;
}

/* Edge e of all is of relation e modulo their number. */
static void make_graphs(gn_arena *a, const setup *s, gn_graph_binding *b)
{
    int32_t *src = malloc((size_t)s->edges * 4), *dst = malloc((size_t)s->edges * 4);
    int32_t *one = malloc((size_t)s->edges * 8);
    uint64_t state = 7;
    for (int64_t e = 0; e < s->edges; e++) {
        src[e] = (int32_t)(next(&state) % (uint32_t)s->rows);
        dst[e] = (int32_t)(next(&state) % (uint32_t)s->rows);
    }
    for (int k = 0; k < s->relations; k++) {
        int64_t n = 0;
        for (int64_t e = k; e < s->edges; e += s->relations, n++)
            one[n] = src[e], one[s->edges + n] = dst[e];
        b[k].name = gn_arena_printf(a, "r%d", k);
        stop(gn_graph_from_coo(GN_I32, s->rows, s->rows, n, GN_I32, one, one + s->edges,
                               &b[k].graph));
    }
    free(src);
    free(dst);
    free(one);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double time_runs(gn_instance *in)
{
    double t[RUNS], begin = gn_now_ms();
    int n = 0;
    while (n < RUNS && (n < 7 || gn_now_ms() - begin < 4000)) {
        double from = gn_now_ms();
        gn_instance_run(in);
        t[n++] = gn_now_ms() - from;
    }
    qsort(t, (size_t)n, sizeof *t, ascending);
    return t[n / 10];
}

static double measure(const setup *s, double *sum, int *launches)
{
    gn_arena a;
    gn_arena_init(&a);
    gn_graph_binding g[MOST] = {{0}};
    low_hint hints[MOST] = {{0}};
    make_graphs(&a, s, g);
    for (int k = 0; k < s->relations; k++)
        hints[k] = (low_hint){.name = g[k].name,
                              .n_src = s->rows,
                              .n_dst = s->rows,
                              .n_edge = s->edges / s->relations};
    gn_compile_options o = {
        .index = GN_I32, .n_hints = s->relations, .hints = hints, .hints_hold = true};
    o.pass = (gn_pass_options){.limit = -1, .without = s->without};
    o.code = (gn_codegen_options){.opt_level = 1, .threads = 1, .off = s->without.decisions};
    gn_compiled *c;
    gn_image *image;
    gn_code_report report;
    gn_pool *pool;
    gn_instance *in;
    stop(gn_compile(&a, program(&a, s), &o, NULL, &c));
    stop(gn_compile_code(&a, 1, &c, &o.code, &image, &report));
    stop(gn_pool_new(s->threads, &pool));
    float *x = aligned_alloc(64, (size_t)(s->rows * s->columns * 4 + 63) / 64 * 64);
    uint64_t state = 3;
    for (int64_t i = 0; i < s->rows * s->columns; i++) x[i] = (float)(next(&state) % 1000) * 1e-3f;
    gn_binding t = {"x", GN_F32, s->rows, s->columns, x};
    stop(gn_instance_new(c->artifact, s->relations, g, 1, &t, pool, NULL, &in));
    double ms = time_runs(in);
    const float *y = gn_instance_output(in, "y", NULL);
    *sum = 0;
    for (int64_t i = 0; i < s->rows * s->columns; i++) *sum += (double)y[i];
    *launches = c->artifact->n_launches;
    gn_instance_free(in);
    gn_pool_free(pool);
    gn_image_free(image);
    for (int k = 0; k < s->relations; k++) gn_graph_free(g[k].graph);
    free(x);
    gn_arena_free(&a);
    return ms;
}

int main(int argc, char **argv)
{
    static const int relations[] = {1, 2, 8, 30, 200};
    int64_t number[] = {20000, 4000000, 64, 1};
    setup s = {.rows = 0};
    gn_arena a;
    gn_arena_init(&a);
    for (int k = 1; k < argc && k < 5; k++) number[k - 1] = strtoll(argv[k], NULL, 10);
    if (argc > 5) stop(gn_without_add(&a, argv[5], false, &s.without));
    s.rows = number[0];
    s.edges = number[1];
    s.columns = number[2];
    s.threads = (int)number[3];
    double first = 0;
    printf("%lld rows of %lld columns, %lld edges, %d thread(s)\n", (long long)s.rows,
           (long long)s.columns, (long long)s.edges, s.threads);
    for (size_t k = 0; k < sizeof relations / sizeof *relations; k++) {
        double sum;
        int launches;
        s.relations = relations[k];
        double ms = measure(&s, &sum, &launches);
        if (!first) first = ms;
        printf("%4d relations: %9.3f ms, %5.2f of one; %d launches; sums to %.6g\n", s.relations,
               ms, ms / first, launches, sum);
        fflush(stdout);
    }
    gn_arena_free(&a);
    return 0;
}
