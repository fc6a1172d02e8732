/* A two-layer GCN (16 hidden, 7 classes) on a graph of Cora's size, written for exactly that:
 * features as rows of non-zeros with one value a row, everything between two aggregations fused.
 *
 *   hand_gcn GRAPH CASE infer|train|train-seen
 *
 * train-seen computes no row that no loss reads. What each loop does for its speed is in
 * bench/README.md. */
#include "hand.h"

enum { H = 16, C = 8, CLASSES = 7 }; /* a row of classes is half a register */

static data d;
static rows x_rows, x_cols;      /* features: by node, by feature */
static rows agg2, agg1;          /* forward: second and first aggregation */
static rows back2, back1;        /* backward */
static float *scale, *x_scale;   /* 1 / sqrt(degree); a node's feature value times that */
static float *w1, *w2, *b1, *b2; /* [F, H], [H, C], [H], [C] */
static float *init[4], *m[4], *v[4];
static float *xw, *h1, *h2, *out; /* [N, H], [N, H], [N, C], [N, C] */
static float *g2, *gz;            /* gradients: [N, C], [N, H] */
static float *gxw;                /* [N, H] */
static int64_t t;
static double loss;
static int32_t *train_of; /* [N] */

/* Sum of rows of `from`, H wide. Four chains: an addition takes three or four cycles. */
INLINE v16 sum_rows(const float *from, const int32_t *col, int32_t n)
{
    v16 a = {0}, b = {0}, c = {0}, e = {0};
    int32_t k = 0;
    for (; k + 4 <= n; k += 4) {
        a += load16(from + (int64_t)col[k] * H);
        b += load16(from + (int64_t)col[k + 1] * H);
        c += load16(from + (int64_t)col[k + 2] * H);
        e += load16(from + (int64_t)col[k + 3] * H);
    }
    for (; k < n; k++) a += load16(from + (int64_t)col[k] * H);
    return (a + b) + (c + e);
}

INLINE v8 sum_half_rows(const float *from, const int32_t *col, int32_t n)
{
    v8 a = {0}, b = {0};
    int32_t k = 0;
    for (; k + 2 <= n; k += 2) {
        a += *(const v8 *)(from + (int64_t)col[k] * C);
        b += *(const v8 *)(from + (int64_t)col[k + 1] * C);
    }
    if (k < n) a += *(const v8 *)(from + (int64_t)col[k] * C);
    return a + b;
}

/* xw = diag(scale) X W, a node's entries share their value. */
static void features_times_weights(void)
{
    for (int64_t i = 0; i < x_rows.n; i++) {
        int32_t r = x_rows.row[i], p = x_rows.ptr[i];
        store16(xw + (int64_t)r * H,
                sum_rows(w1, x_rows.col + p, x_rows.ptr[i + 1] - p) * x_scale[r]);
    }
}

/* h1 = relu(diag(scale) A xw + b1); h2 = diag(scale) h1 W2: 16 rows are aggregated, then
 * multiplied, 8 at a time, with W2 in registers. A row alone would wait for its own 16 steps. */
static void first_aggregation(bool keep)
{
    enum { BLOCK = 16 };
    float block[BLOCK][H] __attribute__((aligned(64))) = {{0}};
    v8 w[H];
    v16 bias = load16(b1);
    for (int k = 0; k < H; k++) w[k] = *(v8 *)(w2 + k * C);
    for (int64_t i0 = 0; i0 < agg1.n; i0 += BLOCK) {
        int64_t n = agg1.n - i0 < BLOCK ? agg1.n - i0 : BLOCK;
        for (int64_t i = 0; i < n; i++) {
            int32_t r = agg1.row[i0 + i], p = agg1.ptr[i0 + i];
            v16 h = max16(sum_rows(xw, agg1.col + p, agg1.ptr[i0 + i + 1] - p) * scale[r] + bias,
                          (v16){0});
            if (keep) store16(h1 + (int64_t)r * H, h);
            store16(block[i], h * scale[r]);
        }
        for (int64_t i = 0; i < n; i += 8) {
            v8 s[8] = {{0}};
            UNROLL for (int k = 0; k < H; k++) UNROLL for (int q = 0; q < 8; q++)
                s[q] = FMA(block[i + q][k] - (v8){0}, w[k], s[q]);
            for (int64_t q = 0; q < 8 && i + q < n; q++)
                *(v8 *)(h2 + (int64_t)agg1.row[i0 + i + q] * C) = s[q];
        }
    }
}

