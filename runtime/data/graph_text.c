/* gnnc's own text format for small graphs with labels; the karate club is written in it.
 *
 *     gnnc graph 1            first line
 *     nodes N                 before any node or edge
 *     classes C               when nodes have classes
 *     undirected              every edge below stands for both directions
 *     features identity       node i's features are row i of the identity; or `features F` and x
 *                             lines
 *     node I C [train|val|test]
 *     x I v1 ... vF
 *     edge U V [weight]
 *
 * Nodes count from 0; # starts a comment line. */
#include "runtime/data/mem.h"
#include "runtime/data/readers.h"
#include "runtime/data/lines.h"

#include <math.h>
#include <string.h>

typedef struct parser {
    const char *origin;
    gn_text text;
    int64_t size; /* of the file */
    gn_span line; /* what is left of the line */
    gn_dataset *d;
    gn_edges edges;
    bool has_nodes, undirected, has_masks;
    bool *has_x; /* [nodes], from `features` on */
} parser;

#define LINE_FAIL(p, ...)                                                                          \
    return gn_text_error(__FILE__, __LINE__, (p)->origin, (p)->text.line, __VA_ARGS__)

static gn_status *next_int(parser *p, const char *what, int64_t limit, int64_t *out)
{
    gn_span w;
    if (!gn_text_word(&p->line, &w)) LINE_FAIL(p, "expected %s", what);
    if (!gn_span_int(w, out) || *out < 0 || *out >= limit)
        LINE_FAIL(p, "'%s': expected %s from 0 to %lld", gn_span_show(w).s, what,
                  (long long)limit - 1);
    return NULL;
}

static gn_status *next_float(parser *p, float *out)
{
    gn_span w;
    double v;
    if (!gn_text_word(&p->line, &w)) LINE_FAIL(p, "expected a number");
    if (!gn_span_float(w, &v) || !isfinite((float)v))
        LINE_FAIL(p, "'%s': expected a finite number", gn_span_show(w).s);
    *out = (float)v;
    return NULL;
}

/* A node of its own line needs few bytes: more nodes than ten for each byte of the file are
 * refused. */
static gn_status *do_nodes(parser *p)
{
    int64_t limit = p->size * 10;
    if (p->has_nodes) LINE_FAIL(p, "`nodes` was given before");
    GN_TRY(next_int(p, "a number of nodes", (limit < GN_MAX_NODES ? limit : GN_MAX_NODES) + 1,
                    &p->d->n_nodes));
    p->has_nodes = true;
    return NULL;
}

static gn_status *do_classes(parser *p)
{
    if (!p->has_nodes || p->d->y) LINE_FAIL(p, "expected `classes` once, after `nodes`");
    GN_TRY(next_int(p, "a number of classes", INT32_MAX, &p->d->n_classes));
    return gn_dataset_labels(p->d);
}

static gn_status *do_undirected(parser *p)
{
    p->undirected = true;
    return NULL;
}

static gn_status *do_features(parser *p)
{
    gn_span w = p->line, word;
    gn_dataset *d = p->d;
    if (!p->has_nodes || d->x) LINE_FAIL(p, "expected `features` once, after `nodes`");
    if (gn_text_word(&w, &word) && gn_span_is(word, "identity")) {
        if (d->n_nodes > 4096)
            LINE_FAIL(p, "identity features for %lld nodes: expected at most 4096",
                      (long long)d->n_nodes);
        p->line = w;
        d->n_features = d->n_nodes;
        d->synthetic_features = true;
        GN_MEM(d->x, d->n_nodes * d->n_nodes);
        for (int64_t i = 0; i < d->n_nodes; i++) d->x[i * d->n_nodes + i] = 1;
        return NULL;
    }
    int64_t limit = p->size / (d->n_nodes ? d->n_nodes : 1) + 2; /* every row is written out */
    GN_TRY(next_int(p, "`identity` or a number of features", limit, &d->n_features));
    GN_MEM(d->x, d->n_nodes * d->n_features);
    GN_MEM(p->has_x, d->n_nodes);
    return NULL;
}

