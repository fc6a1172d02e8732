#include "cli/bench/answers.h"

#include "cli/bench/columns.h"
#include "cli/bench/recommend.h"
#include "cli/bench/relate.h"
#include "cli/bench/rows.h"
#include "cli/bench/tables.h"
#include "cli/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const gn_stats *figure(const gn_cell *c, bool infer) { return infer ? &c->infer : &c->step; }

static int comparisons(const gn_bench *b)
{
    int n = 0;
    for (int k = 0; k < b->n_cells; k++) n += gn_first_of_peers(b, &b->cells[k]);
    return n;
}

/* "default", and where there are several comparisons which of them. */
static const char *who(const gn_bench *b, const gn_cell *c)
{
    const char *name = gn_cell_variant(b, c);
    return comparisons(b) < 2 ? name
                              : gn_arena_printf(b->arena, "%s, %s", name, gn_peers_title(b, c));
}

static const char *baseline_name(const gn_bench *b)
{
    return !strcmp(b->grid.baseline, "eager") ? GN_EAGER_SHORT : b->grid.baseline;
}

static bool any_timed(const gn_bench *b, bool infer)
{
    for (int k = 0; k < b->n_cells; k++)
        if (b->cells[k].end == GN_CELL_OK && figure(&b->cells[k], infer)->n) return true;
    return false;
}

/* Least and most of a figure, and whose they are. */
typedef struct extremes {
    double least, most;
    const gn_cell *low, *high; /* NULL: nobody has the figure */
    int n, never;              /* that have it; that have an infinite one besides */
} extremes;

static void take(extremes *e, const gn_cell *c, double v)
{
    if (isinf(v)) e->never++;
    if (!isfinite(v)) return;
    if (!e->n || v < e->least) {
        e->least = v;
        e->low = c;
    }
    if (!e->n || v > e->most) {
        e->most = v;
        e->high = c;
    }
    e->n++;
}

/* "25.4 MB (eager) to 27.8 MB (default)"; of several comparisons the figures alone. */
static const char *span(const gn_bench *b, const extremes *e,
                        const char *(*text)(gn_arena *, double))
{
    const char *low = text(b->arena, e->least), *high = text(b->arena, e->most);
    if (!strcmp(low, high)) return low;
    if (comparisons(b) > 1) return gn_arena_printf(b->arena, "%s to %s", low, high);
    const char *first = who(b, e->low), *last = who(b, e->high);
    return gn_arena_printf(b->arena, "%s (%s) to %s (%s)", low, first, high, last);
}

/* The fastest -----------------------------------------------------------------------------------
 */

static const char *gain_text(const gn_bench *b, const gn_cell *c, bool infer)
{
    double gain = infer ? c->infer_gain : c->step_gain;
    if (!c->baseline || c->baseline == c || isnan(gain)) return "";
    if (!(infer ? c->infer_differs : c->step_differs))
        return gn_arena_printf(b->arena, ", no faster than %s beyond noise", baseline_name(b));
    return gn_arena_printf(b->arena, ", %s times %s than %s",
                           gn_text_number(b->arena, gain >= 1 ? gain : 1 / gain),
                           gain >= 1 ? "faster" : "slower", baseline_name(b));
}

/* How often each is the fastest, and by how much. */
static const char *fastest_of(const gn_bench *b, int n, const gn_cell *const *picks, bool infer)
{
    gn_buf out = {.arena = b->arena};
    extremes gain = {0};
    for (int k = 0; k < n; k++) { /* every name once */
        const char *name = gn_cell_lead(b, picks[k]);
        int times = 0;
        bool said = false;
        for (int i = 0; i < n; i++) {
            bool same = !strcmp(gn_cell_lead(b, picks[i]), name);
            times += same;
            said = said || (same && i < k);
        }
        if (picks[k]->baseline && picks[k]->baseline != picks[k])
            take(&gain, picks[k], infer ? picks[k]->infer_gain : picks[k]->step_gain);
        if (!said)
            gn_buf_printf(&out, "%s%s in %d of %d comparisons", out.n ? ", " : "", name, times, n);
    }
    if (!gain.n) return gn_arena_printf(b->arena, "%s.", out.p);
    return gn_arena_printf(b->arena, "%s; %s times faster than %s.", out.p,
                           span(b, &gain, gn_text_number), baseline_name(b));
}

