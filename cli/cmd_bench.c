/* bench: modes against modes, each cell in processes of its own. */
#include "cli/bench/bench.h"
#include "cli/bench/output.h"
#include "cli/bench/tables.h"
#include "cli/text.h"
#include "cli/device_option.h"
#include "cli/session_options.h"

#include "build/build.h"
#include "cache/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#if defined(__clang__)
#define GNNC_COMPILED_BY "clang " __clang_version__
#elif defined(__GNUC__)
#define GNNC_COMPILED_BY "gcc " __VERSION__
#else
#define GNNC_COMPILED_BY "an unknown C compiler"
#endif

static volatile sig_atomic_t interrupted;

/* The first one lets the running cell go and writes what there is; a second one ends the program at
 * once. */
static void on_signal(int signal_number)
{
    interrupted = 1;
    signal(signal_number, SIG_DFL);
}

static const char *cpu_name(gn_arena *a)
{
    char line[512];
    const char *name = NULL;
    FILE *f = fopen("/proc/cpuinfo", "re");
    while (f && !name && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !colon) continue;
        line[strcspn(line, "\n")] = 0;
        name = gn_arena_strdup(a, colon + 1 + (colon[1] == ' '));
    }
    if (f) fclose(f);
    return name ? name : "unknown processor";
}

/* For a shell: words with anything but plain characters in single quotes. */
static void add_word(gn_buf *b, const char *word)
{
    static const char
        plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%";
    if (b->n) gn_buf_add(b, " ");
    if (*word && !word[strspn(word, plain)]) {
        gn_buf_add(b, word);
        return;
    }
    gn_buf_add(b, "'");
    for (const char *c = word; *c; c++)
        gn_buf_addn(b, *c == '\'' ? "'\\''" : c, *c == '\'' ? 4 : 1);
    gn_buf_add(b, "'");
}

/* The command that was typed, from the system's record of it. */
static const char *command_line(gn_arena *a)
{
    gn_buf all = {.arena = a}, out = {.arena = a};
    char bytes[4096];
    FILE *f = fopen("/proc/self/cmdline", "re");
    for (size_t n; f && (n = fread(bytes, 1, sizeof bytes, f)) > 0;) gn_buf_addn(&all, bytes, n);
    if (f) fclose(f);
    for (size_t at = 0; at < all.n; at += strlen(all.p + at) + 1) add_word(&out, all.p + at);
    return out.p ? out.p : "";
}

static void describe(gn_bench *b)
{
    struct utsname u;
    time_t now = time(NULL);
    struct tm t;
    char text[32];
    gmtime_r(&now, &t);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &t);
    b->started = gn_arena_strdup(b->arena, text);
    b->command = command_line(b->arena);
    b->cpu = cpu_name(b->arena);
    b->system = uname(&u) ? ""
                          : gn_arena_printf(b->arena, "%s %s %s", u.sysname, u.release, u.machine);
    b->compilers = gn_arena_printf(b->arena, "kernels by %s, gnnc by %s",
                                   GNNC_HAVE_LLVM ? "LLVM " GNNC_LLVM_VERSION : "no CPU back end",
                                   GNNC_COMPILED_BY);
    b->cores = gn_cores();
    b->memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
}

/* "bench-gcn" of samples/gcn.gnn; "bench-gcn-gat" of two. */
static const char *folder_for(const gn_bench *b)
{
    gn_buf name = {.arena = b->arena};
    gn_buf_add(&name, "bench");
    for (uint32_t k = 0; k < b->grid.models.n; k++) {
        const char *model = b->grid.models.p[k], *slash = strrchr(model, '/');
        const char *file = slash ? slash + 1 : model, *dot = strrchr(file, '.');
        size_t n = dot && dot > file ? (size_t)(dot - file) : strlen(file);
        gn_buf_add(&name, "-");
        gn_buf_addn(&name, file, n);
    }
    return name.p;
}

