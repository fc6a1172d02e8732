/* Inside of the memory of a device: what the instances on it share (instance.h). */
#ifndef GN_RUNTIME_CUDA_CUDA_MEMORY_H
#define GN_RUNTIME_CUDA_CUDA_MEMORY_H

#include "runtime/cuda/cuda_instance.h"
#include "runtime/cuda/keep.h"

typedef struct gn_cuda_shadow {
    const void *host;
    int64_t bytes;
    gn_device_ptr at;
    int users; /* slots of instances; 0: this place is free */
} gn_cuda_shadow;

struct gn_cuda_memory {
    gn_remote remote; /* first: what is called as a remote is this */
    gn_cuda_device *device;
    gn_cuda_shadow *all;
    int n, cap;
    gn_cuda_keep keep;
    gn_device_ptr gate; /* the word that blocks of wholes meet at; 0: none was needed yet */
    gn_device_ptr arena;
    int64_t arena_bytes;
    int moved; /* times that the arena got another address */
};

/* The shadow of `bytes` at `host` for one more user, made and filled where there is none; and one
 * user less. */
GN_NODISCARD gn_status *gn_cuda_memory_acquire(gn_cuda_memory *m, const void *host, int64_t bytes,
                                               const char *what, gn_device_ptr *at);
void gn_cuda_memory_release(gn_cuda_memory *m, gn_device_ptr at);
bool gn_cuda_memory_has(const gn_cuda_memory *m, const void *host); /* a shadow of it */
/* An arena of so many bytes for the temporaries of program `name`. */
GN_NODISCARD gn_status *gn_cuda_memory_reserve(gn_cuda_memory *m, int64_t bytes, const char *name);

#endif
