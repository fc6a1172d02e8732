#include "cli/bench/recommend.h"

#include "cli/bench/across.h"
#include "cli/bench/rows.h"
#include "cli/bench/tables.h"
#include "cli/text.h"

#include "compile/mode.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const gn_stats *figure(const gn_cell *c, bool infer) { return infer ? &c->infer : &c->step; }

/* Does a's mode do less than b's?  The order of the table of modes. */
static bool simpler(const gn_cell *a, const gn_cell *b)
{
    return gn_mode_by_name(a->mode) < gn_mode_by_name(b->mode);
}

bool gn_as_fast(const gn_cell *c, const gn_cell *best, bool infer)
{
    const gn_stats *s = figure(c, infer), *t = figure(best, infer);
    if (!s->n || !t->n) return false;
    if (c == best || gn_same_program(c, best)) return true;
    return gn_stats_spread(s) && gn_stats_spread(t) && !gn_stats_differ(s, t);
}

/* As fast as the best, or as most of what is the same program as the best: one of those that was
 * measured in a bad minute makes nothing else fast. */
static bool among_best(int n, const gn_cell *const *cells, int k, int best, bool infer)
{
    int same = 0, as_fast = 0;
    if (gn_as_fast(cells[k], cells[best], infer)) return true;
    for (int i = 0; i < n; i++) {
        if (i != best && !gn_same_program(cells[i], cells[best])) continue;
        same++;
        as_fast += gn_as_fast(cells[k], cells[i], infer);
    }
    return 2 * as_fast > same;
}

int gn_best_of(int n, const gn_cell *const *cells, bool infer)
{
    int best = -1, pick = -1;
    for (int k = 0; k < n; k++) {
        const gn_stats *s = figure(cells[k], infer);
        if (s->n && (best < 0 || s->median < figure(cells[best], infer)->median)) best = k;
    }
    for (int k = 0; k < n && best >= 0; k++)
        if (among_best(n, cells, k, best, infer) && (pick < 0 || simpler(cells[k], cells[pick])))
            pick = k;
    return pick;
}

/* Microseconds of compiling and of so many steps; infinite where one is not known. */
static double cost(const gn_cell *c, bool infer, double steps)
{
    const gn_stats *s = figure(c, infer);
    return s->n && !isnan(c->cold.compile_ms) ? c->cold.compile_ms * 1e3 + steps * s->median
                                              : INFINITY;
}

/* What begins: near the least cost of one step. */
static int first_of(int n, const gn_cell *const *cells, bool infer)
{
    double least = INFINITY;
    int pick = -1;
    for (int k = 0; k < n; k++) least = fmin(least, cost(cells[k], infer, 1));
    for (int k = 0; k < n && isfinite(least); k++)
        if (cost(cells[k], infer, 1) <= 1.25 * least &&
            (pick < 0 || simpler(cells[k], cells[pick])))
            pick = k;
    return pick;
}

int gn_cheapest(int n, const gn_cell *const *cells, bool infer, double *from, int *pick)
{
    int count = 0, now = first_of(n, cells, infer);
    double at = 1;
    while (now >= 0 && count < n) {
        from[count] = at;
        pick[count++] = now;
        const gn_cell *c = cells[now];
        double next_at = INFINITY, us = figure(c, infer)->median;
        int next = -1;
        for (int k = 0; k < n; k++) { /* who gets cheaper first */
            double other = figure(cells[k], infer)->median;
            if (!isfinite(cost(cells[k], infer, 1)) || !(other < us) ||
                gn_as_fast(cells[k], c, infer))
                continue;
            double meet = floor((cost(cells[k], infer, 0) - cost(c, infer, 0)) / (us - other)) + 1;
            if (meet <= at) meet = at + 1;
            if (meet < next_at || (meet == next_at && other < figure(cells[next], infer)->median)) {
                next_at = meet;
                next = k;
            }
        }
        at = next_at;
        now = next;
    }
    return count;
}

bool gn_are_peers(const gn_cell *a, const gn_cell *b)
{
    return a->threads == b->threads && !strcmp(a->model, b->model) && !strcmp(a->data, b->data);
}

int gn_peers_of(const gn_bench *b, const gn_cell *like, const gn_cell **out)
{
    int n = 0;
    for (int k = 0; k < b->n_cells; k++)
        if (b->cells[k].end == GN_CELL_OK && gn_are_peers(&b->cells[k], like))
            out[n++] = &b->cells[k];
    return n;
}

