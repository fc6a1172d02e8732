/* runner: cell after cell, each in two processes: one that compiles with nothing cached, one that
 * finds the kernels. */
#include "cli/bench/bench.h"
#include "cli/bench/child.h"
#include "cli/text.h"

#include "base/outfile.h"
#include "compile/compile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct runner {
    gn_bench *b;
    const volatile sig_atomic_t *stop;
    bool terminal; /* a line may rewrite itself */
    int done, todo;
    double spent_ms; /* on those that were done in this process */
} runner;

/* Files ---------------------------------------------------------------------------------------- */

static const char *path_of(const runner *r, const gn_cell *c, const char *suffix)
{
    return gn_arena_printf(r->b->arena, "%s/cells/%s%s", r->b->out, c->id, suffix);
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)s, (void)kind, (void)at;
    remove(path);
    return 0;
}

/* A file or a folder with what is in it; links are not followed. */
static void remove_all(const char *path) { nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

/* What processes that were killed left in cells/: files that they were writing, caches of theirs.
 * Nobody writes there now. */
static void remove_left(const runner *r)
{
    const char *folder = gn_arena_printf(r->b->arena, "%s/cells", r->b->out);
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        const char *dot = strrchr(e->d_name, '.');
        if (dot && (!strcmp(dot, ".tmp") || !strcmp(dot, ".cache")))
            remove_all(gn_arena_printf(r->b->arena, "%s/%s", folder, e->d_name));
    }
    if (d) closedir(d);
}

static gn_status *make_folder(const char *path)
{
    if (mkdir(path, 0777) && errno != EEXIST) GN_FAIL(GN_ERR_IO, "%s: %s", path, strerror(errno));
    return NULL;
}

static gn_status *keep_cell(const runner *r, const gn_cell *c)
{
    gn_out o;
    GN_TRY(gn_out_open(&o, path_of(r, c, ".json")));
    gn_json j;
    gn_json_init(&j, o.f, true);
    gn_cell_json(&j, c);
    return gn_out_close(&o, NULL);
}

/* Starting a cell ------------------------------------------------------------------------------ */

typedef struct command {
    gn_arena *arena;
    GN_VEC(char *) argv;
} command;

static void add(command *c, const char *word)
{
    GN_PUSH(c->arena, c->argv, gn_arena_strdup(c->arena, word));
}

static void add_option(command *c, const char *name, const char *value)
{
    if (value) add(c, gn_arena_printf(c->arena, "--%s=%s", name, value));
}

static void add_count(command *c, const char *name, int64_t value)
{
    if (value >= 0) add(c, gn_arena_printf(c->arena, "--%s=%" PRId64, name, value));
}

static void add_all(command *c, const char *name, const gn_string_list *list)
{
    for (uint32_t k = 0; k < list->n; k++) add_option(c, name, list->p[k]);
}

/* What a cell's processes have in common. */
static void add_settings(command *m, const runner *r, const gn_cell *c)
{
    const gn_cli_options *o = &r->b->cli->opt;
    add_option(m, "cache-dir", path_of(r, c, ".cache"));
    if (*c->data) add_option(m, "data", c->data);
    add_option(m, "dynamic", c->dynamic);
    add_count(m, "threads", c->threads);
    add_all(m, "define", &o->defines);
    add_all(m, "without", &o->without);
    add_option(m, "only", o->only);
    add_option(m, "model", o->model);
    add_count(m, "classes", o->classes);
    add_option(m, "features", o->features);
    add_option(m, "normalize-features", o->normalize);
    add_option(m, "undirected", o->undirected);
    add_option(m, "reorder", o->reorder);
    add_option(m, "device", o->device);
    add_option(m, "matmul-precision", o->precision);
    add_option(m, "products", o->products);
    add_option(m, "precision", o->numbers);
    add_option(m, "gather-storage", o->gathers);
    add_option(m, "weights", o->weights);
    if (o->tune_budget >= 0)
        add_option(m, "tune-budget", gn_arena_printf(r->b->arena, "%.9g", o->tune_budget));
    add_count(m, "split", o->split);
    add_count(m, "seed", o->seed);
    add(m, "--quiet");
}

