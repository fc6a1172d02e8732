/* Inside of a model. */
#ifndef GN_RUNTIME_AOT_IMPL_H
#define GN_RUNTIME_AOT_IMPL_H

#include "runtime/aot/model.h"
#include "runtime/run/pair.h"
#include "runtime/state.h"

#include <stdatomic.h>

typedef struct aot_store { /* weights and what training keeps; counted by the models that share them
                            */
    atomic_int users;
    gn_state state;
} aot_store;

typedef struct aot_data { /* of an input */
    const void *data;     /* the caller's, or `own` */
    void *own; /* x given by its non-zeros, where something reads all of it; a copy of the model's
                  own result */
    void *sorted; /* on edges: in the graph's order */
    int64_t rows;
} aot_data;

enum { AOT_INFER, AOT_STEP, AOT_UNITS }; /* in the order of the image's one_region */

typedef struct aot_unit {
    const gn_artifact *code, *ahead;
    gn_pair pair;
    bool bound; /* instances are up to date */
} aot_unit;

struct gn_aot_model {
    const gn_aot_image *image;
    gn_status *failed; /* to be made: what every call returns then */
    gn_status *last;   /* of the last call that failed */
    aot_store *store;
    gn_pool *pool;
    gn_graph **graph;    /* [n_relations] NULL: not bound */
    gn_graph **stand_in; /* [n_relations] in its place, where nothing reads its edges: without */
    gn_graph *pattern;   /* of x */
    aot_data *data;      /* [n_inputs] */
    aot_unit unit[AOT_UNITS];
    bool inferred;
    void *copied; /* results on edges in the caller's order */
    int64_t copied_bytes;
};

/* The code that calls on a model return at once: of NULL, of one that could not be made; else
 * GN_OK. */
static inline int aot_refuses(const gn_aot_model *m)
{
    return m ? (int)gn_status_code(m->failed) : GN_ERR_USAGE;
}
#define AOT_USABLE(m)                                                                              \
    do {                                                                                           \
        int refused = aot_refuses(m);                                                              \
        if (refused) return refused;                                                               \
    } while (0)

/* Keeps the status for gn_aot_message; its code. */
int aot_say(gn_aot_model *m, gn_status *s);
void aot_unbind(gn_aot_model *m, int unit);
/* Indices that are wider than those that the code reads are GN_ERR_DATA, with `what` has them. */
GN_NODISCARD gn_status *aot_check_index(const gn_aot_model *m, const gn_graph *g, const char *what);

/* aot_relation.c.  The graphs that the unit reads, [n_relations] at most, and how many they are:
 * those that are bound, and such as only say how many rows there are.  GN_ERR_USAGE: one is not
 * bound. */
GN_NODISCARD gn_status *aot_graphs(gn_aot_model *m, const aot_unit *u, gn_graph_binding *to,
                                   int *n);
/* Binds the graph, which is the model's from then on, to the relation of this name. */
GN_NODISCARD gn_status *aot_take_graph(gn_aot_model *m, const char *name, gn_graph *g);
/* GN_ERR_DATA: `what` of this name has another number of rows than weights have.  A space below 0:
 * nothing is checked. */
GN_NODISCARD gn_status *aot_check_rows(const gn_aot_model *m, int space, int64_t rows,
                                       const char *what, const char *name);

const gn_aot_tensor *aot_find(int n, const gn_aot_tensor *in, const char *name);
GN_NODISCARD gn_status *aot_no_such(const gn_aot_model *m, const char *what, const char *name);

/* data.c: x as a matrix, where it is given by its non-zeros and the unit reads all of it; edge data
 * in the graph's order; and everything that the unit reads is there. */
GN_NODISCARD gn_status *aot_ready_data(gn_aot_model *m, const aot_unit *u);
/* The relation's edges are others now. */
void aot_forget_sorted(gn_aot_model *m, int relation);

/* weights.c; aot_in_file: number i of a weight in memory is this one in files. */
int64_t aot_in_file(const gn_aot_weight *w, int64_t i);
GN_NODISCARD gn_status *aot_store_new(const gn_aot_image *image, uint64_t seed, aot_store **out);
void aot_store_release(aot_store *s);

#endif
