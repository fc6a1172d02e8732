#include "session/profile.h"

#include "base/clock.h"
#include "compile/kernel_name.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WARM_RUNS = 20, /* at least: by then it is known how many threads pay (pace.h) */
    TYPICAL = 20    /* further runs, of which the one nearest to the median is shown */
};
static const double WARM_MS = 200, STEPS_MS = 1500, FEWEST = 10, MOST = 500;

typedef struct taker {
    gn_arena *arena;
    gn_session *s;
    gn_unit *u;
    gn_trace *trace;
    gn_trace_time *time; /* [n] of one run */
    gn_profile *out;
    int64_t steps;               /* taken so far, */
    int64_t room;                /* of so many */
    double *busy, *wait;         /* [n][room] microseconds of the step's time */
    double *run, *traced, *bare; /* [room] */
} taker;

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Sorts x. */
static double quantile(double *x, int64_t n, double q)
{
    if (!n) return NAN;
    qsort(x, (size_t)n, sizeof *x, ascending);
    double at = q * (double)(n - 1);
    int64_t k = (int64_t)at;
    return k + 1 < n ? x[k] + (at - (double)k) * (x[k + 1] - x[k]) : x[k];
}

/* Running -------------------------------------------------------------------------------------- */

static gn_status *one_step(gn_session *s)
{
    double loss;
    return s->opt.train ? gn_session_step(s, &loss) : gn_session_eval(s);
}

static gn_status *timed_step(taker *z, bool traced, double *us)
{
    gn_instance_trace(z->u->instance, traced ? z->trace : NULL);
    int64_t before = gn_now_ns();
    gn_status *s = one_step(z->s);
    *us = (double)(gn_now_ns() - before) * 1e-3;
    gn_instance_trace(z->u->instance, NULL);
    return s;
}

/* Of the run that was traced last. */
static void keep_times(taker *z)
{
    double each = 1e-3 / gn_trace_threads(z->trace);
    gn_trace_settle(z->trace);
    gn_trace_times(z->trace, z->time);
    for (int k = 0; k < z->out->n; k++) {
        z->busy[k * z->room + z->steps] = z->time[k].busy * each;
        z->wait[k * z->room + z->steps] = z->time[k].wait * each;
    }
    z->run[z->steps] = (double)(z->trace->end - z->trace->begin) * 1e-3;
    for (int t = 0; t < z->trace->threads; t++) z->out->lost += z->trace->thread[t].lost;
}

/* One that is traced and one that is not, in turn first. */
static gn_status *take_steps(taker *z)
{
    for (; z->steps < z->room; z->steps++) {
        bool first = z->steps % 2 == 0;
        GN_TRY(timed_step(z, first, first ? &z->traced[z->steps] : &z->bare[z->steps]));
        if (first) keep_times(z);
        GN_TRY(timed_step(z, !first, first ? &z->bare[z->steps] : &z->traced[z->steps]));
        if (!first) keep_times(z);
    }
    return NULL;
}

static void keep_events(taker *z)
{
    const gn_trace *t = z->trace;
    gn_profile *p = z->out;
    p->used = gn_trace_threads(t);
    p->region = t->region;
    p->events_us = (double)(t->end - t->begin) * 1e-3;
    for (int h = 0; h < t->threads; h++) {
        const gn_trace_thread *from = &t->thread[h];
        gn_trace_thread *to = &p->events[h];
        memcpy(to->event, from->event, (size_t)from->n * sizeof *to->event);
        to->n = from->n;
    }
}

static gn_status *find_typical(taker *z)
{
    gn_profile *p = z->out;
    double best = INFINITY, us;
    p->events = GN_NEW_N(z->arena, gn_trace_thread, p->threads + 1);
    for (int t = 0; t < p->threads; t++)
        p->events[t].event = GN_NEW_N(z->arena, gn_trace_event, z->trace->room);
    for (int k = 0; k < TYPICAL && best > 0.01 * p->us; k++) {
        GN_TRY(timed_step(z, true, &us));
        double off = fabs((double)(z->trace->end - z->trace->begin) * 1e-3 - p->us);
        if (off >= best) continue;
        best = off;
        gn_trace_settle(z->trace);
        keep_events(z);
    }
    return NULL;
}

