/* Runs: an executable, a state, a graph and data bound to each other, and computed with.
 *
 * Binding by name only notes what is there; instances are made when something is computed, and made anew when a size or
 * a graph has changed since.  Data of the same size at another address is only pointed to. */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

enum { INFER, STEP };

void api_unbind(gnnc_run *r)
{
    for (int k = 0; k < API_UNITS; k++) {
        gn_unit_release(&r->unit[k]);
        r->bound[k] = false;
    }
    r->inferred = false;
}

void gnnc_run_free(gnnc_run *r)
{
    if (!r) return;
    api_unbind(r);
    for (int k = 0; k < r->n_data; k++) {
        free(r->data[k].name);
        free(r->data[k].own);
        free(r->data[k].sorted);
    }
    free(r->data);
    free(r->copied);
    gn_graph_free(r->pattern);
    if (r->pool) gn_pool_free(r->pool);
    api_release_graph(r->graph);
    api_release_state(r->state);
    api_release_executable(r->exe);
    free(r);
}

static bool same_weights(const gnnc_executable *e, const gnnc_state *s)
{
    gn_state want;
    gn_state_init(&want);
    gn_status *status = e == s->exe ? NULL : gn_model_add_state(e->model, &e->build, &want);
    bool same = !status;
    for (int k = 0; same && k < want.n; k++) {
        const gn_state_tensor *a = &want.tensors[k], *b = gn_state_find(&s->state, a->name);
        same = b && a->elem == b->elem && a->rows == b->rows && a->row_elems == b->row_elems;
    }
    gn_status_free(status);
    gn_state_free(&want);
    return same;
}

static gn_status *new_run(const gnnc_executable *e, gnnc_state *s, const gnnc_run_options *options, gnnc_run **out)
{
    *out = NULL;
    gnnc_run_options o = {0};
    if (options) memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    if (o.threads < 0) GN_FAIL(GN_ERR_USAGE, "a run of %d threads", o.threads);
    if (!same_weights(e, s)) GN_FAIL(GN_ERR_USAGE, "the state was made for another executable, with other weights");
    gnnc_run *r = calloc(1, sizeof *r);
    if (!r) GN_FAIL(GN_ERR_NOMEM, "out of memory: a run");
    r->exe = (gnnc_executable *)(uintptr_t)e;
    r->state = s;
    atomic_fetch_add(&r->exe->users, 1);
    atomic_fetch_add(&s->users, 1);
    r->unit[INFER] = e->build.eval;
    r->unit[STEP] = e->build.step;
    gn_status *status = gn_pool_new(o.threads > 1 ? o.threads : 1, &r->pool);
    if (status)
        gnnc_run_free(r);
    else
        *out = r;
    return status;
}

gnnc_status *gnnc_run_new(const gnnc_executable *e, gnnc_state *s, const gnnc_run_options *options, gnnc_run **out)
{
    return api_out(new_run(e, s, options, out));
}

/* Running ----------------------------------------------------------------------------------------------------------- */

/* x as a matrix, where it is given by its non-zeros and something reads all of it. */
static gn_status *make_dense(gnnc_run *r)
{
    const gn_graph *g = r->pattern;
    int64_t n, cols = g->n_src;
    api_data now = {.elem = GN_F32, .rows = g->n_dst, .row_elems = cols};
    if (__builtin_mul_overflow(g->n_dst, cols, &n) || n > INT64_MAX / 16 ||
        posix_memalign(&now.own, 64, (size_t)n * sizeof(float) + 64))
        GN_FAIL(GN_ERR_NOMEM, "out of memory: dense x of %lld x %lld", (long long)g->n_dst, (long long)cols);
    float *to = now.data = now.own;
    memset(to, 0, (size_t)n * sizeof(float));
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t end = gn_index_get(g->array[GN_GRAPH_ROW_PTR], g->index, v + 1);
        for (int64_t e = gn_index_get(g->array[GN_GRAPH_ROW_PTR], g->index, v); e < end; e++)
            to[v * cols + gn_index_get(g->array[GN_GRAPH_COL], g->index, e)] = ((float *)g->array[GN_GRAPH_VALUE])[e];
    }
    return api_note_data(r, "x", &now);
}

/* Edge data in the graph's order, which instances read. */
static gn_status *sort_edges(const gnnc_run *r, api_data *d)
{
    const gn_graph *g = r->graph->graph;
    int64_t bytes = d->row_elems * (int64_t)gn_elem_size(d->elem);
    if (d->rows != g->n_edge)
        GN_FAIL(GN_ERR_DATA, "%s: %lld rows, the graph has %lld edges", d->name, (long long)d->rows,
                (long long)g->n_edge);
    if (d->sorted) return NULL;
    if (posix_memalign(&d->sorted, 64, (size_t)(d->rows * bytes) + 64))
        GN_FAIL(GN_ERR_NOMEM, "out of memory: '%s'", d->name);
    gn_graph_edges_in(g, bytes, d->data, d->sorted);
    return NULL;
}

/* Everything that the unit reads must be there. */
static gn_status *check_bound(gnnc_run *r, const gn_unit *u)
{
    const gn_compiled *c[] = {u->prepare_code, u->code};
    for (int p = 0; p < 2; p++)
        for (int k = 0; c[p] && k < c[p]->artifact->n_slots; k++) {
            const gn_slot *slot = &c[p]->artifact->slots[k];
            if (slot->kind != GN_SLOT_INPUT || !api_find_input(r, slot->name, &(const gir_program *){NULL})) continue;
            const api_data *d = api_find_data(r, slot->name);
            if (!d || !d->data) GN_FAIL(GN_ERR_USAGE, "input '%s' is not bound", slot->name);
        }
    if (gn_unit_reads_pattern(u) && !r->pattern) GN_FAIL(GN_ERR_USAGE, "input 'x' is not bound");
    return NULL;
}

