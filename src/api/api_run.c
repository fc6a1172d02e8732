/* Runs: an executable, a state, a graph and data bound to each other, and computed with.
 *
 * Binding by name only notes what is there; instances are made when something is computed, and made
 * anew when a size or a graph has changed since.  Data of the same size at another address is only
 * pointed to. */
#include "api/api.h"
#include "base/data_name.h"

#include "runtime/memory.h"

#include <string.h>

/* A unit's code; nothing is bound yet. */
static gn_unit unit_of(const gn_build *b, int which)
{
    const gn_unit *const all[API_UNITS] = {&b->eval, &b->step, &b->forward, &b->backward};
    return *all[which];
}

void api_unbind(gnnc_run *r)
{
    api_drop_ahead(r);
    API_DEVICE(api_context(r->exe));
    for (int k = 0; k < API_UNITS; k++) {
        gn_unit_release(&r->unit[k]);
        r->bound[k] = false;
        if (r->capped[k]) { /* which is for what was bound */
            r->unit[k] = unit_of(&r->variant[k]->build, k);
            api_drop_capped(r, k);
        }
    }
    api_drop_padding(r);
    gn_graph_free(r->no_edges);
    r->no_edges = NULL;
    r->inferred = false;
    api_forget_pulls(r);
}

void gnnc_run_free(gnnc_run *r)
{
    if (!r) return;
    gnnc_executable *e = r->whole;
    {
        API_MEMORY(api_context(e));
        api_unbind(r);
        api_forget_timed(r);
        for (int k = 0; k < r->n_data; k++) {
            gn_release(r->data[k].name);
            gn_release(r->data[k].own);
            gn_release(r->data[k].sorted);
            api_let_managed_go(&r->data[k].managed);
        }
        gn_release(r->data);
        api_free_results(r);
        api_free_pulls(r);
        api_free_weights(r);
        api_free_sinks(r);
        gn_graph_free(r->pattern);
        if (r->pool) gn_pool_free(r->pool);
        api_release_graph(r->graph);
        api_free_relations(r);
        api_free_ahead(r);
        api_free_named(r);
        api_release_state(r->state);
        gn_release(r);
    }
    api_release_executable(e);
}

bool api_same_weights(const gnnc_executable *e, const gnnc_state *s)
{
    gn_state want;
    gn_state_init(&want);
    gn_status *status = e == s->exe ? NULL : gn_model_add_state(e->model, e->build, &want);
    bool same = !status;
    for (int k = 0; same && k < want.n; k++) {
        const gn_state_tensor *a = &want.tensors[k], *b = gn_state_find(&s->state, a->name);
        same = b && a->elem == b->elem && a->rows == b->rows && a->row_elems == b->row_elems;
    }
    gn_status_free(status);
    gn_state_free(&want);
    return same;
}

void api_switch(gnnc_run *r, gnnc_executable *e)
{
    api_unbind(r);
    r->exe = e;
    r->program = NULL;
    r->rows.levels = -1;
    for (int k = 0; k < API_UNITS; k++) {
        r->unit[k] = unit_of(e->build, k);
        r->variant[k] = NULL;
    }
}

static gn_status *new_run(const gnnc_executable *e, gnnc_state *s, const gnnc_run_options *options,
                          gnnc_run **out)
{
    gnnc_run_options o = {0};
    if (options)
        GN_TRY(api_read_options(options, offsetof(gnnc_run_options, stance), &o, sizeof o));
    if (o.threads < 0) GN_FAIL(GN_ERR_USAGE, "a run of %d threads", o.threads);
    gn_stance stance = e->stance;
    if (o.stance) GN_TRY(gn_stance_by_name(o.stance, &stance));
    API_MEMORY(api_context(e));
    if (api_context(e) != api_context(s->exe))
        GN_FAIL(GN_ERR_USAGE, "the state is of another context than the executable");
    if (!api_same_weights(e, s))
        GN_FAIL(GN_ERR_USAGE, "the state was made for another executable, with other weights");
    gnnc_run *r = gn_allocate_zeroed(sizeof *r);
    if (!r) GN_FAIL(GN_ERR_NOMEM, "out of memory: a run");
    r->whole = r->exe = (gnnc_executable *)(uintptr_t)e;
    r->state = s;
    r->rows.levels = -1;
    atomic_fetch_add(&r->exe->users, 1);
    atomic_fetch_add(&s->users, 1);
    r->stance = stance;
    for (int k = 0; k < API_UNITS; k++) r->unit[k] = unit_of(e->build, k);
    gn_status *status = api_new_relations(r);
    if (!status) status = gn_pool_new(o.threads > 1 ? o.threads : 1, &r->pool);
    if (status)
        gnnc_run_free(r);
    else
        *out = r;
    return status;
}

