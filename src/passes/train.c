/* The training step.  Formulas are those of torch.optim (the single-tensor loops of PyTorch 2) and
 * of torch.nn.utils.clip_grad_norm_ and clip_grad_value_, in their order: clip, decay, moments,
 * update.  What depends on the step alone (learning rate, bias corrections) is a scalar in f64, as
 * it is a Python float there.
 *
 * Of a table whose rows are touched (touch_rows.c) all of that is done with the picked rows, which
 * are put back: as torch.optim.SparseAdam, and SGD and Adagrad with sparse gradients.  Others keep
 * their moments, too. */
#include "passes/train.h"
#include "base/data_name.h"
#include "passes/learning_rate.h"
#include "passes/touch_rows.h"

#include <math.h>
#include <string.h>

typedef struct trainer {
    gir_program *p;
    const gn_train_spec *spec;
    gir_id t;         /* the step, i64[], from 0; where gradients are added up the update */
    gir_id last;      /* do states change in this step? 0: in each they do */
    gir_id scaled;    /* what the loss is multiplied by, f32[]; 0: nothing */
    gir_id finite;    /* with that: are gradients? */
    gir_id lr;        /* f64[] */
    gir_id size, eps; /* f64[]: with r = sqrt(1 - beta2^(t+1)): lr r / (1 - beta1^(t+1)), eps r;
                         ADAMAX: lr / (1 - beta1^(t+1)) */
} trainer;

typedef struct trained {
    const gn_train_param *param;
    gir_id w, grad; /* of the rows that `pick` picks, where there is one */
    gir_id pick;
} trained;

/* values --------------------------------------------------------------------------------------- */

static gir_id op2(trainer *t, gir_op op, gir_id a, gir_id b) { return gir_op2(t->p, op, a, b); }

static gir_id like(trainer *t, gir_id v, double x)
{
    gir_type type = *gir_type_of(t->p, v);
    return gir_const(t->p, &type, x);
}

static gir_id f64(trainer *t, double x)
{
    gir_type scalar = gir_tensor(GN_F64, 0, 0, NULL);
    return gir_const(t->p, &scalar, x);
}

static gir_id scale(trainer *t, gir_id v, double x) { return op2(t, GIR_MUL, v, like(t, v, x)); }

/* A scalar repeated to the type of v. */
static gir_id spread(trainer *t, gir_id scalar, gir_id v)
{
    gir_type type = *gir_type_of(t->p, v);
    return gir_broadcast(t->p, gir_cast(t->p, scalar, (gn_elem)type.elem), &type);
}

static gir_id state(trainer *t, const char *name, const gir_type *type)
{
    gir_id v = gir_leaf_by_name(t->p, GIR_STATE, name);
    return v ? v : gir_leaf(t->p, GIR_STATE, name, type);
}

/* A state of the optimizer's for parameter x: its old value. */
static gir_id moment(trainer *t, char which, const trained *x, const char **name)
{
    gir_type type = *gir_type_of(t->p, x->w);
    if (x->pick) type.space = gir_type_of(t->p, x->pick)->src;
    *name = gn_arena_printf(t->p->arena, "opt.%c.%s", which, x->param->name);
    gir_id v = state(t, *name, &type);
    return x->pick ? op2(t, GIR_TAKE, x->pick, v) : v;
}

static void update(trainer *t, const char *name, gir_id v)
{
    gir_output_add(t->p, GIR_UPDATE, name, v);
}

/* `yes` in steps where a bool holds, else `no`. */
static gir_id choose(trainer *t, gir_id holds, gir_id yes, gir_id no)
{
    gir_type type = *gir_type_of(t->p, yes);
    type.elem = GN_BOOL;
    return gir_op3(t->p, GIR_SELECT, gir_broadcast(t->p, holds, &type), yes, no);
}

