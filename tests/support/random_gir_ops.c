/* The generator: one operator at a time. */
#include "support/random_gir_impl.h"

#include <math.h>
#include <string.h>

int result_kinds(gir_op op)
{
    switch (op) {
    case GIR_INPUT:
    case GIR_STATE:
    case GIR_CONST:
    case GIR_CAST:
    case GIR_DETACH:
    case GIR_SELECT: return TENSORS;
    case GIR_GRAPH: return GRAPHS;
    case GIR_IOTA: return NUMBERS;
    case GIR_SIZE:
    case GIR_RNG_KEY: return INTS;
    case GIR_RANDOM:
    case GIR_ROW_VALUE:
    case GIR_SUM_AT:
    case GIR_SCAN:
    case GIR_MATMUL: return FLOATS;
    case GIR_NEAREST:
    case GIR_RANK:
    case GIR_DISTINCT: return INTS;
    case GIR_ROWS_AT: return TENSORS;
    case GIR_NOT:
    case GIR_AND:
    case GIR_OR:
    case GIR_LT:
    case GIR_LE:
    case GIR_GT:
    case GIR_GE:
    case GIR_NLE:
    case GIR_EQ:
    case GIR_NE: return BOOLS;
    default: break;
    }
    if (gir_ops[op].cls == GIR_CLASS_GRAPH) return GRAPHS;
    if (gir_ops[op].cls == GIR_CLASS_MAP) return operand_kinds(op);
    return operand_kinds(op) & ~GRAPHS;
}

int operand_kinds(gir_op op)
{
    switch (op) {
    case GIR_PATTERN: return FLOATS;
    case GIR_SUBSET: return BOOLS;
    case GIR_FILTER: return BOOLS | GRAPHS;
    case GIR_INDEX: return INTS;
    case GIR_GROUP_ROWS:
    case GIR_GROUP_NUMBERS: return GRAPHS;
    case GIR_GROUP:
    case GIR_DRAW:
    case GIR_SAMPLE:
    case GIR_CORRUPT: return INTS | GRAPHS;
    case GIR_NEG:
    case GIR_ABS:
    case GIR_SIGN:
    case GIR_ADD:
    case GIR_SUB:
    case GIR_MUL:
    case GIR_MAX:
    case GIR_MIN:
    case GIR_LT:
    case GIR_LE:
    case GIR_GT:
    case GIR_GE:
    case GIR_NLE:
    case GIR_PAD:
    case GIR_REDUCE:
    case GIR_SPACE_REDUCE: return NUMBERS;
    case GIR_NOT:
    case GIR_AND:
    case GIR_OR: return BOOLS;
    case GIR_CAST:
    case GIR_DETACH:
    case GIR_EQ:
    case GIR_NE:
    case GIR_SELECT: return TENSORS;
    case GIR_RNG_KEY:
    case GIR_RANDOM: return INTS;
    case GIR_SCATTER:
    case GIR_UNCARRY: return NUMBERS | GRAPHS;
    case GIR_GATHER:
    case GIR_CARRY:
    case GIR_TAKE:
    case GIR_PUT:
    case GIR_BESIDE:
    case GIR_OUTER:
    case GIR_CELL: return TENSORS | GRAPHS;
    case GIR_SCAN: return FLOATS | GRAPHS;
    case GIR_ROW_VALUE: return GRAPHS;
    case GIR_NEAREST: return FLOATS;
    case GIR_RANK:
    case GIR_DISTINCT: return INTS | GRAPHS;
    case GIR_ROWS_AT:
    case GIR_SUM_AT: return TENSORS;
    default: break;
    }
    switch (gir_ops[op].cls) {
    case GIR_CLASS_LEAF: return 0;
    case GIR_CLASS_GRAPH: return GRAPHS;
    case GIR_CLASS_VIEW: return TENSORS;
    default: return FLOATS;
    }
}

/* Over which spaces results and operands may be. */
enum { PLAIN = 1, NODES = 2, EDGES = 4, DERIVED = 8, NONZEROS = 16, FEATURES = 32, ALL = 63 };

