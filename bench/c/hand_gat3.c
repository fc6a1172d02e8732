/* A three-layer GAT, 128 -> 8 x 32 -> 8 x 32 -> 40, on a graph of ogbn-arxiv's size, written for
 * exactly that.
 *
 *   hand_gat3 GRAPH CASE infer|train|train-seen
 *
 * Heads are the innermost index, exponentials are per node (see hand_gat.c), and blocks of 96 rows
 * go through attention, ELU and the next product while they are in L2. Training keeps the sums
 * times the leaky ReLU's slope too, so that the gradient of the destinations' terms needs no pass
 * over the edges. */
#include "dense.h"

enum {
    HEADS = 8,
    OUT = 32,
    H = HEADS * OUT,
    Q = H / 16,
    F = 128,
    C = 48,
    CLASSES = 40,
    AHEAD = 12
};

typedef struct layer { /* of 8 heads */
    int64_t inputs;
    weights w, as, at, b;
    float *packed, *packed_t;
    float *h, *es, *et;          /* [N, H]; exponentials of s and 0.2 s, of t and 0.2 t [N, 16] */
    float *o, *q, *inverse, *qd; /* sums and those times the slope, over the denominators; 1 /
                                    denominators, [N, 16] */
    float *g, *bt, *go, *gt; /* gradient of o [N, H]; et over denominators, g . o, gradient of t [N,
                                16] */
} layer;

static data d;
static layer one, two;
static weights w3, as3, at3, b3;
static float *pack3, *pack3t;
static float *h3, *s3, *t3, *out; /* [N, C], [N], [N], [N, C] */
static float *e3, *f3;            /* [N, 2]: exponentials of s and 0.2 s, of t and 0.2 t */
static float *a3, *inv3, *qd3; /* training: sums times the slope over denominators [N, C]; [N]; [N]
                                */
static float *g3, *go3, *gt3;  /* [N, C], [N], [N] */
static rows fwd1, fwd2, fwd3, back3, back2, back1;
static int32_t *train_of;
static int64_t t;
static double loss;
static v16 range;
static const v16 slopes = {1, 1, 1, 1, 1, 1, 1, 1, .2f, .2f, .2f, .2f, .2f, .2f, .2f, .2f};

static float in_block[BLOCK + 8][H] __attribute__((aligned(64))),
    out_block[BLOCK + 8][H] __attribute__((aligned(64)));
static float small_block[BLOCK + 8][C] __attribute__((aligned(64)));

INLINE v16 swap_halves(v16 x)
{
    return __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
}
INLINE v16 low_twice(v16 x)
{
    return __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
}
INLINE v16 high_twice(v16 x)
{
    return __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14,
                                   15);
}
INLINE int64_t part(const rows *r, int64_t i0) { return r->n - i0 < BLOCK ? r->n - i0 : BLOCK; }

/* The dot product of each head, in both halves. */
INLINE v16 dot_heads(const float *a, const float *b)
{
    v16 s = {0}, u = {0};
    for (int j = 0; j < H; j += 32)
        s += load16(a + j) * load16(b + j), u += load16(a + j + 16) * load16(b + j + 16);
    s += u;
    return s + swap_halves(s);
}

/* Rows of h from rows of x (a block of them), with the exponentials of their terms. */
static void project(layer *l, const float *x, int64_t ldx, const int32_t *row, int64_t n)
{
    multiply(x, ldx, n, l->packed, l->inputs, H, out_block[0], H);
    for (int64_t i = 0; i < n; i++) {
        int64_t r = row[i];
        memcpy(l->h + r * H, out_block[i], H * 4);
        v16 s = dot_heads(out_block[i], l->as.w), u = dot_heads(out_block[i], l->at.w);
        range = max16(range, max16(ABS(s), ABS(u)));
        *(v16 *)(l->es + r * 16) = exp16(s * slopes), *(v16 *)(l->et + r * 16) = exp16(u * slopes);
    }
}

