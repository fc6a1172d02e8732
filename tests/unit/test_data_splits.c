/* Splits, folds and false edges: how many there are of each, against plain counts; that chance is
 * even, over many seeds; and what a Philox of some lines of Python draws
 * from one seed. */
/* links: runtime base */
#include "data_fixture.h"

#include "runtime/data/splits.h"

#include <math.h>

/* Within five standard deviations of what is expected of a count. */
static void even(int64_t count, int64_t draws, double chance, const char *what)
{
    double mean = (double)draws * chance, far = 5 * sqrt(mean * (1 - chance));
    ck_assert_msg(fabs((double)count - mean) <= far, "%s: %lld of %lld, expected %g", what,
                  (long long)count, (long long)draws, mean);
}

/* ---- edges ---- */

enum { EDGES = 200 };

static void count_parts(const uint8_t *part, int64_t n, int64_t *count)
{
    for (int p = 0; p < GN_PART_COUNT; p++) count[p] = 0;
    for (int64_t e = 0; e < n; e++) {
        ck_assert_int_lt(part[e], GN_PART_COUNT);
        count[part[e]]++;
    }
}

START_TEST(edges_have_their_shares)
{
    int64_t end[EDGES] = {0}, count[GN_PART_COUNT];
    uint8_t part[EDGES];
    static const int64_t n[] = {200, 199, 20, 19, 10, 1};
    for (int i = 0; i < 6; i++) {
        gn_edge_split how = {.val = 0.05, .test = 0.1, .seed = 3};
        must(gn_split_edges(end, end, n[i], &how, part));
        count_parts(part, n[i], count);
        ck_assert_int_eq(count[GN_PART_VAL], (int64_t)(0.05 * (double)n[i]));
        ck_assert_int_eq(count[GN_PART_TEST], (int64_t)(0.1 * (double)n[i]));
    }
}
END_TEST

START_TEST(directed_edges_are_drawn_evenly)
{
    int64_t end[20] = {0}, in[20][GN_PART_COUNT] = {{0}}, both = 0;
    uint8_t part[20], again[20];
    for (uint64_t seed = 0; seed < 2000; seed++) {
        gn_edge_split how = {.val = 0.25, .test = 0.15, .seed = seed};
        must(gn_split_edges(end, end, 20, &how, part));
        must(gn_split_edges(end, end, 20, &how, again));
        ck_assert_mem_eq(part, again, sizeof part);
        for (int e = 0; e < 20; e++) in[e][part[e]]++;
        both += part[0] == GN_PART_TEST && part[1] == GN_PART_TEST;
    }
    for (int e = 0; e < 20; e++) {
        even(in[e][GN_PART_VAL], 2000, 0.25, "validation");
        even(in[e][GN_PART_TEST], 2000, 0.15, "test");
    }
    even(both, 2000, 3.0 / 20 * 2 / 19, "both in test");
}
END_TEST

START_TEST(pairs_stay_together)
{
    enum { NODES = 9 };
    int64_t src[EDGES], dst[EDGES], n = 0, pairs = 0, count[GN_PART_COUNT] = {0};
    int of_pair[NODES][NODES];
    uint8_t part[EDGES];
    for (int64_t u = 0; u < NODES; u++)
        for (int64_t v = 0; v < NODES; v++) {
            int64_t times = u == v ? u % 2 : (u + v) % 4 ? 1 : 0;
            if (u < v && (u * v) % 3 == 1) times = 2;
            if (u > v && (u + v) % 5 == 0) times = 0;
            for (; times > 0; times--, n++) {
                src[n] = u;
                dst[n] = v;
            }
        }
    gn_edge_split how = {.val = 0.2, .test = 0.3, .undirected = true, .seed = 1};
    must(gn_split_edges(src, dst, n, &how, part));
    memset(of_pair, -1, sizeof of_pair);
    for (int64_t e = 0; e < n; e++) {
        int *one = &of_pair[src[e] < dst[e] ? src[e] : dst[e]][src[e] < dst[e] ? dst[e] : src[e]];
        if (*one < 0) {
            pairs++;
            count[part[e]]++;
            *one = part[e];
        }
        ck_assert_int_eq(*one, part[e]);
    }
    ck_assert_int_lt(pairs, n * 2 / 3);
    ck_assert_int_eq(count[GN_PART_VAL], pairs / 5);
    ck_assert_int_eq(count[GN_PART_TEST], (int64_t)(0.3 * (double)pairs));
}
END_TEST