static const char *fastest(gn_bench *b, bool infer)
{
    const gn_cell **cells = GN_NEW_N(b->arena, const gn_cell *, b->n_cells + 1);
    const gn_cell **picks = GN_NEW_N(b->arena, const gn_cell *, b->n_cells + 1);
    int n = 0;
    for (int k = 0; k < b->n_cells; k++) {
        if (!gn_first_of_peers(b, &b->cells[k])) continue;
        int pick = gn_best_of(gn_peers_of(b, &b->cells[k], cells), cells, infer);
        if (pick >= 0) picks[n++] = cells[pick];
    }
    if (!n) return infer ? "No run was timed." : "No training step was timed.";
    if (n > 1) return fastest_of(b, n, picks, infer);
    const gn_stats *s = figure(picks[0], infer);
    const char *median = gn_text_time(b->arena, s->median), *low = gn_text_time(b->arena, s->p10);
    return gn_arena_printf(b->arena, "%s: %s a %s (%s to %s for eight of ten)%s.",
                           gn_cell_variant(b, picks[0]), median, infer ? "run" : "step", low,
                           gn_text_time(b->arena, s->p90), gain_text(b, picks[0], infer));
}

static const char *to_use(gn_bench *b)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (!f) return "";
    comparisons(b) > 1 ? gn_write_across(b, f) : gn_write_verdict(b, f);
    const char *line = fclose(f) ? "" : gn_arena_strndup(b->arena, text, strcspn(text, "\n"));
    free(text);
    return *line ? line : "Nothing to recommend: nothing was timed.";
}

static const char *noise(gn_bench *b)
{
    gn_buf out = {.arena = b->arena};
    for (int infer = 0; infer < 2; infer++) {
        int slower = 0, as_fast = 0;
        for (int k = 0; k < b->n_cells; k++) {
            gn_standing r = gn_standing_of(b, &b->cells[k], infer);
            slower += r == GN_STANDS_SLOWER;
            as_fast += r == GN_STANDS_AS_FAST;
        }
        if (slower + as_fast)
            gn_buf_printf(&out, "%s%s: %d of %d rows are slower than the fastest beyond noise.",
                          out.n ? " " : "", infer ? "Inference" : "Training", slower,
                          slower + as_fast);
    }
    return out.n ? out.p : "There is nothing to compare.";
}

static const char *tail(gn_bench *b)
{
    bool infer = any_timed(b, true);
    extremes e = {0};
    for (int k = 0; k < b->n_cells; k++) {
        const gn_cell *c = &b->cells[k];
        const gn_stats *s = figure(c, infer);
        if (c->end == GN_CELL_OK && s->n) take(&e, c, s->p99 / s->median);
    }
    if (!e.n) return "Nothing was timed.";
    const gn_stats *s = figure(e.high, infer);
    return gn_arena_printf(
        b->arena,
        "99 %% of the %s of %s end below %s, which is %s times the median and the "
        "worst of all rows.",
        infer ? "runs" : "steps", who(b, e.high), gn_text_time(b->arena, s->p99),
        gn_text_number(b->arena, e.most));
}

/* Compiling -------------------------------------------------------------------------------------
 */

static const char *ms_text(gn_arena *a, double ms) { return gn_text_time(a, ms * 1e3); }

static const char *compiling(gn_bench *b)
{
    extremes cold = {0}, cached = {0};
    for (int k = 0; k < b->n_cells; k++) {
        const gn_cell *c = &b->cells[k];
        if (c->end != GN_CELL_OK) continue;
        take(&cold, c, c->cold.compile_ms);
        take(&cached, c, c->warm.compile_ms);
    }
    if (!cold.n || !cached.n) return "Nothing was compiled.";
    return gn_arena_printf(b->arena, "%s with an empty cache, %s where the kernels are there.",
                           span(b, &cold, ms_text), span(b, &cached, ms_text));
}

static const char *break_even(gn_bench *b)
{
    bool infer = !any_timed(b, false);
    extremes cold = {0}, cached = {0};
    for (int k = 0; k < b->n_cells; k++) {
        const gn_cell *c = &b->cells[k];
        if (c->end != GN_CELL_OK || !c->baseline || c == c->baseline) continue;
        take(&cold, c, infer ? c->break_even_infer : c->break_even_step);
        take(&cached, c, infer ? c->break_even_infer_cached : c->break_even_step_cached);
    }
    const char *unit = infer ? "runs" : "steps", *base = baseline_name(b);
    if (!cold.n && !cold.never) return "There is no baseline to compare with.";
    if (!cold.n) return gn_arena_printf(b->arena, "Never: no row is faster than %s.", base);
    return gn_arena_printf(b->arena, "Against %s: after %s %s%s; cached, %s.", base,
                           span(b, &cold, gn_text_steps), unit, cold.never ? ", others never" : "",
                           span(b, &cached, gn_text_steps));
}

