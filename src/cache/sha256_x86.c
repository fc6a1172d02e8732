/* SHA-256 with the SHA extensions of x86 (Intel SDM, volume 2, SHA256RNDS2 and its neighbours). */
#include "cache/sha256_impl.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>

/* Asked once: behind a hypervisor cpuid takes microseconds. */
bool gn_sha256_has_x86(void)
{
    enum { UNKNOWN, NO, YES };
    static atomic_int known;
    int has = atomic_load_explicit(&known, memory_order_relaxed);
    if (has == UNKNOWN) {
        unsigned a, b, c, d;
        bool vectors = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSSE3) && (c & bit_SSE4_1);
        has = vectors && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA) ? YES : NO;
        atomic_store_explicit(&known, has, memory_order_relaxed);
    }
    return has == YES;
}

static inline __m128i load(const void *p) { return _mm_loadu_si128(p); }

/* Four rounds at a time; w holds the last sixteen words of the schedule. */
__attribute__((target("sha,sse4.1,ssse3"))) void gn_sha256_x86(uint32_t h[8],
                                                               const unsigned char *p,
                                                               size_t blocks)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i cdab = _mm_shuffle_epi32(load(h), 0xb1), efgh = _mm_shuffle_epi32(load(h + 4), 0x1b),
            w[4];
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (; blocks; blocks--, p += 64) {
        __m128i abef0 = abef, cdgh0 = cdgh;
        for (int i = 0; i < 4; i++) w[i] = _mm_shuffle_epi8(load(p + 16 * i), swap);
#pragma GCC unroll 16
        for (int r = 0; r < 16; r++) {
            __m128i *x = &w[r & 3], next = w[(r + 1) & 3], last = w[(r + 3) & 3];
            if (r >= 4) {
                __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(*x, next),
                                            _mm_alignr_epi8(last, w[(r + 2) & 3], 4));
                *x = _mm_sha256msg2_epu32(sum, last);
            }
            __m128i k = _mm_add_epi32(*x, load(gn_sha256_k + 4 * r));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, k);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(k, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef0);
        cdgh = _mm_add_epi32(cdgh, cdgh0);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)h, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(h + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#else

bool gn_sha256_has_x86(void) { return false; }
void gn_sha256_x86(uint32_t h[8], const unsigned char *p, size_t blocks)
{
    gn_sha256_plain(h, p, blocks);
}

#endif