gnnc_status *gnnc_run_new(const gnnc_executable *e, gnnc_state *s, const gnnc_run_options *options,
                          gnnc_run **out)
{
    API_GIVES(out);
    API_NEEDS(e);
    API_NEEDS(s);
    return api_out(new_run(e, s, options, out));
}

/* Running -------------------------------------------------------------------------------------- */

/* x as a matrix, where it is given by its non-zeros and something reads all of it. */
static gn_status *make_dense(gnnc_run *r)
{
    const gn_graph *g = r->pattern;
    int64_t n, cols = g->n_src;
    api_data now = {.elem = GN_F32, .rows = g->n_dst, .row_elems = cols, .on_nodes = true};
    if (!__builtin_mul_overflow(g->n_dst, cols, &n) && n < INT64_MAX / 16)
        now.own = gn_allocate((size_t)n * sizeof(float) + 64, GN_ALIGN);
    if (!now.own)
        GN_FAIL(GN_ERR_NOMEM, "out of memory: dense x of %lld x %lld", (long long)g->n_dst,
                (long long)cols);
    gn_graph_to_dense(g, now.own);
    now.data = now.own;
    return api_note_data(r, GN_NAME_X, &now);
}

static gn_status *check_input(gnnc_run *r, const char *name)
{
    const gir_program *in;
    const api_data *d = api_find_data(r, name);
    if (!api_find_input(r, name, &in) || (d && d->data)) return NULL;
    if (api_is_named_mask(r->exe, name)) return NULL;
    GN_FAIL(GN_ERR_USAGE, "input '%s' is not bound", api_own_name(r, name));
}

/* Everything that the unit reads must be there, and what picks rows. */
static gn_status *check_bound(gnnc_run *r, const gn_unit *u)
{
    const gn_compiled *c[] = {u->prepare_code, u->code};
    for (int p = 0; p < 2; p++) {
        const gn_artifact *a = c[p] ? c[p]->artifact : NULL;
        for (int k = 0; a && k < a->n_slots; k++)
            if (a->slots[k].kind == GN_SLOT_INPUT) GN_TRY(check_input(r, a->slots[k].name));
        const char *name;
        for (int at = 0; a && (name = gn_artifact_made_of(a, &at)) != NULL;)
            GN_TRY(check_input(r, name));
    }
    if (gn_unit_reads_pattern(u) && !r->pattern)
        GN_FAIL(GN_ERR_USAGE, "input '%s' is not bound", api_own_name(r, GN_NAME_X));
    return NULL;
}

gn_sizes api_sizes(const gnnc_run *r)
{
    const gn_graph *g = r->padded ? r->padded : api_relation(r, 0);
    return g ? (gn_sizes){{g->n_dst, g->n_edge}} : (gn_sizes){0};
}

/* The program that fits the graph; units that are bound are of it already. */
static gn_status *choose_program(gnnc_run *r)
{
    const gn_graph *g = api_relation(r, 0);
    gn_sizes s = g ? (gn_sizes){{g->n_dst, g->n_edge}} : (gn_sizes){0};
    for (int k = 0; k < API_UNITS; k++)
        if (r->bound[k]) return NULL;
    GN_TRY(gn_ranges_check(&r->exe->ranges, &s));
    GN_TRY(api_pad(r, &s));
    return gn_jit_get(r->exe->jit, &s, r->stance, &r->program);
}

/* The one whose training step picks as many levels of rows as leave out enough, of this mask and
 * graph. */
static gn_status *choose_rows(gnnc_run *r, const gn_variant **v)
{
    const gnnc_executable *e = r->exe;
    const gn_graph *g = api_relation(r, 0);
    const api_data *mask = e->levels ? api_find_data(r, e->mask) : NULL;
    gn_sizes s = api_sizes(r);
    if (!mask || !mask->data) return NULL; /* an error further on */
    if (mask->rows != g->n_dst)
        GN_FAIL(GN_ERR_DATA, "%s: %lld rows, the graph has %lld nodes", e->mask,
                (long long)mask->rows, (long long)g->n_dst);
    if (!g->n_dst) return NULL;
    if (r->rows.levels < 0) {
        GN_TRY(gn_count_levels(g, mask->data, e->levels, &r->rows));
        if (!e->same_data) r->rows.facts = (gn_data_facts){0};
    }
    if (e->same_data) r->rows.facts.nonzeros = r->pattern ? r->pattern->n_edge : 0;
    return gn_jit_get_rows(e->jit, *v, &s, &r->rows, r->stance, v);
}

