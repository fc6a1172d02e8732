/* Build: a model compiled, with no data yet; and what it takes to run it: units bound to data, a
 * state for its weights.
 *
 * A build depends on the sizes that stand in a model (features, classes), never on those of a
 * graph. */
#ifndef GN_BUILD_BUILD_H
#define GN_BUILD_BUILD_H

#include "compile/compile.h"
#include "compile/mode.h"
#include "target/target.h"
#include "frontend/frontend.h"
#include "passes/gradients.h"
#include "runtime/run/pair.h"
#include "runtime/data/tensorfile.h"
#include "runtime/state.h"

/* What one run of a pass did: how many values of each operator it left more (or less) than there
 * were. */
typedef struct gn_pass_note {
    const char *program, *pass;
    int before, after; /* values */
    int change[GIR_OP_COUNT];
} gn_pass_note;

/* What is done with one program besides what rules say: a tuner's word (tuned.h). */
typedef struct gn_pick {
    gn_without without; /* also left out */
    low_tuning schedule;
    int threads;    /* that run it; 0: all of the session's */
    int one_region; /* gn_fold */
} gn_pick;

/* Of the launches of a run: one parallel region, on a device one call. */
typedef enum gn_fold {
    GN_FOLD_BY_MODE = -1,
    GN_FOLD_NOT,
    GN_FOLD,
    GN_FOLD_ONE_KERNEL /* GN_FOLD, and on a device one kernel wherever it can be one */
} gn_fold;

bool gn_pick_folds(const gn_pick *p, gn_mode mode); /* p NULL: as the mode says */

typedef struct gn_tuned gn_tuned; /* a pick, and how it was come by: tuned.h */

typedef enum gn_unit_id { GN_UNIT_EVAL, GN_UNIT_STEP, GN_UNITS } gn_unit_id;

typedef struct gn_unit {              /* one program, compiled and (see gn_unit_bind) bound */
    gn_compiled *code, *prepare_code; /* prepare: NULL when nothing can be computed ahead */
    gn_instance *instance, *prepare;
    bool one_region; /* a run is one parallel region */
    int threads;     /* that run it; 0: all there are */
    double prepare_ms;
} gn_unit;

typedef struct gn_loss_rows { /* what a loss over a mask reads */
    int levels;               /* of rows (passes/restrict_rows.c); 0: all rows are computed */
    gn_data_facts facts;      /* all 0: of data that come later */
    int n_ends;               /* what edges between picked rows join */
    gn_ends *ends;
} gn_loss_rows;

typedef struct gn_build_options {
    gn_mode mode;
    gn_elem index;        /* of graph arrays: I32 unless a count needs I64 */
    bool sparse;          /* x is bound as CSR */
    gn_nonzeros nonzeros; /* what is known of its values, in every run */
    bool train;           /* make the training step too */
    bool judged; /* with train: eval has the validation loss, where the model watches it; it reads
                    labels then */
    bool fixed; /* training: data are the same in every step; what depends on them alone is computed
                   once */
    bool one_data;           /* every run is on data of the sizes that hints say */
    bool padded;             /* graphs have rows for their size alone: see passes/mask_rows.c */
    bool sanitize;           /* bounds checks in generated code */
    bool no_code;            /* no machine code: nothing can be run */
    bool each;               /* for a device: an object a kernel (gn_codegen_options) */
    bool objects;            /* with no_code: machine code as objects, in gn_build.objects */
    const char *cpu;         /* that is compiled for; NULL: this one */
    const gn_limits *limits; /* that schedules are made for; NULL: those of cpu */
    gn_precision precision;  /* of products of matrices */
    gn_products products;    /* who makes them on a device */
    gn_storage gathers;      /* of what edges read of nodes */
    gn_storage kept;         /* of what is kept between loops, */
    const char *wide;        /* but for this (gn_is_wide); NULL */
    int pass_limit;          /* -1: all */
    gn_loss_rows train_rows; /* of the training loss */
    const gn_batch_spec *batches;  /* that is of other rows in every step; NULL: it is not */
    const gn_batch_spec *results;  /* the same of results; NULL: they are of all rows */
    const gn_gradients *gradients; /* make these programs too; NULL: none */
    int threads;                   /* that compile; 0: as many as there are processors */
    gn_without without;            /* passes and decisions that are switched off */
    int n_hints;                   /* sizes to expect, for schedules */
    const low_hint *hints;
    struct gn_cache *cache; /* of compiled kernels (cache/cache.h); NULL: none.  Outlives runs on a
                               device */
    gn_target *target;      /* that is compiled for and run on; NULL: this processor */
    unsigned skip;          /* bit set of gn_unit_id: not made at all */
    const gn_pick *pick[GN_UNITS]; /* NULL: as rules say */
} gn_build_options;

