/* measure: one cell, in the process that was started for it. */
#include "base/outfile.h"
#include "cli/held_out.h"
#include "cli/bench/bench.h"
#include "cli/device_option.h"
#include "cli/session_options.h"
#include "tune/tune.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Resident memory at its most, of this program alone: what the system counts for a process
 * (getrusage) begins with what its parent had. */
static int64_t resident_peak(void)
{
    int64_t kib = -1;
    char line[256];
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "VmHWM:", 6)) kib = strtoll(line + 6, NULL, 10);
    if (f) fclose(f);
    if (kib >= 0) return kib * 1024;
    struct rusage use;
    if (getrusage(RUSAGE_SELF, &use)) return -1;
#if defined(__APPLE__)
    return use.ru_maxrss;
#else
    return (int64_t)use.ru_maxrss * 1024;
#endif
}

/* Files ---------------------------------------------------------------------------------------- */

static gn_status *write_measured(const gn_cli *cli, const gn_measured *m)
{
    gn_out o;
    GN_TRY(gn_out_open(&o, cli->opt.cell));
    gn_json j;
    gn_json_init(&j, o.f, true);
    gn_measured_json(&j, NULL, m);
    return gn_out_close(&o, NULL);
}

static gn_status *write_result(const gn_session *s, int n, gn_out *o)
{
    gn_result r;
    GN_TRY(gn_session_result(s, n, &r));
    for (int64_t k = 0; k < r.n_rows * r.row_elems; k++) {
        float v = (float)gn_result_at(&r, k);
        fwrite(&v, sizeof v, 1, o->f);
    }
    gn_result_free(&r);
    return NULL;
}

static gn_status *write_outputs(const gn_cli *cli, const gn_session *s)
{
    gn_out o;
    gn_status *status = gn_out_open(
        &o, gn_arena_printf(cli->arena, "%s" GN_BENCH_OUTPUTS, cli->opt.cell));
    if (status) return status;
    for (int n = 0; !status && n < gn_session_results(s); n++) status = write_result(s, n, &o);
    gn_status *closed = gn_out_close(&o, NULL);
    if (!status) return closed;
    gn_status_free(closed);
    return status;
}

/* Measuring ------------------------------------------------------------------------------------ */

static gn_samples room_for(const gn_cli *cli, int64_t n)
{
    return (gn_samples){.x = GN_NEW_N(cli->arena, double, n + 1)};
}

static gn_status *infer(const gn_cli *cli, gn_session *s, gn_measured *m)
{
    m->infer_us = room_for(cli, cli->opt.repeat);
    for (int64_t k = 0; k < cli->opt.warmup; k++) GN_TRY(gn_session_eval(s));
    for (int64_t k = 0; k < cli->opt.repeat; k++) {
        double t0 = gn_now_ms();
        GN_TRY(gn_session_eval(s));
        m->infer_us.x[m->infer_us.n++] = (gn_now_ms() - t0) * 1e3;
    }
    return gn_session_fetch(s);
}

/* A training step is an epoch, or where the train block says so one of its batches. */
static gn_status *train(const gn_cli *cli, gn_session *s, gn_measured *m)
{
    int64_t n = cli->opt.warmup + cli->opt.epochs;
    m->step_us = room_for(cli, cli->opt.epochs);
    m->losses = room_for(cli, n);
    for (int64_t k = 0; k < n; k++) {
        double t0 = gn_now_ms(), loss;
        GN_TRY(gn_session_step(s, &loss));
        double us = (gn_now_ms() - t0) * 1e3;
        if (!isfinite(loss))
            GN_FAIL(GN_ERR_MODEL, "the loss is %g after training step %" PRId64, loss, k + 1);
        if (k >= cli->opt.warmup) m->step_us.x[m->step_us.n++] = us;
        m->losses.x[m->losses.n++] = loss;
    }
    GN_TRY(gn_session_eval(s));
    GN_TRY(gn_session_fetch(s));
    m->train_acc = gn_session_accuracy(s, s->data->train_mask);
    m->val_acc = gn_session_accuracy(s, s->data->val_mask);
    m->test_acc = gn_session_accuracy(s, s->data->test_mask);
    gn_held_out h;
    GN_TRY(gn_held_out_score(s, &h));
    if (h.links) m->test_auc = h.test.roc_auc;
    if (h.links) m->test_hits = h.test.hits[1];
    if (h.facts) m->test_mrr = h.ranks.mrr;
    return NULL;
}

