/* Graphs that are their own transpose hold one array for both directions; all others hold two, and
 * all are right. */
/* links: base runtime */
#include "runtime/graph/graph_sort.h"
#include "runtime_check.h"

enum {
    POINTERS = GN_ARRAY(GN_GRAPH_COL_PTR) | GN_ARRAY(GN_GRAPH_CSC_ROW),
    EDGES = GN_ARRAY(GN_GRAPH_CSC_EDGE),
};

static int by_ends(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
    return x[1] < y[1] ? -1 : x[1] > y[1];
}

/* Sorted by source, then destination: so every row of the CSR ascends. */
static void sort_list(edge_list *l)
{
    int64_t(*pair)[2] = malloc(((size_t)l->n + 1) * sizeof *pair);
    for (int64_t e = 0; e < l->n; e++) pair[e][0] = l->src[e], pair[e][1] = l->dst[e];
    qsort(pair, (size_t)l->n, sizeof *pair, by_ends);
    for (int64_t e = 0; e < l->n; e++) l->src[e] = pair[e][0], l->dst[e] = pair[e][1];
    free(pair);
}

/* Both directions of random edges, with repeats, and every eighth a loop. */
static edge_list both_ways(int64_t n, int64_t edges)
{
    edge_list half = edges_random(n, n, edges), l = edges_new(n, n, 2 * half.n);
    for (int64_t e = 0; e < half.n; e++) {
        l.src[2 * e] = l.dst[2 * e + 1] = half.src[e];
        l.dst[2 * e] = l.src[2 * e + 1] = half.dst[e];
    }
    l.n = 2 * half.n;
    edges_free(&half);
    sort_list(&l);
    return l;
}

/* Asks for arrays bit by bit or at once; `symmetric` and shared, or neither; freed by the
 * caller. */
static gn_graph *expect(const edge_list *l, gn_elem index, bool at_once, bool symmetric)
{
    gn_graph *g = graph_of(index, l);
    int64_t alone = gn_graph_bytes(g), size = (int64_t)gn_elem_size(index);
    if (!at_once) {
        ok(gn_graph_require(g, POINTERS));
        ck_assert_ptr_null(g->array[GN_GRAPH_CSC_EDGE]); /* nobody has asked */
        ck_assert_int_eq(gn_graph_bytes(g) - alone, symmetric ? 0 : (l->n_src + 1 + l->n) * size);
    }
    ok(gn_graph_require(g, POINTERS | EDGES));
    ck_assert_int_eq(gn_graph_bytes(g) - alone,
                     ((symmetric ? 0 : l->n_src + 1 + l->n) + l->n) * size);
    ck_assert_int_eq(g->symmetric, symmetric);
    ck_assert_int_eq(g->array[GN_GRAPH_COL_PTR] == g->array[GN_GRAPH_ROW_PTR], symmetric);
    ck_assert_int_eq(g->array[GN_GRAPH_CSC_ROW] == g->array[GN_GRAPH_COL], symmetric);
    check_graph(g, l);
    return g;
}

/* What is decided after a sort is what is decided without. */
static void check_sorted(const gn_graph *g, bool symmetric)
{
    size_t size = gn_elem_size(g->index), bytes = ((size_t)g->n_edge + 1) * size;
    void *ptr = calloc((size_t)g->n_src + 1, size), *row = malloc(bytes), *edge = malloc(bytes);
    void *given = g->array[GN_GRAPH_CSC_EDGE];
    ok(gn_sort_by_source(g, ptr, row, edge));
    ck_assert_int_eq(gn_graph_is_transpose(g, ptr, row, NULL), symmetric);
    ck_assert_int_eq(gn_graph_is_transpose(g, ptr, row, edge), symmetric);
    ck_assert_mem_eq(edge, given, (size_t)g->n_edge * size); /* put in order, or left alone */
    free(ptr);
    free(row);
    free(edge);
}

static void check_list(const edge_list *l, bool symmetric)
{
    for (int k = 0; k < 4; k++) {
        gn_graph *g = expect(l, k % 2 ? GN_I64 : GN_I32, k / 2, symmetric);
        check_sorted(g, symmetric);
        gn_graph_free(g);
    }
}

START_TEST(small_graphs)
{
    static const int64_t path_src[] = {0, 1, 1, 2, 4}, path_dst[] = {1, 0, 2, 1, 4};
    edge_list none = edges_new(0, 0, 0), isolated = edges_new(5, 5, 0),
              one_end = edges_new(3, 4, 0);
    check_list(&none, true);
    check_list(&isolated, true);
    check_list(&one_end, false);
    /* 3 is isolated, 4 has a loop alone */
    edge_list path = {5, 5, 5, (int64_t *)path_src, (int64_t *)path_dst};
    check_list(&path, true);
    path.n = 4;
    check_list(&path, true);
    path.n = 3; /* 2 -> 1 is not there */
    check_list(&path, false);
    /* 0 and 1 have no row: a cursor that starts there stands in another's, which holds what is
     * looked for */
    static const int64_t into_src[] = {2, 0}, into_dst[] = {2, 2};
    check_list(&(edge_list){3, 3, 2, (int64_t *)into_src, (int64_t *)into_dst}, false);
    path.n_src = 6; /* goes to others */
    check_list(&path, false);
    edges_free(&none);
    edges_free(&isolated);
    edges_free(&one_end);
}
END_TEST