static int result_spaces(gir_op op)
{
    switch (op) {
    case GIR_STATE:
    case GIR_SIZE:
    case GIR_RNG_KEY:
    case GIR_SPACE_REDUCE:
    case GIR_FROM_ROWS: return PLAIN;
    case GIR_INPUT: return PLAIN | NODES | EDGES;
    case GIR_TO_ROWS: return FEATURES;
    case GIR_GATHER: return EDGES | DERIVED | NONZEROS;
    case GIR_SCATTER: return NODES | FEATURES;
    case GIR_SCAN:
    case GIR_BESIDE: return EDGES | DERIVED;
    case GIR_OUTER:
    case GIR_ROW_VALUE:
    case GIR_PUT:
    case GIR_NEAREST:
    case GIR_DISTINCT:
    case GIR_ROWS_AT:
    case GIR_SUM_AT:
    case GIR_TAKE: return NODES;
    case GIR_RANK: return NODES | EDGES | DERIVED;
    case GIR_CARRY: return DERIVED;
    case GIR_UNCARRY: return EDGES | DERIVED;
    case GIR_CELL: return NONZEROS;
    default: return ALL;
    }
}

static int operand_spaces(gir_op op)
{
    switch (op) {
    case GIR_FROM_ROWS: return FEATURES;
    case GIR_TO_ROWS:
    case GIR_RNG_KEY:
    case GIR_RANDOM: return PLAIN;
    case GIR_TAKE:
    case GIR_PUT:
    case GIR_NEAREST:
    case GIR_RANK:
    case GIR_DISTINCT:
    case GIR_ROWS_AT:
    case GIR_SUM_AT:
    case GIR_CELL: return NODES;
    case GIR_GATHER: return NODES | FEATURES;
    case GIR_FILTER:
    case GIR_SCATTER: return EDGES | DERIVED | NONZEROS;
    case GIR_INDEX: return NODES | EDGES | DERIVED;
    case GIR_GROUP: return EDGES | DERIVED;
    case GIR_SCAN:
    case GIR_BESIDE:
    case GIR_OUTER: return EDGES | DERIVED | NODES;
    case GIR_CARRY: return EDGES | DERIVED | NONZEROS | NODES;
    case GIR_UNCARRY: return DERIVED;
    case GIR_SPACE_REDUCE: return ALL & ~PLAIN;
    default: return ALL;
    }
}

static bool needs_axis(gir_op op)
{
    return op == GIR_SLICE || op == GIR_PAD || op == GIR_CONCAT || op == GIR_REDUCE ||
           op == GIR_MATMUL || op == GIR_TO_ROWS || op == GIR_CELL || op == GIR_SCAN;
}

/* May a value of whole numbers or bools that it makes be data? */
static bool may_be_data(gir_op op)
{
    switch (op) {
    case GIR_INPUT:
    case GIR_CAST:
    case GIR_NOT:
    case GIR_AND:
    case GIR_OR:
    case GIR_LT:
    case GIR_LE:
    case GIR_GT:
    case GIR_GE:
    case GIR_NLE:
    case GIR_EQ:
    case GIR_NE:
    case GIR_GATHER:
    case GIR_CARRY: return true;
    default: return false;
    }
}

/* Of a group of edges, or a pick for its rows: gradients carry to the one and sum by the other. */
static bool group_pair(gir_op p, gir_op c)
{
    switch (c) {
    case GIR_GATHER: return true;
    case GIR_SCATTER: return p != GIR_GROUP_NUMBERS;
    case GIR_TAKE: return p != GIR_GROUP;
    case GIR_UNCARRY:
    case GIR_GROUP_ROWS:
    case GIR_GROUP_NUMBERS: return p == GIR_GROUP;
    default: return false;
    }
}

