/* Image: a model compiled ahead of time, as data.  gnnc lays these structures out in object files
 * just as they stand in memory, with relocations for addresses (src/aot/layout.c), so that nothing
 * is read or built when one is loaded. Immutable. */
#ifndef GN_RUNTIME_AOT_AOT_IMAGE_H
#define GN_RUNTIME_AOT_AOT_IMAGE_H

#include "runtime/artifact.h"
#include "runtime/fill.h"

typedef struct gn_aot_space { /* rows of one type */
    const char *name;
    int64_t rows; /* weights have a row for each of so many; -1: there may be any number */
} gn_aot_space;

typedef struct gn_aot_relation { /* edges from rows to rows */
    const char *name;
    int src, dst; /* spaces, by their places */
    bool read;    /* false: the code asks no more than how many rows are at its ends */
} gn_aot_relation;

typedef enum gn_aot_rows { GN_AOT_ONE, GN_AOT_ROWS, GN_AOT_EDGES } gn_aot_rows;

typedef struct gn_aot_tensor { /* an input or an output */
    const char *name;
    gn_elem elem;
    gn_aot_rows rows;
    int over; /* ROWS: of this space, EDGES: of this relation, by their places; -1: of others, which
                 outputs alone may have */
    int64_t row_elems;
} gn_aot_tensor;

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
    int64_t rows, row_elems;
} gn_aot_state;

typedef struct gn_aot_image {
    const char *model;
    uint64_t identity; /* of the interface: what a header is compared by (src/aot/identity.c) */
    const char *cpu;   /* that it was compiled for, and what that one needs (runtime/load/cpu.h) */
    uint64_t needs;
    gn_elem index;
    bool sparse_x;      /* products walk the non-zeros of x */
    bool one_region[2]; /* a run of eval, of step is one parallel region */
    int n_spaces, n_relations, n_inputs, n_outputs, n_weights, n_states;
    int64_t n_classes; /* that labels y are of: 0 .. n_classes - 1, -1 unknown; 0: any number will
                          do */
    const gn_aot_space *spaces;
    const gn_aot_relation *relations;      /* that the model takes */
    const gn_aot_tensor *inputs, *outputs; /* outputs: of eval */
    const gn_aot_weight *weights;
    const gn_aot_state *states;
    const gn_artifact *eval, *eval_ahead;
    const gn_artifact *step, *step_ahead; /* NULL: no training */
} gn_aot_image;

/* Is the relation to be given?  The only one may be, whether or not it is read. */
static inline bool gn_aot_takes(const gn_aot_image *g, int relation)
{
    return g->relations[relation].read || g->n_relations == 1;
}

/* aot_relation.c: what rows a tensor has, for people: "[nodes]", "[edges of writes]"; "" for one.
 */
void gn_aot_rows_text(const gn_aot_image *g, const gn_aot_tensor *t, char *to, size_t size);

#endif
