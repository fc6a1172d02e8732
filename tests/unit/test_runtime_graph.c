/* Graphs from edge lists and matrices, their arrays and facts, against the slow way. */
/* links: base runtime */
#include "runtime_check.h"

static const gn_elem width[] = {GN_I32, GN_I64};

static void check_list(const edge_list *l)
{
    for (int w = 0; w < 2; w++) {
        gn_graph *g = graph_of(width[w], l);
        ck_assert_int_eq(g->index, width[w]);
        check_graph(g, l);
        ok(gn_graph_require(g, ALL_CSC));
        check_graph(g, l);
        void *row = g->array[GN_GRAPH_ROW];
        ok(gn_graph_require(g, ALL_CSC)); /* what was made stays */
        ck_assert_ptr_eq(g->array[GN_GRAPH_ROW], row);
        for (int k = 0; k < GN_GRAPH_ARRAY_COUNT; k++)
            ck_assert_uint_eq((uintptr_t)g->array[k] % 64, 0);
        gn_graph_free(g);
    }
}

START_TEST(small_graphs)
{
    static const int64_t size[][3] = {{0, 0, 0},  {1, 1, 0},  {1, 1, 1},   {1, 1, 5},
                                      {0, 4, 0},  {4, 0, 0},  {3, 7, 0},   {5, 5, 1},
                                      {2, 2, 20}, {7, 3, 30}, {3, 40, 60}, {50, 50, 300}};
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
        edge_list l = edges_random(size[k][0], size[k][1], size[k][2]);
        check_list(&l);
        edges_free(&l);
    }
}
END_TEST

START_TEST(random_graphs)
{
    for (int k = 0; k < 60; k++) {
        edge_list l = edges_random(random_below(40), random_below(40), random_below(200));
        check_list(&l);
        edges_free(&l);
    }
}
END_TEST

START_TEST(large_graphs)
{
    static const int64_t nodes[][2] = {{5000, 5000}, {256, 257}, {255, 300},
                                       {1, 40000},   {40000, 1}, {70000, 513}};
    for (size_t k = 0; k < sizeof nodes / sizeof *nodes; k++) {
        edge_list l = edges_random(nodes[k][0], nodes[k][1], 50000);
        for (int64_t e = 0; k == 0 && e < l.n; e += 2)
            l.dst[e] = 4321; /* one bucket has half of them */
        for (int w = 0; w < 2; w++) {
            gn_graph *g = graph_of(width[w], &l);
            ok(gn_graph_require(g, ALL_CSC));
            check_large_graph(g, &l);
            gn_graph_free(g);
        }
        edges_free(&l);
    }
}
END_TEST

START_TEST(repeats_keep_the_users_order)
{
    int64_t src[] = {1, 0, 1, 1, 0}, dst[] = {1, 1, 0, 1, 1};
    gn_graph *g;
    ok(gn_graph_from_coo(GN_I32, 2, 2, 5, GN_I64, src, dst, &g));
    ck_assert_int_eq(g->index, GN_I32);
    static const int32_t ptr[] = {0, 1, 5}, col[] = {1, 1, 0, 1, 0}, pos[] = {2, 0, 1, 3, 4};
    ck_assert_mem_eq(g->array[GN_GRAPH_ROW_PTR], ptr, sizeof ptr);
    ck_assert_mem_eq(g->array[GN_GRAPH_COL], col, sizeof col);
    ck_assert_mem_eq(g->array[GN_GRAPH_POS], pos, sizeof pos);
    gn_graph_free(g);
    gn_graph_free(NULL);
}
END_TEST

START_TEST(index_width_follows_the_counts)
{
    int64_t most = INT32_MAX;
    ck_assert_int_eq(gn_graph_index_for(most, most, most), GN_I32);
    ck_assert_int_eq(gn_graph_index_for(most + 1, 1, 1), GN_I64);
    ck_assert_int_eq(gn_graph_index_for(1, most + 1, 1), GN_I64);
    ck_assert_int_eq(gn_graph_index_for(1, 1, most + 1), GN_I64);
    /* Many sources cost nothing until somebody asks for the CSC. */
    int64_t src[] = {most + 5, 3}, dst[] = {0, 1};
    gn_graph *g;
    ok(gn_graph_from_coo(GN_I32, most + 10, 2, 2, GN_I64, src, dst, &g));
    ck_assert_int_eq(g->index, GN_I64);
    ck_assert_int_eq(at(g, GN_GRAPH_COL, 0), most + 5);
    gn_graph_free(g);
}
END_TEST