static bool graph_pair(gir_op p, gir_op c)
{
    if (p >= GIR_GROUP && p <= GIR_GROUP_NUMBERS) return group_pair(p, c);
    bool once = p == GIR_SUBSET || p == GIR_GROW || p == GIR_ENDS, picked = once || p == GIR_INDEX,
         some = p == GIR_RESTRICT;
    switch (c) {
    case GIR_SELF_LOOPS: return is_list(p) || p == GIR_CORRUPT || p == GIR_SAMPLE;
    case GIR_REMOVE_LOOPS:
    case GIR_REMAINING_LOOPS:
    case GIR_FILTER: return is_list(p);
    case GIR_GROUP: return is_list(p) || p == GIR_RESTRICT;
    case GIR_GROUP_ROWS:
    case GIR_GROUP_NUMBERS: return false;
    case GIR_DRAW: return p != GIR_SAMPLE && p != GIR_CORRUPT && p != GIR_ENDS && p != GIR_INDEX;
    case GIR_SAMPLE:
    case GIR_CORRUPT: return is_list(p) || p == GIR_CORRUPT || p == GIR_SAMPLE;
    case GIR_REVERSE: return !picked && !some && p != GIR_DRAW && p != GIR_WITHOUT;
    case GIR_PUT: return once;
    case GIR_TAKE: return picked || some;
    case GIR_GROW: return picked || is_list(p) || p == GIR_DRAW || p == GIR_WITHOUT;
    case GIR_CELL: return p == GIR_PATTERN || some;
    case GIR_ROW_VALUE: return p == GIR_PATTERN;
    case GIR_RANK:
    case GIR_DISTINCT: return p != GIR_PATTERN;
    default: return true;
    }
}

/* Left out though types would fit: patterns of what was computed, as which edges there are would
 * hang on a rounding. */
bool random_gir_pair(gir_op p, gir_op c)
{
    if (!(result_kinds(p) & operand_kinds(c))) return false;
    if (c == GIR_PATTERN || c == GIR_SUBSET) return p == GIR_INPUT;
    if (result_kinds(p) == GRAPHS) return graph_pair(p, c);
    if (c == GIR_CORRUPT || c == GIR_SAMPLE || c == GIR_DRAW) return p == GIR_RNG_KEY;
    if (c == GIR_FILTER) return may_be_data(p);
    if (c == GIR_NEAREST) return false;                            /* so would who is near */
    if (c == GIR_RANK || c == GIR_DISTINCT) return p == GIR_INPUT; /* and what is above what */
    if (c == GIR_ROWS_AT) return p == GIR_NEAREST;
    /* products have one axis of rows, and states two */
    if (c == GIR_SCAN && (p == GIR_MATMUL || p == GIR_ROWS_AT)) return false;
    if (p == GIR_SCAN && c == GIR_MATMUL) return false;
    if (c == GIR_SUM_AT) return p == GIR_NEAREST || p == GIR_ROWS_AT;
    if (c == GIR_INDEX || c == GIR_GROUP)
        return p == GIR_INPUT || p == GIR_CAST || p == GIR_GATHER || p == GIR_CARRY;
    if (!(result_spaces(p) & operand_spaces(c))) return false;
    bool scalar = p == GIR_SIZE || p == GIR_RNG_KEY || p == GIR_CELL || p == GIR_ROW_VALUE ||
                  p == GIR_RANK || p == GIR_DISTINCT;
    if (scalar && needs_axis(c)) return false;
    bool has_axis = p == GIR_SLICE || p == GIR_PAD || p == GIR_CONCAT || p == GIR_FROM_ROWS;
    return !has_axis || (c != GIR_RNG_KEY && c != GIR_RANDOM);
}

/* elementwise ---------------------------------------------------------------------------------- */

static gir_id operand(gen *z, gir_op op, int kinds, gir_id must)
{
    if (!must) return tame(z, op, 0, any_value(z, kinds));
    if (!(kind_of(gir_type_of(z->p, must)) & kinds)) return 0;
    return !z->strict || in_domain(op, 0, z->ranges.p[must]) ? must : 0;
}

static bool is_signed(const gir_type *t) { return t->elem != GN_U8 && t->elem != GN_U32; }

static gir_id make_select(gen *z, gir_id must)
{
    gir_id in[3];
    gir_id a = must && (kind_of(gir_type_of(z->p, must)) != BOOLS || chance(z, 30)) ? must : 0;
    gir_type t = a      ? *gir_type_of(z->p, a)
                 : must ? *gir_type_of(z->p, must)
                        : random_type(z, TENSORS),
             c;
    if (t.is_graph) return 0;
    if (!a && must) t.elem = (uint8_t)z->opt->elem;
    c = t;
    c.elem = GN_BOOL;
    in[0] = a || !must ? like(z, c) : must;
    in[1] = a ? a : like(z, t);
    in[2] = like(z, t);
    if (a && chance(z, 50)) in[1] = in[2], in[2] = a;
    return make(z, GIR_SELECT, 3, in, (gir_attr){0}, NULL);
}

