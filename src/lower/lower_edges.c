/* lower_edges: passes over the edges of a row.
 *
 * Sums that do not depend on each other share a pass, a loop over the row's edges.  Where the
 * region walks several relations, each has its passes.  A sum of many short messages waits for its
 * own last addition; so the loop takes `edge_ways` edges at once, each into accumulators of its
 * own, which are added as a binary tree when the loop is over, and the edges left over go into the
 * first.
 *
 * Where rows of many edges are split (lower_parts.c) the loop has no trips for those, and another
 * adds what their parts, or groups of parts, came to, in order. */
#include "lower/lower_impl.h"

enum { MAX_WAYS = 4 };

typedef struct edge_pass {
    const int *pass;        /* by member: the pass that computes it */
    int number;             /* of this pass */
    kir_id count;           /* edges of the row */
    kir_id lo, hi;          /* those that are walked; lo 0: none */
    low_sums sums;          /* of parts, that are added; n 0: none */
    int ways;               /* edges at once */
    kir_id *tile[MAX_WAYS]; /* by member: its accumulators; 0: not of this pass */
} edge_pass;

gn_elem low_member_elem(const lower *L, gir_id v)
{
    return low_elem((gn_elem)gir_type_of(L->p, v)->elem);
}

void low_fill_tile(lower *L, kir_id tile, int64_t n, kir_id value)
{
    kir_id j = low_open_n(L, n, KIR_VECTOR, KIR_NONE);
    kir_tstore(L->k, low_at(L), tile, j, value);
    low_close(L);
}

/* The same value for every edge: its sum is a product with the number of edges, without a loop. */
bool low_edge_constant(const lower *L, gir_id sum)
{
    return !L->f->walk[sum] && gir_at(L->p, gir_in(L->p, sum, 1))->op == GIR_CONST;
}

/* Is the member number m a sum that the pass takes in a loop? */
static bool is_summed(const lower *L, const edge_pass *z, uint32_t m)
{
    gir_id v = L->r->members.p[m];
    return z->pass[m] == z->number && !L->f->walk[v] && !low_edge_constant(L, v);
}

/* An edge value that it leaves in memory? */
static bool is_left(const lower *L, const edge_pass *z, uint32_t m)
{
    return z->pass[m] == z->number && L->f->walk[L->r->members.p[m]] &&
           L->f->stored[L->r->members.p[m]];
}

static void scatter_constant(lower *L, gir_id v, kir_id count)
{
    const gir_node *n = gir_at(L->p, v);
    gn_elem e = low_member_elem(L, v);
    double c = gir_at(L->p, gir_in(L->p, v, 1))->attr.f;
    low_of(L, v);
    kir_id tile = kir_tile(L->k, low_at(L), e, fu_elems(L->p, v)), value;
    if (n->attr.i[1] == GIR_SUM)
        value = kir_bin(L->k, low_at(L), gn_elem_is_float(e) ? KIR_FMUL : KIR_IMUL,
                        kir_cast(L->k, low_at(L), count, e), low_const(L, e, c));
    else
        value = kir_select(L->k, low_at(L),
                           kir_bin(L->k, low_at(L), KIR_ILT, low_iconst(L, 0), count),
                           low_const(L, e, c), low_const(L, e, 0));
    low_fill_tile(L, tile, fu_elems(L->p, v), value);
    low_hold(L, v, &L->row, tile, L->depth);
}

/* tile[j] (+)= message at j, for one lane or all. A product is added with one rounding. */
static void accumulate(lower *L, gir_id v, kir_id tile, kir_id j)
{
    gir_id e = gir_in(L->p, v, 1);
    int red = (int)gir_at(L->p, v)->attr.i[1];
    const gir_node *n = gir_at(L->p, e);
    low_ix x = low_index(&n->type, j), y = x;
    low_of(L, v);
    if (L->drawn) {
        kir_tacc(L->k, low_at(L), KIR_SUM, tile, j, low_drawn_value(L, L->edge.row, j));
        return;
    }
    if (red == GIR_SUM && n->op == GIR_MUL && L->f->place[e] == FU_INLINE &&
        gn_elem_is_float((gn_elem)n->type.elem)) {
        kir_id a = low_value(L, gir_in(L->p, e, 0), &L->edge, &x);
        kir_id b = low_value(L, gir_in(L->p, e, 1), &L->edge, &y);
        kir_tfma(L->k, low_at(L), tile, j, a, b);
        return;
    }
    kir_id value = low_value(L, e, &L->edge, &x);
    kir_tacc(L->k, low_at(L), (kir_red)red, tile, j, value);
}

