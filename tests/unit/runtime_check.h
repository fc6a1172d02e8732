/* What the runtime's tests share. */
#ifndef GN_TESTS_RUNTIME_CHECK_H
#define GN_TESTS_RUNTIME_CHECK_H

#include "base/philox.h"
#include "base/status.h"
#include "runtime/graph/graph_internal.h"
#include "runtime/memory.h"
#include "support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static inline void ok(gn_status *s) { ck_assert_msg(!s, "%s", gn_status_message(s)); }

/* It failed, with this code and these words in the message. */
static inline void refused(gn_status *s, gn_code code, const char *words)
{
    ck_assert_msg(s != NULL, "accepted; expected: %s", words);
    ck_assert_msg(s->code == code, "%s error, not %s: %s", gn_code_name(s->code),
                  gn_code_name(code), s->message);
    ck_assert_msg(strstr(gn_status_message(s), words) != NULL, "'%s' is not in: %s", words,
                  gn_status_message(s));
    gn_status_free(s);
}

/* Runs `expr` (a gn_status *) with its first allocation failing, then its second, ... until it
 * succeeds. */
#define OUT_OF_MEMORY_SWEEP(expr)                                                                  \
    do {                                                                                           \
        gn_status *sweep_s_;                                                                       \
        int64_t sweep_k_ = 0;                                                                      \
        do {                                                                                       \
            *gn_memory_fuse() = ++sweep_k_;                                                        \
            sweep_s_ = (expr);                                                                     \
            bool fired = *gn_memory_fuse() == 0;                                                   \
            *gn_memory_fuse() = 0;                                                                 \
            ck_assert_msg(fired == (sweep_s_ != NULL), "allocation %lld: %s", (long long)sweep_k_, \
                          gn_status_message(sweep_s_));                                            \
            if (!fired) break;                                                                     \
            ck_assert_int_eq(sweep_s_->code, GN_ERR_NOMEM);                                        \
            gn_status_free(sweep_s_);                                                              \
        } while (true);                                                                            \
        ck_assert_msg(sweep_k_ > 1, "nothing was allocated");                                      \
    } while (0)

static uint64_t random_at;
static inline int64_t random_below(int64_t n) { return gn_random_u32(12345, 1, random_at++) % n; }

typedef struct edge_list {
    int64_t n_src, n_dst, n;
    int64_t *src, *dst;
} edge_list;

static inline edge_list edges_new(int64_t n_src, int64_t n_dst, int64_t n)
{
    size_t bytes = ((size_t)n + 1) * sizeof(int64_t);
    return (edge_list){n_src, n_dst, n, malloc(bytes), malloc(bytes)};
}

static inline void edges_free(edge_list *l)
{
    free(l->src);
    free(l->dst);
}

/* Random ends; every eighth edge is a loop where there can be one. */
static inline edge_list edges_random(int64_t n_src, int64_t n_dst, int64_t n)
{
    edge_list l = edges_new(n_src, n_dst, n_src && n_dst ? n : 0);
    for (int64_t e = 0; e < l.n; e++) {
        l.src[e] = random_below(n_src);
        l.dst[e] = random_below(n_dst);
        if (random_below(8) == 0 && l.dst[e] < n_src) l.src[e] = l.dst[e];
    }
    return l;
}

/* For inner loops: Check's own assertions tell its parent of every one that holds. */
#define SAME(a, b)                                                                                 \
    do {                                                                                           \
        int64_t same_a_ = (a), same_b_ = (b);                                                      \
        if (same_a_ != same_b_)                                                                    \
            ck_abort_msg("%s is %lld, not %s: %lld", #a, (long long)same_a_, #b,                   \
                         (long long)same_b_);                                                      \
    } while (0)

#define HOLDS(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) ck_abort_msg("not so: %s", #x);                                                  \
    } while (0)

static inline int64_t at(const gn_graph *g, gn_graph_array k, int64_t i)
{
    if (!g->array[k]) ck_abort_msg("array %d is not there", (int)k);
    if (i < 0 || i >= gn_graph_array_count(g, k))
        ck_abort_msg("array %d at %lld", (int)k, (long long)i);
    return gn_index_get(g->array[k], g->index, i);
}

static inline gn_graph *graph_of(gn_elem index, const edge_list *l)
{
    gn_graph *g;
    ok(gn_graph_from_coo(index, l->n_src, l->n_dst, l->n, GN_I64, l->src, l->dst, &g));
    return g;
}

/* The loop at the end of row v of a graph that is its own transpose: it ends the column too.  -1:
 * there is none. */