static gn_status *choose_unit(gnnc_run *r, int which)
{
    GN_TRY(choose_program(r));
    const gn_variant *v = r->program;
    if (which == API_STEP) GN_TRY(choose_rows(r, &v));
    if (v != r->variant[which]) r->unit[which] = unit_of(&v->build, which);
    r->variant[which] = v;
    return NULL;
}

/* The tensors that there are, for binding. */
static int list_data(const gnnc_run *r, gn_binding *b)
{
    int n = 0;
    for (int k = 0; k < r->n_data; k++) {
        const api_data *d = &r->data[k];
        if (!d->data || api_is_named_mask(r->exe, d->name)) continue;
        if (d->on_edges && !d->sorted) continue; /* of a relation that is not bound */
        void *data = d->on_edges ? d->sorted : r->padded && d->on_nodes ? d->padded : d->data;
        int64_t rows = !r->padded    ? d->rows
                       : d->on_nodes ? r->padded->n_dst
                       : d->on_edges ? r->padded->n_edge
                                     : d->rows;
        b[n++] = (gn_binding){d->name, d->elem, rows, d->row_elems, data};
    }
    if (r->padded) b[n++] = (gn_binding){GN_VALID_ROWS, GN_BOOL, r->padded->n_dst, 1, r->valid};
    return n + api_bind_named(r, b + n);
}

void api_free_bound(api_bound *b)
{
    gn_release(b->graphs);
    gn_release(b->tensors);
    *b = (api_bound){0};
}

gn_status *api_list_bound(const gnnc_run *r, const gn_unit *u, const gn_state *state,
                          const void *dense, api_bound *out)
{
    gn_binding *b = gn_allocate_zeroed((size_t)(r->n_data + state->n + gn_unit_kept(u) +
                                                api_count_passed(r) + api_count_sinks(r) + 5) *
                                       sizeof *b);
    const gn_schema *schema = r->exe->shape.schema;
    size_t most = schema ? (size_t)schema->n_relations + 2 : 2;
    gn_graph_binding *g = gn_allocate_zeroed(most * sizeof *g);
    *out = (api_bound){.tensors = b, .graphs = g};
    if (!b || !g) {
        api_free_bound(out);
        GN_FAIL(GN_ERR_NOMEM, "out of memory: bindings");
    }
    gn_graph *pattern = r->padded_pattern ? r->padded_pattern : r->pattern;
    int n = list_data(r, b);
    if (dense)
        b[n++] = (gn_binding){GN_NAME_X, GN_F32, pattern->n_dst, pattern->n_src,
                              (void *)(uintptr_t)dense};
    gn_state_bindings(state, b + n);
    for (int k = 0; k < state->n && state == &r->state->state; k++) {
        void *bound = api_bound_weight(r, b[n + k].name);
        if (bound) b[n + k].data = bound;
    }
    n += state->n;
    if (u == &r->unit[API_INFER] || u == &r->unit[API_FORWARD]) n += api_list_sinks(r, b + n);
    if (u == &r->unit[API_BACKWARD]) n += api_list_passed(r, b + n);
    out->n = n;
    out->n_graphs = api_list_relations(r, g);
    if (r->pattern) g[out->n_graphs++] = (gn_graph_binding){GN_NAME_X, pattern};
    return NULL;
}

gn_status *api_bind_unit(const gnnc_run *r, gn_unit *u, const gn_state *state, const void *dense,
                         gn_pool *pool, const gn_instance *like)
{
    api_bound t;
    GN_TRY(api_list_bound(r, u, state, dense, &t));
    API_DEVICE(api_context(r->exe));
    gn_status *s;
    if (r->exe->results.size && u->instance)
        s = gn_unit_bind_again(u, t.n_graphs, t.graphs, t.n, t.tensors, NULL);
    else
        s = gn_unit_bind(u, t.n_graphs, t.graphs, t.n, t.tensors, pool, like);
    api_free_bound(&t);
    return s;
}

