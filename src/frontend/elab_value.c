/* Values: what there is while a model is elaborated, as text for messages, and frames that hold it
 * by name. */
#include "frontend/elab.h"

#include <math.h>
#include <string.h>

const value POISON = {.kind = VAL_POISON};
const value NONE = {.kind = VAL_NONE};

value val_int(int64_t i) { return (value){.kind = VAL_INT, .u.i = i}; }
value val_float(double f) { return (value){.kind = VAL_FLOAT, .u.f = f}; }
value val_bool(bool b) { return (value){.kind = VAL_BOOL, .u.truth = b}; }
value val_string(const char *s) { return (value){.kind = VAL_STRING, .u.s = s}; }

value val_list(elab *E, uint32_t n)
{
    value_list *l = GN_NEW(E->arena, value_list);
    l->n = n;
    l->p = GN_NEW_N(E->arena, value, n ? n : 1);
    return (value){.kind = VAL_LIST, .u.list = l};
}

value el_list_done(elab *E, gn_span at, value list)
{
    value_list *l = list.u.list;
    l->depth = 1;
    for (uint32_t i = 0; i < l->n; i++) {
        if (l->p[i].kind == VAL_POISON) return POISON;
        if (l->p[i].kind == VAL_LIST && l->p[i].u.list->depth >= l->depth)
            l->depth = l->p[i].u.list->depth + 1;
    }
    if (l->depth <= EL_MAX_DEPTH) return list;
    return el_error(E, at, "lists are nested more than %d deep", (int)EL_MAX_DEPTH);
}

value val_tensor(gir_id id, const char **axes)
{
    if (!id) return POISON;
    return (value){.kind = VAL_TENSOR, .id = id, .u.axes = axes};
}

bool val_is_number(const value *v) { return v->kind == VAL_INT || v->kind == VAL_FLOAT; }
double val_number(const value *v) { return v->kind == VAL_INT ? (double)v->u.i : v->u.f; }

/* Made of the same layer with equal hyperparameters. */
static bool same_layer(const instance *a, const instance *b)
{
    if (a->decl != b->decl) return false;
    for (uint32_t k = 0; k < a->decl->hyper.n; k++)
        if (!val_equal(&a->hyper[k], &b->hyper[k])) return false;
    return true;
}

bool val_equal(const value *a, const value *b)
{
    if (val_is_number(a) && val_is_number(b)) {
        if (a->kind == VAL_INT && b->kind == VAL_INT) return a->u.i == b->u.i;
        return val_number(a) == val_number(b);
    }
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case VAL_BOOL: return a->u.truth == b->u.truth;
    case VAL_STRING:
    case VAL_SPACE: return strcmp(a->u.s, b->u.s) == 0;
    case VAL_LIST:
        if (a->u.list->n != b->u.list->n) return false;
        for (uint32_t i = 0; i < a->u.list->n; i++)
            if (!val_equal(&a->u.list->p[i], &b->u.list->p[i])) return false;
        return true;
    case VAL_TENSOR: return a->id == b->id;
    case VAL_GRAPH: return a->graph->id == b->graph->id && a->graph->weight == b->graph->weight;
    case VAL_ROWS: return a->id == b->id;
    case VAL_DECL: return a->u.decl == b->u.decl;
    case VAL_BUILTIN: return a->u.builtin == b->u.builtin;
    case VAL_INSTANCE: return same_layer(a->u.instance, b->u.instance);
    default: return true;
    }
}

const gir_type *val_type(const elab *E, const value *v) { return gir_type_of(E->prog, v->id); }

const char *el_type_text(elab *E, const gir_type *t)
{
    if (t->is_graph) return "a graph";
    gn_buf b = {.arena = E->arena};
    gn_buf_add(&b, E->prog->spaces.p[t->space].kind == GIR_FEATURE ? "feature"
                                                                   : el_space_text(E, t->space));
    if (t->rank || !t->space) gn_buf_add(&b, "[");
    for (int k = 0; k < t->rank; k++)
        gn_buf_printf(&b, "%s%lld", k ? ", " : "", (long long)t->dim[k]);
    if (t->rank || !t->space) gn_buf_add(&b, "]");
    if (t->elem != GN_F32) gn_buf_printf(&b, " of %s", gn_elem_name((gn_elem)t->elem));
    return b.p;
}

const char *val_text(elab *E, const value *v)
{
    switch (v->kind) {
    case VAL_UNSET: return "nothing";
    case VAL_POISON: return "a faulty value";
    case VAL_LIST:
        return gn_arena_printf(E->arena, v->u.list->key ? "one each of %u" : "a list of %u",
                               v->u.list->n);
    case VAL_AXIS: return gn_arena_printf(E->arena, "the axis `%s`", v->u.axis->name);
    case VAL_TENSOR: return el_type_text(E, val_type(E, v));
    case VAL_GRAPH: {
        const gir_type *g = gir_type_of(E->prog, v->graph->id);
        bool plain = g->src == g->dst && g->src == E->node;
        return plain ? "a graph"
                     : gn_arena_printf(E->arena, "a relation %s", el_relation_text(E, g));
    }
    case VAL_ROWS: return el_space_text(E, (gir_space_id)v->id);
    case VAL_END: return "an end of an edge";
    case VAL_DECL:
        return gn_arena_printf(E->arena, "%s `%s`",
                               v->u.decl->kind == DECL_FN ? "function" : "layer",
                               v->u.decl->name.text);
    case VAL_BUILTIN: return gn_arena_printf(E->arena, "function `%s`", v->u.builtin->name);
    case VAL_INIT: return "an initialiser";
    case VAL_INSTANCE: return gn_arena_printf(E->arena, "a `%s`", v->u.instance->decl->name.text);
    default: return val_literal(E, v);
    }
}

