/* What the tests of the public API share: a compiled model with a run, a graph with data, and doing
 * one with the other. */
#ifndef GN_TESTS_API_WORLD_H
#define GN_TESTS_API_WORLD_H

#include "gnnc/gnnc.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { F = 5, C = 3 };

/* What is made in no other context: in none, or, where a test defines API_KEEPS_CODE before it
 * includes this header, in one that keeps kernels in memory. Most cases compile what others did. */
#ifdef API_KEEPS_CODE
static inline const gnnc_context *usual_context(void)
{
    static gnnc_context *kept;
    gnnc_context_options o = {.size = sizeof o, .cache = GNNC_CACHE_MEMORY};
    if (!kept) ck_assert(!gnnc_context_new(&o, &kept));
    return kept;
}
#else
static inline const gnnc_context *usual_context(void) { return NULL; }
#endif

__attribute__((unused)) static const char
    plain[] = "model M(hidden = 4, p = 0.0) (g: graph, x: node[F]) -> node[C] {\n"
              "  a = GCNConv(hidden)\n  b = SAGEConv(C)\n"
              "  return b(g, relu(dropout(a(g, x), p)))\n}\n";
__attribute__((unused)) static const char weighted
    [] = "model W() (g: graph, x: node[F]) -> node[C] {\n  a = GCNConv(C)\n  return a(g, x)\n}\n";

static inline void ok(gnnc_status *s) { ck_assert_msg(!s, "%s", gnnc_status_message(s)); }

static inline void refused(gnnc_status *s, gnnc_code code, const char *words)
{
    ck_assert_msg(s != NULL, "accepted, where \"%s\" was expected", words);
    ck_assert_msg(gnnc_status_code(s) == code, "code %d: %s", (int)gnnc_status_code(s),
                  gnnc_status_message(s));
    ck_assert_msg(strstr(gnnc_status_message(s), words) != NULL, "\"%s\" does not say \"%s\"",
                  gnnc_status_message(s), words);
    gnnc_status_free(s);
}

/* Everything that a test needs of one model. */
typedef struct bench {
    gnnc_module *module;
    gnnc_executable *exe;
    gnnc_state *state;
    gnnc_run *run;
} bench;

static inline bench set_up_in(const gnnc_context *c, const char *text, gnnc_compile_options o,
                              int threads)
{
    bench b;
    gnnc_run_options ro = {.size = sizeof ro, .threads = threads};
    o.size = sizeof o;
    o.features = F;
    o.classes = C;
    ok(gnnc_module_parse(c, text, strlen(text), "m.gnn", &b.module));
    ok(gnnc_compile(b.module, &o, &b.exe));
    ok(gnnc_state_new(b.exe, 7, &b.state));
    ok(gnnc_run_new(b.exe, b.state, &ro, &b.run));
    return b;
}

static inline bench set_up(const char *text, gnnc_compile_options o, int threads)
{
    return set_up_in(usual_context(), text, o, threads);
}

static inline void tear_down(bench *b)
{
    gnnc_module_free(b->module); /* in any order */
    gnnc_executable_free(b->exe);
    gnnc_state_free(b->state);
    gnnc_run_free(b->run);
}

/* A graph with data, by seed. */
typedef struct world {
    int n, e;
    int64_t rows[2], edges[1];
    int32_t *src, *dst, *y;
    float *x, *w;
    uint8_t *mask;
    gnnc_graph *g;
} world;

static inline uint32_t draw(uint32_t *s) { return (*s = *s * 1664525u + 1013904223u) >> 9; }

