/* The public API's objects (include/gnnc/gnnc.h).  Objects that others are made from are
 * counted. */
#ifndef GN_API_API_H
#define GN_API_API_H

#include "base/alloc.h"
#include "base/mutex.h"
#include "gnnc/gnnc.h"
#include "tune/tune.h"

#include <stdatomic.h>
#include <string.h>

struct gnnc_context {
    atomic_int users;
    bool own_memory; /* the allocator is the user's */
    gn_allocator allocator;
    gn_listener listener; /* of diagnostics, where the user wants them */
    gnnc_context_options opt;
    bool log_cache, log_recompiles, log_tuning;
    struct gn_cache *cache; /* NULL: none */
    gn_target *target;      /* where executables run; NULL: on this processor */
    char *no_device; /* why "auto" is this processor; NULL: that was not asked for, or is not so */
};

struct gnnc_module {
    atomic_int users;
    gnnc_context *context; /* may be NULL, as everywhere */
    gn_arena arena;
    gn_ast *ast;     /* NULL: it is */
    gir_program *ir; /* a program of tensor IR */
};

struct gnnc_graph {
    atomic_int users;
    gnnc_context *context;
    gn_graph *graph;
    gnnc_graph *of; /* the one that this is a wider copy of; NULL: none */
};

/* What a gradient is of: a parameter, or an input by its name in programs. */
typedef struct api_gradient {
    const char *name; /* as callers have it */
    int param;        /* -1: an input */
    const char *data;
} api_gradient;

struct gnnc_executable {
    atomic_int users;
    gnnc_module *module; /* the syntax tree, for emit */
    gn_arena arena;
    gn_build_options opt;
    gn_model *model;
    gn_stance stance;
    int64_t bucket;
    gn_range *range_of; /* [spaces, then relations] of a schema; NULL: there is none, or any size */
    gn_guards ranges;   /* of graphs as they come; the jit, which sees them padded, has none then */
    /* What holds for programs of all sizes: states and inputs.  Without code, unless it is the
     * program of the jit. */
    const gn_build *build;
    gn_build outline;
    gn_jit *jit;
    double ms;
    gn_data_shape shape;
    /* Levels of rows that a training step can pick (build/build.h), by the data bound to `mask`; 0,
     * NULL: all are computed. */
    int levels;
    const char *mask;
    int n_gradients; /* that can be asked for */
    const api_gradient *gradient;
    gn_gradients gradients; /* the same, as programs are made by it */
    int64_t memory;         /* bytes that a run may take; 0: any */
    bool same_data;         /* of every run: what the first step counts of it is compiled in */
    gn_batch_spec results, batches; /* by_rows: of results, and of training steps; in both size is
                                       0 otherwise */
    const char *rows_mask;          /* that programs of results read */
    int rows_space;                 /* by the schema's order: what rows are named of */
    /* The same without inputs that have defaults, for runs that bind nothing to them
     * (api_default.c); [k] of the model's. */
    gnnc_compile_options asked;        /* in the arena; what they are compiled with */
    _Atomic(gnnc_executable *) others; /* made as they are asked for; owned */
    gnnc_executable *next;             /* of the others */
    uint64_t left_out;                 /* of this one */
    gn_mutex adding;
    bool has_adding;
    /* Schedules: what a search may take, or the lock that says them; one thread at a time
     * chooses. */
    double tune_seconds;
    const char *precision;        /* gn_precision_words */
    const char *lock, *lock_path; /* its text; NULL: there is none */
    gn_mutex choosing;
    bool has_mutex;
    void (*tune_made)(void *ctx, const char *candidate, gn_unit *u); /* for tests: gn_tune_wish */
    void *tune_ctx;
    const atomic_bool *tune_over;
};

struct gnnc_state {
    atomic_int users;
    gnnc_executable *exe; /* that it was made for */
    gn_state state;
    /* Of a device: tensors that it holds, and who changed them last. */
    int held;
    bool newer_there, newer_here;
    int64_t version; /* how often it was trained or loaded: draws of rows that are named hang on it
                      */
};

/* A tensor that somebody else ends, when it is let go; all 0: there is none. */
typedef struct api_managed {
    void *tensor;
    void (*end)(void *tensor);
} api_managed;

