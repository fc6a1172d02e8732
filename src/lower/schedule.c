/* schedule: the numbers that shape a region's loops, from a back end's limits. Needs: a region.
 * Keeps: everything.  A tuner overrides what stands here; nothing else in the compiler chooses
 * them. */
#include "lower/lower.h"

#include <string.h>

/* Edges of a row of the region, by each of its walks, on average. */
static int64_t row_edges(const low_options *opt, const gir_program *p, const region *r)
{
    enum { USUAL = 16 };
    int64_t edges = 0;
    for (int w = 0; w < r->n_walks; w++) {
        const low_hint *h = low_hint_of(opt, p, r->walk[w].graph);
        if (!h) return USUAL;
        int64_t rows = r->walk[w].end == GIR_DST ? h->n_dst : h->n_src;
        edges += rows > 0 ? h->n_edge / rows : 0;
    }
    return r->n_walks ? edges / r->n_walks : USUAL;
}

typedef struct gathering {
    const fusion *f;
    int region;
    fu_walk walk;
    bool *seen[2];             /* by value: at the row or the edge, at the far end */
    int64_t bytes, edge_bytes; /* of a row of what is read at the far end; at the edge, where a
                                  row's edges lie apart */
} gathering;

/* Adds the bytes of what v's element for an edge reads at the edge's far end, and at the edge. */
static void add_gathered(gathering *z, gir_id v, bool far)
{
    const gir_program *p = z->f->p;
    const gir_node *n = gir_at(p, v);
    const fu_walk *r = &z->walk;
    uint8_t place = z->f->place[v];
    if (z->seen[far][v] || n->type.is_graph) return;
    z->seen[far][v] = true;
    if (place == FU_LEAF || (place == FU_REAL && (z->f->region_of[v] != z->region || far))) {
        int64_t bytes = fu_elems(p, v) * (int64_t)gn_elem_size((gn_elem)n->type.elem);
        bool at_edge = !far && r->end == GIR_SRC && n->type.space == gir_type_of(p, r->graph)->edge;
        if (far) z->bytes += bytes;
        if (at_edge) z->edge_bytes += bytes;
        return;
    }
    if (n->op == GIR_TO_ROWS) { /* of a matrix, of which an edge reads a row */
        if (far) z->bytes += fu_elems(p, v) * (int64_t)gn_elem_size((gn_elem)n->type.elem);
        return;
    }
    if (n->op == GIR_GATHER) {
        if (gir_in(p, v, 0) == r->graph) add_gathered(z, gir_in(p, v, 1), n->attr.i[0] != r->end);
        return;
    }
    for (int k = 0; k < n->n_in; k++)
        if (gir_type_of(p, gir_in(p, v, k))->space) add_gathered(z, gir_in(p, v, k), far);
}

/* What an edge of one of the region's walks reads. */
static gathering gathered_by(const fusion *f, const region *r, fu_walk walk)
{
    gathering z = {.f = f, .region = (int)(r - f->regions.p), .walk = walk};
    for (int k = 0; k < 2; k++) z.seen[k] = GN_NEW_N(f->p->arena, bool, f->p->nodes.n);
    for (uint32_t m = 0; m < r->members.n; m++) {
        gir_id v = r->members.p[m];
        fu_walk w = fu_walk_of(f, v);
        if (gir_at(f->p, v)->op == GIR_SCATTER && w.graph == walk.graph && w.end == walk.end)
            add_gathered(&z, gir_in(f->p, v, 1), false);
    }
    return z;
}

/* How many edges ahead to ask for the rows that edges gather, and for edges' own by source: so many
 * that about 32 kB are under way to the second-level cache.  Declines where all rows that may be
 * read fit the second-level cache, and where how many there are is not known; and for back ends
 * whose lanes share memory, which have other work to do while they wait. */
static int64_t edges_ahead(const low_options *opt, const fusion *f, const region *r)
{
    enum { UNDER_WAY = 32768, LEAST = 8, MOST = 32 };
    int64_t each = 0;
    double all = 0;
    if (opt->limits.shared_bytes || !gn_is_on(opt->off, GN_DO_PREFETCH)) return 0;
    for (int w = 0; w < r->n_walks; w++) {
        gathering z = gathered_by(f, r, r->walk[w]);
        const low_hint *h = low_hint_of(opt, f->p, r->walk[w].graph);
        if (!h) return 0;
        int64_t rows = r->walk[w].end == GIR_DST ? h->n_src : h->n_dst, e = z.bytes + z.edge_bytes;
        all += (double)rows * (double)z.bytes + (double)h->n_edge * (double)z.edge_bytes;
        if (e > each) each = e;
    }
    if (each == 0 || all < (double)opt->limits.l2_bytes) return 0;
    int64_t ahead = UNDER_WAY / each;
    return ahead < LEAST ? LEAST : ahead > MOST ? MOST : ahead;
}

typedef struct chain {
    const fusion *f;
    int region;
    int *length; /* by value; -1 not known */
} chain;

static bool is_function(gir_op op)
{
    return op == GIR_DIV || op == GIR_POW || (op >= GIR_EXP && op <= GIR_ERF);
}

/* How many slow steps of the row's work follow on each other up to v: reductions over the row, and
 * functions. */
