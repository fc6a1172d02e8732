/* Compared with NVIDIA's header, where there is one of CUDA 13 or newer: constants, sizes and
 * offsets, names and types of functions that runtime/cuda/driver.h declares.  Nothing of it
 * runs. */
#include "runtime/cuda/driver.h"

#define __CUDA_API_VERSION_INTERNAL /* names are those that the library has, older versions of     \
                                       functions among them */
#include <cuda.h>

#if CUDA_VERSION >= 13000

#define X(ours, nvidia, value) _Static_assert((int)(nvidia) == (value), #nvidia);
GN_CUDA_CONSTANTS(X)
#undef X

#define SAME(ours, member, nvidia, theirs)                                                         \
    _Static_assert(offsetof(ours, member) == offsetof(nvidia, theirs), #nvidia "." #theirs);       \
    _Static_assert(sizeof(((ours *)0)->member) == sizeof(((nvidia *)0)->theirs),                   \
                   #nvidia "." #theirs);

_Static_assert(sizeof(gn_cuda_update_info) == sizeof(CUgraphExecUpdateResultInfo),
               "CUgraphExecUpdateResultInfo");
SAME(gn_cuda_update_info, result, CUgraphExecUpdateResultInfo, result)
SAME(gn_cuda_update_info, node, CUgraphExecUpdateResultInfo, errorNode)
SAME(gn_cuda_update_info, from, CUgraphExecUpdateResultInfo, errorFromNode)

_Static_assert(sizeof(gn_cuda_kernel_params) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2),
               "CUDA_KERNEL_NODE_PARAMS_v2");
#define KERNEL(member, theirs)                                                                     \
    SAME(gn_cuda_kernel_params, member, CUDA_KERNEL_NODE_PARAMS_v2, theirs)
KERNEL(function, func)
KERNEL(grid_x, gridDimX)
KERNEL(grid_y, gridDimY)
KERNEL(grid_z, gridDimZ)
KERNEL(block_x, blockDimX)
KERNEL(block_y, blockDimY)
KERNEL(block_z, blockDimZ)
KERNEL(shared_bytes, sharedMemBytes)
KERNEL(arguments, kernelParams)
KERNEL(extra, extra)
KERNEL(kernel, kern)
KERNEL(context, ctx)

_Static_assert(sizeof(gn_cuda_copy_params) == sizeof(CUDA_MEMCPY3D_v2), "CUDA_MEMCPY3D_v2");
#define COPY(member, theirs) SAME(gn_cuda_copy_params, member, CUDA_MEMCPY3D_v2, theirs)
COPY(from_x, srcXInBytes)
COPY(from_y, srcY)
COPY(from_z, srcZ)
COPY(from_level, srcLOD)
COPY(from_type, srcMemoryType)
COPY(from_host, srcHost)
COPY(from, srcDevice)
COPY(from_array, srcArray)
COPY(reserved0, reserved0)
COPY(from_pitch, srcPitch)
COPY(from_height, srcHeight)
COPY(to_x, dstXInBytes)
COPY(to_y, dstY)
COPY(to_z, dstZ)
COPY(to_level, dstLOD)
COPY(to_type, dstMemoryType)
COPY(to_host, dstHost)
COPY(to, dstDevice)
COPY(to_array, dstArray)
COPY(reserved1, reserved1)
COPY(to_pitch, dstPitch)
COPY(to_height, dstHeight)
COPY(width, WidthInBytes)
COPY(height, Height)
COPY(depth, Depth)

_Static_assert(sizeof(CUresult) == sizeof(int) && sizeof(CUdevice) == sizeof(int) &&
                   sizeof(CUdevice_attribute) == sizeof(int) &&
                   sizeof(CUstreamCaptureMode) == sizeof(int) &&
                   sizeof(CUdeviceptr) == sizeof(gn_device_ptr),
               "enumerations and devices are integers, addresses have 64 bits");

/* Every name that is looked for is declared. */
#define X(name, args) const void *gn_cuda_declares_##name(void);
GN_CUDA_DRIVER(X)
#undef X
#define X(name, args)                                                                              \
    const void *gn_cuda_declares_##name(void) { return (const void *)(uintptr_t)&name; }
GN_CUDA_DRIVER(X)
#undef X

/* And takes what is handed to it. */
static int calls(void *p, void **pp, void **qq, CUdeviceptr *a, size_t *n, int *i, float *f,
                 const char **s)
{
    int e = (int)cuInit(0u) + (int)cuDriverGetVersion(i) + (int)cuGetErrorName((CUresult)0, s);
    e += (int)cuGetErrorString((CUresult)0, s) + (int)cuDeviceGetCount(i) + (int)cuDeviceGet(i, 0);
    e += (int)cuDeviceGetName((char *)p, 1, 0) +
         (int)cuDeviceGetAttribute(i, (CUdevice_attribute)0, 0);
    e += (int)cuDeviceTotalMem_v2(n, 0) + (int)cuDevicePrimaryCtxRetain((CUcontext *)(void *)pp, 0);
    e += (int)cuDevicePrimaryCtxRelease_v2(0) + (int)cuCtxPushCurrent_v2(p) +
         (int)cuCtxPopCurrent_v2((CUcontext *)(void *)pp);
    e += (int)cuMemGetInfo_v2(n, n) + (int)cuMemAlloc_v2(a, *n) + (int)cuMemFree_v2(*a) +
         (int)cuMemAllocHost_v2(pp, *n);
    e += (int)cuMemFreeHost(p) + (int)cuMemcpyHtoDAsync_v2(*a, p, *n, p) +
         (int)cuMemcpyDtoHAsync_v2(p, *a, *n, p);
    e += (int)cuMemsetD8Async(*a, 0, *n, p);
    e += (int)cuMemcpyDtoDAsync_v2(*a, *a, *n, p) + (int)cuStreamCreate((CUstream *)(void *)pp, 0u);
    e += (int)cuStreamDestroy_v2(p) + (int)cuStreamSynchronize(p);
    e += (int)cuStreamBeginCapture_v2(p, (CUstreamCaptureMode)0) +
         (int)cuStreamEndCapture(p, (CUgraph *)(void *)pp);
    e += (int)cuGraphInstantiateWithFlags((CUgraphExec *)(void *)pp, p, 0ull) +
         (int)cuGraphExecUpdate_v2(p, p, p);
    e += (int)cuStreamGetCaptureInfo_v2(p, p, p, p, (const CUgraphNode **)(void *)pp, n);
    e += (int)cuGraphExecKernelNodeSetParams_v2(p, p, (const CUDA_KERNEL_NODE_PARAMS_v2 *)p);
    e += (int)cuGraphExecMemcpyNodeSetParams(p, p, (const CUDA_MEMCPY3D_v2 *)p, p);
    e += (int)cuGraphLaunch(p, p) + (int)cuGraphDestroy(p) + (int)cuGraphExecDestroy(p);
    e += (int)cuModuleLoadData((CUmodule *)(void *)pp, p) + (int)cuModuleUnload(p);
    e += (int)cuModuleGetFunction((CUfunction *)(void *)pp, p, *s) +
         (int)cuEventCreate((CUevent *)(void *)pp, 0u);
    e += (int)cuEventDestroy_v2(p) + (int)cuEventRecord(p, p) + (int)cuEventSynchronize(p);
    e += (int)cuEventElapsedTime(f, p, p) +
         (int)cuLaunchKernel(p, 1u, 1u, 1u, 1u, 1u, 1u, 0u, p, pp, qq);
    e += (int)cuLaunchCooperativeKernel(p, 1u, 1u, 1u, 1u, 1u, 1u, 0u, p, pp);
    return e + (int)cuOccupancyMaxActiveBlocksPerMultiprocessor(i, p, 1, *n);
}

typedef int called(void *, void **, void **, CUdeviceptr *, size_t *, int *, float *,
                   const char **);
called *gn_cuda_header(void);
called *gn_cuda_header(void) { return calls; }

#endif
