/* schedule: the numbers that shape a region's loops, from a back end's limits.
 * Needs: a region.  Keeps: everything.  A tuner overrides what stands here; nothing else in the compiler chooses them. */
#include "passes/lower.h"

#include <string.h>

/* What is known of the graph that g is, or comes from; NULL: nothing. */
static const low_hint *hint_of(const low_options *opt, const gir_program *p, gir_id g)
{
    while (gir_ops[gir_at(p, g)->op].cls == GIR_CLASS_GRAPH && gir_at(p, g)->op != GIR_PATTERN) g = gir_in(p, g, 0);
    const gir_node *n = gir_at(p, gir_at(p, g)->op == GIR_PATTERN ? gir_in(p, g, 0) : g);
    for (int k = 0; n->attr.name && k < opt->n_hints; k++)
        if (!strcmp(opt->hints[k].name, n->attr.name)) return &opt->hints[k];
    return NULL;
}

/* Edges of a row of the region, on average. */
static int64_t row_edges(const low_options *opt, const gir_program *p, const region *r)
{
    enum { USUAL = 16 };
    const low_hint *h = r->graph ? hint_of(opt, p, r->graph) : NULL;
    if (!h) return USUAL;
    int64_t rows = r->end == GIR_DST ? h->n_dst : h->n_src;
    return rows > 0 ? h->n_edge / rows : 0;
}

low_schedule low_schedule_default(const low_options *opt, const gir_program *p, const region *r)
{
    const gn_limits *limits = &opt->limits;
    low_schedule s = {.row_block = 4096, .tile_max = 512, .tile_rows = 1, .tile_cols = 1, .edge_cost = 8};
    /* 512 on every machine there is: results depend on it */
    s.chunk_rows = limits->l1_bytes >= 4096 ? 512 : limits->l1_bytes > 8 ? limits->l1_bytes / 8 : 1;
    s.block_rows = s.chunk_rows;
    /* Rows of a few edges end before more sums than one pay for the loop over what is left. */
    int64_t edges = row_edges(opt, p, r);
    s.edge_sums = edges < 12 ? 1 : edges < 24 ? 2 : 4;
    if (r->kind == RG_GEMM || r->kind == RG_INNER) low_schedule_dense(opt, p, r, &s);
    return s;
}
