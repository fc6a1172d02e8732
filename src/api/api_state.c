/* States: weights and what training keeps. */
#include "api/api.h"

#include "base/nearest.h"
#include "build/state_file.h"
#include "passes/learning_rate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATE_SEED "rng.seed" /* as programs have it */

static int64_t bytes_of(const gn_state_tensor *t)
{
    return t->rows * t->row_elems * (int64_t)gn_elem_size(t->elem);
}

/* On a device ---------------------------------------------------------------------------------- */

static gn_remote *remote_of(const gnnc_state *s)
{
    const gn_target *t = api_target(api_context(s->exe));
    return t ? t->remote : NULL;
}

static void drop_state(gnnc_state *s)
{
    API_DEVICE(api_context(s->exe));
    while (s->held > 0) remote_of(s)->drop(remote_of(s), s->state.tensors[--s->held].data);
}

/* Tensors stay there for as long as the state lives, whatever runs come and go. */
gn_status *api_send_state(gnnc_state *s)
{
    gn_remote *r = remote_of(s);
    if (!r) return NULL;
    API_DEVICE(api_context(s->exe));
    for (int k = 0; k < s->held && s->newer_here; k++) GN_TRY(r->push(r, s->state.tensors[k].data));
    for (; s->held < s->state.n; s->held++) {
        const gn_state_tensor *t = &s->state.tensors[s->held];
        GN_TRY(r->hold(r, t->data, bytes_of(t), t->name));
    }
    s->newer_here = false;
    return NULL;
}

gn_status *api_fetch_state(gnnc_state *s)
{
    gn_remote *r = remote_of(s);
    if (!r || !s->newer_there) return NULL;
    API_DEVICE(api_context(s->exe));
    for (int k = 0; k < s->held; k++) GN_TRY(r->fetch(r, s->state.tensors[k].data));
    s->newer_there = false;
    return NULL;
}

void api_release_state(gnnc_state *s)
{
    if (!s || atomic_fetch_sub(&s->users, 1) != 1) return;
    gnnc_executable *e = s->exe;
    {
        API_MEMORY(api_context(e));
        drop_state(s);
        gn_state_free(&s->state);
        gn_release(s);
    }
    api_release_executable(e);
}

void gnnc_state_free(gnnc_state *s) { api_release_state(s); }

static gn_status *new_state(const gnnc_executable *e, uint64_t seed, gnnc_state **out)
{
    API_MEMORY(api_context(e));
    gnnc_state *s = gn_allocate_zeroed(sizeof *s);
    if (!s) GN_FAIL(GN_ERR_NOMEM, "out of memory: a state");
    atomic_init(&s->users, 1);
    gn_state_init(&s->state);
    s->exe = (gnnc_executable *)(uintptr_t)e;
    atomic_fetch_add(&s->exe->users, 1);
    gn_status *status = gn_model_add_state(e->model, e->build, &s->state);
    if (!status) status = gn_model_reset(e->model, &s->state, seed);
    if (status)
        api_release_state(s);
    else
        *out = s;
    return status;
}

gnnc_status *gnnc_state_new(const gnnc_executable *e, uint64_t seed, gnnc_state **out)
{
    API_GIVES(out);
    API_NEEDS(e);
    return api_out(new_state(e, seed, out));
}

static void log_unread(const gnnc_state *s, const gn_tensor_file *f, const char *path)
{
    const gnnc_context *c = api_context(s->exe);
    char unread[GN_UNREAD], said[GN_UNREAD + 4096];
    if (!c || !c->opt.log) return;
    if (f->note) {
        snprintf(said, sizeof said, "%s: %.255s", path, f->note);
        c->opt.log(c->opt.user, GNNC_LOG_WARNING, "weights", said);
    }
    gn_weights_unread(s->exe->model, f, unread);
    if (!*unread) return;
    snprintf(said, sizeof said, "%s: tensors that the model does not have: %s", path, unread);
    c->opt.log(c->opt.user, GNNC_LOG_WARNING, "weights", said);
}

static gn_status *take_weights(gnnc_state *s, gn_tensor_file *f, const char *path)
{
    gn_status *bad = gn_weights_adapt(s->exe->model, f, path);
    if (!bad) bad = gn_weights_take(s->exe->model, f, path, "", &s->state);
    if (!bad) {
        s->newer_here = true;
        s->version++;
    }
    if (!bad) log_unread(s, f, path);
    return bad;
}

static gn_status *load_weights(gnnc_state *s, const char *path)
{
    gn_tensor_file *f;
    GN_TRY(api_fetch_state(s)); /* the rest stays */
    GN_TRY(gn_safetensors_read(path, &f));
    gn_status *bad = take_weights(s, f, path);
    gn_tensor_file_free(f);
    return bad;
}

gnnc_status *gnnc_state_load_weights(gnnc_state *s, const char *path)
{
    API_NEEDS(s);
    API_NEEDS(path);
    API_MEMORY(api_context(s->exe));
    return api_out(load_weights(s, path));
}

static gn_status *save_weights(const gnnc_state *s, const char *path)
{
    GN_TRY(api_fetch_state((gnnc_state *)(uintptr_t)s));
    return gn_weights_save(s->exe->model, &s->state, path);
}

