/* Driver: libcuda by symbol table, found at run time; gnnc is built without a CUDA toolkit.
 *
 * Declarations follow the CUDA driver API reference
 * (https://docs.nvidia.com/cuda/cuda-driver-api/), with handles as pointers and results as
 * integers; tests/shim/cuda_header.c compares them with NVIDIA's header where there is one.
 * Thread-safe once open. */
#ifndef GN_RUNTIME_CUDA_DRIVER_H
#define GN_RUNTIME_CUDA_DRIVER_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef uint64_t gn_device_ptr;

/* CUgraphExecUpdateResultInfo: which node could not be updated. */
typedef struct gn_cuda_update_info {
    int result;
    void *node, *from;
} gn_cuda_update_info;

/* CUDA_KERNEL_NODE_PARAMS_v2: a launch, as a node of a graph. */
typedef struct gn_cuda_kernel_params {
    void *function;
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
    void **arguments, **extra;
    void *kernel, *context; /* in place of a function */
} gn_cuda_kernel_params;

/* CUDA_MEMCPY3D_v2: a copy, as a node of a graph. */
typedef struct gn_cuda_copy_params {
    size_t from_x, from_y, from_z, from_level;
    int from_type;
    const void *from_host;
    gn_device_ptr from;
    void *from_array, *reserved0;
    size_t from_pitch, from_height;
    size_t to_x, to_y, to_z, to_level;
    int to_type;
    void *to_host;
    gn_device_ptr to;
    void *to_array, *reserved1;
    size_t to_pitch, to_height;
    size_t width, height, depth; /* width: bytes */
} gn_cuda_copy_params;

/* X(name, arguments): every function that is called; a driver that lacks one is refused. */
#define GN_CUDA_DRIVER(X)                                                                          \
    X(cuInit, (unsigned flags))                                                                    \
    X(cuDriverGetVersion, (int *version))                                                          \
    X(cuGetErrorName, (int result, const char **name))                                             \
    X(cuGetErrorString, (int result, const char **text))                                           \
    X(cuDeviceGetCount, (int *n))                                                                  \
    X(cuDeviceGet, (int *device, int ordinal))                                                     \
    X(cuDeviceGetName, (char *name, int n, int device))                                            \
    X(cuDeviceGetAttribute, (int *value, int attribute, int device))                               \
    X(cuDeviceTotalMem_v2, (size_t *bytes, int device))                                            \
    X(cuDevicePrimaryCtxRetain, (void **context, int device))                                      \
    X(cuDevicePrimaryCtxRelease_v2, (int device))                                                  \
    X(cuCtxPushCurrent_v2, (void *context))                                                        \
    X(cuCtxPopCurrent_v2, (void **context))                                                        \
    X(cuMemGetInfo_v2, (size_t *free_bytes, size_t *total))                                        \
    X(cuMemAlloc_v2, (gn_device_ptr * p, size_t bytes))                                            \
    X(cuMemFree_v2, (gn_device_ptr p))                                                             \
    X(cuMemAllocHost_v2, (void **p, size_t bytes))                                                 \
    X(cuMemFreeHost, (void *p))                                                                    \
    X(cuMemcpyHtoDAsync_v2, (gn_device_ptr to, const void *from, size_t bytes, void *stream))      \
    X(cuMemcpyDtoHAsync_v2, (void *to, gn_device_ptr from, size_t bytes, void *stream))            \
    X(cuMemcpyDtoDAsync_v2, (gn_device_ptr to, gn_device_ptr from, size_t bytes, void *stream))    \
    X(cuMemsetD8Async, (gn_device_ptr to, unsigned char value, size_t bytes, void *stream))        \
    X(cuStreamCreate, (void **stream, unsigned flags))                                             \
    X(cuStreamDestroy_v2, (void *stream))                                                          \
    X(cuStreamSynchronize, (void *stream))                                                         \
    X(cuStreamBeginCapture_v2, (void *stream, int mode))                                           \
    X(cuStreamGetCaptureInfo_v2,                                                                   \
      (void *stream, int *status, uint64_t *id, void **graph, void *const **last, size_t *n))      \
    X(cuStreamEndCapture, (void *stream, void **graph))                                            \
    X(cuGraphInstantiateWithFlags, (void **exec, void *graph, unsigned long long flags))           \
    X(cuGraphExecUpdate_v2, (void *exec, void *graph, gn_cuda_update_info *info))                  \
    X(cuGraphExecKernelNodeSetParams_v2, (void *exec, void *node, const gn_cuda_kernel_params *p)) \
    X(cuGraphExecMemcpyNodeSetParams,                                                              \
      (void *exec, void *node, const gn_cuda_copy_params *p, void *context))                       \
    X(cuGraphLaunch, (void *exec, void *stream))                                                   \
    X(cuGraphDestroy, (void *graph))                                                               \
    X(cuGraphExecDestroy, (void *exec))                                                            \
    X(cuModuleLoadData, (void **module, const void *image))                                        \
    X(cuModuleUnload, (void *module))                                                              \
    X(cuModuleGetFunction, (void **function, void *module, const char *name))                      \
    X(cuEventCreate, (void **event, unsigned flags))                                               \
    X(cuEventDestroy_v2, (void *event))                                                            \
    X(cuEventRecord, (void *event, void *stream))                                                  \
    X(cuEventSynchronize, (void *event))                                                           \
    X(cuEventElapsedTime, (float *ms, void *begin, void *end))                                     \
    X(cuLaunchKernel, (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,          \
                       unsigned block_x, unsigned block_y, unsigned block_z,                       \
                       unsigned shared_bytes, void *stream, void **arguments, void **extra))       \
    X(cuLaunchCooperativeKernel,                                                                   \
      (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,        \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **arguments)) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                 \
      (int *blocks, void *function, int threads, size_t shared_bytes))

