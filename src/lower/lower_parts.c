/* lower_parts: rows of many edges, summed in parts.
 *
 * Where each row is the work of one group of lanes, a row of thousands of edges ends long after all
 * others.  Its edges are summed in parts of sched.part_edges or up to half as many more, each the
 * work of a group, into partial sums in memory. Where rows may have many parts those are summed in
 * groups of sched.part_sums, in order, each into the place of its first, groups of groups next, and
 * so on for sched.part_levels; what is left of a row its own kernel takes together in order
 * (lower_edges.c).  How edges are divided depends on the graph and the schedule alone, so do the
 * bits of a result.
 *
 * There are such kernels for each pass over edges.  What a later pass reads of the sums of earlier
 * ones, the maximum of a softmax, every part of the row takes together for itself. */
#include "lower/lower_impl.h"

/* Has a pass sums that need a loop? */
static bool has_sums(const lower *L, const int *pass, int number)
{
    for (uint32_t m = 0; m < L->r->members.n; m++)
        if (pass[m] == number && !low_edge_constant(L, L->r->members.p[m])) return true;
    return false;
}

/* Of either version? */
static bool sums_in(const lower *L, const low_passes *z, int number)
{
    return has_sums(L, z->pass, number) || (z->n_scalars && has_sums(L, z->first_pass, number));
}

typedef struct part_arrays {
    gn_graph_array ptr, row;
} part_arrays;

static part_arrays arrays_of(const lower *L)
{
    bool by_dst = L->walk.end == GIR_DST;
    int edges = (int)L->sched.part_edges;
    return (part_arrays){gn_part_array_of(edges, by_dst ? GN_PART_PTR : GN_CSC_PART_PTR),
                         gn_part_array_of(edges, by_dst ? GN_PART_ROW : GN_CSC_PART_ROW)};
}

static void make_buffers(lower *L, const low_passes *z)
{
    const region *r = L->r;
    int *parts = GN_NEW_N(L->arena, int, r->members.n);
    for (uint32_t m = 0; m < r->members.n; m++) {
        gir_id v = r->members.p[m];
        int number = z->pass[m] ? z->pass[m] : z->n_scalars ? z->first_pass[m] : 0;
        parts[m] = -1;
        if (!number || low_edge_constant(L, v) || !L->splits[low_walk_of(L, number)]) continue;
        L->walk = r->walk[low_walk_of(L, number)];
        int sym = low_sym_of_parts(L, L->walk.graph, arrays_of(L).ptr, 1);
        /* and a place of its own where there are none */
        low_size size = {.coef = fu_elems(L->p, v), .sym = sym};
        size.plus = (int)size.coef;
        parts[m] = low_temp(L, gn_arena_printf(L->arena, "parts_%u", v), low_member_elem(L, v),
                            size);
    }
    L->parts = parts;
}

typedef struct piece { /* of a row: one part of its edges, or a group of what parts or groups came
                          to */
    kir_id row, part;
    low_sums sums; /* n 0: a part */
} piece;

static void one_piece(lower *L, const int *pass, int number, const piece *x)
{
    L->row = (where){.space = L->r->space, .row = x->row, .level = L->depth};
    if (x->sums.n)
        low_edge_sums(L, pass, number, x->sums);
    else
        low_edge_part(L, pass, number, x->part);
}

static void piece_of_versions(lower *L, const low_passes *z, int number, const piece *x)
{
    if (!z->n_scalars) {
        one_piece(L, z->pass, number, x);
        return;
    }
    kir_id hold = low_all_hold(L, z->n_scalars, z->scalar),
           not = kir_un(L->k, low_at(L), KIR_NOT, hold);
    if (has_sums(L, z->first_pass, number)) {
        low_open_if(L, hold);
        low_suppose(L, z->n_scalars, z->scalar);
        one_piece(L, z->first_pass, number, x);
        low_suppose(L, 0, NULL);
        low_close(L);
    }
    if (has_sums(L, z->pass, number)) {
        low_open_if(L, not);
        one_piece(L, z->pass, number, x);
        low_close(L);
    }
}

/* A kernel with an iteration for each group of n parts; returns the number of the iteration. */
static kir_id begin_pieces(lower *L, const char *name, int64_t n)
{
    gn_graph_array ptr = arrays_of(L).ptr;
    low_begin(L, name);
    gir_id g = L->walk.graph;
    L->launch.trip = (low_size){.coef = 1, .sym = low_sym_of_parts(L, g, ptr, n)};
    return low_open(L, low_iconst(L, 0), low_parts_value(L, g, ptr, n), 1, KIR_THREAD, KIR_NONE);
}

