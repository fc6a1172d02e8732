/* Rows that are apart: each row of a batch, or each of its edges, is a group, and what is grown for
 * it is of that group alone, so that a node that two of them reach is two rows.  Then edges may
 * count for one row and not for another: those that are no later than its own time.
 *
 * Picks have the rows of another first, in its order, and then those that are new, as edges name
 * them: a row keeps its number from one level to the next. */
#include "runtime/graph/draw_row.h"
#include "runtime/graph/graph_sort.h"
#include "runtime/graph/pair_map.h"

static int64_t get(const gn_graph *g, gn_graph_array k, int64_t i)
{
    return gn_index_get(g->array[k], g->index, i);
}
static void set(gn_graph *g, gn_graph_array k, int64_t i, int64_t v)
{
    gn_index_set(g->array[k], g->index, i, v);
}

/* Groups --------------------------------------------------------------------------------------- */

static gn_status *groups_new(gn_graph *g, int64_t n, bool of_edges, bool timed)
{
    void *p, *group = NULL, *until = NULL;
    GN_TRY(gn_block_zeroed(1, sizeof(gn_groups), "groups of rows", &p));
    gn_status *s = gn_block_new(n, sizeof(int64_t), "groups of rows", &group);
    if (!s && timed) s = gn_block_new(n, sizeof(int64_t), "times of rows", &until);
    if (s) {
        gn_block_free(group);
        gn_block_free(p);
        return s;
    }
    g->groups = p;
    *g->groups = (gn_groups){.n = n, .of_edges = of_edges, .group = group, .until = until};
    return NULL;
}

static void put_group(const gn_groups *from, int64_t i, gn_groups *to, int64_t k)
{
    to->group[k] = from->group[i];
    if (to->until) to->until[k] = from->until[i];
}

gn_status *gn_graph_set_apart(gn_graph *r, bool edges, gn_times time, bool before)
{
    GN_TRY(groups_new(r, edges ? r->n_edge : r->n_dst, edges, time.p != NULL));
    for (int64_t k = 0; k < r->groups->n; k++) {
        r->groups->group[k] = k;
        if (!time.p) continue;
        int64_t t = gn_index_get(time.p, time.elem,
                                 get(r, edges ? GN_GRAPH_FROM : GN_GRAPH_COL, k));
        r->groups->until[k] = before && t > INT64_MIN ? t - 1 : t;
    }
    return NULL;
}

gn_status *gn_graph_keep_groups(const gn_graph *g, gn_graph *d)
{
    const gn_groups *from = g->groups;
    GN_TRY(groups_new(d, d->n_edge, true, from->until != NULL));
    for (int64_t e = 0; e < d->n_edge; e++) put_group(from, get(d, GN_GRAPH_FROM, e), d->groups, e);
    return NULL;
}

/* Which group of g's an edge is of; edges are asked for in their order. */
static int64_t group_at(const gn_graph *g, gn_edge_walk *w, int64_t e)
{
    return g->groups->of_edges ? e : gn_edge_row(w, e);
}

static gn_status *drop(gn_status *s, gn_graph **out)
{
    if (!s) return NULL;
    gn_graph_free(*out);
    *out = NULL;
    return s;
}

/* Picks ---------------------------------------------------------------------------------------- */

/* A row that is picked, and of whose groups [at] it is. */
typedef struct new_row {
    int64_t node, at;
    const gn_groups *of;
} new_row;

static int64_t find_rows(const gn_graph *g, int end, const gn_graph *also, const gn_pair_map *map,
                         new_row *row)
{
    gn_edge_walk w = {.g = g}, rows = {.g = g};
    int64_t n = 0;
    for (; also && n < also->n_edge; n++) {
        int64_t node = get(also, GN_GRAPH_COL, n);
        row[n] = (new_row){node, n, also->groups};
        gn_pair_add(map, also->groups->group[n], node, n);
    }
    for (int64_t e = 0; e < g->n_edge; e++) {
        int64_t at = group_at(g, &w, e), group = g->groups->group[at];
        int64_t node = end ? gn_edge_row(&rows, e) : get(g, GN_GRAPH_COL, e);
        if (gn_pair_find(map, group, node)->a >= 0) continue;
        row[n] = (new_row){node, at, g->groups};
        gn_pair_add(map, group, node, n++);
    }
    return n;
}