START_TEST(pairs_do_not_depend_on_the_order_of_edges)
{
    static const int64_t a[] = {0, 1, 2, 3, 4, 5, 0}, b[] = {1, 2, 3, 4, 5, 0, 3};
    uint8_t part[7], other[7];
    int64_t from[7], to[7], in_test[7] = {0};
    for (int e = 0; e < 7; e++) {
        from[e] = b[6 - e];
        to[e] = a[6 - e];
    }
    for (uint64_t seed = 0; seed < 2000; seed++) {
        gn_edge_split how = {.val = 0.15, .test = 0.3, .undirected = true, .seed = seed};
        must(gn_split_edges(a, b, 7, &how, part));
        must(gn_split_edges(from, to, 7, &how, other));
        for (int e = 0; e < 7; e++) {
            ck_assert_int_eq(part[e], other[6 - e]);
            in_test[e] += part[e] == GN_PART_TEST;
        }
    }
    for (int e = 0; e < 7; e++) even(in_test[e], 2000, 2.0 / 7, "test");
}
END_TEST

START_TEST(edges_refuse)
{
    static const int64_t end[] = {0, 1, 2}, under[] = {0, 1, -1};
    const int64_t huge[] = {0, 1, (int64_t)1 << 31};
    uint8_t part[3];
    gn_edge_split how = {.val = 0.5, .test = 0.5, .undirected = true};
    must(gn_split_edges(end, end, 3, &how, part));
    MUST_FAIL(gn_split_edges(end, end, 2, &how, part), GN_ERR_USAGE, "of 2 edges 1 for");
    MUST_FAIL(gn_split_edges(end, end, 0, &how, part), GN_ERR_USAGE, "of 0 edges");
    MUST_FAIL(gn_split_edges(end, end, -1, &how, part), GN_ERR_USAGE, "-1 edges");
    MUST_FAIL(gn_split_edges(end, under, 3, &how, part), GN_ERR_DATA, "edge 2 is 2 -> -1");
    MUST_FAIL(gn_split_edges(huge, end, 3, &how, part), GN_ERR_DATA, "edge 2 is 2147483648");
    MUST_FAIL(gn_split_edges(end, end, INT64_MAX / 8, &(gn_edge_split){.val = 1.5}, part),
              GN_ERR_USAGE, "1.5 for validation");
    MUST_FAIL(gn_split_edges(end, end, 3, &(gn_edge_split){.test = -0.5}, part), GN_ERR_USAGE,
              "-0.5 for test");
    MUST_FAIL(gn_split_edges(end, end, 3, &(gn_edge_split){.test = (double)NAN}, part),
              GN_ERR_USAGE, "nan for test");
}
END_TEST

/* ---- folds ---- */

enum { ROWS = 203, CLASSES = 6 };

static void make_classes(int32_t *y)
{
    for (int i = 0; i < ROWS; i++) y[i] = (i * i / 3 + i) % 9 - 2;
    for (int i = 0; i < ROWS; i++)
        if (y[i] == 4) y[i] = i % 2 ? 5 : -7; /* class 4 has no row */
    for (int i = 0; i < ROWS; i++)
        if (y[i] > 5) y[i] = 0;
}

/* How many rows of a class a fold has: every tenth of the sorted labels, from the fold's number. */
static void plain_counts(const int32_t *y, int folds, int64_t count[][CLASSES])
{
    int64_t k = 0;
    for (int c = 0; c < CLASSES; c++)
        for (int i = 0; i < ROWS; i++)
            if (y[i] == c) count[k++ % folds][c]++;
}

START_TEST(folds_have_of_each_class_the_same)
{
    int32_t y[ROWS], fold[ROWS];
    make_classes(y);
    static const int folds[] = {2, 3, 10, 60};
    for (int v = 0; v < 4; v++) {
        int64_t count[60][CLASSES] = {{0}}, expected[60][CLASSES] = {{0}}, least = ROWS, most = 0;
        must(gn_folds(y, ROWS, CLASSES, folds[v], 5, fold));
        plain_counts(y, folds[v], expected);
        for (int i = 0; i < ROWS; i++) {
            ck_assert_int_eq(fold[i] < 0, y[i] < 0);
            ck_assert_int_lt(fold[i], folds[v]);
            if (y[i] >= 0) count[fold[i]][y[i]]++;
        }
        ck_assert_mem_eq(count, expected, sizeof count);
        for (int f = 0; f < folds[v]; f++) {
            int64_t rows = 0;
            for (int c = 0; c < CLASSES; c++) rows += count[f][c];
            if (rows < least) least = rows;
            if (rows > most) most = rows;
        }
        ck_assert_int_le(most - least, 1);
    }
}
END_TEST