/* Of a state of x, or of x itself.  Of touched rows the old ones are put back. */
static void update_of(trainer *t, const trained *x, const char *name, gir_id v)
{
    gir_id all = gir_leaf_by_name(t->p, GIR_STATE, name), old = all;
    if (t->last && x->pick) old = op2(t, GIR_TAKE, x->pick, all);
    if (t->last) v = choose(t, t->last, v, old);
    if (x->pick) v = gir_op3(t->p, GIR_PUT, x->pick, all, v);
    update(t, name, v);
}

/* C leaves open in which order the arguments of a call are computed, and with it the numbers of the
 * values that they make: where two of them make some, they stand in statements of their own, so
 * that a step is the same whoever compiled this. */

/* what depends on the step --------------------------------------------------------------------- */

/* 1 - beta^(t+1) */
static gir_id bias_correction(trainer *t, double beta)
{
    gir_id step = gir_cast(t->p, t->t, GN_F64), one = f64(t, 1), next = op2(t, GIR_ADD, step, one);
    return op2(t, GIR_SUB, one, op2(t, GIR_POW, f64(t, beta), next));
}

static void begin_step(trainer *t)
{
    gir_type counter = gir_tensor(GN_I64, 0, 0, NULL);
    t->t = state(t, t->last ? GN_STATE_UPDATES : GN_STATE_STEPS, &counter);
    t->lr = gn_train_rate_value(t->p, t->spec, t->t);
    if (t->spec->optimizer == GN_ADAGRAD && t->spec->lr_decay != 0) {
        gir_id step = gir_cast(t->p, t->t, GN_F64), one = f64(t, 1);
        gir_id by = op2(t, GIR_ADD, one, scale(t, step, t->spec->lr_decay));
        t->lr = op2(t, GIR_DIV, t->lr, by);
    }
    if (t->spec->optimizer == GN_ADAMAX)
        t->size = op2(t, GIR_DIV, t->lr, bias_correction(t, t->spec->beta1));
    if (t->spec->optimizer != GN_ADAM && t->spec->optimizer != GN_ADAMW) return;
    gir_id root = gir_op1(t->p, GIR_SQRT, bias_correction(t, t->spec->beta2));
    t->size = op2(t, GIR_MUL, t->lr, root);
    t->size = op2(t, GIR_DIV, t->size, bias_correction(t, t->spec->beta1));
    t->eps = scale(t, root, t->spec->eps);
}

static void end_step(trainer *t)
{
    if (t->last) {
        gir_id next = op2(t, GIR_ADD, t->t, like(t, t->t, 1));
        update(t, GN_STATE_UPDATES, choose(t, t->last, next, t->t));
        gir_type counter = gir_tensor(GN_I64, 0, 0, NULL);
        t->t = state(t, GN_STATE_STEPS, &counter);
    }
    for (uint32_t k = 0; k < t->p->outputs.n; k++)
        if (t->p->outputs.p[k].kind == GIR_UPDATE &&
            strcmp(t->p->outputs.p[k].name, GN_STATE_STEPS) == 0)
            return;
    update(t, GN_STATE_STEPS, op2(t, GIR_ADD, t->t, like(t, t->t, 1)));
}

/* adding gradients up -----------------------------------------------------------------------------
 */

static gir_id input(trainer *t, const char *name, gn_elem elem)
{
    gir_type type = gir_tensor(elem, 0, 0, NULL);
    return gir_leaf(t->p, GIR_INPUT, name, &type);
}

/* Each gradient becomes the sum over the batches so far, each times the part of rows that it has:
 * that of a mean over all of their rows. */
static void accumulate(trainer *t, trained *x, int n)
{
    if (!gn_adds_up(&t->spec->batches)) return;
    gir_id part = input(t, GN_BATCH_PART, GN_F32), first = input(t, GN_BATCH_FIRST, GN_BOOL);
    for (int k = 0; k < n; k++) {
        const char *name;
        gir_id sum = moment(t, 'a', &x[k], &name);
        gir_id g = op2(t, GIR_MUL, x[k].grad, spread(t, part, x[k].grad));
        gir_id more = op2(t, GIR_ADD, sum, g);
        x[k].grad = choose(t, first, g, more);
        update(t, name, x[k].grad);
    }
    t->last = input(t, GN_BATCH_LAST, GN_BOOL);
}

