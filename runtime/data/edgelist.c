/* Edge lists: one `src dst [weight]` a line, separated by blanks, tabs or commas; # and % start comments.  Nodes count
 * from 0; there are as many as the largest number says.  Direction, order and repeats are kept. */
#include "runtime/data/readers.h"
#include "runtime/data/lines.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
    const char *origin;
    gn_text text;
    gn_edges edges;
    int64_t nodes;
} parser;

#define LINE_FAIL(p, ...) return gn_text_error(__FILE__, __LINE__, (p)->origin, (p)->text.line, __VA_ARGS__)

static gn_status *parse_node(parser *p, gn_span *line, int64_t *out)
{
    gn_span w;
    if (!gn_text_word(line, true, &w)) LINE_FAIL(p, "expected `source target [weight]`");
    if (!gn_span_int(w, out) || *out < 0 || *out >= GN_MAX_NODES)
        LINE_FAIL(
            p, "'%s': expected a node from 0 to %lld%s", gn_span_show(w).s, (long long)GN_MAX_NODES - 1,
            p->edges.n || !isalpha((unsigned char)*w.p)
                ? ""
                : "; `#` before a line of names makes it a comment; nodes that have names are numbered in a .npz");
    if (*out >= p->nodes) p->nodes = *out + 1;
    return NULL;
}

static gn_status *parse_line(parser *p, gn_span line)
{
    gn_span rest = line, w;
    int64_t src, dst;
    double weight;
    if (!gn_text_word(&rest, true, &w) || *w.p == '#' || *w.p == '%') return NULL;
    GN_TRY(parse_node(p, &line, &src));
    GN_TRY(parse_node(p, &line, &dst));
    if (!gn_text_word(&line, true, &w)) return gn_edges_push(&p->edges, src, dst);
    if (!gn_span_float(w, &weight) || !isfinite((float)weight))
        LINE_FAIL(p, "'%s': expected a finite weight", gn_span_show(w).s);
    if (gn_text_word(&line, true, &w))
        LINE_FAIL(p, "'%s' is too much: expected `source target [weight]`", gn_span_show(w).s);
    return gn_edges_push_weighted(&p->edges, src, dst, (float)weight);
}

gn_status *gn_edgelist_parse(const void *bytes, size_t n, gn_reading *r, gn_dataset **out)
{
    parser p = {.origin = r->origin, .text = {bytes, (const char *)bytes + n, 0}};
    gn_dataset *d = NULL;
    gn_status *s = NULL;
    gn_span line;
    if (n >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) p.text.p += 3; /* a byte order mark, as spreadsheets write it */
    while (!s && gn_text_line(&p.text, &line)) s = parse_line(&p, line);
    if (!s && p.edges.n == 0)
        s = GN_ERROR(GN_ERR_DATA, "%s: no edges: expected `source target [weight]` lines", r->origin);
    if (!s) s = gn_edges_check_gaps(r->origin, p.nodes, p.edges.n);
    if (!s) s = gn_dataset_new(NULL, &d);
    if (!s) {
        d->n_nodes = p.nodes;
        gn_edges_give(&p.edges, d);
        *out = d;
    }
    gn_edges_free(&p.edges);
    return s;
}
