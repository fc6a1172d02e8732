/* Metrics against scikit-learn 1.9.1.  The figures come from
 *   L =
 *   [[2,1,0],[.5,.25,.25],[0,3,1],[1,1,1],[-1,0,2],[0,0,5],[.5,2,2],[1,0,.75],[0,1,-1],[3,3,0]],
 *   softmax P y = [0,1,1,0,2,2,2,0,1,1]; p = L.argmax(1) accuracy_score(y, p);
 *   {precision,recall,f1}_score(y, p, average="macro", zero_division=0) roc_auc_score(y, P,
 *   multi_class="ovr"); average_precision_score(np.eye(3)[y], P, average="macro")
 * and the same calls for the other cases, with L[:,1] - L[:,0] as the score of two classes; of one
 * score s a row, p = s > threshold and roc_auc_score(y, s), average_precision_score(y, s). */
/* links: runtime base */
#include "data_fixture.h"

#include "runtime/data/metrics.h"

#include <math.h>

static const float three[] = {2, 1, 0, .5f, .25f, .25f, 0, 3, 1,    1, 1, 1,  -1, 0, 2,
                              0, 0, 5, .5f, 2,    2,    1, 0, .75f, 0, 1, -1, 3,  3, 0};
static const int32_t three_y[] = {0, 1, 1, 0, 2, 2, 2, 0, 1, 1};
static const float two[] = {0, 1, 1, 0, .5f, .5f, 2, 2.5f, 0, 3, 1, 1, 0, -1, .25f, .75f};
static const int32_t two_y[] = {1, 0, 1, 0, 1, 0, 0, 1};

static void near(double a, double b)
{
    ck_assert_msg(fabs(a - b) < 1e-12, "%.17g, expected %.17g", a, b);
}

START_TEST(agrees_with_scikit_learn)
{
    gn_metrics m;
    must(gn_metrics_compute(three, 10, 3, three_y, NULL, &m));
    ck_assert_int_eq(m.n, 10);
    near(m.accuracy, 0.7);
    near(m.precision_macro, 0.7555555555555555);
    near(m.recall_macro, 0.7222222222222222);
    near(m.f1_macro, 0.7071428571428572);
    near(m.precision_micro, 0.7);
    near(m.recall_micro, 0.7);
    near(m.f1_micro, 0.7);
    near(m.roc_auc, 0.9246031746031745);
    near(m.average_precision, 0.8907407407407407);
    must(gn_metrics_compute(two, 8, 2, two_y, NULL, &m));
    near(m.accuracy, 0.75);
    near(m.precision_macro, 0.75);
    near(m.f1_macro, 0.75);
    near(m.roc_auc, 0.875);
    near(m.average_precision, 0.8541666666666666);
}
END_TEST

/* y = [0,0,1,1], p = [0,2,0,0]: class 1 is never said, class 2 never is. */
START_TEST(macro_means_run_over_what_occurs)
{
    static const float logits[] = {1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0};
    static const int32_t y[] = {0, 0, 1, 1};
    gn_metrics m;
    must(gn_metrics_compute(logits, 4, 4, y, NULL, &m));
    near(m.precision_macro, 0.1111111111111111);
    near(m.recall_macro, 0.16666666666666666);
    near(m.f1_macro, 0.13333333333333333);
    ck_assert(isnan(m.roc_auc) && isnan(m.average_precision));
}
END_TEST

START_TEST(rows_count_by_mask_and_label)
{
    static const uint8_t mask[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0};
    int32_t y[10];
    memcpy(y, three_y, sizeof y);
    near(gn_accuracy(three, 10, 3, three_y, NULL), 0.7);
    near(gn_accuracy(three, 10, 3, three_y, mask), 1);
    y[0] = -1;
    y[5] = 1;
    near(gn_accuracy(three, 10, 3, y, mask), 0);
    y[5] = -1;
    ck_assert(isnan(gn_accuracy(three, 10, 3, y, mask)));
    ck_assert(isnan(gn_accuracy(three, 0, 3, y, NULL)));
    gn_metrics m;
    must(gn_metrics_compute(three, 10, 3, y, mask, &m));
    ck_assert(m.n == 0 && isnan(m.accuracy) && isnan(m.f1_macro));
    y[1] = 3;
    MUST_FAIL(gn_metrics_compute(three, 10, 3, y, NULL, &m), GN_ERR_USAGE, "row 1 has class 3");
    MUST_FAIL(gn_metrics_compute(three, 10, 0, y, NULL, &m), GN_ERR_USAGE, "0 classes");
}
END_TEST

