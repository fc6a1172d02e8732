#include "cache/sha256.h"

#include "cache/sha256_impl.h"

#include <string.h>

const uint32_t gn_sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotr(uint32_t x, int n) { return x >> n | x << (32 - n); }

/* One round; the caller names the variables in turn rather than moving them. */
#define ROUND(a, b, c, d, e, f, g, h, t)                                                           \
    do {                                                                                           \
        uint32_t t1 = (h) + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) +                             \
                      (((e) & (f)) ^ (~(e) & (g))) + gn_sha256_k[t] + w[t];                        \
        uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) +                                   \
                      (((a) & (b)) ^ ((a) & (c)) ^ ((b) & (c)));                                   \
        (d) += t1;                                                                                 \
        (h) = t1 + t2;                                                                             \
    } while (0)

static void compress(uint32_t v[8], const unsigned char *p)
{
    uint32_t w[64];
    uint32_t a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7];
    for (int t = 0; t < 16; t++, p += 4)
        w[t] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    for (int t = 16; t < 64; t++) {
        uint32_t x = w[t - 15], y = w[t - 2];
        w[t] = w[t - 16] + (rotr(x, 7) ^ rotr(x, 18) ^ x >> 3) + w[t - 7] +
               (rotr(y, 17) ^ rotr(y, 19) ^ y >> 10);
    }
    for (int t = 0; t < 64; t += 8) {
        ROUND(a, b, c, d, e, f, g, h, t);
        ROUND(h, a, b, c, d, e, f, g, t + 1);
        ROUND(g, h, a, b, c, d, e, f, t + 2);
        ROUND(f, g, h, a, b, c, d, e, t + 3);
        ROUND(e, f, g, h, a, b, c, d, t + 4);
        ROUND(d, e, f, g, h, a, b, c, t + 5);
        ROUND(c, d, e, f, g, h, a, b, t + 6);
        ROUND(b, c, d, e, f, g, h, a, t + 7);
    }
    v[0] += a, v[1] += b, v[2] += c, v[3] += d;
    v[4] += e, v[5] += f, v[6] += g, v[7] += h;
}

void gn_sha256_plain(uint32_t h[8], const unsigned char *p, size_t blocks)
{
    for (; blocks; blocks--, p += 64) compress(h, p);
}

static void add_blocks(gn_sha256 *s, const unsigned char *p, size_t blocks)
{
    if (blocks) (gn_sha256_has_x86() ? gn_sha256_x86 : gn_sha256_plain)(s->h, p, blocks);
}

void gn_sha256_init(gn_sha256 *s)
{
    *s = (gn_sha256){.h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                           0x1f83d9ab, 0x5be0cd19}};
}

void gn_sha256_add(gn_sha256 *s, const void *p, size_t n)
{
    const unsigned char *at = p;
    size_t have = s->n % sizeof s->block;
    if (n == 0) return;
    s->n += n;
    if (have) {
        size_t some = sizeof s->block - have < n ? sizeof s->block - have : n;
        memcpy(s->block + have, at, some);
        at += some;
        n -= some;
        if (have + some < sizeof s->block) return;
        add_blocks(s, s->block, 1);
    }
    size_t blocks = n / sizeof s->block;
    add_blocks(s, at, blocks);
    memcpy(s->block, at + blocks * sizeof s->block, n % sizeof s->block);
}

void gn_sha256_end(gn_sha256 *s, unsigned char out[GN_SHA256_BYTES])
{
    static const unsigned char pad[64] = {0x80};
    unsigned char length[8];
    uint64_t bits = s->n * 8;
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
    gn_sha256_add(s, pad, 1 + (119 - s->n % 64) % 64);
    gn_sha256_add(s, length, sizeof length);
    for (int i = 0; i < GN_SHA256_BYTES; i++)
        out[i] = (unsigned char)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

void gn_sha256_of(const void *p, size_t n, unsigned char out[GN_SHA256_BYTES])
{
    gn_sha256 s;
    gn_sha256_init(&s);
    gn_sha256_add(&s, p, n);
    gn_sha256_end(&s, out);
}

void gn_sha256_hex(const unsigned char digest[GN_SHA256_BYTES], char out[GN_SHA256_HEX + 1])
{
    static const char hex[] = "0123456789abcdef";
    for (int i = 0; i < GN_SHA256_BYTES; i++) {
        out[2 * i] = hex[digest[i] >> 4];
        out[2 * i + 1] = hex[digest[i] & 15];
    }
    out[GN_SHA256_HEX] = 0;
}
