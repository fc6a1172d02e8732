/* Session: a model compiled for one dataset, with its state; what the command line trains and runs.
 *
 * Compiles once; any number of runs with other seeds follow.  Everything lives until
 * gn_session_free; the arena that is passed in holds the compiler's data and must outlive the
 * session.  One thread at a time. */
#ifndef GN_SESSION_SESSION_H
#define GN_SESSION_SESSION_H

#include "build/build.h"
#include "build/jit.h"
#include "runtime/data/dataset.h"
#include "runtime/data/links.h"
#include "runtime/data/metrics.h"
#include "runtime/data/ranking.h"
#include "runtime/graph/reorder.h"
#include "runtime/run/paged.h"

#include <stdatomic.h>

/* A search, before each candidate. */
typedef struct gn_tune_news {
    gn_unit_id unit;
    const char *trying;         /* a few words */
    double default_us, best_us; /* of a run; 0: not measured yet */
    double seconds_left;        /* of the budget of this program */
} gn_tune_news;

typedef struct gn_fit gn_fit; /* how far training is: below */

/* What a session holds while it runs, in bytes. */
typedef struct gn_memory {
    int64_t data;     /* features, labels, masks, edge data */
    int64_t graphs;   /* bound and derived */
    int64_t shared;   /* more that they would have without being symmetric; not in `total` */
    int64_t states;   /* weights, moments, counters */
    int64_t prepared; /* what is computed once */
    int64_t outputs;
    int64_t arena; /* temporaries in memory, packed by lifetime */
    int64_t pages; /* of files that are mapped at a time, where that is bounded */
    int64_t total;
} gn_memory;
/* What became of a bound (gn_session_options.memory). */
typedef struct gn_memory_plan {
    bool fits;             /* else it is refused, and this is the least that was found */
    gn_memory memory;      /* as it will be */
    int64_t bound, before; /* before: the total without it */
    int64_t file;          /* bytes of temporaries on the disk instead of in memory */
    int64_t filed;         /* where they are in memory: the total with them on the disk */
    int again[GN_UNITS];   /* launches that run again, of each unit */
    double more[GN_UNITS]; /* of its time, as counted */
} gn_memory_plan;

enum { GN_MOST_AHEAD = 64 }; /* batches that are prepared ahead */

typedef enum gn_evaluate { GN_EVALUATE_AS_SAID, GN_EVALUATE_FULL, GN_EVALUATE_BATCH } gn_evaluate;

