/* Calls: arguments to formals, by place and by name; functions run, layers are made, and applied to
 * inputs. Needs: arguments that are evaluated.  Makes: instances, whose names are those of the
 * weights, and values. */
#include "frontend/elab.h"

#include <math.h>
#include <string.h>

frame *el_push_frame(elab *E, const ast_decl *d, const gn_source *src, instance *self, gn_span call)
{
    frame *f = GN_NEW(E->arena, frame);
    f->up = E->frame;
    f->decl = d;
    f->src = src;
    f->self = self;
    f->call = call;
    gn_map_init(&f->names, E->arena);
    gn_map_init(&f->buffers, E->arena);
    for (uint32_t i = 0; i < E->sources.n; i++)
        if (E->sources.p[i] == src) f->file = (uint16_t)i;
    E->frame = f;
    return f;
}

void el_pop_frame(elab *E) { E->frame = E->frame->up; }

static bool kind_is(const char *a, const char *b) { return a && strcmp(a, b) == 0; }

/* The kind that a hyperparameter takes, by its declaration or its default. */
static const char *kind_of(const ast_formal *f, const value *given)
{
    if (f->kind || !given) return f->kind;
    switch (given->kind) {
    case VAL_INT: return "int";
    case VAL_FLOAT: return "float";
    case VAL_BOOL: return "bool";
    case VAL_STRING: return "string";
    case VAL_LIST: return "list";
    default: return NULL;
    }
}

/* Checks a hyperparameter against its kind, and turns an integer into the float that is wanted.
 * `given`: its default. */
bool el_coerce(elab *E, const ast_formal *f, const value *given, bool strict, value *v,
               const char **why)
{
    const char *kind = strict || f->kind ? kind_of(f, given) : NULL;
    bool ok = true;
    if (kind_is(kind, "float")) {
        ok = val_is_number(v);
        if (ok) *v = val_float(val_number(v));
    } else if (kind_is(kind, "int"))
        ok = v->kind == VAL_INT;
    else if (kind_is(kind, "dim"))
        ok = v->kind == VAL_INT && v->u.i >= 1 && v->u.i <= EL_MAX_DIM;
    else if (kind_is(kind, "bool"))
        ok = v->kind == VAL_BOOL;
    else if (kind_is(kind, "string"))
        /* what a default names may be a layer, too: an aggregator */
        ok = v->kind == VAL_STRING || (!f->kind && v->kind == VAL_INSTANCE);
    else if (kind_is(kind, "list"))
        ok = v->kind == VAL_LIST;
    if (v->kind == VAL_POISON) return true;
    static const struct {
        const char *kind, *text;
    } texts[] = {{"float", "a number"},
                 {"int", "an integer"},
                 {"dim", "a dimension, an integer of at least 1"},
                 {"bool", "true or false"},
                 {"string", "a string"},
                 {"list", "a list"}};
    if (!ok && kind_is(kind, "dim") && v->kind == VAL_INT && v->u.i > EL_MAX_DIM)
        *why = gn_arena_printf(E->arena, "`%s` is a dimension, at most %lld, not %s", f->name.text,
                               (long long)EL_MAX_DIM, val_text(E, v));
    else
        for (size_t k = 0; !ok && k < sizeof texts / sizeof *texts; k++)
            if (kind_is(kind, texts[k].kind))
                *why = gn_arena_printf(E->arena, "`%s` is %s, not %s", f->name.text, texts[k].text,
                                       val_text(E, v));
    return ok;
}

/* What whoever gives a layer two widths, as torch wants them, should know. */
static const char *hint_of_widths(elab *E, const ast_decl *d, uint32_t k, const value *given)
{
    const ast_formals *fs = &d->hyper;
    if (d->kind != DECL_LAYER || k != 1 || !kind_is(fs->p[0].kind, "dim") || given->kind != VAL_INT)
        return "";
    return gn_arena_printf(E->arena,
                           "; the width that comes in is its input's, and not given: `%s(%s)`",
                           d->name.text, fs->p[0].name.text);
}

