/* Results of a run, by name and by number. */
#include "api/api.h"
#include "runtime/memory.h"

#include <string.h>

const gir_program *api_results_of(const gnnc_executable *e, int unit)
{
    bool trains = unit == API_FORWARD && !e->gradients.inference;
    return trains ? e->model->forward : e->model->eval;
}

/* The program whose results there are. */
static const gir_program *program(const gnnc_run *r) { return api_results_of(r->exe, r->from); }

static int count(const gir_program *p)
{
    int n = 0;
    while (gir_result(p, n)) n++;
    return n;
}

void api_free_results(gnnc_run *r)
{
    for (int k = 0; k < r->n_results; k++) gn_release(r->results[k].copied);
    gn_release(r->results);
    r->results = NULL;
    r->n_results = 0;
}

int64_t api_result_bytes(const gnnc_run *r)
{
    int64_t bytes = 0;
    for (int k = 0; k < r->n_results; k++) bytes += r->results[k].copied_bytes;
    return bytes;
}

/* Room for what the model gives.  What another set of inputs had is let go, where it is less. */
static gn_status *make_room(gnnc_run *r)
{
    int n = count(program(r));
    if (r->n_results >= n) return NULL;
    api_free_results(r);
    r->results = gn_allocate_zeroed((size_t)n * sizeof *r->results);
    if (!r->results) GN_FAIL(GN_ERR_NOMEM, "out of memory: %d results", n);
    r->n_results = n;
    return NULL;
}

gn_status *api_find_result(const gnnc_executable *e, const gir_program *p, const char *name,
                           int *out)
{
    const char *names[API_NAMES];
    const gir_output *o;
    int n = 0;
    for (*out = 0; (o = gir_result(p, *out)); ++*out) {
        if (!strcmp(o->name, name)) return NULL;
        if (n < API_NAMES) names[n++] = o->name;
    }
    return api_no_such(e->model, "output", name, n, names);
}

static bool overlaps(const void *a, int64_t bytes, const void *b, int64_t of_b)
{
    uintptr_t at = (uintptr_t)a, there = (uintptr_t)b;
    return b && at < there + (uintptr_t)of_b && there < at + (uintptr_t)bytes;
}

static bool is_output(const gn_unit *u, const void *data, int64_t bytes)
{
    const gn_artifact *a = u->instance ? u->code->artifact : NULL;
    for (int k = 0; a && k < a->n_slots; k++) {
        int64_t elems = 0;
        if (a->slots[k].kind != GN_SLOT_OUTPUT) continue;
        const void *there = gn_instance_output(u->instance, a->slots[k].name, &elems);
        int64_t size = elems * (int64_t)gn_elem_size(a->slots[k].elem);
        if (overlaps(data, bytes, there, size)) return true;
    }
    return false;
}

static bool is_copy(int n, const api_result *all, const void *data, int64_t bytes)
{
    for (int k = 0; k < n; k++)
        if (overlaps(data, bytes, all[k].copied, all[k].copied_bytes)) return true;
    return false;
}

bool api_is_result(const gnnc_run *r, const void *data, int64_t bytes)
{
    if (is_copy(r->n_results, r->results, data, bytes)) return true;
    if (is_copy(r->pulls.n_gradients, r->pulls.given, data, bytes)) return true;
    for (int k = 0; k < API_UNITS; k++)
        if (is_output(&r->unit[k], data, bytes)) return true;
    return false;
}

/* Results on edges lie in the graph's order, of the user's graph or of one derived from it: a copy
 * in the user's. */
gn_status *api_copy_edges(const gn_instance *in, const char *name, const void *from,
                          int64_t row_bytes, api_result *to)
{
    const gn_graph *g = gn_instance_graph(in, gn_instance_output_graph(in, name));
    gn_release(to->copied);
    to->copied_bytes = 0;
    to->copied = gn_allocate((size_t)(g->n_edge * row_bytes) + 64, GN_ALIGN);
    if (!to->copied) GN_FAIL(GN_ERR_NOMEM, "out of memory: results on edges");
    to->copied_bytes = g->n_edge * row_bytes;
    gn_graph_edges_out(g, row_bytes, from, to->copied);
    return NULL;
}

/* Are there edges among them that the padded graph does not have, which would not come last? */
static bool other_edges(const gnnc_run *r, const char *name)
{
    const gn_instance *in = r->unit[r->from].instance;
    return gn_instance_graph(in, gn_instance_output_graph(in, name))->n_edge != r->padded->n_edge;
}

