/* The objects a pickle may build.  `globals` is the complete list of what a file can name. */
#include "runtime/data/pickle_machine.h"

#include <string.h>

/* module, name, what it stands for; several modules name one thing as libraries moved it. */
#define GLOBALS(X)                                                                                 \
    X("collections", "defaultdict", DEFAULTDICT)                                                   \
    X("collections", "OrderedDict", ORDEREDDICT)                                                   \
    X("__builtin__", "list", LIST)                                                                 \
    X("builtins", "list", LIST)                                                                    \
    X("__builtin__", "object", OBJECT)                                                             \
    X("builtins", "object", OBJECT)                                                                \
    X("__builtin__", "bytes", BYTES)                                                               \
    X("builtins", "bytes", BYTES)                                                                  \
    X("__builtin__", "set", SET)                                                                   \
    X("builtins", "set", SET)                                                                      \
    X("__builtin__", "frozenset", SET)                                                             \
    X("builtins", "frozenset", SET)                                                                \
    X("__builtin__", "dict", DICT)                                                                 \
    X("builtins", "dict", DICT)                                                                    \
    X("copy_reg", "_reconstructor", RECONSTRUCTOR)                                                 \
    X("copyreg", "_reconstructor", RECONSTRUCTOR)                                                  \
    X("_codecs", "encode", ENCODE)                                                                 \
    X("numpy", "ndarray", NDARRAY)                                                                 \
    X("numpy", "matrix", NDARRAY)                                                                  \
    X("numpy.matrixlib.defmatrix", "matrix", NDARRAY)                                              \
    X("numpy.core.defmatrix", "matrix", NDARRAY)                                                   \
    X("numpy", "dtype", DTYPE)                                                                     \
    X("numpy.core.multiarray", "_reconstruct", RECONSTRUCT)                                        \
    X("numpy._core.multiarray", "_reconstruct", RECONSTRUCT)                                       \
    X("numpy.core.multiarray", "scalar", SCALAR)                                                   \
    X("numpy._core.multiarray", "scalar", SCALAR)                                                  \
    X("numpy.core.numeric", "_frombuffer", FROMBUFFER)                                             \
    X("numpy._core.numeric", "_frombuffer", FROMBUFFER)                                            \
    X("torch._utils", "_rebuild_tensor_v2", TENSOR)

enum global {
    DEFAULTDICT,
    ORDEREDDICT,
    LIST,
    OBJECT,
    BYTES,
    RECONSTRUCTOR,
    ENCODE,
    NDARRAY,
    DTYPE,
    RECONSTRUCT,
    SCALAR,
    FROMBUFFER,
    SET,
    DICT,
    TENSOR,
    SPARSE, /* and the formats from here on */
};

