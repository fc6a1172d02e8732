/* Gradients by name: what is asked for when it is compiled, and a run's forward and backward
 * passes. */
#include "api/api.h"
#include "base/data_name.h"
#include "base/nearest.h"
#include "runtime/memory.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Compiling ------------------------------------------------------------------------------------ */

#define ALL_WEIGHTS "weights"

/* The leaf of floats that an input's name stands for; NULL: there is none.  *data: its name in the
 * program. */
static const gir_node *find_input(const gnnc_executable *e, const char *name, const char **data)
{
    const gn_model *m = e->model;
    const gir_program *p = api_results_of(e, API_FORWARD);
    gir_id v = gir_leaf_by_name(p, GIR_INPUT, name);
    *data = name;
    for (int k = 0; k < m->n_inputs && !v; k++) {
        if (strcmp(m->inputs[k].name, name) != 0) continue;
        *data = m->inputs[k].data;
        v = gir_leaf_by_name(p, GIR_INPUT, *data);
    }
    bool floats = v && gn_elem_is_float((gn_elem)gir_type_of(p, v)->elem);
    if (floats) *data = gir_at(p, v)->attr.name;
    return floats ? gir_at(p, v) : NULL;
}

static int find_parameter(const gn_model *m, const char *name)
{
    for (int k = 0; k < m->n_params; k++)
        if (!strcmp(m->params[k].file_name, name)) return k;
    return -1;
}

static gn_status *no_such(const gnnc_executable *e, const char *name)
{
    const gn_model *m = e->model;
    const gir_program *p = api_results_of(e, API_FORWARD);
    const char *names[API_NAMES] = {ALL_WEIGHTS};
    int n = 1;
    for (gir_id v = 1; v < p->nodes.n && n < API_NAMES; v++) {
        const gir_node *node = gir_at(p, v);
        if (node->op == GIR_INPUT && gn_elem_is_float((gn_elem)node->type.elem))
            names[n++] = node->attr.name;
    }
    for (int k = 0; k < m->n_params && n < API_NAMES; k++) names[n++] = m->params[k].file_name;
    return gn_status_annotate(api_no_such(m, "parameter or data of floats", name, n, names),
                              "gradients");
}

typedef struct gradient_list {
    gnnc_executable *e;
    int n, cap;
    api_gradient *of;
} gradient_list;

static void add(gradient_list *l, api_gradient g)
{
    for (int k = 0; k < l->n; k++)
        if (l->of[k].param == g.param && (g.param >= 0 || !strcmp(l->of[k].data, g.data))) return;
    if (l->n == l->cap) {
        api_gradient *more = GN_NEW_N(&l->e->arena, api_gradient, 2 * l->cap + 8);
        if (l->n) memcpy(more, l->of, (size_t)l->n * sizeof *more);
        l->of = more;
        l->cap = 2 * l->cap + 8;
    }
    l->of[l->n++] = g;
}

static void add_parameter(gradient_list *l, int k)
{
    const gn_param *p = &l->e->model->params[k];
    add(l, (api_gradient){.name = p->file_name, .param = k, .data = p->name});
}

/* `whole`: no inputs are left out, so that a name that is none is an error. */
static gn_status *add_named(gradient_list *l, const char *name, bool whole)
{
    const gn_model *m = l->e->model;
    const char *data;
    int k = find_parameter(m, name);
    if (!strcmp(name, ALL_WEIGHTS)) {
        for (k = 0; k < m->n_params; k++)
            if (m->params[k].trainable) add_parameter(l, k);
        return NULL;
    }
    if (find_input(l->e, name, &data)) {
        if (l->e->opt.sparse && !strcmp(data, GN_NAME_X))
            GN_FAIL(GN_ERR_USAGE,
                    "gradients: '%s' is bound by its non-zeros, with `sparse`, and "
                    "has none",
                    name);
        add(l, (api_gradient){.name = name, .param = -1, .data = data});
        return NULL;
    }
    if (k >= 0) add_parameter(l, k);
    return k >= 0 || !whole ? NULL : no_such(l->e, name);
}

