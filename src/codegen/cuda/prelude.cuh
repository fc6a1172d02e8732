/* What every generated kernel uses.  A subset of C that CUDA C++ has too, so that tests can run the
 * same text on a CPU. */
#ifdef __CUDACC_RTC__
/* One block a multiprocessor at least: what is asked for more, the assembler pays for with
 * spills. */
#define GN_KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads, 1)
#define GN_DEVICE static __device__ __forceinline__
#define GN_SHARED(bytes) __shared__ __align__(16) unsigned char gn_shared[bytes]
#define GN_UNROLL _Pragma("unroll")
#define GN_UNROLL2 _Pragma("unroll 2")
#define GN_UNROLL4 _Pragma("unroll 4")
#define GN_UNROLL8 _Pragma("unroll 8")
#define GN_ROLL _Pragma("unroll 1")
#ifdef GN_QUICK
#define GN_EDGES2 GN_ROLL
#define GN_EDGES4 GN_ROLL
#else
#define GN_EDGES2 _Pragma("unroll 2")
#define GN_EDGES4 _Pragma("unroll 4")
#endif
#define GN_ALIGNED(p, bytes) ((void)0)
#define GN_PAIRED(p) ((void)0)

/* Tensor cores: what differs from kind to kind of operands.  Rounded to nearest, ties away from
 * zero. */
static __device__ __forceinline__ float gn_round_tf32(float x)
{
    unsigned r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return __uint_as_float(r);
}
/* c += a * b, of the warp's lanes together: the lane's part of a is 4 numbers, of b 2, of c 4. */
static __device__ __forceinline__ void gn_warp_mma_tf32(float *c, const float *a, const float *b)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
          "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
}
/* The same of pairs of 16 bits. */
#define GN_WARP_MMA16(kind)                                                                        \
    static __device__ __forceinline__ void gn_warp_mma_##kind(float *c, const unsigned *a,         \
                                                              const unsigned *b)                   \
    {                                                                                              \
        asm("mma.sync.aligned.m16n8k16.row.col.f32." #kind "." #kind                               \
            ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "                                            \
            "{%8, %9}, {%0, %1, %2, %3};"                                                          \
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                       \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                   \
    }
GN_WARP_MMA16(bf16)
GN_WARP_MMA16(f16)
/* 1 / x to 20 digits, for doubles that are normal, 0, infinite or no numbers. */
static __device__ __forceinline__ double gn_about_reciprocal(double x)
{
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    return r;
}
#define GN_BARRIER(threads) asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory")
#endif

/* A group of more than a warp meets: it is the block, or in a phase (phases.cuh) its first
 * threads. */
#ifdef GN_PHASES
#define GN_SYNC(width) GN_BARRIER(width)
#else
#define GN_SYNC(width) __syncthreads()
#endif

typedef long long gn_i64;
typedef unsigned long long gn_u64;
typedef unsigned int gn_u32;
typedef unsigned short gn_u16;
typedef unsigned char gn_u8;

#define GN_INF __int_as_float(0x7f800000)
#define GN_NAN __int_as_float(0x7fffffff)
#define GN_INF64 __longlong_as_double(0x7ff0000000000000LL)
#define GN_NAN64 __longlong_as_double(0x7fffffffffffffffLL)

/* The lanes that run one iteration: `width` of them side by side in a warp, a power of two, or the
 * whole block. */
#define GN_LANE(width) ((int)(threadIdx.x % (width)))
#define GN_GROUP(width) ((gn_i64)blockIdx.x * (blockDim.x / (width)) + threadIdx.x / (width))
#define GN_MASK(width)                                                                             \
    ((width) >= 32 ? 0xffffffffu                                                                   \
                   : ((1u << ((width) % 32)) - 1u) << (threadIdx.x % 32 / (width) * (width)))

/* Memory --------------------------------------------------------------------------------------- */

/* Four neighbours: gn_load_float4(p), gn_store_float4(p, x, y, z, w). */
#define GN_FOUR(type, vector)                                                                      \
    GN_DEVICE vector gn_load_##vector(const type *p)                                               \
    {                                                                                              \
        GN_ALIGNED(p, sizeof(vector));                                                             \
        return *(const vector *)p;                                                                 \
    }                                                                                              \
    GN_DEVICE void gn_store_##vector(type *p, type x, type y, type z, type w)                      \
    {                                                                                              \
        vector v;                                                                                  \
        v.x = x, v.y = y, v.z = z, v.w = w;                                                        \
        GN_ALIGNED(p, sizeof(vector));                                                             \
        *(vector *)p = v;                                                                          \
    }
GN_FOUR(float, float4)
GN_FOUR(gn_u16, ushort4) /* bf16 and f16 */
GN_FOUR(gn_u8, uchar4)   /* booleans */

/* bf16: the upper half of an f32; rounded to nearest even, a NaN stays one. */
GN_DEVICE float gn_from_bf16(gn_u16 x) { return __uint_as_float((gn_u32)x << 16); }
GN_DEVICE gn_u16 gn_to_bf16(float x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    gn_u16 r;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(x));
    return r;
#else
    gn_u32 w = __float_as_uint(x);
    if (x != x) return (gn_u16)(w >> 16 | 0x40);
    return (gn_u16)((w + 0x7fff + (w >> 16 & 1)) >> 16);
#endif
}

/* f16: below 2^-14 adding 0.5 leaves the units of 2^-24 in the low bits, rounded. */
GN_DEVICE float gn_from_f16(gn_u16 h)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float r;
    asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(h));
    return r;
