/* Derived graphs, against lists made by the words of ops.def. */
/* links: base runtime */
#include "runtime_check.h"

/* The derived graph's user list, and for each of its edges the parent's list position that it came from (-1: new). */
typedef struct wanted {
    edge_list list;
    int64_t *from;
} wanted;

static int64_t last_loop(const edge_list *l, int64_t v)
{
    for (int64_t p = l->n - 1; p >= 0; p--)
        if (l->src[p] == v && l->dst[p] == v) return p;
    return -1;
}

static wanted derive_slowly(const edge_list *l, gn_graph_derive how)
{
    wanted w = {edges_new(l->n_src, l->n_dst, l->n + l->n_dst), malloc((size_t)(l->n + l->n_dst + 1) * 8)};
    edge_list *d = &w.list;
    d->n = 0;
    for (int64_t p = 0; p < l->n; p++) {
        if (l->src[p] == l->dst[p] && (how == GN_REMOVE_LOOPS || how == GN_REMAINING_LOOPS)) continue;
        w.from[d->n] = p;
        d->src[d->n] = how == GN_REVERSE ? l->dst[p] : l->src[p];
        d->dst[d->n++] = how == GN_REVERSE ? l->src[p] : l->dst[p];
    }
    if (how == GN_REVERSE) {
        d->n_src = l->n_dst;
        d->n_dst = l->n_src;
    }
    for (int64_t v = 0; v < l->n_dst && (how == GN_SELF_LOOPS || how == GN_REMAINING_LOOPS); v++) {
        w.from[d->n] = how == GN_REMAINING_LOOPS ? last_loop(l, v) : -1;
        d->src[d->n] = d->dst[d->n] = v;
        d->n++;
    }
    return w;
}

static void check_maps(const gn_graph *g, const gn_graph *d, const wanted *w)
{
    ck_assert(d->derived);
    SAME(d->n_parent_edge, g->n_edge);
    for (int64_t e = 0; e < d->n_edge; e++) {
        int64_t from = at(d, GN_GRAPH_FROM, e), want = w->from[at(d, GN_GRAPH_POS, e)];
        if (want < 0)
            SAME(from, -1);
        else
            SAME(at(g, GN_GRAPH_POS, from), want);
        if (from >= 0) SAME(at(d, GN_GRAPH_IMAGE, from), e);
    }
    for (int64_t e = 0; e < g->n_edge; e++) {
        int64_t image = at(d, GN_GRAPH_IMAGE, e);
        if (image >= 0) SAME(at(d, GN_GRAPH_FROM, image), e);
        bool kept = false;
        for (int64_t k = 0; k < d->n_edge; k++) kept |= w->from[k] == at(g, GN_GRAPH_POS, e);
        SAME(image >= 0, kept);
    }
}

static void check_derived(const edge_list *l, gn_graph_derive how)
{
    wanted w = derive_slowly(l, how);
    for (int width = 0; width < 2; width++) {
        gn_graph *g = graph_of(width ? GN_I64 : GN_I32, l), *d;
        ok(gn_graph_derived(g, how, &d));
        ck_assert_int_eq(d->index, g->index);
        ok(gn_graph_require(d, ALL_CSC | 1 << GN_GRAPH_FROM | 1 << GN_GRAPH_IMAGE));
        check_graph(d, &w.list);
        check_maps(g, d, &w);
        gn_graph_free(g);
        gn_graph_free(d);
    }
    edges_free(&w.list);
    free(w.from);
}

static void check_all(const edge_list *l)
{
    check_derived(l, GN_REVERSE);
    if (l->n_src != l->n_dst) return;
    check_derived(l, GN_SELF_LOOPS);
    check_derived(l, GN_REMOVE_LOOPS);
    check_derived(l, GN_REMAINING_LOOPS);
}

START_TEST(small_graphs)
{
    static const int64_t size[][3] = {{0, 0, 0}, {1, 1, 0}, {1, 1, 1}, {1, 1, 4},
                                      {5, 5, 0}, {0, 3, 0}, {3, 0, 0}, {4, 9, 20}};
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
        edge_list l = edges_random(size[k][0], size[k][1], size[k][2]);
        check_all(&l);
        edges_free(&l);
    }
}
END_TEST

START_TEST(random_graphs)
{
    for (int k = 0; k < 60; k++) {
        int64_t n = random_below(20);
        edge_list l = edges_random(n, k % 4 ? n : random_below(20), random_below(80));
        check_all(&l);
        edges_free(&l);
    }
}
END_TEST

