/* Real data against PyTorch Geometric 2.8.1 (torch 2.15.0): the order of edges, features, labels
 * and masks.
 *
 * The figures were recorded with read_planetoid_data and NormalizeFeatures (cora), read_npz
 * (coauthor, amazon), HeterophilousGraphDataset.process (tolokers), scipy.sparse.csr_matrix of
 * adj_* (uk_2007) and scipy.io.mmread (cornell5); with k = arange(E) % 1000 + 1, v = arange(N) % 97
 * + 1, w = arange(F) % 17 + 1:
 *   src = ((k * src) % 1000003).sum(), dst likewise; x = (x.double() * w).sum(); y = (y *
 *   v).sum(). */
/* links: runtime base */
/* timeout: 120 */
#include "data_fixture.h"

#include <math.h>

static const struct real {
    const char *path;
    int split, undirected;
    int64_t nodes, edges, features, stored, classes;
    int64_t train, val, test;
    int64_t src, dst, y;
    double x;
} reals[] = {
    {"planetoid/cora", 0, -1, 2708, 10556, 1433, 49216, 7, 140, 500, 1000, 3867564053, 3946440774,
     378256, 23834.6002},
    {"npz/amazon_photo.npz", 0, -1, 7650, 238162, 745, 1979909, 8, 160, 240, 7250, 106153655660,
     106025325762, 1336361, 17685652},
    {"npz/coauthor_cs.npz", 0, -1, 18333, 163788, 6805, 1092079, 15, 300, 450, 17583, 77639577888,
     77683470889, 7198749, 9895852},
    {"npz/coauthor_phy.npz", 0, -1, 34493, 495924, 8415, 1137311, 5, 100, 150, 34243, 240951892561,
     240978576705, 3043969, 9997518},
    {"npz/tolokers.npz", 0, -1, 11758, 1038000, 10, -1, 2, 5879, 2939, 2940, 477510636958,
     478111887327, 124082, 304744.1312},
    {"npz/tolokers.npz", 3, -1, 11758, 1038000, 10, -1, 2, 5879, 2939, 2940, 477510636958,
     478111887327, 124082, 304744.1312},
    {"npz/uk_2007_100k.npz", 0, -1, 100000, 3050615, 0, 0, 0, 0, 0, 0, 1497286735044, 1497629194479,
     0, 0},
    {"npz/uk_2007_100k.npz", 0, 1, 100000, 5574820, 0, 0, 0, 0, 0, 0, 2736490246211, 2735802170075,
     0, 0},
};
enum { REALS = sizeof reals / sizeof *reals };

static int64_t weigh(const int64_t *v, int64_t n)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (i % 1000 + 1) * v[i] % 1000003;
    return sum;
}

static double weigh_features(const gn_dataset *d)
{
    double sum = 0;
    const gn_csr *m = d->x_csr;
    for (int64_t i = 0; m && i < m->nnz; i++)
        sum += (double)m->val[i] * (double)(m->col[i] % 17 + 1);
    for (int64_t i = 0; d->x && i < d->n_nodes * d->n_features; i++)
        sum += (double)d->x[i] * (double)(i % d->n_features % 17 + 1);
    return sum;
}

START_TEST(agrees_with_pyg)
{
    const struct real *r = &reals[_i];
    const char *path = real_path(r->path);
    if (!path) return;
    gn_dataset *d = read_with((gn_data_options){
        .path = path, .split = r->split, .normalize_rows = -1, .undirected = r->undirected});
    int64_t n = d->n_nodes, y = 0;
    ck_assert_int_eq(n, r->nodes);
    ck_assert_int_eq(d->n_edges, r->edges);
    ck_assert_int_eq(d->n_features, r->features);
    ck_assert_int_eq(d->n_classes, r->classes);
    if (r->stored > 0) ck_assert_int_eq(d->x_csr->nnz, r->stored);
    if (r->stored < 0) ck_assert(d->x && !d->x_csr);
    ck_assert_int_eq(weigh(d->src, d->n_edges), r->src);
    ck_assert_int_eq(weigh(d->dst, d->n_edges), r->dst);
    ck_assert(fabs(weigh_features(d) - r->x) < 1e-3);
    for (int64_t i = 0; d->y && i < n; i++) y += d->y[i] * (i % 97 + 1);
    ck_assert_int_eq(y, r->y);
    if (r->classes) {
        ck_assert_int_eq(count_mask(d->train_mask, n), r->train);
        ck_assert_int_eq(count_mask(d->val_mask, n), r->val);
        ck_assert_int_eq(count_mask(d->test_mask, n), r->test);
        ck_assert(d->split_drawn == (strstr(path, "coauthor") || strstr(path, "amazon")));
    }
    gn_dataset_free(d);
}
END_TEST