static const char *picked_of(const gn_session *s)
{
    gn_buf b = {.arena = s->arena};
    gn_buf_add(&b, "");
    for (int k = 0; k < GN_UNITS; k++) {
        const char *words = s->tuned[k] ? gn_pick_text(s->arena, &s->tuned[k]->pick) : "";
        if (*words) gn_buf_printf(&b, "%s%s: %s", b.n ? "; " : "", gn_unit_name[k], words);
    }
    return b.p;
}

/* Values that a program computes: what is bound, and what moves within a row at most, is none. */
static int64_t operators(const gn_compiled *c)
{
    int64_t n = 0;
    if (!c || !c->f) return -1;
    for (uint32_t v = 1; v < c->f->p->nodes.n; v++)
        n += c->f->place[v] == FU_REAL || c->f->place[v] == FU_INLINE;
    return n;
}

static int64_t launches(const gn_compiled *c) { return c ? c->artifact->n_launches : -1; }

static void describe_code(const gn_session *s, gn_measured *m)
{
    const gn_compiled *eval = s->build.eval.code, *step = s->build.step.code;
    m->code = s->build.code.code;
    m->program = gn_bench_program(s);
    m->kernels = s->build.code.distinct;
    m->kernels_cached = s->build.code.hits;
    m->eval_launches = launches(eval);
    m->step_launches = launches(step);
    m->eval_operators = operators(eval);
    m->step_operators = operators(step);
}

static void describe(const gn_session *s, double setup_ms, gn_measured *m)
{
    gn_memory memory = gn_session_memory(s);
    m->model = s->model->name;
    m->data = s->data->name;
    m->device = gn_cli_device_name(s);
    describe_code(s, m);
    m->nodes = s->data->n_nodes;
    m->edges = s->data->n_edges;
    m->features = s->data->n_features;
    m->classes = s->data->n_classes;
    m->read_ms = s->read_ms + s->reorder_ms;
    m->compile_ms = s->frontend_ms + s->tune_ms + s->build.ms;
    m->tune_ms = s->tune_ms;
    m->picked = picked_of(s);
    m->order = gn_order_name[s->opt.reorder];
    m->setup_ms = setup_ms;
    m->plan_bytes = memory.total;
    m->arena_bytes = memory.arena;
}

static gn_status *measure(gn_cli *cli, gn_measured *m)
{
    gn_session_options o;
    gn_session *s;
    double t0 = gn_now_ms();
    GN_TRY(gn_cli_session_options(cli, &o));
    GN_TRY(gn_cli_open_device(cli));
    o.target = cli->target;
    o.keep_static = !cli->opt.what || strcmp(cli->opt.what, "eval") != 0;
    GN_TRY(gn_cli_session_new(cli, &o, &s));
    describe(s, gn_now_ms() - t0, m);
    gn_status *status = NULL;
    if (!cli->opt.compile_only) {
        status = gn_session_load(s);
        if (!status) status = infer(cli, s, m);
        if (!status) status = write_outputs(cli, s);
        if (!status && o.train) status = train(cli, s, m);
    }
    m->rss_bytes = resident_peak();
    if (!status) status = write_measured(cli, m);
    gn_session_free(s);
    return status;
}

gn_status *gn_bench_measure(gn_cli *cli, const gn_grid *g)
{
    if (g->data.n > 1 || g->modes.n > 1 || g->dynamic.n > 1 || g->threads.n > 1 || cli->args.n > 1)
        GN_FAIL(GN_ERR_USAGE, "--cell measures one cell: each list has one entry then");
    cli->opt.data = *g->data.p[0] ? g->data.p[0] : NULL;
    cli->opt.mode = g->modes.p[0];
    cli->opt.dynamic = g->dynamic.p[0];
    cli->opt.threads = g->threads.p[0];
    gn_measured m;
    gn_measured_init(&m);
    gn_status *status = measure(cli, &m);
    if (!status) return NULL;
    gn_measured failed;
    gn_measured_init(&failed);
    failed.error_code = gn_code_name(gn_status_code(status));
    failed.error = gn_status_message(status);
    /* where it cannot be written, standard error has it */
    gn_status_free(write_measured(cli, &failed));
    return status;
}
