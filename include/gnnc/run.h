/* Runs of gnnc (gnnc.h, which has what goes for all functions: errors, threads, ownership): an
 * executable, a state, a graph and data bound to each other, and computed with.
 *
 *     what is bound    gnnc_run_bind_graph, gnnc_run_bind_relation, gnnc_run_bind and others;
 *                      weights and results in memory of the caller's, too
 *     what comes next  gnnc_run_rows, gnnc_run_ahead
 *     what computes    gnnc_run_infer, gnnc_run_step, gnnc_run_forward with gnnc_run_backward
 *     what came of it  gnnc_run_output, gnnc_run_gradient */
#ifndef GNNC_RUN_H
#define GNNC_RUN_H

#include "gnnc/gnnc.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gnnc_run_options {
    size_t size;
    int threads; /* 0 or 1: the caller's alone; else at most so many, runs that gain nothing by them
                  * take one; results are the same bits for any number */
    const char *stance; /* of this run (gnnc_compile_options); NULL: the executable's */
} gnnc_run_options;

/* GNNC_ERROR_USAGE: the state was made for another executable with other weights, or in another
 * context; an option is out of range or names nothing.  `options` may be NULL. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_new(const gnnc_executable *e, gnnc_state *s,
                                                  const gnnc_run_options *options, gnnc_run **out);
GNNC_API void gnnc_run_free(gnnc_run *r);

/* The graph that is computed on, until another one is bound; the run keeps it alive.  Data on edges
 * is in its edges' order. GNNC_ERROR_USAGE: it is of another context, or has more than 2^31 - 1
 * nodes or edges and the executable was compiled without `wide`; GNNC_ERROR_DATA: it is a relation
 * that has other numbers of rows at its ends. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_bind_graph(gnnc_run *r, const gnnc_graph *g);

/* The same by name, of an executable that was compiled with `relations`; "g" is the graph.  Numbers
 * of rows are checked against each other when it is run, and against what parameters have a row
 * for. GNNC_ERROR_USAGE: as above, or there is no such relation (with the nearest name, and those
 * that there are); GNNC_ERROR_DATA: a relation between rows of one type has other numbers of them
 * at its ends. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_bind_relation(gnnc_run *r, const char *name,
                                                            const gnnc_graph *relation);

/* Binds data by name: "x" float32 [nodes, features]; "y" int32 or int64 [nodes], classes or -1 for
 * unknown; the masks that the model reads, as "train_mask", bool or uint8 [nodes]; "g.weight"
 * float32 [edges]; "g.attr" float32 [edges, edge_features]; inputs that the model declares, by its
 * names for them; `columns`, by their own.  A model's only input of nodes is "x" besides, and its
 * only one of edges "g.attr"; where the model reads data of the same name ("y", say), that is
 * meant. Where float32 is expected, float16, bfloat16 and float64 are converted.  Row-major float32
 * and int32 data that is not on edges is borrowed until other data is bound or the run is freed,
 * and is read anew by every call; the rest (masks, int64, other floats, other strides, data on
 * edges, x for an executable that was compiled `sparse`, everything for one that was compiled
 * `fixed` or in a context with a GPU, what is the run's own result) is copied here, when it is
 * bound. An input with a default (`w: node[F] = none`) may be left out: the model computes as it
 * does without it. `data` NULL lets go what was bound to such a one.  Each set of inputs that is
 * left out is compiled once, by the first call of a run that leaves it out, and the executable
 * keeps it; gnnc_executable_explain shows it, gnnc_executable_describe does not count it. Data of
 * other sizes than before may be bound at any time, together with a graph that fits.  A mask that
 * is written to once it is bound counts as it was, until it is bound again. GNNC_ERROR_USAGE: the
 * model has no such input (with the nearest name, and those that there are), or `data` is NULL and
 * the input has no default. GNNC_ERROR_DATA: another element type, number of dimensions or columns,
 * not on the CPU, not aligned to its element, no data though there are elements, an int64 that 32
 * bits or a float64 that float32 does not hold, a label that is neither a class nor -1 (with its
 * row; what is borrowed is looked at now, not by later calls: there a label beyond the classes
 * counts as a row, and adds nothing to the loss), an x that has other values than `sparse_values`
 * says (with the row and its values). Numbers of rows are checked against each other when it is
 * run. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_bind(gnnc_run *r, const char *name,
                                                   const DLTensor *data);

/* The same of a managed tensor, which is the run's from then on, whatever the call says: its
 * deleter is called once other data are bound or the run is freed, and by the call itself where it
 * fails or copies.  That must not use the run.  Python's capsules of these two are named "dltensor"
 * and "dltensor_versioned".  GNNC_ERROR_DATA, too: of another major version than DLPack 1.
 */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_bind_managed(gnnc_run *r, const char *name,
                                                           DLManagedTensor *data);
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_bind_versioned(gnnc_run *r, const char *name,
                                                             struct DLManagedTensorVersioned *data);

