/* Data of a program under test in the forms that evaluators and compiled code take: tensors by
 * name, graphs by name and by value, numbers of rows, and memory that borders on a page that
 * faults. */
#ifndef GN_TESTS_SUPPORT_RUN_DATA_H
#define GN_TESTS_SUPPORT_RUN_DATA_H

#include "ir/eval.h"
#include "runtime/run/exec.h"
#include "runtime/graph/graph.h"

/* Tensors by name.  `wide`: floats of any type are held as double. */
typedef struct run_tensor {
    const char *name;
    gn_elem elem;
    int64_t rows, cols;
    void *data;
} run_tensor;

typedef struct run_table {
    gn_arena *arena;
    bool wide;
    GN_VEC(run_tensor) t;
} run_table;

/* Inputs and states of `p` as `env` binds them, and states that only an update names, 0-filled. */
run_table run_table_new(gn_arena *a, const gir_program *p, const gir_env *env, bool wide);
/* NULL when absent; valid until the next add */
run_tensor *run_table_find(const run_table *z, const char *name);
run_tensor *run_table_add(run_table *z, const char *name, gn_elem elem, int64_t rows,
                          int64_t cols);                 /* 0-filled */
void **run_table_bytes(gn_arena *a, const run_table *z); /* a copy of every tensor's bytes */

static inline gn_elem run_stored(bool wide, gn_elem e)
{
    return wide && gn_elem_is_float(e) ? GN_F64 : e;
}

/* Of a tensor that is not held wide. */
static inline size_t run_tensor_bytes(const run_tensor *t)
{
    return (size_t)(t->rows * t->cols) * gn_elem_size(t->elem);
}

/* Graphs by name: those that `env` binds, and the pattern of every input over rows with one
 * trailing axis in f32, under its name.  Released by run_graphs_free. */
typedef struct run_graphs {
    GN_VEC(gn_graph_binding) g;
} run_graphs;

gn_status *run_graphs_new(gn_arena *a, const gir_program *p, const gir_env *env, run_graphs *out);
void run_graphs_free(run_graphs *g);
gn_graph *run_graphs_find(const run_graphs *g, const char *name);

/* What a program's graph values and spaces are: derived graphs are made when first asked for. */
typedef struct run_world {
    const gir_program *p;
    const run_graphs *base;
    const run_table *tensors;
    gn_graph **graph; /* by value */
    bool *owned;
} run_world;

run_world run_world_new(gn_arena *a, const gir_program *p, const run_graphs *base,
                        const run_table *tensors);
void run_world_free(run_world *w);
gn_status *run_world_graph(run_world *w, gir_id v, gn_graph **out);
gn_status *run_world_rows(run_world *w, gir_space_id s, int64_t *out);

/* `n` bytes whose end borders on a page that faults, each of them 0xff. */
typedef struct run_fenced {
    void *map, *p;
    size_t map_size;
} run_fenced;

gn_status *run_fenced_new(size_t n, run_fenced *out);
void run_fenced_free(run_fenced *f);

#endif
