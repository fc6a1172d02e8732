/* Cell: one point of the grid, a mode on a dataset; its settings, how it ended, what was
 * measured. */
#ifndef GN_CLI_BENCH_CELL_H
#define GN_CLI_BENCH_CELL_H

#include "cli/stats.h"

#include "base/status.h"
#include "cli/json.h"

/* How a cell ended: name, as it stands in results. */
#define GN_CELL_ENDS(X)                                                                            \
    X(OPEN, "not run") /* interrupted before its turn */                                           \
    X(OK, "ok")                                                                                    \
    X(ERROR, "error")         /* it reported one */                                                \
    X(NOMEM, "out of memory") /* it reported that */                                               \
    X(KILLED, "killed") /* SIGKILL that was not ours: the system's out-of-memory killer, as a rule \
                         */                                                                        \
    X(CRASH, "crash")   /* another signal */                                                       \
    X(TIMEOUT, "timeout")                                                                          \
    X(DISAGREES, "disagrees") /* its results are not those of the baseline */
typedef enum gn_cell_end {
#define X(id, text) GN_CELL_##id,
    GN_CELL_ENDS(X)
#undef X
        GN_CELL_END_COUNT
} gn_cell_end;
extern const char *const gn_cell_end_name[GN_CELL_END_COUNT];

typedef struct gn_samples {
    int64_t n;
    double *x;
} gn_samples;

/* What one process measures.  Times and sizes that were not measured are NaN and -1, lists are
 * empty. */
typedef struct gn_measured {
    const char *model, *data;
    const char *device;  /* that it ran on, "cpu" or a GPU's name */
    const char *order;   /* of nodes: where a search chose another one, random draws are other ones
                            too */
    const char *picked;  /* what a search chose, in words; "": nothing */
    const char *code;    /* digest: equal ones are the same kernels */
    const char *program; /* digest: equal ones are the same kernels, launched and shared out in the
                            same way (identity.c) */
    int64_t nodes, edges, features, classes;
    int64_t kernels, kernels_cached;
    int64_t eval_launches, step_launches;   /* of a run of inference, of a training step */
    int64_t eval_operators, step_operators; /* of the program that those compute */
    double read_ms;                         /* data */
    double compile_ms; /* model text to machine code that can be called, a search for it too */
    double tune_ms;    /* of it the search, or looking up what one found */
    double setup_ms;   /* all before the first run: read, compile, bind, prepare */
    int64_t plan_bytes, arena_bytes; /* what the plan says the session holds; of it temporaries */
    int64_t rss_bytes;               /* resident, at most */
    gn_samples infer_us, step_us;    /* in the order in which they were taken */
    gn_samples losses;               /* of every training step, warm-ups too */
    double train_acc, val_acc, test_acc; /* after those steps */
    double test_auc, test_hits;          /* of links held out: ROC AUC, hits@50 */
    double test_mrr;                     /* of facts that are ranked */
    const char *error_code, *error;      /* it failed: name of the code, message */
} gn_measured;

/* Graphs that change: random parts of the data, one after another (gnnc run --batches). */
typedef struct gn_changing {
    int64_t batches, programs, recompiles; /* -1: not measured */
    double compile_ms;                     /* of all programs */
    double run_us;                         /* median of a batch that nothing was compiled for */
} gn_changing;

typedef struct gn_cell {
    const char *model; /* path */
    const char *data;  /* as it was asked for; "" is the built-in graph */
    const char *mode;
    const char *dynamic;
    int64_t threads;
    const char *key;   /* all that the measurement depends on, lines "name value" */
    const char *id;    /* digest of the key */
    const char *group; /* the row of the report that it is part of; NULL: not known yet */
    /* A row of the report stands for these cells, which run the same program; else none. */
    const struct gn_cell *const *same;
    int n_same;

    gn_cell_end end;
    const char *reason;     /* why it is not ok; "" where it is */
    const char *last_line;  /* of standard error, where it is not ok */
    int64_t timeout_s;      /* that it ran under */
    double wall_ms;         /* all of its processes */
    gn_measured cold, warm; /* first process: nothing cached, compiles alone; second: finds the
                               kernels, and runs */
    gn_changing changing;   /* where several settings of dynamic shapes are compared */
    gn_stats infer, step;   /* of warm.infer_us, warm.step_us */

    /* Against the baseline (compare.h). */
    bool is_baseline;
    const struct gn_cell *baseline; /* NULL: there is none that ended well */
    double infer_gain, step_gain;   /* times faster; NaN where not known */
    bool infer_differs, step_differs;
    double logits_diff;                 /* largest, over the baseline's largest logit */
    double loss_diff;                   /* of the first two training steps, relative */
    double end_loss_diff, end_acc_diff; /* after training: rounding has grown by then; percentage
                                           points */
    double break_even_step, break_even_infer; /* cold compilation over gain */
    /* the same where the kernels are in the cache */
    double break_even_step_cached, break_even_infer_cached;
    double break_even_step_extra; /* what the baseline takes to compile does not count as cost */
} gn_cell;

void gn_measured_init(gn_measured *m);
void gn_cell_init(gn_cell *c);

/* Do both run the same kernels in the same way, on nodes in the same order?  Then what differs
 * between them is noise.  Where one has no `program`, what its mode says of running counts. */
bool gn_same_program(const gn_cell *a, const gn_cell *b);

/* Why it did not end well, in a few words: "timeout: not done after 5 s", and of an error what it
 * said. */
const char *gn_cell_why(gn_arena *a, const gn_cell *c);

/* One object, samples and all. */
void gn_measured_json(gn_json *j, const char *key, const gn_measured *m);
void gn_cell_json(gn_json *j, const gn_cell *c);

/* Reads back what those wrote.  GN_ERR_IO, GN_ERR_DATA. */
/* what gnnc run --batches --json prints */
GN_NODISCARD gn_status *gn_changing_read(const char *path, gn_changing *out);
GN_NODISCARD gn_status *gn_measured_read(gn_arena *a, const char *path, gn_measured *out);
/* Settings but for the key stay as they are: settings of the file are compared by their key, and
 * *same says whether they are equal.  A missing file is not the same, and no error. */
GN_NODISCARD gn_status *gn_cell_read(gn_arena *a, const char *path, gn_cell *c, bool *same);

#endif
