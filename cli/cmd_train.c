#include "cli/device_option.h"
#include "cli/interrupt.h"
#include "cli/session_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct progress {
    bool terminal;
    double last;
} progress;

/* A line that rewrites itself, ten times a second at most. */
static void show(void *ctx, const gn_epoch *e)
{
    progress *p = ctx;
    double now = gn_now_ms();
    if (e->epoch != e->epochs && now - p->last < 100) return;
    p->last = now;
    char train[GN_CLI_PERCENT], val[GN_CLI_PERCENT], test[GN_CLI_PERCENT];
    fprintf(stderr, "\repoch %lld/%lld  loss %.4f  train %s  val %s  test %s ", (long long)e->epoch,
            (long long)e->epochs, e->loss, gn_cli_percent(train, e->train_acc, 1), gn_cli_percent(val, e->val_acc, 1),
            gn_cli_percent(test, e->test_acc, 1));
}

static void spread(const gn_fit *fits, int64_t n, double *mean, double *std)
{
    double sum = 0, sq = 0;
    for (int64_t k = 0; k < n; k++) sum += fits[k].test_acc;
    *mean = sum / (double)n;
    for (int64_t k = 0; k < n; k++) sq += (fits[k].test_acc - *mean) * (fits[k].test_acc - *mean);
    *std = n > 1 ? sqrt(sq / (double)(n - 1)) : 0;
}

/* All step times of all runs but each run's first, which touches memory for the first time. */
static double *all_steps(const gn_cli *cli, const gn_fit *fits, int64_t n, int64_t *count)
{
    int64_t total = 0;
    for (int64_t k = 0; k < n; k++) total += fits[k].n_steps;
    double *x = GN_NEW_N(cli->arena, double, total + 1);
    *count = 0;
    for (int64_t k = 0; k < n; k++)
        for (int64_t e = fits[k].n_steps > 1 ? 1 : 0; e < fits[k].n_steps; e++) x[(*count)++] = fits[k].step_us[e];
    return x;
}

static void report_json(const gn_cli *cli, const gn_session *s, const gn_fit *fits, int64_t n)
{
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
        gn_json_int(&j, "best_epoch", fits[k].best_epoch);
        gn_json_double(&j, "loss", fits[k].loss);
        gn_json_double(&j, "best_loss", fits[k].best_loss);
        gn_json_double(&j, "train_acc", fits[k].train_acc);
        gn_json_double(&j, "val_acc", fits[k].val_acc);
        gn_json_double(&j, "test_acc", fits[k].test_acc);
        gn_json_end(&j);
    }
    gn_json_end(&j);
    double mean, std;
    spread(fits, n, &mean, &std);
    gn_json_object(&j, "test_acc");
    gn_json_double(&j, "mean", mean);
    gn_json_double(&j, "std", std);
    gn_json_end(&j);
    int64_t steps;
    double *x = all_steps(cli, fits, n, &steps);
    gn_cli_json_times(&j, "step_us", x, steps);
    gn_json_double(&j, "compile_ms", s->frontend_ms + s->build.ms);
    gn_json_double(&j, "read_ms", s->read_ms);
    gn_json_double(&j, "prepare_ms", s->build.eval.prepare_ms + s->build.step.prepare_ms);
    gn_json_int(&j, "peak_bytes", gn_session_peak_bytes(s));
    gn_json_end(&j);
}

/* Loss and accuracy are of one epoch: the one whose weights are kept. */
static void report_fit(const gn_session *s, const gn_fit *f)
{
    char train[GN_CLI_PERCENT], val[GN_CLI_PERCENT], test[GN_CLI_PERCENT];
    printf("seed %llu: %lld epoch%s", (unsigned long long)f->seed, (long long)f->epochs, f->epochs == 1 ? "" : "s");
    if (f->resumed) printf(" (%lld before it went on)", (long long)f->resumed);
    if (f->chosen) printf(", best %lld: loss %.4f", (long long)f->best_epoch, f->best_loss);
    if (!f->chosen && f->epochs) printf(", loss %.4f", f->loss);
    if (s->data->y && gn_session_classes(s))
        printf(", accuracy train %s val %s test %s", gn_cli_percent(train, f->train_acc, 2),
               gn_cli_percent(val, f->val_acc, 2), gn_cli_percent(test, f->test_acc, 2));
    printf("\n");
}

static void report_text(const gn_cli *cli, const gn_session *s, const gn_fit *fits, int64_t n)
{
    double mean, std;
    int64_t steps;
    double *x = all_steps(cli, fits, n, &steps);
    spread(fits, n, &mean, &std);
    for (int64_t k = 0; k < n; k++) report_fit(s, &fits[k]);
    if (n > 1 && !isnan(mean))
        printf("test accuracy %.2f%% +- %.2f over %lld seeds\n", 100 * mean, 100 * std, (long long)n);
    if (steps) printf("step %.1f us (median), ", gn_cli_median(x, steps));
    char peak[GN_CLI_BYTES];
    printf("compiled in %.1f ms%s, peak %s\n", s->frontend_ms + s->build.ms, gn_cli_cached(s),
           gn_cli_bytes(peak, gn_session_peak_bytes(s)));
}