/* Too many edges for the slow check of maps: the arrays are compared with those of the list. */
START_TEST(large_graphs)
{
    for (int how = GN_SELF_LOOPS; how <= GN_REVERSE; how++)
        for (int w = 0; w < 2; w++) {
            edge_list l = edges_random(3000, how == GN_REVERSE ? 700 : 3000, 50000);
            wanted want = derive_slowly(&l, (gn_graph_derive)how);
            gn_graph *g = graph_of(w ? GN_I64 : GN_I32, &l), *d;
            ok(gn_graph_derived(g, (gn_graph_derive)how, &d));
            ok(gn_graph_require(d, ALL_CSC));
            ck_assert_int_eq(d->n_edge, want.list.n);
            check_large_graph(d, &want.list);
            for (int64_t e = 0; e < d->n_edge; e++) {
                int64_t from = at(d, GN_GRAPH_FROM, e), p = want.from[at(d, GN_GRAPH_POS, e)];
                if (p < 0 ? from != -1 : at(g, GN_GRAPH_POS, from) != p)
                    ck_abort_msg("origin of edge %lld", (long long)e);
            }
            gn_graph_free(g);
            gn_graph_free(d);
            edges_free(&want.list);
            free(want.from);
            edges_free(&l);
        }
}
END_TEST

START_TEST(the_last_dropped_loop_gives_its_value)
{
    int64_t src[] = {1, 0, 1, 1}, dst[] = {1, 1, 1, 0};
    gn_graph *g, *d;
    ok(gn_graph_from_coo(2, 2, 4, src, dst, &g)); /* CSR: 1->0; 1->1 (0), 0->1 (1), 1->1 (2) */
    ok(gn_graph_derived(g, GN_REMAINING_LOOPS, &d));
    ok(gn_graph_require(d, 1 << GN_GRAPH_IMAGE));
    static const int32_t col[] = {1, 0, 0, 1}, pos[] = {1, 2, 0, 3}, from[] = {0, -1, 2, 3}, image[] = {0, -1, 2, 3};
    ck_assert_int_eq(d->n_edge, 4);
    ck_assert_mem_eq(d->array[GN_GRAPH_COL], col, sizeof col);
    ck_assert_mem_eq(d->array[GN_GRAPH_POS], pos, sizeof pos);
    ck_assert_mem_eq(d->array[GN_GRAPH_FROM], from, sizeof from);
    ck_assert_mem_eq(d->array[GN_GRAPH_IMAGE], image, sizeof image);
    gn_graph_free(g);
    gn_graph_free(d);
}
END_TEST

START_TEST(chains)
{
    for (int k = 0; k < 20; k++) {
        int64_t n = 1 + random_below(10);
        edge_list l = edges_random(n, n, random_below(40));
        wanted one = derive_slowly(&l, GN_REMOVE_LOOPS), two = derive_slowly(&one.list, GN_SELF_LOOPS),
               three = derive_slowly(&two.list, GN_REVERSE);
        gn_graph *g = graph_of(GN_I32, &l), *a, *b, *c;
        ok(gn_graph_derived(g, GN_REMOVE_LOOPS, &a));
        gn_graph_free(g); /* a derived graph needs its parent no more */
        ok(gn_graph_derived(a, GN_SELF_LOOPS, &b));
        ok(gn_graph_derived(b, GN_REVERSE, &c));
        check_graph(a, &one.list);
        check_graph(b, &two.list);
        check_graph(c, &three.list);
        ok(gn_graph_require(b, 1 << GN_GRAPH_IMAGE));
        check_maps(a, b, &two);
        gn_graph_free(a);
        gn_graph_free(b);
        gn_graph_free(c);
        wanted *all[] = {&one, &two, &three};
        for (int w = 0; w < 3; w++) {
            edges_free(&all[w]->list);
            free(all[w]->from);
        }
        edges_free(&l);
    }
}
END_TEST

START_TEST(ends_must_be_one_space)
{
    gn_graph *g, *d;
    ok(gn_graph_from_coo(2, 3, 0, NULL, NULL, &g));
    refused(gn_graph_derived(g, GN_SELF_LOOPS, &d), GN_ERR_DATA, "self_loops: the graph goes from 2 nodes to 3");
    refused(gn_graph_derived(g, GN_REMOVE_LOOPS, &d), GN_ERR_DATA, "remove_self_loops:");
    refused(gn_graph_derived(g, GN_REMAINING_LOOPS, &d), GN_ERR_DATA, "remaining_self_loops:");
    ck_assert_ptr_null(d);
    gn_graph_free(g);
}
END_TEST

START_TEST(out_of_memory)
{
    edge_list l = edges_random(10, 10, 60);
    gn_graph *g = graph_of(GN_I32, &l), *d = NULL;
    for (int how = GN_SELF_LOOPS; how <= GN_REVERSE; how++) {
        OUT_OF_MEMORY_SWEEP(gn_graph_derived(g, (gn_graph_derive)how, &d));
        OUT_OF_MEMORY_SWEEP(gn_graph_require(d, ALL_CSC | 1 << GN_GRAPH_IMAGE));
        gn_graph_free(d);
    }
    gn_graph_free(g);
    edges_free(&l);
    l = edges_random(2000, 2000, 40000);
    g = graph_of(GN_I32, &l);
    OUT_OF_MEMORY_SWEEP(gn_graph_derived(g, GN_REVERSE, &d));
    gn_graph_free(d);
    gn_graph_free(g);
    edges_free(&l);
}
END_TEST

RUN_SUITE("runtime derive", small_graphs, random_graphs, large_graphs, the_last_dropped_loop_gives_its_value, chains,
          ends_must_be_one_space, out_of_memory)
