/* f16 (IEEE 754 binary16) and bf16 (the upper half of binary32), by their bits.  Narrowing rounds
 * to nearest, ties to even; a NaN stays one.  TF32 is a binary32 whose last 13 bits are zero,
 * rounded to nearest, ties away from zero (cvt.rna). */
#ifndef GN_BASE_HALF_H
#define GN_BASE_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t gn_f32_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static inline float gn_f32_from_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static inline float gn_bf16_to_f32(uint16_t h) { return gn_f32_from_bits((uint32_t)h << 16); }

static inline uint16_t gn_f32_to_bf16(float f)
{
    uint32_t u = gn_f32_bits(f);
    if ((u & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(u >> 16 | 0x40u);
    return (uint16_t)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

static inline float gn_f32_to_tf32(float f)
{
    uint32_t u = gn_f32_bits(f);
    if ((u & 0x7fffffffu) > 0x7f800000u) return gn_f32_from_bits(0x7fffffffu);
    return gn_f32_from_bits((u + 0x1000u) & ~0x1fffu); /* an infinity stays one */
}

static inline float gn_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, exp = h >> 10 & 31u, man = h & 0x3ffu;
    if (exp == 31) return gn_f32_from_bits(sign | 0x7f800000u | man << 13);
    if (exp) return gn_f32_from_bits(sign | (exp + 112) << 23 | man << 13);
    float f = (float)man * 0x1p-24f;
    return sign ? -f : f;
}

static inline uint16_t gn_f32_to_f16(float f)
{
    uint32_t u = gn_f32_bits(f), sign = u >> 16 & 0x8000u;
    u &= 0x7fffffffu;
    if (u > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | (u >> 13 & 0x3ffu));
    if (u >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u); /* rounds to 65536 or more */
    if (u < 0x38800000u) /* below 2^-14: adding 0.5 leaves the units of 2^-24 in the low bits,
                            rounded */
        return (uint16_t)(sign | (gn_f32_bits(gn_f32_from_bits(u) + 0.5f) - 0x3f000000u));
    return (uint16_t)(sign | (u - 0x38000000u + 0xfffu + (u >> 13 & 1u)) >> 13);
}

#endif
