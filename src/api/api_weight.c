/* Weights in memory of the caller's: read by every call, and written by those that change them. */
#include "api/api.h"

#include "runtime/memory.h"

#include <string.h>

/* Steps of a tensor in row-major order, where it says none. */
static const int64_t *steps_of(const DLTensor *t, int64_t room[8])
{
    int64_t step = 1;
    if (t->strides) return t->strides;
    for (int d = t->ndim - 1; d >= 0; d--) {
        room[d] = step;
        step *= t->shape[d];
    }
    return room;
}

static bool same_layout(const DLTensor *a, const DLTensor *b)
{
    int64_t room[2][8];
    const int64_t *x = steps_of(a, room[0]), *y = steps_of(b, room[1]);
    for (int d = 0; d < a->ndim; d++)
        if (a->shape[d] != 1 && x[d] != y[d]) return false;
    return true;
}

static int64_t bytes_of(const gn_param *p)
{
    return p->rows * gir_row_elems(&p->type) * (int64_t)gn_elem_size((gn_elem)p->type.elem);
}

static void copy_numbers(const DLTensor *from, const DLTensor *to)
{
    int64_t room[2][8], at[8] = {0}, n = 1;
    const int64_t *x = steps_of(from, room[0]), *y = steps_of(to, room[1]);
    const char *a = api_first(from);
    char *b = (char *)(uintptr_t)api_first(to);
    size_t size = from->dtype.bits / 8;
    for (int d = 0; d < from->ndim; d++) n *= from->shape[d];
    for (; n > 0; n--) {
        int64_t i = 0, j = 0;
        for (int d = 0; d < from->ndim; d++) {
            i += at[d] * x[d];
            j += at[d] * y[d];
        }
        memcpy(b + j * (int64_t)size, a + i * (int64_t)size, size);
        for (int d = from->ndim - 1; d >= 0 && ++at[d] == from->shape[d]; d--) at[d] = 0;
    }
}

/* As code has it: of the run's own, or of the caller's where that lies so. */
static gn_status *as_code_has_it(const gnnc_run *r, int k, void *data, DLTensor *view,
                                 int64_t numbers[16])
{
    return api_view_parameter(&r->whole->model->params[k], data, view, numbers);
}

static void *data_of(const api_weight *w)
{
    return w->own ? w->own : (void *)(uintptr_t)api_first(&w->of);
}

void *api_bound_weight(const gnnc_run *r, const char *name)
{
    for (int k = 0; r->weights && k < r->whole->model->n_params; k++)
        if (r->weights[k].bound && !strcmp(r->whole->model->params[k].name, name))
            return data_of(&r->weights[k]);
    return NULL;
}

/* Binding -------------------------------------------------------------------------------------- */

static gn_status *check(const gn_param *p, const DLTensor *t)
{
    gn_elem have;
    GN_TRY(api_check_tensor(p->file_name, t, p->file_rank));
    if (!api_elem(t, &have) || have != (gn_elem)p->type.elem)
        GN_FAIL(GN_ERR_DATA, "%s: the tensor is %s, expected %s", p->file_name, gn_elem_name(have),
                gn_elem_name((gn_elem)p->type.elem));
    for (int d = 0; d < t->ndim; d++)
        if (t->shape[d] != p->file_dim[d])
            GN_FAIL(GN_ERR_DATA, "%s: dimension %d of the tensor is %lld, expected %lld",
                    p->file_name, d, (long long)t->shape[d], (long long)p->file_dim[d]);
    return NULL;
}

static gn_status *own_memory(const gn_param *p, void **out)
{
    size_t bytes = (size_t)bytes_of(p);
    *out = gn_allocate(bytes + 64, GN_ALIGN);
    if (!*out) GN_FAIL(GN_ERR_NOMEM, "out of memory: parameter '%s'", p->file_name);
    memset(*out, 0, bytes);
    return NULL;
}

/* Instances are pointed to the weights that are there now; where that cannot be they go. */
static void point(gnnc_run *r, const gn_param *p, void *data)
{
    bool again = false;
    api_drop_ahead(r);
    r->inferred = r->pulls.forwarded = r->pulls.pulled = false;
    for (int k = 0; k < API_UNITS && !again; k++) {
        gn_unit *u = &r->unit[k];
        if (u->prepare && gn_artifact_reads(u->prepare_code->artifact, GN_SLOT_STATE, p->name))
            again = true;
        if (again || !u->instance || !gn_unit_reads(u, GN_SLOT_STATE, p->name)) continue;
        gn_status *s = gn_instance_rebind(u->instance, p->name, data);
        again = s != NULL; /* whatever it is, binding anew says it */
        gn_status_free(s);
    }
    if (again) api_unbind(r);
}

