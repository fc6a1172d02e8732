/* Parameters and buffers: shapes, layouts in weight files. */
#include "frontend/elab.h"

#include <string.h>

/* Shape in files: as declared by `shape`, or transposed to [product of dims 1.., dim 0], or as it
 * is. */
static bool file_shape(elab *E, const ast_stmt *s, gn_param *p)
{
    const gir_type *t = &p->type;
    int64_t elems = gir_row_elems(t), product = 1;
    int lead = p->over != NULL;
    p->transposed = s->transposed;
    if (s->transposed && (t->rank < 2 || lead)) {
        el_error(E, s->type.span, "only a parameter of two dimensions or more%s can be transposed",
                 lead ? ", without rows," : "");
        return false;
    }
    p->file_rank = s->transposed ? 2 : lead + t->rank;
    if (lead) p->file_dim[0] = p->rows;
    for (int k = 0; k < t->rank && !s->transposed; k++) p->file_dim[lead + k] = t->dim[k];
    if (__builtin_mul_overflow(elems, p->rows, &elems) || elems > GIR_MAX_ELEMS) {
        el_error(E, s->type.span, "too many elements: more than 2^40");
        return false;
    }
    if (s->transposed) {
        p->file_dim[0] = elems / t->dim[0];
        p->file_dim[1] = t->dim[0];
    }
    if (!s->has_shape) return true;
    if (s->shape.n > 8) {
        el_error(E, s->type.span, "a shape in files has at most 8 dimensions");
        return false;
    }
    p->file_rank = (int)s->shape.n;
    for (uint32_t k = 0; k < s->shape.n; k++) {
        if (!el_eval_int(E, s->shape.p[k], "a dimension", &p->file_dim[k])) return false;
        if (p->file_dim[k] < 1 || __builtin_mul_overflow(product, p->file_dim[k], &product))
            product = -1;
    }
    if (product == elems) return true;
    el_error(E, s->shape.n ? s->shape.p[0]->span : s->span,
             "the shape in files has not as many elements as the parameter");
    return false;
}

static bool same_param(const gn_param *a, const gn_param *b)
{
    return gir_type_eq(&a->type, &b->type) && strcmp(a->file_name, b->file_name) == 0 &&
           a->trainable == b->trainable && a->rows == b->rows && el_same_init(a, b);
}

/* Notes the parameter for the model; the same one again is fine, in another application or
 * program. */
static bool declare(elab *E, gn_span at, const char *local, const gn_param *p)
{
    instance *owner = E->frame->self;
    const uint32_t *k = gn_map_find(&owner->child_index, local);
    child *c = k ? &owner->children.p[*k] : NULL;
    const uint32_t *known = gn_map_find(&E->param_index, p->name);
    if (c && (c->instance || c->stamp == owner->applications)) {
        bool fn = E->frame->decl && E->frame->decl->kind == DECL_FN;
        el_error(E, at, "`%s` is declared already%s", local,
                 fn ? ": a function that declares parameters is called once in a layer" : "");
        return false;
    }
    if (known && !same_param(&E->params.p[*known], p)) {
        el_error(E, at, "`%s` was declared otherwise when this layer was applied before", local);
        return false;
    }
    if (!known) {
        const uint32_t *twin = gn_map_find(&E->file_names, p->file_name);
        if (twin) {
            el_error(E, at, "`%s` and `%s` have the same name in weight files, `%s`",
                     E->params.p[*twin].name, p->name, p->file_name);
            return false;
        }
        gn_map_put(&E->file_names, p->file_name, E->params.n);
        GN_PUSH(E->arena, E->params, *p);
        gn_map_put(&E->param_index, p->name, E->params.n - 1);
    }
    if (c)
        c->stamp = owner->applications;
    else {
        child fresh = {local, NULL, owner->applications};
        GN_PUSH(E->arena, owner->children, fresh);
        gn_map_put(&owner->child_index, local, owner->children.n - 1);
    }
    return true;
}

static const char *under(elab *E, const char *path, const char *name)
{
    return *path ? gn_arena_printf(E->arena, "%s.%s", path, name) : name;
}

static gir_id state_of(elab *E, const gn_param *p)
{
    if (!p->trainable) { /* a buffer is what it was last updated to */
        const uint32_t *k = gn_map_find(&E->buffer_index, p->name);
        if (k) return E->buffers.p[*k].value;
    }
    gir_type t = p->type;
    if (p->over) t.space = el_space_named(E, p->over);
    gir_id id = el_leaf(E, GIR_STATE, p->name, &t);
    if (!p->trainable) {
        el_buffer b = {p->name, id, false};
        GN_PUSH(E->arena, E->buffers, b);
        gn_map_put(&E->buffer_index, p->name, E->buffers.n - 1);
    }
    return id;
}

