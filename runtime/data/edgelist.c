/* Edge lists: one `source target [weight]` a line, as lines.h cuts it into fields; # and % start
 * comments.  Behind source and target there may be what networkx.write_edgelist writes, a dict of
 * attributes, of which `weight` is read.  All lines have a weight, or none has; a dict may leave it
 * out, which is 1.  Nodes count from 0; there are as many as the largest number says.  Direction,
 * order and repeats are kept. */
#include "runtime/data/mem.h"
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
    int columns; /* of the lines before that say it; 0: none did */
    int64_t columns_line;
    char left_out[32]; /* the first attribute that is not read */
    int64_t left_out_line;
} parser;

#define LINE_FAIL(p, ...)                                                                          \
    return gn_text_error(__FILE__, __LINE__, (p)->origin, (p)->text.line, __VA_ARGS__)

static bool contains(gn_span s, const char *of)
{
    for (; s.p < s.end; s.p++)
        if (*s.p && strchr(of, *s.p)) return true;
    return false;
}

/* What may have been meant by a field that is no node; "" where nothing comes to mind. */
static const char *what_meant(const parser *p, gn_span w)
{
    double v;
    if (contains(w, ";|:")) return "; fields stand apart by blanks, tabs or commas";
    if (contains(w, "\"'")) return "; numbers stand without quotes";
    if (contains(w, " \t")) return "; where a line has a comma, commas alone separate";
    if (gn_span_float(w, &v) && isfinite(v))
        return "; nodes are whole numbers (numpy.savetxt writes them with fmt=\"%d\")";
    if (p->edges.n || !isalpha((unsigned char)*w.p)) return "";
    return "; `#` before a line of names makes it a comment; nodes that have names are numbered in "
           "a .npz";
}

static gn_status *parse_node(parser *p, gn_span w, int64_t *out)
{
    if (!gn_span_int(w, out) || *out < 0 || *out >= GN_MAX_NODES)
        LINE_FAIL(p, "'%s': expected a node from 0 to %lld%s", gn_span_show(w).s,
                  (long long)GN_MAX_NODES - 1, what_meant(p, w));
    if (*out >= p->nodes) p->nodes = *out + 1;
    return NULL;
}

static gn_status *parse_weight(parser *p, gn_span w, float *out)
{
    double v;
    if (!gn_span_float(w, &v) || !isfinite((float)v))
        LINE_FAIL(p, "'%s': expected a finite weight", gn_span_show(w).s);
    *out = (float)v;
    return NULL;
}

/* ---- the dict ---- */

static void skip_blanks(gn_span *s)
{
    while (s->p < s->end && isspace((unsigned char)*s->p)) s->p++;
}

static bool accept(gn_span *s, char c)
{
    skip_blanks(s);
    if (s->p == s->end || *s->p != c) return false;
    s->p++;
    return true;
}

/* A quoted string of Python; what is between the quotes, escapes as they stand. */
static bool take_string(gn_span *s, gn_span *text)
{
    char quote = accept(s, '\'') ? '\'' : accept(s, '"') ? '"' : 0;
    text->p = s->p;
    if (!quote) return false;
    while (s->p < s->end && *s->p != quote) s->p += *s->p == '\\' && s->end - s->p > 1 ? 2 : 1;
    text->end = s->p;
    return accept(s, quote);
}

/* Any literal of Python up to the comma or brace that follows it. */
static bool take_value(gn_span *s, gn_span *value)
{
    gn_span text;
    int depth = 0;
    skip_blanks(s);
    for (value->p = s->p; s->p < s->end;) {
        char c = *s->p;
        if (c == '\'' || c == '"') {
            if (!take_string(s, &text)) return false;
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}')) break;
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
        if (depth < 0) return false;
        s->p++;
    }
    value->end = s->p;
    gn_span_trim(value);
    return depth == 0 && value->p < value->end;
}

/* {'weight': 0.5, 'color': 'red'}: weight where there is one, else *weighted stays false. */
static gn_status *parse_dict(parser *p, gn_span s, bool *weighted, float *weight)
{
    gn_span key, value;
    static const char expected[] = "expected a dict of attributes, such as {'weight': 0.5}";
    if (!accept(&s, '{')) LINE_FAIL(p, "%s", expected);
    while (!accept(&s, '}')) {
        if (!take_string(&s, &key) || !accept(&s, ':') || !take_value(&s, &value))
            LINE_FAIL(p, "%s", expected);
        if (key.end - key.p == 6 && !memcmp(key.p, "weight", 6)) {
            GN_TRY(parse_weight(p, value, weight));
            *weighted = true;
        } else if (!p->left_out_line) {
            memcpy(p->left_out, gn_span_show(key).s, sizeof p->left_out);
            p->left_out_line = p->text.line;
        }
        if (!accept(&s, ',') && (s.p == s.end || *s.p != '}')) LINE_FAIL(p, "%s", expected);
    }
    skip_blanks(&s);
    if (s.p < s.end && *s.p != '#')
        LINE_FAIL(p, "'%s' is too much behind a dict", gn_span_show(s).s);
    return NULL;
}

