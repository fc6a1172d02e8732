/* cuBLASLt: NVIDIA's library of matrix products by symbol table, found at run time; gnnc is built
 * without a CUDA toolkit.
 *
 * Declarations follow the cuBLAS library's reference (https://docs.nvidia.com/cuda/cublas/), with
 * handles as pointers and enumerations as integers; tests/shim/cublaslt_header.c compares them with
 * NVIDIA's header where there is one.  Thread-safe once open. */
#ifndef GN_RUNTIME_CUDA_CUBLASLT_H
#define GN_RUNTIME_CUDA_CUBLASLT_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct gn_cublaslt_algorithm { /* cublasLtMatmulAlgo_t */
    uint64_t data[8];
} gn_cublaslt_algorithm;

typedef struct gn_cublaslt_found { /* cublasLtMatmulHeuristicResult_t */
    gn_cublaslt_algorithm algorithm;
    size_t workspace_bytes;
    int state;
    float waves;
    int reserved[4];
} gn_cublaslt_found;

/* X(result, name, arguments): every function that is called; a library that lacks one is
 * refused. */
#define GN_CUBLASLT(X)                                                                             \
    X(size_t, cublasLtGetVersion, (void))                                                          \
    X(const char *, cublasLtGetStatusString, (int status))                                         \
    X(int, cublasLtCreate, (void **handle))                                                        \
    X(int, cublasLtDestroy, (void *handle))                                                        \
    X(int, cublasLtMatmulDescCreate, (void **desc, int compute, int scale))                        \
    X(int, cublasLtMatmulDescDestroy, (void *desc))                                                \
    X(int, cublasLtMatmulDescSetAttribute,                                                         \
      (void *desc, int which, const void *value, size_t bytes))                                    \
    X(int, cublasLtMatrixLayoutCreate,                                                             \
      (void **layout, int type, uint64_t rows, uint64_t cols, int64_t ld))                         \
    X(int, cublasLtMatrixLayoutDestroy, (void *layout))                                            \
    X(int, cublasLtMatmulPreferenceCreate, (void **preference))                                    \
    X(int, cublasLtMatmulPreferenceDestroy, (void *preference))                                    \
    X(int, cublasLtMatmulPreferenceSetAttribute,                                                   \
      (void *preference, int which, const void *value, size_t bytes))                              \
    X(int, cublasLtMatmulAlgoGetHeuristic,                                                         \
      (void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference, int asked,  \
       gn_cublaslt_found *found, int *n))                                                          \
    X(int, cublasLtMatmul,                                                                         \
      (void *handle, void *desc, const void *alpha, const void *a, void *a_layout, const void *b,  \
       void *b_layout, const void *beta, const void *c, void *c_layout, void *d, void *d_layout,   \
       const gn_cublaslt_algorithm *algorithm, void *workspace, size_t workspace_bytes,            \
       void *stream))

/* X(name of ours, NVIDIA's, value): every constant that is used. */
#define GN_CUBLASLT_CONSTANTS(X)                                                                   \
    X(OK, CUBLAS_STATUS_SUCCESS, 0)                                                                \
    X(NO_MEMORY, CUBLAS_STATUS_ALLOC_FAILED, 3)                                                    \
    X(OP_T, CUBLAS_OP_T, 1)                                                                        \
    X(F32, CUDA_R_32F, 0)                                                                          \
    X(COMPUTE_F32, CUBLAS_COMPUTE_32F, 68)                                                         \
    X(COMPUTE_TF32, CUBLAS_COMPUTE_32F_FAST_TF32, 77)                                              \
    X(COMPUTE_BF16, CUBLAS_COMPUTE_32F_FAST_16BF, 75)                                              \
    X(DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSA, 3)                                                 \
    X(DESC_TRANSB, CUBLASLT_MATMUL_DESC_TRANSB, 4)                                                 \
    X(DESC_EPILOGUE, CUBLASLT_MATMUL_DESC_EPILOGUE, 7)                                             \
    X(DESC_BIAS, CUBLASLT_MATMUL_DESC_BIAS_POINTER, 8)                                             \
    X(PREF_WORKSPACE, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, 1)                                 \
    X(PREF_REDUCTION, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, 3)                               \
    X(PREF_ALIGN_A, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, 5)                                 \
    X(PREF_ALIGN_D, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, 8)                                 \
    X(REDUCTION_COMPUTE, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, 2)                                \
    X(EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_DEFAULT, 1)                                              \
    X(EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU, 2)                                                    \
    X(EPILOGUE_BIAS, CUBLASLT_EPILOGUE_BIAS, 4)
enum {
#define X(ours, nvidia, value) GN_CUBLASLT_##ours = (value),
    GN_CUBLASLT_CONSTANTS(X)
#undef X
};

typedef struct gn_cublaslt {
#define X(result, name, args) result(*name) args;
    GN_CUBLASLT(X)
#undef X
    char path[256]; /* by which it was found */
    int version;    /* 10000 * major + 100 * minor + patch */
} gn_cublaslt;

/* $GNNC_CUBLASLT, or what is found in the usual places (base/library.h): version 12 or newer.
 * GN_ERR_BACKEND names what was tried and how to get it.  The library stays in memory. */
GN_NODISCARD gn_status *gn_cublaslt_open(gn_cublaslt *out);

/* What a result means, as an error; NULL for success. */
GN_NODISCARD gn_status *gn_cublaslt_error(const gn_cublaslt *l, int result, const char *doing);

#endif
