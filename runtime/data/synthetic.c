/* synthetic:nodes=N,edges=E,...  A seeded Chung-Lu graph: expected degrees follow a power law, most
 * edges stay within a community, labels follow communities and features follow labels, so that
 * training has something to find.
 *
 * train=SHARE: so many of the nodes are trained on, a third of the others validate; else a split is
 * drawn as for any data.  local=1: communities lie one after another, else nodes are numbered at
 * random.
 *
 * F. Chung, L. Lu, "Connected components in random graphs with given expected degree sequences",
 * 2002.  Weights are integers and draws are Philox words, so a graph is the same on every machine
 * whose pow() rounds alike. */
#include "base/map.h"
#include "base/philox.h"
#include "runtime/data/csr.h"
#include "runtime/data/mem.h"
#include "runtime/data/readers.h"
#include "runtime/data/lines.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct params {
    double nodes, edges, features, classes; /* counts */
    double density, exponent, communities, seed;
    double train; /* share of the nodes that are trained on; 0: a split is drawn as for any data */
    double local; /* 1: a community's nodes are numbered one after another */
} params;

static const struct key {
    const char *name;
    size_t at;
    double least, most;
    bool whole;
} keys[] = {
    {"nodes", offsetof(params, nodes), 1, GN_MAX_NODES, true},
    {"edges", offsetof(params, edges), 0, 0x1p48, true},
    {"features", offsetof(params, features), 0, INT32_MAX, true},
    {"classes", offsetof(params, classes), 0, 1 << 20, true},
    {"density", offsetof(params, density), 0, 1, false},
    {"exponent", offsetof(params, exponent), 1.001, 1e6, false},
    {"communities", offsetof(params, communities), 1, 1 << 20, true},
    {"seed", offsetof(params, seed), 0, 0x1p53, true},
    {"train", offsetof(params, train), 0, 1, false},
    {"local", offsetof(params, local), 0, 1, true},
};
enum { KEYS = sizeof keys / sizeof *keys };

