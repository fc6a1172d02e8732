/* gnnc: compile and run graph neural networks from C.
 *
 * A model written in gnnc's language (docs/language.md, installed in share/doc/gnnc) is parsed to a
 * module, compiled to an executable, and run on any graph: compiled code holds no sizes of graphs,
 * so one executable serves graphs of every number of nodes and edges, 0 and 1 included, and is not
 * compiled again, but where schedules are chosen or rows picked.  (`dynamic` asks for sizes to be
 * compiled in; see gnnc_compile_options.) A state holds weights and what training keeps; a run
 * binds an executable, a state, a graph and data, and computes.
 *
 *     gnnc_context_new     options           -> context         cache of kernels, memory,
 *                          callbacks; NULL does for one
 *     gnnc_module_parse    context, text     -> module
 *     gnnc_compile         module, options   -> executable      milliseconds to tenths of a second
 *     gnnc_state_new       executable, seed  -> state
 *     gnnc_run_new         executable, state -> run
 *     gnnc_run_bind_graph, gnnc_run_bind, gnnc_run_infer or gnnc_run_step, gnnc_run_output
 *                          (run.h, which this header includes)
 *
 * Errors.  A function that can fail returns a status: NULL is success; anything else is the
 * caller's, who reads code and message and ends it with gnnc_status_free.  When a function fails,
 * *out is NULL, and what it was called on is as it was before, but for a run whose inference or
 * step had begun: it has no output until the next one that succeeds.  Nothing is printed, nothing
 * exits, no signal handlers or global state are touched.  Any function may return
 * GNNC_ERROR_MEMORY. NULL where something is needed is GNNC_ERROR_USAGE that names function and
 * argument; functions without a status then do nothing, give 0, or describe nothing.
 *
 * Threads.  Contexts, modules and graphs never change once made, and an executable changes only in
 * what it has compiled: any number of threads may use them at once.  Contexts share nothing but the
 * folder of their caches.  A run, and a state with all runs that train it, belong to one thread at
 * a time; several runs may infer from one state at once. Different runs work in parallel with each
 * other.
 *
 * Ownership.  Every object is freed by its own function; NULL is fine there.  Objects keep what
 * they were made from alive, so they may be freed in any order.  Data passed in is copied unless
 * the function says that it is borrowed.  Objects of different contexts do not go together:
 * GNNC_ERROR_USAGE where they meet.
 *
 * Options structures begin with their size: set `size` to sizeof of the structure and leave what
 * you do not know 0.  A program that was built against an older header goes on working: what that
 * did not have is 0.  One that was built against a newer header works as long as it leaves 0 what
 * this library does not know; else it gets GNNC_ERROR_USAGE.  A `size` that was not set is
 * GNNC_ERROR_USAGE, too.
 *
 * Forks.  A child may use and free all that its parent made, compile, and make contexts of its
 * own.  One thing it must leave alone: a run, or a state, that another thread was in a call with
 * when the process forked, since it is half done.  Threads of a run are not in the child: its
 * first call there starts them anew.  A fork waits for short moments of other threads (a kernel
 * that LLVM is at, a look into the cache), and not for searches.  Callbacks may fork, but
 * `allocate` and `release` may not.  A GPU stays with the process that opened it: in a child what
 * computes there is GNNC_ERROR_BACKEND, and freeing works.
 *
 * Tensors are DLPack's (dlpack.h; https://dmlc.github.io/dlpack/latest/c_api.html), on the CPU:
 * those of a GPU (kDLCUDA) are GNNC_ERROR_DATA, where the context computes on one, too. */
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
typedef struct gnnc_context gnnc_context;
typedef struct gnnc_module gnnc_module;
typedef struct gnnc_graph gnnc_graph;
typedef struct gnnc_executable gnnc_executable;
typedef struct gnnc_state gnnc_state;
typedef struct gnnc_run gnnc_run;

/* "0.1.0", of the library that is linked. */
GNNC_API const char *gnnc_version(void);

/* Status --------------------------------------------------------------------------------------- */

typedef enum gnnc_code {
    GNNC_OK = 0,
    GNNC_ERROR_MODEL = 1, /* the model: syntax, types, shapes.  The message has file, line and a
                             caret */
    GNNC_ERROR_USAGE = 2, /* this call: an argument, an option, something that is not bound */
    GNNC_ERROR_DATA = 3,  /* tensors, graphs or weights do not fit each other or the model; what,
                             expected and found */
    GNNC_ERROR_IO = 4, /* a file could not be read or written; the system's words are in the message
                        */
    GNNC_ERROR_BACKEND = 5,  /* this build or machine cannot do it */
    GNNC_ERROR_MEMORY = 6,   /* memory ran out */
    GNNC_ERROR_INTERNAL = 7, /* a defect of gnnc: please report it, with the message */
} gnnc_code;

GNNC_API gnnc_code gnnc_status_code(const gnnc_status *s);      /* GNNC_OK for NULL */
GNNC_API const char *gnnc_status_message(const gnnc_status *s); /* "" for NULL; lives as long as s
                                                                 */
GNNC_API void gnnc_status_free(gnnc_status *s);

/* Contexts -------------------------------------------------------------------------------------
 *
 * What everything made in one has in common.  Where a context is wanted NULL is one too: no cache,
 * no callbacks, malloc. */

