/* score: what the last forward pass of a session is worth, by the labels of its data. */
#include "session/session_impl.h"

#include "runtime/data/listed.h"

#include <math.h>

double gn_session_accuracy(const gn_session *s, const uint8_t *mask)
{
    int64_t classes;
    const float *out = gn_session_logits(s, &classes);
    if (!out || !s->data->y || !mask) return NAN;
    gn_listed l;
    gn_status *status = gn_listed_rows(s->data, mask, out, classes, &l);
    if (status) {
        gn_status_free(status);
        return NAN;
    }
    double accuracy = gn_accuracy(l.logits, l.n, classes, l.y, l.mask);
    gn_listed_free(&l);
    return accuracy;
}

bool gn_session_unbalanced(const gn_session *s) { return s->unbalanced; }

bool gn_two_unbalanced(const gn_dataset *d)
{
    int64_t of[2] = {0, 0};
    if (!d->y) return false;
    for (int64_t v = 0; v < gn_dataset_labelled(d); v++)
        if (d->y[v] == 0 || d->y[v] == 1) of[d->y[v]]++;
    int64_t less = of[0] < of[1] ? of[0] : of[1];
    return less > 0 && 3 * less < of[0] + of[1];
}

double gn_session_roc_auc(const gn_session *s, const uint8_t *mask)
{
    int64_t classes;
    const float *out = gn_session_logits(s, &classes);
    gn_listed l;
    gn_metrics m = {.roc_auc = (double)NAN};
    if (!out || !mask || !gn_session_unbalanced(s)) return (double)NAN;
    gn_status *status = gn_listed_rows(s->data, mask, out, classes, &l);
    if (!status) {
        status = gn_metrics_compute(l.logits, l.n, classes, l.y, l.mask, &m);
        gn_listed_free(&l);
    }
    if (status) m.roc_auc = (double)NAN;
    gn_status_free(status);
    return m.roc_auc;
}
