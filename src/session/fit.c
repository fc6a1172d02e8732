/* fit: the training loop over a bound session. */
#include "session/session_impl.h"

#include "passes/learning_rate.h"
#include "session/eval_rows.h"
#include "session/minibatches.h"

#include <math.h>
#include <string.h>

const char *const gn_stop_name[] = {"epochs", "patience", "interrupted"};

gn_status *gn_session_eval(gn_session *s)
{
    if (s->opt.unscored) return NULL;
    if (s->batches && s->batches->eval && s->batches->eval->how.of) return NULL; /* when asked */
    if (s->batches && s->batches->eval) return gn_eval_rows_run(s, s->batches->eval);
    gn_instance_run(s->build.eval.instance);
    return gn_instance_wait(s->build.eval.instance);
}

gn_status *gn_session_fetch(gn_session *s)
{
    const gir_output *o;
    if (s->batches && s->batches->eval) return NULL; /* which were, batch by batch */
    for (int k = 0; (o = gir_result(s->model->eval, k)); k++)
        GN_TRY(gn_instance_fetch(s->build.eval.instance, o->name));
    return NULL;
}

const float *gn_session_logits(const gn_session *s, int64_t *classes)
{
    const char *name = gn_session_classes_name(s);
    *classes = gn_session_classes(s);
    if (s->batches && s->batches->eval) return s->batches->eval->out;
    if (!s->build.eval.instance) return NULL;
    return name ? gn_instance_output(s->build.eval.instance, name, NULL) : NULL;
}

/* The loss that the last run of the unit computed: waits for it. */
static gn_status *fetch_loss(const gn_unit *u, double *out)
{
    GN_TRY(gn_instance_fetch(u->instance, "loss"));
    const float *loss = gn_instance_output(u->instance, "loss", NULL);
    *out = loss ? (double)*loss : NAN;
    return NULL;
}

static void run_step(gn_session *s) { gn_instance_run(s->build.step.instance); }

gn_status *gn_session_step(gn_session *s, double *loss)
{
    if (s->batches) return gn_batches_step(s, loss);
    run_step(s);
    return fetch_loss(&s->build.step, loss);
}

/* Areas need every row in order, so only who shows or ends with them has them computed. */
static gn_status *measure(gn_session *s, bool areas, gn_epoch *e)
{
    e->train_acc = e->val_acc = e->test_acc = NAN;
    e->train_auc = e->val_auc = e->test_auc = NAN;
    if (s->opt.unscored) return NULL;
    GN_TRY(gn_session_eval(s));
    GN_TRY(gn_session_fetch(s));
    e->train_acc = gn_session_accuracy(s, s->data->train_mask);
    e->val_acc = gn_session_accuracy(s, s->data->val_mask);
    e->test_acc = gn_session_accuracy(s, s->data->test_mask);
    if (!areas) return NULL;
    e->train_auc = gn_session_roc_auc(s, s->data->train_mask);
    e->val_auc = gn_session_roc_auc(s, s->data->val_mask);
    e->test_auc = gn_session_roc_auc(s, s->data->test_mask);
    return NULL;
}

/* Is this epoch to be chosen, and is it an improvement that resets patience?  By one figure: both
 * when it is strictly better.  By accuracy and loss (Velickovic et al.'s code): chosen when no
 * worse in either, an improvement when as good as the best in one of them. */
static void judge(const gn_train_spec *t, const gn_best *b, double accuracy, double loss,
                  bool *chosen, bool *improved)
{
    bool first = b->accuracy == -INFINITY && b->loss == INFINITY;
    *chosen = *improved = false;
    if (t->monitor_loss && isnan(loss)) return; /* it is no better than anything */
    if (t->monitor_loss && t->monitor_accuracy) {
        *improved = accuracy >= b->accuracy || loss <= b->loss;
        *chosen = accuracy >= b->accuracy && loss <= b->loss;
    } else {
        *chosen = *improved = first || (t->monitor_loss ? loss < b->loss : accuracy > b->accuracy);
    }
}

