/* explain --memory: what a run takes by itself, who is alive at its peak by layer, and what becomes
 * of it where it may take less. */
#include "cli/cmd_explain.h"

#include "base/clock.h"
#include "cli/report.h"
#include "cli/session_options.h"
#include "cli/text.h"

#include <math.h>
#include <string.h>

enum { POINTS = 16, SHOWN = 12 };

typedef struct point {
    gn_memory_plan plan;
    double us; /* of a run: the least of several; NaN: it was refused */
} point;

typedef struct frontier {
    gn_cli *cli;
    gn_session_options options;
    point at[POINTS];
    int n;
    point *hearing; /* the one whose session is made */
} frontier;

typedef struct share { /* of the bytes that are alive */
    const char *layer;
    int64_t bytes;
} share;

static void hear(void *ctx, const gn_memory_plan *p) { ((frontier *)ctx)->hearing->plan = *p; }

/* The least time of a run, over a third of a second. */
static double time_runs(gn_instance *in)
{
    const double most_ms = 300;
    double least = INFINITY, start = gn_now_ms();
    gn_instance_run(in);
    do {
        double t0 = gn_now_ms();
        gn_instance_run(in);
        least = fmin(least, (gn_now_ms() - t0) * 1e3);
    } while (gn_now_ms() - start < most_ms);
    return least;
}

static gn_unit *unit_of(gn_session *s) { return s->opt.train ? &s->build.step : &s->build.eval; }

/* Layers by bytes ------------------------------------------------------------------------------ */

/* "convs.0" of "convs.0.lin": a layer of the model, with its number in a list. */
static const char *outer(gn_arena *a, const char *layer)
{
    size_t n = strcspn(layer, ".");
    if (layer[n] == '.') {
        size_t digits = strspn(layer + n + 1, "0123456789");
        if (digits) n += 1 + digits;
    }
    return gn_arena_strndup(a, layer, n);
}

/* By value: its layer's number.  What is made in no layer belongs to the last one that it comes of:
 * a relu behind it, a dropout. */
static uint16_t *find_layers(gn_arena *a, const gir_program *p)
{
    uint16_t *layer = GN_NEW_N(a, uint16_t, p->nodes.n + 1);
    for (gir_id v = 1; v < p->nodes.n; v++) {
        gir_id last = 0;
        gir_loc at = gir_at(p, v)->loc;
        layer[v] = gir_is_in_layer(p, at) ? at.layer : 0;
        for (int k = 0; !layer[v] && k < gir_at(p, v)->n_in; k++)
            if (layer[gir_in(p, v, k)] && gir_in(p, v, k) > last) last = gir_in(p, v, k);
        if (last) layer[v] = layer[last];
    }
    return layer;
}

static void add_share(share *all, int *n, const char *layer, int64_t bytes)
{
    int k = 0;
    while (k < *n && strcmp(all[k].layer, layer) != 0) k++;
    if (k == *n) all[(*n)++] = (share){layer, 0};
    all[k].bytes += bytes;
}

static void sort_shares(share *all, int n)
{
    for (int k = 1; k < n; k++)
        for (int i = k; i > 0 && all[i].bytes > all[i - 1].bytes; i--) {
            share t = all[i];
            all[i] = all[i - 1];
            all[i - 1] = t;
        }
}

/* Of temporaries that are alive in a launch; how many layers have some. */
static int find_shares(gn_arena *a, const gn_unit *u, int launch, share *all)
{
    const gir_program *p = u->code->gir;
    const uint16_t *layer = find_layers(a, p);
    int n = 0;
    for (int k = 0; k < u->code->artifact->n_slots; k++) {
        const char *name;
        if (!gn_instance_alive(u->instance, k, launch)) continue;
        gir_id v = gn_cli_held(u->code, k, launch, &name);
        const char *of = layer[v] ? outer(a, p->layers.p[layer[v]]) : "outside of layers";
        add_share(all, &n, of, gn_instance_slot_room(u->instance, k));
    }
    sort_shares(all, n);
    return n;
}

static const char *place_of(gn_arena *a, const gn_unit *u, int launch)
{
    const low_launch *l = &u->code->low->launches.p[launch];
    if (!l->kernel || l->region < 0) return "";
    return gn_cli_place(a, u->code->gir, u->code->f->regions.p[l->region].members.p[0]);
}

static void print_alive(gn_arena *a, const gn_session *s, const gn_unit *u)
{
    int at = gn_instance_peak(u->instance);
    share *all = GN_NEW_N(a, share, u->code->artifact->n_slots + 1);
    int n = find_shares(a, u, at, all);
    int64_t alive = 0, others = 0;
    for (int k = 0; k < n; k++) alive += all[k].bytes;
    printf("alive at the peak of %s, in kernel %d (%s), %s by layer:\n",
           s->opt.train ? "a step" : "the forward pass", at, place_of(a, u, at),
           gn_cli_amount(a, (double)alive, "B"));
    for (int k = 0; k < n; k++) {
        if (k >= SHOWN)
            others += all[k].bytes;
        else
            printf("  %-32s %10s  %3.0f%%\n", all[k].layer,
                   gn_cli_amount(a, (double)all[k].bytes, "B"),
                   100 * (double)all[k].bytes / (double)alive);
    }
    if (others) printf("  %-32s %10s\n", "others", gn_cli_amount(a, (double)others, "B"));
}

