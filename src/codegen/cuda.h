/* CUDA: loop IR to CUDA C, and through NVRTC to code for a GPU.  Needs neither LLVM nor a CUDA toolkit to build, nor a GPU to
 * compile: NVRTC is looked for when it is first needed.
 *
 * A kernel becomes one __global__ function.  Its arguments are the addresses of the loop IR's buffers, in their order,
 * and then its symbols as 64-bit integers, in theirs.  A block runs `per_block` iterations of the THREAD (or BLOCK) loop, so
 * ceil(trips / per_block) blocks run them all, with one dimension; a kernel without such a loop has one iteration.
 * Addresses of buffers are aligned to 16 bytes.  Shared memory is static. */
#ifndef GN_CODEGEN_CUDA_H
#define GN_CODEGEN_CUDA_H

#include "codegen/backend.h"

typedef struct gn_cuda_geometry {
    int threads;          /* of a block */
    int group;            /* of them that run one iteration */
    int64_t per_block;    /* iterations a block */
    int64_t shared_bytes; /* of a block; static */
} gn_cuda_geometry;

/* Limits of an architecture, as schedules need them. */
gn_limits gn_cuda_limits(void);

/* Can every instruction, unit and type of the kernel be spelled?  *why (may be NULL) says what cannot. */
bool gn_cuda_supports(const kir_kernel *k, const char **why);

/* The text of kernel k as function `symbol`, appended to `out`, and how it is launched.  `origin` (may be NULL) is put
 * above it, a comment a line.  Needs gn_cuda_prelude before it.  GN_ERR_BACKEND for what gn_cuda_supports denies. */
GN_NODISCARD gn_status *gn_cuda_kernel(const kir_kernel *k, const char *symbol, const char *origin, gn_buf *out,
                                       gn_cuda_geometry *geometry);

/* What every program begins with. */
const char *gn_cuda_prelude(void);

#endif
