/* What a train block says of its optimizer and its schedule: which it is, and its arguments. */
#include "frontend/elab.h"

#include <math.h>
#include <string.h>

#define INF ((double)INFINITY)

/* A field of the specification that an argument of `adam(...)` or `step(...)` sets. */
typedef struct knob {
    const char *name;
    double *number;
    bool *truth;
    int64_t *whole;
    double low, high;    /* of numbers: low <= x < high; of whole ones: low <= x */
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
        if (v.kind != VAL_INT || v.u.i < (int64_t)k->low)
            el_error(E, arg->value->span, "`%s` is an integer of at least %g, not %s", k->name,
                     k->low, val_text(E, &v));
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

enum { MOST_KNOBS = 16 }; /* of one optimizer */

static void set_knobs(elab *E, const ast_expr *call, const knob *knobs, size_t n)
{
    for (uint32_t i = 0; call->kind == EXPR_CALL && i < call->args.n; i++) {
        const ast_arg *arg = &call->args.p[i];
        const char *names[MOST_KNOBS];
        size_t k = 0;
        for (size_t j = 0; j < n; j++) names[j] = knobs[j].name;
        if (n == 0) {
            el_error(E, arg->value->span, "`%s` takes no arguments", call->a->name);
            return;
        }
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

/* A knob of several optimizers or schedules: bits. */
typedef struct owned_knob {
    int of;
    knob k;
} owned_knob;

static void set_own(elab *E, const ast_expr *call, const owned_knob *all, size_t n, int which)
{
    knob own[MOST_KNOBS];
    size_t k = 0;
    for (size_t j = 0; j < n && k < MOST_KNOBS; j++)
        if (all[j].of >> which & 1) own[k++] = all[j].k;
    set_knobs(E, call, own, k);
}

/* Which of `names` the expression names or calls; -1 (reported) for none. */
int el_choice(elab *E, const ast_expr *e, const char *const *names, size_t n, const char *what)
{
    const ast_expr *f = e->kind == EXPR_CALL ? e->a : e;
    const char *name = f->kind == EXPR_NAME ? f->name : f->kind == EXPR_NONE ? "none" : NULL;
    for (size_t k = 0; name && k < n; k++)
        if (strcmp(name, names[k]) == 0) return (int)k;
    const char *hint = name ? gn_diag_suggest(E->arena, name, names, n) : "";
    gn_buf b = {.arena = E->arena};
    for (size_t k = 0; k < n; k++)
        gn_buf_printf(&b, "%s`%s`", k == 0 ? "" : k + 1 == n ? " or " : ", ", names[k]);
    el_error(E, f->span, "%s is %s%s", what, b.p, hint);
    return -1;
}

/* optimizers ----------------------------------------------------------------------------------- */

const char *const el_optimizer_names[GN_OPTIMIZERS] = {"sgd",     "adam",   "adamw", "adagrad",
                                                       "rmsprop", "adamax", "lion"};

/* Numbers as torch has them, lion's as its paper has. */
static gn_train_spec begins_with(gn_optimizer which)
{
    gn_train_spec s = {
        .optimizer = which, .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .alpha = 0.99};
    if (which == GN_ADAGRAD) s.eps = 1e-10;
    if (which == GN_ADAGRAD || which == GN_RMSPROP) s.lr = 1e-2;
    if (which == GN_ADAMAX) s.lr = 2e-3;
    if (which == GN_LION) s.lr = 1e-4;
    if (which == GN_LION) s.beta2 = 0.99;
    return s;
}

enum { /* bits */
       SGD = 1 << GN_SGD,
       ADAM = 1 << GN_ADAM | 1 << GN_ADAMW,
       ADAGRAD = 1 << GN_ADAGRAD,
       RMSPROP = 1 << GN_RMSPROP,
       ADAMAX = 1 << GN_ADAMAX,
       LION = 1 << GN_LION,
       EACH = (1 << GN_OPTIMIZERS) - 1,
       WITH_BETAS = ADAM | ADAMAX | LION,
       WITH_EPS = EACH & ~SGD & ~LION
};

static void check_optimizer(elab *E, gn_span at, const gn_train_spec *s)
{
    if (s->nesterov && (s->momentum <= 0 || s->dampening != 0))
        el_error(E, at, "`nesterov` needs a momentum and no dampening");
    if (s->touched && s->momentum != 0)
        el_error(
            E, at,
            "a momentum moves all rows: `rows = \"touched\"` goes without one, or with `adam`");
}

void el_optimizer(elab *E, const ast_item *item, gn_train_spec *s, double *decay)
{
    int which = item ? el_choice(E, item->a, el_optimizer_names, GN_OPTIMIZERS, "the optimizer")
                     : GN_ADAM;
    if (which < 0) which = GN_ADAM;
    *s = begins_with((gn_optimizer)which);
    *decay = which == GN_ADAMW ? 0.01 : 0;
    if (!item) return;
    const owned_knob all[] = {
        {EACH, {"lr", &s->lr, NULL, NULL, 0, INF}},
        {SGD | RMSPROP, {"momentum", &s->momentum, NULL, NULL, 0, INF}},
        {SGD, {"dampening", &s->dampening, NULL, NULL, -INF, INF}},
        {SGD, {"nesterov", NULL, &s->nesterov, NULL, 0, 0}},
        {RMSPROP, {"alpha", &s->alpha, NULL, NULL, 0, INF}},
        {WITH_BETAS, {"beta1", &s->beta1, NULL, NULL, 0, 1}},
        {WITH_BETAS, {"beta2", &s->beta2, NULL, NULL, 0, 1}},
        {ADAGRAD, {"lr_decay", &s->lr_decay, NULL, NULL, 0, INF}},
        {WITH_EPS, {"eps", &s->eps, NULL, NULL, 0, INF}},
        {RMSPROP, {"centered", NULL, &s->centered, NULL, 0, 0}},
        {ADAM, {"amsgrad", NULL, &s->amsgrad, NULL, 0, 0}},
        {EACH, {"weight_decay", decay, NULL, NULL, 0, INF}},
        {EACH, {"rows", NULL, &s->touched, NULL, 0, 0, {"all", "touched"}}},
    };
    set_own(E, item->a, all, sizeof all / sizeof *all, which);
    check_optimizer(E, item->a->mark, s);
}

/* schedules ------------------------------------------------------------------------------------ */

static const char *const schedules[GN_SCHEDULES] = {
    "constant", "step", "exponential", "cosine", "linear", "one_cycle", "plateau"};

static gn_train_spec schedule_begins_with(const gn_train_spec *before, gn_schedule which)
{
    gn_train_spec s = *before;
    s.schedule = which;
    s.gamma = which == GN_LR_LINEAR ? 0 : 0.1;
    s.rise = 0.3;
    s.div_factor = 25;
    s.final_div_factor = 1e4;
    s.wait = 10;
    s.threshold = 1e-4;
    return s;
}

static void check_schedule(elab *E, gn_span at, const gn_train_spec *s)
{
    if (s->schedule == GN_LR_STEP && s->period == 0) el_error(E, at, "`step` needs its `period`");
    if (s->div_factor == 0 || s->final_div_factor == 0)
        el_error(E, at, "rates are divided by `div_factor` and `final_div_factor`: not by 0");
}

void el_schedule(elab *E, const ast_item *item, gn_train_spec *s)
{
    int which = item ? el_choice(E, item->a, schedules, GN_SCHEDULES, "the schedule") : 0;
    if (which < 0 || !item) return;
    enum {
        STEP = 1 << GN_LR_STEP,
        COSINE = 1 << GN_LR_COSINE,
        LINEAR = 1 << GN_LR_LINEAR,
        CYCLE = 1 << GN_LR_ONE_CYCLE,
        PLATEAU = 1 << GN_LR_PLATEAU,
        WITH_GAMMA = STEP | 1 << GN_LR_EXPONENTIAL | LINEAR
    };
    *s = schedule_begins_with(s, (gn_schedule)which);
    const owned_knob all[] = {
        {CYCLE, {"max_lr", &s->lr, NULL, NULL, 0, INF}},
        {STEP | COSINE | LINEAR | CYCLE, {"period", NULL, NULL, &s->period, 1, 0}},
        {WITH_GAMMA, {"gamma", &s->gamma, NULL, NULL, 0, INF}},
        {COSINE, {"eta_min", &s->eta_min, NULL, NULL, 0, INF}},
        {CYCLE, {"pct_start", &s->rise, NULL, NULL, 0, 1}},
        {CYCLE, {"div_factor", &s->div_factor, NULL, NULL, 0, INF}},
        {CYCLE, {"final_div_factor", &s->final_div_factor, NULL, NULL, 0, INF}},
        {PLATEAU, {"factor", &s->gamma, NULL, NULL, 0, 1}},
        {PLATEAU, {"patience", NULL, NULL, &s->wait, 0, 0}},
        {PLATEAU, {"threshold", &s->threshold, NULL, NULL, 0, INF}},
        {PLATEAU, {"cooldown", NULL, NULL, &s->cooldown, 0, 0}},
        {PLATEAU, {"min_lr", &s->eta_min, NULL, NULL, 0, INF}},
        {PLATEAU, {"monitor", NULL, &s->by_accuracy, NULL, 0, 0, {"val_loss", "val_accuracy"}}},
    };
    set_own(E, item->a, all, sizeof all / sizeof *all, which);
    check_schedule(E, item->a->mark, s);
    int64_t left = s->epochs - s->warmup;
    if (s->period == 0) s->period = left > 0 ? left : 1;
}
