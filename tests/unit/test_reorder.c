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
    ck_assert_ptr_null(gn_dataset_renumber(d, &to));
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

static int64_t moved(const int64_t *to, int64_t v) { return to ? to[v] : v; }

/* Of several types each has its own numbers: relations, columns, labels and masks go with them, and
 * the data say where rows lie, of an order upon an order, too. */
START_TEST(types_follow)
{
    static const char path[] = "synthetic:typed,scale=0.0005";
    gn_dataset *d = make(path), *was = make(path);
    ck_assert_ptr_null(gn_dataset_order(d, GN_ORDER_DEGREE));
    ck_assert_ptr_null(gn_dataset_order(d, GN_ORDER_COMMUNITIES));
    ck_assert_ptr_null(gn_dataset_check(d));
    for (int k = 0; k < d->n_relations; k++) {
        const gn_relation *r = &d->relations[k], *o = &was->relations[k];
        for (int64_t e = 0; e < r->n_edges; e++) {
            ck_assert_int_eq(r->from[e], moved(gn_dataset_row_of(d, r->src), o->from[e]));
            ck_assert_int_eq(r->to[e], moved(gn_dataset_row_of(d, r->dst), o->to[e]));
        }
    }
    const int64_t *row_of = gn_dataset_row_of(d, d->labelled);
    bool same = true;
    for (int64_t v = 0; v < gn_dataset_labelled(d); v++) {
        ck_assert_int_eq(d->y[row_of[v]], was->y[v]);
        ck_assert_int_eq(d->val_mask[row_of[v]], was->val_mask[v]);
        same &= row_of[v] == v;
    }
    ck_assert(!same);
    const gn_table_column *x = gn_dataset_column(d, "paper.x"),
                          *y = gn_dataset_column(was, x->name);
    size_t row = (size_t)x->dim[0] * sizeof(float);
    row_of = gn_dataset_row_of(d, x->over);
    for (int64_t v = 0; v < gn_dataset_rows(d, x->over); v++)
        ck_assert_mem_eq((char *)x->data + (size_t)row_of[v] * row,
                         (char *)y->data + (size_t)v * row, row);
    gn_dataset_free(d);
    gn_dataset_free(was);
}
END_TEST

/* Most edges first, of all relations; types without rows or edges have orders, too. */
START_TEST(all_relations_make_the_order)
{
    gn_dataset *d = calloc(1, sizeof *d);
    int a, b, none;
    ck_assert_ptr_null(gn_dataset_add_table(d, "a", 3, &a));
    ck_assert_ptr_null(gn_dataset_add_table(d, "b", 2, &b));
    ck_assert_ptr_null(gn_dataset_add_table(d, "none", 0, &none));
    static const int64_t ends[][2] = {{0, 1}, {2, 1}, {2, 1}, {2, 0}};
    int64_t *from = calloc(4, 8), *to = calloc(4, 8), *x = calloc(2, 8), *y = calloc(2, 8);
    for (int e = 0; e < 4; e++) {
        from[e] = ends[e][0];
        to[e] = ends[e][1];
    }
    x[0] = x[1] = 1;
    y[0] = y[1] = 0;
    d->typed = true;
    ck_assert_ptr_null(gn_dataset_add_relation(d, "r", a, b, 4, from, to, NULL));
    ck_assert_ptr_null(gn_dataset_add_relation(d, "s", a, a, 2, x, y, NULL));
    ck_assert_ptr_null(gn_dataset_order(d, GN_ORDER_DEGREE));
    static const int64_t of_a[] = {1, 2, 0}, of_b[] = {1, 0}; /* 3, 2 and 3 edges; 1 and 3 */
    ck_assert_mem_eq(gn_dataset_row_of(d, a), of_a, sizeof of_a);
    ck_assert_mem_eq(gn_dataset_row_of(d, b), of_b, sizeof of_b);
    ck_assert(d->relations[0].from[1] == 0 && d->relations[0].to[3] == 1);
    ck_assert_ptr_null(gn_dataset_order(d, GN_ORDER_RCM));
    gn_dataset_free(d);
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
    tcase_add_test(t, types_follow);
    tcase_add_test(t, all_relations_make_the_order);
    return RUN_CASES("reorder", t);
}