static gir_id make_cast(gen *z, gir_id must)
{
    static const gn_elem all[] = {GN_F32, GN_F64, GN_I32, GN_I64, GN_BOOL, GN_U8, GN_U32};
    gir_id a = must ? must : any_value(z, TENSORS);
    gir_type t = *gir_type_of(z->p, a);
    if (t.is_graph) return 0;
    t.elem = (uint8_t)all[rnd(z, z->opt->one_type ? 5 : 7)];
    if (z->opt->one_type && gn_elem_is_float((gn_elem)t.elem)) t.elem = (uint8_t)z->opt->elem;
    range r = z->ranges.p[a];
    if ((t.elem == GN_U8 || t.elem == GN_U32) && (r.lo < 0 || r.hi > 255)) t.elem = GN_I32;
    if (fabs(r.lo) > 1e6 || fabs(r.hi) > 1e6) t.elem = (uint8_t)z->opt->elem;
    return make(z, GIR_CAST, 1, &a, (gir_attr){0}, &t);
}

static gir_id make_map(gen *z, gir_op op, gir_id must)
{
    gir_id in[2];
    if (op == GIR_SELECT) return make_select(z, must);
    if (op == GIR_CAST) return make_cast(z, must);
    if (op == GIR_RNG_KEY) {
        gir_type key = gir_tensor(GN_I64, 0, 0, NULL);
        in[0] = must ? must : like(z, key);
        in[1] = like(z, key);
        return make(z, op, 2, in, (gir_attr){0}, NULL);
    }
    in[0] = operand(z, op, operand_kinds(op), must);
    if (!in[0]) return 0;
    if ((op == GIR_NEG || op == GIR_ABS || op == GIR_SIGN) && !is_signed(gir_type_of(z->p, in[0])))
        return 0;
    if (gir_ops[op].arity == 1) return make(z, op, 1, in, (gir_attr){0}, NULL);
    in[1] = chance(z, 15) ? in[0] : tame(z, op, 1, like(z, *gir_type_of(z->p, in[0])));
    if (chance(z, 40) && in_domain(op, 0, z->ranges.p[in[1]]) &&
        in_domain(op, 1, z->ranges.p[in[0]])) {
        gir_id swap = in[0];
        in[0] = in[1];
        in[1] = swap;
    }
    bool ints = kind_of(gir_type_of(z->p, in[0])) == INTS;
    gir_id v = make(z, op, 2, in, (gir_attr){0}, NULL);
    if (!v || !ints || gir_type_of(z->p, v)->elem == GN_BOOL) return v;
    double most = gir_type_of(z->p, v)->elem == GN_I64 ? 1e14 : 1e6;
    bool wraps = !(fabs(z->ranges.p[v].lo) < most && z->ranges.p[v].hi < most);
    return wraps || (!is_signed(gir_type_of(z->p, v)) &&
                     (z->ranges.p[v].lo < 0 || z->ranges.p[v].hi > 255))
               ? 0
               : v;
}

/* reductions, edges ---------------------------------------------------------------------------- */

static gir_id make_reduce(gen *z, gir_op op, gir_id must)
{
    gir_id a = must ? must : any_value(z, NUMBERS);
    const gir_type *t = gir_type_of(z->p, a);
    int64_t red = rnd(z, 3);
    if (op == GIR_SPACE_REDUCE) return make(z, op, 1, &a, (gir_attr){.i = {red}}, NULL);
    if (t->is_graph || t->rank == 0) return 0;
    return make(z, op, 1, &a, (gir_attr){.i = {red, 1 + rnd(z, (1u << t->rank) - 1)}}, NULL);
}

