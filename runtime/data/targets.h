/* What is to be learnt of rows: classes, or other numbers. */
#ifndef GN_RUNTIME_DATA_TARGETS_H
#define GN_RUNTIME_DATA_TARGETS_H

#include "runtime/data/dataset.h"
#include "runtime/data/rows.h"

/* Labels [rows, cols] of a space, NaN where one is missing: one whole number each is a class, -1
 * where it is missing; others are a column `target`, and `target_known` where some are missing.
 * GN_ERR_DATA: other rows than the space has, more classes than rows; GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_targets_take(const char *origin, const gn_float_rows *a, int space,
                                        gn_dataset *d);
/* They are no classes, whatever they are. */
GN_NODISCARD gn_status *gn_targets_add(const gn_float_rows *a, int space, gn_dataset *d);

#endif
