/* Shared by the files of the session. */
#ifndef GN_DRIVER_SESSION_IMPL_H
#define GN_DRIVER_SESSION_IMPL_H

#include "driver/session.h"

/* A whole text file into the arena. GN_ERR_IO. */
GN_NODISCARD gn_status *gn_read_model(gn_arena *a, const char *path, const char **text, size_t *n);

#endif
