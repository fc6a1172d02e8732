#include "frontend/builtin.h"

#include <string.h>

static const builtin table[] = {
#define B(name, formals, handler, op) {name, formals, builtin_##handler, op},
#include "frontend/builtins.def"
#undef B
};
enum { COUNT = sizeof table / sizeof *table };

const builtin *gn_builtin_find(const char *name)
{
    for (size_t k = 0; k < COUNT; k++)
        if (strcmp(table[k].name, name) == 0) return &table[k];
    return NULL;
}

uint32_t gn_builtin_names(const char **out, uint32_t max)
{
    uint32_t n = 0;
    for (; n < COUNT && n < max; n++) out[n] = table[n].name;
    return n;
}

/* Names of the formals of b; with `any` those in front of them take positional arguments without
 * end. */
static int formals_of(elab *E, const builtin *b, const char **names, bool *optional, bool *any)
{
    int n = 0;
    *any = false;
    for (const char *s = b->formals; *s;) {
        size_t len = strcspn(s, " ");
        bool opt = s[len - 1] == '?';
        if (len == 3 && memcmp(s, "...", 3) == 0)
            *any = true;
        else {
            names[n] = gn_arena_strndup(E->arena, s, len - opt);
            optional[n++] = opt;
        }
        s += len;
        while (*s == ' ') s++;
    }
    return n;
}

value gn_builtin_call(elab *E, const builtin *b, uint32_t n, const el_arg *args, gn_span mark)
{
    const char *names[8];
    bool optional[8], any, ok = true;
    int formals = formals_of(E, b, names, optional, &any), at = 0;
    builtin_call c = {.b = b, .mark = mark};
    int first = any ? 8 - formals : 0; /* named ones behind those without end */
    for (uint32_t i = 0; i < n; i++) {
        int k = at;
        if (args[i].v.kind == VAL_POISON) ok = false;
        if (args[i].name) {
            for (k = 0; k < formals && strcmp(names[k], args[i].name) != 0; k++) continue;
            if (k == formals)
                return el_error(E, args[i].at, "`%s` takes no `%s`%s", b->name, args[i].name,
                                gn_diag_taken(E->arena, args[i].name, names, (size_t)formals));
            k += first;
        } else if (at++ >= (any ? first : formals))
            return el_error(E, args[i].span, "too many arguments: `%s` takes %d%s", b->name,
                            any ? first : formals,
                            any ? ", or a list of any length: `[a, b]`" : "");
        if (c.arg[k].kind != VAL_UNSET)
            return el_error(E, args[i].span, "`%s` is given twice", any ? args[i].name : names[k]);
        c.arg[k] = args[i].v;
        c.span[k] = args[i].span;
    }
    c.n = at;
    for (int k = 0; k < formals; k++)
        if (!optional[k] && c.arg[first + k].kind == VAL_UNSET)
            return el_error(E, mark, "`%s` needs `%s`", b->name, names[k]);
    if (!ok) return POISON;
    el_locate(E, mark);
    return b->call(E, &c);
}

static bool wrong(elab *E, const builtin_call *c, int k, const char *want)
{
    el_error(E, c->span[k], "`%s` takes %s here, not %s", c->b->name, want,
             val_text(E, &c->arg[k]));
    return false;
}

bool builtin_int(elab *E, const builtin_call *c, int k, int64_t fallback, int64_t *out)
{
    *out = c->arg[k].kind == VAL_INT ? c->arg[k].u.i : fallback;
    return !builtin_has(c, k) || c->arg[k].kind == VAL_INT || wrong(E, c, k, "an integer");
}

bool builtin_number(elab *E, const builtin_call *c, int k, double fallback, double *out)
{
    bool number = val_is_number(&c->arg[k]);
    *out = number ? val_number(&c->arg[k]) : fallback;
    return !builtin_has(c, k) || number || wrong(E, c, k, "a number");
}

bool builtin_bool(elab *E, const builtin_call *c, int k, bool fallback, bool *out)
{
    *out = c->arg[k].kind == VAL_BOOL ? c->arg[k].u.truth : fallback;
    return !builtin_has(c, k) || c->arg[k].kind == VAL_BOOL || wrong(E, c, k, "true or false");
}

bool builtin_tensor(elab *E, const builtin_call *c, int k)
{
    return c->arg[k].kind == VAL_TENSOR || wrong(E, c, k, "a tensor");
}

bool builtin_float_tensor(elab *E, const builtin_call *c, int k)
{
    if (!builtin_tensor(E, c, k)) return false;
    return gn_elem_is_float((gn_elem)val_type(E, &c->arg[k])->elem) ||
           wrong(E, c, k, "a tensor of floats (`float(x)` makes one)");
}

bool builtin_graph(elab *E, const builtin_call *c, int k)
{
    return c->arg[k].kind == VAL_GRAPH || wrong(E, c, k, "a graph");
}

bool builtin_dims(elab *E, const builtin_call *c, int k, int *rank, int64_t *dim)
{
    const value *v = &c->arg[k];
    if (v->kind != VAL_LIST) return wrong(E, c, k, "a list of dimensions");
    if (v->u.list->n > GIR_MAX_RANK) {
        el_error(E, c->span[k], "%u dimensions are too many: at most %d", v->u.list->n,
                 (int)GIR_MAX_RANK);
        return false;
    }
    *rank = (int)v->u.list->n;
    for (int i = 0; i < *rank; i++) {
        const value *d = &v->u.list->p[i];
        if (d->kind != VAL_INT) return wrong(E, c, k, "a list of dimensions");
        dim[i] = d->u.i;
    }
    return true;
}

bool builtin_axis(elab *E, const value *v, gn_span at, const value *x, int *axis)
{
    int rank = val_type(E, x)->rank;
    value number = *v;
    if (v->kind == VAL_AXIS) {
        for (int k = 0; k < rank; k++) {
            const char *name = el_axis_name(x, k);
            if (!name || strcmp(name, v->u.axis->name) != 0) continue;
            *axis = k;
            return true;
        }
        number = *v->u.axis->number;
        if (number.kind == VAL_UNSET || number.kind == VAL_POISON) {
            el_error(E, at, "%s has no axis named `%s`", val_text(E, x), v->u.axis->name);
            return false;
        }
    }
    if (number.kind != VAL_INT) {
        el_error(E, at, "an axis is an integer or a name, not %s", val_text(E, &number));
        return false;
    }
    int64_t k = number.u.i < 0 ? number.u.i + rank : number.u.i;
    if (k < 0 || k >= rank) {
        el_error(E, at, "%s has no axis %lld", val_text(E, x), (long long)number.u.i);
        return false;
    }
    *axis = (int)k;
    return true;
}

bool builtin_axes(elab *E, const builtin_call *c, int k, const value *x, int64_t *set)
{
    const value *v = &c->arg[k];
    const value_list one = {.n = 1, .p = (value *)(uintptr_t)v},
                     *list = v->kind == VAL_LIST ? v->u.list : &one;
    *set = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        int axis;
        if (!builtin_axis(E, &list->p[i], c->span[k], x, &axis)) return false;
        *set |= (int64_t)1 << axis;
    }
    return true;
}
