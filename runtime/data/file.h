/* Whole files in, atomic files out. */
#ifndef GN_RUNTIME_DATA_FILE_H
#define GN_RUNTIME_DATA_FILE_H

#include "base/status.h"

#include <stdio.h>

typedef struct gn_bytes {
    unsigned char *p; /* malloc'ed; one zero byte follows the n */
    size_t n;
} gn_bytes;

void gn_bytes_free(gn_bytes *b);

/* GN_ERR_IO with errno's words, GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_file_read(const char *path, gn_bytes *out);

/* gzip (one or several members) to bytes.  Inflating to more than 100 times the compressed size plus 64 MiB is refused:
 * text does not compress so well.  GN_ERR_DATA, GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_gunzip(const void *bytes, size_t n, const char *origin, gn_bytes *out);

/* A file being written.  Regular targets are written beside themselves and published by rename after fsync, so that a
 * failure leaves what was there; a link is followed; a device or pipe is written in place.
 *
 *     gn_out o;
 *     GN_TRY(gn_out_open(&o, path));
 *     fwrite(..., o.f);                    // errors may wait: stdio remembers them
 *     return gn_out_close(&o, status);     // publishes when status is NULL and nothing failed; else removes */
typedef struct gn_out {
    FILE *f;
    char *target, *temp; /* temp is NULL when written in place */
} gn_out;

GN_NODISCARD gn_status *gn_out_open(gn_out *o, const char *path);
GN_NODISCARD gn_status *gn_out_close(gn_out *o, gn_status *so_far);

#endif
