/* Synthetic graphs written without room for them in memory.
 *
 * Which draws of pairs are new is found heap by heap, by a hash of the pair: a bit a draw says so,
 * and the draw with which there are enough is the last that counts, as it would be in memory. */
#include "runtime/data/datafile.h"
#include "runtime/data/edge_sort.h"
#include "runtime/data/mem.h"
#include "runtime/data/synthetic.h"
#include "runtime/graph/reorder.h"

/* In memory a pair of a heap has two to four slots of the set that finds repeats. */
enum { USUAL = 1 << 28, PART = 1024, PAIR_BYTES = 32 };

typedef struct drawn {
    uint64_t pair, number; /* of the draw */
} drawn;

typedef struct stream {
    const gn_synthetic_file *f;
    gn_synthetic_params p;
    gn_power_law r;
    uint32_t key;
    gn_spill heaps;
    uint64_t *fresh;      /* bits: draws of pairs that were not there before */
    uint64_t draws, last; /* draws so far; of which those below `last` count */
    int32_t *number; /* [nodes] which node of the source a row is; NULL: that of its own number */
    gn_dataset *d;
} stream;

static uint64_t hash_of(uint64_t pair) { return pair * UINT64_C(0x9E3779B97F4A7C15); }

/* Of bits for so many draws, and for the group that they end in. */
static uint64_t words_of(uint64_t draws) { return (draws + GN_AHEAD) / 64 + 1; }

/* Draws on until there are `draws`. */
static gn_status *draw_on(stream *z, gn_pair_draw *draw, uint64_t draws)
{
    uint64_t words = words_of(draws), *fresh = NULL;
    if (words < SIZE_MAX / 8) fresh = realloc(z->fresh, (size_t)words * sizeof *fresh);
    if (!fresh) GN_FAIL(GN_ERR_NOMEM, "out of memory: %llu draws", (unsigned long long)draws);
    z->fresh = fresh;
    while (z->draws < draws) {
        uint64_t pair[GN_AHEAD];
        int n = gn_pair_draw_next(draw, pair);
        for (int k = 0; k < n; k++, z->draws++) {
            const drawn one = {pair[k], z->draws};
            bool loop = pair[k] >> 32 == (pair[k] & UINT32_MAX);
            if (loop) continue;
            GN_TRY(gn_spill_put(&z->heaps, (int)((hash_of(pair[k]) >> 33) % (uint64_t)z->heaps.n),
                                &one));
        }
    }
    return NULL;
}

/* Marks the draws of a heap that are new; *count: and of those before. */
static gn_status *mark(stream *z, int heap, uint64_t *count)
{
    drawn part[PART];
    int64_t n = gn_spill_count(&z->heaps, heap);
    uint64_t slots = 64, *set;
    while (slots < (uint64_t)n * 2) slots *= 2;
    GN_MEM(set, slots);
    gn_status *s = NULL;
    for (int64_t done = 0, m; done < n && !s; done += m) {
        m = n - done < PART ? n - done : PART;
        s = gn_spill_read(&z->heaps, heap, done, m, part);
        for (int64_t k = 0; k < m && !s; k++) {
            uint64_t i = hash_of(part[k].pair) >> 8 & (slots - 1), number = part[k].number;
            while (set[i] && set[i] != part[k].pair + 1) i = (i + 1) & (slots - 1);
            if (set[i]) continue;
            set[i] = part[k].pair + 1;
            z->fresh[number / 64] |= (uint64_t)1 << number % 64;
            ++*count;
        }
    }
    free(set);
    return s;
}

