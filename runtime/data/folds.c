/* Splits that keep the shares of the classes: ten folds, and a tenth of what is trained on for
 * validation. */
#include "base/philox.h"
#include "runtime/data/mem.h"
#include "runtime/data/readers.h"

enum { FOLDS = 10, FOLD_SITE = 0xf01d };

/* Rows with a label, and in `of` where there is one: class by class, each class in an order drawn
 * by seed. */
typedef struct rows {
    int64_t n;
    int64_t *row;
    int64_t *start; /* [n_classes + 1] */
} rows;

static void free_rows(rows *r)
{
    free(r->row);
    free(r->start);
}

static void shuffle(int64_t *row, int64_t n, uint32_t key, uint64_t *drawn)
{
    for (int64_t i = 0; i < n; i++) {
        uint64_t low = gn_random_u32(key, FOLD_SITE, *drawn),
                 high = gn_random_u32(key, FOLD_SITE, *drawn + 1);
        *drawn += 2;
        int64_t j = i + (int64_t)((low | high << 32) % (uint64_t)(n - i)), t = row[i];
        row[i] = row[j];
        row[j] = t;
    }
}

static gn_status *shuffled_rows(const gn_dataset *d, const uint8_t *of, uint64_t seed, rows *r)
{
    int64_t all = gn_dataset_labelled(d);
    uint32_t key = gn_rng_key(seed, 0);
    uint64_t drawn = 0;
    GN_MEM(r->start, d->n_classes + 2);
    GN_MEM(r->row, all);
    for (int64_t i = 0; i < all; i++)
        if (d->y[i] >= 0 && (!of || of[i])) r->start[d->y[i] + 2]++;
    for (int64_t c = 0; c < d->n_classes; c++) r->start[c + 2] += r->start[c + 1];
    for (int64_t i = 0; i < all; i++)
        if (d->y[i] >= 0 && (!of || of[i])) r->row[r->start[d->y[i] + 1]++] = i;
    r->n = r->start[d->n_classes];
    for (int64_t c = 0; c < d->n_classes; c++)
        shuffle(r->row + r->start[c], r->start[c + 1] - r->start[c], key, &drawn);
    return NULL;
}

gn_status *gn_dataset_draw_folds(gn_dataset *d, gn_reading *r)
{
    rows all = {0};
    int test = r->opt->split;
    r->splits = FOLDS;
    GN_TRY(gn_reading_check_split(r));
    gn_status *s = shuffled_rows(d, NULL, r->opt->seed, &all);
    for (int64_t i = 0; !s && i < all.n; i++) {
        int fold = (int)(i % FOLDS);
        uint8_t *mask = fold == test                 ? d->test_mask
                        : fold == (test + 1) % FOLDS ? d->val_mask
                                                     : d->train_mask;
        mask[all.row[i]] = 1;
    }
    free_rows(&all);
    d->split_drawn = true;
    return s;
}

gn_status *gn_dataset_hold_out(gn_dataset *d, uint64_t seed, int64_t *held)
{
    rows train = {0};
    *held = 0;
    gn_status *s = shuffled_rows(d, d->train_mask, seed, &train);
    for (int64_t c = 0; !s && c < d->n_classes; c++) {
        int64_t from = train.start[c], n = train.start[c + 1] - from,
                take = n > 1 && n < FOLDS ? 1 : (n + FOLDS / 2) / FOLDS;
        if (n < 2) take = 0;
        for (int64_t i = from; i < from + take; i++) {
            d->train_mask[train.row[i]] = 0;
            d->val_mask[train.row[i]] = 1;
        }
        *held += take;
    }
    free_rows(&train);
    return s;
}
