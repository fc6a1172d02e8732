/* Register tiles: what the matrix products share (lower_dense.c, lower_gemm.c, lower_inner.c). */
#ifndef GN_LOWER_LOWER_DENSE_H
#define GN_LOWER_LOWER_DENSE_H

#include "lower/lower_impl.h"

typedef struct matrix { /* element (i, j) at i * si + j * sj of a buffer, or of a tile from `at` on
                         */
    int buffer;
    int64_t si, sj;
    kir_id tile, at; /* 0: of the buffer */
} matrix;

typedef struct factors { /* of a product of rows with a matrix */
    gir_id value;
    matrix a, b;
    int64_t depth;
    kir_id packed; /* tile: all of B, panel after panel; 0: not packed before */
    kir_id rows;   /* tile: of pairs, the block's rows of A, rounded */
} factors;

/* A register tile of `rows` x `cols` starting at (i0, j0), to which products over s in [lo, hi) are
 * added. */
typedef struct tile_job {
    matrix a, b; /* a(i, s), b(s, j) */
    kir_id i0, j0;
    int64_t rows, cols;
    int64_t stride; /* of the tile's rows: whole vectors */
    kir_id lo, hi;
    gn_elem elem;
    bool padded; /* b has elements for all lanes of the last vector */
    kir_id tile;
} tile_job;

kir_id dense_element(lower *L, matrix m, kir_id i, kir_id j);
gir_id dense_operand(const gir_program *p, gir_id v); /* what lies in memory as v does */
void dense_zero(lower *L, tile_job *t);               /* declares the tile, all zero */
/* or with what lies at at + i * n + j */
void dense_load(lower *L, tile_job *t, int buffer, kir_id at, int64_t n);
/* and back there */
void dense_store(lower *L, const tile_job *t, int buffer, kir_id at, int64_t n);
void dense_multiply(lower *L, const tile_job *t);

/* Calls `body` with the start and the width of each tile of `n`: a loop over the full ones, then
 * what is left. */
void dense_tiles(lower *L, int64_t n, int64_t tile, void (*body)(lower *, kir_id, int64_t, void *),
                 void *ctx);

/* lower_terms.c: where the schedule has several terms of a sum side by side.  Of a job with a
 * packed B: columns [j0, j0 + cols) of b to where it is packed; its product, added to the tile; the
 * tile's sums, `cols` a row as elsewhere. */
void low_pack_terms(lower *L, matrix b, int64_t depth, const tile_job *to, int64_t terms);
void low_multiply_terms(lower *L, const tile_job *t, int64_t depth);
kir_id low_sum_terms(lower *L, const tile_job *t);

/* lower_pairs.c: where the schedule has pairs, of operands that are rounded.  Rows [begin, end) of
 * `a` to a tile, `rows` of them at most; and the product of those rows with a packed B, added to
 * the tile. */
int64_t low_pair_length(int64_t depth); /* of such a row */
kir_id low_round_rows(lower *L, matrix a, int64_t depth, kir_id begin, kir_id end, int64_t rows);
void low_multiply_pairs(lower *L, const tile_job *t, int64_t depth, kir_id begin);
/* Rows [lo, hi) of `x`, `rows` of them at most, two side by side; and the contraction over them,
 * added to the tile: `a` and `b` are such tiles, si apart from pair to pair. */
kir_id low_round_pairs(lower *L, matrix x, int64_t cols, kir_id lo, kir_id hi, int64_t rows);
void low_contract_pairs(lower *L, const tile_job *t);

/* lower_block.c: tiles that lanes share, where the schedule gives them a depth. */
/* `product`: what the tile holds in the end, the product, or the sum of all. */
void low_gemm_block(lower *L, gir_id product, int products, const factors *f, int64_t n);
/* lower_product.c: is what low_gemm_block made, with the same arguments, what libraries have? */
void low_note_product(lower *L, gir_id product, int products, const factors *f, int64_t n);
/* partial products alone */
void low_inner_block(lower *L, matrix a, matrix b, int64_t m, int64_t n, int part);

#endif
