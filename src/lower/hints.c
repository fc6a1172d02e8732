/* hints: what is known of sizes before there are data, by graph and by space of rows. */
#include "lower/lower.h"

#include <string.h>

static const low_hint *named(const low_options *opt, const char *name)
{
    for (int k = 0; name && k < opt->n_hints; k++)
        if (!strcmp(opt->hints[k].name, name)) return &opt->hints[k];
    return NULL;
}

const low_hint *low_hint_of(const low_options *opt, const gir_program *p, gir_id g)
{
    while (gir_ops[gir_at(p, g)->op].cls == GIR_CLASS_GRAPH && gir_at(p, g)->op != GIR_PATTERN) {
        if (gir_at(p, g)->op == GIR_INDEX || gir_at(p, g)->op == GIR_DRAW ||
            gir_draws_edges(gir_at(p, g)))
            return NULL; /* of other edges */
        bool grown = gir_at(p, g)->op == GIR_GROW && gir_at(p, g)->n_in > 1;
        g = gir_in(p, g, grown);
    }
    const gir_node *n = gir_at(p, gir_at(p, g)->op == GIR_PATTERN ? gir_in(p, g, 0) : g);
    return named(opt, n->attr.name);
}

/* By the hint of a graph that ends there; *graphs: how many there are. */
static int64_t rows_at_end(const low_options *opt, const gir_program *p, gir_space_id space,
                           int *graphs)
{
    for (gir_id g = 1; g < p->nodes.n; g++) {
        const gir_node *n = gir_at(p, g);
        if (n->op != GIR_GRAPH) continue;
        const low_hint *h = named(opt, n->attr.name);
        int64_t rows = !h                     ? 0
                       : n->type.dst == space ? h->n_dst
                       : n->type.src == space ? h->n_src
                                              : 0;
        if (rows > 0) return rows;
        ++*graphs;
    }
    return 0;
}

/* The space that rows of this one were picked from. */
static gir_space_id picked_from(const gir_program *p, gir_space_id space)
{
    while (p->spaces.p[space].kind == GIR_NODE && p->spaces.p[space].graph)
        space = gir_type_of(p, p->spaces.p[space].graph)->src;
    return space;
}

/* Of rows that a relation joins, by its hint; 0: of others, or not known. */
static int64_t joined_rows(const low_options *opt, const gir_program *p, gir_id pick)
{
    const gir_node *n = gir_at(p, pick);
    if (n->op != GIR_GROW || n->n_in > 1) return 0;
    int end = (int)n->attr.i[0];
    gir_id g = gir_in(p, pick, 0);
    for (; gir_at(p, g)->op == GIR_REVERSE; g = gir_in(p, g, 0)) end = 1 - end;
    const low_hint *h = gir_at(p, g)->op == GIR_GRAPH ? low_hint_of(opt, p, g) : NULL;
    return !h ? 0 : end == GIR_DST ? h->joined_dst : h->joined_src;
}

int64_t low_rows_hint(const low_options *opt, const gir_program *p, gir_space_id space)
{
    const gir_space *s = &p->spaces.p[space];
    int64_t joined = s->kind == GIR_NODE && s->graph ? joined_rows(opt, p, s->graph) : 0;
    int graphs = 0;
    if (joined > 0) return joined;
    if (!opt->n_hints || (s->kind != GIR_NODE && s->kind != GIR_EDGE)) return 0;
    const low_hint *of = s->kind == GIR_EDGE && s->graph ? low_hint_of(opt, p, s->graph) : NULL;
    if (of) return of->n_edge + of->n_dst; /* with self-loops */
    int64_t rows = rows_at_end(opt, p, picked_from(p, space), &graphs);
    if (rows > 0 || graphs > 1) return rows;
    const low_hint *graph = &opt->hints[0];
    return s->kind == GIR_EDGE ? graph->n_edge + graph->n_dst : graph->n_dst;
}
