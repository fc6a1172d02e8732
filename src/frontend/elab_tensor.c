/* Operators on tensors: types agree, or the program gets no operator and the user a message. */
#include "frontend/elab.h"

#include <math.h>
#include <string.h>

gir_id el_make(elab *E, gn_span at, gir_op op, int n, const gir_id *in, const gir_attr *attr,
               const gir_type *want)
{
    const char *why = NULL;
    gir_attr none = {0};
    gir_id id = gir_make(E->prog, op, n, in, attr ? attr : &none, want, &why);
    if (!id) el_error(E, at, "%s", why ? why : "these operands do not fit");
    return id;
}

static bool float_map(gir_op op)
{
    switch (op) {
    case GIR_NEG:
    case GIR_ABS:
    case GIR_SIGN:
    case GIR_DETACH:
    case GIR_NOT: return false;
    default: return true;
    }
}

value el_unary(elab *E, gn_span at, gir_op op, value a)
{
    if (a.kind == VAL_POISON) return a;
    const char *name = op == GIR_NEG ? "-" : gir_ops[op].text;
    if (a.kind != VAL_TENSOR)
        return el_error(E, at, "`%s` does not take %s", name, val_text(E, &a));
    gn_elem e = (gn_elem)val_type(E, &a)->elem;
    bool fits = op == GIR_NOT      ? e == GN_BOOL
                : op == GIR_DETACH ? true
                : float_map(op)    ? gn_elem_is_float(e)
                                   : e != GN_BOOL;
    if (!fits) {
        const char *hint = op != GIR_NOT ? "; `float(x)` makes it one of floats" : "";
        return el_error(E, at, "`%s` does not take %s%s", name, val_text(E, &a), hint);
    }
    el_locate(E, at);
    return val_tensor(el_make(E, at, op, 1, &a.id, NULL, NULL), a.u.axes);
}

static bool is_logic(gir_op op) { return op == GIR_AND || op == GIR_OR; }
static bool is_equality(gir_op op) { return op == GIR_EQ || op == GIR_NE; }

/* Element type of tensors and numbers together. */
static bool one_elem(elab *E, gn_span at, gir_op op, const char *text, int n, const value *v,
                     gn_elem *out)
{
    const value *tensor = NULL, *real = NULL;
    for (int i = 0; i < n; i++) {
        if (v[i].kind == VAL_FLOAT) real = &v[i];
        if (v[i].kind == VAL_TENSOR) {
            gn_elem e = (gn_elem)val_type(E, &v[i])->elem;
            if (tensor && e != *out) {
                el_error(E, at,
                         "`%s` takes tensors of one element type, not %s and %s; `float(x)` makes "
                         "floats",
                         text, val_text(E, tensor), val_text(E, &v[i]));
                return false;
            }
            tensor = &v[i];
            *out = e;
        } else if (!val_is_number(&v[i])) {
            const char *hint = v[i].kind == VAL_LIST ? "; `tensor(list)` makes a tensor of a list"
                                                     : "";
            el_error(E, at, "`%s` does not take %s%s", text, val_text(E, &v[i]), hint);
            return false;
        }
    }
    bool boolean = *out == GN_BOOL, numbers = false;
    for (int i = 0; i < n; i++) numbers |= val_is_number(&v[i]);
    if (is_logic(op) ? !boolean : boolean && (numbers || !is_equality(op))) {
        el_error(E, at, "`%s` does not take %s%s", text, val_text(E, tensor),
                 boolean ? "; `float(x)` makes floats" : "");
        return false;
    }
    if (real && !gn_elem_is_float(*out)) {
        el_error(E, at, "`%s` takes whole numbers with %s, not %s; `float(x)` makes floats", text,
                 val_text(E, tensor), val_text(E, real));
        return false;
    }
    if (op == GIR_DIV && !gn_elem_is_float(*out)) {
        el_error(E, at, "`/` divides floats, not %s; `float(x)` makes floats", val_text(E, tensor));
        return false;
    }
    return true;
}

value el_binary(elab *E, gn_span at, gir_op op, const char *text, value a, value b)
{
    value v[2] = {a, b};
    if (a.kind == VAL_POISON || b.kind == VAL_POISON) return POISON;
    gn_elem e = GN_F32;
    if (!one_elem(E, at, op, text, 2, v, &e)) return POISON;
    gir_type t = {.elem = (uint8_t)e};
    const char **axes;
    el_locate(E, at);
    if (!el_align(E, at, text, 2, v, &t, &axes)) return POISON;
    gir_id in[2] = {v[0].id, v[1].id};
    return val_tensor(el_make(E, at, op, 2, in, NULL, NULL), axes);
}

value el_select(elab *E, gn_span at, value c, value a, value b)
{
    value v[3] = {c, a, b};
    if (c.kind == VAL_POISON || a.kind == VAL_POISON || b.kind == VAL_POISON) return POISON;
    gn_elem e = GN_F32;
    if (!one_elem(E, at, GIR_EQ, "?", 2, v + 1, &e)) return POISON;
    gir_type t = {.elem = (uint8_t)e};
    const char **axes;
    el_locate(E, at);
    if (!el_align(E, at, "?", 3, v, &t, &axes)) return POISON;
    gir_id in[3] = {v[0].id, v[1].id, v[2].id};
    return val_tensor(el_make(E, at, GIR_SELECT, 3, in, NULL, NULL), axes);
}

/* Over the trailing axes of the bit set. */
value el_reduce(elab *E, gn_span at, int red, value x, int64_t axes, bool keep)
{
    gir_type t = *val_type(E, &x);
    if (!axes) return x;
    el_locate(E, at);
    gir_id r = el_make(E, at, GIR_REDUCE, 1, &x.id, &(gir_attr){.i = {red, axes}}, NULL);
    if (!r) return POISON;
    int rank = 0;
    int64_t dim[GIR_MAX_RANK];
    const char **names = el_axes_new(E, t.rank);
    for (int k = 0; k < t.rank; k++) {
        bool gone = axes >> k & 1;
        if (gone && !keep) continue;
        names[rank] = el_axis_name(&x, k);
        dim[rank++] = gone ? 1 : t.dim[k];
    }
    return val_tensor(keep ? gir_reshape(E->prog, r, rank, dim) : r, names);
}

value el_space_reduce(elab *E, gn_span at, int red, value x)
{
    el_locate(E, at);
    return val_tensor(el_make(E, at, GIR_SPACE_REDUCE, 1, &x.id, &(gir_attr){.i = {red}}, NULL),
                      x.u.axes);
}

/* v (a tensor or a number) to the type that is wanted; reports what is wrong as "`what` ...". */
bool el_broadcast_to(elab *E, gn_span at, value v, const gir_type *want, const char *what,
                     gir_id *out)
{
    if (v.kind == VAL_POISON) return false;
    if (val_is_number(&v)) {
        *out = gir_const(E->prog, want, val_number(&v));
        return true;
    }
    bool fits = v.kind == VAL_TENSOR;
    if (fits) {
        const gir_type *t = val_type(E, &v);
        fits = t->elem == want->elem && (!t->space || t->space == want->space) &&
               t->rank <= want->rank;
        for (int k = 0; fits && k < t->rank; k++) {
            int64_t d = want->dim[k + want->rank - t->rank];
            fits = t->dim[k] == d || t->dim[k] == 1;
        }
    }
    if (!fits) {
        el_error(E, at, "%s is %s, this is %s", what, el_type_text(E, want), val_text(E, &v));
        return false;
    }
    *out = gir_broadcast(E->prog, v.id, want);
    return true;
}