typedef struct gn_build {
    gn_unit eval, step;               /* code NULL where there is none; see judged */
    gir_program *step_gir, *rows_gir; /* rows_gir: eval of rows that are named; else NULL */
    gn_unit forward, backward; /* with `gradients`; outputs of the first are inputs of the second */
    gir_program *gradient_gir; /* that both were split from */
    gn_image *image;           /* code of all units; end it with gn_image_free */
    gn_kernel_objects objects; /* in the order of gn_build_programs; end them with
                                  gn_kernel_objects_free */
    gn_target_code on_target;  /* gn_target_unload ends it, or the end of the target */
    gn_code_report code;
    int pass_count;
    GN_VEC(gn_pass_note) notes; /* of passes that changed something */
    double ms;
} gn_build;

/* A model's text into the arena (weights.c). GN_ERR_IO; GN_ERR_MODEL: too long. */
GN_NODISCARD gn_status *gn_read_model(gn_arena *a, const char *path, const char **text, size_t *n);

/* Everything but the image lives in the arena. */
GN_NODISCARD gn_status *gn_build_model(gn_arena *a, gn_model *m, const gn_build_options *opt,
                                       gn_build *out);

/* Programs of all units, those that there are, in the order in which they are compiled; how
 * many. */
enum { GN_BUILD_PROGRAMS = 2 * GN_UNITS + 2 };
int gn_build_programs(const gn_build *b, gn_compiled *out[GN_BUILD_PROGRAMS]);

/* Machine code for what was built with no_code; same arena and options. */
GN_NODISCARD gn_status *gn_build_code(gn_arena *a, const gn_build_options *opt, gn_build *b);

/* A loss program without its other outputs but what training updates: logits are there to be looked
 * at, but nobody does after a step, and asking for them asks for all rows. */
gir_program *gn_loss_alone(gn_arena *a, const gir_program *loss);

/* The loss program with gradients and optimizer. */
GN_NODISCARD gn_status *gn_training_step(gn_arena *a, gn_model *m, const gn_pass_options *opt,
                                         gir_program **out);

/* The model's results with gradients (gn_pass_gradients).  m->forward is there, but with
 * want->inference.  GN_ERR_MODEL, too: it draws edges. */
GN_NODISCARD gn_status *gn_gradients_of(gn_arena *a, const gn_model *m, const gn_gradients *want,
                                        const gn_pass_options *opt, gir_program **out);

/* Levels of rows (passes/restrict_rows.c) that the training step of a build can pick, and along
 * what. */
GN_NODISCARD gn_status *gn_build_needs(gn_arena *a, gn_model *m, const gn_build_options *opt,
                                       gn_row_needs *out);

/* Over how many hops messages of results come, of which opt->results asks for some.  As
 * gn_eval_of_rows. */
GN_NODISCARD gn_status *gn_build_result_hops(gn_arena *a, gn_model *m, const gn_build_options *opt,
                                             int *hops);

/* step.c: the model's evaluation for some of the rows that results are over, which the input "node"
 * GN_BATCH_MASK tells where they are nodes; *hops: over which its messages come.  GN_ERR_MODEL: no
 * result has rows of nodes, or what it is made of takes all of them. */
GN_NODISCARD gn_status *gn_eval_of_rows(gn_arena *a, const gn_model *m, const gn_pass_options *opt,
                                        gir_program **out, int *hops);