typedef enum gnnc_cache_use {
    GNNC_CACHE_ENVIRONMENT = 0, /* as GNNC_CACHE, GNNC_CACHE_DIR and the other variables say
                                 * (docs/cache.md): on disk and in memory, unless GNNC_CACHE is 0 */
    GNNC_CACHE_MEMORY = 1,      /* in memory alone */
    GNNC_CACHE_NONE = 2,
} gnnc_cache_use;

typedef enum gnnc_log_level { GNNC_LOG_WARNING = 0, GNNC_LOG_NOTE = 1 } gnnc_log_level;

typedef struct gnnc_diagnostic { /* one error of a model, or a note to the one before */
    size_t size;
    bool note;
    const char *file;      /* as it was named; all strings live as long as the call */
    uint32_t line, column; /* from 1; in characters */
    const char *message;   /* one line */
} gnnc_diagnostic;

typedef struct gnnc_context_options {
    size_t size;
    gnnc_cache_use cache;
    const char *cache_dir; /* GNNC_CACHE_ENVIRONMENT: this folder, whatever the variables say; NULL:
                              theirs */
    int64_t cache_bytes;   /* on disk; 0: 256 MB */
    int64_t cache_memory_bytes; /* 0: 64 MB; negative: nothing is kept in memory */
    const char *topics; /* what notes are wanted of, separated by commas: "cache", "recompiles",
                           "tuning"; NULL: none */
    /* Callbacks; NULL: nobody listens.  They are called by functions of this context, on the thread
     * that called those; log may be called by several threads at once where several use the
     * context.  They may call anything but what frees the objects at hand or uses the run or state
     * at hand; log with the topics "cache" and "tuning", which speak in the midst of compiling,
     * nothing that compiles or runs.  `user` is theirs. */
    void (*log)(void *user, gnnc_log_level level, const char *topic, const char *text);
    /* as gnnc_module_parse and gnnc_compile find them */
    void (*diagnostic)(void *user, const gnnc_diagnostic *d);
    /* Both or neither: where objects, compilers, graphs, states and runs take memory, instead of
     * malloc.  `alignment` is a power of two; NULL: there is no memory.  Must outlive all objects
     * of the context; thread-safe.  Statuses, texts, what is in the cache, what readers of files
     * and LLVM use for a moment, and machine code stay with malloc and mmap. */
    void *(*allocate)(void *user, size_t bytes, size_t alignment);
    void (*release)(void *user, void *block); /* never NULL */
    void *user;
    /* Where executables of the context run (docs/cuda.md): "cpu", which NULL is; "cuda" or
     * "cuda:N", a GPU, whose driver and NVRTC are looked for here and when something is compiled;
     * "auto": a GPU where there is one, else the CPU, and gnnc_context_device says why.
     *   What belongs to a GPU's context goes there by itself: data when it is first computed with,
     * weights once, and they stay; results come back when they are asked for, weights when they are
     * saved or looked at.  Data is still given on the CPU. Functions of such a context may be
     * called by several threads as always, but what computes does so one at a time.  Calls that
     * compute may return before it is done: what goes wrong there is the status of a later call
     * that waits.
     *   GNNC_ERROR_USAGE: there is no such device; GNNC_ERROR_BACKEND: there is no driver (what was
     * looked for, and where), it is too old, or the device is.  Later, of whatever compiles or
     * computes: GNNC_ERROR_BACKEND: there is no NVRTC, or the device was lost (a fault there ends
     * it for the process: free everything); GNNC_ERROR_MEMORY: what takes how much of the device's
     * memory, and how much is free.  A training step that failed on a device leaves the state as it
     * happens to be. */
    const char *device;
} gnnc_context_options;

/* `options` may be NULL.  GNNC_ERROR_USAGE: an option is out of range or names nothing,
 * GNNC_CACHE_SIZE is no size; and see `device`. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_context_new(const gnnc_context_options *options,
                                                      gnnc_context **out);
GNNC_API void gnnc_context_free(gnnc_context *c);

typedef struct gnnc_device_info {
    size_t size;
    bool gpu;
    const char *name;  /* "cpu", or what the driver calls it; strings live as long as the context */
    int ordinal, arch; /* of a GPU: 0 for cuda:0, 90 for sm_90; else -1 and 0 */
    int64_t bytes;     /* of memory of a GPU */
    const char *reason; /* of "auto": why it is not a GPU; else "" */
} gnnc_device_info;
/* Where executables of the context run; info->size is set.  NULL is a context, too. */
GNNC_API void gnnc_context_device(const gnnc_context *c, gnnc_device_info *info);

/* What gnnc can use on this machine, what is missing and how to get it, as text for people, as
 * `gnnc doctor` prints it: the processor, NVRTC, cuBLASLt, the CUDA driver and its devices, which
 * are looked for and loaded.  Freed with gnnc_text_free. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_doctor(char **text);

typedef struct gnnc_cache_info {
    size_t size;
    bool on;                                /* there is a cache */
    int64_t hits_memory, hits_disk, misses; /* of look-ups: a kernel may be looked up more than once
                                             */
    int64_t stored;                         /* kernels that were put on disk */
    int64_t memory_bytes;
} gnnc_cache_info;
/* info->size is set */
GNNC_API void gnnc_context_cache(const gnnc_context *c, gnnc_cache_info *info);