static void parts_of_pass(lower *L, const low_passes *z, int number)
{
    kir_id part = begin_pieces(L, "parts", 1);
    kir_id row = low_load(L, low_buffer_of_graph(L, L->walk.graph, arrays_of(L).row), part);
    piece_of_versions(L, z, number, &(piece){.row = row, .part = part});
    low_close(L);
    low_end(L);
}

/* A row's parts begin anywhere among those of all rows: groups are counted from its first, and a
 * row has as many multiples of a group's size among its parts as it has groups, or one more.  So
 * each multiple is the work of one iteration, or of none. Sizes are symbols: kernels of all levels
 * are one text. */
static void groups_of_pass(lower *L, const low_passes *z, int number, int64_t size)
{
    kir_id c = begin_pieces(L, "sums", size), some = low_iconst(L, L->sched.part_sums), first, end;
    kir_id parts = low_count(L, size), each = low_count(L, size / L->sched.part_sums);
    int of = low_buffer_of_graph(L, L->walk.graph, arrays_of(L).row);
    kir_id row = low_load(L, of, low_int(L, KIR_IMUL, c, parts));
    L->row = (where){.space = L->r->space, .row = row, .level = L->depth};
    low_row_parts(L, &first, &end);
    kir_id have = low_int(L, KIR_IDIV, low_int(L, KIR_ISUB, end, first), each);
    kir_id groups = low_int(L, KIR_IDIV, have, some), one = low_iconst(L, 1);
    kir_id before = low_int(L, KIR_IDIV,
                            low_int(L, KIR_ISUB, low_int(L, KIR_IADD, first, parts), one), parts);
    kir_id j = low_int(L, KIR_ISUB, c, before), from = low_int(L, KIR_IMUL, j, some);
    kir_id many = kir_bin(L->k, low_at(L), KIR_ILE, low_iconst(L, 2 * L->sched.part_sums), have);
    kir_id there = kir_bin(L->k, low_at(L), KIR_ILT, j, groups);
    kir_id last = kir_bin(L->k, low_at(L), KIR_IEQ, low_int(L, KIR_IADD, j, one), groups);
    piece x = {.row = row, .sums.stride = each};
    x.sums.n = kir_select(L->k, low_at(L), last, low_int(L, KIR_ISUB, have, from), some);
    x.sums.first = low_int(L, KIR_IADD, first, low_int(L, KIR_IMUL, from, each));
    low_open_if(L, kir_bin(L->k, low_at(L), KIR_AND, many, there));
    piece_of_versions(L, z, number, &x);
    low_close(L);
    low_close(L);
    low_end(L);
}

void low_parts(lower *L, const low_passes *z)
{
    int most = z->n_scalars && z->first_n > z->n ? z->first_n : z->n;
    L->parts = NULL;
    L->loops = false;
    for (int n = 1; n <= most; n++) L->loops = L->loops || sums_in(L, z, n);
    if (!L->loops || !L->sched.split) return;
    for (int w = 0; w < L->r->n_walks; w++)
        L->splits[w] = low_walk_splits(L->opt, L->p, L->r, w, &L->sched);
    make_buffers(L, z);
    for (int n = 1; n <= most; n++) {
        if (!L->splits[low_walk_of(L, n)] || !sums_in(L, z, n)) continue;
        L->walk = L->r->walk[low_walk_of(L, n)];
        parts_of_pass(L, z, n);
        int64_t sums = L->sched.part_sums, size = sums;
        for (int64_t k = 1; k < L->sched.part_levels; k++, size *= sums)
            groups_of_pass(L, z, n, size);
    }
}

const char *low_parts_said(lower *L)
{
    const low_schedule *s = &L->sched;
    if (!L->loops || !L->opt->limits.shared_bytes) return NULL;
    if (!s->split)
        return gn_is_on(L->opt->off, GN_DO_SPLIT_ROWS) ? "no row is long enough to be split"
                                                       : "rows are not split: switched off";
    const char *text = gn_arena_printf(L->arena, "rows of %lld and more in parts of %lld",
                                       (long long)(2 * s->part_edges), (long long)s->part_edges);
    if (s->part_levels > 1)
        text = gn_arena_printf(L->arena, "%s, parts in groups of %lld, %lld level%s of them", text,
                               (long long)s->part_sums, (long long)(s->part_levels - 1),
                               s->part_levels > 2 ? "s" : "");
    return text;
}
