/* Entry: what the cache keeps for one key, as bytes.  They say which key they are of and carry a
 * checksum of everything, so that bytes from anywhere can be told to be an entry or not.
 *
 *   0  8  "GNNCODE\n"
 *   8  4  version, 1                  numbers are little-endian
 *  12  4  length of the parts
 *  16  8  length of the payload
 *  24  8  zero
 *  32 32  key: SHA-256 of the parts
 *  64 32  SHA-256 of bytes 0 to 63, of the parts and of the payload
 *  96     parts, then payload, and nothing after it
 *
 * The parts are what the key was made of, as lines "name value"; they are there to say why
 * something else missed. */
#ifndef GN_CACHE_ENTRY_H
#define GN_CACHE_ENTRY_H

#include "cache/sha256.h"

#include <stdbool.h>

enum { GN_ENTRY_HEAD = 96, GN_ENTRY_MAX_PARTS = 4096, GN_ENTRY_MAX_PAYLOAD = 64 << 20 };

typedef struct gn_key {
    unsigned char b[GN_SHA256_BYTES];
} gn_key;

typedef struct gn_entry { /* points into the bytes that were read */
    gn_key key;
    const char *parts;
    size_t n_parts;
    const unsigned char *payload;
    size_t n;
} gn_entry;

gn_key gn_key_of(const char *parts, size_t n);
bool gn_key_same(const gn_key *a, const gn_key *b);

/* Bytes that an entry takes; 0 when it would be too long to be one. */
size_t gn_entry_size(size_t n_parts, size_t n);
void gn_entry_write(const char *parts, size_t n_parts, const void *payload, size_t n,
                    unsigned char *out);

/* NULL when the bytes are an entry, else what is wrong with them; static. */
const char *gn_entry_read(const void *bytes, size_t n, gn_entry *out);

/* Of the first GN_ENTRY_HEAD bytes alone: how long all of it is.  NULL, or what is wrong;
 * static. */
const char *gn_entry_peek(const void *head, size_t *n_parts, size_t *total);

#endif