#else
    gn_u32 sign = (gn_u32)(h & 0x8000u) << 16, exponent = h >> 10 & 31u, man = h & 0x3ffu;
    if (exponent == 31) return __uint_as_float(sign | 0x7f800000u | man << 13);
    if (exponent) return __uint_as_float(sign | (exponent + 112) << 23 | man << 13);
    float f = (float)man * 5.9604644775390625e-8f; /* 2^-24 */
    return sign ? -f : f;
#endif
}
GN_DEVICE gn_u16 gn_to_f16(float x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    gn_u16 r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x));
    return r;
#else
    gn_u32 u = __float_as_uint(x), sign = u >> 16 & 0x8000u;
    u &= 0x7fffffffu;
    if (u > 0x7f800000u) return (gn_u16)(sign | 0x7e00u | (u >> 13 & 0x3ffu));
    if (u >= 0x477ff000u) return (gn_u16)(sign | 0x7c00u);
    if (u < 0x38800000u)
        return (gn_u16)(sign | (__float_as_uint(__uint_as_float(u) + 0.5f) - 0x3f000000u));
    return (gn_u16)(sign | (u - 0x38000000u + 0xfffu + (u >> 13 & 1u)) >> 13);
#endif
}

/* Numbers -------------------------------------------------------------------------------------- */

/* NaN if either is; +0 is more than -0. */
GN_DEVICE float gn_max_f32(float a, float b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float r;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
#else
    if (a != a || b != b) return GN_NAN;
    if (a == b) return __float_as_int(a) < 0 ? b : a;
    return a > b ? a : b;
#endif
}
GN_DEVICE float gn_min_f32(float a, float b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float r;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
#else
    if (a != a || b != b) return GN_NAN;
    if (a == b) return __float_as_int(a) < 0 ? a : b;
    return a < b ? a : b;
#endif
}
GN_DEVICE double gn_max_f64(double a, double b)
{
    if (a != a || b != b) return GN_NAN64;
    if (a == b) return __double_as_longlong(a) < 0 ? b : a;
    return a > b ? a : b;
}
GN_DEVICE double gn_min_f64(double a, double b)
{
    if (a != a || b != b) return GN_NAN64;
    if (a == b) return __double_as_longlong(a) < 0 ? a : b;
    return a < b ? a : b;
}
GN_DEVICE gn_i64 gn_max_i64(gn_i64 a, gn_i64 b) { return a > b ? a : b; }
GN_DEVICE gn_i64 gn_min_i64(gn_i64 a, gn_i64 b) { return a < b ? a : b; }
GN_DEVICE float gn_sum_f32(float a, float b) { return a + b; }
GN_DEVICE double gn_sum_f64(double a, double b) { return a + b; }
GN_DEVICE gn_i64 gn_sum_i64(gn_i64 a, gn_i64 b) { return a + b; }

