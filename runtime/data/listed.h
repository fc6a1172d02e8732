/* Rows of a split, each as often as the split lists it: what out[idx] and y[idx] are of arrays. */
#ifndef GN_RUNTIME_DATA_LISTED_H
#define GN_RUNTIME_DATA_LISTED_H

#include "runtime/data/dataset.h"

typedef struct gn_listed {
    int64_t n;
    const float *logits;
    const int32_t *y;
    const uint8_t *mask; /* NULL: all rows */
    void *owned[2];
} gn_listed;

/* Rows of logits [n_nodes, classes] and the data's labels under `mask`, which is one of the data's.
 * Where each counts once they are not copied.  gn_listed_free; the dataset and the logits must live
 * as long.  GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_listed_rows(const gn_dataset *d, const uint8_t *mask,
                                       const float *logits, int64_t classes, gn_listed *out);
void gn_listed_free(gn_listed *l);

#endif
