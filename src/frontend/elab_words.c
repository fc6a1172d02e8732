/* elab_words: what a train block says of the optimizer, with what it leaves out, in its own
 * words. */
#include "frontend/elab.h"

#include <inttypes.h>

static void add_optimizer(const gn_train_spec *t, gn_buf *b)
{
    gn_buf_printf(b, "%s(lr = %.9g", el_optimizer_names[t->optimizer], t->lr);
    switch (t->optimizer) {
    case GN_SGD:
        gn_buf_printf(b, ", momentum = %.9g, dampening = %.9g, nesterov = %s", t->momentum,
                      t->dampening, t->nesterov ? "true" : "false");
        break;
    case GN_ADAGRAD: gn_buf_printf(b, ", lr_decay = %.9g, eps = %.9g", t->lr_decay, t->eps); break;
    case GN_RMSPROP:
        gn_buf_printf(b, ", alpha = %.9g, eps = %.9g, momentum = %.9g, centered = %s", t->alpha,
                      t->eps, t->momentum, t->centered ? "true" : "false");
        break;
    case GN_LION: gn_buf_printf(b, ", beta1 = %.9g, beta2 = %.9g", t->beta1, t->beta2); break;
    default:
        gn_buf_printf(b, ", beta1 = %.9g, beta2 = %.9g, eps = %.9g", t->beta1, t->beta2, t->eps);
    }
    if (t->amsgrad) gn_buf_add(b, ", amsgrad = true");
    gn_buf_add(b, t->touched ? ", rows = \"touched\")" : ")");
}

static void add_schedule(const gn_train_spec *t, gn_buf *b)
{
    switch (t->schedule) {
    case GN_LR_CONSTANT: break;
    case GN_LR_STEP:
        gn_buf_printf(b, ", schedule = step(%" PRId64 ", gamma = %.9g)", t->period, t->gamma);
        break;
    case GN_LR_EXPONENTIAL:
        gn_buf_printf(b, ", schedule = exponential(gamma = %.9g)", t->gamma);
        break;
    case GN_LR_COSINE:
        gn_buf_printf(b, ", schedule = cosine(period = %" PRId64 ", eta_min = %.9g)", t->period,
                      t->eta_min);
        break;
    case GN_LR_LINEAR:
        gn_buf_printf(b, ", schedule = linear(period = %" PRId64 ", gamma = %.9g)", t->period,
                      t->gamma);
        break;
    case GN_LR_ONE_CYCLE:
        gn_buf_printf(b,
                      ", schedule = one_cycle(period = %" PRId64
                      ", pct_start = %.9g, div_factor = %.9g, final_div_factor = %.9g)",
                      t->period, t->rise, t->div_factor, t->final_div_factor);
        break;
    case GN_LR_PLATEAU:
        gn_buf_printf(b,
                      ", schedule = plateau(factor = %.9g, patience = %" PRId64
                      ", threshold = %.9g, cooldown = %" PRId64 ", min_lr = %.9g, monitor = %s)",
                      t->gamma, t->wait, t->threshold, t->cooldown, t->eta_min,
                      t->by_accuracy ? "val_accuracy" : "val_loss");
        break;
    default: break;
    }
    if (t->warmup > 0) gn_buf_printf(b, ", warmup = %" PRId64, t->warmup);
    if (t->clip_norm > 0) gn_buf_printf(b, ", clip_norm = %.9g", t->clip_norm);
    if (t->clip_value > 0) gn_buf_printf(b, ", clip_value = %.9g", t->clip_value);
}

/* Names of parameters, where not all have the same. */
static void add_decay(const gn_model *m, gn_buf *b)
{
    double last = 0;
    bool all = true, first = true;
    for (int k = 0; k < m->n_params; k++) {
        const gn_param *p = &m->params[k];
        if (!p->trainable) continue;
        all = all && (first || p->weight_decay == last);
        last = p->weight_decay;
        first = false;
    }
    if (all && last != 0) gn_buf_printf(b, ", weight_decay = %.9g", last);
    last = 0;
    for (int k = 0; k < m->n_params && !all; k++) {
        const gn_param *p = &m->params[k];
        if (!p->trainable || p->weight_decay == 0) continue;
        if (p->weight_decay != last) gn_buf_printf(b, ", weight_decay = %.9g on", p->weight_decay);
        last = p->weight_decay;
        gn_buf_printf(b, " %s", p->file_name);
    }
}

const char *el_optimizer_text(gn_arena *a, const gn_model *m)
{
    gn_buf b = {.arena = a};
    add_optimizer(&m->train, &b);
    add_decay(m, &b);
    add_schedule(&m->train, &b);
    return b.p;
}

void gn_model_set_rate(gn_arena *a, gn_model *m, double lr)
{
    gn_train_spec *t = &m->train;
    if (t->lr > 0) t->eta_min *= lr / t->lr;
    t->lr = lr;
    m->optimizer = el_optimizer_text(a, m);
}