static inline int64_t loop_of_row(const gn_graph *g, int64_t v)
{
    if (!g->symmetric) return -1;
    int64_t end = at(g, GN_GRAPH_ROW_PTR, v + 1);
    return end > at(g, GN_GRAPH_ROW_PTR, v) && at(g, GN_GRAPH_COL, end - 1) == v ? end - 1 : -1;
}

/* `g` is the stable CSR of the user's list `l`: every array that exists, element by element, by the
 * slow way. */
static inline void check_graph(const gn_graph *g, const edge_list *l)
{
    ck_assert_int_eq(g->n_src, l->n_src);
    ck_assert_int_eq(g->n_dst, l->n_dst);
    ck_assert_int_eq(g->n_edge, l->n);
    int64_t k = 0;
    for (int64_t v = 0; v < l->n_dst; v++) {
        SAME(at(g, GN_GRAPH_ROW_PTR, v), k);
        for (int64_t p = 0; p < l->n; p++) {
            if (l->dst[p] != v) continue;
            SAME(at(g, GN_GRAPH_COL, k), l->src[p]);
            SAME(at(g, GN_GRAPH_POS, k), p);
            if (g->array[GN_GRAPH_ROW]) SAME(at(g, GN_GRAPH_ROW, k), v);
            k++;
        }
    }
    SAME(at(g, GN_GRAPH_ROW_PTR, l->n_dst), l->n);
    if (!g->array[GN_GRAPH_COL_PTR]) return;
    k = 0;
    for (int64_t u = 0; u < l->n_src; u++) {
        int64_t loop = loop_of_row(g, u);
        SAME(at(g, GN_GRAPH_COL_PTR, u), k);
        for (int64_t e = 0; e < l->n; e++) {
            if (at(g, GN_GRAPH_COL, e) != u || e == loop) continue;
            SAME(at(g, GN_GRAPH_CSC_EDGE, k), e);
            SAME(at(g, GN_GRAPH_CSC_ROW, k), l->dst[at(g, GN_GRAPH_POS, e)]);
            k++;
        }
        if (loop < 0) continue;
        SAME(at(g, GN_GRAPH_CSC_EDGE, k), loop);
        SAME(at(g, GN_GRAPH_CSC_ROW, k), u);
        k++;
    }
    SAME(at(g, GN_GRAPH_COL_PTR, l->n_src), l->n);
}

/* The same for a large graph whose CSC is there, in linear time: what makes an order right rather
 * than the order. */
static inline void check_large_graph(const gn_graph *g, const edge_list *l)
{
    SAME(at(g, GN_GRAPH_ROW_PTR, 0), 0);
    SAME(at(g, GN_GRAPH_ROW_PTR, g->n_dst), l->n);
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t before = -1, end = at(g, GN_GRAPH_ROW_PTR, v + 1);
        for (int64_t e = at(g, GN_GRAPH_ROW_PTR, v); e < end; e++) {
            int64_t pos = at(g, GN_GRAPH_POS, e);
            if (pos <= before || l->dst[pos] != v || l->src[pos] != at(g, GN_GRAPH_COL, e))
                ck_abort_msg("edge %lld", (long long)e);
            before = pos;
        }
    }
    SAME(at(g, GN_GRAPH_COL_PTR, 0), 0);
    SAME(at(g, GN_GRAPH_COL_PTR, g->n_src), l->n);
    for (int64_t u = 0; u < g->n_src; u++) {
        int64_t before = -1, end = at(g, GN_GRAPH_COL_PTR, u + 1);
        for (int64_t k = at(g, GN_GRAPH_COL_PTR, u); k < end; k++) {
            int64_t e = at(g, GN_GRAPH_CSC_EDGE, k);
            if (e <= before || at(g, GN_GRAPH_COL, e) != u ||
                at(g, GN_GRAPH_CSC_ROW, k) != l->dst[at(g, GN_GRAPH_POS, e)])
                ck_abort_msg("transposed edge %lld", (long long)k);
            before = e;
        }
    }
}

enum {
    ALL_CSC = GN_ARRAY(GN_GRAPH_ROW) | GN_ARRAY(GN_GRAPH_COL_PTR) | GN_ARRAY(GN_GRAPH_CSC_ROW) |
              GN_ARRAY(GN_GRAPH_CSC_EDGE),
};

/* Sanitizers abort where malloc would give NULL, unless told. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

#define RUN_SUITE(suite_name, ...)                                                                 \
    int main(void)                                                                                 \
    {                                                                                              \
        const TTest *const tests[] = {__VA_ARGS__};                                                \
        TCase *c = tcase_create(suite_name);                                                       \
        tcase_set_timeout(c, 0);                                                                   \
        for (size_t k = 0; k < sizeof tests / sizeof *tests; k++) tcase_add_test(c, tests[k]);     \
        return RUN_CASES(suite_name, c);                                                           \
    }

#endif
