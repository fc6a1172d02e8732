/* CUDA on a CPU, as far as generated kernels use it.  Compiled into a shared object together with
 * their text; what runs the threads is in cuda_run.c, on the other side of `gn_shim`. */
#ifndef GN_TESTS_SUPPORT_CUDA_SHIM_H
#define GN_TESTS_SUPPORT_CUDA_SHIM_H

#include <stddef.h>
#include <stdint.h>

typedef struct gn_shim_index {
    unsigned x, y, z;
} gn_shim_index;

typedef enum gn_shim_whom {
    GN_SHIM_WARP,
    GN_SHIM_BLOCK,
    GN_SHIM_PRODUCT,
    GN_SHIM_PART
} gn_shim_whom;

typedef struct gn_shim_host {
    gn_shim_index thread, block, block_dim, grid_dim; /* of the thread that runs */
    /* __syncwarp with its mask; __syncthreads; a product of fragments; the block's first `mask`
     * threads */
    void (*meet)(unsigned mask, gn_shim_whom whom);
    void (*idle)(void); /* until another block has run */
    /* shuffles: the bits of lane `from` of the warp */
    uint64_t (*exchange)(unsigned mask, uint64_t mine, unsigned from);
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
#define GN_UNROLL2
#define GN_UNROLL4
#define GN_UNROLL8
#define GN_EDGES2
#define GN_EDGES4
#define GN_ROLL
#define GN_PAIRED(p)                                                                               \
    ((uintptr_t)(p) % 4 ? gn_shim->fail("two terms at an address that is not aligned") : (void)0)
#define GN_ALIGNED(p, bytes)                                                                       \
    ((uintptr_t)(p) % (bytes) ? gn_shim->fail("four elements at an address that is not aligned")   \
                              : (void)0)

typedef struct float4 {
    float x, y, z, w;
} float4;
typedef struct ushort4 {
    unsigned short x, y, z, w;
} ushort4;
typedef struct uchar4 {
    unsigned char x, y, z, w;
} uchar4;

static inline __attribute__((unused)) int __float_as_int(float f)
{
    int i;
    memcpy(&i, &f, sizeof i);
    return i;
}
static inline __attribute__((unused)) unsigned __float_as_uint(float f)
{
    return (unsigned)__float_as_int(f);
}
static inline __attribute__((unused)) float __int_as_float(int i)
{
    float f;
    memcpy(&f, &i, sizeof f);
    return f;
}
static inline __attribute__((unused)) float __uint_as_float(unsigned u)
{
    return __int_as_float((int)u);
}
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

#define __syncwarp(mask) gn_shim->meet(mask, GN_SHIM_WARP)
#define __syncthreads() gn_shim->meet(0, GN_SHIM_BLOCK)
#define GN_BARRIER(threads) gn_shim->meet(threads, GN_SHIM_PART)

/* Programs in one kernel. */
#define GN_LINKED
#define GN_CALLED static __attribute__((unused))
#define GN_TABLE static __attribute__((unused)) const unsigned short
#define GN_OF_GRID const
#define GN_SHARED_OF_ALL(bytes) enum { gn_shared_bytes = bytes }
#define GN_SHARED_OF_OTHERS(bytes) GN_SHARED_OF_ALL(bytes)
#define GN_SHARED_OF_PHASE unsigned char *const gn_shared = gn_shim->shared(gn_shared_bytes)
#define GN_PEEK(p) (*(p))
#define GN_IDLE() gn_shim->idle()
#define __threadfence() ((void)0)
static inline __attribute__((unused)) unsigned atomicAdd(unsigned *p, unsigned x)
{
    const unsigned was = *p;
    *p += x;
    return was;
}

static inline __attribute__((unused)) unsigned gn_shim_peer(unsigned d)
{
    return (threadIdx.x % 32) ^ d;
}
static inline __attribute__((unused)) float gn_shim_xor_f32(unsigned mask, float v, unsigned d)
{
    return __uint_as_float((unsigned)gn_shim->exchange(mask, __float_as_uint(v), gn_shim_peer(d)));
}
static inline __attribute__((unused)) double gn_shim_xor_f64(unsigned mask, double v, unsigned d)
{
    return __longlong_as_double(
        (long long)gn_shim->exchange(mask, (uint64_t)__double_as_longlong(v), gn_shim_peer(d)));
}
static inline __attribute__((unused)) long long gn_shim_xor_i64(unsigned mask, long long v,
                                                                unsigned d)
{
    return (long long)gn_shim->exchange(mask, (uint64_t)v, gn_shim_peer(d));
}
/* As rcp.approx.ftz.f64 may give it: 20 digits. */
static inline __attribute__((unused)) double gn_about_reciprocal(double x)
{
    return __longlong_as_double(__double_as_longlong(1 / x) & ~0xffffffffLL);
}
/* Tensor cores.  Rounded as cvt.rna.tf32.f32 does, to nearest, ties away from zero. */
static inline __attribute__((unused)) float gn_round_tf32(float x)
{
    unsigned u = __float_as_uint(x);
    if (x != x) return __uint_as_float(0x7fffffffu);
    return __uint_as_float((u + 0x1000u) & ~0x1fffu);
}

/* mma.sync.aligned.row.col: all lanes of the warp meet, leave their parts where the others see
 * them, and meet again before the next product.  Sums are rounded once, where the machine may round
 * after every term. */
/* of a warp; [row][term], [term][column] */
static float gn_shim_left[32][16][16], gn_shim_right[32][16][8];

static inline __attribute__((unused)) void gn_shim_multiply(float *c, unsigned terms)
{
    unsigned w = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    gn_shim->meet(0xffffffffu, GN_SHIM_PRODUCT);
    for (unsigned k = 0; k < 4; k++) {
        double sum = c[k];
        for (unsigned s = terms; s-- > 0;)
            sum += (double)gn_shim_left[w][g + 8 * (k / 2)][s] *
                   (double)gn_shim_right[w][s][2 * t + k % 2];
        c[k] = (float)sum;
    }
    gn_shim->meet(0xffffffffu, GN_SHIM_PRODUCT);
}

static inline __attribute__((unused)) void gn_shim_operand(float *to, float x)
{
    if (x == x && __float_as_uint(x) != __float_as_uint(gn_round_tf32(x)))
        gn_shim->fail("an operand of a product of fragments that is not rounded");
    *to = x;
}

static inline __attribute__((unused)) void gn_warp_mma_tf32(float *c, const float *a,
                                                            const float *b)
{
    unsigned w = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    for (unsigned k = 0; k < 4; k++)
        gn_shim_operand(&gn_shim_left[w][g + 8 * (k % 2)][t + 4 * (k / 2)], a[k]);
    for (unsigned k = 0; k < 2; k++) gn_shim_operand(&gn_shim_right[w][t + 4 * k][g], b[k]);
    gn_shim_multiply(c, 8);
}

/* What 16 bits are: bf16 the upper half of a float; f16 by its sign, exponent and fraction. */
static inline __attribute__((unused)) float gn_shim_bf16(unsigned h)
{
    return __uint_as_float(h << 16);
}
static inline __attribute__((unused)) float gn_shim_f16(unsigned h)
{
    int exponent = (int)(h >> 10 & 31), fraction = (int)(h & 0x3ff);
    float f = exponent == 31 ? fraction ? NAN : INFINITY
              : exponent     ? ldexpf((float)(1024 + fraction), exponent - 25)
                             : ldexpf((float)fraction, -24);
    return h & 0x8000u ? -f : f;
}

#define GN_SHIM_MMA16(kind)                                                                        \
    static inline __attribute__((unused)) void gn_warp_mma_##kind(float *c, const unsigned *a,     \
                                                                  const unsigned *b)               \
    {                                                                                              \
        unsigned w = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4 * 2;          \
        for (unsigned k = 0; k < 8; k++)                                                           \
            gn_shim_left[w][g + 8 * (k / 2 % 2)][t + k % 2 + 8 * (k / 4)] = gn_shim_##kind(        \
                a[k / 2] >> 16 * (k % 2) & 0xffff);                                                \
        for (unsigned k = 0; k < 4; k++)                                                           \
            gn_shim_right[w][t + k % 2 + 8 * (k / 2)][g] = gn_shim_##kind(                         \
                b[k / 2] >> 16 * (k % 2) & 0xffff);                                                \
        gn_shim_multiply(c, 16);                                                                   \
    }
GN_SHIM_MMA16(bf16)
GN_SHIM_MMA16(f16)

#define __shfl_xor_sync(mask, v, d, width)                                                         \
    _Generic((v), float: gn_shim_xor_f32, double: gn_shim_xor_f64, default: gn_shim_xor_i64)(      \
        mask, v, (unsigned)(d))
#endif
#endif