static void second_aggregation(void)
{
    v8 bias = *(v8 *)b2;
    for (int64_t i = 0; i < agg2.n; i++) {
        int32_t r = agg2.row[i], p = agg2.ptr[i];
        *(v8 *)(out + (int64_t)r * C) = sum_half_rows(h2, agg2.col + p, agg2.ptr[i + 1] - p) *
                                            scale[r] +
                                        bias;
    }
}

/* Loss over the training nodes and its gradient, times scale; db2. The other rows of g2 stay 0. */
static v8 loss_gradient(void)
{
    v8 db = {0};
    const i8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
    v8 no_class = (v8)((lane >= (int32_t)d.classes) & (i8)(-INFINITY - (v8){0}));
    float share = 1.0f / (float)d.n_train;
    loss = 0;
    for (int64_t i = 0; i < d.n_train; i++) {
        int32_t r = train_of[i], y = d.y[r];
        v8 x = *(v8 *)(out + (int64_t)r * C) + no_class, e;
        float top = LARGEST(x);
        e = exp8(x - top);
        float sum = sum8(e);
        loss -= (double)(out[(int64_t)r * C + y] - top) - (double)logf(sum);
        e = e * (share / sum) - (v8)((lane == y) & (i8)(share - (v8){0}));
        db += e;
        *(v8 *)(g2 + (int64_t)r * C) = e * scale[r];
    }
    loss /= (double)d.n_train;
    return db;
}

/* g = diag(scale) A g2; dW2 = h1' g; gz = (g W2') where h1 > 0, times scale. In blocks, as
 * above. */
static v16 back_through_second(v16 dw[C])
{
    enum { BLOCK = 16 };
    float g[BLOCK][C] __attribute__((aligned(64)));
    v16 w[C], db = {0};
    for (int c = 0; c < C; c++) {
        dw[c] = (v16){0};
        for (int k = 0; k < H; k++) w[c][k] = w2[k * C + c];
    }
    for (int64_t i0 = 0; i0 < back2.n; i0 += BLOCK) {
        int64_t n = back2.n - i0 < BLOCK ? back2.n - i0 : BLOCK;
        for (int64_t i = 0; i < n; i++) {
            int32_t p = back2.ptr[i0 + i];
            *(v8 *)g[i] = sum_half_rows(g2, back2.col + p, back2.ptr[i0 + i + 1] - p) *
                          scale[back2.row[i0 + i]];
        }
        for (int64_t i = 0; i < n; i++) {
            int32_t r = back2.row[i0 + i];
            v16 h = load16(h1 + (int64_t)r * H), a[2] = {{0}};
            UNROLL for (int c = 0; c < CLASSES; c++)
            {
                v16 x = splat16(g[i][c]);
                dw[c] = fma16(x, h, dw[c]);
                a[c % 2] = fma16(x, w[c], a[c % 2]);
            }
            a[0] = where16(h > 0, a[0] + a[1]);
            db += a[0];
            store16(gz + (int64_t)r * H, a[0] * scale[r]);
        }
    }
    return db;
}

/* gxw = x_scale A gz: what the gradient of each of the node's features is */
static void back_through_first(void)
{
    for (int64_t i = 0; i < back1.n; i++) {
        int32_t r = back1.row[i], p = back1.ptr[i];
        store16(gxw + (int64_t)r * H,
                sum_rows(gz, back1.col + p, back1.ptr[i + 1] - p) * x_scale[r]);
    }
}

/* dW1 = X' gxw, a row of it at a time, and Adam with it. */
static void first_weights(adam a)
{
    for (int64_t i = 0; i < x_cols.n; i++) {
        int32_t f = x_cols.row[i], p = x_cols.ptr[i];
        int64_t at = (int64_t)f * H;
        adam16(a, w1 + at, m[0] + at, v[0] + at,
               sum_rows(gxw, x_cols.col + p, x_cols.ptr[i + 1] - p));
    }
}