typedef struct gn_session_options {
    const char *path;  /* of the model */
    const char *text;  /* NULL: read from path */
    const char *model; /* which model of the file; NULL: the train block's, else the last */
    int n_defines;
    const gn_define *defines;
    gn_data_options data;
    gn_order reorder; /* of nodes, at load; what is asked of the session in the user's order comes
                         in it */
    gn_mode mode;
    int threads;    /* 0: as many as there are processors */
    int64_t memory; /* bytes that data, graphs, states and programs may take together; 0: any */
    double memory_share; /* the same as a part of what they would take by themselves; 0: not given
                          */
    const char *spill;   /* a folder: temporaries that have no room within the bound lie in a file
                            there; NULL: nowhere */
    /* Before programs take memory, where it is bounded: what they will take, and what came of it,
     * be it refused; NULL: nobody listens. */
    void (*memory_found)(void *ctx, const gn_memory_plan *plan);
    void *memory_ctx;
    uint64_t seed;
    const char *weights;      /* training starts from this file; NULL: from fresh weights */
    const char *resume;       /* training goes on from this checkpoint; NULL: it starts anew */
    const char *checkpoint;   /* where training that can go on is written; NULL: nowhere */
    int64_t checkpoint_every; /* epochs; 0: once a minute.  At the end, be it an early one, in any
                                 case */
    int64_t epochs;           /* -1: the train block's */
    int64_t batch;        /* rows of a step, in the place of the train block's; 0: as that says */
    gn_evaluate evaluate; /* figures of epochs, instead of the train block */
    int64_t ahead; /* batches that are prepared while another one's step runs; negative: as many as
                      pay */
    bool all_results; /* of all rows are asked for after training */
    bool has_fanout;  /* likewise edges into a row, by hop: */
    int n_fanout;     /* 0: along all; of a hop -1: along all of its */
    int64_t fanout[GN_MOST_HOPS];
    bool has_rate;      /* another learning rate than the train block's: */
    double rate;        /* finite, not below 0 */
    int pass_limit;     /* -1: all */
    gn_without without; /* passes and decisions that are switched off */
    bool sanitize;      /* bounds checks in generated code */
    bool train;         /* make the training step too */
    bool keep_static;   /* training: what depends on graph and data alone is computed once */
    gn_dynamic dynamic; /* GN_DYNAMIC_TRUE: the data's sizes are left open; else they are compiled
                           in */
    gn_guards ranges;   /* that they are declared to be in; all 0: any */
    const char *range;  /* the text of it, of the names of spaces and relations where the data have
                           several, which `ranges` is not of then; NULL: any */
    bool no_code;       /* for --emit: no machine code, nothing can be run */
    bool objects;       /* with no_code: machine code as objects */
    const char *cpu;    /* that is compiled for; NULL: this one */
    struct gn_cache *cache;   /* of compiled kernels; NULL: none. Must outlive gn_session_new, on a
                                 target all */
    const gn_limits *limits;  /* that schedules are made for; NULL: this machine's, or the target's
                               */
    gn_precision precision;   /* of products of matrices */
    gn_products products;     /* who makes those that a target's library has too */
    gn_storage gathers;       /* of what edges read of nodes */
    gn_numbers numbers;       /* that programs compute with */
    const char *wide;         /* what stays float32 of them (gn_is_wide); NULL: nothing */
    gn_target *target;        /* where it runs; NULL: on this processor. Must outlive the session */
    const char *tune_lock;    /* choices of schedules come from this file; NULL: as the mode says */
    const char *locked_model; /* that its numbers are of; NULL: it says none */
    double tune_seconds; /* of searching where the mode searches; 0: not, what is kept is taken */
    bool tune_on;        /* search on, in any mode, whatever is kept */
    bool code_alone;     /* with a bound on memory: of what is compiled its code alone is kept, and
                            nothing to be looked at */
    bool unscored; /* training alone: the model is not evaluated, of which there is no memory */
    bool plain_features; /* those that lie as codes become float32 in memory */
    bool binds_again;    /* other programs are bound to its data later on */
    bool free_order;     /* nodes may be reordered by a search */
    /* what was tried and what came of it; NULL: nobody listens */
    void (*tune_say)(void *ctx, const char *text);
    /* What is tried next, and how far the search is; NULL: nobody listens. */
    void (*tune_tell)(void *ctx, const struct gn_tune_news *news);
    /* For tests: sees a candidate's code before it is bound. */
    void (*tune_made)(void *ctx, const char *candidate, gn_unit *u);
    void *tune_ctx;
    /* After each of an epoch's batches, of which there are `of`; NULL: nobody listens. */
    void (*batch_done)(void *ctx, const gn_fit *fit, int64_t of);
    void *batch_ctx;
    const atomic_bool *over; /* ends a search or training before its time, once it is true; NULL */
} gn_session_options;

typedef struct gn_session {
    gn_arena *arena;
    gn_session_options opt;
    gn_dataset *data;
    gn_ast *ast;
    gn_model *model;
    gn_guards guards; /* what its programs are compiled for */
    gn_graph *graph, *x_pattern;
    float *x_dense, *edge_weight, *edge_attr; /* owned copies: dense features, edge data in CSR
                                                 order */
    gn_graph **relation;                      /* [data->n_relations] */
    void **column; /* [data->n_columns] a column as programs read it; NULL: as the data have it */
    gn_schema schema;
    gn_links links;     /* that were held out of g, where the model takes such a relation */
    float **edge_input; /* [data->n_more] the same of inputs on edges that the model declares; NULL:
                           of nothing */
    gn_tensor_file *weights; /* what opt.resume has, or opt.weights; NULL: none */
    gn_state state;
    gn_pool *pool;
    gn_pool *unit_pool[GN_UNITS]; /* of fewer threads, where a pick says so; else NULL */
    gn_pages *pages[2];           /* temporaries in a file, stored rows; of a batch's step such
                                     rows alone; NULL: what is mapped has no bound */
    struct gn_batches *batches;   /* NULL: a step is of all rows */
    gn_build build;
    gn_arena compiler;         /* of `build` with opt.code_alone, until there is code */
    gn_tuned *tuned[GN_UNITS]; /* NULL: as rules say */
    const char *program; /* digest of the loss, before sizes were compiled in; NULL: nothing is
                            resumed */
    bool unbalanced;     /* gn_session_unbalanced; since gn_session_read */
    double read_ms, reorder_ms, frontend_ms;
    double tune_ms; /* searching, or looking up what was found */
} gn_session;

/* Three steps make a session (tune/start.h goes all of them): opened, it has its options; read, its
 * data and its model; made, code that is bound to data and fresh states.  Between the last two what
 * is tuned is chosen: s->tuned, s->opt.reorder.  After a failure it is to be freed all the same. */
gn_session *gn_session_open(gn_arena *a, const gn_session_options *opt);
GN_NODISCARD gn_status *gn_session_read(gn_session *s);
GN_NODISCARD gn_status *gn_session_make(gn_session *s);
void gn_session_free(gn_session *s); /* NULL is fine */

