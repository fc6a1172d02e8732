/* Tensor IR ("gir"): a program is a list of values in SSA form over spaces.
 *
 * A value is a tensor or a graph.  A tensor has an element type, a space (the rows: nodes, edges,
 * none) and trailing dims, which are constants; the number of rows of a space is known at run time
 * (or pinned as a fact).  A graph is a relation from a source space to a destination space, with a
 * space of its edges.  Every operand comes before its user.  References are 32-bit indices into the
 * program; 0 is "no value".  Everything lives in the program's arena. Not thread-safe: a program
 * belongs to one compilation. */
#ifndef GN_IR_GIR_H
#define GN_IR_GIR_H

#include "base/arena.h"
#include "base/elem.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t gir_id;
typedef uint16_t gir_space_id; /* 0 is "none": a single row */

enum { GIR_MAX_RANK = 6 };
#define GIR_MAX_ELEMS ((int64_t)1 << 40) /* elements a row, checked by inference */

typedef enum gir_op {
    GIR_INVALID = 0,
#define OP(id, text, arity, cls, attrs, doc) GIR_##id,
#include "ir/ops.def"
#undef OP
    GIR_OP_COUNT
} gir_op;

typedef enum gir_class {
    GIR_CLASS_LEAF,
    GIR_CLASS_GRAPH,
    GIR_CLASS_MAP,
    GIR_CLASS_VIEW,
    GIR_CLASS_REDUCE,
    GIR_CLASS_SPACE,
    GIR_CLASS_EDGE,
    GIR_CLASS_DENSE,
    GIR_CLASS_RANDOM,
} gir_class;

enum { GIR_SUM = 0, GIR_RED_MAX = 1, GIR_RED_MIN = 2 }; /* attribute `red` */
enum { GIR_SRC = 0, GIR_DST = 1 };                      /* attribute `end` */

typedef struct gir_op_info {
    const char *text;
    int arity;
    gir_class cls;
    const char *attrs; /* names in order; i0.. then f ("value") and name ("name") */
    const char *doc;
} gir_op_info;
extern const gir_op_info gir_ops[GIR_OP_COUNT];
gir_op gir_op_by_name(const char *text); /* GIR_INVALID when there is none */

typedef struct gir_type {
    uint8_t is_graph;
    uint8_t elem; /* gn_elem */
    uint8_t rank; /* trailing dims */
    gir_space_id space;
    gir_space_id src, dst, edge; /* of a graph */
    int64_t dim[GIR_MAX_RANK];
} gir_type;

typedef enum gir_space_kind {
    GIR_NONE,
    GIR_NODE,
    GIR_EDGE,
    GIR_GRAPHS,
    GIR_FEATURE
} gir_space_kind;

typedef struct gir_space {
    const char *name; /* unique in the program; "node", "edge", "edge.1", ... */
    gir_space_kind kind;
    int64_t size; /* known number of rows, or -1 */
    gir_id graph; /* edge spaces: the graph value whose edges these are; spaces of picked rows: the
                     pick; else 0 */
} gir_space;

/* Which part of a training step it is of. */
typedef enum gir_way { GIR_FORWARD, GIR_BACKWARD, GIR_OPTIMIZER, GIR_WAYS } gir_way;
extern const char *const gir_way_name[GIR_WAYS]; /* "forward", ... */

/* Where a value comes from.  What a pass makes of a value has that one's, of equal values one keeps
 * the first's; a gradient has its operator's, but for the way. */
typedef struct gir_loc {
    uint32_t line; /* 1-based; 0 unknown */
    uint16_t col, file;
    uint32_t own;   /* line of the first file, the user's own, that stands there or called what
                       does; 0 unknown */
    uint16_t layer; /* of program->layers: the instance whose body the line stands in */
    uint8_t way;    /* gir_way */
    uint8_t again;  /* it is not kept for gradients, but made again (`checkpoint`) */
} gir_loc;

typedef struct gir_attr {
    int64_t i[4];
    double f;
    const char *name;
} gir_attr;

typedef struct gir_node {
    uint16_t op;
    uint16_t n_in;
    uint32_t first_in; /* into program->operands */
    gir_type type;
    gir_attr attr;
    gir_loc loc;
} gir_node;

typedef enum gir_output_kind { GIR_OUTPUT, GIR_UPDATE } gir_output_kind;

