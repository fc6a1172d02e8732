/* gn_elaborate: chooses the model, makes its programs, and what the driver needs besides. */
#include "frontend/elab.h"
#include "base/data_name.h"
#include "frontend/parse.h"
#include "frontend/stdlib.h"

#include <string.h>

/* What is elaborated, and with what. */
typedef struct plan {
    const ast_decl *model;
    value *hyper;
    train_plan train; /* decl NULL: none */
    int n_defines;
    const gn_define *defines;
    bool *used; /* [n_defines] */
    GN_VEC(const char *) defaults;
    gn_buf hyperparameters;
} plan;

static gn_status *read_stdlib(elab *E)
{
    for (size_t i = 0; i < gn_stdlib_count; i++) {
        const gn_embedded *f = &gn_stdlib_files[i];
        gn_ast *ast;
        gn_status *s = gn_parse(E->arena, (const char *)f->data, f->size,
                                gn_arena_printf(E->arena, "stdlib/%s", f->name), &ast);
        if (s) s->code = GN_ERR_INTERNAL;
        GN_TRY(s);
        GN_PUSH(E->arena, E->sources, ast->src);
        for (uint32_t k = 0; k < ast->decls.n; k++) {
            const ast_decl *d = ast->decls.p[k];
            if (gn_map_find(&E->stdlib_decls, d->name.text))
                GN_FAIL(GN_ERR_INTERNAL, "stdlib/%s: `%s` is declared in stdlib already", f->name,
                        d->name.text);
            GN_PUSH(E->arena, E->decls, d);
            gn_map_put(&E->stdlib_decls, d->name.text, E->decls.n - 1);
            if (gn_map_find(&E->file_decls, d->name.text))
                continue; /* the file's own hides it from the file */
            gn_map_put(&E->file_decls, d->name.text, E->decls.n - 1);
        }
    }
    return NULL;
}

static void begin(elab *E, gn_arena *a, gn_diags *d, const gn_ast *ast, const gn_data_shape *shape)
{
    memset(E, 0, sizeof *E);
    E->arena = a;
    E->diags = d;
    E->ast = ast;
    E->shape = shape;
    E->schema = el_schema(shape);
    gn_diags_init(d, a);
    d->listener = ast->listener;
    gn_map_init(&E->file_decls, a);
    gn_map_init(&E->stdlib_decls, a);
    gn_map_init(&E->param_index, a);
    gn_map_init(&E->file_names, a);
    GN_PUSH(a, E->sources, ast->src);
    for (uint32_t i = 0; i < ast->decls.n; i++) {
        const ast_decl *decl = ast->decls.p[i];
        if (decl->kind == DECL_TRAIN) continue;
        GN_PUSH(a, E->decls, decl);
        gn_map_put(&E->file_decls, decl->name.text, E->decls.n - 1);
    }
    el_push_frame(E, NULL, ast->src, NULL, (gn_span){0});
}

/* choosing ------------------------------------------------------------------------------------- */

static const ast_decl *declared(const gn_ast *ast, ast_decl_kind kind, const char *name)
{
    const ast_decl *found = NULL;
    for (uint32_t i = 0; i < ast->decls.n; i++) {
        const ast_decl *d = ast->decls.p[i];
        if (d->kind == kind && (!name || strcmp(d->name.text, name) == 0)) found = d;
    }
    return found;
}

/* The model of this name; NULL: the train block's, else the last. */
static const ast_decl *chosen_model(const gn_ast *ast, const char *name)
{
    const ast_decl *train = declared(ast, DECL_TRAIN, name);
    return declared(ast, DECL_MODEL, name ? name : train ? train->name.text : NULL);
}

bool gn_ast_takes_relations(const gn_ast *ast, const char *model, const char *name)
{
    const ast_decl *d = chosen_model(ast, model);
    for (uint32_t k = 0; d && k < d->inputs.n; k++) {
        const ast_formal *f = &d->inputs.p[k];
        if (name ? f->type.is_relation && !strcmp(f->name.text, name)
                 : f->type.each && f->type.is_graph)
            return true;
    }
    return false;
}

