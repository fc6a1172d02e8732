#include "cli/bench/across.h"

#include "cli/bench/recommend.h"
#include "cli/bench/rows.h"

#include "compile/mode.h"

#include <math.h>
#include <string.h>

static const gn_stats *figure(const gn_cell *c, bool infer) { return infer ? &c->infer : &c->step; }

/* One comparison: the row of the candidate beside the fastest. */
static void compare_one(const gn_bench *b, const gn_cell *like, const char *mode,
                        const char *dynamic, bool infer, gn_across *a)
{
    const gn_cell *best = NULL, *own = NULL;
    for (int k = 0; k < b->n_cells; k++) {
        const gn_cell *c = &b->cells[k];
        if (c->end != GN_CELL_OK || !figure(c, infer)->n || !gn_are_peers(c, like)) continue;
        if (!best || figure(c, infer)->median < figure(best, infer)->median) best = c;
        if (gn_cell_covers(c, mode, dynamic)) own = c;
    }
    if (!best) return;
    a->of++;
    if (!own) return;
    double times = figure(own, infer)->median / figure(best, infer)->median;
    a->there++;
    a->best += gn_as_fast(own, best, infer);
    a->mean += log(times);
    a->worst = fmax(a->worst, times);
}

static gn_across candidate(const gn_bench *b, const char *model, const char *mode,
                           const char *dynamic, bool infer)
{
    gn_across a = {.name = b->grid.dynamic.n < 2
                               ? mode
                               : gn_arena_printf(b->arena, "%s (dynamic=%s)", mode, dynamic)};
    for (int k = 0; k < b->n_cells; k++) {
        const gn_cell *c = &b->cells[k];
        if (gn_first_of_peers(b, c) && (!model || !strcmp(c->model, model)))
            compare_one(b, c, mode, dynamic, infer, &a);
    }
    a.mean = a.there ? exp(a.mean / a.there) : INFINITY;
    return a;
}

/* Is it better, or as good by a mode that does less?  `by`: how much less time is better. */
static bool better(const gn_across *a, const gn_across *than, double by)
{
    if (a->there != than->there) return a->there > than->there;
    return a->mean * by < than->mean;
}

bool gn_find_across(const gn_bench *rows, const char *model, bool infer, gn_across *out)
{
    const gn_grid *g = &rows->grid;
    uint32_t n = g->modes.n * g->dynamic.n, least = 0;
    gn_across *all = GN_NEW_N(rows->arena, gn_across, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        const char *mode = g->modes.p[k % g->modes.n], *dynamic = g->dynamic.p[k / g->modes.n];
        all[k] = candidate(rows, model, mode, dynamic, infer);
        if (better(&all[k], &all[least], 1)) least = k;
    }
    if (!n || !all[least].there) return false;
    uint32_t pick = least;
    for (uint32_t k = 0; k < n; k++) {
        gn_mode m = gn_mode_by_name(g->modes.p[k % g->modes.n]);
        gn_mode now = gn_mode_by_name(g->modes.p[pick % g->modes.n]);
        if ((m < now || (m == now && k < pick)) && !better(&all[least], &all[k], 1 + GN_NOISE))
            pick = k;
    }
    *out = all[pick];
    return true;
}
