/* Built-in functions: shapes, element types, draws, graphs. */
#include "frontend/builtin.h"

#include <math.h>
#include <string.h>

enum { CONCAT_AXIS = 7, MAX_CONCAT = 4096 };

/* What is to be joined: the arguments, or the list that is the only one. */
static bool parts_of(elab *E, const builtin_call *c, uint32_t *n, value **parts)
{
    const value *from = c->arg;
    *n = (uint32_t)c->n;
    if (c->n == 1 && c->arg[0].kind == VAL_LIST) {
        from = c->arg[0].u.list->p;
        *n = c->arg[0].u.list->n;
    }
    if (*n == 0 || *n > MAX_CONCAT) {
        el_error(E, c->mark, "`concat` joins 1 to %d tensors, not %u", (int)MAX_CONCAT, *n);
        return false;
    }
    *parts = GN_NEW_N(E->arena, value, *n);
    memcpy(*parts, from, *n * sizeof(value));
    for (uint32_t i = 0; i < *n; i++)
        if ((*parts)[i].kind != VAL_TENSOR) {
            el_error(E, c->mark, "`concat` joins tensors, not %s", val_text(E, &(*parts)[i]));
            return false;
        }
    return el_step(E, c->mark, *n);
}

/* Spaces may differ where types are written alike: edges of two graphs. */
static value unlike(elab *E, const builtin_call *c, int axis, const value *a, const value *b)
{
    gir_space_id s = val_type(E, a)->space, t = val_type(E, b)->space;
    gir_space_kind ks = E->prog->spaces.p[s].kind, kt = E->prog->spaces.p[t].kind;
    const char *hint = "";
    if (s != t && s && t)
        hint = ks == GIR_EDGE && kt == GIR_EDGE
                   ? ": they are edges of two graphs; `carry` takes values to a derived graph"
                   : ": in a message `x[u]` and `x[v]` take a node's value to the edge";
    return el_error(E, c->mark, "`concat` along axis %d does not fit %s and %s%s", axis,
                    val_text(E, a), val_text(E, b), hint);
}

value builtin_concat(elab *E, const builtin_call *c)
{
    uint32_t n;
    value *parts, last = val_int(-1);
    int axis;
    if (!parts_of(E, c, &n, &parts)) return POISON;
    const value *a = builtin_has(c, CONCAT_AXIS) ? &c->arg[CONCAT_AXIS] : &last;
    if (!builtin_axis(E, a, a == &last ? c->mark : c->span[CONCAT_AXIS], &parts[0], &axis))
        return POISON;
    gir_space_id space = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!space) space = val_type(E, &parts[i])->space;
    gir_id *in = GN_NEW_N(E->arena, gir_id, n);
    gir_type first = *val_type(E, &parts[0]);
    for (uint32_t i = 0; i < n; i++) {
        gir_type t = *val_type(E, &parts[i]), same = t;
        if (axis < same.rank) same.dim[axis] = first.dim[axis];
        same.space = first.space;
        if (!gir_type_eq(&same, &first) || (t.space && t.space != space))
            return unlike(E, c, axis, &parts[0], &parts[i]);
        t.space = space;
        in[i] = gir_broadcast(E->prog, parts[i].id, &t);
    }
    return val_tensor(el_make(E, c->mark, GIR_CONCAT, (int)n, in, &(gir_attr){.i = {axis}}, NULL),
                      NULL);
}

static value reshape(elab *E, const builtin_call *c, int rank, int64_t *dim)
{
    int64_t have = gir_row_elems(val_type(E, &c->arg[0])), product = 1;
    int open = -1;
    for (int k = 0; k < rank; k++) {
        if (dim[k] == -1 && open < 0)
            open = k;
        else if (dim[k] < 1 || __builtin_mul_overflow(product, dim[k], &product))
            return el_error(E, c->mark,
                            "a dimension is at least 1, or -1 once for what remains; not %lld",
                            (long long)dim[k]);
    }
    if (open >= 0) {
        dim[open] = have % product ? 0 : have / product;
        product *= dim[open];
    }
    if (product != have)
        return el_error(E, c->mark, "%s has %lld elements a row, not %lld", val_text(E, &c->arg[0]),
                        (long long)have, (long long)product);
    return val_tensor(gir_reshape(E->prog, c->arg[0].id, rank, dim), NULL);
}

