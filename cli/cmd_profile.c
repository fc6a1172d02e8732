/* gnnc profile: where the time and the memory of training steps go, by layer, by line, by
 * kernel. */
#include "cli/cmd_profile.h"

#include "base/outfile.h"
#include "cli/cmd_explain.h"
#include "cli/text.h"
#include "compile/kernel_name.h"
#include "frontend/ast.h"

#include <math.h>
#include <string.h>

/* Names ---------------------------------------------------------------------------------------- */

const char *gn_profile_line(const gn_cli_profile_of *z, gir_loc at)
{
    const gir_program *g = z->p->code->gir;
    if (!at.own || !g->files.n) return "-";
    const char *file = g->files.p[0], *slash = strrchr(file, '/');
    return gn_arena_printf(z->arena, "%s:%u", slash ? slash + 1 : file, (unsigned)at.own);
}

const char *gn_profile_source(const gn_cli_profile_of *z, gir_loc at)
{
    const gn_source *src = z->s->ast->src;
    if (!at.own || at.own > src->n_lines) return "";
    const char *line = src->text + src->line_at[at.own - 1];
    line += strspn(line, " \t");
    size_t n = strcspn(line, "\r\n");
    return gn_arena_strndup(z->arena, line, n);
}

const char *gn_profile_row_name(const gn_cli_profile_of *z, gn_profile_by by,
                                const gn_profile_row *r)
{
    if (by == GN_PROFILE_LAYER) return gn_layer_name(z->p->code->gir, r->loc);
    if (by == GN_PROFILE_KERNEL) return z->p->kernel[r->kernel].words;
    return r->loc.own ? gn_profile_line(z, r->loc) : gn_layer_name(z->p->code->gir, r->loc);
}

const char *gn_profile_overhead(const gn_cli_profile_of *z)
{
    double more = z->p->traced_us / z->p->bare_us - 1;
    if (!(more > 0)) return "less than can be told";
    return gn_arena_printf(z->arena, "%.1f %%", 100 * more);
}

static double part_of(const gn_profile *p, double us) { return p->us > 0 ? us / p->us : 0; }

/* What binds, in words. */
static const char *binds(gn_bound_by by)
{
    static const char *const words[] = {"reading and writing memory", "gathering rows along edges",
                                        "arithmetic", "functions (exponentials, divisions)",
                                        "nothing that is counted"};
    return words[by];
}

/* The layer that takes most, forward and backward together: of its rows the first, *us and by
 * part. */
static const gn_profile_row *heaviest(const gn_profile_row *row, int n, double *us, double *of)
{
    const gn_profile_row *top = row;
    *us = -1;
    for (int k = 0; k < n; k++) {
        double all = 0, way[GIR_WAYS] = {0};
        for (int i = 0; i < n; i++)
            if (row[i].loc.layer == row[k].loc.layer) way[row[i].loc.way] += row[i].us;
        for (int w = 0; w < GIR_OPTIMIZER; w++) all += way[w];
        if (all <= *us || row[k].loc.way == GIR_OPTIMIZER) continue;
        *us = all;
        memcpy(of, way, sizeof way);
        top = &row[k];
    }
    return top;
}

static void say_bound(const gn_cli_profile_of *z, const gn_profile_row *top, gn_buf *b)
{
    static const char *const where[] = {"Forward", "Backward", "There"};
    bool step = !strcmp(z->p->name, "step");
    gn_buf_printf(b, "%s, it is bound by %s", where[step ? top->loc.way : GIR_OPTIMIZER],
                  binds(top->by));
    if (top->bound_us > 0 && top->us > 0)
        gn_buf_printf(b, ": %.1f times the least time for that", top->us / top->bound_us);
    if (top->wait_us > 0.3 * top->us)
        gn_buf_printf(b, ", while threads wait %.0f %% of it", 100 * top->wait_us / top->us);
    gn_buf_add(b, ".");
}