INLINE v16 elu16(v16 x) { return max16(x, (v16){0}) + (exp16(MIN(x, (v16){0})) - 1.0f); }

/* A row of attention; what it gives after bias and ELU goes to y. With `keep`, what the gradient
 * needs is stored. */
INLINE void attend(layer *l, const rows *g, int64_t i, bool keep, float *y)
{
    int64_t r = g->row[i];
    v16 et = *(v16 *)(l->et + r * 16), den = {0}, qd = {0}, a[Q], q[Q];
    UNROLL for (int j = 0; j < Q; j++) a[j] = q[j] = (v16){0};
    for (int32_t e = g->ptr[i]; e < g->ptr[i + 1]; e++) {
        int64_t u = g->col[e];
        const float *h = l->h + u * H;
        fetch_row(l->h, g->col[e + AHEAD], H);
        __builtin_prefetch(l->es + (int64_t)g->col[e + AHEAD] * 16, 0, 2);
        v16 p = *(v16 *)(l->es + u * 16) * et, w = max16(p, swap_halves(p));
        den += w;
        UNROLL for (int j = 0; j < Q; j++) a[j] = fma16(w, *(const v16 *)(h + j * 16), a[j]);
        if (!keep) continue;
        /* sums where the slope is 1; the others follow */
        v16 up = where16(low_twice(p) >= high_twice(p), w);
        qd += up;
        UNROLL for (int j = 0; j < Q; j++) q[j] = fma16(up, *(const v16 *)(h + j * 16), q[j]);
    }
    v16 inverse = 1.0f / den;
    if (keep)
        *(v16 *)(l->inverse + r * 16) = inverse,
                                  *(v16 *)(l->qd + r * 16) = (den * 0.2f + qd * 0.8f) * inverse;
    UNROLL for (int j = 0; j < Q; j++)
    {
        v16 o = a[j] * inverse;
        if (keep) {
            *(v16 *)(l->o + r * H + j * 16) = o;
            *(v16 *)(l->q + r * H + j * 16) = o * 0.2f + q[j] * inverse * 0.8f;
        }
        *(v16 *)(y + j * 16) = elu16(o + load16(l->b.w + j * 16));
    }
}

static void first_projection(void)
{
    for (int64_t i0 = 0; i0 < fwd1.n; i0 += BLOCK) { /* fwd1: rows that the first attention reads */
        int64_t n = part(&fwd1, i0);
        for (int64_t i = 0; i < n; i++)
            memcpy(in_block[i], d.x + (int64_t)fwd1.row[i0 + i] * F, F * 4);
        project(&one, in_block[0], H, fwd1.row + i0, n);
    }
}

/* Attention of layer l over the rows of g, then the projection of the next, which is `two` or the
 * last. */
static void attention(layer *l, const rows *g, layer *next, bool keep)
{
    for (int64_t i0 = 0; i0 < g->n; i0 += BLOCK) {
        int64_t n = part(g, i0);
        for (int64_t i = 0; i < n; i++) attend(l, g, i0 + i, keep, in_block[i]);
        if (next) {
            project(next, in_block[0], H, g->row + i0, n);
            continue;
        }
        multiply(in_block[0], H, n, pack3, H, C, small_block[0], C);
        for (int64_t i = 0; i < n; i++) {
            int64_t r = g->row[i0 + i];
            v16 s = {0}, u = {0};
            for (int j = 0; j < C; j += 16) {
                v16 x = load16(small_block[i] + j);
                store16(h3 + r * C + j, x);
                s += x * load16(as3.w + j), u += x * load16(at3.w + j);
            }
            s3[r] = sum8(__builtin_shufflevector(s, s, 0, 1, 2, 3, 4, 5, 6, 7)) +
                    sum8(__builtin_shufflevector(s, s, 8, 9, 10, 11, 12, 13, 14, 15));
            t3[r] = sum8(__builtin_shufflevector(u, u, 0, 1, 2, 3, 4, 5, 6, 7)) +
                    sum8(__builtin_shufflevector(u, u, 8, 9, 10, 11, 12, 13, 14, 15));
        }
    }
}

