/* Archives: "GNNCARC1", then entries as they are in files, one after another, to the end. */
#include "base/outfile.h"
#include "cache/cache_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[8] = "GNNCARC1";

static gn_status *broken(const char *path)
{
    return GN_ERROR(GN_ERR_IO, "%s: %s", path, strerror(errno ? errno : EIO));
}

/* Out ------------------------------------------------------------------------------------------ */

static gn_status *add(FILE *f, const char *path, const gn_entry *e, int64_t *entries,
                      int64_t *bytes)
{
    size_t n = gn_entry_size(e->n_parts, e->n);
    unsigned char *p = malloc(n);
    if (!p) GN_FAIL(GN_ERR_NOMEM, "no memory for an entry of %zu bytes", n);
    gn_entry_write(e->parts, e->n_parts, e->payload, e->n, p);
    size_t wrote = fwrite(p, 1, n, f);
    free(p);
    if (wrote != n) return broken(path);
    ++*entries;
    *bytes += (int64_t)n;
    return NULL;
}

static gn_status *add_all(gn_store *s, FILE *f, const char *path, int64_t *entries, int64_t *bytes)
{
    gn_store_file *files;
    size_t n;
    char why[GN_WHY];
    gn_status *status = NULL;
    if (!gn_store_list(s, &files, &n, why)) GN_FAIL(GN_ERR_IO, "cache %s: %s", s->path, why);
    for (size_t i = 0; i < n && !status; i++) {
        unsigned char *p;
        gn_entry e;
        if (!gn_store_read_file(s, files[i].name, &p, &e, why)) continue;
        status = add(f, path, &e, entries, bytes);
        free(p);
    }
    free(files);
    return status;
}

gn_status *gn_cache_export(gn_cache *c, const char *path, int64_t *entries, int64_t *bytes)
{
    gn_out o;
    *entries = 0;
    *bytes = sizeof magic;
    GN_TRY(gn_out_open(&o, path));
    errno = 0;
    gn_status *s = fwrite(magic, 1, sizeof magic, o.f) == sizeof magic ? NULL : broken(path);
    if (!s && c->store) s = add_all(c->store, o.f, path, entries, bytes);
    return gn_out_close(&o, s);
}

/* In ------------------------------------------------------------------------------------------- */

/* The next entry; *p stays NULL at the end of the file. */
static gn_status *next(FILE *f, const char *path, int64_t number, unsigned char **p, size_t *n)
{
    unsigned char head[GN_ENTRY_HEAD];
    size_t n_parts, got = fread(head, 1, sizeof head, f);
    const char *why = NULL;
    *p = NULL;
    if (got == 0 && !ferror(f)) return NULL;
    if (ferror(f)) return broken(path);
    if (got < sizeof head) why = "it is cut off";
    if (!why) why = gn_entry_peek(head, &n_parts, n);
    if (!why) {
        unsigned char *all = malloc(*n);
        if (!all) GN_FAIL(GN_ERR_NOMEM, "no memory for an entry of %zu bytes", *n);
        memcpy(all, head, sizeof head);
        gn_entry e;
        got = sizeof head + fread(all + sizeof head, 1, *n - sizeof head, f);
        why = gn_entry_read(all, got, &e);
        *p = all;
    }
    if (!why) return NULL;
    free(*p);
    *p = NULL;
    GN_FAIL(GN_ERR_DATA, "%s: entry %lld: %s", path, (long long)number, why);
}

static gn_status *take(gn_cache *c, const unsigned char *p, size_t n, int64_t *entries,
                       int64_t *known)
{
    char why[GN_WHY];
    unsigned char *old;
    gn_entry e, have;
    if (gn_entry_read(p, n, &e)) GN_FAIL(GN_ERR_INTERNAL, "an entry changed while it was read");
    if (gn_store_read(c->store, &e.key, &old, &have, why)) {
        free(old);
        ++*known;
        return NULL;
    }
    if (!gn_store_write(c->store, &e.key, p, n, why))
        GN_FAIL(GN_ERR_IO, "cache %s: %s", c->store->path, why);
    ++*entries;
    return NULL;
}

gn_status *gn_cache_import(gn_cache *c, const char *path, int64_t *entries, int64_t *known)
{
    char head[sizeof magic];
    *entries = *known = 0;
    if (!c->store) GN_FAIL(GN_ERR_IO, "there is no directory to import into");
    errno = 0;
    FILE *f = fopen(path, "rb");
    if (!f) return broken(path);
    gn_status *s = NULL;
    if (fread(head, 1, sizeof head, f) != sizeof head || memcmp(head, magic, sizeof magic) != 0)
        s = ferror(f) ? broken(path) : GN_ERROR(GN_ERR_DATA, "%s is no archive of a cache", path);
    unsigned char *p = NULL;
    for (int64_t number = 1; !s; number++) {
        size_t n;
        s = next(f, path, number, &p, &n);
        if (s || !p) break;
        s = take(c, p, n, entries, known);
        free(p);
    }
    fclose(f);
    return s;
}
