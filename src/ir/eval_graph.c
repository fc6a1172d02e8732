/* Evaluator: graphs, as sorted edge lists.  An implementation of its own, independent of the
 * runtime's. */
#include "base/draw.h"
#include "ir/eval_impl.h"

#include <string.h>

/* Edges in the user's order to a graph; from[k] (may be NULL) goes along. */
gir_coo *gir_sort_edges(gn_arena *a, int64_t n_src, int64_t n_dst, int64_t n, const int64_t *src,
                        const int64_t *dst, const int64_t *from)
{
    gir_coo *g = GN_NEW(a, gir_coo);
    *g = (gir_coo){.n_src = n_src, .n_dst = n_dst, .n_edge = n};
    g->src = GN_NEW_N(a, int64_t, n);
    g->dst = GN_NEW_N(a, int64_t, n);
    g->pos = GN_NEW_N(a, int64_t, n);
    if (from) g->from = GN_NEW_N(a, int64_t, n);
    int64_t *next = GN_NEW_N(a, int64_t, n_dst + 1);
    for (int64_t k = 0; k < n; k++) next[dst[k] + 1]++;
    for (int64_t v = 0; v < n_dst; v++) next[v + 1] += next[v];
    for (int64_t k = 0; k < n; k++) {
        int64_t at = next[dst[k]]++;
        g->src[at] = src[k];
        g->dst[at] = dst[k];
        g->pos[at] = k;
        if (from) g->from[at] = from[k];
    }
    return g;
}

gir_coo *gir_coo_new(gn_arena *a, int64_t n_src, int64_t n_dst, int64_t n_edge, const int64_t *src,
                     const int64_t *dst)
{
    return gir_sort_edges(a, n_src, n_dst, n_edge, src, dst, NULL);
}

/* An edge list in the user's order, being made. */
typedef struct edge_list {
    int64_t n, *src, *dst, *from;
} edge_list;

static edge_list list_new(gn_arena *a, int64_t capacity)
{
    return (edge_list){0, GN_NEW_N(a, int64_t, capacity), GN_NEW_N(a, int64_t, capacity),
                       GN_NEW_N(a, int64_t, capacity)};
}

static void list_add(edge_list *l, int64_t src, int64_t dst, int64_t from)
{
    l->src[l->n] = src;
    l->dst[l->n] = dst;
    l->from[l->n++] = from;
}

/* The parent's edges in the user's order. */
static int64_t *user_order(gn_arena *a, const gir_coo *g)
{
    int64_t *order = GN_NEW_N(a, int64_t, g->n_edge);
    for (int64_t e = 0; e < g->n_edge; e++) order[g->pos[e]] = e;
    return order;
}

/* The parent's list without loops where `drop`, then a loop at every node where `add`.  A loop that
 * was dropped gives its place to the new one at its node: the last does where there are several. */
static gn_status *with_loops(gir_eval_t *e, bool drop, bool add)
{
    const gir_coo *g = gir_arg(e, 0)->graph;
    const int64_t *order = user_order(e->arena, g);
    edge_list l = list_new(e->arena, g->n_edge + g->n_dst);
    int64_t *dropped = GN_NEW_N(e->arena, int64_t, g->n_dst);
    memset(dropped, -1, (size_t)g->n_dst * sizeof *dropped);
    for (int64_t k = 0; k < g->n_edge; k++) {
        int64_t at = order[k];
        if (drop && g->src[at] == g->dst[at])
            dropped[g->dst[at]] = at;
        else
            list_add(&l, g->src[at], g->dst[at], at);
    }
    for (int64_t v = 0; add && v < g->n_dst; v++) list_add(&l, v, v, dropped[v]);
    e->out->graph = gir_sort_edges(e->arena, g->n_src, g->n_dst, l.n, l.src, l.dst, l.from);
    return NULL;
}

gn_status *gir_eval_SELF_LOOPS(gir_eval_t *e) { return with_loops(e, false, true); }
gn_status *gir_eval_REMOVE_LOOPS(gir_eval_t *e) { return with_loops(e, true, false); }
gn_status *gir_eval_REMAINING_LOOPS(gir_eval_t *e) { return with_loops(e, true, true); }

