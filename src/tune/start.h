/* Start: from options to a session that runs, with what a search or a lock file chose for it. */
#ifndef GN_TUNE_START_H
#define GN_TUNE_START_H

#include "session/session.h"

/* Opens a session, reads its data and its model, chooses, compiles, binds.  Ended by
 * gn_session_free; after a failure there is none. */
GN_NODISCARD gn_status *gn_session_new(gn_arena *a, const gn_session_options *opt,
                                       gn_session **out);

#endif