/* scaling the loss --------------------------------------------------------------------------------
 *
 * Gradients that are kept as float16 vanish below 6e-8.  So the loss is multiplied by a number that
 * they are divided by in the end, as torch.amp.GradScaler does, with its numbers.  One that is too
 * large leaves infinities or NaNs among the gradients: then no state changes but that number. */

enum { SCALE_AT_FIRST = 65536, GOOD_STEPS = 2000 };
static const double SCALE_AT_MOST = 0x1p100; /* its inverse is a number, and so is its double */

static gir_id scale_of_loss(trainer *t)
{
    gir_type one = gir_tensor(GN_F32, 0, 0, NULL);
    gir_id s = state(t, GN_STATE_SCALE, &one); /* 0: none was chosen yet */
    gir_id unset = op2(t, GIR_EQ, s, like(t, s, 0));
    return gir_op3(t->p, GIR_SELECT, unset, like(t, s, SCALE_AT_FIRST), s);
}

/* A sum of magnitudes is finite where each of them is, but where they are far too large anyway. */
static void unscale(trainer *t, trained *x, int n)
{
    if (!t->scaled) return;
    gir_id inverse = gir_op1(t->p, GIR_RECIP, t->scaled), sum = 0;
    for (int k = 0; k < n; k++) {
        gir_id g = gir_cast(t->p, x[k].grad, GN_F32);
        int64_t axes = ((int64_t)1 << gir_type_of(t->p, g)->rank) - 1;
        gir_id s = gir_reduce(t->p, gir_op1(t->p, GIR_ABS, g), GIR_SUM, axes);
        if (gir_type_of(t->p, s)->space) s = gir_space_reduce(t->p, s, GIR_SUM);
        sum = sum ? op2(t, GIR_ADD, sum, s) : s;
        x[k].grad = op2(t, GIR_MUL, x[k].grad, spread(t, inverse, x[k].grad));
    }
    if (!sum) return;
    t->finite = op2(t, GIR_LT, sum, like(t, sum, INFINITY));
    gir_id last = t->last;
    t->last = last ? op2(t, GIR_AND, last, t->finite) : t->finite;
}

/* What the forward pass would change, its first n outputs: of infinities it may have come, too. */
static void keep_states(trainer *t, uint32_t n)
{
    for (uint32_t k = 0; k < n && t->finite; k++) {
        const char *name = t->p->outputs.p[k].name;
        if (t->p->outputs.p[k].kind != GIR_UPDATE || !strcmp(name, GN_STATE_STEPS)) continue;
        gir_id old = gir_leaf_by_name(t->p, GIR_STATE, name);
        if (!old) continue;
        gir_id now = choose(t, t->finite, t->p->outputs.p[k].value, old);
        t->p->outputs.p[k].value = now;
    }
}

/* `all`: there are all gradients; 0: in every step. */
static void update_scale(trainer *t, gir_id all)
{
    if (!t->finite) return;
    gir_type counter = gir_tensor(GN_I64, 0, 0, NULL);
    gir_id good = state(t, GN_STATE_GOOD_STEPS, &counter);
    gir_id more = op2(t, GIR_ADD, good, like(t, good, 1));
    gir_id full = op2(t, GIR_GE, more, like(t, more, GOOD_STEPS));
    gir_id twice = scale(t, t->scaled, 2), half = scale(t, t->scaled, 0.5);
    gir_id grows = op2(t, GIR_LT, t->scaled, like(t, t->scaled, SCALE_AT_MOST));
    grows = op2(t, GIR_AND, full, grows);
    gir_id grown = gir_op3(t->p, GIR_SELECT, grows, twice, t->scaled);
    gir_id next = gir_op3(t->p, GIR_SELECT, t->finite, grown, half);
    gir_id counts = op2(t, GIR_AND, t->finite, gir_op1(t->p, GIR_NOT, full));
    gir_id count = gir_op3(t->p, GIR_SELECT, counts, more, like(t, more, 0));
    if (all) {
        next = choose(t, all, next, t->scaled);
        count = choose(t, all, count, good);
    }
    update(t, GN_STATE_SCALE, next);
    update(t, GN_STATE_GOOD_STEPS, count);
}

