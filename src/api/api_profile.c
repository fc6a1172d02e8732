/* Profiles of a run's calls. */
#include "api/api.h"

#include "compile/kernel_name.h"
#include "session/profile.h"

#include <string.h>

/* Timing --------------------------------------------------------------------------------------- */

static void forget_rows(api_timed *t)
{
    if (t->has_arena) gn_arena_free(&t->arena);
    t->has_arena = false;
    t->row = NULL;
    t->by = NULL;
    t->n = 0;
}

static void forget(api_timed *t)
{
    forget_rows(t);
    gn_trace_free(t->trace);
    gn_release(t->one);
    gn_release(t->sum);
    *t = (api_timed){0};
}

void api_forget_timed(gnnc_run *r)
{
    for (int k = 0; k < API_UNITS; k++) forget(&r->timed[k]);
}

/* Sums of a program that it has none of yet. */
static gn_status *start(api_timed *t, const gn_unit *u)
{
    int n = u->code->artifact->n_launches;
    forget(t);
    GN_TRY(gn_trace_new(gn_instance_threads(u->instance), n, &t->trace));
    t->one = gn_allocate_zeroed((size_t)(n + 1) * sizeof *t->one);
    t->sum = gn_allocate_zeroed((size_t)(n + 1) * sizeof *t->sum);
    if (!t->one || !t->sum) {
        forget(t);
        GN_FAIL(GN_ERR_NOMEM, "out of memory: times of %d kernels", n);
    }
    t->code = u->code;
    return NULL;
}

gn_status *api_begin_timed(gnnc_run *r, int which)
{
    api_timed *t = &r->timed[which];
    const gn_unit *u = &r->unit[which];
    if (t->code != u->code || t->bindings != r->bindings) GN_TRY(start(t, u));
    t->bindings = r->bindings;
    forget_rows(t);
    gn_instance_trace(u->instance, t->trace);
    return NULL;
}

void api_end_timed(gnnc_run *r, int which)
{
    api_timed *t = &r->timed[which];
    double each = 1e-3 / gn_trace_threads(t->trace);
    gn_instance_trace(r->unit[which].instance, NULL);
    gn_trace_settle(t->trace);
    gn_trace_times(t->trace, t->one);
    for (int k = 0; k < t->trace->launches; k++) {
        t->sum[k].busy += t->one[k].busy * each;
        t->sum[k].wait += t->one[k].wait * each;
    }
    t->calls++;
}

gnnc_status *gnnc_run_profile(gnnc_run *r, bool on)
{
    API_NEEDS(r);
    API_MEMORY(api_context(r->exe));
    if (api_target(api_context(r->exe)))
        return api_out(GN_ERROR(GN_ERR_USAGE, "calls on a GPU are not profiled"));
    api_forget_timed(r);
    r->profiles = on;
    return NULL;
}

/* Rows ----------------------------------------------------------------------------------------- */

static gn_status *choice(const char *what, const char *word, int n, const char *const *words,
                         int *out)
{
    for (int k = 0; k < n; k++)
        if (!strcmp(word, words[k])) {
            *out = k;
            return NULL;
        }
    GN_FAIL(GN_ERR_USAGE, "%s: unknown '%.40s'", what, word);
}

static const char *row_name(gn_arena *a, const gn_profile *p, gn_profile_by by,
                            const gn_profile_row *r)
{
    const gir_program *g = p->code->gir;
    if (by == GN_PROFILE_KERNEL) return p->kernel[r->kernel].words;
    if (by == GN_PROFILE_LAYER || !r->loc.own || !g->files.n) return gn_layer_name(g, r->loc);
    const char *file = g->files.p[0], *slash = strrchr(file, '/');
    return gn_arena_printf(a, "%s:%u", slash ? slash + 1 : file, (unsigned)r->loc.own);
}

static gn_status *make_rows(gnnc_run *r, int which, gn_profile_by by)
{
    api_timed *t = &r->timed[which];
    gn_arena *a = &t->arena;
    gn_ceilings c;
    gn_profile *p = GN_NEW(a, gn_profile);
    GN_TRY(gn_ceilings_measure(a, r->pool, &c));
    p->n = t->trace->launches;
    p->kernel = GN_NEW_N(a, gn_profile_kernel, p->n + 1);
    for (int k = 0; k < p->n; k++) {
        p->kernel[k].wait_us = t->sum[k].wait / (double)t->calls;
        p->kernel[k].report.us = t->sum[k].busy / (double)t->calls + p->kernel[k].wait_us;
    }
    gn_profile_unit(a, &r->unit[which], &c, p);
    t->row = gn_profile_rows(a, p, by, &t->n);
    t->name = GN_NEW_N(a, const char *, t->n + 1);
    for (int k = 0; k < t->n; k++) t->name[k] = row_name(a, p, by, &t->row[k]);
    return NULL;
}

static gn_status *guarded_rows(gnnc_run *r, int which, gn_profile_by by)
{
    gn_arena *a = &r->timed[which].arena;
    API_GUARD(a);
    gn_status *s = make_rows(r, which, by);
    a->oom = NULL;
    return s;
}

static gn_status *profile_row(gnnc_run *r, const char *program, const char *by_word, int k,
                              gnnc_profile_row *out)
{
    static const char *const programs[] = {"infer", "step", "forward", "backward"}, *const bys[] = {
                                                                                        "layer",
                                                                                        "line",
                                                                                        "kernel"};
    int which, by;
    GN_TRY(choice("program", program, API_UNITS, programs, &which));
    GN_TRY(choice("by", by_word, 3, bys, &by));
    api_timed *t = &r->timed[which];
    if (!t->calls || !r->unit[which].instance || r->unit[which].code != t->code)
        GN_FAIL(GN_ERR_USAGE, "no call of '%s' was timed: gnnc_run_profile comes before it",
                program);
    if (t->by != bys[by]) {
        forget_rows(t);
        gn_arena_init(&t->arena);
        t->has_arena = true;
        GN_TRY(guarded_rows(r, which, (gn_profile_by)by));
        t->by = bys[by];
    }
    if (k < 0 || k >= t->n) GN_FAIL(GN_ERR_USAGE, "row %d: there are %d", k, t->n);
    const gn_profile_row *x = &t->row[k];
    api_describe(out,
                 &(gnnc_profile_row){.size = out->size,
                                     .name = t->name[k],
                                     .part = gir_way_name[x->loc.way],
                                     .bound_by = gn_bound_text[x->by],
                                     .us = x->us,
                                     .wait_us = x->wait_us,
                                     .bound_us = x->bound_us,
                                     .bytes = x->bytes,
                                     .flops = x->flops,
                                     .kernels = x->kernels,
                                     .estimated = x->estimated,
                                     .calls = t->calls},
                 sizeof *out);
    return NULL;
}

gnnc_status *gnnc_run_profile_row(gnnc_run *r, const char *program, const char *by, int k,
                                  gnnc_profile_row *row)
{
    API_NEEDS(r);
    API_NEEDS(program);
    API_NEEDS(by);
    API_NEEDS(row);
    API_MEMORY(api_context(r->exe));
    return api_out(profile_row(r, program, by, k, row));
}
