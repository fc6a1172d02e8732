/* Shared by the files of the store. */
#ifndef GN_CACHE_STORE_IMPL_H
#define GN_CACHE_STORE_IMPL_H

#include "cache/store.h"

/* store_size.c: room for `bytes` more, counted before they are written; removes what was not used
 * for longest. */
void gn_store_reserve(gn_store *s, int64_t bytes);
int64_t gn_store_rounded(int64_t bytes); /* whole pages, as files take them */

#endif
