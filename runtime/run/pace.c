#include "runtime/run/pace.h"

enum { BEFORE = 3, WARM = 2, SLOW_RUNS = 32, REST = 64, LONGEST_REST = 1024 };
static const int64_t long_ns = 20000000; /* runs that are not tried alone */

void gn_pace_start(gn_pace *p) { *p = (gn_pace){.on = true, .run = -BEFORE, .rest = REST}; }

/* A trial: runs in the way that was found, then others to get warm and as many in the other way. */
static bool in_other_way(const gn_pace *p) { return !p->end && p->run >= GN_PACE_RUNS; }

bool gn_pace_alone(const gn_pace *p) { return p->alone != in_other_way(p); }

/* Without the longest: what interrupted that may not come again.  Others that wait now and then are
 * in it. */
static int64_t mean(const int64_t *took)
{
    int64_t sum = 0, longest = 0;
    for (int k = 0; k < GN_PACE_RUNS; k++) {
        sum += took[k];
        longest = took[k] > longest ? took[k] : longest;
    }
    return (sum - longest) / (GN_PACE_RUNS - 1);
}

static void begin_trial(gn_pace *p)
{
    p->end = 0;
    p->run = p->slow = 0;
    p->spent = 0;
}

static void end_trial(gn_pace *p, int64_t now)
{
    for (int k = 0; k < 2; k++) p->ns[k] = mean(p->took[k]);
    if (p->ns[!p->alone] < p->ns[p->alone] - p->ns[p->alone] / 32) {
        p->alone = !p->alone;
        p->rest = REST;
    } else if (p->rest < LONGEST_REST) {
        p->rest *= 2;
    }
    p->end = now + p->spent * p->rest;
}

/* The other way takes far longer: one run of it, warm, is enough. */
static bool is_hopeless(const gn_pace *p, int64_t took)
{
    return p->run >= GN_PACE_RUNS + WARM && took > 2 * mean(p->took[p->alone]);
}

static void go_on_resting(gn_pace *p, int64_t now, int64_t took)
{
    p->slow = took > p->ns[p->alone] + p->ns[p->alone] / 4 ? p->slow + 1 : 0;
    if (p->slow >= SLOW_RUNS) p->rest = REST;
    if (p->slow >= SLOW_RUNS || now >= p->end) begin_trial(p);
}

void gn_pace_ran(gn_pace *p, int64_t now, int64_t took)
{
    if (p->end) {
        go_on_resting(p, now, took);
        return;
    }
    if (took > long_ns && !gn_pace_alone(p)) {
        p->run = -BEFORE;
        p->spent = 0;
        return;
    }
    p->spent += p->run >= 0 ? took : 0;
    if (is_hopeless(p, took)) {
        for (int k = 0; k < GN_PACE_RUNS; k++) p->took[!p->alone][k] = took;
        end_trial(p, now);
        return;
    }
    if (p->run >= 0 && p->run < GN_PACE_RUNS)
        p->took[p->alone][p->run] = took;
    else if (p->run >= GN_PACE_RUNS + WARM)
        p->took[!p->alone][p->run - GN_PACE_RUNS - WARM] = took;
    if (++p->run == 2 * GN_PACE_RUNS + WARM) end_trial(p, now);
}
