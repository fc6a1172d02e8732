#include "cli/irfile.h"
#include "cli/session_options.h"

#include "base/nearest.h"
#include "codegen/backend.h"
#include "ir/kir_simplify.h"
#include "passes/passes.h"

#include <stdlib.h>
#include <string.h>

static gn_status *unknown_pass(const char *name)
{
    const char *names[64];
    size_t n = 0;
    for (int k = 0; k < gn_pass_count && n < 60; k++) names[n++] = gn_passes[k].name;
    names[n++] = "fuse";
    names[n++] = "lower";
    GN_FAIL(GN_ERR_USAGE, "--passes: there is no pass '%s'%s", name,
            gn_did_you_mean(name, names, n).text);
}

static gn_status *read_levels(const char *text, int *out)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (end == text || *end || n < 0 || n > GN_MOST_LEVELS)
        GN_FAIL(GN_ERR_USAGE, "-D levels=%s: expected a number from 0 to %d", text, GN_MOST_LEVELS);
    *out = (int)n;
    return NULL;
}

static gn_status *read_nonzeros(const char *text, int64_t *out)
{
    char *end;
    *out = strtoll(text, &end, 10);
    if (*end || *out <= 0) GN_FAIL(GN_ERR_USAGE, "-D nonzeros=%s: expected a number above 0", text);
    return NULL;
}

static gn_status *read_values(const char *text, gn_nonzeros *out)
{
    int k;
    GN_TRY(gn_choose("kind of values", text, gn_nonzeros_name, GN_NONZEROS_COUNT, &k));
    *out = (gn_nonzeros)k;
    return NULL;
}

/* Rows of each level and edges into them, and of all rows: 2:3,5:9,10:20 is two levels. */
static gn_status *read_rows(const char *text, gn_pass_options *o)
{
    const char *at = text;
    for (int n = 0; n <= GN_MOST_LEVELS; n++) {
        gn_row_count c = {0, -1};
        char *end;
        c.rows = strtoll(at, &end, 10);
        if (*end == ':') c.edges = strtoll(end + 1, &end, 10);
        if (c.rows <= 0 || c.edges < 0 || (*end && *end != ',')) break;
        o->levels = n;
        o->facts.all = c;
        if (!*end) return NULL;
        if (n < GN_MOST_LEVELS) o->facts.level[n] = c;
        at = end + 1;
    }
    GN_FAIL(GN_ERR_USAGE,
            "-D rows=%s: expected ROWS:EDGES of each level, %d at most, and of all rows, as in "
            "2:3,10:20",
            text, GN_MOST_LEVELS);
}

typedef GN_VEC(gn_ends) ends_list;

/* A graph that joins one row in a thousand. */
static gn_ends few_rows(const char *graph) { return (gn_ends){graph, 1000, 1000, 1, 1}; }

enum { MOST_KINDS = 1000 };

/* few=GRAPH, or few=GRAPH:COLUMN:N: into rows that are picked of a loss's, edges whose column is
 * 0..N-1, each number of which joins few rows. */
static gn_status *read_few(gn_arena *a, const char *text, ends_list *out)
{
    const char *colon = strchr(text, ':'), *last = strrchr(text, ':');
    char *end = NULL;
    gn_ends e = few_rows(text);
    if (!colon) {
        GN_PUSH(a, *out, e);
        return NULL;
    }
    long n = last > colon + 1 ? strtol(last + 1, &end, 10) : 0;
    if (colon == text || n < 1 || n > MOST_KINDS || !end || *end)
        GN_FAIL(GN_ERR_USAGE, "-D few=%s: expected GRAPH, or GRAPH:COLUMN:N, N of 1..%d", text,
                MOST_KINDS);
    e.name = gn_arena_printf(a, "%.*s", (int)(colon - text), text);
    e.column = gn_arena_printf(a, "%.*s", (int)(last - colon - 1), colon + 1);
    e.picked = true;
    for (e.value = 0; e.value < n; e.value++) GN_PUSH(a, *out, e);
    return NULL;
}

/* Inputs named by -D sparse=NAME are bound as CSR, those of -D fixed=NAME the same in every run; -D
 * levels=N: of rows that restrict_rows may pick; -D few=NAME: a graph that joins few rows, or has
 * kinds of edges that do; -D values=KIND (of the sparse ones), -D nonzeros=N and -D
 * rows=ROWS:EDGES,... are facts of the data.
 */
