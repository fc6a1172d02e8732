/* Synthetic graphs and drawn splits: exact counts, the same twice, and something to learn. */
/* links: runtime base */
#include "data_fixture.h"

#include "runtime/data/edges.h"

#include <math.h>
#include <time.h>

static gn_dataset *make(const char *path, uint64_t seed)
{
    return read_with(
        (gn_data_options){.path = path, .seed = seed, .normalize_rows = -1, .undirected = -1});
}

/* Symmetric, no loops, sorted by (src, dst) and so unique. */
static void check_graph(const gn_dataset *d, int64_t nodes, int64_t edges)
{
    ck_assert_int_eq(d->n_nodes, nodes);
    ck_assert_int_eq(d->n_edges, edges);
    uint64_t forth = 0, back = 0;
    for (int64_t e = 0; e < edges; e++) {
        ck_assert_int_ne(d->src[e], d->dst[e]);
        if (e)
            ck_assert(d->src[e] > d->src[e - 1] ||
                      (d->src[e] == d->src[e - 1] && d->dst[e] > d->dst[e - 1]));
        forth += (uint64_t)(d->src[e] * 1000003 + d->dst[e]) * 0x9E3779B97F4A7C15u >> 7;
        back += (uint64_t)(d->dst[e] * 1000003 + d->src[e]) * 0x9E3779B97F4A7C15u >> 7;
    }
    ck_assert(forth == back);
}

