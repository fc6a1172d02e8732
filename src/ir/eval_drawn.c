/* Evaluator: edges that are drawn, and rows and edges that are apart. */
#include "base/draw_weighted.h"
#include "ir/eval_impl.h"

/* The edge of the bound graph that an edge of g comes of; -1: it is a new loop. */
static int64_t origin(const gir_eval_t *e, gir_id g, int64_t edge)
{
    for (; gir_at(e->p, g)->op != GIR_GRAPH && edge >= 0; g = gir_in(e->p, g, 0))
        edge = e->values[g].graph->from[edge];
    return edge;
}

/* Of an edge of the graph that is drawn of: its weight, 1 where there are none, or of a new loop.
 */
static float weight_of(const gir_eval_t *e, int64_t edge)
{
    gir_id w = gir_draw_weight(e->p, e->v);
    int64_t at = w ? origin(e, gir_in(e->p, e->v, 0), edge) : -1;
    return at < 0 ? 1 : (float)e->values[w].v[at];
}

/* Its time; of a new loop the first that there is. */
static int64_t time_of(const gir_eval_t *e, int64_t edge)
{
    gir_id t = gir_draw_time(e->p, e->v), g = gir_in(e->p, e->v, 0);
    if (!t) return 0;
    bool of_rows = gir_type_of(e->p, t)->space == gir_type_of(e->p, g)->src;
    int64_t at = origin(e, g, edge);
    if (at >= 0 && of_rows) at = e->values[g].graph->src[edge];
    return at < 0 ? INT64_MIN : gir_to_i64(e->values[t].v[at]);
}

/* Edges into a row of which some are kept. */
typedef struct candidates {
    int64_t n, row;
    uint64_t stream;
    int64_t *edge, *source, *place, *time, *few;
    float *weight;
} candidates;

static candidates room_for(gn_arena *a, int64_t n, int64_t few)
{
    return (candidates){.edge = GN_NEW_N(a, int64_t, n + 1),
                        .source = GN_NEW_N(a, int64_t, n + 1),
                        .place = GN_NEW_N(a, int64_t, n + 1),
                        .time = GN_NEW_N(a, int64_t, n + 1),
                        .few = GN_NEW_N(a, int64_t, few + 1),
                        .weight = GN_NEW_N(a, float, n + 1)};
}

static gn_status *add(const gir_eval_t *e, const gir_coo *g, int64_t edge, candidates *z)
{
    float w = weight_of(e, edge);
    z->edge[z->n] = edge;
    z->source[z->n] = g->src[edge];
    z->place[z->n] = g->pos[edge];
    z->time[z->n] = time_of(e, edge);
    z->weight[z->n++] = w;
    if (!(w >= 0)) GN_FAIL(GN_ERR_DATA, "draw: an edge weighs %g", (double)w);
    return NULL;
}

/* Which of them are drawn; how many. */
static int64_t draw_few(gir_eval_t *e, const candidates *z)
{
    const gir_attr *attr = &gir_node_at_hand(e)->attr;
    gn_draw_how how = (gn_draw_how)attr->i[3];
    int64_t most = attr->i[0], n = z->n, count = n < most ? n : most;
    bool weighted = gir_draw_weight(e->p, e->v) != 0;
    double *key = GN_NEW_N(e->arena, double, n + 1);
    if (how == GN_DRAW_REPLACE) count = n ? most : 0;
    if (weighted) count = gn_draw_count(how, most, n, z->weight);
    if (weighted && how == GN_DRAW_REPLACE && count)
        gn_draw_weighted_again(z->stream, z->row, most, n, z->weight, key, z->few);
    else if (weighted)
        gn_draw_weighted_few(z->stream, count, n, how == GN_DRAW_LABOR ? z->source : z->place,
                             z->weight, key, z->few);
    else if (how == GN_DRAW_REPLACE && count)
        gn_draw_again(z->stream, z->row, most, n, z->few);
    else if (n <= most)
        for (int64_t k = 0; k < n; k++) z->few[k] = k;
    else if (how == GN_DRAW_LABOR)
        gn_draw_shared(z->stream, most, n, z->source, z->few);
    else if (how == GN_DRAW_LAST)
        gn_draw_last(most, n, z->time, z->few);
    else
        gn_draw_few(z->stream, z->row, most, n, z->few);
    return count;
}

