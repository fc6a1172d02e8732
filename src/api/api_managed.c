/* Managed tensors of DLPack: taken for data, and made of what is given. */
#include "api/api.h"

#include "runtime/memory.h"

#include <stdlib.h>
#include <string.h>

/* Taking --------------------------------------------------------------------------------------- */

static void delete_plain(void *tensor)
{
    DLManagedTensor *t = tensor;
    if (t->deleter) t->deleter(t);
}

static void delete_versioned(void *tensor)
{
    struct DLManagedTensorVersioned *t = tensor;
    if (t->deleter) t->deleter(t);
}

void api_let_managed_go(api_managed *m)
{
    if (m->tensor) m->end(m->tensor);
    *m = (api_managed){0};
}

/* It is the run's from here on: until other data are bound where that borrows it, else to the end
 * of the call. */
static gn_status *bind(gnnc_run *r, const char *name, const DLTensor *t, api_managed m)
{
    gn_status *s = api_bind_data(r, name, t);
    const char *data = s ? NULL : api_data_name(r, name);
    api_data *d = data ? api_find_data(r, data) : NULL;
    if (d && d->data == api_first(t) && !d->own)
        d->managed = m;
    else
        api_let_managed_go(&m);
    return s;
}

gnnc_status *gnnc_run_bind_managed(gnnc_run *r, const char *name, DLManagedTensor *data)
{
    API_NEEDS(data);
    api_managed m = {data, delete_plain};
    const char *missing = !r ? "r" : !name ? "name" : NULL;
    if (missing) {
        api_let_managed_go(&m);
        return api_null(__func__, missing);
    }
    API_MEMORY(api_context(r->exe));
    return api_out(bind(r, name, &data->dl_tensor, m));
}

static gn_status *check_version(const struct DLManagedTensorVersioned *t)
{
    if (t->version.major == DLPACK_MAJOR_VERSION) return NULL;
    GN_FAIL(GN_ERR_DATA, "the tensor is of DLPack %u.%u, expected %d", (unsigned)t->version.major,
            (unsigned)t->version.minor, DLPACK_MAJOR_VERSION);
}

gnnc_status *gnnc_run_bind_versioned(gnnc_run *r, const char *name,
                                     struct DLManagedTensorVersioned *data)
{
    API_NEEDS(data);
    api_managed m = {data, delete_versioned};
    const char *missing = !r ? "r" : !name ? "name" : NULL;
    gn_status *s = missing ? NULL : check_version(data);
    if (missing || s) {
        api_let_managed_go(&m);
        return missing ? api_null(__func__, missing) : api_out(s);
    }
    API_MEMORY(api_context(r->exe));
    return api_out(bind(r, name, &data->dl_tensor, m));
}

/* Giving --------------------------------------------------------------------------------------- */

/* A copy and who manages it, in two blocks of malloc's: whoever has it need not know of gnnc. */
typedef struct copy {
    union {
        DLManagedTensor plain;
        struct DLManagedTensorVersioned versioned;
    } is;
    int64_t shape[GIR_MAX_RANK + 2], strides[GIR_MAX_RANK + 2];
    void *data;
} copy;

static void end_copy(copy *c)
{
    free(c->data);
    free(c);
}

static void end_plain(DLManagedTensor *t) { end_copy(t->manager_ctx); }
static void end_versioned(struct DLManagedTensorVersioned *t) { end_copy(t->manager_ctx); }

static gn_status *make_copy(const DLTensor *t, DLTensor *view, copy **out)
{
    enum { ALIGN = 256 }; /* of which readers of DLPack may make use */
    gn_elem elem;
    int64_t n = 1;
    GN_TRY(api_check_tensor("gnnc_copy_managed", t, t->ndim));
    (void)api_elem(t, &elem);
    copy *c = calloc(1, sizeof *c);
    if (!c) GN_FAIL(GN_ERR_NOMEM, "out of memory: a tensor");
    for (int d = t->ndim - 1; d >= 0; d--) {
        c->shape[d] = t->shape[d];
        c->strides[d] = n;
        n *= t->shape[d];
    }
    size_t bytes = ((size_t)n * gn_elem_size(elem) + ALIGN) / ALIGN * ALIGN;
    c->data = aligned_alloc(ALIGN, bytes);
    gn_status *s = c->data ? api_copy_tensor("gnnc_copy_managed", t, elem, c->data)
                           : GN_ERROR(GN_ERR_NOMEM, "out of memory: a tensor of %zu bytes", bytes);
    if (s) {
        end_copy(c);
        return s;
    }
    *view = (DLTensor){.data = c->data,
                       .device = {kDLCPU, 0},
                       .ndim = t->ndim,
                       .dtype = t->dtype,
                       .shape = c->shape,
                       .strides = c->strides};
    *out = c;
    return NULL;
}

gnnc_status *gnnc_copy_managed(const DLTensor *t, DLManagedTensor **out)
{
    API_GIVES(out);
    API_NEEDS(t);
    copy *c;
    DLTensor view;
    gn_status *s = make_copy(t, &view, &c);
    if (s) return api_out(s);
    c->is.plain = (DLManagedTensor){.dl_tensor = view, .manager_ctx = c, .deleter = end_plain};
    *out = &c->is.plain;
    return NULL;
}

gnnc_status *gnnc_copy_versioned(const DLTensor *t, struct DLManagedTensorVersioned **out)
{
    API_GIVES(out);
    API_NEEDS(t);
    copy *c;
    DLTensor view;
    gn_status *s = make_copy(t, &view, &c);
    if (s) return api_out(s);
    c->is.versioned = (struct DLManagedTensorVersioned){
        .version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION},
        .manager_ctx = c,
        .deleter = end_versioned,
        .flags = DLPACK_FLAG_BITMASK_IS_COPIED,
        .dl_tensor = view};
    *out = &c->is.versioned;
    return NULL;
}