static char *const *finish(command *m, const gn_cell *c)
{
    add(m, "--");
    add(m, c->model);
    GN_PUSH(m->arena, m->argv, NULL);
    return m->argv.p;
}

/* This same program, measuring one cell. */
static char *const *command_of(const runner *r, const gn_cell *c, const char *to, bool compile_only)
{
    const gn_bench *b = r->b;
    command m = {.arena = b->arena};
    add(&m, "/proc/self/exe");
    add(&m, "bench");
    add_option(&m, "cell", to);
    add_option(&m, "modes", c->mode);
    add_option(&m, "what", b->cli->opt.what);
    add_count(&m, "warmup", b->warmup);
    add_count(&m, "repeat", b->repeat);
    add_count(&m, "epochs", b->epochs);
    if (compile_only) add(&m, "--compile-only");
    add_settings(&m, r, c);
    return finish(&m, c);
}

/* This same program, on graphs that change; as many recompilations as it takes. */
static char *const *changing_of(const runner *r, const gn_cell *c)
{
    command m = {.arena = r->b->arena};
    add(&m, "/proc/self/exe");
    add(&m, "run");
    add_option(&m, "mode", c->mode);
    add_count(&m, "batches", GN_BENCH_BATCHES);
    add_count(&m, "recompile-limit", GN_BENCH_BATCHES);
    add(&m, "--json");
    add_settings(&m, r, c);
    return finish(&m, c);
}

/* How a process ended -------------------------------------------------------------------------- */

static const char no_memory[] = "out of memory";

static void failed(const runner *r, gn_cell *c, const gn_child *p, const gn_measured *m)
{
    gn_arena *a = r->b->arena;
    c->last_line = p->last_line;
    switch (p->end) {
    case GN_CHILD_TIMEOUT:
        c->end = GN_CELL_TIMEOUT;
        c->reason = gn_arena_printf(a, "not done after %" PRId64 " s", r->b->timeout_s);
        return;
    case GN_CHILD_SIGNALLED:
        c->end = p->status == SIGKILL ? GN_CELL_KILLED : GN_CELL_CRASH;
        c->reason = gn_arena_printf(
            a, "signal %d (%s)%s", p->status, strsignal(p->status),
            p->status == SIGKILL ? ": as a rule, the system was out of memory" : "");
        return;
    case GN_CHILD_STOPPED: return; /* it stays open */
    case GN_CHILD_EXITED: break;
    }
    const char *why = m && m->error ? m->error : p->last_line;
    bool nomem = strstr(why, no_memory) ||
                 (m && m->error_code && !strcmp(m->error_code, gn_code_name(GN_ERR_NOMEM)));
    c->end = nomem ? GN_CELL_NOMEM : GN_CELL_ERROR;
    if (nomem && !strncmp(why, no_memory, strlen(no_memory))) /* what follows it */
        why += strlen(no_memory) + strspn(why + strlen(no_memory), ": ");
    c->reason = *why ? gn_arena_strndup(a, why, strcspn(why, "\n"))
                     : gn_arena_printf(a, "exit status %d", p->status);
}

/* One of the cell's processes. *went_on: it ended well and was measured. */
static gn_status *run_process(runner *r, gn_cell *c, bool compile_only, gn_measured *out,
                              bool *went_on)
{
    const char *to = path_of(r, c, ".measured");
    gn_child_options o = {.argv = command_of(r, c, to, compile_only),
                          .timeout_s = (double)c->timeout_s - c->wall_ms / 1e3,
                          .stop = r->stop};
    gn_child p;
    *went_on = false;
    GN_TRY(gn_child_run(r->b->arena, &o, &p));
    c->wall_ms += p.ms;
    gn_measured m;
    gn_status *unread = gn_measured_read(r->b->arena, to, &m);
    remove(to);
    if (p.end == GN_CHILD_EXITED && p.status == 0 && !unread) {
        *out = m;
        *went_on = true;
        return NULL;
    }
    failed(r, c, &p, unread ? NULL : &m);
    if (!unread) out->error_code = m.error_code;
    gn_status_free(unread);
    out->rss_bytes = p.rss_bytes;
    return NULL;
}