/* One edge of a cycle that goes both ways has another end: the first, one in the middle, the
 * last. */
START_TEST(one_edge_differs)
{
    enum { N = 40 };
    edge_list l = edges_new(N, N, 2 * N);
    for (int64_t v = 0; v < N; v++) {
        l.src[2 * v] = l.dst[2 * v + 1] = v;
        l.dst[2 * v] = l.src[2 * v + 1] = (v + 1) % N;
    }
    sort_list(&l);
    check_list(&l, true);
    for (int64_t e = 0; e < l.n; e++) {
        int64_t was = l.dst[e];
        l.dst[e] = (l.src[e] + N / 2) % N;
        check_list(&l, false);
        l.dst[e] = l.src[e]; /* a loop in the other's stead */
        check_list(&l, false);
        l.dst[e] = was;
        edge_list less = {N, N, l.n - 1, malloc(2 * N * 8), malloc(2 * N * 8)};
        for (int64_t k = 0; k < l.n; k++)
            if (k != e) less.src[k - (k > e)] = l.src[k], less.dst[k - (k > e)] = l.dst[k];
        check_list(&less, false);
        edges_free(&less);
    }
    edges_free(&l);
}
END_TEST

/* Every node keeps as many edges in and out, so pointers are equal. */
START_TEST(equal_degrees)
{
    enum { N = 24 };
    edge_list l = edges_new(N, N, 2 * N);
    for (int64_t v = 0; v < N; v++)
        for (int64_t k = 0; k < 2; k++) l.src[2 * v + k] = v, l.dst[2 * v + k] = (v + k + 1) % N;
    sort_list(&l); /* one way round */
    check_list(&l, false);
    edges_free(&l);
    l = both_ways(N, 60);
    check_list(&l, true);
    int changed = 0;
    for (int64_t e = 1; e < l.n; e += 7) {
        int64_t other = (e * 5 + 3) % l.n, a = l.dst[e], b = l.dst[other];
        if (a == b || l.src[e] == l.src[other]) continue;
        edge_list swapped = edges_new(N, N, l.n);
        memcpy(swapped.src, l.src, (size_t)l.n * 8);
        memcpy(swapped.dst, l.dst, (size_t)l.n * 8);
        swapped.dst[e] = b;
        swapped.dst[other] = a;
        sort_list(&swapped);
        int64_t there = 0; /* of a multiset of edges, how many stand there the other way as often */
        for (int64_t i = 0; i < l.n; i++) {
            int64_t balance = 0;
            for (int64_t j = 0; j < l.n; j++) {
                balance += swapped.src[j] == swapped.src[i] && swapped.dst[j] == swapped.dst[i];
                balance -= swapped.src[j] == swapped.dst[i] && swapped.dst[j] == swapped.src[i];
            }
            there += balance == 0;
        }
        check_list(&swapped, there == l.n);
        changed += there < l.n;
        edges_free(&swapped);
    }
    ck_assert_int_gt(changed, 5);
    edges_free(&l);
}
END_TEST

START_TEST(repeated_edges)
{
    /* twice one way, once the other; as many in and out of every node */
    static const int64_t src[] = {0, 0, 1, 1, 2, 2}, dst[] = {1, 1, 0, 2, 0, 1};
    static const int64_t same_src[] = {0, 0, 0, 1, 1, 1, 2}, same_dst[] = {1, 1, 2, 0, 0, 1, 0};
    static const int64_t loops_src[] = {0, 0, 0, 0, 1, 1}, loops_dst[] = {0, 0, 0, 1, 0, 1};
    check_list(&(edge_list){3, 3, 6, (int64_t *)src, (int64_t *)dst}, false);
    check_list(&(edge_list){3, 3, 7, (int64_t *)same_src, (int64_t *)same_dst}, true);
    check_list(&(edge_list){2, 2, 6, (int64_t *)loops_src, (int64_t *)loops_dst}, true);
    for (int k = 0; k < 40; k++) {
        edge_list l = both_ways(1 + random_below(12), random_below(60));
        check_list(&l, true);
        edges_free(&l);
    }
}
END_TEST