gnnc_status *gnnc_state_save_weights(const gnnc_state *s, const char *path)
{
    API_NEEDS(s);
    API_NEEDS(path);
    return api_out(save_weights(s, path));
}

/* Everything ----------------------------------------------------------------------------------- */

static gn_status *put_state(const gnnc_state *s, gn_tensor_file *f)
{
    GN_TRY(gn_state_put(s->exe->model, &s->state, f));
    return gn_state_put_precision(f, s->exe->precision);
}

static gn_status *save_state(const gnnc_state *s, const char *path)
{
    gn_tensor_file *f;
    GN_TRY(api_fetch_state((gnnc_state *)(uintptr_t)s));
    GN_TRY(gn_tensor_file_new(&f));
    gn_status *status = put_state(s, f);
    if (!status) status = gn_safetensors_write(path, f);
    gn_tensor_file_free(f);
    return status;
}

gnnc_status *gnnc_state_save(const gnnc_state *s, const char *path)
{
    API_NEEDS(s);
    API_NEEDS(path);
    return api_out(save_state(s, path));
}

static gn_status *take_state(gnnc_state *s, const gn_tensor_file *f, const char *path)
{
    if (gn_tensor_file_meta(f, GN_STATE_KEY))
        GN_TRY(gn_state_check_precision(path, f, "precision", s->exe->precision));
    GN_TRY(gn_state_take(s->exe->model, &s->state, path, f));
    s->newer_here = true;
    s->newer_there = false; /* all of it is new */
    s->version++;
    return NULL;
}

static gn_status *load_state(gnnc_state *s, const char *path)
{
    gn_tensor_file *f;
    GN_TRY(gn_safetensors_read(path, &f));
    gn_status *status = take_state(s, f, path);
    gn_tensor_file_free(f);
    return status;
}

gnnc_status *gnnc_state_load(gnnc_state *s, const char *path)
{
    API_NEEDS(s);
    API_NEEDS(path);
    return api_out(load_state(s, path));
}

/* In memory, and one by one ------------------------------------------------------------------ */

static gn_status *save_memory(const gnnc_state *s, bool weights, void **bytes, size_t *n)
{
    const gn_model *m = s->exe->model;
    gn_tensor_file *f;
    GN_TRY(api_fetch_state((gnnc_state *)(uintptr_t)s));
    GN_TRY(gn_tensor_file_new(&f));
    gn_status *status = weights ? gn_weights_put(m, &s->state, "", f) : put_state(s, f);
    if (!status) status = gn_safetensors_format(f, bytes, n);
    gn_tensor_file_free(f);
    return status;
}

gnnc_status *gnnc_state_save_memory(const gnnc_state *s, bool weights, void **bytes, size_t *n)
{
    API_GIVES(bytes);
    API_NEEDS(s);
    API_NEEDS(n);
    API_MEMORY(api_context(s->exe));
    return api_out(save_memory(s, weights, bytes, n));
}

static gn_status *load_memory(gnnc_state *s, bool weights, const void *bytes, size_t n)
{
    static const char where[] = "memory";
    gn_tensor_file *f;
    GN_TRY(api_fetch_state(s));
    GN_TRY(gn_safetensors_parse(bytes, n, where, &f));
    gn_status *status = weights ? take_weights(s, f, where) : take_state(s, f, where);
    gn_tensor_file_free(f);
    return status;
}

gnnc_status *gnnc_state_load_memory(gnnc_state *s, bool weights, const void *bytes, size_t n)
{
    API_NEEDS(s);
    API_NEEDS(bytes);
    API_MEMORY(api_context(s->exe));
    return api_out(load_memory(s, weights, bytes, n));
}

void gnnc_bytes_free(void *bytes) { free(bytes); }

static gn_status *copy_state(const gnnc_state *s, gnnc_state **out)
{
    API_MEMORY(api_context(s->exe));
    GN_TRY(api_fetch_state((gnnc_state *)(uintptr_t)s));
    gnnc_state *copy = gn_allocate_zeroed(sizeof *copy);
    if (!copy) GN_FAIL(GN_ERR_NOMEM, "out of memory: a state");
    atomic_init(&copy->users, 1);
    gn_state_init(&copy->state);
    copy->exe = s->exe;
    atomic_fetch_add(&copy->exe->users, 1);
    gn_status *status = gn_state_snapshot(&s->state, &copy->state);
    if (status)
        api_release_state(copy);
    else
        *out = copy;
    return status;
}

gnnc_status *gnnc_state_copy(const gnnc_state *s, gnnc_state **out)
{
    API_GIVES(out);
    API_NEEDS(s);
    return api_out(copy_state(s, out));
}

/* What was set here is on a device, too, whose other tensors may be newer than the host's. */
static gn_status *send_one(gnnc_state *s, const char *name)
{
    gn_remote *r = remote_of(s);
    s->version++;
    if (!r || s->newer_here) return NULL;
    API_DEVICE(api_context(s->exe));
    return r->push(r, gn_state_find(&s->state, name)->data);
}

