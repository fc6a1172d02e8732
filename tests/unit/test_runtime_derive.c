/* Derived graphs, against lists made by the words of ops.def. */
/* links: base runtime */
#include "runtime_check.h"

/* The derived graph's user list, and for each of its edges the parent's list position that it came
 * from (-1: new). */
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
    wanted w = {edges_new(l->n_src, l->n_dst, l->n + l->n_dst),
                malloc((size_t)(l->n + l->n_dst + 1) * 8)};
    edge_list *d = &w.list;
    d->n = 0;
    for (int64_t p = 0; p < l->n; p++) {
        if (l->src[p] == l->dst[p] && (how == GN_REMOVE_LOOPS || how == GN_REMAINING_LOOPS))
            continue;
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
        ok(gn_graph_require(d, ALL_CSC | GN_ARRAY(GN_GRAPH_FROM) | GN_ARRAY(GN_GRAPH_IMAGE)));
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
    /* CSR: 1->0; 1->1 (0), 0->1 (1), 1->1 (2) */
    ok(gn_graph_from_coo(GN_I32, 2, 2, 4, GN_I64, src, dst, &g));
    ok(gn_graph_derived(g, GN_REMAINING_LOOPS, &d));
    ok(gn_graph_require(d, GN_ARRAY(GN_GRAPH_IMAGE)));
    static const int32_t col[] = {1, 0, 0, 1}, pos[] = {1, 2, 0, 3}, from[] = {0, -1, 2, 3},
                         image[] = {0, -1, 2, 3};
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
        wanted one = derive_slowly(&l, GN_REMOVE_LOOPS),
               two = derive_slowly(&one.list, GN_SELF_LOOPS),
               three = derive_slowly(&two.list, GN_REVERSE);
        gn_graph *g = graph_of(GN_I32, &l), *a, *b, *c;
        ok(gn_graph_derived(g, GN_REMOVE_LOOPS, &a));
        gn_graph_free(g); /* a derived graph needs its parent no more */
        ok(gn_graph_derived(a, GN_SELF_LOOPS, &b));
        ok(gn_graph_derived(b, GN_REVERSE, &c));
        check_graph(a, &one.list);
        check_graph(b, &two.list);
        check_graph(c, &three.list);
        ok(gn_graph_require(b, GN_ARRAY(GN_GRAPH_IMAGE)));
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

/* Picks and graphs between picked rows, by the words of ops.def: marks[v] is the place of row v
 * among those picked. */
static edge_list picked_slowly(const uint8_t *mask, int64_t n, int64_t *place)
{
    edge_list l = edges_new(n, 0, n);
    l.n = 0;
    for (int64_t v = 0; v < n; v++) {
        place[v] = mask[v] ? l.n : -1;
        if (!mask[v]) continue;
        l.src[l.n] = v;
        l.dst[l.n] = l.n;
        l.n++;
    }
    l.n_dst = l.n;
    return l;
}

static void check_restricted(const gn_graph *g, const edge_list *l, const gn_graph *src,
                             const gn_graph *dst, const int64_t *src_at, const int64_t *dst_at)
{
    gn_graph *d;
    ok(gn_graph_restrict(g, src, dst, &d));
    ok(gn_graph_require(d, ALL_CSC | GN_ARRAY(GN_GRAPH_FROM) | GN_ARRAY(GN_GRAPH_IMAGE)));
    ck_assert_int_eq(d->index, g->index);
    ck_assert_int_eq(d->n_src, src ? src->n_dst : l->n_src);
    ck_assert_int_eq(d->n_dst, dst ? dst->n_dst : l->n_dst);
    int64_t kept = 0, k = 0;
    for (int64_t p = 0; p < l->n; p++)
        kept += (!src || src_at[l->src[p]] >= 0) && (!dst || dst_at[l->dst[p]] >= 0);
    ck_assert_int_eq(d->n_edge, kept);
    SAME(at(d, GN_GRAPH_ROW_PTR, 0), 0);
    for (int64_t e = 0; e < g->n_edge; e++) {
        int64_t p = at(g, GN_GRAPH_POS, e), s = src ? src_at[l->src[p]] : l->src[p],
                t = dst ? dst_at[l->dst[p]] : l->dst[p];
        if (s < 0 || t < 0) {
            SAME(at(d, GN_GRAPH_IMAGE, e), -1);
            continue;
        }
        SAME(at(d, GN_GRAPH_COL, k), s);
        SAME(at(d, GN_GRAPH_ROW, k), t);
        SAME(at(d, GN_GRAPH_POS, k), p);
        SAME(at(d, GN_GRAPH_FROM, k), e);
        SAME(at(d, GN_GRAPH_IMAGE, e), k);
        k++;
        HOLDS(at(d, GN_GRAPH_ROW_PTR, t) < k && at(d, GN_GRAPH_ROW_PTR, t + 1) >= k);
    }
    gn_graph_free(d);
}

static void check_picks(const edge_list *l, gn_elem index)
{
    int64_t n = l->n_src, place[20], more_place[20];
    uint8_t mask[20] = {0}, more[20] = {0};
    for (int64_t v = 0; v < n; v++) more[v] = mask[v] = random_below(3) == 0 ? 7 : 0;
    for (int64_t p = 0; p < l->n; p++)
        if (mask[l->dst[p]]) more[l->src[p]] = 1;
    edge_list few = picked_slowly(mask, n, place), many = picked_slowly(more, n, more_place);
    gn_graph *g = graph_of(index, l), *a, *b, *among;
    ok(gn_graph_subset(n, mask, index, &a));
    ok(gn_graph_grow(g, 0, a, a, &b));
    ck_assert(a->picks && b->picks && !g->picks && a->index == index && b->index == index);
    check_graph(a, &few);
    check_graph(b, &many);
    check_restricted(g, l, a, NULL, place, NULL);
    check_restricted(g, l, NULL, a, NULL, place);
    check_restricted(g, l, b, a, more_place, place);
    check_restricted(g, l, a, b, place, more_place);
    ok(gn_graph_restrict(a, b, NULL, &among));
    ck_assert(among->picks);
    for (int64_t k = 0; k < a->n_edge; k++)
        SAME(at(among, GN_GRAPH_COL, k), more_place[few.src[k]]);
    gn_graph_free(among);
    if (a->n_edge != b->n_edge)
        refused(gn_graph_restrict(b, a, NULL, &among), GN_ERR_DATA,
                "picked rows are not among those of the other pick");
    gn_graph_free(g);
    gn_graph_free(a);
    gn_graph_free(b);
    edges_free(&few);
    edges_free(&many);
}

START_TEST(picks)
{
    for (int k = 0; k < 200; k++) {
        int64_t n = random_below(20);
        edge_list l = edges_random(n, n, k % 5 ? random_below(60) : 0);
        check_picks(&l, k % 2 ? GN_I32 : GN_I64);
        edges_free(&l);
    }
}
END_TEST

/* Rows of two parts and more: how many parts, of which rows, from either end. */
static void check_parts(int p, int by_source)
{
    enum { N = 5, MOST = 7 * GN_PART_MOST + 4 };
    static const int32_t ptr[N + 1] = {0, 0, 0, 3, 3, 5}, row[] = {2, 2, 2, 4, 4};
    int64_t one[MOST], other[MOST];
    int n = 0;
    const int degree[N] = {2 * p - 1, 0, 3 * p + 5, 0, 2 * p};
    for (int v = 0; v < N; v++)
        for (int k = 0; k < degree[v]; k++, n++) one[n] = v, other[n] = k % N;
    gn_graph_array first = gn_part_array_of(p, by_source ? GN_CSC_PART_PTR : GN_PART_PTR);
    gn_graph_array of = gn_part_array_of(p, by_source ? GN_CSC_PART_ROW : GN_PART_ROW);
    ck_assert_int_eq(gn_part_array_edges(first), p);
    ck_assert_int_eq(gn_part_array_edges(of), p);
    gn_graph *g;
    const int64_t *src = by_source ? one : other, *dst = by_source ? other : one;
    ok(gn_graph_from_coo(GN_I32, N, N, n, GN_I64, src, dst, &g));
    ck_assert_int_ge(gn_graph_array_count(g, of), 5); /* before it is made: at most */
    int64_t before = gn_graph_bytes(g);
    ok(gn_graph_require(g, GN_ARRAY(of)));
    ck_assert_int_ge(gn_graph_bytes(g), before + (N + 1 + 5) * 4);
    ck_assert_int_eq(gn_graph_array_count(g, first), N + 1);
    ck_assert_int_eq(gn_graph_array_count(g, of), 5);
    ck_assert_mem_eq(g->array[first], ptr, sizeof ptr);
    ck_assert_mem_eq(g->array[of], row, sizeof row);
    for (int k = GN_GRAPH_PARTS; k < GN_GRAPH_ARRAY_COUNT; k++)
        ck_assert_int_eq(g->array[k] != NULL, k == (int)first || k == (int)of);
    gn_graph_free(g);
}

START_TEST(parts)
{
    for (int p = GN_PART_LEAST; p <= GN_PART_MOST; p *= 2)
        for (int by_source = 0; by_source < 2; by_source++) check_parts(p, by_source);
}
END_TEST

/* Groups of parts: those of all rows one after another, where a row has two of them. */
START_TEST(groups_of_parts)
{
    enum { P = GN_PART_LEAST, N = 3, EDGES = (5 + 6 + 2) * P };
    static const int each[N] = {5, 6, 2};
    int64_t src[EDGES], dst[EDGES];
    int n = 0;
    for (int v = 0; v < N; v++)
        for (int k = 0; k < each[v] * P; k++, n++) src[n] = 0, dst[n] = v;
    gn_graph_array ptr = gn_part_array_of(P, GN_PART_PTR);
    gn_graph *g;
    ok(gn_graph_from_coo(GN_I32, N, N, EDGES, GN_I64, src, dst, &g));
    ok(gn_graph_require(g, GN_ARRAY(ptr)));
    static const int64_t groups[] = {0, 13, 7, 5, 0, 0};
    for (int k = 1; k < 6; k++) ck_assert_int_eq(gn_graph_part_groups(g, ptr, k), groups[k]);
    ck_assert_int_eq(gn_graph_part_groups(g, ptr, INT64_MAX), 0);
    gn_graph_free(g);
}
END_TEST

/* Of a pattern whose rows are picked: values, and places in the whole matrix, in both orders. */
START_TEST(picks_of_patterns)
{
    static const int64_t ptr[] = {0, 2, 2, 5, 7, 8};
    static const int32_t col[] = {2, 1, 0, 2, 1, 2, 0, 1};
    static const float val[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const uint8_t mask[] = {1, 0, 1, 1, 1}, again[] = {0, 1, 1, 0}, features[] = {1, 1, 0};
    static const float some[] = {1, 2, 3, 4, 5, 6, 7, 8}, few[] = {3, 4, 5, 6, 7},
                       few_by_source[] = {3, 7, 5, 4, 6};
    static const int64_t cell[] = {2, 1, 6, 8, 7, 11, 9, 13}, few_cell[] = {6, 8, 7, 11, 9},
                         few_cell_by_source[] = {6, 9, 7, 8, 11};
    const gn_graph_arrays all = GN_ARRAY(GN_GRAPH_VALUE) | GN_ARRAY(GN_GRAPH_CELL) |
                                GN_ARRAY(GN_GRAPH_CSC_VALUE) | GN_ARRAY(GN_GRAPH_CSC_CELL);
    gn_graph *g, *r, *q, *c, *d, *e, *f;
    ok(gn_graph_from_csr(GN_I32, 5, 3, ptr, col, val, &g));
    ok(gn_graph_require(g, all));
    ck_assert_mem_eq(g->array[GN_GRAPH_CELL], cell, sizeof cell);
    ok(gn_graph_subset(5, mask, g->index, &r));
    ok(gn_graph_restrict(g, NULL, r, &d));
    ok(gn_graph_require(d, all));
    ck_assert_int_eq(d->n_edge, 8);
    ck_assert_mem_eq(d->array[GN_GRAPH_VALUE], some, sizeof some);
    ck_assert_mem_eq(d->array[GN_GRAPH_CELL], cell, sizeof cell);
    ok(gn_graph_subset(4, again, g->index, &q)); /* rows 2 and 3 of the matrix */
    ok(gn_graph_restrict(d, NULL, q, &e));
    ok(gn_graph_require(e, all));
    ck_assert_int_eq(e->n_edge, 5);
    ck_assert_mem_eq(e->array[GN_GRAPH_VALUE], few, sizeof few);
    ck_assert_mem_eq(e->array[GN_GRAPH_CSC_VALUE], few_by_source, sizeof few_by_source);
    ck_assert_mem_eq(e->array[GN_GRAPH_CELL], few_cell, sizeof few_cell);
    ck_assert_mem_eq(e->array[GN_GRAPH_CSC_CELL], few_cell_by_source, sizeof few_cell_by_source);
    ok(gn_graph_subset(3, features, g->index, &c));
    ok(gn_graph_restrict(g, c, r, &f));
    refused(gn_graph_require(f, GN_ARRAY(GN_GRAPH_VALUE)), GN_ERR_DATA,
            "not the pattern of a matrix");
    refused(gn_graph_require(f, GN_ARRAY(GN_GRAPH_CELL)), GN_ERR_DATA,
            "not the pattern of a matrix");
    refused(gn_graph_require(r, GN_ARRAY(GN_GRAPH_CSC_CELL)), GN_ERR_DATA,
            "not the pattern of a matrix");
    gn_graph_free(f);
    OUT_OF_MEMORY_SWEEP(gn_graph_restrict(g, NULL, r, &f));
    gn_graph_free(f);
    gn_graph *graphs[] = {g, r, q, c, d, e};
    for (int k = 0; k < 6; k++) gn_graph_free(graphs[k]);
}
END_TEST

START_TEST(picks_that_do_not_fit)
{
    static const uint8_t mask[] = {1, 0, 1};
    gn_graph *g, *two, *r, *d;
    ok(gn_graph_from_coo(GN_I32, 3, 3, 0, GN_I64, NULL, NULL, &g));
    ok(gn_graph_from_coo(GN_I32, 2, 3, 0, GN_I64, NULL, NULL, &two));
    ok(gn_graph_subset(3, mask, GN_I32, &r));
    refused(gn_graph_subset(-1, mask, GN_I32, &d), GN_ERR_DATA, "a mask of -1 rows");
    refused(gn_graph_grow(g, 0, g, NULL, &d), GN_ERR_DATA,
            "grow: the first graph is no pick of rows");
    refused(gn_graph_grow(g, 0, r, g, &d), GN_ERR_DATA, "grow: the last graph is no pick of rows");
    refused(gn_graph_grow(two, 1, r, NULL, &d), GN_ERR_DATA,
            "rows are picked of 3, the graph goes from 2 nodes to 3");
    refused(gn_graph_restrict(two, r, NULL, &d), GN_ERR_DATA,
            "the graph has 2 sources, the pick is of 3 rows");
    refused(gn_graph_restrict(g, NULL, g, &d), GN_ERR_DATA,
            "the graph has 3 destinations, the other graph is no pick");
    refused(gn_graph_derived(g, GN_SUBSET, &d), GN_ERR_INTERNAL, "a pick of rows or edges");
    ck_assert_ptr_null(d);
    OUT_OF_MEMORY_SWEEP(gn_graph_subset(3, mask, GN_I32, &d));
    gn_graph_free(d);
    OUT_OF_MEMORY_SWEEP(gn_graph_grow(g, 0, r, r, &d));
    gn_graph_free(d);
    OUT_OF_MEMORY_SWEEP(gn_graph_restrict(g, r, r, &d));
    gn_graph_free(d);
    gn_graph_free(r);
    gn_graph_free(two);
    gn_graph_free(g);
}
END_TEST

START_TEST(ends_must_be_one_space)
{
    gn_graph *g, *d;
    ok(gn_graph_from_coo(GN_I32, 2, 3, 0, GN_I64, NULL, NULL, &g));
    refused(gn_graph_derived(g, GN_SELF_LOOPS, &d), GN_ERR_DATA,
            "self_loops: the graph goes from 2 nodes to 3");
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
        OUT_OF_MEMORY_SWEEP(gn_graph_require(d, ALL_CSC | GN_ARRAY(GN_GRAPH_IMAGE)));
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

RUN_SUITE("runtime derive", small_graphs, random_graphs, large_graphs,
          the_last_dropped_loop_gives_its_value, chains, picks, picks_of_patterns, parts,
          groups_of_parts, picks_that_do_not_fit, ends_must_be_one_space, out_of_memory)
