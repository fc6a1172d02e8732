/* Arrays of an .npz that no key of its layout names: kept by name, for inputs that a model
 * declares. */
#include "runtime/data/npz_more.h"

#include "runtime/data/mem.h"

#include <string.h>

/* What is no array of numbers has a name alone. */
static gn_status *read_one(gn_npz *z, const char *name, gn_data_array *to)
{
    gn_ndarray a;
    if (!(to->name = strdup(name))) GN_FAIL(GN_ERR_NOMEM, "out of memory: the name of an array");
    gn_status *s = gn_npz_array(z, name, &a);
    if (s && gn_status_code(s) == GN_ERR_NOMEM) return s;
    if (s) {
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

gn_status *gn_npz_read_more(gn_npz *z, gn_dataset *d)
{
    int n = gn_npz_count(z);
    GN_MEM(d->more, n);
    for (int i = 0; i < n; i++)
        if (!gn_npz_known(z, i)) GN_TRY(read_one(z, gn_npz_name(z, i), &d->more[d->n_more++]));
    return NULL;
}