START_TEST(nan_is_never_right_and_ties_go_low)
{
    const float inf = INFINITY,
                rows[][3] = {{1, 2, 2}, {0, NAN, 9}, {NAN, 0, 0}, {-inf, -inf, -inf}, {0, inf, 1}};
    const int64_t predicted[] = {1, -1, -1, 0, 1};
    for (int k = 0; k < 5; k++) ck_assert_int_eq(gn_predicted(rows[k], 3), predicted[k]);
    static const float logits[] = {NAN, 0, 0, NAN, 1, 1, 0, 1};
    static const int32_t y[] = {1, 0, 0, 1};
    gn_metrics m;
    near(gn_accuracy(logits, 4, 2, y, NULL), 0.5);
    must(gn_metrics_compute(logits, 4, 2, y, NULL, &m));
    near(m.accuracy, 0.5);
    near(m.precision_micro, 1);
    near(m.recall_micro, 0.5);
    ck_assert(isnan(m.roc_auc));
}
END_TEST

/* Pairs of a positive and a negative that are in order, ties by half; and over positives the share
 * of positives among those that score as high. */
static void plain_curves(const float *s, const int32_t *y, int64_t n, double *auc, double *ap)
{
    double pairs = 0, ordered = 0, positives = 0, precision = 0;
    for (int64_t i = 0; i < n; i++) {
        double high = 0, high_positive = 0;
        if (y[i] != 1) continue;
        positives++;
        for (int64_t j = 0; j < n; j++) {
            if (y[j] < 0) continue;
            double a = (double)s[i], b = (double)s[j];
            high += b >= a;
            high_positive += b >= a && y[j] == 1;
            if (y[j] == 1) continue;
            pairs++;
            ordered += a > b ? 1 : a == b ? 0.5 : 0;
        }
        precision += high_positive / high;
    }
    *auc = ordered / pairs;
    *ap = precision / positives;
}

START_TEST(one_score_a_row)
{
    static const float s[] = {.1f, .4f, .35f, .8f, .8f, .2f, .8f, -1.5f, .4f, .4f, 2.5f, 0};
    static const int32_t y[] = {0, 1, 1, 1, 0, 0, 1, 0, 0, 1, 1, 0};
    gn_metrics m;
    must(gn_metrics_binary(s, 12, y, NULL, .375f, &m));
    ck_assert_int_eq(m.n, 12);
    near(m.accuracy, 0.75);
    near(m.f1_micro, 0.75);
    near(m.precision_macro, 0.7571428571428571);
    near(m.recall_macro, 0.75);
    near(m.f1_macro, 0.7482517482517483);
    near(m.roc_auc, 0.8333333333333334);
    near(m.average_precision, 0.7797619047619048);
    must(gn_metrics_binary(s, 12, y, NULL, .4f, &m)); /* as high is not above */
    near(m.accuracy, 0.6666666666666666);
    float many[500];
    int32_t of[500];
    double auc, ap;
    for (int i = 0; i < 500; i++) {
        many[i] = (float)(i * 7919 % 83) / 16;
        of[i] = i * 31 % 5 == 0 ? -1 : (i * i + i / 7) % 3 == 0;
    }
    must(gn_metrics_binary(many, 500, of, NULL, 1, &m));
    plain_curves(many, of, 500, &auc, &ap);
    ck_assert_int_eq(m.n, 400);
    near(m.roc_auc, auc);
    near(m.average_precision, ap);
}
END_TEST

/* OGB's _eval_hits, as it is written: the K-th largest of the negatives, and the share of positives
 * that are larger. */
static double plain_hits(const float *score, const int32_t *y, int n, int k)
{
    int of[2] = {0, 0}, hit = 0;
    for (int i = 0; i < n; i++)
        if (y[i] >= 0) of[y[i]]++;
    if (of[0] < k) return 1;
    for (int i = 0; i < n; i++) {
        int negatives = 0;
        for (int j = 0; j < n; j++) negatives += y[j] == 0 && (double)score[j] >= (double)score[i];
        hit += y[i] == 1 && negatives < k;
    }
    return (double)hit / (double)of[1];
}

