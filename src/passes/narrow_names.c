/* narrow_names: names of what stays float32 where the rest of a program is kept in 16 bits. */
#include "base/nearest.h"
#include "passes/passes.h"

#include <stdlib.h>
#include <string.h>

/* The next name of a list and its length; 0 at the end. */
static size_t next(const char **at)
{
    *at += strspn(*at, ",");
    return strcspn(*at, ",");
}

static bool is(const char *name, size_t n, const char *word)
{
    return strlen(word) == n && !memcmp(name, word, n);
}

/* Is the path that layer's, or one below it? */
static bool is_under(const char *name, size_t n, const char *path)
{
    return !strncmp(path, name, n) && (!path[n] || path[n] == '.');
}

bool gn_is_wide_named(const char *names, const char *name)
{
    const char *at = names ? names : "";
    for (size_t n; (n = next(&at)) > 0; at += n)
        if (is(at, n, name)) return true;
    return false;
}

bool gn_is_wide(const char *names, const gir_program *p, gir_id v)
{
    const gir_loc loc = gir_at(p, v)->loc;
    bool in = gir_is_in_layer(p, loc);
    const char *at = names ? names : "", *path = in ? p->layers.p[loc.layer] : GN_WIDE_MODEL;
    for (size_t n; (n = next(&at)) > 0; at += n)
        if (is_under(at, n, path) || is(at, n, gir_way_name[loc.way])) return true;
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

gn_status *gn_wide_sorted(gn_arena *a, const char *names, const char **out)
{
    *out = NULL;
    if (!names) return NULL;
    const char **of = GN_NEW_N(a, const char *, strlen(names) + 1);
    size_t n = 0;
    for (const char *at = names;; at++) {
        size_t length = strcspn(at, ",");
        if (!length)
            GN_FAIL(GN_ERR_USAGE, "'%s': a name is empty; commas stand between names", names);
        of[n++] = gn_arena_strndup(a, at, length);
        at += length;
        if (!*at) break;
    }
    qsort(of, n, sizeof *of, by_name);
    gn_buf b = {.arena = a};
    for (size_t k = 0; k < n; k++)
        if (!k || strcmp(of[k], of[k - 1]) != 0) gn_buf_printf(&b, "%s%s", b.n ? "," : "", of[k]);
    *out = b.p;
    return NULL;
}

gn_status *gn_wide_check(const char *names, const gir_program *p)
{
    const char **known = GN_NEW_N(p->arena, const char *, p->layers.n + 4);
    int n_known = 0;
    known[n_known++] = GN_WIDE_MODEL;
    known[n_known++] = GN_WIDE_FEATURES;
    known[n_known++] = gir_way_name[GIR_FORWARD];
    known[n_known++] = gir_way_name[GIR_BACKWARD];
    for (uint32_t k = 1; k < p->layers.n; k++) known[n_known++] = p->layers.p[k];
    const char *at = names ? names : "";
    for (size_t n; (n = next(&at)) > 0; at += n) {
        bool found = false;
        for (int k = 0; k < n_known; k++)
            found = found || is(at, n, known[k]) || (k >= 4 && is_under(at, n, known[k]));
        if (found) continue;
        const char *name = gn_arena_strndup(p->arena, at, n);
        GN_FAIL(GN_ERR_USAGE,
                "the model has no layer '%s'%s; besides layers there are `model`, `features`, "
                "`forward` and `backward`",
                name, gn_did_you_mean(name, known, n_known).text);
    }
    return NULL;
}
