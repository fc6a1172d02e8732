#include "target/whole.h"

#include "base/map.h"
#include "target/cuda_code.h"
#include "compile/expect.h"
#include "runtime/run/depend.h"

#include <math.h>
#include <string.h>

/* Nanoseconds, by reasoning and what others have published of recent GPUs; none is measured here
 * yet. */
static const double launch_ns = 2000; /* from the end of a launch of a recorded graph to the next
                                         one's first instruction */
static const double meet_ns = 1200;   /* a meeting of all blocks */
static const double round_ns = 1000;  /* a chain of dependent loads: what a block more takes, where
                                         it must wait for another */
enum {
    BLOCKS_OF_LAUNCHES = 4
}; /* of 256 threads that a multiprocessor runs of a launch; of a whole program: one */

/* Launches as phases --------------------------------------------------------------------------- */

const gn_cuda_whole *gn_whole_of(gn_arena *a, const gn_compiled *c, bool share, bool origin)
{
    const gn_artifact *art = c->artifact;
    gn_cuda_whole *w = GN_NEW(a, gn_cuda_whole);
    gn_cuda_phase *phases = GN_NEW_N(a, gn_cuda_phase, art->n_launches + 1);
    int *number = GN_NEW_N(a, int, art->n_slots + 1);
    gn_map seen;
    gn_map_init(&seen, a);
    *w = (gn_cuda_whole){.n = art->n_launches, .phase = phases, .n_values = art->n_syms};
    w->n_buffers = gn_artifact_used(art, number);
    for (int k = 0; k < art->n_launches; k++) {
        const gn_launch *l = &art->launches[k];
        bool copies = l->kind == GN_LAUNCH_COPY;
        int *buf = GN_NEW_N(a, int, l->n_buf + 1), *bytes = GN_NEW(a, int);
        for (int b = 0; b < l->n_buf; b++) buf[b] = number[l->buf[b]];
        phases[k] = (gn_cuda_phase){.same = k, .buf = buf, .sym = copies ? bytes : l->sym};
        if (copies) {
            *bytes = w->n_values++;
            continue;
        }
        phases[k].kernel = c->kernels[l->kernel];
        if (origin) phases[k].origin = gn_kernel_origin(a, c, l->kernel);
        const char *text = gn_canonical_kernel(a, phases[k].kernel, false);
        const uint32_t *same = share ? gn_map_find(&seen, text) : NULL;
        if (same)
            phases[k].same = (int)*same;
        else
            gn_map_put(&seen, text, (uint32_t)k);
    }
    return w;
}

/* Cost ----------------------------------------------------------------------------------------- */

static double rounds(double blocks, double at_once) { return fmax(1, ceil(blocks / at_once)); }

/* Before how many launches blocks would meet, were all to do something. -1: more than can be
 * counted. */
static int count_meetings(gn_arena *a, const gn_artifact *art, const int64_t *value)
{
    gn_plan plan;
    uint64_t *turn = GN_NEW_N(a, uint64_t, art->n_launches + 1);
    gn_status *s = gn_plan_new(art, value, 1, &plan);
    if (s) {
        gn_status_free(s);
        return -1;
    }
    for (int k = 0; k < art->n_launches; k++) turn[k] = GN_TURN_RUNS;
    int n = gn_find_meetings(art, &plan, turn);
    gn_plan_free(&plan);
    return n;
}

/* What it saves and what it costs, in microseconds a run. */
static const char *estimate(gn_arena *a, const gn_compiled *c, const gn_whole_rule *r,
                            const gn_cuda_geometry *g, bool *pays)
{
    const gn_artifact *art = c->artifact;
    int64_t *value = GN_NEW_N(a, int64_t, art->n_syms + 1), trips;
    double units = r->multiprocessors ? r->multiprocessors : gn_cuda_limits().blocks, saved = 0,
           lost = 0;
    *pays = false;
    if (!gn_expected_symbols(art, r->n_hints, r->hints, value))
        return "launch by launch: sizes are not known";
    int meetings = count_meetings(a, art, value);
    if (meetings < 0) return "launch by launch: sizes cannot be counted";
    for (int k = 0; k < art->n_launches; k++) {
        const gn_launch *l = &art->launches[k];
        saved += launch_ns;
        if (!l->parallel) continue;
        if (!gn_term_value(l->trip, value, &trips))
            return "launch by launch: sizes cannot be counted";
        double blocks = ceil(ceil((double)trips / (double)l->step) / (double)g[k].per_block);
        lost += round_ns *
                (rounds(blocks, units) - rounds(blocks, units * (double)BLOCKS_OF_LAUNCHES));
    }
    saved -= launch_ns + meetings * meet_ns; /* it is one launch itself */
    *pays = saved > lost;
    return gn_arena_printf(
        a, "%s: %d launches, %d meetings, about %.0f us a run saved by it and %.0f lost",
        *pays ? "in one kernel" : "launch by launch", art->n_launches, meetings, saved * 1e-3,
        lost * 1e-3);
}

void gn_whole_choose(gn_arena *a, gn_compiled *c, const gn_whole_rule *r)
{
    bool pays;
    c->whole = NULL;
    c->whole_why = NULL;
    if (!r->folded) return;
    if (!gn_is_on(r->off, GN_DO_ONE_KERNEL)) {
        c->whole_why = "launch by launch: one-kernel is switched off";
        return;
    }
    if (!r->cooperative) {
        c->whole_why = "launch by launch: the device has no launches whose blocks can wait for "
                       "each other";
        return;
    }
    if (r->library) {
        c->whole_why = "launch by launch: a library makes its products";
        return;
    }
    if (c->artifact->n_launches < 2) {
        c->whole_why = "launch by launch: there is only one";
        return;
    }
    const gn_cuda_whole *w = gn_whole_of(a, c, gn_is_on(r->off, GN_DO_SHARE_CODE), false);
    gn_cuda_geometry *g = GN_NEW_N(a, gn_cuda_geometry, w->n + 1);
    gn_status *s = gn_cuda_whole_geometry(a, w, g);
    if (s) {
        c->whole_why = gn_arena_printf(a, "launch by launch: %s", gn_status_message(s));
        gn_status_free(s);
        return;
    }
    c->whole_why = estimate(a, c, r, g, &pays);
    if (!pays && r->always)
        c->whole_why = gn_arena_printf(a, "in one kernel, as was found; by the rule %s",
                                       c->whole_why);
    if (pays || r->always) c->whole = w;
}