static gn_status *let_go(gnnc_run *r, int k)
{
    const gn_param *p = &r->whole->model->params[k];
    api_weight *w = r->weights ? &r->weights[k] : NULL;
    if (!w || !w->bound) return NULL;
    void *own = w->own;
    w->bound = false;
    w->own = NULL;
    point(r, p, gn_state_find(&r->state->state, p->name)->data);
    gn_release(own);
    return NULL;
}

static gn_status *bind(gnnc_run *r, int k, const DLTensor *t)
{
    const gn_model *m = r->whole->model;
    const gn_param *p = &m->params[k];
    int64_t numbers[16];
    DLTensor like;
    void *own = NULL;
    GN_TRY(check(p, t));
    if (api_is_result(r, api_first(t), bytes_of(p)))
        GN_FAIL(GN_ERR_DATA, "%s: the tensor is a result of this run", p->file_name);
    if (!r->weights) r->weights = gn_allocate_zeroed((size_t)m->n_params * sizeof *r->weights);
    if (!r->weights) GN_FAIL(GN_ERR_NOMEM, "out of memory: weights");
    GN_TRY(as_code_has_it(r, k, NULL, &like, numbers));
    if (!same_layout(t, &like) || r->exe->opt.target) GN_TRY(own_memory(p, &own));
    api_weight *w = &r->weights[k];
    void *before = w->bound ? w->own : NULL;
    const void *was = w->bound ? data_of(w) : NULL;
    w->bound = true;
    w->own = own;
    w->of = *t;
    memcpy(w->numbers, t->shape, (size_t)t->ndim * sizeof *t->shape);
    w->of.shape = w->numbers;
    if (t->strides) memcpy(w->numbers + 8, t->strides, (size_t)t->ndim * sizeof *t->strides);
    w->of.strides = t->strides ? w->numbers + 8 : NULL;
    r->inferred = r->pulls.forwarded = r->pulls.pulled = false;
    if (was != data_of(w)) point(r, p, data_of(w));
    gn_release(before);
    return NULL;
}

gnnc_status *gnnc_run_bind_weight(gnnc_run *r, const char *name, const DLTensor *data)
{
    API_NEEDS(r);
    API_NEEDS(name);
    int k;
    gn_status *s = api_find_weight(r->whole->model, name, &k);
    if (s) return api_out(s);
    API_MEMORY(api_context(r->exe));
    return api_out(data ? bind(r, k, data) : let_go(r, k));
}

void api_free_weights(gnnc_run *r)
{
    for (int k = 0; r->weights && k < r->whole->model->n_params; k++) gn_release(r->weights[k].own);
    gn_release(r->weights);
    r->weights = NULL;
}

int64_t api_weights_bytes(const gnnc_run *r)
{
    int64_t bytes = 0;
    for (int k = 0; r->weights && k < r->whole->model->n_params; k++) {
        const gn_param *p = &r->whole->model->params[k];
        if (r->weights[k].own) bytes += bytes_of(p);
    }
    return bytes;
}

/* Computing ------------------------------------------------------------------------------------ */

gn_status *api_read_weights(gnnc_run *r)
{
    gn_target *target = api_target(api_context(r->exe));
    for (int k = 0; r->weights && k < r->whole->model->n_params; k++) {
        api_weight *w = &r->weights[k];
        int64_t numbers[16];
        DLTensor to;
        if (!w->own) continue;
        GN_TRY(as_code_has_it(r, k, w->own, &to, numbers));
        copy_numbers(&w->of, &to);
        API_DEVICE(api_context(r->exe));
        if (target) GN_TRY(target->remote->push(target->remote, w->own));
    }
    return NULL;
}

gn_status *api_write_weights(gnnc_run *r, int which)
{
    gn_target *target = api_target(api_context(r->exe));
    if (!api_changes_state(r, which)) return NULL;
    for (int k = 0; r->weights && k < r->whole->model->n_params; k++) {
        api_weight *w = &r->weights[k];
        int64_t numbers[16];
        DLTensor from;
        bool written = which == API_STEP || !r->whole->model->params[k].trainable;
        if (!w->own || !written) continue;
        API_DEVICE(api_context(r->exe));
        if (target) GN_TRY(target->remote->fetch(target->remote, w->own));
        GN_TRY(as_code_has_it(r, k, w->own, &from, numbers));
        copy_numbers(&from, &w->of);
    }
    return NULL;
}
