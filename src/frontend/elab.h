/* Elaboration: runs a model at compile time and leaves tensor IR behind.
 *
 * Numbers, lists, layers and functions are values of the elaborator; tensors and graphs are values
 * of the program being made.  What fails is reported once and becomes VAL_POISON, which everything
 * passes on in silence, so that one run finds all errors.  Work is bounded: steps, nesting,
 * sizes. */
#ifndef GN_FRONTEND_ELAB_H
#define GN_FRONTEND_ELAB_H

#include "frontend/ast.h"

enum {
    EL_MAX_STEPS = 1000000, /* expressions evaluated and elements made, all programs together */
    EL_MAX_NESTING = 1500,  /* of expressions over all calls */
    EL_MAX_DEPTH = 16,      /* of lists in lists */
    EL_MAX_CALLS = 100,     /* layers and functions inside each other */
};
#define EL_MAX_DIM ((int64_t)1 << 31)

typedef enum value_kind {
    VAL_UNSET,
    VAL_POISON,
    VAL_NONE,
    VAL_INT,
    VAL_FLOAT,
    VAL_BOOL,
    VAL_STRING,
    VAL_LIST,
    VAL_SPACE, /* node, edge, src, dst: what `over` takes */
    VAL_ROWS,  /* of a type, as an end of a relation or the key of a family: id is the space */
    VAL_AXIS,  /* name of an axis */
    VAL_TENSOR,
    VAL_GRAPH,
    VAL_END,  /* u or v of a message */
    VAL_DECL, /* layer, model or function */
    VAL_BUILTIN,
    VAL_INIT,     /* initialiser */
    VAL_INSTANCE, /* of a layer */
} value_kind;

typedef struct value value;
typedef struct instance instance;
typedef struct builtin builtin;
typedef struct builtin_call builtin_call;

typedef struct value_list {
    uint32_t n;
    int depth; /* of lists in lists */
    value *p;
    value *key; /* [n] of a family: relations or rows; NULL: a list */
} value_list;

typedef struct el_graph {
    gir_id id;
    gir_id weight; /* edge f32[], or 0: all 1 */
    const char *name;
    int key; /* the relation that it was derived from, counted from 1; 0: not known */
} el_graph;

typedef enum init_rule {
    INIT_PLAIN,
    INIT_GLOROT_UNIFORM,
    INIT_GLOROT_NORMAL,
    INIT_XAVIER_UNIFORM,
    INIT_XAVIER_NORMAL,
    INIT_KAIMING_UNIFORM,
    INIT_KAIMING_NORMAL,
} init_rule;

typedef struct el_init {
    init_rule rule;
    gn_init_kind kind;
    double a, b, low, high; /* a of a rule: the gain */
    bool fan_out;           /* KAIMING */
} el_init;

typedef struct el_axis {
    const char *name;
    value *number; /* what the name means as a number; may be VAL_UNSET */
} el_axis;

struct value {
    value_kind kind;
    gir_id id; /* TENSOR; END: which message it is of */
    union {
        int64_t i; /* INT; END: GIR_SRC or GIR_DST */
        double f;
        bool truth;
        const char *s; /* STRING, SPACE */
        value_list *list;
        const char **axes; /* TENSOR: names of its axes, NULL entries for nameless ones; NULL: none
                              has one */
        const ast_decl *decl;
        const builtin *builtin;
        const el_init *init;
        const el_axis *axis;
        instance *instance;
    } u;
    const el_graph *graph; /* GRAPH, END */
};

typedef struct child {
    const char *name;
    instance *instance; /* NULL: a parameter */
    int stamp;          /* application of the owner that last made it */
} child;

/* A layer with its hyperparameters.  Its parameters come into being when it is first applied. */
struct instance {
    const ast_decl *decl;
    value *hyper; /* [decl->hyper.n] */
    bool named;
    bool again;                /* values made in it come again in the backward pass (checkpoint) */
    const char *path;          /* "convs.0", "" for the model itself */
    const char *file_path;     /* the same in weight files */
    const gn_source *made_src; /* where it was made */
    gn_span made_at;
    gn_map dims; /* bound by its first application: name -> index into dim */
    GN_VEC(int64_t) dim;
    gn_map child_index;
    GN_VEC(child) children;
    gn_map weight_index; /* parameters, as its last application has them: name -> index */
    GN_VEC(value) weights;
    int applications;
    const gir_program *layer_in; /* of which this is its gir_layer; NULL: of none yet */
    uint16_t layer;
};

