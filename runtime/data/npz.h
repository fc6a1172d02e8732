/* The arrays of an .npz by name.  A name is a member's, without `.npy`; or it is a key of a dict
 * that a member holds.
 *
 * Members of Python objects, as numpy.savez writes what is no array of numbers, are read as pickles
 * where they hold one object: an array or a number is the array of that name, a sparse matrix of
 * scipy is a matrix, None is nothing at all, and a dict gives its entries, where no member has
 * their names. */
#ifndef GN_RUNTIME_DATA_NPZ_H
#define GN_RUNTIME_DATA_NPZ_H

#include "runtime/data/csr.h"
#include "runtime/data/ndarray.h"

typedef struct gn_npz gn_npz;

/* `bytes` and `origin` must outlive it.  GN_ERR_DATA where it is no zip file, GN_ERR_NOMEM; what is
 * wrong with a member is said when it is asked for. */
GN_NODISCARD gn_status *gn_npz_open(const void *bytes, size_t n, const char *origin, gn_npz **out);
void gn_npz_close(gn_npz *z); /* NULL is fine */

const char *gn_npz_origin(const gn_npz *z);
int gn_npz_count(const gn_npz *z);
const char *gn_npz_name(const gn_npz *z, int k); /* lives as long as the file */

bool gn_npz_has(const gn_npz *z, const char *key);
bool gn_npz_is_sparse(const gn_npz *z, const char *key);

/* What was asked for is known; what is not is the user's. */
void gn_npz_know(gn_npz *z, const char *key, bool known);
bool gn_npz_known(const gn_npz *z, int k);

/* Numbers: gn_ndarray_free before the file is closed. */
GN_NODISCARD gn_status *gn_npz_array(gn_npz *z, const char *key, gn_ndarray *out);
/* A sparse matrix, or the non-zeros of an array of rank 2. */
GN_NODISCARD gn_status *gn_npz_matrix(gn_npz *z, const char *key, gn_csr **out);
/* What an array of one short string says; "" where it is another. */
GN_NODISCARD gn_status *gn_npz_text(gn_npz *z, const char *key, char *to, size_t size);

/* Those of a list of strings, as gn_npy_texts gives them. */
GN_NODISCARD gn_status *gn_npz_texts(gn_npz *z, const char *key, int64_t *n, char ***out);

enum { GN_NPZ_WHAT = 4608 }; /* room for "file: key" of messages */

/* The shape of an array as a message has it: "[3, 2]". */
typedef struct gn_shape_text {
    char s[128];
} gn_shape_text;
gn_shape_text gn_shape_show(int rank, const int64_t *dim);

/* The error for an array whose shape is another than `expected`. */
gn_status *gn_npz_bad_shape(const gn_npz *z, const char *key, const gn_ndarray *a,
                            const char *expected);

#endif
