/* Inference rules: one an operator, gir_infer_<ID>.  Private to the IR. */
#ifndef GN_IR_INFER_H
#define GN_IR_INFER_H

#include "ir/gir.h"

typedef struct gir_rule {
    gir_program *p;
    gir_op op;
    int n;
    const gir_id *in;
    const gir_attr *attr;
    const gir_type *want; /* NULL, or of a shape and spaces that exist */
    gir_type *out;
    const char *why;
} gir_rule;

/* Sets *out, or *why.  Operands exist, are as many as the operator takes, and are tensors but for
 * classes GRAPH, EDGE. */
#define OP(id, text, arity, cls, attrs, doc) bool gir_infer_##id(gir_rule *r);
#include "ir/ops.def"
#undef OP

/* false; sets why */
bool gir_misfit(gir_rule *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Is operand k a graph? */
bool gir_graph_operand(gir_rule *r, int k);
/* Is operand k, a graph, one of the same number of edges at every run? */
bool gir_same_edges(gir_rule *r, int k);
/* Checks the edge space that `want` names, or adds one. */
bool gir_edge_space(gir_rule *r);

static inline const gir_type *gir_rule_in(const gir_rule *r, int k)
{
    return gir_type_of(r->p, r->in[k]);
}

/* The type of operand k, as text. */
static inline const char *gir_rule_text(const gir_rule *r, int k)
{
    return gir_type_text(r->p, gir_rule_in(r, k));
}

#endif