/* A copy, in row-major order, of any tensor that gnnc gives a view of (a result, a gradient, a
 * weight) or takes: it is its deleter's to free, and outlives everything else.  GNNC_ERROR_DATA: as
 * of data that are bound. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_copy_managed(const DLTensor *t, DLManagedTensor **out);
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_copy_versioned(const DLTensor *t,
                                                         struct DLManagedTensorVersioned **out);

/* A weight in memory of the caller's, under its name in files and in its shape there
 * (gnnc_state_weight), float32, of any strides: it takes the place of the state's until another one
 * is bound, `data` NULL brings that back, or the run is freed.  Borrowed until then: every call
 * that computes reads it anew, so that an optimizer of the caller's may change it in between, and
 * gnnc_run_step trains it where it lies.  So does gnnc_run_forward with running statistics.  The
 * state's own is left as it is.  Where it lies as gnnc_state_weight says nothing is copied; with
 * other strides, or in a context with a GPU, it is copied by every call, and back where that
 * changes it.  Weights lie apart from each other and from data.  GNNC_ERROR_USAGE: there is no such
 * parameter (with the nearest name); GNNC_ERROR_DATA: another element type or shape (expected and
 * found), not on the CPU, not aligned, or a result of this run. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_bind_weight(gnnc_run *r, const char *name,
                                                          const DLTensor *data);

/* Features as CSR: row[nodes + 1] from 0 ascending, column and value of each entry (values NULL:
 * all 1).  Copied; values of a column that stands in a row more than once are added.
 * GNNC_ERROR_USAGE: the executable was not compiled `sparse`, n_nodes is negative, `row` is NULL,
 * or there are entries and `column` is NULL; GNNC_ERROR_DATA: `row` does not ascend from 0, a
 * column is out of range, or values are other than `sparse_values` says. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_bind_csr(gnnc_run *r, int64_t n_nodes,
                                                       const int64_t *row, const int32_t *column,
                                                       const float *value);

/* Of an executable compiled `by_rows`: the nodes that the next calls are about, until others are
 * named.  Results have a row for each, in this order; nodes may be named twice.  A training step
 * counts each once.  Copied; `rows` may be NULL where n is 0, of which there is no training step.
 * GNNC_ERROR_USAGE: it was compiled otherwise, n is negative; a row that is not there is
 * GNNC_ERROR_DATA of the call that computes. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_rows(gnnc_run *r, int64_t n, const int64_t *rows);

/* Of an executable compiled `by_rows` that trains: the nodes of the step after the next one, or of
 * the next where the rows that are named have been trained on.  That step begins to be prepared on
 * a thread of the run's own, and the call returns: rows are picked, edges drawn, graphs made.  Then
 * gnnc_run_step computes on the rows that are named, and gnnc_run_rows with these rows has what was
 * prepared:
 *
 *     gnnc_run_rows(r, n, batch[0]);
 *     for (k = 0; k < steps; k++) {
 *         if (k + 1 < steps) gnnc_run_ahead(r, n, batch[k + 1]);
 *         gnnc_run_step(r, &loss);
 *         if (k + 1 < steps) gnnc_run_rows(r, n, batch[k + 1]);
 *     }
 *
 * Weights and losses are the same bits without it.  It is a hint: where other rows are named, or
 * another number of steps comes in between, what was prepared is forgotten; so it is where
 * something is bound, for which that waits.  Data that is borrowed and says which edges are drawn,
 * and the state, but by steps of this run, stay as they are meanwhile.  Copied.  On a GPU, and
 * before the first step, nothing is prepared.  The rows that are named are looked at first, as
 * gnnc_run_step does it. GNNC_ERROR_USAGE: compiled without `train` or `by_rows`, or n is not
 * positive; GNNC_ERROR_DATA: a row that is not there; and as gnnc_run_step. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_ahead(gnnc_run *r, int64_t n, const int64_t *rows);

/* The forward pass, as for serving: no dropout, running statistics.  Takes the program that fits
 * the graph, or compiles it, as the executable's options say, and chooses schedules for it where
 * they do.  GNNC_ERROR_USAGE: something is not bound, the model has weights without the inputs that
 * are left out that the state has not, a recompilation is forbidden or would be one too many;
 * GNNC_ERROR_DATA: sizes do not meet (what, expected, found) or are outside of the declared ranges,
 * or borrowed data lies where weights do, or a lock does not fit; what gnnc_compile fails with,
 * where a program is compiled. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_infer(gnnc_run *r);

/* One training step: loss, gradients, optimizer; the state changes. *loss (may be NULL) is the one
 * before the update. GNNC_ERROR_USAGE: compiled without `train`; and as gnnc_run_infer, with the
 * state as it was. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_step(gnnc_run *r, double *loss);

/* Gradients, of an executable compiled with `gradients`.  gnnc_run_forward computes results, for
 * gnnc_run_output, and keeps what gnnc_run_backward needs: in the training program dropout draws by
 * the state's seed and step, which goes on by one, and running statistics are updated: it changes
 * the state, as a training step does.  That of "inference" does not.  A backward pass has the draws
 * of the forward pass before it.  It may be called again, with other cotangents.
 *   `cotangents` are of the results in the model's order (gnnc_run_output_at), [n], n at most as
 * many as there are: gradients of whatever is computed of the results, with respect to each, of
 * their shapes and of floats; NULL, and those behind n: zeros, which results that are no floats
 * always have.  Copied.  On edges they are in the order that the result has.
 *   Between the two calls weights and bound data have to stay as they are.  GNNC_ERROR_USAGE:
 * compiled without `gradients`, nothing was computed by gnnc_run_forward since something was bound
 * or the state was trained or loaded, n is larger, or a result of other numbers has a cotangent;
 * GNNC_ERROR_DATA: a cotangent does not fit (which, expected and found); and as gnnc_run_infer. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_forward(gnnc_run *r);
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_backward(gnnc_run *r, size_t n,
                                                       const DLTensor *const *cotangents);

/* A gradient of the last gnnc_run_backward: of a parameter in the shape that gnnc_state_weight
 * gives it, with strides, of data in their shape; on edges in the order of the graph's.  Zeros,
 * where no result depends on it.  A view, alive until the next call on this run but for another
 * gradient or a result.  GNNC_ERROR_USAGE: there is none of that name (with the nearest), nothing
 * was gone back over since the last forward pass, or the input was left out. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_gradient(gnnc_run *r, const char *name,
                                                       DLTensor *view);
/* The same of gradient `k`, counted from 0 in the order in which they were named, parameters in
 * the model's; gnnc_executable_info.gradients says how many there are.  *name (may be NULL) lives
 * as long as the executable. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_gradient_at(gnnc_run *r, int k, const char **name,
                                                          DLTensor *view);

/* What the last gnnc_run_infer or gnnc_run_forward gave: "out" in the shape that the model says,
 * [nodes, ...], [edges, ...] in the order of the graph's edges, or without rows; float32 but where
 * the model gives whole numbers or truth values.  A model of several results (`return h, e`) has
 * each under the name of the variable that it returns; where they are not all different variables,
 * "out0", "out1", ...  A view that is alive until the next call on this run but for another result,
 * a gradient, or gnnc_run_backward.
 * GNNC_ERROR_USAGE: nothing was computed yet, or there is no such output (with the nearest name,
 * and those that there are). */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_output(gnnc_run *r, const char *name, DLTensor *view);