const char *gn_profile_verdict(const gn_cli_profile_of *z)
{
    const gn_profile *p = z->p;
    int n;
    double way[GIR_WAYS] = {0}, of[GIR_WAYS] = {0}, most, waits = 0;
    const gn_profile_row *row = gn_profile_rows(z->arena, p, GN_PROFILE_LAYER, &n), *top;
    gn_buf b = {.arena = z->arena};
    if (!n) return "Nothing ran.";
    bool step = !strcmp(p->name, "step");
    top = heaviest(row, n, &most, of);
    for (int k = 0; k < n; k++) {
        way[row[k].loc.way] += row[k].us;
        waits += row[k].wait_us;
    }
    gn_buf_printf(&b, "%s takes most, %.0f %% of %s", gn_layer_name(p->code->gir, top->loc),
                  100 * part_of(p, most), step ? "a step" : "a run");
    if (step)
        gn_buf_printf(&b, ": %.0f %% forward, %.0f %% backward", 100 * part_of(p, of[GIR_FORWARD]),
                      100 * part_of(p, of[GIR_BACKWARD]));
    gn_buf_add(&b, ". ");
    say_bound(z, top, &b);
    if (step)
        gn_buf_printf(&b,
                      " All layers together: forward %.0f %%, backward %.0f %%, the optimizer "
                      "%.0f %%.",
                      100 * part_of(p, way[GIR_FORWARD]), 100 * part_of(p, way[GIR_BACKWARD]),
                      100 * part_of(p, way[GIR_OPTIMIZER]));
    if (part_of(p, p->rest_us) > 0.2)
        gn_buf_printf(&b,
                      " For %.0f %% of the time nobody is in a kernel: threads wake up, or other "
                      "programs have the processors.",
                      100 * part_of(p, p->rest_us));
    if (p->used > 1) gn_buf_printf(&b, " Threads wait %.0f %%.", 100 * part_of(p, waits));
    return b.p;
}

static int larger(const gn_profile_held *a, const gn_profile_held *b)
{
    return a->bytes > b->bytes;
}

gn_profile_held *gn_profile_held_by_layer(const gn_cli_profile_of *z, int *n)
{
    const gn_profile *p = z->p;
    gn_profile_held *out = GN_NEW_N(z->arena, gn_profile_held, p->n_held + 1);
    *n = 0;
    for (int i = 0; i < p->n_held; i++) {
        const gn_profile_held *h = &p->held[i];
        int k = 0;
        while (k < *n && (out[k].loc.layer != h->loc.layer || out[k].loc.way != h->loc.way)) k++;
        if (k == *n) {
            out[k] = (gn_profile_held){.loc = h->loc};
            ++*n;
        }
        out[k].bytes += h->bytes;
    }
    for (int i = 1; i < *n; i++)
        for (int k = i; k > 0 && larger(&out[k], &out[k - 1]); k--) {
            gn_profile_held t = out[k];
            out[k] = out[k - 1];
            out[k - 1] = t;
        }
    return out;
}

/* Text ----------------------------------------------------------------------------------------- */

enum { SHOWN = 40, NAME = 32, LINE = 18, SOURCE = 38 };

static int name_width(gn_profile_by by) { return by == GN_PROFILE_LINE ? LINE : NAME; }

static void print_head(const gn_cli_profile_of *z)
{
    const gn_profile *p = z->p;
    const gn_session *s = z->s;
    bool step = !strcmp(p->name, "step");
    printf("model %s on %s, %s, mode %s, %d thread%s", s->model->name, s->data->name,
           step ? "training steps" : "inference", gn_mode_name[s->opt.mode], p->threads,
           p->threads > 1 ? "s" : "");
    if (p->threads > 1 && p->used == 1) printf(", of which one alone is faster");
    printf("\n%s: %s, the median of %lld (a tenth below %s, a tenth above %s)\n",
           step ? "a step" : "a run", gn_text_time(z->arena, p->us), (long long)p->steps,
           gn_text_time(z->arena, p->low_us), gn_text_time(z->arena, p->high_us));
    printf("timing adds %s: %s with it, %s without, in turn\n", gn_profile_overhead(z),
           gn_text_time(z->arena, p->traced_us), gn_text_time(z->arena, p->bare_us));
    if (p->lost)
        printf("%lld events were lost: what a thread did then counts as outside of kernels\n",
               (long long)p->lost);
    printf("\n");
    gn_cli_print_words("in short", gn_profile_verdict(z));
}

