/* Which nodes of an .npz are for training, validation and test. */
#ifndef GN_RUNTIME_DATA_NPZ_SPLIT_H
#define GN_RUNTIME_DATA_NPZ_SPLIT_H

#include "runtime/data/npz.h"
#include "runtime/data/readers.h"

/* Of the rows that have labels; `prefix` stands before the names: "", or "paper.".  Masks
 * ({train,val,test}_mask or _masks: [nodes], [splits, nodes] or [nodes, splits]) or numbers of
 * nodes ({train,valid,test}_idx, as OGB names them: [k]); no split where there are none.  Notes how
 * many splits there are. */
GN_NODISCARD gn_status *gn_npz_read_split(gn_npz *z, const char *prefix, gn_reading *r,
                                          gn_dataset *d);
bool gn_npz_is_split(const char *name); /* "train_mask", ... */
bool gn_npz_has_split(const gn_npz *z, const char *prefix);

#endif
