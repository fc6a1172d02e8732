/* Counter-based random numbers: Philox-2x32-10 (Salmon et al., "Parallel random numbers: as easy as
 * 1, 2, 3", SC 2011).
 *
 * One stream a site: element `i` of the value drawn at site `site` in step `step` under seed `seed`
 * is word i&1 of Philox(counter = {(uint32)(i>>1), (uint32)(i>>33) ^ site * 0x9E3779B9}, key =
 * gn_rng_key(seed, step)). A uniform in [0, 1) is (word >> 8) * 2^-24, exact in float32.  Initial
 * weights, splits and synthetic data are drawn so, and keys of all draws are made so; values drawn
 * in a step are those of draw.h. */
#ifndef GN_BASE_PHILOX_H
#define GN_BASE_PHILOX_H

#include <stdint.h>

#define GN_PHILOX_M 0xD256D193u /* multiplier */
#define GN_PHILOX_W 0x9E3779B9u /* Weyl constant of the key schedule, and the site's spread */
enum { GN_PHILOX_ROUNDS = 10 };

static inline uint64_t gn_philox2x32(uint32_t c0, uint32_t c1, uint32_t key)
{
    for (int r = 0; r < GN_PHILOX_ROUNDS; r++) {
        uint64_t p = (uint64_t)GN_PHILOX_M * c0;
        c0 = (uint32_t)(p >> 32) ^ key ^ c1;
        c1 = (uint32_t)p;
        key += GN_PHILOX_W;
    }
    return (uint64_t)c1 << 32 | c0; /* word 0 is the low half */
}

/* The key of a step: depends on all of seed and step.  53 bits, so that it is exact as a float64
 * too; two of 10^6 steps have the same with a probability of 6e-5. */
#define GN_STEP_KEY_MASK 0x1FFFFFFFFFFFFFu

static inline uint64_t gn_step_key(uint64_t seed, uint64_t step)
{
    uint64_t a = gn_philox2x32((uint32_t)seed, (uint32_t)(seed >> 32), 0x5bd1e995u);
    uint64_t b = gn_philox2x32((uint32_t)step, (uint32_t)(step >> 32), (uint32_t)a);
    return (b ^ a >> 32) & GN_STEP_KEY_MASK;
}

/* As much of it as Philox takes. */
static inline uint32_t gn_rng_key(uint64_t seed, uint64_t step)
{
    return (uint32_t)gn_step_key(seed, step);
}

static inline uint32_t gn_random_u32(uint32_t key, uint32_t site, uint64_t i)
{
    uint64_t w = gn_philox2x32((uint32_t)(i >> 1), (uint32_t)(i >> 33) ^ site * GN_PHILOX_W, key);
    return (uint32_t)(i & 1 ? w >> 32 : w);
}

static inline float gn_random_uniform(uint32_t key, uint32_t site, uint64_t i)
{
    return (float)(gn_random_u32(key, site, i) >> 8) * 0x1p-24f;
}

#endif
