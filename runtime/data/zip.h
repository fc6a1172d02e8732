/* Members of a zip file in memory.  Stored and deflated members only; encryption and several disks
 * are refused, names must be unique, and a member may not claim more bytes than its compressed ones
 * can inflate to.  Directory and local headers must agree; sizes and checksums are verified.  Not
 * thread-safe.
 *
 * Read here and not through minizip: its version 1.1 misses zip64 sizes where `unsigned long` has
 * 64 bits, and takes bytes missing at the end for zeros.  Format: APPNOTE.TXT 6.3 of PKWARE. */
#ifndef GN_RUNTIME_DATA_ZIP_H
#define GN_RUNTIME_DATA_ZIP_H

#include "base/status.h"

typedef struct gn_zip gn_zip;

/* `bytes` and `origin` must outlive the zip. */
GN_NODISCARD gn_status *gn_zip_open(const void *bytes, size_t n, const char *origin, gn_zip **out);
void gn_zip_close(gn_zip *z); /* NULL is fine */

const char *gn_zip_origin(const gn_zip *z);
int gn_zip_count(const gn_zip *z);
const char *gn_zip_name(const gn_zip *z, int k); /* lives as long as the zip */
bool gn_zip_has(const gn_zip *z, const char *name);

/* One member at a time: enter, read exactly what is wanted, leave (which wants all of it read, and
 * checks its CRC). After an error, gn_zip_abandon. */
GN_NODISCARD gn_status *gn_zip_enter(gn_zip *z, const char *name, uint64_t *size);
GN_NODISCARD gn_status *gn_zip_read(gn_zip *z, void *to, uint64_t n);
GN_NODISCARD gn_status *gn_zip_leave(gn_zip *z);
void gn_zip_abandon(gn_zip *z);

#endif