/* step.c: the same of a training step that passes are run over. */
GN_NODISCARD gn_status *gn_step_needs(gn_arena *a, const gn_model *m, const gn_pass_options *opt,
                                      gn_row_needs *out);

/* levels.c: how many levels of rows, `most` at most, leave out enough to pay for a loss over `mask`
 * (NULL: none), and how many rows and edges each has; nothing of features. */
GN_NODISCARD gn_status *gn_count_levels(const gn_graph *g, const uint8_t *mask, int most,
                                        gn_loss_rows *out);

/* The same of rows of several spaces, of which nothing but what edges join is told. */
typedef struct gn_level_walk {
    const char *name; /* of the graph, in programs */
    const gn_graph *graph;
    int src, dst;          /* spaces of the graph's ends */
    bool back;             /* messages go from its destinations to its sources */
    const char *column;    /* of those edges alone that have this value there; NULL: of all */
    const int32_t *values; /* [edges], in the graph's order */
    int64_t value;
} gn_level_walk;
typedef struct gn_typed_rows {
    int n_spaces, n_walks, labelled;
    const int64_t *rows; /* [n_spaces] */
    int64_t most_rows;   /* of a space */
    const gn_level_walk *walk;
} gn_typed_rows;
GN_NODISCARD gn_status *gn_count_typed_levels(gn_arena *a, const gn_typed_rows *t,
                                              const uint8_t *mask, int most, gn_loss_rows *out);

/* one_graph.c: what a model takes beside one graph of one type of node: a relation, rows of another
 * type, a parameter of rows; NULL: nothing. */
const char *gn_model_beyond_graph(const gn_model *m);
/* Does the program read edges of this relation, or what lies on them?  p may be NULL. */
bool gn_program_reads_relation(const gir_program *p, const char *name);

/* stages.c ------------------------------------------------------------------------------------- */

typedef struct gn_named_program {
    const char *name; /* "eval", "step_prepare", ... */
    const gn_compiled *code;
} gn_named_program;
/* those that there are */
int gn_build_named(const gn_build *b, gn_named_program out[GN_BUILD_PROGRAMS]);
/* The one of this name, and how many that is, 0 or 1; NULL: all. */
int gn_build_chosen(const gn_build *b, const char *only, gn_named_program out[GN_BUILD_PROGRAMS]);

/* A stage of all programs, or of `only` one (NULL: all), appended to `out`: text, but for objects.
 * `off`: what the build was made without. GN_ERR_BACKEND: built without LLVM. */
typedef enum gn_stage {
    GN_STAGE_GIR,
    GN_STAGE_KIR,
    GN_STAGE_LLVM,
    GN_STAGE_ASM,
    GN_STAGE_OBJ
} gn_stage;
GN_NODISCARD gn_status *gn_build_emit(const gn_build *b, gn_mode mode, gn_switches off,
                                      gn_stage stage, const char *only, gn_buf *out);

/* bind.c --------------------------------------------------------------------------------------- */

/* Makes the unit's instances, and runs once what can be computed ahead.  `tensors` has room for
 * `more` = what gn_unit_kept says behind its n.  `like` (may be NULL): a live instance to share
 * derived graphs with.  On failure the unit has no instances. */
GN_NODISCARD gn_status *gn_unit_bind(gn_unit *u, int n_graphs, const gn_graph_binding *graphs,
                                     int n, gn_binding *tensors, gn_pool *pool,
                                     const gn_instance *like);
/* What follows `before`, an instance of the unit's code that may run meanwhile, on other data of
 * which nothing was computed ahead; what was is as it was (gn_instance_next).  Then it takes the
 * place of the unit's instance (gn_instance_follow). */
GN_NODISCARD gn_status *gn_unit_bind_next(const gn_unit *u, const gn_instance *before, int n_graphs,
                                          const gn_graph_binding *graphs, int n,
                                          gn_binding *tensors, const gn_instance *like,
                                          gn_instance **out);
GN_NODISCARD gn_status *gn_unit_follow(gn_unit *u, gn_instance **next);
/* Both, one after the other. */
GN_NODISCARD gn_status *gn_unit_bind_again(gn_unit *u, int n_graphs, const gn_graph_binding *graphs,
                                           int n, gn_binding *tensors, const gn_instance *like);
