/* Shared by the files of the session. */
#ifndef GN_DRIVER_SESSION_IMPL_H
#define GN_DRIVER_SESSION_IMPL_H

#include "driver/session.h"

/* How many levels of rows (passes/restrict_rows.c) leave out enough to pay, for a loss over `mask` (NULL: none). */
GN_NODISCARD gn_status *gn_count_levels(const gn_graph *g, const uint8_t *mask, int *out);

#endif