/* Modules -------------------------------------------------------------------------------------- */

/* Parses `n` bytes of text. `name` stands in messages for the file (NULL: "<model>").
 * GNNC_ERROR_MODEL lists every syntax error there is; whether names and shapes fit is seen by
 * gnnc_compile. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_module_parse(const gnnc_context *c, const char *text,
                                                       size_t n, const char *name,
                                                       gnnc_module **out);
/* The same of a file.  GNNC_ERROR_IO: it cannot be read. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_module_read(const gnnc_context *c, const char *path,
                                                      gnnc_module **out);
/* A program of tensor IR instead, as `gnnc opt` and the stage "gir" print it
 * (docs/architecture.md): its inputs are bound by their names, and so are its graphs, "g" from
 * "node" to itself by gnnc_run_bind_graph, others by gnnc_run_bind_relation; its outputs are the
 * results.  Its states of float32 are parameters, which begin with zeros; updates of states are
 * made by gnnc_run_forward, not by gnnc_run_infer.  With `train` a program that updates states and
 * has an output "loss", one number, is the training step: gnnc_run_step computes it, and states
 * that are bound (gnnc_run_bind_weight) are replaced where they lie.  Spaces of unknown size have
 * as many rows as is bound. Options of gnnc_compile that speak of models are GNNC_ERROR_USAGE then,
 * as is `train` of a program without updates or loss; gradients are taken as of any other.
 * GNNC_ERROR_MODEL names line and column where it is no such text, or the value and the rule that
 * it breaks; or it has no output, a `pattern`, names that gradients take, a state of rows whose
 * number is not known, or an output "loss" that is no number. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_module_parse_ir(const gnnc_context *c, const char *text,
                                                          size_t n, const char *name,
                                                          gnnc_module **out);
GNNC_API void gnnc_module_free(gnnc_module *m);

/* Graphs --------------------------------------------------------------------------------------- */

typedef enum gnnc_index { GNNC_INT32 = 0, GNNC_INT64 = 1 } gnnc_index;

/* Of n_nodes nodes and the edges src[k] -> dst[k], k < n_edges; arrays of the given index type.
 * Edges keep their order: data on edges is given and returned in it.  Repeated edges and loops are
 * kept as they are. GNNC_ERROR_DATA names the first edge whose end is out of range;
 * GNNC_ERROR_USAGE: a count is negative, there are edges and an array is NULL, there is no such
 * index type. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_graph_from_coo(const gnnc_context *c, int64_t n_nodes,
                                                         int64_t n_edges, gnnc_index index,
                                                         const void *src, const void *dst,
                                                         gnnc_graph **out);

/* Row v lists the sources of the edges into v: src[row[v]] .. src[row[v + 1] - 1].  row: [n_nodes +
 * 1], from 0, ascending, else GNNC_ERROR_DATA, which also names the first source that is out of
 * range.  GNNC_ERROR_USAGE: n_nodes is negative, `row` is NULL, there are edges and `src` is NULL,
 * there is no such index type. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_graph_from_csr(const gnnc_context *c, int64_t n_nodes,
                                                         gnnc_index index, const void *row,
                                                         const void *src, gnnc_graph **out);

/* Edges from n_src rows of one type to n_dst of another, for gnnc_run_bind_relation; as
 * gnnc_graph_from_coo, which is one with as many at either end. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_relation_from_coo(const gnnc_context *c, int64_t n_src,
                                                            int64_t n_dst, int64_t n_edges,
                                                            gnnc_index index, const void *src,
                                                            const void *dst, gnnc_graph **out);
/* The same of two tensors of one dimension, int32 or int64, of any strides: row k of `src` and of
 * `dst` are the ends of edge k.  GNNC_ERROR_DATA, too: other tensors, or of other lengths. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_relation_from_tensors(const gnnc_context *c,
                                                                int64_t n_src, int64_t n_dst,
                                                                const DLTensor *src,
                                                                const DLTensor *dst,
                                                                gnnc_graph **out);
/* The graph with more nodes and edges behind its own, which it would have been made of if all had
 * been given at once: results are the same bits, and data on edges is in the order of both lists.
 * What is there is copied, in one pass, and not sorted again; `g` stays as it is, for runs that
 * compute on it, and may be freed.  A run sees the new one once that is bound, and goes on with its
 * programs.  GNNC_ERROR_DATA, GNNC_ERROR_USAGE as of gnnc_graph_from_coo; USAGE, too: nodes are
 * added to a relation that has other numbers of rows at its ends. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_graph_append(const gnnc_graph *g, int64_t more_nodes,
                                                       int64_t n_edges, gnnc_index index,
                                                       const void *src, const void *dst,
                                                       gnnc_graph **out);
/* The same of a relation, with rows more at either end. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_relation_append(const gnnc_graph *g, int64_t more_src,
                                                          int64_t more_dst, int64_t n_edges,
                                                          gnnc_index index, const void *src,
                                                          const void *dst, gnnc_graph **out);
/* Nodes; of a relation those at its destination. */
GNNC_API int64_t gnnc_graph_nodes(const gnnc_graph *g);
GNNC_API int64_t gnnc_graph_edges(const gnnc_graph *g);
GNNC_API void gnnc_graph_free(gnnc_graph *g);

