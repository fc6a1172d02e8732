/* Tensors in pickles of torch.save: a storage is named by a persistent id, and a tensor is a view
 * of one. */
#include "runtime/data/pickle_machine.h"

#include <string.h>

bool gn_pickle_storage_type(machine *m, const char *name, size_t n, value **out)
{
    static const struct {
        const char *name, *dtype;
    } types[] = {{"DoubleStorage", "f8"}, {"FloatStorage", "f4"}, {"HalfStorage", "f2"},
                 {"LongStorage", "i8"},   {"IntStorage", "i4"},   {"ShortStorage", "i2"},
                 {"CharStorage", "i1"},   {"ByteStorage", "u1"},  {"BoolStorage", "b1"}};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        if (strlen(types[k].name) != n || memcmp(types[k].name, name, n) != 0) continue;
        *out = gn_pickle_new(m, GN_PICKLE_DTYPE);
        (*out)->u.array = GN_NEW(m->arena, gn_ndarray);
        return gn_ndarray_dtype((*out)->u.array, types[k].dtype, 2);
    }
    return false;
}

gn_status *gn_pickle_storage(machine *m, const value *id, value **out)
{
    char key[32];
    value *const *part = id->u.item;
    if (id->kind != GN_PICKLE_TUPLE || id->n < 5 || !gn_pickle_is_text(part[0], "storage") ||
        part[1]->kind != GN_PICKLE_DTYPE || part[2]->kind != GN_PICKLE_STR ||
        part[2]->n >= sizeof key || part[4]->kind != GN_PICKLE_INT)
        PICKLE_FAIL(m, "persistent id: expected ('storage', type, key, place, numbers) of torch");
    memcpy(key, part[2]->u.s, part[2]->n);
    key[part[2]->n] = 0;
    gn_ndarray a = *part[1]->u.array;
    uint64_t bytes;
    gn_status *s = m->storages->find(m->storages->file, key, &a.data, &bytes);
    if (s) return gn_status_annotate(s, "%s: byte %zu", m->origin, m->op_at);
    if (!gn_ndarray_order(&a, m->storages->order) || !gn_ndarray_shape(&a, 1, &part[4]->u.i) ||
        (uint64_t)a.count * a.size != bytes)
        PICKLE_FAIL(m, "storage %s: %llu bytes: expected %lld numbers of %d bytes", key,
                    (unsigned long long)bytes, (long long)part[4]->u.i, a.size);
    *out = gn_pickle_new(m, GN_PICKLE_STORAGE);
    (*out)->u.array = GN_NEW(m->arena, gn_ndarray);
    *(*out)->u.array = a;
    return NULL;
}

static bool are_whole(const value *tuple, uint32_t n)
{
    bool whole = tuple->kind == GN_PICKLE_TUPLE && tuple->n == n && n <= GN_NDARRAY_RANK;
    for (uint32_t k = 0; whole && k < n; k++) whole = tuple->u.item[k]->kind == GN_PICKLE_INT;
    return whole;
}

/* Whether the strides are those of a whole array, whose last index (`fortran`: first) is the
 * fastest. */
static bool are_plain(const gn_ndarray *a, const value *strides, bool fortran)
{
    int64_t expected = 1;
    for (int i = 0; a->count > 0 && i < a->rank; i++) {
        int k = fortran ? i : a->rank - 1 - i;
        if (a->dim[k] != 1 && strides->u.item[k]->u.i != expected) return false;
        expected *= a->dim[k];
    }
    return true;
}

gn_status *gn_pickle_tensor(machine *m, const value *args, value **out)
{
    value *const *part = args->u.item;
    int64_t dim[GN_NDARRAY_RANK], end;
    if (args->n < 4 || part[0]->kind != GN_PICKLE_STORAGE || part[1]->kind != GN_PICKLE_INT ||
        part[2]->kind != GN_PICKLE_TUPLE || !are_whole(part[2], part[2]->n) ||
        !are_whole(part[3], part[2]->n))
        PICKLE_FAIL(m, "tensor: expected (storage, offset, shape, strides)");
    gn_ndarray a = *part[0]->u.array;
    for (uint32_t k = 0; k < part[2]->n; k++) dim[k] = part[2]->u.item[k]->u.i;
    int64_t all = a.count, from = part[1]->u.i;
    if (!gn_ndarray_shape(&a, (int)part[2]->n, dim) || from < 0 ||
        __builtin_add_overflow(from, a.count, &end) || end > all)
        PICKLE_FAIL(m, "tensor: a shape that reaches beyond its storage of %lld numbers",
                    (long long)all);
    a.fortran = !are_plain(&a, part[3], false);
    if (a.fortran && !are_plain(&a, part[3], true))
        PICKLE_FAIL(m, "tensor: a view with strides: expected one that is contiguous, as "
                       "`.contiguous()` makes it");
    a.data += (size_t)from * a.size;
    *out = gn_pickle_new(m, GN_PICKLE_ARRAY);
    (*out)->u.array = GN_NEW(m->arena, gn_ndarray);
    *(*out)->u.array = a;
    return NULL;
}