/* Sorted or not, symmetric or not: arrays are right, and shared only where they are the same. */
START_TEST(random_graphs)
{
    int shared = 0;
    for (int k = 0; k < 200; k++) {
        int64_t n = 1 + random_below(6);
        edge_list l = edges_random(n, n, random_below(12));
        if (k % 2) sort_list(&l);
        gn_graph *g = graph_of(GN_I32, &l);
        ok(gn_graph_require(g, ALL_CSC));
        check_graph(g, &l);
        check_sorted(g, g->symmetric);
        bool same = !memcmp(g->array[GN_GRAPH_ROW_PTR], g->array[GN_GRAPH_COL_PTR],
                            (size_t)(n + 1) * 4) &&
                    !memcmp(g->array[GN_GRAPH_COL], g->array[GN_GRAPH_CSC_ROW], (size_t)l.n * 4);
        ck_assert_int_eq(same, g->symmetric);
        shared += same;
        gn_graph_free(g);
        edges_free(&l);
    }
    ck_assert_int_gt(shared, 10);
    ck_assert_int_lt(shared, 150);
}
END_TEST

/* Loops that a derived graph appends stand at the end of their rows, wherever their number would
 * be. */
START_TEST(derived_graphs)
{
    for (int k = 0; k < 30; k++) {
        edge_list l = both_ways(1 + random_below(15), random_below(50));
        gn_graph *g = graph_of(k % 2 ? GN_I64 : GN_I32, &l), *d;
        for (gn_graph_derive how = GN_SELF_LOOPS; how <= GN_REVERSE; how++) {
            ok(gn_graph_derived(g, how, &d));
            ok(gn_graph_require(d, POINTERS | EDGES));
            ck_assert(d->symmetric);
            for (int64_t v = 0; v < d->n_dst; v++) {
                int64_t end = at(d, GN_GRAPH_ROW_PTR, v + 1);
                /* the edge's other end, and ends */
                for (int64_t e = at(d, GN_GRAPH_COL_PTR, v); e < end; e++) {
                    int64_t image = at(d, GN_GRAPH_CSC_EDGE, e), u = at(d, GN_GRAPH_CSC_ROW, e);
                    SAME(at(d, GN_GRAPH_COL, image), v);
                    HOLDS(image >= at(d, GN_GRAPH_ROW_PTR, u) &&
                          image < at(d, GN_GRAPH_ROW_PTR, u + 1));
                }
                if (how != GN_REMOVE_LOOPS && how != GN_REVERSE)
                    SAME(at(d, GN_GRAPH_CSC_EDGE, end - 1), end - 1);
            }
            check_sorted(d, true);
            gn_graph_free(d);
        }
        gn_graph_free(g);
        edges_free(&l);
    }
}
END_TEST

/* Rows in any order are no CSC, though every edge goes both ways. */
START_TEST(rows_that_do_not_ascend)
{
    static const int64_t src[] = {2, 1, 0, 0}, dst[] = {0, 0, 1, 2};
    check_list(&(edge_list){3, 3, 4, (int64_t *)src, (int64_t *)dst}, false);
}
END_TEST

/* A part of what is shared stays until nobody needs it; a sanitizer sees what is freed twice or not
 * at all. */
START_TEST(trimmed)
{
    edge_list l = both_ways(9, 30);
    static const gn_graph_arrays keep[] = {0,
                                           POINTERS,
                                           GN_ARRAY(GN_GRAPH_COL_PTR),
                                           GN_ARRAY(GN_GRAPH_CSC_ROW),
                                           EDGES,
                                           GN_ARRAY(GN_GRAPH_ROW_PTR) | GN_ARRAY(GN_GRAPH_COL)};
    for (size_t k = 0; k < sizeof keep / sizeof *keep; k++) {
        gn_graph *g = expect(&l, GN_I32, true, true), *whole = graph_of(GN_I32, &l);
        gn_graph_trim(g, keep[k]);
        gn_graph_arrays pointers = keep[k] &
                                   (GN_ARRAY(GN_GRAPH_COL_PTR) | GN_ARRAY(GN_GRAPH_ROW_PTR));
        gn_graph_arrays ends = keep[k] & (GN_ARRAY(GN_GRAPH_CSC_ROW) | GN_ARRAY(GN_GRAPH_COL));
        int64_t indices = (pointers ? 10 : 0) + (ends ? l.n : 0) + (keep[k] & EDGES ? l.n : 0);
        ck_assert_int_eq(gn_graph_bytes(g), indices * 4);
        if (keep[k] & GN_ARRAY(GN_GRAPH_COL_PTR))
            ck_assert_mem_eq(g->array[GN_GRAPH_COL_PTR], whole->array[GN_GRAPH_ROW_PTR], 40);
        if (keep[k] & GN_ARRAY(GN_GRAPH_CSC_ROW))
            ck_assert_mem_eq(g->array[GN_GRAPH_CSC_ROW], whole->array[GN_GRAPH_COL],
                             (size_t)l.n * 4);
        gn_graph_free(g);
        gn_graph_free(whole);
    }
    edges_free(&l);
}
END_TEST