/* How many edges to take at once: as many as hide the latency of an addition, while the messages
 * are cheap enough for that to be what the loop waits for, and not so few edges that there is
 * nothing to hide. */
static int ways_of(lower *L, const edge_pass *z)
{
    const region *r = L->r;
    int64_t lanes = L->opt->limits.lanes > 0 ? L->opt->limits.lanes : 4, vectors = 0;
    for (uint32_t m = 0; m < r->members.n; m++) {
        gir_id v = r->members.p[m];
        if (!is_summed(L, z, m)) continue;
        if (!L->drawn && low_cost(L, gir_in(L->p, v, 1)) > (float)L->sched.edge_cost) return 1;
        vectors += (fu_elems(L->p, v) + lanes - 1) / lanes;
    }
    if (!gn_is_on(L->opt->off, GN_DO_EDGE_WAYS)) return 1;
    if (L->drawn) return MAX_WAYS;
    int64_t ways = vectors ? L->sched.edge_sums / vectors : 1;
    return ways < 2 ? 1 : ways < MAX_WAYS ? 2 : MAX_WAYS;
}

static void begin_accumulators(lower *L, edge_pass *z)
{
    const region *r = L->r;
    for (int w = 0; w < z->ways; w++) z->tile[w] = GN_NEW_N(L->arena, kir_id, r->members.n);
    for (uint32_t m = 0; m < r->members.n; m++) {
        gir_id v = r->members.p[m];
        if (!is_summed(L, z, m)) continue;
        low_of(L, v);
        for (int w = 0; w < z->ways; w++) {
            z->tile[w][m] = kir_tile(L->k, low_at(L), low_member_elem(L, v), fu_elems(L->p, v));
            low_fill_tile(L, z->tile[w][m], fu_elems(L->p, v),
                          low_start(L, low_member_elem(L, v), (int)gir_at(L->p, v)->attr.i[1]));
        }
    }
}

/* Edge value v into a tile, where sums find it, and from there to memory. */
static void leave_value(lower *L, gir_id v)
{
    int64_t n = fu_elems(L->p, v);
    low_tile_of(L, v, &L->edge);
    kir_id j = n > 1 ? low_open_n(L, n, KIR_VECTOR, KIR_NONE) : low_iconst(L, 0);
    low_ix x = low_index(gir_type_of(L->p, v), j);
    low_store_value(L, v, &L->edge, j, low_value(L, v, &L->edge, &x));
    if (n > 1) low_close(L);
}

/* Sums of one width share a loop over the lanes. */
static void sums_of_width(lower *L, const kir_id *tile, int64_t n)
{
    const region *r = L->r;
    bool any = false;
    for (uint32_t m = 0; m < r->members.n; m++)
        any = any || (tile[m] && fu_elems(L->p, r->members.p[m]) == n);
    if (!any) return;
    kir_id j = n > 1 ? low_open_n(L, n, KIR_VECTOR, KIR_NONE) : low_iconst(L, 0);
    for (uint32_t m = 0; m < r->members.n; m++)
        if (tile[m] && fu_elems(L->p, r->members.p[m]) == n)
            accumulate(L, r->members.p[m], tile[m], j);
    if (n > 1) low_close(L);
}

/* Wide sums first: they keep in tiles what they spread over their lanes, and narrow ones read it
 * there. */
