/* Evaluation by batches: the classes of the rows that masks have, or the scores of edges, some at a
 * time, for graphs of which all rows at once take too much memory or time. */
#ifndef GN_SESSION_EVAL_ROWS_H
#define GN_SESSION_EVAL_ROWS_H

#include "session/session.h"

typedef struct gn_eval_rows {
    gn_batch_spec how;  /* `of`: the relation whose edges are scored; NULL: rows have classes */
    int64_t n, classes; /* 0 of edges, which come when they are to be scored */
    int64_t *row;       /* [n] of any mask, ascending */
    gn_binding mask;    /* of those at hand */
    float *out;         /* [labelled rows, classes]; NaN where no mask is */
    int n_tensors, n_graphs; /* what the evaluation is bound to */
    gn_binding *tensors;
    gn_graph_binding *graphs;
} gn_eval_rows;

/* Of a session whose batches are given and whose model is known.  GN_ERR_NOMEM; GN_ERR_MODEL: its
 * results are neither classes nor scores of edges, or epochs are chosen by a loss. */
GN_NODISCARD gn_status *gn_eval_rows_new(gn_session *s, gn_eval_rows **out);
void gn_eval_rows_free(gn_eval_rows *z); /* NULL is fine */
/* Computes all of them, where they are rows.  On a device they are fetched. */
GN_NODISCARD gn_status *gn_eval_rows_run(gn_session *s, gn_eval_rows *z);
/* The first part is at hand, in bindings of the evaluation; what lists it lives in the arena. */
void gn_eval_rows_first(gn_arena *a, const gn_eval_rows *z, int n_tensors, gn_binding *tensors);
/* What scores edges: the first result that has a number for each, or two. */
typedef struct gn_edge_scores {
    const char *name;
    const char *relation;
    int64_t width;
} gn_edge_scores;

/* The scores [g->n_edge][of->width] of all edges of g, in its order, which is the relation in the
 * session `view`; of a unit of the evaluation's code that is bound to nothing yet. */
GN_NODISCARD gn_status *gn_eval_edges_run(gn_session *view, const gn_eval_rows *z, gn_unit *u,
                                          const gn_graph *g, const gn_edge_scores *of,
                                          float *score);

#endif
