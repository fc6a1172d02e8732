/* What a training step does besides the loss: optimizer, clipping and learning-rate schedule.
 * Written by the front end, read by the train pass.  Semantics and defaults are those of
 * torch.optim, LION's those of Chen et al., "Symbolic Discovery of Optimization Algorithms"
 * (2023). */
#ifndef GN_IR_TRAIN_SPEC_H
#define GN_IR_TRAIN_SPEC_H

#include "base/draw.h"
#include "base/elem.h"

#include <stdbool.h>

typedef enum gn_optimizer {
    GN_SGD,
    GN_ADAM,
    GN_ADAMW,
    GN_ADAGRAD,
    GN_RMSPROP,
    GN_ADAMAX,
    GN_LION,
    GN_OPTIMIZERS
} gn_optimizer;
typedef enum gn_schedule {
    GN_LR_CONSTANT,
    GN_LR_STEP,
    GN_LR_EXPONENTIAL,
    GN_LR_COSINE,
    GN_LR_LINEAR,
    GN_LR_ONE_CYCLE,
    GN_LR_PLATEAU,
    GN_SCHEDULES
} gn_schedule;

enum { GN_MOST_HOPS = 12 };

/* Edges between the rows that those of a batch join: none, those that go the same way, or either
 * way. */
#define GN_EXCLUDES(X)                                                                             \
    X(NONE, "none")                                                                                \
    X(SELF, "self")                                                                                \
    X(REVERSE, "reverse")
typedef enum gn_exclude {
#define X(id, name) GN_EXCLUDE_##id,
    GN_EXCLUDES(X)
#undef X
        GN_EXCLUDE_COUNT
} gn_exclude;

/* How a step's rows are drawn where it is of a part of the graph, with the edges between those
 * rows: CLUSTER (Chiang et al., "Cluster-GCN", KDD 2019) joins `size[1]` of `size[0]` parts of
 * METIS; the others are of Zeng et al., "GraphSAINT", ICLR 2020: `size[0]` nodes, edges, or roots
 * of walks of `size[1]` steps.  SHADOW is of rows apart instead: see `shadow` of gn_batch_spec. */
#define GN_SAMPLERS(X)                                                                             \
    X(NONE, "none")                                                                                \
    X(CLUSTER, "cluster")                                                                          \
    X(SAINT_NODE, "saint_node")                                                                    \
    X(SAINT_EDGE, "saint_edge")                                                                    \
    X(SAINT_WALK, "saint_walk")                                                                    \
    X(SHADOW, "shadow")
typedef enum gn_sampler {
#define X(id, name) GN_SAMPLER_##id,
    GN_SAMPLERS(X)
#undef X
        GN_SAMPLER_COUNT
} gn_sampler;

/* Words of the train block for these. */
extern const char *const gn_draw_how_name[GN_DRAW_COUNT];
extern const char *const gn_exclude_name[GN_EXCLUDE_COUNT];
extern const char *const gn_sampler_name[GN_SAMPLER_COUNT];

/* Figures of links that are held out, by which epochs are chosen. */
#define GN_LINK_FIGURES(X)                                                                         \
    X(NONE, "none")                                                                                \
    X(AUC, "val_auc")                                                                              \
    X(AP, "val_ap")                                                                                \
    X(MRR, "val_mrr")
typedef enum gn_link_figure {
#define X(id, name) GN_LINK_FIGURE_##id,
    GN_LINK_FIGURES(X)
#undef X
        GN_LINK_FIGURE_COUNT
} gn_link_figure;
extern const char *const gn_link_figure_name[GN_LINK_FIGURE_COUNT];

typedef struct gn_time_column {
    const char *name; /* "paper.time", "writes.time" */
    gn_elem elem;     /* GN_I32, GN_I64 */
} gn_time_column;

