/* Built-in functions: elementwise, reductions, what is known at compile time. */
#include "frontend/builtin.h"

#include <math.h>
#include <string.h>

value builtin_map(elab *E, const builtin_call *c)
{
    gir_op op = (gir_op)c->b->op;
    if (val_is_number(&c->arg[0])) return el_number_unary(E, c->mark, op, c->arg[0]);
    return el_unary(E, c->mark, op, c->arg[0]);
}

/* max and min of two things, of a list of numbers */
static value extremum(elab *E, const builtin_call *c, value a, value b)
{
    bool max = c->b->op == GIR_RED_MAX;
    if (!val_is_number(&a) || !val_is_number(&b))
        return el_binary(E, c->mark, max ? GIR_MAX : GIR_MIN, c->b->name, a, b);
    bool less = val_number(&a) < val_number(&b);
    value r = less == max ? b : a;
    return a.kind != b.kind ? val_float(val_number(&r)) : r;
}

static value list_reduce(elab *E, const builtin_call *c)
{
    const value_list *l = c->arg[0].u.list;
    bool sum = c->b->op == GIR_SUM || c->b->op == RED_MEAN;
    if (!l->n && c->b->op != GIR_SUM)
        return el_error(E, c->span[0], "`%s` of an empty list", c->b->name);
    value r = sum ? val_int(0) : l->p[0];
    if (!el_step(E, c->mark, l->n)) return POISON;
    for (uint32_t i = sum ? 0 : 1; i < l->n && r.kind != VAL_POISON; i++) {
        bool numbers = val_is_number(&r) && val_is_number(&l->p[i]);
        if (!sum)
            r = extremum(E, c, r, l->p[i]);
        else if (numbers)
            r = el_number_binary(E, c->mark, BIN_ADD, r, l->p[i]);
        else
            r = i == 0 ? l->p[0] : el_binary(E, c->mark, GIR_ADD, "+", r, l->p[i]);
    }
    if (c->b->op != RED_MEAN || r.kind == VAL_POISON) return r;
    if (val_is_number(&r)) return val_float(val_number(&r) / l->n);
    return el_binary(E, c->mark, GIR_MUL, "*", r, val_float(1.0 / l->n));
}

/* Number of rows of a space, at least 1. */
static value row_count(elab *E, gir_space_id s)
{
    gir_type t = gir_tensor(GN_F32, 0, 0, NULL);
    return val_tensor(gir_make(E->prog, GIR_SIZE, 0, NULL, &(gir_attr){.i = {s}}, &t, NULL), NULL);
}

static value over_rows(elab *E, const builtin_call *c, value x)
{
    gir_space_id s = val_type(E, &x)->space;
    bool mean = c->b->op == RED_MEAN;
    value r = el_space_reduce(E, c->mark, mean ? GIR_SUM : c->b->op, x);
    if (!mean || r.kind == VAL_POISON) return r;
    value n = el_binary(E, c->mark, GIR_MAX, "max", row_count(E, s), val_float(1));
    return el_binary(E, c->mark, GIR_DIV, "/", r, n);
}

static value over_axes(elab *E, const builtin_call *c, value x, int64_t set, bool keep)
{
    gir_type t = *val_type(E, &x);
    bool mean = c->b->op == RED_MEAN;
    double n = 1;
    for (int k = 0; k < t.rank; k++)
        if (set >> k & 1) n *= (double)t.dim[k];
    value r = el_reduce(E, c->mark, mean ? GIR_SUM : c->b->op, x, set, keep);
    if (!mean || r.kind == VAL_POISON || n == 1) return r;
    return el_binary(E, c->mark, GIR_MUL, "*", r, val_float(1 / n));
}

/* `over = node` or `edge`: checks that x is one. */
static bool check_over(elab *E, const builtin_call *c, const value *x)
{
    gir_space_kind k = E->prog->spaces.p[val_type(E, x)->space].kind;
    const value *o = &c->arg[3];
    bool node = o->kind == VAL_SPACE && strcmp(o->u.s, "node") == 0,
         edge = o->kind == VAL_SPACE && strcmp(o->u.s, "edge") == 0;
    if (!node && !edge) {
        el_error(E, c->span[3], "`%s` goes over `node` or `edge`, not over %s", c->b->name,
                 val_text(E, o));
        return false;
    }
    if (k == (node ? GIR_NODE : GIR_EDGE)) return true;
    el_error(E, c->span[0], "`%s` over `%s` does not take %s", c->b->name, o->u.s, val_text(E, x));
    return false;
}

