/* Links that are held out: of whom, what is left of the graph, false ones. */
/* links: runtime base */
#include "runtime/data/links.h"
#include "runtime/data/dataset.h"
#include "runtime/data/readers.h"
#include "support/suite.h"

#include <string.h>

enum { NODES = 60, MOST = 4 * NODES };

static void ok(gn_status *s)
{
    if (s) ck_abort_msg("%s", gn_status_message(s));
}

/* A ring with chords, whose edges have a weight and two attributes that tell which they are. */
static gn_dataset *ring(bool both)
{
    gn_dataset *d;
    int64_t n = 0;
    ok(gn_dataset_new("ring", &d));
    d->n_nodes = NODES;
    d->src = calloc(MOST, sizeof *d->src);
    d->dst = calloc(MOST, sizeof *d->dst);
    d->edge_weight = calloc(MOST, sizeof *d->edge_weight);
    d->edge_attr = calloc(2 * MOST, sizeof *d->edge_attr);
    d->edge_dim = 2;
    for (int64_t v = 0; v < NODES; v++)
        for (int64_t step = 1; step <= 2; step++)
            for (int way = 0; way <= both; way++) {
                int64_t u = (v + step * 7) % NODES;
                d->src[n] = way ? u : v;
                d->dst[n] = way ? v : u;
                d->edge_weight[n] = (float)(d->src[n] * NODES + d->dst[n]);
                d->edge_attr[2 * n] = (float)d->src[n];
                d->edge_attr[2 * n + 1] = (float)d->dst[n];
                n++;
            }
    d->n_edges = n;
    return d;
}

static bool has(const int64_t *src, const int64_t *dst, int64_t n, int64_t u, int64_t v)
{
    for (int64_t e = 0; e < n; e++)
        if (src[e] == u && dst[e] == v) return true;
    return false;
}

static void check_judged(const gn_judged *j, const gn_dataset *d, const gn_dataset *whole,
                         int64_t pairs)
{
    ck_assert_int_eq(j->n_true, pairs);
    ck_assert_int_eq(j->n, 2 * pairs);
    for (int64_t i = 0; i < j->n; i++) {
        bool is = has(whole->src, whole->dst, whole->n_edges, j->src[i], j->dst[i]);
        ck_assert_int_eq(is, i < j->n_true);
        ck_assert(!has(d->src, d->dst, d->n_edges, j->src[i], j->dst[i]));
        ck_assert(!has(d->src, d->dst, d->n_edges, j->dst[i], j->src[i]) || i >= j->n_true);
        ck_assert(!has(j->src, j->dst, i, j->src[i], j->dst[i]) || i >= j->n_true);
    }
}

static void check(bool both)
{
    gn_dataset *d = ring(both), *whole = ring(both);
    gn_links l;
    int64_t pairs = 2 * NODES, val = pairs / 20, test = pairs / 10, left = pairs - val - test;
    ok(gn_links_hold_out(d, 3, &l));
    check_judged(&l.val, d, whole, val);
    check_judged(&l.test, d, whole, test);
    ck_assert_int_eq(d->n_edges, left * (1 + both));
    ck_assert_int_eq(d->n_relations, 1);
    const gn_relation *r = &d->relations[0];
    ck_assert_str_eq(r->name, GN_NAME_LINKS);
    ck_assert_int_eq(r->n_edges, left);
    for (int64_t e = 0; e < r->n_edges; e++) {
        ck_assert(has(d->src, d->dst, d->n_edges, r->from[e], r->to[e]));
        ck_assert(!has(r->from, r->to, e, r->from[e], r->to[e]));
        ck_assert(!both || !has(r->from, r->to, r->n_edges, r->to[e], r->from[e]));
    }
    for (int64_t e = 0; e < d->n_edges; e++) {
        ck_assert(d->edge_weight[e] == (float)(d->src[e] * NODES + d->dst[e]));
        ck_assert(d->edge_attr[2 * e] == (float)d->src[e]);
        ck_assert(d->edge_attr[2 * e + 1] == (float)d->dst[e]);
    }
    gn_links_free(&l);
    gn_dataset_free(d);
    gn_dataset_free(whole);
}

START_TEST(undirected) { check(true); }
END_TEST
START_TEST(directed) { check(false); }
END_TEST

START_TEST(other_seeds)
{
    gn_dataset *d = ring(true), *e = ring(true), *f = ring(true);
    gn_links a, b, c;
    ok(gn_links_hold_out(d, 1, &a));
    ok(gn_links_hold_out(e, 1, &b));
    ok(gn_links_hold_out(f, 2, &c));
    size_t bytes = (size_t)a.test.n * sizeof *a.test.src;
    ck_assert(!memcmp(a.test.src, b.test.src, bytes) && !memcmp(a.test.dst, b.test.dst, bytes));
    ck_assert(memcmp(a.test.src, c.test.src, bytes) || memcmp(a.test.dst, c.test.dst, bytes));
    gn_links_free(&a);
    gn_links_free(&b);
    gn_links_free(&c);
    gn_dataset_free(d);
    gn_dataset_free(e);
    gn_dataset_free(f);
}
END_TEST

START_TEST(nothing_to_hold_out)
{
    gn_dataset *d = ring(true);
    gn_links l;
    d->n_edges = 0;
    gn_status *s = gn_links_hold_out(d, 1, &l);
    ck_assert_ptr_nonnull(s);
    gn_status_free(s);
    ck_assert_ptr_null(l.val.src);
    gn_dataset_free(d);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("links");
    tcase_add_test(t, undirected);
    tcase_add_test(t, directed);
    tcase_add_test(t, other_seeds);
    tcase_add_test(t, nothing_to_hold_out);
    return RUN_CASES("data links", t);
}
