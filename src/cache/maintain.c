/* Looking after the directory of a cache. */
#include "cache/cache_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gn_status *list(gn_store *s, gn_store_file **files, size_t *n)
{
    char why[GN_WHY];
    *files = NULL;
    *n = 0;
    if (!s || gn_store_list(s, files, n, why)) return NULL;
    GN_FAIL(GN_ERR_IO, "cache %s: %s", s->path, why);
}

static gn_status *add_up(gn_store *s, int64_t *entries, int64_t *bytes)
{
    gn_store_file *files;
    size_t n;
    GN_TRY(list(s, &files, &n));
    for (size_t i = 0; i < n; i++) *bytes += files[i].bytes;
    *entries = (int64_t)n;
    free(files);
    return NULL;
}

gn_status *gn_cache_measure(gn_cache *c, gn_cache_stats *out)
{
    *out = (gn_cache_stats){.dir = c->opt.dir, .base = c->opt.base, .limit = c->opt.disk_bytes};
    GN_TRY(add_up(c->store, &out->entries, &out->bytes));
    return add_up(c->base, &out->base_entries, &out->base_bytes);
}

gn_status *gn_cache_each(gn_cache *c, const char *prefix,
                         void (*each)(void *ctx, const char *parts, const void *bytes, size_t n),
                         void *ctx)
{
    gn_store_file *files;
    size_t n, length = strlen(prefix);
    GN_TRY(list(c->store, &files, &n));
    for (size_t i = 0; i < n; i++) {
        char why[GN_WHY], parts[GN_ENTRY_MAX_PARTS + 1];
        unsigned char *bytes;
        gn_entry e;
        if (!gn_store_parts(c->store, files[i].name, parts) || strncmp(parts, prefix, length) != 0)
            continue;
        if (!gn_store_read_file(c->store, files[i].name, &bytes, &e, why)) continue;
        each(ctx, parts, e.payload, e.n);
        free(bytes);
    }
    free(files);
    return NULL;
}

static gn_status *verify(gn_store *s, void (*each)(void *ctx, const char *path, const char *why),
                         void *ctx, gn_cache_verdict *out)
{
    gn_store_file *files;
    size_t n;
    GN_TRY(list(s, &files, &n));
    for (size_t i = 0; i < n; i++) {
        char why[GN_WHY], path[4400];
        unsigned char *bytes;
        gn_entry e;
        if (gn_store_read_file(s, files[i].name, &bytes, &e, why)) {
            out->sound++;
            free(bytes);
        } else if (*why) { /* else it has just gone */
            out->damaged++;
            snprintf(path, sizeof path, "%s/kernels-1/%s", s->path, files[i].name);
            if (each) each(ctx, path, why);
        }
    }
    free(files);
    return NULL;
}

gn_status *gn_cache_verify(gn_cache *c, void (*each)(void *ctx, const char *path, const char *why),
                           void *ctx, gn_cache_verdict *out)
{
    *out = (gn_cache_verdict){0};
    GN_TRY(verify(c->store, each, ctx, out));
    return verify(c->base, each, ctx, out);
}

gn_status *gn_cache_clear(gn_cache *c, int64_t *entries, int64_t *bytes)
{
    char why[GN_WHY];
    *entries = *bytes = 0;
    gn_mutex_take(&c->mutex);
    if (c->memo) {
        gn_memo_free(c->memo);
        c->memo = gn_memo_new((size_t)c->opt.memory_bytes);
    }
    gn_mutex_leave(&c->mutex);
    if (!c->store || gn_store_clear(c->store, entries, bytes, why)) return NULL;
    GN_FAIL(GN_ERR_IO, "cache %s: %s", c->store->path, why);
}
