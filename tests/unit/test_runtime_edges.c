/* Graphs of some edges, of edges that data name, and of edges that are drawn, against lists made by
 * the words of ops.def. */
/* links: base runtime */
#include "runtime_check.h"

#include "base/draw.h"

enum { MOST_NODES = 20, MOST_EDGES = 80, TIMES = 3 };

/* Each edge comes of the one that stands at from[k] in the parent's list. */
static void check_origins(const gn_graph *g, gn_graph *d, const int64_t *from)
{
    ok(gn_graph_require(d, GN_ARRAY(GN_GRAPH_FROM)));
    SAME(d->n_parent_edge, g->n_edge);
    HOLDS(d->derived && !d->picks);
    for (int64_t e = 0; e < d->n_edge; e++)
        SAME(at(g, GN_GRAPH_POS, at(d, GN_GRAPH_FROM, e)), from[at(d, GN_GRAPH_POS, e)]);
}

static void check_kept(const edge_list *want, const gn_graph *g, const uint8_t *mask,
                       const int64_t *from, gn_graph *d)
{
    ck_assert_int_eq(d->index, g->index);
    check_graph(d, want);
    check_origins(g, d, from);
    ok(gn_graph_require(d, GN_ARRAY(GN_GRAPH_IMAGE)));
    for (int64_t e = 0; e < g->n_edge; e++) {
        int64_t image = at(d, GN_GRAPH_IMAGE, e);
        SAME(image >= 0, mask[e] != 0);
        if (image >= 0) SAME(at(d, GN_GRAPH_FROM, image), e);
    }
}

/* By a mask, and by a list of its edges: backwards, the first of them twice. */
static void check_filtered(const edge_list *l, gn_elem index)
{
    uint8_t mask[MOST_EDGES + 1];
    int64_t from[MOST_EDGES + 1], listed[MOST_EDGES + 2], n = 0;
    edge_list want = edges_new(l->n_src, l->n_dst, l->n);
    gn_graph *g = graph_of(index, l), *d;
    for (int64_t e = 0; e < l->n; e++) mask[e] = random_below(3) ? 0 : 5;
    want.n = 0;
    for (int64_t p = 0; p < l->n; p++)
        for (int64_t e = 0; e < l->n; e++) {
            if (at(g, GN_GRAPH_POS, e) != p || !mask[e]) continue;
            from[want.n] = p;
            want.src[want.n] = l->src[p];
            want.dst[want.n++] = l->dst[p];
        }
    ok(gn_graph_filter(g, mask, &d));
    check_kept(&want, g, mask, from, d);
    gn_graph_free(d);
    for (int64_t e = l->n - 1; e >= 0; e--)
        for (int twice = 0; mask[e] && twice < 1 + !n; twice++) listed[n++] = e;
    ok(gn_graph_filter_of(g, n, listed, &d));
    check_kept(&want, g, mask, from, d);
    for (int64_t e = 0; e < d->n_edge; e++) /* which is made with it */
        SAME(at(d, GN_GRAPH_ROW, e), want.dst[at(d, GN_GRAPH_POS, e)]);
    gn_graph_free(d);
    gn_graph_free(g);
    edges_free(&want);
}