static inline world make_world_in(const gnnc_context *c, uint32_t seed, int n, int e)
{
    world w = {.n = n, .e = n ? e : 0, .rows = {n, F}, .edges = {n ? e : 0}};
    w.src = calloc((size_t)e + 1, sizeof *w.src);
    w.dst = calloc((size_t)e + 1, sizeof *w.dst);
    w.w = calloc((size_t)e + 1, sizeof *w.w);
    w.x = calloc((size_t)n * F + 1, sizeof *w.x);
    w.y = calloc((size_t)n + 1, sizeof *w.y);
    w.mask = calloc((size_t)n + 1, 1);
    for (int k = 0; k < w.e; k++) {
        w.src[k] = (int32_t)(draw(&seed) % (uint32_t)n);
        w.dst[k] = (int32_t)(draw(&seed) % (uint32_t)n);
        w.w[k] = (float)(draw(&seed) % 100) / 50;
    }
    for (int k = 0; k < n * F; k++)
        w.x[k] = draw(&seed) % 3 ? 0 : (float)(draw(&seed) % 200) / 100 - 1;
    for (int v = 0; v < n; v++) w.y[v] = (int32_t)(draw(&seed) % C);
    for (int v = 0; v < n; v++) w.mask[v] = draw(&seed) % 2;
    ok(gnnc_graph_from_coo(c, n, w.e, GNNC_INT32, w.src, w.dst, &w.g));
    return w;
}

static inline world make_world(uint32_t seed, int n, int e)
{
    return make_world_in(usual_context(), seed, n, e);
}

static inline void end_world(world *w)
{
    gnnc_graph_free(w->g);
    free(w->src);
    free(w->dst);
    free(w->w);
    free(w->x);
    free(w->y);
    free(w->mask);
}

static inline DLTensor tensor(void *data, int rank, int64_t *shape, uint8_t code, uint8_t bits)
{
    return (DLTensor){data, {kDLCPU, 0}, rank, {code, bits, 1}, shape, NULL, 0};
}

static inline DLTensor x_of(world *w) { return tensor(w->x, 2, w->rows, kDLFloat, 32); }

static inline void bind_world(gnnc_run *r, world *w, bool labels)
{
    DLTensor x = x_of(w), y = tensor(w->y, 1, w->rows, kDLInt, 32),
             m = tensor(w->mask, 1, w->rows, kDLBool, 8);
    ok(gnnc_run_bind_graph(r, w->g));
    ok(gnnc_run_bind(r, "x", &x));
    if (!labels) return;
    ok(gnnc_run_bind(r, "y", &y));
    ok(gnnc_run_bind(r, "train_mask", &m));
}

/* The result of an inference, copied. */
static inline float *infer(gnnc_run *r, int n)
{
    DLTensor out;
    ok(gnnc_run_infer(r));
    ok(gnnc_run_output(r, "out", &out));
    ck_assert(out.ndim == 2 && out.shape[0] == n && out.shape[1] == C &&
              out.dtype.code == kDLFloat);
    float *copy = calloc((size_t)n * C + 1, sizeof *copy);
    if (n) memcpy(copy, out.data, (size_t)n * C * sizeof *copy);
    return copy;
}

static inline gnnc_executable_info info_of(const bench *b)
{
    gnnc_executable_info i = {.size = sizeof i};
    gnnc_executable_describe(b->exe, &i);
    return i;
}

static inline gnnc_program_info program(const bench *b, int k)
{
    gnnc_program_info p = {.size = sizeof p};
    ok(gnnc_executable_program(b->exe, k, &p));
    return p;
}

/* A call with a graph of these sizes; its result, or NULL and the status. */
static inline float *infer_on(gnnc_run *r, const gnnc_context *c, uint32_t seed, int n, int e,
                              gnnc_status **s)
{
    world w = make_world_in(c, seed, n, e);
    float *out = NULL;
    bind_world(r, &w, false);
    if (s) *s = gnnc_run_infer(r);
    if (!s || !*s) out = infer(r, n);
    end_world(&w);
    return out;
}

static inline void visit(gnnc_run *r, int n, int e)
{
    free(infer_on(r, usual_context(), 1, n, e, NULL));
}

static inline void refused_on(gnnc_run *r, int n, int e, gnnc_code code, const char *words)
{
    gnnc_status *s;
    float *out = infer_on(r, usual_context(), 1, n, e, &s);
    ck_assert(out == NULL);
    refused(s, code, words);
}

/* Puts words in the place of others in a file. */
static inline void edit(const char *path, const char *find, const char *put)
{
    static char text[1 << 16];
    FILE *f = fopen(path, "rb");
    ck_assert(f != NULL);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    char *at = strstr(text, find);
    ck_assert_msg(at != NULL, "'%s' is not in the file", find);
    f = fopen(path, "wb");
    fprintf(f, "%.*s%s%s", (int)(at - text), text, put, at + strlen(find));
    fclose(f);
}

#endif