/* clipping ------------------------------------------------------------------------------------- */

static gir_id sum_of_squares(trainer *t, gir_id g)
{
    int64_t all = ((int64_t)1 << gir_type_of(t->p, g)->rank) - 1;
    gir_id sum = gir_reduce(t->p, op2(t, GIR_MUL, g, g), GIR_SUM, all);
    return gir_type_of(t->p, sum)->space ? gir_space_reduce(t->p, sum, GIR_SUM) : sum;
}

static void clip_norm(trainer *t, trained *x, int n)
{
    gn_elem elem = GN_F32;
    gir_id sum = 0;
    for (int k = 0; k < n; k++)
        if (gir_type_of(t->p, x[k].w)->elem == GN_F64) elem = GN_F64;
    for (int k = 0; k < n; k++) {
        gir_id s = gir_cast(t->p, sum_of_squares(t, x[k].grad), elem);
        sum = sum ? op2(t, GIR_ADD, sum, s) : s;
    }
    if (!sum) return;
    gir_id norm = gir_op1(t->p, GIR_SQRT, sum);
    gir_id most = like(t, norm, t->spec->clip_norm);
    gir_id ratio = op2(t, GIR_DIV, most, op2(t, GIR_ADD, norm, like(t, norm, 1e-6)));
    gir_id coefficient = op2(t, GIR_MIN, ratio, like(t, norm, 1));
    for (int k = 0; k < n; k++)
        x[k].grad = op2(t, GIR_MUL, x[k].grad, spread(t, coefficient, x[k].grad));
}

static void clip_value(trainer *t, trained *x, int n)
{
    double c = t->spec->clip_value;
    for (int k = 0; k < n; k++) {
        gir_id g = op2(t, GIR_MAX, x[k].grad, like(t, x[k].grad, -c));
        x[k].grad = op2(t, GIR_MIN, g, like(t, g, c));
    }
}

/* optimizers ----------------------------------------------------------------------------------- */

/* L2: the gradient of weight_decay / 2 * |w|^2 */
static gir_id decayed(trainer *t, const trained *x)
{
    if (x->param->weight_decay == 0) return x->grad;
    return op2(t, GIR_ADD, x->grad, scale(t, x->w, x->param->weight_decay));
}

/* buf = g at first, then momentum * buf + (1 - dampening) * g;  w -= lr * (nesterov ? g + momentum
 * * buf : buf) */
static gir_id sgd(trainer *t, const trained *x)
{
    const gn_train_spec *s = t->spec;
    gir_id g = decayed(t, x);
    if (s->momentum != 0) {
        const char *name;
        gir_id buf = scale(t, moment(t, 'm', x, &name), s->momentum);
        gir_id next = op2(t, GIR_ADD, buf, s->dampening != 0 ? scale(t, g, 1 - s->dampening) : g);
        if (s->dampening != 0) {
            gir_type mask = *gir_type_of(t->p, g);
            mask.elem = GN_BOOL;
            gir_id first = gir_broadcast(t->p, op2(t, GIR_EQ, t->t, like(t, t->t, 0)), &mask);
            next = gir_op3(t->p, GIR_SELECT, first, g, next);
        }
        update_of(t, x, name, next);
        g = s->nesterov ? op2(t, GIR_ADD, g, scale(t, next, s->momentum)) : next;
    }
    return op2(t, GIR_SUB, x->w, op2(t, GIR_MUL, spread(t, t->lr, x->w), g));
}

