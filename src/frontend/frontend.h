/* Front end: the model language to tensor IR.
 *
 * Two stages.  gn_parse reads text to a syntax tree; gn_elaborate runs it at compile time against
 * the shapes of the data: layers are instantiated, loops over layers unrolled, dims and spaces
 * checked and inferred, and two tensor IR programs come out.  Both report every error they find,
 * each with file, line, caret and what was expected, in one GN_ERR_MODEL status whose message is
 * ready to print (no colour).  docs/language.md has the grammar. Everything lives in the arena that
 * is passed in. */
#ifndef GN_FRONTEND_FRONTEND_H
#define GN_FRONTEND_FRONTEND_H

#include "base/arena.h"
#include "base/schema.h"
#include "base/status.h"
#include "frontend/diag.h"
#include "ir/gir.h"
#include "ir/train_spec.h"

typedef struct gn_ast gn_ast;

GN_NODISCARD gn_status *gn_parse(gn_arena *a, const char *text, size_t n, const char *file,
                                 gn_ast **out);
/* The listener (may be NULL) hears of what is wrong, now and when the tree is elaborated; it must
 * live as long. */
GN_NODISCARD gn_status *gn_parse_heard(gn_arena *a, const char *text, size_t n, const char *file,
                                       const gn_listener *listener, gn_ast **out);
void gn_ast_print(const gn_ast *ast, gn_buf *out); /* --emit=ast */
/* Does the model (as gn_elaborate chooses it) take the relation of this name, or with NULL all that
 * there are, as `each graph`? */
bool gn_ast_takes_relations(const gn_ast *ast, const char *model, const char *name);

/* What the data gives: binds the dims F (n_features), C (n_classes), D (edge_dim) and tells which
 * inputs exist. */
typedef struct gn_data_shape {
    int64_t n_features, n_classes, edge_dim;
    /* Rows, relations and columns; NULL: those of one graph, with what the fields here say.  A
     * first space without rows of its own (`typed`) is none. */
    const gn_schema *schema;
    bool typed;
    bool kinds;                      /* the relations behind the first are its edges by kind */
    bool has_edge_weight, has_masks; /* masks: without labels too */
    bool has_forward;                /* the model is also wanted as it trains, without a loss */
    /* a split lists some node twice or more: "train_mask.times", ... */
    bool train_repeats, val_repeats, test_repeats;
    /* Is there anything for an input of a name of its own?  Where not, one that has a default takes
     * it.  NULL: each is bound later. */
    bool (*has_input)(const void *ctx, const char *name);
    const void *ctx;
    /* Inputs that take their defaults, though there may be data for them: [n_left_out]. */
    const char *const *left_out;
    int n_left_out;
    /* What is there instead, and what is to be done, where there are none: ends of errors.  NULL:
     * nothing is said. */
    const char *no_features, *no_classes, *no_labels;
} gn_data_shape;

typedef struct gn_define {
    const char *name, *value;
} gn_define; /* -D name=value */

typedef enum gn_init_kind {
    GN_INIT_ZEROS,
    GN_INIT_ONES,
    GN_INIT_CONSTANT,     /* a */
    GN_INIT_UNIFORM,      /* [a, b) */
    GN_INIT_NORMAL,       /* mean a, deviation b */
    GN_INIT_TRUNC_NORMAL, /* the same, of what lies in [low, high] */
    GN_INIT_LIST,         /* `list` */
    /* of the shape in files, [first dim, the others]: */
    GN_INIT_EYE,        /* 1 on the diagonal */
    GN_INIT_ORTHOGONAL, /* a times orthonormal rows or columns */
    GN_INIT_SPARSE,     /* normal with deviation b; of each column the part a is 0 */
} gn_init_kind;         /* glorot, kaiming, ...: reduced to these with their fans worked out */

typedef struct gn_param {
    const char *name;      /* name of the STATE in the programs: "convs.0.weight" */
    const char *file_name; /* PyTorch Geometric's name in weight files: "convs.0.lin.weight" */
    gir_type type;         /* of a row, space none */
    const char *over;      /* the space that it has a row for each row of; NULL: none */
    int64_t rows;          /* as many; 1 without */
    bool transposed;       /* in files: [prod of dims 1.., dim 0] */
    int file_rank;         /* shape in files */
    int64_t file_dim[8];
    gn_init_kind init;
    double a, b, low, high;
    const float *list;   /* as it lies in the state */
    bool trainable;      /* false: buffers such as running statistics */
    double weight_decay; /* resolved for this parameter from the train block */
} gn_param;

typedef struct gn_model_input { /* of a model, but graphs */
    const char *name;           /* as it is declared */
    const char *data;           /* what programs call it: "x", "g.attr", or its own name */
    bool has_default;
} gn_model_input;

typedef struct gn_model {
    const char *name;
    const gn_schema *schema; /* that it was made for */
    int n_inputs;
    const gn_model_input *inputs;
    int n_params;
    gn_param *params;
    /* Programs share the names of inputs and states. Inputs: "x" node f32[F]; "y" node i32[]; masks
     * "train_mask" ... node bool[]; how often the data lists a node of one, "train_mask.times" ...
     * node f32[], where the shape has repeats; graph "g"; "g.weight" edge f32[]; "g.attr" edge
     * f32[D]; states "rng.seed", "rng.step" i64[] (read by dropout; the train pass advances the
     * step). Inputs of other names: those that a model or train block declares, "node f32[d..]" or
     * "f32[d..]". eval: dropout off, running statistics used; output "out", or
     * where the model gives several results one for each by the name of its variable, else "out0",
     * "out1", ...  loss: dropout on; outputs "loss" (scalar) and the same; updates of running
     *       statistics.  NULL when the data has no labels, and the train block names some and
     *       declares no input.  Without a train block a model gets, for its first output that is
     *       node[C], cross-entropy over train_mask and adam(lr = 0.01); one without such has no
     *       loss. */
    gir_program *eval, *loss;
    gir_program *forward;  /* results alone, and updates, of loss; NULL unless has_forward */
    gir_program *step;     /* the training step as it is, where a program of tensor IR is one; NULL:
                              it is made of loss */
    gir_program *validate; /* eval, and as output "loss" the loss of it over val_mask; NULL unless
                              gn_watches_loss */
    gn_train_spec train;
    const char *const *defaults_used; /* hyperparameters and their values, "hidden = 16", for the
                                         report */
    int n_defaults;
    const char *hyperparameters; /* all of them, "hidden = 16, p = 0.5" */
    const char *warnings;  /* of what is legal and probably not meant, as errors are shown; "" for
                              none */
    const char *optimizer; /* what a step does with gradients, "adam(lr = 0.01, ...), weight_decay =
                              ..." */
} gn_model;

/* `model`: which model of the file, NULL: the one of the train block, else the last. stdlib/ is
 * visible everywhere, and sees itself alone. */
GN_NODISCARD gn_status *gn_elaborate(gn_arena *a, const gn_ast *ast, const char *model,
                                     const gn_data_shape *shape, int n_defines,
                                     const gn_define *defines, gn_model **out);

/* Another learning rate, finite and not below 0, than the model's optimizer has.  A schedule keeps
 * its shape: the rate of every step is multiplied by what the first one is. */
void gn_model_set_rate(gn_arena *a, gn_model *m, double lr);

#endif
