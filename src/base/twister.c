/* twister: blocks are made and tempered as a whole, which takes vectors (CMakeLists.txt compiles
 * this file with -O3). */
#include "base/twister.h"

#include <math.h>

enum { WORDS = GN_TWISTER_WORDS, FAR = 397 };

static inline uint32_t twisted(uint32_t high, uint32_t low)
{
    uint32_t y = (high & 0x80000000u) | (low & 0x7fffffffu);
    return y >> 1 ^ ((0u - (low & 1u)) & 0x9908b0dfu);
}

static void next_block(gn_twister *t)
{
    uint32_t *w = t->word;
    for (int k = 0; k < WORDS - FAR; k++) w[k] = w[k + FAR] ^ twisted(w[k], w[k + 1]);
    for (int k = WORDS - FAR; k < WORDS - 1; k++)
        w[k] = w[k - (WORDS - FAR)] ^ twisted(w[k], w[k + 1]);
    w[WORDS - 1] = w[FAR - 1] ^ twisted(w[WORDS - 1], w[0]);
    t->used = 0;
}

static inline uint32_t tempered(uint32_t y)
{
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

uint32_t gn_twister_next(gn_twister *t)
{
    if (t->used == WORDS) next_block(t);
    return tempered(t->word[t->used++]);
}

/* Of `pairs` pairs of words: is the lower 53 bits' number below `bound`?  By halves, since vectors
 * of this file compare no 64 bits. */
static void compare(const uint32_t *word, size_t pairs, uint64_t bound, bool *mask)
{
    int32_t upper = (int32_t)(bound >> 32);
    uint32_t lower = (uint32_t)bound;
    for (size_t k = 0; k < pairs; k++) {
        int32_t high = (int32_t)(tempered(word[2 * k]) & 0x1fffffu);
        uint32_t low = tempered(word[2 * k + 1]);
        mask[k] = (high < upper) | ((high == upper) & (low < lower));
    }
}

void gn_twister_below(gn_twister *t, double p, size_t n, bool *mask)
{
    uint64_t bound = (uint64_t)ceil(ldexp(p, 53));
    while (n > 0) {
        if (t->used == WORDS) next_block(t);
        size_t pairs = (size_t)(WORDS - t->used) / 2;
        if (pairs > n) pairs = n;
        if (!pairs) { /* one word of this block, one of the next */
            uint64_t high = gn_twister_next(t) & 0x1fffffu, low = gn_twister_next(t);
            *mask++ = (high << 32 | low) < bound;
            n--;
            continue;
        }
        compare(t->word + t->used, pairs, bound, mask);
        t->used += (int)(2 * pairs);
        mask += pairs;
        n -= pairs;
    }
}
