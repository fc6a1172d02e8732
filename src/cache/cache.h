/* Cache: bytes by key, in memory and on disk.  Knows nothing of what it keeps.
 *
 * A key is the SHA-256 of its parts, lines "name value" that say all that the bytes depend on.
 * What is in the cache is right or is not there: damaged, truncated and foreign entries are misses,
 * and so is everything where there is no directory, no space, no permission.  Nothing here fails
 * but for want of memory when a cache is made.
 *
 * Thread-safe; processes may share a directory.  Each pointer that is passed in must live as long
 * as the call. */
#ifndef GN_CACHE_CACHE_H
#define GN_CACHE_CACHE_H

#include "base/arena.h"
#include "base/status.h"
#include "cache/entry.h"

typedef struct gn_cache gn_cache;

typedef enum gn_cache_word {
    GN_CACHE_WARNING, /* something is wrong with the cache; said once for each kind */
    GN_CACHE_NOTE,    /* what was looked up and what came of it */
} gn_cache_word;

typedef struct gn_cache_options {
    const char *dir;      /* NULL: memory alone.  Made when something is first kept */
    const char *base;     /* a second directory, only read; NULL: none */
    int64_t disk_bytes;   /* 0: 256 MB */
    int64_t memory_bytes; /* 0: 64 MB; negative: keep nothing in memory */
    /* Takes warnings and, where `notes` is set, notes; may be called on any thread. NULL: nobody
     * listens. */
    void (*say)(void *ctx, gn_cache_word what, const char *text);
    void *ctx;
    bool notes;
} gn_cache_options;

GN_NODISCARD gn_status *gn_cache_new(const gn_cache_options *o, gn_cache **out); /* GN_ERR_NOMEM */
void gn_cache_free(gn_cache *c);                                                 /* NULL is fine */

/* Where the environment puts a cache: GNNC_CACHE_DIR, else $XDG_CACHE_HOME/gnnc, else
 * $HOME/.cache/gnnc; GNNC_CACHE_BASE; GNNC_CACHE_SIZE ("100M").  *on is false where GNNC_CACHE is 0
 * or off. `dir` stays NULL where no variable says where. Paths live in the arena.  GN_ERR_USAGE for
 * a size that is none. */
GN_NODISCARD gn_status *gn_cache_environment(gn_arena *a, gn_cache_options *o, bool *on);
bool gn_cache_parse_size(const char *text, int64_t *bytes); /* "64K", "1.5G" are sizes; 0 and what
                                                               overflows are not */

/* The bytes under a key, malloc'd; false when there are none. `name` is what notes call it. */
bool gn_cache_get(gn_cache *c, const gn_key *k, const char *name, unsigned char **bytes, size_t *n);
/* Keeps bytes under the key of the parts. */
void gn_cache_put(gn_cache *c, const char *parts, const void *bytes, size_t n);
/* Says in a note which of the parts is new. */
void gn_cache_explain(gn_cache *c, const char *name, const char *parts);

/* Claims: who makes what several processes (or threads) want.  Whoever has a claim makes it, the
 * others wait until it has been put.  Claims go with the process that has them. */
typedef struct gn_claims gn_claims;
gn_claims *gn_claims_new(gn_cache *c); /* NULL where nothing can be claimed: everybody makes theirs
                                        */
bool gn_claims_try(gn_claims *m, const gn_key *k);  /* it is ours to make; true for NULL */
void gn_claims_wait(gn_claims *m, const gn_key *k); /* until nobody else has it: a minute at most */
void gn_claims_drop(gn_claims *m); /* gives all up; the next wait waits for the rest of its minute
                                    */
void gn_claims_free(gn_claims *m); /* drops all; NULL is fine */

typedef struct gn_cache_counts {
    int64_t hits_memory, hits_disk, hits_base, misses, stored;
    int64_t unkept; /* were put and are in memory at most: no directory, no space, no permission */
    int64_t memory_bytes, memory_entries;
} gn_cache_counts;
gn_cache_counts gn_cache_counted(gn_cache *c);

/* Looking after a directory (maintain.c); the base is looked at by stats and verify too. GN_ERR_IO
 * where it cannot be read, or is not the user's alone. */
typedef struct gn_cache_stats {
    const char *dir, *base; /* as in the options */
    int64_t entries, bytes, base_entries, base_bytes, limit;
} gn_cache_stats;
GN_NODISCARD gn_status *gn_cache_measure(gn_cache *c, gn_cache_stats *out);

/* Sound entries of the directory whose parts begin with `prefix`, by name: parts and bytes, which
 * live as long as the call. */
GN_NODISCARD gn_status *gn_cache_each(gn_cache *c, const char *prefix,
                                      void (*each)(void *ctx, const char *parts, const void *bytes,
                                                   size_t n),
                                      void *ctx);

typedef struct gn_cache_verdict {
    int64_t sound, damaged;
} gn_cache_verdict;
/* Reads every entry; `each` hears of those that are damaged. */
GN_NODISCARD gn_status *gn_cache_verify(gn_cache *c,
                                        void (*each)(void *ctx, const char *path, const char *why),
                                        void *ctx, gn_cache_verdict *out);
GN_NODISCARD gn_status *gn_cache_clear(gn_cache *c, int64_t *entries, int64_t *bytes);

/* Archives (archive.c): all sound entries in one file, and into the directory from there.  An
 * archive holds machine code that will be run: its checksums tell that it is whole, not who made
 * it.  GN_ERR_IO, GN_ERR_DATA. */
GN_NODISCARD gn_status *gn_cache_export(gn_cache *c, const char *path, int64_t *entries,
                                        int64_t *bytes);
GN_NODISCARD gn_status *gn_cache_import(gn_cache *c, const char *path, int64_t *entries,
                                        int64_t *known);

#endif
