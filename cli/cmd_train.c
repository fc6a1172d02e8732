#include "cli/device_option.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/held_out.h"
#include "cli/scores.h"
#include "cli/session_options.h"
#include "cli/text.h"
#include "cli/train_log.h"
#include "cli/train_plot.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Epochs --------------------------------------------------------------------------------------- */

/* Who hears of each epoch. */
typedef struct listener {
    const gn_cli *cli;
    gn_progress line;
    gn_train_log log;
    gn_train_plot plot;
    int64_t run, runs; /* which seed, from 1 */
    uint64_t seed;
    int64_t first; /* the first epoch of this seed that was trained here; 0: none yet */
    const gn_session *session;
    int64_t epoch, from; /* whose batches are done, and how many of them were before */
    double begun_ms;
} listener;

/* A seed's training, and what its weights do to what was held out. */
typedef struct trained {
    gn_fit *fits;
    gn_held_out *held;
    int64_t n;
} trained;

static bool is_last(const gn_epoch *e)
{
    return e->epoch == e->epochs || (e->patience > 0 && e->misses >= e->patience);
}

/* "3 s of 10 s left": by the time that the epochs until now took. */
static void add_time(gn_buf *b, const listener *l, const gn_epoch *e)
{
    double done = (double)(e->epoch - l->first + 1), all = (double)(e->epochs - l->first + 1);
    double total = e->seconds * all / done, left = total - e->seconds;
    if (is_last(e))
        gn_buf_printf(b, "  took %s", gn_text_time(b->arena, e->seconds * 1e6));
    else
        gn_buf_printf(b, "  %s of %s%s left", gn_text_time(b->arena, left * 1e6),
                      e->patience ? "at most " : "", gn_text_time(b->arena, total * 1e6));
}

static void show(listener *l, const gn_epoch *e)
{
    if (!l->line.on) return;
    char train[GN_CLI_PERCENT], val[GN_CLI_PERCENT], test[GN_CLI_PERCENT];
    gn_arena a;
    gn_arena_init(&a);
    a.oom = l->cli->arena->oom;
    gn_buf b = {.arena = &a};
    if (l->runs > 1) gn_buf_printf(&b, "seed %lld/%lld  ", (long long)l->run, (long long)l->runs);
    gn_buf_printf(&b, "epoch %lld/%lld", (long long)e->epoch, (long long)e->epochs);
    add_time(&b, l, e);
    gn_buf_printf(&b, "  loss %.4f", e->loss);
    if (!isnan(e->train_acc) || !isnan(e->val_acc))
        gn_buf_printf(&b, "  train %s  val %s  test %s", gn_cli_percent(train, e->train_acc, 1),
                      gn_cli_percent(val, e->val_acc, 1), gn_cli_percent(test, e->test_acc, 1));
    if (!isnan(e->val_auc))
        gn_buf_printf(&b, "  val ROC AUC %s", gn_cli_percent(val, e->val_auc, 1));
    if (e->patience)
        gn_buf_printf(&b, "  no better for %lld of %lld", (long long)e->misses,
                      (long long)e->patience);
    gn_progress_show(&l->line, b.p);
    gn_arena_free(&a);
}

/* Who logs epochs has links scored after each. */
static void hear(void *ctx, const gn_epoch *epoch)
{
    listener *l = ctx;
    gn_epoch scored = *epoch, *e = &scored;
    if (!l->first) l->first = e->epoch;
    if (l->log.path && !l->session->opt.unscored && gn_session_judges(l->session)) {
        bool known = e->val_links.n > 0; /* where epochs are chosen by them */
        gn_status *const s[] = {known ? NULL : gn_session_judge(l->session, false, &e->val_links),
                                gn_session_judge(l->session, true, &e->test_links)};
        for (int k = 0; k < 2; k++) {
            if (s[k]) *(k ? &e->test_links : &e->val_links) = epoch->val_links; /* not known */
            gn_status_free(s[k]);
        }
    }
    gn_train_log_epoch(&l->log, l->seed, e);
    gn_train_plot_epoch(&l->plot, l->seed, e);
    if (gn_progress_due(&l->line) || is_last(e)) show(l, e);
}

/* The part of the time of steps in which they waited until their batch was prepared. */
static double data_wait(const gn_fit *f) { return f->steps_ms > 0 ? f->wait_ms / f->steps_ms : 0; }

