/* Results in memory of the caller's. */
#include "api/api.h"

#include <string.h>

static const gir_output *result(const gnnc_run *r, int k)
{
    return gir_result(r->whole->model->eval, k);
}

static int count(const gnnc_run *r)
{
    int n = 0;
    while (result(r, n)) n++;
    return n;
}

static int64_t elements(const DLTensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->ndim; d++) n *= t->shape[d];
    return n;
}

/* Code can write there itself: it gives what lies like that.  What comes in another order than it
 * is computed in, or has more rows, is copied. */
static bool is_written_there(const gnnc_run *r, int k, const DLTensor *t)
{
    const gir_program *p = r->whole->model->eval;
    const gir_type *type = gir_type_of(p, result(r, k)->value);
    gn_elem elem;
    return api_elem(t, &elem) && elem == (gn_elem)type->elem && api_row_major(t) &&
           p->spaces.p[type->space].kind != GIR_EDGE && !r->whole->bucket && !r->exe->opt.target &&
           !api_is_over_named_rows(r->whole, type->space);
}

static gn_status *check(const gnnc_run *r, int k, const DLTensor *t)
{
    const gir_output *o = result(r, k);
    const gir_type *type = gir_type_of(r->whole->model->eval, o->value);
    int rows = type->space != 0;
    gn_elem elem;
    GN_TRY(api_check_tensor(o->name, t, type->rank + rows));
    if (!api_elem(t, &elem) || !api_converts((gn_elem)type->elem, elem))
        GN_FAIL(GN_ERR_DATA, "%s: the tensor is %s, the result %s", o->name, gn_elem_name(elem),
                gn_elem_name((gn_elem)type->elem));
    for (int d = 0; d < type->rank; d++)
        if (t->shape[d + rows] != type->dim[d])
            GN_FAIL(GN_ERR_DATA, "%s: dimension %d of the tensor is %lld, expected %lld", o->name,
                    d + rows, (long long)t->shape[d + rows], (long long)type->dim[d]);
    return NULL;
}

/* Instances write to where it is now; where that cannot be they go. */
static void point(gnnc_run *r, const char *name, void *data)
{
    static const int units[] = {API_INFER, API_FORWARD};
    bool again = false;
    api_drop_ahead(r);
    for (int k = 0; k < 2 && !again; k++) {
        const gn_unit *u = &r->unit[units[k]];
        if (!u->instance) continue;
        gn_status *s = gn_instance_rebind_output(u->instance, name, data);
        again = s != NULL;
        gn_status_free(s);
    }
    if (again) api_unbind(r);
}

static gn_status *make_room(gnnc_run *r)
{
    if (!r->sinks) r->sinks = gn_allocate_zeroed((size_t)count(r) * sizeof *r->sinks + 1);
    if (!r->sinks) GN_FAIL(GN_ERR_NOMEM, "out of memory: %d results", count(r));
    return NULL;
}

static gn_status *bind(gnnc_run *r, int k, const DLTensor *t)
{
    GN_TRY(check(r, k, t));
    GN_TRY(make_room(r));
    api_sink *s = &r->sinks[k], before = *s;
    s->bound = true;
    s->there = is_written_there(r, k, t);
    s->of = *t;
    memcpy(s->numbers, t->shape, (size_t)t->ndim * sizeof *t->shape);
    s->of.shape = s->numbers;
    if (t->strides) memcpy(s->numbers + 8, t->strides, (size_t)t->ndim * sizeof *t->strides);
    s->of.strides = t->strides ? s->numbers + 8 : NULL;
    r->inferred = r->pulls.forwarded = r->pulls.pulled = false;
    bool same_place = before.bound && before.there == s->there &&
                      elements(&before.of) == elements(&s->of);
    if (!same_place)
        api_unbind(r);
    else if (s->there && api_first(&before.of) != api_first(&s->of))
        point(r, result(r, k)->name, (void *)(uintptr_t)api_first(&s->of));
    return NULL;
}

static gn_status *let_go(gnnc_run *r, int k)
{
    if (!r->sinks || !r->sinks[k].bound) return NULL;
    r->sinks[k].bound = false;
    api_unbind(r);
    return NULL;
}

gnnc_status *gnnc_run_bind_output(gnnc_run *r, const char *name, const DLTensor *to)
{
    API_NEEDS(r);
    API_NEEDS(name);
    int k;
    API_MEMORY(api_context(r->exe));
    gn_status *s = api_find_result(r->whole, r->whole->model->eval, name, &k);
    if (s) return api_out(s);
    return api_out(to ? bind(r, k, to) : let_go(r, k));
}

void api_free_sinks(gnnc_run *r)
{
    gn_release(r->sinks);
    r->sinks = NULL;
}

int api_count_sinks(const gnnc_run *r) { return r->sinks ? count(r) : 0; }

int api_list_sinks(const gnnc_run *r, gn_binding *b)
{
    int n = 0;
    for (int k = 0; k < api_count_sinks(r); k++) {
        const api_sink *s = &r->sinks[k];
        const gir_type *t = gir_type_of(r->whole->model->eval, result(r, k)->value);
        if (!s->bound || !s->there) continue;
        b[n++] = (gn_binding){.name = result(r, k)->name,
                              .elem = (gn_elem)t->elem,
                              .rows = t->space ? s->of.shape[0] : 1,
                              .row_elems = gir_row_elems(t),
                              .data = (void *)(uintptr_t)api_first(&s->of),
                              .output = true};
    }
    return n;
}

gn_status *api_fill_sinks(gnnc_run *r)
{
    for (int k = 0; k < api_count_sinks(r); k++) {
        const api_sink *s = &r->sinks[k];
        const char *name = result(r, k)->name;
        DLTensor view;
        gn_elem elem;
        if (!s->bound || s->there) continue;
        GN_TRY(api_view_result(r, name, &view));
        for (int d = 0; d < view.ndim; d++)
            if (view.shape[d] != s->of.shape[d])
                GN_FAIL(GN_ERR_DATA, "%s: dimension %d of the tensor is %lld, the result has %lld",
                        name, d, (long long)s->of.shape[d], (long long)view.shape[d]);
        (void)api_elem(&view, &elem);
        GN_TRY(api_store_tensor(name, elem, view.data, &s->of));
    }
    return NULL;
}
