/* Products of blocks of rows with weights that stay in L2, and the row lists of graphs that do not
 * fit any cache. */
#ifndef BENCH_DENSE_H
#define BENCH_DENSE_H

#include "hand.h"

enum { BLOCK = 96, PANEL = 64 }; /* rows at a time; columns of packed weights side by side */

/* [k, n] (transposed: [n, k]) -> panels of PANEL columns, each k rows; columns beyond n are 0. */
static UNUSED void pack(const float *w, int64_t k, int64_t n, int64_t ld, bool transposed,
                        float *out)
{
    for (int64_t j0 = 0; j0 < n; j0 += PANEL)
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = j0; j < j0 + PANEL; j++)
                *out++ = j >= n ? 0 : transposed ? w[j * ld + i] : w[i * ld + j];
}

/* R rows of a times V registers of columns of a packed panel. */
#define TILE_OF(NAME, R, V)                                                                        \
    static UNUSED __attribute__((noinline)) void NAME(const float *a, int64_t lda, const float *b, \
                                                      int64_t k, float *c, int64_t ldc)            \
    {                                                                                              \
        v16 s[R][V];                                                                               \
        UNROLL for (int r = 0; r < R; r++) UNROLL for (int j = 0; j < V; j++) s[r][j] = (v16){0};  \
        for (int64_t i = 0; i < k; i++, b += PANEL) {                                              \
            v16 x[V];                                                                              \
            UNROLL for (int j = 0; j < V; j++) x[j] = *(const v16 *)(b + j * 16);                  \
            UNROLL for (int r = 0; r < R; r++)                                                     \
            {                                                                                      \
                v16 y = splat16(a[r * lda + i]);                                                   \
                UNROLL for (int j = 0; j < V; j++) s[r][j] = fma16(y, x[j], s[r][j]);              \
            }                                                                                      \
        }                                                                                          \
        UNROLL for (int r = 0; r < R; r++) UNROLL for (int j = 0; j < V; j++)                      \
            store16(c + r * ldc + j * 16, s[r][j]);                                                \
    }
TILE_OF(tile_6x4, 6, 4)
TILE_OF(tile_8x3, 8, 3)

/* c = a b: rows (rounded up to whole tiles: a and c have that room), n columns of panels. */
static UNUSED void multiply(const float *a, int64_t lda, int64_t rows, const float *b, int64_t k,
                            int64_t n, float *c, int64_t ldc)
{
    if (n == 48) {
        for (int64_t r = 0; r < rows; r += 8) tile_8x3(a + r * lda, lda, b, k, c + r * ldc, ldc);
        return;
    }
    for (int64_t j = 0; j < n; j += PANEL, b += k * PANEL)
        for (int64_t r = 0; r < rows; r += 6)
            tile_6x4(a + r * lda, lda, b, k, c + r * ldc + j, ldc);
}

/* dw[k, n] += x' d over rows; tiles of 8 x 32 (n = 48: 8 x 48), whose sums stay in registers for
 * the whole block. */
#define OUTER_OF(NAME, V)                                                                          \
    static UNUSED __attribute__((noinline)) void NAME(const float *x, int64_t ldx, const float *d, \
                                                      int64_t ldd, int64_t rows, float *dw,        \
                                                      int64_t ld)                                  \
    {                                                                                              \
        v16 s[8][V];                                                                               \
        UNROLL for (int i = 0; i < 8; i++) UNROLL for (int j = 0; j < V; j++)                      \
            s[i][j] = load16(dw + i * ld + j * 16);                                                \
        for (int64_t r = 0; r < rows; r++, x += ldx, d += ldd) {                                   \
            v16 y[V];                                                                              \
            UNROLL for (int j = 0; j < V; j++) y[j] = load16(d + j * 16);                          \
            UNROLL for (int i = 0; i < 8; i++)                                                     \
            {                                                                                      \
                v16 z = splat16(x[i]);                                                             \
                UNROLL for (int j = 0; j < V; j++) s[i][j] = fma16(z, y[j], s[i][j]);              \
            }                                                                                      \
        }                                                                                          \
        UNROLL for (int i = 0; i < 8; i++) UNROLL for (int j = 0; j < V; j++)                      \
            store16(dw + i * ld + j * 16, s[i][j]);                                                \
    }
OUTER_OF(outer_2, 2)
OUTER_OF(outer_3, 3)

static UNUSED void multiply_transposed(const float *x, int64_t ldx, int64_t k, const float *d,
                                       int64_t ldd, int64_t n, int64_t rows, float *dw)
{
    for (int64_t i = 0; i < k; i += 8) {
        if (n == 48) {
            outer_3(x + i, ldx, d, ldd, rows, dw + i * n, n);
            continue;
        }
        for (int64_t j = 0; j < n; j += 32)
            outer_2(x + i, ldx, d + j, ldd, rows, dw + i * n + j, n);
    }
}

