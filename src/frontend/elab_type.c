/* Types of inputs and results against values: spaces and dimensions fit, and dimensions that have a
 * name are bound. */
#include "frontend/elab.h"

#include <string.h>

/* A dimension that is just a name. */
static const char *bare(const ast_expr *e) { return e->kind == EXPR_NAME ? e->name : NULL; }

/* Gives axes the names that the type has for them.  Those that `...` before others stands for keep
 * theirs; `...` alone leaves none. */
static void name_axes(elab *E, const ast_type *t, value *v)
{
    int rank = val_type(E, v)->rank, lead = rank - (int)t->dims.n;
    const char **axes = NULL, **had = t->any_dims && t->dims.n ? v->u.axes : NULL;
    for (int k = 0; k < rank; k++) {
        const char *name = k >= lead ? bare(t->dims.p[k - lead]) : had ? had[k] : NULL;
        if (!name) continue;
        if (!axes) axes = el_axes_new(E, rank);
        axes[k] = name;
    }
    v->u.axes = axes;
}

bool el_dims(elab *E, const ast_type *t, int64_t *dim, const char **axes)
{
    if (t->any_dims || t->is_graph) {
        el_error(E, t->span, "the dimensions have to be known here");
        return false;
    }
    if (t->dims.n > GIR_MAX_RANK) {
        el_error(E, t->span, "%u dimensions are too many: at most %d", t->dims.n,
                 (int)GIR_MAX_RANK);
        return false;
    }
    int64_t elems = 1;
    for (uint32_t k = 0; k < t->dims.n; k++) {
        const ast_expr *e = t->dims.p[k];
        if (!el_eval_int(E, e, "a dimension", &dim[k])) return false;
        if (dim[k] < 1 || dim[k] > EL_MAX_DIM) {
            el_error(E, e->span, "a dimension is between 1 and 2^31, not %lld", (long long)dim[k]);
            return false;
        }
        if (__builtin_mul_overflow(elems, dim[k], &elems) || elems > GIR_MAX_ELEMS) {
            el_error(E, t->span, "too many elements: more than 2^40");
            return false;
        }
        if (axes) axes[k] = bare(e);
    }
    return true;
}

/* The type as it was declared, with what its names stand for: "node[in] (in = 16)". */
static const char *declared(elab *E, const ast_type *t)
{
    gn_buf b = {.arena = E->arena}, known = {.arena = E->arena};
    gn_buf_add(&b, "`");
    gn_buf_add(&b, gn_diag_clean(E->arena, E->frame->src->text + t->span.at, t->span.len));
    gn_buf_add(&b, "`");
    for (uint32_t k = 0; k < t->dims.n; k++) {
        const char *name = bare(t->dims.p[k]);
        if (!name) continue;
        value v = el_lookup(E, name, t->dims.p[k]->span);
        if (v.kind == VAL_INT)
            gn_buf_printf(&known, "%s%s = %lld", known.n ? ", " : "", name, (long long)v.u.i);
    }
    if (known.n) gn_buf_printf(&b, " (%s)", known.p);
    return b.p;
}

/* How a value comes to the rows that are asked for, where they are what is wrong with it. */
static const char *space_hint(elab *E, const ast_type *t, const value *v)
{
    if (t->is_graph || v->kind != VAL_TENSOR) return "";
    const gir_type *is = val_type(E, v);
    gir_space_kind k = E->prog->spaces.p[is->space].kind;
    if (!t->any_dims && t->dims.n != is->rank) return "";
    if (t->rows.space == SPACE_NODE && k == GIR_EDGE)
        return "; `sum(u -> v in g: ...)` takes edges to nodes";
    if (t->rows.space == SPACE_EDGE && k == GIR_NODE)
        return "; `edge(u -> v in g: x[u])` takes nodes to edges";
    return "";
}

static void mismatch(elab *E, const ast_type *t, const value *v, const char *what, frame *report,
                     gn_span at)
{
    const char *want = declared(E, t);
    frame *here = E->frame;
    E->frame = report;
    el_error(E, at, "%s is %s, this is %s%s", what, want, val_text(E, v), space_hint(E, t, v));
    E->frame = here;
}

