/* Gradient rules: one an operator, gir_vjp_<ID>.  Private to the IR. */
#ifndef GN_IR_VJP_H
#define GN_IR_VJP_H

#include "ir/gir.h"

typedef struct gir_vjp {
    gir_program *p;
    gir_id v;      /* the value */
    gir_id ct;     /* its cotangent, of its type */
    gir_id *ct_in; /* [n_in] cotangents of the operands: set by the rule, 0 where no gradient passes
                    */
    const bool *needs; /* [id] is the cotangent of this value of use to anyone? */
} gir_vjp;

/* True where the operator has a gradient, even one that is 0 everywhere (floor).  False where
 * asking for one makes no sense: results are no floats, or do not depend on float operands. */
#define OP(id, text, arity, cls, attrs, doc) bool gir_vjp_##id(gir_vjp *g);
#include "ir/ops.def"
#undef OP

static inline gir_id gir_vjp_in(const gir_vjp *g, int k) { return gir_in(g->p, g->v, k); }
static inline bool gir_vjp_needs(const gir_vjp *g, int k)
{
    return g->needs[gir_in(g->p, g->v, k)];
}
static inline const gir_attr *gir_vjp_attr(const gir_vjp *g) { return &gir_at(g->p, g->v)->attr; }
static inline gir_type gir_vjp_type(const gir_vjp *g, gir_id v) { return *gir_type_of(g->p, v); }

/* A constant of the type of `like`. */
static inline gir_id gir_vjp_const(const gir_vjp *g, gir_id like, double value)
{
    gir_type t = *gir_type_of(g->p, like);
    return gir_const(g->p, &t, value);
}

#endif
