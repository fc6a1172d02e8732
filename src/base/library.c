#include "base/library.h"

#include "base/processor.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct search {
    const gn_library_wish *wish;
    gn_library *out;
    size_t n; /* of out->tried */
} search;

static void note(search *s, const char *path, const char *why)
{
    size_t room = sizeof s->out->tried - s->n;
    int n = snprintf(s->out->tried + s->n, room, "\n  %s%s%s", path, why ? ": " : "",
                     why ? why : "");
    if (n > 0) s->n += (size_t)n < room ? (size_t)n : room - 1;
}

static bool try_path(search *s, const char *path, bool says)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        note(s, path, says ? dlerror() : NULL);
        return false;
    }
    const char *why = s->wish->why_not(s->wish->ctx, handle);
    if (why) {
        note(s, path, why);
        dlclose(handle);
        return false;
    }
    s->out->handle = handle;
    snprintf(s->out->path, sizeof s->out->path, "%s", path);
    return true;
}

static bool try_pattern(search *s, const char *pattern)
{
    glob_t g;
    bool found = false;
    if (glob(pattern, 0, NULL, &g)) {
        note(s, pattern, NULL);
        return false;
    }
    for (size_t k = g.gl_pathc; k-- > 0 && !found;) found = try_path(s, g.gl_pathv[k], false);
    globfree(&g);
    return found;
}

static bool try_folder(search *s, const char *folder)
{
    static const char *const inside[] = {"lib64", "lib", "targets/" GN_CUDA_FOLDER "/lib"};
    char path[512];
    for (size_t k = 0; folder && *folder && k < sizeof inside / sizeof *inside; k++)
        for (int v = 0; v < GN_LIBRARY_VERSIONS; v++) {
            snprintf(path, sizeof path, "%s/%s/%s.%d", folder, inside[k], s->wish->name,
                     s->wish->version[v]);
            if (try_path(s, path, false)) return true;
        }
    return false;
}

/* Wheels put it among Python's packages. */
static bool try_wheels(search *s)
{
    const char *inside[] = {s->wish->wheel, "cu13", "cu12"};
    const char *venv = getenv("VIRTUAL_ENV");
    char path[512];
    for (size_t k = 0; venv && *venv && k < sizeof inside / sizeof *inside; k++)
        for (int v = 0; v < GN_LIBRARY_VERSIONS; v++) {
            snprintf(path, sizeof path, "%s/lib/python3*/site-packages/nvidia/%s/lib/%s.%d", venv,
                     inside[k], s->wish->name, s->wish->version[v]);
            if (try_pattern(s, path)) return true;
        }
    return false;
}

static bool try_all(search *s)
{
    char name[64];
    if (try_folder(s, getenv("CUDA_HOME")) || try_folder(s, getenv("CUDA_PATH"))) return true;
    for (int v = 0; v < GN_LIBRARY_VERSIONS; v++) {
        snprintf(name, sizeof name, "%s.%d", s->wish->name, s->wish->version[v]);
        if (try_path(s, name, false)) return true;
    }
    return try_folder(s, "/usr/local/cuda") || try_folder(s, "/opt/cuda") || try_wheels(s);
}

bool gn_library_find(const gn_library_wish *w, gn_library *out)
{
    search s = {.wish = w, .out = out};
    const char *named = getenv(w->variable);
    out->handle = NULL;
    *out->path = *out->tried = 0;
    return named && *named ? try_path(&s, named, true) : try_all(&s);
}
