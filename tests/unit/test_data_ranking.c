/* Ranks against counting in double precision with tables of what is known, and against figures by
 * hand.  Those of OGB's metrics are numpy 2's with the expressions of _eval_mrr and _eval_hits in
 * ogb/linkproppred/evaluate.py. */
/* links: runtime base */
#include "data_fixture.h"

#include "base/philox.h"
#include "runtime/data/ranking.h"

#include <math.h>

static void near(double a, double b)
{
    ck_assert_msg(fabs(a - b) < 1e-12, "%.17g, expected %.17g", a, b);
}

static int64_t below(int64_t n, uint64_t i) { return gn_random_u32(7, 3, i) % (uint32_t)n; }

/* ---- what is known ---- */

enum { HEADS = 23, KINDS = 5, TAILS = 31, MANY = 900 };

typedef struct world {
    bool known[HEADS][KINDS][TAILS];
    int64_t head[MANY], tail[MANY];
    int32_t kind[MANY];
    gn_known k;
} world;

/* Three parts, the last empty, with repeats within parts and between them; head 4, tail 6 and kind
 * 2 have nothing. */
static world *make_world(void)
{
    world *w = calloc(1, sizeof *w);
    ck_assert_ptr_nonnull(w);
    for (int i = 0; i < MANY; i++) {
        w->head[i] = below(HEADS, 3 * (uint64_t)i);
        w->kind[i] = (int32_t)below(KINDS, 3 * (uint64_t)i + 1);
        w->tail[i] = below(TAILS, 3 * (uint64_t)i + 2);
        if (w->head[i] == 4) w->head[i] = 0;
        if (w->kind[i] == 2) w->kind[i] = 4;
        if (w->tail[i] == 6) w->tail[i] = TAILS - 1;
        w->known[w->head[i]][w->kind[i]][w->tail[i]] = true;
    }
    gn_triples part[3] = {{400, w->head, w->tail, w->kind},
                          {MANY - 400, w->head + 400, w->tail + 400, w->kind + 400}};
    must(gn_known_build(HEADS, KINDS, TAILS, part, 3, &w->k));
    return w;
}

static void free_world(world *w)
{
    gn_known_free(&w->k);
    free(w);
}

START_TEST(known_agrees_with_a_table)
{
    world *w = make_world();
    int64_t n = 0;
    const int64_t *a;
    for (int h = 0; h < HEADS; h++)
        for (int k = 0; k < KINDS; k++) {
            int64_t count = gn_known_answers(&w->k, GN_ASKED_TAIL, h, k, &a), seen = 0;
            for (int t = 0; t < TAILS; t++) {
                ck_assert(gn_known_has(&w->k, h, k, t) == w->known[h][k][t]);
                if (!w->known[h][k][t]) continue;
                ck_assert(seen < count && a[seen] == t);
                seen++;
            }
            ck_assert_int_eq(seen, count);
            n += count;
        }
    ck_assert_int_eq(n, w->k.n);
    ck_assert_int_lt(n, MANY);
    for (int t = 0; t < TAILS; t++)
        for (int k = 0; k < KINDS; k++) {
            int64_t count = gn_known_answers(&w->k, GN_ASKED_HEAD, t, k, &a), seen = 0;
            for (int h = 0; h < HEADS; h++)
                if (w->known[h][k][t]) ck_assert(seen < count && a[seen++] == h);
            ck_assert_int_eq(seen, count);
        }
    for (int k = 0; k < KINDS; k++) {
        int64_t i = w->k.pairs[k];
        for (int p = 0; p < HEADS * TAILS; p++)
            if (w->known[p / TAILS][k][p % TAILS]) ck_assert(w->k.pair[i++] == p);
        ck_assert_int_eq(i, w->k.pairs[k + 1]);
    }
    free_world(w);
}
END_TEST

START_TEST(known_of_nothing_and_of_one_kind)
{
    static const int64_t head[] = {1, 0, 1}, tail[] = {2, 0, 2};
    const gn_triples edges = {3, head, tail, NULL};
    const int64_t *a;
    gn_known k;
    must(gn_known_build(2, 1, 3, &edges, 1, &k));
    ck_assert(k.n == 2 && gn_known_has(&k, 1, 0, 2) && !gn_known_has(&k, 1, 0, 1));
    gn_known_free(&k);
    must(gn_known_build(2, 1, 3, NULL, 0, &k));
    ck_assert(k.n == 0 && gn_known_answers(&k, GN_ASKED_HEAD, 2, 0, &a) == 0);
    gn_known_free(&k);
    must(gn_known_build(0, 0, 0, NULL, 0, &k));
    gn_known_free(&k);
}
END_TEST

