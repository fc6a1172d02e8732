#include "cli/device_option.h"
#include "cli/session_options.h"

#include "runtime/data/listed.h"

static gn_status *json_metrics(gn_json *j, const gn_session *s)
{
    int64_t classes;
    const float *out = gn_session_logits(s, &classes); /* NULL: no classes */
    const uint8_t *mask[] = {s->data->train_mask, s->data->val_mask, s->data->test_mask};
    static const char *const name[] = {"train", "val", "test"};
    if (!s->data->y || !out) return NULL;
    gn_json_object(j, "metrics");
    for (int k = 0; k < 3; k++) {
        gn_metrics m;
        if (!mask[k]) continue;
        gn_listed l;
        GN_TRY(gn_listed_rows(s->data, mask[k], out, classes, &l));
        gn_status *status = gn_metrics_compute(l.logits, l.n, classes, l.y, l.mask, &m);
        gn_listed_free(&l);
        GN_TRY(status);
        gn_json_object(j, name[k]);
        gn_json_int(j, "n", m.n);
        gn_json_double(j, "accuracy", m.accuracy);
        gn_json_double(j, "precision_micro", m.precision_micro);
        gn_json_double(j, "recall_micro", m.recall_micro);
        gn_json_double(j, "f1_micro", m.f1_micro);
        gn_json_double(j, "precision_macro", m.precision_macro);
        gn_json_double(j, "recall_macro", m.recall_macro);
        gn_json_double(j, "f1_macro", m.f1_macro);
        gn_json_double(j, "roc_auc", m.roc_auc);
        gn_json_double(j, "average_precision", m.average_precision);
        gn_json_end(j);
    }
    gn_json_end(j);
    return NULL;
}

static gn_status *report_json(const gn_session *s, double *us, int64_t n)
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
    GN_TRY(json_metrics(&j, s));
    gn_cli_json_times(&j, "infer_us", us, n);
    gn_json_double(&j, "compile_ms", s->frontend_ms + s->build.ms);
    gn_json_double(&j, "read_ms", s->read_ms);
    gn_json_double(&j, "prepare_ms", s->build.eval.prepare_ms);
    gn_json_int(&j, "peak_bytes", gn_session_peak_bytes(s));
    gn_json_end(&j);
    return NULL;
}

static void report_text(const gn_session *s, double *us, int64_t n, bool trained)
{
    char train[GN_CLI_PERCENT], val[GN_CLI_PERCENT], test[GN_CLI_PERCENT];
    const gn_dataset *d = s->data;
    if (!trained)
        printf("weights are random (seed %llu): --weights FILE loads trained ones\n", (unsigned long long)s->opt.seed);
    if (d->y && gn_session_classes(s))
        printf("accuracy train %s val %s test %s\n", gn_cli_percent(train, gn_session_accuracy(s, d->train_mask), 2),
               gn_cli_percent(val, gn_session_accuracy(s, d->val_mask), 2),
               gn_cli_percent(test, gn_session_accuracy(s, d->test_mask), 2));
    printf("inference %.1f us (median of %lld), compiled in %.1f ms%s\n", gn_cli_median(us, n), (long long)n,
           s->frontend_ms + s->build.ms, gn_cli_cached(s));
}

static gn_status *run_session(gn_cli *cli, gn_session *s)
{
    GN_TRY(gn_session_load(s));
    int64_t n = cli->opt.repeat > 0 ? cli->opt.repeat : 1;
    double *us = GN_NEW_N(cli->arena, double, n);
    if (n > 1) GN_TRY(gn_session_eval(s));
    if (cli->opt.verbose) gn_instance_profile(s->build.eval.instance, true);
    for (int64_t k = 0; k < n; k++) {
        double t0 = gn_now_ms();
        GN_TRY(gn_session_eval(s));
        us[k] = (gn_now_ms() - t0) * 1e3;
    }
    GN_TRY(gn_session_fetch(s));
    if (cli->opt.verbose) gn_cli_profile("eval", &s->build.eval);
    if (cli->opt.json)
        GN_TRY(report_json(s, us, n));
    else
        report_text(s, us, n, cli->opt.weights != NULL);
    return cli->opt.predictions ? gn_cli_write_predictions(cli, s) : NULL;
}

static gn_status *run(gn_cli *cli)
{
    gn_session_options o;
    GN_TRY(gn_cli_session_options(cli, &o));
    if (cli->opt.batches > 0) return gn_cli_run_batches(cli, &o);
    GN_TRY(gn_cli_check_output(cli, "--predictions", cli->opt.predictions));
    GN_TRY(gn_cli_open_device(cli));
    o.target = cli->target;
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
    .about = "Runs a model forward, with trained weights where they are given and random ones else, and reports\n"
             "its accuracy where the data has labels.\n",
    .examples = "  gnnc run samples/gcn.gnn --weights w.safetensors\n"
                "  gnnc run samples/gcn.gnn --batches 40 --dynamic auto -d recompiles   graphs that change\n"
                "  gnnc run samples/gcn.gnn --weights w.safetensors --predictions out.npz\n"
                "  gnnc run samples/gcn.gnn --weights w.safetensors --repeat 1000 --threads 1   time it\n",
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
