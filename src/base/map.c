#include "base/map.h"

#include <stdint.h>
#include <string.h>

uint64_t gn_hash_bytes(const void *p, size_t n, uint64_t seed)
{
    /* FNV-1a with a final avalanche (Murmur3's fmix64): short keys, no alignment demands. */
    const unsigned char *s = p;
    uint64_t h = 0xcbf29ce484222325u ^ seed;
    for (size_t i = 0; i < n; i++) h = (h ^ s[i]) * 0x100000001b3u;
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdu;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 33;
}

void gn_map_init(gn_map *m, gn_arena *a)
{
    memset(m, 0, sizeof *m);
    m->arena = a;
}

static uint32_t *slot_of(const gn_map *m, const char *key)
{
    uint32_t i = (uint32_t)gn_hash_bytes(key, strlen(key), 0) & (m->nslots - 1);
    while (m->slots[i] && strcmp(m->keys[m->slots[i] - 1], key) != 0) i = (i + 1) & (m->nslots - 1);
    return &m->slots[i];
}

uint32_t *gn_map_find(const gn_map *m, const char *key)
{
    if (!m->nslots) return NULL;
    uint32_t s = *slot_of(m, key);
    return s ? &m->values[s - 1] : NULL;
}

static void grow(gn_map *m)
{
    uint32_t cap = m->cap ? m->cap * 2 : 8;
    const char **keys = GN_NEW_N(m->arena, const char *, cap);
    uint32_t *values = GN_NEW_N(m->arena, uint32_t, cap);
    if (m->n) {
        memcpy(keys, m->keys, m->n * sizeof *keys);
        memcpy(values, m->values, m->n * sizeof *values);
    }
    m->keys = keys;
    m->values = values;
    m->cap = cap;
    m->nslots = cap * 2;
    m->slots = GN_NEW_N(m->arena, uint32_t, m->nslots);
    for (uint32_t i = 0; i < m->n; i++) *slot_of(m, m->keys[i]) = i + 1;
}

uint32_t *gn_map_put(gn_map *m, const char *key, uint32_t value)
{
    uint32_t *v = gn_map_find(m, key);
    if (v) {
        *v = value;
        return v;
    }
    if (m->n == m->cap) grow(m);
    m->keys[m->n] = gn_arena_strdup(m->arena, key);
    m->values[m->n] = value;
    *slot_of(m, key) = m->n + 1;
    return &m->values[m->n++];
}