static double batches_per_second(const gn_fit *f)
{
    return f->steps_ms > 0 ? (double)f->steps * 1e3 / f->steps_ms : 0;
}

/* An epoch of many batches says how far it is. */
static void hear_batch(void *ctx, const gn_fit *f, int64_t of)
{
    listener *l = ctx;
    double now = gn_now_ms();
    if (f->batches == 1 || f->epochs != l->epoch) { /* the first, of all or after a break */
        l->epoch = f->epochs;
        l->from = f->batches;
        l->begun_ms = now;
        return;
    }
    if (!gn_progress_due(&l->line)) return;
    double ms = now - l->begun_ms, done = (double)(f->batches - l->from);
    gn_arena a;
    gn_arena_init(&a);
    a.oom = l->cli->arena->oom;
    gn_buf b = {.arena = &a};
    if (l->runs > 1) gn_buf_printf(&b, "seed %lld/%lld  ", (long long)l->run, (long long)l->runs);
    gn_buf_printf(&b, "epoch %lld  batch %lld/%lld", (long long)f->epochs + 1,
                  (long long)f->batches, (long long)of);
    gn_buf_printf(&b, "  %s left of it  %.1f a second, %.0f%% waiting for data  loss %.4f",
                  gn_text_time(&a, ms * 1e3 / done * (double)(of - f->batches)), done * 1e3 / ms,
                  100 * data_wait(f), f->batch_loss / (double)f->batch_rows);
    gn_progress_show(&l->line, b.p);
    gn_arena_free(&a);
}

static void hear_kept(void *ctx, uint64_t seed, const gn_epoch *e)
{
    listener *l = ctx;
    gn_train_plot_epoch(&l->plot, seed, e);
}

static void begin_listening(gn_cli *cli, int64_t runs, listener *l)
{
    *l = (listener){.cli = cli, .runs = runs};
    gn_progress_begin(&l->line, stderr, !cli->opt.quiet);
    l->log = (gn_train_log){.arena = cli->arena,
                            .path = cli->opt.log,
                            .resumed = cli->opt.resume_from != NULL,
                            .kept = hear_kept,
                            .ctx = l};
    l->plot = (gn_train_plot){.arena = cli->arena, .path = cli->opt.plot};
}

/* Files that are written while it is trained, whatever has become of it; the first thing that
 * went wrong. */
static gn_status *end_listening(gn_cli *cli, const gn_session *s, listener *l, gn_status *status)
{
    const char *data = s->data->name ? s->data->name : "data";
    gn_status *more[] = {gn_train_log_end(&l->log), NULL};
    more[1] = gn_train_plot_write(&l->plot,
                                  gn_arena_printf(cli->arena, "%s on %s", s->model->name, data));
    for (int k = 0; k < 2; k++) {
        if (!status)
            status = more[k];
        else
            gn_status_free(more[k]);
    }
    return status;
}

/* Reports -------------------------------------------------------------------------------------- */

/* Of one figure of the runs, which is a double at this offset. */
static void spread(const gn_fit *fits, int64_t n, size_t offset, double *mean, double *std)
{
    double sum = 0, sq = 0;
    for (int64_t k = 0; k < n; k++)
        sum += *(const double *)(const void *)((const char *)&fits[k] + offset);
    *mean = sum / (double)n;
    for (int64_t k = 0; k < n; k++) {
        double d = *(const double *)(const void *)((const char *)&fits[k] + offset) - *mean;
        sq += d * d;
    }
    *std = n > 1 ? sqrt(sq / (double)(n - 1)) : 0;
}

static void json_spread(gn_json *j, const char *key, const gn_fit *fits, int64_t n, size_t offset)
{
    double mean, std;
    spread(fits, n, offset, &mean, &std);
    gn_json_object(j, key);
    gn_json_double(j, "mean", mean);
    gn_json_double(j, "std", std);
    gn_json_end(j);
}

/* All step times of all runs but each run's first, which touches memory for the first time. */
static double *all_steps(const gn_cli *cli, const gn_fit *fits, int64_t n, int64_t *count)
{
    int64_t total = 0;
    for (int64_t k = 0; k < n; k++) total += fits[k].n_steps;
    double *x = GN_NEW_N(cli->arena, double, total + 1);
    *count = 0;
    for (int64_t k = 0; k < n; k++)
        for (int64_t e = fits[k].n_steps > 1 ? 1 : 0; e < fits[k].n_steps; e++)
            x[(*count)++] = fits[k].step_us[e];
    return x;
}

