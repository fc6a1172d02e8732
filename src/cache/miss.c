/* Why something missed: of what is there, the entry whose parts have most in common with those that
 * were looked for. */
#include "cache/cache_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 16 };

typedef struct line {
    const char *p;
    size_t n, name; /* bytes, and of its name */
} line;

static int split(const char *parts, line *out)
{
    int n = 0;
    while (*parts && n < LINES) {
        size_t length = strcspn(parts, "\n"), name = strcspn(parts, " \n");
        out[n++] = (line){parts, length, name};
        parts += length + (parts[length] == '\n');
    }
    return n;
}

static const line *find(const line *lines, int n, const line *like)
{
    for (int i = 0; i < n; i++)
        if (lines[i].name == like->name && !memcmp(lines[i].p, like->p, like->name))
            return &lines[i];
    return NULL;
}

static bool same(const line *a, const line *b)
{
    return b && a->n == b->n && !memcmp(a->p, b->p, a->n);
}

/* Lines in common.  The last one says most: what was asked for, where the others say for what and
 * by whom. */
static int likeness(const line *want, int n, const char *parts)
{
    line have[LINES];
    int m = split(parts, have), score = 0;
    for (int i = 0; i < n; i++)
        if (same(&want[i], find(have, m, &want[i]))) score += i == n - 1 ? LINES : 1;
    return score;
}

typedef struct nearest {
    int score;
    int64_t looked_at;
    char parts[GN_ENTRY_MAX_PARTS + 1];
} nearest;

static void look_at(gn_store *s, const line *want, int n, nearest *best)
{
    char why[GN_WHY], parts[GN_ENTRY_MAX_PARTS + 1];
    gn_store_file *files = NULL;
    size_t count = 0;
    if (s && gn_store_list(s, &files, &count, why))
        for (size_t i = 0; i < count; i++) {
            if (!gn_store_parts(s, files[i].name, parts)) continue;
            int score = likeness(want, n, parts);
            best->looked_at++;
            if (score <= best->score) continue;
            best->score = score;
            memcpy(best->parts, parts, sizeof parts);
        }
    free(files);
}

static void differences(const line *want, int n, const char *parts, char *out, size_t size)
{
    line have[LINES];
    int m = split(parts, have);
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        const line *h = find(have, m, &want[i]);
        if (same(&want[i], h) || at >= size) continue;
        const line *w = &want[i];
        int wrote = snprintf(out + at, size - at, "%s%.*s is '%.*s', was '%.*s'", at ? "; " : "",
                             (int)w->name, w->p, (int)(w->n - w->name - (w->n > w->name)),
                             w->p + w->name + (w->n > w->name),
                             h ? (int)(h->n - h->name - (h->n > h->name)) : 0,
                             h ? h->p + h->name + (h->n > h->name) : "");
        at += wrote > 0 ? (size_t)wrote : 0;
    }
}

void gn_cache_explain(gn_cache *c, const char *name, const char *parts)
{
    char text[1500] = "", hex[GN_SHA256_HEX + 1];
    line want[LINES];
    nearest best = {.score = -1};
    if (!c->opt.say || !c->opt.notes) return;
    gn_key k = gn_key_of(parts, strlen(parts));
    gn_sha256_hex(k.b, hex);
    int n = split(parts, want);
    look_at(c->store, want, n, &best);
    look_at(c->base, want, n, &best);
    if (best.looked_at == 0)
        snprintf(text, sizeof text, "the cache is empty");
    else if (best.score < LINES)
        snprintf(text, sizeof text, "its %.*s is new", n ? (int)want[n - 1].name : 0,
                 n ? want[n - 1].p : "");
    else
        differences(want, n, best.parts, text, sizeof text);
    gn_cache_note(c, "miss %.12s %s: %s", hex, name,
                  *text ? text : "there is such an entry, but it is damaged or just came");
}