static gn_status *read_names(gradient_list *l, const char *text, bool whole)
{
    while (*text) {
        size_t n = strcspn(text, ","), from = 0, to = n;
        while (from < to && isspace((unsigned char)text[from])) from++;
        while (to > from && isspace((unsigned char)text[to - 1])) to--;
        if (from == to) GN_FAIL(GN_ERR_USAGE, "gradients: a name is missing before '%.40s'", text);
        GN_TRY(add_named(l, gn_arena_strndup(&l->e->arena, text + from, to - from), whole));
        text += n;
        if (!*text) break;
        if (!*++text) GN_FAIL(GN_ERR_USAGE, "gradients: a name is missing behind the last comma");
    }
    if (!l->n && whole) GN_FAIL(GN_ERR_USAGE, "gradients: there are none");
    return NULL;
}

gn_status *api_read_gradients(gnnc_executable *e, const gnnc_compile_options *o, bool whole)
{
    static const char *const programs[] = {"training", "inference"};
    int which;
    GN_TRY(gn_choose("setting of gradients_of", o->gradients_of, programs, 2, &which));
    if (!o->gradients && o->gradients_of)
        GN_FAIL(GN_ERR_USAGE, "gradients_of goes with `gradients`");
    if (!o->gradients) return NULL;
    if (o->by_rows || e->bucket)
        GN_FAIL(GN_ERR_USAGE, "gradients do not go with %s", o->by_rows ? "by_rows" : "buckets");
    gradient_list l = {.e = e};
    e->gradients.inference = which == 1;
    GN_TRY(read_names(&l, o->gradients, whole));
    gn_gradient *of = GN_NEW_N(&e->arena, gn_gradient, l.n + 1);
    for (int k = 0; k < l.n; k++)
        of[k] = (gn_gradient){.of_state = l.of[k].param >= 0, .name = l.of[k].data};
    e->gradients.n = e->n_gradients = l.n;
    e->gradients.of = of;
    e->gradient = l.of;
    e->opt.gradients = &e->gradients;
    return NULL;
}

/* What a run keeps ---------------------------------------------------------------------------- */

/* Sizes may be others next time. */
void api_forget_pulls(gnnc_run *r)
{
    api_pulls *z = &r->pulls;
    z->forwarded = z->pulled = false;
    for (int k = 0; k < z->n_results; k++) {
        gn_release(z->cotangent[k]);
        z->cotangent[k] = NULL;
    }
}

static void free_room(api_pulls *z)
{
    for (int k = 0; k < z->n_results; k++) gn_release(z->cotangent[k]);
    for (int k = 0; k < z->n_gradients; k++) gn_release(z->given[k].copied);
    gn_release(z->cotangent);
    gn_release(z->elems);
    gn_release(z->given);
    gn_release(z->numbers);
    *z = (api_pulls){.forwarded = z->forwarded, .version = z->version};
}

void api_free_pulls(gnnc_run *r) { free_room(&r->pulls); }

int64_t api_pulls_bytes(const gnnc_run *r)
{
    const api_pulls *z = &r->pulls;
    int64_t bytes = 0;
    for (int k = 0; k < z->n_results; k++)
        if (z->cotangent[k]) bytes += z->elems[k] * (int64_t)sizeof(float);
    for (int k = 0; k < z->n_gradients; k++) bytes += z->given[k].copied_bytes;
    return bytes;
}

/* Room for as many results and gradients as there are; what another set of inputs had is let go. */
static gn_status *make_room(gnnc_run *r)
{
    api_pulls *z = &r->pulls;
    const gir_program *p = api_results_of(r->exe, API_FORWARD);
    int n = 0, m = r->whole->n_gradients;
    while (gir_result(p, n)) n++;
    if (n <= z->n_results && m <= z->n_gradients) return NULL;
    free_room(z);
    z->cotangent = gn_allocate_zeroed((size_t)n * sizeof *z->cotangent + 1);
    z->elems = gn_allocate_zeroed((size_t)n * sizeof *z->elems + 1);
    z->given = gn_allocate_zeroed((size_t)m * sizeof *z->given + 1);
    z->numbers = gn_allocate_zeroed((size_t)m * sizeof *z->numbers + 1);
    if (!z->cotangent || !z->elems || !z->given || !z->numbers) {
        free_room(z);
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %d gradients", m);
    }
    z->n_results = n;
    z->n_gradients = m;
    return NULL;
}

