/* Draws by element: the counter-based generator Squares of four rounds (Widynski, "Squares: a fast counter-based RNG",
 * arXiv:2004.06278, 2020).  A draw is five 64-bit multiplications, whatever elements are drawn around it.
 *
 * One stream a site: element `i` of the value drawn at site `site` in a step with key `key` (gn_rng_key of philox.h) is
 * word i of Squares under gn_draw_key(key, site).  A uniform in [0, 1) is (word >> 8) * 2^-24, exact in float32.
 * Everything that evaluates or emits `random` follows this file, so a mask can be recomputed anywhere and is the same
 * whatever was optimised. */
#ifndef GN_BASE_SQUARES_H
#define GN_BASE_SQUARES_H

#include <stdint.h>

/* A finalizer (splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014) makes keys of
 * Squares, which must look random themselves and be odd. */
#define GN_DRAW_WEYL 0x9E3779B97F4A7C15u
#define GN_DRAW_MIX1 0xBF58476D1CE4E5B9u
#define GN_DRAW_MIX2 0x94D049BB133111EBu

static inline uint64_t gn_draw_key(uint32_t key, uint32_t site)
{
    uint64_t z = ((uint64_t)site << 32 | key) + GN_DRAW_WEYL;
    z = (z ^ z >> 30) * GN_DRAW_MIX1;
    z = (z ^ z >> 27) * GN_DRAW_MIX2;
    return (z ^ z >> 31) | 1;
}

static inline uint64_t gn_squares_round(uint64_t x, uint64_t add)
{
    x = x * x + add;
    return x >> 32 | x << 32;
}

static inline uint32_t gn_squares(uint64_t key, uint64_t i)
{
    uint64_t y = i * key, z = y + key, x = gn_squares_round(y, y);
    x = gn_squares_round(x, z);
    x = gn_squares_round(x, y);
    return (uint32_t)gn_squares_round(x, z); /* the upper half, which the turn has put below */
}

static inline float gn_draw_uniform(uint32_t key, uint32_t site, uint64_t i)
{
    return (float)(gn_squares(gn_draw_key(key, site), i) >> 8) * 0x1p-24f;
}

#endif