void gn_unit_blank(gn_unit *u); /* before: code that does nothing, for a unit that is bound to be
                                   looked at */
int gn_unit_kept(const gn_unit *u); /* values that are computed ahead */
void gn_unit_release(gn_unit *u);   /* instances alone; the code stays */
bool gn_unit_reads(const gn_unit *u, gn_slot_kind kind, const char *name);
bool gn_unit_reads_pattern(const gn_unit *u); /* of x */

/* digest.c ------------------------------------------------------------------------------------- */

/* Of a program's text, whatever lines of the model it comes from: hexadecimal digits in the
 * arena. */
const char *gn_program_digest(gn_arena *a, const gir_program *p);

/* weights.c ------------------------------------------------------------------------------------ */

/* Adds the tensors that the model's programs keep: weights, moments, counters. */
GN_NODISCARD gn_status *gn_model_add_state(const gn_model *m, const gn_build *b, gn_state *s);
gn_fill gn_param_fill(const gn_param *p); /* how it begins */
/* Fresh weights and counters. */
/* Its programs and parameters become float64 (passes/widen.c). */
GN_NODISCARD gn_status *gn_model_widen(gn_arena *a, gn_model *m);
/* Does one of its programs tell numbers of the input apart that are near to each other? */
bool gn_model_reads_exactly(gn_arena *a, const gn_model *m, const char *input);
/* The input lies in 16 bits. */
GN_NODISCARD gn_status *gn_model_code_input(gn_arena *a, gn_model *m, const char *input,
                                            gn_elem codes);

GN_NODISCARD gn_status *gn_model_reset(const gn_model *m, gn_state *s, uint64_t seed);

/* plateau.c: a result on validation data after the last step, for a schedule that goes by those
 * (PLATEAU): a loss or an accuracy, as it says.  `r`: where states lie, too; NULL: nowhere.
 * GN_ERR_USAGE: the schedule is another, or there is no training step. */
GN_NODISCARD gn_status *gn_plateau_result(const gn_model *m, gn_state *s, gn_remote *r,
                                          double result);
int64_t gn_plateau_drops(const gn_state *s); /* how often it has lowered the rate */
/* What it keeps besides what its program reads. */
GN_NODISCARD gn_status *gn_plateau_add_state(const gn_model *m, const gn_build *b, gn_state *s);

/* GN_ERR_MODEL where a trained weight is not finite or a buffer has a NaN (it may hold an infinity
 * on purpose), with its name. */
GN_NODISCARD gn_status *gn_weights_check(const gn_model *m, const gn_state *s);
/* Weights to and from safetensors, under PyTorch Geometric's names, behind a prefix, and layouts.
 * Taking them from what `path` had: GN_ERR_DATA names a missing tensor (and the nearest there is)
 * or a shape that does not fit (expected and found); then nothing was taken. */
GN_NODISCARD gn_status *gn_weights_save(const gn_model *m, const gn_state *s, const char *path);
GN_NODISCARD gn_status *gn_weights_take(const gn_model *m, const gn_tensor_file *f,
                                        const char *path, const char *prefix, gn_state *s);
/* weights_adapt.c: before they are taken, tensors that the model reads become float32, and where
 * their names differ from the model's in what wrappers of torch add, they get the model's.  f->note
 * says what was done.  GN_ERR_DATA for a number that no float32 is, GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_weights_adapt(const gn_model *m, gn_tensor_file *f, const char *path);
/* Taking them alone: do they fit? */
GN_NODISCARD gn_status *gn_weights_fit(const gn_model *m, const gn_tensor_file *f, const char *path,
                                       const char *prefix);
/* The other way, to a file in memory. */
GN_NODISCARD gn_status *gn_weights_put(const gn_model *m, const gn_state *s, const char *prefix,
                                       gn_tensor_file *f);
/* What it has that the model does not read, as where it was saved of more layers: the first names,
 * "" for nothing. */
enum { GN_UNREAD = 256 };
void gn_weights_unread(const gn_model *m, const gn_tensor_file *f, char text[GN_UNREAD]);

#endif