static gn_status *pick(int64_t nodes, int64_t n, const new_row *row, gn_elem index, bool timed,
                       gn_graph **out)
{
    if (index == GN_I32) index = gn_graph_index_for(nodes, n, n);
    GN_TRY(gn_graph_blank(nodes, n, n, index, out));
    gn_graph *d = *out;
    d->picks = true;
    GN_TRY(groups_new(d, n, false, timed));
    for (int64_t k = 0; k < n; k++) {
        set(d, GN_GRAPH_COL, k, row[k].node);
        set(d, GN_GRAPH_POS, k, k);
        set(d, GN_GRAPH_ROW_PTR, k + 1, k + 1);
        put_group(row[k].of, row[k].at, d->groups, k);
    }
    return NULL;
}

gn_status *gn_graph_grow_apart(const gn_graph *g, int end, const gn_graph *also, gn_graph **out)
{
    gn_pair_map map;
    void *row;
    int64_t most;
    *out = NULL;
    bool apart = g->groups && (!also || (also->groups && !also->groups->of_edges));
    if (!apart || (end && !g->groups->of_edges) ||
        (also && !also->groups->until != !g->groups->until))
        GN_FAIL(GN_ERR_INTERNAL, "grow: some rows are apart, and others are not");
    if (__builtin_add_overflow(g->n_edge, also ? also->n_edge : 0, &most)) most = INT64_MAX;
    GN_TRY(gn_pair_map_new(most, &map));
    gn_status *s = gn_block_new(most, sizeof(new_row), "rows that are picked", &row);
    if (!s) {
        int64_t n = find_rows(g, end, also, &map, row);
        gn_elem index = g->index == GN_I64 || (also && also->index == GN_I64) ? GN_I64 : GN_I32;
        s = pick(end ? g->n_dst : g->n_src, n, row, index, g->groups->until != NULL, out);
        gn_block_free(row);
    }
    gn_pair_map_free(&map);
    return drop(s, out);
}

/* Graphs between picked rows --------------------------------------------------------------------
 */

static gn_status *map_rows(const gn_graph *r, gn_pair_map *out)
{
    *out = (gn_pair_map){0};
    if (!r) return NULL;
    GN_TRY(gn_pair_map_new(r->n_edge, out));
    for (int64_t k = 0; k < r->n_edge; k++)
        gn_pair_add(out, r->groups->group[k], get(r, GN_GRAPH_COL, k), k);
    return NULL;
}

/* The row of a pick, or -1; of no pick the row itself. */
static int64_t row_of(const gn_graph *r, const gn_pair_map *z, int64_t group, int64_t node)
{
    if (!r) return node;
    const gn_pair *p = gn_pair_find(z, group, node);
    return p->a < 0 ? -1 : p->number;
}

/* Edges that are left, in the order of the user's list, or that of g where its rows are apart:
 * their ends, and which those of g are; room for all. */
typedef struct end_list {
    int64_t n, *src, *dst, *edge;
} end_list;

/* Of rows that are apart, edges may come from rows that are none of their group's: those go. */
static gn_status *find_ends(const gn_graph *g, const gn_graph *src, const gn_graph *dst,
                            end_list *l)
{
    gn_pair_map from, into = {0};
    gn_edge_walk w = {.g = g}, rows = {.g = g};
    bool lost = false;
    GN_TRY(map_rows(src, &from));
    gn_status *s = map_rows(dst, &into);
    for (int64_t e = 0; !s && e < g->n_edge; e++) {
        int64_t group = g->groups->group[group_at(g, &w, e)];
        int64_t k = g->groups->of_edges ? get(g, GN_GRAPH_POS, e) : l->n;
        l->edge[k] = e;
        l->src[k] = row_of(src, &from, group, get(g, GN_GRAPH_COL, e));
        l->dst[k] = row_of(dst, &into, group, gn_edge_row(&rows, e));
        bool gone = l->src[k] < 0 && !g->groups->of_edges && !g->picks;
        lost = lost || (l->src[k] < 0 && !gone) || l->dst[k] < 0;
        l->n += !gone;
    }
    gn_pair_map_free(&from);
    gn_pair_map_free(&into);
    if (!s && lost) s = GN_ERROR(GN_ERR_INTERNAL, "restrict: an edge's end is no row of its group");
    return s;
}

/* By destinations as they were, whose edges keep their order. */
static void put_by_rows(const gn_graph *g, const end_list *l, gn_graph *d)
{
    int64_t k = 0;
    for (int64_t i = 0; i < l->n; i++) {
        set(d, GN_GRAPH_COL, i, l->src[i]);
        set(d, GN_GRAPH_POS, i, get(g, GN_GRAPH_POS, l->edge[i]));
        set(d, GN_GRAPH_FROM, i, l->edge[i]);
    }
    for (int64_t v = 0; v <= g->n_dst; v++) {
        while (k < l->n && l->edge[k] < get(g, GN_GRAPH_ROW_PTR, v)) k++;
        set(d, GN_GRAPH_ROW_PTR, v, k);
    }
}