START_TEST(known_refuses)
{
    static const int64_t two[] = {0, 2}, under[] = {0, -1}, fine[] = {0, 1};
    static const int32_t kinds[] = {0, 1}, third[] = {2, 0};
    const gn_triples heads = {2, two, fine, NULL}, tails = {2, fine, under, NULL},
                     kind = {2, fine, fine, third}, last = {2, fine, fine, kinds},
                     less = {-1, fine, fine, NULL};
    const gn_triples huge[] = {{INT64_MAX, fine, fine, NULL}, {1, fine, fine, NULL}};
    gn_known k;
    MUST_FAIL(gn_known_build(2, 2, 2, &heads, 1, &k), GN_ERR_DATA, "triple 1: head 2, of 2");
    MUST_FAIL(gn_known_build(2, 2, 2, &tails, 1, &k), GN_ERR_DATA, "triple 1: tail -1, of 2");
    MUST_FAIL(gn_known_build(2, 2, 2, &kind, 1, &k), GN_ERR_DATA, "triple 0: kind 2, of 2");
    MUST_FAIL(gn_known_build(-1, 2, 2, &last, 1, &k), GN_ERR_USAGE, "-1 heads");
    MUST_FAIL(gn_known_build(2, (int64_t)1 << 31, 2, &last, 1, &k), GN_ERR_USAGE, "kinds");
    MUST_FAIL(gn_known_build(2, 2, 2, &less, 1, &k), GN_ERR_USAGE, "-1 triples");
    MUST_FAIL(gn_known_build(2, 2, 2, huge, 2, &k), GN_ERR_USAGE, "a list of 1 triples");
    MUST_FAIL(gn_known_build(2, 2, 2, huge, 1, &k), GN_ERR_NOMEM, "known triples");
    ck_assert_ptr_null(k.pair);
    gn_known_free(&k);
}
END_TEST

START_TEST(gaps_are_counted)
{
    static const int64_t some[] = {0, 1, 4, 5, 9};
    const int64_t gap[] = {2, 3, 6, 7, 8, 10, 11};
    for (int r = 0; r < 7; r++) ck_assert_int_eq(gn_known_gap(some, 5, r), gap[r]);
    ck_assert_int_eq(gn_known_gap(NULL, 0, 3), 3);
    ck_assert_int_eq(gn_known_gap(some + 2, 3, 3), 3);
}
END_TEST

/* ---- ranks ---- */

START_TEST(ranks_by_hand)
{
    const float inf = INFINITY, nan = NAN;
    const float s[] = {1, 3, 2, 2, -1, 2}, odd[] = {nan, 0, -inf, nan, inf, -0.0f},
                same[] = {2, 2, 2, 2};
    static const int64_t some[] = {1, 2}, all[] = {0, 1, 2, 3, 4, 5}, mine[] = {3}, nans[] = {0};
    near(gn_rank_of(s, 6, 1, NULL, 0), 1);
    near(gn_rank_of(s, 6, 3, NULL, 0), 3); /* 2, 3 or 4 */
    near(gn_rank_of(s, 6, 0, NULL, 0), 5);
    near(gn_rank_of(s, 6, 4, NULL, 0), 6);
    near(gn_rank_of(s, 6, 3, some, 2), 1.5); /* the better one and one of those that tie are gone */
    near(gn_rank_of(s, 6, 3, mine, 1), 3);
    near(gn_rank_of(s, 6, 3, all, 6), 1);
    near(gn_rank_of(same, 4, 2, NULL, 0), 2.5);
    near(gn_rank_of(same, 1, 0, NULL, 0), 1);
    near(gn_rank_of(odd, 6, 4, NULL, 0), 1);
    near(gn_rank_of(odd, 6, 1, NULL, 0), 2.5); /* -0 is 0 */
    near(gn_rank_of(odd, 6, 2, NULL, 0), 4);   /* above those with a NaN */
    near(gn_rank_of(odd, 6, 3, NULL, 0), 6);   /* below them */
    near(gn_rank_of(odd, 6, 3, nans, 1), 5);
    near(gn_rank_of(odd, 6, 0, nans, 1), 6);
}
END_TEST