/* What is better the larger it is, where epochs are chosen. */
static double figure_of(const gn_train_spec *t, const gn_epoch *e)
{
    switch (t->monitor_links) {
    case GN_LINK_FIGURE_AUC: return e->val_links.roc_auc;
    case GN_LINK_FIGURE_AP: return e->val_links.average_precision;
    case GN_LINK_FIGURE_MRR: return e->val_links.mrr;
    default: return e->val_acc;
    }
}

/* The links by which epochs are chosen. */
static gn_status *measure_links(gn_session *s, gn_epoch *e)
{
    const gn_train_spec *t = &s->model->train;
    if (!t->monitor_links) return NULL;
    GN_TRY(gn_session_judge(s, false, &e->val_links));
    if (!isnan(figure_of(t, e))) return NULL;
    GN_FAIL(GN_ERR_DATA,
            "the train block of %s chooses epochs by `%s`, and links for validation "
            "have none: they need true and false ones%s",
            s->model->name, gn_link_figure_name[t->monitor_links],
            t->monitor_links == GN_LINK_FIGURE_MRR ? ", with `indexes`" : "");
}

/* Notes the epoch, which has been measured, when it is the best so far. *stop: patience is over. */
static gn_status *select_best(gn_session *s, gn_epoch *e, gn_best *b, bool *stop)
{
    const gn_train_spec *t = &s->model->train;
    double loss = t->monitor_loss ? e->val_loss : INFINITY, figure = figure_of(t, e);
    bool chosen, improved;
    judge(t, b, figure, loss, &chosen, &improved);
    if (figure > b->accuracy) b->accuracy = figure;
    if (loss < b->loss) b->loss = loss;
    b->misses = improved ? 0 : b->misses + 1;
    e->misses = b->misses;
    e->patience = t->patience;
    *stop = t->patience > 0 && b->misses >= t->patience;
    if (!chosen) return NULL;
    b->any = e->best = true;
    b->train = e->train_acc;
    b->val = e->val_acc;
    b->test = e->test_acc;
    b->train_loss = e->loss;
    b->epoch = e->epoch;
    if (!t->select_best) return NULL;
    GN_TRY(gn_session_pull(s));
    if (b->weights.n) return gn_state_restore(&b->weights, &s->state);
    return gn_state_snapshot(&s->state, &b->weights);
}

/* The first epoch's loss is computed before a weight has changed: no learning rate helps. */
static gn_status *not_finite(const gn_session *s, double loss, int64_t epoch)
{
    bool half = s->opt.numbers == GN_NUMBERS_MIXED_F16;
    const char *or = half ? ", or --precision mixed: float16 ends at 65,504" : "";
    const char *what = isnan(loss) ? "nan" : loss < 0 ? "-inf" : "inf";
    if (epoch == 1)
        GN_FAIL(GN_ERR_MODEL,
                "the loss is %s before the first step: look for numbers in the data, or in weights "
                "that were read, "
                "that are not finite, and for what the model makes of them (`log` or `sqrt` of "
                "what is below 0, a "
                "division by 0)%s",
                what, or);
    GN_FAIL(GN_ERR_MODEL,
            "the loss is %s after epoch %lld: try a smaller learning rate or gradient clipping%s",
            what, (long long)epoch, or);
}

/* Checkpoints ---------------------------------------------------------------------------------- */

static const double checkpoint_ms = 60e3; /* between two, where nobody says how many epochs */

/* The last good one stays where weights are not finite, of which training speaks itself, and where
 * the file cannot be written: training goes on, and the next one may be. */
static gn_status *write_checkpoint(gn_session *s, gn_fit *out, gn_best *b)
{
    GN_TRY(gn_session_pull(s));
    gn_status *bad = gn_weights_check(s->model, &s->state);
    if (bad) {
        gn_status_free(bad);
        return NULL;
    }
    gn_status_free(out->unwritten);
    out->unwritten = gn_checkpoint_write(s, s->opt.checkpoint, out, b);
    return NULL;
}