/* Exponentials of layer 3's terms, of all nodes: eight at a time, pairs side by side. */
static void exponentials(void)
{
    const v16 low_slope = slopes;
    for (int64_t r = 0; r < d.nodes; r += 8) {
        v8 s = *(v8u *)(s3 + r), u = *(v8u *)(t3 + r);
        v16 a = exp16(
            __builtin_shufflevector(s, s, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7) *
            low_slope);
        v16 b = exp16(
            __builtin_shufflevector(u, u, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7) *
            low_slope);
        store16(e3 + r * 2, __builtin_shufflevector(a, a, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6,
                                                    14, 7, 15));
        store16(f3 + r * 2, __builtin_shufflevector(b, b, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6,
                                                    14, 7, 15));
    }
}

static void last_attention(bool keep)
{
    for (int64_t i = 0; i < fwd3.n; i++) {
        int64_t r = fwd3.row[i];
        float f = f3[r * 2], g = f3[r * 2 + 1], den = 0, qd = 0;
        v16 a[3] = {{0}}, q[3] = {{0}};
        for (int32_t e = fwd3.ptr[i]; e < fwd3.ptr[i + 1]; e++) {
            int64_t u = fwd3.col[e];
            fetch_row(h3, fwd3.col[e + 2 * AHEAD], C);
            __builtin_prefetch(e3 + (int64_t)fwd3.col[e + 2 * AHEAD] * 2, 0, 2);
            float x = e3[u * 2] * f, y = e3[u * 2 + 1] * g, w = x > y ? x : y, up = x >= y ? x : 0;
            den += w, qd += up;
            UNROLL for (int j = 0; j < 3; j++)
                a[j] = fma16(splat16(w), *(v16 *)(h3 + u * C + j * 16), a[j]);
            if (!keep) continue;
            UNROLL for (int j = 0; j < 3; j++)
                q[j] = fma16(splat16(up), *(v16 *)(h3 + u * C + j * 16), q[j]);
        }
        float inverse = 1 / den;
        UNROLL for (int j = 0; j < 3; j++)
        {
            v16 o = a[j] * inverse;
            *(v16 *)(out + r * C + j * 16) = o + load16(b3.w + j * 16);
            if (keep) *(v16 *)(a3 + r * C + j * 16) = o * 0.2f + q[j] * (inverse * 0.8f);
        }
        if (keep) inv3[r] = inverse, qd3[r] = (den * 0.2f + qd * 0.8f) * inverse;
    }
}

INLINE float dot48(const float *a, const float *b)
{
    v16 s = load16(a) * load16(b) + load16(a + 16) * load16(b + 16) +
            load16(a + 32) * load16(b + 32);
    return sum8(__builtin_shufflevector(s, s, 0, 1, 2, 3, 4, 5, 6, 7)) +
           sum8(__builtin_shufflevector(s, s, 8, 9, 10, 11, 12, 13, 14, 15));
}

/* What the gradient of layer 3 needs of the training nodes alone. */
static void last_terms(void)
{
    for (int64_t i = 0; i < d.n_train; i++) {
        int64_t r = train_of[i];
        float o[C], *g = g3 + r * C;
        for (int c = 0; c < C; c++) o[c] = out[r * C + c] - b3.w[c];
        go3[r] = dot48(g, o);
        gt3[r] = dot48(g, a3 + r * C) - go3[r] * qd3[r];
    }
}

static void add_to(float *sum, const float *x, int64_t n, float times)
{
    for (int64_t j = 0; j < n; j += 16) store16(sum + j, load16(sum + j) + load16(x + j) * times);
}

