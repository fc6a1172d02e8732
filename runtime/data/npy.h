/* .npy arrays of plain numbers, alone or in a zip file.  The header is a Python dict literal, of
 * which exactly {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } is read; structured and
 * object types are refused. Format: numpy/lib/format.py. */
#ifndef GN_RUNTIME_DATA_NPY_H
#define GN_RUNTIME_DATA_NPY_H

#include "runtime/data/file.h"
#include "runtime/data/ndarray.h"
#include "runtime/data/zip.h"

/* The array points into `bytes`. */
GN_NODISCARD gn_status *gn_npy_parse(const void *bytes, size_t n, const char *origin,
                                     gn_ndarray *out);

/* The member of a zip file of this name, which ends in .npy; the array owns its data
 * (gn_ndarray_free).  Nothing is allocated before header and size agree. */
GN_NODISCARD gn_status *gn_npy_member(gn_zip *z, const char *name, gn_ndarray *out);

/* What a member of one short string says, in ASCII; "" where it is no such array, or longer. */
GN_NODISCARD gn_status *gn_npy_text(gn_zip *z, const char *name, char *to, size_t size);

/* The strings of a member that is a list of those, in UTF-8: [*n] and each the caller's to free;
 * NULL where it is anything else, or has letters that there are not. */
GN_NODISCARD gn_status *gn_npy_texts(gn_zip *z, const char *name, int64_t *n, char ***out);

/* The pickle behind the header of a member that is an array of one Python object; p is NULL where
 * it is anything else. */
GN_NODISCARD gn_status *gn_npy_objects(gn_zip *z, const char *name, gn_bytes *out);

#endif
