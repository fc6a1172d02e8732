/* Subgraphs that batches are: parts of METIS, and what is drawn of nodes, edges and walks, by their
 * chances. */
/* links: session */
#include "runtime_check.h"

#include "base/draw.h"
#include "session/clusters.h"
#include "session/subgraphs.h"

#include <math.h>

enum { NODES = 60, BATCHES = 4000 };

/* A ring, with a hub that sends to and hears of every third node, and of others alone hears. */
static gn_graph *ring(void)
{
    edge_list l = edges_new(NODES, NODES, 2 * NODES + 2 * (NODES / 3) + NODES / 3 - 1);
    int64_t n = 0;
    for (int64_t v = 0; v < NODES; v++)
        for (int64_t d = 1; d < NODES; d += NODES - 2) {
            l.src[n] = v;
            l.dst[n++] = (v + d) % NODES;
        }
    for (int64_t v = 0; v < NODES; v += 3)
        for (int way = 0; way < 2; way++) {
            l.src[n] = way ? v : 1;
            l.dst[n++] = way ? 1 : v;
        }
    for (int64_t v = 5; v < NODES; v += 3) {
        l.src[n] = v;
        l.dst[n++] = 1;
    }
    ck_assert_int_eq(n, l.n);
    gn_graph *g = graph_of(GN_I32, &l);
    edges_free(&l);
    return g;
}

static gn_picked picked(uint8_t mask[NODES])
{
    static int64_t node[NODES];
    return (gn_picked){mask, node, 0};
}

START_TEST(parts_are_even)
{
    gn_graph *g = ring();
    int32_t part[NODES], again[NODES];
    for (int64_t parts = 1; parts <= 6; parts++) {
        int size[6] = {0}, cut = 0;
        ok(gn_cluster_nodes(g, parts, part));
        ok(gn_cluster_nodes(g, parts, again));
        ck_assert_mem_eq(part, again, sizeof part);
        for (int v = 0; v < NODES; v++) {
            ck_assert(part[v] >= 0 && part[v] < parts);
            size[part[v]]++;
            cut += part[v] != part[(v + 1) % NODES];
        }
        for (int k = 0; k < parts; k++)
            ck_assert_msg(size[k] >= NODES / parts * 3 / 4 && size[k] <= NODES / parts * 5 / 4,
                          "%d of %d nodes in part %d of %d", size[k], NODES, k, (int)parts);
        ck_assert_msg(cut <= 4 * parts, "%d of %d edges cut", cut, NODES);
    }
    ok(gn_cluster_nodes(g, NODES + 5, part)); /* more parts than nodes */
    for (int v = 0; v < NODES; v++) ck_assert_int_eq(part[v], v);
    gn_graph_free(g);
}
END_TEST

START_TEST(no_metis)
{
    gn_graph *g = ring();
    int32_t part[NODES];
    setenv("GNNC_METIS", "/nowhere/libmetis.so", 1);
    refused(gn_cluster_nodes(g, 3, part), GN_ERR_IO, "libmetis.so.5 is not found");
    ok(gn_cluster_nodes(g, 1, part)); /* which needs none */
    unsetenv("GNNC_METIS");
    gn_graph_free(g);
}
END_TEST

/* A batch of clusters is the nodes of its parts. */
START_TEST(clusters)
{
    gn_graph *g = ring();
    gn_batch_spec how = {.sampler = GN_SAMPLER_CLUSTER, .sampled = {6, 2}};
    gn_subgraphs *z;
    uint8_t all[NODES] = {0}, mask[NODES];
    ok(gn_subgraphs_new(g, &how, &z));
    SAME(gn_subgraphs_count(z), 6);
    memset(mask, 0, sizeof mask);
    gn_picked some = picked(mask);
    for (int64_t k = 0; k < 6; k += 2) {
        int64_t n = 0;
        gn_subgraphs_pick(z, 2, (const int64_t[]){k, k + 1}, 7, &some);
        for (int v = 0; v < NODES; v++) {
            ck_assert(!(mask[v] && all[v]));
            all[v] |= mask[v];
            n += mask[v];
        }
        SAME(some.n, n);
        for (int64_t i = 0; i < n; i++) ck_assert(mask[some.node[i]]);
    }
    for (int v = 0; v < NODES; v++) ck_assert(all[v]);
    gn_subgraphs_free(z);
    gn_graph_free(g);
}
END_TEST