static gn_status *put_by_list(const end_list *l, gn_graph *d)
{
    GN_TRY(gn_sort_list(d, GN_I64, l->src, l->dst));
    for (int64_t e = 0; e < d->n_edge; e++)
        set(d, GN_GRAPH_FROM, e, l->edge[get(d, GN_GRAPH_POS, e)]);
    return NULL;
}

gn_status *gn_graph_restrict_apart(const gn_graph *g, const gn_graph *src, const gn_graph *dst,
                                   gn_graph **out)
{
    void *block;
    int64_t words;
    *out = NULL;
    bool apart = g->groups && (!src || src->groups) && (!dst || dst->groups);
    if (!apart || (dst && !g->groups->of_edges))
        GN_FAIL(GN_ERR_INTERNAL, "restrict: some rows are apart, and others are not");
    if (__builtin_mul_overflow(g->n_edge, 3, &words)) words = INT64_MAX;
    GN_TRY(gn_block_new(words, sizeof(int64_t), "edges between rows apart", &block));
    int64_t *first = block;
    end_list l = {0, first, first + g->n_edge, first + 2 * g->n_edge};
    gn_status *s = find_ends(g, src, dst, &l);
    if (!s)
        s = gn_graph_derived_blank(g, src ? src->n_edge : g->n_src, dst ? dst->n_edge : g->n_dst,
                                   l.n, out);
    if (!s && g->groups->of_edges) s = put_by_list(&l, *out);
    if (!s && !g->groups->of_edges) {
        put_by_rows(g, &l, *out);
        (*out)->picks = g->picks;
    }
    gn_block_free(block);
    return drop(s, out);
}

/* Draws ---------------------------------------------------------------------------------------- */

/* The edges into a row of which some are kept [most of a row]. */
typedef struct candidates {
    int64_t n, *edge;
    gn_draw_room room;
    void *block;
} candidates;

/* Of which of the edges that are bound it comes; -1: it is a new loop. */
static int64_t origin(const gn_drawing *how, int64_t e)
{
    for (int k = 0; k < how->n_way && e >= 0; k++)
        e = gn_index_get(how->way[k]->array[GN_GRAPH_FROM], how->way[k]->index, e);
    return e;
}

static int64_t time_of(const gn_graph *g, const gn_drawing *how, int64_t e)
{
    if (!how->time.p) return 0;
    int64_t at = origin(how, e);
    if (at >= 0 && how->time_of_rows) at = get(g, GN_GRAPH_COL, e);
    return at < 0 ? INT64_MIN : gn_index_get(how->time.p, how->time.elem, at);
}

static gn_status *room_new(const gn_graph *g, const gn_graph *r, const gn_drawing *how,
                           candidates *z)
{
    int64_t most = 0, few, words;
    for (int64_t i = 0; i < r->n_edge; i++) {
        int64_t v = get(r, GN_GRAPH_COL, i);
        int64_t n = get(g, GN_GRAPH_ROW_PTR, v + 1) - get(g, GN_GRAPH_ROW_PTR, v);
        if (n > most) most = n;
    }
    few = how->how == GN_DRAW_REPLACE || how->most < most ? how->most : most;
    if (__builtin_add_overflow(few, 5 * most + 1, &words)) words = INT64_MAX;
    GN_TRY(gn_block_new(words, sizeof(int64_t), "drawn edges", &z->block));
    z->edge = z->block;
    z->room.owner = z->edge + most;
    z->room.time = z->room.owner + most;
    z->room.key = (double *)(void *)(z->room.time + most);
    z->room.weight = (float *)(void *)(z->room.key + most);
    z->room.few = (int64_t *)(void *)z->room.key + 2 * most;
    return NULL;
}

/* Does an edge count at all for the row i of r? */
static bool is_in_time(const gn_graph *g, const gn_graph *r, const gn_drawing *how, int64_t i,
                       int64_t e)
{
    if (how->loops == GN_LOOPS_ALWAYS && get(g, GN_GRAPH_COL, e) == get(r, GN_GRAPH_COL, i))
        return true;
    return !r->groups->until || !how->time.p || time_of(g, how, e) <= r->groups->until[i];
}

static bool is_loop(const gn_graph *g, const gn_drawing *how, int64_t v, int64_t e)
{
    return how->loops && get(g, GN_GRAPH_COL, e) == v;
}