/* Executables ---------------------------------------------------------------------------------- */

typedef struct gnnc_define {
    const char *name, *value; /* a hyperparameter of the model and its value as in the language,
                                 {"hidden", "64"} */
} gnnc_define;

/* What data of several types of rows have (docs/language.md, "Rows and relations"); names are those
 * that a model says.  Each begins with its size, which is the same for all elements of an array.
 * Strings and arrays are copied. */
typedef struct gnnc_space { /* rows of one type: `node.paper`; "node" and "graph" stand alone */
    size_t size;
    const char *name;
    int64_t rows; /* -1: not known before data are bound; parameters with a row for each need it */
} gnnc_space;
typedef struct gnnc_relation { /* edges between rows: `writes: node.author -> node.paper` */
    size_t size;
    const char *name, *src, *dst; /* the ends are spaces */
    int64_t expect_edges;         /* what programs are made for; 0: not known */
} gnnc_relation;
typedef struct gnnc_column { /* numbers on rows or edges: `year: node.paper of int` */
    size_t size;
    const char *name;     /* "paper.year", "writes.kind": of a space or a relation, and its own */
    DLDataType type;      /* float32, int32 or int64, bool or uint8 */
    int ndim;             /* of a row: 0 for a number */
    const int64_t *shape; /* [ndim] */
    int64_t values;       /* of integers that name rows (`rel[kind]`): they lie below it; 0: they
                             name none */
} gnnc_column;