bool gn_first_of_peers(const gn_bench *b, const gn_cell *c)
{
    for (const gn_cell *o = b->cells; o < c; o++)
        if (gn_are_peers(o, c)) return false;
    return true;
}

const char *gn_group_title(const gn_bench *b, const gn_cell *c)
{
    const char *label = gn_bench_data_label(b, c);
    if (b->grid.threads.n < 2) return label;
    return gn_arena_printf(b->arena, "%s, %" PRId64 " thread%s", label, c->threads,
                           c->threads == 1 ? "" : "s");
}

const char *gn_peers_title(const gn_bench *b, const gn_cell *c)
{
    const char *title = gn_group_title(b, c);
    if (b->grid.models.n < 2) return title;
    return gn_arena_printf(b->arena, "%s on %s", gn_bench_model_label(b, c), title);
}

/* Words ---------------------------------------------------------------------------------------- */

/* Those that are as fast as the pick. */
static void say_equals(const gn_bench *b, FILE *to, int n, const gn_cell *const *cells, int pick,
                       bool infer)
{
    static const char *const words[] = {"as fast, within noise", "the same program"};
    for (int same = 0; same < 2; same++) {
        bool any = false;
        for (int k = 0; k < n; k++) {
            const gn_cell *c = cells[k];
            if (k == pick || !gn_as_fast(c, cells[pick], infer) ||
                gn_same_program(c, cells[pick]) != (same == 1))
                continue;
            if (any)
                fprintf(to, ", %s", gn_cell_variant(b, c));
            else
                fprintf(to, "    %s: %s", words[same], gn_cell_variant(b, c));
            any = true;
        }
        if (any) fputc('\n', to);
    }
}

static void say_gain(const gn_bench *b, FILE *to, const gn_cell *c, bool infer)
{
    double gain = infer ? c->infer_gain : c->step_gain;
    bool differs = infer ? c->infer_differs : c->step_differs;
    if (!c->baseline || c->baseline == c || isnan(gain)) return;
    if (!differs)
        fprintf(to, ", no faster than %s beyond noise", c->baseline->mode);
    else
        fprintf(to, ", %s times %s than %s", gn_text_number(b->arena, gain >= 1 ? gain : 1 / gain),
                gain >= 1 ? "faster" : "slower", c->baseline->mode);
}

static void say_break_even(const gn_bench *b, FILE *to, const gn_cell *c, bool infer)
{
    double cold = infer ? c->break_even_infer : c->break_even_step;
    double cached = infer ? c->break_even_infer_cached : c->break_even_step_cached;
    const char *unit = infer ? "runs" : "steps";
    if (isnan(cold)) return;
    fprintf(to, "    compiles in %s", gn_text_time(b->arena, c->cold.compile_ms * 1e3));
    if (isinf(cold))
        fprintf(to, ", which never comes back against %s\n", c->baseline->mode);
    else
        fprintf(to, ", which comes back against %s after %s %s (%s with cached kernels)\n",
                c->baseline->mode, gn_text_steps(b->arena, cold), unit,
                gn_text_steps(b->arena, cached));
}

static void say_best(const gn_bench *b, FILE *to, const char *use, int n,
                     const gn_cell *const *cells, bool infer)
{
    int pick = gn_best_of(n, cells, infer);
    if (pick < 0) return;
    const gn_cell *c = cells[pick];
    const gn_stats *s = figure(c, infer);
    fprintf(to, "  %s: %s\n    %s a %s", use, gn_cell_variant(b, c),
            gn_text_time(b->arena, s->median), infer ? "run" : "step");
    if (infer) fprintf(to, " (99 %% below %s)", gn_text_time(b->arena, s->p99));
    say_gain(b, to, c, infer);
    fputc('\n', to);
    say_break_even(b, to, c, infer);
    say_equals(b, to, n, cells, pick, infer);
}

static void say_cheapest(const gn_bench *b, FILE *to, int n, const gn_cell *const *cells,
                         bool infer)
{
    double *from = GN_NEW_N(b->arena, double, n + 1);
    int *pick = GN_NEW_N(b->arena, int, n + 1);
    int count = gn_cheapest(n, cells, infer, from, pick);
    const char *unit = infer ? "runs" : "steps";
    if (!count) return;
    fprintf(to, "  Least time in all, compilation with an empty cache included:\n");
    for (int k = 0; k < count; k++) {
        const char *name = gn_cell_variant(b, cells[pick[k]]);
        if (count == 1)
            fprintf(to, "    for any number of %s: %s\n", unit, name);
        else if (k + 1 < count)
            fprintf(to, "    up to %s %.*s: %s\n", gn_text_steps(b->arena, from[k + 1] - 1),
                    (int)strlen(unit) - (from[k + 1] == 2), unit, name);
        else
            fprintf(to, "    more: %s\n", name);
    }
}

