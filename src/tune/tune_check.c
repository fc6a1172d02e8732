/* check: does a candidate compute what the default computes? */
#include "tune/tune_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 2, SEED = 1 };

/* Sums in another order: of an output, beside its largest element; of a state, beside the largest
 * change of one. */
static const double output_slack = 1e-4, state_slack = 5e-3, rounding = 2e-6;

/* What is gathered as BF16, or multiplied so by a processor, may be rounded to the other side then,
 * 2^-8 of an element away; sums have many. */
static const double rounded_slack = 16;

static size_t bytes_of(const result *r) { return (size_t)r->elems * gn_elem_size(r->elem); }

gn_status *check_reset(const tuner *t, uint64_t seed)
{
    GN_TRY(gn_model_reset(t->site->model, t->site->state, seed));
    return gn_state_push(t->site->state, t->site->target ? t->site->target->remote : NULL);
}

/* What has come of a run on the device. */
static gn_status *fetch_results(const tuner *t, const gn_unit *u)
{
    const gn_artifact *a = u->code->artifact;
    if (!t->site->target) return NULL;
    for (int k = 0; k < a->n_slots; k++)
        if (a->slots[k].kind == GN_SLOT_OUTPUT)
            GN_TRY(gn_instance_fetch(u->instance, a->slots[k].name));
    if (t->id == GN_UNIT_STEP) GN_TRY(gn_state_pull(t->site->state, t->site->target->remote));
    return gn_instance_check(u->instance);
}

/* From fresh states, in an arena of what is no number: what is read before it is written shows.  On
 * a device each run: the first one chooses who makes products, or records what the second
 * replays. */
static gn_status *run_fresh(tuner *t, const gn_unit *u)
{
    int runs = t->id == GN_UNIT_STEP || t->site->target ? STEPS : 1;
    GN_TRY(check_reset(t, SEED));
    for (int k = 0; k < runs; k++) {
        if (k == 0 || t->site->target) gn_instance_poison(u->instance);
        gn_instance_run(u->instance);
    }
    GN_TRY(gn_instance_wait(u->instance));
    return fetch_results(t, u);
}

static void *copy(gn_arena *a, const void *data, size_t n)
{
    void *p = gn_arena_alloc(a, n + 1, 1);
    memcpy(p, data, n);
    return p;
}

gn_status *check_reference(tuner *t)
{
    const gn_unit *u = tuner_reference(t);
    const gn_artifact *a = u->code->artifact;
    const gn_state *s = t->site->state;
    t->results = GN_NEW_N(t->arena, result, a->n_slots + s->n + 1);
    t->n_results = 0;
    GN_TRY(gn_model_reset(t->site->model, t->site->state, SEED));
    for (int k = 0; k < s->n && t->id == GN_UNIT_STEP; k++) {
        result *r = &t->results[t->n_results++];
        *r = (result){.name = s->tensors[k].name, .elem = s->tensors[k].elem};
        r->elems = s->tensors[k].rows * s->tensors[k].row_elems;
        r->before = copy(t->arena, s->tensors[k].data, bytes_of(r));
    }
    GN_TRY(run_fresh(t, u));
    for (int k = 0; k < t->n_results; k++)
        t->results[k].value = copy(t->arena, s->tensors[k].data, bytes_of(&t->results[k]));
    for (int k = 0; k < a->n_slots; k++) {
        if (a->slots[k].kind != GN_SLOT_OUTPUT) continue;
        result *r = &t->results[t->n_results++];
        *r = (result){.name = a->slots[k].name, .elem = a->slots[k].elem};
        const void *data = gn_instance_output(u->instance, r->name, &r->elems);
        r->value = copy(t->arena, data, bytes_of(r));
    }
    return NULL;
}

static const void *value_now(const tuner *t, const gn_unit *u, const result *r)
{
    int64_t elems = 0;
    if (r->before) {
        const gn_state_tensor *s = gn_state_find(t->site->state, r->name);
        return s ? s->data : NULL;
    }
    const void *p = gn_instance_output(u->instance, r->name, &elems);
    return p && elems == r->elems ? p : NULL;
}

static double at(const void *p, gn_elem e, int64_t i) { return gn_fill_load(p, e, i); }

static bool rounds(const tuner *t)
{
    return t->site->opt.gathers || t->site->opt.kept ||
           (!t->site->target && t->site->opt.precision == GN_PRECISION_MEDIUM);
}

static const char *compare(const tuner *t, const result *r, const void *now)
{
    double scale = 0, times = rounds(t) ? rounded_slack : 1;
    if (!now) return gn_arena_printf(t->arena, "%s: there is no such result", r->name);
    if (!gn_elem_is_float(r->elem))
        return memcmp(now, r->value, bytes_of(r))
                   ? gn_arena_printf(t->arena, "%s: other numbers", r->name)
                   : NULL;
    for (int64_t i = 0; i < r->elems; i++) {
        double d = fabs(at(r->value, r->elem, i) - (r->before ? at(r->before, r->elem, i) : 0));
        if (isfinite(d) && d > scale) scale = d;
    }
    for (int64_t i = 0; i < r->elems; i++) {
        double want = at(r->value, r->elem, i), got = at(now, r->elem, i);
        if (want == got || (isnan(want) && isnan(got))) continue;
        double slack = isfinite(want) ? times * (r->before ? state_slack : output_slack) * scale +
                                            rounding * fabs(want)
                                      : 0;
        if (fabs(got - want) <= slack) continue;
        return gn_arena_printf(t->arena, "%s: element %lld is %.9g, not %.9g +- %.2g", r->name,
                               (long long)i, got, want, slack);
    }
    return NULL;
}

gn_status *check_same(tuner *t, const gn_unit *u, const char **why)
{
    *why = NULL;
    GN_TRY(run_fresh(t, u));
    for (int k = 0; k < t->n_results && !*why; k++)
        *why = compare(t, &t->results[k], value_now(t, u, &t->results[k]));
    return NULL;
}