static bool is_due(const gn_session *s, int64_t epoch, double last_ms)
{
    if (!s->opt.checkpoint) return false;
    if (s->opt.checkpoint_every) return epoch % s->opt.checkpoint_every == 0;
    return gn_now_ms() - last_ms >= checkpoint_ms;
}

/* The loop ------------------------------------------------------------------------------------- */

enum {
    MAX_STEPS = 1 << 20, /* times of steps that are kept: --epochs may be any number */
    AT_ONCE = 16         /* steps on a device before somebody waits for their loss */
};

/* Steps that nobody has waited for yet. */
typedef struct pending {
    int64_t n;
    double t0;
} pending;

/* The next step, and its loss where it is wanted now: `asked`, or first, last, or behind enough
 * that were not.  On a device steps follow on each other without anybody waiting else.  *read: it
 * was; a step has taken its part of the time since the last wait. */
static gn_status *step(gn_session *s, bool asked, pending *p, gn_fit *out, double *step_us,
                       double *loss, bool *read)
{
    if (p->n++ == 0) p->t0 = gn_now_ms();
    run_step(s);
    out->interrupted = s->opt.over && *s->opt.over;
    *read = asked || !s->opt.target || out->interrupted || out->epochs == out->resumed ||
            p->n == AT_ONCE;
    out->epochs++;
    if (!*read) return NULL;
    GN_TRY(fetch_loss(&s->build.step, loss));
    double us = (gn_now_ms() - p->t0) * 1e3 / (double)p->n;
    for (; p->n > 0; p->n--)
        if (out->n_steps < MAX_STEPS) step_us[out->n_steps++] = us;
    return NULL;
}

/* The batches of an epoch, or as many as there is time for before the next checkpoint. *read: the
 * epoch is done. */
static gn_status *step_batches(gn_session *s, double last_ms, int64_t room, gn_fit *out,
                               double *step_us, bool *read)
{
    bool timed = s->opt.checkpoint && !s->opt.checkpoint_every;
    double t0 = gn_now_ms(), until = timed ? last_ms + checkpoint_ms : (double)INFINITY;
    int64_t before = out->batches;
    GN_TRY(gn_batches_run(s, out, until, &out->loss, read));
    out->interrupted = s->opt.over && *s->opt.over;
    int64_t steps = (*read ? gn_batches_count(s->batches) : out->batches) - before;
    if (out->n_steps < room) step_us[out->n_steps++] = (gn_now_ms() - t0) * 1e3 / (double)steps;
    out->epochs += *read;
    return NULL;
}

/* Is an epoch chosen by validation figures, be it to end with? */
static bool chooses(const gn_train_spec *t) { return t->select_best || t->patience > 0; }

/* What is done after an epoch whose loss is known. */
static gn_status *end_epoch(gn_session *s, void (*each)(void *, const gn_epoch *), void *ctx,
                            double begun_ms, gn_epoch *e, gn_best *b, bool *stop)
{
    const gn_train_spec *t = &s->model->train;
    bool choose = chooses(t), plateau = t->schedule == GN_LR_PLATEAU, asked = choose || plateau;
    if (!isfinite(e->loss)) return not_finite(s, e->loss, e->epoch);
    if (asked || each) GN_TRY(measure(s, each != NULL, e));
    if (asked && gn_watches_loss(t)) GN_TRY(fetch_loss(&s->build.eval, &e->val_loss));
    if (choose) GN_TRY(measure_links(s, e));
    if (choose) GN_TRY(select_best(s, e, b, stop));
    gn_remote *remote = s->opt.target ? s->opt.target->remote : NULL;
    double result = t->by_accuracy ? e->val_acc : e->val_loss;
    if (plateau) GN_TRY(gn_plateau_result(s->model, &s->state, remote, result));
    e->seconds = (gn_now_ms() - begun_ms) * 1e-3;
    if (each) each(ctx, e);
    return NULL;
}

