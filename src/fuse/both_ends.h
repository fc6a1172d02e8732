/* Edge values that are summed at both ends of their edges, and are too dear to be computed for
 * each. */
#ifndef GN_FUSE_BOTH_ENDS_H
#define GN_FUSE_BOTH_ENDS_H

#include "ir/gir.h"

enum {
    GN_LONG_DOT = 8
}; /* terms from which on a dot product on edges is rather stored than computed again */

typedef struct gn_both_ends {
    gir_id by_source; /* a sum of it over each source's edges; 0: it is no such value */
    gir_id dot;       /* the long dot product that it comes of by elementwise operators, of as many
                         elements */
} gn_both_ends;

/* [n] by value. */
gn_both_ends *gn_find_both_ends(gn_arena *a, const gir_program *p);

#endif
