/* Matrix Market coordinate files: https://math.nist.gov/MatrixMarket/formats.html
 *
 * Entry (i, j) is the edge i -> j.  Symmetric matrices store one triangle and mean both; direction and repeats of
 * general ones are kept.  Real values become weights. */
#include "runtime/data/mem.h"
#include "runtime/data/readers.h"
#include "runtime/data/lines.h"

#include <math.h>

enum symmetry { GENERAL, SYMMETRIC, SKEW };

typedef struct parser {
    const char *origin;
    gn_text text;
    gn_span line;
    bool weighted;
    enum symmetry symmetry;
    int64_t nodes, entries;
    gn_edges edges;
} parser;

#define LINE_FAIL(p, ...) return gn_text_error(__FILE__, __LINE__, (p)->origin, (p)->text.line, __VA_ARGS__)

static gn_status *parse_banner(parser *p)
{
    gn_span w[5];
    if (!gn_text_line(&p->text, &p->line)) LINE_FAIL(p, "expected a %%%%MatrixMarket line");
    for (int i = 0; i < 5; i++)
        if (!gn_text_word(&p->line, false, &w[i])) LINE_FAIL(p, "expected five words after %%%%MatrixMarket");
    if (!gn_span_is(w[0], "%%MatrixMarket") || !gn_span_is(w[1], "matrix") || !gn_span_is(w[2], "coordinate"))
        LINE_FAIL(p, "expected `%%%%MatrixMarket matrix coordinate`");
    p->weighted = !gn_span_is(w[3], "pattern");
    if (p->weighted && !gn_span_is(w[3], "real") && !gn_span_is(w[3], "integer") && !gn_span_is(w[3], "double"))
        LINE_FAIL(p, "'%s': expected pattern, real or integer", gn_span_show(w[3]).s);
    if (gn_span_is(w[4], "symmetric"))
        p->symmetry = SYMMETRIC;
    else if (gn_span_is(w[4], "skew-symmetric"))
        p->symmetry = SKEW;
    else if (!gn_span_is(w[4], "general"))
        LINE_FAIL(p, "'%s': expected general, symmetric or skew-symmetric", gn_span_show(w[4]).s);
    if (p->symmetry == SKEW && !p->weighted) LINE_FAIL(p, "a pattern cannot be skew-symmetric");
    return NULL;
}

static gn_status *next_int(parser *p, const char *what, int64_t least, int64_t most, int64_t *out)
{
    gn_span w;
    if (!gn_text_word(&p->line, false, &w)) LINE_FAIL(p, "expected %s", what);
    if (!gn_span_int(w, out) || *out < least || *out > most)
        LINE_FAIL(p, "'%s': expected %s from %lld to %lld", gn_span_show(w).s, what, (long long)least, (long long)most);
    return NULL;
}

static gn_status *end_of_line(parser *p)
{
    gn_span w;
    if (gn_text_word(&p->line, false, &w)) LINE_FAIL(p, "'%s' is too much", gn_span_show(w).s);
    return NULL;
}

/* The next line that is neither empty nor a comment. */
static bool next_line(parser *p)
{
    while (gn_text_line(&p->text, &p->line)) {
        gn_span rest = p->line, word;
        if (gn_text_word(&rest, false, &word) && *word.p != '%') return true;
    }
    return false;
}

static gn_status *parse_size(parser *p)
{
    int64_t cols;
    if (!next_line(p)) LINE_FAIL(p, "the file ends before its size line");
    GN_TRY(next_int(p, "a number of rows", 0, GN_MAX_NODES, &p->nodes));
    GN_TRY(next_int(p, "a number of columns", 0, GN_MAX_NODES, &cols));
    GN_TRY(next_int(p, "a number of entries", 0, INT64_MAX / 4, &p->entries));
    GN_TRY(end_of_line(p));
    if (p->nodes != cols)
        LINE_FAIL(p, "%lld x %lld: expected a square matrix, one row and column a node", (long long)p->nodes,
                  (long long)cols);
    int64_t left = p->text.end - p->text.p; /* an entry takes at least "1 1" and a line's end, but for the last */
    if (p->entries > left / 4 + 1)
        LINE_FAIL(p, "%lld entries in %lld bytes: the file is truncated", (long long)p->entries, (long long)left);
    return gn_edges_reserve(&p->edges, p->symmetry == GENERAL ? p->entries : 2 * p->entries, p->weighted);
}

static gn_status *push(parser *p, int64_t i, int64_t j, float weight)
{
    if (!p->weighted) return gn_edges_push(&p->edges, i, j);
    return gn_edges_push_weighted(&p->edges, i, j, weight);
}

static gn_status *parse_entry(parser *p)
{
    int64_t i, j;
    double v = 1;
    gn_span w;
    GN_TRY(next_int(p, "a row", 1, p->nodes, &i));
    GN_TRY(next_int(p, "a column", 1, p->nodes, &j));
    if (p->weighted) {
        if (!gn_text_word(&p->line, false, &w)) LINE_FAIL(p, "expected a value");
        if (!gn_span_float(w, &v) || !isfinite((float)v))
            LINE_FAIL(p, "'%s': expected a finite number", gn_span_show(w).s);
    }
    GN_TRY(end_of_line(p));
    GN_TRY(push(p, i - 1, j - 1, (float)v));
    if (p->symmetry != GENERAL && i != j) return push(p, j - 1, i - 1, p->symmetry == SKEW ? (float)-v : (float)v);
    return NULL;
}

static gn_status *parse(parser *p)
{
    GN_TRY(parse_banner(p));
    GN_TRY(parse_size(p));
    for (int64_t k = 0; k < p->entries; k++) {
        if (!next_line(p))
            LINE_FAIL(p, "the file ends after %lld of %lld entries", (long long)k, (long long)p->entries);
        GN_TRY(parse_entry(p));
    }
    if (next_line(p)) LINE_FAIL(p, "more than the %lld entries announced", (long long)p->entries);
    return NULL;
}

gn_status *gn_mtx_parse(const void *bytes, size_t n, gn_reading *r, gn_dataset **out)
{
    parser p = {.origin = r->origin, .text = {bytes, (const char *)bytes + n, 0}};
    gn_dataset *d = NULL;
    gn_status *s = parse(&p);
    if (!s) s = gn_dataset_new(NULL, &d);
    if (!s) {
        d->n_nodes = p.nodes;
        gn_edges_give(&p.edges, d);
        *out = d;
    }
    gn_edges_free(&p.edges);
    return s;
}
