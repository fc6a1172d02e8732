/* Numbers of pairs of whole numbers, none negative: open addressing, of as many as it was made
 * for. */
#ifndef GN_RUNTIME_GRAPH_PAIR_MAP_H
#define GN_RUNTIME_GRAPH_PAIR_MAP_H

#include "runtime/memory.h"

typedef struct gn_pair {
    int64_t a, b; /* a -1: there is none */
    int64_t number;
} gn_pair;

typedef struct gn_pair_map {
    uint64_t mask;
    gn_pair *pair; /* [mask + 1] */
} gn_pair_map;

/* Room for n pairs.  GN_ERR_NOMEM. */
static inline gn_status *gn_pair_map_new(int64_t n, gn_pair_map *out)
{
    int64_t room = 8;
    void *p;
    *out = (gn_pair_map){0};
    if (n > INT64_MAX / 64) GN_FAIL(GN_ERR_NOMEM, "%lld pairs of rows are too many", (long long)n);
    while (room / 2 < n) room *= 2;
    GN_TRY(gn_block_new(room, sizeof *out->pair, "pairs of rows", &p));
    *out = (gn_pair_map){.mask = (uint64_t)room - 1, .pair = p};
    for (int64_t k = 0; k < room; k++) out->pair[k].a = -1;
    return NULL;
}

static inline void gn_pair_map_free(gn_pair_map *z) { gn_block_free(z->pair); }

/* Where the pair is, or would be. */
static inline gn_pair *gn_pair_find(const gn_pair_map *z, int64_t a, int64_t b)
{
    uint64_t at = ((uint64_t)a * 0x9E3779B97F4A7C15u ^ (uint64_t)b) * 0xD6E8FEB86659FD93u;
    for (at ^= at >> 32;; at++) {
        gn_pair *p = &z->pair[at & z->mask];
        if (p->a < 0 || (p->a == a && p->b == b)) return p;
    }
}

static inline void gn_pair_add(const gn_pair_map *z, int64_t a, int64_t b, int64_t number)
{
    *gn_pair_find(z, a, b) = (gn_pair){a, b, number};
}

#endif