gn_status *gir_eval_REVERSE(gir_eval_t *e)
{
    const gir_coo *g = gir_arg(e, 0)->graph;
    const int64_t *order = user_order(e->arena, g);
    edge_list l = list_new(e->arena, g->n_edge);
    for (int64_t k = 0; k < g->n_edge; k++)
        list_add(&l, g->dst[order[k]], g->src[order[k]], order[k]);
    e->out->graph = gir_sort_edges(e->arena, g->n_dst, g->n_src, l.n, l.src, l.dst, l.from);
    gir_keep_groups(e, g);
    return NULL;
}

gn_status *gir_eval_PATTERN(gir_eval_t *e)
{
    const gir_value *x = gir_arg(e, 0);
    edge_list l = list_new(e->arena, gir_count(x));
    for (int64_t i = 0; i < gir_count(x); i++)
        if (x->v[i] != 0) list_add(&l, i % x->cols, i / x->cols, -1);
    e->out->graph = gir_sort_edges(e->arena, x->cols, x->rows, l.n, l.src, l.dst, NULL);
    return NULL;
}

/* The pick of the rows that are marked. */
static gir_coo *pick(gn_arena *a, int64_t n, const bool *marked)
{
    int64_t m = 0, k = 0;
    for (int64_t v = 0; v < n; v++) m += marked[v];
    int64_t *src = GN_NEW_N(a, int64_t, m), *dst = GN_NEW_N(a, int64_t, m);
    for (int64_t v = 0; v < n; v++) {
        if (!marked[v]) continue;
        src[k] = v;
        dst[k] = k;
        k++;
    }
    return gir_coo_new(a, n, m, m, src, dst);
}

gn_status *gir_eval_SUBSET(gir_eval_t *e)
{
    const gir_value *mask = gir_arg(e, 0);
    bool *marked = GN_NEW_N(e->arena, bool, mask->rows);
    for (int64_t v = 0; v < mask->rows; v++) marked[v] = mask->v[v] != 0;
    e->out->graph = pick(e->arena, mask->rows, marked);
    if (gir_node_at_hand(e)->attr.i[0]) gir_set_apart(e, 1);
    return NULL;
}

gn_status *gir_eval_GROW(gir_eval_t *e)
{
    int n = gir_node_at_hand(e)->n_in, end = (int)gir_node_at_hand(e)->attr.i[0];
    const gir_coo *r = n > 1 ? gir_arg(e, 0)->graph : NULL, *g = gir_arg(e, n > 1)->graph,
                  *also = n > 2 ? gir_arg(e, 2)->graph : NULL;
    if (g->group) return gir_grow_apart(e, g, also, end);
    int64_t rows = end == GIR_SRC ? g->n_src : g->n_dst,
            others = end == GIR_SRC ? g->n_dst : g->n_src;
    bool *marked = GN_NEW_N(e->arena, bool, others), *more = GN_NEW_N(e->arena, bool, rows);
    for (int64_t k = 0; r && k < r->n_edge; k++) marked[r->src[k]] = true;
    for (int64_t k = 0; also && k < also->n_edge; k++) more[also->src[k]] = true;
    for (int64_t k = 0; k < g->n_edge; k++)
        if (!r || marked[end == GIR_SRC ? g->dst[k] : g->src[k]])
            more[end == GIR_SRC ? g->src[k] : g->dst[k]] = true;
    e->out->graph = pick(e->arena, rows, more);
    return NULL;
}

static void mark_ends(const gir_coo *g, int64_t ends, bool *marked)
{
    for (int64_t k = 0; k < g->n_edge; k++) {
        if (ends & 1) marked[g->src[k]] = true;
        if (ends & 2) marked[g->dst[k]] = true;
    }
}

