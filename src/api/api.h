/* The public API's objects (include/gnnc/gnnc.h).  Objects that others are made from are counted. */
#ifndef GN_API_API_H
#define GN_API_API_H

#include "driver/build.h"
#include "gnnc/gnnc.h"

#include <stdatomic.h>

struct gnnc_module {
    atomic_int users;
    gn_arena arena;
    gn_ast *ast;
};

struct gnnc_graph {
    atomic_int users;
    gn_graph *graph;
};

struct gnnc_executable {
    atomic_int users;
    gn_arena arena;
    gn_build_options opt;
    gnnc_module *module; /* the syntax tree, for emit */
    gn_model *model;
    gn_build build;
    double ms;
};

struct gnnc_state {
    atomic_int users;
    gnnc_executable *exe; /* that it was made for */
    gn_state state;
};

/* Data bound by name.  Borrowed, or in `own`. */
typedef struct api_data {
    char *name;
    gn_elem elem;
    int64_t rows, row_elems;
    void *data, *own;
    void *sorted; /* on edges: in the graph's order */
    bool on_edges;
} api_data;

enum { API_UNITS = 2 }; /* infer, step */

struct gnnc_run {
    gnnc_executable *exe;
    gnnc_state *state;
    gnnc_graph *graph;
    gn_pool *pool;
    gn_graph *pattern; /* of x, where products walk its non-zeros */
    int n_data, cap;
    api_data *data;
    gn_unit unit[API_UNITS]; /* the executable's code, with instances of this run's */
    bool bound[API_UNITS];   /* instances are up to date */
    bool inferred;
    int64_t shape[GIR_MAX_RANK + 1]; /* of the view given out last */
    void *copied;                    /* and its data, where that had to be copied */
};

/* A call that uses an arena: an allocation that fails ends here. */
#define API_GUARD(arena_)                                                                                              \
    jmp_buf api_oom_;                                                                                                  \
    (arena_)->oom = &api_oom_;                                                                                         \
    if (setjmp(api_oom_)) {                                                                                            \
        (arena_)->oom = NULL;                                                                                          \
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %zu bytes wanted", (arena_)->wanted);                                    \
    }

static inline gnnc_status *api_out(gn_status *s) { return (gnnc_status *)s; }

void api_release_module(gnnc_module *m);
void api_release_graph(gnnc_graph *g);
void api_release_executable(gnnc_executable *e);
void api_release_state(gnnc_state *s);

/* run.c: instances are to be made anew. */
void api_unbind(gnnc_run *r);

/* data.c: what the model says of an input, in *in (NULL: it has none of that name); what is bound to it (NULL: never was
 * anything); binds it, and takes now->own. */
const gir_node *api_find_input(const gnnc_run *r, const char *name, const gir_program **in);
api_data *api_find_data(gnnc_run *r, const char *name);
GN_NODISCARD gn_status *api_note_data(gnnc_run *r, const char *name, api_data *now);

/* tensor.c: is it a tensor of this rank that gnnc can read?  `where` names it in messages. */
GN_NODISCARD gn_status *api_check_tensor(const char *where, const DLTensor *t, int rank);
bool api_row_major(const DLTensor *t);
const void *api_first(const DLTensor *t);
/* Copies rows in row-major order, converted from int64 to int32 where the element types say so. */
GN_NODISCARD gn_status *api_copy_tensor(const char *where, const DLTensor *t, gn_elem to, void *out);
bool api_elem(const DLTensor *t, gn_elem *out); /* false: gnnc has no such element type */
DLDataType api_type(gn_elem e);

#endif
