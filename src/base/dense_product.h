/* A product of matrices in f32, as libraries have it: what a launch makes, where a device may have
 * one make it instead. */
#ifndef GN_BASE_DENSE_PRODUCT_H
#define GN_BASE_DENSE_PRODUCT_H

#include <stdbool.h>
#include <stdint.h>

/* Buffer `out` has at i * cols + j the sum over s < depth of a(i, s) b(s, j), plus bias[j], and
 * with `relu` at least 0, for every i below the launch's trip. */
typedef struct gn_product {
    int out, a, b, bias; /* numbers of the launch's buffers; bias -1: none */
    bool relu;
    int64_t cols, depth;
    int64_t a_row, a_term, b_term, b_col; /* a(i, s) lies at i * a_row + s * a_term */
} gn_product;

#endif