gn_status *gir_eval_ENDS(gir_eval_t *e)
{
    const gir_node *n = gir_node_at_hand(e);
    const gir_coo *g = gir_arg(e, 0)->graph, *s = n->n_in > 1 ? gir_arg(e, 1)->graph : NULL;
    int64_t rows = n->attr.i[0] & 1 ? g->n_src : g->n_dst, k = 0;
    int64_t all = g->n_edge * gir_new_ends(e->p, e->v) + (s ? s->n_edge : 0);
    if (all > rows) all = rows;
    bool *marked = GN_NEW_N(e->arena, bool, rows);
    mark_ends(g, n->attr.i[0], marked);
    for (int64_t i = 0; s && i < s->n_edge; i++)
        if (s->from[i] >= 0) marked[s->src[i]] = true;
    int64_t *src = GN_NEW_N(e->arena, int64_t, all), *dst = GN_NEW_N(e->arena, int64_t, all),
            *from = GN_NEW_N(e->arena, int64_t, all);
    for (int fill = 0; fill < 2; fill++)
        for (int64_t v = 0; v < rows && k < all; v++) {
            if (marked[v] == (bool)fill) continue;
            src[k] = v;
            dst[k] = k;
            from[k] = fill ? -1 : k;
            k++;
        }
    gir_coo *pick = gir_coo_new(e->arena, rows, all, all, src, dst);
    pick->from = from;
    e->out->graph = pick;
    return NULL;
}

/* Which row of a pick is this row?  -1: not picked. */
static int64_t *places(gn_arena *a, const gir_coo *r)
{
    int64_t *at = GN_NEW_N(a, int64_t, r->n_src);
    for (int64_t v = 0; v < r->n_src; v++) at[v] = -1;
    for (int64_t k = 0; k < r->n_edge; k++) at[r->src[k]] = k;
    return at;
}

/* Between the rows of g, with no edges yet and room for n of its. */
gir_coo *gir_edges_of(gn_arena *a, const gir_coo *g, int64_t n)
{
    gir_coo *d = GN_NEW(a, gir_coo);
    *d = (gir_coo){.n_src = g->n_src, .n_dst = g->n_dst};
    int64_t **const array[] = {&d->src, &d->dst, &d->pos, &d->from};
    for (int k = 0; k < 4; k++) *array[k] = GN_NEW_N(a, int64_t, n + 1);
    return d;
}

/* Edge `from` of g, which keeps its place in the user's list. */
void gir_keep_edge(gir_coo *d, const gir_coo *g, int64_t from, int64_t src, int64_t dst)
{
    d->src[d->n_edge] = src;
    d->dst[d->n_edge] = dst;
    d->pos[d->n_edge] = g->pos[from];
    d->from[d->n_edge++] = from;
}

gn_status *gir_eval_RESTRICT(gir_eval_t *e)
{
    const gir_node *n = gir_node_at_hand(e);
    const gir_coo *g = gir_arg(e, 0)->graph, *src = NULL, *dst = NULL;
    if (n->attr.i[0] & 1) src = gir_arg(e, 1)->graph;
    if (n->attr.i[0] & 2) dst = gir_arg(e, n->n_in - 1)->graph;
    if (src ? src->group : g->group) return gir_restrict_apart(e, g, src, dst);
    const int64_t *src_at = src ? places(e->arena, src) : NULL,
                  *dst_at = dst ? places(e->arena, dst) : NULL;
    gir_coo *out = gir_edges_of(e->arena, g, g->n_edge);
    out->n_src = src ? src->n_edge : g->n_src;
    out->n_dst = dst ? dst->n_edge : g->n_dst;
    for (int64_t k = 0; k < g->n_edge; k++) {
        int64_t s = src ? src_at[g->src[k]] : g->src[k], d = dst ? dst_at[g->dst[k]] : g->dst[k];
        if (s < 0 || d < 0) continue;
        gir_keep_edge(out, g, k, s, d);
    }
    if (gir_is_pick(e->p, e->v) && out->n_edge != g->n_edge)
        GN_FAIL(GN_ERR_DATA,
                "restrict: %lld of %lld picked rows are not among those of the other pick",
                (long long)(g->n_edge - out->n_edge), (long long)g->n_edge);
    e->out->graph = out;
    return NULL;
}

gn_status *gir_eval_FILTER(gir_eval_t *e)
{
    const gir_coo *g = gir_arg(e, 0)->graph;
    const int64_t *order = user_order(e->arena, g);
    edge_list l = list_new(e->arena, g->n_edge);
    for (int64_t k = 0; k < g->n_edge; k++) {
        int64_t at = order[k];
        if (gir_arg(e, 1)->v[at] != 0) list_add(&l, g->src[at], g->dst[at], at);
    }
    e->out->graph = gir_sort_edges(e->arena, g->n_src, g->n_dst, l.n, l.src, l.dst, l.from);
    gir_keep_groups(e, g);
    if (gir_node_at_hand(e)->attr.i[0]) gir_set_apart(e, 2);
    return NULL;
}

