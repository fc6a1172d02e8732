/* Data bound to a run by name: checked, borrowed or copied, and noted. */
#include "api/api.h"
#include "base/data_name.h"

#include "base/nearest.h"
#include "runtime/labels.h"
#include "runtime/memory.h"

#include <stdio.h>
#include <string.h>

enum { PROGRAMS = 3 };

static const gir_program *program(const gnnc_run *r, int k)
{
    const gn_model *m = r->whole->model;
    return k == 0 ? m->eval : k == 1 ? m->loss : m->forward;
}

/* What the model says of an input: its value in one of its programs. */
const gir_node *api_find_input(const gnnc_run *r, const char *name, const gir_program **in)
{
    for (int k = 0; k < PROGRAMS; k++) {
        const gir_program *p = program(r, k);
        gir_id v = p ? gir_leaf_by_name(p, GIR_INPUT, name) : 0;
        if (!v) continue;
        *in = p;
        return gir_at(p, v);
    }
    return NULL;
}

const char *api_own_name(const gnnc_run *r, const char *data)
{
    const gn_model *m = r->whole->model;
    for (int k = 0; k < m->n_inputs; k++)
        if (!strcmp(m->inputs[k].data, data)) return m->inputs[k].name;
    return data;
}

/* Names of programs come first: what the data has, y for one, is called the same in every model. */
const char *api_data_name(const gnnc_run *r, const char *name)
{
    const gn_model *m = r->whole->model;
    const gir_program *p;
    if (api_find_input(r, name, &p)) return name;
    for (int k = 0; k < m->n_inputs; k++)
        if (!strcmp(m->inputs[k].name, name) && api_find_input(r, m->inputs[k].data, &p))
            return m->inputs[k].data;
    return NULL;
}

