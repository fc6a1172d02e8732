#include "runtime/data/npz.h"

#include "runtime/data/mem.h"
#include "runtime/data/npy.h"
#include "runtime/data/pickle.h"

#include <stdio.h>
#include <string.h>

typedef struct entry {
    char *name;
    bool member; /* `name`.npy, or a file of another kind, which is nothing but a name */
    bool array;  /* a .npy, or what a pickle has */
    bool known;
    unsigned char *bytes;         /* of a pickle, which its values point into */
    const gn_pickle_value *value; /* what a pickle has; NULL: an array of numbers */
    gn_status *error;             /* what is wrong with the pickle, for who asks for it first */
} entry;

struct gn_npz {
    gn_zip *zip;
    const char *origin;
    gn_arena arena; /* of pickles */
    int n, cap;
    entry *entries;
};

static const char suffix[] = ".npy";
enum { SUFFIX = sizeof suffix - 1 };

static gn_status *add(gn_npz *z, const char *name, size_t n, entry **out)
{
    if (z->n == z->cap) {
        int cap = z->cap ? 2 * z->cap : 16;
        entry *more = realloc(z->entries, (size_t)cap * sizeof *more);
        if (!more) GN_FAIL(GN_ERR_NOMEM, "out of memory: %d arrays", cap);
        z->entries = more;
        z->cap = cap;
    }
    entry e = {.name = strndup(name, n)};
    if (!e.name) GN_FAIL(GN_ERR_NOMEM, "out of memory: the name of an array");
    z->entries[z->n] = e;
    *out = &z->entries[z->n++];
    return NULL;
}

static entry *find(const gn_npz *z, const char *key)
{
    for (int k = 0; k < z->n; k++)
        if (z->entries[k].array && !strcmp(z->entries[k].name, key)) return &z->entries[k];
    return NULL;
}

static gn_status *add_members(gn_npz *z)
{
    for (int k = 0; k < gn_zip_count(z->zip); k++) {
        const char *name = gn_zip_name(z->zip, k);
        size_t n = strlen(name);
        bool array = n > SUFFIX && !strcmp(name + n - SUFFIX, suffix);
        entry *e;
        GN_TRY(add(z, name, array ? n - SUFFIX : n, &e));
        e->member = true;
        e->array = array;
    }
    return NULL;
}

/* ---- pickles ---- */

/* Names of nodes, of classes and the like: strings and objects, with which nothing here could be
 * done. */
static bool is_about(const char *name)
{
    static const char *const about[] = {"node_names", "attr_names", "class_names", "metadata"};
    for (size_t i = 0; i < sizeof about / sizeof *about; i++)
        if (!strcmp(name, about[i])) return true;
    return false;
}

static gn_status *add_dict(gn_npz *z, const gn_pickle_value *dict)
{
    for (uint32_t k = 0; k + 1 < dict->n; k += 2) {
        const gn_pickle_value *key = dict->u.item[k], *value = dict->u.item[k + 1];
        char name[256];
        entry *e;
        if (key->kind != GN_PICKLE_STR && key->kind != GN_PICKLE_BYTES) continue;
        if (key->n >= sizeof name || memchr(key->u.s, 0, key->n) || value->kind == GN_PICKLE_NONE)
            continue;
        memcpy(name, key->u.s, key->n);
        name[key->n] = 0;
        if ((e = find(z, name))) {
            if (e->value) e->value = value; /* a later key wins; a member has come first */
            continue;
        }
        GN_TRY(add(z, name, key->n, &e));
        e->array = true;
        e->value = value;
        e->known = is_about(name);
    }
    return NULL;
}