/* Puts arguments where they belong; out[k] stays UNSET for those left out. */
static bool place(elab *E, const ast_decl *d, const ast_formals *fs, uint32_t n, const el_arg *args,
                  gn_span mark, value *out, gn_span *spans)
{
    bool ok = true;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = i;
        if (args[i].name) {
            for (k = 0; k < fs->n && strcmp(fs->p[k].name.text, args[i].name) != 0; k++) continue;
            if (k == fs->n) {
                GN_VEC(const char *) names = {0};
                for (uint32_t j = 0; j < fs->n; j++) GN_PUSH(E->arena, names, fs->p[j].name.text);
                el_error(E, args[i].at, "`%s` takes no `%s`%s", d->name.text, args[i].name,
                         gn_diag_taken(E->arena, args[i].name, names.p, names.n));
                ok = false;
                continue;
            }
        } else if (k >= fs->n) {
            el_error(E, args[i].span, "too many arguments: `%s` takes %u here", d->name.text,
                     fs->n);
            return false;
        } else if (fs->p[k].by_name) {
            const char *name = fs->p[k].name.text;
            el_error(E, args[i].span, "`%s` takes `%s` by its name, `%s = ...`%s", d->name.text,
                     name, name, hint_of_widths(E, d, k, &args[i].v));
            ok = false;
            continue;
        }
        if (out[k].kind != VAL_UNSET) {
            el_error(E, args[i].span, "`%s` is given twice", fs->p[k].name.text);
            ok = false;
        }
        out[k] = args[i].v;
        spans[k] = args[i].span;
    }
    (void)mark;
    return ok;
}

/* Values of all formals into the frame that is to run: given ones, and defaults evaluated there. */
static bool bind(elab *E, const ast_decl *d, const ast_formals *fs, value *v, const gn_span *spans,
                 frame *caller, gn_span mark, bool strict)
{
    bool ok = true;
    for (uint32_t k = 0; k < fs->n; k++) {
        const ast_formal *f = &fs->p[k];
        value given = {0};
        const char *why = NULL;
        bool asked = v[k].kind != VAL_UNSET;
        if (f->value && (!asked || (strict && !f->kind))) given = el_eval(E, f->value);
        frame *callee = E->frame;
        E->frame = caller;
        if (!asked && !f->value) {
            v[k] = el_error(E, mark, "`%s` needs `%s`", d->name.text, f->name.text);
            ok = false;
        } else if (!asked)
            v[k] = given;
        if (!el_coerce(E, f, f->value ? &given : NULL, strict, &v[k], &why)) {
            v[k] = el_error(E, asked ? spans[k] : mark, "%s%s", why,
                            hint_of_widths(E, d, k, &v[k]));
            ok = false;
        }
        E->frame = callee;
        el_bind(E, E->frame, f->name.text, v[k]);
    }
    return ok;
}

static bool enter(elab *E, gn_span mark, const ast_decl *d)
{
    if (E->calls < EL_MAX_CALLS) {
        E->calls++;
        return true;
    }
    el_error(E, mark, "`%s` is nested more than %d levels deep: does it use itself?", d->name.text,
             (int)EL_MAX_CALLS);
    return false;
}

static value call_function(elab *E, const ast_decl *d, uint32_t n, const el_arg *args, gn_span mark)
{
    value *v = GN_NEW_N(E->arena, value, d->hyper.n + 1);
    gn_span *spans = GN_NEW_N(E->arena, gn_span, d->hyper.n + 1);
    if (!place(E, d, &d->hyper, n, args, mark, v, spans) || !enter(E, mark, d)) return POISON;
    frame *caller = E->frame, *f = el_push_frame(E, d, d->src, caller->self, mark);
    value result = POISON;
    if (bind(E, d, &d->hyper, v, spans, caller, mark, false)) {
        if (d->value)
            result = el_eval(E, d->value);
        else {
            el_block(E, &d->body);
            if (f->returned)
                result = f->result;
            else
                el_error(E, d->name.span, "`%s` ends without `return`", d->name.text);
        }
    }
    el_pop_frame(E);
    E->calls--;
    return result;
}

