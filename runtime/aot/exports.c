/* What an object compiled ahead of time lets be called: gnnc_aot_<verb> becomes <prefix>_<verb> as
 * gnnc writes the object (src/aot/), and gnnc_aot_image its own.  Nothing else in it can be seen
 * from outside.  The generated header documents these functions. */
#include "runtime/aot/model.h"
#include "runtime/load/cpu.h"

#define EXPORT __attribute__((visibility("default")))

extern const gn_aot_image gnnc_aot_image;

typedef gn_aot_model model;

/* X(result, verb, parameters, arguments): what model.h has under the same name. */
#define FORWARDED(X)                                                                               \
    X(int, share, (model * with, int threads, model **out), (with, threads, out))                  \
    X(const char *, message, (const model *m), (m))                                                \
    X(int, bind, (model * m, const char *name, int64_t rows, const void *data),                    \
      (m, name, rows, data))                                                                       \
    X(int, bind_csr,                                                                               \
      (model * m, int64_t rows, const int64_t *row, const int32_t *column, const float *value),    \
      (m, rows, row, column, value))                                                               \
    X(int, infer, (model * m), (m))                                                                \
    X(const void *, output, (model * m, const char *name, int64_t *rows), (m, name, rows))         \
    X(int, train_step, (model * m, double *loss), (m, loss))                                       \
    X(int, reset, (model * m, uint64_t seed), (m, seed))                                           \
    X(int, weight_get, (model * m, const char *name, float *to, int64_t elems),                    \
      (m, name, to, elems))                                                                        \
    X(int, weight_set, (model * m, const char *name, const float *from, int64_t elems),            \
      (m, name, from, elems))                                                                      \
    X(int, load_weights, (model * m, const char *path), (m, path))                                 \
    X(int, load_weights_memory, (model * m, const void *bytes, int64_t n), (m, bytes, n))          \
    X(int64_t, state_size, (const model *m), (m))                                                  \
    X(int, state_get, (model * m, void *to, int64_t bytes), (m, to, bytes))                        \
    X(int, state_set, (model * m, const void *from, int64_t bytes), (m, from, bytes))
#define X(result, verb, parameters, arguments)                                                     \
    EXPORT result gnnc_aot_##verb parameters;                                                      \
    result gnnc_aot_##verb parameters { return gn_aot_##verb arguments; }
FORWARDED(X)
#undef X

EXPORT int gnnc_aot_open(uint64_t identity, int threads, uint64_t seed, model **out);
int gnnc_aot_open(uint64_t identity, int threads, uint64_t seed, model **out)
{
    return gn_aot_new(&gnnc_aot_image, identity, gn_cpu_features(), threads, seed, out);
}

EXPORT void gnnc_aot_free(model *m);
void gnnc_aot_free(model *m) { gn_aot_free(m); }

/* Ends of edges, in 64 bits and in 32. */
#define GRAPHS(suffix, type, elem)                                                                 \
    EXPORT int gnnc_aot_graph_coo##suffix(model *m, int64_t nodes, int64_t edges, const type *src, \
                                          const type *dst);                                        \
    int gnnc_aot_graph_coo##suffix(model *m, int64_t nodes, int64_t edges, const type *src,        \
                                   const type *dst)                                                \
    {                                                                                              \
        return gn_aot_graph_coo(m, elem, nodes, edges, src, dst);                                  \
    }                                                                                              \
    EXPORT int gnnc_aot_graph_csr##suffix(model *m, int64_t nodes, const type *row,                \
                                          const type *src);                                        \
    int gnnc_aot_graph_csr##suffix(model *m, int64_t nodes, const type *row, const type *src)      \
    {                                                                                              \
        return gn_aot_graph_csr(m, elem, nodes, row, src);                                         \
    }                                                                                              \
    EXPORT int gnnc_aot_relation_coo##suffix(model *m, const char *name, int64_t n_src,            \
                                             int64_t n_dst, int64_t edges, const type *src,        \
                                             const type *dst);                                     \
    int gnnc_aot_relation_coo##suffix(model *m, const char *name, int64_t n_src, int64_t n_dst,    \
                                      int64_t edges, const type *src, const type *dst)             \
    {                                                                                              \
        return gn_aot_relation_coo(m, elem, name, n_src, n_dst, edges, src, dst);                  \
    }
GRAPHS(, int64_t, GN_I64)
GRAPHS(32, int32_t, GN_I32)