/* The rank of a row in doubles: NaN is made a number below all. */
static double plain_rank(const float *row, int64_t n, int64_t answer, const bool *known)
{
    double optimistic = 0, pessimistic = 0, mine = (double)row[answer];
    for (int64_t c = 0; c < n; c++) {
        double other = (double)row[c];
        if (c == answer || known[c]) continue;
        optimistic += isnan(mine) || (!isnan(other) && other > mine);
        pessimistic += isnan(mine) || (!isnan(other) && other >= mine);
    }
    return (optimistic + pessimistic) / 2 + 1;
}

/* Scores of few values, so that there are ties, and some that are none; longer and shorter than
 * what is compared at a time. */
static float score_at(int64_t i)
{
    static const float special[] = {NAN, INFINITY, -INFINITY};
    int64_t k = below(200, (uint64_t)i + 100000);
    return k < 3 ? special[k] : (float)(k % 37) / 8 - 2;
}

enum { DEEP = 60, FEW = 3000, OTHER = 40, SORTS = 3 };

/* Questions whose candidates are [n], given one of OTHER, and a table of what is known. */
typedef struct wide {
    gn_asked asked;
    int64_t n, one[FEW], many[FEW], answer[DEEP];
    int32_t kind[FEW];
    float *score; /* [DEEP, n] */
    bool *known;  /* [OTHER, SORTS, n] */
    gn_known k;
} wide;

static wide *make_wide(gn_asked asked, int64_t n)
{
    wide *w = calloc(1, sizeof *w);
    ck_assert_ptr_nonnull(w);
    w->asked = asked;
    w->n = n;
    w->score = malloc((size_t)(DEEP * n) * sizeof *w->score);
    w->known = calloc((size_t)(OTHER * SORTS * n), 1);
    ck_assert(w->score && w->known);
    for (int i = 0; i < FEW; i++) {
        w->one[i] = below(OTHER, 5 * (uint64_t)i);
        w->many[i] = below(n, 5 * (uint64_t)i + 1);
        w->kind[i] = (int32_t)below(SORTS, 5 * (uint64_t)i + 2);
        w->known[(w->one[i] * SORTS + w->kind[i]) * n + w->many[i]] = true;
    }
    for (int64_t i = 0; i < DEEP * n; i++) w->score[i] = score_at(i);
    /* half of the answers are among those known */
    for (int i = 0; i < DEEP; i++) w->answer[i] = i % 2 ? below(n, (uint64_t)i + 99) : w->many[i];
    bool tails = asked == GN_ASKED_TAIL;
    gn_triples list = {FEW, tails ? w->one : w->many, tails ? w->many : w->one, w->kind};
    must(gn_known_build(tails ? OTHER : n, SORTS, tails ? n : OTHER, &list, 1, &w->k));
    return w;
}

static void free_wide(wide *w)
{
    free(w->score);
    free(w->known);
    gn_known_free(&w->k);
    free(w);
}

static void check_wide(const wide *w)
{
    double rank[DEEP], sum = 0, reciprocal = 0;
    gn_rank_block b = {w->asked, DEEP, w->n, w->score, w->one, w->kind, w->answer};
    gn_ranks r = {0};
    must(gn_rank_rows(&b, &w->k, rank, &r));
    for (int i = 0; i < DEEP; i++) {
        const bool *known = w->known + (w->one[i] * SORTS + w->kind[i]) * w->n;
        double expected = plain_rank(w->score + i * w->n, w->n, w->answer[i], known);
        ck_assert_msg(rank[i] == expected, "row %d of %lld: %g, expected %g", i, (long long)w->n,
                      rank[i], expected);
        sum += expected;
        reciprocal += 1 / expected;
    }
    near(gn_ranks_means(&r).rank, sum / (double)DEEP);
    near(gn_ranks_means(&r).mrr, reciprocal / (double)DEEP);
    must(gn_rank_rows(&b, NULL, rank, NULL));
    bool *nothing = calloc((size_t)w->n, 1);
    for (int i = 0; i < DEEP; i++)
        ck_assert(rank[i] == plain_rank(w->score + i * w->n, w->n, w->answer[i], nothing));
    free(nothing);
}