/* A row of what a layer gave, again: cheaper than to have stored it. */
INLINE void output(const layer *l, int64_t r, float *y)
{
    for (int j = 0; j < H; j += 16)
        store16(y + j, elu16(load16(l->o + r * H + j) + load16(l->b.w + j)));
}

/* A gradient of what a layer's rows gave (in `out_block`) through its ELU: what its neighbours read
 * in the way back. */
static void through_elu(layer *l, const int32_t *row, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t r = row[i];
        float *g = l->g + r * H;
        for (int j = 0; j < H; j += 16) {
            v16 o = load16(l->o + r * H + j) + load16(l->b.w + j);
            v16 x = load16(out_block[i] + j) * exp16(MIN(o, (v16){0}));
            *(v16 *)(g + j) = x;
            store16(l->b.g + j, load16(l->b.g + j) + x);
        }
        v16 go = dot_heads(g, l->o + r * H);
        *(v16 *)(l->go + r * 16) = go;
        *(v16 *)(l->bt + r * 16) = *(v16 *)(l->et + r * 16) * *(v16 *)(l->inverse + r * 16);
        *(v16 *)(l->gt + r * 16) = dot_heads(g, l->q + r * H) - go * *(v16 *)(l->qd + r * 16);
    }
}

static void back_last(void)
{
    for (int64_t i0 = 0; i0 < back3.n; i0 += BLOCK) {
        int64_t n = part(&back3, i0);
        for (int64_t i = 0; i < n; i++) {
            int64_t r = back3.row[i0 + i];
            v16 a[3] = {{0}};
            float gs = 0, s = e3[r * 2], s2 = e3[r * 2 + 1], *h = h3 + r * C, gt = gt3[r];
            for (int32_t e = back3.ptr[i0 + i]; e < back3.ptr[i0 + i + 1]; e++) {
                int64_t u = back3.col[e];
                fetch_row(g3, back3.col[e + 2 * AHEAD], C);
                float x = s * f3[u * 2], y = s2 * f3[u * 2 + 1], alpha = (x > y ? x : y) * inv3[u];
                float z = alpha * (dot48(g3 + u * C, h) - go3[u]);
                gs += x >= y ? z : 0.2f * z;
                UNROLL for (int j = 0; j < 3; j++)
                    a[j] = fma16(splat16(alpha), *(v16 *)(g3 + u * C + j * 16), a[j]);
            }
            for (int j = 0; j < 3; j++)
                store16(small_block[i] + j * 16,
                        a[j] + load16(as3.w + j * 16) * gs + load16(at3.w + j * 16) * gt);
            add_to(as3.g, h, C, gs), add_to(at3.g, h, C, gt);
            output(&two, r, in_block[i]);
        }
        multiply_transposed(in_block[0], H, H, small_block[0], C, C, n, w3.g);
        multiply(small_block[0], C, n, pack3t, C, H, out_block[0], H);
        through_elu(&two, back3.row + i0, n);
    }
}

/* Gradient of a layer's h over the rows of g, from the neighbours that read them; then of its
 * weights, and of what it read. */
