/* Gradient rules of leaves, graphs and elementwise operators. */
#include "ir/vjp.h"

/* No float comes out, or none went in. */
#define NONE(id)                                                                                   \
    bool gir_vjp_##id(gir_vjp *g)                                                                  \
    {                                                                                              \
        (void)g;                                                                                   \
        return false;                                                                              \
    }
/* The gradient is 0 everywhere, or stopped. */
#define ZERO(id)                                                                                   \
    bool gir_vjp_##id(gir_vjp *g)                                                                  \
    {                                                                                              \
        (void)g;                                                                                   \
        return true;                                                                               \
    }

NONE(INPUT)
NONE(STATE)
NONE(GRAPH)
NONE(CONST)
NONE(IOTA)
NONE(SIZE)
NONE(SELF_LOOPS)
NONE(REMOVE_LOOPS)
NONE(REMAINING_LOOPS)
NONE(REVERSE)
NONE(PATTERN)
NONE(ROW_VALUE)
NONE(SUBSET)
NONE(GROW)
NONE(RESTRICT)
NONE(ENDS)
NONE(FILTER)
NONE(WITHOUT)
NONE(GROUP)
NONE(GROUP_ROWS)
NONE(GROUP_NUMBERS)
NONE(INDEX)
NONE(NEAREST)
NONE(RANK)
NONE(DISTINCT)
NONE(SAMPLE)
NONE(CORRUPT)
NONE(DRAW)
NONE(NOT)
NONE(LT)
NONE(LE)
NONE(GT)
NONE(GE)
NONE(NLE)
NONE(EQ)
NONE(NE)
NONE(AND)
NONE(OR)
NONE(RNG_KEY)
NONE(RANDOM)
ZERO(SIGN)
ZERO(FLOOR)
ZERO(DETACH)

static gir_id add(gir_vjp *g, gir_id a, gir_id b) { return gir_op2(g->p, GIR_ADD, a, b); }
static gir_id sub(gir_vjp *g, gir_id a, gir_id b) { return gir_op2(g->p, GIR_SUB, a, b); }
static gir_id mul(gir_vjp *g, gir_id a, gir_id b) { return gir_op2(g->p, GIR_MUL, a, b); }
static gir_id quotient(gir_vjp *g, gir_id a, gir_id b) { return gir_op2(g->p, GIR_DIV, a, b); }
static gir_id neg(gir_vjp *g, gir_id a) { return gir_op1(g->p, GIR_NEG, a); }
static gir_id choose(gir_vjp *g, gir_id c, gir_id a, gir_id b)
{
    return gir_op3(g->p, GIR_SELECT, c, a, b);
}
static gir_id number(gir_vjp *g, double x) { return gir_vjp_const(g, g->v, x); }
static gir_id times(gir_vjp *g, gir_id a, double x) { return mul(g, a, number(g, x)); }
static gir_id from_one(gir_vjp *g, gir_id a) { return sub(g, number(g, 1), a); }

/* One operand: the cotangent times a derivative written in the operand a and the result v. */
#define SCALED(id, derivative)                                                                     \
    bool gir_vjp_##id(gir_vjp *g)                                                                  \
    {                                                                                              \
        gir_id a = gir_vjp_in(g, 0), v = g->v;                                                     \
        (void)a, (void)v;                                                                          \
        g->ct_in[0] = mul(g, g->ct, (derivative));                                                 \
        return true;                                                                               \
    }
SCALED(ABS, gir_op1(g->p, GIR_SIGN, a))
SCALED(EXP, v)
SCALED(EXPM1, add(g, v, number(g, 1)))
SCALED(RSQRT, times(g, mul(g, v, mul(g, v, v)), -0.5))
SCALED(RECIP, neg(g, mul(g, v, v)))
SCALED(SIN, gir_op1(g->p, GIR_COS, a))
SCALED(COS, neg(g, gir_op1(g->p, GIR_SIN, a)))
SCALED(TANH, from_one(g, mul(g, v, v)))
SCALED(SIGMOID, mul(g, v, from_one(g, v)))
SCALED(ERF, times(g, gir_op1(g->p, GIR_EXP, neg(g, mul(g, a, a))),
                  1.1283791670955126 /* 2 / sqrt(pi) */))