START_TEST(hits_as_ogb_has_them)
{
    enum { MANY = 500 };
    float score[MANY];
    int32_t y[MANY];
    gn_metrics m;
    for (int every = 2; every < 40; every++) {
        for (int i = 0; i < MANY; i++) {
            score[i] = (float)(i * 7919 % (every * 61)) / 16 - 20; /* with ties */
            y[i] = i * 31 % 7 == 0 ? -1 : i % every == 1;
            if (every > 20) y[i] = y[i] < 0 ? -1 : !y[i]; /* few negatives */
        }
        must(gn_metrics_binary(score, MANY, y, NULL, 0, &m));
        for (int h = 0; h < GN_HITS; h++)
            near(m.hits[h], plain_hits(score, y, MANY, gn_hits_at[h]));
    }
    /* numpy 2 with OGB's expression: of 30 positives 0, 2, ..., 58 and 40 negatives 0, 1, ..., 39
     * the 20th negative is 20, which 19 are above. */
    for (int i = 0; i < 70; i++) {
        score[i] = (float)(i < 30 ? 2 * i : i - 30);
        y[i] = i < 30;
    }
    must(gn_metrics_binary(score, 70, y, NULL, 0, &m));
    near(m.hits[0], 19.0 / 30);
    near(m.hits[1], 1);
    score[3] = NAN;
    must(gn_metrics_binary(score, 70, y, NULL, 0, &m));
    ck_assert(isnan(m.hits[0]) && isnan(m.hits[2]));
    for (int i = 0; i < 70; i++) {
        score[i] = 3;
        y[i] = i < 20;
    }
    must(gn_metrics_binary(score, 70, y, NULL, 0, &m));
    near(m.hits[0], 0); /* level is not above */
    near(m.hits[1], 0);
    near(m.hits[2], 1);
    must(gn_metrics_binary(score, 20, y, NULL, 0, &m));
    near(m.hits[0], 1);
    must(gn_metrics_binary(score + 20, 50, y + 20, NULL, 0, &m));
    ck_assert(isnan(m.hits[0]));
    must(gn_metrics_compute(score, 10, 2, y, NULL, &m));
    ck_assert(isnan(m.hits[0]));
}
END_TEST

START_TEST(one_score_a_row_where_there_is_nothing)
{
    const float s[] = {NAN, 1, -1, 2};
    static const int32_t y[] = {0, 1, 0, 1}, all[] = {1, 1, 1, 1}, third[] = {0, 1, 2, -1},
                         none[] = {-1, -1, -1, -1};
    static const uint8_t mask[] = {0, 1, 1, 1};
    gn_metrics m;
    must(gn_metrics_binary(s, 4, y, NULL, 0, &m));
    near(m.accuracy, 0.75);
    ck_assert(isnan(m.roc_auc) && isnan(m.average_precision));
    must(gn_metrics_binary(s, 4, y, mask, 0, &m));
    near(m.accuracy, 1);
    near(m.roc_auc, 1);
    must(gn_metrics_binary(s, 4, all, mask, 0, &m));
    ck_assert(m.n == 3 && isnan(m.roc_auc) && isnan(m.average_precision));
    must(gn_metrics_binary(s, 4, none, NULL, 0, &m));
    ck_assert(m.n == 0 && isnan(m.accuracy) && isnan(m.roc_auc));
    MUST_FAIL(gn_metrics_binary(s, 4, third, NULL, 0, &m), GN_ERR_USAGE, "score 2 has class 2");
    MUST_FAIL(gn_metrics_binary(s, -1, y, NULL, 0, &m), GN_ERR_USAGE, "-1 scores");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("metrics");
    TCase *t = tcase_create("metrics");
    tcase_add_test(t, agrees_with_scikit_learn);
    tcase_add_test(t, macro_means_run_over_what_occurs);
    tcase_add_test(t, rows_count_by_mask_and_label);
    tcase_add_test(t, nan_is_never_right_and_ties_go_low);
    tcase_add_test(t, one_score_a_row);
    tcase_add_test(t, hits_as_ogb_has_them);
    tcase_add_test(t, one_score_a_row_where_there_is_nothing);
    suite_add_tcase(s, t);
    return suite_run(s);
}
