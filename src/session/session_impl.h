/* Shared by the files of the session. */
#ifndef GN_SESSION_SESSION_IMPL_H
#define GN_SESSION_SESSION_IMPL_H

#include "build/state_file.h"
#include "session/session.h"

/* States to the session's device, after the host's were changed, and from it, before they are read.
 * Nothing here. */
GN_NODISCARD gn_status *gn_session_push(const gn_session *s);
GN_NODISCARD gn_status *gn_session_pull(const gn_session *s);
/* What the data gives to the front end. */
gn_data_shape gn_session_shape(const gn_session *s);
/* classes.c: where shapes of the weights that are to be loaded ask for more classes than the labels
 * have, the data gets as many. */
void gn_session_find_classes(gn_session *s);
bool gn_program_reads(const gir_program *p, const char *name); /* an input; NULL reads nothing */
/* inputs.c: the data's arrays that programs declare as inputs, checked; the others' numbers are
 * given back.  Before nodes are reordered.  GN_ERR_DATA: an array of another shape. */
/* "; it has `h` [3, 2]; features are read under `x` (or `feat`, ...)": arrays of the data that may
 * have been meant for features, or for labels; "" where it has none. */
const char *gn_session_other_arrays(const gn_session *s, bool labels);
GN_NODISCARD gn_status *gn_session_take_inputs(gn_session *s);
/* A value of edges, [edges, dim], in the graph's order; *to is the caller's.  NULL of NULL. */
GN_NODISCARD gn_status *gn_session_edge_rows(const gn_session *s, const float *from, int64_t dim,
                                             float **to);
/* Those of inputs that were taken, once nodes have their order; and their end. */
GN_NODISCARD gn_status *gn_session_sort_inputs(gn_session *s);
void gn_session_free_inputs(gn_session *s); /* before its data */
/* score.c: two classes of labels, of which one has less than a third of the nodes. */
bool gn_two_unbalanced(const gn_dataset *d);
/* at most data->n_more; how many */
int gn_session_bind_inputs(const gn_session *s, gn_binding *to);
/* fit.c: the best epoch so far, as the train block chooses it. */
typedef struct gn_best {
    bool any;                /* an epoch was chosen */
    double accuracy, loss;   /* the best validation figures so far, each by itself */
    double train, val, test; /* accuracies of the chosen epoch */
    double train_loss;       /* its loss */
    int64_t epoch;           /* the chosen one */
    int64_t misses;          /* epochs in a row without an improvement */
    gn_state weights;        /* of the chosen one, where they are to be kept */
} gn_best;

/* checkpoint.c: training as it stands after an epoch, whose states were pulled; and on from there,
 * into states that are to be pushed.  GN_ERR_DATA: it is of another model, optimizer, graph, split
 * or seed (fit->seed); what differs. */
GN_NODISCARD gn_status *gn_checkpoint_write(const gn_session *s, const char *path, gn_fit *fit,
                                            gn_best *best);
GN_NODISCARD gn_status *gn_checkpoint_take(gn_session *s, gn_fit *fit, gn_best *best);

/* What the session compiles with. */
GN_NODISCARD gn_status *gn_session_build_options(gn_session *s, gn_build_options *out);
/* Binds a unit of a build of the session's model to its data; `also`: and to more inputs [n]. */
GN_NODISCARD gn_status *gn_session_bind_also(gn_session *s, gn_unit *u, gn_pool *pool,
                                             const gn_instance *like, int n,
                                             const gn_binding *also);
GN_NODISCARD gn_status *gn_session_bind(gn_session *s, gn_unit *u, gn_pool *pool,
                                        const gn_instance *like);

/* What programs of the session are bound to. */
typedef struct gn_session_data {
    int n_tensors; /* there is room for what the unit keeps behind them */
    gn_binding *tensors;
    int n_graphs;
    gn_graph_binding *graphs;
} gn_session_data;
GN_NODISCARD gn_status *gn_session_bound(gn_session *s, const gn_unit *u, int n_also,
                                         const gn_binding *also, gn_session_data *out);
int64_t gn_session_data_bytes(const gn_session *s); /* features, labels, masks, edge data */

/* memory_cap.c: programs keep to opt.memory, in their code, which is made, or GN_ERR_NOMEM says
 * what takes it.  Then graphs are as programs need them; outline: of each unit, and of what is
 * computed ahead of it, the last of them beside all others.  The caller ends them. */
static inline bool gn_session_is_capped(const gn_session *s)
{
    return s->opt.memory > 0 || s->opt.memory_share > 0;
}
enum { GN_SESSION_PROGRAMS = 2 * GN_UNITS };
GN_NODISCARD gn_status *gn_session_keep_within(gn_session *s,
                                               gn_instance *outline[GN_SESSION_PROGRAMS]);
/* What is compiled into. */
static inline gn_arena *gn_session_compiler(gn_session *s)
{
    return s->opt.code_alone && gn_session_is_capped(s) ? &s->compiler : s->arena;
}
/* Of programs what runs, in the session's arena: the compiler's may go. */
void gn_session_keep_code(gn_session *s);
/* May features be made dense, which takes so many bytes? */
GN_NODISCARD gn_status *gn_session_check_dense(const gn_session *s, int64_t bytes);

/* ranges.c: are the data's sizes in those that are declared?  GN_ERR_DATA, and GN_ERR_USAGE where
 * the text names others than there are. */
GN_NODISCARD gn_status *gn_session_check_ranges(gn_session *s);

/* session_hints.c: are features sparse enough to be kept so? */
bool gn_session_sparse(const gn_session *s);

/* session_tables.c: of arrays that a file lends */
GN_NODISCARD gn_status *gn_session_lent_graph(const gn_by_dst *g, int64_t n_src, int64_t n_dst,
                                              int64_t n_edges, gn_graph **out);
/* Features of nodes lie in 16 bits from now on, where what is kept does and the model reads none of
 * them as a whole number. */
GN_NODISCARD gn_status *gn_session_code_features(gn_session *s);
/* Codes under the name of what programs make of them, and what that takes; how many: 3 at most. */
int gn_session_bind_codes(const gn_codes *c, const char *name, int64_t rows, int64_t cols,
                          gn_arena *a, gn_binding *to);
GN_NODISCARD gn_status *gn_session_make_relations(gn_session *s);  /* after s->graph */
GN_NODISCARD gn_status *gn_session_arrange_columns(gn_session *s); /* after relations */
int gn_session_bind_columns(const gn_session *s, gn_binding *to);  /* [3 data->n_columns] */
int gn_session_bind_relations(const gn_session *s, gn_graph_binding *to);
const gn_graph *gn_session_relation(const gn_session *s, const char *name); /* that there is */
/* How many levels of rows a training step picks where rows are of several types. */
GN_NODISCARD gn_status *gn_session_count_levels(const gn_session *s, gn_build_options *o);
int64_t gn_session_tables_bytes(const gn_session *s);
void gn_session_free_tables(gn_session *s);

#endif
