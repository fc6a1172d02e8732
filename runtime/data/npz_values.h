/* What arrays of an .npz say of rows. */
#ifndef GN_RUNTIME_DATA_NPZ_VALUES_H
#define GN_RUNTIME_DATA_NPZ_VALUES_H

#include "runtime/data/dataset.h"
#include "runtime/data/npz.h"

/* d->y and how many classes there are, for the rows that have labels: [rows] or [rows, 1]. */
GN_NODISCARD gn_status *gn_npz_labels(const gn_npz *z, const char *key, const gn_ndarray *a,
                                      gn_dataset *d);

/* Finite numbers [rows] or [rows, cols]. */
GN_NODISCARD gn_status *gn_npz_floats(const gn_npz *z, const char *key, const gn_ndarray *a,
                                      int64_t rows, float **out, int64_t *cols);

/* The graph of each node: the table `graph` and the relation `member`.  As many graphs as
 * num_graphs says, or the largest number. */
GN_NODISCARD gn_status *gn_npz_graphs(gn_npz *z, const char *key, const gn_ndarray *a,
                                      gn_dataset *d);
/* Numbers of graphs as others write them: whole, from 0 on, none left out, rising. */
bool gn_npz_is_batch(const gn_ndarray *a, int64_t nodes);

#endif
