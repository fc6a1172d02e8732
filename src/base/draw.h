/* Draws by element: a hash of 32 bits with a key before its first round, another before its last,
 * and what the first makes added to what the last does, so that a stream is no permutation, which
 * does not repeat itself as often as chance does.
 *
 * The rounds are those of triple32 of Wellons' hash prospector (github.com/skeeto/hash-prospector):
 * three of xor-shift and multiplication, whose bias over all 2^32 inputs (0.0209) is that of a
 * random permutation.  Lanes are of 32 bits and nothing goes between them, so that a draw on
 * vectors of 8 takes a fifth of the instructions of Squares of four rounds (Widynski, 2020).
 * docs/lab/what-pays.md, "Random numbers by counter", has the batteries that it passes.
 *
 * One stream a site: element `i` of the value drawn at site `site` in a step with key `key`
 * (gn_step_key of philox.h) is gn_draw_word(gn_draw_key(key, site), i).  A uniform in [0, 1) is
 * (word >> 8) * 2^-24, exact in float32.  Ends of edges are drawn of two words. Everything that
 * evaluates or emits `random` follows this file, so a mask can be recomputed anywhere and is the
 * same whatever was optimised. */
#ifndef GN_BASE_DRAW_H
#define GN_BASE_DRAW_H

#include <stdint.h>

/* Both keys of a stream: number `site` of splitmix64 from `key` (Steele, Lea, Flood, "Fast
 * splittable pseudorandom number generators", OOPSLA 2014). */
#define GN_DRAW_WEYL 0x9E3779B97F4A7C15u
#define GN_DRAW_MIX1 0xBF58476D1CE4E5B9u
#define GN_DRAW_MIX2 0x94D049BB133111EBu

static inline uint64_t gn_draw_key(uint64_t key, uint32_t site)
{
    uint64_t z = key + ((uint64_t)site + 1) * GN_DRAW_WEYL;
    z = (z ^ z >> 30) * GN_DRAW_MIX1;
    z = (z ^ z >> 27) * GN_DRAW_MIX2;
    return z ^ z >> 31;
}

#define GN_DRAW_M1 0xED5AD4BBu
#define GN_DRAW_M2 0xAC4C1B51u
#define GN_DRAW_M3 0x31848BABu
/* An element's upper half, 0 but for values of 2^32 elements and more, is in both keys. */
#define GN_DRAW_HIGH 0x9E3779B9u
#define GN_DRAW_HIGH2 0x85EBCA6Bu

static inline uint32_t gn_draw_word(uint64_t key, uint64_t i)
{
    uint32_t high = (uint32_t)(i >> 32) * GN_DRAW_HIGH, inner = (uint32_t)(key >> 32) + high;
    uint32_t x = (uint32_t)i + (uint32_t)key + (high ^ high >> 16) * GN_DRAW_HIGH2;
    uint32_t first = (x ^ x >> 17) * GN_DRAW_M1, last = (first ^ first >> 11) * GN_DRAW_M2 + inner;
    last = (last ^ last >> 15) * GN_DRAW_M3;
    return (last ^ last >> 14) + first;
}

static inline float gn_draw_uniform(uint64_t key, uint32_t site, uint64_t i)
{
    return (float)(gn_draw_word(gn_draw_key(key, site), i) >> 8) * 0x1p-24f;
}

/* 64 bits for draw number i of a stream. */
static inline uint64_t gn_draw_long(uint64_t stream, uint64_t i)
{
    uint64_t high = gn_draw_word(stream, 2 * i);
    return high << 32 | gn_draw_word(stream, 2 * i + 1);
}

/* One of n > 0 rows: the upper half of 64 bits times n. */
static inline int64_t gn_draw_row(uint64_t bits, int64_t n)
{
    uint64_t xh = bits >> 32, xl = (uint32_t)bits, nh = (uint64_t)n >> 32, nl = (uint32_t)n;
    uint64_t a = xh * nl + (xl * nl >> 32), b = xl * nh + (uint32_t)a;
    return (int64_t)(xh * nh + (a >> 32) + (b >> 32));
}

/* One of those of n > 0 things that are in part k of `parts` even ones, of at least one each. */
static inline int64_t gn_draw_part(uint64_t stream, int64_t k, int64_t parts, int64_t n)
{
    int64_t each = n / parts, more = n % parts, first = k * each + (k < more ? k : more);
    return first + gn_draw_row(gn_draw_long(stream, (uint64_t)k), each + (k < more));
}

/* How some of a row's edges are drawn. */
#define GN_DRAWS(X)                                                                                \
    X(UNIFORM, "uniform") /* without repeats: gn_draw_few */                                       \
    X(REPLACE, "replace") /* gn_draw_again */                                                      \
    X(LABOR, "labor")     /* gn_draw_shared */                                                     \
    X(LAST, "last")       /* nothing is: gn_draw_last */
