/* node_exp: a softmax over edges takes its exponentials once a node. Needs: gradients have been
 * taken (what they read of the exponentials follows).  Keeps: all outputs, up to rounding. Breaks:
 * nothing; dead values are left behind.
 *
 *   w = exp(f(s[src] + t[dst]) - max over the row),  f(x) = x or leaky(x) = max(x, c x), 0 <= c <=
 *   1
 *
 * A softmax may subtract anything that a row's edges share (scale_free.c proves that w is used so).
 * With f(t) in the maximum's place no pass over the edges finds it, and w is the larger of two
 * products of a node's factor with another's:
 *
 *   exp(s) exp(min(0, (1 - c) t))  and  exp(c s) exp(min(0, (c - 1) t))
 *
 * No factor of t exceeds 1 and one of both is 1, so only s matters: while |s| <= RANGE nothing
 * overflows, nothing vanishes, and sums of w are as good as those of the reference, whatever t is.
 * One number a run says so, the largest |s|; where it does not hold (or is NaN) w is what it was.
 * A select says that, and lowering writes such loops twice ("versions").  The constant that keeps
 * an empty sum from being a divisor of 0 becomes smaller, as sums do.
 *
 * Declines where scores have parts of their own on the edges, where w is used otherwise than in
 * ratios, for other types than f32 and f64; and for machines with fast functions, where loops that
 * are written twice cost more than they save. */
#include "passes/passes.h"
#include "passes/rewrite.h"
#include "passes/scale_free.h"
#include "passes/softmax.h"

#include <math.h>

enum { MOST_TERMS = 8 };

/* Squares of sums of 2^20 such w, and of their reciprocals, are still numbers. */
static const double RANGE = 24;

typedef struct softmax { /* of the old program */
    gir_id w, g;
    gir_id score; /* f(e) */
    gir_id e;     /* sum of what is gathered from the ends */
    double slope; /* c; 1: f(x) = x */
    int n[2];     /* by end */
    gir_id term[2][MOST_TERMS];
} softmax;

typedef struct rewriting {
    gn_rewrite r;
    GN_VEC(softmax) all;
    bool *eps; /* by value of the old program: a constant is added to a sum of some w */
} rewriting;

/* Matching ------------------------------------------------------------------------------------- */

/* c where v = c * x. */
static bool is_multiple(const gir_program *p, gir_id v, gir_id x, double *c)
{
    if (gir_at(p, v)->op != GIR_MUL) return false;
    return (gir_in(p, v, 0) == x && gir_is_number(p, gir_in(p, v, 1), c)) ||
           (gir_in(p, v, 1) == x && gir_is_number(p, gir_in(p, v, 0), c));
}

/* Is the score leaky(e)?  Else it is e itself. */
static void find_slope(const gir_program *p, softmax *m)
{
    const gir_node *n = gir_at(p, m->score);
    gir_id e = 0;
    double c = -1, zero = -1;
    m->e = m->score;
    m->slope = 1;
    if (n->op == GIR_SELECT) {
        gir_id test = gir_in(p, m->score, 0);
        e = gir_in(p, m->score, 1);
        bool positive = (gir_at(p, test)->op == GIR_GT || gir_at(p, test)->op == GIR_GE) &&
                        gir_in(p, test, 0) == e && gir_is_number(p, gir_in(p, test, 1), &zero) &&
                        zero == 0;
        if (!positive || !is_multiple(p, gir_in(p, m->score, 2), e, &c)) return;
    } else if (n->op == GIR_MAX) {
        for (int k = 0; k < 2 && c < 0; k++) {
            e = gir_in(p, m->score, k);
            if (!is_multiple(p, gir_in(p, m->score, 1 - k), e, &c)) c = -1;
        }
    }
    if (!(c >= 0 && c <= 1)) return;
    m->e = e;
    m->slope = c;
}

static bool find_terms(const gir_program *p, softmax *m, gir_id v)
{
    const gir_node *n = gir_at(p, v);
    if (n->op == GIR_ADD)
        return find_terms(p, m, gir_in(p, v, 0)) && find_terms(p, m, gir_in(p, v, 1));
    if (n->op != GIR_GATHER || gir_in(p, v, 0) != m->g) return false;
    int end = (int)n->attr.i[0];
    if (m->n[end] == MOST_TERMS) return false;
    m->term[end][m->n[end]++] = gir_in(p, v, 1);
    return true;
}

static bool match(const gir_program *p, gir_id v, softmax *m)
{
    const gir_node *n = gir_at(p, v);
    *m = (softmax){.w = v};
    if ((n->type.elem != GN_F32 && n->type.elem != GN_F64) ||
        !gn_is_softmax(p, v, &m->g, &m->score))
        return false;
    find_slope(p, m);
    return find_terms(p, m, m->e) && m->n[GIR_SRC] > 0;
}

/* Making --------------------------------------------------------------------------------------- */

static gir_id op(rewriting *z, gir_op o, gir_id a, gir_id b)
{
    return gn_rewrite_make(&z->r, o, b ? 2 : 1, (const gir_id[]){a, b}, NULL, NULL);
}

static gir_id constant(rewriting *z, gir_id like, double x)
{
    gir_type t = *gir_type_of(z->r.to, like);
    return gn_rewrite_make(&z->r, GIR_CONST, 0, NULL, &(gir_attr){.f = x}, &t);
}

