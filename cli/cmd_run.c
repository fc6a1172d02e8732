#include "cli/device_option.h"
#include "cli/held_out.h"
#include "cli/feature_importance.h"
#include "cli/scores.h"
#include "cli/session_options.h"

/* Times of inference, microseconds. The first run touches memory and code for the first time,
 * and stands apart. */
typedef struct timing {
    double first, *us;
    int64_t n; /* others; 0: none, since the first took long */
} timing;

/* importance NULL: nobody asked. */
static gn_status *report_json(const gn_cli *cli, const gn_session *s, timing *t,
                              const gn_importance *importance)
{
    gn_json j;
    gn_json_init(&j, stdout, true);
    gn_json_object(&j, NULL);
    gn_cli_json_head(&j, s);
    gn_json_array(&j, "runs");
    gn_json_object(&j, NULL);
    gn_json_int(&j, "seed", (int64_t)s->opt.seed);
    gn_json_double(&j, "train_acc", gn_session_accuracy(s, s->data->train_mask));
    gn_json_double(&j, "val_acc", gn_session_accuracy(s, s->data->val_mask));
    gn_json_double(&j, "test_acc", gn_session_accuracy(s, s->data->test_mask));
    gn_json_end(&j);
    gn_json_end(&j);
    gn_json_object(&j, "test_acc");
    gn_json_double(&j, "mean", gn_session_accuracy(s, s->data->test_mask));
    gn_json_double(&j, "std", 0);
    gn_json_end(&j);
    GN_TRY(gn_cli_json_metrics(&j, s));
    gn_held_out held = {0};
    if (s->opt.weights) GN_TRY(gn_held_out_score(s, &held));
    gn_held_out_json(&j, &held);
    gn_cli_json_not_finite(&j, s);
    if (importance) gn_cli_json_importance(&j, cli, importance);
    gn_json_double(&j, "first_us", t->first);
    gn_json_int(&j, "timed_runs", t->n);
    gn_cli_json_times(&j, "infer_us", t->n ? t->us : &t->first, t->n ? t->n : 1);
    gn_json_double(&j, "compile_ms", s->frontend_ms + s->build.ms);
    gn_json_double(&j, "read_ms", s->read_ms);
    gn_json_double(&j, "prepare_ms", s->build.eval.prepare_ms);
    gn_json_int(&j, "peak_bytes", gn_session_peak_bytes(s));
    gn_json_end(&j);
    return NULL;
}

static gn_status *report_text(const gn_cli *cli, const gn_session *s, timing *t)
{
    char train[GN_CLI_PERCENT], val[GN_CLI_PERCENT], test[GN_CLI_PERCENT];
    const gn_dataset *d = s->data;
    if (!cli->opt.weights)
        printf("weights are random (seed %llu): --weights FILE loads trained ones\n",
               (unsigned long long)s->opt.seed);
    if (d->y && gn_session_classes(s))
        printf("accuracy train %s val %s test %s\n",
               gn_cli_percent(train, gn_session_accuracy(s, d->train_mask), 2),
               gn_cli_percent(val, gn_session_accuracy(s, d->val_mask), 2),
               gn_cli_percent(test, gn_session_accuracy(s, d->test_mask), 2));
    GN_TRY(gn_cli_print_metrics(cli, s));
    if (t->n)
        printf("inference %.1f us (median of %lld, after a first run of %.1f us)",
               gn_cli_median(t->us, t->n), (long long)t->n, t->first);
    else
        printf("inference %.1f us (one run, the first; --repeat N times others)", t->first);
    printf(", compiled in %.1f ms%s\n", s->frontend_ms + s->build.ms, gn_cli_cached(s));
    return NULL;
}

static gn_status *time_one(gn_session *s, double *us)
{
    double t0 = gn_now_ms();
    GN_TRY(gn_session_eval(s));
    *us = (gn_now_ms() - t0) * 1e3;
    return NULL;
}

/* As many runs as were asked for; else a few, which take no time that anybody sees. */
static gn_status *time_runs(gn_cli *cli, gn_session *s, timing *t)
{
    enum { FEW = 10 };
    const double budget_us = 200e3;
    bool asked = cli->opt.repeat > 0;
    int64_t most = asked ? cli->opt.repeat : FEW;
    *t = (timing){.us = GN_NEW_N(cli->arena, double, most)};
    GN_TRY(time_one(s, &t->first));
    if (cli->opt.verbose) gn_instance_profile(s->build.eval.instance, true);
    double spent = t->first;
    while (t->n < most && (asked || spent < budget_us)) {
        GN_TRY(time_one(s, &t->us[t->n]));
        spent += t->us[t->n++];
    }
    return NULL;
}

static gn_status *run_session(gn_cli *cli, gn_session *s)
{
    timing t;
    GN_TRY(gn_session_load(s));
    GN_TRY(time_runs(cli, s, &t));
    GN_TRY(gn_session_fetch(s));
    if (cli->opt.verbose) gn_cli_profile("eval", &s->build.eval);
    gn_importance found, *importance = cli->opt.importance ? &found : NULL;
    if (importance) GN_TRY(gn_cli_find_importance(cli, s, importance));
    GN_TRY(cli->opt.json ? report_json(cli, s, &t, importance) : report_text(cli, s, &t));
    if (importance && !cli->opt.json) gn_cli_print_importance(cli, importance);
    gn_cli_warn_not_finite(cli, s);
    if (!cli->opt.json && s->opt.weights) {
        gn_held_out held;
        GN_TRY(gn_held_out_score(s, &held));
        gn_held_out_print(&held, "");
    }
    return cli->opt.predictions ? gn_cli_write_predictions(cli, s) : NULL;
}

static gn_status *run(gn_cli *cli)
{
    gn_session_options o;
    GN_TRY(gn_cli_session_options(cli, &o));
    GN_TRY(gn_cli_check_importance(cli));
    o.binds_again = o.plain_features = cli->opt.importance != NULL;
    if (cli->opt.batches > 0) return gn_cli_run_batches(cli, &o);
    GN_TRY(gn_cli_check_output(cli, "--predictions", cli->opt.predictions));
    GN_TRY(gn_cli_open_device(cli));
    o.target = cli->target;
    o.code_alone = !o.precision && !cli->opt.importance;
    gn_session *s;
    GN_TRY(gn_cli_session_open(cli, &o, &s));
    gn_cli_describe(cli, s);
    gn_status *status = run_session(cli, s);
    gn_session_free(s);
    return status;
}

const gn_command gn_command_run = {
    .name = "run",
    .usage = "run MODEL.gnn [--weights FILE] [options]",
    .summary = "run a model forward",
    .about = "Runs a model forward, with trained weights where they are given and random ones "
             "else, and reports\n"
             "its accuracy where the data has labels; with -v all scores.\n",
    .examples = "  gnnc run gcn.gnn --weights w.safetensors\n"
                "  gnnc run gcn.gnn --batches 40 --dynamic auto -d recompiles   graphs that "
                "change\n"
                "  gnnc run gcn.gnn --weights w.safetensors --predictions out.npz\n"
                "  gnnc run gcn.gnn --weights w.safetensors --importance features.csv\n"
                "  gnnc run gcn.gnn --weights w.safetensors --repeat 1000 --threads 1   time it\n",
    .takes_model = true,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