static gn_status *parse_pair(gn_span pair, params *p)
{
    const char *eq = memchr(pair.p, '=', (size_t)(pair.end - pair.p));
    gn_span name = {pair.p, eq ? eq : pair.end}, value = {eq ? eq + 1 : pair.end, pair.end};
    for (int k = 0; k < KEYS; k++) {
        double v;
        if (!gn_span_is(name, keys[k].name)) continue;
        if (!gn_span_float(value, &v) || !(v >= keys[k].least && v <= keys[k].most) ||
            (keys[k].whole && v != floor(v)))
            GN_FAIL(GN_ERR_USAGE, "synthetic: %s=%s: expected %s from %.10g to %.10g", keys[k].name,
                    gn_span_show(value).s, keys[k].whole ? "a whole number" : "a number",
                    keys[k].least, keys[k].most);
        memcpy((char *)p + keys[k].at, &v, sizeof v);
        return NULL;
    }
    const char *names[KEYS];
    for (int k = 0; k < KEYS; k++) names[k] = keys[k].name;
    gn_shown shown = gn_span_show(name);
    const char *near = gn_nearest(shown.s, names, KEYS);
    GN_FAIL(GN_ERR_USAGE,
            "synthetic: unknown key '%s'%s%s%s: expected nodes, edges, features, classes, density, "
            "exponent, communities, seed, train or local",
            shown.s, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

static gn_status *parse_params(const char *text, uint64_t seed, params *p)
{
    *p = (params){.nodes = -1, .edges = -1, .density = 1, .exponent = 2.3, .seed = -1};
    static const char between[] = ", \t";
    for (const char *at = text + strspn(text, between); *at; at += strspn(at, between)) {
        gn_span pair = {at, at + strcspn(at, between)};
        GN_TRY(parse_pair(pair, p));
        at = pair.end;
    }
    if (p->nodes < 0 || p->edges < 0)
        GN_FAIL(GN_ERR_USAGE, "synthetic: expected at least nodes=N,edges=E, got '%s'", text);
    if (fmod(p->edges, 2) != 0)
        GN_FAIL(GN_ERR_USAGE,
                "synthetic: edges=%.0f: expected an even number, both directions are counted",
                p->edges);
    if (p->edges > p->nodes * (p->nodes - 1))
        GN_FAIL(GN_ERR_USAGE, "synthetic: edges=%.0f: %.0f nodes have at most %.0f", p->edges,
                p->nodes, p->nodes * (p->nodes - 1));
    if (p->communities == 0) p->communities = p->classes > 0 ? p->classes : 1;
    if (p->seed < 0) p->seed = (double)(seed & ((UINT64_C(1) << 53) - 1));
    return NULL;
}

/* ---- random draws: one site a purpose, one counter a site ---- */

typedef enum site {
    SITE_COMMUNITY = 0x51,
    SITE_NAME,
    SITE_EDGE,
    SITE_CENTER,
    SITE_NOISE,
    SITE_COLUMN,
    SITE_LABEL,
    SITE_TRAIN
} site;

typedef struct stream {
    uint32_t key, site;
    uint64_t at;
} stream;

static uint64_t draw(stream *s)
{
    uint64_t i = s->at++;
    return gn_philox2x32((uint32_t)i, (uint32_t)(i >> 32) ^ s->site * GN_PHILOX_W, s->key);
}

__extension__ typedef unsigned __int128 wide;

/* Uniform in [0, n): the bias is below n * 2^-64. */
static uint64_t below(stream *s, uint64_t n) { return (uint64_t)((wide)draw(s) * n >> 64); }

/* ---- edges ---- */

/* Ranks are nodes before they get their final numbers, which are shuffled unless they are to be
 * local: sorted by community, and in it by weight. */
typedef struct model {
    uint32_t key;
    int64_t n, communities;
    uint64_t *sum;  /* [n + 1] running sum of the ranks' weights */
    int32_t *guide; /* [guides + 1] the rank that weight k << shift falls to */
    int64_t guides;
    int shift;
    int64_t *start;     /* [communities + 1] first rank of a community */
    int32_t *community; /* [n] of a rank */
    int32_t *node;      /* [n] number of a rank */
    uint64_t *set;      /* open addressing: pair + 1, 0 is empty */
    uint64_t mask;
    uint64_t *pair; /* [m] min << 32 | max, of ranks */
    int64_t m;
} model;

static void free_model(model *g)
{
    free(g->sum);
    free(g->guide);
    free(g->start);
    free(g->community);
    free(g->node);
    free(g->set);
    free(g->pair);
}

/* The i-th largest expected degree of a power law is proportional to (i + i0)^(-1/(exponent-1));
 * those above the square root of the number of ends are cut, since no pair may be likelier than
 * 1. */
static gn_status *make_ranks(model *g, const params *p)
{
    double *weight, total = 0, power = -1 / (p->exponent - 1);
    int64_t n = g->n;
    stream com = {g->key, SITE_COMMUNITY, 0}, name = {g->key, SITE_NAME, 0};
    GN_MEM(g->community, n);
    GN_MEM(g->node, n);
    GN_MEM(g->start, g->communities + 2);
    GN_MEM(g->sum, n + 1);
    for (int64_t i = 0; i < n; i++) g->start[below(&com, (uint64_t)g->communities) + 2]++;
    for (int64_t c = 0; c < g->communities; c++) g->start[c + 2] += g->start[c + 1];
    GN_MEM(weight, n);
    for (int64_t i = 0; i < n; i++) total += weight[i] = pow((double)(i + 1), power);
    double scale = p->edges / total, most = sqrt(p->edges);
    com.at = 0; /* the same draws again, now placing the i-th weight */
    for (int64_t i = 0; i < n; i++) {
        uint64_t c = below(&com, (uint64_t)g->communities);
        int64_t rank = g->start[c + 1]++;
        double degree = weight[i] * scale;
        g->community[rank] = (int32_t)c;
        g->sum[rank + 1] = (uint64_t)((degree < most ? degree : most) * 0x1p16) + 1;
    }
    free(weight);
    for (int64_t i = 0; i < n; i++) g->sum[i + 1] += g->sum[i];
    for (int64_t i = 0; i < n; i++) g->node[i] = (int32_t)i;
    for (int64_t i = p->local != 0 ? 0 : n - 1; i > 0; i--) {
        int64_t j = (int64_t)below(&name, (uint64_t)i + 1);
        int32_t t = g->node[i];
        g->node[i] = g->node[j];
        g->node[j] = t;
    }
    return NULL;
}

/* About as many stretches of equal weight as there are ranks: a search begins in the right one
 * (Chen and Asau's guide tables, "On generating random variates from an empirical distribution",
 * 1974). */
static gn_status *make_guide(model *g)
{
    while (g->sum[g->n] >> g->shift > (uint64_t)g->n) g->shift++;
    g->guides = (int64_t)(g->sum[g->n] >> g->shift) + 1;
    GN_MEM(g->guide, g->guides + 1);
    int64_t rank = 0;
    for (int64_t k = 0; k <= g->guides; k++) {
        while (rank + 1 < g->n && g->sum[rank + 1] <= (uint64_t)k << g->shift) rank++;
        g->guide[k] = (int32_t)rank;
    }
    return NULL;
}

/* The rank whose stretch of the running sum holds weight x. */
static int64_t rank_at(const model *g, uint64_t x)
{
    int64_t from = g->guide[x >> g->shift], to = (int64_t)g->guide[(x >> g->shift) + 1] + 1;
    while (to - from > 1) {
        int64_t mid = from + (to - from) / 2;
        if (g->sum[mid] <= x)
            from = mid;
        else
            to = mid;
    }
    return from;
}

static uint64_t pair_of(int64_t a, int64_t b)
{
    return a < b ? (uint64_t)a << 32 | (uint64_t)b : (uint64_t)b << 32 | (uint64_t)a;
}

static uint64_t slot_of(const model *g, uint64_t pair)
{
    return pair * UINT64_C(0x9E3779B97F4A7C15) >> 20 & g->mask;
}

/* False when the pair is a loop or known. */
static bool add_pair(model *g, uint64_t pair)
{
    if (pair >> 32 == (pair & UINT32_MAX)) return false;
    uint64_t i = slot_of(g, pair);
    for (; g->set[i]; i = (i + 1) & g->mask)
        if (g->set[i] == pair + 1) return false;
    g->set[i] = pair + 1;
    g->pair[g->m++] = pair;
    return true;
}

/* Tables are far larger than a cache, and every draw looks into each once: so draws go through them
 * side by side, one table after another, and what each will read is on its way while the others are
 * looked up. */
enum { AHEAD = 64 };

static void look_up(const model *g, uint64_t *x, int n)
{
    for (int k = 0; k < n; k++) __builtin_prefetch(&g->guide[x[k] >> g->shift]);
    for (int k = 0; k < n; k++) __builtin_prefetch(&g->sum[g->guide[x[k] >> g->shift]]);
    for (int k = 0; k < n; k++) x[k] = (uint64_t)rank_at(g, x[k]);
}

/* Ranks are drawn with probability proportional to their weights; four fifths of the pairs stay
 * within a community. */
static void draw_pairs_ahead(const model *g, stream *s, uint64_t *pair, int n)
{
    uint64_t a[AHEAD], b[AHEAD];
    bool inside[AHEAD];
    for (int k = 0; k < n; k++) {
        a[k] = below(s, g->sum[g->n]);
        inside[k] = below(s, 5) != 0;
        b[k] = draw(s);
    }
    look_up(g, a, n);
    for (int k = 0; k < n; k++) __builtin_prefetch(&g->community[a[k]]);
    for (int k = 0; k < n; k++) {
        int64_t c = g->community[a[k]];
        uint64_t lo = g->sum[inside[k] ? g->start[c] : 0],
                 hi = g->sum[inside[k] ? g->start[c + 1] : g->n];
        b[k] = lo + (uint64_t)((wide)b[k] * (hi - lo) >> 64);
    }
    look_up(g, b, n);
    for (int k = 0; k < n; k++) pair[k] = pair_of((int64_t)a[k], (int64_t)b[k]);
}

static void draw_uniformly(const model *g, stream *s, uint64_t *pair, int n)
{
    for (int k = 0; k < n; k++) {
        int64_t a = (int64_t)below(s, (uint64_t)g->n);
        pair[k] = pair_of(a, (int64_t)below(s, (uint64_t)g->n));
    }
}

/* Draws until `want` pairs are there.  When hubs are saturated and most draws repeat, the rest is
 * drawn uniformly. */
static gn_status *draw_pairs(model *g, int64_t want)
{
    uint64_t slots = 64, tries = 0, most = (uint64_t)want * 8 + 1000;
    stream s = {g->key, SITE_EDGE, 0};
    while (slots < (uint64_t)want * 2) slots *= 2;
    GN_TRY(make_guide(g));
    GN_MEM(g->set, slots);
    GN_MEM(g->pair, want);
    g->mask = slots - 1;
    while (g->m < want) {
        uint64_t pair[AHEAD], left = tries < most ? most - tries : 0;
        int n = left && left < AHEAD ? (int)left : AHEAD;
        left ? draw_pairs_ahead(g, &s, pair, n) : draw_uniformly(g, &s, pair, n);
        tries += (uint64_t)n;
        for (int k = 0; k < n; k++) __builtin_prefetch(&g->set[slot_of(g, pair[k])], 1);
        for (int k = 0; k < n && g->m < want; k++) add_pair(g, pair[k]);
    }
    return NULL;
}

/* Dense graphs, where drawing would mostly repeat: goes through all pairs once and keeps each with
 * the chance that leaves exactly `want` (Knuth, The Art of Computer Programming 2, algorithm 3.4.2
 * S).  Degrees are nearly equal in such graphs whatever the exponent says.  Called only when there
 * are at most four times `want` pairs. */
static gn_status *choose_pairs(model *g, int64_t want)
{
    int64_t all = g->n * (g->n - 1) / 2, left = want;
    stream s = {g->key, SITE_EDGE, 0};
    GN_MEM(g->pair, want);
    for (int64_t a = 0; a < g->n; a++) {
        for (int64_t b = a + 1; b < g->n; b++, all--) {
            if (below(&s, (uint64_t)all) >= (uint64_t)left) continue;
            g->pair[g->m++] = (uint64_t)a << 32 | (uint64_t)b;
            left--;
        }
    }
    return NULL;
}

static gn_status *make_edges(model *g, int64_t want, gn_dataset *d)
{
    gn_edges e = {0};
    if (want > g->n * (g->n - 1) / 2 / 4)
        GN_TRY(choose_pairs(g, want));
    else
        GN_TRY(draw_pairs(g, want));
    gn_status *s = gn_edges_reserve(&e, want * 2, false);
    if (!s) {
        for (int64_t i = 0; i < want; i++) {
            e.src[i] = g->node[g->pair[i] >> 32];
            e.dst[i] = g->node[g->pair[i] & UINT32_MAX];
        }
        e.n = want;
        s = gn_edges_to_undirected(&e);
    }
    gn_edges_give(&e, d);
    return s;
}

/* ---- labels and features ---- */

/* Communities go round the classes; one node in ten has a class of its own choice. */
static gn_status *make_labels(const model *g, gn_dataset *d)
{
    stream s = {g->key, SITE_LABEL, 0};
    if (d->n_classes == 0) return NULL;
    GN_MEM(d->y, d->n_nodes);
    for (int64_t i = 0; i < g->n; i++) {
        bool stray = below(&s, 10) == 0;
        uint64_t any = below(&s, (uint64_t)d->n_classes);
        d->y[g->node[i]] = (int32_t)(stray ? any
                                           : (uint64_t)g->community[i] % (uint64_t)d->n_classes);
    }
    return NULL;
}

/* Every node by itself; a third of those that are left validate. */
static gn_status *make_masks(const model *g, gn_dataset *d, double train)
{
    stream s = {g->key, SITE_TRAIN, 0};
    if (train == 0 || !d->y) return NULL;
    GN_MEM(d->train_mask, d->n_nodes);
    GN_MEM(d->val_mask, d->n_nodes);
    GN_MEM(d->test_mask, d->n_nodes);
    for (int64_t i = 0; i < g->n; i++) {
        double u = (double)(uint32_t)draw(&s) * 0x1p-32;
        uint8_t *mask = u < train                     ? d->train_mask
                        : u < train + (1 - train) / 3 ? d->val_mask
                                                      : d->test_mask;
        mask[i] = 1;
    }
    return NULL;
}

/* Sum of a word's four bytes, centred and scaled to variance 1: near enough to a normal, and exact
 * everywhere. */
static float gaussian(uint32_t w)
{
    int sum = (int)(w & 255) + (int)(w >> 8 & 255) + (int)(w >> 16 & 255) + (int)(w >> 24);
    return (float)(sum - 510) * (1 / 147.80055f);
}

/* A centre a class, 2.1 standard deviations apart whatever the width, and noise of variance 1. */
static gn_status *make_dense(const model *g, gn_dataset *d)
{
    int64_t f = d->n_features, classes = d->n_classes ? d->n_classes : 1;
    float *centre, scale = 1.5f / sqrtf((float)f);
    int64_t total;
    if (__builtin_mul_overflow(classes, f, &total)) total = INT64_MAX;
    GN_MEM(centre, total);
    for (int64_t i = 0; i < total; i++)
        centre[i] = scale * gaussian(gn_random_u32(g->key, SITE_CENTER, (uint64_t)i));
    float *x = d->x;
    stream s = {g->key, SITE_NOISE, 0};
    for (int64_t i = 0; i < d->n_nodes; i++) {
        const float *c = centre + (d->y ? d->y[i] : 0) * f;
        for (int64_t k = 0; k < f; k += 2) {
            uint64_t w = draw(&s);
            *x++ = c[k] + gaussian((uint32_t)w);
            if (k + 1 < f) *x++ = c[k + 1] + gaussian((uint32_t)(w >> 32));
        }
    }
    free(centre);
    return NULL;
}

/* Binary rows of `k` ones: a third of them from the class's own stretch of columns, the rest from
 * anywhere. A column taken already gives way to the next free one. */
static void draw_row(stream *s, int64_t class, int64_t classes, int64_t f, int64_t k, int64_t row,
                     int64_t *stamp, int32_t *col)
{
    int64_t own = f / classes ? f / classes : 1;
    for (int64_t i = 0; i < k; i++) {
        bool topic = below(s, 3) == 0;
        int64_t c = topic ? (class * own + (int64_t)below(s, (uint64_t)own)) % f
                          : (int64_t)below(s, (uint64_t)f);
        while (stamp[c] == row + 1) c = c + 1 == f ? 0 : c + 1;
        stamp[c] = row + 1;
        col[i] = (int32_t)c;
    }
}

static int by_column(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static gn_status *make_sparse(const model *g, gn_dataset *d, int64_t k)
{
    int64_t f = d->n_features, *stamp;
    GN_MEM(stamp, f);
    stream s = {g->key, SITE_COLUMN, 0};
    for (int64_t i = 0; i < d->n_nodes; i++) {
        int32_t *col = d->x_csr->col + i * k;
        draw_row(&s, d->y ? d->y[i] : 0, d->n_classes ? d->n_classes : 1, f, k, i, stamp, col);
        qsort(col, (size_t)k, sizeof *col, by_column);
        d->x_csr->ptr[i + 1] = (i + 1) * k;
    }
    for (int64_t i = 0; i < d->x_csr->nnz; i++) d->x_csr->val[i] = 1;
    free(stamp);
    return NULL;
}

/* The largest allocation comes first: what cannot be had is refused before anything is computed. */
static gn_status *reserve_features(gn_dataset *d, bool sparse, int64_t ones)
{
    int64_t total;
    if (d->n_features == 0) return NULL;
    if (__builtin_mul_overflow(d->n_nodes, sparse ? ones : d->n_features, &total))
        total = INT64_MAX;
    if (sparse) return gn_csr_new(d->n_nodes, d->n_features, total, &d->x_csr);
    GN_MEM(d->x, total);
    return NULL;
}

static gn_status *make(model *g, const params *p, gn_dataset *d)
{
    g->n = d->n_nodes = (int64_t)p->nodes;
    g->communities = (int64_t)p->communities;
    g->key = gn_rng_key((uint64_t)p->seed, 0);
    d->n_features = (int64_t)p->features;
    d->n_classes = (int64_t)p->classes;
    bool sparse = p->density < 1;
    int64_t ones = (int64_t)floor(p->density * p->features + 0.5); /* a row */
    if (ones < 1) ones = 1;
    GN_TRY(reserve_features(d, sparse, ones));
    GN_TRY(make_ranks(g, p));
    GN_TRY(make_edges(g, (int64_t)p->edges / 2, d));
    GN_TRY(make_labels(g, d));
    GN_TRY(make_masks(g, d, p->train));
    if (d->n_features == 0) return NULL;
    return sparse ? make_sparse(g, d, ones) : make_dense(g, d);
}

gn_status *gn_synthetic_read(const char *text, gn_reading *r, gn_dataset **out)
{
    params p;
    gn_dataset *d;
    model g = {0};
    GN_TRY(parse_params(text, r->opt->seed, &p));
    GN_TRY(gn_dataset_new("synthetic", &d));
    gn_status *s = make(&g, &p, d);
    free_model(&g);
    r->undirected = true;
    if (s)
        gn_dataset_free(d);
    else
        *out = d;
    return s;
}
