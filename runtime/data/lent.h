/* Arrays of a dataset that a file lends (blockfile.h): they lie in its map, and nobody may write to
 * them or free them.  Who changes some takes a copy into memory first. */
#ifndef GN_RUNTIME_DATA_LENT_H
#define GN_RUNTIME_DATA_LENT_H

#include "runtime/data/dataset.h"

bool gn_dataset_lends(const gn_dataset *d, const void *p);
/* Frees what is not lent. */
void gn_dataset_release(const gn_dataset *d, void *p);
void gn_codes_release(const gn_dataset *d, const gn_codes *c);

/* Checksums of what is lent, where they were not compared yet: whoever reads rows of features does
 * it first.  All else was checked when it was read.  Nothing of what is not lent.  GN_ERR_DATA,
 * GN_ERR_IO. */
GN_NODISCARD gn_status *gn_dataset_check_lent(const gn_dataset *d, const void *p, int64_t bytes);

/* Edges become lists in memory: src and dst, from and to; nothing where they are.  What else lies
 * on edges stays lent. */
GN_NODISCARD gn_status *gn_dataset_list_edges(gn_dataset *d);
/* The same, with weights, attributes and columns of g: for who moves edges. */
GN_NODISCARD gn_status *gn_dataset_own_edges(gn_dataset *d);
/* Features of nodes become float32 in memory, and columns of them that lie as codes. */
GN_NODISCARD gn_status *gn_dataset_own_features(gn_dataset *d);

/* The other way, for those that lie dense in memory: x, and columns called that, of 16 numbers a
 * row and more.  `elem` is BF16, or F16, for which numbers have to be 0 or between 2^-14 and
 * 65,504. Others stay float32, which is then the result, as does what a file lends: targets,
 * places, times.  Needs no more memory. */
gn_elem gn_dataset_code_x(gn_dataset *d, gn_elem elem);
gn_elem gn_dataset_code_column(gn_dataset *d, gn_table_column *c, gn_elem elem);

/* Ascending row pointers, ends and places in range.  GN_ERR_DATA. */
GN_NODISCARD gn_status *gn_by_dst_check(const gn_by_dst *g, int64_t n_src, int64_t n_dst,
                                        int64_t n_edges, const char *name);

/* Codes ---------------------------------------------------------------------------------------- */

/* How features lie in a file.
 *
 * BF16 rounds to nearest, so that a number x is off by 2^-8 |x| at most.  INT8 has 256 steps
 * between the least and the largest number of each column: off by half a step at most. */
#define GN_FEATURE_CODES(X)                                                                        \
    X(FLOAT32, "float32", GN_F32)                                                                  \
    X(BFLOAT16, "bfloat16", GN_BF16)                                                               \
    X(INT8, "int8", GN_U8)
typedef enum gn_feature_code {
#define X(id, name, elem) GN_CODE_##id,
    GN_FEATURE_CODES(X)
#undef X
        GN_CODE_COUNT
} gn_feature_code;
extern const char *const gn_feature_code_name[GN_CODE_COUNT];
extern const gn_elem gn_feature_code_elem[GN_CODE_COUNT];

/* n numbers of rows of `cols`, from number `first` of them all on. */
void gn_codes_decode(const gn_codes *c, int64_t cols, int64_t first, int64_t n, float *to);
/* The other way, of whole rows; NULL, or GN_ERR_DATA: a number that BF16 does not reach.  step and
 * least are those of gn_codes_scale. */
GN_NODISCARD gn_status *gn_codes_encode(gn_elem elem, const float *step, const float *least,
                                        int64_t cols, int64_t n, const float *from, void *to);
/* least and largest [cols] so far, of whole rows, from infinities on; and the step between codes.
 * GN_ERR_DATA: a column has a range that float32 does not hold. */
void gn_codes_range(int64_t cols, int64_t n, const float *from, float *least, float *largest);
GN_NODISCARD gn_status *gn_codes_scale(int64_t cols, float *least, const float *largest,
                                       float *step);

#endif