/* a + k (b - a) */
static gir_id towards(trainer *t, gir_id a, gir_id b, double k)
{
    return op2(t, GIR_ADD, a, scale(t, op2(t, GIR_SUB, b, a), k));
}

/* k a + (1 - k) g^2 */
static gir_id mean_of_squares(trainer *t, gir_id a, gir_id g, double k)
{
    a = scale(t, a, k);
    return op2(t, GIR_ADD, a, scale(t, op2(t, GIR_MUL, g, g), 1 - k));
}

/* w (1 - lr * decay) */
static gir_id shrunk(trainer *t, const trained *x)
{
    if (x->param->weight_decay == 0) return x->w;
    gir_id one = f64(t, 1), keep = op2(t, GIR_SUB, one, scale(t, t->lr, x->param->weight_decay));
    return op2(t, GIR_MUL, x->w, spread(t, keep, x->w));
}

/* m += (1 - beta1) (g - m);  v = beta2 v + (1 - beta2) g^2;  w -= lr / bc1 * m / (sqrt(v) / r +
 * eps), where r = sqrt(bc2) is taken to the scalars: w -= lr r / bc1 * m / (sqrt(v) + eps r), one
 * division an element */
static gir_id adam(trainer *t, const trained *x)
{
    const gn_train_spec *s = t->spec;
    const char *m_name, *v_name;
    bool apart = s->optimizer == GN_ADAMW; /* decay is no part of the gradient */
    gir_id g = apart ? x->grad : decayed(t, x), w = apart ? shrunk(t, x) : x->w;
    gir_id m = moment(t, 'm', x, &m_name), v = moment(t, 'v', x, &v_name);
    m = towards(t, m, g, 1 - s->beta1);
    v = mean_of_squares(t, v, g, s->beta2);
    update_of(t, x, m_name, m);
    update_of(t, x, v_name, v);
    if (s->amsgrad) {
        gir_id most = moment(t, 'x', x, &v_name);
        v = op2(t, GIR_MAX, most, v);
        update_of(t, x, v_name, v);
    }
    gir_id root = gir_op1(t->p, GIR_SQRT, v);
    /* SparseAdam leaves r out of eps */
    gir_id eps = x->pick ? like(t, v, s->eps) : spread(t, t->eps, w);
    gir_id denominator = op2(t, GIR_ADD, root, eps);
    return op2(t, GIR_SUB, w,
               op2(t, GIR_DIV, op2(t, GIR_MUL, spread(t, t->size, w), m), denominator));
}

/* v += g^2;  w -= lr g / (sqrt(v) + eps) */
static gir_id adagrad(trainer *t, const trained *x)
{
    const char *name;
    gir_id g = decayed(t, x), v = moment(t, 'v', x, &name);
    v = op2(t, GIR_ADD, v, op2(t, GIR_MUL, g, g));
    update_of(t, x, name, v);
    gir_id root = gir_op1(t->p, GIR_SQRT, v);
    gir_id denominator = op2(t, GIR_ADD, root, like(t, v, t->spec->eps));
    gir_id size = op2(t, GIR_MUL, spread(t, t->lr, x->w), g);
    return op2(t, GIR_SUB, x->w, op2(t, GIR_DIV, size, denominator));
}

/* v = alpha v + (1 - alpha) g^2;  step = g / (sqrt(v) + eps), where v is less the square of the
 * mean of g if it is centered;  m = momentum m + step;  w -= lr (step, or m) */
static gir_id rmsprop(trainer *t, const trained *x)
{
    const gn_train_spec *s = t->spec;
    const char *name;
    gir_id g = decayed(t, x), v = mean_of_squares(t, moment(t, 'v', x, &name), g, s->alpha);
    update_of(t, x, name, v);
    if (s->centered) {
        gir_id mean = towards(t, moment(t, 'g', x, &name), g, 1 - s->alpha);
        update_of(t, x, name, mean);
        v = op2(t, GIR_SUB, v, op2(t, GIR_MUL, mean, mean));
    }
    gir_id root = gir_op1(t->p, GIR_SQRT, v);
    gir_id step = op2(t, GIR_DIV, g, op2(t, GIR_ADD, root, like(t, v, s->eps)));
    if (s->momentum != 0) {
        gir_id m = scale(t, moment(t, 'm', x, &name), s->momentum);
        step = op2(t, GIR_ADD, m, step);
        update_of(t, x, name, step);
    }
    return op2(t, GIR_SUB, x->w, op2(t, GIR_MUL, spread(t, t->lr, x->w), step));
}

