/* Inputs that have defaults: a run that binds nothing to one computes as the model does without
 * it.
 *
 * Leaving an input out gives other programs, and so an executable of its own, which is compiled
 * when a run first asks for it and kept with the one that the run was made for.  It takes that
 * one's states: they hold its weights and maybe more. */
#include "api/api.h"
#include "base/data_name.h"

#include <string.h>

enum { MOST = 64 }; /* inputs that have a bit */

/* Strings of the caller's, which are read again when others are compiled. */
static const size_t texts[] = {
    offsetof(gnnc_compile_options, model),         offsetof(gnnc_compile_options, mode),
    offsetof(gnnc_compile_options, dynamic),       offsetof(gnnc_compile_options, ranges),
    offsetof(gnnc_compile_options, buckets),       offsetof(gnnc_compile_options, stance),
    offsetof(gnnc_compile_options, tune_lock),     offsetof(gnnc_compile_options, matmul_precision),
    offsetof(gnnc_compile_options, rows),          offsetof(gnnc_compile_options, gather_storage),
    offsetof(gnnc_compile_options, sparse_values), offsetof(gnnc_compile_options, labelled),
    offsetof(gnnc_compile_options, draw),          offsetof(gnnc_compile_options, gradients),
    offsetof(gnnc_compile_options, gradients_of),  offsetof(gnnc_compile_options, precision),
};

static const char *copy_text(gn_arena *a, const char *text)
{
    return text ? gn_arena_strdup(a, text) : NULL;
}

/* Those that passed the checks of api_schema.c, or will not. */
static void keep_schema(gn_arena *a, gnnc_compile_options *o)
{
    gnnc_space *spaces = GN_NEW_N(a, gnnc_space, o->n_spaces + 1);
    gnnc_relation *relations = GN_NEW_N(a, gnnc_relation, o->n_relations + 1);
    gnnc_column *columns = GN_NEW_N(a, gnnc_column, o->n_columns + 1);
    for (size_t k = 0; k < o->n_spaces && o->spaces; k++)
        spaces[k] = (gnnc_space){sizeof(gnnc_space), copy_text(a, o->spaces[k].name),
                                 o->spaces[k].rows};
    for (size_t k = 0; k < o->n_relations && o->relations; k++) {
        const gnnc_relation *r = &o->relations[k];
        relations[k] = (gnnc_relation){sizeof(gnnc_relation), copy_text(a, r->name),
                                       copy_text(a, r->src), copy_text(a, r->dst), r->expect_edges};
    }
    for (size_t k = 0; k < o->n_columns && o->columns; k++) {
        const gnnc_column *c = &o->columns[k];
        int64_t *shape = GN_NEW_N(a, int64_t, GIR_MAX_RANK + 1);
        bool fits = c->shape && c->ndim >= 0 && c->ndim <= GIR_MAX_RANK; /* else it is refused */
        for (int d = 0; fits && d < c->ndim; d++) shape[d] = c->shape[d];
        columns[k] = *c;
        columns[k].name = copy_text(a, c->name);
        columns[k].shape = shape;
    }
    o->spaces = o->spaces ? spaces : NULL;
    o->relations = o->relations ? relations : NULL;
    o->columns = o->columns ? columns : NULL;
}

gn_status *api_keep_options(gnnc_executable *e, const gnnc_compile_options *o)
{
    gn_arena *a = &e->arena;
    e->asked = *o;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        const char **text = (const char **)(void *)((char *)&e->asked + texts[k]);
        if (*text) *text = gn_arena_strdup(a, *text);
    }
    gnnc_define *defines = GN_NEW_N(a, gnnc_define, o->n_defines + 1);
    for (size_t k = 0; k < o->n_defines; k++)
        defines[k] = (gnnc_define){gn_arena_strdup(a, o->defines[k].name),
                                   gn_arena_strdup(a, o->defines[k].value)};
    e->asked.defines = defines;
    int64_t *fanout = GN_NEW_N(a, int64_t, o->n_fanout + 1);
    for (size_t k = 0; k < o->n_fanout && o->fanout; k++) fanout[k] = o->fanout[k];
    e->asked.fanout = o->fanout ? fanout : NULL;
    keep_schema(a, &e->asked);
    GN_TRY(gn_mutex_init(&e->adding, GN_MUTEX_LONG));
    e->has_adding = true;
    return NULL;
}

void api_free_others(gnnc_executable *e)
{
    for (gnnc_executable *o = atomic_load(&e->others), *next; o; o = next) {
        next = o->next;
        api_release_executable(o);
    }
    if (e->has_adding) gn_mutex_end(&e->adding);
}

/* A program of the whole model asks for it. */
static bool is_asked_for(const gnnc_run *r, const char *data)
{
    const gir_program *p;
    return api_find_input(r, data, &p) != NULL;
}

static uint64_t not_bound(gnnc_run *r)
{
    const gn_model *m = r->whole->model;
    uint64_t out = 0;
    for (int k = 0; k < m->n_inputs && k < MOST; k++) {
        const gn_model_input *in = &m->inputs[k];
        if (!in->has_default || !is_asked_for(r, in->data)) continue;
        const api_data *d = api_find_data(r, in->data);
        bool bound = (d && d->data) || (r->pattern && !strcmp(in->data, GN_NAME_X));
        if (!bound) out |= UINT64_C(1) << k;
    }
    return out;
}

static gnnc_executable *find(gnnc_executable *e, uint64_t left_out)
{
    gnnc_executable *o = atomic_load(&e->others);
    while (o && o->left_out != left_out) o = o->next;
    return left_out ? o : e;
}

static gn_status *add(gnnc_executable *e, uint64_t left_out, gnnc_executable **out)
{
    gn_mutex_take(&e->adding);
    gn_status *s = NULL;
    *out = find(e, left_out);
    bool is_new = !*out;
    if (is_new) s = api_compile_other(e, left_out, out);
    if (is_new && !s) {
        (*out)->next = atomic_load(&e->others);
        atomic_store(&e->others, *out);
    }
    gn_mutex_leave(&e->adding);
    return s;
}

gn_status *api_leave_out(gnnc_run *r)
{
    uint64_t left_out = not_bound(r);
    if (left_out == r->exe->left_out) return NULL;
    gnnc_executable *e = find(r->whole, left_out);
    if (!e) GN_TRY(add(r->whole, left_out, &e));
    if (!api_same_weights(e, r->state))
        GN_FAIL(GN_ERR_USAGE,
                "model %s has other weights without the inputs that are not bound: bind them, or "
                "compile "
                "a model without them",
                e->model->name);
    api_switch(r, e);
    return NULL;
}