typedef struct frame {
    struct frame *up;
    const ast_decl *decl; /* NULL: a value of -D */
    const gn_source *src;
    uint16_t file;  /* its number in program->files; 0: what is compiled, and values of -D */
    gn_span call;   /* in up->src */
    instance *self; /* whose parameters are declared here; of the caller in functions */
    gn_map names;
    GN_VEC(value) values;
    gn_map buffers; /* name here -> index into elab.buffers */
    bool returned;
    value result;
    const ast_expr *ret; /* what gave it, behind `return` */
} frame;

typedef enum el_mode { MODE_EVAL, MODE_TRAIN, MODE_VAL } el_mode;

typedef struct el_buffer {
    const char *name; /* of the state */
    gir_id value;     /* now */
    bool updated;
} el_buffer;

typedef struct elab {
    gn_arena *arena;
    gn_diags *diags;
    const gn_ast *ast;
    const gn_data_shape *shape;
    const gn_schema *schema;
    GN_VEC(const gn_source *) sources;
    GN_VEC(const ast_decl *) decls;
    gn_map file_decls, stdlib_decls; /* what code of the file sees, its own first, and what code of
                                        stdlib: its own */
    GN_VEC(gn_param) params;
    gn_map param_index;
    gn_map file_names; /* of parameters */
    int64_t steps;
    int nesting, calls;
    uint32_t messages, message; /* begun so far, and the one whose body this is; 0: none */
    frame *frame;
    /* of the program being made */
    gir_program *prog;
    el_mode mode;
    gir_space_id node;     /* of data that are not typed, as is: */
    const el_graph *graph; /* NULL where they are */
    gir_space_id *space;   /* [schema->n_spaces]; 0: not made yet */
    const el_graph **relation;
    gir_space_id *value_space; /* [schema->n_columns] a row for each number that a column may have
                                */
    gir_id rng;                /* key of this step's draws */
    int64_t sites;             /* of random draws */
    gn_map leaves;             /* inputs and states by name */
    gn_map derived;            /* "op id" -> derived graph */
    GN_VEC(el_buffer) buffers;
    gn_map buffer_index;
    value output; /* of the model's last application, and what gave it behind `return` */
    const ast_expr *output_of;
    instance *root;
} elab;

/* elab_value.c --------------------------------------------------------------------------------- */
extern const value POISON, NONE;
value val_int(int64_t i);
value val_float(double f);
value val_bool(bool b);
value val_string(const char *s);
value val_list(elab *E, uint32_t n);
/* checks the elements of a list that was filled */
value el_list_done(elab *E, gn_span at, value list);
value val_tensor(gir_id id, const char **axes); /* POISON for id 0 */
bool val_is_number(const value *v);             /* INT or FLOAT */
double val_number(const value *v);
bool val_equal(const value *a, const value *b);
const char *val_text(elab *E, const value *v);    /* "node[16]", "3", "a list of 2": for messages */
const char *val_literal(elab *E, const value *v); /* as it may be written in a program */
const gir_type *val_type(const elab *E, const value *v);
const char *el_type_text(elab *E, const gir_type *t);
const char **el_axes_new(elab *E, int rank);
const char *el_axis_name(const value *v, int k);

/* with notes on how it came there; POISON */
value el_error(elab *E, gn_span at, const char *fmt, ...) GN_PRINTF(3, 4);
void el_locate(elab *E, gn_span at);          /* where the values made next come from */
bool el_step(elab *E, gn_span at, int64_t n); /* false (reported once) when the budget of work is
                                                 spent */
value *el_local(frame *f, const char *name);  /* NULL when unset */
void el_bind(elab *E, frame *f, const char *name, value v);

/* elab_expr.c */
value el_eval(elab *E, const ast_expr *e);
const gn_map *el_visible(const elab *E); /* declarations that the code which runs sees: name ->
                                            index into decls */
/* A name in weight files. */
bool el_eval_name(elab *E, const ast_expr *e, const char **out);
bool el_eval_int(elab *E, const ast_expr *e, const char *what, int64_t *out);
const char *el_suggest_name(elab *E, const char *name);
value el_lookup(elab *E, const char *name, gn_span at); /* UNSET for a name that nothing has */

/* elab_call.c */
typedef struct el_arg {
    const char *name;
    value v;
    gn_span span, at; /* of the value, and of the name where there is one */
} el_arg;
value el_call(elab *E, const ast_expr *e);
/* `f(u -> v in g: m, more)`: the message is its first argument */
value el_call_with_message(elab *E, value f, const ast_expr *e, value m);
value el_call_value(elab *E, value f, uint32_t n, const el_arg *args, gn_span mark);
value el_apply(elab *E, instance *it, uint32_t n, const el_arg *args, gn_span mark);
instance *el_instance(elab *E, const ast_decl *d, value *hyper, gn_span at);
value el_name_instances(elab *E, value v, const char *name, const char *file, gn_span at);
bool el_coerce(elab *E, const ast_formal *f, const value *given, bool strict, value *v,
               const char **why);
