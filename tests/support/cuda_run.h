/* Threads of blocks as fibers: what runs the kernels of cuda_host.h. */
#ifndef GN_TESTS_SUPPORT_CUDA_RUN_H
#define GN_TESTS_SUPPORT_CUDA_RUN_H

#include "support/cuda_host.h"
#include "support/cuda_shim.h"

typedef void (*cuda_entry)(void **args);

typedef struct cuda_work { /* a launch */
    cuda_entry fn;
    void **args;
    gn_shim_host **shim; /* the variable of the object that fn is in */
    int threads;         /* of a block */
    int64_t blocks;
    size_t shared_bytes;
    bool alone;    /* threads never meet */
    bool together; /* blocks wait for each other: all are alive at once.  A few thousand threads at
                      most */
    cuda_order order;
    uint64_t seed;
} cuda_work;

/* GN_ERR_INTERNAL: what the kernel does wrong. */
GN_NODISCARD gn_status *cuda_run(const cuda_work *w);

#endif
