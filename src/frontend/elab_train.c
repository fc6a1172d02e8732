/* The train block: the loss, and the settings of the optimizer, which are checked and never run
 * here. */
#include "frontend/elab.h"

#include <math.h>
#include <string.h>

static const char *const items[] = {
    "loss",     "optimizer", "epochs",   "weight_decay", "clip_norm",  "clip_value",
    "schedule", "warmup",    "patience", "monitor",      "select",     "batch",
    "fanout",   "draw",      "exclude",  "sampler",      "accumulate", "evaluate",
    "draw_by",  "disjoint",  "before",   "until"};
enum { N_ITEMS = sizeof items / sizeof *items };

const ast_item *el_train_item(const ast_decl *d, const char *name)
{
    const ast_item *found = NULL;
    for (uint32_t i = 0; i < d->items.n; i++)
        if (d->items.p[i].a && strcmp(d->items.p[i].name.text, name) == 0) found = &d->items.p[i];
    return found;
}

/* The frame in which settings are evaluated: hyperparameters of the block and of the model, the
 * model by its name, and inputs that the block declares. Inputs from the data are looked up by
 * name. */
static void push_train_frame(elab *E, const train_plan *t, bool of_batch)
{
    const ast_decl *d = t->decl;
    frame *f = el_push_frame(E, d, d->src, NULL, d->name.span);
    f->up = E->frame->up;
    const ast_decl *m = E->root->decl;
    for (uint32_t k = 0; k < m->hyper.n; k++)
        el_bind(E, f, m->hyper.p[k].name.text, E->root->hyper[k]);
    for (uint32_t k = 0; k < d->hyper.n; k++) el_bind(E, f, d->hyper.p[k].name.text, t->hyper[k]);
    el_bind(E, f, m->name.text, (value){.kind = VAL_INSTANCE, .u.instance = E->root});
    static const char *const words[] = {"best", "last", "val_loss", "val_accuracy", "all"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        el_bind(E, f, words[k], val_string(words[k]));
    for (int k = GN_LINK_FIGURE_NONE + 1; k < GN_LINK_FIGURE_COUNT; k++)
        el_bind(E, f, gn_link_figure_name[k], val_string(gn_link_figure_name[k]));
    for (uint32_t k = 0; k < m->inputs.n; k++) {
        const ast_formal *in = &m->inputs.p[k];
        if (el_is_typed(&in->type)) el_bind(E, f, in->name.text, el_model_input(E, in, true));
    }
    for (uint32_t i = 0; i < d->items.n; i++) {
        const ast_item *item = &d->items.p[i];
        if (item->a) continue;
        ast_formal formal = {.name = item->name, .type = item->type};
        value v = el_model_input(E, &formal, false);
        const char *what = gn_arena_printf(E->arena, "the input `%s`", item->name.text);
        if (el_data_name(&formal, false))
            el_match(E, &item->type, &v, what, f, item->type.span, NULL);
        el_bind(E, f, item->name.text, v);
    }
    if (of_batch) el_bind_batch(E, d, f);
}

/* `loss = f(...) over mask` gives f the argument `mask`. */
static value loss_over(elab *E, const ast_item *item)
{
    if (!item->over) return el_eval(E, item->a);
    if (item->a->kind != EXPR_CALL)
        return el_error(E, item->a->mark,
                        "`over` follows the call of a loss, such as `cross_entropy(...)`");
    if (item->over->kind == EXPR_BINARY && item->over->op >= BIN_ADD)
        return el_error(
            E, item->over->mark,
            "all that follows `over` is the mask; a loss of several terms gives masks by name: "
            "`cross_entropy(..., mask = train_mask) + ...`");
    ast_expr *call = GN_NEW(E->arena, ast_expr);
    *call = *item->a;
    call->args.p = GN_NEW_N(E->arena, ast_arg, item->a->args.n + 1);
    if (item->a->args.n) memcpy(call->args.p, item->a->args.p, item->a->args.n * sizeof(ast_arg));
    call->args.p[item->a->args.n] = (ast_arg){"mask", item->over, item->over->span};
    call->args.n = call->args.cap = item->a->args.n + 1;
    return el_eval(E, call);
}

value el_train_loss(elab *E, const train_plan *t)
{
    const ast_item *item = el_train_item(t->decl, "loss");
    if (!item)
        return el_error(E, t->decl->name.span, "the train block of `%s` has no `loss`",
                        t->decl->name.text);
    push_train_frame(E, t, E->mode == MODE_TRAIN);
    value v = loss_over(E, item);
    if (v.kind == VAL_TENSOR) {
        const gir_type *type = val_type(E, &v);
        if (type->space || type->rank || type->elem != GN_F32)
            v = el_error(E, item->a->span,
                         "a loss is a single number, this is %s; `mean(x)` makes one",
                         val_text(E, &v));
    } else if (v.kind != VAL_POISON)
        v = el_error(E, item->a->span, "a loss depends on the model, this is %s", val_text(E, &v));
    if (v.kind != VAL_POISON && E->output.kind == VAL_UNSET)
        v = el_error(E, item->a->span, "the loss does not use `%s`", t->decl->name.text);
    el_pop_frame(E);
    return v;
}

/* settings ------------------------------------------------------------------------------------- */

value el_train_setting(elab *E, const ast_decl *d, const char *name, const ast_item **item)
{
    *item = el_train_item(d, name);
    return *item ? el_eval(E, (*item)->a) : (value){0};
}

static void number_setting(elab *E, const ast_decl *d, const char *name, double least, double *out)
{
    const ast_item *item;
    value v = el_train_setting(E, d, name, &item);
    if (v.kind == VAL_UNSET || v.kind == VAL_POISON) return;
    if (!val_is_number(&v) || !(val_number(&v) >= least))
        el_error(E, item->a->span, "`%s` is a number of at least %g, not %s", name, least,
                 val_text(E, &v));
    else
        *out = val_number(&v);
}

void el_train_int(elab *E, const ast_decl *d, const char *name, int64_t least, int64_t *out)
{
    const ast_item *item;
    value v = el_train_setting(E, d, name, &item);
    if (v.kind == VAL_UNSET || v.kind == VAL_POISON) return;
    if (v.kind != VAL_INT || v.u.i < least)
        el_error(E, item->a->span, "`%s` is an integer of at least %lld, not %s", name,
                 (long long)least, val_text(E, &v));
    else
        *out = v.u.i;
}

/* Is the setting, where it is a bare name, one of the two that it may be? */
static bool known_word(elab *E, const ast_decl *d, const char *name, const char *first,
                       const char *second)
{
    const ast_item *item = el_train_item(d, name);
    const char *const names[] = {first, second};
    if (!item || item->a->kind != EXPR_NAME || el_local(E->frame, item->a->name)) return true;
    return el_choice(E, item->a, names, 2, gn_arena_printf(E->arena, "`%s`", name)) >= 0;
}

enum { FIGURES = 2 + GN_LINK_FIGURE_COUNT - 1 };

static bool known_figure(elab *E, const ast_decl *d)
{
    const char *names[FIGURES] = {"val_accuracy", "val_loss"};
    const ast_item *item = el_train_item(d, "monitor");
    for (int k = 2; k < FIGURES; k++) names[k] = gn_link_figure_name[k - 1];
    if (!item || item->a->kind != EXPR_NAME || el_local(E->frame, item->a->name)) return true;
    return el_choice(E, item->a, names, FIGURES, "`monitor`") >= 0;
}

/* Which of held-out links' it is; NONE: it is another. */
static gn_link_figure figure_of_links(const value *v)
{
    int k = GN_LINK_FIGURE_COUNT - 1;
    while (k > 0 && !(v->kind == VAL_STRING && strcmp(v->u.s, gn_link_figure_name[k]) == 0)) k--;
    return (gn_link_figure)k;
}

static void selection(elab *E, const ast_decl *d, gn_train_spec *s)
{
    const ast_item *item;
    if (!known_word(E, d, "select", "best", "last")) return;
    if (!known_figure(E, d)) return;
    value v = el_train_setting(E, d, "select", &item);
    if (v.kind != VAL_UNSET && v.kind != VAL_POISON) {
        bool best = v.kind == VAL_STRING && strcmp(v.u.s, "best") == 0;
        if (!best && !(v.kind == VAL_STRING && strcmp(v.u.s, "last") == 0))
            el_error(E, item->a->span, "`select` is `best` or `last`, not %s", val_text(E, &v));
        s->select_best = best;
    }
    v = el_train_setting(E, d, "monitor", &item);
    if (v.kind == VAL_UNSET || v.kind == VAL_POISON) return;
    s->monitor_links = figure_of_links(&v);
    if (s->monitor_links) return;
    const value_list one = {.n = 1, .p = &v}, *l = v.kind == VAL_LIST ? v.u.list : &one;
    bool accuracy = false, ok = l->n > 0;
    for (uint32_t i = 0; i < l->n; i++) {
        bool is = l->p[i].kind == VAL_STRING;
        if (is && strcmp(l->p[i].u.s, "val_loss") == 0)
            s->monitor_loss = true;
        else if (is && strcmp(l->p[i].u.s, "val_accuracy") == 0)
            accuracy = true;
        else
            ok = false;
    }
    s->monitor_accuracy = accuracy;
    if (!ok)
        el_error(
            E, item->a->span,
            "`monitor` is `val_accuracy`, `val_loss` or a list of both, or of links `val_auc`, "
            "`val_ap` or `val_mrr`, not %s",
            val_text(E, &v));
}

/* Does the pattern name the parameter? A whole name, the front of one up to a point, or with * for
 * any characters. */
static bool matches(const char *pattern, const char *name)
{
    const char *star = NULL, *retry = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = ++pattern;
            retry = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (!*pattern && *name == '.')
            return true;
        else if (star) {
            pattern = star;
            name = ++retry;
        } else
            return false;
    }
    while (*pattern == '*') pattern++;
    return !*pattern;
}