/* What a step of a batch is of, or results. */
typedef struct gn_batch_spec {
    bool results;       /* of nodes, or of edges of the relation `of`, for some of them */
    gn_sampler sampler; /* then there is no `size` of its own, and all edges between rows count; but
                           never SHADOW */
    int64_t sampled[2];
    int64_t steps; /* of an epoch of SAINT; 0: as many as have so many rows as there are */
    /* Rows of the loss's mask, or edges of the relation `of` (NULL: rows), of those where the
     * column `over` holds (NULL: of all); 0: a step is of all of them. */
    int64_t size;
    const char *of, *over;
    /* Edges into a row along which messages come, by hop from those rows on; -1: all. n_fanout 0:
     * all, over any number of hops. */
    int n_fanout;
    int64_t fanout[GN_MOST_HOPS];
    gn_draw_how draw;
    /* The word of columns of edges (float32) by which they are drawn, and their names, NULL behind
     * the last: "g.weight" of the word "weight".  NULL: all alike. */
    const char *draw_by;
    const char *const *columns;
    bool apart; /* rows, or edges, of a batch share no rows with each other */
    /* Each of those has a subgraph: over so many hops, so many edges into each row are drawn, and
     * messages go along all edges between the rows.  [0] 0: none. */
    int64_t shadow[2];
    /* The word of columns of times, and those of rows and edges that have some, NULL behind the
     * last: messages of a row, or an edge, of a batch come along edges that are no later than it,
     * or `before` it, by their own time or that of the row that sends; what has none is there
     * always.  NULL: along all. */
    const char *time;
    bool before;
    const gn_time_column *times;
    gn_exclude exclude; /* of batches of edges: along which no messages come */
    int64_t accumulate; /* batches whose gradients make one update; 0 and 1: each its own */
    bool evaluate;      /* figures of epochs are of rows by batches, too */
} gn_batch_spec;

static inline bool gn_has_batches(const gn_batch_spec *t) { return t->size > 0 || t->sampler; }
/* Are gradients of several batches added up? */
static inline bool gn_adds_up(const gn_batch_spec *t)
{
    return gn_has_batches(t) && t->accumulate > 1;
}
/* Do sums count rows and edges by how likely they are in a batch? */
static inline bool gn_has_shares(const gn_batch_spec *t)
{
    return t->sampler >= GN_SAMPLER_SAINT_NODE;
}

typedef struct gn_train_spec {
    gn_optimizer optimizer;
    bool rate_changes; /* the rate that steps go by is a state's (learning_rate.h), lr at first */
    double lr, momentum, dampening, beta1, beta2, eps;
    double lr_decay; /* ADAGRAD: the rate is divided by 1 + lr_decay * t */
    double alpha;    /* RMSPROP: of its mean of squares */
    bool nesterov;
    bool centered;    /* RMSPROP: a variance takes the place of that mean */
    bool amsgrad;     /* ADAM, ADAMW: the largest v so far takes the place of v */
    bool scales_loss; /* gradients are those of a multiple of it, divided by that: passes/train.c */
    bool touched;     /* of tables, the rows alone that a step reads (passes/touch_rows.h) */
    double clip_norm, clip_value; /* 0: none; torch.nn.utils.clip_grad_norm_ / clip_grad_value_ */
    /* lr at 0-based step t: STEP lr * gamma^floor(t / period); EXPONENTIAL lr * gamma^t; COSINE
     * eta_min + (lr - eta_min) * (1 + cos(pi * t / period)) / 2; LINEAR from lr to lr * gamma over
     * period steps; ONE_CYCLE from lr / div_factor to lr in the part `rise` of period steps, and on
     * to lr / (div_factor * final_div_factor), both along half a cosine; PLATEAU lr * gamma^n, not
     * below eta_min, after the n-th time that a validation result did not get better
     * (gn_plateau). */
    gn_schedule schedule;
    double gamma, eta_min;
    int64_t period;
    double rise, div_factor, final_div_factor;
    int64_t wait, cooldown; /* PLATEAU: results without a better one before the rate is lowered, and
                               how many do not count after that */
    double threshold;       /* PLATEAU: the part by which one has to be better */
    bool by_accuracy;       /* PLATEAU: validation accuracy rather than loss */
    /* Steps before the schedule begins, in which the rate rises to what that begins with. */
    int64_t warmup;
    int64_t epochs;
    gn_batch_spec batches;
    int64_t patience;  /* early stopping on validation: 0 off */
    bool select_best;  /* report and keep the weights of the best validation epoch */
    bool monitor_loss; /* validation loss rather than accuracy */
    /* With monitor_loss: both, as the GAT paper's code does: the epoch that is chosen was no worse
     * than any before in either, and patience counts epochs in which neither was as good as its
     * best. */
    bool monitor_accuracy;
    gn_link_figure monitor_links; /* in the place of either */
} gn_train_spec;

/* Is a validation loss computed after an epoch? */
static inline bool gn_watches_loss(const gn_train_spec *t)
{
    return t->monitor_loss || (t->schedule == GN_LR_PLATEAU && !t->by_accuracy);
}

#endif
