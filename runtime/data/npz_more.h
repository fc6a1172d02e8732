/* Arrays of an .npz that no key of its layout names. */
#ifndef GN_RUNTIME_DATA_NPZ_MORE_H
#define GN_RUNTIME_DATA_NPZ_MORE_H

#include "runtime/data/dataset.h"
#include "runtime/data/ndarray.h"
#include "runtime/data/zip.h"

typedef struct gn_npz_keys {
    bool *known; /* [members] that were read; free it */
} gn_npz_keys;

/* Notes that the key has been read. */
GN_NODISCARD gn_status *gn_npz_known(gn_npz_keys *k, const gn_zip *z, const char *key);

/* The error for an array whose shape is another than `expected`. */
gn_status *gn_npz_bad_shape(const char *origin, const char *key, const gn_ndarray *a, const char *expected);

/* All others, as numbers where they are some.  GN_ERR_NOMEM: those that were read are the dataset's. */
GN_NODISCARD gn_status *gn_npz_read_more(gn_npz_keys *k, gn_zip *z, gn_dataset *d);

#endif