value builtin_reduce(elab *E, const builtin_call *c)
{
    value x = c->arg[0];
    bool keep, whole = !builtin_has(c, 2) && !builtin_has(c, 3);
    if (!builtin_bool(E, c, 4, false, &keep)) return POISON;
    if (builtin_has(c, 1)) {
        if (c->b->op != GIR_RED_MAX && c->b->op != GIR_RED_MIN)
            return el_error(E, c->span[1],
                            "too many arguments: `%s` takes 1, and `axis`, `over` and `keep`",
                            c->b->name);
        return extremum(E, c, x, c->arg[1]);
    }
    if (x.kind == VAL_LIST && whole) return list_reduce(E, c);
    if (val_is_number(&x) && whole) return x;
    if (!builtin_tensor(E, c, 0)) return POISON;
    if (val_type(E, &x)->elem == GN_BOOL)
        return el_error(E, c->span[0], "`%s` does not take %s; `count` counts a mask", c->b->name,
                        val_text(E, &x));
    if ((c->b->op == RED_MEAN) && !builtin_float_tensor(E, c, 0)) return POISON;
    int64_t set = ((int64_t)1 << val_type(E, &x)->rank) - 1;
    if (builtin_has(c, 2) && !builtin_axes(E, c, 2, &x, &set)) return POISON;
    if (builtin_has(c, 3) && !check_over(E, c, &x)) return POISON;
    if (whole || builtin_has(c, 2)) x = over_axes(E, c, x, set, keep);
    if (x.kind == VAL_POISON) return x;
    bool rows = builtin_has(c, 3) || (whole && val_type(E, &x)->space);
    return rows ? over_rows(E, c, x) : x;
}

value builtin_len(elab *E, const builtin_call *c)
{
    if (c->arg[0].kind == VAL_LIST) return val_int(c->arg[0].u.list->n);
    return el_error(E, c->span[0], "`len` takes a list, not %s", val_text(E, &c->arg[0]));
}

/* What is known at compile time as text. */
value builtin_str(elab *E, const builtin_call *c)
{
    const value *v = &c->arg[0];
    if (v->kind == VAL_STRING) return *v;
    if (val_is_number(v) || v->kind == VAL_BOOL) return val_string(val_literal(E, v));
    return el_error(E, c->span[0], "`str` takes a number, not %s", val_text(E, v));
}

/* Layers in v, also as hyperparameters of others, made anew: without names, and so with weights of
 * their own. */
static value anew(elab *E, value v, gn_span at)
{
    if (v.kind != VAL_LIST && v.kind != VAL_INSTANCE) return v;
    if (E->nesting >= EL_MAX_NESTING) return el_error(E, at, "layers in each other without end");
    if (v.kind == VAL_INSTANCE) {
        const ast_decl *d = v.u.instance->decl;
        value *hyper = GN_NEW_N(E->arena, value, d->hyper.n + 1);
        if (!el_step(E, at, d->hyper.n + 1)) return POISON;
        E->nesting++;
        for (uint32_t k = 0; k < d->hyper.n; k++) hyper[k] = anew(E, v.u.instance->hyper[k], at);
        E->nesting--;
        v.u.instance = el_instance(E, d, hyper, at);
        return v;
    }
    value list = val_list(E, v.u.list->n);
    if (!el_step(E, at, v.u.list->n + 1)) return POISON;
    list.u.list->depth = v.u.list->depth;
    list.u.list->key = v.u.list->key;
    E->nesting++;
    for (uint32_t k = 0; k < v.u.list->n; k++) list.u.list->p[k] = anew(E, v.u.list->p[k], at);
    E->nesting--;
    return list;
}

value builtin_copy(elab *E, const builtin_call *c)
{
    if (c->arg[0].kind != VAL_INSTANCE)
        return el_error(E, c->span[0], "`copy` takes a layer with its hyperparameters, not %s",
                        val_text(E, &c->arg[0]));
    return anew(E, c->arg[0], c->mark);
}

value builtin_checkpoint(elab *E, const builtin_call *c)
{
    if (c->arg[0].kind != VAL_INSTANCE)
        return el_error(E, c->span[0],
                        "`checkpoint` takes a layer with its hyperparameters, as in "
                        "`checkpoint(convs[i])(g, h)`, not %s",
                        val_text(E, &c->arg[0]));
    c->arg[0].u.instance->again = true;
    return c->arg[0];
}

value builtin_is_string(elab *E, const builtin_call *c)
{
    (void)E;
    return val_bool(c->arg[0].kind == VAL_STRING);
}