static void rank_wide(gn_asked asked)
{
    static const int64_t width[] = {1, 255, 256, 513, 1300};
    for (int v = 0; v < 5; v++) {
        wide *w = make_wide(asked, width[v]);
        check_wide(w);
        free_wide(w);
    }
}

START_TEST(tails_agree_with_counting_in_doubles) { rank_wide(GN_ASKED_TAIL); }
END_TEST

START_TEST(heads_agree_with_counting_in_doubles) { rank_wide(GN_ASKED_HEAD); }
END_TEST

START_TEST(means_of_ranks)
{
    static const double ranks[] = {1, 1.5, 3, 2, 10, 10.5, 40, 1};
    gn_ranks r = {0};
    for (int i = 0; i < 8; i++) gn_ranks_add(&r, ranks[i]);
    gn_rank_means m = gn_ranks_means(&r);
    ck_assert_int_eq(m.n, 8);
    near(m.rank, 69.0 / 8);
    near(m.mrr, (1 + 2.0 / 3 + 1.0 / 3 + .5 + .1 + 2.0 / 21 + 1.0 / 40 + 1) / 8);
    near(m.hits[0], 2.0 / 8); /* 1.5 is not first */
    near(m.hits[1], 5.0 / 8);
    near(m.hits[2], 6.0 / 8); /* nor is 10.5 in ten */
    gn_rank_means none = gn_ranks_means(&(gn_ranks){0});
    ck_assert(none.n == 0 && isnan(none.mrr) && isnan(none.rank) && isnan(none.hits[2]));
}
END_TEST

START_TEST(blocks_refuse_and_add_nothing)
{
    static const float score[6] = {0};
    static const int64_t given[] = {0, 1}, beyond[] = {0, 2}, answer[] = {2, 1}, out[] = {0, 3};
    static const int32_t kind[] = {0, 1};
    gn_ranks r = {0};
    gn_known k;
    must(gn_known_build(2, 1, 3, NULL, 0, &k));
    gn_rank_block b = {GN_ASKED_TAIL, 2, 3, score, given, NULL, answer};
    must(gn_rank_rows(&b, &k, NULL, NULL));
    b.answer = out;
    MUST_FAIL(gn_rank_rows(&b, NULL, NULL, &r), GN_ERR_USAGE, "row 1 has answer 3, of 3");
    b.answer = answer;
    b.given = beyond;
    MUST_FAIL(gn_rank_rows(&b, &k, NULL, &r), GN_ERR_USAGE, "row 1 asks of 2, of 2");
    must(gn_rank_rows(&b, NULL, NULL, NULL));
    b.given = given;
    b.kind = kind;
    MUST_FAIL(gn_rank_rows(&b, &k, NULL, &r), GN_ERR_USAGE, "row 1 asks of kind 1, of 1");
    b.asked = GN_ASKED_HEAD;
    MUST_FAIL(gn_rank_rows(&b, &k, NULL, &r), GN_ERR_USAGE, "rows of 3 candidates, where 2");
    b.rows = INT64_MAX / 4;
    MUST_FAIL(gn_rank_rows(&b, NULL, NULL, &r), GN_ERR_USAGE, "rows of 3 scores");
    b.rows = -1;
    MUST_FAIL(gn_rank_rows(&b, NULL, NULL, &r), GN_ERR_USAGE, "-1 rows");
    ck_assert_int_eq(r.n, 0);
    gn_known_free(&k);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ranking");
    TCase *t = tcase_create("known");
    tcase_add_test(t, known_agrees_with_a_table);
    tcase_add_test(t, known_of_nothing_and_of_one_kind);
    tcase_add_test(t, known_refuses);
    tcase_add_test(t, gaps_are_counted);
    suite_add_tcase(s, t);
    t = tcase_create("ranks");
    tcase_add_test(t, ranks_by_hand);
    tcase_add_test(t, tails_agree_with_counting_in_doubles);
    tcase_add_test(t, heads_agree_with_counting_in_doubles);
    tcase_add_test(t, means_of_ranks);
    tcase_add_test(t, blocks_refuse_and_add_nothing);
    suite_add_tcase(s, t);
    return suite_run(s);
}
