/* mt19937, the Mersenne twister of 32 bits (Matsumoto and Nishimura, "Mersenne twister: a
 * 623-dimensionally equidistributed uniform pseudorandom number generator", TOMACS 8, 1998). */
#ifndef GN_BASE_TWISTER_H
#define GN_BASE_TWISTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GN_TWISTER_WORDS = 624 };

typedef struct gn_twister {
    uint32_t word[GN_TWISTER_WORDS]; /* a block of its recurrence */
    int used;                        /* of the block's words, 0 to GN_TWISTER_WORDS */
} gn_twister;

uint32_t gn_twister_next(gn_twister *t);

/* mask[k], k < n: whether a uniform double of [0, 1) is below p, of [0, 1].  Each is the lower 53
 * bits of two words, the first being the upper one, by 2^53: std::uniform_real_distribution's place
 * in torch's generators for CPUs (ATen/core/DistributionsHelper.h). */
void gn_twister_below(gn_twister *t, double p, size_t n, bool *mask);

#endif