/* *done: how many came to an end, be it an early one. */
static gn_status *fit_all(gn_cli *cli, gn_session *s, gn_fit *fits, int64_t n, int64_t *done)
{
    progress p = {.terminal = !cli->opt.quiet && isatty(STDERR_FILENO)};
    for (int64_t k = *done = 0; k < n && !(k && fits[k - 1].interrupted); k++) {
        gn_status *status = gn_session_fit(s, s->opt.seed + (uint64_t)k, p.terminal ? show : NULL, &p, &fits[k]);
        if (p.terminal) fputs("\n", stderr);
        if (status) return gn_status_annotate(status, "seed %llu", (unsigned long long)(s->opt.seed + (uint64_t)k));
        *done = k + 1;
    }
    return NULL;
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
    if (cli->opt.seeds > 1) seed = gn_arena_printf(cli->arena, "seed %llu: ", (unsigned long long)f->seed);
    GN_FAIL(GN_ERR_INTERRUPTED, "%sinterrupted after epoch %lld of %lld%s%s%s", seed, (long long)f->epochs,
            (long long)all, save ? "; the weights that there are then are in " : "", save ? save : "", way_on(cli));
}

/* What was computed is reported whatever becomes of the files. */
static gn_status *train_session(gn_cli *cli, gn_session *s)
{
    int64_t n = cli->opt.seeds > 0 ? cli->opt.seeds : 1, done;
    gn_fit *fits = GN_NEW_N(cli->arena, gn_fit, n);
    if (cli->opt.verbose) gn_instance_profile(s->build.step.instance, true);
    s->opt.over = gn_cli_interrupt_begin();
    gn_status *status = fit_all(cli, s, fits, n, &done);
    gn_cli_interrupt_end();
    if (cli->opt.verbose) gn_cli_profile("step", &s->build.step);
    if (done) cli->opt.json ? report_json(cli, s, fits, done) : report_text(cli, s, fits, done);
    if (!status && cli->opt.save) status = gn_session_save(s, cli->opt.save);
    if (!status && cli->opt.predictions) status = gn_cli_write_predictions(cli, s);
    for (int64_t k = 0; k < done; k++) {
        if (!status)
            status = gn_status_annotate(fits[k].unwritten, "--checkpoint");
        else
            gn_status_free(fits[k].unwritten);
    }
    if (!status && done && fits[done - 1].interrupted) status = say_interrupted(cli, s, &fits[done - 1]);
    return status;
}

/* A checkpoint is of one run, from which it has its seed, and that of a split that was drawn. */
static gn_status *set_checkpoints(gn_cli *cli, gn_session_options *o)
{
    const char *to = cli->opt.checkpoint, *from = cli->opt.resume_from, *option = to ? "--checkpoint" : "--resume";
    if (cli->opt.checkpoint_every > 0 && !to) GN_FAIL(GN_ERR_USAGE, "--checkpoint-every: --checkpoint FILE says where");
    if ((to || from) && cli->opt.seeds > 1) GN_FAIL(GN_ERR_USAGE, "%s: is of one run; --seeds makes several", option);
    if (from && cli->opt.weights)
        GN_FAIL(GN_ERR_USAGE, "--resume: goes on from the weights of %s; --weights starts from others", from);
    GN_TRY(gn_cli_check_output(cli, "--checkpoint", to));
    if (to && cli->opt.save && (!strcmp(to, cli->opt.save) || gn_cli_same_file(to, cli->opt.save)))
        GN_FAIL(GN_ERR_USAGE, "--checkpoint %s: --save would replace it with the weights alone", to);
    o->checkpoint = to;
    o->checkpoint_every = cli->opt.checkpoint_every > 0 ? cli->opt.checkpoint_every : 0;
    o->resume = from;
    if (!from) return NULL;
    uint64_t seed;
    GN_TRY(gn_checkpoint_seed(from, &seed));
    if (cli->opt.seed >= 0 && (uint64_t)cli->opt.seed != seed)
        GN_FAIL(GN_ERR_USAGE, "%s: is of seed %llu, which --seed cannot change", from, (unsigned long long)seed);
    o->seed = o->data.seed = seed;
    return NULL;
}

static gn_status *train(gn_cli *cli)
{
    gn_session_options o;
    GN_TRY(gn_cli_session_options(cli, &o));
    GN_TRY(gn_cli_check_output(cli, "--save", cli->opt.save));
    GN_TRY(gn_cli_check_output(cli, "--predictions", cli->opt.predictions));
    GN_TRY(set_checkpoints(cli, &o));
    GN_TRY(gn_cli_open_device(cli));
    o.target = cli->target;
    o.train = true;
    o.keep_static = true;
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
    .about =
        "Trains a model as its train block says and reports loss and accuracy.  The same seed gives the\n"
        "same bits, on any number of threads.  Ctrl-C ends it after the epoch that it is in, and what was asked\n"
        "for is written; a second one ends it at once.  In the search of -O max-autotune it ends that, and what was\n"
        "found is kept.  With --checkpoint training that was interrupted, or whose machine went down, goes on with\n"
        "--resume, and ends with the weights that it would have ended with.\n",
    .examples =
        "  gnnc train samples/gcn.gnn                                 on the built-in graph\n"
        "  gnnc train samples/gcn.gnn --data cora --save w.safetensors\n"
        "  gnnc train samples/gcn.gnn --checkpoint c.safetensors     and after a break, with all that was given:\n"
        "  gnnc train samples/gcn.gnn --checkpoint c.safetensors --resume c.safetensors\n"
        "  gnnc train samples/gat.gnn --data cora --seeds 10 --json   mean and deviation of ten runs\n"
        "  gnnc train samples/gcn.gnn -D hidden=64 --epochs 100 -O max-autotune\n",
    .min_args = 1,
    .max_args = 1,
    .run = train,
};
