/* Image: a model compiled ahead of time, as data.  gnnc lays these structures out in object files
 * just as they stand in memory, with relocations for addresses (src/aot/layout.c), so that nothing
 * is read or built when one is loaded. Immutable. */
#ifndef GN_RUNTIME_AOT_AOT_IMAGE_H
#define GN_RUNTIME_AOT_AOT_IMAGE_H

#include "runtime/artifact.h"
#include "runtime/fill.h"

typedef enum gn_aot_rows { GN_AOT_ONE, GN_AOT_NODES, GN_AOT_EDGES } gn_aot_rows;

typedef struct gn_aot_tensor { /* an input or an output */
    const char *name;
    gn_elem elem;
    gn_aot_rows rows;
    int64_t row_elems;
    int relation;     /* EDGES: whose: k is relations[k - 1], 0 the graph */
    const char *over; /* the rows' or the relation's name; NULL: of nodes, of the graph */
} gn_aot_tensor;

typedef struct gn_aot_relation {  /* beside the graph */
    const char *name, *src, *dst; /* of rows; "node": the graph's nodes */
} gn_aot_relation;

enum { GN_AOT_RANK = 8 };

typedef struct gn_aot_weight {
    const char *name; /* in files, and its shape there */
    int rank;
    int64_t dim[GN_AOT_RANK];
    const char *state; /* that holds it */
    int64_t elems;
    int64_t turned; /* 0: lies as in files; else its first dim here, and files have [elems / turned,
                       turned] */
    gn_fill init;
    const float *data; /* as it lies in the state; NULL: filled by init */
} gn_aot_weight;

typedef struct gn_aot_state {
    const char *name;
    gn_elem elem;
    int64_t rows, elems; /* elems: of a row */
} gn_aot_state;

typedef struct gn_aot_image {
    const char *model;
    uint64_t identity; /* of the interface: what a header is compared by (src/aot/identity.c) */
    const char *cpu;   /* that it was compiled for, and what that one needs (runtime/load/cpu.h) */
    uint64_t needs;
    gn_elem index;
    bool sparse_x;      /* products walk the non-zeros of x */
    bool one_region[2]; /* a run of eval, of step is one parallel region */
    bool reads_graph;   /* where not, and there are relations, it need not be given */
    int n_inputs, n_outputs, n_weights, n_states, n_relations;
    int64_t n_classes; /* that labels y are of: 0 .. n_classes - 1, -1 unknown; 0: any number will
                          do */
    const gn_aot_tensor *inputs, *outputs; /* outputs: of eval */
    const gn_aot_weight *weights;
    const gn_aot_state *states;
    const gn_aot_relation *relations;
    const gn_artifact *eval, *eval_ahead;
    const gn_artifact *step, *step_ahead; /* NULL: no training */
} gn_aot_image;

#endif