static void pass_body(lower *L, const edge_pass *z, const kir_id *tile)
{
    const region *r = L->r;
    for (int64_t last = INT64_MAX, n;; last = n) {
        n = 0;
        for (uint32_t m = 0; m < r->members.n; m++) {
            int64_t elems = fu_elems(L->p, r->members.p[m]);
            if ((tile[m] || is_left(L, z, m)) && elems > n && elems < last) n = elems;
        }
        if (n == 0) return;
        for (uint32_t m = 0; m < r->members.n; m++)
            if (is_left(L, z, m) && fu_elems(L->p, r->members.p[m]) == n)
                leave_value(L, r->members.p[m]);
        sums_of_width(L, tile, n);
    }
}

static kir_id combine(lower *L, int red, gn_elem e, kir_id a, kir_id b)
{
    static const kir_op of_float[] = {KIR_FADD, KIR_FMAX, KIR_FMIN},
                        of_int[] = {KIR_IADD, KIR_IMAX, KIR_IMIN};
    return kir_bin(L->k, low_at(L), gn_elem_is_float(e) ? of_float[red] : of_int[red], a, b);
}

/* The accumulators of all ways into those of the first: neighbours, then neighbours of those. */
static void join_ways(lower *L, const edge_pass *z, uint32_t m)
{
    gir_id v = L->r->members.p[m];
    int red = (int)gir_at(L->p, v)->attr.i[1];
    low_of(L, v);
    kir_id j = low_open_n(L, fu_elems(L->p, v), KIR_VECTOR, KIR_NONE), part[MAX_WAYS];
    for (int w = 0; w < z->ways; w++) part[w] = kir_tload(L->k, low_at(L), z->tile[w][m], j);
    for (int d = 1; d < z->ways; d *= 2)
        for (int w = 0; w + d < z->ways; w += 2 * d)
            part[w] = combine(L, red, low_member_elem(L, v), part[w], part[w + d]);
    kir_tstore(L->k, low_at(L), z->tile[0][m], j, part[0]);
    low_close(L);
}

static void scale_sum(lower *L, gir_id v, kir_id tile)
{
    kir_id c = low_fconst(L, low_member_elem(L, v), L->drawn->scale);
    kir_id j = low_open_n(L, fu_elems(L->p, v), KIR_VECTOR, KIR_NONE);
    kir_id sum = kir_tload(L->k, low_at(L), tile, j);
    kir_tstore(L->k, low_at(L), tile, j, kir_bin(L->k, low_at(L), KIR_FMUL, c, sum));
    low_close(L);
}

static void finish_accumulators(lower *L, const edge_pass *z)
{
    const region *r = L->r;
    for (uint32_t m = 0; m < r->members.n; m++) {
        gir_id v = r->members.p[m];
        kir_id tile = z->tile[0][m];
        if (!tile) continue;
        low_of(L, v);
        if (z->ways > 1) join_ways(L, z, m);
        if (low_total_of(L, m)) {
            low_add_to_total(L, m, tile);
            continue;
        }
        if (L->drawn) scale_sum(L, v, tile);
        if (gir_at(L->p, v)->attr.i[1] != GIR_SUM) { /* of no edges: 0 */
            kir_id some = kir_bin(L->k, low_at(L), KIR_ILT, low_iconst(L, 0), z->count);
            kir_id zero = low_const(L, low_member_elem(L, v), 0);
            kir_id j = low_open_n(L, fu_elems(L->p, v), KIR_VECTOR, KIR_NONE);
            kir_id now = kir_tload(L->k, low_at(L), tile, j);
            kir_tstore(L->k, low_at(L), tile, j, kir_select(L->k, low_at(L), some, now, zero));
            low_close(L);
        }
        low_hold(L, v, &L->row, tile, L->depth);
    }
}

