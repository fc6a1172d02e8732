/* Hash map from strings to 32-bit values, in an arena; insertion order is kept (iterate
 * keys[0..n)). Also "did you mean", by edit distance. */
#ifndef GN_BASE_MAP_H
#define GN_BASE_MAP_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>

typedef struct gn_map {
    gn_arena *arena;
    const char **keys; /* copies owned by the arena, in order of insertion */
    uint32_t *values;
    uint32_t *slots; /* index + 1, 0 = empty */
    uint32_t n, cap, nslots;
} gn_map;

void gn_map_init(gn_map *m, gn_arena *a);
uint32_t *gn_map_find(const gn_map *m, const char *key);          /* NULL when absent */
uint32_t *gn_map_put(gn_map *m, const char *key, uint32_t value); /* overwrites; returns the slot */

uint64_t gn_hash_bytes(const void *p, size_t n, uint64_t seed); /* not cryptographic */

/* The candidate nearest to `name` by edit distance, or NULL when none is near enough to be worth
 * suggesting. */
const char *gn_nearest(const char *name, const char *const *candidates, size_t n);

/* "; did you mean 'x'?", or "" where none is near; to be printed where it is made:
 * gn_did_you_mean(...).text */
enum { GN_NAME_MOST = 64 }; /* bytes of a name that can be near another */
typedef struct gn_suggestion {
    char text[GN_NAME_MOST + 24];
} gn_suggestion;
gn_suggestion gn_did_you_mean(const char *name, const char *const *candidates, size_t n);

/* *out: which of the n words (an enum's, in its order) `name` is; 0 for NULL, and where it is none
 * of them: GN_ERR_USAGE, "there is no <what> 'nam': name, other or third; did you mean 'name'?" */
GN_NODISCARD gn_status *gn_choose(const char *what, const char *name, const char *const *words,
                                  size_t n, int *out);

#endif
