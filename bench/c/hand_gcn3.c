/* A three-layer GCN, 128 -> 256 -> 256 -> 40, on a graph of ogbn-arxiv's size, written for exactly
 * that.
 *
 *   hand_gcn3 GRAPH CASE infer|train|train-seen
 *
 * Blocks of 96 rows go through aggregation, product, bias, ReLU and the next product while they are
 * in L2. Training keeps A X, which depends on nothing that is learnt. train-seen computes no row
 * that no loss reads. */
#include "dense.h"

enum { F = 128, H = 256, C = 48, CLASSES = 40 };

static data d;
static rows layer1, layer2, layer3, back3, back2;
static float *scale, *xs, *ax;         /* 1 / sqrt(degree); x times that [N, F]; A X [N, F] */
static float *h1, *p2, *h2, *q3, *out; /* [N, H] (times scale), [N, H], [N, H], [N, C] (times
                                          scale), [N, C] */
static float *g3;                      /* [N, C] */
static weights w1, w2, w3, b1, b2, b3;
static float *pack1, *pack2, *pack3, *pack2t, *pack3t;
static int32_t *train_of;
static int64_t t;
static double loss;
static bool hoisted;

static float block_a[BLOCK + 8][H] __attribute__((aligned(64))),
    block_b[BLOCK + 8][H] __attribute__((aligned(64)));
static float block_c[BLOCK + 8][C] __attribute__((aligned(64)));

INLINE int64_t length(const rows *r, int64_t i) { return r->ptr[i + 1] - r->ptr[i]; }
INLINE int64_t part(const rows *r, int64_t i0) { return r->n - i0 < BLOCK ? r->n - i0 : BLOCK; }

static void pack_weights(void)
{
    pack(w1.w, F, H, H, false, pack1), pack(w2.w, H, H, H, false, pack2),
        pack(w3.w, H, C, C, false, pack3);
}

/* h1 = scale relu(A X W1 + b1) */
static void first(void)
{
    for (int64_t i0 = 0; i0 < layer1.n; i0 += BLOCK) {
        int64_t n = part(&layer1, i0);
        for (int64_t i = 0; i < n; i++) {
            int32_t r = layer1.row[i0 + i];
            if (hoisted)
                memcpy(block_a[i], ax + (int64_t)r * F, F * 4);
            else
                sum_128(xs, layer1.col + layer1.ptr[i0 + i], length(&layer1, i0 + i), scale[r],
                        block_a[i]);
        }
        multiply(block_a[0], H, n, pack1, F, H, block_b[0], H);
        for (int64_t i = 0; i < n; i++) {
            int32_t r = layer1.row[i0 + i];
            for (int j = 0; j < H; j += 16)
                store16(h1 + (int64_t)r * H + j,
                        max16(load16(block_b[i] + j) + load16(b1.w + j), (v16){0}) * scale[r]);
        }
    }
}

/* p2 = A h1; h2 = relu(p2 W2 + b2); q3 = scale h2 W3 */
static void second(bool keep)
{
    for (int64_t i0 = 0; i0 < layer2.n; i0 += BLOCK) {
        int64_t n = part(&layer2, i0);
        for (int64_t i = 0; i < n; i++) {
            int32_t r = layer2.row[i0 + i];
            sum_256(h1, layer2.col + layer2.ptr[i0 + i], length(&layer2, i0 + i), scale[r],
                    block_a[i]);
            if (keep) memcpy(p2 + (int64_t)r * H, block_a[i], H * 4);
        }
        multiply(block_a[0], H, n, pack2, H, H, block_b[0], H);
        for (int64_t i = 0; i < n; i++)
            for (int j = 0; j < H; j += 16) {
                v16 x = max16(load16(block_b[i] + j) + load16(b2.w + j), (v16){0});
                store16(block_b[i] + j, x);
                if (keep) store16(h2 + (int64_t)layer2.row[i0 + i] * H + j, x);
            }
        multiply(block_b[0], H, n, pack3, H, C, block_c[0], C);
        for (int64_t i = 0; i < n; i++) {
            int32_t r = layer2.row[i0 + i];
            for (int j = 0; j < C; j += 16)
                store16(q3 + (int64_t)r * C + j, load16(block_c[i] + j) * scale[r]);
        }
    }
}

static void third(void)
{
    for (int64_t i = 0; i < layer3.n; i++) {
        int32_t r = layer3.row[i];
        float *o = out + (int64_t)r * C;
        sum_48(q3, layer3.col + layer3.ptr[i], length(&layer3, i), scale[r], o);
        for (int j = 0; j < C; j += 16) store16(o + j, load16(o + j) + load16(b3.w + j));
    }
}

/* dq3 = A g3; dW3 = h2' dq3; dz2 = dq3 W3' where h2 > 0; dW2 = p2' dz2; p2 becomes the gradient of
 * what it was, times scale */
