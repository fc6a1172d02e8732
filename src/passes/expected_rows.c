/* expected_rows: how many rows a space of nodes will have, by what is known of the graphs at hand.
 */
#include "passes/passes.h"

#include <string.h>

static const gn_ends *ends_of(const gn_pass_options *opt, const char *name)
{
    for (int k = 0; k < opt->n_ends; k++)
        if (!opt->ends[k].picked && !strcmp(opt->ends[k].name, name)) return &opt->ends[k];
    return NULL;
}

int64_t gn_expected_rows(const gir_program *p, gir_space_id space, const gn_pass_options *opt)
{
    const gir_space *s = &p->spaces.p[space];
    int graphs = 0;
    if (!space || s->kind != GIR_NODE || s->graph) return 0;
    for (gir_id g = 1; g < p->nodes.n; g++) {
        const gir_node *n = gir_at(p, g);
        if (n->op != GIR_GRAPH) continue;
        const gn_ends *e = ends_of(opt, n->attr.name);
        int64_t rows = !e ? 0 : n->type.dst == space ? e->dst : n->type.src == space ? e->src : 0;
        if (rows > 0) return rows;
        graphs++;
    }
    if (opt->nodes > 0 && (graphs < 2 || !opt->n_ends)) return opt->nodes;
    return s->size > 0 ? s->size : 0;
}
