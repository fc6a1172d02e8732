/* Model: an image in use: weights, bound data, memory of runs.  What the functions of a generated
 * header do; that header (src/aot/header.c) is their documentation.
 *
 * Calls return a gn_code, 0 when all went well; gn_aot_message has the words.  One thread at a time
 * a model; models that share weights count as one while any of them trains or is given weights. */
#ifndef GN_RUNTIME_AOT_MODEL_H
#define GN_RUNTIME_AOT_MODEL_H

#include "runtime/aot/aot_image.h"

typedef struct gn_aot_model gn_aot_model;

/* *out is a model even when this fails, so that it can be asked why; NULL where there is no memory
 * for it.  `identity`: that of the header that the caller was compiled with; 0: of none. */
int gn_aot_new(const gn_aot_image *image, uint64_t identity, uint64_t has_features, int threads,
               uint64_t seed, gn_aot_model **out);
int gn_aot_share(gn_aot_model *with, int threads, gn_aot_model **out);
void gn_aot_free(gn_aot_model *m);
/* of the last call that failed; NULL: there was no memory for it, or none was given */
const char *gn_aot_message(const gn_aot_model *m);

/* What numbers src, dst and row are: GN_I32 or GN_I64. */
int gn_aot_graph_coo(gn_aot_model *m, gn_elem ends, int64_t nodes, int64_t edges, const void *src,
                     const void *dst);
int gn_aot_graph_csr(gn_aot_model *m, gn_elem ends, int64_t nodes, const void *row,
                     const void *src);
/* aot_relation.c: of any relation by name, the graph's is "g". */
int gn_aot_relation_coo(gn_aot_model *m, gn_elem ends, const char *name, int64_t n_src,
                        int64_t n_dst, int64_t edges, const void *src, const void *dst);

/* data.c */
int gn_aot_bind(gn_aot_model *m, const char *name, int64_t rows, const void *data);
int gn_aot_bind_csr(gn_aot_model *m, int64_t rows, const int64_t *row, const int32_t *column,
                    const float *value);

int gn_aot_infer(gn_aot_model *m);
/* NULL: see the message */
const void *gn_aot_output(gn_aot_model *m, const char *name, int64_t *rows);
int gn_aot_train_step(gn_aot_model *m, double *loss);

/* weights.c */
int gn_aot_reset(gn_aot_model *m, uint64_t seed);
int gn_aot_weight_get(gn_aot_model *m, const char *name, float *to, int64_t elems);
int gn_aot_weight_set(gn_aot_model *m, const char *name, const float *from, int64_t elems);
int gn_aot_load_weights(gn_aot_model *m, const char *path);
int gn_aot_load_weights_memory(gn_aot_model *m, const void *bytes, int64_t n);
int64_t gn_aot_state_size(const gn_aot_model *m);
int gn_aot_state_get(gn_aot_model *m, void *to, int64_t bytes);
int gn_aot_state_set(gn_aot_model *m, const void *from, int64_t bytes);

#endif