/* X(name of ours, NVIDIA's, value): every result that is told apart, attribute and flag that is
 * used. */
#define GN_CUDA_CONSTANTS(X)                                                                       \
    X(OK, CUDA_SUCCESS, 0)                                                                         \
    X(OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, 2)                                                  \
    X(STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY, 34)                                                   \
    X(NO_DEVICE, CUDA_ERROR_NO_DEVICE, 100)                                                        \
    X(INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE, 200)                                                \
    X(NO_BINARY, CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                                                \
    X(ECC, CUDA_ERROR_ECC_UNCORRECTABLE, 214)                                                      \
    X(CONTAINED, CUDA_ERROR_CONTAINED, 226)                                                        \
    X(ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS, 700)                                            \
    X(LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT, 702)                                              \
    X(CONTEXT_IS_DESTROYED, CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)                                  \
    X(ASSERT, CUDA_ERROR_ASSERT, 710)                                                              \
    X(STACK_ERROR, CUDA_ERROR_HARDWARE_STACK_ERROR, 714)                                           \
    X(ILLEGAL_INSTRUCTION, CUDA_ERROR_ILLEGAL_INSTRUCTION, 715)                                    \
    X(MISALIGNED_ADDRESS, CUDA_ERROR_MISALIGNED_ADDRESS, 716)                                      \
    X(INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_ADDRESS_SPACE, 717)                                \
    X(INVALID_PC, CUDA_ERROR_INVALID_PC, 718)                                                      \
    X(LAUNCH_FAILED, CUDA_ERROR_LAUNCH_FAILED, 719)                                                \
    X(TENSOR_MEMORY_LEAK, CUDA_ERROR_TENSOR_MEMORY_LEAK, 721)                                      \
    X(DRIVER_MISMATCH, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)                                     \
    X(MPS_CLIENT_TERMINATED, CUDA_ERROR_MPS_CLIENT_TERMINATED, 810)                                \
    X(CAPTURE_INVALIDATED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901)                             \
    X(GRAPH_UPDATE_FAILURE, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, 910)                             \
    X(EXTERNAL_DEVICE, CUDA_ERROR_EXTERNAL_DEVICE, 911)                                            \
    X(ATTRIBUTE_MULTIPROCESSORS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                     \
    X(ATTRIBUTE_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                           \
    X(ATTRIBUTE_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                           \
    X(ATTRIBUTE_COOPERATIVE, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 95)                           \
    X(STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING, 1)                                              \
    X(EVENT_NO_TIMING, CU_EVENT_DISABLE_TIMING, 2)                                                 \
    X(CAPTURE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1)                                \
    X(CAPTURE_ACTIVE, CU_STREAM_CAPTURE_STATUS_ACTIVE, 1)                                          \
    X(MEMORY_DEVICE, CU_MEMORYTYPE_DEVICE, 2)
enum {
#define X(ours, nvidia, value) GN_CUDA_##ours = (value),
    GN_CUDA_CONSTANTS(X)
#undef X
};

typedef struct gn_cuda_driver {
#define X(name, args) int(*name) args;
    GN_CUDA_DRIVER(X)
#undef X
    void *library;
    char *path;  /* of the library, as the loader took it */
    int version; /* 1000 * major + 10 * minor, of CUDA that it serves */
} gn_cuda_driver;

/* Loads and initialises the driver: `path`; where that is NULL $GNNC_CUDA_DRIVER, else libcuda.so.1
 * and libcuda.so from the usual places.  GN_ERR_BACKEND says what was looked for and where, which
 * symbol is missing, or what the driver said. */
GN_NODISCARD gn_status *gn_cuda_driver_open(const char *path, gn_cuda_driver **out);
void gn_cuda_driver_close(gn_cuda_driver *d); /* NULL is fine; devices must be closed */

/* What a result of the driver means, as an error with the way out; `doing` says what was tried.
 * NULL for GN_CUDA_OK. */
GN_NODISCARD gn_status *gn_cuda_error(const gn_cuda_driver *d, int result, const char *doing);

#endif
