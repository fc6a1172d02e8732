/* What the hand-written programs share: the folder that bench_dump and the harness write, and
 * matrices as lists of rows.
 *
 * Rows are kept in order of their length, so that a loop over their entries ends when the branch
 * predictor expects it: a graph like Cora has five entries a row, and one wrong guess a row costs
 * more than the entries. */
#ifndef BENCH_HAND_H
#define BENCH_HAND_H

#include "common.h"

typedef struct rows {
    int64_t n, entries;
    int32_t *row; /* [n] which row it is */
    int32_t *ptr; /* [n + 1] */
    int32_t *col;
} rows;

typedef struct data {
    int64_t nodes, edges, features, classes, nnz, n_train;
    int32_t *src, *dst, *y;
    uint8_t *train;
    int32_t *x_ptr, *x_col; /* NULL: dense */
    float *x_val, *x;
    float *logits; /* what gnnc says with the same weights, or NULL */
    const char *folder;
} data;

static UNUSED int64_t number_in(const char *text, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(text, quoted);
    return at ? atoll(at + strlen(quoted)) : -1;
}

static UNUSED data read_data(const char *folder, const char *case_folder)
{
    data d = {.folder = case_folder};
    int64_t bytes;
    char *meta = slurp(folder, "meta.json", &bytes, true);
    d.nodes = number_in(meta, "nodes"), d.edges = number_in(meta, "edges");
    d.features = number_in(meta, "features"), d.classes = number_in(meta, "classes");
    d.src = slurp(folder, "src.i32", NULL, true), d.dst = slurp(folder, "dst.i32", NULL, true);
    d.y = slurp(folder, "y.i32", NULL, true), d.train = slurp(folder, "train.u8", NULL, true);
    d.x_ptr = slurp(folder, "x_ptr.i32", NULL, false);
    if (d.x_ptr) {
        d.x_col = slurp(folder, "x_col.i32", NULL, true),
        d.x_val = slurp(folder, "x_val.f32", NULL, true);
        d.nnz = d.x_ptr[d.nodes];
    } else {
        d.x = slurp(folder, "x.f32", NULL, true);
    }
    for (int64_t i = 0; i < d.nodes; i++) d.n_train += d.train[i] != 0;
    d.logits = slurp(case_folder, "logits.f32", NULL, false);
    free(meta);
    return d;
}

/* A parameter by its name in weight files, [a, b] there; transposed to [b, a] and its rows padded
 * to `wide`. */
static UNUSED float *parameter(const data *d, const char *name, int64_t a, int64_t b,
                               bool transposed, int64_t wide)
{
    char file[256];
    int64_t bytes;
    snprintf(file, sizeof file, "%s.f32", name);
    float *in = slurp(d->folder, file, &bytes, true);
    if (bytes != a * b * 4) {
        fprintf(stderr, "%s: %lld bytes, expected %lld\n", name, (long long)bytes,
                (long long)(a * b * 4));
        exit(3);
    }
    int64_t n = transposed ? b : a;
    float *out = room(n * wide * 4);
    for (int64_t i = 0; i < a; i++)
        for (int64_t j = 0; j < b; j++) {
            if (transposed)
                out[j * wide + i] = in[i * b + j];
            else
                out[i * wide + j] = in[i * b + j];
        }
    free(in);
    return out;
}

/* [rows, cols] as pointers and columns -> lists, of the rows and columns that are wanted (NULL:
 * all); empty rows stay. */
static UNUSED rows rows_of(int64_t n, const int32_t *ptr, const int32_t *col,
                           const uint8_t *row_wanted, const uint8_t *col_wanted)
{
    rows r = {
        .row = room(n * 4), .ptr = room((n + 1) * 4), .col = room(((int64_t)ptr[n] + 16) * 4)};
    int32_t *length = room(n * 4), longest = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int32_t e = ptr[i]; e < ptr[i + 1]; e++)
            length[i] += !col_wanted || col_wanted[col[e]];
        if (length[i] > longest) longest = length[i];
    }
    int64_t *start = room((longest + 2) * 8);
    for (int64_t i = 0; i < n; i++)
        if (!row_wanted || row_wanted[i]) start[length[i] + 1]++, r.n++;
    for (int32_t k = 0; k < longest; k++) start[k + 1] += start[k];
    for (int64_t i = 0; i < n; i++)
        if (!row_wanted || row_wanted[i]) r.row[start[length[i]]++] = (int32_t)i;
    for (int64_t k = 0; k < r.n; k++) {
        int32_t i = r.row[k];
        r.ptr[k] = (int32_t)r.entries;
        for (int32_t e = ptr[i]; e < ptr[i + 1]; e++)
            if (!col_wanted || col_wanted[col[e]]) r.col[r.entries++] = col[e];
    }
    r.ptr[r.n] = (int32_t)r.entries;
    free(length), free(start);
    return r;
}

