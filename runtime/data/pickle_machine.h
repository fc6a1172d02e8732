/* What the parts of the pickle reader share: the machine (pickle.c), text (pickle_text.c), the
 * objects that it may build (pickle_objects.c), the sparse matrices among them
 * (pickle_sparse.c) and tensors (pickle_torch.c). */
#ifndef GN_RUNTIME_DATA_PICKLE_MACHINE_H
#define GN_RUNTIME_DATA_PICKLE_MACHINE_H

#include "runtime/data/pickle.h"

typedef gn_pickle_value value;

typedef struct machine {
    gn_arena *arena;
    const char *origin;
    const unsigned char *p;
    size_t n, at;
    size_t op_at; /* offset of the opcode being run, for errors */
    GN_VEC(value *) stack;
    GN_VEC(uint32_t) marks; /* stack heights */
    GN_VEC(value *) memo;
    const gn_pickle_storages *storages;   /* of torch, or NULL */
    value *none, *no, *yes, *empty_tuple; /* shared: nothing changes them */
} machine;

/* GN_ERR_DATA "origin: byte N: ..." */
gn_status *gn_pickle_error(const machine *m, const char *file, int line, const char *fmt, ...)
    GN_PRINTF(4, 5);
#define PICKLE_FAIL(m, ...) return gn_pickle_error((m), __FILE__, __LINE__, __VA_ARGS__)

value *gn_pickle_new(machine *m, gn_pickle_kind kind);
void gn_pickle_append(machine *m, value *list, value *v); /* also a dict's keys and values */

/* A global as GLOBAL or STACK_GLOBAL name it; refused unless it is in the table. */
GN_NODISCARD gn_status *gn_pickle_global(machine *m, const char *module, size_t nm,
                                         const char *name, size_t nn, value **out);
/* callable(*args), cls.__new__(cls, *args), object.__setstate__(state) */
GN_NODISCARD gn_status *gn_pickle_reduce(machine *m, const value *f, value *args, value **out);
GN_NODISCARD gn_status *gn_pickle_newobj(machine *m, const value *cls, const value *args,
                                         value **out);
GN_NODISCARD gn_status *gn_pickle_build(machine *m, value *object, const value *state);

/* The state of a sparse matrix, a dict (pickle_sparse.c). */
GN_NODISCARD gn_status *gn_pickle_build_sparse(machine *m, gn_pickle_sparse *sparse,
                                               const value *state);

/* Tensors (pickle_torch.c): the dtype that a type of storage is, false where torch has no such;
 * persistent ids ('storage', type, key, place, numbers); _rebuild_tensor_v2(storage, offset, shape,
 * strides, ...). */
bool gn_pickle_storage_type(machine *m, const char *name, size_t n, value **out);
GN_NODISCARD gn_status *gn_pickle_storage(machine *m, const value *id, value **out);
GN_NODISCARD gn_status *gn_pickle_tensor(machine *m, const value *args, value **out);

/* One line's literal into out's text (pickle_text.c); _codecs.encode(text, 'latin1'). */
GN_NODISCARD gn_status *gn_pickle_string_literal(machine *m, const char *s, size_t n, value *out);
GN_NODISCARD gn_status *gn_pickle_unicode_literal(machine *m, const char *s, size_t n, value *out);
GN_NODISCARD gn_status *gn_pickle_encode(machine *m, const value *args, value **out);

#endif
