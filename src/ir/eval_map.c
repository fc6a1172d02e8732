/* Evaluator: operators of class MAP, each as a function of one element that also says how far the
 * result may be off. */
#include "base/philox.h"
#include "ir/eval_impl.h"

#include <math.h>

typedef struct num {
    double v, e; /* code has something in [v - e, v + e] */
} num;

typedef struct map_at {
    gn_elem from, to; /* element types of the last operand and of the result */
    double unit; /* relative roundoff of one operation on the result's type, by code and evaluator
                  */
    double from_unit; /* unit roundoff of the operand's type */
    bool elem;        /* results are rounded to the element type here */
    bool same;        /* the first two operands are one value */
    bool nonneg;      /* what code has for the first operand is not negative */
} map_at;

typedef num (*map_fn)(const map_at *, const num *);

/* The larger; NaN if either is. */
static double larger(double a, double b) { return a > b || isnan(a) ? a : b; }

/* v is off by `prop` because operands are, and by `units` roundings. */
static num rounded(const map_at *m, double v, double prop, double units)
{
    double e = prop + units * m->unit * (fabs(v) + prop), tiny = gir_tiny(m->to);
    if ((v != 0 || prop != 0) && fabs(v) - e < 2 * tiny) e += tiny; /* may be flushed to zero */
    return (num){v, e};
}

/* elementary functions ------------------------------------------------------------------------- */

static double recip(double x) { return 1 / x; }
static double rsqrt(double x) { return 1 / sqrt(x); }

static double sigmoid(double x)
{
    if (x >= 0) return 1 / (1 + exp(-x));
    double t = exp(x);
    return t / (1 + t);
}

/* A function that is monotone over its operand's interval. */
static num monotone(const map_at *m, double (*f)(double), num x, double units)
{
    double v = f(x.v), prop = 0;
    if (x.e > 0) {
        double lo = x.v - x.e;
        if (m->nonneg && lo < 0) lo = 0;
        if (isinf(x.e)) return (num){v, INFINITY}; /* may be a NaN */
        prop = larger(fabs(f(x.v + x.e) - v), fabs(v - f(lo))) + 0x1p-51 * fabs(v);
    }
    return rounded(m, v, prop, units);
}

#define MONOTONE(id, f, units)                                                                     \
    static num map_##id(const map_at *m, const num *x) { return monotone(m, f, x[0], units); }

/* One ulp is up to two units. */
MONOTONE(EXP, exp, 8)
MONOTONE(EXPM1, expm1, 16)
MONOTONE(LOG, log, 8)
MONOTONE(LOG1P, log1p, 16)
MONOTONE(SQRT, sqrt, 1)
MONOTONE(RSQRT, rsqrt, 3)
MONOTONE(TANH, tanh, 16)
MONOTONE(SIGMOID, sigmoid, 16)
MONOTONE(ERF, erf, 16)

static num map_RECIP(const map_at *m, const num *x)
{
    if (x[0].e > 0 && fabs(x[0].v) <= x[0].e) return (num){1 / x[0].v, INFINITY};
    return monotone(m, recip, x[0], 3);
}

static num map_SIN(const map_at *m, const num *x) { return rounded(m, sin(x[0].v), x[0].e, 16); }
static num map_COS(const map_at *m, const num *x) { return rounded(m, cos(x[0].v), x[0].e, 16); }

static num map_NEG(const map_at *m, const num *x)
{
    (void)m;
    return (num){-x[0].v, x[0].e};
}

static num map_ABS(const map_at *m, const num *x)
{
    (void)m;
    return (num){fabs(x[0].v), x[0].e};
}

static double sign_of(double x) { return isnan(x) ? x : (x > 0) - (x < 0); }

/* A step function: exact, unless its operand's interval holds a step. */
static num step(double (*f)(double), num x)
{
    double v = f(x.v);
    if (x.e == 0) return (num){v, 0};
    if (isinf(x.e)) return (num){v, INFINITY};
    return (num){v, larger(f(x.v + x.e) - v, v - f(x.v - x.e))};
}

static num map_SIGN(const map_at *m, const num *x)
{
    (void)m;
    return step(sign_of, x[0]);
}

static num map_FLOOR(const map_at *m, const num *x)
{
    (void)m;
    return step(floor, x[0]);
}

static num map_DETACH(const map_at *m, const num *x)
{
    (void)m;
    return x[0];
}

/* arithmetic ----------------------------------------------------------------------------------- */

static num map_ADD(const map_at *m, const num *x)
{
    return rounded(m, x[0].v + x[1].v, x[0].e + x[1].e, 1);
}
static num map_SUB(const map_at *m, const num *x)
{
    return rounded(m, x[0].v - x[1].v, x[0].e + x[1].e, 1);
}

static num map_MUL(const map_at *m, const num *x)
{
    double a = fabs(x[0].v), b = fabs(x[1].v);
    return rounded(m, x[0].v * x[1].v, a * x[1].e + b * x[0].e + x[0].e * x[1].e, 1);
}