START_TEST(splits_of_tolokers_differ)
{
    static const int64_t sums[][3] = {{288682, 142365, 144297}, {288470, 141795, 145079}};
    const char *path = real_path("npz/tolokers.npz");
    if (!path) return;
    gn_dataset *d = read_with((gn_data_options){
        .path = path, .split = _i ? 3 : 0, .normalize_rows = -1, .undirected = -1});
    const uint8_t *const masks[] = {d->train_mask, d->val_mask, d->test_mask};
    for (int k = 0; k < 3; k++) {
        int64_t sum = 0;
        for (int64_t i = 0; i < d->n_nodes; i++) sum += masks[k][i] * (i % 97 + 1);
        ck_assert_int_eq(sum, sums[_i][k]);
    }
    gn_dataset_free(d);
}
END_TEST

START_TEST(cornell5)
{
    const char *path = real_path("mtx/cornell5.mtx.gz");
    if (!path) return;
    gn_dataset *d = read_path(path);
    int64_t rows = 0, products = 0;
    ck_assert(d->n_nodes == 18660 && d->n_edges == 1581554 && !d->edge_weight && !d->y &&
              d->n_features == 0);
    ck_assert_str_eq(d->name, "cornell5");
    for (int64_t e = 0; e < d->n_edges; e++) {
        rows += d->src[e];
        products += d->src[e] * d->dst[e];
    }
    ck_assert_int_eq(rows, 14775883658);
    ck_assert_int_eq(products, 138010496365710);
    gn_dataset_free(d);
}
END_TEST

/* Of graphs and triples as many as the files have lines; the TU files here are without the graphs
 * that are there twice. */
START_TEST(graphs_of_the_tu_collection)
{
    static const struct {
        const char *path;
        int64_t graphs, nodes, edges, features, edge_dim, first; /* of the first class */
    } all[] = {{"tu/MUTAG", 135, 2545, 5626, 7, 4, 42},
               {"tu/PROTEINS", 975, 42323, 158022, 4, 0, 0}};
    const char *path = real_path(all[_i].path);
    if (!path) return;
    gn_dataset *d = read_path(path);
    ck_assert_int_eq(gn_dataset_rows(d, d->labelled), all[_i].graphs);
    ck_assert_int_eq(d->n_nodes, all[_i].nodes);
    ck_assert_int_eq(d->n_edges, all[_i].edges);
    ck_assert_int_eq(d->n_features, all[_i].features);
    ck_assert_int_eq(d->edge_dim, all[_i].edge_dim);
    ck_assert_int_eq(d->n_classes, 2);
    ck_assert_int_eq(d->relations[0].n_edges, all[_i].nodes);
    int64_t first = 0;
    for (int64_t g = 0; g < all[_i].graphs; g++) first += d->y[g] == 0;
    if (all[_i].first) ck_assert_int_eq(first, all[_i].first);
    gn_dataset_free(d);
}
END_TEST

START_TEST(knowledge_graphs)
{
    static const struct {
        const char *path;
        int64_t nodes, edges, kinds, classes, train, val, test;
    } all[] = {{"rdf/aifb", 8285, 29043, 45, 4, 104, 36, 36},
               {"rdf/amfull", 1080876, 1360749, 12, 8, 13423, 20000, 20000},
               {"kg/WN18RR", 40943, 93003, 11, 0, 86835, 3034, 3134}};
    const char *path = real_path(all[_i].path);
    if (!path) return;
    gn_dataset *d = read_path(path);
    ck_assert_int_eq(d->n_nodes, all[_i].nodes);
    ck_assert_int_eq(d->n_edges, all[_i].edges);
    ck_assert_int_eq(d->n_classes, all[_i].classes);
    ck_assert_int_eq(gn_dataset_column(d, "g.kind")->classes, all[_i].kinds);
    const uint8_t *mask[] = {d->train_mask, d->val_mask, d->test_mask};
    const char *const name[] = {"g.train_mask", "g.val_mask", "g.test_mask"};
    int64_t n = d->y ? d->n_nodes : d->n_edges, count[3];
    for (int k = 0; k < 3; k++)
        count[k] = count_mask(d->y ? mask[k] : gn_dataset_column(d, name[k])->data, n);
    ck_assert_int_eq(count[0], all[_i].train);
    ck_assert_int_eq(count[1], all[_i].val);
    ck_assert_int_eq(count[2], all[_i].test);
    must(gn_dataset_split_kinds(d, false));
    int64_t edges = 0;
    for (int k = 0; k < d->n_relations; k++) edges += d->relations[k].n_edges;
    ck_assert_int_eq(d->n_relations, all[_i].kinds);
    ck_assert_int_eq(edges, d->y ? all[_i].edges : all[_i].train);
    must(gn_dataset_check(d));
    gn_dataset_free(d);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("real");
    TCase *t = tcase_create("real");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, agrees_with_pyg, 0, REALS);
    tcase_add_loop_test(t, splits_of_tolokers_differ, 0, 2);
    tcase_add_test(t, cornell5);
    tcase_add_loop_test(t, graphs_of_the_tu_collection, 0, 2);
    tcase_add_loop_test(t, knowledge_graphs, 0, 3);
    suite_add_tcase(s, t);
    return suite_run(s);
}