/* Truncated, to the nearest end of the range where it does not fit, NaN to 0. */
GN_DEVICE gn_i64 gn_to_i64(double x)
{
    if (x != x) return 0;
    if (x >= 9223372036854775808.0) return 0x7fffffffffffffffLL;
    if (x < -9223372036854775808.0) return -0x7fffffffffffffffLL - 1;
    return (gn_i64)x;
}

/* a / b as IEEE 754 rounds it.  The compiler's own is a subroutine for each kernel, which takes it
 * as long as 15 instructions of loop IR.  Code that is made quickly has the quotient of doubles
 * instead, by Newton's steps: it is off by less than what tells it from where floats are rounded
 * the other way, and exact where it can be.  b of 0 or infinity, or no number: a times the
 * reciprocal. */
GN_DEVICE float gn_div(float a, float b)
{
#ifdef GN_QUICK
    const double x = b, about = gn_about_reciprocal(x);
    const double better = fma(about, fma(-x, about, 1.0), about),
                 best = fma(better, fma(-x, better, 1.0), better);
    const double r = best == best ? best : about, q = a * r, rest = fma(-q, x, (double)a);
    return (float)(fabs(rest) > 0.0 ? fma(r, rest, q) : q);
#else
    return a / b;
#endif
}

/* A positive constant to the power of x, its binary logarithm being high + low: within 4 ulp where
 * the result is a normal number.  What x * high leaves of the product makes up for its rounding. */
GN_DEVICE double gn_power(double high, double low, double x)
{
    const double p = x * high, e = exp2(p), rest = fma(x, high, -p) + x * low;
    return e > 0.0 && e < GN_INF64 ? fma(e, rest * 0.69314718055994531, e) : e;
}

