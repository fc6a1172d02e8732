/* CUDA on a CPU, as far as generated kernels use it.  Compiled into a shared object together with their text; what runs
 * the threads is in cuda_host.c, on the other side of `gn_shim`. */
#ifndef GN_TESTS_SUPPORT_CUDA_SHIM_H
#define GN_TESTS_SUPPORT_CUDA_SHIM_H

#include <stddef.h>
#include <stdint.h>

typedef struct gn_shim_index {
    unsigned x, y, z;
} gn_shim_index;

typedef struct gn_shim_host {
    gn_shim_index thread, block, block_dim, grid_dim; /* of the thread that runs */
    void (*meet)(unsigned mask, int of_block);        /* __syncwarp, __syncthreads */
    uint64_t (*exchange)(unsigned mask, uint64_t mine,
                         unsigned from); /* shuffles: the bits of lane `from` of the warp */
    unsigned char *(*shared)(size_t bytes);
    void (*fail)(const char *what);
} gn_shim_host;

#ifdef GN_SHIM_KERNELS
#include <math.h>
#include <stdbool.h>
#include <string.h>

gn_shim_host *gn_shim; /* set by whoever loads this */

#define threadIdx (gn_shim->thread)
#define blockIdx (gn_shim->block)
#define blockDim (gn_shim->block_dim)
#define gridDim (gn_shim->grid_dim)

#define GN_KERNEL(threads) void
#define GN_DEVICE static inline __attribute__((unused))
#define GN_SHARED(bytes) unsigned char *const gn_shared = gn_shim->shared(bytes)
#define GN_UNROLL
#define GN_UNROLL4
#define GN_ROLL
#define GN_ALIGNED(p) ((uintptr_t)(p) % 16 ? gn_shim->fail("16 bytes at an address that is not aligned") : (void)0)

typedef struct float4 {
    float x, y, z, w;
} float4;

static inline __attribute__((unused)) int __float_as_int(float f)
{
    int i;
    memcpy(&i, &f, sizeof i);
    return i;
}
static inline __attribute__((unused)) unsigned __float_as_uint(float f) { return (unsigned)__float_as_int(f); }
static inline __attribute__((unused)) float __int_as_float(int i)
{
    float f;
    memcpy(&f, &i, sizeof f);
    return f;
}
static inline __attribute__((unused)) float __uint_as_float(unsigned u) { return __int_as_float((int)u); }
static inline __attribute__((unused)) long long __double_as_longlong(double f)
{
    long long i;
    memcpy(&i, &f, sizeof i);
    return i;
}
static inline __attribute__((unused)) double __longlong_as_double(long long i)
{
    double f;
    memcpy(&f, &i, sizeof f);
    return f;
}

#define __syncwarp(mask) gn_shim->meet(mask, 0)
#define __syncthreads() gn_shim->meet(0, 1)

static inline __attribute__((unused)) unsigned gn_shim_peer(unsigned d) { return (threadIdx.x % 32) ^ d; }
static inline __attribute__((unused)) float gn_shim_xor_f32(unsigned mask, float v, unsigned d)
{
    return __uint_as_float((unsigned)gn_shim->exchange(mask, __float_as_uint(v), gn_shim_peer(d)));
}
static inline __attribute__((unused)) double gn_shim_xor_f64(unsigned mask, double v, unsigned d)
{
    return __longlong_as_double((long long)gn_shim->exchange(mask, (uint64_t)__double_as_longlong(v), gn_shim_peer(d)));
}
static inline __attribute__((unused)) long long gn_shim_xor_i64(unsigned mask, long long v, unsigned d)
{
    return (long long)gn_shim->exchange(mask, (uint64_t)v, gn_shim_peer(d));
}
#define __shfl_xor_sync(mask, v, d, width)                                                                             \
    _Generic((v), float: gn_shim_xor_f32, double: gn_shim_xor_f64, default: gn_shim_xor_i64)(mask, v, (unsigned)(d))
#endif
#endif