START_TEST(folds_are_drawn_evenly)
{
    static const int32_t y[] = {0, 1, 0, 1, 0, -1, 1, 0, 0, 1, 0};
    int64_t in[11][3] = {{0}}, together = 0;
    int32_t fold[11], again[11];
    for (uint64_t seed = 0; seed < 2000; seed++) {
        must(gn_folds(y, 11, 2, 3, seed, fold));
        must(gn_folds(y, 11, 2, 3, seed, again));
        ck_assert_mem_eq(fold, again, sizeof fold);
        for (int i = 0; i < 11; i++)
            if (y[i] >= 0) in[i][fold[i]]++;
        together += fold[0] == fold[2];
    }
    for (int i = 0; i < 11; i++) {
        if (y[i] == 0)
            for (int f = 0; f < 3; f++) even(in[i][f], 2000, 2.0 / 6, "class 0");
        if (y[i] == 1) even(in[i][0], 2000, 2.0 / 4, "class 1");
    }
    even(together, 2000, 1.0 / 5, "two rows in one fold");
}
END_TEST

START_TEST(folds_without_labels)
{
    int32_t fold[25], count[10] = {0};
    must(gn_folds(NULL, 25, 0, 10, 1, fold));
    for (int i = 0; i < 25; i++) count[fold[i]]++;
    for (int f = 0; f < 10; f++) ck_assert_int_eq(count[f], f < 5 ? 3 : 2);
}
END_TEST

START_TEST(folds_refuse)
{
    static const int32_t y[] = {0, 2, -1, 1};
    int32_t fold[4];
    must(gn_folds(y, 4, 3, 3, 0, fold));
    MUST_FAIL(gn_folds(y, 4, 2, 3, 0, fold), GN_ERR_USAGE, "row 1 has class 2, of 2");
    MUST_FAIL(gn_folds(y, 4, 3, 4, 0, fold), GN_ERR_USAGE, "4 folds of 3 rows");
    MUST_FAIL(gn_folds(y, 4, 3, 1, 0, fold), GN_ERR_USAGE, "1 folds of 4 rows");
    MUST_FAIL(gn_folds(y, -1, 3, 2, 0, fold), GN_ERR_USAGE, "-1 rows");
    MUST_FAIL(gn_folds(y, 4, INT64_MAX, 2, 0, fold), GN_ERR_USAGE, "classes");
}
END_TEST

/* ---- false edges ---- */

enum { H = 4, K = 2, T = 5, TIMES = 3000 };

/* 0: known. Kind 0 leaves three pairs, and head 2 nothing; of kind 1 little is known. */
static const char *const possible[K][H] = {{"00100", "00001", "00000", "10000"},
                                           {"11101", "11111", "11111", "11011"}};

static bool may(int kind, int64_t head, int64_t tail) { return possible[kind][head][tail] == '1'; }

static gn_known make_known(void)
{
    int64_t head[H * K * T], tail[H * K * T], n = 0;
    int32_t kind[H * K * T];
    for (int k = 0; k < K; k++)
        for (int h = 0; h < H; h++)
            for (int t = 0; t < T; t++) {
                if (may(k, h, t)) continue;
                head[n] = h;
                tail[n] = t;
                kind[n++] = k;
            }
    gn_triples list = {n, head, tail, kind};
    gn_known known;
    must(gn_known_build(H, K, T, &list, 1, &known));
    return known;
}