/* A row for each pair of a destination and a number, and the picks of either. */
static void check_grouped(const edge_list *l, gn_elem index)
{
    int32_t k[MOST_EDGES + 1];
    int64_t from[MOST_EDGES + 1], row = -1, kinds = 3;
    gn_graph *g = graph_of(index, l), *h, *rows, *numbers;
    gn_edge_numbers of = {l->n, GN_I32, k};
    for (int64_t e = 0; e < l->n; e++) {
        k[e] = (int32_t)random_below((uint32_t)kinds);
        from[e] = e;
    }
    edge_list want = edges_new(l->n_src, 0, l->n), dsts = edges_new(l->n_dst, 0, l->n),
              all = edges_new(kinds, 0, l->n);
    for (int64_t v = 0; v < l->n_dst; v++)
        for (int64_t x = 0; x < kinds; x++) {
            bool any = false;
            for (int64_t e = 0; e < l->n; e++) {
                int64_t p = at(g, GN_GRAPH_POS, e);
                if (l->dst[p] != v || k[e] != x) continue;
                row += !any;
                any = true;
                want.src[p] = l->src[p];
                want.dst[p] = row;
            }
            if (any) dsts.src[row] = v, all.src[row] = x;
            if (any) dsts.dst[row] = all.dst[row] = row;
        }
    want.n_dst = dsts.n_dst = all.n_dst = dsts.n = all.n = row + 1;
    ok(gn_graph_group(g, of, &h));
    check_graph(h, &want);
    check_origins(g, h, from);
    ok(gn_graph_group_rows(h, g, &rows));
    check_graph(rows, &dsts);
    ok(gn_graph_group_numbers(h, of, kinds, &numbers));
    check_graph(numbers, &all);
    HOLDS(rows->picks && numbers->picks && !h->picks);
    gn_graph_free(numbers);
    for (int64_t x = 0; l->n && x < 2; x++) {
        k[at(h, GN_GRAPH_FROM, 0)] = x ? -1 : (int32_t)kinds;
        refused(gn_graph_group_numbers(h, of, kinds, &numbers), GN_ERR_DATA, "out of range");
    }
    of.n++;
    refused(gn_graph_group(g, of, &numbers), GN_ERR_DATA, "numbers for");
    gn_graph_free(h);
    gn_graph_free(rows);
    gn_graph_free(g);
    edges_free(&want);
    edges_free(&dsts);
    edges_free(&all);
}

/* As many as are asked for, each of a part of its own, in their order. */
static void check_sampled(const edge_list *l, gn_elem index, int64_t most)
{
    static int64_t from[MOST_EDGES + 1];
    int64_t n = most < l->n ? most : l->n;
    edge_list want = edges_new(l->n_src, l->n_dst, n);
    gn_graph *g = graph_of(index, l), *d, *again;
    for (int64_t k = 0; k < n; k++) {
        from[k] = gn_draw_part(gn_draw_key(77, 3), k, n, l->n);
        HOLDS(k == 0 || from[k] > from[k - 1]);
        HOLDS(from[k] * n / l->n >= k - 1 && from[k] < l->n);
        want.src[k] = l->src[from[k]];
        want.dst[k] = l->dst[from[k]];
    }
    void *list;
    ok(gn_graph_list(g, &list));
    for (int given = 0; given < 2; given++) {
        ok(gn_graph_sample(g, 77, most, 3, given ? list : NULL, &d));
        HOLDS(d->changes);
        check_graph(d, &want);
        check_origins(g, d, from);
        for (int64_t e = 0; e < n; e++) /* which is made with it */
            SAME(at(d, GN_GRAPH_ROW, e), l->dst[from[at(d, GN_GRAPH_POS, e)]]);
        if (!given) gn_graph_free(d);
    }
    gn_block_free(list);
    ok(gn_graph_sample(d, 78, 2, 0, NULL, &again)); /* of what is drawn itself */
    SAME(again->n_edge, n < 2 ? n : 2);
    gn_graph_free(again);
    gn_graph_free(d);
    gn_graph_free(g);
    edges_free(&want);
}

/* How many of a row's edges that are no loops are kept. */
static int64_t kept_of(int64_t others, int64_t most, gn_draw_how how)
{
    return how == GN_DRAW_REPLACE ? (others > 0) * most : others < most ? others : most;
}

/* Those that are drawn in one stream by their sources: none that is left out is before one that is
 * kept. */
static void check_shared(const gn_graph *g, const gn_graph *d, int64_t v)
{
    uint64_t stream = gn_draw_key(77, 3), most = 0;
    int64_t next = at(d, GN_GRAPH_ROW_PTR, v), end = at(d, GN_GRAPH_ROW_PTR, v + 1);
    for (int64_t e = next; e < end; e++) {
        uint64_t draw = gn_draw_long(stream, (uint64_t)at(d, GN_GRAPH_COL, e));
        if (draw > most) most = draw;
    }
    for (int64_t e = at(g, GN_GRAPH_ROW_PTR, v); e < at(g, GN_GRAPH_ROW_PTR, v + 1); e++) {
        if (next < end && at(d, GN_GRAPH_FROM, next) == e)
            next++;
        else
            HOLDS(gn_draw_long(stream, (uint64_t)at(g, GN_GRAPH_COL, e)) >= most);
    }
    SAME(next, end);
}