static gn_status *choose(elab *E, const char *name, plan *p)
{
    GN_VEC(const char *) models = {0};
    for (uint32_t i = 0; i < E->ast->decls.n; i++) {
        const ast_decl *d = E->ast->decls.p[i];
        if (d->kind == DECL_MODEL) GN_PUSH(E->arena, models, d->name.text);
    }
    for (uint32_t i = 0; i < E->ast->decls.n; i++) {
        const ast_decl *d = E->ast->decls.p[i];
        if (d->kind == DECL_TRAIN && !declared(E->ast, DECL_MODEL, d->name.text))
            el_error(E, d->name.span, "no model is named `%s`%s", d->name.text,
                     gn_diag_suggest(E->arena, d->name.text, models.p, models.n));
    }
    GN_TRY(gn_diags_status(E->diags));
    const char *file = E->ast->src->name;
    if (!models.n) GN_FAIL(GN_ERR_MODEL, "%s: no `model` in this file", file);
    p->model = chosen_model(E->ast, name);
    if (!p->model)
        GN_FAIL(GN_ERR_USAGE, "%s: no model is named `%s`%s", file, name,
                gn_diag_suggest(E->arena, name, models.p, models.n));
    p->train.decl = declared(E->ast, DECL_TRAIN, p->model->name.text);
    return NULL;
}

/* hyperparameters ------------------------------------------------------------------------------ */

static const gn_define *defined(plan *p, const char *name)
{
    const gn_define *found = NULL;
    for (int i = 0; i < p->n_defines; i++)
        if (strcmp(p->defines[i].name, name) == 0) {
            found = &p->defines[i];
            p->used[i] = true;
        }
    return found;
}

/* The value of -D name=text, for a hyperparameter with that default. */
static gn_status *define_value(elab *E, const ast_formal *f, const value *given,
                               const gn_define *def, value *out)
{
    bool string = f->kind ? strcmp(f->kind, "string") == 0 : given->kind == VAL_STRING;
    if (string && def->value[0] == '"') string = false; /* written as in the language */
    gn_diags d, *outer = E->diags;
    const char *why = NULL;
    gn_diags_init(&d, E->arena);
    d.listener = outer->listener;
    *out = val_string(gn_arena_strdup(E->arena, def->value));
    if (!string) {
        const gn_source *src = gn_source_new(E->arena,
                                             gn_arena_printf(E->arena, "-D %s", def->name),
                                             def->value, strlen(def->value));
        const ast_expr *e = gn_parse_value(E->arena, &d, src);
        E->diags = &d;
        el_push_frame(E, NULL, src, NULL, (gn_span){0});
        *out = e ? el_eval(E, e) : POISON;
        el_pop_frame(E);
        E->diags = outer;
    }
    gn_status *s = gn_diags_status(&d);
    if (s) s->code = GN_ERR_USAGE;
    if (s) return s;
    if (!el_coerce(E, f, given, true, out, &why))
        GN_FAIL(GN_ERR_USAGE, "-D %s=%s: %s", def->name, def->value, why);
    return NULL;
}

/* Values of the hyperparameters of d, from -D or from their defaults, which see those before
 * them. */
static gn_status *hyperparameters(elab *E, plan *p, const ast_decl *d, value **out)
{
    value *v = *out = GN_NEW_N(E->arena, value, d->hyper.n + 1);
    frame *f = el_push_frame(E, d, d->src, NULL, d->name.span);
    f->up = E->frame->up;
    if (d->kind == DECL_TRAIN)
        for (uint32_t k = 0; k < p->model->hyper.n; k++)
            el_bind(E, f, p->model->hyper.p[k].name.text, p->hyper[k]);
    for (uint32_t k = 0; k < d->hyper.n; k++) {
        const ast_formal *h = &d->hyper.p[k];
        const gn_define *def = defined(p, h->name.text);
        value given = {0};
        const char *why = NULL;
        if (h->value) given = el_eval(E, h->value);
        v[k] = given;
        if (def)
            GN_TRY(define_value(E, h, &given, def, &v[k]));
        else if (!h->value) {
            GN_TRY(gn_diags_status(E->diags));
            GN_FAIL(GN_ERR_USAGE, "`%s` needs its hyperparameter `%s`: give it with -D %s=...",
                    d->name.text, h->name.text, h->name.text);
        } else if (!el_coerce(E, h, &given, true, &v[k], &why))
            el_error(E, h->value->span, "%s", why);
        else
            GN_PUSH(E->arena, p->defaults,
                    gn_arena_printf(E->arena, "%s = %s", h->name.text, val_literal(E, &v[k])));
        gn_buf_printf(&p->hyperparameters, "%s%s = %s", p->hyperparameters.n ? ", " : "",
                      h->name.text, val_literal(E, &v[k]));
        el_bind(E, f, h->name.text, v[k]);
    }
    el_pop_frame(E);
    return NULL;
}

