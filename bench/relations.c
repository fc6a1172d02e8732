/* What do relations cost?  The same edges, dealt out to more and more relations between the same
 * rows: y = the sum over relations of the sums of x over their edges; with one loop for several
 * relations and with a loop for each (`relations` left out).  All are run in turn, and the least
 * time of each is printed: of one thread the time of its processor, since machines are shared.
 *
 *   relations [ROWS [EDGES [COLUMNS [THREADS [ROUNDS]]]]] */
#include "base/clock.h"
#include "compile/compile.h"
#include "runtime/graph/graph.h"
#include "runtime/run/exec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 200, KINDS = 5 };

typedef struct setup {
    int64_t rows, edges, columns;
    int threads, relations;
    bool apart;
} setup;

typedef struct trial {
    gn_arena arena;
    gn_graph_binding graphs[MOST];
    int relations, launches;
    gn_image *image;
    gn_pool *pool;
    gn_instance *in;
    double ms, sum; /* least; of all that y holds */
} trial;

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

static double now_ms(int threads)
{
    struct timespec t;
    if (threads > 1) return gn_now_ms();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void begin(const setup *s, const float *x, trial *z)
{
    low_hint hints[MOST] = {{0}};
    *z = (trial){.relations = s->relations, .ms = INFINITY};
    gn_arena_init(&z->arena);
    make_graphs(&z->arena, s, z->graphs);
    for (int k = 0; k < s->relations; k++)
        hints[k] = (low_hint){.name = z->graphs[k].name,
                              .n_src = s->rows,
                              .n_dst = s->rows,
                              .n_edge = s->edges / s->relations};
    gn_compile_options o = {
        .index = GN_I32, .n_hints = s->relations, .hints = hints, .hints_hold = true};
    o.pass = (gn_pass_options){.limit = -1};
    if (s->apart) o.pass.without.decisions = (gn_switches)1 << GN_DO_RELATIONS;
    o.code = (gn_codegen_options){.opt_level = 1, .threads = 1};
    gn_compiled *c;
    gn_code_report report;
    stop(gn_compile(&z->arena, program(&z->arena, s), &o, NULL, &c));
    stop(gn_compile_code(&z->arena, 1, &c, &o.code, &z->image, &report));
    stop(gn_pool_new(s->threads, &z->pool));
    gn_binding t = {"x", GN_F32, s->rows, s->columns, (float *)(uintptr_t)x};
    stop(gn_instance_new(c->artifact, s->relations, z->graphs, 1, &t, z->pool, NULL, &z->in));
    z->launches = c->artifact->n_launches;
}

static void end(trial *z, int64_t elements)
{
    const float *y = gn_instance_output(z->in, "y", NULL);
    for (int64_t i = 0; i < elements; i++) z->sum += (double)y[i];
    gn_instance_free(z->in);
    gn_pool_free(z->pool);
    gn_image_free(z->image);
    for (int k = 0; k < z->relations; k++) gn_graph_free(z->graphs[k].graph);
    gn_arena_free(&z->arena);
}

int main(int argc, char **argv)
{
    static const int relations[KINDS] = {1, 2, 8, 30, 200};
    static trial z[KINDS][2];
    int64_t number[] = {20000, 4000000, 64, 1, 40};
    for (int k = 1; k < argc && k < 6; k++) number[k - 1] = strtoll(argv[k], NULL, 10);
    setup s = {.rows = number[0], .edges = number[1], .columns = number[2]};
    s.threads = (int)number[3];
    int64_t elements = s.rows * s.columns;
    float *x = aligned_alloc(64, (size_t)(elements * 4 + 63) / 64 * 64);
    uint64_t state = 3;
    for (int64_t i = 0; i < elements; i++) x[i] = (float)(next(&state) % 1000) * 1e-3f;
    for (int k = 0; k < KINDS; k++)
        for (int apart = 0; apart < 2; apart++) {
            s.relations = relations[k];
            s.apart = apart;
            begin(&s, x, &z[k][apart]);
        }
    for (int64_t round = 0; round < number[4]; round++)
        for (int k = 0; k < 2 * KINDS; k++) {
            trial *one = &z[k / 2][k % 2];
            double from = now_ms(s.threads);
            gn_instance_run(one->in);
            one->ms = fmin(one->ms, now_ms(s.threads) - from);
        }
    printf("%lld rows of %lld columns, %lld edges, %d thread(s), %lld rounds\n", (long long)s.rows,
           (long long)s.columns, (long long)s.edges, s.threads, (long long)number[4]);
    for (int k = 0; k < KINDS; k++) {
        const trial *both = z[k];
        for (int apart = 0; apart < 2; apart++) end(&z[k][apart], elements);
        printf("%4d relations: %8.2f ms, %4.2f of one, %2d launches; apart %8.2f ms, %4.2f of one, "
               "%3d launches; sums %.6g and %.6g\n",
               relations[k], both[0].ms, both[0].ms / z[0][0].ms, both[0].launches, both[1].ms,
               both[1].ms / z[0][1].ms, both[1].launches, both[0].sum, both[1].sum);
    }
    free(x);
    return 0;
}
