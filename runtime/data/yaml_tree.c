#include "runtime/data/yaml_tree.h"

#include "runtime/data/lines.h"
#include "runtime/data/mem.h"

#include <stdarg.h>
#include <string.h>
#include <yaml.h>

struct gn_yaml {
    const char *origin;
    yaml_document_t document;
};

/* libyaml takes time in the square of depth, anchors and directives. */
enum { MOST_BYTES = 1 << 18, MOST_DEPTH = 64, MOST_KEYS = 256 };

static yaml_node_t *node_of(const gn_yaml *y, int node)
{
    yaml_document_t *d = (yaml_document_t *)(uintptr_t)&y->document; /* it is only read */
    return node > 0 ? yaml_document_get_node(d, node) : NULL;
}

static const char *word_of(const yaml_node_t *n)
{
    return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;
}

/* Fit for a message: no control characters, whether ASCII's or the others (U+0080 to U+009F). */
static bool is_plain(const yaml_node_t *n)
{
    const unsigned char *p = n->data.scalar.value;
    for (size_t i = 0; i < n->data.scalar.length; i++)
        if (p[i] < 32 || p[i] == 127 || (p[i] == 0xc2 && p[i + 1] < 0xa0)) return false;
    return true;
}

static bool is_null(const yaml_node_t *n)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    const char *word = word_of(n);
    if (!word || n->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return false;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (!strcmp(word, words[k])) return true;
    return false;
}

gn_status *gn_yaml_error(const char *file, int at, const gn_yaml *y, int node, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    gn_status *s = gn_status_vmake(GN_ERR_DATA, file, at, fmt, ap);
    va_end(ap);
    return gn_status_annotate(s, "%s:%d", y->origin, gn_yaml_line(y, node));
}

int gn_yaml_line(const gn_yaml *y, int node)
{
    const yaml_node_t *n = node_of(y, node);
    return n ? (int)n->start_mark.line + 1 : 1;
}

/* ---- checks ---- */

static gn_status *check_mapping(const gn_yaml *y, const yaml_node_t *n)
{
    const yaml_node_pair_t *first = n->data.mapping.pairs.start, *end = n->data.mapping.pairs.top;
    for (const yaml_node_pair_t *p = first; p < end; p++) {
        const char *key = word_of(node_of(y, p->key));
        if (!key || !is_plain(node_of(y, p->key)))
            GN_YAML_FAIL(y, p->key, "expected a word before `:`");
        for (const yaml_node_pair_t *q = first; q < p; q++)
            if (!strcmp(key, word_of(node_of(y, q->key))))
                GN_YAML_FAIL(y, p->key, "`%s` is given twice", key);
    }
    return NULL;
}

static gn_status *check_keys(const gn_yaml *y)
{
    int nodes = (int)(y->document.nodes.top - y->document.nodes.start);
    for (int k = 1; k <= nodes; k++) {
        const yaml_node_t *n = node_of(y, k);
        if (n->type != YAML_MAPPING_NODE) continue;
        if (n->data.mapping.pairs.top - n->data.mapping.pairs.start > MOST_KEYS)
            GN_YAML_FAIL(y, k, "a mapping of more than %d keys", MOST_KEYS);
        GN_TRY(check_mapping(y, n));
    }
    return NULL;
}

/* ---- parsing ---- */

static gn_status *problem(const yaml_parser_t *p, const char *origin)
{
    if (p->error == YAML_MEMORY_ERROR) GN_FAIL(GN_ERR_NOMEM, "out of memory: %s", origin);
    GN_FAIL(GN_ERR_DATA, "%s:%d: YAML: %s%s%s", origin, (int)p->problem_mark.line + 1,
            p->context ? p->context : "", p->context ? ": " : "",
            p->problem ? p->problem : "not a document");
}

static const void *anchor_of(const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_ALIAS_EVENT: return e->data.alias.anchor;
    case YAML_SCALAR_EVENT: return e->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT: return e->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT: return e->data.mapping_start.anchor;
    default: return NULL;
    }
}

/* Reads up to the end of the document. */
static gn_status *check_events(yaml_parser_t *p, const char *origin)
{
    int depth = 0;
    for (bool end = false; !end;) {
        yaml_event_t e;
        if (!yaml_parser_parse(p, &e)) return problem(p, origin);
        bool anchor = anchor_of(&e) != NULL;
        int line = (int)e.start_mark.line + 1;
        depth += e.type == YAML_SEQUENCE_START_EVENT || e.type == YAML_MAPPING_START_EVENT;
        depth -= e.type == YAML_SEQUENCE_END_EVENT || e.type == YAML_MAPPING_END_EVENT;
        end = e.type == YAML_DOCUMENT_END_EVENT || e.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&e);
        if (anchor)
            GN_FAIL(GN_ERR_DATA, "%s:%d: anchors and aliases (`&`, `*`) are not read: write it out",
                    origin, line);
        if (depth > MOST_DEPTH)
            GN_FAIL(GN_ERR_DATA, "%s:%d: lists and mappings more than %d deep", origin, line,
                    MOST_DEPTH);
    }
    return NULL;
}

