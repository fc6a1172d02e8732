/* The train block: the loss, and the settings of the optimizer, which are checked and never run
 * here. */
#include "frontend/elab.h"

#include <math.h>
#include <string.h>

static const char *const items[] = {"loss",      "optimizer",  "epochs",   "weight_decay",
                                    "clip_norm", "clip_value", "schedule", "patience",
                                    "monitor",   "select"};
enum { N_ITEMS = sizeof items / sizeof *items };

static const ast_item *item_named(const ast_decl *d, const char *name)
{
    const ast_item *found = NULL;
    for (uint32_t i = 0; i < d->items.n; i++)
        if (d->items.p[i].a && strcmp(d->items.p[i].name.text, name) == 0) found = &d->items.p[i];
    return found;
}

/* The frame in which settings are evaluated: hyperparameters of the block and of the model, the
 * model by its name, and inputs that the block declares. Inputs from the data are looked up by
 * name. */
static void push_train_frame(elab *E, const train_plan *t)
{
    const ast_decl *d = t->decl;
    frame *f = el_push_frame(E, d, d->src, NULL, d->name.span);
    f->up = E->frame->up;
    const ast_decl *m = E->root->decl;
    for (uint32_t k = 0; k < m->hyper.n; k++)
        el_bind(E, f, m->hyper.p[k].name.text, E->root->hyper[k]);
    for (uint32_t k = 0; k < d->hyper.n; k++) el_bind(E, f, d->hyper.p[k].name.text, t->hyper[k]);
    el_bind(E, f, m->name.text, (value){.kind = VAL_INSTANCE, .u.instance = E->root});
    static const char *const words[] = {"best", "last", "val_loss", "val_accuracy"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        el_bind(E, f, words[k], val_string(words[k]));
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
    const ast_item *item = item_named(t->decl, "loss");
    if (!item)
        return el_error(E, t->decl->name.span, "the train block of `%s` has no `loss`",
                        t->decl->name.text);
    push_train_frame(E, t);
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

static value setting(elab *E, const ast_decl *d, const char *name, const ast_item **item)
{
    *item = item_named(d, name);
    return *item ? el_eval(E, (*item)->a) : (value){0};
}

static void number_setting(elab *E, const ast_decl *d, const char *name, double least, double *out)
{
    const ast_item *item;
    value v = setting(E, d, name, &item);
    if (v.kind == VAL_UNSET || v.kind == VAL_POISON) return;
    if (!val_is_number(&v) || !(val_number(&v) >= least))
        el_error(E, item->a->span, "`%s` is a number of at least %g, not %s", name, least,
                 val_text(E, &v));
    else
        *out = val_number(&v);
}

static void int_setting(elab *E, const ast_decl *d, const char *name, int64_t least, int64_t *out)
{
    const ast_item *item;
    value v = setting(E, d, name, &item);
    if (v.kind == VAL_UNSET || v.kind == VAL_POISON) return;
    if (v.kind != VAL_INT || v.u.i < least)
        el_error(E, item->a->span, "`%s` is an integer of at least %lld, not %s", name,
                 (long long)least, val_text(E, &v));
    else
        *out = v.u.i;
}

/* A field of the specification that an argument of `adam(...)` or `step(...)` sets. */
typedef struct knob {
    const char *name;
    double *number;
    bool *truth;
    int64_t *whole;
    double low, high;    /* of numbers: low <= x < high */
    const char *word[2]; /* of what is false and true, where it is said so */
} knob;

static void set_knob(elab *E, const knob *k, const ast_arg *arg)
{
    value v = el_eval(E, arg->value);
    if (v.kind == VAL_POISON) return;
    if (k->word[0]) {
        bool is = v.kind == VAL_STRING, second = is && strcmp(v.u.s, k->word[1]) == 0;
        if (!second && !(is && strcmp(v.u.s, k->word[0]) == 0))
            el_error(E, arg->value->span, "`%s` is \"%s\" or \"%s\", not %s", k->name, k->word[0],
                     k->word[1], val_text(E, &v));
        else
            *k->truth = second;
    } else if (k->truth) {
        if (v.kind != VAL_BOOL)
            el_error(E, arg->value->span, "`%s` is true or false, not %s", k->name,
                     val_text(E, &v));
        else
            *k->truth = v.u.truth;
    } else if (k->whole) {
        if (v.kind != VAL_INT || v.u.i < 1)
            el_error(E, arg->value->span, "`%s` is an integer of at least 1, not %s", k->name,
                     val_text(E, &v));
        else
            *k->whole = v.u.i;
    } else if (!val_is_number(&v) || !(val_number(&v) >= k->low && val_number(&v) < k->high)) {
        if (isinf(k->high))
            el_error(E, arg->value->span, "`%s` is a number of at least %g, not %s", k->name,
                     k->low, val_text(E, &v));
        else
            el_error(E, arg->value->span, "`%s` is a number from %g to below %g, not %s", k->name,
                     k->low, k->high, val_text(E, &v));
    } else
        *k->number = val_number(&v);
}

static void set_knobs(elab *E, const ast_expr *call, const knob *knobs, size_t n)
{
    for (uint32_t i = 0; call->kind == EXPR_CALL && i < call->args.n; i++) {
        const ast_arg *arg = &call->args.p[i];
        const char *names[12];
        size_t k = 0;
        for (size_t j = 0; j < n; j++) names[j] = knobs[j].name;
        if (!arg->name) {
            el_error(E, arg->value->span, "arguments have names here, such as `%s = ...`",
                     knobs[0].name);
            continue;
        }
        while (k < n && strcmp(knobs[k].name, arg->name) != 0) k++;
        if (k < n) {
            set_knob(E, &knobs[k], arg);
            continue;
        }
        el_error(E, arg->at, "`%s` takes no `%s`%s", call->a->name, arg->name,
                 gn_diag_taken(E->arena, arg->name, names, n));
    }
}

/* Which of `names` the expression names or calls; -1 (reported) for none. */
static int choice(elab *E, const ast_expr *e, const char *const *names, size_t n, const char *what)
{
    const ast_expr *f = e->kind == EXPR_CALL ? e->a : e;
    if (f->kind == EXPR_NAME)
        for (size_t k = 0; k < n; k++)
            if (strcmp(f->name, names[k]) == 0) return (int)k;
    const char *hint = f->kind == EXPR_NAME ? gn_diag_suggest(E->arena, f->name, names, n) : "";
    gn_buf b = {.arena = E->arena};
    for (size_t k = 0; k < n; k++)
        gn_buf_printf(&b, "%s`%s`", k == 0 ? "" : k + 1 == n ? " or " : ", ", names[k]);
    el_error(E, f->span, "%s is %s%s", what, b.p, hint);
    return -1;
}

static void optimizer(elab *E, const ast_decl *d, gn_train_spec *s, double *decay)
{
    static const char *const names[] = {"sgd", "adam", "adamw", "adagrad"};
    const ast_item *item = item_named(d, "optimizer");
    double inf = (double)INFINITY;
    if (!item) return;
    int which = choice(E, item->a, names, 4, "the optimizer");
    if (which < 0) return;
    s->optimizer = (gn_optimizer)which;
    if (s->optimizer == GN_ADAMW) *decay = 0.01;
    if (s->optimizer == GN_ADAGRAD) { /* as torch has them */
        s->lr = 0.01;
        s->eps = 1e-10;
    }
    const knob rows = {"rows", NULL, &s->touched, NULL, 0, 0, {"all", "touched"}};
    const knob sgd[] = {
        {"lr", &s->lr, NULL, NULL, 0, inf},
        {"momentum", &s->momentum, NULL, NULL, 0, inf},
        {"dampening", &s->dampening, NULL, NULL, -inf, inf},
        {"nesterov", NULL, &s->nesterov, NULL, 0, 0},
        {"weight_decay", decay, NULL, NULL, 0, inf},
        rows,
    };
    const knob adam[] = {
        {"lr", &s->lr, NULL, NULL, 0, inf},          {"beta1", &s->beta1, NULL, NULL, 0, 1},
        {"beta2", &s->beta2, NULL, NULL, 0, 1},      {"eps", &s->eps, NULL, NULL, 0, inf},
        {"weight_decay", decay, NULL, NULL, 0, inf}, rows,
    };
    const knob adagrad[] = {
        {"lr", &s->lr, NULL, NULL, 0, inf},
        {"lr_decay", &s->lr_decay, NULL, NULL, 0, inf},
        {"eps", &s->eps, NULL, NULL, 0, inf},
        {"weight_decay", decay, NULL, NULL, 0, inf},
        rows,
    };
    if (s->optimizer == GN_ADAGRAD)
        set_knobs(E, item->a, adagrad, 5);
    else
        set_knobs(E, item->a, s->optimizer == GN_SGD ? sgd : adam, 6);
    if (s->nesterov && (s->momentum <= 0 || s->dampening != 0))
        el_error(E, item->a->mark, "`nesterov` needs a momentum and no dampening");
    if (s->touched && s->optimizer == GN_SGD && s->momentum != 0)
        el_error(
            E, item->a->mark,
            "a momentum moves all rows: `rows = \"touched\"` goes without one, or with `adam`");
}

static void schedule(elab *E, const ast_decl *d, gn_train_spec *s)
{
    static const char *const names[] = {"constant", "step", "exponential", "cosine", "linear"};
    const ast_item *item = item_named(d, "schedule");
    if (!item) return;
    int which = choice(E, item->a, names, 5, "the schedule");
    if (which < 0) return;
    s->schedule = (gn_schedule)which;
    s->period = 0;
    s->gamma = s->schedule == GN_LR_LINEAR ? 0 : 0.1;
    double inf = (double)INFINITY;
    const knob knobs[] = {
        {"period", NULL, NULL, &s->period, 0, 0},
        {"gamma", &s->gamma, NULL, NULL, 0, inf},
        {"eta_min", &s->eta_min, NULL, NULL, 0, inf},
    };
    set_knobs(E, item->a, knobs, 3);
    if (s->schedule == GN_LR_STEP && s->period == 0)
        el_error(E, item->a->mark, "`step` needs its `period`");
    if (s->period == 0) s->period = s->epochs > 0 ? s->epochs : 1;
}

/* Is the setting, where it is a bare name, one of the two that it may be? */
static bool known_word(elab *E, const ast_decl *d, const char *name, const char *first,
                       const char *second)
{
    const ast_item *item = item_named(d, name);
    const char *const names[] = {first, second};
    if (!item || item->a->kind != EXPR_NAME || el_local(E->frame, item->a->name)) return true;
    return choice(E, item->a, names, 2, gn_arena_printf(E->arena, "`%s`", name)) >= 0;
}

static void selection(elab *E, const ast_decl *d, gn_train_spec *s)
{
    const ast_item *item;
    if (!known_word(E, d, "select", "best", "last")) return;
    if (!known_word(E, d, "monitor", "val_accuracy", "val_loss")) return;
    value v = setting(E, d, "select", &item);
    if (v.kind != VAL_UNSET && v.kind != VAL_POISON) {
        bool best = v.kind == VAL_STRING && strcmp(v.u.s, "best") == 0;
        if (!best && !(v.kind == VAL_STRING && strcmp(v.u.s, "last") == 0))
            el_error(E, item->a->span, "`select` is `best` or `last`, not %s", val_text(E, &v));
        s->select_best = best;
    }
    v = setting(E, d, "monitor", &item);
    if (v.kind == VAL_UNSET || v.kind == VAL_POISON) return;
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
        el_error(E, item->a->span,
                 "`monitor` is `val_accuracy`, `val_loss` or a list of both, not %s",
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
        if (item->over && strcmp(item->name.text, "loss") != 0)
            el_error(E, item->over->span, "`over` belongs to `loss`");
        if (item_named(d, item->name.text) != item && !decay)
            el_error(E, item->name.span, "`%s` is set again below", item->name.text);
    }
}

void el_train_spec(elab *E, const train_plan *t, gn_train_spec *s)
{
    const ast_decl *d = t->decl;
    *s = (gn_train_spec){.optimizer = GN_ADAM,
                         .lr = 0,
                         .beta1 = 0.9,
                         .beta2 = 0.999,
                         .eps = 1e-8,
                         .epochs = 200,
                         .gamma = 1};
    bool complete = E->diags->errors == 0;
    push_train_frame(E, t);
    check_items(E, d);
    double decay = 0;
    s->lr = 1e-3;
    optimizer(E, d, s, &decay);
    for (uint32_t i = 0; i < E->params.n; i++) E->params.p[i].weight_decay = decay;
    for (uint32_t i = 0; i < d->items.n; i++)
        if (d->items.p[i].a && strcmp(d->items.p[i].name.text, "weight_decay") == 0)
            decay_on(E, &d->items.p[i], complete);
    for (uint32_t i = 0; i < E->params.n; i++)
        if (!E->params.p[i].trainable) E->params.p[i].weight_decay = 0;
    int_setting(E, d, "epochs", 0, &s->epochs);
    int_setting(E, d, "patience", 0, &s->patience);
    number_setting(E, d, "clip_norm", 0, &s->clip_norm);
    number_setting(E, d, "clip_value", 0, &s->clip_value);
    schedule(E, d, s);
    selection(E, d, s);
    el_pop_frame(E);
}