typedef struct gir_output {
    gir_output_kind kind; /* UPDATE replaces the state of that name when the program has run */
    const char *name;
    gir_id value;
} gir_output;

typedef struct gir_program {
    gn_arena *arena;
    const char *name;
    GN_VEC(gir_node) nodes; /* nodes.p[0] is a placeholder */
    GN_VEC(gir_id) operands;
    GN_VEC(gir_space) spaces; /* spaces.p[0] is none */
    GN_VEC(gir_output) outputs;
    GN_VEC(const struct gir_program *) bodies; /* of SCANs (gir_body) */
    GN_VEC(const char *) files;                /* of locations */
    /* Of locations: paths as weights have them, "convs.0"; GIR_LOSS: what a train block computes.
     * layers.p[0] is "": the model's own body, or not known. */
    GN_VEC(const char *) layers;
    gir_loc loc; /* given to nodes as they are made */
} gir_program;

/* Bodies of SCANs: programs of scalars, with inputs "x0", "s0", "p0", "c0" and so on, elementwise
 * operators and constants, whose outputs "s0", .. are the next states. */
typedef struct gir_body_shape {
    gn_elem elem;   /* of all of those: f32 or f64 */
    int states;     /* that it makes */
    int x, s, p, c; /* that it reads: one more than the highest number */
} gir_body_shape;
/* The number of a body in p; equal ones have one. */
int64_t gir_body(gir_program *p, const struct gir_program *body);
/* Of an input of a body: which of "xspc", and its number; 0: it is none. */
char gir_body_leaf(const struct gir_program *body, gir_id v, int *k);
/* What is wrong with a body; NULL: nothing, and *shape is set. */
const char *gir_body_misfit(gn_arena *a, const struct gir_program *body, gir_body_shape *shape);
/* Operands of a SCAN. */
typedef struct gir_scan {
    const struct gir_program *body;
    gir_id graph, s, w, c; /* 0: none */
    int first_x, n_x;      /* the operands that are of edges */
    int64_t d, n;          /* channels, states */
    gn_elem elem;
    int64_t k, q; /* states that are multiplied, and products */
    int64_t consts;
    bool reverse;
} gir_scan;
gir_scan gir_scan_of(const struct gir_program *p, gir_id v);

/* build.c -------------------------------------------------------------------------------------- */
gir_program *gir_program_new(gn_arena *a, const char *name);
#define GIR_LOSS "(loss)" /* no path of a layer */
/* The number of that layer, new or not; 0 where there are more than 65,535. */
uint16_t gir_layer(gir_program *p, const char *path);
/* Is a location one of a layer's instance that has a path? */
bool gir_is_in_layer(const gir_program *p, gir_loc at);
gir_space_id gir_space_add(gir_program *p, const char *name, gir_space_kind kind,
                           int64_t size); /* or name.1 */

static inline gir_node *gir_at(const gir_program *p, gir_id v) { return &p->nodes.p[v]; }
static inline const gir_type *gir_type_of(const gir_program *p, gir_id v)
{
    return &p->nodes.p[v].type;
}
static inline gir_id gir_in(const gir_program *p, gir_id v, int k)
{
    return p->operands.p[p->nodes.p[v].first_in + (uint32_t)k];
}
int64_t gir_row_elems(const gir_type *t); /* product of dims; 1 for rank 0 */
bool gir_type_eq(const gir_type *a, const gir_type *b);
gir_type gir_tensor(gn_elem e, gir_space_id s, int rank, const int64_t *dim);
const char *gir_type_text(const gir_program *p, const gir_type *t); /* "node f32[16]"; in the arena
                                                                     */

/* Result type of an operator.  `want` gives the type where operands do not determine it (leaves,
 * const, cast, broadcast, reshape, slice, pad, random); elsewhere it is NULL or must be the result.
 * Graph operators add their new spaces to the program, or check those that `want` names.  False:
 * *why says what is wrong in the user's terms (in the arena). */
bool gir_infer(gir_program *p, gir_op op, int n, const gir_id *in, const gir_attr *attr,
               const gir_type *want, gir_type *out, const char **why);

/* Appends a value.  Types are inferred; returns 0 and sets *why (may be NULL) when they do not
 * fit. */