typedef struct gnnc_compile_options {
    size_t size;
    const char *model; /* which model of the module; NULL: the train block's, else the last */
    const gnnc_define *defines; /* [n_defines] */
    size_t n_defines;
    int64_t features; /* columns of x: F in the model; positive, or 0 with `spaces`, `relations`
                         or `columns`: nodes have none */
    int64_t classes;  /* C in the model; 0: the model has none */
    int64_t edge_features; /* columns of the graph's attributes, D in the model; 0: none */
    bool edge_weights;     /* edges have a weight each, "g.weight" */
    bool train;            /* make the training step too */
    /* With train: graph, features, labels and masks stay the same while a run trains, so that what
     * depends on them alone is computed once, by the first step after they are bound. */
    bool fixed;
    bool sparse; /* x has few non-zeros (below a fifth): products walk those alone */
    /* Graphs of more than 2^31 - 1 nodes or edges, and x of as many non-zeros, can be bound; of
     * smaller graphs a copy with wider indices is made then. */
    bool wide;
    /* "eager", "default", "reduce-overhead", "max-autotune" or "0" to "3", or
     * "max-autotune-no-cudagraphs"; NULL: "default".  What max-autotune does: see tune_budget_ms.
     */
    const char *mode;
    int compile_threads; /* 0: as many as there are processors */

    /* Numbers of nodes and edges.  A size that is compiled in is a guard: a graph of another size
     * needs another program.
     *   "true"   none is compiled in: one program for all graphs, made by gnnc_compile (the
     *            default)
     *   "auto"   those of the first graph are compiled in; a size that has changed since is in no
     *            later program: at most one recompilation for each of the two
     *   "false"  both are compiled in, always
     * Programs for other sizes give the same bits: they have one schedule, made for the sizes that
     * are expected, or for those of the first graph where none are (unless max-autotune chooses for
     * each: then they agree up to the rounding of sums). Programs are compiled when a run is given
     * a graph, and kept. */
    const char *dynamic; /* with spaces, relations or columns "true" alone: one program serves all
                            numbers of rows and edges */
    const char *ranges; /* what sizes may be, as "N in 1..100000, E in 0..2000000" (ends may be left
                         * out); other graphs are refused.  A size with a range is not compiled in
                         * by "auto".  With buckets it is the graph as it comes that has to be in
                         * its range, whatever it is padded to.  With spaces and relations by
                         * their names, as "paper in 1..1000, writes in 0..5000": rows and edges
                         * that are bound */
    /* With "false": graphs are padded to sizes that are powers of two ("pow2") or multiples of a
     * number ("256"), so that one program serves many.  What is added is in no result: it is masked
     * out of losses, norms, softmaxes and pools, and cut off outputs.  (Random draws for loops that
     * a layer adds differ from those without padding.)  NULL: no padding */
    const char *buckets;
    int64_t expect_nodes, expect_edges; /* sizes that are expected: gnnc_compile compiles for them.
                                           0 nodes: not known */
    int recompile_limit; /* 0: 8.  What would be compiled more often is GNNC_ERROR_USAGE for the run
                          */
    /* What a run does that has a graph that no program is for: "recompile" (the default);
     * "fail-on-recompile"; "eager-on-recompile": run a program of mode eager, for all sizes, which
     * is compiled once; "run-what-is-compiled": never compile, not at first either.  What is
     * forbidden is GNNC_ERROR_USAGE for the run, and the message names the guard, its value and the
     * size that came.  Results of eager programs agree up to rounding. */
    const char *stance;

    /* Schedules (docs/tuning.md).  In the modes max-autotune and max-autotune-no-cudagraphs the
     * first inference and the first training step of every program, whatever sizes are compiled
     * into it, choose schedules for it before they compute: what the context's cache keeps for this
     * model, machine, graph (its sizes and degrees), data (non-zeros, marked rows) and number of
     * threads; else what a search finds on the data that is bound, which begins nothing after so
     * many milliseconds each.  It may take longer by what it began in time, to compile a candidate
     * and some thirty runs, and takes ten runs of what rules make at the least. 0: nothing is
     * searched for, and what is not kept is as rules choose, as in reduce-overhead (and default).
     * What is kept of a search that had less time is gone on with.
     *   A candidate is measured against the default's program, on fresh weights of its own and the
     * run's threads: what gives other results, beyond the rounding of sums in another order, or is
     * not faster beyond noise, is not taken.  What is taken holds for all runs of the executable
     * and later graphs of the program (with dynamic "true" for all graphs: those of other sizes
     * compute the same, at a speed that was not measured), so all runs have the same bits; two
     * searches may choose differently, which a lock prevents.  While one run chooses, others of the
     * executable that need a choice wait for it. With the stance run-what-is-compiled, and in eager
     * programs, nothing is chosen.  Neither the order of nodes nor the number of threads is: they
     * are the caller's.  On a GPU candidates are timed there, against what the mode runs without a
     * search; the device is the search's meanwhile, and runs of other threads wait.  Besides, in
     * modes that search, products that cuBLASLt can make are timed in both forms at the first run
     * after a graph is bound, and what is found is kept in the context's cache; without a cache two
     * bindings may choose differently, and then their last bits differ. GNNC_ERROR_USAGE: negative,
     * or not 0 in a mode that does not search. */
    int64_t tune_budget_ms;
    /* Schedules come from this file, in any mode but eager, and nothing is searched for.  It is
     * read by gnnc_compile, whose GNNC_ERROR_IO says that it cannot be.  The first inference or
     * step of a program is GNNC_ERROR_DATA where it is no lock or none for this program: which
     * line, what it says and what is so here.  One that `gnnc tune --tolerance` wrote says the
     * precision, which `precision` and `matmul_precision` may leave out: GNNC_ERROR_USAGE where
     * they say another, or the lock names a layer that the model does not have; GNNC_ERROR_DATA
     * where it is of a model of another name.  NULL: none */
    const char *tune_lock;
    /* Of products of matrices, in the words of torch.set_float32_matmul_precision: "highest"
     * (NULL): float32 throughout; "high": operands may be rounded to TF32, "medium": to BF16, where
     * a machine multiplies those faster; sums stay float32. A CPU does with "medium", where it has
     * AVX512-BF16 and the product has columns enough; else all give the same bits. */
    const char *matmul_precision;

    /* With train: the rows of nodes that a step computes, where the loss is a sum over a mask.
     *   "needed"  those that the loss depends on: the mask's, the sources of edges into those, and
     *             so on, a level a layer, as far as a level leaves out a quarter of the rows, by
     *             the graph and the mask that are bound
     *   "all"     all rows
     * NULL: "needed" with `fixed`; "all" without, where it costs nothing to bind another mask of
     * the same size.  Both are the same loss and gradients up to the rounding of sums, as long as
     * rows that are left out are finite: 0 times infinity is no part of the loss then.
     *   A number of levels is compiled in, and any is right for all masks and graphs: one more than
     * the model has layers (the rows of the mask are a level), and where graph and mask leave out
     * rows at fewer, a training step with so many (0: all rows), by the first step that wants it.
     * That is a program of its own, but no recompilation; where the stance is run-what-is-compiled,
     * the program that is there does.  All rows are computed in mode eager and with buckets, too:
     * "needed" is GNNC_ERROR_USAGE there.
     *   Of a training step in tensor IR: "all" (NULL), or a number of levels, "2": it computes what
     * is read, or is not 0, on the rows of a mask or of a relation that lists rows (whose first use
     * is to read those at its destinations), on the sources of edges into those, and so on. */
    const char *rows;

    /* How rows of 16 numbers and more that edges read of nodes lie in memory: "float32" (NULL), or
     * "bfloat16": rounded to that, half the bytes, which is what a sum over edges of a large graph
     * waits for.  All arithmetic stays float32, and so do weights, gradients of weights and the
     * optimizer's moments; gradients are of the model as it is written.  In every mode, on a CPU
     * and on a GPU. */
    const char *gather_storage;

    /* With `sparse`: what holds of the non-zeros of every x that is bound, as it does of bags of
     * words.
     *   "any"   nothing (the default)
     *   "rows"  those of a row are equal: sums over a row are multiplied once, and read no values
     *   "ones"  all are 1
     * The same results up to the rounding of sums.  An x of which it does not hold is refused when
     * it is bound. */
    const char *sparse_values;

    /* With `train`, `fixed` and rows "needed": all runs are on one graph, with one mask and the
     * same x.  The first step that has them bound counts what its loss reads of them and compiles a
     * training step that does what pays there, where a program for any data takes what mostly does:
     * sums of features that are computed once and kept, products behind the aggregations of few
     * rows (docs/lab/what-pays.md: `dense-once`, `aggregate_picked`, `aggregate_heads`).  That is a
     * program of its own, but no recompilation; with the stance run-what-is-compiled the one that
     * is there does.  Other data are computed right by it, too: it is only not made for them.
     * Without levels of rows nothing is counted. */
    bool same_data;

    /* Data of several types of rows, relations or columns of their own.  The space "node" and the
     * relation "g" from it to itself are there besides, unless only other spaces are given; they
     * may be given for their sizes.  `each graph` in a model is all relations in this order, with
     * "g" where it is given.  Sizes are compiled into no program: `dynamic` is "true", there are no
     * ranges, buckets or tuning, and all rows are computed.  GNNC_ERROR_USAGE: a name is missing,
     * has a dot, stands twice or is taken; an end is no space; a column is of nothing that is
     * given, or of a type that gnnc has not; a number is negative. */
    const gnnc_space *spaces; /* [n_spaces] */
    size_t n_spaces;
    const gnnc_relation *relations; /* [n_relations] */
    size_t n_relations;
    const gnnc_column *columns; /* [n_columns] */
    size_t n_columns;
    const char *labelled; /* the space that y and the masks lie over; NULL: "node", else the first
                           */

    /* A few nodes at a time, those that gnnc_run_rows names: results are of those alone, and a
     * training step is over those in the place of its mask, which is not bound then.  Either
     * computes what those rows are made of, so that a node is served in the time that its
     * neighbourhood takes.  Messages come along all edges, or along some that are drawn: `fanout`,
     * numbers of edges into a row by hop, nearest to the results first, -1 for all, of the train
     * block where `n_fanout` is 0; `draw`: "uniform", "replace", "labor" or "last", NULL as the
     * train block says (docs/language.md, "Batches"), whose are `draw_by`, `disjoint`, `before` and
     * `until`: each row has the edges up to its own time then.  Draws hang on the state's
     * seed and step, so that the same rows are served alike until it is trained or loaded.  On a
     * GPU rows and edges are drawn on the processor, and sent.  GNNC_ERROR_MODEL: the model has no
     * results of nodes, its loss is over no mask, or something is computed of all nodes (where);
     * other numbers of hops than the model has. GNNC_ERROR_USAGE: with buckets, sizes that are
     * compiled in, schedules that are searched for, `rows` or `same_data`, "last" without times, or
     * with a train block whose batches are of edges or parts of the graph, or are added up
     * (`accumulate`). */
    bool by_rows;
    const int64_t *fanout; /* [n_fanout] */
    size_t n_fanout;
    const char *draw;

    /* Gradients that gnnc_run_backward takes, by name, separated by commas: "weights" (all trained
     * parameters), a parameter, or data of floats that the model reads, as gnnc_run_bind has them:
     * "weights,x,g.weight,g.attr".  NULL: none.  GNNC_ERROR_USAGE: a name that is none of those
     * (with the nearest), x with `sparse`, and with `by_rows` or `buckets`.  GNNC_ERROR_MODEL:
     * something on the way has no gradient, or the model draws edges. */
    const char *gradients;
    /* Of which program: "training" (NULL), where dropout drops and norms take the numbers at hand;
     * or "inference", as gnnc_run_infer computes. */
    const char *gradients_of;

    /* With train: gnnc_state_set_rate may change the learning rate. */
    bool rate_changes;

    /* What programs compute with, in every mode, on a CPU and on a GPU:
     *   "float32"    that (NULL)
     *   "float64"    that, weights and moments too; inputs are float32 still, and outputs are
     *                rounded to it.  Not with `gradients`, nor of tensor IR
     *   "mixed"      float32, of which rows of 16 numbers and more that one loop leaves for others
     *                (activations that gradients need again, what edges read, gradients on their
     *                way back) lie as bfloat16; products are "medium" where matmul_precision is
     *                NULL
     *   "mixed-f16"  the same as float16, which has 3 bits more and ends at 65,504: sums over edges
     *                that nothing divides, and what comes of those, lie as bfloat16.  A training
     *                step multiplies its loss by a scale and divides gradients by it.  Where one of
     *                them is not finite, no state changes but the scale, which is halved, and what
     *                counts steps; after 2,000 steps without it is doubled.  At first it is 65,536.
     * With both, sums, norms, softmax, losses, weights, gradients of weights and the optimizer's
     * moments stay float32, as do inputs and outputs.  GNNC_ERROR_USAGE: another word. */
    const char *precision;

    /* Bytes that a run may take: the data and graphs that are bound to it, the state, and what its
     * programs take, of which those that were called stay.  0: any.  Before a program takes memory
     * it is known how much.  Inference and training steps that would take more are compiled once
     * more for the run and its data, and compute again what they would keep: the same bits.  Where
     * that is not enough the call is GNNC_ERROR_MEMORY, and the message says what takes it.
     * GNNC_ERROR_USAGE: negative; with by_rows; on a GPU. */
    int64_t memory_bytes;
} gnnc_compile_options;