static gn_status *epochs(gn_session *s, void (*each)(void *, const gn_epoch *), void *ctx,
                         gn_fit *out, gn_best *b)
{
    const gn_train_spec *t = &s->model->train;
    int64_t n = s->opt.epochs >= 0 ? s->opt.epochs : t->epochs;
    /* it went on from a checkpoint that is done */
    bool stop = t->patience > 0 && b->misses >= t->patience;
    bool asked = chooses(t) || t->schedule == GN_LR_PLATEAU || each, written = false;
    int64_t room = n < MAX_STEPS ? n + 1 : MAX_STEPS;
    double *step_us = GN_NEW_N(s->arena, double, room), last_ms = gn_now_ms();
    double begun_ms = last_ms;
    out->step_us = step_us;
    out->stop = stop ? GN_STOP_PATIENCE : GN_STOP_EPOCHS;
    pending p = {0};
    int64_t steps = s->batches ? gn_batches_updates(s->batches) : 1;
    while (out->epochs < n && !stop) {
        bool read, due = s->opt.checkpoint_every && is_due(s, out->epochs + 1, last_ms);
        bool wanted = asked || due || out->epochs + 1 == n;
        GN_TRY(s->batches ? step_batches(s, last_ms, room, out, step_us, &read)
                          : step(s, wanted, &p, out, step_us, &out->loss, &read));
        written = false;
        if (!read && s->batches && out->interrupted) {
            out->stop = GN_STOP_INTERRUPTED;
            break;
        }
        if (!read && s->batches && is_due(s, out->epochs, last_ms)) {
            GN_TRY(write_checkpoint(s, out, b));
            written = true;
            last_ms = gn_now_ms();
        }
        if (!read) continue;
        gn_epoch e = {
            .epoch = out->epochs,
            .epochs = n,
            .loss = out->loss,
            .train_acc = NAN,
            .val_acc = NAN,
            .test_acc = NAN,
            .train_auc = NAN,
            .val_auc = NAN,
            .test_auc = NAN,
            .val_links = gn_metrics_none(),
            .test_links = gn_metrics_none(),
            .val_loss = NAN,
            .rate = gn_train_rate(t, out->epochs * steps - 1, gn_plateau_drops(&s->state))};
        GN_TRY(end_epoch(s, each, ctx, begun_ms, &e, b, &stop));
        out->stop = stop               ? GN_STOP_PATIENCE
                    : out->interrupted ? GN_STOP_INTERRUPTED
                                       : GN_STOP_EPOCHS;
        stop |= out->interrupted;
        if (stop || !is_due(s, out->epochs, last_ms)) continue;
        GN_TRY(write_checkpoint(s, out, b));
        written = true;
        last_ms = gn_now_ms();
    }
    return s->opt.checkpoint && !written ? write_checkpoint(s, out, b) : NULL;
}

/* What `select`, `patience` and `plateau` go by has to be there, else every epoch would be as good
 * as any. */
