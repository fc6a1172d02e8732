#include "cli/describe_data.h"
#include "cli/stats.h"
#include "cli/interrupt.h"
#include "cli/report.h"
#include "cli/session_options.h"
#include "cli/text.h"

#include "base/outfile.h"
#include "tune/tune.h"
#include "tune/start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int gn_cli_tri(const char *s) { return !s || !strcmp(s, "auto") ? -1 : !strcmp(s, "on"); }

/* "svd:64": fewer features of those of the data. */
static void reduction_of(const char *text, gn_data_options *out)
{
    for (int k = 1; text && k < GN_REDUCTION_COUNT; k++) {
        size_t n = strlen(gn_reduction_name[k]);
        if (strncmp(text, gn_reduction_name[k], n) || text[n] != ':') continue;
        out->reduce = (gn_reduction)k;
        out->components = atoll(text + n + 1);
    }
}

static gn_status *defines_of(const gn_cli *cli, gn_session_options *out)
{
    gn_define *d = GN_NEW_N(cli->arena, gn_define, cli->opt.defines.n + 1);
    for (uint32_t k = 0; k < (uint32_t)cli->opt.defines.n; k++) {
        const char *text = cli->opt.defines.p[k], *eq = strchr(text, '=');
        if (!eq || eq == text)
            GN_FAIL(GN_ERR_USAGE, "-D %s: expected name=value, as in -D hidden=64", text);
        d[k] = (gn_define){gn_arena_strndup(cli->arena, text, (size_t)(eq - text)), eq + 1};
    }
    out->n_defines = (int)cli->opt.defines.n;
    out->defines = d;
    return NULL;
}

gn_status *gn_cli_without(const gn_cli *cli, gn_without *out)
{
    *out = (gn_without){0};
    if (cli->opt.only)
        GN_TRY(gn_status_annotate(gn_without_add(cli->arena, cli->opt.only, true, out), "--only"));
    for (uint32_t k = 0; k < cli->opt.without.n; k++)
        GN_TRY(gn_status_annotate(gn_without_add(cli->arena, cli->opt.without.p[k], false, out),
                                  "--without"));
    return NULL;
}

static void say(void *ctx, const char *text)
{
    (void)ctx;
    fprintf(stderr, "tune: %s\n", text);
}

/* A search, on a terminal, in a line. */
static void tell(void *ctx, const gn_tune_news *n)
{
    gn_cli *cli = ctx;
    gn_progress *line = &cli->line;
    gn_arena a;
    if (!gn_progress_due(line)) return;
    gn_arena_init(&a);
    a.oom = cli->arena->oom;
    gn_buf b = {.arena = &a};
    gn_buf_printf(&b, "search, %s: %s left", gn_unit_name[n->unit],
                  gn_text_time(&a, n->seconds_left < 1 ? n->seconds_left * 1e6
                                                       : ceil(n->seconds_left) * 1e6));
    if (n->best_us > 0)
        gn_buf_printf(&b, "  best %s (default %s)", gn_text_time(&a, n->best_us),
                      gn_text_time(&a, n->default_us));
    gn_buf_printf(&b, "  trying %s", n->trying);
    gn_progress_show(line, b.p);
    gn_arena_free(&a);
}

/* "900M", "1.5G", "50%": bytes, or a part of what it takes by itself. */
static gn_status *memory_of(const char *text, gn_session_options *out)
{
    static const char units[] = "KMGT";
    char *end = (char *)(uintptr_t)text;
    double v = text ? strtod(text, &end) : 0;
    if (!text) return NULL;
    const char *unit = *end ? strchr(units, *end) : NULL;
    bool percent = end[0] == '%' && !end[1], digits = *text >= '0' && *text <= '9';
    for (const char *u = units; unit && u <= unit; u++) v *= 1024;
    bool bytes = unit ? !end[1] || !strcmp(end + 1, "iB") : !*end;
    if (!digits || (!percent && !bytes) || !(v >= 1) || v >= 0x1p62 || (percent && v > 100))
        GN_FAIL(
            GN_ERR_USAGE,
            "--memory: '%s' is no size: a number of bytes, or of K, M, G or T (powers of 1024), "
            "as 900M or 1.5G, or a part of what it takes by itself, as 50%%",
            text);
    if (percent)
        out->memory_share = v / 100;
    else
        out->memory = (int64_t)v;
    return NULL;
}