static gn_status *report_json(const gn_cli *cli, const gn_session *s, const trained *t)
{
    const gn_fit *fits = t->fits;
    int64_t n = t->n;
    gn_json j;
    gn_json_init(&j, stdout, true);
    gn_json_object(&j, NULL);
    gn_cli_json_head(&j, s);
    gn_json_array(&j, "runs");
    for (int64_t k = 0; k < n; k++) {
        gn_json_object(&j, NULL);
        gn_json_int(&j, "seed", (int64_t)fits[k].seed);
        gn_json_int(&j, "epochs", fits[k].epochs);
        gn_json_int(&j, "resumed_epochs", fits[k].resumed);
        gn_json_bool(&j, "interrupted", fits[k].interrupted);
        gn_json_string(&j, "stopped", gn_stop_name[fits[k].stop]);
        gn_json_int(&j, "epochs_without_gain", fits[k].misses);
        gn_json_int(&j, "best_epoch", fits[k].best_epoch);
        gn_json_double(&j, "loss", fits[k].loss);
        gn_json_double(&j, "best_loss", fits[k].best_loss);
        gn_json_double(&j, "train_acc", fits[k].train_acc);
        gn_json_double(&j, "val_acc", fits[k].val_acc);
        gn_json_double(&j, "test_acc", fits[k].test_acc);
        if (gn_session_unbalanced(s)) {
            gn_json_double(&j, "train_roc_auc", fits[k].train_auc);
            gn_json_double(&j, "val_roc_auc", fits[k].val_auc);
            gn_json_double(&j, "test_roc_auc", fits[k].test_auc);
        }
        if (fits[k].steps) {
            gn_json_double(&j, "batches_per_second", batches_per_second(&fits[k]));
            gn_json_double(&j, "data_wait", data_wait(&fits[k]));
        }
        gn_held_out_json(&j, &t->held[k]);
        gn_json_end(&j);
    }
    gn_json_end(&j);
    json_spread(&j, "test_acc", fits, n, offsetof(gn_fit, test_acc));
    if (gn_session_unbalanced(s))
        json_spread(&j, "test_roc_auc", fits, n, offsetof(gn_fit, test_auc));
    GN_TRY(gn_cli_json_metrics(&j, s));
    if (n) gn_held_out_json(&j, &t->held[n - 1]);
    gn_held_out_json_spread(&j, t->held, n);
    gn_cli_json_not_finite(&j, s);
    int64_t steps;
    double *x = all_steps(cli, fits, n, &steps);
    gn_cli_json_times(&j, "step_us", x, steps);
    gn_json_double(&j, "compile_ms", s->frontend_ms + s->build.ms);
    gn_json_double(&j, "read_ms", s->read_ms);
    gn_json_double(&j, "prepare_ms", s->build.eval.prepare_ms + s->build.step.prepare_ms);
    gn_json_int(&j, "peak_bytes", gn_session_peak_bytes(s));
    gn_json_end(&j);
    return NULL;
}

/* Loss and accuracy are of one epoch: the one whose weights are kept. */
static void report_fit(const gn_session *s, const gn_fit *f)
{
    char train[GN_CLI_PERCENT], val[GN_CLI_PERCENT], test[GN_CLI_PERCENT];
    printf("seed %llu: %lld epoch%s", (unsigned long long)f->seed, (long long)f->epochs,
           f->epochs == 1 ? "" : "s");
    if (f->resumed) printf(" (%lld before it went on)", (long long)f->resumed);
    if (f->chosen) printf(", best %lld: loss %.4f", (long long)f->best_epoch, f->best_loss);
    if (!f->chosen && f->epochs) printf(", loss %.4f", f->loss);
    if (s->data->y && gn_session_classes(s) && !s->opt.unscored)
        printf(", accuracy train %s val %s test %s", gn_cli_percent(train, f->train_acc, 2),
               gn_cli_percent(val, f->val_acc, 2), gn_cli_percent(test, f->test_acc, 2));
    printf("\n");
    if (gn_session_unbalanced(s) && !s->opt.unscored)
        printf("  ROC AUC train %s val %s test %s (one class has less than a third of the nodes)\n",
               gn_cli_percent(train, f->train_auc, 2), gn_cli_percent(val, f->val_auc, 2),
               gn_cli_percent(test, f->test_auc, 2));
    if (f->stop == GN_STOP_PATIENCE)
        printf("  stopped by patience: %lld epochs in a row without a gain\n",
               (long long)f->misses);
    if (f->steps)
        printf("  %.1f batches a second, %.0f%% of the time waiting for data\n",
               batches_per_second(f), 100 * data_wait(f));
}