static int slow_steps(chain *z, gir_id v)
{
    const gir_program *p = z->f->p;
    const gir_node *n = gir_at(p, v);
    uint8_t place = z->f->place[v];
    if (place == FU_LEAF || n->op == GIR_SCATTER ||
        (place == FU_REAL && z->f->region_of[v] != z->region))
        return 0;
    if (z->length[v] >= 0) return z->length[v];
    bool slow = n->op == GIR_REDUCE || is_function((gir_op)n->op);
    int most = 0;
    z->length[v] = 0;
    for (int k = 0; k < n->n_in; k++) {
        int l = slow_steps(z, gir_in(p, v, k));
        if (l > most) most = l;
    }
    return z->length[v] = most + slow;
}

/* A row of a softmax waits for its maximum, exponentials, their sum, its logarithm, one after
 * another.  Step by step for several rows at once nothing waits, and what a row has one of fills
 * vectors: two functions of single numbers are enough where there are no edges.  Declines where no
 * such chain of steps with a reduction in it is, and for rows so wide that the tiles for several
 * would leave the cache. */
static int64_t rows_at_once(const low_options *opt, const fusion *f, const region *r)
{
    enum { BLOCK_MAX = 1024, TOGETHER_MIN = 4, CHAIN_MIN = 3, SCALARS_MIN = 2 };
    const gir_program *p = f->p;
    chain z = {.f = f, .region = (int)(r - f->regions.p)};
    bool reduces = false;
    int scalars = 0;
    int64_t widest = 1, rows = opt->limits.lanes > 4 ? opt->limits.lanes : 4;
    if (r->kind != RG_ROWS || r->space == 0 || !gn_is_on(opt->off, GN_DO_ROW_BLOCKS)) return 1;
    for (uint32_t m = 0; m < r->members.n; m++) {
        gir_id v = r->members.p[m];
        bool reduce = gir_at(p, v)->op == GIR_REDUCE;
        int64_t elems = fu_elems(p, reduce ? gir_in(p, v, 0) : v);
        widest = elems > widest ? elems : widest;
        reduces = reduces || reduce;
        scalars += elems == 1 && is_function((gir_op)gir_at(p, v)->op);
    }
    while (rows > 1 && rows * widest > BLOCK_MAX) rows /= 2;
    if (!reduces || rows < TOGETHER_MIN) return 1;
    z.length = GN_NEW_N(p->arena, int, p->nodes.n);
    memset(z.length, -1, sizeof(int) * p->nodes.n);
    int longest = 0;
    for (uint32_t m = 0; m < r->members.n; m++) {
        int l = slow_steps(&z, r->members.p[m]);
        longest = l > longest ? l : longest;
    }
    return longest >= CHAIN_MIN || (scalars >= SCALARS_MIN && !r->n_walks) ? rows : 1;
}

/* Rows of one partial sum where there are many groups of lanes: a group takes them one after
 * another, waiting for memory several times in each, and then a lane the partial sums, of which
 * many are on their way at once, so that a row takes as long as some 32 of those.  What both take
 * together is least at the root of that part of the rows. */
static int64_t short_chunk(int64_t rows)
{
    enum { USUAL = 64, LEAST = 8, MOST = 512, SUMS_A_ROW = 32 };
    int64_t n = LEAST;
    if (rows <= 0) return USUAL;
    while (n < MOST && 4 * n * n <= rows / SUMS_A_ROW) n *= 2;
    return n;
}

/* Where a machine keeps many groups of lanes under way, those that wait give way to others: rows
 * need not be taken together, and blocks and chunks of rows are small, so that there are many of
 * them. */
static void lanes_are_many(const low_options *opt, const gir_program *p, const region *r,
                           low_schedule *s)
{
    s->rows_at_once = 1;
    s->row_block = 256;
    if (r->kind == RG_ROWS && r->space)
        s->chunk_rows = s->block_rows = short_chunk(low_rows_hint(opt, p, r->space));
}

low_schedule low_schedule_default(const low_options *opt, const fusion *f, const region *r)
{
    const gir_program *p = f->p;
    const gn_limits *limits = &opt->limits;
    low_schedule s = {.row_block = 4096,
                      .tile_max = 512,
                      .tile_rows = 1,
                      .tile_cols = 1,
                      .terms = 1,
                      .edge_cost = 8};
    /* 512 on every processor there is: results depend on it */
    s.chunk_rows = limits->l1_bytes >= 4096 ? 512 : limits->l1_bytes > 8 ? limits->l1_bytes / 8 : 1;
    s.block_rows = s.chunk_rows;
    s.rows_at_once = rows_at_once(opt, f, r);
    /* Rows of a few edges end before more sums than one pay for the loop over what is left. */
    int64_t edges = row_edges(opt, p, r);
    s.edge_sums = edges < 12 ? 1 : edges < 24 ? 2 : 4;
    s.ahead = r->kind == RG_ROWS ? edges_ahead(opt, f, r) : 0;
    low_schedule_parts(opt, f, r, &s);
    if (limits->shared_bytes) lanes_are_many(opt, p, r, &s);
    if (r->kind == RG_GEMM || r->kind == RG_INNER) low_schedule_dense(opt, p, r, &s);
    return s;
}
