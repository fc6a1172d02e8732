/* Inference: dispatch, leaves, graphs, elementwise.  Graphs of picked rows and edges are in
 * infer_pick.c, the other classes in infer_move.c. */
#include "ir/infer.h"

#include <stdarg.h>
#include <stdio.h>

bool gir_misfit(gir_rule *r, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    r->why = gn_arena_printf(r->p->arena, "%s: %s", gir_ops[r->op].text, text);
    return false;
}

static bool check_dims(gir_rule *r, const gir_type *t)
{
    if (t->rank > GIR_MAX_RANK)
        return gir_misfit(r, "%d dimensions are more than %d", t->rank, GIR_MAX_RANK);
    int64_t n = 1;
    for (int k = 0; k < t->rank; k++) {
        if (t->dim[k] < 1) return gir_misfit(r, "dimension %d is %lld", k, (long long)t->dim[k]);
        if (__builtin_mul_overflow(n, t->dim[k], &n) || n > GIR_MAX_ELEMS)
            return gir_misfit(r, "a row has more than 2^40 elements");
    }
    return true;
}

static bool check_want(gir_rule *r)
{
    const gir_type *w = r->want;
    uint32_t n = r->p->spaces.n;
    if (!w) return true;
    if (w->is_graph) {
        if (w->src >= n || w->dst >= n || w->edge >= n) return gir_misfit(r, "no such space");
        return true;
    }
    if (w->space >= n) return gir_misfit(r, "no such space");
    if (w->elem >= GN_ELEM_COUNT) return gir_misfit(r, "no such element type");
    return check_dims(r, w);
}

static bool check_operands(gir_rule *r)
{
    const gir_op_info *info = &gir_ops[r->op];
    if (info->arity < 0 ? r->n < 1 || r->n > UINT16_MAX : r->n != info->arity)
        return gir_misfit(r, "%d operands, takes %s%d", r->n, info->arity < 0 ? "at least " : "",
                          info->arity < 0 ? 1 : info->arity);
    for (int k = 0; k < r->n; k++) {
        if (r->in[k] == 0 || r->in[k] >= r->p->nodes.n)
            return gir_misfit(r, "operand %d does not exist", k + 1);
        bool free = info->cls == GIR_CLASS_GRAPH || info->cls == GIR_CLASS_EDGE;
        if (!free && gir_rule_in(r, k)->is_graph)
            return gir_misfit(r, "operand %d is a graph, a tensor is needed", k + 1);
    }
    return true;
}

typedef bool (*rule_fn)(gir_rule *);
static const rule_fn rules[GIR_OP_COUNT] = {
#define OP(id, text, arity, cls, attrs, doc) [GIR_##id] = gir_infer_##id,
#include "ir/ops.def"
#undef OP
};

bool gir_infer(gir_program *p, gir_op op, int n, const gir_id *in, const gir_attr *attr,
               const gir_type *want, gir_type *out, const char **why)
{
    static const gir_attr none = {0};
    gir_type type = {0};
    gir_rule r = {.p = p,
                  .op = op,
                  .n = n,
                  .in = in,
                  .attr = attr ? attr : &none,
                  .want = want,
                  .out = &type};
    bool ok = op > GIR_INVALID && op < GIR_OP_COUNT && check_operands(&r) && check_want(&r) &&
              rules[op](&r) && (type.is_graph || check_dims(&r, &type));
    if (ok && want && !gir_type_eq(&type, want))
        ok = gir_misfit(&r, "the result is %s, not %s", gir_type_text(p, &type),
                        gir_type_text(p, want));
    if (!ok) {
        if (why) *why = r.why ? r.why : "no such operator";
        return false;
    }
    *out = type;
    return true;
}

/* leaves --------------------------------------------------------------------------------------- */

static bool wanted_tensor(gir_rule *r)
{
    if (!r->want || r->want->is_graph) return gir_misfit(r, "needs a tensor type");
    *r->out = *r->want;
    return true;
}

static bool named_tensor(gir_rule *r)
{
    if (!r->attr->name || !*r->attr->name) return gir_misfit(r, "has no name");
    return wanted_tensor(r);
}

bool gir_infer_INPUT(gir_rule *r) { return named_tensor(r); }
bool gir_infer_STATE(gir_rule *r) { return named_tensor(r); }
bool gir_infer_CONST(gir_rule *r) { return wanted_tensor(r); }

bool gir_infer_GRAPH(gir_rule *r)
{
    if (!r->attr->name || !*r->attr->name) return gir_misfit(r, "has no name");
    if (!r->want || !r->want->is_graph) return gir_misfit(r, "needs a graph type");
    const gir_space *s = r->p->spaces.p;
    if (s[r->want->edge].kind != GIR_EDGE)
        return gir_misfit(r, "%s is not an edge space", s[r->want->edge].name);
    if (s[r->want->src].kind == GIR_NONE || s[r->want->dst].kind == GIR_NONE)
        return gir_misfit(r, "a graph needs a space at either end");
    *r->out = *r->want;
    return true;
}