static void back_second(void)
{
    pack(w3.w, C, H, C, true, pack3t), pack(w2.w, H, H, H, true, pack2t);
    for (int64_t i0 = 0; i0 < back3.n; i0 += BLOCK) {
        int64_t n = part(&back3, i0);
        for (int64_t i = 0; i < n; i++)
            sum_48(g3, back3.col + back3.ptr[i0 + i], length(&back3, i0 + i),
                   scale[back3.row[i0 + i]], block_c[i]);
        for (int64_t i = 0; i < n; i++)
            memcpy(block_a[i], h2 + (int64_t)back3.row[i0 + i] * H, H * 4);
        multiply_transposed(block_a[0], H, H, block_c[0], C, C, n, w3.g);
        multiply(block_c[0], C, n, pack3t, C, H, block_b[0], H);
        for (int64_t i = 0; i < n; i++)
            for (int j = 0; j < H; j += 16) {
                v16 x = where16(load16(block_a[i] + j) > 0, load16(block_b[i] + j));
                store16(block_b[i] + j, x), store16(b2.g + j, load16(b2.g + j) + x);
            }
        for (int64_t i = 0; i < n; i++)
            memcpy(block_a[i], p2 + (int64_t)back3.row[i0 + i] * H, H * 4);
        multiply_transposed(block_a[0], H, H, block_b[0], H, H, n, w2.g);
        multiply(block_b[0], H, n, pack2t, H, H, block_a[0], H);
        for (int64_t i = 0; i < n; i++) {
            int32_t r = back3.row[i0 + i];
            for (int j = 0; j < H; j += 16)
                store16(p2 + (int64_t)r * H + j, load16(block_a[i] + j) * scale[r]);
        }
    }
}

/* dz1 = A dp2 where h1 > 0; dW1 = (A X)' dz1 */
static void back_first(void)
{
    for (int64_t i0 = 0; i0 < back2.n; i0 += BLOCK) {
        int64_t n = part(&back2, i0);
        for (int64_t i = 0; i < n; i++) {
            int32_t r = back2.row[i0 + i];
            sum_256(p2, back2.col + back2.ptr[i0 + i], length(&back2, i0 + i), scale[r],
                    block_b[i]);
            for (int j = 0; j < H; j += 16) {
                v16 x = where16(load16(h1 + (int64_t)r * H + j) > 0, load16(block_b[i] + j));
                store16(block_b[i] + j, x), store16(b1.g + j, load16(b1.g + j) + x);
            }
            memcpy(block_a[i], ax + (int64_t)r * F, F * 4);
        }
        multiply_transposed(block_a[0], H, F, block_b[0], H, H, n, w1.g);
    }
}

static void infer(void)
{
    pack_weights();
    first();
    second(false);
    third();
}

static weights *const all[] = {&w1, &b1, &w2, &b2, &w3, &b3};

static void train(void)
{
    t++;
    pack_weights();
    first();
    second(true);
    third();
    for (int k = 0; k < 6; k++) memset(all[k]->g, 0, (size_t)all[k]->n * 4);
    row48 db = loss_of(&d, train_of, out, g3, &loss);
    memcpy(b3.g, &db, sizeof db);
    for (int64_t i = 0; i < d.n_train; i++)
        for (int j = 0; j < C; j++) g3[(int64_t)train_of[i] * C + j] *= scale[train_of[i]];
    back_second();
    back_first();
    for (int k = 0; k < 6; k++) update(adam_at(t, 0.01, k < 2 ? 5e-4 : 0), all[k]);
}

static void reset(void)
{
    for (int k = 0; k < 6; k++) start_again(all[k]);
    t = 0;
}

static void prepare(bool training, bool only_seen)
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
            *first_ones = only_seen ? readers(n, ptr, col, middle) : none;
    layer3 = in_order(n, ptr, col, last, NULL), layer2 = in_order(n, ptr, col, middle, NULL);
    layer1 = in_order(n, ptr, col, first_ones, NULL);
    back3 = in_order(n, ptr, col, middle, last), back2 = in_order(n, ptr, col, first_ones, middle);
    xs = room(n * F * 4);
    for (int64_t i = 0; i < n; i++)
        for (int j = 0; j < F; j++) xs[i * F + j] = d.x[i * F + j] * scale[i];
    h1 = room(n * H * 4), q3 = room(n * C * 4), out = room(n * C * 4);
    if (training) {
        ax = room(n * F * 4), p2 = room(n * H * 4), h2 = room(n * H * 4), g3 = room(n * C * 4);
        for (int64_t i = 0; i < layer1.n; i++)
            sum_128(xs, layer1.col + layer1.ptr[i], length(&layer1, i), scale[layer1.row[i]],
                    ax + (int64_t)layer1.row[i] * F);
        free(xs);
    }
    free(ptr), free(col), free(d.x);
    hoisted = training;
    w1 = weights_of(parameter(&d, "convs.0.lin.weight", H, F, true, H), F * H);
    b1 = weights_of(parameter(&d, "convs.0.bias", 1, H, false, H), H);
    w2 = weights_of(parameter(&d, "convs.1.lin.weight", H, H, true, H), H * H);
    b2 = weights_of(parameter(&d, "convs.1.bias", 1, H, false, H), H);
    w3 = weights_of(parameter(&d, "convs.2.lin.weight", CLASSES, H, true, C), H * C);
    b3 = weights_of(parameter(&d, "convs.2.bias", 1, CLASSES, false, C), C);
    pack1 = room(F * H * 4), pack2 = room(H * H * 4), pack3 = room(H * PANEL * 4);
    pack2t = room(H * H * 4), pack3t = room(C * H * 4);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return fprintf(stderr, "usage: hand_gcn3 GRAPH CASE infer|train|train-seen\n"), 2;
    d = read_data(argv[1], argv[2]);
    if (!d.x || d.classes != CLASSES || d.features != F)
        return fprintf(stderr, "for 128 dense features, 40 classes\n"), 3;
    prepare(argv[3][0] == 't', !strcmp(argv[3], "train-seen"));
    reset();
    char ready[256];
    if (argv[3][0] == 'i') {
        infer();
        snprintf(ready, sizeof ready, "\"difference\": %.3g", difference(&d, out, C));
        serve(ready, reset, infer);
        return 0;
    }
    train();
    double before = loss;
    train();
    snprintf(ready, sizeof ready, "\"losses\": [%.7g, %.7g]", before, loss);
    serve(ready, reset, train);
    return 0;
}
