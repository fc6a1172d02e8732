/* What drawn edges stand for: into a row come messages along some of its edges, and a sum over them
 * counts each (all there are) / (drawn) times, but for loops that are kept besides.  Sums are then
 * those over all edges in the mean, as an evaluation has them, whatever a layer divides them by:
 * degrees, which no weights go into, are of all edges. */
#include "passes/restricter.h"

#include <string.h>

gir_id gn_times(restricter *z, gir_id x, gir_id share)
{
    gir_type t = *gir_type_of(z->to, x);
    int64_t one[GIR_MAX_RANK] = {1, 1, 1, 1, 1, 1};
    if (share && t.elem != GN_F32) {
        gir_type as = t;
        as.rank = 0;
        share = gir_append(z->to, GIR_CAST, 1, &share, NULL, &as);
    }
    if (t.rank) share = gir_broadcast(z->to, gir_reshape(z->to, share, t.rank, one), &t);
    return gir_op2(z->to, GIR_MUL, x, share);
}

/* The draw of g's edges into rows of a level; 0: all are there. */
static gir_id draw_of(restricter *z, gir_id g, int level)
{
    gir_id v = z->drawn[level][g];
    while (v && gir_at(z->to, v)->op == GIR_WITHOUT) v = gir_in(z->to, v, 0);
    bool some = v && gir_at(z->to, v)->op == GIR_DRAW && v != z->counting[level][g];
    return some ? v : 0;
}

static gir_id numbers(restricter *z, gir_space_id s)
{
    gir_type t = gir_tensor(GN_I64, s, 0, NULL);
    return gir_append(z->to, GIR_IOTA, 0, NULL, &(gir_attr){.i = {-1}}, &t);
}

/* 1 for an edge of h, 0 for a loop; src, dst: numbers of the rows at its ends, 0 where loops are
 * like others. */
static gir_id ones(restricter *z, gir_id h, gir_id src, gir_id dst)
{
    gir_type t = gir_tensor(GN_F32, gir_type_of(z->to, h)->edge, 0, NULL);
    gir_id one = gir_const(z->to, &t, 1);
    if (!src) return one;
    gir_id from = gir_gather(z->to, h, src, GIR_SRC), into = gir_gather(z->to, h, dst, GIR_DST);
    return gir_op3(z->to, GIR_SELECT, gir_op2(z->to, GIR_EQ, from, into), gir_const(z->to, &t, 0),
                   one);
}

typedef struct drawing {
    gir_id h, one, ratio; /* the graph, 1 where an edge may be drawn, and of a row: all by drawn */
    bool loops;
} drawing;

/* false: nothing is drawn of g at this level. */
static bool find(restricter *z, gir_id g, int level, drawing *d)
{
    gir_id draw = draw_of(z, g, level), whole = z->map[z->levels][g];
    if (!draw) return false;
    const gir_type w = *gir_type_of(z->to, whole);
    gir_id pick = gn_pick_of(z, level, gir_type_of(z->from, g)->dst);
    *d = (drawing){.h = gn_graph_at(z, g, level), .loops = gir_at(z->to, draw)->attr.i[2] != 0};
    gir_id src = 0, dst = 0, above = 0, at = 0;
    if (d->loops) { /* then both ends are of one space */
        src = numbers(z, w.src);
        dst = src;
        at = gir_op2(z->to, GIR_TAKE, pick, dst);
        bool all = gir_type_of(z->to, d->h)->src == w.src;
        above = all ? src
                    : gir_op2(z->to, GIR_TAKE, gn_pick_of(z, source_level(z, level), w.src), src);
    }
    gir_id all;
    if (gn_some_count(z, g)) {
        gir_id h = gn_edges_that_count(z, g, level);
        all = gir_scatter(z->to, h, ones(z, h, src, at), GIR_DST, GIR_SUM);
    } else {
        all = gir_scatter(z->to, whole, ones(z, whole, src, dst), GIR_DST, GIR_SUM);
        all = gir_op2(z->to, GIR_TAKE, pick, all);
    }
    d->one = ones(z, d->h, above, at);
    gir_id drawn = gir_scatter(z->to, d->h, d->one, GIR_DST, GIR_SUM);
    gir_type t = *gir_type_of(z->to, drawn);
    drawn = gir_op2(z->to, GIR_MAX, drawn, gir_const(z->to, &t, 1));
    d->ratio = gir_op2(z->to, GIR_DIV, all, drawn);
    return true;
}

gir_id gn_weigh_edges(restricter *z, gir_id edges, gir_id g, int level)
{
    drawing d;
    bool number = gn_elem_is_float((gn_elem)gir_type_of(z->to, edges)->elem);
    if (!number || !find(z, g, level, &d) || !d.loops) return edges;
    gir_type t = *gir_type_of(z->to, d.one);
    gir_id times = gir_gather(z->to, d.h, d.ratio, GIR_DST), one = gir_const(z->to, &t, 1);
    gir_id loop = gir_op2(z->to, GIR_EQ, d.one, gir_const(z->to, &t, 0));
    return gn_times(z, edges, gir_op3(z->to, GIR_SELECT, loop, one, times));
}

gir_id gn_weigh_rows(restricter *z, gir_id rows, gir_id g, int level)
{
    drawing d;
    bool number = gn_elem_is_float((gn_elem)gir_type_of(z->to, rows)->elem);
    if (!number || !find(z, g, level, &d) || d.loops) return rows;
    return gn_times(z, rows, d.ratio);
}

gir_id gn_draw_weights(restricter *z, gir_id g)
{
    const gir_program *p = z->from;
    const char *word = z->batches ? z->batches->draw_by : NULL;
    g = gir_bound_graph(p, g);
    if (!word || !g) return 0;
    bool has = false;
    const char *name = gn_arena_printf(z->to->arena, "%s.%s", gir_at(p, g)->attr.name, word);
    for (int k = 0; z->batches->columns && z->batches->columns[k]; k++)
        has = has || !strcmp(z->batches->columns[k], name);
    if (!has) return 0;
    gir_type t = gir_tensor(GN_F32, gir_type_of(z->to, z->map[z->levels][g])->edge, 0, NULL);
    gir_id w = gir_leaf_by_name(z->to, GIR_INPUT, name);
    return w ? w : gir_leaf(z->to, GIR_INPUT, name, &t);
}
