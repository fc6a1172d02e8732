/* Relations of a model: graphs bound by name, and what stands for those of which no edge is
 * read. */
#include "runtime/aot/impl.h"
#include "base/data_name.h"

#include "base/schema.h"

#include <stdio.h>
#include <string.h>

void gn_aot_rows_text(const gn_aot_image *g, const gn_aot_tensor *t, char *to, size_t size)
{
    bool edges = t->rows == GN_AOT_EDGES;
    const char *all = edges ? "edges" : "rows", *of = "";
    if (t->over >= 0) of = edges ? g->relations[t->over].name : g->spaces[t->over].name;
    bool graph = !strcmp(of, edges ? GN_NAME_G : GN_SPACE_NODE);
    *to = 0;
    if (t->rows == GN_AOT_ONE) return;
    if (graph || !*of)
        snprintf(to, size, "[%s]", graph && !edges ? "nodes" : all);
    else
        snprintf(to, size, "[%s of %s]", all, of);
}

gn_status *aot_check_rows(const gn_aot_model *m, int space, int64_t rows, const char *what,
                          const char *name)
{
    const gn_aot_space *s = space < 0 ? NULL : &m->image->spaces[space];
    if (!s || s->rows < 0 || rows == s->rows) return NULL;
    GN_FAIL(GN_ERR_DATA,
            "%s '%s' has %lld rows of '%s', expected %lld: weights have a row for each", what, name,
            (long long)rows, s->name, (long long)s->rows);
}

/* Bound ---------------------------------------------------------------------------------------- */

static int find(const gn_aot_image *g, const char *name)
{
    for (int k = 0; name && k < g->n_relations; k++)
        if (!strcmp(g->relations[k].name, name)) return k;
    return -1;
}

static gn_status *check(const gn_aot_model *m, const char *name, const gn_graph *g, int *out)
{
    int k = *out = find(m->image, name);
    if (k < 0 || !gn_aot_takes(m->image, k)) return aot_no_such(m, "relation", name);
    const gn_aot_relation *r = &m->image->relations[k];
    GN_TRY(aot_check_index(m, g, "a graph of more than 2^31 - 1 nodes or edges"));
    if (r->src == r->dst && g->n_src != g->n_dst)
        GN_FAIL(GN_ERR_DATA,
                "relation '%s' has %lld sources and %lld destinations, which are rows of '%s' both",
                name, (long long)g->n_src, (long long)g->n_dst, m->image->spaces[r->src].name);
    GN_TRY(aot_check_rows(m, r->src, g->n_src, "relation", name));
    return aot_check_rows(m, r->dst, g->n_dst, "relation", name);
}

gn_status *aot_take_graph(gn_aot_model *m, const char *name, gn_graph *g)
{
    int k;
    gn_status *s = check(m, name, g, &k);
    if (s) {
        gn_graph_free(g);
        return s;
    }
    for (int u = 0; u < AOT_UNITS; u++) aot_unbind(m, u);
    aot_forget_sorted(m, k);
    gn_graph_free(m->graph[k]);
    m->graph[k] = g;
    return NULL;
}

int gn_aot_relation_coo(gn_aot_model *m, gn_elem ends, const char *name, int64_t n_src,
                        int64_t n_dst, int64_t edges, const void *src, const void *dst)
{
    gn_graph *g;
    AOT_USABLE(m);
    gn_status *s = gn_graph_from_coo(m->image->index, n_src, n_dst, edges, ends, src, dst, &g);
    return aot_say(m, s ? s : aot_take_graph(m, name, g));
}

/* Before it runs ------------------------------------------------------------------------------- */

/* How many rows of the space there are, by what is bound or goes with weights; -1: nothing says
 * it. */
static int64_t rows_of(const gn_aot_model *m, int space)
{
    const gn_aot_image *g = m->image;
    for (int k = 0; k < g->n_relations; k++) {
        if (!m->graph[k]) continue;
        if (g->relations[k].src == space) return m->graph[k]->n_src;
        if (g->relations[k].dst == space) return m->graph[k]->n_dst;
    }
    for (int k = 0; k < g->n_inputs; k++) {
        const gn_aot_tensor *t = &g->inputs[k];
        if (t->rows != GN_AOT_ROWS || t->over != space) continue;
        if (m->data[k].data) return m->data[k].rows;
        if (m->pattern && !strcmp(t->name, GN_NAME_X)) return m->pattern->n_dst;
    }
    return g->spaces[space].rows;
}

static gn_status *no_rows(const gn_aot_model *m, int space)
{
    const gn_aot_image *g = m->image;
    for (int k = 0; k < g->n_inputs; k++)
        if (g->inputs[k].rows == GN_AOT_ROWS && g->inputs[k].over == space)
            GN_FAIL(GN_ERR_USAGE, "input '%s' is not bound", g->inputs[k].name);
    GN_FAIL(GN_ERR_USAGE, "nothing that is bound says how many rows of '%s' there are",
            g->spaces[space].name);
}

/* A graph without edges, of as many rows. */
static gn_status *stand_in(gn_aot_model *m, int k)
{
    const gn_aot_relation *r = &m->image->relations[k];
    int64_t n_src = rows_of(m, r->src), n_dst = rows_of(m, r->dst);
    gn_graph *before = m->stand_in[k];
    if (n_src < 0 || n_dst < 0) return no_rows(m, n_src < 0 ? r->src : r->dst);
    if (before && before->n_src == n_src && before->n_dst == n_dst) return NULL;
    for (int u = 0; u < AOT_UNITS; u++) aot_unbind(m, u);
    gn_graph_free(before);
    m->stand_in[k] = NULL;
    return gn_graph_from_coo(m->image->index, n_src, n_dst, 0, GN_I64, NULL, NULL, &m->stand_in[k]);
}

static gn_status *add(gn_aot_model *m, const char *name, gn_graph_binding *to, int *n)
{
    int k = find(m->image, name);
    if (k < 0) GN_FAIL(GN_ERR_INTERNAL, "the code reads a graph '%s'", name);
    for (int j = 0; j < *n; j++)
        if (!strcmp(to[j].name, name)) return NULL;
    if (!m->graph[k] && m->image->relations[k].read) {
        if (!strcmp(name, GN_NAME_G)) GN_FAIL(GN_ERR_USAGE, "no graph is bound");
        GN_FAIL(GN_ERR_USAGE, "relation '%s' is not bound", name);
    }
    if (!m->graph[k]) GN_TRY(stand_in(m, k));
    to[(*n)++] = (gn_graph_binding){name, m->graph[k] ? m->graph[k] : m->stand_in[k]};
    return NULL;
}

gn_status *aot_graphs(gn_aot_model *m, const aot_unit *u, gn_graph_binding *to, int *n)
{
    const gn_artifact *both[] = {u->ahead, u->code};
    *n = 0;
    for (int p = 0; p < 2; p++)
        for (int k = 0; both[p] && k < both[p]->n_graphs; k++) {
            const gn_graph_slot *s = &both[p]->graphs[k];
            if (s->name && !s->pattern_of) GN_TRY(add(m, s->name, to, n));
        }
    return NULL;
}
