/* Sets of rows as bits, with the place of each row among those of the set: a 64th of an array of
 * places to make and to read. */
#ifndef GN_RUNTIME_GRAPH_GRAPH_ROWS_H
#define GN_RUNTIME_GRAPH_GRAPH_ROWS_H

#include "runtime/graph/graph.h"

typedef struct gn_row_set {
    int64_t words;
    uint64_t *bit;
    int64_t *rank; /* by word: how many are in the words before; made by gn_row_set_count */
} gn_row_set;

/* How many bits are set, without the compiler's library, which embedded code does not have. */
static inline int gn_ones(uint64_t x)
{
    const uint64_t by_2 = 0x5555555555555555, by_4 = 0x3333333333333333, by_8 = 0x0f0f0f0f0f0f0f0f;
    x -= x >> 1 & by_2;
    x = (x & by_4) + (x >> 2 & by_4);
    return (int)(((x + (x >> 4)) & by_8) * 0x0101010101010101 >> 56);
}

GN_NODISCARD gn_status *gn_row_set_new(int64_t rows, gn_row_set *out); /* empty */
void gn_row_set_free(gn_row_set *s);
static inline void gn_row_set_add(gn_row_set *s, int64_t row)
{
    s->bit[row / 64] |= (uint64_t)1 << row % 64;
}
/* The rows of a pick, but for those that fill it up. */
void gn_row_set_add_picked(gn_row_set *s, const gn_graph *r);
int64_t gn_row_set_count(gn_row_set *s); /* and makes `rank` */
/* The place of a row among those of the set; -1: it is none. */
static inline int64_t gn_row_set_find(const gn_row_set *s, int64_t row)
{
    uint64_t word = s->bit[row / 64], bit = (uint64_t)1 << row % 64;
    return word & bit ? s->rank[row / 64] + gn_ones(word & (bit - 1)) : -1;
}

#endif
