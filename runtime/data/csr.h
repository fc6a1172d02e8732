/* Sparse matrices as files hold them, made into gn_csr; and the row normalisation of features. */
#ifndef GN_RUNTIME_DATA_CSR_H
#define GN_RUNTIME_DATA_CSR_H

#include "runtime/data/dataset.h"
#include "runtime/data/ndarray.h"

GN_NODISCARD gn_status *gn_csr_new(int64_t rows, int64_t cols, int64_t nnz, gn_csr **out);
void gn_csr_free(gn_csr *m); /* NULL is fine */
/* rows x cols, of finite numbers; rows, and columns in each, ascend.  GN_ERR_DATA, of `what` of
 * `data`. */
GN_NODISCARD gn_status *gn_csr_check(const gn_csr *m, int64_t rows, int64_t cols, const char *data,
                                     const char *what);

/* scipy's three arrays.  Checks them, sorts columns within rows, adds repeats, drops zeros.  `what`
 * names the matrix in errors ("ind.cora.x", "coauthor.npz: attr"). */
typedef struct gn_csr_arrays {
    int64_t rows, cols;
    gn_ndarray data, indices, indptr;
} gn_csr_arrays;
GN_NODISCARD gn_status *gn_csr_from_arrays(const gn_csr_arrays *a, const char *what, gn_csr **out);

/* The non-zeros of a dense rank-2 array. */
GN_NODISCARD gn_status *gn_csr_from_dense(const gn_ndarray *a, const char *what, gn_csr **out);

/* Row r of *out is row from[r] of m, or an empty row where from[r] < 0. */
GN_NODISCARD gn_status *gn_csr_select_rows(const gn_csr *m, const int64_t *from, int64_t rows,
                                           gn_csr **out);

/* b's rows under a's; both have the same number of columns. */
GN_NODISCARD gn_status *gn_csr_stack(const gn_csr *a, const gn_csr *b, gn_csr **out);

/* torch_geometric.transforms.NormalizeFeatures: subtract the least value of all, divide each row by
 * max(its sum, 1). For sparse features the least value must be 0 (or every entry stored), else
 * GN_ERR_DATA: zeros would fill in.  Of several types of nodes each one's `x` is done so. */
GN_NODISCARD gn_status *gn_features_normalize(gn_dataset *d);
/* Of nodes, or of a type of them. */
bool gn_dataset_has_features(const gn_dataset *d);

#endif