/* How often each of g's edges is kept, of those into row v, no later than `until`. */
static gn_status *draw_row(gir_eval_t *e, const gir_coo *g, int64_t v, int64_t until, candidates *z,
                           int64_t *kept)
{
    const gir_attr *attr = &gir_node_at_hand(e)->attr;
    z->n = 0;
    z->row = v;
    for (int64_t k = 0; k < g->n_edge; k++) {
        kept[k] = 0;
        bool always = attr->i[2] == GN_LOOPS_ALWAYS && g->src[k] == v;
        if (g->dst[k] != v || (!always && time_of(e, k) > until)) continue;
        if (attr->i[2] && g->src[k] == v)
            kept[k] = 1;
        else
            GN_TRY(add(e, g, k, z));
    }
    int64_t drawn = draw_few(e, z);
    for (int64_t k = 0; k < drawn; k++) kept[z->edge[z->few[k]]]++;
    return NULL;
}

static void keep(const gir_coo *g, const int64_t *kept, int64_t row, gir_coo *out)
{
    for (int64_t k = 0; k < g->n_edge; k++)
        for (int64_t j = 0; j < kept[k]; j++) gir_keep_edge(out, g, k, g->src[k], row);
}

gn_status *gir_eval_DRAW(gir_eval_t *e)
{
    const gir_coo *g = gir_arg(e, 0)->graph, *r = gir_arg(e, 2)->graph;
    const gir_attr *attr = &gir_node_at_hand(e)->attr;
    int64_t n_kept = 0, *kept = GN_NEW_N(e->arena, int64_t, g->n_edge + 1);
    int64_t few = attr->i[3] == GN_DRAW_REPLACE ? attr->i[0] : g->n_edge;
    uint64_t stream = gn_draw_key((uint64_t)gir_to_i64(gir_arg(e, 1)->v[0]), (uint32_t)attr->i[1]);
    candidates z = room_for(e->arena, g->n_edge, few);
    gir_coo *out = NULL;
    for (int fill = 0; fill < 2; fill++) { /* counted first */
        if (fill) out = gir_edges_of(e->arena, g, n_kept);
        for (int64_t i = 0; i < r->n_edge; i++) {
            z.stream = r->group ? gn_draw_key(stream, (uint32_t)r->group[i]) : stream;
            GN_TRY(draw_row(e, g, r->src[i], r->until ? r->until[i] : INT64_MAX, &z, kept));
            for (int64_t k = 0; k < g->n_edge && !fill; k++) n_kept += kept[k];
            if (fill) keep(g, kept, r->group ? i : r->src[i], out);
        }
    }
    if (r->group) out->n_dst = r->n_dst;
    out->group = r->group;
    out->until = r->until;
    e->out->graph = out;
    return NULL;
}

/* Apart ---------------------------------------------------------------------------------------- */

void gir_set_apart(gir_eval_t *e, int time)
{
    const gir_node *n = gir_node_at_hand(e);
    gir_coo *g = (gir_coo *)(uintptr_t)e->out->graph;
    bool timed = n->n_in > time;
    int64_t count = g->from ? g->n_edge : g->n_dst;
    g->edges_apart = g->from != NULL; /* a FILTER */
    g->group = GN_NEW_N(e->arena, int64_t, count + 1);
    if (timed) g->until = GN_NEW_N(e->arena, int64_t, count + 1);
    for (int64_t k = 0; k < count; k++) {
        g->group[k] = k;
        if (!timed) continue;
        int64_t t = gir_to_i64(gir_arg(e, time)->v[g->from ? g->from[k] : g->src[k]]);
        g->until[k] = n->attr.i[0] == 2 && t > INT64_MIN ? t - 1 : t;
    }
}

