/* expected_rows: how many rows spaces of nodes will have, and relations join, by what is known of
 * the graphs at hand. */
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

/* Of a graph that is bound, of its edges of one kind, or of either into picked rows
 * (restrict_rows).  Other derived graphs have other edges. */
const gn_ends *gn_known_ends(const gir_program *p, gir_id g, const gn_pass_options *opt)
{
    const gir_node *n = gir_at(p, g);
    bool picked = n->op == GIR_RESTRICT && n->attr.i[0] & 2;
    int level = picked ? gn_pick_level(p, gir_in(p, g, n->n_in - 1)) : 0;
    gn_row_walk w;
    if (picked) g = gir_in(p, g, 0);
    for (gir_id of = g; gir_at(p, of)->op != GIR_GRAPH; of = gir_in(p, of, 0)) {
        bool same = gir_at(p, of)->op == GIR_FILTER || (picked && gir_at(p, of)->op == GIR_REVERSE);
        if (!same) return NULL;
    }
    if (!gn_is_walk(p, g, &w) || (gir_at(p, g)->op == GIR_FILTER && !w.column)) return NULL;
    for (int k = 0; k < opt->n_ends; k++) {
        const gn_ends *e = &opt->ends[k];
        bool same = !strcmp(e->name, w.graph) && e->picked == picked && !e->column == !w.column;
        same = same && (!w.column || (!strcmp(e->column, w.column) && e->value == w.value));
        if (same && (!picked || (e->level == level && e->back == w.back))) return e;
    }
    return NULL;
}