/* As many draws as it takes. */
static gn_status *draw_pairs(stream *z, uint64_t want)
{
    gn_pair_draw draw = gn_pair_draw_begin(&z->r, z->key, (int64_t)want);
    uint64_t count = 0, draws = want + want / 16 + GN_AHEAD, seen = 0;
    while (count < want) {
        GN_TRY(draw_on(z, &draw, draws));
        memset(z->fresh, 0, (size_t)words_of(draws) * sizeof *z->fresh);
        count = 0;
        for (int k = 0; k < z->heaps.n; k++) GN_TRY(mark(z, k, &count));
        draws += (want - count) * 2 + GN_AHEAD;
    }
    for (z->last = 0; seen < want; z->last++) seen += z->fresh[z->last / 64] >> z->last % 64 & 1;
    return NULL;
}

/* Both directions of the pairs that count: counted, or put. */
static gn_status *go_through(stream *z, gn_edge_sort *sort, bool put)
{
    drawn part[PART];
    for (int heap = 0; heap < z->heaps.n; heap++) {
        int64_t n = gn_spill_count(&z->heaps, heap);
        for (int64_t done = 0, m; done < n; done += m) {
            m = n - done < PART ? n - done : PART;
            GN_TRY(gn_spill_read(&z->heaps, heap, done, m, part));
            for (int64_t k = 0; k < m; k++) {
                uint64_t number = part[k].number;
                if (number >= z->last || !(z->fresh[number / 64] >> number % 64 & 1)) continue;
                int64_t u = z->r.node[part[k].pair >> 32], v = z->r.node[part[k].pair & UINT32_MAX];
                if (put) {
                    GN_TRY(gn_edge_sort_put(sort, u, v));
                    GN_TRY(gn_edge_sort_put(sort, v, u));
                } else {
                    gn_edge_sort_count(sort, u);
                    gn_edge_sort_count(sort, v);
                }
            }
        }
        if (put) gn_spill_drop(&z->heaps, heap);
    }
    return NULL;
}

/* All that is known of nodes so far gets their new numbers: labels, the split, which is drawn
 * before, counts of edges, and what draws name them by. */
static gn_status *order(stream *z, int64_t *degree)
{
    gn_dataset *d = z->d;
    int64_t n = d->n_nodes, *to;
    int32_t *was;
    if (d->y && !d->train_mask) {
        GN_MEM(d->train_mask, n);
        GN_MEM(d->val_mask, n);
        GN_MEM(d->test_mask, n);
        GN_TRY(gn_dataset_draw_split(d, z->f->seed));
    }
    GN_MEM(to, n);
    gn_status *s = gn_order_by_degree(degree, n, to);
    if (!s) s = gn_dataset_renumber(d, &to);
    free(to);
    GN_TRY(s);
    to = d->row_of;
    GN_MEM(was, n);
    for (int64_t v = 0; v < n; v++) was[v] = (int32_t)degree[v]; /* there are no repeats */
    for (int64_t v = 0; v < n; v++) degree[to[v]] = was[v];
    free(was);
    for (int64_t k = 0; k < n; k++) z->r.node[k] = (int32_t)to[z->r.node[k]];
    GN_MEM(z->number, n);
    for (int64_t v = 0; v < n; v++) z->number[to[v]] = (int32_t)v;
    return NULL;
}

static gn_status *write_edges(stream *z, gn_block_writer *w)
{
    gn_edge_sort sort;
    int64_t bytes = z->f->heap_bytes ? z->f->heap_bytes : USUAL;
    double heaps = z->p.edges / 2 * (double)PAIR_BYTES / (double)bytes + 1;
    int n = heaps < (double)GN_SPILL_MOST ? (int)heaps : (int)GN_SPILL_MOST;
    GN_TRY(gn_spill_new(z->f->path, n, sizeof(drawn), &z->heaps));
    GN_TRY(draw_pairs(z, (uint64_t)z->p.edges / 2));
    gn_power_law_drawn(&z->r);
    gn_status *s = gn_edge_sort_new(w, "g", z->d->n_nodes, bytes, &sort);
    if (!s) s = go_through(z, &sort, false);
    if (!s) s = gn_synthetic_labels(&z->r, z->key, z->p.train, z->d);
    if (!s && z->f->by_degree) s = order(z, sort.first + 1);
    if (!s) s = gn_edge_sort_begin(&sort, z->f->path);
    if (!s) s = go_through(z, &sort, true);
    gn_spill_free(&z->heaps);
    gn_power_law_free(&z->r);
    z->r = (gn_power_law){0};
    free(z->fresh);
    z->fresh = NULL;
    if (!s) s = gn_edge_sort_end(&sort);
    gn_edge_sort_free(&sort);
    return s;
}