gn_status *gir_eval_INDEX(gir_eval_t *e)
{
    const gir_value *i = gir_arg(e, 0);
    const gir_type *t = &gir_node_at_hand(e)->type;
    const gir_space *to = &e->p->spaces.p[t->dst], *of = &e->p->spaces.p[t->src];
    const int64_t *pos = to->kind == GIR_EDGE ? e->values[to->graph].graph->pos : NULL;
    int64_t n = e->rows[t->src];
    gir_coo *g = GN_NEW(e->arena, gir_coo);
    if (n < 0) GN_FAIL(GN_ERR_DATA, "no input tells how many rows %s has", of->name);
    *g = (gir_coo){.n_src = n, .n_dst = i->rows, .n_edge = i->rows};
    g->src = GN_NEW_N(e->arena, int64_t, i->rows);
    g->dst = GN_NEW_N(e->arena, int64_t, i->rows);
    g->pos = GN_NEW_N(e->arena, int64_t, i->rows);
    for (int64_t k = 0; k < i->rows; k++) {
        g->pos[k] = pos ? pos[k] : k;
        g->src[k] = gir_to_i64(i->v[k]);
        g->dst[k] = k;
        if (g->src[k] < 0 || g->src[k] >= n)
            GN_FAIL(GN_ERR_DATA, "index: element %lld is %lld, out of range: %s has %lld rows",
                    (long long)g->pos[k], (long long)g->src[k], of->name, (long long)n);
    }
    e->out->graph = g;
    return NULL;
}

/* Edges of g by destination and number, those that agree in their order. */
static int64_t *grouped_order(gn_arena *a, const gir_coo *g, const double *k)
{
    int64_t *at = GN_NEW_N(a, int64_t, g->n_edge + 1);
    for (int64_t e = 0; e < g->n_edge; e++) {
        int64_t to = e;
        for (; to > 0 && g->dst[at[to - 1]] == g->dst[e] && k[at[to - 1]] > k[e]; to--)
            at[to] = at[to - 1];
        at[to] = e;
    }
    return at;
}

gn_status *gir_eval_GROUP(gir_eval_t *e)
{
    const gir_coo *g = gir_arg(e, 0)->graph;
    const double *k = gir_arg(e, 1)->v;
    const int64_t *at = grouped_order(e->arena, g, k);
    gir_coo *out = gir_edges_of(e->arena, g, g->n_edge);
    int64_t rows = 0;
    for (int64_t i = 0; i < g->n_edge; i++) {
        bool same = i > 0 && g->dst[at[i - 1]] == g->dst[at[i]] && k[at[i - 1]] == k[at[i]];
        rows += !same;
        gir_keep_edge(out, g, at[i], g->src[at[i]], rows - 1);
    }
    out->n_dst = rows;
    e->out->graph = out;
    return NULL;
}

/* A pick for the rows of a group; from[t]: an edge of each. */
static gir_coo *pick_for_groups(gir_eval_t *e, int64_t n_src, int64_t **from)
{
    const gir_coo *h = gir_arg(e, 0)->graph;
    gir_coo *out = GN_NEW(e->arena, gir_coo);
    *out = (gir_coo){.n_src = n_src, .n_dst = h->n_dst, .n_edge = h->n_dst};
    int64_t **const array[] = {&out->src, &out->dst, &out->pos, from};
    for (int k = 0; k < 4; k++) *array[k] = GN_NEW_N(e->arena, int64_t, h->n_dst + 1);
    for (int64_t i = 0; i < h->n_edge; i++) (*from)[h->dst[i]] = h->from[i];
    for (int64_t t = 0; t < h->n_dst; t++) out->dst[t] = out->pos[t] = t;
    return out;
}

