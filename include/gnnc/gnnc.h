/* gnnc: compile and run graph neural networks from C.
 *
 * A model written in gnnc's language (docs/language.md) is parsed to a module, compiled to an executable, and run on any
 * graph: compiled code holds no sizes of graphs, so one executable serves graphs of every number of nodes and edges, 0
 * and 1 included, and is never compiled again.  A state holds weights and what training keeps; a run binds an executable,
 * a state, a graph and data, and computes.
 *
 *     gnnc_module_parse    text             -> module
 *     gnnc_compile         module, options  -> executable       milliseconds to tenths of a second
 *     gnnc_state_new       executable, seed -> state
 *     gnnc_run_new         executable, state-> run
 *     gnnc_run_bind_graph, gnnc_run_bind, gnnc_run_infer or gnnc_run_step, gnnc_run_output
 *
 * Errors.  A function that can fail returns a status: NULL is success; anything else is the caller's, who reads code and
 * message and ends it with gnnc_status_free.  When a function fails, *out is NULL, and what it was called on is as it
 * was before, but for a run: it has no output until the next call that succeeds.  Nothing is printed, nothing exits, no
 * signal handlers or global state are touched. Any function may return GNNC_ERROR_MEMORY.
 *
 * Threads.  Modules, graphs and executables never change once made: any number of threads may use them at once.  A run,
 * and a state with all runs that train it, belong to one thread at a time; several runs may infer from one state at once.
 * Different runs work in parallel with each other.
 *
 * Ownership.  Every object is freed by its own function; NULL is fine there.  Objects keep what they were made from alive,
 * so they may be freed in any order.  Data passed in is copied unless the function says that it is borrowed.
 *
 * Options structures begin with their size: set `size` to sizeof of the structure and leave what you do not know 0.  A
 * program that was built against an older header goes on working.
 *
 * Tensors are DLPack's (dlpack.h; https://dmlc.github.io/dlpack/latest/c_api.html), on the CPU. */
#ifndef GNNC_GNNC_H
#define GNNC_GNNC_H

#include "gnnc/dlpack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GNNC_API __attribute__((visibility("default")))
#define GNNC_NODISCARD __attribute__((warn_unused_result))
#else
#define GNNC_API
#define GNNC_NODISCARD
#endif

#define GNNC_VERSION_MAJOR 0
#define GNNC_VERSION_MINOR 1
#define GNNC_VERSION_PATCH 0

typedef struct gnnc_status gnnc_status;
typedef struct gnnc_module gnnc_module;
typedef struct gnnc_graph gnnc_graph;
typedef struct gnnc_executable gnnc_executable;
typedef struct gnnc_state gnnc_state;
typedef struct gnnc_run gnnc_run;

/* "0.1.0", of the library that is linked. */
GNNC_API const char *gnnc_version(void);

/* Status ------------------------------------------------------------------------------------------------------------- */

typedef enum gnnc_code {
    GNNC_OK = 0,
    GNNC_ERROR_MODEL = 1, /* the model: syntax, types, shapes.  The message has file, line and a caret */
    GNNC_ERROR_USAGE = 2, /* this call: an argument, an option, something that is not bound */
    GNNC_ERROR_DATA = 3,  /* tensors, graphs or weights do not fit each other or the model; what, expected and found */
    GNNC_ERROR_IO = 4,    /* a file could not be read or written; the system's words are in the message */
    GNNC_ERROR_BACKEND = 5,  /* this build or machine cannot do it */
    GNNC_ERROR_MEMORY = 6,   /* memory ran out */
    GNNC_ERROR_INTERNAL = 7, /* a defect of gnnc: please report it, with the message */
} gnnc_code;

GNNC_API gnnc_code gnnc_status_code(const gnnc_status *s);      /* GNNC_OK for NULL */
GNNC_API const char *gnnc_status_message(const gnnc_status *s); /* "" for NULL; lives as long as s */
GNNC_API void gnnc_status_free(gnnc_status *s);

/* Modules ------------------------------------------------------------------------------------------------------------ */

/* Parses `n` bytes of text. `name` stands in messages for the file (NULL: "<model>").
 * GNNC_ERROR_MODEL lists every syntax error there is. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_module_parse(const char *text, size_t n, const char *name, gnnc_module **out);
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_module_read(const char *path, gnnc_module **out); /* GNNC_ERROR_IO too */
GNNC_API void gnnc_module_free(gnnc_module *m);