static num map_DIV(const map_at *m, const num *x)
{
    double v = x[0].v / x[1].v, b = fabs(x[1].v);
    if (b <= x[1].e) return (num){v, INFINITY};
    return rounded(m, v, (x[0].e + fabs(v) * x[1].e) / (b - x[1].e), 3);
}

static num map_POW(const map_at *m, const num *x)
{
    num a = x[0], b = x[1];
    double v = pow(a.v, b.v), prop = 0;
    if (a.e == 0 && b.e == 0) return rounded(m, v, 0, 16);
    double lo = a.v - a.e;
    if (m->nonneg && lo < 0) lo = 0;
    bool whole = b.e == 0 && b.v == floor(b.v) && b.v >= 0;
    if (whole) {
        if (b.v > 0) prop = b.v * pow(fabs(a.v) + a.e, b.v - 1) * a.e;
    } else if (lo > 0 || (lo == 0 && b.v - b.e > 0)) { /* extreme at a corner */
        double hi = a.v + a.e;
        prop = larger(larger(fabs(pow(lo, b.v - b.e) - v), fabs(pow(lo, b.v + b.e) - v)),
                      larger(fabs(pow(hi, b.v - b.e) - v), fabs(pow(hi, b.v + b.e) - v)));
    } else {
        prop = INFINITY;
    }
    return rounded(m, v, prop + 0x1p-51 * fabs(v), 16);
}

/* The one of the two that may be larger, or how far the larger may be off. */
static num map_MAX(const map_at *m, const num *x)
{
    (void)m;
    double v = isnan(x[0].v) || isnan(x[1].v) ? NAN : fmax(x[0].v, x[1].v);
    if (x[0].v - x[0].e > x[1].v + x[1].e) return (num){v, x[0].e};
    if (x[1].v - x[1].e > x[0].v + x[0].e) return (num){v, x[1].e};
    return (num){v, larger(x[0].e, x[1].e)};
}

static num map_MIN(const map_at *m, const num *x)
{
    num neg[2] = {{-x[0].v, x[0].e}, {-x[1].v, x[1].e}};
    num r = map_MAX(m, neg);
    return (num){-r.v, r.e};
}

/* bools ---------------------------------------------------------------------------------------- */

/* A comparison that holds or not; may code see it otherwise? */
static num compared(const map_at *m, const num *x, bool holds)
{
    bool exact = (x[0].e == 0 && x[1].e == 0) || m->same;
    return (num){holds, !exact && !(fabs(x[0].v - x[1].v) > x[0].e + x[1].e)};
}

#define COMPARE(id, op)                                                                            \
    static num map_##id(const map_at *m, const num *x) { return compared(m, x, x[0].v op x[1].v); }
COMPARE(LT, <)
COMPARE(LE, <=)
COMPARE(GT, >)
COMPARE(GE, >=)
COMPARE(EQ, ==)
COMPARE(NE, !=)

static num map_NLE(const map_at *m, const num *x) { return compared(m, x, !(x[0].v <= x[1].v)); }

static num map_NOT(const map_at *m, const num *x)
{
    (void)m;
    return (num){x[0].v == 0, x[0].e};
}

/* Certain where both are, or where one certainly decides. */
static num both(const num *x, double decides, bool holds)
{
    bool certain = (x[0].e == 0 && x[1].e == 0) || (x[0].e == 0 && x[0].v == decides) ||
                   (x[1].e == 0 && x[1].v == decides);
    return (num){holds, !certain};
}

static num map_AND(const map_at *m, const num *x)
{
    (void)m;
    return both(x, 0, x[0].v != 0 && x[1].v != 0);
}

static num map_OR(const map_at *m, const num *x)
{
    (void)m;
    return both(x, 1, x[0].v != 0 || x[1].v != 0);
}

static num map_SELECT(const map_at *m, const num *x)
{
    (void)m;
    num taken = x[0].v != 0 ? x[1] : x[2], other = x[0].v != 0 ? x[2] : x[1];
    if (x[0].e == 0) return taken;
    return (num){taken.v, larger(taken.e, fabs(taken.v - other.v) + other.e)};
}

/* conversions ---------------------------------------------------------------------------------- */

static num cast_to_float(const map_at *m, num x)
{
    if (m->elem) {
        double v = gir_round(m->to, x.v);
        return (num){v, x.e == 0 ? 0 : x.e + m->unit * (fabs(v) + x.e)};
    }
    if (x.e == 0) return (num){x.v, fabs(gir_round(m->to, x.v) - x.v)};
    bool wider = gn_elem_is_float(m->from) && gir_unit(m->to) <= m->from_unit;
    return rounded(m, x.v, x.e, wider ? 0 : 1);
}