static void literal(elab *E, const value *v, gn_buf *b)
{
    switch (v->kind) {
    case VAL_NONE: gn_buf_add(b, "none"); return;
    case VAL_INT: gn_buf_printf(b, "%lld", (long long)v->u.i); return;
    case VAL_FLOAT: {
        const char *s = isnan(v->u.f) ? "nan" : gn_arena_printf(E->arena, "%.9g", v->u.f);
        gn_buf_add(b, s);
        if (!strpbrk(s, ".,enN")) gn_buf_add(b, ".0");
        return;
    }
    case VAL_BOOL: gn_buf_add(b, v->u.truth ? "true" : "false"); return;
    case VAL_STRING:
        gn_buf_printf(b, "\"%s\"", gn_diag_clean(E->arena, v->u.s, strlen(v->u.s)));
        return;
    case VAL_SPACE: gn_buf_add(b, v->u.s); return;
    case VAL_LIST:
        gn_buf_add(b, "[");
        for (uint32_t i = 0; i < v->u.list->n && i < 32; i++) {
            if (i) gn_buf_add(b, ", ");
            literal(E, &v->u.list->p[i], b);
        }
        gn_buf_add(b, v->u.list->n > 32 ? ", ...]" : "]");
        return;
    case VAL_DECL: gn_buf_add(b, v->u.decl->name.text); return;
    case VAL_BUILTIN: gn_buf_add(b, v->u.builtin->name); return;
    default: gn_buf_add(b, val_text(E, v)); return;
    }
}

const char *val_literal(elab *E, const value *v)
{
    gn_buf b = {.arena = E->arena};
    literal(E, v, &b);
    return b.p;
}

value el_error(elab *E, gn_span at, const char *fmt, ...)
{
    enum { NOTES = 4 };
    va_list ap;
    va_start(ap, fmt);
    gn_diag_verror(E->diags, E->frame->src, at, fmt, ap);
    va_end(ap);
    int notes = 0; /* the innermost calls, and last the one that the user wrote */
    const frame *last = NULL;
    for (const frame *f = E->frame; f->decl && f->up && f->up->decl; f = f->up) {
        bool again = last && last->up->src == f->up->src && last->call.at == f->call.at,
             outermost = !f->up->up || !f->up->up->decl;
        last = f;
        if (again || (notes >= NOTES - 1 && !outermost)) continue;
        notes++;
        gn_diag_note(E->diags, f->up->src, f->call, "in `%s`, %s here", f->decl->name.text,
                     f->decl->kind == DECL_FN ? "called" : "applied");
    }
    return POISON;
}

/* The layer that runs; code of a train block is of none. */
static uint16_t layer_of(elab *E)
{
    instance *it = E->frame->self;
    if (!it || !it->path) return gir_layer(E->prog, it ? "" : GIR_LOSS);
    if (it->layer_in != E->prog) {
        it->layer_in = E->prog;
        it->layer = gir_layer(E->prog, it->path);
    }
    return it->layer;
}

/* The line of what is compiled that stands there, or called what does. */
static uint32_t own_line(const elab *E, gn_span at)
{
    const frame *f = E->frame;
    uint32_t line, col;
    for (; f->file && f->up; f = f->up) at = f->call;
    gn_source_position(f->src, at.at, &line, &col);
    return f->file ? 0 : line;
}

void el_locate(elab *E, gn_span at)
{
    if (!E->prog) return;
    uint32_t line, col;
    gn_source_position(E->frame->src, at.at, &line, &col);
    bool again = false;
    for (const frame *f = E->frame; f && !again; f = f->up) again = f->self && f->self->again;
    E->prog->loc = (gir_loc){.line = line,
                             .col = (uint16_t)(col > UINT16_MAX ? UINT16_MAX : col),
                             .file = E->frame->file,
                             .layer = layer_of(E),
                             .own = own_line(E, at),
                             .again = again};
}

bool el_step(elab *E, gn_span at, int64_t n)
{
    if (E->diags->errors > GN_MAX_ERRORS) return false; /* no more of them are shown */
    bool spent = E->steps > EL_MAX_STEPS;
    E->steps = n > EL_MAX_STEPS ? EL_MAX_STEPS + 1 : E->steps + n;
    if (E->steps <= EL_MAX_STEPS) return true;
    E->steps = EL_MAX_STEPS + 1;
    if (!spent)
        el_error(E, at, "the model is too long to unroll: more than %d steps at compile time",
                 (int)EL_MAX_STEPS);
    return false;
}

value *el_local(frame *f, const char *name)
{
    const uint32_t *k = gn_map_find(&f->names, name);
    return k && f->values.p[*k].kind != VAL_UNSET ? &f->values.p[*k] : NULL;
}

void el_bind(elab *E, frame *f, const char *name, value v)
{
    const uint32_t *k = gn_map_find(&f->names, name);
    if (k) {
        f->values.p[*k] = v;
        return;
    }
    GN_PUSH(E->arena, f->values, v);
    gn_map_put(&f->names, name, f->values.n - 1);
}

const char **el_axes_new(elab *E, int rank)
{
    return GN_NEW_N(E->arena, const char *, rank > 0 ? rank : 1);
}

const char *el_axis_name(const value *v, int k) { return v->u.axes ? v->u.axes[k] : NULL; }