/* Graphs ------------------------------------------------------------------------------------------------------------- */

typedef enum gnnc_index { GNNC_INT32 = 0, GNNC_INT64 = 1 } gnnc_index;

/* Of n_nodes nodes and the edges src[k] -> dst[k], k < n_edges; arrays of the given index type.  Edges keep their order:
 * data on edges is given and returned in it.  Repeated edges and loops are kept as they are.
 * GNNC_ERROR_DATA names the first edge whose end is out of range; GNNC_ERROR_USAGE: a count is negative. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_graph_from_coo(int64_t n_nodes, int64_t n_edges, gnnc_index index,
                                                         const void *src, const void *dst, gnnc_graph **out);

/* Row v lists the sources of the edges into v: src[row[v]] .. src[row[v + 1] - 1].  row: [n_nodes + 1], from 0,
 * ascending, else GNNC_ERROR_DATA. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_graph_from_csr(int64_t n_nodes, gnnc_index index, const void *row,
                                                         const void *src, gnnc_graph **out);
GNNC_API int64_t gnnc_graph_nodes(const gnnc_graph *g);
GNNC_API int64_t gnnc_graph_edges(const gnnc_graph *g);
GNNC_API void gnnc_graph_free(gnnc_graph *g);

/* Executables -------------------------------------------------------------------------------------------------------- */

typedef struct gnnc_define {
    const char *name, *value; /* a hyperparameter of the model and its value as in the language, {"hidden", "64"} */
} gnnc_define;

typedef struct gnnc_compile_options {
    size_t size;
    const char *model;          /* which model of the module; NULL: the train block's, else the last */
    const gnnc_define *defines; /* [n_defines] */
    size_t n_defines;
    int64_t features;      /* columns of x: F in the model; must be positive */
    int64_t classes;       /* C in the model; 0: the model has none */
    int64_t edge_features; /* columns of the graph's attributes, D in the model; 0: none */
    bool edge_weights;     /* edges have a weight each, "g.weight" */
    bool train;            /* make the training step too */
    bool fixed;          /* with train: graph, features, labels and masks stay the same while a run trains, so that what
                             * depends on them alone is computed once, by the first step after they are bound */
    bool sparse;         /* x has few non-zeros (below a fifth): products walk those alone */
    bool wide;           /* graphs of more than 2^31 - 1 nodes or edges */
    const char *mode;    /* "eager", "default", "reduce-overhead", "max-autotune" or "0" to "3", or
                          * "max-autotune-no-cudagraphs"; NULL: "default".  Compiled without data nothing is tuned:
                          * max-autotune is reduce-overhead here, and its other form the default */
    int compile_threads; /* 0: as many as there are processors */
} gnnc_compile_options;

/* GNNC_ERROR_MODEL as above, and where the model does not fit the sizes; GNNC_ERROR_USAGE: an option is out of range or
 * names nothing (with the nearest name that there is); GNNC_ERROR_BACKEND: built without LLVM. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_compile(const gnnc_module *m, const gnnc_compile_options *options,
                                                  gnnc_executable **out);
GNNC_API void gnnc_executable_free(gnnc_executable *e);

typedef struct gnnc_executable_info {
    size_t size;
    const char *model;  /* its name; lives as long as the executable, as all strings here */
    double compile_ms;  /* of gnnc_compile */
    int64_t code_bytes; /* machine code and constants */
    int kernels;        /* that are launched, of all programs */
    int distinct;       /* that were compiled: equal ones share code */
    int parameters;     /* of the model, see gnnc_state_weight */
} gnnc_executable_info;
GNNC_API void gnnc_executable_describe(const gnnc_executable *e, gnnc_executable_info *info); /* info->size is set */

/* A stage of compilation as text: "ast", "gir", "kir" (docs/architecture.md).  *text ends with NUL and is freed with
 * gnnc_text_free.  GNNC_ERROR_USAGE: there is no such stage. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_executable_emit(const gnnc_executable *e, const char *stage, char **text);
GNNC_API void gnnc_text_free(char *text);

/* States ------------------------------------------------------------------------------------------------------------- */

