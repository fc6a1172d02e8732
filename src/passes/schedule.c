/* schedule: the numbers that shape a region's loops, from a back end's limits.
 * Needs: a region.  Keeps: everything.  A tuner overrides what stands here; nothing else in the compiler chooses them. */
#include "passes/lower.h"

#include <string.h>

static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/* Terms of the sums of a GEMM. */
static int64_t depth_of(const gir_program *p, const region *r)
{
    if (r->kind != RG_GEMM) return INT64_MAX;
    const gir_type *a = gir_type_of(p, gir_in(p, r->members.p[0], 0));
    return a->rank ? a->dim[a->rank - 1] : 1;
}

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
    int64_t lanes = limits->lanes > 0 ? limits->lanes : 4;
    int64_t registers = limits->vector_registers > 8 ? limits->vector_registers : 8;
    low_schedule s = {.row_block = 4096, .chunk_rows = 512, .tile_max = 512, .edge_cost = 8};
    /* Rows of a few edges end before more sums than one pay for the loop over what is left. */
    int64_t edges = row_edges(opt, p, r);
    s.edge_sums = edges < 12 ? 1 : edges < 24 ? 2 : 4;
    /* A register tile: columns in up to four vectors, and as many rows as leave room for a row of B and one broadcast. */
    int64_t cols = r->n > 0 ? r->n : 1;
    s.tile_cols = cols < 4 * lanes ? cols : 4 * lanes;
    int64_t vectors = round_up(s.tile_cols, lanes) / lanes;
    s.tile_rows = (registers - 4 - vectors) / vectors;
    int64_t most = depth_of(p, r) < 64 ? 12 : 24; /* a short sum is over before more rows pay; and it compiles faster */
    if (s.tile_rows > most) s.tile_rows = most;
    if (s.tile_rows < 1) s.tile_rows = 1;
    if (r->kind == RG_INNER) {
        /* Partial products must stay small beside what is summed. */
        gir_id v = r->members.p[0];
        int64_t elems = gir_row_elems(gir_type_of(p, v));
        int64_t rows = gir_type_of(p, v)->dim[0];
        if (s.tile_rows > rows) s.tile_rows = rows;
        s.chunk_rows = elems / 8 < 512 ? 512 : elems / 8 > 8192 ? 8192 : round_up(elems / 8, 64);
    }
    return s;
}