/* Graphs that change: compiling and running of all of them. */
static void say_changing(const gn_bench *b, FILE *to, int n, const gn_cell *const *cells)
{
    double least = INFINITY;
    int pick = -1;
    for (int k = 0; k < n; k++) {
        const gn_changing *c = &cells[k]->changing;
        double ms = c->compile_ms + (double)c->batches * c->run_us / 1e3;
        if (c->batches <= 0 || !(ms < least)) continue;
        least = ms;
        pick = k;
    }
    if (pick < 0) return;
    const gn_changing *c = &cells[pick]->changing;
    fprintf(to,
            "  Graphs that change: %s\n    %" PRId64 " of them took %" PRId64
            " program%s, compiled in %s in all\n",
            gn_cell_variant(b, cells[pick]), c->batches, c->programs, c->programs == 1 ? "" : "s",
            gn_text_time(b->arena, c->compile_ms * 1e3));
}

static void say_memory(const gn_bench *b, FILE *to, int n, const gn_cell *const *cells)
{
    int least = -1, most = -1;
    for (int k = 0; k < n; k++) {
        if (cells[k]->warm.rss_bytes < 0) continue;
        if (least < 0 || cells[k]->warm.rss_bytes < cells[least]->warm.rss_bytes) least = k;
        if (most < 0 || cells[k]->warm.rss_bytes > cells[most]->warm.rss_bytes) most = k;
    }
    if (least < 0) return;
    const gn_cell *l = cells[least], *m = cells[most];
    double near = (double)l->warm.rss_bytes * (1 + GN_NOISE);
    for (int k = 0; k < n; k++) /* of those that take as much, the one whose mode does least */
        if (cells[k]->warm.rss_bytes >= 0 && (double)cells[k]->warm.rss_bytes <= near &&
            simpler(cells[k], l))
            l = cells[k];
    if ((double)m->warm.rss_bytes <= near) return;
    fprintf(to,
            "  Least memory: %s\n    %s resident at most, of which the plan accounts for %s; %s "
            "takes %s\n",
            gn_cell_variant(b, l), gn_text_bytes(b->arena, (double)l->warm.rss_bytes),
            gn_text_bytes(b->arena, (double)l->warm.plan_bytes), gn_cell_variant(b, m),
            gn_text_bytes(b->arena, (double)m->warm.rss_bytes));
}

static void say_failures(const gn_bench *b, FILE *to, const gn_cell *like)
{
    for (int k = 0; k < b->n_cells; k++) {
        const gn_cell *c = &b->cells[k];
        if (c->end == GN_CELL_OK || !gn_are_peers(c, like)) continue;
        fprintf(to, "  Not %s: %s\n", gn_cell_variant(b, c), gn_cell_why(b->arena, c));
    }
}

/* "Use `default`: a training step takes 1.97 us, 2.56 times faster than `eager`." */
static void say_verdict(const gn_bench *b, FILE *to, int n, const gn_cell *const *cells,
                        bool several)
{
    int step = gn_best_of(n, cells, false), run = gn_best_of(n, cells, true),
        pick = step >= 0 ? step : run;
    if (pick < 0) return;
    const gn_cell *c = cells[pick];
    if (several) fprintf(to, "%s: ", gn_peers_title(b, c));
    fprintf(to, "Use %s: %s takes %s", gn_cell_lead(b, c),
            step >= 0 ? "a training step" : "a run of inference",
            gn_text_time(b->arena, figure(c, step < 0)->median));
    say_gain(b, to, c, step < 0);
    if (step >= 0 && run >= 0 && run != step && !gn_as_fast(c, cells[run], true))
        fprintf(to, "; to serve, use %s", gn_cell_lead(b, cells[run]));
    fputs(".\n", to);
}