static bool dim_fits(elab *E, const ast_expr *e, int64_t n, instance *remember, bool *reported)
{
    const char *name = bare(e);
    if (name && !el_local(E->frame, name)) {
        bool data = E->frame->decl && E->frame->decl->kind == DECL_MODEL;
        value v = data ? el_data_dim(E, name, e->span) : (value){0};
        if (v.kind == VAL_UNSET) {
            el_bind(E, E->frame, name, val_int(n));
            if (remember && !gn_map_find(&remember->dims, name)) {
                GN_PUSH(E->arena, remember->dim, n);
                gn_map_put(&remember->dims, name, remember->dim.n - 1);
            }
            return true;
        }
    }
    int64_t want;
    if (!el_eval_int(E, e, "a dimension", &want)) {
        *reported = true;
        return false;
    }
    return want == n;
}

static bool relation_fits(elab *E, const ast_type *t, const value *v)
{
    if (v->kind != VAL_GRAPH) return false;
    const gir_type *g = gir_type_of(E->prog, v->graph->id);
    const ast_rows node = {.space = SPACE_NODE, .span = t->span};
    bool layer = E->frame->decl && E->frame->decl->kind == DECL_LAYER;
    if (t->is_relation) return el_rows_fit(E, &t->rows, g->src) && el_rows_fit(E, &t->to, g->dst);
    return g->src == g->dst && (!layer || el_rows_fit(E, &node, g->src));
}

/* One for each type: every element fits by itself, whatever rows it is of. */
static bool match_each(elab *E, const ast_type *t, value *v, const char *what, frame *report,
                       gn_span at, instance *remember)
{
    ast_type one = *t;
    one.each = false;
    one.rows = (ast_rows){.space = SPACE_ANY};
    if (v->kind != VAL_LIST || !v->u.list->key) {
        mismatch(E, t, v, what, report, at);
        return false;
    }
    value l = val_list(E, v->u.list->n);
    l.u.list->depth = v->u.list->depth;
    l.u.list->key = v->u.list->key;
    bool fits = true;
    for (uint32_t k = 0; k < v->u.list->n; k++) {
        value *to = &l.u.list->p[k];
        *to = v->u.list->p[k];
        if (t->is_graph)
            fits = fits && to->kind == VAL_GRAPH;
        else if (t->any_dims || t->dims.n)
            fits = el_match(E, &one, to, what, report, at, remember) && fits;
    }
    *v = l;
    return fits;
}

bool el_match(elab *E, const ast_type *t, value *v, const char *what, frame *report, gn_span at,
              instance *remember)
{
    if (v->kind == VAL_POISON) return false;
    if (t->is_list && v->kind == VAL_LIST) return true;
    if (t->is_list) {
        mismatch(E, t, v, what, report, at);
        return false;
    }
    if (t->each) return match_each(E, t, v, what, report, at, remember);
    bool rows = v->kind == VAL_ROWS && !t->is_graph && !t->any_dims && !t->dims.n && !t->has_elem;
    if (rows && el_rows_fit(E, &t->rows, (gir_space_id)v->id)) return true;
    int errors = E->diags->errors;
    bool fits = t->is_graph ? relation_fits(E, t, v) : v->kind == VAL_TENSOR, reported = false;
    if (fits && !t->is_graph) {
        gir_type type = *val_type(E, v);
        fits = el_rows_fit(E, &t->rows, type.space) && (!t->has_elem || type.elem == t->elem) &&
               (t->any_dims ? t->dims.n <= (uint32_t)type.rank : t->dims.n == (uint32_t)type.rank);
        for (uint32_t k = 0; fits && k < t->dims.n; k++)
            fits = dim_fits(E, t->dims.p[k], type.dim[(uint32_t)type.rank - t->dims.n + k],
                            remember, &reported);
        if (fits) name_axes(E, t, v);
    }
    if (!fits && !reported && errors == E->diags->errors) mismatch(E, t, v, what, report, at);
    return fits;
}
