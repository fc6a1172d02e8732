/* Compared with NVIDIA's header, where there is one of CUDA 13 or newer: constants, sizes and offsets, names and types of functions
 * that runtime/cuda/driver.h declares.  Nothing of it runs. */
#include "runtime/cuda/driver.h"

#include <cuda.h>

#if CUDA_VERSION >= 13000

#define X(ours, nvidia, value) _Static_assert((int)(nvidia) == (value), #nvidia);
GN_CUDA_CONSTANTS(X)
#undef X

#define SAME(ours, member, nvidia, theirs)                                                                             \
    _Static_assert(offsetof(ours, member) == offsetof(nvidia, theirs), #nvidia "." #theirs);                           \
    _Static_assert(sizeof(((ours *)0)->member) == sizeof(((nvidia *)0)->theirs), #nvidia "." #theirs);

_Static_assert(sizeof(gn_cuda_update_info) == sizeof(CUgraphExecUpdateResultInfo), "CUgraphExecUpdateResultInfo");
SAME(gn_cuda_update_info, result, CUgraphExecUpdateResultInfo, result)
SAME(gn_cuda_update_info, node, CUgraphExecUpdateResultInfo, errorNode)
SAME(gn_cuda_update_info, from, CUgraphExecUpdateResultInfo, errorFromNode)

_Static_assert(sizeof(CUresult) == sizeof(int) && sizeof(CUdevice) == sizeof(int) &&
                   sizeof(CUdevice_attribute) == sizeof(int) && sizeof(CUstreamCaptureMode) == sizeof(int) &&
                   sizeof(CUdeviceptr) == sizeof(gn_device_ptr),
               "enumerations and devices are integers, addresses have 64 bits");

/* Every name that is looked for is declared: where the header gives a name another version, ours says which. */
#define X(name, args) const void *gn_cuda_declares_##name(void);
GN_CUDA_DRIVER(X)
#undef X
#define X(name, args)                                                                                                  \
    const void *gn_cuda_declares_##name(void) { return (const void *)(uintptr_t)&name; }
GN_CUDA_DRIVER(X)
#undef X

/* The others have no version in their names, or the header's is the one that is meant. */
static int calls(void *p, void **pp, void **qq, CUdeviceptr *a, size_t *n, int *i, float *f, const char **s)
{
    int e = (int)cuInit(0u) + (int)cuDriverGetVersion(i) + (int)cuGetErrorName((CUresult)0, s);
    e += (int)cuGetErrorString((CUresult)0, s) + (int)cuDeviceGetCount(i) + (int)cuDeviceGet(i, 0);
    e += (int)cuDeviceGetName((char *)p, 1, 0) + (int)cuDeviceGetAttribute(i, (CUdevice_attribute)0, 0);
    e += (int)cuDeviceTotalMem(n, 0) + (int)cuDevicePrimaryCtxRetain((CUcontext *)(void *)pp, 0);
    e += (int)cuDevicePrimaryCtxRelease(0) + (int)cuCtxPushCurrent(p) + (int)cuCtxPopCurrent((CUcontext *)(void *)pp);
    e += (int)cuMemGetInfo(n, n) + (int)cuMemAlloc(a, *n) + (int)cuMemFree(*a) + (int)cuMemAllocHost(pp, *n);
    e += (int)cuMemFreeHost(p) + (int)cuMemcpyHtoDAsync(*a, p, *n, p) + (int)cuMemcpyDtoHAsync(p, *a, *n, p);
    e += (int)cuMemcpyDtoDAsync(*a, *a, *n, p) + (int)cuStreamCreate((CUstream *)(void *)pp, 0u);
    e += (int)cuStreamDestroy(p) + (int)cuStreamSynchronize(p);
    e += (int)cuStreamBeginCapture(p, (CUstreamCaptureMode)0) + (int)cuStreamEndCapture(p, (CUgraph *)(void *)pp);
    e += (int)cuGraphInstantiate((CUgraphExec *)(void *)pp, p, 0ull) + (int)cuGraphExecUpdate(p, p, p);
    e += (int)cuGraphLaunch(p, p) + (int)cuGraphDestroy(p) + (int)cuGraphExecDestroy(p);
    e += (int)cuModuleLoadData((CUmodule *)(void *)pp, p) + (int)cuModuleUnload(p);
    e += (int)cuModuleGetFunction((CUfunction *)(void *)pp, p, *s) + (int)cuEventCreate((CUevent *)(void *)pp, 0u);
    e += (int)cuEventDestroy(p) + (int)cuEventRecord(p, p) + (int)cuEventSynchronize(p);
    e += (int)cuEventElapsedTime(f, p, p) + (int)cuLaunchKernel(p, 1u, 1u, 1u, 1u, 1u, 1u, 0u, p, pp, qq);
    e += (int)cuLaunchCooperativeKernel(p, 1u, 1u, 1u, 1u, 1u, 1u, 0u, p, pp);
    return e + (int)cuOccupancyMaxActiveBlocksPerMultiprocessor(i, p, 1, *n);
}

typedef int called(void *, void **, void **, CUdeviceptr *, size_t *, int *, float *, const char **);
called *gn_cuda_header(void);
called *gn_cuda_header(void) { return calls; }

#endif