typedef enum gn_draw_how {
#define X(id, name) GN_DRAW_##id,
    GN_DRAWS(X)
#undef X
        GN_DRAW_COUNT
} gn_draw_how;

/* Edges from a row to itself: like others, kept besides those that are drawn, or besides and
 * whatever their times. */
typedef enum gn_draw_loops {
    GN_LOOPS_DRAWN,
    GN_LOOPS_KEPT,
    GN_LOOPS_ALWAYS,
    GN_LOOPS_COUNT
} gn_draw_loops;

/* Puts x among the k of out, which ascend. */
static inline void gn_draw_insert(int64_t x, int64_t k, int64_t *out)
{
    for (; k > 0 && out[k - 1] > x; k--) out[k] = out[k - 1];
    out[k] = x;
}

/* Which of n > most things are drawn for row `row`, without repeats: [most], ascending (Floyd's
 * algorithm: Bentley and Floyd, "A sample of brilliance", CACM 30, 1987). */
static inline void gn_draw_few(uint64_t stream, int64_t row, int64_t most, int64_t n, int64_t *out)
{
    uint64_t first = (uint64_t)row * (uint64_t)most;
    for (int64_t k = 0; k < most; k++) {
        int64_t last = n - most + k;
        int64_t t = gn_draw_row(gn_draw_long(stream, first + (uint64_t)k), last + 1);
        for (int64_t j = 0; j < k; j++)
            if (out[j] == t) t = last; /* which nothing before could be */
        gn_draw_insert(t, k, out);
    }
}

/* As many as `most` of n > 0 things, each drawn by itself: [most], ascending. */
static inline void gn_draw_again(uint64_t stream, int64_t row, int64_t most, int64_t n,
                                 int64_t *out)
{
    uint64_t first = (uint64_t)row * (uint64_t)most;
    for (int64_t k = 0; k < most; k++) {
        gn_draw_insert(gn_draw_row(gn_draw_long(stream, first + (uint64_t)k), n), k, out);
    }
}

/* The `most` < n things of which those that they belong to, `of` [n], have the smallest draws, in
 * the order of those and of their own: [most], ascending.  Rows that draw in one stream share what
 * they draw (LABOR-0 of Balin and Catalyurek, "Layer-neighbor sampling", NeurIPS 2023, with as many
 * for each row: its sequential Poisson sampling). */
static inline void gn_draw_shared(uint64_t stream, int64_t most, int64_t n, const int64_t *of,
                                  int64_t *out)
{
    int64_t kept = 0;
    uint64_t worst = 0;
    for (int64_t i = 0; i < n && most > 0; i++) { /* insertion by draw */
        uint64_t draw = gn_draw_long(stream, (uint64_t)of[i]);
        int64_t at = kept < most ? kept : most - 1;
        if (kept == most && draw >= worst) continue;
        for (; at > 0 && draw < gn_draw_long(stream, (uint64_t)of[out[at - 1]]); at--)
            out[at] = out[at - 1];
        out[at] = i;
        kept += kept < most;
        worst = gn_draw_long(stream, (uint64_t)of[out[kept - 1]]);
    }
    for (int64_t k = 1; k < most; k++) gn_draw_insert(out[k], k, out); /* and in their order */
}

/* The `most` < n things of the latest times, of one time those that stand last: [most],
 * ascending. */
static inline void gn_draw_last(int64_t most, int64_t n, const int64_t *time, int64_t *out)
{
    int64_t kept = 0;
    for (int64_t i = n - 1; i >= 0 && most > 0; i--) { /* insertion by time, the latest first */
        int64_t at = kept < most ? kept : most - 1;
        if (kept == most && time[i] <= time[out[at]]) continue;
        for (; at > 0 && time[i] > time[out[at - 1]]; at--) out[at] = out[at - 1];
        out[at] = i;
        kept += kept < most;
    }
    for (int64_t k = 1; k < most; k++) gn_draw_insert(out[k], k, out);
}

/* Copy number i of the edge from *src to *dst loses one of its ends to a row that is drawn, `end` 0
 * the source, 1 the destination, 2 one of the two by the lowest bit. */
static inline void gn_draw_end(uint64_t stream, uint64_t i, int end, int64_t n_src, int64_t n_dst,
                               int64_t *src, int64_t *dst)
{
    uint64_t bits = gn_draw_long(stream, i);
    if (end == 2 ? bits & 1 : end == 1)
        *dst = gn_draw_row(bits, n_dst);
    else
        *src = gn_draw_row(bits, n_src);
}

#endif