gir_id gir_make(gir_program *p, gir_op op, int n, const gir_id *in, const gir_attr *attr,
                const gir_type *want, const char **why);

/* Appends a value of a known type, unchecked: for code that copies.  A graph becomes the graph of
 * its edge space. */
gir_id gir_append(gir_program *p, gir_op op, int n, const gir_id *in, const gir_attr *attr,
                  const gir_type *type);

/* The same for code that knows its types fit (passes, gradients); a misfit is a defect and gives a
 * value that the verifier reports. */
gir_id gir_op1(gir_program *p, gir_op op, gir_id a);
gir_id gir_op2(gir_program *p, gir_op op, gir_id a, gir_id b);
gir_id gir_op3(gir_program *p, gir_op op, gir_id a, gir_id b, gir_id c);
gir_id gir_const(gir_program *p, const gir_type *t, double value);
gir_id gir_cast(gir_program *p, gir_id a, gn_elem e);
/* a itself when it has that type */
gir_id gir_broadcast(gir_program *p, gir_id a, const gir_type *to);
gir_id gir_reshape(gir_program *p, gir_id a, int rank, const int64_t *dim);
gir_id gir_transpose(gir_program *p, gir_id a); /* of the two axes of a matrix */
gir_id gir_reduce(gir_program *p, gir_id a, int red, int64_t axes);
gir_id gir_space_reduce(gir_program *p, gir_id a, int red);
gir_id gir_gather(gir_program *p, gir_id g, gir_id x, int end);
gir_id gir_scatter(gir_program *p, gir_id g, gir_id e, int end, int red);
gir_id gir_matmul(gir_program *p, gir_id a, gir_id b, bool ta, bool tb);
/* Graphs of picked rows and edges.  r and s: 0 for none; s without r is not. */
gir_id gir_grow(gir_program *p, gir_id r, gir_id g, gir_id s, int end);
gir_id gir_ends(gir_program *p, gir_id g, gir_id s, int ends); /* s: 0 for none */
gir_id gir_filter(gir_program *p, gir_id g, gir_id mask);
gir_id gir_index(gir_program *p, gir_id i, gir_space_id of);
gir_id gir_sample(gir_program *p, gir_id g, gir_id key, int64_t most, uint32_t site);
typedef struct gir_drawing { /* attributes of DRAW */
    int64_t most;            /* INT64_MAX: all */
    uint32_t site;
    int loops;     /* gn_draw_loops */
    int how;       /* gn_draw_how */
    gir_id weight; /* 0: all alike */
    gir_id time;   /* 0: none */
} gir_drawing;
gir_id gir_group_rows(gir_program *p, gir_id h);
gir_id gir_group_numbers(gir_program *p, gir_id h, gir_space_id of);
gir_id gir_without(gir_program *p, gir_id g, gir_id h, bool either);
gir_id gir_draw(gir_program *p, gir_id g, gir_id key, gir_id r, const gir_drawing *how);
gir_id gir_corrupt(gir_program *p, gir_id g, gir_id key, int64_t times, int end, uint32_t site);
gir_id gir_leaf(gir_program *p, gir_op op, const char *name, const gir_type *t); /* INPUT, STATE */
/* adds the edge space */
gir_id gir_graph(gir_program *p, const char *name, gir_space_id src, gir_space_id dst);
gir_id gir_leaf_by_name(const gir_program *p, gir_op op, const char *name); /* 0 when absent */
void gir_output_add(gir_program *p, gir_output_kind kind, const char *name, gir_id value);
/* Result k of a forward pass: its outputs but the loss, in order; NULL: there are fewer. */
const gir_output *gir_result(const gir_program *p, int k);

/* Does a graph value pick rows, with repeats where data say so? */
static inline bool gir_picks_named(const gir_node *n)
{
    return n->op == GIR_INDEX || n->op == GIR_GROUP_ROWS || n->op == GIR_GROUP_NUMBERS;
}
/* Does a graph value pick rows: SUBSET, GROW, ENDS, one of those, or such a one seen from other
 * picked rows (RESTRICT of its sources)?  Edge k of a pick ends at row k. */
