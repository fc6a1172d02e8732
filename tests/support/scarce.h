/* Scarce: an arena with so little room that what is asked of it fails somewhere, to be tried with
 * more and more of it. */
#ifndef GN_TESTS_SUPPORT_SCARCE_H
#define GN_TESTS_SUPPORT_SCARCE_H

#include "base/arena.h"

/* With `left` bytes, a multiple of 16, and no more to be had. */
static inline void scarce_arena(gn_arena *a, size_t left)
{
    gn_arena_init(a);
    (void)gn_arena_alloc(a, left, 1);
    a->at = a->end - left;
    a->limit = a->total;
}

#endif