/* The same of result `k`, counted from 0 in the model's order; gnnc_executable_info.outputs says
 * how many there are.  *name (may be NULL) lives as long as the executable. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_output_at(gnnc_run *r, int k, const char **name,
                                                        DLTensor *view);

/* Where the result of this name goes: every gnnc_run_infer and gnnc_run_forward that succeeds
 * leaves it there, until other memory is bound, `to` NULL lets that go, or the run is freed.
 * Borrowed until then.  Of the shape that the result has, and of its element type or, of floats, of
 * any other type of floats.  Row-major memory of the same type is written as the result is
 * computed, without a copy, unless it is a result on edges, of an executable with buckets or
 * compiled `by_rows`, or of one on a GPU; it lies apart from data and weights.  gnnc_run_output
 * gives the result as always. GNNC_ERROR_USAGE: there is no such output (with the nearest name);
 * GNNC_ERROR_DATA: another type or shape, not on the CPU, not aligned; of the call that computes:
 * another number of rows, or it overlaps with what that reads. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_bind_output(gnnc_run *r, const char *name,
                                                          const DLTensor *to);

/* Profiles: where the time of calls goes.  From now on the calls of gnnc_run_infer, gnnc_run_step,
 * gnnc_run_forward and gnnc_run_backward are timed, kernel by kernel and thread by thread, or no
 * longer; what was timed before is forgotten.  That costs a look or two at the clock a kernel and
 * thread, and a walk through what was seen after the call.  Results are the same bits.
 * GNNC_ERROR_USAGE: the context has a GPU. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_profile(gnnc_run *r, bool on);

/* What a layer, a line of the model or a kernel has of the calls that were timed: means over those
 * since something was last bound anew (gnnc_run_info.bindings).  A kernel that does the work of
 * several layers or lines is split by what each has of its bound (docs/profile.md). */