static void print_figures(const gn_cli_profile_of *z, double us, double wait, double bound)
{
    printf(" %9.2f %5.1f %6.1f", us, 100 * part_of(z->p, us), us > 0 ? 100 * wait / us : 0);
    bound > 0 && us > 0 ? printf(" %9.2f %5.0f%%", bound, 100 * bound / us)
                        : printf(" %9s %6s", "-", "-");
}

static void print_row(const gn_cli_profile_of *z, gn_profile_by by, const gn_profile_row *r)
{
    const char *name = gn_profile_row_name(z, by, r);
    printf(" %-*.*s", name_width(by), name_width(by), name);
    if (by != GN_PROFILE_KERNEL) printf(" %-9s", gir_way_name[r->loc.way]);
    print_figures(z, r->us, r->wait_us, r->bound_us);
    printf("%s %-9s", r->estimated ? "~" : " ", gn_bound_text[r->by]);
    if (by == GN_PROFILE_LINE) {
        printf("  %.*s\n", SOURCE, gn_profile_source(z, r->loc));
        return;
    }
    printf(" %8s %8s %7d\n", gn_cli_amount(z->arena, r->bytes, "B"),
           gn_cli_amount(z->arena, r->flops, ""), by == GN_PROFILE_KERNEL ? r->kernel : r->kernels);
}

static void print_table(const gn_cli_profile_of *z, gn_profile_by by)
{
    static const char *const title[] = {"layer", "line", "kernel"};
    const gn_profile *p = z->p;
    int n, shown;
    bool estimated = false;
    const gn_profile_row *row = gn_profile_rows(z->arena, p, by, &n);
    printf("\n %-*s", name_width(by), title[by]);
    if (by != GN_PROFILE_KERNEL) printf(" %-9s", "part");
    printf(" %9s %5s %6s %9s %6s  %-9s", "us", "%", "wait %", "bound us", "of us", "bound by");
    if (by == GN_PROFILE_LINE)
        printf("  source\n");
    else
        printf(" %8s %8s %7s\n", "bytes", "flops", by == GN_PROFILE_KERNEL ? "number" : "kernels");
    shown = n > SHOWN ? SHOWN : n;
    for (int k = 0; k < shown; k++) {
        print_row(z, by, &row[k]);
        estimated = estimated || row[k].estimated;
    }
    if (n > shown) printf(" and %d more rows, all of them with --json\n", n - shown);
    int width = by == GN_PROFILE_KERNEL ? NAME : name_width(by) + 10;
    double us = 0, wait = 0;
    for (int k = 0; k < n; k++) {
        us += row[k].us;
        wait += row[k].wait_us;
    }
    printf(" %-*s", width, "outside of kernels");
    print_figures(z, p->rest_us, 0, 0);
    printf("\n %-*s", width, "all");
    print_figures(z, us + p->rest_us, wait, p->bound_us);
    printf("\n");
    if (estimated)
        printf("\n ~ a kernel does the work of several layers or parts: split by the bound of "
               "each, an estimate\n");
}

static void print_memory(const gn_cli_profile_of *z)
{
    const gn_profile *p = z->p;
    gn_memory m = gn_session_memory(z->s);
    gn_arena *a = z->arena;
    if (!p->n) return;
    printf("\nmemory: %s in all, of which %s temporaries; most are alive, %s, in kernel %d:\n",
           gn_cli_amount(a, (double)m.total, "B"), gn_cli_amount(a, (double)m.arena, "B"),
           gn_cli_amount(a, (double)p->kernel[p->peak].alive, "B"), p->peak);
    gn_cli_print_words("in", p->kernel[p->peak].words);
    int n;
    const gn_profile_held *h = gn_profile_held_by_layer(z, &n);
    for (int k = 0; k < n && k < 8; k++)
        printf(" %-*.*s %-9s %9s\n", NAME, NAME, gn_layer_name(p->code->gir, h[k].loc),
               gir_way_name[h[k].loc.way], gn_cli_amount(a, (double)h[k].bytes, "B"));
    if (n > 8) printf(" and %d more\n", n - 8);
}

