/* Batches: the rows of the loss's mask, or a relation's edges, a few at a time, in an order of each
 * epoch's own.
 *
 * A step is the training step over the batch's rows, restricted to what those are computed from
 * (passes/restrict_rows.c), bound to new picks and drawn edges each time.  Which rows, and which
 * edges, are functions of the seed, the epoch and the step. */
#ifndef GN_SESSION_MINIBATCHES_H
#define GN_SESSION_MINIBATCHES_H

#include "session/lookahead.h"
#include "session/session.h"
#include "session/subgraphs.h"

/* So many batches that take long to prepare, and to run, are prepared where they are run, before
 * others are on a thread of their own: where a batch is small, to wake that takes longer. */
enum { GN_SLOW = 2 };
/* Batches that are prepared ahead, where nobody says how many. */
enum { GN_AHEAD = 1 };

/* A batch from where its rows are picked to where its step has run. */
typedef struct gn_batch_frame {
    gn_picked rows;      /* of a session that has no parts the list is the epoch's own */
    gn_binding *tensors; /* what it is bound to; of room for so many */
    int64_t room;
    int64_t step;      /* what the counter of steps will be */
    int64_t labelled;  /* rows that its loss is over */
    gn_instance *next; /* NULL: it is not bound, or the unit's own by now */
} gn_batch_frame;

typedef struct gn_batches {
    int64_t size;              /* rows of a batch; the last one of an epoch may have fewer */
    int64_t n;                 /* rows in all; of edges their places in the graph */
    int64_t *first;            /* [n] in the order in which the data have them */
    int64_t *row;              /* [n] in the order of the epoch at hand */
    gn_binding mask;           /* those of the first batch; of rows in the place of train_mask */
    gn_subgraphs *parts;       /* of `sampler`: numbers of its parts or batches are rows then */
    int64_t *labelled;         /* of clusters [n]: rows of each part that the loss is over */
    gn_picked picked;          /* of parts: the nodes of the first batch */
    gn_binding share[2];       /* and by what sums count its nodes and edges */
    struct gn_eval_rows *eval; /* by batches, too; NULL: of all at once */
    int64_t together;          /* batches whose gradients make one update */
    float part;                /* of the rows that their losses are over, the batch's at hand */
    bool is_first, is_last;    /* of them */
    uint64_t seed;             /* of the order at hand, and */
    int64_t epoch;             /* -1: of none */
    int64_t steps;             /* of gn_batches_step so far */
    int n_tensors, n_graphs;   /* what a step is bound to */
    gn_binding *tensors;
    gn_graph_binding *graphs;
    /* Batches that are prepared while another one's step runs. */
    int depth;               /* how many */
    gn_batch_frame *frame;   /* [depth + 1]: of batch k the one k % (depth + 1) */
    gn_lookahead *ahead;     /* NULL: no batch was run yet */
    int slow;                /* batches for which another thread was worth it, up to GN_SLOW */
    const gn_instance *last; /* the one that was bound last */
    int64_t number, step;    /* a batch, and what the counter of steps is before it */
} gn_batches;

/* What the options say of batches in the place of the train block.  GN_ERR_USAGE. */
GN_NODISCARD gn_status *gn_batches_settings(gn_session *s);

/* Before the session's model is compiled; NULL where it trains on all rows at once.  GN_ERR_USAGE,
 * GN_ERR_MODEL: batches cannot be made of this. */
GN_NODISCARD gn_status *gn_batches_new(gn_session *s);
void gn_batches_free(gn_batches *b); /* NULL is fine */

/* Settings of the training step that is compiled. */
GN_NODISCARD gn_status *gn_batches_options(gn_session *s, gn_build_options *o);

static inline int64_t gn_batches_count(const gn_batches *b)
{
    return b->n / b->size + (b->n % b->size != 0);
}

static inline int64_t gn_batches_updates(const gn_batches *b) /* of an epoch */
{
    int64_t n = gn_batches_count(b);
    return n / b->together + (n % b->together != 0);
}

/* How many there may be besides the one whose step runs: one is bound before the last one goes. */
static inline int64_t gn_batches_more(const gn_batches *b) { return b->depth > 0 ? b->depth : 1; }
int64_t gn_batches_bytes(const gn_batches *b); /* what it holds, instances apart */

enum { GN_BATCH_BINDINGS = 6 };
/* What a program of batches is bound to besides the data: to [GN_BATCH_BINDINGS]; how many. */
int gn_batches_bind(const gn_session *s, gn_binding *to);

/* Rows of a part that the loss is over. */
int64_t gn_batch_labelled(const gn_session *s, const gn_picked *of);

/* batch_steps.c ---------------------------------------------------------------------------------*/

void gn_batch_frames_free(gn_batches *b);

/* Trains on the batches of epoch `fit->epochs` that are left, one at least, until `until_ms` of
 * gn_now_ms or until `over` of the options is true.  *whole: the epoch is done; *loss is its mean
 * over rows then. */
GN_NODISCARD gn_status *gn_batches_run(gn_session *s, gn_fit *fit, double until_ms, double *loss,
                                       bool *whole);
/* One step, the next one of a session that is not fitted. */
GN_NODISCARD gn_status *gn_batches_step(gn_session *s, double *loss);

#endif