/* What a pattern may begin with: names of parameters and of what they belong to. */
static const char *suggest_param(elab *E, const char *pattern)
{
    GN_VEC(const char *) names = {0};
    for (uint32_t i = 0; i < E->params.n && i < 500; i++) {
        const char *s = E->params.p[i].name;
        for (const char *dot = strchr(s, '.'); dot; dot = strchr(dot + 1, '.'))
            GN_PUSH(E->arena, names, gn_arena_strndup(E->arena, s, (size_t)(dot - s)));
        GN_PUSH(E->arena, names, s);
    }
    return gn_diag_suggest(E->arena, pattern, names.p, names.n);
}

/* `complete`: every parameter is known, since the model has no errors. */
static void decay_on(elab *E, const ast_item *item, bool complete)
{
    value v = el_eval(E, item->a);
    if (v.kind == VAL_POISON) return;
    if (!val_is_number(&v) || !(val_number(&v) >= 0)) {
        el_error(E, item->a->span, "`weight_decay` is a number of at least 0, not %s",
                 val_text(E, &v));
        return;
    }
    for (uint32_t i = 0; i < E->params.n && item->on.n == 0; i++)
        E->params.p[i].weight_decay = val_number(&v);
    for (uint32_t k = 0; k < item->on.n; k++) {
        bool any = false;
        for (uint32_t i = 0; i < E->params.n; i++) {
            gn_param *p = &E->params.p[i];
            if (!matches(item->on.p[k].text, p->name) && !matches(item->on.p[k].text, p->file_name))
                continue;
            p->weight_decay = val_number(&v);
            any = true;
        }
        if (!any && complete)
            el_error(E, item->on.p[k].span, "no parameter is named `%s`%s", item->on.p[k].text,
                     suggest_param(E, item->on.p[k].text));
    }
}