/* In how many comparisons one setting is the right one. */
static void say_across(const gn_bench *b, FILE *to, const char *model)
{
    gn_across a;
    bool infer = !gn_find_across(b, model, false, &a);
    if (infer && !gn_find_across(b, model, true, &a)) {
        fputs("nothing to recommend: no cell ended well.\n", to);
        return;
    }
    const char *what = infer ? "inference" : "training steps";
    fprintf(to, "Use %s: ", a.name);
    if (a.best == a.of)
        fprintf(to, "the fastest, or as fast, in %s of %s.\n",
                a.of == 1   ? "the one comparison"
                : a.of == 2 ? "both comparisons"
                            : gn_arena_printf(b->arena, "all %d comparisons", a.of),
                what);
    else
        fprintf(to,
                "the fastest, or as fast, in %d of %d comparisons of %s; at most %s times the "
                "fastest's time.\n",
                a.best, a.of, what, gn_text_number(b->arena, a.worst));
}

void gn_write_across(gn_bench *b, FILE *to)
{
    b = gn_bench_rows(b, GN_APART_NOTHING);
    say_across(b, to, NULL);
}

/* A line a model, and one across them. */
static void say_models(const gn_bench *b, FILE *to)
{
    const gn_cell **cells = GN_NEW_N(b->arena, const gn_cell *, b->n_cells + 1);
    for (uint32_t m = 0; m < b->grid.models.n; m++) {
        const gn_cell *first = NULL;
        int groups = 0, n = 0;
        for (int k = 0; k < b->n_cells; k++) {
            const gn_cell *c = &b->cells[k];
            if (strcmp(c->model, b->grid.models.p[m]) != 0) continue;
            if (!first) first = c;
            groups += gn_first_of_peers(b, c);
        }
        if (!first) continue;
        fprintf(to, "%s: ", gn_bench_model_label(b, first));
        if (groups == 1) n = gn_peers_of(b, first, cells);
        if (n)
            say_verdict(b, to, n, cells, false);
        else
            say_across(b, to, first->model);
    }
    fputs("All models: ", to);
    say_across(b, to, NULL);
}

void gn_write_verdict(gn_bench *b, FILE *to)
{
    b = gn_bench_rows(b, GN_APART_NOTHING);
    const gn_cell **cells = GN_NEW_N(b->arena, const gn_cell *, b->n_cells + 1);
    int groups = 0;
    if (b->grid.models.n > 1) {
        say_models(b, to);
        return;
    }
    for (int k = 0; k < b->n_cells; k++) groups += gn_first_of_peers(b, &b->cells[k]);
    for (int k = 0; k < b->n_cells; k++)
        if (gn_first_of_peers(b, &b->cells[k]))
            say_verdict(b, to, gn_peers_of(b, &b->cells[k], cells), cells, groups > 1);
}

void gn_write_reasons(gn_bench *b, FILE *to)
{
    b = gn_bench_rows(b, GN_APART_NOTHING);
    gn_bench *settings = gn_bench_rows(b, GN_APART_DYNAMIC);
    const gn_cell **cells = GN_NEW_N(b->arena, const gn_cell *, settings->n_cells + 1);
    for (int k = 0; k < b->n_cells; k++) {
        const gn_cell *c = &b->cells[k];
        if (!gn_first_of_peers(b, c)) continue;
        int n = gn_peers_of(b, c, cells);
        fprintf(to, "%s%s", k ? "\n" : "", gn_peers_title(b, c));
        if (n)
            fprintf(to, " (%" PRId64 " nodes, %" PRId64 " edges)", cells[0]->warm.nodes,
                    cells[0]->warm.edges);
        fputc('\n', to);
        if (!n) fputs("  Nothing to recommend: no cell ended well.\n", to);
        bool train = gn_best_of(n, cells, false) >= 0;
        say_best(b, to, "Long training", n, cells, false);
        say_best(b, to, "Serving", n, cells, true);
        say_cheapest(b, to, n, cells, !train);
        say_memory(b, to, n, cells);
        int apart = gn_peers_of(settings, c, cells);
        say_changing(settings, to, apart, cells);
        say_failures(b, to, c);
    }
    if (b->partial) fputs("\nInterrupted: some cells were not run; --resume goes on.\n", to);
}

void gn_write_recommendations(gn_bench *b, FILE *to)
{
    gn_write_verdict(b, to);
    fputc('\n', to);
    gn_write_reasons(b, to);
    for (uint32_t k = 0; k < b->grid.modes.n; k++)
        if (!strcmp(b->grid.modes.p[k], "eager")) fputs("\n" GN_EAGER_SENTENCE "\n", to);
}
