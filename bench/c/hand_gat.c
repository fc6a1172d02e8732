/* A two-layer GAT (8 heads of 8, then one of 7 classes) on a graph of Cora's size, written for
 * exactly that.
 *
 *   hand_gat GRAPH CASE infer|train|train-seen
 *
 * train-seen computes no row that no loss reads. Two things make it fast: the heads are the
 * innermost index, so that a register holds two outputs of all heads and a head's coefficient is
 * where it is needed; and no exponential is taken on an edge, since exp(leaky(s + t)) = max(exp(s)
 * exp(t), exp(0.2 s) exp(0.2 t)), exact while |s| and |t| are below 40. For a single head the sums
 * are taken apart by the sign of s + t, so that an edge is one masked addition. */
#include "hand.h"

enum { HEADS = 8, OUT = 8, H = HEADS * OUT, Q = H / 16, C = 8, CLASSES = 7 };

typedef struct wide {
    v16 q[Q];
} wide; /* [OUT][HEADS] */

static data d;
static rows x_rows, x_cols, fwd1, fwd2, back1, back2;
static float *x_scale;
static float *w1, *as1, *at1, *b1, *w2, *as2, *at2, *b2;
static float *init[8], *m[8], *v[8];
static int64_t sizes[8];
static float **params[8] = {&w1, &as1, &at1, &b1, &w2, &as2, &at2, &b2};

static float *hx, *es1, *et1; /* layer 1: X W [N, H]; exponentials of s, 0.2 s and of t, 0.2 t [N,
                                 16] */
static float *x2, *o1, *q1, *den1, *qd1;  /* its output; for training: before bias and elu, positive
                                             part, [N, 16] */
static float *row2, *h2, *s2, *t2, *out;  /* layer 2: [N, 16], [N, C], [N], [N], [N, C] */
static float *es2, *et2;                  /* [N, 2]: exponentials of s and 0.2 s, of t and 0.2 t */
static float *part2, *inv2;               /* for training: [N, 16], [N] */
static float *gt2, *grow2;                /* gradients: [N] of t2; [N, 16] what neighbours read */
static float *g1, *go1, *gt1, *bt1, *gxw; /* [N, H] of o1, [N, 16] g1 . o1, [N, 16] of t1, [N, 16],
                                             [N, H] of X W */
static int64_t t;
static double loss;
static v16 range;
static int32_t *train_of;

INLINE v16 swap_halves(v16 x)
{
    return __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
}
INLINE v16 twice(v8 x)
{
    return __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
}
INLINE v16 pair(v8 a, v8 b)
{
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
INLINE v8 low(v16 x) { return __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7); }
INLINE v8 high(v16 x) { return __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15); }
INLINE wide wide_at(const float *p)
{
    wide w;
    for (int j = 0; j < Q; j++) w.q[j] = *(const v16 *)(p + j * 16);
    return w;
}
INLINE void wide_to(float *p, wide w)
{
    for (int j = 0; j < Q; j++) *(v16 *)(p + j * 16) = w.q[j];
}
/* The dot product of each head, in both halves. */
INLINE v16 dot_heads(wide a, wide b)
{
    v16 s = (a.q[0] * b.q[0] + a.q[1] * b.q[1]) + (a.q[2] * b.q[2] + a.q[3] * b.q[3]);
    return s + swap_halves(s);
}

INLINE wide sum_rows(const float *from, const int32_t *col, int32_t n)
{
    wide a = {{{0}}}, b = {{{0}}};
    int32_t k = 0;
    for (; k + 2 <= n; k += 2)
        for (int j = 0; j < Q; j++) {
            a.q[j] += *(const v16 *)(from + (int64_t)col[k] * H + j * 16);
            b.q[j] += *(const v16 *)(from + (int64_t)col[k + 1] * H + j * 16);
        }
    for (int j = 0; j < Q; j++) {
        if (k < n) a.q[j] += *(const v16 *)(from + (int64_t)col[k] * H + j * 16);
        a.q[j] += b.q[j];
    }
    return a;
}

static const v16 slopes = {1, 1, 1, 1, 1, 1, 1, 1, .2f, .2f, .2f, .2f, .2f, .2f, .2f, .2f};