static const char *numbered(char text[32], const char *word, int k)
{
    snprintf(text, 32, "%s%d", word, k);
    return text;
}

static const gn_artifact *kept_by(const gnnc_run *r)
{
    return r->unit[API_FORWARD].code ? r->unit[API_FORWARD].code->artifact : NULL;
}

int api_count_passed(const gnnc_run *r) { return gn_pair_kept(kept_by(r)) + r->pulls.n_results; }

int api_list_passed(const gnnc_run *r, gn_binding *b)
{
    const api_pulls *z = &r->pulls;
    const gir_program *p = api_results_of(r->exe, API_FORWARD);
    const gn_artifact *a = r->unit[API_BACKWARD].code->artifact;
    int n = gn_pair_bind_kept(kept_by(r), r->unit[API_FORWARD].instance, 0, b);
    for (int k = 0; k < a->n_slots; k++) {
        int which;
        if (a->slots[k].kind != GN_SLOT_INPUT ||
            sscanf(a->slots[k].name, GN_COTANGENT "%d", &which) != 1)
            continue;
        int64_t row = a->slots[k].row_elems;
        const gir_type *t = gir_type_of(p, gir_result(p, which)->value);
        b[n++] = (gn_binding){a->slots[k].name, GN_F32,
                              !t->space ? 1
                              : row     ? z->elems[which] / row
                                        : 0,
                              row, z->cotangent[which]};
    }
    return n;
}

/* Forward and backward ------------------------------------------------------------------------- */

static gn_status *has_gradients(const gnnc_run *r)
{
    if (!r->whole->n_gradients)
        GN_FAIL(GN_ERR_USAGE, "the executable was compiled without `gradients`");
    return NULL;
}

static gn_status *forward(gnnc_run *r)
{
    GN_TRY(has_gradients(r));
    r->inferred = r->pulls.forwarded = r->pulls.pulled = false;
    GN_TRY(api_run_unit(r, API_FORWARD));
    r->inferred = r->pulls.forwarded = true;
    r->from = API_FORWARD;
    r->pulls.version = r->state->version;
    gn_status *s = api_fill_sinks(r);
    if (s) r->inferred = r->pulls.forwarded = false;
    return s;
}

gnnc_status *gnnc_run_forward(gnnc_run *r)
{
    API_NEEDS(r);
    API_MEMORY(api_context(r->exe));
    return api_out(forward(r));
}

/* Does it have the shape of result k?  With rows as many as the forward pass gave. */
static gn_status *check_cotangent(const gnnc_run *r, int k, const DLTensor *t)
{
    const gir_program *p = api_results_of(r->exe, API_FORWARD);
    const gir_output *o = gir_result(p, k);
    const gir_type *type = gir_type_of(p, o->value);
    char where[160];
    int64_t elems = 0, row = gir_row_elems(type);
    int rows = type->space != 0;
    snprintf(where, sizeof where, "the cotangent of '%.100s'", o->name);
    if (!gn_elem_is_float((gn_elem)type->elem))
        GN_FAIL(GN_ERR_USAGE, "%s: the result is %s, and has none", where,
                gn_elem_name((gn_elem)type->elem));
    GN_TRY(api_check_tensor(where, t, type->rank + rows));
    gn_elem have;
    if (!api_elem(t, &have) || !gn_elem_is_float(have))
        GN_FAIL(GN_ERR_DATA, "%s: the tensor is %s, expected f32", where, gn_elem_name(have));
    (void)gn_instance_output(r->unit[API_FORWARD].instance, o->name, &elems);
    for (int d = 0; d < t->ndim; d++) {
        int64_t want = d < rows ? (row ? elems / row : 0) : type->dim[d - rows];
        if (t->shape[d] != want)
            GN_FAIL(GN_ERR_DATA, "%s: dimension %d is %lld, expected %lld", where, d,
                    (long long)t->shape[d], (long long)want);
    }
    return NULL;
}

