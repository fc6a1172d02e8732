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
#include "runtime/data/csr.h"
#include "runtime/data/mem.h"
#include "runtime/data/readers.h"
#include "runtime/data/synthetic.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef gn_synthetic_params params;

static const gn_synthetic_key keys[] = {
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

gn_status *gn_synthetic_params_parse(const char *text, uint64_t seed, params *p)
{
    *p = (params){.nodes = -1, .edges = -1, .density = 1, .exponent = 2.3, .seed = -1};
    GN_TRY(gn_synthetic_parse(text, keys, KEYS, p));
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

/* ---- edges ---- */

typedef struct model {
    gn_power_law r;
    uint32_t key;
    uint64_t *set; /* open addressing: pair + 1, 0 is empty */
    uint64_t mask;
    uint64_t *pair; /* [m] min << 32 | max, of ranks */
    int64_t m;
} model;

static void free_model(model *g)
{
    gn_power_law_free(&g->r);
    free(g->set);
    free(g->pair);
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

/* Ranks are drawn with probability proportional to their weights; four fifths of the pairs stay
 * within a community. */
static void draw_pairs_ahead(const gn_power_law *r, gn_stream *s, uint64_t *pair, int n)
{
    uint64_t a[GN_AHEAD], b[GN_AHEAD];
    bool inside[GN_AHEAD];
    for (int k = 0; k < n; k++) {
        a[k] = gn_below(s, r->sum[r->n]);
        inside[k] = gn_below(s, 5) != 0;
        b[k] = gn_draw(s);
    }
    gn_power_law_look_up(r, a, n);
    for (int k = 0; k < n; k++) __builtin_prefetch(&r->community[a[k]]);
    for (int k = 0; k < n; k++) {
        int64_t c = r->community[a[k]];
        uint64_t lo = r->sum[inside[k] ? r->start[c] : 0],
                 hi = r->sum[inside[k] ? r->start[c + 1] : r->n];
        b[k] = lo + (uint64_t)((gn_wide)b[k] * (hi - lo) >> 64);
    }
    gn_power_law_look_up(r, b, n);
    for (int k = 0; k < n; k++) pair[k] = pair_of((int64_t)a[k], (int64_t)b[k]);
}

static void draw_uniformly(const gn_power_law *r, gn_stream *s, uint64_t *pair, int n)
{
    for (int k = 0; k < n; k++) {
        int64_t a = (int64_t)gn_below(s, (uint64_t)r->n);
        pair[k] = pair_of(a, (int64_t)gn_below(s, (uint64_t)r->n));
    }
}

gn_pair_draw gn_pair_draw_begin(const gn_power_law *r, uint32_t key, int64_t want)
{
    return (gn_pair_draw){r, {key, GN_SITE_EDGE, 0}, 0, (uint64_t)want * 8 + 1000};
}

/* When hubs are saturated and most draws repeat, the rest is drawn uniformly. */
int gn_pair_draw_next(gn_pair_draw *d, uint64_t pair[GN_AHEAD])
{
    uint64_t left = d->tries < d->most ? d->most - d->tries : 0;
    int n = left && left < GN_AHEAD ? (int)left : GN_AHEAD;
    left ? draw_pairs_ahead(d->r, &d->s, pair, n) : draw_uniformly(d->r, &d->s, pair, n);
    d->tries += (uint64_t)n;
    return n;
}

/* Draws until `want` pairs are there. */
static gn_status *draw_pairs(model *g, int64_t want)
{
    uint64_t slots = 64;
    gn_pair_draw draw = gn_pair_draw_begin(&g->r, g->key, want);
    while (slots < (uint64_t)want * 2) slots *= 2;
    GN_MEM(g->set, slots);
    GN_MEM(g->pair, want);
    g->mask = slots - 1;
    while (g->m < want) {
        uint64_t pair[GN_AHEAD];
        int n = gn_pair_draw_next(&draw, pair);
        for (int k = 0; k < n; k++) __builtin_prefetch(&g->set[slot_of(g, pair[k])], 1);
        for (int k = 0; k < n && g->m < want; k++) add_pair(g, pair[k]);
    }
    return NULL;
}

bool gn_synthetic_goes_through(const params *p)
{
    int64_t n = (int64_t)p->nodes;
    return (int64_t)p->edges / 2 > n * (n - 1) / 2 / 4;
}

/* Dense graphs, where drawing would mostly repeat: goes through all pairs once and keeps each with
 * the chance that leaves exactly `want` (Knuth, The Art of Computer Programming 2, algorithm 3.4.2
 * S).  Degrees are nearly equal in such graphs whatever the exponent says.  Called only when there
 * are at most four times `want` pairs. */
static gn_status *choose_pairs(model *g, int64_t want)
{
    int64_t all = g->r.n * (g->r.n - 1) / 2, left = want;
    gn_stream s = {g->key, GN_SITE_EDGE, 0};
    GN_MEM(g->pair, want);
    for (int64_t a = 0; a < g->r.n; a++) {
        for (int64_t b = a + 1; b < g->r.n; b++, all--) {
            if (gn_below(&s, (uint64_t)all) >= (uint64_t)left) continue;
            g->pair[g->m++] = (uint64_t)a << 32 | (uint64_t)b;
            left--;
        }
    }
    return NULL;
}

static gn_status *make_edges(model *g, const params *p, gn_dataset *d)
{
    gn_edges e = {0};
    int64_t want = (int64_t)p->edges / 2;
    if (gn_synthetic_goes_through(p))
        GN_TRY(choose_pairs(g, want));
    else
        GN_TRY(draw_pairs(g, want));
    gn_status *s = gn_edges_reserve(&e, want * 2, false);
    if (!s) {
        for (int64_t i = 0; i < want; i++) {
            e.src[i] = g->r.node[g->pair[i] >> 32];
            e.dst[i] = g->r.node[g->pair[i] & UINT32_MAX];
        }
        e.n = want;
        s = gn_edges_to_undirected(&e);
    }
    gn_edges_give(&e, d);
    return s;
}

/* ---- labels and features ---- */

/* Communities go round the classes; one node in ten has a class of its own choice. */
static gn_status *make_labels(const gn_power_law *r, uint32_t key, gn_dataset *d)
{
    gn_stream s = {key, GN_SITE_LABEL, 0};
    if (d->n_classes == 0) return NULL;
    GN_MEM(d->y, d->n_nodes);
    for (int64_t i = 0; i < r->n; i++) {
        bool stray = gn_below(&s, 10) == 0;
        uint64_t any = gn_below(&s, (uint64_t)d->n_classes);
        d->y[r->node[i]] = (int32_t)(stray ? any
                                           : (uint64_t)r->community[i] % (uint64_t)d->n_classes);
    }
    return NULL;
}

/* Every node by itself; a third of those that are left validate. */
static gn_status *make_masks(const gn_power_law *r, uint32_t key, gn_dataset *d, double train)
{
    gn_stream s = {key, GN_SITE_TRAIN, 0};
    if (train == 0 || !d->y) return NULL;
    GN_MEM(d->train_mask, d->n_nodes);
    GN_MEM(d->val_mask, d->n_nodes);
    GN_MEM(d->test_mask, d->n_nodes);
    for (int64_t i = 0; i < r->n; i++) {
        double u = (double)(uint32_t)gn_draw(&s) * 0x1p-32;
        uint8_t *mask = u < train                     ? d->train_mask
                        : u < train + (1 - train) / 3 ? d->val_mask
                                                      : d->test_mask;
        mask[i] = 1;
    }
    return NULL;
}

gn_status *gn_synthetic_labels(const gn_power_law *r, uint32_t key, double train, gn_dataset *d)
{
    GN_TRY(make_labels(r, key, d));
    return make_masks(r, key, d, train);
}

/* Binary rows of `k` ones: a third of them from the class's own stretch of columns, the rest from
 * anywhere. A column taken already gives way to the next free one. */
static void draw_row(gn_stream *s, int64_t class, int64_t classes, int64_t f, int64_t k,
                     int64_t row, int64_t *stamp, int32_t *col)
{
    int64_t own = f / classes ? f / classes : 1;
    for (int64_t i = 0; i < k; i++) {
        bool topic = gn_below(s, 3) == 0;
        int64_t c = topic ? (class * own + (int64_t)gn_below(s, (uint64_t)own)) % f
                          : (int64_t)gn_below(s, (uint64_t)f);
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
    gn_stream s = {g->key, GN_SITE_COLUMN, 0};
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
    g->r.n = d->n_nodes = (int64_t)p->nodes;
    g->r.communities = (int64_t)p->communities;
    g->key = gn_rng_key((uint64_t)p->seed, 0);
    d->n_features = (int64_t)p->features;
    d->n_classes = (int64_t)p->classes;
    bool sparse = p->density < 1;
    int64_t ones = (int64_t)floor(p->density * p->features + 0.5); /* a row */
    if (ones < 1) ones = 1;
    GN_TRY(reserve_features(d, sparse, ones));
    GN_TRY(gn_power_law_make(&g->r, g->key, p->edges, p->exponent, p->local != 0));
    GN_TRY(make_edges(g, p, d));
    GN_TRY(gn_synthetic_labels(&g->r, g->key, p->train, d));
    if (d->n_features == 0) return NULL;
    return sparse ? make_sparse(g, d, ones)
                  : gn_synthetic_dense(g->key, d->y, d->n_nodes, d->n_classes, d->n_features, d->x);
}

gn_status *gn_synthetic_read(const char *text, gn_reading *r, gn_dataset **out)
{
    static const char typed[] = "typed";
    params p;
    gn_dataset *d;
    model g = {0};
    size_t n = strcspn(text, ", \t");
    if (n == sizeof typed - 1 && !memcmp(text, typed, n))
        return gn_synthetic_typed_read(text + n, r, out);
    GN_TRY(gn_synthetic_params_parse(text, r->opt->seed, &p));
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
