/* Labels of nodes, as whoever binds them gives them. */
#ifndef GN_RUNTIME_LABELS_H
#define GN_RUNTIME_LABELS_H

#include "base/status.h"

/* GN_ERR_DATA, which names the row: y[v] of [rows] is none of the classes 0 .. classes - 1, and not
 * -1, which is unknown.  It would count in the mean of a loss and be in no sum. */
GN_NODISCARD gn_status *gn_labels_check(const char *name, int64_t rows, const int32_t *y,
                                        int64_t classes);

#endif
