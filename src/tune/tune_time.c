/* duel: two units in turn, so that what happens to the machine meanwhile happens to both. */
#include "tune/tune_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 61, LEAST = 3, HOPELESS_AFTER = 4 };
/* A device's first launch of a batch begins some microseconds late, and its clock ticks every half
 * of one. */
static const double batch_ms = 0.25, batch_ms_there = 1;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, by_value);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* Median distance from the median, scaled to a standard deviation, of a median of n. */
static double noise_of(const double *x, int n, double middle)
{
    double d[MOST];
    for (int k = 0; k < n; k++) d[k] = fabs(x[k] - middle);
    return 1.4826 * median(d, n) * 1.2533 / sqrt(n);
}

/* What a win must be at least.  With several threads times follow what a cache line takes from core
 * to core, which on virtual machines changes fourfold from one minute to the next; who waits for
 * whom even more, and with what the caller does between two runs. */
static double least_gain(const tuner *t, const gn_unit *a, const gn_unit *b)
{
    if (t->site->target) return 0.01;
    int all = gn_pool_threads(t->site->pool), x = a->threads ? a->threads : all,
        y = b->threads ? b->threads : all;
    if (x != y || (x > 1 && a->one_region != b->one_region)) return 0.05;
    return x > 1 ? 0.03 : 0.01;
}

/* Both with the threads that they are for, not with those that a run is worth at the moment. */
static void pace(const gn_unit *a, const gn_unit *b, bool on)
{
    gn_instance_pace(a->instance, on);
    gn_instance_pace(b->instance, on);
}

/* Of the first that failed. */
static gn_status *failed(const gn_unit *a, const gn_unit *b)
{
    gn_status *x = gn_instance_check(a->instance), *y = gn_instance_check(b->instance);
    if (!x) return y;
    gn_status_free(y);
    return x;
}

/* Runs of a batch.  Runs before it are not timed: on a device products are chosen, and launches
 * recorded. */
static int warm_up(const tuner *t, const gn_unit *a, const gn_unit *b)
{
    bool there = t->site->target != NULL;
    for (int k = 0; k < 2 && there; k++) {
        gn_instance_run(a->instance);
        gn_instance_run(b->instance);
    }
    double once = gn_instance_clock(a->instance, 1), batch = there ? batch_ms_there : batch_ms;
    gn_instance_clock(b->instance, 1);
    return once > 0 ? (int)fmax(1, fmin(500, batch * 1e3 / once)) : 1;
}

gn_status *duel_run(const tuner *t, const gn_unit *a, const gn_unit *b, double ms, duel *out)
{
    double x[MOST], y[MOST], ratio[MOST], sorted[MOST], start = gn_now_ms();
    int n = 0;
    GN_TRY(check_reset(t, t->site->seed));
    pace(a, b, false);
    int runs = warm_up(t, a, b);
    gn_status *bad = NULL;
    while (!bad && n < MOST && (n < LEAST || gn_now_ms() - start < ms)) {
        bool first = n % 2 == 0;
        if (first) x[n] = gn_instance_clock(a->instance, runs);
        y[n] = gn_instance_clock(b->instance, runs);
        if (!first) x[n] = gn_instance_clock(a->instance, runs);
        ratio[n] = x[n] > 0 ? y[n] / x[n] : 1;
        bad = failed(a, b);
        if (++n == HOPELESS_AFTER) {
            memcpy(sorted, ratio, sizeof *ratio * (size_t)n);
            if (median(sorted, n) > 1.15) break;
        }
    }
    pace(a, b, true);
    if (bad) return bad;
    duel d = {.a_us = median(x, n), .b_us = median(y, n), .least = least_gain(t, a, b)};
    memcpy(sorted, ratio, sizeof *ratio * (size_t)n);
    d.ratio = median(sorted, n);
    d.noise = noise_of(ratio, n, d.ratio);
    *out = d;
    return NULL;
}

bool duel_won(const duel *d) { return d->ratio < 1 - fmax(d->least, 2 * d->noise); }

static void least(gn_instance *in, int n, int64_t *ns, int64_t *room)
{
    int64_t runs;
    gn_instance_profile(in, true);
    gn_instance_run(in);
    gn_instance_times(in, room, &runs);
    gn_instance_profile(in, false);
    for (int k = 0; k < n; k++)
        if (room[k] < ns[k]) ns[k] = room[k];
}

gn_status *duel_launches(const tuner *t, const gn_unit *a, const gn_unit *b, double ms,
                         int64_t *a_ns, int64_t *b_ns)
{
    int n = a->code->artifact->n_launches, m = b->code->artifact->n_launches;
    int64_t *room = calloc((size_t)(n > m ? n : m) + 1, sizeof *room);
    double start = gn_now_ms();
    for (int k = 0; k < n; k++) a_ns[k] = INT64_MAX;
    for (int k = 0; k < m; k++) b_ns[k] = INT64_MAX;
    if (!room) GN_FAIL(GN_ERR_NOMEM, "out of memory: times of %d launches", n > m ? n : m);
    gn_status *bad = check_reset(t, t->site->seed);
    pace(a, b, false);
    for (int k = 0; !bad && k < MOST && (k < LEAST || gn_now_ms() - start < ms); k++) {
        least(a->instance, n, a_ns, room);
        least(b->instance, m, b_ns, room);
        bad = failed(a, b);
    }
    pace(a, b, true);
    free(room);
    return bad;
}
