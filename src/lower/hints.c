/* hints: what is known of sizes before there are data, by graph and by space of rows. */
#include "lower/lower.h"

#include <string.h>

const low_hint *low_hint_of(const low_options *opt, const gir_program *p, gir_id g)
{
    while (gir_ops[gir_at(p, g)->op].cls == GIR_CLASS_GRAPH && gir_at(p, g)->op != GIR_PATTERN) {
        if (gir_at(p, g)->op == GIR_INDEX || gir_at(p, g)->op == GIR_CORRUPT)
            return NULL; /* of other edges */
        bool grown = gir_at(p, g)->op == GIR_GROW && gir_at(p, g)->n_in > 1;
        g = gir_in(p, g, grown);
    }
    const gir_node *n = gir_at(p, gir_at(p, g)->op == GIR_PATTERN ? gir_in(p, g, 0) : g);
    for (int k = 0; n->attr.name && k < opt->n_hints; k++)
        if (!strcmp(opt->hints[k].name, n->attr.name)) return &opt->hints[k];
    return NULL;
}

int64_t low_rows_hint(const low_options *opt, const gir_program *p, gir_space_id space)
{
    const gir_space *s = &p->spaces.p[space];
    if (!opt->n_hints || (s->kind != GIR_NODE && s->kind != GIR_EDGE)) return 0;
    const low_hint *graph = &opt->hints[0];
    return s->kind == GIR_EDGE ? graph->n_edge + graph->n_dst : graph->n_dst; /* with self-loops */
}