/* A program that fits, and data as it reads it. */
static gn_status *make_ready(gnnc_run *r, int which)
{
    gn_unit *u = &r->unit[which];
    GN_TRY(choose_unit(r, which));
    api_data *x = api_find_data(r, GN_NAME_X);
    if (gn_unit_reads(u, GN_SLOT_INPUT, GN_NAME_X) && r->pattern && !(x && x->data)) {
        GN_TRY(make_dense(r));
        GN_TRY(choose_unit(r, which)); /* new data drops what was added for the old */
    }
    GN_TRY(check_bound(r, u));
    GN_TRY(api_stand_in(r));
    GN_TRY(api_check_relations(r, u));
    GN_TRY(api_check_rows(r));
    return api_arrange(r);
}

const gn_instance *api_like(const gnnc_run *r, int which)
{
    for (int k = 0; k < API_UNITS && !r->exe->results.size; k++)
        if (k != which && r->unit[k].instance) return r->unit[k].instance;
    return NULL;
}

gn_status *api_make_instances(gnnc_run *r, int which)
{
    gn_unit *u = &r->unit[which];
    bool again = false;
    if (!r->graph && !r->exe->shape.schema) GN_FAIL(GN_ERR_USAGE, "no graph is bound");
    GN_TRY(make_ready(r, which));
    bool tunes = which == API_INFER || which == API_STEP;
    if (tunes) GN_TRY(api_tune(r, which, &again));
    if (again) GN_TRY(make_ready(r, which));
    gn_unit_id unit = which == API_STEP ? GN_UNIT_STEP : GN_UNIT_EVAL;
    const gn_tuned *t = tunes ? gn_variant_tuned(r->variant[which], unit) : NULL;
    if (t) u->one_region = gn_pick_folds(&t->pick, r->exe->opt.mode);
    GN_TRY(api_send_state(r->state));
    gn_instance *outline[2];
    gn_status *s = api_keep_within(r, which, outline);
    if (!s)
        s = api_bind_unit(r, u, &r->state->state, NULL, r->pool,
                          outline[1] ? outline[1] : api_like(r, which));
    for (int k = 0; k < 2; k++) gn_instance_free(outline[k]);
    r->bindings += !s;
    r->bound[which] = !s;
    return s;
}

/* An instance of rows that were named since, or of another step, whose draws are others. */
static gn_status *follow_rows(gnnc_run *r, int which)
{
    gn_unit *u = &r->unit[which];
    bool same = r->named.at[API_INFER] &&
                (!r->exe->results.n_fanout || r->named.version == r->state->version);
    if (!r->exe->results.size || (which == API_INFER && same)) return NULL;
    bool taken = false;
    gn_status *s = which == API_STEP ? api_take_ahead(r, &taken) : NULL;
    if (taken) return NULL;
    if (s) gn_unit_release(u); /* it may be left without an instance, and is bound anew */
    gn_status_free(s);
    GN_TRY(api_send_state(r->state)); /* whose seed and step draws ask for */
    s = api_bind_unit(r, u, &r->state->state, NULL, r->pool, NULL);
    if (s) gn_unit_release(u); /* which may be left without one */
    r->bound[which] = !s;
    return s;
}

/* Several runs may compute with one state at once where none of them does. */
bool api_changes_state(const gnnc_run *r, int which)
{
    return which == API_STEP || (which == API_FORWARD && !r->exe->gradients.inference);
}

static gn_status *bind_unit(gnnc_run *r, int which)
{
    GN_TRY(api_leave_out(r));
    GN_TRY(api_read_weights(r));
    GN_TRY(api_find_named(r, which == API_STEP));
    if (!r->bound[which]) return api_make_instances(r, which);
    GN_TRY(api_arrange(r));
    return follow_rows(r, which);
}

gn_status *api_bind_step(gnnc_run *r) { return bind_unit(r, API_STEP); }

gn_status *api_run_unit(gnnc_run *r, int which)
{
    r->last = which;
    GN_TRY(bind_unit(r, which));
    r->named.at[which] = true;
    if (which == API_INFER) r->named.version = r->state->version;
    GN_TRY(api_send_state(r->state));
    API_DEVICE(api_context(r->exe));
    if (api_changes_state(r, which)) {
        r->state->newer_there = true;
        r->state->version++;
    }
    if (r->profiles) GN_TRY(api_begin_timed(r, which));
    gn_instance_run(r->unit[which].instance);
    if (r->profiles) api_end_timed(r, which);
    GN_TRY(gn_instance_check(r->unit[which].instance));
    r->calls[which]++;
    return api_write_weights(r, which);
}