static gn_status *set_seed(gnnc_state *s, uint64_t seed)
{
    if (!gn_state_find(&s->state, STATE_SEED)) return NULL;
    GN_TRY(gn_state_set_int(&s->state, STATE_SEED, (int64_t)seed));
    return send_one(s, STATE_SEED);
}

gnnc_status *gnnc_state_set_seed(gnnc_state *s, uint64_t seed)
{
    API_NEEDS(s);
    return api_out(set_seed(s, seed));
}

static gn_status *set_rate(gnnc_state *s, double rate)
{
    const gn_train_spec *t = &s->exe->model->train;
    if (!gn_state_find(&s->state, GN_STATE_RATE))
        GN_FAIL(GN_ERR_USAGE, "the learning rate stays: compile with `rate_changes`");
    if (!(rate >= 0) || !isfinite(rate)) GN_FAIL(GN_ERR_USAGE, "the learning rate is %g", rate);
    if (t->schedule != GN_LR_CONSTANT && !(t->lr > 0))
        GN_FAIL(GN_ERR_USAGE, "the schedule of %s is of a learning rate of 0, and stays",
                s->exe->model->name);
    GN_TRY(gn_state_set_float(&s->state, GN_STATE_RATE, rate));
    return send_one(s, GN_STATE_RATE);
}

gnnc_status *gnnc_state_set_rate(gnnc_state *s, double rate)
{
    API_NEEDS(s);
    return api_out(set_rate(s, rate));
}

/* What a device holds is as old as the host's, or newer there; or all of it will be sent. */
static gn_status *validated(gnnc_state *s, double result)
{
    API_DEVICE(api_context(s->exe));
    return gn_plateau_result(s->exe->model, &s->state, s->newer_here ? NULL : remote_of(s), result);
}

gnnc_status *gnnc_state_validated(gnnc_state *s, double result)
{
    API_NEEDS(s);
    API_MEMORY(api_context(s->exe));
    return api_out(validated(s, result));
}

/* Views ---------------------------------------------------------------------------------------- */

/* In files a matrix may lie transposed; the view has the shape that it has there. */
gn_status *api_view_parameter(const gn_param *p, void *data, DLTensor *view, int64_t numbers[16])
{
    int rank = p->file_rank;
    if (p->transposed && rank != 2)
        GN_FAIL(GN_ERR_INTERNAL, "parameter '%s' has no view", p->file_name);
    int64_t *shape = numbers, *strides = numbers + 8, step = 1;
    for (int d = rank - 1; d >= 0; d--) {
        shape[d] = p->file_dim[d];
        strides[d] = step;
        step *= shape[d];
    }
    if (p->transposed) {
        strides[0] = 1;
        strides[1] = shape[0];
    }
    *view = (DLTensor){.data = data,
                       .device = {kDLCPU, 0},
                       .ndim = rank,
                       .dtype = api_type((gn_elem)p->type.elem),
                       .shape = shape,
                       .strides = strides};
    return NULL;
}

static gn_status *view_weight(gnnc_state *s, int k, const char **name, DLTensor *view,
                              int64_t *numbers)
{
    const gn_model *m = s->exe->model;
    if (k < 0 || k >= m->n_params)
        GN_FAIL(GN_ERR_USAGE, "there is no parameter %d: %s has %d", k, m->name, m->n_params);
    GN_TRY(api_fetch_state(s));
    const gn_param *p = &m->params[k];
    GN_TRY(api_view_parameter(p, gn_state_find(&s->state, p->name)->data, view, numbers));
    if (name) *name = p->file_name;
    return NULL;
}

gnnc_status *gnnc_state_weight(gnnc_state *s, int k, const char **name, DLTensor *view,
                               int64_t shape_and_strides[16])
{
    API_NEEDS(s);
    API_NEEDS(view);
    API_NEEDS(shape_and_strides);
    return api_out(view_weight(s, k, name, view, shape_and_strides));
}

gn_status *api_find_weight(const gn_model *m, const char *name, int *out)
{
    for (*out = 0; *out < m->n_params; ++*out)
        if (!strcmp(m->params[*out].file_name, name)) return NULL;
    const char **names = calloc((size_t)m->n_params + 1, sizeof *names);
    for (int k = 0; names && k < m->n_params; k++) names[k] = m->params[k].file_name;
    gn_suggestion near = gn_did_you_mean(name, names, names ? (size_t)m->n_params : 0);
    free(names);
    GN_FAIL(GN_ERR_USAGE, "model %s has no parameter '%s'%s", m->name, name, near.text);
}

gnnc_status *gnnc_state_weight_named(gnnc_state *s, const char *name, DLTensor *view,
                                     int64_t shape_and_strides[16])
{
    API_NEEDS(s);
    API_NEEDS(name);
    API_NEEDS(view);
    API_NEEDS(shape_and_strides);
    int k;
    gn_status *status = api_find_weight(s->exe->model, name, &k);
    return api_out(status ? status : view_weight(s, k, NULL, view, shape_and_strides));
}

void gnnc_state_changed(gnnc_state *s)
{
    if (s) s->newer_here = true;
}