/* ---- lines ---- */

/* Without what begins with # or % where a field may begin. */
static gn_span without_comment(gn_span line)
{
    for (const char *c = line.p; c < line.end; c++)
        if ((*c == '#' || *c == '%') && (c == line.p || strchr(" \t,", c[-1])))
            return (gn_span){line.p, c};
    return line;
}

static gn_status *check_columns(parser *p, int columns)
{
    if (!p->columns) {
        p->columns = columns;
        p->columns_line = p->text.line;
    }
    if (p->columns == columns) return NULL;
    LINE_FAIL(p,
              "%s, and line %lld has %s: expected `source target weight` in all lines, or `source "
              "target` in all",
              columns == 3 ? "a weight" : "no weight", (long long)p->columns_line,
              columns == 3 ? "none" : "one");
}

static gn_status *check_fields(const parser *p, const gn_span *field, int n, int most)
{
    if (n < 2) LINE_FAIL(p, "expected `source target [weight]`");
    for (int k = 0; k < n && k < most; k++)
        if (field[k].p == field[k].end)
            LINE_FAIL(p, "field %d is empty: expected `source target [weight]`", k + 1);
    if (n > most)
        LINE_FAIL(p, "'%s' is too much: expected `source target [weight]`",
                  gn_span_show(field[most]).s);
    return NULL;
}

static gn_status *parse_line(parser *p, gn_span line)
{
    enum { MOST = 3 };
    gn_span field[MOST + 1], rest = line, word;
    int64_t src, dst;
    float weight = 1;
    if (!gn_text_word(&rest, &word) || *word.p == '#' || *word.p == '%') return NULL;
    const char *brace = memchr(line.p, '{', (size_t)(line.end - line.p));
    gn_span head = without_comment((gn_span){line.p, brace ? brace : line.end});
    bool dict = brace && head.end == brace, weighted = false;
    int n = gn_text_fields(head, field, MOST + 1);
    GN_TRY(check_fields(p, field, n, dict ? 2 : MOST));
    GN_TRY(parse_node(p, field[0], &src));
    GN_TRY(parse_node(p, field[1], &dst));
    if (dict)
        GN_TRY(parse_dict(p, (gn_span){brace, line.end}, &weighted, &weight));
    else
        GN_TRY(check_columns(p, n));
    if (n == MOST) GN_TRY(parse_weight(p, field[2], &weight));
    if (n == MOST || weighted) return gn_edges_push_weighted(&p->edges, src, dst, weight);
    return gn_edges_push(&p->edges, src, dst);
}

/* A first line that counts nodes and edges, as some formats begin with. */
static gn_status *remark_counts(const parser *p, gn_dataset *d)
{
    const gn_edges *e = &p->edges;
    int64_t most = 0;
    if (e->n < 4 || e->dst[0] != e->n - 1) return NULL;
    for (int64_t i = 1; i < e->n; i++) {
        if (e->src[i] > most) most = e->src[i];
        if (e->dst[i] > most) most = e->dst[i];
    }
    if (e->src[0] != most && e->src[0] != most + 1) return NULL;
    return gn_dataset_remark(
        d,
        "the first line, %lld %lld, was read as an edge, and may count the nodes and the %lld "
        "edges that follow: `#` before it makes it a comment",
        (long long)e->src[0], (long long)e->dst[0], (long long)e->n - 1);
}

static gn_status *remarks(const parser *p, gn_dataset *d)
{
    if (p->left_out_line)
        GN_TRY(gn_dataset_remark(d,
                                 "of edges' attributes `weight` alone is read; line %lld has `%s`",
                                 (long long)p->left_out_line, p->left_out));
    GN_TRY(remark_counts(p, d));
    return gn_edges_remark_gaps(&p->edges, p->nodes, d);
}

static gn_status *parse(parser *p, gn_dataset **d)
{
    gn_span line;
    gn_text_skip_mark(&p->text);
    while (gn_text_line(&p->text, &line)) GN_TRY(parse_line(p, line));
    if (p->edges.n == 0)
        GN_FAIL(GN_ERR_DATA, "%s: no edges: expected `source target [weight]` lines", p->origin);
    GN_TRY(gn_edges_check_gaps(p->origin, p->nodes, p->edges.n));
    GN_TRY(gn_dataset_new(NULL, d));
    (*d)->n_nodes = p->nodes;
    GN_TRY(remarks(p, *d));
    gn_edges_give(&p->edges, *d);
    return NULL;
}

gn_status *gn_edgelist_parse(const void *bytes, size_t n, gn_reading *r, gn_dataset **out)
{
    parser p = {.origin = r->origin, .text = {bytes, (const char *)bytes + n, 0}};
    gn_dataset *d = NULL;
    gn_status *s = parse(&p, &d);
    gn_edges_free(&p.edges);
    if (s)
        gn_dataset_free(d);
    else
        *out = d;
    return s;
}