static gn_status *warm_up(taker *z, int64_t steps)
{
    double start = gn_now_ms(), us = 0;
    int runs = 0;
    while (runs < WARM_RUNS || gn_now_ms() - start < WARM_MS) {
        if (runs > 2 && gn_now_ms() - start > 4 * WARM_MS) break;
        GN_TRY(timed_step(z, false, &us));
        runs++;
    }
    double fit = STEPS_MS / ((gn_now_ms() - start) / runs) / 2;
    z->room = steps ? steps : (int64_t)fmin(fmax(fit, FEWEST), MOST);
    return NULL;
}

/* What was found ------------------------------------------------------------------------------- */

/* Means of a launch over the runs nearest to the median one, so that launches add up to a run. */
static double middle_mean(const taker *z, const double *of, double low, double high)
{
    double sum = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < z->steps; i++) {
        if (z->run[i] < low || z->run[i] > high) continue;
        sum += of[i];
        n++;
    }
    return n ? sum / (double)n : 0;
}

static void find_medians(taker *z)
{
    gn_profile *p = z->out;
    double sum = 0, *sorted = GN_NEW_N(z->arena, double, z->steps);
    p->steps = z->steps;
    memcpy(sorted, z->run, (size_t)z->steps * sizeof *sorted);
    p->us = quantile(sorted, z->steps, 0.5);
    p->low_us = quantile(sorted, z->steps, 0.1);
    p->high_us = quantile(sorted, z->steps, 0.9);
    double low = quantile(sorted, z->steps, 0.4), high = quantile(sorted, z->steps, 0.6);
    double mean = middle_mean(z, z->run, low, high), scale = mean > 0 ? p->us / mean : 1;
    p->traced_us = quantile(z->traced, z->steps, 0.5);
    p->bare_us = quantile(z->bare, z->steps, 0.5);
    p->outside_us = fmax(0, p->traced_us - p->us);
    for (int k = 0; k < p->n; k++) {
        gn_profile_kernel *x = &p->kernel[k];
        x->wait_us = scale * middle_mean(z, z->wait + k * z->room, low, high);
        x->report.us = scale * middle_mean(z, z->busy + k * z->room, low, high) + x->wait_us;
        sum += x->report.us;
    }
    p->rest_us = fmax(0, p->us - sum);
}

double *gn_profile_shares(gn_arena *a, const gn_cost *cost, const gn_ceilings *c, gn_bound_by by)
{
    int n = cost->n_values;
    double *share = GN_NEW_N(a, double, n + 1), all = 0;
    bool traffic = by == GN_BY_MEMORY || by == GN_BY_GATHER;
    for (int k = 0; k < n && by != GN_BY_NOTHING; k++) {
        const gn_value_cost *v = &cost->value[k];
        double pairs = c->pair_gflops > 0 ? v->pairs : 0;
        if (traffic)
            share[k] = v->streamed / gn_ceilings_rate(c, cost->work_set) +
                       v->gathered / gn_ceilings_rate(c, cost->table);
        else
            share[k] = (v->flops - pairs + 2 * (double)GN_FUNCTION_FLOPS * v->functions +
                        2 * (double)GN_DRAW_FLOPS * v->draws) /
                           c->gflops +
                       (pairs > 0 ? pairs / c->pair_gflops : 0);
        all += share[k];
    }
    for (int k = 0; k < n; k++) share[k] = all > 0 ? share[k] / all : 1.0 / n;
    return share;
}

static bool same_place(gir_loc a, gir_loc b)
{
    return a.layer == b.layer && a.way == b.way && a.own == b.own && a.file == b.file &&
           a.line == b.line;
}

typedef struct parts {
    GN_VEC(gn_profile_part) v;
} parts;

static gn_profile_part *part_of(gn_arena *a, parts *to, uint32_t from, int kernel, gir_loc loc)
{
    for (uint32_t i = from; i < to->v.n; i++)
        if (same_place(to->v.p[i].loc, loc)) return &to->v.p[i];
    GN_PUSH(a, to->v, ((gn_profile_part){.kernel = kernel, .loc = loc}));
    return &to->v.p[to->v.n - 1];
}