static gn_status *do_node(parser *p)
{
    int64_t node, class;
    gn_span w;
    gn_dataset *d = p->d;
    if (!d->y) LINE_FAIL(p, "expected `classes` before `node`");
    GN_TRY(next_int(p, "a node", d->n_nodes, &node));
    GN_TRY(next_int(p, "a class", d->n_classes, &class));
    if (d->y[node] >= 0) LINE_FAIL(p, "node %lld was given before", (long long)node);
    d->y[node] = (int32_t)class;
    if (!gn_text_word(&p->line, &w)) return NULL;
    uint8_t *mask = gn_span_is(w, "train")  ? d->train_mask
                    : gn_span_is(w, "val")  ? d->val_mask
                    : gn_span_is(w, "test") ? d->test_mask
                                            : NULL;
    if (!mask) LINE_FAIL(p, "'%s': expected train, val or test", gn_span_show(w).s);
    mask[node] = 1;
    p->has_masks = true;
    return NULL;
}

static gn_status *do_x(parser *p)
{
    int64_t node;
    gn_dataset *d = p->d;
    if (!d->x || d->synthetic_features) LINE_FAIL(p, "expected `features F` before `x`");
    GN_TRY(next_int(p, "a node", d->n_nodes, &node));
    if (p->has_x[node]) LINE_FAIL(p, "`x` of node %lld was given before", (long long)node);
    p->has_x[node] = true;
    for (int64_t f = 0; f < d->n_features; f++)
        GN_TRY(next_float(p, &d->x[node * d->n_features + f]));
    return NULL;
}

static gn_status *do_edge(parser *p)
{
    int64_t u, v;
    float weight = 1;
    gn_span w, word;
    GN_TRY(next_int(p, "a node", p->d->n_nodes, &u));
    GN_TRY(next_int(p, "a node", p->d->n_nodes, &v));
    w = p->line;
    bool weighted = gn_text_word(&w, &word);
    if (weighted) GN_TRY(next_float(p, &weight));
    if (!weighted) return gn_edges_push(&p->edges, u, v);
    return gn_edges_push_weighted(&p->edges, u, v, weight);
}

static const struct {
    const char *word;
    gn_status *(*run)(parser *);
} keys[] = {
    {"nodes", do_nodes},       {"classes", do_classes}, {"undirected", do_undirected},
    {"features", do_features}, {"node", do_node},       {"x", do_x},
    {"edge", do_edge},
};

static gn_status *parse_line(parser *p)
{
    gn_span word, rest;
    if (!gn_text_word(&p->line, &word) || *word.p == '#') return NULL;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        if (!gn_span_is(word, keys[k].word)) continue;
        GN_TRY(keys[k].run(p));
        if (gn_text_word(&p->line, &rest))
            LINE_FAIL(p, "'%s' is too much for `%s`", gn_span_show(rest).s, keys[k].word);
        return NULL;
    }
    LINE_FAIL(p, "'%s': expected nodes, classes, undirected, features, node, x or edge",
              gn_span_show(word).s);
}

static gn_status *parse(parser *p)
{
    GN_TRY(gn_dataset_new(NULL, &p->d));
    gn_span word;
    gn_text_skip_mark(&p->text);
    if (!gn_text_line(&p->text, &p->line)) LINE_FAIL(p, "expected `gnnc graph 1`");
    word = p->line;
    gn_span_trim(&word);
    if (!gn_span_is(word, "gnnc graph 1"))
        LINE_FAIL(p, "'%s': expected `gnnc graph 1`", gn_span_show(word).s);
    while (gn_text_line(&p->text, &p->line)) GN_TRY(parse_line(p));
    if (!p->has_nodes) LINE_FAIL(p, "the file ends without a line `nodes N`");
    gn_dataset *d = p->d;
    if (d->y && !p->has_masks) { /* then the split is drawn */
        free(d->train_mask);
        free(d->val_mask);
        free(d->test_mask);
        d->train_mask = d->val_mask = d->test_mask = NULL;
    }
    int64_t given = 0;
    for (int64_t v = 0; p->has_x && v < d->n_nodes; v++) given += p->has_x[v];
    if (p->has_x && given < d->n_nodes)
        GN_TRY(gn_dataset_remark(d, "%lld of %lld nodes have no line `x`: their features are 0",
                                 (long long)(d->n_nodes - given), (long long)d->n_nodes));
    if (p->undirected) GN_TRY(gn_edges_to_undirected(&p->edges));
    gn_edges_give(&p->edges, d);
    return NULL;
}

gn_status *gn_graph_parse(const void *bytes, size_t n, gn_reading *r, gn_dataset **out)
{
    parser p = {
        .origin = r->origin, .text = {bytes, (const char *)bytes + n, 0}, .size = (int64_t)n};
    gn_status *s = parse(&p);
    gn_edges_free(&p.edges);
    free(p.has_x);
    if (s) {
        gn_dataset_free(p.d);
        return s;
    }
    r->undirected = p.undirected;
    *out = p.d;
    return NULL;
}