/* Binds what has no code (no_code), once: sizes, memory and what kernels would do can be looked at.
 * Runs compute nothing. */
GN_NODISCARD gn_status *gn_session_bind_blank(gn_session *s);

gn_sizes gn_session_sizes(const gn_session *s); /* of the data, for guards */

/* Fresh weights and counters. */
GN_NODISCARD gn_status *gn_session_reset(gn_session *s, uint64_t seed);

/* Weights to and from safetensors, as gn_weights_save and gn_weights_take.  Those of opt.weights
 * are read once, when the session is made, and taken whenever they are asked for; without them
 * nothing is. */
GN_NODISCARD gn_status *gn_session_save(const gn_session *s, const char *path);
GN_NODISCARD gn_status *gn_session_load(gn_session *s);

/* Runs the forward pass; fails on a device alone, where the logits then are to be fetched. */
GN_NODISCARD gn_status *gn_session_eval(gn_session *s);
/* logits of the last eval, from the device */
GN_NODISCARD gn_status *gn_session_fetch(gn_session *s);
/* How many results the model gives: several, where it returns a list. */
int gn_session_results(const gn_session *s);
/* How many classes the first result that is node[C] tells of: C is as many as the data has, two at
 * least, and a loss is one of labels.  0: there is none, and no accuracy. */
int64_t gn_session_classes(const gn_session *s);
/* The name of that result; NULL: there is none. */
const char *gn_session_classes_name(const gn_session *s);
/* The relation each of whose edges the first result that is `edge` or `edge[2]` gives `width`
 * numbers, which may be another's edges: no messages go along it.  NULL: there is none, or it runs
 * on a device. */
const char *gn_session_scored(const gn_session *s, int64_t *width);

/* Edges that stand in the place of a relation's: edge i goes from row src[i] to dst[i], and has
 * what lies on the data's edge of[i] (NULL: nothing does). */
typedef struct gn_other_edges {
    int64_t n;
    const int64_t *src, *dst, *of;
    int64_t which; /* of two numbers that each edge has */
    float *score;  /* [n] out: what the model gives them */
} gn_other_edges;
/* `relation`: its place in the schema, that of gn_session_scored.  GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_session_score_edges(const gn_session *s, int relation,
                                               const gn_other_edges *e);

/* Does the model score the relation `links`?  Then how well it tells those that were held out from
 * as many false ones.  Or `seeds`, which have `labels` of 0 and 1 and masks?  Then how well it
 * tells them apart, and where they have `indexes` the MRR of each among the false ones of its own.
 */
bool gn_session_judges(const gn_session *s);
GN_NODISCARD gn_status *gn_session_judge(const gn_session *s, bool test, gn_metrics *out);

/* Does the model give each edge of g a number, and does the data say which of them are to be
 * tested?  Those are ranked then, among all edges that have another node at one end, both ends in
 * turn, filtered by all edges of the data (ranking.h); nothing is on a device.  Of two numbers the
 * first is of an edge among others with its source, the second among those with its destination.
 * `mask`: their column, "g.test_mask".  Runs the model on other edges, by blocks. */
bool gn_session_ranks(const gn_session *s);
GN_NODISCARD gn_status *gn_session_rank(const gn_session *s, const char *mask, gn_rank_means *out);
/* Of the last eval, [rows, classes]; row v of those that have labels, as the user numbers them,
 * lies in row gn_session_row(s, v).  NULL: no classes. */
const float *gn_session_logits(const gn_session *s, int64_t *classes);
static inline int64_t gn_session_row(const gn_session *s, int64_t v)
{
    const int64_t *row_of = gn_dataset_row_of(s->data, s->data->labelled);
    return row_of ? row_of[v] : v;
}
/* Of the last eval, over the mask's nodes that have a label; NaN without classes, labels or
 * mask. */
double gn_session_accuracy(const gn_session *s, const uint8_t *mask);
/* Have its labels two classes of which one has less than a third of the nodes?  Then an accuracy
 * says little: a constant has a high one, and the area under the ROC curve is to be looked at
 * beside it. */
bool gn_session_unbalanced(const gn_session *s);
/* That area, of the last eval too; NaN unless labels are unbalanced, or where it is not defined. */
double gn_session_roc_auc(const gn_session *s, const uint8_t *mask);
/* Rows of what the last eval gave, after gn_session_fetch, that have a NaN, and others that have an
 * infinity. */
typedef struct gn_not_finite {
    int64_t rows, nan, infinite;
} gn_not_finite;
gn_not_finite gn_session_not_finite(const gn_session *s);