typedef struct gnnc_profile_row {
    size_t size;
    const char *name;     /* "convs.0", or "(model)", "(loss)", "(optimizer)"; "gat.gnn:10"; or a
                             kernel's, as "convs.0 backward weights" */
    const char *part;     /* "forward", "backward" or "optimizer" */
    const char *bound_by; /* "memory", "gather", "flops", "functions" or "-" */
    double us, wait_us;   /* of a call; of that, threads had nothing to do */
    double bound_us;      /* the least that this machine needs for it */
    double bytes, flops;
    int kernels;    /* that it has a part of */
    bool estimated; /* some of them do the work of several layers or parts */
    int64_t calls;  /* that were timed */
} gnnc_profile_row;
/* Row `k` of what `program` ("infer", "step", "forward", "backward") took, the slowest first.  by:
 * "layer", "line" or "kernel".  Strings live until the next call on this run that computes, asks
 * for rows by something else, or gnnc_run_profile.  The first call measures what the machine can,
 * for some tenths of a second.  GNNC_ERROR_USAGE: another word, nothing was timed, or there is no
 * such row. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_profile_row(gnnc_run *r, const char *program,
                                                          const char *by, int k,
                                                          gnnc_profile_row *row);

/* Bytes that the run holds besides what it borrows. */
GNNC_API int64_t gnnc_run_bytes(const gnnc_run *r);

typedef struct gnnc_run_info {
    size_t size;
    int64_t inferences, steps; /* that succeeded */
    /* How often the inference or the training step was bound, with success: each at first, and
     * again where a graph, a size or data that is copied has been new since. */
    int64_t bindings;
    int64_t bytes; /* gnnc_run_bytes */
    int program;   /* that the last call ran, see gnnc_executable_program; -1: none yet, or one with
                      inputs left out */
    bool eager;    /* it is an eager one */
    int64_t padded_nodes, padded_edges; /* that the bucket of the bound graph adds */
} gnnc_run_info;
GNNC_API void gnnc_run_describe(const gnnc_run *r, gnnc_run_info *info); /* info->size is set */

#ifdef __cplusplus
}
#endif

#endif
