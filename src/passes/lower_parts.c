/* lower_parts: rows of many edges, summed in parts.
 *
 * Where each row is the work of one group of lanes, a row of thousands of edges ends long after all others.  Its edges are
 * summed in parts of GN_PART_EDGES, each the work of a group, into partial sums in memory; the rows' own kernel takes those
 * together in order (lower_edges.c).  How edges are divided depends on the graph alone, so do the bits of a result.
 *
 * There is a kernel for each pass over edges.  What a later pass reads of the sums of earlier ones, the maximum of a softmax,
 * every part of the row takes together for itself. */
#include "passes/lower_impl.h"

/* Has a pass sums that need a loop? */
static bool has_sums(const lower *L, const int *pass, int number)
{
    for (uint32_t m = 0; m < L->r->members.n; m++)
        if (pass[m] == number && !low_edge_constant(L, L->r->members.p[m])) return true;
    return false;
}

static void make_buffers(lower *L, const low_passes *z)
{
    const region *r = L->r;
    int *parts = GN_NEW_N(L->arena, int, r->members.n);
    int sym = low_sym_of(L, gir_type_of(L->p, r->graph)->edge, GN_PART_EDGES);
    for (uint32_t m = 0; m < r->members.n; m++) {
        gir_id v = r->members.p[m];
        parts[m] = -1;
        if (!(z->pass[m] || (z->n_scalars && z->first_pass[m])) || low_edge_constant(L, v)) continue;
        low_size size = {.coef = fu_elems(L->p, v), .sym = sym};
        parts[m] = low_temp(L, gn_arena_printf(L->arena, "parts_%u", v), low_member_elem(L, v), size);
    }
    L->parts = parts;
}

static void one_part(lower *L, const int *pass, int number, kir_id part, kir_id row)
{
    L->row = (where){.space = L->r->space, .row = row, .level = L->depth};
    low_edge_part(L, pass, number, part);
}

static void part_of_versions(lower *L, const low_passes *z, int number, kir_id part, kir_id row)
{
    if (!z->n_scalars) {
        one_part(L, z->pass, number, part, row);
        return;
    }
    kir_id hold = low_all_hold(L, z->n_scalars, z->scalar), not = kir_un(L->k, low_at(L), KIR_NOT, hold);
    if (has_sums(L, z->first_pass, number)) {
        low_open_if(L, hold);
        low_suppose(L, z->n_scalars, z->scalar);
        one_part(L, z->first_pass, number, part, row);
        low_suppose(L, 0, NULL);
        low_close(L);
    }
    if (has_sums(L, z->pass, number)) {
        low_open_if(L, not);
        one_part(L, z->pass, number, part, row);
        low_close(L);
    }
}

static void parts_of_pass(lower *L, const low_passes *z, int number)
{
    const region *r = L->r;
    bool by_dst = r->end == GIR_DST;
    int ptr = low_buffer_of_graph(L, r->graph, by_dst ? GN_GRAPH_PART_PTR : GN_GRAPH_CSC_PART_PTR);
    int rows = low_buffer_of_graph(L, r->graph, by_dst ? GN_GRAPH_PART_ROW : GN_GRAPH_CSC_PART_ROW);
    gir_space_id edge = gir_type_of(L->p, r->graph)->edge;
    low_begin(L, "parts");
    L->launch.trip = (low_size){.coef = 1, .sym = low_sym_of(L, edge, GN_PART_EDGES)};
    kir_id part = low_open(L, low_iconst(L, 0), low_sym_value(L, edge, GN_PART_EDGES), 1, KIR_THREAD, KIR_NONE);
    kir_id count = low_load(L, ptr, low_sym_value(L, r->space, 1));
    low_open_if(L, kir_bin(L->k, low_at(L), KIR_ILT, part, count));
    part_of_versions(L, z, number, part, low_load(L, rows, part));
    low_close(L);
    low_close(L);
    low_end(L);
}

void low_parts(lower *L, const low_passes *z)
{
    int most = z->n_scalars && z->first_n > z->n ? z->first_n : z->n;
    L->parts = NULL;
    if (!L->r->graph || !L->sched.split) return;
    make_buffers(L, z);
    for (int n = 1; n <= most; n++)
        if (has_sums(L, z->pass, n) || (z->n_scalars && has_sums(L, z->first_pass, n))) parts_of_pass(L, z, n);
}
