/* Bench: a model under several modes, on several datasets, each cell in processes of its own.  What
 * the parts share. */
#ifndef GN_CLI_BENCH_BENCH_H
#define GN_CLI_BENCH_BENCH_H

#include "cli/bench/cell.h"
#include "cli/bench/grid.h"
#include "cli/command.h"

#include <signal.h>

/* Counts where none are given: those of gnn-compile-bench. */
enum {
    GN_BENCH_WARMUP = 5,
    GN_BENCH_REPEAT = 30,
    GN_BENCH_EPOCHS = 20,
    GN_BENCH_TIMEOUT = 600,
    GN_BENCH_BATCHES = 40
};

/* Modes agree to this: in the outputs of inference over the largest of them, in the losses of the
 * first two steps. */
#define GN_BENCH_TOLERANCE 1e-5
/* The same where what is gathered is rounded to BF16: another order of sums may round it to the
 * other side. */
#define GN_BENCH_TOLERANCE_ROUNDED 2e-2

/* What is never one row of a report, though it runs the same program (rows.h). */
typedef enum gn_apart {
    GN_APART_NOTHING,
    GN_APART_DYNAMIC, /* settings of dynamic shapes: on graphs that change they differ */
    GN_APART_SEARCH,  /* a mode that searches, and one that does not: they compile otherwise */
    GN_APART_COUNT
} gn_apart;

typedef struct gn_bench {
    gn_cli *cli;
    gn_arena *arena;
    const char *model; /* path; of several models all of them, for titles */
    const char *out;   /* folder that results go to */
    double tolerance;  /* one of the two */
    gn_grid grid;
    bool eval_only, compile_only; /* what is measured; nothing set: inference and training */
    int64_t warmup, repeat, epochs, timeout_s;

    gn_cell *cells; /* the user's order: model, data, threads, dynamic, mode */
    int n_cells;
    struct gn_bench *raw; /* of rows (rows.h): the bench that they were made of; else NULL */
    struct gn_bench *rows[GN_APART_COUNT]; /* made of it; NULL: not yet */
    bool partial;                          /* it was interrupted */
    const char *started;                   /* "2026-01-31T12:00:00Z" */
    const char *command;                   /* that was typed, quoted for a shell */
    const char *cpu, *system;              /* of the machine */
    const char *compilers;                 /* that made the kernels, and gnnc */
    int64_t cores, memory_bytes;
} gn_bench;

/* identity.c: a digest of what a session runs, and how. */
struct gn_session;
const char *gn_bench_program(const struct gn_session *s);

/* measure.c: the one cell that the options name, in this process; what was measured goes to
 * cli->opt.cell, outputs of inference beside it (GN_BENCH_OUTPUTS).  An error is written there
 * too. */
GN_NODISCARD gn_status *gn_bench_measure(gn_cli *cli, const gn_grid *g);
#define GN_BENCH_OUTPUTS ".outputs" /* floats: the result, in the user's order */

/* plan.c: the cells of the grid with their keys; out of what they were asked for. */
GN_NODISCARD gn_status *gn_bench_plan(gn_bench *b);
/* What tables call its model: the file's name without its ending, or the path where several have
 * that name. */
const char *gn_bench_model_label(const gn_bench *b, const gn_cell *c);
/* What tables call its data: its name, and what was asked for where several have that name. */
const char *gn_bench_data_label(const gn_bench *b, const gn_cell *c);

/* runner.c: runs what is open, keeps each cell's result in the folder as soon as it has ended.
 * With `resume` what is in the folder already under the same key is taken from there.  *stop ends
 * it: partial is set then. */
GN_NODISCARD gn_status *gn_bench_run(gn_bench *b, bool resume, const volatile sig_atomic_t *stop);

/* compare.c: gains, differences and break-even steps; a cell whose outputs or losses differ from
 * the baseline's by more than the tolerance ends as GN_CELL_DISAGREES. `logits_diff` must be
 * set. */
void gn_bench_compare(gn_bench *b);
/* Largest difference of two files of floats over the largest in the first; infinite where one is no
 * number or the sizes differ.  GN_ERR_IO. */
GN_NODISCARD gn_status *gn_bench_outputs_diff(const char *baseline, const char *other,
                                              double *diff);

#endif