/* Kernels are looked up in the context's cache, and kept there. GNNC_ERROR_MODEL as above, and
 * where the model does not fit the sizes; GNNC_ERROR_USAGE: an option is out of range or names
 * nothing (with the nearest name that there is); GNNC_ERROR_DATA: sizes that are expected are
 * outside of the declared ranges; GNNC_ERROR_BACKEND: built without LLVM. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_compile(const gnnc_module *m,
                                                  const gnnc_compile_options *options,
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
    int programs;   /* that were compiled for sizes of graphs up to now, once more where schedules
                     * were chosen, and training steps for other numbers of levels of rows; kernels
                     * and distinct are of the last one */
    int recompiles; /* of them, those that a guard asked for, but for an eager one */
    int cache_hits, cache_misses; /* kernels, of all programs; both 0 without a cache */
    double all_compile_ms;        /* of all programs */
    int outputs;                  /* of the model, see gnnc_run_output_at */
    int gradients;                /* that can be asked for, see gnnc_run_gradient_at */
    int inputs;                   /* see gnnc_executable_input */
} gnnc_executable_info;
/* info->size is set by the caller. */
GNNC_API void gnnc_executable_describe(const gnnc_executable *e, gnnc_executable_info *info);

/* What is bound to a run, and what it gives. */
typedef struct gnnc_value_info {
    size_t size;
    const char *name; /* as it is bound, or asked for; lives as long as the executable, as all here
                       */
    bool graph;       /* a graph or relation, between rows of `src` and of `dst`; no tensor */
    const char *src, *dst; /* NULL of tensors */
    DLDataType type;       /* that is bound without being converted; of what is given */
    int ndim;              /* of tensors: 0 for a number */
    int64_t shape[8];      /* shape[0] is -1 where it is a number of rows that graphs or data say */
    /* Whose rows shape[0] counts: a space ("node", "paper", "graph"), with `on_edges` a graph
     * ("g", "writes"), or NULL there: one that the model derives.  "": it counts none. */
    const char *rows;
    bool on_edges;
    bool optional; /* it may be left out */
    bool learning; /* inference does not read it: training steps do, or forward passes */
} gnnc_value_info;
/* Input `k` of an executable, graphs first, of gnnc_executable_info.inputs: what its programs read.
 * info->size is set.  GNNC_ERROR_USAGE: there is none of that number. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_executable_input(const gnnc_executable *e, int k,
                                                           gnnc_value_info *info);
/* Result `k`, of gnnc_executable_info.outputs.  Of an executable compiled `by_rows` those of nodes
 * have a row for each that is named. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_executable_output(const gnnc_executable *e, int k,
                                                            gnnc_value_info *info);

/* A program of an executable: its guards, and why it was compiled. */
typedef struct gnnc_program_info {
    size_t size;
    bool eager;
    double compile_ms;
    int kernels;
    /* Guards: the program is for graphs of so many nodes and edges, both ends included; INT64_MAX:
     * any number. */
    int64_t nodes_least, nodes_most, edges_least, edges_most;
    const char *guard; /* "nodes" or "edges": the first guard of the program before it that did not
                        * hold; NULL: it is the first, or a training step for another number of
                        * levels of rows */
    int64_t guard_was, guard_is; /* what that guard asked for, and the size that came */
    const char *reason; /* the same in words, of all guards that did not hold; "" for the first
                           program */
    int levels;         /* of rows that its training step picks; 0: it computes all (`rows` in
                           gnnc_compile_options) */
} gnnc_program_info;    /* one with other schedules says what the one before it says */
/* Program `k`, in the order in which they were compiled; strings live as long as the executable.
 * GNNC_ERROR_USAGE: there is none of that number.  While other threads run the executable there may
 * be more programs than it was asked for. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_executable_program(const gnnc_executable *e, int k,
                                                             gnnc_program_info *info);

/* What was chosen for a program's inference, or its training step (tune_budget_ms). */
typedef struct gnnc_tuning_info {
    size_t size;
    bool known; /* false: nothing was chosen yet, or nothing is kept and nothing was searched for */
    const char *choices; /* in words, besides what rules say; "" for none; lives as long as the
                            executable */
    double default_us, best_us; /* medians of a run, of the program that rules make and of what was
                                   chosen */
    double noise;               /* of their ratio */
    double seconds;             /* that searches took, in all */
    int64_t rejected;           /* candidates that gave other results */
    bool finished;              /* nothing is left to be tried */
} gnnc_tuning_info;
/* Of program `k`, as gnnc_executable_program; info->size is set.  A choice that changes code makes
 * a program of its own, with the guards of the one before, behind it. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_executable_tuning(const gnnc_executable *e, int k,
                                                            bool step, gnnc_tuning_info *info);

/* Everything that was chosen so far to a file, for tune_lock; replaces it.  `gnnc tune` writes and
 * reads such files too, for its own programs.  GNNC_ERROR_USAGE: nothing was chosen yet;
 * GNNC_ERROR_IO: it cannot be written. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_executable_lock(const gnnc_executable *e,
                                                          const char *path);

/* A stage of compilation of the last program as text: "ast", "gir", "kir", "llvm", "asm"
 * (docs/architecture.md); the last two are the CPU's.  *text ends with NUL and is freed with
 * gnnc_text_free.  GNNC_ERROR_USAGE: there is no such stage (with the nearest); GNNC_ERROR_BACKEND:
 * built without LLVM. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_executable_emit(const gnnc_executable *e,
                                                          const char *stage, char **text);

/* What the compiler decided, as text for people: of each program its guards, why it was compiled,
 * what became one kernel, what each pass did.  Freed with gnnc_text_free. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_executable_explain(const gnnc_executable *e, char **text);
GNNC_API void gnnc_text_free(char *text);

/* States --------------------------------------------------------------------------------------- */

