/* What torch.save writes of tensors, numpy arrays and what holds them: a zip file with a pickle and
 * a member for each storage; before torch 1.6 pickles one behind another, which are read where they
 * have no tensors.  Nothing in a file is run: pickle.h says what is read. */
#ifndef GN_RUNTIME_DATA_TORCHFILE_H
#define GN_RUNTIME_DATA_TORCHFILE_H

#include "runtime/data/pickle.h"

typedef struct gn_torch gn_torch;

/* `bytes` and `origin` must outlive it.  GN_ERR_DATA, GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_torch_open(const void *bytes, size_t n, const char *origin,
                                      gn_torch **out);
void gn_torch_close(gn_torch *t); /* NULL is fine */

/* What was saved; lives as long as the file. */
const gn_pickle_value *gn_torch_value(const gn_torch *t);

#endif