static void back_attention(layer *l, const rows *g, layer *below)
{
    for (int64_t i0 = 0; i0 < g->n; i0 += BLOCK) {
        int64_t n = part(g, i0);
        for (int64_t i = 0; i < n; i++) {
            int64_t r = g->row[i0 + i];
            const float *h = l->h + r * H;
            v16 es = *(v16 *)(l->es + r * 16), gs = {0}, gt = *(v16 *)(l->gt + r * 16), a[Q];
            UNROLL for (int j = 0; j < Q; j++) a[j] = (v16){0};
            for (int32_t e = g->ptr[i0 + i]; e < g->ptr[i0 + i + 1]; e++) {
                int64_t u = g->col[e];
                fetch_row(l->g, g->col[e + AHEAD], H);
                __builtin_prefetch(l->bt + (int64_t)g->col[e + AHEAD] * 16, 0, 2);
                __builtin_prefetch(l->go + (int64_t)g->col[e + AHEAD] * 16, 0, 2);
                v16 p = *(v16 *)(l->bt + u * 16) * es, alpha = max16(p, swap_halves(p)), s = {0},
                    s2 = {0};
                UNROLL for (int j = 0; j < Q; j += 2)
                {
                    v16 x = *(v16 *)(l->g + u * H + j * 16),
                        y = *(v16 *)(l->g + u * H + j * 16 + 16);
                    a[j] = fma16(alpha, x, a[j]), a[j + 1] = fma16(alpha, y, a[j + 1]);
                    s = fma16(x, load16(h + j * 16), s), s2 = fma16(y, load16(h + j * 16 + 16), s2);
                }
                s += s2;
                s = (s + swap_halves(s) - *(v16 *)(l->go + u * 16)) * alpha;
                v16 up = where16(low_twice(p) >= high_twice(p), s);
                gs += s * 0.2f + up * 0.8f;
            }
            for (int j = 0; j < Q; j++) {
                v16 x = load16(h + j * 16);
                store16(in_block[i] + j * 16,
                        a[j] + load16(l->as.w + j * 16) * gs + load16(l->at.w + j * 16) * gt);
                store16(l->as.g + j * 16, load16(l->as.g + j * 16) + x * gs);
                store16(l->at.g + j * 16, load16(l->at.g + j * 16) + x * gt);
            }
        }
        for (int64_t i = 0; i < n; i++) {
            int64_t r = g->row[i0 + i];
            if (below)
                output(below, r, out_block[i]);
            else
                memcpy(out_block[i], d.x + r * F, F * 4);
        }
        multiply_transposed(out_block[0], H, l->inputs, in_block[0], H, H, n, l->w.g);
        if (!below) continue;
        multiply(in_block[0], H, n, l->packed_t, H, H, out_block[0], H);
        through_elu(below, g->row + i0, n);
    }
}

static void forward(bool keep)
{
    pack(one.w.w, F, H, H, false, one.packed), pack(two.w.w, H, H, H, false, two.packed);
    pack(w3.w, H, C, C, false, pack3);
    first_projection();
    attention(&one, &fwd2, &two, keep);
    attention(&two, &back3, NULL, keep);
    exponentials();
    last_attention(keep);
    if (LARGEST(range) < 40) return;
    fprintf(stderr, "attention beyond 40: its exponentials cannot be taken apart\n");
    exit(1);
}

static void infer(void) { forward(false); }

static weights *const all[] = {&one.w,  &one.as, &one.at, &one.b, &two.w, &two.as,
                               &two.at, &two.b,  &w3,     &as3,   &at3,   &b3};

static void train(void)
{
    t++;
    forward(true);
    for (int k = 0; k < 12; k++) memset(all[k]->g, 0, (size_t)all[k]->n * 4);
    row48 db = loss_of(&d, train_of, out, g3, &loss);
    memcpy(b3.g, &db, sizeof db);
    last_terms();
    pack(w3.w, C, H, C, true, pack3t), pack(two.w.w, H, H, H, true, two.packed_t);
    back_last();
    back_attention(&two, &back2, &one);
    back_attention(&one, &back1, NULL);
    for (int k = 0; k < 12; k++) update(adam_at(t, 0.005, 5e-4), all[k]);
}

static void reset(void)
{
    for (int k = 0; k < 12; k++) start_again(all[k]);
    t = 0;
}

/* [.., HEADS, OUT] -> [.., OUT, HEADS] */
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

/* Rows of a matrix that meet such a layer's outputs. */
static float *rows_inside(float *p, int64_t wide)
{
    float *old = room(H * wide * 4);
    memcpy(old, p, (size_t)(H * wide) * 4);
    for (int h = 0; h < HEADS; h++)
        for (int o = 0; o < OUT; o++)
            memcpy(p + (o * HEADS + h) * wide, old + (h * OUT + o) * wide, (size_t)wide * 4);
    free(old);
    return p;
}

