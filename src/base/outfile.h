/* Files that are there as a whole or not at all: the one way in which gnnc writes what a user
 * named. */
#ifndef GN_BASE_OUTFILE_H
#define GN_BASE_OUTFILE_H

#include "base/status.h"

#include <stdio.h>

/* A file being written.  A regular file, or one that is not there yet, is written beside itself
 * under a name that nobody else has, and published by rename after fsync, so that a failure leaves
 * what was there.  A link is followed, to what it points at.  A device, a pipe, and the file that
 * is this process's standard output are written in place.
 *
 *     gn_out o;
 *     GN_TRY(gn_out_open(&o, path));
 *     fwrite(..., o.f);                    // errors may wait: stdio remembers them
 *     return gn_out_close(&o, status);     // publishes when status is NULL and nothing failed;
 *                                          else removes */
typedef struct gn_out {
    FILE *f;
    char *target, *temp; /* temp is NULL when written in place */
} gn_out;

GN_NODISCARD gn_status *gn_out_open(gn_out *o, const char *path);
GN_NODISCARD gn_status *gn_out_close(gn_out *o, gn_status *so_far);

/* Would gn_out_open succeed?  For what is written after long work: nothing is left behind, nothing
 * is touched. */
GN_NODISCARD gn_status *gn_out_check(const char *path);

#endif