/* Of each picked row all edges or as many as are asked for, in their order, with loops besides. */
static void check_drawn(const edge_list *l, gn_elem index, int64_t most, bool loops,
                        gn_draw_how draw)
{
    uint8_t mask[MOST_NODES + 1];
    gn_graph *g = graph_of(index, l), *pick, *d, *again;
    const gn_drawing how = {.key = 77, .most = most, .site = 3, .loops = loops, .how = draw};
    for (int64_t v = 0; v < l->n_dst; v++) mask[v] = random_below(3) != 0;
    ok(gn_graph_subset(l->n_dst, mask, index, &pick));
    ok(gn_graph_draw(g, pick, &how, &d));
    ok(gn_graph_draw(g, pick, &how, &again));
    ok(gn_graph_require(d, GN_ARRAY(GN_GRAPH_ROW_PTR)));
    SAME(d->n_src, g->n_src);
    SAME(d->n_dst, g->n_dst);
    SAME(again->n_edge, d->n_edge);
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t first = at(d, GN_GRAPH_ROW_PTR, v), end = at(d, GN_GRAPH_ROW_PTR, v + 1), own = 0,
                kept = 0, last = -1;
        for (int64_t e = at(g, GN_GRAPH_ROW_PTR, v); e < at(g, GN_GRAPH_ROW_PTR, v + 1); e++)
            own += loops && at(g, GN_GRAPH_COL, e) == v;
        int64_t others = at(g, GN_GRAPH_ROW_PTR, v + 1) - at(g, GN_GRAPH_ROW_PTR, v) - own;
        for (int64_t e = first; e < end; e++) {
            int64_t from = at(d, GN_GRAPH_FROM, e);
            HOLDS(from > last || (draw == GN_DRAW_REPLACE && from == last));
            HOLDS(from >= at(g, GN_GRAPH_ROW_PTR, v));
            HOLDS(from < at(g, GN_GRAPH_ROW_PTR, v + 1));
            SAME(at(d, GN_GRAPH_COL, e), at(g, GN_GRAPH_COL, from));
            SAME(at(d, GN_GRAPH_POS, e), at(g, GN_GRAPH_POS, from));
            SAME(at(again, GN_GRAPH_FROM, e), from);
            kept += loops && at(d, GN_GRAPH_COL, e) == v;
            last = from;
        }
        SAME(kept, mask[v] ? own : 0);
        SAME(end - first, mask[v] ? own + kept_of(others, most, draw) : 0);
        if (mask[v] && draw == GN_DRAW_LABOR && !loops && most) check_shared(g, d, v);
    }
    gn_graph_free(again);
    gn_graph_free(d);
    gn_graph_free(pick);
    gn_graph_free(g);
}

/* All of a graph's edges, which it lists by the rows that it has. */
static gn_graph *listing(gn_graph *g)
{
    uint8_t all[MOST_NODES];
    gn_graph *pick, *d;
    memset(all, 1, sizeof all);
    ok(gn_graph_subset(g->n_dst, all, g->index, &pick));
    ok(gn_graph_draw(g, pick, &(gn_drawing){.most = MOST_EDGES}, &d));
    gn_graph_free(pick);
    gn_graph_free(g);
    HOLDS(d->listed && !d->array[GN_GRAPH_ROW_PTR]);
    return d;
}

