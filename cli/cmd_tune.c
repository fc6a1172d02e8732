/* gnnc tune: searches for schedules, says what was found, and writes lock files. */
#include "cli/device_option.h"
#include "cli/interrupt.h"
#include "cli/session_options.h"
#include "cli/precision_search.h"

#include "cache/cache.h"
#include "tune/tune.h"

#include <inttypes.h>
#include <string.h>

/* What is kept --------------------------------------------------------------------------------- */

typedef struct shown {
    gn_cli *cli;
    gn_json *j; /* NULL: text */
    int n;
} shown;

static const char *line_of(gn_arena *a, const char *parts, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = parts; *p; p += strcspn(p, "\n"), p += *p == '\n')
        if (!strncmp(p, name, n) && p[n] == ' ')
            return gn_arena_strndup(a, p + n + 1, strcspn(p, "\n") - n - 1);
    return "";
}

/* "nodes 2708 edges 10556", without its degrees. */
static const char *graph_of(gn_arena *a, const char *parts)
{
    char *text = gn_arena_strdup(a, line_of(a, parts, "graph")), *in = strstr(text, " in ");
    if (in) *in = 0;
    return text;
}

/* "Fake GPU 0 sm_90", of a record for a device; NULL: it is for a processor. */
static const char *device_of(gn_arena *a, const char *parts)
{
    char *text = gn_arena_strdup(a, line_of(a, parts, "machine")), *end = strchr(text, ',');
    if (strncmp(text, "cuda ", 5) != 0) return NULL;
    if (end) *end = 0;
    return text + 5;
}

typedef struct place { /* of a record, NULL what is not told */
    const char *program, *graph, *device;
} place;

static void json_record(gn_json *j, gn_arena *a, const gn_tuned *t, const place *p)
{
    gn_json_object(j, NULL);
    gn_json_string(j, "program", p->program);
    if (p->graph) gn_json_string(j, "graph", p->graph);
    if (p->device) gn_json_string(j, "device", p->device);
    gn_json_double(j, "default_us", t->default_us);
    gn_json_double(j, "best_us", t->best_us);
    gn_json_double(j, "noise", t->noise);
    gn_json_string(j, "reorder", gn_order_name[t->reorder]);
    gn_json_string(j, "choices", gn_pick_text(a, &t->pick));
    gn_json_int(j, "tried", (int64_t)t->tried.n);
    gn_json_int(j, "wrong", t->wrong);
    gn_json_double(j, "seconds", t->seconds);
    gn_json_bool(j, "finished", t->finished);
    gn_json_end(j);
}

static void print_record(gn_arena *a, const gn_tuned *t, const place *p)
{
    const char *choices = gn_pick_text(a, &t->pick);
    printf("%s", p->program);
    if (p->graph) printf(", %s", p->graph);
    if (p->device) printf(", on %s", p->device);
    printf(": %.1f us, the default %.1f (%.2f times, +- %.3f)\n", t->best_us, t->default_us,
           t->default_us > 0 ? t->best_us / t->default_us : 1, t->noise);
    printf("  %s%s%s\n", *choices ? choices : "as rules say", t->reorder ? ", order " : "",
           t->reorder ? gn_order_name[t->reorder] : "");
    printf("  %u candidates in %.1f s%s", t->tried.n, t->seconds,
           t->finished ? ", all that there are" : "");
    if (t->wrong) printf(", %" PRId64 " rejected", t->wrong);
    printf("\n");
}

static void show_one(void *ctx, const char *parts, const void *bytes, size_t n)
{
    shown *z = ctx;
    gn_arena *a = z->cli->arena;
    gn_tuned t;
    gn_status *s = gn_tuned_parse(a, gn_arena_strndup(a, bytes, n), "a record of tuning", 1, &t);
    if (!s) {
        const place p = {line_of(a, parts, "program"), graph_of(a, parts), device_of(a, parts)};
        z->j ? json_record(z->j, a, &t, &p) : print_record(a, &t, &p);
        z->n++;
    }
    gn_status_free(s);
}

static gn_status *show_all(gn_cli *cli)
{
    gn_json j;
    shown z = {.cli = cli, .j = cli->opt.json ? &j : NULL};
    GN_TRY(gn_cli_open_cache(cli));
    if (!cli->cache)
        GN_FAIL(GN_ERR_USAGE, "the cache is switched off (GNNC_CACHE); --cache-dir DIR names one");
    if (z.j) {
        gn_json_init(&j, stdout, true);
        gn_json_object(&j, NULL);
        gn_json_array(&j, "records");
    }
    GN_TRY(gn_cache_each(cli->cache, "tuning ", show_one, &z));
    if (z.j) {
        gn_json_end(&j);
        gn_json_end(&j);
    } else if (!z.n) {
        printf("nothing is kept: gnnc tune MODEL --data PATH searches\n");
    }
    return NULL;
}

/* Searching ------------------------------------------------------------------------------------ */

