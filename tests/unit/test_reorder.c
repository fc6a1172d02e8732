/* Orders of nodes: permutations, the same twice, closer together where there is something to find;
 * datasets follow. */
/* links: runtime base */
#include "data_fixture.h"

#include "base/philox.h"
#include "runtime/graph/reorder.h"

#include <math.h>

static gn_dataset *make(const char *path)
{
    gn_dataset *d;
    gn_status *s = gn_dataset_read(
        &(gn_data_options){.path = path, .normalize_rows = -1, .undirected = -1}, &d);
    ck_assert_msg(!s, "%s", s ? gn_status_message(s) : "");
    return d;
}

static gn_graph *graph_of(int64_t n, int64_t m, const int64_t *src, const int64_t *dst)
{
    gn_graph *g;
    ck_assert_ptr_null(gn_graph_from_coo(GN_I32, n, n, m, GN_I64, src, dst, &g));
    return g;
}

static void check_order(gn_graph *g, gn_order how, int64_t *to)
{
    int64_t n = g->n_dst, *again = calloc((size_t)n + 1, sizeof *again);
    char *seen = calloc((size_t)n + 1, 1);
    ck_assert_ptr_null(gn_graph_order(g, how, to));
    ck_assert_ptr_null(gn_graph_order(g, how, again));
    ck_assert_mem_eq(to, again, (size_t)n * sizeof *to);
    for (int64_t v = 0; v < n; v++) {
        ck_assert(to[v] >= 0 && to[v] < n && !seen[to[v]]);
        seen[to[v]] = 1;
    }
    free(again);
    free(seen);
}

/* Loops, repeats, nodes without edges, one way only, nothing at all. */
START_TEST(every_order_is_a_permutation)
{
    static const int64_t counts[][2] = {{0, 0}, {1, 0},   {1, 3},    {2, 1},
                                        {7, 3}, {50, 40}, {50, 400}, {3000, 20000}};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        int64_t n = counts[c][0], m = counts[c][1], to[3001];
        int64_t *src = calloc((size_t)m + 1, 8), *dst = calloc((size_t)m + 1, 8);
        for (int64_t e = 0; e < m; e++) {
            src[e] = gn_random_u32(1, 2, (uint64_t)e) % n;
            dst[e] = gn_random_u32(1, 3, (uint64_t)e) % (e % 2 ? n : n / 2 + 1);
        }
        gn_graph *g = graph_of(n, m, src, dst);
        for (int how = 0; how < GN_ORDER_COUNT; how++) check_order(g, (gn_order)how, to);
        gn_graph_free(g);
        free(src);
        free(dst);
    }
}
END_TEST

/* Files have their nodes in it, too. */
START_TEST(by_degree_the_last_of_equals_comes_first)
{
    const int64_t degree[] = {1, 3, 1, 3, 0}, want[] = {3, 1, 2, 0, 4};
    int64_t to[5];
    ck_assert_ptr_null(gn_order_by_degree(degree, 5, to));
    for (int v = 0; v < 5; v++) ck_assert_int_eq(to[v], want[v]);
}
END_TEST

static double mean_distance(const gn_dataset *d, const int64_t *to)
{
    double sum = 0;
    for (int64_t e = 0; e < d->n_edges; e++) sum += fabs((double)(to[d->src[e]] - to[d->dst[e]]));
    return sum / (double)d->n_edges;
}

START_TEST(communities_come_together)
{
    gn_dataset *d = make("synthetic:nodes=4000,edges=40000,features=4,classes=4,communities=80");
    gn_graph *g = graph_of(d->n_nodes, d->n_edges, d->src, d->dst);
    int64_t *to = calloc((size_t)d->n_nodes, sizeof *to);
    double at[GN_ORDER_COUNT];
    for (int how = 0; how < GN_ORDER_COUNT; how++) {
        check_order(g, (gn_order)how, to);
        at[how] = mean_distance(d, to);
    }
    ck_assert_double_lt(at[GN_ORDER_COMMUNITIES], 0.5 * at[GN_ORDER_NONE]);
    check_order(g, GN_ORDER_DEGREE, to);
    for (int64_t v = 0; v < d->n_nodes; v++)
        for (int64_t u = v + 1; u < d->n_nodes && u < v + 20; u++) {
            const int32_t *ptr = g->array[GN_GRAPH_ROW_PTR];
            int32_t a = ptr[v + 1] - ptr[v], b = ptr[u + 1] - ptr[u];
            if (a != b) ck_assert((a > b) == (to[v] < to[u]));
        }
    free(to);
    gn_graph_free(g);
    gn_dataset_free(d);
}
END_TEST

/* A path whose nodes are shuffled gets its band of one back. */
START_TEST(a_path_gets_a_narrow_band)
{
    enum { N = 1001 };
    int64_t src[N - 1], dst[N - 1], to[N];
    for (int64_t k = 0; k + 1 < N; k++) {
        src[k] = k * 5 % N;
        dst[k] = (k + 1) * 5 % N;
    }
    gn_graph *g = graph_of(N, N - 1, src, dst);
    check_order(g, GN_ORDER_RCM, to);
    for (int64_t k = 0; k + 1 < N; k++) ck_assert_int_eq(llabs(to[src[k]] - to[dst[k]]), 1);
    gn_graph_free(g);
}
END_TEST

/* Node v's row is where v went. */
static void check_renumbered(const char *path)
{
    gn_dataset *d = make(path), *as_it_was = make(path);
    int64_t n = d->n_nodes, f = d->n_features, *to = calloc((size_t)n + 1, sizeof *to);
    for (int64_t v = 0; v < n; v++) to[v] = (v * 7 + 3) % n;
    ck_assert_ptr_null(gn_dataset_renumber(d, to));
    ck_assert_ptr_null(gn_dataset_check(d));
    for (int64_t e = 0; e < d->n_edges; e++) {
        ck_assert_int_eq(d->src[e], to[as_it_was->src[e]]);
        ck_assert_int_eq(d->dst[e], to[as_it_was->dst[e]]);
    }
    for (int64_t v = 0; v < n; v++) {
        ck_assert_int_eq(d->y[to[v]], as_it_was->y[v]);
        ck_assert_int_eq(d->train_mask[to[v]], as_it_was->train_mask[v]);
        ck_assert_int_eq(d->test_mask[to[v]], as_it_was->test_mask[v]);
        if (d->x) ck_assert_mem_eq(d->x + to[v] * f, as_it_was->x + v * f, (size_t)f * 4);
        if (!d->x_csr) continue;
        const gn_csr *a = d->x_csr, *b = as_it_was->x_csr;
        int64_t nnz = b->ptr[v + 1] - b->ptr[v];
        ck_assert_int_eq(a->ptr[to[v] + 1] - a->ptr[to[v]], nnz);
        ck_assert_mem_eq(a->col + a->ptr[to[v]], b->col + b->ptr[v], (size_t)nnz * 4);
    }
    free(to);
    gn_dataset_free(d);
    gn_dataset_free(as_it_was);
}

START_TEST(datasets_follow)
{
    /* 7 and 100 have no divisor in common */
    check_renumbered("synthetic:nodes=100,edges=600,features=5,classes=3");
    check_renumbered("synthetic:nodes=100,edges=600,features=40,classes=3,density=0.1");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    tcase_add_test(t, every_order_is_a_permutation);
    tcase_add_test(t, by_degree_the_last_of_equals_comes_first);
    tcase_add_test(t, communities_come_together);
    tcase_add_test(t, a_path_gets_a_narrow_band);
    tcase_add_test(t, datasets_follow);
    return RUN_CASES("reorder", t);
}