/* Edge e of a few, TIMES false ones of each: evenly all that there may be, and nothing else. */
static void check_drawn(const gn_known *known, gn_drawn drawn)
{
    static const int64_t head[] = {0, 3, 1, 0}, tail[] = {0, 2, 4, 3};
    static const int32_t kind[] = {0, 0, 1, 1};
    int64_t from[4 * TIMES], to[4 * TIMES];
    gn_triples of = {4, head, tail, kind};
    gn_false_edges how = {H, T, TIMES, drawn, known, 11, 2};
    must(gn_draw_false(&of, &how, from, to));
    for (int e = 0; e < 4; e++) {
        int64_t count[H][T] = {{0}}, choices = 0;
        for (int j = e * TIMES; j < (e + 1) * TIMES; j++) {
            ck_assert(from[j] >= 0 && from[j] < H && to[j] >= 0 && to[j] < T);
            count[from[j]][to[j]]++;
        }
        for (int turn = 0; turn < 2; turn++)
            for (int h = 0; h < H; h++)
                for (int t = 0; t < T; t++) {
                    bool can = (!known || may(kind[e], h, t)) &&
                               (drawn != GN_DRAWN_TAIL || h == head[e]) &&
                               (drawn != GN_DRAWN_HEAD || t == tail[e]);
                    if (turn == 0)
                        choices += can;
                    else if (can)
                        even(count[h][t], TIMES, 1 / (double)choices, "a false edge");
                    else
                        ck_assert_int_eq(count[h][t], 0);
                }
    }
}

START_TEST(false_edges_are_drawn_evenly)
{
    gn_known known = make_known();
    for (gn_drawn d = 0; d < GN_DRAWN_COUNT; d++) check_drawn(NULL, d);
    check_drawn(&known, GN_DRAWN_BOTH);
    check_drawn(&known, GN_DRAWN_TAIL);
    gn_known_free(&known);
}
END_TEST

/* Of kind 0 tails 0, 2 and 4 have one head left each. */
START_TEST(false_heads_are_filtered)
{
    static const int64_t head[] = {1, 1, 1, 1}, tail[] = {0, 2, 4, 3}, only[] = {3, 0, 1};
    static const int32_t kind[] = {0, 0, 0, 1};
    int64_t from[4 * 50], to[4 * 50], of_kind_1[H] = {0};
    gn_known known = make_known();
    gn_false_edges how = {H, T, 50, GN_DRAWN_HEAD, &known, 1, 0};
    must(gn_draw_false(&(gn_triples){4, head, tail, kind}, &how, from, to));
    for (int j = 0; j < 200; j++) {
        ck_assert_int_eq(to[j], tail[j / 50]);
        if (j < 150)
            ck_assert_int_eq(from[j], only[j / 50]);
        else
            of_kind_1[from[j]]++;
    }
    ck_assert(of_kind_1[0] == 0 && of_kind_1[1] && of_kind_1[2] && of_kind_1[3]);
    gn_known_free(&known);
}
END_TEST

START_TEST(false_edges_depend_on_their_number_alone)
{
    static const int64_t head[] = {0, 1, 2, 3}, tail[] = {4, 3, 2, 1};
    int64_t from[40], to[40], head2[40], tail2[40];
    gn_false_edges how = {1000, 1000, 10, GN_DRAWN_BOTH, NULL, 5, 0};
    must(gn_draw_false(&(gn_triples){4, head, tail, NULL}, &how, from, to));
    must(gn_draw_false(&(gn_triples){2, head, tail, NULL}, &how, head2, tail2));
    ck_assert_mem_eq(from, head2, 20 * sizeof *from);
    ck_assert_mem_eq(to, tail2, 20 * sizeof *to);
    how.step = 1;
    must(gn_draw_false(&(gn_triples){4, head, tail, NULL}, &how, head2, tail2));
    ck_assert(memcmp(from, head2, sizeof from) && memcmp(to, tail2, sizeof to));
    how.step = 0;
    how.seed = 6;
    must(gn_draw_false(&(gn_triples){4, head, tail, NULL}, &how, head2, tail2));
    ck_assert(memcmp(from, head2, sizeof from) && memcmp(to, tail2, sizeof to));
}
END_TEST

