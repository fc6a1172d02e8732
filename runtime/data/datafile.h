/* Datasets as block files (blockfile.h), which are mapped: what `gnnc data convert` writes, and
 * --data reads like any other format, without sorting or copying anything.
 *
 * Arrays, each there where the dataset has such a thing; NAME is that of a relation or a column:
 *
 *   edges/NAME/row_ptr  [rows + 1]  first edge of a destination    all of one width, i32 or i64
 *   edges/NAME/col      [edges]     source
 *   edges/NAME/pos      [edges]     place in the order of the source
 *   weight, attr        f32 [edges] and [edges, D], in the order of the source
 *   x                   f32, bf16 or u8 [nodes, F]; of u8 the f32 [F] x/step and x/least besides:
 *                       q stands for least + step * q.  Sparse ones are x/ptr i64 [nodes + 1],
 *                       x/col i32 and x/val f32 [non-zeros] in its place
 *   y                   i32, and bool train_mask, val_mask, test_mask, f32 train_times, val_times,
 *                       test_times: of labelled rows
 *   row_of              i64 [nodes]: which row a node of the source is, where they were renumbered;
 *                       row_of/NAME of a type of rows
 *   column/NAME         f32, i32 or bool [rows, ...], or as x, with /step, /ptr and so on
 *   more/K              f32: array number K of those that no format knows
 *
 * `meta` of the directory has what are no arrays: names, counts, types, relations, columns. */
#ifndef GN_RUNTIME_DATA_DATAFILE_H
#define GN_RUNTIME_DATA_DATAFILE_H

#include "runtime/data/blockfile.h"
#include "runtime/data/lent.h"
#include "runtime/data/readers.h"

enum { GN_ARRAY_NAME = 320 }; /* room for the name of an array */
typedef enum gn_edges_array {
    GN_EDGES_ROW_PTR,
    GN_EDGES_COL,
    GN_EDGES_POS,
    GN_EDGES_ARRAYS
} gn_edges_array;
/* "edges/NAME/col", of a relation. */
void gn_edges_array_name(const char *relation, gn_edges_array k, char name[GN_ARRAY_NAME]);
/* "row_of", or of a type "row_of/NAME". */
void gn_row_of_array_name(const gn_dataset *d, int space, char name[GN_ARRAY_NAME]);

typedef struct gn_datafile_options {
    int features; /* a gn_feature_code; -1: as they lie.  Sparse ones, and those of edges, stay
                     float32 */
    const char *source; /* what it is made of, for who asks; NULL: nobody says */
} gn_datafile_options;

/* GN_ERR_IO, GN_ERR_NOMEM; GN_ERR_DATA: a feature that such codes do not hold, or what is lent to
 * the dataset is damaged.  The file is there as a whole or as it was. */
GN_NODISCARD gn_status *gn_datafile_write(const gn_dataset *d, const gn_datafile_options *o,
                                          const char *path);

/* What takes the place of the datasets' own arrays where those do not fit memory: synthetic_write.c
 * writes through these, too. */
GN_NODISCARD gn_status *gn_datafile_meta(const gn_dataset *d, const char *source, json_t **out);
/* Labels, splits, numbers of nodes, weights and attributes, columns, further arrays. */
GN_NODISCARD gn_status *gn_datafile_put_rest(gn_block_writer *w, const gn_dataset *d, int features);

/* Features [rows, cols] that come in order, a part at a time. */
typedef struct gn_feature_writer {
    gn_block_writer *out;
    const char *name; /* "x" */
    gn_elem elem;     /* F32, BF16 or U8 */
    int64_t rows, cols, done;
    float *step, *least, *largest; /* [cols] of U8 */
    bool scaled;
    void *codes; /* of a part */
    int array;
} gn_feature_writer;

GN_NODISCARD gn_status *gn_feature_writer_new(gn_block_writer *out, const char *name, gn_elem elem,
                                              int64_t rows, int64_t cols, gn_feature_writer *w);
/* n numbers, the first of a row.  Of U8 all rows come twice: their ranges are found first. */
GN_NODISCARD gn_status *gn_feature_writer_put(gn_feature_writer *w, const float *x, int64_t n);
void gn_feature_writer_free(gn_feature_writer *w);
static inline bool gn_feature_writer_again(const gn_feature_writer *w)
{
    return w->elem == GN_U8 && !w->scaled;
}
enum { GN_FEATURE_PART = 1 << 18 }; /* numbers of a part at most, about: whole rows */

/* Checks all but dense features of rows, float32 or codes, which who reads them checks. */
GN_NODISCARD gn_status *gn_datafile_read(const char *path, gn_dataset **out);
/* `bytes` must outlive the dataset. */
GN_NODISCARD gn_status *gn_datafile_parse(const void *bytes, size_t n, const char *origin,
                                          gn_dataset **out);
/* Is there such a file? */
bool gn_datafile_is(const char *path);
/* Every block, and that features are finite.  *blocks: how many there are. */
GN_NODISCARD gn_status *gn_datafile_check(const gn_dataset *d, int64_t *blocks);

#endif