/* The edges between pairs of rows that no edge of another list is between. */
static void check_without(const edge_list *l, gn_elem index, bool either, bool listed)
{
    edge_list others = edges_random(l->n_src, l->n_dst, l->n / 2);
    gn_graph *g = graph_of(index, l), *h = graph_of(index, &others), *d;
    int64_t next = 0;
    if (listed) h = listing(h);
    ok(gn_graph_without(g, h, either, &d));
    SAME(d->n_parent_edge, g->n_edge);
    for (int64_t v = 0; v < g->n_dst; v++) {
        SAME(at(d, GN_GRAPH_ROW_PTR, v), next);
        for (int64_t e = at(g, GN_GRAPH_ROW_PTR, v); e < at(g, GN_GRAPH_ROW_PTR, v + 1); e++) {
            int64_t u = at(g, GN_GRAPH_COL, e);
            bool in = false;
            for (int64_t k = 0; k < others.n; k++)
                in = in || (others.src[k] == u && others.dst[k] == v) ||
                     (either && others.src[k] == v && others.dst[k] == u);
            if (in) continue;
            SAME(at(d, GN_GRAPH_FROM, next), e);
            SAME(at(d, GN_GRAPH_COL, next), u);
            SAME(at(d, GN_GRAPH_POS, next), at(g, GN_GRAPH_POS, e));
            next++;
        }
    }
    SAME(d->n_edge, next);
    gn_graph_free(d);
    gn_graph_free(h);
    gn_graph_free(g);
    edges_free(&others);
}

static void check_corrupted(const edge_list *l, gn_elem index, int end)
{
    static int64_t from[MOST_EDGES * TIMES + 1];
    const gn_corruption c = {.key = 77, .times = TIMES, .end = end, .site = 3};
    edge_list want = edges_new(l->n_src, l->n_dst, l->n * TIMES);
    gn_graph *g = graph_of(index, l), *d, *again;
    for (int64_t k = 0; k < l->n * TIMES; k++) {
        from[k] = k / TIMES;
        want.src[k] = l->src[k / TIMES];
        want.dst[k] = l->dst[k / TIMES];
        gn_draw_end(gn_draw_key(77, 3), (uint64_t)k, end, l->n_src, l->n_dst, &want.src[k],
                    &want.dst[k]);
        if (end == 0) SAME(want.dst[k], l->dst[k / TIMES]);
        if (end == 1) SAME(want.src[k], l->src[k / TIMES]);
    }
    ok(gn_graph_corrupt(g, &c, &d));
    HOLDS(d->changes && d->copies == TIMES);
    check_graph(d, &want);
    check_origins(g, d, from);
    ok(gn_graph_require(d, GN_ARRAY(GN_GRAPH_IMAGE)));
    SAME(gn_graph_array_count(d, GN_GRAPH_IMAGE), l->n * TIMES);
    for (int64_t k = 0; k < l->n * TIMES; k++) {
        int64_t image = at(d, GN_GRAPH_IMAGE, k); /* of copy k % TIMES of edge k / TIMES */
        SAME(at(d, GN_GRAPH_FROM, image), k / TIMES);
        SAME(at(d, GN_GRAPH_POS, image), at(g, GN_GRAPH_POS, k / TIMES) * TIMES + k % TIMES);
    }
    ok(gn_graph_corrupt(d, &c, &again)); /* of what is drawn itself */
    SAME(again->n_edge, l->n * TIMES * TIMES);
    gn_graph_free(again);
    gn_graph_free(d);
    gn_graph_free(g);
    edges_free(&want);
}

/* Rows that ends name, in order, and then others; the graph between them has all edges as they
 * were. */