gn_status *gir_eval_GROUP_ROWS(gir_eval_t *e)
{
    const gir_coo *g = gir_arg(e, 1)->graph;
    int64_t *from;
    gir_coo *out = pick_for_groups(e, g->n_dst, &from);
    for (int64_t t = 0; t < out->n_dst; t++) out->src[t] = g->dst[from[t]];
    e->out->graph = out;
    return NULL;
}

gn_status *gir_eval_GROUP_NUMBERS(gir_eval_t *e)
{
    const gir_coo *g = gir_arg(e, 1)->graph;
    const gir_value *k = gir_arg(e, 2);
    int64_t *from, n = e->p->spaces.p[gir_node_at_hand(e)->type.src].size;
    gir_coo *out = pick_for_groups(e, n, &from);
    for (int64_t t = 0; t < out->n_dst; t++) {
        out->src[t] = gir_to_i64(k->v[from[t]]);
        if (out->src[t] < 0 || out->src[t] >= n)
            GN_FAIL(GN_ERR_DATA, "group: edge %lld has number %lld, out of range: there are %lld",
                    (long long)g->pos[from[t]], (long long)out->src[t], (long long)n);
    }
    e->out->graph = out;
    return NULL;
}

gn_status *gir_eval_SAMPLE(gir_eval_t *e)
{
    const gir_coo *g = gir_arg(e, 0)->graph;
    const gir_attr *attr = &gir_node_at_hand(e)->attr;
    const int64_t *order = user_order(e->arena, g);
    int64_t n = attr->i[0] < g->n_edge ? attr->i[0] : g->n_edge;
    uint64_t stream = gn_draw_key((uint64_t)gir_to_i64(gir_arg(e, 1)->v[0]), (uint32_t)attr->i[1]);
    edge_list l = list_new(e->arena, n);
    for (int64_t k = 0; k < n; k++) {
        int64_t at = order[gn_draw_part(stream, k, n, g->n_edge)];
        list_add(&l, g->src[at], g->dst[at], at);
    }
    e->out->graph = gir_sort_edges(e->arena, g->n_src, g->n_dst, l.n, l.src, l.dst, l.from);
    gir_keep_groups(e, g);
    return NULL;
}

gn_status *gir_eval_CORRUPT(gir_eval_t *e)
{
    const gir_coo *g = gir_arg(e, 0)->graph;
    const gir_attr *attr = &gir_node_at_hand(e)->attr;
    const int64_t *order = user_order(e->arena, g);
    int64_t times = attr->i[0], n;
    uint64_t key = (uint64_t)gir_to_i64(gir_arg(e, 1)->v[0]),
             stream = gn_draw_key(key, (uint32_t)attr->i[2]);
    if (__builtin_mul_overflow(g->n_edge, times, &n))
        GN_FAIL(GN_ERR_NOMEM, "corrupt: %lld times %lld edges cannot be counted", (long long)times,
                (long long)g->n_edge);
    edge_list l = list_new(e->arena, n);
    for (int64_t k = 0; k < n; k++) {
        int64_t at = order[k / times], src = g->src[at], dst = g->dst[at];
        gn_draw_end(stream, (uint64_t)k, (int)attr->i[1], g->n_src, g->n_dst, &src, &dst);
        list_add(&l, src, dst, at);
    }
    e->out->graph = gir_sort_edges(e->arena, g->n_src, g->n_dst, l.n, l.src, l.dst, l.from);
    gir_keep_groups(e, g);
    return NULL;
}

gn_status *gir_eval_WITHOUT(gir_eval_t *e)
{
    const gir_coo *g = gir_arg(e, 0)->graph, *h = gir_arg(e, 1)->graph;
    bool either = gir_node_at_hand(e)->attr.i[0];
    gir_coo *out = gir_edges_of(e->arena, g, g->n_edge);
    for (int64_t k = 0; k < g->n_edge; k++) {
        bool in = false;
        for (int64_t j = 0; j < h->n_edge && !in; j++)
            in = (h->src[j] == g->src[k] && h->dst[j] == g->dst[k]) ||
                 (either && h->src[j] == g->dst[k] && h->dst[j] == g->src[k]);
        if (!in) gir_keep_edge(out, g, k, g->src[k], g->dst[k]);
    }
    e->out->graph = out;
    return NULL;
}
