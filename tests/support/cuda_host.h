/* Runs the CUDA source of kernels on the CPU.
 *
 * The text that the CUDA back end writes is compiled by the system's C compiler (the environment
 * variable CC, or cc) with cuda_shim.h in front of it, and loaded.  Each thread of a block is a
 * fiber that runs until it waits at a barrier or a shuffle; blocks run one after another.  What is
 * checked:
 *   - whoever waits is joined by all lanes of its mask, at a barrier or shuffle of the same kind,
 *     and nobody waits for a lane that has ended; shuffles read from lanes of the mask
 *   - shared memory is as large as the launch says, is filled with NaNs before each block, and what
 *     lies around it stays
 *   - vectors of 16 bytes lie at addresses that they may
 *   - what a kernel writes overlaps none of its other buffers, which are __restrict__
 * Threads run in ascending, descending or in a seeded order: a kernel that lacks a barrier gives
 * other figures in one of them. Not modelled: weak memory, several warps at once, contention.
 *
 * With GNNC_TEST_DEVICE=cuda:N in the environment kernels are compiled by NVRTC and run on that GPU
 * instead. */
#ifndef GN_TESTS_SUPPORT_CUDA_HOST_H
#define GN_TESTS_SUPPORT_CUDA_HOST_H

#include "codegen/cuda/cuda.h"

typedef struct cuda_host cuda_host;

/* Kernels that are the same but for names are compiled once.  GN_ERR_BACKEND for what the back end
 * has not. */
gn_status *cuda_host_compile(int n, const kir_kernel *const *kernels, cuda_host **out);
/* Instead of what the back end writes: any text of kernels gn_kernel_0 ... with their geometry. */
gn_status *cuda_host_text(int n, const kir_kernel *const *kernels, const char *text,
                          const gn_cuda_geometry *geometry, cuda_host **out);
void cuda_host_free(cuda_host *h); /* NULL is fine */

typedef enum cuda_order { CUDA_UP, CUDA_DOWN, CUDA_SEEDED } cuda_order;

/* Kernel k over `trips` iterations of its thread loop; bytes: of each buffer.  GN_ERR_INTERNAL for
 * what it does wrong. */
gn_status *cuda_host_launch(cuda_host *h, int k, void *const *buffers, const size_t *bytes,
                            const int64_t *syms, int64_t trips, cuda_order order, uint64_t seed);

/* A program in one kernel, of its text (gn_cuda_whole_source) and its kernel's geometry.  Run by a
 * launch whose blocks are alive at once, in turn: each as far as it can before the next, ascending,
 * descending or seeded.  integers: values and turns.  On the host alone. */
gn_status *cuda_host_whole_text(const gn_cuda_whole *w, const char *text,
                                const gn_cuda_geometry *geometry, cuda_host **out);
/* Between the pieces of a text that is several programs, which are compiled apart and linked. */
#define CUDA_HOST_PIECE '\f'
gn_status *cuda_host_launch_whole(cuda_host *h, void *const *buffers, const int64_t *integers,
                                  uint32_t *gate, int64_t blocks, cuda_order order, uint64_t seed);

const gn_cuda_geometry *cuda_host_geometry(const cuda_host *h, int k);

#endif