/* Rows that the edge `ahead` of e will read at its far end, and its own where edges lie apart. */
static void prefetch(lower *L, kir_id e)
{
    const fu_walk *r = &L->walk;
    kir_id last = low_int(L, KIR_ISUB, low_sym_value(L, gir_type_of(L->p, r->graph)->edge, 1),
                          low_iconst(L, 1));
    kir_id then = low_int(L, KIR_IMIN, low_int(L, KIR_IADD, e, low_iconst(L, L->sched.ahead)),
                          last);
    const gn_graph_array to[] = {r->end == GIR_DST ? GN_GRAPH_COL : GN_GRAPH_CSC_ROW,
                                 GN_GRAPH_CSC_EDGE};
    kir_id row[2] = {0};
    for (uint32_t k = 0; k < L->far_reads.n; k++) {
        const far_read *f = &L->far_reads.p[k];
        int buffer = low_kernel_buffer(L, low_buffer_of_value(L, f->value), KIR_READ);
        if (!row[f->at_edge])
            row[f->at_edge] = low_load(L, low_buffer_of_graph(L, r->graph, to[f->at_edge]), then);
        kir_id base = low_times(L, row[f->at_edge], f->elems);
        kir_id j = f->elems > 1 ? low_open_n(L, f->elems, KIR_VECTOR, KIR_NONE) : low_iconst(L, 0);
        kir_prefetch(L->k, low_at(L), buffer, low_int(L, KIR_IADD, base, j));
        if (f->elems > 1) low_close(L);
    }
    L->far_reads.n = 0;
}

/* Edge e of the row's into the accumulators of one way. */
static void take_edge(lower *L, const edge_pass *z, kir_id e, const kir_id *tile)
{
    const fu_walk *r = &L->walk;
    L->edge = (where){
        .space = gir_type_of(L->p, r->graph)->edge, .row = e, .level = L->depth, .graph = r->graph};
    if (L->drawn) {
        pass_body(L, z, tile);
        L->edge = (where){0};
        return;
    }
    if (r->end == GIR_DST) {
        L->edge.dst = L->row.row;
        L->edge.src = low_load(L, low_buffer_of_graph(L, r->graph, GN_GRAPH_COL), e);
    } else {
        L->edge.src = L->row.row;
        L->edge.dst = low_load(L, low_buffer_of_graph(L, r->graph, GN_GRAPH_CSC_ROW), e);
        L->edge.row = low_load(L, low_buffer_of_graph(L, r->graph, GN_GRAPH_CSC_EDGE), e);
        if (gn_is_on(L->opt->off, GN_DO_BY_SOURCE)) L->edge.by_source = e;
    }
    L->far = L->sched.ahead ? r->end == GIR_DST ? L->edge.src : L->edge.dst : 0;
    L->far_edge = L->sched.ahead && r->end == GIR_SRC ? L->edge.row : 0;
    pass_body(L, z, tile);
    L->edge = (where){0};
    L->far = L->far_edge = 0;
    if (L->far_reads.n) prefetch(L, e);
}

static void all_edges(lower *L, const edge_pass *z)
{
    kir_id end = z->hi, rest = 0;
    if (z->ways > 1) {
        kir_id count = low_int(L, KIR_ISUB, z->hi, z->lo);
        rest = low_int(L, KIR_IMOD, count, low_iconst(L, z->ways));
        end = low_int(L, KIR_ISUB, z->hi, rest);
    }
    kir_id e = low_open(L, z->lo, end, z->ways, KIR_SERIAL, KIR_REDUCE);
    for (int w = 0; w < z->ways; w++)
        take_edge(L, z, w ? low_int(L, KIR_IADD, e, low_iconst(L, w)) : e, z->tile[w]);
    low_close(L);
    if (!rest) return;
    e = low_open(L, low_iconst(L, 0), rest, 1, KIR_SERIAL, KIR_REDUCE);
    take_edge(L, z, low_int(L, KIR_IADD, end, e), z->tile[0]);
    low_close(L);
}

/* The sums number `i` and after, `n` of them, into the accumulators of member m: loads first, so
 * that they are under way together. */