gn_status *api_no_such(const gn_model *m, const char *what, const char *name, int n,
                       const char *const *names)
{
    char list[256] = "none";
    size_t at = 0;
    for (int k = 0; k < n && at < sizeof list; k++) {
        int wrote = snprintf(list + at, sizeof list - at, "%s%s", k ? ", " : "", names[k]);
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    if (at >= sizeof list) memcpy(list + sizeof list - 4, "...", 4);
    GN_FAIL(GN_ERR_USAGE, "model %s has no %s '%s'%s; it has %s", m->name, what, name,
            gn_did_you_mean(name, names, (size_t)n).text, list);
}

/* What others call data is bound in another way, or asked for when it is compiled. */
static const char *way_to(const gnnc_run *r, const char *name)
{
    const gn_data_shape *s = &r->whole->shape;
    if (!strcmp(name, GN_NAME_G)) return ": gnnc_run_bind_graph binds graphs";
    if (!strcmp(name, GN_NAME_WEIGHT) && !s->has_edge_weight)
        return ": compile with `edge_weights`";
    if (!strcmp(name, GN_NAME_ATTR) && !s->edge_dim) return ": compile with `edge_features`";
    return NULL;
}

/* Those of the model, as it declares them; then what else its programs read. */
static gn_status *no_input(const gnnc_run *r, const char *name)
{
    const gn_model *m = r->whole->model;
    const gir_program *in;
    const char *names[API_NAMES], *way = way_to(r, name);
    int n = 0;
    if (way) GN_FAIL(GN_ERR_USAGE, "model %s has no input '%s'%s", m->name, name, way);
    for (int k = 0; k < m->n_inputs && n < API_NAMES; k++)
        if (api_find_input(r, m->inputs[k].data, &in)) names[n++] = m->inputs[k].name;
    for (int k = 0; k < PROGRAMS; k++) {
        const gir_program *p = program(r, k);
        for (gir_id v = 1; p && v < p->nodes.n && n < API_NAMES; v++) {
            const gir_node *node = gir_at(p, v);
            bool there = node->op != GIR_INPUT || node->type.is_graph;
            const char *own = there ? NULL : api_own_name(r, node->attr.name);
            for (int q = 0; q < n && !there; q++) there = !strcmp(names[q], own);
            if (!there) names[n++] = own;
        }
    }
    return api_no_such(m, "input", name, n, names);
}

api_data *api_find_data(gnnc_run *r, const char *name)
{
    for (int k = 0; k < r->n_data; k++)
        if (!strcmp(r->data[k].name, name)) return &r->data[k];
    return NULL;
}

static gn_status *add_data(gnnc_run *r, const char *name, api_data **out)
{
    *out = api_find_data(r, name);
    if (*out) return NULL;
    if (r->n_data == r->cap) {
        int cap = r->cap * 2 + 8;
        api_data *more = gn_allocate_zeroed((size_t)cap * sizeof *more);
        if (!more) GN_FAIL(GN_ERR_NOMEM, "out of memory: '%s'", name);
        if (r->n_data) memcpy(more, r->data, (size_t)r->n_data * sizeof *more);
        gn_release(r->data);
        r->data = more;
        r->cap = cap;
    }
    char *copy = gn_allocate_zeroed(strlen(name) + 1);
    if (!copy) GN_FAIL(GN_ERR_NOMEM, "out of memory: '%s'", name);
    strcpy(copy, name);
    r->data[r->n_data] = (api_data){.name = copy};
    *out = &r->data[r->n_data++];
    return NULL;
}

static bool makes_graphs(const gn_unit *u, const char *name)
{
    return (u->code && gn_artifact_picks(u->code->artifact, name)) ||
           (u->prepare_code && gn_artifact_picks(u->prepare_code->artifact, name));
}

static bool has_size(const api_data *d, const api_data *other)
{
    return d->data && d->rows == other->rows && d->row_elems == other->row_elems;
}

/* Data on edges go where those before were, in the graph's order.  A device finds its copy by the
 * address. */
static void keep_sorted(const gnnc_run *r, api_data *before, api_data *now)
{
    bool same = has_size(before, now) && before->relation == now->relation;
    if (!same || !now->on_edges || !before->sorted || r->exe->bucket || r->exe->opt.target) return;
    now->sorted = before->sorted;
    now->stale = true;
    before->sorted = NULL;
}

/* Instances learn of data that has taken the place of other data: by its address where that is all
 * that changed. */
static void replace(gnnc_run *r, const api_data *before, const api_data *now)
{
    bool same_size = has_size(before, now);
    /* rows, which other code may be for now */
    bool picks = r->exe->levels && !strcmp(now->name, r->exe->mask);
    bool again = !same_size || r->exe->opt.fixed || (now->on_edges && !now->stale) ||
                 r->exe->bucket || picks;
    r->inferred = r->pulls.forwarded = r->pulls.pulled = false;
    if (picks) r->rows.levels = -1;
    for (int k = 0; k < API_UNITS && !again; k++) {
        const gn_unit *u = &r->unit[k];
        const gn_unit run = {.code = u->code}, ahead = {.code = u->prepare_code};
        again = gn_unit_reads(&ahead, GN_SLOT_INPUT, now->name) || makes_graphs(u, now->name);
        bool reads = u->instance && gn_unit_reads(&run, GN_SLOT_INPUT, now->name);
        if (again || !reads || now->on_edges) continue;
        gn_status *s = gn_instance_rebind(u->instance, now->name, now->data);
        again = s != NULL; /* whatever it is, binding anew says it */
        gn_status_free(s);
    }
    if (again) api_unbind(r);
}

static gn_status *own_copy(const char *name, const DLTensor *t, gn_elem elem, int64_t n, void **out)
{
    *out = NULL;
    *out = gn_allocate((size_t)n * gn_elem_size(elem) + 64, GN_ALIGN);
    if (!*out) GN_FAIL(GN_ERR_NOMEM, "out of memory: '%s'", name);
    gn_status *s = api_copy_tensor(name, t, elem, *out);
    if (s) {
        gn_release(*out);
        *out = NULL;
    }
    return s;
}

static gn_status *check_elem(const char *name, const DLTensor *t, gn_elem want, gn_elem *have)
{
    (void)api_elem(t, have);
    if (api_converts(*have, want)) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: the tensor is %s, expected %s", name, gn_elem_name(*have),
            gn_elem_name(want));
}

/* Bytes that are not 0 or 1 are true all the same. */
static void to_bools(uint8_t *p, int64_t n)
{
    for (int64_t k = 0; k < n; k++) p[k] = p[k] != 0;
}

/* Are values of x what the executable was compiled for? */
static gn_status *check_values(gn_nonzeros known, const gn_graph *x)
{
    const void *row = x->array[GN_GRAPH_ROW_PTR];
    const float *value = x->array[GN_GRAPH_VALUE];
    if (known == GN_NONZEROS_ANY) return NULL;
    for (int64_t v = 0; v < x->n_dst; v++) {
        int64_t begin = gn_index_get(row, x->index, v), end = gn_index_get(row, x->index, v + 1);
        for (int64_t e = begin; e < end; e++) {
            float want = known == GN_NONZEROS_ONE ? 1 : value[begin];
            if (value[e] == want) continue;
            GN_FAIL(GN_ERR_DATA,
                    "x: row %lld has %g, expected %g: compiled with sparse_values '%s'",
                    (long long)v, (double)value[e], (double)want, gn_nonzeros_name[known]);
        }
    }
    return NULL;
}

