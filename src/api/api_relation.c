/* Relations bound to a run by name, beside the graph. */
#include "api/api.h"
#include "base/data_name.h"

#include <string.h>

static int count(const gnnc_run *r)
{
    return r->whole->shape.schema ? r->whole->shape.schema->n_relations : 0;
}

const gn_graph *api_relation(const gnnc_run *r, int k)
{
    if (k > 0) return r->relation[k] ? r->relation[k]->graph : NULL;
    return r->graph ? r->graph->graph : NULL;
}

int api_relation_of(const gnnc_run *r, const gir_program *p, gir_space_id edges)
{
    gir_id g = p->spaces.p[edges].graph;
    const char *name = g && gir_at(p, g)->op == GIR_GRAPH ? gir_at(p, g)->attr.name : NULL;
    for (int k = 1; name && k < count(r); k++)
        if (!strcmp(r->whole->shape.schema->relation[k].name, name)) return k;
    return 0;
}

gn_status *api_new_relations(gnnc_run *r)
{
    if (!count(r)) return NULL;
    r->relation = gn_allocate_zeroed((size_t)count(r) * sizeof(gnnc_graph *));
    if (!r->relation) GN_FAIL(GN_ERR_NOMEM, "out of memory: %d relations", count(r));
    return NULL;
}

void api_free_relations(gnnc_run *r)
{
    for (int k = 1; r->relation && k < count(r); k++) api_release_graph(r->relation[k]);
    gn_release(r->relation);
}

int api_list_relations(const gnnc_run *r, gn_graph_binding *to)
{
    int n = 0;
    gn_graph *g = r->padded ? r->padded : r->graph ? r->graph->graph : r->no_edges;
    if (g) to[n++] = (gn_graph_binding){GN_NAME_G, g};
    for (int k = 1; k < count(r); k++)
        if (r->relation[k])
            to[n++] = (gn_graph_binding){r->whole->shape.schema->relation[k].name,
                                         r->relation[k]->graph};
    return n;
}

/* How many nodes there are, by what is bound or was said; -1: nobody knows. */
static int64_t nodes_of(const gnnc_run *r)
{
    const gn_schema *s = r->whole->shape.schema;
    for (int k = 1; k < s->n_relations; k++) {
        const gn_graph *g = api_relation(r, k);
        if (g && s->relation[k].src == 0) return g->n_src;
        if (g && s->relation[k].dst == 0) return g->n_dst;
    }
    for (int k = 0; k < r->n_data; k++) {
        int c = r->data[k].data ? gn_schema_find_column(s, r->data[k].name) : -1;
        if (c >= 0 && !s->column[c].on_edges && s->column[c].over == 0) return r->data[k].rows;
    }
    return s->space[0].rows;
}

gn_status *api_stand_in(gnnc_run *r)
{
    const gn_model *m = r->exe->model;
    if (!r->exe->shape.schema || r->graph || r->no_edges) return NULL;
    if (gn_program_reads_relation(m->eval, GN_NAME_G)) return NULL;
    if (gn_program_reads_relation(m->loss, GN_NAME_G)) return NULL;
    if (gn_program_reads_relation(m->forward, GN_NAME_G)) return NULL;
    int64_t n = nodes_of(r);
    if (n < 0) return NULL;
    return gn_graph_from_coo(r->exe->opt.index, n, n, 0, GN_I64, NULL, NULL, &r->no_edges);
}

static bool is_bound(const gnnc_run *r, const char *name)
{
    if (!strcmp(name, GN_NAME_G)) return r->graph || r->no_edges;
    if (!strcmp(name, GN_NAME_X) && r->pattern) return true;
    for (int k = 1; k < count(r); k++)
        if (!strcmp(r->whole->shape.schema->relation[k].name, name)) return r->relation[k] != NULL;
    return true; /* said otherwise */
}

