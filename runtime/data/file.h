/* Whole files in. */
#ifndef GN_RUNTIME_DATA_FILE_H
#define GN_RUNTIME_DATA_FILE_H

#include "base/status.h"

#include <stddef.h>

typedef struct gn_bytes {
    unsigned char *p; /* malloc'ed; one zero byte follows the n */
    size_t n;
} gn_bytes;

void gn_bytes_free(gn_bytes *b);

/* GN_ERR_IO with errno's words, GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_file_read(const char *path, gn_bytes *out);

/* gzip (one or several members) to bytes.  Inflating to more than 100 times the compressed size
 * plus 64 MiB is refused: text does not compress so well.  GN_ERR_DATA, GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_gunzip(const void *bytes, size_t n, const char *origin, gn_bytes *out);

#endif