START_TEST(counts_are_exact)
{
    static const struct {
        const char *path;
        int64_t nodes, edges;
    } cases[] = {
        {"synthetic:nodes=1,edges=0", 1, 0},
        {"synthetic:nodes=2,edges=2", 2, 2},
        {"synthetic:nodes=100,edges=9900", 100, 9900},
        {"synthetic:nodes=100,edges=9898,exponent=2.01", 100, 9898},
        {"synthetic:nodes=100,edges=2400,exponent=1.1", 100, 2400},
        {"synthetic:nodes=50,edges=400,communities=50", 50, 400},
        {"synthetic:nodes=3000,edges=20000,communities=7,exponent=3", 3000, 20000},
        {"synthetic:nodes=5,edges=0,features=3,classes=2", 5, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gn_dataset *d = make(cases[i].path, 1);
        check_graph(d, cases[i].nodes, cases[i].edges);
        gn_dataset_free(d);
    }
}
END_TEST

START_TEST(seeds_decide)
{
    static const char path[] = "synthetic:nodes=500,edges=4000,features=10,classes=3";
    gn_dataset *a = make(path, 7), *b = make(path, 7), *c = make(path, 8),
               *e = make("synthetic:nodes=500,edges=4000,features=10,classes=3,seed=7", 9);
    ck_assert_mem_eq(a->src, b->src, 4000 * sizeof *a->src);
    ck_assert_mem_eq(a->dst, b->dst, 4000 * sizeof *a->dst);
    ck_assert_mem_eq(a->x, b->x, 5000 * sizeof *a->x);
    ck_assert_mem_eq(a->y, b->y, 500 * sizeof *a->y);
    ck_assert_mem_eq(a->train_mask, b->train_mask, 500);
    ck_assert_mem_ne(a->dst, c->dst, 4000 * sizeof *a->dst);
    ck_assert_mem_ne(a->train_mask, c->train_mask, 500);
    ck_assert_mem_eq(a->dst, e->dst, 4000 * sizeof *a->dst);
    ck_assert_mem_eq(a->x, e->x, 5000 * sizeof *a->x);
    gn_dataset_free(a);
    gn_dataset_free(b);
    gn_dataset_free(c);
    gn_dataset_free(e);
}
END_TEST

/* A power law has hubs; a large exponent has none. */
START_TEST(degrees_follow_the_exponent)
{
    int64_t most[2];
    for (int k = 0; k < 2; k++) {
        gn_dataset *d = make(k ? "synthetic:nodes=10000,edges=100000,exponent=1000"
                               : "synthetic:nodes=10000,edges=100000",
                             1);
        int64_t *degree = calloc(10000, sizeof *degree);
        most[k] = 0;
        for (int64_t e = 0; e < d->n_edges; e++)
            if (++degree[d->src[e]] > most[k]) most[k] = degree[d->src[e]];
        free(degree);
        gn_dataset_free(d);
    }
    ck_assert_int_gt(most[0], 150);
    ck_assert_int_lt(most[1], 40);
}
END_TEST

/* Most edges join nodes of one class, and the nearest centre tells a node's class far more often
 * than chance. */
START_TEST(labels_can_be_learnt)
{
    gn_dataset *d = make("synthetic:nodes=2000,edges=20000,features=32,classes=5", 3);
    int64_t same = 0, right = 0, n[5] = {0};
    double centre[5][32] = {{0}};
    for (int64_t e = 0; e < d->n_edges; e++) same += d->y[d->src[e]] == d->y[d->dst[e]];
    ck_assert(same > d->n_edges / 2 && same < d->n_edges * 9 / 10);
    for (int64_t i = 0; i < 2000; i++) {
        n[d->y[i]]++;
        for (int f = 0; f < 32; f++) centre[d->y[i]][f] += (double)d->x[i * 32 + f];
    }
    for (int64_t i = 0; i < 2000; i++) {
        int best = 0;
        double least = INFINITY;
        for (int c = 0; c < 5; c++) {
            double sum = 0;
            for (int f = 0; f < 32; f++)
                sum += pow((double)d->x[i * 32 + f] - centre[c][f] / (double)n[c], 2);
            if (sum < least) {
                least = sum;
                best = c;
            }
        }
        right += best == d->y[i];
    }
    ck_assert_msg(right > 900 && right < 1900, "%lld", (long long)right);
    gn_dataset_free(d);
}
END_TEST

START_TEST(sparse_features)
{
    gn_dataset *d = make("synthetic:nodes=300,edges=1000,features=200,classes=4,density=0.05", 1);
    ck_assert(d->x == NULL && d->x_csr->nnz == 3000 && d->n_features == 200);
    gn_dataset_free(d);
    d = make("synthetic:nodes=20,edges=40,features=7,density=0.99", 1);
    ck_assert_int_eq(d->x_csr->nnz, 140);
    gn_dataset_free(d);
}
END_TEST

START_TEST(splits_take_twenty_and_thirty)
{
    gn_dataset *d = make("synthetic:nodes=1000,edges=2000,classes=4", 1);
    int64_t train[4] = {0}, val[4] = {0};
    ck_assert(d->split_drawn);
    for (int64_t i = 0; i < 1000; i++) {
        ck_assert_int_eq(d->train_mask[i] + d->val_mask[i] + d->test_mask[i], 1);
        train[d->y[i]] += d->train_mask[i];
        val[d->y[i]] += d->val_mask[i];
    }
    for (int c = 0; c < 4; c++) ck_assert(train[c] == 20 && val[c] == 30);
    gn_dataset_free(d);
    d = make("synthetic:nodes=30,edges=60,classes=3", 1); /* small classes give a third to each */
    ck_assert(count_mask(d->train_mask, 30) >= 9 && count_mask(d->test_mask, 30) >= 6);
    gn_dataset_free(d);
}
END_TEST

/* A share of the nodes is trained on, whatever the classes, and the graph is what it is without. */
START_TEST(shares_to_train_on)
{
    static const char graph[] = "synthetic:nodes=3000,edges=9000,features=2,classes=3";
    gn_dataset *plain = make(graph, 1),
               *d = make("synthetic:nodes=3000,edges=9000,features=2,classes=3,train=0.4", 1),
               *all = make("synthetic:nodes=3000,edges=9000,features=2,classes=3,train=1", 1),
               *none = make("synthetic:nodes=3000,edges=9000,features=2,train=0.4", 1);
    ck_assert(!d->split_drawn && plain->split_drawn);
    for (int64_t i = 0; i < 3000; i++)
        ck_assert_int_eq(d->train_mask[i] + d->val_mask[i] + d->test_mask[i], 1);
    ck_assert(llabs(count_mask(d->train_mask, 3000) - 1200) < 150);
    ck_assert(llabs(count_mask(d->val_mask, 3000) - 600) < 120);
    ck_assert_int_eq(count_mask(all->train_mask, 3000), 3000);
    ck_assert(!none->train_mask); /* nothing to learn */
    ck_assert_mem_eq(plain->src, d->src, 9000 * sizeof *d->src);
    ck_assert_mem_eq(plain->x, d->x, 6000 * sizeof *d->x);
    gn_dataset_free(plain);
    gn_dataset_free(d);
    gn_dataset_free(all);
    gn_dataset_free(none);
}
END_TEST

static double mean_distance(const gn_dataset *d)
{
    double sum = 0;
    for (int64_t e = 0; e < d->n_edges; e++) sum += fabs((double)d->src[e] - (double)d->dst[e]);
    return sum / (double)d->n_edges;
}

/* Four fifths of the edges stay within a tenth of the numbers; else two nodes are a third of all
 * numbers apart. */
START_TEST(communities_lie_together)
{
    gn_dataset *far = make("synthetic:nodes=5000,edges=20000,communities=10", 1),
               *near = make("synthetic:nodes=5000,edges=20000,communities=10,local=1", 1);
    check_graph(near, 5000, 20000);
    ck_assert(mean_distance(far) > 1500 && mean_distance(far) < 1850);
    ck_assert(mean_distance(near) > 300 && mean_distance(near) < 650);
    gn_dataset_free(far);
    gn_dataset_free(near);
}
END_TEST

START_TEST(usage_errors)
{
    static const char *const bad[][2] = {
        {"synthetic:", "at least nodes=N,edges=E"},
        {"synthetic:nodes=10", "at least nodes=N,edges=E"},
        {"synthetic:nodes=10,edges=7", "expected an even number"},
        {"synthetic:nodes=10,edges=92", "10 nodes have at most 90"},
        {"synthetic:nodes=0,edges=0", "nodes=0: expected a whole number from 1"},
        {"synthetic:nodes=1.5,edges=0", "nodes=1.5"},
        {"synthetic:nodes=1e10,edges=0", "nodes=1e10"},
        {"synthetic:nodes=9,edges=2,density=2", "density=2: expected a number from 0 to 1"},
        {"synthetic:nodes=9,edges=2,exponent=1", "exponent=1"},
        {"synthetic:nodes=9,edges=x", "edges=x"},
        {"synthetic:nodes=9,edges=2,train=1.5", "train=1.5: expected a number from 0 to 1"},
        {"synthetic:nodes=9,edges=2,local=0.5", "local=0.5: expected a whole number from 0 to 1"},
        {"synthetic:nodes=9,edges=", "edges="},
        {"synthetic:nodes", "nodes="},
        {"synthetic:nodes=9,edges=2,feetures=3", "did you mean 'features'?"},
        {"synthetic:=3", "unknown key ''"},
    };
    gn_dataset *d;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gn_data_options opt = {.path = bad[i][0], .normalize_rows = -1, .undirected = -1};
        must_fail(gn_dataset_read(&opt, &d), GN_ERR_USAGE, bad[i][1], (int)i);
    }
    gn_data_options opt = {.path = "synthetic:nodes=2000000000,edges=0,features=2000000000",
                           .undirected = -1};
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_NOMEM, "out of memory");
}
END_TEST

