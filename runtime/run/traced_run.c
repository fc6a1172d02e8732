/* Runs of an instance that are traced, launch by launch or as a region. */
#include "runtime/run/chain.h"
#include "runtime/run/instance.h"
#include "runtime/run/region.h"

typedef struct traced { /* a launch whose ranges are noted */
    gn_instance *in;
    gn_ready *ready;
    int launch;
} traced;

static void call_traced(void *ctx, int64_t lo, int64_t hi)
{
    const traced *z = ctx;
    gn_trace *t = z->in->trace;
    int64_t before = gn_trace_now(t);
    gn_ready_call(z->ready, lo, hi);
    gn_trace_note(t, gn_pool_thread(z->in->pool), z->launch, false, before, gn_trace_now(t));
}

/* What begins at `before`; when it is over. */
static int64_t run_launch_traced(gn_instance *in, int k, bool alone, int64_t before)
{
    traced z = {in, &in->ready[k], k};
    gn_ready *r = z.ready;
    bool one = alone || r->trip <= r->grain;
    if (one)
        gn_ready_call(r, 0, r->trip);
    else if (r->n_ranges)
        gn_pool_run_ranges(in->pool, r->n_ranges, r->bound, call_traced, &z);
    else
        gn_pool_run(in->pool, r->trip, r->grain, call_traced, &z);
    int64_t after = gn_trace_now(in->trace);
    if (one) gn_trace_note(in->trace, 0, k, false, before, after);
    in->trace->span[k] = (gn_trace_span){before, after};
    return after;
}

/* What each launch of a chain had of the chain's time. */
static void note_chains(gn_instance *in)
{
    static const int64_t whole = 1 << 30;
    for (int k = 0; k < in->artifact->n_launches; k++) {
        int n = in->artifact->launches[k].chain;
        if (!in->ready[k].chain) continue;
        for (int i = k; i < k + n; i++) in->ns[i] = 0;
        gn_chain_split(in->ready[k].chain, whole, &in->ns[k]);
        for (int i = k; i < k + n; i++) in->trace->part[i] = (double)in->ns[i] / (double)whole;
    }
}

void gn_run_traced(gn_instance *in, bool alone)
{
    gn_trace *t = in->trace;
    gn_trace_begin(t);
    t->alone = alone || gn_pool_threads(in->pool) == 1;
    t->region = !alone && in->region;
    int64_t before = t->first;
    if (t->region) gn_region_run(in);
    for (int k = 0; k < in->artifact->n_launches && !t->region; k++)
        if (in->ready[k].trip > 0) before = run_launch_traced(in, k, t->alone, before);
    gn_trace_end(t);
    note_chains(in);
}
