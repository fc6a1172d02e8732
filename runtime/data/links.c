#include "runtime/data/links.h"

#include "runtime/data/dataset.h"
#include "runtime/data/mem.h"
#include "runtime/data/splits.h"

#include <string.h>

void gn_links_free(gn_links *l)
{
    gn_judged *all[] = {&l->val, &l->test};
    for (int k = 0; k < 2; k++) {
        free(all[k]->src);
        free(all[k]->dst);
        *all[k] = (gn_judged){0};
    }
}

/* Has g every edge both ways? */
static bool both_ways(const gn_known *k, const gn_dataset *d)
{
    for (int64_t e = 0; e < d->n_edges; e++)
        if (!gn_known_has(k, d->dst[e], 0, d->src[e])) return false;
    return true;
}

/* Pairs of one part, each once, in the order of their first edge; `seen` has a bit for those that
 * came.  Where edges have a direction, a pair is an edge. */
static int64_t pairs_of(const gn_dataset *d, const uint8_t *part, gn_part of, bool undirected,
                        int64_t *src, int64_t *dst)
{
    int64_t n = 0;
    for (int64_t e = 0; e < d->n_edges; e++) {
        if (part[e] != of || d->src[e] == d->dst[e]) continue;
        if (undirected && d->src[e] > d->dst[e]) continue;
        src[n] = d->src[e];
        dst[n++] = d->dst[e];
    }
    return n;
}

static gn_status *judge(const gn_dataset *d, const uint8_t *part, gn_part of, bool undirected,
                        const gn_known *known, uint64_t seed, gn_judged *out)
{
    GN_MEM(out->src, 2 * d->n_edges);
    GN_MEM(out->dst, 2 * d->n_edges);
    out->n_true = pairs_of(d, part, of, undirected, out->src, out->dst);
    const gn_triples t = {.n = out->n_true, .head = out->src, .tail = out->dst};
    const gn_false_edges how = {.heads = d->n_nodes,
                                .tails = d->n_nodes,
                                .times = 1,
                                .drawn = GN_DRAWN_BOTH,
                                .known = known,
                                .seed = seed,
                                .step = of};
    out->n = 2 * out->n_true;
    return gn_draw_false(&t, &how, out->src + out->n_true, out->dst + out->n_true);
}

/* The graph without what is held out. */
static void keep_training(gn_dataset *d, const uint8_t *part)
{
    int64_t n = 0;
    for (int64_t e = 0; e < d->n_edges; e++) {
        if (part[e] != GN_PART_TRAIN) continue;
        d->src[n] = d->src[e];
        d->dst[n] = d->dst[e];
        if (d->edge_weight) d->edge_weight[n] = d->edge_weight[e];
        if (d->edge_attr)
            memmove(d->edge_attr + n * d->edge_dim, d->edge_attr + e * d->edge_dim,
                    (size_t)d->edge_dim * sizeof *d->edge_attr);
        n++;
    }
    d->n_edges = n;
    d->edges_remade = true;
}

static gn_status *hold_out(gn_dataset *d, uint64_t seed, uint8_t *part, gn_known *known,
                           gn_links *out)
{
    const gn_triples all = {.n = d->n_edges, .head = d->src, .tail = d->dst};
    GN_TRY(gn_known_build(d->n_nodes, 1, d->n_nodes, &all, 1, known));
    bool undirected = both_ways(known, d);
    const gn_edge_split how = {.val = 0.05, .test = 0.1, .undirected = undirected, .seed = seed};
    GN_TRY(gn_split_edges(d->src, d->dst, d->n_edges, &how, part));
    GN_TRY(judge(d, part, GN_PART_VAL, undirected, known, seed, &out->val));
    GN_TRY(judge(d, part, GN_PART_TEST, undirected, known, seed, &out->test));
    int64_t *src, *dst;
    GN_MEM(src, d->n_edges);
    dst = gn_mem_alloc(d->n_edges, sizeof *dst);
    if (!dst) free(src);
    if (!dst) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld edges", (long long)d->n_edges);
    int64_t n = pairs_of(d, part, GN_PART_TRAIN, undirected, src, dst);
    GN_TRY(gn_dataset_add_relation(d, GN_NAME_LINKS, 0, 0, n, src, dst, NULL));
    keep_training(d, part);
    return NULL;
}

gn_status *gn_links_hold_out(gn_dataset *d, uint64_t seed, gn_links *out)
{
    gn_known known = {0};
    uint8_t *part;
    *out = (gn_links){0};
    GN_MEM(part, d->n_edges);
    gn_status *s = hold_out(d, seed, part, &known, out);
    gn_known_free(&known);
    free(part);
    if (s) gn_links_free(out);
    return gn_status_annotate(s, "%s", d->name ? d->name : "links");
}
