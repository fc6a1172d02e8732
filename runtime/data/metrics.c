/* Classification metrics as scikit-learn defines them (sklearn.metrics:
 * precision_recall_fscore_support with zero_division=0, roc_auc_score, average_precision_score). */
#include "runtime/data/metrics.h"

#include "runtime/data/mem.h"

#include <math.h>
#include <stdbool.h>

const int gn_hits_at[GN_HITS] = {20, 50, 100};

int64_t gn_predicted(const float *row, int64_t classes)
{
    int64_t best = 0;
    for (int64_t c = 0; c < classes; c++) {
        if (isnan(row[c])) return -1;
        if (row[c] > row[best]) best = c;
    }
    return best;
}

static bool counts(const int32_t *y, const uint8_t *mask, int64_t i)
{
    return y[i] >= 0 && (!mask || mask[i]);
}

double gn_accuracy(const float *logits, int64_t n, int64_t classes, const int32_t *y,
                   const uint8_t *mask)
{
    int64_t right = 0, all = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!counts(y, mask, i)) continue;
        all++;
        right += gn_predicted(logits + i * classes, classes) == y[i];
    }
    return all ? (double)right / (double)all : (double)NAN;
}

typedef struct tally {
    int64_t hit, said, is; /* said c and is c; said c; is c */
} tally;

/* A row of class `is` for which class p was said; -1: none was. */
static void count_row(tally *t, int32_t is, int64_t p)
{
    t[is].is++;
    if (p >= 0) t[p].said++;
    if (p == is) t[p].hit++;
}

gn_metrics gn_metrics_none(void)
{
    double nan = (double)NAN;
    return (gn_metrics){0, nan, nan, nan, nan, nan, nan, nan, nan, nan, {nan, nan, nan}, nan};
}

static double ratio(int64_t a, int64_t b) { return b ? (double)a / (double)b : 0; }

/* Macro means run over the classes that occur as a label or as a prediction. */
static void fill_rates(const tally *t, int64_t classes, gn_metrics *m)
{
    int64_t hit = 0, said = 0, present = 0;
    for (int64_t c = 0; c < classes; c++) {
        hit += t[c].hit;
        said += t[c].said;
        if (!t[c].said && !t[c].is) continue;
        present++;
        m->precision_macro += ratio(t[c].hit, t[c].said);
        m->recall_macro += ratio(t[c].hit, t[c].is);
        m->f1_macro += ratio(2 * t[c].hit, t[c].said + t[c].is);
    }
    m->precision_micro = ratio(hit, said);
    m->recall_micro = ratio(hit, m->n);
    m->f1_micro = ratio(2 * hit, said + m->n);
    m->precision_macro /= (double)present;
    m->recall_macro /= (double)present;
    m->f1_macro /= (double)present;
    m->accuracy = ratio(hit, m->n);
}

typedef struct scored {
    double score;
    bool positive;
} scored;

static int by_score_down(const void *a, const void *b)
{
    double x = ((const scored *)a)->score, y = ((const scored *)b)->score;
    return (x < y) - (x > y);
}

/* Area under the ROC curve by trapezoids and average precision by steps, over the distinct scores.
 * NaN without both positives and negatives.  Leaves rows from the highest score down. */
static void curves(scored *s, int64_t n, double *auc, double *ap)
{
    int64_t positives = 0, tp = 0, fp = 0;
    for (int64_t i = 0; i < n; i++) positives += s[i].positive;
    *auc = *ap = (double)NAN;
    qsort(s, (size_t)n, sizeof *s, by_score_down);
    if (positives == 0 || positives == n) return;
    double area = 0, precision = 0;
    for (int64_t i = 0; i < n;) {
        int64_t tp0 = tp, fp0 = fp;
        double score = s[i].score;
        for (; i < n && s[i].score == score; i++) {
            tp += s[i].positive;
            fp += !s[i].positive;
        }
        area += (double)(fp - fp0) * (double)(tp + tp0) / 2;
        precision += (double)(tp - tp0) * ((double)tp / (double)(tp + fp));
    }
    *auc = area / ((double)positives * (double)(n - positives));
    *ap = precision / (double)positives;
}

/* The share of positives above the k-th highest negative; rows stand from the highest score down.
 */
static double hits(const scored *s, int64_t n, int64_t k)
{
    int64_t negatives = 0, positives = 0, above = 0, last = 0;
    for (; last < n && negatives < k; last++) negatives += !s[last].positive;
    for (int64_t i = 0; i < n; i++) {
        bool is = s[i].positive;
        positives += is;
        above += is && (negatives < k || s[i].score > s[last - 1].score);
    }
    return positives ? (double)above / (double)positives : (double)NAN;
}

