/* Splits of the rows that have labels which keep the shares of the classes: ten folds, and a tenth
 * of what is trained on for validation. */
#include "base/philox.h"
#include "runtime/data/mem.h"
#include "runtime/data/readers.h"
#include "runtime/data/splits.h"

enum { FOLDS = 10, HOLD_SITE = 0x401d };

gn_status *gn_dataset_draw_folds(gn_dataset *d, gn_reading *r)
{
    int64_t rows = gn_dataset_labelled(d), known = 0;
    int32_t *fold, test = r->opt->split;
    for (int64_t i = 0; i < rows; i++) known += d->y[i] >= 0;
    if (known < FOLDS) return gn_dataset_draw_split(d, r->opt->seed);
    r->splits = FOLDS;
    GN_TRY(gn_reading_check_split(r));
    GN_MEM(fold, rows);
    gn_status *s = gn_folds(d->y, rows, d->n_classes, FOLDS, r->opt->seed, fold);
    for (int64_t i = 0; !s && i < rows; i++) {
        uint8_t *mask = fold[i] == test                 ? d->test_mask
                        : fold[i] == (test + 1) % FOLDS ? d->val_mask
                                                        : d->train_mask;
        if (fold[i] >= 0) mask[i] = 1;
    }
    free(fold);
    d->split_drawn = true;
    return s;
}

/* Rows to train on, class by class: start [n_classes + 2], of which class c ends at start[c + 1]
 * when they are filled in. */
static void sort_rows(const gn_dataset *d, int64_t *start, int64_t *row)
{
    int64_t rows = gn_dataset_labelled(d);
    for (int64_t i = 0; i < rows; i++)
        if (d->y[i] >= 0 && d->train_mask[i]) start[d->y[i] + 2]++;
    for (int64_t c = 0; c < d->n_classes; c++) start[c + 2] += start[c + 1];
    for (int64_t i = 0; i < rows; i++)
        if (d->y[i] >= 0 && d->train_mask[i]) row[start[d->y[i] + 1]++] = i;
}

gn_status *gn_dataset_hold_out(gn_dataset *d, uint64_t seed, int64_t *held)
{
    uint64_t drawn = 0;
    int64_t *start = gn_mem_alloc(d->n_classes + 2, sizeof *start),
            *row = gn_mem_alloc(gn_dataset_labelled(d), sizeof *row);
    *held = 0;
    if (start && row) sort_rows(d, start, row);
    for (int64_t c = 0; start && row && c < d->n_classes; c++) {
        int64_t from = start[c], n = start[c + 1] - from, take = (n + FOLDS / 2) / FOLDS;
        if (n > 1 && take == 0) take = 1;
        gn_shuffle(row + from, n, gn_rng_key(seed, 0), HOLD_SITE, &drawn);
        for (int64_t i = from; i < from + take; i++) {
            d->train_mask[row[i]] = 0;
            d->val_mask[row[i]] = 1;
        }
        *held += take;
    }
    bool done = start && row;
    free(start);
    free(row);
    return done ? NULL : GN_ERROR(GN_ERR_NOMEM, "out of memory: a split");
}
