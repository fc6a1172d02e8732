/* What a value on edges may be multiplied by without changing any output.  Private to node_exp. */
#ifndef GN_PASSES_SCALE_FREE_H
#define GN_PASSES_SCALE_FREE_H

#include "ir/gir.h"

/* May w, over edges of g, be multiplied by a positive number of its own for each destination and
 * element of a row, all edges of that destination alike, so that every output stays the same up to
 * rounding?  *eps (in the arena, by value) are sums of w over the edges of a row to which a
 * constant is added that vanishes beside 1: they must stay such sums. */
bool gn_is_scale_free(gn_arena *a, const gir_program *p, gir_id w, gir_id g, bool **eps);

#endif