static const char *searching(gn_bench *b)
{
    extremes took = {0}, pays = {0};
    bool infer = !any_timed(b, false);
    for (int k = 0; k < b->n_cells; k++) {
        const gn_cell *c = &b->cells[k];
        if (c->end != GN_CELL_OK || !gn_searches(c)) continue;
        take(&took, c, c->cold.tune_ms);
        take(&pays, c, gn_search_pays(b, c, infer));
    }
    if (!took.n) return "No mode searched.";
    const char *cost = span(b, &took, ms_text), *unit = infer ? "runs" : "steps";
    if (!pays.n && !pays.never)
        return gn_arena_printf(b->arena, "It takes %s; there is nothing to compare with.", cost);
    if (!pays.n)
        return gn_arena_printf(
            b->arena, "It takes %s, and never pays: nothing is faster beyond noise.", cost);
    return gn_arena_printf(b->arena, "It takes %s. In %d of %d rows it pays: after %s %s.", cost,
                           pays.n, pays.n + pays.never, span(b, &pays, gn_text_steps), unit);
}

/* Memory, kernels -------------------------------------------------------------------------------
 */

static const char *memory(gn_bench *b)
{
    extremes rss = {0}, plan = {0};
    for (int k = 0; k < b->n_cells; k++) {
        const gn_cell *c = &b->cells[k];
        if (c->end != GN_CELL_OK) continue;
        take(&rss, c, c->warm.rss_bytes > 0 ? (double)c->warm.rss_bytes : NAN);
        take(&plan, c, c->warm.plan_bytes > 0 ? (double)c->warm.plan_bytes : NAN);
    }
    if (!rss.n) return "Nothing was measured.";
    const char *resident = span(b, &rss, gn_text_bytes);
    if (!plan.n) return gn_arena_printf(b->arena, "%s resident at most.", resident);
    return gn_arena_printf(b->arena, "%s resident at most; planned are %s.", resident,
                           span(b, &plan, gn_text_bytes));
}

static const char *kernels(gn_bench *b)
{
    gn_buf out = {.arena = b->arena};
    const gn_cell *first = NULL;
    for (int k = 0; k < b->n_cells; k++) {
        const gn_cell *c = &b->cells[k];
        bool step = c->warm.step_launches > 0;
        int64_t launches = step ? c->warm.step_launches : c->warm.eval_launches;
        int64_t operators = step ? c->warm.step_operators : c->warm.eval_operators;
        if (c->end != GN_CELL_OK || launches <= 0) continue;
        if (first && (!gn_are_peers(c, first) || strcmp(c->dynamic, first->dynamic) != 0)) continue;
        if (!first) first = c;
        gn_buf_printf(&out, "%s%s: %" PRId64, out.n ? "; " : "", gn_cell_variant(b, c), launches);
        if (c == first) gn_buf_add(&out, step ? " launches a training step" : " launches a run");
        if (operators > 0) gn_buf_printf(&out, " for %" PRId64 " operators", operators);
    }
    if (!first) return "Nothing was compiled.";
    return comparisons(b) < 2
               ? gn_arena_printf(b->arena, "%s.", out.p)
               : gn_arena_printf(b->arena, "On %s: %s.", gn_peers_title(b, first), out.p);
}

/* Axes ------------------------------------------------------------------------------------------
 */

static const char *threads(gn_bench *b)
{
    bool infer = !any_timed(b, false);
    int64_t few = INT64_MAX;
    extremes e = {0};
    if (b->grid.threads.n < 2) return "One number of threads alone was measured.";
    for (uint32_t k = 0; k < b->grid.threads.n; k++)
        if (b->grid.threads.p[k] < few) few = b->grid.threads.p[k];
    for (int k = 0; k < b->n_cells; k++)
        if (b->cells[k].threads > few)
            take(&e, &b->cells[k], gn_thread_gain(b, &b->cells[k], infer));
    if (!e.n) return "Nothing was timed on several numbers of threads.";
    const char *times = gn_text_number(b->arena, e.most);
    if (e.most < 1 + GN_NOISE)
        return gn_arena_printf(b->arena,
                               "No: nothing is more than 2 %% faster on more than %" PRId64
                               " thread%s (%s times at best).",
                               few, few == 1 ? "" : "s", times);
    return gn_arena_printf(b->arena, "At best %s times faster than on %" PRId64 " thread%s: %s.",
                           times, few, few == 1 ? "" : "s", who(b, e.high));
}

static const char *dynamic(gn_bench *b)
{
    gn_buf out = {.arena = b->arena};
    const gn_cell *first = NULL;
    if (b->grid.dynamic.n < 2) return "One setting of dynamic shapes alone was measured.";
    for (int k = 0; k < b->n_cells; k++) {
        const gn_cell *c = &b->cells[k];
        if (c->end != GN_CELL_OK || c->changing.programs < 0) continue;
        if (c->is_baseline && b->grid.modes.n > 1) continue;
        if (first && (!gn_are_peers(c, first) || strcmp(c->mode, first->mode) != 0)) continue;
        if (!first) first = c;
        gn_buf_printf(&out, "; dynamic=%s %" PRId64 " program%s (compiled in %s)", c->dynamic,
                      c->changing.programs, c->changing.programs == 1 ? "" : "s",
                      ms_text(b->arena, c->changing.compile_ms));
    }
    if (!first) return "No graphs that change were run.";
    return gn_arena_printf(b->arena, "%" PRId64 " graphs take, with %s on %s: %s.",
                           first->changing.batches, first->mode, gn_peers_title(b, first),
                           out.p + strlen("; "));
}