value builtin_reshape(elab *E, const builtin_call *c)
{
    int rank;
    int64_t dim[GIR_MAX_RANK];
    if (!builtin_tensor(E, c, 0) || !builtin_dims(E, c, 1, &rank, dim)) return POISON;
    return reshape(E, c, rank, dim);
}

value builtin_flatten(elab *E, const builtin_call *c)
{
    int64_t dim[1] = {-1};
    return builtin_tensor(E, c, 0) ? reshape(E, c, 1, dim) : POISON;
}

value builtin_transpose(elab *E, const builtin_call *c)
{
    if (!builtin_tensor(E, c, 0)) return POISON;
    const value *x = &c->arg[0];
    int rank = val_type(E, x)->rank, order[GIR_MAX_RANK];
    for (int k = 0; k < rank; k++) order[k] = rank - 1 - k;
    if (builtin_has(c, 1)) {
        int n, seen = 0;
        int64_t dim[GIR_MAX_RANK];
        if (!builtin_dims(E, c, 1, &n, dim)) return POISON;
        for (int k = 0; k < n; k++) {
            order[k] = dim[k] < 0 ? (int)dim[k] + rank : (int)dim[k];
            if (dim[k] >= -rank && dim[k] < rank) seen |= 1 << order[k];
        }
        if (n != rank || seen != (1 << rank) - 1)
            return el_error(E, c->span[1], "%s needs each of its %d axes once", val_text(E, x),
                            rank);
    }
    int64_t perm = 0;
    const char **axes = el_axes_new(E, rank);
    for (int k = 0; k < rank; k++) {
        perm |= (int64_t)order[k] << 4 * k;
        axes[k] = el_axis_name(x, order[k]);
    }
    return val_tensor(el_make(E, c->mark, GIR_TRANSPOSE, 1, &x->id, &(gir_attr){.i = {perm}}, NULL),
                      axes);
}

value builtin_unsqueeze(elab *E, const builtin_call *c)
{
    int64_t at, dim[GIR_MAX_RANK];
    if (!builtin_tensor(E, c, 0) || !builtin_int(E, c, 1, 0, &at)) return POISON;
    const value *x = &c->arg[0];
    gir_type t = *val_type(E, x);
    if (at < 0) at += t.rank + 1;
    if (at < 0 || at > t.rank || t.rank == GIR_MAX_RANK)
        return el_error(E, c->span[1], "%s has no place for a new axis there", val_text(E, x));
    const char **axes = el_axes_new(E, t.rank + 1);
    for (int k = 0; k < t.rank; k++) {
        dim[k + (k >= at)] = t.dim[k];
        axes[k + (k >= at)] = el_axis_name(x, k);
    }
    dim[at] = 1;
    return val_tensor(gir_reshape(E->prog, x->id, t.rank + 1, dim), axes);
}

value builtin_slice(elab *E, const builtin_call *c)
{
    int64_t start, stop;
    int axis;
    value last = val_int(-1);
    if (!builtin_tensor(E, c, 0) || !builtin_int(E, c, 1, 0, &start) ||
        !builtin_int(E, c, 2, 0, &stop))
        return POISON;
    const value *x = &c->arg[0];
    if (!builtin_axis(E, builtin_has(c, 3) ? &c->arg[3] : &last,
                      builtin_has(c, 3) ? c->span[3] : c->mark, x, &axis))
        return POISON;
    gir_type t = *val_type(E, x);
    int64_t n = t.dim[axis];
    if (start < 0) start += n;
    if (stop < 0) stop += n;
    if (start < 0 || stop > n || start >= stop)
        return el_error(E, c->mark, "elements %lld to %lld are no part of an axis of %lld",
                        (long long)start, (long long)stop, (long long)n);
    t.dim[axis] = stop - start;
    return val_tensor(
        el_make(E, c->mark, GIR_SLICE, 1, &x->id, &(gir_attr){.i = {axis, start}}, &t), NULL);
}

