/* A profile as JSON, and as a trace. */
#include "cli/cmd_profile.h"

#include "cli/json.h"
#include "compile/kernel_name.h"

#include <math.h>
#include <string.h>

static void place(gn_json *j, const gn_cli_profile_of *z, gir_loc at)
{
    const gir_program *g = z->p->code->gir;
    gn_json_string(j, "layer", gn_layer_name(g, at));
    gn_json_string(j, "part", gir_way_name[at.way]);
    gn_json_string(j, "line", at.own ? gn_profile_line(z, at) : NULL);
    gn_json_string(j, "at",
                   at.line && at.file < g->files.n
                       ? gn_arena_printf(z->arena, "%s:%u", g->files.p[at.file], (unsigned)at.line)
                       : NULL);
}

static void figures(gn_json *j, double us, double wait, double bound, double bytes, double flops)
{
    gn_json_double(j, "us", us);
    gn_json_double(j, "wait_us", wait);
    gn_json_double(j, "bound_us", bound);
    gn_json_double(j, "of_bound", us > 0 ? bound / us : NAN);
    gn_json_double(j, "bytes", bytes);
    gn_json_double(j, "flops", flops);
}

static void rows(gn_json *j, const gn_cli_profile_of *z, const char *key, gn_profile_by by)
{
    int n;
    const gn_profile_row *row = gn_profile_rows(z->arena, z->p, by, &n);
    gn_json_array(j, key);
    for (int k = 0; k < n; k++) {
        const gn_profile_row *r = &row[k];
        gn_json_object(j, NULL);
        if (by == GN_PROFILE_LAYER) {
            gn_json_string(j, "layer", gn_layer_name(z->p->code->gir, r->loc));
        } else {
            gn_json_string(j, "line", r->loc.own ? gn_profile_line(z, r->loc) : NULL);
            gn_json_string(j, "source", gn_profile_source(z, r->loc));
        }
        gn_json_string(j, "part", gir_way_name[r->loc.way]);
        figures(j, r->us, r->wait_us, r->bound_us, r->bytes, r->flops);
        gn_json_string(j, "bound_by", gn_bound_text[r->by]);
        gn_json_int(j, "kernels", r->kernels);
        gn_json_bool(j, "estimated", r->estimated);
        gn_json_end(j);
    }
    gn_json_end(j);
}

static void kernel(gn_json *j, const gn_cli_profile_of *z, int k)
{
    const gn_profile_kernel *x = &z->p->kernel[k];
    const gn_cost *c = &x->report.cost;
    gn_json_object(j, NULL);
    gn_json_int(j, "kernel", k);
    gn_json_string(j, "name", x->words);
    gn_json_string(j, "symbol", x->report.name);
    figures(j, x->report.us, x->wait_us, x->report.bound_us, c->work_set + c->gathered,
            c->flops + (double)GN_FUNCTION_FLOPS * c->functions + (double)GN_DRAW_FLOPS * c->draws);
    gn_json_string(j, "bound_by", gn_bound_text[x->report.by]);
    gn_json_int(j, "temporary_bytes", x->alive);
    gn_json_array(j, "parts");
    for (int i = 0; i < z->p->n_parts; i++) {
        const gn_profile_part *p = &z->p->part[i];
        if (p->kernel != k) continue;
        gn_json_object(j, NULL);
        place(j, z, p->loc);
        gn_json_double(j, "share", p->share);
        gn_json_double(j, "us", p->us);
        gn_json_bool(j, "estimated", p->estimated);
        gn_json_end(j);
    }
    gn_json_end(j);
    gn_json_end(j);
}

static void memory(gn_json *j, const gn_cli_profile_of *z)
{
    const gn_profile *p = z->p;
    gn_memory m = gn_session_memory(z->s);
    gn_json_object(j, "memory");
    gn_json_int(j, "total", m.total);
    gn_json_int(j, "temporaries", m.arena);
    if (p->n) {
        gn_json_int(j, "peak", p->kernel[p->peak].alive);
        gn_json_int(j, "peak_kernel", p->peak);
    }
    gn_json_array(j, "alive_at_peak");
    for (int k = 0; k < p->n_held; k++) {
        gn_json_object(j, NULL);
        place(j, z, p->held[k].loc);
        gn_json_string(j, "what", p->held[k].what);
        gn_json_string(j, "type", p->held[k].type);
        gn_json_int(j, "bytes", p->held[k].bytes);
        gn_json_end(j);
    }
    gn_json_end(j);
    gn_json_end(j);
}

void gn_profile_json(const gn_cli_profile_of *z, FILE *to)
{
    const gn_profile *p = z->p;
    gn_json j;
    gn_json_init(&j, to, true);
    gn_json_object(&j, NULL);
    gn_cli_json_head(&j, z->s);
    gn_json_string(&j, "what", p->name);
    gn_json_int(&j, "steps", p->steps);
    gn_json_int(&j, "threads_used", p->used);
    gn_json_bool(&j, "region", p->region);
    gn_json_double(&j, "us", p->us);
    gn_json_double(&j, "p10_us", p->low_us);
    gn_json_double(&j, "p90_us", p->high_us);
    gn_json_double(&j, "outside_us", p->rest_us);
    gn_json_double(&j, "bound_us", p->bound_us);
    gn_json_double(&j, "step_us", p->bare_us);
    gn_json_double(&j, "step_timed_us", p->traced_us);
    gn_json_int(&j, "lost", p->lost);
    gn_json_string(&j, "in_short", gn_profile_verdict(z));
    rows(&j, z, "layers", GN_PROFILE_LAYER);
    rows(&j, z, "lines", GN_PROFILE_LINE);
    gn_json_array(&j, "kernels");
    for (int k = 0; k < p->n; k++) kernel(&j, z, k);
    gn_json_end(&j);
    memory(&j, z);
    gn_json_end(&j);
}

