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

#endif
