/* What an object compiled ahead of time lets be called: gnnc_aot_<verb> becomes <prefix>_<verb> as gnnc writes the object
 * (src/aot/), and gnnc_aot_image its own.  Nothing else in it can be seen from outside.  The generated header documents
 * these functions. */
#include "runtime/aot/model.h"
#include "runtime/cpu.h"

#define EXPORT __attribute__((visibility("default")))

extern const gn_aot_image gnnc_aot_image;

typedef gn_aot_model model;

EXPORT int gnnc_aot_new(int threads, uint64_t seed, model **out);
EXPORT int gnnc_aot_share(model *with, int threads, model **out);
EXPORT void gnnc_aot_free(model *m);
EXPORT const char *gnnc_aot_message(const model *m);
EXPORT int gnnc_aot_graph_coo(model *m, int64_t nodes, int64_t edges, const int64_t *src, const int64_t *dst);
EXPORT int gnnc_aot_graph_coo32(model *m, int64_t nodes, int64_t edges, const int32_t *src, const int32_t *dst);
EXPORT int gnnc_aot_graph_csr(model *m, int64_t nodes, const int64_t *row, const int64_t *src);
EXPORT int gnnc_aot_graph_csr32(model *m, int64_t nodes, const int32_t *row, const int32_t *src);
EXPORT int gnnc_aot_bind(model *m, const char *name, int64_t rows, const void *data);
EXPORT int gnnc_aot_bind_csr(model *m, int64_t rows, const int64_t *row, const int32_t *column, const float *value);
EXPORT int gnnc_aot_infer(model *m);
EXPORT const void *gnnc_aot_output(model *m, const char *name, int64_t *rows);
EXPORT int gnnc_aot_train_step(model *m, double *loss);
EXPORT int gnnc_aot_reset(model *m, uint64_t seed);
EXPORT int gnnc_aot_weight_get(model *m, const char *name, float *to, int64_t elems);
EXPORT int gnnc_aot_weight_set(model *m, const char *name, const float *from, int64_t elems);
EXPORT int gnnc_aot_load_weights(model *m, const char *path);
EXPORT int gnnc_aot_load_weights_memory(model *m, const void *bytes, int64_t n);
EXPORT int64_t gnnc_aot_state_size(const model *m);
EXPORT int gnnc_aot_state_get(model *m, void *to, int64_t bytes);
EXPORT int gnnc_aot_state_set(model *m, const void *from, int64_t bytes);

int gnnc_aot_new(int threads, uint64_t seed, model **out)
{
    return gn_aot_new(&gnnc_aot_image, gn_cpu_features(), threads, seed, out);
}

int gnnc_aot_share(model *with, int threads, model **out) { return gn_aot_share(with, threads, out); }
void gnnc_aot_free(model *m) { gn_aot_free(m); }
const char *gnnc_aot_message(const model *m) { return gn_aot_message(m); }

int gnnc_aot_graph_coo(model *m, int64_t nodes, int64_t edges, const int64_t *src, const int64_t *dst)
{
    return gn_aot_graph_coo(m, GN_I64, nodes, edges, src, dst);
}

int gnnc_aot_graph_coo32(model *m, int64_t nodes, int64_t edges, const int32_t *src, const int32_t *dst)
{
    return gn_aot_graph_coo(m, GN_I32, nodes, edges, src, dst);
}

int gnnc_aot_graph_csr(model *m, int64_t nodes, const int64_t *row, const int64_t *src)
{
    return gn_aot_graph_csr(m, GN_I64, nodes, row, src);
}

int gnnc_aot_graph_csr32(model *m, int64_t nodes, const int32_t *row, const int32_t *src)
{
    return gn_aot_graph_csr(m, GN_I32, nodes, row, src);
}

int gnnc_aot_bind(model *m, const char *name, int64_t rows, const void *data)
{
    return gn_aot_bind(m, name, rows, data);
}

int gnnc_aot_bind_csr(model *m, int64_t rows, const int64_t *row, const int32_t *column, const float *value)
{
    return gn_aot_bind_csr(m, rows, row, column, value);
}

int gnnc_aot_infer(model *m) { return gn_aot_infer(m); }
const void *gnnc_aot_output(model *m, const char *name, int64_t *rows) { return gn_aot_output(m, name, rows); }
int gnnc_aot_train_step(model *m, double *loss) { return gn_aot_train_step(m, loss); }
int gnnc_aot_reset(model *m, uint64_t seed) { return gn_aot_reset(m, seed); }

int gnnc_aot_weight_get(model *m, const char *name, float *to, int64_t elems)
{
    return gn_aot_weight_get(m, name, to, elems);
}

int gnnc_aot_weight_set(model *m, const char *name, const float *from, int64_t elems)
{
    return gn_aot_weight_set(m, name, from, elems);
}

int gnnc_aot_load_weights(model *m, const char *path) { return gn_aot_load_weights(m, path); }

int gnnc_aot_load_weights_memory(model *m, const void *bytes, int64_t n)
{
    return gn_aot_load_weights_memory(m, bytes, n);
}

int64_t gnnc_aot_state_size(const model *m) { return gn_aot_state_size(m); }
int gnnc_aot_state_get(model *m, void *to, int64_t bytes) { return gn_aot_state_get(m, to, bytes); }
int gnnc_aot_state_set(model *m, const void *from, int64_t bytes) { return gn_aot_state_set(m, from, bytes); }