static gir_id make_gather_scatter(gen *z, gir_op op, gir_id must)
{
    gir_id g = must, x = 0;
    int64_t end = rnd(z, 2), red = op == GIR_SCATTER ? rnd(z, 3) : 0;
    if (must && !gir_type_of(z->p, must)->is_graph) {
        gir_space_id s = gir_type_of(z->p, must)->space;
        x = must;
        g = graph_where(z, op == GIR_GATHER ? has_end : has_edge, s);
        if (!g) return 0;
        if (op == GIR_GATHER && gir_type_of(z->p, g)->src != gir_type_of(z->p, g)->dst)
            end = gir_type_of(z->p, g)->dst == s;
    }
    if (!g && z->aim == GIR_FROM_ROWS) { /* to features */
        g = make_pattern(z, 0);
        end = GIR_SRC;
    }
    if (!g) g = any_graph(z);
    const gir_type t = *gir_type_of(z->p, g);
    if (!x)
        x = like(z, over(z,
                         op == GIR_SCATTER ? t.edge
                         : end             ? t.dst
                                           : t.src,
                         op == GIR_SCATTER ? NUMBERS : TENSORS));
    return make(z, op, 2, (const gir_id[]){g, x}, (gir_attr){.i = {end, red}}, NULL);
}

static gir_id make_carry(gen *z, gir_op op, gir_id must)
{
    gir_id d = 0, e = 0, fill = 0;
    if (must && !gir_type_of(z->p, must)->is_graph) {
        gir_space_id s = gir_type_of(z->p, must)->space;
        d = graph_where(z, op == GIR_CARRY ? derived_from : derived_over, s);
        if (!d && op == GIR_CARRY && z->p->spaces.p[s].graph)
            d = derive(z, z->p->spaces.p[s].graph);
        if (d)
            e = must;
        else if (op == GIR_CARRY &&
                 ((d = graph_where(z, derived_into, s)) || (d = restricted_to(z, s))))
            fill = must;
        if (!d) return 0;
    } else {
        if (must) d = is_derived(z->p, must, 0) ? must : derive(z, must);
        if (op == GIR_UNCARRY && z->aim == op)
            d = derive(z, any_derived(z)); /* of one that is derived itself */
        if (!d) d = graph_where(z, is_derived, 0);
        if (!d) d = derive(z, any_graph(z));
    }
    gir_id parent = gir_in(z->p, d, 0);
    gir_space_id from = op == GIR_CARRY ? gir_type_of(z->p, parent)->edge
                                        : gir_type_of(z->p, d)->edge;
    gir_type t = e      ? *gir_type_of(z->p, e)
                 : fill ? *gir_type_of(z->p, fill)
                        : over(z, from, op == GIR_CARRY ? TENSORS : NUMBERS);
    t.space = from;
    if (!e) e = like(z, t);
    if (op == GIR_UNCARRY)
        return make(z, op, 3, (const gir_id[]){parent, d, e}, (gir_attr){0}, NULL);
    t.space = gir_type_of(z->p, d)->dst;
    if (!fill) fill = like(z, t);
    return make(z, op, 4, (const gir_id[]){d, parent, e, fill}, (gir_attr){0}, NULL);
}

/* Of places that are whole numbers, whose distances are exact. */
static gir_id make_nearest(gen *z, gir_space_id s)
{
    const gir_type number = gir_tensor(GN_I32, s, 0, NULL), place = gir_tensor(GN_F32, s, 0, NULL);
    int64_t one = 1;
    gir_id row = make(z, GIR_IOTA, 0, NULL, (gir_attr){.i = {-1}}, &number);
    gir_id x = make(z, GIR_CAST, 1, &row, (gir_attr){0}, &place);
    const gir_type wide = gir_tensor(GN_F32, s, 1, &one);
    x = make(z, GIR_RESHAPE, 1, &x, (gir_attr){0}, &wide);
    gir_id in[2] = {x, 0};
    bool groups = chance(z, 40);
    if (groups) in[1] = leaf_of(z, number);
    return x ? make(z, GIR_NEAREST, groups && in[1] ? 2 : 1, in, (gir_attr){.i = {1 + rnd(z, 4)}},
                    NULL)
             : 0;
}

