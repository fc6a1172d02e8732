/* compare: cells against the baseline of their data, threads and dynamic setting. */
#include "cli/bench/bench.h"
#include "cli/bench/rows.h"
#include "cli/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

gn_status *gn_bench_outputs_diff(const char *baseline, const char *other, double *diff)
{
    enum { AT_ONCE = 4096 };
    float x[AT_ONCE], y[AT_ONCE];
    FILE *f = fopen(baseline, "re"), *g = f ? fopen(other, "re") : NULL;
    double largest = 0, apart = 0;
    bool whole = true;
    if (!g) {
        gn_status *s = GN_ERROR(GN_ERR_IO, "%s: %s", f ? other : baseline, strerror(errno));
        if (f) fclose(f);
        return s;
    }
    for (size_t n = 1, m; n && whole;) {
        n = fread(x, sizeof *x, AT_ONCE, f);
        m = fread(y, sizeof *y, AT_ONCE, g);
        whole = n == m;
        for (size_t k = 0; k < n && whole; k++) {
            double d = fabs((double)x[k] - (double)y[k]);
            whole = isfinite(d);
            if (d > apart) apart = d;
            if (fabs((double)x[k]) > largest) largest = fabs((double)x[k]);
        }
    }
    whole = whole && !ferror(f) && !ferror(g);
    fclose(f);
    fclose(g);
    *diff = !whole ? INFINITY : apart == 0 ? 0 : largest > 0 ? apart / largest : INFINITY;
    return NULL;
}

static double relative(double base, double x)
{
    return base == x ? 0 : fabs(base - x) / (fabs(base) > 0 ? fabs(base) : 1);
}

static double last_of(const gn_samples *s) { return s->n ? s->x[s->n - 1] : NAN; }

/* The losses of the first two steps: the second one has seen the gradients. Later ones drift apart
 * as rounding grows. */
static double first_losses(const gn_measured *base, const gn_measured *m)
{
    enum { FIRST = 2 };
    double most = NAN;
    for (int64_t k = 0; k < FIRST && k < base->losses.n && k < m->losses.n; k++)
        most = fmax(most, relative(base->losses.x[k], m->losses.x[k]));
    return most;
}

/* In another order of nodes dropout draws otherwise: losses say nothing then. */
static bool same_order(const gn_measured *a, const gn_measured *b)
{
    return !a->order || !b->order || !strcmp(a->order, b->order);
}

static void gains(gn_cell *c)
{
    const gn_cell *b = c->baseline;
    double cold = c->cold.compile_ms, cached = c->warm.compile_ms;
    c->infer_gain = b->infer.median / c->infer.median;
    c->step_gain = b->step.median / c->step.median;
    bool same = gn_same_program(b, c);
    c->infer_differs = !same && gn_stats_differ(&b->infer, &c->infer);
    c->step_differs = !same && gn_stats_differ(&b->step, &c->step);
    if (c == b) return;
    c->break_even_step = gn_break_even(cold, b->step.median, c->step.median);
    c->break_even_infer = gn_break_even(cold, b->infer.median, c->infer.median);
    c->break_even_step_cached = gn_break_even(cached, b->step.median, c->step.median);
    c->break_even_infer_cached = gn_break_even(cached, b->infer.median, c->infer.median);
    c->break_even_step_extra = gn_break_even(cold - b->cold.compile_ms, b->step.median,
                                             c->step.median);
}

/* NaN stands for what was not measured; what was measured and is no number is infinitely far. */
static void judge(gn_bench *b, gn_cell *c)
{
    const char *what = c->logits_diff > b->tolerance ? "outputs"
                       : c->loss_diff > b->tolerance ? "losses of the first two training steps"
                                                     : NULL;
    if (!what) return;
    c->end = GN_CELL_DISAGREES;
    c->reason = gn_arena_printf(b->arena, "%s differ from those of %s by %s, more than %g", what,
                                c->baseline->mode,
                                isinf(fmax(c->logits_diff, c->loss_diff))
                                    ? "more than any number"
                                    : gn_text_number(b->arena, fmax(c->logits_diff, c->loss_diff)),
                                b->tolerance);
}

static const gn_cell *baseline_of(const gn_bench *b, const gn_cell *c)
{
    for (int k = 0; k < b->n_cells; k++) {
        const gn_cell *o = &b->cells[k];
        if (o->is_baseline && o->end == GN_CELL_OK && o->threads == c->threads &&
            !strcmp(o->model, c->model) && !strcmp(o->data, c->data) &&
            gn_cell_covers(o, b->grid.baseline, c->dynamic))
            return o;
    }
    return NULL;
}

void gn_bench_compare(gn_bench *b)
{
    memset(b->rows, 0, sizeof b->rows); /* of what was */
    for (int k = 0; k < b->n_cells; k++) {
        gn_cell *c = &b->cells[k];
        if (c->end != GN_CELL_OK) continue;
        c->baseline = baseline_of(b, c);
        if (!c->baseline) continue;
        const gn_measured *base = &c->baseline->warm, *m = &c->warm;
        if (same_order(base, m)) {
            c->loss_diff = first_losses(base, m);
            c->end_loss_diff = relative(last_of(&base->losses), last_of(&m->losses));
        }
        c->end_acc_diff = 100 * (m->test_acc - base->test_acc);
        if (c != c->baseline) judge(b, c);
        if (c->end == GN_CELL_OK) gains(c);
    }
}
