#include "runtime/data/torchfile.h"

#include "runtime/data/file.h"
#include "runtime/data/mem.h"
#include "runtime/data/zip.h"

#include <stdio.h>

enum { NAME = 256 };

typedef struct storage {
    char key[32];
    gn_bytes bytes;
} storage;

struct gn_torch {
    const char *origin;
    gn_zip *zip;
    char folder[NAME]; /* of the zip's members, with its slash */
    gn_bytes pickle;
    gn_arena arena;
    int n, cap;
    storage *storages; /* that were asked for */
    gn_pickle_value *value;
};

/* ---- members ---- */

static gn_status *read_member(const gn_torch *t, const char *name, gn_bytes *out)
{
    uint64_t n;
    GN_TRY(gn_zip_enter(t->zip, name, &n));
    out->p = n < PTRDIFF_MAX ? gn_mem_alloc((int64_t)n, 1) : NULL;
    out->n = n;
    gn_status *s = out->p
                       ? gn_zip_read(t->zip, out->p, n)
                       : GN_ERROR(GN_ERR_NOMEM, "out of memory: %llu bytes", (unsigned long long)n);
    if (!s) s = gn_zip_leave(t->zip);
    if (s) gn_zip_abandon(t->zip);
    return s;
}

static gn_status *add_storage(gn_torch *t, const char *key, const char *member)
{
    if (t->n == t->cap) {
        int cap = t->cap ? 2 * t->cap : 8;
        storage *more = realloc(t->storages, (size_t)cap * sizeof *more);
        if (!more) GN_FAIL(GN_ERR_NOMEM, "out of memory: %d storages", cap);
        t->storages = more;
        t->cap = cap;
    }
    storage *s = &t->storages[t->n++];
    *s = (storage){0};
    snprintf(s->key, sizeof s->key, "%s", key);
    return read_member(t, member, &s->bytes);
}

static gn_status *find_storage(void *file, const char *key, const unsigned char **bytes,
                               uint64_t *n)
{
    gn_torch *t = file;
    char member[NAME + 64];
    int k = 0;
    while (k < t->n && strcmp(t->storages[k].key, key) != 0) k++;
    snprintf(member, sizeof member, "%sdata/%s", t->folder, key);
    if (k == t->n && !gn_zip_has(t->zip, member))
        GN_FAIL(GN_ERR_DATA, "there is no storage '%s' in the file", key);
    if (k == t->n) GN_TRY(add_storage(t, key, member));
    *bytes = t->storages[k].bytes.p;
    *n = t->storages[k].bytes.n;
    return NULL;
}

/* Where the pickle lies: NAME/data.pkl, of which NAME is the file's when it was written. */
static gn_status *find_folder(gn_torch *t)
{
    static const char pickle[] = "data.pkl";
    for (int k = 0; k < gn_zip_count(t->zip); k++) {
        const char *name = gn_zip_name(t->zip, k), *slash = strchr(name, '/');
        size_t n = slash ? (size_t)(slash + 1 - name) : 0;
        if (n >= NAME || strcmp(name + n, pickle) != 0) continue;
        memcpy(t->folder, name, n);
        t->folder[n] = 0;
        return NULL;
    }
    GN_FAIL(GN_ERR_DATA, "%s: expected a file of torch.save, and there is no %s in it", t->origin,
            pickle);
}

static gn_status *read_order(const gn_torch *t, char *order)
{
    char name[NAME + 16];
    gn_bytes b = {0};
    *order = '<';
    snprintf(name, sizeof name, "%sbyteorder", t->folder);
    if (!gn_zip_has(t->zip, name)) return NULL;
    gn_status *s = read_member(t, name, &b);
    if (!s && b.n >= 3 && !memcmp(b.p, "big", 3)) *order = '>';
    gn_bytes_free(&b);
    return s;
}

static gn_status *read_zip(gn_torch *t, const void *bytes, size_t n)
{
    char name[NAME + 16];
    size_t used;
    gn_pickle_storages storages = {.file = t, .find = find_storage};
    GN_TRY(gn_zip_open(bytes, n, t->origin, &t->zip));
    GN_TRY(find_folder(t));
    GN_TRY(read_order(t, &storages.order));
    snprintf(name, sizeof name, "%sdata.pkl", t->folder);
    GN_TRY(read_member(t, name, &t->pickle));
    return gn_pickle_parse_one(&t->arena, t->pickle.p, t->pickle.n, t->origin, &storages, &used,
                               &t->value);
}

/* ---- before torch 1.6 ---- */

/* Protocol 2, and the number that these files begin with. */
static const unsigned char magic[] = {0x80, 2,    0x8a, 10,   0x6c, 0xfc, 0x9c, 0x46,
                                      0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, '.'};

static gn_status *no_storage(void *file, const char *key, const unsigned char **bytes, uint64_t *n)
{
    (void)file;
    (void)key;
    *bytes = NULL;
    *n = 0;
    GN_FAIL(GN_ERR_DATA, "tensors of a file from before torch 1.6 are not read: torch.load and "
                         "torch.save make a new one of it");
}

/* A version, a dict about the machine, and what was saved. */
static gn_status *read_pickles(gn_torch *t, const unsigned char *bytes, size_t n)
{
    enum { BEHIND = 3 };
    const gn_pickle_storages storages = {.find = no_storage, .order = '<'};
    size_t at = sizeof magic;
    for (int k = 0; k < BEHIND; k++) {
        size_t used;
        GN_TRY(gn_pickle_parse_one(&t->arena, bytes + at, n - at, t->origin, &storages, &used,
                                   &t->value));
        at += used;
    }
    return NULL;
}

/* ---- both ---- */

gn_status *gn_torch_open(const void *bytes, size_t n, const char *origin, gn_torch **out)
{
    gn_torch *t;
    gn_status *s;
    *out = NULL;
    GN_MEM(t, 1);
    t->origin = origin;
    gn_arena_init(&t->arena);
    if (n >= 4 && !memcmp(bytes, "PK\3\4", 4))
        s = read_zip(t, bytes, n);
    else if (n >= sizeof magic && !memcmp(bytes, magic, sizeof magic))
        s = read_pickles(t, bytes, n);
    else
        s = GN_ERROR(GN_ERR_DATA, "%s: expected a file of torch.save", origin);
    if (s)
        gn_torch_close(t);
    else
        *out = t;
    return s;
}

void gn_torch_close(gn_torch *t)
{
    if (!t) return;
    for (int k = 0; k < t->n; k++) gn_bytes_free(&t->storages[k].bytes);
    free(t->storages);
    gn_bytes_free(&t->pickle);
    gn_zip_close(t->zip);
    gn_arena_free(&t->arena);
    free(t);
}

const gn_pickle_value *gn_torch_value(const gn_torch *t) { return t->value; }