static void take_sums(lower *L, const edge_pass *z, uint32_t m, kir_id i, int n)
{
    enum { MOST = 4 };
    gir_id v = L->r->members.p[m];
    int64_t elems = fu_elems(L->p, v);
    low_of(L, v);
    int b = low_kernel_buffer(L, L->parts[m], KIR_READ);
    kir_id at[MOST], x[MOST];
    for (int k = 0; k < n; k++) {
        kir_id far = low_int(L, KIR_IMUL, low_int(L, KIR_IADD, i, low_iconst(L, k)),
                             z->sums.stride);
        at[k] = low_times(L, low_int(L, KIR_IADD, z->sums.first, far), elems);
    }
    kir_id j = elems > 1 ? low_open_n(L, elems, KIR_VECTOR, KIR_NONE) : low_iconst(L, 0);
    for (int k = 0; k < n; k++) x[k] = kir_load(L->k, low_at(L), b, low_int(L, KIR_IADD, at[k], j));
    for (int k = 0; k < n; k++)
        kir_tacc(L->k, low_at(L), (kir_red)gir_at(L->p, v)->attr.i[1], z->tile[0][m], j, x[k]);
    if (elems > 1) low_close(L);
}

static void all_sums(lower *L, const edge_pass *z)
{
    enum { TOGETHER = 4 };
    kir_id all = z->sums.n;
    kir_id end = low_int(L, KIR_ISUB, all, low_int(L, KIR_IMOD, all, low_iconst(L, TOGETHER)));
    for (int n = TOGETHER; n >= 1; n -= TOGETHER - 1) {
        kir_id i = low_open(L, n > 1 ? low_iconst(L, 0) : end, n > 1 ? end : all, n, KIR_SERIAL,
                            KIR_REDUCE);
        for (uint32_t m = 0; m < L->r->members.n; m++)
            if (z->tile[0][m]) take_sums(L, z, m, i, n);
        low_close(L);
    }
}

/* What a part or a group of parts came to, to memory. */
static void store_sum(lower *L, const edge_pass *z, kir_id at)
{
    for (uint32_t m = 0; m < L->r->members.n; m++) {
        if (!z->tile[0][m]) continue;
        low_of(L, L->r->members.p[m]);
        int64_t elems = fu_elems(L->p, L->r->members.p[m]);
        if (z->ways > 1) join_ways(L, z, m);
        int b = low_kernel_buffer(L, L->parts[m], KIR_WRITE);
        kir_id base = low_times(L, at, elems);
        kir_id j = elems > 1 ? low_open_n(L, elems, KIR_VECTOR, KIR_NONE) : low_iconst(L, 0);
        low_store_from(L, b, low_int(L, KIR_IADD, base, j), z->tile[0][m], j);
        if (elems > 1) low_close(L);
    }
}

/* Returns whether the pass has sums that need a loop; their accumulators are declared and what they
 * have to take is in. */
static bool accumulate_all(lower *L, edge_pass *z)
{
    bool any = false;
    z->ways = z->lo ? ways_of(L, z) : 1;
    begin_accumulators(L, z);
    for (uint32_t m = 0; m < L->r->members.n; m++) any = any || z->tile[0][m] || is_left(L, z, m);
    if (any && z->lo) all_edges(L, z);
    if (any && z->sums.n) all_sums(L, z);
    return any;
}

static void pass_over_edges(lower *L, edge_pass *z)
{
    const region *r = L->r;
    for (uint32_t m = 0; m < r->members.n; m++)
        if (z->pass[m] == z->number && low_edge_constant(L, r->members.p[m]))
            scatter_constant(L, r->members.p[m], z->count);
    bool *summed = GN_NEW_N(L->arena, bool, r->members.n);
    for (uint32_t m = r->members.n; m-- > 0;) {
        summed[m] = is_summed(L, z, m);
        if (z->pass[m] == z->number) low_of(L, r->members.p[m]); /* of which the loop is a part */
    }
    bool may_skip = low_begin_totals(L, summed);
    if (may_skip) {
        kir_id none = low_iconst(L, 0);
        low_open_if(L, kir_bin(L->k, low_at(L), KIR_ILT, none, z->count));
    }
    if (accumulate_all(L, z)) finish_accumulators(L, z);
    if (may_skip) low_close(L);
    low_end_totals(L, summed);
}