/* The score of class c: with two classes the difference of the logits, which orders rows as the
 * probability does; with more the probability itself. */
static double score_of(const float *row, int64_t classes, int64_t c)
{
    if (classes == 2) return (double)row[c] - (double)row[1 - c];
    double most = (double)row[0], sum = 0;
    for (int64_t k = 1; k < classes; k++)
        if ((double)row[k] > most) most = (double)row[k];
    for (int64_t k = 0; k < classes; k++) sum += exp((double)row[k] - most);
    return exp((double)row[c] - most) / sum;
}

static gn_status *fill_curves(const float *logits, int64_t n, int64_t classes, const int32_t *y,
                              const uint8_t *mask, gn_metrics *m)
{
    scored *s;
    GN_MEM(s, m->n);
    double auc = 0, ap = 0;
    int64_t first = classes == 2 ? 1 : 0;
    bool defined = true;
    for (int64_t c = first; c < classes && defined; c++) {
        int64_t k = 0;
        double auc_c, ap_c;
        for (int64_t i = 0; i < n; i++) {
            if (!counts(y, mask, i)) continue;
            s[k++] = (scored){score_of(logits + i * classes, classes, c), y[i] == c};
            if (isnan(s[k - 1].score)) defined = false;
        }
        if (!defined) break; /* sorting needs an order */
        curves(s, k, &auc_c, &ap_c);
        auc += auc_c;
        ap += ap_c;
        if (isnan(auc_c)) defined = false;
    }
    free(s);
    m->roc_auc = defined ? auc / (double)(classes - first) : (double)NAN;
    m->average_precision = defined ? ap / (double)(classes - first) : (double)NAN;
    return NULL;
}

gn_status *gn_metrics_compute(const float *logits, int64_t n, int64_t classes, const int32_t *y,
                              const uint8_t *mask, gn_metrics *out)
{
    tally *t;
    *out = (gn_metrics){0};
    if (n < 0 || classes < 1)
        GN_FAIL(GN_ERR_USAGE, "metrics of %lld rows and %lld classes", (long long)n,
                (long long)classes);
    GN_MEM(t, classes);
    for (int64_t i = 0; i < n; i++) {
        if (!counts(y, mask, i)) continue;
        if (y[i] >= classes) {
            free(t);
            GN_FAIL(GN_ERR_USAGE, "row %lld has class %d, but there are %lld logits", (long long)i,
                    y[i], (long long)classes);
        }
        int64_t p = gn_predicted(logits + i * classes, classes);
        out->n++;
        count_row(t, y[i], p);
    }
    if (out->n == 0) {
        *out = gn_metrics_none();
        free(t);
        return NULL;
    }
    fill_rates(t, classes, out);
    for (int h = 0; h < GN_HITS; h++) out->hits[h] = (double)NAN;
    out->mrr = (double)NAN;
    free(t);
    return fill_curves(logits, n, classes, y, mask, out);
}

gn_status *gn_metrics_binary(const float *score, int64_t n, const int32_t *y, const uint8_t *mask,
                             float threshold, gn_metrics *out)
{
    tally t[2] = {0};
    scored *s;
    bool ordered = true;
    *out = (gn_metrics){0};
    if (n < 0) GN_FAIL(GN_ERR_USAGE, "metrics of %lld scores", (long long)n);
    for (int64_t i = 0; i < n; i++) {
        if (!counts(y, mask, i)) continue;
        if (y[i] > 1)
            GN_FAIL(GN_ERR_USAGE, "score %lld has class %d: expected 0 or 1", (long long)i, y[i]);
        bool nan = isnan(score[i]);
        out->n++;
        count_row(t, y[i], nan ? -1 : score[i] > threshold);
        if (nan) ordered = false;
    }
    if (out->n == 0) {
        *out = gn_metrics_none();
        return NULL;
    }
    fill_rates(t, 2, out);
    out->roc_auc = out->average_precision = (double)NAN;
    for (int h = 0; h < GN_HITS; h++) out->hits[h] = (double)NAN;
    out->mrr = (double)NAN;
    if (!ordered) return NULL;
    GN_MEM(s, out->n);
    int64_t k = 0;
    for (int64_t i = 0; i < n; i++)
        if (counts(y, mask, i)) s[k++] = (scored){(double)score[i], y[i] == 1};
    curves(s, k, &out->roc_auc, &out->average_precision);
    for (int h = 0; h < GN_HITS; h++) out->hits[h] = hits(s, k, gn_hits_at[h]);
    free(s);
    return NULL;
}
