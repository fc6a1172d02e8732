/* synthetic:typed,scale=S,...  The types and relations of ogbn-mag, S times as many rows and edges
 * of each: papers with features and classes, authors, institutions and fields of study.
 *
 * Every row has a community, one for each class.  An edge begins (of `writes`: ends) at a row drawn
 * evenly, and its other end is drawn by a power law of expected degrees, four fifths of them from
 * the same community.  A paper's class is its community's, one in ten has any class; features are
 * the class's centre and noise.  So a paper's class can be told from its own features, better from
 * those of the papers that it cites, and from its fields and authors where rows of them have learnt
 * vectors or sums of papers.  Edges are distinct, sorted by their ends, and no paper cites itself.
 *
 * paper.year goes from 2010 to 2019: papers up to 2017 are for training, 85.5 %, those of 2018 for
 * validation, 8.8 %, those of 2019 for test, as in ogbn-mag.
 *
 * W. Hu et al., "Open Graph Benchmark: Datasets for Machine Learning on Graphs", 2020. */
#include "runtime/data/mem.h"
#include "runtime/data/synthetic.h"

#include <math.h>
#include <string.h>

enum { PAPER, AUTHOR, INSTITUTION, FIELD, TYPES };

static const struct type {
    const char *name;
    double rows;
} types[TYPES] = {
    {"paper", 736389}, {"author", 1134649}, {"institution", 8740}, {"field_of_study", 59965}};
static const double all_rows = 736389.0 + 1134649 + 8740 + 59965;

static const struct link {
    const char *name;
    int src, dst;
    double edges;
    bool by_src; /* sources are drawn by the power law, else targets */
} links[] = {{"affiliated_with", AUTHOR, INSTITUTION, 1043998, false},
             {"writes", AUTHOR, PAPER, 7145660, true},
             {"cites", PAPER, PAPER, 5416271, false},
             {"has_topic", PAPER, FIELD, 7505078, false}};
enum { LINKS = sizeof links / sizeof *links };

typedef struct params {
    double scale, nodes, classes, features, seed;
} params;

static const gn_synthetic_key keys[] = {
    {"scale", offsetof(params, scale), 1e-6, 100, false},
    {"nodes", offsetof(params, nodes), 1, GN_MAX_NODES, true},
    {"classes", offsetof(params, classes), 1, 1 << 20, true},
    {"features", offsetof(params, features), 1, 1 << 20, true},
    {"seed", offsetof(params, seed), 0, 0x1p53, true},
};
enum { KEYS = sizeof keys / sizeof *keys };

typedef struct model {
    params p;
    gn_power_law ranks[TYPES];
    gn_dataset *d;
} model;

static uint32_t key_of(const model *g, uint64_t part)
{
    return gn_rng_key((uint64_t)g->p.seed, part + 1);
}

static gn_status *parse_params(const char *text, uint64_t seed, params *p)
{
    *p = (params){.classes = 349, .features = 128, .seed = -1};
    GN_TRY(gn_synthetic_parse(text, keys, KEYS, p));
    if ((p->scale != 0) == (p->nodes != 0))
        GN_FAIL(GN_ERR_USAGE, "synthetic: expected typed,scale=S or typed,nodes=N, got 'typed%s'",
                text);
    if (p->nodes != 0) p->scale = p->nodes / all_rows;
    if (p->seed < 0) p->seed = (double)(seed & ((UINT64_C(1) << 53) - 1));
    return NULL;
}

/* ---- rows ---- */

static gn_status *make_rows(model *g)
{
    double most[TYPES] = {0}; /* edges that end at a type */
    for (int k = 0; k < LINKS; k++) {
        double edges = links[k].edges * g->p.scale;
        most[links[k].src] = fmax(most[links[k].src], edges);
        most[links[k].dst] = fmax(most[links[k].dst], edges);
    }
    for (int t = 0; t < TYPES; t++) {
        int space;
        gn_power_law *r = &g->ranks[t];
        r->n = (int64_t)floor(types[t].rows * g->p.scale + 0.5);
        if (r->n < 1) r->n = 1;
        r->communities = (int64_t)g->p.classes;
        uint32_t key = key_of(g, (uint64_t)t);
        GN_TRY(gn_power_law_make(r, key, most[t], 2.3, false));
        GN_TRY(gn_dataset_add_table(g->d, types[t].name, r->n, &space));
    }
    return NULL;
}