/* What an array of the walk's graph says of L->row, and of the row behind it. */
static void row_range(lower *L, gn_graph_array by_dst, gn_graph_array by_src, kir_id *lo,
                      kir_id *hi)
{
    int ptr = low_buffer_of_graph(L, L->walk.graph, L->walk.end == GIR_DST ? by_dst : by_src);
    *lo = low_load(L, ptr, L->row.row);
    *hi = low_load(L, ptr, low_int(L, KIR_IADD, L->row.row, low_iconst(L, 1)));
}

void low_row_parts(lower *L, kir_id *first, kir_id *end)
{
    int edges = (int)L->sched.part_edges;
    row_range(L, gn_part_array_of(edges, GN_PART_PTR), gn_part_array_of(edges, GN_CSC_PART_PTR),
              first, end);
}

/* The sums that stand for all edges of L->row: those of its parts, of groups of parts, or of groups
 * of those. */
static low_sums row_sums(lower *L)
{
    kir_id first, end;
    low_row_parts(L, &first, &end);
    kir_id parts = low_int(L, KIR_ISUB, end, first);
    low_sums s = {.first = first, .n = parts, .stride = low_iconst(L, 1)};
    for (int64_t k = 1, group = L->sched.part_sums; k < L->sched.part_levels;
         k++, group *= L->sched.part_sums) {
        kir_id many = kir_bin(L->k, low_at(L), KIR_ILE, low_iconst(L, 2 * group), parts);
        s.n = kir_select(L->k, low_at(L), many, low_int(L, KIR_IDIV, parts, low_iconst(L, group)),
                         s.n);
        s.stride = kir_select(L->k, low_at(L), many, low_iconst(L, group), s.stride);
    }
    return s;
}

int low_pass_of(const lower *L, gir_id v, int lev)
{
    return (lev - 1) * L->r->n_walks + fu_find_walk(L->r, fu_walk_of(L->f, v)) + 1;
}

int low_level_of(const lower *L, int pass) { return (pass - 1) / L->r->n_walks + 1; }

int low_walk_of(const lower *L, int pass) { return (pass - 1) % L->r->n_walks; }

/* Does the walk at hand go over edges, rather than count them? */
static bool reads_ends(const lower *L)
{
    bool any = false;
    for (uint32_t m = 0; m < L->r->members.n; m++) {
        gir_id v = L->r->members.p[m];
        fu_walk w = fu_walk_of(L->f, v);
        any = any || (w.graph == L->walk.graph && w.end == L->walk.end && !low_edge_constant(L, v));
    }
    return any;
}

/* Where the walk's edges will go, some rows ahead: each relation's ends are a stream of their own,
 * of which a row reads little, so that a machine with eight of them does not see them coming.  So
 * many lines as a row reads are asked for, the last one AHEAD behind the row's. */
static void prefetch_ends(lower *L, kir_id hi)
{
    enum { LINE = 64, AHEAD = 3, USUAL = 16 };
    const low_hint *h = low_hint_of(L->opt, L->p, L->walk.graph);
    int64_t line = LINE / (int64_t)gn_elem_size(L->opt->index), edges = USUAL;
    int64_t rows = !h ? 0 : L->walk.end == GIR_DST ? h->n_dst : h->n_src;
    if (L->r->n_walks == 1 || L->opt->limits.shared_bytes || !reads_ends(L)) return;
    if (!gn_is_on(L->opt->off, GN_DO_PREFETCH)) return;
    if (rows > 0) edges = h->n_edge / rows;
    gn_graph_array far = L->walk.end == GIR_DST ? GN_GRAPH_COL : GN_GRAPH_CSC_ROW;
    int b = low_kernel_buffer(L, low_buffer_of_graph(L, L->walk.graph, far), KIR_READ);
    int64_t lines = edges / line + 1;
    for (int64_t k = lines < AHEAD ? AHEAD - lines : 0; k < AHEAD; k++) {
        kir_id at = low_int(L, KIR_IADD, hi, low_iconst(L, (k + 1) * line));
        kir_prefetch(L->k, low_at(L), b, at);
    }
}