/* Changing graphs, with an empty cache again: only where settings are compared that differ in
 * them. */
static gn_status *run_changing(runner *r, gn_cell *c)
{
    const char *to = path_of(r, c, ".changing"), *cache = path_of(r, c, ".cache");
    gn_child_options o = {.argv = changing_of(r, c),
                          .output = to,
                          .timeout_s = (double)c->timeout_s - c->wall_ms / 1e3,
                          .stop = r->stop};
    gn_child p;
    remove_all(cache);
    if (mkdir(cache, 0700)) GN_FAIL(GN_ERR_IO, "%s: %s", cache, strerror(errno));
    GN_TRY(gn_child_run(r->b->arena, &o, &p));
    c->wall_ms += p.ms;
    gn_status *unread = gn_changing_read(to, &c->changing);
    remove(to);
    c->end = GN_CELL_OPEN;
    if (p.end == GN_CHILD_EXITED && p.status == 0 && !unread)
        c->end = GN_CELL_OK;
    else
        failed(r, c, &p, NULL);
    gn_status_free(unread);
    if (c->end != GN_CELL_OK && c->end != GN_CELL_OPEN)
        c->reason = gn_arena_printf(r->b->arena, "on changing graphs: %s", c->reason);
    return NULL;
}

static gn_cell *baseline_of(const runner *r, const gn_cell *c)
{
    for (int k = 0; k < r->b->n_cells; k++) {
        gn_cell *o = &r->b->cells[k];
        if (o->is_baseline && o->threads == c->threads && !strcmp(o->model, c->model) &&
            !strcmp(o->data, c->data) && !strcmp(o->dynamic, c->dynamic))
            return o;
    }
    return NULL;
}

/* Outputs of the baseline stay until all is done, others only until they have been compared. */
static gn_status *settle_outputs(runner *r, gn_cell *c)
{
    const char *written = path_of(r, c, ".measured" GN_BENCH_OUTPUTS),
               *kept = path_of(r, c, GN_BENCH_OUTPUTS);
    const gn_cell *base = baseline_of(r, c);
    gn_status *s = NULL;
    if (c->end == GN_CELL_OK && !r->b->compile_only) {
        if (c == base && rename(written, kept))
            s = GN_ERROR(GN_ERR_IO, "%s: %s", kept, strerror(errno));
        if (c != base && base && base->end == GN_CELL_OK)
            s = gn_bench_outputs_diff(path_of(r, base, GN_BENCH_OUTPUTS), written, &c->logits_diff);
    }
    remove(written);
    return s;
}

static gn_status *run_cell(runner *r, gn_cell *c)
{
    const char *cache = path_of(r, c, ".cache");
    bool on;
    if (mkdir(cache, 0700)) GN_FAIL(GN_ERR_IO, "%s: %s", cache, strerror(errno));
    c->wall_ms = 0;
    gn_status *s = run_process(r, c, true, &c->cold, &on);
    if (!s && on) s = run_process(r, c, r->b->compile_only, &c->warm, &on);
    if (!s && on) {
        c->end = GN_CELL_OK;
        c->infer = gn_stats_of(r->b->arena, c->warm.infer_us.x, c->warm.infer_us.n);
        c->step = gn_stats_of(r->b->arena, c->warm.step_us.x, c->warm.step_us.n);
    }
    if (!s && c->end == GN_CELL_OK && r->b->grid.dynamic.n > 1 && !r->b->compile_only)
        s = run_changing(r, c);
    if (!s) s = settle_outputs(r, c);
    remove_left(r);
    if (s || c->end == GN_CELL_OPEN) return s;
    gn_bench_compare(r->b);
    return keep_cell(r, c);
}