static void print_text(const gn_cli_profile_of *z, gn_profile_by by)
{
    print_head(z);
    print_table(z, by);
    print_memory(z);
}

/* The command ---------------------------------------------------------------------------------- */

static gn_status *write_file(const gn_cli_profile_of *z, const char *path, const char *option,
                             void (*write)(const gn_cli_profile_of *, FILE *))
{
    gn_out o;
    if (!path) return NULL;
    GN_TRY(gn_status_annotate(gn_out_open(&o, path), "%s", option));
    write(z, o.f);
    return gn_out_close(&o, NULL);
}

static gn_status *check(const gn_cli *cli)
{
    GN_TRY(gn_cli_check_output(cli, "--trace", cli->opt.trace));
    GN_TRY(gn_cli_check_output(cli, "--html", cli->opt.html));
    if (cli->opt.trace && cli->opt.html &&
        (!strcmp(cli->opt.trace, cli->opt.html) || gn_cli_same_file(cli->opt.trace, cli->opt.html)))
        GN_FAIL(GN_ERR_USAGE, "--trace and --html name one file");
    return NULL;
}

static gn_profile_by chosen_by(const gn_cli *cli)
{
    const char *by = cli->opt.by ? cli->opt.by : "layer";
    return !strcmp(by, "line")     ? GN_PROFILE_LINE
           : !strcmp(by, "kernel") ? GN_PROFILE_KERNEL
                                   : GN_PROFILE_LAYER;
}

static gn_status *report(gn_cli *cli, gn_session *s)
{
    gn_ceilings c;
    gn_profile p;
    gn_cli_profile_of z = {cli->arena, s, &c, &p};
    GN_TRY(gn_ceilings_measure(cli->arena, s->pool, &c));
    GN_TRY(gn_profile_session(cli->arena, s, &c, cli->opt.steps > 0 ? cli->opt.steps : 0, &p));
    GN_TRY(write_file(&z, cli->opt.trace, "--trace", gn_profile_trace));
    GN_TRY(write_file(&z, cli->opt.html, "--html", gn_profile_page));
    if (cli->opt.json)
        gn_profile_json(&z, stdout);
    else
        print_text(&z, chosen_by(cli));
    return NULL;
}

static gn_status *profile(gn_cli *cli)
{
    gn_session_options o;
    gn_session *s;
    GN_TRY(check(cli));
    GN_TRY(gn_cli_session_options(cli, &o));
    GN_TRY(gn_cli_session_new(cli, &o, &s));
    gn_cli_describe(cli, s);
    gn_status *status = report(cli, s);
    gn_session_free(s);
    return status;
}

const gn_command gn_command_profile = {
    .name = "profile",
    .usage = "profile MODEL.gnn [options]",
    .summary = "say where the time and the memory of training steps go",
    .about = "Trains a fresh model for some steps and says where their time goes: by layer of the "
             "model, by its lines or\n"
             "by kernel, forward, backward and the optimizer apart; how much of it threads wait; "
             "the "
             "least that this\n"
             "machine needs for it (measured ceilings, as `gnnc explain` has them), and what that "
             "is "
             "bound by; and which\n"
             "layers have memory at the peak.  Times are medians over real steps on all threads.  "
             "Every second step is\n"
             "not timed, which tells what timing costs.  A kernel that does the work of several "
             "layers "
             "is split among\n"
             "them by the bound of each, an estimate.  Nothing that was learnt is kept.\n",
    .examples = "  gnnc profile gat.gnn --data cora\n"
                "  gnnc profile gat.gnn --data cora --by line\n"
                "  gnnc profile gat.gnn --html profile.html     flame, timeline and memory\n"
                "  gnnc profile gat.gnn --trace trace.json      for https://ui.perfetto.dev\n"
                "  gnnc profile gat.gnn --what eval --json\n",
    .takes_model = true,
    .min_args = 1,
    .max_args = 1,
    .run = profile,
};