/* Random numbers: keys by Philox 2x32-10, draws as in base/draw.h, one stream a site. */
GN_DEVICE gn_u64 gn_philox(gn_u32 c0, gn_u32 c1, gn_u32 key)
{
    GN_UNROLL
    for (int r = 0; r < 10; r++) {
        gn_u64 p = (gn_u64)0xD256D193u * c0;
        c0 = (gn_u32)(p >> 32) ^ key ^ c1;
        c1 = (gn_u32)p;
        key += 0x9E3779B9u;
    }
    return (gn_u64)c1 << 32 | c0;
}
GN_DEVICE gn_i64 gn_rng_key(gn_i64 seed, gn_i64 step)
{
    gn_u64 a = gn_philox((gn_u32)seed, (gn_u32)((gn_u64)seed >> 32), 0x5bd1e995u);
    gn_u64 b = gn_philox((gn_u32)step, (gn_u32)((gn_u64)step >> 32), (gn_u32)a);
    return (gn_i64)((b ^ a >> 32) & 0x1FFFFFFFFFFFFFu);
}
GN_DEVICE gn_u64 gn_draw_key(gn_u64 key, gn_u32 site)
{
    gn_u64 z = key + ((gn_u64)site + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}
GN_DEVICE float gn_random(gn_i64 key, gn_i64 element, gn_u32 site)
{
    gn_u64 k = gn_draw_key((gn_u64)key, site), i = (gn_u64)element;
    gn_u32 high = (gn_u32)(i >> 32) * 0x9E3779B9u,
           x = (gn_u32)i + (gn_u32)k + (high ^ high >> 16) * 0x85EBCA6Bu;
    gn_u32 first = (x ^ x >> 17) * 0xED5AD4BBu;
    gn_u32 last = (first ^ first >> 11) * 0xAC4C1B51u + ((gn_u32)(k >> 32) + high);
    last = (last ^ last >> 15) * 0x31848BABu;
    return (float)(((last ^ last >> 14) + first) >> 8) * 5.9604644775390625e-8f; /* 2^-24 */
}

/* Lanes ---------------------------------------------------------------------------------------- */

/* Reductions over the lanes of a group: a butterfly, so every lane holds the same bits, in an order
 * that the width alone fixes.  Groups of more than a warp go on through `scratch`, which the whole
 * block shares: 8 bytes a warp. */
#define GN_REDUCE(name, type)                                                                      \
    GN_DEVICE type gn_reduce_##name(type v, int width, gn_u32 mask, void *scratch)                 \
    {                                                                                              \
        for (int d = (width < 32 ? width : 32) / 2; d > 0; d /= 2)                                 \
            v = gn_##name(v, __shfl_xor_sync(mask, v, d, 32));                                     \
        if (width <= 32) return v;                                                                 \
        type *part = (type *)scratch;                                                              \
        GN_SYNC(width);                                                                            \
        if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;                                     \
        GN_SYNC(width);                                                                            \
        v = part[0];                                                                               \
        for (int w = 1; w < width / 32; w++) v = gn_##name(v, part[w]);                            \
        return v;                                                                                  \
    }
GN_REDUCE(sum_f32, float)
GN_REDUCE(max_f32, float)
GN_REDUCE(min_f32, float)
GN_REDUCE(sum_f64, double)
GN_REDUCE(max_f64, double)
GN_REDUCE(min_f64, double)
GN_REDUCE(sum_i64, gn_i64)
GN_REDUCE(max_i64, gn_i64)
GN_REDUCE(min_i64, gn_i64)

/* Fragments ------------------------------------------------------------------------------------ */

/* A product of 16 x 8 by 8 x 8, of the lanes of a warp together; element (r, s) of the left operand
 * is a[r * row + s * term], (s, c) of the right one b[c * col + s * of_b].  Lane l has rows l / 4
 * and 8 more, terms l % 4 and 4 more, column l / 4 of the right operand, and of the result columns
 * l % 4 * 2 and the next (PTX ISA, "Matrix Fragments for mma.m16n8k8"). */
GN_DEVICE void gn_mma_tf32(float *c, const float *a, int row, int term, const float *b, int col,
                           int of_b)
{
    const int high = threadIdx.x % 32 / 4, low = threadIdx.x % 4;
    float x[4], y[2];
    a += high * row + low * term;
    b += high * col + low * of_b;
    x[0] = a[0], x[1] = a[8 * row], x[2] = a[4 * term], x[3] = a[8 * row + 4 * term];
    y[0] = b[0], y[1] = b[4 * of_b];
    gn_warp_mma_tf32(c, x, y);
}

/* Two terms of an operand of 16 bits, the first in the lower half. */
GN_DEVICE gn_u32 gn_pair(const gn_u16 *p, int term)
{
    if (term != 1) return p[0] | (gn_u32)p[term] << 16;
    GN_PAIRED(p);
    return *(const gn_u32 *)p;
}

/* A product of 16 x 16 by 16 x 8.  Lane l has terms l % 4 * 2 and the next, both and 8 more; the
 * rest is as above ("Matrix Fragments for mma.m16n8k16 with floating point type"). */
#define GN_MMA16(kind)                                                                             \
    GN_DEVICE void gn_mma_##kind(float *c, const gn_u16 *a, int row, int term, const gn_u16 *b,    \
                                 int col, int of_b)                                                \
    {                                                                                              \
        const int high = threadIdx.x % 32 / 4, low = threadIdx.x % 4 * 2;                          \
        gn_u32 x[4], y[2];                                                                         \
        a += high * row + low * term;                                                              \
        b += high * col + low * of_b;                                                              \
        x[0] = gn_pair(a, term), x[1] = gn_pair(a + 8 * row, term);                                \
        x[2] = gn_pair(a + 8 * term, term), x[3] = gn_pair(a + 8 * row + 8 * term, term);          \
        y[0] = gn_pair(b, of_b), y[1] = gn_pair(b + 8 * of_b, of_b);                               \
        gn_warp_mma_##kind(c, x, y);                                                               \
    }
GN_MMA16(bf16)
GN_MMA16(f16)