static gir_id times(rewriting *z, gir_id v, double x)
{
    return x == 1 ? v : op(z, GIR_MUL, v, constant(z, v, x));
}

static gir_id gather(rewriting *z, const softmax *m, int end, gir_id v)
{
    return gn_rewrite_make(&z->r, GIR_GATHER, 2, (const gir_id[]){z->r.map[m->g], v},
                           &(gir_attr){.i = {end}}, NULL);
}

static gir_id terms(rewriting *z, const softmax *m, int end)
{
    gir_id all = 0;
    for (int k = 0; k < m->n[end]; k++) {
        gir_id v = z->r.map[m->term[end][k]];
        all = all ? op(z, GIR_ADD, all, v) : v;
    }
    return all;
}

/* exp(min(0, x)), on edges */
static gir_id at_most_one(rewriting *z, const softmax *m, gir_id x)
{
    return gather(z, m, GIR_DST, op(z, GIR_EXP, op(z, GIR_MIN, x, constant(z, x, 0)), 0));
}

static gir_id product(rewriting *z, const softmax *m, gir_id s, gir_id t, double of_s, double of_t)
{
    gir_id v = gather(z, m, GIR_SRC, op(z, GIR_EXP, times(z, s, of_s), 0));
    return t && of_t != 0 ? op(z, GIR_MUL, v, at_most_one(z, m, times(z, t, of_t))) : v;
}

/* Are all of s so small that exponentials can be taken apart?  As a scalar. */
static gir_id in_range(rewriting *z, gir_id s)
{
    gir_id most = gn_rewrite_make(&z->r, GIR_SPACE_REDUCE, 1,
                                  (const gir_id[]){op(z, GIR_ABS, s, 0)},
                                  &(gir_attr){.i = {GIR_RED_MAX}}, NULL);
    int rank = gir_type_of(z->r.to, most)->rank;
    if (rank)
        most = gn_rewrite_make(&z->r, GIR_REDUCE, 1, &most,
                               &(gir_attr){.i = {GIR_RED_MAX, ((int64_t)1 << rank) - 1}}, NULL);
    return op(z, GIR_LE, most, constant(z, most, RANGE));
}

static gir_id apart(rewriting *z, const softmax *m)
{
    gn_rewrite *r = &z->r;
    gir_id was = gn_rewrite_copy(r, m->w), s = terms(z, m, GIR_SRC), t = terms(z, m, GIR_DST);
    gir_id w = product(z, m, s, t, 1, 1 - m->slope);
    if (m->slope != 1) {
        gir_id other = product(z, m, s, t, m->slope, m->slope - 1);
        gir_id up = op(z, GIR_GT, w, other);
        w = gn_rewrite_make(r, GIR_SELECT, 3, (const gir_id[]){up, w, other}, NULL, NULL);
    }
    gir_type cond = *gir_type_of(r->to, w);
    cond.elem = GN_BOOL;
    gir_id ok = in_range(z, s);
    ok = gn_rewrite_make(r, GIR_BROADCAST, 1, &ok, NULL, &cond);
    return gn_rewrite_make(r, GIR_SELECT, 3, (const gir_id[]){ok, w, was}, NULL, NULL);
}

/* A sum of w and the constant that no longer vanishes beside it. */
static gir_id with_less(rewriting *z, gir_id v)
{
    double c;
    gir_id a = gir_in(z->r.from, v, 0), b = gir_in(z->r.from, v, 1);
    gir_id sum = z->r.map[gir_is_number(z->r.from, b, &c) ? a : b];
    (void)gir_is_number(z->r.from, gir_at(z->r.from, b)->op == GIR_CONST ? b : a, &c);
    double tiny = gir_at(z->r.from, v)->type.elem == GN_F64 ? 1e-30 : 1e-19;
    return op(z, GIR_ADD, sum, constant(z, sum, c < tiny ? c : tiny));
}

gn_status *gn_run_node_exp(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                           gir_program **out)
{
    if (opt->fast_functions && gn_is_on(opt->without.decisions, GN_DO_EDGE_EXP)) {
        *out = (gir_program *)in;
        return NULL;
    }
    rewriting z = {.r = gn_rewrite_new(a, in), .eps = GN_NEW_N(a, bool, in->nodes.n)};
    for (gir_id v = 1; v < in->nodes.n; v++) {
        softmax m;
        bool *eps;
        if (!match(in, v, &m) || !gn_is_scale_free(a, in, v, m.g, &eps)) continue;
        GN_PUSH(a, z.all, m);
        for (gir_id u = 1; u < in->nodes.n; u++) z.eps[u] = z.eps[u] || eps[u];
    }
    uint32_t next = 0;
    for (gir_id v = 1; v < in->nodes.n; v++) {
        z.r.to->loc = gir_at(in, v)->loc;
        if (next < z.all.n && z.all.p[next].w == v)
            z.r.map[v] = apart(&z, &z.all.p[next++]);
        else if (z.eps[v])
            z.r.map[v] = with_less(&z, v);
        else
            gn_rewrite_copy(&z.r, v);
    }
    gn_rewrite_outputs(&z.r);
    *out = z.r.to;
    return NULL;
}