static void split_kernel(gn_arena *a, const gn_profile *p, const gn_ceilings *c, int k, parts *to)
{
    const gn_profile_kernel *x = &p->kernel[k];
    const gn_cost *cost = &x->report.cost;
    const gir_program *g = p->code->gir;
    uint32_t from = to->v.n;
    double *share = gn_profile_shares(a, cost, c, x->report.by);
    for (int i = 0; i < cost->n_values; i++) {
        const gn_value_cost *v = &cost->value[i];
        bool known = v->value && v->value < g->nodes.n;
        gn_profile_part *part = part_of(
            a, to, from, k, known ? gir_at(g, v->value)->loc : gn_kernel_loc(p->code, k));
        part->share += share[i];
        part->bytes += v->streamed + v->gathered;
        part->flops += v->flops + (double)GN_FUNCTION_FLOPS * v->functions +
                       (double)GN_DRAW_FLOPS * v->draws;
    }
    if (to->v.n == from) { /* a copy */
        gn_profile_part *part = part_of(a, to, from, k, gn_kernel_loc(p->code, k));
        part->share = 1;
        part->bytes = cost->work_set;
    }
    bool several = false;
    for (uint32_t i = from; i < to->v.n; i++)
        several = several || to->v.p[i].loc.layer != to->v.p[from].loc.layer ||
                  to->v.p[i].loc.way != to->v.p[from].loc.way;
    for (uint32_t i = from; i < to->v.n; i++) {
        gn_profile_part *part = &to->v.p[i];
        part->estimated = several;
        part->us = part->share * x->report.us;
        part->wait_us = part->share * x->wait_us;
        part->bound_us = part->share * x->report.bound_us;
    }
}

/* Memory --------------------------------------------------------------------------------------- */

static int64_t alive_bytes(const gn_instance *in, int n_slots, int launch)
{
    int64_t bytes = 0;
    for (int k = 0; k < n_slots; k++)
        if (gn_instance_alive(in, k, launch)) bytes += gn_instance_slot_room(in, k);
    return bytes;
}

static int by_bytes(const void *a, const void *b)
{
    int64_t x = ((const gn_profile_held *)a)->bytes, y = ((const gn_profile_held *)b)->bytes;
    return x > y ? -1 : x < y;
}

static void find_memory(gn_arena *a, gn_profile *p)
{
    const gn_instance *in = p->unit->instance;
    const gir_program *g = p->code->gir;
    int slots = p->code->artifact->n_slots;
    for (int k = 0; k < p->n; k++) {
        p->kernel[k].alive = alive_bytes(in, slots, k);
        if (p->kernel[k].alive > p->kernel[p->peak].alive) p->peak = k;
    }
    p->held = GN_NEW_N(a, gn_profile_held, slots + 1);
    for (int k = 0; k < slots; k++) {
        if (!gn_instance_alive(in, k, p->peak) || !gn_instance_slot_room(in, k)) continue;
        const low_buffer *b = &p->code->low->buffers.p[k];
        gir_id v = gn_held_value(p->code, b, p->peak);
        p->held[p->n_held++] = (gn_profile_held){.loc = v ? gir_at(g, v)->loc : (gir_loc){0},
                                                 .what = v         ? gir_ops[gir_at(g, v)->op].text
                                                         : b->name ? b->name
                                                                   : "",
                                                 .type = v ? gir_type_text(g, gir_type_of(g, v))
                                                           : "",
                                                 .bytes = gn_instance_slot_room(in, k)};
    }
    if (p->n_held) qsort(p->held, (size_t)p->n_held, sizeof *p->held, by_bytes);
}

/* All ------------------------------------------------------------------------------------------ */

static void make_room(taker *z)
{
    int64_t n = z->out->n + 1;
    z->busy = GN_NEW_N(z->arena, double, n * z->room);
    z->wait = GN_NEW_N(z->arena, double, n * z->room);
    z->run = GN_NEW_N(z->arena, double, z->room);
    z->traced = GN_NEW_N(z->arena, double, z->room);
    z->bare = GN_NEW_N(z->arena, double, z->room);
    z->time = GN_NEW_N(z->arena, gn_trace_time, n);
}

void gn_profile_unit(gn_arena *a, const gn_unit *u, const gn_ceilings *c, gn_profile *p)
{
    parts all = {0};
    p->unit = u;
    p->code = u->code;
    p->bound_us = 0;
    for (int k = 0; k < p->n; k++) {
        gn_profile_kernel *x = &p->kernel[k];
        double us = x->report.us;
        gn_explain_kernel(a, u, c, k, &x->report);
        x->report.us = us;
        x->words = gn_kernel_words(a, p->code, k);
        p->bound_us += x->report.bound_us;
    }
    for (int k = 0; k < p->n; k++) split_kernel(a, p, c, k, &all);
    p->part = all.v.p;
    p->n_parts = (int)all.v.n;
    find_memory(a, p);
}

