/* The generator: types, leaves, ranges of values, pairs of operators. */
#include "support/random_gir_impl.h"

#include <math.h>
#include <string.h>

uint32_t rnd(gen *z, uint32_t n)
{
    uint64_t x = z->state += 0x9E3779B97F4A7C15u; /* splitmix64 */
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return n ? (uint32_t)((x ^ x >> 31) >> 32) % n : 0;
}

int kind_of(const gir_type *t)
{
    if (t->is_graph) return GRAPHS;
    return gn_elem_is_float((gn_elem)t->elem) ? FLOATS : t->elem == GN_BOOL ? BOOLS : INTS;
}

/* ranges --------------------------------------------------------------------------------------- */

static range hull(range a, range b) { return (range){fmin(a.lo, b.lo), fmax(a.hi, b.hi)}; }

static range product(range a, range b)
{
    range r = {fmin(a.lo * b.lo, a.lo * b.hi), fmax(a.lo * b.lo, a.lo * b.hi)};
    return (range){fmin(r.lo, fmin(a.hi * b.lo, a.hi * b.hi)),
                   fmax(r.hi, fmax(a.hi * b.lo, a.hi * b.hi))};
}

static range monotone(range a, double (*f)(double)) { return (range){f(a.lo), f(a.hi)}; }

static range inverse(range a)
{
    if (a.lo > 0 || a.hi < 0) return (range){1 / a.hi, 1 / a.lo};
    return (range){-INFINITY, INFINITY};
}