START_TEST(edges_are_merged_in_order)
{
    gn_edges e = {0};
    must(gn_edges_push(&e, 5, 3));
    must(gn_edges_push_weighted(&e, 0, 2147483646, 2));
    must(gn_edges_push_weighted(&e, 5, 3, 0.5f));
    must(gn_edges_push(&e, 2, 2));
    must(gn_edges_coalesce(&e, false));
    ck_assert(e.n == 3 && e.src[0] == 0 && e.dst[0] == 2147483646 && e.weight[0] == 2 &&
              e.weight[2] == 1.5f);
    must(gn_edges_coalesce(&e, true));
    ck_assert(e.dst[0] == 2 && e.dst[1] == 3 && e.dst[2] == 2147483646);
    gn_edges_remove_loops(&e);
    must(gn_edges_to_undirected(&e));
    ck_assert(e.n == 4 && e.src[1] == 3 && e.dst[1] == 5 && e.weight[1] == 1.5f);
    gn_edges_free(&e);
    must(gn_edges_to_undirected(&e));
    ck_assert(e.n == 0);
    gn_edges_free(&e);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("synthetic");
    TCase *t = tcase_create("synthetic");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, counts_are_exact);
    tcase_add_test(t, seeds_decide);
    tcase_add_test(t, degrees_follow_the_exponent);
    tcase_add_test(t, labels_can_be_learnt);
    tcase_add_test(t, sparse_features);
    tcase_add_test(t, splits_take_twenty_and_thirty);
    tcase_add_test(t, shares_to_train_on);
    tcase_add_test(t, communities_lie_together);
    tcase_add_test(t, usage_errors);
    tcase_add_test(t, edges_are_merged_in_order);
    suite_add_tcase(s, t);
    return suite_run(s);
}
