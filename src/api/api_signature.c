/* What an executable takes and gives: names, element types and shapes. */
#include "api/api.h"
#include "base/data_name.h"

#include <string.h>

enum { PROGRAMS = 3 };

/* Programs that the executable has: inference first. */
static const gir_program *program(const gnnc_executable *e, int k)
{
    const gn_model *m = e->model;
    return k == 0 ? m->eval : k == 1 ? (e->opt.train ? m->loss : NULL) : m->forward;
}

static bool is_bound_leaf(const gnnc_executable *e, const gir_node *n, bool graphs)
{
    if (graphs) return n->op == GIR_GRAPH;
    return n->op == GIR_INPUT && !api_is_named_mask(e, n->attr.name) &&
           !gn_is_batch_mask(n->attr.name);
}

/* Has an earlier program, or an earlier value of this one, the same? */
static bool seen_before(const gnnc_executable *e, int in, gir_id v)
{
    const gir_node *n = gir_at(program(e, in), v);
    for (int k = 0; k <= in; k++) {
        const gir_program *p = program(e, k);
        gir_id found = p ? gir_leaf_by_name(p, (gir_op)n->op, n->attr.name) : 0;
        if (found) return k < in || found != v;
    }
    return false;
}

/* The k-th leaf that is bound, graphs first; 0: there are fewer. */
static gir_id find(const gnnc_executable *e, int k, int *in)
{
    for (int graphs = 1; graphs >= 0; graphs--)
        for (*in = 0; *in < PROGRAMS; ++*in) {
            const gir_program *p = program(e, *in);
            for (gir_id v = 1; p && v < p->nodes.n; v++)
                if (is_bound_leaf(e, gir_at(p, v), graphs) && !seen_before(e, *in, v) && k-- == 0)
                    return v;
        }
    return 0;
}

int api_count_inputs(const gnnc_executable *e)
{
    int n = 0, in;
    while (find(e, n, &in)) n++;
    return n;
}

static void describe_rows(const gir_program *p, const gir_type *t, gnnc_value_info *i)
{
    const gir_space *s = &p->spaces.p[t->space];
    i->rows = "";
    if (!t->space) return;
    i->shape[i->ndim++] = s->size >= 0 ? s->size : -1;
    i->on_edges = s->kind == GIR_EDGE;
    i->rows = s->name;
    if (!i->on_edges) return;
    bool derived = !s->graph || gir_at(p, s->graph)->op != GIR_GRAPH;
    i->rows = derived ? NULL : gir_at(p, s->graph)->attr.name;
}

static void describe_tensor(const gir_program *p, const gir_type *t, gnnc_value_info *i)
{
    i->type = api_type((gn_elem)t->elem);
    describe_rows(p, t, i);
    for (int d = 0; d < t->rank; d++) i->shape[i->ndim++] = t->dim[d];
}

static gn_status *describe_input(const gnnc_executable *e, int k, gnnc_value_info *info)
{
    int in;
    gir_id v = k < 0 ? 0 : find(e, k, &in);
    const gn_model *m = e->model;
    if (!v)
        GN_FAIL(GN_ERR_USAGE, "model %s has no input %d: it has %d", m->name, k,
                api_count_inputs(e));
    const gir_program *p = program(e, in);
    const gir_node *n = gir_at(p, v);
    gnnc_value_info i = {.size = info->size, .name = n->attr.name, .learning = in != 0};
    if (n->op == GIR_GRAPH) {
        i.graph = true;
        i.src = p->spaces.p[n->type.src].name;
        i.dst = p->spaces.p[n->type.dst].name;
        i.rows = "";
    } else {
        describe_tensor(p, &n->type, &i);
    }
    for (int d = 0; d < m->n_inputs; d++) {
        if (strcmp(m->inputs[d].data, n->attr.name) != 0) continue;
        i.name = m->inputs[d].name;
        i.optional = m->inputs[d].has_default;
    }
    api_describe(info, &i, sizeof i);
    return NULL;
}

gnnc_status *gnnc_executable_input(const gnnc_executable *e, int k, gnnc_value_info *info)
{
    API_NEEDS(e);
    API_NEEDS(info);
    return api_out(describe_input(e, k, info));
}

static gn_status *describe_output(const gnnc_executable *e, int k, gnnc_value_info *info)
{
    const gir_program *p = e->model->eval;
    const gir_output *o = k < 0 ? NULL : gir_result(p, k);
    int n = 0;
    while (gir_result(p, n)) n++;
    if (!o) GN_FAIL(GN_ERR_USAGE, "model %s has no output %d: it has %d", e->model->name, k, n);
    gnnc_value_info i = {.size = info->size, .name = o->name};
    describe_tensor(p, gir_type_of(p, o->value), &i);
    if (api_is_over_named_rows(e, gir_type_of(p, o->value)->space)) i.shape[0] = -1;
    api_describe(info, &i, sizeof i);
    return NULL;
}

gnnc_status *gnnc_executable_output(const gnnc_executable *e, int k, gnnc_value_info *info)
{
    API_NEEDS(e);
    API_NEEDS(info);
    return api_out(describe_output(e, k, info));
}