/* The smallest and the largest graph, of the first model and number of threads. */
static const char *sizes(gn_bench *b)
{
    const gn_cell *small = NULL, *large = NULL;
    bool infer = !any_timed(b, false);
    if (b->grid.data.n < 2) return "One dataset alone was measured.";
    for (int k = 0; k < b->n_cells; k++) {
        const gn_cell *c = &b->cells[k];
        if (c->end != GN_CELL_OK || !figure(c, infer)->n || c->warm.edges <= 0) continue;
        if (c->is_baseline && b->grid.modes.n > 1) continue;
        if (small && (!gn_cell_covers(c, small->mode, small->dynamic) ||
                      c->threads != small->threads || strcmp(c->model, small->model) != 0))
            continue;
        if (!small || c->warm.edges < small->warm.edges) small = c;
        if (!large || c->warm.edges > large->warm.edges) large = c;
    }
    if (!small || small == large) return "Fewer than two datasets were timed.";
    double longer = figure(large, infer)->median / figure(small, infer)->median;
    double more = (double)large->warm.edges / (double)small->warm.edges;
    return gn_arena_printf(b->arena,
                           "From %s to %s %s of %s takes %s times as long, for %s times the "
                           "edges.",
                           gn_peers_title(b, small), gn_bench_data_label(b, large),
                           infer ? "a run" : "a training step", gn_cell_lead(b, large),
                           gn_text_number(b->arena, longer), gn_text_number(b->arena, more));
}

/* Results ---------------------------------------------------------------------------------------
 */

static const char *agreement(gn_bench *b)
{
    double outputs = NAN, losses = NAN;
    int ended = 0, disagree = 0;
    for (int k = 0; k < b->n_cells; k++) {
        const gn_cell *c = &b->cells[k];
        disagree += c->end == GN_CELL_DISAGREES;
        if (c->end != GN_CELL_OK || !c->baseline || c == c->baseline) continue;
        ended++;
        outputs = fmax(outputs, c->logits_diff);
        losses = fmax(losses, c->loss_diff);
    }
    if (disagree)
        return gn_arena_printf(b->arena, "No: %d row%s not agree with %s.", disagree,
                               disagree == 1 ? " does" : "s do", baseline_name(b));
    if (!ended || (isnan(outputs) && isnan(losses))) return "Nothing was compared.";
    const char *first = gn_text_number(b->arena, outputs),
               *second = gn_text_number(b->arena, losses);
    if (isnan(losses))
        return gn_arena_printf(b->arena, "Yes: outputs differ by %s of the largest at most.",
                               first);
    return gn_arena_printf(b->arena,
                           "Yes: outputs differ by %s of the largest at most, first losses by %s.",
                           first, second);
}

static const char *errors(gn_bench *b)
{
    const gn_cell *first = NULL;
    int n = 0;
    for (int k = 0; k < b->n_cells; k++) {
        if (b->cells[k].end == GN_CELL_OK) continue;
        if (!first) first = &b->cells[k];
        n++;
    }
    if (!n) return "Every cell ended well.";
    return gn_arena_printf(b->arena, "%d of %d rows did not; the first, %s: %s", n, b->n_cells,
                           who(b, first), gn_cell_why(b->arena, first));
}

const char *gn_answer(gn_bench *b, uint32_t table)
{
    b = gn_table_rows(b, table);
    switch (table) {
    case GN_TABLE_MODES: return to_use(b);
    case GN_TABLE_TRAINING: return fastest(b, false);
    case GN_TABLE_INFERENCE: return fastest(b, true);
    case GN_TABLE_NOISE: return noise(b);
    case GN_TABLE_TAIL: return tail(b);
    case GN_TABLE_COMPILING: return compiling(b);
    case GN_TABLE_BREAK_EVEN: return break_even(b);
    case GN_TABLE_SEARCH: return searching(b);
    case GN_TABLE_MEMORY: return memory(b);
    case GN_TABLE_KERNELS: return kernels(b);
    case GN_TABLE_THREADS: return threads(b);
    case GN_TABLE_DYNAMIC: return dynamic(b);
    case GN_TABLE_SIZES: return sizes(b);
    case GN_TABLE_AGREEMENT: return agreement(b);
    case GN_TABLE_ERRORS: return errors(b);
    default: return "";
    }
}
