/* Picks of the rows that ends of graphs name, and sets of rows as bits. */
#include "runtime/graph/graph_rows.h"
#include "runtime/graph/graph_internal.h"
#include "runtime/memory.h"

static int64_t get(const gn_graph *g, gn_graph_array k, int64_t i)
{
    return gn_index_get(g->array[k], g->index, i);
}
static void set(gn_graph *g, gn_graph_array k, int64_t i, int64_t v)
{
    gn_index_set(g->array[k], g->index, i, v);
}

/* Sets of rows --------------------------------------------------------------------------------- */

gn_status *gn_row_set_new(int64_t rows, gn_row_set *out)
{
    int64_t words = rows / 64 + 1;
    void *p;
    GN_TRY(gn_block_zeroed(words, 2 * sizeof(int64_t), "sets of rows", &p));
    *out = (gn_row_set){.words = words, .bit = p, .rank = (int64_t *)p + words};
    return NULL;
}

void gn_row_set_free(gn_row_set *s) { gn_block_free(s->bit); }

int64_t gn_row_set_count(gn_row_set *s)
{
    int64_t n = 0;
    for (int64_t w = 0; w < s->words; w++) {
        s->rank[w] = n;
        n += gn_ones(s->bit[w]);
    }
    return n;
}

void gn_row_set_add_picked(gn_row_set *s, const gn_graph *r)
{
    bool filled = r->array[GN_GRAPH_FROM] && r->picks;
    for (int64_t k = 0; k < r->n_edge; k++)
        if (!filled || get(r, GN_GRAPH_FROM, k) >= 0) gn_row_set_add(s, get(r, GN_GRAPH_COL, k));
}

/* Picks of named ends -------------------------------------------------------------------------- */

static void add_ends(gn_row_set *s, const gn_graph *g, int ends)
{
    for (int64_t e = 0; ends & 1 && e < g->n_edge; e++) gn_row_set_add(s, get(g, GN_GRAPH_COL, e));
    gn_edge_walk w = {.g = g};
    for (int64_t e = 0; ends & 2 && e < g->n_edge; e++) gn_row_set_add(s, gn_edge_row(&w, e));
}

/* The rows of the set where `bits` is 0, those that are not in it where all its bits are set; from
 * place k of the pick on.  Where that ends. */
static int64_t put_rows(const gn_row_set *s, uint64_t bits, int64_t rows, int64_t k, gn_graph *g)
{
    for (int64_t w = 0; w < s->words; w++)
        for (uint64_t left = s->bit[w] ^ bits; left && k < g->n_edge; left &= left - 1, k++) {
            int64_t v = 64 * w + gn_ones((left & (~left + 1)) - 1);
            if (v >= rows) return k;
            set(g, GN_GRAPH_COL, k, v);
            set(g, GN_GRAPH_POS, k, k);
            set(g, GN_GRAPH_FROM, k, bits ? -1 : k);
            set(g, GN_GRAPH_ROW_PTR, k + 1, k + 1);
        }
    return k;
}

static gn_status *check(const gn_graph *g, int ends, const gn_graph *s)
{
    int64_t rows = ends & 1 ? g->n_src : g->n_dst;
    if (ends == 3 && g->n_src != g->n_dst)
        GN_FAIL(GN_ERR_DATA, "ends: the graph goes from %lld nodes to %lld others",
                (long long)g->n_src, (long long)g->n_dst);
    if (s && (!s->picks || s->n_src != rows))
        GN_FAIL(GN_ERR_DATA, "ends: the other pick is of %lld rows, not of %lld",
                (long long)s->n_src, (long long)rows);
    return NULL;
}

gn_status *gn_graph_ends(const gn_graph *g, int ends, int64_t added, const gn_graph *s,
                         gn_graph **out)
{
    int64_t rows = ends & 1 ? g->n_src : g->n_dst, n;
    gn_row_set named;
    *out = NULL;
    GN_TRY(check(g, ends, s));
    if (__builtin_mul_overflow(g->n_edge, added, &n) ||
        __builtin_add_overflow(n, s ? s->n_edge : 0, &n) || n > rows)
        n = rows;
    gn_elem index = gn_graph_index_for(rows, n, n);
    if (g->index == GN_I64 || (s && s->index == GN_I64)) index = GN_I64;
    GN_TRY(gn_row_set_new(rows, &named));
    add_ends(&named, g, ends);
    if (s) gn_row_set_add_picked(&named, s);
    gn_status *e = NULL;
    if (gn_row_set_count(&named) > n)
        e = GN_ERROR(GN_ERR_INTERNAL, "ends: more than %lld rows are named", (long long)n);
    if (!e) e = gn_graph_blank(rows, n, n, index, out);
    if (!e) e = gn_graph_array_new(*out, GN_GRAPH_FROM);
    if (!e) {
        int64_t k = put_rows(&named, 0, rows, 0, *out);
        (void)put_rows(&named, ~(uint64_t)0, rows, k, *out);
        (*out)->picks = (*out)->derived = true;
    }
    gn_row_set_free(&named);
    if (!e) return NULL;
    gn_graph_free(*out);
    *out = NULL;
    return e;
}