static gn_status *make_instances(gnnc_run *r, int which)
{
    gn_unit *u = &r->unit[which];
    if (!r->graph) GN_FAIL(GN_ERR_USAGE, "no graph is bound");
    api_data *x = api_find_data(r, "x");
    if (gn_unit_reads(u, GN_SLOT_INPUT, "x") && r->pattern && !(x && x->data)) GN_TRY(make_dense(r));
    GN_TRY(check_bound(r, u));
    for (int k = 0; k < r->n_data; k++)
        if (r->data[k].data && r->data[k].on_edges) GN_TRY(sort_edges(r, &r->data[k]));
    gn_binding *b = calloc((size_t)(r->n_data + r->state->state.n + gn_unit_kept(u)) + 1, sizeof *b);
    if (!b) GN_FAIL(GN_ERR_NOMEM, "out of memory: bindings");
    int n = 0;
    for (int k = 0; k < r->n_data; k++) {
        const api_data *d = &r->data[k];
        if (d->data) b[n++] = (gn_binding){d->name, d->elem, d->rows, d->row_elems, d->on_edges ? d->sorted : d->data};
    }
    gn_state_bindings(&r->state->state, b + n);
    n += r->state->state.n;
    gn_graph_binding g[2] = {{"g", r->graph->graph}, {"x", r->pattern}};
    gn_status *s = gn_unit_bind(u, r->pattern ? 2 : 1, g, n, b, r->pool, r->unit[!which].instance);
    free(b);
    r->bound[which] = !s;
    return s;
}

static gn_status *run(gnnc_run *r, int which)
{
    r->inferred = false;
    if (!r->bound[which]) GN_TRY(make_instances(r, which));
    gn_instance_run(r->unit[which].instance);
    return NULL;
}

gnnc_status *gnnc_run_infer(gnnc_run *r)
{
    gn_status *s = run(r, INFER);
    r->inferred = !s;
    return api_out(s);
}

gnnc_status *gnnc_run_step(gnnc_run *r, double *loss)
{
    if (!r->unit[STEP].code)
        return api_out(GN_ERROR(GN_ERR_USAGE, "the executable was compiled without `train`: it has no training step"));
    gn_status *s = run(r, STEP);
    const float *value = s ? NULL : gn_instance_output(r->unit[STEP].instance, "loss", NULL);
    if (loss && value) *loss = (double)*value;
    return api_out(s);
}

/* Results ----------------------------------------------------------------------------------------------------------- */

static const gir_type *output_type(const gnnc_run *r, const char *name)
{
    const gir_program *p = r->exe->model->eval;
    for (uint32_t k = 0; k < p->outputs.n; k++)
        if (p->outputs.p[k].kind == GIR_OUTPUT && !strcmp(p->outputs.p[k].name, name))
            return gir_type_of(p, p->outputs.p[k].value);
    return NULL;
}

/* Results on edges lie in the graph's order: a copy in the user's. */
static gn_status *copy_edges(gnnc_run *r, const void *from, int64_t row_bytes, void **out)
{
    const gn_graph *g = r->graph->graph;
    free(r->copied);
    if (posix_memalign(&r->copied, 64, (size_t)(g->n_edge * row_bytes) + 64)) {
        r->copied = NULL;
        GN_FAIL(GN_ERR_NOMEM, "out of memory: results on edges");
    }
    gn_graph_edges_out(g, row_bytes, from, r->copied);
    *out = r->copied;
    return NULL;
}

static gn_status *output(gnnc_run *r, const char *name, DLTensor *view)
{
    const gir_type *t = output_type(r, name);
    if (!t) GN_FAIL(GN_ERR_USAGE, "model %s has no output '%s'", r->exe->model->name, name);
    if (!r->inferred) GN_FAIL(GN_ERR_USAGE, "nothing was inferred since data was last bound");
    int64_t elems = 0, row = gir_row_elems(t);
    void *data = (void *)(uintptr_t)gn_instance_output(r->unit[INFER].instance, name, &elems);
    int rank = 0;
    if (t->space) r->shape[rank++] = elems / row;
    for (int d = 0; d < t->rank; d++) r->shape[rank++] = t->dim[d];
    if (t->space && r->exe->model->eval->spaces.p[t->space].kind == GIR_EDGE)
        GN_TRY(copy_edges(r, data, row * (int64_t)gn_elem_size((gn_elem)t->elem), &data));
    *view = (DLTensor){
        .data = data, .device = {kDLCPU, 0}, .ndim = rank, .dtype = api_type((gn_elem)t->elem), .shape = r->shape};
    return NULL;
}

gnnc_status *gnnc_run_output(gnnc_run *r, const char *name, DLTensor *view) { return api_out(output(r, name, view)); }

int64_t gnnc_run_bytes(const gnnc_run *r)
{
    int64_t bytes = r->pattern ? gn_graph_bytes(r->pattern) : 0;
    for (int k = 0; k < r->n_data; k++) {
        int64_t size = r->data[k].rows * r->data[k].row_elems * (int64_t)gn_elem_size(r->data[k].elem);
        bytes += (r->data[k].own ? size : 0) + (r->data[k].sorted ? size : 0);
    }
    for (int k = 0; k < API_UNITS; k++) {
        if (r->unit[k].instance) bytes += gn_instance_owned_bytes(r->unit[k].instance);
        if (r->unit[k].prepare) bytes += gn_instance_owned_bytes(r->unit[k].prepare);
    }
    return bytes;
}