/* As rows_of, but in the order of the nodes: what is written in order is read in order. */
static UNUSED rows in_order(int64_t n, const int32_t *ptr, const int32_t *col,
                            const uint8_t *row_wanted, const uint8_t *col_wanted)
{
    rows r = {
        .row = room(n * 4), .ptr = room((n + 1) * 4), .col = room(((int64_t)ptr[n] + 64) * 4)};
    for (int64_t i = 0; i < n; i++) {
        if (row_wanted && !row_wanted[i]) continue;
        for (int32_t e = ptr[i]; e < ptr[i + 1]; e++)
            if (!col_wanted || col_wanted[col[e]]) r.col[r.entries++] = col[e];
        r.row[r.n++] = (int32_t)i;
        r.ptr[r.n] = (int32_t)r.entries;
    }
    return r;
}

/* Rows that come soon are asked for now; `col` has room beyond its end. */
INLINE void fetch_row(const float *from, int32_t row, int64_t wide)
{
    UNROLL for (int64_t j = 0; j < wide; j += 16)
        __builtin_prefetch(from + (int64_t)row * wide + j, 0, 2);
}

/* out = scale * the sum of rows of `from`, V registers wide, asked for AHEAD entries before they
 * are needed. */
#define SUM_OF(NAME, V, AHEAD)                                                                     \
    INLINE void NAME(const float *from, const int32_t *col, int64_t n, float scale, float *out)    \
    {                                                                                              \
        v16 s[V];                                                                                  \
        UNROLL for (int j = 0; j < V; j++) s[j] = (v16){0};                                        \
        for (int64_t e = 0; e < n; e++) {                                                          \
            const float *p = from + (int64_t)col[e] * V * 16;                                      \
            fetch_row(from, col[e + AHEAD], V * 16);                                               \
            UNROLL for (int j = 0; j < V; j++) s[j] += *(const v16 *)(p + j * 16);                 \
        }                                                                                          \
        UNROLL for (int j = 0; j < V; j++) * (v16 *)(out + j * 16) = s[j] * scale;                 \
    }
SUM_OF(sum_128, 8, 32)
SUM_OF(sum_256, 16, 16)
SUM_OF(sum_48, 3, 32)

/* Loss over the training nodes of logits 48 wide, of which `classes` count; g = its gradient, which
 * is returned summed. */
typedef struct row48 {
    v16 q[3];
} row48;

static UNUSED row48 loss_of(const data *d, const int32_t *train_of, const float *out, float *g,
                            double *loss)
{
    row48 db = {{{0}}};
    float share = 1.0f / (float)d->n_train;
    *loss = 0;
    for (int64_t i = 0; i < d->n_train; i++) {
        const float *x = out + (int64_t)train_of[i] * 48;
        float *to = g + (int64_t)train_of[i] * 48, top = x[0];
        int32_t y = d->y[train_of[i]];
        v16 e[3], all = {0};
        for (int64_t c = 1; c < d->classes; c++) top = x[c] > top ? x[c] : top;
        for (int j = 0; j < 3; j++) e[j] = exp16(*(const v16 *)(x + j * 16) - top);
        for (int64_t c = d->classes; c < 48; c++) e[c / 16][c % 16] = 0;
        for (int j = 0; j < 3; j++) all += e[j];
        float sum = sum8(__builtin_shufflevector(all, all, 0, 1, 2, 3, 4, 5, 6, 7)) +
                    sum8(__builtin_shufflevector(all, all, 8, 9, 10, 11, 12, 13, 14, 15));
        *loss -= (double)(x[y] - top) - (double)logf(sum);
        for (int j = 0; j < 3; j++) *(v16 *)(to + j * 16) = e[j] * (share / sum);
        to[y] -= share;
        for (int j = 0; j < 3; j++) db.q[j] += *(v16 *)(to + j * 16);
    }
    *loss /= (double)d->n_train;
    return db;
}

typedef struct weights { /* one parameter: value, start, moments, gradient */
    float *w, *start, *m, *v, *g;
    int64_t n;
} weights;

static UNUSED weights weights_of(float *start, int64_t n)
{
    weights p = {.start = start, .n = n};
    p.w = room(n * 4), p.m = room(n * 4), p.v = room(n * 4), p.g = room(n * 4);
    return p;
}

static UNUSED void start_again(weights *p)
{
    memcpy(p->w, p->start, (size_t)p->n * 4);
    memset(p->m, 0, (size_t)p->n * 4), memset(p->v, 0, (size_t)p->n * 4);
}

static UNUSED void update(adam a, weights *p)
{
    for (int64_t i = 0; i < p->n; i += 16)
        adam16(a, p->w + i, p->m + i, p->v + i, load16(p->g + i));
}

#endif
