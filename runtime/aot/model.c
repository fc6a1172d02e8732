/* A model's life, its graph, and what it computes.  Instances are made when something is computed,
 * and made anew when a size or a graph has changed since. */
#include "runtime/aot/impl.h"
#include "base/data_name.h"

#include "base/nearest.h"
#include "runtime/load/cpu.h"
#include "runtime/memory.h"

#include <stdio.h>
#include <string.h>

/* Errors --------------------------------------------------------------------------------------- */

int aot_say(gn_aot_model *m, gn_status *s)
{
    if (!s) return GN_OK;
    gn_status_free(m->last);
    m->last = s;
    return (int)gn_status_code(s);
}

const char *gn_aot_message(const gn_aot_model *m)
{
    if (!m) return "out of memory, or no model was given";
    return gn_status_message(m->failed ? m->failed : m->last);
}

const gn_aot_tensor *aot_find(int n, const gn_aot_tensor *in, const char *name)
{
    for (int k = 0; name && k < n; k++)
        if (!strcmp(in[k].name, name)) return &in[k];
    return NULL;
}

gn_status *aot_no_such(const gn_aot_model *m, const char *what, const char *name)
{
    enum { MOST = 256 };
    const gn_aot_image *g = m->image;
    const char *names[MOST];
    if (!name) GN_FAIL(GN_ERR_USAGE, "the %s's name is NULL", what);
    int n = 0;
    for (int k = 0; !strcmp(what, "input") && k < g->n_inputs && n < MOST; k++)
        names[n++] = g->inputs[k].name;
    for (int k = 0; !strcmp(what, "output") && k < g->n_outputs && n < MOST; k++)
        names[n++] = g->outputs[k].name;
    for (int k = 0; !strcmp(what, "weight") && k < g->n_weights && n < MOST; k++)
        names[n++] = g->weights[k].name;
    for (int k = 0; !strcmp(what, "relation") && k < g->n_relations && n < MOST; k++)
        if (gn_aot_takes(g, k)) names[n++] = g->relations[k].name;
    GN_FAIL(GN_ERR_USAGE, "model %s has no %s '%s'%s", g->model, what, name,
            gn_did_you_mean(name, names, (size_t)n).text);
}

/* Life ----------------------------------------------------------------------------------------- */

/* The inputs that there are, for who has a header of others. */
static gn_status *other_header(const gn_aot_image *g, uint64_t identity)
{
    char inputs[512] = "", rows[160];
    size_t at = 0;
    for (int k = 0; k < g->n_inputs && at < sizeof inputs; k++) {
        const gn_aot_tensor *t = &g->inputs[k];
        gn_aot_rows_text(g, t, rows, sizeof rows);
        int n = snprintf(inputs + at, sizeof inputs - at, "%s%s %s%s[%lld]", k ? ", " : "", t->name,
                         gn_elem_name(t->elem), rows, (long long)t->row_elems);
        at += n > 0 ? (size_t)n : 0;
    }
    GN_FAIL(GN_ERR_USAGE,
            "the header is of another interface (%016llx) than model %s (%016llx), which takes %s: "
            "compile "
            "with the header that was written with it",
            (unsigned long long)identity, g->model, (unsigned long long)g->identity, inputs);
}

static gn_status *start(gn_aot_model *m, uint64_t identity, uint64_t has, int threads,
                        uint64_t seed, aot_store *shared)
{
    const gn_aot_image *g = m->image;
    void *block;
    GN_TRY(gn_cpu_check(g->cpu, g->needs, has));
    if (identity && identity != g->identity) return other_header(g, identity);
    if (threads < 0) GN_FAIL(GN_ERR_USAGE, "a model of %d threads", threads);
    m->unit[AOT_INFER] = (aot_unit){.code = g->eval, .ahead = g->eval_ahead};
    m->unit[AOT_STEP] = (aot_unit){.code = g->step, .ahead = g->step_ahead};
    GN_TRY(gn_block_zeroed(g->n_inputs, sizeof *m->data, "inputs", &block));
    m->data = block;
    GN_TRY(gn_block_zeroed(2 * (int64_t)g->n_relations, sizeof *m->graph, "relations", &block));
    m->graph = block;
    m->stand_in = m->graph + g->n_relations;
    GN_TRY(gn_pool_new(threads > 1 ? threads : 1, &m->pool));
    if (!shared) return aot_store_new(g, seed, &m->store);
    atomic_fetch_add(&shared->users, 1);
    m->store = shared;
    return NULL;
}

