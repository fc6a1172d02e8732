#include "runtime/data/json_entries.h"

#include "runtime/data/lines.h"

#include <string.h>

#define LINE_FAIL(in, ...)                                                                         \
    return gn_text_error(__FILE__, __LINE__, (in)->origin, (in)->line, __VA_ARGS__)

gn_json_entries gn_json_entries_of(const void *bytes, size_t n, const char *origin)
{
    return (gn_json_entries){
        .origin = origin, .p = bytes, .end = (const char *)bytes + n, .line = 1};
}

static void advance(gn_json_entries *in, size_t n)
{
    for (const char *to = in->p + n; in->p < to; in->p++) in->line += *in->p == '\n';
}

/* The next character that is no blank; 0: the text ends. */
static char peek(gn_json_entries *in)
{
    while (in->p < in->end && *in->p && strchr(" \t\r\n", *in->p)) advance(in, 1);
    return (char)(in->p < in->end ? *in->p : 0);
}

static bool accept(gn_json_entries *in, char c)
{
    if (peek(in) != c) return false;
    advance(in, 1);
    return true;
}

static gn_status *value(gn_json_entries *in, json_t **out)
{
    json_error_t e;
    peek(in);
    *out = json_loadb(in->p, (size_t)(in->end - in->p), JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK,
                      &e);
    if (!*out)
        return gn_text_error(__FILE__, __LINE__, in->origin,
                             in->line + (e.line > 0 ? e.line - 1 : 0), "JSON: %s", e.text);
    if (e.position <= 0 || e.position > in->end - in->p)
        LINE_FAIL(in, "a value of more than 2 GiB");
    advance(in, (size_t)e.position);
    return NULL;
}

static gn_status *read_entry(gn_json_entries *in, gn_json_entry *out)
{
    GN_TRY(value(in, &out->key));
    if (!json_is_string(out->key)) LINE_FAIL(in, "expected a name in quotes");
    if (!accept(in, ':')) LINE_FAIL(in, "expected `:` behind a name");
    peek(in);
    out->line = in->line;
    return value(in, &out->value);
}

gn_status *gn_json_next(gn_json_entries *in, gn_json_entry *out)
{
    *out = (gn_json_entry){0};
    bool first = !in->begun, more;
    if (first && !accept(in, '{')) LINE_FAIL(in, "expected an object: `{`");
    in->begun = true;
    if (first)
        more = peek(in) != '}';
    else
        more = accept(in, ',');
    if (more) {
        gn_status *s = read_entry(in, out);
        if (s) gn_json_entry_free(out);
        return s;
    }
    if (!accept(in, '}')) LINE_FAIL(in, "expected `,` or `}`");
    if (in->p < in->end && (peek(in) || in->p < in->end))
        LINE_FAIL(in, "expected the end behind `}`");
    return NULL;
}

void gn_json_entry_free(gn_json_entry *e)
{
    json_decref(e->key);
    json_decref(e->value);
    *e = (gn_json_entry){0};
}