static gn_status *load(yaml_parser_t *p, const char *origin, gn_yaml *y)
{
    if (!yaml_parser_load(p, &y->document)) return problem(p, origin);
    gn_status *s = check_keys(y);
    if (s) yaml_document_delete(&y->document);
    return s;
}

/* Once for the events (y NULL) and once for the tree. */
static gn_status *pass(const void *bytes, size_t n, const char *origin, gn_yaml *y)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) GN_FAIL(GN_ERR_NOMEM, "out of memory: %s", origin);
    yaml_parser_set_input_string(&parser, bytes, n);
    gn_status *s = y ? load(&parser, origin, y) : check_events(&parser, origin);
    yaml_parser_delete(&parser);
    return s;
}

gn_status *gn_yaml_parse(const void *bytes, size_t n, const char *origin, gn_yaml **out)
{
    gn_yaml *y;
    *out = NULL;
    if (n > MOST_BYTES)
        GN_FAIL(GN_ERR_DATA, "%s: %zu bytes: expected at most %d", origin, n, MOST_BYTES);
    GN_TRY(pass(bytes, n, origin, NULL));
    GN_MEM(y, 1);
    y->origin = origin;
    gn_status *s = pass(bytes, n, origin, y);
    if (s)
        free(y);
    else
        *out = y;
    return s;
}

void gn_yaml_free(gn_yaml *y)
{
    if (y) yaml_document_delete(&y->document);
    free(y);
}

/* ---- the tree ---- */

int gn_yaml_root(const gn_yaml *y) { return node_of(y, 1) && !is_null(node_of(y, 1)); }

bool gn_yaml_entry(const gn_yaml *y, int mapping, int k, const char **key, int *value)
{
    const yaml_node_t *n = node_of(y, mapping);
    if (!n || n->type != YAML_MAPPING_NODE) return false;
    const yaml_node_pair_t *p = n->data.mapping.pairs.start;
    if (k < 0 || k >= n->data.mapping.pairs.top - p) return false;
    *key = word_of(node_of(y, p[k].key));
    *value = is_null(node_of(y, p[k].value)) ? 0 : p[k].value;
    return true;
}

int gn_yaml_get(const gn_yaml *y, int mapping, const char *key)
{
    const char *is;
    int value;
    for (int k = 0; gn_yaml_entry(y, mapping, k, &is, &value); k++)
        if (!strcmp(is, key)) return value;
    return 0;
}

gn_status *gn_yaml_count(const gn_yaml *y, int list, const char *what, int *n)
{
    const yaml_node_t *is = node_of(y, list);
    *n = 0;
    if (!is) return NULL;
    if (is->type != YAML_SEQUENCE_NODE) GN_YAML_FAIL(y, list, "%s: expected a list", what);
    *n = (int)(is->data.sequence.items.top - is->data.sequence.items.start);
    return NULL;
}

int gn_yaml_item(const gn_yaml *y, int list, int k)
{
    const yaml_node_t *n = node_of(y, list);
    if (!n || n->type != YAML_SEQUENCE_NODE) return 0;
    return n->data.sequence.items.start[k];
}

gn_status *gn_yaml_word(const gn_yaml *y, int mapping, const char *key, bool needed,
                        const char **out)
{
    int value = gn_yaml_get(y, mapping, key);
    const yaml_node_t *n = node_of(y, value);
    *out = word_of(n);
    if (n && (!*out || !is_plain(n))) GN_YAML_FAIL(y, value, "%s: expected a word", key);
    if (!n && needed) GN_YAML_FAIL(y, mapping, "expected `%s:` here", key);
    return NULL;
}

gn_status *gn_yaml_number(const gn_yaml *y, int mapping, const char *key, bool needed, int64_t *out)
{
    const char *word;
    GN_TRY(gn_yaml_word(y, mapping, key, needed, &word));
    *out = -1;
    if (!word) return NULL;
    gn_span s = {word, word + strlen(word)};
    if (!gn_span_int(s, out) || *out < 0)
        GN_YAML_FAIL(y, gn_yaml_get(y, mapping, key), "%s: '%s': expected a whole number", key,
                     gn_span_show(s).s);
    return NULL;
}