/* hx = X W, and the exponentials of both its products with the attention vectors. */
static void features_times_weights(void)
{
    wide as = wide_at(as1), at = wide_at(at1);
    for (int64_t i = 0; i < x_rows.n; i++) {
        int32_t r = x_rows.row[i], p = x_rows.ptr[i];
        wide h = sum_rows(w1, x_rows.col + p, x_rows.ptr[i + 1] - p);
        for (int j = 0; j < Q; j++) h.q[j] *= x_scale[r];
        wide_to(hx + (int64_t)r * H, h);
        v16 s = dot_heads(h, as), u = dot_heads(h, at);
        range = max16(range, max16(ABS(s), ABS(u)));
        *(v16 *)(es1 + (int64_t)r * 16) = exp16(s * slopes);
        *(v16 *)(et1 + (int64_t)r * 16) = exp16(u * slopes);
    }
}

/* One row of layer 1's attention: sums of coefficients times rows and their total. For training
 * also those times the slope of the leaky ReLU: what the gradient of t needs of the edges. */
INLINE void attend(int64_t i, bool keep, wide *o)
{
    int32_t r = fwd1.row[i];
    v16 et = *(v16 *)(et1 + (int64_t)r * 16), den = {0}, qd = {0};
    wide a = {{{0}}}, q = {{{0}}}, bias = wide_at(b1);
    for (int32_t e = fwd1.ptr[i]; e < fwd1.ptr[i + 1]; e++) {
        int64_t u = fwd1.col[e];
        v16 p = *(v16 *)(es1 + u * 16) * et, other = swap_halves(p), w = max16(p, other);
        den += w;
        for (int j = 0; j < Q; j++) a.q[j] = fma16(w, *(v16 *)(hx + u * H + j * 16), a.q[j]);
        if (!keep) continue;
        i16 up = twice(low(p)) >= twice(high(p));
        v16 x = where16(up, w) + where16(~up, w * 0.2f);
        qd += x;
        for (int j = 0; j < Q; j++) q.q[j] = fma16(x, *(v16 *)(hx + u * H + j * 16), q.q[j]);
    }
    v16 inverse = 1.0f / den;
    for (int j = 0; j < Q; j++) a.q[j] *= inverse, q.q[j] *= inverse;
    if (keep) {
        wide_to(o1 + (int64_t)r * H, a), wide_to(q1 + (int64_t)r * H, q);
        *(v16 *)(den1 + (int64_t)r * 16) = inverse, *(v16 *)(qd1 + (int64_t)r * 16) = qd * inverse;
    }
    for (int j = 0; j < Q; j++) { /* elu */
        v16 x = a.q[j] + bias.q[j];
        a.q[j] = max16(x, (v16){0}) + (exp16(MIN(x, (v16){0})) - 1.0f);
    }
    if (keep) wide_to(x2 + (int64_t)r * H, a);
    *o = a;
}

/* Layer 1 and, for eight rows at a time, the product with the second weights. */
static void first_attention(bool keep)
{
    enum { BLOCK = 8 };
    float block[BLOCK][H] __attribute__((aligned(64))) = {{0}};
    v8 as = *(v8 *)as2, at = *(v8 *)at2;
    for (int64_t i0 = 0; i0 < fwd1.n; i0 += BLOCK) {
        int64_t n = fwd1.n - i0 < BLOCK ? fwd1.n - i0 : BLOCK;
        for (int64_t i = 0; i < n; i++) {
            wide o;
            attend(i0 + i, keep, &o);
            wide_to(block[i], o);
        }
        v8 y[BLOCK] = {{0}};
        for (int k = 0; k < H; k++) {
            v8 w = *(v8 *)(w2 + k * C);
            UNROLL for (int q = 0; q < BLOCK; q++) y[q] = FMA(block[q][k] - (v8){0}, w, y[q]);
        }
        for (int64_t q = 0; q < n; q++) {
            int64_t r = fwd1.row[i0 + q];
            s2[r] = sum8(y[q] * as), t2[r] = sum8(y[q] * at);
            *(v8 *)(h2 + r * C) = y[q];
        }
    }
}