/* m += (1 - beta1) (g - m);  v = max(beta2 v, |g| + eps);  w -= lr / bc1 * m / v */
static gir_id adamax(trainer *t, const trained *x)
{
    const gn_train_spec *s = t->spec;
    const char *m_name, *v_name;
    gir_id g = decayed(t, x), m = moment(t, 'm', x, &m_name), v = moment(t, 'v', x, &v_name);
    m = towards(t, m, g, 1 - s->beta1);
    gir_id size = gir_op1(t->p, GIR_ABS, g);
    size = op2(t, GIR_ADD, size, like(t, size, s->eps));
    v = op2(t, GIR_MAX, scale(t, v, s->beta2), size);
    update_of(t, x, m_name, m);
    update_of(t, x, v_name, v);
    return op2(t, GIR_SUB, x->w, op2(t, GIR_DIV, op2(t, GIR_MUL, spread(t, t->size, x->w), m), v));
}

/* w -= lr (sign(beta1 m + (1 - beta1) g) + decay w);  m = beta2 m + (1 - beta2) g */
static gir_id lion(trainer *t, const trained *x)
{
    const gn_train_spec *s = t->spec;
    const char *name;
    gir_id w = shrunk(t, x), m = moment(t, 'm', x, &name);
    gir_id way = gir_op1(t->p, GIR_SIGN, towards(t, m, x->grad, 1 - s->beta1));
    update_of(t, x, name, towards(t, m, x->grad, 1 - s->beta2));
    return op2(t, GIR_SUB, w, op2(t, GIR_MUL, spread(t, t->lr, w), way));
}

static gir_id updated(trainer *t, const trained *x)
{
    switch (t->spec->optimizer) {
    case GN_SGD: return sgd(t, x);
    case GN_ADAGRAD: return adagrad(t, x);
    case GN_RMSPROP: return rmsprop(t, x);
    case GN_ADAMAX: return adamax(t, x);
    case GN_LION: return lion(t, x);
    default: return adam(t, x);
    }
}

/* the pass ------------------------------------------------------------------------------------- */

static gn_status *check_spec(const gn_train_spec *s)
{
    bool periodic = s->schedule == GN_LR_STEP || s->schedule == GN_LR_COSINE ||
                    s->schedule == GN_LR_LINEAR || s->schedule == GN_LR_ONE_CYCLE;
    if (periodic && s->period < 1)
        GN_FAIL(GN_ERR_MODEL, "the schedule's period is %lld steps; it must be 1 or more",
                (long long)s->period);
    if (s->schedule == GN_LR_ONE_CYCLE && !(s->div_factor > 0 && s->final_div_factor > 0))
        GN_FAIL(GN_ERR_MODEL, "rates are divided by %g and %g", s->div_factor, s->final_div_factor);
    if (!(s->lr >= 0)) GN_FAIL(GN_ERR_MODEL, "the learning rate is %g", s->lr);
    if (!(s->clip_norm >= 0) || !(s->clip_value >= 0))
        GN_FAIL(GN_ERR_MODEL, "gradients are clipped to less than 0");
    if (s->nesterov && (s->momentum <= 0 || s->dampening != 0))
        GN_FAIL(GN_ERR_MODEL, "nesterov needs a momentum and no dampening");
    if (s->touched && s->momentum != 0)
        GN_FAIL(GN_ERR_MODEL, "a momentum moves all rows of a table, not those alone that a "
                              "step touches");
    if (s->touched && gn_adds_up(&s->batches))
        GN_FAIL(GN_ERR_MODEL, "`accumulate`: batches touch different rows of a table, whose "
                              "gradients cannot be added up");
    if (!(s->beta1 >= 0 && s->beta1 < 1) || !(s->beta2 >= 0 && s->beta2 < 1))
        GN_FAIL(GN_ERR_MODEL, "betas are %g and %g; they must be in [0, 1)", s->beta1, s->beta2);
    return NULL;
}