static void say_memory(void *ctx, const gn_memory_plan *p)
{
    const gn_cli *cli = ctx;
    char all[GN_CLI_BYTES], bound[GN_CLI_BYTES], arena[GN_CLI_BYTES], before[GN_CLI_BYTES],
        file[GN_CLI_BYTES], pages[GN_CLI_BYTES];
    if (cli->opt.quiet || !p->fits) return;
    fprintf(stderr, "memory: %s of %s allowed, of which %s temporaries",
            gn_cli_bytes(all, p->memory.total), gn_cli_bytes(bound, p->bound),
            gn_cli_bytes(arena, p->memory.arena));
    if (p->file) fprintf(stderr, "; others, %s, in a file", gn_cli_bytes(file, p->file));
    if (p->before > p->bound && p->memory.pages)
        fprintf(stderr, "; %s of files are mapped at a time", gn_cli_bytes(pages, p->memory.pages));
    if (p->before > p->memory.total)
        fprintf(stderr, "; %s by itself", gn_cli_bytes(before, p->before));
    for (int u = 0; u < GN_UNITS; u++)
        if (p->again[u])
            fprintf(stderr, "; %d kernels of a %s run again, for %.0f%% more work", p->again[u],
                    u == GN_UNIT_STEP ? "step" : "forward pass", 100 * p->more[u]);
    fputc('\n', stderr);
}

/* What options say that values are kept as and products made of. */
static gn_status *numbers_of(const gn_cli *cli, gn_session_options *out)
{
    const gn_cli_options *o = &cli->opt;
    GN_TRY(gn_numbers_by_name(o->numbers, &out->numbers));
    out->precision = gn_numbers_products[out->numbers];
    if (o->precision) GN_TRY(gn_precision_by_name(o->precision, &out->precision));
    return gn_status_annotate(gn_wide_sorted(cli->arena, o->wide, &out->wide), "--keep-float32");
}