static void print_spread(const char *what, const gn_fit *fits, int64_t n, size_t offset)
{
    double mean, std;
    spread(fits, n, offset, &mean, &std);
    if (n > 1 && !isnan(mean))
        printf("%s %.2f%% +- %.2f over %lld seeds\n", what, 100 * mean, 100 * std, (long long)n);
}

static gn_status *report_text(const gn_cli *cli, const gn_session *s, const trained *t)
{
    const gn_fit *fits = t->fits;
    int64_t n = t->n;
    int64_t steps;
    double *x = all_steps(cli, fits, n, &steps);
    for (int64_t k = 0; k < n; k++) {
        report_fit(s, &fits[k]);
        gn_held_out_print(&t->held[k], "  ");
    }
    print_spread("test accuracy", fits, n, offsetof(gn_fit, test_acc));
    print_spread("test ROC AUC", fits, n, offsetof(gn_fit, test_auc));
    gn_held_out_print_spread(t->held, n);
    if (cli->opt.verbose && n) GN_TRY(gn_cli_print_metrics(cli, s));
    if (steps) printf("step %.1f us (median), ", gn_cli_median(x, steps));
    char peak[GN_CLI_BYTES];
    printf("compiled in %.1f ms%s, peak %s\n", s->frontend_ms + s->build.ms, gn_cli_cached(s),
           gn_cli_bytes(peak, gn_session_peak_bytes(s)));
    return NULL;
}

/* t->n: how many came to an end, be it an early one. */
static gn_status *fit_all(gn_cli *cli, gn_session *s, int64_t n, trained *t)
{
    gn_fit *fits = t->fits;
    listener l;
    gn_status *status = NULL;
    begin_listening(cli, n, &l);
    l.session = s;
    l.epoch = -1;
    s->opt.batch_done = l.line.on ? hear_batch : NULL;
    s->opt.batch_ctx = &l;
    bool listens = l.line.on || l.log.path || l.plot.path;
    for (int64_t k = t->n = 0; k < n && !status && !(k && fits[k - 1].interrupted); k++) {
        l.run = k + 1;
        l.seed = s->opt.seed + (uint64_t)k;
        l.first = 0;
        status = gn_session_fit(s, l.seed, listens ? hear : NULL, &l, &fits[k]);
        gn_progress_end(&l.line);
        if (status)
            status = gn_status_annotate(status, "seed %llu", (unsigned long long)l.seed);
        else
            t->n = k + 1;
        if (!status) status = gn_held_out_score(s, &t->held[k]);
    }
    s->opt.batch_done = NULL;
    return end_listening(cli, s, &l, status);
}

/* Where it goes on, once the checkpoint is written. */
static const char *way_on(const gn_cli *cli)
{
    const char *path = cli->opt.checkpoint;
    return path ? gn_arena_printf(cli->arena, "; --resume %s goes on there", path) : "";
}

/* After all that was asked for: files as they would be at the end. */
static gn_status *say_interrupted(const gn_cli *cli, const gn_session *s, const gn_fit *f)
{
    int64_t all = s->opt.epochs >= 0 ? s->opt.epochs : s->model->train.epochs;
    const char *save = cli->opt.save, *seed = "";
    if (cli->opt.seeds > 1)
        seed = gn_arena_printf(cli->arena, "seed %llu: ", (unsigned long long)f->seed);
    GN_FAIL(GN_ERR_INTERRUPTED, "%sinterrupted after epoch %lld of %lld%s%s%s", seed,
            (long long)f->epochs, (long long)all,
            save ? "; the weights that there are then are in " : "", save ? save : "", way_on(cli));
}