/* `index` is the least width; what stands in the arrays is the same, from numbers of either
 * width. */
START_TEST(indices_as_wide_as_asked)
{
    edge_list l = edges_random(40, 40, 300);
    int32_t src[300], dst[300];
    for (int e = 0; e < 300; e++) src[e] = (int32_t)l.src[e], dst[e] = (int32_t)l.dst[e];
    for (int w = 0; w < 4; w++) {
        gn_elem index = w & 1 ? GN_I64 : GN_I32;
        gn_graph *g;
        if (w & 2)
            ok(gn_graph_from_coo(index, 40, 40, l.n, GN_I32, src, dst, &g));
        else
            ok(gn_graph_from_coo(index, 40, 40, l.n, GN_I64, l.src, l.dst, &g));
        ck_assert_int_eq(g->index, index);
        ok(gn_graph_require(g, ALL_CSC));
        check_graph(g, &l);
        gn_graph_free(g);
    }
    src[7] = -2;
    gn_graph *g;
    refused(gn_graph_from_coo(GN_I32, 40, 40, l.n, GN_I32, src, dst, &g), GN_ERR_DATA,
            "edge 7: source -2 is out of");
    edges_free(&l);
}
END_TEST

START_TEST(rows_of_sources)
{
    static const int64_t row[] = {0, 2, 2, 5, 6}, src[] = {3, 1, 0, 3, 3, 2};
    static const int32_t row32[] = {0, 2, 2, 5, 6}, src32[] = {3, 1, 0, 3, 3, 2};
    static const int64_t dst[] = {0, 0, 2, 2, 2, 3};
    edge_list l = {4, 4, 6, (int64_t *)src, (int64_t *)dst};
    gn_graph *g, *wide;
    for (int w = 0; w < 4; w++) {
        gn_elem index = w & 1 ? GN_I64 : GN_I32;
        if (w & 2)
            ok(gn_graph_from_rows(index, 4, GN_I32, row32, src32, &g));
        else
            ok(gn_graph_from_rows(index, 4, GN_I64, row, src, &g));
        ck_assert_int_eq(g->index, index);
        ok(gn_graph_require(g, ALL_CSC));
        check_graph(g, &l);
        gn_graph_free(g);
    }
    ok(gn_graph_from_rows(GN_I32, 0, GN_I64, row, NULL, &g));
    ck_assert_int_eq(g->n_edge, 0);
    gn_graph_free(g);
    static const int64_t late[] = {1, 1}, down[] = {0, 2, 1};
    static const int32_t many[] = {0, 1};
    refused(gn_graph_from_rows(GN_I32, -1, GN_I64, row, src, &g), GN_ERR_USAGE,
            "a graph of -1 nodes");
    refused(gn_graph_from_rows(GN_I32, 1, GN_I64, NULL, src, &g), GN_ERR_USAGE,
            "without row pointers");
    refused(gn_graph_from_rows(GN_I32, 4, GN_I64, row, NULL, &g), GN_ERR_USAGE,
            "6 edges without their sources");
    refused(gn_graph_from_rows(GN_I32, 1, GN_I64, late, src, &g), GN_ERR_DATA,
            "row 0 begins at edge 1, not 0");
    refused(gn_graph_from_rows(GN_I32, 2, GN_I64, down, src, &g), GN_ERR_DATA,
            "row 1 ends at edge 1, before it begins at 2");
    refused(gn_graph_from_rows(GN_I32, 1, GN_I32, many, src32, &g), GN_ERR_DATA,
            "edge 0: source 3 is out of range: there are 1 source nodes");
    ck_assert_ptr_null(g);
    OUT_OF_MEMORY_SWEEP(gn_graph_from_rows(GN_I32, 4, GN_I64, row, src, &g));
    OUT_OF_MEMORY_SWEEP(gn_graph_widen(g, &wide));
    gn_graph_free(wide);
    gn_graph_free(g);
}
END_TEST

