/* Payloads by key in memory: the least recently used go when there are too many bytes.  Not
 * thread-safe. */
#ifndef GN_CACHE_LRU_H
#define GN_CACHE_LRU_H

#include "cache/entry.h"

typedef struct gn_memo gn_memo;

gn_memo *gn_memo_new(size_t limit); /* NULL: no memory */
void gn_memo_free(gn_memo *m);      /* NULL is fine */

/* Valid until the next put. */
bool gn_memo_get(gn_memo *m, const gn_key *k, const unsigned char **bytes, size_t *n);
/* Copies.  What is too long, or finds no memory, is not kept. */
void gn_memo_put(gn_memo *m, const gn_key *k, const void *bytes, size_t n);
void gn_memo_drop(gn_memo *m, const gn_key *k);

size_t gn_memo_bytes(const gn_memo *m);
size_t gn_memo_count(const gn_memo *m);

#endif
