/* Driver: libcuda by symbol table, found at run time; gnnc is built without a CUDA toolkit.
 *
 * Declarations follow the CUDA driver API reference (https://docs.nvidia.com/cuda/cuda-driver-api/), with handles as
 * pointers and results as integers.  Thread-safe once open. */
#ifndef GN_RUNTIME_CUDA_DRIVER_H
#define GN_RUNTIME_CUDA_DRIVER_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef uint64_t gn_device_ptr;

/* X(name, arguments): every function that is called; a driver that lacks one is refused. */
#define GN_CUDA_DRIVER(X)                                                                                              \
    X(cuInit, (unsigned flags))                                                                                        \
    X(cuDriverGetVersion, (int *version))                                                                              \
    X(cuGetErrorName, (int result, const char **name))                                                                 \
    X(cuGetErrorString, (int result, const char **text))                                                               \
    X(cuDeviceGetCount, (int *n))                                                                                      \
    X(cuDeviceGet, (int *device, int ordinal))                                                                         \
    X(cuDeviceGetName, (char *name, int n, int device))                                                                \
    X(cuDeviceGetAttribute, (int *value, int attribute, int device))                                                   \
    X(cuDeviceTotalMem_v2, (size_t *bytes, int device))                                                                \
    X(cuDevicePrimaryCtxRetain, (void **context, int device))                                                          \
    X(cuDevicePrimaryCtxRelease_v2, (int device))                                                                      \
    X(cuCtxPushCurrent_v2, (void *context))                                                                            \
    X(cuCtxPopCurrent_v2, (void **context))                                                                            \
    X(cuMemGetInfo_v2, (size_t *free_bytes, size_t *total))                                                            \
    X(cuMemAlloc_v2, (gn_device_ptr * p, size_t bytes))                                                                \
    X(cuMemFree_v2, (gn_device_ptr p))                                                                                 \
    X(cuMemAllocHost_v2, (void **p, size_t bytes))                                                                     \
    X(cuMemFreeHost, (void *p))                                                                                        \
    X(cuMemcpyHtoDAsync_v2, (gn_device_ptr to, const void *from, size_t bytes, void *stream))                          \
    X(cuMemcpyDtoHAsync_v2, (void *to, gn_device_ptr from, size_t bytes, void *stream))                                \
    X(cuMemcpyDtoDAsync_v2, (gn_device_ptr to, gn_device_ptr from, size_t bytes, void *stream))                        \
    X(cuStreamCreate, (void **stream, unsigned flags))                                                                 \
    X(cuStreamDestroy_v2, (void *stream))                                                                              \
    X(cuStreamSynchronize, (void *stream))                                                                             \
    X(cuStreamBeginCapture_v2, (void *stream, int mode))                                                               \
    X(cuStreamEndCapture, (void *stream, void **graph))                                                                \
    X(cuGraphInstantiateWithFlags, (void **exec, void *graph, unsigned long long flags))                               \
    X(cuGraphExecUpdate_v2, (void *exec, void *graph, void *info))                                                     \
    X(cuGraphLaunch, (void *exec, void *stream))                                                                       \
    X(cuGraphDestroy, (void *graph))                                                                                   \
    X(cuGraphExecDestroy, (void *exec))                                                                                \
    X(cuModuleLoadData, (void **module, const void *image))                                                            \
    X(cuModuleUnload, (void *module))                                                                                  \
    X(cuModuleGetFunction, (void **function, void *module, const char *name))                                          \
    X(cuEventCreate, (void **event, unsigned flags))                                                                   \
    X(cuEventDestroy_v2, (void *event))                                                                                \
    X(cuEventRecord, (void *event, void *stream))                                                                      \
    X(cuEventSynchronize, (void *event))                                                                               \
    X(cuEventElapsedTime, (float *ms, void *begin, void *end))                                                         \
    X(cuLaunchKernel,                                                                                                  \
      (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,          \
       unsigned block_z, unsigned shared_bytes, void *stream, void **arguments, void **extra))                         \
    X(cuLaunchCooperativeKernel,                                                                                       \
      (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,          \
       unsigned block_z, unsigned shared_bytes, void *stream, void **arguments))                                       \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, void *function, int threads, size_t shared_bytes))

/* Results that are told apart (CUresult). */
enum {
    GN_CUDA_OK = 0,
    GN_CUDA_OUT_OF_MEMORY = 2,
    GN_CUDA_STUB_LIBRARY = 34,
    GN_CUDA_NO_DEVICE = 100,
    GN_CUDA_INVALID_IMAGE = 200,
    GN_CUDA_NO_BINARY = 209,
    GN_CUDA_ECC = 214,
    GN_CUDA_CONTAINED = 226,
    GN_CUDA_ILLEGAL_ADDRESS = 700,
    GN_CUDA_LAUNCH_TIMEOUT = 702,
    GN_CUDA_CONTEXT_IS_DESTROYED = 709,
    GN_CUDA_ASSERT = 710,
    GN_CUDA_STACK_ERROR = 714,
    GN_CUDA_ILLEGAL_INSTRUCTION = 715,
    GN_CUDA_MISALIGNED_ADDRESS = 716,
    GN_CUDA_INVALID_ADDRESS_SPACE = 717,
    GN_CUDA_INVALID_PC = 718,
    GN_CUDA_LAUNCH_FAILED = 719,
    GN_CUDA_TENSOR_MEMORY_LEAK = 721,
    GN_CUDA_DRIVER_MISMATCH = 803,
    GN_CUDA_MPS_CLIENT_TERMINATED = 810,
    GN_CUDA_CAPTURE_INVALIDATED = 901,
    GN_CUDA_GRAPH_UPDATE_FAILURE = 910,
    GN_CUDA_EXTERNAL_DEVICE = 911,
};

typedef struct gn_cuda_driver {
#define X(name, args) int(*name) args;
    GN_CUDA_DRIVER(X)
#undef X
    void *library;
    char *path;  /* of the library, as the loader took it */
    int version; /* 1000 * major + 10 * minor, of CUDA that it serves */
} gn_cuda_driver;

/* Loads and initialises the driver: `path`; where that is NULL $GNNC_CUDA_DRIVER, else libcuda.so.1 and libcuda.so from the
 * usual places.  GN_ERR_BACKEND says what was looked for and where, which symbol is missing, or what the driver said. */
GN_NODISCARD gn_status *gn_cuda_driver_open(const char *path, gn_cuda_driver **out);
void gn_cuda_driver_close(gn_cuda_driver *d); /* NULL is fine; devices must be closed */

/* What a result of the driver means, as an error with the way out; `doing` says what was tried. NULL for GN_CUDA_OK. */
GN_NODISCARD gn_status *gn_cuda_error(const gn_cuda_driver *d, int result, const char *doing);

#endif