value builtin_cast(elab *E, const builtin_call *c)
{
    const value *x = &c->arg[0];
    gn_elem to = (gn_elem)c->b->op;
    double f = x->kind == VAL_BOOL ? x->u.truth : val_is_number(x) ? val_number(x) : 0;
    if (x->kind == VAL_TENSOR) return val_tensor(gir_cast(E->prog, x->id, to), x->u.axes);
    if (x->kind != VAL_BOOL && !val_is_number(x))
        return el_error(E, c->span[0], "`%s` does not take %s", c->b->name, val_text(E, x));
    if (to == GN_F32) return val_float(f);
    if (to == GN_BOOL) return val_bool(f != 0);
    if (x->kind == VAL_INT) return *x;
    if (!(fabs(f) < 9e18))
        return el_error(E, c->span[0], "%s does not fit an integer of 64 bits", val_text(E, x));
    return val_int((int64_t)f);
}

static value tensor_of(elab *E, const builtin_call *c, value x)
{
    if (x.kind == VAL_TENSOR || x.kind == VAL_POISON) return x;
    if (val_is_number(&x)) {
        gir_type t = gir_tensor(GN_F32, 0, 0, NULL);
        return val_tensor(gir_const(E->prog, &t, val_number(&x)), NULL);
    }
    if (x.kind != VAL_LIST || !x.u.list->n || x.u.list->n > MAX_CONCAT)
        return el_error(E, c->span[0], "`tensor` takes a list of numbers, not %s", val_text(E, &x));
    uint32_t n = x.u.list->n;
    if (E->nesting >= EL_MAX_NESTING || !el_step(E, c->mark, n)) return POISON;
    gir_id *in = GN_NEW_N(E->arena, gir_id, n);
    gir_type first = {0};
    E->nesting++;
    for (uint32_t i = 0; i < n; i++) {
        value v = tensor_of(E, c, x.u.list->p[i]);
        if (v.kind == VAL_POISON) return v;
        gir_type t = *val_type(E, &v);
        if (i == 0) first = t;
        if (!gir_type_eq(&t, &first) || t.rank == GIR_MAX_RANK)
            return el_error(E, c->span[0], "the rows of the list differ: %s and %s",
                            el_type_text(E, &first), el_type_text(E, &t));
        int64_t dim[GIR_MAX_RANK] = {1};
        for (int k = 0; k < t.rank; k++) dim[k + 1] = t.dim[k];
        in[i] = gir_reshape(E->prog, v.id, t.rank + 1, dim);
    }
    E->nesting--;
    return val_tensor(el_make(E, c->mark, GIR_CONCAT, (int)n, in, &(gir_attr){.i = {0}}, NULL),
                      NULL);
}

/* The rows of x as its first axis. */
value builtin_table(elab *E, const builtin_call *c)
{
    if (!builtin_tensor(E, c, 0)) return POISON;
    const gir_type *t = val_type(E, &c->arg[0]);
    int64_t n = t->space ? el_fixed_rows(E, t->space) : 0;
    if (!t->space)
        return el_error(E, c->span[0], "`table` makes an axis of rows, and this is %s",
                        val_text(E, &c->arg[0]));
    if (n < 0)
        return el_error(E, c->span[0],
                        "this is %s: how many rows that is is not known before data are bound",
                        val_text(E, &c->arg[0]));
    if (n < 1 || n > EL_MAX_DIM)
        return el_error(E, c->span[0], "a dimension is between 1 and 2^31, and %lld rows are none",
                        (long long)n);
    return val_tensor(el_make(E, c->mark, GIR_FROM_ROWS, 1, &c->arg[0].id, NULL, NULL), NULL);
}

value builtin_tensor_of(elab *E, const builtin_call *c) { return tensor_of(E, c, c->arg[0]); }

value builtin_fill(elab *E, const builtin_call *c)
{
    double f;
    if (!builtin_tensor(E, c, 0) || !builtin_number(E, c, 1, 0, &f)) return POISON;
    return val_tensor(gir_const(E->prog, val_type(E, &c->arg[0]), f), c->arg[0].u.axes);
}

/* The numbers of the rows of x. */
static value row_numbers(elab *E, const builtin_call *c)
{
    const gir_type *x = val_type(E, &c->arg[0]);
    if (!x->space || E->prog->spaces.p[x->space].kind == GIR_EDGE)
        return el_error(E, c->span[0], "`iota` numbers nodes, and this is %s",
                        val_text(E, &c->arg[0]));
    gir_type t = gir_tensor(GN_I32, x->space, 0, NULL);
    return val_tensor(el_make(E, c->mark, GIR_IOTA, 0, NULL, &(gir_attr){.i = {-1}}, &t), NULL);
}

