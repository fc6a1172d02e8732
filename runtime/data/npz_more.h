/* Arrays of an .npz that no key of its layout names. */
#ifndef GN_RUNTIME_DATA_NPZ_MORE_H
#define GN_RUNTIME_DATA_NPZ_MORE_H

#include "runtime/data/dataset.h"
#include "runtime/data/npz.h"

/* All that are not known yet, as numbers where they are some.  GN_ERR_NOMEM: those that were read
 * are the dataset's. */
GN_NODISCARD gn_status *gn_npz_read_more(gn_npz *z, gn_dataset *d);

#endif
