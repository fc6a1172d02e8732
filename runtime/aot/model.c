/* A model's life, its graph, and what it computes.  Instances are made when something is computed,
 * and made anew when a size or a graph has changed since. */
#include "runtime/aot/impl.h"
#include "base/data_name.h"
#include "base/schema.h"

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
    int kind = !strcmp(what, "input")    ? 0
               : !strcmp(what, "output") ? 1
               : !strcmp(what, "weight") ? 2
                                         : 3;
    const int count[] = {g->n_inputs, g->n_outputs, g->n_weights, g->n_relations};
    int n = count[kind];
    if (n > MOST) n = MOST;
    for (int k = 0; k < n; k++)
        names[k] = kind == 0   ? g->inputs[k].name
                   : kind == 1 ? g->outputs[k].name
                   : kind == 2 ? g->weights[k].name
                               : g->relations[k].name;
    GN_FAIL(GN_ERR_USAGE, "model %s has no %s '%s'%s", g->model, what, name,
            gn_did_you_mean(name, names, (size_t)n).text);
}

/* Life ----------------------------------------------------------------------------------------- */

/* The inputs that there are, for who has a header of others. */
static gn_status *other_header(const gn_aot_image *g, uint64_t identity)
{
    static const char *const rows[] = {"", "nodes", "edges"};
    char inputs[512] = "";
    size_t at = 0;
    for (int k = 0; k < g->n_inputs && at < sizeof inputs; k++) {
        const gn_aot_tensor *t = &g->inputs[k];
        bool one = t->rows == GN_AOT_ONE;
        int n = snprintf(inputs + at, sizeof inputs - at, "%s%s %s%s%s%s[%lld]", k ? ", " : "",
                         t->name, gn_elem_name(t->elem), one ? "" : "[",
                         t->over ? t->over : rows[t->rows], one ? "" : "]",
                         (long long)t->row_elems);
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
    GN_TRY(gn_block_zeroed(g->n_relations, sizeof *m->relation, "relations", &block));
    m->relation = block;
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
    bool any = false;
    for (int k = 0; k < AOT_UNITS; k++) any = any || m->unit[k].bound;
    if (any) return;
    gn_graph_free(m->no_edges); /* nobody reads it */
    m->no_edges = NULL;
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
    gn_graph_free(m->graph);
    for (int k = 0; m->relation && k < m->image->n_relations; k++) gn_graph_free(m->relation[k]);
    gn_block_free(m->relation);
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

const gn_graph *aot_edges_of(const gn_aot_model *m, const gn_aot_tensor *t)
{
    return t->relation ? m->relation[t->relation - 1] : m->graph;
}

/* In the place of `at`, whose number tensors have. */
static gn_status *take_graph(gn_aot_model *m, gn_graph *g, int relation, gn_graph **at)
{
    gn_status *s = aot_check_index(m, g, "a graph of more than 2^31 - 1 nodes or edges");
    if (s) {
        gn_graph_free(g);
        return s;
    }
    for (int k = 0; k < AOT_UNITS; k++) aot_unbind(m, k);
    for (int k = 0; k < m->image->n_inputs; k++) {
        if (m->image->inputs[k].relation != relation) continue;
        gn_block_free(m->data[k].sorted);
        m->data[k].sorted = NULL;
    }
    gn_graph_free(*at);
    *at = g;
    return NULL;
}

int gn_aot_relation_coo(gn_aot_model *m, const char *name, gn_elem ends, int64_t n_src,
                        int64_t n_dst, int64_t edges, const void *src, const void *dst)
{
    gn_graph *g;
    int k = 0;
    AOT_USABLE(m);
    while (name && k < m->image->n_relations && strcmp(m->image->relations[k].name, name)) k++;
    if (!name || k == m->image->n_relations) return aot_say(m, aot_no_such(m, "relation", name));
    gn_status *s = gn_graph_from_coo(m->image->index, n_src, n_dst, edges, ends, src, dst, &g);
    return aot_say(m, s ? s : take_graph(m, g, k + 1, &m->relation[k]));
}

int gn_aot_graph_coo(gn_aot_model *m, gn_elem ends, int64_t nodes, int64_t edges, const void *src,
                     const void *dst)
{
    gn_graph *g;
    AOT_USABLE(m);
    gn_status *s = gn_graph_from_coo(m->image->index, nodes, nodes, edges, ends, src, dst, &g);
    return aot_say(m, s ? s : take_graph(m, g, 0, &m->graph));
}

int gn_aot_graph_csr(gn_aot_model *m, gn_elem ends, int64_t nodes, const void *row, const void *src)
{
    gn_graph *g;
    AOT_USABLE(m);
    gn_status *s = gn_graph_from_rows(m->image->index, nodes, ends, row, src, &g);
    return aot_say(m, s ? s : take_graph(m, g, 0, &m->graph));
}

/* How many nodes there are, by what was given; -1: nobody knows. */
static int64_t nodes_of(const gn_aot_model *m)
{
    const gn_aot_image *g = m->image;
    for (int k = 0; k < g->n_relations; k++) {
        const gn_graph *r = m->relation[k];
        if (r && !strcmp(g->relations[k].src, GN_SPACE_NODE)) return r->n_src;
        if (r && !strcmp(g->relations[k].dst, GN_SPACE_NODE)) return r->n_dst;
    }
    for (int k = 0; k < g->n_inputs; k++)
        if (g->inputs[k].rows == GN_AOT_NODES && !g->inputs[k].over && m->data[k].data)
            return m->data[k].rows;
    return -1;
}

static bool reads_relation(const aot_unit *u, const char *name)
{
    const gn_artifact *both[] = {u->code, u->ahead};
    bool reads = false;
    for (int p = 0; p < 2; p++)
        for (int k = 0; both[p] && k < both[p]->n_graphs; k++) {
            const char *of = both[p]->graphs[k].name;
            reads = reads || (of && !strcmp(of, name));
        }
    return reads;
}

/* The graph and the relations that the unit reads are there. */
static gn_status *ready_graphs(gn_aot_model *m, const aot_unit *u)
{
    const gn_aot_image *g = m->image;
    for (int k = 0; k < g->n_relations; k++)
        if (!m->relation[k] && reads_relation(u, g->relations[k].name))
            GN_FAIL(GN_ERR_USAGE, "relation '%s' is not bound", g->relations[k].name);
    if (m->graph || m->no_edges || (g->n_relations && !reads_relation(u, GN_NAME_G))) return NULL;
    int64_t nodes = g->reads_graph ? -1 : nodes_of(m);
    if (nodes < 0) GN_FAIL(GN_ERR_USAGE, "no graph is bound");
    return gn_graph_from_coo(g->index, nodes, nodes, 0, GN_I64, NULL, NULL, &m->no_edges);
}

static int list_graphs(const gn_aot_model *m, gn_graph_binding *to)
{
    int n = 0;
    gn_graph *g = m->graph ? m->graph : m->no_edges;
    if (g) to[n++] = (gn_graph_binding){GN_NAME_G, g};
    if (m->pattern) to[n++] = (gn_graph_binding){GN_NAME_X, m->pattern};
    for (int k = 0; k < m->image->n_relations; k++)
        if (m->relation[k])
            to[n++] = (gn_graph_binding){m->image->relations[k].name, m->relation[k]};
    return n;
}

/* Running -------------------------------------------------------------------------------------- */

static gn_status *make_instances(gn_aot_model *m, int which)
{
    const gn_aot_image *g = m->image;
    aot_unit *u = &m->unit[which];
    const gn_state *state = &m->store->state;
    void *block, *graphs = NULL;
    int n = 0;
    GN_TRY(ready_graphs(m, u));
    GN_TRY(aot_ready_data(m, u));
    GN_TRY(gn_block_zeroed((int64_t)g->n_inputs + state->n + gn_pair_kept(u->ahead),
                           sizeof(gn_binding), "bindings", &block));
    gn_binding *b = block;
    for (int k = 0; k < g->n_inputs; k++) {
        const gn_aot_tensor *t = &g->inputs[k];
        const aot_data *d = &m->data[k];
        const void *data = d->sorted ? d->sorted : d->data;
        if (data)
            b[n++] = (gn_binding){t->name, t->elem, d->rows, t->row_elems, (void *)(uintptr_t)data};
    }
    gn_state_bindings(state, b + n);
    gn_status *s = gn_block_zeroed((int64_t)g->n_relations + 2, sizeof(gn_graph_binding), "graphs",
                                   &graphs);
    int n_graphs = s ? 0 : list_graphs(m, graphs);
    if (!s)
        s = gn_pair_new(u->code, u->ahead, n_graphs, graphs, n + state->n, b, m->pool,
                        m->unit[!which].pair.instance, &u->pair);
    gn_block_free(graphs);
    gn_block_free(b);
    if (!s && g->one_region[which]) s = gn_instance_one_region(u->pair.instance);
    if (s) aot_unbind(m, which);
    u->bound = !s;
    return s;
}

static gn_status *run(gn_aot_model *m, int which)
{
    if (!m->unit[which].bound) GN_TRY(make_instances(m, which));
    gn_instance_run(m->unit[which].pair.instance);
    return NULL;
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
    const gn_graph *g = t->rows == GN_AOT_EDGES
                            ? gn_instance_graph(in, gn_instance_output_graph(in, name))
                            : NULL;
    *out = gn_instance_output(in, name, &elems);
    if (rows) *rows = t->rows == GN_AOT_ONE ? 1 : g ? g->n_edge : elems / t->row_elems;
    if (t->rows != GN_AOT_EDGES) return NULL;
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
