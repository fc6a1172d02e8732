/* Product: a product of matrices as a call of cuBLASLt, where a launch would be a kernel.
 *
 * The library's heuristic names an algorithm when a product is made; every run is that one, which
 * gives the same bits each time: sums that are split are added from the workspace in order, never
 * by atomics (the mask of reduction schemes says so).  The workspace is one of
 * GN_CUDA_WORKSPACE_BYTES for all products of a device, which run on its one stream. */
#ifndef GN_RUNTIME_CUDA_PRODUCT_H
#define GN_RUNTIME_CUDA_PRODUCT_H

#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/device.h"

enum { GN_CUDA_WORKSPACE_BYTES = 32 << 20 }; /* what NVIDIA names for sm_90 */

typedef struct gn_cuda_blas gn_cuda_blas; /* the library on one device */

/* Both are borrowed. */
GN_NODISCARD gn_status *gn_cuda_blas_open(const gn_cublaslt *l, gn_cuda_device *d,
                                          gn_cuda_blas **out);
void gn_cuda_blas_close(gn_cuda_blas *b); /* NULL is fine; its products, and graphs that have them,
                                             must be freed */
const gn_cublaslt *gn_cuda_blas_about(const gn_cuda_blas *b);

/* out[i * cols + j] = sum over s < depth of a(i, s) * b(s, j), plus bias[j], and with `relu` at
 * least 0.  Of each of a's strides, and of b's, one is 1.  Sizes are positive, addresses aligned to
 * 16 bytes. */
typedef struct gn_cuda_product_shape {
    int64_t rows, cols, depth;
    int64_t a_row, a_term; /* a(i, s) lies at i * a_row + s * a_term */
    int64_t b_term, b_col;
    bool bias, relu;
    int compute; /* GN_CUBLASLT_COMPUTE_... */
} gn_cuda_product_shape;

typedef struct gn_cuda_product gn_cuda_product;

/* GN_ERR_BACKEND: the library has no algorithm for it.  `bias`: where it lies, or will with the
 * same alignment. */
GN_NODISCARD gn_status *gn_cuda_product_new(gn_cuda_blas *b, const gn_cuda_product_shape *shape,
                                            gn_device_ptr bias, gn_cuda_product **out);
void gn_cuda_product_free(gn_cuda_product *p); /* NULL is fine */
/* equal: the same work but for addresses */
uint64_t gn_cuda_product_digest(const gn_cuda_product *p);
/* Put on the device's stream. */
GN_NODISCARD gn_status *gn_cuda_product_run(gn_cuda_product *p, gn_device_ptr out, gn_device_ptr a,
                                            gn_device_ptr b, gn_device_ptr bias);
/* Is the result of a NaN one, behind the relu too?  The library says no more than max(x, 0), which
 * may be either, and each of its algorithms has its own.  The product is run with all its elements
 * scaled by a NaN: out is left with what came of it. */
GN_NODISCARD gn_status *gn_cuda_product_keeps_nan(gn_cuda_product *p, gn_device_ptr out,
                                                  gn_device_ptr a, gn_device_ptr b,
                                                  gn_device_ptr bias, bool *keeps);

#endif
