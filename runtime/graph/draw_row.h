/* Which of the edges into a row are drawn, of those that may be. */
#ifndef GN_RUNTIME_GRAPH_DRAW_ROW_H
#define GN_RUNTIME_GRAPH_DRAW_ROW_H

#include "base/draw_weighted.h"
#include "runtime/graph/graph.h"

typedef struct gn_draw_room {
    int64_t *few;   /* those that are drawn, in their order */
    int64_t *owner; /* [n] whose draws they are: sources, or places in the user's list */
    int64_t *time;  /* [n] */
    float *weight;  /* [n] */
    double *key;    /* [n] */
} gn_draw_room;

/* How many of n. */
static inline int64_t gn_draw_number(const gn_drawing *how, int64_t n, const float *weight)
{
    if (how->weight) return gn_draw_count(how->how, how->most, n, weight);
    if (how->how == GN_DRAW_REPLACE) return n > 0 ? how->most : 0;
    return n < how->most ? n : how->most;
}

/* Are all of them kept, once, so that nothing is drawn? */
static inline bool gn_draws_all(const gn_drawing *how, int64_t count, int64_t n)
{
    return count == n && how->how != GN_DRAW_REPLACE;
}

/* Those `count` of n, which are not all.  Of `z` what `how` asks for is filled in. */
static inline void gn_draw_choose(const gn_drawing *how, uint64_t stream, int64_t row,
                                  int64_t count, int64_t n, const gn_draw_room *z)
{
    bool again = how->how == GN_DRAW_REPLACE;
    if (count == 0) return;
    if (how->weight && again)
        gn_draw_weighted_again(stream, row, count, n, z->weight, z->key, z->few);
    else if (how->weight)
        gn_draw_weighted_few(stream, count, n, z->owner, z->weight, z->key, z->few);
    else if (again)
        gn_draw_again(stream, row, count, n, z->few);
    else if (how->how == GN_DRAW_LABOR)
        gn_draw_shared(stream, count, n, z->owner, z->few);
    else if (how->how == GN_DRAW_LAST)
        gn_draw_last(count, n, z->time, z->few);
    else
        gn_draw_few(stream, row, count, n, z->few);
}

#endif