static bool has_edge(const gn_graph *g, int64_t u, int64_t v)
{
    for (int64_t e = at(g, GN_GRAPH_ROW_PTR, v); e < at(g, GN_GRAPH_ROW_PTR, v + 1); e++)
        if (at(g, GN_GRAPH_COL, e) == u) return true;
    return false;
}

/* One draw a batch: each node, edge or root as often as its chance says. */
static double chance(const gn_graph *g, gn_sampler s, int64_t v)
{
    double sum = 0, all = 0, degree[NODES];
    for (int64_t u = 0; u < NODES; u++)
        degree[u] = (double)(at(g, GN_GRAPH_ROW_PTR, u + 1) - at(g, GN_GRAPH_ROW_PTR, u));
    for (int64_t u = 0; u < NODES; u++)
        for (int64_t w = 0; w < NODES; w++) { /* edge u -> w */
            if (!has_edge(g, u, w)) continue;
            double p = s == GN_SAMPLER_SAINT_NODE ? 1 / (degree[w] * degree[w])
                                                  : 1 / degree[u] + 1 / degree[w];
            if (u == v || (w == v && s == GN_SAMPLER_SAINT_EDGE)) sum += p;
            all += p;
        }
    return sum / all;
}

START_TEST(draws_have_their_chances)
{
    gn_graph *g = ring();
    gn_sampler s = (gn_sampler)(GN_SAMPLER_SAINT_NODE + _i);
    gn_batch_spec how = {.sampler = s, .sampled = {1, 2}};
    int64_t n[NODES] = {0};
    gn_subgraphs *z;
    uint8_t mask[NODES] = {0};
    gn_picked some = picked(mask);
    ok(gn_subgraphs_new(g, &how, &z));
    for (uint64_t k = 0; k < BATCHES; k++) {
        int64_t there = 0;
        gn_subgraphs_pick(z, 0, NULL, gn_step_key(3, k), &some);
        for (int v = 0; v < NODES; v++) {
            n[v] += mask[v];
            there += mask[v];
        }
        SAME(some.n, there);
        if (s == GN_SAMPLER_SAINT_NODE) SAME(there, 1);
        if (s == GN_SAMPLER_SAINT_EDGE) SAME(there, 2);
        if (s == GN_SAMPLER_SAINT_WALK) ck_assert(there >= 2 && there <= 3);
    }
    for (int64_t v = 0; v < NODES && s != GN_SAMPLER_SAINT_WALK; v++) {
        double p = chance(g, s, v), want = p * (double)BATCHES;
        ck_assert_msg(fabs((double)n[v] - want) < 5 * sqrt(want * (1 - p)) + 1,
                      "node %d is in %d batches, expected %g", (int)v, (int)n[v], want);
    }
    if (s == GN_SAMPLER_SAINT_WALK) /* which meets the hub most */
        for (int v = 0; v < NODES; v++) ck_assert(n[v] >= BATCHES / NODES && n[v] <= n[1]);
    gn_subgraphs_free(z);
    gn_graph_free(g);
}
END_TEST