bool gir_vjp_NEG(gir_vjp *g)
{
    g->ct_in[0] = neg(g, g->ct);
    return true;
}

bool gir_vjp_LOG(gir_vjp *g)
{
    g->ct_in[0] = quotient(g, g->ct, gir_vjp_in(g, 0));
    return true;
}

bool gir_vjp_LOG1P(gir_vjp *g)
{
    g->ct_in[0] = quotient(g, g->ct, add(g, number(g, 1), gir_vjp_in(g, 0)));
    return true;
}

bool gir_vjp_SQRT(gir_vjp *g)
{
    g->ct_in[0] = quotient(g, mul(g, number(g, 0.5), g->ct), g->v);
    return true;
}

bool gir_vjp_CAST(gir_vjp *g)
{
    g->ct_in[0] = gir_cast(g->p, g->ct, (gn_elem)gir_type_of(g->p, gir_vjp_in(g, 0))->elem);
    return true;
}

/* arithmetic ----------------------------------------------------------------------------------- */

bool gir_vjp_ADD(gir_vjp *g)
{
    g->ct_in[0] = g->ct_in[1] = g->ct;
    return true;
}

bool gir_vjp_SUB(gir_vjp *g)
{
    g->ct_in[0] = g->ct;
    if (gir_vjp_needs(g, 1)) g->ct_in[1] = neg(g, g->ct);
    return true;
}

bool gir_vjp_MUL(gir_vjp *g)
{
    if (gir_vjp_needs(g, 0)) g->ct_in[0] = mul(g, g->ct, gir_vjp_in(g, 1));
    if (gir_vjp_needs(g, 1)) g->ct_in[1] = mul(g, g->ct, gir_vjp_in(g, 0));
    return true;
}

bool gir_vjp_DIV(gir_vjp *g)
{
    gir_id da = quotient(g, g->ct, gir_vjp_in(g, 1));
    g->ct_in[0] = da;
    if (gir_vjp_needs(g, 1)) g->ct_in[1] = neg(g, mul(g, da, g->v));
    return true;
}

/* d/da = b a^(b-1), 0 where b is 0, also at a = 0;  d/db = a^b log a where a > 0, else 0. */
bool gir_vjp_POW(gir_vjp *g)
{
    gir_id a = gir_vjp_in(g, 0), b = gir_vjp_in(g, 1), zero = number(g, 0);
    if (gir_vjp_needs(g, 0)) {
        gir_id power = gir_op2(g->p, GIR_POW, a, sub(g, b, number(g, 1)));
        gir_id da = mul(g, g->ct, mul(g, b, power));
        g->ct_in[0] = choose(g, gir_op2(g->p, GIR_EQ, b, zero), zero, da);
    }
    if (gir_vjp_needs(g, 1)) {
        gir_id db = mul(g, g->ct, mul(g, g->v, gir_op1(g->p, GIR_LOG, a)));
        g->ct_in[1] = choose(g, gir_op2(g->p, GIR_GT, a, zero), db, zero);
    }
    return true;
}

/* All of it to the one that wins, half to each of two that are equal. */
static bool extremum(gir_vjp *g, gir_op wins)
{
    gir_id zero = number(g, 0), half = mul(g, g->ct, number(g, 0.5));
    gir_id equal = gir_op2(g->p, GIR_EQ, gir_vjp_in(g, 0), gir_vjp_in(g, 1));
    for (int k = 0; k < 2; k++) {
        if (!gir_vjp_needs(g, k)) continue;
        gir_id won = gir_op2(g->p, wins, gir_vjp_in(g, k), gir_vjp_in(g, 1 - k));
        g->ct_in[k] = choose(g, won, g->ct, choose(g, equal, half, zero));
    }
    return true;
}

bool gir_vjp_MAX(gir_vjp *g) { return extremum(g, GIR_GT); }
bool gir_vjp_MIN(gir_vjp *g) { return extremum(g, GIR_LT); }

bool gir_vjp_SELECT(gir_vjp *g)
{
    gir_id c = gir_vjp_in(g, 0), zero = number(g, 0);
    if (gir_vjp_needs(g, 1)) g->ct_in[1] = choose(g, c, g->ct, zero);
    if (gir_vjp_needs(g, 2)) g->ct_in[2] = choose(g, c, zero, g->ct);
    return true;
}
