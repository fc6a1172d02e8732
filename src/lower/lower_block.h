/* What products of blocks share: lower_block.c, and lower_fragments.c for warps that multiply
 * fragments. */
#ifndef GN_LOWER_LOWER_BLOCK_H
#define GN_LOWER_LOWER_BLOCK_H

#include "lower/lower_dense.h"

typedef struct panel { /* element (w, s), s a term, at from + w * outer + s * term of a tile */
    kir_id tile;
    int64_t from, outer, term;
} panel;

typedef struct block_job {
    matrix a, b;       /* a(i, s), b(s, j) */
    kir_id i0, j0;     /* where the block's elements begin */
    kir_id rows, cols; /* of the product */
    kir_id lo, hi;     /* terms */
    bool whole_depth, whole_cols;
    kir_id acc;           /* tile: `each` elements of every lane */
    panel a_part, b_part; /* of the operands, as they have been brought */
    kir_id shared;        /* tile: of the finished elements */
    int64_t lanes, each;
    gn_elem elem;
    gir_id product;
} block_job;

/* Does a matrix lie term by term in memory? */
bool low_is_along_depth(const matrix *m, bool is_left);
int64_t low_shared_stride(const lower *L); /* between rows of the finished elements */

/* Warps make products of fragments (low_schedule.fragments). */
void low_fragment_parts(lower *L, block_job *j); /* a tile, and where in it j->a and j->b are
                                                    brought */
void low_fragment_multiply(lower *L, const block_job *j);
void low_fragment_leave(lower *L, block_job *j); /* what warps have, in a tile of finished elements
                                                  */

#endif