instance *el_instance(elab *E, const ast_decl *d, value *hyper, gn_span at)
{
    instance *it = GN_NEW(E->arena, instance);
    it->decl = d;
    it->hyper = hyper;
    it->made_src = E->frame->src;
    it->made_at = at;
    gn_map_init(&it->dims, E->arena);
    gn_map_init(&it->child_index, E->arena);
    gn_map_init(&it->weight_index, E->arena);
    return it;
}

static value make_instance(elab *E, const ast_decl *d, uint32_t n, const el_arg *args, gn_span mark)
{
    value *v = GN_NEW_N(E->arena, value, d->hyper.n + 1);
    gn_span *spans = GN_NEW_N(E->arena, gn_span, d->hyper.n + 1);
    if (!place(E, d, &d->hyper, n, args, mark, v, spans) || !enter(E, mark, d)) return POISON;
    frame *caller = E->frame;
    el_push_frame(E, d, d->src, caller->self, mark);
    bool ok = bind(E, d, &d->hyper, v, spans, caller, mark, true);
    el_pop_frame(E);
    E->calls--;
    for (uint32_t k = 0; k < d->hyper.n; k++) ok = ok && v[k].kind != VAL_POISON;
    return ok ? (value){.kind = VAL_INSTANCE, .u.instance = el_instance(E, d, v, mark)} : POISON;
}

/* Names ---------------------------------------------------------------------------------------- */

static const char *join_path(elab *E, const char *a, const char *b)
{
    if (!*a || !*b) return *a ? a : b;
    return gn_arena_printf(E->arena, "%s.%s", a, b);
}

/* Gives an instance its name under the layer that is running.  When that layer runs again, what it
 * makes under the same name is what it made before. */
static instance *adopt(elab *E, instance *it, const char *name, const char *file, gn_span at)
{
    instance *owner = E->frame->self;
    if (!owner || it->named) return it;
    const uint32_t *k = gn_map_find(&owner->child_index, name);
    child *c = k ? &owner->children.p[*k] : NULL;
    if (c && c->stamp == owner->applications) {
        el_error(E, at,
                 "`%s` already names a layer with weights: give this one another name; several of "
                 "a kind are a list, "
                 "`[... for i in 0..n]`",
                 name);
        return it;
    }
    if (c) {
        c->stamp = owner->applications;
        const value old = {.kind = VAL_INSTANCE, .u.instance = c->instance};
        const value new = {.kind = VAL_INSTANCE, .u.instance = it};
        if (c->instance && val_equal(&old, &new)) return c->instance;
        el_error(E, at,
                 "`%s` was made with other hyperparameters when this layer was applied before",
                 name);
        return it;
    }
    it->named = true;
    it->path = join_path(E, owner->path, name);
    it->file_path = join_path(E, owner->file_path, file);
    child fresh = {name, it, owner->applications};
    GN_PUSH(E->arena, owner->children, fresh);
    gn_map_put(&owner->child_index, name, owner->children.n - 1);
    return it;
}

value el_name_instances(elab *E, value v, const char *name, const char *file, gn_span at)
{
    if (v.kind == VAL_INSTANCE) v.u.instance = adopt(E, v.u.instance, name, file, at);
    if (v.kind != VAL_LIST) return v;
    bool any = false;
    for (uint32_t i = 0; i < v.u.list->n && !any; i++) {
        value_kind k = v.u.list->p[i].kind;
        any = k == VAL_INSTANCE || k == VAL_LIST;
    }
    if (!any || !el_step(E, at, v.u.list->n) || E->nesting >= EL_MAX_NESTING) return v;
    value named = val_list(E, v.u.list->n);
    named.u.list->depth = v.u.list->depth;
    named.u.list->key = v.u.list->key;
    E->nesting++;
    for (uint32_t i = 0; i < v.u.list->n; i++) {
        const char *of = v.u.list->key ? el_key_name(E, &v.u.list->key[i])
                                       : gn_arena_printf(E->arena, "%u", i);
        named.u.list->p[i] = el_name_instances(E, v.u.list->p[i],
                                               gn_arena_printf(E->arena, "%s.%s", name, of),
                                               join_path(E, file, of), at);
    }
    E->nesting--;
    return named;
}

