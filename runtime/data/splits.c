#include "runtime/data/splits.h"

#include "base/philox.h"
#include "runtime/data/edges.h"
#include "runtime/data/mem.h"

/* Streams of their own: what is drawn for one says nothing of another. */
enum { SITE_EDGES = 0xED6E, SITE_FOLDS = 0xF01D, SITE_FALSE = 0xFA15 };

/* Draw i of a stream, below n. */
static int64_t draw_below(uint32_t key, uint32_t site, uint64_t i, int64_t n)
{
    uint64_t low = gn_random_u32(key, site, 2 * i), high = gn_random_u32(key, site, 2 * i + 1);
    return (int64_t)((low | high << 32) % (uint64_t)n);
}

void gn_shuffle(int64_t *item, int64_t n, uint32_t key, uint32_t site, uint64_t *drawn)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t j = i + draw_below(key, site, (*drawn)++, n - i), t = item[i];
        item[i] = item[j];
        item[j] = t;
    }
}

/* ---- edges ---- */

static uint64_t pair_of(int64_t a, int64_t b)
{
    uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
    return low << 32 | high;
}

/* The pairs that there are, ascending, in `pair`, which has room for n of them. */
static gn_status *find_pairs(const int64_t *src, const int64_t *dst, int64_t n, uint64_t *pair,
                             int64_t *pairs)
{
    *pairs = 0;
    for (int64_t e = 0; e < n; e++) pair[e] = pair_of(src[e], dst[e]);
    GN_TRY(gn_sort_keys(pair, NULL, n));
    for (int64_t e = 0; e < n; e++)
        if (e == 0 || pair[e] != pair[e - 1]) pair[(*pairs)++] = pair[e];
    return NULL;
}