static gn_status *write_parts(const stream *z, const float *centres, float *part,
                              gn_feature_writer *w)
{
    const gn_dataset *d = z->d;
    int64_t f = d->n_features, rows = GN_FEATURE_PART / f > 0 ? GN_FEATURE_PART / f : 1;
    for (int64_t v = 0, n; v < d->n_nodes; v += n) {
        n = d->n_nodes - v < rows ? d->n_nodes - v : rows;
        gn_synthetic_rows(z->key, centres, d->y, z->number, v, n, f, part);
        GN_TRY(gn_feature_writer_put(w, part, n * f));
    }
    return NULL;
}

static gn_status *write_features(stream *z, gn_block_writer *w)
{
    int64_t f = z->d->n_features;
    gn_feature_writer x = {0};
    float *part, *centres = NULL;
    if (f == 0) return NULL;
    GN_MEM(part, GN_FEATURE_PART > f ? GN_FEATURE_PART : f);
    gn_elem elem = z->f->features < 0 ? GN_F32 : gn_feature_code_elem[z->f->features];
    gn_status *s = gn_synthetic_centres(z->key, z->d->n_classes, f, &centres);
    if (!s) s = gn_feature_writer_new(w, "x", elem, z->d->n_nodes, f, &x);
    bool twice = !s && gn_feature_writer_again(&x);
    if (twice) s = write_parts(z, centres, part, &x);
    if (!s) s = write_parts(z, centres, part, &x);
    gn_feature_writer_free(&x);
    free(centres);
    free(part);
    return s;
}

static gn_status *write_all(stream *z, gn_block_writer *w, json_t **meta)
{
    gn_dataset *d = z->d;
    z->r.n = d->n_nodes = (int64_t)z->p.nodes;
    z->r.communities = (int64_t)z->p.communities;
    z->key = gn_rng_key((uint64_t)z->p.seed, 0);
    d->n_classes = (int64_t)z->p.classes;
    d->edges_remade = true;
    GN_TRY(gn_power_law_make(&z->r, z->key, z->p.edges, z->p.exponent, z->p.local != 0));
    GN_TRY(write_edges(z, w));
    d->n_edges = (int64_t)z->p.edges; /* there are none of them in memory */
    d->n_features = (int64_t)z->p.features;
    GN_TRY(write_features(z, w));
    GN_TRY(gn_datafile_put_rest(w, d, z->f->features));
    return gn_datafile_meta(d, z->f->source, meta);
}

gn_status *gn_synthetic_write(const gn_synthetic_file *f, bool *streamed, bool *split_drawn)
{
    static const char typed[] = "typed";
    stream z = {.f = f};
    gn_block_writer *w;
    json_t *meta = NULL;
    *streamed = *split_drawn = false;
    if (!strncmp(f->text, typed, sizeof typed - 1)) return NULL;
    GN_TRY(gn_synthetic_params_parse(f->text, f->seed, &z.p));
    if (z.p.density < 1 || gn_synthetic_goes_through(&z.p)) return NULL;
    *streamed = true;
    GN_TRY(gn_block_writer_new(f->path, &w));
    gn_status *s = gn_dataset_new("synthetic", &z.d);
    if (!s) s = write_all(&z, w, &meta);
    if (!s) *split_drawn = z.d->split_drawn;
    s = gn_block_writer_close(w, meta, s);
    json_decref(meta);
    gn_spill_free(&z.heaps);
    gn_power_law_free(&z.r);
    gn_dataset_free(z.d);
    free(z.fresh);
    free(z.number);
    return s;
}
