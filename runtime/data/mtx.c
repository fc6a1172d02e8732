/* Matrix Market files: https://math.nist.gov/MatrixMarket/formats.html
 *
 * Entry (i, j) is the edge i -> j.  Symmetric matrices store one triangle and mean both; direction
 * and repeats of general ones are kept.  Numbers become weights.  A dense matrix (`array`: its
 * columns one after another, a number a line) has an edge where it is not 0. */
#include "runtime/data/mem.h"
#include "runtime/data/readers.h"
#include "runtime/data/lines.h"

#include <math.h>

enum symmetry { GENERAL, SYMMETRIC, SKEW };
enum field { PATTERN, REAL, INTEGER, UNSIGNED };

typedef struct parser {
    const char *origin;
    gn_text text;
    gn_span line;
    enum field field;
    enum symmetry symmetry;
    bool dense;
    bool above, below; /* of entries, where is one off the diagonal */
    int64_t nodes, entries;
    gn_edges edges;
} parser;

#define LINE_FAIL(p, ...)                                                                          \
    return gn_text_error(__FILE__, __LINE__, (p)->origin, (p)->text.line, __VA_ARGS__)

typedef struct choice {
    const char *text;
    int is;
} choice;

static const choice formats[] = {{"coordinate", false}, {"array", true}, {NULL, 0}};
static const choice fields[] = {
    {"pattern", PATTERN},           {"real", REAL}, {"double", REAL}, {"integer", INTEGER},
    {"unsigned-integer", UNSIGNED}, {NULL, 0}};
/* A Hermitian matrix of real numbers is a symmetric one. */
static const choice symmetries[] = {{"general", GENERAL},
                                    {"symmetric", SYMMETRIC},
                                    {"hermitian", SYMMETRIC},
                                    {"skew-symmetric", SKEW},
                                    {NULL, 0}};

static gn_status *look_up(const parser *p, gn_span w, const choice *words, const char *expected,
                          int *out)
{
    while (words->text && !gn_span_is(w, words->text)) words++;
    if (!words->text) LINE_FAIL(p, "'%s': expected %s", gn_span_show(w).s, expected);
    *out = words->is;
    return NULL;
}

static gn_status *end_of_line(parser *p)
{
    gn_span w;
    if (gn_text_word(&p->line, &w)) LINE_FAIL(p, "'%s' is too much", gn_span_show(w).s);
    return NULL;
}

static gn_status *parse_banner(parser *p)
{
    gn_span w[5];
    int dense, field, symmetry;
    gn_text_skip_mark(&p->text);
    if (!gn_text_line(&p->text, &p->line)) LINE_FAIL(p, "expected a %%%%MatrixMarket line");
    for (int i = 0; i < 5; i++)
        if (!gn_text_word(&p->line, &w[i]))
            LINE_FAIL(p, "expected five words after %%%%MatrixMarket");
    if (!gn_span_is(w[0], "%%MatrixMarket") || !gn_span_is(w[1], "matrix"))
        LINE_FAIL(
            p, "expected `%%%%MatrixMarket matrix coordinate` or `%%%%MatrixMarket matrix array`");
    GN_TRY(look_up(p, w[2], formats, "coordinate or array", &dense));
    GN_TRY(look_up(p, w[3], fields,
                   "pattern, real, integer or unsigned-integer: an edge has one number", &field));
    GN_TRY(
        look_up(p, w[4], symmetries, "general, symmetric, hermitian or skew-symmetric", &symmetry));
    GN_TRY(end_of_line(p));
    p->dense = dense;
    p->field = (enum field)field;
    p->symmetry = (enum symmetry)symmetry;
    if (p->symmetry == SKEW && p->field == PATTERN)
        LINE_FAIL(p, "a pattern cannot be skew-symmetric");
    if (p->dense && p->field == PATTERN)
        LINE_FAIL(p, "an array has numbers: `pattern` is of coordinate files");
    return NULL;
}

static gn_status *next_int(parser *p, const char *what, int64_t least, int64_t most, int64_t *out)
{
    gn_span w;
    if (!gn_text_word(&p->line, &w)) LINE_FAIL(p, "expected %s", what);
    if (!gn_span_int(w, out) || *out < least || *out > most)
        LINE_FAIL(p, "'%s': expected %s from %lld to %lld", gn_span_show(w).s, what,
                  (long long)least, (long long)most);
    return NULL;
}

/* The next line that is neither empty nor a comment. */
static bool next_line(parser *p)
{
    while (gn_text_line(&p->text, &p->line)) {
        gn_span rest = p->line, word;
        if (gn_text_word(&rest, &word) && *word.p != '%') return true;
    }
    return false;
}

/* How many numbers an array has: all of them, or those of one triangle. */
static int64_t numbers(const parser *p)
{
    int64_t n = p->nodes; /* n * n stays below 2^62 */
    return p->symmetry == GENERAL     ? n * n
           : p->symmetry == SYMMETRIC ? n * (n + 1) / 2
                                      : n * (n - 1) / 2;
}