/* In the mean, sums by shares are those of the whole graph. */
START_TEST(shares_make_up_for_chance)
{
    gn_graph *g = ring();
    gn_batch_spec how = {.sampler = (gn_sampler)(GN_SAMPLER_SAINT_NODE + _i), .sampled = {24, 2}};
    /* what is rare is drawn seldom */
    static const double most_row[] = {0.6, 0.45, 0.35}, most_edges[] = {0.6, 0.3, 0.3};
    static float node[NODES], edge[4 * NODES];
    double rows[NODES] = {0}, into[NODES] = {0}, times[NODES] = {0}, all = 0, mean = 0;
    uint8_t mask[NODES] = {0};
    gn_picked some = picked(mask);
    gn_subgraphs *z;
    ok(gn_subgraphs_new(g, &how, &z));
    ok(gn_subgraphs_shares(z, 5, node, edge));
    for (uint64_t k = 0; k < BATCHES; k++) {
        gn_subgraphs_pick(z, 0, NULL, gn_step_key(9, k), &some);
        for (int64_t v = 0; v < NODES; v++) {
            if (!mask[v]) continue;
            rows[v] += (double)node[v];
            all += (double)node[v] / (double)NODES;
            times[v]++;
            for (int64_t e = at(g, GN_GRAPH_ROW_PTR, v); e < at(g, GN_GRAPH_ROW_PTR, v + 1); e++)
                if (mask[at(g, GN_GRAPH_COL, e)]) into[v] += (double)edge[e];
        }
    }
    for (int64_t v = 0; v < NODES; v++) {
        double degree = (double)(at(g, GN_GRAPH_ROW_PTR, v + 1) - at(g, GN_GRAPH_ROW_PTR, v));
        double of_row = rows[v] / all, of_edges = into[v] / times[v] / degree;
        ck_assert_msg(fabs(of_row - 1) < most_row[_i], "node %d counts %g times", (int)v, of_row);
        ck_assert_msg(fabs(of_edges - 1) < most_edges[_i], "%g of %g edges into node %d",
                      into[v] / times[v], degree, (int)v);
        mean += of_edges / (double)NODES;
    }
    ck_assert_msg(fabs(mean - 1) < 0.05, "edges count %g times in the mean", mean);
    gn_subgraphs_free(z);
    gn_graph_free(g);
}
END_TEST

START_TEST(graphs_without_edges)
{
    edge_list l = edges_new(5, 5, 0), none = edges_new(0, 0, 0);
    gn_graph *g = graph_of(GN_I64, &l), *empty = graph_of(GN_I64, &none);
    gn_subgraphs *z;
    int64_t picked = 0;
    uint8_t mask[5] = {0};
    int64_t node[5];
    gn_picked some = {mask, node, 0};
    for (int s = GN_SAMPLER_SAINT_NODE; s <= GN_SAMPLER_SAINT_EDGE; s++)
        refused(gn_subgraphs_new(g, &(gn_batch_spec){.sampler = (gn_sampler)s, .sampled = {3}}, &z),
                GN_ERR_DATA, "has no edges to draw from");
    gn_batch_spec walks = {.sampler = GN_SAMPLER_SAINT_WALK, .sampled = {1, 4}};
    refused(gn_subgraphs_new(empty, &walks, &z), GN_ERR_DATA, "has no nodes");
    ok(gn_subgraphs_new(g, &walks, &z));
    SAME(gn_subgraphs_count(z), 1);
    gn_subgraphs_pick(z, 0, NULL, 8, &some);
    for (int v = 0; v < 5; v++) picked += mask[v];
    SAME(picked, 1);
    gn_subgraphs_free(z);
    gn_graph_free(g);
    gn_graph_free(empty);
    edges_free(&l);
    edges_free(&none);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("subgraphs");
    tcase_add_test(t, parts_are_even);
    tcase_add_test(t, no_metis);
    tcase_add_test(t, clusters);
    tcase_add_loop_test(t, draws_have_their_chances, 0, 3);
    tcase_add_loop_test(t, shares_make_up_for_chance, 0, 3);
    tcase_add_test(t, graphs_without_edges);
    return RUN_CASES("subgraphs", t);
}