static void check_items(elab *E, const ast_decl *d)
{
    for (uint32_t i = 0; i < d->items.n; i++) {
        const ast_item *item = &d->items.p[i];
        size_t k = 0;
        if (!item->a) continue;
        while (k < N_ITEMS && strcmp(items[k], item->name.text) != 0) k++;
        if (k == N_ITEMS)
            el_error(E, item->name.span, "a train block has no `%s`%s", item->name.text,
                     gn_diag_suggest(E->arena, item->name.text, items, N_ITEMS));
        bool decay = strcmp(item->name.text, "weight_decay") == 0;
        if (item->on.n && !decay) el_error(E, item->on.p[0].span, "`on` belongs to `weight_decay`");
        bool batch = strcmp(item->name.text, "batch") == 0;
        if (item->of.text && !batch) el_error(E, item->of.span, "`of` belongs to `batch`");
        if (item->over && strcmp(item->name.text, "loss") != 0 && !(batch && item->of.text))
            el_error(E, item->over->span, "`over` belongs to `loss`, and to `edges(N) of` edges");
        if (el_train_item(d, item->name.text) != item && !decay)
            el_error(E, item->name.span, "`%s` is set again below", item->name.text);
    }
}

void el_train_spec(elab *E, const train_plan *t, gn_train_spec *s)
{
    const ast_decl *d = t->decl;
    bool complete = E->diags->errors == 0;
    push_train_frame(E, t, false);
    check_items(E, d);
    double decay = 0;
    el_optimizer(E, el_train_item(d, "optimizer"), s, &decay);
    s->epochs = 200;
    s->gamma = 1;
    for (uint32_t i = 0; i < E->params.n; i++) E->params.p[i].weight_decay = decay;
    for (uint32_t i = 0; i < d->items.n; i++)
        if (d->items.p[i].a && strcmp(d->items.p[i].name.text, "weight_decay") == 0)
            decay_on(E, &d->items.p[i], complete);
    for (uint32_t i = 0; i < E->params.n; i++)
        if (!E->params.p[i].trainable) E->params.p[i].weight_decay = 0;
    el_train_int(E, d, "epochs", 0, &s->epochs);
    el_train_int(E, d, "patience", 0, &s->patience);
    number_setting(E, d, "clip_norm", 0, &s->clip_norm);
    number_setting(E, d, "clip_value", 0, &s->clip_value);
    el_train_int(E, d, "warmup", 0, &s->warmup);
    el_schedule(E, el_train_item(d, "schedule"), s);
    selection(E, d, s);
    el_batch(E, d, &s->batches);
    el_pop_frame(E);
}
