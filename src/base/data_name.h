/* Names of data: what programs, bindings and files of models call what a dataset gives.  The only
 * list of them.
 *
 * X(id, name, word): GN_NAME_##id is the name under which programs have it as an input; the word
 * that a train block says for it, NULL for none (an edge's weight is a field of the graph). */
#ifndef GN_BASE_DATA_NAME_H
#define GN_BASE_DATA_NAME_H

#include <stdbool.h>

#define GN_DATA(X)                                                                                 \
    X(X, GN_NAME_X, GN_NAME_X)                            /* f32[F]: features */                   \
    X(Y, GN_NAME_Y, GN_NAME_Y)                            /* i32: labels, -1: none */              \
    X(TRAIN_MASK, GN_NAME_TRAIN_MASK, GN_NAME_TRAIN_MASK) /* bool */                               \
    X(VAL_MASK, GN_NAME_VAL_MASK, GN_NAME_VAL_MASK)                                                \
    X(TEST_MASK, GN_NAME_TEST_MASK, GN_NAME_TEST_MASK)                                             \
    X(TRAIN_TIMES, GN_NAME_TRAIN_TIMES, NULL) /* f32: how often the split lists a node */          \
    X(VAL_TIMES, GN_NAME_VAL_TIMES, NULL)                                                          \
    X(TEST_TIMES, GN_NAME_TEST_TIMES, NULL)                                                        \
    X(WEIGHT, GN_NAME_WEIGHT, NULL)     /* f32 */                                                  \
    X(ATTR, GN_NAME_ATTR, GN_WORD_ATTR) /* f32[D]: features of edges */

#define GN_NAME_G "g" /* the graph itself */
#define GN_NAME_X "x"
#define GN_NAME_Y "y"
#define GN_NAME_TRAIN_MASK "train_mask"
#define GN_NAME_VAL_MASK "val_mask"
#define GN_NAME_TEST_MASK "test_mask"
#define GN_NAME_TRAIN_TIMES "train_mask.times"
#define GN_NAME_VAL_TIMES "val_mask.times"
#define GN_NAME_TEST_TIMES "test_mask.times"
#define GN_NAME_WEIGHT "g.weight"
#define GN_NAME_ATTR "g.attr"
#define GN_WORD_ATTR "attr"
/* Behind the name of rows or of a relation: bool, those that a step is of; f32, by what sums count
 * each of them. */
#define GN_BATCH_MASK "#batch"
#define GN_BATCH_SHARE "#share"
/* Of a batch among those whose gradients are added up: f32, the part of their rows that it has;
 * bool, is it the first, or the last? */
#define GN_BATCH_PART "batch#part"
#define GN_BATCH_FIRST "batch#first"
#define GN_BATCH_LAST "batch#last"

/* What codes of features (gn_schema_column) are made float32 with, by the name of those; names of
 * the language have no second dot. */
#define GN_CODES_STEP "%s.codes.step"
#define GN_CODES_LEAST "%s.codes.least"

typedef enum gn_data_id {
#define X(id, name, word) GN_DATA_##id,
    GN_DATA(X)
#undef X
        GN_DATA_COUNT
} gn_data_id;

extern const char *const gn_data_name[GN_DATA_COUNT];
extern const char *const gn_data_word[GN_DATA_COUNT]; /* NULL: none */
bool gn_is_data_name(const char *name);
bool gn_is_batch_mask(const char *name);

#endif