bool gir_infer_IOTA(gir_rule *r)
{
    if (!wanted_tensor(r)) return false;
    if (r->out->elem == GN_BOOL) return gir_misfit(r, "an index is not bool");
    if (r->attr->i[0] < -1 || r->attr->i[0] >= r->out->rank)
        return gir_misfit(r, "no axis %lld in %s", (long long)r->attr->i[0],
                          gir_type_text(r->p, r->out));
    return true;
}

bool gir_infer_SIZE(gir_rule *r)
{
    if (r->attr->i[0] < 0 || r->attr->i[0] >= r->p->spaces.n) return gir_misfit(r, "no such space");
    *r->out = gir_tensor(GN_I64, 0, 0, NULL);
    if (r->want && !r->want->is_graph && r->want->elem != GN_BOOL) r->out->elem = r->want->elem;
    return true;
}

/* graphs --------------------------------------------------------------------------------------- */

bool gir_graph_operand(gir_rule *r, int k)
{
    if (gir_rule_in(r, k)->is_graph) return true;
    return gir_misfit(r, "operand %d is %s, a graph is needed", k + 1, gir_rule_text(r, k));
}

/* Checks the edge space that `want` names, or adds one. */
bool gir_edge_space(gir_rule *r)
{
    if (r->want && r->want->is_graph) {
        const gir_space *s = &r->p->spaces.p[r->want->edge];
        if (s->kind != GIR_EDGE) return gir_misfit(r, "%s is not an edge space", s->name);
        r->out->edge = r->want->edge;
        return true;
    }
    r->out->edge = gir_space_add(r->p, "edge", GIR_EDGE, -1);
    return r->out->edge ? true : gir_misfit(r, "too many spaces");
}

static bool derived_graph(gir_rule *r, bool reverse)
{
    if (!gir_graph_operand(r, 0)) return false;
    gir_op of = (gir_op)gir_at(r->p, r->in[0])->op;
    if (of == GIR_SUBSET || of == GIR_GROW || of == GIR_ENDS || of == GIR_RESTRICT ||
        of == GIR_DRAW || of == GIR_GROUP || gir_picks_named(gir_at(r->p, r->in[0])))
        return gir_misfit(r, "not of a graph that was restricted to picked rows");
    const gir_type *g = gir_rule_in(r, 0);
    r->out->is_graph = 1;
    r->out->src = reverse ? g->dst : g->src;
    r->out->dst = reverse ? g->src : g->dst;
    return gir_edge_space(r);
}

static bool loops(gir_rule *r)
{
    if (!gir_graph_operand(r, 0)) return false;
    const gir_type *g = gir_rule_in(r, 0);
    const gir_space *s = r->p->spaces.p;
    if (g->src != g->dst)
        return gir_misfit(r,
                          "loops need a graph from a space to itself, this one goes from %s to %s",
                          s[g->src].name, s[g->dst].name);
    return derived_graph(r, false);
}

bool gir_infer_SELF_LOOPS(gir_rule *r) { return loops(r); }
bool gir_infer_REMOVE_LOOPS(gir_rule *r) { return loops(r) && gir_same_edges(r, 0); }
bool gir_infer_REMAINING_LOOPS(gir_rule *r) { return loops(r) && gir_same_edges(r, 0); }
bool gir_infer_REVERSE(gir_rule *r) { return derived_graph(r, true); }

bool gir_infer_PATTERN(gir_rule *r)
{
    const gir_type *x = gir_rule_in(r, 0);
    if (x->is_graph || x->space == 0 || x->rank != 1)
        return gir_misfit(r, "takes a matrix with rows, like node f32[F], not %s",
                          gir_rule_text(r, 0));
    r->out->is_graph = 1;
    r->out->dst = x->space;
    if (r->want && r->want->is_graph) {
        const gir_space *s = &r->p->spaces.p[r->want->src];
        if (s->kind != GIR_FEATURE || s->size != x->dim[0])
            return gir_misfit(r, "%s is not a space of %lld features", s->name,
                              (long long)x->dim[0]);
        r->out->src = r->want->src;
        return gir_edge_space(r);
    }
    r->out->src = gir_space_add(r->p, "feature", GIR_FEATURE, gir_rule_in(r, 0)->dim[0]);
    return r->out->src ? gir_edge_space(r) : gir_misfit(r, "too many spaces");
}

/* elementwise ---------------------------------------------------------------------------------- */

enum {
    FLOAT = 1,
    INTEGER = 2,
    BOOLEAN = 4,
    UNSIGNED = 8,
    NUMBER = FLOAT | INTEGER | UNSIGNED,
    ANY = NUMBER | BOOLEAN
};

static int elem_kind(uint8_t e)
{
    if (gn_elem_is_float((gn_elem)e)) return FLOAT;
    return e == GN_BOOL ? BOOLEAN : e == GN_U8 || e == GN_U32 ? UNSIGNED : INTEGER;
}