/* Few whole numbers, one a row: the sources of edges have them too. */
static gir_id numbers_for(gen *z, gir_space_id s, gir_id g)
{
    gir_id x = leaf_of(z, gir_tensor(GN_I32, s, 0, NULL));
    gir_id three = gir_const(z->p, gir_type_of(z->p, x), 3);
    gir_id less = make(z, GIR_LT, 2, (const gir_id[]){x, three}, (gir_attr){0}, NULL);
    gir_type t = *gir_type_of(z->p, x);
    x = make(z, GIR_CAST, 1, &less, (gir_attr){0}, &t);
    return g ? make(z, GIR_GATHER, 2, (const gir_id[]){g, x}, (gir_attr){.i = {GIR_SRC}}, NULL) : x;
}

static gir_id make_in_order(gen *z, gir_op op, gir_id must)
{
    gir_id g = must && gir_type_of(z->p, must)->is_graph ? must : 0;
    if (!g && !must && chance(z, 50)) g = any_graph(z);
    gir_id x = g ? 0 : must;
    if (x && (!gir_type_of(z->p, x)->space || kind_of(gir_type_of(z->p, x)) != INTS)) return 0;
    gir_space_id s = g ? gir_type_of(z->p, g)->dst : x ? gir_type_of(z->p, x)->space : z->node;
    if (z->p->spaces.p[s].kind != GIR_NODE) return 0;
    gir_id e = 0;
    if (g && z->p->spaces.p[gir_type_of(z->p, g)->src].kind != GIR_NODE) return 0;
    if (g) e = numbers_for(z, gir_type_of(z->p, g)->src, g);
    if (g && !e) return 0;
    if (op == GIR_RANK && g) return make(z, op, 2, (const gir_id[]){g, e}, (gir_attr){0}, NULL);
    if (!x) x = numbers_for(z, s, 0);
    if (op == GIR_RANK) return make(z, op, 1, &x, (gir_attr){0}, NULL);
    gir_type t = gir_tensor(GN_I32, s, 0, NULL);
    gir_id row = make(z, GIR_IOTA, 0, NULL, (gir_attr){.i = {-1}}, &t);
    return make(z, op, g ? 4 : 2, (const gir_id[]){x, row, g, e}, (gir_attr){0}, NULL);
}

static gir_id make_by_numbers(gen *z, gir_op op, gir_id must)
{
    gir_op of = must ? (gir_op)gir_at(z->p, must)->op : GIR_INVALID;
    gir_id i = of == GIR_NEAREST ? must : of == GIR_ROWS_AT ? gir_in(z->p, must, 0) : 0;
    if (must && !i) return 0;
    if (!i) i = make_nearest(z, chance(z, 70) ? z->node : z->item);
    if (!i) return 0;
    gir_type t = over(z, gir_type_of(z->p, i)->space, op == GIR_SUM_AT ? FLOATS : TENSORS);
    bool flat = z->aim == GIR_CELL || z->aim == GIR_MATMUL; /* take one axis */
    if (op == GIR_ROWS_AT && flat) t.rank = 0;
    gir_id x = t.rank == GIR_MAX_RANK ? 0 : like(z, t);
    if (!x) return 0;
    gir_id y = of == GIR_ROWS_AT
                   ? must
                   : make(z, GIR_ROWS_AT, 2, (const gir_id[]){i, x}, (gir_attr){0}, NULL);
    if (op == GIR_ROWS_AT || !y) return y;
    if (kind_of(gir_type_of(z->p, y)) != FLOATS) return 0;
    return make(z, GIR_SUM_AT, 2, (const gir_id[]){i, tame(z, op, 1, y)}, (gir_attr){0}, NULL);
}

