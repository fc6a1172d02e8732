/* .npy arrays of plain numbers, alone or in an .npz.  The header is a Python dict literal, of which exactly
 * {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } is read; structured and object types are refused.
 * Format: numpy/lib/format.py. */
#ifndef GN_RUNTIME_DATA_NPY_H
#define GN_RUNTIME_DATA_NPY_H

#include "runtime/data/ndarray.h"
#include "runtime/data/zip.h"

/* The array points into `bytes`. */
GN_NODISCARD gn_status *gn_npy_parse(const void *bytes, size_t n, const char *origin, gn_ndarray *out);

/* Keys are the names that layouts give to arrays, of fewer than 60 bytes. */
bool gn_npz_has(const gn_zip *z, const char *key);
/* Member `key`.npy; the array owns its data (gn_ndarray_free). Nothing is allocated before header and size agree. */
GN_NODISCARD gn_status *gn_npz_array(gn_zip *z, const char *key, gn_ndarray *out);
/* The same of a member by its whole name, of any length, which ends in .npy. */
GN_NODISCARD gn_status *gn_npz_member(gn_zip *z, const char *name, gn_ndarray *out);

#endif
