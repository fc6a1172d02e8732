/* Evaluator of the tensor IR: the definition of the operators.  Plain loops, no cleverness.
 *
 * Values are held in double whatever their element type: i64 is exact up to 2^53.  Integers wrap as
 * their type does. Two precisions: GIR_EVAL_F64 computes in double and rounds no float,
 * GIR_EVAL_ELEM rounds every result to its element type.  On request every value carries a bound,
 * propagated operator by operator, on
 *   |what code computes in the element type, by any order of summation, contracted to fma or not -
 * v| with inputs and states as given.  It allows 4 ulp to exp and log, 8 to the other
 * transcendental functions, one rounding more than IEEE to a division.  A bool that may come out
 * either way has bound 1, what may be anything (a NaN, an overflow, a root of what may be negative)
 * has INFINITY.  The bounds know that x == max(x) holds at a clear winner, so that gradients of
 * maxima have bounds too. */
#ifndef GN_IR_EVAL_H
#define GN_IR_EVAL_H

#include "ir/gir.h"
#include "ir/precision.h"

typedef enum gir_precision { GIR_EVAL_F64, GIR_EVAL_ELEM } gir_precision;

/* A graph as the evaluator sees it: edges in stable CSR order. */
typedef struct gir_coo {
    int64_t n_src, n_dst, n_edge;
    int64_t *src, *dst; /* [n_edge] sorted by dst, ties in user's order */
    int64_t *pos;       /* [n_edge] place of the edge in the user's list */
    int64_t *from; /* [n_edge] derived graphs: edge (CSR order) of the parent it came from, -1 for a
                      new loop; else NULL */
    /* where rows are apart, or edges: the group of each destination, or edge, and until when edges
     * into its rows count; else NULL */
    int64_t *group, *until;
    bool edges_apart;
} gir_coo;

/* Sorts an edge list into a gir_coo (stable). Indices must be in range. */
gir_coo *gir_coo_new(gn_arena *a, int64_t n_src, int64_t n_dst, int64_t n_edge, const int64_t *src,
                     const int64_t *dst);

typedef struct gir_value {
    int64_t rows;         /* 1 for space none */
    int64_t cols;         /* elements a row */
    double *v;            /* [rows * cols]; edge values in CSR order; bool is 0 or 1 */
    double *err;          /* [rows * cols] bounds, or NULL */
    const gir_coo *graph; /* of graph values */
} gir_value;

typedef struct gir_env {
    gn_arena *arena;
    gir_precision precision;
    bool bounds;
    gn_precision products; /* bounds allow products of f32 matrices to round their operands to this,
                              and to truncate sums */
    /* Bindings by name: graphs, inputs and states. `v` of edge-space inputs is in CSR order. */
    int n;
    const char **name;
    gir_value *value;
} gir_env;

/* What an operator of class MAP gives for one element; operands of type `from`, result of type
 * `to`.  Result rounded. */
double gir_scalar(gir_op op, gn_elem from, gn_elem to, const double *x);
double gir_round(gn_elem e, double x); /* to the nearest value of the element type, ties to even;
                                          integers wrap */
int64_t gir_to_i64(double x); /* truncates; to the nearest end of the range where it does not fit;
                                 NaN to 0 */

/* Evaluates all values that outputs need; `p` verifies. *values is indexed by gir_id (unneeded ones
 * have v == NULL). Errors: GN_ERR_DATA for a missing or misshapen binding. */
gn_status *gir_eval(const gir_program *p, const gir_env *env, gir_value **values);

#endif