static gn_status *check_pattern(const gnnc_run *r, const gn_graph *g)
{
    if (g->index != r->exe->opt.index)
        GN_FAIL(GN_ERR_USAGE, "x has more than 2^31 - 1 rows or non-zeros: compile with `wide`");
    return check_values(r->exe->opt.nonzeros, g);
}

/* x for an executable that walks its non-zeros. */
static gn_status *bind_pattern(gnnc_run *r, gn_graph *g)
{
    gn_status *s = check_pattern(r, g);
    if (s) {
        gn_graph_free(g);
        return s;
    }
    api_data *dense = api_find_data(r, GN_NAME_X);
    api_unbind(r);
    gn_graph_free(r->pattern);
    r->pattern = g;
    if (dense) {
        gn_release(dense->own);
        dense->own = dense->data = NULL;
        api_let_managed_go(&dense->managed);
    }
    return NULL;
}

static gn_status *bind_sparse(gnnc_run *r, const DLTensor *t, gn_elem have)
{
    gn_graph *g;
    void *copy = NULL;
    if (!api_row_major(t) || have != GN_F32)
        GN_TRY(own_copy(GN_NAME_X, t, GN_F32, t->shape[0] * t->shape[1], &copy));
    gn_status *s = gn_graph_from_dense(r->exe->opt.index, t->shape[0], t->shape[1],
                                       copy ? copy : api_first(t), &g);
    gn_release(copy);
    return s ? s : bind_pattern(r, g);
}

static gn_status *check_shape(const char *name, const DLTensor *t, const gir_type *type)
{
    int rows = type->space != 0;
    GN_TRY(api_check_tensor(name, t, type->rank + rows));
    for (int d = 0; d < type->rank; d++)
        if (t->shape[d + rows] != type->dim[d])
            GN_FAIL(GN_ERR_DATA, "%s: dimension %d of the tensor is %lld, expected %lld", name,
                    d + rows, (long long)t->shape[d + rows], (long long)type->dim[d]);
    return NULL;
}

gn_status *api_note_data(gnnc_run *r, const char *name, api_data *now)
{
    api_data *slot;
    gn_status *s = add_data(r, name, &slot);
    if (s) {
        gn_release(now->own);
        return s;
    }
    api_drop_ahead(r);
    api_data before = *slot;
    now->name = slot->name;
    keep_sorted(r, &before, now);
    *slot = *now;
    replace(r, &before, slot);
    gn_release(before.own);
    gn_release(before.sorted);
    gn_release(before.padded);
    api_let_managed_go(&before.managed);
    return NULL;
}

/* What was bound to an input that has a default is let go, and the default holds. */
static gn_status *let_go(gnnc_run *r, const char *name, const char *data)
{
    const gn_model *m = r->whole->model;
    int k = 0;
    while (k < m->n_inputs && strcmp(m->inputs[k].data, data) != 0) k++;
    if (k == m->n_inputs || !m->inputs[k].has_default)
        GN_FAIL(GN_ERR_USAGE, "gnnc_run_bind: `data` is NULL, and input '%s' has no default", name);
    api_data now = {0};
    if (r->pattern && !strcmp(data, GN_NAME_X)) {
        gn_graph_free(r->pattern);
        r->pattern = NULL;
    }
    api_unbind(r);
    return api_find_data(r, data) ? api_note_data(r, data, &now) : NULL;
}