/* Those of row i that are no loops.  GN_ERR_DATA: a weight is negative. */
static gn_status *find_candidates(const gn_graph *g, const gn_graph *r, const gn_drawing *how,
                                  int64_t i, candidates *z)
{
    int64_t v = get(r, GN_GRAPH_COL, i), end = get(g, GN_GRAPH_ROW_PTR, v + 1);
    gn_graph_array owner = how->how == GN_DRAW_LABOR ? GN_GRAPH_COL : GN_GRAPH_POS;
    z->n = 0;
    for (int64_t e = get(g, GN_GRAPH_ROW_PTR, v); e < end; e++) {
        if (is_loop(g, how, v, e) || !is_in_time(g, r, how, i, e)) continue;
        int64_t k = z->n++, from = how->weight ? origin(how, e) : 0;
        z->edge[k] = e;
        z->room.owner[k] = get(g, owner, e);
        z->room.time[k] = time_of(g, how, e);
        z->room.weight[k] = how->weight && from >= 0 ? how->weight[from] : 1;
        if (!(z->room.weight[k] >= 0))
            GN_FAIL(GN_ERR_DATA, "draw: an edge weighs %g", (double)z->room.weight[k]);
    }
    return NULL;
}

static int64_t put(const gn_graph *g, int64_t e, gn_graph *d, int64_t k)
{
    set(d, GN_GRAPH_COL, k, get(g, GN_GRAPH_COL, e));
    set(d, GN_GRAPH_POS, k, get(g, GN_GRAPH_POS, e));
    set(d, GN_GRAPH_FROM, k, e);
    return k + 1;
}

/* `count` of the candidates into row i of r, and loops, from edge k of d on; where they end. */
static int64_t draw_row(const gn_graph *g, const gn_graph *r, const gn_drawing *how, int64_t i,
                        const candidates *z, int64_t count, gn_graph *d, int64_t k)
{
    int64_t v = get(r, GN_GRAPH_COL, i), end = get(g, GN_GRAPH_ROW_PTR, v + 1), next = 0;
    uint64_t stream = gn_draw_key(gn_draw_key(how->key, how->site), (uint32_t)r->groups->group[i]);
    bool all = gn_draws_all(how, count, z->n);
    if (!all) gn_draw_choose(how, stream, v, count, z->n, &z->room);
    for (int64_t e = get(g, GN_GRAPH_ROW_PTR, v); e < end; e++) {
        if (is_loop(g, how, v, e) && is_in_time(g, r, how, i, e)) k = put(g, e, d, k);
        for (; next < count && z->edge[all ? next : z->room.few[next]] == e; next++)
            k = put(g, e, d, k);
    }
    return k;
}

static int64_t count_loops(const gn_graph *g, const gn_graph *r, const gn_drawing *how, int64_t i)
{
    int64_t v = get(r, GN_GRAPH_COL, i), end = get(g, GN_GRAPH_ROW_PTR, v + 1), n = 0;
    for (int64_t e = get(g, GN_GRAPH_ROW_PTR, v); e < end && how->loops; e++)
        n += is_loop(g, how, v, e) && is_in_time(g, r, how, i, e);
    return n;
}

/* The edges that are kept, in d where it is given; *n: how many. */
static gn_status *draw_rows(const gn_graph *g, const gn_graph *r, const gn_drawing *how,
                            candidates *z, gn_graph *d, int64_t *n)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < r->n_edge; i++) {
        GN_TRY(find_candidates(g, r, how, i, z));
        int64_t count = gn_draw_number(how, z->n, z->room.weight);
        if (d) {
            kept = draw_row(g, r, how, i, z, count, d, kept);
            set(d, GN_GRAPH_ROW_PTR, i + 1, kept);
        } else if (__builtin_add_overflow(kept, count + count_loops(g, r, how, i), &kept)) {
            GN_FAIL(GN_ERR_NOMEM, "draw: %lld edges of each of %lld rows cannot be counted",
                    (long long)how->most, (long long)r->n_edge);
        }
    }
    *n = kept;
    return NULL;
}

gn_status *gn_graph_draw_apart(const gn_graph *g, const gn_graph *r, const gn_drawing *how,
                               gn_graph **out)
{
    candidates z = {0};
    int64_t n;
    *out = NULL;
    if (r->groups->of_edges || (how->how == GN_DRAW_LAST && !how->time.p))
        GN_FAIL(GN_ERR_INTERNAL, "draw: rows are apart by no known way");
    GN_TRY(room_new(g, r, how, &z));
    gn_status *s = draw_rows(g, r, how, &z, NULL, &n);
    if (!s) s = gn_graph_derived_blank(g, g->n_src, r->n_dst, n, out);
    if (!s) s = groups_new(*out, r->n_dst, false, r->groups->until != NULL);
    if (!s) s = draw_rows(g, r, how, &z, *out, &n);
    for (int64_t i = 0; !s && i < r->n_dst; i++) put_group(r->groups, i, (*out)->groups, i);
    gn_block_free(z.block);
    return drop(s, out);
}