/* L->row's edges by each walk: they, or what its parts came to. */
static void find_edges(lower *L, edge_pass *of)
{
    for (int w = 0; w < L->r->n_walks; w++) {
        edge_pass *z = &of[w];
        L->walk = L->r->walk[w];
        row_range(L, GN_GRAPH_ROW_PTR, GN_GRAPH_COL_PTR, &z->lo, &z->hi);
        z->count = low_int(L, KIR_ISUB, z->hi, z->lo);
        prefetch_ends(L, z->hi);
        if (L->drawn) low_draw_ahead(L, z->lo, z->hi);
        if (!L->parts || !L->splits[w]) continue;
        kir_id none = low_iconst(L, 0);
        z->sums = row_sums(L);
        kir_id long_row = kir_bin(L->k, low_at(L), KIR_ILT, none, z->sums.n);
        z->hi = kir_select(L->k, low_at(L), long_row, z->lo, z->hi);
    }
}

void low_edge_passes(lower *L, const int *pass, int passes)
{
    edge_pass of[FU_MOST_WALKS] = {0};
    low_find_totals(L, pass);
    find_edges(L, of);
    for (int n = 1; n <= passes; n++) {
        edge_pass z = of[low_walk_of(L, n)];
        z.pass = pass;
        z.number = n;
        L->walk = L->r->walk[low_walk_of(L, n)];
        pass_over_edges(L, &z);
    }
}

void low_edge_sums(lower *L, const int *pass, int number, low_sums sums)
{
    edge_pass z = {.pass = pass, .number = number, .sums = sums};
    L->totals.n = 0;
    if (accumulate_all(L, &z)) store_sum(L, &z, sums.first);
}

/* What the row's passes of lower levels come to, for a part of the edges of walk `own`, by which
 * the row is a long one. */
static void passes_before(lower *L, const int *pass, int lev, int own, kir_id count)
{
    edge_pass of[FU_MOST_WALKS] = {0};
    L->totals.n = 0;
    if (lev == 1) return;
    low_find_totals(L, pass);
    if (L->r->n_walks > 1) find_edges(L, of);
    L->walk = L->r->walk[own];
    of[own] = (edge_pass){.count = count, .sums = row_sums(L)};
    for (int n = 1; low_level_of(L, n) < lev; n++) {
        edge_pass z = of[low_walk_of(L, n)];
        z.pass = pass;
        z.number = n;
        L->walk = L->r->walk[low_walk_of(L, n)];
        pass_over_edges(L, &z);
    }
    L->walk = L->r->walk[own];
}

void low_edge_part(lower *L, const int *pass, int number, kir_id part)
{
    kir_id lo, hi, first, end;
    int own = low_walk_of(L, number);
    L->walk = L->r->walk[own];
    row_range(L, GN_GRAPH_ROW_PTR, GN_GRAPH_COL_PTR, &lo, &hi);
    low_row_parts(L, &first, &end);
    kir_id count = low_int(L, KIR_ISUB, hi, lo);
    passes_before(L, pass, low_level_of(L, number), own, count);
    kir_id n = low_int(L, KIR_ISUB, end, first), j = low_int(L, KIR_ISUB, part, first);
    kir_id each = low_int(L, KIR_IDIV, count, n), over = low_int(L, KIR_IMOD, count, n);
    kir_id before = low_int(L, KIR_IMUL, j, each);
    before = low_int(L, KIR_IADD, before, low_int(L, KIR_IMIN, j, over));
    kir_id from = low_int(L, KIR_IADD, lo, before), to = low_int(L, KIR_IADD, from, each);
    kir_id longer = low_int(L, KIR_IADD, to, low_iconst(L, 1));
    to = kir_select(L->k, low_at(L), kir_bin(L->k, low_at(L), KIR_ILT, j, over), longer, to);
    L->totals.n = 0;
    edge_pass z = {.pass = pass, .number = number, .lo = from, .hi = to, .count = count};
    if (accumulate_all(L, &z)) store_sum(L, &z, part);
}
