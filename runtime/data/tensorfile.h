/* Named tensors in files: safetensors (read, write) and .npz (write), and CSV (write).
 *
 * safetensors: https://huggingface.co/docs/safetensors (8-byte little-endian header length, JSON
 * header, data). Everything written is published atomically: a temporary file beside the target,
 * fsync, rename; on any error the target is as it was. */
#ifndef GN_RUNTIME_DATA_TENSORFILE_H
#define GN_RUNTIME_DATA_TENSORFILE_H

#include "base/elem.h"
#include "base/status.h"

#include <stdint.h>

typedef struct gn_named_tensor {
    char *name;
    gn_elem elem;
    int rank;
    int64_t dim[8];
    void *data; /* row-major, gn_elem_size(elem) * product of dim bytes */
} gn_named_tensor;

typedef struct gn_tensor_file {
    int n;
    gn_named_tensor *tensors; /* names and data owned by this */
    int n_meta;               /* string metadata (`__metadata__` of safetensors) */
    char **meta_key, **meta_value;
    char *note; /* what was made of it for who reads it, a line; NULL: nothing */
} gn_tensor_file;

GN_NODISCARD gn_status *gn_safetensors_read(const char *path, gn_tensor_file **out);
GN_NODISCARD gn_status *gn_safetensors_parse(const void *bytes, size_t n, const char *origin,
                                             gn_tensor_file **out);
GN_NODISCARD gn_status *gn_safetensors_write(const char *path, const gn_tensor_file *f);
/* The same to memory, which free ends. */
GN_NODISCARD gn_status *gn_safetensors_format(const gn_tensor_file *f, void **bytes, size_t *n);
void gn_tensor_file_free(gn_tensor_file *f);
/* NULL when absent */
const gn_named_tensor *gn_tensor_file_find(const gn_tensor_file *f, const char *name);
const char *gn_tensor_file_meta(const gn_tensor_file *f, const char *key); /* NULL when absent */

/* A file to be filled.  Names, keys and values are copied; `data` of a tensor is zeroed.
 * GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_tensor_file_new(gn_tensor_file **out);
GN_NODISCARD gn_status *gn_tensor_file_add(gn_tensor_file *f, const char *name, gn_elem elem,
                                           int rank, const int64_t *dim, void **data);
GN_NODISCARD gn_status *gn_tensor_file_add_meta(gn_tensor_file *f, const char *key,
                                                const char *value);

GN_NODISCARD gn_status *gn_npz_write(const char *path, const gn_tensor_file *f);

/* One row a line, comma-separated, %.9g; `header` (may be NULL) is the first line. rank 1 or 2. */
GN_NODISCARD gn_status *gn_csv_write(const char *path, const char *header,
                                     const gn_named_tensor *t);
/* Up to 8 of as many rows, side by side. */
GN_NODISCARD gn_status *gn_csv_write_columns(const char *path, const char *header, int n,
                                             const gn_named_tensor *t);

#endif