START_TEST(wider_copies)
{
    edge_list l = edges_random(30, 30, 200);
    gn_graph *g = graph_of(GN_I32, &l), *wide, *derived;
    ok(gn_graph_require(g, ALL_CSC));
    ok(gn_graph_widen(g, &wide));
    ck_assert_int_eq(wide->index, GN_I64);
    ck_assert_ptr_null(wide->array[GN_GRAPH_COL_PTR]); /* made anew where it is asked for */
    ok(gn_graph_require(wide, ALL_CSC));
    check_graph(wide, &l);
    gn_graph_free(wide);
    ok(gn_graph_derived(g, GN_SELF_LOOPS, &derived));
    refused(gn_graph_widen(derived, &wide), GN_ERR_INTERNAL, "a derived graph");
    gn_graph_free(derived);
    gn_graph_free(g);
    edges_free(&l);
}
END_TEST

START_TEST(bad_edges_are_named)
{
    gn_graph *g = (gn_graph *)&g;
    int64_t src[] = {0, 1, 5}, dst[] = {2, 1, 0};
    refused(gn_graph_from_coo(GN_I32, 3, 3, 3, GN_I64, src, dst, &g), GN_ERR_DATA,
            "edge 2: source 5 is out of range: there are 3 source nodes");
    ck_assert_ptr_null(g);
    src[2] = -1;
    refused(gn_graph_from_coo(GN_I32, 3, 3, 3, GN_I64, src, dst, &g), GN_ERR_DATA,
            "edge 2: source -1 is out of range");
    src[2] = 0;
    refused(gn_graph_from_coo(GN_I32, 3, 2, 3, GN_I64, src, dst, &g), GN_ERR_DATA,
            "edge 0: destination 2 is out of range: there are 2 destination nodes");
    dst[1] = INT64_MIN;
    refused(gn_graph_from_coo(GN_I32, 3, 3, 3, GN_I64, src, dst, &g), GN_ERR_DATA,
            "edge 1: destination -9223372036854775808");
    dst[1] = INT64_MAX;
    refused(gn_graph_from_coo(GN_I32, 3, 3, 3, GN_I64, src, dst, &g), GN_ERR_DATA,
            "edge 1: destination 9223372036854775807");
    refused(gn_graph_from_coo(GN_I32, 0, 0, 1, GN_I64, src, dst, &g), GN_ERR_DATA,
            "edge 0: source 0 is out of range: there are 0");
}
END_TEST

START_TEST(impossible_counts)
{
    static const int64_t n[] = {INT64_MAX,     INT64_MAX - 1,  INT64_MAX / 4,
                                INT64_MAX / 8, INT64_MAX / 16, (int64_t)1 << 58};
    gn_graph *g;
    for (size_t k = 0; k < sizeof n / sizeof *n; k++) {
        refused(gn_graph_from_coo(GN_I32, 1, n[k], 0, GN_I64, NULL, NULL, &g), GN_ERR_NOMEM, "");
        refused(gn_graph_from_coo(GN_I32, 1, 1, n[k], GN_I64, n, n, &g), GN_ERR_NOMEM, "");
    }
    refused(gn_graph_from_coo(GN_I32, INT64_MAX, 1, 0, GN_I64, NULL, NULL, &g), GN_ERR_NOMEM,
            "cannot be addressed");
    refused(gn_graph_from_coo(GN_I32, -1, 1, 0, GN_I64, NULL, NULL, &g), GN_ERR_USAGE,
            "a graph of -1 sources");
    refused(gn_graph_from_coo(GN_I32, 1, -1, 0, GN_I64, NULL, NULL, &g), GN_ERR_USAGE,
            "-1 destinations");
    refused(gn_graph_from_coo(GN_I32, 1, 1, INT64_MIN, GN_I64, NULL, NULL, &g), GN_ERR_USAGE,
            "a graph of 1 nodes and -9223372036854775808 edges");
    refused(gn_graph_from_coo(GN_I32, 1, 1, 2, GN_I64, n, NULL, &g), GN_ERR_USAGE,
            "2 edges without their ends");
    /* The edges fit, their transposed arrays do not. */
    ok(gn_graph_from_coo(GN_I32, INT64_MAX - 1, 1, 0, GN_I64, NULL, NULL, &g));
    refused(gn_graph_require(g, ALL_CSC), GN_ERR_NOMEM, "column pointers");
    ck_assert_ptr_null(g->array[GN_GRAPH_COL_PTR]);
    gn_graph_free(g);
}
END_TEST

