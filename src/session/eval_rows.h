/* Evaluation by batches: the classes of the rows that masks have, some at a time, for graphs of
 * which all rows at once take too much memory or time. */
#ifndef GN_SESSION_EVAL_ROWS_H
#define GN_SESSION_EVAL_ROWS_H

#include "session/session.h"

typedef struct gn_eval_rows {
    gn_batch_spec how;
    int64_t n, classes;
    int64_t *row;            /* [n] of any mask, ascending */
    gn_binding mask;         /* of those at hand */
    float *out;              /* [labelled rows, classes]; NaN where no mask is */
    int n_tensors, n_graphs; /* what the evaluation is bound to */
    gn_binding *tensors;
    gn_graph_binding *graphs;
} gn_eval_rows;

/* Of a session whose batches are given and whose model is known.  GN_ERR_NOMEM; GN_ERR_MODEL: its
 * results are no classes, or epochs are chosen by a loss. */
GN_NODISCARD gn_status *gn_eval_rows_new(gn_session *s, gn_eval_rows **out);
void gn_eval_rows_free(gn_eval_rows *z); /* NULL is fine */
/* Computes all of them.  On a device they are fetched. */
GN_NODISCARD gn_status *gn_eval_rows_run(gn_session *s, gn_eval_rows *z);

#endif
