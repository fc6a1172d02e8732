/* SHA-256 (FIPS 180-4). */
#ifndef GN_CACHE_SHA256_H
#define GN_CACHE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { GN_SHA256_BYTES = 32, GN_SHA256_HEX = 64 };

typedef struct gn_sha256 {
    uint32_t h[8];
    uint64_t n; /* bytes so far */
    unsigned char block[64];
} gn_sha256;

void gn_sha256_init(gn_sha256 *s);
void gn_sha256_add(gn_sha256 *s, const void *p, size_t n);
void gn_sha256_end(gn_sha256 *s, unsigned char out[GN_SHA256_BYTES]);

void gn_sha256_of(const void *p, size_t n, unsigned char out[GN_SHA256_BYTES]);
void gn_sha256_hex(const unsigned char digest[GN_SHA256_BYTES], char out[GN_SHA256_HEX + 1]);

#endif
