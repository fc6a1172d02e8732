/* Graphs from graphs.
 *
 * Loops change rows one by one: edges keep their order and a row's loop, being the last of the user's list, comes last.
 * So the derived CSR comes out of one pass over the parent's, and only places in the user's list need counting. */
#include "runtime/graph_internal.h"
#include "runtime/memory.h"

static int64_t get(const gn_graph *g, gn_graph_array k, int64_t i) { return gn_index_get(g->array[k], g->index, i); }
static void set(gn_graph *g, gn_graph_array k, int64_t i, int64_t v) { gn_index_set(g->array[k], g->index, i, v); }

static int64_t count_loops(const gn_graph *g)
{
    int64_t n = 0;
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t end = get(g, GN_GRAPH_ROW_PTR, v + 1);
        for (int64_t e = get(g, GN_GRAPH_ROW_PTR, v); e < end; e++) n += get(g, GN_GRAPH_COL, e) == v;
    }
    return n;
}

/* rank[p]: how many of the user's edges before place p are kept, when loops are dropped. */
static gn_status *kept_ranks(const gn_graph *g, int64_t **out)
{
    void *p;
    GN_TRY(gn_block_new(g->n_edge, sizeof(int64_t), "places of derived edges", &p));
    int64_t *rank = p, at = 0;
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t end = get(g, GN_GRAPH_ROW_PTR, v + 1);
        for (int64_t e = get(g, GN_GRAPH_ROW_PTR, v); e < end; e++)
            rank[get(g, GN_GRAPH_POS, e)] = get(g, GN_GRAPH_COL, e) != v;
    }
    for (int64_t i = 0; i < g->n_edge; i++) {
        int64_t kept = rank[i];
        rank[i] = at;
        at += kept;
    }
    *out = rank;
    return NULL;
}

static void put(gn_graph *d, int64_t k, int64_t col, int64_t pos, int64_t from)
{
    set(d, GN_GRAPH_COL, k, col);
    set(d, GN_GRAPH_POS, k, pos);
    set(d, GN_GRAPH_FROM, k, from);
}

static void loop_rows(const gn_graph *g, gn_graph_derive how, const int64_t *rank, int64_t kept, gn_graph *d)
{
    int64_t k = 0;
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t end = get(g, GN_GRAPH_ROW_PTR, v + 1), dropped = -1;
        for (int64_t e = get(g, GN_GRAPH_ROW_PTR, v); e < end; e++) {
            int64_t col = get(g, GN_GRAPH_COL, e), pos = get(g, GN_GRAPH_POS, e);
            if (col == v && how != GN_SELF_LOOPS)
                dropped = e;
            else
                put(d, k++, col, rank ? rank[pos] : pos, e);
        }
        if (how != GN_REMOVE_LOOPS) put(d, k++, v, kept + v, how == GN_REMAINING_LOOPS ? dropped : -1);
        set(d, GN_GRAPH_ROW_PTR, v + 1, k);
    }
}

static gn_status *derived_blank(const gn_graph *g, int64_t n_src, int64_t n_dst, int64_t n_edge, gn_graph **out)
{
    gn_elem index = gn_graph_index_for(n_src, n_dst, n_edge);
    if (g->index == GN_I64) index = GN_I64;
    GN_TRY(gn_graph_blank(n_src, n_dst, n_edge, index, out));
    (*out)->n_parent_edge = g->n_edge;
    (*out)->derived = true;
    gn_status *s = gn_graph_array_new(*out, GN_GRAPH_FROM);
    if (s) {
        gn_graph_free(*out);
        *out = NULL;
    }
    return s;
}

static gn_status *with_loops(const gn_graph *g, gn_graph_derive how, gn_graph **out)
{
    static const char *const name[] = {"self_loops", "remove_self_loops", "remaining_self_loops"};
    if (g->n_src != g->n_dst)
        GN_FAIL(GN_ERR_DATA, "%s: the graph goes from %lld nodes to %lld others", name[how], (long long)g->n_src,
                (long long)g->n_dst);
    int64_t loops = how == GN_SELF_LOOPS ? 0 : count_loops(g);
    int64_t kept = g->n_edge - loops, n_edge = kept, *rank = NULL;
    if (how != GN_REMOVE_LOOPS && __builtin_add_overflow(kept, g->n_dst, &n_edge))
        GN_FAIL(GN_ERR_NOMEM, "%s: %lld edges and a loop for each of %lld nodes cannot be counted", name[how],
                (long long)kept, (long long)g->n_dst);
    if (loops) GN_TRY(kept_ranks(g, &rank));
    gn_status *s = derived_blank(g, g->n_src, g->n_dst, n_edge, out);
    if (!s) loop_rows(g, how, rank, kept, *out);
    gn_block_free(rank);
    return s;
}

/* The user's list from the CSR: end[2p] -> end[2p + 1] is its edge p, and csr[p] where it stands. */
static void user_list(const gn_graph *g, int64_t *end, int64_t *csr)
{
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t stop = get(g, GN_GRAPH_ROW_PTR, v + 1);
        for (int64_t e = get(g, GN_GRAPH_ROW_PTR, v); e < stop; e++) {
            int64_t p = get(g, GN_GRAPH_POS, e);
            end[2 * p] = get(g, GN_GRAPH_COL, e);
            end[2 * p + 1] = v;
            csr[p] = e;
        }
    }
}

static gn_status *reversed(const gn_graph *g, gn_graph **out)
{
    void *block;
    GN_TRY(gn_block_new(g->n_edge, 3 * sizeof(int64_t), "edge list", &block));
    int64_t *end = block, *csr = end + 2 * g->n_edge;
    gn_status *s = derived_blank(g, g->n_dst, g->n_src, g->n_edge, out);
    if (s) {
        gn_block_free(block);
        return s;
    }
    gn_graph *d = *out;
    user_list(g, end, csr);
    for (int64_t p = 0; p < g->n_edge; p++)
        set(d, GN_GRAPH_ROW_PTR, end[2 * p] + 1, get(d, GN_GRAPH_ROW_PTR, end[2 * p] + 1) + 1);
    gn_index_starts(d->array[GN_GRAPH_ROW_PTR], d->index, d->n_dst);
    for (int64_t p = 0; p < g->n_edge; p++) {
        int64_t at = get(d, GN_GRAPH_ROW_PTR, end[2 * p] + 1);
        set(d, GN_GRAPH_ROW_PTR, end[2 * p] + 1, at + 1);
        put(d, at, end[2 * p + 1], p, csr[p]);
    }
    gn_block_free(block);
    return NULL;
}

gn_status *gn_graph_derived(const gn_graph *g, gn_graph_derive how, gn_graph **out)
{
    *out = NULL;
    return how == GN_REVERSE ? reversed(g, out) : with_loops(g, how, out);
}
