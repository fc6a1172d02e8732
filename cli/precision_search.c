#include "cli/precision_search.h"

#include "cli/device_option.h"
#include "cli/interrupt.h"
#include "cli/session_options.h"
#include "tune/tune.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 5 };

/* "0.1%", or 0.001. */
static gn_status *read_tolerance(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    bool percent = end != text && !strcmp(end, "%");
    if (percent) *out /= 100;
    if (end == text || (*end && !percent) || !(*out >= 0 && *out <= 1))
        GN_FAIL(GN_ERR_USAGE,
                "--tolerance: expected a part of the metric, as 0.1%% or 0.001, not "
                "'%s'",
                text);
    return NULL;
}

/* "mixed --keep-float32 convs.1 --matmul-precision highest", as train takes it. */
static const char *words_of(gn_arena *a, const gn_precision_tried *t)
{
    bool usual = t->products == gn_numbers_products[t->numbers];
    return gn_arena_printf(a, "%s%s%s%s%s", gn_numbers_name[t->numbers],
                           usual ? "" : " --matmul-precision ",
                           usual ? "" : gn_precision_name[t->products],
                           t->wide ? " --keep-float32 " : "", t->wide ? t->wide : "");
}

static void print_one(gn_cli *cli, const gn_precision_search *z, uint32_t k)
{
    const gn_precision_tried *t = &z->tried.p[k];
    printf(" %s%s %9.0f %6.2f %11.0f ", k == z->best ? "*" : " ", t->frontier ? "." : " ",
           (double)t->bytes * 1e-3, (double)t->bytes / (double)z->tried.p[0].bytes,
           (double)t->temporaries * 1e-3);
    if (t->seeds)
        printf("%10.1f %8.2f %8.2f %7.2f", t->step_us, 100 * t->mean, 100 * t->worse,
               100 * t->error);
    else
        printf("%10s %8s %8s %7s", "-", "-", "-", "-");
    printf("  %s%s\n", words_of(cli->arena, t),
           t->within  ? ""
           : t->seeds ? "  (too far off)"
                      : "  (not finite)");
}

static void print_all(gn_cli *cli, const gn_precision_search *z)
{
    printf("%s, %d seeds; within %.3g of float32's, in percent\n", z->metric, z->seeds,
           100 * z->tolerance);
    printf("   %10s %6s %11s %10s %8s %8s %7s  --precision\n", "kB", "part", "temporaries",
           "step, us", "metric", "worse", "+-");
    for (uint32_t k = 0; k < z->tried.n; k++) print_one(cli, z, k);
    printf("* taken   . on the frontier of memory and metric\n");
}

static void put_one(gn_json *j, gn_arena *a, const gn_precision_tried *t, bool taken)
{
    gn_json_object(j, NULL);
    gn_json_string(j, "precision", gn_numbers_name[t->numbers]);
    gn_json_string(j, "matmul_precision", gn_precision_name[t->products]);
    gn_json_string(j, "keep_float32", t->wide ? t->wide : "");
    gn_json_string(j, "options", words_of(a, t));
    gn_json_int(j, "bytes", t->bytes);
    gn_json_int(j, "temporaries", t->temporaries);
    gn_json_double(j, "step_us", t->step_us);
    gn_json_int(j, "seeds", t->seeds);
    gn_json_double(j, "mean", t->mean);
    gn_json_double(j, "deviation", t->deviation);
    gn_json_double(j, "worse", t->worse);
    gn_json_double(j, "error", t->error);
    gn_json_bool(j, "within", t->within);
    gn_json_bool(j, "frontier", t->frontier);
    gn_json_bool(j, "taken", taken);
    gn_json_end(j);
}

static void put_all(gn_cli *cli, const gn_precision_search *z)
{
    gn_json j;
    gn_json_init(&j, stdout, true);
    gn_json_object(&j, NULL);
    gn_json_string(&j, "metric", z->metric);
    gn_json_double(&j, "tolerance", z->tolerance);
    gn_json_int(&j, "seeds", z->seeds);
    gn_json_array(&j, "tried");
    for (uint32_t k = 0; k < z->tried.n; k++) put_one(&j, cli->arena, &z->tried.p[k], k == z->best);
    gn_json_end(&j);
    gn_json_end(&j);
}

gn_status *gn_cli_tune_precision(gn_cli *cli, gn_session_options *o)
{
    const char *lock = cli->opt.tune_lock;
    gn_precision_search z = {.seeds = cli->opt.seeds > 0 ? (int)cli->opt.seeds : SEEDS};
    GN_TRY(read_tolerance(cli->opt.tolerance, &z.tolerance));
    if (cli->opt.numbers || cli->opt.precision || cli->opt.wide)
        GN_FAIL(GN_ERR_USAGE, "--tolerance: searches for --precision, --matmul-precision and "
                              "--keep-float32; leave them out");
    if (cli->opt.show || (cli->opt.what && strcmp(cli->opt.what, "step") != 0))
        GN_FAIL(GN_ERR_USAGE, "--tolerance: trains; --show and --what do not go with it");
    GN_TRY(gn_cli_check_output(cli, "--tune-lock", lock));
    GN_TRY(gn_cli_open_device(cli));
    o->target = cli->target;
    o->over = gn_cli_interrupt_begin();
    gn_status *status = gn_tune_precision(cli->arena, o, &z);
    gn_cli_interrupt_end();
    GN_TRY(status);
    cli->opt.json ? put_all(cli, &z) : print_all(cli, &z);
    if (o->over && *o->over)
        GN_FAIL(GN_ERR_INTERRUPTED, "interrupted: %s",
                lock ? "no lock is written, for not everything was tried"
                     : "not everything was "
                       "tried");
    const gn_precision_tried *best = &z.tried.p[z.best];
    const gn_locked_numbers l = {
        .numbers = best->numbers, .products = best->products, .wide = best->wide, .model = z.model};
    return lock ? gn_tuned_lock_numbers_save(&l, lock) : NULL;
}
