/* Inside the evaluator: the run, and one function an operator, gir_eval_<ID>. */
#ifndef GN_IR_EVAL_IMPL_H
#define GN_IR_EVAL_IMPL_H

#include "ir/eval.h"

/* Where the elements of a value come from, when they are maxima or minima moved about: element k is
 * element at[k] of `reduction`, a REDUCE, SPACE_REDUCE or SCATTER.  Kept with bounds only. */
typedef struct gir_extremum {
    gir_id reduction; /* 0: none */
    int64_t *at;
} gir_extremum;

typedef struct gir_eval {
    const gir_program *p;
    const gir_env *env;
    gn_arena *arena;
    gir_value *values;
    int64_t *rows; /* of each space, -1 unknown */
    /* with bounds: */
    bool *nonneg;           /* [id] no element that code computes is negative */
    gir_extremum *extremum; /* [id] */
    int64_t **to;           /* [id] of maxima and minima: operand element -> result element */
    uint8_t **sure;         /* [id] of maxima and minima: who wins is certain */
    /* of the value at hand: */
    gir_id v;
    gir_value *out; /* sized, allocated */
} gir_eval_t;

#define OP(id, text, arity, cls, attrs, doc) gn_status *gir_eval_##id(gir_eval_t *e);
#include "ir/ops.def"
#undef OP

static inline const gir_value *gir_arg(const gir_eval_t *e, int k)
{
    return &e->values[gir_in(e->p, e->v, k)];
}
static inline const gir_node *gir_node_at_hand(const gir_eval_t *e) { return gir_at(e->p, e->v); }
static inline int64_t gir_count(const gir_value *x) { return x->rows * x->cols; }
static inline double gir_err(const gir_value *x, int64_t i) { return x->err ? x->err[i] : 0; }

/* Unit roundoff and least normal number of an element type; 0 for integers. */
double gir_unit(gn_elem e);
double gir_tiny(gn_elem e);

/* Relative roundoff of one operation, by code and by the evaluator together. */
double gir_unit_both(const gir_eval_t *e, gn_elem elem);
/* n roundings in a row (Higham's gamma_n), by code and by the evaluator together. */
double gir_gamma_both(const gir_eval_t *e, gn_elem elem, int64_t n);

/* The elementwise value v of a SCAN's body, of others' values and bounds, by number. */
void gir_map_of_body(const gir_eval_t *e, const gir_program *body, gir_id v, double *value,
                     double *err);

/* eval_graph.c: edges in the user's order to a graph; from[k] (may be NULL) goes along. */
gir_coo *gir_sort_edges(gn_arena *a, int64_t n_src, int64_t n_dst, int64_t n, const int64_t *src,
                        const int64_t *dst, const int64_t *from);
/* Between the rows of g, with no edges yet and room for n of its. */
gir_coo *gir_edges_of(gn_arena *a, const gir_coo *g, int64_t n);
/* Edge `from` of g, which keeps its place in the user's list. */
void gir_keep_edge(gir_coo *d, const gir_coo *g, int64_t from, int64_t src, int64_t dst);

/* eval_drawn.c: rows, or edges, of the graph at hand are apart; its operand `time`, if there is
 * one, has their times. */
void gir_set_apart(gir_eval_t *e, int time);
/* The groups of g's edges, where they are apart, are those of the edges at hand. */
void gir_keep_groups(gir_eval_t *e, const gir_coo *g);
gn_status *gir_grow_apart(gir_eval_t *e, const gir_coo *g, const gir_coo *also, int end);
gn_status *gir_restrict_apart(gir_eval_t *e, const gir_coo *g, const gir_coo *src,
                              const gir_coo *dst);

/* out[k] = x[from[k]], 0 where from[k] < 0; bounds and extrema go along. */
void gir_move(gir_eval_t *e, gir_id x, const int64_t *from);

/* out[t] = reduction of x[k] with to[k] == t; 0 where there are none. Keeps `to`. */
void gir_reduce_by(gir_eval_t *e, gir_id x, int64_t *to, int red);

#endif
