/* Arrays of an .npz that are of types of nodes, and of relations between them. */
#ifndef GN_RUNTIME_DATA_NPZ_TYPED_H
#define GN_RUNTIME_DATA_NPZ_TYPED_H

#include "runtime/data/npz.h"
#include "runtime/data/readers.h"

bool gn_npz_is_typed(const gn_npz *z); /* there is a NAME.edge_index */
GN_NODISCARD gn_status *gn_npz_read_typed(gn_npz *z, gn_reading *r, gn_dataset *d);

#endif