/* Memory for cotangents, where a backward program finds them. */
static gn_status *make_cotangents(gnnc_run *r)
{
    api_pulls *z = &r->pulls;
    const gir_program *p = api_results_of(r->exe, API_FORWARD);
    for (int k = 0; k < z->n_results; k++) {
        const gir_output *o = gir_result(p, k);
        if (!o || z->cotangent[k]) continue;
        if (!gn_elem_is_float((gn_elem)gir_type_of(p, o->value)->elem)) continue;
        (void)gn_instance_output(r->unit[API_FORWARD].instance, o->name, &z->elems[k]);
        z->cotangent[k] = gn_allocate((size_t)z->elems[k] * sizeof(float) + 64, GN_ALIGN);
        if (!z->cotangent[k])
            GN_FAIL(GN_ERR_NOMEM, "out of memory: the cotangent of '%s'", o->name);
    }
    return NULL;
}

/* Row by row, those on edges in the order of their graph. */
static gn_status *take_cotangent(gnnc_run *r, int k, const DLTensor *t)
{
    api_pulls *z = &r->pulls;
    const gir_program *p = api_results_of(r->exe, API_FORWARD);
    const gir_output *o = gir_result(p, k);
    const gir_type *type = gir_type_of(p, o->value);
    const gn_instance *in = r->unit[API_FORWARD].instance;
    int graph = gn_instance_output_graph(in, o->name);
    size_t bytes = (size_t)z->elems[k] * sizeof(float);
    if (!t) {
        memset(z->cotangent[k], 0, bytes);
        return NULL;
    }
    if (graph < 0) return api_copy_tensor(o->name, t, GN_F32, z->cotangent[k]);
    void *aside = gn_allocate(bytes + 64, GN_ALIGN);
    if (!aside) GN_FAIL(GN_ERR_NOMEM, "out of memory: the cotangent of '%s'", o->name);
    gn_status *s = api_copy_tensor(o->name, t, GN_F32, aside);
    if (!s)
        gn_graph_edges_in(gn_instance_graph(in, graph),
                          gir_row_elems(type) * (int64_t)sizeof(float), aside, z->cotangent[k]);
    gn_release(aside);
    return s;
}

static gn_status *take_cotangents(gnnc_run *r, size_t n, const DLTensor *const *ct)
{
    const gn_target *target = api_target(api_context(r->exe));
    for (int k = 0; k < r->pulls.n_results; k++) {
        if (!r->pulls.cotangent[k]) continue;
        GN_TRY(take_cotangent(r, k, (size_t)k < n ? ct[k] : NULL));
        API_DEVICE(api_context(r->exe));
        if (target) GN_TRY(target->remote->push(target->remote, r->pulls.cotangent[k]));
    }
    return NULL;
}

static gn_status *backward(gnnc_run *r, size_t n, const DLTensor *const *ct)
{
    const gir_program *p = api_results_of(r->exe, API_FORWARD);
    int results = 0;
    GN_TRY(has_gradients(r));
    if (!r->pulls.forwarded)
        GN_FAIL(GN_ERR_USAGE, "gnnc_run_forward comes first: nothing was computed by it since "
                              "something was bound");
    if (r->pulls.version != r->state->version)
        GN_FAIL(GN_ERR_USAGE, "the state was trained or loaded since gnnc_run_forward");
    while (gir_result(p, results)) results++;
    if (n > (size_t)results)
        GN_FAIL(GN_ERR_USAGE, "gnnc_run_backward: %zu cotangents, model %s has %d results", n,
                r->exe->model->name, results);
    for (size_t k = 0; k < n; k++)
        if (ct[k]) GN_TRY(check_cotangent(r, (int)k, ct[k]));
    r->pulls.pulled = false;
    GN_TRY(make_room(r));
    GN_TRY(make_cotangents(r));
    GN_TRY(take_cotangents(r, n, ct));
    GN_TRY(api_run_unit(r, API_BACKWARD));
    r->pulls.pulled = true;
    return NULL;
}

gnnc_status *gnnc_run_backward(gnnc_run *r, size_t n, const DLTensor *const *cotangents)
{
    API_NEEDS(r);
    if (n) API_NEEDS(cotangents);
    API_MEMORY(api_context(r->exe));
    return api_out(backward(r, n, cotangents));
}

/* Gradients ------------------------------------------------------------------------------------ */

static gn_status *zeros(const api_gradient *g, int64_t elems, api_result *to)
{
    gn_release(to->copied);
    to->copied_bytes = 0;
    to->copied = gn_allocate_zeroed((size_t)elems * sizeof(float) + 64);
    if (!to->copied) GN_FAIL(GN_ERR_NOMEM, "out of memory: the gradient of '%s'", g->name);
    to->copied_bytes = elems * (int64_t)sizeof(float);
    return NULL;
}

