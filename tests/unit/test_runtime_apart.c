/* Rows that are apart: groups draw each for itself, what memory runs out in, and what cannot be.
 * What they are is compared with the evaluator (tests/diff) and with copies of graphs
 * (lit run/times). */
/* links: base runtime */
#include "runtime_check.h"

enum { NODES = 40, HUB = 1 };

/* Edges from all into node HUB, and from HUB into all: two hops from any node lead to all. */
static gn_graph *star(gn_elem index)
{
    edge_list l = edges_new(NODES, NODES, 2 * NODES);
    for (int64_t v = 0; v < NODES; v++) {
        l.src[v] = v;
        l.dst[v] = HUB;
        l.src[NODES + v] = HUB;
        l.dst[NODES + v] = v;
    }
    gn_graph *g = graph_of(index, &l);
    edges_free(&l);
    return g;
}

static gn_graph *all_apart(gn_elem index, gn_times time)
{
    uint8_t mask[NODES];
    gn_graph *r;
    memset(mask, 1, sizeof mask);
    ok(gn_graph_subset(NODES, mask, index, &r));
    ok(gn_graph_set_apart(r, false, time, false));
    return r;
}

/* Each group reaches the hub, and draws there what it draws. */
START_TEST(groups_draw_for_themselves)
{
    gn_elem index = _i ? GN_I64 : GN_I32;
    gn_graph *g = star(index), *r = all_apart(index, (gn_times){0}), *d, *more, *e;
    const gn_drawing how = {.key = 5, .most = 1};
    int64_t met[NODES] = {0}, others = 0;
    ok(gn_graph_draw(g, r, &(gn_drawing){.key = 5, .most = INT64_MAX}, &d));
    ok(gn_graph_grow(d, 0, r, r, &more));
    SAME(d->n_dst, NODES);
    for (int64_t k = 0; k < NODES; k++) { /* the first stand where they stood */
        SAME(at(more, GN_GRAPH_COL, k), at(r, GN_GRAPH_COL, k));
        SAME(more->groups->group[k], k);
    }
    ok(gn_graph_draw(g, more, &how, &e));
    for (int64_t k = 0; k < more->n_edge; k++) {
        if (at(more, GN_GRAPH_COL, k) != HUB) continue;
        SAME(at(e, GN_GRAPH_ROW_PTR, k + 1) - at(e, GN_GRAPH_ROW_PTR, k), 1);
        met[at(e, GN_GRAPH_COL, at(e, GN_GRAPH_ROW_PTR, k))]++;
    }
    for (int64_t v = 0; v < NODES; v++) others += met[v] > 0;
    ck_assert_int_gt(others, NODES / 3); /* 40 of 40 things: some 25 of them */
    gn_graph_free(e);
    gn_graph_free(more);
    gn_graph_free(d);
    gn_graph_free(r);
    gn_graph_free(g);
}
END_TEST

START_TEST(memory)
{
    static const int32_t time[2 * NODES] = {3, 1, 2};
    gn_times t = {time, GN_I32};
    gn_graph *g = star(GN_I32), *r = all_apart(GN_I32, t), *d, *more, *h, *b, *c;
    const gn_drawing how = {.key = 5, .most = 2, .time = t};
    OUT_OF_MEMORY_SWEEP(gn_graph_draw(g, r, &how, &d));
    OUT_OF_MEMORY_SWEEP(gn_graph_grow(d, 0, r, r, &more));
    OUT_OF_MEMORY_SWEEP(gn_graph_restrict(d, more, NULL, &h));
    SAME(h->n_edge, d->n_edge);
    ck_assert_int_gt(gn_graph_bytes(more), more->n_edge * 16); /* groups and times */
    gn_graph_free(h);
    gn_graph_free(more);
    gn_graph_free(d);
    static const int64_t some[] = {0, 7, NODES + 3};
    ok(gn_graph_filter_of(g, 3, some, &b));
    ok(gn_graph_set_apart(b, true, t, true));
    SAME(b->groups->until[0], 2); /* before 3 */
    const gn_corruption how_often = {.key = 9, .times = 2, .end = 1};
    ok(gn_graph_corrupt(b, &how_often, &c));
    OUT_OF_MEMORY_SWEEP(gn_graph_keep_groups(b, c));
    for (int64_t e = 0; e < c->n_edge; e++)
        SAME(c->groups->group[e], b->groups->group[at(c, GN_GRAPH_FROM, e)]);
    gn_graph_free(c);
    gn_graph_free(b);
    gn_graph_free(r);
    gn_graph_free(g);
}
END_TEST

/* Edges from rows that are none of the group's go: of a row's group, those from others. */
START_TEST(edges_leave)
{
    gn_elem index = _i ? GN_I64 : GN_I32;
    gn_graph *g = star(index), *r = all_apart(index, (gn_times){0}), *d, *h;
    ok(gn_graph_draw(g, r, &(gn_drawing){.most = INT64_MAX}, &d));
    ok(gn_graph_restrict(d, r, NULL, &h));
    SAME(d->n_edge, 2 * NODES);
    SAME(h->n_edge, 2); /* twice from the hub to itself */
    for (int64_t v = 0; v <= NODES; v++) SAME(at(h, GN_GRAPH_ROW_PTR, v), v > HUB ? 2 : 0);
    for (int64_t e = 0; e < 2; e++) {
        SAME(at(h, GN_GRAPH_COL, e), HUB);
        int64_t of = at(h, GN_GRAPH_FROM, e);
        SAME(at(d, GN_GRAPH_COL, of), HUB);
        SAME(at(h, GN_GRAPH_POS, e), at(d, GN_GRAPH_POS, of));
    }
    gn_graph_free(h);
    gn_graph_free(d);
    gn_graph_free(r);
    gn_graph_free(g);
}
END_TEST

START_TEST(what_cannot_be)
{
    gn_graph *g = star(GN_I32), *r = all_apart(GN_I32, (gn_times){0}), *d, *w;
    static const uint8_t mask[NODES] = {1, 1};
    refused(gn_graph_grow(g, 0, r, NULL, &d), GN_ERR_INTERNAL, "grow: some rows are apart");
    refused(gn_graph_restrict(g, r, NULL, &d), GN_ERR_INTERNAL, "restrict: some rows are apart");
    refused(gn_graph_draw(g, r, &(gn_drawing){.most = 1, .how = GN_DRAW_LAST}, &d), GN_ERR_INTERNAL,
            "draw: rows are apart by no known way");
    ok(gn_graph_subset(NODES, mask, GN_I32, &w));
    ok(gn_graph_set_apart(w, false, (gn_times){0}, false));
    refused(gn_graph_restrict(r, w, NULL, &d), GN_ERR_INTERNAL, "no row of its group");
    ck_assert_ptr_null(d);
    gn_graph_free(w);
    gn_graph_free(r);
    gn_graph_free(g);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("apart");
    tcase_add_loop_test(c, groups_draw_for_themselves, 0, 2);
    tcase_add_test(c, memory);
    tcase_add_loop_test(c, edges_leave, 0, 2);
    tcase_add_test(c, what_cannot_be);
    return RUN_CASES("runtime apart", c);
}