static int64_t number_of(uint64_t wanted, const uint64_t *pair, int64_t pairs)
{
    int64_t low = 0, high = pairs - 1;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (pair[mid] < wanted)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The part of each of n units, which are edges or pairs. */
static gn_status *draw_parts(int64_t n, const gn_edge_split *how, uint8_t *part)
{
    int64_t val = (int64_t)(how->val * (double)n), test = (int64_t)(how->test * (double)n), *unit;
    int64_t train = n - val - test;
    uint64_t drawn = 0;
    if (train < 1)
        GN_FAIL(GN_ERR_USAGE, "of %lld edges %lld for validation and %lld for test leave none",
                (long long)n, (long long)val, (long long)test);
    GN_MEM(unit, n);
    for (int64_t i = 0; i < n; i++) unit[i] = i;
    gn_shuffle(unit, n, gn_rng_key(how->seed, 0), SITE_EDGES, &drawn);
    for (int64_t i = 0; i < n; i++)
        part[unit[i]] = i < train ? GN_PART_TRAIN : i < train + val ? GN_PART_VAL : GN_PART_TEST;
    free(unit);
    return NULL;
}

static gn_status *check_split(const int64_t *src, const int64_t *dst, int64_t n,
                              const gn_edge_split *how)
{
    bool shares = how->val >= 0 && how->val <= 1 && how->test >= 0 && how->test <= 1;
    if (n < 0 || !shares)
        GN_FAIL(GN_ERR_USAGE, "a split of %lld edges, %g for validation and %g for test",
                (long long)n, how->val, how->test);
    for (int64_t e = 0; e < n; e++)
        if (src[e] < 0 || src[e] > GN_MAX_NODES || dst[e] < 0 || dst[e] > GN_MAX_NODES)
            GN_FAIL(GN_ERR_DATA, "edge %lld is %lld -> %lld", (long long)e, (long long)src[e],
                    (long long)dst[e]);
    return NULL;
}

gn_status *gn_split_edges(const int64_t *src, const int64_t *dst, int64_t n,
                          const gn_edge_split *how, uint8_t *part)
{
    GN_TRY(check_split(src, dst, n, how));
    if (!how->undirected) return draw_parts(n, how, part);
    uint64_t *pair = gn_mem_alloc(n, sizeof *pair);
    uint8_t *of_pair = gn_mem_alloc(n, sizeof *of_pair);
    int64_t pairs = 0;
    gn_status *s = NULL;
    if (!pair || !of_pair)
        s = GN_ERROR(GN_ERR_NOMEM, "out of memory: a split of %lld edges", (long long)n);
    if (!s) s = find_pairs(src, dst, n, pair, &pairs);
    if (!s) s = draw_parts(pairs, how, of_pair);
    for (int64_t e = 0; !s && e < n; e++) {
        int64_t number = number_of(pair_of(src[e], dst[e]), pair, pairs);
        part[e] = of_pair[number];
    }
    free(pair);
    free(of_pair);
    return s;
}

/* ---- folds ---- */

static gn_status *check_folds(const int32_t *y, int64_t n, int64_t classes, int32_t folds)
{
    int64_t rows = 0;
    if (n < 0 || classes < 0 || classes > GN_MAX_NODES || folds < 2)
        GN_FAIL(GN_ERR_USAGE, "%d folds of %lld rows and %lld classes", folds, (long long)n,
                (long long)classes);
    for (int64_t i = 0; i < n; i++) {
        if (y && y[i] >= classes)
            GN_FAIL(GN_ERR_USAGE, "row %lld has class %d, of %lld", (long long)i, y[i],
                    (long long)classes);
        rows += !y || y[i] >= 0;
    }
    if (rows < folds)
        GN_FAIL(GN_ERR_USAGE, "%d folds of %lld rows with a label", folds, (long long)rows);
    return NULL;
}

gn_status *gn_folds(const int32_t *y, int64_t n, int64_t classes, int32_t folds, uint64_t seed,
                    int32_t *fold_of)
{
    GN_TRY(check_folds(y, n, classes, folds));
    if (!y) classes = 1;
    int64_t *start = gn_mem_alloc(classes + 2, sizeof *start), *row = gn_mem_alloc(n, sizeof *row);
    if (!start || !row) {
        free(start);
        free(row);
        GN_FAIL(GN_ERR_NOMEM, "out of memory: folds of %lld rows", (long long)n);
    }
    for (int64_t i = 0; i < n; i++) {
        fold_of[i] = -1;
        if (!y || y[i] >= 0) start[(y ? y[i] : 0) + 2]++;
    }
    for (int64_t c = 0; c < classes; c++) start[c + 2] += start[c + 1];
    for (int64_t i = 0; i < n; i++)
        if (!y || y[i] >= 0) row[start[(y ? y[i] : 0) + 1]++] = i;
    uint32_t key = gn_rng_key(seed, 0);
    uint64_t drawn = 0;
    for (int64_t c = 0; c < classes; c++)
        gn_shuffle(row + start[c], start[c + 1] - start[c], key, SITE_FOLDS, &drawn);
    for (int64_t i = 0; i < start[classes]; i++) fold_of[row[i]] = (int32_t)(i % folds);
    free(start);
    free(row);
    return NULL;
}

/* ---- false edges ---- */

static gn_status *check_false(const gn_triples *of, const gn_false_edges *how)
{
    int64_t all;
    bool fits = how->heads >= 0 && how->heads <= GN_MAX_NODES && how->tails >= 0 &&
                how->tails <= GN_MAX_NODES;
    if (!fits || of->n < 0 || how->times < 0 || __builtin_mul_overflow(of->n, how->times, &all))
        GN_FAIL(GN_ERR_USAGE, "%lld false edges for each of %lld, between %lld and %lld nodes",
                (long long)how->times, (long long)of->n, (long long)how->heads,
                (long long)how->tails);
    const gn_known *k = how->known;
    if (k && (k->heads != how->heads || k->tails != how->tails))
        GN_FAIL(GN_ERR_USAGE,
                "false edges between %lld and %lld nodes, known ones between %lld "
                "and %lld",
                (long long)how->heads, (long long)how->tails, (long long)k->heads,
                (long long)k->tails);
    for (int64_t i = 0; i < of->n; i++) {
        int32_t kind = of->kind ? of->kind[i] : 0;
        if (of->head[i] < 0 || of->head[i] >= how->heads || of->tail[i] < 0 ||
            of->tail[i] >= how->tails || kind < 0 || (k && kind >= k->kinds))
            GN_FAIL(GN_ERR_DATA, "edge %lld is %lld -> %lld of kind %d", (long long)i,
                    (long long)of->head[i], (long long)of->tail[i], kind);
    }
    return NULL;
}

/* What may not be drawn for an edge: numbers of `all`, ascending. */
typedef struct taken {
    const int64_t *number;
    int64_t n, all;
} taken;

static taken taken_of(const gn_triples *of, const gn_false_edges *how, int64_t i)
{
    const gn_known *k = how->known;
    int32_t kind = of->kind ? of->kind[i] : 0;
    taken t = {.all = how->drawn == GN_DRAWN_TAIL   ? how->tails
                      : how->drawn == GN_DRAWN_HEAD ? how->heads
                                                    : how->heads * how->tails};
    if (!k) return t;
    if (how->drawn == GN_DRAWN_TAIL) {
        t.n = gn_known_answers(k, GN_ASKED_TAIL, of->head[i], kind, &t.number);
    } else if (how->drawn == GN_DRAWN_HEAD) {
        t.n = gn_known_answers(k, GN_ASKED_HEAD, of->tail[i], kind, &t.number);
    } else {
        t.number = k->pair + k->pairs[kind];
        t.n = k->pairs[kind + 1] - k->pairs[kind];
    }
    return t;
}

gn_status *gn_draw_false(const gn_triples *of, const gn_false_edges *how, int64_t *head,
                         int64_t *tail)
{
    GN_TRY(check_false(of, how));
    uint32_t key = gn_rng_key(how->seed, how->step);
    for (int64_t i = 0; i < of->n && how->times; i++) {
        taken t = taken_of(of, how, i);
        if (t.n == t.all)
            GN_FAIL(GN_ERR_DATA, "edge %lld, %lld -> %lld: all that could be drawn is known",
                    (long long)i, (long long)of->head[i], (long long)of->tail[i]);
        for (int64_t j = i * how->times; j < (i + 1) * how->times; j++) {
            int64_t free_one = draw_below(key, SITE_FALSE, (uint64_t)j, t.all - t.n);
            int64_t at = gn_known_gap(t.number, t.n, free_one);
            head[j] = how->drawn == GN_DRAWN_BOTH   ? at / how->tails
                      : how->drawn == GN_DRAWN_HEAD ? at
                                                    : of->head[i];
            tail[j] = how->drawn == GN_DRAWN_BOTH   ? at % how->tails
                      : how->drawn == GN_DRAWN_TAIL ? at
                                                    : of->tail[i];
        }
    }
    return NULL;
}