/* Fresh weights, drawn by seed as the model says; fresh moments and counters.  Equal seeds give
 * equal bytes. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_state_new(const gnnc_executable *e, uint64_t seed,
                                                    gnnc_state **out);
GNNC_API void gnnc_state_free(gnnc_state *s);

/* Weights from and to safetensors under PyTorch Geometric's names.  F16, BF16 and F64 become
 * float32, and where names differ by what torch's wrappers add (`module.`, `_orig_mod.`, `model.`)
 * they are read without; a warning under the topic "weights" says so.  What a file has besides is
 * not read, and another names it.  GNNC_ERROR_IO: the file cannot be read or written;
 * GNNC_ERROR_DATA: it is no safetensors file, or names a tensor that is missing or of the wrong
 * shape or type.  Saving replaces the file at once or not at all. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_state_load_weights(gnnc_state *s, const char *path);
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_state_save_weights(const gnnc_state *s, const char *path);

/* Everything: weights, moments, step and seed.  Training that goes on from a loaded state ends with
 * the same bytes as training that never stopped.  Weights lie in the file as
 * gnnc_state_save_weights writes them, the rest beside them, model, hyperparameters and optimizer
 * in its metadata, and the precision where it is not float32.  Loading takes a file that was saved
 * from the same model with the same sizes, hyperparameters, optimizer and precision, or a
 * checkpoint of `gnnc train` of such a one (its last weights, not its best); else GNNC_ERROR_DATA,
 * which names what differs, and the state is as it was. GNNC_ERROR_IO as above.  An executable
 * compiled without `train` keeps weights alone: it takes those of such a file by
 * gnnc_state_load_weights. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_state_load(gnnc_state *s, const char *path);
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_state_save(const gnnc_state *s, const char *path);

/* The same to and from memory: `weights` alone or everything, as the functions above have them in
 * files.  *bytes is freed with gnnc_bytes_free; what is loaded is copied.  Messages say "memory"
 * where those above name a file. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_state_save_memory(const gnnc_state *s, bool weights,
                                                            void **bytes, size_t *n);
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_state_load_memory(gnnc_state *s, bool weights,
                                                            const void *bytes, size_t n);
GNNC_API void gnnc_bytes_free(void *bytes);

/* A state of its own, equal in all. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_state_copy(const gnnc_state *s, gnnc_state **out);

/* Random draws (dropout, edges) are by this seed from now on, and by the step as ever; nothing else
 * changes.  Nothing at all where no program draws. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_state_set_seed(gnnc_state *s, uint64_t seed);

/* The learning rate of later steps, of an executable compiled with `rate_changes`; it is saved with
 * the state, whose files those without do not take.  A schedule keeps its shape, as with another
 * rate in the train block.  GNNC_ERROR_USAGE: compiled otherwise, it is negative or not finite, or
 * the schedule's is 0. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_state_set_rate(gnnc_state *s, double rate);

/* A result on validation data, which `schedule = plateau(...)` goes by: the loss, or the accuracy
 * where it has `monitor = val_accuracy`; once an epoch, behind its last step.  What it makes of it
 * is part of the state.  GNNC_ERROR_USAGE: the schedule is another, or the executable was compiled
 * without `train`. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_state_validated(gnnc_state *s, double result);

/* Parameter `k` (or by name): a view of the weights as they lie in the state, with strides, alive
 * as long as the state; writing through it changes them. *name (may be NULL) is alive as long.
 * `shape_and_strides` holds what the view points to: room for 16 numbers.  GNNC_ERROR_USAGE: there
 * is none (with the nearest name).  In a context with a GPU the view shows the weights as they are
 * now, which are fetched; what was written through it counts once gnnc_state_changed says so. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_state_weight(gnnc_state *s, int k, const char **name,
                                                       DLTensor *view,
                                                       int64_t shape_and_strides[16]);
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_state_weight_named(gnnc_state *s, const char *name,
                                                             DLTensor *view,
                                                             int64_t shape_and_strides[16]);
/* Weights were written through views, of which none is older than the last training step: a GPU
 * gets them before it computes again.  On the CPU it is as if it were not called. */
GNNC_API void gnnc_state_changed(gnnc_state *s);

/* Draws ---------------------------------------------------------------------------------------- */

/* Draws `n` truth values, each true with the probability p, as torch.Tensor.bernoulli_ does on a
 * CPU without MKL's generators.  `state` are the `bytes` of torch.get_rng_state(): mt19937, whose
 * words they are drawn of, and it is then what torch's would be behind them.  Any number of threads
 * may draw of states of their own.  GNNC_ERROR_USAGE: p is not in 0..1; GNNC_ERROR_DATA: it is no
 * such state, and is as it was. */
GNNC_API GNNC_NODISCARD gnnc_status *gnnc_draw_torch(void *state, size_t bytes, double p, size_t n,
                                                     bool *mask);

#ifdef __cplusplus
}
#endif

#include "gnnc/run.h"

#endif