value builtin_iota(elab *E, const builtin_call *c)
{
    int64_t n;
    if (c->arg[0].kind == VAL_TENSOR) return row_numbers(E, c);
    if (!builtin_int(E, c, 0, 0, &n)) return POISON;
    if (n < 1 || n > EL_MAX_DIM)
        return el_error(E, c->span[0], "a dimension is between 1 and 2^31, not %lld", (long long)n);
    gir_type t = gir_tensor(GN_I32, 0, 1, &n);
    return val_tensor(el_make(E, c->mark, GIR_IOTA, 0, NULL, &(gir_attr){.i = {0}}, &t), NULL);
}

/* The key of this step's draws; sites number the places that draw, in the order of the program. */
static gir_id rng_key(elab *E)
{
    if (E->rng) return E->rng;
    gir_type t = gir_tensor(GN_I64, 0, 0, NULL);
    gir_id seed = gir_leaf(E->prog, GIR_STATE, "rng.seed", &t),
           step = gir_leaf(E->prog, GIR_STATE, "rng.step", &t);
    return E->rng = gir_op2(E->prog, GIR_RNG_KEY, seed, step);
}

value builtin_dropout(elab *E, const builtin_call *c)
{
    double p;
    value x = c->arg[0];
    if (!builtin_float_tensor(E, c, 0)) return POISON;
    if (!builtin_has(c, 1) || !builtin_number(E, c, 1, 0, &p))
        return el_error(E, c->mark, "`dropout` needs a probability");
    if (!(p >= 0 && p <= 1))
        return el_error(E, c->span[1], "a probability is between 0 and 1, not %s",
                        val_text(E, &c->arg[1]));
    if (p == 0 || E->mode != MODE_TRAIN) return x;
    gir_type t = *val_type(E, &x);
    gir_id zero = gir_const(E->prog, &t, 0);
    if (p == 1) return val_tensor(gir_op2(E->prog, GIR_MUL, x.id, zero), x.u.axes);
    gir_id key = rng_key(E);
    gir_id r = el_make(E, c->mark, GIR_RANDOM, 1, &key, &(gir_attr){.i = {E->sites++}}, &t);
    if (!r) return POISON;
    gir_id keep = gir_op2(E->prog, GIR_GE, r, gir_const(E->prog, &t, p));
    gir_id scaled = gir_op2(E->prog, GIR_MUL, x.id, gir_const(E->prog, &t, 1 / (1 - p)));
    return val_tensor(gir_op3(E->prog, GIR_SELECT, keep, scaled, zero), x.u.axes);
}

/* graphs --------------------------------------------------------------------------------------- */

static value graph(const el_graph *g)
{
    return g ? (value){.kind = VAL_GRAPH, .graph = g} : POISON;
}

value builtin_derive(elab *E, const builtin_call *c)
{
    return builtin_graph(E, c, 0) ? graph(el_derive(E, c->mark, (gir_op)c->b->op, c->arg[0].graph))
                                  : POISON;
}

/* The edges of g where a mask holds. */
value builtin_only(elab *E, const builtin_call *c)
{
    if (!builtin_graph(E, c, 0)) return POISON;
    const value *m = &c->arg[1];
    const el_graph *g = c->arg[0].graph;
    if (m->kind != VAL_TENSOR || val_type(E, m)->elem != GN_BOOL || val_type(E, m)->rank ||
        val_type(E, m)->space != gir_type_of(E->prog, g->id)->edge)
        return el_error(E, c->span[1], "`only` takes a mask of the graph's edges, not %s",
                        val_text(E, m));
    return graph(el_derive_with(E, c->mark, GIR_FILTER, g, m->id, NULL));
}

/* So many edges of g, drawn anew at every step. */
value builtin_sample(elab *E, const builtin_call *c)
{
    int64_t most;
    if (!builtin_graph(E, c, 0) || !builtin_int(E, c, 1, 1, &most)) return POISON;
    if (most < 1)
        return el_error(E, c->span[1], "a sample has one edge at least, not %lld", (long long)most);
    gir_attr attr = {.i = {most, E->sites++}};
    return graph(el_derive_with(E, c->mark, GIR_SAMPLE, c->arg[0].graph, rng_key(E), &attr));
}