/* A layer applied where it was made, `Linear(16)(x)`: "Linear", "Linear_1", ... in order. */
static instance *adopt_nameless(elab *E, instance *it, gn_span at)
{
    instance *owner = E->frame->self;
    const char *base = it->decl->name.text, *name = base;
    for (int k = 1; owner; k++) {
        const uint32_t *c = gn_map_find(&owner->child_index, name);
        if (!c || owner->children.p[*c].stamp != owner->applications || !el_step(E, at, 1)) break;
        name = gn_arena_printf(E->arena, "%s_%d", base, k);
    }
    return adopt(E, it, name, name, at);
}

/* Application ---------------------------------------------------------------------------------- */

static bool bind_inputs(elab *E, instance *it, value *v, const gn_span *spans, frame *caller,
                        gn_span mark)
{
    const ast_formals *fs = &it->decl->inputs;
    bool ok = true;
    for (uint32_t k = 0; k < fs->n; k++) {
        const ast_formal *f = &fs->p[k];
        frame *callee = E->frame;
        if (v[k].kind == VAL_UNSET && f->value)
            v[k] = el_eval(E, f->value);
        else if (v[k].kind == VAL_UNSET) {
            E->frame = caller;
            v[k] = el_error(E, mark, "`%s` needs its input `%s`", it->decl->name.text,
                            f->name.text);
            E->frame = callee;
        }
        const char *what = gn_arena_printf(E->arena, "input `%s` of `%s`", f->name.text,
                                           it->decl->name.text);
        bool optional = f->value && v[k].kind == VAL_NONE;
        if (!optional &&
            !el_match(E, &f->type, &v[k], what, caller, spans[k].len ? spans[k] : mark, it))
            ok = false;
        el_bind(E, E->frame, f->name.text, v[k]);
    }
    return ok;
}

/* Results against their declared types. */
static bool match_results(elab *E, instance *it, value *r)
{
    const ast_decl *d = it->decl;
    const char *name = d->name.text;
    uint32_t n = d->results.n;
    if (n == 1) {
        const char *what = gn_arena_printf(E->arena, "the result of `%s`", name);
        const ast_type *t = &d->results.p[0];
        return el_match(E, t, r, what, E->frame, t->span, it);
    }
    if (r->kind == VAL_POISON) return false;
    if (r->kind != VAL_LIST || r->u.list->n != n) {
        el_error(E, d->results_at, "`%s` declares %u results, and returns %s", name, n,
                 val_text(E, r));
        return false;
    }
    value l = val_list(E, n);
    bool fits = true;
    for (uint32_t k = 0; k < n; k++) {
        const char *what = gn_arena_printf(E->arena, "the result [%u] of `%s`", k, name);
        const ast_type *t = &d->results.p[k];
        l.u.list->p[k] = r->u.list->p[k];
        fits &= el_match(E, t, &l.u.list->p[k], what, E->frame, t->span, it);
    }
    *r = el_list_done(E, d->results_at, l);
    return fits;
}

static value run_layer(elab *E, instance *it)
{
    const ast_decl *d = it->decl;
    el_block(E, &d->body);
    if (!E->frame->returned)
        return el_error(E, d->name.span, "`%s` ends without `return`", d->name.text);
    value r = E->frame->result;
    if (it == E->root) E->output_of = E->frame->ret;
    if (d->results.n && !match_results(E, it, &r)) return POISON;
    if (!d->results.n && r.kind == VAL_TENSOR) r.u.axes = NULL;
    return r;
}

