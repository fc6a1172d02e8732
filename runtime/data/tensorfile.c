#include "runtime/data/tensorfile.h"

#include "runtime/data/mem.h"

#include <string.h>

void gn_tensor_file_free(gn_tensor_file *f)
{
    if (!f) return;
    for (int i = 0; i < f->n; i++) {
        free(f->tensors[i].name);
        free(f->tensors[i].data);
    }
    for (int i = 0; i < f->n_meta; i++) {
        free(f->meta_key[i]);
        free(f->meta_value[i]);
    }
    free(f->tensors);
    free(f->meta_key);
    free(f->meta_value);
    free(f->note);
    free(f);
}

const gn_named_tensor *gn_tensor_file_find(const gn_tensor_file *f, const char *name)
{
    for (int i = 0; i < f->n; i++)
        if (strcmp(f->tensors[i].name, name) == 0) return &f->tensors[i];
    return NULL;
}

const char *gn_tensor_file_meta(const gn_tensor_file *f, const char *key)
{
    for (int i = 0; i < f->n_meta; i++)
        if (strcmp(f->meta_key[i], key) == 0) return f->meta_value[i];
    return NULL;
}

gn_status *gn_tensor_file_new(gn_tensor_file **out)
{
    GN_MEM(*out, 1);
    return NULL;
}

static gn_status *copy(const char *s, char **out)
{
    *out = strdup(s);
    if (!*out) GN_FAIL(GN_ERR_NOMEM, "out of memory: %zu bytes for a name", strlen(s));
    return NULL;
}

/* The array of n, with room for one more: its capacity is a power of two.  NULL: it is as it
 * was. */
static void *grow(void *array, int n, size_t size)
{
    return n & (n - 1) ? array : realloc(array, size * (n ? 2 * (size_t)n : 1));
}

gn_status *gn_tensor_file_add(gn_tensor_file *f, const char *name, gn_elem elem, int rank,
                              const int64_t *dim, void **data)
{
    int64_t n = 1;
    gn_named_tensor t = {.elem = elem, .rank = rank};
    void *tensors = grow(f->tensors, f->n, sizeof *f->tensors);
    if (tensors) f->tensors = tensors;
    for (int k = 0; k < rank; k++) n *= t.dim[k] = dim[k];
    t.data = tensors ? gn_mem_alloc(n, gn_elem_size(elem)) : NULL;
    if (!t.data) GN_FAIL(GN_ERR_NOMEM, "out of memory: '%s' to be written", name);
    gn_status *s = copy(name, &t.name);
    if (s) {
        free(t.data);
        return s;
    }
    f->tensors[f->n++] = t;
    *data = t.data;
    return NULL;
}

gn_status *gn_tensor_file_add_meta(gn_tensor_file *f, const char *key, const char *value)
{
    char *k, *v;
    void *keys = grow(f->meta_key, f->n_meta, sizeof *f->meta_key);
    if (keys) f->meta_key = keys;
    void *values = keys ? grow(f->meta_value, f->n_meta, sizeof *f->meta_value) : NULL;
    if (values) f->meta_value = values;
    if (!values) GN_FAIL(GN_ERR_NOMEM, "out of memory: '%s' to be written", key);
    GN_TRY(copy(key, &k));
    gn_status *s = copy(value, &v);
    if (s) {
        free(k);
        return s;
    }
    f->meta_key[f->n_meta] = k;
    f->meta_value[f->n_meta++] = v;
    return NULL;
}