frame *el_push_frame(elab *E, const ast_decl *d, const gn_source *src, instance *self,
                     gn_span call);
void el_pop_frame(elab *E);

/* elab_stmt.c */
void el_block(elab *E, const ast_block *b);

/* elab_type.c */
bool el_dims(elab *E, const ast_type *t, int64_t *dim, const char **axes); /* all must be known */
bool el_match(elab *E, const ast_type *t, value *v, const char *what, frame *report, gn_span at,
              instance *remember);

/* elab_param.c */
void el_param(elab *E, const ast_stmt *s);
/* `conv.weight`: a parameter, or a layer under its name, of one that was applied. */
value el_weight_field(elab *E, const ast_expr *e, const instance *it);
void el_update(elab *E, const ast_stmt *s);

/* elab_init.c: how a parameter begins, whose shape is known where `shaped`; false: reported. */
bool el_initialiser(elab *E, const ast_expr *e, bool shaped, gn_param *p);
bool el_same_init(const gn_param *a, const gn_param *b);

/* elab_tensor.c */
gir_id el_make(elab *E, gn_span at, gir_op op, int n, const gir_id *in, const gir_attr *attr,
               const gir_type *want);
value el_unary(elab *E, gn_span at, gir_op op, value a);
value el_binary(elab *E, gn_span at, gir_op op, const char *text, value a, value b);
value el_select(elab *E, gn_span at, value c, value a, value b);
value el_reduce(elab *E, gn_span at, int red, value x, int64_t axes, bool keep);
value el_space_reduce(elab *E, gn_span at, int red, value x);
bool el_broadcast_to(elab *E, gn_span at, value v, const gir_type *want, const char *what,
                     gir_id *out);

/* elab_warn.c: after the forward pass; of what stands in a model or a train block; of a loss.
 * Silent after errors. */
void el_warn_layers(elab *E);
/* of a model, that its block may read too */
void el_warn_hyper(elab *E, const ast_decl *d, const ast_decl *train);
void el_warn_loss(elab *E, const ast_decl *train, const gir_program *loss);

/* elab_align.c: operands of one shape */
/* Brings v[0..n) to one space and shape, which *out gets (its elem set: that of numbers); POISON
 * and false where they do not fit. */
bool el_align(elab *E, gn_span at, const char *text, int n, value *v, gir_type *out,
              const char ***axes);

/* elab_matmul.c */
value el_matmul(elab *E, gn_span at, value a, value b);

/* elab_number.c: arithmetic at compile time */
value el_number_unary(elab *E, gn_span at, gir_op op, value a);
value el_number_binary(elab *E, gn_span at, ast_binary op, value a, value b);

/* elab_graph.c */
value el_message(elab *E, const ast_expr *e);
value el_gather(elab *E, gn_span at, value x, value end);
value el_end_number(elab *E, gn_span at, value end); /* of the node at that end: edge of int */
value el_graph_field(elab *E, const ast_expr *e, value g);
const el_graph *el_derive(elab *E, gn_span at, gir_op op, const el_graph *g);
/* of another value, and with attributes: drawn anew wherever it stands */
const el_graph *el_derive_with(elab *E, gn_span at, gir_op op, const el_graph *g, gir_id with,
                               const gir_attr *attr);
value el_look_up(elab *E, gn_span at, value x, value rows); /* x[i], i integers */
const el_graph *el_graph_of_space(elab *E, gir_space_id s);
/* The relation that g has some edges of, each as often as that has; else g. */
const el_graph *el_whole_of(const elab *E, const el_graph *g);
gir_id el_carry(elab *E, gn_span at, const el_graph *to, value e, value fill);
gir_id el_edge_ones(elab *E, const el_graph *g);
value el_degree(elab *E, const el_graph *g, int end, bool weighted);

/* builtin.c, builtin_*.c */
struct builtin {
    const char *name;
    const char *formals; /* "x axis? keep?": ? for those that may be left out */
    value (*call)(elab *E, const builtin_call *c);
    int op;
};
struct builtin_call {
    const builtin *b;
    gn_span mark;
    int n;        /* positional arguments, where the builtin takes any number (formals "...") */
    value arg[8]; /* VAL_UNSET: left out */
    gn_span span[8];
};
const builtin *gn_builtin_find(const char *name);
uint32_t gn_builtin_names(const char **out, uint32_t max);
value gn_builtin_call(elab *E, const builtin *b, uint32_t n, const el_arg *args, gn_span mark);

