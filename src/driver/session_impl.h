/* Shared by the files of the session. */
#ifndef GN_DRIVER_SESSION_IMPL_H
#define GN_DRIVER_SESSION_IMPL_H

#include "driver/session.h"

/* How many levels of rows (passes/restrict_rows.c) leave out enough to pay, for a loss over `mask` (NULL: none). */
GN_NODISCARD gn_status *gn_count_levels(const gn_graph *g, const uint8_t *mask, int *out);

/* States to the session's device, after the host's were changed, and from it, before they are read.  Nothing here. */
GN_NODISCARD gn_status *gn_session_push(const gn_session *s);
GN_NODISCARD gn_status *gn_session_pull(const gn_session *s);

#endif