/* What was computed is reported whatever becomes of the files. */
static gn_status *train_session(gn_cli *cli, gn_session *s)
{
    int64_t n = cli->opt.seeds > 0 ? cli->opt.seeds : 1;
    trained t = {.fits = GN_NEW_N(cli->arena, gn_fit, n),
                 .held = GN_NEW_N(cli->arena, gn_held_out, n)};
    if (cli->opt.verbose) gn_instance_profile(s->build.step.instance, true);
    s->opt.over = gn_cli_interrupt_begin();
    gn_status *status = fit_all(cli, s, n, &t);
    gn_cli_interrupt_end();
    if (cli->opt.verbose) gn_cli_profile("step", &s->build.step);
    gn_status *said = NULL;
    if (t.n) said = cli->opt.json ? report_json(cli, s, &t) : report_text(cli, s, &t);
    if (!status)
        status = said;
    else
        gn_status_free(said);
    if (t.n) gn_cli_warn_not_finite(cli, s);
    if (!status && cli->opt.save) status = gn_session_save(s, cli->opt.save);
    if (!status && cli->opt.predictions) status = gn_cli_write_predictions(cli, s);
    for (int64_t k = 0; k < t.n; k++) {
        if (!status)
            status = gn_status_annotate(t.fits[k].unwritten, "--checkpoint");
        else
            gn_status_free(t.fits[k].unwritten);
    }
    if (!status && t.n && t.fits[t.n - 1].interrupted)
        status = say_interrupted(cli, s, &t.fits[t.n - 1]);
    return status;
}

/* A checkpoint is of one run, from which it has its seed, and that of a split that was drawn. */
static gn_status *set_checkpoints(gn_cli *cli, gn_session_options *o)
{
    const char *to = cli->opt.checkpoint, *from = cli->opt.resume_from,
               *option = to ? "--checkpoint" : "--resume";
    if (cli->opt.checkpoint_every > 0 && !to)
        GN_FAIL(GN_ERR_USAGE, "--checkpoint-every: --checkpoint FILE says where");
    if ((to || from) && cli->opt.seeds > 1)
        GN_FAIL(GN_ERR_USAGE, "%s: is of one run; --seeds makes several", option);
    if (from && cli->opt.weights)
        GN_FAIL(GN_ERR_USAGE,
                "--resume: goes on from the weights of %s; --weights starts from others", from);
    GN_TRY(gn_cli_check_output(cli, "--checkpoint", to));
    if (to && cli->opt.save && (!strcmp(to, cli->opt.save) || gn_cli_same_file(to, cli->opt.save)))
        GN_FAIL(GN_ERR_USAGE, "--checkpoint %s: --save would replace it with the weights alone",
                to);
    o->checkpoint = to;
    o->checkpoint_every = cli->opt.checkpoint_every > 0 ? cli->opt.checkpoint_every : 0;
    o->resume = from;
    if (!from) return NULL;
    uint64_t seed;
    GN_TRY(gn_checkpoint_seed(from, &seed));
    if (cli->opt.seed >= 0 && (uint64_t)cli->opt.seed != seed)
        GN_FAIL(GN_ERR_USAGE, "%s: is of seed %llu, which --seed cannot change", from,
                (unsigned long long)seed);
    o->seed = o->data.seed = seed;
    return NULL;
}

/* Files that it writes: each can be written, and no two are one; of --save and --checkpoint
 * set_checkpoints speaks. */
static gn_status *check_outputs(const gn_cli *cli)
{
    enum { OUTPUTS = 5 };
    const gn_cli_options *o = &cli->opt;
    const struct {
        const char *option, *path;
    } out[OUTPUTS] = {{"--save", o->save},
                      {"--predictions", o->predictions},
                      {"--log", o->log},
                      {"--plot", o->plot},
                      {"--checkpoint", o->checkpoint}};
    GN_TRY(gn_train_log_check(o->log));
    GN_TRY(gn_train_plot_check(o->plot));
    for (int k = 0; k < OUTPUTS; k++) {
        GN_TRY(gn_cli_check_output(cli, out[k].option, out[k].path));
        for (int i = k == OUTPUTS - 1; i < k && out[k].path; i++)
            if (out[i].path &&
                (!strcmp(out[i].path, out[k].path) || gn_cli_same_file(out[i].path, out[k].path)))
                GN_FAIL(GN_ERR_USAGE, "%s %s: %s writes the same file", out[k].option, out[k].path,
                        out[i].option);
    }
    return NULL;
}