static void check_ends(const edge_list *l, gn_elem index, int ends, int64_t added)
{
    bool named[MOST_NODES] = {false};
    int64_t rows = ends & 1 ? l->n_src : l->n_dst, n = l->n * added, k = 0;
    gn_graph *g = graph_of(index, l), *r, *more, *h;
    for (int64_t e = 0; e < l->n; e++) {
        if (ends & 1) named[l->src[e]] = true;
        if (ends & 2) named[l->dst[e]] = true;
    }
    if (n > rows) n = rows;
    ok(gn_graph_ends(g, ends, added, NULL, &r));
    HOLDS(r->picks && r->n_src == rows && r->n_dst == n && r->n_edge == n);
    ck_assert_int_eq(r->index, index);
    for (int fill = 0; fill < 2; fill++)
        for (int64_t v = 0; v < rows && k < n; v++) {
            if (named[v] == (fill == 1)) continue;
            SAME(at(r, GN_GRAPH_COL, k), v);
            SAME(at(r, GN_GRAPH_POS, k), k);
            SAME(at(r, GN_GRAPH_ROW_PTR, k), k);
            SAME(at(r, GN_GRAPH_FROM, k) < 0, fill);
            k++;
        }
    SAME(k, n);
    ok(gn_graph_ends(g, ends, 0, r, &more)); /* adds nothing, names what it did */
    SAME(more->n_edge, n);
    for (k = 0; k < n; k++) SAME(at(more, GN_GRAPH_COL, k), at(r, GN_GRAPH_COL, k));
    ok(gn_graph_restrict(g, ends & 1 ? r : NULL, ends & 2 ? r : NULL, &h));
    SAME(h->n_edge, g->n_edge);
    ok(gn_graph_require(g, GN_ARRAY(GN_GRAPH_ROW)));
    ok(gn_graph_require(h, GN_ARRAY(GN_GRAPH_ROW)));
    for (int64_t e = 0; e < h->n_edge; e++) {
        int64_t src = at(h, GN_GRAPH_COL, e), dst = at(h, GN_GRAPH_ROW, e);
        SAME(ends & 1 ? at(r, GN_GRAPH_COL, src) : src, at(g, GN_GRAPH_COL, e));
        SAME(ends & 2 ? at(r, GN_GRAPH_COL, dst) : dst, at(g, GN_GRAPH_ROW, e));
        SAME(at(h, GN_GRAPH_POS, e), at(g, GN_GRAPH_POS, e));
    }
    gn_graph_free(h);
    gn_graph_free(more);
    gn_graph_free(r);
    gn_graph_free(g);
}

START_TEST(random_graphs)
{
    for (int k = 0; k < 60; k++) {
        int64_t n = random_below(MOST_NODES), m = k % 4 ? n : random_below(MOST_NODES);
        edge_list l = edges_random(n, m, n && m ? random_below(MOST_EDGES) : 0);
        for (int w = 0; w < 2; w++) {
            check_filtered(&l, w ? GN_I64 : GN_I32);
            check_grouped(&l, w ? GN_I64 : GN_I32);
            for (int end = 0; end < 3; end++) check_corrupted(&l, w ? GN_I64 : GN_I32, end);
            for (int ends = 1; ends < (n == m ? 4 : 3); ends++)
                check_ends(&l, w ? GN_I64 : GN_I32, ends, (ends & 1) + (ends >> 1));
            for (int64_t most = 1; most <= l.n + 1; most += 1 + l.n / 3)
                check_sampled(&l, w ? GN_I64 : GN_I32, most);
            for (int64_t most = 0; most < 6; most++)
                for (int how = GN_DRAW_UNIFORM; how <= GN_DRAW_LABOR; how++)
                    check_drawn(&l, w ? GN_I64 : GN_I32, most, n == m && most % 2,
                                (gn_draw_how)how);
            for (int either = 0; either <= (n == m); either++)
                for (int listed = 0; listed < 2; listed++)
                    check_without(&l, w ? GN_I64 : GN_I32, either, listed);
        }
        edges_free(&l);
    }
}
END_TEST

/* Other draws take the place of those that there were, in every array that was made. */
START_TEST(drawn_anew)
{
    edge_list l = edges_random(9, 9, 40);
    gn_graph *g = graph_of(GN_I32, &l), *d, *e;
    gn_corruption c = {.key = 1, .times = 2, .end = 2};
    gn_graph_arrays arrays = ALL_CSC | GN_ARRAY(GN_GRAPH_IMAGE) | GN_ARRAY(GN_GRAPH_FROM) |
                             GN_ARRAY(GN_GRAPH_ROW);
    ok(gn_graph_corrupt(g, &c, &d));
    ok(gn_graph_require(d, arrays));
    void *col = d->array[GN_GRAPH_COL], *csc = d->array[GN_GRAPH_CSC_EDGE];
    c.key = 2;
    ok(gn_graph_corrupt(g, &c, &e));
    HOLDS(memcmp(d->array[GN_GRAPH_COL], e->array[GN_GRAPH_COL], 80 * 4) != 0);
    ok(gn_graph_refill(d, e));
    HOLDS(d->array[GN_GRAPH_COL] == col && d->array[GN_GRAPH_CSC_EDGE] == csc);
    for (int k = 0; k < GN_GRAPH_ARRAY_COUNT; k++) {
        size_t bytes = (size_t)gn_graph_array_count(d, (gn_graph_array)k) * 4;
        if (d->array[k]) ck_assert_mem_eq(d->array[k], e->array[k], bytes);
    }
    gn_graph_free(e);
    c.times = 3;
    ok(gn_graph_corrupt(g, &c, &e));
    refused(gn_graph_refill(d, e), GN_ERR_INTERNAL, "a graph that is drawn anew has another shape");
    gn_graph_free(e);
    gn_graph_free(d);
    gn_graph_free(g);
    edges_free(&l);
}
END_TEST

