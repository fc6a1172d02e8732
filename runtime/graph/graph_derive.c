/* Graphs from graphs.
 *
 * Loops change rows one by one: edges keep their order and a row's loop, being the last of the
 * user's list, comes last. So the derived CSR comes out of one pass over the parent's, and only
 * places in the user's list need counting. */
#include "runtime/graph/graph_rows.h"
#include "runtime/graph/graph_sort.h"
#include "runtime/memory.h"

static int64_t get(const gn_graph *g, gn_graph_array k, int64_t i)
{
    return gn_index_get(g->array[k], g->index, i);
}
static void set(gn_graph *g, gn_graph_array k, int64_t i, int64_t v)
{
    gn_index_set(g->array[k], g->index, i, v);
}

static int64_t count_loops(const gn_graph *g)
{
    int64_t n = 0;
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t end = get(g, GN_GRAPH_ROW_PTR, v + 1);
        for (int64_t e = get(g, GN_GRAPH_ROW_PTR, v); e < end; e++)
            n += get(g, GN_GRAPH_COL, e) == v;
    }
    return n;
}

/* Which of the user's edges are dropped loops, as bits; rank[w]: how many of those before bit 64 w
 * are kept.  Small enough for a cache where an array of ranks would not be. */
typedef struct ranks {
    uint64_t *dropped;
    int64_t *rank;
} ranks;

static gn_status *find_ranks(const gn_graph *g, ranks *out)
{
    int64_t words = g->n_edge / 64 + 1;
    void *p;
    GN_TRY(gn_block_zeroed(words, 2 * sizeof(int64_t), "places of derived edges", &p));
    *out = (ranks){p, (int64_t *)p + words};
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t end = get(g, GN_GRAPH_ROW_PTR, v + 1);
        for (int64_t e = get(g, GN_GRAPH_ROW_PTR, v); e < end; e++) {
            if (get(g, GN_GRAPH_COL, e) != v) continue;
            int64_t pos = get(g, GN_GRAPH_POS, e);
            out->dropped[pos / 64] |= (uint64_t)1 << pos % 64;
        }
    }
    for (int64_t w = 1; w < words; w++)
        out->rank[w] = out->rank[w - 1] + 64 - gn_ones(out->dropped[w - 1]);
    return NULL;
}

/* The place of a kept edge in the derived list. */
static int64_t rank_of(const ranks *k, int64_t pos)
{
    uint64_t before = k->dropped[pos / 64] & (((uint64_t)1 << pos % 64) - 1);
    return k->rank[pos / 64] + pos % 64 - gn_ones(before);
}

static void put(gn_graph *d, int64_t k, int64_t col, int64_t pos, int64_t from)
{
    set(d, GN_GRAPH_COL, k, col);
    set(d, GN_GRAPH_POS, k, pos);
    set(d, GN_GRAPH_FROM, k, from);
}

static void loop_rows(const gn_graph *g, gn_graph_derive how, const ranks *in_list, int64_t kept,
                      gn_graph *d)
{
    int64_t k = 0;
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t end = get(g, GN_GRAPH_ROW_PTR, v + 1), dropped = -1;
        for (int64_t e = get(g, GN_GRAPH_ROW_PTR, v); e < end; e++) {
            int64_t col = get(g, GN_GRAPH_COL, e), pos = get(g, GN_GRAPH_POS, e);
            if (col == v && how != GN_SELF_LOOPS)
                dropped = e;
            else
                put(d, k++, col, in_list->dropped ? rank_of(in_list, pos) : pos, e);
        }
        if (how != GN_REMOVE_LOOPS)
            put(d, k++, v, kept + v, how == GN_REMAINING_LOOPS ? dropped : -1);
        set(d, GN_GRAPH_ROW_PTR, v + 1, k);
    }
}

static gn_status *with_loops(const gn_graph *g, gn_graph_derive how, gn_graph **out)
{
    static const char *const name[] = {"self_loops", "remove_self_loops", "remaining_self_loops"};
    if (g->n_src != g->n_dst)
        GN_FAIL(GN_ERR_DATA, "%s: the graph goes from %lld nodes to %lld others", name[how],
                (long long)g->n_src, (long long)g->n_dst);
    int64_t loops = how == GN_SELF_LOOPS ? 0 : count_loops(g);
    int64_t kept = g->n_edge - loops, n_edge = kept;
    ranks in_list = {0};
    if (how != GN_REMOVE_LOOPS && __builtin_add_overflow(kept, g->n_dst, &n_edge))
        GN_FAIL(GN_ERR_NOMEM, "%s: %lld edges and a loop for each of %lld nodes cannot be counted",
                name[how], (long long)kept, (long long)g->n_dst);
    if (loops) GN_TRY(find_ranks(g, &in_list));
    gn_status *s = gn_graph_derived_blank(g, g->n_src, g->n_dst, n_edge, out);
    if (!s) loop_rows(g, how, &in_list, kept, *out);
    gn_block_free(in_list.dropped);
    return s;
}

static gn_status *reversed(const gn_graph *g, gn_graph **out)
{
    GN_TRY(gn_graph_derived_blank(g, g->n_dst, g->n_src, g->n_edge, out));
    gn_status *s = gn_sort_reversed(g, *out);
    if (s) {
        gn_graph_free(*out);
        *out = NULL;
    }
    return s;
}

gn_status *gn_graph_derived(const gn_graph *g, gn_graph_derive how, gn_graph **out)
{
    *out = NULL;
    if (how > GN_REVERSE)
        GN_FAIL(GN_ERR_INTERNAL, "a pick of rows or edges is derived of more than one graph");
    return how == GN_REVERSE ? reversed(g, out) : with_loops(g, how, out);
}