/* ---- edges ---- */

typedef struct drawing {
    const gn_power_law *even, *skewed;
    bool by_src, loops;
    gn_stream s;
} drawing;

/* Pairs as keys: the source's number above the target's. */
static void draw_ahead(drawing *w, uint64_t *key, int n)
{
    uint64_t a[GN_AHEAD], b[GN_AHEAD];
    bool inside[GN_AHEAD];
    const gn_power_law *r = w->skewed;
    for (int k = 0; k < n; k++) {
        a[k] = gn_below(&w->s, (uint64_t)w->even->n);
        inside[k] = gn_below(&w->s, 5) != 0;
        b[k] = gn_draw(&w->s);
    }
    for (int k = 0; k < n; k++) __builtin_prefetch(&w->even->community[a[k]]);
    for (int k = 0; k < n; k++) {
        int64_t c = w->even->community[a[k]];
        bool own = inside[k] && r->start[c] < r->start[c + 1];
        uint64_t lo = r->sum[own ? r->start[c] : 0], hi = r->sum[own ? r->start[c + 1] : r->n];
        b[k] = lo + (uint64_t)((gn_wide)b[k] * (hi - lo) >> 64);
    }
    gn_power_law_look_up(r, b, n);
    for (int k = 0; k < n; k++) {
        uint64_t even = (uint64_t)w->even->node[a[k]], skewed = (uint64_t)r->node[b[k]];
        key[k] = w->by_src ? skewed << 32 | even : even << 32 | skewed;
    }
}

static void draw_evenly(drawing *w, uint64_t *key, int n)
{
    for (int k = 0; k < n; k++) {
        uint64_t even = gn_below(&w->s, (uint64_t)w->even->n),
                 other = gn_below(&w->s, (uint64_t)w->skewed->n);
        key[k] = w->by_src ? other << 32 | even : even << 32 | other;
    }
}

static int64_t unique(uint64_t *key, int64_t n, bool loops)
{
    int64_t to = 0;
    for (int64_t i = 0; i < n; i++) {
        bool loop = key[i] >> 32 == (key[i] & UINT32_MAX);
        if ((to == 0 || key[i] != key[to - 1]) && (loops || !loop)) key[to++] = key[i];
    }
    return to;
}

/* Rounds of what is missing; once they bring little, the rest is drawn evenly. */
static gn_status *draw_keys(drawing *w, uint64_t *key, int64_t want)
{
    enum { ROUNDS = 8 };
    int64_t have = 0;
    for (int round = 0; have < want; round++) {
        for (int64_t at = have; at < want; at += GN_AHEAD) {
            int n = want - at < GN_AHEAD ? (int)(want - at) : GN_AHEAD;
            if (round < ROUNDS)
                draw_ahead(w, key + at, n);
            else
                draw_evenly(w, key + at, n);
        }
        GN_TRY(gn_sort_keys(key, NULL, want));
        have = unique(key, want, w->loops);
    }
    return NULL;
}

/* At most half of the pairs that there are. */
static int64_t edges_of(const model *g, const struct link *l)
{
    double pairs = (double)g->ranks[l->src].n * (double)g->ranks[l->dst].n, half = floor(pairs / 2),
           edges = floor(l->edges * g->p.scale + 0.5);
    if (l->src == l->dst) half = floor((pairs - (double)g->ranks[l->src].n) / 2);
    return (int64_t)(edges < half ? edges : half);
}

static gn_status *split_keys(const uint64_t *key, int64_t n, int64_t **from, int64_t **to)
{
    GN_MEM(*from, n);
    GN_MEM(*to, n);
    for (int64_t e = 0; e < n; e++) {
        (*from)[e] = (int64_t)(key[e] >> 32);
        (*to)[e] = (int64_t)(key[e] & UINT32_MAX);
    }
    return NULL;
}