/* One node: what is drawn is its own transpose, and yet has arrays of its own. */
START_TEST(symmetric_by_chance)
{
    int64_t zero[4] = {0};
    const gn_corruption c = {.key = 1, .times = 1};
    gn_graph *g, *d;
    ok(gn_graph_from_coo(GN_I32, 1, 1, 4, GN_I64, zero, zero, &g));
    ok(gn_graph_corrupt(g, &c, &d));
    ok(gn_graph_require(d, ALL_CSC));
    HOLDS(!d->symmetric && d->array[GN_GRAPH_CSC_ROW] != d->array[GN_GRAPH_COL]);
    gn_graph_free(d);
    gn_graph_free(g);
}
END_TEST

START_TEST(rows_by_number)
{
    int64_t src[] = {1, 0, 1}, dst[] = {1, 1, 0}, wide[] = {4, 0, 4};
    int32_t rows[] = {4, 0, 4};
    gn_graph *of, *d;
    /* CSR: the list's edge 2, then 0 and 1 */
    ok(gn_graph_from_coo(GN_I32, 2, 2, 3, GN_I64, src, dst, &of));
    static const int32_t ptr[] = {0, 1, 2, 3}, pos[] = {2, 0, 1}, plain[] = {0, 1, 2};
    for (int k = 0; k < 4; k++) {
        const void *data = k % 2 ? (const void *)wide : rows;
        ok(gn_graph_index(GN_I32, 5, 3, k % 2 ? GN_I64 : GN_I32, data, k < 2 ? of : NULL, &d));
        HOLDS(d->picks && !d->derived && d->n_src == 5 && d->n_dst == 3 && d->n_edge == 3);
        ck_assert_mem_eq(d->array[GN_GRAPH_COL], rows, sizeof rows);
        ck_assert_mem_eq(d->array[GN_GRAPH_ROW_PTR], ptr, sizeof ptr);
        ck_assert_mem_eq(d->array[GN_GRAPH_POS], k < 2 ? pos : plain, sizeof pos);
        gn_graph_free(d);
    }
    ok(gn_graph_index(GN_I64, 5, 3, GN_I32, rows, NULL, &d));
    ck_assert_int_eq(d->index, GN_I64);
    gn_graph_free(d);
    rows[0] = 5;
    refused(gn_graph_index(GN_I32, 5, 3, GN_I32, rows, of, &d), GN_ERR_DATA,
            "index: element 2 is 5, out of range: there are 5 rows");
    refused(gn_graph_index(GN_I32, 5, 3, GN_I32, rows, NULL, &d), GN_ERR_DATA,
            "index: element 0 is 5, out of range");
    wide[1] = INT64_MIN;
    refused(gn_graph_index(GN_I32, 5, 3, GN_I64, wide, NULL, &d), GN_ERR_DATA,
            "index: element 1 is -9223372036854775808, out of range");
    refused(gn_graph_index(GN_I32, 5, 2, GN_I32, rows, of, &d), GN_ERR_DATA,
            "index: 2 numbers for 3 edges");
    ck_assert_ptr_null(d);
    rows[0] = 4;
    OUT_OF_MEMORY_SWEEP(gn_graph_index(GN_I32, 5, 3, GN_I32, rows, NULL, &d));
    gn_graph_free(d);
    gn_graph_free(of);
}
END_TEST

