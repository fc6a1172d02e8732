/* Arrays of an .npz that no key of its layout names: kept by name, for inputs that a model declares. */
#include "runtime/data/npz_more.h"

#include "runtime/data/mem.h"
#include "runtime/data/npy.h"

#include <stdio.h>
#include <string.h>

gn_status *gn_npz_bad_shape(const char *origin, const char *key, const gn_ndarray *a, const char *expected)
{
    char text[128] = "";
    size_t n = 0;
    for (int k = 0; k < a->rank && n < sizeof text - 24; k++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%lld", k ? ", " : "", (long long)a->dim[k]);
    return GN_ERROR(GN_ERR_DATA, "%s: %s: shape [%s]: expected %s", origin, key, text, expected);
}

gn_status *gn_npz_known(gn_npz_keys *k, const gn_zip *z, const char *key)
{
    if (!k->known) GN_MEM(k->known, gn_zip_count(z));
    for (int i = 0; i < gn_zip_count(z); i++) {
        const char *name = gn_zip_name(z, i);
        size_t n = strlen(key);
        if (!strncmp(name, key, n) && !strcmp(name + n, ".npy")) k->known[i] = true;
    }
    return NULL;
}

/* Names of nodes, of classes and the like: strings, which nothing here could be done with. */
static bool is_about(const char *name)
{
    static const char *const about[] = {"node_names.npy", "attr_names.npy", "class_names.npy", "metadata.npy"};
    for (size_t i = 0; i < sizeof about / sizeof *about; i++)
        if (!strcmp(name, about[i])) return true;
    return false;
}

/* What is no array of numbers has a name alone. */
static gn_status *read_one(gn_zip *z, const char *name, gn_data_array *to)
{
    gn_ndarray a;
    size_t n = strlen(name), end = n > 4 && !strcmp(name + n - 4, ".npy") ? 4 : 0;
    if (!(to->name = strndup(name, n - end))) GN_FAIL(GN_ERR_NOMEM, "out of memory: the name of an array");
    gn_status *s = end ? gn_npz_member(z, name, &a) : NULL;
    if (s && gn_status_code(s) == GN_ERR_NOMEM) return s;
    if (s || !end) {
        gn_zip_abandon(z);
        gn_status_free(s);
        return NULL;
    }
    to->rank = a.rank;
    memcpy(to->dim, a.dim, sizeof to->dim);
    to->data = gn_mem_alloc(a.count, sizeof *to->data);
    for (int64_t i = 0; to->data && i < a.count; i++) to->data[i] = (float)gn_ndarray_f64(&a, i);
    gn_ndarray_free(&a);
    if (!to->data) GN_FAIL(GN_ERR_NOMEM, "out of memory: array %s", to->name);
    return NULL;
}

gn_status *gn_npz_read_more(gn_npz_keys *k, gn_zip *z, gn_dataset *d)
{
    int n = gn_zip_count(z);
    GN_MEM(d->more, n);
    for (int i = 0; i < n; i++) {
        if ((k->known && k->known[i]) || is_about(gn_zip_name(z, i))) continue;
        GN_TRY(read_one(z, gn_zip_name(z, i), &d->more[d->n_more++]));
    }
    return NULL;
}