/* Data bound by name.  Borrowed, or in `own`. */
typedef struct api_data {
    char *name;
    gn_elem elem;
    int64_t rows, row_elems;
    void *data, *own;
    void *sorted;        /* on edges: in the order of the graph, padded where that is */
    bool stale;          /* that is of data that were bound before */
    void *padded;        /* on nodes: with rows up to the bucket's */
    api_managed managed; /* what it is borrowed of */
    bool on_edges, on_nodes;
    int relation; /* on edges: whose, by the schema's order; 0: of the graph */
} api_data;

enum { API_INFER, API_STEP, API_FORWARD, API_BACKWARD, API_UNITS }; /* programs of a run */

/* A result as it was given out last: of several each has its own. */
typedef struct api_result {
    int64_t shape[GIR_MAX_RANK + 1]; /* of the view */
    void *copied;                    /* and its data, where that had to be copied */
    int64_t copied_bytes;
} api_result;

/* Of a backward pass: cotangents as it reads them, and gradients as they were given out. */
typedef struct api_pulls {
    bool forwarded, pulled; /* there is something to go back over; and it was gone back over */
    int64_t version;        /* of the state, when it was computed */
    int n_results, n_gradients;
    void **cotangent;       /* [n_results] of the model's results that are floats */
    int64_t *elems;         /* of them */
    api_result *given;      /* [n_gradients] */
    int64_t (*numbers)[16]; /* their shapes and strides */
} api_pulls;

/* A weight in memory of the caller's. */
typedef struct api_weight {
    bool bound;
    DLTensor of; /* the caller's, whose shape and strides are */
    int64_t numbers[16];
    void *own; /* the same as code reads it; NULL: it lies like that */
} api_weight;

/* Where a result goes, of the caller's. */
typedef struct api_sink {
    bool bound, there; /* code writes there itself */
    DLTensor of;
    int64_t numbers[16];
} api_sink;

/* The nodes that calls are about. */
typedef struct api_rows {
    int64_t n, room, nodes;    /* nodes: that `mask` has room for */
    int64_t *row;              /* [n] in the caller's order */
    int64_t marked;            /* of them, which the mask has */
    uint8_t *mask;             /* [nodes] */
    bool named, at[API_UNITS]; /* a unit's instance is bound to them */
    int64_t version;           /* of the state, when results were bound */
} api_rows;

/* Times of a unit's calls, since profiling was switched on or its code was another. */
typedef struct api_timed {
    const gn_compiled *code; /* NULL: of none */
    gn_trace *trace;
    gn_trace_time *one, *sum; /* [launches] of the last call; of all, microseconds of its time */
    int64_t calls, bindings;  /* of the run, when it began */
    gn_arena arena;           /* rows that were asked for, and what they point to */
    bool has_arena;
    const char *by; /* what they are rows by */
    int64_t of;     /* calls that they are of */
    int n;
    const char **name; /* [n] */
    struct gn_profile_row *row;
} api_timed;
typedef struct api_capped api_capped;
typedef struct api_ahead api_ahead; /* api_ahead.c */

struct gnnc_run {
    gnnc_executable *whole; /* that it was made for */
    gnnc_executable *exe;   /* that computes: it, or one of its others */
    gnnc_state *state;
    gnnc_graph *graph;
    gn_graph *no_edges; /* in the graph's place, where the model reads no more of it than how many
                           nodes there are; NULL: it is not needed */
    gnnc_graph **relation; /* [relations of the schema] but the first, which is the graph; NULL:
                              there are none */
    gn_pool *pool;
    gn_stance stance;
    gn_graph *pattern; /* of x, where products walk its non-zeros */
    int n_data, cap;
    api_data *data;
    const gn_variant *program;            /* for graphs of the bound one's sizes, and all rows */
    const gn_variant *variant[API_UNITS]; /* whose code the units have */
    gn_unit unit[API_UNITS];              /* code, with instances of this run's */
    api_capped *capped[API_UNITS]; /* units' code, where that is of this run alone (api_cap.c);
                                      NULL: it is the variant's */
    bool bound[API_UNITS];         /* instances are up to date */
    api_rows named;
    api_ahead *ahead;  /* NULL: nothing was prepared yet */
    gn_loss_rows rows; /* that leave out enough, of the mask and the graph that are bound; levels
                          -1: not counted yet */
    int last;          /* unit that was called last */
    bool inferred;     /* there are results, */
    int from;          /* of this unit */
    api_pulls pulls;
    api_sink *sinks;     /* [results of the model]; NULL: none is bound */
    api_weight *weights; /* [parameters]; NULL: none is bound */
    gn_graph *padded;    /* the graph with what its bucket adds; NULL: as it is */
    gn_graph *padded_pattern;
    uint8_t *valid; /* [padded nodes] which of them are the user's */
    int64_t calls[API_UNITS], bindings;
    bool profiles;
    api_timed timed[API_UNITS];
    int n_results;       /* that there is room for: as many as were asked for */
    api_result *results; /* by the order of the model's outputs */
};