/* A pick is grown along a relation from either end. */
START_TEST(grown)
{
    for (int k = 0; k < 80; k++) {
        int64_t n = random_below(MOST_NODES), m = random_below(MOST_NODES);
        edge_list l = edges_random(n, m, n && m ? random_below(MOST_EDGES) : 0);
        gn_graph *g = graph_of(k % 2 ? GN_I64 : GN_I32, &l), *r, *also, *d;
        uint8_t mask[2][MOST_NODES], want[MOST_NODES];
        int end = k / 2 % 2;
        int64_t here = end ? m : n, there = end ? n : m, rows = 0;
        bool all = k % 5 == 0, more = k % 3 == 0;
        for (int64_t v = 0; v < there; v++) mask[0][v] = random_below(3) == 0;
        for (int64_t v = 0; v < here; v++) mask[1][v] = want[v] = more && random_below(4) == 0;
        for (int64_t p = 0; p < l.n; p++)
            if (all || mask[0][end ? l.src[p] : l.dst[p]]) want[end ? l.dst[p] : l.src[p]] = 1;
        ok(gn_graph_subset(there, mask[0], GN_I32, &r));
        ok(gn_graph_subset(here, mask[1], GN_I32, &also));
        ok(gn_graph_grow(g, end, all ? NULL : r, more ? also : NULL, &d));
        HOLDS(d->picks && d->n_src == here && d->index == g->index);
        for (int64_t v = 0; v < here; v++)
            if (want[v]) SAME(at(d, GN_GRAPH_COL, rows++), v);
        SAME(d->n_dst, rows);
        gn_graph *made[] = {g, r, also, d};
        for (int j = 0; j < 4; j++) gn_graph_free(made[j]);
        edges_free(&l);
    }
}
END_TEST

START_TEST(what_cannot_be)
{
    static const uint8_t mask[] = {1, 0, 1};
    edge_list l = edges_random(3, 3, 3);
    gn_graph *g = graph_of(GN_I32, &l), *r, *d;
    gn_corruption c = {.times = 0};
    refused(gn_graph_corrupt(g, &c, &d), GN_ERR_NOMEM, "0 times 3 edges cannot be counted");
    c.times = INT64_MAX / 2;
    refused(gn_graph_corrupt(g, &c, &d), GN_ERR_NOMEM, "times 3 edges cannot be counted");
    c.times = INT64_MAX / 3;
    refused(gn_graph_corrupt(g, &c, &d), GN_ERR_NOMEM, "cannot be counted");
    ck_assert_ptr_null(d);
    c.times = 2;
    OUT_OF_MEMORY_SWEEP(gn_graph_corrupt(g, &c, &d));
    gn_graph_free(d);
    OUT_OF_MEMORY_SWEEP(gn_graph_filter(g, mask, &d));
    gn_graph_free(d);
    static const int64_t listed[] = {2, 0}, beyond[] = {0, 3}, negative[] = {-1};
    OUT_OF_MEMORY_SWEEP(gn_graph_filter_of(g, 2, listed, &d));
    gn_graph_free(d);
    refused(gn_graph_filter_of(g, 2, beyond, &d), GN_ERR_DATA, "edge 3 is listed, of 3");
    refused(gn_graph_filter_of(g, 1, negative, &d), GN_ERR_DATA, "edge -1 is listed, of 3");
    ok(gn_graph_subset(3, mask, GN_I32, &r));
    OUT_OF_MEMORY_SWEEP(gn_graph_grow(g, 1, r, NULL, &d));
    gn_graph_free(d);
    gn_graph_free(r);
    gn_graph_free(g);
    edges_free(&l);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("edges");
    tcase_add_test(c, random_graphs);
    tcase_add_test(c, drawn_anew);
    tcase_add_test(c, symmetric_by_chance);
    tcase_add_test(c, rows_by_number);
    tcase_add_test(c, grown);
    tcase_add_test(c, what_cannot_be);
    return RUN_CASES("runtime edges", c);
}
