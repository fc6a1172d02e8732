/* one_graph: which graphs does a model take, and of what types of rows? */
#include "build/build.h"
#include "base/data_name.h"

#include <string.h>

static const char *beyond(const gir_program *p)
{
    gir_id g = p ? gir_leaf_by_name(p, GIR_GRAPH, GN_NAME_G) : 0;
    for (gir_id v = 1; p && v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        const gir_space *s = &p->spaces.p[n->type.space];
        if (n->op == GIR_GRAPH && v != g) return n->attr.name;
        if (n->op == GIR_STATE && n->type.space) return n->attr.name;
        if (n->op != GIR_INPUT || !n->type.space) continue;
        bool node = s->kind == GIR_NODE && !strcmp(s->name, GN_SPACE_NODE);
        bool edge = g && n->type.space == gir_type_of(p, g)->edge;
        bool floats = n->type.elem == GN_F32 || gn_is_data_name(n->attr.name);
        if (!(node || edge) || !floats) return n->attr.name;
    }
    return NULL;
}

bool gn_program_reads_relation(const gir_program *p, const char *name)
{
    gir_id g = p ? gir_leaf_by_name(p, GIR_GRAPH, name) : 0;
    gir_space_id edges = g ? gir_type_of(p, g)->edge : 0;
    bool reads = false;
    for (uint32_t k = 0; g && k < p->operands.n && !reads; k++) {
        gir_id v = p->operands.p[k];
        reads = v == g || gir_type_of(p, v)->space == edges;
    }
    for (uint32_t k = 0; g && k < p->outputs.n && !reads; k++)
        reads = gir_type_of(p, p->outputs.p[k].value)->space == edges;
    return reads;
}

const char *gn_model_beyond_graph(const gn_model *m)
{
    const gir_program *const all[] = {m->eval, m->loss, m->validate, m->forward};
    const char *found = NULL;
    for (int k = 0; k < 4 && !found; k++) found = beyond(all[k]);
    return found;
}