/* Progress ------------------------------------------------------------------------------------- */

static const char *cell_name(const runner *r, const gn_cell *c)
{
    gn_buf b = {.arena = r->b->arena};
    if (r->b->grid.models.n > 1) gn_buf_printf(&b, "%s ", gn_bench_model_label(r->b, c));
    gn_buf_printf(&b, "%s %s", gn_bench_data_label(r->b, c), c->mode);
    if (r->b->grid.dynamic.n > 1) gn_buf_printf(&b, " dynamic=%s", c->dynamic);
    if (r->b->grid.threads.n > 1) gn_buf_printf(&b, " threads=%" PRId64, c->threads);
    return b.p;
}

/* What is left, from what cells of the model on the same data took, and from all that ran where
 * none did. */
static double left_ms(const runner *r)
{
    double left = 0;
    for (int k = 0; k < r->b->n_cells; k++) {
        const gn_cell *c = &r->b->cells[k];
        double sum = 0;
        int n = 0;
        if (c->end != GN_CELL_OPEN) continue;
        for (int i = 0; i < r->b->n_cells; i++) {
            const gn_cell *o = &r->b->cells[i];
            bool alike = !strcmp(o->data, c->data) && !strcmp(o->model, c->model);
            if (o->end == GN_CELL_OPEN || !alike || !(o->wall_ms > 0)) continue;
            sum += o->wall_ms;
            n++;
        }
        left += n ? sum / n : r->done ? r->spent_ms / r->done : NAN;
    }
    return left;
}

static void say_start(const runner *r, const gn_cell *c)
{
    if (r->terminal)
        fprintf(stderr, "\r\033[K[%d/%d] %s ...", r->done + 1, r->todo, cell_name(r, c));
}

static void say_end(const runner *r, const gn_cell *c)
{
    gn_arena *a = r->b->arena;
    if (r->b->cli->opt.quiet) return;
    fprintf(stderr, "%s[%d/%d] %s: ", r->terminal ? "\r\033[K" : "", r->done, r->todo,
            cell_name(r, c));
    if (c->end != GN_CELL_OK) {
        fputs(gn_cell_why(a, c), stderr);
    } else {
        if (c->step.n) fprintf(stderr, "step %s, ", gn_text_time(a, c->step.median));
        if (c->infer.n) fprintf(stderr, "inference %s, ", gn_text_time(a, c->infer.median));
        fprintf(stderr, "compiled in %s (cached %s)", gn_text_time(a, c->cold.compile_ms * 1e3),
                gn_text_time(a, c->warm.compile_ms * 1e3));
    }
    double left = left_ms(r);
    if (left >= 100e3)
        fprintf(stderr, "; about %s left", gn_text_time(a, left * 1e3));
    else if (left >= 1000)
        fprintf(stderr, "; about %.0f s left", left / 1e3);
    fputc('\n', stderr);
}

/* Resuming ------------------------------------------------------------------------------------- */

static void reopen(gn_cell *c, int64_t timeout_s)
{
    gn_cell fresh;
    gn_cell_init(&fresh);
    fresh.model = c->model;
    fresh.data = c->data;
    fresh.mode = c->mode;
    fresh.dynamic = c->dynamic;
    fresh.threads = c->threads;
    fresh.key = c->key;
    fresh.id = c->id;
    fresh.is_baseline = c->is_baseline;
    fresh.timeout_s = timeout_s;
    *c = fresh;
}

/* Takes over what is there.  A cell that ran out of time is run again where there is more of it
 * now. */