/* Has a family one of this key? */
value builtin_has_key(elab *E, const builtin_call *c)
{
    const value *l = &c->arg[0], *key = &c->arg[1];
    if (l->kind != VAL_LIST || !l->u.list->key)
        return el_error(E, c->span[0], "`has` takes one each of rows or relations, not %s",
                        val_text(E, l));
    for (uint32_t k = 0; k < l->u.list->n; k++)
        if (el_same_key(E, &l->u.list->key[k], key)) return val_bool(true);
    return val_bool(false);
}

value builtin_dim(elab *E, const builtin_call *c)
{
    int axis = 0;
    value last = val_int(-1);
    if (!builtin_tensor(E, c, 0)) return POISON;
    if (!builtin_axis(E, builtin_has(c, 1) ? &c->arg[1] : &last, c->mark, &c->arg[0], &axis))
        return POISON;
    return val_int(val_type(E, &c->arg[0])->dim[axis]);
}

value builtin_rank(elab *E, const builtin_call *c)
{
    return builtin_tensor(E, c, 0) ? val_int(val_type(E, &c->arg[0])->rank) : POISON;
}

value builtin_values(elab *E, const builtin_call *c)
{
    const char *column;
    if (!builtin_tensor(E, c, 0)) return POISON;
    int64_t n = el_values(E, &c->arg[0], &column);
    if (n) return val_int(n);
    return el_error(E, c->span[0], "this is %s: how many different integers that are is not known",
                    val_text(E, &c->arg[0]));
}

value builtin_rows(elab *E, const builtin_call *c)
{
    if (!builtin_tensor(E, c, 0)) return POISON;
    return row_count(E, val_type(E, &c->arg[0])->space);
}

value builtin_space(elab *E, const builtin_call *c)
{
    if (!builtin_tensor(E, c, 0)) return POISON;
    gir_space_kind k = E->prog->spaces.p[val_type(E, &c->arg[0])->space].kind;
    if (k != GIR_NODE && k != GIR_EDGE)
        return el_error(E, c->span[0], "`space` takes values of nodes or edges, not %s",
                        val_text(E, &c->arg[0]));
    return (value){.kind = VAL_SPACE, .u.s = k == GIR_NODE ? "node" : "edge"};
}

value builtin_count(elab *E, const builtin_call *c)
{
    const value *m = &c->arg[0];
    if (m->kind != VAL_TENSOR || val_type(E, m)->elem != GN_BOOL || val_type(E, m)->rank ||
        !val_type(E, m)->space)
        return el_error(E, c->span[0], "`count` takes a mask of nodes or edges, not %s",
                        val_text(E, m));
    return el_space_reduce(E, c->mark, GIR_SUM, val_tensor(gir_cast(E->prog, m->id, GN_F32), NULL));
}

/* How often the data lists the rows of a mask: 0 where each counts once.  *lost: in a way that
 * cannot be followed. */
static gir_id repeats_of(elab *E, gir_id v, bool *lost)
{
    const gir_node *n = gir_at(E->prog, v);
    if (n->op == GIR_INPUT) return el_times_of_mask(E, n->attr.name);
    gir_id found = 0;
    for (uint32_t k = 0; k < n->n_in; k++) {
        gir_id in = gir_in(E->prog, v, (int)k);
        gir_id times = gir_type_of(E->prog, in)->is_graph ? 0 : repeats_of(E, in, lost);
        if (times) found = found ? gir_op2(E->prog, GIR_MUL, found, times) : times;
    }
    *lost |= found && gir_at(E->prog, v)->op != GIR_AND;
    return found;
}

value builtin_repeats(elab *E, const builtin_call *c)
{
    const value *m = &c->arg[0];
    bool lost = false;
    if (m->kind == VAL_NONE) return NONE;
    if (m->kind != VAL_TENSOR || val_type(E, m)->elem != GN_BOOL || val_type(E, m)->rank ||
        !val_type(E, m)->space)
        return el_error(E, c->span[0], "`repeats` takes a mask of nodes or edges, not %s",
                        val_text(E, m));
    if (!E->shape->train_repeats && !E->shape->val_repeats && !E->shape->test_repeats) return NONE;
    gir_id times = repeats_of(E, m->id, &lost);
    if (lost)
        return el_error(E, c->span[0],
                        "the data lists nodes more than once, and how often is known of "
                        "`train_mask` and of `train_mask "
                        "and ...`, not of a mask that is made of it otherwise");
    return times ? val_tensor(times, NULL) : NONE;
}