static value one_param(elab *E, const ast_stmt *s, uint32_t k, gn_param p, const char **axes)
{
    instance *self = E->frame->self;
    const ast_name *name = &s->names.p[k];
    const char *file = name->text;
    if (s->files.n && !el_eval_name(E, s->files.p[k], &file)) return POISON;
    if (!*file) return el_error(E, s->files.p[k]->span, "the name in weight files is empty");
    p.name = under(E, self->path, name->text);
    p.file_name = under(E, self->file_path, file);
    if (!declare(E, name->span, name->text, &p)) return POISON;
    el_locate(E, name->span);
    gir_id id = state_of(E, &p);
    if (!p.trainable)
        gn_map_put(&E->frame->buffers, name->text, *gn_map_find(&E->buffer_index, p.name));
    value v = val_tensor(id, axes);
    if (!p.trainable) return v;
    const uint32_t *known = gn_map_find(&self->weight_index, name->text);
    if (known) return self->weights.p[*known] = v;
    GN_PUSH(E->arena, self->weights, v);
    gn_map_put(&self->weight_index, name->text, self->weights.n - 1);
    return v;
}

value el_weight_field(elab *E, const ast_expr *e, const instance *it)
{
    const uint32_t *w = gn_map_find(&it->weight_index, e->name);
    if (w) return it->weights.p[*w];
    const uint32_t *c = gn_map_find(&it->child_index, e->name);
    if (c && it->children.p[*c].instance)
        return (value){.kind = VAL_INSTANCE, .u.instance = it->children.p[*c].instance};
    if (!it->applications)
        return el_error(E, e->mark, "`%s` has weights once it was applied to its inputs",
                        it->decl->name.text);
    uint32_t n = it->weights.n;
    const char **names = GN_NEW_N(E->arena, const char *, n + 1);
    for (uint32_t k = 0; k < n; k++) names[k] = it->weight_index.keys[k];
    return el_error(E, e->mark, "`%s` has no weight `%s`%s", it->decl->name.text, e->name,
                    gn_diag_suggest(E->arena, e->name, names, n));
}

void el_param(elab *E, const ast_stmt *s)
{
    gn_param p = {.trainable = s->trainable, .rows = 1};
    int64_t dim[GIR_MAX_RANK];
    const char **axes = el_axes_new(E, GIR_MAX_RANK);
    const ast_decl *d = E->frame->decl;
    bool ok = true;
    if (!d || d->kind == DECL_TRAIN || !E->frame->self) { /* of a function, its caller's */
        el_error(E, s->span, "parameters belong to layers and models");
        ok = false;
    } else if (!E->frame->self->named) {
        el_error(E, s->span, "`%s` has weights: it is applied in a model, not in a train block",
                 d->name.text);
        ok = false;
    }
    bool typed = s->type.is_graph || s->type.each || s->type.has_elem || s->type.is_list;
    if (ok && (typed || (s->type.rows.space != SPACE_NONE &&
                         !el_rows_of(E, &s->type.rows, &p.over, &p.rows)))) {
        if (typed)
            el_error(E, s->type.span,
                     "a parameter has dimensions only, such as `[in, out]`, or a row for each "
                     "node, `node[out]`");
        ok = false;
    }
    ok = ok && el_dims(E, &s->type, dim, axes);
    if (ok) {
        p.type = gir_tensor(GN_F32, 0, (int)s->type.dims.n, dim);
        ok = file_shape(E, s, &p);
    }
    ok = el_initialiser(E, s->a, ok, &p) && ok;
    for (uint32_t k = 0; k < s->names.n; k++)
        el_bind(E, E->frame, s->names.p[k].text, ok ? one_param(E, s, k, p, axes) : POISON);
}

void el_update(elab *E, const ast_stmt *s)
{
    const ast_name *name = &s->names.p[0];
    const uint32_t *k = gn_map_find(&E->frame->buffers, name->text);
    value v = el_eval(E, s->a);
    if (!k) {
        value *local = el_local(E->frame, name->text);
        if (!local || local->kind != VAL_POISON)
            el_error(E, name->span, "`update` sets a buffer of this layer, and `%s` is none",
                     name->text);
        return;
    }
    el_buffer *b = &E->buffers.p[*k];
    gir_type t = *gir_type_of(E->prog, b->value);
    gir_id id;
    el_locate(E, s->span);
    if (!el_broadcast_to(E, s->a->span, v, &t, gn_arena_printf(E->arena, "buffer `%s`", name->text),
                         &id))
        return;
    if (E->mode != MODE_TRAIN) return; /* state changes in training only */
    b->value = id;
    b->updated = true;
    el_local(E->frame, name->text)->id = id;
}
