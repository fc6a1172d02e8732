#include "frontend/diag.h"
#include "base/nearest.h"

#include "frontend/elsewhere.h"

#include <stdio.h>
#include <string.h>

enum { EXCERPT = 110 }; /* widest source line shown */

gn_source *gn_source_new(gn_arena *a, const char *name, const char *text, size_t n)
{
    gn_source *s = GN_NEW(a, gn_source);
    s->name = gn_arena_strdup(a, name);
    s->text = gn_arena_strndup(a, text, n);
    s->n = (uint32_t)n;
    uint32_t lines = 1;
    for (size_t i = 0; i < n; i++) lines += text[i] == '\n';
    uint32_t *at = GN_NEW_N(a, uint32_t, lines);
    uint32_t k = 1;
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\n') at[k++] = (uint32_t)i + 1;
    s->n_lines = lines;
    s->line_at = at;
    return s;
}

static uint32_t line_of(const gn_source *s, uint32_t at)
{
    uint32_t lo = 0, hi = s->n_lines;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (s->line_at[mid] <= at)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static bool continues(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
} /* of a UTF-8 character */

static uint32_t characters(const char *s, uint32_t n)
{
    uint32_t c = 0;
    for (uint32_t i = 0; i < n; i++) c += !continues(s[i]);
    return c;
}

void gn_source_position(const gn_source *s, uint32_t at, uint32_t *line, uint32_t *col)
{
    if (at > s->n) at = s->n;
    uint32_t l = line_of(s, at), from = s->line_at[l];
    *line = l + 1;
    *col = characters(s->text + from, at - from) + 1;
}

/* Adds bytes with what a terminal could take for a command made harmless. */
static void add_clean(gn_buf *b, const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)s[i];
        size_t len = c < 0x80 ? 1 : c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC2 ? 2 : 0;
        bool ok = len && i + len <= n && c < 0xF5;
        for (size_t k = 1; ok && k < len; k++) ok = continues(s[i + k]);
        if (!ok) len = 1;
        if (c == 0xC2 && ok && (unsigned char)s[i + 1] < 0xA0) ok = false; /* C1 controls */
        if (c == '\t')
            gn_buf_add(b, " ");
        else if (!ok || c < 0x20 || c == 0x7F)
            gn_buf_add(b, "?");
        else
            gn_buf_addn(b, s + i, len);
        i += len;
    }
}

const char *gn_diag_clean(gn_arena *a, const char *s, size_t n)
{
    gn_buf b = {.arena = a};
    size_t m = n > 40 ? 37 : n;
    while (m < n && m && continues(s[m])) m--;
    add_clean(&b, s, m);
    if (m < n) gn_buf_add(&b, "...");
    return b.p ? b.p : "";
}

/* What a word is called here, where it is known from elsewhere; but no name that is none of the
 * candidates. */
static const char *known_elsewhere(const char *name, const char *const *candidates, size_t n)
{
    static const char asks[] = "; did you mean `";
    const char *hint = gn_elsewhere(name);
    if (!hint || strncmp(hint, asks, sizeof asks - 1) != 0) return hint;
    const char *word = hint + sizeof asks - 1;
    size_t length = strcspn(word, "`(");
    for (size_t k = 0; k < n; k++)
        if (strlen(candidates[k]) == length && strncmp(candidates[k], word, length) == 0)
            return hint;
    return NULL;
}

const char *gn_diag_suggest(gn_arena *a, const char *name, const char *const *candidates, size_t n)
{
    const char *elsewhere = known_elsewhere(name, candidates, n);
    if (elsewhere) return elsewhere;
    const char *near = gn_nearest(name, candidates, n);
    return near ? gn_arena_printf(a, "; did you mean `%s`?", near) : "";
}

const char *gn_diag_taken(gn_arena *a, const char *name, const char *const *taken, size_t n)
{
    const char *near = gn_diag_suggest(a, name, taken, n);
    gn_buf all = {.arena = a};
    if (*near || !n) return near;
    for (size_t k = 0; k < n; k++)
        gn_buf_printf(&all, "%s`%s`", k ? ", " : "; it takes ", taken[k]);
    return all.p;
}

void gn_diags_init(gn_diags *d, gn_arena *a)
{
    memset(d, 0, sizeof *d);
    d->arena = a;
    d->text.arena = d->warnings.arena = a;
    gn_map_init(&d->seen, a);
}