/* What the last eval gave, whatever its shape, as the model says it and in the user's order. */
typedef struct gn_result {
    const char *name; /* "out", or of several that of a variable or "out0", ... */
    gn_elem elem;
    gir_space_kind over; /* GIR_NODE, GIR_EDGE: it has a row for each; GIR_NONE: it has no rows */
    int rank;            /* rows, where there are any, and the dimensions of a row */
    int64_t dim[1 + GIR_MAX_RANK];
    int64_t n_rows, row_elems; /* no rows: one */
    const void *data;
    int64_t *ends; /* [2, n_rows] over edges: sources, then destinations; else NULL */
    void *owned;
} gn_result;

/* Result k of gn_session_results, after gn_session_fetch; GN_ERR_USAGE: there is none.  Alive until
 * the next eval, or the end of the session; gn_result_free ends it. */
GN_NODISCARD gn_status *gn_session_result(const gn_session *s, int k, gn_result *out);
double gn_result_at(const gn_result *r, int64_t k); /* element k, of n_rows * row_elems */
void gn_result_free(gn_result *r);

/* GN_ERR_DATA: the unit, of any build of the model, reads an input that the data has no array
 * of. */
GN_NODISCARD gn_status *gn_session_missing_inputs(const gn_session *s, const gn_unit *u);

/* One training step, of a session that trains; its loss, of before the update. */
GN_NODISCARD gn_status *gn_session_step(gn_session *s, double *loss);

typedef struct gn_epoch { /* after each epoch */
    int64_t epoch, epochs;
    double loss, train_acc, val_acc, test_acc; /* accuracies NaN where not asked for */
    double train_auc, val_auc, test_auc;       /* areas under the ROC curve; NaN unless
                                                  gn_session_unbalanced */
    gn_metrics val_links, test_links;          /* NaN: whoever logs it may score them */
    double val_loss;                           /* NaN unless the train block watches it */
    double rate;                               /* the learning rate of its step */
    double seconds;           /* since training, or what went on from a checkpoint, began */
    int64_t misses, patience; /* epochs in a row without an improvement, and how many end it; 0:
                                 none do */
    bool best;
} gn_epoch;

typedef enum gn_stop { GN_STOP_EPOCHS, GN_STOP_PATIENCE, GN_STOP_INTERRUPTED } gn_stop;
extern const char *const gn_stop_name[]; /* "epochs", "patience", "interrupted" */

struct gn_fit {
    uint64_t seed;
    int64_t epochs;  /* that ran, those before a checkpoint that it went on from among them */
    int64_t resumed; /* how many those are */
    int64_t batches; /* of the epoch behind those that are done; 0 without batches */
    int64_t batch_rows;
    double batch_loss;                   /* sum over those rows */
    int64_t steps;                       /* on batches that ran here, of all epochs; */
    double steps_ms, wait_ms;            /* what they took, and of that until they were prepared */
    double loss;                         /* of the last epoch; NaN: none ran */
    double train_acc, val_acc, test_acc; /* of the weights that are kept */
    double train_auc, val_auc, test_auc; /* likewise, as gn_epoch has them */
    int64_t best_epoch;
    double best_loss; /* its loss */
    bool chosen;      /* the best epoch's weights are kept, not the last one's */
    bool interrupted; /* by `over` of the options, after the last of these epochs */
    gn_stop stop;     /* why there were no more */
    int64_t misses;   /* at the end, as gn_epoch has them */
    int64_t n_steps;  /* of which the time was kept: the first million */
    /* [n_steps], microseconds of the training step alone; in the session's arena.  On a device
     * where no loss was asked for: the mean of up to 16 steps, which nobody waited for one by
     * one. */
    const double *step_us;
    gn_status *unwritten; /* why the last checkpoint could not be written, where it could not: the
                             caller's; NULL where training failed */
};

/* Trains from a reset with `seed`, and from the weights of the options where those name a file, or
 * on from its checkpoint: with the bits of training that never stopped.  GN_ERR_DATA where that is
 * of something else.  GN_ERR_MODEL when the loss is no longer finite (says in which epoch; on a
 * device up to 16 later, where `each` is NULL and none is chosen), and where epochs are to be
 * chosen by an accuracy that there is not. */
GN_NODISCARD gn_status *gn_session_fit(gn_session *s, uint64_t seed,
                                       void (*each)(void *ctx, const gn_epoch *e), void *ctx,
                                       gn_fit *out);

/* The seed of training that a checkpoint is of, which also drew its split: wanted before there is a
 * session. */
GN_NODISCARD gn_status *gn_checkpoint_seed(const char *path, uint64_t *seed);

gn_memory gn_session_memory(const gn_session *s);

int64_t gn_session_peak_bytes(const gn_session *s); /* the total */

#endif