static gir_id make_cell(gen *z, gir_id must)
{
    gir_id g = must, x = must;
    if (must && gir_type_of(z->p, must)->is_graph)
        x = 0;
    else if (must) {
        gir_type t = *gir_type_of(z->p, must);
        gir_id pick = t.is_graph ? 0 : z->p->spaces.p[t.space].graph;
        if (pick) t.space = gir_type_of(z->p, pick)->src;
        if (t.is_graph || t.rank != 1 || (t.space != z->node && t.space != z->item) ||
            t.dim[0] > 17)
            return 0;
        t.elem = (uint8_t)z->opt->elem;
        gir_id in = make(z, GIR_INPUT, 0, NULL,
                         (gir_attr){.name = gn_arena_printf(z->a, "x%d.sparse", z->names++)}, &t);
        g = make(z, GIR_PATTERN, 1, &in, (gir_attr){0}, NULL);
        if (pick)
            g = make(z, GIR_RESTRICT, 2, (const gir_id[]){g, pick}, (gir_attr){.i = {2}}, NULL);
    }
    if (!g) g = make_pattern(z, 0);
    if (!must && g && chance(z, 20)) {
        gir_id pick = pick_of(z, gir_type_of(z->p, g)->dst);
        g = make(z, GIR_RESTRICT, 2, (const gir_id[]){g, pick}, (gir_attr){.i = {2}}, NULL);
    }
    if (!g) return 0;
    if (z->p->spaces.p[gir_type_of(z->p, g)->src].kind != GIR_FEATURE) return 0;
    int64_t f = z->p->spaces.p[gir_type_of(z->p, g)->src].size;
    gn_elem elem = (gn_elem)random_type(z, z->aim ? operand_kinds(z->aim) & TENSORS : TENSORS).elem;
    gir_type t = gir_tensor(elem, gir_type_of(z->p, g)->dst, 1, &f);
    if (!x) x = like(z, t);
    return make(z, GIR_CELL, 2, (const gir_id[]){g, x}, (gir_attr){0}, NULL);
}

/* Matrix products with `a` as the left operand, or as the right one where it is a plain matrix. */
static gir_id make_matmul(gen *z, gir_id must)
{
    gir_id a = must ? must : like(z, random_type(z, FLOATS));
    gir_type t = *gir_type_of(z->p, a), w;
    int64_t n = 1 + rnd(z, 6);
    bool left = t.space != 0 || chance(z, 60);
    if (kind_of(&t) != FLOATS || t.rank != (t.space ? 1 : 2)) return 0;
    bool ta = rnd(z, 2), tb = rnd(z, 2);
    if (t.space && ta) { /* S[k]^T @ S[n] */
        w = gir_tensor((gn_elem)t.elem, t.space, 1, &n);
        return make(z, GIR_MATMUL, 2, (const gir_id[]){a, like(z, w)}, (gir_attr){.i = {1, 0}},
                    NULL);
    }
    if (left) {
        int64_t k = t.space ? t.dim[0] : t.dim[ta ? 0 : 1];
        w = gir_tensor((gn_elem)t.elem, 0, 2,
                       tb ? (const int64_t[]){n, k} : (const int64_t[]){k, n});
        return make(z, GIR_MATMUL, 2, (const gir_id[]){a, like(z, w)}, (gir_attr){.i = {ta, tb}},
                    NULL);
    }
    int64_t k = t.dim[tb ? 1 : 0];
    w = chance(z, 50) ? gir_tensor((gn_elem)t.elem, z->node, 1, &k)
                      : gir_tensor((gn_elem)t.elem, 0, 2,
                                   ta ? (const int64_t[]){k, n} : (const int64_t[]){n, k});
    return make(z, GIR_MATMUL, 2, (const gir_id[]){like(z, w), a},
                (gir_attr){.i = {w.space ? 0 : ta, tb}}, NULL);
}