/* [16] of two halves, as pairs */
INLINE v16 as_pairs(v16 x)
{
    return __builtin_shufflevector(x, x, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
}

/* What the neighbours of a node read in layer 2: its row times exp(s), and times exp(0.2 s); the
 * last lane is a one. The exponentials are taken of all nodes, eight at a time. */
static void second_rows(void)
{
    const v8 one = {0, 0, 0, 0, 0, 0, 0, 1};
    for (int64_t r = 0; r < d.nodes; r += 8) {
        v8 s = *(v8 *)(s2 + r), u = *(v8 *)(t2 + r);
        store16(es2 + r * 2, as_pairs(exp16(pair(s, s * 0.2f))));
        store16(et2 + r * 2, as_pairs(exp16(pair(u, u * 0.2f))));
    }
    for (int64_t i = 0; i < fwd1.n; i++) {
        int64_t r = fwd1.row[i];
        v8 h = *(v8 *)(h2 + r * C) + one;
        *(v16 *)(row2 + r * 16) = pair(h * es2[r * 2], h * es2[r * 2 + 1]);
    }
}

/* Adds a row's lower half where mine + theirs > 0, else its upper half. */
INLINE v16 sum_by_sign(const float *from, const float *theirs, float mine, const int32_t *col,
                       int32_t n)
{
    const i16 upper = {0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1};
    v16 a = {0}, least = splat16(-mine);
    for (int32_t k = 0; k < n; k++)
        a += where16((splat16(theirs[col[k]]) > least) ^ upper,
                     *(v16 *)(from + (int64_t)col[k] * 16));
    return a;
}

/* For training, also one over the denominators, and twice the sums: as they are, and times the
 * slope of the leaky ReLU, each with the sum of its coefficients in the last lane. */
static void second_attention(bool keep)
{
    v8 bias = *(v8 *)b2;
    for (int64_t i = 0; i < fwd2.n; i++) {
        int32_t r = fwd2.row[i], p = fwd2.ptr[i];
        v16 a = sum_by_sign(row2, s2, t2[r], fwd2.col + p, fwd2.ptr[i + 1] - p);
        v8 x = low(a) * et2[r * 2], y = high(a) * et2[r * 2 + 1];
        float inverse = 1.0f / (x[7] + y[7]);
        *(v8 *)(out + (int64_t)r * C) = (x + y) * inverse + bias;
        if (!keep) continue;
        inv2[r] = inverse;
        *(v16 *)(part2 + (int64_t)r * 16) = pair((x + y) * inverse, (x + y * 0.2f) * inverse);
    }
}

/* Loss and its gradient on the training nodes; there also the gradient of t2, and what their
 * neighbours read. */
static v8 loss_gradient(void)
{
    const i8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
    const v8 no_class = {0, 0, 0, 0, 0, 0, 0, -INFINITY};
    v8 db = {0};
    float share = 1.0f / (float)d.n_train;
    loss = 0;
    for (int64_t i = 0; i < d.n_train; i++) {
        int64_t r = train_of[i];
        int32_t y = d.y[r];
        v8 x = *(v8 *)(out + r * C) + no_class;
        float top = LARGEST(x);
        v8 e = exp8(x - top);
        e -= (v8)((lane == 7) & (i8)e);
        float sum = sum8(e);
        loss -= (double)(out[r * C + y] - top) - (double)logf(sum);
        e = e * (share / sum) - (v8)((lane == y) & (i8)(share - (v8){0}));
        db += e;
        v16 part = *(v16 *)(part2 + r * 16);
        v8 q = high(part);
        float go = sum8(e * low(part));
        gt2[r] = sum8(e * q) - go * q[7];
        e = (e + (v8)((lane == 7) & (i8)(go - (v8){0}))) * inv2[r];
        *(v16 *)(grow2 + r * 16) = pair(e * et2[r * 2], e * et2[r * 2 + 1]);
    }
    loss /= (double)d.n_train;
    return db;
}

typedef struct second_grads {
    float w[H * C];
    v8 s, t;
} second_grads;

/* Layer 2 backwards: gradient of its rows from the neighbours that read them, then of the weights
 * and of x2, of what was before the elu, and what layer 1's neighbours read. */
static wide back_through_second(second_grads *g)
{
    const v8 minus = {0, 0, 0, 0, 0, 0, 0, -1};
    enum { BLOCK = 8 };
    float dh[BLOCK][C] __attribute__((aligned(64))) = {{0}};
    v8 as = *(v8 *)as2, at = *(v8 *)at2;
    wide db = {{{0}}};
    v16 dw[Q][CLASSES] = {{{0}}}, w[Q][CLASSES];
    for (int c = 0; c < CLASSES; c++)
        for (int k = 0; k < H; k++) w[k / 16][c][k % 16] = w2[k * C + c];
    for (int64_t i0 = 0; i0 < back2.n; i0 += BLOCK) {
        int64_t n = back2.n - i0 < BLOCK ? back2.n - i0 : BLOCK;
        for (int64_t i = 0; i < n; i++) {
            int64_t r = back2.row[i0 + i], p = back2.ptr[i0 + i];
            v16 a = sum_by_sign(grow2, t2, s2[r], back2.col + p,
                                (int32_t)(back2.ptr[i0 + i + 1] - p));
            v8 h = *(v8 *)(h2 + r * C), x = low(a) * es2[r * 2], y = high(a) * es2[r * 2 + 1];
            float gs = sum8((x + y * 0.2f) * (h + minus)), gt = gt2[r];
            g->s += h * gs, g->t += h * gt;
            *(v8 *)dh[i] = x + y + as * gs + at * gt;
        }
        for (int j = 0; j < Q; j++) { /* a quarter of a row: 7 registers of weights, 7 of their
                                         gradient */
            v16 dwj[CLASSES], sum = {0};
            for (int c = 0; c < CLASSES; c++) dwj[c] = dw[j][c];
            for (int64_t i = 0; i < n; i++) {
                int64_t at_row = (int64_t)back2.row[i0 + i] * H + j * 16;
                v16 x = *(v16 *)(x2 + at_row), y = {0};
                UNROLL for (int c = 0; c < CLASSES; c++)
                {
                    v16 z = splat16(dh[i][c]);
                    y = fma16(z, w[j][c], y);
                    dwj[c] = fma16(z, x, dwj[c]);
                }
                y *= MIN(x, (v16){0}) + 1.0f;
                sum += y;
                *(v16 *)(g1 + at_row) = y;
            }
            db.q[j] += sum;
            for (int c = 0; c < CLASSES; c++) dw[j][c] = dwj[c];
        }
        for (int64_t i = 0; i < n; i++) {
            int64_t r = back2.row[i0 + i];
            wide y = wide_at(g1 + r * H);
            v16 inverse = *(v16 *)(den1 + r * 16), go = dot_heads(y, wide_at(o1 + r * H));
            *(v16 *)(go1 + r * 16) = go;
            *(v16 *)(bt1 + r * 16) = *(v16 *)(et1 + r * 16) * inverse;
            *(v16 *)(gt1 + r * 16) = dot_heads(y, wide_at(q1 + r * H)) -
                                     go * *(v16 *)(qd1 + r * 16);
        }
    }
    for (int c = 0; c < CLASSES; c++)
        for (int k = 0; k < H; k++) g->w[k * C + c] = dw[k / 16][c][k % 16];
    return db;
}

/* Layer 1 backwards: the gradient of hx by the neighbours that read it and by both attention
 * vectors, times the value of the node's features. */
static void back_through_first(wide *das, wide *dat)
{
    wide as = wide_at(as1), at = wide_at(at1), ds = {{{0}}}, dt = {{{0}}};
    for (int64_t i = 0; i < back1.n; i++) {
        int64_t r = back1.row[i];
        wide h = wide_at(hx + r * H), a = {{{0}}};
        v16 es = *(v16 *)(es1 + r * 16), gs = {0}, gt = *(v16 *)(gt1 + r * 16);
        for (int32_t e = back1.ptr[i]; e < back1.ptr[i + 1]; e++) {
            int64_t u = back1.col[e];
            v16 p = *(v16 *)(bt1 + u * 16) * es, other = swap_halves(p), alpha = max16(p, other);
            i16 up = twice(low(p)) >= twice(high(p));
            wide g = wide_at(g1 + u * H);
            v16 x = (dot_heads(g, h) - *(v16 *)(go1 + u * 16)) * alpha;
            gs += where16(up, x) + where16(~up, x * 0.2f);
            for (int j = 0; j < Q; j++) a.q[j] = fma16(alpha, g.q[j], a.q[j]);
        }
        for (int j = 0; j < Q; j++) {
            ds.q[j] += h.q[j] * gs, dt.q[j] += h.q[j] * gt;
            a.q[j] = (a.q[j] + as.q[j] * gs + at.q[j] * gt) * x_scale[r];
        }
        wide_to(gxw + r * H, a);
    }
    *das = ds, *dat = dt;
}

static void first_weights(adam a)
{
    for (int64_t i = 0; i < x_cols.n; i++) {
        int64_t at = (int64_t)x_cols.row[i] * H;
        int32_t p = x_cols.ptr[i];
        wide g = sum_rows(gxw, x_cols.col + p, x_cols.ptr[i + 1] - p);
        for (int j = 0; j < Q; j++)
            adam16(a, w1 + at + j * 16, m[0] + at + j * 16, v[0] + at + j * 16, g.q[j]);
    }
}

static void check_range(void)
{
    if (LARGEST(range) < 40) return;
    fprintf(stderr, "attention beyond 40: its exponentials cannot be taken apart\n");
    exit(1);
}

static void infer(void)
{
    features_times_weights();
    first_attention(false);
    second_rows();
    second_attention(false);
    check_range();
}

static void update(adam a, int k, const float *g)
{
    for (int64_t i = 0; i < sizes[k]; i += 16)
        adam16(a, *params[k] + i, m[k] + i, v[k] + i, load16(g + i));
}

static void train(void)
{
    second_grads g = {{0}, {0}, {0}};
    wide das, dat, db1;
    float gb2[16] = {0}, gas2[16] = {0}, gat2[16] = {0};
    t++;
    features_times_weights();
    first_attention(true);
    second_rows();
    second_attention(true);
    *(v8u *)gb2 = loss_gradient();
    db1 = back_through_second(&g);
    back_through_first(&das, &dat);
    *(v8u *)gas2 = g.s, *(v8u *)gat2 = g.t;
    adam a = adam_at(t, 0.005, 5e-4);
    first_weights(a);
    update(a, 1, (float *)&das), update(a, 2, (float *)&dat), update(a, 3, (float *)&db1),
        update(a, 4, g.w);
    update(a, 5, gas2), update(a, 6, gat2), update(a, 7, gb2);
    check_range();
}

static void reset(void)
{
    for (int k = 0; k < 8; k++) {
        memcpy(*params[k], init[k], (size_t)sizes[k] * 4);
        memset(m[k], 0, (size_t)sizes[k] * 4), memset(v[k], 0, (size_t)sizes[k] * 4);
    }
    t = 0;
}

/* [HEADS, OUT] of the last index -> [OUT, HEADS] */
static float *heads_inside(float *p, int64_t n)
{
    for (int64_t i = 0; i < n; i += H) {
        float old[H];
        memcpy(old, p + i, sizeof old);
        for (int h = 0; h < HEADS; h++)
            for (int o = 0; o < OUT; o++) p[i + o * HEADS + h] = old[h * OUT + o];
    }
    return p;
}

static void read_features(const uint8_t *seen)
{
    int32_t *ptr, *col, *r = room(d.nnz * 4);
    x_scale = room(d.nodes * 4);
    for (int64_t i = 0; i < d.nodes; i++) {
        for (int32_t e = d.x_ptr[i]; e < d.x_ptr[i + 1]; e++) {
            r[e] = (int32_t)i;
            if (d.x_val[e] != d.x_val[d.x_ptr[i]])
                fprintf(stderr, "a node's features differ in value\n"), exit(3);
        }
        if (d.x_ptr[i] < d.x_ptr[i + 1]) x_scale[i] = d.x_val[d.x_ptr[i]];
    }
    x_rows = rows_of(d.nodes, d.x_ptr, d.x_col, seen, NULL);
    pairs_to_csr(d.features, d.nnz, d.x_col, r, d.nodes, &ptr, &col);
    x_cols = rows_of(d.features, ptr, col, NULL, seen);
    free(ptr), free(col), free(r);
}

static void read_weights(void)
{
    init[0] = heads_inside(parameter(&d, "convs.0.lin.weight", H, d.features, true, H),
                           d.features * H);
    init[1] = heads_inside(parameter(&d, "convs.0.att_src", 1, H, false, H), H);
    init[2] = heads_inside(parameter(&d, "convs.0.att_dst", 1, H, false, H), H);
    init[3] = heads_inside(parameter(&d, "convs.0.bias", 1, H, false, H), H);
    init[4] = parameter(&d, "convs.1.lin.weight", CLASSES, H, true, C);
    init[5] = parameter(&d, "convs.1.att_src", 1, CLASSES, false, 16);
    init[6] = parameter(&d, "convs.1.att_dst", 1, CLASSES, false, 16);
    init[7] = parameter(&d, "convs.1.bias", 1, CLASSES, false, 16);
    float *old = room(H * C * 4);
    memcpy(old, init[4], H * C * 4);
    for (int h = 0; h < HEADS; h++)
        for (int o = 0; o < OUT; o++)
            memcpy(init[4] + (o * HEADS + h) * C, old + (h * OUT + o) * C, C * 4);
    free(old);
    const int64_t n[8] = {d.features * H, H, H, H, H * C, 16, 16, 16};
    for (int k = 0; k < 8; k++) {
        sizes[k] = n[k];
        *params[k] = room(n[k] * 4), m[k] = room(n[k] * 4), v[k] = room(n[k] * 4);
    }
}

static void prepare(bool only_seen)
{
    int32_t *ptr, *col;
    int64_t n = d.nodes;
    graph_with_loops(&d, &ptr, &col);
    must_be_symmetric(n, ptr, col);
    train_of = room(d.n_train * 4);
    for (int64_t i = 0, k = 0; i < n; i++)
        if (d.train[i]) train_of[k++] = (int32_t)i;
    uint8_t *none = NULL, *last = only_seen ? d.train : none;
    uint8_t *middle = only_seen ? readers(n, ptr, col, last) : none,
            *first = only_seen ? readers(n, ptr, col, middle) : none;
    fwd2 = rows_of(n, ptr, col, last, NULL), fwd1 = rows_of(n, ptr, col, middle, NULL);
    back2 = rows_of(n, ptr, col, middle, last), back1 = rows_of(n, ptr, col, first, middle);
    read_features(first);
    read_weights();
    float **wide_ones[] = {&hx, &x2, &o1, &q1, &g1, &gxw},
          **rows16[] = {&es1, &et1, &den1, &qd1, &row2, &part2, &grow2, &go1, &gt1, &bt1};
    float **small[] = {&h2, &out, &s2, &t2, &es2, &et2, &inv2, &gt2};
    for (int k = 0; k < 6; k++) *wide_ones[k] = room(n * H * 4);
    for (int k = 0; k < 10; k++) *rows16[k] = room(n * 64);
    for (int k = 0; k < 8; k++) *small[k] = room((n + 16) * C * 4);
}

int main(int argc, char **argv)
{
    if (argc != 4) return fprintf(stderr, "usage: hand_gat GRAPH CASE infer|train|train-seen\n"), 2;
    d = read_data(argv[1], argv[2]);
    if (!d.x_ptr || d.classes != CLASSES)
        return fprintf(stderr, "for sparse features and 7 classes\n"), 3;
    prepare(!strcmp(argv[3], "train-seen"));
    reset();
    char ready[256];
    if (!strcmp(argv[3], "infer")) {
        infer();
        snprintf(ready, sizeof ready, "\"difference\": %.3g", difference(&d, out, C));
        serve(ready, reset, infer);
        return 0;
    }
    double losses[5];
    for (int k = 0; k < 5; k++) train(), losses[k] = loss;
    snprintf(ready, sizeof ready, "\"losses\": [%.7g, %.7g, %.7g, %.7g, %.7g]", losses[0],
             losses[1], losses[2], losses[3], losses[4]);
    serve(ready, reset, train);
    return 0;
}