value el_apply(elab *E, instance *it, uint32_t n, const el_arg *args, gn_span mark)
{
    const ast_decl *d = it->decl;
    value *v = GN_NEW_N(E->arena, value, d->inputs.n + 1);
    gn_span *spans = GN_NEW_N(E->arena, gn_span, d->inputs.n + 1);
    if (!place(E, d, &d->inputs, n, args, mark, v, spans) || !enter(E, mark, d)) return POISON;
    if (!it->named) it = adopt_nameless(E, it, mark);
    frame *caller = E->frame;
    el_push_frame(E, d, d->src, it, mark);
    it->applications++;
    for (uint32_t k = 0; k < d->hyper.n; k++)
        el_bind(E, E->frame, d->hyper.p[k].name.text, it->hyper[k]);
    for (uint32_t k = 0; k < it->dims.n; k++)
        el_bind(E, E->frame, it->dims.keys[k], val_int(it->dim.p[it->dims.values[k]]));
    value result = bind_inputs(E, it, v, spans, caller, mark) ? run_layer(E, it) : POISON;
    el_pop_frame(E);
    E->calls--;
    if (it == E->root) E->output = result;
    return result;
}

/* Calls ---------------------------------------------------------------------------------------- */

value el_call_value(elab *E, value f, uint32_t n, const el_arg *args, gn_span mark)
{
    switch (f.kind) {
    case VAL_POISON: return f;
    case VAL_BUILTIN: return gn_builtin_call(E, f.u.builtin, n, args, mark);
    case VAL_INSTANCE: return el_apply(E, f.u.instance, n, args, mark);
    case VAL_DECL:
        return f.u.decl->kind == DECL_FN ? call_function(E, f.u.decl, n, args, mark)
                                         : make_instance(E, f.u.decl, n, args, mark);
    default: return el_error(E, mark, "%s cannot be called", val_text(E, &f));
    }
}

/* `axis = heads` means the axis of that name where the tensor has one. */
static value axis_argument(elab *E, const ast_expr *e)
{
    value v = el_lookup(E, e->name, e->span);
    if (v.kind == VAL_AXIS || v.kind == VAL_NONE || v.kind == VAL_LIST) return v;
    el_axis *axis = GN_NEW(E->arena, el_axis);
    axis->name = e->name;
    axis->number = GN_NEW(E->arena, value);
    *axis->number = v;
    return (value){.kind = VAL_AXIS, .u.axis = axis};
}

/* A name that the code gave to a value, and that is also a function's. */
static bool hides_function(elab *E, const ast_expr *callee, const value *f)
{
    bool callable = f->kind == VAL_BUILTIN || f->kind == VAL_INSTANCE || f->kind == VAL_DECL ||
                    f->kind == VAL_POISON;
    return !callable && callee->kind == EXPR_NAME &&
           (gn_map_find(el_visible(E), callee->name) || gn_builtin_find(callee->name));
}

static void arguments(elab *E, const ast_args *from, el_arg *args)
{
    for (uint32_t i = 0; i < from->n; i++) {
        const ast_arg *a = &from->p[i];
        bool axis = a->name && strcmp(a->name, "axis") == 0 && a->value->kind == EXPR_NAME;
        args[i].name = a->name;
        args[i].span = a->value->span;
        args[i].at = a->at;
        args[i].v = axis ? axis_argument(E, a->value) : el_eval(E, a->value);
    }
}

value el_call(elab *E, const ast_expr *e)
{
    value f = el_eval(E, e->a);
    if (hides_function(E, e->a, &f))
        return el_error(
            E, e->a->span,
            "`%s` is %s here, which cannot be called, and hides the function of that name",
            e->a->name, val_text(E, &f));
    el_arg *args = GN_NEW_N(E->arena, el_arg, e->args.n + 1);
    arguments(E, &e->args, args);
    el_locate(E, e->mark);
    return el_call_value(E, f, e->args.n, args, e->mark);
}

value el_call_with_message(elab *E, value f, const ast_expr *e, value m)
{
    el_arg *args = GN_NEW_N(E->arena, el_arg, e->args.n + 1);
    args[0] = (el_arg){.v = m, .span = e->b->span};
    arguments(E, &e->args, args + 1);
    el_locate(E, e->mark);
    return el_call_value(E, f, e->args.n + 1, args, e->mark);
}