static gn_status *make_link(model *g, int k)
{
    const struct link *l = &links[k];
    const gn_power_law *src = &g->ranks[l->src], *dst = &g->ranks[l->dst];
    int64_t n = edges_of(g, l), *from = NULL, *to = NULL;
    drawing w = {.even = l->by_src ? dst : src,
                 .skewed = l->by_src ? src : dst,
                 .by_src = l->by_src,
                 .loops = l->src != l->dst};
    w.s = (gn_stream){key_of(g, (uint64_t)(TYPES + k)), GN_SITE_EDGE, 0};
    uint64_t *key;
    GN_MEM(key, n);
    gn_status *s = draw_keys(&w, key, n);
    if (!s) s = split_keys(key, n, &from, &to);
    free(key);
    if (!s)
        return gn_dataset_add_relation(g->d, l->name, l->src + 1, l->dst + 1, n, from, to, NULL);
    free(from);
    free(to);
    return s;
}

/* ---- papers ---- */

static gn_status *make_classes(model *g)
{
    gn_dataset *d = g->d;
    const gn_power_law *r = &g->ranks[PAPER];
    gn_stream s = {key_of(g, PAPER), GN_SITE_LABEL, 0};
    for (int64_t i = 0; i < r->n; i++) {
        bool stray = gn_below(&s, 10) == 0;
        uint64_t any = gn_below(&s, (uint64_t)d->n_classes);
        d->y[r->node[i]] = stray ? (int32_t)any : r->community[i];
    }
    return NULL;
}

static gn_status *make_years(model *g)
{
    enum { FIRST = 2010, VALIDATED = 2018, TESTED = 2019 };
    gn_dataset *d = g->d;
    int64_t n = g->ranks[PAPER].n;
    int32_t *year;
    gn_stream s = {key_of(g, PAPER), GN_SITE_TRAIN, 0};
    GN_MEM(year, n);
    for (int64_t i = 0; i < n; i++) {
        uint64_t of = gn_below(&s, 1000), early = gn_below(&s, VALIDATED - FIRST);
        year[i] = of < 855 ? FIRST + (int32_t)early : of < 943 ? VALIDATED : TESTED;
        uint8_t *mask = of < 855 ? d->train_mask : of < 943 ? d->val_mask : d->test_mask;
        mask[i] = 1;
    }
    gn_table_column c = {.over = PAPER + 1, .elem = GN_I32, .data = year};
    return gn_dataset_add_column(d, "year", &c);
}

static gn_status *make_features(model *g)
{
    int64_t n = g->ranks[PAPER].n, f = (int64_t)g->p.features, total;
    float *x;
    if (__builtin_mul_overflow(n, f, &total)) total = INT64_MAX;
    GN_MEM(x, total);
    gn_table_column c = {.over = PAPER + 1, .elem = GN_F32, .rank = 1, .dim = {f}, .data = x};
    gn_status *s = gn_synthetic_dense(key_of(g, PAPER), g->d->y, n, g->d->n_classes, f, x);
    if (!s) return gn_dataset_add_column(g->d, "x", &c);
    free(x);
    return s;
}

static gn_status *make(model *g)
{
    gn_dataset *d = g->d;
    d->typed = true;
    d->n_classes = (int64_t)g->p.classes;
    GN_TRY(make_rows(g));
    d->labelled = PAPER + 1;
    GN_TRY(gn_dataset_labels(d));
    GN_TRY(make_classes(g));
    GN_TRY(make_features(g));
    GN_TRY(make_years(g));
    for (int k = 0; k < LINKS; k++) GN_TRY(make_link(g, k));
    return NULL;
}

gn_status *gn_synthetic_typed_read(const char *text, gn_reading *r, gn_dataset **out)
{
    model g = {0};
    GN_TRY(parse_params(text, r->opt->seed, &g.p));
    GN_TRY(gn_dataset_new("synthetic", &g.d));
    gn_status *s = make(&g);
    for (int t = 0; t < TYPES; t++) gn_power_law_free(&g.ranks[t]);
    if (s)
        gn_dataset_free(g.d);
    else
        *out = g.d;
    return s;
}
