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

static inline __attribute__((always_inline)) void next_words(uint32_t *w)
{
    for (int k = 0; k < WORDS - FAR; k++) w[k] = w[k + FAR] ^ twisted(w[k], w[k + 1]);
    for (int k = WORDS - FAR; k < WORDS - 1; k++)
        w[k] = w[k - (WORDS - FAR)] ^ twisted(w[k], w[k + 1]);
    w[WORDS - 1] = w[FAR - 1] ^ twisted(w[WORDS - 1], w[0]);
}

static inline uint32_t tempered(uint32_t y)
{
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

enum { UPPER = 0x1fffff }; /* what a pair's first word gives to 53 bits */

/* Of `pairs` pairs of words: is the lower 53 bits' number below `bound`?  The upper word says it,
 * but where it is the bound's own: is one? */
static inline __attribute__((always_inline)) bool by_upper(const uint32_t *word, size_t pairs,
                                                           uint64_t bound, bool *mask)
{
    int32_t upper = (int32_t)(bound >> 32), equal = 0;
    for (size_t k = 0; k < pairs; k++) {
        int32_t high = (int32_t)(tempered(word[2 * k]) & UPPER);
        mask[k] = high < upper;
        equal |= high == upper;
    }
    return equal;
}

/* The same code, of wider vectors where the machine has them. */
#if defined(__x86_64__)
__attribute__((target("avx2"))) static void next_words_wide(uint32_t *w) { next_words(w); }

__attribute__((target("avx2"))) static bool by_upper_wide(const uint32_t *word, size_t pairs,
                                                          uint64_t bound, bool *mask)
{
    return by_upper(word, pairs, bound, mask);
}

static bool is_wide(void) { return __builtin_cpu_supports("avx2"); }
#else
static void next_words_wide(uint32_t *w) { next_words(w); }

static bool by_upper_wide(const uint32_t *word, size_t pairs, uint64_t bound, bool *mask)
{
    return by_upper(word, pairs, bound, mask);
}

static bool is_wide(void) { return false; }
#endif

static void next_block(gn_twister *t)
{
    if (is_wide())
        next_words_wide(t->word);
    else
        next_words(t->word);
    t->used = 0;
}

static void compare(const uint32_t *word, size_t pairs, uint64_t bound, bool *mask)
{
    bool equal = is_wide() ? by_upper_wide(word, pairs, bound, mask)
                           : by_upper(word, pairs, bound, mask);
    for (size_t k = 0; equal && k < pairs; k++) {
        uint64_t high = tempered(word[2 * k]) & UPPER;
        if (high == bound >> 32) mask[k] = tempered(word[2 * k + 1]) < (uint32_t)bound;
    }
}

uint32_t gn_twister_next(gn_twister *t)
{
    if (t->used == WORDS) next_block(t);
    return tempered(t->word[t->used++]);
}

void gn_twister_below(gn_twister *t, double p, size_t n, bool *mask)
{
    uint64_t bound = (uint64_t)ceil(ldexp(p, 53));
    while (n > 0) {
        if (t->used == WORDS) next_block(t);
        size_t pairs = (size_t)(WORDS - t->used) / 2;
        if (pairs > n) pairs = n;
        if (!pairs) { /* one word of this block, one of the next */
            uint64_t high = gn_twister_next(t) & UPPER, low = gn_twister_next(t);
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