/* "15,10", where "all" is all of a hop's. */
static gn_status *set_batches(const gn_cli *cli, gn_session_options *o)
{
    const char *text = cli->opt.fanout;
    if (cli->opt.batch > 0) o->batch = cli->opt.batch;
    o->ahead = cli->opt.ahead;
    const char *how = cli->opt.evaluate;
    o->all_results = cli->opt.predictions != NULL;
    o->evaluate = !how                    ? GN_EVALUATE_AS_SAID
                  : !strcmp(how, "batch") ? GN_EVALUATE_BATCH
                                          : GN_EVALUATE_FULL;
    o->has_fanout = text != NULL;
    if (text && !strcmp(text, "all")) return NULL;
    for (const char *at = text; at && *at;) {
        char *end;
        bool all = !strncmp(at, "all", 3);
        long long most = all ? -1 : strtoll(at, &end, 10);
        if (all) end = (char *)(uintptr_t)(at + 3);
        bool ok = end > at && (all || (*at >= '0' && *at <= '9' && most <= INT32_MAX)) &&
                  (*end == ',' ? end[1] != 0 : *end == 0) && o->n_fanout < GN_MOST_HOPS;
        if (!ok)
            GN_FAIL(GN_ERR_USAGE,
                    "--fanout: expected numbers of edges into a row, one a hop, %d at most, as "
                    "15,10 or 15,all, found '%s'",
                    (int)GN_MOST_HOPS, text);
        o->fanout[o->n_fanout++] = most;
        at = *end ? end + 1 : end;
    }
    return NULL;
}

static gn_status *train(gn_cli *cli)
{
    gn_session_options o;
    GN_TRY(gn_cli_session_options(cli, &o));
    GN_TRY(set_batches(cli, &o));
    GN_TRY(check_outputs(cli));
    GN_TRY(set_checkpoints(cli, &o));
    o.has_rate = cli->opt.rate >= 0;
    o.rate = cli->opt.rate;
    GN_TRY(gn_cli_open_device(cli));
    o.target = cli->target;
    o.train = true;
    o.unscored = cli->opt.scores && !strcmp(cli->opt.scores, "off");
    if (o.unscored && cli->opt.predictions)
        GN_FAIL(GN_ERR_USAGE, "--scores off: --predictions are what the model is evaluated for");
    o.keep_static = true;
    o.code_alone = !o.precision; /* of which it is said what became of products */
    gn_session *s;
    GN_TRY(gn_cli_session_open(cli, &o, &s));
    gn_cli_describe(cli, s);
    gn_status *status = train_session(cli, s);
    gn_session_free(s);
    return status;
}

const gn_command gn_command_train = {
    .name = "train",
    .usage = "train MODEL.gnn [options]",
    .summary = "train a model on a graph",
    .about = "Trains a model as its train block says and reports loss and accuracy.  The same seed "
             "gives the\n"
             "same bits, on any number of threads.  Ctrl-C ends it after the epoch that it is in, "
             "and what was asked\n"
             "for is written; a second one ends it at once.  In the search of -O max-autotune it "
             "ends that, and what was\n"
             "found is kept.  With --checkpoint training that was interrupted, or whose machine "
             "went down, goes on with\n"
             "--resume, and ends with the weights that it would have ended with.\n",
    .examples = "  gnnc train gcn.gnn                                 on the built-in graph\n"
                "  gnnc train gcn.gnn --data cora --save w.safetensors\n"
                "  gnnc train gcn.gnn --checkpoint c.safetensors     and after a break, with all "
                "that was given:\n"
                "  gnnc train gcn.gnn --checkpoint c.safetensors --resume c.safetensors\n"
                "  gnnc train gat.gnn --data cora --seeds 10 --json   mean and deviation of ten "
                "runs\n"
                "  gnnc train gcn.gnn --lr 0.005 --log gcn.csv --plot gcn.svg   every epoch, and a "
                "picture\n"
                "  gnnc train gcn.gnn -D hidden=64 --epochs 100 -O max-autotune\n",
    .takes_model = true,
    .min_args = 1,
    .max_args = 1,
    .run = train,
};