/* Of n terms, or of unknown rows, that may be none. */
static range summed(range a, double n, bool maybe_none)
{
    range r = {a.lo * n, a.hi * n};
    if (a.lo > 0) r.lo = a.lo;
    if (a.hi < 0) r.hi = a.hi;
    return maybe_none ? hull(r, (range){0, 0}) : r;
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static range map_range(const gir_node *n, range a, range b)
{
    switch (n->op) {
    case GIR_NEG: return (range){-a.hi, -a.lo};
    case GIR_ABS:
        return (range){a.lo > 0 ? a.lo : a.hi < 0 ? -a.hi : 0, fmax(fabs(a.lo), fabs(a.hi))};
    case GIR_EXP: return monotone(a, exp);
    case GIR_EXPM1: return monotone(a, expm1);
    case GIR_LOG: return monotone(a, log);
    case GIR_LOG1P: return monotone(a, log1p);
    case GIR_SQRT: return monotone(a, sqrt);
    case GIR_RSQRT: return inverse(monotone(a, sqrt));
    case GIR_RECIP: return inverse(a);
    case GIR_TANH: return monotone(a, tanh);
    case GIR_SIGMOID: return monotone(a, sigmoid);
    case GIR_ERF: return monotone(a, erf);
    case GIR_FLOOR: return monotone(a, floor);
    case GIR_SIN: return a.lo >= 0 && a.hi <= 1.5 ? monotone(a, sin) : (range){-1, 1};
    case GIR_COS: return a.lo >= 0 && a.hi <= 3 ? (range){cos(a.hi), cos(a.lo)} : (range){-1, 1};
    case GIR_CAST: return n->type.elem == GN_BOOL ? (range){0, 1} : a;
    case GIR_ADD: return (range){a.lo + b.lo, a.hi + b.hi};
    case GIR_SUB: return (range){a.lo - b.hi, a.hi - b.lo};
    case GIR_MUL: return product(a, b);
    case GIR_DIV: return product(a, inverse(b));
    case GIR_POW:
        if (!(a.lo > 0)) return (range){-INFINITY, INFINITY};
        return monotone(product((range){log(a.lo), log(a.hi)}, b), exp);
    case GIR_MAX: return (range){fmax(a.lo, b.lo), fmax(a.hi, b.hi)};
    case GIR_MIN: return (range){fmin(a.lo, b.lo), fmin(a.hi, b.hi)};
    case GIR_DETACH: return a;
    case GIR_RNG_KEY: return (range){0, 4294967295.0};
    default: return (range){n->op == GIR_SIGN ? -1 : 0, 1}; /* bools */
    }
}

range range_of(const gen *z, gir_id v)
{
    const gir_node *n = gir_at(z->p, v);
    range in[4] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
    for (int k = 0; k < n->n_in && k < 4; k++) in[k] = z->ranges.p[gir_in(z->p, v, k)];
    switch (n->op) {
    case GIR_INPUT:
    case GIR_STATE:
        if (kind_of(&n->type) != FLOATS) return (range){0, kind_of(&n->type) == BOOLS ? 1 : 6};
        if (strstr(n->attr.name, ".pos")) return (range){0.5, 2};
        return strstr(n->attr.name, ".neg") ? (range){-2, -0.5} : (range){-2, 2};
    case GIR_CONST: return (range){n->attr.f, n->attr.f};
    case GIR_IOTA:
        return (range){0, n->attr.i[0] < 0 ? 100 : (double)n->type.dim[n->attr.i[0]] - 1};
    case GIR_SIZE: return (range){0, 200};
    case GIR_RANDOM: return (range){0, 1};
    case GIR_PUT:
    case GIR_SELECT: return hull(in[1], in[2]);
    case GIR_UNCARRY:
        if (gir_at(z->p, gir_in(z->p, v, 1))->op == GIR_CORRUPT)
            return summed(in[2], (double)gir_at(z->p, gir_in(z->p, v, 1))->attr.i[0], true);
        return hull(in[2], (range){0, 0});
    case GIR_PAD: return hull(in[n->n_in - 1], (range){0, 0});
    case GIR_CONCAT: {
        range r = in[0];
        for (int k = 1; k < n->n_in; k++) r = hull(r, z->ranges.p[gir_in(z->p, v, k)]);
        return r;
    }
    case GIR_REDUCE:
        if (n->attr.i[0]) return in[0];
        return summed(in[0],
                      (double)(gir_row_elems(gir_type_of(z->p, gir_in(z->p, v, 0))) /
                               gir_row_elems(&n->type)),
                      false);
    case GIR_SPACE_REDUCE:
        return n->attr.i[0] ? hull(in[0], (range){0, 0}) : summed(in[0], 50, true);
    case GIR_SCATTER: return n->attr.i[1] ? hull(in[1], (range){0, 0}) : summed(in[1], 20, true);
    case GIR_GATHER:
    case GIR_TAKE:
    case GIR_CELL: return in[1];
    case GIR_ROW_VALUE:
        return hull(z->ranges.p[gir_in(z->p, gir_in(z->p, v, 0), 0)], (range){0, 0});
    case GIR_CARRY: return hull(in[2], in[3]);
    case GIR_NEAREST: return (range){-1, 200};
    case GIR_RANK:
    case GIR_DISTINCT: return (range){0, 200};
    case GIR_ROWS_AT: return hull(in[1], (range){0, 0});
    case GIR_BESIDE:
    case GIR_OUTER: return hull(in[1], in[2]);
    case GIR_SCAN: return (range){-2, 2};
    case GIR_SUM_AT: return summed(in[1], 20, true);
    case GIR_MATMUL: {
        const gir_type *t = gir_type_of(z->p, gir_in(z->p, v, 0));
        bool rows = t->space && n->attr.i[0];
        return summed(product(in[0], in[1]),
                      rows ? 50 : (double)t->dim[t->space || n->attr.i[0] ? 0 : 1], rows);
    }
    default: return gir_ops[n->op].cls == GIR_CLASS_VIEW ? in[0] : map_range(n, in[0], in[1]);
    }
}

/* domains -------------------------------------------------------------------------------------- */

bool in_domain(gir_op op, int k, range r)
{
    bool away = r.lo >= 0.05 || r.hi <= -0.05;
    switch (op) {
    case GIR_LOG:
    case GIR_SQRT:
    case GIR_RSQRT: return r.lo >= 0.05;
    case GIR_LOG1P: return r.lo >= -0.9;
    case GIR_RECIP: return away;
    case GIR_DIV: return k == 0 || away;
    case GIR_EXP:
    case GIR_EXPM1: return r.lo >= -20 && r.hi <= 4;
    case GIR_SIN:
    case GIR_COS: return r.lo >= -20 && r.hi <= 20;
    case GIR_POW: return k == 0 ? r.lo >= 0.05 && r.hi <= 10 : r.lo >= -3 && r.hi <= 3;
    default: return true;
    }
}

static gir_id constant(gen *z, gir_id like_v, double x)
{
    gir_type t = *gir_type_of(z->p, like_v);
    return make(z, GIR_CONST, 0, NULL, (gir_attr){.f = x}, &t);
}

gir_id tame(gen *z, gir_op op, int k, gir_id v)
{
    if (kind_of(gir_type_of(z->p, v)) != FLOATS) return v;
    range r = z->ranges.p[v];
    if (!(fabs(r.lo) < 1e3 && fabs(r.hi) < 1e3)) v = make(z, GIR_TANH, 1, &v, (gir_attr){0}, NULL);
    if (in_domain(op, k, z->ranges.p[v])) return v;
    bool bounded = op == GIR_EXP || op == GIR_EXPM1 || op == GIR_SIN || op == GIR_COS ||
                   op == GIR_POW;
    if (bounded) v = make(z, GIR_TANH, 1, &v, (gir_attr){0}, NULL);
    if (in_domain(op, k, z->ranges.p[v])) return v;
    v = make(z, GIR_ABS, 1, &v, (gir_attr){0}, NULL);
    return make(z, GIR_ADD, 2, (const gir_id[]){v, constant(z, v, 0.5)}, (gir_attr){0}, NULL);
}

/* types and leaves ----------------------------------------------------------------------------- */

static gir_space_id feature_space(gen *z)
{
    for (uint32_t s = 1; s < z->p->spaces.n; s++)
        if (z->p->spaces.p[s].kind == GIR_FEATURE && chance(z, 60)) return (gir_space_id)s;
    return gir_space_add(z->p, "feature", GIR_FEATURE, 2 + rnd(z, 4));
}

/* A pick, or 0. */
static gir_id any_pick(gen *z)
{
    gir_id found = 0;
    int n = 0;
    for (gir_id v = 1; v < z->p->nodes.n; v++) {
        gir_op op = (gir_op)gir_at(z->p, v)->op;
        if ((op == GIR_SUBSET || op == GIR_GROW) && rnd(z, (uint32_t)++n) == 0) found = v;
    }
    return found;
}

/* A space that suits the operator that is aimed at. */
static gir_space_id random_space(gen *z)
{
    gir_space_id edge = gir_type_of(z->p, any_graph(z))->edge;
    if (z->maker == GIR_FROM_ROWS && chance(z, 70)) return feature_space(z);
    switch (z->aim) {
    case GIR_FROM_ROWS: return chance(z, 90) ? feature_space(z) : 0;
    case GIR_TO_ROWS:
    case GIR_RNG_KEY:
    case GIR_RANDOM: return 0;
    case GIR_SCATTER: return edge;
    case GIR_UNCARRY: return gir_type_of(z->p, any_derived(z))->edge;
    case GIR_CARRY: {
        gir_id derived = any_derived(z);
        return chance(z, 70) ? gir_type_of(z->p, gir_in(z->p, derived, 0))->edge
                             : gir_type_of(z->p, derived)->dst;
    }
    case GIR_CELL:
    case GIR_GATHER: return chance(z, 70) ? z->node : z->item;
    case GIR_GROUP:
    case GIR_FILTER: return edge;
    case GIR_INDEX: return chance(z, 60) ? edge : chance(z, 50) ? z->node : z->item;
    default: break;
    }
    uint32_t pick = rnd(z, 100);
    if (pick < 25) return 0;
    gir_id rows = pick < 35 ? any_pick(z) : 0;
    if (rows) return gir_type_of(z->p, rows)->dst;
    if (pick < 60) return z->node;
    if (pick < 85) return edge;
    return pick < 93 ? z->item : feature_space(z);
}

static gn_elem random_elem(gen *z, int kinds)
{
    if (z->aim == GIR_RNG_KEY || z->aim == GIR_RANDOM) return GN_I64;
    for (;;) {
        uint32_t pick = rnd(z, 100);
        if (pick < 60 && (kinds & FLOATS)) {
            if (z->opt->one_type || chance(z, 90)) return z->opt->elem;
            return z->opt->elem == GN_F32 ? GN_F64 : GN_F32;
        }
        if (pick >= 60 && pick < 80 && (kinds & INTS)) return chance(z, 50) ? GN_I32 : GN_I64;
        if (pick >= 80 && (kinds & BOOLS)) return GN_BOOL;
        if (!(kinds & TENSORS)) return z->opt->elem;
    }
}

gir_type random_type(gen *z, int kinds)
{
    static const int64_t dims[] = {1, 2, 3, 4, 5, 8, 16, 17};
    gir_type t = {.elem = (uint8_t)random_elem(z, kinds), .space = random_space(z)};
    bool key = z->aim == GIR_RNG_KEY || z->aim == GIR_RANDOM;
    t.rank = (uint8_t)(key ? 0 : chance(z, 60) ? 1 : rnd(z, 4));
    if (z->aim == GIR_CELL) t.rank = 1;
    if (z->aim == GIR_FILTER || z->aim == GIR_INDEX || z->aim == GIR_GROUP) t.rank = 0;
    if (z->aim == GIR_MATMUL) t.rank = t.space ? 1 : 2;
    if (z->aim == GIR_TO_ROWS && t.rank == 0) t.rank = 1;
    if (z->aim == GIR_SCAN && !key) t.rank = 2;
    if (z->aim && z->maker == GIR_REDUCE) t.rank++;
    if (z->aim && z->maker == GIR_SPACE_REDUCE) {
        if (z->aim == GIR_MATMUL) t.rank = 2;
        if (t.space == 0) t.space = z->node;
    }
    for (int k = 0; k < t.rank; k++) t.dim[k] = dims[rnd(z, t.rank == 1 ? 8 : 4)];
    return t;
}

static gir_id named(gen *z, gir_op op, const gir_type *t)
{
    static const char *const ranges[] = {"any", "pos", "neg"};
    const char *r = kind_of(t) != FLOATS ? "label" : ranges[rnd(z, 3)];
    return make(z, op, 0, NULL,
                (gir_attr){.name = gn_arena_printf(z->a, "%c%d.%s", op == GIR_STATE ? 's' : 'x',
                                                   z->names++, r)},
                t);
}

double number(gen *z, int kind)
{
    static const double numbers[] = {0, 1, -1, 2, 0.5, 0.25, 0.1, 3.25, 1, 0};
    double x = numbers[rnd(z, 10)];
    return kind == BOOLS ? rnd(z, 2) : kind == INTS ? floor(fabs(x)) : x;
}

/* Over picked rows, edges of derived graphs and features there are no inputs: made of what there is
 * at the ends. */
gir_id leaf_of(gen *z, gir_type t)
{
    const gir_space *s = &z->p->spaces.p[t.space];
    if (t.space == 0) {
        if (chance(z, 15))
            return make(z, GIR_CONST, 0, NULL, (gir_attr){.f = number(z, kind_of(&t))}, &t);
        return named(z, chance(z, 70) ? GIR_STATE : GIR_INPUT, &t);
    }
    if (s->kind == GIR_NODE && s->graph) { /* of picked rows */
        gir_id pick = s->graph;
        t.space = gir_type_of(z->p, pick)->src;
        return make(z, GIR_TAKE, 2, (const gir_id[]){pick, like(z, t)}, (gir_attr){0}, NULL);
    }
    if (s->kind == GIR_NODE || (s->graph && gir_at(z->p, s->graph)->op == GIR_GRAPH))
        return named(z, GIR_INPUT, &t);
    if (s->kind == GIR_EDGE) {
        gir_id g = s->graph;
        int end = gir_type_of(z->p, g)->src == z->node || gir_type_of(z->p, g)->src == z->item
                      ? (int)rnd(z, 2)
                      : GIR_DST;
        t.space = end ? gir_type_of(z->p, g)->dst : gir_type_of(z->p, g)->src;
        return make(z, GIR_GATHER, 2, (const gir_id[]){g, like(z, t)}, (gir_attr){.i = {end}},
                    NULL);
    }
    if (t.rank >= 5) return 0;
    gir_type plain = t; /* [n, d..] */
    plain.space = 0;
    plain.rank++;
    memmove(plain.dim + 1, t.dim, t.rank * sizeof *t.dim);
    plain.dim[0] = s->size;
    gir_id state = named(z, GIR_STATE, &plain);
    return make(z, GIR_TO_ROWS, 1, &state, (gir_attr){0}, &t);
}

gir_id like(gen *z, gir_type t)
{
    gir_id found = 0;
    int n = 0;
    for (gir_id v = 1; v < z->p->nodes.n && chance(z, 95); v++) {
        bool fits = gir_type_eq(gir_type_of(z->p, v), &t) && fabs(z->ranges.p[v].hi) < 1e6 &&
                    fabs(z->ranges.p[v].lo) < 1e6;
        if (fits && rnd(z, (uint32_t)++n) == 0) found = v;
    }
    return found && chance(z, 60) ? found : leaf_of(z, t);
}

gir_id any_value(gen *z, int kinds)
{
    gir_id found = 0;
    int n = 0;
    for (gir_id v = 1; v < z->p->nodes.n; v++)
        if ((kind_of(gir_type_of(z->p, v)) & kinds) && rnd(z, (uint32_t)++n) == 0) found = v;
    return found && chance(z, 60) && !z->aim ? found : like(z, random_type(z, kinds));
}

gir_id any_graph(gen *z)
{
    gir_id found = z->g;
    int n = 0;
    for (gir_id v = 1; v < z->p->nodes.n; v++)
        if (gir_type_of(z->p, v)->is_graph && rnd(z, (uint32_t)++n) == 0) found = v;
    return found;
}

gir_id any_derived(gen *z)
{
    gir_id found = 0;
    int n = 0;
    for (gir_id v = 1; v < z->p->nodes.n; v++) {
        gir_op op = (gir_op)gir_at(z->p, v)->op;
        bool is = op == GIR_SELF_LOOPS || op == GIR_REMOVE_LOOPS || op == GIR_REMAINING_LOOPS ||
                  op == GIR_REVERSE || op == GIR_FILTER || gir_draws_edges(gir_at(z->p, v));
        if (is && rnd(z, (uint32_t)++n) == 0) found = v;
    }
    return found;
}

gir_id make(gen *z, gir_op op, int n, const gir_id *in, gir_attr attr, const gir_type *want)
{
    for (int k = 0; k < n; k++)
        if (!in[k]) return 0;
    gir_id v = gir_make(z->p, op, n, in, &attr, want, NULL);
    if (!v) return 0;
    while (z->ranges.n <= v) GN_PUSH(z->a, z->ranges, ((range){0, 0}));
    z->ranges.p[v] = range_of(z, v);
    return v;
}

/* programs ------------------------------------------------------------------------------------- */

typedef struct mark {
    uint32_t nodes, operands, spaces, ranges;
} mark;

static mark here(const gen *z)
{
    return (mark){z->p->nodes.n, z->p->operands.n, z->p->spaces.n, z->ranges.n};
}

static void back_to(gen *z, mark m)
{
    z->p->nodes.n = m.nodes;
    z->p->operands.n = m.operands;
    z->p->spaces.n = m.spaces;
    z->ranges.n = m.ranges;
}

static bool is_operand(const gir_program *p, gir_id v, gir_id of)
{
    for (int k = 0; k < gir_at(p, of)->n_in; k++)
        if (gir_in(p, of, k) == v) return true;
    return false;
}

static bool has_sane_range(const gen *z, gir_id v)
{
    range r = z->ranges.p[v];
    return fabs(r.lo) < 1e8 && fabs(r.hi) < 1e8;
}

static void add_pair(gen *z, gir_op producer, gir_op consumer)
{
    for (int attempt = 0; attempt < 300; attempt++) {
        mark m = here(z);
        static const gir_op how[] = {GIR_SELF_LOOPS, GIR_REMOVE_LOOPS, GIR_REMAINING_LOOPS,
                                     GIR_REVERSE};
        if (!any_derived(z)) make(z, how[rnd(z, 4)], 1, &z->g, (gir_attr){0}, NULL);
        z->maker = producer;
        z->aim = consumer;
        z->strict = attempt < 200;
        gir_id v = make_op(z, producer, 0);
        bool made = v && gir_at(z->p, v)->op == producer;
        z->aim = z->maker = GIR_INVALID;
        gir_id c = made && (!z->strict || has_sane_range(z, v)) ? make_op(z, consumer, v) : 0;
        z->strict = false;
        if (c && gir_at(z->p, c)->op == consumer && is_operand(z->p, v, c)) return;
        back_to(z, m);
    }
}

static void add_any(gen *z)
{
    mark m = here(z);
    gir_op op = (gir_op)(1 + rnd(z, GIR_OP_COUNT - 1));
    gir_id v = make_op(z, op, 0);
    if (!v || !(kind_of(gir_type_of(z->p, v)) != FLOATS || has_sane_range(z, v))) back_to(z, m);
}

/* A factor of a message: of the row's end, of the other end (now and then the very value that
 * travels), of the edge, or the same everywhere; as wide as the message, or one number that is
 * repeated. */
static gir_id message_factor(gen *z, gir_id g, const gir_type *t, gir_id travels, int end)
{
    const gir_type graph = *gir_type_of(z->p, g);
    gir_type narrow = *t;
    bool one = chance(z, 50);
    if (one) narrow.rank = 0, memset(narrow.dim, 0, sizeof narrow.dim);
    uint32_t kind = rnd(z, 10);
    if (kind == 0) return make(z, GIR_CONST, 0, NULL, (gir_attr){.f = 0.25 + rnd(z, 4)}, t);
    int at = kind < 5 ? end : !end;
    narrow.space = kind < 8 ? (at == GIR_DST ? graph.dst : graph.src) : graph.edge;
    gir_id v = !one && gir_type_eq(&narrow, gir_type_of(z->p, travels)) && chance(z, 30)
                   ? travels
                   : like(z, narrow);
    if (kind < 8 && v)
        v = make(z, GIR_GATHER, 2, (const gir_id[]){g, v}, (gir_attr){.i = {at}}, NULL);
    if (!one || !v) return v;
    gir_type ones = *gir_type_of(z->p, v);
    for (ones.rank = 0; ones.rank < t->rank; ones.rank++) ones.dim[ones.rank] = 1;
    v = make(z, GIR_RESHAPE, 1, &v, (gir_attr){0}, &ones);
    return v ? make(z, GIR_BROADCAST, 1, &v, (gir_attr){0}, t) : 0;
}

/* Messages along edges as layers have them: what an end holds, times and over this and that,
 * reduced at the other end; then perhaps divided by another such sum, or multiplied by a matrix. */
static gir_id make_messages(gen *z)
{
    static const gir_op ops[] = {GIR_MUL, GIR_MUL, GIR_MUL, GIR_DIV, GIR_DIV, GIR_ADD, GIR_SUB};
    gir_id g = any_graph(z);
    const gir_type graph = *gir_type_of(z->p, g);
    int end = chance(z, 70) ? GIR_DST : GIR_SRC;
    gir_type t = {.elem = (uint8_t)z->opt->elem, .space = end == GIR_DST ? graph.src : graph.dst};
    for (t.rank = 0; t.rank < 1 || (t.rank < 3 && chance(z, 30)); t.rank++)
        t.dim[t.rank] = 1 + rnd(z, t.rank ? 3 : 8);
    gir_id x = like(z, t),
           m = make(z, GIR_GATHER, 2, (const gir_id[]){g, x}, (gir_attr){.i = {!end}}, NULL);
    t.space = graph.edge;
    for (int k = 1 + (int)rnd(z, 3); m && k > 0; k--) {
        gir_op op = ops[rnd(z, sizeof ops / sizeof *ops)];
        gir_id f = message_factor(z, g, &t, x, end);
        if (f) f = tame(z, op, 1, f);
        bool swap = op != GIR_DIV && chance(z, 50);
        m = make(z, op, 2, swap ? (const gir_id[]){f, m} : (const gir_id[]){m, f}, (gir_attr){0},
                 NULL);
    }
    int64_t red = chance(z, 70) ? GIR_SUM : 1 + (int64_t)rnd(z, 2);
    gir_id v = m ? make(z, GIR_SCATTER, 2, (const gir_id[]){g, m}, (gir_attr){.i = {end, red}},
                        NULL)
                 : 0;
    if (!v || t.rank != 1 || chance(z, 50)) return v;
    gir_type w = gir_tensor(z->opt->elem, 0, 2, (const int64_t[]){t.dim[0], 1 + rnd(z, 4)});
    return make(z, GIR_MATMUL, 2, (const gir_id[]){v, like(z, w)}, (gir_attr){0}, NULL);
}

static void add_messages(gen *z)
{
    mark m = here(z);
    gir_id v = make_messages(z);
    if (!v || !has_sane_range(z, v)) back_to(z, m);
}

/* The pairs of a program, counted through all that there are. */
static void add_pairs(gen *z, uint64_t seed, int n)
{
    uint64_t total = 0;
    for (int p = 1; p < GIR_OP_COUNT; p++)
        for (int c = 1; c < GIR_OP_COUNT; c++) total += random_gir_pair((gir_op)p, (gir_op)c);
    for (int k = 0; k < n; k++) {
        uint64_t skip = (seed * (uint64_t)n + (uint64_t)k) % total;
        for (int p = 1; p < GIR_OP_COUNT; p++)
            for (int c = 1; c < GIR_OP_COUNT; c++)
                if (random_gir_pair((gir_op)p, (gir_op)c) && skip-- == 0)
                    add_pair(z, (gir_op)p, (gir_op)c);
    }
}

/* States become what was put into them, and most of those are nothing else. */
static void add_puts(gen *z, gir_id last, bool *used)
{
    for (gir_id v = 1; v <= last; v++) {
        const gir_node *n = gir_at(z->p, v);
        const gir_node *x = n->op == GIR_PUT ? gir_at(z->p, gir_in(z->p, v, 1)) : n;
        if (n->op != GIR_PUT || x->op != GIR_STATE || chance(z, 20)) continue;
        bool again = false;
        for (uint32_t k = 0; k < z->p->outputs.n; k++)
            again = again || !strcmp(z->p->outputs.p[k].name, x->attr.name);
        if (again) continue;
        gir_output_add(z->p, GIR_UPDATE, x->attr.name, v);
        used[v] = used[v] || chance(z, 80);
    }
}

static void add_outputs(gen *z, gir_id last)
{
    int n = 0;
    bool *used = GN_NEW_N(z->a, bool, last + 1);
    for (gir_id v = 1; v <= last; v++)
        for (int k = 0; k < gir_at(z->p, v)->n_in; k++) used[gir_in(z->p, v, k)] = true;
    add_puts(z, last, used);
    for (gir_id v = last; v > 0 && n < 8; v--)
        if (!used[v] && !gir_type_of(z->p, v)->is_graph)
            gir_output_add(z->p, GIR_OUTPUT, gn_arena_printf(z->a, "out%d", n++), v);
}

/* All results summed up, with weights of their own so that no gradient is the same by accident. */
static gir_id add_loss(gen *z)
{
    gir_id loss = 0;
    gir_type scalar = gir_tensor(z->opt->elem, 0, 0, NULL);
    for (uint32_t k = 0; k < z->p->outputs.n; k++) {
        gir_id v = z->p->outputs.p[k].value;
        gir_type t = *gir_type_of(z->p, v);
        if (kind_of(&t) != FLOATS) continue;
        v = gir_op2(z->p, GIR_MUL, v, gir_const(z->p, &t, 0.25 * (k + 1)));
        v = gir_cast(z->p, v, z->opt->elem);
        v = gir_reduce(z->p, v, GIR_SUM, ((int64_t)1 << t.rank) - 1);
        if (t.space) v = gir_space_reduce(z->p, v, GIR_SUM);
        loss = loss ? gir_op2(z->p, GIR_ADD, loss, v) : v;
    }
    return loss ? loss : gir_const(z->p, &scalar, 0);
}

static void add_backward(gen *z)
{
    enum { MOST = 64 };
    gir_id loss = add_loss(z), wrt[MOST], grad[MOST];
    int n = 0;
    for (gir_id v = 1; v <= loss && n < MOST; v++) {
        const gir_node *node = gir_at(z->p, v);
        bool leaf = node->op == GIR_STATE ||
                    (node->op == GIR_INPUT && !strstr(node->attr.name, ".sparse"));
        if (leaf && kind_of(&node->type) == FLOATS) wrt[n++] = v;
    }
    gir_output_add(z->p, GIR_OUTPUT, "loss", loss);
    gn_status *s = gir_grad(z->p, loss, n, wrt, grad);
    if (s) { /* the verifier will say that this program is no good */
        gir_output_add(z->p, GIR_OUTPUT, gn_status_message(s), 0);
        gn_status_free(s);
        return;
    }
    for (int k = 0; k < n; k++) {
        const char *name = gir_at(z->p, wrt[k])->attr.name;
        gir_output_add(z->p, GIR_OUTPUT, gn_arena_printf(z->a, "d.%s", name), grad[k]);
        bool put = false;
        for (uint32_t j = 0; j < z->p->outputs.n; j++)
            put = put ||
                  (z->p->outputs.p[j].kind == GIR_UPDATE && !strcmp(z->p->outputs.p[j].name, name));
        if (gir_at(z->p, wrt[k])->op != GIR_STATE || put || k % 2) continue;
        gir_type t = *gir_type_of(z->p, grad[k]);
        gir_id step = gir_op2(z->p, GIR_MUL, grad[k], gir_const(z->p, &t, 0.125));
        gir_output_add(z->p, GIR_UPDATE, name, gir_op2(z->p, GIR_SUB, wrt[k], step));
    }
}

static void add_operators(gen *z, uint64_t seed)
{
    const random_gir_options *own = z->opt;
    z->node = gir_space_add(z->p, "node", GIR_NODE, -1);
    z->item = gir_space_add(z->p, "item", GIR_NODE, -1);
    z->g = gir_graph(z->p, "g", z->node, z->node);
    z->b = gir_graph(z->p, "b", z->node, z->item);
    while (z->ranges.n < z->p->nodes.n) GN_PUSH(z->a, z->ranges, ((range){0, 0}));
    add_pairs(z, seed, own->pairs ? own->pairs : 4);
    for (int k = (int)rnd(z, 3); k > 0; k--) add_messages(z);
    for (int k = own->values ? own->values : 8; k > 0; k--) add_any(z);
}

gir_program *random_gir(gn_arena *a, uint64_t seed, const random_gir_options *opt)
{
    random_gir_options own = opt ? *opt : (random_gir_options){0};
    gen z = {.a = a, .opt = &own, .state = seed * 0xD1B54A32D192ED03u + 1};
    z.p = gir_program_new(a, gn_arena_printf(a, "random%llu", (unsigned long long)seed));
    GN_PUSH(a, z.ranges, ((range){0, 0}));
    if (own.relations) {
        add_relations(&z);
    } else {
        add_operators(&z, seed);
    }
    add_outputs(&z, z.p->nodes.n - 1);
    if (own.backward) add_backward(&z);
    return z.p;
}
