/* A restricted reader of Python pickles, protocols 0 to 5: enough for data, and nothing that runs.
 *
 * The stack machine can build numbers, strings, bytes, tuples, lists, sets (as lists), dicts, numpy
 * arrays and scalars, arrays of objects (as lists, whatever their shape), sparse matrices of scipy,
 * and in files of torch.save tensors (as arrays).  Any other global is refused by name with its
 * byte offset; so are other persistent ids, extension codes and out-of-band buffers.  Memory stays
 * below a small multiple of the file's size whatever the file says: long strings and array data are
 * not copied but point into it, so `bytes` must outlive the values. Format: Lib/pickletools.py of
 * CPython. */
#ifndef GN_RUNTIME_DATA_PICKLE_H
#define GN_RUNTIME_DATA_PICKLE_H

#include "base/arena.h"
#include "base/status.h"
#include "runtime/data/csr.h"

typedef enum gn_pickle_kind {
    GN_PICKLE_NONE,
    GN_PICKLE_BOOL,  /* u.i */
    GN_PICKLE_INT,   /* u.i */
    GN_PICKLE_FLOAT, /* u.f */
    GN_PICKLE_STR,   /* u.s, n bytes of UTF-8, not NUL-terminated */
    GN_PICKLE_BYTES, /* u.s, n bytes; also Python 2's str */
    GN_PICKLE_TUPLE, /* u.item, n */
    GN_PICKLE_LIST,  /* u.item, n */
    GN_PICKLE_DICT, /* u.item, n: key, value, key, value, ... in the order of insertion; a later key
                       wins */
    GN_PICKLE_GLOBAL,  /* u.i: a row of the table in pickle_objects.c */
    GN_PICKLE_DTYPE,   /* u.array, whose kind, size and byte order are the type */
    GN_PICKLE_ARRAY,   /* u.array */
    GN_PICKLE_SPARSE,  /* u.sparse */
    GN_PICKLE_STORAGE, /* u.array: the numbers that tensors of torch are views of */
} gn_pickle_kind;

/* SPARSE(X, name, id): the formats of scipy.sparse that are read. */
#define GN_SPARSE_FORMATS(X)                                                                       \
    X("csr", CSR)                                                                                  \
    X("csc", CSC)                                                                                  \
    X("coo", COO)                                                                                  \
    X("lil", LIL)                                                                                  \
    X("dok", DOK)
typedef enum gn_sparse_format {
#define X(name, id) GN_SPARSE_##id,
    GN_SPARSE_FORMATS(X)
#undef X
} gn_sparse_format;

/* What a pickle has of a matrix; the rest is as a format has it.  Nothing of it is checked against
 * the shape yet. */
typedef struct gn_pickle_sparse {
    gn_sparse_format format;
    bool whole; /* it was given its state */
    int64_t rows, cols;
    gn_ndarray data;
    gn_ndarray index[2];                   /* CSR, CSC: indices, indptr; COO: rows, columns */
    const struct gn_pickle_value *list[2]; /* LIL: of each row a list of columns, and one of values
                                            */
    const struct gn_pickle_value *entries; /* DOK: a dict from (row, column) to values */
} gn_pickle_sparse;

typedef struct gn_pickle_value {
    gn_pickle_kind kind;
    uint32_t n;
    union {
        int64_t i;
        double f;
        const char *s;
        struct gn_pickle_value **item;
        gn_ndarray *array;
        gn_pickle_sparse *sparse;
    } u;
} gn_pickle_value;

/* The values live in `a` (initialised by the caller, its limit and boundary are used and put back).
 * `origin` names the file in errors.  GN_ERR_DATA, GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_pickle_parse(gn_arena *a, const void *bytes, size_t n,
                                        const char *origin, gn_pickle_value **out);

/* Where the numbers of tensors lie: those of the storage `key`, in *bytes, which must outlive the
 * values. */
typedef struct gn_pickle_storages {
    void *file;
    gn_status *(*find)(void *file, const char *key, const unsigned char **bytes, uint64_t *n);
    char order; /* '<' or '>' */
} gn_pickle_storages;

/* The pickle that `bytes` begins with; *used: how long it is.  `storages`: of torch; NULL: there
 * are no tensors. */
GN_NODISCARD gn_status *gn_pickle_parse_one(gn_arena *a, const void *bytes, size_t n,
                                            const char *origin, const gn_pickle_storages *storages,
                                            size_t *used, gn_pickle_value **out);

/* A sparse matrix of any format, or the non-zeros of an array of rank 2, as gn_csr_from_arrays
 * makes it: sorted, repeats added, zeros dropped.  `what` names it in errors. */
GN_NODISCARD gn_status *gn_pickle_matrix(const gn_pickle_value *v, const char *what, gn_csr **out);

const char *gn_pickle_kind_name(gn_pickle_kind kind);
/* What a dict has under a key of text; NULL: nothing. */
const gn_pickle_value *gn_pickle_get(const gn_pickle_value *dict, const char *key);
/* str or bytes, equal to text */
bool gn_pickle_is_text(const gn_pickle_value *v, const char *text);

#endif
