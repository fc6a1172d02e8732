/* Learning rates.  Formulas are those of torch.optim.lr_scheduler, in f64, as Python has them: each
 * is written twice, as numbers and as values of a program. */
#include "passes/learning_rate.h"

#include <math.h>

#define PI 3.14159265358979323846

/* What ONE_CYCLE ends its two halves at: steps, the first of which may lie between two. */
typedef struct cycle {
    double low, lowest; /* rates, that of its peak is lr */
    double top, last;   /* steps */
    double up, down;    /* how long each half is, 1 where it has no step */
} cycle;

static cycle cycle_of(const gn_train_spec *s)
{
    cycle c = {.low = s->lr / s->div_factor,
               .top = s->rise * (double)s->period - 1,
               .last = (double)s->period - 1};
    c.lowest = c.low / s->final_div_factor;
    c.up = c.top > 0 ? c.top : 1;
    c.down = c.last > c.top ? c.last - c.top : 1;
    return c;
}

/* numbers -------------------------------------------------------------------------------------- */

static double along_cosine(double from, double to, double part)
{
    return to + (from - to) / 2 * (cos(PI * part) + 1);
}

static double one_cycle(const gn_train_spec *s, double t)
{
    cycle c = cycle_of(s);
    t = fmin(t, c.last);
    if (t < c.top) return along_cosine(c.low, s->lr, t / c.up);
    return along_cosine(s->lr, c.lowest, (t - c.top) / c.down);
}

/* torch sees to it that no drop raises the rate. */
static double after_drops(const gn_train_spec *s, int64_t drops)
{
    return fmax(s->lr * pow(s->gamma, (double)drops), fmin(s->eta_min, s->lr));
}

static double scheduled(const gn_train_spec *s, double t, int64_t drops)
{
    double period = (double)s->period;
    switch (s->schedule) {
    case GN_LR_STEP: return s->lr * pow(s->gamma, floor(t / period));
    case GN_LR_EXPONENTIAL: return s->lr * pow(s->gamma, t);
    case GN_LR_COSINE: return s->eta_min + (s->lr - s->eta_min) * (1 + cos(t * PI / period)) / 2;
    case GN_LR_LINEAR: return s->lr * (1 + (s->gamma - 1) * fmin(t, period) / period);
    case GN_LR_ONE_CYCLE: return one_cycle(s, t);
    case GN_LR_PLATEAU: return after_drops(s, drops);
    default: return s->lr;
    }
}

double gn_train_rate(const gn_train_spec *s, int64_t step, int64_t drops)
{
    double t = (double)step, warm = (double)s->warmup;
    return scheduled(s, fmax(t - warm, 0), drops) * fmin((t + 1) / (warm + 1), 1);
}

void gn_plateau_judge(const gn_train_spec *s, gn_plateau *p, double result)
{
    const double least = 1e-8; /* a drop by less is none */
    if (!p->seen++) p->best = s->by_accuracy ? -INFINITY : INFINITY;
    bool better = s->by_accuracy ? result > p->best * (1 + s->threshold)
                                 : result < p->best * (1 - s->threshold);
    if (better) p->best = result;
    p->bad = better ? 0 : p->bad + 1;
    if (p->cooldown > 0) {
        p->cooldown--;
        p->bad = 0;
    }
    if (p->bad <= s->wait) return;
    p->cooldown = s->cooldown;
    p->bad = 0;
    if (after_drops(s, p->drops) - after_drops(s, p->drops + 1) > least) p->drops++;
}

/* values --------------------------------------------------------------------------------------- */

/* C leaves open in which order arguments of a call are computed: where two of them make values they
 * stand in statements of their own (see train.c). */

static gir_id number(gir_program *p, double x)
{
    gir_type scalar = gir_tensor(GN_F64, 0, 0, NULL);
    return gir_const(p, &scalar, x);
}

static gir_id by(gir_program *p, gir_op op, gir_id a, double x)
{
    return gir_op2(p, op, a, number(p, x));
}

