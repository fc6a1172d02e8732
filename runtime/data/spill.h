/* Records put aside on the disk, in heaps that fit memory one at a time: what sorts and counts data
 * larger than memory.  The files have no names, so nothing of them stays behind.  While records are
 * put each heap has a buffer of 256 KB. */
#ifndef GN_RUNTIME_DATA_SPILL_H
#define GN_RUNTIME_DATA_SPILL_H

#include "base/status.h"

#include <stdint.h>

enum { GN_SPILL_MOST = 256 }; /* heaps */

typedef struct gn_heap {
    int fd;
    unsigned char *buffer;   /* there while records are put, and not while they are read */
    int64_t buffered, bytes; /* not yet written, and in all */
} gn_heap;

typedef struct gn_spill {
    const char *beside; /* the file in whose folder they lie, for messages too */
    int n;
    int64_t record; /* bytes */
    gn_heap *heap;  /* [n] */
} gn_spill;

/* A file without a name in the folder of `beside`: its place is given back once it is closed.
 * GN_ERR_IO: none can be made there. */
GN_NODISCARD gn_status *gn_nameless_file(const char *beside, int *fd);

/* GN_ERR_IO: no file can be made there.  gn_spill_free, on failure too. */
GN_NODISCARD gn_status *gn_spill_new(const char *beside, int n, int64_t record, gn_spill *s);
/* GN_ERR_IO: the disk is full. */
GN_NODISCARD gn_status *gn_spill_put(gn_spill *s, int heap, const void *record);
static inline int64_t gn_spill_count(const gn_spill *s, int heap)
{
    return s->heap[heap].bytes / s->record;
}
/* n records of a heap, from number `first` on, in the order in which they were put. */
GN_NODISCARD gn_status *gn_spill_read(gn_spill *s, int heap, int64_t first, int64_t n, void *to);
void gn_spill_drop(gn_spill *s, int heap); /* its place on the disk is given back */
void gn_spill_free(gn_spill *s);

#endif
