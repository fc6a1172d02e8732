/* The two ways through a block of 64 bytes; digests are the same.  sha256.c chooses. */
#ifndef GN_CACHE_SHA256_IMPL_H
#define GN_CACHE_SHA256_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const uint32_t gn_sha256_k[64];

void gn_sha256_plain(uint32_t h[8], const unsigned char *p, size_t blocks);

/* sha256_x86.c: with the instructions that x86 has for it, three to six times as fast. */
bool gn_sha256_has_x86(void); /* may gn_sha256_x86 be called? */
void gn_sha256_x86(uint32_t h[8], const unsigned char *p, size_t blocks);

#endif