/* from `from` at t = 0 to `to` at t = n */
static gir_id half_cosine(gir_program *p, double from, double to, gir_id t, double n)
{
    gir_id turn = gir_op1(p, GIR_COS, by(p, GIR_MUL, t, PI / n));
    gir_id part = by(p, GIR_MUL, by(p, GIR_ADD, turn, 1), (from - to) / 2);
    return by(p, GIR_ADD, part, to);
}

static gir_id one_cycle_value(gir_program *p, const gn_train_spec *s, gir_id t)
{
    cycle c = cycle_of(s);
    t = by(p, GIR_MIN, t, c.last);
    gir_id up = half_cosine(p, c.low, s->lr, t, c.up);
    gir_id down = half_cosine(p, s->lr, c.lowest, by(p, GIR_SUB, t, c.top), c.down);
    return gir_op3(p, GIR_SELECT, by(p, GIR_LT, t, c.top), up, down);
}

static gir_id after_drops_value(gir_program *p, const gn_train_spec *s)
{
    gir_type counter = gir_tensor(GN_I64, 0, 0, NULL);
    gir_id drops = gir_leaf(p, GIR_STATE, GN_STATE_DROPS, &counter), gamma = number(p, s->gamma);
    gir_id part = gir_op2(p, GIR_POW, gamma, gir_cast(p, drops, GN_F64));
    return by(p, GIR_MAX, by(p, GIR_MUL, part, s->lr), fmin(s->eta_min, s->lr));
}

static gir_id scheduled_value(gir_program *p, const gn_train_spec *s, gir_id t)
{
    gir_id lr = number(p, s->lr), period = number(p, (double)s->period);
    switch (s->schedule) {
    case GN_LR_STEP: {
        gir_id done = gir_op1(p, GIR_FLOOR, gir_op2(p, GIR_DIV, t, period));
        return gir_op2(p, GIR_MUL, lr, gir_op2(p, GIR_POW, number(p, s->gamma), done));
    }
    case GN_LR_EXPONENTIAL:
        return gir_op2(p, GIR_MUL, lr, gir_op2(p, GIR_POW, number(p, s->gamma), t));
    case GN_LR_COSINE: return half_cosine(p, s->lr, s->eta_min, t, (double)s->period);
    case GN_LR_LINEAR: {
        gir_id part = gir_op2(p, GIR_DIV, gir_op2(p, GIR_MIN, t, period), period);
        part = by(p, GIR_MUL, part, s->gamma - 1);
        return gir_op2(p, GIR_MUL, lr, by(p, GIR_ADD, part, 1));
    }
    case GN_LR_ONE_CYCLE: return one_cycle_value(p, s, t);
    case GN_LR_PLATEAU: return after_drops_value(p, s);
    default: return lr;
    }
}

/* A schedule keeps its shape: its rates become as many times what they are as the state says. */
static gir_id changed(gir_program *p, const gn_train_spec *s, gir_id rate)
{
    gir_type scalar = gir_tensor(GN_F64, 0, 0, NULL);
    if (!s->rate_changes) return rate;
    gir_id now = gir_leaf(p, GIR_STATE, GN_STATE_RATE, &scalar);
    if (s->schedule == GN_LR_CONSTANT) return now;
    return gir_op2(p, GIR_MUL, rate, gir_op2(p, GIR_DIV, now, number(p, s->lr)));
}

gir_id gn_train_rate_value(gir_program *p, const gn_train_spec *s, gir_id step)
{
    gir_id t = gir_cast(p, step, GN_F64), warm = 0;
    if (s->warmup > 0) {
        double n = (double)s->warmup;
        warm = by(p, GIR_MIN, by(p, GIR_MUL, by(p, GIR_ADD, t, 1), 1 / (n + 1)), 1);
        t = by(p, GIR_MAX, by(p, GIR_SUB, t, n), 0);
    }
    gir_id rate = changed(p, s, scheduled_value(p, s, t));
    return warm ? gir_op2(p, GIR_MUL, rate, warm) : rate;
}
