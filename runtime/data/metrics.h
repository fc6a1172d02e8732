/* Classification metrics over a mask, of nodes, edges or any other rows that have labels.
 * Definitions follow scikit-learn's (zero_division = 0). */
#ifndef GN_RUNTIME_DATA_METRICS_H
#define GN_RUNTIME_DATA_METRICS_H

#include "base/status.h"

#include <stdint.h>

/* At how many negatives hits are counted: 20, 50, 100, as ogbl-ddi, ogbl-collab and ogbl-ppa do. */
enum { GN_HITS = 3 };
extern const int gn_hits_at[GN_HITS];

typedef struct gn_metrics {
    int64_t n; /* rows that counted; with none, everything is NaN */
    double accuracy;
    double precision_micro, recall_micro, f1_micro;
    /* over the classes that occur as a label or a prediction */
    double precision_macro, recall_macro, f1_macro;
    double roc_auc; /* two classes: of class 1's score; more: one-vs-rest macro mean; NaN where
                       undefined */
    double average_precision; /* likewise */
    /* OGB's Hits@K, of one score a row: the share of positives that are above the K-th highest
     * negative, not level with it; fewer than K negatives give 1.  NaN without positives, and of
     * logits. */
    double hits[GN_HITS];
    double mrr; /* of true answers among false ones of the same question; NaN here: who knows the
                   questions fills it in */
} gn_metrics;

gn_metrics gn_metrics_none(void); /* of no rows */

/* The class of a row of logits: the first of the largest; -1, which is no class, where one is
 * NaN. What is predicted is this everywhere: in files, accuracies and metrics. */
int64_t gn_predicted(const float *row, int64_t classes);

/* logits [n, classes] row-major, y [n] (rows with y < 0 never count), mask [n] or NULL for all.
 * Ties of the largest logit go to the lowest class; NaN logits are never right. NaN when no row
 * counts. */
double gn_accuracy(const float *logits, int64_t n, int64_t classes, const int32_t *y,
                   const uint8_t *mask);
/* GN_ERR_USAGE for a label that has no logit, GN_ERR_NOMEM.  O(classes n (classes + log n)). */
GN_NODISCARD gn_status *gn_metrics_compute(const float *logits, int64_t n, int64_t classes,
                                           const int32_t *y, const uint8_t *mask, gn_metrics *out);

/* The same of one score [n] a row, whose class is 1 where it is above `threshold`: whether an edge
 * is true, say.  y is 0 or 1 (below 0: does not count).  A NaN is of no class, and leaves the areas
 * under the curves and hits NaN, which read no threshold.  GN_ERR_USAGE for another label,
 * GN_ERR_NOMEM. O(n log n). */
GN_NODISCARD gn_status *gn_metrics_binary(const float *score, int64_t n, const int32_t *y,
                                          const uint8_t *mask, float threshold, gn_metrics *out);

#endif