static gn_status *take_over(runner *r)
{
    gn_bench *b = r->b;
    int found = 0;
    for (int k = 0; k < b->n_cells; k++) {
        gn_cell *c = &b->cells[k];
        bool same;
        gn_status *s = gn_cell_read(b->arena, path_of(r, c, ".json"), c, &same);
        if (s) { /* damaged: it is run again */
            gn_status_free(s);
            same = false;
        }
        if (!same || (c->end == GN_CELL_TIMEOUT && c->timeout_s < b->timeout_s))
            reopen(c, b->timeout_s);
        found += c->end != GN_CELL_OPEN;
    }
    if (!b->cli->opt.quiet)
        fprintf(stderr, "%d of %d cells are there already\n", found, b->n_cells);
    /* A cell that ended while its baseline had not has been compared with nothing. */
    for (int k = 0; k < b->n_cells && !b->compile_only; k++) {
        gn_cell *c = &b->cells[k], *base = baseline_of(r, c);
        bool open = base && (base->end == GN_CELL_OK || base->end == GN_CELL_OPEN);
        if (c->end == GN_CELL_OK && c != base && open && isnan(c->logits_diff))
            reopen(c, b->timeout_s);
    }
    /* An open cell needs its baseline's outputs. */
    for (int k = 0; k < b->n_cells && !b->compile_only; k++) {
        gn_cell *base = baseline_of(r, &b->cells[k]);
        if (b->cells[k].end != GN_CELL_OPEN || !base || base->end != GN_CELL_OK) continue;
        if (access(path_of(r, base, GN_BENCH_OUTPUTS), R_OK)) reopen(base, b->timeout_s);
    }
    return NULL;
}

/* ---------------------------------------------------------------------------------------------- */

static gn_status *run_open(runner *r, gn_cell *c)
{
    if (c->end != GN_CELL_OPEN || *r->stop) return NULL;
    say_start(r, c);
    GN_TRY(run_cell(r, c));
    if (c->end == GN_CELL_OPEN) return NULL; /* stopped */
    r->done++;
    r->spent_ms += c->wall_ms;
    say_end(r, c);
    return NULL;
}

/* Two at once in a folder would take each other's caches away, and time each other. The lock goes
 * with the process, however that ends; where the file system has no locks nobody is kept away. */
static gn_status *lock_folder(const char *path, int *fd)
{
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0) GN_FAIL(GN_ERR_IO, "%s: %s", path, strerror(errno));
    if (!flock(*fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK) return NULL;
    close(*fd);
    GN_FAIL(GN_ERR_USAGE, "another gnnc bench is at work in %s: -o names another folder", path);
}

static gn_status *run_cells(runner *r, bool resume)
{
    gn_bench *b = r->b;
    remove_left(r);
    if (resume) GN_TRY(take_over(r));
    for (int k = 0; k < b->n_cells; k++) r->todo += b->cells[k].end == GN_CELL_OPEN;
    for (int k = 0; k < b->n_cells; k++) {
        gn_cell *base = baseline_of(r, &b->cells[k]);
        if (base) GN_TRY(run_open(r, base));
        GN_TRY(run_open(r, &b->cells[k]));
    }
    gn_bench_compare(b);
    for (int k = 0; k < b->n_cells; k++) b->partial = b->partial || b->cells[k].end == GN_CELL_OPEN;
    for (int k = 0; k < b->n_cells && !b->partial; k++)
        remove(path_of(r, &b->cells[k], GN_BENCH_OUTPUTS));
    if (r->terminal) fputs("\r\033[K", stderr);
    return NULL;
}

gn_status *gn_bench_run(gn_bench *b, bool resume, const volatile sig_atomic_t *stop)
{
    runner r = {.b = b, .stop = stop, .terminal = !b->cli->opt.quiet && isatty(STDERR_FILENO)};
    int lock;
    GN_TRY(make_folder(b->out));
    GN_TRY(make_folder(gn_arena_printf(b->arena, "%s/cells", b->out)));
    GN_TRY(lock_folder(b->out, &lock));
    gn_status *s = run_cells(&r, resume);
    close(lock);
    return s;
}