static bool same_names(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

/* A lock may say what is computed with; what is said beside it has to be the same. */
static gn_status *take_lock(const gn_cli *cli, gn_session_options *out)
{
    const gn_cli_options *o = &cli->opt;
    gn_locked_numbers l;
    if (!o->tune_lock) return NULL;
    gn_status *bad = gn_tuned_lock_numbers(cli->arena, o->tune_lock, &l);
    bool unread = bad && bad->code == GN_ERR_IO; /* which is said when schedules are taken */
    if (bad && !unread) return bad;
    gn_status_free(bad);
    if (!l.there) return NULL;
    if ((o->numbers && l.numbers != out->numbers) ||
        (o->precision && l.products != out->precision) ||
        (o->wide && !same_names(l.wide, out->wide)))
        GN_FAIL(GN_ERR_USAGE,
                "%s: the lock is for --precision %s --matmul-precision %s%s%s; without these "
                "options that is taken",
                o->tune_lock, gn_numbers_name[l.numbers], gn_precision_name[l.products],
                l.wide ? " --keep-float32 " : "", l.wide ? l.wide : "");
    out->locked_model = l.model;
    out->numbers = l.numbers;
    out->precision = l.products;
    out->wide = l.wide;
    return NULL;
}

gn_status *gn_cli_session_options(gn_cli *cli, gn_session_options *out)
{
    const gn_cli_options *o = &cli->opt;
    *out = (gn_session_options){.path = cli->args.p[0],
                                .model = o->model,
                                .epochs = o->epochs,
                                .pass_limit = (int)o->pass_limit};
    out->data = (gn_data_options){.path = o->data,
                                  .classes = o->classes < 0 ? 0 : o->classes,
                                  .split = o->split < 0 ? 0 : (int)o->split,
                                  .normalize_rows = gn_cli_tri(o->normalize),
                                  .undirected = gn_cli_tri(o->undirected)};
    for (int k = 0; o->features && k < GN_FEATURES_COUNT; k++)
        if (!strcmp(o->features, gn_features_name[k])) out->data.features = (gn_features)k;
    reduction_of(o->features, &out->data);
    out->weights = o->weights;
    out->seed = o->seed < 0 ? 0 : (uint64_t)o->seed;
    out->data.seed = out->seed;
    for (int k = 0; o->reorder && k < GN_ORDER_COUNT; k++)
        if (!strcmp(o->reorder, gn_order_name[k])) out->reorder = (gn_order)k;
    out->threads = o->threads < 0 ? 0 : (int)o->threads;
    GN_TRY(memory_of(o->memory, out));
    if (o->spill && !o->memory)
        GN_FAIL(GN_ERR_USAGE,
                "--spill %s: of what has no room within --memory SIZE, which says how "
                "much there is",
                o->spill);
    out->spill = o->spill;
    out->memory_found = say_memory;
    out->memory_ctx = cli;
    out->mode = o->mode ? gn_mode_by_name(o->mode) : GN_MODE_DEFAULT;
    GN_TRY(gn_dynamic_by_name(o->dynamic, &out->dynamic));
    out->range = o->range;
    gn_status *named = gn_ranges_parse(o->range, &out->ranges); /* else a session says what is wrong
                                                                 */
    if (named) out->ranges = (gn_guards){0};
    gn_status_free(named);
    GN_TRY(numbers_of(cli, out));
    GN_TRY(take_lock(cli, out));
    if (out->wide && !gn_numbers_kept[out->numbers])
        GN_FAIL(GN_ERR_USAGE, "--keep-float32: goes with --precision mixed or mixed-f16");
    GN_TRY(gn_products_by_name(o->products, &out->products));
    GN_TRY(gn_storage_by_name(o->gathers, &out->gathers));
    GN_TRY(gn_cli_without(cli, &out->without));
    GN_TRY(gn_cli_check_predictions(o->predictions));
    GN_TRY(gn_cli_open_cache(cli));
    out->cache = cli->cache;
    out->tune_lock = o->tune_lock;
    out->tune_seconds = o->tune_budget < 0 ? (double)GN_TUNE_SECONDS : o->tune_budget;
    out->free_order = !o->reorder;
    out->tune_say = o->verbose ? say : NULL;
    gn_progress_begin(&cli->line, stderr, !o->quiet && !o->verbose);
    out->tune_tell = cli->line.on ? tell : NULL;
    out->tune_ctx = cli;
    return defines_of(cli, out);
}

bool gn_cli_same_file(const char *a, const char *b)
{
    struct stat at, bt;
    return a && b && !stat(a, &at) && !stat(b, &bt) && at.st_dev == bt.st_dev &&
           at.st_ino == bt.st_ino;
}

gn_status *gn_cli_check_output(const gn_cli *cli, const char *option, const char *path)
{
    if (!path) return NULL;
    bool model = cli->args.n && gn_cli_same_file(path, cli->args.p[0]);
    if (model || gn_cli_same_file(path, cli->opt.data))
        GN_FAIL(GN_ERR_USAGE, "%s %s: that is the %s, which would be lost", option, path,
                model ? "model" : "data");
    return gn_status_annotate(gn_out_check(path), "%s", option);
}

gn_status *gn_cli_session_open(gn_cli *cli, gn_session_options *o, gn_session **out)
{
    bool listens = !o->over && !o->no_code && gn_modes[o->mode].tune;
    if (listens) o->over = gn_cli_interrupt_begin();
    gn_status *s = gn_session_new(cli->arena, o, out);
    if (s && cli->opt.memory && gn_status_code(s) == GN_ERR_NOMEM)
        s = gn_status_annotate(s, "--memory %s", cli->opt.memory);
    gn_progress_clear(&cli->line);
    if (!listens) return s;
    gn_cli_interrupt_end();
    bool over = *o->over;
    o->over = NULL;
    if (s) return s;
    (*out)->opt.over = NULL;
    if (!over) return NULL;
    gn_session_free(*out);
    *out = NULL;
    GN_FAIL(GN_ERR_INTERRUPTED, "interrupted before it ran: %s",
            cli->cache ? "what a search found until then is kept, and another goes on there"
                       : "without a cache nothing that a search found is kept");
}

gn_status *gn_cli_session_new(gn_cli *cli, gn_session_options *o, gn_session **out)
{
    const char *what = cli->opt.what;
    o->train = !what || !strcmp(what, "step");
    gn_status *s = gn_cli_session_open(cli, o, out);
    if (!s || what || gn_status_code(s) != GN_ERR_DATA) return s;
    gn_status_free(s); /* no labels: then inference; what else may be wrong with the data is said
                          again */
    o->train = false;
    return gn_cli_session_open(cli, o, out);
}

/* What lies on edges and no program reads: many a layer takes weights or features of edges only
 * where it is given them. */
static void describe_unread(const gn_session *s)
{
    const gn_build *b = &s->build;
    const struct {
        const char *name, *words;
        bool there;
    } of[] = {{"g.weight", "weights", s->edge_weight || s->data->edge_weight},
              {"g.attr", "features", s->data->edge_dim > 0}};
    int n = 0;
    for (int k = 0; k < 2 && b->eval.code; k++) {
        if (!of[k].there || gn_unit_reads(&b->eval, GN_SLOT_INPUT, of[k].name) ||
            gn_unit_reads(&b->step, GN_SLOT_INPUT, of[k].name))
            continue;
        if (n++)
            fprintf(stderr, " and %s", of[k].words);
        else
            fprintf(stderr, "%s does not read the edges' %s", s->model->name, of[k].words);
    }
    if (n) fputc('\n', stderr);
}

/* Weights of another model, or of more layers, that fit as far as this one goes. */
static void describe_unread_weights(const gn_session *s)
{
    char text[GN_UNREAD] = "";
    if (s->weights && s->weights->note)
        fprintf(stderr, "%s: %s\n", s->opt.weights, s->weights->note);
    if (s->weights) gn_weights_unread(s->model, s->weights, text);
    if (*text)
        fprintf(stderr, "warning: %s: tensors that %s does not have: %s\n", s->opt.weights,
                s->model->name, text);
}

/* Why none of its products is rounded, though that was asked for: what is said of the first; NULL:
 * one is. */
static const char *why_all_exact(const gn_session *s)
{
    const gn_unit *units[] = {&s->build.eval, &s->build.step};
    const char *why = NULL;
    for (int k = 0; k < 2; k++) {
        const lowered *low = units[k]->code ? units[k]->code->low : NULL;
        for (uint32_t l = 0; low && l < low->launches.n; l++) {
            if (low->launches.p[l].rounded) return NULL;
            if (!why) why = low->launches.p[l].why_exact;
        }
    }
    return why ? why : "there are none";
}

void gn_cli_describe(const gn_cli *cli, const gn_session *s)
{
    if (cli->opt.quiet) return;
    gn_cli_diagnostics(s->model->warnings, stderr);
    gn_cli_describe_data(s);
    describe_unread(s);
    describe_unread_weights(s);
    char all[GN_CLI_BYTES], temporaries[GN_CLI_BYTES];
    if (s->pool && !cli->opt.memory)
        fprintf(stderr, "memory: %s, of which %s temporaries\n",
                gn_cli_bytes(all, gn_session_peak_bytes(s)),
                gn_cli_bytes(temporaries, gn_session_memory(s).arena));
    const char *exact = s->opt.precision ? why_all_exact(s) : NULL;
    if (exact) fprintf(stderr, GN_CLI_EXACT, gn_precision_name[s->opt.precision], exact);
    if (cli->opt.verbose && s->opt.target && *s->opt.target->no_blas)
        fprintf(stderr, "products of matrices stay kernels: %s\n", s->opt.target->no_blas);
}

const char *gn_cli_device_name(const gn_session *s)
{
    if (!s->opt.target) return s->opt.limits ? "cuda" : "cpu"; /* limits of none that is here */
    return gn_cuda_device_about(s->opt.target->device)->name;
}

static void json_cache(gn_json *j, const gn_session *s)
{
    const gn_code_report *r = &s->build.code;
    if (!r->cached) {
        gn_json_null(j, "cache");
        return;
    }
    gn_json_object(j, "cache");
    gn_json_int(j, "hits", r->hits);
    gn_json_int(j, "misses", r->misses);
    gn_json_double(j, "ms", r->ms); /* to look up, compile and load: part of compile_ms */
    gn_json_end(j);
}

const char *gn_cli_cached(const gn_session *s)
{
    const gn_code_report *r = &s->build.code;
    return r->cached ? gn_arena_printf(s->arena, " (%d of %d kernels cached)", r->hits, r->distinct)
                     : "";
}

/* Threads that runs were found to be worth, and what a run takes with all and with one. */
static void json_pace(gn_json *j, const char *key, const gn_instance *in)
{
    bool alone;
    int64_t all_ns, alone_ns;
    if (!in || !gn_instance_paced(in, &alone, &all_ns, &alone_ns)) return;
    gn_json_object(j, key);
    gn_json_bool(j, "alone", alone);
    gn_json_double(j, "all_us", (double)all_ns * 1e-3);
    gn_json_double(j, "alone_us", (double)alone_ns * 1e-3);
    gn_json_end(j);
}

void gn_cli_json_head(gn_json *j, const gn_session *s)
{
    gn_json_string(j, "model", s->model->name);
    gn_json_string(j, "data", s->data->name);
    gn_json_int(j, "nodes", s->data->n_nodes);
    gn_json_int(j, "edges", s->data->n_edges);
    gn_json_bool(j, "edge_weights", s->edge_weight || s->data->edge_weight);
    gn_json_int(j, "edge_features", s->data->edge_dim);
    gn_json_int(j, "features", s->data->n_features);
    gn_json_bool(j, "features_normalized", s->data->normalized);
    if (s->data->reduced) gn_json_int(j, "features_read", s->data->n_features_read);
    gn_json_int(j, "classes", s->data->n_classes);
    gn_json_string(j, "reorder", gn_order_name[s->opt.reorder]);
    gn_json_double(j, "reorder_ms", s->reorder_ms);
    gn_json_string(j, "device", gn_cli_device_name(s));
    gn_json_int(j, "threads", s->pool ? gn_pool_threads(s->pool) : 0);
    json_pace(j, "step_pace", s->build.step.instance);
    json_pace(j, "infer_pace", s->build.eval.instance);
    gn_json_string(j, "mode", gn_mode_name[s->opt.mode]);
    gn_json_string(j, "matmul_precision", gn_precision_name[s->opt.precision]);
    if (s->opt.numbers) gn_json_string(j, "precision", gn_numbers_name[s->opt.numbers]);
    if (s->opt.gathers) gn_json_string(j, "gather_storage", gn_storage_name[s->opt.gathers]);
    if (s->opt.target)
        gn_json_string(j, "products",
                       gn_products_name[gn_products_way(s->opt.products, s->opt.mode,
                                                        s->opt.without.decisions)]);
    gn_json_string(j, "without", gn_without_text(s->arena, s->opt.without));
    for (int k = 0; k < GN_UNITS; k++)
        if (s->tuned[k])
            gn_json_string(j, gn_arena_printf(s->arena, "tuned_%s", gn_unit_name[k]),
                           gn_pick_text(s->arena, &s->tuned[k]->pick));
    json_cache(j, s);
}

const char *gn_cli_percent(char text[GN_CLI_PERCENT], double fraction, int digits)
{
    if (isnan(fraction)) return "-";
    snprintf(text, GN_CLI_PERCENT, "%.*f%%", digits, 100 * fraction);
    return text;
}

const char *gn_cli_bytes(char text[GN_CLI_BYTES], int64_t bytes)
{
    double mega = (double)bytes / 1e6;
    snprintf(text, GN_CLI_BYTES, "%.1f %s", mega < 1 ? mega * 1e3 : mega, mega < 1 ? "kB" : "MB");
    return text;
}

double gn_cli_median(double *x, int64_t n)
{
    gn_sort(x, n);
    return gn_quantile(x, n, 0.5);
}

void gn_cli_json_times(gn_json *j, const char *key, double *x, int64_t n)
{
    double median = gn_cli_median(x, n);
    gn_json_object(j, key);
    gn_json_double(j, "median", median);
    gn_json_double(j, "p10", gn_quantile(x, n, 0.1));
    gn_json_double(j, "p90", gn_quantile(x, n, 0.9));
    gn_json_end(j);
}

/* How many rows each pick has that a unit uses, least first. */
static void print_picks(const char *name, const gn_unit *u)
{
    enum { MOST = 64 };
    const gn_instance *in[] = {u->prepare, u->instance};
    int64_t rows[MOST], of = 0;
    int n = 0;
    for (int i = 0; i < 2; i++) {
        const gn_artifact *a = !in[i] ? NULL : i ? u->code->artifact : u->prepare_code->artifact;
        for (int k = 0; a && k < a->n_graphs && n < MOST; k++) {
            if (a->graphs[k].how != GN_SUBSET && a->graphs[k].how != GN_GROW) continue;
            const gn_graph *g = gn_instance_graph(in[i], k);
            int at = n;
            while (at > 0 && rows[at - 1] > g->n_dst) at--;
            if (at > 0 && rows[at - 1] == g->n_dst) continue;
            memmove(rows + at + 1, rows + at, (size_t)(n++ - at) * sizeof *rows);
            rows[at] = g->n_dst;
            of = g->n_src;
        }
    }
    if (n) fprintf(stderr, "%s, rows that are computed, by level:", name);
    for (int k = 0; k < n; k++) fprintf(stderr, " %lld", (long long)rows[k]);
    if (n) fprintf(stderr, " of %lld\n", (long long)of);
}

/* Copies, of weights mostly, are many and take next to nothing: a line for all. */
static void print_copies(const gn_unit *u, const int64_t *ns, int64_t runs)
{
    const gn_artifact *a = u->code->artifact;
    int64_t all = 0;
    int n = 0;
    for (int k = 0; k < a->n_launches; k++)
        if (a->launches[k].kind == GN_LAUNCH_COPY) all += ns[k], n++;
    if (n)
        fprintf(stderr, "  %10.2f  %d cop%s\n", (double)all / (double)runs * 1e-3, n,
                n == 1 ? "y" : "ies");
}

static void print_launch(double us, const gn_unit *u, int k)
{
    const char *form = gn_instance_form(u->instance, k);
    fprintf(stderr, "  %10.2f  %s%s%s%s\n", us, u->code->artifact->launches[k].name,
            form ? " (" : "", form ? form : "", form ? ")" : "");
}

void gn_cli_profile(const char *name, const gn_unit *u)
{
    if (!u->instance) return;
    print_picks(name, u);
    if (u->code->whole_why) fprintf(stderr, "%s runs %s\n", name, u->code->whole_why);
    if (u->code->quick_why) fprintf(stderr, "%s is %s\n", name, u->code->quick_why);
    int n = u->code->artifact->n_launches;
    int64_t runs = 0, *ns = calloc((size_t)n + 1, sizeof *ns);
    if (!ns) return;
    gn_instance_times(u->instance, ns, &runs);
    bool alone;
    int64_t all_ns, alone_ns;
    if (gn_instance_paced(u->instance, &alone, &all_ns, &alone_ns))
        fprintf(stderr, "%s runs on %s: all take %.1f us, one alone %.1f\n", name,
                alone ? "one thread" : "all threads", (double)all_ns * 1e-3,
                (double)alone_ns * 1e-3);
    if (runs) fprintf(stderr, "%s, microseconds a run:\n", name);
    for (int k = 0; k < n && runs; k++)
        if (u->code->artifact->launches[k].kind != GN_LAUNCH_COPY)
            print_launch((double)ns[k] / (double)runs * 1e-3, u, k);
    if (runs) print_copies(u, ns, runs);
    free(ns);
}
