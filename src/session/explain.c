#include "session/explain.h"

#include <math.h>
#include <stdlib.h>

const char *const gn_bound_text[] = {"memory", "gather", "flops", "functions", "-"};

/* The least time of each launch over runs: what others do to the machine in between is not the
 * kernel's. */
static gn_status *time_launches(gn_instance *in, double ms, gn_arena *a, gn_unit_report *out)
{
    int64_t *ns = GN_NEW_N(a, int64_t, out->n + 1), runs;
    double start = gn_now_ms();
    for (int k = 0; k < out->n; k++) out->kernels[k].us = INFINITY;
    gn_instance_pace(in, false);
    gn_instance_run(in);
    do {
        gn_instance_profile(in, true);
        gn_instance_run(in);
        gn_instance_times(in, ns, &runs);
        for (int k = 0; k < out->n; k++)
            out->kernels[k].us = fmin(out->kernels[k].us, (double)ns[k] * 1e-3);
        out->runs++;
    } while (gn_now_ms() - start < ms);
    gn_instance_profile(in, false);
    gn_instance_pace(in, true);
    return gn_instance_check(in);
}

static void bound(gn_kernel_report *r, const gn_ceilings *c)
{
    const gn_cost *k = &r->cost;
    r->memory_us = k->work_set / gn_ceilings_rate(c, k->work_set) * 1e-3;
    r->gather_us = k->gathered / gn_ceilings_rate(c, k->table) * 1e-3;
    double pairs = c->pair_gflops > 0 ? k->pairs : 0;
    r->flops_us = (k->flops - pairs) / c->gflops * 1e-3 +
                  (pairs > 0 ? pairs / c->pair_gflops * 1e-3 : 0);
    /* A fused multiply-add counts twice at the peak; what is no such thing runs at half of it. */
    r->functions_us = ((double)GN_FUNCTION_FLOPS * k->functions +
                       (double)GN_DRAW_FLOPS * k->draws) /
                      (c->gflops / 2) * 1e-3;
    double traffic = r->memory_us + r->gather_us, work = r->flops_us + r->functions_us;
    r->bound_us = fmax(traffic, work);
    if (r->bound_us <= 0)
        r->by = GN_BY_NOTHING;
    else if (traffic >= work)
        r->by = r->memory_us >= r->gather_us ? GN_BY_MEMORY : GN_BY_GATHER;
    else
        r->by = r->flops_us >= r->functions_us ? GN_BY_FLOPS : GN_BY_FUNCTIONS;
}

static gn_cost copy_cost(gn_arena *a, double bytes)
{
    gn_cost c = {.sampled = 1, .moved = 2 * bytes, .work_set = 2 * bytes};
    c.buffer = GN_NEW_N(a, gn_buffer_cost, 2);
    c.buffer[0] = (gn_buffer_cost){.written = bytes, .size = bytes};
    c.buffer[1] = (gn_buffer_cost){.read = bytes, .size = bytes};
    return c;
}

static void count(gn_arena *a, const gn_instance *in, const gn_compiled *code, int launch,
                  gn_kernel_report *r)
{
    const low_launch *l = &code->low->launches.p[launch];
    r->cost = l->kernel ? gn_cost_of_launch(a, l, in, launch, 0)
                        : copy_cost(a, (double)gn_instance_slot_bytes(in, l->buffers.p[0]));
}

void gn_explain_kernel(gn_arena *a, const gn_unit *u, const gn_ceilings *c, int k,
                       gn_kernel_report *out)
{
    const low_launch *l = &u->code->low->launches.p[k];
    *out = (gn_kernel_report){.name = u->code->artifact->launches[k].name,
                              .region = l->kernel ? l->region : -1,
                              .us = NAN,
                              .gbytes = NAN,
                              .by = GN_BY_NOTHING};
    count(a, u->instance, u->code, k, out);
    if (c) bound(out, c);
}

gn_status *gn_explain_unit(gn_arena *a, const char *name, const gn_unit *u, const gn_ceilings *c,
                           double ms, gn_unit_report *out)
{
    *out = (gn_unit_report){
        .name = name, .unit = u, .code = u->code, .n = u->code->artifact->n_launches};
    out->kernels = GN_NEW_N(a, gn_kernel_report, out->n + 1);
    if (ms > 0) GN_TRY(time_launches(u->instance, ms, a, out));
    for (int k = 0; k < out->n; k++) {
        gn_kernel_report *r = &out->kernels[k];
        double us = ms > 0 ? r->us : NAN;
        gn_explain_kernel(a, u, c, k, r);
        r->us = us;
        if (us > 0) r->gbytes = (r->cost.gathered + r->cost.work_set) / us * 1e-3;
        out->us += r->us;
        out->bound_us += r->bound_us;
    }
    return NULL;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double gn_guards_ns(const gn_guards *g, const gn_sizes *s)
{
    enum { TIMES = 101, CALLS = 1000 };
    double ns[TIMES];
    for (int k = 0; k < TIMES; k++) {
        volatile bool hold = true;
        int64_t t0 = gn_now_ns();
        for (int i = 0; i < CALLS; i++) {
            const gn_sizes now = *(const volatile gn_sizes *)s;
            hold = gn_guards_hold(g, &now);
        }
        (void)hold;
        ns[k] = (double)(gn_now_ns() - t0) / (double)CALLS;
    }
    qsort(ns, TIMES, sizeof *ns, ascending);
    return ns[TIMES / 2];
}