START_TEST(false_edges_refuse)
{
    static const int64_t head[] = {0, 2}, tail[] = {0, 1}, four[] = {0, 4}, five[] = {0, 5};
    static const int32_t none[] = {0, -1}, third[] = {1, 2};
    int64_t from[4], to[4];
    gn_known known = make_known();
    gn_triples of = {2, head, tail, NULL};
    gn_false_edges how = {H, T, 2, GN_DRAWN_TAIL, &known, 1, 0};
    MUST_FAIL(gn_draw_false(&of, &how, from, to), GN_ERR_DATA, "edge 1, 2 -> 1: all that could");
    how.times = 0;
    must(gn_draw_false(&of, &how, from, to));
    how.times = -1;
    MUST_FAIL(gn_draw_false(&of, &how, from, to), GN_ERR_USAGE, "-1 false edges");
    how.times = INT64_MAX;
    MUST_FAIL(gn_draw_false(&of, &how, from, to), GN_ERR_USAGE, "for each of 2");
    how = (gn_false_edges){H, T + 1, 2, GN_DRAWN_BOTH, &known, 1, 0};
    MUST_FAIL(gn_draw_false(&of, &how, from, to), GN_ERR_USAGE, "known ones between 4 and 5");
    how.tails = T;
    of.head = four;
    MUST_FAIL(gn_draw_false(&of, &how, from, to), GN_ERR_DATA, "edge 1 is 4 -> 1");
    of.head = head;
    of.tail = five;
    MUST_FAIL(gn_draw_false(&of, &how, from, to), GN_ERR_DATA, "edge 1 is 2 -> 5");
    of.tail = tail;
    of.kind = third;
    MUST_FAIL(gn_draw_false(&of, &how, from, to), GN_ERR_DATA, "of kind 2");
    of.kind = none;
    how.known = NULL;
    MUST_FAIL(gn_draw_false(&of, &how, from, to), GN_ERR_DATA, "of kind -1");
    how.heads = (int64_t)1 << 31;
    MUST_FAIL(gn_draw_false(&of, &how, from, to), GN_ERR_USAGE, "between 2147483648 and 5");
    gn_known_free(&known);
}
END_TEST

/* ---- what seeds have drawn ---- */

START_TEST(seeds_draw_what_they_drew)
{
    static const int32_t y[] = {0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
    static const int64_t end[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const int32_t folds[] = {0, 1, 0, 2, 1, 1, 0, 2, 0, 2};
    static const uint8_t parts[] = {0, 1, 1, 2, 2, 0, 2, 0, 0, 0};
    static const int64_t heads[] = {35, 29, 26, 84, 3, 81, 25, 5, 53, 92},
                         tails[] = {96, 88, 88, 52, 87, 25, 79, 22, 69, 7};
    int32_t fold[10];
    uint8_t part[10];
    int64_t head[10], tail[10];
    must(gn_folds(y, 10, 2, 3, 42, fold));
    must(gn_split_edges(end, end, 10, &(gn_edge_split){.val = 0.2, .test = 0.3, .seed = 42}, part));
    gn_false_edges how = {100, 100, 1, GN_DRAWN_BOTH, NULL, 42, 0};
    must(gn_draw_false(&(gn_triples){10, end, end, NULL}, &how, head, tail));
    ck_assert_mem_eq(fold, folds, sizeof fold);
    ck_assert_mem_eq(part, parts, sizeof part);
    ck_assert_mem_eq(head, heads, sizeof head);
    ck_assert_mem_eq(tail, tails, sizeof tail);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("splits");
    TCase *t = tcase_create("edges");
    tcase_add_test(t, edges_have_their_shares);
    tcase_add_test(t, directed_edges_are_drawn_evenly);
    tcase_add_test(t, pairs_stay_together);
    tcase_add_test(t, pairs_do_not_depend_on_the_order_of_edges);
    tcase_add_test(t, edges_refuse);
    suite_add_tcase(s, t);
    t = tcase_create("folds");
    tcase_add_test(t, folds_have_of_each_class_the_same);
    tcase_add_test(t, folds_are_drawn_evenly);
    tcase_add_test(t, folds_without_labels);
    tcase_add_test(t, folds_refuse);
    suite_add_tcase(s, t);
    t = tcase_create("false edges");
    tcase_add_test(t, false_edges_are_drawn_evenly);
    tcase_add_test(t, false_heads_are_filtered);
    tcase_add_test(t, false_edges_depend_on_their_number_alone);
    tcase_add_test(t, false_edges_refuse);
    suite_add_tcase(s, t);
    t = tcase_create("seeds");
    tcase_add_test(t, seeds_draw_what_they_drew);
    suite_add_tcase(s, t);
    return suite_run(s);
}