static const struct {
    const char *module, *name;
    int id;
} globals[] = {
#define X(module, name, id) {module, name, id},
    GLOBALS(X)
#undef X
#define X(f, id)                                                                                   \
    {"scipy.sparse." f, f "_matrix", (int)SPARSE + (int)GN_SPARSE_##id},                           \
        {"scipy.sparse._" f, f "_matrix", (int)SPARSE + (int)GN_SPARSE_##id},                      \
        {"scipy.sparse._" f, f "_array", (int)SPARSE + (int)GN_SPARSE_##id},                       \
        {"scipy.sparse._arrays", f "_array", (int)SPARSE + (int)GN_SPARSE_##id},
        GN_SPARSE_FORMATS(X)
#undef X
};

static bool same(const char *s, size_t n, const char *text)
{
    return strlen(text) == n && memcmp(s, text, n) == 0;
}

/* A name from the file, fit for a message. */
static const char *shown(char *t, size_t cap, const char *s, size_t n)
{
    size_t k = 0;
    for (; k < n && k + 1 < cap; k++) t[k] = s[k] > 32 && s[k] < 127 ? s[k] : '?';
    t[k] = 0;
    return t;
}

gn_status *gn_pickle_global(machine *m, const char *module, size_t nm, const char *name, size_t nn,
                            value **out)
{
    char a[64], b[64];
    for (size_t i = 0; i < sizeof globals / sizeof *globals; i++) {
        if (!same(module, nm, globals[i].module) || !same(name, nn, globals[i].name)) continue;
        *out = gn_pickle_new(m, GN_PICKLE_GLOBAL);
        (*out)->u.i = (int64_t)globals[i].id;
        return NULL;
    }
    if (same(module, nm, "torch") && gn_pickle_storage_type(m, name, nn, out)) return NULL;
    PICKLE_FAIL(
        m,
        "global %s.%s is refused: a data file holds numbers, text, lists, dicts, numpy arrays and "
        "sparse matrices only",
        shown(a, sizeof a, module, nm), shown(b, sizeof b, name, nn));
}

static bool is_global(const value *v, enum global id)
{
    return v->kind == GN_PICKLE_GLOBAL && v->u.i == (int64_t)id;
}
static bool is_sparse(const value *v)
{
    return v->kind == GN_PICKLE_GLOBAL && v->u.i >= (int64_t)SPARSE;
}

static bool is_raw(const value *v) { return v->kind == GN_PICKLE_BYTES; }

enum { OBJECTS = 'O' }; /* the kind of a dtype whose arrays become lists */

static gn_status *new_dtype(machine *m, const value *args, value **out)
{
    char t[32];
    if (args->n < 1 ||
        (args->u.item[0]->kind != GN_PICKLE_STR && args->u.item[0]->kind != GN_PICKLE_BYTES))
        PICKLE_FAIL(m, "dtype: expected the name of a type");
    const value *name = args->u.item[0];
    *out = gn_pickle_new(m, GN_PICKLE_DTYPE);
    (*out)->u.array = GN_NEW(m->arena, gn_ndarray);
    if (same(name->u.s, name->n, "O") || same(name->u.s, name->n, "O4") ||
        same(name->u.s, name->n, "O8"))
        (*out)->u.array->kind = OBJECTS;
    else if (!gn_ndarray_dtype((*out)->u.array, name->u.s, name->n))
        PICKLE_FAIL(m, "dtype '%s' is refused: expected b1, i1 to i8, u1 to u8, f2 to f8 or O",
                    shown(t, sizeof t, name->u.s, name->n));
    return NULL;
}

/* (version, byte order, ...): the rest is for structured types, which are refused by name
 * already. */
static gn_status *build_dtype(machine *m, value *dtype, const value *state)
{
    if (state->kind != GN_PICKLE_TUPLE || state->n < 2)
        PICKLE_FAIL(m, "dtype: expected a tuple as its state");
    const value *order = state->u.item[1];
    if ((order->kind != GN_PICKLE_STR && order->kind != GN_PICKLE_BYTES) || order->n != 1 ||
        !gn_ndarray_order(dtype->u.array, order->u.s[0]))
        PICKLE_FAIL(m, "dtype: expected a byte order of < > | or =");
    return NULL;
}

static gn_status *set_shape(machine *m, gn_ndarray *a, const value *shape)
{
    int64_t dim[GN_NDARRAY_RANK];
    if (shape->kind != GN_PICKLE_TUPLE || shape->n > GN_NDARRAY_RANK)
        PICKLE_FAIL(m, "numpy array: expected a tuple of at most %d numbers as its shape",
                    GN_NDARRAY_RANK);
    for (uint32_t i = 0; i < shape->n; i++) {
        if (shape->u.item[i]->kind != GN_PICKLE_INT)
            PICKLE_FAIL(m, "numpy array: expected integers as its shape");
        dim[i] = shape->u.item[i]->u.i;
    }
    if (!gn_ndarray_shape(a, (int)shape->n, dim)) PICKLE_FAIL(m, "numpy array: impossible shape");
    return NULL;
}

/* The same whether it comes as state (shape, dtype, order, data) or as arguments of _frombuffer. */
static gn_status *set_array(machine *m, gn_ndarray *a, const value *shape, const value *dtype,
                            bool fortran, const value *data)
{
    if (dtype->kind != GN_PICKLE_DTYPE || dtype->u.array->kind == OBJECTS)
        PICKLE_FAIL(m, "numpy array: expected a dtype of numbers");
    if (!is_raw(data))
        PICKLE_FAIL(m, "numpy array: expected its data as bytes, found %s",
                    gn_pickle_kind_name(data->kind));
    gn_ndarray t = *dtype->u.array;
    t.fortran = fortran;
    GN_TRY(set_shape(m, &t, shape));
    if ((uint64_t)t.count * t.size != data->n)
        PICKLE_FAIL(m, "numpy array: %lld elements of %d bytes, but %u bytes of data",
                    (long long)t.count, t.size, data->n);
    t.data = (const unsigned char *)data->u.s;
    *a = t;
    return NULL;
}

static gn_status *build_array(machine *m, value *array, const value *state)
{
    if (state->kind != GN_PICKLE_TUPLE || state->n != 5 || state->u.item[3]->kind > GN_PICKLE_INT)
        PICKLE_FAIL(m,
                    "numpy array: expected (version, shape, dtype, is_fortran, data) as its state");
    value **s = state->u.item;
    if (s[2]->kind != GN_PICKLE_DTYPE || s[2]->u.array->kind != OBJECTS)
        return set_array(m, array->u.array, s[1], s[2], s[3]->u.i != 0, s[4]);
    gn_ndarray shape = {0};
    GN_TRY(set_shape(m, &shape, s[1]));
    if (s[4]->kind != GN_PICKLE_LIST || (int64_t)s[4]->n != shape.count)
        PICKLE_FAIL(m, "numpy array: expected a list of its %lld objects", (long long)shape.count);
    *array = *s[4];
    return NULL;
}

static value *new_array(machine *m)
{
    value *v = gn_pickle_new(m, GN_PICKLE_ARRAY);
    v->u.array = GN_NEW(m->arena, gn_ndarray);
    return v;
}

static value *new_sparse(machine *m, const value *cls)
{
    value *v = gn_pickle_new(m, GN_PICKLE_SPARSE);
    v->u.sparse = GN_NEW(m->arena, gn_pickle_sparse);
    v->u.sparse->format = (gn_sparse_format)(cls->u.i - (int64_t)SPARSE);
    return v;
}

/* _reconstructor(class, object, None), of a dict of keys (class, dict, entries) */
static gn_status *reconstruct_sparse(machine *m, const value *args, value **out)
{
    value *const *a = args->u.item;
    bool known = args->n == 3 && is_sparse(a[0]) &&
                 (is_global(a[1], OBJECT) || is_global(a[1], DICT));
    if (!known) PICKLE_FAIL(m, "_reconstructor: expected (csr_matrix or the like, object, None)");
    *out = new_sparse(m, a[0]);
    if (a[2]->kind == GN_PICKLE_DICT) (*out)->u.sparse->entries = a[2];
    return NULL;
}

gn_status *gn_pickle_build(machine *m, value *object, const value *state)
{
    switch (object->kind) {
    case GN_PICKLE_DTYPE: return build_dtype(m, object, state);
    case GN_PICKLE_ARRAY: return build_array(m, object, state);
    case GN_PICKLE_SPARSE: return gn_pickle_build_sparse(m, object->u.sparse, state);
    default: PICKLE_FAIL(m, "a %s cannot be given a state", gn_pickle_kind_name(object->kind));
    }
}

/* scalar(dtype, bytes) */
static gn_status *new_scalar(machine *m, const value *args, value **out)
{
    if (args->n != 2 || args->u.item[0]->kind != GN_PICKLE_DTYPE || !is_raw(args->u.item[1]) ||
        args->u.item[0]->u.array->kind == OBJECTS ||
        args->u.item[1]->n != args->u.item[0]->u.array->size)
        PICKLE_FAIL(m, "numpy scalar: expected a dtype and as many bytes as it takes");
    gn_ndarray a = *args->u.item[0]->u.array;
    a.data = (const unsigned char *)args->u.item[1]->u.s;
    a.count = 1;
    *out = gn_pickle_new(m, a.kind == 'f'   ? GN_PICKLE_FLOAT
                            : a.kind == 'b' ? GN_PICKLE_BOOL
                                            : GN_PICKLE_INT);
    if (a.kind == 'f')
        (*out)->u.f = gn_ndarray_f64(&a, 0);
    else if (!gn_ndarray_i64(&a, 0, &(*out)->u.i))
        PICKLE_FAIL(m, "numpy scalar: expected an integer below 2^63");
    return NULL;
}

/* _frombuffer(buffer, dtype, shape, order) */
static gn_status *from_buffer(machine *m, const value *args, value **out)
{
    if (args->n != 4) PICKLE_FAIL(m, "numpy array: expected (buffer, dtype, shape, order)");
    value **s = args->u.item;
    *out = new_array(m);
    return set_array(m, (*out)->u.array, s[2], s[1], gn_pickle_is_text(s[3], "F"), s[0]);
}

/* OrderedDict([(key, value), ...]) or of nothing */
static gn_status *new_ordered_dict(machine *m, const value *args, value **out)
{
    *out = gn_pickle_new(m, GN_PICKLE_DICT);
    if (args->n == 0) return NULL;
    const value *pairs = args->u.item[0];
    if (args->n != 1 || pairs->kind != GN_PICKLE_LIST)
        PICKLE_FAIL(m, "OrderedDict: expected a list of pairs");
    for (uint32_t i = 0; i < pairs->n; i++) {
        const value *pair = pairs->u.item[i];
        if ((pair->kind != GN_PICKLE_LIST && pair->kind != GN_PICKLE_TUPLE) || pair->n != 2)
            PICKLE_FAIL(m, "OrderedDict: expected a list of pairs");
        gn_pickle_append(m, *out, pair->u.item[0]);
        gn_pickle_append(m, *out, pair->u.item[1]);
    }
    return NULL;
}

gn_status *gn_pickle_newobj(machine *m, const value *cls, const value *args, value **out)
{
    if (!is_sparse(cls) || args->n != 0)
        PICKLE_FAIL(m, "only sparse matrices can be made with NEWOBJ in a data file");
    *out = new_sparse(m, cls);
    return NULL;
}

gn_status *gn_pickle_reduce(machine *m, const value *f, value *args, value **out)
{
    switch ((enum global)f->u.i) {
    case DEFAULTDICT:
        if (args->n > 1 || (args->n == 1 && !is_global(args->u.item[0], LIST)))
            PICKLE_FAIL(m, "defaultdict: expected list as its default");
        *out = gn_pickle_new(m, GN_PICKLE_DICT);
        return NULL;
    case ORDEREDDICT: return new_ordered_dict(m, args, out);
    case BYTES:
        if (args->n != 0) PICKLE_FAIL(m, "bytes: expected no arguments");
        *out = gn_pickle_new(m, GN_PICKLE_BYTES);
        (*out)->u.s = "";
        return NULL;
    case RECONSTRUCTOR: return reconstruct_sparse(m, args, out);
    case SET:
        if (args->n > 1 || (args->n == 1 && args->u.item[0]->kind != GN_PICKLE_LIST))
            PICKLE_FAIL(m, "set: expected a list of its elements");
        *out = args->n ? args->u.item[0] : gn_pickle_new(m, GN_PICKLE_LIST);
        return NULL;
    case RECONSTRUCT:
        if (args->n != 3 || !is_global(args->u.item[0], NDARRAY))
            PICKLE_FAIL(m, "_reconstruct: expected (ndarray, shape, type)");
        *out = new_array(m);
        return NULL;
    case ENCODE: return gn_pickle_encode(m, args, out);
    case DTYPE: return new_dtype(m, args, out);
    case SCALAR: return new_scalar(m, args, out);
    case FROMBUFFER: return from_buffer(m, args, out);
    case TENSOR: return gn_pickle_tensor(m, args, out);
    case LIST:
    case OBJECT:
    case NDARRAY:
    case DICT:
    case SPARSE: break;
    }
    PICKLE_FAIL(m, "this global cannot be called in a data file");
}
