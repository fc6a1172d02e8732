/* Links that are held out: of whom, what is left of the graph, false ones. */
/* links: runtime base */
#include "runtime/data/links.h"
#include "runtime/data/dataset.h"
#include "runtime/data/readers.h"
#include "support/suite.h"

#include <string.h>

enum { NODES = 60, MOST = 16 * NODES };

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
        ck_assert(!both || r->from[e] < r->to[e]);
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

/* A column of g's edges that says their ends. */
static void add_ends(gn_dataset *d)
{
    gn_table_column c = {.on_edges = true, .elem = GN_I32, .rank = 1, .dim = {2}};
    int32_t *v = calloc(2 * MOST, sizeof *v);
    for (int64_t e = 0; e < d->n_edges; e++) {
        v[2 * e] = (int32_t)d->src[e];
        v[2 * e + 1] = (int32_t)d->dst[e];
    }
    c.data = v;
    ok(gn_dataset_add_column(d, "ends", &c));
}

static void push(gn_dataset *d, int64_t u, int64_t v)
{
    d->src[d->n_edges] = u;
    d->dst[d->n_edges] = v;
    d->edge_weight[d->n_edges] = (float)(u * NODES + v);
    d->edge_attr[2 * d->n_edges] = (float)u;
    d->edge_attr[2 * d->n_edges + 1] = (float)v;
    d->n_edges++;
}

static int64_t loops_of(const gn_dataset *d)
{
    int64_t n = 0;
    for (int64_t e = 0; e < d->n_edges; e++) n += d->src[e] == d->dst[e];
    return n;
}

/* Every edge three times, and a loop at every second node. */
static gn_dataset *ring_of_repeats(bool both)
{
    gn_dataset *d = ring(both);
    int64_t n = d->n_edges;
    for (int times = 0; times < 2; times++)
        for (int64_t e = 0; e < n; e++) push(d, d->src[e], d->dst[e]);
    for (int64_t v = 0; v < NODES; v += 2) push(d, v, v);
    return d;
}

static void check_repeats(bool both)
{
    gn_dataset *d = ring_of_repeats(both), *whole = ring_of_repeats(both);
    gn_links l;
    int64_t pairs = 2 * NODES, val = pairs / 20, test = pairs / 10, left = pairs - val - test;
    ok(gn_links_hold_out(d, 3, &l));
    check_judged(&l.val, d, whole, val);
    check_judged(&l.test, d, whole, test);
    ck_assert_int_eq(loops_of(d), NODES / 2);
    ck_assert_int_eq(d->n_edges, 3 * left * (1 + both) + NODES / 2);
    const gn_relation *r = &d->relations[0];
    ck_assert_int_eq(r->n_edges, left);
    for (int64_t e = 0; e < left; e++) {
        ck_assert_int_ne(r->from[e], r->to[e]);
        ck_assert(!has(r->from, r->to, e, r->from[e], r->to[e]));
    }
    gn_links_free(&l);
    gn_dataset_free(d);
    gn_dataset_free(whole);
}

START_TEST(repeats_go_together_and_loops_stay)
{
    check_repeats(true);
    check_repeats(false);
}
END_TEST

/* All other edges of ten nodes but one are there, so that a false edge is that one or a loop. */
START_TEST(false_edges_are_no_loops)
{
    gn_dataset *d = ring(false);
    gn_links l;
    d->n_nodes = 10;
    d->n_edges = 0;
    for (int64_t u = 0; u < 10; u++)
        for (int64_t v = 0; v < 10; v++)
            if (u != v && (u != 4 || v != 7)) push(d, u, v);
    ok(gn_links_hold_out(d, 5, &l));
    ck_assert_int_eq(l.val.n_true, 89 / 20);
    ck_assert_int_eq(l.test.n_true, 89 / 10);
    for (const gn_judged *j = &l.val; j; j = j == &l.val ? &l.test : NULL)
        for (int64_t i = j->n_true; i < j->n; i++) ck_assert(j->src[i] == 4 && j->dst[i] == 7);
    gn_links_free(&l);
    gn_dataset_free(d);
}
END_TEST

START_TEST(columns_go_with_their_edges)
{
    gn_dataset *d = ring_of_repeats(true);
    gn_links l;
    add_ends(d);
    ok(gn_links_hold_out(d, 3, &l));
    const int32_t *ends = gn_dataset_column(d, "g.ends")->data;
    for (int64_t e = 0; e < d->n_edges; e++) {
        ck_assert_int_eq(ends[2 * e], d->src[e]);
        ck_assert_int_eq(ends[2 * e + 1], d->dst[e]);
        ck_assert(d->edge_weight[e] == (float)(d->src[e] * NODES + d->dst[e]));
    }
    gn_links_free(&l);
    gn_dataset_free(d);
}
END_TEST

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

static void must_fail(gn_dataset *d, const char *why)
{
    gn_links l;
    gn_status *s = gn_links_hold_out(d, 1, &l);
    ck_assert_int_eq(gn_status_code(s), GN_ERR_DATA);
    if (!strstr(gn_status_message(s), why))
        ck_abort_msg("'%s' is not in: %s", why, gn_status_message(s));
    gn_status_free(s);
    ck_assert_ptr_null(l.val.src);
    gn_dataset_free(d);
}

START_TEST(nothing_to_hold_out)
{
    gn_dataset *none = ring(true), *few = ring(true), *loops = ring(true), *enough = ring(true);
    gn_links l;
    none->n_edges = 0;
    must_fail(none, "ring: edges lead between 0 pairs of nodes: expected 20 or more");
    few->n_edges = 2 * 19;
    must_fail(few, "between 19 pairs of nodes");
    loops->n_edges = 0;
    for (int64_t v = 0; v < NODES; v++) push(loops, v, v);
    must_fail(loops, "between 0 pairs of nodes");
    enough->n_edges = 2 * 20;
    ok(gn_links_hold_out(enough, 1, &l));
    ck_assert(l.val.n_true == 1 && l.test.n_true == 2);
    gn_links_free(&l);
    gn_dataset_free(enough);
}
END_TEST

START_TEST(no_false_edges)
{
    gn_dataset *d = ring(true);
    d->n_nodes = 10;
    d->n_edges = 0;
    for (int64_t u = 0; u < 10; u++)
        for (int64_t v = 0; v < 10; v++)
            if (u != v) push(d, u, v);
    must_fail(d, "all that could be drawn is known");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("links");
    tcase_add_test(t, undirected);
    tcase_add_test(t, directed);
    tcase_add_test(t, other_seeds);
    tcase_add_test(t, repeats_go_together_and_loops_stay);
    tcase_add_test(t, false_edges_are_no_loops);
    tcase_add_test(t, columns_go_with_their_edges);
    tcase_add_test(t, nothing_to_hold_out);
    tcase_add_test(t, no_false_edges);
    return RUN_CASES("data links", t);
}