/* Is it a model on this data?  What is wrong with the data is not said here. */
static gn_status *elaborates(const gn_cli *cli, const char *model, const char *data)
{
    gn_cli one = *cli;
    gn_session_options o;
    one.args = (gn_string_list){.p = &model, .n = 1, .cap = 1};
    one.opt.data = data;
    one.cache = NULL;
    gn_status *status = gn_cli_session_options(&one, &o);
    gn_session *s = status ? NULL : gn_session_open(cli->arena, &o);
    if (s) status = gn_session_read(s);
    gn_session_free(s);
    gn_cache_free(one.cache);
    if (!status || gn_status_code(status) == GN_ERR_MODEL) return status;
    gn_status_free(status);
    return NULL;
}

/* Of several models one that is none is said at once, and not after the others' cells: one that is
 * wrong on the built-in graph and on the first data that were asked for. */
static gn_status *check_models(const gn_cli *cli, const gn_grid *g)
{
    if (g->models.n < 2) return NULL;
    if (cli->opt.weights)
        GN_FAIL(GN_ERR_USAGE, "--weights: of one model alone, and there are %u", g->models.n);
    for (uint32_t k = 0; k < g->models.n; k++) {
        const char *model = g->models.p[k];
        gn_status *s = elaborates(cli, model, NULL);
        if (s && *g->data.p[0]) {
            gn_status_free(s);
            s = elaborates(cli, model, g->data.p[0]);
        }
        if (!s) continue;
        gn_status *named = GN_ERROR(GN_ERR_MODEL, "%s: nothing was run, for this is no model:\n%s",
                                    model, gn_status_message(s));
        gn_status_free(s);
        return named;
    }
    return NULL;
}

static int64_t or_else(int64_t given, int64_t otherwise) { return given < 0 ? otherwise : given; }

/* What the exit status says: files were written in any case. */
static gn_status *conclude(const gn_bench *b)
{
    int ended = 0, well = 0;
    for (int k = 0; k < b->n_cells; k++) {
        ended += b->cells[k].end != GN_CELL_OPEN;
        well += b->cells[k].end == GN_CELL_OK;
    }
    if (b->partial)
        GN_FAIL(GN_ERR_INTERRUPTED,
                "interrupted: %d of %d cells are done, and %s holds them; --resume goes on", ended,
                b->n_cells, b->out);
    if (well) return NULL;
    const char *code = b->cells[0].cold.error_code;
    bool missing = code && !strcmp(code, gn_code_name(GN_ERR_BACKEND));
    GN_FAIL(missing ? GN_ERR_BACKEND : GN_ERR_MODEL, "no cell ended well; the first: %s",
            gn_cell_why(b->arena, &b->cells[0]));
}

/* A cell's cache is empty at first and holds whatever comes: no second folder, no limit. */
static void own_caches(void)
{
    unsetenv("GNNC_CACHE_BASE");
    unsetenv("GNNC_CACHE_SIZE");
}

static const char *models_text(const gn_cli *cli)
{
    gn_buf b = {.arena = cli->arena};
    for (uint32_t k = 0; k < cli->args.n; k++)
        gn_buf_printf(&b, "%s%s", k ? ", " : "", cli->args.p[k]);
    return b.p;
}