static int new_model(const gn_aot_image *g, uint64_t identity, uint64_t has, int threads,
                     uint64_t seed, aot_store *shared, gn_aot_model **out)
{
    void *block;
    if (!out) return GN_ERR_USAGE;
    gn_status *s = gn_block_zeroed(1, sizeof **out, "a model", &block);
    *out = block;
    if (s) {
        gn_status_free(s);
        return GN_ERR_NOMEM;
    }
    (*out)->image = g;
    (*out)->failed = start(*out, identity, has, threads, seed, shared);
    return (int)gn_status_code((*out)->failed);
}

int gn_aot_new(const gn_aot_image *g, uint64_t identity, uint64_t has, int threads, uint64_t seed,
               gn_aot_model **out)
{
    return new_model(g, identity, has, threads, seed, NULL, out);
}

int gn_aot_share(gn_aot_model *with, int threads, gn_aot_model **out)
{
    if (out) *out = NULL;
    AOT_USABLE(with);
    if (!out)
        return aot_say(with,
                       GN_ERROR(GN_ERR_USAGE, "there is no place for the new model: out is NULL"));
    return new_model(with->image, with->image->identity, with->image->needs, threads, 0,
                     with->store, out);
}

void aot_unbind(gn_aot_model *m, int unit)
{
    gn_pair_free(&m->unit[unit].pair);
    m->unit[unit].bound = false;
    if (unit == AOT_INFER) m->inferred = false;
}

void gn_aot_free(gn_aot_model *m)
{
    if (!m) return;
    for (int k = 0; k < AOT_UNITS; k++) aot_unbind(m, k);
    for (int k = 0; m->data && k < m->image->n_inputs; k++) {
        gn_block_free(m->data[k].own);
        gn_block_free(m->data[k].sorted);
    }
    gn_block_free(m->data);
    gn_block_free(m->copied);
    for (int k = 0; m->graph && k < 2 * m->image->n_relations; k++) gn_graph_free(m->graph[k]);
    gn_block_free(m->graph);
    gn_graph_free(m->pattern);
    if (m->pool) gn_pool_free(m->pool);
    aot_store_release(m->store);
    gn_status_free(m->failed);
    gn_status_free(m->last);
    gn_block_free(m);
}

/* Graphs --------------------------------------------------------------------------------------- */

gn_status *aot_check_index(const gn_aot_model *m, const gn_graph *g, const char *what)
{
    if (g->index == m->image->index) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: compile with --data of such a size", what);
}

int gn_aot_graph_coo(gn_aot_model *m, gn_elem ends, int64_t nodes, int64_t edges, const void *src,
                     const void *dst)
{
    return gn_aot_relation_coo(m, ends, GN_NAME_G, nodes, nodes, edges, src, dst);
}

int gn_aot_graph_csr(gn_aot_model *m, gn_elem ends, int64_t nodes, const void *row, const void *src)
{
    gn_graph *g;
    AOT_USABLE(m);
    gn_status *s = gn_graph_from_rows(m->image->index, nodes, ends, row, src, &g);
    return aot_say(m, s ? s : aot_take_graph(m, GN_NAME_G, g));
}

/* Running -------------------------------------------------------------------------------------- */