static gn_status *unpickle(gn_npz *z, int k, const gn_bytes *pickle)
{
    char origin[512];
    gn_pickle_value *v;
    snprintf(origin, sizeof origin, "%s: %s", z->origin, z->entries[k].name);
    gn_status *s = gn_pickle_parse(&z->arena, pickle->p, pickle->n, origin, &v);
    if (s && gn_status_code(s) == GN_ERR_NOMEM) return s;
    z->entries[k].error = s;
    if (s || v->kind != GN_PICKLE_LIST || v->n != 1)
        return NULL; /* an array of objects, as reading it says */
    const gn_pickle_value *one = v->u.item[0];
    z->entries[k].value = one;
    z->entries[k].array = one->kind != GN_PICKLE_NONE;
    if (one->kind != GN_PICKLE_NONE && one->kind != GN_PICKLE_DICT) return NULL;
    z->entries[k].known = true;
    return one->kind == GN_PICKLE_DICT ? add_dict(z, one) : NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

/* What dicts have comes behind the members, in the order of names as these do. */
static gn_status *read_objects(gn_npz *z)
{
    int members = z->n;
    for (int k = 0; k < members; k++) {
        entry *e = &z->entries[k];
        gn_bytes pickle;
        if (e->array && is_about(e->name)) e->known = true;
        if (!e->array || e->known) continue;
        gn_status *s = gn_npy_objects(z->zip, gn_zip_name(z->zip, k), &pickle);
        if (s && gn_status_code(s) == GN_ERR_NOMEM) return s;
        gn_status_free(s); /* what is wrong with a member is said when it is read */
        if (s || !pickle.p) continue;
        e->bytes = pickle.p;
        GN_TRY(unpickle(z, k, &pickle));
    }
    if (members < z->n)
        qsort(z->entries + members, (size_t)(z->n - members), sizeof *z->entries, by_name);
    return NULL;
}

gn_status *gn_npz_open(const void *bytes, size_t n, const char *origin, gn_npz **out)
{
    gn_npz *z;
    GN_MEM(z, 1);
    z->origin = origin;
    gn_arena_init(&z->arena);
    gn_status *s = gn_zip_open(bytes, n, origin, &z->zip);
    if (!s) s = add_members(z);
    if (!s) s = read_objects(z);
    if (s)
        gn_npz_close(z);
    else
        *out = z;
    return s;
}

void gn_npz_close(gn_npz *z)
{
    if (!z) return;
    for (int k = 0; k < z->n; k++) {
        free(z->entries[k].name);
        free(z->entries[k].bytes);
        gn_status_free(z->entries[k].error);
    }
    free(z->entries);
    gn_arena_free(&z->arena);
    gn_zip_close(z->zip);
    free(z);
}

/* ---- by name ---- */

const char *gn_npz_origin(const gn_npz *z) { return z->origin; }
int gn_npz_count(const gn_npz *z) { return z->n; }
const char *gn_npz_name(const gn_npz *z, int k) { return z->entries[k].name; }
bool gn_npz_known(const gn_npz *z, int k) { return z->entries[k].known; }
bool gn_npz_has(const gn_npz *z, const char *key) { return find(z, key) != NULL; }

bool gn_npz_is_sparse(const gn_npz *z, const char *key)
{
    const entry *e = find(z, key);
    return e && e->value && e->value->kind == GN_PICKLE_SPARSE;
}

void gn_npz_know(gn_npz *z, const char *key, bool known)
{
    entry *e = find(z, key);
    if (e) e->known = known;
}

static gn_status *asked(gn_npz *z, const char *key, entry **out)
{
    *out = find(z, key);
    if (!*out) GN_FAIL(GN_ERR_DATA, "%s: no array '%s'", z->origin, key);
    (*out)->known = true;
    return NULL;
}

static gn_status *take_error(entry *e)
{
    gn_status *s = e->error;
    e->error = NULL;
    return s;
}

static gn_status *read_member(gn_npz *z, const entry *e, gn_ndarray *out)
{
    return gn_npy_member(z->zip, gn_zip_name(z->zip, (int)(e - z->entries)), out);
}

/* An array that a pickle has, or one number of it. */
static gn_status *array_of(const gn_npz *z, const entry *e, gn_ndarray *out)
{
    const gn_pickle_value *v = e->value;
    bool real = v->kind == GN_PICKLE_FLOAT,
         whole = v->kind == GN_PICKLE_INT || v->kind == GN_PICKLE_BOOL;
    *out = (gn_ndarray){.kind = real ? 'f' : 'i', .size = 8, .count = 1};
    if (real || whole)
        out->data = real ? (const void *)&v->u.f : (const void *)&v->u.i;
    else if (v->kind == GN_PICKLE_ARRAY && v->u.array->kind)
        *out = *v->u.array;
    else
        GN_FAIL(GN_ERR_DATA, "%s: %s: expected an array of numbers, found a %s", z->origin, e->name,
                gn_pickle_kind_name(v->kind));
    return NULL;
}

gn_status *gn_npz_array(gn_npz *z, const char *key, gn_ndarray *out)
{
    entry *e;
    GN_TRY(asked(z, key, &e));
    if (e->error) return take_error(e);
    return e->value ? array_of(z, e, out) : read_member(z, e, out);
}

gn_status *gn_npz_matrix(gn_npz *z, const char *key, gn_csr **out)
{
    char what[512];
    gn_ndarray a;
    entry *e;
    GN_TRY(asked(z, key, &e));
    if (e->error) return take_error(e);
    snprintf(what, sizeof what, "%s: %s", z->origin, key);
    if (e->value) return gn_pickle_matrix(e->value, what, out);
    GN_TRY(read_member(z, e, &a));
    gn_status *s = gn_csr_from_dense(&a, what, out);
    gn_ndarray_free(&a);
    return s;
}

gn_status *gn_npz_text(gn_npz *z, const char *key, char *to, size_t size)
{
    entry *e;
    *to = 0;
    GN_TRY(asked(z, key, &e));
    if (!e->member || !e->array) return NULL;
    return gn_npy_text(z->zip, gn_zip_name(z->zip, (int)(e - z->entries)), to, size);
}

gn_status *gn_npz_texts(gn_npz *z, const char *key, int64_t *n, char ***out)
{
    entry *e;
    *out = NULL;
    *n = 0;
    GN_TRY(asked(z, key, &e));
    if (!e->member || !e->array) return NULL;
    return gn_npy_texts(z->zip, gn_zip_name(z->zip, (int)(e - z->entries)), n, out);
}

/* ---- messages ---- */

gn_shape_text gn_shape_show(int rank, const int64_t *dim)
{
    gn_shape_text t = {"["};
    size_t n = 1;
    for (int k = 0; k < rank && n < sizeof t.s - 24; k++)
        n += (size_t)snprintf(t.s + n, sizeof t.s - n, "%s%lld", k ? ", " : "", (long long)dim[k]);
    snprintf(t.s + n, sizeof t.s - n, "]");
    return t;
}

gn_status *gn_npz_bad_shape(const gn_npz *z, const char *key, const gn_ndarray *a,
                            const char *expected)
{
    return GN_ERROR(GN_ERR_DATA, "%s: %s: shape %s: expected %s", z->origin, key,
                    gn_shape_show(a->rank, a->dim).s, expected);
}