/* elab_input.c: what the data gives */
/* g, x, y, masks: by the names of a train block; UNSET */
value el_input(elab *E, const char *name, gn_span at);
/* an input of the model; UNSET: left out */
value el_model_input(elab *E, const ast_formal *f, bool only);
/* which of g, x and attr it is; NULL: data under its own name */
const char *el_data_name(const ast_formal *f, bool only);
/* It has a default, and the data nothing of its name, or it is listed as such.  `of`: its
 * el_data_name. */
bool el_left_out(const elab *E, const ast_formal *f, const char *of);
value el_data_dim(elab *E, const char *name, gn_span at); /* F, C, D; UNSET */
/* an input: how often the data lists a node; 0: once */
gir_id el_times_of_mask(elab *E, const char *mask);
gir_id el_leaf(elab *E, gir_op op, const char *name, const gir_type *t); /* one a name */
/* Rows of a type, a relation, a family, other elements than floats: a train block has it by the
 * model's name for it. */
bool el_is_typed(const ast_type *t);
void el_begin_program(elab *E, const char *name, el_mode mode);

/* elab_rows.c */
const gn_schema *el_schema(const gn_data_shape *s);
gir_space_id el_space(elab *E, int k); /* by their places in the schema */
const el_graph *el_relation(elab *E, int k);
value el_column(elab *E, int k);
/* float32 of codes (gn_schema_column) that lie in an input of this name and type. */
value el_decoded(elab *E, const char *name, gn_elem codes, const gir_type *t);
/* How many rows a space has, where that is known when a program is made, which is then made for so
 * many; -1: it is not. */
int64_t el_fixed_rows(elab *E, gir_space_id s);
int el_space_index(const elab *E, gir_space_id s);            /* -1: none of the schema's */
int el_find_space(elab *E, const char *name, gn_span at);     /* -1: reported */
int el_find_relation(elab *E, const char *name, gn_span at);  /* -1: reported */
const char *el_space_text(elab *E, gir_space_id s);           /* "node.paper" */
const char *el_relation_text(elab *E, const gir_type *g);     /* "node.author -> node.paper" */
bool el_rows_fit(elab *E, const ast_rows *r, gir_space_id s); /* binds variables */
/* Rows that a parameter may have one of each: their name, and how many; false: reported. */
bool el_rows_of(elab *E, const ast_rows *r, const char **name, int64_t *rows);
int64_t el_values(elab *E, const value *v, const char **column); /* 0: not known */
gir_space_id el_space_named(elab *E, const char *name); /* by the name that el_rows_of gave */
value el_input_relation(elab *E, const ast_formal *f);
value el_input_family(elab *E, const ast_formal *f);
int el_input_column(elab *E, const ast_formal *f, bool only); /* -1: none */
value el_missing_column(elab *E, const ast_formal *f);
value el_family(elab *E, uint32_t n); /* keys to be filled */
value el_of_family(elab *E, const ast_expr *e, value list, value key);
bool el_same_key(const elab *E, const value *a, const value *b);
const char *el_key_name(elab *E, const value *key); /* for names of weights */

/* elab_train.c */
typedef struct train_plan {
    const ast_decl *decl;
    const value *hyper;
} train_plan;
const ast_item *el_train_item(const ast_decl *d, const char *name); /* the last; NULL: none */
value el_train_setting(elab *E, const ast_decl *d, const char *name, const ast_item **item);
/* An integer of at least `least`; *out stays where there is none, or it is reported. */
void el_train_int(elab *E, const ast_decl *d, const char *name, int64_t least, int64_t *out);
/* elab_batch.c: what the block says of batches; and the edges of one in the place of the relation
 * of which it has some, in the frame of the loss. */
void el_batch(elab *E, const ast_decl *d, gn_batch_spec *s);
void el_bind_batch(elab *E, const ast_decl *d, frame *f);
value el_train_loss(elab *E, const train_plan *t);
void el_train_spec(elab *E, const train_plan *t, gn_train_spec *out);
/* elab_optimizer.c */
extern const char *const el_optimizer_names[GN_OPTIMIZERS];
/* Sets all of *s: what is not the optimizer's is 0.  Item NULL: as a block without one has it. */
void el_optimizer(elab *E, const ast_item *item, gn_train_spec *s, double *decay);
void el_schedule(elab *E, const ast_item *item, gn_train_spec *s);
/* Which of `names` the expression names or calls; -1 (reported) for none. */
int el_choice(elab *E, const ast_expr *e, const char *const *names, size_t n, const char *what);

const char *el_optimizer_text(gn_arena *a, const gn_model *m); /* elab_words.c */

#endif
