#include "runtime/data/listed.h"

#include "runtime/data/mem.h"

#include <string.h>

/* How often each node counts; NULL: once where the mask says so. */
static const float *times_of(const gn_dataset *d, const uint8_t *mask)
{
    if (!mask) return NULL;
    return mask == d->train_mask  ? d->train_times
           : mask == d->val_mask  ? d->val_times
           : mask == d->test_mask ? d->test_times
                                  : NULL;
}

gn_status *gn_listed_rows(const gn_dataset *d, const uint8_t *mask, const float *logits,
                          int64_t classes, gn_listed *out)
{
    const float *times = times_of(d, mask);
    *out = (gn_listed){.n = gn_dataset_labelled(d), .logits = logits, .y = d->y, .mask = mask};
    if (!times) return NULL;
    int64_t n = 0, elems, k = 0;
    for (int64_t v = 0; v < gn_dataset_labelled(d); v++) n += (int64_t)times[v];
    if (__builtin_mul_overflow(n, classes, &elems)) elems = -1;
    float *rows = gn_mem_alloc(elems, sizeof *rows);
    int32_t *y = gn_mem_alloc(n, sizeof *y);
    out->owned[0] = rows;
    out->owned[1] = y;
    if (!rows || !y) {
        gn_listed_free(out);
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld listed rows", (long long)n);
    }
    for (int64_t v = 0; v < gn_dataset_labelled(d); v++) {
        for (float again = times[v]; again > 0; again -= 1, k++) {
            memcpy(rows + k * classes, logits + v * classes, (size_t)classes * sizeof *rows);
            y[k] = d->y[v];
        }
    }
    out->n = n;
    out->logits = rows;
    out->y = y;
    out->mask = NULL;
    return NULL;
}

void gn_listed_free(gn_listed *l)
{
    free(l->owned[0]);
    free(l->owned[1]);
    *l = (gn_listed){0};
}