START_TEST(out_of_memory)
{
    edge_list l = edges_random(20, 20, 100);
    gn_graph *g = NULL;
    OUT_OF_MEMORY_SWEEP(gn_graph_from_coo(GN_I32, 20, 20, l.n, GN_I64, l.src, l.dst, &g));
    OUT_OF_MEMORY_SWEEP(gn_graph_require(g, ALL_CSC));
    check_graph(g, &l);
    gn_graph_free(g);
    ok(gn_graph_from_coo(GN_I32, 20, 20, l.n, GN_I64, l.src, l.dst, &g));
    gn_graph_facts f;
    OUT_OF_MEMORY_SWEEP(gn_graph_find_facts(g, &f));
    gn_graph_free(g);
    edges_free(&l);
    l = edges_random(2000, 2000, 40000);
    OUT_OF_MEMORY_SWEEP(gn_graph_from_coo(GN_I32, 2000, 2000, l.n, GN_I64, l.src, l.dst, &g));
    OUT_OF_MEMORY_SWEEP(gn_graph_require(g, ALL_CSC));
    gn_graph_free(g);
    int64_t ptr[] = {0, 2};
    int32_t col[] = {1, 0};
    OUT_OF_MEMORY_SWEEP(gn_graph_from_csr(GN_I32, 1, 2, ptr, col, NULL, &g));
    gn_graph_free(g);
    edges_free(&l);
}
END_TEST

static void *ask(void *arg)
{
    gn_graph *g = arg;
    gn_graph_facts f;
    ck_assert_int_gt(gn_graph_bytes(g), 0);
    ok(gn_graph_require(g, GN_ARRAY(GN_GRAPH_ROW)));
    ok(gn_graph_find_facts(g, &f));
    ok(gn_graph_require(g, ALL_CSC));
    return g->array[GN_GRAPH_COL_PTR];
}

START_TEST(several_threads_ask_at_once)
{
    for (int k = 0; k < 20; k++) {
        edge_list l = edges_random(300, 300, 1000);
        gn_graph *g = graph_of(GN_I32, &l);
        pthread_t thread[4];
        for (int t = 0; t < 4; t++) ck_assert_int_eq(pthread_create(&thread[t], NULL, ask, g), 0);
        for (int t = 0; t < 4; t++) {
            void *ptr;
            pthread_join(thread[t], &ptr);
            ck_assert_ptr_eq(ptr, g->array[GN_GRAPH_COL_PTR]);
        }
        check_large_graph(g, &l);
        gn_graph_free(g);
        edges_free(&l);
    }
}
END_TEST

/* Patterns ------------------------------------------------------------------------------------- */

START_TEST(patterns)
{
    static const int64_t ptr[] = {0, 2, 2, 5};
    static const int32_t col[] = {3, 1, 0, 2, 2};
    static const float val[] = {1.5f, 0, -2, 3, 4};
    static const int64_t src[] = {3, 1, 0, 2}, dst[] = {0, 0, 2, 2};
    edge_list l = {4, 3, 4, (int64_t *)src, (int64_t *)dst};
    gn_graph *g;
    ok(gn_graph_from_csr(GN_I32, 3, 4, ptr, col, val, &g));
    ok(gn_graph_require(g, ALL_CSC | GN_ARRAY(GN_GRAPH_VALUE)));
    check_graph(g, &l);
    static const float once[] = {1.5f, 0, -2, 7};
    ck_assert_mem_eq(g->array[GN_GRAPH_VALUE], once, sizeof once);
    static const float by_source[] = {-2, 0, 7, 1.5f};
    ok(gn_graph_require(g, GN_ARRAY(GN_GRAPH_CSC_VALUE)));
    ck_assert_mem_eq(g->array[GN_GRAPH_CSC_VALUE], by_source, sizeof by_source);
    gn_graph_free(g);
    ok(gn_graph_from_csr(GN_I32, 3, 4, ptr, col, val, &g));
    /* with the arrays that it is made from */
    ok(gn_graph_require(g, GN_ARRAY(GN_GRAPH_CSC_VALUE)));
    ck_assert_mem_eq(g->array[GN_GRAPH_CSC_VALUE], by_source, sizeof by_source);
    static const float of_row[] = {1.5f, 0, -2};
    ok(gn_graph_require(g, GN_ARRAY(GN_GRAPH_ROW_VALUE)));
    ck_assert_mem_eq(g->array[GN_GRAPH_ROW_VALUE], of_row, sizeof of_row);
    gn_graph_free(g);
    ok(gn_graph_from_csr(GN_I32, 3, 4, ptr, col, NULL, &g));
    for (int e = 0; e < 4; e++)
        ck_assert(((float *)g->array[GN_GRAPH_VALUE])[e] == (e == 3 ? 2.0f : 1.0f));
    gn_graph_free(g);
    ok(gn_graph_from_csr(GN_I32, 0, 4, ptr, col, val, &g));
    ck_assert_int_eq(g->n_edge, 0);
    gn_graph_free(g);
}
END_TEST

