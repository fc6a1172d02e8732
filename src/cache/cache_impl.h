/* Shared by the files of the cache. */
#ifndef GN_CACHE_CACHE_IMPL_H
#define GN_CACHE_CACHE_IMPL_H

#include "cache/cache.h"
#include "cache/lru.h"
#include "cache/store.h"

struct gn_cache {
    gn_cache_options opt;
    gn_store *store, *base; /* NULL: none */
    gn_mutex mutex;         /* of what follows */
    gn_memo *memo;
    gn_cache_counts counts;
    unsigned warned; /* bits of gn_warning */
};

typedef enum gn_warning { GN_WARN_DIR, GN_WARN_BASE, GN_WARN_ENTRY } gn_warning;

/* the first of its kind */
void gn_cache_warn(gn_cache *c, gn_warning kind, const char *fmt, ...) GN_PRINTF(3, 4);
void gn_cache_note(gn_cache *c, const char *fmt, ...) GN_PRINTF(2, 3);

#endif