static gn_status *take(taker *z, const gn_ceilings *c, int64_t steps)
{
    GN_TRY(warm_up(z, steps));
    make_room(z);
    GN_TRY(take_steps(z));
    find_medians(z);
    gn_profile_unit(z->arena, z->u, c, z->out);
    return find_typical(z);
}

gn_status *gn_profile_session(gn_arena *a, gn_session *s, const gn_ceilings *c, int64_t steps,
                              gn_profile *out)
{
    gn_unit *u = s->opt.train ? &s->build.step : &s->build.eval;
    if (s->opt.target)
        GN_FAIL(GN_ERR_USAGE, "a profile is of this processor: of a GPU's kernels `gnnc explain "
                              "--device cuda` says where the time goes");
    *out = (gn_profile){.name = s->opt.train ? "step" : "eval",
                        .unit = u,
                        .code = u->code,
                        .threads = gn_instance_threads(u->instance),
                        .n = u->code->artifact->n_launches};
    out->kernel = GN_NEW_N(a, gn_profile_kernel, out->n + 1);
    taker z = {.arena = a, .s = s, .u = u, .out = out};
    GN_TRY(gn_trace_new(out->threads, out->n, &z.trace));
    gn_status *status = take(&z, c, steps);
    gn_instance_trace(u->instance, NULL);
    gn_trace_free(z.trace);
    return status;
}

/* Rows ----------------------------------------------------------------------------------------- */

static bool same_row(const gn_profile_part *p, const gn_profile_row *r, gn_profile_by by)
{
    if (by == GN_PROFILE_KERNEL) return p->kernel == r->kernel;
    if (p->loc.way != r->loc.way) return false;
    if (by == GN_PROFILE_LAYER)
        return p->loc.layer == r->loc.layer &&
               (p->loc.way != GIR_OPTIMIZER || !p->loc.line == !r->loc.line);
    return p->loc.own == r->loc.own;
}

static int slowest(const void *a, const void *b)
{
    const gn_profile_row *x = a, *y = b;
    if (x->us != y->us) return x->us > y->us ? -1 : 1;
    return x->kernel < y->kernel ? -1 : x->kernel > y->kernel;
}

typedef struct most { /* of a row */
    double by[GN_BY_NOTHING + 1], part;
    int last; /* kernel */
} most;

static void add_part(const gn_profile *p, const gn_profile_part *x, gn_profile_by by,
                     gn_profile_row *r, most *m)
{
    r->us += x->us;
    r->wait_us += x->wait_us;
    r->bound_us += x->bound_us;
    r->bytes += x->bytes;
    r->flops += x->flops;
    r->estimated = r->estimated || (x->estimated && by != GN_PROFILE_KERNEL);
    r->kernels += x->kernel != m->last;
    m->last = x->kernel;
    m->by[p->kernel[x->kernel].report.by] += x->us;
    if (x->us > m->part) {
        m->part = x->us;
        r->loc = x->loc;
        r->kernel = x->kernel;
    }
    for (int b = 0; b <= GN_BY_NOTHING; b++)
        if (m->by[b] > m->by[r->by]) r->by = (gn_bound_by)b;
}

gn_profile_row *gn_profile_rows(gn_arena *a, const gn_profile *p, gn_profile_by by, int *n)
{
    gn_profile_row *row = GN_NEW_N(a, gn_profile_row, p->n_parts + 1);
    most *m = GN_NEW_N(a, most, p->n_parts + 1);
    *n = 0;
    for (int i = 0; i < p->n_parts; i++) {
        const gn_profile_part *x = &p->part[i];
        int k = 0;
        while (k < *n && !same_row(x, &row[k], by)) k++;
        if (k == *n) {
            row[k] = (gn_profile_row){.loc = x->loc, .kernel = x->kernel, .by = GN_BY_NOTHING};
            m[k] = (most){.last = -1, .part = -1};
            ++*n;
        }
        add_part(p, x, by, &row[k], &m[k]);
    }
    if (*n) qsort(row, (size_t)*n, sizeof *row, slowest);
    return row;
}