START_TEST(dense_patterns)
{
    static const float x[] = {0, 1, 0, -0.0f, 2, 3};
    gn_graph *g;
    ok(gn_graph_from_dense(GN_I32, 3, 2, x, &g));
    static const int64_t src[] = {1, 0, 1}, dst[] = {0, 2, 2};
    check_graph(g, &(edge_list){2, 3, 3, (int64_t *)src, (int64_t *)dst});
    static const float val[] = {1, 2, 3};
    ck_assert_mem_eq(g->array[GN_GRAPH_VALUE], val, sizeof val);
    gn_graph_free(g);
    ok(gn_graph_from_dense(GN_I32, 0, 7, NULL, &g));
    ck_assert_int_eq(g->n_src, 7);
    gn_graph_free(g);
    refused(gn_graph_from_dense(GN_I32, INT64_MAX, 2, x, &g), GN_ERR_DATA, "a matrix of");
}
END_TEST

/* Back to a matrix: what stands twice is added, what the pattern does not have is 0. */
START_TEST(dense_again)
{
    static const int64_t ptr[] = {0, 3, 3, 6};
    static const int32_t col[] = {1, 0, 1, 2, 2, 1};
    static const float val[] = {1.5f, -2, 4, 3, -3, 7}, want[9] = {-2, 5.5f, 0, 0, 0, 0, 0, 7, 0};
    for (int w = 0; w < 2; w++) {
        float x[9];
        gn_graph *g;
        ok(gn_graph_from_csr(w ? GN_I64 : GN_I32, 3, 3, ptr, col, val, &g));
        ck_assert_int_eq(g->index, w ? GN_I64 : GN_I32);
        ck_assert_int_eq(g->n_edge, 4); /* of which one is 0 */
        memset(x, 0xff, sizeof x);
        gn_graph_to_dense(g, x);
        ck_assert_mem_eq(x, want, sizeof x);
        gn_graph_free(g);
        ok(gn_graph_from_dense(w ? GN_I64 : GN_I32, 3, 3, want, &g));
        ck_assert_int_eq(g->index, w ? GN_I64 : GN_I32);
        ck_assert_int_eq(g->n_edge, 3);
        gn_graph_to_dense(g, x);
        ck_assert_mem_eq(x, want, sizeof x);
        gn_graph_free(g);
    }
}
END_TEST

START_TEST(bad_patterns)
{
    gn_graph *g;
    int32_t col[] = {0, 1};
    int64_t late[] = {1, 2}, down[] = {0, 2, 1}, fine[] = {0, 2};
    refused(gn_graph_from_csr(GN_I32, 1, 2, late, col, NULL, &g), GN_ERR_DATA,
            "row 0 begins at entry 1");
    refused(gn_graph_from_csr(GN_I32, 2, 2, down, col, NULL, &g), GN_ERR_DATA,
            "row 1 ends at entry 1, before it begins at 2");
    refused(gn_graph_from_csr(GN_I32, 1, 1, fine, col, NULL, &g), GN_ERR_DATA,
            "entry 1: column 1 is out of range: there are 1 columns");
    col[0] = -1;
    refused(gn_graph_from_csr(GN_I32, 1, 2, fine, col, NULL, &g), GN_ERR_DATA,
            "entry 0: column -1");
    refused(gn_graph_from_csr(GN_I32, -1, 2, fine, col, NULL, &g), GN_ERR_USAGE, "-1 rows");
    refused(gn_graph_from_csr(GN_I32, 1, 2, NULL, col, NULL, &g), GN_ERR_USAGE,
            "1 rows at no address");
    refused(gn_graph_from_csr(GN_I32, 1, 2, fine, NULL, NULL, &g), GN_ERR_USAGE,
            "2 entries without their columns");
}
END_TEST