static bool elem_in(gir_rule *r, int k, int allowed)
{
    uint8_t e = gir_rule_in(r, k)->elem;
    if (elem_kind(e) & allowed) return true;
    return gir_misfit(r, "operand %d is %s, not %s", k + 1, gn_elem_name((gn_elem)e),
                      allowed == FLOAT     ? "a float"
                      : allowed == BOOLEAN ? "bool"
                      : allowed == NUMBER  ? "a number"
                                           : "a signed number");
}

/* Operands first..n-1 have one type, of a kind that is allowed; the result has it too. */
static bool alike(gir_rule *r, int first, int allowed)
{
    for (int k = first; k < r->n; k++) {
        if (!elem_in(r, k, allowed)) return false;
        if (!gir_type_eq(gir_rule_in(r, first), gir_rule_in(r, k)))
            return gir_misfit(r, "%s and %s differ", gir_rule_text(r, first), gir_rule_text(r, k));
    }
    *r->out = *gir_rule_in(r, first);
    return true;
}

static bool compared(gir_rule *r, int allowed)
{
    if (!alike(r, 0, allowed)) return false;
    r->out->elem = GN_BOOL;
    return true;
}

#define ALIKE(id, allowed)                                                                         \
    bool gir_infer_##id(gir_rule *r) { return alike(r, 0, (allowed)); }
#define COMPARE(id, allowed)                                                                       \
    bool gir_infer_##id(gir_rule *r) { return compared(r, (allowed)); }

ALIKE(NEG, FLOAT | INTEGER)
ALIKE(ABS, FLOAT | INTEGER)
ALIKE(SIGN, FLOAT | INTEGER)
ALIKE(EXP, FLOAT)
ALIKE(EXPM1, FLOAT)
ALIKE(LOG, FLOAT)
ALIKE(LOG1P, FLOAT)
ALIKE(SQRT, FLOAT)
ALIKE(RSQRT, FLOAT)
ALIKE(RECIP, FLOAT)
ALIKE(SIN, FLOAT)
ALIKE(COS, FLOAT)
ALIKE(TANH, FLOAT)
ALIKE(SIGMOID, FLOAT)
ALIKE(ERF, FLOAT)
ALIKE(FLOOR, FLOAT)
ALIKE(NOT, BOOLEAN)
ALIKE(DETACH, ANY)
ALIKE(ADD, NUMBER)
ALIKE(SUB, NUMBER)
ALIKE(MUL, NUMBER)
ALIKE(DIV, FLOAT)
ALIKE(POW, FLOAT)
ALIKE(MAX, NUMBER)
ALIKE(MIN, NUMBER)
COMPARE(LT, NUMBER)
COMPARE(LE, NUMBER)
COMPARE(GT, NUMBER)
COMPARE(GE, NUMBER)
COMPARE(NLE, NUMBER)
COMPARE(EQ, ANY)
COMPARE(NE, ANY)
ALIKE(AND, BOOLEAN)
ALIKE(OR, BOOLEAN)

bool gir_infer_CAST(gir_rule *r)
{
    if (!r->want || r->want->is_graph) return gir_misfit(r, "needs a tensor type");
    *r->out = *gir_rule_in(r, 0);
    r->out->elem = r->want->elem;
    return true;
}

bool gir_infer_SELECT(gir_rule *r)
{
    if (!elem_in(r, 0, BOOLEAN) || !alike(r, 1, ANY)) return false;
    gir_type c = *gir_rule_in(r, 0);
    c.elem = r->out->elem;
    if (!gir_type_eq(&c, r->out))
        return gir_misfit(r, "the condition is %s, the sides are %s", gir_rule_text(r, 0),
                          gir_rule_text(r, 1));
    return true;
}

bool gir_infer_RNG_KEY(gir_rule *r)
{
    gir_type key = gir_tensor(GN_I64, 0, 0, NULL);
    for (int k = 0; k < 2; k++)
        if (!gir_type_eq(gir_rule_in(r, k), &key))
            return gir_misfit(r, "operand %d is %s, not i64[]", k + 1, gir_rule_text(r, k));
    *r->out = key;
    return true;
}

bool gir_infer_RANDOM(gir_rule *r)
{
    gir_type key = gir_tensor(GN_I64, 0, 0, NULL);
    if (!gir_type_eq(gir_rule_in(r, 0), &key))
        return gir_misfit(r, "the key is %s, not i64[]", gir_rule_text(r, 0));
    if (!wanted_tensor(r)) return false;
    if (r->out->elem != GN_F32 && r->out->elem != GN_F64)
        return gir_misfit(r, "draws f32 or f64, not %s", gn_elem_name((gn_elem)r->out->elem));
    if (r->attr->i[0] < 0 || r->attr->i[0] > UINT32_MAX)
        return gir_misfit(r, "the site is not a 32-bit number");
    return true;
}