static void make_layer(layer *l, int index, int64_t inputs, bool training)
{
    char name[64];
    int64_t n = d.nodes + 8;
    l->inputs = inputs;
    float *w;
    snprintf(name, sizeof name, "convs.%d.lin.weight", index);
    w = heads_inside(parameter(&d, name, H, inputs, true, H), inputs * H);
    l->w = weights_of(index ? rows_inside(w, H) : w, inputs * H);
    snprintf(name, sizeof name, "convs.%d.att_src", index);
    l->as = weights_of(heads_inside(parameter(&d, name, 1, H, false, H), H), H);
    snprintf(name, sizeof name, "convs.%d.att_dst", index);
    l->at = weights_of(heads_inside(parameter(&d, name, 1, H, false, H), H), H);
    snprintf(name, sizeof name, "convs.%d.bias", index);
    l->b = weights_of(heads_inside(parameter(&d, name, 1, H, false, H), H), H);
    l->packed = room(inputs * H * 4), l->h = room(n * H * 4), l->es = room(n * 64),
    l->et = room(n * 64);
    if (!training) return;
    l->packed_t = room(inputs * H * 4);
    l->o = room(n * H * 4), l->q = room(n * H * 4), l->g = room(n * H * 4);
    l->inverse = room(n * 64), l->qd = room(n * 64), l->bt = room(n * 64), l->go = room(n * 64),
    l->gt = room(n * 64);
}

static void prepare(bool training, bool only_seen)
{
    int32_t *ptr, *col;
    int64_t n = d.nodes;
    graph_with_loops(&d, &ptr, &col);
    must_be_symmetric(n, ptr, col);
    train_of = room(d.n_train * 4);
    for (int64_t i = 0, k = 0; i < n; i++)
        if (d.train[i]) train_of[k++] = (int32_t)i;
    uint8_t *none = NULL, *last = only_seen ? d.train : none,
            *middle = only_seen ? readers(n, ptr, col, last) : none;
    uint8_t *second = only_seen ? readers(n, ptr, col, middle) : none,
            *first = only_seen ? readers(n, ptr, col, second) : none;
    fwd3 = in_order(n, ptr, col, last, NULL), fwd2 = in_order(n, ptr, col, second, NULL),
    fwd1 = in_order(n, ptr, col, first, NULL);
    back3 = in_order(n, ptr, col, middle, NULL); /* in the way forward all entries are read */
    back2 = in_order(n, ptr, col, second, middle), back1 = in_order(n, ptr, col, first, second);
    free(ptr), free(col);
    make_layer(&one, 0, F, training), make_layer(&two, 1, H, training);
    w3 = weights_of(rows_inside(parameter(&d, "convs.2.lin.weight", CLASSES, H, true, C), C),
                    H * C);
    as3 = weights_of(parameter(&d, "convs.2.att_src", 1, CLASSES, false, C), C);
    at3 = weights_of(parameter(&d, "convs.2.att_dst", 1, CLASSES, false, C), C);
    b3 = weights_of(parameter(&d, "convs.2.bias", 1, CLASSES, false, C), C);
    pack3 = room(H * PANEL * 4), pack3t = room(C * H * 4);
    float **wide[] = {&h3, &out, &a3, &g3},
          **narrow[] = {&s3, &t3, &e3, &f3, &inv3, &qd3, &go3, &gt3};
    for (int k = 0; k < (training ? 4 : 2); k++) *wide[k] = room((n + 8) * C * 4);
    for (int k = 0; k < 8; k++) *narrow[k] = room((n + 16) * 8);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return fprintf(stderr, "usage: hand_gat3 GRAPH CASE infer|train|train-seen\n"), 2;
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