static num map_CAST(const map_at *m, const num *x)
{
    if (m->to == GN_BOOL) return (num){x[0].v != 0, x[0].e > 0 && fabs(x[0].v) <= x[0].e};
    if (gn_elem_is_float(m->to)) return cast_to_float(m, x[0]);
    double v = (double)gir_to_i64(x[0].v), e = 0;
    if (x[0].e > 0) e = larger(trunc(x[0].v + x[0].e) - v, v - trunc(x[0].v - x[0].e));
    return (num){v, e};
}

static num map_RNG_KEY(const map_at *m, const num *x)
{
    (void)m;
    uint64_t seed = (uint64_t)gir_to_i64(x[0].v), step = (uint64_t)gir_to_i64(x[1].v);
    return (num){(double)gn_step_key(seed, step), x[0].e + x[1].e > 0 ? INFINITY : 0};
}

/* all elements --------------------------------------------------------------------------------- */

/* x == max(x) and the like: what code sees is certain where the winner is. */
static bool certain_winner(const gir_eval_t *e, gir_id x, gir_id most, int64_t i)
{
    const gir_extremum *ex = &e->extremum[most];
    if (!ex->reduction || ex->at[i] < 0) return false;
    const gir_node *r = gir_at(e->p, ex->reduction);
    gir_id of = gir_in(e->p, ex->reduction, r->n_in - 1);
    return of == x && e->to[ex->reduction][i] == ex->at[i] && e->sure[ex->reduction][ex->at[i]];
}

static gn_status *map(gir_eval_t *e, map_fn f)
{
    const gir_node *n = gir_node_at_hand(e);
    gn_elem from = (gn_elem)gir_type_of(e->p, gir_in(e->p, e->v, n->n_in - 1))->elem;
    gir_id a = gir_in(e->p, e->v, 0), b = n->n_in > 1 ? gir_in(e->p, e->v, 1) : 0;
    map_at m = {.from = from,
                .to = (gn_elem)n->type.elem,
                .elem = e->env->precision == GIR_EVAL_ELEM,
                .same = a == b};
    m.unit = gir_unit_both(e, m.to);
    m.from_unit = gir_unit(from);
    m.nonneg = e->nonneg && e->nonneg[a];
    bool equality = e->env->bounds && (n->op == GIR_EQ || n->op == GIR_NE);
    for (int64_t i = 0; i < gir_count(e->out); i++) {
        num x[3];
        for (int k = 0; k < n->n_in; k++)
            x[k] = (num){gir_arg(e, k)->v[i], gir_err(gir_arg(e, k), i)};
        num y = f(&m, x);
        if (equality && y.e > 0 && (certain_winner(e, a, b, i) || certain_winner(e, b, a, i)))
            y.e = 0;
        e->out->v[i] = y.v;
        if (e->out->err) e->out->err[i] = y.e;
    }
    return NULL;
}

#define RULE_LEAF(id)
#define RULE_GRAPH(id)
#define RULE_MAP(id)                                                                               \
    gn_status *gir_eval_##id(gir_eval_t *e) { return map(e, map_##id); }
#define RULE_VIEW(id)
#define RULE_REDUCE(id)
#define RULE_SPACE(id)
#define RULE_EDGE(id)
#define RULE_DENSE(id)
#define RULE_RANDOM(id)
#define OP(id, text, arity, cls, attrs, doc) RULE_##cls(id)
#include "ir/ops.def"
#undef OP

#undef RULE_MAP
#define RULE_MAP(id) [GIR_##id] = map_##id,
static const map_fn maps[GIR_OP_COUNT] = {
#define OP(id, text, arity, cls, attrs, doc) RULE_##cls(id)
#include "ir/ops.def"
#undef OP
};

void gir_map_of_body(const gir_eval_t *e, const gir_program *body, gir_id v, double *value,
                     double *err)
{
    const gir_node *n = gir_at(body, v);
    num x[3];
    for (int k = 0; k < n->n_in; k++)
        x[k] = (num){value[gir_in(body, v, k)], err[gir_in(body, v, k)]};
    gn_elem to = (gn_elem)n->type.elem,
            from = (gn_elem)gir_type_of(body, gir_in(body, v, n->n_in - 1))->elem;
    bool elem = e->env->precision == GIR_EVAL_ELEM;
    map_at m = {.from = from,
                .to = to,
                .elem = elem,
                .same = n->n_in > 1 && gir_in(body, v, 0) == gir_in(body, v, 1)};
    m.unit = gir_unit_both(e, to);
    m.from_unit = gir_unit(from);
    num y = maps[n->op](&m, x);
    value[v] = elem || !gn_elem_is_float(to) ? gir_round(to, y.v) : y.v;
    bool known = isfinite(y.v) && !isnan(y.e);
    err[v] = !known ? INFINITY : to == GN_BOOL ? (y.e > 0) : y.e * (1 + 1e-9);
}

double gir_scalar(gir_op op, gn_elem from, gn_elem to, const double *x)
{
    map_at m = {.from = from, .to = to, .elem = true};
    num in[3] = {{0, 0}};
    for (int k = 0; k < gir_ops[op].arity; k++) in[k].v = x[k];
    return gir_round(to, maps[op](&m, in).v);
}