/* Of data: with a row for each of theirs. */
static gn_status *view_data(gnnc_run *r, int k, const char *output, void *data, int64_t elems,
                            DLTensor *view)
{
    const api_gradient *g = &r->exe->gradient[k];
    const char *name;
    const gir_node *in = find_input(r->exe, g->data, &name);
    const gir_type *type = &in->type;
    api_result *to = &r->pulls.given[k];
    int64_t row = gir_row_elems(type);
    int rank = 0;
    const gn_instance *at = r->unit[API_BACKWARD].instance;
    if (type->space) to->shape[rank++] = row ? elems / row : 0;
    for (int d = 0; d < type->rank; d++) to->shape[rank++] = type->dim[d];
    if (gn_instance_output_graph(at, output) >= 0) {
        GN_TRY(api_copy_edges(at, output, data, row * (int64_t)sizeof(float), to));
        data = to->copied;
    }
    *view = (DLTensor){.data = data,
                       .device = {kDLCPU, 0},
                       .ndim = rank,
                       .dtype = api_type((gn_elem)type->elem),
                       .shape = to->shape};
    return NULL;
}

static gn_status *view_gradient(gnnc_run *r, int k, DLTensor *view)
{
    char name[32];
    const api_gradient *g = &r->exe->gradient[k];
    gn_instance *at = r->unit[API_BACKWARD].instance;
    int64_t elems = 0;
    API_DEVICE(api_context(r->exe));
    numbered(name, GN_GRADIENT, k);
    void *data = (void *)(uintptr_t)gn_instance_output(at, name, &elems);
    if (data) GN_TRY(gn_instance_fetch(at, name));
    if (g->param < 0) return view_data(r, k, name, data, elems, view);
    const gn_param *p = &r->exe->model->params[g->param];
    api_result *to = &r->pulls.given[k];
    if (!data) GN_TRY(zeros(g, p->rows * gir_row_elems(&p->type), to));
    return api_view_parameter(p, data ? data : to->copied, view, r->pulls.numbers[k]);
}

/* Which of the executable that computes: it may have fewer, where inputs are left out. */
static gn_status *find_gradient(const gnnc_run *r, const char *name, int *out)
{
    const char *names[API_NAMES];
    const gnnc_executable *e = r->exe;
    int n = 0;
    for (*out = 0; *out < e->n_gradients; ++*out) {
        const api_gradient *g = &e->gradient[*out];
        if (!strcmp(g->name, name)) return NULL;
        if (n < API_NAMES) names[n++] = g->name;
    }
    for (*out = 0; *out < e->n_gradients; ++*out)
        if (e->gradient[*out].param < 0 && !strcmp(e->gradient[*out].data, name)) return NULL;
    return api_no_such(e->model, "gradient", name, n, names);
}

static gn_status *gradient(gnnc_run *r, const char *name, DLTensor *view)
{
    int k;
    GN_TRY(has_gradients(r));
    GN_TRY(find_gradient(r, name, &k));
    if (!r->pulls.pulled)
        GN_FAIL(GN_ERR_USAGE, "gnnc_run_backward comes first: there are no gradients yet");
    return view_gradient(r, k, view);
}

gnnc_status *gnnc_run_gradient(gnnc_run *r, const char *name, DLTensor *view)
{
    API_NEEDS(r);
    API_NEEDS(name);
    API_NEEDS(view);
    API_MEMORY(api_context(r->exe));
    return api_out(gradient(r, name, view));
}

gnnc_status *gnnc_run_gradient_at(gnnc_run *r, int k, const char **name, DLTensor *view)
{
    API_NEEDS(r);
    API_NEEDS(view);
    API_MEMORY(api_context(r->exe));
    const gnnc_executable *e = r->whole;
    if (k < 0 || k >= e->n_gradients)
        return api_out(GN_ERROR(GN_ERR_USAGE, "model %s has no gradient %d: it has %d",
                                e->model->name, k, e->n_gradients));
    gn_status *s = gradient(r, e->gradient[k].name, view);
    if (!s && name) *name = e->gradient[k].name;
    return api_out(s);
}
