/* The layers of stdlib/, embedded: the build makes one array a file and this table
 * (cmake/GnncRooms.cmake). */
#ifndef GN_FRONTEND_STDLIB_H
#define GN_FRONTEND_STDLIB_H

#include <stddef.h>

typedef struct gn_embedded {
    const char *name;          /* file name without its folder: "conv.gnn" */
    const unsigned char *data; /* ends with a zero that `size` does not count */
    size_t size;
} gn_embedded;

extern const gn_embedded gn_stdlib_files[]; /* sorted by name */
extern const size_t gn_stdlib_count;

#endif
