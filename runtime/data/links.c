#include "runtime/data/links.h"

#include "runtime/data/dataset.h"
#include "runtime/data/lent.h"
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

void gn_links_renumber(gn_links *l, const int64_t *to)
{
    gn_judged *all[] = {&l->val, &l->test};
    for (int k = 0; to && k < 2; k++)
        for (int64_t e = 0; e < all[k]->n; e++) {
            all[k]->src[e] = to[all[k]->src[e]];
            all[k]->dst[e] = to[all[k]->dst[e]];
        }
}

/* Links: pairs of different nodes that edges lead between, each once, in the order of their first
 * edge; where edges have a direction, either way is one. */
typedef struct pairs {
    gn_known known; /* the edges, and all loops, which are no false edges either */
    bool undirected;
    int64_t n, *src, *dst;
    int64_t *number; /* [known.n] which of them a known edge is; -1: the edge is none */
    uint8_t *part;   /* [n] */
} pairs;

static void free_pairs(pairs *p)
{
    gn_known_free(&p->known);
    free(p->src);
    free(p->dst);
    free(p->number);
    free(p->part);
}

static gn_status *know_edges(const gn_dataset *d, gn_known *out)
{
    int64_t *node;
    GN_MEM(node, d->n_nodes);
    for (int64_t v = 0; v < d->n_nodes; v++) node[v] = v;
    const gn_triples all[] = {{.n = d->n_edges, .head = d->src, .tail = d->dst},
                              {.n = d->n_nodes, .head = node, .tail = node}};
    gn_status *s = gn_known_build(d->n_nodes, 1, d->n_nodes, all, 2, out);
    free(node);
    return s;
}

/* Has g every edge both ways? */
static bool both_ways(const gn_known *k, const gn_dataset *d)
{
    for (int64_t e = 0; e < d->n_edges; e++)
        if (!gn_known_has(k, d->dst[e], 0, d->src[e])) return false;
    return true;
}

/* Which of the pairs an edge is; NULL: a loop, which is none. */
static int64_t *number_of(const pairs *p, int64_t src, int64_t dst)
{
    if (src == dst) return NULL;
    bool turned = p->undirected && src > dst;
    int64_t from = turned ? dst : src, to = turned ? src : dst, wanted = from * p->known.tails + to,
            low = 0, high = p->known.n - 1;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (p->known.pair[mid] < wanted)
            low = mid + 1;
        else
            high = mid;
    }
    return &p->number[low];
}

static gn_status *find_pairs(const gn_dataset *d, pairs *p)
{
    GN_TRY(know_edges(d, &p->known));
    p->undirected = both_ways(&p->known, d);
    GN_MEM(p->number, p->known.n);
    GN_MEM(p->src, d->n_edges);
    GN_MEM(p->dst, d->n_edges);
    GN_MEM(p->part, d->n_edges);
    for (int64_t i = 0; i < p->known.n; i++) p->number[i] = -1;
    for (int64_t e = 0; e < d->n_edges; e++) {
        int64_t *number = number_of(p, d->src[e], d->dst[e]);
        if (!number || *number >= 0 || (p->undirected && d->src[e] > d->dst[e])) continue;
        *number = p->n;
        p->src[p->n] = d->src[e];
        p->dst[p->n++] = d->dst[e];
    }
    return NULL;
}

static int64_t pairs_of(const pairs *p, gn_part of, int64_t *src, int64_t *dst)
{
    int64_t n = 0;
    for (int64_t i = 0; i < p->n; i++) {
        if (p->part[i] != of) continue;
        src[n] = p->src[i];
        dst[n++] = p->dst[i];
    }
    return n;
}

static gn_status *judge(const pairs *p, gn_part of, uint64_t seed, gn_judged *out)
{
    GN_MEM(out->src, 2 * p->n);
    GN_MEM(out->dst, 2 * p->n);
    out->n_true = pairs_of(p, of, out->src, out->dst);
    const gn_triples t = {.n = out->n_true, .head = out->src, .tail = out->dst};
    const gn_false_edges how = {.heads = p->known.heads,
                                .tails = p->known.tails,
                                .times = 1,
                                .drawn = GN_DRAWN_BOTH,
                                .known = &p->known,
                                .seed = seed,
                                .step = of};
    out->n = 2 * out->n_true;
    return gn_draw_false(&t, &how, out->src + out->n_true, out->dst + out->n_true);
}

/* ---- the graph without what is held out ---- */

static void move_row(void *data, size_t size, int64_t from, int64_t to)
{
    char *p = data;
    if (p) memmove(p + (size_t)to * size, p + (size_t)from * size, size);
}

/* What lies on edges has a row for each. */
static void move_edge(gn_dataset *d, int64_t from, int64_t to)
{
    d->src[to] = d->src[from];
    d->dst[to] = d->dst[from];
    move_row(d->edge_weight, sizeof *d->edge_weight, from, to);
    move_row(d->edge_attr, (size_t)d->edge_dim * sizeof *d->edge_attr, from, to);
    for (int k = 0; k < d->n_columns; k++) {
        const gn_table_column *c = &d->columns[k];
        size_t size = gn_elem_size(c->elem);
        if (!c->on_edges || c->over != 0) continue;
        for (int i = 0; i < c->rank; i++) size *= (size_t)c->dim[i];
        move_row(c->data, size, from, to);
    }
}

static void keep_training(gn_dataset *d, const pairs *p)
{
    int64_t n = 0;
    for (int64_t e = 0; e < d->n_edges; e++) {
        const int64_t *number = number_of(p, d->src[e], d->dst[e]);
        if (!number || p->part[*number] == GN_PART_TRAIN) move_edge(d, e, n++);
    }
    d->n_edges = n;
    d->edges_remade = true;
}

static gn_status *hold_out(gn_dataset *d, uint64_t seed, pairs *p, gn_links *out)
{
    enum { LEAST = 20 }; /* 5 % of them are one */
    GN_TRY(gn_dataset_own_edges(d));
    GN_TRY(find_pairs(d, p));
    if (p->n < LEAST)
        GN_FAIL(
            GN_ERR_DATA,
            "edges lead between %lld pairs of nodes: expected %d or more, of which some are held "
            "out for validation and test",
            (long long)p->n, LEAST);
    const gn_edge_split how = {.val = 0.05, .test = 0.1, .undirected = p->undirected, .seed = seed};
    GN_TRY(gn_split_edges(p->src, p->dst, p->n, &how, p->part));
    GN_TRY(judge(p, GN_PART_VAL, seed, &out->val));
    GN_TRY(judge(p, GN_PART_TEST, seed, &out->test));
    keep_training(d, p);
    int64_t *src = p->src, *dst = p->dst, n = pairs_of(p, GN_PART_TRAIN, src, dst);
    p->src = p->dst = NULL;
    return gn_dataset_add_relation(d, GN_NAME_LINKS, 0, 0, n, src, dst, NULL);
}

gn_status *gn_links_hold_out(gn_dataset *d, uint64_t seed, gn_links *out)
{
    pairs p = {0};
    *out = (gn_links){0};
    gn_status *s = hold_out(d, seed, &p, out);
    free_pairs(&p);
    if (s) gn_links_free(out);
    return gn_status_annotate(s, "%s", d->name ? d->name : "links");
}