/* Which end is drawn, as gir_corrupt has them; -1: reported. */
static int drawn_end(elab *E, const builtin_call *c)
{
    static const char *const ends[] = {"src", "dst", "either"};
    const value *v = &c->arg[2];
    if (!builtin_has(c, 2)) return 2;
    for (int k = 0; k < 3; k++)
        if ((v->kind == VAL_SPACE || v->kind == VAL_STRING) && !strcmp(v->u.s, ends[k])) return k;
    el_error(E, c->span[2], "`corrupt` draws `src`, `dst` or \"either\", not %s", val_text(E, v));
    return -1;
}

/* `times` edges for each of g, one end of which is drawn. */
value builtin_corrupt(elab *E, const builtin_call *c)
{
    int64_t times;
    if (!builtin_graph(E, c, 0) || !builtin_int(E, c, 1, 1, &times)) return POISON;
    int end = drawn_end(E, c);
    if (end < 0) return POISON;
    if (times < 1 || times > 1 << 20)
        return el_error(E, c->span[1], "an edge is drawn from once to 2^20 times, not %lld",
                        (long long)times);
    gir_attr attr = {.i = {times, end, E->sites++}};
    return graph(el_derive_with(E, c->mark, GIR_CORRUPT, c->arg[0].graph, rng_key(E), &attr));
}

value builtin_weighted(elab *E, const builtin_call *c)
{
    if (!builtin_graph(E, c, 0)) return POISON;
    el_graph *g = GN_NEW(E->arena, el_graph);
    *g = *c->arg[0].graph;
    gir_type want = gir_tensor(GN_F32, gir_type_of(E->prog, g->id)->edge, 0, NULL);
    return el_broadcast_to(E, c->span[1], c->arg[1], &want, "a weight of the edges", &g->weight)
               ? graph(g)
               : POISON;
}

value builtin_unweighted(elab *E, const builtin_call *c)
{
    if (!builtin_graph(E, c, 0)) return POISON;
    el_graph *g = GN_NEW(E->arena, el_graph);
    *g = *c->arg[0].graph;
    g->weight = 0;
    return graph(g);
}

static bool edge_value(elab *E, const builtin_call *c)
{
    if (!builtin_tensor(E, c, 0)) return false;
    if (E->prog->spaces.p[val_type(E, &c->arg[0])->space].kind == GIR_EDGE) return true;
    el_error(E, c->span[0], "`%s` takes a value of edges, not %s", c->b->name,
             val_text(E, &c->arg[0]));
    return false;
}

value builtin_carry(elab *E, const builtin_call *c)
{
    if (!edge_value(E, c) || !builtin_graph(E, c, 1)) return POISON;
    value fill = builtin_has(c, 2) ? c->arg[2] : val_int(0);
    return val_tensor(el_carry(E, c->mark, c->arg[1].graph, c->arg[0], fill), c->arg[0].u.axes);
}

/* A value of derived edges as one of the edges that they came of: the sum over those of each. */
value builtin_sum_back(elab *E, const builtin_call *c)
{
    if (!edge_value(E, c) || !builtin_graph(E, c, 1)) return POISON;
    gir_id derived = E->prog->spaces.p[val_type(E, &c->arg[0])->space].graph;
    gir_id g = c->arg[1].graph->id;
    bool from = gir_at(E->prog, derived)->n_in > 0 && gir_in(E->prog, derived, 0) == g;
    if (!from)
        return el_error(E, c->span[1],
                        "the value's graph was not derived from this one, in one step");
    gir_id in[3] = {g, derived, c->arg[0].id};
    return val_tensor(el_make(E, c->mark, GIR_UNCARRY, 3, in, NULL, NULL), c->arg[0].u.axes);
}

value builtin_graph_of(elab *E, const builtin_call *c)
{
    return edge_value(E, c) ? graph(el_graph_of_space(E, val_type(E, &c->arg[0])->space)) : POISON;
}

/* A batch's edges are some of a relation. */
value builtin_whole(elab *E, const builtin_call *c)
{
    return builtin_graph(E, c, 0) ? graph(el_whole_of(E, c->arg[0].graph)) : POISON;
}

value builtin_degree(elab *E, const builtin_call *c)
{
    if (!builtin_graph(E, c, 0)) return POISON;
    return el_degree(E, c->arg[0].graph, c->b->op == 2 ? GIR_SRC : GIR_DST, c->b->op == 0);
}