/* Fresh weights, drawn by seed as the model says; fresh moments and counters.  Equal seeds give equal bytes. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_state_new(const gnnc_executable *e, uint64_t seed, gnnc_state **out);
GNNC_API void gnnc_state_free(gnnc_state *s);

/* Weights from and to safetensors under PyTorch Geometric's names.  GNNC_ERROR_DATA names a tensor that is missing or of
 * the wrong shape.  Saving replaces the file at once or not at all. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_state_load_weights(gnnc_state *s, const char *path);
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_state_save_weights(const gnnc_state *s, const char *path);

/* Everything: weights, moments, step and seed.  Training that goes on from a loaded state ends with the same bytes as
 * training that never stopped. Loading takes a file that was saved from the same model with the same sizes and optimizer,
 * else GNNC_ERROR_DATA. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_state_load(gnnc_state *s, const char *path);
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_state_save(const gnnc_state *s, const char *path);

/* Parameter `k` (or by name): a view of the weights as they lie in the state, with strides, alive as long as the state;
 * writing through it changes them. *name (may be NULL) is alive as long. `shape_and_strides` holds what the view points
 * to: room for 16 numbers.  GNNC_ERROR_USAGE: there is none (with the nearest name). */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_state_weight(gnnc_state *s, int k, const char **name, DLTensor *view,
                                                       int64_t shape_and_strides[16]);
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_state_weight_named(gnnc_state *s, const char *name, DLTensor *view,
                                                             int64_t shape_and_strides[16]);

/* Runs --------------------------------------------------------------------------------------------------------------- */

typedef struct gnnc_run_options {
    size_t size;
    int threads; /* 0 or 1: the caller's alone; results are the same bits for any number */
} gnnc_run_options;

/* GNNC_ERROR_USAGE: the state was made for another executable with other weights. `options` may be NULL. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_new(const gnnc_executable *e, gnnc_state *s,
                                                  const gnnc_run_options *options, gnnc_run **out);
GNNC_API void gnnc_run_free(gnnc_run *r);

GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_bind_graph(gnnc_run *r, const gnnc_graph *g);

/* Binds data by name: "x" float32 [nodes, features]; "y" int32 or int64 [nodes], -1 for unknown; the masks that the
 * model reads, as "train_mask", bool or uint8 [nodes]; "g.weight" float32 [edges]; "g.attr" float32 [edges, edge_features]; inputs that the
 * model declares.  Row-major float32 and int32 data that is not on edges is borrowed until other data is bound or the run
 * is freed, and is read anew by every call; the rest (masks, int64, other strides, data on edges, x for an executable
 * that was compiled `sparse`, everything for one that was compiled `fixed`) is copied here, when it is bound.
 * Data of other sizes than before may be bound at any time, together with a graph that fits.
 * GNNC_ERROR_USAGE: the model has no such input (with the nearest name).  GNNC_ERROR_DATA: another element type, number of
 * dimensions or columns, not on the CPU, not aligned to its element.  Numbers of rows are checked against each other
 * when it is run. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_bind(gnnc_run *r, const char *name, const DLTensor *data);

/* Features as CSR: row[nodes + 1] from 0 ascending, column and value of each entry (values NULL: all 1).  Copied.
 * GNNC_ERROR_USAGE: the executable was not compiled `sparse`. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_bind_csr(gnnc_run *r, int64_t n_nodes, const int64_t *row,
                                                       const int32_t *column, const float *value);

/* The forward pass, as for serving: no dropout, running statistics.  GNNC_ERROR_USAGE: something is not bound;
 * GNNC_ERROR_DATA: sizes do not meet (what, expected, found). */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_infer(gnnc_run *r);

/* One training step: loss, gradients, optimizer; the state changes. *loss (may be NULL) is the one before the update.
 * GNNC_ERROR_USAGE: compiled without `train`. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_step(gnnc_run *r, double *loss);

/* What the last gnnc_run_infer gave: "out" float32 [nodes, ...].  A view that is alive until the next call on this run.
 * GNNC_ERROR_USAGE: nothing was computed yet, or there is no such output. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_run_output(gnnc_run *r, const char *name, DLTensor *view);

/* Bytes that the run holds besides what it borrows. */
GNNC_API int64_t gnnc_run_bytes(const gnnc_run *r);

#ifdef __cplusplus
}
#endif

#endif