static gn_status *parse_size(parser *p)
{
    int64_t cols;
    if (!next_line(p)) LINE_FAIL(p, "the file ends before its size line");
    GN_TRY(next_int(p, "a number of rows", 0, GN_MAX_NODES, &p->nodes));
    GN_TRY(next_int(p, "a number of columns", 0, GN_MAX_NODES, &cols));
    if (!p->dense) GN_TRY(next_int(p, "a number of entries", 0, INT64_MAX / 4, &p->entries));
    GN_TRY(end_of_line(p));
    if (p->nodes != cols)
        LINE_FAIL(p, "%lld x %lld: expected a square matrix, one row and column a node",
                  (long long)p->nodes, (long long)cols);
    if (p->dense) p->entries = numbers(p);
    int64_t left = p->text.end - p->text.p, least = p->dense ? 2 : 4; /* bytes of "1" or "1 1", and
                                                                         of a line's end */
    if (p->entries > left / least + 1)
        LINE_FAIL(p, "%lld %s in %lld bytes: the file is truncated", (long long)p->entries,
                  p->dense ? "numbers" : "entries", (long long)left);
    if (p->dense) return NULL;
    return gn_edges_reserve(&p->edges, p->symmetry == GENERAL ? p->entries : 2 * p->entries,
                            p->field != PATTERN);
}

static gn_status *push(parser *p, int64_t i, int64_t j, float weight)
{
    if (p->field == PATTERN) return gn_edges_push(&p->edges, i, j);
    return gn_edges_push_weighted(&p->edges, i, j, weight);
}

static gn_status *push_both(parser *p, int64_t i, int64_t j, float v)
{
    GN_TRY(push(p, i, j, v));
    if (p->symmetry == GENERAL || i == j) return NULL;
    return push(p, j, i, p->symmetry == SKEW ? -v : v);
}

static bool all_digits(gn_span w)
{
    if (w.p < w.end && (*w.p == '-' || *w.p == '+')) w.p++;
    bool any = w.p < w.end;
    while (w.p < w.end && *w.p >= '0' && *w.p <= '9') w.p++;
    return any && w.p == w.end;
}

static gn_status *parse_number(parser *p, float *out)
{
    gn_span w;
    double v;
    if (!gn_text_word(&p->line, &w)) LINE_FAIL(p, "expected a value");
    bool whole = p->field == INTEGER || p->field == UNSIGNED;
    if (whole && (!all_digits(w) || (p->field == UNSIGNED && *w.p == '-')))
        LINE_FAIL(p, "'%s': expected a whole number%s, as the first line says", gn_span_show(w).s,
                  p->field == UNSIGNED ? " from 0" : "");
    if (!gn_span_float(w, &v) || !isfinite((float)v))
        LINE_FAIL(p, "'%s': expected a finite number", gn_span_show(w).s);
    *out = (float)v;
    return end_of_line(p);
}

/* One triangle means both: a file with both would have every edge twice. */
static gn_status *check_triangle(parser *p, int64_t i, int64_t j)
{
    if (p->symmetry == SKEW && i == j)
        LINE_FAIL(p, "a skew-symmetric matrix has 0 on its diagonal: expected no entry");
    p->above |= i < j;
    p->below |= i > j;
    if (p->symmetry != GENERAL && p->above && p->below)
        LINE_FAIL(p,
                  "entry (%lld, %lld) is %s the diagonal, and others are %s: a symmetric file has "
                  "one triangle; "
                  "`general` has all entries",
                  (long long)i, (long long)j, i < j ? "above" : "below", i < j ? "below" : "above");
    return NULL;
}

static gn_status *parse_entry(parser *p)
{
    int64_t i, j;
    float v = 1;
    GN_TRY(next_int(p, "a row", 1, p->nodes, &i));
    GN_TRY(next_int(p, "a column", 1, p->nodes, &j));
    if (p->field == PATTERN)
        GN_TRY(end_of_line(p));
    else
        GN_TRY(parse_number(p, &v));
    GN_TRY(check_triangle(p, i, j));
    return push_both(p, i - 1, j - 1, v);
}

static gn_status *next_entry(parser *p, int64_t k)
{
    if (next_line(p)) return NULL;
    LINE_FAIL(p, "the file ends after %lld of %lld %s", (long long)k, (long long)p->entries,
              p->dense ? "numbers" : "entries");
}

static gn_status *parse_array(parser *p)
{
    int64_t k = 0;
    for (int64_t j = 0; j < p->nodes; j++) {
        int64_t first = p->symmetry == GENERAL ? 0 : p->symmetry == SYMMETRIC ? j : j + 1;
        for (int64_t i = first; i < p->nodes; i++, k++) {
            float v;
            GN_TRY(next_entry(p, k));
            GN_TRY(parse_number(p, &v));
            if (v != 0) GN_TRY(push_both(p, i, j, v));
        }
    }
    return NULL;
}

static gn_status *parse(parser *p)
{
    GN_TRY(parse_banner(p));
    GN_TRY(parse_size(p));
    if (p->dense) GN_TRY(parse_array(p));
    for (int64_t k = 0; !p->dense && k < p->entries; k++) {
        GN_TRY(next_entry(p, k));
        GN_TRY(parse_entry(p));
    }
    if (next_line(p))
        LINE_FAIL(p, "more than the %lld %s %s", (long long)p->entries,
                  p->dense ? "numbers" : "entries", p->dense ? "of such a matrix" : "announced");
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
