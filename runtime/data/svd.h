/* Features of fewer columns: the rows' coordinates along the directions in which they differ most.
 */
#ifndef GN_RUNTIME_DATA_SVD_H
#define GN_RUNTIME_DATA_SVD_H

#include "runtime/data/dataset.h"

/* X becomes X V (less its mean, where that is taken off first), with the `components` right
 * singular vectors of the largest singular values in V: columns in their order, each with the sign
 * that makes the entry of V that is largest in size positive, and zeros where the singular value is
 * 0.  By subspace iteration from a random start (Halko, Martinsson and Tropp, "Finding structure
 * with randomness", SIAM Review 2011), in double precision and drawn by a seed of its own: the same
 * features have the same basis.  Sparse features stay sparse while they are read.  GN_ERR_USAGE:
 * there are no features, or not so many components; GN_ERR_DATA: a number is not finite. */
GN_NODISCARD gn_status *gn_features_reduce(gn_dataset *d, gn_reduction how, int64_t components);

#endif