/* The line and a caret under the span. */
static void excerpt(gn_buf *text, const gn_source *s, gn_span at)
{
    uint32_t l = line_of(s, at.at), from = s->line_at[l];
    uint32_t end = l + 1 < s->n_lines ? s->line_at[l + 1] - 1 : s->n;
    if (end > from && s->text[end - 1] == '\r') end--;
    uint32_t pos = at.at > end ? end : at.at, stop = at.at + at.len > end ? end : at.at + at.len;
    const char *dots = "";
    if (end - from > EXCERPT) { /* a window around the caret */
        uint32_t start = pos - from > EXCERPT / 2 ? pos - EXCERPT / 2 : from;
        while (start > from && continues(s->text[start])) start--;
        if (start > from) dots = "...";
        from = start;
        if (end - from > EXCERPT) end = from + EXCERPT;
        while (end > from && continues(s->text[end])) end--;
        if (stop > end) stop = end;
    }
    gn_buf_printf(text, "%5u | %s", (unsigned)(l + 1), dots);
    add_clean(text, s->text + from, end - from);
    gn_buf_printf(text, "\n      | %*s^",
                  (int)(characters(s->text + from, pos - from) + strlen(dots)), "");
    uint32_t marks = stop > pos ? characters(s->text + pos, stop - pos) : 1;
    for (uint32_t i = 1; i < marks; i++) gn_buf_add(text, "~");
    gn_buf_add(text, "\n");
}

/* A message may quote a name of any length and strings of any bytes. */
static void report(gn_diags *d, gn_buf *text, const gn_source *s, gn_span at, const char *kind,
                   const char *message)
{
    enum { LONGEST = 1000 };
    uint32_t line, col;
    size_t n = strlen(message), shown = n <= LONGEST ? n : LONGEST;
    gn_source_position(s, at.at, &line, &col);
    gn_buf_printf(text, "%s:%u:%u: %s: ", s->name, (unsigned)line, (unsigned)col, kind);
    add_clean(text, message, shown);
    gn_buf_add(text, shown < n ? "...\n" : "\n");
    if (d->listener && text == &d->text) {
        gn_buf clean = {.arena = d->arena};
        gn_buf_add(&clean, "");
        add_clean(&clean, message, shown);
        d->listener->hear(d->listener->ctx, strcmp(kind, "note") == 0, s->name, line, col, clean.p);
    }
    excerpt(text, s, at);
}

static const char *vtext(gn_arena *a, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0) return fmt;
    char *s = GN_NEW_N(a, char, (size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    return s;
}

void gn_diag_error(gn_diags *d, const gn_source *s, gn_span at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    gn_diag_verror(d, s, at, fmt, ap);
    va_end(ap);
}

void gn_diag_verror(gn_diags *d, const gn_source *s, gn_span at, const char *fmt, va_list ap)
{
    d->last_shown = false;
    if (d->errors > GN_MAX_ERRORS) return;
    const char *message = vtext(d->arena, fmt, ap);
    const char *key = gn_arena_printf(d->arena, "%s:%u:%s", s->name, (unsigned)at.at, message);
    if (gn_map_find(&d->seen, key)) return;
    gn_map_put(&d->seen, key, 1);
    if (d->errors++ == GN_MAX_ERRORS) {
        gn_buf_printf(&d->text, "more than %d errors: the first %d are shown\n", GN_MAX_ERRORS,
                      GN_MAX_ERRORS);
        return;
    }
    report(d, &d->text, s, at, "error", message);
    d->last_shown = true;
}

void gn_diag_note(gn_diags *d, const gn_source *s, gn_span at, const char *fmt, ...)
{
    if (!d->last_shown) return;
    va_list ap;
    va_start(ap, fmt);
    report(d, &d->text, s, at, "note", vtext(d->arena, fmt, ap));
    va_end(ap);
}

void gn_diag_warning(gn_diags *d, const gn_source *s, gn_span at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *message = vtext(d->arena, fmt, ap);
    va_end(ap);
    const char *key = gn_arena_printf(d->arena, "%s:%u:%s", s->name, (unsigned)at.at, message);
    if (gn_map_find(&d->seen, key)) return;
    gn_map_put(&d->seen, key, 1);
    report(d, &d->warnings, s, at, "warning", message);
}

gn_status *gn_diags_status(const gn_diags *d)
{
    if (!d->errors) return NULL;
    size_t n = d->text.n;
    if (n && d->text.p[n - 1] == '\n') n--;
    return GN_ERROR(GN_ERR_MODEL, "%.*s", (int)n, d->text.p);
}