/* Parts of rows are those of columns. */
START_TEST(parts)
{
    edge_list l = both_ways(3, 200);
    gn_graph_array by_dst = gn_part_array_of(16, GN_PART_PTR),
                   by_src = gn_part_array_of(16, GN_CSC_PART_PTR);
    for (int first = 0; first < 2; first++) {
        gn_graph *g = graph_of(GN_I32, &l);
        ok(gn_graph_require(g, GN_ARRAY(first ? by_dst : by_src)));
        ok(gn_graph_require(g, GN_ARRAY(by_src) | GN_ARRAY(by_dst + 1)));
        ck_assert(g->symmetric);
        for (int k = 0; k < 2; k++) ck_assert_ptr_eq(g->array[by_src + k], g->array[by_dst + k]);
        SAME(at(g, by_src, 3), gn_graph_array_count(g, by_src + 1));
        int64_t before = gn_graph_bytes(g);
        gn_graph_trim(g, 3u << by_src);
        ck_assert_int_eq(gn_graph_bytes(g), (4 + gn_graph_array_count(g, by_src + 1)) * 4);
        ck_assert_int_lt(gn_graph_bytes(g), before);
        gn_graph_free(g);
    }
    edges_free(&l);
}
END_TEST

/* Values of edges are not symmetric because their places are; the permutation that reads them need
 * not stay. */
START_TEST(values_of_a_symmetric_pattern)
{
    static const int64_t ptr[] = {0, 2, 3, 4};
    static const int32_t col[] = {1, 2, 0, 0};
    static const float val[] = {1, 2, 3, 4}, by_source[] = {3, 4, 1, 2};
    gn_graph *g;
    ok(gn_graph_from_csr(GN_I32, 3, 3, ptr, col, val, &g));
    ok(gn_graph_require(g, GN_ARRAY(GN_GRAPH_CSC_VALUE)));
    ck_assert(g->symmetric);
    ck_assert_mem_eq(g->array[GN_GRAPH_CSC_VALUE], by_source, sizeof by_source);
    ck_assert_ptr_null(g->array[GN_GRAPH_CSC_EDGE]);
    ok(gn_graph_require(g, GN_ARRAY(GN_GRAPH_CSC_CELL) | EDGES));
    static const int64_t cell[] = {3, 6, 1, 2};
    static const int32_t edge[] = {2, 3, 0, 1};
    ck_assert_mem_eq(g->array[GN_GRAPH_CSC_CELL], cell, sizeof cell);
    ck_assert_mem_eq(g->array[GN_GRAPH_CSC_EDGE], edge, sizeof edge);
    gn_graph_free(g);
}
END_TEST

/* Beyond 2^22 edges what was sorted is compared. */
START_TEST(many_edges)
{
    enum { N = (1 << 21) + 5 };
    edge_list l = edges_new(N, N, 2 * N);
    for (int64_t v = 0; v < N; v++) {
        l.src[2 * v] = l.src[2 * v + 1] = v;
        l.dst[2 * v] = v == 0 ? 1 : v == N - 1 ? 0 : v - 1;
        l.dst[2 * v + 1] = v == 0 || v == N - 1 ? v == 0 ? N - 1 : N - 2 : v + 1;
    }
    for (int k = 0; k < 2; k++) {
        gn_graph *g = graph_of(GN_I32, &l);
        ok(gn_graph_require(g, k ? POINTERS : POINTERS | EDGES));
        ck_assert_int_eq(g->symmetric, k == 0);
        ck_assert_int_eq(g->array[GN_GRAPH_CSC_EDGE] != NULL, k == 0);
        ok(gn_graph_require(g, POINTERS | EDGES));
        check_large_graph(g, &l);
        gn_graph_free(g);
        l.dst[2 * N - 1] = N - 3; /* the last edge goes elsewhere */
    }
    edges_free(&l);
}
END_TEST

START_TEST(out_of_memory)
{
    edge_list l = both_ways(20, 50);
    for (int edges = 0; edges < 2; edges++) {
        gn_graph *g = graph_of(GN_I32, &l);
        OUT_OF_MEMORY_SWEEP(gn_graph_require(g, edges ? POINTERS | EDGES : POINTERS));
        OUT_OF_MEMORY_SWEEP(gn_graph_require(g, ALL_CSC));
        ck_assert(g->symmetric);
        check_graph(g, &l);
        gn_graph_free(g);
    }
    edges_free(&l);
}
END_TEST

RUN_SUITE("symmetric graphs", small_graphs, one_edge_differs, equal_degrees, repeated_edges,
          random_graphs, derived_graphs, rows_that_do_not_ascend, trimmed, parts,
          values_of_a_symmetric_pattern, many_edges, out_of_memory)
