/* Shared by the files of the session. */
#ifndef GN_DRIVER_SESSION_IMPL_H
#define GN_DRIVER_SESSION_IMPL_H

#include "driver/session.h"

/* step.c: as gn_build_levels. */
GN_NODISCARD gn_status *gn_step_levels(gn_arena *a, const gn_model *m, const gn_pass_options *opt, int *levels,
                                       const char **mask);

/* States to the session's device, after the host's were changed, and from it, before they are read.  Nothing here. */
GN_NODISCARD gn_status *gn_session_push(const gn_session *s);
GN_NODISCARD gn_status *gn_session_pull(const gn_session *s);
/* What the session compiles with. */
GN_NODISCARD gn_status *gn_session_build_options(gn_session *s, gn_build_options *out);
/* Binds a unit of a build of the session's model to its data. */
GN_NODISCARD gn_status *gn_session_bind(gn_session *s, gn_unit *u, gn_pool *pool, const gn_instance *like);

#endif