static gn_status *check_monitor(const gn_session *s)
{
    const gn_train_spec *t = &s->model->train;
    const char *model = s->model->name, *data = s->data->name ? s->data->name : "the data";
    bool choose = chooses(t) && (!t->monitor_loss || t->monitor_accuracy);
    if (s->opt.unscored && (chooses(t) || t->schedule == GN_LR_PLATEAU))
        GN_FAIL(
            GN_ERR_USAGE,
            "--scores off: the train block of %s goes by results on validation nodes (`select`, "
            "`patience` or `plateau`)",
            model);
    const char *does = choose ? "chooses epochs" : "lowers the learning rate";
    if (choose && t->monitor_links && !gn_session_judges(s))
        GN_FAIL(GN_ERR_DATA,
                "the train block of %s chooses epochs by `%s`, and %s has no links that are held "
                "out, and scored%s",
                model, gn_link_figure_name[t->monitor_links], data,
                s->opt.target ? " on this processor" : "");
    if (choose && t->monitor_links) choose = false;
    if (!choose && !(t->schedule == GN_LR_PLATEAU && t->by_accuracy)) return NULL;
    if (s->data->n_classes == 1)
        GN_FAIL(GN_ERR_DATA,
                "the train block of %s %s by the accuracy on validation nodes, and %s has one "
                "class alone; --classes N says how many there are",
                model, does, data);
    if (!gn_session_classes(s))
        GN_FAIL(GN_ERR_MODEL,
                "the train block of %s %s by the accuracy on validation nodes, and it gives no "
                "node[C]: write `monitor = val_loss`",
                model, does);
    if (!s->data->y || !s->data->val_mask)
        GN_FAIL(GN_ERR_DATA,
                "the train block of %s %s by the accuracy on validation nodes, and %s has no "
                "labels",
                model, does, data);
    return NULL;
}

/* Weights as training begins with them, and how far it is. */
static gn_status *begin(gn_session *s, uint64_t seed, gn_fit *out, gn_best *b)
{
    GN_TRY(gn_session_reset(s, seed));
    if (!s->opt.resume) return gn_session_load(s);
    GN_TRY(gn_checkpoint_take(s, out, b));
    int64_t n = s->opt.epochs >= 0 ? s->opt.epochs : s->model->train.epochs;
    if (out->epochs > n)
        GN_FAIL(GN_ERR_USAGE, "%s: is of epoch %lld, and training ends after %lld", s->opt.resume,
                (long long)out->epochs, (long long)n);
    out->resumed = out->epochs;
    return gn_session_push(s);
}

static gn_status *end(gn_session *s, gn_fit *out, const gn_best *b)
{
    const gn_train_spec *t = &s->model->train;
    bool chosen = b->any && t->select_best;
    if (t->select_best && !b->any && out->epochs > 0 && !out->interrupted)
        GN_FAIL(GN_ERR_MODEL,
                "no epoch can be chosen: the loss on validation nodes was nan after each of %lld; "
                "look for numbers of "
                "these nodes that are not finite, and for what the model makes of them",
                (long long)out->epochs);
    if (chosen) {
        GN_TRY(gn_state_restore(&s->state, &b->weights));
        GN_TRY(gn_session_push(s));
    }
    GN_TRY(gn_session_pull(s));
    GN_TRY(gn_weights_check(s->model, &s->state));
    gn_epoch last = {.epoch = out->epochs};
    GN_TRY(measure(s, true, &last));
    out->chosen = chosen;
    out->best_loss = b->any ? b->train_loss : out->loss;
    out->train_acc = chosen ? b->train : last.train_acc;
    out->val_acc = chosen ? b->val : last.val_acc;
    out->test_acc = chosen ? b->test : last.test_acc;
    out->train_auc = last.train_auc;
    out->val_auc = last.val_auc;
    out->test_auc = last.test_auc;
    out->misses = b->misses;
    out->best_epoch = b->any ? b->epoch : out->epochs;
    return NULL;
}

gn_status *gn_session_fit(gn_session *s, uint64_t seed, void (*each)(void *ctx, const gn_epoch *e),
                          void *ctx, gn_fit *out)
{
    gn_best b = {.accuracy = -INFINITY,
                 .loss = INFINITY,
                 .train = NAN,
                 .val = NAN,
                 .test = NAN,
                 .train_loss = NAN};
    gn_state_init(&b.weights);
    *out = (gn_fit){.seed = seed, .loss = NAN};
    GN_TRY(check_monitor(s));
    gn_status *status = begin(s, seed, out, &b);
    if (!status) status = epochs(s, each, ctx, out, &b);
    if (!status) status = end(s, out, &b);
    gn_state_free(&b.weights);
    if (!status) return NULL;
    gn_status_free(out->unwritten);
    out->unwritten = NULL;
    return status;
}