gn_status *api_check_relations(const gnnc_run *r, const gn_unit *u)
{
    const gn_compiled *c[] = {u->prepare_code, u->code};
    for (int p = 0; p < 2; p++)
        for (int k = 0; c[p] && k < c[p]->artifact->n_graphs; k++) {
            const char *name = c[p]->artifact->graphs[k].name;
            if (!name || is_bound(r, name)) continue;
            if (!strcmp(name, GN_NAME_G)) GN_FAIL(GN_ERR_USAGE, "no graph is bound");
            GN_FAIL(GN_ERR_USAGE, "relation '%s' is not bound", name);
        }
    return NULL;
}

static gn_status *check_rows(const gnnc_run *r, int space, int64_t rows, const char *what,
                             const char *name)
{
    const char *over = r->whole->shape.schema->space[space].name;
    GN_TRY(api_check_range(r->whole, false, space, rows, what, name));
    for (int k = 0; k < r->exe->model->n_params; k++) {
        const gn_param *p = &r->exe->model->params[k];
        if (!p->over || strcmp(p->over, over) != 0 || p->rows == rows) continue;
        GN_FAIL(GN_ERR_DATA,
                "%s '%s' has %lld rows of '%s', expected %lld: parameter '%s' has a row for each",
                what, name, (long long)rows, over, (long long)p->rows, p->file_name);
    }
    return NULL;
}

gn_status *api_check_rows(const gnnc_run *r)
{
    const gn_schema *s = r->whole->shape.schema;
    for (int k = 0; k < count(r); k++) {
        const gn_graph *g = api_relation(r, k);
        if (!g) continue;
        GN_TRY(api_check_range(r->whole, true, k, g->n_edge, "relation", s->relation[k].name));
        GN_TRY(check_rows(r, s->relation[k].src, g->n_src, "relation", s->relation[k].name));
        GN_TRY(check_rows(r, s->relation[k].dst, g->n_dst, "relation", s->relation[k].name));
    }
    for (int k = 0; s && k < r->n_data; k++) {
        const api_data *d = &r->data[k];
        int c = d->data ? gn_schema_find_column(s, d->name) : -1;
        if (c < 0 || s->column[c].on_edges) continue;
        GN_TRY(check_rows(r, s->column[c].over, d->rows, "input", d->name));
    }
    return NULL;
}

static gn_status *find(const gnnc_run *r, const char *name, int *out)
{
    const gn_schema *s = r->whole->shape.schema;
    const char *names[API_NAMES];
    int n = 0;
    *out = s ? gn_schema_find_relation(s, name) : strcmp(name, GN_NAME_G) ? -1 : 0;
    if (*out >= 0) return NULL;
    for (int k = r->whole->shape.typed; s && k < s->n_relations && n < API_NAMES; k++)
        names[n++] = s->relation[k].name;
    if (!s) names[n++] = GN_NAME_G;
    return api_no_such(r->whole->model, "relation", name, n, names);
}

static gn_status *bind(gnnc_run *r, int k, gnnc_graph *g)
{
    gnnc_graph **at = &r->relation[k];
    const gn_schema *s = r->whole->shape.schema;
    const gn_schema_relation *of = &s->relation[k];
    if (*at && (g == *at || g == (*at)->of)) return NULL;
    if (of->src == of->dst && g->graph->n_src != g->graph->n_dst)
        GN_FAIL(GN_ERR_DATA,
                "relation '%s' has %lld sources and %lld destinations, which are rows of '%s' both",
                of->name, (long long)g->graph->n_src, (long long)g->graph->n_dst,
                s->space[of->src].name);
    GN_TRY(api_fit_graph(r, g, &g));
    api_unbind(r);
    api_forget_sorted(r, k);
    api_release_graph(*at);
    *at = g;
    return NULL;
}

gnnc_status *gnnc_run_bind_relation(gnnc_run *r, const char *name, const gnnc_graph *relation)
{
    API_NEEDS(r);
    API_NEEDS(name);
    API_NEEDS(relation);
    int k;
    gn_status *s = find(r, name, &k);
    if (s) return api_out(s);
    if (k == 0) return gnnc_run_bind_graph(r, relation);
    API_MEMORY(api_context(r->exe));
    return api_out(bind(r, k, (gnnc_graph *)(uintptr_t)relation));
}