static gir_id make_leaf(gen *z, gir_op op)
{
    gir_type t = random_type(z, result_kinds(op) & (op == GIR_RANDOM ? FLOATS : TENSORS));
    gir_type key = gir_tensor(GN_I64, 0, 0, NULL);
    switch (op) {
    case GIR_GRAPH: return chance(z, 70) ? z->g : z->b;
    case GIR_SIZE:
        return make(
            z, op, 0, NULL,
            (gir_attr){.i = {chance(z, 50) ? z->node : gir_type_of(z->p, any_graph(z))->edge}},
            NULL);
    case GIR_CONST: return make(z, op, 0, NULL, (gir_attr){.f = number(z, kind_of(&t))}, &t);
    case GIR_IOTA:
        return make(z, op, 0, NULL, (gir_attr){.i = {(int64_t)rnd(z, t.rank + 1u) - 1}}, &t);
    case GIR_INPUT:
        if (z->aim == GIR_PATTERN) return gir_in(z->p, make_pattern(z, 0), 0);
        if (z->aim == GIR_SUBSET) return make_mask(z, chance(z, 70) ? z->node : z->item);
        return t.space && z->p->spaces.p[t.space].kind != GIR_NODE &&
                       t.space != gir_type_of(z->p, z->g)->edge
                   ? 0
                   : leaf_of(z, t);
    case GIR_STATE:
        t.space = 0;
        return make(z, op, 0, NULL,
                    (gir_attr){.name = gn_arena_printf(z->a, "s%d.%s", z->names++,
                                                       chance(z, 50) ? "pos" : "any")},
                    &t);
    default: {
        gir_id k = like(z, key);
        return make(z, GIR_RANDOM, 1, &k, (gir_attr){.i = {rnd(z, 9)}}, &t);
    }
    }
}

gir_id make_op(gen *z, gir_op op, gir_id must)
{
    switch (op) {
    case GIR_GATHER:
    case GIR_SCATTER: return make_gather_scatter(z, op, must);
    case GIR_CARRY:
    case GIR_UNCARRY: return make_carry(z, op, must);
    case GIR_CELL: return make_cell(z, must);
    case GIR_NEAREST: return must ? 0 : make_nearest(z, chance(z, 70) ? z->node : z->item);
    case GIR_RANK:
    case GIR_DISTINCT: return make_in_order(z, op, must);
    case GIR_SCAN:
    case GIR_BESIDE:
    case GIR_OUTER: return make_recurrence(z, op, must);
    case GIR_ROWS_AT:
    case GIR_SUM_AT: return make_by_numbers(z, op, must);
    case GIR_PATTERN: return make_pattern(z, must);
    case GIR_ROW_VALUE: {
        gir_id g = must ? must : make_pattern(z, 0);
        return g && gir_at(z->p, g)->op == GIR_PATTERN ? make(z, op, 1, &g, (gir_attr){0}, NULL)
                                                       : 0;
    }
    case GIR_SUBSET:
        if (must) return make(z, op, 1, &must, (gir_attr){0}, NULL);
        return make_subset(z, chance(z, 70) ? z->node : z->item);
    case GIR_GROW: return make_grow(z, must);
    case GIR_ENDS: return make_ends(z, must);
    case GIR_PUT: return make_put(z, must);
    case GIR_FILTER: return make_filter(z, must);
    case GIR_INDEX: return make_index(z, must);
    case GIR_GROUP:
    case GIR_GROUP_ROWS:
    case GIR_GROUP_NUMBERS: return make_group(z, op, must);
    case GIR_DRAW: return make_draw(z, must);
    case GIR_WITHOUT: return make_without(z, must);
    case GIR_SAMPLE:
    case GIR_CORRUPT: return make_drawn(z, op, must);
    case GIR_RESTRICT: {
        bool of_pattern = !must && (z->aim == GIR_CELL || chance(z, 10)),
             of_pick = !must && z->aim == GIR_TAKE;
        gir_id g = must         ? must
                   : of_pattern ? make_pattern(z, 0)
                   : of_pick    ? pick_of(z, z->node)
                                : any_graph(z);
        return g ? make_restrict(z, g) : 0;
    }
    case GIR_TAKE: return make_take(z, must);
    case GIR_MATMUL: return make_matmul(z, must);
    case GIR_RANDOM:
        if (must) {
            gir_type t = random_type(z, FLOATS);
            return make(z, op, 1, &must, (gir_attr){.i = {rnd(z, 9)}}, &t);
        }
        return make_leaf(z, op);
    default: break;
    }
    switch (gir_ops[op].cls) {
    case GIR_CLASS_LEAF: return must ? 0 : make_leaf(z, op);
    case GIR_CLASS_GRAPH: {
        gir_id g = must ? must : any_graph(z);
        return make(z, op, 1, &g, (gir_attr){0}, NULL);
    }
    case GIR_CLASS_MAP: return make_map(z, op, must);
    case GIR_CLASS_VIEW: return make_view(z, op, must);
    default: return make_reduce(z, op, must);
    }
}
