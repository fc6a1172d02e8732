/* Draws of things by weights: each as likely as its weight is of all, those of weight 0 never.
 * Without repeats the `most` with the least -log(u) / weight are drawn (Efraimidis and Spirakis,
 * "Weighted random sampling with a reservoir", Inf. Process. Lett. 97, 2006), u a draw of a thing's
 * own, or one that all who have the same owner share. */
#ifndef GN_BASE_DRAW_WEIGHTED_H
#define GN_BASE_DRAW_WEIGHTED_H

#include "base/draw.h"

#include <math.h>
#include <stdbool.h>

/* How many of n things are drawn. */
static inline int64_t gn_draw_count(gn_draw_how how, int64_t most, int64_t n, const float *weight)
{
    int64_t positive = 0; /* those that may be */
    for (int64_t i = 0; i < n; i++) positive += weight[i] > 0;
    if (how == GN_DRAW_REPLACE) return positive ? most : 0;
    return positive < most ? positive : most;
}

/* Each by itself; key [n]: room. */
static inline void gn_draw_weighted_again(uint64_t stream, int64_t row, int64_t most, int64_t n,
                                          const float *weight, double *key, int64_t *out)
{
    uint64_t first = (uint64_t)row * (uint64_t)most;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) key[i] = sum += weight[i] > 0 ? (double)weight[i] : 0;
    for (int64_t k = 0; k < most; k++) {
        double at = (double)(gn_draw_long(stream, first + (uint64_t)k) >> 11) * 0x1p-53 * sum;
        int64_t low = 0, high = n - 1; /* the first whose running sum is beyond */
        while (low < high) {
            int64_t mid = low + (high - low) / 2;
            if (key[mid] > at)
                high = mid;
            else
                low = mid + 1;
        }
        gn_draw_insert(low, k, out);
    }
}

/* Without repeats, `count` of those that may be, which are as many or more; owner [n]: whose draws
 * they are. */
static inline void gn_draw_weighted_few(uint64_t stream, int64_t count, int64_t n,
                                        const int64_t *owner, const float *weight, double *key,
                                        int64_t *out)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        double u = (double)((gn_draw_long(stream, (uint64_t)owner[i]) >> 11) + 1) * 0x1p-53;
        key[i] = weight[i] > 0 ? -log(u) / (double)weight[i] : INFINITY;
        int64_t at = kept < count ? kept : count - 1;
        if (!count || (kept == count && !(key[i] < key[out[at]]))) continue;
        for (; at > 0 && key[i] < key[out[at - 1]]; at--) out[at] = out[at - 1];
        out[at] = i;
        kept += kept < count;
    }
    for (int64_t k = 1; k < count; k++) gn_draw_insert(out[k], k, out);
}

#endif