static gn_status *pass_options(const gn_cli *cli, gn_pass_options *out)
{
    gn_pass_options o = {.limit = (int)cli->opt.pass_limit, .verify = true};
    const char **sparse = GN_NEW_N(cli->arena, const char *, cli->opt.defines.n + 1);
    const char **fixed = GN_NEW_N(cli->arena, const char *, cli->opt.defines.n + 1);
    ends_list ends = {0};
    gn_nonzeros known = GN_NONZEROS_ANY;
    for (size_t k = 0; k < (size_t)cli->opt.defines.n; k++) {
        const char *d = cli->opt.defines.p[k];
        if (strncmp(d, "sparse=", 7) == 0)
            sparse[o.n_sparse++] = d + 7;
        else if (strncmp(d, "few=", 4) == 0)
            GN_TRY(read_few(cli->arena, d + 4, &ends));
        else if (strncmp(d, "levels=", 7) == 0)
            GN_TRY(read_levels(d + 7, &o.levels));
        else if (strncmp(d, "values=", 7) == 0)
            GN_TRY(read_values(d + 7, &known));
        else if (strncmp(d, "nonzeros=", 9) == 0)
            GN_TRY(read_nonzeros(d + 9, &o.facts.nonzeros));
        else if (strncmp(d, "rows=", 5) == 0)
            GN_TRY(read_rows(d + 5, &o));
        else if (strncmp(d, "fixed=", 6) == 0)
            fixed[o.n_fixed++] = d + 6;
        else
            GN_FAIL(GN_ERR_USAGE,
                    "-D %s: expected sparse=NAME, values=rows or ones, fixed=NAME, levels=N, "
                    "few=GRAPH, few=GRAPH:COLUMN:N, nonzeros=N or rows=ROWS:EDGES,...",
                    d);
    }
    gn_nonzeros *nonzeros = GN_NEW_N(cli->arena, gn_nonzeros, (size_t)o.n_sparse + 1);
    for (int k = 0; k < o.n_sparse; k++) nonzeros[k] = known;
    o.nonzeros = nonzeros;
    o.sparse = sparse;
    o.ends = ends.p;
    o.n_ends = (int)ends.n;
    o.fixed = fixed;
    GN_TRY(gn_cli_without(cli, &o.without));
    gn_numbers numbers;
    GN_TRY(gn_storage_by_name(cli->opt.gathers, &o.gathers));
    GN_TRY(gn_numbers_by_name(cli->opt.numbers, &numbers));
    o.kept = gn_numbers_kept[numbers];
    GN_TRY(
        gn_status_annotate(gn_wide_sorted(cli->arena, cli->opt.wide, &o.wide), "--keep-float32"));
    o.eager = cli->opt.mode && !strcmp(cli->opt.mode, "eager");
    *out = o;
    return NULL;
}

static gn_status *lower_and_print(const gn_cli *cli, const gir_program *p, gn_switches off,
                                  bool kernels, gn_buf *out)
{
    fu_options fo = {.eager = cli->opt.mode && !strcmp(cli->opt.mode, "eager"), .off = off};
    fusion *f = gn_fuse(cli->arena, p, &fo);
    if (!kernels) {
        gn_fusion_print(f, out);
        return NULL;
    }
    low_options lo = {.limits = gn_cpu_limits(NULL), .index = GN_I32, .off = off};
    lowered *low;
    GN_TRY(gn_lower(cli->arena, f, &lo, &low));
    for (uint32_t k = 0; k < low->launches.n; k++)
        if (low->launches.p[k].kernel) kir_print(low->launches.p[k].kernel, out);
    return NULL;
}

/* The passes of --passes in order; fuse and lower end the list, since what they make is no tensor
 * IR. */
static gn_status *run_list(const gn_cli *cli, gir_program *p, const gn_pass_options *o, gn_buf *out)
{
    char *list = gn_arena_strdup(cli->arena, cli->opt.passes), *rest = list;
    for (char *name; (name = strtok_r(rest, ",", &rest));) {
        bool fuse = !strcmp(name, "fuse"), lower = !strcmp(name, "lower");
        if (fuse || lower) return lower_and_print(cli, p, o->without.decisions, lower, out);
        const gn_pass *pass = gn_pass_by_name(name);
        if (!pass) return unknown_pass(name);
        GN_TRY(pass->run(cli->arena, p, o, &p));
        GN_TRY(gir_verify(p));
    }
    gir_print(p, out);
    return NULL;
}

static gn_status *opt(gn_cli *cli)
{
    gn_ir ir;
    gn_pass_options o;
    gn_buf out = {.arena = cli->arena};
    GN_TRY(pass_options(cli, &o));
    if (cli->opt.list) {
        gn_switches_list(&out);
        return gn_cli_write_text(cli->opt.output, &out);
    }
    if (cli->args.n == 0)
        GN_FAIL(GN_ERR_USAGE, "'opt' needs a file\n  usage: gnnc %s", gn_command_opt.usage);
    GN_TRY(gn_cli_read_ir(cli, cli->args.p[0], &ir));
    gn_buf_add(&out, "");
    if (ir.kernel) {
        GN_TRY(low_clean(ir.kernel));
        kir_print(ir.kernel, &out);
    } else if (cli->opt.passes) {
        GN_TRY(run_list(cli, ir.program, &o, &out));
    } else {
        gir_program *p;
        GN_TRY(gn_passes_run(cli->arena, ir.program, &o, NULL, &p));
        gir_print(p, &out);
    }
    return gn_cli_write_text(cli->opt.output, &out);
}

const gn_command gn_command_opt = {
    .name = "opt",
    .usage = "opt FILE [options]",
    .summary = "run passes over IR text",
    .about = "Reads tensor IR as text, runs passes over it and prints what they leave; - reads "
             "standard input.\n"
             "The names of the passes are those of src/passes/passes.h; `fuse` prints regions and "
             "`lower` kernels,\n"
             "and end a list.  A file that holds a kernel in loop IR is cleaned up and printed.\n"
             "-D sparse=NAME says that an input is bound as CSR, -D fixed=NAME that it is the same "
             "in every run, and\n"
             "-D levels=N that restrict_rows may pick rows up to N levels from a mask.  -D "
             "values=rows says that the\n"
             "non-zeros of a row of sparse inputs are equal, values=ones that all are 1.  -D "
             "nonzeros=N, of sparse\n"
             "inputs, and -D rows=R:E,...,R:E, of each level and of all, with the edges into them, "
             "are what dense-once\n"
             "decides by.\n",
    .examples = "  gnnc opt f.gir                            the pipeline of the default mode\n"
                "  gnnc opt f.gir --passes simplify,factor   two passes\n"
                "  gnnc opt f.gir --passes simplify,lower    the kernels\n"
                "  gnnc opt f.gir --pass-limit 3             which pass breaks it?\n"
                "  gnnc opt f.gir --without factor           the pipeline but for one pass\n"
                "  gnnc opt --list                           passes and decisions that have a "
                "switch\n",
    .min_args = 0,
    .max_args = 1,
    .run = opt,
};