bool gir_is_pick(const gir_program *p, gir_id g);
/* A pick of each row once at most, into a space of its own? */
static inline bool gir_picks_new(const gir_node *n)
{
    return n->op == GIR_SUBSET || n->op == GIR_GROW || n->op == GIR_ENDS;
}
/* Does it make the space that it ends in? */
static inline bool gir_makes_rows(const gir_node *n)
{
    return gir_picks_new(n) || n->op == GIR_GROUP;
}
/* Does a graph value pick each row once at most: one of those, or what RESTRICT leaves of one? */
bool gir_picks_once(const gir_program *p, gir_id g);

/* Does the ENDS r name all rows at those ends of g? */
bool gir_names_ends(const gir_program *p, gir_id r, gir_id g, int ends);
/* How many rows an edge of ENDS v's graph can name that none names which v's other pick does. */
int gir_new_ends(const gir_program *p, gir_id v);
/* Of operands of a RESTRICT: do its picks name all ends that they pick, so that all edges are left
 * and it has those of its graph? */
bool gir_keeps_edges(const gir_program *p, int n, const gir_id *in, int64_t ends);
/* Has the graph an edge space of its own?  Else those of its operand. */
static inline bool gir_owns_edges(const gir_program *p, gir_id g)
{
    const gir_node *n = gir_at(p, g);
    return n->op != GIR_RESTRICT ||
           !gir_keeps_edges(p, n->n_in, &p->operands.p[n->first_in], n->attr.i[0]);
}

/* Data: whole numbers and bools, one a row, that come of inputs alone by way of constants,
 * comparisons, gathers and carries.  The runtime knows them before a program runs, so that graphs
 * are made of them.  The value that stands against it, or 0: v is data. */
gir_id gir_not_data(const gir_program *p, gir_id v);
/* Does a graph, or data, come of edges that are drawn anew (SAMPLE, CORRUPT)?  It has as many edges
 * or rows at every run, but others. */
bool gir_is_drawn(const gir_program *p, gir_id v);
/* Of a drawn INDEX: does each row come as often at every run, in another order alone?  So do
 * numbers that are carried to a CORRUPT, which has as many edges for each. */
bool gir_is_reordered(const gir_program *p, gir_id g);
/* How many edges a derived graph has, where that depends on the sizes of spaces alone, which the
 * program knows; -1: not known.  Of others what their space says. */
int64_t gir_known_edges(const gir_program *p, gir_id g);
enum { GIR_MOST_NEAREST = 64 }; /* rows, of NEAREST */
/* Does it find rows by numbers, or numbers of rows, that the program computes? */
static inline bool gir_numbers_rows(const gir_node *n)
{
    return n->op == GIR_NEAREST || n->op == GIR_ROWS_AT || n->op == GIR_SUM_AT ||
           n->op == GIR_RANK || n->op == GIR_DISTINCT;
}
/* Does it go along the edges into each row in their order? */
static inline bool gir_goes_along(const gir_node *n)
{
    return n->op == GIR_SCAN || n->op == GIR_BESIDE || n->op == GIR_OUTER;
}
/* Has it a loop of its own, over operands that lie in memory? */
static inline bool gir_is_alone(const gir_node *n)
{
    return gir_numbers_rows(n) || gir_goes_along(n);
}
/* Does what it says of a row hang on all others, of no graph, that there are? */
static inline bool gir_compares_rows(const gir_node *n)
{
    return n->op == GIR_NEAREST || (n->op == GIR_RANK && n->n_in == 1) || n->op == GIR_DISTINCT;
}

/* Has it edges that are drawn, itself? */
static inline bool gir_draws_edges(const gir_node *n)
{
    return n->op == GIR_SAMPLE || n->op == GIR_CORRUPT;
}
/* Where the attribute `once` is: edges are drawn where data are bound, and not at every run. */
static inline int64_t *gir_once(gir_node *n)
{
    return gir_draws_edges(n) ? &n->attr.i[n->op == GIR_SAMPLE ? 2 : 3] : NULL;
}
/* Are they drawn anew at every run? */
static inline bool gir_redraws_edges(const gir_node *n)
{
    return gir_draws_edges(n) && !n->attr.i[n->op == GIR_SAMPLE ? 2 : 3];
}
/* Are its operands that are no graphs read by the runtime alone, which makes edges of them? */
static inline bool gir_reads_data(const gir_node *n)
{
    return n->op == GIR_FILTER || n->op == GIR_INDEX || n->op == GIR_DRAW || n->op == GIR_GROUP ||
           n->op == GIR_GROUP_NUMBERS || (n->op == GIR_SUBSET && n->n_in > 1) || gir_draws_edges(n);
}
/* Of a DRAW: the operands by which edges are drawn, and their times; 0: none. */
gir_id gir_draw_weight(const gir_program *p, gir_id v);
gir_id gir_draw_time(const gir_program *p, gir_id v);
/* The graph that is bound, of which g comes edge by edge, by loops, filters and turns; 0: of none.
 */