static gn_status *make_instances(gn_aot_model *m, int which, gn_graph_binding *graphs, int n_graphs,
                                 gn_binding *tensors)
{
    const gn_aot_image *g = m->image;
    aot_unit *u = &m->unit[which];
    const gn_state *state = &m->store->state;
    int n = 0;
    gn_binding *b = tensors;
    for (int k = 0; k < g->n_inputs; k++) {
        const gn_aot_tensor *t = &g->inputs[k];
        const aot_data *d = &m->data[k];
        const void *data = d->sorted ? d->sorted : d->data;
        if (data)
            b[n++] = (gn_binding){t->name, t->elem, d->rows, t->row_elems, (void *)(uintptr_t)data};
    }
    gn_state_bindings(state, b + n);
    if (m->pattern) graphs[n_graphs++] = (gn_graph_binding){GN_NAME_X, m->pattern};
    gn_status *s = gn_pair_new(u->code, u->ahead, n_graphs, graphs, n + state->n, b, m->pool,
                               m->unit[!which].pair.instance, &u->pair);
    if (!s && g->one_region[which]) s = gn_instance_one_region(u->pair.instance);
    if (s) aot_unbind(m, which);
    u->bound = !s;
    return s;
}

/* Graphs first: data on edges are put in their order. */
static gn_status *bind_unit(gn_aot_model *m, int which)
{
    const aot_unit *u = &m->unit[which];
    int n_graphs;
    void *graphs, *tensors = NULL;
    GN_TRY(gn_block_zeroed((int64_t)m->image->n_relations + 1, sizeof(gn_graph_binding), "graphs",
                           &graphs));
    gn_status *s = aot_graphs(m, u, graphs, &n_graphs);
    if (!s) s = aot_ready_data(m, u);
    if (!s)
        s = gn_block_zeroed((int64_t)m->image->n_inputs + m->store->state.n +
                                gn_pair_kept(u->ahead),
                            sizeof(gn_binding), "bindings", &tensors);
    if (!s) s = make_instances(m, which, graphs, n_graphs, tensors);
    gn_block_free(tensors);
    gn_block_free(graphs);
    return s;
}

static gn_status *run(gn_aot_model *m, int which)
{
    gn_instance *in;
    if (!m->unit[which].bound) GN_TRY(bind_unit(m, which));
    in = m->unit[which].pair.instance;
    gn_instance_run(in);
    return gn_instance_check(in); /* where edges are drawn anew */
}

int gn_aot_infer(gn_aot_model *m)
{
    AOT_USABLE(m);
    gn_status *s = run(m, AOT_INFER);
    m->inferred = !s;
    return aot_say(m, s);
}

int gn_aot_train_step(gn_aot_model *m, double *loss)
{
    AOT_USABLE(m);
    if (!m->image->step)
        return aot_say(m, GN_ERROR(GN_ERR_USAGE, "model %s has no training step: it has no loss",
                                   m->image->model));
    gn_status *s = run(m, AOT_STEP);
    m->inferred = false;
    const float *value = s ? NULL
                           : gn_instance_output(m->unit[AOT_STEP].pair.instance, "loss", NULL);
    if (loss && value) *loss = (double)*value;
    return aot_say(m, s);
}

static gn_status *output(gn_aot_model *m, const char *name, int64_t *rows, const void **out)
{
    const gn_aot_tensor *t = aot_find(m->image->n_outputs, m->image->outputs, name);
    if (!t) return aot_no_such(m, "output", name);
    if (!m->inferred)
        GN_FAIL(GN_ERR_USAGE, "nothing was inferred since data or weights last changed");
    int64_t elems = 0;
    const gn_instance *in = m->unit[AOT_INFER].pair.instance;
    *out = gn_instance_output(in, name, &elems);
    if (rows) *rows = t->rows == GN_AOT_ONE ? 1 : t->row_elems ? elems / t->row_elems : 0;
    if (t->rows != GN_AOT_EDGES) return NULL;
    const gn_graph *g = gn_instance_graph(in, gn_instance_output_graph(in, name));
    int64_t bytes = t->row_elems * (int64_t)gn_elem_size(t->elem);
    gn_block_free(m->copied);
    m->copied_bytes = 0;
    GN_TRY(gn_block_new(elems, gn_elem_size(t->elem), "results on edges", &m->copied));
    m->copied_bytes = elems * (int64_t)gn_elem_size(t->elem);
    gn_graph_edges_out(g, bytes, *out, m->copied);
    *out = m->copied;
    return NULL;
}

const void *gn_aot_output(gn_aot_model *m, const char *name, int64_t *rows)
{
    const void *out = NULL;
    if (aot_refuses(m)) return NULL;
    return aot_say(m, output(m, name, rows, &out)) ? NULL : out;
}