static gn_status *unknown_defines(elab *E, const plan *p)
{
    GN_VEC(const char *) names = {0};
    for (uint32_t k = 0; k < p->model->hyper.n; k++)
        GN_PUSH(E->arena, names, p->model->hyper.p[k].name.text);
    for (uint32_t k = 0; p->train.decl && k < p->train.decl->hyper.n; k++)
        GN_PUSH(E->arena, names, p->train.decl->hyper.p[k].name.text);
    for (int i = 0; i < p->n_defines; i++)
        if (!p->used[i])
            GN_FAIL(GN_ERR_USAGE, "`%s` has no hyperparameter `%s`%s", p->model->name.text,
                    p->defines[i].name,
                    gn_diag_suggest(E->arena, p->defines[i].name, names.p, names.n));
    return NULL;
}

/* programs ------------------------------------------------------------------------------------- */

static void begin_root(elab *E, const plan *p, const char *name, el_mode mode)
{
    el_begin_program(E, name, mode);
    E->root = el_instance(E, p->model, p->hyper, p->model->name.span);
    E->root->named = true;
    E->root->path = E->root->file_path = "";
}

static bool same_name(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

/* Is it the model's only input of nodes, or of edges?  Those are x and attr, whatever their names,
 * unless the data has something under that name. */
static bool only_one(const elab *E, const plan *p, const ast_formal *f)
{
    uint32_t n = 0;
    if (E->shape->has_input && E->shape->has_input(E->shape->ctx, f->name.text)) return false;
    for (uint32_t k = 0; k < p->model->inputs.n; k++) {
        const ast_type *t = &p->model->inputs.p[k].type;
        n += t->is_graph == f->type.is_graph && t->rows.space == f->type.rows.space &&
             same_name(t->rows.name, f->type.rows.name) && t->has_elem == f->type.has_elem;
    }
    return n == 1;
}

static value apply_model(elab *E, const plan *p)
{
    const ast_formals *in = &p->model->inputs;
    el_arg *args = GN_NEW_N(E->arena, el_arg, in->n + 1);
    frame *f = el_push_frame(E, p->model, p->model->src, E->root, p->model->name.span);
    f->up = E->frame->up;
    for (uint32_t k = 0; k < p->model->hyper.n; k++)
        el_bind(E, f, p->model->hyper.p[k].name.text, p->hyper[k]);
    for (uint32_t k = 0; k < in->n; k++) {
        args[k].v = el_model_input(E, &in->p[k], only_one(E, p, &in->p[k]));
        args[k].span = in->p[k].type.span;
    }
    el_pop_frame(E);
    return el_apply(E, E->root, in->n, args, p->model->name.span);
}

static gir_program *finish(elab *E)
{
    for (uint32_t i = 0; i < E->buffers.n; i++) {
        const el_buffer *b = &E->buffers.p[i];
        if (b->updated) gir_output_add(E->prog, GIR_UPDATE, b->name, b->value);
    }
    return E->prog;
}

/* Outputs -------------------------------------------------------------------------------------- */

/* Names of several results: those of the variables that are returned, where all are different
 * plain names, or of a family its keys. */
static const char **result_names(elab *E, const value_list *l)
{
    const ast_expr *e = E->output_of;
    const char **name = GN_NEW_N(E->arena, const char *, l->n + 1);
    bool plain = l->key || (e && e->kind == EXPR_LIST && e->args.n == l->n);
    for (uint32_t k = 0; plain && k < l->n; k++) {
        const ast_expr *one = l->key ? NULL : e->args.p[k].value;
        name[k] = one ? one->name : el_key_name(E, &l->key[k]);
        plain = (!one || one->kind == EXPR_NAME) && strcmp(name[k], "loss") != 0;
        for (uint32_t j = 0; plain && j < k; j++) plain = strcmp(name[j], name[k]) != 0;
    }
    for (uint32_t k = 0; !plain && k < l->n; k++) name[k] = gn_arena_printf(E->arena, "out%u", k);
    return name;
}

static bool are_tensors(const value_list *l)
{
    for (uint32_t k = 0; k < l->n; k++)
        if (l->p[k].kind != VAL_TENSOR) return false;
    return l->n > 0;
}

/* What the model gives, as outputs of the program; none of anything else. */
static bool add_outputs(elab *E, const value *out)
{
    if (out->kind == VAL_TENSOR) {
        gir_output_add(E->prog, GIR_OUTPUT, "out", out->id);
        return true;
    }
    if (out->kind != VAL_LIST || !are_tensors(out->u.list)) return out->kind == VAL_POISON;
    const char **name = result_names(E, out->u.list);
    for (uint32_t k = 0; k < out->u.list->n; k++)
        gir_output_add(E->prog, GIR_OUTPUT, name[k], out->u.list->p[k].id);
    return true;
}

static void add_result(elab *E, const plan *p)
{
    value out = apply_model(E, p);
    if (!add_outputs(E, &out))
        el_error(E, p->model->name.span, "a model gives a tensor or a list of tensors, not %s%s",
                 val_text(E, &out),
                 out.kind == VAL_LIST && out.u.list->n ? " with something else in it" : "");
}

static gir_program *make_eval(elab *E, const plan *p)
{
    begin_root(E, p, "eval", MODE_EVAL);
    add_result(E, p);
    return finish(E);
}

static gir_program *make_forward(elab *E, const plan *p)
{
    begin_root(E, p, "forward", MODE_TRAIN);
    add_result(E, p);
    return finish(E);
}

static void add_loss(elab *E, const plan *p)
{
    E->output = (value){0};
    value loss = el_train_loss(E, &p->train);
    if (loss.kind == VAL_TENSOR) gir_output_add(E->prog, GIR_OUTPUT, "loss", loss.id);
}

static gir_program *make_loss(elab *E, const plan *p)
{
    begin_root(E, p, "loss", MODE_TRAIN);
    add_loss(E, p);
    add_outputs(E, &E->output);
    return finish(E);
}

/* What the loss applies the model to is as a rule what the result is of: the two share all but the
 * loss itself. */
static gir_program *make_validate(elab *E, const plan *p)
{
    begin_root(E, p, "eval", MODE_EVAL);
    add_result(E, p);
    E->mode = MODE_VAL;
    add_loss(E, p);
    return finish(E);
}

/* May the value be scores of classes of nodes? */
static bool is_classes(elab *E, const value *v)
{
    const gir_type *t = v->kind == VAL_TENSOR ? val_type(E, v) : NULL;
    return t && t->space == el_space(E, E->schema->labelled) && t->rank == 1 &&
           t->dim[0] == E->shape->n_classes;
}

/* How the first result that may be classes is written behind the model's call; NULL: none may. */
static const char *classes_of(elab *E)
{
    const value_list *l = E->output.kind == VAL_LIST ? E->output.u.list : NULL;
    if (E->shape->n_classes <= 0) return NULL;
    for (uint32_t k = 0; l && k < l->n; k++)
        if (is_classes(E, &l->p[k])) return gn_arena_printf(E->arena, "[%u]", k);
    return is_classes(E, &E->output) ? "" : NULL;
}

/* A model without a train block is trained as everybody does where it gives what may be classes of
 * nodes. */
static gn_status *default_train(elab *E, plan *p)
{
    const char *which = classes_of(E);
    if (p->train.decl || !which) return NULL;
    gn_buf args = {.arena = E->arena}, b = {.arena = E->arena};
    gn_buf_add(&args, "");
    gn_buf_printf(&b, "train %s {\n", p->model->name.text);
    for (uint32_t k = 0; k < p->model->inputs.n; k++) {
        const ast_formal *f = &p->model->inputs.p[k];
        const char *name = f->name.text, *of = el_data_name(f, only_one(E, p, f));
        if (el_left_out(E, f, of)) continue;
        if (!of && (!strcmp(name, GN_NAME_Y) || !strcmp(name, GN_NAME_TRAIN_MASK)))
            return NULL; /* no labels, as the model has it */
        if (!of && !el_is_typed(&f->type))
            gn_buf_printf(&b, "  input %s: %.*s\n", name, (int)f->type.span.len,
                          p->model->src->text + f->type.span.at);
        gn_buf_printf(&args, "%s%s = %s", args.n ? ", " : "", name, of ? of : name);
    }
    gn_buf_printf(
        &b,
        "  loss = cross_entropy(%s(%s)%s, y) over train_mask\n  optimizer = adam(lr = 0.01)\n}\n",
        p->model->name.text, args.p, which);
    gn_ast *ast;
    GN_TRY(gn_parse(E->arena, b.p, b.n, "the default train block", &ast));
    GN_PUSH(E->arena, E->sources, ast->src);
    p->train.decl = ast->decls.p[0];
    p->train.hyper = GN_NEW(E->arena, value);
    return NULL;
}

static gn_status *check(const gir_program *program)
{
    return program ? gn_status_annotate(gir_verify(program), "program %s of the front end",
                                        program->name)
                   : NULL;
}

/* Data without labels trains only towards what the block declares. */
static bool declares_input(const ast_decl *train)
{
    for (uint32_t i = 0; i < train->items.n; i++)
        if (!train->items.p[i].a) return true;
    return false;
}

/* Does it name labels, or masks that the data has not? */
static bool names_labels(const elab *E, const ast_expr *e)
{
    if (!e) return false;
    if (e->kind == EXPR_NAME && !strcmp(e->name, GN_NAME_Y)) return true;
    size_t n = e->kind == EXPR_NAME ? strlen(e->name) : 0;
    if (n > 5 && !strcmp(e->name + n - 5, "_mask") && !E->shape->has_masks) return true;
    for (uint32_t k = 0; k < e->args.n; k++)
        if (names_labels(E, e->args.p[k].value)) return true;
    return names_labels(E, e->a) || names_labels(E, e->b) || names_labels(E, e->c);
}

static bool learns_without_labels(const elab *E, const ast_decl *train)
{
    for (uint32_t i = 0; i < train->items.n; i++)
        if (names_labels(E, train->items.p[i].a) || names_labels(E, train->items.p[i].over))
            return false;
    return true;
}

static gn_status *elaborate(elab *E, plan *p, gn_model *m)
{
    GN_TRY(hyperparameters(E, p, p->model, &p->hyper));
    if (p->train.decl) {
        value *hyper;
        GN_TRY(hyperparameters(E, p, p->train.decl, &hyper));
        p->train.hyper = hyper;
    }
    GN_TRY(unknown_defines(E, p));
    GN_TRY(gn_diags_status(E->diags));
    m->eval = make_eval(E, p);
    el_warn_layers(E);
    GN_TRY(default_train(E, p));
    if (E->shape->has_forward && !E->diags->errors) m->forward = make_forward(E, p);
    if (p->train.decl && (E->shape->n_classes > 0 || declares_input(p->train.decl) ||
                          learns_without_labels(E, p->train.decl))) {
        m->loss = make_loss(E, p);
        el_train_spec(E, &p->train, &m->train);
        if (m->loss) el_warn_loss(E, p->train.decl, m->loss);
        if (gn_watches_loss(&m->train)) m->validate = make_validate(E, p);
    }
    el_warn_hyper(E, p->model, p->train.decl);
    if (p->train.decl) el_warn_hyper(E, p->train.decl, NULL);
    GN_TRY(gn_diags_status(E->diags));
    GN_TRY(check(m->eval));
    GN_TRY(check(m->loss));
    GN_TRY(check(m->forward));
    return check(m->validate);
}

/* What callers bind by which name. */
static void list_inputs(elab *E, const plan *p, gn_model *m)
{
    const ast_formals *in = &p->model->inputs;
    gn_model_input *list = GN_NEW_N(E->arena, gn_model_input, in->n + 1);
    m->inputs = list;
    for (uint32_t k = 0; k < in->n; k++) {
        const ast_formal *f = &in->p[k];
        const char *of = el_data_name(f, only_one(E, p, f));
        if (f->type.is_graph || f->type.each) continue;
        int column = el_input_column(E, f, only_one(E, p, f));
        if (column >= 0) of = E->schema->column[column].name;
        list[m->n_inputs++] = (gn_model_input){.name = f->name.text,
                                               .data = !of                        ? f->name.text
                                                       : strcmp(of, GN_WORD_ATTR) ? of
                                                                                  : GN_NAME_ATTR,
                                               .has_default = f->value != NULL};
    }
}

gn_status *gn_elaborate(gn_arena *a, const gn_ast *ast, const char *model,
                        const gn_data_shape *shape, int n_defines, const gn_define *defines,
                        gn_model **out)
{
    elab E;
    gn_diags d;
    plan p = {.n_defines = n_defines, .defines = defines, .hyperparameters.arena = a};
    *out = NULL;
    begin(&E, a, &d, ast, shape);
    gn_buf_add(&p.hyperparameters, "");
    p.used = GN_NEW_N(a, bool, n_defines > 0 ? n_defines : 1);
    GN_TRY(read_stdlib(&E));
    GN_TRY(choose(&E, model, &p));
    gn_model *m = GN_NEW(a, gn_model);
    GN_TRY(elaborate(&E, &p, m));
    m->name = p.model->name.text;
    m->schema = E.schema;
    m->warnings = d.warnings.n ? d.warnings.p : "";
    list_inputs(&E, &p, m);
    m->n_params = (int)E.params.n;
    m->params = E.params.p;
    m->defaults_used = p.defaults.p;
    m->n_defaults = (int)p.defaults.n;
    m->hyperparameters = p.hyperparameters.p;
    m->optimizer = el_optimizer_text(a, m);
    *out = m;
    return NULL;
}
