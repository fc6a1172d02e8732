#include "cli/bench/grid.h"

#include "build/jit.h"
#include "compile/mode.h"
#include "runtime/run/threads.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { MOST_THREADS = 4096 };

static void split(gn_arena *a, const char *text, gn_string_list *out)
{
    for (;;) {
        size_t n = strcspn(text, ",");
        GN_PUSH(a, *out, gn_arena_strndup(a, text, n));
        if (!text[n]) return;
        text += n + 1;
    }
}

/* Does the text begin with name= ? */
static bool is_setting(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_') n++;
    return n > 0 && text[n] == '=';
}

void gn_grid_split_data(gn_arena *a, const char *text, gn_string_list *out)
{
    static const char drawn[] = "synthetic:";
    if (!access(text, F_OK)) {
        GN_PUSH(a, *out, gn_arena_strdup(a, text));
        return;
    }
    while (text) {
        bool goes_on = !strncmp(text, drawn, strlen(drawn));
        const char *end = strchr(text, ',');
        while (end && goes_on && is_setting(end + 1)) end = strchr(end + 1, ',');
        GN_PUSH(a, *out, gn_arena_strndup(a, text, end ? (size_t)(end - text) : strlen(text)));
        text = end ? end + 1 : NULL;
    }
}

static gn_status *check_list(const char *option, const gn_string_list *list)
{
    for (uint32_t k = 0; k < list->n; k++) {
        if (!*list->p[k]) GN_FAIL(GN_ERR_USAGE, "%s: an entry of the list is empty", option);
        for (uint32_t i = 0; i < k; i++)
            if (!strcmp(list->p[i], list->p[k]))
                GN_FAIL(GN_ERR_USAGE, "%s: '%s' is there twice", option, list->p[k]);
    }
    return NULL;
}

static gn_status *parse_data(gn_arena *a, const char *text, gn_grid *g)
{
    if (!text) {
        GN_PUSH(a, g->data, "");
        return NULL;
    }
    gn_grid_split_data(a, text, &g->data);
    return check_list("--data", &g->data);
}

static gn_status *known(gn_arena *a, const char *option, const char *name, const char *const *names,
                        size_t n)
{
    gn_buf all = {.arena = a};
    for (size_t k = 0; k < n; k++) {
        if (!strcmp(name, names[k])) return NULL;
        gn_buf_printf(&all, "%s%s", k ? ", " : "", names[k]);
    }
    GN_FAIL(GN_ERR_USAGE, "%s: unknown value '%s'%s\n  it is one of %s", option, name,
            gn_args_suggest(a, "", name, names, n), all.p);
}

static gn_status *parse_modes(gn_arena *a, const char *text, gn_grid *g)
{
    if (!text) text = "eager,default,reduce-overhead,max-autotune";
    if (!strcmp(text, "all")) {
        for (int k = 0; k < GN_MODE_COUNT; k++) GN_PUSH(a, g->modes, gn_mode_name[k]);
    } else {
        split(a, text, &g->modes);
    }
    for (uint32_t k = 0; k < g->modes.n; k++) {
        gn_mode m = gn_mode_by_name(g->modes.p[k]);
        if (m != GN_MODE_COUNT)
            g->modes.p[k] = gn_mode_name[m]; /* a number has a name */
        else if (*g->modes.p[k])
            GN_TRY(known(a, "--modes", g->modes.p[k], gn_mode_name, GN_MODE_COUNT));
    }
    GN_TRY(check_list("--modes", &g->modes));
    g->baseline = g->modes.p[0];
    for (uint32_t k = 0; k < g->modes.n; k++)
        if (!strcmp(g->modes.p[k], gn_mode_name[GN_MODE_EAGER])) g->baseline = g->modes.p[k];
    return NULL;
}

static gn_status *parse_dynamic(gn_arena *a, const char *text, gn_grid *g)
{
    static const char *const settings[] = {
#define X(id, name) name,
        GN_DYNAMICS(X)
#undef X
    };
    split(a, text ? text : settings[0], &g->dynamic);
    for (uint32_t k = 0; k < g->dynamic.n; k++)
        if (*g->dynamic.p[k])
            GN_TRY(known(a, "--dynamic", g->dynamic.p[k], settings, GN_DYNAMIC_COUNT));
    return check_list("--dynamic", &g->dynamic);
}

static gn_status *parse_threads(gn_arena *a, const char *text, gn_grid *g)
{
    gn_string_list list = {0};
    if (!text) {
        GN_PUSH(a, g->threads, gn_cores());
        return NULL;
    }
    split(a, text, &list);
    for (uint32_t k = 0; k < list.n; k++) {
        int64_t v = 0;
        if (!gn_args_int(list.p[k], &v))
            GN_FAIL(GN_ERR_USAGE, "--threads: '%s' is not a whole number", list.p[k]);
        if (v < 1) GN_FAIL(GN_ERR_USAGE, "--threads: %" PRId64 " is below 1", v);
        if (v > MOST_THREADS)
            GN_FAIL(GN_ERR_USAGE, "--threads: %" PRId64 " is above %d", v, MOST_THREADS);
        for (uint32_t i = 0; i < g->threads.n; i++)
            if (g->threads.p[i] == v)
                GN_FAIL(GN_ERR_USAGE, "--threads: '%" PRId64 "' is there twice", v);
        GN_PUSH(a, g->threads, v);
    }
    return NULL;
}

gn_status *gn_grid_parse(gn_arena *a, const gn_grid_text *text, gn_grid *out)
{
    *out = (gn_grid){0};
    GN_TRY(parse_data(a, text->data, out));
    GN_TRY(parse_modes(a, text->modes, out));
    GN_TRY(parse_dynamic(a, text->dynamic, out));
    return parse_threads(a, text->threads, out);
}