void gir_keep_groups(gir_eval_t *e, const gir_coo *g)
{
    gir_coo *d = (gir_coo *)(uintptr_t)e->out->graph;
    if (!g->edges_apart) return;
    d->edges_apart = true;
    d->group = GN_NEW_N(e->arena, int64_t, d->n_edge + 1);
    if (g->until) d->until = GN_NEW_N(e->arena, int64_t, d->n_edge + 1);
    for (int64_t k = 0; k < d->n_edge; k++) {
        d->group[k] = g->group[d->from[k]];
        if (g->until) d->until[k] = g->until[d->from[k]];
    }
}

/* The number of the group's row of a pick, or -1. */
static int64_t find(const gir_coo *r, int64_t n, int64_t group, int64_t node)
{
    for (int64_t k = 0; k < n; k++)
        if (r->group[k] == group && r->src[k] == node) return k;
    return -1;
}

static void add_row(gir_coo *r, int64_t node, const gir_coo *of, int64_t at)
{
    int64_t k = r->n_edge++;
    r->src[k] = node;
    r->dst[k] = r->pos[k] = k;
    r->group[k] = of->group[at];
    if (r->until) r->until[k] = of->until[at];
}

gn_status *gir_grow_apart(gir_eval_t *e, const gir_coo *g, const gir_coo *also, int end)
{
    int64_t most = g->n_edge + (also ? also->n_edge : 0);
    gir_coo *r = GN_NEW(e->arena, gir_coo);
    *r = (gir_coo){.n_src = end ? g->n_dst : g->n_src};
    int64_t **const array[] = {&r->src, &r->dst, &r->pos, &r->group, &r->until};
    for (int k = 0; k < 4 + (g->until != NULL); k++)
        *array[k] = GN_NEW_N(e->arena, int64_t, most + 1);
    for (int64_t k = 0; also && k < also->n_edge; k++) add_row(r, also->src[k], also, k);
    for (int64_t k = 0; k < g->n_edge; k++) {
        int64_t at = g->edges_apart ? k : g->dst[k], node = end ? g->dst[k] : g->src[k];
        if (find(r, r->n_edge, g->group[at], node) < 0) add_row(r, node, g, at);
    }
    r->n_dst = r->n_edge;
    e->out->graph = r;
    return NULL;
}

gn_status *gir_restrict_apart(gir_eval_t *e, const gir_coo *g, const gir_coo *src,
                              const gir_coo *dst)
{
    int64_t n = 0, *to[4];
    bool leaves = !g->edges_apart && !gir_is_pick(e->p, e->v);
    for (int k = 0; k < 4; k++) to[k] = GN_NEW_N(e->arena, int64_t, g->n_edge + 1);
    for (int64_t k = 0; k < g->n_edge; k++) {
        int64_t group = g->group[g->edges_apart ? k : g->dst[k]];
        int64_t at = g->edges_apart ? g->pos[k] : n; /* rows keep their order */
        to[0][at] = src ? find(src, src->n_edge, group, g->src[k]) : g->src[k];
        to[1][at] = dst ? find(dst, dst->n_edge, group, g->dst[k]) : g->dst[k];
        to[2][at] = k;
        bool gone = leaves && to[0][at] < 0;
        if ((to[0][at] < 0 && !gone) || to[1][at] < 0)
            GN_FAIL(GN_ERR_DATA, "restrict: an edge's end is no row of its group");
        n += !gone;
    }
    gir_coo *out = gir_sort_edges(e->arena, src ? src->n_edge : g->n_src,
                                  dst ? dst->n_edge : g->n_dst, n, to[0], to[1], to[2]);
    for (int64_t k = 0; k < n; k++) out->pos[k] = g->pos[out->from[k]];
    e->out->graph = out;
    return NULL;
}