static void infer(void)
{
    features_times_weights();
    first_aggregation(false);
    second_aggregation();
}

static void train(void)
{
    v16 dw[C], db1;
    float dw2[H * C], db2[16] = {0};
    t++;
    features_times_weights();
    first_aggregation(true);
    second_aggregation();
    *(v8u *)db2 = loss_gradient();
    db1 = back_through_second(dw);
    back_through_first();
    adam first = adam_at(t, 0.01, 5e-4), rest = adam_at(t, 0.01, 0);
    first_weights(first);
    adam16(first, b1, m[1], v[1], db1);
    for (int k = 0; k < H; k++)
        for (int c = 0; c < C; c++) dw2[k * C + c] = dw[c][k];
    for (int k = 0; k < H * C; k += 16) adam16(rest, w2 + k, m[2] + k, v[2] + k, load16(dw2 + k));
    adam16(rest, b2, m[3], v[3], load16(db2));
}

static int64_t sizes[4];
static float **params[4] = {&w1, &b1, &w2, &b2};

static void reset(void)
{
    for (int k = 0; k < 4; k++) {
        memcpy(*params[k], init[k], (size_t)sizes[k] * 4);
        memset(m[k], 0, (size_t)sizes[k] * 4), memset(v[k], 0, (size_t)sizes[k] * 4);
    }
    t = 0;
}

/* Features whose values are the same in a row: that value goes with the node. */
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
        if (d.x_ptr[i] < d.x_ptr[i + 1]) x_scale[i] = d.x_val[d.x_ptr[i]] * scale[i];
    }
    x_rows = rows_of(d.nodes, d.x_ptr, d.x_col, seen, NULL);
    pairs_to_csr(d.features, d.nnz, d.x_col, r, d.nodes, &ptr, &col);
    x_cols = rows_of(d.features, ptr, col, NULL, seen);
    free(ptr), free(col), free(r);
}

static void prepare(bool only_seen)
{
    int32_t *ptr, *col;
    int64_t n = d.nodes;
    graph_with_loops(&d, &ptr, &col);
    must_be_symmetric(n, ptr, col);
    scale = room(n * 4), train_of = room(d.n_train * 4);
    for (int64_t i = 0, k = 0; i < n; i++) {
        scale[i] = 1 / sqrtf((float)(ptr[i + 1] - ptr[i]));
        if (d.train[i]) train_of[k++] = (int32_t)i;
    }
    uint8_t *none = NULL, *last = only_seen ? d.train : none;
    uint8_t *middle = only_seen ? readers(n, ptr, col, last) : none,
            *first = only_seen ? readers(n, ptr, col, middle) : none;
    agg2 = rows_of(n, ptr, col, last, NULL), agg1 = rows_of(n, ptr, col, middle, NULL);
    back2 = rows_of(n, ptr, col, middle, last), back1 = rows_of(n, ptr, col, first, middle);
    read_features(first);
    xw = room(n * H * 4), h1 = room(n * H * 4), h2 = room(n * C * 4), out = room(n * C * 4);
    g2 = room(n * C * 4), gz = room(n * H * 4), gxw = room(n * H * 4);
    init[0] = parameter(&d, "convs.0.lin.weight", H, d.features, true, H);
    init[1] = parameter(&d, "convs.0.bias", 1, H, false, H);
    init[2] = parameter(&d, "convs.1.lin.weight", d.classes, H, true, C);
    init[3] = parameter(&d, "convs.1.bias", 1, d.classes, false, 16);
    sizes[0] = d.features * H, sizes[1] = H, sizes[2] = H * C, sizes[3] = 16;
    for (int k = 0; k < 4; k++)
        *params[k] = room(sizes[k] * 4), m[k] = room(sizes[k] * 4), v[k] = room(sizes[k] * 4);
}

int main(int argc, char **argv)
{
    if (argc != 4) return fprintf(stderr, "usage: hand_gcn GRAPH CASE infer|train|train-seen\n"), 2;
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