static void report(gn_cli *cli, const gn_session *s, bool interrupted)
{
    gn_json j;
    bool any = false;
    if (cli->opt.json) {
        gn_json_init(&j, stdout, true);
        gn_json_object(&j, NULL);
        gn_cli_json_head(&j, s);
        gn_json_bool(&j, "interrupted", interrupted);
        gn_json_array(&j, "records");
    }
    for (int k = GN_UNITS - 1; k >= 0; k--) {
        const gn_tuned *t = s->tuned[k];
        if (!t) continue;
        any = true;
        const place p = {.program = gn_unit_name[k]};
        cli->opt.json ? json_record(&j, cli->arena, t, &p) : print_record(cli->arena, t, &p);
    }
    if (cli->opt.json) {
        gn_json_end(&j);
        gn_json_end(&j);
    } else if (!any) {
        printf("nothing is kept for this model and graph\n");
    }
}

/* A search is worth what is kept of it. */
static void say_lost(const gn_cli *cli)
{
    if (cli->opt.quiet || cli->opt.tune_lock ||
        (cli->cache && !gn_cache_counted(cli->cache).unkept))
        return;
    fprintf(stderr,
            "warning: nothing keeps what was found: %s; --tune-lock FILE writes it to a file\n",
            cli->cache ? "the cache cannot be written (-d cache says why)"
                       : "there is no cache (GNNC_CACHE)");
}

static gn_status *tune(gn_cli *cli)
{
    gn_session_options o;
    gn_session *s;
    const char *lock = cli->opt.tune_lock;
    if (!cli->args.n) {
        if (!cli->opt.show)
            GN_FAIL(GN_ERR_USAGE, "'tune' needs a file\n  usage: gnnc %s", gn_command_tune.usage);
        return show_all(cli);
    }
    cli->opt.tune_lock = NULL; /* which is written here */
    GN_TRY(gn_cli_session_options(cli, &o));
    cli->opt.tune_lock = lock;
    if (cli->opt.tolerance) return gn_cli_tune_precision(cli, &o);
    if (cli->opt.seeds > 0 || cli->opt.epochs >= 0)
        GN_FAIL(GN_ERR_USAGE, "--%s: goes with --tolerance",
                cli->opt.seeds > 0 ? "seeds" : "epochs");
    if (!cli->opt.mode) o.mode = GN_MODE_MAX_AUTOTUNE;
    if (!gn_modes[o.mode].tune)
        GN_FAIL(GN_ERR_USAGE,
                "mode %s does not search; max-autotune and max-autotune-no-cudagraphs do",
                gn_mode_name[o.mode]);
    o.tune_lock = NULL;
    o.tune_on = !cli->opt.show;
    o.no_code = cli->opt.show;
    o.keep_static = true;
    if (cli->opt.show) lock = NULL;
    GN_TRY(gn_cli_check_output(cli, "--tune-lock", lock));
    GN_TRY(gn_cli_open_device(cli));
    o.target = cli->target;
    if (!cli->opt.show) o.over = gn_cli_interrupt_begin();
    gn_status *status = gn_cli_session_new(cli, &o, &s);
    if (!cli->opt.show) gn_cli_interrupt_end();
    GN_TRY(status);
    gn_cli_describe(cli, s);
    bool over = o.over && *o.over,
         whole = !over || (s->tuned[GN_UNIT_EVAL] && (!o.train || s->tuned[GN_UNIT_STEP]));
    report(cli, s, over);
    if (!cli->opt.show) say_lost(cli);
    if (lock && whole) status = gn_tuned_lock_write(s, lock);
    if (!status && over)
        status = GN_ERROR(
            GN_ERR_INTERRUPTED, "interrupted: %s%s",
            cli->cache ? "what was found until then is kept, and another search goes on there"
                       : "without a cache nothing is kept",
            lock && !whole ? "; no lock is written, for not every program was searched" : "");
    gn_session_free(s);
    return status;
}

const gn_command gn_command_tune = {
    .name = "tune",
    .usage = "tune MODEL.gnn [options], tune --show",
    .summary = "search for faster schedules on a graph",
    .about = "Measures other schedules, decisions, numbers of threads and orders of nodes than the "
             "default's, on this\n"
             "model, this graph and this machine, or its GPU (--device cuda); what gives other "
             "results than the\n"
             "default, beyond the rounding of sums in another order, is rejected, and what is not "
             "faster beyond noise\n"
             "is not taken.  What was found is kept beside the compiled kernels and used by -O "
             "max-autotune; another\n"
             "search goes on where this one ended.\n"
             "--show says what is kept.  --tune-lock FILE writes the choices to a file, which "
             "train, run, compile and\n"
             "explain take with the same option, and refuse where it does not fit.\n"
             "--tolerance PART searches for the least memory instead: it trains with what is kept "
             "in 16 bits, and the\n"
             "lock says what may be while the validation metric stays that of float32.\n",
    .examples = "  gnnc tune gcn.gnn --data cora --tune-budget 20\n"
                "  gnnc tune gat.gnn --data cora --what eval -v         only inference; what was "
                "tried\n"
                "  gnnc tune gcn.gnn --data cora --tune-lock gcn.lock\n"
                "  gnnc train gcn.gnn --data cora --tune-lock gcn.lock\n"
                "  gnnc tune gcn.gnn --data cora --device cuda\n"
                "  gnnc tune gcn.gnn --data cora --tolerance 0.1% --seeds 10 --tune-lock "
                "half.lock\n"
                "  gnnc tune --show\n",
    .takes_model = true,
    .min_args = 0,
    .max_args = 1,
    .run = tune,
};