START_TEST(arrays_that_cannot_be)
{
    gn_graph *g;
    ok(gn_graph_from_coo(GN_I32, 2, 2, 0, GN_I64, NULL, NULL, &g));
    refused(gn_graph_require(g, GN_ARRAY(GN_GRAPH_VALUE)), GN_ERR_DATA,
            "not the pattern of a matrix");
    refused(gn_graph_require(g, GN_ARRAY(GN_GRAPH_CSC_VALUE)), GN_ERR_DATA,
            "not the pattern of a matrix");
    refused(gn_graph_require(g, GN_ARRAY(GN_GRAPH_ROW_VALUE)), GN_ERR_DATA,
            "not the pattern of a matrix");
    refused(gn_graph_require(g, GN_ARRAY(GN_GRAPH_FROM)), GN_ERR_DATA, "not derived");
    refused(gn_graph_require(g, GN_ARRAY(GN_GRAPH_IMAGE)), GN_ERR_DATA, "not derived");
    refused(gn_graph_require(g, GN_ARRAY(GN_GRAPH_MATRIX_ROW)), GN_ERR_DATA,
            "not the pattern of picked rows");
    gn_graph_free(g);
    ok(gn_graph_from_dense(GN_I32, 0, 2, NULL, &g));
    refused(gn_graph_require(g, GN_ARRAY(GN_GRAPH_MATRIX_ROW)), GN_ERR_DATA,
            "not the pattern of picked rows");
    gn_graph_free(g);
}
END_TEST

START_TEST(edge_values_there_and_back)
{
    edge_list l = edges_random(9, 9, 50);
    for (int w = 0; w < 2; w++) {
        gn_graph *g = graph_of(width[w], &l);
        float user[100], csr[100], back[100];
        for (int i = 0; i < 100; i++) user[i] = (float)i;
        gn_graph_edges_in(g, 8, user, csr);
        for (int64_t e = 0; e < 50; e++) {
            ck_assert(csr[2 * e] == (float)(2 * at(g, GN_GRAPH_POS, e)));
            ck_assert(csr[2 * e + 1] == csr[2 * e] + 1);
        }
        gn_graph_edges_out(g, 8, csr, back);
        ck_assert_mem_eq(user, back, sizeof user);
        gn_graph_free(g);
    }
    edges_free(&l);
}
END_TEST

/* Facts ---------------------------------------------------------------------------------------- */

static gn_graph_facts slow_facts(const gn_graph *g, const edge_list *l)
{
    gn_graph_facts f = {0};
    for (int64_t v = 0; v < l->n_dst; v++) {
        int64_t begin = at(g, GN_GRAPH_ROW_PTR, v), end = at(g, GN_GRAPH_ROW_PTR, v + 1);
        if (end - begin > f.max_in_degree) f.max_in_degree = end - begin;
        if (end > begin) f.in_class[(int)floor(log2((double)(end - begin)))]++;
    }
    for (int64_t u = 0; u < l->n_src; u++) {
        int64_t out = 0;
        for (int64_t e = 0; e < l->n; e++) out += l->src[e] == u;
        if (out > f.max_out_degree) f.max_out_degree = out;
        if (out) f.out_class[(int)floor(log2((double)out))]++;
    }
    return f;
}