gnnc_status *gnnc_run_infer(gnnc_run *r)
{
    API_NEEDS(r);
    API_MEMORY(api_context(r->exe));
    r->inferred = false;
    gn_status *s = api_run_unit(r, API_INFER);
    r->inferred = !s;
    r->from = API_INFER;
    if (!s) s = api_fill_sinks(r);
    if (s) r->inferred = false;
    return api_out(s);
}

gnnc_status *gnnc_run_step(gnnc_run *r, double *loss)
{
    API_NEEDS(r);
    if (!r->unit[API_STEP].code)
        return api_out(GN_ERROR(
            GN_ERR_USAGE, "the executable was compiled without `train`: it has no training step"));
    API_MEMORY(api_context(r->exe));
    r->inferred = false;
    gn_status *s = api_run_unit(r, API_STEP);
    if (!s && loss) {
        API_DEVICE(api_context(r->exe));
        s = gn_instance_fetch(r->unit[API_STEP].instance, "loss");
    }
    const float *value = s ? NULL : gn_instance_output(r->unit[API_STEP].instance, "loss", NULL);
    if (loss && value) *loss = (double)*value;
    return api_out(s);
}

/* Asking --------------------------------------------------------------------------------------- */

static int64_t data_bytes(const gnnc_run *r, const api_data *d)
{
    int64_t row = d->row_elems * (int64_t)gn_elem_size(d->elem);
    return (d->own ? d->rows * row : 0) +
           (d->sorted ? (r->padded ? r->padded->n_edge : d->rows) * row : 0) +
           (d->padded ? r->padded->n_dst * row : 0);
}

int api_instances(const gnnc_run *r, const gn_instance **out)
{
    for (int k = 0; k < API_UNITS; k++) {
        out[2 * k] = r->unit[k].instance;
        out[2 * k + 1] = r->unit[k].prepare;
    }
    return 2 * API_UNITS;
}

int64_t api_plain_bytes(const gnnc_run *r)
{
    const gn_instance *in[2 * API_UNITS];
    int n = api_instances(r, in);
    int64_t bytes = (r->pattern ? gn_graph_bytes(r->pattern) : 0) + api_result_bytes(r) +
                    api_pulls_bytes(r) + api_weights_bytes(r) +
                    r->named.room * (int64_t)sizeof *r->named.row + r->named.nodes;
    for (int k = 0; k < r->n_data; k++) bytes += data_bytes(r, &r->data[k]);
    if (r->graph && r->graph->of) bytes += gn_graph_bytes(r->graph->graph);
    if (r->padded) bytes += gn_graph_bytes(r->padded) + r->padded->n_dst; /* and `valid` */
    if (r->padded_pattern) bytes += gn_graph_bytes(r->padded_pattern);
    for (int k = 0; k < n; k++)
        if (in[k]) bytes += gn_instance_arena_bytes(in[k]) + gn_instance_output_bytes(in[k]);
    return bytes;
}

int64_t gnnc_run_bytes(const gnnc_run *r)
{
    const gn_instance *in[2 * API_UNITS];
    if (!r) return 0;
    return api_plain_bytes(r) + gn_instances_derived_bytes(api_instances(r, in), in);
}

static void describe(const gnnc_run *r, gnnc_run_info *info)
{
    const gn_variant *v = r->variant[r->last];
    gnnc_run_info i = {.size = info->size,
                       .inferences = r->calls[API_INFER],
                       .steps = r->calls[API_STEP],
                       .bindings = r->bindings,
                       .bytes = gnnc_run_bytes(r),
                       .program = v && r->exe == r->whole ? v->number : -1,
                       .eager = v && v->eager};
    if (r->padded) {
        i.padded_nodes = r->padded->n_dst - r->graph->graph->n_dst;
        i.padded_edges = r->padded->n_edge - r->graph->graph->n_edge;
    }
    api_describe(info, &i, sizeof i);
}

void gnnc_run_describe(const gnnc_run *r, gnnc_run_info *info)
{
    if (r && info)
        describe(r, info);
    else if (info)
        api_describe(info, &(gnnc_run_info){.size = info->size, .program = -1}, sizeof *info);
}