static void json_alive(gn_arena *a, gn_json *j, const gn_unit *u)
{
    share *all = GN_NEW_N(a, share, u->code->artifact->n_slots + 1);
    int n = find_shares(a, u, gn_instance_peak(u->instance), all);
    gn_json_array(j, "alive_at_peak");
    for (int k = 0; k < n; k++) {
        gn_json_object(j, NULL);
        gn_json_string(j, "layer", all[k].layer);
        gn_json_int(j, "bytes", all[k].bytes);
        gn_json_end(j);
    }
    gn_json_end(j);
}

/* Points --------------------------------------------------------------------------------------- */

/* A session of its own; *s: it, or NULL where it was refused. */
static gn_status *open_point(frontier *z, double of, int64_t bytes, gn_session **s)
{
    gn_session_options o = z->options;
    z->hearing = &z->at[z->n];
    *z->hearing = (point){.us = NAN};
    o.memory_share = of;
    o.memory = bytes;
    o.memory_found = hear;
    o.memory_ctx = z;
    *s = NULL;
    gn_status *status = gn_cli_session_open(z->cli, &o, s);
    if (gn_status_code(status) != GN_ERR_NOMEM || !z->hearing->plan.bound) return status;
    gn_status_free(status);
    return NULL;
}

static gn_status *time_point(frontier *z, gn_session *s)
{
    point *p = &z->at[z->n++];
    if (!s) return NULL;
    p->us = time_runs(unit_of(s)->instance);
    return gn_instance_check(unit_of(s)->instance);
}

static gn_status *next_point(frontier *z, double of, int64_t bytes)
{
    gn_session *s;
    GN_TRY(open_point(z, of, bytes, &s));
    gn_status *status = time_point(z, s);
    gn_session_free(s);
    return status;
}

/* Down to the first that is refused, and then what that found. */
static gn_status *find_points(frontier *z)
{
    static const double shares[] = {0.85, 0.7, 0.6, 0.5, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1};
    for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
        GN_TRY(next_point(z, shares[k], 0));
        const gn_memory_plan *p = &z->at[z->n - 1].plan;
        if (p->fits) continue;
        z->n--;
        return next_point(z, 0, p->memory.total);
    }
    return NULL;
}

static void print_points(gn_arena *a, const frontier *z)
{
    int u = z->options.train ? GN_UNIT_STEP : GN_UNIT_EVAL;
    printf("\n %10s %10s %11s %8s %6s %12s %12s\n", "allowed", "takes", "temporaries", "again",
           "work", "predicted", "measured");
    for (int k = 0; k < z->n; k++) {
        const gn_memory_plan *p = &z->at[k].plan;
        printf(" %10s %10s %11s %8d %5.0f%% %9.2f ms %9.2f ms\n",
               gn_cli_amount(a, (double)p->bound, "B"),
               gn_cli_amount(a, (double)p->memory.total, "B"),
               gn_cli_amount(a, (double)p->memory.arena, "B"), p->again[u], 100 * p->more[u],
               z->at[0].us * (1 + p->more[u]) * 1e-3, z->at[k].us * 1e-3);
    }
    printf("the last is the least that was found\n");
}

static void json_points(gn_json *j, const frontier *z)
{
    int u = z->options.train ? GN_UNIT_STEP : GN_UNIT_EVAL;
    gn_json_array(j, "frontier");
    for (int k = 0; k < z->n; k++) {
        const gn_memory_plan *p = &z->at[k].plan;
        gn_json_object(j, NULL);
        gn_json_int(j, "allowed_bytes", p->bound);
        gn_json_int(j, "peak_bytes", p->memory.total);
        gn_json_int(j, "temporaries_bytes", p->memory.arena);
        gn_json_int(j, "kernels_again", p->again[u]);
        gn_json_double(j, "more_work", p->more[u]);
        gn_json_double(j, "predicted_us", z->at[0].us * (1 + p->more[u]));
        gn_json_double(j, "measured_us", z->at[k].us);
        gn_json_end(j);
    }
    gn_json_end(j);
}

static gn_status *report(frontier *z, gn_session *first)
{
    gn_arena *a = z->cli->arena;
    gn_json j;
    bool json = z->cli->opt.json;
    if (json) {
        gn_json_init(&j, stdout, true);
        gn_json_object(&j, NULL);
        gn_cli_json_head(&j, first);
        json_alive(a, &j, unit_of(first));
    } else {
        printf("model %s on %s, %s\n", first->model->name, first->data->name,
               first->opt.train ? "one training step" : "inference");
        gn_cli_print_memory(a, &z->at[0].plan.memory);
        printf("\n");
        print_alive(a, first, unit_of(first));
    }
    gn_session_free(first);
    GN_TRY(find_points(z));
    if (!json) {
        print_points(a, z);
        return NULL;
    }
    json_points(&j, z);
    gn_json_end(&j);
    return NULL;
}

gn_status *gn_cli_explain_memory(gn_cli *cli, const gn_session_options *o)
{
    frontier z = {.cli = cli, .options = *o};
    gn_session *s;
    GN_TRY(open_point(&z, 1, 0, &s));
    gn_cli_describe(cli, s);
    gn_status *status = time_point(&z, s);
    if (status) {
        gn_session_free(s);
        return status;
    }
    return report(&z, s);
}