/* A call that uses an arena: an allocation that fails ends here. */
#define API_GUARD(arena_)                                                                          \
    jmp_buf api_oom_;                                                                              \
    (arena_)->oom = &api_oom_;                                                                     \
    if (setjmp(api_oom_)) {                                                                        \
        (arena_)->oom = NULL;                                                                      \
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %zu bytes wanted", (arena_)->wanted);                \
    }

/* Memory comes from the context's allocator, to the end of the block that this stands in. */
typedef struct api_scope {
    const gn_allocator *before;
} api_scope;
static inline api_scope api_enter(const gnnc_context *c)
{
    return (api_scope){gn_allocator_use(c && c->own_memory ? &c->allocator : NULL)};
}
static inline void api_leave(api_scope *s) { gn_allocator_use(s->before); }
#define API_MEMORY(context_)                                                                       \
    __attribute__((cleanup(api_leave))) api_scope api_scope_ = api_enter(context_)

/* The context's device is this thread's, to the end of the block. */
static inline gn_target *api_target(const gnnc_context *c) { return c ? c->target : NULL; }
static inline gn_target *api_occupy(const gnnc_context *c)
{
    gn_target_enter(api_target(c));
    return api_target(c);
}
static inline void api_quit(gn_target *const *t) { gn_target_leave(*t); }
#define API_DEVICE(context_)                                                                       \
    __attribute__((cleanup(api_quit))) gn_target *const api_device_ = api_occupy(context_)

static inline gnnc_context *api_context(const gnnc_executable *e) { return e->module->context; }

/* Structures of the caller's, which begin with the size that its header gave them.  status.c:
 * options to ours, of `known` bytes; what an older header does not have is 0.  GNNC_ERROR_USAGE:
 * less than `least`, or something is set that a newer header has and this library does not know. */
GN_NODISCARD gn_status *api_read_options(const void *from, size_t least, void *to, size_t known);
/* And as much of ours as the caller's has room for; what only a newer header has is 0.  Nothing
 * where info is NULL. */
void api_describe(void *info, const void *full, size_t known);

/* api_ahead.c: what is being prepared is forgotten, or is the step's that comes now where it is of
 * that; the rows that are named are others. */
void api_drop_ahead(gnnc_run *r);
void api_free_ahead(gnnc_run *r);
GN_NODISCARD gn_status *api_take_ahead(gnnc_run *r, bool *taken);
void api_rows_changed(gnnc_run *r);
GN_NODISCARD gn_status *api_bind_step(gnnc_run *r); /* api_run.c: on the rows that are named */
/* api_rows.c: other rows, and the mask of them; `function` is said of rows that are not there. */
GN_NODISCARD gn_status *api_name_rows(api_rows *z, int64_t n, const int64_t *rows);
GN_NODISCARD gn_status *api_fill_mask(const gnnc_run *r, api_rows *z, const char *function);

/* api_profile.c: before and after a unit runs, where calls are profiled; the end of it. */
GN_NODISCARD gn_status *api_begin_timed(gnnc_run *r, int which);
void api_end_timed(gnnc_run *r, int which);
void api_forget_timed(gnnc_run *r);

static inline gnnc_status *api_out(gn_status *s) { return (gnnc_status *)s; }

/* An argument that has to be there; and one that a result goes to, which is NULL until there is
 * one. */
#define API_NEEDS(arg)                                                                             \
    do {                                                                                           \
        if (!(arg)) return api_null(__func__, #arg);                                               \
    } while (0)
#define API_GIVES(out)                                                                             \
    do {                                                                                           \
        API_NEEDS(out);                                                                            \
        *(out) = NULL;                                                                             \
    } while (0)
gnnc_status *api_null(const char *function, const char *arg); /* status.c: GNNC_ERROR_USAGE that
                                                                 names both */

gnnc_context *api_keep_context(const gnnc_context *c); /* counts it; NULL is fine */
void api_release_context(gnnc_context *c);
/* api_module.c: a module, of what `parse` makes of a text. */
typedef gn_status *api_parse(gnnc_module *m, const char *text, size_t n, const char *name);
GN_NODISCARD gn_status *api_new_module(const gnnc_context *c, const char *text, size_t n,
                                       const char *name, api_parse *parse, gnnc_module **out);
void api_release_module(gnnc_module *m);
void api_release_graph(gnnc_graph *g);
/* api_module.c: the same graph with indices of 64 bits, which counts the first one. */
GN_NODISCARD gn_status *api_widen_graph(gnnc_graph *g, gnnc_graph **out);
void api_release_executable(gnnc_executable *e);
void api_release_state(gnnc_state *s);

/* api_context.c: a text of the caller's. */
GN_NODISCARD gn_status *api_give_text(const gn_buf *b, char **text);

/* api_state.c: on a device, the state's tensors are there as they are here; and the other way.
 * Nothing where there is none. */
GN_NODISCARD gn_status *api_send_state(gnnc_state *s);
GN_NODISCARD gn_status *api_fetch_state(gnnc_state *s);

/* api_output.c */
void api_free_results(gnnc_run *r);
int64_t api_result_bytes(const gnnc_run *r);                           /* of copies */
const gir_program *api_results_of(const gnnc_executable *e, int unit); /* whose results it gives */
/* Values on edges, which lie in the order of the graph of this output, in the user's. */
GN_NODISCARD gn_status *api_copy_edges(const gn_instance *in, const char *name, const void *from,
                                       int64_t row_bytes, api_result *to);

bool api_is_over_named_rows(const gnnc_executable *e, gir_space_id s); /* of inference */
/* api_signature.c */
int api_count_inputs(const gnnc_executable *e);
/* api_gradient.c: what options say of gradients, of which the model is known; a run's part in
 * them. */
GN_NODISCARD gn_status *api_read_gradients(gnnc_executable *e, const gnnc_compile_options *o,
                                           bool whole);
void api_forget_pulls(gnnc_run *r); /* nothing is bound any more */
void api_free_pulls(gnnc_run *r);
int64_t api_pulls_bytes(const gnnc_run *r);
/* How many tensors a backward pass reads besides, at most; and those. */
int api_count_passed(const gnnc_run *r);
int api_list_passed(const gnnc_run *r, gn_binding *b);
/* api_run.c: what a unit is bound to, with room for what it keeps; api_free_bound ends it. */
typedef struct api_bound {
    int n, n_graphs;
    gn_binding *tensors;
    gn_graph_binding *graphs;
} api_bound;
GN_NODISCARD gn_status *api_list_bound(const gnnc_run *r, const gn_unit *u, const gn_state *state,
                                       const void *dense, api_bound *out);
void api_free_bound(api_bound *b);
/* api_run.c: all instances of programs, NULL for what there is not; out: [2 * API_UNITS], so many.
 */
int api_instances(const gnnc_run *r, const gn_instance **out);
/* api_run.c: gnnc_run_bytes without graphs that programs derived. */
int64_t api_plain_bytes(const gnnc_run *r);
/* api_run.c: an instance of another unit, which has the same graphs; NULL. */
const gn_instance *api_like(const gnnc_run *r, int which);
/* api_cap.c: a unit that is about to be bound keeps to the executable's bound on memory, with code
 * of its own where it must, or GN_ERR_NOMEM says what takes it.  outline: instances that it is to
 * be bound like, the last before the first; the caller ends them.  And the end of that code. */
GN_NODISCARD gn_status *api_keep_within(gnnc_run *r, int which, gn_instance *outline[2]);
void api_drop_capped(gnnc_run *r, int which);
/* api_run.c: runs a unit; instances are made where there are none. */
GN_NODISCARD gn_status *api_run_unit(gnnc_run *r, int which);
bool api_changes_state(const gnnc_run *r, int which); /* does the unit? */
GN_NODISCARD gn_status *api_make_instances(gnnc_run *r, int which);
/* api_output.c: which result of a program has this name.  GN_ERR_USAGE: none.  And a view of it, as
 * gnnc_run_output. */
GN_NODISCARD gn_status *api_find_result(const gnnc_executable *e, const gir_program *p,
                                        const char *name, int *out);
GN_NODISCARD gn_status *api_view_result(gnnc_run *r, const char *name, DLTensor *view);
/* api_sink.c: results that code writes to where callers want them, how many at most and those; and
 * the others, copied there. */
int api_count_sinks(const gnnc_run *r);
int api_list_sinks(const gnnc_run *r, gn_binding *b);
GN_NODISCARD gn_status *api_fill_sinks(gnnc_run *r);
void api_free_sinks(gnnc_run *r);
/* api_weight.c: the memory of a state that is bound to other memory than the state's; NULL: it is
 * not.  Weights come to where code reads them, and go back from there. */
void *api_bound_weight(const gnnc_run *r, const char *name);
GN_NODISCARD gn_status *api_read_weights(gnnc_run *r);
GN_NODISCARD gn_status *api_write_weights(gnnc_run *r, int which);
void api_free_weights(gnnc_run *r);
int64_t api_weights_bytes(const gnnc_run *r);
/* api_state.c: which parameter has this name in files.  GN_ERR_USAGE: none. */
GN_NODISCARD gn_status *api_find_weight(const gn_model *m, const char *name, int *out);
/* api_state.c: a parameter's numbers as they lie in states, in the shape that files have. */
GN_NODISCARD gn_status *api_view_parameter(const gn_param *p, void *data, DLTensor *view,
                                           int64_t numbers[16]);

/* api_run.c: instances are to be made anew. */
/* Does the data lie in what the run's last inference left?  That goes with the run's instance. */
bool api_is_result(const gnnc_run *r, const void *data, int64_t bytes);
void api_unbind(gnnc_run *r);
/* Binds a unit of any build of the model to the run's graph and data, as they are arranged, and to
 * a state.  `dense`: x, where the run has none but by its non-zeros; NULL. */
GN_NODISCARD gn_status *api_bind_unit(const gnnc_run *r, gn_unit *u, const gn_state *state,
                                      const void *dense, gn_pool *pool, const gn_instance *like);

/* Of the graph as programs see it: with what its bucket adds. */
gn_sizes api_sizes(const gnnc_run *r);

/* api_tune.c: sees that schedules were chosen for a unit of the run's program, whose data is
 * arranged. Where the choice is another program the run is unbound, and *again true. */
GN_NODISCARD gn_status *api_tune(gnnc_run *r, int which, bool *again);

/* api_pad.c: makes the graph, masks and rows that the bucket of the bound graph asks for; *sizes
 * are those of the bucket. Nothing where the executable has no buckets. */
GN_NODISCARD gn_status *api_pad(gnnc_run *r, gn_sizes *sizes);
/* Data as instances read it: on edges in the graph's order, with rows for what was added.  What is
 * borrowed may have changed since, and is copied again.  GN_ERR_DATA: not as many rows as the graph
 * has. */
GN_NODISCARD gn_status *api_arrange(gnnc_run *r);
void api_drop_padding(gnnc_run *r);

/* api_ir.c: what options say does not go with programs of tensor IR; the model that one is, with
 * `train` its own training step, and what data it is of. */
GN_NODISCARD gn_status *api_check_ir_options(const gnnc_compile_options *o);
GN_NODISCARD gn_status *api_model_of_ir(gn_arena *a, const gir_program *p, bool train,
                                        gn_data_shape *shape, gn_model **out);
/* api_tables.c: spaces, relations and columns become copies of this library's size, in blocks
 * that the caller lets go, whatever happens. */
GN_NODISCARD gn_status *api_read_tables(gnnc_compile_options *o, void *block[3]);
/* api_ranges.c: what `ranges` says of rows and edges, by name; and whether what is bound is so. */
GN_NODISCARD gn_status *api_read_ranges(gnnc_executable *e, const char *text);
GN_NODISCARD gn_status *api_check_range(const gnnc_executable *e, bool edges, int place,
                                        int64_t size, const char *what, const char *name);

/* api_schema.c: is anything said of rows, relations and columns?  What goes with that; and the
 * schema of it, in `shape` too. */
bool api_has_schema(const gnnc_compile_options *o);
GN_NODISCARD gn_status *api_check_schema_options(const gnnc_compile_options *o);
GN_NODISCARD gn_status *api_make_schema(gn_arena *a, const gnnc_compile_options *o,
                                        gn_data_shape *shape);
const low_hint *api_schema_hints(gn_arena *a, const gn_schema *s, int *n);
/* api_relation.c: the graph that is bound to a relation, by its place in the schema; NULL: none.
 * The place of the relation whose edges a space has; 0: the graph's, or no relation's.  Sees that
 * graphs are bound which the unit reads. */
const gn_graph *api_relation(const gnnc_run *r, int k);
int api_relation_of(const gnnc_run *r, const gir_program *p, gir_space_id edges);
GN_NODISCARD gn_status *api_check_relations(const gnnc_run *r, const gn_unit *u);
/* GN_ERR_DATA: other numbers of rows are bound than parameters have a row for. */
GN_NODISCARD gn_status *api_check_rows(const gnnc_run *r);
GN_NODISCARD gn_status *api_new_relations(gnnc_run *r);
void api_free_relations(gnnc_run *r);
/* Makes `no_edges`, where that is needed and can be. */
GN_NODISCARD gn_status *api_stand_in(gnnc_run *r);
/* Room for those and two more. */
int api_list_relations(const gnnc_run *r, gn_graph_binding *to);
/* api_rows.c: what options say of rows that are named; the model and the other options are known.
 * Sees that rows are named and there.  Bindings of their masks, two at most: how many.  Rows of a
 * result in the order in which they are named. */
GN_NODISCARD gn_status *api_read_named_rows(gnnc_executable *e, const gnnc_compile_options *o);
bool api_is_named_mask(const gnnc_executable *e, const char *name);
GN_NODISCARD gn_status *api_find_named(gnnc_run *r, bool step);
int api_bind_named(const gnnc_run *r, gn_binding *b);
GN_NODISCARD gn_status *api_order_named(const gnnc_run *r, const void *from, int64_t row_bytes,
                                        void *to);
void api_free_named(gnnc_run *r);
/* api_bind.c: the graph, or a copy of it, as code of the run reads it; counted. */
GN_NODISCARD gn_status *api_fit_graph(const gnnc_run *r, gnnc_graph *g, gnnc_graph **out);
void api_forget_sorted(gnnc_run *r, int relation);

/* api_default.c: sees that the run's executable is that for the inputs that are bound. */
GN_NODISCARD gn_status *api_leave_out(gnnc_run *r);
/* Copies of the options that others are compiled with; others are freed with the executable. */
GN_NODISCARD gn_status *api_keep_options(gnnc_executable *e, const gnnc_compile_options *o);
void api_free_others(gnnc_executable *e);
/* api_executable.c: the same model compiled without the inputs of these bits. */
GN_NODISCARD gn_status *api_compile_other(const gnnc_executable *e, uint64_t left_out,
                                          gnnc_executable **out);
/* api_run.c: the run computes with this executable from now on. */
void api_switch(gnnc_run *r, gnnc_executable *e);
/* api_run.c: can it compute with the state? */
bool api_same_weights(const gnnc_executable *e, const gnnc_state *s);

/* api_bind.c: the name that programs have for what a caller binds under this one; NULL: there is
 * none. */
const char *api_data_name(const gnnc_run *r, const char *name);
/* api_bind.c: and the model's name for what programs call so. */
const char *api_own_name(const gnnc_run *r, const char *data);
/* api_bind.c: GNNC_ERROR_USAGE with the nearest name, and those that there are. */
enum { API_NAMES = 64 };
GN_NODISCARD gn_status *api_no_such(const gn_model *m, const char *what, const char *name, int n,
                                    const char *const *names);
/* api_bind.c: what the model says of an input, in *in (NULL: it has none of that name); what is
 * bound to it (NULL: never was anything); binds it, and takes now->own. */
const gir_node *api_find_input(const gnnc_run *r, const char *name, const gir_program **in);
api_data *api_find_data(gnnc_run *r, const char *name);
GN_NODISCARD gn_status *api_note_data(gnnc_run *r, const char *name, api_data *now);

/* api_bind.c: as gnnc_run_bind. */
GN_NODISCARD gn_status *api_bind_data(gnnc_run *r, const char *name, const DLTensor *t);
void api_let_managed_go(api_managed *m); /* api_managed.c */

/* api_tensor.c: is it a tensor of this rank that gnnc can read?  `where` names it in messages. */
GN_NODISCARD gn_status *api_check_tensor(const char *where, const DLTensor *t, int rank);
bool api_row_major(const DLTensor *t);
const void *api_first(const DLTensor *t);
/* May numbers of one type be bound, or given, as the other: int64 as int32, bytes as bools, floats
 * as floats? */
bool api_converts(gn_elem from, gn_elem to);
/* Copies rows in row-major order, converted where the element types say so; and the other way, to
 * where the tensor has them.  GN_ERR_DATA: a number that the other type does not hold. */
GN_NODISCARD gn_status *api_store_tensor(const char *where, gn_elem from, const void *data,
                                         const DLTensor *t);
GN_NODISCARD gn_status *api_copy_tensor(const char *where, const DLTensor *t, gn_elem to,
                                        void *out);
bool api_elem(const DLTensor *t, gn_elem *out); /* false: gnnc has no such element type */
DLDataType api_type(gn_elem e);

#endif
