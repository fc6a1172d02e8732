#include "cli/bench/relate.h"

#include "cli/bench/recommend.h"
#include "cli/bench/rows.h"

#include "compile/mode.h"

#include <math.h>
#include <string.h>

static const gn_stats *figure(const gn_cell *c, bool infer) { return infer ? &c->infer : &c->step; }

bool gn_searches(const gn_cell *c)
{
    gn_mode m = gn_mode_by_name(c->mode);
    return m != GN_MODE_COUNT && gn_modes[m].tune;
}

static bool timed(const gn_cell *c, bool infer)
{
    return c->end == GN_CELL_OK && figure(c, infer)->n > 0;
}

/* The one with the least median; NULL: none was timed. */
static const gn_cell *fastest(const gn_bench *b, const gn_cell *like, bool infer, bool no_search)
{
    const gn_cell *best = NULL;
    for (int k = 0; k < b->n_cells; k++) {
        const gn_cell *o = &b->cells[k];
        if (!timed(o, infer) || !gn_are_peers(o, like) || (no_search && gn_searches(o))) continue;
        if (!best || figure(o, infer)->median < figure(best, infer)->median) best = o;
    }
    return best;
}

static int timed_peers(const gn_bench *b, const gn_cell *like, bool infer)
{
    int n = 0;
    for (int k = 0; k < b->n_cells; k++)
        n += timed(&b->cells[k], infer) && gn_are_peers(&b->cells[k], like);
    return n;
}

gn_standing gn_standing_of(const gn_bench *b, const gn_cell *c, bool infer)
{
    if (!timed(c, infer) || timed_peers(b, c, infer) < 2) return GN_STANDS_NONE;
    const gn_cell *best = fastest(b, c, infer, false);
    if (c == best) return GN_STANDS_FASTEST;
    return gn_as_fast(c, best, infer) ? GN_STANDS_AS_FAST : GN_STANDS_SLOWER;
}

const char *gn_standing_text(gn_standing r)
{
    static const char *const text[] = {"", "fastest", "as fast, within noise",
                                       "slower, beyond noise"};
    return text[r];
}

double gn_behind(const gn_bench *b, const gn_cell *c, bool infer)
{
    if (gn_standing_of(b, c, infer) == GN_STANDS_NONE) return NAN;
    const gn_cell *best = fastest(b, c, infer, false);
    return 100 * (figure(c, infer)->median / figure(best, infer)->median - 1);
}

double gn_thread_gain(const gn_bench *b, const gn_cell *c, bool infer)
{
    const gn_cell *few = NULL;
    if (b->grid.threads.n < 2 || !timed(c, infer)) return NAN;
    for (int k = 0; k < b->n_cells; k++) {
        const gn_cell *o = &b->cells[k];
        if (!timed(o, infer) || strcmp(o->model, c->model) != 0 || strcmp(o->data, c->data) != 0 ||
            !gn_cell_covers(o, c->mode, c->dynamic))
            continue;
        if (!few || o->threads < few->threads) few = o;
    }
    return few ? figure(few, infer)->median / figure(c, infer)->median : NAN;
}

double gn_search_gain(const gn_bench *b, const gn_cell *c, bool infer)
{
    if (!timed(c, infer) || !gn_searches(c)) return NAN;
    const gn_cell *other = fastest(b, c, infer, true);
    return other ? figure(other, infer)->median / figure(c, infer)->median : NAN;
}

double gn_search_pays(const gn_bench *b, const gn_cell *c, bool infer)
{
    if (!timed(c, infer) || !gn_searches(c)) return NAN;
    const gn_cell *other = fastest(b, c, infer, true);
    if (!other) return NAN;
    if (gn_as_fast(c, other, infer)) return INFINITY;
    return gn_break_even(c->cold.tune_ms, figure(other, infer)->median, figure(c, infer)->median);
}