gn_status *api_bind_data(gnnc_run *r, const char *own_name, const DLTensor *t)
{
    const gir_program *p = NULL;
    const char *name = api_data_name(r, own_name);
    gn_elem have;
    if (!name) return no_input(r, own_name);
    if (!t) return let_go(r, own_name, name);
    const gir_node *in = api_find_input(r, name, &p);
    const gir_type *type = &in->type;
    gn_elem want = (gn_elem)type->elem;
    GN_TRY(check_shape(own_name, t, type));
    GN_TRY(check_elem(own_name, t, want, &have));
    if (r->exe->opt.sparse && !strcmp(name, GN_NAME_X)) return bind_sparse(r, t, have);
    api_data now = {.elem = want,
                    .rows = type->space ? t->shape[0] : 1,
                    .row_elems = gir_row_elems(type),
                    .on_edges = type->space && p->spaces.p[type->space].kind == GIR_EDGE,
                    .on_nodes = type->space && p->spaces.p[type->space].kind == GIR_NODE};
    if (now.on_edges) now.relation = api_relation_of(r, p, type->space);
    /* a device's copy is found by the address of the run's own */
    bool keeps = r->exe->opt.fixed || r->exe->opt.target;
    bool borrow = have == want && want != GN_BOOL && !now.on_edges && !keeps && api_row_major(t);
    if (borrow)
        borrow = !api_is_result(r, api_first(t),
                                now.rows * now.row_elems * (int64_t)gn_elem_size(want));
    if (!borrow) GN_TRY(own_copy(own_name, t, want, now.rows * now.row_elems, &now.own));
    if (!borrow && want == GN_BOOL) to_bools(now.own, now.rows * now.row_elems);
    now.data = borrow ? (void *)(uintptr_t)api_first(t) : now.own;
    gn_status *s = strcmp(name, GN_NAME_Y) || want != GN_I32 || r->exe->module->ir
                       ? NULL
                       : gn_labels_check(name, now.rows, now.data, r->exe->shape.n_classes);
    if (s) {
        gn_release(now.own);
        return s;
    }
    return api_note_data(r, name, &now);
}

gnnc_status *gnnc_run_bind(gnnc_run *r, const char *name, const DLTensor *data)
{
    API_NEEDS(r);
    API_NEEDS(name);
    API_MEMORY(api_context(r->exe));
    return api_out(api_bind_data(r, name, data));
}

static gn_status *bind_csr(gnnc_run *r, int64_t n_nodes, const int64_t *row, const int32_t *column,
                           const float *value)
{
    const gir_program *p = NULL;
    const gir_node *x = api_find_input(r, GN_NAME_X, &p);
    if (!r->exe->opt.sparse)
        GN_FAIL(GN_ERR_USAGE,
                "x is given as CSR, but the executable was not compiled for sparse x");
    if (!x) return no_input(r, GN_NAME_X);
    gn_graph *g;
    gn_status *s = gn_graph_from_csr(r->exe->opt.index, n_nodes, x->type.dim[0], row, column, value,
                                     &g);
    return s ? gn_status_annotate(s, GN_NAME_X) : bind_pattern(r, g);
}

gnnc_status *gnnc_run_bind_csr(gnnc_run *r, int64_t n_nodes, const int64_t *row,
                               const int32_t *column, const float *value)
{
    API_NEEDS(r);
    API_NEEDS(row);
    API_MEMORY(api_context(r->exe));
    return api_out(bind_csr(r, n_nodes, row, column, value));
}

/* Code reads the indices of all graphs in one width. */
gn_status *api_fit_graph(const gnnc_run *r, gnnc_graph *g, gnnc_graph **out)
{
    gn_elem index = r->exe->opt.index;
    if (g->context != api_context(r->exe))
        GN_FAIL(GN_ERR_USAGE, "the graph is of another context than the executable");
    if (g->graph->index == GN_I64 && index != GN_I64)
        GN_FAIL(GN_ERR_USAGE,
                "the graph has more than 2^31 - 1 nodes or edges: compile with `wide`");
    if (g->graph->index != index) return api_widen_graph(g, out);
    atomic_fetch_add(&g->users, 1);
    *out = g;
    return NULL;
}

void api_forget_sorted(gnnc_run *r, int relation)
{
    for (int k = 0; k < r->n_data; k++) {
        if (r->data[k].relation != relation) continue;
        gn_release(r->data[k].sorted);
        r->data[k].sorted = NULL;
    }
}

static gn_status *bind_graph(gnnc_run *r, gnnc_graph *g)
{
    if (r->graph && (g == r->graph || g == r->graph->of)) return NULL;
    if (g->graph->n_src != g->graph->n_dst)
        GN_FAIL(GN_ERR_DATA,
                "the graph has %lld sources and %lld destinations, which are nodes both",
                (long long)g->graph->n_src, (long long)g->graph->n_dst);
    GN_TRY(api_fit_graph(r, g, &g));
    api_unbind(r);
    r->rows.levels = -1;
    api_forget_sorted(r, 0);
    api_release_graph(r->graph);
    r->graph = g;
    return NULL;
}

gnnc_status *gnnc_run_bind_graph(gnnc_run *r, const gnnc_graph *g)
{
    API_NEEDS(r);
    API_NEEDS(g);
    API_MEMORY(api_context(r->exe));
    return api_out(bind_graph(r, (gnnc_graph *)(uintptr_t)g));
}