/* Pairs (row, col), in any order -> pointers and columns, columns ascending. */
static UNUSED void pairs_to_csr(int64_t n, int64_t m, const int32_t *row, const int32_t *col,
                                int64_t cols, int32_t **ptr, int32_t **out)
{
    int32_t *by_col = room((cols + 1) * 4), *order = room(m * 4), *p = room((n + 2) * 4),
            *c = room(m * 4);
    for (int64_t e = 0; e < m; e++) by_col[col[e]]++, p[row[e] + 2]++;
    for (int64_t i = 0, s = 0; i <= cols; i++) {
        int64_t k = i < cols ? by_col[i] : 0;
        by_col[i] = (int32_t)s;
        s += k;
    }
    for (int64_t e = 0; e < m; e++) order[by_col[col[e]]++] = (int32_t)e;
    for (int64_t i = 0; i < n; i++) p[i + 2] += p[i + 1];
    for (int64_t k = 0; k < m; k++) c[p[row[order[k]] + 1]++] = col[order[k]];
    free(by_col), free(order);
    *ptr = p, *out = c;
}

/* The graph by destinations, each node with one loop. */
static UNUSED void graph_with_loops(const data *d, int32_t **ptr, int32_t **col)
{
    int64_t m = 0;
    int32_t *r = room((d->edges + d->nodes) * 4), *c = room((d->edges + d->nodes) * 4);
    for (int64_t e = 0; e < d->edges; e++)
        if (d->src[e] != d->dst[e]) r[m] = d->dst[e], c[m++] = d->src[e];
    for (int64_t i = 0; i < d->nodes; i++) r[m] = c[m] = (int32_t)i, m++;
    pairs_to_csr(d->nodes, m, r, c, d->nodes, ptr, col);
    free(r), free(c);
}

/* These programs take A for its own transpose. */
static UNUSED void must_be_symmetric(int64_t n, const int32_t *ptr, const int32_t *col)
{
    int32_t *p, *c, *r = room((int64_t)ptr[n] * 4);
    for (int64_t i = 0; i < n; i++)
        for (int32_t e = ptr[i]; e < ptr[i + 1]; e++) r[e] = (int32_t)i;
    pairs_to_csr(n, ptr[n], col, r, n, &p, &c);
    if (memcmp(c, col, (size_t)ptr[n] * 4) || memcmp(p, ptr, (size_t)(n + 1) * 4)) {
        fprintf(stderr, "the graph is not symmetric\n");
        exit(3);
    }
    free(p), free(c), free(r);
}

/* Those who are read by the rows of `wanted`. */
static UNUSED uint8_t *readers(int64_t n, const int32_t *ptr, const int32_t *col,
                               const uint8_t *wanted)
{
    uint8_t *out = room(n);
    for (int64_t i = 0; i < n; i++)
        for (int32_t e = ptr[i]; wanted[i] && e < ptr[i + 1]; e++) out[col[e]] = 1;
    return out;
}

/* The largest difference from gnnc's logits relative to 1 + |them|, or -1 where there are none. */
static UNUSED double difference(const data *d, const float *out, int64_t wide)
{
    double worst = 0;
    if (!d->logits) return -1;
    for (int64_t i = 0; i < d->nodes; i++)
        for (int64_t c = 0; c < d->classes; c++) {
            double a = out[i * wide + c], b = d->logits[i * d->classes + c],
                   x = fabs(a - b) / (1 + fabs(b));
            if (!(x <= worst)) worst = x;
        }
    return worst;
}

/* Adam as in torch, weight decay added to the gradient. */
typedef struct adam {
    float step, root, decay; /* lr / (1 - beta1^t); 1 / sqrt(1 - beta2^t); weight decay */
} adam;

static UNUSED adam adam_at(int64_t t, double lr, double decay)
{
    return (adam){(float)(lr / (1 - pow(0.9, (double)t))),
                  (float)(1 / sqrt(1 - pow(0.999, (double)t))), (float)decay};
}

INLINE v16 sqrt16(v16 x)
{
#if __has_builtin(__builtin_elementwise_sqrt)
    return __builtin_elementwise_sqrt(x);
#else
    for (int k = 0; k < 16; k++) x[k] = sqrtf(x[k]);
    return x;
#endif
}

INLINE void adam16(adam a, float *w, float *m, float *v, v16 g)
{
    v16 x = load16(w);
    g += a.decay * x;
    v16 m1 = 0.9f * load16(m) + 0.1f * g, v1 = 0.999f * load16(v) + 0.001f * (g * g);
    store16(m, m1), store16(v, v1);
    store16(w, x - a.step * m1 / (sqrt16(v1) * a.root + 1e-8f));
}

/* exp(x) for x <= 88, -infinity included; two units in the last place. The polynomial is
 * Cephes'. */
#define EXP_OF(NAME, V, I)                                                                         \
    INLINE V NAME(V x)                                                                             \
    {                                                                                              \
        x = MAX(x, -87.3f - (V){0});                                                               \
        V n = ROUND(x * 1.44269504f);                                                              \
        V r = x - n * 0.693359375f + n * 2.12194440e-4f, p = 1.9875691500e-4f - (V){0};            \
        p = p * r + 1.3981999507e-3f, p = p * r + 8.3334519073e-3f, p = p * r + 4.1665795894e-2f;  \
        p = p * r + 1.6666665459e-1f, p = p * r + 5.0000001201e-1f, p = p * r * r + r + 1.0f;      \
        return (V)((I)p + (__builtin_convertvector(n, I) << 23));                                  \
    }
typedef int32_t i8 __attribute__((vector_size(32)));
EXP_OF(exp8, v8, i8)
EXP_OF(exp16, v16, i16)

INLINE float sum8(v8 x)
{
    x += __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3);
    x += __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5);
    return x[0] + x[1];
}

#endif