/* The trace ------------------------------------------------------------------------------------ */

enum { PROCESS = 1 };

static void named(gn_json *j, const char *what, int thread, const char *name)
{
    gn_json_object(j, NULL);
    gn_json_string(j, "name", what);
    gn_json_string(j, "ph", "M");
    gn_json_int(j, "pid", PROCESS);
    gn_json_int(j, "tid", thread);
    gn_json_object(j, "args");
    gn_json_string(j, "name", name);
    gn_json_end(j);
    gn_json_end(j);
}

static void head_of_event(gn_json *j, const char *name, const char *phase, double us)
{
    gn_json_object(j, NULL);
    gn_json_string(j, "name", name);
    gn_json_string(j, "ph", phase);
    gn_json_double(j, "ts", us);
    gn_json_int(j, "pid", PROCESS);
}

static void arguments(gn_json *j, const gn_cli_profile_of *z, int k)
{
    const gn_kernel_report *r = &z->p->kernel[k].report;
    gn_json_object(j, "args");
    place(j, z, gn_kernel_loc(z->p->code, k));
    gn_json_int(j, "kernel", k);
    gn_json_string(j, "symbol", r->name);
    gn_json_double(j, "bound_us", r->bound_us);
    gn_json_string(j, "bound_by", gn_bound_text[r->by]);
    gn_json_double(j, "bytes", r->cost.work_set + r->cost.gathered);
    gn_json_double(j, "flops", r->cost.flops);
    gn_json_end(j);
}

/* A chain is one event, of all its kernels. */
static const char *event_name(const gn_cli_profile_of *z, const gn_trace_event *e)
{
    const gn_profile *p = z->p;
    int chain = p->code->artifact->launches[e->launch].chain, head;
    const char *words = p->kernel[e->launch].words;
    if (e->wait) return gn_arena_printf(z->arena, "wait for %s", words);
    if (chain < 2 || !gn_instance_chain(p->unit->instance, e->launch, &head)) return words;
    return gn_arena_printf(z->arena, "%s, and %d more in blocks", words, chain - 1);
}

static void slice(gn_json *j, const gn_cli_profile_of *z, int thread, const gn_trace_event *e)
{
    gir_loc at = gn_kernel_loc(z->p->code, e->launch);
    head_of_event(j, event_name(z, e), "X", (double)e->begin * 1e-3);
    gn_json_double(j, "dur", (double)(e->end - e->begin) * 1e-3);
    gn_json_int(j, "tid", thread);
    gn_json_string(j, "cat",
                   e->wait ? "wait"
                           : gn_arena_printf(z->arena, "%s,%s", gn_layer_name(z->p->code->gir, at),
                                             gir_way_name[at.way]));
    arguments(j, z, e->launch);
    gn_json_end(j);
}

static void counter(gn_json *j, const gn_cli_profile_of *z, double us, int64_t bytes)
{
    (void)z;
    head_of_event(j, "temporaries", "C", us);
    gn_json_object(j, "args");
    gn_json_int(j, "bytes", bytes);
    gn_json_end(j);
    gn_json_end(j);
}

void gn_profile_trace(const gn_cli_profile_of *z, FILE *to)
{
    const gn_profile *p = z->p;
    gn_json j;
    gn_json_init(&j, to, false);
    gn_json_object(&j, NULL);
    gn_json_string(&j, "displayTimeUnit", "ns");
    gn_json_array(&j, "traceEvents");
    named(&j, "process_name", 0,
          gn_arena_printf(z->arena, "%s on %s, one %s", z->s->model->name, z->s->data->name,
                          p->name));
    for (int t = 0; t < p->threads; t++)
        named(&j, "thread_name", t, gn_arena_printf(z->arena, "thread %d", t));
    for (int t = 0; t < p->threads; t++)
        for (int64_t i = 0; i < p->events[t].n; i++) slice(&j, z, t, &p->events[t].event[i]);
    for (int64_t i = 0; i < p->events[0].n; i++) {
        const gn_trace_event *e = &p->events[0].event[i];
        if (!e->wait) counter(&j, z, (double)e->begin * 1e-3, p->kernel[e->launch].alive);
    }
    if (p->n) counter(&j, z, p->events_us, 0);
    gn_json_end(&j);
    gn_json_object(&j, "otherData");
    gn_json_string(&j, "gnnc", GNNC_VERSION);
    gn_json_string(&j, "model", z->s->model->name);
    gn_json_string(&j, "in_short", gn_profile_verdict(z));
    gn_json_end(&j);
    gn_json_end(&j);
}