gir_id gir_bound_graph(const gir_program *p, gir_id g);
/* Has a graph rows, or edges, that are apart (SUBSET and FILTER of ops.def)? */
bool gir_is_apart(const gir_program *p, gir_id g);
/* The space that an operator's attribute names; 0: none. */
static inline gir_space_id gir_named_space(const gir_node *n)
{
    bool names = n->op == GIR_SIZE || n->op == GIR_INDEX || n->op == GIR_GROUP_NUMBERS;
    return names ? (gir_space_id)n->attr.i[0] : 0;
}

/* The value that tells how many rows a space has at run time: an edge space's graph, a pick, else
 * the first graph or input over the space.  0 where none is needed (none, a known size) or there is
 * none.  Whoever drops values keeps this one. */
gir_id gir_space_source(const gir_program *p, gir_space_id s);

/* [n] by value: operands and outputs that it is */
uint32_t *gir_count_uses(gn_arena *a, const gir_program *p);
bool gir_is_number(const gir_program *p, gir_id v, double *x); /* a const; *x is set if so */
bool gir_is_zero(const gir_program *p, gir_id v);              /* the const 0 */

/* Copies value `v` of `from` into `to` with operands replaced by map[] (indexed by ids of `from`);
 * spaces of `from` must have been copied with gir_clone_spaces.  The basis of every pass that
 * rebuilds a program. */
/* spaces, files and layers; `to` is fresh */
void gir_clone_frame(gir_program *to, const gir_program *from);
gir_id gir_clone_node(gir_program *to, const gir_program *from, gir_id v, const gir_id *map);
/* all, of the values that map says */
void gir_clone_outputs(gir_program *to, const gir_program *from, const gir_id *map);
/* all of it, the same ids; names stay where they are */
gir_program *gir_clone(gn_arena *a, const gir_program *from);

/* text.c, parse.c ------------------------------------------------------------------------------ */
/* Text form, one value a line; parse(print(p)) is the identity (same ids, spaces, attributes,
 * outputs; doubles as %.17g). A line starts with `file`, `space`, a value or `output`/`update`; `;`
 * begins a comment; a reader takes a value without its type where operands determine it.
 *   program @step {
 *     file model.gnn                         ; of locations
 *     space node node ?                      ; name kind size
 *     space edge edge ? of %1
 *     %1 = graph "g" : graph<node -> node, edge>
 *     %2 = input "x" : node f32[1433]        @ model.gnn:12:7
 *     %3 = state "conv.lin.weight" : f32[1433, 16]
 *     %4 = matmul %2, %3 {ta = 0, tb = 0} : node f32[16] @ conv.gnn:9:5 from 12 in convs.0 backward
 *     output "logits" %4
 *     update "conv.lin.weight" %9
 *   } */
void gir_print(const gir_program *p, gn_buf *out);
gn_status *gir_parse(gn_arena *a, const char *text, size_t n, const char *origin,
                     gir_program **out);

/* verify.c lists the invariants; GN_ERR_INTERNAL with the value and the rule it breaks. */
gn_status *gir_verify(const gir_program *p);

/* grad.c, vjp*.c: appends the cotangents of `loss` (a float scalar: space none, rank 0) with
 * respect to wrt[0..n); grads[k] is 0-filled (a const) where loss does not depend on wrt[k].
 * GN_ERR_MODEL where an operator on the way has no gradient (names it and its source line). */
gn_status *gir_grad(gir_program *p, gir_id loss, int n, const gir_id *wrt, gir_id *grads);
/* The same of several values at once, floats of any type: ct[k] is the cotangent of of[k], a value
 * of its type. */
gn_status *gir_pull(gir_program *p, int n_of, const gir_id *of, const gir_id *ct, int n,
                    const gir_id *wrt, gir_id *grads);

#endif