static gn_status *compare(gn_cli *cli, const gn_grid *grid)
{
    const gn_cli_options *o = &cli->opt;
    gn_bench b = {.cli = cli, .arena = cli->arena, .model = models_text(cli), .grid = *grid};
    gn_device_choice device;
    if (o->cache_dir)
        GN_FAIL(GN_ERR_USAGE,
                "--cache-dir: cells have caches of their own, which are empty at first");
    GN_TRY(gn_cli_device_of(cli, &device));
    if (device.gpu && grid->dynamic.n > 1)
        GN_FAIL(GN_ERR_USAGE,
                "--device %s: one setting of --dynamic alone; several are compared on graphs that "
                "change, which run "
                "on this processor",
                o->device);
    bool less = o->precision && strcmp(o->precision, "highest") != 0 && !device.gpu;
    bool pairs = gn_cpu_limits(o->cpu).pairs, medium = less && !strcmp(o->precision, "medium");
    if (less && !o->quiet && !(pairs && medium))
        fprintf(stderr, GN_CLI_EXACT, o->precision,
                pairs ? "this processor rounds them to bf16, which is less"
                      : "this processor has no others");
    b.out = o->output ? o->output : folder_for(&b);
    b.eval_only = o->what && !strcmp(o->what, "eval");
    b.compile_only = o->compile_only;
    bool rounded = (o->gathers && strcmp(o->gathers, "float32") != 0) ||
                   (o->numbers && strcmp(o->numbers, "float32") != 0) || (pairs && medium);
    b.tolerance = rounded ? GN_BENCH_TOLERANCE_ROUNDED : GN_BENCH_TOLERANCE;
    b.warmup = o->warmup;
    b.repeat = o->repeat;
    b.epochs = o->epochs;
    b.timeout_s = or_else(o->timeout, GN_BENCH_TIMEOUT);
    if (!o->resume && gn_bench_has_results(b.arena, b.out))
        GN_FAIL(GN_ERR_USAGE,
                "%s holds results already: --resume goes on with them, -o names another folder",
                b.out);
    own_caches();
    describe(&b);
    GN_TRY(gn_bench_plan(&b));
    GN_TRY(check_models(cli, grid));
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    GN_TRY(gn_bench_run(&b, o->resume, &interrupted));
    GN_TRY(gn_bench_write(&b));
    o->json ? gn_write_results(&b, stdout) : gn_write_recommendations(&b, stdout);
    if (!gn_has_workbook() && !o->quiet)
        fprintf(stderr, "no workbook: %s\n", gn_workbook_missing());
    if (!o->quiet) fprintf(stderr, "%s/report.html has charts and tables\n", b.out);
    return conclude(&b);
}

static gn_status *bench(gn_cli *cli)
{
    gn_cli_options *o = &cli->opt;
    gn_grid grid;
    gn_grid_text text = {
        .data = o->data, .modes = o->modes, .dynamic = o->dynamic_list, .threads = o->thread_list};
    GN_TRY(gn_grid_parse(cli->arena, &text, &grid));
    grid.models = cli->args;
    o->warmup = or_else(o->warmup, GN_BENCH_WARMUP);
    o->repeat = or_else(o->repeat, GN_BENCH_REPEAT);
    o->epochs = or_else(o->epochs, GN_BENCH_EPOCHS);
    return o->cell ? gn_bench_measure(cli, &grid) : compare(cli, &grid);
}

const gn_command gn_command_bench = {
    .name = "bench",
    .usage = "bench MODEL.gnn... [options]",
    .summary = "compare compile modes, and models, on graphs",
    .about = "Measures models under every combination of modes, graphs, threads and dynamic "
             "settings: compilation "
             "(with an\n"
             "empty cache, and with the kernels in it), inference, training steps, memory.  Every "
             "combination runs\n"
             "in processes of its own, so that one that fails is a row and not the end.  Results "
             "are compared with\n"
             "those of eager (of the first mode where eager is not among them).\n"
             "The folder gets report.html, results.json, results.csv, tables.tex, tables.md, "
             "report.xlsx,\n"
             "recommendations.txt (printed too) and config.json.  Exit status 0: some cell ended "
             "well.\n",
    .examples = "  gnnc bench gcn.gnn                                 on the built-in graph\n"
                "  gnnc bench gcn.gnn --data cora,citeseer --modes all --threads 1,2 -o results\n"
                "  gnnc bench gcn.gnn --data cora,citeseer --modes all --threads 1,2 -o results "
                "--resume\n"
                "  gnnc bench gcn.gnn gat.gnn sage.gnn --data cora    three models, one report\n"
                "  gnnc bench gat.gnn --data synthetic:nodes=10000,edges=100000 --timeout 60\n"
                "  gnnc bench gcn.gnn --data cora --device cuda --modes default,reduce-overhead\n",
    .takes_model = true,
    .min_args = 1,
    .max_args = -1,
    .run = bench,
};