static void check_facts(const edge_list *l)
{
    for (int w = 0; w < 2; w++) {
        gn_graph *g = graph_of(width[w], l);
        gn_graph_facts want = slow_facts(g, l), f;
        for (int again = 0; again < 2; again++) {
            ok(gn_graph_find_facts(g, &f));
            ck_assert_int_eq(f.max_in_degree, want.max_in_degree);
            ck_assert_int_eq(f.max_out_degree, want.max_out_degree);
            ck_assert_mem_eq(f.in_class, want.in_class, sizeof f.in_class);
            ck_assert_mem_eq(f.out_class, want.out_class, sizeof f.out_class);
        }
        gn_graph_free(g);
    }
}

START_TEST(facts)
{
    for (int k = 0; k < 60; k++) {
        edge_list l = edges_random(1 + random_below(12), 1 + random_below(12), random_below(30));
        check_facts(&l);
        edges_free(&l);
    }
    edge_list none = edges_new(0, 0, 0);
    check_facts(&none);
    edges_free(&none);
}
END_TEST

/* A graph to which edges and rows are appended is that of one list. */
static void check_append(gn_elem index, const edge_list *l, int64_t had, int64_t n_src,
                         int64_t n_dst)
{
    gn_graph *g, *larger;
    gn_more more = {l->n_src - n_src, l->n_dst - n_dst, l->n - had,
                    GN_I64,           l->src + had,     l->dst + had};
    ok(gn_graph_from_coo(index, n_src, n_dst, had, GN_I64, l->src, l->dst, &g));
    ok(gn_graph_append(g, &more, &larger));
    gn_graph_free(g);
    ck_assert_int_eq(larger->index, index);
    check_graph(larger, l);
    ok(gn_graph_require(larger, ALL_CSC));
    check_graph(larger, l);
    gn_graph_free(larger);
}

START_TEST(appended_edges)
{
    for (int k = 0; k < 200; k++) {
        int64_t n_src = 1 + random_below(20), n_dst = 1 + random_below(20);
        edge_list old = edges_random(n_src, n_dst, random_below(80)),
                  l = edges_random(n_src + random_below(3), n_dst + random_below(3),
                                   old.n + random_below(k % 4 ? 6 : 80));
        for (int64_t e = 0; e < old.n; e++) {
            l.src[e] = old.src[e];
            l.dst[e] = old.dst[e];
        }
        check_append(width[k % 2], &l, old.n, n_src, n_dst);
        edges_free(&old);
        edges_free(&l);
    }
}
END_TEST

START_TEST(bad_appends)
{
    edge_list l = edges_random(5, 4, 12);
    gn_graph *g = graph_of(GN_I32, &l), *larger, *reversed;
    int64_t src[] = {1, 6, 7}, dst[] = {0, 4, 1};
    const gn_more fits = {2, 0, 1, GN_I64, src, dst}, beyond = {2, 1, 3, GN_I64, src, dst},
                  fewer = {-1, 0, 1, GN_I64, src, dst}, nowhere = {0, 0, 1, GN_I64, NULL, dst},
                  many = {INT64_MAX, 0, 0, GN_I64, NULL, NULL};
    refused(gn_graph_append(g, &beyond, &larger), GN_ERR_DATA, "edge 2");
    refused(gn_graph_append(g, &fewer, &larger), GN_ERR_USAGE, "-1");
    refused(gn_graph_append(g, &nowhere, &larger), GN_ERR_USAGE, "edges");
    refused(gn_graph_append(g, &many, &larger), GN_ERR_NOMEM, "cannot be addressed");
    ok(gn_graph_derived(g, GN_REVERSE, &reversed));
    refused(gn_graph_append(reversed, &fits, &larger), GN_ERR_INTERNAL, "appended");
    OUT_OF_MEMORY_SWEEP(gn_graph_append(g, &fits, &larger));
    gn_graph_free(larger);
    gn_graph_free(reversed);
    gn_graph_free(g);
    edges_free(&l);
}
END_TEST

RUN_SUITE("runtime graph", appended_edges, bad_appends, small_graphs, random_graphs, large_graphs,
          repeats_keep_the_users_order, index_width_follows_the_counts, indices_as_wide_as_asked,
          rows_of_sources, wider_copies, several_threads_ask_at_once, bad_edges_are_named,
          impossible_counts, out_of_memory, patterns, dense_patterns, dense_again, bad_patterns,
          arrays_that_cannot_be, edge_values_there_and_back, facts)