static gn_status *find_loss(const gir_program *p, gir_id *out)
{
    for (uint32_t k = 0; k < p->outputs.n; k++)
        if (p->outputs.p[k].kind == GIR_OUTPUT && strcmp(p->outputs.p[k].name, "loss") == 0) {
            *out = p->outputs.p[k].value;
            return NULL;
        }
    GN_FAIL(GN_ERR_INTERNAL, "program %s has no output 'loss'", p->name);
}

/* Gradients of the parameters that the loss depends on; *n of them. */
static gn_status *gradients(trainer *t, gir_id loss, int n_params, const gn_train_param *params,
                            trained *x, int *n)
{
    gir_program *p = t->p;
    gir_id *w = GN_NEW_N(p->arena, gir_id, n_params), *grad = GN_NEW_N(p->arena, gir_id, n_params);
    int found = 0;
    for (int k = 0; k < n_params; k++) {
        gir_id v = gir_leaf_by_name(p, GIR_STATE, params[k].name);
        if (!v) continue;
        gir_id rows;
        GN_TRY(gn_touched_rows(p, v, &rows));
        x[found] = (trained){.param = &params[k], .pick = rows ? gir_in(p, rows, 0) : 0};
        w[found++] = rows ? rows : v;
    }
    gir_id by = t->scaled ? gir_cast(p, t->scaled, (gn_elem)gir_type_of(p, loss)->elem) : 0;
    if (by)
        GN_TRY(gir_pull(p, 1, &loss, &by, found, w, grad));
    else
        GN_TRY(gir_grad(p, loss, found, w, grad));
    *n = 0;
    for (int k = 0; k < found; k++) {
        const gir_node *g = gir_at(p, grad[k]);
        if (g->op == GIR_CONST && g->attr.f == 0) continue; /* the loss does not depend on it */
        x[(*n)++] = (trained){x[k].param, w[k], grad[k], x[k].pick};
    }
    return NULL;
}

gn_status *gn_pass_train(gn_arena *a, const gir_program *loss, int n_params,
                         const gn_train_param *params, const gn_train_spec *spec,
                         gir_program **step)
{
    gir_id value = 0;
    int n = 0;
    GN_TRY(check_spec(spec));
    GN_TRY(find_loss(loss, &value));
    trainer t = {.p = gir_clone(a, loss), .spec = spec};
    t.p->name = "step";
    trained *x = GN_NEW_N(a, trained, n_params);
    if (spec->scales_loss) t.scaled = scale_of_loss(&t);
    GN_TRY(gradients(&t, value, n_params, params, x, &n));
    t.p->loc = (gir_loc){.way = GIR_OPTIMIZER};
    accumulate(&t, x, n);
    gir_id all = t.last;
    unscale(&t, x, n);
    keep_states(&t, loss->outputs.n);
    begin_step(&t);
    if (spec->clip_norm > 0) clip_norm(&t, x, n);
    if (spec->clip_value > 0) clip_value(&t, x, n);
    for (int k = 0; k < n; k++) {
        t.p->loc = gir_at(t.p, x[k].w)->loc;
        t.p->loc.way = GIR_OPTIMIZER;
        gir_id w = updated(&t, &x[k]);
        update_of(&t, &x[k], x[k].param->name, w);
    }
    t.p->loc = (gir_loc){.way = GIR_OPTIMIZER};
    update_scale(&t, all);
    end_step(&t);
    t.p->loc = (gir_loc){0};
    *step = t.p;
    return NULL;
}