/* Are these the rows that are named? */
bool api_is_over_named_rows(const gnnc_executable *e, gir_space_id s)
{
    const gir_space *space = &e->model->eval->spaces.p[s];
    size_t n = strlen(space->name);
    return e->results.size && space->kind == GIR_NODE && s &&
           !strncmp(e->rows_mask, space->name, n) && e->rows_mask[n] == '#';
}

/* A copy, in the order in which they are. */
static gn_status *order_rows(const gnnc_run *r, const void *from, int64_t row_bytes, api_result *to)
{
    int64_t bytes;
    gn_release(to->copied);
    to->copied = NULL;
    to->copied_bytes = 0;
    if (!__builtin_mul_overflow(r->named.n, row_bytes, &bytes))
        to->copied = gn_allocate((size_t)bytes + 64, GN_ALIGN);
    if (!to->copied) GN_FAIL(GN_ERR_NOMEM, "out of memory: results of rows");
    to->copied_bytes = bytes;
    return api_order_named(r, from, row_bytes, to->copied);
}

static gn_status *view_result(gnnc_run *r, int k, DLTensor *view)
{
    const gir_output *o = gir_result(program(r), k);
    const gir_type *t = gir_type_of(program(r), o->value);
    if (!r->inferred) GN_FAIL(GN_ERR_USAGE, "nothing was inferred since data was last bound");
    GN_TRY(make_room(r));
    api_result *to = &r->results[k];
    int64_t elems = 0, row = gir_row_elems(t);
    API_DEVICE(api_context(r->exe));
    GN_TRY(gn_instance_fetch(r->unit[r->from].instance, o->name));
    void *data = (void *)(uintptr_t)gn_instance_output(r->unit[r->from].instance, o->name, &elems);
    int rank = 0;
    if (t->space) to->shape[rank++] = row ? elems / row : 0;
    for (int d = 0; d < t->rank; d++) to->shape[rank++] = t->dim[d];
    gir_space_kind kind = program(r)->spaces.p[t->space].kind;
    if (r->padded && kind == GIR_EDGE && other_edges(r, o->name))
        GN_FAIL(GN_ERR_USAGE,
                "output '%s' is on edges of a graph with other loops, which does not go with "
                "buckets of sizes",
                o->name);
    if (r->padded && (kind == GIR_NODE || kind == GIR_EDGE)) /* what was added comes last */
        to->shape[0] = kind == GIR_NODE ? r->graph->graph->n_dst : r->graph->graph->n_edge;
    if (t->space && kind == GIR_EDGE) {
        GN_TRY(api_copy_edges(r->unit[r->from].instance, o->name, data,
                              row * (int64_t)gn_elem_size((gn_elem)t->elem), to));
        data = to->copied;
    }
    if (api_is_over_named_rows(r->exe, t->space)) {
        GN_TRY(order_rows(r, data, row * (int64_t)gn_elem_size((gn_elem)t->elem), to));
        to->shape[0] = r->named.n;
        data = to->copied;
    }
    *view = (DLTensor){.data = data,
                       .device = {kDLCPU, 0},
                       .ndim = rank,
                       .dtype = api_type((gn_elem)t->elem),
                       .shape = to->shape};
    return NULL;
}

gn_status *api_view_result(gnnc_run *r, const char *name, DLTensor *view)
{
    int k;
    GN_TRY(api_find_result(r->exe, program(r), name, &k));
    return view_result(r, k, view);
}

gnnc_status *gnnc_run_output(gnnc_run *r, const char *name, DLTensor *view)
{
    API_NEEDS(r);
    API_NEEDS(name);
    API_NEEDS(view);
    API_MEMORY(api_context(r->exe));
    return api_out(api_view_result(r, name, view));
}

static gn_status *output_at(gnnc_run *r, int k, const char **name, DLTensor *view)
{
    const gir_output *o = k < 0 ? NULL : gir_result(program(r), k);
    if (!o)
        GN_FAIL(GN_ERR_USAGE, "model %s has no output %d: it has %d", r->exe->model->name, k,
                count(program(r)));
    GN_TRY(view_result(r, k, view));
    if (name) *name = o->name;
    return NULL;
}

gnnc_status *gnnc_run_output_at(gnnc_run *r, int k, const char **name, DLTensor *view)
{
    API_NEEDS(r);
    API_NEEDS(view);
    API_MEMORY(api_context(r->exe));
    return api_out(output_at(r, k, name, view));
}
